-- Usage: the cost of a commit, and the check of the quota.

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
  -- Creates a row that no other transaction is creating, or waits for a row where other transactions hold all
  -- of them.
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
  'Adds to the usage of a project, in a row that no other transaction holds. The last step of a commit or an '
  'erasure: a transaction that holds a row waits for nothing but other rows of the usage, in order.';
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
  'The usage, content and rows, of all projects of an account that have no quota of their own. Opens them '
  'one after the other, and then the caller''s project again.';
call filestore.publish('filestore.shared_bytes', 'filestore_account', 'filestore_engine');

create function filestore.end_commit(
  p_session filestore.session, p_commit jsonb, p_bytes bigint, p_database_bytes bigint, p_versions integer,
  p_may_exceed boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_run_id constant text := p_commit #>> '{provenance,runId}';
  -- Commits up to this cost may exceed the quota together: each holds one row, so there are at most as many as rows.
  c_unlocked_bytes constant bigint := 1048576;
  v_has_quota constant boolean := p_session.max_project_bytes is not null and not p_may_exceed;
  v_used bigint;
begin
  if c_run_id is not null and p_versions > 0 and not exists (
    select from filestore.runs r where r.project_id = p_session.project_id and r.run_id = c_run_id) then
    insert into filestore.runs (project_id, run_id, first_position)
    select p_session.project_id, c_run_id, min(v.position) from filestore.file_versions v
    where v.project_id = p_session.project_id and v.commit_id = (p_commit ->> 'commitId')::uuid
    on conflict do nothing;
  end if;
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
  return case
    when v_used > p_session.max_project_bytes
      then filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.max_project_bytes))
    when p_session.account_bytes is not null
      and filestore.shared_bytes(p_session.account_id) > p_session.account_bytes
      then filestore.refusal(
        'QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.account_bytes, 'account', true)) end;
end
$$;
comment on function filestore.end_commit is
  'The last step of a commit, once its versions are added: inserts the row of its run, if it is the first of '
  'one, and adds to the usage of the project. Returns the refusal of a commit that a quota has no room for: '
  'the caller rolls it back. A commit that costs over 1 MiB locks all rows of the usage, so its check is '
  'exact; a smaller one does not see concurrent commits. With p_may_exceed nothing is checked.';
call filestore.grant_execute('filestore.end_commit', 'filestore_engine');

create function filestore.has_text(p_mime_type text, p_is_text boolean) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return p_is_text and p_mime_type !~ '^(image/(?!svg\+xml$)|audio/|video/|application/(pdf|zip)$)';
end
$$;
comment on function filestore.has_text is
  'Whether the bytes of a file are text, and its media type is a type of text. The types are those of '
  '`isBinaryMediaType`.';
call filestore.grant_execute('filestore.has_text', 'filestore_admin', 'filestore_engine');

create function filestore.file_cost(p_file filestore.files) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  -- The tariff for each file, deleted or not, for each byte of its path, and for each directory above it.
  c_file_bytes constant integer := 512;
  c_path_factor constant integer := 14;
  c_directory_bytes constant integer := 256;
  c_path_bytes constant integer := octet_length((p_file).path);
  c_directories constant integer := array_length(string_to_array((p_file).path, '/'), 1) - 1;
begin
  if coalesce((p_file).version, 0) = 0 then return 0; end if;
  return c_file_bytes
    + coalesce(c_path_factor * c_path_bytes + c_directories * (c_directory_bytes + c_path_bytes), 0)
    + case
      when not (p_file).is_deleted and (p_file).size <= (filestore.limits()).search_text_bytes_max
        and filestore.has_text((p_file).mime_type, (p_file).is_text)
      then (filestore.limits()).tariff_indexed_factor * (p_file).size else 0 end;
end
$$;
comment on function filestore.file_cost is
  'The bytes that a file counts as towards the quota, without its versions: its row, its path, as if no '
  'other file were in its directories, and its text in the search index, whether or not it is indexed yet. A '
  'purged file has no path, so only its row counts; a path that is only reserved counts nothing.';
call filestore.grant_execute('filestore.file_cost', 'filestore_admin', 'filestore_engine');

create function filestore.version_cost(p_version filestore.file_versions) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  c_listed constant integer := cardinality((p_version).segment_ids);
begin
  return (filestore.limits()).tariff_version_bytes + (filestore.limits()).tariff_listed_segment_bytes * c_listed
    + (filestore.limits()).tariff_provenance_factor * octet_length(concat(
      (p_version).run_id, (p_version).actor, (p_version).note))
    + case when (p_version).source_file_id <> (p_version).file_id
      then (filestore.limits()).tariff_segment_bytes * c_listed else 0 end;
end
$$;
comment on function filestore.version_cost is
  'The bytes that the row of a version counts as towards the quota.';
call filestore.grant_execute('filestore.version_cost', 'filestore_admin', 'filestore_engine');
