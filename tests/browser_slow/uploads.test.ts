/** Uploads and downloads: chosen, dropped, with progress, and cancelled. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { UPLOAD_FILES_MAX } from "../../supabase/console/src/limits.ts";
import type { Files } from "../support/client/files.ts";
import { eventually } from "../support/eventually.ts";
import { press, says } from "../support/browser/page_actions.ts";

const SLOW_BYTES_PER_SECOND = 100_000;
const LARGE_BYTES = 3_000_000;
const IN_FOLDER = {
  "read me.md": "top\n",
  "a/one.txt": "one\n",
  "a/deep/er/two.txt": "two\n",
  "b ü/three.txt": "three\n",
};

const { test } = await browserSuite();

test("upload: several chosen files arrive byte for byte, each by one request", async (visit) => {
  const { page, open, calls, account: { files } } = visit;
  const contents = ["a.txt", "b ü.md", "c#1.bin"].map((name, index) => ({
    name,
    mimeType: "application/octet-stream",
    buffer: randomBytes(1000 * (index + 1)),
  }));
  await open("files/inbox");
  const choosing = page.waitForEvent("filechooser");
  await page.getByText("Upload files").click();
  const chooser = await choosing;
  assert(chooser.isMultiple(), "several can be chosen");
  await chooser.setFiles(contents);
  await says(page, "3 files done");
  for (const { name, buffer } of contents) {
    await page.getByRole("link", { name }).waitFor();
    assertEquals(await files.readBytes(`inbox/${name}`), new Uint8Array(buffer));
  }
  assertEquals(calls.filter((call) => call.startsWith("POST ")).length, 3);
});

test("upload: a folder that is chosen arrives with its structure", async (visit) => {
  const { page, open, account: { files } } = visit;
  const folder = await makeFolder();
  try {
    await open("files/inbox");
    await page.getByLabel("Upload folder").setInputFiles(folder);
    await says(page, `${Object.keys(IN_FOLDER).length} files done`);
    await page.getByRole("table").getByRole("link", { name: basename(folder) }).waitFor();
    await assertArrived(files, folder);
  } finally {
    await Deno.remove(join(folder, ".."), { recursive: true });
  }
});

test("upload: a folder that is dropped arrives with its structure, beside dropped files", async (visit) => {
  const { page, open, account: { files } } = visit;
  const folder = await makeFolder();
  const single = join(folder, "..", "single.txt");
  await Deno.writeTextFile(single, "single\n");
  try {
    await open("files/inbox");
    await says(page, "This folder has no files.");
    await dropFromDisk(page, [folder, single]);
    await says(page, `${Object.keys(IN_FOLDER).length + 1} files done`);
    await page.getByRole("table").getByRole("link", { name: basename(folder) }).waitFor();
    await assertArrived(files, folder);
    assertEquals((await files.read("inbox/single.txt")).content, "single\n");
  } finally {
    await Deno.remove(join(folder, ".."), { recursive: true });
  }
});

test("upload: too many files are refused as a whole, before the first one is sent", async (visit) => {
  const { page, open, calls } = visit;
  await open("files");
  await says(page, "There are no files yet.");
  const few = Array.from({ length: UPLOAD_FILES_MAX + 1 }, (_, index) => ({
    name: `${index}.txt`,
    mimeType: "text/plain",
    buffer: Buffer.from(""),
  }));
  await page.getByLabel("Upload files").setInputFiles(few);
  await says(page, "An upload can have at most 1,000 files.");
  assertEquals(calls.filter((call) => call.startsWith("POST ")), []);
});

test("upload: the list fills while uploads run", async (visit) => {
  const { page, open, account: { files } } = visit;
  await open("files");
  await says(page, "There are no files yet.");
  const released = Promise.withResolvers<void>();
  await page.route((url) => url.searchParams.get("path") === "last.txt", async (route) => {
    await released.promise;
    await route.continue();
  });
  const chosen = ["last.txt", "a.txt", "b.txt", "c.txt"].map((name) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(name),
  }));
  await page.getByLabel("Upload files").setInputFiles(chosen);
  await page.getByRole("link", { name: "a.txt" }).waitFor();
  await page.getByRole("link", { name: "b.txt" }).waitFor();
  await says(page, "1 transfer remaining");
  released.resolve();
  await page.getByRole("link", { name: "last.txt" }).waitFor();
  await page.getByRole("link", { name: "c.txt" }).waitFor();
  assertEquals((await files.paths()).length, 4);
});

test("upload: a batch reloads the list a few times, a download never", async (visit) => {
  const { page, openFollowing, calls } = visit;
  await openFollowing("files");
  await says(page, "There are no files yet.");
  const chosen = Array.from({ length: 40 }, (_, index) => ({
    name: `${index}.txt`,
    mimeType: "text/plain",
    buffer: Buffer.from(`${index}`),
  }));
  const before = calls.length;
  // Requested at the end of the batch, together with the last list.
  const usage = page.waitForResponse((response) => response.url().endsWith("/project"));
  await page.getByLabel("Upload files").setInputFiles(chosen);
  await says(page, "40 files done");
  await page.getByRole("link", { name: "39.txt" }).waitFor();
  await usage;
  const lists = calls.slice(before).filter((call) => call.startsWith("GET /files?"));
  // The lists reload after 1, 2, 4, 8, 16 and 32 files, and at the end.
  assert(lists.length <= 7, lists.join(", "));
  const downloading = page.waitForEvent("download");
  const then = calls.length;
  await press(page, "Download 0.txt");
  await downloading;
  await page.getByText("1 file done").waitFor({ state: "hidden" });
  assertEquals(calls.slice(then).filter((call) => call.startsWith("GET /files?")), []);
});

test("upload: a file that is dropped beside a folder does not replace the console", async (visit) => {
  const { page, open } = visit;
  await open("keys");
  await page.getByRole("table", { name: "API keys, newest first" }).waitFor();
  const directory = await Deno.makeTempDir();
  try {
    const file = join(directory, "stray.txt");
    await Deno.writeTextFile(file, "stray\n");
    await dropFromDisk(page, [file]);
    await press(page, "New key");
    await page.getByRole("dialog", { name: "New API key" }).waitFor();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

test("upload: progress is shown; a cancelled one writes nothing, the others go on", async (visit) => {
  const { page, open, account: { files } } = visit;
  await open("files");
  await says(page, "There are no files yet.");
  await slowDown(page);
  const large = randomBytes(LARGE_BYTES);
  await page.getByLabel("Upload files").setInputFiles([
    { name: "large.bin", mimeType: "application/octet-stream", buffer: large },
    { name: "small.txt", mimeType: "text/plain", buffer: Buffer.from("small\n") },
  ]);
  const progress = page.getByRole("progressbar", { name: "Progress of large.bin" });
  await eventually("progress between nothing and all", async () => {
    const value = Number(await progress.getAttribute("value"));
    return value > 0 && value < 1;
  });
  await press(page, "Cancel large.bin");
  await says(page, "1 file done");
  await page.getByText("cancelled").waitFor();
  await page.getByRole("link", { name: "small.txt" }).waitFor();
  assertEquals(await files.paths(), ["small.txt"]);
});

test("download: the file's bytes, under its own name", async (visit) => {
  const { page, open, account: { files } } = visit;
  const bytes = new Uint8Array(randomBytes(5000));
  await files.writeBytes("out/picture.png", bytes);
  await open("files/out");
  const downloading = page.waitForEvent("download");
  await press(page, "Download picture.png");
  const download = await downloading;
  assertEquals(download.suggestedFilename(), "picture.png");
  assertEquals(await Deno.readFile(await download.path()), bytes);
});

/** Creates a folder within a new temporary folder. */
async function makeFolder(): Promise<string> {
  const folder = join(await Deno.makeTempDir(), "photos 2026");
  for (const [path, content] of Object.entries(IN_FOLDER)) {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, path), content);
  }
  await Deno.mkdir(join(folder, "empty"));
  return folder;
}

async function assertArrived(files: Files, folder: string): Promise<void> {
  const name = basename(folder);
  const expected = Object.keys(IN_FOLDER).map((path) => `inbox/${name}/${path}`).sort();
  assertEquals(await files.paths({ directory: `inbox/${name}`, recursive: true }), expected);
  for (const [path, content] of Object.entries(IN_FOLDER)) {
    assertEquals((await files.read(`inbox/${name}/${path}`)).content, content);
  }
}

/** Drops files as a person does: the browser itself reads the paths. */
async function dropFromDisk(page: Page, files: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [...files], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await session.send("Input.dispatchDragEvent", { type, x: 700, y: 400, data });
  }
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: SLOW_BYTES_PER_SECOND,
  });
}
