/** What a search did not look at, in words for a model. */
import type { Unsearched, UnsearchedReason } from "../contract/search.ts";
import { counted, shownPath } from "./text.ts";

/** In UTF-16 code units, of the paths after the first. */
const PATHS_LENGTH_MAX = 800;

/** Why, and what the model can do. */
const WORDS: Readonly<Record<UnsearchedReason, string>> = {
  too_large: "too large for this search: grep_files reads up to 10 MB, read_file any size",
  bounds: "more than one search reads: narrow it with path or glob",
  pending: "changed just now: try again in a few seconds",
  not_indexable: "could not be indexed: use grep_files or read_file",
  too_many_words: "searched by the words of the beginning only: use grep_files",
  busy: "other searches were reading: try again",
  unreadable: "could not be read just now: try again",
};

/** Says that an empty answer is no answer for these, which ones they are, and what to do. */
export function describeUnsearched({ files, paths, reasons }: Unsearched): string {
  const why = reasons.map((reason) => WORDS[reason]).join("; ");
  return `NOT SEARCHED: ${counted(files, "file")} (${why}): ${someOf(paths, files)}`;
}

/** The paths as far as there is room, and how many files there are besides. */
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
