/** Unified diffs: they apply exactly, are as short as possible and deterministic, and their work is counted. */
import { assert, assertEquals } from "@std/assert";
import { applyPatch, createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import fc from "fast-check";
import { diffTexts } from "../../../supabase/functions/api/files/diff.ts";
import { DIFF_BYTES_MAX, WORK_SLICE_UNITS } from "../../../supabase/functions/api/limits.ts";
import { applyUnifiedDiff } from "../../support/content/unified_diff.ts";
import { Work } from "../../../supabase/functions/api/runtime/work.ts";

/** A small alphabet, so that lines repeat. */
const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "a\r\n", "d", "é"), { maxLength: 30 })
  .map((lines) => lines.join(""));

const linesOf = (text: string) => text === "" ? [] : text.split(/(?<=\n)/);

/** The length of the longest common subsequence of lines, by the textbook's table. */
function commonLines(before: readonly string[], after: readonly string[]): number {
  let row = new Array<number>(after.length + 1).fill(0);
  for (const line of before) {
    const next = [0];
    for (const [index, other] of after.entries()) {
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

Deno.test("diffTexts makes a diff that applies to the letter, the shortest there is, for any two texts", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const { diff, additions, deletions } = await diffTexts("f.txt", before, after);
      assertEquals(applyPatch(before, diff), after);
      const common = commonLines(linesOf(before), linesOf(after));
      if (before === after) return assertEquals([diff, additions, deletions], ["", 0, 0]);
      assertEquals([deletions, additions], [linesOf(before).length - common, linesOf(after).length - common]);
      const lines = diff.split("\n").slice(2);
      assertEquals(lines.filter((line) => line.startsWith("-")).length, deletions);
      assertEquals(lines.filter((line) => line.startsWith("+")).length, additions);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("diffTexts writes what another implementation writes, where there is one shortest diff", async () => {
  const before = Array.from({ length: 200 }, (_, index) => `line ${index}\n`);
  for (
    const [path, places] of [["f.txt", [3]], ['ä "b".txt', [0, 7, 14, 100]], ["a\tb", [50, 58, 199]]] as const
  ) {
    const after = before.map((line, index) => places.some((place) => place === index) ? `new ${line}` : line);
    const old = before.join("");
    for (const now of [after.join(""), after.slice(5).join("") + "end"]) {
      const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
      const expected = createTwoFilesPatch(path, path, old, now, undefined, undefined, options);
      assertEquals((await diffTexts(path, old, now)).diff, expected);
    }
  }
});

const shuffled = (lines: string[]) =>
  lines.map((line, index) => ({ line, key: Math.imul(index + 1, 0x9e3779b1) >>> 0 }))
    .sort((a, b) => a.key - b.key).map(({ line }) => line);
const LINES = Array.from({ length: 150_000 }, (_, index) => index.toString(36));
const HARD: readonly (readonly [string, string, string])[] = [
  [
    "of 500,000 short lines, none in common",
    "a\n".repeat(DIFF_BYTES_MAX / 2),
    "b\n".repeat(DIFF_BYTES_MAX / 2),
  ],
  ["of the same lines in another order", LINES.join("\n"), shuffled(LINES).join("\n")],
  ["of two lines in two orders", "a\nb\nb\n".repeat(170_000), "b\na\na\n".repeat(170_000)],
  ["of line feeds and others", "\n".repeat(DIFF_BYTES_MAX), "x\n".repeat(DIFF_BYTES_MAX / 2)],
];

/** At most DIFF_SEARCH_UNITS_MAX for the search, and a bounded number of units per line. */
const UNITS_MAX = 300_000_000;

for (const [name, before, after] of HARD) {
  Deno.test(`diffTexts: 1 MB texts ${name}: bounded work in slices, and true`, async () => {
    const work = new Work();
    const pauses: number[] = [];
    const pause = work.pause.bind(work);
    work.pause = () => (pauses.push(work.units), pause());
    const { diff } = await diffTexts("f.txt", before, after, work);
    assert(work.units < UNITS_MAX, `${work.units} units`);
    for (const [index, units] of [...pauses, work.units].entries()) {
      assert(units - (pauses[index - 1] ?? 0) < 2 * WORK_SLICE_UNITS, "a slice is no longer than it may be");
    }
    assert(applyUnifiedDiff(before, diff) === after, "the diff does not make the other text");
    assertEquals((await diffTexts("f.txt", before, after)).diff === diff, true, "the same again");
  });
}
