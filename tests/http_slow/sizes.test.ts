/** The largest contents and files, exactly up to their limits, with plain, escaped and 4-byte characters. */
import { assert, assertEquals } from "@std/assert";
import { BODY_BYTES_MAX, CONTENT_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused, dataOf, fileRecord, readRecord } from "../support/client/contract.ts";
import type { Files } from "../support/client/files.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const MAX = 10_485_760;
const FREE_BYTES = 10_485_760;
const PRO_BYTES = 104_857_600;

/** Without compression, so that the test measures the service's time. */
const headers = { "accept-encoding": "identity", "content-type": "application/json" };

/** A JSON body with `literal` as its content, written as it stands inside a JSON string. */
function jsonBody(literal: string, path?: string): Uint8Array {
  return new TextEncoder().encode(`{${path ? `"path":"${path}",` : ""}"content":"${literal}"}`);
}

/**
 * The longest content: name, a character as spelled in JSON, the decoded character, their number, and the size in bytes.
 * The first three are in the long form alone.
 */
const LONGEST: readonly (readonly [string, string, string, number, number])[] = [
  ["line feeds, escaped both ways", "\\n", "\n", MAX, MAX],
  ["two bytes a character, each as \\u00e9", "\\u00e9", "é", MAX, 2 * MAX],
  ["4-byte characters", "😀", "😀", MAX / 2, 2 * MAX],
  ["ASCII", "a", "a", MAX, MAX],
  ["control characters, escaped in the answer too", "\\u0001", "\u0001", MAX, MAX],
  ["4-byte characters, each as two escapes", "\\ud83d\\ude00", "😀", MAX / 2, 2 * MAX],
];

for (const [name, literal, character, count, bytes] of IS_LONG ? LONGEST : LONGEST.slice(3)) {
  test(`200: content ${MAX} long is written and read: ${name}; 413 CONTENT_TOO_LARGE for one more`, async () => {
    assertEquals(CONTENT_LENGTH_MAX, MAX);
    const own = await files("pro");
    const body = jsonBody(literal.repeat(count), "longest.txt");
    const written = dataOf(await own.request("POST", "/files", { body, headers }), "write_file", fileRecord);
    assertEquals([written.version, written.size], [1, bytes]);
    const answer = await own.request("GET", "/files/longest.txt", { headers });
    const { content, size } = dataOf(answer, "read_file", readRecord);
    assertEquals(size, bytes);
    assert(content === character.repeat(count), "the content came back changed");

    const longer = jsonBody(literal.repeat(count) + "a", "longest.txt");
    const refused = await own.request("POST", "/files", { body: longer, headers });
    assertEquals(assertRefused(refused, "CONTENT_TOO_LARGE", "write_file"), { limit: MAX, length: MAX + 1 });
    assertEquals((await own.record("longest.txt")).version, 1);
  });
}

test(`200: base64 ${MAX} long, counted as text; 413 for four more`, async () => {
  const own = await files("pro");
  const bytes = new Uint8Array(MAX / 4 * 3).fill(0xfb);
  const content = bytes.toBase64();
  assertEquals(content.length, MAX);
  assertEquals((await own.write("b.bin", content, { isBase64: true })).size, bytes.length);
  const read = await own.readBytes("b.bin");
  assert(read.length === bytes.length && read.every((byte) => byte === 0xfb));
  const refused = await own.request("POST", "/files", {
    body: { path: "b.bin", content: content + "AAAA", isBase64: true },
  });
  assertEquals(assertRefused(refused, "CONTENT_TOO_LARGE"), { limit: MAX, length: MAX + 4 });
});

test("413 CONTENT_TOO_LARGE: a body in chunks, once 64 MiB came", async () => {
  const own = await files("pro");
  const before = await service.tables();
  const chunk = new Uint8Array(1024 * 1024).fill(0x61);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"path":"f.txt","content":"')),
    pull(controller) {
      controller.enqueue(chunk);
      sent += chunk.length;
      if (sent > BODY_BYTES_MAX) controller.close();
    },
  });
  const refused = await own.request("POST", "/files", { body, headers });
  assertEquals(assertRefused(refused, "CONTENT_TOO_LARGE")["limitBytes"], BODY_BYTES_MAX);
  assertEquals(await service.tables(), before);
});

/** Fills a file by appends of `character`, `count` at a time, until the tier's limit is reached exactly. */
async function fill(own: Files, literal: string, bytesEach: number, limitBytes: number): Promise<void> {
  await own.write("full.txt", "");
  const count = Math.min(MAX / (bytesEach === 4 ? 2 : 1), limitBytes / bytesEach);
  const body = jsonBody(literal.repeat(count));
  for (let size = count * bytesEach; size <= limitBytes; size += count * bytesEach) {
    const answer = await own.request("PUT", "/files/append/full.txt", { body, headers });
    assertEquals(dataOf(answer, "write_file", fileRecord).size, size);
  }
  assertEquals((await own.record("full.txt")).size, limitBytes);
}

