/**
 * One project never learns of or changes another one's rows, by any operation. Each operation is called for a
 * project once while it is alone in the database and once next to another project with the same paths and more:
 * the answers must be the same, and the other project's rows must be what they were.
 *
 * Two things guard that, the policies and the conditions in the queries. Either must be enough alone; with both
 * taken away the table below must find a leak through every operation, which proves that it can.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { connect, createMigrated } from "../support/postgres_hosted.ts";
import { makeProject, type Project } from "../support/postgres_filestore.ts";
import { calls, type Contents, fill, index, OTHER, OWN } from "./isolation_calls.ts";

const TENANT_TABLES = [
  "rate_windows",
  "files",
  "file_versions",
  "segments",
  "directories",
  "project_usage",
  "idempotency_keys",
  "search_queue",
  "search_texts",
  "search_chunks",
];

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
      assertEquals(leaking, new Set(calls.map((call) => call.operation)));
    });
    await t.step("every operation of the catalog is called", async () => {
      const sql = connect(server.urlOf("supabase_admin", "both"), 1);
      const rows = await sql<{ name: string }[]>`
        select p.proname as name from pg_proc p
        where p.proowner = 'filestore_engine'::regrole and p.proname <> 'filestore_ping'`;
      await sql.end();
      assertEquals(new Set(calls.map((call) => call.operation)), new Set(rows.map((row) => row.name)));
    });
  } finally {
    await server.stop();
  }
});

/** Names of the calls that see or change what is not theirs. */
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

/** Of each call, in a database of its own where the calling project has a neighbour or has not. */
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
    // Only now, so that what the calls find is in order whatever the guard.
    await sql`update filestore.projects set max_project_bytes = 500 where id = ${own.id}`;
    if (!guard.conditions) await removeConditions(sql);
    if (!guard.policies) {
      for (const table of TENANT_TABLES) {
        await sql`alter table ${sql(`filestore.${table}`)} disable row level security`;
      }
    }
    const before = await rowsOf(sql, other);
    const found: Outcome[] = [];
    for (const call of calls) {
      await sql`begin`;
      const answer = await answerOf(sql, call.sql, own);
      found.push({ answer, isOtherChanged: before !== await rowsOf(sql, other) });
      await sql`rollback`;
    }
    return found;
  } finally {
    await sql.end();
  }
}

async function makeFilled(sql: postgres.Sql, contents: Contents): Promise<Project> {
  const project = await makeProject(sql, contents.isOther ? "other" : "own", { requestsPerMinute: 50 });
  await sql`set role service_role`;
  await fill(sql, project, contents);
  await index(sql, project, contents);
  await sql`reset role`;
  return project;
}

async function answerOf(sql: postgres.Sql, call: string, project: Project): Promise<string> {
  await sql`savepoint call`;
  await sql`set local role service_role`;
  try {
    const [row] = await sql.unsafe(`select (${call})::text as answer`, [project.keyHash]);
    await sql`reset role`;
    return normalised(String(row?.answer));
  } catch (error) {
    await sql`rollback to savepoint call`;
    return normalised(`raised: ${error instanceof Error ? error.message : error}`);
  }
}

/** Ids by the order they appear in, and no times: what two runs have in common. */
function normalised(answer: string): string {
  const ids: string[] = [];
  return answer
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `id${ids.indexOf(id)}`;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time")
    .replaceAll(/"reset": \d+/g, '"reset": time');
}

async function rowsOf(sql: postgres.Sql, project: Project | undefined): Promise<string> {
  if (project === undefined) return "";
  const rows: string[] = [];
  for (const table of [...TENANT_TABLES, "api_keys"]) {
    const found = await sql<{ row: string }[]>`
      select t::text as row from ${
      sql(`filestore.${table}`)
    } t where t.project_id = ${project.id} order by 1`;
    rows.push(...found.map(({ row }) => `${table} ${row}`));
  }
  return rows.join("\n");
}

/** Takes the project out of every condition of every function: what is left to isolate is the policies. */
async function removeConditions(sql: postgres.Sql): Promise<void> {
  const functions = await sql<{ definition: string }[]>`
    select pg_get_functiondef(p.oid) as definition from pg_proc p
    where p.pronamespace in ('filestore'::regnamespace, 'public'::regnamespace)
      and p.prolang in (select l.oid from pg_language l where l.lanname in ('sql', 'plpgsql'))
      and not starts_with(p.proname, 'filestore_admin_')`;
  let removed = 0;
  for (const { definition } of functions) {
    const rewritten = definition
      .replaceAll(/\b\w+\.project_id = (\(\w+\)\.\w+|[\w.]+|\$1)/g, () => (removed++, "true"))
      .replaceAll(/\bp\.id = v_session\.project_id/g, () => (removed++, "true"));
    assert(!/project_id = /.test(rewritten), rewritten);
    if (rewritten !== definition) await sql.unsafe(rewritten);
  }
  assert(removed > 30, `only ${removed} conditions were found`);
}
