/**
 * Garbage collection: objects that nothing readable needs any more, and of past days uploads that were never committed.
 */
import type { SweepSlice } from "../contract/service.ts";
import { SWEEP_PAGE_OBJECTS, SWEEP_STEPS_MAX } from "../limits.ts";
import { type DeletedProject, type Metadata, type Sweep, SWEEP_KINDS } from "../ports/metadata.ts";
import { sweepDeleted } from "./sweep_deleted.ts";
import { segmentName } from "../ports/segment_name.ts";
import type { Segments } from "../ports/segments.ts";

/** Other objects in the bucket are not the service's to remove. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type SweepResult = Omit<SweepSlice, "indexed">;

/** What a step did: objects looked at, objects removed, and rows or objects in all. */
interface Step {
  readonly seen: number;
  readonly removed: number;
  readonly work: number;
}

/**
 * Does a step of each kind: what erasures have left, the objects of dead segments, and what was deleted or never
 * committed. So none of them waits until another one has nothing left to do, and in each kind projects take turns.
 * Concurrent slices are safe. With `begun`, an ISO time, it is done once nothing is left of what was due then and of what
 * followed from it, whatever came later.
 */
export async function sweepSlice(
  metadata: Metadata,
  segments: Segments,
  begun?: string,
): Promise<SweepResult> {
  let isDone = true;
  // One transaction each: what one of them locks does not wait for what another one does.
  for (const kind of SWEEP_KINDS) {
    if (await metadata.sweepErasures(kind, begun)) isDone = false;
  }
  const dead = await removeDead(metadata, segments, begun);
  const deleted = await inTurn(
    () => metadata.nextDeletedProject(begun),
    (project) => deletedStep(project, metadata, segments),
  );
  const uploads = await inTurn(
    () => metadata.nextSweep(begun),
    (sweep) => uploadStep(sweep, metadata, segments),
  );
  // Last, since Auth may be out of reach.
  const accountId = await metadata.nextDeletedAccount(begun);
  if (accountId !== null) await metadata.removeAccount(accountId);
  return {
    seen: dead + deleted.seen + uploads.seen,
    removed: dead + deleted.removed + uploads.removed,
    isDone: isDone && dead === 0 && deleted.isDone && uploads.isDone && accountId === null,
  };
}

/** Steps for one project after the other, until they did a page of work: many small projects cost one slice. */
async function inTurn<Project>(
  next: () => Promise<Project | null>,
  step: (project: Project) => Promise<Step>,
): Promise<SweepResult> {
  let [seen, removed, work, steps] = [0, 0, 0, 0];
  for (; steps < SWEEP_STEPS_MAX && work < SWEEP_PAGE_OBJECTS; steps++) {
    const project = await next();
    if (project === null) break;
    const done = await step(project);
    seen += done.seen;
    removed += done.removed;
    work += done.work;
  }
  return { seen, removed, isDone: steps === 0 };
}

/** Removes objects that nothing needs, at most SWEEP_PAGE_OBJECTS; returns how many. */
async function removeDead(metadata: Metadata, segments: Segments, begun?: string): Promise<number> {
  const dead = await metadata.deadSegments(SWEEP_PAGE_OBJECTS, begun);
  if (dead.length === 0) return 0;
  // The object first: where this is cut off, the next slice does it again.
  await segments.remove(dead.map(({ name }) => name));
  await metadata.noteRemoved(dead.map(({ id }) => id));
  return dead.length;
}

/** Removes a page of what a deleted project held. */
async function deletedStep(project: DeletedProject, metadata: Metadata, segments: Segments): Promise<Step> {
  const { objects, rows } = await sweepDeleted(project, metadata, segments);
  return { seen: objects, removed: objects, work: objects + rows };
}

/** Looks at a page of one project's objects. */
async function uploadStep(sweep: Sweep, metadata: Metadata, segments: Segments): Promise<Step> {
  const day = await currentDay(segments, sweep);
  if (day === undefined) {
    await metadata.noteSweep({ projectId: sweep.projectId, sweptThrough: sweep.through, day: null, kept: 0 });
    return { seen: 0, removed: 0, work: 0 };
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
  return { seen: ids.length, removed: unreferenced.length, work: ids.length };
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
