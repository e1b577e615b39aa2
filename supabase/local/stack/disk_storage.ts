/**
 * Stores object bytes on disk. Writes are atomic (temporary file, flush, rename), and a file that is read is closed at
 * the end or when the reader cancels. The adapter of @supabase/lite writes in place and never closes the files it
 * serves.
 */
import type { App } from "@supabase/lite";
import { createHash } from "node:crypto";
import { dirname, join, resolve, sep } from "node:path";
import { STORAGE_READ_BYTES } from "../limits.ts";

type StorageAdapter = NonNullable<App["_storageAdapter"]>;
type ObjectMetadata = Awaited<ReturnType<StorageAdapter["headObject"]>>;

/** Stores objects under `directory`, one file each, at `bucket/key`. */
export class DiskStorage implements StorageAdapter {
  readonly driver = null;
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = resolve(directory);
  }

  async uploadObject(
    bucket: string,
    key: string,
    _version: string | undefined,
    body: Parameters<StorageAdapter["uploadObject"]>[3],
    contentType: string,
    cacheControl: string,
  ): Promise<ObjectMetadata> {
    const path = this.#pathOf(bucket, key);
    const md5 = createHash("md5");
    let size = 0;
    await writeAtomically(path, async (file) => {
      for await (const chunk of readChunks(body)) {
        md5.update(chunk);
        size += chunk.byteLength;
        for (let done = 0; done < chunk.byteLength;) done += await file.write(chunk.subarray(done));
      }
    });
    const eTag = `"${md5.digest("hex")}"`;
    return { cacheControl, contentLength: size, size, mimetype: contentType, lastModified: new Date(), eTag };
  }

  async getObject(bucket: string, key: string) {
    const file = await Deno.open(this.#pathOf(bucket, key)).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    });
    // The hosted Storage also answers 404 if its table lists an object whose bytes are missing.
    if (file === null) {
      return { httpStatusCode: 404, metadata: metadataOf({ size: 0, mtime: null }) };
    }
    const metadata = metadataOf(await file.stat());
    return { httpStatusCode: 200, metadata, body: closingStream(file) };
  }

  async headObject(bucket: string, key: string): Promise<ObjectMetadata> {
    return metadataOf(await Deno.stat(this.#pathOf(bucket, key)));
  }

  async deleteObject(bucket: string, key: string): Promise<void> {
    try {
      await Deno.remove(this.#pathOf(bucket, key));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  async deleteObjects(bucket: string, keys: string[]): Promise<void> {
    for (const key of keys) await this.deleteObject(bucket, key);
  }

  async copyObject(
    sourceBucket: string,
    source: string,
    _sourceVersion: string | undefined,
    bucket: string,
    key: string,
  ) {
    const path = this.#pathOf(bucket, key);
    const temporary = await temporaryPath(path);
    await Deno.copyFile(this.#pathOf(sourceBucket, source), temporary);
    await Deno.rename(temporary, path);
    const { eTag } = metadataOf(await Deno.stat(path));
    return { httpStatusCode: 200, eTag, lastModified: new Date() };
  }

  privateAssetUrl(bucket: string, key: string): Promise<string> {
    return Promise.resolve(`file://${this.#pathOf(bucket, key)}`);
  }

  /** Throws if a key, which comes from a client, leads out of its bucket. */
  #pathOf(bucket: string, key: string): string {
    const path = join(this.#directory, bucket, key);
    if (!path.startsWith(join(this.#directory, bucket) + sep)) {
      throw new Error("The object's name points outside of its bucket.");
    }
    return path;
  }
}

/** Returns a temporary path in the same folder. It never appears as an object, since objects are listed from the database. */
async function temporaryPath(path: string): Promise<string> {
  await Deno.mkdir(dirname(path), { recursive: true });
  return `${path}.${crypto.randomUUID()}.part`;
}

async function writeAtomically(path: string, write: (file: Deno.FsFile) => Promise<void>): Promise<void> {
  const temporary = await temporaryPath(path);
  const file = await Deno.open(temporary, { write: true, createNew: true });
  try {
    await write(file);
    await file.syncData();
    file.close();
    await Deno.rename(temporary, path);
  } catch (error) {
    try {
      file.close();
    } catch { /* already closed */ }
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

async function* readChunks(body: Parameters<StorageAdapter["uploadObject"]>[3]): AsyncIterable<Uint8Array> {
  if (body instanceof Uint8Array) {
    yield body;
    return;
  }
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** Streams a file and closes it at the end or when the reader cancels. */
function closingStream(file: Deno.FsFile): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const buffer = new Uint8Array(STORAGE_READ_BYTES);
      const count = await file.read(buffer);
      if (count !== null) return controller.enqueue(buffer.subarray(0, count));
      file.close();
      controller.close();
    },
    cancel: () => file.close(),
  }, { highWaterMark: 0 });
}

function metadataOf(stat: Pick<Deno.FileInfo, "size" | "mtime">): ObjectMetadata {
  const lastModified = stat.mtime ?? new Date(0);
  const eTag = `"${stat.size.toString(16)}-${lastModified.getTime().toString(16)}"`;
  const mimetype = "application/octet-stream";
  return {
    cacheControl: "no-cache",
    contentLength: stat.size,
    size: stat.size,
    mimetype,
    lastModified,
    eTag,
  };
}
