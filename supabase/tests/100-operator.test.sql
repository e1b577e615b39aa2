-- The operator's commands: the project that a name means, suspension, and a new key's rights.
begin;
select plan(50);

create function pg_temp.hash(p_key text) returns text language sql as $$ select encode(sha256(p_key::bytea), 'hex') $$;
create function pg_temp.find(p_project text, p_owner text default null) returns text language sql as $$
  select coalesce(f #>> '{refusal,code}', f ->> 'id') from public.filestore_admin_find_project(p_project, p_owner) f
$$;
create function pg_temp.change(p_id text, p_changes jsonb) returns text language sql as $$
  select coalesce(u #>> '{refusal,code}', 'done') from public.filestore_admin_update_project(p_id::uuid, p_changes) u
$$;
create function pg_temp.said(p_answer jsonb) returns text language sql as $$
  select coalesce(p_answer #>> '{refusal,code}' || ' ' || coalesce(p_answer #>> '{refusal,details}', ''), 'done')
$$;

insert into auth.users (id) values ('e0000000-0000-4000-8000-000000000001'), ('e0000000-0000-4000-8000-000000000002');
insert into filestore.projects (id, name, tier, owner_id) values
  ('a0000000-0000-4000-8000-000000000001', 'same', 'pro', null),
  ('a0000000-0000-4000-8000-000000000002', 'same', 'pro', 'e0000000-0000-4000-8000-000000000001'),
  ('a0000000-0000-4000-8000-000000000003', 'same', 'pro', 'e0000000-0000-4000-8000-000000000002'),
  ('a0000000-0000-4000-8000-000000000004', 'theirs', 'pro', 'e0000000-0000-4000-8000-000000000001'),
  ('a0000000-0000-4000-8000-000000000005', 'theirs', 'pro', 'e0000000-0000-4000-8000-000000000002'),
  ('a0000000-0000-4000-8000-000000000006', 'a0000000-0000-4000-8000-000000000002', 'pro', null);
insert into filestore.api_keys (project_id, name, key_hash, prefix, scopes) values
  ('a0000000-0000-4000-8000-000000000001', 'ci', sha256('one'), 'oa_1', '{read,write,admin}'),
  ('a0000000-0000-4000-8000-000000000002', 'ci', sha256('two'), 'oa_2', '{read,write,admin}');

select is(pg_temp.find('same'), 'a0000000-0000-4000-8000-000000000001', 'a name means the operator''s own project');
select is(pg_temp.find('A0000000-0000-4000-8000-000000000003'), 'a0000000-0000-4000-8000-000000000003', 'an id is found in any case');
select is(pg_temp.find('a0000000-0000-4000-8000-000000000002'), 'a0000000-0000-4000-8000-000000000002', 'an id wins over the same name');
select is(pg_temp.find('theirs'), 'PROJECT_AMBIGUOUS', 'the name of accounts'' projects means none of them');
select matches(
  public.filestore_admin_find_project('theirs') #>> '{refusal,details,message}',
  'a0000000-0000-4000-8000-000000000004 \(e0000000-0000-4000-8000-000000000001\), a0000000-0000-4000-8000-000000000005 \(e0000000-0000-4000-8000-000000000002\)',
  'their ids and owners are listed');
select is(pg_temp.find('nobody'), 'PROJECT_NOT_FOUND', 'an unknown name');
select is(pg_temp.find('same', 'nobody@example.com'), 'ACCOUNT_REFUSED', 'an unknown owner');
select is(
  public.filestore_admin_create_project('other', 'pro', 'a0000000-0000-4000-8000-000000000004') ->> 'name', 'theirs',
  'creating a project with an id that exists returns it, whichever account owns it');
select is(public.filestore_admin_create_project('same', 'pro') #>> '{refusal,code}', 'PROJECT_NAME_TAKEN', 'a name once among the operator''s');

select is(pg_temp.change('a0000000-0000-4000-8000-000000000001', c.changes), c.answer, c.changes::text)
from (values
  ('{"name": "renamed"}'::jsonb, 'done'), ('{"name": " "}', 'VALIDATION_ERROR'), ('{"name": null}', 'VALIDATION_ERROR'),
  ('{"name": "a0000000-0000-4000-8000-000000000002"}', 'PROJECT_NAME_TAKEN'), ('{"owner": "nobody@example.com"}', 'ACCOUNT_REFUSED'),
  ('{"tier": "gold"}', 'UNKNOWN_TIER'), ('{"tier": "pro", "requestsPerMinute": 0}', 'INVALID_LIMIT'),
  ('{"tier": "pro", "requestsPerMinute": 7}', 'done'), ('{}', 'done')) c (changes, answer);
select is(pg_temp.change('f0000000-0000-4000-8000-000000000000', '{"name": "x"}'), 'PROJECT_NOT_FOUND', 'a change of no project');
select results_eq(
  $$select name, tier, requests_per_minute from filestore.projects where id = 'a0000000-0000-4000-8000-000000000001'$$,
  $$values ('renamed', 'pro', 7)$$, 'what is not given stays');

select is(pg_temp.change('a0000000-0000-4000-8000-000000000001', '{"isSuspended": true}'), 'done', 'suspend');
select is(pg_temp.said(a.answer), 'FORBIDDEN_SCOPE {"suspended": true}', a.name || ' of a suspended project is refused')
from (values
  ('authorize', public.filestore_authorize(pg_temp.hash('one'), null, 'f')),
  ('read', public.filestore_content(pg_temp.hash('one'), null, 'f', null, null)::jsonb),
  ('list', public.filestore_list(pg_temp.hash('one'), null, '{"directory": "", "recursive": false, "limit": 1, "offset": 0, "sortBy": "path", "sortOrder": "asc"}')::jsonb),
  ('commit', public.filestore_commit(pg_temp.hash('one'), null, 'write', '{"path": "f", "segments": []}')),
  ('search', public.filestore_search(pg_temp.hash('one'), null, '{}')::jsonb),
  ('administer project', public.filestore_administer(pg_temp.hash('one'), null, 'project', '{}')),
  ('administer keys', public.filestore_administer(pg_temp.hash('one'), null, 'keys', '{}'))) a (name, answer);
select is(pg_temp.said(public.filestore_authorize(pg_temp.hash('two'), null, 'f')), 'done', 'another project is not');
select is(pg_temp.change('a0000000-0000-4000-8000-000000000001', '{"isSuspended": false}'), 'done', 'resume');
select is(pg_temp.said(public.filestore_authorize(pg_temp.hash('one'), null, 'f')), 'done', 'a resumed project is not refused');

create function pg_temp.administer(p_project text, p_action text, p_parameters text) returns jsonb language sql as $$
  select public.filestore_admin_administer(p_project::uuid, p_action, p_parameters::jsonb)
$$;
create function pg_temp.create_key(p_project text, p_key text, p_more text) returns jsonb language sql as $$
  select pg_temp.administer(p_project, 'create_key', (
    jsonb_build_object('environment', 'development', 'keyHash', pg_temp.hash(p_key), 'prefix', 'oa_' || lpad(p_key, 7, '0'))
    || p_more::jsonb)::text)
$$;
select results_eq(
  $$select k ->> 'scopes', k ->> 'pathPrefix', k #>> '{project,name}' from pg_temp.create_key(
      'a0000000-0000-4000-8000-000000000001', 'three',
      '{"name": "ci", "scopes": ["read"], "pathPrefix": "a/b", "namesakesExpireInSeconds": 60}') k$$,
  $$values ('["read"]', 'a/b', 'renamed')$$, 'a key with scopes and a prefix');
select results_eq(
  $$select k.prefix, k.revoked_at, k.expires_at between now() and now() + interval '2 minutes' from filestore.api_keys k
    where k.name = 'ci' order by k.prefix$$,
  $$values ('oa_00three', null::timestamptz, null), ('oa_1', null, true), ('oa_2', null, null)$$,
  'a grace period ends the project''s other keys of the name, and no other project''s');
select is(
  pg_temp.create_key(
    'a0000000-0000-4000-8000-000000000001', 'four', '{"scopes": ["admin"], "pathPrefix": "a"}') #>> '{refusal,code}',
  'VALIDATION_ERROR', 'admin with a prefix');
select is(
  pg_temp.create_key('f0000000-0000-4000-8000-000000000000', 'five', '{"scopes": ["read"]}') #>> '{refusal,code}',
  'PROJECT_NOT_FOUND', 'a key of no project');
select lives_ok(
  $$select pg_temp.administer(null, 'rotate_key', jsonb_build_object(
      'id', k.id, 'keyHash', pg_temp.hash('six'), 'prefix', 'oa_0000six', 'gracePeriodSeconds', 60)::text)
    from filestore.api_keys k where k.prefix = 'oa_2'$$,
  'rotate with a grace period');
select results_eq(
  $$select k.prefix, k.revoked_at, k.expires_at between now() and now() + interval '2 minutes' from filestore.api_keys k
    where k.prefix in ('oa_2', 'oa_0000six') order by k.prefix$$,
  $$values ('oa_0000six', null::timestamptz, null), ('oa_2', null, true)$$, 'the old key expires then, the new one does not');

-- The account that an email address belongs to.
insert into auth.users (id, email, email_confirmed_at, is_anonymous, banned_until, deleted_at) values
  (md5('one')::uuid, 'One@example.org', now(), false, null, null), (md5('two')::uuid, 'two@example.org', null, false, null, null),
  (md5('three')::uuid, null, null, true, null, null), (md5('four')::uuid, 'four@example.org', now(), false, now() + interval '1 hour', null),
  (md5('five')::uuid, 'five@example.org', now(), false, null, now()), (md5('six')::uuid, 'same@example.org', now(), false, null, null),
  (md5('seven')::uuid, 'Same@example.org', null, false, null, null);
select is(
  coalesce(u #>> '{refusal,code}', u ->> 'ownerId'), coalesce(md5(a.found)::uuid::text, 'ACCOUNT_REFUSED'), 'the owner ' || a.account)
from (values
  ('one@example.org', 'one'), ('two@example.org', null), (md5('two')::uuid::text, 'two'), (md5('three')::uuid::text, null), ('four@example.org', null),
  (md5('four')::uuid::text, null), ('five@example.org', null), (md5('five')::uuid::text, null), ('same@example.org', null), (md5('seven')::uuid::text, 'seven'),
  ('', null)) a (account, found),
  public.filestore_admin_update_project('a0000000-0000-4000-8000-000000000001', jsonb_build_object('owner', a.account)) u;
select matches(
  public.filestore_admin_update_project('a0000000-0000-4000-8000-000000000001', '{"owner": "same@example.org"}') #>> '{refusal,details,message}',
  md5('seven')::uuid || '.*' || md5('six')::uuid, 'the ids of several are listed');
select matches(
  public.filestore_admin_find_project('x', 'two@example.org') #>> '{refusal,details,message}', 'has not confirmed', 'nor is a project looked up by such an address');

select * from finish();
rollback;
