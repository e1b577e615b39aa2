/** Bodies that no process holds in memory as a whole. */
import { createHash } from "node:crypto";

/** Reproducible bytes: each position always has the same byte, and no long run repeats. */
export function patternBytes(from: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index++) {
    const place = from + index;
    bytes[index] = (place ^ (place >>> 8) * 31 ^ (place >>> 16) * 131) & 0xff;
  }
  return bytes;
}

/** The first `sizeBytes` bytes of the pattern as a stream, in chunks like those of a network. */
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
