-- Purpose: accounts, and what they decide. Keys get scopes, a path prefix and an environment; signed-in people get
-- their projects; a request is counted by its id, so that asking again after a lost answer counts nothing twice.
--
-- Signed-in people call the functions `filestore_account_…` under their own JWT. These run as `filestore_account`,
-- whose policies admit the projects the account owns; which one it is about is set for the transaction, once that
-- project was found under them. `auth.uid()` is what `filestore.current_account_id()` is: the schema `auth` is not
-- open to a role of one's own on a hosted project.

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'filestore_account') then
    create role filestore_account nologin noinherit;
  end if;
  execute format('grant filestore_account to %I', current_user);
end
$$;
comment on role filestore_account is 'Runs what account holders do with their projects and keys: subject to row-level security, owner of no table.';
grant usage on schema filestore to filestore_account;

-- ---------------------------------------------------------------------------------------------------------------
-- Keys

alter table filestore.api_keys
  add column environment text not null default 'development' check (environment in ('development', 'production')),
  add column scopes text[] not null default '{read,write}'
    check (scopes <@ array['read', 'write', 'admin'] and cardinality(scopes) between 1 and 3),
  add column path_prefix text collate "C"
    check (octet_length(path_prefix) between 1 and 1024 and path_prefix !~ '^/|/$|//'),
  add constraint api_keys_admin_is_whole check (path_prefix is null or not 'admin' = any (scopes));
comment on column filestore.api_keys.scopes is 'read: content, lists, history. write: every change of files. admin: the project''s name and keys.';
comment on column filestore.api_keys.path_prefix is 'A directory: the key sees and writes only what lies below it. Null: everything.';

create table filestore.console_sessions (
  project_id uuid primary key references filestore.projects (id),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  expires_at timestamptz(3) not null
);
comment on table filestore.console_sessions is 'What stands for a key while the owner of a project works in the console: the function derives the token from its own secret, and an account opens it under its JWT.';
alter table filestore.console_sessions enable row level security;
revoke all on filestore.console_sessions from public;
create policy engine_select on filestore.console_sessions for select to filestore_engine
  using (token_hash = (select filestore.current_key_hash()));
grant select on filestore.console_sessions to filestore_engine;

alter type filestore.session add attribute scopes text[], add attribute path_prefix text;

-- ---------------------------------------------------------------------------------------------------------------
-- A key with a prefix sees no other file: decided by row-level security, for every operation alike. Directory rows
-- are counted by every writer up to the root, so lists look at the prefix themselves.

create function filestore.current_path_prefix() returns text
language sql stable
as $$ select nullif(current_setting('filestore.path_prefix', true), '') $$;
comment on function filestore.current_path_prefix() is 'The directory that the key of this transaction is confined to, or null.';

drop policy engine_select on filestore.files;
drop policy engine_insert on filestore.files;
drop policy engine_update on filestore.files;
-- Everything below `prefix/`: `0` is the character after `/`.
create policy engine_select on filestore.files for select to filestore_engine using (
  project_id = (select filestore.current_project_id())
  and ((select filestore.current_path_prefix()) is null
    or (path >= (select filestore.current_path_prefix()) || '/' and path < (select filestore.current_path_prefix()) || '0')));
create policy engine_insert on filestore.files for insert to filestore_engine with check (
  project_id = (select filestore.current_project_id())
  and ((select filestore.current_path_prefix()) is null
    or (path >= (select filestore.current_path_prefix()) || '/' and path < (select filestore.current_path_prefix()) || '0')));
create policy engine_update on filestore.files for update to filestore_engine using (
  project_id = (select filestore.current_project_id())
  and ((select filestore.current_path_prefix()) is null
    or (path >= (select filestore.current_path_prefix()) || '/' and path < (select filestore.current_path_prefix()) || '0')))
with check (project_id = (select filestore.current_project_id()));

-- ---------------------------------------------------------------------------------------------------------------
-- Admission, once more: with scopes, and counted by the request's id

alter table filestore.rate_windows add column request_ids uuid[] not null default '{}';
comment on column filestore.rate_windows.request_ids is 'The last 32 requests that were counted: one that asks again, since it got no answer, is known.';

drop function public.filestore_admit(text, boolean, text);
drop function public.filestore_record(text, boolean, text, integer);
drop function public.filestore_content(text, boolean, text, integer, jsonb);
drop function public.filestore_versions(text, boolean, text, integer, integer);
drop function public.filestore_diff(text, boolean, text, integer, integer);
drop function public.filestore_list(text, boolean, jsonb);
drop function public.filestore_commit(text, boolean, text, jsonb);
drop function public.filestore_merge(text, boolean, text, uuid[], jsonb);
drop function filestore.admit(text, boolean);
drop function filestore.count_request(uuid, integer, boolean);

create function filestore.count_request(p_project_id uuid, p_limit integer, p_request_id uuid) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_window filestore.rate_windows;
  v_is_admitted boolean := true;
