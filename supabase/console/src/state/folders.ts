/** Folder names from loaded lists. The tree loads only folders that no list has loaded. */
import { signal } from "@preact/signals";
import { listFiles } from "../api/files.ts";
import { directoryOf } from "../format.ts";
import { FOLDERS_REFRESHED_MAX } from "../limits.ts";
import type { Change } from "../api/changes.ts";

const known = signal<ReadonlyMap<string, readonly string[]>>(new Map());

/** Returns undefined if no list has loaded the folder yet. */
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

/** Reloads the known folders on the way to these paths. */
export async function refreshFolders(projectId: string, paths: readonly string[]): Promise<void> {
  const directories = new Set([""]);
  for (const path of paths) {
    for (let one = directoryOf(path); one !== ""; one = directoryOf(one)) directories.add(one);
  }
  const shown = [...directories].filter((one) => foldersIn(projectId, one) !== undefined);
  await Promise.all(shown.slice(0, FOLDERS_REFRESHED_MAX).map((one) => loadFolders(projectId, one)));
}

/** Adds the folders of created files to the tree. Folders that have become empty are removed by the next list. */
export function addFolders(projectId: string, changes: readonly Change[]): void {
  let next: Map<string, readonly string[]> | null = null;
  for (const { path, deleted } of changes) {
    if (path === undefined || deleted) continue;
    const names = path.split("/").slice(0, -1);
    for (const [depth, name] of names.entries()) {
      const key = keyOf(projectId, names.slice(0, depth).join("/"));
      const listed = (next ?? known.value).get(key);
      if (listed === undefined || listed.includes(name)) continue;
      next ??= new Map(known.value);
      next.set(key, [...listed, name].sort());
    }
  }
  if (next !== null) known.value = next;
}

function keyOf(projectId: string, directory: string): string {
  return `${projectId} ${directory}`;
}
