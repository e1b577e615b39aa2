/** `at=`: reads, metadata, version lists and lists of a project as it was at a time or cursor, inclusive. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { owner } from "../support/client/accounts.ts";
import {
  assertRefused,
  dataOf,
  fileRecord,
  issuePaths,
  readRecord,
  versionList,
} from "../support/client/contract.ts";
import { encodePath, Files, tombstone } from "../support/client/files.ts";
import { randomFrom } from "../support/random.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const listAt = z.strictObject({
  files: z.array(fileRecord),
  directories: z.array(z.string()).optional(),
  limit: z.int(),
  offset: z.literal(0),
  hasMore: z.boolean(),
  next: z.string().optional(),
});

/** The cursor of a file's latest version. */
async function cursorOf(own: Files, path: string): Promise<string> {
  const list = await own.versions(path, { limit: 1 });
  return list.versions.map(({ cursor }) => cursor)[0] ?? "";
}

async function list(own: Files, query: Record<string, string | number | boolean>) {
  return dataOf(await own.request("GET", "/files", { query }), "list_files", listAt);
}

/** The records of all pages. */
async function listAll(own: Files, query: Record<string, string | number | boolean>) {
  const records = [];
  let after: string | undefined;
  for (;;) {
    const page = await list(own, { limit: 2, ...query, ...(after === undefined ? {} : { after }) });
    records.push(...page.files);
    assertEquals(page.hasMore, page.next !== undefined);
    if (page.next === undefined) return records;
    after = page.next;
  }
}

test("200: content, record and versions are those of that moment, by time and by cursor", async () => {
  const own = await files();
  await own.write("early.txt", "early");
  const first = await own.write("a.md", "one");
  const cursor = await cursorOf(own, "a.md");
  await new Promise((resolve) => setTimeout(resolve, 3));
  const second = await own.write("a.md", "{}", { contentType: "application/json" });
  await new Promise((resolve) => setTimeout(resolve, 3));
  await own.remove("a.md");
  const moments = [[cursor, first, "one"], [first.updatedAt, first, "one"], [
    second.updatedAt,
    second,
    "{}",
  ]] as const;
  for (const [at, record, content] of moments) {
    const read = await own.request("GET", "/files/a.md", { query: { at } });
    assertEquals(dataOf(read, "read_file", readRecord), { ...record, content });
    const metadata = await own.request("GET", "/files/a.md", { query: { metadata: "", at } });
    assertEquals(dataOf(metadata, "get_file_metadata", fileRecord), record);
    const versions = await own.request("GET", "/files/a.md", { query: { versions: "", at } });
    const page = dataOf(versions, "get_file_versions", versionList);
    assertEquals([page.total, page.file.mimeType], [record.version, record.mimeType]);
    assertEquals(page.versions[0]?.version, record.version);
  }
  const now = new Date().toISOString();
  const gone = await own.request("GET", "/files/a.md", { query: { at: now } });
  assertEquals(assertRefused(gone, "FILE_NOT_FOUND"), { deletedVersion: 3 });
  const before = await own.request("GET", "/files/a.md", { query: { at: await cursorOf(own, "early.txt") } });
  assertEquals(assertRefused(before, "FILE_NOT_FOUND"), {});
  const raw = await own.request("GET", "/files/a.md", {
    query: { at: cursor },
    headers: { accept: "application/octet-stream" },
  });
  assertEquals([raw.status, raw.text], [200, "one"]);
});

test("200: a cursor inside a transaction counts as its end", async () => {
  const own = await files();
  await own.write("a", "1");
  await own.move("a", "b");
  const inside = await cursorOf(own, "a");
  await own.write("a", "2");
  assertEquals((await listAll(own, { recursive: true, at: inside })).map(({ path }) => path), ["b"]);
});

