-- Two projects with the same paths: a call with the key of one neither shows nor changes the other's rows.
begin;
select plan(35);

insert into filestore.projects (id, name, tier) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'enterprise'),
  ('b0000000-0000-4000-8000-000000000000', 'pgtap b', 'enterprise');
insert into filestore.api_keys (project_id, key_hash, prefix)
select p.id, sha256(p.name::bytea), 'oa_test' from filestore.projects p where p.name like 'pgtap _';

create function pg_temp.key(p_project text) returns text
language sql as $$ select encode(sha256(('pgtap ' || p_project)::bytea), 'hex') $$;
create function pg_temp.segment(p_number integer, p_size integer) returns jsonb
language sql as $$
  select jsonb_build_object(
    'id', id, 'name', 'p/' || to_char(clock_timestamp() at time zone 'UTC', 'YYYYMMDD') || '/' || id, 'size', p_size, 'sha256', repeat('00', 32), 'newlines', 0, 'endsWithNewline', false, 'isText', true)
  from (select md5(p_number::text)::uuid as id)
$$;
create function pg_temp.commit(p_project text, p_kind text, p_commit jsonb) returns jsonb
language sql as $$
  select public.filestore_commit(pg_temp.key(p_project), null, p_kind,
    jsonb_build_object('commitId', gen_random_uuid(), 'segments', '[]'::jsonb)
    || case p_kind when 'write' then '{"mimeType": "text/plain"}'::jsonb else '{}'::jsonb end || p_commit)
$$;
create function pg_temp.code(p_answer jsonb) returns text
language sql as $$ select p_answer #>> '{refusal,code}' $$;

-- Both contain same.txt; only b contains secret.txt (two versions) and gone.txt (deleted).
set local role service_role;
select pg_temp.commit('a', 'write', jsonb_build_object('path', 'same.txt', 'segments', jsonb_build_array(pg_temp.segment(1, 10))));
select pg_temp.commit('b', 'write', jsonb_build_object(
  'path', p.path, 'segments', jsonb_build_array(pg_temp.segment(p.number, 1000)), 'commitId', md5(p.path)::uuid))
from (values ('same.txt', 2), ('secret.txt', 3), ('gone.txt', 4)) p (path, number);
select pg_temp.commit('b', 'append', jsonb_build_object('path', p.path, 'segments', jsonb_build_array(pg_temp.segment(p.number, 1000))))
from (values ('same.txt', 5), ('secret.txt', 6)) p (path, number);
select pg_temp.commit('b', 'delete', '{"path": "gone.txt"}');
reset role;

create function pg_temp.rows_of_b() returns text
language plpgsql as $$
declare
  v_table text;
  v_rows text;
  v_all text := '';
begin
  foreach v_table in array array[
    'api_keys', 'rate_windows', 'files', 'file_versions', 'segments', 'project_usage', 'idempotency_keys'
  ] loop
    execute format('select string_agg(t::text, %L order by t::text) from filestore.%I t where project_id = %L',
      E'\n', v_table, 'b0000000-0000-4000-8000-000000000000') into v_rows;
    v_all := v_all || v_table || coalesce(v_rows, '');
  end loop;
  return v_all;
end
$$;
create temporary table before as select pg_temp.rows_of_b() as rows;

set local role service_role;
-- Reading. A path of the other project is answered like a missing one.
select is(
  (pg_temp.code(public.filestore_content(pg_temp.key('a'), null, 'secret.txt', p_with_segments => false))), 'FILE_NOT_FOUND', 'record of a path that b has');
select is(
  public.filestore_content(pg_temp.key('a'), null, 'secret.txt', p_with_segments => false), public.filestore_content(pg_temp.key('a'), null, 'no such file', p_with_segments => false),
  'the record of b''s path is the same as that of a path without a file');
select is(
  public.filestore_content(pg_temp.key('a'), null, 'gone.txt', p_with_segments => false), public.filestore_content(pg_temp.key('a'), null, 'no such file', p_with_segments => false),
  'nor that of a path b deleted');
