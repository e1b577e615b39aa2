/** Commits of many files: one transaction, one commit id, a version for each file. No bytes are sent or moved. */
import type { FolderResult } from "../contract/files.ts";
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

export type FolderCommitted = ManyCommitted<FolderResult>;
