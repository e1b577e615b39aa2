/**
 * An append that takes along the merge that an earlier one left to it: the end of the rope and what is added are stored
 * and committed as one. Where the file has moved on meanwhile it is an append like any other.
 */
import type { Context } from "../context.ts";
import { drainAndDetach } from "../runtime/detach.ts";
import { ApiError } from "../errors.ts";
import type { Refusal } from "../ports/answer.ts";
import type { Committed } from "../ports/commit.ts";
import type { Segment } from "../ports/segments.ts";
import { commit, fileOf, refuse, tryCommit } from "./commit.ts";
import type { CommitBasis } from "./commit_request.ts";
import type { DueMerge } from "./pending_compactions.ts";
import { readSegments } from "./read_segments.ts";
import { storeContent } from "./store_content.ts";

export interface MergingAppend {
  readonly due: DueMerge;
  /** The end of the rope with the content. */
  readonly segments: readonly Segment[];
  /** The content alone. */
  readonly chunks: readonly Uint8Array[];
}

/**
 * Stores the content of an append to the file at `path`, with the end of its rope in front. Undefined where no merge is
 * due, or where those segments are damaged or out of reach, which is no matter of an append.
 */
export async function storeMergingAppend(
  context: Context,
  path: string,
  chunks: readonly Uint8Array[],
): Promise<MergingAppend | undefined> {
  const due = context.dueMerges.take(fileOf(context, path));
  if (!due) return undefined;
  const end: Uint8Array[] = [];
  try {
    for await (const bytes of readSegments(context, due.run)) end.push(bytes);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
  const isText = due.run.every((segment) => segment.isText);
  return { due, segments: await storeContent(context, [...end, ...chunks], isText), chunks };
}

/** What a plain append may be spared: it does not depend on the version, and needs room for its own bytes alone. */
const REFUSALS_OF_THE_MERGE: readonly Refusal["code"][] = ["VERSION_CONFLICT", "QUOTA_EXCEEDED"];

/** Commits both. Throws the refusals of an append. */
export async function commitMergingAppend(
  context: Context,
  basis: CommitBasis,
  { due, segments, chunks }: MergingAppend,
): Promise<Committed> {
  const merging = {
    kind: "edit",
    ...basis,
    segments,
    baseVersion: due.version,
    segmentIds: [...due.kept, ...segments.map((segment) => segment.id)],
  } as const;
  const result = await tryCommit(context, merging);
  if ("committed" in result) return result.committed;
  if (!REFUSALS_OF_THE_MERGE.includes(result.refusal.code)) refuse(context, merging, result.refusal);
  // With the same id: should a lost try of the first commit still come, only one of the two counts.
  const own = await storeContent(context, drainAndDetach(chunks));
  return await commit(context, { kind: "append", ...basis, segments: own }, true);
}
