/**
 * Searches bytes that come in pieces, in linear time for any pattern and text (Knuth, Morris, Pratt 1977): nothing
 * before the current byte is read again, and a match may span any number of pieces. Within a piece it skips ahead
 * (Horspool 1980) as long as that pays, and then reads only a small part of the bytes.
 */

/** Shorter patterns skip too few bytes for it to pay. */
const SKIP_PATTERN_BYTES_MIN = 4;
/** Most comparisons per byte skipped; beyond it, the rest of the piece is searched without skipping. */
const SKIP_COMPARISONS_PER_BYTE_MAX = 2;
/** How far this code searches for the pattern's first byte, before the engine's own search takes over. */
const NEAR_BYTES = 64;
/** Bytes that the engine's own search examines in the time of one byte here. */
const NATIVE_BYTES_PER_STEP = 8;
/** The time to compare a byte, in units of the time to skip over one. */
const MATCHED_BYTE_STEPS = 2;

/** A pattern, and how much of it the bytes so far have matched. Matches do not overlap; the leftmost one counts. */
export class ByteSearch {
  /** Length of the longest prefix of the pattern that the bytes so far end with. */
  matched = 0;
  /** After a mismatch at `index`: the length of the prefix that still matches. */
  readonly #fallbacks: Int32Array;
  /** By the byte aligned with the pattern's last one: how far the pattern may move. */
  readonly #shifts: Int32Array;
  #steps: number;

  /** Throws RangeError for an empty pattern. */
  constructor(readonly pattern: Uint8Array) {
    if (pattern.length === 0) throw new RangeError("an empty pattern matches everywhere");
    this.#fallbacks = buildFallbacks(pattern);
    this.#shifts = buildShifts(pattern);
    this.#steps = 2 * pattern.length;
  }

  /** The cost of the search since the last call, in bytes examined; a byte counts each time. */
  takeSteps(): number {
    const steps = this.#steps;
    this.#steps = 0;
    return steps;
  }

  /**
   * Continues the search at `from`. Returns the offset after the next match, or -1 where the bytes end before one. Call
   * it with that offset for the match after it, and with the next piece after a -1.
   */
  next(bytes: Uint8Array, from: number): number {
    const pattern = this.pattern;
    const fallbacks = this.#fallbacks;
    const first = pattern[0] ?? 0;
    let matched = this.matched;
    let at = from;
    if (matched === 0 && pattern.length >= SKIP_PATTERN_BYTES_MIN) {
      at = this.#skip(bytes, from);
      if (at < 0) return -at;
    }
    let steps = 0;
    let counted = at;
    while (at < bytes.length) {
      if (matched === 0) {
        const near = Math.min(bytes.length, at + NEAR_BYTES);
        while (at < near && bytes[at] !== first) at++;
        if (at === near && at < bytes.length) {
          steps += at - counted;
          counted = bytes.indexOf(first, at);
          if (counted < 0) counted = bytes.length;
          steps += Math.floor((counted - at) / NATIVE_BYTES_PER_STEP);
          at = counted;
        }
        if (at === bytes.length) break;
      } else if (bytes[at] !== pattern[matched]) {
        matched = fallbacks[matched] ?? 0;
        continue;
      }
      at++;
      if (++matched === pattern.length) {
        this.matched = 0;
        this.#steps += steps + MATCHED_BYTE_STEPS * (at - counted);
        return at;
      }
    }
    this.matched = matched;
    this.#steps += steps + MATCHED_BYTE_STEPS * (at - counted);
    return -1;
  }

  /** Returns the offset after the next match, negated; or the offset to continue from, before which none begins. */
  #skip(bytes: Uint8Array, from: number): number {
    const pattern = this.pattern;
    const shifts = this.#shifts;
    const last = pattern.length - 1;
    const lastByte = pattern[last];
    let comparisons = 0;
    let places = 0;
    let start = from;
    while (start + last < bytes.length) {
      places++;
      const byte = bytes[start + last] ?? 0;
      if (byte === lastByte) {
        let index = 0;
        while (index < last && bytes[start + index] === pattern[index]) index++;
        comparisons += index;
        if (index === last) {
          this.#steps += places + comparisons;
          return -(start + pattern.length);
        }
        if (comparisons > SKIP_COMPARISONS_PER_BYTE_MAX * (start - from + pattern.length)) break;
      }
      start += shifts[byte] ?? 1;
    }
    this.#steps += places + comparisons;
    return start;
  }
}

/** For each byte, the distance of its last occurrence in the pattern, other than at the end, from the pattern's end. */
function buildShifts(pattern: Uint8Array): Int32Array {
  const shifts = new Int32Array(256).fill(pattern.length);
  for (let at = 0; at + 1 < pattern.length; at++) shifts[pattern[at] ?? 0] = pattern.length - 1 - at;
  return shifts;
}

/** For each length: the longest proper prefix of the pattern's first `length` units that is also their suffix. */
export function buildFallbacks(pattern: Uint8Array | Uint16Array): Int32Array {
  const fallbacks = new Int32Array(pattern.length + 1);
  let matched = 0;
  for (let at = 1; at < pattern.length; at++) {
    while (matched > 0 && pattern[at] !== pattern[matched]) matched = fallbacks[matched] ?? 0;
    if (pattern[at] === pattern[matched]) matched++;
    fallbacks[at + 1] = matched;
  }
  return fallbacks;
}
