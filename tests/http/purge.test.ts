/** Purge: DELETE /files/{path}?purge erases a file with all of its versions, for good. */
import { assert, assertEquals } from "@std/assert";
import { COMPACTION_CHECK_EVERY_SEGMENTS } from "../../supabase/functions/api/limits.ts";
import { TARIFF_SEGMENT_BYTES } from "../support/client/tariff.ts";
import { owner } from "../support/client/accounts.ts";
import {
  assertRefused,
  changePage,
  dataOf,
  newLink,
  ownersChangePage,
  purgeRecord,
} from "../support/client/contract.ts";
import { administrator, purge, redact, sweepAll, traces } from "../support/client/erasure.ts";
import { encodePath, Files, type ProjectFiles } from "../support/client/files.ts";
import { eventually } from "../support/eventually.ts";
import { privateSuite } from "../support/stack/suite.ts";

const { service, files, test } = await privateSuite({});

const tryPurge = (own: Files, path: string, headers: Record<string, string> = {}) =>
  own.request("DELETE", `/files/${encodePath(path)}?purge`, { headers });
/** The names of the project's objects. */
const objectsOf = (own: ProjectFiles) =>
  service.sql("select name from storage.objects where name like $1 || '%'", [own.project.id]);
const secret = () => crypto.getRandomValues(new Uint8Array(32)).toHex();

async function usage({ project }: ProjectFiles) {
  const [row] = await service.sql<{ bytes: number; rows: number; versions: number }>(
    `select sum(bytes)::int as bytes, sum(database_bytes)::int as rows, sum(versions)::int as versions
     from filestore.project_usage where project_id = $1`,
    [project.id],
  );
  if (!row) throw new Error("no usage");
  return row;
}

test("200: nothing of the file can be read any more, by any way, and a new file there begins at 1 with another id", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("kept.md", "kept");
  const first = await own.write("dir/a.md", "one");
  const cursor = (await own.versions("dir/a.md")).versions[0]?.cursor ?? "";
  await own.append("dir/a.md", " two");
  await own.write("dir/a.md", "three");
  const link = await own.request("POST", "/links", { body: { path: "dir/a.md", for: "read" } });
  const before = new Date().toISOString();
  const purged = { path: "dir/a.md", versions: 3, bytes: 12, pendingVersions: 0 };
  assertEquals(await purge(admin, "dir/a.md"), purged);
  for (const query of ["", "?version=1", "?metadata", "?versions", `?at=${before}`, `?at=${cursor}`]) {
    assertRefused(await own.request("GET", `/files/dir/a.md${query}`), "FILE_NOT_FOUND");
  }
  assertRefused(await own.put("restore", "dir/a.md", { version: 1 }), "FILE_NOT_FOUND");
  assertRefused(await own.put("copy", "dir/a.md", { destination: "b" }), "FILE_NOT_FOUND");
  assertRefused(await own.tryDiff("dir/a.md"), "FILE_NOT_FOUND");
  for (const query of ["", "&deleted=true", `&at=${before}`, `&at=${cursor}`]) {
    const list = await own.request("GET", `/files?recursive=true${query}`);
    assertEquals([list.status, list.text.includes("dir/a.md")], [200, false], query);
  }
  assertEquals((await own.list()).directories, []);
  assertEquals((await fetch(dataOf(link, "create_link", newLink).url)).status, 404);
  assertRefused(await tryPurge(admin, "dir/a.md"), "FILE_NOT_FOUND", "purge_file");
  const again = await own.write("dir/a.md", "new");
  assertEquals([again.version, again.id === first.id], [1, false]);
  assertEquals((await own.versions("dir/a.md")).total, 1);
  assertEquals((await own.read("kept.md")).content, "kept");
});

