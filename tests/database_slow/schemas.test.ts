/**
 * `supabase/schemas` is what is read, `supabase/migrations` is what is applied: they make the same database,
 * wherever the project says that it runs.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import type postgres from "postgres";
import {
  INITIAL_MIGRATION,
  initialMigration,
  isGenerated,
  listSchemas,
} from "../../supabase/local/database/generate_migration.ts";
import { MIGRATIONS_DIRECTORY, SCHEMAS_DIRECTORY } from "../../supabase/local/repository.ts";
import { startBackend } from "../../supabase/local/stack/backend.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { type PostgresServer, type PostgresVersion, startPostgres } from "../support/postgres/postgres.ts";
import {
  applyMigrations,
  applySchemas,
  createHostedLike,
  listMigrations,
  withConnection,
} from "../support/postgres/postgres_hosted.ts";
import { type CatalogRow, readCatalog } from "../database/catalog_snapshot.ts";

const VERSIONS: PostgresVersion[] = [15, 16, 17];
const LINES_MAX = 11_000;
const LINE_LENGTH_MAX = 120;

Deno.test("schemas: one file per subject, few enough and short enough lines to be read", async () => {
  let lines = 0;
  for (const file of listSchemas()) {
    const text = await Deno.readTextFile(join(SCHEMAS_DIRECTORY, file));
    assert(/^-- \S/.test(text), `${file} begins with its purpose`);
    for (const [index, line] of text.split("\n").entries()) {
      assert(line.length <= LINE_LENGTH_MAX, `${file}:${index + 1} has ${line.length} characters`);
    }
    lines += text.split("\n").length - 1;
  }
  assert(lines <= LINES_MAX, `the schemas have ${lines} lines`);
});

Deno.test("schemas: each function is defined once, with its comment and its privileges directly beneath", async () => {
  const defined = new Map<string, number>();
  for (const file of listSchemas()) {
    const text = await Deno.readTextFile(join(SCHEMAS_DIRECTORY, file));
    for (const [, name = ""] of text.matchAll(/^create (?:or replace )?function (\S+?)\(/gm)) {
      defined.set(name, (defined.get(name) ?? 0) + 1);
      const followed = new RegExp(
        `(?:\\$\\$|\\nreturn [^;]+);\\ncomment on function ${
          name.replace(".", "\\.")
        } is\\s+'(?:[^']|'')+'(?:\\s+'(?:[^']|'')+')*;\\n` +
          `call filestore\\.(?:publish|grant_execute)\\(\\s*'${name.replace(".", "\\.")}',`,
      );
      assert(followed.test(text), `${file}: ${name} is followed by its comment and its privileges`);
    }
  }
  assert(defined.size > 90);
  assertEquals([...defined].filter(([, count]) => count > 1), []);
});

Deno.test("migrations: while there is one alone, it is the schemas, generated", async () => {
  const migrations = listMigrations();
  assertEquals(migrations[0], INITIAL_MIGRATION);
  if (!isGenerated(migrations)) return;
  const found = await Deno.readTextFile(join(MIGRATIONS_DIRECTORY, INITIAL_MIGRATION));
  assertEquals(found === await initialMigration(), true, "run supabase/local/database/generate_migration.ts");
});

for (const version of VERSIONS) {
  Deno.test(`schemas and migrations make the same database on Postgres ${version}, as a role that is no superuser`, async () => {
    const server = await startPostgres({ version });
    try {
      const fromMigrations = await catalogOf(server, "migrations", applyMigrations);
      const fromSchemas = await catalogOf(server, "schemas", applySchemas);
      assertEquals(fromSchemas, fromMigrations);
      assertComplete(fromSchemas);
    } finally {
      await server.stop();
    }
  });
}

Deno.test("schemas and migrations make the same database on PGlite", async () => {
  const empty = await Deno.makeTempDir();
  try {
    const fromMigrations = await pgliteCatalog(MIGRATIONS_DIRECTORY, () => Promise.resolve());
    const fromSchemas = await pgliteCatalog(empty, async (script) => {
      for (const file of listSchemas()) await script(await Deno.readTextFile(join(SCHEMAS_DIRECTORY, file)));
    });
    assertEquals(fromSchemas, fromMigrations);
    assertComplete(fromSchemas);
  } finally {
    await Deno.remove(empty, { recursive: true });
  }
});

Deno.test("the comparison notices whatever one of two databases has and the other has not", async (t) => {
  const server = await startPostgres();
  try {
    const expected = await catalogOf(server, "expected", applySchemas);
    for (const [index, change] of CHANGES.entries()) {
      await t.step(change, async () => {
        const found = await catalogOf(server, `changed_${index}`, async (sql) => {
          await applySchemas(sql);
          await sql.unsafe(change);
        });
        assert(JSON.stringify(found) !== JSON.stringify(expected));
      });
    }
  } finally {
    await server.stop();
  }
});

/** What a hand-written migration may forget or do too much, one of each kind. */
const CHANGES = [
  "alter function filestore.segment_list set jit = off",
  "revoke execute on function filestore.is_live from filestore_engine",
  "comment on function filestore.is_live is 'Another comment.'",
  "comment on table filestore.files is null",
  "comment on column filestore.files.segment_ids is null",
  "alter table filestore.files alter column mime_type drop not null",
  "alter table filestore.api_keys alter column name set default 'none'",
  "alter table filestore.files add column extra integer",
  "alter table filestore.files alter column segment_ids set storage extended",
  "alter table filestore.files set (fillfactor = 100)",
  "alter table filestore.files disable row level security",
  "alter table filestore.tiers add constraint named check (name <> '')",
  "alter domain filestore.file_path add constraint named check (value <> '')",
  "drop index filestore.files_by_size",
  "drop trigger queue_for_search_on_insert on filestore.files",
  'alter policy "A key sees the files of its project below its prefix" on filestore.files using (true)',
  "grant delete on filestore.files to filestore_engine",
  "grant update (size) on filestore.files to filestore_account",
  "alter type filestore.session add attribute extra text",
  "grant create on schema filestore to filestore_engine",
  "create view public.everything as select 1 as one",
  "update filestore.tiers set requests_per_minute = 101 where name = 'free'",
];

