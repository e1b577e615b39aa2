/** Figures and lists that documents state in prose equal those in the code. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { NOTICES } from "../../supabase/functions/api/adapters/notices.ts";
import * as limits from "../../supabase/functions/api/limits.ts";
import { openapiDocument } from "../../supabase/functions/api/openapi/document.ts";
import { allRoutes } from "../../supabase/functions/api/routes/mod.ts";
import { readDocument, readDocuments, section } from "../support/content/documents.ts";

const ROUTES = await allRoutes();

const count = (value: number) => value.toLocaleString("en-US");
const mebibytes = (value: number) => `${count(value / 1024 ** 2)} MiB`;
const seconds = (milliseconds: number) => `${milliseconds / 1000} s`;

/** Maps each page of `supabase/docs` to phrases that it must contain, with the figures from the code. */
const STATED: Readonly<Record<string, readonly string[]>> = {
  "api/requests.md": [`at most ${limits.PATH_SEGMENTS_MAX} names`],
  "api/list.md": [
    `counted up to ${count(limits.LIST_TOTAL_MAX)}.`,
    `up to ${count(limits.LIST_DIRECTORIES_MAX)} folders`,
  ],
  "api/edit.md": [
    `overtaking the edit for ${
      seconds(limits.BACKEND_DEADLINE_MILLISECONDS - limits.EDIT_CONFLICT_TRY_MILLISECONDS)
    }`,
  ],
  "api/batch.md": [
    `up to ${limits.BATCH_OPERATIONS_MAX} operations`,
    `at most ${count(limits.CONTENT_LENGTH_MAX)} characters`,
    `each ${limits.OPERATIONS_PER_REQUEST} operations`,
  ],
  "api/folders.md": [
    `up to ${count(limits.COMMIT_FILES_MAX)}, as one commit`,
    `each ${limits.OPERATIONS_PER_REQUEST} files`,
  ],
  "api/past.md": [
    `up to ${count(limits.COMMIT_FILES_MAX)} files`,
    `each ${limits.OPERATIONS_PER_REQUEST} files`,
    `A plan counts ${limits.PLAN_REQUESTS_MAX} requests at most`,
  ],
  "api/export.md": [
    `at most ${limits.EXPORT_FILES_MAX} files, ${mebibytes(limits.EXPORT_BYTES_MAX)} and ` +
    `${count(limits.EXPORT_SEGMENTS_MAX)} segments`,
  ],
  "api/runs.md": [
    `up to ${count(limits.RUN_FILES_MAX)} files`,
    `more than ${count(limits.RUN_VERSIONS_COUNTED_MAX)} versions`,
    `at most ${limits.PROJECT_KEYS_MAX} ids`,
    `the ${count(limits.COMMIT_FILES_MAX)} files of a commit`,
    `examines ${count(limits.UNDO_VERSIONS_EXAMINED_MAX)} versions`,
    `each ${limits.OPERATIONS_PER_REQUEST} files`,
    `plan counts ${limits.PLAN_REQUESTS_MAX} requests at most`,
  ],
  "api/changes.md": [
    `up to ${limits.CHANGES_WAIT_SECONDS_MAX} s`,
    `at most ${count(limits.CHANGES_EXAMINED_MAX)} versions`,
    `${limits.FREE_FOLLOWS_PER_MINUTE} requests a minute`,
  ],
  "api/erasure.md": [
    `up to ${count(limits.ERASED_VERSIONS_MAX)} versions at once`,
    `up to ${count(limits.REDACT_VERSIONS_MAX)} versions`,
    `names up to ${limits.REDACT_REMAINING_MAX} versions`,
    `up to ${count(limits.RETENTION_PREVIEW_FILES)} files and ${
      count(limits.RETENTION_PREVIEW_VERSIONS)
    } such versions`,
  ],
  "api/projects.md": [`${limits.ACCOUNT_REQUESTS_PER_MINUTE} requests a minute`],
  "api/keys.md": [`shown for ${limits.ENDED_KEYS_KEPT_DAYS} days`],
  "api/usage.md": [`keeps ${limits.USAGE_KEPT_DAYS} days`],
  "api/limits.md": [
    `A read counts ${limits.REQUESTS_COUNTED_MAX} at most`,
    `${limits.COSTLY_REQUESTS_AT_ONCE} of them running in one isolate`,
    `wait for up to ${seconds(limits.COSTLY_WAIT_MILLISECONDS)}`,
    `rate headers show ${limits.NO_LIMIT_SHOWN}`,
    `indexes text up to ${mebibytes(limits.SEARCH_TEXT_BYTES_MAX)} a file`,
  ],
  "api/health.md": [`at most every ${seconds(limits.HEALTH_PROBE_INTERVAL_MILLISECONDS)}`],
  "operating/limits.md": [`at most ${limits.ACCOUNT_PROJECTS_MAX} projects`],
  "operating/monitoring.md": [
    `after ${seconds(limits.HEALTH_PROBE_DEADLINE_MILLISECONDS)} at the latest`,
    `at most every ${seconds(limits.HEALTH_PROBE_INTERVAL_MILLISECONDS)}`,
  ],
  "operating/settings.md": [`up to ${count(limits.EMBEDDING_DIMENSIONS_MAX)} numbers`],
  "operating/upkeep.md": [
    `every ${limits.SWEEP_EVERY_COMMITS} commits`,
    `up to ${count(limits.ERASED_VERSIONS_MAX)} versions`,
  ],
  "connect.md": [
    `at most ${count(limits.MCP_TEXT_LENGTH_MAX)} characters`,
    `a message may have ${limits.MCP_BODY_BYTES_MAX / 1024 ** 2} MiB`,
  ],
  "storage_format.md": [`1 to ${limits.SEGMENT_BYTES_MAX} bytes`],
  "neighbours.md": [
    `at most ${limits.PATH_SEGMENTS_MAX} names`,
    `${count(limits.PROJECT_LINKS_MAX)} links that can be used`,
    `first ${count(limits.UNKNOWN_NAMES_ITEMS_MAX)} items of a list, and of at most ` +
    `${limits.MCP_UNKNOWN_ARGUMENTS_MAX} arguments`,
    `${limits.ACCOUNT_REQUESTS_PER_MINUTE} calls a minute`,
    `deleted after ${limits.ENDED_KEYS_KEPT_DAYS} days`,
    `has ${limits.COSTLY_REQUESTS_AT_ONCE} costly requests`,
    `${mebibytes(limits.SEARCH_LIVE_BYTES_MAX)} in ${limits.SEARCH_LIVE_READS_MAX} segments`,
    `makes ${limits.SEARCH_WALKS_MAX} calls at most`,
    `given up after ${seconds(limits.BODY_IDLE_MILLISECONDS)}`,
  ],
};

