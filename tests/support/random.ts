/** Numbers that look random and are the same again for the same seed (mulberry32). */

export interface Random {
  /** 0 ≤ n < limit, whole. */
  below(limit: number): number;
  pick<T>(list: readonly T[]): T;
}

export function newSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
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
