/** Lists: directories, order, filters, pages. */
import { assertEquals } from "@std/assert";

import type { Files } from "../support/client/files.ts";
import { area, files } from "./suite.ts";

const { test, cases } = area("Lists");
export default cases;

export type Query = Record<string, string | number | boolean>;

async function filled(paths: readonly string[]): Promise<Files> {
  const own = await files();
  for (const path of paths) await own.write(path, path);
  return own;
}

test("200: an empty project and a folder without files are empty lists", async () => {
  const own = await files();
  const empty = { files: [], directories: [], total: 0, limit: 10, offset: 0, hasMore: false };
  assertEquals(await own.list(), empty);
  assertEquals(await own.list({ directory: "none/such" }), empty);
  await own.write("a/b", "x");
  assertEquals(await own.list({ directory: "a/b" }), empty);
  const { directories: _, ...rest } = empty;
  assertEquals(await own.list({ directory: "zzz", recursive: true }), rest);
});

test("200: a list shows the same records as metadata, of the latest versions", async () => {
  const own = await files();
  await own.write("a.md", "1");
  const a = await own.append("a.md", "2");
  const b = await own.write("b.png", "x");
  assertEquals((await own.list()).files, [a, b]);
  assertEquals(await own.record("a.md"), a);
});

const TREE = ["r1", "r2", "a/f1", "a/f2", "a/b/g1", "a/b/c/h1", "ab/i1", "a.txt", "a0", "z/y/x/w"];

const DIRECTORIES: readonly (readonly [string, Query, string[], string[] | undefined])[] = [
  ["the root by default", {}, ["a.txt", "a0", "r1", "r2"], ["a", "ab", "z"]],
  ["the root as /", { directory: "/" }, ["a.txt", "a0", "r1", "r2"], ["a", "ab", "z"]],
  ["the root as empty text", { directory: "" }, ["a.txt", "a0", "r1", "r2"], ["a", "ab", "z"]],
  ["many slashes", { directory: "///" }, ["a.txt", "a0", "r1", "r2"], ["a", "ab", "z"]],
  ["a folder", { directory: "a" }, ["a/f1", "a/f2"], ["b"]],
  ["a folder with slashes around it", { directory: "/a/" }, ["a/f1", "a/f2"], ["b"]],
  ["a folder within", { directory: "a/b" }, ["a/b/g1"], ["c"]],
  ["a folder of folders only", { directory: "z" }, [], ["y"]],
  ["recursive=false", { directory: "a", recursive: false }, ["a/f1", "a/f2"], ["b"]],
  [
    "a folder, recursively",
    { directory: "a", recursive: true },
    ["a/b/c/h1", "a/b/g1", "a/f1", "a/f2"],
    undefined,
  ],
  ["a folder within, recursively", { directory: "a/b/", recursive: true }, ["a/b/c/h1", "a/b/g1"], undefined],
  ["everything", { recursive: true }, [...TREE].sort(), undefined],
];

test("200: directories, their sub-folders and their subtrees, without neighbours that share a prefix", async () => {
  const own = await filled(TREE);
  for (const [name, query, paths, directories] of DIRECTORIES) {
    const list = await own.list({ ...query, limit: 100 });
    assertEquals(list.files.map(({ path }) => path), paths, name);
    assertEquals(list.directories, directories, name);
    assertEquals([list.total, list.hasMore], [paths.length, false], name);
  }
});

test("200: paths sort by the bytes of their UTF-8, in both directions", async () => {
  // UTF-16 would sort U+FF5E after U+1F600, and a collation would sort B next to b.
  const sorted = ["%", "A", "B", "_", "a", "aa", "a~", "b", "\u00e9", "\uff5e", "\u{1f600}"];
  const own = await filled([...sorted].reverse());
  assertEquals(await own.paths({ limit: 100 }), sorted);
  assertEquals(await own.paths({ limit: 100, sortBy: "path", sortOrder: "desc" }), [...sorted].reverse());
  assertEquals(await own.paths({ limit: 100, recursive: true }), sorted);
});

