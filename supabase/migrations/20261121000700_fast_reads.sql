-- Purpose: reads that cost less of the database's time. Nothing answers anything else than before.
-- Needs: 20261120000500_accounts.sql.

-- ---------------------------------------------------------------------------------------------------------------
-- Lists by path

create function filestore.record_text(
  p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at text, p_updated_at text
) returns text
language sql stable
as $$
  select '{"id":"' || p_id || '","path":' || to_json(p_path) || ',"version":' || p_version || ',"mimeType":'
    || to_json(p_mime_type) || ',"size":' || p_size || ',"createdAt":"' || p_created_at || '","updatedAt":"' || p_updated_at || '"}'
$$;
comment on function filestore.record_text(uuid, text, integer, text, bigint, text, text) is 'A file record as JSON text, its times as filestore.iso gives them: half the price of json_build_object, which counts for a page of them.';

-- Most lists are this one, so it is planned once for a session: planning costs more than reading a page. The plan is
-- kept while the table grows, so it must not depend on how large that was: with nothing to sort and no scan but by index,
-- each query has one index that gives its order. A range of one directory, not an equality, keeps the directory in
-- that order. What the limit will be is not known to such a plan; its guessed cost must not start the JIT compiler.
create function filestore.plain_page(
  p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer,
  out files json, out has_more boolean
)
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  v_files text;
begin
  if not p_recursive then
    select string_agg(filestore.record_text(p.id, p.path, p.version, p.mime_type, p.size, t.created,
        case when p.updated_at = p.created_at then t.created else filestore.iso(p.updated_at) end), ',' order by p.position)
        filter (where p.position <= p_limit), count(*) > p_limit
    into v_files, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at
        from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
        order by f.directory, f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select filestore.iso(p.created_at) as created offset 0) t;
  elsif p_directory = '' then
    select string_agg(filestore.record_text(p.id, p.path, p.version, p.mime_type, p.size, t.created,
        case when p.updated_at = p.created_at then t.created else filestore.iso(p.updated_at) end), ',' order by p.position)
        filter (where p.position <= p_limit), count(*) > p_limit
    into v_files, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at
        from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted and f.path > p_after
        order by f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select filestore.iso(p.created_at) as created offset 0) t;
  else
    -- Everything below `directory/`: `0` is the character after `/`.
    select string_agg(filestore.record_text(p.id, p.path, p.version, p.mime_type, p.size, t.created,
        case when p.updated_at = p.created_at then t.created else filestore.iso(p.updated_at) end), ',' order by p.position)
        filter (where p.position <= p_limit), count(*) > p_limit
    into v_files, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at
        from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
        order by f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select filestore.iso(p.created_at) as created offset 0) t;
  end if;
  files := '[' || coalesce(v_files, '') || ']';
end
$$;
comment on function filestore.plain_page(uuid, text, boolean, text, integer, integer) is 'Live files by path, without filters: one page, and whether there is more.';

create function filestore.sorted_page(p_project_id uuid, p_query jsonb, out files json, out has_more boolean, out total bigint)
language plpgsql volatile set search_path = ''
as $$
declare
  v_directory constant text := p_query ->> 'directory';
  v_limit constant integer := (p_query ->> 'limit')::integer;
  v_offset constant integer := (p_query ->> 'offset')::integer;
  v_is_descending constant boolean := p_query ->> 'sortOrder' = 'desc';
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  v_scope text := 'f.project_id = $1 and ' || case when v_deleted then 'f.is_deleted' else 'not f.is_deleted' end;
  v_filters text;
  v_cursor text := '';
  v_order text;
begin
  if not (p_query ->> 'recursive')::boolean then
    v_scope := v_scope || ' and f.directory = $2';
  elsif v_directory <> '' then
    v_scope := v_scope || $sql$ and f.path >= $2 || '/' and f.path < $2 || '0'$sql$;
  end if;

  select coalesce(string_agg(' and ' || c.condition, ''), '') into v_filters
  from (values
    ('contentType', $sql$f.mime_type = $3 ->> 'contentType'$sql$),
    ('minSize', $sql$f.size >= ($3 ->> 'minSize')::bigint$sql$),
    ('maxSize', $sql$f.size <= ($3 ->> 'maxSize')::bigint$sql$),
    ('createdAfter', $sql$f.created_at > ($3 ->> 'createdAfter')::timestamptz$sql$),
    ('createdBefore', $sql$f.created_at < ($3 ->> 'createdBefore')::timestamptz$sql$),
    ('updatedAfter', $sql$f.updated_at > ($3 ->> 'updatedAfter')::timestamptz$sql$),
    ('updatedBefore', $sql$f.updated_at < ($3 ->> 'updatedBefore')::timestamptz$sql$)
  ) c (name, condition)
  where p_query ->> c.name is not null;

  -- Column and direction come from this list, never from the request's text.
  v_order := case p_query ->> 'sortBy'
    when 'created_at' then 'f.created_at' when 'updated_at' then 'f.updated_at' when 'size' then 'f.size' else 'f.path' end
    || case when v_is_descending then ' desc' else '' end
    || case when p_query ->> 'sortBy' <> 'path' then ', f.path' else '' end;

  if v_filters <> '' or v_deleted then
    execute format('select count(*) from filestore.files f where %s%s', v_scope, v_filters)
    into total using p_project_id, v_directory, p_query;
  end if;

  if p_query ->> 'after' is not null then
    v_cursor := case when v_is_descending then $sql$ and f.path < $3 ->> 'after'$sql$ else $sql$ and f.path > $3 ->> 'after'$sql$ end;
  end if;
  -- One more than the page: whether there is more.
  execute format(
    $sql$
      select coalesce(json_agg(json_build_object(
        'id', p.id, 'path', p.path, 'version', p.version, 'mimeType', p.mime_type, 'size', p.size,
        'createdAt', filestore.iso(p.created_at), 'updatedAt', filestore.iso(p.updated_at)%7$s)
        order by p.position) filter (where p.position <= %5$s), '[]'), count(*) > %5$s
      from (
        select f.*, row_number() over () as position
        from (
          select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at
          from filestore.files f where %1$s%2$s%3$s order by %4$s limit %5$s + 1 offset %6$s
        ) f
      ) p
    $sql$, v_scope, v_filters, v_cursor, v_order, v_limit, v_offset,
    case when v_deleted then $sql$, 'deleted', true$sql$ else '' end)
  into files, has_more using p_project_id, v_directory, p_query;
