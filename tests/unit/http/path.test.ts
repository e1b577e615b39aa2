import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  checkPath,
  decodePath,
  directoryOf,
  normalizeDirectory,
} from "../../../supabase/functions/api/http/path.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";

/** Returns the rule that the call breaks, or null if the path is valid. */
function ruleOf(call: () => string): unknown {
  try {
    call();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assertEquals([error.code, error.status], ["INVALID_PATH", 400]);
    return error.details?.["rule"];
  }
}

const REFUSED: readonly (readonly [string, string])[] = [
  ["é".repeat(513), "too_long"],
  ["\udc00\ud800", "not_well_formed"],
  ["/a", "leading_slash"],
  ["..", "dot_segment"],
  ["a/./b", "dot_segment"],
  ["a/..", "dot_segment"],
  ["../a", "dot_segment"],
  ["a\u0000", "control_character"],
  ["a\nb", "control_character"],
  ["a\u007f", "control_character"],
  ["a\u0080b", "control_character"],
  ["a\u009f", "control_character"],
  ...[..."\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"].map((control) =>
    [`a/${control}gpj.exe`, "bidirectional_control"] as const
  ),
  [`${"a/".repeat(510)}b`, "too_many_segments"],
];

for (const [path, rule] of REFUSED) {
  Deno.test(`checkPath refuses ${JSON.stringify(path.slice(0, 12))} (${path.length}) as ${rule}`, () => {
    assertEquals(ruleOf(() => checkPath(path)), rule);
  });
}

Deno.test("checkPath returns valid paths unchanged", () => {
  const valid = [
    "a/b",
    "a/.b",
    " ",
    "ä/日本/😀",
    "e\u0301",
    "\u00a0",
    "a%2Fb",
    "\ufeff",
    "\u200d",
    "אב/مرحبا",
  ];
  for (const path of ["a", ...valid, "a".repeat(1024), "é".repeat(512), `${"a/".repeat(31)}b`]) {
    assertEquals(checkPath(path), path);
  }
});

Deno.test("checkPath returns its argument or throws INVALID_PATH for any text", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom("a", ".", "/", "\\", "\u0001", "\ud800", "é")).map((parts) => parts.join("")),
  );
  fc.assert(fc.property(text, (path) => {
    if (ruleOf(() => checkPath(path)) !== null) return;
    assertEquals(checkPath(path), path);
    assertEquals(path.split("/").some((segment) => ["", ".", ".."].includes(segment)), false);
  }));
});

Deno.test("decodePath refuses broken escapes and escapes that are not UTF-8", () => {
  for (const raw of ["%", "a%2", "%zz", "%ff", "%c0%af", "%ed%a0%80", "%e6%97", "%f4%90%80%80"]) {
    assertEquals(ruleOf(() => decodePath(raw)), "broken_escape", raw);
  }
});

Deno.test("decodePath undoes encodeURIComponent for every valid path", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (path) => {
    if (ruleOf(() => checkPath(path)) === null) assertEquals(decodePath(encodeURIComponent(path)), path);
  }));
});

Deno.test("normalizeDirectory tolerates outer slashes, and / is the root", () => {
  for (const root of ["", "/", "//"]) assertEquals(normalizeDirectory(root), "");
  for (const same of ["a/b", "/a/b", "a/b/", "/a/b/"]) assertEquals(normalizeDirectory(same), "a/b");
});

Deno.test("normalizeDirectory refuses what no path could begin with", () => {
  assertEquals(ruleOf(() => normalizeDirectory("/a//b/")), "empty_segment");
  assertEquals(ruleOf(() => normalizeDirectory("..")), "dot_segment");
  assertThrows(() => normalizeDirectory("a\\b"), ApiError);
});

Deno.test("directoryOf names the folder that holds the file", () => {
  assertEquals([directoryOf("a"), directoryOf("a/b"), directoryOf("a/b/c.md")], ["", "a", "a/b"]);
});
