-- The schema exists, row-level security is on for every table, and each function runs as the intended role.
begin;
select plan(87);

select has_schema('filestore');
select has_role('filestore_engine');
select has_role('filestore_admin');
select has_role('filestore_account');
select has_role('filestore_search');
select tables_are('filestore', array[
  'account_deletions', 'account_windows', 'api_keys', 'app_consents', 'app_tokens', 'branch_files', 'branches', 'console_sessions',
  'dead_segments', 'file_versions', 'files', 'idempotency_keys', 'link_windows', 'links', 'members',
  'possibly_unreferenced_segments', 'project_deletions', 'project_usage', 'projects', 'purged_files',
  'rate_windows', 'retention_passes', 'runs', 'search_chunks', 'search_contents',
  'search_queue', 'search_texts', 'segments', 'settings', 'shared_segments', 'sweeps', 'tiers',
  'usage_days', 'usage_folds', 'usage_levels', 'webhook_deliveries', 'webhook_events', 'webhooks'
]);
select is(
  array(select c.relname::text from pg_class c
        where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r' and not c.relrowsecurity),
  '{}', 'row-level security is on for every table');
select is(
  array(select c.relname::text from pg_class c
        where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r' and obj_description(c.oid, 'pg_class') is null),
  '{}', 'every table says what it is for');
select is(
  array(select p.proname::text from pg_proc p
        where (p.pronamespace = 'filestore'::regnamespace or p.proname like 'filestore\_%') and obj_description(p.oid, 'pg_proc') is null),
  '{}', 'every function says what it is for');
select is(
  array(select p.proname::text from pg_proc p
        where (p.pronamespace = 'filestore'::regnamespace or p.proname like 'filestore\_%')
          and 'search_path=""' <> all (coalesce(p.proconfig, '{}')) and p.prosqlbody is null),
  '{}', 'every function pins its search_path, unless its body was looked up when it was made');

-- The engine owns no table, and no role of the file store can log in or bypass the policies.
select table_owner_is('filestore', t.name, current_user, t.name || ' belongs to the migrating role')
from (values ('account_deletions'), ('project_deletions'), ('account_windows'), ('settings'), ('api_keys'), ('app_consents'), ('app_tokens'), ('console_sessions'), ('file_versions'), ('files'), ('idempotency_keys'), ('link_windows'), ('links'), ('members'), ('project_usage'),
             ('projects'), ('rate_windows'), ('runs'), ('search_chunks'), ('search_contents'), ('search_queue'), ('search_texts'), ('segments'), ('sweeps'), ('tiers'), ('webhook_deliveries'), ('webhook_events'), ('webhooks')) t (name);
select is(
  (select r.rolcanlogin or r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb
   from pg_roles r where r.rolname = name), false, name || ' has no power of its own')
from unnest(array['filestore_engine', 'filestore_admin', 'filestore_account', 'filestore_search']) name;

-- Each policy is for one role. tests/database/catalog.test.ts lists the policies of each table.
select is(
  array(select p.tablename || ': ' || p.policyname from pg_policies p
        where p.schemaname = 'filestore' and (cardinality(p.roles) <> 1 or p.permissive <> 'PERMISSIVE' and p.cmd <> 'DELETE'
          or p.roles[1] not in ('filestore_engine', 'filestore_admin', 'filestore_account', 'filestore_search'))),
  '{}', 'every policy is for one of the four roles, and a restrictive one for deletions');

-- Operations run as their owner, which is subject to the policies.
select is(p.prosecdef and p.proowner = 'filestore_engine'::regrole, true, p.proname || ' runs as filestore_engine')
from pg_proc p
where p.pronamespace = 'public'::regnamespace and p.proname like 'filestore\_%' and p.proname !~ '^filestore_(admin|sweep|verify|health|newest|account|search|count)_'
order by p.proname;
select is(
  (select count(*) from pg_proc p
   where p.proname ~ '^filestore_(admin|sweep|verify|newest|count)_' and (not p.prosecdef or p.proowner <> 'filestore_admin'::regrole)),
  0::bigint, 'administration, sweep, verification, counts and the question for changes run as filestore_admin');
select is(p.prosecdef and p.proowner = 'filestore_account'::regrole, true, p.proname || ' runs as filestore_account')
from pg_proc p
where p.pronamespace = 'public'::regnamespace and p.proname ~ '^filestore_account_'
order by p.proname;
select is(
  (select count(*) from pg_proc p
   where p.proname ~ '^filestore_search_' and (not p.prosecdef or p.proowner <> 'filestore_search'::regrole)),
  0::bigint, 'indexing runs as filestore_search');
select is(
  array(select p.proname::text from pg_proc p where p.pronamespace = 'filestore'::regnamespace and p.prosecdef order by 1),
  '{account_settings,address_of,administer,consent_answered,current_account_id,end_account,find_account,find_owner,fold_usage,invited_to,is_account_active,is_session_active,preview_retention,purge_file,redact_versions,remove_branch_files,repeated_deletion,search_pattern_candidates,search_rank_candidates,search_release_content,shared_bytes}',
  'what is behind them runs as its caller, but for what keys administer, what asks Auth or the settings about an account, what ends one, what erases or counts, what ends a branch, and what finds candidates for a search or deletes contents');
select is((select public from storage.buckets where id = 'filestore-segments'), false, 'the bucket is private');
select is((select count(*) from pg_policies where schemaname = 'storage' and qual like '%filestore%'), 0::bigint,
  'no policy opens the bucket');

select * from finish();
rollback;
