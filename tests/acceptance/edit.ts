/** An edit replaces a literal old string with a literal new one, exactly where it should. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { EDIT_LINES_REPORTED_MAX, EDIT_NEAREST_MAX, EDIT_STRING_LENGTH_MAX } from "./limits.ts";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Edits");
export default cases;

const missDetails = z.strictObject({
  nearest: z.array(z.strictObject({ line: z.int().min(1), text: z.string() })).max(EDIT_NEAREST_MAX),
  differsOnlyBy: z.enum(["whitespace", "lineEndings", "case", "escaping"]).nullable(),
  version: z.int(),
});

/** Content, old string, new string, result. */
const EDITS: readonly (readonly [string, string, string, string])[] = [
  ["hello world", "world", "there", "hello there"],
  ["abc", "a", "", "bc"],
  ["abc", "c", "cd", "abcd"],
  ["abc", "abc", "", ""],
  ["abc", "abc", "xyz", "xyz"],
  ["price", "price", "$& $1 $$ $` $' ${x} \\0 \\1", "$& $1 $$ $` $' ${x} \\0 \\1"],
  ["a.c abc", "a.c", "x", "x abc"],
  ["(a|b)*", "(a|b)*", "[^]", "[^]"],
  ["$&", "$&", "x", "x"],
  ["line\r\nline2\r\n", "line2\r\n", "two\r\n", "line\r\ntwo\r\n"],
  ["a\r\nb\nc", "\r\n", "\n", "a\nb\nc"],
  ['tab\tquote"back\\', '"back\\', "\u0000", "tab\tquote\u0000"],
  ["naïve ✓ 😀", "✓ 😀", "😀😀", "naïve 😀😀"],
  ["e\u0301é", "é", "e", "e\u0301e"],
  ["\ufeffbom", "\ufeff", "", "bom"],
  ["aXbXc", "bX", "b", "aXbc"],
  ["aab", "ab", "x", "ax"],
  ["aaab", "aab", "x", "ax"],
  ["{{old}}", "{{old}}", "{{new}}", "{{new}}"],
  ["x\n", "\n", "\n\n", "x\n\n"],
];

for (const [content, oldString, newString, result] of EDITS) {
  test(`200: ${JSON.stringify(oldString)} → ${JSON.stringify(newString)} in ${JSON.stringify(content)}`, async () => {
    const own = await files();
    const written = await own.write("f.txt", content);
    const { replacements, ...record } = await own.edit("f.txt", oldString, newString);
    assertEquals(replacements, 1);
    assertEquals([record.id, record.version, record.createdAt], [written.id, 2, written.createdAt]);
    assertEquals(record.size, new TextEncoder().encode(result).length);
    assertEquals((await own.read("f.txt")).content, result);
    assertEquals((await own.read("f.txt", { version: 1 })).content, content);
  });
}

/** Content, old string, new string, result, replacements. */
const REPLACE_ALL: readonly (readonly [string, string, string, string, number])[] = [
  ["a a a", "a", "b", "b b b", 3],
  ["aaaaa", "aa", "b", "bba", 2],
  ["aaaa", "aa", "", "", 2],
  ["aXa", "a", "aa", "aaXaa", 2],
  ["one", "one", "two", "two", 1],
  ["$&$&", "$&", "$1", "$1$1", 2],
  ["a\r\nb\r\n", "\r\n", "\n", "a\nb\n", 2],
  ["✓é✓", "✓", "😀", "😀é😀", 2],
];

for (const [content, oldString, newString, result, replacements] of REPLACE_ALL) {
  test(`200: replaceAll ${JSON.stringify([content, oldString, newString])} replaces ${replacements}`, async () => {
    const own = await files();
    await own.write("f.txt", content);
    assertEquals(
      (await own.edit("f.txt", oldString, newString, { replaceAll: true })).replacements,
      replacements,
    );
    assertEquals((await own.read("f.txt")).content, result);
  });
}

