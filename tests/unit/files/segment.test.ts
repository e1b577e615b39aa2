import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { concatenate } from "../../../supabase/functions/api/runtime/bytes.ts";
import { describeSegment, isUtf8, SegmentCutter } from "../../../supabase/functions/api/files/segment.ts";
import { SEGMENT_BYTES_MAX } from "../../../supabase/functions/api/limits.ts";
import { segmentOf } from "../segment_of.ts";

const MIB = SEGMENT_BYTES_MAX;

/** Returns the segments of bytes that arrive in one chunk. */
function cutSegments(bytes: Uint8Array): Uint8Array[] {
  const cutter = new SegmentCutter();
  return [...cutter.push(bytes), ...cutter.finish()];
}

/** Text of the given number of bytes whose characters take 1 to 4 bytes. */
function textOf(size: number): Uint8Array {
  const unit = new TextEncoder().encode("aé日😀");
  const bytes = new Uint8Array(size);
  let at = 0;
  for (; at + unit.length <= size; at += unit.length) bytes.set(unit, at);
  return bytes.fill(0x78, at);
}

function same(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

for (const size of [0, 1, 1000, MIB - 1, MIB, MIB + 1, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 5 * MIB + 12345]) {
  Deno.test(`SegmentCutter of ${size} bytes of text: whole, in bounds, each piece text`, () => {
    const bytes = textOf(size);
    const pieces = cutSegments(bytes);
    assert(same(concatenate(pieces), bytes));
    for (const piece of pieces) {
      assert(piece.length >= 1 && piece.length <= MIB && isUtf8(piece));
      assert(pieces.length === 1 || piece.length >= MIB / 2 - 3, `a piece of ${piece.length} bytes`);
    }
  });
}

Deno.test("SegmentCutter makes no more pieces of plain bytes than needed", () => {
  for (const size of [1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 1, 10 * MIB]) {
    assertEquals(cutSegments(new Uint8Array(size)).length, Math.ceil(size / MIB));
    assertEquals(cutSegments(new Uint8Array(size).fill(0x80)).length, Math.ceil(size / MIB));
  }
});

Deno.test("SegmentCutter cuts the same, whatever the chunks", () => {
  const size = fc.oneof(
    fc.integer({ min: 0, max: 4 * MIB }),
    fc.constantFrom(MIB, 2 * MIB - 1, 2 * MIB, 3 * MIB),
  );
  const steps = fc.array(fc.integer({ min: 1000, max: 2 * MIB + 5 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(size, steps, (total, lengths) => {
      const bytes = textOf(total);
      const cutter = new SegmentCutter();
      const pieces: Uint8Array[] = [];
      for (let at = 0, turn = 0; at < total; turn++) {
        const to = Math.min(total, at + (lengths[turn % lengths.length] ?? total));
        pieces.push(...cutter.push(bytes, at, to));
        at = to;
      }
      pieces.push(...cutter.finish());
      const expected = cutSegments(bytes);
      assertEquals(pieces.map((piece) => piece.length), expected.map((piece) => piece.length));
      pieces.forEach((piece, index) => assert(same(piece, expected[index] ?? new Uint8Array())));
    }),
    { numRuns: 40 },
  );
});

Deno.test("SegmentCutter keeps copies: the caller may reuse its chunk", () => {
  const cutter = new SegmentCutter();
  const chunk = Uint8Array.of(1, 2, 3);
  cutter.push(chunk);
  chunk.fill(9);
  assertEquals(cutter.finish(), [Uint8Array.of(1, 2, 3)]);
});

Deno.test("describeSegment gives size, checksum, line feeds and whether it is text", async () => {
  const bytes = new TextEncoder().encode("abc");
  const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  assertEquals(await describeSegment("id", "name", bytes), segmentOf("name", 3, { id: "id", sha256 }));
  const binary = await describeSegment("id", "name", Uint8Array.of(10, 0xff, 10));
  assertEquals([binary.size, binary.newlines, binary.endsWithNewline, binary.isText], [3, 2, true, false]);
});

Deno.test("describeSegment refuses an empty and an oversized segment", async () => {
  await assertRejects(() => describeSegment("id", "name", new Uint8Array()), RangeError);
  await assertRejects(() => describeSegment("id", "name", new Uint8Array(MIB + 1)), RangeError);
});
