/** `deno task verify` reports every version whose bytes are missing, and no other, and never removes needed data. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { StartupError } from "../../supabase/local/startup_error.ts";
import {
  newVerification,
  type Verification,
  verification,
  verify,
} from "../../supabase/local/admin/verification.ts";
import { administrator, purge, redact, sweepAll } from "../support/client/erasure.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { patternBytes } from "../support/content/streams.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { runCommand } from "../support/stack/command.ts";
import { suite, test } from "../support/stack/suite.ts";
import { TARIFF_SEGMENT_BYTES } from "../support/client/tariff.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const PAGE_VERSIONS = sqlNumber("63_verify.sql", "c_page_versions");

const { service, files } = await suite();

const operator = () => new Administration(service.stack.supabaseUrl, service.stack.secretKey);

async function check(own: ProjectFiles, ...options: string[]) {
  const { supabaseUrl, secretKey } = service.stack;
  const project = ["--project", own.project.id, "--url", supabaseUrl, "--secret-key", secretKey];
  const { code, stdout, stderr } = await runCommand("verify.ts", ...project, "--json", ...options);
  if (stdout === "") return { code, stderr, found: undefined, paths: [] };
  const found = JSON.parse(stdout);
  const paths = found.unreadable.map(({ path, version }: { path: string; version: number }) =>
    `${path} ${version}`
  );
  return { code, stderr, found, paths };
}

/** What the command finds, found in this process. */
async function verified(own: ProjectFiles, repairs = false) {
  const state = newVerification(false);
  await verify(operator(), state, { projectId: own.project.id, repairs, onSlice: () => Promise.resolve() });
  return { ...state, paths: state.unreadable.map(({ path, version }) => `${path} ${version}`) };
}

/** The object of a segment of the file; a negative index counts from the end. */
async function objectOf(own: ProjectFiles, path: string, index = 0): Promise<string> {
  const [row] = await service.sql<{ ids: string[] }>(
    "select segment_ids as ids from filestore.files where project_id = $1 and path = $2",
    [own.project.id, path],
  );
  const id = row?.ids.at(index) ?? "?";
  const object = service.objectsOnDisk().find((name) => name.endsWith(id));
  if (object === undefined) throw new Error(`${path} has no object`);
  return object;
}

/** Uploads an object that no commit names. Returns its name. */
async function upload(projectId: string, day: string): Promise<string> {
  const name = `${projectId}/${day}/${crypto.randomUUID()}`;
  const { supabaseUrl, secretKey } = service.stack;
  const response = await fetch(`${supabaseUrl}/storage/v1/object/filestore-segments/${name}`, {
    method: "POST",
    headers: {
      apikey: secretKey,
      authorization: `Bearer ${secretKey}`,
      "content-type": "application/octet-stream",
    },
    body: "never committed",
  });
  assertEquals(response.status, 200, await response.text());
  return name;
}

const isStored = (name: string) => service.objectsOnDisk().some((object) => object.endsWith(name));

const objectsOf = (own: ProjectFiles) =>
  service.objectsOnDisk().filter((name) => name.includes(own.project.id)).sort();

test("each version whose bytes are missing, short or others is named, and no other one; --repair touches none of them", async () => {
  const own = await files();
  for (const path of ["a", "b", "c", "d/e"]) await own.write(path, `of ${path}`);
  await own.append("a", "more");
  await own.append("a", "and more");
  await own.write("c", "whole again");
  await own.writeRaw("large.bin", patternBytes(0, 2_500_000));
  await own.remove("d/e");
  const sound = await check(own, "--sha256");
  assertEquals([sound.code, sound.found.versions, sound.found.unreadableCount], [0, 9, 0], sound.stderr);
  assertEquals(sound.found.segments, 10, "each segment is looked at once");
  // The other versions contain the segment of the first version of `a`, too.
  await Deno.remove(await objectOf(own, "a"));
  await Deno.truncate(await objectOf(own, "b"), 2);
  const flipped = await objectOf(own, "large.bin", -1);
  await Deno.writeFile(flipped, new Uint8Array((await Deno.stat(flipped)).size));
  await service.sql(
    "delete from filestore.segments s using filestore.files f where f.path = 'd/e' and " +
      "f.project_id = $1 and s.project_id = $1 and s.id = (select v.segment_ids[1] from filestore.file_versions v " +
      "where v.file_id = f.id and v.version = 1)",
    [own.project.id],
  );
  const before = [await service.tables(), objectsOf(own)];
  const quick = await check(own, "--repair");
  assertEquals([quick.code, quick.paths], [1, ["a 1", "a 2", "a 3", "b 1", "d/e 1"]]);
  assertStringIncludes(quick.stderr, "5 of 9 versions cannot be read");
  const whole = await check(own, "--repair", "--sha256");
  assertEquals(whole.paths, ["a 1", "a 2", "a 3", "b 1", "d/e 1", "large.bin 1"]);
  const reasons = whole.found.unreadable.map(({ reason }: { reason: string }) =>
    reason.replace(/[0-9a-f/-]{20,}/, "X")
  );
  assertEquals(reasons.slice(2), [
    "X is missing",
    "X has 2 bytes instead of 4",
    "segment X has no row",
    "X has a different SHA-256 than recorded",
  ]);
  assertEquals([await service.tables(), objectsOf(own)], before);
});

