/**
 * Searching bytes that come in pieces, in linear time whatever they are (Knuth, Morris, Pratt 1977): no pattern and
 * no text is slow, nothing before the current byte is needed again, and a match may span any number of pieces.
 */

/** A pattern and how much of it was matched by what came so far. Matches do not overlap, the leftmost one counts. */
export class ByteSearch {
  readonly pattern: Uint8Array;
  /** The text so far ends with this many bytes of the pattern's beginning, and no more. */
  matched = 0;
  /** For a pattern matched up to `index`, then a mismatch: how much of it still fits. */
  readonly #fallbacks: Int32Array;

  /** Throws RangeError for an empty pattern. */
  constructor(pattern: Uint8Array) {
    if (pattern.length === 0) throw new RangeError("an empty pattern matches everywhere");
    this.pattern = pattern;
    this.#fallbacks = fallbacksOf(pattern);
  }

  /**
   * Searches on from `from`; answers the place after the next match, or -1 where the bytes end before that. Call it
   * with that place for the match after it, and with the next piece after a -1.
   */
  next(bytes: Uint8Array, from: number): number {
    const pattern = this.pattern;
    const fallbacks = this.#fallbacks;
    const first = pattern[0];
    let matched = this.matched;
    let at = from;
    while (at < bytes.length) {
      if (matched === 0) {
        while (at < bytes.length && bytes[at] !== first) at++;
        if (at === bytes.length) break;
      } else if (bytes[at] !== pattern[matched]) {
        matched = fallbacks[matched] ?? 0;
        continue;
      }
      at++;
      if (++matched === pattern.length) {
        this.matched = 0;
        return at;
      }
    }
    this.matched = matched;
    return -1;
  }
}

/** For each length: the longest shorter beginning of the pattern that is also an end of its first `length` bytes. */
function fallbacksOf(pattern: Uint8Array): Int32Array {
  const fallbacks = new Int32Array(pattern.length + 1);
  let matched = 0;
  for (let at = 1; at < pattern.length; at++) {
    while (matched > 0 && pattern[at] !== pattern[matched]) matched = fallbacks[matched] ?? 0;
    if (pattern[at] === pattern[matched]) matched++;
    fallbacks[at + 1] = matched;
  }
  return fallbacks;
}
