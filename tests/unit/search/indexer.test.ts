/** One lease of the search index stores what it should, and a file that fails does not affect the others. */
import { assertEquals, assertRejects } from "@std/assert";
import { ApiError, unavailable } from "../../../supabase/functions/api/errors.ts";
import { SEARCH_LEASE_BYTES, SEARCH_TRIES_MAX } from "../../../supabase/functions/api/limits.ts";
import type {
  ChunkEmbedding,
  Embedder,
  FailedFile,
  IndexedText,
  SearchIndex,
} from "../../../supabase/functions/api/ports/search_index.ts";
import type { LeasedFile } from "../../../supabase/functions/api/ports/schemas.ts";
import type { Segments } from "../../../supabase/functions/api/ports/segments.ts";
import { ByteBudget } from "../../../supabase/functions/api/runtime/byte_budget.ts";
import { consoleLog } from "../../../supabase/functions/api/runtime/log.ts";
import { embedLeased } from "../../../supabase/functions/api/search/chunk_embedder.ts";
import { indexLeased } from "../../../supabase/functions/api/search/indexer.ts";
import { segmentOf } from "../segment_of.ts";

const LOG = { ...consoleLog, backgroundFault() {} };
const CORRUPT = new ApiError("CONTENT_CORRUPT", "corrupt");

/** A file whose only segment has the file's name. */
function fileOf(name: string, size = 10, tries = 1): LeasedFile {
  return {
    projectId: `project of ${name}`,
    fileId: name,
    version: 1,
    path: `${name}.txt`,
    mimeType: "text/plain",
    size,
    isDeleted: false,
    tries,
    segments: [segmentOf(name, size)],
    chunks: [{ hash: `${name} 1`, text: name }, { hash: `${name} 2`, text: `more of ${name}` }],
  };
}

interface Faults {
  /** Errors that are thrown when the text of a name is read, stored or embedded. */
  readonly read?: Readonly<Record<string, Error>>;
  readonly store?: Readonly<Record<string, Error>>;
  readonly embed?: Readonly<Record<string, Error>>;
  readonly note?: Error;
}

function leaseOf(files: readonly LeasedFile[], faults: Faults = {}) {
  const stored: string[][] = [];
  const skipped: Record<string, string> = {};
  const embedded: Record<string, boolean[]> = {};
  const failed: Record<string, boolean> = {};
  const asked: string[][] = [];
  const throwFor = (some: Readonly<Record<string, Error>> = {}, names: readonly string[]) => {
    for (const name of names) if (some[name]) throw some[name];
  };
  const lease = { leaseId: "c", files, nextDueMilliseconds: null };
  const unused = () => Promise.reject(new Error("unused"));
  const index: SearchIndex = {
    leaseTexts: () => Promise.resolve(lease),
    leaseChunks: () => Promise.resolve(lease),
    storeTexts(_leaseId, texts: readonly IndexedText[]) {
      const names = texts.map(({ fileId }) => fileId);
      stored.push(names);
      throwFor(faults.store, names);
      for (const text of texts) if (text.skipped) skipped[text.fileId] = text.skipped;
      return Promise.resolve();
    },
    storeEmbeddings(_leaseId, { fileId }, _model, embeddings: readonly ChunkEmbedding[]) {
      throwFor(faults.store, [fileId]);
      embedded[fileId] = embeddings.map(({ embedding }) => embedding !== null);
      return Promise.resolve();
    },
    noteFailures(_leaseId, files: readonly FailedFile[]) {
      if (faults.note) return Promise.reject(faults.note);
      for (const { fileId, isFault } of files) failed[fileId] = isFault;
      return Promise.resolve();
    },
    requeue: unused,
  };
  const segments: Segments = {
    get({ name, size }) {
      const error = faults.read?.[name];
      return error ? Promise.reject(error) : Promise.resolve(new TextEncoder().encode("x".repeat(size)));
    },
    ...{ put: unused, free: () => {}, remove: unused, days: unused, list: unused, probe: unused },
  };
  const embedder: Embedder = {
    model: "m",
    embed(texts) {
      asked.push([...texts]);
      throwFor(faults.embed, texts);
      return Promise.resolve(texts.map(() => [1]));
    },
  };
  const parts = { index, segments, readAhead: new ByteBudget(0), embedder };
  return { parts, stored, skipped, embedded, failed, asked };
}

