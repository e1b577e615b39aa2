-- Commits: every change of a file adds one version to it.
--
-- Lock order, everywhere: the rate row, an idempotency key, the paths of a copy or move, file rows, directory rows (the
-- root first), usage rows. The rows that many writers share come last, so that they are held for the shortest time.
-- (Where a project has a quota, whatever adds to its usage locks its usage row before the paths.)

-- Segments ------------------------------------------------------------------------------------------------------------

create function filestore.sweep_clock() returns timestamptz
language sql volatile
as $$ select clock_timestamp() $$;
comment on function filestore.sweep_clock is 'The current time for the sweep; tests replace it.';
call filestore.grant_execute('filestore.sweep_clock', 'filestore_admin', 'filestore_engine');

create function filestore.oldest_committable_day() returns date
language sql volatile
as $$ select (filestore.sweep_clock() at time zone 'UTC')::date - 1 $$;
comment on function filestore.oldest_committable_day is
  'Segments uploaded on an earlier day (UTC) are refused: the sweep removes the unreferenced ones among them.';
call filestore.grant_execute('filestore.oldest_committable_day', 'filestore_admin', 'filestore_engine');

create function filestore.add_segments(p_project_id uuid, p_segments jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
  select (s.value ->> 'id')::uuid, p_project_id, to_date(split_part(s.value ->> 'name', '/', 2), 'YYYYMMDD'),
         (s.value ->> 'size')::integer, decode(s.value ->> 'sha256', 'hex'), (s.value ->> 'newlines')::integer,
         (s.value ->> 'endsWithNewline')::boolean, (s.value ->> 'isText')::boolean
  from jsonb_array_elements(p_segments) s;
  if exists (
    select from jsonb_array_elements(p_segments) s
    where to_date(split_part(s.value ->> 'name', '/', 2), 'YYYYMMDD') < filestore.oldest_committable_day()
  ) then
    raise exception 'a segment was uploaded too long ago to be committed';
  end if;
end
$$;
comment on function filestore.add_segments is
  'Adds rows for uploaded segments, so that files may reference them. Raises for an upload so old that the sweep may '
  'have removed it.';
call filestore.grant_execute('filestore.add_segments', 'filestore_engine');

create function filestore.max_segments(p_size bigint) returns integer
language sql immutable as $$
  select (filestore.limits()).segment_list_max_base
    + (filestore.limits()).segment_list_max_per_mib * ((p_size + 1048575) / 1048576)::integer
$$;
comment on function filestore.max_segments is
  'How many segments a file of so many bytes may have, so that a read takes a bounded number of objects.';
call filestore.grant_execute('filestore.max_segments', 'filestore_engine');

-- Counts --------------------------------------------------------------------------------------------------------------

create function filestore.adjust_directory_counts(p_project_id uuid, p_directory text, p_change integer) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- The directory and its ancestors. Every transaction locks them in the same order, the root first.
  insert into filestore.directories as d (project_id, path, file_count, subtree_file_count)
  select p_project_id, a.path, greatest(p_change, 0) * (a.path = p_directory)::integer, greatest(p_change, 0)
  from (
    select '' collate "C" as path
    union all
    select array_to_string(parts[1:n], '/') collate "C"
    from string_to_array(nullif(p_directory, ''), '/') parts, generate_series(1, cardinality(parts)) n
    order by path
  ) a
  on conflict (project_id, path) do update
    set file_count = d.file_count + p_change * (d.path = p_directory)::integer,
        subtree_file_count = d.subtree_file_count + p_change;
end
$$;
comment on function filestore.adjust_directory_counts is
  'Counts a live file that was added to (1) or removed from (-1) a directory.';
call filestore.grant_execute('filestore.adjust_directory_counts', 'filestore_engine');

create function filestore.add_usage(
  p_session filestore.session, p_file_id uuid, p_bytes bigint, p_versions bigint
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.project_usage as u (project_id, shard, bytes, versions)
  values (
    p_session.project_id,
    case when p_session.max_project_bytes is null then hashtext(p_file_id::text) & 15 else 0 end,
    p_bytes, p_versions)
  on conflict (project_id, shard) do update
    set bytes = u.bytes + excluded.bytes, versions = u.versions + excluded.versions;
end
$$;
comment on function filestore.add_usage is
  'Adds to what the project uses. Without a quota the file decides which row, so that writers of other files do not '
  'wait.';
call filestore.grant_execute('filestore.add_usage', 'filestore_engine');

create function filestore.quota_left(p_session filestore.session) returns bigint
language plpgsql volatile set search_path = '' as $$
begin
  if p_session.max_project_bytes is null then return null; end if;
  -- Commits of a project with a quota take turns, so that the sum below is exact.
  insert into filestore.project_usage (project_id, shard) values (p_session.project_id, 0) on conflict do nothing;
  perform from filestore.project_usage u where u.project_id = p_session.project_id and u.shard = 0 for update;
  return p_session.max_project_bytes
    - (select sum(u.bytes) from filestore.project_usage u where u.project_id = p_session.project_id);
end
$$;
comment on function filestore.quota_left is 'Bytes the project may still store; null where it has no quota.';
call filestore.grant_execute('filestore.quota_left', 'filestore_engine');

-- One version of one file ---------------------------------------------------------------------------------------------

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
  'The file at a path, locked until the transaction ends; null where there is none. The lock is on the right to add a '
  'version, not on the identity, which never changes: `for update` would conflict with the foreign key checks of the '
  'first indexing of a file.';
call filestore.grant_execute('filestore.lock_file', 'filestore_engine');

create function filestore.failed_precondition(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_is_live constant boolean := filestore.is_live(p_file);
  v_tag constant text := (p_file).id || '.' || (p_file).version;
begin
  -- "ifMatch" and "ifNoneMatch" are lists of "{fileId}.{version}", or ["*"]: any file at all.
  if p_commit ? 'ifMatch' and not (v_is_live and (p_commit -> 'ifMatch' ? '*' or p_commit -> 'ifMatch' ? v_tag)) then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', (p_file).version));
  end if;
  if v_is_live and p_commit -> 'ifNoneMatch' ? '*' then
    return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', (p_file).version));
  end if;
  if v_is_live and p_commit -> 'ifNoneMatch' ? v_tag then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', (p_file).version));
  end if;
  return null;
end
$$;
comment on function filestore.failed_precondition is
  'The refusal of a commit whose If-Match or If-None-Match does not hold for the locked file; null where they hold.';
call filestore.grant_execute('filestore.failed_precondition', 'filestore_engine');

create type filestore.next_version as (
  segment_ids uuid[],
  size bigint,
  mime_type text,
  is_deleted boolean
);
comment on type filestore.next_version is 'What a new version is to contain.';

create function filestore.plan_version(
  p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb,
  out planned filestore.next_version, out refusal jsonb
)
language plpgsql stable set search_path = '' as $$
declare
  v_source filestore.file_versions;
  v_new_ids uuid[];
  v_new_bytes bigint;
  v_unknown bigint;
begin
  select coalesce(array_agg((s.value ->> 'id')::uuid order by s.position), '{}'),
         coalesce(sum((s.value ->> 'size')::bigint), 0)
  into v_new_ids, v_new_bytes
  from jsonb_array_elements(p_commit -> 'segments') with ordinality as s (value, position);

  planned.is_deleted := p_kind = 'delete';
  planned.mime_type := coalesce(p_commit ->> 'mimeType', (p_file).mime_type);
  case p_kind
    when 'write', 'overwrite', 'delete' then
      planned.segment_ids := v_new_ids;
      planned.size := v_new_bytes;
    when 'append' then
      planned.segment_ids := (p_file).segment_ids || v_new_ids;
      planned.size := (p_file).size + v_new_bytes;
      if cardinality(planned.segment_ids) > filestore.max_segments(planned.size) then
        refusal := filestore.refusal('SEGMENT_LIST_FULL') || jsonb_build_object(
          'segments', filestore.segment_list((p_file).project_id, (p_file).segment_ids));
      end if;
    when 'edit' then
      if (p_file).version <> (p_commit ->> 'baseVersion')::integer then
        refusal := filestore.refusal('VERSION_CONFLICT', jsonb_build_object('version', (p_file).version));
      end if;
      -- Segments of the base version and new ones, in the order of the edited file.
      select coalesce(array_agg(r.value::uuid order by r.position), '{}'),
             coalesce(sum(coalesce(kept.size, (added.value ->> 'size')::integer)), 0),
             count(*) filter (where kept.id is null and added.value is null)
      into planned.segment_ids, planned.size, v_unknown
      from jsonb_array_elements_text(p_commit -> 'segmentIds') with ordinality as r (value, position)
      -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
      left join lateral (
        select s.id, s.size from filestore.segments s
        where s.id = r.value::uuid and s.project_id = (p_file).project_id offset 0
      ) kept on true
      left join jsonb_array_elements(p_commit -> 'segments') added on added.value ->> 'id' = r.value;
      if v_unknown > 0 then
        raise exception 'the edit references segments that do not exist';
      end if;
    when 'restore' then
      select * into v_source from filestore.file_versions v
      where v.project_id = (p_file).project_id and v.file_id = (p_file).id
        and v.version = (p_commit ->> 'version')::integer;
      if not found then
        refusal := filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', (p_file).version));
      elsif v_source.is_deleted then
        refusal := filestore.refusal('VERSION_DELETED', jsonb_build_object('version', v_source.version));
      end if;
      planned.segment_ids := v_source.segment_ids;
      planned.size := v_source.size;
      planned.mime_type := v_source.mime_type;
  end case;
  -- Without a limit the comparison is null.
  if refusal is null and planned.size > p_session.max_file_bytes then
    refusal := filestore.refusal('CONTENT_TOO_LARGE', jsonb_build_object(
      'limitBytes', p_session.max_file_bytes, 'sizeBytes', planned.size, 'tier', p_session.tier));
  end if;
end
$$;
comment on function filestore.plan_version is 'What a commit would make of the locked file, or why it is refused.';
call filestore.grant_execute('filestore.plan_version', 'filestore_engine');

create function filestore.put_version(
  p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version, p_commit_id uuid
) returns filestore.files
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files := p_file;
  v_now constant timestamptz := greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at);
  v_change constant integer := (not p_next.is_deleted)::integer - filestore.is_live(p_file)::integer;
begin
  if v_file.id is not null then
    update filestore.files f
    set version = f.version + 1, mime_type = p_next.mime_type, size = p_next.size, is_deleted = p_next.is_deleted,
        segment_ids = p_next.segment_ids, updated_at = v_now
    where f.project_id = p_session.project_id and f.id = v_file.id
    returning * into v_file;
  else
    insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
    values (p_session.project_id, p_path, 1, p_next.mime_type, p_next.size, p_next.segment_ids, v_now, v_now)
    on conflict (project_id, path) do nothing
    returning * into v_file;
    if not found then return null; end if;
  end if;
  insert into filestore.file_versions (
    project_id, file_id, version, mime_type, size, is_deleted, segment_ids, commit_id, key_id, created_at)
  values (
    p_session.project_id, v_file.id, v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted,
    v_file.segment_ids, p_commit_id, p_session.key_id, v_now);
  if v_change <> 0 then
    perform filestore.adjust_directory_counts(p_session.project_id, v_file.directory, v_change);
  end if;
  return v_file;
end
$$;
comment on function filestore.put_version is
  'Adds a version to a locked file, or creates the file. Null where another transaction has just created it: lock '
  'that one and check again.';
call filestore.grant_execute('filestore.put_version', 'filestore_engine');

create function filestore.queue_for_search() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at)
  values (new.project_id, new.id, new.version, new.path, new.size, clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, bytes = excluded.bytes, stage = 1, attempts = 0, claim_id = null,
        -- Without a claim the file keeps its place: it is due already, or its next indexing is deferred.
        due_at = case when q.claim_id is null then greatest(q.due_at, excluded.due_at) else excluded.due_at end;
  return null;
end
$$;
comment on function filestore.queue_for_search is
  'Marks a file as not indexed at its new version. A claim on an older version is lost.';
call filestore.grant_execute('filestore.queue_for_search', 'filestore_engine');

create trigger queue_for_search_on_insert after insert on filestore.files
  for each row execute function filestore.queue_for_search();
create trigger queue_for_search_on_update after update of version on filestore.files
  for each row when (old.version is distinct from new.version) execute function filestore.queue_for_search();

create function filestore.commit_result(
  p_file filestore.files, p_extra jsonb, p_segments jsonb default null
) returns jsonb
language sql stable as $$
  select jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record((p_file).id, (p_file).path, (p_file).version, (p_file).mime_type, (p_file).size,
      (p_file).created_at, (p_file).updated_at)
      || case when (p_file).is_deleted then '{"deleted": true}'::jsonb else '{}'::jsonb end
      || coalesce(p_extra, '{}'::jsonb),
    'segments', p_segments))
