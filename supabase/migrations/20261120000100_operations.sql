-- Purpose: the file operations. The functions in `public` are the whole interface of the database to the
-- function `api`: each one admits the key, counts the request and does one operation, in one transaction.
--
-- Answers are jsonb, of pages json, which is made faster: {"grant": {...}, "rate": {...}, "value": ...} or, instead of the value,
-- {"refusal": {"code": ..., "details": {...}}}. Refusals are results and not exceptions, so that a refused
-- request still counts. Whatever is refused has changed nothing else.
--
-- Functions in `public` and those in plpgsql pin an empty search_path. The short ones in SQL do not: with a setting of its
-- own a function cannot be inlined into the query that calls it. They name everything in full and run under their
-- callers' empty path; nobody else may execute them. They are `stable` where what they call is (to_char and
-- jsonb_build_object are), else they would not be inlined either. Whatever reads or writes a table is in plpgsql, which
-- keeps its plans for the session, where a function in SQL plans anew with every call.
--
-- Lock order, everywhere: the rate row, an idempotency key, the paths of a copy or move, file rows, directory rows (the
-- root first), usage rows. The rows that many writers share come last, to be held for the shortest time. (Where a project
-- has a quota, whatever adds to its usage takes its usage row before the paths.)

-- ---------------------------------------------------------------------------------------------------------------
-- Shapes

create function filestore.iso(p_time timestamptz) returns text
language sql stable
as $$ select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
comment on function filestore.iso(timestamptz) is 'ISO 8601, UTC, milliseconds, Z.';

create function filestore.file_record(
  p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at timestamptz, p_updated_at timestamptz
) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'id', p_id, 'path', p_path, 'version', p_version, 'mimeType', p_mime_type, 'size', p_size,
    'createdAt', filestore.iso(p_created_at), 'updatedAt', filestore.iso(p_updated_at))
$$;
comment on function filestore.file_record(uuid, text, integer, text, bigint, timestamptz, timestamptz) is 'A file at one version as the wire shows it.';

create function filestore.segment_list(p_project_id uuid, p_segment_ids uuid[]) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', s.id,
      'name', s.project_id || '/' || to_char(s.stored_on, 'YYYYMMDD') || '/' || s.id,
      'size', s.size, 'sha256', encode(s.sha256, 'hex'), 'newlines', s.newlines,
      'endsWithNewline', s.ends_with_newline, 'isText', s.is_text
    ) order by i.position), '[]'::jsonb)
    -- By number, since a rope's length would make every plan look worth making anew; and one by one, by the primary key:
    -- a plan that is kept must not read the whole table, which was small when it was made.
    from generate_subscripts(p_segment_ids, 1) as i (position)
    cross join lateral (
      select * from filestore.segments s where s.id = p_segment_ids[i.position] and s.project_id = p_project_id offset 0
    ) s);
end
$$;
comment on function filestore.segment_list(uuid, uuid[]) is 'The segments of a rope, in order.';

create function filestore.refusal(p_code text, p_details jsonb default '{}'::jsonb) returns jsonb
language sql stable
as $$ select jsonb_build_object('refusal', jsonb_build_object('code', p_code, 'details', p_details)) $$;
comment on function filestore.refusal(text, jsonb) is 'A no, with its code of the wire contract.';

-- ---------------------------------------------------------------------------------------------------------------
-- Authority

create type filestore.session as (
  project_id uuid,
  key_id uuid,
  tier text,
  max_file_bytes bigint,
  max_project_bytes bigint,
  -- What every answer carries: {"grant", "rate"}, and {"refusal"} where the request goes no further.
  envelope jsonb
);
comment on type filestore.session is 'An admitted (or refused) key, for the rest of the transaction.';

create function filestore.count_request(p_project_id uuid, p_limit integer, p_counted boolean) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_window_start timestamptz;
  v_count integer;
  v_admitted boolean := true;
begin
  if p_limit is null then
    return jsonb_build_object('admitted', true, 'rate', jsonb_build_object(
      'limit', null, 'remaining', null,
      'reset', extract(epoch from date_trunc('minute', clock_timestamp()) + interval '1 minute')::bigint));
  end if;
  if not p_counted then
    -- The clock is read once the row is locked, so windows only move forward.
    insert into filestore.rate_windows as w (project_id, window_start, request_count)
    values (p_project_id, date_trunc('minute', clock_timestamp()), 1)
    on conflict (project_id) do update
      set (window_start, request_count) = (
        select greatest(w.window_start, t.minute), case when w.window_start < t.minute then 1 else w.request_count + 1 end
        from (select date_trunc('minute', clock_timestamp()) as minute) t)
      where w.request_count < p_limit or w.window_start < date_trunc('minute', clock_timestamp())
    returning w.window_start, w.request_count into v_window_start, v_count;
    v_admitted := found;
  end if;
  if v_count is null then
    select w.window_start, w.request_count into v_window_start, v_count
    from filestore.rate_windows w where w.project_id = p_project_id;
  end if;
  v_window_start := coalesce(v_window_start, date_trunc('minute', clock_timestamp()));
  return jsonb_build_object('admitted', v_admitted, 'rate', jsonb_build_object(
    'limit', p_limit,
    'remaining', greatest(p_limit - coalesce(v_count, 0), 0),
    'reset', extract(epoch from v_window_start + interval '1 minute')::bigint));
