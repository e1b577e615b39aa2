/** From uploaded segments to a version. */
import type { Context } from "../context.ts";
import { ApiError, fail } from "../errors.ts";
import { FULL_SEGMENT_LIST_COMPACTIONS_MAX, UNAVAILABLE_RETRY_AFTER_SECONDS } from "../limits.ts";
import type { Refusal } from "../ports/answer.ts";
import type { Commit, Committed } from "../ports/commit.ts";
import type { Segment } from "../ports/segments.ts";
import { compactSegments } from "./compact.ts";
import { projectOf } from "./store_content.ts";
import { discard } from "./uploads.ts";

export type CommitResult = { readonly committed: Committed } | { readonly refusal: Refusal };

/**
 * Commits, and merges when the rope has grown too long, or leaves that to the next append where it may. Bytes that the
 * commit certainly does not name are removed; where a lost try may still name them they stay for the sweep.
 */
export async function tryCommit(
  context: Context,
  commit: Commit,
  mayLeaveMerge = false,
): Promise<CommitResult> {
  const uploaded = "segments" in commit ? commit.segments : [];
  for (let merges = 0;; merges++) {
    const answer = context.gate.note(await context.metadata.commit(context.gate.caller, commit));
    const isNamed = answer.ok && !answer.value.isReplayed;
    const isFull = !answer.ok && answer.refusal.code === "ROPE_FULL";
    if (isFull && merges < FULL_SEGMENT_LIST_COMPACTIONS_MAX) {
      if (await makeRoom(context, commit.path, answer.refusal.rope ?? [])) continue;
    }
    if (!isNamed && !answer.isAmbiguous) await discard(context.segments, uploaded);
    if (isFull) refuseFull();
    if (!answer.ok) return { refusal: answer.refusal };
    context.onCommit();
    await mergeIfDue(context, answer.value, mayLeaveMerge);
    return { committed: answer.value };
  }
}

/** Commits; a refusal is thrown. */
export async function commit(context: Context, commit: Commit, mayLeaveMerge = false): Promise<Committed> {
  const result = await tryCommit(context, commit, mayLeaveMerge);
  return "committed" in result ? result.committed : refuse(context, commit, result.refusal);
}

/** Throws the refusal. A file that exists is 412 where the client made its absence a condition. */
export function refuse(context: Context, commit: Commit, refusal: Refusal): never {
  const wasCondition = refusal.code === "FILE_ALREADY_EXISTS" && commit.ifNoneMatch !== undefined;
  context.gate.refuse(refusal, wasCondition ? 412 : undefined);
}

/** Others fill the rope as fast as it is merged: nothing was done, and later there is room. */
function refuseFull(): never {
  fail("SERVICE_UNAVAILABLE", "The file is written to faster than it is merged. Try again.", undefined, {
    "Retry-After": String(UNAVAILABLE_RETRY_AFTER_SECONDS),
  });
}

/** Merges some of a full rope. Says whether there may be room now. */
function makeRoom(context: Context, path: string, rope: readonly Segment[]): Promise<boolean> {
  return context.merges.join(fileOf(context, path), () => compactSegments(context, path, rope, true));
}

/** The version is committed: a merge that fails is made up for by a later one. */
async function mergeIfDue(context: Context, committed: Committed, mayLeave: boolean): Promise<void> {
  const { rope, file: { path, version } } = committed;
  const file = fileOf(context, path);
  context.dueMerges.isAt(file, version);
  if (!rope || context.merges.has(file)) return;
  if (mayLeave && context.dueMerges.leave(file, version, rope)) return;
  try {
    await context.merges.join(file, () => compactSegments(context, path, rope, false));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** The file's name among those of all projects. */
export function fileOf(context: Context, path: string): string {
  return `${projectOf(context)}/${path}`;
}
