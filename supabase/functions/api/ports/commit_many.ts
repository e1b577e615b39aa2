/** Commits of many files: one transaction, one commit id, a version for each file. No bytes are sent or moved. */
import type { FolderResult } from "../contract/files.ts";
import type { Idempotency } from "./commit.ts";

/** What to do if a file of the run has later changes by others. */
export type OnConflict = "refuse" | "skip" | "overwrite";

export interface Undo {
  readonly kind: "undo";
  readonly run: string;
  readonly onConflict: OnConflict;
  /** Undoes only versions written with the calling key (for a person: in the console), or with these keys. */
  readonly keys?: "own" | readonly string[] | undefined;
  /** Undoes only these files of the run. */
  readonly paths?: readonly string[] | undefined;
}

/** Restores every file below a directory to its state at a moment. */
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
    /** For a copy: the moment at which the folder is read. */
    readonly at?: string | undefined;
  }
  | { readonly kind: "delete_folder"; readonly path: string };

/** The fields that every commit of many files has in common. */
export interface ManyBasis {
  readonly commitId: string;
  readonly idempotency: Idempotency | undefined;
}

/** The answer, and whether it is the answer of an earlier request with the same idempotency key. */
export interface ManyCommitted<T> {
  readonly value: T;
  readonly isReplayed: boolean;
}

export type FolderCommitted = ManyCommitted<FolderResult>;
