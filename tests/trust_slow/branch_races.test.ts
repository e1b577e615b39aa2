/**
 * Branches on Postgres, with many requests at a time: 16 merges make one, no writer is merged over unseen, a slice of a
 * creation delays no writer, and one that is killed is made again.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type postgres from "postgres";
import { Branches } from "../support/client/branches.ts";
import { assertRefused } from "../support/client/contract.ts";
import { filesAt } from "../support/client/files_client.ts";
import { eventually } from "../support/eventually.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  type Answer,
  commit,
  makeProject,
  newSegment,
  type Project,
} from "../support/postgres/postgres_filestore.ts";
import { newTarget, onPostgres } from "../support/stack/on_postgres.ts";

interface World {
  readonly owner: postgres.Sql;
  readonly clients: postgres.Sql;
  readonly project: Project;
}

type Sql = postgres.Sql | postgres.TransactionSql;

const CHECKS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "16 merges of one branch at the same time make one": mergesRace,
  "a merge beside 32 writers of its folder merges over none of them": writersAboveRace,
  "what 32 writers write in a branch while it is merged is merged or refused": writersInsideRace,
  "a merge waits for a write in the branch that has begun": mergeWaits,
  "a request to close a branch that waits for its merge is refused": closingWaits,
  "while a slice is copied, its files are written, and not erased": sliceDelaysNobody,
  "a creation that is killed in its second slice is made again, from the same moment": creationIsKilled,
};

Deno.test("branches with many requests at a time", async (t) => {
  const server = await startPostgres();
  const { superuserUrl, url } = await createMigrated(server, "branches");
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

Deno.test("16 merges of one branch at the same time, sent to three processes, make one", async () => {
  await onPostgres(3, async (service) => {
    const files = filesAt(await newTarget(service));
    const branches = new Branches(files);
    const writeAll = (directory: string) =>
      files.commit(FILES.map((file) => ({ op: "write", path: `${directory}/${file}`, content: directory })));
    for (const round of ["one", "two", "three"]) {
      await writeAll(round);
      await branches.create(round, { directory: round });
      await writeAll(`.branches/${round}`);
      const answers = await Promise.all(
        Array.from(
          { length: 16 },
          () => branches.tryMerge(round),
        ),
      );
      assertEquals(answers.filter(({ status }) => status === 200).length, 1);
      // One that has waited too long for the others is told to come again.
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        assertRefused(answer, answer.status === 503 ? "SERVICE_UNAVAILABLE" : "BRANCH_CLOSED");
      }
      for (const file of FILES) assertEquals((await files.read(`${round}/${file}`)).version, 2);
    }
  });
});

async function write(sql: Sql, project: Project, path: string, size: number): Promise<string | number> {
  const { refusal, value } = await commit(sql, project, "write", {
    path,
    segments: [newSegment(project, size)],
  });
  return refusal?.code ?? value?.file.version ?? 0;
}

async function create(sql: Sql, project: Project, commitId: string = crypto.randomUUID()): Promise<Answer> {
  const body = { name: "try", directory: "in", expiresIn: 3600, commitId };
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_create_branch(${project.keyHash}, null, ${
    JSON.stringify(body)
  }::text::jsonb) as answer`;
  return row?.answer ?? {};
}

async function merge(
  { clients, project }: { clients: Sql; project: Project },
  fields: object = {},
): Promise<Answer> {
  const body = {
    ...{ branch: "try", onConflict: "refuse", dryRun: false, keep: true, commitId: crypto.randomUUID() },
    ...{ provenance: { runId: crypto.randomUUID() }, ...fields },
  };
  const [row] = await clients<{ answer: Answer }[]>`
    select public.filestore_commit_many(
      ${project.keyHash}, null, 1, 'merge_branch', ${JSON.stringify(body)}::text::jsonb) as answer`;
  return row?.answer ?? {};
}

const FILES = Array.from({ length: 32 }, (_, index) => `f${index}`);

/** A branch in which every file is changed. */
async function changedBranch({ clients, project }: World): Promise<void> {
  for (const file of FILES) assertEquals(await write(clients, project, `in/${file}`, 10), 1);
  await create(clients, project);
  for (const file of FILES) assertEquals(await write(clients, project, `.branches/try/${file}`, 11), 2);
}

async function mergesRace(world: World): Promise<void> {
  await changedBranch(world);
  const answers = await Promise.all(Array.from({ length: 16 }, () => merge(world)));
  const codes = answers.map(({ refusal }) => refusal?.code ?? "merged").toSorted();
  assertEquals(codes, [...Array.from({ length: 15 }, () => "BRANCH_CLOSED"), "merged"]);
  const versions = await world.owner`
    select from filestore.file_versions where project_id = ${world.project.id} and operation = 'merge'`;
  assertEquals(versions.length, FILES.length);
}

