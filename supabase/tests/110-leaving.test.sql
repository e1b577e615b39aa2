-- Leaving: deleted or banned accounts, suspended projects, and projects transferred to another owner.
begin;
select plan(78);

do $$
begin
  if to_regclass('auth.mfa_factors') is null then
    create table auth.mfa_factors (
      id uuid primary key, user_id uuid not null, factor_type text not null, status text not null, created_at timestamptz, updated_at timestamptz);
  end if;
end
$$;
update filestore.settings set project_makers = '{anyone}';
insert into auth.users (id, email, email_confirmed_at) values
  (md5('ann')::uuid, 'ann@example.org', now()), (md5('bob')::uuid, 'bob@example.org', now());
insert into auth.sessions (id, user_id) values (md5('ann')::uuid, md5('ann')::uuid), (md5('bob')::uuid, md5('bob')::uuid);
insert into filestore.projects (id, name, tier, owner_id) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'enterprise', md5('ann')::uuid),
  ('b0000000-0000-4000-8000-000000000000', 'pgtap b', 'enterprise', md5('bob')::uuid),
  ('c0000000-0000-4000-8000-000000000000', 'pgtap c', 'enterprise', null);
insert into filestore.api_keys (project_id, key_hash, prefix, scopes)
select p.id, sha256(right(p.name, 1)::bytea), 'oa_test', '{read,write,admin}' from filestore.projects p where p.name like 'pgtap _';

