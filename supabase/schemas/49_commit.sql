-- The entry of every commit: repeated requests, the kind of the commit, and refusals that change nothing.

create function filestore.commit_or_refuse(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_result jsonb;
begin
  v_result := case
    when p_kind in ('merge_branch', 'update_branch') then filestore.enter_merge(p_session, p_commit, true)
    when filestore.sees_branches() then filestore.enter_branches(p_session, p_kind, p_commit) end;
  if v_result is not null then return v_result; end if;
  if p_session.max_project_bytes is null and p_kind in (
    'write', 'overwrite', 'append', 'edit', 'delete', 'restore') then
    return filestore.commit_version(p_session, p_kind, p_commit);
  end if;
  -- The cost of a commit is known once its versions are added, so if the quota has no room, they are rolled
  -- back to here.
  begin
    case p_kind
      when 'copy', 'move' then
        v_result := filestore.commit_batch(p_session, p_commit || jsonb_build_object(
          'operations', jsonb_build_array(p_commit || jsonb_build_object('kind', p_kind))));
        v_result := case when v_result ? 'refusal' then v_result #- '{refusal,details,index}'
          else jsonb_set(v_result, '{value,file}', coalesce(
            v_result #> '{value,file,results,0}', v_result #> '{value,file}')) end;
      when 'batch' then v_result := filestore.commit_batch(p_session, p_commit);
      when 'copy_folder', 'move_folder', 'delete_folder', 'undo', 'restore_folder', 'merge_branch', 'update_branch' then
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
  'Commits or refuses. A refusal, for instance since the quota has no room, changes nothing.';
call filestore.grant_execute('filestore.commit_or_refuse', 'filestore_engine');

create function filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_idempotency constant jsonb := p_commit -> 'idempotency';
  v_expired timestamptz;
  v_result jsonb;
begin
  if v_idempotency is null then return filestore.commit_or_refuse(p_session, p_kind, p_commit); end if;
  v_expired := clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  -- Expired keys of the project are removed a few at a time, by the requests that use keys.
  delete from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and (i.caller_id, i.key) in (
    select o.caller_id, o.key from filestore.idempotency_keys o
    where o.project_id = p_session.project_id and o.created_at < v_expired
    order by o.created_at limit 10 for update skip locked);
  begin
    -- Waits for a running request with the same key; its response is stored when the wait ends.
    insert into filestore.idempotency_keys as i (project_id, caller_id, key, fingerprint, created_at)
    values (
      p_session.project_id, p_session.caller_id, v_idempotency ->> 'key',
      decode(v_idempotency ->> 'fingerprint', 'hex'), clock_timestamp())
    on conflict (project_id, caller_id, key) do update
      set fingerprint = excluded.fingerprint, response = null, names = null, created_at = excluded.created_at
      where i.created_at < v_expired;
    if not found then
      -- Null where the key has expired in the meantime.
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
    where i.project_id = p_session.project_id and i.caller_id = p_session.caller_id and i.key = v_idempotency ->> 'key';
  else
    -- Paths and quoted content are stored apart, so that an erasure can remove them. The path of a single
    -- file is not stored, since a repeated request contains it.
    update filestore.idempotency_keys i
    set (response, names) = (
      select jsonb_object_agg(e.key, case
               when jsonb_typeof(e.value) = 'array' then '[]' when e.key = 'said' then 'null' else e.value end)
               filter (where e.key <> 'path'),
             jsonb_object_agg(e.key, e.value) filter (where jsonb_typeof(e.value) = 'array' or e.key = 'said')
               || jsonb_build_object('prefix', (p_session).path_prefix)
      from jsonb_each(v_result -> 'value' -> 'file') e)
    where i.project_id = p_session.project_id and i.caller_id = p_session.caller_id and i.key = v_idempotency ->> 'key';
  end if;
  return v_result;
end
$$;
comment on function filestore.commit_idempotent is
  'Commits, or returns what the same request returned before: `file` is the answer, even for a commit of '
  'several files. Refusals are not stored.';
call filestore.grant_execute('filestore.commit_idempotent', 'filestore_engine');

create function public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, case p_kind when 'purge' then 'admin' else 'write' end,
    p_place => filestore.branch_place(p_commit));
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_result := coalesce(
    filestore.outside_prefix(v_session, coalesce(p_commit ->> 'destination', p_commit ->> 'path')),
    case when p_kind <> 'copy' then filestore.outside_prefix(v_session, p_commit ->> 'path') end,
    filestore.commit_idempotent(v_session, p_kind, p_commit));
  -- A refusal changed nothing, so it does not wait for the disk.
  if v_result ? 'refusal' then perform set_config('synchronous_commit', 'off', true); end if;
  return v_session.envelope || v_result;
end
$$;
comment on function public.filestore_commit is
  'Adds a version, or erases a file with all of its versions. p_kind: write (creates the file where there is none), '
  'overwrite, append, edit, delete, restore, copy, move; purge, with the scope admin. Refusals: FILE_NOT_FOUND, '
  'VERSION_NOT_FOUND, VERSION_DELETED, VERSION_CONFLICT, PRECONDITION_FAILED, FILE_ALREADY_EXISTS, '
  'IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, CONTENT_TOO_LARGE, QUOTA_EXCEEDED, SEGMENT_LIST_FULL, '
  'VERSION_REDACTED.';
call filestore.publish('public.filestore_commit', 'filestore_engine', 'service_role');

create function public.filestore_commit_many(
  p_key_hash text, p_request_id uuid, p_requests integer, p_kind text, p_commit jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session filestore.session;
  v_result jsonb;
begin
  -- Where too few requests are left nothing is counted: everything is rolled back to here.
  begin
    v_session := filestore.authorize(
      p_key_hash, p_request_id, 'write', p_requests, filestore.branch_place(p_commit));
    if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
    select filestore.outside_prefix(v_session, p.path) into v_result
    from jsonb_array_elements(p_commit -> 'operations') o
    cross join lateral (
      values (o.value ->> 'destination'), (case when o.value ->> 'kind' <> 'copy' then o.value ->> 'path' end)
    ) p (path)
    where v_session.path_prefix is not null and filestore.outside_prefix(v_session, p.path) is not null limit 1;
    if found then return v_session.envelope || v_result; end if;
    -- Without an idempotency key of the client, the commit's own id is the key, so that a call whose answer
    -- was lost can be repeated and returns the stored answer. No client's key has this character.
    v_result := filestore.commit_idempotent(v_session, p_kind, jsonb_build_object('idempotency', jsonb_build_object(
      'key', E'\u0001' || (p_commit ->> 'commitId'), 'fingerprint', repeat('00', 32), 'isOwn', true)) || p_commit);
    if v_result #> '{value,remaining}' is not null then
      v_session.envelope := jsonb_set(v_session.envelope, '{rate,remaining}', v_result #> '{value,remaining}');
    end if;
  exception when sqlstate 'FS004' then
    return jsonb_set(
      v_session.envelope, '{rate,remaining}', to_jsonb((v_session.envelope #>> '{rate,remaining}')::integer + 1))
      || filestore.refusal('RATE_LIMIT_EXCEEDED');
  end;
  -- A refusal changed nothing, so it does not wait for the disk.
  if v_result ? 'refusal' then perform set_config('synchronous_commit', 'off', true); end if;
  return v_session.envelope || case when v_result ? 'refusal' then v_result else jsonb_build_object('value',
    (v_result -> 'value' -> 'file')
    || jsonb_build_object('isReplayed', coalesce(v_result -> 'value' -> 'isReplayed', 'false'))) end;
end
$$;
comment on function public.filestore_commit_many is
  'Commits several files, all or none. p_kind: batch, copy_folder, move_folder, delete_folder, undo, '
  'restore_folder, merge_branch, update_branch. Counts as p_requests requests, and except for a batch as one for '
  'each ten files begun; as none where fewer are left. Refusals: those of filestore_commit, for a batch with '
  'details.index; for the other kinds, those of their plans.';
call filestore.publish('public.filestore_commit_many', 'filestore_engine', 'service_role');

