/** Authority and metadata: keys, files and versions, in Postgres. */
import { z } from "zod";
import type { FileRecord, FolderResult, Purged, Redacted } from "../contract/files.ts";
import type { Link, RevokedLink } from "../contract/links.ts";
import type { RunDetails, RunPage, UndoResult } from "../contract/runs.ts";
import type { Cursor, Wire } from "../contract/values.ts";
import type { VersionList } from "../contract/versions.ts";
import type { AdministrativeAction } from "./accounts.ts";
import type { Answer, Caller } from "./answer.ts";
import type {
  Batch,
  BatchCommitted,
  Commit,
  CommitBasis,
  Committed,
  Idempotency,
  Redaction,
} from "./commit.ts";
import type { FolderCommit, ManyBasis, ManyCommitted, RestoreFolder, Undo } from "./commit_many.ts";
import type { ChangeQuery, FeedPage } from "./changes.ts";
import type { Comparison, Content, EditBase, ListPage, ListQuery } from "./files.ts";
import type { NewLink, OpenedLink } from "./links.ts";
import type { IndexedScope, SearchPage, SearchQuery } from "./search_index.ts";
import type { Segment } from "./segments.ts";

/** The kinds of work that the sweep does in the database: one step of each kind in each slice. */
export const SWEEP_KINDS = ["versions", "marks", "answers", "retention", "usage"] as const;
export type SweepKind = typeof SWEEP_KINDS[number];

/** How far the sweep of one project has progressed. Days are `yyyy-mm-dd`, UTC. */
export const sweep = z.object({
  projectId: z.string(),
  /** Commits no longer accept segments of this day or an earlier one, so all of these can be swept. */
  through: z.string(),
  /** All days up to this one are swept; null: nothing yet. */
  sweptThrough: z.string().nullable(),
  /** The day being swept, and how many of its objects were kept so far. */
  day: z.string().nullable(),
  kept: z.number(),
});
export type Sweep = Wire<typeof sweep>;

export const deadSegment = z.object({
  id: z.string(),
  name: z.string(),
});
export type DeadSegment = Wire<typeof deadSegment>;

/** A deleted project whose next sweep is due. */
export const deletedProject = z.object({
  projectId: z.string(),
  /** Objects that a slice has recorded and perhaps not removed, as `{yyyymmdd}/{segmentId}`. */
  objects: z.array(z.string()),
  /** Whether this sweep of the project found no object left. */
  isEmptied: z.boolean(),
});
export type DeletedProject = Wire<typeof deletedProject>;

/** The file at the path of a write, read before any byte is stored. */
export const authorization = z.object({
  /** The live file at the path, if there is one. */
  file: z.object({ version: z.number(), size: z.number() }).nullable(),
  /** The tombstone at the path, if there is one. */
  deletedVersion: z.number().nullable(),
});
export type Authorization = Wire<typeof authorization>;

/**
 * Each method that takes a caller is one back-end call and one transaction that authorizes the key, counts the
 * request against the project's rate window and performs the operation. A read may be repeated by the adapter after an
 * ambiguous failure; so may a commit, since `commitId` makes it idempotent. All methods throw
 * `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach; no other failure of the back end reaches a
 * caller.
 */
