/** Pseudo-random numbers (mulberry32): the same seed gives the same numbers. */
import { IS_LONG } from "./runner/long.ts";

export interface Random {
  /** A whole number n, 0 ≤ n < limit. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

/** The seed of runs whose results are compared with each other. */
const USUAL_SEED = 20_261_124;

/**
 * The seed of a test's random choices. It is constant, so that a failure is due to the change and not to chance. The
 * long form takes a new seed, to try what no run has tried. A failure names its seed; TEST_SEED repeats it.
 */
export const SEED = Number(Deno.env.get("TEST_SEED") ?? (IS_LONG ? newSeed() : USUAL_SEED));

/** Below 2 ** 31, a limit of fast-check. */
function newSeed(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) >>> 1;
}

/** Returns whole numbers n, 0 ≤ n < 2 ** 32. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

export function randomFrom(seed: number): Random {
  const next = randomNumbers(seed);
  const below = (limit: number) => Math.floor(next() / 2 ** 32 * limit);
  return {
    below,
    pick<T>(list: readonly T[]): T {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new RangeError("there is nothing to pick from");
      return picked;
    },
  };
}
