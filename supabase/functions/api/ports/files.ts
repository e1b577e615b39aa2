/** Files and versions as they are read. */
import type { Provenance } from "./answer.ts";
import type { Segment } from "./segments.ts";

/** A file at one version, as the wire shows it. Times are ISO 8601 UTC with milliseconds. */
export interface FileRecord {
  readonly id: string;
  readonly path: string;
  readonly version: number;
  readonly mimeType: string;
  readonly size: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Present where the version is a tombstone. */
  readonly deleted?: boolean | undefined;
}

/** A file at one version with the segments its bytes are made of, in order. */
export interface Content {
  readonly file: FileRecord;
  readonly segments: readonly Segment[];
}

/** The file to be edited, or the stored answer of an earlier request with the same idempotency key. */
export type EditBase = Content | { readonly storedResponse: FileRecord };

/** What made a version. */
export const VERSION_OPERATIONS = [
  "write",
  "append",
  "overwrite",
  "edit",
  "delete",
  "restore",
  "copy",
  "move",
  "undo",
  "purge",
] as const;

export type VersionOperation = typeof VERSION_OPERATIONS[number];

/** What made a version, and what was said of it. */
export interface VersionOrigin extends Provenance {
  readonly operation: VersionOperation;
  /** Of a copy, move or restore: where the content is from. Absent where the key does not see that path. */
  readonly from?: { readonly path: string; readonly version: number } | undefined;
  /** The key it was written with: for the owner and keys with the scope admin; absent where that was the console. */
  readonly keyId?: string | undefined;
}

/** One page of a version list, newest first. */
export interface VersionPage {
  readonly file: { readonly path: string; readonly mimeType: string };
  readonly versions: readonly (VersionOrigin & {
    readonly version: number;
    readonly size: number;
    readonly createdAt: string;
    readonly updatedAt: string;
    /** Present on a tombstone. */
    readonly deleted?: boolean | undefined;
    /** Since when its content is gone for good. */
    readonly redactedAt?: string | undefined;
    /** Its place in the change feed. */
    readonly cursor: string;
  })[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

export interface ListQuery {
  /** Tombstoned files instead of live ones. */
  readonly deleted: boolean;
  /** Only paths that come after this one; with `sortBy: "path"`. */
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
  /** As it was then: an ISO 8601 time or a cursor. By path, ascending, without offset and filters. */
  readonly at?: string | undefined;
}

export interface ListPage {
  readonly files: readonly FileRecord[];
  readonly directories?: readonly string[] | undefined;
  /** How many files there are, up to LIST_TOTAL_MAX. Null with `after`; absent with `at`. */
  readonly total?: number | null | undefined;
  /** There are more than `total`. */
  readonly totalIsExact?: false | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly hasMore: boolean;
  /** With `at`, where there is more: the path that the next page comes after. */
  readonly next?: string | undefined;
  /** With `at`: how many files were looked at. */
  readonly examined?: number | undefined;
  /** With `at`: the search for sub-folders ended at its bound. */
  readonly hasMoreDirectories?: boolean | undefined;
  /** With `at`: files whose version of that time is gone. */
  readonly trimmed?: readonly string[] | undefined;
}

/** One version as one side of a comparison. */
export interface Side {
  readonly size: number;
  readonly mimeType: string;
  readonly segments: readonly Segment[];
}

/** Two versions of a file, or one each of two files. Null is version 0: no content, before the first. */
export interface Comparison {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly before: Side | null;
  readonly after: Side | null;
}
