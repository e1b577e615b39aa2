/**
 * Object storage: bytes in objects that never change. Every method throws `ApiError("SERVICE_UNAVAILABLE")` when the
 * storage stays out of reach; no other failure of the storage reaches a caller.
 */
import { z } from "zod";
import type { Wire } from "../contract/values.ts";

/** One immutable object in storage: a piece of one or more versions. */
export const segment = z.object({
  /** Random UUID. */
  id: z.string(),
  /** Object name in the bucket: `{project_id}/{yyyymmdd}/{id}`. Never reused, so caches may be keyed by it. */
  name: z.string(),
  /** Bytes, 1 to SEGMENT_BYTES_MAX. */
  size: z.number(),
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  sha256: z.string(),
  /** The number of bytes that are line feeds. */
  newlines: z.number(),
  endsWithNewline: z.boolean(),
  /** Whether the bytes are well-formed UTF-8 by themselves. */
  isText: z.boolean(),
});
export type Segment = Wire<typeof segment>;

export interface Segments {
  /**
   * Stores the bytes under the segment's name; they are durable once it resolves. May be repeated: the name is
   * random, so an object that already exists is this one. `isKept`: the bytes may serve a read soon, so they must not
   * change any more. Default true.
   */
  put(segment: Segment, bytes: Uint8Array, isKept?: boolean): Promise<void>;
  /**
   * Returns the bytes of a segment, verified against its checksum. Throws `ApiError("CONTENT_CORRUPT")` where the
   * object is missing, short or changed. May be served from memory, and is kept there for the next reader unless
   * `isKept` is false.
   */
  get(segment: Segment, isKept?: boolean): Promise<Uint8Array>;
  /** Call with bytes that `get` returned, or a part of them, when done with them: frees them unless they are cached. */
  free(bytes: Uint8Array): void;
  /** Removes objects, if they exist. Only for segments that no commit references or can still reference. */
  remove(names: readonly string[]): Promise<void>;
  /** Days of a project that have objects, ascending, `yyyy-mm-dd`. */
  days(projectId: string): Promise<readonly string[]>;
  /** Ids of a day's objects in a fixed order, `limit` of them from the one at `offset`. */
  list(projectId: string, day: string, offset: number, limit: number): Promise<readonly string[]>;
  /** Throws unless the storage stores an object, always the same outside all projects, and returns it. */
  probe(): Promise<void>;
}
