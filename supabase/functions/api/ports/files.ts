/** Files and versions as they are read. */
import type { ChangedFile, FileList, FileRecord } from "../contract/files.ts";
import type { Segment } from "./segments.ts";

/** A file at one version with the segments its bytes are made of, in order. */
export interface Content {
  readonly file: FileRecord;
  readonly segments: readonly Segment[];
}

/** The file to be edited, or the stored answer of an earlier request with the same idempotency key. */
export type EditBase = Content | { readonly storedResponse: ChangedFile };

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

/** A page of a list. */
export interface ListPage extends FileList {
  /** With `at`: how many files were looked at. */
  readonly examined?: number | undefined;
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
