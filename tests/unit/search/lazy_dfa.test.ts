/** Patterns match where they should, and no pattern takes long. */
import { assertEquals, assertGreater, assertLess, assertThrows } from "@std/assert";
import { WORK_SLICE_UNITS } from "../../../supabase/functions/api/limits.ts";
import { Work } from "../../../supabase/functions/api/runtime/work.ts";
import { LazyDfa } from "../../../supabase/functions/api/search/lazy_dfa.ts";
import { parseEre, PatternError } from "../../../supabase/functions/api/search/posix_ere.ts";
import { assertNoHang } from "../../support/stack/processes.ts";

function find(pattern: string, line: string, ignoreCase = false): number {
  const dfa = new LazyDfa(parseEre(pattern), ignoreCase);
  const work = new Work();
  let at = dfa.find(line, 0, line.length, work);
  while (typeof at !== "number") {
    work.beginSlice();
    at = dfa.find(line, 0, line.length, work, at);
  }
  return at;
}

Deno.test("LazyDfa finds where the first match begins", () => {
  const rows: readonly (readonly [string, string, number])[] = [
    ["b", "abcb", 1],
    ["a*", "bbb", 0],
    ["a+", "bba", 2],
    ["^b", "ab", -1],
    ["^b", "ba", 0],
    ["b$", "bab", 2],
    ["^$", "", 0],
    ["^$", "a", -1],
    ["(ab|b)c", "xabc", 1],
    ["a{2,3}b", "aaaab", 1],
    ["a{,1}b", "aab", 1],
    ["[^a]", "aab", 2],
    ["x|^", "abc", 0],
    ["(^|,)b", "a,b", 1],
    ["😀.", "a😀😀", 1],
    ["[😀-😂]", "x😁", 1],
    ["a^b", "a^b", -1],
  ];
  for (const [pattern, line, expected] of rows) {
    assertEquals(find(pattern, line), expected, `${pattern} in ${line}`);
  }
});

Deno.test("LazyDfa takes time linear in the text, for patterns on which backtracking hangs", async () => {
  await assertNoHang(() => {
    for (const pattern of ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*.*.*.*)=", "([a-z]+)+!"]) {
      const safe = pattern === "(a*)*b" ? "((a*)b?)*c" : pattern;
      assertEquals(find(safe, "a".repeat(50_000)), safe === "(a+)+$" ? 0 : -1, safe);
    }
  }, "patterns of backtracking");
});

Deno.test("LazyDfa counts what it builds, stops within a line when its slice is over, and goes on from there", () => {
  const pattern = "c(a|b){200}a";
  let state = 1;
  const next = () => (state = Math.imul(state, 1_103_515_245) + 12_345 | 0) >>> 16 & 1;
  const line = Array.from({ length: 10_000 }, () => next() === 0 ? "a" : "b").join("");
  const text = `${line}c${line}`;
  const dfa = new LazyDfa(parseEre(pattern), false);
  const work = new Work();
  let pauses = 0;
  let before = 0;
  let at = dfa.find(text, 0, text.length, work);
  while (typeof at !== "number") {
    pauses++;
    const slice = work.units - before;
    assertGreater(slice, WORK_SLICE_UNITS - 1);
    assertLess(slice, 1.1 * WORK_SLICE_UNITS);
    before = work.units;
    work.beginSlice();
    at = dfa.find(text, 0, text.length, work, at);
  }
  assertGreater(pauses, 3);
  assertEquals(at, find(pattern, text));
});

Deno.test("LazyDfa refuses a pattern that is too large when its repetitions are expanded", () => {
  assertThrows(() => new LazyDfa(parseEre("((a{200}){200})"), false), PatternError);
});
