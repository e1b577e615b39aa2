/** Commits of many files: one transaction, one commit id, a version for each file. No bytes are sent or moved. */
import type { Idempotency } from "./commit.ts";

/** What to do where others have changed a file of the run since. */
export type OnConflict = "refuse" | "skip" | "overwrite";

export interface Undo {
  readonly kind: "undo";
  readonly run: string;
  readonly onConflict: OnConflict;
  /** Only what was made with the calling key (by a person: in the console), or with these keys. */
  readonly keys?: "own" | readonly string[] | undefined;
  /** Only these files of the run. */
  readonly paths?: readonly string[] | undefined;
}

/** Every file below a directory becomes what it was at a moment. */
export interface RestoreFolder {
  readonly kind: "restore_folder";
  readonly directory: string;
  readonly at: string;
}

export type FolderCommit =
  | {
    readonly kind: "copy_folder" | "move_folder";
    readonly path: string;
    readonly destination: string;
    readonly overwrite: boolean;
    /** Of a copy: as it was then. */
    readonly at?: string | undefined;
  }
  | { readonly kind: "delete_folder"; readonly path: string };

/** What becomes of each file of an undo or restore. */
export interface BackAnswer {
  /** The run that this is itself; null in a plan. */
  readonly runId: string | null;
  /** Null for a folder that is restored. */
  readonly undoneRunId: string | null;
  readonly actions: readonly {
    readonly path: string;
    readonly action: "restore" | "delete";
    /** The current version. */
    readonly from: number;
    /** The version whose content comes back; null: none, or a tombstone. */
    readonly to: number | null;
    /** The new version; absent in a plan. */
    readonly version?: number | undefined;
    /** Of an undo: as in `Whose`. */
    readonly own?: boolean | undefined;
    readonly keyIds?: readonly string[] | undefined;
  }[];
  /** Files that are equal already. */
  readonly unchanged: readonly string[];
  readonly conflicts: readonly {
    readonly path: string;
    readonly version: number;
    readonly actor: string | null;
    readonly runId: string | null;
    /** Whether the version was made with the calling key. */
    readonly own?: boolean | undefined;
    /** For the owner and keys with `admin`. */
    readonly keyId?: string | undefined;
    readonly reason?: "gone" | "moved" | "unexamined" | undefined;
  }[];
  readonly trimmed?: readonly string[] | undefined;
}

export interface FolderAnswer {
  readonly count: number;
  readonly files: readonly { readonly path: string; readonly version: number }[];
  readonly trimmed?: readonly string[] | undefined;
}

/** What every such commit carries besides. */
export interface ManyBasis {
  readonly commitId: string;
  readonly idempotency: Idempotency | undefined;
}

/** The answer, and whether an earlier request with the same idempotency key was given it. */
export interface ManyCommitted<T> {
  readonly value: T;
  readonly isReplayed: boolean;
}

export type FolderCommitted = ManyCommitted<FolderAnswer>;
