/** Chunks cover the whole text, by lines, and measure it as the database does. */
import { assert, assertEquals } from "@std/assert";
import { splitChunks } from "../../../supabase/functions/api/search/chunks.ts";
import { SEARCH_CHUNK_LENGTH, SEARCH_CHUNK_OVERLAP } from "../../../supabase/functions/api/limits.ts";

const TEXTS: readonly string[] = [
  "one line",
  "a\nb\nc\n",
  "line of some words\n".repeat(500),
  "x".repeat(5000),
  "😀".repeat(3000),
  `${"short\n".repeat(100)}${"y".repeat(4000)}\n${"😀 tail\n".repeat(300)}`,
];

Deno.test("splitChunks covers every character, in order, with the line of its first", () => {
  for (const text of TEXTS) {
    const characters = [...text];
    let covered = 0;
    for (const { firstLine, start, length } of splitChunks(text)) {
      assert(start <= covered, "a gap");
      assert(covered - start <= SEARCH_CHUNK_OVERLAP);
      const chunk = characters.slice(start, start + length).join("");
      assert(chunk.length <= SEARCH_CHUNK_LENGTH);
      assertEquals(firstLine, characters.slice(0, start).filter((one) => one === "\n").length + 1);
      covered = start + length;
    }
    assertEquals(covered, characters.length);
  }
});

Deno.test("splitChunks makes none of nothing or white space", () => {
  for (const text of ["", "\n\n", "  \n\t"]) assertEquals(splitChunks(text), []);
});