begin
  if p_limit is null then
    return jsonb_build_object('admitted', true, 'rate', jsonb_build_object(
      'limit', null, 'remaining', null,
      'reset', extract(epoch from date_trunc('minute', clock_timestamp()) + interval '1 minute')::bigint));
  end if;
  if p_request_id is not null then
    -- The clock is read once the row is locked, so windows only move forward.
    insert into filestore.rate_windows as w (project_id, window_start, request_count, request_ids)
    values (p_project_id, date_trunc('minute', clock_timestamp()), 1, array[p_request_id])
    on conflict (project_id) do update
      set (window_start, request_count, request_ids) = (
        select greatest(w.window_start, t.minute), case when w.window_start < t.minute then 1 else w.request_count + 1 end,
               (p_request_id || w.request_ids)[:32]
        from (select date_trunc('minute', clock_timestamp()) as minute) t)
      where (w.request_count < p_limit or w.window_start < date_trunc('minute', clock_timestamp()))
        and p_request_id <> all (w.request_ids)
    returning * into v_window;
    v_is_admitted := found;
  end if;
  if v_window.project_id is null then
    select * into v_window from filestore.rate_windows w where w.project_id = p_project_id;
    v_is_admitted := v_is_admitted or p_request_id = any (v_window.request_ids);
  end if;
  v_window.window_start := coalesce(v_window.window_start, date_trunc('minute', clock_timestamp()));
  return jsonb_build_object('admitted', v_is_admitted, 'rate', jsonb_build_object(
    'limit', p_limit,
    'remaining', greatest(p_limit - coalesce(v_window.request_count, 0), 0),
    'reset', extract(epoch from v_window.window_start + interval '1 minute')::bigint));
end
$$;
comment on function filestore.count_request(uuid, integer, uuid) is 'Counts one request in the project''s window, unless it was counted (then its id is known, or null); a full window admits nothing new and counts nothing.';

create function filestore.admit(p_key_hash text, p_request_id uuid, p_scope text) returns filestore.session
language plpgsql volatile set search_path = ''
as $$
declare
  v_session filestore.session;
  v_limit integer;
  v_last_used_at timestamptz;
  v_count jsonb;
begin
  perform set_config('lock_timeout', '2s', true);
  perform set_config('filestore.key_hash', p_key_hash, true);
  select k.id, k.project_id, k.last_used_at, k.scopes, k.path_prefix
  into v_session.key_id, v_session.project_id, v_last_used_at, v_session.scopes, v_session.path_prefix
  from filestore.api_keys k
  where k.key_hash = decode(p_key_hash, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp());
  if not found then
    select s.project_id, '{read,write,admin}' into v_session.project_id, v_session.scopes
    from filestore.console_sessions s
    where s.token_hash = decode(p_key_hash, 'hex') and s.expires_at > clock_timestamp();
  end if;
  if not found then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;
  perform set_config('filestore.project_id', v_session.project_id::text, true);
  perform set_config('filestore.path_prefix', coalesce(v_session.path_prefix, ''), true);

  select p.tier, coalesce(p.requests_per_minute, t.requests_per_minute), coalesce(p.max_file_bytes, t.max_file_bytes),
         coalesce(p.max_project_bytes, t.max_project_bytes)
  into strict v_session.tier, v_limit, v_session.max_file_bytes, v_session.max_project_bytes
  from filestore.projects p join filestore.tiers t on t.name = p.tier
  where p.id = v_session.project_id;

  v_count := filestore.count_request(v_session.project_id, v_limit, p_request_id);
  v_session.envelope := jsonb_build_object(
    'rate', v_count -> 'rate',
    'grant', jsonb_build_object(
      'projectId', v_session.project_id, 'keyId', v_session.key_id, 'tier', v_session.tier,
      'maxFileBytes', v_session.max_file_bytes, 'scopes', v_session.scopes));
  if not (v_count ->> 'admitted')::boolean then
    v_session.envelope := v_session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
    return v_session;
  end if;

  if v_session.key_id is not null and (v_last_used_at is null or v_last_used_at < clock_timestamp() - interval '1 minute') then
    -- Not `for update`: that deadlocks with versions being inserted, whose foreign key locks the key's row.
    update filestore.api_keys k set last_used_at = clock_timestamp()
    where k.id = (select u.id from filestore.api_keys u where u.id = v_session.key_id for no key update skip locked);
  end if;
  if p_scope is not null and p_scope <> all (v_session.scopes) then
    v_session.envelope := v_session.envelope || filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', p_scope));
  end if;
  return v_session;
end
$$;
comment on function filestore.admit(text, uuid, text) is 'Resolves a key to its project, opens that project''s rows for this transaction (below the key''s prefix), counts the request, and asks for a scope.';

create function filestore.may_write(p_session filestore.session, p_path text) returns boolean
language sql immutable
as $$ select (p_session).path_prefix is null or starts_with(p_path, (p_session).path_prefix || '/') $$;
comment on function filestore.may_write(filestore.session, text) is 'Whether a path lies where the key may write.';

create function filestore.outside_prefix(p_session filestore.session) returns jsonb
language sql stable
as $$ select filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', (p_session).path_prefix)) $$;
comment on function filestore.outside_prefix(filestore.session) is 'A write to where the key may not write, whatever is there.';

-- ---------------------------------------------------------------------------------------------------------------
-- The interface, once more

create function public.filestore_admit(p_key_hash text, p_request_id uuid, p_path text default null) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, null);
  v_file filestore.files;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  if not filestore.may_write(v_session, p_path) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'file', case when filestore.is_live(v_file) then jsonb_build_object('version', v_file.version, 'size', v_file.size) end,
    'deletedVersion', case when v_file.is_deleted then v_file.version end));
end
$$;
comment on function public.filestore_admit(text, uuid, text) is 'Admits a key and counts the request (p_request_id; null: it is counted); says whether a live file is at the path that is to be written. Refusals: INVALID_API_KEY, RATE_LIMIT_EXCEEDED, FORBIDDEN_SCOPE, as everywhere below.';

create function public.filestore_record(p_key_hash text, p_request_id uuid, p_path text, p_version integer default null) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'read');
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  return v_session.envelope || filestore.find_version(v_session, p_path, p_version, false);
end
$$;
comment on function public.filestore_record(text, uuid, text, integer) is 'The file record, of the latest or a given version. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND.';

