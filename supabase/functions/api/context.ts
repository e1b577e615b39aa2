/** What a route's handler works with: one request, and the service's parts. */
import type { ByteBudget } from "./runtime/byte_budget.ts";
import type { Query } from "./http/query.ts";
import type { Gate } from "./auth/gate.ts";
import type { Log } from "./runtime/log.ts";
import type { DueMerges } from "./files/pending_compactions.ts";
import type { MergesUnderWay } from "./files/in_flight_compactions.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Embedder } from "./ports/search_index.ts";
import type { Segments } from "./ports/segments.ts";

export interface Context {
  readonly request: Request;
  /** The request's path below the function's own address, as it came: not decoded, not folded. */
  readonly rawPath: string;
  readonly query: Query;
  readonly gate: Gate;
  readonly metadata: Metadata;
  readonly segments: Segments;
  /** Memory for large bodies, shared by all requests of the isolate. */
  readonly budget: ByteBudget;
  /** Memory for reading ahead, shared likewise. */
  readonly readAhead: ByteBudget;
  /** Null where no model is set up: search goes without meaning. */
  readonly embedder: Embedder | null;
  /** Indexes some of what waits: a slice, and says how many files that were. */
  readonly indexBacklog: () => Promise<number>;
  /** Says that something waits to be indexed; that is done after the answer. */
  readonly onPending: () => void;
  readonly merges: MergesUnderWay;
  readonly dueMerges: DueMerges;
  readonly log: Log;
  /** Secret keys of the Supabase project, for whoever runs the service. */
  readonly operatorKeys: readonly string[];
  /** Says that a version was committed: every so often a slice of the sweep follows. */
  readonly onCommit: () => void;
  readonly now: () => number;
  /** Ends when the request has been answered or given up; then what it holds is released. */
  readonly released: (release: () => void) => void;
}
