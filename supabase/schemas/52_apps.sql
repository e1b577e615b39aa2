-- Apps: the programs of others that a person let into a project by signing in. The app exchanges the code of a
-- consent for tokens, and refreshes these. `caller_of` recognizes its access tokens; 73_consent.sql has the consent.

create function filestore.open_app(p_project_id uuid, p_key_hash bytea, p_client_hash text) returns filestore.api_keys
language plpgsql volatile set search_path = '' as $$
declare
  v_app filestore.api_keys;
  v_role text;
begin
  perform set_config('filestore.key_hash', encode(p_key_hash, 'hex'), true);
  perform set_config('filestore.project_id', p_project_id::text, true);
  -- Locked: one request of an app after the other learns what was used already.
  select k.* into v_app from filestore.api_keys k
  where k.key_hash = p_key_hash and k.client_hash = decode(p_client_hash, 'hex') and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())
  for no key update;
  select filestore.role_of(p.id, p.owner_id, v_app.account_id) into v_role from filestore.projects p
  where p.id = p_project_id and p.deleted_at is null;
  if v_role is null then return null; end if;
  v_app.scopes := filestore.scopes_within(v_role, v_app.scopes);
  return v_app;
end
$$;
comment on function filestore.open_app is
  'The app of this client, for the rest of the transaction, with the scopes that its person''s role allows; null '
  'where it has ended: it was revoked, it has expired, or the person is no longer in the project.';
call filestore.grant_execute('filestore.open_app', 'filestore_engine');

