/** Stores answers of the service on the disk. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { Failure } from "../failure.ts";
import { messageOf } from "../library/errors.ts";
import { SYNC_SMALL_BYTES } from "../limits.ts";

/**
 * Stores the bytes of a version as they arrive, and returns their SHA-256. Throws `Failure` if the disk does not take them,
 * and any other error if not all have arrived, so that they are asked for again. `size` is null where it is not known.
 */
export async function save(
  answer: Response,
  file: string,
  size: number | null,
  mode = 0o666,
): Promise<string> {
  const hash = createHash("sha256");
  // Small files are written at once, which takes a tenth of the time.
  if (size !== null && size <= SYNC_SMALL_BYTES) {
    const bytes = whole(new Uint8Array(await answer.arrayBuffer()), size);
    await onDisk(() => writeFileSync(file, bytes, { mode }));
    return hash.update(bytes).digest("hex");
  }
  const output = await onDisk(() => open(file, "w", mode));
  let length = 0;
  try {
    for await (const chunk of answer.body ?? []) {
      hash.update(chunk);
      length += chunk.length;
      await onDisk(() => output.writeFile(chunk));
    }
  } finally {
    await output.close();
  }
  if (size !== null && length !== size) throw cutOff(length, size);
  return hash.digest("hex");
}

/** The bytes, if they are as many as the version has. */
export function whole<Bytes extends Uint8Array>(bytes: Bytes, size: number): Bytes {
  if (bytes.length !== size) throw cutOff(bytes.length, size);
  return bytes;
}

function cutOff(length: number, size: number): Error {
  return new Error(`${length} of ${size} bytes arrived`);
}

/** A full or read-only disk is no lost answer. */
async function onDisk<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Failure(messageOf(error));
  }
}
