-- Undoing a run, and restoring a folder to its state at a moment.

create function filestore.is_unchanged(p_file filestore.files, p_then filestore.files) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  c_ids constant uuid[] := (p_file).segment_ids;
  c_then_ids constant uuid[] := (p_then).segment_ids;
begin
  if not filestore.is_live(p_file) or not filestore.is_live(p_then) then
    return filestore.is_live(p_file) = filestore.is_live(p_then);
  elsif (p_file).version = (p_then).version and (p_file).id = (p_then).id then
    return true;
  elsif (p_file).mime_type <> (p_then).mime_type or (p_file).size <> (p_then).size
    or cardinality(c_ids) <> cardinality(c_then_ids) then
    return false;
  end if;
  return c_ids = c_then_ids or not exists (
    select from generate_subscripts(c_ids, 1) i (number)
    -- fence, both: segments are looked up one by one.
    cross join lateral (
      select s.size, s.sha256 from filestore.segments s
      where s.project_id = (p_file).project_id and s.id = c_ids[i.number] offset 0
    ) s
    cross join lateral (
      select o.size, o.sha256 from filestore.segments o
      where o.project_id = (p_file).project_id and o.id = c_then_ids[i.number] offset 0
    ) o
    where c_ids[i.number] <> c_then_ids[i.number] and (s.size <> o.size or s.sha256 <> o.sha256));
end
$$;
comment on function filestore.is_unchanged is
  'Whether a file equals an earlier state of it, or another file, in existence, type and content. Contents are '
  'compared by the sizes and checksums of their segments, so the same bytes with other segment boundaries count as '
  'different. Null: no file.';
call filestore.grant_execute('filestore.is_unchanged', 'filestore_engine');

create function filestore.revert_step(
  p_session filestore.session, p_file filestore.files, p_then filestore.files,
  out step filestore.step, out action jsonb, out refusal jsonb
)
language plpgsql stable set search_path = '' as $$
declare
  c_is_live constant boolean := filestore.is_live(p_then);
begin
  step := row ((p_file).id, (p_file).path, case when c_is_live
    then filestore.content_of(p_then) else filestore.tombstone_of(p_file) end);
  action := jsonb_build_object(
    'path', (p_file).path, 'action', case when c_is_live then 'restore' else 'delete' end,
    'from', (p_file).version, 'to', case when c_is_live then (p_then).version end);
  if c_is_live then
    refusal := filestore.too_large(p_session, (p_then).size, jsonb_build_object('path', (p_file).path));
  end if;
end
$$;
comment on function filestore.revert_step is
  'The version that restores an earlier state of a file, the same step as a plan shows it, and a refusal '
  'where the content is too large for the present limit.';
call filestore.grant_execute('filestore.revert_step', 'filestore_engine');

create function filestore.undo_files(
  p_session filestore.session, p_commit jsonb,
  out key_ids uuid[], out own_runs text[], out files filestore.run_file[], out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).commit_files_max;
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
  v_run_id constant text := p_commit ->> 'run';
  v_place integer := 0;
  v_undoing text collate "C";
  v_ids uuid[];
  v_run record;
begin
  key_ids := case jsonb_typeof(p_commit -> 'keys')
    when 'string' then array[coalesce(p_session.key_id, c_none)]
    -- All zeros stand for the console and are the id of no key.
    when 'array' then array_remove(array(
      select distinct k::uuid from jsonb_array_elements_text(p_commit -> 'keys') k), c_none)
    else filestore.run_keys(p_session.project_id, v_run_id) end;
  own_runs := array[v_run_id];
  while v_place < cardinality(own_runs) loop
    v_place := v_place + 1;
    v_undoing := '';
    -- The query jumps in the index from one undo to the next, since an undo has a version for each of its files.
    loop
      select v.run_id into v_undoing from filestore.file_versions v
      where v.project_id = p_session.project_id and v.undone_run_id = own_runs[v_place] and v.run_id > v_undoing
      order by v.undone_run_id, v.run_id limit 1;
      exit when not found;
      if v_undoing <> all (own_runs) then own_runs := own_runs || v_undoing; end if;
    end loop;
  end loop;
  v_ids := case when jsonb_typeof(p_commit -> 'paths') = 'array' then array(
    select f.id from jsonb_array_elements_text(p_commit -> 'paths') p (path)
    -- fence: files are looked up one by one.
    cross join lateral (
      select f.id from filestore.files f where f.project_id = p_session.project_id and f.path = p.path offset 0
    ) f
    order by f.id) end;
  v_run := filestore.run_files(p_session.project_id, v_run_id, key_ids, v_ids, null, c_files_max + 1);
  files := array(select f from unnest(v_run.files) f order by f.path collate "C");
  if cardinality(files) = 0 and (v_ids is null or cardinality((filestore.run_files(
    p_session.project_id, v_run_id, key_ids, null, null, 1)).files) = 0) then
    refusal := filestore.refusal('RUN_NOT_FOUND');
  elsif cardinality(files) > c_files_max or not v_run.is_complete then
    refusal := filestore.too_many_files(c_files_max + 1);
  end if;