test("objects of swept days that have no row are counted, and removed with --repair alone; those of other days stay", async () => {
  const own = await files();
  await own.write("kept.txt", "kept");
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const names = await Promise.all(["20200101", today, "20990101"].map((day) => upload(own.project.id, day)));
  const left = () => names.map(isStored);
  const sweptThrough = (day: string) =>
    service.sql(
      "insert into filestore.sweeps (project_id, swept_through) values ($1, $2) on conflict (project_id) do update " +
        "set swept_through = excluded.swept_through",
      [own.project.id, day],
    );
  assertEquals((await verified(own)).unneeded, 0, "the sweep takes them itself");
  await sweptThrough("2020-06-01");
  assertEquals([(await verified(own)).unneeded, left()], [1, [true, true, true]]);
  await verified(own, true);
  assertEquals(left(), [false, true, true]);
  await sweptThrough(new Date().toISOString().slice(0, 10));
  const found = await verified(own, true);
  assertEquals([found.unneeded, found.removed, left()], [1, 1, [false, false, true]]);
  await service.restartFunction();
  assertEquals((await own.read("kept.txt")).content, "kept");
});

/** Adds a row for an object as long as those of `upload`, as a commit would; it counts towards the usage. */
async function addRow(name: string): Promise<void> {
  const [projectId, day, id] = name.split("/");
  const size = "never committed".length;
  await service.sql(
    `insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
     values ($1, $2, to_date($3, 'YYYYMMDD'), $4, sha256('x'), 0, false, true)`,
    [id, projectId, day, size],
  );
  await service.sql(
    `insert into filestore.project_usage (project_id, shard, bytes, database_bytes) values ($1, 63, $2, $3)
     on conflict (project_id, shard) do update
       set bytes = project_usage.bytes + $2, database_bytes = project_usage.database_bytes + $3`,
    [projectId, size, TARIFF_SEGMENT_BYTES],
  );
}
/** Acts as if all of a project had been uploaded on that day. */
const storeOn = (projectId: string, day: string) =>
  service.sql("update filestore.segments set stored_on = $2 where project_id = $1", [projectId, day]);

/** Appends until the file's list differs from that of its latest version. Returns the content. */
async function appendUntilCompacted(own: ProjectFiles, path: string): Promise<string> {
  const headers = { "content-type": "application/octet-stream" };
  for (;;) {
    // An append of raw bytes leaves no compaction to the next append.
    await own.put("append", path, new TextEncoder().encode("+"), headers);
    const compacted = await service.sql(
      `select from filestore.files f join filestore.file_versions v on v.file_id = f.id and v.version = f.version
       where f.project_id = $1 and f.path = $2 and f.segment_ids <> v.segment_ids`,
      [own.project.id, path],
    );
    if (compacted.length > 0) return (await own.read(path)).content;
  }
}

test("the latest version is named where what a compaction made of its content is missing", async () => {
  const own = await files();
  await own.write("log", "0");
  await appendUntilCompacted(own, "log");
  const { total } = await own.versions("log");
  assertEquals((await verified(own)).paths, []);
  await Deno.remove(await objectOf(own, "log"));
  assertEquals((await verified(own)).paths, [`log ${total}`]);
});

