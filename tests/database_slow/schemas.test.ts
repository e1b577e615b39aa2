/**
 * `supabase/schemas` is the source that people read, and `supabase/migrations` is applied; both create the same
 * database.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import type postgres from "postgres";
import { SCHEMAS_DIRECTORY } from "../../supabase/local/repository.ts";
import { type PostgresServer, startPostgres } from "../support/postgres/postgres.ts";
import {
  applyMigrations,
  applySchemas,
  createHostedLike,
  withConnection,
} from "../support/postgres/postgres_hosted.ts";
import { listSchemas } from "../support/postgres/schemas.ts";
import { type CatalogRow, readCatalog } from "../database/catalog_snapshot.ts";

const LINES_MAX = 11_750;
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

Deno.test("schemas and migrations make the same database, as a role that is no superuser", async () => {
  const server = await startPostgres();
  try {
    const fromMigrations = await catalogOf(server, "migrations", applyMigrations);
    const fromSchemas = await catalogOf(server, "schemas", applySchemas);
    assertEquals(fromSchemas, fromMigrations);
    assertComplete(fromSchemas);
  } finally {
    await server.stop();
  }
});

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

/** Two catalogs without any object of a kind would be equal, too. */
function assertComplete(catalog: Record<string, string>): void {
  const counts = new Map<string, number>();
  for (const name of Object.keys(catalog)) {
    const kind = name.split(" ")[0] ?? "";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const kinds = ["function", "relation", "column", "constraint", "policy", "type", "schema", "role", "tier"];
  for (const kind of kinds) assert((counts.get(kind) ?? 0) > 2, kind);
  assertEquals([counts.get("trigger"), counts.get("bucket")], [5, 1]);
}
