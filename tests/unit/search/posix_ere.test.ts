import { assertThrows } from "@std/assert";
import { parseEre, PatternError } from "../../../supabase/functions/api/search/posix_ere.ts";

Deno.test("parseEre refuses what is not in the subset, with a reason", () => {
  const patterns = [
    ...["", "\\1", "\\d", "\\b", "[\\w]", "a\\"],
    ..."a| () (a a) [a [b-a] [[:x:]] a{1,2 a{2,1} *a a** a+? (?:a) ^* a{256}".split(" "),
  ];
  for (const pattern of patterns) assertThrows(() => parseEre(pattern), PatternError);
});
