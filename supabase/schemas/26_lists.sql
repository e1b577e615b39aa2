-- Lists of a directory's files.

-- Most lists use this function, so it is planned once per session: planning costs more than reading a page.
-- The plan is kept while the table grows, so it must not depend on the size of the table at that time. With
-- sorting and every scan but index scans disabled, each statement has one index that provides its order. (A
-- union of all three was slower.) Such a plan does not know the limit, so its estimated cost is high and must
-- not start the JIT compiler.
create function filestore.plain_page(
  p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer,
  out files text, out has_more boolean
)
language plpgsql stable set search_path = '' as $$
declare
  v_files filestore.listed_file[];
begin
  if not p_recursive then
    -- fence: a range of one directory, not an equality, keeps the directory in the order of the index.
    v_files := array(
      select filestore.listed(f) from filestore.files f
      where f.project_id = p_project_id and not f.is_deleted
        and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
      order by f.directory, f.path limit p_limit + 1 offset p_offset);
  elsif p_directory = '' then
    -- Branches are no part of the root: their files lie between these two ranges.
    v_files := array(
      select filestore.listed(u.file) from (
        (select f as file, f.path from filestore.files f
         where f.project_id = p_project_id and not f.is_deleted and f.path > p_after and f.path < '.branches/'
         order by f.path limit p_limit + 1 + p_offset)
        union all
        (select f as file, f.path from filestore.files f
         where f.project_id = p_project_id and not f.is_deleted and f.path > p_after and f.path >= '.branches0'
         order by f.path limit p_limit + 1 + p_offset)
      ) u
      order by u.path limit p_limit + 1 offset p_offset);
  else
    -- Below the directory, after the cursor: one range.
    v_files := array(
      select filestore.listed(f) from filestore.files f
      where f.project_id = p_project_id and not f.is_deleted
        and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
      order by f.path limit p_limit + 1 offset p_offset);
  end if;
  files := filestore.file_records(v_files[:p_limit]);
  has_more := cardinality(v_files) > p_limit;
end
$$;
comment on function filestore.plain_page is
  'Live files by path, without filters: one page, and whether there is more.';
call filestore.grant_execute('filestore.plain_page', 'filestore_engine');
call filestore.pin_plan('filestore.plain_page');

