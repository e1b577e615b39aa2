/**
 * Garbage collection: objects that nothing readable needs any more, and of past days uploads that were never committed.
 */
import { SWEEP_PAGE_OBJECTS } from "../limits.ts";
import type { DeletedAccount, DeletedProject, Metadata, Sweep } from "../ports/metadata.ts";
import { sweepDeleted } from "./sweep_deleted.ts";
import { segmentName } from "../ports/segment_name.ts";
import type { Segments } from "../ports/segments.ts";

/** Other objects in the bucket are not the service's to remove. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface SweepResult {
  /** Objects looked at, and how many of those were removed. */
  readonly seen: number;
  readonly removed: number;
  /** Whether there was nothing to do. */
  readonly isDone: boolean;
}

/**
 * Does one step of each kind: what erasures have left, the objects of dead segments, and what was deleted or never
 * committed. So none of them waits until another one has nothing left to do. Concurrent slices are safe. With `begun`, an
 * ISO time, those who go on until nothing is left come to an end while others write.
 */
export async function sweepSlice(
  metadata: Metadata,
  segments: Segments,
  begun?: string,
): Promise<SweepResult> {
  const hasErased = await metadata.sweepErasures(begun);
  const dead = await removeDead(metadata, segments);
  const sweep = await metadata.nextSweep();
  const { seen, removed } = sweep === null
    ? { seen: 0, removed: 0 }
    : await sweepProject(sweep, metadata, segments);
  const isDone = !hasErased && dead === 0 && sweep === null;
  return { seen: dead + seen, removed: dead + removed, isDone };
}

/** Removes objects that nothing needs, at most SWEEP_PAGE_OBJECTS; returns how many. */
async function removeDead(metadata: Metadata, segments: Segments): Promise<number> {
  const dead = await metadata.deadSegments(SWEEP_PAGE_OBJECTS);
  if (dead.length === 0) return 0;
  // The object first: where this is cut off, the next slice does it again.
  await segments.remove(dead.map(({ name }) => name));
  await metadata.noteRemoved(dead.map(({ id }) => id));
  return dead.length;
}

/** Looks at a page of one project's objects, or removes a page of what was deleted. */
async function sweepProject(
  sweep: Sweep | DeletedProject | DeletedAccount,
  metadata: Metadata,
  segments: Segments,
): Promise<Omit<SweepResult, "isDone">> {
  if (!("through" in sweep)) {
    const { objects } = await sweepDeleted(sweep, metadata, segments);
    return { seen: objects, removed: objects };
  }
  const day = await currentDay(segments, sweep);
  if (day === undefined) {
    await metadata.noteSweep({ projectId: sweep.projectId, sweptThrough: sweep.through, day: null, kept: 0 });
    return { seen: 0, removed: 0 };
  }
  const { projectId } = sweep;
  const keptBefore = day === sweep.day ? sweep.kept : 0;
  // Nothing is added to a past day, so the objects that are kept stay at their places in its list.
  const ids = await segments.list(projectId, day, keptBefore, SWEEP_PAGE_OBJECTS);
  const segmentIds = ids.filter((id) => UUID.test(id));
  const unreferenced = segmentIds.length === 0 ? [] : await metadata.unreferenced(projectId, segmentIds);
  await segments.remove(unreferenced.map((id) => segmentName(projectId, new Date(day), id)));
  const isDayDone = ids.length < SWEEP_PAGE_OBJECTS;
  await metadata.noteSweep({
    projectId,
    sweptThrough: isDayDone ? day : sweep.sweptThrough ?? dayBefore(day),
    day: isDayDone ? null : day,
    kept: isDayDone ? 0 : keptBefore + ids.length - unreferenced.length,
  });
  return { seen: ids.length, removed: unreferenced.length };
}

/** The day to continue with: the first one with objects that is not swept. */
async function currentDay(segments: Segments, sweep: Sweep): Promise<string | undefined> {
  if (sweep.day !== null) return sweep.day;
  const days = await segments.days(sweep.projectId);
  return days.find((day) => day > (sweep.sweptThrough ?? "") && day <= sweep.through);
}

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}
