/** The inputs and the result of a search in any mode. */
import type { Gate } from "../auth/gate.ts";
import type { SearchResult, SearchResults, Unsearched } from "../contract/search.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Embedder, IndexedScope } from "../ports/search_index.ts";
import type { SegmentSource } from "../files/read_segments.ts";
import type { Deadline } from "../runtime/deadline.ts";
import type { LiveReadSlots } from "./live_read_slots.ts";

export interface LiveSource extends SegmentSource {
  readonly request: Pick<Request, "signal">;
  readonly gate: Pick<Gate, "projectId">;
  readonly deadline: Deadline;
  readonly liveReadSlots: LiveReadSlots;
}

export interface Searcher extends LiveSource {
  readonly gate: Pick<Gate, "grant" | "caller" | "authorize" | "unwrap" | "projectId" | "addWork">;
  readonly metadata: Pick<Metadata, "search">;
  /** Null where no model is configured. */
  readonly embedder: Embedder | null;
}

export interface SearchAnswer {
  readonly mode: SearchResults["mode"];
  readonly results: readonly SearchResult[];
  readonly hasMore: boolean;
  /** Files whose latest version is not indexed yet. */
  readonly pending: number;
  /** Text below the directory that was not searched; null: all of it was. */
  readonly notSearched: Unsearched | null;
  /** The directory whose indexing a search can wait for; null where the key cannot see any of the directory. */
  readonly scope: IndexedScope | null;
}
