-- The change feed: the versions of a project in the order of their positions.

create function filestore.cursor_at(p_cursor_key bytea, p_position bigint) returns text
language plpgsql immutable set search_path = '' as $$
declare
  v_tag constant bytea := substr(sha256(p_cursor_key || int8send(p_position)), 1, 8);
begin
  return encode(v_tag || int8send(p_position # filestore.cursor_mask(p_cursor_key, v_tag)), 'hex');
end
$$;
comment on function filestore.cursor_at is
  'The cursor of a position, 32 hexadecimal digits. Positions are counted over all projects, which a cursor does not '
  'show; and each project has its own key, so that it does not take another one''s for its own.';
call filestore.grant_execute('filestore.cursor_at', 'filestore_account', 'filestore_engine');

create function filestore.cursor_mask(p_cursor_key bytea, p_tag bytea) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return ('x' || encode(substr(sha256(p_cursor_key || p_tag || '\x01'), 1, 8), 'hex'))::bit(64)::bigint;
end
$$;
comment on function filestore.cursor_mask is 'What the position in a cursor is combined with.';
call filestore.grant_execute('filestore.cursor_mask', 'filestore_account', 'filestore_engine');

create function filestore.position_of(p_cursor_key bytea, p_cursor text) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  v_position bigint;
begin
  if p_cursor !~ '^[0-9a-f]{32}$' then return null; end if;
  v_position := ('x' || substr(p_cursor, 17))::bit(64)::bigint
    # filestore.cursor_mask(p_cursor_key, decode(left(p_cursor, 16), 'hex'));
  return case when filestore.cursor_at(p_cursor_key, v_position) = p_cursor then v_position end;
end
$$;
comment on function filestore.position_of is
  'The position that a cursor stands for; null where it is none of this project.';
call filestore.grant_execute('filestore.position_of', 'filestore_account', 'filestore_engine');

create function filestore.feed_end(p_project_id uuid) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_last bigint;
  v_lowest bigint;
begin
  -- One statement after the other. A commit that takes its lock after the second one gets a position above the number
  -- that the first one saw; one that has given back its lock by then is visible to every later statement.
  select p.last_value into v_last from filestore.positions p;
  select min(v_last - ((v_last - l.objid::bigint) & 4294967295)) into v_lowest
  from pg_catalog.pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 2
    and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    and l.classid::bigint = (filestore.feed_lock(p_project_id)::bigint & 4294967295);
  return least(v_last, v_lowest);
end
$$;
comment on function filestore.feed_end is
  'The position up to which nothing can be committed any more, as every later statement sees. Numbers above the last '
  'version are not durable: a cursor is always that of a version.';
call filestore.grant_execute('filestore.feed_end', 'filestore_admin', 'filestore_engine');

-- What a follower reads ----------------------------------------------------------------------------------------------

-- Planned once per session, by index whatever the statistics say: see 51_lists.sql. Positions are picked first, and
-- records made of no more than are shown.

create function filestore.last_position(p_project_id uuid, p_after bigint, p_end bigint) returns bigint
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
begin
  return coalesce((
    select v.position from filestore.file_versions v
    where v.project_id = p_project_id and v.position > p_after and v.position <= p_end
    order by v.position desc limit 1), p_after);
end
$$;
comment on function filestore.last_position is
  'The position of the last version after one position, up to another; the first one where there is none.';
call filestore.grant_execute('filestore.last_position', 'filestore_admin', 'filestore_engine');

create function filestore.last_position_by(p_project_id uuid, p_end bigint, p_time timestamptz) returns bigint
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  -- All that was made by then is at v_low or below, or still to be looked at below v_high.
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
  'A position up to the given one, after which no version is older than the time by more than a commit takes: a commit '
  'takes its time before its positions. Looks at one version for each binary digit of the positions.';
call filestore.grant_execute('filestore.last_position_by', 'filestore_engine');

create function filestore.is_receipt_seen(p_project_id uuid, p_file_id uuid, p_query jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = p_project_id);
begin
  return exists (
    select from filestore.purged_files g
    cross join lateral (
      select filestore.place_hash(v_cursor_key, g.file_id, p_query ->> 'path') as path,
             filestore.place_hash(v_cursor_key, g.file_id, nullif(p_query ->> 'directory', '')) as directory,
             filestore.place_hash(v_cursor_key, g.file_id, p_query ->> 'place') as place
    ) h
    where g.project_id = p_project_id and g.file_id = p_file_id and (h.path is null or h.path = g.path_hash)
      and (h.directory is null or h.directory = any (g.place_hashes))
      and (h.place is null or h.place = g.path_hash or h.place = any (g.place_hashes)));
end
$$;
comment on function filestore.is_receipt_seen is
  'Whether the key sees the receipt of a purged file, and the filters by path let it through.';
call filestore.grant_execute('filestore.is_receipt_seen', 'filestore_engine');

create function filestore.pick_changes(
  p_project_id uuid, p_query jsonb, p_by_path boolean, p_after bigint, p_end bigint, p_examined_max integer,
  p_picked_max integer, out positions bigint[], out examined_to bigint
)
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  v_run constant text := p_query ->> 'run';
  v_actor constant text := p_query ->> 'actor';
  v_key_id constant uuid := p_query ->> 'keyId';
  v_operation constant filestore.operation := p_query ->> 'operation';
  v_path constant text := p_query ->> 'path';
  v_place constant text := p_query ->> 'place';
  v_below constant text := nullif(p_query ->> 'directory', '') || '/';
  v_beyond constant text := nullif(p_query ->> 'directory', '') || '0';
  v_until constant timestamptz := p_query ->> 'until';
  v_newest_first constant boolean := coalesce((p_query ->> 'newestFirst')::boolean, false);
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
  positions := array(
    select e.position from unnest(v_examined) with ordinality e (position, number)
    -- fence: rows are looked up one by one, and no more of them than are picked.
    cross join lateral (
      select * from filestore.file_versions v where v.project_id = p_project_id and v.position = e.position offset 0
    ) v
    -- A file is looked up only where its path matters, or row-level security hides some.
    cross join lateral (
      select true where not p_by_path
      union all
      select true from filestore.files f
      where p_by_path and f.project_id = p_project_id and f.id = v.file_id and (v_path is null or f.path = v_path)
        and (v_below is null or f.path >= v_below and f.path < v_beyond)
        and (v_place is null or f.path = v_place or f.path >= v_place || '/' and f.path < v_place || '0')
      union all
      select true where p_by_path and v.operation = 'purge'
        and filestore.is_receipt_seen(p_project_id, v.file_id, p_query)
    ) f
    where (v_run is null or v.run_id = v_run) and (v_actor is null or v.actor = v_actor)
      and (v_key_id is null or v.key_id = v_key_id) and (v_operation is null or v.operation = v_operation)
      and (v_until is null or v.created_at < v_until)
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
  'where fewer than p_picked_max pass; with newestFirst only for a page before a cursor, and only if more may follow.';
call filestore.grant_execute('filestore.pick_changes', 'filestore_engine');

create function filestore.change_records(
  p_project_id uuid, p_positions bigint[], p_cursor_key bytea, p_shows_keys boolean
) returns json
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
begin
  return (
    select ('[' || coalesce(string_agg('{"cursor":"' || filestore.cursor_at(p_cursor_key, v.position)
        || '",' || coalesce('"path":' || to_json(f.path) || ',', '') || '"fileId":"' || v.file_id
        || '","version":' || v.version
        || ',"operation":"' || v.operation || '","size":' || v.size || ',"mimeType":' || to_json(v.mime_type)
        || case when v.is_deleted then ',"deleted":true' else '' end || ',"commitId":"' || v.commit_id || '"'
        || coalesce(',"runId":' || to_json(v.run_id), '') || coalesce(',"actor":' || to_json(v.actor), '')
        || coalesce(',"note":' || to_json(v.note), '')
        || case when p_shows_keys then coalesce(',"keyId":"' || v.key_id || '"', '') else '' end
        || case when s.path is null then ''
          else ',"from":{"path":' || to_json(s.path) || ',"version":' || v.source_version || '}' end
        || ',"createdAt":"' || to_char(v.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}',
      ',' order by i.number), '') || ']')::json
    from generate_subscripts(p_positions, 1) i (number)
    -- fence, all three: rows are looked up one by one.
    cross join lateral (
      select * from filestore.file_versions v
      where v.project_id = p_project_id and v.position = p_positions[i.number] and v.redacted_at is null offset 0
    ) v
    -- Of a purged file the receipt alone, to those who saw the file.
    cross join lateral (
      select f.path from filestore.files f where f.project_id = p_project_id and f.id = v.file_id
      union all
      select null from filestore.purged_files g
      where v.operation = 'purge' and g.project_id = p_project_id and g.file_id = v.file_id
      offset 0
    ) f
    left join lateral (
      select s.path from filestore.files s where s.project_id = p_project_id and s.id = v.source_file_id offset 0
    ) s on true);
end
$$;
comment on function filestore.change_records is
  'The entries of the feed at these positions, of the files that the key sees.';
call filestore.grant_execute('filestore.change_records', 'filestore_engine');

create function public.filestore_changes(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_limit constant integer := least((p_query ->> 'limit')::integer, (filestore.limits()).changes_limit_max);
  v_newest_first constant boolean := coalesce((p_query ->> 'newestFirst')::boolean, false);
  v_before constant text := p_query ->> 'before';
  -- A commit takes less than a minute from its time to its positions.
  v_until constant timestamptz := case when v_before <> 'now' and v_before !~ '^[0-9a-f]{32}$' then v_before end;
  -- The owner, who has no key, has this scope, too.
  v_shows_keys constant boolean := 'admin' = any (v_session.scopes);
  v_by_path constant boolean := v_session.path_prefix is not null or p_query ?| '{path,directory,place}';
  v_examined_max constant integer := case
    when v_by_path or v_until is not null or p_query ?| '{run,actor,keyId,operation}'
    then (filestore.limits()).changes_looked_at_max
    else v_limit + 1 end;
  v_after bigint := 0;
  v_last bigint;
  v_picked record;
  v_positions bigint[] := '{}';
  v_has_more boolean := false;
  v_cursor_key bytea;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  if p_query ? 'keyId' and not v_shows_keys then
    return (v_session.envelope || filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "admin"}'))::json;
  end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_project_id;
  if p_query ->> 'after' <> 'now' then
    v_after := filestore.position_of(v_cursor_key, p_query ->> 'after');
    if v_after is null then
      return (v_session.envelope || filestore.refusal('VALIDATION_ERROR',
        '{"issues": [{"path": "after", "reason": "must be a cursor of this project, or now"}]}'))::json;
    end if;
  end if;
  if v_before ~ '^[0-9a-f]{32}$' and filestore.position_of(v_cursor_key, v_before) is null then
    return (v_session.envelope || filestore.refused_field('before', 'must be a cursor of this project'))::json;
  end if;
  -- Everything up to the end is visible to what follows.
  v_last := filestore.feed_end(v_project_id);
  if v_before ~ '^[0-9a-f]{32}$' then
    v_last := least(v_last, filestore.position_of(v_cursor_key, v_before) - 1);
  elsif v_until is not null then
    v_last := filestore.last_position_by(v_project_id, v_last, v_until + interval '1 minute');
  end if;
  v_last := filestore.last_position(v_project_id, v_after, v_last);
  if p_query ->> 'after' is distinct from 'now' then
    v_picked := filestore.pick_changes(
      v_project_id, p_query || jsonb_build_object('until', v_until), v_by_path, v_after, v_last, v_examined_max,
      v_limit + 1);
    v_has_more := cardinality(v_picked.positions) > v_limit or coalesce(v_picked.examined_to < v_last, false);
    v_positions := v_picked.positions[1:v_limit];
    if v_before is not null then
      v_last := coalesce(v_picked.examined_to, v_positions[cardinality(v_positions)], 0);
    elsif v_newest_first then
      v_positions := array(select p from unnest(v_positions) p order by p);
    elsif v_has_more then
      v_last := coalesce(v_picked.examined_to, v_positions[v_limit]);
    end if;
  end if;
  return filestore.page_response(v_session, json_build_object(
    'changes', filestore.change_records(v_project_id, v_positions, v_cursor_key, v_shows_keys),
    'cursor', filestore.cursor_at(v_cursor_key, v_last), 'hasMore', v_has_more, 'position', v_last));
end
$$;
comment on function public.filestore_changes is
  'One page of the change feed, of what the key may see. p_query: after (a cursor, or now for a cursor alone), limit, '
  'run, actor, keyId, path, directory, place (a path or a directory), operation; newestFirst for the last ones instead '
  'of the first; with it before (a cursor, now or a time) for those before it, the newest first, and the cursor that '
  'leads further back. "position" is where the cursor stands, for `filestore_newest_change`. '
  'Refusals: VALIDATION_ERROR.';
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
  'The position of the last version that followers can read; p_known where none is after it, for which one index entry '
  'is read.';
call filestore.publish('public.filestore_newest_change', 'filestore_admin', 'service_role');

-- Runs ----------------------------------------------------------------------------------------------------------------

create type filestore.run_file as (
  file_id uuid,
  path text,
  first_version integer,
  last_version integer,
  first_at timestamptz,
  last_at timestamptz,
  key_ids uuid[]
);
comment on type filestore.run_file is
  'What a run did with a file, and with which keys; all zeros stand for the console.';

create function filestore.run_keys(p_project_id uuid, p_run_id text) returns uuid[]
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  return array(
    with recursive keys (key_id) as (
      select c_none
      union all
      select n.key_id from keys k
      cross join lateral (
        select v.key_id from filestore.file_versions v
        where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id > k.key_id
        order by v.key_id limit 1
      ) n
    )
    select k.key_id from keys k
    where k.key_id <> c_none or exists (
      select from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id is null));
end
$$;
comment on function filestore.run_keys is
  'The keys with which versions of a run were made, all zeros for the console. Reads one index entry for each.';
call filestore.grant_execute('filestore.run_keys', 'filestore_engine');

create function filestore.run_file_after(
  p_project_id uuid, p_run_id text, p_key_id uuid, p_after uuid, p_from uuid,
  out file_id uuid, out first_version integer, out first_position bigint, out first_at timestamptz,
  out last_version integer, out last_at timestamptz
)
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
begin
  -- Twice, since a condition that is true of null as well would not be one of the index.
  if p_key_id = '00000000-0000-0000-0000-000000000000' then
    select v.file_id, v.version, v.position, v.created_at
    into file_id, first_version, first_position, first_at from filestore.file_versions v
    where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id is null
      and v.file_id > p_after and v.file_id >= p_from
    order by v.key_id, v.file_id, v.version limit 1;
    select v.version, v.created_at into last_version, last_at from filestore.file_versions v
    where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id is null
      and v.file_id = run_file_after.file_id
    order by v.key_id desc, v.file_id desc, v.version desc limit 1;
  else
    select v.file_id, v.version, v.position, v.created_at
    into file_id, first_version, first_position, first_at from filestore.file_versions v
    where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id = p_key_id
      and v.file_id > p_after and v.file_id >= p_from
    order by v.key_id, v.file_id, v.version limit 1;
    select v.version, v.created_at into last_version, last_at from filestore.file_versions v
    where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id = p_key_id
      and v.file_id = run_file_after.file_id
    order by v.key_id desc, v.file_id desc, v.version desc limit 1;
  end if;
end
$$;
comment on function filestore.run_file_after is
  'The next file after p_after, and not before p_from, of which a run made versions with a key, or all zeros for the '
  'console, with the first of these and the last. Reads two index entries.';
call filestore.grant_execute('filestore.run_file_after', 'filestore_engine');

create function filestore.run_files(
  p_project_id uuid, p_run_id text, p_key_ids uuid[], p_file_ids uuid[], p_after uuid,
  p_limit integer, out files filestore.run_file[], out is_complete boolean
)
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_examined_max constant integer := (filestore.limits()).run_files_examined_max;
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
  v_found filestore.run_file[] := '{}';
  v_key_id uuid;
  -- The last file that was looked at, and the next one that is asked for.
  v_after uuid;
  v_from uuid;
  v_place integer;
  v_examined integer;
  v_seen integer;
  v_next record;
  v_path text;
begin
  is_complete := true;
  foreach v_key_id in array p_key_ids loop
    v_after := coalesce(p_after, c_none);
    v_from := c_none;
    v_place := 1;
    v_examined := 0;
    v_seen := 0;
    while v_seen < p_limit loop
      if p_file_ids is not null then
        while p_file_ids[v_place] <= v_after loop v_place := v_place + 1; end loop;
        v_from := p_file_ids[v_place];
      end if;
      exit when v_from is null;
      v_next := filestore.run_file_after(p_project_id, p_run_id, v_key_id, v_after, v_from);
      exit when v_next.file_id is null;
      v_examined := v_examined + 1;
      if v_examined > c_examined_max then
        is_complete := false;
        exit;
      end if;
      v_after := v_next.file_id;
      if p_file_ids is not null then
        while p_file_ids[v_place] < v_after loop v_place := v_place + 1; end loop;
        continue when p_file_ids[v_place] is distinct from v_after;
      end if;
      select f.path into v_path from filestore.files f where f.project_id = p_project_id and f.id = v_after;
      continue when not found;
      v_seen := v_seen + 1;
      v_found := v_found || row (
        v_after, v_path, v_next.first_version, v_next.last_version, v_next.first_at, v_next.last_at,
        array[v_key_id])::filestore.run_file;
    end loop;
  end loop;
  files := array(
    select row (f.file_id, min(f.path), min(f.first_version), max(f.last_version), min(f.first_at), max(f.last_at),
      array_agg(f.key_ids[1] order by f.key_ids[1]))::filestore.run_file
    from unnest(v_found) f group by f.file_id order by f.file_id limit p_limit);
end
$$;
comment on function filestore.run_files is
  'Files with versions that a run made with these keys, in the order of their ids: those that the key sees, up to '
  'p_limit after p_after. With p_file_ids, which ascend, of these alone. Reads of each file and key the first '
  'version and the last. Incomplete where of so many that are looked at so few are seen.';
call filestore.grant_execute('filestore.run_files', 'filestore_engine');

create function filestore.whose(p_session filestore.session, p_key_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  return jsonb_build_object('own', p_key_ids = array[coalesce(p_session.key_id, c_none)])
    || case when 'admin' = any (p_session.scopes)
      then jsonb_build_object('keyIds', array_remove(p_key_ids, c_none)) else '{}' end;
end
$$;
comment on function filestore.whose is
  'With which keys something was made, as the wire shows it: which ones only to the owner, and to keys with admin.';
call filestore.grant_execute('filestore.whose', 'filestore_engine');

create type filestore.run_summary as (
  run_id text,
  file_count bigint,
  version_count bigint,
  first_at timestamptz,
  last_at timestamptz,
  actors text[],
  counted bigint,
  is_exact boolean
);
comment on type filestore.run_summary is
  'What the key sees of a run, and how many versions were counted for it. Where it has more, counts are what it has at '
  'least, and times and actors those of what was looked at.';

create function filestore.summarize_run(p_project_id uuid, p_run_id text, p_is_confined boolean)
returns filestore.run_summary
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_counted_max constant integer := (filestore.limits()).run_versions_counted_max;
  v_run filestore.run_summary;
  v_files filestore.run_file[];
begin
  -- The index of runs has all that is asked for.
  select p_run_id, count(f.is_seen), coalesce(sum(g.versions) filter (where f.is_seen), 0),
         min(g.first_at) filter (where f.is_seen), max(g.last_at) filter (where f.is_seen), null, sum(g.versions)
  into v_run
  from (
    select l.file_id, count(*) as versions, min(l.created_at) as first_at, max(l.created_at) as last_at
    from (
      select v.file_id, v.created_at from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id
      order by v.key_id, v.file_id, v.version limit c_counted_max + 1
    ) l
    group by l.file_id
  ) g
  left join lateral (
    select true where not p_is_confined
    union all
    select true from filestore.files f where p_is_confined and f.project_id = p_project_id and f.id = g.file_id
  ) f (is_seen) on true;
  v_run.is_exact := coalesce(v_run.counted, 0) <= c_counted_max;
  if not v_run.is_exact then
    v_files := (filestore.run_files(
      p_project_id, p_run_id, filestore.run_keys(p_project_id, p_run_id), null, null,
      (filestore.limits()).commit_files_max)).files;
    select greatest(v_run.file_count, count(*)), greatest(least(v_run.version_count, c_counted_max), count(*)),
           least(v_run.first_at, min(f.first_at)), greatest(v_run.last_at, max(f.last_at))
    into v_run.file_count, v_run.version_count, v_run.first_at, v_run.last_at
    from unnest(v_files) f;
  end if;
  if v_run.version_count = 0 then return v_run; end if;
  v_run.actors := array(
    select distinct l.actor from (
      select v.file_id, v.actor from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id
      order by v.key_id, v.file_id, v.version limit c_counted_max + 1
    ) l
    cross join lateral (
      select true where not p_is_confined
      union all
      select true from filestore.files f where p_is_confined and f.project_id = p_project_id and f.id = l.file_id
    ) f
    where l.actor is not null
    order by l.actor limit (filestore.limits()).run_actors_max);
  return v_run;
end
$$;
comment on function filestore.summarize_run is
  'A run, as its versions tell, up to a number of them from the index alone; none of them where the key sees none.';
call filestore.grant_execute('filestore.summarize_run', 'filestore_engine');

create function filestore.run_record(p_run filestore.run_summary) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'runId', (p_run).run_id, 'actors', to_jsonb((p_run).actors), 'fileCount', (p_run).file_count,
    'versionCount', (p_run).version_count, 'firstAt', filestore.iso((p_run).first_at),
    'lastAt', filestore.iso((p_run).last_at))
    || case when (p_run).is_exact then '{}'::jsonb else '{"countsAreExact": false}' end;
end
$$;
comment on function filestore.run_record is 'A run, as the wire shows it.';
call filestore.grant_execute('filestore.run_record', 'filestore_engine');

create function public.filestore_runs(p_key_hash text, p_request_id uuid, p_limit integer, p_after text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_before bigint;
  v_run record;
  v_summary filestore.run_summary;
  v_runs jsonb := '[]';
  v_looked_at integer := 0;
  v_counted bigint := 0;
  v_has_more boolean := false;
  v_cursor_key bytea;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_project_id;
  v_before := filestore.position_of(v_cursor_key, p_after);
  if p_after is not null and v_before is null then
    return v_session.envelope || filestore.refusal('VALIDATION_ERROR',
      '{"issues": [{"path": "after", "reason": "must be a cursor of this project"}]}');
  end if;
  for v_run in
    select r.run_id, r.first_position from filestore.runs r
    where r.project_id = v_project_id and r.first_position < coalesce(v_before, 9223372036854775807)
    order by r.project_id desc, r.first_position desc limit (filestore.limits()).runs_looked_at_max + 1
  loop
    -- A page ends early where counting has become too much work.
    v_has_more := jsonb_array_length(v_runs) >= p_limit or v_looked_at >= (filestore.limits()).runs_looked_at_max
      or v_counted >= (filestore.limits()).runs_counted_versions;
    exit when v_has_more;
    v_summary := filestore.summarize_run(v_project_id, v_run.run_id, v_session.path_prefix is not null);
    v_looked_at := v_looked_at + 1;
    v_counted := v_counted + coalesce(v_summary.counted, 0);
    v_before := v_run.first_position;
    if v_summary.version_count > 0 then v_runs := v_runs || filestore.run_record(v_summary); end if;
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'runs', v_runs, 'hasMore', v_has_more,
    'cursor', filestore.cursor_at(v_cursor_key, coalesce(v_before, 0))));
end
$$;
comment on function public.filestore_runs is
  'One page of the runs that the key sees something of, newest first: fewer than asked for, and more to come, where '
  'they have many versions, or the key sees nothing of many. Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_runs', 'filestore_engine', 'service_role');

create function public.filestore_run(
  p_key_hash text, p_request_id uuid, p_run_id text, p_limit integer, p_after uuid
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_summary filestore.run_summary;
  v_run record;
  v_files jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_summary := filestore.summarize_run(v_project_id, p_run_id, v_session.path_prefix is not null);
  if v_summary.version_count = 0 then return v_session.envelope || filestore.refusal('RUN_NOT_FOUND'); end if;
  v_run := filestore.run_files(
    v_project_id, p_run_id, filestore.run_keys(v_project_id, p_run_id), null, p_after, p_limit + 1);
  v_files := (
    select coalesce(jsonb_agg(jsonb_build_object(
      'path', f.path, 'fileId', f.file_id, 'firstVersion', f.first_version, 'lastVersion', f.last_version,
      'operation', v.operation) || filestore.whose(v_session, f.key_ids) order by f.file_id), '[]')
    from unnest(v_run.files) f
    -- fence: versions are looked up one by one.
    cross join lateral (
      select v.operation from filestore.file_versions v
      where v.project_id = v_project_id and v.file_id = f.file_id and v.version = f.last_version offset 0
    ) v);
  return v_session.envelope || jsonb_build_object('value', filestore.run_record(v_summary) || jsonb_build_object(
    'files', v_files - p_limit, 'hasMore', jsonb_array_length(v_files) > p_limit));
end
$$;
comment on function public.filestore_run is
  'A run, and files of it in the order of their ids. Refusals: RUN_NOT_FOUND, also where the key sees none of it.';
call filestore.publish('public.filestore_run', 'filestore_engine', 'service_role');