test("200: a deleted file is purged like any other, and only with the scope admin", async (own) => {
  await own.write("a", "x");
  await own.remove("a");
  const refused = assertRefused(await tryPurge(own, "a"), "FORBIDDEN_SCOPE", "purge_file");
  assertEquals(refused, { scope: "admin" });
  assertEquals((await own.versions("a")).total, 2);
  const admin = await administrator(service, own.project.id);
  assertEquals((await purge(admin, "a")).versions, 2);
  assertRefused(await own.request("GET", "/files/a?versions"), "FILE_NOT_FOUND");
  assertRefused(await tryPurge(admin, "never"), "FILE_NOT_FOUND", "purge_file");
  assertRefused(await admin.request("DELETE", "/files/a?purge=1"), "VALIDATION_ERROR");
  await own.write("b", "x");
  const plain = await admin.request("DELETE", "/files/b?purge=false");
  assertEquals([plain.status, (await own.versions("b")).total], [200, 2]);
});

test("200: the owner purges from the console", async () => {
  const account = await owner(service);
  await account.request("POST", "/files", { body: { path: "a", content: "x" } });
  const { versions } = dataOf(await account.request("DELETE", "/files/a?purge"), "purge_file", purgeRecord);
  assertEquals(versions, 1);
});

test("200: preconditions hold, and a repeat with the same Idempotency-Key gives the same answer without the path in it", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  const { id } = await own.write("a", "x");
  const stale = await tryPurge(admin, "a", { "if-match": `"${id}.2.j"` });
  assertRefused(stale, "PRECONDITION_FAILED", "purge_file");
  const headers = { "if-match": `"${id}.1.j"`, "idempotency-key": "once" };
  const first = await purge(admin, "a", headers);
  const again = await tryPurge(admin, "a", headers);
  assertEquals(dataOf(again, "purge_file", purgeRecord), first);
  assertEquals(again.headers.get("Idempotency-Replayed"), "true");
  const stored = await service.sql(
    "select response from filestore.idempotency_keys where project_id = $1 and key = 'once'",
    [own.project.id],
  );
  assertEquals(stored, [{ response: { versions: 1, bytes: 1, pendingVersions: 0 } }]);
});

test("200: what other files have of it stays readable, whatever it was copied or moved through", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("a", "shared ");
  await own.append("a", "piece");
  await own.copy("a", "b");
  await own.move("b", "c");
  await own.append("c", " and more");
  await own.append("a", " of a alone");
  await purge(admin, "a");
  await sweepAll(service);
  assertEquals((await own.read("c")).content, "shared piece and more");
  assertEquals((await own.read("b", { version: 1 })).content, "shared piece");
  const origins = async (path: string) => (await own.versions(path)).versions.map(({ from }) => from);
  assertEquals(await origins("c"), [undefined, { path: "b", version: 1 }]);
  assertEquals(await origins("b"), [undefined, undefined]);
  await purge(admin, "c");
  await sweepAll(service);
  assertEquals((await own.read("b", { version: 1 })).content, "shared piece");
  await purge(admin, "b");
  await sweepAll(service);
  assertEquals(await objectsOf(own), []);
});

test("200: the usage goes down with the rows, and only a receipt is left to pay for", async (own) => {
  const admin = await administrator(service, own.project.id);
  await own.write("kept", "kept");
  const before = await usage(own);
  await own.write("deep/dir/a.md", "words");
  await own.append("deep/dir/a.md", " and more", {});
  await own.copy("deep/dir/a.md", "b.md");
  const said = { "x-actor": "agent", "x-change-note": "why", "x-run-id": "r" };
  await own.put("overwrite", "b.md", { content: "other" }, said);
  await purge(admin, "deep/dir/a.md");
  await purge(admin, "b.md");
  const after = await usage(own);
  assertEquals(after, { bytes: before.bytes, rows: before.rows + 2 * 1024, versions: before.versions + 2 });
});

