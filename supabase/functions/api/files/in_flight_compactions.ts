/**
 * Compactions that are running in this isolate: at most one for each file, since a second one would repeat the work.
 */
import { unavailable } from "../errors.ts";
import { COMPACTIONS_AT_ONCE } from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import { type Deadline, LATE } from "../runtime/deadline.ts";
import { segmentListMax } from "./compact.ts";

interface InFlight {
  /** Resolves once the compaction has succeeded or failed. */
  readonly ended: Promise<boolean>;
  /** The number of appends that may still be committed before the compaction has ended. */
  room: number;
}

export class InFlightCompactions {
  private readonly byFile = new Map<string, InFlight>();

  /** Whether a compaction that no request waits for may begin: none is running for the file, and few in the isolate. */
  mayBegin(file: string): boolean {
    return !this.byFile.has(file) && this.byFile.size < COMPACTIONS_AT_ONCE;
  }

  /**
   * Runs `compact` on a segment list, or waits for the file's running compaction instead. Returns whether there may be
   * fewer segments. Throws SERVICE_UNAVAILABLE where the other one takes longer than this request may wait.
   */
  async run(
    file: string,
    segments: readonly Segment[],
    compact: () => Promise<boolean>,
    deadline: Deadline,
  ): Promise<boolean> {
    const other = this.byFile.get(file);
    if (other) return await endOf(other, deadline);
    const own = compact();
    this.byFile.set(file, {
      ended: own.then(() => true, () => true),
      room: roomWhileCompacting(segments),
    });
    try {
      return await own;
    } finally {
      this.byFile.delete(file);
    }
  }

  /**
   * Resolves when one more append may be committed: at once, unless earlier appends have used up the room since the
   * compaction began. So appends wait for the compaction instead of filling the segment list before it ends.
   */
  async room(file: string, deadline: Deadline): Promise<void> {
    for (let running = this.byFile.get(file); running; running = this.byFile.get(file)) {
      if (running.room-- > 0) return;
      await endOf(running, deadline);
    }
  }
}

async function endOf({ ended }: InFlight, deadline: Deadline): Promise<boolean> {
  const result = await deadline.count(() => deadline.within(Infinity, ended));
  if (result === LATE) throw unavailable();
  return result;
}

/** Half of the room in the segment list: the other half is for the appends of other isolates. */
function roomWhileCompacting(segments: readonly Segment[]): number {
  const bytes = segments.reduce((sum, { size }) => sum + size, 0);
  return Math.floor((segmentListMax(bytes) - segments.length) / 2);
}
