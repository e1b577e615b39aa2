/** Authority and metadata: keys, files and versions, in Postgres. */
import type { AdministrativeAction } from "./accounts.ts";
import type { Answer, Caller } from "./answer.ts";
import type { Commit, Committed, Idempotency } from "./commit.ts";
import type {
  Comparison,
  Content,
  EditBase,
  FileRecord,
  ListPage,
  ListQuery,
  TurnTaken,
  VersionPage,
} from "./files.ts";
import type { Link, NewLink, OpenedLink } from "./links.ts";
import type { SearchPage, SearchQuery } from "./search_index.ts";
import type { Segment } from "./segments.ts";

/** How far the sweep of one project has come. Days are `yyyy-mm-dd`, UTC. */
export interface Sweep {
  readonly projectId: string;
  /** No commit accepts segments of this day or an earlier one any more, so all of them can be swept. */
  readonly through: string;
  /** Everything up to this day is swept; null: nothing yet. */
  readonly sweptThrough: string | null;
  /** The day being swept, and how many of its objects are kept so far. */
  readonly day: string | null;
  readonly kept: number;
}

/** What a write would meet, before any byte is stored. */
export interface Authorization {
  /** The live file at the path, if there is one. */
  readonly file: { readonly version: number; readonly size: number } | null;
  /** The tombstone at the path, if there is one. */
  readonly deletedVersion: number | null;
}

/**
 * Each method that takes a caller is one back-end call and one transaction that authorizes the key, counts the request
 * against the project's rate window and performs the operation. A read may be repeated by the adapter after an
 * ambiguous failure; so may a commit, since `commitId` makes it idempotent. All methods throw
 * `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach; no other failure of it reaches a caller.
 * Each statement is checked in `tests/contract`.
 */
export interface Metadata {
  /** Authorizes a key and counts the request; returns what exists at `path`, if given. */
  authorize(caller: Caller, path?: string): Promise<Answer<Authorization>>;
  /** The file's record at `version` (default: the latest). */
  record(caller: Caller, path: string, version?: number): Promise<Answer<FileRecord>>;
  /** Record and segments at `version` (default: the latest). */
  content(caller: Caller, path: string, version?: number): Promise<Answer<Content>>;
  /** The latest content, for an edit; or the stored answer of its idempotency key. */
  editBase(caller: Caller, path: string, idempotency: Idempotency | undefined): Promise<Answer<EditBase>>;
  /**
   * The same, once `holder` (a UUID) has the turn to edit the file: those who asked earlier come first. The turn, or the
   * place, expires after EDIT_TURN_SECONDS unless it is asked for again.
   */
  editTurn(
    caller: Caller,
    path: string,
    holder: string,
    idempotency: Idempotency | undefined,
  ): Promise<Answer<EditBase | TurnTaken>>;
  /** Hands the turn on. */
  endEditTurn(caller: Caller, path: string, holder: string): Promise<void>;
  /** Two versions; `to` is by default the latest and `from` the one before `to`. */
  comparison(caller: Caller, path: string, from?: number, to?: number): Promise<Answer<Comparison>>;
  versions(caller: Caller, path: string, limit: number, offset: number): Promise<Answer<VersionPage>>;
  list(caller: Caller, query: ListQuery): Promise<Answer<ListPage>>;
  /** Searches the current text of the project's files. */
  search(caller: Caller, query: SearchQuery): Promise<Answer<SearchPage>>;
  /** Adds a version. */
  commit(caller: Caller, commit: Commit): Promise<Answer<Committed>>;
  /**
   * Replaces the adjacent segments `run` of the file's latest version by `compacted`, which hold the same bytes.
   * Content, versions and the segment lists of older versions are unchanged. Returns false where the segment list no
   * longer contains that run.
   */
  compact(
    caller: Caller,
    path: string,
    run: readonly string[],
    compacted: readonly Segment[],
  ): Promise<Answer<boolean>>;
  createLink(caller: Caller, link: NewLink): Promise<Answer<Link>>;
  /** Those that can be used, newest first. */
  listLinks(caller: Caller): Promise<Answer<readonly Link[]>>;
  /** Returns when the link was revoked. */
  revokeLink(
    caller: Caller,
    id: string,
  ): Promise<Answer<{ readonly id: string; readonly revokedAt: string }>>;
  /** Record and segments of what a link is for. Of this and the next two the caller is who has the link. */
  linkContent(caller: Caller): Promise<Answer<Content>>;
  /** What a link allows to write. */
  openLink(caller: Caller): Promise<Answer<OpenedLink>>;
  /** Adds the one version that a link is for, at its path. */
  commitLink(caller: Caller, commit: Commit): Promise<Answer<Committed>>;
  /** Performs `action` on the key's project. Its value is validated by the caller. */
  administer(
    caller: Caller,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Answer<unknown>>;
  /** The project whose sweep is furthest behind; null where nothing is left to sweep. */
  nextSweep(): Promise<Sweep | null>;
  /** Those of the segment ids, of days that no commit accepts any more, that no version references. */
  unreferenced(projectId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** Stores how far the sweep of a project has come. */
  noteSweep(sweep: Omit<Sweep, "through">): Promise<void>;
  /** Throws unless the database takes a write and a read. */
  probe(): Promise<void>;
}
