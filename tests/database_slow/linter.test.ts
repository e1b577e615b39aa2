/**
 * The linter of Supabase's dashboard would report nothing about a freshly migrated database, except the findings below,
 * each of which `operating/monitoring.md` explains. The checks follow the linter's documentation,
 * https://supabase.com/docs/guides/database/database-advisors, and cover every lint about tables, policies or
 * functions. (`unused_index` and `table_bloat` depend on use, not on the schema.)
 */
import { assert, assertEquals } from "@std/assert";

import { fileURLToPath } from "node:url";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";

const OPERATING = fileURLToPath(new URL("../../supabase/docs/operating/monitoring.md", import.meta.url));

/** Each query returns the names of offending objects, in the schemas `filestore` and `public`. */
const CHECKS: Readonly<Record<string, string>> = {
  function_search_path_mutable: `
    select n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('filestore', 'public')
      and not exists (select from unnest(p.proconfig) c (setting) where starts_with(c.setting, 'search_path='))`,
  unindexed_foreign_keys: `
    select k.conname from pg_constraint k
    where k.contype = 'f' and k.connamespace = 'filestore'::regnamespace and not exists (
      select from pg_index i
      where i.indrelid = k.conrelid and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] = k.conkey)`,
  auth_rls_initplan: `
    select tablename || '.' || policyname from pg_policies
    where schemaname in ('filestore', 'public', 'storage')
      and concat(qual, ' ', with_check) ~ '(current_setting|auth\\.\\w+)\\('
      and regexp_replace(concat(qual, ' ', with_check), 'SELECT (current_setting|auth\\.\\w+)\\(', '', 'g')
        ~ '(current_setting|auth\\.\\w+)\\('`,
  multiple_permissive_policies: `
    select p.tablename || ' ' || r.role || ' ' || c.command
    from pg_policies p, unnest(p.roles) r (role),
      unnest(case p.cmd when 'ALL' then '{SELECT,INSERT,UPDATE,DELETE}'::text[] else array[p.cmd] end) c (command)
    where p.schemaname in ('filestore', 'public') and p.permissive = 'PERMISSIVE'
    group by 1 having count(*) > 1`,
  policy_exists_rls_disabled: `
    select c.relname from pg_class c
    where c.relnamespace in ('filestore'::regnamespace, 'public'::regnamespace) and not c.relrowsecurity
      and exists (select from pg_policy p where p.polrelid = c.oid)`,
  rls_enabled_no_policy: `
    select c.relname from pg_class c
    where c.relnamespace in ('filestore'::regnamespace, 'public'::regnamespace) and c.relrowsecurity
      and not exists (select from pg_policy p where p.polrelid = c.oid)`,
  rls_disabled: `
    select c.relname from pg_class c
    where c.relnamespace in ('filestore'::regnamespace, 'public'::regnamespace) and c.relkind = 'r'
      and not c.relrowsecurity`,
  rls_policy_always_true: `
    select tablename || '.' || policyname from pg_policies
    where schemaname in ('filestore', 'public') and cmd <> 'SELECT'
      and roles && '{public,anon,authenticated}'::name[] and 'true' in (qual, with_check)`,
  no_primary_key: `
    select c.relname from pg_class c
    where c.relnamespace in ('filestore'::regnamespace, 'public'::regnamespace) and c.relkind = 'r'
      and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
  duplicate_index: `
    select string_agg(i.indexrelid::regclass::text, ' ') from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace in ('filestore'::regnamespace, 'public'::regnamespace)
    group by i.indrelid, i.indkey::text, i.indclass::text, i.indoption::text, pg_get_expr(i.indexprs, i.indrelid),
      pg_get_expr(i.indpred, i.indrelid)
    having count(*) > 1`,
  view_or_foreign_table_in_api: `
    select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('v', 'm', 'f')`,
  extension_in_public: "select extname from pg_extension where extnamespace = 'public'::regnamespace",
  fkey_to_auth: `
    select conname from pg_constraint
    where connamespace = 'filestore'::regnamespace and confrelid = 'auth.users'::regclass`,
  public_bucket: "select id from storage.buckets where public",
  anon_security_definer_function_executable: definerFunctions("anon"),
  authenticated_security_definer_function_executable: definerFunctions("authenticated"),
};

function definerFunctions(role: string): string {
  return `
    select p.proname from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prosecdef
      and has_function_privilege('${role}', p.oid, 'EXECUTE')`;
}

const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  authenticated_security_definer_function_executable: [
    "filestore_account_administer",
    "filestore_account_answer_invitation",
    "filestore_account_consent",
    "filestore_account_create_project",
    "filestore_account_delete",
    "filestore_account_describe",
    "filestore_account_members",
    "filestore_account_projects",
    "filestore_account_request",
  ],
  function_search_path_mutable: [
    "filestore.current_key_hash",
    "filestore.current_owner_id",
    "filestore.current_path_prefix",
    "filestore.current_project_id",
    "filestore.listed",
    "filestore.sees_branches",
  ],
  unindexed_foreign_keys: [
    "file_versions_project_id_file_id_fkey",
    "projects_tier_fkey",
  ],
};

Deno.test("Supabase's linter finds nothing in the schema but the exceptions that monitoring.md names", async (t) => {
  const operating = await Deno.readTextFile(OPERATING);
  const server = await startPostgres();
  try {
    const database = await createMigrated(server, "linter");
    const sql = connect(database.superuserUrl, 1);
    try {
      for (const [check, query] of Object.entries(CHECKS)) {
        await t.step(check, async () => {
          const exceptions = EXCEPTIONS[check] ?? [];
          const found = await sql.unsafe(query).values();
          assertEquals(found.flat().map(String).sort(), exceptions);
          for (const name of [check, ...exceptions].slice(exceptions.length === 0 ? 1 : 0)) {
            assert(operating.includes(`\`${name}\``), `monitoring.md does not name ${name}`);
          }
        });
      }
    } finally {
      await sql.end();
    }
  } finally {
    await server.stop();
  }
});
