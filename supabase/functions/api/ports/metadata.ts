/** Authority and metadata: keys, files and versions, in Postgres. Each method calls one SQL function. */
import type { Cursor, Scope } from "../contract/values.ts";
import type { AdministrativeAction } from "./accounts.ts";
import type { Answer, Caller, KeyHash } from "./answer.ts";
import type { Call, CallInternal, Parameters, Values } from "./calls.ts";
import type {
  Batch,
  Commit,
  CommitBasis,
  Committed,
  FolderCommit,
  Idempotency,
  ManyBasis,
  Merge,
  Redaction,
  RestoreFolder,
  Undo,
} from "./commit.ts";
import type { ChangeQuery, ListQuery } from "./files.ts";
import type { Sweep } from "./schemas.ts";
import type { IndexedScope, SearchQuery } from "./search_index.ts";
import type { Segment } from "./segments.ts";
import type { WebhookTry } from "./webhooks.ts";

/** The kinds of work that the sweep does in the database: one step of each kind in each slice. */
export const SWEEP_KINDS = ["versions", "marks", "answers", "retention", "branches", "usage"] as const;

export interface NewLink {
  /** UUID, chosen by the caller: a repeated call with the same UUID returns the same link. */
  readonly id: string;
  /** SHA-256 of the token, 64 lower-case hexadecimal digits. */
  readonly tokenHash: string;
  readonly for: "read" | "write";
  readonly path: string;
  /** In seconds. */
  readonly expiresIn: number;
  /** For a link for reading: by default the latest version at the time of each read. */
  readonly version?: number | null | undefined;
  /** For a link for writing: the type of the file, whatever the user of the link sends. */
  readonly contentType?: string | null | undefined;
  /** For a link for writing, in addition to the tier's limit. */
  readonly maxBytes?: number | null | undefined;
  /** For a link for writing: the version that the file must be at when the link is used; 0: there must be no file. */
  readonly ifVersion?: number | null | undefined;
}

/** The hashes of an app's next tokens. They identify the request: a repeated call with them has the same answer. */
export interface NewTokens {
  readonly accessHash: KeyHash;
  readonly refreshHash: KeyHash;
}

export interface CodeExchange {
  readonly codeHash: KeyHash;
  readonly clientHash: string;
  readonly redirectUri: string;
  /** The code challenge that the app's verifier answers; undefined where it can answer none. */
  readonly challenge: string | undefined;
}

export interface TokenRefresh {
  readonly tokenHash: KeyHash;
  readonly clientHash: string;
  /** Scopes that the app must have; undefined: any. */
  readonly scopes: readonly Scope[] | undefined;
}

export interface NewBranch {
  readonly name: string;
  readonly directory: string;
  readonly title?: string | null | undefined;
  /** The moment at which the folder is read. */
  readonly at?: string | undefined;
  /** In seconds. */
  readonly expiresIn: number;
  /** Chosen by the caller, the same in all calls for one request. */
  readonly commitId: string;
}

/** Absent fields stay as they are. */
export interface BranchUpdate {
  readonly title?: string | null | undefined;
  readonly note?: string | null | undefined;
  readonly state?: "open" | "ready" | "closed" | undefined;
  readonly expiresIn?: number | undefined;
  /** Chosen by the caller: a repeated call changes nothing. */
  readonly commitId: string;
}

/** Requests of one key on one day. */
export interface RequestCount {
  readonly projectId: string;
  /** The key's id; null: the project's owner in the console. */
  readonly keyId: string | null;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
}

type Kind = { readonly kind: string; readonly dryRun?: boolean };

/** The parameters of a commit: its kind, and its other fields with the provenance. */
function withProvenance({ provenance }: Caller, { kind, ...commit }: Kind) {
  return { kind, commit: { ...commit, provenance } };
}

export type Metadata = ReturnType<typeof metadataOver>;

/**
 * Each method that takes a caller is one back-end call and one transaction that authorizes the key, counts the
 * request against the project's rate window and performs the operation. A read may be repeated by the adapter after an
 * ambiguous failure; so may a commit, since `commitId` makes it idempotent. All methods throw
 * `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach; no other failure of the back end reaches a
 * caller. `removeUser` has Auth remove an account, unless it is removed already.
 */
