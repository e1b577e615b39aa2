/**
 * Makes a database resemble that of a hosted Supabase project: the same roles with the same attributes; the same
 * default privileges, which grant every new function in `public` to the API roles, so that a migration has to revoke
 * that; storage tables that the storage service owns; and migrations applied by a `postgres` that is not a superuser.
 * Source: the init scripts and migrations of github.com/supabase/postgres, `migrations/db`.
 */
import postgres from "postgres";
import { join } from "node:path";
import { MIGRATIONS_DIRECTORY, SCHEMAS_DIRECTORY } from "../../../supabase/local/repository.ts";
import { PASSWORD, type PostgresServer } from "./postgres.ts";
import { listSchemas } from "./schemas.ts";

/** Cluster-wide, so created once for all databases of a server. */
const ROLES = `
do $$
begin
  if exists (select from pg_roles where rolname = 'postgres') then
    return;
  end if;
  create role postgres nosuperuser createdb createrole login replication bypassrls password '${PASSWORD}';
  create role anon nologin;
  create role authenticated nologin;
  create role service_role nologin bypassrls;
  create role authenticator noinherit login password '${PASSWORD}';
  grant anon, authenticated, service_role to authenticator;
  grant anon, authenticated, service_role to postgres with admin option;
  create role supabase_storage_admin noinherit createrole login noreplication password '${PASSWORD}';
  create role supabase_auth_admin noinherit createrole login noreplication password '${PASSWORD}';
  alter role authenticator set statement_timeout = '8s';
  alter role anon set statement_timeout = '3s';
  alter role authenticated set statement_timeout = '8s';
  alter role postgres set search_path = "$user", public, extensions;
end
$$`;

const DATABASE = `
grant usage on schema public to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on tables to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on functions to postgres, anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on sequences to postgres, anon, authenticated, service_role;

create schema extensions;
grant all on schema extensions to postgres;
grant usage on schema extensions to anon, authenticated, service_role;

create schema auth authorization supabase_auth_admin;
grant usage on schema auth to postgres, anon, authenticated, service_role;
create table auth.users (
  id uuid primary key, email text, email_confirmed_at timestamptz, banned_until timestamptz, deleted_at timestamptz,
  is_sso_user boolean not null default false, is_anonymous boolean not null default false, created_at timestamptz default now()
);
create type auth.aal_level as enum ('aal1', 'aal2', 'aal3');
create table auth.sessions (
  id uuid primary key, user_id uuid not null references auth.users (id) on delete cascade, created_at timestamptz, updated_at timestamptz,
  factor_id uuid, aal auth.aal_level, not_after timestamptz, oauth_client_id uuid
);
create type auth.factor_status as enum ('unverified', 'verified');
create type auth.factor_type as enum ('totp', 'webauthn', 'phone');
create table auth.mfa_factors (
  id uuid primary key, user_id uuid not null, friendly_name text, factor_type auth.factor_type not null,
  status auth.factor_status not null, created_at timestamptz not null, updated_at timestamptz not null
);
alter table auth.users owner to supabase_auth_admin;
alter table auth.sessions owner to supabase_auth_admin;
alter table auth.mfa_factors owner to supabase_auth_admin;
alter table auth.users enable row level security;
alter table auth.sessions enable row level security;
alter table auth.mfa_factors enable row level security;
grant all on auth.users, auth.sessions, auth.mfa_factors to postgres with grant option;

create schema storage;
grant usage on schema storage to anon, authenticated, service_role;
grant usage on schema storage to postgres with grant option;
grant all on schema storage to supabase_storage_admin;
create table storage.buckets (
  id text primary key, name text not null unique, owner uuid, public boolean default false, avif_autodetection boolean default false,
  file_size_limit bigint, allowed_mime_types text[], owner_id text, created_at timestamptz default now(), updated_at timestamptz default now()
);
create table storage.objects (
  id uuid primary key default gen_random_uuid(), bucket_id text references storage.buckets (id), name text, owner uuid, owner_id text,
  version text, metadata jsonb, user_metadata jsonb, created_at timestamptz default now(), updated_at timestamptz default now(),
  last_accessed_at timestamptz default now(), unique (bucket_id, name)
);
alter table storage.buckets owner to supabase_storage_admin;
alter table storage.objects owner to supabase_storage_admin;
alter table storage.buckets enable row level security;
alter table storage.objects enable row level security;
grant all on storage.buckets, storage.objects to postgres with grant option;
grant all on storage.buckets, storage.objects to anon, authenticated, service_role;`;

export interface HostedDatabase {
  readonly name: string;
  /** Address for the `postgres` that applies migrations: it owns the database and is not a superuser. */
  readonly url: string;
  readonly superuserUrl: string;
}

/**
 * The letters that the database's locale knows: ASCII, as in PGlite, or those of all scripts, as in a hosted project.
 * Most tests use ASCII, with which sorting and indexing are faster.
 */
export type Letters = keyof typeof LOCALES;

const LOCALES = {
  "ascii": "",
  "unicode": "template template0 locale 'C.UTF-8'",
  "unicode by ICU": "template template0 locale 'C.UTF-8' locale_provider icu icu_locale 'en-US'",
};

/** Creates such a database on `server`. */
export async function createHostedLike(
  server: PostgresServer,
  name: string,
  letters: Letters = "ascii",
): Promise<HostedDatabase> {
  await withConnection(server.url, async (sql) => {
    await sql.unsafe(ROLES);
    await sql`create database ${sql(name)} owner postgres ${sql.unsafe(LOCALES[letters])}`;
  });
  const superuserUrl = server.urlOf("supabase_admin", name);
  await withConnection(superuserUrl, (sql) => sql.unsafe(DATABASE).simple());
  return { name, url: server.urlOf("postgres", name), superuserUrl };
}

/** Creates one with every migration applied. */
export async function createMigrated(
  server: PostgresServer,
  name: string,
  letters: Letters = "ascii",
): Promise<HostedDatabase> {
  const database = await createHostedLike(server, name, letters);
  await withConnection(database.url, (sql) => applyMigrations(sql));
  return database;
}

/** Names of the migration files, in the order of application. */
export function listMigrations(): string[] {
  return [...Deno.readDirSync(MIGRATIONS_DIRECTORY)].map((entry) => entry.name).filter((name) =>
    /^\d+_.*\.sql$/.test(name)
  ).sort();
}

/** Applies these files, each unchanged and in its own transaction, as `supabase db push` does. */
export async function applyMigrations(sql: postgres.Sql, files = listMigrations()): Promise<void> {
  for (const file of files) {
    const text = await Deno.readTextFile(join(MIGRATIONS_DIRECTORY, file));
    try {
      await sql.begin((transaction) => transaction.unsafe(text).simple());
    } catch (error) {
      throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
}

/** Applies the files of `supabase/schemas`, in one transaction. */
export async function applySchemas(sql: postgres.Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    for (const file of listSchemas()) {
      const text = await Deno.readTextFile(join(SCHEMAS_DIRECTORY, file));
      try {
        await transaction.unsafe(text).simple();
      } catch (error) {
        throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
      }
    }
  });
}

/** Runs `work` on a connection of its own, and closes it. */
export async function withConnection<Result>(
  url: string,
  work: (sql: postgres.Sql) => PromiseLike<Result>,
): Promise<Result> {
  const sql = connect(url, 1);
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

/** `role`: the role that the session acts as, as PostgREST sets it for each request. */
export function connect(url: string, connections: number, role?: string): postgres.Sql {
  return postgres(url, {
    max: connections,
    onnotice: () => {},
    ...role === undefined ? {} : { connection: { role } },
  });
}
