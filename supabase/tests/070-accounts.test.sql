-- Accounts: operations of signed-in people on their own projects and keys, and on nobody else's.
begin;
select plan(168);

insert into auth.users (id, email) values (md5('ann')::uuid, 'ann@example.org'), (md5('bob')::uuid, 'bob@example.org');
insert into auth.sessions (id, user_id) values (md5('ann')::uuid, md5('ann')::uuid), (md5('bob')::uuid, md5('bob')::uuid);

-- Acting as a named user: PostgREST sets the claims of a verified token and the role authenticated.
create function pg_temp.ask(p_user text, p_call text, p_role text default 'authenticated') returns jsonb
language plpgsql as $$
declare v_answer jsonb;
begin
  if current_setting('pgtap.counts', true) is distinct from 'on' then delete from filestore.account_windows; end if;
  perform set_config('request.jwt.claims', jsonb_build_object(
    'sub', case when p_user like 'not %' then p_user else md5(p_user)::uuid::text end, 'role', 'authenticated',
    'session_id', md5(p_user)::uuid)::text, true);
  execute format('set local role %I', p_role);
  execute 'select ' || p_call into v_answer;
  reset role;
  -- Without the account's window, which every call changes.
  return v_answer - 'rate';
exception when others then
  reset role;
  return to_jsonb(sqlstate);
end
$$;
create function pg_temp.project(p_user text, p_action text, p_parameters text default '{}', p_project_id uuid default null) returns jsonb
language sql as $$
  select pg_temp.ask(p_user, format('public.filestore_account_administer(%L, %L, %L)', p_project_id, p_action, p_parameters))
