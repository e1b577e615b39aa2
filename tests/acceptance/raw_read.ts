/** Raw reads: content negotiation, headers, one range. RFC 9110, sections 12.5.1, 13.1.5 and 14. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Answer, assertRefused } from "../support/client/contract.ts";

import { tagOf } from "../support/client/preconditions.ts";
import { ASKS_FOR_BYTES } from "../support/client/files.ts";
import { patternBytes } from "../support/content/streams.ts";
import { area, files, readMethods } from "./suite.ts";

const { test, cases } = area("Raw reads and ranges");
export default cases;

export const MIB = 1024 * 1024;

export const OCTETS = { "content-type": "application/octet-stream" };

const text = ({ bytes }: Answer) => new TextDecoder().decode(bytes);

export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  assertEquals(actual.length, expected.length, what);
  assert(actual.every((byte, index) => byte === expected[index]), `${what}: other bytes`);
}

/** Values of Accept, and whether the raw bytes are sent. */
const ACCEPTS: readonly (readonly [string, boolean])[] = [
  ["application/octet-stream", true],
  ["application/octet-stream;q=0.5", true],
  ["text/html, application/octet-stream", true],
  ["application/octet-stream, application/json;q=0.9", true],
  ["application/octet-stream;q=0", false],
  ["application/json, application/octet-stream", false],
  ["application/octet-stream, application/json", false],
  ["application/json", false],
  ["*/*", false],
  ["image/png", false],
  ["", false],
];

test("Accept: the bytes for application/octet-stream by name, preferred to JSON; else JSON", async () => {
  const own = await files();
  await own.write("f.txt", "content");
  for (const [accept, isRaw] of ACCEPTS) {
    const answer = await own.bytes("GET", "f.txt", { accept });
    assertEquals(answer.status, 200, accept);
    assertEquals((answer.headers.get("vary") ?? "").split(", ").includes("Accept"), true, accept);
    if (isRaw) assertEquals(text(answer), "content", accept);
    else assertEquals((await own.read("f.txt")).content, "content");
    assertEquals(tagOf(answer).endsWith(isRaw ? '.r"' : '.j"'), true, accept);
  }
});

/** Path, bytes, Content-Type of the answer. */
const SHOWN_TYPES: readonly (readonly [string, Uint8Array, string])[] = [
  ["a.md", new TextEncoder().encode("é"), "text/markdown; charset=utf-8"],
  ["a.html", new TextEncoder().encode("<script>"), "text/html; charset=utf-8"],
  ["a.txt", Uint8Array.of(0xff), "text/plain"],
  ["a.json", new TextEncoder().encode("{}"), "application/json"],
  ["a.svg", new TextEncoder().encode("<svg/>"), "image/svg+xml"],
  ["a.png", Uint8Array.of(1, 2, 3), "image/png"],
  ["a.bin", Uint8Array.of(0), "application/octet-stream"],
  ["a", new Uint8Array(), "text/plain; charset=utf-8"],
];

test("200: Content-Type and Content-Length are the file's, and a browser runs nothing of it", async () => {
  const own = await files();
  for (const [path, bytes, type] of SHOWN_TYPES) {
    await own.writeBytes(path, bytes);
    for (const method of readMethods()) {
      const answer = await own.bytes(method, path, ASKS_FOR_BYTES);
      assertEquals([answer.status, answer.headers.get("content-type")], [200, type], path);
      assertEquals(answer.headers.get("content-length"), String(bytes.length), `${method} ${path}`);
      assertEquals(answer.headers.get("accept-ranges"), "bytes");
      assertEquals(answer.headers.get("cache-control"), "private, no-cache, no-transform");
      assertEquals(answer.headers.get("x-content-type-options"), "nosniff");
      assertEquals(answer.headers.get("content-security-policy"), "sandbox; default-src 'none'");
      assertSameBytes(answer.bytes, method === "GET" ? bytes : new Uint8Array(), path);
    }
  }
});

/** Range, and the answer for "0123456789": a text and Content-Range, "all", or a refusal. */
const RANGES: readonly (readonly [string, readonly [string, string] | "all" | "unsatisfiable"])[] = [
  ["bytes=0-4", ["01234", "bytes 0-4/10"]],
  ["bytes=3-", ["3456789", "bytes 3-9/10"]],
  ["bytes=5-99", ["56789", "bytes 5-9/10"]],
  ["bytes=-3", ["789", "bytes 7-9/10"]],
  ["BYTES=1-2", ["12", "bytes 1-2/10"]],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=4-2", "all"],
  ["bytes=a-b", "all"],
  ["bytes=0-1,4-5", "all"],
  ["items=0-4", "all"],
];

for (const [range, expected] of RANGES) {
  test(`Range ${JSON.stringify(range)} of 10 bytes: ${expected}`, async () => {
    const own = await files();
    await own.write("f.txt", "0123456789");
    const answer = await own.readRaw("f.txt", { range });
    if (expected === "unsatisfiable") {
      assertEquals(answer.headers.get("content-range"), "bytes */10");
      assertEquals(assertRefused(answer, "RANGE_NOT_SATISFIABLE", "read_file"), { sizeBytes: 10 });
      return;
    }
    const [content, contentRange] = expected === "all" ? ["0123456789", null] : expected;
    assertEquals([answer.status, text(answer)], [expected === "all" ? 200 : 206, content]);
    assertEquals(answer.headers.get("content-range"), contentRange);
    assertEquals(answer.headers.get("content-length"), String(content.length));
    assertEquals(tagOf(answer).endsWith('.r"'), true);
  });
}