create function pg_temp.hash(p_token text) returns text language sql as $$ select encode(sha256(p_token::bytea), 'hex') $$;
create function pg_temp.said(p_answer jsonb) returns text language sql as $$
  select coalesce(p_answer #>> '{refusal,code}' || case when p_answer #> '{refusal,details,suspended}' = 'true' then ' suspended' else '' end, 'done')
$$;
create function pg_temp.ask(p_user text, p_call text, p_claims jsonb default '{}') returns text
language plpgsql as $$
declare v_answer jsonb;
begin
  perform set_config('request.jwt.claims', (jsonb_build_object(
    'sub', md5(p_user)::uuid, 'role', 'authenticated', 'aud', 'authenticated', 'session_id', md5(p_user)::uuid) || p_claims)::text, true);
  set local role authenticated;
  execute 'select public.filestore_account_' || p_call into v_answer;
  reset role;
  return pg_temp.said(v_answer);
end
$$;
create function pg_temp.write(p_key text) returns text language sql as $$
  select pg_temp.said(public.filestore_commit(pg_temp.hash(p_key), null, 'write', jsonb_build_object(
    'path', 'f', 'commitId', gen_random_uuid(), 'segments', '[]'::jsonb, 'mimeType', 'text/plain')))
$$;
create function pg_temp.new_key(p_key text) returns text language sql as $$
  select pg_temp.said(public.filestore_administer(pg_temp.hash(p_key), null, 'create_key', jsonb_build_object(
    'keyHash', pg_temp.hash(gen_random_uuid()::text), 'prefix', 'oa_0123456', 'environment', 'development', 'scopes', '["admin"]'::jsonb)))
$$;
create function pg_temp.keys() returns text[] language sql as $$ select array[pg_temp.write('a'), pg_temp.write('b'), pg_temp.write('c')] $$;

select is(pg_temp.keys(), '{done,done,done}', 'keys of accounts and of the operator write');
select is(pg_temp.ask('ann', 'create_project(''one'', gen_random_uuid())'), 'done', 'an account makes projects');

-- A banned, soft-deleted or deleted account: its keys, token and console end at once, and nobody else's.
create temporary table changes (what text, change text, undo text);
insert into changes values
  ('banned', 'update auth.users set banned_until = now() + interval ''1 hour'' where id = md5(''ann'')::uuid',
    'update auth.users set banned_until = now() - interval ''1 hour'' where id = md5(''ann'')::uuid'),
  ('marked as deleted', 'update auth.users set deleted_at = now() where id = md5(''ann'')::uuid',
    'update auth.users set deleted_at = null where id = md5(''ann'')::uuid'),
  ('gone', 'delete from auth.users where id = md5(''ann'')::uuid',
    'insert into auth.users (id, email, email_confirmed_at) values (md5(''ann'')::uuid, ''ann@example.org'', now());
     insert into auth.sessions (id, user_id) values (md5(''ann'')::uuid, md5(''ann'')::uuid)');
create function pg_temp.apply(p_what text, p_is_undone boolean) returns void language plpgsql as $$
begin execute (select case when p_is_undone then c.undo else c.change end from changes c where c.what = p_what); end
$$;
create function pg_temp.refused(p_what text) returns setof text language plpgsql as $$
begin
  perform pg_temp.ask('ann', format('administer(%L, ''session'', %L)', 'a0000000-0000-4000-8000-000000000000', jsonb_build_object('tokenHash', pg_temp.hash('console'))));
  return next is(pg_temp.write('console'), 'done', 'before the account is ' || p_what || ' its console writes');
  perform pg_temp.apply(p_what, false);
  return next is(pg_temp.keys(), '{FORBIDDEN_SCOPE suspended,done,done}', p_what || ': its keys are refused');
  return next is(pg_temp.new_key('a'), 'FORBIDDEN_SCOPE suspended', p_what || ': they make no keys');
  return next is(pg_temp.write('console'), 'FORBIDDEN_SCOPE suspended', p_what || ': its console is refused');
  return next is(pg_temp.ask('ann', 'create_project(''two'', gen_random_uuid())'), 'INVALID_SESSION', p_what || ': its token makes no project');
  return next is(pg_temp.ask('ann', 'projects()'), 'INVALID_SESSION', p_what || ': and sees none');
  return next is(
    pg_temp.ask('ann', format('administer(%L, ''session'', %L)', 'a0000000-0000-4000-8000-000000000000', jsonb_build_object('tokenHash', pg_temp.hash('console')))), 'INVALID_SESSION',
    p_what || ': it opens no console');
  perform pg_temp.apply(p_what, true);
  return next is(pg_temp.keys(), '{done,done,done}', 'no longer ' || p_what || ': they write again');
end
$$;
select pg_temp.refused(c.what) from changes c;

-- Sessions that own no project: anonymous ones, and those that lack a verified second factor.
select is(pg_temp.ask('ann', 'projects()', '{"is_anonymous": true}'), 'INVALID_SESSION', 'an anonymous user owns nothing');
select is(pg_temp.ask('ann', 'projects()', '{"aal": "aal1"}'), 'done', 'without a second factor a password is enough');
insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
values (gen_random_uuid(), md5('ann')::uuid, 'totp', 'unverified', now(), now());
select is(pg_temp.ask('ann', 'projects()', '{"aal": "aal1"}'), 'done', 'nor does one count that is not verified');
update auth.mfa_factors set status = 'verified' where user_id = md5('ann')::uuid;
select is(pg_temp.ask('ann', 'projects()', '{"aal": "aal1"}'), 'INVALID_SESSION', 'with one, a session without it owns nothing');
select is(pg_temp.ask('ann', 'projects()'), 'INVALID_SESSION', 'nor does one that does not say');
select is(pg_temp.ask('ann', 'projects()', '{"aal": "aal2"}'), 'done', 'but one with it');
delete from auth.mfa_factors where user_id = md5('ann')::uuid;

-- Claims of a token. Every function that `authenticated` may call refuses a token that is not a person's.
select is(pg_temp.ask('ann', 'projects()', c.claims), c.answer, 'a token with ' || c.claims::text)
from (values
  (jsonb '{"aud": null}', 'done'), ('{"aud": []}', 'done'), ('{"aud": ["other", "authenticated"]}', 'done'),
  ('{"aud": ""}', 'INVALID_SESSION'), ('{"aud": "other"}', 'INVALID_SESSION'), ('{"aud": ["other"]}', 'INVALID_SESSION'),
  ('{"aud": {"authenticated": true}}', 'INVALID_SESSION'), ('{"aud": 1}', 'INVALID_SESSION'),
  ('{"role": "postgres"}', 'INVALID_SESSION'), ('{"role": null}', 'INVALID_SESSION'),
  ('{"client_id": "an app"}', 'INVALID_SESSION'), ('{"client_id": null}', 'INVALID_SESSION'),
  ('{"session_id": null}', 'INVALID_SESSION'), ('{"session_id": "1"}', 'INVALID_SESSION'),
  ('{"session_id": "d0000000-0000-4000-8000-000000000000"}', 'INVALID_SESSION')) c (claims, answer);
select is(pg_temp.ask('ann', 'projects()', jsonb_build_object('session_id', md5('bob')::uuid)), 'INVALID_SESSION', 'a session is one person''s');
select is(pg_temp.ask('ann', c.call, '{"client_id": "an app"}'), 'INVALID_SESSION', 'an app''s token at ' || split_part(c.call, '(', 1))
from (values ('describe()'), ('projects()'), ('create_project(''three'', gen_random_uuid())'),
  ('administer(''a0000000-0000-4000-8000-000000000000'', ''keys'', ''{}'')'),
  (format('administer(%L, ''session'', %L)', 'a0000000-0000-4000-8000-000000000000', jsonb_build_object('tokenHash', pg_temp.hash('apps')))),
  ('delete(''ann@example.org'', gen_random_uuid())')) c (call);

-- A session of Auth that ends closes its console session at once, and no other.
create function pg_temp.open(p_session text, p_token text, p_claims jsonb default '{}') returns text language sql as $$
  select pg_temp.ask('ann', format('administer(%L, ''session'', %L)', 'a0000000-0000-4000-8000-000000000000', jsonb_build_object('tokenHash', pg_temp.hash(p_token))),
    jsonb_build_object('session_id', md5(p_session)::uuid, 'aal', 'aal1') || p_claims)
$$;
insert into auth.sessions (id, user_id) values (md5('one')::uuid, md5('ann')::uuid), (md5('two')::uuid, md5('ann')::uuid);
select is(array[pg_temp.open('one', 'of one'), pg_temp.open('two', 'of two')], '{done,done}', 'two sessions open the console');
select is(array[pg_temp.write('of one'), pg_temp.write('of two')], '{done,done}', 'and write');
delete from auth.sessions where id = md5('one')::uuid;
select is(array[pg_temp.write('of one'), pg_temp.write('of two')], '{INVALID_SESSION,done}', 'signed out of one');
select is(pg_temp.open('one', 'of one'), 'INVALID_SESSION', 'which opens it no more');
update auth.sessions set not_after = now() where id = md5('two')::uuid;
select is(array[pg_temp.write('of two'), pg_temp.open('two', 'of two')], '{INVALID_SESSION,INVALID_SESSION}', 'a session whose time is over has ended');
update auth.sessions set not_after = now() + interval '1 hour' where id = md5('two')::uuid;
select is(array[pg_temp.write('of two'), pg_temp.open('two', 'of two')], '{done,done}', 'and before that it has not');
insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
values (gen_random_uuid(), md5('ann')::uuid, 'totp', 'verified', now(), now());
select is(pg_temp.write('of two'), 'INVALID_SESSION', 'once a second factor is turned on, its console is refused');
select is(pg_temp.open('two', 'with it', '{"aal": "aal2"}'), 'done', 'until the session has it');
select is(array[pg_temp.write('of two'), pg_temp.write('with it')], '{INVALID_SESSION,done}', 'which the token from before has not');
delete from auth.mfa_factors where user_id = md5('ann')::uuid;

-- A transferred project: the former owner's console ends, even if isolates have cached it, as does one
-- opened meanwhile.
select is(
  pg_temp.ask('ann', format('administer(%L, ''session'', %L)', 'a0000000-0000-4000-8000-000000000000', jsonb_build_object('tokenHash', pg_temp.hash('anns')))), 'done', 'the owner opens the console');
select is(pg_temp.write('anns'), 'done', 'and writes');
select is(
  public.filestore_admin_update_project('a0000000-0000-4000-8000-000000000000', '{"owner": "bob@example.org"}') ->> 'owner', 'bob@example.org', 'given away');
select is(pg_temp.write('anns'), 'PROJECT_NOT_FOUND', 'the former owner''s console is refused at once');
select is(
  pg_temp.ask('bob', format('administer(%L, ''session'', %L)', 'a0000000-0000-4000-8000-000000000000', jsonb_build_object('tokenHash', pg_temp.hash('bobs')))), 'done', 'the new owner opens it');
select is(array[pg_temp.write('anns'), pg_temp.write('bobs')], '{PROJECT_NOT_FOUND,done}', 'which lets the former owner in no more');
select is(
  pg_temp.ask('ann', format('administer(%L, ''session'', %L)', 'a0000000-0000-4000-8000-000000000000', jsonb_build_object('tokenHash', pg_temp.hash('anns')))), 'PROJECT_NOT_FOUND', 'nor can that be opened');
select is(pg_temp.keys(), '{done,done,done}', 'its keys are the new owner''s');

-- A project suspended by the operator: the owner can still see it and revoke keys.
select lives_ok($$select public.filestore_admin_update_project('b0000000-0000-4000-8000-000000000000', '{"isSuspended": true}')$$, 'suspended');
select is(pg_temp.ask('bob', format('administer(%L, %L, %L)', 'b0000000-0000-4000-8000-000000000000', a.action, a.parameters)), a.answer, a.action || ' by the owner')
from (values
  ('project', '{}', 'done'), ('keys', '{}', 'done'), ('revoke_key', '{"id": "d0000000-0000-4000-8000-000000000000"}', 'KEY_NOT_FOUND'),
  ('rename', '{"name": "x"}', 'FORBIDDEN_SCOPE suspended'), ('create_key', '{}', 'FORBIDDEN_SCOPE suspended'),
  ('activity', '{"limit": 1}', 'FORBIDDEN_SCOPE suspended')) a (action, parameters, answer);

select * from finish();
rollback;
