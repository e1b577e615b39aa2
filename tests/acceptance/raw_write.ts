/** Raw writes: which bodies are raw, the type that the file gets, and when a body is refused. */
import { assertEquals } from "@std/assert";
import { TYPES as TYPES_BY_EXTENSION } from "../support/content/media_types.ts";
import { assertRefused, dataOf, fileRecord, issuePaths } from "../support/client/contract.ts";

import type { Files } from "../support/client/files.ts";
import { patternBytes } from "../support/content/streams.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Raw writes");
export default cases;

export const MIB = 1024 * 1024;

export const OCTETS = { "content-type": "application/octet-stream" };

const utf8 = (text: string) => new TextEncoder().encode(text);

const text = async (own: Files, path: string) => new TextDecoder().decode((await own.readRaw(path)).bytes);

for (const size of [0, 1, 1000, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 7]) {
  test(`200: POST ?path= of ${size} bytes, read back unchanged as bytes and as JSON`, async () => {
    const own = await files();
    const bytes = patternBytes(0, size);
    const record = await own.writeRaw("f.bin", bytes, OCTETS);
    assertEquals([record.size, record.version, record.mimeType], [size, 1, "application/octet-stream"]);
    const raw = await own.readRaw("f.bin");
    assertEquals(raw.bytes.length, size);
    assertEquals(indexOfDifference(raw.bytes, bytes), -1);
    assertEquals(indexOfDifference(await own.readBytes("f.bin"), bytes), -1);
  });
}

function indexOfDifference(one: Uint8Array, other: Uint8Array): number {
  const length = Math.max(one.length, other.length);
  for (let index = 0; index < length; index++) if (one[index] !== other[index]) return index;
  return -1;
}

test("200: the Content-Type of a raw POST is the file's type, for each of the 27", async () => {
  const own = await files();
  const types = Object.keys(TYPES_BY_EXTENSION);
  assertEquals(types.length, 27);
  for (const [index, type] of types.entries()) {
    const header = [type, `${type}; charset=utf-8`, `${type.toUpperCase()} ;x=1`][index % 3] ?? "";
    const record = await own.writeRaw("x.txt", utf8("{}"), { "content-type": header });
    assertEquals(record.mimeType, type, header);
  }
});

/** Path, Content-Type, contentType parameter, bytes, resulting type. */
const TYPES: readonly (readonly [string, string | null, string | null, string, string])[] = [
  ["a.md", null, null, "x", "text/markdown"],
  ["a.md", "application/x-www-form-urlencoded", null, "x", "text/markdown"],
  ["a.md", "application/x-unknown", null, "x", "text/markdown"],
  ["a.md", "nonsense", null, "x", "text/markdown"],
  ["a.md", "text/plain", null, "x", "text/plain"],
  ["a.md", "text/plain;charset=UTF-8", "text/csv", "x", "text/csv"],
  ["a.md", "image/png", "text/html", "x", "text/html"],
  ["noext", null, null, "text", "text/plain"],
  ["noext", null, null, "\u00ff", "application/octet-stream"],
  ["a.json", "application/json", null, '{"path":"b","content":"c"}', "application/json"],
];

for (const [path, header, parameter, content, type] of TYPES) {
  test(`200: raw POST of ${path} as ${header}, contentType=${parameter}: ${type}`, async () => {
    const own = await files();
    const bytes = content === "\u00ff" ? Uint8Array.of(0xff) : utf8(content);
    const answer = await own.post(bytes, header === null ? {} : { "content-type": header }, {
      path,
      ...(parameter !== null && { contentType: parameter }),
    });
    const record = dataOf(answer, "write_file", fileRecord);
    assertEquals([record.path, record.mimeType, record.size], [path, type, bytes.length]);
    assertEquals(indexOfDifference((await own.readRaw(path)).bytes, bytes), -1);
  });
}

test("200: the path of a raw POST is decoded once, with + for a space as in every query", async () => {
  const own = await files();
  const paths = [["a%2Fb%20c", "a/b c"], ["a/b", "a/b"], ["a+b", "a b"], ["a%2Bb", "a+b"], [
    "%E6%97%A5",
    "日",
  ]];
  for (const [sent = "", stored = ""] of paths) {
    const answer = await own.request("POST", `/files?path=${sent}`, { body: "x", headers: OCTETS });
    assertEquals(dataOf(answer, "write_file", fileRecord).path, stored);
  }
});

test("400: a raw POST with a path or type that is none; nothing stored", async () => {
  const own = await files();
  const before = await snapshot();
  const rules: [string, string][] = [
    ["path=", "empty"],
    ["path", "empty"],
    ["path=/a", "leading_slash"],
    ["path=a/", "trailing_slash"],
    ["path=a/../b", "dot_segment"],
    ["path=a%5Cb", "backslash"],
    ["path=a%00b", "control_character"],
    [`path=${"x".repeat(1025)}`, "too_long"],
  ];
  for (const [query, rule] of rules) {
    const answer = await own.request("POST", `/files?${query}`, { body: "x", headers: OCTETS });
    assertEquals(assertRefused(answer, "INVALID_PATH", "write_file"), { rule }, query);
  }
  const parameters: [string, string][] = [
    ["path=a&path=b", "path"],
    ["path=%ff", "path"],
    ["path=a&contentType=text/unknown", "contentType"],
    ["path=a&contentType=", "contentType"],
    ["path=a&contentType=text/csv&contentType=text/csv", "contentType"],
  ];
  for (const [query, parameter] of parameters) {
    const answer = await own.request("POST", `/files?${query}`, { body: "x", headers: OCTETS });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "write_file")), [parameter], query);
  }
  assertEquals(await snapshot(), before);
});

