/// <reference lib="dom" />
/** Sound from raw reads: what a browser's player asks for in ranges, the service answers. */
import { assert, assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";

const SAMPLES_PER_SECOND = 44_100;
const BYTES_PER_SAMPLE = 2;
const SECONDS = 90;
const HEADER_BYTES = 44;

const { service, test } = await browserSuite();

test("audio: a file of 8 MB plays from the raw read, and seeking asks for the part alone", async ({ page, account }) => {
  const { files } = account;
  await files.request("POST", "/files?path=sound.wav", {
    body: silence(),
    headers: { "content-type": "audio/wav" },
  });
  const answers: { readonly status: number; readonly range: string | null }[] = [];
  const player = servePlayer(files.key, (status, range) => answers.push({ status, range }));
  try {
    await page.goto(player.url);
    const duration = await page.evaluate(() =>
      new Promise<number>((resolve, reject) => {
        const audio = document.querySelector("audio");
        if (audio === null) return reject(new Error("no player"));
        audio.addEventListener("loadedmetadata", () => resolve(audio.duration));
        audio.addEventListener("error", () => reject(new Error(audio.error?.message)));
        audio.src = "sound.wav";
      })
    );
    assertEquals(Math.round(duration), SECONDS);
    const before = answers.length;
    const at = await page.evaluate((seconds) =>
      new Promise<number>((resolve, reject) => {
        const audio = document.querySelector("audio");
        if (audio === null) return reject(new Error("no player"));
        audio.addEventListener("error", () => reject(new Error(audio.error?.message)));
        // It can be heard from there, not only shown to be there.
        audio.addEventListener("seeked", () => resolve(audio.readyState >= 2 ? audio.currentTime : -1));
        audio.currentTime = seconds;
      }), SECONDS - 5);
    assertEquals(Math.round(at), SECONDS - 5);
    const [first] = answers;
    assertEquals(first?.status, 206, "the player asks for a range, and gets one");
    const seeking = answers.slice(before).map(({ status, range }) => ({ status, start: startOf(range) }));
    const wanted = HEADER_BYTES + (SECONDS - 5) * SAMPLES_PER_SECOND * BYTES_PER_SAMPLE;
    assert(
      seeking.some(({ status, start }) => status === 206 && start > wanted * 0.9),
      `a part near the end is asked for: ${JSON.stringify(answers)}`,
    );
  } finally {
    await player.stop();
  }
});

/** A page with a player, and the file behind a way that adds the key, which an element's address cannot carry. */
function servePlayer(key: string, onAnswer: (status: number, range: string | null) => void) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    if (!request.url.endsWith("/sound.wav")) {
      return new Response("<!doctype html><audio controls preload=metadata></audio>", {
        headers: { "content-type": "text/html" },
      });
    }
    const range = request.headers.get("range");
    const headers = {
      "x-api-key": key,
      accept: "application/octet-stream",
      ...(range === null ? {} : { range }),
    };
    const response = await fetch(`${service.baseUrl}/files/sound.wav`, { headers });
    onAnswer(response.status, response.headers.get("content-range"));
    return response;
  });
  return { url: `http://127.0.0.1:${server.addr.port}/`, stop: () => server.shutdown() };
}

function startOf(contentRange: string | null): number {
  return Number(/^bytes (\d+)-/.exec(contentRange ?? "")?.[1] ?? NaN);
}

/** A WAV file of one channel. */
function silence(): Uint8Array {
  const size = SECONDS * SAMPLES_PER_SECOND * BYTES_PER_SAMPLE;
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
