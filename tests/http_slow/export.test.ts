/** GET /export: the files of a directory as one archive that common tools accept, or a refusal. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import {
  EXPORT_BYTES_MAX,
  EXPORT_FILES_MAX,
  EXPORT_SEGMENTS_MAX,
} from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import { type Answer, assertRefused, issuePaths } from "../support/client/contract.ts";
import type { RequestOptions } from "../support/client/api.ts";
import { Files, type ProjectFiles } from "../support/client/files.ts";
import { trafficOf } from "../support/client/traffic.ts";
import { patternBytes } from "../support/content/streams.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const MIB = 1024 * 1024;

type Query = NonNullable<RequestOptions["query"]>;

/** Python's zipfile lists each entry, after it has checked every checksum. */
const READ_ENTRIES = `
import sys, json, zipfile, hashlib
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
print(json.dumps([[i.filename, i.file_size, i.compress_type, list(i.date_time), i.flag_bits & 0x800,
    hashlib.sha256(z.read(i)).hexdigest()] for i in z.infolist()]))`;

type Entry = readonly [string, number, number, readonly number[], number, string];

async function run(program: string, args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args] }).output();
  const [out, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, `${program}: ${out}${error}`);
  return out ?? "";
}

/** The entries of an archive. Throws unless `unzip -t` and Python accept it. */
async function entriesOf(archive: Uint8Array): Promise<readonly Entry[]> {
  return await withScratchDirectory(async (folder) => {
    const file = join(folder, "a.zip");
    await Deno.writeFile(file, archive);
    await run("unzip", ["-tqq", file]);
    return JSON.parse(await run("python3", ["-c", READ_ENTRIES, file]));
  });
}

function ask(own: Files, query: Query = {}): Promise<Answer> {
  return own.request("GET", "/export", { query });
}

async function archive(own: Files, query: Query = {}): Promise<readonly Entry[]> {
  const answer = await ask(own, query);
  assertEquals(answer.status, 200, answer.text.slice(0, 300));
  assertEquals(answer.headers.get("content-type"), "application/zip");
  assertEquals(answer.headers.get("content-length"), String(answer.bytes.length));
  return await entriesOf(answer.bytes);
}

const namesOf = (entries: readonly Entry[]) => entries.map(([name]) => name);

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

const refused = async (own: Files, query: Query = {}) =>
  assertRefused(await ask(own, query), "EXPORT_TOO_LARGE", "export_files");

async function fill(own: ProjectFiles, count: number): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const numbers = Array.from({ length: Math.min(100, count - from) }, (_, index) => `${from + index}`);
    const operations = numbers.map((content) => ({ op: "write", path: `many/${content}`, content }));
    assertEquals((await own.request("POST", "/batch", { body: { operations } })).status, 200);
  }
}

test("200: names, bytes and times of the current files, as unzip and Python read them", async () => {
  const own = await files();
  const large = patternBytes(0, 3 * MIB + 5);
  const contents: Record<string, Uint8Array<ArrayBuffer>> = {
    "Notizen/Über uns \u{1f600}.md": new TextEncoder().encode("größer"),
    "a": new TextEncoder().encode("also a folder"),
    "a/b.bin": large,
    "empty.txt": new Uint8Array(0),
    "z/..hidden": new Uint8Array([0]),
  };
  const records = new Map<string, string>();
  for (const [path, bytes] of Object.entries(contents)) {
    records.set(path, (await own.writeRaw(path, bytes)).updatedAt);
  }
  await own.write("gone.txt", "gone");
  await own.remove("gone.txt");
  const entries = await archive(own);
  const paths = Object.keys(contents);
  assertEquals(namesOf(entries), paths, "whole paths, by path");
  for (const [name, size, method, time, isUtf8, sha256] of entries) {
    const bytes = contents[name] ?? new Uint8Array(0);
    assertEquals([size, sha256], [bytes.length, await digest(bytes)], name);
    assertEquals([method, isUtf8], [0, 0x800], "stored, and the name is UTF-8");
    const updatedAt = new Date(records.get(name) ?? "");
    const shown = Date.UTC(time[0] ?? 0, (time[1] ?? 0) - 1, ...time.slice(2));
    assertEquals(shown, Math.floor(updatedAt.getTime() / 2000) * 2000, "in UTC, to the even second");
  }
});

