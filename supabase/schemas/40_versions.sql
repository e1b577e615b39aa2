-- Commits: every change of a file adds one version to it.
--
-- Lock order, everywhere: a shard of the rate window, an idempotency key, links, file rows in the order of their paths,
-- possibly unreferenced segments, the project's row where an erasure makes answers blank, the row of a run that begins,
-- a row of the usage. A commit does not wait for a shard or a row of the usage that another commit holds, but takes
-- another one. Near the limit it waits for a shard, and in a project with a quota a commit that costs over 1 MiB takes
-- all rows of the usage, in order.

-- Segments ------------------------------------------------------------------------------------------------------------

create function filestore.sweep_clock() returns timestamptz
language plpgsql volatile set search_path = ''
as $$ begin return clock_timestamp(); end $$;
comment on function filestore.sweep_clock is 'The current time for the sweep; tests replace it.';
call filestore.grant_execute('filestore.sweep_clock', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.oldest_committable_day() returns date
language plpgsql volatile set search_path = ''
as $$ begin return (filestore.sweep_clock() at time zone 'UTC')::date - 1; end $$;
comment on function filestore.oldest_committable_day is
  'Segments uploaded on an earlier day (UTC) are refused: the sweep removes the unreferenced ones among them.';
call filestore.grant_execute('filestore.oldest_committable_day', 'filestore_admin', 'filestore_engine');

create function filestore.add_segments(p_project_id uuid, p_segments jsonb) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_oldest constant date := filestore.oldest_committable_day();
  v_added integer;
begin
  insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
  select s.id, p_project_id, d.stored_on, s.size, decode(s.sha256, 'hex'), s.newlines, s."endsWithNewline", s."isText"
  from jsonb_to_recordset(p_segments) s (
    id uuid, name text, size integer, sha256 text, newlines integer, "endsWithNewline" boolean, "isText" boolean)
  cross join lateral (select to_date(split_part(s.name, '/', 2), 'YYYYMMDD')) d (stored_on)
  where d.stored_on >= v_oldest;
  get diagnostics v_added = row_count;
  if v_added < jsonb_array_length(p_segments) then
    raise exception 'a segment was uploaded too long ago to be committed';
  end if;
end
$$;
comment on function filestore.add_segments is
  'Adds rows for uploaded segments, so that files may reference them. Raises for an upload so old that the sweep may '
  'have removed it.';
call filestore.grant_execute('filestore.add_segments', 'filestore_engine');

create function filestore.max_segments(p_size bigint) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return (filestore.limits()).segment_list_max_base
    + (filestore.limits()).segment_list_max_per_mib * ((p_size + 1048575) / 1048576)::integer;
end
$$;
comment on function filestore.max_segments is
  'How many segments a file of so many bytes may have, so that a read takes a bounded number of objects.';
call filestore.grant_execute('filestore.max_segments', 'filestore_engine');

-- Usage ---------------------------------------------------------------------------------------------------------------

create function filestore.add_usage(
  p_project_id uuid, p_bytes bigint, p_database_bytes bigint, p_versions bigint
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_shards constant integer := (filestore.limits()).usage_shards;
begin
  update filestore.project_usage u
  set bytes = u.bytes + p_bytes, database_bytes = u.database_bytes + p_database_bytes,
      versions = u.versions + p_versions
  where u.project_id = p_project_id and u.shard = (
    select f.shard from filestore.project_usage f
    where f.project_id = p_project_id order by f.shard limit 1 for update skip locked);
  if found then return; end if;
  -- Creates a row that no other transaction is creating, or waits for one where others hold all of them.
  insert into filestore.project_usage as u (project_id, shard, bytes, database_bytes, versions)
  values (p_project_id, coalesce((
    select n.shard from (
      select g.shard from generate_series(0, c_shards - 1) g (shard)
      where not exists (
        select from filestore.project_usage o where o.project_id = p_project_id and o.shard = g.shard)
      offset 0
    ) n
    where pg_try_advisory_xact_lock(hashtextextended('usage/' || p_project_id || '/' || n.shard, 0)) limit 1
  ), floor(random() * c_shards)::integer), p_bytes, p_database_bytes, p_versions)
  on conflict (project_id, shard) do update
    set bytes = u.bytes + excluded.bytes, database_bytes = u.database_bytes + excluded.database_bytes,
        versions = u.versions + excluded.versions;
end
$$;
comment on function filestore.add_usage is
  'Adds to what a project uses, in a row that no other transaction holds. The last step of a commit or an erasure: a '
  'transaction that holds a row waits for nothing but other rows of the usage, in order.';
call filestore.grant_execute('filestore.add_usage', 'filestore_admin', 'filestore_engine');

create function filestore.shared_bytes(p_account_id uuid) returns bigint
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant text := coalesce(current_setting('filestore.project_id', true), '');
  v_project_id uuid;
  v_bytes bigint := 0;
begin
  perform set_config('filestore.account_id', p_account_id::text, true);
  for v_project_id in
    select p.id from filestore.projects p join filestore.tiers t on t.name = p.tier
    where p.owner_id = p_account_id and p.max_project_bytes is null and t.max_project_bytes is not null
  loop
    perform set_config('filestore.project_id', v_project_id::text, true);
    v_bytes := v_bytes + (
      select coalesce(sum(u.bytes + u.database_bytes), 0)
      from filestore.project_usage u where u.project_id = v_project_id);
  end loop;
  perform set_config('filestore.project_id', v_opened, true), set_config('filestore.account_id', '', true);
  return v_bytes;
end
$$;
comment on function filestore.shared_bytes is
  'What the projects of an account that have the quota of their tier use together, content and rows. It opens them one '
  'after the other, and then the caller''s project again.';
call filestore.publish('filestore.shared_bytes', 'filestore_account', 'filestore_engine');

create function filestore.charge_usage(
  p_session filestore.session, p_bytes bigint, p_database_bytes bigint, p_versions integer, p_may_exceed boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Commits up to this cost may exceed the quota together: each holds one row, so there are at most as many as rows.
  c_unlocked_bytes constant bigint := 1048576;
  v_has_quota constant boolean := p_session.max_project_bytes is not null and not p_may_exceed;
  v_used bigint;
begin
  if v_has_quota and p_bytes + p_database_bytes > c_unlocked_bytes then
    if p_session.account_bytes is not null then
      perform pg_advisory_xact_lock(hashtextextended('quota/' || p_session.account_id, 0));
    end if;
    insert into filestore.project_usage (project_id, shard)
    select p_session.project_id, n from generate_series(0, (filestore.limits()).usage_shards - 1) n
    on conflict do nothing;
    perform from filestore.project_usage u where u.project_id = p_session.project_id order by u.shard for update;
  end if;
  perform filestore.add_usage(p_session.project_id, p_bytes, p_database_bytes, p_versions);
  if not v_has_quota then return null; end if;
  select sum(u.bytes + u.database_bytes) into v_used
  from filestore.project_usage u where u.project_id = p_session.project_id;
  if v_used > p_session.max_project_bytes then
    return filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.max_project_bytes));
  elsif p_session.account_bytes is not null
    and filestore.shared_bytes(p_session.account_id) > p_session.account_bytes then
    return filestore.refusal(
      'QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.account_bytes, 'account', true));
  end if;
  return null;
end
$$;
comment on function filestore.charge_usage is
  'Adds to what the project uses; returns the refusal of a commit for which a quota has no room: roll it back. A '
  'commit that costs over 1 MiB locks all rows of the usage, so its check is exact; a smaller one does not see the '
  'commits under way beside it. With p_may_exceed nothing is checked.';
call filestore.grant_execute('filestore.charge_usage', 'filestore_engine');

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

create function filestore.lock_paths(p_project_id uuid, p_paths text[], p_new_paths text[]) returns text[]
language plpgsql volatile set search_path = '' as $$
declare
  v_path text;
  v_now constant timestamptz := clock_timestamp();
  v_missing text[] := '{}';
begin
  for v_path in select distinct p.path collate "C" from unnest(p_paths) p (path) order by 1 loop
    continue when (filestore.lock_file(p_project_id, v_path)).id is not null;
    if v_path = any (p_new_paths) then
      -- Waits for a commit that is creating the file.
      insert into filestore.files (
        project_id, path, version, mime_type, size, is_deleted, segment_ids, created_at, updated_at)
      values (p_project_id, v_path, 0, '', 0, true, '{}', v_now, v_now)
      on conflict (project_id, path) do nothing;
      continue when found or (filestore.lock_file(p_project_id, v_path)).id is not null;
    end if;
    v_missing := v_missing || v_path;
  end loop;
  return v_missing;
end
$$;
comment on function filestore.lock_paths is
  'Locks the files at these paths, in the order of the paths, so that commits of several files cannot wait for each '
  'other. Those of p_new_paths that have no file get a row of version 0, which the transaction fills, or rolls back. '
  'Returns the other paths without a file.';
call filestore.grant_execute('filestore.lock_paths', 'filestore_engine');

create function filestore.feed_lock(p_project_id uuid) returns integer
language plpgsql immutable set search_path = ''
as $$ begin return (uuid_hash_extended(p_project_id, 1) & 4294967295)::bit(32)::integer; end $$;
comment on function filestore.feed_lock is
  'The first key of the advisory locks that stand for a project''s commits under way; the second one is a number.';
call filestore.grant_execute('filestore.feed_lock', 'filestore_admin', 'filestore_engine');

create function filestore.next_position(p_project_id uuid) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_setting text;
begin
  -- The number that is locked is lower than the one that is given.
  v_setting := pg_advisory_xact_lock(
    filestore.feed_lock(p_project_id), (nextval('filestore.positions') & 4294967295)::bit(32)::integer);
  return nextval('filestore.positions');
end
$$;
comment on function filestore.next_position is
  'The position of a new version, taken once its file is locked. Until the transaction ends an advisory lock tells '
  'readers of the feed that it may commit versions above that number.';
call filestore.grant_execute('filestore.next_position', 'filestore_admin', 'filestore_engine');

create function filestore.failed_precondition(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_is_live boolean;
  v_tag text;
  v_version integer;
begin
  if not p_commit ?| '{ifVersion,ifMatch,ifNoneMatch}' then return null; end if;
  v_is_live := filestore.is_live(p_file);
  v_tag := (p_file).id || '.' || (p_file).version;
  v_version := nullif((p_file).version, 0);
  -- "ifVersion" is the number that the file must be at, 0 for no file.
  if v_is_live and p_commit -> 'ifVersion' = '0' then
    return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', v_version));
  end if;
  if (p_commit ->> 'ifVersion')::integer > 0
    and not (v_is_live and (p_commit ->> 'ifVersion')::integer = (p_file).version) then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', v_version));
  end if;
  -- "ifMatch" and "ifNoneMatch" are lists of "{fileId}.{version}", or ["*"]: any file at all.
  if p_commit ? 'ifMatch' and not (v_is_live and (p_commit -> 'ifMatch' ? '*' or p_commit -> 'ifMatch' ? v_tag)) then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', v_version));
  end if;
  if v_is_live and p_commit -> 'ifNoneMatch' ? '*' then
    return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', v_version));
  end if;
  if v_is_live and p_commit -> 'ifNoneMatch' ? v_tag then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', v_version));
  end if;
  return null;
end
$$;
comment on function filestore.failed_precondition is
  'The refusal of a commit whose preconditions do not hold for the locked file; null where they hold.';
call filestore.grant_execute('filestore.failed_precondition', 'filestore_engine');

create type filestore.next_version as (
  segment_ids uuid[],
  size bigint,
  mime_type text,
  is_deleted boolean,
  is_text boolean,
  source_file_id uuid,
  source_version integer
);
comment on type filestore.next_version is 'What a new version is to contain.';

create function filestore.content_of(p_file filestore.files) returns filestore.next_version
language plpgsql immutable set search_path = '' as $$
begin
  return row (
    (p_file).segment_ids, (p_file).size, (p_file).mime_type, false, (p_file).is_text, (p_file).id, (p_file).version);
end
$$;
comment on function filestore.content_of is 'A version with the content of that file, which may be another one.';
call filestore.grant_execute('filestore.content_of', 'filestore_engine');

create function filestore.tombstone_of(p_file filestore.files) returns filestore.next_version
language plpgsql immutable set search_path = ''
as $$ begin return row ('{}', 0, (p_file).mime_type, true, true, null, null)::filestore.next_version; end $$;
comment on function filestore.tombstone_of is 'The version that ends a file.';
call filestore.grant_execute('filestore.tombstone_of', 'filestore_engine');

create type filestore.change as (
  commit_id uuid,
  operation filestore.operation,
  run_id text,
  actor text,
  note text,
  undone_run_id text,
  committed_at timestamptz,
  said_cost integer
);
comment on type filestore.change is 'What the versions of a commit have in common.';
comment on column filestore.change.committed_at is
  'Of several files: not before any of them was last changed. Null: now, or when the file was last changed.';
comment on column filestore.change.said_cost is 'What is said of each version counts so much towards the quota.';

create function filestore.change_of(p_kind text, p_commit jsonb) returns filestore.change
language plpgsql immutable set search_path = '' as $$
declare
  v_provenance constant jsonb := p_commit -> 'provenance';
begin
  return row (
    p_commit ->> 'commitId', coalesce(p_commit ->> 'operation', p_kind), v_provenance ->> 'runId',
    v_provenance ->> 'actor', v_provenance ->> 'note', null, null,
    case when v_provenance is null then 0 else (filestore.limits()).tariff_said_factor * octet_length(concat(
      v_provenance ->> 'runId', v_provenance ->> 'actor', v_provenance ->> 'note')) end)::filestore.change;
end
$$;
comment on function filestore.change_of is 'What the versions of a commit have in common.';
call filestore.grant_execute('filestore.change_of', 'filestore_engine');

create function filestore.plan_version(
  p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb,
  out planned filestore.next_version, out new_bytes bigint, out refusal jsonb
)
language plpgsql stable set search_path = '' as $$
declare
  v_segments constant jsonb := p_commit -> 'segments';
  v_source filestore.file_versions;
  v_new_ids uuid[];
  v_is_text boolean;
  v_unknown bigint;
begin
  if jsonb_array_length(v_segments) = 1 then
    -- As most commits have: without a query, which costs more than these expressions.
    v_new_ids := array[(v_segments -> 0 ->> 'id')::uuid];
    new_bytes := (v_segments -> 0 ->> 'size')::bigint;
    v_is_text := (v_segments -> 0 ->> 'isText')::boolean;
  else
    select coalesce(array_agg((s.value ->> 'id')::uuid order by s.position), '{}'),
           coalesce(sum((s.value ->> 'size')::bigint), 0), coalesce(bool_and((s.value ->> 'isText')::boolean), true)
    into v_new_ids, new_bytes, v_is_text
    from jsonb_array_elements(v_segments) with ordinality as s (value, position);
  end if;

  planned.is_deleted := p_kind = 'delete';
  planned.is_text := v_is_text;
  planned.mime_type := coalesce(p_commit ->> 'mimeType', (p_file).mime_type);
  case p_kind
    when 'write', 'overwrite', 'delete' then
      planned.segment_ids := v_new_ids;
      planned.size := new_bytes;
    when 'append' then
      planned.segment_ids := (p_file).segment_ids || v_new_ids;
      planned.size := (p_file).size + new_bytes;
      planned.is_text := v_is_text and (p_file).is_text;
      if cardinality(planned.segment_ids) > filestore.max_segments(planned.size) then
        refusal := filestore.refusal('SEGMENT_LIST_FULL') || jsonb_build_object(
          'segments', filestore.segment_list((p_file).project_id, (p_file).segment_ids));
      end if;
    when 'edit' then
      v_new_ids := filestore.edited_segments(p_file, p_commit);
      if v_new_ids is null then
        refusal := filestore.refusal('VERSION_CONFLICT', jsonb_build_object('version', (p_file).version));
      end if;
      select coalesce(array_agg(r.id order by r.position), '{}'),
             coalesce(sum(coalesce(kept.size, (added.value ->> 'size')::integer)), 0),
             coalesce(bool_and(coalesce(kept.is_text, (added.value ->> 'isText')::boolean)), true),
             count(*) filter (where kept.id is null and added.value is null)
      into planned.segment_ids, planned.size, planned.is_text, v_unknown
      from unnest(v_new_ids) with ordinality as r (id, position)
      -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
      left join lateral (
        select s.id, s.size, s.is_text from filestore.segments s
        where s.id = r.id and s.project_id = (p_file).project_id offset 0
      ) kept on true
      left join jsonb_array_elements(v_segments) added on (added.value ->> 'id')::uuid = r.id;
      if v_unknown > 0 then
        raise exception 'the edit references segments that do not exist';
      end if;
    when 'restore' then
      select * into v_source from filestore.file_versions v
      where v.project_id = (p_file).project_id and v.file_id = (p_file).id
        and v.version = (p_commit ->> 'version')::integer;
      refusal := filestore.unreadable_version(p_file, (p_commit ->> 'version')::integer, v_source);
      if refusal is null and v_source.is_deleted then
        refusal := filestore.refusal('VERSION_DELETED', jsonb_build_object('version', v_source.version));
      end if;
      planned.segment_ids := v_source.segment_ids;
      planned.size := v_source.size;
      planned.mime_type := v_source.mime_type;
      planned.is_text := v_source.is_text;
      planned.source_file_id := v_source.file_id;
      planned.source_version := v_source.version;
  end case;
  if refusal is null and p_session.max_file_bytes is not null then
    refusal := filestore.too_large(p_session, planned.size);
  end if;
end
$$;
comment on function filestore.plan_version is
  'What a commit would make of the locked file and how many bytes it brings, or why it is refused.';
call filestore.grant_execute('filestore.plan_version', 'filestore_engine');

create function filestore.has_text(p_mime_type text, p_is_text boolean) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return p_is_text and p_mime_type !~ '^(image/(?!svg\+xml$)|audio/|video/|application/(pdf|zip)$)';
end
$$;
comment on function filestore.has_text is
  'Whether the bytes of a file are text, and its type is one that holds text. The types are those of '
  '`isBinaryMediaType`.';
call filestore.grant_execute('filestore.has_text', 'filestore_admin', 'filestore_engine');

create function filestore.indexed_bytes(p_size bigint, p_mime_type text, p_is_text boolean) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return case
    when p_size <= (filestore.limits()).search_text_bytes_max and filestore.has_text(p_mime_type, p_is_text)
    then p_size else 0 end;
end
$$;
comment on function filestore.indexed_bytes is
  'How many bytes of a live file are in the search index, once it was indexed.';
call filestore.grant_execute('filestore.indexed_bytes', 'filestore_admin', 'filestore_engine');

create function filestore.file_cost(p_path text) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  v_directories constant integer := array_length(string_to_array(p_path, '/'), 1) - 1;
begin
  return (filestore.limits()).tariff_file_bytes + (filestore.limits()).tariff_path_factor * octet_length(p_path)
    + v_directories * ((filestore.limits()).tariff_directory_bytes + octet_length(p_path));
end
$$;
comment on function filestore.file_cost is
  'What a file counts towards the quota, whatever its versions: as though it had its directories to itself.';
call filestore.grant_execute('filestore.file_cost', 'filestore_admin', 'filestore_engine');

create function filestore.database_cost(
  p_before filestore.files, p_path text, p_next filestore.next_version, p_new_segments integer
) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return case when coalesce((p_before).version, 0) = 0 then filestore.file_cost(p_path) else 0 end
    + (filestore.limits()).tariff_version_bytes
    + (filestore.limits()).tariff_listed_segment_bytes * cardinality(p_next.segment_ids)
    + (filestore.limits()).tariff_segment_bytes * p_new_segments
    + case when p_next.source_file_id is not null and p_next.source_file_id is distinct from (p_before).id
      then (filestore.limits()).tariff_shared_segment_bytes * cardinality(p_next.segment_ids) else 0 end
    + (filestore.limits()).tariff_indexed_factor * (
      case when p_next.is_deleted then 0
        else filestore.indexed_bytes(p_next.size, p_next.mime_type, p_next.is_text) end
      - case when filestore.is_live(p_before)
        then filestore.indexed_bytes((p_before).size, (p_before).mime_type, (p_before).is_text) else 0 end);
end
$$;
comment on function filestore.database_cost is
  'What the rows of a version count towards the quota, by the tariff; less than zero where less text is indexed.';
call filestore.grant_execute('filestore.database_cost', 'filestore_engine');

create function filestore.share_segments(
  p_project_id uuid, p_source_id uuid, p_file_id uuid, p_segment_ids uuid[]
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.shared_segments (project_id, segment_id, file_id)
  select p_project_id, s.id, f.id
  from unnest(p_segment_ids) s (id) cross join (values (p_source_id), (p_file_id)) f (id)
  on conflict do nothing;
end
$$;
comment on function filestore.share_segments is
  'Notes that two files, which are locked, have versions with these segments.';
call filestore.grant_execute('filestore.share_segments', 'filestore_engine');

create function filestore.put_version(
  p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version,
  p_change filestore.change
) returns filestore.files
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files := p_file;
  v_position constant bigint := filestore.next_position(p_session.project_id);
  v_now constant timestamptz := coalesce(
    p_change.committed_at, greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at));
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
    key_id, run_id, actor, note, source_file_id, source_version, undone_run_id, created_at)
  values (
    p_session.project_id, v_file.id, v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted,
    v_file.is_text, v_file.segment_ids, p_change.commit_id, v_position, p_change.operation,
    p_session.key_id, p_change.run_id, p_change.actor, p_change.note, p_next.source_file_id, p_next.source_version,
    p_change.undone_run_id, v_now);
  if p_next.source_file_id <> v_file.id then
    perform filestore.share_segments(p_session.project_id, p_next.source_file_id, v_file.id, p_next.segment_ids);
  end if;
  return v_file;
end
$$;
comment on function filestore.put_version is
  'Adds a version to a locked file, or creates the file. Null where another transaction has just created it: lock '
  'that one and check again.';
call filestore.grant_execute('filestore.put_version', 'filestore_engine');

create function filestore.begin_run(p_project_id uuid, p_change filestore.change) returns void
language plpgsql volatile set search_path = '' as $$
begin
  if not exists (
    select from filestore.runs r where r.project_id = p_project_id and r.run_id = p_change.run_id
  ) then
    insert into filestore.runs (project_id, run_id, first_position)
    select p_project_id, p_change.run_id, min(v.position) from filestore.file_versions v
    where v.project_id = p_project_id and v.commit_id = p_change.commit_id
    on conflict do nothing;
  end if;
  if p_change.undone_run_id is not null then
    insert into filestore.run_undos (project_id, undone_run_id, run_id)
    values (p_project_id, p_change.undone_run_id, p_change.run_id) on conflict do nothing;
  end if;
end
$$;
comment on function filestore.begin_run is
  'Makes the row of a run with its first commit, once that has its versions.';
call filestore.grant_execute('filestore.begin_run', 'filestore_engine');

create function filestore.queue_for_search() returns trigger
language plpgsql volatile set search_path = '' as $$
declare
  -- From one indexing of a file to the next, so that a growing file is not indexed without pause: 9.4 s for 1 MiB.
  c_rest constant interval := interval '1 second' + new.size * interval '8 microseconds';
begin
  -- A path that was only taken, or a file that is purged. (As conditions of the triggers these would be parsed anew by
  -- each statement.)
  if new.version = 0 or new.path is null then return null; end if;
  insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at)
  values (new.project_id, new.id, new.version, new.path, new.size, greatest(clock_timestamp(), (
    select t.indexed_at + c_rest from filestore.search_texts t
    where t.project_id = new.project_id and t.file_id = new.id)))
  on conflict (project_id, file_id) do update
    set version = excluded.version, bytes = excluded.bytes, stage = 1, attempts = 0, claim_id = null,
        due_at = case when q.claim_id is null then least(q.due_at, excluded.due_at)
          else greatest(excluded.due_at, clock_timestamp() + c_rest) end;
  return null;
end
$$;
comment on function filestore.queue_for_search is
  'Marks a file as not indexed at its new version. A claim on an older version is lost.';
call filestore.grant_execute('filestore.queue_for_search', 'filestore_engine');

create trigger queue_for_search_on_insert after insert on filestore.files
  for each row execute function filestore.queue_for_search();
create trigger queue_for_search_on_update after update of version on filestore.files
  for each row execute function filestore.queue_for_search();

create function filestore.made_record(p_file filestore.files, p_extra jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.file_record((p_file).id, (p_file).path, (p_file).version, (p_file).mime_type, (p_file).size,
    (p_file).created_at, (p_file).updated_at)
    || case when (p_file).is_deleted then '{"deleted": true}'::jsonb else '{}'::jsonb end
    || coalesce(p_extra, '{}'::jsonb);
end
$$;
comment on function filestore.made_record is
  'The record of a version that was made, which may be a tombstone, with the caller''s extra fields.';
call filestore.grant_execute('filestore.made_record', 'filestore_engine');

create function filestore.commit_result(
  p_file filestore.files, p_extra jsonb, p_segments jsonb default null
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('value', jsonb_build_object(
    'file', filestore.made_record(p_file, p_extra), 'segments', p_segments));
end
$$;
comment on function filestore.commit_result is 'The result of a commit: the record with the caller''s extra fields.';
call filestore.grant_execute('filestore.commit_result', 'filestore_engine');

create function filestore.repeated_commit(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_commit_id constant uuid := p_commit ->> 'commitId';
  v_made filestore.file_versions;
begin
  if (p_file).id is null then return null; end if;
  select v.* into v_made
  from (
    -- fence: the planner must not flatten this; by the file it would read all of its versions. A range in order, not an
    -- equality, since without statistics all versions of the project look as cheap to read as those of one commit.
    select * from filestore.file_versions c where c.commit_id >= v_commit_id and c.commit_id <= v_commit_id
    order by c.commit_id offset 0
  ) v where v.project_id = (p_file).project_id and v.file_id = (p_file).id;
  return case when found then filestore.commit_result(filestore.at_version(p_file, v_made), p_commit -> 'extra') end;
end
$$;
comment on function filestore.repeated_commit is
  'What an earlier attempt at this commit made, or null. Called once the file is locked, when that attempt has ended.';
call filestore.grant_execute('filestore.repeated_commit', 'filestore_engine');

create type filestore.applied as (
  refusal jsonb, file filestore.files, bytes bigint, cost bigint, versions integer);
comment on type filestore.applied is
  'What became of one operation: the refusal, or the file at its new version (null where another transaction has just '
  'created it: lock that one and try again), the bytes of its new segments, what its rows count towards the quota, and '
  'how many versions were made.';

create function filestore.apply_to_file(
  p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb, p_change filestore.change
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_plan record;
  v_applied filestore.applied;
begin
  if p_kind <> 'write' and not filestore.is_live(p_file)
    and not (p_kind = 'restore' and coalesce((p_file).version, 0) > 0) then
    v_applied.refusal := filestore.not_found(p_file);
    return v_applied;
  end if;
  v_applied.refusal := filestore.failed_precondition(p_file, p_commit);
  if v_applied.refusal is not null then return v_applied; end if;
  v_plan := filestore.plan_version(p_session, p_file, p_kind, p_commit);
  if v_plan.refusal is not null then
    v_applied.refusal := v_plan.refusal;
    return v_applied;
  end if;
  v_applied.cost := filestore.database_cost(
    p_file, v_path, v_plan.planned, coalesce(jsonb_array_length(p_commit -> 'segments'), 0)) + p_change.said_cost;
  v_applied.bytes := v_plan.new_bytes;
  v_applied.versions := 1;
  v_applied.file := filestore.put_version(p_session, p_file, v_path, v_plan.planned, p_change);
  return v_applied;
end
$$;
comment on function filestore.apply_to_file is
  'Adds one version to a locked file, or creates it: write, overwrite, append, edit, delete or restore.';
call filestore.grant_execute('filestore.apply_to_file', 'filestore_engine');

create function filestore.apply_to_two(
  p_session filestore.session, p_source filestore.files, p_target filestore.files, p_kind text, p_commit jsonb,
  p_change filestore.change
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_next filestore.next_version;
  v_left filestore.next_version;
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
  v_next := filestore.content_of(p_source);
  v_applied.bytes := 0;
  v_applied.cost := filestore.database_cost(p_target, p_commit ->> 'destination', v_next, 0) + p_change.said_cost;
  v_applied.versions := 1;
  if p_kind = 'move' then
    v_left := filestore.tombstone_of(p_source);
    v_applied.cost := v_applied.cost + filestore.database_cost(p_source, p_source.path, v_left, 0)
      + p_change.said_cost;
    v_applied.versions := 2;
  end if;
  if p_kind = 'move' then
    perform filestore.put_version(p_session, p_source, p_source.path, v_left, p_change);
  end if;
  v_applied.file := filestore.put_version(p_session, p_target, p_commit ->> 'destination', v_next, p_change);
  return v_applied;
end
$$;
comment on function filestore.apply_to_two is
  'The current content of one locked file becomes the next version of another; a move leaves a tombstone, which comes '
  'first. No bytes are copied.';
call filestore.grant_execute('filestore.apply_to_two', 'filestore_engine');

create function filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_segments constant jsonb := p_commit -> 'segments';
  v_check_every constant integer := (filestore.limits()).compaction_check_every_segments;
  v_change constant filestore.change := filestore.change_of(p_kind, p_commit);
  v_file filestore.files;
  v_applied filestore.applied;
  v_result jsonb;
begin
  loop
    v_file := filestore.lock_file(p_session.project_id, v_path);
    v_result := filestore.repeated_commit(v_file, p_commit);
    if v_result is not null then return v_result; end if;
    v_applied := filestore.apply_to_file(p_session, v_file, p_kind, p_commit, v_change);
    if v_applied.refusal is not null then return v_applied.refusal; end if;
    exit when (v_applied.file).id is not null;
  end loop;
  if v_segments is not null then perform filestore.add_segments(p_session.project_id, v_segments); end if;
  if v_change.run_id is not null then perform filestore.begin_run(p_session.project_id, v_change); end if;
  v_result := filestore.charge_usage(p_session, v_applied.bytes, v_applied.cost, 1, p_kind = 'delete');
  if v_result is not null then return v_result; end if;
  return filestore.commit_result(v_applied.file, p_commit -> 'extra', case
    when p_kind in ('append', 'edit') and cardinality((v_applied.file).segment_ids) / v_check_every
      > coalesce(cardinality(v_file.segment_ids), 0) / v_check_every
    then filestore.segment_list(p_session.project_id, (v_applied.file).segment_ids) end);
end
$$;
comment on function filestore.commit_version is
  'Adds one version to one file: write, overwrite, append, edit, delete or restore. Returns the new record and, when '
  'the file may be worth compacting, its segment list.';
call filestore.grant_execute('filestore.commit_version', 'filestore_engine');

create function filestore.copy_file(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_destination constant text := p_commit ->> 'destination';
  v_change filestore.change := filestore.change_of(p_kind, p_commit);
  v_source filestore.files;
  v_target filestore.files;
  v_applied filestore.applied;
  v_result jsonb;
begin
  -- Of a source that does not exist nothing is locked.
  if v_path <> all (filestore.lock_paths(p_session.project_id, array[v_path, v_destination], array[v_destination])) then
    v_source := filestore.lock_file(p_session.project_id, v_path);
  end if;
  v_target := filestore.lock_file(p_session.project_id, v_destination);
  v_result := filestore.repeated_commit(v_target, p_commit);
  if v_result is not null then return v_result; end if;
  v_change.committed_at := greatest(
    date_trunc('milliseconds', clock_timestamp()), v_source.updated_at,
    case when v_target.version > 0 then v_target.updated_at end);
  v_applied := filestore.apply_to_two(p_session, v_source, v_target, p_kind, p_commit, v_change);
  if v_applied.refusal is not null then return v_applied.refusal; end if;
  if v_change.run_id is not null then perform filestore.begin_run(p_session.project_id, v_change); end if;
  v_result := filestore.charge_usage(p_session, 0, v_applied.cost, v_applied.versions, false);
  if v_result is not null then return v_result; end if;
  return filestore.commit_result(v_applied.file, p_commit -> 'extra');
end
$$;
comment on function filestore.copy_file is
  'Copies or moves one file. A refusal may leave the destination taken: roll it back.';
call filestore.grant_execute('filestore.copy_file', 'filestore_engine');

-- ---------------------------------------------------------------------------------------------------------------------
-- Safe retries. The key is taken and the response stored in the transaction of the commit.

create function filestore.caller_id(p_session filestore.session) returns uuid
language plpgsql immutable set search_path = ''
as $$
begin
  return coalesce((p_session).link_id, (p_session).key_id, '00000000-0000-0000-0000-000000000000');
end
$$;
comment on function filestore.caller_id is
  'Whose idempotency keys these are: of the link, the API key, or the console.';
call filestore.grant_execute('filestore.caller_id', 'filestore_engine');

create function filestore.answer_without_names(p_answer jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  return (
    select jsonb_object_agg(e.key, case
      when jsonb_typeof(e.value) = 'array' then '[]' when e.key = 'said' then 'null' else e.value end)
    from jsonb_each(p_answer) e where e.key <> 'path');
end
$$;
comment on function filestore.answer_without_names is
  'The part of an answer that an erasure leaves: no path, no entry of a list, and no text that quotes content.';
call filestore.grant_execute('filestore.answer_without_names', 'filestore_engine');

create function filestore.names_of_answer(p_session filestore.session, p_answer jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
begin
  -- The path of a single file is not stored: a repeated request has it.
  return (
    select jsonb_object_agg(e.key, e.value) || jsonb_build_object('prefix', (p_session).path_prefix)
    from jsonb_each(p_answer) e where jsonb_typeof(e.value) = 'array' or e.key = 'said');
end
$$;
comment on function filestore.names_of_answer is
  'The other part, which an erasure removes; null where there is none.';
call filestore.grant_execute('filestore.names_of_answer', 'filestore_engine');

create function filestore.stored_response(p_session filestore.session, p_idempotency jsonb, p_path text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row filestore.idempotency_keys;
  v_is_blank boolean;
begin
  select * into v_row from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and i.caller_id = filestore.caller_id(p_session)
    and i.key = p_idempotency ->> 'key'
    and i.created_at > clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  if not found then return null; end if;
  if v_row.fingerprint <> decode(p_idempotency ->> 'fingerprint', 'hex') then
    return filestore.refusal('IDEMPOTENCY_KEY_REUSED');
  end if;
  -- A key whose path prefix was changed since is not shown what lies outside the new one.
  v_is_blank := v_row.names ->> 'prefix' is distinct from (p_session).path_prefix or exists (
    select from filestore.projects p
    where p.id = p_session.project_id and p.answers_blank_through >= v_row.created_at);
  return jsonb_build_object('value', jsonb_build_object(
    'file', v_row.response
      || case when v_row.response ? 'id' then jsonb_build_object('path', p_path) else '{}' end
      || case when v_is_blank then '{}' else coalesce(v_row.names - 'prefix', '{}') end,
    'segments', null, 'isReplayed', not p_idempotency ? 'isOwn'));
end
$$;
comment on function filestore.stored_response is
  'The response to the first request with this key, about p_path if it is about one file, or the refusal of a '
  'different request with it; null where the key is new. After an erasure it names nothing.';
call filestore.grant_execute('filestore.stored_response', 'filestore_engine');

create function filestore.commit_or_refuse(
  p_session filestore.session, p_kind text, p_commit jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_result jsonb;
begin
  if p_session.max_project_bytes is null and p_kind in (
    'write', 'overwrite', 'append', 'edit', 'delete', 'restore') then
    return filestore.commit_version(p_session, p_kind, p_commit);
  end if;
  -- What a commit costs is known once it is made, so without room it is undone: to here.
  begin
    case p_kind
      when 'copy', 'move' then v_result := filestore.copy_file(p_session, p_kind, p_commit);
      when 'batch' then v_result := filestore.commit_batch(p_session, p_commit);
      when 'copy_folder', 'move_folder', 'delete_folder', 'undo', 'restore_folder' then
        v_result := filestore.commit_planned(p_session, p_kind, p_commit);
      when 'purge' then v_result := filestore.commit_purge(p_session, p_commit);
      else v_result := filestore.commit_version(p_session, p_kind, p_commit);
    end case;
    if v_result ? 'refusal' then raise sqlstate 'FS003'; end if;
  exception when sqlstate 'FS003' then
    null;
  end;
  return v_result;
end
$$;
comment on function filestore.commit_or_refuse is
  'Commits, or refuses and has changed nothing, also where the quota has no room for it.';
call filestore.grant_execute('filestore.commit_or_refuse', 'filestore_engine');

create function filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_idempotency constant jsonb := p_commit -> 'idempotency';
  v_caller_id uuid;
  v_expired timestamptz;
  v_result jsonb;
begin
  if v_idempotency is null then return filestore.commit_or_refuse(p_session, p_kind, p_commit); end if;
  v_caller_id := filestore.caller_id(p_session);
  v_expired := clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  -- Expired keys of the project are removed a few at a time, by the requests that use keys.
  delete from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and (i.caller_id, i.key) in (
    select o.caller_id, o.key from filestore.idempotency_keys o
    where o.project_id = p_session.project_id and o.created_at < v_expired
    order by o.created_at limit 10 for update skip locked);
  begin
    delete from filestore.idempotency_keys i
    where i.project_id = p_session.project_id and i.caller_id = v_caller_id and i.key = v_idempotency ->> 'key'
      and i.created_at < v_expired;
    -- Waits for a running request with the same key, whose response is stored by then.
    insert into filestore.idempotency_keys (project_id, caller_id, key, fingerprint, created_at)
    values (
      p_session.project_id, v_caller_id, v_idempotency ->> 'key', decode(v_idempotency ->> 'fingerprint', 'hex'),
      clock_timestamp())
    on conflict do nothing;
    if not found then
      -- Null where the key has expired since.
      return coalesce(
        filestore.stored_response(
          p_session, v_idempotency, coalesce(p_commit ->> 'destination', p_commit ->> 'path')),
        filestore.refusal('IDEMPOTENCY_KEY_IN_USE'));
    end if;
  exception when lock_not_available then
    if v_idempotency ? 'isOwn' then raise; end if;
    return filestore.refusal('IDEMPOTENCY_KEY_IN_USE');
  end;

  v_result := filestore.commit_or_refuse(p_session, p_kind, p_commit);

  if v_result ? 'refusal' then
    delete from filestore.idempotency_keys i
    where i.project_id = p_session.project_id and i.caller_id = v_caller_id and i.key = v_idempotency ->> 'key';
  else
    update filestore.idempotency_keys i
    set response = filestore.answer_without_names(v_result -> 'value' -> 'file'),
        names = filestore.names_of_answer(p_session, v_result -> 'value' -> 'file')
    where i.project_id = p_session.project_id and i.caller_id = v_caller_id and i.key = v_idempotency ->> 'key';
  end if;
  return v_result;
end
$$;
comment on function filestore.commit_idempotent is
  'Commits, or returns what the same request returned before: `file` is the answer, also where it is about '
  'several files. Refusals are not stored.';
call filestore.grant_execute('filestore.commit_idempotent', 'filestore_engine');

create function public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, coalesce(p_commit ->> 'destination', p_commit ->> 'path'))
    or not (p_kind = 'copy' or filestore.may_write(v_session, p_commit ->> 'path')) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  v_result := filestore.commit_idempotent(v_session, p_kind, p_commit);
  -- A refusal changed nothing, so it does not wait for the disk.
  if v_result ? 'refusal' then perform set_config('synchronous_commit', 'off', true); end if;
  return v_session.envelope || v_result;
end
$$;
comment on function public.filestore_commit is
  'Adds a version. p_kind: write (creates the file where there is none), overwrite, append, edit, delete, restore, '
  'copy, move. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, VERSION_DELETED, VERSION_CONFLICT, PRECONDITION_FAILED, '
  'FILE_ALREADY_EXISTS, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, CONTENT_TOO_LARGE, QUOTA_EXCEEDED, '
  'SEGMENT_LIST_FULL, VERSION_REDACTED.';
call filestore.publish('public.filestore_commit', 'filestore_engine', 'service_role');