test("the feed shows one receipt without path and note, to keys whose prefix covered the file, too; cursors stay valid", async () => {
  const account = await owner(service);
  const by = async (fields: Record<string, unknown>) =>
    new Files(service, (await account.createKey(fields)).key);
  const own = await by({ scopes: ["read", "write", "admin"] });
  const [below, beside] = [await by({ pathPrefix: "dir/deep" }), await by({ pathPrefix: "dir/other" })];
  const all = async (by: Files, query: Record<string, string> = {}) => {
    const answer = await by.request("GET", "/changes", { query });
    return dataOf(answer, "list_changes", by === own ? ownersChangePage : changePage);
  };
  await own.write("dir/other/x", "1");
  const { id } = await own.write("dir/deep/a", "1");
  const { cursor } = await all(own);
  await own.append("dir/deep/a", "2");
  await own.copy("dir/deep/a", "dir/other/copy");
  await purge(own, "dir/deep/a", { "x-actor": "cleaner", "x-change-note": "not kept" });
  const { changes } = await all(own, { after: cursor });
  assertEquals(changes.map(({ path, operation, version, from }) => [path, operation, version, from]), [
    ["dir/other/copy", "copy", 1, undefined],
    [undefined, "purge", 3, undefined],
  ]);
  const receipt = changes[1];
  assertEquals([receipt?.fileId, receipt?.note], [id, undefined]);
  assertEquals([receipt?.actor, receipt?.deleted], ["cleaner", true]);
  const seen = (await all(below)).changes;
  assertEquals(seen.map(({ fileId, operation }) => [fileId, operation]), [[id, "purge"]]);
  assertEquals((await all(beside)).changes.map(({ path }) => path), ["dir/other/x", "dir/other/copy"]);
  for (const query of [{ directory: "dir" }, { directory: "dir/deep" }, { path: "dir/deep/a" }, {}]) {
    const found = await all(own, { ...query, operation: "purge" });
    assertEquals(found.changes.length, 1, JSON.stringify(query));
  }
  for (const query of [{ directory: "dir/deep/a" }, { path: "dir/deep" }, { directory: "dir/other" }]) {
    assertEquals((await all(own, { ...query, operation: "purge" })).changes, [], JSON.stringify(query));
  }
});

test("an edit that was planned before a purge is not made of the file that took its place", async (own) => {
  const admin = await administrator(service, own.project.id);
  // The compaction that the last append makes due runs before the purge or after it.
  const fill = async (text: string) => {
    await own.write("log", text);
    for (let n = 1; n < 8; n++) await own.append("log", text);
  };
  await fill("secret\n");
  await purge(admin, "log");
  await fill("new\n");
  await own.append("log", "end\n");
  const { content } = await own.read("log");
  assert(!content.includes("secret"), content);
  assertEquals(content.split("\n").length, 10);
});

/** Whether the current list of the project's file differs from that of its last version. */
async function isCompacted(own: ProjectFiles): Promise<boolean> {
  const [file] = await service.sql<{ isCompacted: boolean }>(
    `select f.segment_ids <> v.segment_ids as "isCompacted" from filestore.files f
     join filestore.file_versions v on v.file_id = f.id and v.version = f.version
     where f.project_id = $1 and f.path = 'log'`,
    [own.project.id],
  );
  return file?.isCompacted === true;
}

/** The file has one segment. Appends until the first compaction is due and done. */
async function appendUntilCompacted(own: ProjectFiles, text: string): Promise<void> {
  for (let segments = 1; segments < COMPACTION_CHECK_EVERY_SEGMENTS; segments++) {
    await own.append("log", text);
  }
  await eventually("the compaction", () => isCompacted(own));
}

test("what a compaction made stays in its file, though a copy that had it in a version was purged", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("log", "line\n");
  await appendUntilCompacted(own, "line\n");
  const { content } = await own.read("log");
  await own.copy("log", "copy");
  await purge(admin, "copy");
  assert(await isCompacted(own));
  for (const pass of ["first", "second"]) {
    await sweepAll(service);
    assertEquals((await own.read("log")).content, content, pass);
    await own.copy("log", "copy");
    await purge(admin, "copy");
  }
  await purge(admin, "log");
  await sweepAll(service);
  assertEquals(await objectsOf(own), []);
});

