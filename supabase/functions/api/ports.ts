/**
 * What the service needs from outside: Metadata (Postgres), Segments (object storage) and Accounts (Postgres, as a
 * signed-in person); for search also SearchIndex (Postgres, for whoever runs the service) and, where there is one, an
 * Embedder.
 * The comments are contracts: every adapter keeps them, and `tests/contract` checks that it does.
 *
 * All throw `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach; no other failure of the
 * back end reaches a caller.
 */

/** SHA-256 of an API key, 64 lower-case hexadecimal digits. The key itself never leaves the request. */
export type KeyHash = string;

/** One immutable object in storage: a piece of one or more versions. */
export interface Segment {
  /** Random UUID. */
  readonly id: string;
  /** Object name in the bucket: `{project_id}/{yyyymmdd}/{id}`. Unique for ever, so caches may be keyed by it. */
  readonly name: string;
  /** Bytes, 1 to SEGMENT_BYTES_MAX. */
  readonly size: number;
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  /** How many bytes are a line feed. */
  readonly newlines: number;
  /** Whether the last byte is a line feed. */
  readonly endsWithNewline: boolean;
  /** Whether the bytes are well-formed UTF-8 by themselves. */
  readonly isText: boolean;
}

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

/** State of a project's rate window after the request was counted. `limit` is null where there is none. */
export interface RateState {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** UTC epoch seconds at which the window ends. */
  readonly reset: number;
}

/** What a key may do: see files, change files, change the project's name and keys. */
export type Scope = "read" | "write" | "admin";

/** What the database says about a key. */
export interface Grant {
  readonly projectId: string;
  /** Null where the project's owner works in the console. */
  readonly keyId: string | null;
  readonly scopes: readonly Scope[];
  readonly tier: string;
  /** Bytes a file may have; null: no limit. */
  readonly maxFileBytes: number | null;
}

/** Said with every call: who asks, and for which HTTP request. */
export interface Caller {
  readonly keyHash: KeyHash;
  /** UUID of a request that may not be counted yet: it counts once, however often it asks. Null: it was counted. */
  readonly requestId: string | null;
}

/** Every answer of the database carries the rate state and, where the key was admitted, the grant. */
export type Answer<T> =
  & {
    readonly rate: RateState | null;
    readonly grant: Grant | null;
    /** True where an earlier try of the same call got no answer: it may have taken effect, or still may. */
    readonly isRepeated: boolean;
  }
  & ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal });

/** The database's no. Nothing was changed, except that the request was counted (a 429 is not). */
export interface Refusal {
  readonly code:
    | "INVALID_API_KEY"
    | "RATE_LIMIT_EXCEEDED"
    /** The key lacks `details.scope`, or the path lies outside `details.pathPrefix`. */
    | "FORBIDDEN_SCOPE"
    | "FILE_NOT_FOUND"
    | "VERSION_NOT_FOUND"
    | "VERSION_CONFLICT"
    | "VERSION_DELETED"
    | "PRECONDITION_FAILED"
    | "FILE_ALREADY_EXISTS"
    | "IDEMPOTENCY_KEY_REUSED"
    | "IDEMPOTENCY_KEY_IN_USE"
    | "CONTENT_TOO_LARGE"
    | "QUOTA_EXCEEDED"
    /** The file has as many segments as it may have: compact some of `segments`, then commit again. */
    | "SEGMENT_LIST_FULL"
    | AdministrativeCode;
  readonly details: Readonly<Record<string, unknown>>;
  /** With SEGMENT_LIST_FULL: the file's segments, in order. */
  readonly segments?: readonly Segment[] | undefined;
}

/** Codes of what is done with accounts, projects and keys. */
export type AdministrativeCode =
  | "VALIDATION_ERROR"
  | "INVALID_SESSION"
  | "PROJECT_NOT_FOUND"
  | "PROJECT_NAME_TAKEN"
  | "PROJECT_LIMIT_REACHED"
  | "KEY_NOT_FOUND"
  | "KEY_REVOKED"
  | "KEY_LIMIT_REACHED";

/** What can be done with a project besides its files; see `filestore.administer`. */
export type AdministrativeAction =
  | "project"
  | "rename"
  | "keys"
  | "create_key"
  | "rotate_key"
  | "regenerate_key"
  | "revoke_key"
  | "activity";

/** The answer to a signed-in account. */
export type AccountAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** A file at one version with the segments its bytes are made of, in order. */
export interface Content {
  readonly file: FileRecord;
  readonly segments: readonly Segment[];
}

