/** What a route's handler works with: one request, and the parts of the service. */
import type { Gate } from "./auth/gate.ts";
import type { InFlightCompactions } from "./files/in_flight_compactions.ts";
import type { PendingCompactions } from "./files/pending_compactions.ts";
import type { Accounts } from "./ports/accounts.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Embedder } from "./ports/search_index.ts";
import type { Segments } from "./ports/segments.ts";
import type { ByteBudget } from "./runtime/byte_budget.ts";

export interface Context {
  readonly request: Request;
  readonly gate: Gate;
  readonly metadata: Metadata;
  readonly segments: Segments;
  readonly accounts: Accounts;
  /** Memory for large bodies, shared by all requests of the isolate. */
  readonly bodyBudget: ByteBudget;
  /** Memory for reading ahead, likewise shared. */
  readonly readAhead: ByteBudget;
  readonly pendingCompactions: PendingCompactions;
  readonly inFlightCompactions: InFlightCompactions;
  /** Null where no model is configured: search works without meaning. */
  readonly embedder: Embedder | null;
  /** Called after each commit: indexing, and now and then a slice of the sweep, follow the response. */
  readonly onCommit: () => void;
  /** Called where files wait to be indexed: that is done after the response. */
  readonly onPending: () => void;
  /** Indexes a slice of the files that wait; returns how many. */
  readonly indexBacklog: () => Promise<number>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs `release` when the handler has returned or thrown. */
  readonly onEnd: (release: () => void) => void;
}
