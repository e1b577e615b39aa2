/** Reads segments in order, a few ahead of the consumer. */
import type { ByteBudget, Release } from "../runtime/byte_budget.ts";
import type { ByteRange } from "../http/byte_range.ts";
import { READ_AHEAD_SEGMENTS, READ_KEPT_BYTES_MAX } from "../limits.ts";
import type { Segment, Segments } from "../ports/segments.ts";

/** The source of segments' bytes, and the memory budget of all reads for reading ahead. */
export interface SegmentSource {
  readonly segments: Segments;
  readonly readAhead: ByteBudget;
}

/**
 * Yields the bytes of each segment, verified. Holds one segment, and up to READ_AHEAD_SEGMENTS more while the budget
 * has room. Throws where one of them is corrupt or out of reach.
 */
export async function* readSegments(
  { segments, readAhead }: SegmentSource,
  list: readonly Segment[],
): AsyncGenerator<Uint8Array, void, void> {
  const isKept = list.reduce((bytes, { size }) => bytes + size, 0) <= READ_KEPT_BYTES_MAX;
  /** `release` returns the segment's bytes to the read-ahead budget. */
  const fetch = (segment: Segment, release: Release) => {
    const bytes = segments.get(segment, isKept);
    // Avoids an unhandled rejection where the consumer stops early; otherwise the error is thrown at its place.
    bytes.catch(() => {});
    return { bytes, release };
  };
  const ahead: ReturnType<typeof fetch>[] = [];
  try {
    for (const [index, segment] of list.entries()) {
      const current = ahead.shift() ?? fetch(segment, () => {});
      current.release();
      while (ahead.length < READ_AHEAD_SEGMENTS) {
        const next = list[index + 1 + ahead.length];
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

/** Reads segments of text into one string, with U+FFFD for bytes that are not UTF-8. */
export async function readText(source: SegmentSource, segments: readonly Segment[]): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const bytes of readSegments(source, segments)) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}

/** Yields the bytes of a range; only segments that contain some of it are fetched. */
export async function* readRange(
  source: SegmentSource,
  segments: readonly Segment[],
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array, void, void> {
  const parts: { segment: Segment; at: number }[] = [];
  let at = 0;
  for (const segment of segments) {
    if (at <= end && at + segment.size > start) parts.push({ segment, at });
    at += segment.size;
  }
  let index = 0;
  for await (const bytes of readSegments(source, parts.map((part) => part.segment))) {
    const place = parts[index++]?.at ?? 0;
    yield bytes.subarray(Math.max(0, start - place), Math.min(bytes.length, end + 1 - place));
  }
}
