/** What the sweep removes of deleted projects and accounts: the objects of a project first, then its rows. */
import { SWEEP_PAGE_OBJECTS } from "../limits.ts";
import type { DeletedAccount, DeletedProject, Metadata } from "../ports/metadata.ts";
import { objectName, segmentFolderName } from "../ports/segment_name.ts";
import type { Segments } from "../ports/segments.ts";

/** Objects and rows that a slice removed. */
interface Removed {
  readonly objects: number;
  readonly rows: number;
}

/** Each slice may be cut off anywhere and repeated, and several may run at the same time. */
export async function sweepDeleted(
  deleted: DeletedAccount | DeletedProject,
  metadata: Metadata,
  segments: Segments,
): Promise<Removed> {
  if ("deletedAccountId" in deleted) {
    await metadata.removeAccount(deleted.deletedAccountId);
    return { objects: 0, rows: 0 };
  }
  const objects = await removeObjects(deleted, metadata, segments);
  const rows = objects > 0 ? 0 : await metadata.removeDeletedRows(deleted.deletedProjectId);
  return { objects, rows };
}

/** Removes what an earlier slice has noted and perhaps not removed, else a page of what storage lists. */
async function removeObjects(
  { deletedProjectId: projectId, objects, isEmptied }: DeletedProject,
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
