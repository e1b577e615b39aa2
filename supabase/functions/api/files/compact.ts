/** Merging small segments of a rope, in the request that made one too many. */
import type { Gate } from "../auth/gate.ts";
import type { Metadata } from "../ports/metadata.ts";
import { planMerge } from "./compaction_plan.ts";
import type { Segment } from "../ports/segments.ts";
import { readSegments, type SegmentSource } from "./read_segments.ts";
import { discard, storeContent, type Uploader } from "./upload.ts";

/** What a compaction reads, stores and calls. */
export interface Compactor extends Uploader, SegmentSource {
  readonly gate: Pick<Gate, "projectId" | "caller">;
  readonly metadata: Pick<Metadata, "compact">;
}

/**
 * Merges the run of `rope` that is worth it, if there is one. `isFull`: the rope may not have more segments, so any
 * run will do. Says whether the file's rope is shorter now, be it by somebody else.
 */
export async function mergeRope(
  context: Compactor,
  path: string,
  rope: readonly Segment[],
  isFull: boolean,
): Promise<boolean> {
  const plan = planMerge(rope.map((segment) => segment.size), isFull);
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