create function public.filestore_content(
  p_key_hash text, p_request_id uuid, p_path text, p_version integer default null, p_idempotency jsonb default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'read');
  v_first_answer jsonb;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  if p_idempotency is not null then
    if not filestore.may_write(v_session, p_path) then
      return v_session.envelope || filestore.outside_prefix(v_session);
    end if;
    v_first_answer := case when p_idempotency ? 'key' then filestore.first_answer(v_session, p_idempotency) end;
    if v_first_answer ? 'refusal' then
      return v_session.envelope || v_first_answer;
    elsif v_first_answer is not null then
      return v_session.envelope || jsonb_build_object('value', jsonb_build_object('answered', v_first_answer -> 'value' -> 'file'));
    end if;
  end if;
  return v_session.envelope || filestore.find_version(v_session, p_path, p_version, true);
end
$$;
comment on function public.filestore_content(text, uuid, text, integer, jsonb) is 'The file record and the segments of its content. With p_idempotency, of a write that reads first (without a key: an empty object): what its first request was answered, if there was one. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, IDEMPOTENCY_KEY_REUSED.';

create function public.filestore_diff(p_key_hash text, p_request_id uuid, p_path text, p_from integer default null, p_to integer default null) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'read');
  v_file filestore.files;
  v_to integer;
  v_from integer;
  v_sides jsonb;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then
    return v_session.envelope || filestore.not_found(v_file);
  end if;
  v_to := coalesce(p_to, v_file.version);
  v_from := coalesce(p_from, v_to - 1);
  if v_to > v_file.version or v_from > v_file.version then
    return v_session.envelope || filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', v_file.version));
  end if;
  select jsonb_object_agg(v.version, jsonb_build_object(
    'size', v.size, 'mimeType', v.mime_type, 'segments', filestore.segment_list(v.project_id, v.segment_ids)))
  into v_sides
  from filestore.file_versions v
  where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version in (v_from, v_to);
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'path', v_file.path, 'from', v_from, 'to', v_to, 'before', v_sides -> v_from::text, 'after', v_sides -> v_to::text));
end
$$;
comment on function public.filestore_diff(text, uuid, text, integer, integer) is 'Two versions of a file, by default the last two; before the first one there is version 0, which is nothing. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND.';

create function public.filestore_versions(p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer) returns json
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'read');
  v_file filestore.files;
  v_page json;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope::json;
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then
    return (v_session.envelope || filestore.refusal('FILE_NOT_FOUND'))::json;
  end if;
  -- Numbers are dense from 1, so the latest number is the total and a page is a range of numbers. Which key wrote a
  -- version is said to the owner, who comes without one.
  select coalesce(json_agg(case
      when v_session.key_id is null then json_strip_nulls(json_build_object(
        'version', v.version, 'size', v.size, 'createdAt', t.iso, 'updatedAt', t.iso, 'deleted', nullif(v.is_deleted, false), 'keyId', v.key_id))
      when v.is_deleted then json_build_object('version', v.version, 'size', v.size, 'createdAt', t.iso, 'updatedAt', t.iso, 'deleted', true)
      else json_build_object('version', v.version, 'size', v.size, 'createdAt', t.iso, 'updatedAt', t.iso)
    end order by v.version desc), '[]')
  into v_page
  from filestore.file_versions v
  cross join lateral (select filestore.iso(v.created_at) as iso offset 0) t
  where v.project_id = v_session.project_id and v.file_id = v_file.id
    and v.version <= v_file.version - p_offset and v.version > v_file.version::bigint - p_offset - p_limit;
  return filestore.page_answer(v_session, json_build_object(
    'file', json_build_object('path', v_file.path, 'mimeType', v_file.mime_type),
    'versions', v_page, 'total', v_file.version, 'limit', p_limit, 'offset', p_offset));
end
$$;
comment on function public.filestore_versions(text, uuid, text, integer, integer) is 'One page of a file''s versions, newest first; to the owner with the key of each. Refusals: FILE_NOT_FOUND.';

create function public.filestore_list(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'read');
  v_directory constant text := p_query ->> 'directory';
  v_prefix constant text := v_session.path_prefix;
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_is_above constant boolean := v_directory = '' or starts_with(v_prefix, v_directory || '/');
  v_page json;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope::json;
  end if;
  if v_prefix is null or v_directory = v_prefix or starts_with(v_directory, v_prefix || '/')
    or coalesce((p_query ->> 'deleted')::boolean, false) then
    v_page := filestore.list_page(v_session, p_query);
  elsif v_is_above and v_is_recursive then
    v_page := filestore.list_page(v_session, p_query || jsonb_build_object('directory', v_prefix));
  else
    -- Beside the prefix there is nothing, above it the way to it.
    v_page := json_strip_nulls(json_build_object(
      'files', '[]'::json,
      'directories', case when not v_is_recursive then coalesce((
        select json_build_array(split_part(substr(v_prefix, coalesce(nullif(length(v_directory), 0) + 2, 1)), '/', 1))
        from filestore.directories d
        where d.project_id = v_session.project_id and d.path = v_prefix and d.subtree_file_count > 0 and v_is_above), '[]') end,
      'total', 0, 'limit', p_query -> 'limit', 'offset', p_query -> 'offset', 'hasMore', false));
  end if;
  return filestore.page_answer(v_session, v_page);
end
$$;
comment on function public.filestore_list(text, uuid, jsonb) is 'One page of a directory''s files, of what the key sees. p_query: directory, recursive, limit, offset, sortBy, sortOrder and the filters.';

