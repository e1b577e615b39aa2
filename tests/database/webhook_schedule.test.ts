/**
 * The schedule of operating/upkeep.md, on a Postgres with stand-ins for pg_cron, pg_net and the vault, which only a hosted
 * project has: the statement is accepted, and the scheduled command asks for the sweep with the secret key.
 */
import { assertEquals } from "@std/assert";
import { readDocument } from "../support/content/documents.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect } from "../support/postgres/postgres_hosted.ts";

/** The signatures are those of pg_cron 1.6, pg_net 0.14 and supabase_vault 0.3. */
const HOSTED = `
  create schema cron; create schema net; create schema vault;
  create table cron.job (jobname text primary key, schedule text, command text);
  create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql as $$
    insert into cron.job values ($1, $2, $3)
    on conflict (jobname) do update set schedule = excluded.schedule, command = excluded.command returning 1::bigint
  $$;
  create table net.requests (url text, headers jsonb, timeout_milliseconds integer);
  create function net.http_post(
    url text, body jsonb default '{}', params jsonb default '{}',
    headers jsonb default '{"Content-Type": "application/json"}', timeout_milliseconds integer default 5000
  ) returns bigint language sql as $$
    insert into net.requests values ($1, $4, $5) returning 1::bigint
  $$;
  create table vault.decrypted_secrets (name text, decrypted_secret text);
  insert into vault.decrypted_secrets values ('filestore_secret_key', 'sb_secret_x');`;

Deno.test("the schedule asks for the sweep each minute, and replaces the nightly one", async () => {
  const server = await startPostgres();
  const sql = connect(server.url, 1);
  try {
    await sql.unsafe(HOSTED).simple();
    const { blocks } = await readDocument("supabase/docs/operating/upkeep.md");
    const statements = blocks.filter(({ language }) => language === "sql");
    assertEquals(statements.length, 2);
    for (const { text } of statements) await sql.unsafe(text).simple();
    const jobs = await sql<{ schedule: string; command: string }[]>`select schedule, command from cron.job`;
    assertEquals(jobs.map(({ schedule }) => schedule), ["* * * * *"]);
    await sql.unsafe(jobs[0]?.command ?? "").simple();
    assertEquals([...await sql`select * from net.requests`], [{
      url: "https://<ref>.supabase.co/functions/v1/api/sweep",
      headers: { Authorization: "Bearer sb_secret_x" },
      timeout_milliseconds: 30000,
    }]);
  } finally {
    await sql.end();
    await server.stop();
  }
});
