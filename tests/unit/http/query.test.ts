import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { isSet, parseQuery, pick } from "../../../supabase/functions/api/http/query.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";

/** Returns the parameters that the call refuses, with the reasons; null if it refuses none. */
function refusalOf(call: () => unknown): unknown {
  try {
    call();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assertEquals(error.code, "VALIDATION_ERROR");
    return error.details?.["issues"];
  }
}

const QUERIES: readonly (readonly [string, readonly (readonly [string, readonly (string | null)[]])[]])[] = [
  ["", []],
  ["&&", []],
  ["a", [["a", [null]]]],
  ["a=", [["a", [""]]]],
  ["a=1", [["a", ["1"]]]],
  ["a=1&b=2&a=3", [["a", ["1", "3"]], ["b", ["2"]]]],
  ["a=b=c", [["a", ["b=c"]]]],
  ["=1", [["", ["1"]]]],
  ["a+b=c+d", [["a b", ["c d"]]]],
  ["%61=%2B%26%3D", [["a", ["+&="]]]],
  ["a=%E6%97%A5", [["a", ["日"]]]],
  ["a=?#x", [["a", ["?#x"]]]],
  ["__proto__=1&constructor=2", [["__proto__", ["1"]], ["constructor", ["2"]]]],
];

for (const [raw, entries] of QUERIES) {
  Deno.test(`parseQuery ${JSON.stringify(raw)}`, () => {
    assertEquals([...parseQuery(raw)], entries.map(([name, values]) => [name, [...values]]));
  });
}

Deno.test("parseQuery undoes URLSearchParams", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
    const query = parseQuery(new URLSearchParams(pairs).toString());
    for (const [name] of pairs) {
      assertEquals(query.get(name), pairs.filter(([other]) => other === name).map(([, value]) => value));
    }
  }));
});

Deno.test("isSet: also with true; false is as if it were absent; anything else is refused", () => {
  for (const raw of ["raw", "raw=", "raw=true", "a&raw=true"]) {
    assertEquals(isSet(parseQuery(raw), "raw"), true, raw);
  }
  for (const raw of ["", "a", "RAW", "raw=false"]) assertEquals(isSet(parseQuery(raw), "raw"), false, raw);
  for (const raw of ["raw=1", "raw=TRUE", "raw=+", "raw=%00"]) {
    assertEquals(refusalOf(() => isSet(parseQuery(raw), "raw")), [{
      path: "raw",
      reason: "must be true, false or without a value",
    }], raw);
  }
  assertEquals(refusalOf(() => isSet(parseQuery("raw=true&raw=true"), "raw")), [{
    path: "raw",
    reason: "must not be repeated",
  }]);
});

Deno.test("pick: the named parameters alone, absent ones left out", () => {
  assertEquals(pick(parseQuery("a=1&b=2&c"), ["a", "c", "d"]), { a: "1", c: "" });
  assertEquals(pick(parseQuery("x=1&x=2&y=%ff"), ["a"]), {});
  assertEquals(Object.keys(pick(parseQuery("toString=1"), ["valueOf"])), []);
});

Deno.test("pick throws for a parameter that is repeated, or whose escapes are malformed", () => {
  const twice = refusalOf(() => pick(parseQuery("a=1&b=1&a=1"), ["a"]));
  assertEquals(twice, [{ path: "a", reason: "must not be repeated" }]);
  for (const raw of ["a=%", "a=%2", "a=%zz", "a=%ff", "a=%c0%af", "a=%ed%a0%80", "a=ok%e6%97"]) {
    const reason = "has a percent escape that is malformed or not UTF-8";
    assertEquals(refusalOf(() => pick(parseQuery(raw), ["a"])), [{ path: "a", reason }], raw);
  }
});
