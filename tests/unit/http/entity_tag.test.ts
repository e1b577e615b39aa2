import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { entityTag, parseEntityTags, versionOfTag } from "../../../supabase/functions/api/http/conditions.ts";

Deno.test("entityTag is strong and names file, version and representation", () => {
  const file = { id: "0b4e", version: 7 };
  assertEquals(entityTag(file, "j"), '"0b4e.7.j"');
  assertEquals(entityTag(file, "r"), '"0b4e.7.r"');
  assertEquals(entityTag(file, "m"), '"0b4e.7.m"');
});

/** Header value → members, and whether each is weak; the comparison ignores weakness. */
const LISTS: readonly (readonly [string, readonly (readonly [string, boolean])[]])[] = [
  ['"a"', [["a", false]]],
  ['W/"a"', [["a", true]]],
  ['""', [["", false]]],
  ['"a", "b"', [["a", false], ["b", false]]],
  ['"a",W/"b"', [["a", false], ["b", true]]],
  [' \t"a"\t , \t"b" ', [["a", false], ["b", false]]],
  ['"a",', [["a", false]]],
  [', ,"a",,"b",', [["a", false], ["b", false]]],
  ['"a,b"', [["a,b", false]]],
  ['"*"', [["*", false]]],
  ['"!#~\u0080\u00ff"', [["!#~\u0080\u00ff", false]]],
  ['"W/"', [["W/", false]]],
];

for (const [value, members] of LISTS) {
  Deno.test(`parseEntityTags reads ${JSON.stringify(value)}`, () => {
    assertEquals(parseEntityTags(value), members.map(([opaque]) => opaque));
  });
}

Deno.test("parseEntityTags reads a star alone, with space around it", () => {
  for (const value of ["*", " *", "*\t"]) assertEquals(parseEntityTags(value), "*");
});

for (
  const value of [
    ...[
      "",
      " ",
      ",",
      ", ,",
      "a",
      '"a',
      'a"',
      '"a" "b"',
      '"a""b"',
      '"a";"b"',
      '*, "a"',
      '"a", *',
      "W/a",
      'w/"a"',
    ],
    ...['W/ "a"', "W/", '"a b"', '"a\u007f"', '"a\n"', '"\u0100"', "'a'"],
  ]
) {
  Deno.test(`parseEntityTags refuses ${JSON.stringify(value)}`, () => {
    assertEquals(parseEntityTags(value), null);
  });
}

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

Deno.test("versionOfTag drops the representation of our tags, and leaves others", () => {
  const opaques = [
    ["id.7.j", "id.7"],
    ["id.7.r", "id.7"],
    ["id.7.m", "id.7"],
    ["id.7.x", "id.7.x"],
    ["", ""],
    ["j", "j"],
  ];
  for (const [opaque = "", version] of opaques) {
    assertEquals(versionOfTag(opaque), version);
  }
});