create function filestore.add_tokens(p_app filestore.api_keys, p_access_hash text, p_refresh_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_now constant timestamptz := clock_timestamp();
  v_ends_at constant timestamptz := least(
    v_now + make_interval(secs => v_limits.app_access_seconds), p_app.expires_at);
begin
  insert into filestore.app_tokens (token_hash, project_id, key_hash, kind, created_at, expires_at)
  values
    (decode(p_access_hash, 'hex'), p_app.project_id, p_app.key_hash, 'access', v_now, v_ends_at),
    (decode(p_refresh_hash, 'hex'), p_app.project_id, p_app.key_hash, 'refresh', v_now, least(
      v_now + make_interval(days => v_limits.app_unused_days), p_app.expires_at))
  on conflict do nothing;
  -- The oldest go, whatever their end: an app whose end is near goes on as long as any other.
  delete from filestore.app_tokens t where t.token_hash in (
    select o.token_hash from filestore.app_tokens o where o.key_hash = p_app.key_hash
    order by o.created_at desc, o.token_hash offset v_limits.app_tokens_max);
  perform filestore.note_use(p_app.id, true, false);
  return jsonb_build_object(
    'scopes', p_app.scopes, 'expiresIn', ceil(extract(epoch from v_ends_at - v_now))::integer);
end
$$;
comment on function filestore.add_tokens is
  'Adds an access token and a refresh token to an app, and drops its oldest ones; returns its scopes, and the '
  'seconds for which the access token is valid.';
call filestore.grant_execute('filestore.add_tokens', 'filestore_engine');

create function filestore.refuse_replay(p_app filestore.api_keys, p_access_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- The same request again, whose answer was lost between database and edge function: it has these tokens.
  if exists (
    select from filestore.app_tokens t
    where t.token_hash = decode(p_access_hash, 'hex') and t.key_hash = p_app.key_hash) then return null; end if;
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id = p_app.id;
  return '{"error": "invalid_grant"}';
end
$$;
comment on function filestore.refuse_replay is
  'Ends an app whose code or refresh token was used by two, one of whom stole it; null where both are one '
  'request.';
call filestore.grant_execute('filestore.refuse_replay', 'filestore_engine');

create function public.filestore_app_exchange(
  p_code_hash text, p_client_hash text, p_redirect_uri text, p_challenge text, p_access_hash text, p_refresh_hash text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_refused constant jsonb := '{"error": "invalid_grant"}';
  v_consent filestore.app_consents;
  v_app filestore.api_keys;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  perform set_config('filestore.key_hash', p_code_hash, true);
  select c.* into v_consent from filestore.app_consents c
  where c.code_hash = decode(p_code_hash, 'hex') and c.redirect_uri = p_redirect_uri and c.challenge = p_challenge;
  if not found then return c_refused; end if;
  v_app := filestore.open_app(v_consent.project_id, v_consent.key_hash, p_client_hash);
  if v_app.id is null then return c_refused; end if;
  select c.* into v_consent from filestore.app_consents c where c.code_hash = decode(p_code_hash, 'hex');
  if v_consent.used_at is not null then
    return coalesce(filestore.refuse_replay(v_app, p_access_hash),
      filestore.add_tokens(v_app, p_access_hash, p_refresh_hash));
  elsif v_consent.expires_at <= clock_timestamp() then
    return c_refused;
  end if;
  update filestore.app_consents c set used_at = clock_timestamp() where c.code_hash = decode(p_code_hash, 'hex');
  return filestore.add_tokens(v_app, p_access_hash, p_refresh_hash);
end
$$;
comment on function public.filestore_app_exchange is
  'Exchanges the code of a consent for an access token and a refresh token: {"scopes", "expiresIn"}, or '
  '{"error"}. Only for the client, the redirect URI and the code challenge of the consent, and once: a second '
  'exchange ends the app.';
call filestore.publish('public.filestore_app_exchange', 'filestore_engine', 'service_role');

create function public.filestore_app_refresh(
  p_token_hash text, p_client_hash text, p_scopes text[], p_access_hash text, p_refresh_hash text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_refused constant jsonb := '{"error": "invalid_grant"}';
  v_grace constant interval := make_interval(secs => (filestore.limits()).app_refresh_grace_seconds);
  v_token filestore.app_tokens;
  v_app filestore.api_keys;
  v_refused jsonb;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  perform set_config('filestore.key_hash', p_token_hash, true);
  select t.* into v_token from filestore.app_tokens t
  where t.token_hash = decode(p_token_hash, 'hex') and t.kind = 'refresh' and t.expires_at > clock_timestamp();
  if not found then return c_refused; end if;
  v_app := filestore.open_app(v_token.project_id, v_token.key_hash, p_client_hash);
  if v_app.id is null then return c_refused; end if;
  if not p_scopes <@ v_app.scopes then return '{"error": "invalid_scope"}'; end if;
  select t.* into v_token from filestore.app_tokens t where t.token_hash = decode(p_token_hash, 'hex');
  if v_token.used_at < clock_timestamp() - v_grace then
    v_refused := filestore.refuse_replay(v_app, p_access_hash);
  elsif v_token.used_at is null then
    update filestore.app_tokens t set used_at = clock_timestamp() where t.token_hash = decode(p_token_hash, 'hex');
  end if;
  return coalesce(v_refused, filestore.add_tokens(v_app, p_access_hash, p_refresh_hash));
end
$$;
comment on function public.filestore_app_refresh is
  'Exchanges a refresh token for new tokens, as filestore_app_exchange does. Its use some time after the first '
  'one ends the app. invalid_scope where the app lacks one of p_scopes, which may be null.';
call filestore.publish('public.filestore_app_refresh', 'filestore_engine', 'service_role');

create function public.filestore_app_revoke(p_token_hash text, p_client_hash text) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_token filestore.app_tokens;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  perform set_config('filestore.key_hash', p_token_hash, true);
  select t.* into v_token from filestore.app_tokens t where t.token_hash = decode(p_token_hash, 'hex');
  perform set_config('filestore.key_hash', encode(v_token.key_hash, 'hex'), true);
  update filestore.api_keys k set revoked_at = clock_timestamp()
  where k.key_hash = v_token.key_hash and k.client_hash = decode(p_client_hash, 'hex') and k.revoked_at is null;
end
$$;
comment on function public.filestore_app_revoke is
  'Ends the app with this access or refresh token, if it is this client''s.';
call filestore.publish('public.filestore_app_revoke', 'filestore_engine', 'service_role');

create function filestore.sweep_apps(p_limit integer) returns void
language sql volatile set search_path = '' as $$
  delete from filestore.app_tokens t where t.token_hash in (
    select o.token_hash from filestore.app_tokens o where o.expires_at < filestore.sweep_clock()
    order by o.expires_at limit p_limit for update skip locked);
  -- A day later: until then a code that comes twice still ends its app.
  delete from filestore.app_consents c where c.request_id in (
    select o.request_id from filestore.app_consents o where o.expires_at < filestore.sweep_clock() - interval '1 day'
    order by o.expires_at limit p_limit for update skip locked);
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id in (
    select u.id from filestore.api_keys u
    where u.kind = 'app' and u.revoked_at is null and coalesce(u.last_used_at, u.created_at)
      < filestore.sweep_clock() - make_interval(days => (filestore.limits()).app_unused_days)
    order by u.created_at limit p_limit for update skip locked);
$$;
comment on function filestore.sweep_apps is
  'Removes tokens and consents that have ended, and revokes apps that were not used for long: up to p_limit of '
  'each.';
call filestore.grant_execute('filestore.sweep_apps', 'filestore_admin');
