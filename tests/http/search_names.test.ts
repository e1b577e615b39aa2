/** Every ranking mode finds a file by its name or parts of it, and a dotted word matches itself. */
import { assertEquals } from "@std/assert";
import { indexed, pathsOf, search } from "../support/client/search.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

/** Longer than a text kept in a file's row, so that words of the text and of the path are looked up separately. */
const FILLER = "nothing of interest in this line\n".repeat(60);

for (const [size, filler] of [["short", ""], ["long", FILLER]] as const) {
  test(`a ${size} file is found by its name, its folder and their parts`, async (own) => {
    const paths = ["data/table.csv", "notes/plan.md", "src/rateLimitHTTPServer.ts", "lib/rate_limiter-v2.ts"];
    for (const path of [...paths, "about.md", "other/unrelated.txt"]) {
      await own.write(path, `zebra\n${filler}`);
    }
    await indexed(service, own.project.id);
    const [table = "", plan = "", server = "", limiter = ""] = paths;
    const rows: readonly (readonly [readonly string[], readonly string[]])[] = [
      [[table], "table.csv table tables csv data/table.csv TABLE.CSV".split(" ")],
      [[plan], ["notes/plan", "notes/plan.md"]],
      [
        [server],
        "rateLimitHTTPServer rateLimitHTTPServer.ts src/rateLimitHTTPServer.ts HTTPServer".split(" "),
      ],
      [[server], ["ratelimithttpserver", "rateLimitHTTP", "http", "server"]],
      [[server, limiter], ["rateLimit", "limiter"]],
      [[limiter], ["rate_limiter-v2"]],
      [["about.md"], ["about"]],
      // One word of the name and one of the text.
      [[table], ["zebra table.csv"]],
      [[server], ["zebra rateLimitHTTPServer"]],
      [[], ["table -zebra"]],
    ];
    for (
      const [expected, q] of rows.flatMap(([expected, queries]) => queries.map((q) => [expected, q] as const))
    ) {
      assertEquals(pathsOf(await search(own, q)).toSorted(), [...expected].toSorted(), q);
    }
  });
}

test("dotted, hyphenated and slashed words of a text are found as they are written, and by their parts in a row", async () => {
  const own = await files();
  const words = [
    ..."table.csv 3.14.2 v1.2.3-beta ann@example.com node.js a/b/c.txt std::vector foo.barBaz".split(" "),
    ..."127.0.0.1:8080 rate_limit U.S.A.".split(" "),
  ];
  for (const [n, word] of words.entries()) await own.write(`f${n}`, `before ${word} after\n`);
  await indexed(service, own.project.id);
  for (const [n, word] of words.entries()) {
    const { results } = await search(own, word);
    assertEquals(results[0]?.path, `f${n}`, word);
    assertEquals(results[0]?.matches[0]?.line, 1, word);
  }
});
