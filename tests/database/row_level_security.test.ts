/**
 * No operation lets one project see or change another's rows. Each operation is called for a project that is alone in
 * the database, and for one beside another project with the same paths and more: the answers must be equal, and the
 * other project's rows unchanged. Policies and conditions in the queries both guard this. Either must be enough alone;
 * with both removed, the table below must find a leak through every operation, which proves that it can.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { type PostgresServer, startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import { makeProject, type Project } from "../support/postgres/postgres_filestore.ts";
import {
  BY_SECRET,
  type Call,
  calls,
  type Contents,
  fill,
  index,
  OTHER,
  OTHER_IDS,
  OWN,
  OWN_IDS,
} from "./isolation_calls.ts";

/** Operations find rows of these tables by a key or an account, and then change them under the account's policies. */
const ACCOUNT_TABLES = ["projects", "api_keys", "console_sessions"];

const ROOM_BYTES = 6_000;

interface Guard {
  readonly policies: boolean;
  readonly conditions: boolean;
}

Deno.test("isolation of projects", async (t) => {
  const server = await startPostgres();
  try {
    await t.step("policies and conditions together isolate every operation", async () => {
      assertEquals(await leaks(server, "both", { policies: true, conditions: true }), []);
    });
    await t.step("row-level security alone isolates every operation", async () => {
      assertEquals(await leaks(server, "policies_alone", { policies: true, conditions: false }), []);
    });
    await t.step("the conditions alone isolate every operation", async () => {
      assertEquals(await leaks(server, "conditions_alone", { policies: false, conditions: true }), []);
    });
    await t.step("with neither, a leak is found through every operation", async () => {
      const found = await leaks(server, "neither", { policies: false, conditions: false });
      const leaking = new Set(found.map((leak) => leak.split(":")[0]));
      const guarded = calls.map(({ operation }) => operation).filter((name) => !BY_SECRET.includes(name));
      assertEquals(leaking, new Set(guarded));
    });
    await t.step("every operation of the catalog is called", async () => {
      const sql = connect(server.urlOf("supabase_admin", "both"), 1);
      const rows = await sql<{ name: string }[]>`
        select p.proname as name from pg_proc p
        where p.pronamespace = 'public'::regnamespace
          and p.proowner in ('filestore_engine'::regrole, 'filestore_account'::regrole)`;
      await sql.end();
      assertEquals(new Set(calls.map((call) => call.operation)), new Set(rows.map((row) => row.name)));
    });
  } finally {
    await server.stop();
  }
});

/** Names of the calls that see or change another project's data. */
async function leaks(server: PostgresServer, name: string, guard: Guard): Promise<string[]> {
  const alone = await outcomes(server, `${name}_alone`, guard, false);
  const together = await outcomes(server, name, guard, true);
  return calls
    .filter((_, index) => together[index]?.answer !== alone[index]?.answer || together[index]?.isOtherChanged)
    .map((call) => `${call.operation}: ${call.what}`);
}

interface Outcome {
  readonly answer: string;
  readonly isOtherChanged: boolean;
}

/** The outcome of each call, in a database of its own where the calling project has a neighbour or not. */
async function outcomes(
  server: PostgresServer,
  name: string,
  guard: Guard,
  hasNeighbour: boolean,
): Promise<Outcome[]> {
  const database = await createMigrated(server, name);
  const sql = connect(database.superuserUrl, 1);
  try {
    const other = hasNeighbour ? await makeFilled(sql, OTHER) : undefined;
    const own = await makeFilled(sql, OWN);
    // Changed only now, so that the calls find consistent data with any guard. There is room for each call, but none if
    // the neighbour's rows were counted, too.
    await sql`
      update filestore.projects p set max_project_bytes = ${ROOM_BYTES} + (
        select sum(u.bytes + u.database_bytes) from filestore.project_usage u where u.project_id = p.id)
      where p.id = ${own.id}`;
    if (other) {
      const [usage] = await sql<{ bytes: number }[]>`
        select sum(bytes + database_bytes)::integer as bytes from filestore.project_usage where project_id = ${other.id}`;
      assert((usage?.bytes ?? 0) > ROOM_BYTES);
    }
    await sql`update filestore.settings set project_makers = '{anyone}'`;
    if (!guard.conditions) await removeConditions(sql);
    if (!guard.policies) {
      for (const table of await tenantTables(sql)) {
        await sql`alter table ${sql(`filestore.${table}`)} disable row level security`;
      }
      for (const { name, table, command } of await accountPolicies(sql)) {
        const [using, check] = [
          command !== "INSERT",
          command === "INSERT" || command === "UPDATE" || command === "ALL",
        ];
        await sql`alter policy ${sql(name)} on ${sql(`filestore.${table}`)}
          ${using ? sql`using (true)` : sql``} ${check ? sql`with check (true)` : sql``}`;
      }
    }
    const before = await rowsOf(sql, other);
    const found: Outcome[] = [];
    for (const call of calls) {
      await sql`begin`;
      const answer = await answerOf(sql, call, own);
      found.push({ answer, isOtherChanged: before !== await rowsOf(sql, other) });
      await sql`rollback`;
    }
    return found;
  } finally {
    await sql.end();
  }
}

