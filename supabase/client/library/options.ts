/** The options of the library's methods, named as the fields and parameters of the service. */

/** Of every write. */
export interface WriteOptions {
  /** The version that the file must have; 0: there must be no file. */
  readonly ifVersion?: number | undefined;
  /** Why: recorded with the version. */
  readonly note?: string | undefined;
  /** Names the write, also across restarts of the program. By default each write has a new one. */
  readonly idempotencyKey?: string | undefined;
}

/** Of writes of content: one of the known types; by default it follows from the path. */
export interface ContentOptions extends WriteOptions {
  readonly contentType?: string | undefined;
}

/** A text, bytes, or what opens the bytes for each try. */
export type Content = string | Uint8Array | Blob | (() => Promise<ReadableStream<Uint8Array>>);

export interface ReadOptions {
  readonly version?: number | undefined;
  /** A time or a cursor of the change feed. */
  readonly at?: string | undefined;
  /** `3-5`, `3-` or `-20`. */
  readonly lines?: string | undefined;
  readonly encoding?: "utf8" | "base64" | undefined;
}

export interface ListOptions {
  readonly recursive?: boolean | undefined;
  readonly at?: string | undefined;
  readonly deleted?: boolean | undefined;
  readonly contentType?: string | undefined;
  readonly minSize?: number | undefined;
  readonly maxSize?: number | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly updatedAfter?: string | undefined;
  readonly updatedBefore?: string | undefined;
}

export interface SearchOptions {
  readonly mode?: "text" | "regex" | "semantic" | "hybrid" | undefined;
  readonly directory?: string | undefined;
  readonly glob?: string | undefined;
  readonly contentType?: string | undefined;
  readonly caseSensitive?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Seconds to wait for the index. */
  readonly wait?: number | undefined;
}

export interface DiffOptions {
  /** By default the version before `to`. */
  readonly from?: number | undefined;
  /** By default the latest version. */
  readonly to?: number | undefined;
  /** Compares with this file instead. */
  readonly toPath?: string | undefined;
}

export interface ChangesOptions {
  /** A cursor, or `now`. By default the beginning of the feed. */
  readonly after?: string | undefined;
  /** Goes on with versions that are written later, until the iteration or the signal ends. */
  readonly follow?: boolean | undefined;
  readonly run?: string | undefined;
  readonly actor?: string | undefined;
  readonly keyId?: string | undefined;
  readonly path?: string | undefined;
  readonly directory?: string | undefined;
  readonly operation?: string | undefined;
}

export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll?: boolean | undefined;
  readonly expectedOccurrences?: number | undefined;
}

export interface EditOptions extends WriteOptions {
  readonly replaceAll?: boolean | undefined;
  readonly expectedOccurrences?: number | undefined;
}

/** Of a copy or move. */
export interface MoveOptions extends WriteOptions {
  readonly overwrite?: boolean | undefined;
  /** Both paths are folders. `ifVersion` is not for folders. */
  readonly recursive?: boolean | undefined;
}

export interface DeleteOptions extends WriteOptions {
  /** The path is a folder. `ifVersion` is not for folders. */
  readonly recursive?: boolean | undefined;
}

/** One operation of a batch, with the fields of its route. */
export type Operation =
  & { readonly ifVersion?: number | undefined }
  & (
    | {
      readonly op: "write" | "append" | "overwrite";
      readonly path: string;
      readonly content: string;
      readonly isBase64?: boolean | undefined;
      readonly contentType?: string | undefined;
    }
    | ({ readonly op: "edit"; readonly path: string } & (Edit | { readonly edits: readonly Edit[] }))
    | { readonly op: "delete"; readonly path: string }
    | { readonly op: "restore"; readonly path: string; readonly version: number }
    | {
      readonly op: "copy" | "move";
      readonly path: string;
      readonly destination: string;
      readonly overwrite?: boolean | undefined;
    }
  );

export interface UndoOptions extends Omit<WriteOptions, "ifVersion"> {
  /** By default true: only the plan. */
  readonly dryRun?: boolean | undefined;
  readonly onConflict?: "refuse" | "skip" | "overwrite" | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly keys?: "own" | readonly string[] | undefined;
}

export interface NewBranchOptions {
  /** The folder that is copied; by default the root. */
  readonly directory?: string | undefined;
  readonly title?: string | undefined;
  /** The folder as it was at a time, or at a cursor of the change feed. */
  readonly at?: string | undefined;
  /** Seconds. */
  readonly expiresIn?: number | undefined;
}

export interface BranchOptions {
  readonly title?: string | undefined;
  readonly state?: "open" | "ready" | "closed" | undefined;
  readonly note?: string | undefined;
  /** Seconds from now. */
  readonly expiresIn?: number | undefined;
}

/** Of a merge or an update of a branch. Paths are relative to the branch. */
export interface MergeOptions extends Omit<WriteOptions, "ifVersion"> {
  /** By default true: only the plan. */
  readonly dryRun?: boolean | undefined;
  readonly onConflict?: "refuse" | "branch" | "current" | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly resolutions?: readonly Resolution[] | undefined;
  /** A cursor: refuses if the folder that is written was changed since. */
  readonly expected?: string | undefined;
  /** Keeps the files of the branch after the merge. */
  readonly keep?: boolean | undefined;
}

/** What a merge takes for one file. */
export type Resolution =
  | { readonly path: string; readonly take: "branch" | "current" }
  | { readonly path: string; readonly content: string; readonly isBase64?: boolean | undefined };

export interface LinkOptions {
  readonly for?: "read" | "write" | undefined;
  /** Seconds. */
  readonly expiresIn?: number | undefined;
  readonly version?: number | undefined;
  readonly contentType?: string | undefined;
  readonly maxBytes?: number | undefined;
  readonly ifVersion?: number | undefined;
}
