import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseRange } from "../../../supabase/functions/api/http/byte_range.ts";

Deno.test("parseRange takes spaces, leading zeros and numbers that are larger than the size", () => {
  assertEquals(parseRange("bytes= \t1-2 ", 1000), { start: 1, end: 2 });
  assertEquals(parseRange("bytes=000-001", 1000), { start: 0, end: 1 });
  assertEquals(parseRange("bytes=5-5", Number.MAX_SAFE_INTEGER), { start: 5, end: 5 });
  assertEquals(parseRange("bytes=0-999999999999999", 10), { start: 0, end: 9 });
});

Deno.test("parseRange says where a range begins beyond the end, or is of nothing", () => {
  for (const range of ["10-", "10-10", "999999999999999-", "-0"]) {
    assertEquals(parseRange(`bytes=${range}`, 10), "unsatisfiable", range);
  }
  for (const range of ["0-", "0-0", "-1"]) {
    assertEquals(parseRange(`bytes=${range}`, 0), "unsatisfiable", range);
  }
});

Deno.test("parseRange ignores no range, other units, several parts and what is malformed", () => {
  assertEquals(parseRange(null, 10), null);
  const ignored = [
    "",
    ..."bytes bytes= bytes=- bytes=a-b bytes=1 bytes=2-1 bytes=0-1,2-3 bytes=0-1,".split(" "),
  ];
  const more = [
    ..."bytes=--1 bytes=+1-2 items=0-1 0-1 bytes=1.0-2 bytes=0x0-1".split(" "),
    ...["bytes=1 - 2", "bytes =1-2"],
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
