/** Many files at once: selected by mouse or keyboard, then moved, deleted, restored or downloaded; all of them or none. */
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { unzipped } from "../support/content/unzipped.ts";
import { browserSuite, isFollow } from "../support/browser/browser.ts";
import { dialog, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("selection: a range by shift-click, all by the box of the head, none by Escape", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (const name of ["a", "b", "c", "d"]) await files.write(`${name}.md`, name);
  await files.write("notes/x.md", "x");
  await open("files");
  const box = (name: string) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true });
  await step("one, and all up to another", async () => {
    await box("a.md").click();
    await says(page, "1 selected");
    await box("c.md").click({ modifiers: ["Shift"] });
    await says(page, "3 selected");
    assertEquals(await chosenNames(page), ["a.md", "b.md", "c.md"]);
  });
  await step("all, folders too, and none", async () => {
    const all = page.getByRole("checkbox", { name: "Select all files and folders" });
    assertEquals(await all.evaluate((one) => one instanceof HTMLInputElement && one.indeterminate), true);
    await all.click();
    assertEquals(await chosenNames(page), ["notes, folder", "a.md", "b.md", "c.md", "d.md"]);
    await all.click();
    assertEquals(await chosenNames(page), []);
  });
  await step("what goes away is not chosen any more", async () => {
    await box("a.md").click();
    await box("d.md").click();
    await press(page, "Delete d.md");
    await says(page, "1 selected");
    assertEquals(await chosenNames(page), ["a.md"]);
  });
});

test("selection: by keyboard alone, from choosing to deleting and undoing", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (const name of ["a", "b", "c", "d"]) await files.write(`${name}.md`, name);
  await open("files");
  await page.getByRole("link", { name: "a.md" }).focus();
  await step("Space chooses a row, and not any more", async () => {
    await page.keyboard.press("Space");
    assertEquals(await chosenNames(page), ["a.md"]);
    await page.keyboard.press("Space");
    assertEquals(await chosenNames(page), []);
  });
  await step("Shift with arrows chooses as far as the focus goes, and less when it comes back", async () => {
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    assertEquals(await chosenNames(page), ["a.md", "b.md", "c.md"]);
    await page.keyboard.press("Shift+ArrowUp");
    assertEquals(await chosenNames(page), ["a.md", "b.md"]);
  });
  await step("Ctrl-A chooses all, Escape none", async () => {
    await page.keyboard.press("ControlOrMeta+a");
    assertEquals((await chosenNames(page)).length, 4);
    await page.keyboard.press("Escape");
    assertEquals(await chosenNames(page), []);
  });
  await step("the Delete key takes what is chosen; a row that is not chosen, by itself", async () => {
    await page.keyboard.press("Home");
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Delete");
    await says(page, "Deleted 2 files.");
    assertEquals(await files.paths({}), ["c.md", "d.md"]);
    await page.getByRole("link", { name: "c.md" }).and(page.locator(":focus")).waitFor();
    await press(page, "Undo deleting 2 files");
    await press(page, "Dismiss");
    await page.getByRole("link", { name: "a.md" }).waitFor();
    await page.getByRole("link", { name: "a.md" }).focus();
  });
  await step("the bar follows the list; what it did is undone from the notice", async () => {
    await page.keyboard.press("Home");
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await tabTo(page, "Delete", "Selection");
    await page.keyboard.press("Enter");
    await says(page, "Deleted 2 files.");
    assertEquals(await files.paths({}), ["c.md", "d.md"]);
    await page.getByRole("link", { name: "c.md" }).and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "Undo deleting 2 files" }).focus();
    await page.keyboard.press("Enter");
    await says(page, "Undone: 2 files.");
    assertEquals(await files.paths({}), ["a.md", "b.md", "c.md", "d.md"]);
  });
});

test("selection: files and folders are deleted as one, and an undo that would lose something names it", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (const path of ["a.md", "keep.md", "notes/x.md", "notes/deep/y.md"]) await files.write(path, path);
  await open("files");
  await step("the dialog first shows how many files will be deleted", async () => {
    await page.getByRole("checkbox", { name: "Select a.md" }).click();
    await page.getByRole("checkbox", { name: "Select notes, folder" }).click();
    await press(page.getByRole("group", { name: "Selection" }), "Delete");
    const asked = dialog(page, "Delete 2 items?");
    await asked.getByText("3 files will be deleted").waitFor();
    await press(asked, "Delete");
    await says(page, "Deleted 3 files.");
    assertEquals(await files.paths({ recursive: true }), ["keep.md"]);
  });
  await step("nothing is undone where somebody wrote since, and the file is named", async () => {
    await files.write("notes/x.md", "by an agent");
    await press(page, "Undo deleting 3 files");
    await says(page, "Nothing was undone. notes/x.md was changed since.");
    assertEquals(await files.paths({ recursive: true }), ["keep.md", "notes/x.md"]);
  });
});

test("selection: moving is all or nothing, names the files at the destination, and overwrites them only if confirmed", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (const path of ["a.md", "b.md", "archive/b.md"]) await files.write(path, path);
  await open("files");
  const move = dialog(page, "Move 2 items");
  await step("the file in the way is named, and nothing was moved", async () => {
    await page.getByRole("checkbox", { name: "Select a.md" }).click();
    await page.getByRole("checkbox", { name: "Select b.md" }).click();
    await press(page, "Move …");
    await move.getByLabel("To folder").fill("archive");
    await press(move, "Move");
    await move.getByRole("alert").getByText("archive/b.md").waitFor();
    assertEquals(await files.paths({ recursive: true }), ["a.md", "archive/b.md", "b.md"]);
  });
  await step("over it, as its next version", async () => {
    await move.getByLabel("Overwrite them").check();
    await press(move, "Move");
    await says(page, "Moved 2 files.");
    assertEquals(await files.paths({ recursive: true }), ["archive/a.md", "archive/b.md"]);
    assertEquals((await files.record("archive/b.md")).version, 2);
  });
  await step("and back", async () => {
    await press(page, "Undo moving 2 files");
    await says(page, /^Undone: \d files\./);
    assertEquals(await files.paths({ recursive: true }), ["a.md", "archive/b.md", "b.md"]);
    assertEquals((await files.read("archive/b.md")).content, "archive/b.md");
  });
});