$$;
comment on function filestore.commit_result is 'The result of a commit: the record with the caller''s extra fields.';
call filestore.grant_execute('filestore.commit_result', 'filestore_engine');

create function filestore.repeated_commit(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_file filestore.files := p_file;
begin
  select v.version, v.mime_type, v.size, v.is_deleted, v.created_at
  into v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted, v_file.updated_at
  from filestore.file_versions v
  where v.project_id = v_file.project_id and v.file_id = v_file.id and v.commit_id = (p_commit ->> 'commitId')::uuid;
  return case when found then filestore.commit_result(v_file, p_commit -> 'extra') end;
end
$$;
comment on function filestore.repeated_commit is
  'What an earlier attempt at this commit made, or null. Called once the file is locked, when that attempt has ended.';
call filestore.grant_execute('filestore.repeated_commit', 'filestore_engine');

create function filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_segments constant jsonb := coalesce(p_commit -> 'segments', '[]');
  v_commit constant jsonb := p_commit || jsonb_build_object('segments', v_segments);
  v_new_bytes constant bigint := (
    select coalesce(sum((s.value ->> 'size')::bigint), 0) from jsonb_array_elements(v_segments) s);
  v_quota_left constant bigint := filestore.quota_left(p_session);
  v_file filestore.files;
  v_refusal jsonb;
  v_next filestore.next_version;
  v_check_every constant integer := (filestore.limits()).compaction_check_every_segments;
  v_segments_before integer;
begin
  loop
    v_file := filestore.lock_file(p_session.project_id, v_path);
    v_refusal := filestore.repeated_commit(v_file, v_commit);
    if v_refusal is not null then return v_refusal; end if;
    if p_kind <> 'write' and not filestore.is_live(v_file) and not (p_kind = 'restore' and v_file.id is not null) then
      return filestore.not_found(v_file);
    end if;
    v_refusal := filestore.failed_precondition(v_file, v_commit);
    if v_refusal is not null then return v_refusal; end if;
    select (p.planned).segment_ids, (p.planned).size, (p.planned).mime_type, (p.planned).is_deleted, p.refusal
    into v_next.segment_ids, v_next.size, v_next.mime_type, v_next.is_deleted, v_refusal
    from filestore.plan_version(p_session, v_file, p_kind, v_commit) p;
    if v_refusal is not null then return v_refusal; end if;
    -- A commit that stores nothing is accepted even where the quota is exhausted.
    if v_new_bytes > 0 and v_new_bytes > v_quota_left then
      return filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.max_project_bytes));
    end if;
    v_segments_before := coalesce(cardinality(v_file.segment_ids), 0);
    v_file := filestore.put_version(p_session, v_file, v_path, v_next, (p_commit ->> 'commitId')::uuid);
    exit when v_file.id is not null;
  end loop;
  perform filestore.add_segments(p_session.project_id, v_segments);
  perform filestore.add_usage(p_session, v_file.id, v_new_bytes, 1);
  return filestore.commit_result(v_file, p_commit -> 'extra', case
    when p_kind in ('append', 'edit')
      and cardinality(v_file.segment_ids) / v_check_every > v_segments_before / v_check_every
    then filestore.segment_list(p_session.project_id, v_file.segment_ids) end);