end
$$;
comment on function filestore.count_request(uuid, integer, boolean) is 'Counts one request in the project''s window, unless that is done already; a full window admits nothing and counts nothing.';

create function filestore.admit(p_key_hash text, p_counted boolean) returns filestore.session
language plpgsql volatile set search_path = ''
as $$
declare
  v_session filestore.session;
  v_limit integer;
  v_last_used_at timestamptz;
  v_count jsonb;
begin
  perform set_config('lock_timeout', '2s', true);
  perform set_config('filestore.key_hash', p_key_hash, true);
  select k.id, k.project_id, k.last_used_at into v_session.key_id, v_session.project_id, v_last_used_at
  from filestore.api_keys k
  where k.key_hash = decode(p_key_hash, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp());
  if not found then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;
  perform set_config('filestore.project_id', v_session.project_id::text, true);

  select p.tier, coalesce(p.requests_per_minute, t.requests_per_minute), coalesce(p.max_file_bytes, t.max_file_bytes),
         coalesce(p.max_project_bytes, t.max_project_bytes)
  into strict v_session.tier, v_limit, v_session.max_file_bytes, v_session.max_project_bytes
  from filestore.projects p join filestore.tiers t on t.name = p.tier
  where p.id = v_session.project_id;

  v_count := filestore.count_request(v_session.project_id, v_limit, p_counted);
  v_session.envelope := jsonb_build_object(
    'rate', v_count -> 'rate',
    'grant', jsonb_build_object(
      'projectId', v_session.project_id, 'keyId', v_session.key_id, 'tier', v_session.tier,
      'maxFileBytes', v_session.max_file_bytes));
  if not (v_count ->> 'admitted')::boolean then
    v_session.envelope := v_session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
    return v_session;
  end if;

  if v_last_used_at is null or v_last_used_at < clock_timestamp() - interval '1 minute' then
    -- Not `for update`: that deadlocks with versions being inserted, whose foreign key locks the key's row.
    update filestore.api_keys k set last_used_at = clock_timestamp()
    where k.id = (select u.id from filestore.api_keys u where u.id = v_session.key_id for no key update skip locked);
  end if;
  return v_session;
end
$$;
comment on function filestore.admit(text, boolean) is 'Resolves a key to its project, opens that project''s rows for this transaction, and counts the request.';

-- ---------------------------------------------------------------------------------------------------------------
-- Commits

create function filestore.now() returns timestamptz
language sql volatile
as $$ select clock_timestamp() $$;
comment on function filestore.now() is 'The clock of the sweep: tests move it.';

create function filestore.oldest_committable_day() returns date
language sql volatile
as $$ select (filestore.now() at time zone 'UTC')::date - 1 $$;
comment on function filestore.oldest_committable_day() is 'Segments uploaded on an earlier day (UTC) are no longer accepted: the sweep removes those that nothing names.';

create function filestore.add_segments(p_project_id uuid, p_segments jsonb) returns void
language plpgsql volatile set search_path = ''
as $$
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
comment on function filestore.add_segments(uuid, jsonb) is 'Names uploaded segments, so that ropes may hold them. Raises for an upload so old that the sweep may have removed it.';

create function filestore.count_file(p_project_id uuid, p_directory text, p_change integer) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  -- The directory and all above it, the root first for everybody.
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
comment on function filestore.count_file(uuid, text, integer) is 'A live file came to (1) or went from (-1) a directory.';

create function filestore.count_usage(p_session filestore.session, p_file_id uuid, p_bytes bigint, p_versions bigint) returns void
language plpgsql volatile set search_path = ''
as $$
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
comment on function filestore.count_usage(filestore.session, uuid, bigint, bigint) is 'Adds to what the project uses. Without a quota the file decides the row, so that writers of other files do not wait.';

create function filestore.quota_left(p_session filestore.session) returns bigint
language plpgsql volatile set search_path = ''
as $$
begin
  if p_session.max_project_bytes is null then
    return null;
  end if;
  -- Commits of a project with a quota take turns, so that the sum below is exact.
  insert into filestore.project_usage (project_id, shard) values (p_session.project_id, 0) on conflict do nothing;
  perform from filestore.project_usage u where u.project_id = p_session.project_id and u.shard = 0 for update;
  return p_session.max_project_bytes
    - (select sum(u.bytes) from filestore.project_usage u where u.project_id = p_session.project_id);
end
$$;
comment on function filestore.quota_left(filestore.session) is 'Bytes the project may still store, null where it has no quota.';

create function filestore.max_segments(p_size bigint) returns integer
language sql immutable
as $$ select (128 + 2 * ((p_size + 1048575) / 1048576))::integer $$;
comment on function filestore.max_segments(bigint) is 'How many segments a rope of so many bytes may have, so that a read stays a bounded number of objects.';