/** One page of a version list, newest first. */
export interface VersionPage {
  readonly file: { readonly path: string; readonly mimeType: string };
  readonly versions: readonly {
    readonly version: number;
    readonly size: number;
    readonly createdAt: string;
    readonly updatedAt: string;
    /** Present on a tombstone. */
    readonly deleted?: boolean | undefined;
    /** The key it was written with: to the owner alone, absent where that was the console. */
    readonly keyId?: string | undefined;
  }[];
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
}

export interface ListPage {
  readonly files: readonly FileRecord[];
  readonly directories?: readonly string[] | undefined;
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly hasMore: boolean;
}

/** What an Idempotency-Key stands for. */
export interface Idempotency {
  /** 1 to 255 printable ASCII characters. */
  readonly key: string;
  /** SHA-256 of route, path and body, 64 lower-case hexadecimal digits: the same request has the same. */
  readonly fingerprint: string;
}

/** What must hold for the file, checked under its lock. Each entry is `{fileId}.{version}`, or `*` for any file. */
export interface Preconditions {
  readonly ifMatch?: readonly string[] | undefined;
  readonly ifNoneMatch?: readonly string[] | undefined;
}

/**
 * One commit: a new version of one file, made of stored and of new, uploaded segments.
 * - `write`: the content is exactly the new segments; creates the file where there is none.
 * - `overwrite`: the same for a file that exists; its type stays.
 * - `append`: the new segments go to the end of the latest content. Never reads content, never loses an append.
 * - `edit`: `segmentIds` lists ids, of segments of `baseVersion` and of new ones, in order. VERSION_CONFLICT when the
 *   file has moved on.
 * - `delete`: the version is a tombstone. - `restore`: content and type of an earlier version, of a deleted file, too.
 * - `copy`: the content of `path` becomes the next version of `destination`. - `move`: and `path` gets a tombstone.
 */
export type Commit =
  & {
    readonly path: string;
    /** Made by the caller, unique per project. Committing it again answers the first version and makes nothing. */
    readonly commitId: string;
    readonly idempotency?: Idempotency | undefined;
    /** Said along with the record, now and whenever an idempotency key asks for this answer again. */
    readonly extra?: Readonly<Record<string, unknown>> | undefined;
  }
  & Preconditions
  & (
    | { readonly kind: "write"; readonly segments: readonly Segment[]; readonly mimeType: string }
    | { readonly kind: "overwrite" | "append"; readonly segments: readonly Segment[] }
    | {
      readonly kind: "edit";
      readonly segments: readonly Segment[];
      readonly baseVersion: number;
      readonly segmentIds: readonly string[];
    }
    | { readonly kind: "delete" }
    | { readonly kind: "restore"; readonly version: number }
    | { readonly kind: "copy"; readonly destination: string; readonly overwrite: boolean }
    | {
      readonly kind: "move";
      readonly destination: string;
      readonly overwrite: boolean;
      /** The id of the tombstone's commit. */
      readonly sourceCommitId: string;
    }
  );

/** The answer of a commit. */
export interface Committed {
  /** The record and the commit's `extra`. */
  readonly file: FileRecord;
  /** True where this is the answer of an earlier request with the same idempotency key. */
  readonly isReplayed: boolean;
  /** The file's segments, when it is worth checking whether some can be compacted. */
  readonly segments: readonly Segment[] | null;
}

/** One version as one side of a comparison. */
export interface Side {
  readonly size: number;
  readonly mimeType: string;
  readonly segments: readonly Segment[];
}

/** Two versions of a file. Null is version 0: nothing, before the first. */
export interface Comparison {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly before: Side | null;
  readonly after: Side | null;
}

/** The file to be edited, or what an earlier request with the same idempotency key was answered. */
export type EditBase = Content | { readonly storedResponse: FileRecord };

/** What limits a search, whatever it looks for. */
export interface SearchFilter {
  /** Without leading or trailing slash; "" is the root. */
  readonly directory: string;
  /** A regular expression for the whole path, from `domain/glob.ts`. */
  readonly glob?: string | undefined;
  readonly contentType?: string | undefined;
  /** At most so many files, after `skip` others, and of text about so many bytes. */
  readonly files: number;
  readonly skip: number;
  readonly bytes: number;
}

/**
 * - `scan`: files by path that hold, of each clause, one literal; a superset where case is folded.
 * - `rank`: the best files by `words` (web search syntax), by nearness to `vector`, or by both, fused.
 */