end
$$;
comment on function filestore.undo_files is
  'The keys whose versions of a run an undo reverts (the caller''s own, those that the request names, or '
  'all); the run, the runs that have undone it, the runs that have undone those, and so on; and the files '
  'that the run has changed with these keys, by path. Refused: a run of which the key sees no file, and a '
  'run of too many files.';
call filestore.grant_execute('filestore.undo_files', 'filestore_engine');
call filestore.pin_plan('filestore.undo_files');

create function filestore.split_moves(
  p_session filestore.session, p_run_id text, p_key_ids uuid[], p_ids uuid[]
) returns uuid[]
language sql stable set search_path = '' as $$
  select case when count(*) > (filestore.limits()).undo_versions_examined_max then p_ids
    else array_agg(distinct case when m.is_target then m.file_id else m.source_file_id end)
      filter (where m.source_file_id is not null and m.is_target <> m.is_source) end
  from (
    select l.file_id, l.source_file_id, l.file_id in (select unnest(p_ids)) as is_target,
           l.source_file_id in (select unnest(p_ids)) as is_source
    from (
      select v.file_id, v.source_file_id from filestore.file_versions v
      where v.project_id = (p_session).project_id and v.run_id = p_run_id and v.operation = 'move'
        and v.key_id = any (p_key_ids)
      order by v.file_id, v.version limit (filestore.limits()).undo_versions_examined_max + 1
    ) l
  ) m
$$;
comment on function filestore.split_moves is
  'The given files that the run moved, with these keys, from or to a file that is not among them; all given '
  'files where there are too many moves to examine.';
call filestore.grant_execute('filestore.split_moves', 'filestore_engine');
call filestore.pin_plan('filestore.split_moves');

create function filestore.conflict_of(
  p_session filestore.session, p_file filestore.files, p_of_run filestore.run_file, p_run_id text, p_key_ids uuid[],
  p_own_runs text[], p_is_split boolean, p_is_erased boolean, p_examinable integer,
  out conflict jsonb, out examined integer
)
language plpgsql volatile set search_path = '' as $$
declare
  c_console constant uuid := '00000000-0000-0000-0000-000000000000';
  c_first constant integer := (p_of_run).first_version;
  v_version filestore.file_versions;
  v_reason text;
begin
  examined := 0;
  if p_is_erased then
    v_version.version := c_first - 1;
    v_reason := 'gone';
  else
    select l.* into v_version from (
      select v.* from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = (p_file).id
        and v.version > c_first and v.version <= (p_file).version
      order by v.version desc limit p_examinable
    ) l
    where not (l.run_id is not distinct from p_run_id and l.key_id = any (p_key_ids))
      and (l.undone_run_id is null or l.undone_run_id <> all (p_own_runs))
    order by l.version desc limit 1;
    examined := case when found then (p_file).version - v_version.version + 1
      else least((p_file).version - c_first, p_examinable) end;
    if not found and (p_file).version - c_first > p_examinable then
      v_reason := 'unexamined';
      select * into v_version from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = (p_file).id
        and v.version = (p_file).version - p_examinable;
    elsif not found and p_is_split then
      v_reason := 'moved';
      select * into v_version from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = (p_file).id and v.version >= c_first
        and v.run_id = p_run_id and v.operation = 'move' and v.key_id = any (p_key_ids)
      order by v.version limit 1;
    end if;
  end if;
  if v_version.version is null then return; end if;
  conflict := jsonb_build_object(
    'path', (p_file).path, 'version', v_version.version, 'actor', v_version.actor, 'runId', v_version.run_id)
    || jsonb_strip_nulls(jsonb_build_object(
      'own', v_version.key_id = coalesce(p_session.key_id, c_console), 'reason', v_reason,
      'keyId', case when v_version.key_id <> c_console and 'admin' = any (p_session.scopes) then v_version.key_id end));
end
$$;
comment on function filestore.conflict_of is
  'The version that keeps a file from being restored to its state before the run, as a plan shows it, or '
  'null: the last version since the run''s first one that was added neither by these keys in the run, nor by '
  'an undo of it, nor by an undo of that; otherwise the newest version beyond the p_examinable '
  'latest ones, or the half of a move whose other half stays; where the version before the run was erased, that '
  'version. examined: the number of versions read.';
call filestore.grant_execute('filestore.conflict_of', 'filestore_engine');

