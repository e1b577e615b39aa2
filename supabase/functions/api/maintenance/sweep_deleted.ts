/** What the sweep removes of a deleted project: the objects first, then its rows. */
import { SWEEP_PAGE_OBJECTS } from "../limits.ts";
import type { DeletedProject, Metadata } from "../ports/metadata.ts";
import { objectName, segmentFolderName } from "../ports/segment_name.ts";
import type { Segments } from "../ports/segments.ts";

/** Objects and rows that a step removed. */
interface Removed {
  readonly objects: number;
  readonly rows: number;
}

/** Each step may be cut off anywhere and repeated, and several may run at the same time. */
export async function sweepDeleted(
  deleted: DeletedProject,
  metadata: Metadata,
  segments: Segments,
): Promise<Removed> {
  const objects = await removeObjects(deleted, metadata, segments);
  const rows = objects > 0 ? 0 : await metadata.removeDeletedRows(deleted.projectId);
  return { objects, rows };
}

/** Removes what an earlier slice has noted and perhaps not removed, else a page of what storage lists. */
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

/** Whatever lies in the folder of a day, below the project's own. */
async function listObjects(projectId: string, segments: Segments): Promise<readonly string[]> {
  for (const day of await segments.days(projectId)) {
    const names = await segments.list(projectId, day, 0, SWEEP_PAGE_OBJECTS);
    if (names.length > 0) return names.map((name) => `${segmentFolderName(new Date(day))}/${name}`);
  }
  return [];
}
