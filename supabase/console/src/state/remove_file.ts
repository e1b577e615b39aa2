/** Deletes and restores files, with notices; a deletion can be undone. */
import { isCode, reasonOf } from "../api/failure.ts";
import { deleteFile, readRecord, restoreVersion } from "../api/files.ts";
import { nameOf } from "../format.ts";
import { announceChange } from "./changes.ts";
import { endUndo, notify, notifyProblem } from "./notices.ts";

/** Returns whether the file was deleted. */
export async function remove(projectId: string, path: string): Promise<boolean> {
  const about = { projectId, path };
  const name = nameOf(path);
  try {
    const version = await deleteFile(projectId, path);
    endUndo(about);
    announceChange({ path, isDeleted: true });
    const run = () => void undoDeletion(projectId, path, version);
    notify(`Deleted ${name}.`, about, { what: `deleting ${name}`, run });
    return true;
  } catch (error) {
    notifyProblem(`${name} could not be deleted. ${reasonOf(error)}`, about);
    return false;
  }
}

/** Returns whether the version was restored. */
export async function restore(projectId: string, path: string, version: number): Promise<boolean> {
  const about = { projectId, path };
  const name = nameOf(path);
  try {
    const record = await restoreVersion(projectId, path, version);
    endUndo(about);
    announceChange({ path });
    notify(`Restored ${name}: version ${record.version} has the content of version ${version}.`, about);
    return true;
  } catch (error) {
    notifyProblem(`${name} could not be restored. ${reasonOf(error)}`, about);
    return false;
  }
}

/** Leaves a file alone that somebody, such as an agent, has written again since. */
async function undoDeletion(projectId: string, path: string, version: number): Promise<void> {
  try {
    const { version: current } = await readRecord(projectId, path, {});
    announceChange({ path });
    notify(`${nameOf(path)} exists again, as version ${current}: nothing was undone.`, { projectId, path });
  } catch (error) {
    if (isCode(error, "FILE_NOT_FOUND")) await restore(projectId, path, version);
    else notifyProblem(`${nameOf(path)} could not be restored. ${reasonOf(error)}`, { projectId, path });
  }
}
