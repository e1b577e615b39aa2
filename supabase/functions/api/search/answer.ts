/** What a search returns, however it was made. */
import type { FileRecord } from "../ports/files.ts";
import type { Skipped } from "../ports/search_index.ts";
import type { Match } from "./snippet.ts";

/** How files were found; `lexical` is `hybrid` without a model. */
export type SearchMode = "text" | "regex" | "semantic" | "hybrid" | "lexical";

/** One file: its record, and what was found in it. */
export interface SearchResult extends FileRecord {
  readonly score: number;
  readonly matches: readonly Match[];
  readonly skipped?: Skipped | undefined;
}

export interface SearchAnswer {
  readonly mode: SearchMode;
  readonly results: readonly SearchResult[];
  readonly hasMore: boolean;
  /** Files whose latest version is not indexed yet. */
  readonly pending: number;
}