create function public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'write');
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  if not filestore.may_write(v_session, coalesce(p_commit ->> 'destination', p_commit ->> 'path'))
    or not (p_kind = 'copy' or filestore.may_write(v_session, p_commit ->> 'path')) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  return v_session.envelope || filestore.commit_once(v_session, p_kind, p_commit);
end
$$;
comment on function public.filestore_commit(text, uuid, text, jsonb) is 'Adds a version. p_kind: write (creates the file where there is none), overwrite, append, edit, delete, restore, copy, move. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, VERSION_DELETED, VERSION_CONFLICT, PRECONDITION_FAILED, FILE_ALREADY_EXISTS, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, CONTENT_TOO_LARGE, QUOTA_EXCEEDED, ROPE_FULL.';

create function public.filestore_merge(p_key_hash text, p_request_id uuid, p_path text, p_run uuid[], p_merged jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'write');
  v_file filestore.files;
  v_from integer;
  v_bytes bigint;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  perform filestore.quota_left(v_session);
  select * into v_file from filestore.files f
  where f.project_id = v_session.project_id and f.path = p_path and not f.is_deleted for update;
  v_from := array_position(v_file.segment_ids, p_run[1]);
  if v_from is null or v_file.segment_ids[v_from : v_from + cardinality(p_run) - 1] <> p_run then
    -- The first try of this very merge may have done it.
    return v_session.envelope || jsonb_build_object(
      'value', coalesce((p_merged -> 0 ->> 'id')::uuid = any (v_file.segment_ids), false));
  end if;
  select sum((s.value ->> 'size')::bigint) into v_bytes from jsonb_array_elements(p_merged) s;
  if v_bytes is distinct from (
    select sum(s.size) from unnest(p_run) r (id)
    cross join lateral (
      select * from filestore.segments s where s.id = r.id and s.project_id = v_session.project_id offset 0
    ) s
  ) then
    raise exception 'merged segments differ in size from the run they replace';
  end if;
  perform filestore.add_segments(v_session.project_id, p_merged);
  update filestore.files f
  set segment_ids = v_file.segment_ids[: v_from - 1]
    || (select array_agg((s.value ->> 'id')::uuid order by s.position)
        from jsonb_array_elements(p_merged) with ordinality as s (value, position))
    || v_file.segment_ids[v_from + cardinality(p_run) :]
  where f.project_id = v_session.project_id and f.id = v_file.id;
  perform filestore.count_usage(v_session, v_file.id, v_bytes, 0);
  return v_session.envelope || jsonb_build_object('value', true);
end
$$;
comment on function public.filestore_merge(text, uuid, text, uuid[], jsonb) is 'Replaces a run of adjacent segments in a file''s current rope by segments with the same bytes. Makes no version. False where the rope holds neither the run nor what was to replace it.';

-- ---------------------------------------------------------------------------------------------------------------
-- Accounts

create function filestore.current_account_id() returns uuid
language sql stable
as $$
  select (regexp_match(coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'),
    '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))[1]::uuid
$$;
comment on function filestore.current_account_id() is 'The signed-in account (auth.users.id), as auth.uid() has it, or null; also where another issuer''s subject is no account of this project.';

create index projects_by_owner on filestore.projects (owner_id, created_at);
create index api_keys_by_project on filestore.api_keys (project_id, created_at);
-- With files_by_updated_at: what was written last, deletions included.
create index files_deleted_by_updated_at on filestore.files (project_id, updated_at, path) where is_deleted;

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
  v_table text;
begin
  foreach v_table in array array[
    'api_keys', 'console_sessions', 'files', 'file_versions', 'directories', 'project_usage', 'rate_windows'
  ] loop
    execute format(
      'create policy account_select on filestore.%I for select to filestore_account '
      'using (project_id = (select filestore.current_project_id()))', v_table);
    execute format('grant select on filestore.%I to filestore_account', v_table);
  end loop;
  foreach v_table in array array['api_keys', 'console_sessions'] loop
    execute format(
      'create policy account_insert on filestore.%I for insert to filestore_account '
      'with check (project_id = (select filestore.current_project_id()))', v_table);
    execute format(
      'create policy account_update on filestore.%I for update to filestore_account '
      'using (project_id = (select filestore.current_project_id())) '
      'with check (project_id = (select filestore.current_project_id()))', v_table);
  end loop;
end
$$;
grant insert, update (revoked_at, expires_at) on filestore.api_keys to filestore_account;
grant insert, update (token_hash, expires_at) on filestore.console_sessions to filestore_account;

create function filestore.account_key(p_key filestore.api_keys) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name, 'environment', (p_key).environment,
    'scopes', (p_key).scopes, 'pathPrefix', (p_key).path_prefix,
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at))
$$;
comment on function filestore.account_key(filestore.api_keys) is 'A key as its project''s owner sees it.';

create function filestore.works(p_key filestore.api_keys) returns boolean
language sql stable
as $$ select (p_key).revoked_at is null and ((p_key).expires_at is null or (p_key).expires_at > clock_timestamp()) $$;
comment on function filestore.works(filestore.api_keys) is 'Whether a key is neither revoked nor expired.';

