/** Notices with an undo button stay only while the undo is possible, and only in their own project. */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { browserSuite } from "../support/browser/browser.ts";
import { choose, dialog, follow, isGone, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("undo: its notice ends when the deletion is undone elsewhere, or the file is written again", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const undo = page.getByRole("button", { name: "Undo deleting a.md" });
  await files.write("a.md", "one\n");
  await step("restored from the deleted files", async () => {
    await open("files");
    await press(page, "Delete a.md");
    await undo.waitFor();
    await follow(page, "Deleted files");
    await press(page, "Restore a.md");
    await says(page, "Restored a.md");
    await undo.waitFor({ state: "detached" });
  });
  await step("made anew", async () => {
    await open("files");
    await press(page, "Delete a.md");
    await undo.waitFor();
    await press(page, "New file");
    await dialog(page, "New file").getByLabel("Path").fill("a.md");
    await press(dialog(page, "New file"), "Create file");
    await page.getByRole("textbox", { name: "Edit a.md" }).waitFor();
    assertEquals(await undo.count(), 0);
  });
  await step("uploaded again", async () => {
    await open("files");
    await press(page, "Delete a.md");
    await undo.waitFor();
    const buffer = Buffer.from("uploaded\n");
    await page.getByLabel("Upload files").setInputFiles({ name: "a.md", mimeType: "text/plain", buffer });
    await says(page, "1 file done");
    assertEquals(await undo.count(), 0);
  });
  await step("deleted again: one notice, for the last deletion", async () => {
    await press(page, "Delete a.md");
    await undo.waitFor();
    await files.write("a.md", "by an agent\n");
    await open("activity");
    await open("files");
    await press(page, "Delete a.md");
    await page.getByRole("link", { name: "a.md" }).waitFor({ state: "detached" });
    assertEquals(await undo.count(), 1);
    await undo.click();
    await says(page, "Restored a.md: version 11 has the content of version 9.");
    assertEquals((await files.read("a.md")).content, "by an agent\n");
  });
});

test("undo: a file that an agent has written again meanwhile is left alone", async (visit) => {
  const { page, open, account: { files } } = visit;
  await files.write("a.md", "one\n");
  await open("files");
  await press(page, "Delete a.md");
  await says(page, "There are no files yet.");
  await files.write("a.md", "by an agent\n");
  await press(page, "Undo deleting a.md");
  await says(page, "a.md exists again, as version 3: nothing was undone.");
  await page.getByRole("link", { name: "a.md" }).waitFor();
  assertEquals((await files.read("a.md")).content, "by an agent\n");
});

test("undo: stays in its project, and does not lead away from where one is", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const undo = page.getByRole("button", { name: "Undo deleting a.md" });
  await files.write("notes/a.md", "one\n");
  await step("another project does not show it", async () => {
    await open("file/notes/a.md");
    await page.getByLabel("Content of notes/a.md").waitFor();
    await choose(page, "Delete");
    await undo.waitFor();
    await press(page, "New project");
    await dialog(page, "New project").getByLabel("Name").fill("Another");
    await press(dialog(page, "New project"), "Create project");
    await says(page, "Project Another is ready.");
    await undo.waitFor({ state: "detached" });
    assertEquals(await page.getByText("Deleted a.md.").count(), 0);
  });
  await step("its own project does, and undoing leaves the view", async () => {
    await page.getByLabel("Project", { exact: true }).selectOption("My project");
    await undo.waitFor();
    await follow(page, "Deleted files");
    const address = page.url();
    await undo.click();
    await says(page, "Restored a.md");
    await says(page, "Nothing is deleted.");
    assertEquals(page.url(), address);
    assertEquals((await files.read("notes/a.md")).content, "one\n");
  });
  await step("nobody else sees it after signing out", async () => {
    await open("files/notes");
    await press(page, "Delete a.md");
    await undo.waitFor();
    await press(page, "Sign out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await isGone(page, "Deleted a.md.");
  });
});
