/** What a search uses and what it returns, however it is made. */
import type { Gate } from "../auth/gate.ts";
import type { FileRecord } from "../ports/files.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Embedder, Skipped } from "../ports/search_index.ts";
import type { Match } from "./snippet.ts";

/** The parts of a request that a search uses. */
export interface Searcher {
  readonly gate: Pick<Gate, "grant" | "caller" | "authorize" | "unwrap">;
  readonly metadata: Pick<Metadata, "search">;
  /** Null where no model is configured. */
  readonly embedder: Embedder | null;
}

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
