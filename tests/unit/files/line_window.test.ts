import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  countLines,
  cutLines,
  type LineQuery,
  lineWindow,
  parseLines,
} from "../../../supabase/functions/api/files/line_window.ts";
import type { Segment } from "../../../supabase/functions/api/ports/segments.ts";
import { segmentOf } from "../segment_of.ts";

const encoder = new TextEncoder();

/** Returns one segment for each non-empty piece, and their bytes by name. */
function segmentsOf(pieces: readonly string[]): { list: Segment[]; bytesOf: Map<string, Uint8Array> } {
  const bytesOf = new Map<string, Uint8Array>();
  const list = pieces.filter((piece) => piece !== "").map((piece, index): Segment => {
    const bytes = encoder.encode(piece);
    bytesOf.set(`${index}`, bytes);
    const newlines = piece.split("\n").length - 1;
    return segmentOf(`${index}`, bytes.length, { newlines, endsWithNewline: piece.endsWith("\n") });
  });
  return { list, bytesOf };
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns the window's text of the pieces, with the segments it reads. */
function read(pieces: readonly string[], query: LineQuery) {
  const { list, bytesOf } = segmentsOf(pieces);
  const window = lineWindow(list, query);
  if (window === null) return null;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const text = window.parts
    .map((part) => decoder.decode(cutLines(bytesOf.get(part.segment.id) ?? new Uint8Array(), part)))
    .join("");
  const { startLine, endLine, totalLines } = window;
  return { text, startLine, endLine, totalLines, read: window.parts.map((part) => Number(part.segment.id)) };
}

Deno.test("parseLines reads from-to, from- and -n", () => {
  assertEquals(parseLines("1-1"), { from: 1, to: 1 });
  assertEquals(parseLines("007-12"), { from: 7, to: 12 });
  assertEquals(parseLines("3-"), { from: 3, to: Number.MAX_SAFE_INTEGER });
  assertEquals(parseLines("-20"), { last: 20 });
  assertEquals(parseLines("9999999999-9999999999"), { from: 9999999999, to: 9999999999 });
});

Deno.test("countLines: a line ends with its line feed, and what follows the last one is a line if not empty", () => {
  const cases: [string[], number][] = [
    [[], 0],
    [["\n"], 1],
    [["a"], 1],
    [["a\n"], 1],
    [["a\nb"], 2],
    [["a\n", "b"], 2],
    [["a", "\n"], 1],
    [["a\n", "\n"], 2],
    [["\n\n\n"], 3],
  ];
  for (const [pieces, lines] of cases) {
    assertEquals(countLines(segmentsOf(pieces).list), lines, JSON.stringify(pieces));
  }
});

Deno.test("lineWindow shows exactly the lines, however the text is cut, and reads no segment without one of their bytes", () => {
  const piece = fc.string({ unit: fc.constantFrom("a", "\n", "é", "\r", "\n"), maxLength: 6 });
  const query = fc.oneof(
    fc.tuple(fc.integer({ min: 1, max: 20 }), fc.nat(20)).map(([from, more]): LineQuery => ({
      from,
      to: from + more,
    })),
    fc.integer({ min: 1, max: 20 }).map((last): LineQuery => ({ last })),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), query, (pieces, asked) => {
      const lines = linesOf(pieces.join(""));
      const window = read(pieces, asked);
      const from = "last" in asked ? Math.max(1, lines.length - asked.last + 1) : asked.from;
      const to = "last" in asked ? lines.length : Math.min(asked.to, lines.length);
      if (window === null) return assert(from > lines.length);
      assertEquals([window.startLine, window.endLine, window.totalLines], [from, to, lines.length]);
      assertEquals(window.text, lines.slice(from - 1, to).join(""));
      const start = encoder.encode(lines.slice(0, from - 1).join("")).length;
      const end = start + encoder.encode(window.text).length;
      let at = 0;
      const holding: number[] = [];
      for (const [index, { size }] of segmentsOf(pieces).list.entries()) {
        if (at < end && at + size > start) holding.push(index);
        at += size;
      }
      assertEquals(window.read, holding);
    }),
    { numRuns: 2000 },
  );
});
