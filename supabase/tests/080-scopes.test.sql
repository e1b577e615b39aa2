-- A key's rights: each operation needs its scope, and a key with a prefix reads and writes only below it.
begin;
select plan(254);

insert into auth.users (id, email) values ('e0000000-0000-4000-8000-000000000000', 'owner@example.org');
insert into filestore.projects (id, name, tier, owner_id) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'enterprise', 'e0000000-0000-4000-8000-000000000000');
insert into filestore.api_keys (id, project_id, key_hash, prefix, scopes, path_prefix)
select md5(k.name)::uuid, 'a0000000-0000-4000-8000-000000000000', sha256(k.name::bytea), 'oa_test', k.scopes::text[], k.path_prefix
from (values
  ('read', '{read}', null), ('write', '{write}', null), ('admin', '{admin}', null), ('both', '{read,write}', null), ('all', '{read,write,admin}', null),
  ('in b', '{read,write}', 'a/b'), ('reads b', '{read}', 'a/b'), ('nowhere', '{read,write}', 'z')) k (name, scopes, path_prefix);

create function pg_temp.hash(p_key text) returns text language sql as $$ select encode(sha256(p_key::bytea), 'hex') $$;
create function pg_temp.segment(p_number integer) returns jsonb
language sql as $$
  select jsonb_build_object(
    'id', id, 'name', 'p/' || to_char(clock_timestamp() at time zone 'UTC', 'YYYYMMDD') || '/' || id, 'size', 10, 'sha256', repeat('00', 32), 'newlines', 0, 'endsWithNewline', false, 'isText', true)
  from (select md5(p_number::text)::uuid as id)
$$;
create function pg_temp.commit(p_key text, p_kind text, p_path text, p_more jsonb default '{}') returns jsonb
language sql as $$
  select public.filestore_commit(pg_temp.hash(p_key), null, p_kind, jsonb_build_object(
    'path', p_path, 'commitId', gen_random_uuid(), 'segments', '[]'::jsonb, 'mimeType', 'text/plain', 'version', 1, 'baseVersion', 1, 'segmentIds', '[]'::jsonb) || p_more)
