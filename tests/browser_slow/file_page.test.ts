/** The page of a file: where its content begins, what its controls are, and its history beside it. */
import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { choose, dialog, press, says, shownText, toggleHistory } from "../support/browser/page_actions.ts";

const FOLDER = "research/battery-prices";
const DOCUMENT = `${FOLDER}/third-quarter-report.md`;
/** In pixels from the top of the window, by its width. */
const CONTENT_TOP_MAX: Readonly<Record<number, number>> = { 1280: 220, 390: 260 };
const FILES: Readonly<Record<string, string>> = {
  [DOCUMENT]: "# Report\n",
  [`${FOLDER}/run.log`]: "fetched 40 sources\n",
  [`${FOLDER}/prices.csv`]: "month,price\n2026-07,112\n",
  [`${FOLDER}/sources.json`]: `{"sources":[1,2]}`,
};

const { test } = await browserSuite();

test("file page: the content begins near the top, and no control covers another, at a desk and on a phone", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  for (const [path, content] of Object.entries(FILES)) await files.write(path, content);
  await files.append(DOCUMENT, "More.\n");
  for (const [width = "", top = 0] of Object.entries(CONTENT_TOP_MAX)) {
    await page.setViewportSize({ width: Number(width), height: 800 });
    for (const path of Object.keys(FILES)) {
      await part(`${path} at ${width} pixels`, async () => {
        await open(`file/${path}`);
        const content = page.getByLabel(`Content of ${path}`, { exact: true });
        assert(await topOf(content) < top, `${await topOf(content)} is above ${top} pixels`);
        assertEquals(await coveredControls(page), []);
      });
    }
    await part(`the history, the comparison and the menu at ${width} pixels`, async () => {
      await open(`file/${DOCUMENT}?tab=history`);
      await page.getByRole("list", { name: `Versions of ${DOCUMENT}` }).waitFor();
      assertEquals(await coveredControls(page), []);
      await choose(page, "Compare versions");
      await page.getByRole("region", { name: "Changes from version 1 to 2" }).waitFor();
      assertEquals(await coveredControls(page), []);
      await press(page, "Actions for third-quarter-report.md");
      const menu = page.getByRole("menu");
      await menu.waitFor();
      assert(await isWithinWindow(menu), "the menu is within the window");
    });
  }
});

test("file page: one primary action, the download, and a menu that ends with the erasure", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("plan.md", "one\n");
  await files.write("run.log", "a\n");
  await files.write("events.jsonl", `{"a":1}\n`);
  await files.writeBytes("a.zip", new Uint8Array([0xff, 0xfe, 0]));
  const controls = page.locator(".file-head .tools").locator("a, button");
  await step("of a document", async () => {
    await open("file/plan.md");
    await page.getByLabel("Content of plan.md").waitFor();
    assertEquals(await namesOf(controls), ["Download", "Edit", "Actions for plan.md"]);
    assertEquals(await page.locator("main .primary").allInnerTexts(), ["Edit"]);
    await press(page, "Actions for plan.md");
    assertEquals(await page.getByRole("menuitem").allInnerTexts(), [
      "Compare versions",
      "Links …",
      "Move or rename …",
      "Copy …",
      "Delete",
      "Erase for good …",
    ]);
    await page.keyboard.press("Escape");
  });
  await step("only a file that grows can be followed", async () => {
    for (const path of ["run.log", "events.jsonl"]) {
      await open(`file/${path}`);
      await page.getByRole("button", { name: "Follow" }).waitFor();
    }
    await open("file/plan.md?follow=true");
    assertEquals(await shownText(page, "Content of plan.md"), "one\n");
    assertEquals(await page.getByRole("button", { name: "Follow" }).count(), 0);
  });
  await step("what cannot be edited is downloaded first", async () => {
    await open("file/a.zip");
    await says(page, "There is no preview");
    assertEquals(await page.locator("main .primary").allInnerTexts(), ["Download"]);
  });
  await step("a copy has its own history", async () => {
    await open("file/plan.md");
    await choose(page, "Copy …");
    const form = dialog(page, "Copy file");
    await form.getByLabel("New path").fill("plans/copy.md");
    await press(form, "Copy");
    await says(page, "Copied to plans/copy.md.");
    assertEquals(await shownText(page, "Content of plans/copy.md"), "one\n");
    assertEquals((await files.versions("plans/copy.md")).total, 1);
  });
});

