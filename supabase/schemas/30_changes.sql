-- The change feed: the versions of a project in the order of their positions.

create function filestore.feed_end(p_project_id uuid) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_last bigint;
  v_lowest bigint;
begin
  -- One statement after the other. A commit that takes its lock after the second one gets a position above
  -- the number that the first one saw; one that has released its lock by then is visible to every later
  -- statement.
  select p.last_value into v_last from filestore.positions p;
  select min(v_last - ((v_last - l.objid::bigint) & 4294967295)) into v_lowest
  from pg_catalog.pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 2
    and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    and l.classid::bigint = (hashtext(p_project_id::text)::bigint & 4294967295);
  return least(v_last, v_lowest);
end
$$;
comment on function filestore.feed_end is
  'The position up to which no further version can be committed; every later statement sees all versions up '
  'to it. Numbers above the last version are not durable, so a cursor always names the position of a '
  'version.';
call filestore.grant_execute('filestore.feed_end', 'filestore_account', 'filestore_admin', 'filestore_engine');

-- Planned once per session, by index whatever the statistics are: see 26_lists.sql. Positions are picked
-- first, so records are built only for the versions of the page.
create function filestore.last_position(p_project_id uuid, p_after bigint, p_end bigint) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return coalesce((
    select v.position from filestore.file_versions v
    where v.project_id = p_project_id and v.position > p_after and v.position <= p_end
    order by v.position desc limit 1), p_after);
end
$$;
comment on function filestore.last_position is
  'The position of the last version after one position, up to another; the first position if there is none.';
call filestore.grant_execute(
  'filestore.last_position', 'filestore_account', 'filestore_admin', 'filestore_engine');
call filestore.pin_plan('filestore.last_position');

create function filestore.last_position_by(p_project_id uuid, p_end bigint, p_time timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
declare
  -- All versions of that time are at v_low or below, or still to be read below v_high.
  v_low bigint := 0;
  v_high bigint := p_end + 1;
  v_middle bigint;
  v_position bigint;
  v_created_at timestamptz;
begin
  while v_low < v_high - 1 loop
    v_middle := v_low + (v_high - v_low) / 2;
    select v.position, v.created_at into v_position, v_created_at from filestore.file_versions v
    where v.project_id = p_project_id and v.position > v_low and v.position <= v_middle
    order by v.position desc limit 1;
    if found and v_created_at > p_time then
      v_high := v_position;
    else
      v_low := v_middle;
    end if;
  end loop;
  return v_low;
end
$$;
comment on function filestore.last_position_by is
  'A position up to the given one, after which no version is older than the time by more than a commit '
  'takes: a commit takes its time before its positions. Reads one version for each binary digit of the '
  'positions.';
call filestore.grant_execute('filestore.last_position_by', 'filestore_engine');
call filestore.pin_plan('filestore.last_position_by');

create function filestore.pick_changes(
  p_project_id uuid, p_query jsonb, p_by_path boolean, p_after bigint, p_end bigint, p_examined_max integer,
  p_picked_max integer, out positions bigint[], out examined_to bigint, out is_end boolean
)
language plpgsql stable set search_path = '' as $$
declare
  v_run constant text := p_query ->> 'run';
  v_actor constant text := p_query ->> 'actor';
  v_key_id constant uuid := p_query ->> 'keyId';
  v_operation constant filestore.operation := p_query ->> 'operation';
  v_operations constant jsonb := p_query -> 'operations';
  v_path constant text := p_query ->> 'path';
  v_place constant text := p_query ->> 'place';
  v_below constant text := nullif(p_query ->> 'directory', '') || '/';
  v_beyond constant text := nullif(p_query ->> 'directory', '') || '0';
  v_until constant timestamptz := p_query ->> 'until';
  v_newest_first constant boolean := coalesce((p_query ->> 'newestFirst')::boolean, false);
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = p_project_id);
  v_examined bigint[];
