-- Commits: every change of a file adds one version to it.
--
-- Lock order, everywhere: a shard of the rate window, an idempotency key, links, file rows in the order of
-- their paths, possibly unreferenced segments, the project's row where an erasure blanks stored answers, the
-- row of a run that begins, a row of the usage. A commit does not wait for a shard or a row of the usage that
-- another commit holds, but uses another one. Near the limit it waits for a shard, and in a project with a
-- quota a commit that costs over 1 MiB locks all rows of the usage, in order.

create function filestore.sweep_clock() returns timestamptz
language plpgsql volatile set search_path = ''
as $$ begin return clock_timestamp(); end $$;
comment on function filestore.sweep_clock is 'The current time for the sweep; tests replace it.';
call filestore.grant_execute('filestore.sweep_clock', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.add_segments(
  p_project_id uuid, p_segments jsonb, out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  -- The sweep removes segments that were uploaded earlier and not committed.
  c_oldest constant date := (filestore.sweep_clock() at time zone 'UTC')::date - 1;
  v_added bigint;
begin
  bytes := 0;
  database_bytes := 0;
  if coalesce(p_segments, '[]') = '[]' then return; end if;
  with added as (
    insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
    select s.id, p_project_id, d.stored_on, s.size, decode(s.sha256, 'hex'), s.newlines, s."endsWithNewline",
           s."isText"
    from jsonb_to_recordset(p_segments) s (
      id uuid, name text, size integer, sha256 text, newlines integer, "endsWithNewline" boolean, "isText" boolean)
    cross join lateral (select to_date(split_part(s.name, '/', 2), 'YYYYMMDD')) d (stored_on)
    where d.stored_on >= c_oldest
    returning size
  )
  select count(*), sum(a.size) into v_added, bytes from added a;
  if v_added < jsonb_array_length(p_segments) then
    raise exception 'a segment was uploaded too long ago to be committed';
  end if;
  database_bytes := (filestore.limits()).tariff_segment_bytes * v_added;
end
$$;
comment on function filestore.add_segments is
  'Adds rows for uploaded segments, so that files may reference them, and returns the bytes that they count '
  'as towards the quota. Raises for an upload so old that the sweep may have removed it.';
call filestore.grant_execute('filestore.add_segments', 'filestore_engine');

create function filestore.lock_file(p_project_id uuid, p_path text) returns filestore.files
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files;
begin
  select * into v_file from filestore.files f where f.project_id = p_project_id and f.path = p_path for no key update;
  return v_file;
end
$$;
comment on function filestore.lock_file is
  'The file at a path, locked until the transaction ends; null if there is no file. The lock protects the '
  'addition of versions, not the identity of the file, which never changes: `for update` would also conflict '
  'with the foreign key checks of the first indexing of a file.';
call filestore.grant_execute('filestore.lock_file', 'filestore_engine');

create function filestore.lock_paths(
  p_project_id uuid, p_paths text[], p_new_paths text[], out missing text[], out committed_at timestamptz
)
language plpgsql volatile set search_path = '' as $$
declare
  v_path text;
  v_file filestore.files;
  v_now constant timestamptz := clock_timestamp();
begin
  missing := '{}';
  for v_path in select distinct p.path collate "C" from unnest(p_paths) p (path) order by 1 loop
    v_file := filestore.lock_file(p_project_id, v_path);
    if v_file.id is null and v_path = any (p_new_paths) then
      -- Waits for a commit that is creating the file.
      insert into filestore.files (
        project_id, path, version, mime_type, size, is_deleted, segment_ids, created_at, updated_at)
      values (p_project_id, v_path, 0, '', 0, true, '{}', v_now, v_now)
      on conflict (project_id, path) do nothing;
      continue when found;
      v_file := filestore.lock_file(p_project_id, v_path);
    end if;
    if v_file.id is null then missing := missing || v_path; end if;
    committed_at := greatest(committed_at, v_file.updated_at);
  end loop;
  committed_at := greatest(committed_at, date_trunc('milliseconds', clock_timestamp()));
end
$$;
comment on function filestore.lock_paths is
  'Locks the files at these paths, in the order of the paths, so that commits of several files cannot wait '
  'for each other. Each path of p_new_paths that has no file gets a row with version 0; the transaction then '
  'adds a version to it, or rolls back. Returns the other paths that have no file, and a time for the commit '
  'that is not before the last change of any of these files.';
call filestore.grant_execute('filestore.lock_paths', 'filestore_engine');

create function filestore.failed_precondition(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_is_live constant boolean := filestore.is_live(p_file);
  v_tag constant text := (p_file).id || '.' || (p_file).version;
  v_if_version constant integer := p_commit ->> 'ifVersion';
  v_code text;
begin
  -- "ifVersion" is the number that the file must be at, 0 for no file. "ifMatch" and "ifNoneMatch" are lists of
  -- "{fileId}.{version}", or ["*"]: any file at all.
  v_code := case
    when v_is_live and v_if_version = 0 then 'FILE_ALREADY_EXISTS'
    when v_if_version > 0 and not (v_is_live and v_if_version = (p_file).version) then 'PRECONDITION_FAILED'
    when p_commit ? 'ifMatch' and not (v_is_live and p_commit -> 'ifMatch' ?| array['*', v_tag])
      then 'PRECONDITION_FAILED'
    when v_is_live and p_commit -> 'ifNoneMatch' ? '*' then 'FILE_ALREADY_EXISTS'
    when v_is_live and p_commit -> 'ifNoneMatch' ? v_tag then 'PRECONDITION_FAILED' end;
  return case when v_code is not null
    then filestore.refusal(v_code, jsonb_build_object('version', nullif((p_file).version, 0))) end;
end
$$;
comment on function filestore.failed_precondition is
  'The refusal of a commit whose preconditions do not hold for the locked file; null where they hold.';
call filestore.grant_execute('filestore.failed_precondition', 'filestore_engine');

create function filestore.content_of(p_file filestore.files) returns filestore.next_version
language plpgsql immutable set search_path = '' as $$
begin
  return row (
    (p_file).segment_ids, (p_file).size, (p_file).mime_type, false, (p_file).is_text, (p_file).id, (p_file).version);
end
$$;
comment on function filestore.content_of is
  'A version with the content of the given file, which may be another file.';
call filestore.grant_execute('filestore.content_of', 'filestore_engine');

create function filestore.tombstone_of(p_file filestore.files) returns filestore.next_version
language plpgsql immutable set search_path = ''
as $$ begin return row ('{}', 0, (p_file).mime_type, true, true, null, null)::filestore.next_version; end $$;
comment on function filestore.tombstone_of is 'The version that marks a file as deleted.';
call filestore.grant_execute('filestore.tombstone_of', 'filestore_engine');

create function filestore.content_of_edit(
  p_file filestore.files, p_commit jsonb, out segment_ids uuid[], out size bigint, out is_text boolean,
  out refusal jsonb
)
language plpgsql stable set search_path = '' as $$
declare
  c_edited constant uuid[] := array(
    select r.value::uuid from jsonb_array_elements_text(p_commit -> 'segmentIds') with ordinality r (value, position)
    order by r.position);
  v_unknown bigint;
begin
  -- An operation of a batch edits the result of the operations before it, so it names the segment list
  -- instead of the version.
  if not coalesce(to_jsonb((p_file).segment_ids) = p_commit -> 'baseSegmentIds', (
    -- If the path was purged since then, it may have another file, with versions of the same numbers.
    (p_file).id = (p_commit ->> 'baseFileId')::uuid and (p_file).version = (p_commit ->> 'baseVersion')::integer
    -- If another compaction has replaced segments of a compaction since the file was read, they may be
    -- erased.
    and not exists (
      select e.id from unnest(c_edited) e (id)
      except select (s.value ->> 'id')::uuid from jsonb_array_elements(p_commit -> 'segments') s
      except select s.id from unnest((p_file).segment_ids) s (id)
      except select s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
        where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = (p_file).version))) then
    refusal := filestore.refusal('VERSION_CONFLICT', jsonb_build_object('version', (p_file).version));
    return;
  end if;
  select coalesce(array_agg(r.id order by r.position), '{}'),
         coalesce(sum(coalesce(kept.size, (added.value ->> 'size')::integer)), 0),
         coalesce(bool_and(coalesce(kept.is_text, (added.value ->> 'isText')::boolean)), true),
         count(*) filter (where kept.id is null and added.value is null)
  into segment_ids, size, is_text, v_unknown
  from unnest(c_edited) with ordinality as r (id, position)
  -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
  left join lateral (
    select s.id, s.size, s.is_text from filestore.segments s
    where s.id = r.id and s.project_id = (p_file).project_id offset 0
  ) kept on true
  left join jsonb_array_elements(p_commit -> 'segments') added on (added.value ->> 'id')::uuid = r.id;
  if v_unknown > 0 then raise exception 'the edit references segments that do not exist'; end if;
end
$$;
comment on function filestore.content_of_edit is
  'The content of the locked file after an edit. VERSION_CONFLICT where the version that was read is not the latest, '
  'or its segments were compacted since. Raises for a segment that is neither stored nor part of the commit.';
call filestore.grant_execute('filestore.content_of_edit', 'filestore_engine');

create type filestore.applied as (refusal jsonb, file filestore.files, cost bigint, versions integer);
comment on type filestore.applied is
  'The result of one operation: the refusal, or the file at its new version (null where another transaction '
  'has just created the file: lock that file and try again), the bytes that its rows count as towards the '
  'quota, and the number of added versions.';

create function filestore.put_version(
  p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version,
  p_operation text, p_commit jsonb
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files := p_file;
  v_version filestore.file_versions;
  v_provenance constant jsonb := p_commit -> 'provenance';
  v_position constant bigint := filestore.next_position(p_session.project_id);
  v_now constant timestamptz := coalesce(
    (p_commit ->> 'committedAt')::timestamptz,
    greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at));
begin
  if v_file.id is not null then
    update filestore.files f
    set version = f.version + 1, mime_type = p_next.mime_type, size = p_next.size, is_deleted = p_next.is_deleted,
        is_text = p_next.is_text, segment_ids = p_next.segment_ids, updated_at = v_now,
        created_at = case when f.version = 0 then v_now else f.created_at end
    where f.project_id = p_session.project_id and f.id = v_file.id
    returning * into v_file;
  else
    insert into filestore.files (
      project_id, path, version, mime_type, size, is_text, segment_ids, created_at, updated_at)
    values (
      p_session.project_id, p_path, 1, p_next.mime_type, p_next.size, p_next.is_text, p_next.segment_ids, v_now, v_now)
    on conflict (project_id, path) do nothing
    returning * into v_file;
    if not found then return null; end if;
  end if;
  insert into filestore.file_versions (
    project_id, file_id, version, mime_type, size, is_deleted, is_text, segment_ids, commit_id, position, operation,
    key_id, account_id, run_id, actor, note, source_file_id, source_version, undone_run_id, created_at)
  values (
    p_session.project_id, v_file.id, v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted,
    v_file.is_text, v_file.segment_ids, (p_commit ->> 'commitId')::uuid, v_position,
    p_operation::filestore.operation, coalesce(p_session.key_id, '00000000-0000-0000-0000-000000000000'),
    p_session.person_id, v_provenance ->> 'runId', v_provenance ->> 'actor', v_provenance ->> 'note',
    p_next.source_file_id, p_next.source_version,
    case when p_operation = 'undo' then p_commit ->> 'run' end, v_now)
  returning * into v_version;
  if p_next.source_file_id <> v_file.id then
    insert into filestore.shared_segments (project_id, segment_id, file_id)
    select p_session.project_id, s.id, f.id
    from unnest(p_next.segment_ids) s (id) cross join (values (p_next.source_file_id), (v_file.id)) f (id)
    on conflict do nothing;
  end if;
  return row (
    null, v_file,
    filestore.version_cost(v_version) + filestore.file_cost(v_file) - filestore.file_cost(p_file),
    1)::filestore.applied;
end
$$;
comment on function filestore.put_version is
  'Adds a version to a locked file, or creates the file. Null where another transaction has just created it. '
  'p_commit: commitId and provenance; run, for an undo; committedAt, for a commit of several files, not '
  'before the last change of any of them; by default it is now, or when the file was last changed. The cost '
  'is negative where less text is indexed than before.';
call filestore.grant_execute('filestore.put_version', 'filestore_engine');

create function filestore.queue_for_search() returns trigger
language plpgsql volatile set search_path = '' as $$
declare
  -- The shortest interval between two indexings of a file, so that a growing file is not indexed without
  -- pause: 9.4 s for the largest text that is indexed.
  c_rest constant interval := interval '1 second'
    + least(new.size, (filestore.limits()).search_text_bytes_max) * interval '8 microseconds';
begin
  -- A path that is only reserved, or a file that is purged. (As conditions of the triggers these would be
  -- parsed anew by each statement.)
  if new.version = 0 or new.path is null then return null; end if;
  insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at)
  values (new.project_id, new.id, new.version, new.path, new.size, greatest(clock_timestamp(), (
    select t.indexed_at + c_rest from filestore.search_texts t
    where t.project_id = new.project_id and t.file_id = new.id)))
  on conflict (project_id, file_id) do update
    set version = excluded.version, bytes = excluded.bytes, stage = 1, attempts = 0, lease_id = null,
        due_at = case when q.lease_id is null then least(q.due_at, excluded.due_at)
          else greatest(excluded.due_at, clock_timestamp() + c_rest) end;
  return null;
end
$$;
comment on function filestore.queue_for_search is
  'Marks a file as not indexed at its new version. A lease on an older version becomes invalid.';
call filestore.grant_execute('filestore.queue_for_search', 'filestore_engine');
create trigger queue_for_search after insert or update of version on filestore.files
  for each row execute function filestore.queue_for_search();

create function filestore.repeated_commit(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_commit_id constant uuid := p_commit ->> 'commitId';
  v_added filestore.file_versions;
begin
  if (p_file).id is null then return null; end if;
  select v.* into v_added
  from (
    -- fence: the planner must not flatten this; by the index of the file it would read all versions of the
    -- file. An ordered range instead of an equality, since without statistics the planner estimates the same
    -- cost for all versions of the project as for those of one commit.
    select * from filestore.file_versions c where c.commit_id >= v_commit_id and c.commit_id <= v_commit_id
    order by c.commit_id offset 0
  ) v where v.project_id = (p_file).project_id and v.file_id = (p_file).id;
  return case when found then jsonb_build_object('value', jsonb_build_object('file',
    filestore.file_record(filestore.at_version(p_file, v_added)) || coalesce(p_commit -> 'extra', '{}'))) end;
end
$$;
comment on function filestore.repeated_commit is
  'The result of an earlier attempt at this commit, or null. Called once the file is locked: that attempt '
  'has then ended.';
call filestore.grant_execute('filestore.repeated_commit', 'filestore_engine');

create function filestore.apply_to_file(
  p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_segments constant jsonb := p_commit -> 'segments';
  v_number constant integer := p_commit ->> 'version';
  v_applied filestore.applied;
  v_next filestore.next_version;
  v_source filestore.file_versions;
  v_edited record;
begin
  v_applied.refusal := case
    when p_kind = 'write' or filestore.is_live(p_file) or p_kind = 'restore' and (p_file).version > 0
    then filestore.failed_precondition(p_file, p_commit) else filestore.not_found(p_file) end;
  if v_applied.refusal is not null then return v_applied; end if;
  if jsonb_array_length(v_segments) = 1 then
    -- The case of most commits, without a query, which costs more than these expressions.
    v_next.segment_ids := array[(v_segments -> 0 ->> 'id')::uuid];
    v_next.size := (v_segments -> 0 ->> 'size')::bigint;
    v_next.is_text := (v_segments -> 0 ->> 'isText')::boolean;
  else
    select coalesce(array_agg((s.value ->> 'id')::uuid order by s.position), '{}'),
           coalesce(sum((s.value ->> 'size')::bigint), 0), coalesce(bool_and((s.value ->> 'isText')::boolean), true)
    into v_next.segment_ids, v_next.size, v_next.is_text
    from jsonb_array_elements(v_segments) with ordinality as s (value, position);
  end if;
  v_next.is_deleted := p_kind = 'delete';
  v_next.mime_type := coalesce(p_commit ->> 'mimeType', (p_file).mime_type);
  if p_kind = 'append' then
    v_next.segment_ids := (p_file).segment_ids || v_next.segment_ids;
    v_next.size := (p_file).size + v_next.size;
    v_next.is_text := v_next.is_text and (p_file).is_text;
    if cardinality(v_next.segment_ids) > (filestore.limits()).segment_list_max_base
      + (filestore.limits()).segment_list_max_per_mib * ((v_next.size + 1048575) / 1048576) then
      v_applied.refusal := filestore.refusal('SEGMENT_LIST_FULL') || jsonb_build_object(
        'segments', filestore.segment_list((p_file).project_id, (p_file).segment_ids));
    end if;
  elsif p_kind = 'edit' then
    v_edited := filestore.content_of_edit(p_file, p_commit);
    v_applied.refusal := v_edited.refusal;
    v_next.segment_ids := v_edited.segment_ids;
    v_next.size := v_edited.size;
    v_next.is_text := v_edited.is_text;
  elsif p_kind = 'restore' then
    select * into v_source from filestore.file_versions v
    where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = v_number;
    v_applied.refusal := coalesce(
      filestore.unreadable_version(p_file, v_number, v_source), case when v_source.is_deleted
        then filestore.refusal('VERSION_DELETED', jsonb_build_object('version', v_number)) end);
    v_next := filestore.content_of(filestore.at_version(p_file, v_source));
  end if;
  v_applied.refusal := coalesce(v_applied.refusal, filestore.too_large(p_session, v_next.size));
  if v_applied.refusal is not null then return v_applied; end if;
  return filestore.put_version(p_session, p_file, p_commit ->> 'path', v_next, p_kind, p_commit);
end
$$;
comment on function filestore.apply_to_file is
  'Adds one version to a locked file, or creates it: write, overwrite, append, edit, delete or restore.';
call filestore.grant_execute('filestore.apply_to_file', 'filestore_engine');

create function filestore.apply_to_two(
  p_session filestore.session, p_source filestore.files, p_target filestore.files, p_kind text, p_commit jsonb
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_left filestore.applied;
  v_applied filestore.applied;
begin
  if not filestore.is_live(p_source) then
    v_applied.refusal := filestore.not_found(p_source);
    return v_applied;
  end if;
  v_applied.refusal := filestore.failed_precondition(p_source, p_commit);
  if v_applied.refusal is not null then return v_applied; end if;
  if filestore.is_live(p_target) and not coalesce((p_commit ->> 'overwrite')::boolean, false) then
    v_applied.refusal := filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', p_target.version));
    return v_applied;
  end if;
  v_applied.refusal := filestore.too_large(p_session, p_source.size);
  if v_applied.refusal is not null then return v_applied; end if;
  if p_kind = 'move' then
    v_left := filestore.put_version(
      p_session, p_source, p_source.path, filestore.tombstone_of(p_source), p_kind, p_commit);
  end if;
  v_applied := filestore.put_version(
    p_session, p_target, p_commit ->> 'destination', filestore.content_of(p_source), p_kind, p_commit);
  v_applied.cost := v_applied.cost + coalesce(v_left.cost, 0);
  v_applied.versions := v_applied.versions + coalesce(v_left.versions, 0);
  return v_applied;
end
$$;
comment on function filestore.apply_to_two is
  'The current content of one locked file becomes the next version of another; a move also adds a tombstone, '
  'before that version. No bytes are copied.';
call filestore.grant_execute('filestore.apply_to_two', 'filestore_engine');

create function filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_check_every constant integer := (filestore.limits()).compaction_check_every_segments;
  v_file filestore.files;
  v_applied filestore.applied;
  v_added record;
  v_result jsonb;
begin
  loop
    v_file := filestore.lock_file(p_session.project_id, p_commit ->> 'path');
    v_result := filestore.repeated_commit(v_file, p_commit);
    if v_result is not null then return v_result; end if;
    v_applied := filestore.apply_to_file(p_session, v_file, p_kind, p_commit);
    if v_applied.refusal is not null then return v_applied.refusal; end if;
    exit when (v_applied.file).id is not null;
  end loop;
  v_added := filestore.add_segments(p_session.project_id, p_commit -> 'segments');
  v_result := filestore.end_commit(
    p_session, p_commit, v_added.bytes, v_applied.cost + v_added.database_bytes, 1, p_kind = 'delete');
  if v_result is not null then return v_result; end if;
  return jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record(v_applied.file) || coalesce(p_commit -> 'extra', '{}'),
    'segments', case
      when p_kind in ('append', 'edit') and cardinality((v_applied.file).segment_ids) / v_check_every
        > coalesce(cardinality(v_file.segment_ids), 0) / v_check_every
      then filestore.segment_list(p_session.project_id, (v_applied.file).segment_ids) end));
end
$$;
comment on function filestore.commit_version is
  'Adds one version to one file: write, overwrite, append, edit, delete or restore. Returns the new record and, when '
  'the file may be worth compacting, its segment list.';
call filestore.grant_execute('filestore.commit_version', 'filestore_engine');
