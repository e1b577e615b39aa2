/** The bytes of a file as a stream of the web, which `fetch` sends. */
import { type FileHandle, open } from "node:fs/promises";

/** Size of one read from disk. */
const READ_BYTES = 64 * 1024;

export async function fileStream(path: string): Promise<ReadableStream<Uint8Array>> {
  const file: FileHandle = await open(path, "r");
  return new ReadableStream({
    async pull(controller) {
      const { buffer, bytesRead } = await file.read(new Uint8Array(READ_BYTES), 0, READ_BYTES);
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      await file.close();
      controller.close();
    },
    async cancel() {
      await file.close();
    },
  });
}
