/** Queries for files and versions, and their results. */
import { z } from "zod";
import { changedFile, fileList, fileRecord } from "../contract/files.ts";
import type { Cursor, Wire } from "../contract/values.ts";
import { changePage, type VersionOperation } from "../contract/versions.ts";
import { segment } from "./segments.ts";

/** A record with the `extra` fields of its commit. */
export const committedRecord = changedFile.loose();

/** A file at one version, with the segments of its bytes in order. */
export const content = z.object({
  file: fileRecord,
  segments: z.array(segment),
});
export type Content = Wire<typeof content>;

/** The file to be edited, or the stored answer of an earlier request with the same idempotency key. */
export const editBase = z.union([z.object({ storedResponse: committedRecord }), content]);
export type EditBase = Wire<typeof editBase>;

export interface ListQuery {
  /** Deleted files instead of live ones. */
  readonly deleted: boolean;
  /** Only paths that sort after this one; with `sortBy: "path"`. */
  readonly after?: string | undefined;
  /** Without leading or trailing slash; "" is the root. */
  readonly directory: string;
  readonly recursive: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly sortBy: "path" | "created_at" | "updated_at" | "size";
  readonly sortOrder: "asc" | "desc";
  readonly contentType?: string | undefined;
  readonly minSize?: number | undefined;
  readonly maxSize?: number | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly updatedAfter?: string | undefined;
  readonly updatedBefore?: string | undefined;
  /** A moment: an ISO 8601 time or a cursor. Only by path, ascending, without offset and filters. */
  readonly at?: string | undefined;
}

/** A list of live files by path. */
export function byPath(
  page: Pick<ListQuery, "directory" | "recursive" | "limit" | "after">,
): ListQuery {
  return { deleted: false, offset: 0, sortBy: "path", sortOrder: "asc", ...page };
}

export const listPage = fileList.extend({
  /** With `at`: the number of examined files. */
  examined: z.number().optional(),
});
export type ListPage = Wire<typeof listPage>;

/** A version as one side of a comparison. */
export const side = z.object({
  size: z.number(),
  mimeType: z.string(),
  segments: z.array(segment),
});
export type Side = Wire<typeof side>;

/** Two versions of a file, or one each of two files. Null is version 0, before the first one, without content. */
export const comparison = z.object({
  path: z.string(),
  from: z.number(),
  to: z.number(),
  before: side.nullable(),
  after: side.nullable(),
});
export type Comparison = Wire<typeof comparison>;

/** Selects versions of a project. All given filters must match. */
export interface ChangeQuery {
  readonly run?: string | undefined;
  readonly actor?: string | undefined;
  readonly keyId?: string | undefined;
  readonly operation?: VersionOperation | undefined;
  readonly path?: string | undefined;
  /** Only files below this directory, without leading or trailing slash; "" is the root. */
  readonly directory?: string | undefined;
  /** Only the file at this path, or files below it. */
  readonly place?: string | undefined;
  /** Only versions after this position; `now`: only a cursor. Absent: from the beginning. */
  readonly after?: Cursor | "now" | undefined;
  readonly limit: number;
  /** The last versions instead of the first ones; they are still returned in the order of the feed. */
  readonly newestFirst?: true | undefined;
  /**
   * With `newestFirst`: only versions before this position, or committed before this ISO 8601 time in UTC; `now`: all
   * versions. They are returned newest first, and `cursor` is `before` of the next page.
   */
  readonly before?: string | undefined;
}

export const feedPage = changePage.extend({
  /**
   * The position of the cursor, for `Metadata.newestChange`. Not for clients: positions are numbered over all projects.
   */
  position: z.number(),
});
export type FeedPage = Wire<typeof feedPage>;
