/** Writes: commits of one file, of several operations, and of many files; each is one transaction. */
import { z } from "zod";
import type { FolderResult, Redacted } from "../contract/files.ts";
import type { Wire } from "../contract/values.ts";
import type { Refusal } from "./answer.ts";
import { committedRecord } from "./files.ts";
import { type Segment, segment } from "./segments.ts";

/** An Idempotency-Key and the request that it stands for. */
export interface Idempotency {
  /** 1 to 255 printable ASCII characters. */
  readonly key: string;
  /** SHA-256 of route, path and body, 64 lower-case hexadecimal digits: equal for equal requests. */
  readonly fingerprint: string;
}

/** Checked under the file's lock. Each entry of a list is `{fileId}.{version}`, or `*` for any file. */
export interface Preconditions {
  readonly ifMatch?: readonly string[] | undefined;
  readonly ifNoneMatch?: readonly string[] | undefined;
  /** The version that the file must be at; 0: there must be no file. */
  readonly ifVersion?: number | undefined;
}

/** The fields that all commits of one file have in common. */
export interface CommitBasis extends Preconditions {
  readonly path: string;
  /** Chosen by the caller, unique per project. A repeated commit returns the first version and adds none. */
  readonly commitId: string;
  readonly idempotency?: Idempotency | undefined;
}

/** A change that does not depend on the content of the file. */
type Change =
  | { readonly kind: "write"; readonly segments: readonly Segment[]; readonly mimeType: string }
  | { readonly kind: "overwrite" | "append"; readonly segments: readonly Segment[] }
  | { readonly kind: "delete" }
  | { readonly kind: "restore"; readonly version: number }
  | { readonly kind: "copy" | "move"; readonly destination: string; readonly overwrite: boolean };

/** A change of the content that was read: the new segments, and the ids of all segments in order. */
interface EditChange {
  readonly kind: "edit";
  readonly segments: readonly Segment[];
  readonly segmentIds: readonly string[];
}

/**
 * One commit: a new version of one file, made of stored and of new, uploaded segments.
 * - `write`: the content is exactly the new segments; creates the file where there is none.
 * - `overwrite`: the same for a file that exists; its type is unchanged.
 * - `append`: adds the new segments at the end of the latest content. Never reads content, never loses an append.
 * - `edit`: `segmentIds` lists ids, of segments of `baseVersion` and of new ones, in order. VERSION_CONFLICT when
 *   `baseVersion` is no longer the latest, or its segments were compacted since.
 * - `delete`: the version is a tombstone. - `restore`: content and type of an earlier version, even of a deleted file.
 * - `copy`: the content of `path` becomes the next version of `destination`. - `move`: and `path` gets a tombstone.
 */
export type Commit =
  & CommitBasis
  & {
    /** Returned with the record, now and whenever the idempotency key replays this answer. */
    readonly extra?: Readonly<Record<string, unknown>> | undefined;
  }
  & (
    | Change
    | EditChange & {
      /** Identifies the file, since the path may have another file by now, with versions of the same numbers. */
      readonly baseFileId: string;
      readonly baseVersion: number;
    }
  );

/** One operation of a batch: the fields of a commit of its kind, without those of the whole batch. */
export type BatchOperation =
  & {
    readonly path: string;
    /** The version that the file at `path` must be at; 0: there must be no file. */
    readonly ifVersion?: number | undefined;
    readonly extra?: Readonly<Record<string, unknown>> | undefined;
    /** The refusal of this operation, unless an earlier one, or another check of this one, is refused first. */
    readonly failure?: Refusal | undefined;
  }
  & (
    | Change
    | EditChange & {
      /** The segment list that is edited, which may be the result of earlier operations. */
      readonly baseSegmentIds: readonly string[];
    }
  );

/** Operations that are committed in order, each on the result of the earlier ones: all of them or none. */
export interface Batch extends ManyBasis {
  readonly operations: readonly BatchOperation[];
}

/** The answer of a batch: the record that results from each operation. */
export const batchCommitted = z.object({
  results: z.array(committedRecord),
  isReplayed: z.boolean().default(false),
});
export type BatchCommitted = Wire<typeof batchCommitted>;

export const committed = z.object({
  /** The record and the commit's `extra`. */
  file: committedRecord,
  /** The file's segment list, when it may be worth compacting. */
  segments: z.array(segment).nullish().transform((segments) => segments ?? null),
  /** True where this is the answer of an earlier request with the same idempotency key. */
  isReplayed: z.boolean().default(false),
});
export type Committed = Wire<typeof committed>;

/** `note` replaces the notes of these versions. */
export type Redaction = Pick<Redacted, "path" | "versions"> & { readonly note: string | undefined };

export interface Undo {
  readonly kind: "undo";
  readonly run: string;
  /** What to do if a file of the run has later changes by others. */
  readonly onConflict: "refuse" | "skip" | "overwrite";
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

/** Merges a branch into its folder (`merge_branch`), or what changed there into the branch (`update_branch`). */
export interface Merge {
  readonly kind: "merge_branch" | "update_branch";
  readonly branch: string;
  /** What to do with a file that both sides have changed. */
  readonly onConflict: "refuse" | "branch" | "current";
  /** Only these files; paths are relative to the branch. */
  readonly paths?: readonly string[] | undefined;
  /** By path, what to take instead. */
  readonly resolutions?: Readonly<Record<string, Resolution>> | undefined;
  /** By path, the merged lines of texts that TEXTS_TO_MERGE has named. */
  readonly texts?: Readonly<Record<string, MergedText>> | undefined;
  /** A cursor: the folder that is written must not have changed since. */
  readonly expected?: string | undefined;
  /** Whether the files of the branch stay after a merge. */
  readonly keep: boolean;
}

export type Resolution = { readonly take: "branch" | "current" } | { readonly segments: readonly Segment[] };

export interface MergedText {
  readonly tag: string;
  readonly mimeType?: string;
  /** Absent: both sides have changed the same lines. */
  readonly segments?: readonly Segment[];
  readonly isConflict?: true;
}

/** `details` of TEXTS_TO_MERGE: the three sides of each text. */
export const textsToMerge = z.object({
  texts: z.array(z.object({
    path: z.string(),
    tag: z.string(),
    mimeType: z.string(),
    base: z.array(segment),
    branch: z.array(segment),
    current: z.array(segment),
  })),
});
export type TextToMerge = Wire<typeof textsToMerge>["texts"][number];

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

/** The fields that every commit of many files has in common. No bytes are sent or moved. */
export interface ManyBasis {
  readonly commitId: string;
  readonly idempotency: Idempotency | undefined;
}

/** The answer, and whether it is the answer of an earlier request with the same idempotency key. */
export interface ManyCommitted<T> {
  readonly value: T;
  readonly isReplayed: boolean;
}

export function manyCommitted<Schema extends z.ZodType>(answer: Schema) {
  return z.looseObject({ isReplayed: z.boolean().optional() }).transform(({ isReplayed, ...value }) => ({
    value: answer.parse(value),
    isReplayed: isReplayed ?? false,
  }));
}

export type FolderCommitted = ManyCommitted<FolderResult>;