create function filestore.lock_file(p_project_id uuid, p_path text) returns filestore.files
language plpgsql volatile set search_path = ''
as $$
declare
  v_file filestore.files;
begin
  select * into v_file from filestore.files f where f.project_id = p_project_id and f.path = p_path for update;
  return v_file;
end
$$;
comment on function filestore.lock_file(uuid, text) is 'The file at a path, locked until the transaction ends; null where there is none.';

create function filestore.is_live(p_file filestore.files) returns boolean
language sql immutable
as $$ select (p_file).id is not null and not (p_file).is_deleted $$;
comment on function filestore.is_live(filestore.files) is 'Whether there is a file, and its latest version is no tombstone.';

create function filestore.not_found(p_file filestore.files) returns jsonb
language sql stable
as $$
  select filestore.refusal('FILE_NOT_FOUND', case when (p_file).is_deleted
    then jsonb_build_object('deletedVersion', (p_file).version) else '{}'::jsonb end)
$$;
comment on function filestore.not_found(filestore.files) is 'There is no file, or none any more.';

create function filestore.broken_precondition(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
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
comment on function filestore.broken_precondition(filestore.files, jsonb) is 'The refusal of a commit whose If-Match or If-None-Match does not hold for the locked file; null where they hold.';

create type filestore.next_version as (
  rope uuid[],
  size bigint,
  mime_type text,
  is_deleted boolean
);
comment on type filestore.next_version is 'What a new version is to be.';

create function filestore.put_version(
  p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version, p_commit_id uuid
) returns filestore.files
language plpgsql volatile set search_path = ''
as $$
declare
  v_file filestore.files := p_file;
  v_now constant timestamptz := greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at);
  v_change constant integer := (not p_next.is_deleted)::integer - filestore.is_live(p_file)::integer;
begin
  if v_file.id is not null then
    update filestore.files f
    set version = f.version + 1, mime_type = p_next.mime_type, size = p_next.size, is_deleted = p_next.is_deleted,
        segment_ids = p_next.rope, updated_at = v_now
    where f.project_id = p_session.project_id and f.id = v_file.id
    returning * into v_file;
  else
    insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
    values (p_session.project_id, p_path, 1, p_next.mime_type, p_next.size, p_next.rope, v_now, v_now)
    on conflict (project_id, path) do nothing
    returning * into v_file;
    if not found then
      return null;
    end if;
  end if;
  insert into filestore.file_versions (
    project_id, file_id, version, mime_type, size, is_deleted, segment_ids, commit_id, key_id, created_at)
  values (
    p_session.project_id, v_file.id, v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted, v_file.segment_ids,
    p_commit_id, p_session.key_id, v_now);
  if v_change <> 0 then
    perform filestore.count_file(p_session.project_id, v_file.directory, v_change);
  end if;
  return v_file;
end
$$;
comment on function filestore.put_version(filestore.session, filestore.files, text, filestore.next_version, uuid) is 'Adds a version to a locked file, or creates the file. Null where somebody else has just created it: lock that one and look again.';

create function filestore.committed(p_file filestore.files, p_extra jsonb, p_rope jsonb default null) returns jsonb
language sql stable
as $$
  select jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record((p_file).id, (p_file).path, (p_file).version, (p_file).mime_type, (p_file).size,
      (p_file).created_at, (p_file).updated_at)
      || case when (p_file).is_deleted then '{"deleted": true}'::jsonb else '{}'::jsonb end
      || coalesce(p_extra, '{}'::jsonb),
    'rope', p_rope))
$$;
comment on function filestore.committed(filestore.files, jsonb, jsonb) is 'The answer of a commit: the record, with what the caller wants said along with it.';

