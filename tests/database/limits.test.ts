/** The numbers that database and function share are equal on both sides. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import type postgres from "postgres";
import { isBinaryMediaType, MEDIA_TYPES } from "../../supabase/functions/api/contract/media_types.ts";
import * as limits from "../../supabase/functions/api/limits.ts";
import { SCHEMAS_DIRECTORY } from "../../supabase/local/repository.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import { listSchemas } from "../support/postgres/schemas.ts";

/** The limits of `limits.ts` by name. */
const LIMITS: ReadonlyMap<string, number> = new Map(Object.entries(limits));

/**
 * Columns whose check constraint contains a limit as a number, since a constraint must not call a function that may
 * change.
 */
const CHECKED: readonly (readonly [table: string, column: string, ...limits: number[]])[] = [
  ["projects", "name", limits.NAME_LENGTH_MAX],
  ["api_keys", "name", limits.NAME_LENGTH_MAX],
  ["api_keys", "path_prefix", limits.PATH_SEGMENTS_MAX, limits.PATH_BYTES_MAX],
  ["files", "path", limits.PATH_SEGMENTS_MAX, limits.PATH_BYTES_MAX],
  ["idempotency_keys", "key", limits.IDEMPOTENCY_KEY_LENGTH_MAX],
  ["members", "email", limits.ADDRESS_LENGTH_MAX],
  ["runs", "run_id", limits.RUN_ID_LENGTH_MAX],
  ["webhooks", "url", limits.WEBHOOK_URL_LENGTH_MAX],
  ["webhooks", "directory", limits.PATH_BYTES_MAX],
  ["webhooks", "description", limits.WEBHOOK_DESCRIPTION_LENGTH_MAX],
  ["search_chunks", "embedding", limits.EMBEDDING_DIMENSIONS_MAX],
];

Deno.test("limits that SQL and limits.ts share", async (t) => {
  const server = await startPostgres();
  const database = await createMigrated(server, "limits");
  const sql = connect(database.superuserUrl, 1);
  try {
    await t.step("the numbers of filestore.limits() that limits.ts has, too, are the same", async () => {
      const [row] = await sql<{ limits: Record<string, number> }[]>`
        select to_jsonb(filestore.limits()) as limits`;
      const found = row?.limits ?? {};
      const shared = Object.keys(found).filter((name) => LIMITS.has(name.toUpperCase()));
      assert(shared.length > 10);
      assertEquals(
        shared.map((name) => [name, found[name]]),
        shared.map((name) => [name, LIMITS.get(name.toUpperCase())]),
      );
    });
    await t.step("each limit of filestore.limits() is read by a function", async () => {
      const schemas = listSchemas().filter((file) => file !== "01_limits.sql").map((file) =>
        Deno.readTextFile(join(SCHEMAS_DIRECTORY, file))
      );
      const text = (await Promise.all(schemas)).join("\n");
      const names = (await Deno.readTextFile(join(SCHEMAS_DIRECTORY, "01_limits.sql"))).matchAll(
        /^ {2}\d+ as (\w+)[,;]$/gm,
      );
      assertEquals([...names].map(([, name]) => name).filter((name) => !text.includes(`.${name}`)), []);
    });
    await t.step("each limit that limits.ts marks as also in SQL is compared here", async () => {
      const [row] = await sql<{ names: string[] }[]>`
        select array(select jsonb_object_keys(to_jsonb(filestore.limits()))) as names`;
      const compared = new Set([...row?.names ?? [], ...WRITTEN_OUT].map((name) => name.toUpperCase()));
      assertEquals((await saidToBeInSql()).filter((name) => !compared.has(name)), []);
    });
    for (const [table, column, ...expected] of CHECKED) {
      await t.step(`the check of ${table}.${column} has the numbers ${expected}`, async () => {
        assertEquals((await numbersOfChecks(sql, table, column)).sort((a, b) => a - b), expected);
      });
    }
    await t.step("the bucket takes objects of the size of a segment", async () => {
      const [bucket] = await sql`select file_size_limit::integer as bytes from storage.buckets`;
      assertEquals(bucket?.bytes, limits.SEGMENT_BYTES_MAX);
    });
    await t.step("vectors have the dimensions of an embedding, wherever the extension is used", async () => {
      const found = new Set<number>();
      for (const file of listSchemas()) {
        const text = await Deno.readTextFile(join(SCHEMAS_DIRECTORY, file));
        for (const [, dimensions] of text.matchAll(/\bvector\((\d+)\)/g)) found.add(Number(dimensions));
      }
      assertEquals([...found], []);
    });
    await t.step("what counts as indexed are the types that the indexer takes for text", async () => {
      for (const type of MEDIA_TYPES) {
        const [row] = await sql<
          { hasText: boolean }[]
        >`select filestore.has_text(${type}, true) as "hasText"`;
        assertEquals(row?.hasText, !isBinaryMediaType(type), type);
      }
    });
  } finally {
    await sql.end();
    await server.stop();
  }
});

/** Limits that a step above compares, but that are not part of `filestore.limits()`. */
const WRITTEN_OUT = [
  "ADDRESS_LENGTH_MAX",
  "RUN_ID_LENGTH_MAX",
  "idempotency_key_length_max",
  "embedding_dimensions_max",
  "segment_bytes_max",
  "webhook_url_length_max",
  "webhook_description_length_max",
];

/** Names of the constants whose comment contains "In SQL", and of those that follow without their own comment. */
async function saidToBeInSql(): Promise<string[]> {
  const files = ["limits.ts", "contract/limits.ts"].map((name) =>
    Deno.readTextFile(new URL(`../../supabase/functions/api/${name}`, import.meta.url))
  );
  const text = (await Promise.all(files)).join("\n");
  const names: string[] = [];
  const documented = /^\/\*\*((?:(?!\*\/)[^])*)\*\/\n((?:export const .*\n)+)/gm;
  for (const [, comment = "", constants = ""] of text.matchAll(documented)) {
    if (!/\bIn SQL\b/.test(comment)) continue;
    for (const [, name = ""] of constants.matchAll(/^export const (\w+)/gm)) names.push(name);
  }
  assert(names.length > 15);
  return names.filter((name) => !ONLY_HERE.includes(name));
}

/** Constants that are not in SQL, under the comment of one that is. */
const ONLY_HERE = ["PAGE_LIMIT_DEFAULT"];

/** The numbers greater than 1 in the check constraints of a column. */
async function numbersOfChecks(sql: postgres.Sql, table: string, column: string): Promise<number[]> {
  const rows = await sql<{ definition: string }[]>`
    select pg_get_constraintdef(c.oid) as definition from pg_constraint c
    join pg_attribute a on a.attrelid = ${`filestore.${table}`}::regclass and a.attname = ${column}
    where c.contype = 'c' and (c.conrelid = a.attrelid and c.conkey = array[a.attnum] or c.contypid = a.atttypid)`;
  const numbers = rows.flatMap(({ definition }) =>
    [...definition.matchAll(/\b\d+\b/g)].map(([text]) => Number(text))
  );
  return [...new Set(numbers.filter((number) => number > 1))];
}
