import type { createHash } from "node:crypto";
import { HASHED_AT_ONCE_BYTES_MAX, HASHES_BEFORE_LOADING } from "../limits.ts";

/** Two digits for each byte: this runs several times a request. */
const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * Web Crypto hands every input to another thread, which takes 50 µs where the hash of a key takes one. `node:crypto`
 * hashes at once, but takes longer to load than a first request: an isolate loads it when it has hashed some.
 */
let hashAtOnce: typeof createHash | undefined;
let hashes = 0;

async function load(): Promise<void> {
  try {
    hashAtOnce = (await import("node:crypto")).createHash;
  } catch {
    // A runtime without it: Web Crypto does.
  }
}

/**
 * SHA-256 (FIPS 180-4) of the bytes, in 64 lower-case hexadecimal digits. Hashes a copy, or at once, so the caller may
 * reuse its buffer; Web Crypto takes none that lies in shared memory.
 */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= HASHED_AT_ONCE_BYTES_MAX) {
    if (hashAtOnce) return hashAtOnce("sha256").update(unshared(bytes)).digest("hex");
    if (++hashes === HASHES_BEFORE_LOADING) void load();
  }
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", unshared(bytes))));
}

/** The same bytes, in memory of this isolate alone. */
export function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, byteLength) : bytes.slice();
}

/** Two lower-case hexadecimal digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += HEX_OF_BYTE[byte];
  return hex;
}
