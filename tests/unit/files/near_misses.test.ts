import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import fc from "fast-check";
import type { Piece } from "../../../supabase/functions/api/files/rewrite.ts";
import { nearMisses } from "../../../supabase/functions/api/files/near_misses.ts";
import {
  EDIT_NEAREST_SCAN_BYTES_MAX,
  EDIT_NEAREST_TEXT_LENGTH_MAX,
} from "../../../supabase/functions/api/limits.ts";
import { assertNoHang } from "../../support/stack/processes.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const load = (piece: Piece) => Promise.resolve(piece.kind === "new" ? piece.bytes : new Uint8Array());
const misses = (texts: readonly string[], old: string) =>
  nearMisses(texts.map((text) => ({ kind: "new", bytes: bytesOf(text) })), load, old);

const CODE = `function add(a, b) {
  return a + b;
}

function subtract(a, b) {
  return a - b;
}
`;

/** What is promised, the text, the old string, and the numbers of the nearest lines. */
const NEAREST: readonly (readonly [string, string, string, number[]])[] = [
  ["the most similar lines", CODE, "\n\n  function substract(a, b) {\n  return a - b;", [5, 1]],
  [
    "the earlier of equally similar lines, at most three",
    "x = 1\ny\nx = 1\nx = 1\nx = 1\n",
    "x  =  1 // one",
    [1, 3, 4],
  ],
  ["better lines that come later", "f(123)\nf(1234)\nf(12345)\nf(123456)\n", "f(123456) ;", [4, 3, 2]],
  ["a line of the right length before a longer one", "abcabcabcabcabcabc\nabcabcabc\n", "ABCABCABC", [2, 1]],
  [
    "what is similar in one stretch of a line, not all over it",
    `${"con 1234567890 ans 1234567890 = 42 1234567890 ".repeat(20)}\nconst answer = 40;\n`,
    "const answer = 42;",
    [2],
  ],
];
for (const [what, text, old, lines] of NEAREST) {
  Deno.test(`nearMisses names first ${what}`, async () => {
    const { nearest } = await misses([text], old);
    assertEquals(nearest.map(({ line }) => line), lines);
    for (const { line, text: shown } of nearest) assert(text.split("\n")[line - 1]?.includes(shown));
  });
}

Deno.test("nearMisses names no line where none is similar, and none for a blank string", async () => {
  assertEquals((await misses([CODE], "zzzzzzz")).nearest, []);
  assertEquals(await misses([CODE], "   \n \n"), { nearest: [], differsOnlyBy: null });
  assertEquals(await misses([""], "a"), { nearest: [], differsOnlyBy: null });
});

const DIFFERING: readonly (readonly [string, string, string | null])[] = [
  ["  if (x) {\n    y();", "if (x) {\n\ty();", "whitespace"],
  ["a\u00a0b", "a b", "whitespace"],
  ["ÉCOLE", "école", "case"],
  ["a\nb", "a\\nb", "escaping"],
  ["a\\nb", "a\nb", "escaping"],
  ["C:\\dir", "C:\\\\dir", "escaping"],
  ["if (a < b && c)", "if (a &lt; b &amp;&amp; c)", "escaping"],
  ["Hello\nWorld", "hello world", null],
];
for (const [text, old, kind] of DIFFERING) {
  Deno.test(`nearMisses: ${JSON.stringify(old)} differs from ${JSON.stringify(text)} by ${kind}`, async () => {
    assertEquals((await misses([`before\n${text}\nafter`], old)).differsOnlyBy, kind);
  });
}

Deno.test("nearMisses finds a difference across the borders of pieces", async () => {
  const { nearest, differsOnlyBy } = await misses(["x\nHel", "lo W", "orld\ny"], "hello world");
  assertEquals(nearest, [{ line: 2, text: "Hello World" }]);
  assertEquals(differsOnlyBy, "case");
});

Deno.test("nearMisses shows a long line around what is similar in it", async () => {
  const filler = "日".repeat(5000);
  const { nearest } = await misses([`a\n${filler}const answer = 42;${filler}\n`], "const answer = 43;");
  assertEquals(nearest.length, 1);
  assertEquals(nearest[0]?.line, 2);
  assert(nearest[0]?.text.includes("const answer = 42;"));
  assertEquals(nearest[0]?.text.length, EDIT_NEAREST_TEXT_LENGTH_MAX);
});

Deno.test("nearMisses shows well-formed text within the limit, for any text", async () => {
  const part = fc.oneof(
    fc.constantFrom("abc", "\n", "😀", "日", "é".repeat(300), "abcd".repeat(200), "😀".repeat(300)),
  );
  await fc.assert(fc.asyncProperty(fc.array(part), async (parts) => {
    const whole = parts.join("");
    const { nearest } = await misses([whole], "abc 😀 d");
    for (const { line, text } of nearest) {
      assert(text.isWellFormed() && !text.includes("\ufffd") && text.length <= EDIT_NEAREST_TEXT_LENGTH_MAX);
      assert(whole.split("\n")[line - 1]?.includes(text));
    }
  }));
});

Deno.test("nearMisses splits no character where it stops looking", async () => {
  for (let spare = 0; spare < 8; spare++) {
    const filler = "\n".repeat(EDIT_NEAREST_SCAN_BYTES_MAX - spare - 8);
    const { nearest } = await misses([`${filler}`, "sum = a", "日日日日日日"], "sum = a + b");
    assertEquals(nearest[0]?.text.replaceAll("日", ""), "sum = a", String(spare));
  }
});

Deno.test("nearMisses loads no more pieces than it looks at", async () => {
  let loads = 0;
  const bytes = new Uint8Array(EDIT_NEAREST_SCAN_BYTES_MAX / 2).fill(0x61);
  const pieces: Piece[] = Array.from({ length: 10 }, () => ({ kind: "new", bytes }));
  await nearMisses(pieces, (piece) => (loads++, load(piece)), "b");
  assertLessOrEqual(loads, 3);
});

Deno.test("nearMisses stays quick on hostile text", async () => {
  const size = EDIT_NEAREST_SCAN_BYTES_MAX;
  const texts = ["x\n", "\n", "a", "a\\", "&", "&amp", "日İ", " ", "ab\r"];
  for (const unit of texts) {
    const text = unit.repeat(size / bytesOf(unit).length);
    for (const old of ["xyz", "a\\".repeat(50_000) + "!", unit.repeat(20_000) + "!"]) {
      await assertNoHang(() => misses([text], old), JSON.stringify([unit, old.slice(0, 5)]));
    }
  }
});
