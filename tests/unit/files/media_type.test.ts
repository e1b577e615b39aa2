import { assertEquals } from "@std/assert";
import {
  detectMediaType,
  isBinaryMediaType,
  isMediaType,
  MEDIA_TYPES,
} from "../../../supabase/functions/api/files/media_type.ts";

const DETECTED: readonly (readonly [string, string])[] = [
  ["README.md", "text/markdown"],
  ["a/b.MKD", "text/markdown"],
  ["notes.txt", "text/plain"],
  ["x.mjs", "text/javascript"],
  ["x.jsx", "text/javascript"],
  ["x.ts", "text/typescript"],
  ["x.mts", "text/typescript"],
  ["x.tsx", "text/typescript"],
  ["package.json", "application/json"],
  ["index.htm", "text/html"],
  ["a.css", "text/css"],
  ["a.py", "text/x-python"],
  ["A.java", "text/x-java-source"],
  ["a.cc", "text/x-c++src"],
  ["a.hpp", "text/x-c++src"],
  ["a.c", "text/x-csrc"],
  ["a.h", "text/x-csrc"],
  ["a.xml", "application/xml"],
  ["a.yml", "application/yaml"],
  ["a.csv", "text/csv"],
  ["a.JPEG", "image/jpeg"],
  ["a.png", "image/png"],
  ["a.gif", "image/gif"],
  ["a.webp", "image/webp"],
  ["a.bmp", "image/bmp"],
  ["a.svg", "image/svg+xml"],
  ["a.pdf", "application/pdf"],
  ["a.zip", "application/zip"],
  ["a.mp3", "audio/mpeg"],
  ["a.mp4", "video/mp4"],
  ["a.avi", "video/x-msvideo"],
  ["a.mov", "video/quicktime"],
  ["a.bin", "application/octet-stream"],
];

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
  assertEquals(binary, [
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "image/bmp",
    "application/pdf",
    "application/zip",
    "audio/mpeg",
    "video/mp4",
    "video/x-msvideo",
    "video/quicktime",
  ]);
});

Deno.test("isMediaType takes the 27 spellings and no other", () => {
  assertEquals(MEDIA_TYPES.every(isMediaType), true);
  for (const text of ["", "text/Plain", "text/plain; charset=utf-8", "text/x-go"]) {
    assertEquals(isMediaType(text), false);
  }
});
