/**
 * Commits of different files of one project do not wait for each other, though they share its quota; totals and quota
 * stay exact. A wait for a lock fails after `lock_timeout_milliseconds`, so no test here measures time.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type postgres from "postgres";
import { costOf } from "../support/client/tariff.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { type PostgresVersion, startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  admit,
  commit,
  list,
  makeProject,
  newSegment,
  type Project,
  valueOf,
} from "../support/postgres/postgres_filestore.ts";

const VERSIONS: readonly PostgresVersion[] = IS_LONG ? [15, 16, 17] : [17];
const QUOTA = 1_000_000;

for (const version of VERSIONS) {
  Deno.test(`commits at the same time on Postgres ${version}`, async (t) => {
    const server = await startPostgres({ version });
    const { superuserUrl, url } = await createMigrated(server, "contention");
    const owner = connect(superuserUrl, 1);
    const clients = connect(url, 40, "service_role");
    try {
      for (const [name, check] of Object.entries(CHECKS)) {
        await t.step(name, async () => check({ owner, clients, project: await makeProject(owner, name) }));
      }
      await t.step("all is consistent then", () => assertConsistent((statement) => owner.unsafe(statement)));
    } finally {
      await Promise.all([owner.end(), clients.end()]);
      await server.stop();
    }
  });
}

Deno.test("after a crash of the database counts and quota are exact, and requests are counted again", async () => {
  const server = await startPostgres({ durable: true });
  try {
    const { superuserUrl } = await createMigrated(server, "crash");
    const options = { requestsPerMinute: 1_000_000, maxProjectBytes: 1_000_000 };
    const before = connect(superuserUrl, 8);
    const project = await makeProject(before, "crash", options);
    const world = { owner: before, clients: before, project };
    await write(world, "d/0");
    await beside(world, "write", "d/50", async () => {
      for (let file = 1; file < 50; file++) assertEquals(await write(world, `d/${file}`), "written");
    });
    for (let request = 0; request < 3; request++) await admit(before, project);
    const atWork = write(world, "lost").catch(() => "lost");
    await server.crash();
    await atWork;
    await before.end({ timeout: 0 }).catch(() => {});
    await server.recover();
    const after = connect(superuserUrl, 8);
    try {
      await assertConsistent((statement) => after.unsafe(statement));
      const again = { owner: after, clients: after, project };
      assertEquals((await admit(after, project)).rate?.remaining, 999_999, "the window begins again");
      const cost = (newPath: string) => costOf({ newPath, stored: 10 });
      const acknowledged = Array.from({ length: 51 }, (_, file) => cost(`d/${file}`)).reduce((a, b) => a + b);
      const found = await used(again);
      assert(found === acknowledged || found === acknowledged + cost("lost"), `${found} bytes are counted`);
      const quota = found + cost("e");
      await setQuota(again, quota);
      assertEquals(await write(again, "e", 11), "QUOTA_EXCEEDED");
      assertEquals([await write(again, "e", 10), await used(again)], ["written", quota]);
    } finally {
      await after.end();
    }
  } finally {
    await server.stop();
  }
});

interface World {
  readonly owner: postgres.Sql;
  readonly clients: postgres.Sql;
  readonly project: Project;
}

const CHECKS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "files are created and deleted beside a commit that has not ended, and counted exactly": countsPass,
  "a directory that others empty and fill is listed while it has a file": directoriesAreListed,
  "the first commits of a project are made beside each other, and none waits": firstCommitsPass,
  "with a quota, files are written beside a commit that has not ended": quotaPasses,
  "parallel small commits exceed a quota by one each at most": quotaFills,
  "the quota is exact to the byte under parallel commits of over 1 MiB": quotaIsExact,
  "a quota that is set, lowered, lifted and set again holds exactly": quotaChanges,
  "a health probe waits for no commit, and fails where a table stays locked": healthIsProbed,
};

async function write({ clients, project }: World, path: string, size = 10): Promise<string> {
  const answer = await commit(clients, project, "write", { path, segments: [newSegment(project, size)] });
  return answer.refusal?.code ?? "written";
}

async function remove({ clients, project }: World, path: string): Promise<void> {
  valueOf(await commit(clients, project, "delete", { path, segments: [] }));
}

/** Runs `during` while a change of `path` is done but not committed. */
async function beside(
  world: World,
  kind: "write" | "delete",
  path: string,
  during: () => Promise<void>,
): Promise<void> {
  const { clients, project } = world;
  const isDone = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const other = clients.begin(async (sql) => {
    const segments = kind === "write" ? [newSegment(project)] : [];
    valueOf(await commit(sql, project, kind, { path, segments }));
    isDone.resolve();
    await mayEnd.promise;
  });
  try {
    await Promise.race([isDone.promise, other]);
    await during();
  } finally {
    mayEnd.resolve();
    await other;
  }
}

/** The total of the project, the total of the directory, and the names of its directories. */
async function listed({ clients, project }: World, directory = ""): Promise<unknown[]> {
  const whole = valueOf(await list(clients, project, { recursive: true }));
  const own = valueOf(await list(clients, project, { directory }));
  return [whole.total, own.total, own.directories];
}

