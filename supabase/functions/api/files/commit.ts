/** From uploaded segments to a version. */
import type { Gate } from "../auth/gate.ts";
import { ApiError, unavailable } from "../errors.ts";
import { FULL_SEGMENT_LIST_COMPACTIONS_MAX } from "../limits.ts";
import type { Refusal } from "../ports/answer.ts";
import type { Commit, Committed } from "../ports/commit.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Segment } from "../ports/segments.ts";
import { compactSegments } from "./compact.ts";
import type { InFlightCompactions } from "./in_flight_compactions.ts";
import type { PendingCompactions } from "./pending_compactions.ts";
import type { SegmentSource } from "./read_segments.ts";
import { discard, type Uploader } from "./upload.ts";

/** What a commit uses: the database, and storage for compactions. */
export interface Committer extends Uploader, SegmentSource {
  readonly gate: Pick<Gate, "projectId" | "caller" | "observe" | "throwRefusal">;
  readonly metadata: Pick<Metadata, "commit" | "compact">;
  readonly pendingCompactions: PendingCompactions;
  readonly inFlightCompactions: InFlightCompactions;
  /** Called after each commit: indexing, and now and then a slice of the sweep, follow the response. */
  readonly onCommit: () => void;
}

export type CommitResult = { readonly committed: Committed } | { readonly refusal: Refusal };

/**
 * Commits, and compacts when the file has too many segments; with `mayDefer` that may be left to the next append.
 * Segments that the commit certainly does not reference are removed; if a lost try may still have committed them they
 * are left to the sweep.
 */
export async function tryCommit(
  committer: Committer,
  commit: Commit,
  mayDefer = false,
): Promise<CommitResult> {
  const { gate, metadata } = committer;
  const uploaded = "segments" in commit ? commit.segments : [];
  for (let compactions = 0;; compactions++) {
    const answer = gate.observe(await metadata.commit(gate.caller, commit));
    const isReferenced = answer.ok && !answer.value.isReplayed;
    const isFull = !answer.ok && answer.refusal.code === "SEGMENT_LIST_FULL";
    if (isFull && compactions < FULL_SEGMENT_LIST_COMPACTIONS_MAX) {
      if (await makeRoom(committer, commit.path, answer.refusal.segments ?? [])) continue;
    }
    if (!isReferenced && !answer.isAmbiguous) await discard(committer.segments, uploaded);
    // Others fill the list as fast as it is compacted: nothing was done, and later there is room.
    if (isFull) {
      throw unavailable("The file is written to faster than its segments are compacted. Try again.");
    }
    if (!answer.ok) return { refusal: answer.refusal };
    committer.onCommit();
    await compactIfDue(committer, answer.value, mayDefer);
    return { committed: answer.value };
  }
}

/** Commits. Throws the refusal. */
export async function commit(committer: Committer, commit: Commit, mayDefer = false): Promise<Committed> {
  const result = await tryCommit(committer, commit, mayDefer);
  if ("committed" in result) return result.committed;
  throwCommitRefusal(committer, commit, result.refusal);
}

/** An existing file is 412 instead of 409 if the client made its absence a condition. */
export function throwCommitRefusal({ gate }: Committer, commit: Commit, refusal: Refusal): never {
  const wasCondition = refusal.code === "FILE_ALREADY_EXISTS" && commit.ifNoneMatch !== undefined;
  return gate.throwRefusal(refusal, wasCondition ? 412 : undefined);
}

/** Compacts some of a full segment list. Returns whether there may be room now. */
function makeRoom(committer: Committer, path: string, segments: readonly Segment[]): Promise<boolean> {
  const file = fileKey(committer, path);
  return committer.inFlightCompactions.run(file, () => compactSegments(committer, path, segments, true));
}

/** The version is committed, so a compaction that fails is no error: a later one does its work. */
async function compactIfDue(committer: Committer, committed: Committed, mayDefer: boolean): Promise<void> {
  const { pendingCompactions, inFlightCompactions } = committer;
  const { segments, file: { path, version } } = committed;
  const file = fileKey(committer, path);
  pendingCompactions.forgetOlderThan(file, version);
  if (!segments || inFlightCompactions.has(file)) return;
  if (mayDefer && pendingCompactions.defer(file, version, segments)) return;
  try {
    await inFlightCompactions.run(file, () => compactSegments(committer, path, segments, false));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** Identifies the file among those of all projects. */
export function fileKey({ gate }: Pick<Committer, "gate">, path: string): string {
  return `${gate.projectId}/${path}`;
}