begin
  if v_newest_first then
    v_examined := array(
      select v.position from filestore.file_versions v
      where v.project_id = p_project_id and v.position > p_after and v.position <= p_end
      order by v.position desc limit p_examined_max);
  else
    v_examined := array(
      select v.position from filestore.file_versions v
      where v.project_id = p_project_id and v.position > p_after and v.position <= p_end
      order by v.position limit p_examined_max);
  end if;
  is_end := cardinality(v_examined) < p_examined_max;
  positions := array(
    select e.position from unnest(v_examined) with ordinality e (position, number)
    -- fence: rows are looked up one by one, and only those that are picked.
    cross join lateral (
      select * from filestore.file_versions v where v.project_id = p_project_id and v.position = e.position offset 0
    ) v
    -- A file is looked up only where its path matters, or where row-level security hides some files.
    cross join lateral (
      select true where not p_by_path
      union all
      select true from filestore.files f
      where p_by_path and f.project_id = p_project_id and f.id = v.file_id and (v_path is null or f.path = v_path)
        and (v_below is null or f.path >= v_below and f.path < v_beyond)
        and (v_place is null or f.path = v_place or f.path >= v_place || '/' and f.path < v_place || '0')
      union all
      select true from filestore.purged_files g
      cross join lateral (
        select filestore.place_hash(v_cursor_key, g.file_id, v_path) as path,
               filestore.place_hash(v_cursor_key, g.file_id, nullif(p_query ->> 'directory', '')) as directory,
               filestore.place_hash(v_cursor_key, g.file_id, v_place) as place
      ) h
      where p_by_path and v.operation = 'purge' and g.project_id = p_project_id and g.file_id = v.file_id
        and (h.path is null or h.path = g.path_hash) and (h.directory is null or h.directory = any (g.place_hashes))
        and (h.place is null or h.place = g.path_hash or h.place = any (g.place_hashes))
    ) f
    where (v_run is null or v.run_id = v_run) and (v_actor is null or v.actor = v_actor)
      and (v_key_id is null or v.key_id = v_key_id) and (v_operation is null or v.operation = v_operation)
      and (v_until is null or v.created_at < v_until) and (v_operations is null or v_operations ? v.operation::text)
    order by e.number limit p_picked_max);
  if cardinality(positions) = p_picked_max then return; end if;
  if not v_newest_first then
    examined_to := v_examined[cardinality(v_examined)];
  elsif p_query ? 'before' then
    examined_to := v_examined[p_examined_max];
  end if;
end
$$;
comment on function filestore.pick_changes is
  'The positions of the first (newestFirst: the last) p_picked_max versions after p_after and up to p_end that pass '
  'the filters, among the first (last) p_examined_max there. examined_to: the position of the last version examined, '
  'where fewer than p_picked_max pass; with newestFirst only for a page before a cursor, and only if more may follow. '
  'is_end: there are no versions beyond those examined.';
call filestore.grant_execute('filestore.pick_changes', 'filestore_engine');
call filestore.pin_plan('filestore.pick_changes');

create function filestore.change_records(
  p_project_id uuid, p_positions bigint[], p_cursor_key bytea, p_shows_keys boolean, p_accounts jsonb default null
) returns json
language plpgsql volatile set search_path = '' as $$
declare
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  -- The positions are those of visible files. Where a merge added a version, its source is in a branch.
  perform set_config('filestore.branches', 'on', true);
  return (
    select ('[' || coalesce(string_agg('{"cursor":"' || filestore.cursor_at(p_cursor_key, v.position)
        || '",' || coalesce('"path":' || to_json(f.path) || ',', '') || '"fileId":"' || v.file_id
        || '","version":' || v.version
        || ',"operation":"' || v.operation || '","size":' || v.size || ',"mimeType":' || to_json(v.mime_type)
        || case when v.is_deleted then ',"deleted":true' else '' end || ',"commitId":"' || v.commit_id || '"'
        || coalesce(',"runId":' || to_json(v.run_id), '') || coalesce(',"actor":' || to_json(v.actor), '')
        || coalesce(',"note":' || to_json(v.note), '')
        || case when p_shows_keys and v.key_id <> '00000000-0000-0000-0000-000000000000'
          then ',"keyId":"' || v.key_id || '"' else '' end
        || coalesce(p_accounts ->> v.account_id::text, '')
        || case when s.path is null then ''
          else ',"from":{"path":' || to_json(s.path) || ',"version":' || v.source_version || '}' end
        || ',"createdAt":"' || to_char(v.created_at at time zone 'UTC', c_iso) || '"'
        || coalesce(',"fileCreatedAt":"' || to_char(f.created_at at time zone 'UTC', c_iso) || '"', '') || '}',
      ',' order by i.number), '') || ']')::json
    from generate_subscripts(p_positions, 1) i (number)
    -- fence, all three: rows are looked up one by one.
    cross join lateral (
      select * from filestore.file_versions v
      where v.project_id = p_project_id and v.position = p_positions[i.number] and v.redacted_at is null offset 0
    ) v
    -- Of a purged file only the receipt, for keys that could see the file.
    cross join lateral (
      select f.path, f.created_at from filestore.files f where f.project_id = p_project_id and f.id = v.file_id
      union all
      select null, null from filestore.purged_files g
      where v.operation = 'purge' and g.project_id = p_project_id and g.file_id = v.file_id
      offset 0
    ) f
    left join lateral (
      select s.path from filestore.files s where s.project_id = p_project_id and s.id = v.source_file_id offset 0
    ) s on true);
end
$$;
comment on function filestore.change_records is
  'The entries of the feed at these positions, for files that the key sees; with p_accounts of `accounts_of`.';
call filestore.grant_execute('filestore.change_records', 'filestore_engine');
call filestore.pin_plan('filestore.change_records');

create function filestore.hides_files(p_session filestore.session) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return p_session.path_prefix is not null or exists (
    select from filestore.branches b where b.project_id = p_session.project_id);
end
$$;
comment on function filestore.hides_files is
  'Whether row-level security may hide files of the project: those beyond the key''s prefix, or in branches.';
