/** Garbage collection of uploads that were never committed: objects of past days that no version references. */
import { SWEEP_PAGE_OBJECTS } from "../limits.ts";
import type { Metadata, Sweep } from "../ports/metadata.ts";
import { segmentName } from "../ports/segment_name.ts";
import type { Segments } from "../ports/segments.ts";

/** Other objects in the bucket are not the service's to remove. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface SweepResult {
  /** Objects listed, and how many of those were removed. */
  readonly seen: number;
  readonly removed: number;
  /** Whether there was nothing to do. */
  readonly isDone: boolean;
}

/** Sweeps at most SWEEP_PAGE_OBJECTS objects of one project. Concurrent slices are safe. */
export async function sweepSlice(metadata: Metadata, segments: Segments): Promise<SweepResult> {
  const sweep = await metadata.nextSweep();
  if (sweep === null) return { seen: 0, removed: 0, isDone: true };
  const day = await currentDay(segments, sweep);
  if (day === undefined) {
    await metadata.noteSweep({ projectId: sweep.projectId, sweptThrough: sweep.through, day: null, kept: 0 });
    return { seen: 0, removed: 0, isDone: false };
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
  return { seen: ids.length, removed: unreferenced.length, isDone: false };
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
