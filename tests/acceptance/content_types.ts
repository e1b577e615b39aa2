/** Content types: requested, detected, inherited, and their effect on a read. */
import { assertEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { BINARY, TYPES } from "../support/content/media_types.ts";
import { area, files } from "./suite.ts";

const { test, cases } = area("Content types");
export default cases;

test("200: each of the 27 types may be given, whatever the extension, and decides how text comes back", async () => {
  const own = await files();
  for (const [index, contentType] of Object.keys(TYPES).entries()) {
    const path = `given/${index}.unknown`;
    assertEquals((await own.write(path, "plain text", { contentType })).mimeType, contentType);
    const { mimeType, content, isBase64 } = await own.read(path);
    assertEquals(mimeType, contentType);
    assertEquals(
      [content, isBase64],
      BINARY.has(contentType) ? [btoa("plain text"), true] : ["plain text", undefined],
    );
    assertEquals((await own.record(path)).mimeType, contentType);
    assertEquals(await own.paths({ directory: "given", contentType }), [path]);
  }
});

for (const [type, extensions] of Object.entries(TYPES)) {
  test(`200: ${type} is detected from ${extensions}, in any case`, async () => {
    const own = await files();
    for (const extension of extensions.split(" ")) {
      for (const name of [`a.${extension}`, `dir.md/b.x.${extension.toUpperCase()}`]) {
        assertEquals((await own.write(name, "x")).mimeType, type, name);
      }
    }
  });
}

const UNKNOWN_NAMES = [
  ..."Makefile a.unknownext .md .gitignore a. dir.png/file x.md/.hidden md".split(" "),
];

for (const name of UNKNOWN_NAMES) {
  test(`200: ${name} is text/plain with UTF-8 bytes and application/octet-stream without`, async () => {
    const own = await files();
    assertEquals((await own.write(name, "text ✓")).mimeType, "text/plain");
    assertEquals(
      (await own.writeBytes(name, Uint8Array.of(0x66, 0xff, 0x00))).mimeType,
      "application/octet-stream",
    );
    assertEquals((await own.writeBytes(name, new TextEncoder().encode("é"))).mimeType, "text/plain");
    assertEquals((await own.write(name, "")).mimeType, "text/plain");
  });
}

test("400 VALIDATION_ERROR: a type outside the 27, also with other case or parameters", async () => {
  const own = await files();
  const wrong = [
    "",
    "text/x-rust",
    "TEXT/PLAIN",
    "text/plain; charset=utf-8",
    " text/plain",
    "image/*",
    7,
    true,
    [],
  ];
  for (const contentType of wrong) {
    const body = { path: "a", content: "x", contentType };
    const details = assertRefused(
      await own.request("POST", "/files", { body }),
      "VALIDATION_ERROR",
      "write_file",
    );
    assertEquals(issuePaths(details), ["contentType"]);
  }
  assertEquals((await own.list()).total, 0);
});
