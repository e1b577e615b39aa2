/** Any vector size of an embeddings endpoint works, with an index or without. */
import { assertEquals } from "@std/assert";
import { EMBEDDING_DIMENSIONS_MAX, SEARCH_EXACT_CHUNKS_MAX } from "../../supabase/functions/api/limits.ts";
import { startEmbeddingServer } from "../support/stack/embedding_server.ts";
import { Files } from "../support/client/files.ts";
import { indexed, search } from "../support/client/search.ts";
import { type Service, startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";

// The tests' Postgres lacks the extension `vector`.
const hasVectors = Deno.env.get("TEST_DATABASE") !== "postgres";

/** Runs `body` with a service whose endpoint returns vectors of `dimensions` numbers. */
async function withVectors(dimensions: number, body: (service: Service) => Promise<void>): Promise<void> {
  const embeddings = startEmbeddingServer(dimensions);
  const functionVariables = { EMBEDDINGS_URL: embeddings.url, EMBEDDINGS_MODEL: "hashed-words" };
  const service = await startService({ functionVariables });
  try {
    await body(service);
  } finally {
    await service.stop();
    await embeddings.stop();
  }
}

for (const dimensions of hasVectors ? [100, 512, 1536, EMBEDDING_DIMENSIONS_MAX] : []) {
  test(`vectors of ${dimensions} numbers are stored and found`, () =>
    withVectors(dimensions, async (service) => {
      const own = new Files(service, (await service.project()).key);
      await own.write("car.md", "The automobile is in the garage.\n");
      await own.write("doctor.md", "A physician looks after patients.\n");
      await indexed(service);
      const rows = await service.sql<{ size: number }>(
        "select distinct cardinality(embedding)::integer as size from filestore.search_chunks",
      );
      assertEquals(rows, [{ size: dimensions }]);
      const { mode, results, notSearched } = await search(own, "vehicle", { mode: "semantic" });
      assertEquals([mode, results[0]?.path, notSearched], ["semantic", "car.md", undefined]);
    }));
}

/** Chunks without vectors count, too, since a search is bounded by rows. */
const MANY_CHUNKS = `
  insert into filestore.search_chunks (project_id, file_id, hash, version, first_line, start, length, model)
  select t.project_id, t.file_id, md5(n::text)::uuid, t.version, 1, 0, 1, t.model
  from filestore.search_texts t, generate_series(1, ${SEARCH_EXACT_CHUNKS_MAX}) n where t.path = 'other.md'`;

for (const [dimensions, reasons] of hasVectors ? [[100, ["bounds"]], [384, undefined]] as const : []) {
  test(
    `among more than ${SEARCH_EXACT_CHUNKS_MAX} chunks vectors of ${dimensions} numbers are ${
      reasons ? "compared in part, and the answer says so" : "found along their index"
    }`,
    () =>
      withVectors(dimensions, async (service) => {
        const own = new Files(service, (await service.project()).key);
        await own.write("car.md", "The automobile is in the garage.\n");
        await own.write("other.md", "A physician looks after patients.\n");
        await indexed(service);
        assertEquals((await search(own, "vehicle", { mode: "semantic" })).notSearched, undefined);
        await service.stack.script(MANY_CHUNKS);
        for (const mode of ["semantic", "hybrid"]) {
          const { results, notSearched } = await search(own, "vehicle", { mode });
          assertEquals([results[0]?.path, notSearched?.reasons], ["car.md", reasons]);
        }
      }),
  );
}

test("each usual size has an index of its own, which a scan for vectors of that size uses", async () => {
  if (!hasVectors) return;
  const service = await startService({});
  try {
    const rows = await service.sql<{ name: string }>(
      `select indexname as name from pg_indexes where indexname like 'search_chunks_by_meaning_%'`,
    );
    const sizes = rows.map(({ name }) => Number(name.split("_").at(-1))).toSorted((a, b) => a - b);
    assertEquals(sizes, [384, 512, 768, 1024, 1536]);
    for (const size of sizes) {
      // The table is empty, so nothing is found; but the statement runs only if its index exists and its types fit.
      const found = await service.sql(
        `select * from filestore.search_nearest_${size}(
           gen_random_uuid(), 'm', array_fill(1::real, array[$1::integer]), null, null, null, null)`,
        [size],
      );
      assertEquals(found, []);
    }
  } finally {
    await service.stop();
  }
});
