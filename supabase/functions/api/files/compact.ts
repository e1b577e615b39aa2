/** Compacts small segments of a file, within the request that added one too many. */
import type { Context } from "../context.ts";
import { planCompaction } from "./compaction_plan.ts";
import type { Segment } from "../ports/segments.ts";
import { readSegments } from "./read_segments.ts";
import { storeContent } from "./store_content.ts";
import { discard } from "./uploads.ts";

/**
 * Merges the run of `rope` that is worth it, if there is one. `isFull`: the rope may not have more segments, so any
 * run will do. Says whether the file's rope is shorter now, be it by somebody else.
 */
export async function compactSegments(
  context: Context,
  path: string,
  rope: readonly Segment[],
  isFull: boolean,
): Promise<boolean> {
  const plan = planCompaction(rope.map((segment) => segment.size), isFull);
  if (!plan) return false;
  const run = rope.slice(plan.from, plan.to);
  const merged = await storeContent(
    context,
    readSegments(context, run),
    run.every((segment) => segment.isText),
  );
  const answer = await context.metadata.compact(
    context.gate.caller,
    path,
    run.map((segment) => segment.id),
    merged,
  );
  // The rope has changed under the merge: what it made is of no use.
  if (answer.ok && !answer.value && !answer.isAmbiguous) await discard(context.segments, merged);
  return answer.ok;
}
