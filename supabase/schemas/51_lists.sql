-- Lists of a directory's files.

-- Most lists are this one, so it is planned once per session: planning costs more than reading a page. The plan is kept
-- while the table grows, so it must not depend on the size the table had. With sorting and every scan but index scans
-- disabled, each statement has one index that provides its order. (One statement for all three, a union, was slower.)
-- The limit is unknown to such a plan, and its estimated cost must not start the JIT compiler.
create function filestore.plain_page(
  p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer,
  out files json, out has_more boolean
)
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  v_records text;
begin
  -- Text that is joined costs half as much as json_build_object. fence, in all three: the planner must not flatten
  -- `offset 0`, or the time would be formatted twice.
  if not p_recursive then
    -- fence: a range of one directory, not an equality, keeps the directory in the order of the index.
    select string_agg('{"id":"' || p.id || '","path":' || to_json(p.path) || ',"version":' || p.version
             || ',"mimeType":' || to_json(p.mime_type) || ',"size":' || p.size || ',"createdAt":"' || t.created
             || '","updatedAt":"' || case when p.updated_at = p.created_at then t.created
               else to_char(p.updated_at at time zone 'UTC', c_iso) end || '"}',
             ',' order by p.position) filter (where p.position <= p_limit), count(*) > p_limit
    into v_records, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted
          and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
        order by f.directory, f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select to_char(p.created_at at time zone 'UTC', c_iso) as created offset 0) t;
  elsif p_directory = '' then
    select string_agg('{"id":"' || p.id || '","path":' || to_json(p.path) || ',"version":' || p.version
             || ',"mimeType":' || to_json(p.mime_type) || ',"size":' || p.size || ',"createdAt":"' || t.created
             || '","updatedAt":"' || case when p.updated_at = p.created_at then t.created
               else to_char(p.updated_at at time zone 'UTC', c_iso) end || '"}',
             ',' order by p.position) filter (where p.position <= p_limit), count(*) > p_limit
    into v_records, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted and f.path > p_after
        order by f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select to_char(p.created_at at time zone 'UTC', c_iso) as created offset 0) t;
  else
    -- Below the directory, after the cursor: one range.
    select string_agg('{"id":"' || p.id || '","path":' || to_json(p.path) || ',"version":' || p.version
             || ',"mimeType":' || to_json(p.mime_type) || ',"size":' || p.size || ',"createdAt":"' || t.created
             || '","updatedAt":"' || case when p.updated_at = p.created_at then t.created
               else to_char(p.updated_at at time zone 'UTC', c_iso) end || '"}',
             ',' order by p.position) filter (where p.position <= p_limit), count(*) > p_limit
    into v_records, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted
          and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
        order by f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select to_char(p.created_at at time zone 'UTC', c_iso) as created offset 0) t;
  end if;
  files := '[' || coalesce(v_records, '') || ']';
end
$$;
comment on function filestore.plain_page is
  'Live files by path, without filters: one page, and whether there is more.';
call filestore.grant_execute('filestore.plain_page', 'filestore_engine');

