/** GET /search by substring and pattern: its answers and its refusals. */
import { assert, assertEquals } from "@std/assert";
import { SEARCH_QUERY_LENGTH_MAX } from "./limits.ts";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { pathsOf, search, settled, trySearch } from "../support/client/search.ts";
import { area, files } from "./suite.ts";

const { test, cases } = area("Search");
export default cases;

async function filled() {
  const own = await files();
  await own.write("notes/plan.md", "# Plan\n\nship it\nthen sleep\n");
  await own.write("notes/deep/log.txt", "one\ntwo ship it\nthree");
  await own.write("src/ship.ts", "export const ship = 'SHIP IT';\n");
  await settled(own);
  return own;
}

test("text: files, lines, columns, snippets and the lines around, by path", async () => {
  const own = await filled();
  const { results, ...rest } = await search(own, "ship it", { mode: "text" });
  assertEquals(rest, { mode: "text", hasMore: false, limit: 10, offset: 0, indexed: { pending: 0 } });
  assertEquals(
    results.map(({ path, score, matches, version, mimeType }) => ({
      path,
      score,
      matches,
      version,
      mimeType,
    })),
    [
      {
        path: "notes/deep/log.txt",
        score: 1,
        matches: [{
          ...{ line: 2, column: 5, snippet: "two ship it", before: ["one"], after: ["three"] },
          ...{ lines: "1-3", text: "one\ntwo ship it\nthree" },
        }],
        version: 1,
        mimeType: "text/plain",
      },
      {
        path: "notes/plan.md",
        score: 1,
        matches: [{
          ...{ line: 3, column: 1, snippet: "ship it", before: ["# Plan", ""], after: ["then sleep"] },
          ...{ lines: "1-4", text: "# Plan\n\nship it\nthen sleep" },
        }],
        version: 1,
        mimeType: "text/markdown",
      },
    ],
  );
});

test("lines and text of a match are taken by a read and an edit as they are, also in long lines and with CRLF", async () => {
  const own = await files();
  const texts: Record<string, string> = {
    "lf.txt": "one\ntwo\nthe needle here\nfour\nfive\nsix\n",
    "crlf.txt": "one\r\nthe needle here\r\nthree\r\n",
    "only.txt": "the needle here",
    "wide.txt": `${"é😀".repeat(2_000)} needle ${"ü".repeat(2_000)}\nnext\n`,
  };
  for (const [path, text] of Object.entries(texts)) await own.write(path, text);
  await settled(own);
  for (const { path, matches } of (await search(own, "needle", { mode: "text" })).results) {
    const [match] = matches;
    if (!match) throw new Error(path);
    const read = await own.request("GET", `/files/${path}`, { query: { lines: match.lines } });
    const { content } = Object(read.body).data;
    assert(
      path === "wide.txt" ? content.includes(match.text) : content.trimEnd() === match.text.trimEnd(),
      path,
    );
    const edited = await own.request("PUT", `/files/edit/${path}`, {
      body: { oldString: match.text, newString: match.text.replace("needle", "pin") },
    });
    assertEquals([path, edited.status], [path, 200]);
    const after = await own.request("GET", `/files/${path}`);
    assertEquals(Object(after.body).data.content, texts[path]?.replace("needle", "pin"), path);
  }
});

test("directory, glob and contentType narrow a search", async () => {
  const own = await filled();
  const found = async (query: Record<string, string>) =>
    pathsOf(await search(own, "ship", { mode: "text", ...query }));
  assertEquals(await found({}), ["notes/deep/log.txt", "notes/plan.md", "src/ship.ts"]);
  assertEquals(await found({ directory: "/notes/" }), ["notes/deep/log.txt", "notes/plan.md"]);
  assertEquals(await found({ directory: "note" }), []);
  assertEquals(await found({ glob: "*.ts" }), ["src/ship.ts"]);
  assertEquals(await found({ glob: "notes/*" }), ["notes/plan.md"]);
  assertEquals(await found({ glob: "**/*.{md,txt}" }), ["notes/deep/log.txt", "notes/plan.md"]);
  assertEquals(await found({ directory: "notes", glob: "deep/*" }), ["notes/deep/log.txt"]);
  assertEquals(await found({ contentType: "text/markdown" }), ["notes/plan.md"]);
});