test("200: sub-folder names sort by bytes, whatever the sorting and paging of the files", async () => {
  const own = await filled(["b/1", "B/1", "a/1", "\uff5e/1", "\u{1f600}/1", "f"]);
  const expected = ["B", "a", "b", "\uff5e", "\u{1f600}"];
  for (
    const query of [
      {},
      { sortOrder: "desc" },
      { offset: 50 },
      { limit: 1 },
      { contentType: "image/png" },
      { minSize: 999 },
      { createdBefore: "2000-01-01" },
    ] satisfies Query[]
  ) assertEquals((await own.list(query)).directories, expected, JSON.stringify(query));
});

test("200: pages neither miss nor repeat a file, and hasMore and total are right on each", async () => {
  const paths = Array.from({ length: 23 }, (_, index) => `p/${String(index).padStart(2, "0")}`);
  const own = await filled(paths);
  for (
    const query of [{ recursive: true }, { directory: "p" }, { directory: "p", minSize: 1 }] satisfies Query[]
  ) {
    for (const limit of [1, 7, 10, 23, 100]) {
      const seen: string[] = [];
      for (let offset = 0, more = true; more; offset += limit) {
        const page = await own.list({ ...query, limit, offset });
        assertEquals([page.total, page.limit, page.offset], [23, limit, offset]);
        seen.push(...page.files.map(({ path }) => path));
        more = page.hasMore;
        assertEquals(more, seen.length < 23);
      }
      assertEquals(seen, paths);
    }
    const beyond = await own.list({ ...query, offset: 2147483647 });
    assertEquals([beyond.files, beyond.total, beyond.hasMore], [[], 23, false]);
  }
  assertEquals((await own.list({ recursive: true })).files.length, 10);
});

test("200: filters by type and size, alone and together, bounds inclusive", async () => {
  const own = await files();
  for (
    const [path, size] of [["a.md", 0], ["b.md", 5], ["c.txt", 5], ["d.txt", 10], ["sub/e.md", 7]] as const
  ) {
    await own.write(path, "x".repeat(size));
  }
  const cases: readonly (readonly [Query, string])[] = [
    [{ contentType: "text/markdown" }, "a.md b.md"],
    [{ contentType: "text/markdown", recursive: true }, "a.md b.md sub/e.md"],
    [{ contentType: "image/png" }, ""],
    [{ minSize: 5 }, "b.md c.txt d.txt"],
    [{ minSize: 6 }, "d.txt"],
    [{ maxSize: 5 }, "a.md b.md c.txt"],
    [{ maxSize: 0 }, "a.md"],
    [{ minSize: 5, maxSize: 5 }, "b.md c.txt"],
    [{ minSize: 6, maxSize: 5 }, ""],
    [{ minSize: 0 }, "a.md b.md c.txt d.txt"],
    [{ minSize: 999999999999999 }, ""],
    [{ minSize: 5, contentType: "text/plain" }, "c.txt d.txt"],
    [{ minSize: 5, recursive: true, directory: "sub" }, "sub/e.md"],
  ];
  for (const [query, expected] of cases) {
    const list = await own.list(query);
    assertEquals(list.files.map(({ path }) => path).join(" "), expected, JSON.stringify(query));
    assertEquals(list.total, list.files.length);
  }
});

test("200: a file's own createdAt and updatedAt, used as bounds, leave it out", async () => {
  const own = await filled(["f"]);
  const { createdAt, updatedAt } = await own.append("f", "x");
  assertEquals(await own.paths({ createdAfter: createdAt }), []);
  assertEquals(await own.paths({ createdBefore: createdAt }), []);
  assertEquals(await own.paths({ updatedAfter: updatedAt }), []);
  assertEquals(await own.paths({ updatedBefore: updatedAt }), []);
});

test("200: a directory's name may hold what a pattern would take for its own", async () => {
  const odd = ["a_b", "a%b", "a*b", "a[b]", "a.b", "(a|b)", "a'b", "$1", "a+b c", "é"];
  const own = await filled([...odd.map((name) => `${name}/file`), "axb/file", "a/file"]);
  for (const directory of odd) {
    for (const recursive of [false, true]) {
      assertEquals(await own.paths({ directory, recursive }), [`${directory}/file`], directory);
    }
  }
  const { directories = [] } = await own.list();
  assertEquals(directories.length, odd.length + 2);
});

test("200: parameters that platforms and tools add are ignored", async () => {
  const own = await filled(["f"]);
  const answer = await own.request("GET", "/files?_=1&_=2&forceFunctionRegion=any&_x&&limit=5");
  assertEquals(answer.status, 200);
});
