/** Finds the segments that contain some lines of a text by their line feed counts, and reads those lines. */
import type { Segment } from "../ports/segments.ts";
import { readSegments, type SegmentSource } from "./read_segments.ts";

/** Lines `from` to `to`, from 1, both inclusive; or the last `last` lines. */
export type LineQuery = { readonly from: number; readonly to: number } | { readonly last: number };

/** A part of a segment: from after its `skipped`-th line feed to after its `until`-th one (null: to its end). */
export interface SegmentLines {
  readonly segment: Segment;
  readonly skipped: number;
  readonly until: number | null;
}

/** Parses `from-to`, `from-` (to the end) or `-n` (the last n); null where the text has another form. */
export function parseLines(text: string): LineQuery | null {
  const match = /^(\d{0,10})-(\d{0,10})$/.exec(text);
  if (!match) return null;
  const [, first = "", last = ""] = match;
  if (first === "") return Number(last) >= 1 ? { last: Number(last) } : null;
  const from = Number(first);
  const to = last === "" ? Number.MAX_SAFE_INTEGER : Number(last);
  return from >= 1 && to >= from ? { from, to } : null;
}

/** The number of lines of a text. A line ends with its line feed; what follows the last one is a line if not empty. */
export function countLines(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  const feeds = segments.reduce((total, segment) => total + segment.newlines, 0);
  return last && !last.endsWithNewline ? feeds + 1 : feeds;
}

/**
 * The window, or null where it begins beyond the last line. `parts` are in order; their bytes joined are the lines with
 * their line feeds.
 */
export function lineWindow(segments: readonly Segment[], query: LineQuery) {
  const totalLines = countLines(segments);
  const startLine = "last" in query ? Math.max(1, totalLines - query.last + 1) : query.from;
  const endLine = "last" in query ? totalLines : Math.min(query.to, totalLines);
  if (startLine > totalLines) return null;
  const parts: SegmentLines[] = [];
  let before = 0;
  for (const segment of segments) {
    const through = before + segment.newlines;
    // The part of this segment from after the text's line feed startLine - 1, up to its line feed endLine.
    const skipped = Math.max(0, startLine - 1 - before);
    const isBeforeStart = skipped > segment.newlines ||
      (skipped === segment.newlines && skipped > 0 && segment.endsWithNewline);
    const isAfterEnd = before >= endLine;
    if (!isBeforeStart && !isAfterEnd) {
      parts.push({ segment, skipped, until: through >= endLine ? endLine - before : null });
    }
    before = through;
  }
  return { startLine, endLine, totalLines, parts };
}

/** Yields the lines of a window; only segments that contain some of them are fetched. */
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

/** Cuts the part out of its segment's bytes. */
export function cutLines(bytes: Uint8Array, { skipped, until }: SegmentLines): Uint8Array {
  const end = until === null ? bytes.length : afterNewline(bytes, until);
  return bytes.subarray(afterNewline(bytes, skipped), end);
}

/** The offset after the n-th line feed. */
function afterNewline(bytes: Uint8Array, n: number): number {
  let offset = 0;
  for (let count = 0; count < n && offset < bytes.length; offset++) if (bytes[offset] === 0x0a) count++;
  return offset;
}
