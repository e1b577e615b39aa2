/** The numbers of added and removed lines. */
import { formatCount, formatNumber } from "../format.ts";

export interface LineCounts {
  readonly additions: number;
  readonly deletions: number;
}

/** `+12 −3`. */
export function Counts({ counts: { additions, deletions } }: { readonly counts: LineCounts }) {
  return (
    <span class="line-counts">
      <span class="visually-hidden">
        {`${formatCount(additions, "line")} added, ${formatNumber(deletions)} removed`}
      </span>
      <span aria-hidden="true">
        <span class="added-count">+{formatNumber(additions)}</span>{" "}
        <span class="removed-count">−{formatNumber(deletions)}</span>
      </span>
    </span>
  );
}
