-- The console: the session that replaces a key for a project's owner, and the latest versions by key.
begin;
select plan(37);

insert into auth.users (id, email) values (md5('ann')::uuid, 'ann@example.org'), (md5('bob')::uuid, 'bob@example.org');
insert into auth.sessions (id, user_id) values (md5('ann')::uuid, md5('ann')::uuid), (md5('bob')::uuid, md5('bob')::uuid);

insert into filestore.projects (id, name, tier, owner_id) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'free', md5('ann')::uuid),
  ('b0000000-0000-4000-8000-000000000000', 'pgtap b', 'free', md5('bob')::uuid);
insert into filestore.api_keys (id, project_id, key_hash, prefix)
values ('d0000000-0000-4000-8000-000000000000', 'a0000000-0000-4000-8000-000000000000', sha256('key'), 'oa_test');
insert into filestore.rate_windows (project_id, shard, window_start)
select 'a0000000-0000-4000-8000-000000000000', n, date_trunc('minute', now()) + interval '1 hour' from generate_series(1, 64) n;

create function pg_temp.hash(p_token text) returns text language sql as $$ select encode(sha256(p_token::bytea), 'hex') $$;
create function pg_temp.open(p_user text, p_project text, p_token text) returns text
language plpgsql as $$
declare v_answer jsonb;
begin
  perform set_config('request.jwt.claims', jsonb_build_object(
    'sub', md5(p_user)::uuid, 'role', 'authenticated', 'session_id', md5(p_user)::uuid, 'aal', 'aal1')::text, true);
  set local role authenticated;
  v_answer := public.filestore_account_administer(
    (p_project || '0000000-0000-4000-8000-000000000000')::uuid, 'session', jsonb_build_object('tokenHash', pg_temp.hash(p_token)));
  reset role;
  return coalesce(v_answer #>> '{refusal,code}', left(v_answer ->> 'value', 1));
end
$$;
create function pg_temp.authorize(p_token text, p_request_id uuid default null) returns jsonb
language sql as $$ select public.filestore_authorize(pg_temp.hash(p_token), p_request_id) $$;
create function pg_temp.authorized(p_token text) returns text
language sql as $$ select coalesce(a #>> '{refusal,code}', 'project ' || left(a #>> '{grant,projectId}', 1)) from pg_temp.authorize(p_token) a $$;
create function pg_temp.commit(p_token text, p_kind text, p_path text, p_more jsonb default '{}') returns jsonb
language sql as $$
  select public.filestore_commit(pg_temp.hash(p_token), null, p_kind, jsonb_build_object(
    'path', p_path, 'commitId', gen_random_uuid(), 'segments', '[]'::jsonb, 'mimeType', 'text/plain') || p_more)
$$;

-- Only the owner can open a session, and it is for one project.
select is((select c.relrowsecurity from pg_class c where c.oid = 'filestore.console_sessions'::regclass), true, 'row-level security is on');
select is(pg_temp.authorized('of a'), 'INVALID_API_KEY', 'a token that nobody opened is no key');
select is(pg_temp.open('bob', 'a', 'of a'), 'PROJECT_NOT_FOUND', 'another account does not open it');
select is(pg_temp.open('bob', 'c', 'of c'), 'PROJECT_NOT_FOUND', 'nor a project that is not there');
select is(pg_temp.authorized('of a'), 'INVALID_API_KEY', 'so it is no key still');
select is(pg_temp.open('ann', 'a', 'of a'), 'a', 'the owner opens it');
select is(pg_temp.authorized('of a'), 'project a', 'and it is one');
select is(
  (pg_temp.authorize('of a') -> 'grant') - 'accountId',
  '{"projectId": "a0000000-0000-4000-8000-000000000000", "keyId": null, "scopes": ["read", "write", "admin"], "tier": "free", "maxFileBytes": 10485760, "pathPrefix": null, "hasWebhooks": false}',
  'with every scope and no id');
select is(pg_temp.open('bob', 'b', 'of b'), 'b', 'another account opens its own');
select is(array[pg_temp.authorized('of a'), pg_temp.authorized('of b')], '{project a,project b}', 'each is for its project');
select is(pg_temp.open('ann', 'a', 'another'), 'a', 'opened with another token');
select is(array[pg_temp.authorized('of a'), pg_temp.authorized('another')], '{project a,project a}', 'each access token has a session of its own');
select is(
  (select array[s.session_id::text, s.aal] from filestore.console_sessions s where s.token_hash = sha256('another')),
  array[md5('ann')::uuid::text, 'aal1'], 'which tells whose it is');

-- A session expires.
select is(
  (select s.expires_at between clock_timestamp() + interval '9 minutes' and clock_timestamp() + interval '601 seconds'
   from filestore.console_sessions s where s.token_hash = sha256('another')), true, 'it lasts ten minutes');
update filestore.console_sessions set expires_at = clock_timestamp() - interval '1 second' where token_hash = sha256('another');
select is(pg_temp.authorized('another'), 'INVALID_API_KEY', 'then it is no key');
select is(pg_temp.open('ann', 'a', 'another'), 'a', 'until it is opened again');
select is(pg_temp.authorized('another'), 'project a', 'which makes it one');
update filestore.console_sessions set expires_at = clock_timestamp() - interval '1 second' where token_hash in (sha256('of a'), sha256('of b'));
select is(pg_temp.open('ann', 'a', 'another'), 'a', 'opening one');
select is(
  array(select encode(s.token_hash, 'hex') from filestore.console_sessions s where s.token_hash in (sha256('of a'), sha256('of b'))),
  array[pg_temp.hash('of b')], 'removes those of the project that have ended');
select is(pg_temp.open('bob', 'b', 'of b'), 'b', 'the other project has its own again');

-- Requests of a session count in the project's window.
select is(pg_temp.authorize('another', gen_random_uuid()) #>> '{rate,remaining}', '99', 'a request of the console counts');
select is(pg_temp.authorize('key', gen_random_uuid()) #>> '{rate,remaining}', '98', 'in the window of the project''s keys');

-- To the owner, versions and activity show the key that wrote them.
select pg_temp.commit('key', 'write', 'f');
select pg_temp.commit('another', 'append', 'f');
select is(
  public.filestore_versions(pg_temp.hash('another'), null, 'f', 10, 0)::jsonb #> '{value,versions,1,keyId}', '"d0000000-0000-4000-8000-000000000000"', 'a version by a key');
select is(public.filestore_versions(pg_temp.hash('another'), null, 'f', 10, 0)::jsonb #> '{value,versions,0,keyId}', null, 'a version by the console');
select is(public.filestore_versions(pg_temp.hash('key'), null, 'f', 10, 0) ->> 'value' like '%keyId%', false, 'keys are not shown');
select pg_temp.commit('key', 'write', 'g'), pg_temp.commit('key', 'delete', 'g'), pg_temp.commit('key', 'move', 'f', '{"destination": "h"}');
-- Times that put the versions in order, since one transaction committed all of them.
update filestore.file_versions v set created_at = '2026-11-20'::timestamptz + interval '1 second' * o.seconds
from (values ('f', 1, 1), ('f', 2, 2), ('g', 1, 3), ('g', 2, 4), ('f', 3, 5), ('h', 1, 5)) o (path, version, seconds)
join filestore.files f on f.path = o.path where v.file_id = f.id and v.version = o.version;
update filestore.files f set updated_at = v.created_at from filestore.file_versions v where v.file_id = f.id and v.version = f.version;
create function pg_temp.activity(p_limit integer, p_token text default 'key') returns text
language sql as $$
  select string_agg((w ->> 'path') || (w ->> 'version') || case when w ? 'deleted' then ' deleted' else '' end, ', ' order by n)
  from jsonb_array_elements(public.filestore_administer(pg_temp.hash(p_token), null, 'activity', jsonb_build_object('limit', p_limit)) -> 'value') with ordinality x (w, n)
$$;
select is(pg_temp.activity(100), 'h1, f3 deleted, g2 deleted, g1, f2, f1', 'activity is newest first, with deletions and both sides of a move');
select is(pg_temp.activity(n), expected, n || ' of them')
from (values (1, 'h1'), (2, 'h1, f3 deleted'), (3, 'h1, f3 deleted, g2 deleted'), (5, 'h1, f3 deleted, g2 deleted, g1, f2')) a (n, expected);
select is(pg_temp.activity(100, 'of b'), null, 'another project has none');
update filestore.file_versions set created_at = '2026-11-20';
update filestore.files set updated_at = '2026-11-20';
select is(pg_temp.activity(100), 'h1, f3 deleted, g2 deleted, g1, f2, f1', 'the order is that of the change feed, whatever the clock says');
select is(
  array(select w ->> 'keyId' from jsonb_array_elements(public.filestore_administer(pg_temp.hash('key'), null, 'activity', '{"limit": 6}') -> 'value') with ordinality x (w, n) where w ->> 'path' = 'f' order by n),
  array['d0000000-0000-4000-8000-000000000000', null, 'd0000000-0000-4000-8000-000000000000'], 'each says its key, or the console');

-- The time of a key's last use.
select is((select k.last_used_at is not null from filestore.api_keys k), true, 'a key says when it was used');
update filestore.api_keys set last_used_at = now() - interval '61 seconds';
select pg_temp.authorize('another');
select is((select k.last_used_at < now() - interval '1 minute' from filestore.api_keys k), true, 'not by the console');
select is((select k.has_written from filestore.api_keys k), true, 'and that versions may name it');
update filestore.api_keys set has_written = false;
select pg_temp.authorize('key');
select is((select k.has_written from filestore.api_keys k), false, 'which what only reads does not make so');

select * from finish();
rollback;
