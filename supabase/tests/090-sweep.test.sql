-- The sweep proceeds project by project and day by day, and keeps every object that a row names.
-- Commits refuse segments that it may have removed.
begin;
select plan(15);

insert into filestore.projects (id, name, tier) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'enterprise'),
  ('b0000000-0000-4000-8000-000000000000', 'pgtap b', 'enterprise');
insert into filestore.api_keys (project_id, key_hash, prefix)
select p.id, sha256(p.name::bytea), 'oa_test' from filestore.projects p where p.name like 'pgtap _';
-- All other projects of this database have been swept.
insert into filestore.sweeps (project_id, swept_through)
select p.id, 'infinity' from filestore.projects p where p.name not like 'pgtap _'
on conflict (project_id) do update set swept_through = 'infinity';

create function pg_temp.day(p_days integer) returns date
language sql as $$ select (filestore.sweep_clock() at time zone 'UTC')::date - p_days $$;
create function pg_temp.commit(p_number integer, p_days integer) returns jsonb
language sql as $$
  select public.filestore_commit(encode(sha256('pgtap a'), 'hex'), null, 'write', jsonb_build_object(
    'path', 'f', 'mimeType', 'text/plain', 'commitId', gen_random_uuid(), 'segments', jsonb_build_array(jsonb_build_object(
      'id', md5(p_number::text)::uuid, 'name', 'p/' || to_char(pg_temp.day(p_days), 'YYYYMMDD') || '/' || md5(p_number::text)::uuid,
      'size', 1, 'sha256', repeat('00', 32), 'newlines', 0, 'endsWithNewline', false, 'isText', true))))
$$;

select is(public.filestore_sweep_next() ->> 'projectId', 'a0000000-0000-4000-8000-000000000000', 'projects that were never swept take turns');
select is(public.filestore_sweep_next() -> 'sweptThrough', 'null', 'nothing of the other one is swept');
select ok((public.filestore_sweep_next() ->> 'through')::date <= pg_temp.day(2), 'what is younger than a whole day is not asked for');
select public.filestore_sweep_progress('a0000000-0000-4000-8000-000000000000', pg_temp.day(10), pg_temp.day(9), 7);
select is(public.filestore_sweep_next() ->> 'projectId', 'b0000000-0000-4000-8000-000000000000', 'then the one that has waited longest');
select public.filestore_sweep_progress('b0000000-0000-4000-8000-000000000000', pg_temp.day(5));
select is(
  public.filestore_sweep_next() - 'through',
  jsonb_build_object('projectId', 'a0000000-0000-4000-8000-000000000000', 'sweptThrough', pg_temp.day(10), 'day', pg_temp.day(9), 'kept', 7),
  'a day that was begun goes on where it was left');
select public.filestore_sweep_progress('a0000000-0000-4000-8000-000000000000', pg_temp.day(12));
select public.filestore_sweep_next();
select is(
  public.filestore_sweep_next() ->> 'sweptThrough', pg_temp.day(10)::text, 'swept days stay swept if a slower slice ends later');
select public.filestore_sweep_progress('a0000000-0000-4000-8000-000000000000', pg_temp.day(2));
select public.filestore_sweep_progress('b0000000-0000-4000-8000-000000000000', pg_temp.day(2));
select is(public.filestore_sweep_next(), null, 'at the end nothing is left to do');

select is(pg_temp.commit(1, 0) #>> '{value,file,version}', '1', 'a segment of today is committed');
select is(pg_temp.commit(2, 1) #>> '{value,file,version}', '2', 'and one of yesterday');
select throws_ok('select pg_temp.commit(3, 2)', 'P0001', 'a segment was uploaded too long ago to be committed', 'an older one is not: it may be gone');
select is(
  public.filestore_sweep_unreferenced('a0000000-0000-4000-8000-000000000000', array[md5('1')::uuid, md5('2')::uuid, md5('3')::uuid]),
  jsonb_build_array(md5('3')::uuid), 'only what no row names may go');
select is(
  public.filestore_sweep_unreferenced('b0000000-0000-4000-8000-000000000000', array[md5('1')::uuid]),
  jsonb_build_array(md5('1')::uuid), 'a name counts in its own project');
select pg_temp.commit(4, 0);
select is(
  public.filestore_sweep_unreferenced('a0000000-0000-4000-8000-000000000000', array[md5('1')::uuid, md5('4')::uuid]), '[]',
  'what older versions name stays, too');

-- Keys that ended more than 90 days ago.
insert into filestore.api_keys (project_id, name, key_hash, prefix, revoked_at, expires_at, has_written)
select 'a0000000-0000-4000-8000-000000000000', k.name, sha256(k.name::bytea), 'oa_test', k.revoked_at, k.expires_at,
       k.name = 'wrote'
from (values
  ('revoked long ago', now() - interval '91 days', null), ('expired long ago', null, now() - interval '91 days'),
  ('wrote', now() - interval '91 days', null), ('revoked lately', now() - interval '89 days', null),
  ('expires', null, now() + interval '1 day'), ('works', null, null)) k (name, revoked_at, expires_at);
select lives_ok('select public.filestore_sweep_next()', 'the sweep');
select results_eq(
  $$select k.name, k.prefix, k.key_hash is null from filestore.api_keys k where k.project_id = 'a0000000-0000-4000-8000-000000000000' and k.name <> '' order by k.name$$,
  $$values ('expires', 'oa_test', false), ('revoked lately', 'oa_test', false), ('works', 'oa_test', false), ('wrote', '', true)$$,
  'removes them, and of one that wrote leaves id and name');

select * from finish();
rollback;
