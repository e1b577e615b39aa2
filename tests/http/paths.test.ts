/** Paths are compared byte for byte and percent-decoded once, with every name that a file system allows. */
import { assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import cases from "../acceptance/paths.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

await acceptance(cases);

test("200: a path of 1,024 bytes in one and in 32 segments; 400 too_long for one byte more", async () => {
  const own = await files();
  for (const path of ["a".repeat(1024), `${"a/".repeat(31)}${"b".repeat(962)}`]) {
    await own.write(path, "long");
    assertEquals((await own.read(path)).path, path);
    const refused = await own.post({ path: `${path}c`, content: "" });
    assertEquals(assertRefused(refused, "INVALID_PATH"), { rule: "too_long" });
  }
});

test("400 too_many_segments: a path of 33 names is refused by every route, and makes no rows", async () => {
  const own = await files();
  const [path, deeper] = [`${"a/".repeat(31)}b`, `${"a/".repeat(32)}b`];
  await own.write(path, "deep");
  const destination = { destination: deeper };
  for (
    const refused of [
      await own.post({ path: deeper, content: "" }),
      await own.request("POST", `/files?path=${deeper}`, { body: "x" }),
      await own.put("copy", path, destination),
      await own.put("move", path, destination),
      await own.request("GET", `/files/${deeper}`),
      await own.request("GET", `/files?directory=${deeper}`),
    ]
  ) assertEquals(assertRefused(refused, "INVALID_PATH"), { rule: "too_many_segments" });
  assertEquals(await own.paths({ recursive: true }), [path]);
});

/** Raw paths that well-behaved clients normalize before sending. The rule applies to the path that arrives. */
const UNFOLDED: readonly (readonly [string, string])[] = [
  ["a/../b", "dot_segment"],
  ["a/./b", "dot_segment"],
  ["%2e%2e/b", "dot_segment"],
  ["a/%2E%2E", "dot_segment"],
  ["a%2F..", "dot_segment"],
  [".", "dot_segment"],
  ["..%5Ca", "backslash"],
  ["a//b", "empty_segment"],
  ["a/", "trailing_slash"],
  ["/a", "leading_slash"],
  ["a\\b", "backslash"],
];

for (const [raw, rule] of UNFOLDED) {
  test(`400 INVALID_PATH ${rule}: GET /files/${raw} as it is`, async () => {
    const own = await files();
    await own.write("b", "must not be found");
    await own.write("a/b", "neither");
    const answer = await own.request("GET", `/files/${raw}`);
    assertEquals(assertRefused(answer, "INVALID_PATH", "read_file"), { rule });
    const body = { content: "x", oldString: "a", newString: "b" };
    for (const route of ["append", "overwrite", "edit"]) {
      const refused = await own.request("PUT", `/files/${route}/${raw}`, { body });
      assertEquals(assertRefused(refused, "INVALID_PATH", "write_file"), { rule }, route);
    }
  });
}