test("422 STRING_NOT_FOUND says what the old string differs by, and changes nothing", async () => {
  const own = await files();
  const cases: readonly (readonly [string, string, string | null])[] = [
    ["if (x) {\n  y();\n}\n", "if (x) {\n    y();\n}", "whitespace"],
    ["const a = 1;", "const  a = 1;", "whitespace"],
    ["one\r\ntwo\r\n", "one\ntwo", "lineEndings"],
    ["one\ntwo\n", "one\r\ntwo", "lineEndings"],
    ["Hello World", "hello world", "case"],
    ['say "hi"', 'say \\"hi\\"', "escaping"],
    ["nothing like it", "zzzzqqqq", null],
    ["", "x", null],
  ];
  for (const [content, oldString, differsOnlyBy] of cases) {
    await own.write("f.txt", content);
    const before = await snapshot();
    const refused = assertRefused(
      await own.tryEdit("f.txt", oldString, "new"),
      "STRING_NOT_FOUND",
      "write_file",
    );
    const details = missDetails.parse(refused);
    assertEquals(details.differsOnlyBy, differsOnlyBy, JSON.stringify([content, oldString]));
    assertEquals(details.version, (await own.record("f.txt")).version);
    if (differsOnlyBy !== null) assert(details.nearest.length > 0, "the near miss is shown");
    assertEquals(await snapshot(), before);
  }
});

test("422 STRING_NOT_FOUND shows the nearest lines by number and text, at most 3", async () => {
  const own = await files();
  const lines = Array.from(
    { length: 50 },
    (_, index) => `unrelated ${"abcdefgh"[index % 8]?.repeat(9)} ${index}`,
  );
  lines[20] = "function computeTotal(items) {";
  await own.write("f.txt", lines.join("\n"));
  const refused = await own.tryEdit("f.txt", "function computeTotals(items) {", "x");
  const { nearest } = missDetails.parse(assertRefused(refused, "STRING_NOT_FOUND"));
  assertEquals(nearest[0], { line: 21, text: "function computeTotal(items) {" });
});

test("422 STRING_NOT_UNIQUE counts from the left without overlap and names at most 100 lines", async () => {
  const own = await files();
  const cases: readonly (readonly [string, string, number, number[]])[] = [
    ["a\nb\na", "a", 2, [1, 3]],
    ["x x\nx", "x", 3, [1, 1, 2]],
    ["aaaaa", "aa", 2, [1, 1]],
    ["p\nq\np\nq\n", "p\nq", 2, [1, 3]],
    ["\r\n\r\n", "\r\n", 2, [1, 2]],
    ["v\n".repeat(150), "v", 150, Array.from({ length: EDIT_LINES_REPORTED_MAX }, (_, index) => index + 1)],
  ];
  for (const [content, oldString, occurrences, lines] of cases) {
    const { version } = await own.write("f.txt", content);
    const refused = await own.tryEdit("f.txt", oldString, "new");
    const details = assertRefused(refused, "STRING_NOT_UNIQUE", "write_file");
    assertEquals(details["occurrences"], occurrences, JSON.stringify(content.slice(0, 20)));
    // A line may be listed for each occurrence, or once.
    assertEquals([...new Set(z.array(z.int()).parse(details["lines"]))], [...new Set(lines)]);
    assertEquals(details["version"], version);
    assertEquals(Object.keys(details).sort(), ["lines", "occurrences", "version"]);
    assertEquals((await own.record("f.txt")).version, version);
  }
  for (const replaceAll of [false, null, undefined]) {
    assertRefused(await own.tryEdit("f.txt", "v", "new", { replaceAll }), "STRING_NOT_UNIQUE");
  }
});

test("422 NOT_TEXT: bytes that are not UTF-8, and types that are never text, cannot be edited", async () => {
  const own = await files();
  await own.writeBytes("bytes", Uint8Array.of(0x61, 0xff));
  await own.write("image.png", "a");
  await own.write("book.pdf", "a");
  const before = await snapshot();
  for (const path of ["bytes", "image.png", "book.pdf"]) {
    const details = assertRefused(await own.tryEdit(path, "a", "b"), "NOT_TEXT", "write_file");
    assertEquals(details["version"], 1);
  }
  assertEquals(await snapshot(), before);
  await own.write("image.svg", "<a/>");
  assertEquals((await own.edit("image.svg", "<a/>", "<b/>")).version, 2);
});

