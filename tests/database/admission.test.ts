/**
 * The rate limit is exact with many requests at once, and a read waits for nobody: what a writer has counted is locked
 * until its commit is on disk. A lock that is waited for ends in an error after LOCK_TIMEOUT_MILLISECONDS, so nothing
 * here looks at a clock.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { RATE_LANED_NUMBERS } from "../../supabase/functions/api/limits.ts";
import { type PostgresVersion, startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  admit,
  type Answer,
  commit,
  makeProject,
  newSegment,
  type Project,
} from "../support/postgres/postgres_filestore.ts";

const LANES = 64;
/** So large that a counter gives its first numbers. */
const LARGE_LIMIT = 100_000;
const VERSIONS: readonly PostgresVersion[] = [15, 16, 17];

for (const version of VERSIONS) {
  Deno.test(`admission on Postgres ${version}`, async (t) => {
    const server = await startPostgres({ version });
    const { superuserUrl, url } = await createMigrated(server, "admission");
    const owner = connect(superuserUrl, 1);
    const clients = connect(url, 80, "service_role");
    try {
      for (const [name, check] of Object.entries(CHECKS)) {
        await t.step(name, async () => await check(owner, clients, await limited(owner, name)));
      }
    } finally {
      await Promise.all([owner.end(), clients.end()]);
      await server.stop();
    }
  });
}

type Check = (owner: postgres.Sql, clients: postgres.Sql, project: Project) => Promise<void>;

const CHECKS: Readonly<Record<string, Check>> = {
  "reads, lists and refusals pass a write that is being committed": readsPassWrites,
  "requests that are counted but not committed fill the window": inFlightCounts,
  "nothing but a commit waits for the disk": onlyCommitsWait,
  "a race of reads and writes is admitted exactly up to the limit": (...all) => race(...all, 100),
  "the same where the limit is far": (...all) => race(...all, 1000),
  "of a large limit, too, every number is given once": largeRace,
  "far from a large limit a request changes no row": changesNoRow,
  "a counter is one project's until its window ends": counterOfOne,
  "a lower limit holds at once, however the lanes were used": lowered,
  "a request is counted once, whatever Postgres expects of the lanes": countedOnce,
};

/** A project whose window no minute ends, and whose counter no earlier one has: counters are given by a hash of the id. */
async function limited(owner: postgres.Sql, name: string): Promise<Project> {
  const project = await makeProject(owner, name, { requestsPerMinute: 100 });
  await owner`delete from filestore.rate_counters`;
  await owner`
    insert into filestore.rate_windows (project_id, lane, window_start)
    select ${project.id}, n, clock_timestamp() + interval '1 hour' from generate_series(1, ${LANES}) n`;
  return project;
}

async function setLimit(owner: postgres.Sql, project: Project, limit: number): Promise<void> {
  await owner`update filestore.projects set requests_per_minute = ${limit} where id = ${project.id}`;
}

function isAdmitted(answer: Answer<unknown>): boolean {
  return answer.refusal?.code !== "RATE_LIMIT_EXCEEDED";
}

/** Runs `during` while so many writes are counted and not committed; `end` then rolls back or commits. */
async function whileWriting(
  clients: postgres.Sql,
  project: Project,
  writers: number,
  during: () => Promise<void>,
): Promise<void> {
  const mayEnd = Promise.withResolvers<void>();
  const started: Promise<void>[] = [];
  const writes = Array.from({ length: writers }, (_, n) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    started.push(promise);
    return clients.begin(async (sql) => {
      const change = { path: `file ${n}`, segments: [newSegment(project)] };
      const answer = await commit(sql, project, "write", change, crypto.randomUUID());
      if (answer.value) resolve();
      else reject(new Error(`the write is refused: ${JSON.stringify(answer)}`));
      await mayEnd.promise;
    });
  });
  try {
    await Promise.race([Promise.all(started), Promise.all(writes)]);
    await during();
  } finally {
    mayEnd.resolve();
    await Promise.all(writes);
  }
}

async function readsPassWrites(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await whileWriting(clients, project, 1, async () => {
    const calls = [
      "public.filestore_record($1, gen_random_uuid(), 'none')",
      "public.filestore_content($1, gen_random_uuid(), 'none')",
      "public.filestore_versions($1, gen_random_uuid(), 'none', 10, 0)",
      "public.filestore_authorize($1, gen_random_uuid(), 'none')",
      `public.filestore_list($1, gen_random_uuid(),
        '{"directory": "", "recursive": false, "limit": 10, "offset": 0, "sortBy": "path", "sortOrder": "asc"}')`,
      `public.filestore_search($1, gen_random_uuid(),
        '{"kind": "rank", "directory": "", "words": "a", "vector": null, "files": 10, "skip": 0, "bytes": 1000}')`,
      "public.filestore_commit($1, gen_random_uuid(), 'append', '{\"path\": \"none\"}')",
    ];
    for (const call of calls) await clients.unsafe(`select ${call}`, [project.keyHash]);
    await setLimit(owner, project, calls.length + 1);
    assertEquals(isAdmitted(await admit(clients, project)), false, "the limit counts them, and the write");
  });
}