test("rows of segments that no version and no list has are counted, and with --repair go by the sweep; all others stay", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("log", "0");
  await own.append("log", "1");
  await own.copy("log", "copy");
  const log = await appendUntilCompacted(own, "log");
  await own.write("copy", "another");
  await own.put("restore", "copy", { version: 1 });
  await own.write("deleted", "x");
  await own.remove("deleted");
  await own.write("moved", "y");
  await own.move("moved", "away");
  await own.write("redacted", "secret");
  await own.write("redacted", "clean");
  await redact(admin, "redacted", [1]);
  await own.write("purged", "secret");
  await purge(admin, "purged");
  await sweepAll(service);
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const usage = async () => {
    const [row] = await service.sql<{ used: number[] }>(
      `select array[sum(bytes), sum(database_bytes)]::integer[] as used from filestore.project_usage where project_id = $1`,
      [own.project.id],
    );
    return row?.used ?? [];
  };
  const used = await usage();
  const [old, recent] = [await upload(own.project.id, "20200101"), await upload(own.project.id, today)];
  for (const name of [old, recent]) await addRow(name);
  const rows = async (repairs = false) => {
    const { unneededRows, removedRows } = await verified(own, repairs);
    return [unneededRows, removedRows];
  };
  await storeOn(own.project.id, "2020-01-01");
  await service.sql("update filestore.segments set stored_on = now() where id = $1", [recent.split("/")[2]]);
  assertEquals(await rows(), [1, 0], "of what is old and what may be committed right now");
  assertEquals(await rows(true), [1, 1]);
  assertEquals(await rows(true), [0, 0], "once");
  await storeOn(own.project.id, today);
  await service.sql("update filestore.segments set stored_on = '2020-01-01' where id = $1", [
    old.split("/")[2],
  ]);
  await sweepAll(service);
  assertEquals([old, recent].map(isStored), [false, true]);
  const [left] = await service.sql<{ ids: string[] }>(
    "select array_agg(id::text) as ids from filestore.segments where project_id = $1 and id = any ($2)",
    [own.project.id, [old, recent].map((name) => name.split("/")[2])],
  );
  assertEquals(left?.ids, [recent.split("/")[2]]);
  const [bytes = 0, databaseBytes = 0] = used;
  assertEquals(
    await usage(),
    [bytes + "never committed".length, databaseBytes + TARIFF_SEGMENT_BYTES],
    "what is removed does not count any more",
  );
  for (
    const [path, content] of [["log", log], ["copy", "01"], ["away", "y"], ["redacted", "clean"]] as const
  ) {
    assertEquals((await own.read(path)).content, content, path);
  }
  assertEquals((await own.read("log", { version: 3 })).content, "01+");
  assertEquals((await own.read("deleted", { version: 1 })).content, "x");
});

/** Runs a change after the first page of versions that is read after the request for the last position. */
class Interrupted extends Administration {
  meanwhile: (() => Promise<void>) | undefined;
  #isArmed = false;

  override versionsEnd(projectId: string): Promise<number> {
    this.#isArmed = true;
    return super.versionsEnd(projectId);
  }

  override async versionsToVerify(...place: Parameters<Administration["versionsToVerify"]>) {
    const page = await super.versionsToVerify(...place);
    const meanwhile = this.#isArmed ? this.meanwhile : undefined;
    if (meanwhile) this.meanwhile = undefined;
    await meanwhile?.();
    return page;
  }
}

test("what is copied behind a verification's back, and purged before it comes there, keeps its rows", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  // More versions than one page has.
  await own.write("m", "x");
  await service.sql(
    `insert into filestore.file_versions (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
     select v.project_id, v.file_id, n, v.mime_type, v.size, v.segment_ids, gen_random_uuid(), v.created_at
     from filestore.file_versions v, generate_series(2, $2::integer) n where v.project_id = $1`,
    [own.project.id, PAGE_VERSIONS + 100],
  );
  await own.write("z", "needed");
  const day = new Date().toISOString().slice(0, 10);
  const to = new Interrupted(service.stack.supabaseUrl, service.stack.secretKey);
  to.meanwhile = async () => {
    await storeOn(own.project.id, day);
    await own.copy("z", "a");
    await purge(admin, "z");
    await storeOn(own.project.id, "2020-01-01");
  };
  await storeOn(own.project.id, "2020-01-01");
  // Its versions are verified, and it has no objects of that day.
  const state = { ...newVerification(false), projectId: own.project.id, day: "9999-12-31" };
  await verify(to, state, { projectId: own.project.id, repairs: true, onSlice: () => Promise.resolve() });
  assertEquals([to.meanwhile, state.unneededRows, state.removedRows], [undefined, 0, 0]);
  await storeOn(own.project.id, day);
  await sweepAll(service);
  assertEquals((await own.read("a")).content, "needed");
});

