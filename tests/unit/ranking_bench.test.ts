/** The bench of rankings: its figures and its statistical test are correct, and no question occurs in the texts. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { ndcgAt10, probabilityOfWorse, recallAt10 } from "../bench/ranking/figures.ts";
import { labelledSet, withoutHeadings } from "../bench/ranking/questions.ts";

Deno.test("nDCG and recall of the first ten: by places, and relative to the best order", () => {
  const paths = "abcdefghijkl".split("");
  assertEquals([ndcgAt10(paths, ["a"]), recallAt10(paths, ["a"])], [1, 1]);
  assertAlmostEquals(ndcgAt10(paths, ["c"]), 0.5);
  assertEquals([ndcgAt10(paths, ["k"]), recallAt10(paths, ["k"])], [0, 0]);
  assertEquals([ndcgAt10(paths, ["a", "b"]), recallAt10(paths, ["a", "k"])], [1, 0.5]);
  assertEquals(ndcgAt10([], ["a"]), 0);
});

Deno.test("values that are lower throughout are significantly worse, those that differ by chance are not", () => {
  const baseline = Array.from({ length: 100 }, (_, n) => n % 10 / 10);
  assertEquals(probabilityOfWorse(baseline, baseline), 1);
  assert(probabilityOfWorse(baseline.map((value) => value - 0.05), baseline) < 0.001);
  assert(probabilityOfWorse(baseline.map((value) => value + 0.05), baseline) > 0.999);
  const alternating = baseline.map((value, n) => value + (n % 2 === 0 ? 0.05 : -0.05));
  const chance = probabilityOfWorse(alternating, baseline);
  assert(chance > 0.4 && chance < 0.7, `${chance}`);
});

Deno.test("headings of any kind leave the text and become questions; code and other lines stay", () => {
  const { body, headings } = withoutHeadings([
    ...[
      "---",
      "title: How to be found",
      "kind: page",
      "---",
      "# `First` heading #",
      "text # with a sign",
      "",
    ],
    ...["Under lined", "===", "- [First heading](#first-heading)", "- [Elsewhere](other.md)", "```sh"],
    ...["# no heading", "```", "###no heading either", "## [Linked](x.md): and **bold**"],
  ].join("\n"));
  assertEquals(headings, ["How to be found", "First heading", "Under lined", "Linked and bold"]);
  const left = ["---", "kind: page", "---", "text # with a sign", "", "- [Elsewhere](other.md)"];
  assertEquals(body, [...left, "```sh", "# no heading", "```", "###no heading either"].join("\n"));
});

Deno.test("a question has few answers and at least three words, and each document answers one", () => {
  const heading = (path: string, ...lines: string[]) => ({
    path,
    text: `${lines.join("\n\n")}\n\ntext of ${path}\n`,
  });
  const { documents, questions } = labelledSet([
    heading("a", "# What it is for", "## In all three documents", "## Usage"),
    heading("b", "# What it is for", "## In all three documents"),
    heading("c", "# Getting started with it", "## In all three documents", "## One two three"),
    heading("d", "## One more question here", "## And another question here"),
  ]);
  assertEquals(documents.map(({ path }) => path), ["a", "b", "c", "d"]);
  assert(documents.every(({ text }) => !text.includes("#")));
  const asked = questions.map(({ q, answers }) => [q, answers.toSorted().join()]);
  assertEquals(asked.length, 3);
  assertEquals(new Map(asked.map(([q, answers]) => [q, answers])).get("What it is for"), "a,b");
  assertEquals(asked.filter(([, answers]) => answers === "c").map(([q]) => q), ["One two three"]);
  assertEquals(asked.filter(([, answers]) => answers === "d").length, 1);
});
