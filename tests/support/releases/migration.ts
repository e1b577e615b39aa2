/** Applies migrations to the database of an earlier release, as `supabase db push` does, and watches what they do to it. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import type postgres from "postgres";
import { listMigrations, type Migration } from "../../../supabase/local/database/migrations.ts";
import { MIGRATIONS_DIRECTORY } from "../../../supabase/local/repository.ts";

/** The migrations that the database lacks. */
export async function missing(sql: postgres.Sql): Promise<Migration[]> {
  const applied = await sql<{ version: string }[]>`select version from supabase_migrations.schema_migrations`;
  const versions = new Set(applied.map(({ version }) => version));
  return (await listMigrations(MIGRATIONS_DIRECTORY)).filter(({ version }) => !versions.has(version));
}

/** Throws unless the migrations that the database of a release has are here, unchanged. */
export async function assertFrozen(sql: postgres.Sql): Promise<void> {
  const all = await listMigrations(MIGRATIONS_DIRECTORY);
  const applied = await sql<{ version: string; statements: string[] }[]>`
    select version, statements from supabase_migrations.schema_migrations order by version`;
  for (const [index, { version, statements }] of applied.entries()) {
    const { version: expected, file = "" } = all[index] ?? {};
    assertEquals(version, expected);
    const text = await Deno.readTextFile(join(MIGRATIONS_DIRECTORY, file));
    assertEquals(text === statements.join(""), true, `${file} has changed since it was released`);
  }
}

/**
 * What a transaction did to the tables and views that were there before it, and which locks it holds that let nobody
 * write.
 */
const EFFECTS = `
  select c.relname as name, c.relfilenode::text as file, coalesce(s.seq_tup_read, 0)::integer as read,
    coalesce((select string_agg(l.mode, ' ' order by l.mode) from pg_catalog.pg_locks l
      where l.relation = c.oid and l.pid = pg_backend_pid()
        and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')), '') as locks
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  left join pg_catalog.pg_stat_xact_all_tables s on s.relid = c.oid
  where n.nspname in ('filestore', 'storage', 'auth') and c.relkind in ('r', 'v')
  order by c.relname`;
/** Tables with few rows, however many files there are. */
const SMALL = ["webhooks"];
interface Effect {
  readonly name: string;
  readonly file: string;
  readonly read: number;
  readonly locks: string;
}

/**
 * Applies the missing migrations, each in a transaction of its own. Returns the tables and views that were locked. Throws
 * if a migration has rewritten a table or read all of it while others had to wait, since that takes the longer the more
 * files there are; or if it has locked two, since a request that uses one may wait for the other.
 */
export async function pushAll(sql: postgres.Sql): Promise<string[]> {
  const locks: string[] = [];
  for (const { version, name, file } of await missing(sql)) {
    const text = await Deno.readTextFile(join(MIGRATIONS_DIRECTORY, file));
    await sql.begin(async (transaction) => {
      const effects = () => transaction.unsafe<Effect[]>(EFFECTS);
      const before = new Map((await effects()).map((effect) => [effect.name, effect]));
      await transaction.unsafe(text).simple();
      const own: string[] = [];
      for (const after of await effects()) {
        const table = before.get(after.name);
        if (table === undefined || after.locks === "") continue;
        own.push(`${after.name} ${after.locks}`);
        const [file, read] = [after.file, SMALL.includes(after.name) ? 0 : after.read - table.read];
        assertEquals(
          { file, read },
          { file: table.file, read: 0 },
          `${name} reads or rewrites ${after.name}`,
        );
      }
      assert(own.length <= 1, `${name} locks ${own}`);
      locks.push(...own);
      await transaction`insert into supabase_migrations.schema_migrations (version, name, statements)
        values (${version}, ${name}, ${[text]})`;
    });
  }
  return locks;
}

/** A digest of each table's rows, in the columns that it had at first. */
export interface Rows {
  readonly columns: ReadonlyMap<string, string>;
  readonly digests: ReadonlyMap<string, string>;
}

export async function digestOfRows(sql: postgres.Sql, known?: Rows["columns"]): Promise<Rows> {
  const columns = known ?? new Map(
    (await sql.unsafe<{ name: string; columns: string }[]>(
      `select format('%I.%I', table_schema, table_name) as name,
        string_agg(format('%I', column_name), ', ' order by ordinal_position) as columns
       from information_schema.columns where table_schema in ('filestore', 'storage', 'auth')
         and (table_schema, table_name) in (select schemaname, tablename from pg_catalog.pg_tables)
       group by 1`,
    )).map(({ name, columns }) => [name, columns]),
  );
  const digests = new Map<string, string>();
  for (const [name, list] of columns) {
    const [row] = await sql.unsafe<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(r, ',' order by r)), '') as digest
       from (select md5(row(${list})::text) as r from ${name}) rows`,
    );
    digests.set(name, row?.digest ?? "");
  }
  return { columns, digests };
}
