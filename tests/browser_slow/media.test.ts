/** Audio and video in the console. */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { press, says, shownText } from "../support/browser/page_actions.ts";

const SAMPLES_PER_SECOND = 44_100;
const BYTES_PER_SAMPLE = 2;
const HEADER_BYTES = 44;

const { test } = await browserSuite();

test("console: sound and film of common types play, whether or not the service names their type", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  await part("an mp3 of 31 KB", async () => {
    await files.writeBytes("sound.mp3", silentMp3(76));
    await open("file/sound.mp3");
    assertEquals(Math.round(await play(page, "sound.mp3")), 2);
  });
  await part("a wav that was uploaded, which the service stores as bytes", async () => {
    await open("files");
    const buffer = Buffer.from(silence(3));
    await page.getByLabel("Upload files").setInputFiles({ name: "up.WAV", mimeType: "audio/wav", buffer });
    await page.getByRole("link", { name: "up.WAV" }).click();
    assertEquals(Math.round(await play(page, "up.WAV")), 3);
    await page.getByTitle("Type: application/octet-stream").waitFor();
  });
  await part("a film", async () => {
    await files.writeBytes("film.webm", await recordFilm(page));
    await open("file/film.webm");
    await play(page, "film.webm");
    const width = await page.getByLabel("Player of film.webm").evaluate((player) =>
      player instanceof HTMLVideoElement ? player.videoWidth : 0
    );
    assertEquals(width, 64);
  });
  await part("a large one is loaded when it is asked for", async () => {
    await files.request("POST", "/files?path=long.wav", {
      body: silence(180),
      headers: { "content-type": "audio/wav" },
    });
    const before = visit.calls.length;
    await open("file/long.wav");
    await page.getByRole("button", { name: "Load and play (15.1 MB)" }).waitFor();
    assertEquals(visit.calls.slice(before).filter((call) => call.includes("version=")), []);
    await press(page, "Load and play (15.1 MB)");
    assertEquals(Math.round(await play(page, "long.wav")), 180);
  });
});

test("console: what a browser cannot show or play says so, and is not called too large", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  await part("a broken sound", async () => {
    await files.writeBytes("broken.ogg", new Uint8Array(1000).fill(0xff));
    await open("file/broken.ogg");
    await page.getByRole("alert").getByText("This browser cannot play audio/ogg.").waitFor();
  });
  await part("a picture of a rare type", async () => {
    await files.writeBytes("scan.tiff", new Uint8Array(1000).fill(0xff));
    await open("file/scan.tiff");
    await page.getByRole("alert").getByText("This browser cannot show image/tiff.").waitFor();
  });
  await part("an archive, and bytes of no known type", async () => {
    for (const name of ["archive.zip", "data.bin"]) {
      await files.writeBytes(name, new Uint8Array(100_000).fill(0xff));
      await open(`file/${name}`);
      await says(page, "There is no preview for this content.");
    }
  });
  await part("text in a file that is named like a sound", async () => {
    await files.write("notes.wav", "these are notes\n");
    await open("file/notes.wav");
    assertEquals(await shownText(page, "Content of notes.wav"), "these are notes\n");
  });
});

/** Returns the duration in seconds, after the player has begun to play. */
async function play(page: Page, path: string): Promise<number> {
  return await page.getByLabel(`Player of ${path}`).evaluate(async (player) => {
    if (!(player instanceof HTMLMediaElement)) throw new Error("no player");
    player.muted = true;
    await player.play();
    return player.duration;
  });
}

/** Returns an MPEG-1 layer III file of silent frames, of 417 bytes and 26 ms each. */
function silentMp3(frames: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(417 * frames);
  for (let frame = 0; frame < frames; frame++) bytes.set([0xff, 0xfb, 0x90, 0x00], 417 * frame);
  return bytes;
}

/** Returns several frames of a canvas of 64 by 48 pixels, as WebM. */
async function recordFilm(page: Page): Promise<Uint8Array<ArrayBuffer>> {
  await page.goto("about:blank");
  const numbers = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 48 });
    const context = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: "video/webm" });
    const recorded = new Promise<Blob>((resolve) => recorder.ondataavailable = ({ data }) => resolve(data));
    recorder.start();
    for (let frame = 0; frame < 10; frame++) {
      if (context === null) throw new Error("no canvas");
      context.fillStyle = `rgb(${frame * 20} 0 0)`;
      context.fillRect(0, 0, 64, 48);
      await new Promise(requestAnimationFrame);
    }
    recorder.stop();
    return [...new Uint8Array(await (await recorded).arrayBuffer())];
  });
  return new Uint8Array(numbers);
}

/** Returns a silent WAV file with one channel. */
function silence(seconds: number): Uint8Array<ArrayBuffer> {
  const size = seconds * SAMPLES_PER_SECOND * BYTES_PER_SAMPLE;
  const bytes = new Uint8Array(HEADER_BYTES + size);
  const view = new DataView(bytes.buffer);
  const text = (at: number, letters: string) => bytes.set(new TextEncoder().encode(letters), at);
  text(0, "RIFF");
  view.setUint32(4, HEADER_BYTES - 8 + size, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, SAMPLES_PER_SECOND, true);
  view.setUint32(28, SAMPLES_PER_SECOND * BYTES_PER_SAMPLE, true);
  view.setUint16(32, BYTES_PER_SAMPLE, true);
  view.setUint16(34, 8 * BYTES_PER_SAMPLE, true);
  text(36, "data");
  view.setUint32(40, size, true);
  return bytes;
}
