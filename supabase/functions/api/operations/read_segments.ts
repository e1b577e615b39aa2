/** Reading a rope in order, a few segments ahead of the reader. */
import { cutLines, type SegmentLines } from "../domain/line_window.ts";
import type { ByteRange } from "../domain/byte_range.ts";
import { READ_AHEAD_SEGMENTS, READ_KEPT_BYTES_MAX } from "../limits.ts";
import type { Segment, Segments } from "../ports.ts";

/**
 * The bytes of each segment, verified. Holds at most READ_AHEAD_SEGMENTS + 1 segments. Throws where one of them is
 * corrupt or out of reach.
 */
export async function* readSegments(
  segments: Segments,
  rope: readonly Segment[],
): AsyncGenerator<Uint8Array, void, void> {
  const isKept = rope.reduce((bytes, { size }) => bytes + size, 0) <= READ_KEPT_BYTES_MAX;
  const ahead: Promise<Uint8Array>[] = [];
  const fetchNext = (index: number) => {
    const segment = rope[index];
    if (!segment) return;
    const bytes = segments.get(segment, isKept);
    // Seen when its turn comes; a reader that stops before that must not leave it unhandled.
    bytes.catch(() => {});
    ahead.push(bytes);
  };
  for (let index = 0; index < READ_AHEAD_SEGMENTS; index++) fetchNext(index);
  for (let index = 0; index < rope.length; index++) {
    fetchNext(index + READ_AHEAD_SEGMENTS);
    const bytes = await ahead.shift();
    if (bytes) yield bytes;
  }
}

/** The bytes of a range; only segments that hold some of it are fetched. */
export async function* readRange(
  segments: Segments,
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
  for await (const bytes of readSegments(segments, parts.map((part) => part.segment))) {
    const place = parts[index++]?.at ?? 0;
    yield bytes.subarray(Math.max(0, start - place), Math.min(bytes.length, end + 1 - place));
  }
}

/** The lines of a window; only segments that hold some of them are fetched. */
export async function* readLines(
  segments: Segments,
  parts: readonly SegmentLines[],
): AsyncGenerator<Uint8Array, void, void> {
  let index = 0;
  for await (const bytes of readSegments(segments, parts.map((part) => part.segment))) {
    const part = parts[index++];
    if (part) yield cutLines(bytes, part);
  }
}
