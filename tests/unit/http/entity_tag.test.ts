import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseEntityTags } from "../../../supabase/functions/api/http/conditions.ts";

/** Header value → tags; the comparison ignores weakness. */
const LISTS: readonly (readonly [string, string[]])[] = [
  ['W/"a"', ["a"]],
  ['""', [""]],
  ['"a",W/"b"', ["a", "b"]],
  [' \t"a"\t , \t"b" ', ["a", "b"]],
  [', ,"a",,"b",', ["a", "b"]],
  ['"a,b"', ["a,b"]],
  ['"!#~\u0080\u00ff"', ["!#~\u0080\u00ff"]],
  ['"W/"', ["W/"]],
];

Deno.test("parseEntityTags reads lists of tags, and a star alone with space around it", () => {
  for (const [value, members] of LISTS) assertEquals(parseEntityTags(value), members, value);
  for (const value of ["*", " *", "*\t"]) assertEquals(parseEntityTags(value), "*");
});

Deno.test("parseEntityTags refuses what is no list of tags", () => {
  const refused = [
    ...["", " ", ",", ", ,", "a", '"a', 'a"', '"a" "b"', '"a""b"', '"a";"b"', '*, "a"', '"a", *', "W/a"],
    ...['w/"a"', 'W/ "a"', "W/", '"a b"', '"a\u007f"', '"a\n"', '"\u0100"', "'a'"],
  ];
  for (const value of refused) assertEquals(parseEntityTags(value), null, JSON.stringify(value));
});

Deno.test("parseEntityTags ends for any text, and finds what was put together", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom('"', "a", ",", " ", "*", "W/", ".") }), (value) => {
    const tags = parseEntityTags(value);
    assert(tags === null || tags === "*" || tags.length > 0);
  }));
  const opaque = fc.string({ unit: fc.constantFrom("a", ".", ",", "1", "!", "*", "/") });
  const list = fc.array(fc.record({ opaque, isWeak: fc.boolean() }), { minLength: 1 });
  fc.assert(fc.property(list, (tags) => {
    const value = tags.map((tag) => `${tag.isWeak ? "W/" : ""}"${tag.opaque}"`).join(", ");
    assertEquals(parseEntityTags(value), tags.map(({ opaque }) => opaque));
  }));
});

Deno.test("parseEntityTags is linear: a quadratic one would never come back", () => {
  const value = Array(20_000).fill('"a"').join(" , ");
  assertEquals(parseEntityTags(value)?.length, 20_000);
  assertEquals(parseEntityTags(`${" ".repeat(5_000_000)}x`), null);
});
