/**
 * Applies `supabase/migrations` the way Supabase does: in order, each file in one transaction together with its row
 * in `supabase_migrations.schema_migrations`, so that `supabase db push` knows about it too.
 *
 * @supabase/lite has a migrator of its own; it sends BEGIN and COMMIT over a connection pool, where they may reach
 * different sessions.
 */
import { join } from "node:path";
import type { Database } from "./database.ts";
import { messageOf, StartupError } from "../startup_error.ts";

export interface Migration {
  readonly version: string;
  readonly name: string;
  readonly file: string;
}

const RECORD = `insert into supabase_migrations.schema_migrations (version, name, statements)
  values ($1, $2, array[$3::text])`;

/** Applies the missing migrations. Calls `onApply` before each file. Throws `StartupError`. */
export async function migrate(
  database: Database,
  directory: string,
  onApply: (file: string) => void,
): Promise<void> {
  const rows = await database.query<{ version: string }>(
    "select version from supabase_migrations.schema_migrations",
  );
  const applied = new Set(rows.map((row) => row.version));
  const migrations = await listMigrations(directory);
  await refuseOtherSchema(database, migrations, applied);
  for (const migration of migrations) {
    if (applied.has(migration.version)) continue;
    onApply(migration.file);
    const sql = await Deno.readTextFile(join(directory, migration.file));
    try {
      await database.script(sql, { sql: RECORD, parameters: [migration.version, migration.name, sql] });
    } catch (error) {
      throw new StartupError(`The migration ${migration.file} fails: ${messageOf(error)}`);
    }
  }
}

/** Throws `StartupError` if the schema `filestore` exists but was not created by the first of these migrations. */
async function refuseOtherSchema(
  database: Database,
  [first]: readonly Migration[],
  applied: ReadonlySet<string>,
): Promise<void> {
  if (first === undefined || applied.has(first.version)) return;
  const [schema] = await database.query("select from pg_catalog.pg_namespace where nspname = 'filestore'");
  if (schema === undefined) return;
  throw new StartupError(
    "The database holds files of another version of this service, which this version cannot read; use an empty database.",
  );
}

/** The migrations of a folder, oldest first. */
export async function listMigrations(directory: string): Promise<Migration[]> {
  const migrations: Migration[] = [];
  for await (const entry of Deno.readDir(directory)) {
    const [, version, name] = /^(\d+)_(.*)\.sql$/.exec(entry.name) ?? [];
    if (version !== undefined && name !== undefined) migrations.push({ version, name, file: entry.name });
  }
  return migrations.sort((a, b) => (a.version < b.version ? -1 : 1));
}
