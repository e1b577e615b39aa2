/** Numbers that look random and are the same again for the same seed (mulberry32). */
import { IS_LONG } from "./runner/long.ts";

export interface Random {
  /** 0 ≤ n < limit, whole. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

/** The seed of runs that are to be compared with each other. */
const USUAL_SEED = 20_261_124;

/**
 * What a test's choices start from. It is the same in each run, so that a test which fails was broken by the change and not by
 * chance; the long form looks for what nobody has seen yet and takes a new one. TEST_SEED sets it: a failure names it.
 */
export const SEED = Number(Deno.env.get("TEST_SEED") ?? (IS_LONG ? newSeed() : USUAL_SEED));

/** Below 2 ** 31, as fast-check takes it. */
function newSeed(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) >>> 1;
}

/** Whole numbers from 0 to below 2 ** 32. */
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
