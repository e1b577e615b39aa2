/** What happened in a project: its change feed, and its runs. */
import type { VersionOperation, VersionOrigin } from "./files.ts";

/** An opaque place in the change feed of one project, 32 hexadecimal digits: that of a version, or the beginning. */
export type Cursor = string;

/** One version, as an entry of the feed. */
export interface Change extends VersionOrigin {
  readonly cursor: Cursor;
  /** Where the file is. Absent: it was purged. */
  readonly path?: string | undefined;
  readonly fileId: string;
  readonly version: number;
  readonly size: number;
  readonly mimeType: string;
  /** Present on a tombstone. */
  readonly deleted?: boolean | undefined;
  /** The versions of one transaction share it. */
  readonly commitId: string;
  readonly createdAt: string;
}

/** Which versions of a project. All filters given must hold. */
export interface ChangeFilters {
  readonly run?: string | undefined;
  readonly actor?: string | undefined;
  readonly keyId?: string | undefined;
  readonly operation?: VersionOperation | undefined;
  readonly path?: string | undefined;
  /** Below this directory, without leading or trailing slash; "" is the root. */
  readonly directory?: string | undefined;
  /** The file at this path, or files below it. */
  readonly place?: string | undefined;
}

export interface ChangeQuery extends ChangeFilters {
  /** What follows this place; `now` for a cursor alone. Absent: from the beginning. */
  readonly after?: Cursor | "now" | undefined;
  readonly limit: number;
  /** The last ones instead of the first; they are still returned in the order of the feed. */
  readonly newestFirst?: true | undefined;
  /**
   * With `newestFirst`: only what precedes this place, or was made before this ISO 8601 time in UTC; `now`: everything.
   * Returned the newest first, and `cursor` is `before` of the next page.
   */
  readonly before?: string | undefined;
}

export interface ChangePage {
  /** In the order of the feed; with `before`, the newest first. */
  readonly changes: readonly Change[];
  /** Where the next page begins. With `newestFirst`, but without `before`: what comes later begins. */
  readonly cursor: Cursor;
  /** Whether there is more: after the page or, with `newestFirst`, before it. */
  readonly hasMore: boolean;
  /** The cursor as a number, for `Metadata.newestChange`. Not for clients: numbers are shared by all projects. */
  readonly position: number;
}

/** What the key sees of a run. */
export interface Run {
  readonly runId: string;
  /** At most RUN_ACTORS_MAX. */
  readonly actors: readonly string[];
  readonly fileCount: number;
  readonly versionCount: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** False of more than RUN_VERSIONS_COUNTED_MAX versions: counts are what it has at least, times what was looked at. */
  readonly countsAreExact?: boolean | undefined;
}

/** With which keys a file was changed in a run. */
export interface Whose {
  /** Whether with none but the calling key; of a person: none but the console. */
  readonly own: boolean;
  /** Those keys, for the owner and keys with `admin`. The console has none. */
  readonly keyIds?: readonly string[] | undefined;
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly cursor: Cursor;
  readonly hasMore: boolean;
}

/** What a run did with one file. */
export interface RunFile extends Whose {
  readonly path: string;
  readonly fileId: string;
  readonly firstVersion: number;
  readonly lastVersion: number;
  /** Of the last version. */
  readonly operation: VersionOperation;
}

export interface RunDetails extends Run {
  /** In the order of their ids. */
  readonly files: readonly RunFile[];
  readonly hasMore: boolean;
}
