/**
 * The rate limit is exact with many requests at once, and a read never waits for a writer, whose counted row is locked
 * until its commit is on disk. A wait for a lock fails after `lock_timeout_milliseconds`, so no test here measures
 * time.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { IS_LONG } from "../support/runner/long.ts";
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
import { sqlNumber } from "../support/postgres/sql_number.ts";

const RATE_SHARDS = sqlNumber("21_authorization.sql", "c_shards");

const LIMITS = [1, 63, 64, 65, 100, 1000, 20_000];
/** The oldest one, and in the long form all. */
const VERSIONS: readonly PostgresVersion[] = IS_LONG ? [15, 16, 17] : [15];

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
  "a request waits where every shard with room is locked, and takes the place of what is rolled back":
    waitsForTheLast,
  "a request that has locked a shard is refused instead": foldersNeverWait,
  "nothing but a commit waits for the disk": onlyCommitsWait,
  "a race of reads and writes is admitted exactly up to the limit": race,
  "so is a race of requests that count as several": raceOfSeveral,
  "a lower limit holds at once, however the shards were used": lowered,
  "a request is counted once, whatever Postgres expects of the shards": countedOnce,
};

/** A project with a window that no minute ends. */
async function limited(owner: postgres.Sql, name: string): Promise<Project> {
  const project = await makeProject(owner, name, { requestsPerMinute: 100 });
  await owner`
    insert into filestore.rate_windows (project_id, shard, window_start)
    select ${project.id}, n, clock_timestamp() + interval '1 hour' from generate_series(1, ${RATE_SHARDS}) n`;
  return project;
}

async function setLimit(owner: postgres.Sql, project: Project, limit: number): Promise<void> {
  await owner`update filestore.projects set requests_per_minute = ${limit} where id = ${project.id}`;
}

function isAdmitted(answer: Answer<unknown>): boolean {
  return answer.refusal?.code !== "RATE_LIMIT_EXCEEDED";
}

/** Runs `during` while `writers` writes are counted but not committed; then commits them or rolls them back. */
async function whileWriting(
  clients: postgres.Sql,
  project: Project,
  writers: number,
  during: () => Promise<void>,
  isCommitted = true,
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
      if (!isCommitted) await sql`rollback`;
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
      "public.filestore_content($1, gen_random_uuid(), 'none', p_with_segments => false)",
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
  });
  assertEquals(isAdmitted(await admit(clients, project)), false, "the limit counts them, and the write");
}

async function waitsForTheLast(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, 3);
  const end = async (isCommitted: boolean) => {
    let last: Promise<Answer> | undefined;
    await whileWriting(clients, project, 1, async () => {
      if (!isCommitted) {
        const answers = [await admit(clients, project), await admit(clients, project)];
        assertEquals(answers.map(isAdmitted), [true, true]);
        assertEquals(answers.map((answer) => answer.rate?.remaining), [2, 1], "late by the write");
      }
      let isAnswered = false;
      last = admit(clients, project).finally(() => isAnswered = true);
      await untilLocked(owner, () => isAnswered);
    }, isCommitted);
    return await last;
  };
  const first = await end(false);
  assertEquals(first && [isAdmitted(first), first.rate?.remaining], [true, 0], "the write was rolled back");
  await useUp(owner, project, 2);
  const second = await end(true);
  assertEquals(second && [isAdmitted(second), second.rate?.remaining], [false, 0], "the write was committed");
}

