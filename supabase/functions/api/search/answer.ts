/** What a search uses and what it returns, however it is made. */
import type { Gate } from "../auth/gate.ts";
import type { FileRecord } from "../ports/files.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Embedder, IndexedScope, Skipped, Unsearched } from "../ports/search_index.ts";
import type { SegmentSource } from "../files/read_segments.ts";
import type { Deadline } from "../runtime/deadline.ts";
import type { LiveReads } from "./live_reads.ts";
import type { Match } from "./snippet.ts";

/** The parts of a request with which files are read that are not in the index. */
export interface LiveSource extends SegmentSource {
  readonly request: Pick<Request, "signal">;
  readonly gate: Pick<Gate, "projectId">;
  readonly deadline: Deadline;
  readonly liveReads: LiveReads;
}

/** The parts of a request that a search uses. */
export interface Searcher extends LiveSource {
  readonly gate: Pick<Gate, "grant" | "caller" | "authorize" | "unwrap" | "projectId" | "addWork">;
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
  /** Text below the directory that was not looked at; null: all of it was. */
  readonly notSearched: Unsearched | null;
  /** What to wait for, until nothing is pending; null where the key sees nothing of the directory. */
  readonly scope: IndexedScope | null;
}
