/** The activity: all pages of it, with filters that the address stores. */
import { assert, assertEquals } from "@std/assert";
import { browserSuite, type Visit } from "../support/browser/browser.ts";
import { becomesFocused, press, says } from "../support/browser/page_actions.ts";
import { eventually } from "../support/eventually.ts";

const ENTRIES_PER_PAGE = 50;

const { test, service } = await browserSuite();

test("activity: back to the first write, page by page, one request each", async (visit) => {
  const { page, step, openFollowing, calls, account: { files } } = visit;
  const count = 2 * ENTRIES_PER_PAGE + 3;
  await files.write("log.txt", "1\n");
  const appends = Array.from({ length: count - 1 }, (_, index) => ({
    op: "append",
    path: "log.txt",
    content: `${index + 2}\n`,
  }));
  await files.commit(appends.slice(0, ENTRIES_PER_PAGE));
  await files.commit(appends.slice(ENTRIES_PER_PAGE));
  await openFollowing("activity");
  const pages: string[][] = [];
  for (const size of [ENTRIES_PER_PAGE, ENTRIES_PER_PAGE, 3]) {
    await step(`page ${pages.length + 1}`, async () => {
      const before = calls.length;
      if (pages.length > 0) await press(page, "Older");
      const last = pages.flat().length;
      const newest = `log.txt, appended to, version ${count - last}`;
      await eventually(newest, async () => (await shown(visit))[0] === newest);
      const rows = await shown(visit);
      assertEquals(rows.length, size);
      pages.push(rows);
      if (last > 0) assertEquals(calls.slice(before).map((call) => call.split("?")[0]), ["GET /changes"]);
    });
  }
  assertEquals(new Set(pages.flat()).size, count, "each write once");
  assertEquals(pages.flat().at(-1), "log.txt, written, version 1");
  await step("there is nothing older", async () => {
    assert(await page.getByRole("button", { name: "Older" }).isDisabled());
    await page.goBack();
    await eventually("the page before", async () => (await shown(visit)).join() === pages[1]?.join());
    await press(page, "Newest");
    await eventually("the newest", async () => (await shown(visit)).join() === pages[0]?.join());
  });
});

