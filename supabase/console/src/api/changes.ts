import type { Change, ChangePage, Person } from "../../../functions/api/contract/versions.ts";
import { CHANGES_PER_ANSWER } from "../limits.ts";
import { call } from "./client.ts";
import type { FileRecord } from "./files.ts";

export type { Change, ChangePage, Person };

/**
 * Returns the changes after a cursor, oldest first: as soon as there are any, or after `wait` seconds. With `now`, returns a
 * cursor only. The service does not count an owner's request with `wait`. Does not retry after a failure.
 */
export function followChanges(
  projectId: string,
  after: string,
  wait: number,
  signal: AbortSignal,
): Promise<ChangePage> {
  const query = { after, wait, limit: CHANGES_PER_ANSWER };
  return call({ path: "/changes", projectId, query, signal, isRepeated: false });
}

/** Returns the cursor of now. */
export async function readCursor(projectId: string, signal: AbortSignal): Promise<string> {
  const query = { after: "now", wait: 0, limit: 1 };
  return (await call<ChangePage>({ path: "/changes", projectId, query, signal })).cursor;
}

/** A change must match all filters that are given. */
export interface ChangeFilters {
  readonly actor?: string | undefined;
  readonly keyId?: string | undefined;
  readonly run?: string | undefined;
  readonly directory?: string | undefined;
  readonly operation?: string | undefined;
}

/** Returns the changes before a cursor or an ISO 8601 time, newest first; with `now`, the newest of all. */
export function listChangesBefore(
  projectId: string,
  query: ChangeFilters & { readonly before: string; readonly limit: number },
  signal: AbortSignal,
): Promise<ChangePage> {
  return call({ path: "/changes", projectId, query: { ...query }, signal });
}

/** Returns the file at that version. */
export function recordOf(change: Change & { readonly path: string }): FileRecord {
  const { fileId: id, path, version, mimeType, size, createdAt: updatedAt, fileCreatedAt } = change;
  return { id, path, version, mimeType, size, createdAt: fileCreatedAt ?? updatedAt, updatedAt };
}
