/**
 * Which segments of a rope to merge. Appends each add a segment; without merging, a file of many small appends
 * would be many objects to read. Every merge rewrites bytes, so this is a trade, and it has one rule: a merge is
 * worth it when the bytes it writes for each segment it saves are under a price, and the price doubles with every
 * few segments that the rope has too many. So short ropes are left alone, tiny neighbours are merged early,
 * large ones late, and a rope can never outgrow `segmentListMax`.
 */
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

/** Adjacent segments `from` to `to` (exclusive) of a rope. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** A cut at a character border may leave a segment up to 3 bytes short. */
const SEGMENT_BYTES_CERTAIN = SEGMENT_BYTES_MAX - 3;

/**
 * The run to merge next, or null where no merge is worth it. `sizes` are the rope's segments in bytes. With `full`
 * (the commit was refused because the rope may not have more segments) any merge that saves a segment is.
 * Merging is cutting the run's bytes anew with `cutSegments`, which gives at least one segment less. A run has
 * at most COMPACTION_RUN_SEGMENTS_MAX segments and COMPACTION_RUN_BYTES_MAX bytes. Linear in the number of segments.
 *
 * Never null where a rope asks for it at every COMPACTION_CHECK_EVERY_SEGMENTS-th segment and is about to be too long:
 * of two segments next to each other in an unmergeable rope, one is over half a MiB, so such a rope has at most
 * two segments a MiB, and one.
 */
export function planCompaction(sizes: readonly number[], full: boolean): Run | null {
  let best: Run | null = null;
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

/** The most segments that a rope of so many bytes may have: the cap that the commit enforces. */
export function segmentListMax(bytes: number): number {
  return SEGMENT_LIST_MAX_BASE + SEGMENT_LIST_MAX_PER_MIB * Math.ceil(bytes / SEGMENT_BYTES_MAX);
}

/** Bytes that may be written for each segment saved. */
function acceptablePrice(sizes: readonly number[]): number {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const excess = sizes.length - SEGMENT_LIST_MAX_PER_MIB * Math.ceil(bytes / SEGMENT_BYTES_MAX);
  if (excess >= COMPACTION_ANY_PRICE_EXCESS) return Infinity;
  return COMPACTION_PRICE_BYTES * 2 ** (excess / COMPACTION_PRICE_DOUBLES_EVERY_SEGMENTS);
}

/** Segments that so many bytes make at most. */
function segmentsFor(bytes: number): number {
  return bytes <= SEGMENT_BYTES_MAX ? 1 : Math.ceil(bytes / SEGMENT_BYTES_CERTAIN);
}
