/**
 * Paging with `after` gives the same pages as an offset, at any depth, and skips no file while files are added and
 * deleted.
 */
import { assert, assertEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import type { Files } from "../support/client/files.ts";
import type { FolderFiles } from "./folder_files.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Paging by cursor");
export default cases;

type Query = Record<string, string | number | boolean>;

const byBytes = (one: string, other: string) => {
  const [a, b] = [new TextEncoder().encode(one), new TextEncoder().encode(other)];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};

/** Names that any order except that of bytes would sort differently. */
const PATHS = [
  ...Array.from({ length: 40 }, (_, index) => `f${index}`),
  ...Array.from({ length: 20 }, (_, index) => `dir/${index}.md`),
  ...Array.from({ length: 20 }, (_, index) => `dir/sub/${index}.txt`),
  ...[
    ..."A a Z z _ ~ !".split(" "),
    " ",
    ..."é e\u0301 日本 \uffee 😀 dir.x dir0 dir dir-x".split(" "),
  ],
].sort(byBytes);

/** All paths, page by page with an offset. */
async function byOffset(own: Files, query: Query): Promise<string[]> {
  const paths: string[] = [];
  for (let offset = 0;; offset += 100) {
    const page = await own.list({ ...query, limit: 100, offset });
    paths.push(...page.files.map(({ path }) => path));
    if (!page.hasMore) return paths;
  }
}

const QUERIES: readonly Query[] = [
  { recursive: true },
  { recursive: true, directory: "dir" },
  { recursive: false },
  { directory: "dir/sub" },
  { recursive: true, contentType: "text/markdown" },
  { recursive: true, minSize: 5, maxSize: 7 },
  { recursive: true, createdAfter: "2020-01-01" },
  { recursive: true, deleted: true },
];

let made: Promise<FolderFiles> | undefined;

/** The files that all cases share which only read. */
function tree(): Promise<FolderFiles> {
  return made ??= makeTree();
}

async function makeTree(): Promise<FolderFiles> {
  const own = await files();
  await Promise.all(PATHS.map((path) => own.write(path, `${path.length % 10}`.repeat(path.length % 9))));
  for (const path of PATHS.slice(0, 15)) {
    await own.write(`gone/${path}`, "x");
    await own.remove(`gone/${path}`);
  }
  return own;
}

/** All paths, page by page with a cursor. */
async function byCursor(own: Files, query: Query, limit: number): Promise<string[]> {
  const paths: string[] = [];
  for (let pages = 0; pages <= PATHS.length; pages++) {
    const after = paths.at(-1);
    const page = await own.list({ ...query, limit, ...(after !== undefined && { after }) });
    paths.push(...page.files.map(({ path }) => path));
    if (!page.hasMore) return paths;
    assertEquals(page.files.length, limit, "a page with more behind it is full");
  }
  throw new Error("the pages do not end");
}

for (const query of QUERIES) {
  for (const sortOrder of ["asc", "desc"]) {
    test(`after: pages of ${JSON.stringify(query)} ${sortOrder} are those of offset, whatever their length`, async () => {
      const own = await tree();
      const expected = await byOffset(own, { ...query, sortOrder });
      assert(expected.length >= 10, `${expected.length} files`);
      assertEquals(expected, [...expected].sort((a, b) => byBytes(a, b) * (sortOrder === "asc" ? 1 : -1)));
      for (const limit of [1, 7, 100]) {
        if (limit === 1 && expected.length > 40) continue;
        assertEquals(await byCursor(own, { ...query, sortOrder }, limit), expected, `limit ${limit}`);
      }
    });
  }
}

test("after: a cursor need not be a file, and total is not counted", async () => {
  const own = await tree();
  const all = await byOffset(own, { recursive: true });
  for (const after of ["dir/", "a/b", "dir/sub", "zzz", "\u{10ffff}", "!", "f2", "f20", "f200"]) {
    if (after.endsWith("/")) continue;
    const page = await own.list({ recursive: true, after, limit: 5 });
    const expected = all.filter((path) => byBytes(path, after) > 0);
    assertEquals(page.files.map(({ path }) => path), expected.slice(0, 5), after);
    assertEquals([page.total, page.hasMore], [null, expected.length > 5], after);
    const back = await own.list({ recursive: true, after, limit: 5, sortOrder: "desc" });
    const before = all.filter((path) => byBytes(path, after) < 0).reverse();
    assertEquals(back.files.map(({ path }) => path), before.slice(0, 5), after);
  }
});