create function filestore.sorted_page(
  p_project_id uuid, p_query jsonb, out files text, out has_more boolean, out total integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_directory constant text := p_query ->> 'directory';
  v_limit constant integer := (p_query ->> 'limit')::integer;
  v_is_descending constant boolean := p_query ->> 'sortOrder' = 'desc';
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  -- The filters, as conditions in SQL; $3 is the query.
  v_filters constant text := (
    select coalesce(string_agg(' and ' || c.condition, ''), '')
    from (values
      ('contentType', $sql$f.mime_type = $3 ->> 'contentType'$sql$),
      ('minSize', $sql$f.size >= ($3 ->> 'minSize')::bigint$sql$),
      ('maxSize', $sql$f.size <= ($3 ->> 'maxSize')::bigint$sql$),
      ('createdAfter', $sql$f.created_at > ($3 ->> 'createdAfter')::timestamptz$sql$),
      ('createdBefore', $sql$f.created_at < ($3 ->> 'createdBefore')::timestamptz$sql$),
      ('updatedAfter', $sql$f.updated_at > ($3 ->> 'updatedAfter')::timestamptz$sql$),
      ('updatedBefore', $sql$f.updated_at < ($3 ->> 'updatedBefore')::timestamptz$sql$)
    ) c (name, condition)
    where p_query ->> c.name is not null);
  v_scope text := 'f.project_id = $1 and ' || case when v_deleted then 'f.is_deleted' else 'not f.is_deleted' end;
  v_cursor text := '';
  v_order text;
  v_setting text;
  v_files filestore.listed_file[];
begin
  if not (p_query ->> 'recursive')::boolean then
    v_scope := v_scope || ' and f.directory = $2';
  elsif v_directory <> '' then
    v_scope := v_scope || $sql$ and f.path >= $2 || '/' and f.path < $2 || '0'$sql$;
  end if;

  -- Columns and directions are literals of this statement, never text of the request.
  v_order := case p_query ->> 'sortBy'
    when 'created_at' then 'f.created_at' when 'updated_at' then 'f.updated_at' when 'size' then 'f.size'
    else 'f.path' end
    || case when v_is_descending then ' desc' else '' end
    || case when p_query ->> 'sortBy' <> 'path' then ', f.path' else '' end;

  if p_query ->> 'after' is not null then
    v_cursor := format($sql$ and f.path %s $3 ->> 'after'$sql$, case when v_is_descending then '<' else '>' end);
  elsif v_filters <> '' or v_deleted then
    execute format('select count(*) from (select from filestore.files f where %s%s limit %s) f',
      v_scope, v_filters, (filestore.limits()).list_total_max + 1)
    into total using p_project_id, v_directory, p_query;
  end if;
  -- fence: the policy repeats the condition of the project, so the planner underestimates the number of its
  -- files and would sort all of them instead of reading the page in the order of an index. By path, each list
  -- has such an index.
  if p_query ->> 'sortBy' = 'path' or v_directory = '' and (p_query ->> 'recursive')::boolean then
    v_setting := set_config('enable_sort', 'off', true);
  end if;
  -- One record more than the page holds shows whether there are more.
  execute format(
    $sql$
      select array(
        select filestore.listed(f) from filestore.files f where %s%s%s order by %s limit %s offset %s)
    $sql$, v_scope, v_filters, v_cursor, v_order, v_limit + 1,
    (p_query ->> 'offset')::integer)
  into v_files using p_project_id, v_directory, p_query;
  if v_setting is not null then v_setting := set_config('enable_sort', 'on', true); end if;
  files := filestore.file_records(v_files[:v_limit]);
  has_more := cardinality(v_files) > v_limit;
end
$$;
comment on function filestore.sorted_page is
  'Files in any order, filtered or deleted ones: one page, whether there are more, and, for filtered or '
  'deleted files, their number, counted up to one more than `list_total_max`.';
call filestore.grant_execute('filestore.sorted_page', 'filestore_engine');

-- fence: as `plain_page`. Skips from one folder to the next, past its contents, so files cost nothing, live
-- or deleted.
create function filestore.folder_names(
  p_project_id uuid, p_directory text, p_deleted boolean, out names text[], out has_more boolean
)
language plpgsql stable set search_path = '' as $$
declare
  c_names_max constant integer := (filestore.limits()).list_directories_max;
  v_start constant text := case when p_directory = '' then '' else p_directory || '/' end;
  v_end constant text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  -- Compares lower than any character of a path.
  v_from text := v_start || chr(1);
  -- Branches are no part of the root, and are skipped.
  v_until text := case when p_directory = '' then '.branches/' else v_end end;
  v_found text;
  v_name text;
begin
  names := '{}';
  has_more := true;
  -- A folder occurs twice where it contains files both directly and deeper: `a-b` may come between `a` and
  -- `a/b`.
  for v_step in 1 .. 2 * c_names_max loop
    if p_deleted then
      select f.directory into v_found from filestore.files f
      where f.project_id = p_project_id and f.is_deleted and f.directory >= v_from and f.directory < v_until
      order by f.directory, f.path limit 1;
    else
      select f.directory into v_found from filestore.files f
      where f.project_id = p_project_id and not f.is_deleted and f.directory >= v_from and f.directory < v_until
      order by f.directory, f.path limit 1;
    end if;
    if not found and v_until < v_end then
      v_from := '.branches0';
      v_until := v_end;
      continue;
    elsif not found then
      has_more := false;
      exit;
    end if;
    v_name := split_part(substr(v_found, length(v_start) + 1), '/', 1);
    names := names || v_name;
    v_from := v_start || v_name || case when v_found = v_start || v_name then chr(1) else '0' end;
  end loop;
  names := array(select distinct n.name collate "C" from unnest(names) n (name) order by 1);
  has_more := has_more or cardinality(names) > c_names_max;
  names := names[:c_names_max];
end
$$;
comment on function filestore.folder_names is
  'Names of the folders in a directory that contain live files, or deleted ones: the first ones by name, and '
  'whether there may be more.';
call filestore.grant_execute('filestore.folder_names', 'filestore_engine');
call filestore.pin_plan('filestore.folder_names');

create function filestore.list_value(p_files text, p_rest jsonb) returns json
language plpgsql immutable set search_path = ''
as $$ begin return ('{"files":[' || p_files || '],' || substr(p_rest::text, 2))::json; end $$;
comment on function filestore.list_value is
  'The value of a list: its records, which remain text, and its other fields.';
call filestore.grant_execute('filestore.list_value', 'filestore_engine');

create function filestore.list_page(p_session filestore.session, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
declare
  c_total_max constant integer := (filestore.limits()).list_total_max;
  v_project_id constant uuid := p_session.project_id;
  v_directory constant text := p_query ->> 'directory';
  v_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  v_page record;
  v_total integer;
begin
  if v_deleted or p_query ->> 'sortBy' <> 'path' or p_query ->> 'sortOrder' <> 'asc'
    or p_query ?| '{contentType,minSize,maxSize,createdAfter,createdBefore,updatedAfter,updatedBefore}' then
    v_page := filestore.sorted_page(v_project_id, p_query);
    v_total := v_page.total;
  else
    v_page := filestore.plain_page(
      v_project_id, v_directory, v_recursive, coalesce(p_query ->> 'after', ''), (p_query ->> 'limit')::integer,
      (p_query ->> 'offset')::integer);
  end if;
  if v_total is null and p_query ->> 'after' is null then
    v_total := filestore.count_live_files(v_project_id, v_directory, v_recursive);
  end if;
  return filestore.list_value(v_page.files,
    jsonb_build_object(
      -- `least` would return the bound where the total is null.
      'total', case when v_total > c_total_max then c_total_max else v_total end, 'limit', p_query -> 'limit',
      'offset', p_query -> 'offset', 'hasMore', v_page.has_more)
    || case when v_total > c_total_max then '{"totalIsExact": false}' else '{}' end::jsonb
    || case when v_recursive then '{}' else jsonb_build_object(
      'directories', (filestore.folder_names(v_project_id, v_directory, v_deleted)).names) end);
end
$$;
comment on function filestore.list_page is
  'One page of a directory. Without filters it reads no row beyond the page, except to count the total up to '
  '`list_total_max`, and one or two rows of each folder.';
call filestore.grant_execute('filestore.list_page', 'filestore_engine');

create function filestore.list_above_prefix(p_session filestore.session, p_query jsonb, p_is_there boolean)
returns json
language plpgsql stable set search_path = '' as $$
begin
  return filestore.list_value('',
    jsonb_build_object('limit', p_query -> 'limit', 'offset', p_query -> 'offset', 'hasMore', false)
    || case when p_query ? 'at' then '{}'
      else jsonb_build_object('total', case when p_query ->> 'after' is null then 0 end) end
    || case
      when (p_query ->> 'recursive')::boolean then '{}'
      when p_is_there then jsonb_build_object('directories', jsonb_build_array(split_part(
        substr(p_session.path_prefix, coalesce(nullif(length(p_query ->> 'directory'), 0) + 2, 1)), '/', 1)))
      else '{"directories": []}' end);
end
$$;
comment on function filestore.list_above_prefix is
  'A list above the key''s prefix: it contains no file, and only the folder that leads to the prefix, if '
  'that contains files.';
call filestore.grant_execute('filestore.list_above_prefix', 'filestore_engine');
