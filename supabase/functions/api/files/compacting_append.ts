/**
 * An append that also performs the compaction its predecessor deferred: the end of the file and the new content are
 * stored and committed together. If the file has moved on, it becomes a plain append.
 */
import { ApiError } from "../errors.ts";
import type { Refusal } from "../ports/answer.ts";
import type { Committed } from "../ports/commit.ts";
import type { Segment } from "../ports/segments.ts";
import { concatenate } from "../runtime/concatenate.ts";
import { drainAndDetach } from "../runtime/detach.ts";
import { sha256Hex } from "../runtime/sha256.ts";
import { commit, type Committer, fileKey, throwCommitRefusal, tryCommit } from "./commit.ts";
import type { CommitBasis } from "./commit_request.ts";
import type { PendingCompaction } from "./pending_compactions.ts";
import { readSegments } from "./read_segments.ts";
import { storeContent } from "./upload.ts";

export interface CompactingAppend {
  readonly pending: PendingCompaction;
  /** The compacted end of the file followed by the new content. */
  readonly segments: readonly Segment[];
  /** The new content alone. */
  readonly chunks: readonly Uint8Array[];
  /** The checksum that the new content would have as a segment of its own. */
  readonly sent: () => Promise<Pick<Segment, "sha256">>;
}

/**
 * Stores the content of an append to the file at `path`, preceded by the end of the file. Undefined if no compaction is
 * pending, or if the segments to compact are corrupt or out of reach: a plain append does not need them.
 */
export async function storeCompactingAppend(
  committer: Committer,
  path: string,
  chunks: readonly Uint8Array[],
): Promise<CompactingAppend | undefined> {
  const pending = committer.pendingCompactions.take(fileKey(committer, path));
  if (!pending) return undefined;
  const end: Uint8Array[] = [];
  try {
    for await (const bytes of readSegments(committer, pending.run)) end.push(bytes);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
  const isText = pending.run.every((segment) => segment.isText);
  const segments = await storeContent(committer, [...end, ...chunks], isText);
  const sent = async () => ({ sha256: await sha256Hex(concatenate(chunks)) });
  return { pending, segments, chunks, sent };
}

/** Refusals that a plain append might not meet: it does not depend on the version, and needs room only for its bytes. */
const COMPACTION_REFUSALS: readonly Refusal["code"][] = ["VERSION_CONFLICT", "QUOTA_EXCEEDED"];

/** Commits both. Throws the refusals of an append. */
export async function commitCompactingAppend(
  committer: Committer,
  basis: CommitBasis,
  { pending, segments, chunks }: CompactingAppend,
): Promise<Committed> {
  const compacting = {
    kind: "edit",
    operation: "append",
    ...basis,
    segments,
    baseFileId: pending.fileId,
    baseVersion: pending.version,
    segmentIds: [...pending.kept, ...segments.map((segment) => segment.id)],
  } as const;
  const result = await tryCommit(committer, compacting);
  if ("committed" in result) return result.committed;
  if (!COMPACTION_REFUSALS.includes(result.refusal.code)) {
    throwCommitRefusal(committer, compacting, result.refusal);
  }
  // The second commit has the same commit id: if the first one still takes effect, only one of them counts.
  const own = await storeContent(committer, drainAndDetach(chunks));
  return await commit(committer, { kind: "append", ...basis, segments: own }, true);
}
