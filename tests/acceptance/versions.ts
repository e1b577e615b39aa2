/** Every write adds a numbered version, and earlier versions stay readable unchanged. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { assertRefused, operationOf } from "../support/client/contract.ts";
import { area, files } from "./suite.ts";

const { test, cases } = area("Versions");
export default cases;

test("200: each kind of write makes the next version and keeps id, path and createdAt", async () => {
  const own = await files();
  const first = await own.write("a.md", "one");
  const second = await own.write("a.md", "two");
  const third = await own.append("a.md", "+");
  const fourth = await own.overwrite("a.md", "four");
  const { replacements, ...fifth } = await own.edit("a.md", "four", "five!");
  assertEquals(replacements, 1);
  const all = [first, second, third, fourth, fifth];
  assertEquals(all.map(({ version }) => version), [1, 2, 3, 4, 5]);
  assertEquals(all.map(({ size }) => size), [3, 3, 4, 4, 5]);
  for (const { id, path, createdAt, mimeType } of all) {
    assertEquals([id, path, createdAt, mimeType], [first.id, "a.md", first.createdAt, "text/markdown"]);
  }
  const times = all.map(({ updatedAt }) => updatedAt);
  assertEquals(times, [...times].sort(), "time does not go back");
  assertEquals(first.updatedAt, first.createdAt);
  assertEquals(await own.record("a.md"), fifth);
  const contents = [];
  for (const version of [1, 2, 3, 4, 5]) contents.push((await own.read("a.md", { version })).content);
  assertEquals(contents, ["one", "two", "two+", "four", "five!"]);
});

test("200: an older version shows its own version, size, type and time, and the file's id and createdAt", async () => {
  const own = await files();
  const first = await own.write("x", "{}", { contentType: "application/json" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = await own.write("x", "a,b,c", { contentType: "text/csv" });
  assertNotEquals(first.updatedAt, second.updatedAt);
  const { content, ...read } = await own.read("x", { version: 1 });
  assertEquals(content, "{}");
  assertEquals(read, first);
  assertEquals(await own.record("x", { version: 1 }), first);
  assertEquals(await own.record("x", { version: 2 }), second);
  assertEquals(second.createdAt, first.createdAt);
});

test("200: versions come newest first, in pages, with each version's own time in both fields", async () => {
  const own = await files();
  const written = [];
  for (let number = 1; number <= 12; number++) written.push(await own.write("v.txt", "x".repeat(number)));
  const list = await own.versions("v.txt");
  assertEquals([list.total, list.limit, list.offset], [12, 10, 0]);
  assertEquals(list.file, { path: "v.txt", mimeType: "text/plain" });
  assertEquals(list.versions.map(({ version }) => version), [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  for (const { version, size, createdAt, updatedAt } of list.versions) {
    assertEquals(size, version);
    assertEquals(createdAt, written[version - 1]?.updatedAt);
    assertEquals(updatedAt, createdAt);
  }
  const pages: [Record<string, number>, number[]][] = [
    [{ limit: 3 }, [12, 11, 10]],
    [{ limit: 3, offset: 10 }, [2, 1]],
    [{ limit: 100 }, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
    [{ offset: 12 }, []],
    [{ offset: 2147483647 }, []],
    [{ limit: 1, offset: 11 }, [1]],
  ];
  for (const [query, expected] of pages) {
    const page = await own.versions("v.txt", query);
    assertEquals(page.versions.map(({ version }) => version), expected, JSON.stringify(query));
    assertEquals(page.total, 12);
  }
});

test("200: versions beats metadata beats content; a version list ignores `version`", async () => {
  const own = await files();
  await own.write("p", "1");
  await own.write("p", "22");
  const cases: [string, string][] = [
    ["?versions&metadata", "get_file_versions"],
    ["?metadata&versions", "get_file_versions"],
    ["?metadata&versions&version=1", "get_file_versions"],
    ["?versions&version=77", "get_file_versions"],
    ["?version=1&metadata", "get_file_metadata"],
    ["?metadata=&version=1", "get_file_metadata"],
    ["?version=1", "read_file"],
  ];
  for (const [query, operation] of cases) {
    const answer = await own.request("GET", `/files/p${query}`);
    assertEquals(answer.status, 200, query);
    assertEquals(operationOf(answer), operation, query);
  }
  assertEquals((await own.versions("p", { version: 1 })).total, 2);
});

test("404 VERSION_NOT_FOUND tells the latest version, for content and metadata", async () => {
  const own = await files();
  await own.write("p", "1");
  await own.write("p", "2");
  for (const query of ["version=3", "metadata&version=3", "version=2147483647"]) {
    const details = assertRefused(await own.request("GET", `/files/p?${query}`), "VERSION_NOT_FOUND");
    assertEquals(details, { latestVersion: 2 }, query);
  }
});

test("404 FILE_NOT_FOUND for a missing file in every mode and write but POST, with the operation's name", async () => {
  const own = await files();
  const cases = [
    ["GET", "/files/none", "read_file"],
    ["GET", "/files/none?version=1", "read_file"],
    ["GET", "/files/none?metadata", "get_file_metadata"],
    ["GET", "/files/none?versions", "get_file_versions"],
    ["PUT", "/files/append/none", "write_file", { content: "x" }],
    ["PUT", "/files/overwrite/none", "write_file", { content: "x" }],
    ["PUT", "/files/edit/none", "write_file", { oldString: "a", newString: "b" }],
  ] as const;
  for (const [method, path, operation, body] of cases) {
    const details = assertRefused(await own.request(method, path, { body }), "FILE_NOT_FOUND", operation);
    assertEquals(details, {}, path);
  }
  assertEquals((await own.list({ recursive: true })).total, 0);
});

test("200: the type is kept by append, overwrite and edit, and detected again by POST without contentType", async () => {
  const own = await files();
  await own.write("a.json", "[1]", { contentType: "text/csv" });
  assertEquals((await own.append("a.json", "\n")).mimeType, "text/csv");
  assertEquals((await own.overwrite("a.json", "[2]")).mimeType, "text/csv");
  assertEquals((await own.edit("a.json", "2", "3")).mimeType, "text/csv");
  assertEquals((await own.write("a.json", "[4]")).mimeType, "application/json");
  assertEquals((await own.write("a.json", "[5]", { contentType: null })).mimeType, "application/json");
  const types = [];
  for (let version = 1; version <= 6; version++) {
    types.push((await own.record("a.json", { version })).mimeType);
  }
  assertEquals(types, [...Array(4).fill("text/csv"), "application/json", "application/json"]);
  assertEquals((await own.versions("a.json")).file.mimeType, "application/json");
});

test("200: writes at the same time all become versions, and appends never lose each other", async () => {
  const own = await files();
  await own.write("w", "");
  await Promise.all(Array.from({ length: 12 }, (_, index) => own.write("w", `write ${index}`)));
  assertEquals((await own.versions("w")).total, 13);
  const kept = new Set<string>();
  for (let version = 2; version <= 13; version++) kept.add((await own.read("w", { version })).content);
  assertEquals(kept.size, 12);

  await own.write("log", "");
  const lines = Array.from({ length: 24 }, (_, index) => `line ${index}\n`);
  await Promise.all(lines.map((line) => own.append("log", line)));
  const { content, version } = await own.read("log");
  assertEquals(version, 25);
  assertEquals(content.split("\n").sort(), lines.join("").split("\n").sort());
});
