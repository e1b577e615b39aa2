/** How well a text matches a query: it must contain every word, in upper or lower case. */

/** Where in a text a word is found, from best to worst. */
const NAME_STARTS = 0;
const WORD_STARTS = 1;
const INSIDE = 2;
/** In a folder of the path, not in the name. */
const BEFORE_NAME = 3;

/** Splits a query into words in lower case. */
export function wordsOf(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter((word) => word !== "");
}

/**
 * Returns a distance, lower for a better match; null if a word is missing. In a path, the name counts more than the folders.
 */
export function distance(words: readonly string[], text: string): number | null {
  const lower = text.toLowerCase();
  const name = lower.lastIndexOf("/") + 1;
  let sum = 0;
  for (const word of words) {
    const rank = rankOf(word, lower, word.includes("/") ? 0 : name);
    if (rank === null) return null;
    sum += rank;
  }
  return sum;
}

/** Returns the matching items, best first. At an equal distance, a shorter text comes first; otherwise the order stays. */
export function bestOf<T>(
  items: readonly T[],
  words: readonly string[],
  textOf: (item: T) => string,
  countMax: number,
): readonly T[] {
  const fitting = items.flatMap((item) => {
    const text = textOf(item);
    const rank = distance(words, text);
    return rank === null ? [] : [{ item, rank, length: text.length }];
  });
  fitting.sort((a, b) => a.rank - b.rank || (words.length === 0 ? 0 : a.length - b.length));
  return fitting.slice(0, countMax).map(({ item }) => item);
}

function rankOf(word: string, text: string, name: number): number | null {
  let best: number | null = null;
  for (let at = text.indexOf(word, name); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === name) return NAME_STARTS;
    const startsWord = !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "");
    best = Math.min(best ?? INSIDE, startsWord ? WORD_STARTS : INSIDE);
  }
  return best ?? (text.includes(word) ? BEFORE_NAME : null);
}