/** The other tables with rows of projects. */
async function tenantTables(sql: postgres.Sql): Promise<readonly string[]> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'project_id'
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r' and c.relname <> all (${ACCOUNT_TABLES})
    order by 1`;
  assert(tables.length > ACCOUNT_TABLES.length);
  return tables.map(({ name }) => name);
}

/** Tests an account's rights on the tables whose rows are found by a key or an account. */
async function accountPolicies(sql: postgres.Sql) {
  const found = await sql<{ name: string; table: string; command: string }[]>`
    select policyname as name, tablename as table, cmd as command from pg_policies
    where schemaname = 'filestore' and tablename = any (${ACCOUNT_TABLES}) and roles = '{filestore_account}'`;
  assert(found.length >= ACCOUNT_TABLES.length);
  return found;
}

async function makeFilled(sql: postgres.Sql, contents: Contents): Promise<Project> {
  const { projectId: id, keyId, accountId: ownerId } = contents.isOther ? OTHER_IDS : OWN_IDS;
  const project = await makeProject(sql, contents.isOther ? "other" : "own", {
    id,
    keyId,
    ownerId,
    requestsPerMinute: 50,
  });
  await sql`insert into auth.sessions (id, user_id) values (${ownerId}, ${ownerId})`;
  await sql`update filestore.api_keys set scopes = '{read,write,admin}' where id = ${keyId}`;
  await sql`set role service_role`;
  await fill(sql, project, contents);
  await index(sql, project, contents);
  await sql`reset role`;
  if (contents.isOther) {
    // As many as an account may have: if they were counted for another account, it could create none.
    await sql`
      insert into filestore.projects (owner_id, name, tier)
      select ${ownerId}::uuid, 'other ' || n, 'free' from generate_series(2, 20) n`;
  }
  await setTimes(sql, project);
  return project;
}

/** Gives each version and link a time of its own, so that the order by time is always the same. */
async function setTimes(sql: postgres.Sql, { id }: Project): Promise<void> {
  await sql`
    update filestore.file_versions v set created_at = now() - interval '1 hour' + t.position * interval '1 second'
    from (
      select w.file_id, w.version, row_number() over (order by f.path, w.version) as position
      from filestore.file_versions w join filestore.files f on f.id = w.file_id where w.project_id = ${id}
    ) t where v.file_id = t.file_id and v.version = t.version`;
  await sql`
    update filestore.files f set updated_at = v.created_at from filestore.file_versions v
    where f.project_id = ${id} and v.file_id = f.id and v.version = f.version`;
  await sql`
    update filestore.links l set created_at = now() - interval '1 hour' + t.position * interval '1 second'
    from (select k.id, row_number() over (order by k.id) as position from filestore.links k where k.project_id = ${id}) t
    where l.id = t.id`;
}

async function answerOf(sql: postgres.Sql, call: Call, project: Project): Promise<string> {
  await sql`savepoint call`;
  const claims = { sub: OWN_IDS.accountId, role: "authenticated", session_id: OWN_IDS.accountId };
  await sql`select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true)`;
  await sql`set local role ${sql(call.caller)}`;
  try {
    const parameters = call.caller === "service_role" ? [project.keyHash] : [];
    const [row] = await sql.unsafe(`select (${call.sql})::text as answer`, parameters);
    await sql`reset role`;
    return normalised(String(row?.answer));
  } catch (error) {
    await sql`rollback to savepoint call`;
    return normalised(`raised: ${error instanceof Error ? error.message : error}`);
  }
}

/** The answer without times, with ids numbered in the order of appearance, so that two runs can be compared. */
function normalised(answer: string): string {
  const ids: string[] = [];
  return answer
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `id${ids.indexOf(id)}`;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time")
    // Each project encrypts its cursors with a key of its own, and their positions are counted over all projects.
    .replaceAll(/(?<=")[0-9a-f]{32}(?=")/g, "cursor")
    .replaceAll(/"(position|before)" ?: \d+/g, "position")
    .replaceAll(/"reset": \d+/g, '"reset": time');
}

async function rowsOf(sql: postgres.Sql, project: Project | undefined): Promise<string> {
  if (project === undefined) return "";
  const rows: string[] = [];
  for (const table of [...await tenantTables(sql), "api_keys", "console_sessions"]) {
    const found = await sql<{ row: string }[]>`
      select t::text as row from ${
      sql(`filestore.${table}`)
    } t where t.project_id = ${project.id} order by 1`;
    rows.push(...found.map(({ row }) => `${table} ${row}`));
  }
  const [row] = await sql<{ row: string }[]>`
    select p::text as row from filestore.projects p where p.id = ${project.id}`;
  return [...rows, row?.row].join("\n");
}

/** Removes the project from every condition of every function, so that only the policies isolate projects. */
async function removeConditions(sql: postgres.Sql): Promise<void> {
  const functions = await sql<{ definition: string }[]>`
    select pg_get_functiondef(p.oid) as definition from pg_proc p
    where p.pronamespace in ('filestore'::regnamespace, 'public'::regnamespace)
      and p.prolang in (select l.oid from pg_language l where l.lanname in ('sql', 'plpgsql'))
      and not starts_with(p.proname, 'filestore_admin_')`;
  let removed = 0;
  for (const { definition } of functions) {
    const rewritten = definition
      .replaceAll(/\b\w+\.project_id = (\([\w.]+\)\.\w+|[\w.]+|\$1)/g, () => (removed++, "true"))
      .replaceAll(/\bp\.id = v_session\.project_id/g, () => (removed++, "true"))
      // Except where the function looks up the project of the request.
      .replaceAll(/(?<! or )\bp\.id = p_project_id/g, () => (removed++, "true"))
      .replaceAll(
        /\bp\.owner_id = (\(select filestore\.current_account_id\(\)\)|[\w.]+(\(\))?)/g,
        () => (removed++, "true"),
      );
    assert(!/(\bproject|\bowner)_id = /.test(rewritten), rewritten);
    if (rewritten !== definition) await sql.unsafe(rewritten);
  }
  assert(removed > 30, `only ${removed} conditions were found`);
}
