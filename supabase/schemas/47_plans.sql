-- Plans of all kinds: computed for a dry run, or computed again under locks and applied.

create function filestore.plan_of(p_session filestore.session, p_kind text, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
begin
  return case
    when p_kind = 'undo' then filestore.plan_undo(p_session, p_commit)
    when p_kind = 'restore_folder' then filestore.plan_restore(p_session, p_commit)
    when p_kind in ('merge_branch', 'update_branch') then filestore.plan_merge(p_session, p_kind, p_commit)
    else filestore.plan_folder(p_session, p_kind, p_commit) end;
end
$$;
comment on function filestore.plan_of is
  'The plan of a commit of several files for the present state of the project.';
call filestore.grant_execute('filestore.plan_of', 'filestore_engine');

create function filestore.locked_plan(
  p_session filestore.session, p_kind text, p_commit jsonb
) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  -- An answer is stored for 24 hours, so its length counts, too. A write of one file stores up to the same
  -- length.
  c_answer_bytes_per_file constant integer := 1600;
  c_tries constant integer := 5;
  v_plan filestore.plan;
  v_again filestore.plan;
  v_remaining integer;
  v_locked record;
begin
  for v_try in 1 .. c_tries loop
    v_plan := filestore.plan_of(p_session, p_kind, p_commit);
    if v_plan.refusal is not null then return v_plan; end if;
    if v_try = 1 then
      -- A moved file counts as one file, although it has two steps.
      v_remaining := filestore.count_files(p_session, greatest(
        coalesce(nullif(cardinality(v_plan.new_paths), 0), cardinality(v_plan.steps), 0),
        octet_length(v_plan.value::text) / c_answer_bytes_per_file));
    end if;
    begin
      v_locked := filestore.lock_paths(p_session.project_id, v_plan.paths, v_plan.new_paths);
      v_again := filestore.plan_of(p_session, p_kind, p_commit);
      v_again.remaining := v_remaining;
      v_again.committed_at := v_locked.committed_at;
      if v_again.refusal is not null or v_again.paths = v_plan.paths
        or not exists (select unnest(v_again.paths) except select unnest(v_plan.paths)) then
        return v_again;
      end if;
      -- Other commits have added files in the meantime. These could only be locked out of order.
      raise sqlstate 'FS002';
    exception when sqlstate 'FS002' then
      null;
    end;
  end loop;
  v_plan.refusal := filestore.refusal('VERSION_CONFLICT');
  return v_plan;
end
$$;
comment on function filestore.locked_plan is
  'The plan with the files that it depends on locked, so that it holds until the transaction ends. Counts '
  'the request by its files, or by the length of its answer. A refusal may leave paths reserved: the caller '
  'rolls it back.';
call filestore.grant_execute('filestore.locked_plan', 'filestore_engine');

create function filestore.commit_planned(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_is_merge constant boolean := p_kind in ('merge_branch', 'update_branch');
  v_operation constant text := case when v_is_merge then 'merge' else replace(p_kind, '_folder', '') end;
  v_commit jsonb;
  v_plan filestore.plan;
  v_step filestore.step;
  v_file filestore.files;
  v_applied filestore.applied;
  v_added record;
  v_cost bigint := 0;
  v_is_deletion boolean := true;
  v_answer jsonb;
begin
  v_plan := filestore.locked_plan(p_session, p_kind, p_commit);
  if v_plan.refusal is not null then return v_plan.refusal; end if;
  v_commit := p_commit || jsonb_build_object('committedAt', v_plan.committed_at);
  v_added := filestore.add_segments(p_session.project_id, v_plan.value -> 'segments');
  foreach v_step in array v_plan.steps loop
    select * into v_file from filestore.files f
    where f.project_id = p_session.project_id and f.path = v_step.path;
    v_applied := filestore.put_version(p_session, v_file, v_step.path, v_step.next, v_operation, v_commit);
    v_cost := v_cost + v_applied.cost;
    v_is_deletion := v_is_deletion and (v_step.next).is_deleted;
  end loop;
  if cardinality(v_plan.steps) > 0 then
    v_plan.refusal := filestore.end_commit(
      p_session, p_commit, v_added.bytes, v_cost + v_added.database_bytes, cardinality(v_plan.steps), v_is_deletion);
    if v_plan.refusal is not null then return v_plan.refusal; end if;
  end if;
  if v_is_merge then
    v_answer := filestore.end_merge(p_session, p_kind, p_commit, v_plan.value);
  elsif p_kind in ('undo', 'restore_folder') then
    -- The new version of each file has the number after the current one.
    v_answer := v_plan.value || jsonb_build_object('runId', p_commit #> '{provenance,runId}', 'actions', (
      select coalesce(jsonb_agg(a.value || jsonb_build_object('version', (a.value ->> 'from')::integer + 1)
        order by a.position), '[]')
      from jsonb_array_elements(v_plan.value -> 'actions') with ordinality a (value, position)));
  else
    -- Without the tombstones of a move; the same for each repetition of the request.
    select jsonb_build_object('count', count(*), 'files', coalesce(
      jsonb_agg(jsonb_build_object('path', f.path, 'version', v.version) order by f.path), '[]'))
      || coalesce(v_plan.value, '{}')
    into v_answer
    from filestore.file_versions v
    join filestore.files f on f.project_id = v.project_id and f.id = v.file_id
    where v.project_id = p_session.project_id and v.commit_id = (p_commit ->> 'commitId')::uuid
      and v.is_deleted = (p_kind = 'delete_folder');
  end if;
  return jsonb_build_object('value', jsonb_build_object('remaining', v_plan.remaining, 'file', v_answer));
end
$$;
comment on function filestore.commit_planned is
  'Commits several files by a plan, under locks; p_kind: copy_folder, move_folder, delete_folder, undo, '
  'restore_folder, merge_branch, update_branch. A refusal may leave versions: the caller rolls them back.';
call filestore.grant_execute('filestore.commit_planned', 'filestore_engine');

create function public.filestore_plan(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'write', p_place => filestore.branch_place(p_commit));
  v_plan filestore.plan;
  v_remaining integer;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_plan.refusal := case
    when p_kind in ('merge_branch', 'update_branch') then filestore.enter_merge(v_session, p_commit, false)
    when filestore.sees_branches() then filestore.enter_branches(v_session, p_kind, p_commit) end;
  if v_plan.refusal is null then v_plan := filestore.plan_of(v_session, p_kind, p_commit); end if;
  begin
    -- A merge depends on two files at each path.
    v_remaining := filestore.count_files(v_session, least(
      coalesce(cardinality(v_plan.paths) / (1 + (p_kind ~ '_branch$')::integer), 1),
      (filestore.limits()).plan_requests_max * (filestore.limits()).operations_per_request));
    v_session.envelope := jsonb_set(
      v_session.envelope, '{rate,remaining}', coalesce(to_jsonb(v_remaining), 'null'));
  exception when sqlstate 'FS004' then
    v_plan.refusal := filestore.refusal('RATE_LIMIT_EXCEEDED');
  end;
  -- It changes nothing, so it does not wait for the disk.
  perform set_config('synchronous_commit', 'off', true);
  return v_session.envelope || coalesce(
    v_plan.refusal, jsonb_build_object(
      'value', v_plan.value - '{done,segments,left,position}'::text[] || '{"runId": null}'));
end
$$;
comment on function public.filestore_plan is
  'The plan of an undo, a restore, a merge or an update; locks no file. p_kind: undo, restore_folder, merge_branch, '
  'update_branch. Counts as one request for '
  'each ten files that it returns, or examined before it was refused, up to plan_requests_max; as one, with '
  'RATE_LIMIT_EXCEEDED, where fewer are left. Refusals: those of `plan_undo`, `plan_restore` and '
  '`plan_merge`.';
call filestore.publish('public.filestore_plan', 'filestore_engine', 'service_role');
