/** Segments over Supabase Storage: one private bucket, one object per segment. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { detach, sha256Hex, unshared } from "../runtime/bytes.ts";
import { ApiError } from "../errors.ts";
import { BACKEND_TRIES_MAX, SEGMENT_CACHE_BYTES_MAX, SWEEP_PAGE_OBJECTS } from "../limits.ts";
import { dayOfFolder, segmentFolder } from "../ports/segment_name.ts";
import type { Segment, Segments } from "../ports/segments.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import { type CallParts, type Outcome, withRetries } from "./backend.ts";

/** Created by the database schema. */
export const BUCKET = "filestore-segments";

/** A small object outside the projects' folders. Its bytes never change, so several isolates may write it at once. */
const PROBE_OBJECT = "health/probe";
const PROBE_BYTES = new TextEncoder().encode(
  "The function wrote this to see whether objects can be stored.\n",
);

/** The contents of an error of storage-js. Some servers answer HTTP 400 with the real status in the body. */
function failureOf(error: unknown) {
  const { statusCode, status, code, message }: Record<string, unknown> = { ...Object(error) };
  // The message of an Error is not an enumerable property.
  const text = error instanceof Error ? error.message : message;
  return {
    // `statusCode` may be the name of the error instead of a number: then it equals `code`.
    status: Number(statusCode) || Number(status) || 0,
    /** Whether Storage itself answered, and not a gateway. */
    isItsOwn: code !== undefined || Number(statusCode) !== Number(status),
    code: String(code ?? ""),
    message: String(text ?? ""),
  };
}

/** Object names are random and an upload may be repeated, so every failure of Storage may be retried. */
function transientFailure(error: unknown): Outcome<never> {
  const { status, isItsOwn, code, message } = failureOf(error);
  const isBucketMissing = code === "NoSuchBucket" || message === "Bucket not found";
  const isRefused = status === 401 || code === "InvalidJWT" || (status === 403 && isItsOwn);
  const notice = isRefused
    ? "secret_key_refused"
    : isBucketMissing
    ? "bucket_missing"
    : code === "DatabaseReadOnly"
    ? "database_read_only"
    : undefined;
  return { transient: code || String(status), notice };
}

/** Whether Storage itself answers that the object does not exist. A gateway's 404 says nothing about objects. */
function isObjectMissing(error: unknown): boolean {
  const { status, code, message } = failureOf(error);
  return code === "NoSuchKey" || (status === 404 && message === "Object not found");
}

type Result<T> = { readonly data: T; readonly error: null } | { readonly data: null; readonly error: Error };

/** The result for a response that ends early: storage-js throws then, while it returns other errors. */
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
export function segmentCache(): LruCache<string, Uint8Array> {
  return new LruCache(SEGMENT_CACHE_BYTES_MAX, (bytes) => bytes.length);
}

export class SupabaseSegments implements Segments {
  /** Buffers of segments that are not in the cache, so that only their reader holds them. */
  private readonly ofOneReader = new WeakSet<ArrayBufferLike>();

  /** Several instances may share a cache. */
  constructor(
    private readonly client: () => SupabaseClient,
    private readonly parts: CallParts,
    private readonly cache = segmentCache(),
  ) {}

  async put(segment: Segment, bytes: Uint8Array, isKept = true): Promise<void> {
    await this.call("upload", (bucket, tryNumber) =>
      bucket.upload(segment.name, unshared(bytes), {
        contentType: "application/octet-stream",
        // The name is random, so an object that an ambiguous try left there has the same bytes.
        upsert: tryNumber > 1,
      }));
    if (isKept) this.cache.set(segment.name, bytes);
  }

  async get(segment: Segment, isKept = true): Promise<Uint8Array> {
    const cached = this.cache.get(segment.name);
    if (cached !== undefined) return cached;
    const bytes = await withRetries(
      this.parts,
      "download",
      async (tryNumber): Promise<Outcome<Uint8Array>> => {
        // A stream, since a Blob would hold a second copy of the bytes that the garbage collector does not account for.
        const { data, error } = await this.bucket.download(segment.name).asStream().catch(endedEarly);
        if (error === null) {
          const bytes = await readExactly(data, segment.size).catch(() => undefined);
          if (bytes === null) throw this.corrupt(segment, "wrong size");
          return bytes ? { value: bytes } : { transient: "truncated" };
        }
        // After a failover, Storage may not have the object yet.
        const isLastTry = tryNumber === BACKEND_TRIES_MAX;
        if (isObjectMissing(error) && isLastTry) throw this.corrupt(segment, "missing");
        return transientFailure(error);
      },
    );
    if (await sha256Hex(bytes) !== segment.sha256) throw this.corrupt(segment, "wrong checksum");
    if (isKept) this.cache.set(segment.name, bytes);
    else this.ofOneReader.add(bytes.buffer);
    return bytes;
  }

  free(bytes: Uint8Array): void {
    if (this.ofOneReader.has(bytes.buffer)) detach(bytes);
  }

  async remove(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    for (const name of names) this.cache.delete(name);
    await this.call("remove", (bucket) => bucket.remove([...names]));
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

  /** Names relative to the folder. Storage lists the folder's direct children, @supabase/lite everything below it. */
  private async names(folder: string, offset: number, limit: number): Promise<readonly string[]> {
    const sortBy = { column: "name", order: "asc" };
    const objects = await this.call<readonly { readonly name: string }[]>(
      "list",
      (bucket) => bucket.list(folder, { limit, offset, sortBy }),
    );
    const inFolder = `${folder}/`;
    return objects.map(({ name }) => name.startsWith(inFolder) ? name.slice(inFolder.length) : name);
  }

  async probe(): Promise<void> {
    await this.call(
      "probe upload",
      (bucket) =>
        bucket.upload(PROBE_OBJECT, unshared(PROBE_BYTES), { contentType: "text/plain", upsert: true }),
    );
    await withRetries(this.parts, "probe download", async (): Promise<Outcome<true>> => {
      const { data, error } = await this.bucket.download(PROBE_OBJECT).asStream().catch(endedEarly);
      if (error !== null) return transientFailure(error);
      const bytes = await readExactly(data, PROBE_BYTES.length).catch(() => null);
      const isIntact = bytes !== null && bytes.every((byte, index) => byte === PROBE_BYTES[index]);
      return isIntact ? { value: true } : { transient: "other bytes" };
    });
  }

  private get bucket() {
    return this.client().storage.from(BUCKET);
  }

  private call<T>(
    name: string,
    call: (bucket: typeof this.bucket, tryNumber: number) => Promise<Result<T>>,
  ): Promise<T> {
    return withRetries(this.parts, name, async (tryNumber): Promise<Outcome<T>> => {
      const { data, error } = await call(this.bucket, tryNumber).catch(endedEarly);
      return error === null ? { value: data } : transientFailure(error);
    });
  }

  private corrupt(segment: Segment, reason: string): ApiError {
    this.parts.log.corruptSegment(segment.id, reason);
    return new ApiError(
      "CONTENT_CORRUPT",
      "The stored content does not match its checksum, so it is not returned. Tell the operator of the service.",
    );
  }
}
