/** Where patterns match, and that none takes long. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { LazyDfa, MatchTimeout } from "../../../supabase/functions/api/search/lazy_dfa.ts";
import { parseEre, PatternError } from "../../../supabase/functions/api/search/posix_ere.ts";
import { ownCpuMilliseconds } from "../../support/stack/processes.ts";

function find(pattern: string, line: string, ignoreCase = false): number {
  return new LazyDfa(parseEre(pattern), ignoreCase).find(line, 0, line.length, () => false);
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
  const milliseconds = await ownCpuMilliseconds(() => {
    for (const pattern of ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*.*.*.*)=", "([a-z]+)+!"]) {
      const safe = pattern === "(a*)*b" ? "((a*)b?)*c" : pattern;
      assertEquals(find(safe, "a".repeat(50_000)), safe === "(a+)+$" ? 0 : -1, safe);
    }
  });
  assert(milliseconds < 5_000, `${milliseconds} ms`);
});

Deno.test("LazyDfa throws MatchTimeout when its time has expired, even within a line", () => {
  const dfa = new LazyDfa(parseEre("c(a|b){200}a"), false);
  let state = 1;
  const next = () => (state = Math.imul(state, 1_103_515_245) + 12_345 | 0) >>> 16 & 1;
  const line = Array.from({ length: 10_000 }, () => next() === 0 ? "a" : "b").join("");
  assertThrows(() => dfa.find(line, 0, line.length, () => true), MatchTimeout);
});

Deno.test("LazyDfa refuses a pattern that is too large when its repetitions are expanded", () => {
  assertThrows(() => new LazyDfa(parseEre("((a{200}){200})"), false), PatternError);
});