test("416: no range of an empty file can be sent; without a range it is 200", async () => {
  const own = await files();
  await own.write("empty.txt", "");
  for (const range of ["bytes=0-", "bytes=0-0", "bytes=1-"]) {
    const answer = await own.readRaw("empty.txt", { range });
    assertEquals(answer.headers.get("content-range"), "bytes */0");
    assertRefused(answer, "RANGE_NOT_SATISFIABLE", "read_file");
  }
  const whole = await own.readRaw("empty.txt");
  assertEquals([whole.status, whole.bytes.length, whole.headers.get("content-length")], [200, 0, "0"]);
});

test("Range: of GET alone, of the bytes alone, and of the version that is asked for", async () => {
  const own = await files();
  await own.write("f.txt", "first");
  await own.write("f.txt", "0123456789");
  const range = { range: "bytes=2-3" };
  if (readMethods().includes("HEAD")) {
    const head = await own.bytes("HEAD", "f.txt", { ...ASKS_FOR_BYTES, ...range });
    assertEquals([head.status, head.headers.get("content-length")], [200, "10"]);
  }
  assertEquals((await own.get("f.txt", range)).status, 200);
  assertEquals(text(await own.readRaw("f.txt", range, { version: 1 })), "rs");
  assertEquals((await own.readRaw("f.txt", { range: "bytes=7-" }, { version: 1 })).status, 416);
});

test("If-Range: the part if the tag is the very one, else the whole", async () => {
  const own = await files();
  await own.write("f.txt", "old content");
  const old = tagOf(await own.readRaw("f.txt"));
  await own.write("f.txt", "0123456789");
  const tag = tagOf(await own.readRaw("f.txt"));
  const cases: [string, number][] = [
    [tag, 206],
    [` ${tag} `, 206],
    [`W/${tag}`, 200],
    [old, 200],
    [tag.replace(".r", ".j"), 200],
    [`${tag}, ${tag}`, 200],
    ["*", 200],
    ["", 200],
    [new Date().toUTCString(), 200],
    ["nonsense", 200],
  ];
  for (const [condition, status] of cases) {
    const answer = await own.readRaw("f.txt", { range: "bytes=2-4", "if-range": condition });
    assertEquals([answer.status, text(answer)], [status, status === 206 ? "234" : "0123456789"], condition);
    // A range beyond the end is not refused if the condition does not hold.
    const beyond = await own.readRaw("f.txt", { range: "bytes=99-", "if-range": condition });
    assertEquals(beyond.status, status === 206 ? 416 : 200, condition);
  }
  assertEquals((await own.readRaw("f.txt", { "if-range": tag })).status, 200);
});

test("304 goes before a range", async () => {
  const own = await files();
  await own.write("f.txt", "0123456789");
  const tag = tagOf(await own.readRaw("f.txt"));
  for (const range of ["bytes=0-1", "bytes=99-"]) {
    const answer = await own.readRaw("f.txt", { range, "if-none-match": tag });
    assertEquals([answer.status, answer.bytes.length], [304, 0]);
  }
});

test("206: any range of a file of many segments of many sizes is that part of its bytes", async () => {
  const own = await files();
  const sizes = [2.5 * MIB, 1, 700_000, 3, MIB, 12_345];
  const whole = patternBytes(0, sizes.reduce((sum, size) => sum + size));
  let at = 0;
  for (const size of sizes) {
    const part = whole.subarray(at, at += size);
    if (at === size) await own.writeRaw("f.bin", part, OCTETS);
    else await own.put("append", "f.bin", part, OCTETS);
  }
  const borders = [0, MIB, 2 * MIB, 2.5 * MIB, 2.5 * MIB + 1, 2.5 * MIB + 700_001, whole.length - 1];
  const place = fc.oneof(
    fc.nat(whole.length - 1),
    fc.constantFrom(...borders).chain((border) =>
      fc.integer({ min: Math.max(0, border - 2), max: border + 2 })
    ),
  );
  await fc.assert(
    fc.asyncProperty(place, place, async (one, other) => {
      const [from, to] = [Math.min(one, other, whole.length - 1), Math.max(one, other)];
      const answer = await own.readRaw("f.bin", { range: `bytes=${from}-${to}` });
      assertEquals(answer.status, 206);
      assertSameBytes(answer.bytes, whole.subarray(from, to + 1), `${from}-${to}`);
    }),
    { numRuns: 60 },
  );
  assertSameBytes(
    (await own.readRaw("f.bin", { range: `bytes=-${MIB}` })).bytes,
    whole.subarray(-MIB),
    "suffix",
  );
  assertSameBytes((await own.readRaw("f.bin")).bytes, whole, "all");
});
