/** Many small appends: the segment list stays short, and neither content nor versions ever show that it was compacted. */
import { assert, assertEquals } from "@std/assert";
import { segmentCount } from "../support/client/stored.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

/** The most segments that a segment list of so many bytes may have. */
function cap(bytes: number): number {
  return 128 + 2 * Math.ceil(bytes / 1_048_576);
}

test("300 small appends: the segment list stays under its cap, each version reads right, also by a process that remembers nothing", async () => {
  const own = await files();
  const pieces = Array.from(
    { length: 300 },
    (_, index) => `${index}:${"é😀\n"[index % 3] ?? ""}${"x".repeat(index % 40)}\n`,
  );
  await own.write("log.txt", "");
  let size = 0;
  let longest = 0;
  for (const [index, piece] of pieces.entries()) {
    const text = piece.toWellFormed();
    size += new TextEncoder().encode(text).length;
    const record = await own.append("log.txt", text);
    assertEquals([record.version, record.size], [index + 2, size]);
    if (index % 20 === 19) longest = Math.max(longest, await segmentCount(service, own.project.id));
  }
  assert(longest <= cap(size), `${longest} segments`);
  assert(await segmentCount(service, own.project.id) < 300, "something was compacted");
  const expected = (version: number) =>
    pieces.slice(0, version - 1).map((piece) => piece.toWellFormed()).join("");
  await service.restartFunction();
  const reads = await service.proxy.during(async () => {
    assertEquals((await own.read("log.txt")).content, expected(301));
  });
  assert(reads.length <= cap(size) + 1, `${reads.length} calls for a read`);
  for (let version = 1; version <= 301; version += 12) {
    const { content, size } = await own.read("log.txt", { version });
    assert(content === expected(version), `version ${version}`);
    assertEquals(size, new TextEncoder().encode(content).length);
  }
  assertEquals((await own.versions("log.txt")).total, 301);
});

test("binary appends stay binary through compactions, and compacted halves of characters do not become text", async () => {
  const own = await files();
  const check = [0xe2, 0x9c, 0x93];
  await own.writeBytes("b", Uint8Array.of(check[0] ?? 0));
  for (let count = 1; count < 120; count++) {
    await own.append("b", Uint8Array.of(check[count % 3] ?? 0).toBase64(), { isBase64: true });
  }
  assert(await segmentCount(service, own.project.id) < 120, "something was compacted");
  const { content, isBase64 } = await own.read("b");
  assertEquals(isBase64, true);
  assertEquals(content, new TextEncoder().encode("✓".repeat(40)).toBase64());
});

test("appends at the same time, over compactions: none is lost, none twice", async () => {
  const own = await files();
  await own.write("log.txt", "");
  const lines = Array.from({ length: 240 }, (_, index) => `line ${index}`);
  let next = 0;
  const worker = async () => {
    while (next < lines.length) await own.append("log.txt", `${lines[next++]}\n`);
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  const { content, version } = await own.read("log.txt");
  assertEquals(version, 241);
  assertEquals(content.trimEnd().split("\n").sort(), [...lines].sort());
  assert(await segmentCount(service, own.project.id) <= cap(content.length));
});

test("larger pieces, up to several segments each, keep the segment list within two segments a MiB and 128", async () => {
  const own = await files();
  await own.write("big.txt", "");
  let expected = "";
  for (let count = 0; count < 60; count++) {
    const piece = String(count % 10).repeat([10, 30_000, 200_000, 1_100_000][count % 4] ?? 0);
    expected += piece;
    await own.append("big.txt", piece);
    assert(await segmentCount(service, own.project.id) <= cap(expected.length));
  }
  assert((await own.read("big.txt")).content === expected);
  assert((await own.read("big.txt", { version: 31 })).content === expected.slice(0, 1_330_010 * 7 + 30_010));
});

test("an edit and an overwrite of a long segment list leave its older versions as they were", async () => {
  const own = await files();
  await own.write("f.txt", "start\n");
  for (let count = 0; count < 100; count++) await own.append("f.txt", `${count}\n`);
  const before = (await own.read("f.txt")).content;
  await own.edit("f.txt", "start", "begin");
  await own.overwrite("f.txt", "gone");
  assertEquals((await own.read("f.txt", { version: 101 })).content, before);
  assertEquals((await own.read("f.txt", { version: 102 })).content, before.replace("start", "begin"));
  assertEquals((await own.read("f.txt")).content, "gone");
});