end
$$;
comment on function filestore.sorted_page(uuid, jsonb) is 'Files in any order, filtered, deleted ones instead: one page, whether there is more, and, where no count of a directory says it, how many there are.';

create or replace function filestore.list_page(p_session filestore.session, p_query jsonb) returns json
language plpgsql volatile set search_path = ''
as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_directory constant text := p_query ->> 'directory';
  v_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_limit constant integer := (p_query ->> 'limit')::integer;
  v_offset constant integer := (p_query ->> 'offset')::integer;
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  v_has_more boolean;
  v_total bigint;
  v_files json;
  v_directories json;
begin
  if v_deleted or p_query ->> 'sortBy' <> 'path' or p_query ->> 'sortOrder' <> 'asc'
    or p_query ?| '{contentType,minSize,maxSize,createdAfter,createdBefore,updatedAfter,updatedBefore}' then
    select p.files, p.has_more, p.total into v_files, v_has_more, v_total from filestore.sorted_page(v_project_id, p_query) p;
  else
    select p.files, p.has_more into v_files, v_has_more
    from filestore.plain_page(v_project_id, v_directory, v_recursive, coalesce(p_query ->> 'after', ''), v_limit, v_offset) p;
  end if;

  if v_total is null then
    select case when v_recursive then d.subtree_file_count else d.file_count end into v_total
    from filestore.directories d where d.project_id = v_project_id and d.path = v_directory;
    v_total := coalesce(v_total, 0);
  end if;

  if not v_recursive and v_deleted then
    select coalesce(json_agg(c.name order by c.name), '[]') into v_directories
    from (
      select distinct split_part(substr(f.path, length(v_directory) + case when v_directory = '' then 1 else 2 end), '/', 1) collate "C" as name
      from filestore.files f
      where f.project_id = v_project_id and f.is_deleted and f.directory <> v_directory
        and (v_directory = '' or f.path >= v_directory || '/' and f.path < v_directory || '0')
      order by name limit 1000
    ) c;
  elsif not v_recursive then
    select coalesce(json_agg(c.name order by c.path), '[]') into v_directories
    from (
      select d.path, substring(d.path from '[^/]*$') as name
      from filestore.directories d
      where d.project_id = v_project_id and d.parent = v_directory and d.subtree_file_count > 0
      order by d.path limit 1000
    ) c;
  end if;

  return case
    when v_recursive then json_build_object(
      'files', v_files, 'total', v_total, 'limit', v_limit, 'offset', v_offset, 'hasMore', v_has_more)
    else json_build_object(
      'files', v_files, 'directories', v_directories, 'total', v_total, 'limit', v_limit, 'offset', v_offset,
      'hasMore', v_has_more) end;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------
-- Versions, and admission

create or replace function public.filestore_versions(p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer) returns json
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
  select ('[' || coalesce(string_agg('{"version":' || v.version || ',"size":' || v.size
      || ',"createdAt":"' || t.iso || '","updatedAt":"' || t.iso || '"'
      || case when v.is_deleted then ',"deleted":true' else '' end
      || case when v_session.key_id is null then coalesce(',"keyId":"' || v.key_id || '"', '') else '' end || '}',
    ',' order by v.version desc), '') || ']')::json
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

create or replace function filestore.admit(p_key_hash text, p_request_id uuid, p_scope text) returns filestore.session
language plpgsql volatile set search_path = ''
as $$
declare
  v_session filestore.session;
  v_setting text;
  v_limit integer;
  v_last_used_at timestamptz;
  v_count jsonb;
begin
  -- Assigned, not performed: an expression is evaluated at once, a statement goes through the executor.
  v_setting := set_config('lock_timeout', '2s', true);
  v_setting := set_config('filestore.key_hash', p_key_hash, true);
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
  v_setting := set_config('filestore.project_id', v_session.project_id::text, true);
  v_setting := set_config('filestore.path_prefix', coalesce(v_session.path_prefix, ''), true);

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

revoke all on function filestore.record_text(uuid, text, integer, text, bigint, text, text), filestore.plain_page(uuid, text, boolean, text, integer, integer),
  filestore.sorted_page(uuid, jsonb) from public;
grant execute on function filestore.record_text(uuid, text, integer, text, bigint, text, text), filestore.plain_page(uuid, text, boolean, text, integer, integer),
  filestore.sorted_page(uuid, jsonb) to filestore_engine;