export function metadataOver(
  call: Call,
  callInternal: CallInternal,
  removeUser: (accountId: string) => Promise<void>,
) {
  const commitMany = <Name extends keyof Values>(caller: Caller, commit: Kind, schema: Name, requests = 1) =>
    call("filestore_commit_many", caller, { requests, ...withProvenance(caller, commit) }, schema);
  return {
    /** Authorizes a key and counts the request as a number of requests; returns the file at `path`, if given. */
    authorize: (caller: Caller, path?: string, requests = 1) =>
      call("filestore_authorize", caller, { path, requests }, "authorization"),
    /** The file's record at `version` (default: the latest), or `at` a moment: an ISO 8601 time or a cursor. */
    record: (caller: Caller, path: string, version?: number, at?: string) =>
      call("filestore_content", caller, { path, version, at, withSegments: false }, "fileRecord"),
    /** Record and segments at `version` (default: the latest), or at a moment. */
    content: (caller: Caller, path: string, version?: number, at?: string) =>
      call("filestore_content", caller, { path, version, at }, "content"),
    /** The latest content, for an edit; or the stored answer of its idempotency key. */
    editBase: (caller: Caller, path: string, idempotency: Idempotency | undefined) =>
      call("filestore_content", caller, { path, idempotency: idempotency ?? {} }, "editBase"),
    /** Two versions; `to` is by default the latest and `from` the one before `to`. */
    comparison: (caller: Caller, path: string, from?: number, to?: number) =>
      call("filestore_diff", caller, { path, from, to }, "comparison"),
    /** Version `from` of one file and `to` of another, by default the latest of each. */
    comparisonOfFiles: (caller: Caller, path: string, toPath: string, from?: number, to?: number) =>
      call("filestore_diff", caller, { path, toPath, from, to }, "comparison"),
    /** One page of a file's versions, up to a moment, if given. */
    versions: (caller: Caller, path: string, limit: number, offset: number, at?: string) =>
      call("filestore_versions", caller, { path, limit, offset, at }, "versionList"),
    list: (caller: Caller, query: ListQuery) => call("filestore_list", caller, { query }, "listPage"),
    /**
     * Record and segments of every file below a directory ("": the root), now or at a moment, by path: at most
     * EXPORT_FILES_MAX with EXPORT_BYTES_MAX and EXPORT_SEGMENTS_MAX together.
     */
    exported: (caller: Caller, directory: string, at?: string) =>
      call("filestore_export", caller, { directory, at }, "contents"),
    /**
     * A page of the change feed. It ends at the first position where a version may still be committed, so that a client
     * that follows the cursors misses none. Refuses a cursor of another project with VALIDATION_ERROR.
     */
    changes: (caller: Caller, query: ChangeQuery) => call("filestore_changes", caller, { query }, "feedPage"),
    /** The position of the last version that followers of a project can read, or `known` if none is after it. */
    newestChange: (projectId: string, known: number) =>
      callInternal("filestore_newest_change", { projectId, known }, "number"),
    /** Lists runs, newest first: those that began before the run of the cursor. */
    runs: (caller: Caller, limit: number, after?: Cursor) =>
      call("filestore_runs", caller, { limit, after }, "runPage"),
    /** A run with up to a number of its files, those with ids after `after`. */
    run: (caller: Caller, runId: string, limit: number, after?: string) =>
      call("filestore_run", caller, { runId, limit, after }, "runDetails"),
    search: (caller: Caller, query: SearchQuery) => call("filestore_search", caller, { query }, "searchPage"),
    /** Whether everything in each of these directories of a project is indexed. */
    areIndexed: (projectId: string, given: readonly IndexedScope[]) => {
      const [scopes, stages] = [given.map(({ scope }) => scope), given.map(({ stage }) => stage)];
      return callInternal("filestore_search_indexed", { projectId, scopes, stages }, "flags");
    },
    /** Copies, moves or deletes every file below a folder, in one transaction. */
    commitFolder: (caller: Caller, commit: FolderCommit & ManyBasis) =>
      commitMany(caller, commit, "folderCommitted"),
    /** Undoes a run, or restores a folder to an earlier state, in one transaction. */
    commitRevert: (caller: Caller, commit: (Undo | RestoreFolder) & ManyBasis) =>
      commitMany(caller, { dryRun: false, ...commit }, "revertCommitted"),
    /** The steps that an undo or a restore would commit now. */
    plan: (caller: Caller, { kind, ...commit }: Undo | RestoreFolder) =>
      call("filestore_plan", caller, { kind, commit: { dryRun: true, ...commit } }, "undoResult"),
    /** Copies the next slice of a folder's files to a new branch. */
    createBranch: (caller: Caller, created: NewBranch) =>
      call(
        "filestore_create_branch",
        caller,
        { branch: { ...created, provenance: caller.provenance } },
        "createdBranch",
      ),
    branches: (caller: Caller, limit: number, state?: string, after?: Cursor) =>
      call("filestore_branches", caller, { state, limit, after }, "branchPage"),
    /** A branch with up to a number of its changes, those after a path, and the texts that may be conflicts. */
    branch: (caller: Caller, name: string, limit: number, after?: string) =>
      call("filestore_branch", caller, { name, limit, after }, "branchChanges"),
    changeBranch: (caller: Caller, name: string, change: BranchUpdate) =>
      call("filestore_change_branch", caller, { name, change }, "branch"),
    /** The steps of a merge or an update. Refuses with TEXTS_TO_MERGE while `texts` lacks some. */
    planMerge: (caller: Caller, { kind, ...commit }: Merge) =>
      call("filestore_plan", caller, { kind, commit: { dryRun: true, ...commit } }, "mergeResult"),
    commitMerge: (caller: Caller, commit: Merge & ManyBasis) =>
      commitMany(caller, { dryRun: false, ...commit }, "mergeCommitted"),
    /** Deletes a slice of the files of a branch that has ended; returns whether more may be left. */
    removeBranchFiles: (caller: Caller, name: string) =>
      call("filestore_remove_branch_files", caller, { name }, "flag"),
    commit: (caller: Caller, commit: Commit): Promise<Answer<Committed>> =>
      call("filestore_commit", caller, withProvenance(caller, commit), "committed"),
    /** Commits several operations, all or none, and counts as a number of requests. A refusal has `details.index`. */
    commitBatch: (caller: Caller, batch: Batch, requests: number) =>
      commitMany(caller, { kind: "batch", ...batch }, "batchCommitted", requests),
    /**
     * Replaces the adjacent segments `run` of the file's latest version with `compacted`, which hold the same bytes.
     * Content, versions and the segment lists of older versions are unchanged. Returns false where the segment list no
     * longer contains that run.
     */
    compact: (caller: Caller, path: string, run: readonly string[], compacted: readonly Segment[]) =>
      call("filestore_compact", caller, { path, run, compacted }, "flag"),
    /** Erases a file with all of its versions for good: it is unreadable from the commit on, whatever its size. */
    purge: (caller: Caller, commit: CommitBasis) =>
      call("filestore_commit", caller, withProvenance(caller, { kind: "purge", ...commit }), "purge"),
    /** Erases the content of versions; their numbers stay. Repeating it changes nothing. */
    redact: (caller: Caller, { path, versions, note }: Redaction) =>
      call("filestore_redact", caller, { path, versions, note }, "redaction"),
    createLink: (caller: Caller, created: NewLink) =>
      call("filestore_create_link", caller, { link: created }, "link"),
    /** The usable links, newest first. */
    listLinks: (caller: Caller) => call("filestore_list_links", caller, {}, "links"),
    /** Returns the time at which the link was revoked. */
    revokeLink: (caller: Caller, id: string) => call("filestore_revoke_link", caller, { id }, "revokedLink"),
    /** The file that a link reads. For this and the next two methods, the caller is the link's holder. */
    linkContent: (caller: Caller) => call("filestore_link", caller, { for: "read" }, "content"),
    /** The write that a link allows. */
    openLink: (caller: Caller) => call("filestore_link", caller, { for: "write" }, "openedLink"),
    /** Adds the one version that a link allows, at its path. */
    commitLink: (caller: Caller, commit: Commit) =>
      call("filestore_link_commit", caller, { commit: withProvenance(caller, commit).commit }, "committed"),
    /** Performs `action` on the key's project. The caller validates the value. */
    administer: (caller: Caller, action: AdministrativeAction, parameters: Parameters) =>
      call("filestore_administer", caller, { action, parameters }, "anything"),
    /** Webhooks with something to deliver now, of a project or of all (null), up to a number. */
    webhooksDue: (projectId: string | null, limit: number) =>
      callInternal("filestore_sweep_webhooks", { projectId, limit }, "webhooksDue"),
    /** Records the result of a try, and leases the next delivery; null where none is due. */
    webhookStep: (projectId: string, id: string, tried: WebhookTry | null) =>
      callInternal("filestore_webhook_step", { projectId, id, try: tried }, "webhookStep"),
    /** Exchanges a code for the tokens with these hashes. For this and the next two methods, the caller is an app. */
    exchangeCode: (exchange: CodeExchange & NewTokens) =>
      callInternal("filestore_app_exchange", { ...exchange }, "appTokens"),
    refreshApp: (refresh: TokenRefresh & NewTokens) =>
      callInternal("filestore_app_refresh", { ...refresh }, "appTokens"),
    /** Ends the app with this token, if it is this client's. */
    revokeApp: (tokenHash: KeyHash, clientHash: string) =>
      callInternal("filestore_app_revoke", { tokenHash, clientHash }, "nothing"),
    /** Adds the counts to the projects' usage by day. A call that is repeated after a lost answer may add them twice. */
    countRequests: (counts: readonly RequestCount[]) =>
      callInternal("filestore_count_usage", { counts }, "nothing"),
    /**
     * Does one step of the work left by erasures and retention rules, for the project that has waited longest. False:
     * no work is due. Here and below, `begun` is an ISO time; work that became due later does not count.
     */
    sweepErasures: (kind: typeof SWEEP_KINDS[number], begun?: string) =>
      callInternal("filestore_sweep_erasures", { kind, begun }, "flag"),
    /** Dead segments whose objects are not removed yet, up to a number: some of each project. */
    deadSegments: (limit: number, begun?: string) =>
      callInternal("filestore_sweep_dead", { limit, begun }, "deadSegments"),
    /** Records that the objects of dead segments are removed. */
    noteRemoved: (ids: readonly string[]) => callInternal("filestore_sweep_removed", { ids }, "nothing"),
    /** The deleted project that has waited longest; null if there is none. */
    nextDeletedProject: (begun?: string) =>
      callInternal("filestore_sweep_deleted_project", { begun }, "nextDeletedProject"),
    /** The id of a deleted account that Auth still has; null if there is none. */
    nextDeletedAccount: (begun?: string) =>
      callInternal("filestore_sweep_deleted_account", { begun }, "nextDeletedAccount"),
    /** The project that has waited longest among those whose uploads are due to be examined; null if there is none. */
    nextSweep: (begun?: string) => callInternal("filestore_sweep_next", { begun }, "nextSweep"),
    /** Returns the given segment ids that no version references; for days whose segments commits no longer accept. */
    unreferenced: (projectId: string, ids: readonly string[]) =>
      callInternal("filestore_sweep_unreferenced", { projectId, ids }, "ids"),
    /** Stores how far the sweep of a project has progressed. */
    noteSweep: ({ projectId, sweptThrough, day, kept }: Omit<Sweep, "through">) =>
      callInternal("filestore_sweep_progress", { projectId, sweptThrough, day, kept }, "nothing"),
    /** Records objects of a deleted project that are about to be removed. */
    noteDeletedObjects: (projectId: string, objects: readonly string[]) =>
      callInternal("filestore_sweep_objects", { projectId, objects, areRemoved: false }, "nothing"),
    /** Removes the segments of a deleted project whose objects were removed. */
    removeDeletedSegments: (projectId: string, objects: readonly string[]) =>
      callInternal("filestore_sweep_objects", { projectId, objects, areRemoved: true }, "nothing"),
    /** Removes a bounded number of rows of a deleted project that has no objects, and returns the number. */
    removeDeletedRows: (projectId: string) =>
      callInternal("filestore_sweep_remove_rows", { projectId }, "number"),
    /** Has Auth remove a deleted account, unless it is removed already. */
    removeAccount: async (accountId: string) => {
      await removeUser(accountId);
      await callInternal("filestore_sweep_forget_account", { accountId }, "nothing");
    },
    /** Throws unless the database accepts a write and a read. */
    probe: async (): Promise<void> => {
      await callInternal("filestore_health_probe", {}, "confirmed");
    },
  };
}
