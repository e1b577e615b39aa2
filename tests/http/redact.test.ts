/** Redaction: POST /files/redact/{path} erases the content of versions; their numbers stay. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { assertRefused, type Code, dataOf, newLink } from "../support/client/contract.ts";
import { administrator, purge, redact, sweepAll, traces } from "../support/client/erasure.ts";
import { encodePath, type Files, type ProjectFiles } from "../support/client/files.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { privateSuite } from "../support/stack/suite.ts";

const { service, files, test } = await privateSuite({});

/** The names of the project's objects. */
const objectsOf = (own: ProjectFiles) =>
  service.sql("select name from storage.objects where name like $1 || '%'", [own.project.id]);
const assertAllConsistent = () => assertConsistent((statement) => service.sql(statement));
const tryRedact = (own: Files, path: string, body: unknown) =>
  own.request("POST", `/files/redact/${encodePath(path)}`, { body });

test("200: the number stays, the content and the note are gone, and again is the same", async (own) => {
  const admin = await administrator(service, own.project.id);
  await own.write("a", "one");
  await own.put("overwrite", "a", { content: "secret" }, { "x-change-note": "a note", "x-actor": "agent" });
  const cursor = (await own.versions("a")).versions[0]?.cursor ?? "";
  const made = await own.request("POST", "/links", { body: { path: "a", for: "read", version: 2 } });
  const link = dataOf(made, "create_link", newLink);
  await own.write("a", "three");
  assertEquals(await redact(admin, "a", [2], "a password"), { path: "a", versions: [2], remaining: [] });
  const [, second, first] = (await own.versions("a")).versions;
  assertEquals([second?.version, second?.size, second?.note, second?.actor], [2, 6, "a password", "agent"]);
  assertMatch(second?.redactedAt ?? "", /^\d{4}-.*Z$/);
  assertEquals(first?.redactedAt, undefined);
  for (const query of ["version=2", "version=2&metadata", `at=${cursor}`]) {
    const answer = await own.request("GET", `/files/a?${query}`);
    assertEquals(assertRefused(answer, "VERSION_REDACTED"), { version: 2 }, query);
  }
  assertRefused(await own.put("restore", "a", { version: 2 }), "VERSION_REDACTED", "restore_file");
  assertRefused(await own.tryDiff("a", { from: 2, to: 3 }), "VERSION_REDACTED", "diff_file");
  assertRefused(await own.tryDiff("a", { from: 1, to: 2 }), "VERSION_REDACTED", "diff_file");
  const operations = [{ op: "restore", path: "a", version: 2 }];
  assertRefused(await own.request("POST", "/batch", { body: { operations } }), "VERSION_REDACTED", "batch");
  assertEquals((await fetch(link.url)).status, 404);
  assertEquals((await own.read("a", { version: 1 })).content, "one");
  assertEquals((await own.read("a")).content, "three");
  await redact(admin, "a", [2, 2]);
  assertEquals((await own.versions("a")).versions[1], second, "a repeat changes nothing");
  const { text } = await own.request("GET", "/changes");
  assert(!text.includes('"version":2'), "it left the feed");
  await assertAllConsistent();
});

test("422 VERSION_CURRENT for the current version; of a deleted file all can be redacted; refusals change nothing", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("a", "one");
  await own.write("a", "two");
  const refused = async (by: Files, path: string, versions: number[], code: Code) =>
    assertRefused(await tryRedact(by, path, { versions }), code);
  assertEquals(await refused(admin, "a", [1, 2], "VERSION_CURRENT"), { version: 2 });
  assertEquals(await refused(admin, "a", [1, 3], "VERSION_NOT_FOUND"), { latestVersion: 2 });
  assertEquals((await own.read("a", { version: 1 })).content, "one");
  await refused(admin, "none", [1], "FILE_NOT_FOUND");
  assertEquals(await refused(own, "a", [1], "FORBIDDEN_SCOPE"), { scope: "admin" });
  for (const body of [{}, { versions: [] }, { versions: [0] }, { versions: [1], note: "a\nb" }]) {
    assertRefused(await tryRedact(admin, "a", body), "VALIDATION_ERROR");
  }
  await own.remove("a");
  await redact(admin, "a", [1, 2]);
  assertRefused(await own.request("GET", "/files/a?version=2"), "VERSION_REDACTED");
  assertRefused(await own.put("restore", "a", { version: 2 }), "VERSION_REDACTED");
  const next = await own.write("a", "again");
  assertEquals([next.version, (await own.versions("a")).total], [4, 4]);
});

test("200: remaining names what still has a piece of it, other versions and copies", async (own) => {
  const admin = await administrator(service, own.project.id);
  await own.write("a", "secret\n");
  await own.append("a", "more\n");
  await own.copy("a", "b");
  await own.overwrite("a", "clean");
  const copy = { path: "b", version: 1 };
  assertEquals((await redact(admin, "a", [1])).remaining, [{ path: "a", version: 2 }, copy]);
  assertEquals((await redact(admin, "a", [2])).remaining, [copy]);
  await sweepAll(service);
  assertEquals((await own.read("b")).content, "secret\nmore\n");
  await own.overwrite("b", "clean");
  assertEquals((await redact(admin, "a", [1, 2])).remaining, [copy], "again");
  assertEquals((await redact(admin, "b", [1])).remaining, []);
  assertEquals((await redact(admin, "a", [1, 2])).remaining, [], "again, with nothing left");
  await sweepAll(service);
  assertEquals((await objectsOf(own)).length, 2, "the two clean ones");
  await assertAllConsistent();
});

