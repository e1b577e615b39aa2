/** Controls that stand in a row have one height, begin at one line, and have icons all or none. */
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";

/** Two controls that are nearer than this in height or place, and not equal, look like a mistake. */
const OFF_PIXELS_MAX = 8;

const { test } = await browserSuite();

test("controls in a row have one height, one line, and icons all or none, at a desk and on a phone", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  await files.write("notes/plan.md", "# Plan\n");
  await files.append("notes/plan.md", "More.\n");
  await files.write("notes/run.log", "a\n");
  await files.write("notes/prices.csv", "a,b\n1,2\n");
  await files.write("gone.md", "");
  await files.remove("gone.md");
  await files.request("POST", "/links", { body: { path: "notes/plan.md", for: "read" } });
  const views: Readonly<Record<string, string>> = {
    "files/notes": "plan.md",
    "file/notes/plan.md": "History",
    "file/notes/plan.md?tab=history": "Version 1",
    "file/notes/plan.md?tab=compare": "Close",
    "file/notes/run.log": "History",
    "file/notes/prices.csv": "History",
    deleted: "gone.md",
    links: "plan.md",
    branches: "Branches",
    activity: "Written by",
    runs: "Runs",
    keys: "API keys",
    "search?q=plan": "plan.md",
    settings: "Settings and usage",
  };
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    for (const [place, link] of Object.entries(views)) {
      await part(`${place} at ${width} pixels`, async () => {
        await open(place);
        await page.getByRole("main").getByText(link).filter({ visible: true }).first().waitFor();
        await page.getByText(/^Loading /).first().waitFor({ state: "detached" });
        assert(await page.locator("main, header").locator("button, input, select").count() > 0);
        assertEquals(await crookedNeighbours(page, OFF_PIXELS_MAX), []);
        assertEquals(await mixedNeighbours(page), []);
      });
    }
  }
});

/** Returns the pairs of controls in one row whose heights or tops differ by less than `offMax`. */
async function crookedNeighbours(page: Page, offMax: number): Promise<string[]> {
  return await page.evaluate((offMax) => {
    const controls = [...document.querySelectorAll("button, .button, input, select")].filter((one) =>
      one.closest(".visually-hidden, .cm-editor, .sidebar, table, .json-tree, .timeline") === null &&
      !one.matches("[type=checkbox], .visually-hidden, .link, .twist, .skip") && one.checkVisibility()
    );
    const boxes = controls.map((one) => ({
      name: one.getAttribute("aria-label") ?? one.textContent ?? one.id,
      box: one.getBoundingClientRect(),
    }));
    const isOff = (a: number, b: number) => Math.abs(a - b) > 0.5 && Math.abs(a - b) < offMax;
    return boxes.flatMap((a, index) =>
      boxes.slice(index + 1).filter((b) => {
        const isBeside = a.box.top < b.box.bottom && b.box.top < a.box.bottom;
        return isBeside && (isOff(a.box.top, b.box.top) || isOff(a.box.height, b.box.height));
      }).map((b) => `${a.name}: ${a.box.top}, ${a.box.height}; ${b.name}: ${b.box.top}, ${b.box.height}`)
    );
  }, offMax);
}

/** Returns the rows in which some of the labelled buttons have an icon and others have none. */
async function mixedNeighbours(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const rows = new Map<Element | null, { name: string; hasIcon: boolean }[]>();
    for (const one of document.querySelectorAll("button, .button")) {
      const name = (one instanceof HTMLElement ? one.innerText : "").trim();
      if (name === "" || !one.checkVisibility() || one.closest(".visually-hidden, .sidebar, th") !== null) {
        continue;
      }
      const hasIcon = [...one.querySelectorAll(".icon")].some((icon) => icon.checkVisibility());
      rows.set(one.parentElement, [...rows.get(one.parentElement) ?? [], { name, hasIcon }]);
    }
    return [...rows.values()]
      .filter((row) => new Set(row.map(({ hasIcon }) => hasIcon)).size > 1)
      .map((row) => row.map(({ name, hasIcon }) => `${name}${hasIcon ? " with an icon" : ""}`).join(", "));
  });
}