create function filestore.account_project(p_project_id uuid) returns jsonb
language plpgsql volatile set search_path = ''
as $$
begin
  perform set_config('filestore.project_id', p_project_id::text, true);
  return (
    select jsonb_build_object(
      'id', p.id, 'name', p.name, 'tier', p.tier, 'createdAt', filestore.iso(p.created_at),
      'limits', jsonb_build_object(
        'requestsPerMinute', coalesce(p.requests_per_minute, t.requests_per_minute),
        'maxFileBytes', coalesce(p.max_file_bytes, t.max_file_bytes),
        'maxProjectBytes', coalesce(p.max_project_bytes, t.max_project_bytes)),
      'usage', jsonb_build_object(
        'files', coalesce((select d.subtree_file_count from filestore.directories d where d.project_id = p.id and d.path = ''), 0),
        'bytes', coalesce((select sum(u.bytes) from filestore.project_usage u where u.project_id = p.id), 0),
        'versions', coalesce((select sum(u.versions) from filestore.project_usage u where u.project_id = p.id), 0),
        'requestsThisMinute', coalesce((
          select w.request_count from filestore.rate_windows w
          where w.project_id = p.id and w.window_start >= date_trunc('minute', clock_timestamp())), 0)),
      'keyPrefix', (
        select k.prefix from filestore.api_keys k where k.project_id = p.id and filestore.works(k)
        order by k.created_at desc, k.id limit 1))
    from filestore.projects p join filestore.tiers t on t.name = p.tier
    where p.id = p_project_id);
end
$$;
comment on function filestore.account_project(uuid) is 'A project with its limits in force and what it uses. Opens its rows for the rest of the transaction.';

create function filestore.name_problem(p_name text, p_minimum integer) returns jsonb
language sql immutable
as $$
  select case when p_name is null or char_length(p_name) not between p_minimum and 100 or p_name ~ '[[:cntrl:]]' or p_name <> btrim(p_name)
    then jsonb_build_object('refusal', jsonb_build_object('code', 'VALIDATION_ERROR', 'details', jsonb_build_object('issues',
      jsonb_build_array(jsonb_build_object('path', 'name', 'reason', format('must have %s to 100 characters, no control characters and no space at either end', p_minimum))))))
  end
$$;
comment on function filestore.name_problem(text, integer) is 'The refusal of a name of a project or key, or null.';

create function filestore.create_project(p_name text, p_id uuid) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_account_id constant uuid := filestore.current_account_id();
begin
  if exists (select from filestore.projects p where p.owner_id = v_account_id and p.id = p_id) then
    return jsonb_build_object('value', filestore.account_project(p_id));
  end if;
  if (select count(*) from filestore.projects p where p.owner_id = v_account_id) >= 20 then
    return filestore.refusal('PROJECT_LIMIT_REACHED', '{"limit": 20}');
  end if;
  insert into filestore.projects (id, owner_id, name, tier) values (p_id, v_account_id, p_name, 'free')
  on conflict (owner_id, name) do nothing;
  if not found then
    return filestore.refusal('PROJECT_NAME_TAKEN');
  end if;
  return jsonb_build_object('value', filestore.account_project(p_id));
end
$$;
comment on function filestore.create_project(text, uuid) is 'A free project of the signed-in account; the one with this id, if the first try made it. Its callers hold the account''s lock, so that the limit is exact.';

create function filestore.lock_account() returns boolean
language plpgsql volatile set search_path = ''
as $$
begin
  perform set_config('lock_timeout', '2s', true);
  perform pg_advisory_xact_lock(hashtextextended('account/' || filestore.current_account_id(), 0));
  return filestore.current_account_id() is not null;
end
$$;
comment on function filestore.lock_account() is 'One change of an account''s projects at a time. False where nobody is signed in.';

create function filestore.create_key(p_project_id uuid, p_key jsonb, p_ending_id uuid default null) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_key filestore.api_keys;
  v_name constant text := coalesce(p_key ->> 'name', '');
begin
  if (select count(*) from filestore.api_keys k
      where k.project_id = p_project_id and filestore.works(k) and k.id is distinct from p_ending_id) >= 100 then
    return filestore.refusal('KEY_LIMIT_REACHED', '{"limit": 100}');
  end if;
  if filestore.name_problem(v_name, 0) is not null then
    return filestore.name_problem(v_name, 0);
  end if;
  insert into filestore.api_keys (project_id, name, environment, scopes, path_prefix, expires_at, key_hash, prefix)
  values (
    p_project_id, v_name, p_key ->> 'environment',
    array(select distinct jsonb_array_elements_text(p_key -> 'scopes') order by 1), p_key ->> 'pathPrefix',
    (p_key ->> 'expiresAt')::timestamptz, decode(p_key ->> 'keyHash', 'hex'), p_key ->> 'prefix')
  returning * into v_key;
  return jsonb_build_object('value', filestore.account_key(v_key));
end
$$;
comment on function filestore.create_key(uuid, jsonb, uuid) is 'Stores the hash of a new key, beside all that work but the one that is about to end. Refusals: KEY_LIMIT_REACHED, VALIDATION_ERROR.';

create function filestore.repeated_key(p_project_id uuid, p_key jsonb) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_key filestore.api_keys;
begin
  -- One at a time, so that limits are exact and a first try has ended.
  perform pg_advisory_xact_lock(hashtextextended('keys/' || p_project_id, 0));
  select * into v_key from filestore.api_keys k
  where k.project_id = p_project_id and k.key_hash = decode(p_key ->> 'keyHash', 'hex');
  return case when found then jsonb_build_object('value', filestore.account_key(v_key) || jsonb_build_object('replaced', (
    select filestore.account_key(k) from filestore.api_keys k
    where k.project_id = p_project_id and k.id = (p_key ->> 'id')::uuid))) end;
end
$$;
comment on function filestore.repeated_key(uuid, jsonb) is 'The key that the first try of this request made, or null.';

