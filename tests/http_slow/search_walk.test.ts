/** For literals that the index cannot find, such as signs alone, a search reads texts in path order, a few MiB a call. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { dataOf } from "../support/client/contract.ts";
import { suite, test } from "../support/stack/suite.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const WALK_BYTES = sqlNumber("81_search.sql", "c_walk_bytes");

const { files } = await suite();

const COUNT = 12;
const page = z.looseObject({
  results: z.array(z.looseObject({ path: z.string() })),
  indexed: z.looseObject({ pending: z.int() }),
});

test("GET /search: pages by offset are the parts of the whole, also beyond what one call reads", async () => {
  const own = await files();
  const paths = Array.from({ length: COUNT }, (_, n) => `${String(n).padStart(2, "0")}.txt`);
  const filler = "a line of text\n".repeat(Math.ceil((2 * WALK_BYTES) / COUNT / 15));
  for (const path of paths) await own.write(path, `=-=-= ${path}\n${filler}`);
  const found = async (query: Record<string, string>) => {
    const answer = await own.request("GET", "/search", {
      query: { q: "=-=-=", mode: "text", wait: "10", ...query },
    });
    const { results, indexed } = dataOf(answer, "search_files", page);
    assertEquals(indexed.pending, 0);
    return results.map(({ path }) => path);
  };
  assertEquals(await found({ limit: "50" }), paths);
  for (const offset of [1, COUNT - 2]) {
    assertEquals(await found({ limit: "1", offset: String(offset) }), [paths[offset]], `from ${offset}`);
  }
});
