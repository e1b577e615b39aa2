/** Folders: renamed, moved, copied and deleted as a whole, from their rows and from their own pages. */
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { dialog, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("folders: renamed by keyboard from the row, with all below, and back", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (const path of ["notes/a.md", "notes/deep/b.md", "other.md"]) await files.write(path, path);
  await open("files");
  const menu = page.getByRole("button", { name: "Actions for notes" });
  await step("the menu takes the focus, arrows move in it, Escape gives it back", async () => {
    await menu.focus();
    await page.keyboard.press("Enter");
    await hasFocus(page, "Rename …");
    await page.keyboard.press("ArrowUp");
    await hasFocus(page, "Delete …");
    await page.keyboard.press("ArrowDown");
    await hasFocus(page, "Rename …");
    await page.keyboard.press("Escape");
    await menu.and(page.locator(":focus")).waitFor();
    await page.getByRole("menu").waitFor({ state: "detached" });
  });
  await step("the new name is typed, and Enter renames", async () => {
    await page.keyboard.press("Enter");
    await hasFocus(page, "Rename …");
    await page.keyboard.press("Enter");
    await dialog(page, "Rename notes").getByLabel("New name").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("papers");
    await page.keyboard.press("Enter");
    await says(page, "Renamed 2 files.");
    await page.getByRole("row").getByRole("link", { name: /^papers/ }).waitFor();
    await page.getByRole("navigation", { name: "Folders" }).getByRole("link", { name: "papers" }).waitFor();
    assertEquals(await files.paths({ recursive: true }), ["other.md", "papers/a.md", "papers/deep/b.md"]);
  });
  await step("and back", async () => {
    await press(page, "Undo renaming 2 files");
    await says(page, /^Undone:/);
    assertEquals(await files.paths({ recursive: true }), ["notes/a.md", "notes/deep/b.md", "other.md"]);
  });
});

test("folders: item-2 stands before item-10", async ({ page, open, account: { files } }) => {
  const paths = ["item-10.md", "item-2.md", "run-10/a", "run-9/a"];
  await files.commit(paths.map((path) => ({ op: "write", path, content: "x" })));
  await open("files");
  await page.getByRole("table").getByRole("link", { name: "item-10.md" }).waitFor();
  const links = page.getByRole("table").locator("a.row-link");
  assertEquals(
    (await links.allTextContents()).map((text) => text.replace(", folder", "")),
    ["run-9", "run-10", "item-2.md", "item-10.md"],
  );
});

test("folders: one into itself, an invalid name, and more files than one change takes are refused in plain words", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (let from = 0; from <= 1_000; from += 100) {
    const operations = Array.from({ length: from === 1_000 ? 1 : 100 }, (_, index) => ({
      op: "write",
      path: `many/${from + index}.md`,
      content: "",
    }));
    await files.request("POST", "/batch", { body: { operations } });
  }
  await files.write("small/a.md", "");
  await open("files");
  await step("a folder into itself", async () => {
    const form = dialog(page, "Move small");
    await choose(page, "small", "Move …");
    await form.getByLabel("New path").fill("small/inside");
    await press(form, "Move");
    await form.getByText("must not be the folder itself, or inside it").waitFor();
    await press(form, "Cancel");
  });
  await step("too many files", async () => {
    const form = dialog(page, "Delete many?");
    await choose(page, "many", "Delete …");
    await form.getByText("1,001 files will be deleted").waitFor();
    await press(form, "Delete");
    await form.getByText("There are 1,001 files, and one change can have at most 1,000.").waitFor();
    await press(form, "Cancel");
  });
  assertEquals((await files.list({ recursive: true, limit: 1 })).total, 1_002);
});

test("folders: on its own page a folder is copied, followed when it moves, and left when it goes", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (const path of ["notes/a.md", "notes/deep/b.md"]) await files.write(path, path);
  await open("files/notes");
  await step("copied", async () => {
    await choose(page, "notes", "Copy …");
    await press(dialog(page, "Copy notes"), "Copy");
    await page.getByRole("heading", { name: "notes copy" }).waitFor();
    assertEquals(await files.paths({ directory: "notes copy", recursive: true }), [
      "notes copy/a.md",
      "notes copy/deep/b.md",
    ]);
    assertEquals((await files.paths({ recursive: true })).length, 4);
  });
  await step("renamed: the page goes along", async () => {
    await choose(page, "notes copy", "Rename …");
    await dialog(page, "Rename notes copy").getByLabel("New name").fill("copy");
    await press(dialog(page, "Rename notes copy"), "Rename");
    await page.getByRole("heading", { name: "copy", exact: true }).waitFor();
    await page.getByRole("link", { name: "a.md" }).waitFor();
  });
  await step("deleted: the page above, and undo brings all back", async () => {
    await choose(page, "copy", "Delete …");
    await press(dialog(page, "Delete copy?"), "Delete");
    await says(page, "Deleted 2 files.");
    await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();
    await press(page, "Undo deleting 2 files");
    await says(page, /^Undone:/);
    await page.getByRole("row").getByRole("link", { name: /^copy/ }).waitFor();
    assertEquals((await files.paths({ recursive: true })).length, 4);
  });
});

async function choose(page: Page, folder: string, action: string): Promise<void> {
  await press(page, `Actions for ${folder}`);
  await page.getByRole("menuitem", { name: action }).click();
}

async function hasFocus(page: Page, action: string): Promise<void> {
  await page.getByRole("menuitem", { name: action }).and(page.locator(":focus")).waitFor();
}
