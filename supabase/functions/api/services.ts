/** What lives as long as the isolate. It saves work; nothing depends on it. */
import { ConsoleSessions } from "./auth/console_sessions.ts";
import { FailedAuthLimiter } from "./auth/failed_auth_limiter.ts";
import { KeyCache } from "./auth/key_cache.ts";
import { InFlightCompactions } from "./files/in_flight_compactions.ts";
import { PendingCompactions } from "./files/pending_compactions.ts";
import { sweepSlice } from "./files/sweep.ts";
import { BODY_BUDGET_BYTES, READ_AHEAD_BUDGET_BYTES, SWEEP_EVERY_COMMITS } from "./limits.ts";
import type { Accounts } from "./ports/accounts.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Segments } from "./ports/segments.ts";
import { ByteBudget } from "./runtime/byte_budget.ts";
import type { Log } from "./runtime/log.ts";
import { IndexScheduler } from "./search/index_scheduler.ts";
import { indexBacklog, type SearchParts } from "./search/indexer.ts";

/** What the service is made of. */
export interface Parts {
  readonly metadata: Metadata;
  readonly segments: Segments;
  readonly accounts: Accounts;
  /** For the search index, which is updated after responses and by the sweep. */
  readonly search: Omit<SearchParts, "readAhead">;
  readonly log: Log;
  /** Secret keys of the Supabase project. */
  readonly secretKeys: readonly [string, ...string[]];
  /** Keeps the isolate alive until the work is done, after the response: EdgeRuntime.waitUntil. */
  readonly background: (work: Promise<unknown>) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type Services = ReturnType<typeof createServices>;

export function createServices(parts: Parts) {
  const readAhead = new ByteBudget(READ_AHEAD_BUDGET_BYTES);
  const search = { ...parts.search, readAhead };
  const indexing = new IndexScheduler(search, parts.background, parts.log);
  const sweepAfterCommit = sweepEverySoManyCommits(parts);
  return {
    keys: new KeyCache(),
    failedAuth: new FailedAuthLimiter(),
    sessions: new ConsoleSessions(parts.secretKeys[0]),
    bodyBudget: new ByteBudget(BODY_BUDGET_BYTES),
    readAhead,
    pendingCompactions: new PendingCompactions(),
    inFlightCompactions: new InFlightCompactions(),
    embedder: search.embedder,
    onCommit: () => {
      indexing.committed();
      sweepAfterCommit();
    },
    onPending: () => indexing.start(),
    indexBacklog: () => indexBacklog(search, parts.log),
  };
}

/** Sweeps one slice in the background after every SWEEP_EVERY_COMMITS commits. A failure is only logged. */
function sweepEverySoManyCommits({ metadata, segments, background, log }: Parts): () => void {
  let commits = 0;
  return () => {
    if (++commits % SWEEP_EVERY_COMMITS !== 0) return;
    background(sweepSlice(metadata, segments).catch((error) => log.backgroundFault("sweep", error)));
  };
}
