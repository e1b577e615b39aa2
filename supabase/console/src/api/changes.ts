/// <reference lib="dom" />
/** Calls of the change feed. */
import * as z from "zod/mini";
import { CHANGES_PER_ANSWER } from "../limits.ts";
import { call } from "./client.ts";
import { type FileRecord, origin } from "./records.ts";

const changeSchema = z.object({
  cursor: z.string(),
  /** Absent: the file was purged. */
  path: z.optional(z.string()),
  fileId: z.string(),
  version: z.number(),
  size: z.number(),
  mimeType: z.string(),
  deleted: z.optional(z.boolean()),
  createdAt: z.string(),
  ...origin,
});
export type Change = z.infer<typeof changeSchema>;

const changePageSchema = z.object({
  changes: z.array(changeSchema),
  cursor: z.string(),
  hasMore: z.boolean(),
});
export type ChangePage = z.infer<typeof changePageSchema>;

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
  return call({ path: "/changes", projectId, query, signal, isRepeated: false }, changePageSchema);
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
  return call({ path: "/changes", projectId, query: { ...query }, signal }, changePageSchema);
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
