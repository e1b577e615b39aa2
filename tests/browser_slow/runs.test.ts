/** Runs: their list, the changes of one run, and its undo with a plan shown first. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { browserSuite } from "../support/browser/browser.ts";
import { dialog, follow, press, says } from "../support/browser/page_actions.ts";
import { Account } from "../support/client/accounts.ts";
import { Files } from "../support/client/files.ts";

const { test, service } = await browserSuite();

const RUN = "nightly-42";

test("a run: from the activity to its files, their changes, and an undo that asks about what others changed", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const inRun = { "x-run-id": RUN, "x-actor": "planner/2.1" };
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
  const rows = page.getByRole("table", { name: `Files of ${RUN}` }).getByRole("row");

  await step("the activity leads to the run, which names its files", async () => {
    await open("activity");
    await page.getByRole("link", { name: `run ${RUN}` }).first().click();
    await page.getByRole("heading", { name: `Run ${RUN}` }).waitFor();
    await says(page, "3 versions of 3 files, by planner/2.1");
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
  await step("what it changed in a file is a comparison with what was before", async () => {
    await follow(page, "Changes of kept.md");
    await page.getByRole("region", { name: /^Changes/ }).getByText("kept before").waitFor();
    await page.goBack();
  });
  await step("the project as it was before the run", async () => {
    await follow(page, "As it was before");
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
    await page.getByRole("heading", { name: /^Run [0-9a-f-]{36}$/ }).waitFor();
    assertEquals(await contents(), { "kept.md": "kept before\n", "shared.md": "by somebody else\n" });
  });
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
    await page.getByText(/Written with .*The other agent/).waitFor();
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
