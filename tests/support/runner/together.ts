/**
 * Loads the test files that TEST_FILES lists (addresses, one a line) into one process, where they run in order and
 * share the stack of `suite()` and `browserSuite()`. Each file also runs alone: `deno test FILE`. Here properties are
 * tried with the same values in each run, alone with new ones.
 */
import fc from "fast-check";
import { SEED } from "../random.ts";

fc.configureGlobal({ seed: SEED });
for (const file of (Deno.env.get("TEST_FILES") ?? "").split("\n")) {
  try {
    await import(file);
  } catch (error) {
    Deno.test(`${file} is loaded`, () => {
      throw error;
    });
  }
}