$$;
-- The refusal with its details, or 'done'.
create function pg_temp.said(p_answer jsonb) returns text
language sql as $$
  select coalesce(p_answer #>> '{refusal,code}' || coalesce(' ' || (p_answer #>> '{refusal,details,scope}'), ' outside ' || (p_answer #>> '{refusal,details,pathPrefix}'), ''), 'done')
$$;
create function pg_temp.list(p_key text, p_query jsonb default '{}') returns jsonb
language sql as $$
  select public.filestore_list(pg_temp.hash(p_key), null,
    '{"directory": "", "recursive": false, "limit": 100, "offset": 0, "sortBy": "path", "sortOrder": "asc"}'::jsonb || p_query)::jsonb
$$;
-- A list as text: its paths, its directories, its total.
create function pg_temp.shown(p_key text, p_query jsonb default '{}') returns text
language sql as $$
  select array(select f ->> 'path' from jsonb_array_elements(l #> '{value,files}') f)::text
    || coalesce(' ' || (l #>> '{value,directories}'), '') || ' ' || coalesce(l #>> '{value,total}', 'null')
  from pg_temp.list(p_key, p_query) l
$$;
create function pg_temp.did(p_key text, p_operation text) returns text
language sql as $$
  select pg_temp.said(case p_operation
    when 'record' then public.filestore_content(pg_temp.hash(p_key), null, 'f ' || p_key, p_with_segments => false)
    when 'content' then public.filestore_content(pg_temp.hash(p_key), null, 'f ' || p_key)
    when 'versions' then public.filestore_versions(pg_temp.hash(p_key), null, 'f ' || p_key, 10, 0)::jsonb
    when 'diff' then public.filestore_diff(pg_temp.hash(p_key), null, 'f ' || p_key)
    when 'changes' then public.filestore_changes(pg_temp.hash(p_key), null, '{"limit": 10}')::jsonb
    when 'runs' then public.filestore_runs(pg_temp.hash(p_key), null, 10, null)
    when 'list' then pg_temp.list(p_key)
    when 'activity' then public.filestore_administer(pg_temp.hash(p_key), null, 'activity', '{"limit": 10}')
    when 'project' then public.filestore_administer(pg_temp.hash(p_key), null, 'project', '{}')
    when 'rename' then public.filestore_administer(pg_temp.hash(p_key), null, 'rename', '{"name": "pgtap a"}')
    when 'keys' then public.filestore_administer(pg_temp.hash(p_key), null, 'keys', '{}')
    when 'create_key' then public.filestore_administer(pg_temp.hash(p_key), null, 'create_key', jsonb_build_object(
      'keyHash', pg_temp.hash(gen_random_uuid()::text), 'prefix', 'oa_0123456', 'environment', 'production', 'scopes', '["admin"]'::jsonb))
    when 'rotate_key' then public.filestore_administer(pg_temp.hash(p_key), null, 'rotate_key', '{"id": "f0000000-0000-4000-8000-000000000000"}')
    when 'revoke_key' then public.filestore_administer(pg_temp.hash(p_key), null, 'revoke_key', '{"id": "f0000000-0000-4000-8000-000000000000"}')
    when 'authorize' then public.filestore_authorize(pg_temp.hash(p_key), null, 'f ' || p_key)
    when 'compact' then public.filestore_compact(pg_temp.hash(p_key), null, 'f ' || p_key, array[(pg_temp.segment(99) ->> 'id')::uuid], '[]')
    else pg_temp.commit(p_key, p_operation, 'f ' || p_key, '{"destination": "g", "overwrite": true, "segments": []}'
      || case p_operation when 'copy' then '{}' when 'move' then '{}' else '{"destination": null}' end::jsonb)
  end)
$$;

set local role service_role;
select pg_temp.commit('both', 'write', p.path, jsonb_build_object('segments', jsonb_build_array(pg_temp.segment(p.number))))
from (values ('f', 1), ('f read', 20), ('f write', 21), ('f admin', 22), ('f both', 23), ('f all', 24), ('a/top.txt', 2), ('a/b', 3), ('a/b/one.txt', 4), ('a/b/deep/two.txt', 5), ('a/b/gone.txt', 6), ('a/b0/beside.txt', 7),
             ('a/ba.txt', 8), ('a/c/gone.txt', 9), ('other/x.txt', 10)) p (path, number);
select pg_temp.commit('both', 'append', p.path, jsonb_build_object('segments', jsonb_build_array(pg_temp.segment(p.number))))
from (values ('f', 11), ('a/top.txt', 12), ('a/b/one.txt', 13)) p (path, number);
select pg_temp.commit('both', 'delete', path) from unnest(array['a/b/gone.txt', 'a/c/gone.txt']) path;

-- Each operation with each scope.
select unnest(array[
  is(pg_temp.did('read', operation), expected, operation || ' with the scope read'),
  is(pg_temp.did('write', operation), case expected when 'done' then 'FORBIDDEN_SCOPE read' else 'done' end, operation || ' with the scope write'),
  is(pg_temp.did('admin', operation), case expected when 'done' then 'FORBIDDEN_SCOPE read' else expected end, operation || ' with the scope admin'),
  is(pg_temp.did('both', operation), 'done', operation || ' with the scopes read and write')])
from (values
  ('record', 'done'), ('content', 'done'), ('versions', 'done'), ('diff', 'done'), ('changes', 'done'), ('runs', 'done'), ('list', 'done'), ('activity', 'done'),
  ('compact', 'FORBIDDEN_SCOPE write'), ('append', 'FORBIDDEN_SCOPE write'), ('overwrite', 'FORBIDDEN_SCOPE write'), ('copy', 'FORBIDDEN_SCOPE write'),
  ('delete', 'FORBIDDEN_SCOPE write'), ('write', 'FORBIDDEN_SCOPE write'), ('restore', 'FORBIDDEN_SCOPE write'), ('move', 'FORBIDDEN_SCOPE write')) o (operation, expected);
select is(pg_temp.did(key, operation), 'FORBIDDEN_SCOPE admin', operation || ' with the scopes ' || key)
from unnest(array['read', 'write', 'both']) key, unnest(array['rename', 'keys', 'create_key', 'rotate_key', 'revoke_key']) operation;
select is(pg_temp.did(key, operation), expected, operation || ' with the scopes ' || key)
from unnest(array['admin', 'all']) key,
  (values ('rename', 'done'), ('keys', 'done'), ('create_key', 'done'), ('rotate_key', 'KEY_NOT_FOUND'), ('revoke_key', 'KEY_NOT_FOUND')) o (operation, expected);
select is(pg_temp.did(key, operation), 'done', operation || ' asks for no scope: ' || key)
from unnest(array['read', 'write', 'admin', 'both']) key, unnest(array['project', 'authorize']) operation;
select is(pg_temp.did('in b', operation), 'FORBIDDEN_SCOPE outside a/b', operation || ' is nothing for a key with a prefix')
from unnest(array['project', 'activity']) operation;
select is(pg_temp.said(pg_temp.commit('reads b', 'write', path)), 'FORBIDDEN_SCOPE write', 'a prefix gives no scope: ' || path) from unnest(array['a/b/new.txt', 'f']) path;

-- Lists show the files below the prefix, and the folders that lead to it.
select is(pg_temp.shown('in b', query), expected, 'list ' || query::text)
from (values
  ('{}'::jsonb, '{} ["a"] 0'), ('{"directory": "a"}', '{} ["b"] 0'),
  ('{"directory": "a/b"}', '{a/b/one.txt} ["deep"] 1'), ('{"directory": "a/b/deep"}', '{a/b/deep/two.txt} [] 1'),
  ('{"directory": "a/b0"}', '{} [] 0'), ('{"directory": "a/c"}', '{} [] 0'), ('{"directory": "other"}', '{} [] 0'), ('{"directory": "a/bb"}', '{} [] 0'),
  ('{"recursive": true}', '{a/b/deep/two.txt,a/b/one.txt} 2'), ('{"recursive": true, "directory": "a"}', '{a/b/deep/two.txt,a/b/one.txt} 2'),
  ('{"recursive": true, "directory": "a/b"}', '{a/b/deep/two.txt,a/b/one.txt} 2'), ('{"recursive": true, "directory": "a/b/deep"}', '{a/b/deep/two.txt} 1'),
  ('{"recursive": true, "directory": "other"}', '{} 0'), ('{"recursive": true, "directory": "a/b0"}', '{} 0'),
  ('{"recursive": true, "limit": 1, "offset": 1}', '{a/b/one.txt} 2'), ('{"recursive": true, "after": "a/b/deep/two.txt"}', '{a/b/one.txt} null'),
  ('{"recursive": true, "minSize": 11}', '{a/b/one.txt} 1'), ('{"minSize": 1}', '{} ["a"] 0'), ('{"directory": "a", "minSize": 1}', '{} ["b"] 0'),
  ('{"directory": "other", "minSize": 1}', '{} [] 0'), ('{"recursive": true, "sortBy": "size", "sortOrder": "desc"}', '{a/b/one.txt,a/b/deep/two.txt} 2'),
  ('{"recursive": true, "deleted": true}', '{a/b/gone.txt} 1'), ('{"recursive": true, "directory": "a/c", "deleted": true}', '{} 0'),
  ('{"directory": "a", "deleted": true}', '{} ["b"] 0'), ('{"directory": "a/b", "deleted": true}', '{a/b/gone.txt} [] 1')) l (query, expected);
select is(pg_temp.shown('nowhere', query), expected, 'list of a prefix with no file ' || query::text)
from (values ('{}'::jsonb, '{} [] 0'), ('{"directory": "z"}', '{} [] 0'), ('{"recursive": true}', '{} 0'), ('{"directory": "a/b"}', '{} [] 0')) l (query, expected);
select is(pg_temp.shown('both', '{"recursive": true}'), '{a/b,a/b/deep/two.txt,a/b/one.txt,a/b0/beside.txt,a/ba.txt,a/top.txt,f,"f admin","f all","f read",g,other/x.txt} 12', 'a key without one sees the rest');

-- A read outside the prefix is answered as for a file that never existed, even if it exists.
-- (That a/b is a directory follows from the key's own prefix.)
select unnest(array[is(answer #- '{rate,reset}' #- '{refusal,details,directory}', missing #- '{rate,reset}', what || ' of ' || path), is(pg_temp.said(answer), 'FILE_NOT_FOUND', what || ' says so')])
from unnest(array['f', 'a/top.txt', 'a/b', 'a/b0/beside.txt', 'a/ba.txt', 'a/c/gone.txt']) path,
  lateral (values
    ('record', public.filestore_content(pg_temp.hash('in b'), null, path, p_with_segments => false), public.filestore_content(pg_temp.hash('in b'), null, 'never', p_with_segments => false)),
    ('an old record', public.filestore_content(pg_temp.hash('in b'), null, path, 1, p_with_segments => false), public.filestore_content(pg_temp.hash('in b'), null, 'never', 1, p_with_segments => false)),
    ('content', public.filestore_content(pg_temp.hash('in b'), null, path), public.filestore_content(pg_temp.hash('in b'), null, 'never')),
    ('versions', public.filestore_versions(pg_temp.hash('in b'), null, path, 10, 0)::jsonb, public.filestore_versions(pg_temp.hash('in b'), null, 'never', 10, 0)::jsonb),
    ('diff', public.filestore_diff(pg_temp.hash('in b'), null, path, 1, 2), public.filestore_diff(pg_temp.hash('in b'), null, 'never', 1, 2))
  ) o (what, answer, missing);
select is(pg_temp.said(public.filestore_content(pg_temp.hash('in b'), null, path)), 'done', 'content of ' || path) from unnest(array['a/b/one.txt', 'a/b/deep/two.txt']) path;

-- A write outside the prefix is forbidden, whether the file exists or not.
reset role;
create temporary table before as select (select string_agg(f::text, ',' order by f.id) from filestore.files f where f.path <> 'f') as files;
set local role service_role;
select is(pg_temp.said(pg_temp.commit('in b', kind, path, case kind when 'move' then '{"destination": "a/b/moved.txt"}' else '{}' end::jsonb)),
  'FORBIDDEN_SCOPE outside a/b', kind || ' at ' || path)
from unnest(array['f', 'never', 'a/b', 'a/b0/new', 'a/c/gone.txt']) path, unnest(array['write', 'append', 'overwrite', 'edit', 'delete', 'restore', 'move']) kind;
select is(pg_temp.said(pg_temp.commit('in b', kind, 'a/b/one.txt', jsonb_build_object('destination', path, 'overwrite', true))), 'FORBIDDEN_SCOPE outside a/b', kind || ' to ' || path)
from unnest(array['copy', 'move']) kind, unnest(array['f', 'never', 'a/b0/x']) path;
select is(pg_temp.said(pg_temp.commit('in b', 'copy', path, '{"destination": "a/b/copied.txt"}')), 'FILE_NOT_FOUND', 'copy from ' || path) from unnest(array['f', 'never', 'a/c/gone.txt']) path;
select is(pg_temp.said(public.filestore_authorize(pg_temp.hash('in b'), null, path)), 'FORBIDDEN_SCOPE outside a/b', 'nothing is uploaded for ' || path) from unnest(array['f', 'never']) path;
select is(
  public.filestore_compact(pg_temp.hash('in b'), null, 'f', array[(pg_temp.segment(1) ->> 'id')::uuid, (pg_temp.segment(11) ->> 'id')::uuid], jsonb_build_array(pg_temp.segment(50) || '{"size": 20}')) -> 'value',
  'false', 'compaction outside the prefix finds nothing to compact');
select pg_temp.commit('both', 'append', 'f', jsonb_build_object('segments', '[]'::jsonb, 'idempotency', '{"key": "once"}'::jsonb || jsonb_build_object('fingerprint', pg_temp.hash('once'))));
select is(pg_temp.said(public.filestore_content(pg_temp.hash('in b'), null, path, null, asked)), 'FORBIDDEN_SCOPE outside a/b', 'reading to edit at ' || path || ' ' || asked::text)
from unnest(array['f', 'never']) path,
  unnest(array['{}'::jsonb, jsonb_build_object('key', 'once', 'fingerprint', pg_temp.hash('once')), jsonb_build_object('key', 'once', 'fingerprint', pg_temp.hash('x'))]) asked;
reset role;
select is((select string_agg(f::text, ',' order by f.id) from filestore.files f where f.path <> 'f'), (select files from before), 'after all of that every file is what it was');
set local role service_role;
select is(pg_temp.said(pg_temp.commit('in b', kind, path, more::jsonb)), 'done', kind || ' below the prefix')
from (values
  ('write', 'a/b/new.txt', '{}'), ('append', 'a/b/one.txt', '{}'), ('overwrite', 'a/b/one.txt', '{}'), ('restore', 'a/b/gone.txt', '{}'), ('delete', 'a/b/new.txt', '{}'),
  ('copy', 'a/b/one.txt', '{"destination": "a/b/x/y.txt"}'), ('move', 'a/b/x/y.txt', '{"destination": "a/b/z.txt"}')) k (kind, path, more);
reset role;

select * from finish();
rollback;
