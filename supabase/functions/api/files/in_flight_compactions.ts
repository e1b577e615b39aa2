/**
 * The compactions that are running in this isolate: at most one for each file, since a second one would repeat the work.
 */
import { unavailable } from "../errors.ts";
import { COMPACTIONS_AT_ONCE } from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import type { Background } from "../runtime/background.ts";
import { type Deadline, LATE } from "../runtime/deadline.ts";
import type { Log } from "../runtime/log.ts";
import { type Compactor, compactSegments, segmentListMax } from "./compact.ts";
import { fileKey } from "./upload.ts";

interface Waiting extends Compactor {
  readonly deadline: Deadline;
}

interface InFlight {
  /** Resolves once the compaction has succeeded or failed. */
  readonly ended: Promise<boolean>;
  /** The number of appends that may still be committed before the compaction has ended. */
  room: number;
}

export class InFlightCompactions {
  private readonly byFile = new Map<string, InFlight>();

  /** Compacts in the background. A compaction that fails, or is one too many, is left to a later commit. */
  start(
    request: Waiting & { readonly background: Background; readonly log: Pick<Log, "backgroundFault"> },
    path: string,
    segments: readonly Segment[],
  ): void {
    if (this.byFile.has(fileKey(request, path)) || this.byFile.size >= COMPACTIONS_AT_ONCE) return;
    const compaction = this.run(request, path, segments, false)
      .catch((error) => request.log.backgroundFault("compaction", error));
    request.background(compaction, "compaction");
  }

  /**
   * Compacts some of a full segment list, or waits for the file's running compaction instead. Returns whether there may
   * be room now. Throws SERVICE_UNAVAILABLE where the other one takes longer than this request may wait.
   */
  async makeRoom(request: Waiting, path: string, segments: readonly Segment[]): Promise<boolean> {
    const other = this.byFile.get(fileKey(request, path));
    return other ? await endOf(other, request) : await this.run(request, path, segments, true);
  }

  /**
   * Resolves when one more append may be committed: at once, unless earlier appends have used up the room since the
   * compaction began. So appends wait for the compaction instead of filling the segment list before it ends.
   */
  async room(request: Pick<Waiting, "gate" | "deadline">, path: string): Promise<void> {
    const file = fileKey(request, path);
    for (let running = this.byFile.get(file); running; running = this.byFile.get(file)) {
      if (running.room-- > 0) return;
      await endOf(running, request);
    }
  }

  private async run(
    request: Waiting,
    path: string,
    segments: readonly Segment[],
    isFull: boolean,
  ): Promise<boolean> {
    const file = fileKey(request, path);
    const own = compactSegments(request, path, segments, isFull);
    // Half of the room in the segment list: the other half is for the appends of other isolates.
    const bytes = segments.reduce((sum, { size }) => sum + size, 0);
    const room = Math.floor((segmentListMax(bytes) - segments.length) / 2);
    this.byFile.set(file, { ended: own.then(() => true, () => true), room });
    try {
      return await own;
    } finally {
      this.byFile.delete(file);
    }
  }
}

async function endOf({ ended }: InFlight, { deadline }: Pick<Waiting, "deadline">): Promise<boolean> {
  const result = await deadline.count(() => deadline.within(Infinity, ended));
  if (result === LATE) throw unavailable();
  return result;
}