create function filestore.plan_undo(p_session filestore.session, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  v_run_id constant text := p_commit ->> 'run';
  v_on_conflict constant text := p_commit ->> 'onConflict';
  v_run constant record := filestore.undo_files(p_session, p_commit);
  v_split uuid[];
  v_plan filestore.plan;
  v_of_run filestore.run_file;
  v_file filestore.files;
  v_base filestore.file_versions;
  v_then filestore.files;
  v_found record;
  v_reverted record;
  v_is_erased boolean;
  -- The number of versions that may still be read.
  v_left integer := (filestore.limits()).undo_versions_examined_max;
  -- A variable, since it is appended to in place; a field of the plan would be copied each time.
  v_steps filestore.step[] := '{}';
  v_actions jsonb[] := '{}';
  v_unchanged text[] := '{}';
  v_conflicts jsonb[] := '{}';
begin
  v_plan.refusal := v_run.refusal;
  v_plan.paths := array(select f.path from unnest(v_run.files) f);
  if v_plan.refusal is not null then return v_plan; end if;
  v_split := filestore.split_moves(
    p_session, v_run_id, v_run.key_ids, array(select f.file_id from unnest(v_run.files) f));
  foreach v_of_run in array v_run.files loop
    select * into v_file from filestore.files f
    where f.project_id = p_session.project_id and f.id = v_of_run.file_id;
    -- The state before the run: no file, where the run added its first version.
    select * into v_base from filestore.file_versions v
    where v.project_id = p_session.project_id and v.file_id = v_file.id and v.version < v_of_run.first_version
    order by v.version desc limit 1;
    v_then := case when v_base.version is not null then filestore.at_version(v_file, v_base) end;
    v_is_erased := coalesce(v_base.version, 0) < v_of_run.first_version - 1
      or v_base.redacted_at is not null and not v_base.is_deleted;
    if not v_is_erased and filestore.is_unchanged(v_file, v_then) then
      v_unchanged := v_unchanged || v_file.path::text;
      continue;
    end if;
    v_found := filestore.conflict_of(
      p_session, v_file, v_of_run, v_run_id, v_run.key_ids, v_run.own_runs, v_file.id = any (v_split),
      v_is_erased, v_left);
    v_left := v_left - v_found.examined;
    if v_found.conflict is not null then
      v_conflicts := v_conflicts || v_found.conflict;
      continue when v_on_conflict <> 'overwrite' or v_is_erased;
    end if;
    v_reverted := filestore.revert_step(p_session, v_file, v_then);
    v_plan.refusal := coalesce(v_plan.refusal, v_reverted.refusal);
    v_steps := v_steps || v_reverted.step;
    v_actions := v_actions || (v_reverted.action || filestore.whose(p_session, v_of_run.key_ids));
  end loop;
  v_plan.new_paths := '{}';
  v_plan.steps := v_steps;
  if v_on_conflict = 'refuse' and cardinality(v_conflicts) > 0 and not (p_commit ->> 'dryRun')::boolean then
    v_plan.refusal := filestore.refusal('RUN_CONFLICT', jsonb_build_object('conflicts', to_jsonb(v_conflicts)));
  end if;
  v_plan.value := jsonb_build_object(
    'undoneRunId', v_run_id, 'actions', to_jsonb(v_actions), 'unchanged', to_jsonb(v_unchanged),
    'conflicts', to_jsonb(v_conflicts));
  return v_plan;
end
$$;
comment on function filestore.plan_undo is
  'The plan that undoes a run, or the versions of these keys in it: each of its files returns to its state '
  'before the first of these versions. A later version that these keys did not add in the run, nor an undo '
  'of the run, nor an undo of that, is a conflict; so is a file with more later versions than may be '
  'examined. Refusals: RUN_NOT_FOUND, TOO_MANY_FILES, RUN_CONFLICT, CONTENT_TOO_LARGE.';
call filestore.grant_execute('filestore.plan_undo', 'filestore_engine');

create function filestore.changed_since(
  p_session filestore.session, p_directory text, p_since timestamptz,
  out ids uuid[], out is_complete boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  c_examined_max constant integer := (filestore.limits()).restore_examined_max;
  v_start constant text := case when p_directory = '' then '' else p_directory || '/' end;
  v_end constant text := nullif(p_directory, '') || '0';
  v_examined integer;
begin
  -- Reads the files of the directory, unless it is large; then the files of the whole project that were
  -- changed last.
  select count(*), array_agg(f.id order by f.path) filter (where f.updated_at > p_since) into v_examined, ids
  from (
    (select o.id, o.path, o.updated_at from filestore.files o
     where o.project_id = p_session.project_id and o.version > 0
       and o.path > v_start and o.path < coalesce(v_end, '.branches/')
     order by o.path limit c_examined_max + 1)
    union all
    -- Branches are no part of the root.
    (select o.id, o.path, o.updated_at from filestore.files o
     where o.project_id = p_session.project_id and o.version > 0 and v_end is null and o.path >= '.branches0'
     order by o.path limit c_examined_max + 1)
  ) f;
  if v_examined > c_examined_max then
    select count(*),
           array_agg(f.id order by f.path) filter (
             where f.path > v_start and f.path < coalesce(v_end, '.branches/')
               or v_end is null and f.path >= '.branches0')
    into v_examined, ids
    from (
      (select o.id, o.path from filestore.files o
       where o.project_id = p_session.project_id and not o.is_deleted and o.updated_at > p_since
       order by o.updated_at limit c_examined_max + 1)
      union all
      (select o.id, o.path from filestore.files o
       where o.project_id = p_session.project_id and o.is_deleted and o.updated_at > p_since and o.version > 0
       order by o.updated_at limit c_examined_max + 1)
    ) f;
  end if;
  is_complete := v_examined <= c_examined_max;
  ids := coalesce(ids, '{}');
end
$$;
comment on function filestore.changed_since is
  'Files below a directory that were changed since a time, by path; incomplete where both ways to find them '
  'would examine too many files.';
call filestore.grant_execute('filestore.changed_since', 'filestore_engine');
call filestore.pin_plan('filestore.changed_since');

create function filestore.plan_restore(p_session filestore.session, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  v_directory constant text := p_commit ->> 'directory';
  v_moment constant filestore.moment := filestore.moment_of(p_session, p_commit ->> 'at');
  v_since timestamptz := v_moment.at;
  v_changed record;
  v_plan filestore.plan;
  v_id uuid;
  v_file filestore.files;
  v_then record;
  v_reverted record;
  -- A variable, since it is appended to in place; a field of the plan would be copied each time.
  v_paths text[] := '{}';
  v_steps filestore.step[] := '{}';
  v_actions jsonb[] := '{}';
  v_unchanged text[] := '{}';
  v_trimmed text[] := '{}';
begin
  v_plan.refusal := coalesce(filestore.outside_prefix(p_session, v_directory || '/'), v_moment.refusal);
  if v_plan.refusal is not null then return v_plan; end if;
  if v_moment.position is not null then
    -- A commit takes its time before its positions, so a later position may have a slightly earlier time.
    select v.created_at - interval '1 minute' into v_since from filestore.file_versions v
    where v.project_id = p_session.project_id and v.position <= v_moment.position
    order by v.position desc limit 1;
    v_since := coalesce(v_since, '-infinity');
  end if;
  v_changed := filestore.changed_since(p_session, v_directory, v_since);
  if not v_changed.is_complete then
    v_plan.refusal := filestore.too_many_files((filestore.limits()).restore_examined_max + 1);
    return v_plan;
  end if;
  foreach v_id in array v_changed.ids loop
    select * into v_file from filestore.files f where f.project_id = p_session.project_id and f.id = v_id;
    v_then := filestore.file_at(v_file, v_moment);
    continue when v_file.id is null or v_file.version = (v_then.file).version;
    v_paths := v_paths || v_file.path::text;
    if v_then.is_trimmed or v_then.is_redacted and filestore.is_live(v_then.file) then
      v_trimmed := v_trimmed || v_file.path;
      continue;
    end if;
    if filestore.is_unchanged(v_file, v_then.file) then
      v_unchanged := v_unchanged || v_file.path;
    else
      v_reverted := filestore.revert_step(p_session, v_file, v_then.file);
      v_plan.refusal := coalesce(v_plan.refusal, v_reverted.refusal);
      v_steps := v_steps || v_reverted.step;
      v_actions := v_actions || v_reverted.action;
      if cardinality(v_actions) > (filestore.limits()).commit_files_max then
        v_plan.refusal := filestore.too_many_files(cardinality(v_actions));
        exit;
      end if;
    end if;
  end loop;
  v_plan.paths := v_paths;
  v_plan.new_paths := '{}';
  v_plan.steps := v_steps;
  v_plan.value := jsonb_build_object(
    'undoneRunId', null, 'actions', to_jsonb(v_actions), 'unchanged', to_jsonb(v_unchanged), 'conflicts', '[]'::jsonb)
    || case when cardinality(v_trimmed) > 0 then jsonb_build_object('trimmed', v_trimmed) else '{}'::jsonb end;
  return v_plan;
end
$$;
comment on function filestore.plan_restore is
  'The plan that restores a folder to its state at a moment: a version for each file that was changed since '
  'then and now differs. Refusals: FORBIDDEN_SCOPE, VALIDATION_ERROR, TOO_MANY_FILES, CONTENT_TOO_LARGE.';
call filestore.grant_execute('filestore.plan_restore', 'filestore_engine');
