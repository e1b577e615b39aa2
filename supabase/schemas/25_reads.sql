-- Reading one file: its record, its content, two of its versions, its history.

create function filestore.seen_directory(p_session filestore.session, p_directory text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  v_prefix constant text := p_session.path_prefix;
begin
  return case
    when v_prefix is null or p_directory = v_prefix or starts_with(p_directory, v_prefix || '/') then p_directory
    when p_directory = '' or starts_with(v_prefix, p_directory || '/') then v_prefix end;
end
$$;
comment on function filestore.seen_directory is
  'The part of a directory that the key sees: all of it, or, above the key''s prefix, the part below the '
  'prefix. Null: the key sees none of it.';
call filestore.grant_execute('filestore.seen_directory', 'filestore_engine');

-- fence: as `plain_page`. The index contains only live files, so deleted ones cost nothing.
create function filestore.count_live_files(
  p_project_id uuid, p_directory text, p_recursive boolean,
  p_most integer default (filestore.limits()).list_total_max + 1
) returns integer
language plpgsql stable set search_path = '' as $$
declare
  v_from constant text := coalesce(nullif(p_directory, '') || '/', '');
  -- A path has at most 1024 bytes, so none sorts after this text.
  v_to constant text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  v_rest integer;
  v_count integer;
begin
  select count(*) into v_count from (
    select from filestore.files f
    where f.project_id = p_project_id and not f.is_deleted
      and f.directory >= p_directory and f.directory <= p_directory
    order by f.directory, f.path limit p_most
  ) f;
  if not p_recursive or v_count = p_most then return v_count; end if;
  v_rest := p_most - v_count;
  -- Branches are no part of the root: their files lie between these two ranges.
  return v_count + least(v_rest, (
    select count(*) from (
      (select from filestore.files f
       where f.project_id = p_project_id and not f.is_deleted and f.directory > v_from
         and f.directory < case when p_directory = '' then '.branches/' else v_to end
       order by f.directory, f.path limit v_rest)
      union all
      (select from filestore.files f
       where f.project_id = p_project_id and not f.is_deleted and p_directory = ''
         and f.directory >= '.branches0' and f.directory < v_to
       order by f.directory, f.path limit v_rest)
    ) f));
end
$$;
comment on function filestore.count_live_files is
  'How many live files a directory has, directly or in its whole subtree, up to p_most.';
call filestore.grant_execute('filestore.count_live_files', 'filestore_account', 'filestore_engine');
call filestore.pin_plan('filestore.count_live_files');

create function filestore.nothing_at(p_session filestore.session, p_path text, p_file filestore.files) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Above a key's prefix only the directories that lead to it are visible.
  v_seen constant text := filestore.seen_directory(p_session, p_path);
begin
  return case when v_seen is not null and filestore.count_live_files(p_session.project_id, v_seen, true, 1) > 0
    then jsonb_set(filestore.not_found(p_file), '{refusal,details,directory}', 'true')
    else filestore.not_found(p_file) end;
end
$$;
comment on function filestore.nothing_at is
  'The refusal for reading a path without a live file; it mentions a directory that the key sees there.';
call filestore.grant_execute('filestore.nothing_at', 'filestore_engine');

create function filestore.find_file(
  p_session filestore.session, p_path text, p_at text,
  out file filestore.files, out is_redacted boolean, out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
declare
  v_moment filestore.moment;
  v_then record;
begin
  select * into file from filestore.files f where f.project_id = p_session.project_id and f.path = p_path;
  if p_at is null then
    if not found then refusal := filestore.nothing_at(p_session, p_path, file); end if;
    return;
  end if;
  v_moment := filestore.moment_of(p_session, p_at);
  v_then := filestore.file_at(file, v_moment);
  file := v_then.file;
  is_redacted := v_then.is_redacted;
  refusal := case
    when v_moment.refusal is not null then v_moment.refusal
    when v_then.is_trimmed then filestore.refusal('FILE_NOT_FOUND', '{"trimmed": true}')
    when file.id is null then filestore.refusal('FILE_NOT_FOUND') end;
end
$$;
comment on function filestore.find_file is
  'The file at a path, now or at a moment, perhaps a tombstone. Refused: an invalid moment, and a path where '
  'there is, or was, no file.';
call filestore.grant_execute('filestore.find_file', 'filestore_engine');

create function filestore.find_version(
  p_session filestore.session, p_path text, p_version integer, p_at text, p_with_segments boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found constant record := filestore.find_file(p_session, p_path, p_at);
  v_file filestore.files := v_found.file;
  v_version filestore.file_versions;
  v_refusal jsonb := v_found.refusal;
begin
  if p_at is null and p_version <> v_file.version then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_session.project_id and v.file_id = v_file.id and v.version = p_version;
    v_refusal := filestore.unreadable_version(v_file, p_version, v_version);
    v_file := filestore.at_version(v_file, v_version);
  end if;
  v_refusal := case
    when v_refusal is not null then v_refusal
    when v_file.is_deleted and p_at is null then filestore.nothing_at(p_session, p_path, v_file)
    when v_file.is_deleted then filestore.not_found(v_file)
    when v_found.is_redacted
      then filestore.refusal('VERSION_REDACTED', jsonb_build_object('version', v_file.version)) end;
  if v_refusal is not null then return v_refusal; end if;
  if not p_with_segments then return jsonb_build_object('value', filestore.file_record(v_file)); end if;
  return jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record(v_file),
    'segments', filestore.segment_list(p_session.project_id, v_file.segment_ids)));
end
$$;
comment on function filestore.find_version is
  'A file''s record at one version, or at a moment, with its segments on request.';
call filestore.grant_execute('filestore.find_version', 'filestore_engine');

create function public.filestore_content(
  p_key_hash text, p_request_id uuid, p_path text, p_version integer default null, p_idempotency jsonb default null,
  p_at text default null, p_with_segments boolean default true
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_path);
  v_stored jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if p_idempotency is not null then
    v_stored := coalesce(
      filestore.outside_prefix(v_session, p_path),
      case when p_idempotency ? 'key' then filestore.stored_response(v_session, p_idempotency, p_path) end);
  end if;
  return v_session.envelope || case
    when v_stored ? 'refusal' then v_stored
    when v_stored is not null
      then jsonb_build_object('value', jsonb_build_object('storedResponse', v_stored -> 'value' -> 'file'))
    else filestore.find_version(v_session, p_path, p_version, p_at, p_with_segments) end;
end
$$;
comment on function public.filestore_content is
  'The file record of the latest version, of a given version, or at a moment, with the segments of its '
  'content. p_idempotency is for a write that reads first (an empty object if it has no key); then also the '
  'stored response to the first request with that key, if there was one. Refusals: FILE_NOT_FOUND, '
  'VERSION_NOT_FOUND, VERSION_REDACTED, VALIDATION_ERROR, IDEMPOTENCY_KEY_REUSED.';
call filestore.publish('public.filestore_content', 'filestore_engine', 'service_role');

create function public.filestore_diff(
  p_key_hash text, p_request_id uuid, p_path text, p_from integer default null, p_to integer default null,
  p_to_path text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read',
    p_place => case when starts_with(p_to_path, '.branches/') then p_to_path else p_path end);
  v_file filestore.files;
  v_to integer;
  v_from integer;
  v_sides jsonb := '{}';
  v_number integer;
  v_version filestore.file_versions;
  v_refusal jsonb;
  v_before jsonb;
  v_after jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if p_to_path is not null then
    v_before := filestore.find_version(v_session, p_path, p_from, null, true);
    v_after := filestore.find_version(v_session, p_to_path, p_to, null, true);
    return v_session.envelope || case
      when v_before ? 'refusal' then v_before when v_after ? 'refusal' then v_after
      else jsonb_build_object('value', jsonb_build_object(
        'path', p_path, 'from', v_before #> '{value,file,version}', 'to', v_after #> '{value,file,version}',
        'before', v_before #> '{value,file}' || jsonb_build_object('segments', v_before #> '{value,segments}'),
        'after', v_after #> '{value,file}' || jsonb_build_object('segments', v_after #> '{value,segments}'))) end;
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then return v_session.envelope || filestore.nothing_at(v_session, p_path, v_file); end if;
  v_to := coalesce(p_to, v_file.version);
  v_from := coalesce(p_from, v_to - 1);
  foreach v_number in array array[v_from, v_to] loop
    continue when v_number = 0;
    select * into v_version from filestore.file_versions v
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = v_number;
    v_refusal := filestore.unreadable_version(v_file, v_number, v_version);
    if v_refusal is not null then return v_session.envelope || v_refusal; end if;
    v_sides := v_sides || jsonb_build_object(v_number, jsonb_build_object(
      'size', v_version.size, 'mimeType', v_version.mime_type,
      'segments', filestore.segment_list(v_session.project_id, v_version.segment_ids)));
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'path', v_file.path, 'from', v_from, 'to', v_to,
    'before', v_sides -> v_from::text, 'after', v_sides -> v_to::text));
end
$$;
comment on function public.filestore_diff is
  'Two versions of a file, by default the last two; version 0 is empty. With p_to_path: a version of one '
  'file and one of another, by default the latest of each. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, '
  'VERSION_REDACTED.';
call filestore.publish('public.filestore_diff', 'filestore_engine', 'service_role');

create function filestore.sees_people(p_session filestore.session) returns boolean
language plpgsql immutable set search_path = ''
as $$ begin return p_session.key_id is null and p_session.person_id is not null; end $$;
comment on function filestore.sees_people is 'Whether answers may name people: in the console, never for keys or apps.';
call filestore.grant_execute('filestore.sees_people', 'filestore_engine');

create function filestore.accounts_of(p_session filestore.session, p_positions bigint[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if not filestore.sees_people(p_session) then return null; end if;
  return (
    select jsonb_object_agg(a.id, ',"account":' || json_build_object('id', a.id, 'email', a.email))
    from (
      select d.id, filestore.address_of(d.id) as email
      from (
        select distinct v.account_id as id from filestore.file_versions v
        where v.project_id = p_session.project_id and v.position = any (p_positions) and v.account_id is not null
      ) d
    ) a where a.email is not null);
end
$$;
comment on function filestore.accounts_of is
  'For people in the console, never for keys: the accounts that added the versions at these positions, each as a part '
  'of the entry of a version.';
call filestore.grant_execute('filestore.accounts_of', 'filestore_engine');

create function public.filestore_versions(
  p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer, p_at text default null
) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_path);
  -- The owner, who has no key, has this scope, too.
  v_shows_keys constant boolean := 'admin' = any (v_session.scopes);
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  c_console constant uuid := '00000000-0000-0000-0000-000000000000';
  v_cursor_key bytea;
  v_found record;
  v_file filestore.files;
  v_accounts jsonb;
  v_page json;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_session.project_id;
  v_found := filestore.find_file(v_session, p_path, p_at);
  if v_found.refusal is not null then return (v_session.envelope || v_found.refusal)::json; end if;
  v_file := v_found.file;
  -- Where a merge added a version, its source is in a branch.
  perform set_config('filestore.branches', 'on', true);
  -- Version numbers have no gaps after the first one that remains, so a page is a range of numbers.
  if v_session.person_id is not null then
    v_accounts := filestore.accounts_of(v_session, array(
      select v.position from filestore.file_versions v
      where v.file_id = v_file.id and v.account_id is not null
        and v.version <= v_file.version - p_offset and v.version > v_file.version::bigint - p_offset - p_limit));
  end if;
  select ('[' || coalesce(string_agg('{"version":' || v.version || ',"size":' || v.size
      || ',"createdAt":"' || t.iso || '","updatedAt":"' || t.iso || '"'
      || case when v.is_deleted then ',"deleted":true' else '' end
      || coalesce(',"redactedAt":"' || to_char(v.redacted_at at time zone 'UTC', c_iso) || '"', '')
      || ',"operation":"' || v.operation || '","cursor":"' || filestore.cursor_at(v_cursor_key, v.position) || '"'
      || coalesce(',"runId":' || to_json(v.run_id), '') || coalesce(',"actor":' || to_json(v.actor), '')
      || coalesce(',"note":' || to_json(v.note), '')
      || case when s.path is null then ''
        else ',"from":{"path":' || to_json(s.path) || ',"version":' || v.source_version || '}' end
      || case when v_shows_keys and v.key_id <> c_console then ',"keyId":"' || v.key_id || '"' else '' end
      || coalesce(v_accounts ->> v.account_id::text, '') || '}',
    ',' order by v.version desc), '') || ']')::json
  into v_page
  from filestore.file_versions v
  -- The key does not see files outside its prefix.
  left join filestore.files s on s.project_id = v.project_id and s.id = v.source_file_id
  -- fence: the planner must not flatten this, or the time would be formatted twice.
  cross join lateral (
    select to_char(v.created_at at time zone 'UTC', c_iso) as iso offset 0
  ) t
  where v.project_id = v_session.project_id and v.file_id = v_file.id
    and v.version <= v_file.version - p_offset and v.version > v_file.version::bigint - p_offset - p_limit;
  return filestore.page_response(v_session, json_build_object(
    'file', json_build_object('path', v_file.path, 'mimeType', v_file.mime_type),
    'versions', v_page, 'limit', p_limit, 'offset', p_offset, 'total', v_file.version + 1 - (
      select v.version from filestore.file_versions v
      where v.project_id = v_session.project_id and v.file_id = v_file.id order by v.version limit 1)));
end
$$;
comment on function public.filestore_versions is
  'One page of a file''s versions, up to a moment, newest first; with the key of each where the caller is '
  'the owner or a key with the scope admin. Refusals: FILE_NOT_FOUND, VALIDATION_ERROR.';
call filestore.publish('public.filestore_versions', 'filestore_engine', 'service_role');
