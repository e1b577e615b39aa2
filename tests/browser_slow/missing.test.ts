/** What the console shows where nothing is: at a path, at an address, in a picture, and behind a link. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { follow, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("missing: a path without a file or folder leads to what is near, and can be filled", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/plan.md", "one\n");
  await step("a file: the folder above, the deleted files", async () => {
    await open("file/notes/other.md");
    await says(page, "There is no file at this path.");
    await follow(page, "Open the folder notes");
    await page.getByRole("link", { name: "plan.md" }).waitFor();
    await page.goBack();
    await follow(page, "deleted files");
    await says(page, "Nothing is deleted.");
  });
  await step("a file that is written meanwhile is shown", async () => {
    await open("file/notes/agent.md");
    await says(page, "There is no file at this path.");
    await files.write("notes/agent.md", "# Written\n");
    await page.getByRole("heading", { name: "Written" }).waitFor();
  });
  await step("a folder without a slash", async () => {
    await open("file/notes");
    await follow(page, "Open the folder");
    await page.getByRole("link", { name: "plan.md" }).waitFor();
  });
  await step("a file is created there", async () => {
    await open("file/notes/other.md");
    await press(page, "Create it here");
    await page.getByRole("textbox", { name: "Edit notes/other.md" }).waitFor();
    assertEquals((await files.read("notes/other.md")).content, "");
  });
  await step("a folder", async () => {
    await open("files/nowhere/deep");
    await says(page, "This folder has no files.");
    await follow(page, "Open the folder nowhere");
    await follow(page, "Open the project's files");
    await page.getByRole("main").getByRole("link", { name: "notes" }).waitFor();
  });
});

test("missing: an address without a view is a page, with a way on", async (visit) => {
  const { page, step, open, service, account: { files } } = visit;
  const start = `${service.stack.supabaseUrl}/console`;
  await files.write("plan.md", "one\n");
  await step("in a project", async () => {
    await open("nope");
    await page.getByRole("heading", { name: "No such page" }).waitFor();
    await follow(page, "Open the files");
    await page.getByRole("link", { name: "plan.md" }).waitFor();
  });
  await step("outside of a project", async () => {
    await page.goto(`${start}/#/nope`);
    await page.getByRole("heading", { name: "No such page" }).waitFor();
    await press(page, "Open my project");
    await page.getByRole("link", { name: "plan.md" }).waitFor();
  });
  await step("beside the console", async () => {
    const answer = await page.goto(`${start}/nope`);
    assertEquals(answer?.status(), 404);
    await says(page, "There is no page at this address.");
    await follow(page, "Open the console");
    await page.getByRole("link", { name: "plan.md" }).waitFor();
  });
});

test("missing: a broken picture says so, and a link to no file looks dead", async (visit) => {
  const { page, step, open, calls, account: { files } } = visit;
  await files.write(
    "docs/guide.md",
    "[plan](plan.md), [gone](gone.md), [none](none.md), [all](../docs), ![x](broken.png)\n",
  );
  await files.write("docs/plan.md", "one\n");
  await files.write("docs/gone.md", "one\n");
  await files.remove("docs/gone.md");
  await files.writeBytes("docs/broken.png", new Uint8Array([1, 2, 3]));
  await step("in a document", async () => {
    await open("file/docs/guide.md");
    await says(page, "x (image not shown: The file is broken.)");
    const document = page.getByRole("article");
    await document.locator("a.dead").nth(1).waitFor();
    assertEquals(await document.locator("a.dead").allInnerTexts(), ["gone", "none"]);
    assertEquals(
      await document.getByRole("link", { name: "none" }).getAttribute("title"),
      "There is no file at this path.",
    );
    const lists = calls.filter((call) => call.startsWith("GET /files?") && call.includes("limit=100"));
    assertEquals(lists.length, 2, "one list for each folder that the document links to");
  });
  await step("on its own page", async () => {
    await open("file/docs/broken.png");
    await page.getByRole("alert").getByText("This file is broken, or it is not image/png.").waitFor();
  });
});
