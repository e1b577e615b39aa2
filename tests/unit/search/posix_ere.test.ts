import { assertThrows } from "@std/assert";
import { parseEre, PatternError } from "../../../supabase/functions/api/search/posix_ere.ts";

Deno.test("parseEre refuses what is not in the subset, with a reason", () => {
  for (
    const pattern of [
      "",
      ..."a| () (a a) [a [b-a] [[:x:]] a{1,2 a{2,1} *a a** a+?".split(" "),
      "\\1",
      "\\d",
      "\\b",
      "(?:a)",
      "[\\w]",
      "a\\",
      "^*",
      "a{256}",
    ]
  ) assertThrows(() => parseEre(pattern), PatternError);
});
