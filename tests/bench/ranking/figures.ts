/** Figures for the quality of a ranking, and a test whether another ranking is really worse. */
import { randomFrom } from "../../support/random.ts";

const RANDOM_ROUNDS = 20_000;
const SEED = 23;

/** Normalized discounted cumulative gain of the first ten paths, with binary relevance: 0 to 1. */
export function ndcgAt10(paths: readonly string[], answers: readonly string[]): number {
  const gain = (place: number) => 1 / Math.log2(place + 2);
  const first = paths.slice(0, 10);
  const ideal = answers.slice(0, 10).reduce((sum, _, place) => sum + gain(place), 0);
  return first.reduce((sum, path, place) => sum + (answers.includes(path) ? gain(place) : 0), 0) / ideal;
}

/** The share of the answers that are among the first ten. */
export function recallAt10(paths: readonly string[], answers: readonly string[]): number {
  const first = paths.slice(0, 10);
  return answers.filter((path) => first.includes(path)).length / answers.length;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The probability of a mean difference at least as far below zero if the signs were random: Fisher's randomization test
 * for paired values, one-sided, deterministic for the same values. Small if `values` are really below `baseline`.
 */
export function probabilityOfWorse(values: readonly number[], baseline: readonly number[]): number {
  const differences = values.map((value, place) => value - (baseline[place] ?? NaN));
  const observed = differences.reduce((sum, difference) => sum + difference, 0);
  const random = randomFrom(SEED);
  let asLow = 0;
  for (let round = 0; round < RANDOM_ROUNDS; round++) {
    let sum = 0;
    for (const difference of differences) sum += random.below(2) === 0 ? difference : -difference;
    if (sum <= observed + 1e-9) asLow++;
  }
  return (asLow + 1) / (RANDOM_ROUNDS + 1);
}

/** Half the width of the 95 % confidence interval of a mean. */
export function halfWidth(values: readonly number[]): number {
  const centre = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
  return 1.96 * Math.sqrt(variance / values.length);
}
