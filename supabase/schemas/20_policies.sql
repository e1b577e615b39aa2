-- Who sees which row. Each operation sets the key's hash, then the key's project and path prefix, for its own
-- transaction only; `filestore_account` sees what the signed-in account owns.

create function filestore.current_key_hash() returns bytea
language sql stable
as $$ select decode(nullif(current_setting('filestore.key_hash', true), ''), 'hex') $$;
comment on function filestore.current_key_hash is 'SHA-256 of the key this transaction acts for, or null.';
call filestore.grant_execute('filestore.current_key_hash', 'filestore_engine');

create function filestore.current_project_id() returns uuid
language sql stable
as $$ select nullif(current_setting('filestore.project_id', true), '')::uuid $$;
comment on function filestore.current_project_id is
  'The project this transaction acts for, or null. After a transaction the setting is empty, not null.';
call filestore.grant_execute('filestore.current_project_id', 'filestore_account', 'filestore_engine');

create function filestore.current_path_prefix() returns text
language sql stable
as $$ select nullif(current_setting('filestore.path_prefix', true), '') $$;
comment on function filestore.current_path_prefix is
  'The directory that the key of this transaction is confined to, or null.';
call filestore.grant_execute('filestore.current_path_prefix', 'filestore_engine');

create function filestore.current_account_id() returns uuid
language sql stable as $$
  select (regexp_match(coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'),
    '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))[1]::uuid
$$;
comment on function filestore.current_account_id is
  'The signed-in account (auth.users.id), as auth.uid() returns it, or null; also null where the subject of another '
  'issuer is no account of this project. A hosted project does not open the schema auth to other roles.';
call filestore.grant_execute('filestore.current_account_id', 'filestore_account');

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
create policy engine_select on filestore.projects for select to filestore_engine
  using (id = (select filestore.current_project_id()));
create policy engine_select on filestore.api_keys for select to filestore_engine
  using (key_hash = (select filestore.current_key_hash()));
create policy engine_update on filestore.api_keys for update to filestore_engine
  using (key_hash = (select filestore.current_key_hash()));
create policy engine_select on filestore.console_sessions for select to filestore_engine
  using (token_hash = (select filestore.current_key_hash()));
grant select on filestore.tiers, filestore.projects, filestore.api_keys, filestore.console_sessions to filestore_engine;
grant update (last_used_at) on filestore.api_keys to filestore_engine;

do $$
declare
  v_own_rows constant text := 'project_id = (select filestore.current_project_id())';
  -- A key with a path prefix sees no other file. Directory rows up to the root are counted by every writer, so lists
  -- apply the prefix themselves. This is filestore.is_below written out: a function given a subquery is not inlined.
  v_own_files constant text := v_own_rows || ' and ((select filestore.current_path_prefix()) is null '
    'or (path >= (select filestore.current_path_prefix()) || ''/'' '
    'and path < (select filestore.current_path_prefix()) || ''0''))';
  v_table text;
  v_visible text;
begin
  foreach v_table in array array[
    'files', 'rate_windows', 'file_versions', 'segments', 'directories', 'project_usage', 'idempotency_keys',
    'search_queue', 'search_texts', 'search_chunks'
  ] loop
    v_visible := case when v_table = 'files' then v_own_files else v_own_rows end;
    execute format('grant select on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_select on filestore.%I for select to filestore_engine using (%s)', v_table, v_visible);
    continue when v_table in ('search_texts', 'search_chunks');
    execute format('grant insert on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_insert on filestore.%I for insert to filestore_engine with check (%s)', v_table, v_visible);
    -- Versions and segments never change.
    continue when v_table in ('file_versions', 'segments');
    execute format('grant update on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_update on filestore.%I for update to filestore_engine using (%s) with check (%s)',
      v_table, v_visible, v_own_rows);
  end loop;
end
$$;
create policy engine_delete on filestore.idempotency_keys for delete to filestore_engine
  using (project_id = (select filestore.current_project_id()));
grant delete on filestore.idempotency_keys to filestore_engine;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_admin: every project, for the command line and the sweep, which only the secret key may call.

create policy admin_select on filestore.tiers for select to filestore_admin using (true);
create policy admin_select on filestore.segments for select to filestore_admin using (true);
grant select on filestore.tiers, filestore.segments to filestore_admin;
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
  using (owner_id = (select filestore.current_account_id()) or id = (select filestore.current_project_id()));
create policy account_insert on filestore.projects for insert to filestore_account
  with check (owner_id = (select filestore.current_account_id()));
create policy account_update on filestore.projects for update to filestore_account
  using (id = (select filestore.current_project_id())) with check (id = (select filestore.current_project_id()));
grant select on filestore.tiers to filestore_account;
grant select, insert, update (name) on filestore.projects to filestore_account;
do $$
declare
  v_own_rows constant text := 'project_id = (select filestore.current_project_id())';
  v_table text;
begin
  foreach v_table in array array[
    'api_keys', 'console_sessions', 'files', 'file_versions', 'directories', 'project_usage', 'rate_windows'
  ] loop
    execute format(
      'create policy account_select on filestore.%I for select to filestore_account using (%s)', v_table, v_own_rows);
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
grant insert, update (revoked_at, expires_at) on filestore.api_keys to filestore_account;
grant insert, update (token_hash, expires_at) on filestore.console_sessions to filestore_account;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_search: the exception. It sees the search tables, files and segments of every project; see 81_search.sql.
-- No session has this role; only functions of the search run as it.

do $$
declare
  v_table text;
begin
  foreach v_table in array array['search_queue', 'search_texts', 'search_chunks'] loop
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