test("objects in folders of projects that there are not are counted, and with --repair removed where their day is over", async () => {
  const own = await files();
  await own.write("kept.txt", "kept");
  const unknown = crypto.randomUUID();
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const names = [
    await upload(unknown, "20200101"),
    await upload(unknown, "20200102"),
    await upload(unknown, today),
    await upload(own.project.id, "20200101"),
  ];
  const run = async (repairs: boolean, to = operator()) => {
    // All projects are verified.
    const state = { ...newVerification(false), projectId: "ffffffff-ffff-4fff-bfff-ffffffffffff" };
    await verify(to, state, { projectId: undefined, repairs, onSlice: () => Promise.resolve() });
    return [state.unknownProjects, state.unneeded, state.removed, names.map(isStored)];
  };
  assertEquals(await run(false), [1, 2, 0, [true, true, true, true]]);
  const stranger = Object.assign(operator(), {
    unknownProjects: (ids: readonly string[]) => Promise.resolve({ ids: [...ids], through: "9999-12-31" }),
  });
  await assertRejects(() => run(true, stranger), StartupError, "none of the projects");
  assertEquals(names.map(isStored), [true, true, true, true]);
  assertEquals(await run(true), [1, 2, 2, [false, false, true, true]]);
  assertEquals(await run(true), [0, 0, 0, [false, false, true, true]]);
  assertEquals((await own.read("kept.txt")).content, "kept");
});

test("a verification that is interrupted goes on after its last slice, and finds what a whole one finds", async () => {
  const own = await files();
  for (let version = 1; version <= 7; version++) {
    const operations = Array.from({ length: 100 }, (_, index) => {
      // The versions between the first and the last have no bytes of their own to be read.
      const isWritten = version === 1 || version === 7;
      const change = isWritten ? { op: "write", content: `${version}` } : { op: "restore", version: 1 };
      return { ...change, path: `f${index}` };
    });
    assertEquals((await own.request("POST", "/batch", { body: { operations } })).status, 200);
  }
  await Deno.remove(await objectOf(own, "f7"));
  await Deno.remove(await objectOf(own, "f99"));
  const projectId = own.project.id;
  const whole = newVerification(false);
  let slices = 0;
  await verify(operator(), whole, {
    projectId,
    repairs: false,
    onSlice: () => Promise.resolve(void slices++),
  });
  assertEquals([whole.versions, whole.unreadable.map(({ path, version }) => [path, version])], [700, [[
    "f7",
    7,
  ], ["f99", 7]]]);
  assert(slices > 1);
  let saved: Verification = newVerification(false);
  for (let interruption = 1; interruption < slices; interruption++) {
    const state = saved;
    await assertRejects(
      () =>
        verify(operator(), state, {
          projectId,
          repairs: false,
          onSlice(reached) {
            saved = verification.parse(JSON.parse(JSON.stringify(reached)));
            return Promise.reject(new Error("interrupted"));
          },
        }),
      Error,
      "interrupted",
    );
  }
  await verify(operator(), saved, { projectId, repairs: false, onSlice: () => Promise.resolve() });
  assertEquals({ ...saved, segments: 0 }, { ...whole, segments: 0 });
});

test("the command goes on from a state file of the same verification, and removes it at the end", async () => {
  const own = await files();
  await own.write("f", "x");
  await withScratchDirectory(async (folder) => {
    const state = join(folder, "state.json");
    const reached = {
      ...newVerification(false),
      projectId: own.project.id,
      versions: 41,
      after: { path: "f", version: 1 },
    };
    await Deno.writeTextFile(state, JSON.stringify({ of: own.project.id, state: reached }));
    assertStringIncludes(
      (await check(own, "--state", state, "--sha256")).stderr,
      "not the state file of a verification with these options",
    );
    const { found } = await check(own, "--state", state);
    assertEquals(found.versions, 41, "what was checked is not checked again");
    await assertRejects(() => Deno.stat(state), Deno.errors.NotFound);
  });
});