test("400 for what no search can be: each with the parameter", async () => {
  const own = await files();
  const rows: readonly (readonly [string, Record<string, string | number>, string])[] = [
    ["", {}, "q"],
    ["x".repeat(SEARCH_QUERY_LENGTH_MAX + 1), {}, "q"],
    ["a\nb", { mode: "text" }, "q"],
    ["a\nb", { mode: "regex" }, "q"],
    ["x", { mode: "fuzzy" }, "mode"],
    ["x", { limit: 0 }, "limit"],
    ["x", { limit: 101 }, "limit"],
    ["x", { offset: -1 }, "offset"],
    ["x", { offset: 10_001 }, "offset"],
    ["x", { contentType: "text/none" }, "contentType"],
    ["x", { caseSensitive: "yes" }, "caseSensitive"],
    ["x", { glob: "{a" }, "glob"],
    ["x", { glob: "a\0" }, "glob"],
    ["x", { glob: "[a" }, "glob"],
    ...[
      ..."( ) a** a*? *a a{2 a{3,2} a{999} [a [b-a] [[:foo:]] \\1 \\d a||b (?i)a a\\".split(" "),
    ]
      .map((q) => [q, { mode: "regex" }, "q"] as const),
  ];
  for (const [q, query, path] of rows) {
    const details = assertRefused(await trySearch(own, q, query), "VALIDATION_ERROR", "search_files");
    assertEquals(issuePaths(details), [path], `${q} ${JSON.stringify(query)}`);
  }
  assertRefused(await trySearch(own, "x", { directory: "a/../b" }), "INVALID_PATH", "search_files");
  assertRefused(await own.request("GET", "/search"), "VALIDATION_ERROR", "search_files");
});

test("text: case counts unless caseSensitive=false; letters beyond ASCII fold, too", async () => {
  const own = await filled();
  assertEquals(pathsOf(await search(own, "SHIP IT", { mode: "text" })), ["src/ship.ts"]);
  assertEquals((await search(own, "Ship It", { mode: "text", caseSensitive: false })).results.length, 3);
  await own.write("é.txt", "Crème BRÛLÉE\nstraße");
  await settled(own);
  const folded = await search(own, "crÈme brûlée", { mode: "text", caseSensitive: false });
  assertEquals(folded.results[0]?.matches.map(({ line, column }) => [line, column]), [[1, 1]]);
});

test("a match across the border of two segments is found once, with its line", async () => {
  const own = await files();
  await own.write("log.txt", "first\nsecond nee");
  await own.append("log.txt", "dle here\nlast\n");
  await settled(own);
  const { results } = await search(own, "needle", { mode: "text" });
  assertEquals(results.map(({ matches }) => matches.map(({ line, column }) => [line, column])), [[[2, 8]]]);
  assertEquals((await search(own, "nee.le here$", { mode: "regex" })).results[0]?.matches[0]?.line, 2);
});

test("a long line is found at its far end, with the part around the match", async () => {
  const own = await files();
  await own.write("min.js", `${"var a=1;".repeat(20_000)}needle()${";".repeat(5000)}`);
  await settled(own);
  const { results } = await search(own, "needle()", { mode: "text" });
  assertEquals(results[0]?.matches[0]?.column, 160_001);
  assert(results[0]?.matches[0]?.snippet.includes("needle()"));
  assertEquals(results[0]?.matches[0]?.snippet.length, 300);
});

test("NUL in a text is found around and shown; a query cannot hold it", async () => {
  const own = await files();
  await own.write("nul.txt", "before\0needle after");
  await settled(own);
  const { results } = await search(own, "needle", { mode: "text" });
  assertEquals(results[0]?.matches[0], {
    line: 1,
    column: 8,
    snippet: "before\0needle after",
    before: [],
    after: [],
    lines: "1-1",
    text: "before\0needle after",
  });
  const details = assertRefused(
    await trySearch(own, "a\0b", { mode: "text" }),
    "VALIDATION_ERROR",
    "search_files",
  );
  assertEquals(issuePaths(details), ["q"]);
});