test("400: a moment in the future, of another project, or malformed; with what it excludes", async () => {
  const own = await files();
  const stranger = await files();
  await own.write("a", "1");
  await stranger.write("a", "1");
  const foreign = await cursorOf(stranger, "a");
  const future = new Date(Date.now() + 3_600_000).toISOString();
  for (const at of [foreign, future, "yesterday", "", "2026-02-30", "f".repeat(32)]) {
    for (const path of ["/files/a?", "/files/a?metadata&", "/files/a?versions&", "/files?"]) {
      const answer = await own.request("GET", `${path}at=${encodeURIComponent(at)}`);
      assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), ["at"], `${path} at ${at}`);
    }
  }
  const at = new Date(Date.now() - 1000).toISOString();
  assertRefused(await own.request("GET", "/files/a", { query: { at, version: 1 } }), "VALIDATION_ERROR");
  const excluded = { offset: 1, sortBy: "size", sortOrder: "desc", deleted: true, minSize: 1 };
  for (const [name, value] of Object.entries(excluded)) {
    const answer = await own.request("GET", "/files", { query: { at, [name]: value } });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), [name]);
  }
});

test("a key sees of the past, too, only what lies below its prefix", async () => {
  const account = await owner(service);
  const own = new Files(service, (await account.createKey()).key);
  await own.write("in/a", "1");
  await own.write("out/a", "1");
  const at = await cursorOf(own, "out/a");
  await own.remove("in/a");
  const narrow = new Files(service, (await account.createKey({ pathPrefix: "in" })).key);
  assertEquals((await listAll(narrow, { at, recursive: true })).map(({ path }) => path), ["in/a"]);
  assertEquals((await list(narrow, { at })).directories, ["in"]);
  assertEquals((await list(narrow, { at, directory: "out" })).files, []);
  assertRefused(await narrow.request("GET", "/files/out/a", { query: { at } }), "FILE_NOT_FOUND");
});

/** The records that a client sees at a moment, by path. */
interface Seen {
  readonly cursor: string;
  readonly at: string;
  readonly records: ReadonlyMap<string, z.infer<typeof fileRecord>>;
}

function directoriesOf(paths: readonly string[], directory: string): string[] {
  const start = directory === "" ? "" : `${directory}/`;
  const names = paths.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length))
    .filter((rest) => rest.includes("/")).map((rest) => rest.split("/")[0] ?? "");
  return [...new Set(names)].sort();
}

test("200: lists, folders included, are what a client saw after each of 120 random changes", async () => {
  const own = await files();
  const random = randomFrom(21);
  const names = ["a", "a-b", "a/b", "a/c", "a/b/d", "a0", "d/e/f/g", "d/e-", "d/e/f-g", "z"];
  const current = new Map<string, z.infer<typeof fileRecord>>();
  const seen: Seen[] = [];
  for (let step = 0; step < 120; step++) {
    const path = names[random.below(names.length)] ?? "a";
    let at: string;
    if (current.has(path) && random.below(2) === 0) {
      const answer = await own.request("DELETE", `/files/${encodePath(path)}`);
      at = dataOf(answer, "delete_file", tombstone).updatedAt;
      current.delete(path);
    } else {
      const record = await own.write(path, "x".repeat(step));
      at = record.updatedAt;
      current.set(path, record);
    }
    seen.push({ cursor: await cursorOf(own, path), at, records: new Map(current) });
  }
  const byTime = new Map(seen.map((moment) => [moment.at, moment]));
  for (const [index, moment] of seen.entries()) {
    if (index % 7 !== 0) continue;
    const both = [[moment.cursor, moment], [moment.at, byTime.get(moment.at) ?? moment]] as const;
    for (const [at, { records }] of both) {
      const paths = [...records.keys()].sort();
      const expected = paths.map((path) => records.get(path));
      assertEquals(await listAll(own, { recursive: true, at }), expected as typeof expected & unknown[]);
      for (const directory of ["", "a", "d/e"]) {
        const start = directory === "" ? "" : `${directory}/`;
        const direct = paths.filter((path) =>
          path.startsWith(start) && !path.slice(start.length).includes("/")
        );
        const page = await list(own, { directory, at, limit: 100 });
        assertEquals(page.files.map(({ path }) => path), direct);
        assertEquals(page.directories, directoriesOf(paths, directory), `${directory} at ${index}`);
      }
      const below = await listAll(own, { directory: "a", recursive: true, at });
      assertEquals(below.map(({ path }) => path), paths.filter((path) => path.startsWith("a/")));
    }
  }
});
