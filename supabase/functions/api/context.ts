/** The context of a route's handler: one request, and the parts of the service. */
import type { Gate } from "./auth/gate.ts";
import type { RequestCounts } from "./auth/request_counts.ts";
import type { ChangeWatch } from "./changes/change_watch.ts";
import type { HealthProbe } from "./maintenance/health_probe.ts";
import type { InFlightCompactions } from "./files/in_flight_compactions.ts";
import type { Accounts } from "./ports/accounts.ts";
import type { KeyHash } from "./ports/answer.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Embedder } from "./ports/search_index.ts";
import type { Segments } from "./ports/segments.ts";
import type { Background } from "./runtime/background.ts";
import type { BodyBudget } from "./runtime/body_budget.ts";
import type { ByteBudget } from "./runtime/byte_budget.ts";
import type { Clock } from "./runtime/clock.ts";
import type { Deadline } from "./runtime/deadline.ts";
import type { Log } from "./runtime/log.ts";
import type { LruCache } from "./runtime/lru_cache.ts";
import type { ReleaseSlot, Slots } from "./runtime/slots.ts";
import type { IndexWatch } from "./search/index_watch.ts";
import type { LiveReadSlots } from "./search/live_read_slots.ts";

export interface Context {
  readonly request: Request;
  readonly gate: Gate;
  /** How long the request may wait for the back end. */
  readonly deadline: Deadline;
  readonly metadata: Metadata;
  readonly segments: Segments;
  readonly accounts: Accounts;
  /** Memory for large bodies, shared by all requests of the isolate. */
  readonly bodyBudget: BodyBudget;
  /** Memory for reading ahead, shared by all requests of the isolate. */
  readonly readAhead: ByteBudget;
  /** Links that have written their one version, by the hashes of their tokens: no link is used twice. */
  readonly usedLinks: LruCache<KeyHash, true>;
  readonly inFlightCompactions: InFlightCompactions;
  readonly editSlots: Slots;
  /** Slots for commits to one file. */
  readonly commitSlots: Slots;
  /** Requests that wait for changes. */
  readonly changeWatch: ChangeWatch;
  /** Searches that wait for the index. */
  readonly indexWatch: IndexWatch;
  /** Slots for live reads. */
  readonly liveReadSlots: LiveReadSlots;
  /** Request counts that the database does not have yet. */
  readonly requestCounts: RequestCounts;
  /** Null where no model is configured: search works without meaning. */
  readonly embedder: Embedder | null;
  /** Whether database and storage work, shared by all requests of the isolate. */
  readonly health: HealthProbe;
  readonly log: Log;
  /** Origins of browsers that may call `/mcp`, besides loopback ones. */
  readonly mcpAllowedOrigins: readonly string[];
  /** Called after each commit: starts indexing after the response, and sometimes a slice of the sweep. */
  readonly onCommit: () => void;
  readonly background: Background;
  /** Called where files wait to be indexed: starts indexing after the response. */
  readonly onPending: () => void;
  /**
   * Takes one of the account's slots for costly requests; the returned function frees it. Throws 429
   * `RATE_LIMIT_EXCEEDED`, which counts nothing, where no slot becomes free within COSTLY_WAIT_MILLISECONDS.
   */
  readonly beginCostly: () => Promise<ReleaseSlot>;
  /** Indexes some of the files that wait; returns how many. */
  readonly indexBacklog: (begun?: string) => Promise<number>;
  /** Measures waits. */
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs `release` when the handler has returned or thrown. */
  readonly onEnd: (release: () => void) => void;
}