export interface Metadata {
  /** Authorizes a key and counts the request as a number of requests; returns the file at `path`, if given. */
  authorize(caller: Caller, path?: string, requests?: number): Promise<Answer<Authorization>>;
  /** The file's record at `version` (default: the latest), or `at` a moment: an ISO 8601 time or a cursor. */
  record(caller: Caller, path: string, version?: number, at?: string): Promise<Answer<FileRecord>>;
  /** Record and segments at `version` (default: the latest), or at a moment. */
  content(caller: Caller, path: string, version?: number, at?: string): Promise<Answer<Content>>;
  /** The latest content, for an edit; or the stored answer of its idempotency key. */
  editBase(caller: Caller, path: string, idempotency: Idempotency | undefined): Promise<Answer<EditBase>>;
  /** Two versions; `to` is by default the latest and `from` the one before `to`. */
  comparison(caller: Caller, path: string, from?: number, to?: number): Promise<Answer<Comparison>>;
  /** Version `from` of one file and `to` of another, by default the latest of each. */
  comparisonOfFiles(
    caller: Caller,
    path: string,
    toPath: string,
    from?: number,
    to?: number,
  ): Promise<Answer<Comparison>>;
  /** One page of a file's versions, up to a moment, if given. */
  versions(
    caller: Caller,
    path: string,
    limit: number,
    offset: number,
    at?: string,
  ): Promise<Answer<VersionList>>;
  list(caller: Caller, query: ListQuery): Promise<Answer<ListPage>>;
  /**
   * Record and segments of every file below a directory ("": the root), now or at a moment, by path: at most
   * EXPORT_FILES_MAX with EXPORT_BYTES_MAX and EXPORT_SEGMENTS_MAX together.
   */
  exported(caller: Caller, directory: string, at?: string): Promise<Answer<readonly Content[]>>;
  /**
   * A page of the change feed. It ends at the first position where a version may still be committed, so that a client
   * that follows the cursors misses none. Refuses a cursor of another project with VALIDATION_ERROR.
   */
  changes(caller: Caller, query: ChangeQuery): Promise<Answer<FeedPage>>;
  /** The position of the last version that followers of a project can read, or `known` if none is after it. */
  newestChange(projectId: string, known: number): Promise<number>;
  /** Lists runs, newest first: those that began before the run of the cursor. */
  runs(caller: Caller, limit: number, after?: Cursor): Promise<Answer<RunPage>>;
  /** A run with up to a number of its files, those with ids after `after`. */
  run(caller: Caller, runId: string, limit: number, after?: string): Promise<Answer<RunDetails>>;
  /** Searches the current text of the project's files. */
  search(caller: Caller, query: SearchQuery): Promise<Answer<SearchPage>>;
  /** Whether everything in each of these directories of a project is indexed. */
  areIndexed(projectId: string, scopes: readonly IndexedScope[]): Promise<readonly boolean[]>;
  /** Copies, moves or deletes every file below a folder, in one transaction. */
  commitFolder(
    caller: Caller,
    commit: FolderCommit & ManyBasis,
  ): Promise<Answer<ManyCommitted<FolderResult>>>;
  /** Undoes a run, or restores a folder to an earlier state, in one transaction. */
  commitRevert(
    caller: Caller,
    commit: (Undo | RestoreFolder) & ManyBasis,
  ): Promise<Answer<ManyCommitted<UndoResult>>>;
  /** The steps that an undo or a restore would commit now. */
  plan(caller: Caller, commit: Undo | RestoreFolder): Promise<Answer<UndoResult>>;
  /** Adds a version. */
  commit(caller: Caller, commit: Commit): Promise<Answer<Committed>>;
  /** Commits several operations, all or none, and counts as a number of requests. A refusal has `details.index`. */
  commitBatch(caller: Caller, batch: Batch, requests: number): Promise<Answer<BatchCommitted>>;
  /**
   * Replaces the adjacent segments `run` of the file's latest version with `compacted`, which hold the same bytes.
   * Content, versions and the segment lists of older versions are unchanged. Returns false where the segment list no
   * longer contains that run.
   */
  compact(
    caller: Caller,
    path: string,
    run: readonly string[],
    compacted: readonly Segment[],
  ): Promise<Answer<boolean>>;
  /** Erases a file with all of its versions for good: it is unreadable from the commit on, whatever its size. */
  purge(caller: Caller, purge: CommitBasis): Promise<Answer<ManyCommitted<Omit<Purged, "path">>>>;
  /** Erases the content of versions; their numbers stay. Repeating it changes nothing. */
  redact(caller: Caller, redaction: Redaction): Promise<Answer<Omit<Redacted, "path">>>;
  createLink(caller: Caller, link: NewLink): Promise<Answer<Link>>;
  /** The usable links, newest first. */
  listLinks(caller: Caller): Promise<Answer<readonly Link[]>>;
  /** Returns when the link was revoked. */
  revokeLink(caller: Caller, id: string): Promise<Answer<RevokedLink>>;
  /** The file that a link reads. For this and the next two methods, the caller is the link's holder. */
  linkContent(caller: Caller): Promise<Answer<Content>>;
  /** The write that a link allows. */
  openLink(caller: Caller): Promise<Answer<OpenedLink>>;
  /** Adds the one version that a link allows, at its path. */
  commitLink(caller: Caller, commit: Commit): Promise<Answer<Committed>>;
  /** Performs `action` on the key's project. The caller validates the value. */
  administer(
    caller: Caller,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Answer<unknown>>;
  /**
   * Does one step of the work left by erasures and retention rules, for the project that has waited longest. False:
   * no work is due. Here and below, `begun` is an ISO time; work that became due later does not count.
   */
  sweepErasures(kind: SweepKind, begun?: string): Promise<boolean>;
  /** Dead segments whose objects are not removed yet, up to a number: some of each project. */
  deadSegments(limit: number, begun?: string): Promise<readonly DeadSegment[]>;
  /** Records that the objects of dead segments are removed. */
  noteRemoved(ids: readonly string[]): Promise<void>;
  /** The deleted project that has waited longest; null if there is none. */
  nextDeletedProject(begun?: string): Promise<DeletedProject | null>;
  /** The id of a deleted account that Auth still has; null if there is none. */
  nextDeletedAccount(begun?: string): Promise<string | null>;
  /** The project that has waited longest among those whose uploads are due to be examined; null if there is none. */
  nextSweep(begun?: string): Promise<Sweep | null>;
  /** Returns the given segment ids that no version references; for days whose segments commits no longer accept. */
  unreferenced(projectId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** Stores how far the sweep of a project has progressed. */
  noteSweep(sweep: Omit<Sweep, "through">): Promise<void>;
  /** Records objects of a deleted project that are about to be removed. */
  noteDeletedObjects(projectId: string, objects: readonly string[]): Promise<void>;
  /** Removes the segments of a deleted project whose objects were removed. */
  removeDeletedSegments(projectId: string, objects: readonly string[]): Promise<void>;
  /** Removes a bounded number of rows of a deleted project that has no objects, and returns the number. */
  removeDeletedRows(projectId: string): Promise<number>;
  /** Has Auth remove a deleted account, unless it is removed already. */
  removeAccount(accountId: string): Promise<void>;
  /** Throws unless the database accepts a write and a read. */
  probe(): Promise<void>;
}
