/** Removes the data of a deleted project: the objects first, then the rows. */
import { SWEEP_PAGE_OBJECTS } from "../limits.ts";
import type { DeletedProject, Metadata } from "../ports/metadata.ts";
import { objectName, segmentFolderName } from "../ports/segment_name.ts";
import type { Segments } from "../ports/segments.ts";

/** Objects and rows that a step removed. */
interface Removed {
  readonly objects: number;
  readonly rows: number;
}

/** One step. It may be interrupted anywhere and repeated, and several may run at the same time. */
export async function sweepDeleted(
  deleted: DeletedProject,
  metadata: Metadata,
  segments: Segments,
): Promise<Removed> {
  const objects = await removeObjects(deleted, metadata, segments);
  const rows = objects > 0 ? 0 : await metadata.removeDeletedRows(deleted.projectId);
  return { objects, rows };
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
  await segments.remove(names.map((name) => objectName(projectId, name)));
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
