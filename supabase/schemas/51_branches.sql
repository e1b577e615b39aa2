-- Branches: creating one in slices, reading and changing them, and deleting the files of those that have
-- ended.

create function filestore.begin_branch(
  p_session filestore.session, p_branch jsonb, out branch filestore.branches, out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_directory constant text := p_branch ->> 'directory';
  v_moment filestore.moment;
  v_now constant timestamptz := clock_timestamp();
  v_end constant bigint := filestore.feed_end(v_project_id);
begin
  v_moment.position := filestore.last_position(v_project_id, 0, v_end);
  if p_branch ? 'at' then v_moment := filestore.moment_of(p_session, p_branch ->> 'at'); end if;
  refusal := coalesce(filestore.outside_prefix(p_session, v_directory || '/'), v_moment.refusal);
  if refusal is not null then return; end if;
  insert into filestore.branches (
    project_id, name, directory, title, key_name, account_id, base_position, base_time, commit_id, created_at,
    updated_at, expires_at, due_at)
  select v_project_id, p_branch ->> 'name', v_directory, p_branch ->> 'title', (
      select k.name from filestore.api_keys k where k.project_id = v_project_id and k.id = p_session.key_id),
    case when p_session.key_id is null then p_session.person_id end,
    coalesce(v_moment.position, filestore.last_position_by(v_project_id, v_end, v_moment.at)), v_moment.at,
    (p_branch ->> 'commitId')::uuid, v_now, v_now, e.at, e.at
  from (values (v_now + make_interval(secs => (p_branch ->> 'expiresIn')::integer))) e (at)
  on conflict (project_id, name) do nothing;
  -- Waits for another request that copies the files of the same branch.
  select * into branch from filestore.branches b
  where b.project_id = v_project_id and b.name = p_branch ->> 'name' for update;
  if branch.directory <> v_directory
    or branch.state <> 'new' and branch.commit_id <> (p_branch ->> 'commitId')::uuid then
    refusal := filestore.refusal('BRANCH_ALREADY_EXISTS');
  end if;
end
$$;
comment on function filestore.begin_branch is
  'The row of a branch that is created, locked: a new one, or one whose creation was cut off. Its base is a '
  'position, or the time that the client named. Refusals: BRANCH_ALREADY_EXISTS, FORBIDDEN_SCOPE, '
  'VALIDATION_ERROR.';
call filestore.grant_execute('filestore.begin_branch', 'filestore_engine');

create function filestore.unfit_for_branch(
  p_session filestore.session, p_branch filestore.branches, p_moment filestore.moment
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).branch_files_max;
  v_found constant record := filestore.files_below(p_session, p_branch.directory, p_moment, c_files_max);
  v_added constant text := '.branches/' || p_branch.name || '/';
  v_paths text[];
begin
  if v_found.is_more then
    return filestore.refusal('TOO_MANY_FILES', jsonb_build_object(
      'files', greatest(c_files_max + 1, filestore.count_live_files(p_session.project_id, p_branch.directory, true)),
      'limit', c_files_max));
  end if;
  v_paths := array(
    select f.path from unnest(v_found.files) f
    cross join lateral (
      select v_added || substr(f.path, coalesce(nullif(length(p_branch.directory), 0) + 2, 1)) as path) t
    where octet_length(t.path) > (filestore.limits()).path_bytes_max
      or cardinality(string_to_array(t.path, '/')) > (filestore.limits()).path_segments_max
    order by f.path limit (filestore.limits()).conflicting_paths_shown_max);
  return case when v_paths <> '{}' then filestore.refusal('PATH_TOO_LONG', jsonb_build_object('paths', v_paths)) end;
end
$$;
comment on function filestore.unfit_for_branch is
  'The refusal of a branch of a folder with too many files, or with paths that would be too long or too '
  'deep in it.';
call filestore.grant_execute('filestore.unfit_for_branch', 'filestore_engine');

create function filestore.with_people_of_branch(p_session filestore.session, p_branch jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if not filestore.sees_people(p_session) then return p_branch; end if;
  return p_branch || (
    select coalesce(jsonb_object_agg(d.did, p_branch -> d.did || jsonb_build_object('email', p.email)), '{}')
    from (values ('createdBy'), ('mergedBy')) d (did)
    cross join lateral (select filestore.address_of((p_branch #>> array[d.did, 'account'])::uuid)) p (email)
    where p.email is not null);
end
$$;
comment on function filestore.with_people_of_branch is
  'Adds to a branch, as the API returns it, the addresses of the people who created and merged it: for people in the '
  'console, never for keys. Null for null.';
call filestore.grant_execute('filestore.with_people_of_branch', 'filestore_engine');

create function filestore.created_branch(p_session filestore.session, p_branch filestore.branches) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jsonb_build_object('value', jsonb_build_object('branch', (
    select filestore.with_people_of_branch(p_session, filestore.branch_record(p_branch, p.cursor_key))
    from filestore.projects p
    where p.id = (p_branch).project_id and (p_branch).state <> 'new')));
end
$$;
comment on function filestore.created_branch is
  'The answer to a slice of the creation of a branch: null until it is whole.';
call filestore.grant_execute('filestore.created_branch', 'filestore_engine');

create function filestore.copy_to_branch(p_session filestore.session, p_branch jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_slice constant integer := (filestore.limits()).commit_files_max;
  v_begun constant record := filestore.begin_branch(p_session, p_branch);
  v_branch filestore.branches := v_begun.branch;
  v_commit jsonb;
  v_moment filestore.moment;
  v_found record;
  v_locked uuid[];
  v_file filestore.files;
  v_applied filestore.applied;
  v_cost bigint := 0;
  v_ids uuid[] := '{}';
  v_bases filestore.files[] := '{}';
  v_refusal jsonb := v_begun.refusal;
begin
  if v_refusal is not null or v_branch.state <> 'new' then
    return coalesce(v_refusal, filestore.created_branch(p_session, v_branch));
  end if;
  perform set_config('filestore.path_prefix', '', true), set_config('filestore.branches', 'on', true);
  v_moment := filestore.branch_moment(v_branch);
  if v_branch.copied_to = '' then
    v_refusal := filestore.unfit_for_branch(p_session, v_branch, v_moment);
    if v_refusal is not null then return v_refusal; end if;
    v_cost := (filestore.limits()).tariff_branch_bytes;
  end if;
  v_found := filestore.files_below(p_session, v_branch.directory, v_moment, c_slice, v_branch.copied_to);
  -- This lock keeps the sources from being erased, and delays no writer.
  v_locked := array(
    select f.id from filestore.files f
    where f.project_id = p_session.project_id and f.id in (select o.id from unnest(v_found.files) o)
    order by f.path for key share);
  v_commit := p_branch || jsonb_build_object(
    'commitId', gen_random_uuid(), 'committedAt', date_trunc('milliseconds', clock_timestamp()));
  foreach v_file in array (filestore.files_below(
    p_session, v_branch.directory, v_moment, c_slice, v_branch.copied_to)).files[:c_slice] loop
    continue when v_file.id <> all (v_locked);
    v_applied := filestore.put_version(
      p_session, null, '.branches/' || v_branch.name || '/'
        || substr(v_file.path, coalesce(nullif(length(v_branch.directory), 0) + 2, 1)),
      filestore.content_of(v_file), 'copy', v_commit);
    v_cost := v_cost + v_applied.cost;
    v_ids := v_ids || (v_applied.file).id;
    v_bases := v_bases || v_file;
  end loop;
  insert into filestore.branch_files (project_id, file_id, branch, base_file_id, base_version, merged_version)
  select p_session.project_id, c.id, v_branch.name, b.id, b.version, 1
  from unnest(v_ids) with ordinality c (id, place)
  join (select o.id, o.version, o.place from unnest(v_bases) with ordinality o (
    id, project_id, path, directory, version, mime_type, size, is_deleted, is_text, segment_ids, created_at, updated_at,
    place)) b on b.place = c.place;
  update filestore.branches b
  set file_count = b.file_count + cardinality(v_ids), commit_id = (p_branch ->> 'commitId')::uuid,
      state = case when v_found.is_more then 'new' else 'open' end,
      copied_to = case when v_found.is_more then (v_found.files[c_slice]).path else '' end
  where b.project_id = p_session.project_id and b.name = v_branch.name returning * into v_branch;
  v_refusal := filestore.end_commit(p_session, v_commit, 0, v_cost, cardinality(v_ids), false);
  return coalesce(v_refusal, filestore.created_branch(p_session, v_branch));
end
$$;
comment on function filestore.copy_to_branch is
  'Begins a branch, or goes on with one, and copies the next slice of its files, all as they were at one '
  'moment. A refusal may leave versions: the caller rolls them back.';
call filestore.grant_execute('filestore.copy_to_branch', 'filestore_engine');

create function public.filestore_create_branch(p_key_hash text, p_request_id uuid, p_branch jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  begin
    v_result := filestore.copy_to_branch(v_session, p_branch);
    if v_result ? 'refusal' then raise sqlstate 'FS003'; end if;
  exception when sqlstate 'FS003' then
    -- What earlier slices have copied is deleted by the sweep, so that a refused branch takes no room.
    update filestore.branches b
    set state = 'closed', due_at = clock_timestamp(), updated_at = clock_timestamp(), commit_id = gen_random_uuid()
    where b.project_id = v_session.project_id and b.name = p_branch ->> 'name' and b.state = 'new'
      and v_result #>> '{refusal,code}' = 'QUOTA_EXCEEDED';
    perform set_config('synchronous_commit', 'off', true);
  end;
  return v_session.envelope || v_result;
end
$$;
comment on function public.filestore_create_branch is
  'Copies up to commit_files_max files of a folder to a branch; branch is null until these were the last. '
  'p_branch: name, directory, title, at, expiresIn in seconds, provenance, and commitId, chosen by the '
  'caller, the same in all calls for one request. Refusals: BRANCH_ALREADY_EXISTS, TOO_MANY_FILES, '
  'PATH_TOO_LONG, QUOTA_EXCEEDED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_create_branch', 'filestore_engine', 'service_role');

create function public.filestore_branches(
  p_key_hash text, p_request_id uuid, p_state text, p_limit integer, p_after text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- Branches that one page examines.
  c_examined_max constant integer := 1000;
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_cursor_key bytea;
  v_before bigint;
  v_branch filestore.branches;
  v_examined integer := 0;
  v_branches jsonb[] := '{}';
  v_has_more boolean := false;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_session.project_id;
  v_before := filestore.position_of(v_cursor_key, p_after);
  if p_after is not null and v_before is null then
    return v_session.envelope || filestore.refused_field('after', 'must be a cursor of this list');
  end if;
  for v_branch in
    select * from filestore.branches b
    where b.project_id = v_session.project_id and b.number < coalesce(v_before, 9223372036854775807)
    order by b.number desc limit c_examined_max + 1
  loop
    v_has_more := cardinality(v_branches) >= p_limit or v_examined >= c_examined_max;
    exit when v_has_more;
    v_examined := v_examined + 1;
    v_before := v_branch.number;
    continue when (filestore.find_branch(v_session, v_branch.name, false)).refusal is not null
      or filestore.branch_state(v_branch) <> p_state;
    v_branches := v_branches || filestore.with_people_of_branch(
      v_session, filestore.branch_record(v_branch, v_cursor_key));
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'branches', v_branches, 'hasMore', v_has_more,
    'cursor', filestore.cursor_at(v_cursor_key, coalesce(v_before, 0))));
end
$$;
comment on function public.filestore_branches is
  'One page of the branches that the key may see, newest first, in any state or in one. Where many are in '
  'other states, a page has fewer than requested although more follow. Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_branches', 'filestore_engine', 'service_role');

create function public.filestore_branch(
  p_key_hash text, p_request_id uuid, p_name text, p_limit integer, p_after text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_found record;
  v_path text;
  v_change filestore.branch_change;
  v_choice record;
  v_kind text;
  v_counts jsonb := '{"added": 0, "modified": 0, "deleted": 0, "conflicts": 0}';
  v_changes jsonb[] := '{}';
  v_texts jsonb[] := '{}';
  v_text_bytes bigint := 0;
  v_seen integer := 0;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := filestore.find_branch(v_session, p_name, false);
  if v_found.refusal is not null then return v_session.envelope || v_found.refusal; end if;
  foreach v_path in array case when filestore.branch_state(v_found.branch) in ('merged', 'closed') then '{}'
    else (filestore.touched_paths(v_session, v_found.branch, false)).paths end loop
    v_change := filestore.compare_branch_file(v_found.branch, v_path);
    continue when not v_change.is_ours_changed;
    v_kind := case when not filestore.is_live(v_change.ours) then 'deleted'
      when filestore.is_live(v_change.base) or v_change.conflict = 'baseGone' then 'modified' else 'added' end;
    v_choice := filestore.choose_side(v_session, v_change, false, '{}', cardinality(v_texts), v_text_bytes);
    v_text_bytes := v_text_bytes + coalesce(v_choice.text_bytes, 0);
    v_texts := v_texts || v_choice.texts;
    v_counts := v_counts || jsonb_build_object(
      v_kind, (v_counts ->> v_kind)::integer + 1,
      'conflicts', (v_counts ->> 'conflicts')::integer + (v_choice.conflict is not null)::integer);
    continue when v_path collate "C" <= p_after;
    v_seen := v_seen + 1;
    continue when v_seen > p_limit;
    v_changes := v_changes || jsonb_build_object(
      'path', v_path, 'change', v_kind, 'base', v_change.base_version,
      'branch', filestore.live_version(v_change.ours),
      'current', case when not v_found.is_inside then filestore.live_version(v_change.theirs) end,
      'conflict', v_choice.conflict is not null);
  end loop;
  return v_session.envelope || jsonb_build_object(
    'value', filestore.created_branch(v_session, v_found.branch) #> '{value,branch}' || jsonb_build_object(
      'changes', v_changes, 'hasMore', v_seen > p_limit, 'counts', v_counts, 'isInside', v_found.is_inside,
      'texts', case when v_found.is_inside then '{}' else v_texts end));
end
$$;
comment on function public.filestore_branch is
  'A branch with a page of its changes, those after the path p_after, the counts of all of them, and the '
  'texts whose lines show whether they are conflicts. A key that is confined to the branch (isInside) sees '
  'only its own side. Refusals: BRANCH_NOT_FOUND.';
call filestore.publish('public.filestore_branch', 'filestore_engine', 'service_role');

create function public.filestore_change_branch(
  p_key_hash text, p_request_id uuid, p_name text, p_change jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_now constant timestamptz := clock_timestamp();
  v_expires_at constant timestamptz := v_now + make_interval(secs => (p_change ->> 'expiresIn')::integer);
  v_found record;
  v_branch filestore.branches;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := filestore.find_branch(v_session, p_name, true);
  v_branch := v_found.branch;
  if v_found.refusal is not null then return v_session.envelope || v_found.refusal; end if;
  if v_branch.commit_id <> (p_change ->> 'commitId')::uuid then
    if filestore.branch_state(v_branch) in ('merged', 'closed') then
      return v_session.envelope || filestore.refusal(
        'BRANCH_CLOSED', jsonb_build_object('state', filestore.branch_state(v_branch)));
    end if;
    update filestore.branches b
    set title = case when p_change ? 'title' then p_change ->> 'title' else b.title end,
        note = case when p_change ? 'note' then p_change ->> 'note' else b.note end,
        state = coalesce(p_change ->> 'state', b.state), expires_at = coalesce(v_expires_at, b.expires_at),
        due_at = case when p_change ->> 'state' = 'closed' then v_now else coalesce(v_expires_at, b.due_at) end,
        updated_at = v_now, commit_id = (p_change ->> 'commitId')::uuid
    where b.project_id = v_session.project_id and b.name = p_name returning * into v_branch;
    if p_change ->> 'state' = 'ready' and (v_found.branch).state <> 'ready' then
      perform filestore.note_branch_event(v_branch, 'branch.ready');
    end if;
  end if;
  return v_session.envelope || jsonb_build_object(
    'value', filestore.created_branch(v_session, v_branch) #> '{value,branch}');
end
$$;
comment on function public.filestore_change_branch is
  'Changes the given fields of a branch: title, note, state (open, ready or closed), expiresIn in seconds '
  'from now; commitId is chosen by the caller. Refusals: BRANCH_NOT_FOUND, BRANCH_CLOSED.';
call filestore.publish('public.filestore_change_branch', 'filestore_engine', 'service_role');

create function filestore.remove_branch_files(p_session filestore.session, p_name text) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_slice constant integer := (filestore.limits()).commit_files_max;
  v_place constant text := '.branches/' || p_name;
  v_commit jsonb;
  v_branch filestore.branches;
  v_paths text[];
  v_path text;
  v_file filestore.files;
  v_applied filestore.applied;
  v_cost bigint := 0;
  v_versions integer := 0;
begin
  perform set_config('filestore.path_prefix', '', true), set_config('filestore.branches', 'on', true);
  -- The branch before its files: a write there has ended, or finds that the branch has.
  select * into v_branch from filestore.branches b
  where b.project_id = p_session.project_id and b.name = p_name for update;
  if v_branch.due_at is null
    or v_branch.state not in ('merged', 'closed') and v_branch.expires_at > filestore.sweep_clock() then
    return false;
  end if;
  v_paths := array(
    select f.path from filestore.files f
    where f.project_id = p_session.project_id and not f.is_deleted
      and f.path > v_place || '/' and f.path < v_place || '0'
    order by f.path limit c_slice + 1);
  -- All versions of a commit have one time, which is not before the last change of any of its files.
  v_commit := jsonb_build_object('commitId', gen_random_uuid(), 'committedAt', (
    select greatest(max(f.updated_at), date_trunc('milliseconds', clock_timestamp())) from filestore.files f
    where f.project_id = p_session.project_id and f.path = any (v_paths)));
  foreach v_path in array v_paths[:c_slice] loop
    v_file := filestore.lock_file(p_session.project_id, v_path);
    continue when not filestore.is_live(v_file);
    v_applied := filestore.put_version(p_session, v_file, v_path, filestore.tombstone_of(v_file), 'delete', v_commit);
    v_cost := v_cost + v_applied.cost;
    v_versions := v_versions + 1;
  end loop;
  update filestore.branches b
  set state = case when b.state = 'merged' then 'merged' else 'closed' end,
      due_at = case when cardinality(v_paths) > c_slice then b.due_at end
  where b.project_id = p_session.project_id and b.name = p_name;
  perform filestore.end_commit(p_session, v_commit, 0, v_cost, v_versions, true);
  return cardinality(v_paths) > c_slice;
end
$$;
comment on function filestore.remove_branch_files is
  'Deletes a slice of the files of a branch that has ended or expired, and returns whether more may be '
  'left.';
call filestore.publish('filestore.remove_branch_files', 'filestore_engine', 'filestore_admin');

create function public.filestore_remove_branch_files(p_key_hash text, p_request_id uuid, p_name text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_found record;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := filestore.find_branch(v_session, p_name, false);
  return v_session.envelope || coalesce(v_found.refusal, jsonb_build_object(
    'value', filestore.remove_branch_files(v_session, p_name)));
end
$$;
comment on function public.filestore_remove_branch_files is
  'Deletes a slice of the files of a branch that has ended, and returns whether more may be left. Refusals: '
  'BRANCH_NOT_FOUND.';
call filestore.publish('public.filestore_remove_branch_files', 'filestore_engine', 'service_role');

create function filestore.sweep_branches(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_session filestore.session;
  v_name text;
begin
  select b.name into v_name from filestore.branches b
  where b.project_id = p_project_id and b.due_at <= filestore.sweep_clock() order by b.due_at limit 1;
  if not found then return; end if;
  v_session.project_id := p_project_id;
  perform set_config('filestore.project_id', p_project_id::text, true);
  perform filestore.remove_branch_files(v_session, v_name);
  perform set_config('filestore.project_id', '', true);
end
$$;
comment on function filestore.sweep_branches is
  'Deletes a slice of the files of the branch of a project that has been due longest.';
call filestore.grant_execute('filestore.sweep_branches', 'filestore_admin');
