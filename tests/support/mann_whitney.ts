/**
 * The two-sided p value of the Mann-Whitney U test by its normal approximation, ties corrected: how likely samples of
 * one and the same distribution differ in rank at least this much. https://en.wikipedia.org/wiki/Mann–Whitney_U_test
 */
export function mannWhitney(first: readonly number[], second: readonly number[]): number {
  const all = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].sort((a, b) => a.value - b.value);
  let rankSum = 0;
  let ties = 0;
  for (let from = 0; from < all.length;) {
    let to = from;
    while (to < all.length && all[to]?.value === all[from]?.value) to++;
    const rank = (from + 1 + to) / 2;
    for (let at = from; at < to; at++) if (all[at]?.isFirst) rankSum += rank;
    ties += (to - from) ** 3 - (to - from);
    from = to;
  }
  const [m, n, total] = [first.length, second.length, all.length];
  const u = rankSum - m * (m + 1) / 2;
  const deviation = Math.sqrt(m * n / 12 * (total + 1 - ties / (total * (total - 1))));
  const distance = Math.max(0, Math.abs(u - m * n / 2) - 0.5);
  return deviation === 0 ? 1 : 2 * (1 - normal(distance / deviation));
}

/** The standard normal distribution function, to seven digits (Abramowitz and Stegun, 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = ((((1.330274429 * t - 1.821255978) * t + 1.781477937) * t - 0.356563782) * t + 0.31938153) * t;
  return 1 - Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI) * tail;
}