/** Waits until a transaction is waiting for another one's lock, or `isOver`. */
async function untilLocked(owner: postgres.Sql, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const waiting = await owner`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if (waiting.length > 0) return;
  }
}

/** A folder of eleven files counts as two requests; the second is counted while the first one's shard is locked. */
async function foldersNeverWait(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  for (let file = 0; file < 11; file++) {
    await commit(clients, project, "write", { path: `folder/${file}`, segments: [newSegment(project)] });
  }
  await setLimit(owner, project, 2);
  const remove = async () => {
    const change = JSON.stringify({ path: "folder", commitId: crypto.randomUUID() });
    const [row] = await clients<{ answer: Answer }[]>`
      select public.filestore_commit_many(
        ${project.keyHash}, gen_random_uuid(), 1, 'delete_folder', ${change}::text::jsonb) as answer`;
    return row?.answer;
  };
  await whileWriting(clients, project, 1, async () => {
    assertEquals((await remove())?.refusal?.code, "RATE_LIMIT_EXCEEDED");
  }, false);
  const removed = await remove();
  assertEquals([removed?.refusal, removed?.rate?.remaining], [undefined, 0], "nothing was counted");
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
  for (const read of ["content($1, null, 'f')", "authorize($1, null)", "versions($1, null, 'f', 10, 0)"]) {
    assertEquals(
      await settingAfter(`set_config('synchronous_commit', 'on', true), public.filestore_${read}`),
      "off",
    );
  }
  const rename = `filestore_administer($1, null, 'rename', '{"name": "${project.id}"}')`;
  await owner`update filestore.api_keys set scopes = '{read,write,admin}' where project_id = ${project.id}`;
  assertEquals(await settingAfter(`set_config('synchronous_commit', 'on', true), public.${rename}`), "on");
  // The table is unlogged, so a commit does not wait for its log.
  assertEquals(
    [...await owner`select relpersistence from pg_class where oid = 'filestore.rate_windows'::regclass`],
    [{ relpersistence: "u" }],
  );
}

/** Counts `used` requests in the window, spread over the shards as evenly as possible. */
async function useUp(owner: postgres.Sql, project: Project, used: number): Promise<void> {
  await owner`
    update filestore.rate_windows set request_count = (${used}::integer + ${RATE_SHARDS} - shard) / ${RATE_SHARDS}
    where project_id = ${project.id}`;
}

async function counted(owner: postgres.Sql, project: Project): Promise<number | undefined> {
  const [row] = await owner<{ counted: number }[]>`
    select sum(request_count)::integer as counted from filestore.rate_windows where project_id = ${project.id}`;
  return row?.counted;
}

/** Runs `send` `count` times, by 72 clients. Returns the results. */
async function inParallel<Result>(
  count: number,
  send: (request: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) results.push(await send(next++));
  };
  await Promise.all(Array.from({ length: 72 }, client));
  return results;
}

/** Writes and other requests alternate. */
async function race(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  for (const limit of LIMITS) {
    await setLimit(owner, project, limit);
    const left = Math.min(limit, 300);
    await useUp(owner, project, limit - left);
    const answers = await inParallel(left + 100, async (request) => {
      const change = { path: `${request % 40}`, segments: [newSegment(project)] };
      return request % 2 === 0
        ? await commit(clients, project, "write", change, crypto.randomUUID())
        : await admit(clients, project);
    });
    const remaining = (of: typeof answers) =>
      of.map(({ rate }) => rate?.remaining ?? -1).sort((a, b) => a - b);
    const admitted = remaining(answers.filter(isAdmitted));
    assertEquals([admitted.length, await counted(owner, project)], [left, limit], `of ${limit}`);
    assert(admitted.every((shown, place) => shown >= place), `late, but never too few: ${admitted}`);
    assertEquals(remaining(answers.filter((answer) => !isAdmitted(answer))), Array(100).fill(0));
  }
}

/** Each request counts as 1 to 20. It is counted in full, or not at all if fewer are left. */
async function raceOfSeveral(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  for (const limit of [65, 1000]) {
    await setLimit(owner, project, limit);
    await useUp(owner, project, 0);
    const answers = await inParallel(limit / 5, async (request) => {
      const requests = request % 20 + 1;
      const [row] = await clients<{ answer: Answer }[]>`
        select public.filestore_authorize(
          ${project.keyHash}, gen_random_uuid(), p_requests => ${requests}) as answer`;
      return { requests, isAdmitted: row !== undefined && isAdmitted(row.answer) };
    });
    const used = answers.filter((answer) => answer.isAdmitted).reduce(
      (sum, { requests }) => sum + requests,
      0,
    );
    assertEquals(await counted(owner, project), used);
    assert(used <= limit, `${used} of ${limit}`);
    const refused = answers.filter((answer) => !answer.isAdmitted);
    assert(
      refused.length > 0 && refused.every(({ requests }) => used + requests > limit),
      `${used} of ${limit}`,
    );
  }
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

/**
 * With statistics of many projects with one row each, Postgres may choose a join that searches a shard once for each
 * shard.
 */
async function countedOnce(owner: postgres.Sql, clients: postgres.Sql, project: Project): Promise<void> {
  await setLimit(owner, project, 1000);
  await owner`
    with others as (
      insert into filestore.projects (name, tier) select 'neighbour ' || n, 'pro' from generate_series(1, 5000) n
      returning id)
    insert into filestore.rate_windows (project_id, shard) select id, 1 from others`;
  await owner`analyze filestore.rate_windows`;
  for (let requests = 1; requests <= 3 * RATE_SHARDS; requests++) {
    const { rate } = await admit(clients, project);
    assertEquals(rate?.remaining, 1000 - requests);
  }
  assertEquals(await counted(owner, project), 3 * RATE_SHARDS);
}
