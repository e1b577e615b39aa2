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

interface Migration {
  readonly version: string;
  readonly name: string;
  readonly file: string;
}

const RECORD = `insert into supabase_migrations.schema_migrations (version, name, statements)
  values ($1, $2, array[$3::text])`;

/** Applies what is missing. `onApply` hears of each file before it is applied. Throws `StartupError`. */
export async function migrate(
  database: Database,
  directory: string,
  onApply: (file: string) => void,
): Promise<void> {
  const rows = await database.query<{ version: string }>(
    "select version from supabase_migrations.schema_migrations",
  );
  const applied = new Set(rows.map((row) => row.version));
  for (const migration of await listMigrations(directory)) {
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

async function listMigrations(directory: string): Promise<Migration[]> {
  const migrations: Migration[] = [];
  for await (const entry of Deno.readDir(directory)) {
    const [, version, name] = /^(\d+)_(.*)\.sql$/.exec(entry.name) ?? [];
    if (version !== undefined && name !== undefined) migrations.push({ version, name, file: entry.name });
  }
  return migrations.sort((a, b) => (a.version < b.version ? -1 : 1));
}