create function filestore.rotate_key(p_project_id uuid, p_key jsonb) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_old filestore.api_keys;
  v_new jsonb;
  v_overlap constant interval := make_interval(secs => greatest(coalesce((p_key ->> 'overlapSeconds')::integer, 0), 0));
begin
  select * into v_old from filestore.api_keys k
  where k.project_id = p_project_id and k.id = (p_key ->> 'id')::uuid for update;
  if not found then
    return filestore.refusal('KEY_NOT_FOUND');
  elsif not filestore.works(v_old) then
    return filestore.refusal('KEY_REVOKED');
  end if;
  v_new := filestore.create_key(p_project_id, filestore.account_key(v_old)
    || jsonb_build_object('keyHash', p_key -> 'keyHash', 'prefix', p_key -> 'prefix'),
    case when v_overlap = interval '0' then v_old.id end);
  if v_new ? 'refusal' then
    return v_new;
  end if;
  update filestore.api_keys k
  set revoked_at = case when v_overlap = interval '0' then clock_timestamp() end,
      expires_at = case when v_overlap = interval '0' then k.expires_at else least(k.expires_at, clock_timestamp() + v_overlap) end
  where k.project_id = p_project_id and k.id = v_old.id returning * into v_old;
  return jsonb_build_object('value', v_new -> 'value' || jsonb_build_object('replaced', filestore.account_key(v_old)));
end
$$;
comment on function filestore.rotate_key(uuid, jsonb) is 'A new key in the place of one that works, which ends at once or after the overlap. Refusals: KEY_NOT_FOUND, KEY_REVOKED, KEY_LIMIT_REACHED.';