async function inFlightCounts(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, 4);
  await clients`select public.filestore_commit(${project.keyHash}, null, 'write', ${
    JSON.stringify({ path: "first", mimeType: "text/plain", commitId: crypto.randomUUID() })
  }::text::jsonb)`;
  await whileWriting(clients, project, 1, async () => {
    const answers = [];
    for (let n = 0; n < 5; n++) answers.push(await admit(clients, project));
    assertEquals(answers.map(isAdmitted), [true, true, true, false, false]);
    assertEquals(answers.map((answer) => answer.rate?.remaining), [2, 1, 0, 0, 0]);
  });
}

async function onlyCommitsWait(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  const settingAfter = async (call: string) =>
    await clients.begin(async (sql) => {
      await sql.unsafe(`select ${call}`, [project.keyHash]);
      const [row] = await sql<{ setting: string }[]>`select current_setting('synchronous_commit') as setting`;
      return row?.setting;
    });
  const write = (path: string, precondition = "") =>
    `set_config('synchronous_commit', 'on', true), public.filestore_commit($1, gen_random_uuid(), 'write',
      '{"path": "${path}", "mimeType": "text/plain", "commitId": "${crypto.randomUUID()}"${precondition}}')`;
  assertEquals(await settingAfter(write("f")), "on", "a write");
  assertEquals(await settingAfter(write("f", ', "ifNoneMatch": ["*"]')), "off", "a write that is refused");
  for (const read of ["record($1, null, 'f')", "authorize($1, null)", "versions($1, null, 'f', 10, 0)"]) {
    assertEquals(
      await settingAfter(`set_config('synchronous_commit', 'on', true), public.filestore_${read}`),
      "off",
    );
  }
  const rename = `filestore_administer($1, null, 'rename', '{"name": "${project.id}"}')`;
  await owner`update filestore.api_keys set scopes = '{read,write,admin}' where project_id = ${project.id}`;
  assertEquals(await settingAfter(`set_config('synchronous_commit', 'on', true), public.${rename}`), "on");
  // What is not logged is not waited for either.
  assertEquals(
    [...await owner`select relpersistence from pg_class where oid = 'filestore.rate_windows'::regclass`],
    [{ relpersistence: "u" }],
  );
}

/** Writes and other requests in turns, of 72 clients. */
async function sendMixed(clients: postgres.Sql, project: Project, sent: number): Promise<Answer<unknown>[]> {
  const answers: Answer<unknown>[] = [];
  let next = 0;
  const work = async () => {
    while (next < sent) {
      const request = next++;
      const change = { path: `${request % 40}`, segments: [newSegment(project)] };
      answers.push(
        request % 2 === 0
          ? await commit(clients, project, "write", change, crypto.randomUUID())
          : await admit(clients, project),
      );
    }
  };
  await Promise.all(Array.from({ length: 72 }, work));
  return answers;
}

async function race(
  owner: postgres.Sql,
  clients: postgres.Sql,
  project: Project,
  limit: number,
): Promise<void> {
  await setLimit(owner, project, limit);
  const sent = limit + 200;
  const answers = await sendMixed(clients, project, sent);
  const admitted = answers.filter(isAdmitted);
  assertEquals([answers.length, admitted.length], [sent, limit]);
  const [row] = await owner<{ counted: number }[]>`
    select sum(request_count)::integer as counted from filestore.rate_windows where project_id = ${project.id}`;
  assertEquals(row?.counted, limit);
  assertEquals(
    answers.filter((answer) => !isAdmitted(answer)).map(({ rate }) => rate?.remaining),
    Array(200).fill(0),
  );
}