end
$$;
comment on function filestore.commit_version is
  'Adds one version to one file: write, overwrite, append, edit, delete or restore. Returns the new record and, when '
  'the file may be worth compacting, its segment list.';
call filestore.grant_execute('filestore.commit_version', 'filestore_engine');

create function filestore.copy_file(p_session filestore.session, p_is_move boolean, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_destination constant text := p_commit ->> 'destination';
  v_source filestore.files;
  v_target filestore.files;
  v_refusal jsonb;
  v_lock bigint;
begin
  perform filestore.quota_left(p_session);
  -- Operations on two files that share a path run one after the other. Row locks cannot be taken in a fixed order while
  -- one of the paths is only being created.
  for v_lock in
    select distinct hashtextextended(p_session.project_id || '/' || l.path, 0)
    from unnest(array[v_path, v_destination]) l (path) order by 1
  loop
    perform pg_advisory_xact_lock(v_lock);
  end loop;
  loop
    v_source := filestore.lock_file(p_session.project_id, v_path);
    v_target := filestore.lock_file(p_session.project_id, v_destination);
    v_refusal := filestore.repeated_commit(v_target, p_commit);
    if v_refusal is not null then return v_refusal; end if;
    if not filestore.is_live(v_source) then return filestore.not_found(v_source); end if;
    v_refusal := filestore.failed_precondition(v_source, p_commit);
    if v_refusal is not null then return v_refusal; end if;
    if filestore.is_live(v_target) and not coalesce((p_commit ->> 'overwrite')::boolean, false) then
      return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', v_target.version));
    end if;
    if v_source.size > p_session.max_file_bytes then
      return filestore.refusal('CONTENT_TOO_LARGE', jsonb_build_object(
        'limitBytes', p_session.max_file_bytes, 'sizeBytes', v_source.size, 'tier', p_session.tier));
    end if;
    v_target := filestore.put_version(
      p_session, v_target, v_destination,
      row (v_source.segment_ids, v_source.size, v_source.mime_type, false)::filestore.next_version,
      (p_commit ->> 'commitId')::uuid);
    exit when v_target.id is not null;
  end loop;
  if p_is_move then
    v_source := filestore.put_version(
      p_session, v_source, v_path, row ('{}', 0, v_source.mime_type, true)::filestore.next_version,
      (p_commit ->> 'sourceCommitId')::uuid);
    perform filestore.add_usage(p_session, v_source.id, 0, 1);
  end if;
  perform filestore.add_usage(p_session, v_target.id, 0, 1);
  return filestore.commit_result(v_target, p_commit -> 'extra');
end
$$;
comment on function filestore.copy_file is
  'The current content of one path becomes the next version of another; a move leaves a tombstone. No bytes are '
  'copied.';
call filestore.grant_execute('filestore.copy_file', 'filestore_engine');

-- ---------------------------------------------------------------------------------------------------------------------
-- Safe retries. The key is taken and the response stored in the transaction of the commit.

create function filestore.stored_response(p_session filestore.session, p_idempotency jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row filestore.idempotency_keys;
begin
  select * into v_row from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and i.key = p_idempotency ->> 'key'
    and i.created_at > clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  if not found then return null; end if;
  if v_row.fingerprint <> decode(p_idempotency ->> 'fingerprint', 'hex') then
    return filestore.refusal('IDEMPOTENCY_KEY_REUSED');
  end if;
  return jsonb_build_object('value', jsonb_build_object('file', v_row.response, 'segments', null, 'isReplayed', true));
end
$$;
comment on function filestore.stored_response is
  'The response to the first request with this key, or the refusal of a different request with it; null where the key '
  'is new.';
call filestore.grant_execute('filestore.stored_response', 'filestore_engine');

create function filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_idempotency constant jsonb := p_commit -> 'idempotency';
  v_expired constant timestamptz :=
    clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  v_result jsonb;
begin
  if v_idempotency is not null then
    -- Expired keys of the project are removed a few at a time, by the requests that use keys.
    delete from filestore.idempotency_keys i
    where i.project_id = p_session.project_id and i.key in (
      select o.key from filestore.idempotency_keys o
      where o.project_id = p_session.project_id and o.created_at < v_expired
      order by o.created_at limit 10 for update skip locked);
    begin
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key'
        and i.created_at < v_expired;
      -- Waits for a running request with the same key, whose response is stored by then.
      insert into filestore.idempotency_keys (project_id, key, fingerprint, created_at)
      values (
        p_session.project_id, v_idempotency ->> 'key', decode(v_idempotency ->> 'fingerprint', 'hex'),
        clock_timestamp())
      on conflict do nothing;
      if not found then
        -- Null where the key has expired since.
        return coalesce(
          filestore.stored_response(p_session, v_idempotency), filestore.refusal('IDEMPOTENCY_KEY_IN_USE'));
      end if;
    exception when lock_not_available then
      return filestore.refusal('IDEMPOTENCY_KEY_IN_USE');
    end;
  end if;

  v_result := case
    when p_kind in ('copy', 'move') then filestore.copy_file(p_session, p_kind = 'move', p_commit)
    else filestore.commit_version(p_session, p_kind, p_commit) end;

  if v_idempotency is not null then
    if v_result ? 'refusal' then
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key';
    else
      update filestore.idempotency_keys i set response = v_result -> 'value' -> 'file'
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key';
    end if;
  end if;
  return v_result;
end
$$;
comment on function filestore.commit_idempotent is
  'Commits, or returns what the same request returned before. Refusals are not stored.';
call filestore.grant_execute('filestore.commit_idempotent', 'filestore_engine');

create function public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, coalesce(p_commit ->> 'destination', p_commit ->> 'path'))
    or not (p_kind = 'copy' or filestore.may_write(v_session, p_commit ->> 'path')) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  return v_session.envelope || filestore.commit_idempotent(v_session, p_kind, p_commit);
end
$$;
comment on function public.filestore_commit is
  'Adds a version. p_kind: write (creates the file where there is none), overwrite, append, edit, delete, restore, '
  'copy, move. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, VERSION_DELETED, VERSION_CONFLICT, PRECONDITION_FAILED, '
  'FILE_ALREADY_EXISTS, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, CONTENT_TOO_LARGE, QUOTA_EXCEEDED, '
  'SEGMENT_LIST_FULL.';
call filestore.publish('public.filestore_commit', 'filestore_engine', 'service_role');
