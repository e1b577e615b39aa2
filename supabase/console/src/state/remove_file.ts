/** Deletes and restores files, with notices; a deletion can be undone. */
import { reasonOf } from "../api/failure.ts";
import { deleteFile, restoreVersion } from "../api/files.ts";
import { nameOf } from "../format.ts";
import { notify, notifyProblem } from "./notices.ts";

/** `onChange` is called after the deletion, and after it was undone. */
export async function remove(projectId: string, path: string, onChange: () => void): Promise<void> {
  try {
    const version = await deleteFile(projectId, path);
    onChange();
    notify(`Deleted ${nameOf(path)}.`, {
      label: "Undo",
      run: () => void restore(projectId, path, version, onChange),
    });
  } catch (error) {
    notifyProblem(`${nameOf(path)} could not be deleted. ${reasonOf(error)}`);
  }
}

export async function restore(
  projectId: string,
  path: string,
  version: number,
  onChange: () => void,
): Promise<void> {
  try {
    const record = await restoreVersion(projectId, path, version);
    notify(`Restored ${nameOf(path)}: version ${record.version} has the content of version ${version}.`);
    onChange();
  } catch (error) {
    notifyProblem(`${nameOf(path)} could not be restored. ${reasonOf(error)}`);
  }
}
