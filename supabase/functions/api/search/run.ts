/** A search as a client asks for it: by whatever mode, and, where it is to wait, once its directory is indexed. */
import type { Metadata } from "../ports/metadata.ts";
import type { Clock } from "../runtime/clock.ts";
import type { EndTurn } from "../runtime/turns.ts";
import type { SearchAnswer, Searcher } from "./answer.ts";
import type { IndexWatch } from "./index_watch.ts";
import type { RankPlan, ScanPlan } from "./plan.ts";
import { rank } from "./rank.ts";
import { scan } from "./scan.ts";

export interface WaitingSearcher extends Searcher {
  readonly metadata: Pick<Metadata, "search">;
  readonly indexWatch: IndexWatch;
  readonly clock: Clock;
  /** Sets off the indexing of what waits for it. */
  readonly onPending: () => void;
  readonly beginCostly: () => Promise<EndTurn>;
}

/**
 * Searches, and where files are not indexed yet, again after up to so many seconds: once they are, or the time is over. A
 * search that waits makes no call meanwhile; one question to the database at a time serves all of its project.
 */
export async function runSearch(
  searcher: WaitingSearcher,
  plan: ScanPlan | RankPlan,
  waitSeconds: number,
): Promise<SearchAnswer> {
  // A search that waits has no turn at costly requests meanwhile.
  const look = async () => {
    const endTurn = await searcher.beginCostly();
    try {
      return await (plan.kind === "scan" ? scan(searcher, plan) : rank(searcher, plan));
    } finally {
      endTurn();
    }
  };
  const { gate, indexWatch, onPending, request: { signal } } = searcher;
  const found = await look();
  if (found.pending > 0) onPending();
  if (found.pending === 0 || found.scope === null || waitSeconds === 0) return found;
  await indexWatch.wait(gate.projectId, found.scope, 1000 * waitSeconds, signal);
  return await look();
}
