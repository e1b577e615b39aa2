-- Requests that the operations refuse. A refusal changes nothing.
begin;
select plan(33);

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

insert into filestore.api_keys (project_id, key_hash, prefix, revoked_at, expires_at) values
  ('a0000000-0000-4000-8000-000000000000', sha256('pgtap revoked'), 'oa_test', now(), null),
  ('a0000000-0000-4000-8000-000000000000', sha256('pgtap expired'), 'oa_test', null, now()),
  ('a0000000-0000-4000-8000-000000000000', sha256('pgtap later'), 'oa_test', null, now() + interval '1 hour');
update filestore.projects set max_file_bytes = 100, max_project_bytes = 5848 where name = 'pgtap a';

set local role service_role;
-- Keys. Every fault of a key gets the same answer.
select is(public.filestore_authorize(pg_temp.key(key), gen_random_uuid()), '{"refusal": {"code": "INVALID_API_KEY", "details": {}}}', key || ' key is refused')
from unnest(array['unknown', 'revoked', 'expired']) key;
select is(public.filestore_authorize(text, gen_random_uuid()), '{"refusal": {"code": "INVALID_API_KEY", "details": {}}}', 'refused: ' || coalesce(quote_literal(text), 'null'))
from unnest(array['', null]) text;
select is(public.filestore_authorize(pg_temp.key('later'), gen_random_uuid()) ? 'refusal', false, 'a key is good until it expires');
select is(pg_temp.code(answer), 'INVALID_API_KEY', 'every operation asks for the key')
from unnest(array[
  public.filestore_content(pg_temp.key('unknown'), gen_random_uuid(), 'x', p_with_segments => false),
  public.filestore_content(pg_temp.key('unknown'), gen_random_uuid(), 'x'),
  public.filestore_versions(pg_temp.key('unknown'), gen_random_uuid(), 'x', 10, 0)::jsonb,
  public.filestore_diff(pg_temp.key('unknown'), gen_random_uuid(), 'x'),
  public.filestore_list(pg_temp.key('unknown'), gen_random_uuid(), '{"directory": ""}')::jsonb,
  public.filestore_compact(pg_temp.key('unknown'), gen_random_uuid(), 'x', '{}', '[]'),
  pg_temp.commit('unknown', 'write', '{"path": "x"}')
]) answer;

-- Files.
select is(pg_temp.code(pg_temp.commit('a', kind, '{"path": "none.txt", "segmentIds": [], "version": 1}')), 'FILE_NOT_FOUND', kind || ' needs a file')
from unnest(array['overwrite', 'append', 'edit', 'delete', 'restore']) kind;
select is(pg_temp.commit('a', 'write', jsonb_build_object('path', 'f.txt', 'segments', jsonb_build_array(pg_temp.segment(1, 100)))) ? 'refusal', false,
  'a file may be as large as the limit');
select is(
  pg_temp.commit('a', kind, jsonb_build_object('path', 'f.txt', 'segments', jsonb_build_array(pg_temp.segment(2, size)))) #> '{refusal}',
  '{"code": "CONTENT_TOO_LARGE", "details": {"limitBytes": 100, "sizeBytes": 101, "tier": "enterprise"}}', kind || ' over the limit')
from (values ('write', 101), ('overwrite', 101), ('append', 1)) o (kind, size);
select is(
  pg_temp.commit('a', 'edit', '{"path": "f.txt", "baseVersion": 7, "segmentIds": []}') #> '{refusal}',
  '{"code": "VERSION_CONFLICT", "details": {"version": 1}}', 'an edit of another version than the latest');
select is(
  public.filestore_content(pg_temp.key('a'), null, 'f.txt', 9, p_with_segments => false) #> '{refusal}',
  '{"code": "VERSION_NOT_FOUND", "details": {"latestVersion": 1}}', 'a version that is not there');
select is(pg_temp.code(pg_temp.commit('a', 'copy', '{"path": "f.txt", "destination": "f.txt"}')), 'FILE_ALREADY_EXISTS', 'copy onto a file');
select is(pg_temp.code(pg_temp.commit('a', 'write', '{"path": "f.txt", "ifNoneMatch": ["*"]}')), 'FILE_ALREADY_EXISTS', 'create only');
select is(pg_temp.code(pg_temp.commit('a', 'append', '{"path": "f.txt", "ifMatch": ["00000000-0000-4000-8000-000000000000.1"]}')),
  'PRECONDITION_FAILED', 'another version than the caller has seen');

-- Quota: each file counts 1,044 for its path, 784 for its version and segment, and each byte 7 times, 6 of
-- them for the search index: 2,528 of 7,234 are used. The last byte fits, and one more does not.
select is(pg_temp.code(pg_temp.commit('a', 'write', jsonb_build_object('path', 'g.txt', 'segments', jsonb_build_array(pg_temp.segment(3, 100))))), null, 'within the quota');
select is(
  pg_temp.commit('a', 'write', jsonb_build_object('path', 'h.txt', 'segments', jsonb_build_array(pg_temp.segment(4, 51)))) #> '{refusal}',
  '{"code": "QUOTA_EXCEEDED", "details": {"limitBytes": 5848}}', 'one byte over the quota');
select is(pg_temp.code(pg_temp.commit('a', 'write', jsonb_build_object('path', 'h.txt', 'segments', jsonb_build_array(pg_temp.segment(5, 50))))), null, 'the last byte of the quota');
select is(pg_temp.code(pg_temp.commit('a', 'delete', '{"path": "h.txt"}')), null, 'a deletion needs no quota');
reset role;

select is(
  array(select f.path || ' ' || f.version || ' ' || f.size from filestore.files f
        where f.project_id = 'a0000000-0000-4000-8000-000000000000' order by f.path),
  array['f.txt 1 100', 'g.txt 1 100', 'h.txt 2 0'], 'what was refused made nothing');
select is(
  (select count(*) from filestore.segments s where s.project_id = 'a0000000-0000-4000-8000-000000000000'), 3::bigint, 'and named no segment');

select * from finish();
rollback;
