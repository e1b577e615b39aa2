/** Compactions at the end of a file's segment list that are due, and deferred to the next append. */
import {
  COMPACTION_CHECK_EVERY_SEGMENTS,
  PENDING_COMPACTION_SEGMENTS_MAX,
  PENDING_COMPACTIONS_MAX,
} from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import { planCompaction } from "./compaction_plan.ts";

/** The segments at the end of a version's list that are worth compacting, and the ids of the segments before them. */
export interface PendingCompaction {
  readonly fileId: string;
  readonly version: number;
  readonly kept: readonly string[];
  readonly run: readonly Segment[];
}

/**
 * Remembers the compactions that became due with the isolate's appends, until the next append or a later version.
 * Deferring saves the compaction's own upload and commit; if no append takes it over, a later compaction does its work.
 */
export class PendingCompactions {
  private readonly byFile = new LruCache<string, PendingCompaction>(PENDING_COMPACTIONS_MAX);

  /** Defers the compaction of this version to the next append. Returns false if it may not be deferred. */
  defer(file: string, fileId: string, version: number, segments: readonly Segment[]): boolean {
    if (segments.length > PENDING_COMPACTION_SEGMENTS_MAX) return false;
    const sizes = segments.map((segment) => segment.size);
    const plan = planCompaction(sizes, false);
    if (plan?.to !== segments.length) return false;
    // It was due at the previous check already, and no append took it over.
    if (planCompaction(sizes.slice(0, -COMPACTION_CHECK_EVERY_SEGMENTS), false) !== null) return false;
    const kept = segments.slice(0, plan.from).map((segment) => segment.id);
    this.byFile.set(file, { fileId, version, kept, run: segments.slice(plan.from) });
    return true;
  }

  /** Removes and returns the file's pending compaction, so that only one append performs it. */
  take(file: string): PendingCompaction | undefined {
    const pending = this.byFile.peek(file);
    if (pending) this.byFile.delete(file);
    return pending;
  }

  /** Forgets a compaction of an earlier version, which can no longer be committed. */
  forgetOlderThan(file: string, version: number): void {
    const pending = this.byFile.peek(file);
    if (pending && pending.version < version) this.byFile.delete(file);
  }
}
