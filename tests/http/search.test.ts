/** GET /search by substring and pattern: its answers and its refusals. */
import { assertEquals } from "@std/assert";
import { SEARCH_TEXT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused } from "../support/client/contract.ts";
import { indexed, pathsOf, search, trySearch } from "../support/client/search.ts";
import cases from "../acceptance/search.ts";
import { acceptance, suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

await acceptance(cases);

async function filled() {
  const own = await files();
  await own.write("notes/plan.md", "# Plan\n\nship it\nthen sleep\n");
  await own.write("notes/deep/log.txt", "one\ntwo ship it\nthree");
  await own.write("src/ship.ts", "export const ship = 'SHIP IT';\n");
  await indexed(service, own.project.id);
  return own;
}

test("pages: limit, offset and hasMore go through all results once, in every mode", async (own) => {
  for (let n = 0; n < 7; n++) await own.write(`f${n}.txt`, `needle ${n}\n`);
  await indexed(service, own.project.id);
  for (const [mode, q] of [["text", "needle"], ["regex", "ne+dle [0-9]"], ["hybrid", "needle"]] as const) {
    const seen: string[] = [];
    for (let offset = 0;; offset += 3) {
      const page = await search(own, q, { mode, limit: 3, offset });
      seen.push(...pathsOf(page));
      assertEquals(page.hasMore, offset + 3 < 7, `${mode} at ${offset}`);
      if (!page.hasMore) break;
    }
    assertEquals(seen.toSorted(), [0, 1, 2, 3, 4, 5, 6].map((n) => `f${n}.txt`), mode);
  }
});

test("text over the limit is found by name where it is not read, binary content always, and both say why", async () => {
  const own = await files();
  await own.write("large-needle.txt", "x".repeat(SEARCH_TEXT_BYTES_MAX + 1));
  await own.write("just-needle.txt", "x".repeat(SEARCH_TEXT_BYTES_MAX - 6) + "needle");
  await own.writeBytes("needle.png", new Uint8Array([0x89, 0x50, 0xff, 0]));
  await own.writeBytes("needle.txt", new Uint8Array([0xff, 0xfe]));
  await indexed(service, own.project.id);
  for (const [mode, q] of [["text", "needle"], ["regex", "nee[d]le"], ["hybrid", "needle"]] as const) {
    const { results } = await search(own, q, { mode });
    const found = Object.fromEntries(results.map(({ path, skipped }) => [path, skipped]));
    assertEquals(found, {
      ...mode === "hybrid" && { "large-needle.txt": "too_large" },
      "just-needle.txt": undefined,
      "needle.png": "not_text",
      "needle.txt": "not_text",
    }, mode);
  }
});

test("hybrid without a model says lexical: websearch syntax, path words, best file first", async (own) => {
  await own.write("a.md", "Rate limits are counted per project.\nNothing else.\n");
  await own.write("b.md", "A project has keys. Limits of size are another matter: rates, rates, rates.\n");
  await own.write("src/zoomWidget.ts", "export {};\n");
  await indexed(service, own.project.id);
  const { mode, results } = await search(own, "rate limit");
  assertEquals(mode, "lexical");
  assertEquals(results.map(({ path }) => path).toSorted(), ["a.md", "b.md"]);
  assertEquals(results.find(({ path }) => path === "a.md")?.matches.map(({ line }) => line), [1]);
  assertEquals(pathsOf(await search(own, '"rate limits"')), ["a.md"]);
  assertEquals(pathsOf(await search(own, "limits -keys")), ["a.md"]);
  assertEquals(pathsOf(await search(own, "widget")), ["src/zoomWidget.ts"]);
  // No file contains both words, so a file with either matches.
  assertEquals(pathsOf(await search(own, "widget zebra")), ["src/zoomWidget.ts"]);
});

test("another project's files are never found, in any mode", async () => {
  const own = await filled();
  const other = await filled();
  await other.write("secret.txt", "ship it secretly");
  await indexed(service, other.project.id);
  for (const mode of ["text", "regex", "hybrid"]) {
    const { results } = await search(own, "ship", { mode });
    assertEquals(results.filter(({ path }) => path === "secret.txt"), [], mode);
    assertEquals((await search(own, "secretly", { mode })).results, [], mode);
  }
});

test("the scope of a search is the directory within the prefix of a key, or nothing", async () => {
  const rows: readonly (readonly [string | null, string, string | null])[] = [
    [null, "", ""],
    [null, "a/b", "a/b"],
    ["a", "", "a"],
    ["a", "a", "a"],
    ["a", "a/b", "a/b"],
    ["a/b", "a", "a/b"],
    ["a", "ab", null],
    ["a/b", "a/c", null],
  ];
  for (const [prefix, directory, expected] of rows) {
    const [row] = await service.sql(
      `select filestore.seen_directory(
         jsonb_populate_record(null::filestore.session, jsonb_build_object('path_prefix', $1::text)), $2) as scope`,
      [prefix, directory],
    );
    assertEquals(row, { scope: expected }, `${prefix} and ${directory}`);
  }
});

test("a key with a path prefix finds what lies below it, by every mode, and counts no other file as pending", async () => {
  const own = await filled();
  const confine = "update filestore.api_keys set path_prefix = 'notes/deep' where project_id = $1";
  await service.sql(confine, [own.project.id]);
  for (const mode of ["text", "regex", "hybrid"]) {
    for (const directory of ["/", "notes", "notes/deep"]) {
      const page = await search(own, "ship", { mode, directory });
      assertEquals(pathsOf(page), ["notes/deep/log.txt"], `${mode} in ${directory}`);
    }
    for (const directory of ["src", "notes/dee", "notes/deeper"]) {
      const page = await search(own, "ship", { mode, directory });
      assertEquals([page.results, page.hasMore, page.indexed], [[], false, { pending: 0 }]);
    }
  }
  await service.sql(
    `insert into filestore.search_queue (project_id, file_id, version, path, bytes, due_at)
     select project_id, id, version, path, size, 'infinity' from filestore.files where project_id = $1`,
    [own.project.id],
  );
  assertEquals((await search(own, "ship", { mode: "text" })).indexed, { pending: 1 });
  await service.sql("delete from filestore.search_queue where project_id = $1", [own.project.id]);
});

test("422 SEARCH_TOO_BROAD: a pattern that takes too long on the text is given up in time", async (own) => {
  let state = 1;
  const next = () => (state = Math.imul(state, 1_103_515_245) + 12_345 | 0) >>> 16 & 1;
  // Each position of this text is a different state of the pattern.
  await own.write("hard.txt", Array.from({ length: 900_000 }, () => next() === 0 ? "a" : "b").join(""));
  await indexed(service, own.project.id);
  assertRefused(await trySearch(own, "c(a|b){200}a", { mode: "regex" }), "SEARCH_TOO_BROAD", "search_files");
  assertEquals((await search(own, "ab", { mode: "text" })).results.length, 1, "the next one is answered");
});

test("501 SEMANTIC_SEARCH_UNAVAILABLE without a model", async () => {
  const own = await filled();
  const refused = await trySearch(own, "x", { mode: "semantic" });
  assertRefused(refused, "SEMANTIC_SEARCH_UNAVAILABLE", "search_files");
});