create function filestore.repeated_commit(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_file filestore.files := p_file;
begin
  select v.version, v.mime_type, v.size, v.is_deleted, v.created_at
  into v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted, v_file.updated_at
  from filestore.file_versions v
  where v.project_id = v_file.project_id and v.file_id = v_file.id and v.commit_id = (p_commit ->> 'commitId')::uuid;
  return case when found then filestore.committed(v_file, p_commit -> 'extra') end;
end
$$;
comment on function filestore.repeated_commit(filestore.files, jsonb) is 'What the first try of this commit made, or null. Asked once the file is locked, when that try has ended.';

create function filestore.plan_version(
  p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb, out planned filestore.next_version, out refusal jsonb
)
language plpgsql stable set search_path = ''
as $$
declare
  v_source filestore.file_versions;
  v_new_ids uuid[];
  v_new_bytes bigint;
  v_unknown bigint;
begin
  select coalesce(array_agg((s.value ->> 'id')::uuid order by s.position), '{}'), coalesce(sum((s.value ->> 'size')::bigint), 0)
  into v_new_ids, v_new_bytes
  from jsonb_array_elements(p_commit -> 'segments') with ordinality as s (value, position);

  planned.is_deleted := p_kind = 'delete';
  planned.mime_type := coalesce(p_commit ->> 'mimeType', (p_file).mime_type);
  case p_kind
    when 'write', 'overwrite', 'delete' then
      planned.rope := v_new_ids;
      planned.size := v_new_bytes;
    when 'append' then
      planned.rope := (p_file).segment_ids || v_new_ids;
      planned.size := (p_file).size + v_new_bytes;
      if cardinality(planned.rope) > filestore.max_segments(planned.size) then
        refusal := filestore.refusal('ROPE_FULL') || jsonb_build_object(
          'rope', filestore.segment_list((p_file).project_id, (p_file).segment_ids));
      end if;
    when 'edit' then
      if (p_file).version <> (p_commit ->> 'baseVersion')::integer then
        refusal := filestore.refusal('VERSION_CONFLICT', jsonb_build_object('version', (p_file).version));
      end if;
      -- Of the base version's segments and the new ones, in the order the edit left them.
      select coalesce(array_agg(r.value::uuid order by r.position), '{}'),
             coalesce(sum(coalesce(kept.size, (added.value ->> 'size')::integer)), 0),
             count(*) filter (where kept.id is null and added.value is null)
      into planned.rope, planned.size, v_unknown
      from jsonb_array_elements_text(p_commit -> 'rope') with ordinality as r (value, position)
      left join lateral (
        select s.id, s.size from filestore.segments s
        where s.id = r.value::uuid and s.project_id = (p_file).project_id offset 0
      ) kept on true
      left join jsonb_array_elements(p_commit -> 'segments') added on added.value ->> 'id' = r.value;
      if v_unknown > 0 then
        raise exception 'the rope names segments that do not exist';
      end if;
    when 'restore' then
      select * into v_source from filestore.file_versions v
      where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = (p_commit ->> 'version')::integer;
      if not found then
        refusal := filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', (p_file).version));
      elsif v_source.is_deleted then
        refusal := filestore.refusal('VERSION_DELETED', jsonb_build_object('version', v_source.version));
      end if;
      planned.rope := v_source.segment_ids;
      planned.size := v_source.size;
      planned.mime_type := v_source.mime_type;
  end case;
  -- Without a limit this is null, and so is a refusal.
  if refusal is null and planned.size > p_session.max_file_bytes then
    refusal := filestore.refusal('CONTENT_TOO_LARGE', jsonb_build_object(
      'limitBytes', p_session.max_file_bytes, 'sizeBytes', planned.size, 'tier', p_session.tier));
  end if;
end
$$;
comment on function filestore.plan_version(filestore.session, filestore.files, text, jsonb) is 'What a commit would make of the locked file, or why it may not.';

create function filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_segments constant jsonb := coalesce(p_commit -> 'segments', '[]');
  v_commit constant jsonb := p_commit || jsonb_build_object('segments', v_segments);
  v_new_bytes constant bigint := (select coalesce(sum((s.value ->> 'size')::bigint), 0) from jsonb_array_elements(v_segments) s);
  v_quota_left constant bigint := filestore.quota_left(p_session);
  v_file filestore.files;
  v_refusal jsonb;
  v_next filestore.next_version;
  v_segments_before integer;
begin
  loop
    v_file := filestore.lock_file(p_session.project_id, v_path);
    v_refusal := filestore.repeated_commit(v_file, v_commit);
    if v_refusal is not null then
      return v_refusal;
    end if;
    if p_kind <> 'write' and not filestore.is_live(v_file) and not (p_kind = 'restore' and v_file.id is not null) then
      return filestore.not_found(v_file);
    end if;
    v_refusal := filestore.broken_precondition(v_file, v_commit);
    if v_refusal is not null then
      return v_refusal;
    end if;
    select (p.planned).rope, (p.planned).size, (p.planned).mime_type, (p.planned).is_deleted, p.refusal
    into v_next.rope, v_next.size, v_next.mime_type, v_next.is_deleted, v_refusal
    from filestore.plan_version(p_session, v_file, p_kind, v_commit) p;
    if v_refusal is not null then
      return v_refusal;
    end if;
    -- What stores nothing needs no quota, be it used up or over.
    if v_new_bytes > 0 and v_new_bytes > v_quota_left then
      return filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.max_project_bytes));
    end if;
    v_segments_before := coalesce(cardinality(v_file.segment_ids), 0);
    v_file := filestore.put_version(p_session, v_file, v_path, v_next, (p_commit ->> 'commitId')::uuid);
    exit when v_file.id is not null;
  end loop;
  perform filestore.add_segments(p_session.project_id, v_segments);
  perform filestore.count_usage(p_session, v_file.id, v_new_bytes, 1);
  return filestore.committed(v_file, p_commit -> 'extra', case
    when p_kind in ('append', 'edit') and cardinality(v_file.segment_ids) / 8 > v_segments_before / 8
    then filestore.segment_list(p_session.project_id, v_file.segment_ids) end);
end
$$;
comment on function filestore.commit_version(filestore.session, text, jsonb) is 'Adds one version to one file: write, overwrite, append, edit, delete or restore. Answers the new record and, now and then, the rope to be merged.';