test("activity: filters are in the address, hold together and for what comes", async (visit) => {
  const { page, part, open, account: { files, projectId } } = visit;
  const write = (path: string, actor: string, run: string) =>
    files.post({ path, content: "x" }, { "x-actor": actor, "x-run-id": run });
  await write("notes/a.txt", "ada", "r-1");
  await write("notes/b.txt", "bob", "r-1");
  await write("c.txt", "ada", "r-2");
  await files.remove("c.txt");
  const { id: keyId, key } = await service.key(projectId);
  await service.request(key, "POST", "/files", { body: { path: "by key.txt", content: "x" } });
  const filters = page.getByRole("search", { name: "Filters of the activity" });
  const field = (name: string) => filters.getByLabel(name, { exact: true });
  const add = async (name: string) => {
    await press(page, "Add filter");
    await page.getByRole("menuitem", { name, exact: true }).click();
    await becomesFocused(page, field(name));
  };
  const paths = async () => (await shown(visit)).map((text) => text.split(",")[0]);
  const shows = async (...expected: string[]) => {
    await eventually(expected.join(), async () => (await paths()).join() === expected.join());
  };
  const has = (name: string, value: string) =>
    assertEquals(new URLSearchParams(page.url().split("?")[1]).get(name), value);
  await open("activity");
  await shows("by key.txt", "c.txt", "c.txt", "notes/b.txt", "notes/a.txt");
  await part("an actor, after Enter", async () => {
    await add("Actor");
    await page.keyboard.type("ada");
    await page.keyboard.press("Enter");
    await shows("c.txt", "notes/a.txt");
    has("actor", "ada");
    await becomesFocused(page, filters.getByRole("button", { name: "Actor: ada" }));
  });
  await part("and a folder, when the field is left", async () => {
    await add("Folder");
    await field("Folder").fill("/notes/");
    await page.getByRole("button", { name: "Add filter" }).focus();
    await shows("notes/a.txt");
    has("directory", "notes");
    await page.reload();
    await shows("notes/a.txt");
    await press(page, "Folder: notes");
    assertEquals(await field("Folder").inputValue(), "notes");
    await field("Folder").fill("elsewhere");
    await page.keyboard.press("Escape");
    await becomesFocused(page, filters.getByRole("button", { name: "Folder: notes" }));
    has("directory", "notes");
  });
  await part("what comes is shown where it passes", async () => {
    await write("notes/not hers.txt", "bob", "r-3");
    await write("elsewhere.txt", "ada", "r-3");
    await write("notes/hers.txt", "ada", "r-3");
    await shows("notes/hers.txt", "notes/a.txt");
  });
  await part("a run, a kind and a key", async () => {
    await press(page, "Clear filters");
    await add("Run");
    await field("Run").fill("r-1");
    await field("Run").press("Enter");
    await shows("notes/b.txt", "notes/a.txt");
    await press(page, "Remove the filter Run");
    await add("Kind");
    await field("Kind").selectOption("Deleted");
    await shows("c.txt");
    has("operation", "delete");
    await open("activity");
    await add("Key");
    await field("Key").selectOption(keyId);
    await shows("by key.txt");
    has("keyId", keyId);
  });
  await part("nothing passes", async () => {
    await open("activity?actor=nobody");
    await says(page, "No matching writes.");
  });
  await part("a time, from and until", async () => {
    await service.sql(
      "update filestore.file_versions set created_at = created_at - interval '2 days' where project_id = $1 and run_id = 'r-1'",
      [projectId],
    );
    const yesterday = localTime(new Date(Date.now() - 86_400_000));
    await open(`activity?until=${yesterday}`);
    await shows("notes/b.txt", "notes/a.txt");
    await open("activity");
    await add("From");
    await field("From").fill(yesterday);
    await field("From").press("Enter");
    await eventually("it is in the address", () => page.url().includes("since="));
    await eventually(
      "later ones",
      async () => !(await paths()).includes("notes/a.txt") && (await paths()).length > 3,
    );
    await add("Until");
    await field("Until").fill(yesterday);
    await field("Until").press("Enter");
    await says(page, "No matching writes.");
  });
});

test("activity: where few pass, it says how far it has looked, and looks further", async (visit) => {
  const { page, openFollowing, part, account: { files } } = visit;
  await files.post({ path: "early.txt", content: "x" }, { "x-actor": "ada" });
  for (let n = 0; n < 8; n++) await files.write(`${n}.txt`, "x");
  // Simulates a service that examines one write per request.
  await page.route(/\/changes\?.*before=/, async (route) => {
    const url = new URL(route.request().url());
    url.searchParams.delete("actor");
    url.searchParams.set("limit", "1");
    const response = await route.fetch({ url: url.href });
    const { data, ...rest } = await response.json();
    const changes = data.changes.filter(({ actor }: { readonly actor?: string }) => actor === "ada");
    await route.fulfill({ response, json: { ...rest, data: { ...data, changes } } });
  });
  await openFollowing("activity?actor=ada");
  await part("it pauses, and never says that there is none", async () => {
    await says(page, "Searched 50,000 writes.");
    assertEquals(await page.getByText("No matching writes").count(), 0);
  });
  await part("it goes on", async () => {
    await press(page, "Search further");
    await page.getByRole("link", { name: "early.txt" }).waitFor();
    assertEquals(await page.getByRole("button", { name: "Search further" }).count(), 0);
  });
  await page.unrouteAll({ behavior: "wait" });
});

