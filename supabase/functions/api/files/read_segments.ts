/** Reading a rope in order, a few segments ahead of the reader. */
import type { ByteBudget, Release } from "../runtime/byte_budget.ts";
import { cutLines, type SegmentLines } from "./line_window.ts";
import type { ByteRange } from "../http/byte_range.ts";
import { READ_AHEAD_SEGMENTS, READ_KEPT_BYTES_MAX } from "../limits.ts";
import type { Segment, Segments } from "../ports/segments.ts";

/** Where the bytes of segments come from, and the memory that all reads together may take for reading ahead. */
export interface SegmentSource {
  readonly segments: Segments;
  readonly readAhead: ByteBudget;
}

interface Fetched {
  readonly bytes: Promise<Uint8Array>;
  /** Gives back what was taken of the memory for reading ahead. */
  readonly release: Release;
}

/**
 * The bytes of each segment, verified. Holds one segment, and READ_AHEAD_SEGMENTS more as long as there is memory for
 * them. Throws where one of them is corrupt or out of reach.
 */
export async function* readSegments(
  { segments, readAhead }: SegmentSource,
  rope: readonly Segment[],
): AsyncGenerator<Uint8Array, void, void> {
  const isKept = rope.reduce((bytes, { size }) => bytes + size, 0) <= READ_KEPT_BYTES_MAX;
  const fetch = (segment: Segment, release: Release): Fetched => {
    const bytes = segments.get(segment, isKept);
    // Seen when its turn comes; a reader that stops before that must not leave it unhandled.
    bytes.catch(() => {});
    return { bytes, release };
  };
  const ahead: Fetched[] = [];
  try {
    for (const [index, segment] of rope.entries()) {
      const current = ahead.shift() ?? fetch(segment, () => {});
      current.release();
      while (ahead.length < READ_AHEAD_SEGMENTS) {
        const next = rope[index + 1 + ahead.length];
        const release = next && readAhead.tryAcquire(next.size);
        if (!next || !release) break;
        ahead.push(fetch(next, release));
      }
      yield await current.bytes;
    }
  } finally {
    for (const { bytes, release } of ahead) bytes.then(release, release);
  }
}

/** The bytes of a range; only segments that hold some of it are fetched. */
export async function* readRange(
  source: SegmentSource,
  rope: readonly Segment[],
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array, void, void> {
  const parts: { segment: Segment; at: number }[] = [];
  let at = 0;
  for (const segment of rope) {
    if (at <= end && at + segment.size > start) parts.push({ segment, at });
    at += segment.size;
  }
  let index = 0;
  for await (const bytes of readSegments(source, parts.map((part) => part.segment))) {
    const place = parts[index++]?.at ?? 0;
    yield bytes.subarray(Math.max(0, start - place), Math.min(bytes.length, end + 1 - place));
  }
}

/** The lines of a window; only segments that hold some of them are fetched. */
export async function* readLines(
  source: SegmentSource,
  parts: readonly SegmentLines[],
): AsyncGenerator<Uint8Array, void, void> {
  let index = 0;
  for await (const bytes of readSegments(source, parts.map((part) => part.segment))) {
    const part = parts[index++];
    if (part) yield cutLines(bytes, part);
  }
}
