/** A restore makes the content and type of an earlier version the latest version, without copying a byte. */
import { assertEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { tagOf } from "../support/client/preconditions.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Restore");
export default cases;

test("200: restore makes a new version with the content and type of the old one", async () => {
  const own = await files();
  const first = await own.write("r.txt", "one\n", { contentType: "text/csv" });
  await own.write("r.txt", "two", { contentType: "text/html" });
  const answer = await own.put("restore", "r.txt", { version: 1 });
  assertEquals(tagOf(answer), `"${first.id}.3.j"`);
  const { content, ...record } = await own.read("r.txt");
  assertEquals(content, "one\n");
  assertEquals([record.version, record.mimeType, record.size], [3, "text/csv", 4]);
  assertEquals([record.id, record.createdAt], [first.id, first.createdAt]);
  assertEquals((await own.read("r.txt", { version: 2 })).content, "two");
  assertEquals((await own.append("r.txt", "+")).mimeType, "text/csv");
});

test("200: the latest version can be restored, too", async () => {
  const own = await files();
  await own.write("same.txt", "x");
  assertEquals((await own.restore("same.txt", 1)).version, 2);
  assertEquals((await own.read("same.txt")).content, "x");
});

test("200: a deleted file comes back with its id, createdAt and place in lists", async () => {
  const own = await files();
  const first = await own.write("a/b.md", "text");
  await own.remove("a/b.md");
  const restored = await own.restore("a/b.md", 1);
  assertEquals([restored.id, restored.version, restored.createdAt], [first.id, 3, first.createdAt]);
  assertEquals((await own.list()).directories, ["a"]);
  assertEquals(await own.paths({ directory: "a" }), ["a/b.md"]);
  assertEquals((await own.list({ directory: "a" })).total, 1);
  assertEquals((await own.list({ deleted: true, recursive: true })).total, 0);
});

test("200: binary and empty versions are restored", async () => {
  const own = await files();
  const bytes = Uint8Array.of(0, 255, 10, 128);
  await own.writeBytes("b.png", bytes);
  await own.write("b.png", "");
  await own.write("b.png", "x");
  assertEquals((await own.restore("b.png", 1)).size, 4);
  assertEquals(await own.readBytes("b.png"), bytes);
  assertEquals((await own.restore("b.png", 2)).size, 0);
  assertEquals((await own.readRaw("b.png")).bytes.length, 0);
});

test("422 VERSION_DELETED for a tombstone, whether the file lives or not; nothing changed", async () => {
  const own = await files();
  await own.write("v.txt", "1");
  await own.remove("v.txt");
  for (const prepare of [() => Promise.resolve(), () => own.write("v.txt", "3")]) {
    await prepare();
    const before = await snapshot();
    const refused = await own.put("restore", "v.txt", { version: 2 });
    assertEquals(assertRefused(refused, "VERSION_DELETED", "restore_file"), { version: 2 });
    assertEquals(await snapshot(), before);
  }
});

test("404 VERSION_NOT_FOUND with details.latestVersion; nothing changed", async () => {
  const own = await files();
  await own.write("v.txt", "1");
  await own.write("v.txt", "2");
  const before = await snapshot();
  for (const version of [3, 4, 2147483647]) {
    const refused = await own.put("restore", "v.txt", { version });
    assertEquals(assertRefused(refused, "VERSION_NOT_FOUND", "restore_file"), { latestVersion: 2 });
  }
  assertEquals(await snapshot(), before);
  await own.remove("v.txt");
  const refused = await own.put("restore", "v.txt", { version: 4 });
  assertEquals(assertRefused(refused, "VERSION_NOT_FOUND", "restore_file"), { latestVersion: 3 });
});

test("400 VALIDATION_ERROR for a version that is none; nothing changed", async () => {
  const own = await files();
  await own.write("v.txt", "1");
  const before = await snapshot();
  for (const version of [0, -1, 1.5, "1", null, true, [1], 2147483648, 1e300]) {
    const refused = await own.put("restore", "v.txt", { version });
    const paths = issuePaths(assertRefused(refused, "VALIDATION_ERROR", "restore_file"));
    assertEquals([...new Set(paths)], ["version"], String(version));
  }
  assertEquals(issuePaths(assertRefused(await own.put("restore", "v.txt", {}), "VALIDATION_ERROR")), [
    "version",
  ]);
  assertEquals(await snapshot(), before);
});