export type SearchQuery =
  & SearchFilter
  & (
    | {
      readonly kind: "scan";
      readonly clauses: readonly (readonly string[])[];
      readonly caseSensitive: boolean;
      /** Only paths that come after this one. */
      readonly after?: string | undefined;
    }
    | {
      readonly kind: "rank";
      readonly words?: string | undefined;
      readonly vector?: readonly number[] | undefined;
      /** The model that made the vector. */
      readonly model?: string | undefined;
    }
  );

/** Why a file's text is not in the index: it is found by its name. */
export type Skipped = "too_large" | "not_text";

export interface FoundFile {
  readonly file: FileRecord;
  readonly skipped: Skipped | null;
  /** The text of that version, U+FFFE for NUL; of a skipped file its path. */
  readonly content: string;
  readonly score: number;
  /** The part that is nearest to the vector. */
  readonly chunk?: { readonly firstLine: number; readonly text: string } | null | undefined;
}

export interface SearchPage {
  readonly files: readonly FoundFile[];
  /** Of a scan: the path to go on after; null where nothing is left. */
  readonly next: string | null;
  /** Of a ranking. */
  readonly hasMore: boolean;
  /** Whether the database compares vectors. */
  readonly hasVectors: boolean;
  /** Stems of the query's words. */
  readonly lexemes: readonly string[];
  /** Files whose current version is not indexed yet. */
  readonly pending: number;
}

/** How far the sweep of one project has come. Days are `yyyy-mm-dd`, UTC. */
export interface Sweep {
  readonly projectId: string;
  /** All that is named may be of a later day; everything up to this one can be swept. */
  readonly through: string;
  /** Everything up to this day is swept; null: nothing yet. */
  readonly sweptThrough: string | null;
  /** The day being swept, and how many of its objects are kept so far. */
  readonly day: string | null;
  readonly kept: number;
}

/** What the database would say to a write, before any byte is stored. */
export interface Authorization {
  /** The live file at the path that was asked about, if there is one. */
  readonly file: { readonly version: number; readonly size: number } | null;
  /** The tombstone at the path, if there is one. */
  readonly deletedVersion: number | null;
}

/**
 * Authority and metadata. Each method is one back-end call and one transaction that authenticates, counts the
 * request against the project's rate window and does the operation. A read may be repeated by the adapter after
 * an ambiguous failure; so may a commit, since `commitId` makes it idempotent.
 */
