/** Deletes and restores files, with notices; a deletion can be undone. */
import { isCode, reasonOf } from "../api/failure.ts";
import { deleteFile, type FileAt, readRecord, restoreVersion } from "../api/files.ts";
import { nameOf } from "../format.ts";
import { announceChange } from "./changes.ts";
import { endUndo, notify, notifyProblem } from "./notices.ts";

/** Returns whether the file was deleted. */
export async function remove(file: FileAt): Promise<boolean> {
  const name = nameOf(file.path);
  try {
    const version = await deleteFile(file);
    endUndo(file);
    announceChange({ path: file.path, isDeleted: true });
    const run = () => void undoDeletion(file, version);
    notify(`Deleted ${name}.`, file, { what: `deleting ${name}`, run });
    return true;
  } catch (error) {
    notifyProblem(`${name} could not be deleted. ${reasonOf(error)}`, file);
    return false;
  }
}

/** Returns whether the version was restored. */
export async function restore(file: FileAt, version: number): Promise<boolean> {
  const name = nameOf(file.path);
  try {
    const record = await restoreVersion(file, version);
    endUndo(file);
    announceChange({ path: file.path });
    notify(`Restored ${name}: version ${record.version} has the content of version ${version}.`, file);
    return true;
  } catch (error) {
    notifyProblem(`${name} could not be restored. ${reasonOf(error)}`, file);
    return false;
  }
}

/** Does not restore the file if it has been written again, for example by an agent. */
async function undoDeletion(file: FileAt, version: number): Promise<void> {
  const name = nameOf(file.path);
  try {
    const { version: current } = await readRecord(file, {});
    announceChange({ path: file.path });
    notify(`${name} exists again, as version ${current}: nothing was undone.`, file);
  } catch (error) {
    if (isCode(error, "FILE_NOT_FOUND")) await restore(file, version);
    else notifyProblem(`${name} could not be restored. ${reasonOf(error)}`, file);
  }
}
