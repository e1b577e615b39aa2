/** Several edits at once, expected occurrences, and dry runs. */
import { assert, assertEquals } from "@std/assert";
import { assertRefused, type Code } from "../support/client/contract.ts";
import { unreferencedObjects } from "../support/client/stored.ts";
import cases, { edits, MIB } from "../acceptance/edits.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

/** Content, edits in order (old string, new string, options), expected result, number of replacements. */
const SEQUENCES:
  readonly (readonly [string, readonly (readonly [string, string, object?])[], string, number])[] = [
    ["a", [["a", "b"]], "b", 1],
    ["a b", [["a", "1"], ["b", "2"]], "1 2", 2],
    ["a", [["a", "b"], ["b", "c"], ["c", "d"]], "d", 3],
    ["a b", [["a", "b"], ["b", "c", { replaceAll: true }]], "c c", 3],
    ["ab", [["a", ""], ["b", ""]], "", 2],
    ["x", [["x", "yy"], ["yy", "x"]], "x", 2],
    ["one two", [["one", "two"], ["two two", "three"]], "three", 2],
    ["$1 é😀", [["$1", "$&"], ["😀", "$1"]], "$& é$1", 2],
    ["a\r\nb", [["\r\n", "\n"], ["a\nb", "c"]], "c", 2],
  ];

for (const [content, sequence, result, replacements] of SEQUENCES) {
  test(`200: edits of ${JSON.stringify(content)} in order: ${JSON.stringify(result)}, one version`, async () => {
    const own = await files();
    await own.write("f.txt", content);
    const list = sequence.map(([oldString, newString, more]) => ({ oldString, newString, ...more }));
    const edited = await edits(own, "f.txt", list);
    assertEquals([edited.replacements, edited.version], [replacements, 2]);
    assertEquals((await own.read("f.txt")).content, result);
    assertEquals((await own.read("f.txt", { version: 1 })).content, content);
    assertEquals(await unreferencedObjects(service, own.project.id), 0);
  });
}

test("dryRun: refuses what the edit would refuse, and what cannot be shown as a diff; nothing stored", async () => {
  const own = await files("enterprise", { maxFileBytes: 3 * MIB });
  await own.write("f.txt", "a a");
  await own.writeBytes("b.bin", Uint8Array.of(0xff));
  await own.write("exact.txt", "x".repeat(MIB - 1) + "y");
  await own.write("large.txt", "x".repeat(MIB) + "y");
  const before = await service.tables();
  const dry = (path: string, body: object) => own.put("edit", path, { ...body, dryRun: true });
  const cases: [string, object, Code][] = [
    ["f.txt", { oldString: "b", newString: "c" }, "STRING_NOT_FOUND"],
    ["f.txt", { oldString: "a", newString: "c" }, "STRING_NOT_UNIQUE"],
    ["b.bin", { oldString: "a", newString: "c" }, "NOT_TEXT"],
    ["none", { oldString: "a", newString: "c" }, "FILE_NOT_FOUND"],
    ["large.txt", { oldString: "y", newString: "z" }, "DIFF_TOO_LARGE"],
    ["exact.txt", { oldString: "y", newString: "zz" }, "DIFF_TOO_LARGE"],
    ["exact.txt", { oldString: "x", newString: "x".repeat(9), replaceAll: true }, "CONTENT_TOO_LARGE"],
  ];
  for (const [path, body, code] of cases) assertRefused(await dry(path, body), code, "write_file");
  assertEquals((await dry("exact.txt", { oldString: "y", newString: "z" })).status, 200);
  assertEquals(await service.tables(), before);
});

test("edits that rewrite more than memory holds: the result is right and no object is left over, done or refused", async () => {
  const own = await files();
  // Twelve segments, each with a marker: every edit rewrites all of them.
  const block = `${"x".repeat(99_999)}\n`.repeat(10);
  const content = Array.from({ length: 12 }, () => `[marker]\n${block}`).join("");
  await own.writeRaw("big.txt", new TextEncoder().encode(content));
  const before = await service.tables();
  const list = [
    { oldString: "[marker]", newString: "[first]", replaceAll: true },
    { oldString: "[first]", newString: "[second]", expectedOccurrences: 12 },
  ];
  const failing = [...list, { oldString: "none", newString: "x" }];
  const refused = await own.put("edit", "big.txt", { edits: failing });
  assertEquals(assertRefused(refused, "STRING_NOT_FOUND")["edit"], 2);
  assertEquals(await service.tables(), before);
  assertEquals((await edits(own, "big.txt", list)).replacements, 24);
  const { bytes } = await own.readRaw("big.txt");
  const expected = content.replaceAll("[marker]", "[second]");
  assert(new TextDecoder().decode(bytes) === expected, "the content differs");
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});
