import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Base64Stream, encodeBase64 } from "../../../supabase/functions/api/http/json_content.ts";
import { Base64Decoder } from "../../../supabase/functions/api/http/json_request.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** The decoded bytes; null if the text is not base64. */
function decodeBase64(text: Uint8Array | string): Uint8Array | null {
  const decoder = new Base64Decoder();
  const bytes = decoder.push(typeof text === "string" ? bytesOf(text) : text);
  return bytes !== null && decoder.finish() ? bytes : null;
}
const anyBytes = fc.uint8Array({ maxLength: 200 });

/** The platform's own encoder as a reference. */
const reference = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

/** Cuts a text into pieces at the given places. */
function cut(text: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [0, ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return borders.slice(1).map((border, index) => text.subarray(borders[index], border));
}

Deno.test("encodeBase64 agrees with btoa, also for a view into a larger buffer", () => {
  fc.assert(fc.property(anyBytes, (bytes) => assertEquals(textOf(encodeBase64(bytes)), reference(bytes))));
  assertEquals(textOf(encodeBase64(bytesOf("xabcx").subarray(1, 4))), "YWJj");
});

Deno.test("decodeBase64 tolerates line breaks and spaces anywhere", () => {
  const space = fc.stringMatching(/^[ \t\r\n]*$/);
  fc.assert(fc.property(anyBytes, fc.array(space, { minLength: 1 }), (bytes, spaces) => {
    const spaced = [...reference(bytes)].map((character, index) => character + spaces[index % spaces.length]);
    assertEquals(decodeBase64(spaces[0] + spaced.join("")), bytes);
  }));
});

Deno.test("decodeBase64 refuses what is not padded base64", () => {
  const refused = "A AA AAA AA= = == ==== A=== AA=A AA==A AA=== AAA== AAAA=".split(" ");
  const more = ["AA==AA==", "A-AA", "A_AA", "AA\u00a0==", "AAé=", "AA\0A", "AAA\ud800", "AA%3D"];
  for (const text of [...refused, ...more]) {
    assertEquals(decodeBase64(text), null, text);
  }
});

Deno.test("decodeBase64 refuses every other character wherever it stands", () => {
  for (let byte = 0; byte < 256; byte++) {
    if (/[A-Za-z0-9+/ \t\r\n]/.test(String.fromCharCode(byte))) continue;
    for (let place = 0; place < 9; place++) {
      const text = bytesOf("AAAAAAAAAAAA");
      text[place] = byte;
      assertEquals(decodeBase64(text), null, `${byte} at ${place}`);
    }
  }
});

Deno.test("decodeBase64 ignores set bits after the last byte, as atob does", () => {
  for (const text of ["QR==", "Qf==", "QUJ=", "QUL="]) {
    assertEquals(decodeBase64(text), Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  }
});

Deno.test("Base64Decoder gives the same whatever the pieces", () => {
  const text = fc.oneof(anyBytes.map(reference), fc.stringMatching(/^[A-D= \n!]*$/));
  fc.assert(fc.property(text, fc.array(fc.nat()), (base64, places) => {
    const decoder = new Base64Decoder();
    const decoded: number[] = [];
    let valid = true;
    for (const piece of cut(bytesOf(base64), places)) {
      const bytes = decoder.push(piece);
      if (bytes === null) valid = false;
      if (!valid) break;
      decoded.push(...bytes ?? []);
    }
    const expected = decodeBase64(base64);
    assertEquals(valid && decoder.finish() ? Uint8Array.from(decoded) : null, expected);
  }));
});

Deno.test("Base64Stream gives the same text whatever the pieces", () => {
  fc.assert(fc.property(anyBytes, fc.array(fc.nat()), (bytes, places) => {
    const stream = new Base64Stream();
    const text = cut(bytes, places).map((piece) => textOf(stream.push(piece))).join("");
    assertEquals(text + textOf(stream.finish()), reference(bytes));
  }));
});
