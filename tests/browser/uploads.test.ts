/// <reference lib="dom" />
/** Files on their way: chosen, dropped, followed and cancelled. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { eventually } from "../support/eventually.ts";
import { press, says } from "../support/browser/page_actions.ts";

const SLOW_BYTES_PER_SECOND = 300_000;
const LARGE_BYTES = 3_000_000;

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

test("upload: dropped files arrive", async (visit) => {
  const { page, open, account: { files } } = visit;
  await open("files/inbox");
  const folder = page.getByRole("region", { name: "Folder" });
  await folder.waitFor();
  const dataTransfer = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["one\n"], "one.txt", { type: "text/plain" }));
    transfer.items.add(new File(["two\n"], "two.txt", { type: "text/plain" }));
    return transfer;
  });
  await folder.dispatchEvent("dragover", { dataTransfer });
  await page.locator(".drop-over").waitFor();
  await folder.dispatchEvent("drop", { dataTransfer });
  await says(page, "2 files done");
  assertEquals(await files.paths({ directory: "inbox" }), ["inbox/one.txt", "inbox/two.txt"]);
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