$$;
create function pg_temp.create_project(p_user text, p_name text, p_id uuid default gen_random_uuid()) returns jsonb
language sql as $$ select pg_temp.ask(p_user, format('public.filestore_account_create_project(%L, %L)', p_name, p_id)) $$;
create function pg_temp.hash(p_key text) returns text language sql as $$ select encode(sha256(p_key::bytea), 'hex') $$;
create function pg_temp.new_key(p_key text, p_more jsonb default '{}') returns text
language sql as $$
  select jsonb_build_object('keyHash', pg_temp.hash(p_key), 'prefix', 'oa_' || rpad(translate(p_key, '''', ''), 7, 'x'), 'environment', 'development', 'scopes', '["read"]'::jsonb)
    || p_more
$$;
create function pg_temp.code(p_answer jsonb) returns text language sql as $$ select p_answer #>> '{refusal,code}' $$;
create function pg_temp.authorized(p_key text) returns text
language sql as $$ select coalesce(pg_temp.code(public.filestore_authorize(pg_temp.hash(p_key), null)), 'authorized') $$;
create function pg_temp.working(p_user text) returns bigint
language sql as $$
  select count(*) from filestore.api_keys k join filestore.projects p on p.id = k.project_id
  where p.owner_id = md5(p_user)::uuid and filestore.is_active(k)
$$;

-- The columns of keys and windows that accounts need, and their checks.
select has_column('filestore', 'api_keys', c.name, c.name) from (values ('environment'), ('scopes'), ('path_prefix')) c (name);
select has_column('filestore', 'rate_windows', 'request_id', 'request_id');
select throws_ok(format($$insert into filestore.api_keys (project_id, key_hash, prefix, %s) values (gen_random_uuid(), '\x00', 'x', %s)$$, c.name, c.value), '23514', null, c.name || ' takes no ' || c.value)
from (values ('environment', '''staging'''), ('scopes', '''{}'''), ('scopes', '''{read,delete}'''), ('path_prefix', ''''''), ('path_prefix', '''/a'''),
             ('path_prefix', '''a/'''), ('path_prefix', '''a//b'''), ('scopes, path_prefix', '''{read,admin}'', ''a''')) c (name, value);
select is(pg_temp.ask('ann', statement, 'filestore_account'), '"42501"', 'an account cannot ' || what)
from (values
  ('change its tier', $$1 from (select 1) x; update filestore.projects set tier = 'enterprise'$$),
  ('change its limits', $$1 from (select 1) x; update filestore.projects set requests_per_minute = 1000000$$),
  ('change what a key is', $$1 from (select 1) x; update filestore.api_keys set key_hash = sha256('another')$$),
  ('give a key away', $$1 from (select 1) x; update filestore.api_keys set project_id = gen_random_uuid()$$),
  ('change files', $$1 from (select 1) x; update filestore.files set size = 0$$),
  ('reset a rate window', $$1 from (select 1) x; delete from filestore.rate_windows$$)) s (what, statement);

-- Roles that may not call these functions.
select is(pg_temp.ask('ann', call, role), '"42501"', role || ' is refused: ' || call)
from unnest(array['anon', 'service_role']) role,
  unnest(array[
    'public.filestore_account_projects()', 'public.filestore_account_describe()', 'public.filestore_account_create_project(''x'', gen_random_uuid())',
    'public.filestore_account_administer(null, ''keys'', ''{}'')', 'public.filestore_account_administer(gen_random_uuid(), ''session'', ''{"tokenHash": "00"}'')',
    'public.filestore_account_request(gen_random_uuid())', 'public.filestore_account_consent(gen_random_uuid(), ''00'', null, null)'
  ]) call;
select is(pg_temp.code(pg_temp.ask('not an account of ours', call)), 'INVALID_SESSION', 'another issuer''s subject is nobody: ' || call)
from unnest(array[
  'public.filestore_account_projects()', 'public.filestore_account_describe()', 'public.filestore_account_create_project(''x'', gen_random_uuid())',
  'public.filestore_account_administer(null, ''keys'', ''{}'')', 'public.filestore_account_administer(gen_random_uuid(), ''session'', ''{"tokenHash": "00"}'')',
    'public.filestore_account_request(gen_random_uuid())', 'public.filestore_account_consent(gen_random_uuid(), ''00'', null, null)'
]) call;
select is((select count(*) from filestore.projects where name in ('x', 'My project')), 0::bigint, 'which makes no project');

-- In a new installation only the operator may create projects, until the operator decides otherwise.
select is(pg_temp.ask('ann', 'public.filestore_account_projects()'), '{"value": {"projects": [], "invitations": []}}', 'there is no project');
select is(
  pg_temp.ask('ann', $$public.filestore_account_create_project('Mine', gen_random_uuid())$$),
  '{"refusal": {"code": "PROJECT_LIMIT_REACHED", "details": {"limit": 0}}}', 'and none may be made');

-- An account sees only those settings of the operator that concern the account itself.
create function pg_temp.maker(p_user text, p_makers text) returns text language plpgsql as $$
declare v_account jsonb;
begin
  update filestore.settings set project_makers = p_makers::text[];
  v_account := pg_temp.ask(p_user, 'public.filestore_account_describe()') -> 'value';
  return concat_ws(' ', v_account ->> 'projectMakers', v_account ->> 'mayCreateProjects', v_account ->> 'reason');
end
$$;
select is(
  pg_temp.ask('ann', 'public.filestore_account_describe()') -> 'value', jsonb_build_object(
    'id', md5('ann')::uuid, 'email', 'ann@example.org', 'projectMakers', 'nobody', 'mayCreateProjects', false, 'reason', 'operator_only',
    'limits', '{"requestsPerMinute": 120, "maxProjects": 20, "maxSharedBytes": 5368709120}'::jsonb,
    'usage', '{"requestsThisMinute": 1, "projects": 0, "sharedBytes": 0}'::jsonb), 'an account''s description of itself');
select is(pg_temp.maker('ann', '{}'), 'nobody false operator_only', 'the operator alone');
select is(pg_temp.maker('ann', '{bob@example.org}'), 'listed false address_unconfirmed', 'an address that nobody confirmed');
select is(pg_temp.maker('ann', '{ann@example.org,@example.org}'), 'listed false address_unconfirmed', 'gets the same reason if it is listed');
update auth.users set email_confirmed_at = now() where id = md5('ann')::uuid;
select is(pg_temp.maker('ann', '{ann@example.org}'), 'listed true', 'a listed address');
select is(pg_temp.maker('ann', '{@example.org}'), 'listed true', 'an address of a listed domain');
select is(pg_temp.maker('ann', '{bob@example.org,@ample.org}'), 'listed false not_listed', 'another address');
select is(pg_temp.maker('ann', '{anyone}'), 'anyone true', 'anyone');
select is(pg_temp.maker('bob', '{anyone}'), 'anyone true', 'also who has no confirmed address');

-- Listing projects makes none; each account has its own.
select is(pg_temp.code(pg_temp.project('ann', 'project')), 'PROJECT_NOT_FOUND', 'before there is a project there is none to ask about');
select is(
  pg_temp.ask('ann', 'public.filestore_account_projects()'), '{"value": {"projects": [], "invitations": []}}', 'an account that may make projects has none at first');
create temporary table firsts as select pg_temp.create_project('ann', 'My project') as anns, pg_temp.create_project('bob', 'My project') as bobs;
select is(
  pg_temp.ask('ann', 'public.filestore_account_projects()') #- '{value,projects,0,id}' #- '{value,projects,0,createdAt}',
  '{"value": {"invitations": [], "projects": [{"role": "owner", "name": "My project", "tier": "free", "keyPrefix": null, "retention": null,
    "limits": {"requestsPerMinute": 100, "maxFileBytes": 10485760, "maxProjectBytes": 1073741824},
    "usage": {"files": 0, "bytes": 0, "databaseBytes": 0, "versions": 0, "requestsThisMinute": 0}}]}}', 'a project that was made is of the free tier');
