/** What happened in a project: its change feed. */
import type { Cursor, Wire } from "../contract/values.ts";
import { changePage, type VersionOperation } from "../contract/versions.ts";
import { z } from "zod";

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

export const feedPage = changePage.extend({
  /** The cursor as a number, for `Metadata.newestChange`. Not for clients: numbers are shared by all projects. */
  position: z.number(),
});
export type FeedPage = Wire<typeof feedPage>;
