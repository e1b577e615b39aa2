/** Unified diffs: of two versions, and of what an edit would do. */
import type { StructuredPatchHunk } from "diff";
import { isBinaryMediaType } from "./media_type.ts";
import { fail } from "../errors.ts";
import { DIFF_BYTES_MAX, DIFF_TIMEOUT_MILLISECONDS } from "../limits.ts";
import type { Side } from "../ports/files.ts";
import { readText, type SegmentSource } from "./read_segments.ts";

export interface Diff {
  /** Unified, three lines of context; "" where nothing changed. */
  readonly diff: string;
  /** Lines. */
  readonly additions: number;
  readonly deletions: number;
}

/** Throws DIFF_TOO_LARGE for a side over DIFF_BYTES_MAX. */
export function ensureDiffable(sizeBytes: number): void {
  if (sizeBytes <= DIFF_BYTES_MAX) return;
  fail("DIFF_TOO_LARGE", "One of the versions is too large to compare.", {
    limitBytes: DIFF_BYTES_MAX,
    sizeBytes,
  });
}

/** The text of one side; "" for null. Throws NOT_TEXT and DIFF_TOO_LARGE. */
export async function readSide(source: SegmentSource, side: Side | null): Promise<string> {
  if (side === null) return "";
  if (isBinaryMediaType(side.mimeType) || !side.segments.every((segment) => segment.isText)) {
    fail("NOT_TEXT", "Binary content cannot be compared.");
  }
  ensureDiffable(side.size);
  return await readText(source, side.segments);
}

/** The diff from one text to another, both of the file at `path`. */
export async function diffTexts(path: string, before: string, after: string): Promise<Diff> {
  if (before === after) return { diff: "", additions: 0, deletions: 0 };
  // Loaded with the first diff, so that a cold start does not pay for it.
  const { FILE_HEADERS_ONLY, formatPatch, structuredPatch } = await import("diff");
  const options = { context: 3, timeout: DIFF_TIMEOUT_MILLISECONDS };
  const compare = () => structuredPatch(path, path, before, after, undefined, undefined, options);
  const hasTwoSides = before !== "" && after !== "";
  const patch = hasTwoSides ? compare() : undefined;
  // No diff, or none found in time: everything is removed and everything added.
  const hunks = patch?.hunks ?? [wholeHunk(before, after)];
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    diff: formatPatch({
      oldFileName: path,
      newFileName: path,
      oldHeader: undefined,
      newHeader: undefined,
      hunks,
    }, FILE_HEADERS_ONLY),
    additions: lines.filter((line) => line.startsWith("+")).length,
    deletions: lines.filter((line) => line.startsWith("-")).length,
  };
}

/** One hunk that removes all old lines and adds all new ones: maybe longer than necessary, but correct. */
function wholeHunk(before: string, after: string): StructuredPatchHunk {
  const removed = linesOf(before);
  const added = linesOf(after);
  return {
    // formatPatch writes 0 for a side without lines.
    oldStart: 1,
    oldLines: removed.length,
    newStart: 1,
    newLines: added.length,
    lines: [...marked("-", before, removed), ...marked("+", after, added)],
  };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function marked(sign: "-" | "+", text: string, lines: readonly string[]): string[] {
  const result = lines.map((line) => sign + line);
  if (lines.length > 0 && !text.endsWith("\n")) result.push("\\ No newline at end of file");
  return result;
}
