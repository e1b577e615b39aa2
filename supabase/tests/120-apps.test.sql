-- Apps: what a signed-in person can do by calling the functions directly, and what the policies show an app.
begin;
select plan(26);

insert into auth.users (id, email) values (md5('ann')::uuid, 'ann@example.org'), (md5('bob')::uuid, 'bob@example.org');
insert into auth.sessions (id, user_id) values (md5('ann')::uuid, md5('ann')::uuid), (md5('bob')::uuid, md5('bob')::uuid);
insert into filestore.projects (id, name, tier, owner_id) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'enterprise', md5('ann')::uuid),
  ('b0000000-0000-4000-8000-000000000000', 'pgtap b', 'enterprise', md5('bob')::uuid);

create function pg_temp.hash(p_text text) returns text language sql as $$ select encode(sha256(p_text::bytea), 'hex') $$;
create function pg_temp.app(p_more jsonb default '{}') returns jsonb
language sql as $$
  select jsonb_build_object(
    'name', 'app', 'scopes', '["read"]'::jsonb, 'clientHash', pg_temp.hash('client'), 'clientName', 'app', 'clientHost', '',
    'redirectUri', 'https://app/', 'challenge', repeat('c', 43)) || p_more
$$;
create function pg_temp.ask(p_user text, p_call text) returns jsonb
language plpgsql as $$
declare v_answer jsonb;
begin
  perform set_config('request.jwt.claims', jsonb_build_object(
    'sub', md5(p_user)::uuid, 'role', 'authenticated', 'session_id', md5(p_user)::uuid, 'aal', 'aal1')::text, true);
  set local role authenticated;
  execute 'select ' || p_call into v_answer;
  reset role;
  return v_answer;
end
$$;
create function pg_temp.consent(p_user text, p_request text, p_code text, p_project text, p_app jsonb) returns text
language sql as $$
  select coalesce(a #>> '{refusal,code}', a ->> 'value') from pg_temp.ask(p_user, format(
    'public.filestore_account_consent(%L, %L, %L, %L)', md5(p_request)::uuid, pg_temp.hash(p_code),
    p_project || '0000000-0000-4000-8000-000000000000', p_app)) a
$$;
create function pg_temp.exchange(p_code text, p_tokens text, p_client text default 'client') returns jsonb
language plpgsql as $$
declare v_answer jsonb;
begin
  set local role service_role;
  v_answer := public.filestore_app_exchange(
    pg_temp.hash(p_code), pg_temp.hash(p_client), 'https://app/', repeat('c', 43), pg_temp.hash('access ' || p_tokens),
    pg_temp.hash('refresh ' || p_tokens));
  reset role;
  return v_answer;
end
$$;
create function pg_temp.refresh(p_token text, p_tokens text) returns jsonb
language plpgsql as $$
declare v_answer jsonb;
begin
  set local role service_role;
  v_answer := public.filestore_app_refresh(
    pg_temp.hash('refresh ' || p_token), pg_temp.hash('client'), null, pg_temp.hash('access ' || p_tokens),
    pg_temp.hash('refresh ' || p_tokens));
  reset role;
  return v_answer;
end
$$;
create function pg_temp.authorized(p_token text) returns text
language sql as $$
  select coalesce(a #>> '{refusal,code}', 'project ' || left(a #>> '{grant,projectId}', 1))
  from public.filestore_authorize(pg_temp.hash(p_token), null) a
$$;

-- Consent.
select is(pg_temp.consent('bob', 'of a', 'code', 'a', pg_temp.app()), 'PROJECT_NOT_FOUND', 'nobody lets an app into another''s project');
select is(pg_temp.consent('ann', 'of a', 'code', 'a', pg_temp.app(fields)), 'VALIDATION_ERROR', 'refused: ' || fields::text)
from unnest(array[
  '{"scopes": ["admin"]}', '{"scopes": ["read", "admin"]}', '{"scopes": []}', '{"pathPrefix": "../b"}', '{"name": "a\u202eb"}',
  '{"expiresAt": "2020-01-01T00:00:00Z"}']::jsonb[]) fields;
select is((select count(*) from filestore.api_keys), 0::bigint, 'which makes no app');
select is(pg_temp.consent('ann', 'of a', 'code', 'a', pg_temp.app()), 'true', 'the owner lets it in');
select is(pg_temp.consent('ann', 'of a', 'code', 'a', pg_temp.app()), 'true', 'the same answer again says the same');
select is(pg_temp.consent('ann', 'of a', 'another', 'a', pg_temp.app()), 'REQUEST_NOT_FOUND', 'another one comes too late');
select is(pg_temp.consent('bob', 'of a', 'another', 'b', pg_temp.app()), 'REQUEST_NOT_FOUND', 'so does that of another account');
select is((select count(*) from filestore.api_keys), 1::bigint, 'there is one app');
select throws_ok(
  $$update filestore.api_keys set scopes = '{admin}' where kind = 'app'$$, '23514', null, 'no app is ever an administrator');

-- Tokens.
select is(pg_temp.exchange('code', 'one', 'another client'), '{"error": "invalid_grant"}', 'a code is for its client');
select is(pg_temp.exchange('code', 'one') - 'expiresIn', '{"scopes": ["read"]}', 'which exchanges it');
select is(pg_temp.exchange('code', 'one') - 'expiresIn', '{"scopes": ["read"]}', 'the same request, whose answer was lost, has the same answer');
select is((select count(*) from filestore.app_tokens), 2::bigint, 'and no more tokens');
select is(
  array[pg_temp.authorized('access one'), pg_temp.authorized('refresh one'), pg_temp.authorized('code')],
  '{project a,INVALID_API_KEY,INVALID_API_KEY}', 'the access token alone acts');
select is(pg_temp.consent('bob', 'of b', 'code of b', 'b', pg_temp.app()), 'true', 'another project has an app of the same client');
select pg_temp.exchange('code of b', 'b');
create function pg_temp.visible(p_table text) returns uuid[]
language plpgsql as $$
declare v_ids uuid[];
begin
  perform set_config('filestore.key_hash', encode(k.key_hash, 'hex'), true) from filestore.api_keys k
  where k.project_id = 'a0000000-0000-4000-8000-000000000000';
  set local role filestore_engine;
  execute format('select array_agg(distinct t.project_id) from filestore.%I t', p_table) into v_ids;
  reset role;
  return v_ids;
end
$$;
select is(pg_temp.visible(name), '{a0000000-0000-4000-8000-000000000000}', 'an app sees its own and no others: ' || name)
from unnest(array['app_tokens', 'app_consents']) name;
select is(pg_temp.refresh('one', 'two') - 'expiresIn', '{"scopes": ["read"]}', 'a refresh token has new tokens');
update filestore.app_tokens set used_at = used_at - interval '31 seconds' where used_at is not null;
select is(pg_temp.refresh('one', 'two') - 'expiresIn', '{"scopes": ["read"]}', 'the same request again ends nothing');
select is(pg_temp.refresh('one', 'three'), '{"error": "invalid_grant"}', 'another one ends the app');
select is(
  array[pg_temp.authorized('access one'), pg_temp.authorized('access two'), pg_temp.authorized('access b')],
  '{INVALID_API_KEY,INVALID_API_KEY,project b}', 'with all of its tokens, and no other app');

select * from finish();
rollback;
