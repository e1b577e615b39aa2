/**
 * Applies `supabase/migrations` the way Supabase does: in order, each file in one transaction together with its row
 * in `supabase_migrations.schema_migrations`, so that `supabase db push` knows about it too.
 *
 * @supabase/lite has a migrator of its own; it sends BEGIN and COMMIT over a connection pool, where they may reach
 * different sessions.
 */
import { join } from "node:path";
import { VERSION } from "../../functions/api/version.ts";
import type { Database } from "./database.ts";
import { messageOf, StartupError } from "../startup_error.ts";

export interface Migration {
  readonly version: string;
  readonly name: string;
  readonly file: string;
}

const RECORD = `insert into supabase_migrations.schema_migrations (version, name, statements)
  values ($1, $2, array[$3::text])`;

export interface MigrationEvents {
  /** Called with the number of missing migrations, if the database has others already. */
  onUpgrade(count: number): void;
  /** Called before each file. */
  onApply(file: string): void;
}

/** Applies the missing migrations. Throws `StartupError` without a change if the database has migrations of others. */
export async function migrate(
  database: Database,
  directory: string,
  { onUpgrade, onApply }: MigrationEvents,
): Promise<void> {
  const rows = await database.query<{ version: string }>(
    "select version from supabase_migrations.schema_migrations",
  );
  const applied = new Set(rows.map((row) => row.version));
  const migrations = await listMigrations(directory);
  await refuseOtherSchema(database, migrations, applied);
  const missing = migrations.filter(({ version }) => !applied.has(version));
  if (applied.size > 0 && missing.length > 0) onUpgrade(missing.length);
  for (const migration of missing) {
    onApply(migration.file);
    const sql = await Deno.readTextFile(join(directory, migration.file));
    try {
      await database.script(sql, { sql: RECORD, parameters: [migration.version, migration.name, sql] });
    } catch (error) {
      throw new StartupError(`The migration ${migration.file} fails: ${messageOf(error)}`);
    }
  }
}

/**
 * Throws `StartupError` if the database has a migration besides these, or if the schema `filestore` exists but was not
 * created by the first of them.
 */
async function refuseOtherSchema(
  database: Database,
  migrations: readonly Migration[],
  applied: ReadonlySet<string>,
): Promise<void> {
  const known = new Set(migrations.map(({ version }) => version));
  const others = [...applied].filter((version) => !known.has(version)).sort().join(", ");
  if (others !== "") {
    throw new StartupError(
      `The database has migrations that release ${VERSION} does not have (${others}): it belongs to a later release, ` +
        "or to another program. Start it with that release, or use another database.",
    );
  }
  const [first] = migrations;
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