test("200: no entry has a name that Windows takes for another place, or cannot hold; each has one of its own", async () => {
  const own = await files();
  const mapped: Record<string, string> = {
    "C%3A/x": "C%3A/x",
    "C:/x": "C%3A/x~1",
    "a/con/nul.txt": "a/_con/_nul.txt",
    "c:x": "c%3Ax",
    "end./here ": "end%2E/here%20",
    "plain.txt": "plain.txt",
  };
  for (const path of Object.keys(mapped)) await own.write(path, path);
  const entries = await archive(own);
  assertEquals(namesOf(entries), Object.values(mapped));
  for (const [index, path] of Object.keys(mapped).entries()) {
    assertEquals(entries[index]?.[5], await digest(new TextEncoder().encode(path)), path);
  }
});

test("200: a directory alone; the name that a browser saves it under is the directory's", async () => {
  const own = await files();
  for (const path of ["a/x", "a/b/y", "ab", "b/z"]) await own.write(path, path);
  assertEquals(namesOf(await archive(own, { directory: "/a/" })), ["a/b/y", "a/x"]);
  const { headers } = await ask(own, { directory: "a/b" });
  assertEquals(headers.get("content-disposition"), 'attachment; filename="b.zip"');
  assertEquals((await ask(own)).headers.get("content-disposition"), 'attachment; filename="files.zip"');
  const head = await own.request("HEAD", "/export");
  assertEquals([head.status, head.bytes.length], [200, 0]);
  assertRefused(await ask(own, { directory: "nothing" }), "FILE_NOT_FOUND", "export_files");
});

test("200 with at: the directory as it was, by time and by cursor", async () => {
  const own = await files();
  await own.write("d/changed.txt", "one");
  await own.write("d/deleted.txt", "still there");
  const { versions } = await own.versions("d/deleted.txt");
  const [cursor, at] = [versions[0]?.cursor ?? "", versions[0]?.createdAt ?? ""];
  await new Promise((resolve) => setTimeout(resolve, 3));
  await own.write("d/changed.txt", "another one");
  await own.write("d/new.txt", "new");
  await own.remove("d/deleted.txt");
  for (const moment of [cursor, at]) {
    const entries = await archive(own, { directory: "d", at: moment });
    assertEquals(entries.map(([name, size]) => [name, size]), [["d/changed.txt", 3], ["d/deleted.txt", 11]]);
  }
  assertEquals(namesOf(await archive(own)), ["d/changed.txt", "d/new.txt"]);
  const refusal = assertRefused(await ask(own, { at: "2999-01-01" }), "VALIDATION_ERROR", "export_files");
  assertEquals(issuePaths(refusal), ["at"]);
});

test("404 with at, naming the paths, where a version of that time is gone: no archive lacks a file silently", async () => {
  const own = await files();
  await own.write("d/a.txt", "one");
  await own.write("d/whole.txt", "whole");
  const { versions: [first] } = await own.versions("d/whole.txt");
  await new Promise((resolve) => setTimeout(resolve, 3));
  for (const content of ["two", "three"]) await own.write("d/a.txt", content);
  await service.sql(
    "delete from filestore.file_versions v using filestore.files f where f.id = v.file_id " +
      "and f.project_id = $1 and f.path = 'd/a.txt' and v.version < 3",
    [own.project.id],
  );
  const details = assertRefused(await ask(own, { at: first?.createdAt ?? "" }), "FILE_NOT_FOUND");
  assertEquals(details["trimmed"], ["d/a.txt"]);
});

