/** Segments over Supabase Storage: one private bucket, one object per segment. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { detach } from "../runtime/detach.ts";
import { sha256Hex, unshared } from "../runtime/sha256.ts";
import { ApiError } from "../errors.ts";
import { SEGMENT_CACHE_BYTES_MAX, SWEEP_PAGE_OBJECTS } from "../limits.ts";
import type { Log } from "../runtime/log.ts";
import { dayOfFolder, segmentFolder } from "../ports/segment_name.ts";
import type { Segment, Segments } from "../ports/segments.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import { type Outcome, withRetries } from "./backend.ts";

/** Created by the database schema. */
export const BUCKET = "filestore-segments";

/** Storage reports some errors as HTTP 400 with the real status in the body. */
function storageStatus(error: unknown): number {
  if (typeof error !== "object" || error === null) return 0;
  const { statusCode, status } = { statusCode: undefined, status: undefined, ...error };
  return Number(statusCode ?? status ?? 0) || 0;
}

/** storage-js returns the errors that it knows, but throws where a response ends early, after its headers. */
function endedEarly(cause: unknown): { readonly data: null; readonly error: Error } {
  return { data: null, error: new Error("the response ended early", { cause }) };
}

/** Reads a download into one buffer; returns null where it does not have exactly `size` bytes. */
async function readExactly(stream: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array | null> {
  const bytes = new Uint8Array(size);
  let length = 0;
  for await (const chunk of stream) {
    if (length + chunk.length > size) return null;
    bytes.set(chunk, length);
    length += chunk.length;
    detach(chunk);
  }
  return length === size ? bytes : null;
}

/** Verified segments by name. They never change, so a cached one is always right. */
export type SegmentCache = LruCache<string, Uint8Array>;

export function segmentCache(): SegmentCache {
  return new LruCache(SEGMENT_CACHE_BYTES_MAX, (bytes) => bytes.length);
}

export class SupabaseSegments implements Segments {
  /** Several instances may share a cache. */
  constructor(
    private readonly client: () => SupabaseClient,
    private readonly log: Log,
    private readonly cache = segmentCache(),
  ) {}

  async put(segment: Segment, bytes: Uint8Array): Promise<void> {
    await withRetries("upload", this.log, async (tryNumber): Promise<Outcome<true>> => {
      const { error } = await this.client().storage.from(BUCKET).upload(segment.name, unshared(bytes), {
        contentType: "application/octet-stream",
        // The name is random: an object that an ambiguous try may have left there has these bytes.
        upsert: tryNumber > 1,
      }).catch(endedEarly);
      if (error === null) return { value: true };
      return { transient: String(storageStatus(error)) };
    });
    this.cache.set(segment.name, bytes);
  }

  async get(segment: Segment, isKept = true): Promise<Uint8Array> {
    const cached = this.cache.get(segment.name);
    if (cached !== undefined) return cached;
    const bytes = await withRetries("download", this.log, async (): Promise<Outcome<Uint8Array>> => {
      // As a stream: a Blob would hold a second copy of the bytes that the garbage collector does not account for.
      const { data, error } = await this.client().storage.from(BUCKET).download(segment.name).asStream()
        .catch(endedEarly);
      if (error === null) {
        const bytes = await readExactly(data, segment.size).catch(() => undefined);
        if (bytes === null) throw this.corrupt(segment, "wrong size");
        return bytes ? { value: bytes } : { transient: "truncated" };
      }
      const status = storageStatus(error);
      if (status === 404) throw this.corrupt(segment, "missing");
      return { transient: String(status) };
    });
    if (await sha256Hex(bytes) !== segment.sha256) throw this.corrupt(segment, "wrong checksum");
    if (isKept) this.cache.set(segment.name, bytes);
    return bytes;
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await withRetries("remove", this.log, async (): Promise<Outcome<true>> => {
      const { error } = await this.client().storage.from(BUCKET).remove([...names]).catch(endedEarly);
      return error === null ? { value: true } : { transient: String(storageStatus(error)) };
    });
  }

  async days(projectId: string): Promise<readonly string[]> {
    const days = new Set<string>();
    for (let offset = 0;; offset += SWEEP_PAGE_OBJECTS) {
      const page = await this.names(projectId, offset, SWEEP_PAGE_OBJECTS);
      for (const name of page) days.add(name.split("/", 1)[0] ?? "");
      if (page.length < SWEEP_PAGE_OBJECTS) break;
    }
    return [...days].flatMap((name) => dayOfFolder(name) ?? []).sort();
  }

  list(projectId: string, day: string, offset: number, limit: number): Promise<readonly string[]> {
    return this.names(segmentFolder(projectId, new Date(day)), offset, limit);
  }

  /** Names relative to the folder. Storage lists its direct children, @supabase/lite everything below it. */
  private names(folder: string, offset: number, limit: number): Promise<readonly string[]> {
    return withRetries("list", this.log, async (): Promise<Outcome<readonly string[]>> => {
      const sortBy = { column: "name", order: "asc" };
      const { data, error } = await this.client().storage.from(BUCKET).list(folder, { limit, offset, sortBy })
        .catch(endedEarly);
      if (error !== null) return { transient: String(storageStatus(error)) };
      const inFolder = `${folder}/`;
      return {
        value: data.map(({ name }) => name.startsWith(inFolder) ? name.slice(inFolder.length) : name),
      };
    });
  }

  async ping(): Promise<void> {
    await withRetries("bucket", this.log, async (): Promise<Outcome<true>> => {
      const { error } = await this.client().storage.getBucket(BUCKET).catch(endedEarly);
      return error === null ? { value: true } : { transient: String(storageStatus(error)) };
    });
  }

  private corrupt(segment: Segment, reason: string): ApiError {
    this.log.corruptSegment(segment.id, reason);
    return new ApiError(
      "CONTENT_CORRUPT",
      "Stored content fails its checksum. Wrong content is never returned.",
    );
  }
}
