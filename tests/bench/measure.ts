/** Measures alternatives side by side: they alternate, so that a machine that slows down slows all of them. */

/** A work to be timed. Its argument is the number of the round, from 0; warm-up rounds have other numbers. */
export type Work = (round: number) => Promise<unknown>;

/** Milliseconds of each round. */
export type Times = readonly number[];

/** Rounds that run first and do not count: connections, plans and compiled code are created in them. */
const WARM_UP_ROUNDS = 8;

/**
 * Runs each work once a round, in an order that rotates and alternates between forwards and backwards, so that no work
 * always follows the same other one. Returns the milliseconds of each. Warm-up rounds have numbers from `rounds` on.
 */
export async function interleave<Name extends string>(
  works: Readonly<Record<Name, Work>>,
  rounds: number,
  warmUpRounds = Math.min(WARM_UP_ROUNDS, rounds),
): Promise<Record<Name, Times>> {
  const names = Object.keys(works) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < warmUpRounds; round++) {
    for (const name of names) await works[name](rounds + round);
  }
  for (let round = 0; round < rounds; round++) {
    const isBackwards = Math.floor(round / names.length) % 2 === 1;
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + (isBackwards ? names.length - turn : turn)) % names.length];
      if (name === undefined) continue;
      const started = performance.now();
      await works[name](round);
      times[name].push(performance.now() - started);
    }
  }
  return times;
}

/** The value below which this share of the values lies; 0.5 gives the median. */
export function quantile(values: Times, share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? NaN;
  const high = sorted[Math.ceil(place)] ?? NaN;
  return low + (high - low) * (place - Math.floor(place));
}

export function median(values: Times): number {
  return quantile(values, 0.5);
}

export function mean(values: Times): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