const names = (...list: string[]) => list.map((name) => fileOf(name));

Deno.test("texts that fit are stored in one call, and large ones by themselves, later", async () => {
  const { parts, stored } = leaseOf([fileOf("large", SEARCH_LEASE_BYTES + 1), fileOf("b", 20), fileOf("a")]);
  assertEquals(await indexLeased(parts, LOG), { files: 3, nextDueMilliseconds: null });
  assertEquals(stored, [["a", "b"], ["large"]]);
});

Deno.test("a file that cannot be read leaves the others of its lease alone", async () => {
  const faults = { read: { b: CORRUPT, c: unavailable() } };
  const { parts, stored, failed } = leaseOf(names("a", "b", "c", "d"), faults);
  await indexLeased(parts, LOG);
  assertEquals(
    [stored, failed],
    [[["a", "d"]], { b: true, c: false }],
    "what is out of reach is not at fault",
  );
});

for (const error of [new Error("failed with 54000"), unavailable()]) {
  Deno.test(`a text that the database does not take (${error.message}) is found out, and the others are stored`, async () => {
    const { parts, stored, failed } = leaseOf(names("a", "b", "c"), { store: { b: error } });
    await indexLeased(parts, LOG);
    assertEquals([stored, failed], [[["a", "b", "c"], ["a"], ["b"], ["c"]], { b: true }]);
  });
}

Deno.test("a database that is out of reach puts nobody at fault and is not asked for each text", async () => {
  const out = unavailable();
  const faults = { store: { a: out, b: out, c: out }, note: out };
  const { parts, stored, failed } = leaseOf(names("a", "b", "c"), faults);
  await assertRejects(() => indexLeased(parts, LOG), ApiError);
  assertEquals([stored.length, failed], [2, {}]);
});

Deno.test(`after ${SEARCH_TRIES_MAX} tries a text is stored as not indexable, without reading it`, async () => {
  for (const more of [0, 1]) {
    const { parts, skipped } = leaseOf([fileOf("a", 10, SEARCH_TRIES_MAX + more)], { read: { a: CORRUPT } });
    await indexLeased(parts, LOG);
    assertEquals(skipped, more === 0 ? {} : { a: "not_indexable" });
  }
});

Deno.test("chunks of several files are embedded in one call", async () => {
  const { parts, embedded, asked } = leaseOf(names("a", "b"));
  assertEquals((await embedLeased(parts, LOG)).files, 2);
  assertEquals([asked.length, embedded], [1, { a: [true, true], b: [true, true] }]);
});

Deno.test("a file that the model refuses, or whose vectors cannot be stored, leaves the others alone", async () => {
  const faults = { embed: { b: unavailable() }, store: { c: new Error() } };
  const { parts, embedded, failed } = leaseOf(names("a", "b", "c", "d"), faults);
  await embedLeased(parts, LOG);
  assertEquals([embedded, failed], [{ a: [true, true], d: [true, true] }, { b: true, c: true }]);
});

Deno.test(`after ${SEARCH_TRIES_MAX} tries only the chunk that the model refuses has no vector`, async () => {
  const faults = { embed: { a: unavailable() } };
  const { parts, embedded, failed } = leaseOf([fileOf("a", 10, SEARCH_TRIES_MAX + 1)], faults);
  await embedLeased(parts, LOG);
  assertEquals([embedded, failed], [{ a: [false, true] }, {}]);
});

Deno.test("where the isolate ends with the model even then, the model is not asked again", async () => {
  const { parts, embedded, asked } = leaseOf([fileOf("a", 10, SEARCH_TRIES_MAX + 2)]);
  await embedLeased(parts, LOG);
  assertEquals([embedded, asked], [{ a: [false, false] }, []]);
});

Deno.test("a model that is out of reach puts no file at fault, not even at its last try, and is asked a few times", async () => {
  for (const tries of [1, SEARCH_TRIES_MAX + 1]) {
    const out = unavailable();
    const faults = { embed: { a: out, "more of a": out, b: out, text: out } };
    const { parts, embedded, failed, asked } = leaseOf([fileOf("a", 10, tries), fileOf("b")], faults);
    await assertRejects(() => embedLeased(parts, LOG), ApiError);
    assertEquals([embedded, failed, asked.length <= 4], [{}, { a: false, b: false }, true]);
  }
});
