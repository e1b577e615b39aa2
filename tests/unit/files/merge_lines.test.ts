/** Merges of lines: the same as those of `git merge-file`, and bounded like all work. */
import { assertEquals } from "@std/assert";
import { mergeLines } from "../../../supabase/functions/api/files/merge_lines.ts";
import { Work } from "../../../supabase/functions/api/runtime/work.ts";
import { randomFrom, SEED } from "../../support/random.ts";

const lines = (text: string) => text.split("").map((line) => `${line}\n`).join("");

Deno.test("mergeLines: changes in different places are merged; those that meet are not, unless they are the same", async (t) => {
  const base = "abcdefgh";
  for (
    const [ours, theirs, merged] of [
      ["aBcdefgh", "abcdefGh", "aBcdefGh"],
      ["abcdefgh", "abcdefGh", "abcdefGh"],
      ["aBcdefgh", "aBcdefgh", "aBcdefgh"],
      ["aBcdefgh", "abCdefgh", null],
      ["aBcdefgh", "abcDefgh", "aBcDefgh"],
      ["aBcdefgh", "aXcdefgh", null],
      ["acdefgh", "abcdefg", "acdefg"],
      ["1abcdefgh", "2abcdefgh", null],
      ["abcdefgh1", "0abcdefgh", "0abcdefgh1"],
      ["", "abcdefgh", ""],
      ["", "abcdefgH", null],
    ] as const
  ) {
    await t.step(`${ours} and ${theirs}`, async () => {
      const found = await mergeLines(lines(base), lines(ours), lines(theirs), new Work());
      assertEquals(found, merged === null ? null : lines(merged));
    });
  }
});

Deno.test("mergeLines: a last line without a line feed, and a text that is added on both sides", async () => {
  assertEquals(await mergeLines("a\nb\nc", "A\nb\nc", "a\nb\nC", new Work()), "A\nb\nC");
  assertEquals(await mergeLines("a\nb", "a\nb\n", "a\nb", new Work()), "a\nb\n");
  assertEquals(await mergeLines("", "one\n", "two\n", new Work()), null);
  assertEquals(await mergeLines("", "", "two\n", new Work()), "two\n");
});

Deno.test("mergeLines: 150 random changes of both sides end as with git merge-file", async () => {
  const random = randomFrom(SEED).below;
  const directory = await Deno.makeTempDir();
  try {
    for (let round = 0; round < 150; round++) {
      const base = Array.from({ length: random(12) }, (_, index) => `line ${index}`);
      const [ours, theirs] = [changed(base, "ours"), changed(base, "theirs")];
      const [old, left, right] = [base, ours, theirs].map((list) => list.map((line) => `${line}\n`).join(""));
      const expected = await gitMerge(directory, old ?? "", left ?? "", right ?? "");
      const found = await mergeLines(old ?? "", left ?? "", right ?? "", new Work());
      assertEquals(found, expected, JSON.stringify({ base, ours, theirs }));
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }

  /** Some lines are removed, replaced or added. All lines differ, so a shortest change is unique. */
  function changed(base: readonly string[], side: string): string[] {
    const result: string[] = [];
    for (const [index, line] of [...base, ""].entries()) {
      const kind = random(10);
      if (kind === 0) result.push(`${side} adds ${index}`);
      if (kind === 1) result.push(`both add ${index}`);
      if (index === base.length || kind === 2) continue;
      result.push(kind === 3 ? `${side} replaces ${line}` : kind === 4 ? `both replace ${line}` : line);
    }
    return result;
  }
});

async function gitMerge(
  directory: string,
  base: string,
  ours: string,
  theirs: string,
): Promise<string | null> {
  const paths = [["ours", ours], ["base", base], ["theirs", theirs]].map(([name, text]) => {
    Deno.writeTextFileSync(`${directory}/${name}`, text ?? "");
    return `${directory}/${name}`;
  });
  const { code, stdout } = await new Deno.Command("git", { args: ["merge-file", "-p", "-q", ...paths] })
    .output();
  return code === 0 ? new TextDecoder().decode(stdout) : null;
}