/** Content-Type of a PUT without ?raw, and whether its body is read as raw bytes. */
const RAW_TYPES: readonly (readonly [string | null, boolean])[] = [
  ["application/octet-stream", true],
  ["text/markdown", true],
  ["Text/CSV; charset=utf-8", true],
  ["image/png", true],
  ["application/x-ndjson", true],
  ["nonsense", true],
  [null, false],
  ["application/json", false],
  ["application/ld+json", false],
  ["text/plain", false],
  ["text/plain;charset=UTF-8", false],
  ["application/x-www-form-urlencoded", false],
];

for (const [type, isRaw] of RAW_TYPES) {
  test(`200: a PUT of ${type} is ${isRaw ? "the bytes themselves" : "JSON, and with ?raw the bytes themselves"}`, async () => {
    const own = await files();
    const body = '{"content":"inner"}';
    const headers = type === null ? {} : { "content-type": type };
    await own.write("f.txt", ">", { contentType: "text/html" });
    const inner = isRaw ? body : "inner";
    const steps: [string, string][] = [
      ["append/f.txt", `>${inner}`],
      ["append/f.txt?raw", `>${inner}${body}`],
      ["overwrite/f.txt", inner],
      ["overwrite/f.txt?raw=", body],
    ];
    for (const [target, content] of steps) {
      const answer = await own.request("PUT", `/files/${target}`, { body, headers });
      assertEquals(dataOf(answer, "write_file", fileRecord).mimeType, "text/html", target);
      assertEquals(await text(own, "f.txt"), content, target);
    }
  });
}

test("200: bytes and text are the same file: raw and JSON writes mix", async () => {
  const own = await files();
  await own.writeRaw("f.txt", utf8("é"));
  await own.append("f.txt", "✓");
  await own.put("append", "f.txt", Uint8Array.of(0xf0, 0x9f), OCTETS);
  assertEquals((await own.read("f.txt")).isBase64, true);
  await own.put("append", "f.txt", Uint8Array.of(0x98, 0x80), OCTETS);
  assertEquals(await text(own, "f.txt"), "é✓😀");
  await own.put("overwrite", "f.txt", utf8("plain\n"), OCTETS);
  assertEquals((await own.read("f.txt")).content, "plain\n");
  assertEquals((await own.edit("f.txt", "plain", "edited")).version, 6);
});

test("200: ?raw=true is ?raw, and ?raw=false is as if it were absent", async () => {
  const own = await files();
  await own.write("f.txt", "");
  const json = { "content-type": "application/json" };
  const append = (query: string) =>
    own.request("PUT", `/files/append/f.txt?${query}`, { body: '{"content":"x"}', headers: json });
  assertEquals((await append("raw=true")).status, 200);
  assertEquals((await own.read("f.txt")).content, '{"content":"x"}');
  assertEquals((await append("raw=false")).status, 200);
  assertEquals((await own.read("f.txt")).content, '{"content":"x"}x');
});

test("400 VALIDATION_ERROR: ?raw takes no other value, and comes once; nothing stored", async () => {
  const own = await files();
  await own.write("f.txt", "x");
  const before = await snapshot();
  for (const query of ["raw=1", "raw=TRUE", "raw=%00", "raw&raw"]) {
    for (const route of ["append", "overwrite"]) {
      const answer = await own.request("PUT", `/files/${route}/f.txt?${query}`, {
        body: "x",
        headers: OCTETS,
      });
      assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "write_file")), ["raw"]);
    }
  }
  assertEquals(await snapshot(), before);
});

test("400 VALIDATION_ERROR: a raw append of nothing; an overwrite with nothing empties the file", async () => {
  const own = await files();
  await own.write("f.txt", "x");
  const before = await snapshot();
  const empty = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  for (const body of [new Uint8Array(), empty(), undefined]) {
    const answer = await own.request("PUT", "/files/append/f.txt?raw", { body, headers: OCTETS });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "write_file")), ["content"]);
  }
  assertEquals(await snapshot(), before);
  await own.put("overwrite", "f.txt", new Uint8Array(), OCTETS);
  assertEquals([(await own.record("f.txt")).size, await text(own, "f.txt")], [0, ""]);
});

test("415 UNSUPPORTED_MEDIA_TYPE: forms with parts, and bodies that are encoded; nothing stored", async () => {
  const own = await files();
  await own.write("f.txt", "x");
  const before = await snapshot();
  const multipart = { "content-type": "multipart/form-data; boundary=x" };
  for (const route of ["append", "overwrite", "edit", "restore", "copy", "move"]) {
    const answer = await own.put(route, "f.txt", "--x--", multipart);
    assertRefused(answer, "UNSUPPORTED_MEDIA_TYPE");
  }
  assertRefused(await own.post("--x--", multipart), "UNSUPPORTED_MEDIA_TYPE", "write_file");
  for (const encoding of ["gzip", "br", "deflate", "gzip, identity", "unknown"]) {
    const headers = { ...OCTETS, "content-encoding": encoding };
    for (const route of ["append", "overwrite"]) {
      assertRefused(
        await own.put(route, "f.txt", utf8("x"), headers),
        "UNSUPPORTED_MEDIA_TYPE",
        "write_file",
      );
    }
    assertRefused(await own.post(utf8("x"), headers, { path: "g" }), "UNSUPPORTED_MEDIA_TYPE", "write_file");
  }
  assertEquals(await snapshot(), before);
  const identity = { ...OCTETS, "content-encoding": "Identity" };
  assertEquals((await own.post(utf8("x"), identity, { path: "g" })).status, 200);
});