test("activity: the writes of a run are one row, others one for each key in ten minutes; an open group stays open", async (visit) => {
  const { page, step, openFollowing, service, account: { files, projectId } } = visit;
  const { id, key } = await service.key(projectId);
  const inRun = (path: string) =>
    files.post({ path, content: "x" }, { "x-run-id": "nightly-42", "x-actor": "planner" });
  await inRun("a.md");
  const asOther = (path: string) => service.request(key, "POST", "/files", { body: { path, content: "x" } });
  await asOther("other 1.md");
  await inRun("b.md");
  await asOther("other 2.md");
  // Two groups of ten minutes of the clock, whenever the test runs.
  for (const [path, time] of [["other 1.md", "09:58"], ["other 2.md", "10:01"]]) {
    await service.sql(
      `update filestore.file_versions v set created_at = '2026-11-01 ${time}Z'
       from filestore.files f where f.id = v.file_id and v.project_id = $1 and f.path = $2`,
      [projectId, path],
    );
  }
  const table = page.getByRole("table", { name: "Latest writes" });
  const names = async () => await table.locator("tbody .row-link").allInnerTexts();
  const hasNames = (...expected: string[]) =>
    eventually(expected.join(), async () => (await names()).join() === expected.join());
  await step("the run is one row, and its writes are below it once it is opened", async () => {
    await openFollowing("activity");
    await hasNames("other 2.md", "nightly-42", "other 1.md");
    await table.getByRole("row", { name: /^nightly-42 2 files View run nightly-42 written planner/ })
      .waitFor();
    await press(page, "nightly-42");
    await hasNames("other 2.md", "nightly-42", "b.md", "a.md", "other 1.md");
  });
  await step("a write of the run comes to its group, which stays open", async () => {
    await inRun("c.md");
    await hasNames("nightly-42", "c.md", "b.md", "a.md", "other 2.md", "other 1.md");
    await table.getByRole("row", { name: /^nightly-42 3 files/ }).waitFor();
  });
  await step("writes of a key in the same ten minutes are one group", async () => {
    await service.sql(
      "update filestore.file_versions set created_at = '2026-11-01 09:58Z' where project_id = $1 and key_id = $2",
      [projectId, id],
    );
    await page.reload();
    await table.getByRole("button", { name: /^test/ }).waitFor();
    assertEquals((await names()).length, 2);
    await page.getByRole("link", { name: "View run nightly-42" }).click();
    await page.getByRole("heading", { name: "Run nightly-42" }).waitFor();
  });
});

test("activity: the first row is in the upper quarter of the window, and no field of a filter is wider than half of it", async (visit) => {
  const { page, open, account: { files } } = visit;
  await files.write("a.md", "x");
  for (const [width, most] of [[1280, 200], [390, 260]] as const) {
    await page.setViewportSize({ width, height: 800 });
    await open(`activity?since=2026-01-01T00:00&run=${width}`);
    await says(page, "No matching writes.");
    await press(page, `Run: ${width}`);
    const field = await page.getByLabel("Run", { exact: true }).boundingBox();
    assert(field !== null && field.width <= width / 2, `${field?.width}`);
    await page.keyboard.press("Escape");
    await press(page, "Remove the filter Run");
    const row = page.getByRole("table", { name: "Latest writes" }).locator("tbody tr").first();
    const first = await row.boundingBox();
    assert(first !== null && first.y < most, `${first?.y} at ${width}`);
  }
});

/** Opens all groups and returns the text of each write: `log.txt, appended to, version 2`. */
async function shown({ page }: Visit): Promise<string[]> {
  const table = page.getByRole("table", { name: "Latest writes" });
  const closed = table.locator("button[aria-expanded=false]");
  while (await closed.count() > 0) await closed.first().click();
  return await table.locator("tbody tr:not(.group)").evaluateAll((all) =>
    all.map((row) =>
      [...row.querySelectorAll("td")].slice(0, 2).map((cell) => cell.textContent?.trim()).join(", ")
    )
  );
}

/** Formats a time as a form field has it. */
function localTime(time: Date): string {
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
