-- The publishable key can call nothing, a signed-in person only account functions; neither can read a table.
begin;
select plan(64);

select schema_privs_are('filestore', role, array[]::text[], role || ' does not enter the schema')
from unnest(array['anon', 'authenticated', 'service_role']) role;
select is(
  array(select c.relname || ' ' || role from pg_class c, unnest(array['anon', 'authenticated', 'service_role']) role
        where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
          and has_table_privilege(role, c.oid, 'select, insert, update, delete, truncate, references, trigger')),
  '{}', 'no API role has any privilege on any table');
select is(
  array(select p.proname::text from pg_proc p, unnest(array['anon', 'authenticated', 'service_role']) role
        where p.pronamespace = 'filestore'::regnamespace and has_function_privilege(role, p.oid, 'execute')),
  '{}', 'no API role calls what is behind the operations');
select is(
  array(select p.proname::text from pg_proc p
        where p.pronamespace = 'public'::regnamespace and p.proname like 'filestore\_%'
          and has_function_privilege('anon', p.oid, 'execute')),
  '{}', 'nothing is open to the publishable key');
select is(
  array(select p.proname::text from pg_proc p
        where p.pronamespace = 'public'::regnamespace and p.proname like 'filestore\_%'
          and has_function_privilege('authenticated', p.oid, 'execute') order by 1),
  '{filestore_account_administer,filestore_account_answer_invitation,filestore_account_consent,filestore_account_create_project,filestore_account_delete,filestore_account_describe,filestore_account_members,filestore_account_projects,filestore_account_request}',
  'what is done with accounts is open to signed-in people, and nothing else');
select is(
  array(select p.proname::text from pg_proc p
        where p.pronamespace = 'public'::regnamespace and p.proname like 'filestore\_%'
          and has_function_privilege('service_role', p.oid, 'execute') = (p.proname like 'filestore\_account\_%')),
  '{}', 'the secret key calls every operation, and nothing in the name of an account');

-- The engine's privileges, table by table.
select table_privs_are('filestore', t.name, 'filestore_engine', t.privileges::text[])
from (values
  ('files', '{SELECT,INSERT,UPDATE}'), ('project_usage', '{SELECT,INSERT,UPDATE}'),
  ('rate_windows', '{SELECT,INSERT,UPDATE}'), ('idempotency_keys', '{SELECT,INSERT,UPDATE,DELETE}'),
  ('settings', '{SELECT}'),
  ('links', '{SELECT,INSERT,DELETE}'), ('link_windows', '{SELECT,INSERT,UPDATE}'),
  ('file_versions', '{SELECT,INSERT}'), ('segments', '{SELECT,INSERT}'),
  ('search_queue', '{SELECT,INSERT,UPDATE}'), ('search_texts', '{SELECT}'), ('search_contents', '{SELECT}'), ('search_chunks', '{SELECT}'),
  ('projects', '{SELECT}'), ('api_keys', '{SELECT}'), ('tiers', '{SELECT}'),
  ('webhooks', '{SELECT,UPDATE}'), ('webhook_deliveries', '{SELECT,INSERT,UPDATE}'), ('webhook_events', '{SELECT,INSERT}')
) t (name, privileges);
select column_privs_are('filestore', 'api_keys', 'last_used_at', 'filestore_engine', array['SELECT', 'UPDATE']);
select is(
  array(select c.relname::text from pg_class c
        where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
          and c.relname in ('search_contents', 'search_chunks', 'console_sessions', 'runs')
          and has_table_privilege('filestore_admin', c.oid, 'select, insert, update')),
  '{}', 'administration and erasure see no content, folders, sessions and runs');
select table_privs_are('filestore', 'segments', 'filestore_admin', array['SELECT', 'DELETE'], 'the sweep reads which segments are named, and removes dead ones');
select is(has_schema_privilege(role, schema, 'create'), false, role || ' creates nothing in ' || schema)
from unnest(array['filestore_engine', 'filestore_admin', 'filestore_account', 'filestore_search']) role, unnest(array['public', 'filestore']) schema;
select table_privs_are('filestore', t.name, 'filestore_account', t.privileges::text[])
from (values
  ('projects', '{SELECT,INSERT}'), ('api_keys', '{SELECT,INSERT}'), ('console_sessions', '{SELECT,INSERT,DELETE}'), ('tiers', '{SELECT}'), ('settings', '{}'),
  ('files', '{SELECT}'), ('file_versions', '{SELECT}'), ('project_usage', '{SELECT}'),
  ('rate_windows', '{SELECT}'), ('segments', '{}'), ('idempotency_keys', '{}'), ('sweeps', '{}')
) t (name, privileges);
select is(
  array(select c.relname::text from pg_class c
        where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
          and c.relname not in ('files', 'segments', 'search_queue', 'search_texts', 'search_contents', 'search_chunks')
          and has_table_privilege('filestore_search', c.oid, 'select, insert, update, delete')),
  '{}', 'search reads nothing but files, segments and its own tables');
select is(
  array(select c.relname::text from pg_class c
        where c.relname in ('files', 'segments') and c.relnamespace = 'filestore'::regnamespace
          and has_table_privilege('filestore_search', c.oid, 'insert, update, delete')),
  '{}', 'and changes no file');

-- The same privileges, tested by using them.
create function pg_temp.attempt(p_role text, p_statement text) returns text
language plpgsql as $$
begin
  execute format('set local role %I', p_role);
  execute p_statement;
  execute 'reset role';
  return 'it worked';
exception when others then
  return sqlstate;
end
$$;
select is(pg_temp.attempt(role, statement), '42501', role || ' is refused: ' || statement)
from unnest(array['anon', 'authenticated']) role,
  unnest(array[
    'select public.filestore_authorize(''00'', gen_random_uuid())',
    'select public.filestore_list(''00'', gen_random_uuid(), ''{}'')',
    'select public.filestore_admin_list_keys()',
    'select * from filestore.files'
  ]) statement;
select is(pg_temp.attempt('service_role', 'select * from filestore.files'), '42501', 'the secret key reads no table');
select is(pg_temp.attempt('service_role', 'select filestore.authorize(''00'', null, null)'), '42501', 'nor calls an internal function');
select is(pg_temp.attempt('filestore_engine', 'delete from filestore.files'), '42501', 'the engine deletes no file');
select is(pg_temp.attempt('filestore_engine', 'update filestore.file_versions set size = 0'), '42501', 'nor changes a version');

select * from finish();
rollback;
