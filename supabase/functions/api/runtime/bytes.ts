/** Buffers of bytes: joining, freeing and hashing them. */
import { Buffer } from "node:buffer";
import type { createHash } from "node:crypto";
import { HASHED_AT_ONCE_BYTES_MAX, HASHES_BEFORE_LOADING } from "../limits.ts";

/** Copies the pieces, in order, into one buffer. */
export function concatenate(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/**
 * Frees the memory of unneeded bytes at once. Afterwards they are empty, and so is every other view of the same buffer.
 * The garbage collector would free them later, since it underestimates how much memory a buffer holds.
 */
export function detach(bytes: Uint8Array): void {
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}

/** Yields the chunks in order and detaches each one when the next is requested: they can be read only once. */
export function* drainAndDetach(chunks: readonly Uint8Array[]): Generator<Uint8Array, void, void> {
  for (const chunk of chunks) {
    yield chunk;
    detach(chunk);
  }
}

/**
 * Web Crypto hands every input to another thread, which takes 50 µs where hashing a key takes 1 µs. `node:crypto`
 * hashes synchronously, but takes longer to load than a first request: an isolate loads it after HASHES_BEFORE_LOADING
 * hashes.
 */
let syncHash: typeof createHash | undefined;
let hashes = 0;

/**
 * SHA-256 (FIPS 180-4) of the bytes, in 64 lower-case hexadecimal digits. It hashes a copy, or synchronously, so the
 * caller may reuse its buffer at once. Web Crypto accepts no shared memory.
 */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= HASHED_AT_ONCE_BYTES_MAX) {
    if (syncHash) return syncHash("sha256").update(unshared(bytes)).digest("hex");
    if (++hashes === HASHES_BEFORE_LOADING) {
      // Where the runtime lacks it, Web Crypto remains in use.
      import("node:crypto").then((it) => syncHash = it.createHash, () => {});
    }
  }
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", unshared(bytes))));
}

/** The same bytes, in memory that is not shared with other threads. */
export function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, byteLength) : bytes.slice();
}

/** Two lower-case hexadecimal digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