test("a key with a prefix gets what is below it alone", async () => {
  const account = await owner(service);
  const key = await account.createKey({ name: "narrow", scopes: ["read"], pathPrefix: "p" });
  const whole = new Files(service, (await account.createKey({ name: "whole" })).key);
  for (const path of ["p/a", "p/b/c", "pq", "q/z"]) await whole.write(path, path);
  const narrow = new Files(service, key.key);
  for (const directory of ["/", "p"]) {
    assertEquals(namesOf(await archive(narrow, { directory })), ["p/a", "p/b/c"]);
  }
  assertEquals(namesOf(await archive(narrow, { directory: "p/b" })), ["p/b/c"]);
  for (const directory of ["q", "pq", "nothing"]) {
    assertRefused(await ask(narrow, { directory }), "FILE_NOT_FOUND", "export_files");
  }
});

test("422 EXPORT_TOO_LARGE from 501 files on, naming how many there are; 500 go out in one call", async () => {
  const own = await files();
  await fill(own, EXPORT_FILES_MAX + 2);
  const details = await refused(own);
  assertEquals([details["files"], details["limitFiles"]], [EXPORT_FILES_MAX + 2, EXPORT_FILES_MAX]);
  assertEquals((await refused(own, { at: new Date().toISOString() }))["files"], EXPORT_FILES_MAX + 1);
  for (const path of ["many/0", "many/1"]) await own.remove(path);
  const { database, gets } = await trafficOf(service, async () => {
    assertEquals((await archive(own)).length, EXPORT_FILES_MAX);
  });
  assertEquals(database, ["filestore_export"]);
  assert(gets <= EXPORT_FILES_MAX, `${gets} downloads`);
});

test("422 EXPORT_TOO_LARGE over 50 MiB, and of too many stored pieces; nothing is read", async () => {
  const own = await files();
  for (let index = 0; index < 5; index++) {
    await own.writeRaw(`${index}.bin`, new Uint8Array(EXPORT_BYTES_MAX / 5));
  }
  assertEquals((await archive(own)).length, 5, "exactly as much is sent");
  await own.write("more", "x");
  const { gets } = await trafficOf(service, async () => {
    const details = await refused(own);
    assertEquals([details["sizeBytes"], details["limitBytes"]], [EXPORT_BYTES_MAX + 1, EXPORT_BYTES_MAX]);
  });
  assertEquals(gets, 0);
  const other = await files();
  await other.write("f", "x");
  await service.sql(
    "update filestore.files set segment_ids = array_fill(segment_ids[1], array[$2::integer]) where project_id = $1",
    [other.project.id, EXPORT_SEGMENTS_MAX + 1],
  );
  const details = await refused(other);
  assertEquals(details["segments"], EXPORT_SEGMENTS_MAX + 1);
  assertEquals(details["limitSegments"], EXPORT_SEGMENTS_MAX);
});

test("a damaged segment is 500 before the first byte; later it breaks the connection, never a whole archive", async () => {
  const own = await files();
  await own.writeRaw("a.bin", patternBytes(0, 2 * MIB));
  await own.writeRaw("b.bin", patternBytes(7, 2 * MIB));
  const rows = await service.sql<{ ids: string[] }>(
    "select segment_ids as ids from filestore.files where project_id = $1 order by path",
    [own.project.id],
  );
  const damage = async (id = "?") => {
    const object = service.objectsOnDisk().find((path) => path.endsWith(id)) ?? "";
    await Deno.writeFile(object, new Uint8Array((await Deno.stat(object)).size));
    await service.restartFunction();
  };
  await damage(rows[1]?.ids.at(-1));
  const response = await fetch(`${service.baseUrl}/export`, { headers: { "x-api-key": own.key } });
  assertEquals(response.status, 200);
  assertEquals(await response.arrayBuffer().then(() => "complete", () => "broken"), "broken");
  await damage(rows[0]?.ids[0]);
  assertRefused(await ask(own), "CONTENT_CORRUPT", "export_files");
});

test("400 where a parameter is wrong; 403 without the scope", async () => {
  const own = await files();
  assertRefused(await ask(own, { directory: "a//b" }), "INVALID_PATH", "export_files");
  assertRefused(await ask(own, { at: "soon" }), "VALIDATION_ERROR", "export_files");
  const account = await owner(service);
  const writer = new Files(service, (await account.createKey({ name: "w", scopes: ["write"] })).key);
  assertRefused(await ask(writer), "FORBIDDEN_SCOPE", "export_files");
});
