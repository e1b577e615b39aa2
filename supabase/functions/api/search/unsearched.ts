/** The report of a search about text that it did not search. */
import { SEARCH_UNSEARCHED_PATHS_MAX } from "../limits.ts";
import type { FileRecord } from "../contract/files.ts";
import type { Unsearched, UnsearchedReason } from "../contract/search.ts";
import type { UnsearchedPage } from "../ports/schemas.ts";

/** The text that is neither in the index nor read from Storage; null: all text was searched. */
export function unsearchedOf(
  { files, bytes, paths, reasons, isComplete }: UnsearchedPage,
  isVectorCut = false,
): Unsearched | null {
  const reason = isVectorCut ? "bounds" : isComplete ? null : "pending";
  if (reason) return { files: Math.max(files, 1), bytes, paths, reasons: withReason(reasons, reason) };
  return files === 0 ? null : { files, bytes, paths, reasons };
}

/** `unsearched` with one more file. */
export function addUnsearched(
  unsearched: Unsearched | null,
  { path, size }: Pick<FileRecord, "path" | "size">,
  reason: UnsearchedReason,
): Unsearched {
  const { files, bytes, paths, reasons } = unsearched ?? { files: 0, bytes: 0, paths: [], reasons: [] };
  return {
    files: files + 1,
    bytes: bytes + size,
    paths: [...paths, path].sort(comparePaths).slice(0, SEARCH_UNSEARCHED_PATHS_MAX),
    reasons: withReason(reasons, reason),
  };
}

function withReason(reasons: readonly UnsearchedReason[], reason: UnsearchedReason): UnsearchedReason[] {
  return [...new Set([...reasons, reason])].sort();
}

/** Orders paths by their bytes in UTF-8, as the database does. */
export function comparePaths(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return place(one) - place(other);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs, which stand for the largest code points, come after all other code units. */
function place(codeUnit: number): number {
  const isSurrogate = codeUnit >= 0xd800 && codeUnit <= 0xdfff;
  return isSurrogate ? codeUnit + 0x1_0000 : codeUnit;
}
