/** What a search did not look at, in words for a model. */
import type { Unsearched, UnsearchedReason } from "../ports/search_index.ts";
import { counted, cut } from "./text.ts";

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
  const more = files > paths.length ? `, and ${files - paths.length} more` : "";
  const why = reasons.map((reason) => WORDS[reason]).join("; ");
  return `NOT SEARCHED: ${counted(files, "file")} (${why}): ${
    cut(paths.join(", "), PATHS_LENGTH_MAX)
  }${more}`;
}
