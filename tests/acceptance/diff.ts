/** GET /diff: the changes between two versions as a unified diff that applies exactly. */
import { assert, assertEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { randomNumbers } from "../support/random.ts";
import { applyUnifiedDiff } from "../support/content/unified_diff.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Diff");
export default cases;

export const MIB = 1024 * 1024;

/** Text before, text after, and the hunks of the diff of the file `f.txt`. */
const DIFFS: readonly (readonly [string, string, string])[] = [
  ["a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"],
  ["", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"],
  ["a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"],
  ["a", "b", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"],
  ["a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"],
  ["a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n"],
  ["", "a", "@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n"],
  ["a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"],
  ["a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n"],
  ["\ufeffa\n", "a\n", "@@ -1,1 +1,1 @@\n-\ufeffa\n+a\n"],
  ["-- a\n++ b\n", "++ b\n", "@@ -1,2 +1,1 @@\n--- a\n ++ b\n"],
  ["1\n2\n3\n4\n5\n", "0\n1\n2\n3\n4\n5\n", "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n"],
  ["same\n", "same\n", ""],
];

for (const [before, after, hunks] of DIFFS) {
  test(`diff: ${JSON.stringify(before)} → ${JSON.stringify(after)}`, async () => {
    const own = await files();
    await own.write("f.txt", before);
    await own.write("f.txt", after);
    const { from, to, diff, additions, deletions } = await own.diff("f.txt");
    assertEquals([from, to], [1, 2]);
    assertEquals(diff, hunks === "" ? "" : `--- f.txt\n+++ f.txt\n${hunks}`);
    const body = hunks.split("\n");
    assertEquals(additions, body.filter((line) => line.startsWith("+")).length);
    assertEquals(deletions, body.filter((line) => line.startsWith("-")).length);
    assertEquals(applyUnifiedDiff(before, diff), after);
    const back = await own.diff("f.txt", { from: 2, to: 1 });
    assertEquals([back.from, back.to, back.additions, back.deletions], [2, 1, deletions, additions]);
    assertEquals(applyUnifiedDiff(after, back.diff), before);
  });
}

test("diff: by default the last two versions; from and to choose others; before the first there is nothing", async () => {
  const own = await files();
  for (const content of ["1\n", "2\n", "3\n", "4\n"]) await own.write("f.txt", content);
  const cases: [Record<string, number>, number, number, string][] = [
    [{}, 3, 4, "-3\n+4\n"],
    [{ to: 2 }, 1, 2, "-1\n+2\n"],
    [{ from: 2 }, 2, 4, "-2\n+4\n"],
    [{ from: 1, to: 3 }, 1, 3, "-1\n+3\n"],
    [{ from: 0, to: 3 }, 0, 3, "+3\n"],
    [{ from: 4, to: 1 }, 4, 1, "-4\n+1\n"],
    [{ to: 1 }, 0, 1, "+1\n"],
  ];
  for (const [query, from, to, lines] of cases) {
    const found = await own.diff("f.txt", query);
    assertEquals([found.from, found.to], [from, to], JSON.stringify(query));
    assertEquals(found.diff.replace(/^(---|\+\+\+|@@).*\n/gm, ""), lines);
  }
  assertEquals(await own.diff("f.txt", { from: 2, to: 2 }), {
    from: 2,
    to: 2,
    diff: "",
    additions: 0,
    deletions: 0,
  });
  await own.write("one.txt", "only\n");
  const first = await own.diff("one.txt");
  assertEquals([first.from, first.to, first.additions, first.deletions], [0, 1, 1, 0]);
});

test("diff: a tombstone is empty, on either side, and a deleted file has its diffs", async () => {
  const own = await files();
  await own.write("f.txt", "a\nb\n");
  await own.remove("f.txt");
  const removed = await own.diff("f.txt");
  assertEquals([removed.from, removed.to, removed.additions, removed.deletions], [1, 2, 0, 2]);
  assertEquals(removed.diff, "--- f.txt\n+++ f.txt\n@@ -1,2 +0,0 @@\n-a\n-b\n");
  await own.restore("f.txt", 1);
  const restored = await own.diff("f.txt");
  assertEquals([restored.from, restored.to, restored.additions, restored.deletions], [2, 3, 2, 0]);
  assertEquals((await own.diff("f.txt", { from: 1, to: 3 })).diff, "");
});

test("diff: of a file of many segments, cut within lines and characters", async () => {
  const own = await files();
  await own.write("f.txt", "é");
  for (const piece of ["a", "\n", "b\nc", "d\n", "✓", "\n"]) await own.append("f.txt", piece);
  await own.edit("f.txt", "cd\n✓", "C");
  const { diff } = await own.diff("f.txt");
  assertEquals(applyUnifiedDiff("éa\nb\ncd\n✓\n", diff), "éa\nb\nC\n");
});

test("diff: names are quoted as git and diff quote them", async () => {
  const own = await files();
  for (
    const [path, name] of [["a b.txt", "a b.txt"], ['q".txt', '"q\\".txt"'], ["é", '"\\303\\251"']] as const
  ) {
    await own.write(path, "x\n");
    assertEquals((await own.diff(path)).diff.split("\n")[0], `--- ${name}`);
  }
});

test("404: FILE_NOT_FOUND for no file, VERSION_NOT_FOUND with details.latestVersion for no version", async () => {
  const own = await files();
  await own.write("f.txt", "1");
  await own.write("f.txt", "2");
  assertEquals(assertRefused(await own.tryDiff("none"), "FILE_NOT_FOUND", "diff_file"), {});
  for (const query of [{ to: 3 }, { from: 3 }, { from: 3, to: 1 }, { from: 1, to: 2147483647 }]) {
    const details = assertRefused(await own.tryDiff("f.txt", query), "VERSION_NOT_FOUND", "diff_file");
    assertEquals(details, { latestVersion: 2 }, JSON.stringify(query));
  }
  const other = await files();
  assertEquals(assertRefused(await other.tryDiff("f.txt"), "FILE_NOT_FOUND"), {});
});

test("400: versions and paths that are none", async () => {
  const own = await files();
  await own.write("f.txt", "1");
  for (const name of ["from", "to"]) {
    for (
      const value of [
        ...name === "to" ? ["0"] : [],
        "-1",
        "1.5",
        "a",
        "",
        " 1",
        "2147483648",
        "1e1",
        "9".repeat(30),
      ]
    ) {
      const answer = await own.tryDiff("f.txt", { [name]: value });
      assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "diff_file")), [name], value);
    }
    const twice = await own.request("GET", `/diff/f.txt?${name}=1&${name}=1`);
    assertEquals(issuePaths(assertRefused(twice, "VALIDATION_ERROR", "diff_file")), [name]);
  }
  for (const [path, rule] of [["a//b", "empty_segment"], ["a%5Cb", "backslash"], ["", "empty"]] as const) {
    const answer = await own.request("GET", `/diff/${path}`);
    assertEquals(assertRefused(answer, "INVALID_PATH", "diff_file"), { rule });
  }
});