test("200: strings of exactly 100000; 400 VALIDATION_ERROR for one more, for an empty old string and for equal ones", async () => {
  const own = await files();
  const max = EDIT_STRING_LENGTH_MAX;
  assertEquals(max, 100_000);
  const oldString = "é".repeat(max - 2) + "😀";
  await own.write("f.txt", `<${oldString}>`);
  const newString = "ß".repeat(max);
  await own.edit("f.txt", oldString, newString);
  assertEquals((await own.read("f.txt")).content === `<${newString}>`, true);
  const refused: readonly (readonly [string, string, string])[] = [
    ["a".repeat(max + 1), "b", "oldString"],
    ["<", "b".repeat(max + 1), "newString"],
    ["", "b", "oldString"],
    ["same", "same", "newString"],
    ["\ud800", "b", "oldString"],
    ["<", "\udc00", "newString"],
  ];
  for (const [old, replacement, field] of refused) {
    const details = assertRefused(
      await own.tryEdit("f.txt", old, replacement),
      "VALIDATION_ERROR",
      "write_file",
    );
    assertEquals(issuePaths(details), [field]);
  }
  assertEquals((await own.record("f.txt")).version, 2);
});

test("200: a match across segments, however small they are", async () => {
  const own = await files();
  await own.write("f.txt", "[");
  for (const character of ["a", "é", "b", "😀", "c"]) await own.append("f.txt", character);
  await own.append("f.txt", "] aé");
  assertEquals((await own.edit("f.txt", "aéb😀c", "X")).replacements, 1);
  assertEquals((await own.read("f.txt")).content, "[X] aé");
  for (const piece of ["é", "a", "éa", "é"]) await own.append("f.txt", piece);
  assertEquals((await own.edit("f.txt", "aé", "é", { replaceAll: true })).replacements, 3);
  assertEquals((await own.read("f.txt")).content, "[X] éééé");
});

/** A text of `bytes` bytes of the character `filler`, with a marker at `at`. */
function textWith(marker: string, at: number, bytes: number, filler: string): string {
  const unit = new TextEncoder().encode(filler).length;
  const size = new TextEncoder().encode(marker).length;
  return filler.repeat(Math.floor(at / unit)) + marker +
    filler.repeat(Math.floor((bytes - at - size) / unit));
}

const MIB = 1024 * 1024;

const LARGE: readonly (readonly [string, string])[] = [
  ["across the first border", textWith("<marker é😀>", MIB - 6, 2.5 * MIB, "x")],
  ["right before a border", textWith("<marker>", MIB - 8, 3 * MIB, "x")],
  ["right behind a border", textWith("<marker>", MIB, 3 * MIB, "x")],
  ["in 4-byte characters", textWith("<marker>", 2 * MIB - 3, 4 * MIB, "😀")],
  ["at the very beginning", textWith("<marker>", 0, 2 * MIB, "line\r\n")],
  ["at the very end", textWith("<marker>", 5 * MIB - 8, 5 * MIB, "line\n")],
  ["after a false start", textWith("<marker<marker>", MIB - 4, 2 * MIB, "<")],
];

for (const [name, content] of LARGE) {
  test(`200: an edit of a file of ${Math.round(content.length / MIB)} M characters, ${name}`, async () => {
    const own = await files();
    await own.write("large.txt", content);
    const oldString = content.includes("é😀>") ? "<marker é😀>" : "<marker>";
    assertEquals((await own.edit("large.txt", oldString, "new ✓")).replacements, 1);
    const read = (await own.read("large.txt")).content;
    assert(read === content.replace(oldString, () => "new ✓"), "the edited content differs");
    assert((await own.read("large.txt", { version: 1 })).content === content, "the first version changed");
  });
}

test("200: replaceAll in a file of 3 MB with CRLF, growing and shrinking", async () => {
  const own = await files();
  const content = "key = value\r\n".repeat(250_000);
  await own.write("large.ini", content);
  assertEquals((await own.edit("large.ini", "\r\n", "\n", { replaceAll: true })).replacements, 250_000);
  const unix = content.replaceAll("\r\n", "\n");
  assert((await own.read("large.ini")).content === unix);
  assertEquals(
    (await own.edit("large.ini", "value", "longer value", { replaceAll: true })).replacements,
    250_000,
  );
  assert((await own.read("large.ini")).content === unix.replaceAll("value", "longer value"));
  const refused = assertRefused(await own.tryEdit("large.ini", "key", "x"), "STRING_NOT_UNIQUE");
  assertEquals(refused["occurrences"], 250_000);
});
