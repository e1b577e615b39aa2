import type { Change, ChangePage } from "../../../functions/api/contract/versions.ts";
import { CHANGES_PER_ANSWER } from "../limits.ts";
import { call } from "./client.ts";
import type { FileRecord } from "./files.ts";

export type { Change, ChangePage };

/**
 * What follows a cursor, oldest first, as soon as there is something or after `wait` seconds; `now` gives a cursor alone.
 * With `wait` the service does not count the owner's request. A failure is the caller's to repeat.
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

/** All that are given must hold. */
export interface ChangeFilters {
  readonly actor?: string | undefined;
  readonly keyId?: string | undefined;
  readonly run?: string | undefined;
  readonly directory?: string | undefined;
  readonly operation?: string | undefined;
}

/** What precedes a cursor or an ISO 8601 time, the newest first; `now`: the newest of all. */
export function listChangesBefore(
  projectId: string,
  query: ChangeFilters & { readonly before: string; readonly limit: number },
  signal: AbortSignal,
): Promise<ChangePage> {
  return call({ path: "/changes", projectId, query: { ...query }, signal });
}

/** The file at that version. When it was created is known only if `known` is given. */
export function recordOf(change: Change & { readonly path: string }, known?: FileRecord): FileRecord {
  const { fileId: id, path, version, mimeType, size, createdAt } = change;
  return {
    id,
    path,
    version,
    mimeType,
    size,
    createdAt: known?.createdAt ?? createdAt,
    updatedAt: createdAt,
  };
}