test("after goes with offset: it skips from the cursor on", async () => {
  const own = await tree();
  const all = await byOffset(own, { recursive: true });
  const from = all.indexOf("f10");
  const paths = await own.paths({ recursive: true, after: "f10", offset: 3, limit: 4 });
  assertEquals(paths, all.slice(from + 4, from + 8));
});

test("after beyond the last path is an empty page with 200", async () => {
  const own = await tree();
  const page = await own.list({ recursive: true, after: "\u{10ffff}" });
  assertEquals([page.files, page.hasMore, page.total], [[], false, null]);
});

test("400 VALIDATION_ERROR: after with another sort field; 400 INVALID_PATH: after what is no path", async () => {
  const own = await tree();
  const before = await snapshot(own);
  for (const sortBy of ["created_at", "updated_at", "size"]) {
    const answer = await own.request("GET", "/files", { query: { after: "f1", sortBy } });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "list_files")), ["after"]);
  }
  const twice = await own.request("GET", "/files?after=a&after=b");
  assertEquals(issuePaths(assertRefused(twice, "VALIDATION_ERROR", "list_files")), ["after"]);
  const rules: [string, string][] = [["", "empty"], ["/a", "leading_slash"], ["a/", "trailing_slash"], [
    "a\\b",
    "backslash",
  ]];
  for (const [after, rule] of [...rules, ["..", "dot_segment"], ["x".repeat(1025), "too_long"]] as const) {
    const answer = await own.request("GET", "/files", { query: { after } });
    assertEquals(assertRefused(answer, "INVALID_PATH", "list_files"), { rule });
  }
  assertEquals(issuePaths(assertRefused(await own.request("GET", "/files?after=%ff"), "VALIDATION_ERROR")), [
    "after",
  ]);
  assertEquals((await own.list({ after: "f1", sortBy: "path" })).files[0]?.path, "f10");
  assertEquals(await snapshot(own), before);
});

test("200: the largest offset there is, with the largest page, is an empty page", async () => {
  const own = await tree();
  const query = { offset: 2_147_483_647, limit: 100 };
  assertEquals((await own.versions(PATHS[0] ?? "", query)).versions, []);
  for (const more of [{}, { recursive: true }, { deleted: true }, { after: "a" }]) {
    assertEquals((await own.list({ ...query, ...more })).files, []);
  }
});

test("400 VALIDATION_ERROR: deleted is true or false", async () => {
  const own = await tree();
  for (const deleted of ["", "1", "yes", "TRUE", "null"]) {
    const answer = await own.request("GET", "/files", { query: { deleted } });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "list_files")), ["deleted"]);
  }
});

test("after: while files are added and removed, none that stays is shown twice or skipped", async () => {
  for (const sortOrder of ["asc", "desc"]) {
    const busy = await files();
    const stable = Array.from({ length: 60 }, (_, index) => `s/${String(index).padStart(3, "0")}`);
    const leaving = stable.map((path) => `${path}-leaving`);
    for (const path of [...stable, ...leaving]) await busy.write(path, "");
    const seen: string[] = [];
    for (let page = 0; page < 100; page++) {
      const after = seen.at(-1);
      const { files: found, hasMore } = await busy.list({
        ...{ recursive: true, limit: 9, sortOrder },
        ...(after !== undefined && { after }),
      });
      seen.push(...found.map(({ path }) => path));
      if (!hasMore) break;
      // Changes before and after the cursor; with an offset each would shift the next page.
      await Promise.all([
        busy.write(`s/000-new-${page}`, ""),
        busy.write(`s/999-new-${page}`, ""),
        busy.write(`s/${String(page * 4).padStart(3, "0")}-new`, ""),
        busy.tryRemove(leaving[page * 3] ?? "none"),
        busy.tryRemove(leaving[59 - page] ?? "none"),
      ]);
    }
    assertEquals(new Set(seen).size, seen.length, "no path is shown twice");
    const shown = seen.filter((path) => stable.includes(path));
    assertEquals(shown, sortOrder === "asc" ? stable : stable.toReversed(), "no stable path is skipped");
  }
});