test("selection: more files than one commit takes are refused before anything is done", async (visit) => {
  const { page, open, account: { files } } = visit;
  await files.write("one.md", "");
  for (const start of [0, 60]) {
    const operations = Array.from({ length: 60 }, (_, index) => ({
      op: "write",
      path: `many/${start + index}.md`,
      content: "",
    }));
    await files.request("POST", "/batch", { body: { operations } });
  }
  await open("files");
  await page.getByRole("checkbox", { name: "Select all files and folders" }).click();
  await press(page.getByRole("group", { name: "Selection" }), "Delete");
  const asked = dialog(page, "Delete 2 items?");
  await asked.getByText("121 files will be deleted").waitFor();
  await press(asked, "Delete");
  await asked.getByRole("alert").getByText("at most 100 files").waitFor();
  assertEquals((await files.paths({ recursive: true, limit: 100 })).length, 100);
  assertEquals((await files.record("one.md")).version, 1);
});

test("selection: deleted files are restored together, or, where one has changed since, none", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  // The tab does not hear of the agent's write: it would drop the file from the list, and from the selection.
  await page.route((url) => isFollow(`GET ${url.href.slice(visit.service.baseUrl.length)}`), () => {});
  for (const path of ["a.md", "b.md", "c.md"]) {
    await files.write(path, `${path}\n`);
    await files.request("DELETE", `/files/${path}`);
  }
  await open("deleted");
  await page.getByRole("checkbox", { name: "Select a.md" }).click();
  await page.getByRole("checkbox", { name: "Select b.md" }).click();
  const bar = page.getByRole("group", { name: "Selection" });
  await step("an agent was quicker with one", async () => {
    await files.write("b.md", "by an agent");
    await press(bar, "Restore");
    await says(page, "Nothing was restored. b.md exists again.");
    assertEquals(await files.paths({}), ["b.md"]);
    // The list on screen was outdated.
    await page.getByRole("link", { name: "b.md" }).waitFor({ state: "detached" });
  });
  await step("both", async () => {
    await files.request("DELETE", "/files/b.md");
    await page.reload();
    await page.getByRole("checkbox", { name: "Select all deleted files" }).click();
    await press(bar, "Restore");
    await says(page, "Restored 3 files.");
    await says(page, "Nothing is deleted.");
    assertEquals((await files.read("b.md")).content, "by an agent");
  });
});

test("archives: a folder as the service makes it, a selection as the browser does, each with every byte", async (visit) => {
  const { page, step, openFollowing, calls, account: { files } } = visit;
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  await files.writeBytes("notes/deep/photo.bin", bytes);
  await files.write("notes/plan.md", "# Plän\n");
  await files.write("read me.txt", "hello\n");
  await openFollowing("files");
  await step("one folder is one request", async () => {
    await page.getByRole("link", { name: "read me.txt" }).waitFor();
    const before = calls.length;
    const saved = page.waitForEvent("download");
    await press(page, "Actions for notes");
    await page.getByRole("menuitem", { name: "Download as ZIP" }).click();
    const download = await saved;
    assertEquals(download.suggestedFilename(), "notes.zip");
    const entries = await unzipped(await Deno.readFile(await download.path()));
    assertEquals([...entries.keys()].sort(), ["notes/deep/photo.bin", "notes/plan.md"]);
    assertEquals(entries.get("notes/deep/photo.bin"), bytes);
    assertEquals(calls.slice(before).filter((call) => !call.includes("/project")), [
      "GET /export?directory=notes",
    ]);
  });
  await step("any selection", async () => {
    const saved = page.waitForEvent("download");
    await page.getByRole("checkbox", { name: "Select all files and folders" }).click();
    await press(page, "Download ZIP");
    const entries = await unzipped(await Deno.readFile(await (await saved).path()));
    assertEquals([...entries.keys()].sort(), ["notes/deep/photo.bin", "notes/plan.md", "read me.txt"]);
    assertEquals(entries.get("notes/deep/photo.bin"), bytes);
    assertEquals(new TextDecoder().decode(entries.get("notes/plan.md")), "# Plän\n");
  });
  await step("what cannot be read ends it, and is named", async () => {
    await page.route(/\/files\/read%20me\.txt\?version/, (route) => route.abort());
    await press(page, "Download ZIP");
    await page.getByRole("region", { name: "Transfers" }).getByText("read me.txt could not be read.")
      .waitFor();
  });
});

/** Returns the names of the selected rows, in their order. */
async function chosenNames(page: Page): Promise<string[]> {
  const boxes = page.getByRole("row").getByRole("checkbox", { name: /^Select (?!all)/, checked: true });
  const labels = await boxes.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label") ?? ""));
  return labels.map((label) => label.replace("Select ", ""));
}

/** Presses Tab until the button of the group has the focus. */
async function tabTo(page: Page, name: string, group: string): Promise<void> {
  const button = page.getByRole("group", { name: group }).getByRole("button", { name, exact: true });
  const hasFocus = () => button.evaluate((one) => one === document.activeElement);
  for (let stops = 0; stops < 40 && !await hasFocus(); stops++) await page.keyboard.press("Tab");
  assert(await hasFocus(), `${name} is reached by Tab`);
}
