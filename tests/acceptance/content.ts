/** Content written and read: text, base64, binary, byte order marks, and the representation that a read returns. */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";

import { assertRefused } from "../support/client/contract.ts";
import { encodePath } from "../support/client/files.ts";
import { area, files } from "./suite.ts";

const { test, cases } = area("Content");
export default cases;

const encoder = new TextEncoder();

/** Texts that must be returned unchanged, and their size in bytes. */
const TEXTS: readonly (readonly [string, string, number])[] = [
  ["nothing", "", 0],
  ["ASCII", "hello", 5],
  ["every line break", "a\nb\r\nc\rd\u2028e\u2029\n", 16],
  ["what JSON escapes", '"quote" \\back\\ /slash/ \b\f\n\r\t\u0000\u0001\u001f\u007f', 32],
  ["two, three and four bytes a character", "é ✓ 😀", 2 + 1 + 3 + 1 + 4],
  ["a byte order mark", "\ufeffhello", 8],
  ["byte order marks only", "\ufeff\ufeff", 6],
  ["a byte order mark within", "a\ufeffb", 5],
  ["noncharacters and the last character", "\ufffe\uffff\u{10ffff}", 10],
  ["the replacement character", "\ufffd", 3],
  ["combining marks, not normalised", "e\u0301 é", 6],
  ["markup", "</script><!-- ${x} $& %s {{y}} -->", 34],
  ["text that looks like base64", "aGVsbG8=", 8],
];

for (const [name, content, size] of TEXTS) {
  test(`200: ${name} is written, appended, overwritten and read back unchanged`, async () => {
    const own = await files();
    const written = await own.write("t.txt", content);
    assertEquals([written.size, written.mimeType], [size, "text/plain"]);
    const { content: read, isBase64, ...record } = await own.read("t.txt");
    assertEquals([read, isBase64], [content, undefined]);
    assertEquals(record, written);
    assertEquals(await own.readBytes("t.txt", { encoding: "base64" }), encoder.encode(content));
    assertEquals((await own.overwrite("t.txt", content + content)).size, 2 * size);
    assertEquals((await own.read("t.txt")).content, content + content);
    if (content === "") return;
    assertEquals((await own.append("t.txt", content)).size, 3 * size);
    assertEquals((await own.read("t.txt")).content, content.repeat(3));
  });
}

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);

/** Bytes that are not UTF-8: those of RFC 3629, and those that careless decoders accept. */
const NOT_UTF8: readonly (readonly [string, Uint8Array])[] = [
  ["all bytes", ALL_BYTES],
  ["a lone continuation byte", Uint8Array.of(0x80)],
  ["an overlong slash", Uint8Array.of(0xc0, 0xaf)],
  ["an encoded surrogate", Uint8Array.of(0xed, 0xa0, 0x80)],
  ["beyond the last character", Uint8Array.of(0xf4, 0x90, 0x80, 0x80)],
  ["a cut character", Uint8Array.of(0x61, 0xe2, 0x9c)],
  ["UTF-16 with its mark", Uint8Array.of(0xff, 0xfe, 0x61, 0x00)],
];

for (const [name, bytes] of NOT_UTF8) {
  test(`200: ${name}: written as base64, read as base64; 422 NOT_TEXT for encoding=utf8`, async () => {
    const own = await files();
    const { size, mimeType } = await own.writeBytes("b", bytes);
    assertEquals([size, mimeType], [bytes.length, "application/octet-stream"]);
    const { content, isBase64 } = await own.read("b");
    assertEquals([content, isBase64], [bytes.toBase64(), true]);
    const refused = await own.request("GET", "/files/b?encoding=utf8");
    assertEquals(assertRefused(refused, "NOT_TEXT", "read_file"), { version: 1 });
  });
}

test("200: a text type does not make binary bytes text, and base64 input of text is text", async () => {
  const own = await files();
  await own.writeBytes("bad.md", ALL_BYTES);
  assertEquals((await own.read("bad.md")).isBase64, true);
  assertEquals((await own.record("bad.md")).mimeType, "text/markdown");
  await own.writeBytes("good.md", encoder.encode("# ✓"));
  assertEquals((await own.read("good.md")).content, "# ✓");
  await own.write("shape.svg", "<svg/>");
  assertEquals((await own.read("shape.svg")).isBase64, undefined);
});

