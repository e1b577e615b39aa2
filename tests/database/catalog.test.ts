/**
 * Compares everything that the migrations create with the list of intended objects, in the catalog of a fresh database.
 * An object without a row in the list fails, so every owner, grant and search_path is a decision.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type postgres from "postgres";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  type Definer,
  DEFINERS,
  INLINED,
  type IntendedTable,
  MIGRATING_ROLE,
  POLICIES,
  PROBE,
  ROLES,
  SCHEMA_PRIVILEGES,
  TABLES,
} from "./intended_catalog.ts";

Deno.test("the catalog of a freshly migrated database", async (t) => {
  const server = await startPostgres();
  try {
    const database = await createMigrated(server, "catalog");
    const sql = connect(database.superuserUrl, 1);
    try {
      await t.step(
        "functions that run as their owner are those intended, for the callers intended",
        async () => {
          const found = (await functions(sql)).filter(({ isDefiner }) => isDefiner)
            .map(({ name, owner, callers }) => [name, { owner, callers }] as const);
          assertEquals(new Map(found), DEFINERS);
        },
      );
      await t.step("all others are for the four roles alone, and for one of them at least", async () => {
        for (const { name, owner, isDefiner, callers } of await functions(sql)) {
          if (isDefiner) continue;
          assertEquals(owner, MIGRATING_ROLE, name);
          if (name === PROBE) {
            assertEquals(callers, ["service_role"]);
            continue;
          }
          assertMatch(name, /^filestore\./);
          assert(callers.length > 0 && callers.every((role) => role in ROLES), `${name}: ${callers}`);
        }
      });
      await t.step("functions: each has a comment, and a search_path that nobody can change", async () => {
        const found = await functions(sql);
        assertEquals(found.filter(({ isCommented }) => !isCommented), []);
        const unpinned = found.filter(({ settings }) => !settings.includes('search_path=""'));
        assertEquals(unpinned.map(({ name }) => name), INLINED.toSorted());
      });
      await t.step(
        "tables: RLS on, owned by the migrating role, commented, privileges as intended",
        async () => {
          assertEquals(await tables(sql), TABLES);
        },
      );
      await t.step(
        "schema filestore holds nothing but tables, their indexes, row types, sequences, and the view of limits",
        async () => {
          const others = await sql`
          select c.relname, c.relkind from pg_class c
          where c.relnamespace = 'filestore'::regnamespace and c.relkind not in ('r', 'i', 'c', 'S')
            and c.oid <> 'filestore.limits'::regclass`;
          assertEquals([...others], []);
        },
      );
      await t.step(
        "sequences: positions, with the intended privileges",
        async () => {
          assertEquals([...await sequences(sql)], [
            {
              persistence: "p",
              grants:
                "filestore_account:SELECT filestore_admin:SELECT filestore_admin:USAGE filestore_engine:SELECT filestore_engine:USAGE",
              sequences: 1,
            },
          ]);
        },
      );
      await t.step("nothing of ours is left in public except the operations", async () => {
        const others =
          await sql`select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace`;
        assertEquals([...others], []);
      });
      await t.step("policies: each for one role, with the intended condition", async () => {
        assertEquals(await policies(sql), POLICIES);
        // Postgres truncates longer names.
        assertEquals([...await sql`select polname from pg_policy where octet_length(polname) = 63`], []);
      });
      await t.step("foreign keys between tenant rows carry the project", async () => {
        assertEquals(await foreignKeysWithoutProject(sql), []);
      });
      await t.step("schemas: USAGE and CREATE as intended", async () => {
        assertEquals(await schemaPrivileges(sql), SCHEMA_PRIVILEGES);
      });
      await t.step(
        "roles: no login, no superuser, no bypass, no members but the migrating role",
        async () => {
          assertEquals(await roles(sql), ROLES);
        },
      );
      await t.step("the roles own functions and nothing else", async () => {
        const others = await sql`
          select d.classid::regclass::text as class, count(*)::integer as count
          from pg_shdepend d
          where d.deptype = 'o'
            and d.refobjid in (
              'filestore_engine'::regrole, 'filestore_admin'::regrole, 'filestore_account'::regrole, 'filestore_search'::regrole)
            and d.classid <> 'pg_proc'::regclass
          group by 1`;
        assertEquals([...others], []);
      });
      await t.step("the bucket is private, and storage has no policy that opens it", async () => {
        assertEquals([...await sql`select id, public from storage.buckets`], [
          { id: "filestore-segments", public: false },
        ]);
        assertEquals([...await sql`select policyname from pg_policies where schemaname = 'storage'`], []);
      });
    } finally {
      await sql.end();
    }
  } finally {
    await server.stop();
  }
});

async function functions(sql: postgres.Sql) {
  return await sql<
    (Definer & { name: string; isDefiner: boolean; isCommented: boolean; settings: string[] })[]
  >`
    select n.nspname || '.' || p.proname as name,
      p.proowner::regrole::text as owner,
      p.prosecdef as "isDefiner",
      coalesce(p.proconfig, '{}') as settings,
      array(
        select case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end
        from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee <> p.proowner order by 1) as callers,
      obj_description(p.oid, 'pg_proc') is not null as "isCommented"
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('filestore', 'public')
    order by 1`;
}

async function tables(sql: postgres.Sql): Promise<Record<string, IntendedTable>> {
  const rows = await sql<(IntendedTable & { name: string })[]>`
    select c.relname as name,
      c.relowner::regrole::text as owner,
      c.relrowsecurity as "rowSecurity",
      obj_description(c.oid, 'pg_class') is not null as commented,
      array(
        select grantee || ' ' || string_agg(privilege, ', ' order by privilege)
        from (
          select case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end as grantee,
                 lower(a.privilege_type) as privilege
          from aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
          where a.grantee <> c.relowner
          union all
          select case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end,
                 lower(a.privilege_type) || '(' || t.attname || ')'
          from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = c.oid
        ) p group by grantee order by grantee) as privileges
    from pg_class c
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
    order by 1`;
  return Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest]));
}

/** `table: role command [using] [check]`, sorted. */
async function policies(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ policy: string }[]>`
    select c.relname || ': '
      || (select string_agg(case r.role when 0 then 'PUBLIC' else r.role::regrole::text end, ',') from unnest(p.polroles) r (role))
      || case p.polcmd when 'r' then ' select' when 'a' then ' insert' when 'w' then ' update' when 'd' then ' delete' else ' all' end
      || coalesce(' using ' || pg_get_expr(p.polqual, p.polrelid), '')
      || coalesce(' check ' || pg_get_expr(p.polwithcheck, p.polrelid), '')
      || case when p.polpermissive then '' else ' restrictive' end as policy
    from pg_policy p join pg_class c on c.oid = p.polrelid
    where c.relnamespace = 'filestore'::regnamespace`;
  return rows.map(({ policy }) =>
    policy.replaceAll(/\n\s+/g, " ").replaceAll(/\( SELECT (filestore\.\w+\(\)) AS \w+\)/g, "$1")
  ).sort();
}

