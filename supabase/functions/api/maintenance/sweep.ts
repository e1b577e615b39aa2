/** Garbage collection: removes objects that no readable version needs, and uploads of past days that no commit took. */
import type { SweepSlice } from "../contract/service.ts";
import { SWEEP_PAGE_OBJECTS, SWEEP_STEPS_MAX } from "../limits.ts";
import { type Metadata, SWEEP_KINDS } from "../ports/metadata.ts";
import type { DeletedProject, Sweep } from "../ports/schemas.ts";
import { segmentFolderName, segmentName } from "../ports/segment_name.ts";
import type { Segments } from "../ports/segments.ts";

/** The names of the service's objects. The sweep leaves other objects of the bucket alone. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type SweepResult = Omit<SweepSlice, "indexed">;

/** The outcome of a step: objects examined, objects removed, and rows and objects in all. */
interface Step {
  readonly seen: number;
  readonly removed: number;
  readonly work: number;
}

/**
 * Does one step of each kind of work: erasures, objects of dead segments, deleted projects, uploads without a commit,
 * and deleted accounts. So no kind waits until another one is finished, and within a kind the projects alternate.
 * Concurrent slices are safe. With `begun`, an ISO time, the sweep is done once all work that was due by then, and its
 * consequences, are finished; it does not wait for later work.
 */
export async function sweepSlice(
  metadata: Metadata,
  segments: Segments,
  begun?: string,
): Promise<SweepResult> {
  let isDone = true;
  // One transaction for each kind, so that its locks are released before the next kind begins.
  for (const kind of SWEEP_KINDS) {
    if (await metadata.sweepErasures(kind, begun)) isDone = false;
  }
  const dead = await removeDead(metadata, segments, begun);
  const deleted = await stepsByProject(
    () => metadata.nextDeletedProject(begun),
    (project) => deletedStep(project, metadata, segments),
  );
  const uploads = await stepsByProject(
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

/** Does a step for one project after the other, up to a page of work, so that many small projects need one slice only. */
async function stepsByProject<Project>(
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

/** Removes the objects of dead segments, at most SWEEP_PAGE_OBJECTS; returns how many. */
async function removeDead(metadata: Metadata, segments: Segments, begun?: string): Promise<number> {
  const dead = await metadata.deadSegments(SWEEP_PAGE_OBJECTS, begun);
  if (dead.length === 0) return 0;
  // The objects first: if this slice is interrupted, the next one repeats the work.
  await segments.remove(dead.map(({ name }) => name));
  await metadata.noteRemoved(dead.map(({ id }) => id));
  return dead.length;
}

/** Examines a page of one project's objects, and removes those without a row. */
async function uploadStep(sweep: Sweep, metadata: Metadata, segments: Segments): Promise<Step> {
  const day = await currentDay(segments, sweep);
  if (day === undefined) {
    await metadata.noteSweep({ projectId: sweep.projectId, sweptThrough: sweep.through, day: null, kept: 0 });
    return { seen: 0, removed: 0, work: 0 };
  }
  const { projectId } = sweep;
  const keptBefore = day === sweep.day ? sweep.kept : 0;
  // Uploads no longer reach a past day, so the objects that are kept do not move in its list.
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

/** The day to continue with: the first one with objects that the sweep has not finished. */
async function currentDay(segments: Segments, sweep: Sweep): Promise<string | undefined> {
  if (sweep.day !== null) return sweep.day;
  const days = await segments.days(sweep.projectId);
  return days.find((day) => day > (sweep.sweptThrough ?? "") && day <= sweep.through);
}

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}

/**
 * Removes a page of a deleted project's objects, or where it has none, of its rows. It may be interrupted anywhere and
 * repeated, and several may run at the same time.
 */
async function deletedStep(project: DeletedProject, metadata: Metadata, segments: Segments): Promise<Step> {
  const objects = await removeObjects(project, metadata, segments);
  const rows = objects > 0 ? 0 : await metadata.removeDeletedRows(project.projectId);
  return { seen: objects, removed: objects, work: objects + rows };
}

/** Removes the objects that an earlier slice noted and perhaps did not remove; otherwise a page of those in Storage. */
async function removeObjects(
  { projectId, objects, isEmptied }: DeletedProject,
  metadata: Metadata,
  segments: Segments,
): Promise<number> {
  let names = objects;
  if (names.length === 0) {
    names = isEmptied ? [] : await listObjects(projectId, segments);
    if (names.length === 0) return 0;
    await metadata.noteDeletedObjects(projectId, names);
  }
  await segments.remove(names.map((name) => `${projectId}/${name}`));
  await metadata.removeDeletedSegments(projectId, names);
  return names.length;
}

/** A page of objects of the first day that has any; names are relative to the project's folder. */
async function listObjects(projectId: string, segments: Segments): Promise<readonly string[]> {
  for (const day of await segments.days(projectId)) {
    const names = await segments.list(projectId, day, 0, SWEEP_PAGE_OBJECTS);
    if (names.length > 0) return names.map((name) => `${segmentFolderName(new Date(day))}/${name}`);
  }
  return [];
}