test("200: encoding=base64 and encoding=utf8 choose where both are possible", async () => {
  const own = await files();
  await own.write("a.txt", "é");
  assertEquals((await own.read("a.txt", { encoding: "base64" })).content, "w6k=");
  assertEquals((await own.read("a.txt", { encoding: "base64" })).isBase64, true);
  assertEquals((await own.read("a.txt", { encoding: "utf8" })).isBase64, undefined);
  await own.write("a.png", "not really");
  assertEquals((await own.read("a.png")).isBase64, true);
  assertEquals((await own.read("a.png", { encoding: "utf8" })).content, "not really");
});

test("200: pieces are text each by itself: half a character appended to its other half stays binary", async () => {
  const own = await files();
  await own.writeBytes("half", Uint8Array.of(0xe2, 0x9c));
  const { size } = await own.append("half", Uint8Array.of(0x93).toBase64(), { isBase64: true });
  assertEquals(size, 3);
  const { content, isBase64 } = await own.read("half");
  assertEquals([content, isBase64], [encoder.encode("✓").toBase64(), true]);
});

test("200: a version is binary or text by itself", async () => {
  const own = await files();
  await own.write("mixed.bin", "text");
  await own.append("mixed.bin", Uint8Array.of(0xff).toBase64(), { isBase64: true });
  await own.overwrite("mixed.bin", "text again");
  const kinds = [];
  for (const version of [1, 2, 3]) kinds.push((await own.read("mixed.bin", { version })).isBase64 ?? false);
  assertEquals(kinds, [false, true, false]);
});

test("200: isBase64 false, null and absent are the same", async () => {
  const own = await files();
  for (const more of [{ isBase64: false }, { isBase64: null }, {}]) {
    await own.write("a", "YQ==", more);
    assertEquals((await own.read("a")).content, "YQ==", JSON.stringify(more));
  }
});

test("200: JSON bodies are read under the media types that curl and fetch send", async () => {
  const own = await files();
  const types = [
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON; charset=UTF-8",
    'application/json;charset="utf-8"',
    "application/vnd.api+json",
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
  ];
  for (const [index, type] of types.entries()) {
    const body = JSON.stringify({ path: own.at(`t${index}`), content: "✓" });
    const answer = await own.request("POST", "/files", { body, headers: { "content-type": type } });
    assertEquals(answer.status, 200, type);
  }
  const untyped = await own.request("POST", "/files", {
    body: JSON.stringify({ path: own.at("none"), content: "✓" }),
  });
  assertEquals(untyped.status, 200);
  assertEquals((await own.list()).total, types.length + 1);
  assertEquals((await own.read("none")).content, "✓");
});

test("200: a body in chunks, cut within characters and escapes, is read like a whole one", async () => {
  const own = await files();
  const content = 'é✓😀\n"\\'.repeat(50);
  const bytes = encoder.encode(JSON.stringify({ content, path: own.at("chunked") }).replace("é", "\\u00e9"));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.subarray(at, at + 7));
      controller.close();
    },
  });
  assertEquals((await own.request("POST", "/files", { body })).status, 200);
  assertEquals((await own.read("chunked")).content, content);
});

test("200: content of several segments, in every script, survives byte for byte", async () => {
  const own = await files();
  const content = "aé✓😀".repeat(250_000);
  assertEquals((await own.write("long.txt", content)).size, 2_500_000);
  assertEquals((await own.read("long.txt")).content === content, true);
  const bytes = crypto.getRandomValues(new Uint8Array(65_536));
  const long = new Uint8Array(2_600_003).map((_, index) => (bytes[index % 65_536] ?? 0) ^ (index >> 16));
  await own.writeBytes("long.bin", long);
  assertEquals(Buffer.compare(await own.readBytes("long.bin"), long), 0);
  const path = `/files/${encodePath("long.bin")}?encoding=utf8`;
  assertRefused(await own.request("GET", path), "NOT_TEXT");
});