function sequences(sql: postgres.Sql) {
  return sql`
    select s.persistence, s.grants, count(*)::integer as sequences
    from pg_class c
    cross join lateral (
      select c.relpersistence::text as persistence, string_agg(
        a.grantee::regrole || ':' || a.privilege_type, ' ' order by a.grantee::regrole::text, a.privilege_type) as grants
      from aclexplode(c.relacl) a where a.grantee <> c.relowner
    ) s
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'S'
    group by s.persistence, s.grants order by s.persistence`;
}

/** Checks of foreign keys bypass policies, so a key without the project could refer to another project. */
async function foreignKeysWithoutProject(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select k.conrelid::regclass || '.' || k.conname as name
    from pg_constraint k
    where k.contype = 'f' and k.connamespace = 'filestore'::regnamespace
      and k.confrelid not in ('filestore.projects'::regclass, 'filestore.tiers'::regclass)
      and not exists (
        select from pg_attribute a
        where a.attrelid = k.conrelid and a.attnum = any (k.conkey) and a.attname = 'project_id')`;
  return rows.map((row) => row.name);
}

async function schemaPrivileges(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ privilege: string }[]>`
    select n.nspname || ': ' || case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end || ' '
      || lower(a.privilege_type) as privilege
    from pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
    where n.nspname in ('filestore', 'public') and a.grantee <> n.nspowner
    order by 1`;
  return rows.map((row) => row.privilege);
}

async function roles(sql: postgres.Sql): Promise<Record<string, unknown>> {
  const rows = await sql`
    select r.rolname as name,
      r.rolcanlogin or r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolreplication
        or r.rolinherit as "hasAttribute",
      array(select distinct m.member::regrole::text from pg_auth_members m where m.roleid = r.oid) as members,
      array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid) as "memberOf",
      shobj_description(r.oid, 'pg_authid') is not null as commented
    from pg_roles r where r.rolname like 'filestore%' order by 1`;
  return Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest]));
}