create function filestore.sorted_page(
  p_project_id uuid, p_query jsonb, out files json, out has_more boolean, out total bigint
)
language plpgsql volatile set search_path = '' as $$
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
  v_setting text;
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

  -- Columns and directions are literals of this statement, never text of the request.
  v_order := case p_query ->> 'sortBy'
    when 'created_at' then 'f.created_at' when 'updated_at' then 'f.updated_at' when 'size' then 'f.size'
    else 'f.path' end
    || case when v_is_descending then ' desc' else '' end
    || case when p_query ->> 'sortBy' <> 'path' then ', f.path' else '' end;

  if v_filters <> '' or v_deleted then
    execute format('select count(*) from filestore.files f where %s%s', v_scope, v_filters)
    into total using p_project_id, v_directory, p_query;
  end if;

  if p_query ->> 'after' is not null then
    v_cursor := format($sql$ and f.path %s $3 ->> 'after'$sql$, case when v_is_descending then '<' else '>' end);
  end if;
  -- fence: the policy repeats the condition of the project, so the planner takes its files for few, and sorts all of
  -- them instead of reading the page in the order of an index. By path there is one for each list.
  if p_query ->> 'sortBy' = 'path' or v_directory = '' and (p_query ->> 'recursive')::boolean then
    v_setting := set_config('enable_sort', 'off', true);
  end if;
  -- One record more than the page shows whether there is more.
  execute format(
    $sql$
      select coalesce(json_agg(json_build_object(
        'id', p.id, 'path', p.path, 'version', p.version, 'mimeType', p.mime_type, 'size', p.size,
        'createdAt', to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'updatedAt', to_char(p.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')%7$s)
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
  if v_setting is not null then v_setting := set_config('enable_sort', 'on', true); end if;
end
$$;
comment on function filestore.sorted_page is
  'Files in any order, filtered, or deleted ones: one page, whether there is more, and, where no directory count '
  'gives it, the total.';
call filestore.grant_execute('filestore.sorted_page', 'filestore_engine');

create function filestore.directory_counts(
  p_project_id uuid, p_path text, out file_count bigint, out subtree_file_count bigint
)
language plpgsql stable set search_path = '' as $$
begin
  select coalesce(sum(c.file_count), 0), coalesce(sum(c.subtree_file_count), 0) into file_count, subtree_file_count
  from (
    select d.file_count, d.subtree_file_count from filestore.directories d
    where d.project_id = p_project_id and d.parent_id = md5(coalesce(substring(p_path from '^(.*)/'), ''))::uuid
      and d.name = split_part(p_path, '/', -1) and d.path = p_path
    union all
    select d.file_count, d.subtree_file_count from filestore.directory_changes d
    where d.project_id = p_project_id and d.path = p_path
  ) c;
end
$$;
comment on function filestore.directory_counts is
  'How many live files a directory has, directly and in its whole subtree.';
call filestore.grant_execute('filestore.directory_counts', 'filestore_account', 'filestore_engine');

create function filestore.list_page(p_session filestore.session, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
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
    select p.files, p.has_more, p.total into v_files, v_has_more, v_total
    from filestore.sorted_page(v_project_id, p_query) p;
  else
    select p.files, p.has_more into v_files, v_has_more
    from filestore.plain_page(
      v_project_id, v_directory, v_recursive, coalesce(p_query ->> 'after', ''), v_limit, v_offset) p;
  end if;

  if v_total is null then
    select case when v_recursive then c.subtree_file_count else c.file_count end into v_total
    from filestore.directory_counts(v_project_id, v_directory) c;
  end if;

  if not v_recursive and v_deleted then
    select coalesce(json_agg(c.name order by c.name), '[]') into v_directories
    from (
      select distinct
        split_part(substr(f.path, length(v_directory) + case when v_directory = '' then 1 else 2 end), '/', 1)
          collate "C" as name
      from filestore.files f
      where f.project_id = v_project_id and f.is_deleted and f.directory <> v_directory
        and (v_directory = ''
          or f.path >= v_directory || '/' and f.path < v_directory || '0')
      order by name limit (filestore.limits()).list_directories_max
    ) c;
  elsif not v_recursive then
    -- Changes may empty a directory or fill an empty one, so as many more are looked at.
    select coalesce(json_agg(split_part(c.path, '/', -1) order by c.path), '[]') into v_directories
    from (
      select n.path from (
        (select d.path, d.subtree_file_count from filestore.directories d
         where d.project_id = v_project_id and d.parent_id = md5(v_directory)::uuid and d.name > ''
         order by d.name limit (filestore.limits()).list_directories_max
           + (select count(*) from filestore.directory_changes c where c.project_id = v_project_id))
        union all
        select c.path, c.subtree_file_count from filestore.directory_changes c
        where c.project_id = v_project_id and c.path <> ''
          and coalesce(substring(c.path from '^(.*)/'), '') = v_directory
      ) n
      group by n.path having sum(n.subtree_file_count) > 0
      order by n.path limit (filestore.limits()).list_directories_max
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
comment on function filestore.list_page is
  'One page of a directory. Without filters the total comes from the directory''s counts and no file row beyond the '
  'page is read.';
call filestore.grant_execute('filestore.list_page', 'filestore_engine');

create function public.filestore_list(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_directory constant text := p_query ->> 'directory';
  v_prefix constant text := v_session.path_prefix;
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_is_above constant boolean := v_directory = '' or starts_with(v_prefix, v_directory || '/');
  v_page json;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  if p_query ? 'at' then
    v_page := filestore.list_at(v_session, p_query);
    return case when v_page ->> 'refusal' is null then filestore.page_response(v_session, v_page -> 'value')
      else (v_session.envelope || v_page::jsonb)::json end;
  end if;
  if v_prefix is null or v_directory = v_prefix or starts_with(v_directory, v_prefix || '/')
    or coalesce((p_query ->> 'deleted')::boolean, false) then
    v_page := filestore.list_page(v_session, p_query);
  elsif v_is_above and v_is_recursive then
    v_page := filestore.list_page(v_session, p_query || jsonb_build_object('directory', v_prefix));
  else
    -- Outside the prefix the key sees nothing, and above it only the directory that leads there.
    v_page := json_strip_nulls(json_build_object(
      'files', '[]'::json,
      'directories', case when not v_is_recursive then coalesce((
        select json_build_array(split_part(substr(v_prefix, coalesce(nullif(length(v_directory), 0) + 2, 1)), '/', 1))
        from filestore.directory_counts(v_session.project_id, v_prefix) c
        where c.subtree_file_count > 0 and v_is_above), '[]') end,
      'total', 0, 'limit', p_query -> 'limit', 'offset', p_query -> 'offset', 'hasMore', false));
  end if;
  return filestore.page_response(v_session, v_page);
end
$$;
comment on function public.filestore_list is
  'One page of a directory''s files, of those that the key may see. p_query: directory, recursive, limit, offset, '
  'sortBy, sortOrder, the filters, and at: as it was then. Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_list', 'filestore_engine', 'service_role');
