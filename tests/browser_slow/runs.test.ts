/** Runs: their list, the changes of one run, and its undo with a plan shown first. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { browserSuite } from "../support/browser/browser.ts";
import { dialog, follow, press, says } from "../support/browser/page_actions.ts";
import { Account } from "../support/client/accounts.ts";
import { Files } from "../support/client/files.ts";

const { test, service } = await browserSuite();

const RUN = "nightly-42";
const NOTE = "the night's report";

test("a run: from the activity to its files, their changes, and an undo that asks about what others changed", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const inRun = { "x-run-id": RUN, "x-actor": "planner/2.1", "x-change-note": NOTE };
  await files.write("kept.md", "kept before\n");
  await files.write("shared.md", "shared before\n");
  await files.put("overwrite", "kept.md", { content: "by the run\n" }, inRun);
  await files.put("overwrite", "shared.md", { content: "by the run\n" }, inRun);
  await files.request("POST", "/files", {
    body: { path: "made.md", content: "by the run\n" },
    headers: inRun,
  });
  await files.overwrite("shared.md", "by somebody else\n");
  const contents = async () => {
    const paths = await files.paths({ recursive: true });
    return Object.fromEntries(
      await Promise.all(paths.map(async (path) => [path, (await files.read(path)).content])),
    );
  };
  const rows = page.getByRole("list", { name: `Files of ${RUN}` });

  await step("the activity leads to the run, which names its files", async () => {
    await open("activity");
    await follow(page, `View run ${RUN}`);
    await page.getByRole("heading", { name: `Run ${RUN}` }).waitFor();
    await says(page, "3 versions of 3 files");
    await says(page, "planner/2.1");
    await says(page, /^with the key test/);
    await says(page, NOTE);
    await page.getByText("applied", { exact: true }).waitFor();
    assertEquals(await rows.getByRole("link", { name: /^(kept|made|shared)\.md$/ }).allTextContents(), [
      "kept.md",
      "made.md",
      "shared.md",
    ]);
  });
  await step("the list of runs leads there, too", async () => {
    await follow(page, "Runs");
    await follow(page.getByRole("table", { name: "Runs" }), RUN);
    await page.getByRole("heading", { name: `Run ${RUN}` }).waitFor();
  });
  await step("what it changed is shown, with its lines counted, and leads to the comparison", async () => {
    const changes = page.getByRole("region", { name: "Changes in kept.md" });
    await changes.getByText("kept before").waitFor();
    await page.getByRole("region", { name: "Changes in made.md" }).getByText("by the run").waitFor();
    await says(page, "3 lines added, 2 removed");
    await press(page, "Changes in kept.md");
    await changes.waitFor({ state: "detached" });
    await press(page, "Changes in kept.md");
    await changes.waitFor();
    await follow(page, "Compare kept.md, versions 1 and 2");
    await page.getByRole("region", { name: /^Changes/ }).getByText("kept before").waitFor();
    await page.goBack();
  });
  await step("the project as it was before the run", async () => {
    await follow(page, "View before this run");
    await page.getByRole("note", { name: "The past" }).waitFor();
    const links = page.getByRole("table").getByRole("link");
    await links.first().waitFor();
    assertEquals(await links.allTextContents(), ["kept.md", "shared.md"]);
    await page.goBack();
  });
  await step("the undo shows what it would do, and does nothing yet", async () => {
    const before = await contents();
    await press(page, "Undo …");
    const undo = dialog(page, `Undo run ${RUN}?`);
    await undo.getByText("1 file gets earlier content back").waitFor();
    await undo.getByText("kept.md: version 1").waitFor();
    await undo.getByText("1 file is deleted: created by the run").waitFor();
    await undo.getByText("shared.md: version 3").waitFor();
    await page.keyboard.press("Escape");
    await undo.waitFor({ state: "detached" });
    assertEquals(await contents(), before);
  });
  await step("what others changed stays as it is, unless one says otherwise; the undo is a run", async () => {
    await press(page, "Undo …");
    const undo = dialog(page, `Undo run ${RUN}?`);
    await undo.getByLabel("These files").selectOption("overwrite");
    await undo.getByText("2 files get earlier content back").waitFor();
    await undo.getByLabel("These files").selectOption("skip");
    await undo.getByText("1 file gets earlier content back").waitFor();
    await press(undo, "Undo the run");
    await says(page, "Undone: 2 files.");
    await page.getByRole("heading", { name: `Undo of ${RUN}` }).waitFor();
    assertEquals(await contents(), { "kept.md": "kept before\n", "shared.md": "by somebody else\n" });
  });
  await step("each of the two says what became of it, and leads to the other", async () => {
    const main = page.getByRole("main");
    await says(page, "This run has undone");
    await follow(main, RUN);
    await page.getByRole("heading", { name: `Run ${RUN}` }).waitFor();
    await page.getByText("undone", { exact: true }).waitFor();
    await follow(main, `Undo of ${RUN}`);
    await page.getByRole("heading", { name: `Undo of ${RUN}` }).waitFor();
    await page.getByText("applied", { exact: true }).waitFor();
  });
  await step("so does the list", async () => {
    await follow(page, "Runs");
    const list = page.getByRole("table", { name: "Runs" });
    await list.getByRole("row", { name: `Undo of ${RUN}` }).waitFor();
    await list.getByRole("row", { name: `${RUN} undone planner/2.1` }).waitFor();
  });
  await step("an undo that was undone leaves the run applied", async () => {
    await follow(page, `Undo of ${RUN}`);
    await press(page, "Undo …");
    await press(dialog(page, `Undo the undo of ${RUN}?`), "Undo the run");
    await follow(page, "Runs");
    await page.getByRole("row", { name: `${RUN} planner/2.1` }).waitFor();
  });
});

test("an unknown run offers nothing to undo, and leads to all runs", async ({ page, open }) => {
  await open("run/nowhere");
  await says(page, "Nothing was written under the run id nowhere.");
  assertEquals(await page.getByRole("main").getByRole("button").count(), 0);
  await follow(page, "All runs");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
});

test("a run of many files shows the changes of the first ones, and those of the others on scrolling to them", async (visit) => {
  const { page, open, calls, account: { files } } = visit;
  const operations = Array.from({ length: 40 }, (_, index) => ({
    op: "write",
    path: `file${40 - index}.md`,
    content: `text ${40 - index}\n`,
  }));
  await files.request("POST", "/batch", { body: { operations }, headers: { "x-run-id": RUN } });
  await open(`run/${RUN}`);
  const names = page.getByRole("list", { name: `Files of ${RUN}` }).getByRole("link");
  await names.nth(39).waitFor();
  assertEquals((await names.allTextContents()).slice(0, 3), ["file1.md", "file2.md", "file3.md"]);
  const changes = (name: string) => page.getByRole("region", { name: `Changes in ${name}` });
  await changes("file3.md").getByText("text 3").waitFor();
  await says(page, /in the \d+ files shown/);
  const read = () => calls.filter((call) => call.startsWith("GET /diff/")).length;
  assert(read() < 20, `${read()} of 40 files were compared before anybody scrolled`);
  await names.nth(39).scrollIntoViewIfNeeded();
  await changes("file40.md").getByText("text 40").waitFor();
  assert(read() < 40, "what was scrolled past was not compared");
});

test("a run that two keys wrote under: what one of them did is undone alone", async (visit) => {
  const { page, step, open, account: { files, projectId, session } } = visit;
  const inRun = { "x-run-id": RUN };
  const { access_token: token } = z.looseObject({ access_token: z.string() }).parse(JSON.parse(session));
  const { key } = await new Account(service, token, projectId).createKey({ name: "The other agent" });
  const other = new Files(service, key);
  await files.write("a.md", "before\n");
  await files.put("overwrite", "a.md", { content: "by the one\n" }, inRun);
  await other.request("POST", "/files", {
    body: { path: "b.md", content: "by the other\n" },
    headers: inRun,
  });
  await step("the run names both", async () => {
    await open(`run/${RUN}`);
    await page.getByText(/^with the keys .*The other agent/).waitFor();
  });
  await step("the undo shows what would become of one's files, and leaves the other's", async () => {
    await press(page, "Undo …");
    const undo = dialog(page, `Undo run ${RUN}?`);
    await undo.getByText("1 file gets earlier content back").waitFor();
    await undo.getByText("1 file is deleted: created by the run").waitFor();
    await undo.getByLabel("Written with").selectOption("The other agent");
    await undo.getByText("1 file gets earlier content back").waitFor({ state: "detached" });
    await undo.getByText("1 file is deleted: created by the run").waitFor();
    await press(undo, "Undo the run");
    await says(page, "Undone: 1 file.");
    assertEquals(await files.paths({ recursive: true }), ["a.md"]);
    assertEquals((await files.read("a.md")).content, "by the one\n");
  });
});
