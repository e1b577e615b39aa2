/**
 * Calls that change several files as one commit: all of them, or none. Each call is a run of its own, so it can be undone as
 * a whole.
 */
import type { BatchResults, FolderResult } from "../../../functions/api/contract/files.ts";
import { encodePath, formatCount } from "../format.ts";
import { type Call, call } from "./client.ts";
import { type FileRecord, listFiles } from "./files.ts";
import type { Undo } from "./runs.ts";

export type BatchOperation =
  | { readonly op: "delete"; readonly path: string }
  | {
    readonly op: "move";
    readonly path: string;
    readonly destination: string;
    readonly overwrite: boolean;
  }
  | {
    readonly op: "restore";
    readonly path: string;
    readonly version: number;
    /** Fails if the file exists again. */
    readonly ifVersion: 0;
  };

/** The number of changed files, and the run to undo. */
export interface Done {
  readonly runId: string;
  readonly count: number;
}

/** The source and destination of a copy or move. `overwrite`: an existing file at the destination gets a new version. */
export interface FolderChange {
  readonly path: string;
  readonly destination: string;
  readonly overwrite: boolean;
}

/** Runs at most BATCH_OPERATIONS_MAX operations. A refusal names the operation in `details.index`. */
export async function batch(projectId: string, operations: readonly BatchOperation[]): Promise<Done> {
  const run = asRun(`${operations[0]?.op ?? "batch"} of ${formatCount(operations.length, "file")}`);
  const request = { method: "POST", path: "/batch", projectId, headers: run.headers } as const;
  const { results } = await call<BatchResults>({ ...request, body: { operations } });
  return { runId: run.runId, count: results.length };
}

export function moveFolder(projectId: string, change: FolderChange): Promise<Done> {
  return changeFolder("folder moved", { method: "POST", path: "/folders/move", projectId, body: change });
}

/** `at`: copies the folder as it was at this time. */
export function copyFolder(projectId: string, change: FolderChange, at?: string): Promise<Done> {
  const request = { method: "POST", path: "/folders/copy", projectId, query: { at }, body: change } as const;
  return changeFolder("folder copied", request);
}

export function deleteFolder(projectId: string, path: string): Promise<Done> {
  return changeFolder("folder deleted", {
    method: "DELETE",
    path: `/folders/${encodePath(path)}`,
    projectId,
  });
}

async function changeFolder(note: string, request: Call): Promise<Done> {
  const { runId, headers } = asRun(note);
  return { runId, count: (await call<FolderResult>({ ...request, headers })).count };
}

/** Returns what restoring a folder would do now. An empty `directory` is the whole project. */
export function planRestore(
  projectId: string,
  directory: string,
  at: string,
  signal?: AbortSignal,
): Promise<Undo> {
  const body = { directory: directory || "/", at, dryRun: true };
  return call({ method: "POST", path: "/restore", projectId, body, signal });
}

export function restoreFolder(projectId: string, directory: string, at: string): Promise<Undo> {
  const body = { directory: directory || "/", at, dryRun: false };
  return call({
    method: "POST",
    path: "/restore",
    projectId,
    headers: asRun("folder restored").headers,
    body,
  });
}

export async function countFiles(
  projectId: string,
  directory: string,
  signal?: AbortSignal,
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  const list = await listFiles(projectId, { directory, recursive: true, limit: 1 }, signal);
  return { count: list.total ?? 0, isExact: list.totalIsExact ?? true };
}

/** Lists the files below a folder by path. Stops after more than `max` files; the list is then incomplete. */
export async function filesBelow(
  projectId: string,
  directory: string,
  max: number,
  signal?: AbortSignal,
): Promise<readonly FileRecord[]> {
  const files: FileRecord[] = [];
  for (let hasMore = true; hasMore && files.length <= max;) {
    const page = await listFiles(
      projectId,
      { directory, recursive: true, after: files.at(-1)?.path },
      signal,
    );
    files.push(...page.files);
    hasMore = page.hasMore && page.files.length > 0;
  }
  return files;
}

function asRun(note: string) {
  const runId = `console-${crypto.randomUUID()}`;
  return {
    runId,
    headers: {
      "x-run-id": runId,
      "x-change-note": encodeURIComponent(note),
      "idempotency-key": crypto.randomUUID(),
    },
  };
}
