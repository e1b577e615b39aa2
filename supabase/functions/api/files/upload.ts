/** Stores new content as segments, before a commit references them. */
import { ApiError, unavailable } from "../errors.ts";
import { UPLOADED_SEGMENTS_KEPT, UPLOADS_AT_ONCE } from "../limits.ts";
import { segmentName } from "../ports/segment_name.ts";
import type { Segment, Segments } from "../ports/segments.ts";
import { detach } from "../runtime/bytes.ts";
import { describeSegment, SegmentCutter } from "./segment.ts";

/** The project and the Storage of new content. */
export interface Uploader {
  readonly segments: Segments;
  readonly gate: { readonly projectId: string };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Cuts content into segments and stores them; returns them in order once all are durable. If `chunks` fails, it removes
 * the stored ones. `mayBeText` is false for a part of a binary file, which may look like text.
 */
export async function storeContent(
  uploader: Uploader,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  mayBeText = true,
): Promise<Segment[]> {
  // The cutter's pieces have no other user, so they may be freed.
  const uploads = new Uploads(uploader, mayBeText, true);
  const cutter = new SegmentCutter();
  try {
    for await (const chunk of chunks) {
      for (const piece of cutter.push(chunk)) await uploads.add(piece);
    }
    for (const piece of cutter.finish()) await uploads.add(piece);
    return await uploads.finish();
  } catch (error) {
    await uploads.discard();
    throw error;
  }
}

/** Uploads pieces as they come, UPLOADS_AT_ONCE at a time, and keeps their order. After a failure it uploads no more. */
export class Uploads {
  private readonly stored: Promise<Segment>[] = [];
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private hasFailed = false;
  private readonly projectId: string;

  constructor(
    private readonly uploader: Uploader,
    /** False for pieces of a binary file, which may look like text. */
    private readonly mayBeText = true,
    /** Whether the pieces have no other user, so that they may be freed as soon as they are stored. */
    private readonly ownsPieces = false,
  ) {
    this.projectId = uploader.gate.projectId;
  }

  /** Uploads one piece of 1 to SEGMENT_BYTES_MAX bytes. Resolves to its index in `finish()` once the next may be added. */
  async add(bytes: Uint8Array): Promise<number> {
    if (this.running >= UPLOADS_AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (this.hasFailed) await this.finish();
    this.running++;
    const stored = this.store(bytes, !this.ownsPieces || this.stored.length < UPLOADED_SEGMENTS_KEPT);
    // Avoid an unhandled rejection; `finish()` rethrows it.
    stored.catch(() => this.hasFailed = true);
    return this.stored.push(stored) - 1;
  }

  /** The segment at an index that `add` returned, once it is durable. */
  async at(index: number): Promise<Segment> {
    const segment = await this.stored[index];
    if (!segment) throw new RangeError(`nothing was added at ${index}`);
    return segment;
  }

  /** All segments in order, once all are durable. Throws the first failure. */
  finish(): Promise<Segment[]> {
    return Promise.all(this.stored);
  }

  /**
   * Removes stored content that no commit will reference, best effort. If Storage was just unreachable, the request
   * does not wait for it again, and leaves the content to the sweep.
   */
  async discard(): Promise<void> {
    const settled = await Promise.allSettled(this.stored);
    const isUnreachable = settled.some((result) =>
      result.status === "rejected" && result.reason instanceof ApiError && result.reason.status === 503
    );
    if (isUnreachable) return;
    const stored = settled.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
    await discard(this.uploader.segments, stored);
  }

  private async store(bytes: Uint8Array, isKept: boolean): Promise<Segment> {
    try {
      const id = crypto.randomUUID();
      const name = segmentName(this.projectId, new Date(this.uploader.now()), id);
      const described = await describeSegment(id, name, bytes);
      const segment = this.mayBeText ? described : { ...described, isText: false };
      await this.uploader.segments.put(segment, bytes, isKept);
      return segment;
    } finally {
      if (!isKept) detach(bytes);
      this.running--;
      this.waiting.shift()?.();
    }
  }
}

/** The error where a segment list stays full. The request did nothing, and a later one has room. */
export function fullSegmentList(): ApiError {
  return unavailable(
    "Clients write to the file faster than the service can compact its segments. Try again.",
  );
}

/** Identifies the file among those of all projects. */
export function fileKey({ gate }: Pick<Uploader, "gate">, path: string): string {
  return `${gate.projectId}/${path}`;
}

/** Removes segments that no commit references or can still reference. If that fails, the sweep removes them. */
export async function discard(segments: Segments, unreferenced: readonly Segment[]): Promise<void> {
  try {
    await segments.remove(unreferenced.map((segment) => segment.name));
  } catch {
    // Unreferenced segments only take space until the sweep removes them.
  }
}
