/**
 * Searching bytes that come in pieces, in linear time whatever they are (Knuth, Morris, Pratt 1977): no pattern and
 * no text is slow, nothing before the current byte is needed again, and a match may span any number of pieces. Within
 * a piece it leaps ahead (Horspool 1980) as long as that pays; then it looks at a small part of the bytes only.
 */

/** Shorter patterns leap too little for it to pay. */
const LEAP_PATTERN_BYTES_MIN = 4;
/** Bytes that leaping may compare for each byte it gets ahead, before it is given up for the rest of the piece. */
const LEAP_COMPARISONS_PER_BYTE_MAX = 2;

/** A pattern and how much of it was matched by what came so far. Matches do not overlap, the leftmost one counts. */
export class ByteSearch {
  readonly pattern: Uint8Array;
  /** The text so far ends with this many bytes of the pattern's beginning, and no more. */
  matched = 0;
  /** For a pattern matched up to `index`, then a mismatch: how much of it still fits. */
  readonly #fallbacks: Int32Array;
  /** How far the pattern may move when a byte stands under its last one. */
  readonly #leaps: Int32Array;

  /** Throws RangeError for an empty pattern. */
  constructor(pattern: Uint8Array) {
    if (pattern.length === 0) throw new RangeError("an empty pattern matches everywhere");
    this.pattern = pattern;
    this.#fallbacks = fallbacksOf(pattern);
    this.#leaps = leapsOf(pattern);
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
    if (matched === 0 && pattern.length >= LEAP_PATTERN_BYTES_MIN) {
      at = this.#leap(bytes, from);
      if (at < 0) return -at;
    }
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

  /** The place after the next match, negative; or the place before which none begins, to be read on from. */
  #leap(bytes: Uint8Array, from: number): number {
    const pattern = this.pattern;
    const leaps = this.#leaps;
    const last = pattern.length - 1;
    const lastByte = pattern[last];
    let comparisons = 0;
    let start = from;
    while (start + last < bytes.length) {
      const byte = bytes[start + last] ?? 0;
      if (byte === lastByte) {
        let index = 0;
        while (index < last && bytes[start + index] === pattern[index]) index++;
        if (index === last) return -(start + pattern.length);
        comparisons += index;
        if (comparisons > LEAP_COMPARISONS_PER_BYTE_MAX * (start - from + pattern.length)) return start;
      }
      start += leaps[byte] ?? 1;
    }
    return start;
  }
}

/** For each byte how far its last place in the pattern, the very last aside, is from the pattern's end. */
function leapsOf(pattern: Uint8Array): Int32Array {
  const leaps = new Int32Array(256).fill(pattern.length);
  for (let at = 0; at + 1 < pattern.length; at++) leaps[pattern[at] ?? 0] = pattern.length - 1 - at;
  return leaps;
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