async function writersAboveRace(world: World): Promise<void> {
  const { owner, clients, project } = world;
  await changedBranch(world);
  const writers = FILES.map((file, index) => write(clients, project, `in/${file}`, 100 + index));
  const merged = await merge(world);
  for (const written of await Promise.all(writers)) assert(written === 2 || written === 3, String(written));
  // A merged version follows the base itself, whatever came after it.
  const versions = await owner`
    select v.version from filestore.file_versions v
    where v.project_id = ${project.id} and v.operation = 'merge' and v.version <> 2`;
  assertEquals(versions.length, 0);
  if (merged.refusal) {
    assert(["TEXTS_TO_MERGE", "MERGE_CONFLICT"].includes(merged.refusal.code), merged.refusal.code);
    const left = await owner`
      select from filestore.file_versions where project_id = ${project.id} and operation = 'merge'`;
    assertEquals(left.length, 0, "a refused merge leaves nothing");
  }
}

async function writersInsideRace(world: World): Promise<void> {
  const { owner, clients, project } = world;
  await changedBranch(world);
  const writers = FILES.map((file, index) => write(clients, project, `.branches/try/${file}`, 100 + index));
  const merged = await merge(world);
  assertEquals(merged.refusal, undefined);
  const results = await Promise.all(writers);
  for (const [index, written] of results.entries()) {
    const [source] = await owner<{ source: number }[]>`
      select v.source_version as source from filestore.file_versions v
      join filestore.files f on f.project_id = v.project_id and f.id = v.file_id
      where v.project_id = ${project.id} and f.path = ${`in/${FILES[index]}`} and v.operation = 'merge'`;
    assertEquals(source?.source, written === "BRANCH_CLOSED" ? 2 : written);
  }
}

async function mergeWaits(world: World): Promise<void> {
  await changedBranch(world);
  await world.clients.begin(async (sql) => {
    assertEquals(await write(sql, world.project, ".branches/try/f0", 12), 3);
    // Until its time for locks is over.
    await assertRejects(() => merge(world));
  });
  assertEquals((await merge(world)).refusal, undefined);
  const [merged] = await world.owner<{ size: number }[]>`
    select f.size::integer as size from filestore.files f where f.project_id = ${world.project.id} and f.path = 'in/f0'`;
  assertEquals(merged?.size, 12);
}

async function closingWaits({ owner, clients, project }: World): Promise<void> {
  await changedBranch({ owner, clients, project });
  const change = JSON.stringify({ state: "closed", commitId: crypto.randomUUID() });
  let closing: Promise<string | undefined> | undefined;
  await clients.begin(async (sql) => {
    assertEquals((await merge({ clients: sql, project })).refusal, undefined);
    // A request that waits for too long fails, and has closed nothing either.
    closing = clients<{ answer: Answer }[]>`
      select public.filestore_change_branch(${project.keyHash}, null, 'try', ${change}::text::jsonb) as answer`
      .then(([row]) => row?.answer.refusal?.code, () => "BRANCH_CLOSED");
    await eventually("it waits", async () =>
      (await owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
        .length > 0);
  });
  assertEquals(await closing, "BRANCH_CLOSED");
  const [branch] = await owner`select state from filestore.branches where project_id = ${project.id}`;
  assertEquals(branch?.["state"], "merged");
}

async function purge({ clients, project }: Pick<World, "clients" | "project">, path: string): Promise<void> {
  const body = JSON.stringify({ path, commitId: crypto.randomUUID() });
  await clients`select public.filestore_commit(${project.keyHash}, null, 'purge', ${body}::text::jsonb)`;
}

async function sliceDelaysNobody({ owner, clients, project }: World): Promise<void> {
  await owner`update filestore.api_keys set scopes = '{read,write,admin}' where project_id = ${project.id}`;
  for (const file of FILES) await write(clients, project, `in/${file}`, 10);
  await clients.begin(async (sql) => {
    await create(sql, project);
    for (const file of FILES) assertEquals(await write(clients, project, `in/${file}`, 12), 2);
    // The purge waits for the slice, until its time for locks is over.
    await assertRejects(() => purge({ clients, project }, "in/f0"));
  });
}

async function creationIsKilled({ owner, clients, project }: World): Promise<void> {
  for (let from = 0; from < 1100; from += 100) {
    await Promise.all(
      Array.from(
        { length: 100 },
        (_, index) => write(clients, project, `in/${String(from + index).padStart(4, "0")}`, 10),
      ),
    );
  }
  assertEquals((await create(clients, project)).value?.["branch"], null);
  await assertRejects(() =>
    clients.begin(async (sql) => {
      await create(sql, project);
      throw new Error("killed");
    })
  );
  assertEquals(await write(clients, project, ".branches/try/0000", 1), "BRANCH_NOT_FOUND");
  await write(clients, project, "in/1099", 99);
  await write(clients, project, "in/later", 10);
  const finished = await create(clients, project);
  assert(finished.value?.["branch"]);
  const [found] = await owner<{ files: number; bytes: number }[]>`
    select count(*)::integer as files, sum(f.size)::integer as bytes from filestore.files f
    where f.project_id = ${project.id} and starts_with(f.path, '.branches/try/')`;
  assertEquals([found?.files, found?.bytes], [1100, 11_000]);
}
