/** Editing while others write, and deleting with an undo. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import {
  choose,
  dialog,
  follow,
  press,
  says,
  shownText,
  typeAtEnd,
} from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("editor: a newer version is shown beside the text, and never overwritten unseen", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const changed = dialog(page, "The file has changed");
  await files.write("plan.md", "first\n");
  await step("saving over a newer version shows both texts and writes nothing", async () => {
    await open("file/plan.md?tab=edit");
    await typeAtEnd(page, "plan.md", "mine\n");
    await files.overwrite("plan.md", "an agent's\n");
    await press(page, "Save");
    await changed.getByText("Version 2 was saved while you edited version 1.").waitFor();
    assertEquals(await shownText(page, "Version 2"), "an agent's\n");
    assertEquals(await shownText(page, "Your text"), "first\nmine\n");
    assertEquals((await files.record("plan.md")).version, 2);
  });
  await step("going on with editing keeps the text", async () => {
    await press(changed, "Keep editing");
    await changed.waitFor({ state: "detached" });
    assertEquals(await shownText(page, "Edit plan.md"), "first\nmine\n");
  });
  await step("a version that comes while the choice is open is shown in its turn", async () => {
    await press(page, "Save");
    await changed.getByText("Version 2 was saved").waitFor();
    await shownText(page, "Version 2");
    await files.overwrite("plan.md", "an agent's second\n");
    await press(changed, "Save mine as the newest version");
    await changed.getByText("Version 3 was saved while you edited version 1.").waitFor();
    assertEquals(await shownText(page, "Version 3"), "an agent's second\n");
    assertEquals((await files.record("plan.md")).version, 3);
  });
  await step("choosing one's own text makes a version on top; the others stay", async () => {
    await press(changed, "Save mine as the newest version");
    await says(page, "Saved as version 4.");
    assertEquals((await files.read("plan.md")).content, "first\nmine\n");
    assertEquals((await files.read("plan.md", { version: 3 })).content, "an agent's second\n");
  });
});

test("files: a deletion is undone from its notice, or from the deleted files", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/a.md", "one\n");
  await files.overwrite("notes/a.md", "two\n");
  await step("deleting takes the file out of its folder", async () => {
    await open("files/notes");
    await press(page, "Delete a.md");
    await says(page, "Deleted a.md.");
    await says(page, "This folder has no files.");
    assertEquals(await files.paths({ directory: "notes" }), []);
  });
  await step("undo brings back what it was", async () => {
    await press(page, "Undo deleting a.md");
    await page.getByRole("link", { name: "a.md" }).waitFor();
    assertEquals((await files.read("notes/a.md")).content, "two\n");
  });
  await step("deleted files are listed and restored", async () => {
    await page.getByRole("link", { name: "a.md" }).focus();
    await page.keyboard.press("Delete");
    await says(page, "This folder has no files.");
    await follow(page, "Deleted files");
    await press(page, "Restore notes/a.md");
    await says(page, "Nothing is deleted.");
    const restored = await files.read("notes/a.md");
    assertEquals([restored.content, restored.version], ["two\n", 6]);
  });
  await step("a deleted file's address shows its history, to restore any version", async () => {
    await files.request("DELETE", "/files/notes/a.md");
    await open("file/notes/a.md");
    await says(page, "This file is deleted.");
    await press(page, "Restore version 1");
    await says(page, "version 8 has the content of version 1");
    assertEquals((await files.read("notes/a.md")).content, "one\n");
  });
});

test("files: a new file opens for editing; a moved one is followed", async (visit) => {
  const { page, open, account: { files } } = visit;
  await open("files");
  await press(page, "New file");
  await dialog(page, "New file").getByLabel("Path").fill("drafts/ideas.md");
  await press(dialog(page, "New file"), "Create file");
  await typeAtEnd(page, "drafts/ideas.md", "An idea.\n");
  await page.keyboard.press("ControlOrMeta+s");
  await says(page, "Saved as version 2.");
  await choose(page, "Move or rename …");
  await dialog(page, "Move or rename").getByLabel("New path").fill("done/ideas.md");
  await press(dialog(page, "Move or rename"), "Move");
  assertEquals(await shownText(page, "Content of done/ideas.md"), "An idea.\n");
  assertEquals(await files.paths({ recursive: true }), ["done/ideas.md"]);
});
