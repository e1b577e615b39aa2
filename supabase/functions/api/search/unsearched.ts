/** What a search reports about text that it did not search. */
import { SEARCH_UNSEARCHED_PATHS_MAX } from "../limits.ts";
import type { FileRecord } from "../contract/files.ts";
import type { Unsearched, UnsearchedReason } from "../contract/search.ts";
import type { UnsearchedPage } from "../ports/search_index.ts";
import { comparePaths } from "./path_order.ts";

/** The text that is neither in the index nor read from Storage; null: there is none. */
export function unsearchedOf(
  { files, bytes, paths, reasons, isComplete }: UnsearchedPage,
  isVectorCut = false,
): Unsearched | null {
  if (isVectorCut) return { files: Math.max(files, 1), bytes, paths, reasons: withReason(reasons, "bounds") };
  if (!isComplete) {
    return { files: Math.max(files, 1), bytes, paths, reasons: withReason(reasons, "pending") };
  }
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
