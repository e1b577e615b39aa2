/**
 * GET /search is complete, or names the files that it did not search: an empty answer without `notSearched` means no
 * match.
 */
import { assertEquals } from "@std/assert";
import {
  SEARCH_LIVE_FILE_BYTES_MAX,
  SEARCH_TEXT_BYTES_MAX,
  SEARCH_WAIT_SECONDS_MAX,
  SEARCH_WAITERS_MAX,
} from "../../supabase/functions/api/limits.ts";
import { assertRefused } from "../support/client/contract.ts";
import { indexed, pathsOf, search, searchAll, trySearch } from "../support/client/search.ts";
import { eventually } from "../support/eventually.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

const MIB = 1024 * 1024;
const QUERIES = [["text", "needle"], ["regex", "nee[d]le"]] as const;

/** Runs `work` while nothing is indexed. */
async function withoutIndexing<T>(work: () => Promise<T>): Promise<T> {
  const held = Promise.withResolvers<void>();
  service.proxy.backgroundHook = async (_call, forward) => {
    await held.promise;
    return await forward();
  };
  try {
    return await work();
  } finally {
    held.resolve();
    service.proxy.backgroundHook = null;
  }
}

/** A text of `bytes` bytes that ends with the line `last`. */
function textOf(bytes: number, last: string): string {
  const line = "the quick brown fox jumps over the lazy dog\n";
  const body = line.repeat(Math.ceil(bytes / line.length));
  return body.slice(0, bytes - last.length - 1) + "\n" + last;
}

test("text and regex find what is not indexed yet, in its place between what is, on every page", async () => {
  const own = await files();
  for (const n of [1, 3, 5]) await own.write(`f${n}.txt`, `needle ${n}\n`);
  await own.write("changed.txt", "an old needle\n");
  await indexed(service, own.project.id);
  await withoutIndexing(async () => {
    for (const n of [0, 2, 4, 6]) await own.write(`f${n}.txt`, `one\ntwo needle ${n}\n`);
    await own.overwrite("changed.txt", "nothing\n");
    await own.write("picture.png", "needle");
    for (const [mode, q] of QUERIES) {
      const seen: string[] = [];
      for (let offset = 0;; offset += 2) {
        const page = await search(own, q, { mode, limit: 2, offset });
        seen.push(...pathsOf(page));
        assertEquals([page.indexed.pending, page.notSearched], [6, undefined], `${mode} at ${offset}`);
        if (!page.hasMore) break;
      }
      assertEquals(seen, [0, 1, 2, 3, 4, 5, 6].map((n) => `f${n}.txt`), mode);
    }
    const [first] = (await search(own, "two needle", { mode: "text" })).results;
    assertEquals(first?.matches, [{
      ...{ line: 2, column: 1, snippet: "two needle 0", before: ["one"], after: [] },
      ...{ lines: "1-2", text: "one\ntwo needle 0" },
    }]);
  });
});

test("text and regex look into texts of up to 10 MB; other modes say that they do not", async (own) => {
  await own.write("large.txt", textOf(SEARCH_LIVE_FILE_BYTES_MAX, "the needle"));
  await own.write("small.txt", "a needle");
  await indexed(service, own.project.id);
  for (const [mode, q] of QUERIES) {
    const { results, notSearched } = await search(own, q, { mode });
    assertEquals(results.map(({ path, score }) => [path, score]), [["large.txt", 1], ["small.txt", 1]], mode);
    assertEquals(notSearched, undefined, mode);
    const none = await search(own, "haystack", { mode });
    assertEquals([none.results, none.notSearched], [[], undefined], "no means no");
  }
  const tooLarge = {
    files: 1,
    bytes: SEARCH_LIVE_FILE_BYTES_MAX,
    paths: ["large.txt"],
    reasons: ["too_large"],
  };
  assertEquals((await search(own, "needle")).notSearched, tooLarge);
  assertEquals((await search(own, "needle", { glob: "small*" })).notSearched, undefined);
});

test("files that no search reads, and files beyond the bounds of one search, are reported with the reason", async () => {
  const own = await files();
  const large = textOf(SEARCH_LIVE_FILE_BYTES_MAX - 4 * MIB, "needle");
  for (const path of ["a/1.txt", "a/2.txt", "b/3.txt"]) await own.write(path, large);
  await own.write("b/huge.txt", textOf(SEARCH_LIVE_FILE_BYTES_MAX, "needle"));
  await own.append("b/huge.txt", "!");
  await indexed(service, own.project.id);
  const { results, notSearched } = await search(own, "needle", { mode: "text" });
  assertEquals(pathsOf({ results }), ["a/1.txt", "a/2.txt"]);
  assertEquals(notSearched, {
    files: 2,
    bytes: large.length + SEARCH_LIVE_FILE_BYTES_MAX + 1,
    paths: ["b/3.txt", "b/huge.txt"],
    reasons: ["bounds", "too_large"],
  });
  assertEquals((await search(own, "needle", { mode: "text", directory: "a" })).notSearched, undefined);
  const narrow = await search(own, "needle", { mode: "text", glob: "b/[0-9]*" });
  assertEquals([pathsOf(narrow), narrow.notSearched], [["b/3.txt"], undefined]);
});