for (const [page, phrases] of Object.entries(STATED)) {
  Deno.test(`${page}: its figures are those of the code`, async () => {
    const { lines } = await readDocument(join("supabase/docs", page));
    const text = lines.map((line) => line.trim()).join(" ");
    assertEquals(phrases.filter((phrase) => !text.includes(phrase)), []);
  });
}

/** The first cells of a table's rows, without the head, its rule and backticks. */
const firstCells = (lines: readonly string[]) =>
  lines.flatMap((line) => /^\| `(\w+)` /.exec(line)?.[1] ?? []);

Deno.test("operating/incidents.md has what to do about each problem that the log reports", async () => {
  const rows = section(
    await readDocument("supabase/docs/operating/incidents.md"),
    "## The log asks for action",
  );
  assertEquals(firstCells(rows).slice(1), Object.keys(NOTICES));
});

Deno.test("api/search.md has each reason for which a text was not searched", async () => {
  const rows = section(await readDocument("supabase/docs/api/search.md"), "## What was not searched");
  const reasons = /"enum":(\["too_large",[^\]]*"too_many_words"[^\]]*\])/.exec(
    JSON.stringify(openapiDocument(ROUTES)),
  )?.[1];
  assertEquals(firstCells(rows).slice(1), JSON.parse(reasons ?? "[]"));
});

Deno.test("every page of the API and for operators stands in its index", async () => {
  const documents = await readDocuments();
  for (const folder of ["api", "operating"]) {
    const prefix = `supabase/docs/${folder}/`;
    const pages = documents.filter(({ path }) => path.startsWith(prefix) && !path.endsWith("README.md"));
    const index = await readDocument(`${prefix}README.md`);
    const linked = new Set(index.links.map(({ target }) => prefix + target));
    assert(pages.length > 5);
    assertEquals(pages.map(({ path }) => path).filter((path) => !linked.has(path)), []);
  }
});