test("what a redacted version shares with other versions of its own file stays", async (own) => {
  const admin = await administrator(service, own.project.id);
  await own.write("a", "kept\n");
  await own.append("a", "secret");
  await own.overwrite("a", "clean");
  assertEquals((await redact(admin, "a", [2])).remaining, [{ path: "a", version: 1 }]);
  await sweepAll(service);
  assertEquals((await own.read("a", { version: 1 })).content, "kept\n");
  await assertAllConsistent();
});

test("an undo of what was redacted is a conflict: gone; a folder as it was leaves the file out", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("dir/a", "secret");
  const { cursor } = (await own.versions("dir/a")).versions[0] ?? { cursor: "" };
  await own.post({ path: "dir/a", content: "by the run" }, { "x-run-id": "r" });
  await redact(admin, "dir/a", [1]);
  const post = async (path: string, body: object) => await own.request("POST", path, { body });
  const plan = await post("/runs/r/undo", {});
  assert(plan.text.includes('"reason":"gone"'), plan.text);
  const undo = await post("/runs/r/undo", { dryRun: false, onConflict: "overwrite" });
  assert(undo.text.includes('"actions":[]'), undo.text);
  const restore = await post("/restore", { directory: "dir", at: cursor, dryRun: false });
  assert(restore.text.includes('"trimmed":["dir/a"]'), restore.text);
  const copy = await post(`/folders/copy?at=${cursor}`, { path: "dir", destination: "to" });
  assertRefused(copy, "FILE_NOT_FOUND");
  assertEquals((await own.read("dir/a")).content, "by the run");
});

/** Writes a file "a" with "secret" in versions 1 and 3, and more versions than one redaction examines. Returns its id. */
async function longHistory(own: ProjectFiles): Promise<string | undefined> {
  await own.write("a", "secret");
  await own.write("a", "kept ");
  await own.put("restore", "a", { version: 1 });
  await own.append("a", " and more");
  const [file] = await service.sql<{ id: string }>(
    "select id from filestore.files where project_id = $1 and path = 'a'",
    [own.project.id],
  );
  // Empty versions between them, more than one redaction examines.
  await service.sql(
    `insert into filestore.file_versions (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
     select v.project_id, v.file_id, n, v.mime_type, 0, '{}', gen_random_uuid(), v.created_at
     from filestore.file_versions v, generate_series(5, 10100) n where v.file_id = $1 and v.version = 4`,
    [file?.id],
  );
  await service.sql(
    `with moved as (
       update filestore.files f set version = 10100, size = 0, segment_ids = '{}' where f.id = $1 returning f.project_id)
     insert into filestore.project_usage (project_id, shard, database_bytes, versions)
     select m.project_id, 63, 10096 * 512, 10096 from moved m
     on conflict (project_id, shard) do update
       set database_bytes = project_usage.database_bytes + excluded.database_bytes,
           versions = project_usage.versions + excluded.versions`,
    [file?.id],
  );
  return file?.id;
}

test("a file of more versions than are looked at at once: the sweep finds what they still need, and no byte else goes", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  const id = await longHistory(own);
  const examined = async () =>
    (await service.sql("select from filestore.possibly_unreferenced_segments where file_id = $1", [id]))
      .length;
  await redact(admin, "a", [2, 4]);
  // The sweep examines the first versions, then others. What is erased meanwhile does not belong to this pass.
  await service.sql("select public.filestore_sweep_erasures('marks')");
  await redact(admin, "a", [1]);
  assertEquals(await examined(), 3, "secret, kept and more");
  await sweepAll(service);
  assertEquals((await own.read("a", { version: 3 })).content, "secret");
  assertEquals(await examined(), 0);
  assertEquals((await objectsOf(own)).length, 1);
  assertEquals((await purge(admin, "a")).pendingVersions, 100);
  await sweepAll(service);
  const left = await service.sql("select version from filestore.file_versions where file_id = $1", [id]);
  assertEquals(left, [{ version: 10101 }], "the receipt");
  assertEquals(await objectsOf(own), []);
});

test("what is erased after a pass has found it needed is found by the next one", async (own) => {
  const admin = await administrator(service, own.project.id);
  await longHistory(own);
  await redact(admin, "a", [1]);
  await service.sql("select public.filestore_sweep_erasures('marks')");
  await redact(admin, "a", [2, 3, 4]);
  await sweepAll(service);
  assertEquals(await objectsOf(own), []);
});

test("canary: no trace of a redacted version in any table or object after one complete sweep", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  const canary = crypto.getRandomValues(new Uint8Array(32)).toHex();
  const content = `before ${canary} after ${"and more words ".repeat(200)}`;
  const headers = { "x-change-note": `because ${canary}`, "idempotency-key": "first" };
  assertEquals((await own.post({ path: "a.md", content }, headers)).status, 200);
  await sweepAll(service);
  assert((await traces(service, canary)).length > 2, "it was there");
  await own.edit("a.md", canary, "nothing");
  await redact(admin, "a.md", [1]);
  await sweepAll(service);
  assertEquals(await traces(service, canary), []);
  assertEquals((await own.read("a.md")).content.slice(0, 20), "before nothing after");
});