test("a text with more words than are indexed is reported as searched in part, until `text` reads all of it", async () => {
  const own = await files();
  const words = Array.from({ length: 40_000 }, (_, n) => `w${(n * 7919).toString(36)}`);
  const rare = words.at(-1) ?? "";
  await own.write("words.txt", words.join(" "));
  await own.write("plain.txt", "plain words\n");
  await indexed(service, own.project.id);
  const { results, notSearched } = await search(own, rare);
  assertEquals([results, notSearched?.paths, notSearched?.reasons], [[], ["words.txt"], ["too_many_words"]]);
  const { results: found, notSearched: none } = await search(own, rare, { mode: "text" });
  assertEquals([pathsOf({ results: found }), none], [["words.txt"], undefined]);
});

test("notSearched names and counts only what the key may see, of the directory that is searched", async () => {
  const own = await files();
  for (const path of ["a/own.txt", "b/other.txt", "c.txt"]) {
    await own.write(path, textOf(SEARCH_TEXT_BYTES_MAX + 1, path));
  }
  await indexed(service, own.project.id);
  assertEquals((await search(own, "fox")).notSearched?.paths, ["a/own.txt", "b/other.txt", "c.txt"]);
  assertEquals((await search(own, "fox", { directory: "b" })).notSearched?.paths, ["b/other.txt"]);
  const confine = "update filestore.api_keys set path_prefix = 'a' where project_id = $1";
  await service.sql(confine, [own.project.id]);
  for (const directory of ["/", "a"]) {
    const { notSearched } = await search(own, "fox", { directory });
    assertEquals([notSearched?.files, notSearched?.paths], [1, ["a/own.txt"]], directory);
  }
  const outside = await search(own, "fox", { directory: "b" });
  assertEquals([outside.results, outside.notSearched], [[], undefined]);
  assertEquals(pathsOf(await search(own, "lazy dog", { mode: "text" })), ["a/own.txt"]);
});

test("a ranked search says what is not indexed yet; with wait it waits until that is done", async (own) => {
  await own.write("before.txt", "an otter\n");
  await indexed(service, own.project.id);
  const [waiting] = await withoutIndexing(async () => {
    await own.write("notes/new.txt", "another otter\n");
    const now = await search(own, "otter");
    assertEquals([pathsOf(now), now.indexed.pending], [["before.txt"], 1]);
    assertEquals(now.notSearched, { files: 1, bytes: 14, paths: ["notes/new.txt"], reasons: ["pending"] });
    // No file of this folder is pending, so the request does not wait.
    assertEquals((await search(own, "otter", { directory: "docs", wait: 10 })).indexed, { pending: 0 });
    const calls = service.proxy.calls.length;
    const waiting = search(own, "otter", { wait: SEARCH_WAIT_SECONDS_MAX });
    await eventually(
      "the database is asked whether it is indexed",
      () => service.proxy.calls.slice(calls).some(({ path }) => path.endsWith("filestore_search_indexed")),
    );
    return [waiting] as const;
  });
  const page = await waiting;
  assertEquals(pathsOf(page).toSorted(), ["before.txt", "notes/new.txt"]);
  assertEquals([page.indexed, page.notSearched], [{ pending: 0 }, undefined]);
});

test("400 for a wait beyond its bound, and as many waiting as may wait keep nobody out", async (own) => {
  for (const wait of [SEARCH_WAIT_SECONDS_MAX + 1, -1, "soon"]) {
    assertRefused(await trySearch(own, "x", { wait }), "VALIDATION_ERROR", "search_files");
  }
  await withoutIndexing(async () => {
    await own.write("f.txt", "needle\n");
    const waiting: ReturnType<typeof search>[] = [];
    service.proxy.reset();
    // One after another, since an account may run only a few searches at a time; one that waits for the index holds no
    // slot.
    while (waiting.length < SEARCH_WAITERS_MAX + 5) {
      waiting.push(search(own, "needle", { wait: 5, mode: "text" }));
      await eventually("it has looked", () => {
        const looked = service.proxy.calls.filter(({ path }) => path.endsWith("/filestore_search"));
        return looked.length >= waiting.length;
      });
    }
    for (const page of await Promise.all(waiting)) {
      assertEquals([pathsOf(page), page.indexed.pending], [["f.txt"], 1]);
    }
  });
});

test("many files that wait are read within the bounds of one search, and the others are reported", async () => {
  const own = await files();
  await withoutIndexing(async () => {
    for (let batch = 0; batch < 3; batch++) {
      const operations = Array.from({ length: 100 }, (_, n) => {
        const path = `f${batch}${`${n}`.padStart(2, "0")}.txt`;
        return { op: "write", path, content: `needle ${n}` };
      });
      await own.request("POST", "/batch", { body: { operations } });
    }
    const page = await search(own, "needle", { mode: "text", limit: 100 });
    assertEquals([page.results.length, page.hasMore], [100, true]);
    assertEquals([page.notSearched?.files, page.notSearched?.paths.length], [100, 20]);
    assertEquals(page.notSearched?.reasons, ["bounds"]);
    assertEquals((await searchAll(own, "needle", { mode: "text", glob: "f0*" })).length, 100);
  });
});
