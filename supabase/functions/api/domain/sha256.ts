/** Two digits for each byte: this runs several times a request. */
const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * SHA-256 (FIPS 180-4) of the bytes, in 64 lower-case hexadecimal digits. Web Crypto hashes a copy, so the caller may
 * reuse its buffer at once; it takes none that lies in shared memory.
 */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
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
