import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { countNewlines, cutAtCharacter, isUtf8 } from "../../../supabase/functions/api/files/segment.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

Deno.test("isUtf8 takes every well-formed text, byte order marks and NUL included", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => assert(isUtf8(bytesOf(text)))));
  for (const text of ["", "\ufeff", "a\ufeffb", "\0", "\u{10ffff}"]) assert(isUtf8(bytesOf(text)));
});

Deno.test("countNewlines counts line feeds, not carriage returns", () => {
  assertEquals(countNewlines(bytesOf("a\r\nb\n\n\rc")), 3);
  assertEquals(countNewlines(bytesOf("\n\n\n\n"), 1, 3), 2);
  assertEquals(countNewlines(new Uint8Array()), 0);
});

Deno.test("cutAtCharacter splits text into text, at most 3 bytes short", () => {
  const text = fc.string({ unit: "binary", maxLength: 40 });
  fc.assert(fc.property(text, fc.integer({ min: 4, max: 60 }), (whole, max) => {
    const bytes = bytesOf(whole);
    const cut = cutAtCharacter(bytes, max);
    assert(cut <= max && cut >= Math.min(bytes.length, max - 3));
    assert(isUtf8(bytes.subarray(0, cut)) && isUtf8(bytes.subarray(cut)));
  }));
});

Deno.test("cutAtCharacter always advances on bytes that are not text", () => {
  const binary = new Uint8Array(20).fill(0x80);
  assertEquals([1, 2, 3, 4, 10, 20, 30].map((max) => cutAtCharacter(binary, max)), [1, 2, 3, 4, 10, 20, 20]);
});
