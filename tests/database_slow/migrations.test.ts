/** The migrations apply, unchanged, wherever the project says they do. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import type postgres from "postgres";
import { startBackend } from "../../supabase/local/stack/backend.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { type PostgresServer, type PostgresVersion, startPostgres } from "../support/postgres/postgres.ts";
import { content, makeProject, valueOf } from "../support/postgres/postgres_filestore.ts";
import {
  applyMigrations,
  connect,
  createHostedLike,
  listMigrations,
  withConnection,
} from "../support/postgres/postgres_hosted.ts";
import { fill, OTHER } from "../database/isolation_calls.ts";

const VERSIONS: PostgresVersion[] = [15, 16, 17];

for (const version of VERSIONS) {
  Deno.test(`migrations on Postgres ${version}`, async (t) => {
    const server = await startPostgres({ version });
    try {
      await t.step("apply to an empty hosted-like database, as a role that is no superuser", async () => {
        const database = await createHostedLike(server, "first");
        await withConnection(database.url, async (sql) => {
          const [role] = await sql`select rolsuper from pg_roles where rolname = current_user`;
          assertEquals(role?.rolsuper, false);
          const [server] = await sql`select current_setting('server_version_num')::integer / 10000 as major`;
          assertEquals(server?.major, version);
          await applyMigrations(sql);
        });
        await assertComplete(server, "first");
      });
      await t.step("apply to a second database of the same server, where the roles exist", async () => {
        const database = await createHostedLike(server, "second");
        await withConnection(database.url, (sql) => applyMigrations(sql));
        await assertComplete(server, "second");
      });
    } finally {
      await server.stop();
    }
  });
}

Deno.test("migrations apply on top of a filled database, and change none of its rows", async (t) => {
  const server = await startPostgres();
  const files = listMigrations();
  try {
    for (let applied = 1; applied <= files.length; applied++) {
      await t.step(`filled after ${files[applied - 1]}`, async () => {
        const database = await createHostedLike(server, `filled_${applied}`);
        const sql = connect(database.url, 1);
        try {
          await applyMigrations(sql, files.slice(0, applied));
          const project = await makeProject(sql, "filled");
          await sql`set role service_role`;
          await fill(sql, project, OTHER);
          await sql`reset role`;
          const columns = await columnsOfTables(sql);
          const before = await rowsOf(sql, columns);
          await applyMigrations(sql, files.slice(applied));
          assertEquals(await rowsOf(sql, columns), before);
          const shown = await sql`
            select f.path from filestore.files f
            where not f.is_deleted and (
              not exists (select from filestore.search_queue q where q.file_id = f.id and q.version = f.version and q.stage = 1)
              or exists (select from filestore.search_texts t where t.file_id = f.id and t.version = f.version))`;
          assertEquals([...shown], []);
          await sql`set role service_role`;
          assertEquals(valueOf(await content(sql, project, "notes/a.txt")).file.version, OTHER.versions);
        } finally {
          await sql.end();
        }
      });
    }
  } finally {
    await server.stop();
  }
});

Deno.test("migrations apply to PGlite as the local stack opens it, and once only", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const open = async (applied: string[]) =>
      await startBackend({
        secrets: await loadSecrets(join(folder, "secrets.json")),
        databaseDirectory: join(folder, "pglite"),
        databaseUrl: undefined,
        storageDirectory: join(folder, "storage"),
        migrationsDirectory: MIGRATIONS_DIRECTORY,
        onProgress: (line) => applied.push(line),
      });
    for (const expected of [listMigrations(), []]) {
      const progress: string[] = [];
      const backend = await open(progress);
      try {
        assertEquals(
          progress.filter((line) => line.endsWith(".sql")),
          expected.map((file) => `Applying ${file}`),
        );
        const [row] = await backend.database.query("select public.filestore_health_probe() as is_written");
        assertEquals(row, { is_written: true });
      } finally {
        await backend.close();
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Names of the columns of each table, but for those that are made of the others. */
async function columnsOfTables(sql: postgres.Sql): Promise<Map<string, string[]>> {
  const rows = await sql<{ table: string; columns: string[] }[]>`
    select table_name as table, array_agg(column_name::text order by ordinal_position) as columns
    from information_schema.columns where table_schema = 'filestore' and table_name not like 'search%' group by table_name order by table_name`;
  return new Map(rows.map((row) => [row.table, row.columns]));
}

/** All rows, in these columns: a migration may add others. */
async function rowsOf(sql: postgres.Sql, tables: Map<string, string[]>): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const [table, columns] of tables) {
    const found = await sql`select ${sql(columns)} from ${sql(`filestore.${table}`)}`;
    rows.push(table, found.map((row) => JSON.stringify(row)).sort());
  }
  return rows;
}

async function assertComplete(server: PostgresServer, database: string): Promise<void> {
  await withConnection(server.urlOf("supabase_admin", database), async (sql) => {
    const tiers =
      await sql`select name, requests_per_minute, max_file_bytes from filestore.tiers order by name`;
    assertEquals(tiers.map((row) => Object.values(row)), [
      ["enterprise", null, null],
      ["free", 100, "10485760"],
      ["pro", 1000, "104857600"],
    ]);
    const buckets = await sql`select id, public from storage.buckets`;
    assertEquals(buckets.map((row) => Object.values(row)), [["filestore-segments", false]]);
    await sql.begin(async (transaction) => {
      await transaction`set local role service_role`;
      const [answer] = await transaction`select public.filestore_health_probe() as is_written`;
      assertEquals(answer?.is_written, true);
    });
  });
}
