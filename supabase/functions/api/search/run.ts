/** Runs a search of any mode; a search that waits runs again once its directory is indexed. */
import type { IndexedScope } from "../ports/search_index.ts";
import type { ProjectWatch } from "../runtime/project_watch.ts";
import type { ReleaseSlot } from "../runtime/slots.ts";
import type { SearchAnswer, Searcher } from "./answer.ts";
import type { RankPlan, ScanPlan } from "./plan.ts";
import { rank } from "./rank.ts";
import { scan } from "./scan.ts";

export interface WaitingSearcher extends Searcher {
  readonly indexWatch: ProjectWatch<IndexedScope>;
  readonly onPending: () => void;
  readonly beginCostly: () => Promise<ReleaseSlot>;
}

/**
 * Searches. Where files are not indexed yet, it waits up to `waitSeconds` for them and searches again. A waiting search
 * makes no calls itself: one call to the database at a time serves all waiting searches of the project.
 */
export async function runSearch(
  searcher: WaitingSearcher,
  plan: ScanPlan | RankPlan,
  waitSeconds: number,
): Promise<SearchAnswer> {
  // The slot is freed before the wait, so that waiting searches do not block other costly requests.
  const search = async () => {
    const releaseSlot = await searcher.beginCostly();
    try {
      return await (plan.kind === "scan" ? scan(searcher, plan) : rank(searcher, plan));
    } finally {
      releaseSlot();
    }
  };
  const { gate, indexWatch, onPending, request: { signal } } = searcher;
  const found = await search();
  if (found.pending > 0) onPending();
  if (found.pending === 0 || found.scope === null || waitSeconds === 0) return found;
  await indexWatch.wait(gate.projectId, found.scope, 1000 * waitSeconds, signal);
  return await search();
}