const PASSINGS: Readonly<Record<string, (own: ProjectFiles, admin: Files) => Promise<unknown>>> = {
  "deleted": (own) => own.remove("log"),
  "overwritten": (own) => own.write("log", "another text"),
  "overwritten, and a version redacted before": async (own, admin) => {
    await redact(admin, "log", [1]);
    await own.write("log", "another text");
  },
};

for (const [what, pass] of Object.entries(PASSINGS)) {
  test(`what a compaction made and no version got goes, too, where the file was ${what}`, async (own) => {
    const admin = await administrator(service, own.project.id);
    const canary = secret();
    await own.write("log", canary);
    await appendUntilCompacted(own, canary);
    await pass(own, admin);
    await purge(admin, "log");
    await sweepAll(service);
    assertEquals(await traces(service, canary), []);
  });
}

test("segments of trimmed versions that nobody has settled yet go with the file, however many they are", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("a", "1");
  const [limits] = await service.sql<{ most: number }>(
    "select (filestore.limits()).erased_versions_max as most",
  );
  // As if a retention rule had trimmed versions with many segments each.
  await service.sql(
    `with trimmed as (
       insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
       select gen_random_uuid(), $1, '2020-01-01', 1, sha256('x'), 0, false, true from generate_series(1, $2) returning id
     ), noted as (
       insert into filestore.possibly_unreferenced_segments (project_id, file_id, segment_id)
       select $1, f.id, t.id from trimmed t, filestore.files f where f.project_id = $1
     )
     insert into filestore.project_usage (project_id, shard, bytes, database_bytes) values ($1, 63, $2, $2 * $3::bigint)
     on conflict (project_id, shard) do update
       set bytes = project_usage.bytes + excluded.bytes,
           database_bytes = project_usage.database_bytes + excluded.database_bytes`,
    [own.project.id, (limits?.most ?? 0) + 3000, TARIFF_SEGMENT_BYTES],
  );
  assertEquals((await purge(admin, "a")).pendingVersions, 0);
  await sweepAll(service);
  const left = await service.sql("select from filestore.segments where project_id = $1", [own.project.id]);
  assertEquals(left.length, 1, "that of today, until nothing of today can be committed any more");
  assertEquals(await usage(own), { bytes: 0, rows: 1024, versions: 1 });
});

test("canary: no trace in any table, object, list, search or answer after a purge and one complete sweep", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  const canary = secret();
  const path = `dir-${canary}/file-${canary}.md`;
  const headers = { "x-change-note": `because ${canary}`, "idempotency-key": "first" };
  const body = { path, content: `before ${canary} after, ${"and more words ".repeat(200)}` };
  assertEquals((await own.request("POST", "/files", { body, headers })).status, 200);
  const edit = { oldString: "before", newString: "behind" };
  await own.put("edit", path, edit, { ...headers, "idempotency-key": "second" });
  await own.request("POST", "/links", { body: { path, for: "read" } });
  await own.copy(path, `copy-${canary}`);
  await sweepAll(service);
  assert((await traces(service, canary)).length > 5, "it was there");
  await purge(admin, path, { "idempotency-key": "purge" });
  await own.remove(`copy-${canary}`);
  await purge(admin, `copy-${canary}`);
  await sweepAll(service);
  assertEquals(await traces(service, canary), []);
  const lists = ["/files?recursive=true", "/files?deleted=true", "/changes", "/links", "/runs"];
  for (const list of [...lists, `/search?q=${canary}`]) {
    const answer = await own.request("GET", list);
    assertEquals([answer.status, answer.text.includes(canary)], [200, false], list);
  }
});
