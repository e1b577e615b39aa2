/** Histories and the activity show each version's operation, key, actor and note as plain text. */
import { browserSuite } from "../support/browser/browser.ts";

const { test } = await browserSuite();

const NOTE = "<b>because</b> of ümläut";
const SAID = {
  "x-run-id": "nightly-42",
  "x-actor": "planner/2.1",
  "x-change-note": encodeURIComponent(NOTE),
};

test("provenance: operation, key, actor, run and note stand in the history and in the activity", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/plan.md", "one\n");
  await files.put("append", "notes/plan.md", { content: "two\n" }, SAID);
  await files.restore("notes/plan.md", 1);
  await files.copy("notes/plan.md", "copy.md");
  await files.move("copy.md", "moved.md");
  await step("the history of a file", async () => {
    await open("file/notes/plan.md?tab=history");
    const rows = page.getByRole("list", { name: "Versions of notes/plan.md" }).getByRole("listitem");
    const second = rows.filter({ has: page.getByRole("link", { name: "Version 2" }) });
    for (const text of ["appended to", "planner/2.1", "run nightly-42", NOTE]) {
      await second.getByText(text).waitFor();
    }
    await rows.filter({ has: page.getByRole("link", { name: "Version 3" }) }).getByText(
      "restored from version 1",
    )
      .waitFor();
  });
  await step("the activity", async () => {
    await open("activity");
    const rows = page.getByRole("table", { name: "Latest writes" }).getByRole("row");
    await page.getByRole("button", { name: /^test/, expanded: false }).click();
    for (const text of ["planner/2.1", "run nightly-42", NOTE]) {
      await rows.filter({ hasText: "appended to, version 2" }).getByText(text).waitFor();
    }
    await rows.filter({ hasText: "copied from notes/plan.md" }).getByRole("link", { name: "copy.md" })
      .waitFor();
    await rows.filter({ hasText: "moved away" }).getByRole("link", { name: "copy.md" }).waitFor();
    await rows.filter({ hasText: "moved from copy.md" }).getByRole("link", { name: "moved.md" }).waitFor();
  });
});

test("characters that nobody sees are escaped in paths, actors and notes, and the links lead to the file", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const [folder, name] = ["a\u200bb", "c\u2028d\u{e0041}.md"];
  const said = { "x-actor": "planner/2.1", "x-change-note": encodeURIComponent("fine\u200b\u2028so") };
  await files.post({ path: `${folder}/${name}`, content: "one\n" }, said);
  const [shownFolder, shownName] = ["a\\u200bb", "c\\u2028d\\udb40\\udc41.md"];
  await step("folders and files", async () => {
    await open("files");
    await page.getByRole("table").getByRole("link", { name: shownFolder }).click();
    await page.getByRole("heading", { name: shownFolder, exact: true }).waitFor();
    await page.getByRole("table").getByRole("link", { name: shownName }).click();
    await page.getByRole("heading", { name: shownName, exact: true }).waitFor();
    await page.getByText("one").waitFor();
  });
  await step("the activity", async () => {
    await open("activity");
    await page.getByRole("link", { name: `${shownFolder}/${shownName}`, exact: true }).waitFor();
    await page.getByText("fine\\u200b\\u2028so", { exact: true }).waitFor();
  });
});
