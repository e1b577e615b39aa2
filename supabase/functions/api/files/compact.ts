/**
 * Replaces small segments of a file with fewer, larger ones that have the same bytes. Each append adds a segment; without
 * compaction, a file of many small appends would be many objects to read. Every compaction rewrites bytes, so this is a
 * trade-off with one rule: a compaction is worth it when the bytes it writes per segment it saves are below a price, and
 * the price doubles with every few segments in excess. So short segment lists are left alone, tiny neighbours are
 * compacted early, large ones late, and a segment list never exceeds `segmentListMax`.
 */
import type { Gate } from "../auth/gate.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Segment } from "../ports/segments.ts";
import { readSegments, type SegmentSource } from "./read_segments.ts";
import { discard, storeContent, type Uploader } from "./upload.ts";
import {
  COMPACTION_ANY_PRICE_EXCESS,
  COMPACTION_FIXED_COST_BYTES,
  COMPACTION_PRICE_BYTES,
  COMPACTION_PRICE_DOUBLES_EVERY_SEGMENTS,
  COMPACTION_RUN_BYTES_MAX,
  COMPACTION_RUN_SEGMENTS_MAX,
  SEGMENT_BYTES_MAX,
  SEGMENT_LIST_MAX_BASE,
  SEGMENT_LIST_MAX_PER_MIB,
} from "../limits.ts";

export interface Compactor extends Uploader, SegmentSource {
  readonly gate: Pick<Gate, "projectId" | "caller">;
  readonly metadata: Pick<Metadata, "compact">;
}

/**
 * Compacts a run of segments, if one is worth it; with `isFull` (the file may not have more segments), any run that
 * saves a segment. Returns whether the file has fewer segments now, even if another request compacted them.
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
  const isText = run.every((segment) => segment.isText);
  const compacted = await storeContent(compactor, readSegments(compactor, run), isText);
  const ids = run.map((segment) => segment.id);
  const answer = await compactor.metadata.compact(compactor.gate.caller, path, ids, compacted);
  // The segment list has changed in the meantime, so the result cannot be used.
  if (answer.ok && !answer.value && !answer.isAmbiguous) await discard(compactor.segments, compacted);
  return answer.ok;
}

/** A cut at a character boundary may leave a segment up to 3 bytes short. */
const SEGMENT_BYTES_CERTAIN = SEGMENT_BYTES_MAX - 3;

/**
 * The run to compact next, segments `from` to `to` (exclusive), or null where no compaction is worth it. `sizes` are
 * those of the file's segments in bytes. With `full` (the file may not have more segments) any compaction that saves a
 * segment is. It cuts the run's bytes again with `SegmentCutter`, which yields at least one segment less. A run has at
 * most COMPACTION_RUN_SEGMENTS_MAX segments and COMPACTION_RUN_BYTES_MAX bytes. Linear in the number of segments.
 *
 * Never null when called at every COMPACTION_CHECK_EVERY_SEGMENTS-th segment for a list about to exceed its maximum: of
 * two adjacent segments that cannot be compacted one is over half a MiB, so a list without a run has at most two
 * segments per MiB, and one.
 */
export function planCompaction(sizes: readonly number[], full: boolean) {
  let best: { readonly from: number; readonly to: number } | null = null;
  let bestPrice = full ? Infinity : acceptablePrice(sizes);
  for (let from = 0; from + 1 < sizes.length; from++) {
    let bytes = sizes[from] ?? 0;
    const end = Math.min(sizes.length, from + COMPACTION_RUN_SEGMENTS_MAX);
    for (let to = from + 2; to <= end; to++) {
      bytes += sizes[to - 1] ?? 0;
      if (bytes > COMPACTION_RUN_BYTES_MAX) break;
      const saved = to - from - segmentsFor(bytes);
      const price = saved > 0 ? (COMPACTION_FIXED_COST_BYTES + bytes) / saved : Infinity;
      if (price < bestPrice) {
        bestPrice = price;
        best = { from, to };
      }
    }
  }
  return best;
}

/** The most segments that a file of this size may have: the cap that the commit enforces. */
export function segmentListMax(bytes: number): number {
  return SEGMENT_LIST_MAX_BASE + SEGMENT_LIST_MAX_PER_MIB * Math.ceil(bytes / SEGMENT_BYTES_MAX);
}

/** The most bytes that a compaction may write for each segment that it saves. */
function acceptablePrice(sizes: readonly number[]): number {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const excess = sizes.length - SEGMENT_LIST_MAX_PER_MIB * Math.ceil(bytes / SEGMENT_BYTES_MAX);
  if (excess >= COMPACTION_ANY_PRICE_EXCESS) return Infinity;
  return COMPACTION_PRICE_BYTES * 2 ** (excess / COMPACTION_PRICE_DOUBLES_EVERY_SEGMENTS);
}

/** The most segments into which this many bytes are cut. */
function segmentsFor(bytes: number): number {
  return bytes <= SEGMENT_BYTES_MAX ? 1 : Math.ceil(bytes / SEGMENT_BYTES_CERTAIN);
}
