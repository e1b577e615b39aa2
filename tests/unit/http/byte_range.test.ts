import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseRange } from "../../../supabase/functions/api/http/byte_range.ts";

/** Header, size, first and last byte. */
const RANGES: readonly (readonly [string, number, number, number])[] = [
  ["bytes=0-0", 1, 0, 0],
  ["bytes=0-499", 1000, 0, 499],
  ["bytes=500-", 1000, 500, 999],
  ["bytes=999-", 1000, 999, 999],
  ["bytes=0-9999", 1000, 0, 999],
  ["bytes=-1", 1000, 999, 999],
  ["bytes=-1000", 1000, 0, 999],
  ["bytes=-1001", 1000, 0, 999],
  ["BYTES=1-2", 1000, 1, 2],
  ["bytes= \t1-2 ", 1000, 1, 2],
  ["bytes=000-001", 1000, 0, 1],
  ["bytes=5-5", Number.MAX_SAFE_INTEGER, 5, 5],
  ["bytes=0-999999999999999", 10, 0, 9],
];

for (const [header, size, start, end] of RANGES) {
  Deno.test(`parseRange ${header} of ${size}: ${start} to ${end}`, () => {
    assertEquals(parseRange(header, size), { start, end });
  });
}

Deno.test("parseRange says where a range begins beyond the end, or is of nothing", () => {
  const cases: [string, number][] = [
    ["bytes=10-", 10],
    ["bytes=10-10", 10],
    ["bytes=999999999999999-", 10],
    ["bytes=-0", 10],
    ["bytes=0-", 0],
    ["bytes=0-0", 0],
    ["bytes=-1", 0],
  ];
  for (const [header, size] of cases) assertEquals(parseRange(header, size), "unsatisfiable", header);
});

Deno.test("parseRange ignores no range, other units, several parts and what is malformed", () => {
  assertEquals(parseRange(null, 10), null);
  const ignored = [
    "",
    "bytes",
    "bytes=",
    "bytes=-",
    "bytes=a-b",
    "bytes=1",
    "bytes=2-1",
    "bytes=0-1,2-3",
    "bytes=0-1,",
  ];
  const more = [
    "bytes=--1",
    "bytes=+1-2",
    "bytes=1 - 2",
    "bytes =1-2",
    "items=0-1",
    "0-1",
    "bytes=1.0-2",
    "bytes=0x0-1",
  ];
  for (const header of [...ignored, ...more, "bytes=9999999999999999-", "bytes=１-２"]) {
    assertEquals(parseRange(header, 10), null, header);
  }
});

Deno.test("parseRange never leads out of the bytes, and is what slicing gives", () => {
  const bound = fc.option(fc.nat(30), { nil: "" as const });
  fc.assert(fc.property(bound, bound, fc.nat(20), (first, last, size) => {
    const range = parseRange(`bytes=${first}-${last}`, size);
    const bytes = Array.from({ length: size }, (_, index) => index);
    const expected = first === ""
      ? (last === "" ? [] : bytes.slice(Math.max(0, size - last)))
      : bytes.slice(first, last === "" ? undefined : last + 1);
    if (range === null) {
      assert((first === "" && last === "") || (first !== "" && last !== "" && last < first));
    } else if (range === "unsatisfiable") assertEquals(expected, []);
    else {
      assert(range.start >= 0 && range.start <= range.end && range.end < size);
      assertEquals(bytes.slice(range.start, range.end + 1), expected);
    }
  }));
});
