/**
 * Mutants: changes of the product, each of which breaks one promise. The test beside it has to fail then, or the promise
 * has no test.
 */
import mutants from "./mutants.json" with { type: "json" };

export interface Mutant {
  /** What holds no more in the mutant. */
  readonly promise: string;
  /** The file that is changed, from the root of the repository. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** The test file that fails, from the root of the repository. */
  readonly test: string;
  /** A part of the names of the tests that are run; absent: all of the file. */
  readonly name?: string | undefined;
}

export const MUTANTS: readonly Mutant[] = mutants;
