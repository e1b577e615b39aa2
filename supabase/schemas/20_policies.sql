-- Who sees which row. Each operation sets the key's hash, then the key's project and path prefix, for its own
-- transaction only (after it a setting is empty, not null); `filestore_account` sees what the signed-in account owns.

create function filestore.to_uuid(p_text text) returns uuid
language plpgsql immutable set search_path = '' as $$
begin
  return (regexp_match(p_text, '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))[1]::uuid;
end
$$;
comment on function filestore.to_uuid is 'The UUID that the text is, or null.';
call filestore.grant_execute('filestore.to_uuid', 'filestore_account', 'filestore_admin');

create function filestore.is_account_active(p_account_id uuid) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Null: the operator's own. Without Supabase Auth there is nobody to ask.
  if p_account_id is null or to_regclass('auth.users') is null then return true; end if;
  return exists (
    select from auth.users u
    where u.id = p_account_id and u.deleted_at is null
      and (u.banned_until is null or u.banned_until < clock_timestamp()));
end
$$;
comment on function filestore.is_account_active is
  'Whether an account exists and is not banned. Runs, as what follows, as the role that applies migrations, which may '
  'read the schema auth.';
call filestore.grant_execute('filestore.is_account_active', 'filestore_engine');

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
  'Whether a session of the account has not ended, and was begun with a second factor if the account has one now. '
  'Where Auth keeps sessions, a token that names none has none.';
call filestore.grant_execute('filestore.is_session_active', 'filestore_engine');

create function filestore.may_own(p_account_id uuid, p_claims jsonb) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  return p_claims ->> 'is_anonymous' is distinct from 'true'
    and filestore.is_account_active(p_account_id)
    and not exists (select from filestore.account_deletions d where d.account_id = p_account_id)
    and filestore.is_session_active(
      p_account_id, filestore.to_uuid(p_claims ->> 'session_id'), p_claims ->> 'aal');
end
$$;
comment on function filestore.may_own is
  'Whether the account may act as an owner in the session that these claims are of: not where it was deleted or '
  'banned or is anonymous, and not where the session has ended or lacks the account''s second factor.';
call filestore.grant_execute('filestore.may_own', 'filestore_account');

create function filestore.current_claims() returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return nullif(current_setting('request.jwt.claims', true), '')::jsonb; end $$;
comment on function filestore.current_claims is
  'The claims of the access token, which PostgREST has verified; or null.';
call filestore.grant_execute('filestore.current_claims', 'filestore_account', 'filestore_admin');

create function filestore.is_persons_token(p_claims jsonb) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  -- Auth's own OAuth server names the app that it issued a token to. A token without an audience is for everybody
  -- (RFC 7519, section 4.1.3).
  return p_claims ->> 'role' is not distinct from 'authenticated' and not p_claims ? 'client_id'
    and (coalesce(p_claims -> 'aud', 'null') in ('null', '[]') or p_claims -> 'aud' @> '"authenticated"');
end
$$;
comment on function filestore.is_persons_token is
  'Whether Auth issued the token to a person who signed in here: not to a third-party app, for another role, or for '
  'another service.';
call filestore.grant_execute('filestore.is_persons_token', 'filestore_account', 'filestore_admin');

create function filestore.claimed_account_id() returns uuid
language plpgsql stable set search_path = '' as $$
declare
  v_claims constant jsonb := filestore.current_claims();
begin
  return case when filestore.is_persons_token(v_claims) then filestore.to_uuid(v_claims ->> 'sub') end;
end
$$;
comment on function filestore.claimed_account_id is
  'The account (auth.users.id) that the person''s access token is of, whether or not it may act; or null.';
call filestore.grant_execute('filestore.claimed_account_id', 'filestore_account', 'filestore_admin');

create function filestore.current_account_id() returns uuid
language plpgsql stable set search_path = '' as $$
declare
  v_id constant uuid := filestore.claimed_account_id();
begin
  return case when v_id is not null and filestore.may_own(v_id, filestore.current_claims()) then v_id end;
end
$$;
comment on function filestore.current_account_id is
  'The signed-in account (auth.users.id), or null; also null where it may not act as an owner, and where the subject '
  'of another issuer is no account of this project.';
call filestore.grant_execute('filestore.current_account_id', 'filestore_account');

-- What the transaction acts for. These functions pin no search_path, which their bodies do not need: what they name was
-- looked up when they were made. So the planner puts the bodies into each policy's condition; otherwise each condition
-- of each statement would cost a call, or a query around the setting.

create function filestore.current_project_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('filestore.project_id', true), '')::uuid;
comment on function filestore.current_project_id is 'The project of the key, or the one that was opened; or null.';
call filestore.grant_execute(
  'filestore.current_project_id', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.current_owner_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('filestore.account_id', true), '')::uuid;
comment on function filestore.current_owner_id is
  'The account whose projects are being added up by `shared_bytes`; else null.';
call filestore.grant_execute('filestore.current_owner_id', 'filestore_account');

create function filestore.current_key_hash() returns bytea
language sql stable parallel safe
return decode(nullif(current_setting('filestore.key_hash', true), ''), 'hex');
comment on function filestore.current_key_hash is 'Of the key, or of the token of a console session or link; or null.';
call filestore.grant_execute('filestore.current_key_hash', 'filestore_engine');

create function filestore.current_path_prefix() returns text
language sql stable parallel safe
return current_setting('filestore.path_prefix', true);
comment on function filestore.current_path_prefix is
  'What each path begins with that the key may see, with a slash at its end; empty: all of them.';
call filestore.grant_execute('filestore.current_path_prefix', 'filestore_engine');

create function filestore.place_hash(p_cursor_key bytea, p_file_id uuid, p_place text) returns bytea
language plpgsql stable set search_path = '' as $$
begin
  return substr(sha256(p_cursor_key || uuid_send(p_file_id) || convert_to(p_place, 'UTF8')), 1, 16);
end
$$;
comment on function filestore.place_hash is
  'What is kept of the path of a purged file, or of a directory above it: whoever names the place finds it again.';
call filestore.grant_execute('filestore.place_hash', 'filestore_admin', 'filestore_engine');

do $$
declare
  v_table text;
begin
  for v_table in select c.relname from pg_catalog.pg_class c
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
  loop
    execute format('alter table filestore.%I enable row level security', v_table);
    execute format('revoke all on filestore.%I from public', v_table);
  end loop;
end
$$;

-- filestore_engine: the project of the key. ---------------------------------------------------------------------------

create policy engine_select on filestore.tiers for select to filestore_engine using (true);
create policy engine_select on filestore.settings for select to filestore_engine using (true);
create policy engine_select on filestore.projects for select to filestore_engine
  using (id = filestore.current_project_id());
create policy engine_select on filestore.api_keys for select to filestore_engine
  using (key_hash = filestore.current_key_hash());
create policy engine_update on filestore.api_keys for update to filestore_engine
  using (key_hash = filestore.current_key_hash());
create policy engine_select on filestore.console_sessions for select to filestore_engine
  using (token_hash = filestore.current_key_hash());
create policy engine_delete on filestore.idempotency_keys for delete to filestore_engine
  using (project_id = filestore.current_project_id());
create policy engine_delete on filestore.possibly_unreferenced_segments for delete to filestore_engine
  using (project_id = filestore.current_project_id());
-- By its token, before anything is known; then those of the project, below the key's prefix.
create policy engine_select on filestore.links for select to filestore_engine
  using (token_hash = filestore.current_key_hash()
    or project_id = filestore.current_project_id() and starts_with(path, filestore.current_path_prefix()));
create policy engine_insert on filestore.links for insert to filestore_engine
  with check (project_id = filestore.current_project_id());
create policy engine_update on filestore.links for update to filestore_engine
  using (project_id = filestore.current_project_id())
  with check (project_id = filestore.current_project_id());
create policy engine_delete on filestore.links for delete to filestore_engine
  using (project_id = filestore.current_project_id());
create policy engine_all on filestore.link_windows to filestore_engine
  using (project_id = filestore.current_project_id())
  with check (project_id = filestore.current_project_id());
grant select, insert, update (revoked_at, used_at, commit_id), delete on filestore.links to filestore_engine;
grant select, insert, update, delete on filestore.link_windows to filestore_engine;
grant select on filestore.settings, filestore.tiers, filestore.projects, filestore.api_keys,
  filestore.console_sessions to filestore_engine;
grant update (last_used_at, has_written) on filestore.api_keys to filestore_engine;

do $$
declare
  v_own_rows constant text := 'project_id = filestore.current_project_id()';
  -- A key with a path prefix sees no other file.
  v_own_files constant text := v_own_rows || ' and starts_with(path, filestore.current_path_prefix())';
  v_table text;
  v_visible text;
begin
  foreach v_table in array array[
    'files', 'rate_windows', 'file_versions', 'segments', 'project_usage',
    'idempotency_keys', 'runs', 'run_undos', 'shared_segments',
    'possibly_unreferenced_segments', 'search_queue', 'search_texts',
    'search_contents', 'search_chunks'
  ] loop
    -- Of a purged file nobody sees a row.
    v_visible := case when v_table = 'files' then v_own_files || ' and path is not null' else v_own_rows end;
    execute format('grant select on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_select on filestore.%I for select to filestore_engine using (%s)', v_table, v_visible);
    continue when v_table in ('search_texts', 'search_contents', 'search_chunks');
    execute format('grant insert on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_insert on filestore.%I for insert to filestore_engine with check (%s)',
      v_table, v_visible);
    -- These never change.
    continue when v_table in (
      'file_versions', 'segments', 'runs', 'run_undos', 'shared_segments',
      'possibly_unreferenced_segments');
    execute format('grant update on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_update on filestore.%I for update to filestore_engine using (%s) with check (%s)',
      v_table, v_visible, v_own_rows);
  end loop;
end
$$;
grant delete on filestore.idempotency_keys, filestore.possibly_unreferenced_segments
  to filestore_engine;
grant select, usage on sequence filestore.positions to filestore_engine;
create policy engine_select on filestore.purged_files for select to filestore_engine
  using (project_id = filestore.current_project_id() and (filestore.current_path_prefix() = ''
    or filestore.place_hash(
      (select p.cursor_key from filestore.projects p where p.id = filestore.current_project_id()), file_id,
      rtrim(filestore.current_path_prefix(), '/')) = any (place_hashes)));
grant select on filestore.purged_files to filestore_engine;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_admin: every project, for the command line and the sweep, which only the secret key may call.

create policy admin_select on filestore.tiers for select to filestore_admin using (true);
create policy admin_select on filestore.settings for select to filestore_admin using (true);
create policy admin_update on filestore.settings for update to filestore_admin using (true) with check (true);
grant select, update on filestore.settings to filestore_admin;
create policy admin_all on filestore.links to filestore_admin using (true) with check (true);
create policy admin_all on filestore.link_windows to filestore_admin using (true) with check (true);
grant select, update (key_id, key_hash), delete on filestore.links to filestore_admin;
grant select, delete on filestore.link_windows to filestore_admin;
create policy admin_select on filestore.segments for select to filestore_admin using (true);
create policy admin_delete on filestore.api_keys for delete to filestore_admin using (true);
create policy admin_update on filestore.segments for update to filestore_admin using (true) with check (true);
create policy admin_delete on filestore.segments for delete to filestore_admin using (true);
-- Erasure. What the engine calls upon for a request sees the rows of that request's project alone, the sweep all.
grant update (segment_ids, note, redacted_at, redacted_segment_ids) on filestore.file_versions to filestore_admin;
grant update (names) on filestore.idempotency_keys to filestore_admin;
grant usage on sequence filestore.positions to filestore_admin;
do $$
declare
  v_rows constant text := 'filestore.current_project_id() is null or project_id = filestore.current_project_id()';
  v_table text;
begin
  foreach v_table in array array[
    'files', 'file_versions', 'project_usage', 'shared_segments', 'purged_files',
    'possibly_unreferenced_segments', 'dead_segments', 'retention_passes', 'usage_days', 'usage_levels', 'usage_folds',
    'idempotency_keys', 'search_queue', 'search_texts'
  ] loop
    execute format(
      'create policy admin_select on filestore.%I for select to filestore_admin using (%s)', v_table, v_rows);
    execute format('grant select on filestore.%I to filestore_admin', v_table);
    continue when v_table = 'files';
    if v_table <> 'project_usage' then
      execute format(
        'create policy admin_delete on filestore.%I for delete to filestore_admin using (%s)', v_table, v_rows);
      execute format('grant delete on filestore.%I to filestore_admin', v_table);
    end if;
    continue when v_table in (
      'shared_segments', 'idempotency_keys', 'search_queue', 'search_texts');
    execute format(
      'create policy admin_insert on filestore.%I for insert to filestore_admin with check (%s)', v_table, v_rows);
    execute format('grant insert on filestore.%I to filestore_admin', v_table);
  end loop;
  foreach v_table in array array[
    'files', 'file_versions', 'project_usage', 'purged_files',
    'possibly_unreferenced_segments', 'dead_segments', 'retention_passes', 'usage_days', 'usage_levels', 'usage_folds',
    'idempotency_keys'
  ] loop
    execute format(
      'create policy admin_update on filestore.%I for update to filestore_admin using (%s) with check (%s)', v_table,
      v_rows, v_rows);
    continue when v_table in ('file_versions', 'idempotency_keys');
    execute format('grant update on filestore.%I to filestore_admin', v_table);
  end loop;
end
$$;
grant select on filestore.tiers, filestore.segments to filestore_admin;
grant update (sha256, newlines, ends_with_newline), delete on filestore.segments to filestore_admin;
grant select on sequence filestore.positions to filestore_admin;
grant delete on filestore.api_keys to filestore_admin;
do $$
declare
  v_table text;
begin
  foreach v_table in array array['projects', 'api_keys', 'sweeps'] loop
    execute format('create policy admin_select on filestore.%I for select to filestore_admin using (true)', v_table);
    execute format(
      'create policy admin_insert on filestore.%I for insert to filestore_admin with check (true)', v_table);
    execute format(
      'create policy admin_update on filestore.%I for update to filestore_admin using (true) with check (true)',
      v_table);
    execute format('grant select, insert, update on filestore.%I to filestore_admin', v_table);
  end loop;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_account: the projects that the signed-in account owns, and the rows of the one that was opened.

create policy account_select on filestore.tiers for select to filestore_account using (true);
create policy account_select on filestore.projects for select to filestore_account
  using (owner_id = (select filestore.current_account_id()) or id = filestore.current_project_id());
create policy account_select_shared on filestore.projects for select to filestore_account
  using (owner_id = filestore.current_owner_id());
create policy account_insert on filestore.projects for insert to filestore_account
  with check (owner_id = (select filestore.current_account_id()));
create policy account_update on filestore.projects for update to filestore_account
  using (id = filestore.current_project_id())
  with check (id = filestore.current_project_id());
create policy account_select on filestore.account_windows for select to filestore_account
  using (account_id = (select filestore.current_account_id()));
create policy account_insert on filestore.account_windows for insert to filestore_account
  with check (account_id = (select filestore.current_account_id()));
create policy account_update on filestore.account_windows for update to filestore_account
  using (account_id = (select filestore.current_account_id()));
grant select on filestore.tiers to filestore_account;
grant select, insert, update on filestore.account_windows to filestore_account;
grant select, insert, update (name, retention, retention_set_at) on filestore.projects to filestore_account;
do $$
declare
  v_own_rows constant text := 'project_id = filestore.current_project_id()';
  v_table text;
begin
  foreach v_table in array array[
    'api_keys', 'console_sessions', 'files', 'file_versions', 'project_usage',
    'rate_windows', 'usage_days', 'usage_levels'
  ] loop
    execute format(
      'create policy account_select on filestore.%I for select to filestore_account using (%s)', v_table,
      v_own_rows || case when v_table = 'files' then ' and path is not null' else '' end);
    execute format('grant select on filestore.%I to filestore_account', v_table);
    continue when v_table not in ('api_keys', 'console_sessions');
    execute format(
      'create policy account_insert on filestore.%I for insert to filestore_account with check (%s)',
      v_table, v_own_rows);
    execute format(
      'create policy account_update on filestore.%I for update to filestore_account using (%s) with check (%s)',
      v_table, v_own_rows, v_own_rows);
  end loop;
end
$$;
create policy account_select on filestore.links for select to filestore_account
  using (project_id = filestore.current_project_id());
create policy account_update on filestore.links for update to filestore_account
  using (project_id = filestore.current_project_id())
  with check (project_id = filestore.current_project_id());
grant select, update (key_id, key_hash) on filestore.links to filestore_account;
grant insert, update (name, scopes, path_prefix, revoked_at, expires_at) on filestore.api_keys to filestore_account;
grant insert, update (account_id, session_id, aal, expires_at), delete on filestore.console_sessions
  to filestore_account;
create policy account_delete on filestore.console_sessions for delete to filestore_account
  using (project_id = filestore.current_project_id());

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_search: the exception. It sees the search tables, files and segments of every project; see 81_search.sql.
-- No session has this role; only functions of the search run as it.

do $$
declare
  v_table text;
begin
  foreach v_table in array array['search_queue', 'search_texts', 'search_contents', 'search_chunks'] loop
    execute format('create policy search_select on filestore.%I for select to filestore_search using (true)', v_table);
    execute format(
      'create policy search_insert on filestore.%I for insert to filestore_search with check (true)', v_table);
    execute format(
      'create policy search_update on filestore.%I for update to filestore_search using (true) with check (true)',
      v_table);
    execute format('create policy search_delete on filestore.%I for delete to filestore_search using (true)', v_table);
    execute format('grant select, insert, update, delete on filestore.%I to filestore_search', v_table);
  end loop;
end
$$;
create policy search_select on filestore.files for select to filestore_search using (true);
create policy search_select on filestore.segments for select to filestore_search using (true);
grant select on filestore.files, filestore.segments to filestore_search;
