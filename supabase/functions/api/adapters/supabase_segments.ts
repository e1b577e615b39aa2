/** Segments over Supabase Storage: one private bucket, one object a segment. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { detach } from "../runtime/detach.ts";
import { sha256Hex, unshared } from "../runtime/sha256.ts";
import { ApiError } from "../errors.ts";
import { SEGMENT_CACHE_BYTES_MAX, SWEEP_PAGE_OBJECTS } from "../limits.ts";
import type { Log } from "../runtime/log.ts";
import type { Segment, Segments } from "../ports/segments.ts";
import { type Outcome, withRetries } from "./backend.ts";
import { SegmentCache } from "./segment_cache.ts";

/** Made by the migration `…_bucket.sql`. */
export const BUCKET = "filestore-segments";

/** Storage answers some refusals as HTTP 400 and puts the real status into the body. */
function storageStatus(error: unknown): number {
  if (typeof error !== "object" || error === null) return 0;
  const { statusCode, status } = { statusCode: undefined, status: undefined, ...error };
  return Number(statusCode ?? status ?? 0) || 0;
}

/** storage-js throws where an answer breaks off after its headers; what it has a name for it answers. */
function brokenOff(cause: unknown): { readonly data: null; readonly error: Error } {
  return { data: null, error: new Error("the answer broke off", { cause }) };
}

/** The bytes of a download in one buffer; null where they are not as many as they should be. */
async function bytesOf(stream: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array | null> {
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

export class SupabaseSegments implements Segments {
  /** Several may share a cache: what is in it is right for all. */
  constructor(
    private readonly client: () => SupabaseClient,
    private readonly log: Log,
    private readonly cache = new SegmentCache(SEGMENT_CACHE_BYTES_MAX),
  ) {}

  async put(segment: Segment, bytes: Uint8Array): Promise<void> {
    await withRetries("upload", this.log, async (tryNumber): Promise<Outcome<true>> => {
      const { error } = await this.client().storage.from(BUCKET).upload(segment.name, unshared(bytes), {
        contentType: "application/octet-stream",
        // The name is random: what a lost try may have left there are these bytes.
        upsert: tryNumber > 1,
      }).catch(brokenOff);
      if (error === null) return { value: true };
      return { transient: String(storageStatus(error)) };
    });
    this.cache.set(segment.name, bytes);
  }

  async get(segment: Segment, isKept = true): Promise<Uint8Array> {
    const cached = this.cache.get(segment.name);
    if (cached !== undefined) return cached;
    const bytes = await withRetries("download", this.log, async (): Promise<Outcome<Uint8Array>> => {
      // As a stream: a Blob would hold the bytes once more, out of sight of the garbage collector.
      const { data, error } = await this.client().storage.from(BUCKET).download(segment.name).asStream()
        .catch(brokenOff);
      if (error === null) {
        const bytes = await bytesOf(data, segment.size).catch(() => undefined);
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
      const { error } = await this.client().storage.from(BUCKET).remove([...names]).catch(brokenOff);
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
    return [...days].filter((name) => /^\d{8}$/.test(name))
      .map((name) => `${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6)}`).sort();
  }

  list(projectId: string, day: string, offset: number, limit: number): Promise<readonly string[]> {
    return this.names(`${projectId}/${day.replaceAll("-", "")}`, offset, limit);
  }

  /** Names below the folder, without it. Storage lists what is directly there, @supabase/lite whatever is below. */
  private names(folder: string, offset: number, limit: number): Promise<readonly string[]> {
    return withRetries("list", this.log, async (): Promise<Outcome<readonly string[]>> => {
      const sortBy = { column: "name", order: "asc" };
      const { data, error } = await this.client().storage.from(BUCKET).list(folder, { limit, offset, sortBy })
        .catch(brokenOff);
      if (error !== null) return { transient: String(storageStatus(error)) };
      const inFolder = `${folder}/`;
      return {
        value: data.map(({ name }) => name.startsWith(inFolder) ? name.slice(inFolder.length) : name),
      };
    });
  }

  async ping(): Promise<void> {
    await withRetries("bucket", this.log, async (): Promise<Outcome<true>> => {
      const { error } = await this.client().storage.getBucket(BUCKET).catch(brokenOff);
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