export interface Metadata {
  /** Authorizes a key and counts the request; returns what is at `path`, if given. */
  authorize(caller: Caller, path?: string): Promise<Answer<Authorization>>;
  /** The file's record at `version` (default: the latest). */
  record(caller: Caller, path: string, version?: number): Promise<Answer<FileRecord>>;
  /** Record and segments at `version` (default: the latest). */
  content(caller: Caller, path: string, version?: number): Promise<Answer<Content>>;
  /** The latest content, for an edit; or the answer of its idempotency key. */
  editBase(caller: Caller, path: string, idempotency: Idempotency | undefined): Promise<Answer<EditBase>>;
  /** Two versions; `to` is by default the latest and `from` the one before `to`. */
  comparison(caller: Caller, path: string, from?: number, to?: number): Promise<Answer<Comparison>>;
  versions(caller: Caller, path: string, limit: number, offset: number): Promise<Answer<VersionPage>>;
  list(caller: Caller, query: ListQuery): Promise<Answer<ListPage>>;
  /** Searches the current text of the project's files. */
  search(caller: Caller, query: SearchQuery): Promise<Answer<SearchPage>>;
  /** Adds a version. */
  commit(caller: Caller, commit: Commit): Promise<Answer<Committed>>;
  /**
   * Replaces the adjacent segments `run` of the file's current segment list by `compacted`. Content, versions and
   * older segment lists stay as they are. Returns false where the list no longer holds that run.
   */
  compact(
    caller: Caller,
    path: string,
    run: readonly string[],
    compacted: readonly Segment[],
  ): Promise<Answer<boolean>>;
  /** Does `action` with the key's project. What it answers is checked by who asks. */
  administer(
    caller: Caller,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<Answer<unknown>>;
  /** The project whose sweep is furthest behind; null where nothing is left to sweep. */
  nextSweep(): Promise<Sweep | null>;
  /** Those of the segment ids, of days that no commit accepts any more, that no segment row references. */
  unreferenced(projectId: string, ids: readonly string[]): Promise<readonly string[]>;
  /** Notes how far the sweep of a project has come. */
  noteSweep(sweep: Omit<Sweep, "through">): Promise<void>;
  /** Throws unless the database answers. */
  ping(): Promise<void>;
}

/**
 * What signed-in people may do. Each method is one back-end call under the account's own access token, which the
 * back end verifies: INVALID_SESSION where it does not hold. The database decides by the owner of the project.
 */
export interface Accounts {
  /** The account's projects, oldest first. The first call makes one. */
  projects(accessToken: string): Promise<AccountAnswer<unknown>>;
  createProject(accessToken: string, name: string): Promise<AccountAnswer<unknown>>;
  /** Does `action` with a project of the account, by default its oldest. */
  administer(
    accessToken: string,
    projectId: string | null,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<AccountAnswer<unknown>>;
  /** Lets the token with this hash stand for a key of the project for CONSOLE_SESSION_SECONDS. */
  openSession(accessToken: string, projectId: string, tokenHash: KeyHash): Promise<AccountAnswer<unknown>>;
}

/** Bytes, in objects that never change. */
export interface Segments {
  /**
   * Stores the bytes under the segment's name. Resolved means durable. May be repeated: the name is random, so
   * an object that is already there is this one.
   */
  put(segment: Segment, bytes: Uint8Array): Promise<void>;
  /**
   * The bytes of a segment, verified against its checksum. Throws `ApiError("CONTENT_CORRUPT")` where the object
   * is missing, short or changed. May be served from memory, and is kept there for the next reader unless `isKept`
   * is false.
   */
  get(segment: Segment, isKept?: boolean): Promise<Uint8Array>;
  /** Removes objects. Only for segments that no commit names or can still name. */
  remove(names: readonly string[]): Promise<void>;
  /** Days of a project that have objects, ascending, `yyyy-mm-dd`. */
  days(projectId: string): Promise<readonly string[]>;
  /** Ids of a day's objects in a fixed order, `limit` of them from the one at `offset`. */
  list(projectId: string, day: string, offset: number, limit: number): Promise<readonly string[]>;
  /** Throws unless the storage answers. */
  ping(): Promise<void>;
}

/** A claimed file. Nobody else gets it until the claim has run out. */
export interface ClaimedFile {
  readonly projectId: string;
  readonly fileId: string;
  readonly version: number;
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
  readonly isDeleted: boolean;
  /** Of the text, where it is to be stored and small enough. */
  readonly segments: readonly Segment[];
  /** To be embedded. */
  readonly chunks: readonly { readonly hash: string; readonly text: string }[];
}

export interface Claim {
  readonly claimId: string;
  readonly files: readonly ClaimedFile[];
  /** When the next file is due that nobody has claimed, at the earliest; null where there is none. */
  readonly nextDueMilliseconds: number | null;
}

/** What the index is to hold of a claimed file. */
export interface IndexedText
  extends Pick<ClaimedFile, "projectId" | "fileId" | "version" | "path" | "mimeType" | "isDeleted"> {
  /** U+FFFE for NUL; null where the text is not indexed. */
  readonly content: string | null;
  readonly skipped: Skipped | null;
  /** First line from 1, start and length in characters. */
  readonly chunks: readonly (readonly [number, number, number])[];
}

/** The search index, for every project. Each method is one back-end call and one transaction; all may be repeated. */
export interface SearchIndex {
  /** Takes files whose text is to be stored. */
  claimTexts(): Promise<Claim>;
  /** Takes files with chunks that the model has not seen. */
  claimChunks(model: string): Promise<Claim>;
  /** Stores texts of a claim. What it no longer holds is left alone. */
  storeTexts(claimId: string, texts: readonly IndexedText[], model: string | null): Promise<void>;
  /** Stores embeddings by chunk hash and hands the file back. */
  storeEmbeddings(
    claimId: string,
    file: Pick<ClaimedFile, "projectId" | "fileId">,
    model: string,
    embeddings: readonly { readonly hash: string; readonly embedding: readonly number[] }[],
  ): Promise<void>;
  /** Queues files that the model has not seen; answers how many. */
  requeue(model: string): Promise<number>;
}

/** Turns texts into vectors of EMBEDDING_DIMENSIONS numbers and length 1, near each other where their meaning is. */
export interface Embedder {
  /** Vectors of different models cannot be compared. */
  readonly model: string;
  /** In the order of the texts. Throws `ApiError("SERVICE_UNAVAILABLE")` where the model is out of reach. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}
