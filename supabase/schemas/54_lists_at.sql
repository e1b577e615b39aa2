-- Lists of a directory as it was.

create function filestore.was_directory(
  p_session filestore.session, p_path text, p_moment filestore.moment, p_budget integer,
  out is_found boolean, out examined integer
)
language plpgsql volatile
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  v_file filestore.files;
  v_then record;
begin
  is_found := false;
  examined := 0;
  for v_file in
    select f.* from filestore.files f
    where f.project_id = p_session.project_id and f.path > p_path || '/' and f.path < p_path || '0'
    order by f.path limit p_budget
  loop
    examined := examined + 1;
    v_then := filestore.file_at(v_file, p_moment);
    is_found := filestore.is_live(v_then.file);
    exit when is_found;
  end loop;
end
$$;
comment on function filestore.was_directory is
  'Whether a directory had a file, and how many files it took to find that out; p_budget at most, then unknown.';
call filestore.grant_execute('filestore.was_directory', 'filestore_engine');

create function filestore.directories_at(
  p_session filestore.session, p_directory text, p_moment filestore.moment,
  out names json, out has_more boolean, out examined integer
)
language plpgsql volatile
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_names_max constant integer := (filestore.limits()).list_directories_max;
  v_start constant text := case when p_directory = '' then '' else p_directory || '/' end;
  v_end constant text := nullif(p_directory, '') || '0';
  v_budget integer := (filestore.limits()).list_at_examined_max;
  v_names text[];
  v_found text[] := '{}';
  v_next text := v_start;
  v_name text;
  v_was record;
  v_is_settled boolean;
begin
  has_more := false;
  -- Candidates: those that have files now, and those that have deleted ones.
  select coalesce(array_agg(n.name), '{}') into v_names from (
    (select d.name from filestore.directories d
     where d.project_id = p_session.project_id and d.parent_id = md5(p_directory)::uuid and d.name > ''
     order by d.name limit c_names_max + 1)
    union all
    (select split_part(c.path, '/', -1) from filestore.directory_changes c
     where c.project_id = p_session.project_id and c.path <> ''
       and coalesce(substring(c.path from '^(.*)/'), '') = p_directory
     limit c_names_max)
  ) n;
  loop
    -- From one directory with deleted files to the next.
    select split_part(substr(f.directory, length(v_start) + 1), '/', 1), f.directory into v_name, v_next
    from filestore.files f
    where f.project_id = p_session.project_id and f.is_deleted
      and f.directory > v_next and (v_end is null or f.directory < v_end)
    order by f.directory, f.path limit 1;
    exit when not found;
    v_names := v_names || v_name;
    -- Past what is deeper in it.
    if v_next <> v_start || v_name then v_next := v_start || v_name || '/' || chr(1114111); end if;
    v_budget := v_budget - 1;
    if v_budget <= 0 then
      has_more := true;
      exit;
    end if;
  end loop;
  v_budget := (filestore.limits()).list_at_examined_max;
  -- Most directories have a first file that was the same then.
  for v_name, v_is_settled in
    select n.name, (
      select f.updated_at <= p_moment.settled_at from filestore.files f
      where f.project_id = p_session.project_id and not f.is_deleted
        and f.path > v_start || n.name || '/' and f.path < v_start || n.name || '0'
      order by f.path limit 1)
    from (select distinct u.name collate "C" as name from unnest(v_names) u (name)) n order by n.name
  loop
    if v_budget <= 0 or cardinality(v_found) = c_names_max then
      has_more := true;
      exit;
    end if;
    if v_is_settled then
      v_budget := v_budget - 1;
      v_found := v_found || v_name;
      continue;
    end if;
    v_was := filestore.was_directory(p_session, v_start || v_name, p_moment, v_budget);
    v_budget := v_budget - v_was.examined;
    if v_was.is_found then
      v_found := v_found || v_name;
    end if;
  end loop;
  names := array_to_json(v_found);
  examined := (filestore.limits()).list_at_examined_max - v_budget;
end
$$;
comment on function filestore.directories_at is
  'Names of the sub-folders that a directory had, and how many files it took to find them; has_more where the bounds '
  'end the search.';