call filestore.grant_execute('filestore.hides_files', 'filestore_engine');

create function public.filestore_changes(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read',
    p_place => coalesce(p_query ->> 'path', p_query ->> 'place', p_query ->> 'directory'));
  v_project_id constant uuid := v_session.project_id;
  v_limit constant integer := least((p_query ->> 'limit')::integer, (filestore.limits()).changes_limit_max);
  v_before constant text := p_query ->> 'before';
  -- A commit takes less than a minute from its time to its positions.
  v_until constant timestamptz := case when v_before <> 'now' and v_before !~ '^[0-9a-f]{32}$' then v_before end;
  v_shows_keys constant boolean := 'admin' = any (v_session.scopes);
  v_is_filtered constant boolean := v_session.path_prefix is not null or p_query ?| '{path,directory,place}';
  v_by_path constant boolean := v_is_filtered or filestore.hides_files(v_session);
  v_examined_max integer := case
    when v_is_filtered or v_until is not null or p_query ?| '{run,actor,keyId,operation}'
    then (filestore.limits()).changes_examined_max
    -- Where versions in branches are left out, a page is mostly found among twice as many.
    else (1 + v_by_path::integer) * (v_limit + 1) end;
  v_after bigint;
  v_last bigint;
  v_refusal jsonb;
  v_picked record;
  v_positions bigint[] := '{}';
  v_has_more boolean := false;
  v_cursor_key bytea;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_project_id;
  v_after := case when p_query ->> 'after' <> 'now'
    then filestore.position_of(v_cursor_key, p_query ->> 'after') else 0 end;
  v_refusal := case
    when p_query ? 'keyId' and not v_shows_keys then filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "admin"}')
    when v_after is null then filestore.refused_field('after', 'must be a cursor of this project, or now')
    when v_before ~ '^[0-9a-f]{32}$' and filestore.position_of(v_cursor_key, v_before) is null
      then filestore.refused_field('before', 'must be a cursor of this project') end;
  if v_refusal is not null then return (v_session.envelope || v_refusal)::json; end if;
  -- All versions up to the end are visible to the following statements.
  v_last := filestore.feed_end(v_project_id);
  if v_before ~ '^[0-9a-f]{32}$' then
    v_last := least(v_last, filestore.position_of(v_cursor_key, v_before) - 1);
  elsif v_until is not null then
    v_last := filestore.last_position_by(v_project_id, v_last, v_until + interval '1 minute');
  end if;
  v_last := filestore.last_position(v_project_id, v_after, v_last);
  if p_query ->> 'after' is distinct from 'now' then
    loop
      v_picked := filestore.pick_changes(
        v_project_id, p_query || jsonb_build_object('until', v_until), v_by_path, v_after, v_last, v_examined_max,
        v_limit + 1);
      exit when cardinality(v_picked.positions) > v_limit or not v_by_path or v_picked.is_end
        or v_examined_max >= (filestore.limits()).changes_examined_max;
      v_examined_max := least(8 * v_examined_max, (filestore.limits()).changes_examined_max);
    end loop;
    v_has_more := cardinality(v_picked.positions) > v_limit or coalesce(v_picked.examined_to < v_last, false);
    v_positions := v_picked.positions[1:v_limit];
    if v_before is not null then
      v_last := coalesce(v_picked.examined_to, v_positions[cardinality(v_positions)], 0);
    elsif (p_query ->> 'newestFirst')::boolean then
      v_positions := array(select p from unnest(v_positions) p order by p);
    elsif v_has_more then
      v_last := coalesce(v_picked.examined_to, v_positions[v_limit]);
    end if;
  end if;
  return filestore.page_response(v_session, json_build_object(
    'changes', filestore.change_records(
      v_project_id, v_positions, v_cursor_key, v_shows_keys, filestore.accounts_of(v_session, v_positions)),
    'cursor', filestore.cursor_at(v_cursor_key, v_last), 'hasMore', v_has_more, 'position', v_last));
end
$$;
comment on function public.filestore_changes is
  'One page of the change feed, of changes that the key may see. p_query: after (a cursor, or now for a '
  'cursor alone), limit, run, actor, keyId, path, directory, place (a path or a directory), operation; '
  'newestFirst: the last changes instead of the first; together with before (a cursor, now or a time): the '
  'changes before it, newest first, and the cursor of the next older page. "position" is the position of the '
  'cursor, for `filestore_newest_change`. Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_changes', 'filestore_engine', 'service_role');

create function public.filestore_newest_change(p_project_id uuid, p_known bigint) returns bigint
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_end bigint;
begin
  if filestore.last_position(p_project_id, p_known, 9223372036854775807) = p_known then return p_known; end if;
  v_end := filestore.feed_end(p_project_id);
  return filestore.last_position(p_project_id, p_known, v_end);
end
$$;
comment on function public.filestore_newest_change is
  'The position of the last version that followers can read; p_known where no version is after it, which '
  'takes one index entry to find out.';
call filestore.publish('public.filestore_newest_change', 'filestore_admin', 'service_role');
