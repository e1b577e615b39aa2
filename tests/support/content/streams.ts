/** Bodies that nobody holds as a whole. */
import { createHash } from "node:crypto";

/** Bytes that can be made again: the same for the same place, and nowhere the same for long. */
export function patternBytes(from: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index++) {
    const place = from + index;
    bytes[index] = (place ^ (place >>> 8) * 31 ^ (place >>> 16) * 131) & 0xff;
  }
  return bytes;
}

/** A stream of so many bytes of the pattern, in chunks as a network brings them. */
export function patternStream(
  sizeBytes: number,
  chunkBytes = 65_536,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= sizeBytes) return controller.close();
      const chunk = patternBytes(at, Math.min(chunkBytes, sizeBytes - at));
      at += chunk.length;
      controller.enqueue(chunk);
    },
  });
}

export interface Checksum {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Size and SHA-256 of a stream, read to its end. */
export async function checksumOf(stream: ReadableStream<Uint8Array>): Promise<Checksum> {
  const sha256 = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of stream) {
    sha256.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sizeBytes, sha256: sha256.digest("hex") };
}
