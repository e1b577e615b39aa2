/** Storing the pieces of new content, before any commit names them. */
import { describeSegment, segmentName } from "../domain/segment.ts";
import { UPLOADS_AT_ONCE } from "../limits.ts";
import type { Segment, Segments } from "../ports.ts";

/**
 * Uploads pieces as they come, a few at a time, and keeps their order. After a failure nothing more is uploaded;
 * what was stored stays behind unnamed, for the sweep.
 */
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

  /** Takes one piece, 1 to SEGMENT_BYTES_MAX bytes. Resolves to its id when there is room for the next. */
  async add(bytes: Uint8Array): Promise<string> {
    const id = crypto.randomUUID();
    if (this.running >= UPLOADS_AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (this.failed) await this.finish();
    this.running++;
    const stored = this.store(id, bytes);
    // The failure is seen in finish(); until then it must not count as unhandled.
    stored.catch(() => this.failed = true);
    this.stored.push(stored);
    return id;
  }

  /** All segments in order, once all are durable. Throws the first failure. */
  finish(): Promise<Segment[]> {
    return Promise.all(this.stored);
  }

  private async store(id: string, bytes: Uint8Array): Promise<Segment> {
    try {
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
