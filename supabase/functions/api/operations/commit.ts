/** From uploaded segments to a version. */
import type { Context } from "../context.ts";
import { MERGES_OF_A_FULL_ROPE_MAX } from "../limits.ts";
import { ApiError } from "../errors.ts";
import type { Commit, Committed, Refusal, Segment } from "../ports.ts";
import { mergeRope } from "./merge_rope.ts";

export type CommitResult = { readonly committed: Committed } | { readonly refusal: Refusal };

/**
 * Commits, and merges when the rope has grown too long. Bytes of a commit that was refused for certain are removed;
 * where a lost try may still name them they stay for the sweep.
 */
export async function tryCommit(context: Context, commit: Commit): Promise<CommitResult> {
  for (let merges = 0;; merges++) {
    const answer = context.gate.note(await context.metadata.commit(context.gate.caller, commit));
    if (answer.ok) {
      if (answer.value.rope) await mergeIfPossible(context, commit.path, answer.value.rope);
      return { committed: answer.value };
    }
    const { refusal } = answer;
    const mayMerge = refusal.code === "ROPE_FULL" && refusal.rope && merges < MERGES_OF_A_FULL_ROPE_MAX;
    if (mayMerge && await mergeRope(context, commit.path, refusal.rope, true)) continue;
    if (!answer.isRepeated) await removeQuietly(context, commit.segments);
    return { refusal };
  }
}

/** Commits; a refusal is thrown. */
export async function commit(context: Context, commit: Commit): Promise<Committed> {
  const result = await tryCommit(context, commit);
  return "committed" in result ? result.committed : context.gate.refuse(result.refusal);
}

/** The version is committed: a merge that fails is made up for by a later one. */
async function mergeIfPossible(context: Context, path: string, rope: readonly Segment[]): Promise<void> {
  try {
    await mergeRope(context, path, rope, false);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

async function removeQuietly(context: Context, segments: readonly Segment[]): Promise<void> {
  try {
    await context.segments.remove(segments);
  } catch {
    // Garbage that nothing names: the sweep takes it.
  }
}