create function filestore.copy_file(p_session filestore.session, p_is_move boolean, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_destination constant text := p_commit ->> 'destination';
  v_source filestore.files;
  v_target filestore.files;
  v_refusal jsonb;
  v_lock bigint;
begin
  perform filestore.quota_left(p_session);
  -- Whoever needs two files takes turns with whoever else needs two and one of these. Row locks have no order to be taken
  -- in while one of the paths is only being created.
  for v_lock in
    select distinct hashtextextended(p_session.project_id || '/' || l.path, 0) from unnest(array[v_path, v_destination]) l (path) order by 1
  loop
    perform pg_advisory_xact_lock(v_lock);
  end loop;
  loop
    v_source := filestore.lock_file(p_session.project_id, v_path);
    v_target := filestore.lock_file(p_session.project_id, v_destination);
    v_refusal := filestore.repeated_commit(v_target, p_commit);
    if v_refusal is not null then
      return v_refusal;
    end if;
    if not filestore.is_live(v_source) then
      return filestore.not_found(v_source);
    end if;
    v_refusal := filestore.broken_precondition(v_source, p_commit);
    if v_refusal is not null then
      return v_refusal;
    end if;
    if filestore.is_live(v_target) and not coalesce((p_commit ->> 'overwrite')::boolean, false) then
      return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', v_target.version));
    end if;
    if v_source.size > p_session.max_file_bytes then
      return filestore.refusal('CONTENT_TOO_LARGE', jsonb_build_object(
        'limitBytes', p_session.max_file_bytes, 'sizeBytes', v_source.size, 'tier', p_session.tier));
    end if;
    v_target := filestore.put_version(
      p_session, v_target, v_destination, row (v_source.segment_ids, v_source.size, v_source.mime_type, false)::filestore.next_version,
      (p_commit ->> 'commitId')::uuid);
    exit when v_target.id is not null;
  end loop;
  if p_is_move then
    v_source := filestore.put_version(
      p_session, v_source, v_path, row ('{}', 0, v_source.mime_type, true)::filestore.next_version,
      (p_commit ->> 'sourceCommitId')::uuid);
    perform filestore.count_usage(p_session, v_source.id, 0, 1);
  end if;
  perform filestore.count_usage(p_session, v_target.id, 0, 1);
  return filestore.committed(v_target, p_commit -> 'extra');
end
$$;
comment on function filestore.copy_file(filestore.session, boolean, jsonb) is 'The current content of one path becomes the next version of another; a move leaves a tombstone. No bytes move.';

-- ---------------------------------------------------------------------------------------------------------------
-- Safe retries. The key is taken and the answer stored in the transaction of the commit.

create function filestore.first_answer(p_session filestore.session, p_idempotency jsonb) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_row filestore.idempotency_keys;
begin
  select * into v_row from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and i.key = p_idempotency ->> 'key'
    and i.created_at > clock_timestamp() - interval '24 hours';
  if not found then
    return null;
  end if;
  if v_row.fingerprint <> decode(p_idempotency ->> 'fingerprint', 'hex') then
    return filestore.refusal('IDEMPOTENCY_KEY_REUSED');
  end if;
  return jsonb_build_object('value', jsonb_build_object('file', v_row.answer, 'rope', null, 'isReplayed', true));
end
$$;
comment on function filestore.first_answer(filestore.session, jsonb) is 'The answer that the first request with this key got, or the refusal of another request with it; null where the key is new.';

create function filestore.commit_once(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_idempotency constant jsonb := p_commit -> 'idempotency';
  v_answer jsonb;
begin
  if v_idempotency is not null then
    -- Old keys go first, a few at a time: whoever uses keys sweeps them.
    delete from filestore.idempotency_keys i
    where i.project_id = p_session.project_id and i.key in (
      select o.key from filestore.idempotency_keys o
      where o.project_id = p_session.project_id and o.created_at < clock_timestamp() - interval '24 hours'
      order by o.created_at limit 10 for update skip locked);
    begin
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key'
        and i.created_at < clock_timestamp() - interval '24 hours';
      -- Waits for a request that holds the same key; then its answer is there.
      insert into filestore.idempotency_keys (project_id, key, fingerprint, created_at)
      values (p_session.project_id, v_idempotency ->> 'key', decode(v_idempotency ->> 'fingerprint', 'hex'), clock_timestamp())
      on conflict do nothing;
      if not found then
        -- Null where the key came of age just now.
        return coalesce(filestore.first_answer(p_session, v_idempotency), filestore.refusal('IDEMPOTENCY_KEY_IN_USE'));
      end if;
    exception when lock_not_available then
      return filestore.refusal('IDEMPOTENCY_KEY_IN_USE');
    end;
  end if;

  v_answer := case
    when p_kind in ('copy', 'move') then filestore.copy_file(p_session, p_kind = 'move', p_commit)
    else filestore.commit_version(p_session, p_kind, p_commit) end;

  if v_idempotency is not null then
    if v_answer ? 'refusal' then
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key';
    else
      update filestore.idempotency_keys i set answer = v_answer -> 'value' -> 'file'
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key';
    end if;
  end if;
  return v_answer;
end
$$;
comment on function filestore.commit_once(filestore.session, text, jsonb) is 'Commits, or answers what the same request has made before. Refusals are not remembered.';

-- ---------------------------------------------------------------------------------------------------------------
-- Lists

create function filestore.page_answer(p_session filestore.session, p_page json) returns json
language sql stable
as $$
  select json_build_object(
    'grant', (p_session).envelope -> 'grant', 'rate', (p_session).envelope -> 'rate', 'value', p_page)
$$;
comment on function filestore.page_answer(filestore.session, json) is 'The envelope of a page. As json its records are text that is joined; as jsonb they would be taken apart and sorted again at every level.';

create function filestore.list_page(p_session filestore.session, p_query jsonb) returns json
language plpgsql volatile set search_path = ''
as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_directory constant text := p_query ->> 'directory';
  v_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_limit constant integer := (p_query ->> 'limit')::integer;
  v_offset constant integer := (p_query ->> 'offset')::integer;
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  v_scope text := 'f.project_id = $1 and ' || case when v_deleted then 'f.is_deleted' else 'not f.is_deleted' end;
  v_filters text := '';
  v_cursor text := '';
  v_order text;
  v_has_more boolean;
  v_total bigint;
  v_files json;
  v_directories json;
begin
  if not v_recursive then
    v_scope := v_scope || ' and f.directory = $2';
  elsif v_directory <> '' then
    -- Everything below `directory/`: `0` is the character after `/`.
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

  -- Column and direction come from this list, never from the request's text.
  v_order := case p_query ->> 'sortBy'
    when 'created_at' then 'f.created_at' when 'updated_at' then 'f.updated_at' when 'size' then 'f.size' else 'f.path' end
    || case p_query ->> 'sortOrder' when 'desc' then ' desc' else '' end
    || case when p_query ->> 'sortBy' <> 'path' then ', f.path' else '' end;

  if v_filters = '' and not v_deleted then
    select case when v_recursive then d.subtree_file_count else d.file_count end into v_total
    from filestore.directories d where d.project_id = v_project_id and d.path = v_directory;
    v_total := coalesce(v_total, 0);
  else
    execute format('select count(*) from filestore.files f where %s%s', v_scope, v_filters)
    into v_total using v_project_id, v_directory, p_query;
  end if;

  if p_query ->> 'after' is not null then
    v_cursor := case p_query ->> 'sortOrder' when 'desc' then $sql$ and f.path < $3 ->> 'after'$sql$
      else $sql$ and f.path > $3 ->> 'after'$sql$ end;
  end if;
  -- One more than the page: whether there is more.
  execute format(
    $sql$
      select coalesce(json_agg(json_build_object(
        'id', p.id, 'path', p.path, 'version', p.version, 'mimeType', p.mime_type, 'size', p.size,
        'createdAt', filestore.iso(p.created_at), 'updatedAt', filestore.iso(p.updated_at)%7$s)
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
  into v_files, v_has_more using v_project_id, v_directory, p_query;

  if not v_recursive and v_deleted then
    select coalesce(json_agg(c.name order by c.name), '[]') into v_directories
    from (
      select distinct split_part(substr(f.path, length(v_directory) + case when v_directory = '' then 1 else 2 end), '/', 1) collate "C" as name
      from filestore.files f
      where f.project_id = v_project_id and f.is_deleted and f.directory <> v_directory
        and (v_directory = '' or f.path >= v_directory || '/' and f.path < v_directory || '0')
      order by name limit 1000
    ) c;
  elsif not v_recursive then
    select coalesce(json_agg(c.name order by c.path), '[]') into v_directories
    from (
      select d.path, substring(d.path from '[^/]*$') as name
      from filestore.directories d
      where d.project_id = v_project_id and d.parent = v_directory and d.subtree_file_count > 0
      order by d.path limit 1000
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
comment on function filestore.list_page(filestore.session, jsonb) is 'One page of a directory. Without filters the total comes from the directory''s counts and no file row beyond the page is read.';

-- ---------------------------------------------------------------------------------------------------------------
-- One file

create function filestore.find_version(p_session filestore.session, p_path text, p_version integer, p_with_segments boolean) returns jsonb
language plpgsql volatile set search_path = ''
as $$
declare
  v_file filestore.files;
  v_version filestore.file_versions;
  v_record jsonb;
begin
  select * into v_file from filestore.files f where f.project_id = p_session.project_id and f.path = p_path;
  if not found then
    return filestore.not_found(v_file);
  end if;
  if p_version <> v_file.version then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_session.project_id and v.file_id = v_file.id and v.version = p_version;
    if not found then
      return filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', v_file.version));
    end if;
    v_file.version := v_version.version;
    v_file.mime_type := v_version.mime_type;
    v_file.size := v_version.size;
    v_file.is_deleted := v_version.is_deleted;
    v_file.updated_at := v_version.created_at;
    v_file.segment_ids := v_version.segment_ids;
  end if;
  if v_file.is_deleted then
    return filestore.not_found(v_file);
  end if;
  v_record := filestore.file_record(
    v_file.id, v_file.path, v_file.version, v_file.mime_type, v_file.size, v_file.created_at, v_file.updated_at);
  if not p_with_segments then
    return jsonb_build_object('value', v_record);
  end if;
  return jsonb_build_object('value', jsonb_build_object(
    'file', v_record, 'segments', filestore.segment_list(p_session.project_id, v_file.segment_ids)));
end
$$;
comment on function filestore.find_version(filestore.session, text, integer, boolean) is 'A file''s record, and its rope if wanted, at one version.';

-- ---------------------------------------------------------------------------------------------------------------
-- The interface. The secret key alone may call these; the API key's hash decides what they see.

create function public.filestore_admit(p_key_hash text, p_counted boolean, p_path text default null) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
  v_file filestore.files;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'file', case when filestore.is_live(v_file) then jsonb_build_object('version', v_file.version, 'size', v_file.size) end,
    'deletedVersion', case when v_file.is_deleted then v_file.version end));
end
$$;
comment on function public.filestore_admit(text, boolean, text) is 'Admits a key and counts the request; says whether a live file is at the path. Refusals: INVALID_API_KEY, RATE_LIMIT_EXCEEDED, as everywhere below.';

create function public.filestore_record(p_key_hash text, p_counted boolean, p_path text, p_version integer default null) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  return v_session.envelope || filestore.find_version(v_session, p_path, p_version, false);
end
$$;
comment on function public.filestore_record(text, boolean, text, integer) is 'The file record, of the latest or a given version. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND.';

create function public.filestore_content(
  p_key_hash text, p_counted boolean, p_path text, p_version integer default null, p_idempotency jsonb default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
  v_first_answer jsonb;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  if p_idempotency is not null then
    v_first_answer := filestore.first_answer(v_session, p_idempotency);
    if v_first_answer ? 'refusal' then
      return v_session.envelope || v_first_answer;
    elsif v_first_answer is not null then
      return v_session.envelope || jsonb_build_object('value', jsonb_build_object('answered', v_first_answer -> 'value' -> 'file'));
    end if;
  end if;
  return v_session.envelope || filestore.find_version(v_session, p_path, p_version, true);
end
$$;
comment on function public.filestore_content(text, boolean, text, integer, jsonb) is 'The file record and the segments of its content. With p_idempotency, of a write that reads first: what its first request was answered, if there was one. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, IDEMPOTENCY_KEY_REUSED.';

create function public.filestore_diff(p_key_hash text, p_counted boolean, p_path text, p_from integer default null, p_to integer default null) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
  v_file filestore.files;
  v_to integer;
  v_from integer;
  v_sides jsonb;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then
    return v_session.envelope || filestore.not_found(v_file);
  end if;
  v_to := coalesce(p_to, v_file.version);
  v_from := coalesce(p_from, v_to - 1);
  if v_to > v_file.version or v_from > v_file.version then
    return v_session.envelope || filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', v_file.version));
  end if;
  select jsonb_object_agg(v.version, jsonb_build_object(
    'size', v.size, 'mimeType', v.mime_type, 'segments', filestore.segment_list(v.project_id, v.segment_ids)))
  into v_sides
  from filestore.file_versions v
  where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version in (v_from, v_to);
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'path', v_file.path, 'from', v_from, 'to', v_to, 'before', v_sides -> v_from::text, 'after', v_sides -> v_to::text));
end
$$;
comment on function public.filestore_diff(text, boolean, text, integer, integer) is 'Two versions of a file, by default the last two; before the first one there is version 0, which is nothing. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND.';

create function public.filestore_versions(p_key_hash text, p_counted boolean, p_path text, p_limit integer, p_offset integer) returns json
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
  v_file filestore.files;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope::json;
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then
    return (v_session.envelope || filestore.refusal('FILE_NOT_FOUND'))::json;
  end if;
  -- Numbers are dense from 1, so the latest number is the total and a page is a range of numbers.
  return filestore.page_answer(v_session, json_build_object(
    'file', json_build_object('path', v_file.path, 'mimeType', v_file.mime_type),
    'versions', coalesce((
      select json_agg(case
          when v.is_deleted then json_build_object('version', v.version, 'size', v.size, 'createdAt', t.iso, 'updatedAt', t.iso, 'deleted', true)
          else json_build_object('version', v.version, 'size', v.size, 'createdAt', t.iso, 'updatedAt', t.iso)
        end order by v.version desc)
      from filestore.file_versions v
      cross join lateral (select filestore.iso(v.created_at) as iso offset 0) t
      where v.project_id = v_session.project_id and v.file_id = v_file.id
        and v.version <= v_file.version - p_offset and v.version > v_file.version::bigint - p_offset - p_limit), '[]'),
    'total', v_file.version, 'limit', p_limit, 'offset', p_offset));
end
$$;
comment on function public.filestore_versions(text, boolean, text, integer, integer) is 'One page of a file''s versions, newest first. Refusals: FILE_NOT_FOUND.';

create function public.filestore_list(p_key_hash text, p_counted boolean, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope::json;
  end if;
  return filestore.page_answer(v_session, filestore.list_page(v_session, p_query));
end
$$;
comment on function public.filestore_list(text, boolean, jsonb) is 'One page of a directory''s files. p_query: directory, recursive, limit, offset, sortBy, sortOrder and the filters.';

create function public.filestore_commit(p_key_hash text, p_counted boolean, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  return v_session.envelope || filestore.commit_once(v_session, p_kind, p_commit);
end
$$;
comment on function public.filestore_commit(text, boolean, text, jsonb) is 'Adds a version. p_kind: write (creates the file where there is none), overwrite, append, edit, delete, restore, copy, move. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, VERSION_DELETED, VERSION_CONFLICT, PRECONDITION_FAILED, FILE_ALREADY_EXISTS, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, CONTENT_TOO_LARGE, QUOTA_EXCEEDED, ROPE_FULL.';

create function public.filestore_merge(p_key_hash text, p_counted boolean, p_path text, p_run uuid[], p_merged jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_counted);
  v_file filestore.files;
  v_from integer;
  v_bytes bigint;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  perform filestore.quota_left(v_session);
  select * into v_file from filestore.files f
  where f.project_id = v_session.project_id and f.path = p_path and not f.is_deleted for update;
  v_from := array_position(v_file.segment_ids, p_run[1]);
  if v_from is null or v_file.segment_ids[v_from : v_from + cardinality(p_run) - 1] <> p_run then
    return v_session.envelope || jsonb_build_object('value', false);
  end if;
  select sum((s.value ->> 'size')::bigint) into v_bytes from jsonb_array_elements(p_merged) s;
  if v_bytes is distinct from (
    select sum(s.size) from unnest(p_run) r (id)
    cross join lateral (
      select * from filestore.segments s where s.id = r.id and s.project_id = v_session.project_id offset 0
    ) s
  ) then
    raise exception 'merged segments differ in size from the run they replace';
  end if;
  perform filestore.add_segments(v_session.project_id, p_merged);
  update filestore.files f
  set segment_ids = v_file.segment_ids[: v_from - 1]
    || (select array_agg((s.value ->> 'id')::uuid order by s.position)
        from jsonb_array_elements(p_merged) with ordinality as s (value, position))
    || v_file.segment_ids[v_from + cardinality(p_run) :]
  where f.project_id = v_session.project_id and f.id = v_file.id;
  perform filestore.count_usage(v_session, v_file.id, v_bytes, 0);
  return v_session.envelope || jsonb_build_object('value', true);
end
$$;
comment on function public.filestore_merge(text, boolean, text, uuid[], jsonb) is 'Replaces a run of adjacent segments in a file''s current rope by segments with the same bytes. Makes no version. False where the rope no longer holds the run.';

create function public.filestore_ping() returns boolean
language sql volatile security definer set search_path = ''
as $$ select true $$;
comment on function public.filestore_ping() is 'Whether the database answers; for GET /health?deep.';

-- ---------------------------------------------------------------------------------------------------------------
-- Ownership and privileges. A new owner needs CREATE on the schema for the moment of the change.

revoke all on all functions in schema filestore from public;
grant execute on all functions in schema filestore to filestore_engine;

revoke all on function
  public.filestore_admit(text, boolean, text),
  public.filestore_record(text, boolean, text, integer),
  public.filestore_content(text, boolean, text, integer, jsonb),
  public.filestore_versions(text, boolean, text, integer, integer),
  public.filestore_diff(text, boolean, text, integer, integer),
  public.filestore_list(text, boolean, jsonb),
  public.filestore_commit(text, boolean, text, jsonb),
  public.filestore_merge(text, boolean, text, uuid[], jsonb),
  public.filestore_ping()
from public, anon, authenticated;
grant execute on function
  public.filestore_admit(text, boolean, text),
  public.filestore_record(text, boolean, text, integer),
  public.filestore_content(text, boolean, text, integer, jsonb),
  public.filestore_versions(text, boolean, text, integer, integer),
  public.filestore_diff(text, boolean, text, integer, integer),
  public.filestore_list(text, boolean, jsonb),
  public.filestore_commit(text, boolean, text, jsonb),
  public.filestore_merge(text, boolean, text, uuid[], jsonb),
  public.filestore_ping()
to service_role;

grant create on schema public to filestore_engine;
alter function public.filestore_admit(text, boolean, text) owner to filestore_engine;
alter function public.filestore_record(text, boolean, text, integer) owner to filestore_engine;
alter function public.filestore_content(text, boolean, text, integer, jsonb) owner to filestore_engine;
alter function public.filestore_versions(text, boolean, text, integer, integer) owner to filestore_engine;
alter function public.filestore_diff(text, boolean, text, integer, integer) owner to filestore_engine;
alter function public.filestore_list(text, boolean, jsonb) owner to filestore_engine;
alter function public.filestore_commit(text, boolean, text, jsonb) owner to filestore_engine;
alter function public.filestore_merge(text, boolean, text, uuid[], jsonb) owner to filestore_engine;
alter function public.filestore_ping() owner to filestore_engine;
revoke create on schema public from filestore_engine;
