/** Replaces small segments of a file by fewer, larger ones with the same bytes. */
import type { Gate } from "../auth/gate.ts";
import type { Metadata } from "../ports/metadata.ts";
import { planCompaction } from "./compaction_plan.ts";
import type { Segment } from "../ports/segments.ts";
import { readSegments, type SegmentSource } from "./read_segments.ts";
import { discard, storeContent, type Uploader } from "./upload.ts";

/** The parts of a request that a compaction uses. */
export interface Compactor extends Uploader, SegmentSource {
  readonly gate: Pick<Gate, "projectId" | "caller">;
  readonly metadata: Pick<Metadata, "compact">;
}

/**
 * Compacts a run of segments, if one is worth it; with `isFull`, where the file may not have more segments, any run
 * that saves a segment. Returns whether the file has fewer segments now, even if another request compacted them.
 */
export async function compactSegments(
  compactor: Compactor,
  path: string,
  segments: readonly Segment[],
  isFull: boolean,
): Promise<boolean> {
  const plan = planCompaction(segments.map((segment) => segment.size), isFull);
  if (!plan) return false;
  const run = segments.slice(plan.from, plan.to);
  const compacted = await storeContent(
    compactor,
    readSegments(compactor, run),
    run.every((segment) => segment.isText),
  );
  const answer = await compactor.metadata.compact(
    compactor.gate.caller,
    path,
    run.map((segment) => segment.id),
    compacted,
  );
  // The segment list has changed meanwhile, so the result cannot be used.
  if (answer.ok && !answer.value && !answer.isAmbiguous) await discard(compactor.segments, compacted);
  return answer.ok;
}
