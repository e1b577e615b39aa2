/**
 * Loads the test files that TEST_FILES lists (addresses, one a line) into one process, where they run one after
 * another and share what `suite()` and `browserSuite()` start. Each of them runs alone, too: `deno test FILE`.
 * Properties are tried with the same values in each run here, and alone with new ones.
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
