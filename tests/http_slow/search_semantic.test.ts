/** Semantic and hybrid search, with an embeddings endpoint that the test runs. */
import { assert, assertEquals } from "@std/assert";
import { SEARCH_CHUNK_LENGTH } from "../../supabase/functions/api/limits.ts";
import { splitChunks } from "../../supabase/functions/api/search/chunks.ts";
import { assertRefused } from "../support/client/contract.ts";
import { eventually } from "../support/eventually.ts";
import { embed, type EmbeddingServer, startEmbeddingServer } from "../support/stack/embedding_server.ts";
import { sweepAll } from "../support/client/erasure.ts";
import { Files } from "../support/client/files.ts";
import { indexed, pathsOf, search, trySearch } from "../support/client/search.ts";
import { startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";

/** Notes as agents write them. */
const NOTES = {
  "ops/fleet.md": "# Fleet\nThe company automobile is serviced every spring. Keys hang beside the door.\n",
  "ops/parking.md": "# Parking\nSpaces 12 to 20 belong to us; visitors use the street.\n",
  "health/insurance.md":
    "# Insurance\nSee a physician within three days of an accident; the form is in the drawer.\n",
  "eng/outage-2026-03.md":
    "# Outage of March\nThe database crashed at 02:14 because the disk was full. Fixed by adding space.\n",
  "eng/latency.md": "# Latency\nThe p99 of reads is 120 ms; rapid answers come from the cache.\n",
  "eng/style.md":
    "# Style\nUse tabs for indentation; comments say why. Call the formatter before you commit.\n",
};

const embeddings: EmbeddingServer = startEmbeddingServer();
// The tests' Postgres lacks the extension `vector`.
const hasVectors = Deno.env.get("TEST_DATABASE") !== "postgres";
const PRESENT = { EMBEDDINGS_URL: embeddings.url, EMBEDDINGS_MODEL: "hashed-words" };
const service = await startService({ functionVariables: { ...PRESENT, EMBEDDINGS_API_KEY: "k" } });
Deno.test.afterAll(async () => {
  await service.stop();
  await embeddings.stop();
});

async function filled(notes: Readonly<Record<string, string>>): Promise<Files> {
  const project = await service.project();
  const own = new Files(service, project.key);
  for (const [path, text] of Object.entries(notes)) await own.write(path, text);
  await indexed(service, project.id);
  return own;
}

function semanticTest(name: string, body: () => Promise<void>): void {
  if (hasVectors) test(name, body);
}

if (!hasVectors) {
  test("without the extension: text, regex and hybrid answer, semantic is 501, and hybrid says lexical", async () => {
    const own = await filled({ "a.md": "the automobile is serviced\n", "b.md": "nothing\n" });
    assertEquals(pathsOf(await search(own, "automobile", { mode: "text" })), ["a.md"]);
    assertEquals(pathsOf(await search(own, "AUTO.*ed$", { mode: "regex", caseSensitive: false })), ["a.md"]);
    const page = await search(own, "service automobiles");
    assertEquals([page.mode, pathsOf(page)], ["lexical", ["a.md"]]);
    const refused = await trySearch(own, "car", { mode: "semantic" });
    assertRefused(refused, "SEMANTIC_SEARCH_UNAVAILABLE", "search_files");
  });
}

semanticTest("semantic finds what has no word in common, nearest first, with the passage", async () => {
  const own = await filled(NOTES);
  const { mode, results } = await search(own, "car", { mode: "semantic", limit: 3 });
  assertEquals(mode, "semantic");
  assertEquals(results[0]?.path, "ops/fleet.md");
  assert((results[0]?.score ?? 0) > (results[1]?.score ?? 0));
  assertEquals(results[0]?.matches.map(({ line, snippet }) => [line, snippet]), [[1, "# Fleet"]]);
  const below = pathsOf(await search(own, "car", { mode: "semantic", directory: "eng" }));
  assertEquals(below.filter((path) => !path.startsWith("eng/")), []);
  assertEquals(pathsOf(await search(own, "car", { mode: "semantic", glob: "fl*" })), ["ops/fleet.md"]);
});

semanticTest("semantic finds a file by its name, whatever its text means", async () => {
  const own = await filled({ ...NOTES, "data/table.csv": "a,b\n1,2\n", "data/rateLimit.bin.txt": "x\n" });
  for (const q of ["table.csv", "data/table", "csv"]) {
    assertEquals((await search(own, q, { mode: "semantic" })).results[0]?.path, "data/table.csv", q);
  }
  const [limit] = (await search(own, "rateLimit", { mode: "semantic" })).results;
  assertEquals(limit?.path, "data/rateLimit.bin.txt");
});

semanticTest("hybrid takes a query that only excludes words", async () => {
  const own = await filled({ "car.md": "the automobile", "doctor.md": "a physician" });
  const { mode, results } = await search(own, "-physician", { mode: "hybrid" });
  assertEquals([mode, results[0]?.path], ["hybrid", "car.md"]);
});

semanticTest("a long file is embedded chunk by chunk, and the chunk that is near is the match", async () => {
  const filler = "plain words that say nothing much at all here\n".repeat(200);
  const long = `${filler}the automobile stands outside\n${filler}`;
  const own = await filled({ "long.md": long, "other.md": filler });
  const { results } = await search(own, "car", { mode: "semantic" });
  assertEquals(results[0]?.path, "long.md");
  const line = results[0]?.matches[0]?.line ?? 0;
  const linesPerChunk = SEARCH_CHUNK_LENGTH / 46;
  assert(line <= 201 && line > 201 - linesPerChunk - 1, `line ${line}`);
});

semanticTest(
  "an edit embeds the chunks that it changed and no others; appending embeds the last one",
  async () => {
    const paragraph = (n: number | string) =>
      `paragraph ${n} `.repeat(100).slice(0, SEARCH_CHUNK_LENGTH - 10) + "\n";
    const text = (numbers: readonly (number | string)[]) => numbers.map(paragraph).join("");
    const own = await filled({ "f.md": text([1, 2, 3, 4, 5]) });
    const count = async (work: () => Promise<unknown>) => {
      const before = embeddings.texts.length;
      await work();
      await indexed(service);
      return embeddings.texts.length - before;
    };
    assertEquals(await count(() => own.append("f.md", "one line more\n")), 1);
    assertEquals(await count(() => own.overwrite("f.md", text([1, 2, "x", 4, 5]) + "one line more\n")), 1);
    assertEquals(await count(() => own.overwrite("f.md", "short")), 1);
  },
);

test("each chunk of a long text is the piece that it says it is, whatever the characters", async () => {
  const lines = Array.from({ length: 3_000 }, (_, n) => `${n} naïve 😀 ${"é".repeat(n % 50)}\n`);
  const text = lines.join("") + lines.slice(0, 200).join("").replaceAll("\n", " ");
  await filled({ "f.txt": text });
  const [project] = await service.sql<{ id: string }>(
    "select project_id as id from filestore.files where path = 'f.txt' and size = $1",
    [new TextEncoder().encode(text).length],
  );
  const rows = await service.sql<{ start: number; length: number; is_true: boolean }>(
    `select k.start, k.length, k.hash = md5(substr(coalesce(t.content, c.content), k.start + 1, k.length))::uuid as is_true
     from filestore.search_chunks k join filestore.search_texts t using (project_id, file_id)
     left join filestore.search_contents c on c.project_id = t.project_id and c.hash = t.content_hash
     where k.project_id = $1 order by k.start`,
    [project?.id],
  );
  assertEquals(rows, splitChunks(text).map(({ start, length }) => ({ start, length, is_true: true })));
});

semanticTest("text that was deleted or superseded is not found by meaning", async () => {
  const own = await filled({ "a.md": "the automobile", "b.md": "the automobile" });
  await own.overwrite("a.md", "a physician");
  await own.request("DELETE", "/files/b.md");
  await indexed(service);
  const { results } = await search(own, "car", { mode: "semantic" });
  assertEquals(results.map(({ path, score }) => [path, score > 0.1]), [["a.md", false]]);
});

semanticTest("hybrid returns no file with the score 0", async () => {
  const own = await filled({ "a.md": "the automobile", "b.md": "a physician", "c.md": "a bakery" });
  const { results } = await search(own, "car", { mode: "hybrid" });
  assertEquals(results[0]?.path, "a.md");
  for (const { path, score } of results) assert(score > 0, `${path}: ${score}`);
});

semanticTest("another project's text is never near", async () => {
  const own = await filled({ "mine.md": "a physician" });
  await filled({ "theirs.md": "the automobile" });
  assertEquals(pathsOf(await search(own, "car", { mode: "semantic" })), ["mine.md"]);
});

const FORMER_MODEL = "words-hashed-before";

semanticTest(
  "while texts wait for a new model, the vectors of the former one answer, or the search says so",
  async () => {
    const other = startEmbeddingServer(100);
    const former = { EMBEDDINGS_FORMER_URL: other.url, EMBEDDINGS_FORMER_MODEL: FORMER_MODEL };
    const both = await startService({ functionVariables: { ...PRESENT, ...former } });
    try {
      const { id, key } = await both.project();
      const own = new Files(both, key);
      await own.write("car.md", "the automobile");
      await own.write("doctor.md", "a physician");
      await own.write("new.md", "a vehicle");
      await indexed(both, id);
      // The state just after a change of the model: only one file has a new embedding.
      for (const [path, text] of [["car.md", "the automobile"], ["doctor.md", "a physician"]] as const) {
        const update = `update filestore.search_chunks set model = $1, embedding = $2::real[] where file_id =
           (select file_id from filestore.search_texts where path = $3)`;
        await both.sql(update, [FORMER_MODEL, embed(text, 100), path]);
        await both.sql("update filestore.search_texts set model = $1 where path = $2", [FORMER_MODEL, path]);
      }
      for (const mode of ["semantic", "hybrid"]) {
        const found = await search(own, "driving", { mode });
        assertEquals([mode, pathsOf(found).slice(0, 2).toSorted()], [mode, ["car.md", "new.md"]]);
        assertEquals([found.mode, found.notSearched, found.indexed.pending], [mode, undefined, 0]);
      }
      // If the former model no longer answers, a search by meaning skips the files that it embedded.
      other.failWith = 400;
      const without = await search(own, "driving", { mode: "semantic" });
      assertEquals(pathsOf(without), ["new.md"]);
      assertEquals(without.notSearched, {
        files: 2,
        bytes: "the automobile".length + "a physician".length,
        paths: ["car.md", "doctor.md"],
        reasons: ["pending"],
      });
      assertEquals((await search(own, "automobile", { mode: "hybrid" })).results[0]?.path, "car.md");
      // Neither of them changes the other's embeddings, and the sweep embeds the rest.
      await sweepAll(both);
      const after = await search(own, "driving", { mode: "semantic" });
      assertEquals(pathsOf(after).slice(0, 2).toSorted(), ["car.md", "new.md"]);
      assertEquals(after.notSearched, undefined);
    } finally {
      await both.stop();
      await other.stop();
    }
  },
);

const ANOTHER_MODEL = `update filestore.search_texts set model = 'another' where model is not null;
  update filestore.search_chunks set model = 'another', embedding = null`;
const NO_MODEL = "update filestore.search_texts set model = null; delete from filestore.search_chunks";

const BEFORE = { "the model changed": ANOTHER_MODEL, "a model was configured": NO_MODEL };
for (const [what, before] of Object.entries(BEFORE)) {
  semanticTest(`after ${what}, the sweep embeds what it had not seen`, async () => {
    const own = await filled({ "a.md": "the automobile" });
    await service.stack.script(before);
    const meanwhile = await search(own, "car", { mode: "semantic" });
    const { paths, reasons } = meanwhile.notSearched ?? {};
    assertEquals([pathsOf(meanwhile), paths, reasons], [[], ["a.md"], ["pending"]]);
    await sweepAll(service);
    assertEquals(pathsOf(await search(own, "car", { mode: "semantic" })), ["a.md"]);
  });
}

semanticTest(
  "a text that the model refuses leaves the others alone, and only its own chunk has no vector",
  async () => {
    embeddings.refused = "poison";
    try {
      const filler = "plain words that say nothing much at all here\n".repeat(100);
      const project = await service.project();
      const own = new Files(service, project.key);
      await Promise.all([
        own.write("bad.md", `${filler}poison\n${filler}the automobile`),
        ...["a.md", "b.md", "c.md"].map((path) => own.write(path, "the physician")),
      ]);
      // Each next try is later than the one before; here it is due at once, and a search begins it.
      await eventually("all is indexed", async () => {
        const due = "update filestore.search_queue set due_at = clock_timestamp() where lease_id is null";
        await service.sql(due);
        return (await search(own, "nothing")).indexed.pending === 0;
      });
      assertEquals(pathsOf(await search(own, "car", { mode: "semantic", limit: 1 })), ["bad.md"]);
      const rows = await service.sql<{ path: string; missing: string }>(
        `select t.path, count(*) as missing from filestore.search_chunks k join filestore.search_texts t using (project_id, file_id)
       where k.project_id = $1 and k.embedding is null group by t.path`,
        [project.id],
      );
      assertEquals(rows.map(({ path, missing }) => [path, Number(missing)]), [["bad.md", 1]]);
      assertEquals(pathsOf(await search(own, "poison", { mode: "text" })), ["bad.md"]);
    } finally {
      embeddings.refused = null;
    }
  },
);

test("an endpoint that fails: writes go on, hybrid is lexical, semantic is 503; it recovers by itself", async () => {
  const own = await filled({});
  embeddings.failWith = 503;
  try {
    await own.write("a.md", "the automobile");
    await eventually("it is found by its words", async () => {
      const { results, mode } = await search(own, "automobile");
      assertEquals(mode, "lexical");
      return results.length > 0;
    });
    if (hasVectors) {
      assertRefused(await trySearch(own, "car", { mode: "semantic" }), "SERVICE_UNAVAILABLE", "search_files");
    }
  } finally {
    embeddings.failWith = null;
  }
  // Its lease has to expire first; the test makes it due at once.
  await service.sql("update filestore.search_queue set due_at = clock_timestamp()");
  await own.write("b.md", "something");
  await indexed(service);
  if (hasVectors) assertEquals(pathsOf(await search(own, "car", { mode: "semantic", limit: 1 })), ["a.md"]);
});
