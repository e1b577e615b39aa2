/** Names of folders as lists told them; the tree asks only for what no list has shown. */
import { signal } from "@preact/signals";
import { listFiles } from "../api/files.ts";

const known = signal<ReadonlyMap<string, readonly string[]>>(new Map());

/** Undefined until some list has shown the folder. */
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
