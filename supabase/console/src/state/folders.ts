/** Folder names from the lists that were loaded; the tree loads only the folders that no list contains. */
import { signal } from "@preact/signals";
import { listFiles } from "../api/files.ts";

const known = signal<ReadonlyMap<string, readonly string[]>>(new Map());

/** Undefined if no list has shown the folder yet. */
export function foldersIn(projectId: string, directory: string): readonly string[] | undefined {
  return known.value.get(keyOf(projectId, directory));
}

export function setFolders(projectId: string, directory: string, names: readonly string[]): void {
  known.value = new Map(known.value).set(keyOf(projectId, directory), names);
}

export async function loadFolders(projectId: string, directory: string): Promise<void> {
  const { directories = [] } = await listFiles(projectId, { directory, limit: 1 });
  setFolders(projectId, directory, directories);
}

function keyOf(projectId: string, directory: string): string {
  return `${projectId} ${directory}`;
}