create function filestore.revoke_key(p_project_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_key filestore.api_keys;
begin
  update filestore.api_keys k set revoked_at = coalesce(k.revoked_at, clock_timestamp())
  where k.project_id = p_project_id and k.id = p_id returning * into v_key;
  return case when found then jsonb_build_object('value', filestore.account_key(v_key)) else filestore.refusal('KEY_NOT_FOUND') end;
end
$$;
comment on function filestore.revoke_key(uuid, uuid) is 'Ends a key at once. Refusals: KEY_NOT_FOUND.';

create function filestore.latest_writes(p_project_id uuid, p_limit integer) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  -- The latest n versions are versions of the n files that changed last: no order of all versions is needed.
  return (
    select coalesce(jsonb_agg(w.write order by w.created_at desc, w.path desc, w.version desc), '[]')
    from (
      select v.created_at, f.path, v.version, jsonb_strip_nulls(jsonb_build_object(
        'fileId', f.id, 'path', f.path, 'version', v.version, 'size', v.size, 'mimeType', v.mime_type,
        'deleted', nullif(v.is_deleted, false), 'createdAt', filestore.iso(v.created_at)))
        || jsonb_build_object('keyId', v.key_id) as write
      from (
        select c.* from (
          (select l.id, l.path, l.updated_at from filestore.files l
           where l.project_id = p_project_id and not l.is_deleted order by l.updated_at desc, l.path desc limit p_limit)
          union all
          (select d.id, d.path, d.updated_at from filestore.files d
           where d.project_id = p_project_id and d.is_deleted order by d.updated_at desc, d.path desc limit p_limit)
        ) c
        order by c.updated_at desc, c.path desc limit p_limit
      ) f
      cross join lateral (
        select v.* from filestore.file_versions v
        where v.project_id = p_project_id and v.file_id = f.id order by v.version desc limit p_limit
      ) v
      order by v.created_at desc, f.path desc, v.version desc limit p_limit
    ) w);
end
$$;
comment on function filestore.latest_writes(uuid, integer) is 'The latest versions of a project''s files, newest first.';

create function filestore.administer(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_key_id uuid;
  v_repeated jsonb;
begin
  if p_project_id is distinct from filestore.current_project_id() then
    raise exception 'the project was not opened';
  end if;
  if p_parameters ? 'keyHash' then
    v_repeated := filestore.repeated_key(p_project_id, p_parameters);
    if v_repeated is not null then
      return v_repeated;
    end if;
  end if;
  case p_action
    when 'project' then
      return jsonb_build_object('value', filestore.account_project(p_project_id));
    when 'rename' then
      if filestore.name_problem(p_parameters ->> 'name', 1) is not null then
        return filestore.name_problem(p_parameters ->> 'name', 1);
      end if;
      begin
        update filestore.projects p set name = p_parameters ->> 'name' where p.id = p_project_id;
      exception when unique_violation then
        return filestore.refusal('PROJECT_NAME_TAKEN');
      end;
      return jsonb_build_object('value', filestore.account_project(p_project_id));
    when 'keys' then
      return jsonb_build_object('value', (
        select coalesce(jsonb_agg(filestore.account_key(k) order by k.created_at desc, k.id), '[]')
        from filestore.api_keys k where k.project_id = p_project_id));
    when 'create_key' then
      return filestore.create_key(p_project_id, p_parameters);
    when 'rotate_key' then
      return filestore.rotate_key(p_project_id, p_parameters);
    when 'regenerate_key' then
      select k.id into v_key_id from filestore.api_keys k
      where k.project_id = p_project_id and filestore.works(k) order by k.created_at desc, k.id limit 1;
      if found then
        return filestore.rotate_key(p_project_id, p_parameters || jsonb_build_object('id', v_key_id));
      end if;
      return filestore.create_key(p_project_id, p_parameters || '{"environment": "development", "scopes": ["read", "write"]}');
    when 'revoke_key' then
      return filestore.revoke_key(p_project_id, (p_parameters ->> 'id')::uuid);
    when 'activity' then
      return jsonb_build_object('value', filestore.latest_writes(p_project_id, least((p_parameters ->> 'limit')::integer, 100)));
  end case;
end
$$;
comment on function filestore.administer(uuid, text, jsonb) is 'What is done with an opened project, for its owner and for keys with the scope admin: project, rename, keys, create_key, rotate_key, regenerate_key, revoke_key, activity.';

create function public.filestore_administer(p_key_hash text, p_request_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(
    p_key_hash, p_request_id, case p_action when 'project' then null when 'activity' then 'read' else 'admin' end);
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  if v_session.path_prefix is not null then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  return v_session.envelope || filestore.administer(v_session.project_id, p_action, p_parameters);
end
$$;
comment on function public.filestore_administer(text, uuid, text, jsonb) is 'filestore.administer for a key: the project for any, its activity with the scope read, everything else with the scope admin; nothing for a key with a path prefix, which does not see the whole.';

create function public.filestore_account_projects() returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if filestore.current_account_id() is null then
    return filestore.refusal('INVALID_SESSION');
  end if;
  if not exists (select from filestore.projects p where p.owner_id = filestore.current_account_id()) and filestore.lock_account() then
    perform filestore.create_project('My project', gen_random_uuid())
    where not exists (select from filestore.projects p where p.owner_id = filestore.current_account_id());
  end if;
  return jsonb_build_object('value', (
    select coalesce(jsonb_agg(filestore.account_project(p.id) order by p.created_at, p.id), '[]')
    from filestore.projects p where p.owner_id = (select filestore.current_account_id())));
end
$$;
comment on function public.filestore_account_projects() is 'The account''s projects, oldest first. Makes the first one.';

create function public.filestore_account_create_project(p_name text, p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if filestore.name_problem(p_name, 1) is not null then
    return filestore.name_problem(p_name, 1);
  end if;
  if not filestore.lock_account() then
    return filestore.refusal('INVALID_SESSION');
  end if;
  return filestore.create_project(p_name, p_id);
end
$$;
comment on function public.filestore_account_create_project(text, uuid) is 'Makes a free project of the account with this id; repeated, it answers that one. Refusals: PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED, VALIDATION_ERROR.';

create function filestore.open_own_project(p_project_id uuid) returns uuid
language plpgsql volatile set search_path = ''
as $$
declare
  v_project_id uuid;
begin
  perform set_config('lock_timeout', '2s', true);
  perform set_config('filestore.project_id', '', true);
  select p.id into v_project_id from filestore.projects p
  where p.owner_id = (select filestore.current_account_id()) and (p_project_id is null or p.id = p_project_id)
  order by p.created_at, p.id limit 1;
  perform set_config('filestore.project_id', coalesce(v_project_id::text, ''), true);
  return v_project_id;
end
$$;
comment on function filestore.open_own_project(uuid) is 'Opens a project of the signed-in account for the rest of the transaction, by default its oldest; null where it has no such project.';

create function public.filestore_account_administer(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_project_id constant uuid := filestore.open_own_project(p_project_id);
begin
  if v_project_id is null then
    return filestore.refusal(case when filestore.current_account_id() is null then 'INVALID_SESSION' else 'PROJECT_NOT_FOUND' end);
  end if;
  return filestore.administer(v_project_id, p_action, p_parameters);
end
$$;
comment on function public.filestore_account_administer(uuid, text, jsonb) is 'filestore.administer for the owner of the project. Refusals: PROJECT_NOT_FOUND, and those of the action.';

create function public.filestore_account_session(p_project_id uuid, p_token_hash text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_project_id constant uuid := filestore.open_own_project(p_project_id);
begin
  if v_project_id is null then
    return filestore.refusal(case when filestore.current_account_id() is null then 'INVALID_SESSION' else 'PROJECT_NOT_FOUND' end);
  end if;
  insert into filestore.console_sessions as s (project_id, token_hash, expires_at)
  values (v_project_id, decode(p_token_hash, 'hex'), clock_timestamp() + interval '10 minutes')
  on conflict (project_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at;
  return jsonb_build_object('value', v_project_id);
end
$$;
comment on function public.filestore_account_session(uuid, text) is 'Lets the console''s token stand for a key of the project for ten minutes. Refusals: PROJECT_NOT_FOUND.';

-- A rotation on the command line keeps what the key may do.
create or replace function public.filestore_admin_rotate_key(p_id uuid, p_key_hash text, p_prefix text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_old filestore.api_keys;
  v_new filestore.api_keys;
begin
  select * into v_old from filestore.api_keys k where k.id = p_id for update;
  if not found then
    return filestore.problem('KEY_NOT_FOUND', 'There is no key with this id.');
  end if;
  if v_old.revoked_at is not null then
    return filestore.problem('KEY_REVOKED', 'The key is revoked; create a new one.');
  end if;
  insert into filestore.api_keys (project_id, name, environment, scopes, path_prefix, key_hash, prefix, expires_at)
  values (
    v_old.project_id, v_old.name, v_old.environment, v_old.scopes, v_old.path_prefix, decode(p_key_hash, 'hex'), p_prefix,
    v_old.expires_at)
  returning * into v_new;
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id = p_id;
  return filestore.key_record(v_new);
end
$$;

create function filestore.account_id_of(p_account text) returns uuid
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_account_id uuid;
begin
  if to_regclass('auth.users') is not null then
    execute 'select u.id from auth.users u where u.id::text = lower($1) or lower(u.email) = lower($1)' into v_account_id using p_account;
  end if;
  return v_account_id;
end
$$;
comment on function filestore.account_id_of(text) is 'The account with this id or e-mail address, or null. Runs as the role that applies migrations, which may read auth.users.';

create function public.filestore_admin_set_owner(p_project text, p_account text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_project_id uuid;
  v_problem jsonb;
  v_project filestore.projects;
  v_account_id constant uuid := filestore.account_id_of(p_account);
begin
  select r.project_id, r.problem into v_project_id, v_problem from filestore.resolve_project(p_project) r;
  if v_problem is not null then
    return v_problem;
  end if;
  if v_account_id is null then
    return filestore.problem('ACCOUNT_NOT_FOUND', format('There is no account %s; it is made in the console.', quote_literal(p_account)));
  end if;
  update filestore.projects p set owner_id = v_account_id where p.id = v_project_id returning * into v_project;
  return filestore.project_record(v_project);
exception when unique_violation then
  return filestore.problem('NAME_TAKEN', format('The account has a project %s already.', quote_literal(p_project)));
end
$$;
comment on function public.filestore_admin_set_owner(text, text) is 'Gives a project to an account, by id or e-mail address. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, ACCOUNT_NOT_FOUND, NAME_TAKEN.';

-- ---------------------------------------------------------------------------------------------------------------
-- Ownership and privileges

revoke all on all functions in schema filestore from public;
grant execute on function
  filestore.count_request(uuid, integer, uuid), filestore.admit(text, uuid, text), filestore.current_path_prefix(),
  filestore.may_write(filestore.session, text), filestore.outside_prefix(filestore.session),
  filestore.administer(uuid, text, jsonb)
to filestore_engine;
grant execute on function filestore.account_id_of(text) to filestore_admin;
grant execute on function
  filestore.iso(timestamptz), filestore.refusal(text, jsonb), filestore.current_project_id(), filestore.current_account_id(),
  filestore.account_key(filestore.api_keys), filestore.works(filestore.api_keys), filestore.account_project(uuid),
  filestore.name_problem(text, integer), filestore.create_project(text, uuid), filestore.lock_account(),
  filestore.create_key(uuid, jsonb, uuid), filestore.repeated_key(uuid, jsonb), filestore.rotate_key(uuid, jsonb), filestore.revoke_key(uuid, uuid),
  filestore.latest_writes(uuid, integer), filestore.open_own_project(uuid)
to filestore_account;

revoke all on function
  public.filestore_admit(text, uuid, text),
  public.filestore_record(text, uuid, text, integer),
  public.filestore_content(text, uuid, text, integer, jsonb),
  public.filestore_versions(text, uuid, text, integer, integer),
  public.filestore_diff(text, uuid, text, integer, integer),
  public.filestore_list(text, uuid, jsonb),
  public.filestore_commit(text, uuid, text, jsonb),
  public.filestore_merge(text, uuid, text, uuid[], jsonb),
  public.filestore_administer(text, uuid, text, jsonb),
  public.filestore_admin_set_owner(text, text),
  public.filestore_account_projects(),
  public.filestore_account_create_project(text, uuid),
  public.filestore_account_administer(uuid, text, jsonb),
  public.filestore_account_session(uuid, text)
from public, anon, authenticated;
grant execute on function
  public.filestore_admit(text, uuid, text),
  public.filestore_record(text, uuid, text, integer),
  public.filestore_content(text, uuid, text, integer, jsonb),
  public.filestore_versions(text, uuid, text, integer, integer),
  public.filestore_diff(text, uuid, text, integer, integer),
  public.filestore_list(text, uuid, jsonb),
  public.filestore_commit(text, uuid, text, jsonb),
  public.filestore_merge(text, uuid, text, uuid[], jsonb),
  public.filestore_administer(text, uuid, text, jsonb),
  public.filestore_admin_set_owner(text, text)
to service_role;
revoke all on function
  public.filestore_account_projects(),
  public.filestore_account_create_project(text, uuid),
  public.filestore_account_administer(uuid, text, jsonb),
  public.filestore_account_session(uuid, text)
from service_role;
grant execute on function
  public.filestore_account_projects(),
  public.filestore_account_create_project(text, uuid),
  public.filestore_account_administer(uuid, text, jsonb),
  public.filestore_account_session(uuid, text)
to authenticated;

grant create on schema public to filestore_engine;
alter function public.filestore_admit(text, uuid, text) owner to filestore_engine;
alter function public.filestore_record(text, uuid, text, integer) owner to filestore_engine;
alter function public.filestore_content(text, uuid, text, integer, jsonb) owner to filestore_engine;
alter function public.filestore_versions(text, uuid, text, integer, integer) owner to filestore_engine;
alter function public.filestore_diff(text, uuid, text, integer, integer) owner to filestore_engine;
alter function public.filestore_list(text, uuid, jsonb) owner to filestore_engine;
alter function public.filestore_commit(text, uuid, text, jsonb) owner to filestore_engine;
alter function public.filestore_merge(text, uuid, text, uuid[], jsonb) owner to filestore_engine;
alter function public.filestore_administer(text, uuid, text, jsonb) owner to filestore_engine;
revoke create on schema public from filestore_engine;

grant create on schema public, filestore to filestore_account;
alter function public.filestore_account_projects() owner to filestore_account;
alter function public.filestore_account_create_project(text, uuid) owner to filestore_account;
alter function public.filestore_account_administer(uuid, text, jsonb) owner to filestore_account;
alter function public.filestore_account_session(uuid, text) owner to filestore_account;
alter function filestore.administer(uuid, text, jsonb) owner to filestore_account;
revoke create on schema public, filestore from filestore_account;

grant create on schema public to filestore_admin;
alter function public.filestore_admin_set_owner(text, text) owner to filestore_admin;
revoke create on schema public from filestore_admin;
