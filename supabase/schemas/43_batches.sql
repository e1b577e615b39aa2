-- Commits of several files: all of their versions, or none.

create function filestore.commit_batch(p_session filestore.session, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_operations constant jsonb := p_commit -> 'operations';
  v_paths constant text[] := array(
    select distinct p.path collate "C" from jsonb_array_elements(v_operations) o
    cross join lateral (values (o.value ->> 'path'), (o.value ->> 'destination')) p (path)
    where p.path is not null order by 1);
  v_segments constant jsonb := (
    select coalesce(jsonb_agg(s.value), '[]') from jsonb_array_elements(v_operations) o
    cross join lateral jsonb_array_elements(o.value -> 'segments') s);
  v_applied filestore.applied;
  v_source filestore.files;
  v_locked record;
  v_added record;
  v_operation jsonb;
  v_kind text;
  v_results jsonb := '[]';
  v_repeated jsonb;
  v_cost bigint := 0;
  v_versions integer := 0;
  v_may_exceed boolean := true;
begin
  -- The key does not see a path outside its prefix, so such a path gets no row.
  v_locked := filestore.lock_paths(
    v_project_id, v_paths,
    array(select p.path from unnest(v_paths) p (path) where filestore.outside_prefix(p_session, p.path) is null));
  -- A copy or move by itself has the destination on the commit, too; what it added before is returned again.
  v_repeated := filestore.repeated_commit(
    filestore.lock_file(v_project_id, p_commit ->> 'destination'), p_commit);
  if v_repeated is not null then return v_repeated; end if;
  v_added := filestore.add_segments(v_project_id, v_segments);
  for v_operation in select o.value from jsonb_array_elements(v_operations) with ordinality o order by o.ordinality loop
    v_kind := v_operation ->> 'kind';
    v_source := filestore.lock_file(v_project_id, v_operation ->> 'path');
    v_operation := v_operation || jsonb_build_object(
      'commitId', p_commit -> 'commitId', 'provenance', p_commit -> 'provenance',
      'committedAt', v_locked.committed_at);
    if v_kind in ('copy', 'move') then
      v_applied := filestore.apply_to_two(
        p_session, v_source, filestore.lock_file(v_project_id, v_operation ->> 'destination'), v_kind, v_operation);
    else
      v_applied := filestore.apply_to_file(p_session, v_source, v_kind, v_operation);
    end if;
    if v_applied.refusal is null and v_operation ? 'failure' then
      v_applied.refusal := jsonb_build_object('refusal', v_operation -> 'failure');
    end if;
    if v_applied.refusal is not null then
      return jsonb_set(v_applied.refusal, '{refusal,details,index}', to_jsonb(jsonb_array_length(v_results)));
    end if;
    v_results := v_results || (filestore.file_record(v_applied.file) || coalesce(v_operation -> 'extra', '{}'));
    v_cost := v_cost + v_applied.cost;
    v_versions := v_versions + v_applied.versions;
    v_may_exceed := v_may_exceed and v_kind = 'delete';
  end loop;
  v_applied.refusal := filestore.end_commit(
    p_session, p_commit, v_added.bytes, v_cost + v_added.database_bytes, v_versions, v_may_exceed);
  if v_applied.refusal is not null then return v_applied.refusal; end if;
  return jsonb_build_object('value', jsonb_build_object('file', jsonb_build_object('results', v_results)));
end
$$;
comment on function filestore.commit_batch is
  'Applies operations in order, each on the result of the earlier ones. An operation that carries a failure '
  'is refused with that failure, once its other checks pass. A refusal has details.index; it may leave '
  'versions, which the caller rolls back.';
call filestore.grant_execute('filestore.commit_batch', 'filestore_engine');

create function filestore.count_files(p_session filestore.session, p_files integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_limit constant integer := p_session.envelope #>> '{rate,limit}';
  v_more constant integer := (p_files - 1) / (filestore.limits()).operations_per_request;
  v_count filestore.request_count;
begin
  if v_limit is null or v_more <= 0 then return p_session.envelope #>> '{rate,remaining}'; end if;
  -- Two commits that waited for each other's shard would be a deadlock.
  v_count := filestore.count_requests(p_session.project_id, v_limit, gen_random_uuid(), v_more, p_may_wait => false);
  if not v_count.is_allowed then raise sqlstate 'FS004'; end if;
  return v_count.remaining;
end
$$;
comment on function filestore.count_files is
  'Counts a request, already counted as one, as one request for each ten files begun, and returns how many '
  'requests are left; raises FS004 where too few are left. Called before any file is locked.';
call filestore.grant_execute('filestore.count_files', 'filestore_engine');