type Apply = (sql: postgres.Sql) => Promise<void>;

async function catalogOf(
  server: PostgresServer,
  name: string,
  apply: Apply,
): Promise<Record<string, string>> {
  const database = await createHostedLike(server, name);
  await withConnection(database.url, apply);
  return await withConnection(
    database.superuserUrl,
    (sql) => readCatalog(async (text) => [...await sql.unsafe<CatalogRow[]>(text)]),
  );
}

/** Of a database as the local stack makes it. */
async function pgliteCatalog(
  migrationsDirectory: string,
  apply: (script: (sql: string) => Promise<void>) => Promise<void>,
): Promise<Record<string, string>> {
  const folder = await Deno.makeTempDir();
  try {
    const backend = await startBackend({
      secrets: await loadSecrets(join(folder, "secrets.json")),
      databaseDirectory: join(folder, "pglite"),
      databaseUrl: undefined,
      storageDirectory: join(folder, "storage"),
      migrationsDirectory,
      onProgress: () => {},
    });
    try {
      await apply((sql) => backend.database.script(sql));
      return await readCatalog((text) => backend.database.query<CatalogRow>(text));
    } finally {
      await backend.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Nothing of a kind would be equal, too. */
function assertComplete(catalog: Record<string, string>): void {
  const counts = new Map<string, number>();
  for (const name of Object.keys(catalog)) {
    const kind = name.split(" ")[0] ?? "";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const kinds = ["function", "relation", "column", "constraint", "policy", "type", "schema", "role", "tier"];
  for (const kind of kinds) assert((counts.get(kind) ?? 0) > 2, kind);
  assertEquals([counts.get("trigger"), counts.get("bucket")], [6, 1]);
}
