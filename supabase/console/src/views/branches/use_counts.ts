/** How much branches change, and with how many conflicts. */
import { useEffect, useState } from "preact/hooks";
import { type Branch, type BranchDetails, isUnfinished, readBranch } from "../../api/branches.ts";
import { BRANCHES_COUNTED_MAX } from "../../limits.ts";
import { hasShareLeft } from "../../session/rate_window.ts";

export type Counts = BranchDetails["counts"];

/** Reads the counts of the newest unfinished branches one by one, while agents leave enough of the project's requests. */
export function useCounts(projectId: string, branches: readonly Branch[]): ReadonlyMap<string, Counts> {
  const [counts, setCounts] = useState<ReadonlyMap<string, Counts>>(new Map());
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      for (const { name } of branches.filter(isUnfinished).slice(0, BRANCHES_COUNTED_MAX)) {
        if (!hasShareLeft(projectId)) return;
        const read = await readBranch(projectId, name, { limit: 1 }, abort.signal);
        if (abort.signal.aborted) return;
        setCounts((before) => new Map(before).set(name, read.counts));
      }
    };
    // The column stays empty; the branch's own page reports the failure.
    read().catch(() => {});
    return () => abort.abort();
  }, [projectId, branches]);
  return counts;
}
