/** What a search of any mode uses, and what it returns. */
import type { Gate } from "../auth/gate.ts";
import type { FileRecord } from "../ports/files.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Embedder, IndexedScope, Skipped, Unsearched } from "../ports/search_index.ts";
import type { SegmentSource } from "../files/read_segments.ts";
import type { Deadline } from "../runtime/deadline.ts";
import type { LiveReadSlots } from "./live_read_slots.ts";
import type { Match } from "./snippet.ts";

/** The parts of a request that live reads use. */
export interface LiveSource extends SegmentSource {
  readonly request: Pick<Request, "signal">;
  readonly gate: Pick<Gate, "projectId">;
  readonly deadline: Deadline;
  readonly liveReadSlots: LiveReadSlots;
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

/** One file: its record and its matches. */
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
  /** Text below the directory that was not searched; null: all of it was. */
  readonly notSearched: Unsearched | null;
  /** The directory whose indexing a search can wait for; null where the key cannot see any of the directory. */
  readonly scope: IndexedScope | null;
}
