/** Several edits at once, expected occurrences, and dry runs. */
import { assert, assertEquals } from "@std/assert";
import {
  assertRefused,
  type Code,
  dataOf,
  editPreview,
  editRecord,
  issuePaths,
} from "../support/client/contract.ts";
import type { Files } from "../support/client/files.ts";
import { assertStale } from "../support/client/preconditions.ts";

import { applyUnifiedDiff } from "../support/content/unified_diff.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Several edits, dry runs");
export default cases;

export const MIB = 1024 * 1024;

export async function edits(own: Files, path: string, list: readonly unknown[]) {
  return dataOf(await own.put("edit", path, { edits: list }), "write_file", editRecord);
}

test("400 VALIDATION_ERROR: no edit, 101 edits, and edits that are none; nothing changed", async () => {
  const own = await files();
  await own.write("f.txt", "a b");
  const before = await snapshot();
  const good = { oldString: "a", newString: "c" };
  const bodies: [unknown, string[]][] = [
    [{ edits: [] }, ["edits"]],
    [{ edits: Array(101).fill(good) }, ["edits"]],
    [{ edits: good }, ["edits"]],
    [{ edits: "a" }, ["edits"]],
    [{ edits: [good, null] }, ["edits.1"]],
    [{ edits: [good, { oldString: "b" }] }, ["edits.1.newString"]],
    [{ edits: [{ newString: "b" }] }, ["edits.0.oldString"]],
    [{ edits: [good, { oldString: "", newString: "x" }] }, ["edits.1.oldString"]],
    [{ edits: [good, { oldString: "b", newString: "b" }] }, ["edits.1.newString"]],
    [{ edits: [{ ...good, newString: "\ud800" }] }, ["edits.0.newString"]],
    [{ edits: [{ ...good, oldString: "x".repeat(100_001) }] }, ["edits.0.oldString"]],
    [{ edits: [{ ...good, replaceAll: "true" }] }, ["edits.0.replaceAll"]],
    [{ edits: [{ ...good, expectedOccurrences: 0 }] }, ["edits.0.expectedOccurrences"]],
    [{ edits: [good], oldString: "a" }, ["oldString"]],
    [{ edits: [good], newString: "c" }, ["newString"]],
    [{ edits: [good], ...good }, ["oldString", "newString"]],
    [{ edits: [good], dryRun: "true" }, ["dryRun"]],
    [{ ...good, dryRun: 1 }, ["dryRun"]],
    ...[0, -1, 1.5, "1", true, [1]].map((expectedOccurrences): [unknown, string[]] => [
      { ...good, expectedOccurrences },
      ["expectedOccurrences"],
    ]),
    [[good], ["oldString", "newString"]],
    [null, [""]],
    ["text", [""]],
  ];
  for (const [body, fields] of bodies) {
    const answer = await own.put("edit", "f.txt", JSON.stringify(body));
    const paths = issuePaths(assertRefused(answer, "VALIDATION_ERROR", "write_file"));
    if (Array.isArray(body)) assert(paths.length > 0);
    else assertEquals([...new Set(paths)], fields, JSON.stringify(body).slice(0, 100));
  }
  assertEquals(await snapshot(), before);
});

test("200: null for edits, dryRun, replaceAll and expectedOccurrences means absent", async () => {
  const own = await files();
  await own.write("f.txt", "a b");
  const nothing = { edits: null, dryRun: null, replaceAll: null, expectedOccurrences: null };
  assertEquals((await own.edit("f.txt", "a", "c", nothing)).replacements, 1);
  const list = [{ oldString: "b", newString: "d", replaceAll: null, expectedOccurrences: null }];
  const body = { edits: list, oldString: null, newString: null, dryRun: null };
  assertEquals((await own.put("edit", "f.txt", body)).status, 200);
  assertEquals((await own.read("f.txt")).content, "c d");
});

/** Edits of "a b b c", the refusal, and the index of the edit that causes it. */
const REFUSED: readonly (readonly [readonly (readonly [string, string, object?])[], Code, number])[] = [
  [[["none", "x"], ["a", "x"]], "STRING_NOT_FOUND", 0],
  [[["a", "x"], ["none", "x"]], "STRING_NOT_FOUND", 1],
  [[["a", "x"], ["a", "y"]], "STRING_NOT_FOUND", 1],
  [[["a", "x"], ["c", "y"], ["b", "z"]], "STRING_NOT_UNIQUE", 2],
  [[["a", "b"], ["b", "z", { expectedOccurrences: 2 }]], "STRING_NOT_UNIQUE", 1],
];

for (const [sequence, code, fault] of REFUSED) {
  test(`422 ${code}: edits ${JSON.stringify(sequence)}: details.edit is ${fault}, and none of them is done`, async () => {
    const own = await files();
    await own.write("f.txt", "a b b c");
    const before = await snapshot();
    const list = sequence.map(([oldString, newString, more]) => ({ oldString, newString, ...more }));
    for (const dryRun of [false, true]) {
      const details = assertRefused(
        await own.put("edit", "f.txt", { edits: list, dryRun }),
        code,
        "write_file",
      );
      assertEquals([details["edit"], details["version"]], [fault, 1]);
    }
    assertEquals(await snapshot(), before);
  });
}

