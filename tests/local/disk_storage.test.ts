import { assertEquals, assertRejects } from "@std/assert";
import { DiskStorage } from "../../supabase/local/stack/disk_storage.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

const BYTES = crypto.getRandomValues(new Uint8Array(65_536));
const upload = (storage: DiskStorage, key: string, body: Uint8Array | ReadableStream<Uint8Array>) =>
  storage.uploadObject("bucket", key, undefined, body, "text/plain", "no-cache");
const download = async (storage: DiskStorage, key: string) =>
  new Uint8Array(await new Response((await storage.getObject("bucket", key)).body).arrayBuffer());
/** The number of open files below the folder. Tests that run at the same time use other folders. */
function openFiles(folder: string): number {
  return [...Deno.readDirSync("/proc/self/fd")].filter(({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/self/fd/${name}`).startsWith(folder);
    } catch {
      return false; // It was closed meanwhile.
    }
  }).length;
}

Deno.test("DiskStorage gives back the bytes it was given", () =>
  withScratchDirectory(async (path) => {
    const storage = new DiskStorage(path);
    const { size } = await upload(storage, "a/b", BYTES);
    assertEquals(size, BYTES.byteLength);
    assertEquals(await download(storage, "a/b"), BYTES);
    assertEquals((await storage.headObject("bucket", "a/b")).size, BYTES.byteLength);
    await upload(storage, "streamed", new Blob([BYTES, BYTES]).stream());
    assertEquals((await download(storage, "streamed")).byteLength, 2 * BYTES.byteLength);
    await storage.copyObject("bucket", "a/b", undefined, "bucket", "copy");
    await storage.deleteObject("bucket", "a/b");
    await storage.deleteObject("bucket", "a/b");
    assertEquals(await download(storage, "copy"), BYTES);
    const missing = await storage.getObject("bucket", "a/b");
    assertEquals([missing.httpStatusCode, missing.body], [404, undefined]);
  }));

Deno.test("DiskStorage leaves nothing of an upload that breaks off, and keeps what was there", () =>
  withScratchDirectory(async (path) => {
    const storage = new DiskStorage(path);
    await upload(storage, "x", BYTES);
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      pull: (controller) => controller.error(new Error("the client went away")),
    });
    await assertRejects(() => upload(storage, "x", broken), Error, "the client went away");
    assertEquals([...Deno.readDirSync(`${path}/bucket`)].map(({ name }) => name), ["x"]);
    assertEquals(await download(storage, "x"), BYTES);
  }));

Deno.test({
  name: "DiskStorage closes every file it served, to the end or not",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withScratchDirectory(async (path) => {
      const storage = new DiskStorage(path);
      await upload(storage, "x", BYTES);
      for (let i = 0; i < 50; i++) {
        await download(storage, "x");
        await (await storage.getObject("bucket", "x")).body?.cancel();
      }
      assertEquals(openFiles(path), 0);
    }),
});

Deno.test("DiskStorage keeps every name inside its bucket", () =>
  withScratchDirectory(async (path) => {
    const storage = new DiskStorage(path);
    for (const key of ["../other/x", "a/../../x", "..", ""]) {
      await assertRejects(() => upload(storage, key, BYTES), Error, "points outside of its bucket");
      await assertRejects(() => storage.getObject("bucket", key), Error, "points outside of its bucket");
    }
  }));
