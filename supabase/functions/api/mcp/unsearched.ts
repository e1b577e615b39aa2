/** Tells a model which files a search did not search. */
import type { Unsearched, UnsearchedReason } from "../contract/search.ts";
import { shownPath } from "./text.ts";
import { counted } from "../runtime/counted.ts";

/** Longest list of paths, in UTF-16 code units; the first path is always shown. */
const PATHS_LENGTH_MAX = 800;

/** Why a file was not searched, and what the model can do. */
const WORDS: Readonly<Record<UnsearchedReason, string>> = {
  too_large: "too large for this search: grep_files reads up to 10 MB, read_file any size",
  bounds: "more text than one search may read: narrow the search with path or glob",
  pending: "changed just now: try again in a few seconds",
  not_indexable: "could not be indexed: use grep_files or read_file",
  too_many_words: "only the words at its beginning are indexed: use grep_files",
  busy: "other searches were running: try again",
  unreadable: "could not be read just now: try again",
};

/** Lists the files that were not searched, why, and what to do. */
export function describeUnsearched({ files, paths, reasons }: Unsearched): string {
  const why = reasons.map((reason) => WORDS[reason]).join("; ");
  return `NOT SEARCHED: ${counted(files, "file")} (${why}): ${someOf(paths, files)}`;
}

/** The paths that fit, and the number of further files. */
export function someOf(paths: readonly string[], files: number): string {
  let shown = "";
  let count = 0;
  for (const path of paths) {
    const name = shownPath(path);
    if (count > 0 && shown.length + name.length > PATHS_LENGTH_MAX) break;
    shown += `${count++ === 0 ? "" : ", "}${name}`;
  }
  return count === files ? shown : `${shown}, and ${files - count} more`;
}