/** Number of "a" in the text, expected number, replaceAll, and whether all are replaced. */
const EXPECTATIONS:
  readonly (readonly [string, number | undefined, boolean | undefined, Code | "replaced"])[] = [
    ["a", 1, undefined, "replaced"],
    ["a b", 1, true, "replaced"],
    ["a a a", 3, undefined, "replaced"],
    ["a a a", 3, true, "replaced"],
    ["a a a", 3, false, "replaced"],
    ["a a a", 2, undefined, "STRING_NOT_UNIQUE"],
    ["a a a", 2, true, "STRING_NOT_UNIQUE"],
    ["a a a", 4, true, "STRING_NOT_UNIQUE"],
    ["a", 2, undefined, "STRING_NOT_UNIQUE"],
    ["b", 1, undefined, "STRING_NOT_FOUND"],
    ["b", 2, true, "STRING_NOT_FOUND"],
  ];

for (const [content, expectedOccurrences, replaceAll, outcome] of EXPECTATIONS) {
  test(`expectedOccurrences ${expectedOccurrences}, replaceAll ${replaceAll} in ${JSON.stringify(content)}: ${outcome}`, async () => {
    const own = await files();
    await own.write("f.txt", content);
    const before = await snapshot();
    const occurrences = content.split("a").length - 1;
    const answer = await own.tryEdit("f.txt", "a", "x", { expectedOccurrences, replaceAll });
    if (outcome === "replaced") {
      assertEquals(dataOf(answer, "write_file", editRecord).replacements, occurrences);
      assertEquals((await own.read("f.txt")).content, content.replaceAll("a", "x"));
      return;
    }
    const details = assertRefused(answer, outcome, "write_file");
    assertEquals(await snapshot(), before);
    if (outcome === "STRING_NOT_FOUND") return;
    assertEquals([details["occurrences"], details["expectedOccurrences"]], [
      occurrences,
      expectedOccurrences,
    ]);
  });
}

test("200: expectedOccurrences counts without overlap, across segments", async () => {
  const own = await files();
  await own.write("f.txt", "aaa");
  await own.append("f.txt", "aa");
  assertEquals((await own.edit("f.txt", "aa", "b", { expectedOccurrences: 2 })).replacements, 2);
  assertEquals((await own.read("f.txt")).content, "bba");
});

/** The text for bodies whose dry run is compared with the real edit. */
const TEXT = "one\ntwo\r\ntwo\nthree é😀\n\nfour";

const DRY_RUNS: readonly object[] = [
  { oldString: "one", newString: "1" },
  { oldString: "two", newString: "", replaceAll: true },
  { oldString: "two", newString: "2\n2", expectedOccurrences: 2 },
  { oldString: "four", newString: "4\n" },
  { oldString: TEXT, newString: "" },
  { edits: [{ oldString: "one", newString: "two" }, { oldString: "two", newString: "t", replaceAll: true }] },
  { edits: [{ oldString: "one", newString: "1" }, { oldString: "1", newString: "one" }] },
];

for (const body of DRY_RUNS) {
  test(`dryRun: ${JSON.stringify(body).slice(0, 80)}: no version, nothing stored, and the diff that the edit will have`, async () => {
    const own = await files();
    const { updatedAt, ...written } = await own.write("f.txt", TEXT.slice(0, 12));
    const record = { ...written, ...await own.append("f.txt", TEXT.slice(12)) };
    const before = await snapshot();
    const dry = dataOf(await own.put("edit", "f.txt", { ...body, dryRun: true }), "write_file", editPreview);
    assertEquals(await snapshot(), before);
    assert(updatedAt <= record.updatedAt);
    const { replacements, diff, additions, deletions, dryRun, ...shown } = dry;
    assertEquals([shown, dryRun], [record, true]);
    const edited = dataOf(
      await own.put("edit", "f.txt", { ...body, dryRun: false }),
      "write_file",
      editRecord,
    );
    assertEquals(edited.replacements, replacements);
    assertEquals(await own.diff("f.txt"), { from: 2, to: 3, diff, additions, deletions });
    assertEquals(applyUnifiedDiff(TEXT, diff), (await own.read("f.txt")).content);
  });
}

test("412 PRECONDITION_FAILED goes before everything that the file's content decides, dry or not", async () => {
  const own = await files();
  const { id } = await own.write("f.txt", "a a");
  await own.write("large.txt", "x".repeat(MIB + 1));
  await own.writeBytes("b.bin", Uint8Array.of(0xff));
  const before = await snapshot();
  for (const path of ["f.txt", "large.txt", "b.bin"]) {
    for (const dryRun of [true, false]) {
      const body = { oldString: "a", newString: "b", dryRun };
      assertStale(await own.put("edit", path, body, { "if-match": `"${id}.7.j"` }), 1, "write_file");
    }
  }
  const body = { edits: [{ oldString: "a a", newString: "b" }], dryRun: true };
  assertEquals((await own.put("edit", "f.txt", body, { "if-match": `W/"${id}.1.r"` })).status, 200);
  assertEquals(await snapshot(), before);
});
