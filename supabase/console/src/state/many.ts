/** Changes several files as one commit: all of them, or none. A notice offers to undo each change as a whole. */
import { ApiFailure, isCode, reasonOf } from "../api/failure.ts";
import type { FileRecord } from "../api/files.ts";
import { batch, type BatchOperation, deleteFolder, type Done, filesBelow, moveFolder } from "../api/many.ts";
import { undoRun } from "../api/runs.ts";
import { directoryOf, formatCount, formatNumber, joinPath, nameOf } from "../format.ts";
import { BATCH_OPERATIONS_MAX } from "../limits.ts";
import { announceChange } from "./changes.ts";
import { refreshFolders } from "./folders.ts";
import { notify, notifyProblem } from "./notices.ts";

/** The selection in a list. */
export interface Selected {
  readonly files: readonly FileRecord[];
  /** Paths of folders, from the root of the project. */
  readonly folders: readonly string[];
}

/** Deletes all of the selection, or nothing. */
export async function deleteSelected(projectId: string, selected: Selected): Promise<void> {
  const [folder, ...others] = selected.folders;
  if (folder !== undefined && others.length === 0 && selected.files.length === 0) {
    finish(projectId, await deleteFolder(projectId, folder), "Deleted", "deleting");
  } else {
    const files = await filesOf(projectId, selected);
    const operations = files.map(({ path }) => ({ op: "delete", path }) as const);
    finish(projectId, await committed(projectId, operations), "Deleted", "deleting");
  }
  refresh(projectId, selected.folders);
}

/** Moves all of the selection into a folder, or nothing. An empty `directory` is the root. */
export async function moveSelected(
  projectId: string,
  selected: Selected,
  directory: string,
  overwrite: boolean,
): Promise<void> {
  const [folder, ...others] = selected.folders;
  if (folder !== undefined && others.length === 0 && selected.files.length === 0) {
    const destination = joinPath(directory, nameOf(folder));
    const done = await moveFolder(projectId, { path: folder, destination, overwrite });
    finish(projectId, done, "Moved", "moving");
  } else {
    const operations = (await filesOf(projectId, selected)).map(({ path }) => ({
      op: "move",
      path,
      destination: joinPath(directory, relativeTo(path, selected)),
      overwrite,
    } as const));
    finish(projectId, await committed(projectId, operations), "Moved", "moving");
  }
  refresh(projectId, [...selected.folders, joinPath(directory, "moved")]);
}

/** Restores deleted files, all or none, each to its content before the deletion. */
export async function restoreSelected(projectId: string, files: readonly FileRecord[]): Promise<void> {
  const operations = files.map(({ path, version }) => ({
    op: "restore",
    path,
    version: version - 1,
    ifVersion: 0,
  } as const));
  finish(projectId, await committed(projectId, operations), "Restored", "restoring");
  refresh(projectId, files.map(({ path }) => path));
}

/** Reports what was done, with a button to undo it. */
export function finish(projectId: string, { runId, count }: Done, done: string, doing: string): void {
  const what = formatCount(count, "file");
  announceChange({});
  notify(`${done} ${what}.`, { projectId, path: "" }, {
    what: `${doing} ${what}`,
    run: () => void undoMany(projectId, runId),
  });
}

/** Reloads the folders of the tree that a change of these paths affects. */
export function refresh(projectId: string, paths: readonly string[]): void {
  if (paths.length > 0) refreshFolders(projectId, paths).catch(() => {});
}

/** Undoes a run of the console, unless its files have later changes, for example by an agent. */
async function undoMany(projectId: string, runId: string): Promise<void> {
  const about = { projectId, path: "" };
  try {
    const { actions } = await undoRun(projectId, runId, { onConflict: "refuse" });
    announceChange({});
    refresh(projectId, actions.map(({ path }) => path));
    notify(`Undone: ${formatCount(actions.length, "file")}.`, about);
  } catch (error) {
    notifyProblem(`Nothing was undone. ${describeRefusal(error)}`, about);
  }
}

/** Explains why nothing was done, with the names of the conflicting files. */
export function describeRefusal(error: unknown): string {
  if (!(error instanceof ApiFailure)) return reasonOf(error);
  const { files, limit, conflicts } = error.details;
  if (isCode(error, "RUN_CONFLICT") && conflicts !== undefined && conflicts.length > 0) {
    return `${namesOf(conflicts.map(({ path }) => path))} changed since.`;
  }
  if (isCode(error, "TOO_MANY_FILES") && files !== undefined && limit !== undefined) {
    return `There are ${formatNumber(files)} files, and one change can have at most ${
      formatNumber(limit)
    }. ` +
      "Change the subfolders one by one.";
  }
  return reasonOf(error);
}

/** Returns the existing paths at the destination, as far as the service named them. */
export function pathsInTheWay(error: unknown): readonly string[] {
  return error instanceof ApiFailure && isCode(error, "FILE_ALREADY_EXISTS") ? error.details.paths ?? [] : [];
}

/** Formats paths: `a.md was`, `a.md and b.md were`, `a.md, b.md and 3 more files were`. */
function namesOf(paths: readonly string[]): string {
  const [first = "", second, ...others] = paths;
  if (second === undefined) return `${first} was`;
  return others.length === 0
    ? `${first} and ${second} were`
    : `${first}, ${second} and ${formatCount(others.length, "more file")} were`;
}

/** Commits the operations. An error names the file that caused it. */
async function committed(projectId: string, operations: readonly BatchOperation[]): Promise<Done> {
  try {
    return await batch(projectId, operations);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const { index, ...details } = error.details;
    const operation = index === undefined ? undefined : operations[index];
    if (operation === undefined) throw error;
    const { code, status, requestId } = error;
    const isMove = "destination" in operation;
    const paths = isMove && code === "FILE_ALREADY_EXISTS" ? [operation.destination] : undefined;
    throw new ApiFailure(code, sentence(error, operation), status, { ...details, paths }, requestId);
  }
}

function sentence(error: ApiFailure, operation: BatchOperation): string {
  const { path } = operation;
  if (isCode(error, "FILE_NOT_FOUND")) return `${path} no longer exists.`;
  if (isCode(error, "FILE_ALREADY_EXISTS") && "destination" in operation) {
    return `${operation.destination} already exists.`;
  }
  if (isCode(error, "FILE_ALREADY_EXISTS")) return `${path} exists again.`;
  return `${path}: ${reasonOf(error)}`;
}

/** Returns the selected files, and the files below the selected folders. Throws if one commit cannot contain all of them. */
async function filesOf(projectId: string, { files, folders }: Selected): Promise<readonly FileRecord[]> {
  const all = [...files];
  for (const folder of folders) {
    all.push(...await filesBelow(projectId, folder, BATCH_OPERATIONS_MAX - all.length));
    if (all.length > BATCH_OPERATIONS_MAX) break;
  }
  if (all.length <= BATCH_OPERATIONS_MAX) return all;
  throw new Error(
    `A selection can have at most ${BATCH_OPERATIONS_MAX} files. ` +
      "Select fewer, or a single folder.",
  );
}

/** Returns the path relative to the folder that shows the selection. */
function relativeTo(path: string, { folders }: Selected): string {
  const folder = folders.find((one) => path.startsWith(`${one}/`));
  if (folder === undefined) return nameOf(path);
  const parent = directoryOf(folder);
  return parent === "" ? path : path.slice(parent.length + 1);
}