select is(public.filestore_content(pg_temp.key('a'), null, 'same.txt', p_with_segments => false) #>> '{value,size}', '10', 'record of a path both have');
select is(pg_temp.code(public.filestore_content(pg_temp.key('a'), null, 'same.txt', 2, p_with_segments => false)), 'VERSION_NOT_FOUND', 'record of a version b has');
select is(pg_temp.code(public.filestore_content(pg_temp.key('a'), null, 'secret.txt')), 'FILE_NOT_FOUND', 'content of a path b has');
select is(
  public.filestore_content(pg_temp.key('a'), null, 'same.txt') #>> '{value,segments,0,id}', pg_temp.segment(1, 10) ->> 'id',
  'content of a path both have');
select is(
  jsonb_array_length(public.filestore_content(pg_temp.key('a'), null, 'same.txt') #> '{value,segments}'), 1, 'and only that');
select is(pg_temp.code(public.filestore_versions(pg_temp.key('a'), null, 'secret.txt', 10, 0)::jsonb), 'FILE_NOT_FOUND', 'versions of a path b has');
select is(public.filestore_versions(pg_temp.key('a'), null, 'same.txt', 10, 0) #>> '{value,total}', '1', 'versions of a path both have');
select is(pg_temp.code(public.filestore_diff(pg_temp.key('a'), null, 'secret.txt')), 'FILE_NOT_FOUND', 'diff of a path b has');
select is(pg_temp.code(public.filestore_diff(pg_temp.key('a'), null, 'same.txt', 1, 2)), 'VERSION_NOT_FOUND', 'diff with a version b has');
select is(
  public.filestore_list(pg_temp.key('a'), null, q.query) #>> '{value,files}' like '%secret.txt%', false, 'list ' || q.query::text)
from (values
  ('{"directory": "", "recursive": false, "limit": 100, "offset": 0, "sortBy": "path", "sortOrder": "asc"}'::jsonb),
  ('{"directory": "", "recursive": true, "limit": 100, "offset": 0, "sortBy": "size", "sortOrder": "desc", "minSize": 500}'),
  ('{"directory": "", "recursive": true, "limit": 100, "offset": 0, "sortBy": "path", "sortOrder": "asc", "after": "same.txt"}')) q (query);
select is(
  public.filestore_list(pg_temp.key('a'), null,
    '{"directory": "", "recursive": true, "limit": 100, "offset": 0, "sortBy": "path", "sortOrder": "asc", "deleted": true}')
    #>> '{value,files}', '[]', 'deleted files of b');
select is(
  public.filestore_list(pg_temp.key('a'), null,
    '{"directory": "", "recursive": true, "limit": 100, "offset": 0, "sortBy": "path", "sortOrder": "asc"}') #>> '{value,total}',
  '1', 'the total counts own files only');
select is(public.filestore_authorize(pg_temp.key('a'), null, 'secret.txt') #> '{value,file}', 'null', 'admission with a path b has');
select is(public.filestore_authorize(pg_temp.key('a'), null, 'same.txt') #>> '{value,file,size}', '10', 'admission with a path both have');
select is(
  public.filestore_authorize(pg_temp.key('a'), null) #>> '{grant,projectId}', 'a0000000-0000-4000-8000-000000000000', 'the key decides the project');

-- Writing.
select is(pg_temp.code(pg_temp.commit('a', kind, '{"path": "secret.txt", "version": 1, "baseVersion": 2, "segmentIds": []}')), 'FILE_NOT_FOUND', kind || ' of a path b has')
from unnest(array['overwrite', 'append', 'edit', 'delete', 'restore']) kind;
select is(pg_temp.code(pg_temp.commit('a', kind, jsonb_build_object(
  'path', 'secret.txt', 'destination', 'mine.txt'))), 'FILE_NOT_FOUND', kind || ' from a path b has')
from unnest(array['copy', 'move']) kind;
select is(pg_temp.code(pg_temp.commit('a', 'restore', '{"path": "gone.txt", "version": 1}')), 'FILE_NOT_FOUND', 'restoring what b deleted');
select is(pg_temp.code(pg_temp.commit('a', 'restore', '{"path": "same.txt", "version": 2}')), 'VERSION_NOT_FOUND', 'restoring a version of b');
select is(
  pg_temp.code(pg_temp.commit('a', 'edit', format(
    '{"path": "same.txt", "baseVersion": 1, "segmentIds": [%s]}', pg_temp.segment(2, 0) -> 'id')::jsonb)),
  'VERSION_CONFLICT', 'an edit cannot take a segment of b');
select is(
  public.filestore_compact(pg_temp.key('a'), null, 'secret.txt',
    array[(pg_temp.segment(3, 0) ->> 'id')::uuid, (pg_temp.segment(6, 0) ->> 'id')::uuid], jsonb_build_array(pg_temp.segment(90, 2000))) -> 'value',
  'false', 'compaction at a path b has');
select is(
  pg_temp.commit('a', 'write', jsonb_build_object('path', 'secret.txt', 'commitId', md5('secret.txt'))) #>> '{value,file,version}',
  '1', 'a path and a commit id of b are free for a');
select is(
  pg_temp.commit('a', 'move', jsonb_build_object('path', 'same.txt', 'destination', 'gone.txt'))
    #>> '{value,file,version}', '1', 'a moves onto a path that b had');
select is(
  pg_temp.commit('a', 'copy', '{"path": "gone.txt", "destination": "same.txt"}') #>> '{value,file,version}', '3', 'and copies back');
reset role;

select is((select rows from before), pg_temp.rows_of_b(), 'after all of that the rows of b are what they were');

select * from finish();
rollback;