/** Few numbers are left of those that the counter gives, and of those that the lanes do. */
async function largeRace(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, LARGE_LIMIT);
  await clients`select public.filestore_authorize(${project.keyHash}, gen_random_uuid())`;
  await owner`
    update filestore.rate_counters set base = base - numbers + 150 where project_id = ${project.id}`;
  await owner`
    update filestore.rate_windows set request_count = (${RATE_LANED_NUMBERS} - 150 + ${LANES} - lane) / ${LANES}
    where project_id = ${project.id}`;
  const answers = await sendMixed(clients, project, 500);
  assertEquals(answers.filter(isAdmitted).length, 300);
  const shown = answers.filter(isAdmitted).map(({ rate }) => rate?.remaining ?? -1);
  assert(Math.min(...shown) <= 1, "the last number may show one left");
  const refused = answers.filter((answer) => !isAdmitted(answer));
  assertEquals(refused.map(({ rate }) => rate?.remaining), Array(200).fill(0));
  await setLimit(owner, project, LARGE_LIMIT + 2);
  const more = await sendMixed(clients, project, 5);
  assertEquals(more.filter(isAdmitted).length, 2, "a limit that is raised");
}

async function changesNoRow(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, LARGE_LIMIT);
  for (let n = 0; n < 3; n++) assert(isAdmitted(await admit(clients, project)));
  const changes = await clients.begin(async (sql) => {
    await sql`select public.filestore_authorize(${project.keyHash}, gen_random_uuid())`;
    return await sql`select pg_current_xact_id_if_assigned() as id`;
  });
  assertEquals([...changes], [{ id: null }]);
  const [row] = await owner<{ kind: string }[]>`
    select string_agg(distinct relpersistence::text, '') as kind from pg_class
    where relkind = 'S' and oid::regclass::text like 'filestore.rate_counter_%'`;
  assertEquals(row?.kind, "u", "nor is anything logged");
  await setLimit(owner, project, 6);
  assertEquals(
    [await admit(clients, project), await admit(clients, project), await admit(clients, project)].map(
      isAdmitted,
    ),
    [true, true, false],
    "a lower limit holds at once",
  );
  await setLimit(owner, project, LARGE_LIMIT);
  assertEquals((await admit(clients, project)).rate?.remaining, LARGE_LIMIT - 7, "and a higher one");
}

async function counterOfOne(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, LARGE_LIMIT);
  await admit(clients, project);
  const holder = async () => {
    const [row] = await owner<{ project_id: string }[]>`
      select project_id from filestore.rate_counters c
      where counter = uuid_hash(${project.id}) & ((filestore.limits()).rate_counters - 1)`;
    return row?.project_id;
  };
  assertEquals(await holder(), project.id);
  const other = "00000000-0000-4000-8000-000000000000";
  const give = async (window: string) => {
    await owner`update filestore.rate_counters set project_id = ${other}, base = 0, numbers = 1,
      window_start = date_trunc('minute', clock_timestamp()) + ${window}::interval where project_id in (${project.id}, ${other})`;
  };
  await give("10 minutes");
  const before = await sendMixed(clients, project, 70);
  assertEquals(before.filter(isAdmitted).length, 70, "without a counter the lanes count");
  assertEquals(await holder(), other);
  assertEquals((await admit(clients, project)).rate?.remaining, LARGE_LIMIT - 72);
  await give("-1 minute");
  assert(isAdmitted(await admit(clients, project)));
  assertEquals(await holder(), project.id);
  assertEquals(
    (await admit(clients, project)).rate?.remaining,
    LARGE_LIMIT - 1,
    "counted anew, beside the lanes",
  );
  await clients`select public.filestore_authorize(${project.keyHash}, null)`;
}

async function lowered(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, 100_000);
  for (let n = 0; n < 5; n++) assert(isAdmitted(await admit(clients, project)));
  await setLimit(owner, project, 5);
  assertEquals(isAdmitted(await admit(clients, project)), false);
  await setLimit(owner, project, 7);
  assertEquals(
    [await admit(clients, project), await admit(clients, project), await admit(clients, project)].map(
      isAdmitted,
    ),
    [
      true,
      true,
      false,
    ],
  );
}

/** Statistics of many projects with a row each let a join seem cheap that looks for a lane once for each lane. */
async function countedOnce(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, 1000);
  await owner`
    with others as (
      insert into filestore.projects (name, tier) select 'neighbour ' || n, 'pro' from generate_series(1, 5000) n
      returning id)
    insert into filestore.rate_windows (project_id, lane) select id, 1 from others`;
  await owner`analyze filestore.rate_windows`;
  for (let requests = 1; requests <= 3 * LANES; requests++) {
    const { rate } = await admit(clients, project);
    assertEquals(rate?.remaining, 1000 - requests);
  }
  const [counted] = await owner<{ requests: number }[]>`
    select sum(request_count)::integer as requests from filestore.rate_windows where project_id = ${project.id}`;
  assertEquals(counted?.requests, 3 * LANES);
}
