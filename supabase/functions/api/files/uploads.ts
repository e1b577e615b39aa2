/** Storing the pieces of new content, before any commit names them. */
import { describeSegment } from "./segment.ts";
import { ApiError } from "../errors.ts";
import { UPLOADS_AT_ONCE } from "../limits.ts";
import { segmentName } from "../ports/segment_name.ts";
import type { Segment, Segments } from "../ports/segments.ts";

/** Uploads pieces as they come, a few at a time, and keeps their order. After a failure nothing more is uploaded. */
export class Uploads {
  private readonly stored: Promise<Segment>[] = [];
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private failed = false;

  constructor(
    private readonly segments: Segments,
    private readonly projectId: string,
    private readonly now: () => number,
    /** False where the pieces are not text even if they look like it, such as merged parts of a binary. */
    private readonly mayBeText = true,
  ) {}

  /** Takes one piece, 1 to SEGMENT_BYTES_MAX bytes. Resolves to its place in `finish()` when there is room for the next. */
  async add(bytes: Uint8Array): Promise<number> {
    if (this.running >= UPLOADS_AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (this.failed) await this.finish();
    this.running++;
    const stored = this.store(bytes);
    // The failure is seen in finish(); until then it must not count as unhandled.
    stored.catch(() => this.failed = true);
    return this.stored.push(stored) - 1;
  }

  /** The segment at a place that `add` answered, once it is durable. */
  async at(place: number): Promise<Segment> {
    const segment = await this.stored[place];
    if (!segment) throw new RangeError(`nothing was added at ${place}`);
    return segment;
  }

  /** All segments in order, once all are durable. Throws the first failure. */
  finish(): Promise<Segment[]> {
    return Promise.all(this.stored);
  }

  /**
   * Removes what was stored, best effort: for content that no commit will name. Where the storage was just out of
   * reach nobody waits for it once more; the sweep removes what it has.
   */
  async discard(): Promise<void> {
    const settled = await Promise.allSettled(this.stored);
    const isOutOfReach = settled.some((result) =>
      result.status === "rejected" && result.reason instanceof ApiError && result.reason.status === 503
    );
    if (isOutOfReach) return;
    const kept = settled.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
    await discard(this.segments, kept);
  }

  private async store(bytes: Uint8Array): Promise<Segment> {
    try {
      const id = crypto.randomUUID();
      const name = segmentName(this.projectId, new Date(this.now()), id);
      const described = await describeSegment(id, name, bytes);
      const segment = this.mayBeText ? described : { ...described, isText: false };
      await this.segments.put(segment, bytes);
      return segment;
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }
}

/** Removes segments that no commit names or can still name. What cannot be removed is left to the sweep. */
export async function discard(segments: Segments, unnamed: readonly Segment[]): Promise<void> {
  try {
    await segments.remove(unnamed.map((segment) => segment.name));
  } catch {
    // Garbage costs room, nothing else.
  }
}
