import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { MUTANTS } from "../mutants/mutants.ts";
import { REPOSITORY } from "../support/stack/command.ts";

Deno.test("mutants: each text occurs once in its file, and each test is there", () => {
  assert(MUTANTS.length >= 60);
  for (const { promise, file, text, replacement, test, name } of MUTANTS) {
    assertEquals(read(file).split(text).length - 1, 1, `${promise} ${file}: ${text}`);
    assert(text !== replacement, promise);
    assert(/\btests\/(?!unit\/mutants).*\.test\.ts$/.test(test), promise);
    assert(read(test) !== "" && name !== "", promise);
  }
  assertEquals(new Set(MUTANTS.map(({ promise }) => promise)).size, MUTANTS.length);
});

function read(path: string): string {
  return Deno.readTextFileSync(join(REPOSITORY, path));
}
