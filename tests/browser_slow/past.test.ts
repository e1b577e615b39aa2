/** The project at a past time: viewed, downloaded, and restored. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { dialog, follow, press, says, shownText } from "../support/browser/page_actions.ts";
import { unzipped } from "../support/content/unzipped.ts";

const { test } = await browserSuite();

test("the past: a folder and its files as they were, reading only, and the folder brought back after its plan", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/plan.md", "first\n");
  await files.write("notes/gone.md", "gone later\n");
  const { updatedAt: at } = await files.write("notes/deep/same.md", "same\n");
  // Repeats until the versions have a later time.
  while ((await files.overwrite("notes/plan.md", "second\n")).updatedAt === at);
  const { version } = await files.record("notes/plan.md");
  await files.write("notes/new.md", "made later\n");
  await files.request("DELETE", "/files/notes/gone.md");
  const banner = page.getByRole("note", { name: "The past" });

  await step("the list is that of the time, and says so", async () => {
    await open(`files/notes?at=${encodeURIComponent(at)}`);
    await banner.getByText("You're viewing the project as of").waitFor();
    assertEquals(await banner.locator("time").getAttribute("datetime"), at);
    const links = page.getByRole("table").getByRole("link");
    await links.first().waitFor();
    assertEquals(await links.allTextContents(), ["deep, folder", "gone.md", "plan.md"]);
    assertEquals(await page.getByRole("button", { name: /Delete|Upload|New file/ }).count(), 0);
  });
  await step("folders below and files are as they were, too", async () => {
    await page.getByRole("table").getByRole("link", { name: /^deep/ }).click();
    await page.getByRole("link", { name: "same.md" }).waitFor();
    await banner.waitFor();
    await page.goBack();
    await follow(page, "plan.md");
    assertEquals(await shownText(page, "Content of notes/plan.md"), "first\n");
    await banner.waitFor();
    await page.goBack();
  });
  await step("an archive of it", async () => {
    const saved = page.waitForEvent("download");
    await press(page, "Download ZIP");
    const entries = await unzipped(await Deno.readFile(await (await saved).path()));
    assertEquals([...entries.keys()].sort(), ["notes/deep/same.md", "notes/gone.md", "notes/plan.md"]);
    assertEquals(new TextDecoder().decode(entries.get("notes/plan.md")), "first\n");
  });
  await step("a copy of it", async () => {
    await press(page, "Copy from here …");
    const form = dialog(page, "Copy notes");
    await form.getByLabel("New path").fill("then");
    await press(form, "Copy");
    await says(page, "Copied 3 files.");
    assertEquals((await files.read("then/plan.md")).content, "first\n");
    await open(`files/notes?at=${encodeURIComponent(at)}`);
  });
  await step("the plan names each file, and does nothing", async () => {
    await press(page, "Restore this folder from here …");
    const plan = dialog(page, "Restore notes?");
    await plan.getByText("2 files get earlier content back").waitFor();
    await plan.getByText("notes/plan.md: version 1").waitFor();
    await plan.getByText("1 file is deleted: made later").waitFor();
    assertEquals((await files.record("notes/plan.md")).version, version);
    await press(plan, "Restore");
  });
  await step("the folder is what it was, and the notice leads back", async () => {
    await says(page, "Restored 3 files.");
    await banner.waitFor({ state: "detached" });
    assertEquals(await files.paths({ directory: "notes", recursive: true }), [
      "notes/deep/same.md",
      "notes/gone.md",
      "notes/plan.md",
    ]);
    assertEquals((await files.read("notes/plan.md")).content, "first\n");
    await press(page, "Undo restoring 3 files");
    await says(page, "Undone: 3 files.");
    assertEquals((await files.read("notes/plan.md")).content, "second\n");
    assertEquals((await files.read("notes/new.md")).content, "made later\n");
  });
});

test("the past: a time is chosen by keyboard, one in the future is not, and one leads back to now", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/plan.md", "first\n");
  await open("files/notes");
  const form = dialog(page, "Look at notes as it was");
  await step("the future cannot be shown", async () => {
    await page.getByRole("button", { name: "Actions for notes" }).focus();
    await page.keyboard.press("Enter");
    // The menu moves the focus to its first item a moment after it is shown.
    await page.locator("[role=menuitem]:focus").waitFor();
    await page.getByRole("menuitem", { name: "As it was …" }).focus();
    await page.keyboard.press("Enter");
    await form.getByLabel("Time").fill("2999-01-01T00:00:00");
    await form.getByText("must not be in the future").waitFor();
    assertEquals(await form.getByRole("button", { name: "Show" }).isDisabled(), true);
  });
  await step("before anything was written there is nothing", async () => {
    await form.getByLabel("Time").fill("2020-01-01T00:00:00");
    await page.keyboard.press("Enter");
    await says(page, "There were no files then.");
    await says(page, "Jan 1, 2020, 12:00:00");
  });
  await step("back to now", async () => {
    await follow(page, "Back to now");
    await page.getByRole("link", { name: "plan.md" }).waitFor();
  });
});

test("the past: a file that was deleted is shown and restored from there", async (visit) => {
  const { page, open, account: { files } } = visit;
  const { updatedAt: at } = await files.write("plan.md", "first\n");
  while ((await files.overwrite("plan.md", "second\n")).updatedAt === at);
  await files.request("DELETE", "/files/plan.md");
  await open(`file/plan.md?at=${encodeURIComponent(at)}`);
  assertEquals(await shownText(page, "Content of plan.md"), "first\n");
  await press(page, "Restore this file from here");
  await says(page, "Restored plan.md");
  assertEquals((await files.read("plan.md")).content, "first\n");
  await page.getByRole("note", { name: "The past" }).waitFor({ state: "detached" });
});
