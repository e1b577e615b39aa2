/** Merges the lines of two texts that were changed from the same base, as `git merge-file` does. */
import type { Work } from "../runtime/work.ts";
import { type Change, lineChanges, type Lines, splitLines } from "./line_changes.ts";

/** The base's lines `from` to `to` (exclusive), and the changes of each side within them. */
interface Region {
  readonly from: number;
  to: number;
  readonly ours: Change[];
  readonly theirs: Change[];
}

/** The merged text; null where both sides have changed lines that overlap or touch, and not in the same way. */
export async function mergeLines(
  base: string,
  ours: string,
  theirs: string,
  work: Work,
): Promise<string | null> {
  const [old, left, right] = [
    await splitLines(base, work),
    await splitLines(ours, work),
    await splitLines(theirs, work),
  ];
  const regions = regionsOf(await lineChanges(old, left, work), await lineChanges(old, right, work));
  const parts: string[] = [];
  let at = 0;
  // The numbers of lines by which each side is ahead of the base.
  let [leftShift, rightShift] = [0, 0];
  for (const { from, to, ours, theirs } of regions) {
    parts.push(linesOf(old, at, from));
    at = to;
    const [leftFrom, rightFrom] = [from + leftShift, from + rightShift];
    leftShift += growth(ours);
    rightShift += growth(theirs);
    const leftPart = linesOf(left, leftFrom, to + leftShift);
    const rightPart = linesOf(right, rightFrom, to + rightShift);
    if (work.add(leftPart.length + rightPart.length)) await work.pause();
    if (ours.length > 0 && theirs.length > 0 && leftPart !== rightPart) return null;
    parts.push(ours.length > 0 ? leftPart : rightPart);
  }
  parts.push(linesOf(old, at, old.starts.length - 1));
  return parts.join("");
}

/** The regions of the base that either side has changed, in order; none overlaps or touches the next. */
function regionsOf(ours: readonly Change[], theirs: readonly Change[]): Region[] {
  const all = [
    ...ours.map((change) => ({ change, isOurs: true })),
    ...theirs.map((change) => ({ change, isOurs: false })),
  ].toSorted((one, other) => one.change.oldFrom - other.change.oldFrom);
  const regions: Region[] = [];
  for (const { change, isOurs } of all) {
    let last = regions.at(-1);
    if (!last || change.oldFrom > last.to) {
      last = { from: change.oldFrom, to: change.oldTo, ours: [], theirs: [] };
      regions.push(last);
    }
    last.to = Math.max(last.to, change.oldTo);
    (isOurs ? last.ours : last.theirs).push(change);
  }
  return regions;
}

function growth(changes: readonly Change[]): number {
  return changes.reduce(
    (sum, { oldFrom, oldTo, newFrom, newTo }) => sum + newTo - newFrom - (oldTo - oldFrom),
    0,
  );
}

function linesOf({ text, starts }: Lines, from: number, to: number): string {
  return text.slice(starts[from], starts[to]);
}