test("422 NOT_TEXT: a side that is binary, by its bytes or its type", async () => {
  const own = await files();
  await own.write("f.txt", "text");
  await own.writeBytes("f.txt", Uint8Array.of(0xff));
  await own.write("f.txt", "text");
  for (const query of [{ from: 1, to: 2 }, { from: 2, to: 3 }, { to: 2 }]) {
    assertRefused(await own.tryDiff("f.txt", query), "NOT_TEXT", "diff_file");
  }
  assertEquals((await own.diff("f.txt", { from: 1, to: 3 })).diff, "");
  await own.write("f.png", "text");
  assertRefused(await own.tryDiff("f.png"), "NOT_TEXT", "diff_file");
});

test("422 DIFF_TOO_LARGE: a side over 1 MiB, whichever; exactly 1 MiB is compared", async () => {
  const own = await files();
  await own.write("f.txt", "x\n".repeat(MIB / 2));
  await own.append("f.txt", "y");
  await own.write("f.txt", "small");
  for (const query of [{ from: 1, to: 2 }, { from: 2, to: 3 }]) {
    const details = assertRefused(await own.tryDiff("f.txt", query), "DIFF_TOO_LARGE", "diff_file");
    assertEquals(details, { limitBytes: MIB, sizeBytes: MIB + 1 });
  }
  const { additions, deletions } = await own.diff("f.txt", { from: 1, to: 3 });
  assertEquals([additions, deletions], [1, MIB / 2]);
});

/** A text of `bytes` bytes, in lines that no other seed gives. */
export function unrelated(seed: number, bytes: number, lineLength: number): string {
  const random = randomNumbers(seed);
  let text = "";
  while (text.length < bytes) text += random().toString(36).repeat(lineLength).slice(0, lineLength) + "\n";
  return text.slice(0, bytes);
}

test("diff: a small change of a 1 MB text is a small diff", async () => {
  const own = await files();
  const text = unrelated(8, MIB - 10, 11);
  await own.write("f.txt", text);
  const lines = text.split("\n");
  await own.edit("f.txt", `\n${lines[5000]}\n`, "\nchanged\n");
  const { diff, additions, deletions } = await own.diff("f.txt");
  assertEquals([additions, deletions], [1, 1]);
  assert(diff.length < 500);
});

test("diff: reads what it compares and writes nothing", async () => {
  const own = await files();
  await own.write("f.txt", "a\n");
  await own.write("f.txt", "b\n");
  const before = await snapshot();
  await own.diff("f.txt");
  assertEquals(await snapshot(), before);
});