test("file page: the line of facts opens the history beside the content; its versions are shown and compared there", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const said = { "x-run-id": "nightly-42", "x-actor": "planner/2.1", "x-change-note": "October" };
  await files.write("plan.md", "one\n");
  await files.put("append", "plan.md", { content: "two\n" }, said);
  await files.overwrite("plan.md", "three\n");
  const versions = page.getByRole("list", { name: "Versions of plan.md" });
  const entry = (version: number) =>
    versions.getByRole("listitem").filter({ has: page.getByRole("link", { name: `Version ${version}` }) });
  await step("who, in which run, why, when, and how much", async () => {
    await open("file/plan.md?show=source");
    await page.getByRole("link", { name: "Version 3 · 6 B · just now History" }).click();
    for (const text of ["appended to by test · 8 B (+4 B)", "planner/2.1", "run nightly-42", "October"]) {
      await entry(2).getByText(text).waitFor();
    }
    await entry(2).getByText("just now").waitFor();
    await entry(3).getByText("6 B (−2 B)").waitFor();
    await entry(2).getByText("1 line added, 0 removed").waitFor();
    await entry(3).getByText("1 line added, 2 removed").waitFor();
    assertEquals(await shownText(page, "Content of plan.md"), "three\n");
  });
  await step("a version is shown while the history stays", async () => {
    await entry(1).getByRole("link", { name: "Version 1" }).click();
    await says(page, "Version 1 of 3.");
    assertEquals(await shownText(page, "Content of plan.md"), "one\n");
    await versions.locator("[aria-current=true]").getByText("Version 1").waitFor();
  });
  await step("two that are picked are compared; others are chosen from a list", async () => {
    await page.getByLabel("Compare version 1").check();
    await page.getByLabel("Compare version 2").check();
    await press(page, "Compare");
    await page.getByRole("region", { name: "Changes from version 1 to 2" }).waitFor();
    const to = page.getByLabel("To version");
    const offered = await to.locator("option").allInnerTexts();
    assertEquals(offered, [3, 2, 1].map((version) => `Version ${version}, just now`));
    await to.selectOption("3");
    await page.getByRole("region", { name: "Changes from version 1 to 3" }).waitFor();
  });
  await step("the line closes it again", async () => {
    await toggleHistory(page);
    await versions.waitFor();
    await toggleHistory(page);
    await versions.waitFor({ state: "detached" });
    assertEquals(await shownText(page, "Content of plan.md"), "three\n");
  });
});

async function namesOf(controls: Locator): Promise<string[]> {
  return await controls.evaluateAll((all) =>
    all.map((one) => one.getAttribute("aria-label") ?? one.textContent ?? "")
  );
}

async function topOf(content: Locator): Promise<number> {
  await content.waitFor();
  return (await content.boundingBox())?.y ?? Infinity;
}

async function isWithinWindow(element: Locator): Promise<boolean> {
  return await element.evaluate((one) => {
    const { left, right } = one.getBoundingClientRect();
    return left >= 0 && right <= innerWidth;
  });
}

/** Returns the controls on screen at whose centre another element is. */
async function coveredControls(page: Page): Promise<string[]> {
  return await page.locator("main").evaluate((main) => {
    const controls = [...main.querySelectorAll("a, button, input, select")];
    const isCovered = (control: Element) => {
      if (control.closest(".visually-hidden") !== null || !control.checkVisibility()) return false;
      const { left, top, width, height } = control.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      if (y < 0 || y >= innerHeight) return false;
      const there = document.elementFromPoint(x, y);
      // What a scrolling box cuts off is not on screen.
      const box = control.closest(".history, .code, .data-table, .diff, .json-tree")?.getBoundingClientRect();
      if (box && (y < box.top || y > box.bottom || x < box.left || x > box.right)) return false;
      return there === null || !(control.contains(there) || there.contains(control));
    };
    return controls.filter(isCovered).map((one) => one.textContent || one.getAttribute("aria-label") || "");
  });
}
