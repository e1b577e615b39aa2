/// <reference lib="dom" />
/** Natural order: a choice in a folder that is loaded whole, in the address, and remembered. */
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { populate } from "../bench/populate.ts";
import { browserSuite } from "../support/browser/browser.ts";
import { says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("natural order: item-2 before item-10, by the address, also in other folders and after a reload", async (visit) => {
  const { page, step, open, openFollowing, calls, account: { files } } = visit;
  for (const path of ["item-10.md", "item-2.md", "item-1.md", "run-10/x-10", "run-10/x-9", "run-9/a"]) {
    await files.write(path, "x".repeat(path.length));
  }
  const choice = page.getByLabel("Natural order");
  await step("names are in the order of their bytes until one chooses otherwise", async () => {
    await openFollowing("files");
    await choice.waitFor();
    assertEquals(await names(page), [
      "run-10, folder",
      "run-9, folder",
      "item-1.md",
      "item-10.md",
      "item-2.md",
    ]);
  });
  await step("the choice asks for nothing, and is in the address", async () => {
    const before = calls.length;
    await choice.check();
    await becomes(page, ["run-9, folder", "run-10, folder", "item-1.md", "item-2.md", "item-10.md"]);
    assertEquals(new URL(page.url()).hash.split("?")[1], "sort=natural");
    assertEquals(calls.length, before);
  });
  await step("a file that comes takes its place", async () => {
    await files.write("item-9.md", "");
    await becomes(page, [
      "run-9, folder",
      "run-10, folder",
      "item-1.md",
      "item-2.md",
      "item-9.md",
      "item-10.md",
    ]);
  });
  await step("the name's header turns it round; sorted by size it waits", async () => {
    const head = page.getByRole("table").getByRole("columnheader");
    await head.getByRole("button", { name: "Name" }).click();
    await becomes(page, [
      "run-10, folder",
      "run-9, folder",
      "item-10.md",
      "item-9.md",
      "item-2.md",
      "item-1.md",
    ]);
    await head.getByRole("button", { name: "Size" }).click();
    await choice.waitFor({ state: "detached" });
    await head.getByRole("button", { name: "Name" }).click();
    await choice.and(page.locator(":checked")).waitFor();
  });
  await step("it is remembered in other folders, and their addresses say so", async () => {
    await page.getByRole("table").getByRole("link", { name: "run-10" }).click();
    await becomes(page, ["x-9", "x-10"]);
    assertEquals(new URL(page.url()).hash.split("?")[1], "sort=natural");
  });
  await step("until one chooses otherwise", async () => {
    await choice.uncheck();
    await becomes(page, ["x-10", "x-9"]);
    await page.reload();
    await choice.waitFor();
    await becomes(page, ["x-10", "x-9"]);
  });
  await step("an address brings it along where it is not remembered", async () => {
    await open("files?sort=natural");
    await becomes(page, [
      "run-9, folder",
      "run-10, folder",
      "item-1.md",
      "item-2.md",
      "item-9.md",
      "item-10.md",
    ]);
  });
});

test("natural order: a folder of several pages says that it is by name", async ({ page, open, service, account }) => {
  await populate(service.stack, [{ id: account.projectId }], { files: 150, filesPerDirectory: 150 });
  await open("files/top-0/sub-00000?sort=natural");
  await says(page, "By name: natural order is for folders of up to 100 files.");
  await says(page, "1–100 of 150");
  await open("files/top-0/sub-00000");
  await says(page, "1–100 of 150");
  assertEquals(await page.getByLabel("Natural order").count(), 0);
});

async function names(page: Page): Promise<readonly string[]> {
  return await page.getByRole("table").locator("a.row-link").allInnerTexts().then((texts) =>
    texts.map((text) => text.replace(/\s+/g, " ").replace(" ,", ",").trim())
  );
}

async function becomes(page: Page, expected: readonly string[]): Promise<void> {
  const links = page.getByRole("table").locator("a.row-link");
  const name = (text: string) => text.replace(", folder", "");
  await page.waitForFunction(
    ({ expected, selector }) => {
      const texts = [...document.querySelectorAll(selector)].map((link) =>
        link.textContent?.replace(", folder", "").trim()
      );
      return JSON.stringify(texts) === JSON.stringify(expected);
    },
    { expected: expected.map(name), selector: "main table a.row-link" },
  ).catch(async () => assertEquals((await links.allTextContents()).map(name), expected.map(name)));
}
