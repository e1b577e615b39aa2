/** Comparisons of two files, and a history that continues through renames. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { choose, dialog, press, says, shownText, toggleHistory } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("comparisons: with another file, found by typing, at any versions, unified and side by side", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/draft.md", "same\nold\n");
  await files.overwrite("notes/draft.md", "same\ndraft\n");
  await files.write("notes/final.md", "same\nfinal\n");
  await open("file/notes/draft.md?tab=compare");
  const other = page.getByLabel("With another file");
  const changes = page.getByRole("region", { name: /^Changes/ });
  await step("what there is, is suggested", async () => {
    await other.fill("notes/f");
    await page.locator("datalist option[value='notes/final.md']").waitFor({ state: "attached" });
    assertEquals(
      await page.locator("datalist option").evaluateAll((all) => all.map((one) => one.getAttribute("value"))),
      ["notes/final.md"],
    );
  });
  await step("the latest of each", async () => {
    await other.fill("notes/final.md");
    await page.keyboard.press("Enter");
    await changes.getByText("draft").waitFor();
    await changes.getByText("final").waitFor();
    await says(page, "From notes/draft.md, the latest version");
  });
  await step("a version of one", async () => {
    await page.getByLabel("From version", { exact: true }).selectOption("1");
    await changes.getByText("old").waitFor();
    await says(page, "From notes/draft.md, version 1");
  });
  await step("the address keeps it, side by side shows both", async () => {
    await page.reload();
    await changes.getByText("old").waitFor();
    await page.getByLabel("Layout").selectOption("Side by side");
    assertEquals(await shownText(page, "notes/draft.md, version 1"), "same\nold\n");
    assertEquals(await shownText(page, "notes/final.md, version 1"), "same\nfinal\n");
  });
  await step("the page reports a path without a file; an empty path means this file again", async () => {
    await other.fill("nowhere.md");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await other.fill("");
    await page.keyboard.press("Enter");
    await page.getByLabel("Layout").selectOption("Unified");
    await page.getByRole("region", { name: "Changes from version 1 to 2" }).waitFor();
  });
});

test("history: a renamed file shows where it came from and its versions there, through every rename", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("a.md", "one\n");
  await files.overwrite("a.md", "two\n");
  await files.put("move", "a.md", { destination: "b.md" });
  await files.overwrite("b.md", "three\n");
  // A new file uses the old name; its history is separate.
  await files.write("a.md", "another\n");
  await open("file/b.md");
  await step("renamed in the console, too", async () => {
    await choose(page, "Move or rename …");
    const form = dialog(page, "Move or rename");
    await form.getByLabel("New path").fill("c.md");
    await press(form, "Move");
    await says(page, "Moved to c.md.");
    await toggleHistory(page);
  });
  await step("the version says which file it was", async () => {
    await page.getByText("moved from b.md").first().waitFor();
  });
  await step("the versions before are there, and not those that came to the old name later", async () => {
    const b = page.getByRole("list", { name: "Versions of b.md" });
    await b.waitFor();
    assertEquals(await b.getByRole("link", { name: /^Version/ }).allTextContents(), [
      "Version 2",
      "Version 1",
    ]);
    await press(page, "Show what was before, as a.md");
    const a = page.getByRole("list", { name: "Versions of a.md" });
    await a.waitFor();
    assertEquals(await a.getByRole("link", { name: /^Version/ }).allTextContents(), [
      "Version 2",
      "Version 1",
    ]);
    await a.getByRole("link", { name: "Version 1" }).click();
    assertEquals(await shownText(page, "Content of a.md"), "one\n");
  });
});