call filestore.grant_execute('filestore.directories_at', 'filestore_engine');

-- fence: as `plain_page`, each statement has one index that provides its order. Stable, so that all see the same.
create function filestore.settled_page(
  p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_settled_at timestamptz,
  out files json, out next text
)
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  v_from constant text := greatest(p_after collate "C", nullif(p_directory, '') || '/');
  v_to text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  v_paths text[];
  v_is_settled boolean;
  v_deleted integer;
begin
  if p_recursive then
    select array_agg(f.path), coalesce(bool_and(f.updated_at <= p_settled_at), true) into v_paths, v_is_settled
    from (
      select o.path, o.updated_at from filestore.files o
      where o.project_id = p_project_id and not o.is_deleted and o.path > v_from and o.path < v_to
      order by o.path limit p_limit + 1
    ) f;
  else
    select array_agg(f.path), coalesce(bool_and(f.updated_at <= p_settled_at), true) into v_paths, v_is_settled
    from (
      select o.path, o.updated_at from filestore.files o
      where o.project_id = p_project_id and not o.is_deleted
        and o.directory >= p_directory and o.directory <= p_directory and o.path > p_after
      order by o.directory, o.path limit p_limit + 1
    ) f;
  end if;
  if v_is_settled then
    if cardinality(v_paths) > p_limit then v_to := v_paths[p_limit + 1]; end if;
    if p_recursive then
      select count(*), coalesce(bool_and(f.updated_at <= p_settled_at), true) into v_deleted, v_is_settled
      from (
        select o.updated_at from filestore.files o
        where o.project_id = p_project_id and o.is_deleted and o.path > v_from and o.path < v_to
        order by o.path limit p_limit
      ) f;
    else
      select count(*), coalesce(bool_and(f.updated_at <= p_settled_at), true) into v_deleted, v_is_settled
      from (
        select o.updated_at from filestore.files o
        where o.project_id = p_project_id and o.is_deleted
          and o.directory >= p_directory and o.directory <= p_directory and o.path > p_after and o.path < v_to
        order by o.directory, o.path limit p_limit
      ) f;
    end if;
    if v_is_settled and v_deleted < p_limit then
      select p.files, case when p.has_more then v_paths[p_limit] end into files, next
      from filestore.plain_page(p_project_id, p_directory, p_recursive, p_after, p_limit, 0) p;
    end if;
  end if;
end
$$;
comment on function filestore.settled_page is
  'A page of which nothing was changed since, neither a file nor what was deleted between them: that of now. '
  'Else null.';
call filestore.grant_execute('filestore.settled_page', 'filestore_engine');

-- fence: as `plain_page`, each statement has one index that provides its order.
create function filestore.page_at(
  p_session filestore.session, p_directory text, p_recursive boolean, p_after text, p_limit integer,
  p_moment filestore.moment, out files text, out trimmed text[], out next text, out examined integer
)
language plpgsql volatile
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  c_examined_max constant integer := (filestore.limits()).list_at_examined_max;
  v_rows refcursor;
  v_file filestore.files;
  v_then record;
  v_count integer := 0;
  v_last text;
