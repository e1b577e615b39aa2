/** `deno task verify`: every version without its bytes is named, nothing else is; what is needed is never touched. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { Administration } from "../../supabase/local/admin/administration.ts";
import {
  newVerification,
  type Verification,
  verification,
  verify,
} from "../../supabase/local/admin/verification.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { patternBytes } from "../support/content/streams.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { runCommand } from "../support/stack/command.ts";
import { suite, test } from "../support/stack/suite.ts";

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

/** The object of a file's segment, counted from the end where negative. */
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
  // What the first version of `a` has, the others have, too.
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
    "X has another SHA-256",
  ]);
  assertEquals([await service.tables(), objectsOf(own)], before);
});

test("objects of swept days that have no row are counted, and removed with --repair alone; those of other days stay", async () => {
  const own = await files();
  await own.write("kept.txt", "kept");
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const upload = async (day: string) => {
    const name = `${own.project.id}/${day}/${crypto.randomUUID()}`;
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
  };
  const [old, recent, later] = [await upload("20200101"), await upload(today), await upload("20990101")];
  const left = () =>
    [old, recent, later].map((name) => objectsOf(own).some((object) => object.endsWith(name)));
  const sweptThrough = (day: string) =>
    service.sql(
      "insert into filestore.sweeps (project_id, swept_through) values ($1, $2) on conflict (project_id) do update " +
        "set swept_through = excluded.swept_through",
      [own.project.id, day],
    );
  assertEquals((await check(own)).found.unneeded, 0, "the sweep takes them itself");
  await sweptThrough("2020-06-01");
  assertEquals([(await check(own)).found.unneeded, left()], [1, [true, true, true]]);
  await check(own, "--repair");
  assertEquals(left(), [false, true, true]);
  await sweptThrough(new Date().toISOString().slice(0, 10));
  const { found } = await check(own, "--repair");
  assertEquals([found.unneeded, found.removed, left()], [1, 1, [false, false, true]]);
  await service.restartFunction();
  assertEquals((await own.read("kept.txt")).content, "kept");
});

test("a verification that is interrupted goes on after its last slice, and finds what a whole one finds", async () => {
  const own = await files();
  for (let version = 0; version < 7; version++) {
    const operations = Array.from(
      { length: 100 },
      (_, index) => ({ op: "write", path: `f${index}`, content: `${version}` }),
    );
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
      "not that of a verification of the same",
    );
    const { found } = await check(own, "--state", state);
    assertEquals(found.versions, 41, "what was checked is not checked again");
    await assertRejects(() => Deno.stat(state), Deno.errors.NotFound);
  });
});
