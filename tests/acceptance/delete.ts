/** A deletion adds a tombstone, a version like any other, and keeps all earlier versions. */
import { assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import { assertDeleted, tagOf } from "../support/client/preconditions.ts";
import { ASKS_FOR_BYTES } from "../support/client/files.ts";
import { prepare, PREPARED_VERSION, WRITES } from "../support/client/write_kinds.ts";
import { area, files, snapshot, strangerTo } from "./suite.ts";

const { test, testOfTwo, cases } = area("Delete");
export default cases;

test("200: a delete is the next version, empty, marked as deleted, of the same file", async () => {
  const own = await files();
  const written = await own.write("a/b.md", "one");
  const second = await own.append("a/b.md", "+");
  const answer = await own.tryRemove("a/b.md");
  assertEquals(tagOf(answer), `"${written.id}.3.j"`);
  const list = await own.versions("a/b.md");
  assertEquals(list.versions.map(({ version, size, deleted }) => [version, size, deleted]), [
    [3, 0, true],
    [2, 4, undefined],
    [1, 3, undefined],
  ]);
  assertEquals([list.total, list.file], [3, { path: "a/b.md", mimeType: "text/markdown" }]);
  assertEquals(list.versions[1]?.updatedAt, second.updatedAt);
});

test("200: the answer of a delete is the tombstone's record", async () => {
  const own = await files();
  const { updatedAt: writtenAt, ...written } = await own.write("f.csv", "a,b");
  const { updatedAt, ...removed } = await own.remove("f.csv");
  assertEquals(removed, { ...written, version: 2, size: 0, deleted: true });
  assertEquals(updatedAt >= writtenAt, true);
  assertEquals((await own.versions("f.csv")).versions[0]?.updatedAt, updatedAt);
});

const READS = [
  ["content", "", {}, "read_file"],
  ["bytes", "", ASKS_FOR_BYTES, "read_file"],
  ["lines", "?lines=1-1", {}, "read_file"],
  ["content of the tombstone's own number", "?version=2", {}, "read_file"],
  ["metadata", "?metadata", {}, "get_file_metadata"],
  ["metadata of the tombstone's own number", "?metadata&version=2", {}, "get_file_metadata"],
] as const;

for (const [what, query, headers, operation] of READS) {
  test(`404 FILE_NOT_FOUND with details.deletedVersion: ${what} of a deleted file`, async () => {
    const own = await files();
    await own.write("d.txt", "one\n");
    await own.remove("d.txt");
    assertDeleted(await own.request("GET", `/files/d.txt${query}`, { headers }), 2, operation);
  });
}

for (const kind of WRITES.filter(({ needsFile, name }) => needsFile && name !== "PUT restore")) {
  test(`404 FILE_NOT_FOUND with details.deletedVersion, and nothing stored: ${kind.name} of a deleted file`, async () => {
    const own = await files();
    await prepare(own, "d.txt");
    await own.remove("d.txt");
    const before = await snapshot();
    // With and without a precondition: a missing file is reported as missing, not as a failed precondition.
    for (const headers of [{}, { "if-match": "*" }]) {
      assertDeleted(await kind.send(own, "d.txt", headers), PREPARED_VERSION + 1, kind.operation);
    }
    assertEquals(await snapshot(), before);
  });
}

for (const kind of WRITES.filter(({ needsFile }) => needsFile)) {
  test(`404 FILE_NOT_FOUND without details: ${kind.name} of a file that never was`, async () => {
    const own = await files();
    const before = await snapshot();
    assertEquals(assertRefused(await kind.send(own, "none.txt"), "FILE_NOT_FOUND", kind.operation), {});
    assertEquals(await snapshot(), before);
  });
}

test("200: earlier versions of a deleted file are read by number, as they were", async () => {
  const own = await files();
  const first = await own.write("old.json", "[1]");
  const second = await own.write("old.json", "[2, 3]");
  await own.remove("old.json");
  for (const [record, content] of [[first, "[1]"], [second, "[2, 3]"]] as const) {
    const { version } = record;
    assertEquals(await own.read("old.json", { version }), { ...record, content });
    assertEquals(await own.record("old.json", { version }), record);
    const { bytes } = await own.readRaw("old.json", {}, { version });
    assertEquals(new TextDecoder().decode(bytes), content);
    assertEquals((await own.get("old.json", {}, { version, lines: "1-1" })).status, 200);
  }
  const missing = await own.get("old.json", {}, { version: 4 });
  assertEquals(assertRefused(missing, "VERSION_NOT_FOUND"), { latestVersion: 3 });
});

test("200: writing again continues the numbers, with the same id and createdAt", async () => {
  const own = await files();
  const first = await own.write("again.txt", "one", { contentType: "text/csv" });
  await own.remove("again.txt");
  const third = await own.write("again.txt", "three");
  assertEquals([third.id, third.version, third.createdAt], [first.id, 3, first.createdAt]);
  assertEquals(third.mimeType, "text/plain");
  await own.remove("again.txt");
  const fifth = await own.writeRaw("again.txt", new TextEncoder().encode("five"));
  assertEquals([fifth.id, fifth.version, fifth.createdAt], [first.id, 5, first.createdAt]);
  assertEquals((await own.read("again.txt")).content, "five");
  assertEquals((await own.read("again.txt", { version: 1 })).content, "one");
  assertDeleted(await own.get("again.txt", {}, { version: 2 }), 2);
  assertDeleted(await own.get("again.txt", {}, { version: 4 }), 4);
  const { versions } = await own.versions("again.txt");
  assertEquals(versions.map(({ deleted }) => deleted ?? false), [false, true, false, true, false]);
});

test("404: a file is deleted once", async () => {
  const own = await files();
  await own.write("once.txt", "x");
  const answers = await Promise.all(Array.from({ length: 8 }, () => own.tryRemove("once.txt")));
  assertEquals(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(404)]);
  for (const answer of answers) if (answer.status === 404) assertDeleted(answer, 2, "delete_file");
  assertEquals((await own.versions("once.txt")).total, 2);
});

testOfTwo("404: another project's tombstones are never seen", async () => {
  const own = await files();
  const other = strangerTo(own);
  await own.write("x", "1");
  await own.remove("x");
  for (
    const answer of [
      await other.get("x"),
      await other.tryRemove("x"),
      await other.put("restore", "x", { version: 1 }),
    ]
  ) {
    assertEquals(assertRefused(answer, "FILE_NOT_FOUND"), {});
  }
  assertEquals((await other.list({ deleted: true, recursive: true })).total, 0);
});