async function healthIsProbed(world: World): Promise<void> {
  const { owner, clients } = world;
  const probe = () => clients`select public.filestore_health_probe() as works`;
  await beside(world, "write", "a", async () => {
    assertEquals([...await probe()], [{ works: true }]);
  });
  await owner.begin(async (sql) => {
    await sql`lock table filestore.file_versions in share mode`;
    await assertRejects(async () => await probe(), Error, "lock timeout");
  });
  assertEquals([...await probe()], [{ works: true }]);
}

async function countsPass(world: World): Promise<void> {
  for (const path of ["a/1", "a/2"]) await write(world, path);
  await beside(world, "write", "a/3", async () => {
    await write(world, "a/4");
    await write(world, "new/1");
    await remove(world, "a/1");
    assertEquals(await listed(world, "a"), [3, 2, []]);
    assertEquals(await listed(world), [3, 0, ["a", "new"]]);
  });
  assertEquals(await listed(world, "a"), [4, 3, []]);
}

async function directoriesAreListed(world: World): Promise<void> {
  for (const path of ["d/1", "e/1", "f"]) await write(world, path);
  await beside(world, "write", "d/2", async () => {
    await remove(world, "d/1");
    assertEquals(await listed(world), [2, 1, ["e"]]);
  });
  assertEquals(await listed(world), [3, 1, ["d", "e"]]);
  await remove(world, "d/2");
  await beside(world, "delete", "e/1", async () => {
    assertEquals(await listed(world), [2, 1, ["e"]]);
    await write(world, "e/2");
    await write(world, "d/3");
  });
  assertEquals(await listed(world), [3, 1, ["d", "e"]]);
}

/** Nests thirty first commits, each of which must get its own row of the usage; rows chosen at random would collide. */
async function firstCommitsPass(world: World, file = 0): Promise<void> {
  if (file < 30) await beside(world, "write", `first/${file}`, () => firstCommitsPass(world, file + 1));
}

async function setQuota({ owner, project }: World, bytes: number | null): Promise<void> {
  await owner`update filestore.projects set max_project_bytes = ${bytes} where id = ${project.id}`;
}

async function quotaPasses(world: World): Promise<void> {
  await setQuota(world, 1_000_000);
  await write(world, "first");
  await beside(world, "write", "a", async () => {
    for (const path of ["b", "c", "first"]) assertEquals(await write(world, path), "written");
  });
}

async function used({ owner, project }: World): Promise<number> {
  const [row] = await owner<{ bytes: number }[]>`
    select sum(bytes + database_bytes)::integer as bytes from filestore.project_usage
    where project_id = ${project.id}`;
  return row?.bytes ?? 0;
}

async function quotaFills(world: World): Promise<void> {
  await setQuota(world, QUOTA);
  let next = 0;
  const most = QUOTA + 64 * costOf({ newPath: "31/599", stored: 401 });
  const work = async (writer: number) => {
    while (next < 600) {
      const outcome = await write(world, `${writer}/${next}`, 1 + (next++ * 7919) % 401);
      if (outcome !== "written") assertEquals(outcome, "QUOTA_EXCEEDED");
      assert(await used(world) <= most);
    }
  };
  await Promise.all(Array.from({ length: 32 }, (_, writer) => work(writer)));
  const quota = await used(world) + costOf({ newPath: "rest", stored: 100 });
  await setQuota(world, quota);
  assertEquals(await write(world, "more", 101), "QUOTA_EXCEEDED");
  assertEquals([await write(world, "rest", 100), await used(world)], ["written", quota]);
  assertEquals([await write(world, "one", 1), await used(world)], ["QUOTA_EXCEEDED", quota]);
}

async function quotaIsExact(world: World): Promise<void> {
  const size = 2 * 1024 * 1024;
  const cost = costOf({ newPath: "00", stored: size, indexed: 0 });
  await setQuota(world, 7 * cost + cost - 1);
  const outcomes = await Promise.all(
    Array.from({ length: 32 }, (_, file) => write(world, `${10 + file}`, size)),
  );
  assertEquals(outcomes.filter((outcome) => outcome === "written").length, 7);
  assertEquals(await used(world), 7 * cost);
}

async function quotaChanges(world: World): Promise<void> {
  await write(world, "a", 300);
  const leave = async (bytes: number) => await setQuota(world, await used(world) + bytes);
  await leave(costOf({ stored: 400, indexed: 100 }));
  assertEquals([await write(world, "a", 401), await write(world, "a", 400)], ["QUOTA_EXCEEDED", "written"]);
  await leave(-1);
  assertEquals(await write(world, "b", 1), "QUOTA_EXCEEDED");
  await setQuota(world, null);
  assertEquals(await write(world, "a", 500), "written");
  await leave(costOf({ stored: 600, indexed: 100 }));
  assertEquals([await write(world, "a", 601), await write(world, "a", 600)], ["QUOTA_EXCEEDED", "written"]);
}
