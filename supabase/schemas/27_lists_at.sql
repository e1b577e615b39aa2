-- Lists of a directory at a moment, and the entry point of all lists.

create function filestore.was_directory(
  p_session filestore.session, p_path text, p_moment filestore.moment, p_budget integer,
  out is_found boolean, out examined integer
)
language plpgsql volatile set search_path = '' as $$
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
  'Whether a directory contained a file at that moment, and how many files were examined to find out: '
  'p_budget at most; beyond that it is unknown.';
call filestore.grant_execute('filestore.was_directory', 'filestore_engine');
call filestore.pin_plan('filestore.was_directory');

create function filestore.directories_at(
  p_session filestore.session, p_directory text, p_moment filestore.moment,
  out names text[], out has_more boolean, out examined integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_start constant text := case when p_directory = '' then '' else p_directory || '/' end;
  v_budget integer := (filestore.limits()).list_at_examined_max;
  -- Candidates: directories that contain files now, and those that contain deleted ones.
  v_live constant record := filestore.folder_names(p_session.project_id, p_directory, false);
  v_deleted constant record := filestore.folder_names(p_session.project_id, p_directory, true);
  v_name text;
  v_was record;
  v_is_decided boolean;
begin
  names := '{}';
  has_more := v_live.has_more or v_deleted.has_more;
  -- In most directories the first file is unchanged since then.
  for v_name, v_is_decided in
    select n.name, (
      select f.updated_at <= p_moment.unchanged_before from filestore.files f
      where f.project_id = p_session.project_id and not f.is_deleted
        and f.path > v_start || n.name || '/' and f.path < v_start || n.name || '0'
      order by f.path limit 1)
    from (select distinct u.name collate "C" as name from unnest(v_live.names || v_deleted.names) u (name)) n
    order by n.name
  loop
    if v_budget <= 0 or cardinality(names) = (filestore.limits()).list_directories_max then
      has_more := true;
      exit;
    end if;
    if v_is_decided then
      v_budget := v_budget - 1;
      names := names || v_name;
      continue;
    end if;
    v_was := filestore.was_directory(p_session, v_start || v_name, p_moment, v_budget);
    v_budget := v_budget - v_was.examined;
    if v_was.is_found then names := names || v_name; end if;
  end loop;
  examined := (filestore.limits()).list_at_examined_max - v_budget;
end
$$;
comment on function filestore.directories_at is
  'Names of the sub-folders of a directory at that moment, and how many files were examined to find them; '
  'has_more where the bounds ended the search.';
call filestore.grant_execute('filestore.directories_at', 'filestore_engine');
call filestore.pin_plan('filestore.directories_at');

-- fence: as `plain_page`, each statement has one index that provides its order.
create function filestore.page_at(
  p_session filestore.session, p_directory text, p_recursive boolean, p_after text, p_limit integer,
  p_moment filestore.moment, out files text, out trimmed text[], out next text, out examined integer
)
language plpgsql volatile set search_path = '' as $$
declare
  c_examined_max constant integer := (filestore.limits()).list_at_examined_max;
  v_rows refcursor;
  v_file filestore.files;
  v_then record;
  v_listed filestore.listed_file[] := '{}';
  v_last text;
begin
  trimmed := '{}';
  examined := 0;
  -- One row beyond those to be examined shows whether there are more.
  if not p_recursive then
    open v_rows for select u.* from (
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
    -- Branches are no part of the root: their files lie between these two ranges.
    open v_rows for select u.* from (
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and f.path > p_after and f.path < '.branches/'
         order by f.path limit c_examined_max + 1)
        union all
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and f.path > p_after and f.path >= '.branches0'
         order by f.path limit c_examined_max + 1)
      ) u
      order by u.path limit c_examined_max + 1;
  else
    open v_rows for select f.* from filestore.files f
      where f.project_id = p_session.project_id
        and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
      order by f.path limit c_examined_max + 1;
  end if;
  for v_examined in 1 .. c_examined_max + 1 loop
    fetch v_rows into v_file;
    exit when not found;
    next := case when cardinality(v_listed) = p_limit or v_examined > c_examined_max then v_last end;
    exit when next is not null;
    v_last := v_file.path;
    if (v_file.updated_at <= p_moment.unchanged_before) is not true then
      examined := examined + 1;
      v_then := filestore.file_at(v_file, p_moment);
      if v_then.is_trimmed then
        trimmed := trimmed || v_file.path;
        continue;
      end if;
      v_file := v_then.file;
    elsif v_file.is_deleted then examined := examined + 1;
    end if;
    continue when v_file.id is null or v_file.is_deleted;
    v_listed := v_listed || filestore.listed(v_file);
  end loop;
  close v_rows;
  files := filestore.file_records(v_listed);
