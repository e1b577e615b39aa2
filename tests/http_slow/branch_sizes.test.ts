/** Branches of many files: made and merged in few calls without moving a byte, in slices where they are larger. */
import { assert, assertEquals } from "@std/assert";
import { COMMIT_FILES_MAX } from "../../supabase/functions/api/limits.ts";
import { Branches } from "../support/client/branches.ts";
import { assertRefused } from "../support/client/contract.ts";
import { sweepAll } from "../support/client/erasure.ts";
import type { Files } from "../support/client/files.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const PAGE = 100;

async function fill(own: Files, folder: string, from: number, to: number, text: string): Promise<void> {
  for (let at = from; at < to; at += PAGE) {
    const numbers = Array.from(
      { length: Math.min(PAGE, to - at) },
      (_, index) => String(at + index).padStart(5, "0"),
    );
    await own.commit(
      numbers.map((name) => ({ op: "write", path: `${folder}/f${name}`, content: `${text} ${name}` })),
    );
  }
}

/** The calls of the back end during the work; none may move a byte. */
async function callsOf(work: () => Promise<unknown>): Promise<number> {
  const calls = await service.proxy.during(async () => void await work());
  assert(calls.every(({ target }) => target === "database"), "no byte moves");
  return calls.length;
}

test("a branch of 1,000 files is made in 2 calls, merged in 2, and refused beyond 1,000 changes until in parts", async () => {
  const own = await files();
  const branches = new Branches(own);
  await fill(own, "big", 0, COMMIT_FILES_MAX, "old");
  assert(await callsOf(() => branches.create("one", { directory: "big" })) <= 2);
  await fill(own, ".branches/one", 0, COMMIT_FILES_MAX + 1, "new");
  const details = assertRefused(await branches.tryMerge("one"), "TOO_MANY_FILES");
  assertEquals(details["files"], COMMIT_FILES_MAX + 1);
  const last = `f${String(COMMIT_FILES_MAX).padStart(5, "0")}`;
  assertEquals((await branches.merge("one", { paths: [last] })).actions.length, 1);
  assertEquals((await branches.get("one")).counts.modified, COMMIT_FILES_MAX);
  assert(
    await callsOf(() => branches.merge("one")) <= 3,
    "the merge, and the deletion of 1,001 files in two slices",
  );
  assertEquals((await own.read("big/f00007")).content, "new 00007");
  assertEquals(await own.paths({ directory: ".branches/one", recursive: true }), []);
});

test("a branch that the quota refuses after its first slice takes no room once the sweep has run", async () => {
  const own = await files();
  const branches = new Branches(own);
  await fill(own, "big", 0, COMMIT_FILES_MAX + 500, "old");
  const used = async () =>
    (await service.sql<{ used: number }>(
      `select sum(bytes + database_bytes)::float8 as used from filestore.project_usage where project_id = $1`,
      [own.project.id],
    ))[0]?.used ?? 0;
  const before = await used();
  await branches.create("whole", { directory: "big" });
  const room = (await used()) - before;
  await service.sql("update filestore.projects set max_project_bytes = $2 where id = $1", [
    own.project.id,
    Math.round(await used() + 0.8 * room),
  ]);
  assertRefused(await branches.tryCreate("cut", { directory: "big" }), "QUOTA_EXCEEDED");
  await sweepAll(service);
  assertEquals(await own.paths({ directory: ".branches/cut", recursive: true }), []);
  assertRefused(await branches.tryCreate("cut", { directory: "big" }), "BRANCH_ALREADY_EXISTS");
});

test("a branch of more files is made in slices, all at one moment; 10,001 are refused", async () => {
  const own = await files();
  const branches = new Branches(own);
  await fill(own, "big", 0, 2 * COMMIT_FILES_MAX + 1, "old");
  const slices = await callsOf(async () => {
    assertEquals((await branches.create("one", { directory: "big" })).fileCount, 2 * COMMIT_FILES_MAX + 1);
  });
  assert(slices <= 4, `${slices} calls`);
  assertEquals((await branches.get("one")).changes, []);
  assertEquals(
    (await own.list({ directory: ".branches/one", recursive: true })).total,
    2 * COMMIT_FILES_MAX + 1,
  );
  await service.sql(
    `insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
     select $1, 'many/f' || n, 1, 'text/plain', 0, '{}', now(), now() from generate_series(1, 10001) n`,
    [own.project.id],
  );
  assertEquals(
    assertRefused(await branches.tryCreate("many", { directory: "many" }), "TOO_MANY_FILES")["limit"],
    10_000,
  );
});
