import { assertEquals } from "@std/assert";
import { parseEre } from "../../../supabase/functions/api/search/posix_ere.ts";
import { requiredLiterals, withoutCase } from "../../../supabase/functions/api/search/required_literals.ts";

Deno.test("requiredLiterals are in every line that matches, the longest first", () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ["needle", [["needle"]]],
    ["ab.*needle", [["needle"], ["ab"]]],
    ["(foo|barn)s", [["foo", "barn"]]],
    ["(foo|.*)", []],
    ["a?", []],
    ["x(needle)?yy", [["yy"]]],
    ["(needle){2}", [["needle"]]],
    ["[a]b", [["ab"]]],
    ["[ab]c", []],
  ];
  for (const [pattern, expected] of rows) {
    assertEquals(requiredLiterals(parseEre(pattern)), expected, pattern);
  }
  assertEquals(withoutCase([["straße"], ["é"]]), [["stra"]]);
});