end
$$;
comment on function filestore.page_at is
  'The files of a directory at that moment, by path. Where there are more, `next` is the last path that was '
  'examined: the number of examined files is bounded, so a page may have fewer records than its limit, or '
  'none. Live files that are unchanged since then do not count as examined.';
call filestore.grant_execute('filestore.page_at', 'filestore_engine');
call filestore.pin_plan('filestore.page_at');

create function filestore.list_at(
  p_session filestore.session, p_directory text, p_query jsonb, p_moment filestore.moment
) returns json
language plpgsql volatile set search_path = '' as $$
declare
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_page record;
  v_directories record;
  v_rest jsonb;
begin
  v_page := filestore.page_at(
    p_session, p_directory, v_is_recursive, coalesce(p_query ->> 'after', ''), (p_query ->> 'limit')::integer,
    p_moment);
  v_rest := jsonb_build_object(
    'limit', p_query -> 'limit', 'offset', 0, 'hasMore', v_page.next is not null, 'next', v_page.next,
    'examined', v_page.examined, 'trimmed', to_jsonb(nullif(v_page.trimmed, '{}')));
  if not v_is_recursive then
    v_directories := filestore.directories_at(p_session, p_directory, p_moment);
    v_rest := v_rest || jsonb_build_object(
      'directories', v_directories.names, 'hasMoreDirectories', nullif(v_directories.has_more, false),
      'examined', v_page.examined + v_directories.examined);
  end if;
  return filestore.list_value(v_page.files, jsonb_strip_nulls(v_rest));
end
$$;
comment on function filestore.list_at is
  'One page of a directory, which the key sees, at a moment. Without a total, which is not known for an '
  'earlier moment.';
call filestore.grant_execute('filestore.list_at', 'filestore_engine');

create function public.filestore_list(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_query ->> 'directory');
  v_directory constant text := p_query ->> 'directory';
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_seen constant text := filestore.seen_directory(v_session, v_directory);
  v_is_seen constant boolean := v_seen = v_directory or v_is_recursive and v_seen is not null;
  v_moment filestore.moment;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  if p_query ? 'at' then
    v_moment := filestore.moment_of(v_session, p_query ->> 'at');
    if v_moment.refusal is not null then return (v_session.envelope || v_moment.refusal)::json; end if;
  end if;
  return filestore.page_response(v_session, case
    when p_query ? 'at' and v_is_seen then filestore.list_at(v_session, v_seen, p_query, v_moment)
    when v_is_seen or not p_query ? 'at' and (p_query ->> 'deleted')::boolean
      then filestore.list_page(v_session, p_query || jsonb_build_object(
        'directory', case when v_is_recursive then coalesce(v_seen, v_directory) else v_directory end))
    else filestore.list_above_prefix(v_session, p_query, v_seen is not null and case
      when p_query ? 'at' then (filestore.was_directory(
        v_session, v_seen, v_moment, (filestore.limits()).list_at_examined_max)).is_found
      else filestore.count_live_files(v_session.project_id, v_seen, true, 1) > 0 end) end);
end
$$;
comment on function public.filestore_list is
  'One page of a directory''s files, of those that the key may see. p_query: directory, recursive, limit, '
  'offset, sortBy, sortOrder, the filters, and at (a moment). Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_list', 'filestore_engine', 'service_role');
