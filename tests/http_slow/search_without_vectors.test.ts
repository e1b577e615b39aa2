/** Without the extension `vector`, everything except search by meaning works. On a real Postgres of its own. */
import { assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import { startEmbeddingServer } from "../support/stack/embedding_server.ts";
import { Files } from "../support/client/files.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { indexed, pathsOf, search, trySearch } from "../support/client/search.ts";
import { startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";

const postgres = await startPostgres();
const embeddings = startEmbeddingServer();
const service = await startService({
  databaseUrl: postgres.url,
  functionVariables: { EMBEDDINGS_URL: embeddings.url, EMBEDDINGS_MODEL: "hashed-words" },
});
Deno.test.afterAll(async () => {
  await service.stop();
  await embeddings.stop();
  await postgres.stop();
});

test("without vector: text, regex and hybrid answer, semantic is 501, and hybrid says lexical", async () => {
  const [extension] = await service.sql<{ count: string | number }>(
    "select count(*) as count from pg_available_extensions where name = 'vector'",
  );
  assertEquals(Number(extension?.count), 0, "this Postgres has no vector");
  const project = await service.project();
  const own = new Files(service, project.key);
  await own.write("a.md", "the automobile is serviced\n");
  await own.write("b.md", "nothing\n");
  await indexed(service, project.id);
  assertEquals(pathsOf(await search(own, "automobile", { mode: "text" })), ["a.md"]);
  assertEquals(pathsOf(await search(own, "AUTO.*ed$", { mode: "regex", caseSensitive: false })), ["a.md"]);
  const page = await search(own, "service automobiles");
  assertEquals([page.mode, pathsOf(page)], ["lexical", ["a.md"]]);
  assertRefused(
    await trySearch(own, "car", { mode: "semantic" }),
    "SEMANTIC_SEARCH_UNAVAILABLE",
    "search_files",
  );
});
