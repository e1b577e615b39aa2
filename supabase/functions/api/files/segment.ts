/**
 * Cuts content into segments, and describes them. Text is cut at character boundaries, so that every segment of a text is UTF-8 by itself:
 * escaping, search and edits work on one segment at a time.
 */
import { SEGMENT_BYTES_MAX } from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import { detach, sha256Hex } from "../runtime/bytes.ts";

/** Initial buffer of a cutter, in bytes, unless the first input is larger; it doubles up to two segments. */
const FIRST_BUFFER_BYTES = 1024;
/** Below this many bytes a loop is faster than `subarray` and `set`. */
const SHORT_COPY_BYTES = 32;
/** The result of a push that finishes no piece, as most do. */
const NOTHING: readonly Uint8Array[] = [];

/**
 * Cuts bytes of unknown total into pieces of at most SEGMENT_BYTES_MAX. Never splits a character when the whole is
 * UTF-8. The remainder is halved rather than left tiny: pieces are over half a segment long unless there is
 * only one. The cuts depend only on the bytes, not on how they were chunked. Holds up to two segments.
 */
export class SegmentCutter {
  #buffer = new Uint8Array(0);
  #length = 0;

  /** Copies the bytes from `from` to `to` (exclusive); returns the pieces that are finished. */
  push(bytes: Uint8Array, from = 0, to = bytes.length): readonly Uint8Array[] {
    if (this.#length + to - from < 2 * SEGMENT_BYTES_MAX) {
      this.#take(bytes, from, to);
      return NOTHING;
    }
    const finished: Uint8Array[] = [];
    for (let at = from; at < to;) {
      const count = Math.min(to - at, 2 * SEGMENT_BYTES_MAX - this.#length);
      this.#take(bytes, at, at + count);
      at += count;
      if (this.#length === 2 * SEGMENT_BYTES_MAX) finished.push(this.#cut(SEGMENT_BYTES_MAX));
    }
    return finished;
  }

  /**
   * Returns the last pieces, and frees its own memory. There are none without bytes, otherwise one or two, or three
   * where characters allow no better cut.
   */
  finish(): Uint8Array[] {
    const last: Uint8Array[] = [];
    while (this.#length > SEGMENT_BYTES_MAX) last.push(this.#cut(Math.ceil(this.#length / 2)));
    if (this.#length > 0) last.push(this.#cut(this.#length));
    detach(this.#buffer);
    this.#buffer = new Uint8Array(0);
    return last;
  }

  #take(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length > this.#buffer.length) {
      // `transfer` frees the old, shorter buffer at once.
      this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(
        Math.min(2 * SEGMENT_BYTES_MAX, Math.max(FIRST_BUFFER_BYTES, length, 2 * this.#buffer.length)),
      ));
    }
    if (to - from < SHORT_COPY_BYTES) {
      for (let at = from, into = this.#length; at < to; at++, into++) this.#buffer[into] = bytes[at] ?? 0;
    } else {
      this.#buffer.set(bytes.subarray(from, to), this.#length);
    }
    this.#length = length;
  }

  #cut(max: number): Uint8Array {
    const end = cutAtCharacter(this.#buffer.subarray(0, this.#length), max);
    const piece = this.#buffer.slice(0, end);
    this.#buffer.copyWithin(0, end, this.#length);
    this.#length -= end;
    return piece;
  }
}

/** The record of one new segment. Throws RangeError unless it has 1 to SEGMENT_BYTES_MAX bytes. */
export async function describeSegment(id: string, name: string, bytes: Uint8Array): Promise<Segment> {
  if (bytes.length < 1 || bytes.length > SEGMENT_BYTES_MAX) {
    throw new RangeError(`a segment cannot have ${bytes.length} bytes`);
  }
  return {
    id,
    name,
    size: bytes.length,
    sha256: await sha256Hex(bytes),
    newlines: countNewlines(bytes),
    endsWithNewline: bytes.at(-1) === 0x0a,
    isText: isUtf8(bytes),
  };
}

const LINE_FEED = 0x0a;

/** Whether the bytes are well-formed UTF-8 by themselves. A byte order mark is a character like any other. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The number of line feeds among the bytes from `from` to `to` (exclusive). */
export function countNewlines(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let count = 0;
  for (let index = from; index < to; index++) if (bytes[index] === LINE_FEED) count++;
  return count;
}

/**
 * Where to cut so that the first part has at most `max` bytes and no character of UTF-8 text is split: at `max`, or
 * up to 3 bytes before it; at the end if there are no more than `max` bytes. Bytes that are not text are cut at `max`.
 */
export function cutAtCharacter(bytes: Uint8Array, max: number): number {
  if (bytes.length <= max) return bytes.length;
  for (let cut = max; cut > 0 && cut > max - 4; cut--) {
    // Other bytes can only be the second or a later byte of a character.
    if (((bytes[cut] ?? 0) & 0xc0) !== 0x80) return cut;
  }
  return max;
}
