import { assertEquals } from "@std/assert";
import {
  detectMediaType,
  isBinaryMediaType,
  MEDIA_TYPES,
  mediaType,
} from "../../../supabase/functions/api/contract/media_types.ts";
import { BINARY, TYPES } from "../../support/content/media_types.ts";

/** Paths with every known extension, in small and capital letters. */
const DETECTED = Object.entries(TYPES).flatMap(([type, extensions]) =>
  extensions.split(" ").flatMap((extension): [string, string][] => [
    [`a.${extension}`, type],
    [`a.md/B.x.${extension.toUpperCase()}`, type],
  ])
);

Deno.test("detectMediaType goes by the extension, whatever its case and the bytes", () => {
  for (const [path, type] of DETECTED) {
    assertEquals(detectMediaType(path, true), type, path);
    assertEquals(detectMediaType(path, false), type, path);
  }
});

Deno.test("detectMediaType reaches every one of the 27 types", () => {
  assertEquals(MEDIA_TYPES.length, 27);
  assertEquals(new Set(DETECTED.map(([, type]) => type)), new Set<string>(MEDIA_TYPES));
});

Deno.test("detectMediaType falls back on the bytes where no extension is known", () => {
  for (
    const path of ["Makefile", "a.md/file", "a.xyz", ".json", "a/b/.json", "a.", "constructor", "a.__proto__"]
  ) {
    assertEquals(detectMediaType(path, true), "text/plain", path);
    assertEquals(detectMediaType(path, false), "application/octet-stream", path);
  }
});

Deno.test("isBinaryMediaType: images save svg, audio, video, pdf and zip", () => {
  const binary = MEDIA_TYPES.filter(isBinaryMediaType);
  assertEquals(binary, [...BINARY]);
});

Deno.test("mediaType takes the 27 spellings and no other", () => {
  assertEquals(MEDIA_TYPES.every((type) => mediaType.safeParse(type).success), true);
  for (const text of ["", "text/Plain", "text/plain; charset=utf-8", "text/x-go"]) {
    assertEquals(mediaType.safeParse(text).success, false);
  }
});
