-- Runs: the versions that agents wrote with one run id.

create type filestore.run_file as (
  file_id uuid, path text, first_version integer, last_version integer, first_at timestamptz, last_at timestamptz,
  key_ids uuid[]
);
comment on type filestore.run_file is
  'The changes of a run to one file, and the keys that made them; all zeros stand for the console.';

create function filestore.run_keys(p_project_id uuid, p_run_id text) returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    with recursive keys (key_id) as (
      (select v.key_id from filestore.file_versions v
       where v.project_id = p_project_id and v.run_id = p_run_id order by v.key_id limit 1)
      union all
      select n.key_id from keys k
      cross join lateral (
        select v.key_id from filestore.file_versions v
        where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id > k.key_id
        order by v.key_id limit 1
      ) n
    )
    select k.key_id from keys k);
end
$$;
comment on function filestore.run_keys is
  'The keys with which versions of a run were written, all zeros for the console. Reads one index entry for '
  'each key.';
call filestore.grant_execute('filestore.run_keys', 'filestore_engine');
call filestore.pin_plan('filestore.run_keys');

create function filestore.run_files(
  p_project_id uuid, p_run_id text, p_key_ids uuid[], p_file_ids uuid[], p_after uuid,
  p_limit integer, out files filestore.run_file[], out is_complete boolean
)
language plpgsql stable set search_path = '' as $$
declare
  -- For each key that wrote in the run:
  c_examined_max constant integer := 10000;
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
  v_found filestore.run_file[] := '{}';
  v_key_id uuid;
  -- The last file that was examined, and the next one to examine.
  v_after uuid;
  v_from uuid;
  v_place integer;
  v_examined integer;
  v_seen integer;
  v_first record;
  v_last record;
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
      select v.file_id, v.version, v.created_at into v_first from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id = v_key_id
        and v.file_id > v_after and v.file_id >= v_from
      order by v.key_id, v.file_id, v.version limit 1;
      exit when not found;
      v_examined := v_examined + 1;
      if v_examined > c_examined_max then
        is_complete := false;
        exit;
      end if;
      v_after := v_first.file_id;
      if p_file_ids is not null then
        while p_file_ids[v_place] < v_after loop v_place := v_place + 1; end loop;
        continue when p_file_ids[v_place] is distinct from v_after;
      end if;
      select f.path into v_path from filestore.files f where f.project_id = p_project_id and f.id = v_after;
      continue when not found;
      v_seen := v_seen + 1;
      select v.version, v.created_at into v_last from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id = v_key_id and v.file_id = v_after
      order by v.key_id desc, v.file_id desc, v.version desc limit 1;
      v_found := v_found || row (
        v_after, v_path, v_first.version, v_last.version, v_first.created_at, v_last.created_at,
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
  'Files with versions that a run wrote with these keys, in the order of their ids: those that the key sees, '
  'up to p_limit after p_after. With p_file_ids, in ascending order, only these. For each file and key, it '
  'reads the first and the last version. Incomplete where the key sees few of the files that may be '
  'examined.';
call filestore.grant_execute('filestore.run_files', 'filestore_engine');
call filestore.pin_plan('filestore.run_files');

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
  'The keys that wrote a version, as the API returns them: their ids only to the owner, and to keys with the '
  'scope admin.';
call filestore.grant_execute('filestore.whose', 'filestore_engine');

create function filestore.run_undos(p_project_id uuid, p_run_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Versions of an undo that are examined to find one of a file that the key sees; and undos that are named.
  c_examined_max constant integer := 100;
  c_named_max constant integer := 20;
  v_undone_run_id text;
  v_undone_by text[];
begin
  select l.undone_run_id into v_undone_run_id from (
    select v.file_id, v.undone_run_id from filestore.file_versions v
    where v.project_id = p_project_id and v.run_id = p_run_id
    order by v.key_id, v.file_id, v.version limit c_examined_max
  ) l
  join filestore.files f on f.project_id = p_project_id and f.id = l.file_id limit 1;
  v_undone_by := array(
    with recursive undos (run_id) as (
      (select v.run_id from filestore.file_versions v
       where v.project_id = p_project_id and v.undone_run_id = p_run_id
       order by v.undone_run_id, v.run_id limit 1)
      union all
      select n.run_id from undos u
      cross join lateral (
        select v.run_id from filestore.file_versions v
        where v.project_id = p_project_id and v.undone_run_id = p_run_id and v.run_id > u.run_id
        order by v.undone_run_id, v.run_id limit 1
      ) n
    )
    select u.run_id from (select r.run_id from undos r limit c_named_max) u
    where not exists (
        select from filestore.file_versions v
        where v.project_id = p_project_id and v.undone_run_id = u.run_id)
      and exists (
        select from (
          select v.file_id from filestore.file_versions v
          where v.project_id = p_project_id and v.undone_run_id = p_run_id and v.run_id = u.run_id
          limit c_examined_max
        ) l
        join filestore.files f on f.project_id = p_project_id and f.id = l.file_id));
  return jsonb_strip_nulls(jsonb_build_object(
    'undoneRunId', v_undone_run_id, 'undoneBy', nullif(v_undone_by, '{}')));
end
$$;
comment on function filestore.run_undos is
  'The run that a run undoes, and the undos of it that have not been undone themselves, as the API returns '
  'them: those that changed files which the key sees.';
call filestore.grant_execute('filestore.run_undos', 'filestore_engine');
call filestore.pin_plan('filestore.run_undos');

create function filestore.summarize_run(
  p_project_id uuid, p_run_id text, p_is_confined boolean, out summary jsonb, out counted bigint
)
language plpgsql stable set search_path = '' as $$
declare
  c_counted_max constant integer := (filestore.limits()).run_versions_counted_max;
  v_files bigint;
  v_versions bigint;
  v_first_at timestamptz;
  v_last_at timestamptz;
  v_actors text[];
begin
  -- The index of runs contains all columns that are read.
  with changed as materialized (
    select l.file_id, count(*) as versions, min(l.created_at) as first_at, max(l.created_at) as last_at,
           array_agg(distinct l.actor) filter (where l.actor is not null) as actors
    from (
      select v.file_id, v.created_at, v.actor from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id
      order by v.key_id, v.file_id, v.version limit c_counted_max + 1
    ) l
    group by l.file_id
  ), seen as materialized (
    select g.* from changed g cross join lateral (
      select where not p_is_confined
      union all
      select from filestore.files f where p_is_confined and f.project_id = p_project_id and f.id = g.file_id
    ) f
  )
  select count(*), coalesce(sum(s.versions), 0), min(s.first_at), max(s.last_at),
         (select coalesce(sum(g.versions), 0) from changed g),
         array(select distinct a.actor from seen s cross join unnest(s.actors) a (actor)
           order by a.actor limit (filestore.limits()).run_actors_max)
  into v_files, v_versions, v_first_at, v_last_at, counted, v_actors from seen s;
  if counted > c_counted_max then
    select greatest(v_files, count(*)), greatest(least(v_versions, c_counted_max), count(*)),
           least(v_first_at, min(f.first_at)), greatest(v_last_at, max(f.last_at))
    into v_files, v_versions, v_first_at, v_last_at
    from unnest((filestore.run_files(
      p_project_id, p_run_id, filestore.run_keys(p_project_id, p_run_id), null, null,
      (filestore.limits()).commit_files_max)).files) f;
  end if;
  if v_versions = 0 then return; end if;
  summary := jsonb_build_object(
    'runId', p_run_id, 'fileCount', v_files, 'versionCount', v_versions, 'firstAt', filestore.iso(v_first_at),
    'lastAt', filestore.iso(v_last_at), 'actors', v_actors)
    || filestore.run_undos(p_project_id, p_run_id)
    || case when counted > c_counted_max then '{"countsAreExact": false}'::jsonb else '{}'::jsonb end;
end
$$;
comment on function filestore.summarize_run is
  'The part of a run that the key sees, as the API returns it, and the number of versions counted for it, '
  'from the index alone. Where the run has more versions than are counted, the counts are lower bounds, and '
  'times and actors are those of the versions that were read. Null where the key sees none of the run.';
call filestore.grant_execute('filestore.summarize_run', 'filestore_engine');
call filestore.pin_plan('filestore.summarize_run');

create function filestore.with_people(p_session filestore.session, p_runs jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if not filestore.sees_people(p_session) then return p_runs; end if;
  return (
    select coalesce(jsonb_agg(r.run || jsonb_build_object('accounts', (
        select coalesce(jsonb_agg(p.person order by p.person ->> 'email'), '[]')
        from (
          select distinct v.account_id
          from unnest(filestore.run_keys(p_session.project_id, r.run ->> 'runId')) k (id)
          cross join lateral (
            select l.account_id from filestore.file_versions l
            where l.project_id = p_session.project_id and l.run_id = r.run ->> 'runId' and l.key_id = k.id
            order by l.key_id, l.file_id, l.version
            limit (filestore.limits()).run_versions_named_max
          ) v
        ) d
        cross join lateral (select filestore.person(d.account_id)) p (person)
        where p.person is not null)) order by r.place), '[]')
    from jsonb_array_elements(p_runs) with ordinality r (run, place));
end
$$;
comment on function filestore.with_people is
  'Adds to runs, as the API returns them, the people who wrote in them: for people in the console, never for keys.';
call filestore.grant_execute('filestore.with_people', 'filestore_engine');
call filestore.pin_plan('filestore.with_people');

create function public.filestore_runs(p_key_hash text, p_request_id uuid, p_limit integer, p_after text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- A page examines at most this many runs, and stops once it has counted this many versions.
  c_examined_max constant integer := 1000;
  c_counted_max constant integer := 50000;
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_before bigint;
  v_run record;
  v_summary record;
  v_runs jsonb := '[]';
  v_examined integer := 0;
  v_counted bigint := 0;
  v_has_more boolean := false;
  v_cursor_key bytea;
  v_hides_files boolean;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_hides_files := filestore.hides_files(v_session);
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_project_id;
  v_before := filestore.position_of(v_cursor_key, p_after);
  if p_after is not null and v_before is null then
    return v_session.envelope || filestore.refused_field('after', 'must be a cursor of this project');
  end if;
  for v_run in
    select r.run_id, r.first_position from filestore.runs r
    where r.project_id = v_project_id and r.first_position < coalesce(v_before, 9223372036854775807)
    order by r.project_id desc, r.first_position desc limit c_examined_max + 1
  loop
    -- A page ends early where counting has become too much work.
    v_has_more := jsonb_array_length(v_runs) >= p_limit or v_examined >= c_examined_max
      or v_counted >= c_counted_max;
    exit when v_has_more;
    v_summary := filestore.summarize_run(v_project_id, v_run.run_id, v_hides_files);
    v_examined := v_examined + 1;
    v_counted := v_counted + v_summary.counted;
    v_before := v_run.first_position;
    if v_summary.summary is not null then v_runs := v_runs || v_summary.summary; end if;
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'runs', filestore.with_people(v_session, v_runs), 'hasMore', v_has_more,
    'cursor', filestore.cursor_at(v_cursor_key, coalesce(v_before, 0))));
end
$$;
comment on function public.filestore_runs is
  'One page of the runs of which the key sees a part, newest first. Where runs have many versions, or the '
  'key sees none of many runs, a page has fewer runs than requested although more follow. Refusals: '
  'VALIDATION_ERROR.';
call filestore.publish('public.filestore_runs', 'filestore_engine', 'service_role');

create function public.filestore_run(
  p_key_hash text, p_request_id uuid, p_run_id text, p_limit integer, p_after uuid
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_summary jsonb;
  v_run record;
  v_files jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_summary := (filestore.summarize_run(v_project_id, p_run_id, filestore.hides_files(v_session))).summary;
  if v_summary is null then return v_session.envelope || filestore.refusal('RUN_NOT_FOUND'); end if;
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
  v_summary := filestore.with_people(v_session, jsonb_build_array(v_summary)) -> 0;
  return v_session.envelope || jsonb_build_object('value', v_summary || jsonb_build_object(
    'files', v_files - p_limit, 'hasMore', jsonb_array_length(v_files) > p_limit));
end
$$;
comment on function public.filestore_run is
  'A run, and some of its files in the order of their ids. Refusals: RUN_NOT_FOUND, also where the key sees '
  'none of it.';
call filestore.publish('public.filestore_run', 'filestore_engine', 'service_role');