begin
  files := '';
  trimmed := '{}';
  examined := 0;
  if p_moment.settled_at is not null then
    select btrim(p.files::text, '[]'), p.next into files, next
    from filestore.settled_page(
      p_session.project_id, p_directory, p_recursive, p_after, p_limit, p_moment.settled_at) p;
    if files is not null then return; end if;
    files := '';
  end if;
  -- One row more than is looked at shows whether there is more.
  if not p_recursive then
    open v_rows for
      select u.* from (
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and not f.is_deleted
           and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
         order by f.directory, f.path limit c_examined_max + 1)
        union all
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and f.is_deleted
           and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
         order by f.directory, f.path limit c_examined_max + 1)
      ) u
      order by u.directory, u.path limit c_examined_max + 1;
  elsif p_directory = '' then
    open v_rows for
      select f.* from filestore.files f
      where f.project_id = p_session.project_id and f.path > p_after
      order by f.path limit c_examined_max + 1;
  else
    open v_rows for
      select f.* from filestore.files f
      where f.project_id = p_session.project_id
        and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
      order by f.path limit c_examined_max + 1;
  end if;
  for v_examined in 1 .. c_examined_max + 1 loop
    fetch v_rows into v_file;
    exit when not found;
    if v_count = p_limit or v_examined > c_examined_max then
      next := v_last;
      exit;
    end if;
    v_last := v_file.path;
    examined := v_examined;
    if (v_file.updated_at <= p_moment.settled_at) is not true then
      v_then := filestore.file_at(v_file, p_moment);
      if v_then.is_trimmed then
        trimmed := trimmed || v_file.path;
        continue;
      end if;
      v_file := v_then.file;
    end if;
    continue when v_file.id is null or v_file.is_deleted;
    files := files || case when v_count > 0 then ',' else '' end || '{"id":"' || v_file.id || '","path":'
      || to_json(v_file.path) || ',"version":' || v_file.version || ',"mimeType":' || to_json(v_file.mime_type)
      || ',"size":' || v_file.size
      || ',"createdAt":"' || to_char(v_file.created_at at time zone 'UTC', c_iso)
      || '","updatedAt":"' || to_char(v_file.updated_at at time zone 'UTC', c_iso) || '"}';
    v_count := v_count + 1;
  end loop;
  close v_rows;
end
$$;
comment on function filestore.page_at is
  'Files that a directory had, by path. Where there is more, `next` is the last path that was looked at: with a bound '
  'on those, a page may have fewer records than its limit, or none.';
call filestore.grant_execute('filestore.page_at', 'filestore_engine');

create function filestore.list_at(p_session filestore.session, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
declare
  v_moment constant filestore.moment := filestore.moment_of(p_session, p_query ->> 'at');
  v_prefix constant text := p_session.path_prefix;
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_asked constant text := p_query ->> 'directory';
  v_is_above constant boolean := v_asked = '' or starts_with(v_prefix, v_asked || '/');
  v_is_below constant boolean := v_prefix is null or v_asked = v_prefix or starts_with(v_asked, v_prefix || '/');
  v_page record;
  v_directories record;
begin
  if v_moment.refusal is not null then return v_moment.refusal::json; end if;
  if v_is_below or v_is_above and v_is_recursive then
    v_page := filestore.page_at(
      p_session, case when v_is_below then v_asked else v_prefix end, v_is_recursive,
      coalesce(p_query ->> 'after', ''), (p_query ->> 'limit')::integer, v_moment);
    if not v_is_recursive then
      v_directories := filestore.directories_at(p_session, v_asked, v_moment);
      return json_build_object('value', json_strip_nulls(json_build_object(
        'files', ('[' || v_page.files || ']')::json, 'directories', v_directories.names,
        'limit', p_query -> 'limit', 'offset', 0, 'hasMore', v_page.next is not null, 'next', v_page.next,
        'examined', v_page.examined + v_directories.examined,
        'hasMoreDirectories', nullif(v_directories.has_more, false),
        'trimmed', to_json(nullif(v_page.trimmed, '{}')))));
    end if;
    return json_build_object('value', json_strip_nulls(json_build_object(
      'files', ('[' || v_page.files || ']')::json,
      'limit', p_query -> 'limit', 'offset', 0, 'hasMore', v_page.next is not null, 'next', v_page.next,
      'examined', v_page.examined, 'trimmed', to_json(nullif(v_page.trimmed, '{}')))));
  end if;
  -- Outside the prefix the key sees nothing, and above it only the directory that leads there.
  return json_build_object('value', json_strip_nulls(json_build_object(
    'files', '[]'::json,
    'directories', case
      when v_is_recursive then null
      when v_is_above and (filestore.was_directory(
        p_session, v_prefix, v_moment, (filestore.limits()).list_at_examined_max)).is_found
      then json_build_array(split_part(substr(v_prefix, coalesce(nullif(length(v_asked), 0) + 2, 1)), '/', 1))
      else '[]' end,
    'limit', p_query -> 'limit', 'offset', 0, 'hasMore', false)));
end
$$;
comment on function filestore.list_at is
  'One page of a directory as it was, of what the key may see. Without a total, which nothing knows of former times.';
call filestore.grant_execute('filestore.list_at', 'filestore_engine');
