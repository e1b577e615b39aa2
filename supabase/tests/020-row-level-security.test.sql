-- The policies alone: as the engine, with a project set, each table shows and accepts only its rows.
begin;
select plan(64);

insert into filestore.projects (id, name, tier) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'enterprise'),
  ('b0000000-0000-4000-8000-000000000000', 'pgtap b', 'enterprise');
insert into filestore.api_keys (id, project_id, key_hash, prefix)
select p.id, p.id, sha256(p.name::bytea), 'oa_test' from filestore.projects p where p.name like 'pgtap _';
insert into filestore.rate_windows select p.id, 1, date_trunc('minute', now()), 1 from filestore.projects p where p.name like 'pgtap _';
insert into filestore.files (id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
select p.id, p.id, 'same.txt', 1, 'text/plain', 1, array[p.id], now(), now() from filestore.projects p where p.name like 'pgtap _';
insert into filestore.file_versions (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
select p.id, p.id, 1, 'text/plain', 1, array[p.id], p.id, now() from filestore.projects p where p.name like 'pgtap _';
insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
select p.id, p.id, '2026-11-20', 1, sha256(''), 0, false, true from filestore.projects p where p.name like 'pgtap _';
insert into filestore.project_usage (project_id, shard) select p.id, 0 from filestore.projects p where p.name like 'pgtap _';
insert into filestore.idempotency_keys (project_id, key, fingerprint, created_at)
select p.id, 'k', sha256(''), now() from filestore.projects p where p.name like 'pgtap _';

insert into filestore.branches (project_id, name, directory, base_position, commit_id, created_at, updated_at, expires_at)
select p.id, 'one', '', 0, p.id, now(), now(), now() from filestore.projects p where p.name like 'pgtap _';
insert into filestore.branch_files (project_id, file_id, branch, base_version)
select p.id, p.id, 'one', 1 from filestore.projects p where p.name like 'pgtap _';

insert into filestore.search_texts (project_id, file_id, version, path, mime_type, content, bytes, json_bytes, words)
select p.id, p.id, 1, 'same.txt', 'text/plain', 'text', 4, 6, '' from filestore.projects p where p.name like 'pgtap _';
insert into filestore.search_contents select p.id, sha256('text'), 'text', '' from filestore.projects p where p.name like 'pgtap _';
insert into filestore.search_chunks (project_id, file_id, hash, version, first_line, start, length)
select p.id, p.id, p.id, 1, 1, 0, 4 from filestore.projects p where p.name like 'pgtap _';

-- The tables with rows of projects, and the projects whose rows the engine sees in one.
create temporary table tenant_tables (name text);
insert into tenant_tables values
  ('rate_windows'), ('files'), ('file_versions'), ('segments'), ('project_usage'), ('idempotency_keys'),
  ('branches'), ('branch_files'), ('search_queue'), ('search_texts'), ('search_contents'), ('search_chunks');

create function pg_temp.visible(p_table text, p_column text default 'project_id') returns uuid[]
language plpgsql as $$
declare v_ids uuid[];
begin
  set local role filestore_engine;
  execute format('select array_agg(distinct %I) from filestore.%I', p_column, p_table) into v_ids;
  reset role;
  return v_ids;
end
$$;
create function pg_temp.paths() returns text[]
language plpgsql as $$
declare v_paths text[];
begin
  set local role filestore_engine;
  select array_agg(f.path order by f.path) from filestore.files f into v_paths;
  reset role;
  return v_paths;
end
$$;
create function pg_temp.attempt(p_statement text) returns text
language plpgsql as $$
declare v_rows bigint;
begin
  set local role filestore_engine;
  execute p_statement;
  get diagnostics v_rows = row_count;
  reset role;
  return v_rows || ' rows';
exception when others then
  return sqlstate;
end
$$;

select is(pg_temp.visible(t.name), null::uuid[], t.name || ': without a project nothing is visible') from tenant_tables t;
select is(pg_temp.visible('projects', 'id'), null::uuid[], 'projects: without a project nothing is visible');
select is(pg_temp.visible('api_keys'), null::uuid[], 'api_keys: without a key nothing is visible');

select set_config('filestore.project_id', 'a0000000-0000-4000-8000-000000000000', true);
select set_config('filestore.key_hash', encode(sha256('pgtap a'), 'hex'), true);
select set_config('filestore.path_prefix', '', true);
select is(pg_temp.visible(t.name), array['a0000000-0000-4000-8000-000000000000']::uuid[], t.name || ': own rows only')
from tenant_tables t;
select is(pg_temp.visible('projects', 'id'), array['a0000000-0000-4000-8000-000000000000']::uuid[], 'projects: the own one only');
select is(pg_temp.visible('api_keys'), array['a0000000-0000-4000-8000-000000000000']::uuid[], 'api_keys: the key presented only');

select is(
  pg_temp.attempt(format('update filestore.%I set project_id = project_id where project_id = %L', t.name, 'b0000000-0000-4000-8000-000000000000')),
  '0 rows', t.name || ': another project''s rows are not there to change')
from tenant_tables t where t.name not in ('file_versions', 'segments', 'search_texts', 'search_contents', 'search_chunks');
select is(
  pg_temp.attempt(format('update filestore.%I set project_id = %L', t.name, 'b0000000-0000-4000-8000-000000000000')),
  '42501', t.name || ': own rows are not given away')
from tenant_tables t;
select is(pg_temp.attempt(statement), '42501', split_part(statement, '(', 1))
from unnest(array[
  $$insert into filestore.rate_windows values ('b0000000-0000-4000-8000-000000000000', 2, now(), 1)$$,
  $$insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
    values ('b0000000-0000-4000-8000-000000000000', 'x', 1, 'text/plain', 0, '{}', now(), now())$$,
  $$insert into filestore.file_versions (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
    values ('b0000000-0000-4000-8000-000000000000', 'b0000000-0000-4000-8000-000000000000', 2, 'text/plain', 0, '{}', gen_random_uuid(), now())$$,
  $$insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
    values (gen_random_uuid(), 'b0000000-0000-4000-8000-000000000000', now(), 1, sha256(''), 0, false, true)$$,
  $$insert into filestore.project_usage (project_id, shard) values ('b0000000-0000-4000-8000-000000000000', 1)$$,
  $$insert into filestore.idempotency_keys (project_id, key, fingerprint, created_at)
    values ('b0000000-0000-4000-8000-000000000000', 'x', sha256(''), now())$$,
  $$insert into filestore.branches (project_id, name, directory, base_position, commit_id, created_at, updated_at, expires_at)
    values ('b0000000-0000-4000-8000-000000000000', 'two', '', 0, gen_random_uuid(), now(), now(), now())$$,
  $$insert into filestore.branch_files (project_id, file_id, branch, base_version)
    values ('b0000000-0000-4000-8000-000000000000', gen_random_uuid(), 'one', 1)$$
]) statement;

-- Files in branches: there for a transaction that has named a place in one.
insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
select 'a0000000-0000-4000-8000-000000000000', n.path, 1, 'text/plain', 0, '{}', now(), now()
from (values ('.branches/one/x.txt'), ('.branches-old/x.txt')) n (path);
select is(pg_temp.paths(), array['.branches-old/x.txt', 'same.txt'], 'without a place in a branch its files are not visible');
select is(
  pg_temp.attempt($$update filestore.files set size = 0 where path = '.branches/one/x.txt'$$), '0 rows', 'nor there to change');
select set_config('filestore.branches', 'on', true);
select is(
  pg_temp.paths(), array['.branches-old/x.txt', '.branches/one/x.txt', 'same.txt'], 'with one they are');
select set_config('filestore.branches', '', true);
select is(pg_temp.paths(), array['.branches-old/x.txt', 'same.txt'], 'an empty setting is no place');

select set_config('filestore.project_id', '', true), set_config('filestore.key_hash', '', true);
select is(pg_temp.visible('files'), null::uuid[], 'an empty setting is no project');
select is(pg_temp.visible('api_keys'), null::uuid[], 'an empty setting is no key');
select is(
  (select count(*) from filestore.idempotency_keys where project_id = 'b0000000-0000-4000-8000-000000000000'), 1::bigint,
  'the other project''s rows are untouched');

-- Rows that commits refer to without a foreign key.
reset role;
update filestore.api_keys set has_written = true;
select throws_ok(
  $$delete from filestore.projects where id = 'b0000000-0000-4000-8000-000000000000'$$, '23503', null,
  'a project with files is not deleted');
select throws_ok(
  $$delete from filestore.api_keys where id = 'b0000000-0000-4000-8000-000000000000'$$, '23503', null,
  'nor one of its keys that has written');

select * from finish();
rollback;
