import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ByteSearch } from "../../../supabase/functions/api/files/byte_search.ts";
import { assertNoHang } from "../../support/stack/processes.ts";

/** Returns the position after each match, across all pieces. */
function ends(pattern: string, pieces: readonly string[]): number[] {
  const encoder = new TextEncoder();
  const search = new ByteSearch(encoder.encode(pattern));
  const found: number[] = [];
  let before = 0;
  for (const piece of pieces) {
    const bytes = encoder.encode(piece);
    for (let end = search.next(bytes, 0); end >= 0; end = search.next(bytes, end)) found.push(before + end);
    before += bytes.length;
  }
  return found;
}

function reference(pattern: string, text: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + pattern.length)) {
    found.push(at + pattern.length);
  }
  return found;
}

Deno.test("ByteSearch finds what indexOf finds, across any number of pieces", () => {
  const narrow = (maxLength: number) => fc.stringMatching(new RegExp(`^[ab]{1,${maxLength}}$`));
  fc.assert(
    fc.property(
      narrow(5),
      fc.array(fc.oneof(narrow(8), fc.constant("")), { maxLength: 12 }),
      (pattern, pieces) => {
        assertEquals(ends(pattern, pieces), reference(pattern, pieces.join("")));
      },
    ),
    { numRuns: 3000 },
  );
});

Deno.test("ByteSearch finds matches that do not overlap, from the left", () => {
  assertEquals(ends("aa", ["aaaaa"]), [2, 4]);
  assertEquals(ends("aba", ["ababa", "ba"]), [3, 7]);
});

Deno.test("ByteSearch takes linear time where naive searches take quadratic", async () => {
  const text = new Uint8Array(2_000_000).fill(0x61);
  const many = "a".repeat(50_000);
  for (const pattern of [`b${many}${many}`, `${many}${many}b`, `${many}b${many}`]) {
    const search = () => assertEquals(new ByteSearch(new TextEncoder().encode(pattern)).next(text, 0), -1);
    await assertNoHang(search, pattern.replaceAll(many, "many "));
  }
});

Deno.test("ByteSearch refuses an empty pattern", () => {
  assertThrows(() => new ByteSearch(new Uint8Array()), RangeError);
});
