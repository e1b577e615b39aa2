/** Paths are compared byte for byte and percent-decoded once, with every name that a file system allows. */
import { assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import cases from "../acceptance/paths.ts";
import { acceptance, suite } from "../support/stack/suite.ts";

const { files, test } = await suite();

await acceptance(cases);

test("200: a path of 1,024 bytes in one and in 32 segments; 400 too_long for one byte more", async (own) => {
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
  const refusals = [
    await own.post({ path: deeper, content: "" }),
    await own.request("POST", `/files?path=${deeper}`, { body: "x" }),
    await own.put("copy", path, destination),
    await own.put("move", path, destination),
    await own.request("GET", `/files/${deeper}`),
    await own.request("GET", `/files?directory=${deeper}`),
  ];
  for (const refused of refusals) {
    assertEquals(assertRefused(refused, "INVALID_PATH"), { rule: "too_many_segments" });
  }
  assertEquals(await own.paths({ recursive: true }), [path]);
});

/** Raw paths that well-behaved clients normalize before sending. The rule applies to the path that arrives. */
const UNFOLDED: Readonly<Record<string, readonly string[]>> = {
  dot_segment: ["a/../b", "a/./b", "%2e%2e/b", "a/%2E%2E", "a%2F..", "."],
  backslash: ["..%5Ca", "a\\b"],
  empty_segment: ["a//b"],
  trailing_slash: ["a/"],
  leading_slash: ["/a"],
};

for (
  const [rule, raw] of Object.entries(UNFOLDED).flatMap(([rule, paths]) => paths.map((raw) => [rule, raw]))
) {
  test(`400 INVALID_PATH ${rule}: GET /files/${raw} as it is`, async (own) => {
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
