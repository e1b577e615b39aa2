/** PGlite with all migrations, without a local stack. */
import { btree_gin } from "@electric-sql/pglite/contrib/btree_gin";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { vector } from "@electric-sql/pglite/vector";
import { PGlite } from "@electric-sql/pglite";
import { join } from "node:path";
import { MIGRATIONS_DIRECTORY } from "../../../supabase/local/repository.ts";
import { listMigrations } from "./postgres_hosted.ts";

export async function openPglite(): Promise<PGlite> {
  const database = await PGlite.create({ extensions: { vector, pg_trgm, btree_gin } });
  await database.exec(`
    create role anon; create role authenticated; create role service_role;
    create schema storage; create schema extensions;
    create table storage.buckets (id text primary key, name text, public boolean, file_size_limit bigint, allowed_mime_types text[])`);
  for (const file of listMigrations()) {
    await database.exec(await Deno.readTextFile(join(MIGRATIONS_DIRECTORY, file)));
  }
  return database;
}