select is(jsonb_array_length(pg_temp.ask('ann', 'public.filestore_account_projects()') #> '{value,projects}'), 1, 'there is one');
select is(jsonb_array_length(pg_temp.ask('bob', 'public.filestore_account_projects()') #> '{value,projects}'), 1, 'another account has one of its own');
select isnt(pg_temp.project('ann', 'project') #> '{value,id}', pg_temp.project('bob', 'project') #> '{value,id}', 'which is another one');
-- All rows of one transaction have the same time, so the first projects are made the oldest.
update filestore.projects set created_at = now() - interval '1 hour' where owner_id is not null;
create temporary table anns as select (pg_temp.project('ann', 'project') #>> '{value,id}')::uuid as id;

-- Creating and naming projects.
create temporary table second as select pg_temp.create_project('ann', 'second', 'c0000000-0000-4000-8000-000000000000') #>> '{value,id}' as id;
select is(
  pg_temp.create_project('ann', 'second', 'c0000000-0000-4000-8000-000000000000') #>> '{value,id}', s.id, 'a second one, made once') from second s;
select isnt(s.id, 'c0000000-0000-4000-8000-000000000000', 'its id is not what the caller chose') from second s;
select is(
  pg_temp.create_project('bob', 'probe', s.id::uuid) #>> '{value,name}', 'probe', 'an id that another account''s project has is like any other') from second s;
select is(pg_temp.create_project('ann', 'second', 'c0000000-0000-4000-8000-000000000000') #>> '{value,name}', 'second', 'asked for again it is the same');
select is(pg_temp.code(pg_temp.create_project('ann', 'second')), 'PROJECT_NAME_TAKEN', 'its name is taken');
select is(pg_temp.create_project('bob', 'second') #>> '{value,name}', 'second', 'for this account only');
select is(pg_temp.code(pg_temp.project('ann', 'rename', '{"name": "second"}')), 'PROJECT_NAME_TAKEN', 'by renaming, too');
select is(pg_temp.project('ann', 'rename', '{"name": "Ann''s"}') #>> '{value,name}', 'Ann''s', 'renamed');
select is(pg_temp.code(pg_temp.create_project('ann', name)), 'VALIDATION_ERROR', 'no name of a project: ' || coalesce(quote_literal(name), 'null'))
from unnest(array[
  '', ' a', 'a ', E'a\nb', repeat('x', 101), null, E'a\u009bb', E'a\u202eb', E'a\u2066b', E'a\u200f', repeat(U&'\+01F600', 101), E'\u00a0a', E'a\u3000', E'\u001b[31mred']) name;
select is(pg_temp.code(pg_temp.project('ann', 'rename', '{"name": ""}')), 'VALIDATION_ERROR', 'nor by renaming');
select is(
  pg_temp.project('ann', 'rename', format('{"name": "%s"}', repeat(U&'\+01F600', 100))) #>> '{value,name}', repeat(U&'\+01F600', 100), '100 characters, whatever bytes they take');
select is(pg_temp.project('ann', 'rename', '{"name": "Ann''s"}') #>> '{value,name}', 'Ann''s', 'renamed back');
select count(pg_temp.create_project('ann', 'project ' || n)) from generate_series(3, 19) n;
select is(pg_temp.create_project('ann', 'the 20th') #>> '{value,name}', 'the 20th', 'the limit of 20 itself is reached');
select is(
  pg_temp.create_project('ann', 'the 21st'), '{"refusal": {"code": "PROJECT_LIMIT_REACHED", "details": {"limit": 20}}}', 'one more is refused');
select is(pg_temp.create_project('ann', 'second', 'c0000000-0000-4000-8000-000000000000') #>> '{value,name}', 'second', 'but what is repeated is none more');
select is(jsonb_array_length(pg_temp.ask('ann', 'public.filestore_account_projects()') #> '{value,projects}'), 20, 'there are 20');
select is(pg_temp.maker('ann', '{anyone}'), 'anyone false project_limit', 'and the account says so');

-- For every operation, another account's project is answered like a missing one.
create temporary table before as
  select (select string_agg(p::text, ',' order by p.id) from filestore.projects p) as projects, (select count(*) from filestore.api_keys) as keys;
select is(
  pg_temp.project('bob', action, pg_temp.new_key('bobs', '{"id": "d0000000-0000-4000-8000-000000000000", "name": "bob''s", "limit": 10}'), a.id),
  pg_temp.project('bob', action, '{}', 'd0000000-0000-4000-8000-000000000000'), action || ' of another account''s project')
from anns a, unnest(array['project', 'rename', 'keys', 'create_key', 'rotate_key', 'regenerate_key', 'revoke_key', 'activity']) action;
select is(
  pg_temp.ask('bob', format('public.filestore_account_administer(%L, ''session'', %L)', a.id, jsonb_build_object('tokenHash', pg_temp.hash('bob')))), '{"refusal": {"code": "PROJECT_NOT_FOUND", "details": {}}}',
  'no session in another account''s project') from anns a;
select is(
  (select string_agg(p::text, ',' order by p.id) from filestore.projects p), b.projects, 'after all of that the projects are what they were') from before b;
select is((select count(*) from filestore.api_keys), b.keys, 'and there is no key') from before b;

-- Keys.
select is(
  pg_temp.project('ann', 'create_key', pg_temp.new_key('one', '{"name": "ci", "environment": "production", "scopes": ["write", "read", "read"], "pathPrefix": "a/b"}'))
    -> 'value' #- '{id}' #- '{createdAt}',
  '{"prefix": "oa_onexxxx", "name": "ci", "environment": "production", "scopes": ["read", "write"], "pathPrefix": "a/b", "expiresAt": null, "revokedAt": null, "lastUsedAt": null, "kind": "key"}',
  'a key as it was asked for');
select is(
  pg_temp.project('ann', 'create_key', pg_temp.new_key('one')) #>> '{value,name}', 'ci', 'the request repeated is answered with the key that its first try made');
select is(pg_temp.working('ann'), 1::bigint, 'and makes nothing twice');
select is(pg_temp.code(pg_temp.project('ann', 'create_key', pg_temp.new_key('two', jsonb_build_object('name', name)))), 'VALIDATION_ERROR', 'no name of a key: ' || quote_literal(name))
from unnest(array[' a', E'a\tb', repeat('x', 101), E'a\u202e']) name;
select is(
  pg_temp.project('ann', 'create_key', pg_temp.new_key('two', k.fields)) #>> '{refusal,details,issues,0,path}', k.path, 'no key: ' || left(k.fields::text, 60))
from (values
  ('{"prefix": "oa_\u001b[2J"}'::jsonb, 'prefix'), ('{"prefix": "oa_"}', 'prefix'), ('{"prefix": "oa_01234567"}', 'prefix'), ('{"prefix": null}', 'prefix'),
  ('{"environment": "staging"}', 'environment'), ('{"scopes": []}', 'scopes'), ('{"scopes": ["all"]}', 'scopes'), ('{"scopes": "read"}', 'scopes'),
  ('{"pathPrefix": ""}', 'pathPrefix'), ('{"pathPrefix": "/a"}', 'pathPrefix'), ('{"pathPrefix": "a/../b"}', 'pathPrefix'), ('{"pathPrefix": "."}', 'pathPrefix'),
  ('{"pathPrefix": "a\\b"}', 'pathPrefix'), ('{"pathPrefix": "a\u0007"}', 'pathPrefix'), ('{"pathPrefix": "a//b"}', 'pathPrefix'), ('{"pathPrefix": "a\u202eb"}', 'pathPrefix'), ('{"pathPrefix": "\u2069a"}', 'pathPrefix'),
  (jsonb_build_object('pathPrefix', repeat('a/', 32) || 'b'), 'pathPrefix'), (jsonb_build_object('pathPrefix', repeat('a', 1025)), 'pathPrefix'),
  ('{"pathPrefix": "a", "scopes": ["admin"]}', 'pathPrefix'), ('{"expiresAt": "2020-01-01T00:00:00Z"}', 'expiresAt'),
  ('{"expiresAt": "infinity"}', 'expiresAt'), ('{"expiresAt": "tomorrow"}', 'expiresAt'), ('{"keyHash": "00"}', 'keyHash')) k (fields, path);
select is(pg_temp.project('ann', 'project') #>> '{value,keyPrefix}', 'oa_onexxxx', 'the project shows the newest key');
create function pg_temp.id_of(p_key text) returns text
language sql as $$ select k.id::text from filestore.api_keys k where k.key_hash = sha256(p_key::bytea) $$;
create function pg_temp.rotate(p_key text, p_new text, p_more jsonb default '{}') returns jsonb
language sql as $$ select pg_temp.project('ann', 'rotate_key', pg_temp.new_key(p_new, jsonb_build_object('id', pg_temp.id_of(p_key)) || p_more)) $$;

select is(
  (pg_temp.rotate('one', 'two') -> 'value') - '{id,createdAt,replaced}'::text[],
  '{"prefix": "oa_twoxxxx", "name": "ci", "environment": "production", "scopes": ["read", "write"], "pathPrefix": "a/b", "expiresAt": null, "revokedAt": null, "lastUsedAt": null, "kind": "key"}',
  'a rotated key is like the one it replaces');
select is(array[pg_temp.authorized('one'), pg_temp.authorized('two')], '{INVALID_API_KEY,authorized}', 'which ends at once');
select is(pg_temp.rotate('one', 'two') #>> '{value,replaced,prefix}', 'oa_onexxxx', 'the request repeated says the same');
select is(pg_temp.working('ann'), 1::bigint, 'and makes nothing twice');
select is(pg_temp.code(pg_temp.rotate('one', 'three')), 'KEY_REVOKED', 'a key that was replaced is not replaced again');
select is(pg_temp.code(pg_temp.rotate('nobody''s', 'three')), 'KEY_NOT_FOUND', 'a key that is not there is not replaced');
select is(
  (pg_temp.rotate('two', 'three', '{"gracePeriodSeconds": 600}') #>> '{value,replaced,expiresAt}')::timestamptz
    between clock_timestamp() + interval '590 seconds' and clock_timestamp() + interval '601 seconds', true, 'with a grace period it ends when that ends');
select is(array[pg_temp.authorized('two'), pg_temp.authorized('three')], '{authorized,authorized}', 'until then both work');
update filestore.api_keys set expires_at = clock_timestamp() - interval '1 second' where key_hash = sha256('two');
select is(array[pg_temp.authorized('two'), pg_temp.authorized('three')], '{INVALID_API_KEY,authorized}', 'then the new one alone');
select is(pg_temp.code(pg_temp.rotate('two', 'four')), 'KEY_REVOKED', 'an expired key is not replaced');
update filestore.api_keys set expires_at = clock_timestamp() + interval '1 minute' where key_hash = sha256('three');
select is(
  pg_temp.rotate('three', 'four', '{"gracePeriodSeconds": 600}') #> '{value,expiresAt}', pg_temp.rotate('three', 'four') #> '{value,replaced,expiresAt}',
  'a grace period prolongs nothing, and the new key ends when the old one would have');

-- This key becomes the newest.
update filestore.api_keys set created_at = now() + interval '1 second' where key_hash = sha256('four');
select is(
  pg_temp.project('ann', 'regenerate_key', pg_temp.new_key('five')) #>> '{value,replaced,prefix}', 'oa_fourxxx', 'regenerating replaces the newest key that works');
select pg_temp.project('ann', 'regenerate_key', pg_temp.new_key('five'));
select is(array[pg_temp.authorized('three'), pg_temp.authorized('four'), pg_temp.authorized('five')], '{authorized,INVALID_API_KEY,authorized}', 'once, and no other');
select is(
  pg_temp.project('bob', 'regenerate_key', pg_temp.new_key('bobs')) #- '{value,id}' #- '{value,createdAt}',
  '{"value": {"prefix": "oa_bobsxxx", "name": "", "environment": "development", "scopes": ["read", "write"], "pathPrefix": null, "expiresAt": null, "revokedAt": null, "lastUsedAt": null, "kind": "key"}}',
  'where there is none it makes one');

create temporary table revoked as select pg_temp.project('ann', 'revoke_key', jsonb_build_object('id', pg_temp.id_of('five'))::text) as answer;
select isnt((select answer #>> '{value,revokedAt}' from revoked), null, 'revoked');
select is(pg_temp.authorized('five'), 'INVALID_API_KEY', 'it works no more');
select is(pg_temp.project('ann', 'revoke_key', jsonb_build_object('id', pg_temp.id_of('five'))::text), (select answer from revoked), 'revoked again it stays as it was');
select is(pg_temp.code(pg_temp.project('ann', 'revoke_key', jsonb_build_object('id', pg_temp.id_of('bobs'))::text)), 'KEY_NOT_FOUND', 'another project''s key is not there to be revoked');
select is(pg_temp.authorized('bobs'), 'authorized', 'and goes on working');

-- The limit of active keys is exact; revoked and expired keys do not count.
select count(pg_temp.project('ann', 'create_key', pg_temp.new_key('n' || n))) from generate_series(2, 99) n;
select is(pg_temp.working('ann'), 99::bigint, '99 keys work');
select is(pg_temp.project('ann', 'create_key', pg_temp.new_key('n100')) #>> '{value,prefix}', 'oa_n100xxx', 'the limit of 100 itself is reached');
select is(pg_temp.project('ann', 'create_key', pg_temp.new_key('n101')), '{"refusal": {"code": "KEY_LIMIT_REACHED", "details": {"limit": 100}}}', 'one more is refused');
select is(pg_temp.code(pg_temp.rotate('n50', 'n101', '{"gracePeriodSeconds": 1}')), 'KEY_LIMIT_REACHED', 'so is a rotation with a grace period');
select is(pg_temp.rotate('n50', 'n101') #>> '{value,replaced,prefix}', 'oa_n50xxxx', 'one without makes no key more');
select pg_temp.project('ann', 'revoke_key', jsonb_build_object('id', pg_temp.id_of('n51'))::text);
select is(pg_temp.project('ann', 'create_key', pg_temp.new_key('n102')) #>> '{value,prefix}', 'oa_n102xxx', 'a revoked key leaves room for one');
select is(pg_temp.working('ann'), 100::bigint, '100 keys work');
select is(jsonb_array_length(pg_temp.project('ann', 'keys') -> 'value'), 106, 'all are listed, with those that ended');

-- Every call of an account is counted.
select set_config('pgtap.counts', 'on', true);
insert into filestore.account_windows as w (account_id, window_start, request_count)
select md5(n)::uuid, date_trunc('minute', clock_timestamp()) + interval '1 hour', 119 from unnest(array['ann', 'bob']) n
on conflict (account_id) do update set window_start = excluded.window_start, request_count = excluded.request_count;
select is(pg_temp.code(pg_temp.project('ann', 'project')), null, 'the last call of an account in its minute');
select is(pg_temp.code(pg_temp.ask('ann', call)), 'RATE_LIMIT_EXCEEDED', 'one more is refused: ' || call)
from unnest(array[
  'public.filestore_account_projects()', 'public.filestore_account_describe()', 'public.filestore_account_create_project(''x'', gen_random_uuid())',
  'public.filestore_account_administer(null, ''keys'', ''{}'')',
  'public.filestore_account_administer(null, ''revoke_key'', jsonb_build_object(''id'', gen_random_uuid()))',
  'public.filestore_account_administer(gen_random_uuid(), ''session'', ''{"tokenHash": "00"}'')',
  'public.filestore_account_request(gen_random_uuid())', 'public.filestore_account_consent(gen_random_uuid(), ''00'', null, null)']) call;
select is(pg_temp.code(pg_temp.project('bob', 'project')), null, 'another account has a minute of its own');
update filestore.account_windows set window_start = window_start - interval '2 hours';
select is(pg_temp.code(pg_temp.project('ann', 'project')), null, 'the next minute begins anew');

select * from finish();
rollback;
