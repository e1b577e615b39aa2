/** A run of a thousand files: one request for all of them, a row for each, and none per row. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { says } from "../support/browser/page_actions.ts";

const FILES = 1_000;
const FILES_PER_BATCH = 100;
const RUN = "nightly-1000";

const { test } = await browserSuite();

test("run of 1,000 files: its page is one request, and shows them all", async (visit) => {
  const { page, open, openFollowing, calls, account: { files } } = visit;
  for (let start = 0; start < FILES; start += FILES_PER_BATCH) {
    const operations = Array.from({ length: FILES_PER_BATCH }, (_, index) => ({
      op: "write",
      path: `out/${String(start + index).padStart(4, "0")}.md`,
      content: "made by the run\n",
    }));
    await files.request("POST", "/batch", { body: { operations }, headers: { "x-run-id": RUN } });
  }
  await openFollowing("keys");
  await page.getByRole("table", { name: "API keys, newest first" }).waitFor();
  await page.getByRole("navigation", { name: "Folders" }).waitFor();
  const before = calls.length;
  await open(`run/${RUN}`);
  await says(page, "1,000 versions of 1,000 files");
  const rows = page.getByRole("table", { name: `Files of ${RUN}` }).getByRole("row");
  await rows.getByRole("link", { name: "out/0999.md" }).waitFor();
  assertEquals(await rows.count(), FILES + 1, "rows, with the header");
  assertEquals(await rows.nth(1).getByRole("link").first().innerText(), "out/0000.md");
  assertEquals(calls.slice(before), [`GET /runs/${RUN}`]);
}, { tier: "pro" });