/** Asserts that no operation can add another byte, and that a refused one stores nothing. */
async function assertFull(own: Files, tier: string, limitBytes: number): Promise<void> {
  const before = await service.tables();
  const refusals = [
    ["PUT", "/files/append/full.txt", { content: "x" }, limitBytes + 1],
    ["PUT", "/files/append/full.txt", { content: "x".repeat(100_000) }, limitBytes + 100_000],
    ["PUT", "/files/append/full.txt", { content: "AA==", isBase64: true }, limitBytes + 1],
  ] as const;
  for (const [method, path, body, sizeBytes] of refusals) {
    const answer = await own.request(method, path, { body });
    const details = assertRefused(answer, "CONTENT_TOO_LARGE", "write_file");
    assertEquals(details, { limitBytes, sizeBytes, tier });
    assertEquals(await service.tables(), before);
  }
}

/** Asserts that the file consists of `character`, repeated. */
async function assertContent(own: Files, character: string, bytes: number): Promise<void> {
  const answer = await own.request("GET", "/files/full.txt", { headers });
  const { content, size } = dataOf(answer, "read_file", readRecord);
  const length = bytes / new TextEncoder().encode(character).length * character.length;
  assertEquals([size, content.length], [bytes, length]);
  assert(content === character.repeat(content.length / character.length), "the content came back changed");
}

/** Tier, its largest file, the kind of character, as spelled in JSON, decoded, and its bytes; the last two are long. */
const FULL = [
  ["pro", PRO_BYTES, "4-byte characters", "😀", "😀", 4],
  ["free", FREE_BYTES, "characters that need escaping", '\\"', '"', 1],
  ["pro", PRO_BYTES, "characters that need escaping", '\\"', '"', 1],
  ["free", FREE_BYTES, "4-byte characters", "😀", "😀", 4],
] as const;

for (const [tier, bytes, name, literal, character, bytesEach] of IS_LONG ? FULL : FULL.slice(0, 2)) {
  test(`a ${tier} file grows by appends of ${name} to ${bytes} bytes; 413 CONTENT_TOO_LARGE for one more`, async () => {
    const own = await files(tier);
    await fill(own, literal, bytesEach, bytes);
    await assertFull(own, tier, bytes);
    await assertContent(own, character, bytes);
  });
}

test("413 CONTENT_TOO_LARGE: one write, overwrite or edit over the free tier's bytes, known to this process or not", async () => {
  const own = await files("free");
  await own.write("f.txt", "<é>");
  const content = "é".repeat(FREE_BYTES / 2) + "x";
  const before = await service.tables();
  const details = { limitBytes: FREE_BYTES, sizeBytes: FREE_BYTES + 1, tier: "free" };
  for (const isKnown of [true, false]) {
    for (const path of ["/files", "/files/overwrite/f.txt"]) {
      if (!isKnown) await service.restartFunction();
      const answer = path === "/files"
        ? await own.request("POST", path, { body: { path: "new.txt", content } })
        : await own.request("PUT", path, { body: { content } });
      assertEquals(assertRefused(answer, "CONTENT_TOO_LARGE", "write_file"), details, path);
      assertEquals(await service.tables(), before);
    }
  }
  await own.overwrite("f.txt", "é".repeat(FREE_BYTES / 2 - 1) + "!!");
  const grown = await own.tryEdit("f.txt", "!!", "!!!");
  assertEquals(assertRefused(grown, "CONTENT_TOO_LARGE"), details);
  assertEquals((await own.edit("f.txt", "!!", "??")).size, FREE_BYTES);
});

test("after a downgrade a larger file stays readable, in every version, and only shrinks", async () => {
  const own = await files("pro");
  const content = "0123456789abcde\n".repeat(MAX / 16);
  await own.write("full.txt", content);
  await own.append("full.txt", "more");
  await service.setTier(own.project.id, "free");
  assert((await own.read("full.txt")).content === content + "more");
  assert((await own.read("full.txt", { version: 1 })).content === content);
  const grown = await own.request("PUT", "/files/append/full.txt", { body: { content: "x" } });
  assertEquals(assertRefused(grown, "CONTENT_TOO_LARGE"), {
    limitBytes: FREE_BYTES,
    sizeBytes: MAX + 5,
    tier: "free",
  });
  assertEquals((await own.edit("full.txt", "more", "")).size, MAX);
  assertEquals((await own.overwrite("full.txt", "small")).version, 4);
});
