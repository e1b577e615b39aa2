/** Merges at the end of a rope that the next append to the file takes along. */
import { LruCache } from "../runtime/lru_cache.ts";
import { planCompaction } from "./compaction_plan.ts";
import {
  COMPACTION_CHECK_EVERY_SEGMENTS,
  PENDING_COMPACTION_SEGMENTS_MAX,
  PENDING_COMPACTIONS_MAX,
} from "../limits.ts";
import type { Segment } from "../ports/segments.ts";

/** The end of a version's rope that is worth merging, and what is in front of it. */
export interface DueMerge {
  readonly version: number;
  readonly kept: readonly string[];
  readonly run: readonly Segment[];
}

/**
 * What an isolate remembers of the ropes that its appends made too long, until the next append comes or a later version
 * is known. That saves the merge's own upload and commit; where nobody takes it along, a later merge makes up for it.
 */
export class DueMerges {
  private readonly byFile = new LruCache<string, DueMerge>(PENDING_COMPACTIONS_MAX);

  /** Leaves the merge of this version's rope to the next append. False where it must be made at once, if at all. */
  leave(file: string, version: number, rope: readonly Segment[]): boolean {
    if (rope.length > PENDING_COMPACTION_SEGMENTS_MAX) return false;
    const sizes = rope.map((segment) => segment.size);
    const plan = planCompaction(sizes, false);
    if (plan?.to !== rope.length) return false;
    // It was due at the last check, and nobody came.
    if (planCompaction(sizes.slice(0, -COMPACTION_CHECK_EVERY_SEGMENTS), false) !== null) return false;
    const kept = rope.slice(0, plan.from).map((segment) => segment.id);
    this.byFile.set(file, { version, kept, run: rope.slice(plan.from) });
    return true;
  }

  /** The file's due merge, which nobody else gets then. */
  take(file: string): DueMerge | undefined {
    const due = this.byFile.peek(file);
    if (due) this.byFile.delete(file);
    return due;
  }

  /** The file is at this version: a merge of an older one's rope is of no use any more. */
  isAt(file: string, version: number): void {
    const due = this.byFile.peek(file);
    if (due && due.version < version) this.byFile.delete(file);
  }
}
