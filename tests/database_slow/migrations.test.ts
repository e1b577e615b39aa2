/** The migrations apply unchanged on every database that the project supports. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { startBackend } from "../../supabase/local/stack/backend.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { type PostgresServer, type PostgresVersion, startPostgres } from "../support/postgres/postgres.ts";
import {
  applyMigrations,
  createHostedLike,
  listMigrations,
  withConnection,
} from "../support/postgres/postgres_hosted.ts";

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
