/** The change feed of a project. */
import type { Cursor, Wire } from "../contract/values.ts";
import { changePage, type VersionOperation } from "../contract/versions.ts";
import { z } from "zod";

/** Selects versions of a project. All given filters must match. */
export interface ChangeFilters {
  readonly run?: string | undefined;
  readonly actor?: string | undefined;
  readonly keyId?: string | undefined;
  readonly operation?: VersionOperation | undefined;
  readonly path?: string | undefined;
  /** Only files below this directory, without leading or trailing slash; "" is the root. */
  readonly directory?: string | undefined;
  /** Only the file at this path, or files below it. */
  readonly place?: string | undefined;
}

export interface ChangeQuery extends ChangeFilters {
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
