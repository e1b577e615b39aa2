/**
 * Finds the lines in which two texts differ, by the greedy algorithm of Myers (1986, "An O(ND) difference algorithm and
 * its variations"), in slices and within a bound. Where it does not find the shortest difference within the bound, it
 * returns a longer one. The same texts always give the same result.
 */
import { DIFF_EDITS_MAX, DIFF_SEARCH_UNITS_MAX } from "../limits.ts";
import type { Work } from "../runtime/work.ts";

/** The lines of a text. Each includes its line feed; the last one may have none. */
export interface Lines {
  readonly text: string;
  /** Where each line begins, and where the last one ends. */
  readonly starts: readonly number[];
}

/** Old lines `oldFrom` to `oldTo` (exclusive, from 0) are replaced by new lines `newFrom` to `newTo`. */
export interface Change {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** Units of work for each line, in addition to its length: to find it, to compare it, and to look it up. */
const SPLIT_UNITS = 8;
const COMPARE_UNITS = 16;
const LOOK_UP_UNITS = 128;
const COPY_UNITS = 8;
/** Units of work for each diagonal that is followed, in addition to the lines on it. */
const DIAGONAL_UNITS = 4;

export async function splitLines(text: string, work: Work): Promise<Lines> {
  const starts = [0];
  for (let feed = text.indexOf("\n"); feed >= 0; feed = text.indexOf("\n", feed + 1)) {
    starts.push(feed + 1);
    if (work.add(SPLIT_UNITS)) await work.pause();
  }
  if (starts.at(-1) !== text.length) starts.push(text.length);
  return { text, starts };
}

export function lineCount({ starts }: Lines): number {
  return starts.length - 1;
}

export function lineAt({ text, starts }: Lines, index: number): string {
  return text.slice(starts[index], starts[index + 1]);
}

/** The changes from one text to the other, in order; no two are adjacent. */
export async function lineChanges(before: Lines, after: Lines, work: Work): Promise<Change[]> {
  const [oldCount, newCount] = [lineCount(before), lineCount(after)];
  const shorter = Math.min(oldCount, newCount);
  const isSame = (old: number, now: number) => lineAt(before, old) === lineAt(after, now);
  let head = 0;
  for (; head < shorter && isSame(head, head); head++) if (work.add(COMPARE_UNITS)) await work.pause();
  let tail = 0;
  for (; tail < shorter - head && isSame(oldCount - 1 - tail, newCount - 1 - tail); tail++) {
    if (work.add(COMPARE_UNITS)) await work.pause();
  }
  const oldEnd = oldCount - tail;
  const newEnd = newCount - tail;
  const { old, now } = await commonLines(before, after, { head, oldEnd, newEnd }, work);
  const partners = await findPartners(old.ids, now.ids, work);
  const changes: Change[] = [];
  let [oldFrom, newFrom] = [head, head];
  const changeUntil = (oldTo: number, newTo: number) => {
    if (oldTo > oldFrom || newTo > newFrom) changes.push({ oldFrom, oldTo, newFrom, newTo });
    [oldFrom, newFrom] = [oldTo + 1, newTo + 1];
  };
  for (let index = 0; index < partners.length; index++) {
    const partner = partners[index] ?? -1;
    if (partner >= 0) changeUntil(old.places[index] ?? 0, now.places[partner] ?? 0);
    if (work.add(COPY_UNITS)) await work.pause();
  }
  changeUntil(oldEnd, newEnd);
  return changes;
}

/**
 * The lines that both texts contain; the others certainly changed. `ids`: by line, a number that is the same for equal
 * lines. `places`: by line, its index among all lines.
 */
async function commonLines(
  before: Lines,
  after: Lines,
  { head, oldEnd, newEnd }: { readonly head: number; readonly oldEnd: number; readonly newEnd: number },
  work: Work,
) {
  const ids = new Map<string, number>();
  const oldIds: number[] = [];
  // If one side is empty, no line is common.
  for (let index = head; index < oldEnd && head < newEnd; index++) {
    const line = lineAt(before, index);
    const id = ids.get(line) ?? ids.size;
    ids.set(line, id);
    oldIds.push(id);
    if (work.add(LOOK_UP_UNITS + line.length)) await work.pause();
  }
  const isInBoth = new Uint8Array(ids.size);
  const now = { ids: [] as number[], places: [] as number[] };
  for (let index = head; index < newEnd && ids.size > 0; index++) {
    const line = lineAt(after, index);
    const id = ids.get(line);
    if (id !== undefined) {
      isInBoth[id] = 1;
      now.ids.push(id);
      now.places.push(index);
    }
    if (work.add(LOOK_UP_UNITS + line.length)) await work.pause();
  }
  const old = { ids: [] as number[], places: [] as number[] };
  for (let index = 0; index < oldIds.length; index++) {
    const id = oldIds[index] ?? 0;
    if (work.add(COPY_UNITS)) await work.pause();
    if (isInBoth[id] === 0) continue;
    old.ids.push(id);
    old.places.push(head + index);
  }
  return { old, now };
}

/**
 * For each line of `old`, the index of its unchanged partner in `now`, ascending; or -1. `reached[d][i]` is the
 * furthest index in `old` after d removals and additions on the diagonal `2 * i - d` (index in `old` minus index in
 * `now`).
 */
async function findPartners(old: readonly number[], now: readonly number[], work: Work): Promise<Int32Array> {
  const partners = new Int32Array(old.length).fill(-1);
  if (old.length === 0 || now.length === 0) return partners;
  const reached: Int32Array[] = [];
  let best = { edits: 0, index: 0, sum: -1 };
  let units = 0;
  search: for (let edits = 0; edits <= DIFF_EDITS_MAX && units <= DIFF_SEARCH_UNITS_MAX; edits++) {
    const last = reached[edits - 1];
    const row = new Int32Array(edits + 1);
    reached.push(row);
    for (let index = 0; index <= edits; index++) {
      const diagonal = 2 * index - edits;
      const start = last ? stepFrom(last, index, edits).start : 0;
      let at = start;
      while (at < old.length && at - diagonal < now.length && old[at] === now[at - diagonal]) at++;
      row[index] = at;
      const sum = 2 * at - diagonal;
      const isInside = at <= old.length && at - diagonal <= now.length;
      if (isInside && sum > best.sum) best = { edits, index, sum };
      if (isInside && sum === old.length + now.length) break search;
      units += DIAGONAL_UNITS + at - start;
      if (work.add(DIAGONAL_UNITS + at - start)) await work.pause();
    }
  }
  let { index } = best;
  for (let { edits } = best; edits >= 0; edits--) {
    const diagonal = 2 * index - edits;
    const last = reached[edits - 1];
    const step = last ? stepFrom(last, index, edits) : { start: 0, index: 0 };
    for (let at = step.start; at < (reached[edits]?.[index] ?? 0); at++) partners[at] = at - diagonal;
    index = step.index;
  }
  return partners;
}

/** The better step to the diagonal `index` with one more edit, adding or removing a line; and the diagonal it came from. */
function stepFrom(last: Int32Array, index: number, edits: number): { start: number; index: number } {
  const added = last[index] ?? 0;
  const removed = last[index - 1] ?? 0;
  const isAdded = index === 0 || (index < edits && removed < added);
  return isAdded ? { start: added, index } : { start: removed + 1, index: index - 1 };
}
