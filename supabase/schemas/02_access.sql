-- The caller: the account of an access token, and the settings that each operation sets for its own
-- transaction. Policies read these settings to decide which rows are visible. (After the transaction a
-- setting is empty, not null.)

create function filestore.to_uuid(p_text text) returns uuid
language plpgsql immutable set search_path = '' as $$
begin
  return (regexp_match(p_text, '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))[1]::uuid;
end
$$;
comment on function filestore.to_uuid is 'The text as a UUID, or null if it is not one.';
call filestore.grant_execute('filestore.to_uuid', 'filestore_account', 'filestore_admin');

create function filestore.is_account_active(p_account_id uuid) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Null owner: the operator's own project. Without Supabase Auth there is no account to check.
  if p_account_id is null or to_regclass('auth.users') is null then return true; end if;
  return exists (
    select from auth.users u
    where u.id = p_account_id and u.deleted_at is null
      and (u.banned_until is null or u.banned_until < clock_timestamp()));
end
$$;
comment on function filestore.is_account_active is
  'Whether an account exists and is not banned. Like the next functions, it runs as the role that applies '
  'migrations, which may read the schema auth.';
call filestore.grant_execute('filestore.is_account_active', 'filestore_account', 'filestore_engine');

create function filestore.is_session_active(p_account_id uuid, p_session_id uuid, p_aal text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Auth removes a session's row when the person signs out. The column not_after is newer than the table.
  if to_regclass('auth.sessions') is not null then
    if not exists (
      select from auth.sessions s
      where s.id = p_session_id and s.user_id = p_account_id
        and coalesce((to_jsonb(s) ->> 'not_after')::timestamptz > clock_timestamp(), true)) then
      return false;
    end if;
  end if;
  if p_aal is distinct from 'aal2' and to_regclass('auth.mfa_factors') is not null then
    return not exists (
      select from auth.mfa_factors f where f.user_id = p_account_id and f.status::text = 'verified');
  end if;
  return true;
end
$$;
comment on function filestore.is_session_active is
  'Whether the account''s session has not ended, and was begun with a second factor if the account has one '
  'now. Where Auth stores sessions, a token that names no session has none.';
call filestore.grant_execute('filestore.is_session_active', 'filestore_engine');

create function filestore.address_of(p_account_id uuid, p_must_be_confirmed boolean default false) returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  v_address text;
begin
  if to_regclass('auth.users') is not null then
    execute 'select lower(nullif(u.email, '''')) from auth.users u
      where u.id = $1 and (not $2 or u.email_confirmed_at is not null)'
    into v_address using p_account_id, p_must_be_confirmed;
  end if;
  return v_address;
end
$$;
comment on function filestore.address_of is
  'The e-mail address of an account, in lower case; null where it has none or, if it must be, none that is confirmed.';
call filestore.grant_execute('filestore.address_of', 'filestore_account', 'filestore_engine');

create function filestore.person(p_account_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_email constant text := filestore.address_of(p_account_id);
begin
  return case when v_email is not null then jsonb_build_object('id', p_account_id, 'email', v_email) end;
end
$$;
comment on function filestore.person is
  'An account as the API names it to people in the project; null where it is gone, or has no address.';
call filestore.grant_execute('filestore.person', 'filestore_account', 'filestore_engine');

create function filestore.current_claims() returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return nullif(current_setting('request.jwt.claims', true), '')::jsonb; end $$;
comment on function filestore.current_claims is
  'The claims of the access token, which PostgREST has verified; or null.';
call filestore.grant_execute('filestore.current_claims', 'filestore_account', 'filestore_admin');

create function filestore.claimed_account_id() returns uuid
language plpgsql stable set search_path = '' as $$
declare
  v_claims constant jsonb := filestore.current_claims();
begin
  -- Auth's own OAuth server names the app that it issued a token to. A token without an audience is for every
  -- service (RFC 7519, section 4.1.3).
  return case when v_claims ->> 'role' is not distinct from 'authenticated' and not v_claims ? 'client_id'
    and (coalesce(v_claims -> 'aud', 'null') in ('null', '[]') or v_claims -> 'aud' @> '"authenticated"')
    then filestore.to_uuid(v_claims ->> 'sub') end;
end
$$;
comment on function filestore.claimed_account_id is
  'The account (auth.users.id) of the access token, whether or not the account may act. Null where Auth '
  'issued the token to a third-party app, for another role or for another service, rather than to a person '
  'who signed in here.';
call filestore.grant_execute('filestore.claimed_account_id', 'filestore_admin');

create function filestore.current_account_id() returns uuid
language plpgsql stable security definer set search_path = '' as $$
declare
  v_claims constant jsonb := filestore.current_claims();
  v_id constant uuid := filestore.claimed_account_id();
begin
  return case when v_id is not null and v_claims ->> 'is_anonymous' is distinct from 'true'
    and filestore.is_account_active(v_id)
    and not exists (select from filestore.account_deletions d where d.account_id = v_id)
    and filestore.is_session_active(v_id, filestore.to_uuid(v_claims ->> 'session_id'), v_claims ->> 'aal')
    then v_id end;
end
$$;
comment on function filestore.current_account_id is
  'The signed-in account (auth.users.id), or null; also null where the account may not act as an owner: it '
  'was deleted or banned, it is anonymous, or the session of the token has ended or lacks the account''s '
  'second factor.';
call filestore.grant_execute('filestore.current_account_id', 'filestore_account');

-- What the transaction acts for. These functions pin no search_path: their bodies are parsed when the
-- functions are created, so they do not need one. The planner can then inline the bodies into each policy's
-- condition; otherwise each condition of each statement would cost a call, or a query around the setting.
create function filestore.current_project_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('filestore.project_id', true), '')::uuid;
comment on function filestore.current_project_id is
  'The project of the key, or the project that was opened, or null.';
call filestore.grant_execute(
  'filestore.current_project_id', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.current_owner_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('filestore.account_id', true), '')::uuid;
comment on function filestore.current_owner_id is
  'The account whose usage `shared_bytes` is adding up; otherwise null.';
call filestore.grant_execute('filestore.current_owner_id', 'filestore_account');

create function filestore.current_key_hash() returns bytea
language sql stable parallel safe
return decode(nullif(current_setting('filestore.key_hash', true), ''), 'hex');
comment on function filestore.current_key_hash is
  'The hash of the key, or of the token of a console session or link; or null.';
call filestore.grant_execute('filestore.current_key_hash', 'filestore_engine');

create function filestore.current_path_prefix() returns text
language sql stable parallel safe
return current_setting('filestore.path_prefix', true);
comment on function filestore.current_path_prefix is
  'The prefix of all paths that the key may see, ending with a slash; empty: the key sees every path.';
call filestore.grant_execute('filestore.current_path_prefix', 'filestore_engine');

create function filestore.sees_branches() returns boolean
language sql stable parallel safe
return current_setting('filestore.branches', true) = 'on';
comment on function filestore.sees_branches is
  'Whether the transaction has named a place in a branch: a path or a directory below `.branches/`. Otherwise it '
  'sees no file there.';
call filestore.grant_execute('filestore.sees_branches', 'filestore_engine');

create function filestore.branch_place(p_commit jsonb) returns text
language plpgsql immutable set search_path = '' as $$
begin
  -- Most commits name one path.
  if not p_commit ?| '{destination,directory,operations,paths}' then
    return case when starts_with(p_commit ->> 'path' || '/', '.branches/') then p_commit ->> 'path' || '/' end;
  end if;
  return (
    select min(p.path || '/') from (
      values (p_commit ->> 'path'), (p_commit ->> 'destination'), (p_commit ->> 'directory')
      union all
      select n.path from jsonb_array_elements(p_commit -> 'operations') o
      cross join lateral (values (o.value ->> 'path'), (o.value ->> 'destination')) n (path)
      union all
      select jsonb_array_elements_text(p_commit -> 'paths')
    ) p (path)
    where starts_with(p.path || '/', '.branches/'));
end
$$;
comment on function filestore.branch_place is
  'A place in a branch that a commit names, with a slash at its end; null if it names none.';
call filestore.grant_execute('filestore.branch_place', 'filestore_engine');

create function filestore.place_hash(p_cursor_key bytea, p_file_id uuid, p_place text) returns bytea
language plpgsql stable set search_path = '' as $$
begin
  return substr(sha256(p_cursor_key || uuid_send(p_file_id) || convert_to(p_place, 'UTF8')), 1, 16);
end
$$;
comment on function filestore.place_hash is
  'The hash stored for the path of a purged file, or for a directory above it, so that a client that names '
  'the path learns of the purge.';
call filestore.grant_execute('filestore.place_hash', 'filestore_admin', 'filestore_engine');
