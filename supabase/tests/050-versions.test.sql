-- Versions: dense numbers, repeated commits, compactions, tombstones, counts of files.
begin;
select plan(44);

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

create function pg_temp.segment_ids(p_path text) returns uuid[]
language sql as $$ select f.segment_ids from filestore.files f where f.project_id = 'a0000000-0000-4000-8000-000000000000' and f.path = p_path $$;
create function pg_temp.ids(variadic p_numbers integer[]) returns uuid[]
language sql as $$ select array_agg((pg_temp.segment(n, 0) ->> 'id')::uuid order by o) from unnest(p_numbers) with ordinality t (n, o) $$;
create function pg_temp.one(p_path text, p_number integer, p_size integer default 10) returns jsonb
language sql as $$ select jsonb_build_object('path', p_path, 'segments', jsonb_build_array(pg_temp.segment(p_number, p_size))) $$;
create function pg_temp.directory(p_path text) returns text
language sql as $$
  select filestore.count_live_files('a0000000-0000-4000-8000-000000000000', p_path, false)
    || '/' || filestore.count_live_files('a0000000-0000-4000-8000-000000000000', p_path, true)
$$;

-- Numbers are dense from 1, for every kind of commit.
select is((pg_temp.commit('a', 'write', pg_temp.one('v/a.txt', 1)) #>> '{value,file,version}'), '1', 'write creates version 1');
select is((pg_temp.commit('a', 'append', pg_temp.one('v/a.txt', 2)) #>> '{value,file,version}'), '2', 'append');
select is((pg_temp.commit('a', 'append', pg_temp.one('v/a.txt', 3)) #>> '{value,file,version}'), '3', 'append');
select is(pg_temp.segment_ids('v/a.txt'), pg_temp.ids(1, 2, 3), 'an append adds to the segment list');
select is((pg_temp.commit('a', 'edit', pg_temp.one('v/a.txt', 4) || jsonb_build_object('baseVersion', 3, 'segmentIds', to_jsonb(pg_temp.ids(1, 4, 3))))
  #>> '{value,file,version}'), '4', 'edit');
select is(pg_temp.segment_ids('v/a.txt'), pg_temp.ids(1, 4, 3), 'an edit orders kept and new segments');
select is((pg_temp.commit('a', 'overwrite', pg_temp.one('v/a.txt', 5, 7)) #>> '{value,file,size}'), '7', 'overwrite');
select is(
  array(select v.version || ':' || v.size from filestore.file_versions v order by v.version),
  array['1:10', '2:20', '3:30', '4:30', '5:7'], 'every version keeps its number and size');

-- A repeated commit returns the version that the first one added.
select is(
  pg_temp.commit('a', 'write', pg_temp.one('v/b.txt', 6) || '{"commitId": "c0000000-0000-4000-8000-000000000000"}') #> '{value,file}',
  pg_temp.commit('a', 'write', pg_temp.one('v/b.txt', 6) || '{"commitId": "c0000000-0000-4000-8000-000000000000"}') #> '{value,file}',
  'the same answer');
select is((select count(*) from filestore.file_versions v join filestore.files f on f.id = v.file_id where f.path = 'v/b.txt'), 1::bigint, 'one version');
select is(pg_temp.commit('a', 'append', pg_temp.one('v/b.txt', 7)) #>> '{value,file,version}', '2', 'the next one');
select is(
  pg_temp.commit('a', 'write', pg_temp.one('v/b.txt', 6) || '{"commitId": "c0000000-0000-4000-8000-000000000000"}') #>> '{value,file,version}',
  '1', 'repeated later, it still answers its own version');
select is((select sum(u.versions) from filestore.project_usage u), 7::numeric, 'repeats are not counted');

-- Compaction replaces a run of the current segment list with segments of the same size, and adds no version.
select pg_temp.commit('a', 'write', pg_temp.one('m.txt', 10)), pg_temp.commit('a', 'append', pg_temp.one('m.txt', 11)),
  pg_temp.commit('a', 'append', pg_temp.one('m.txt', 12)), pg_temp.commit('a', 'append', pg_temp.one('m.txt', 13));
select is(
  public.filestore_compact(pg_temp.key('a'), null, 'm.txt', pg_temp.ids(11, 12), jsonb_build_array(pg_temp.segment(20, 20))) -> 'value',
  'true', 'a run in the middle');
select is(pg_temp.segment_ids('m.txt'), pg_temp.ids(10, 20, 13), 'is replaced where it was');
select is((select f.version || ':' || f.size from filestore.files f where f.path = 'm.txt'), '4:40', 'version and size stay');
select is(
  array(select v.segment_ids::text from filestore.file_versions v join filestore.files f on f.id = v.file_id where f.path = 'm.txt' and v.version in (3, 4) order by v.version),
  array[pg_temp.ids(10, 11, 12)::text, pg_temp.ids(10, 11, 12, 13)::text], 'versions keep their lists');
select is(
  public.filestore_compact(pg_temp.key('a'), null, path, run, jsonb_build_array(pg_temp.segment(21, 20))) -> 'value', 'false', what)
from (values
  ('m.txt', pg_temp.ids(11, 12), 'a run that was compacted already'),
  ('m.txt', pg_temp.ids(13, 10), 'segments in another order'),
  ('m.txt', pg_temp.ids(13, 99), 'a run that goes on beyond the end'),
  ('none.txt', pg_temp.ids(10, 20), 'a file that is not there')) m (path, run, what);
select throws_ok(
  format($q$select public.filestore_compact(pg_temp.key('a'), null, 'm.txt', %L, %L)$q$, pg_temp.ids(10, 20), compacted), 'P0001', null,
  'compacted segments of another size: ' || compacted::text)
from unnest(array['[]'::jsonb, jsonb_build_array(pg_temp.segment(22, 29))]) compacted;
select is(pg_temp.segment_ids('m.txt'), pg_temp.ids(10, 20, 13), 'and the segment list is unchanged');

-- Directories count live files, directly and below.
select pg_temp.commit('a', 'write', pg_temp.one('v/w/c.txt', 30));
select is(
  array[pg_temp.directory(''), pg_temp.directory('v'), pg_temp.directory('v/w')], array['1/4', '2/3', '1/1'], 'created');
select pg_temp.commit('a', 'overwrite', pg_temp.one('v/w/c.txt', 31)), pg_temp.commit('a', 'delete', '{"path": "v/a.txt"}');
select is(
  array[pg_temp.directory(''), pg_temp.directory('v'), pg_temp.directory('v/w')], array['1/3', '1/2', '1/1'], 'deleted');
select is(pg_temp.code(pg_temp.commit('a', 'delete', '{"path": "v/a.txt"}')), 'FILE_NOT_FOUND', 'what is deleted is not deleted again');
select is(
  pg_temp.commit('a', 'restore', '{"path": "v/a.txt", "version": 1}') #>> '{value,file,version}', '7', 'a restored file continues its numbers');
select is(pg_temp.segment_ids('v/a.txt'), pg_temp.ids(1), 'with the old segment list');
select pg_temp.commit('a', 'move', jsonb_build_object('path', 'v/w/c.txt', 'destination', 'x/y/z.txt'));
select is(
  array[pg_temp.directory(''), pg_temp.directory('v'), pg_temp.directory('v/w'), pg_temp.directory('x'), pg_temp.directory('x/y')],
  array['1/4', '2/2', '0/0', '0/1', '1/1'], 'moved');
select throws_ok(
  format($$select pg_temp.commit('a', 'write', '{"path": "%sb"}')$$, repeat('a/', 32)), '23514', null, 'a path has at most 32 segments');
select throws_ok(
  format($$select pg_temp.commit('a', 'write', '{"path": "v/%sb"}')$$, control), '23514', null, 'and no character that changes the direction of text')
from regexp_split_to_table(U&'\061C\200E\200F\202A\202B\202C\202D\202E\2066\2067\2068\2069', '') control;
select is(pg_temp.code(pg_temp.commit('a', 'restore', '{"path": "v/a.txt", "version": 6}')), 'VERSION_DELETED', 'a tombstone is not restored');

select * from finish();
rollback;
