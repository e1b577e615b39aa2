-- Runs, branches and the activity name people to the people in a project; invitations and disabled webhooks are mailed.
-- One project whose step of the sweep fails stops no other one.
--
-- This replaces functions, and locks no table so that others wait.

comment on function public.filestore_account_members is
  'The members of a project, by default of the account''s oldest one. Everybody in it may list them (members) and '
  'leave (remove_member: id); the owner and admins invite (id, chosen by the caller, email, role, and mails: whether '
  'the caller sends mails), change_member (id, role) and remove_member (id); the owner may transfer the project (id). '
  'Refusals: PROJECT_NOT_FOUND, FORBIDDEN_SCOPE, MEMBER_NOT_FOUND, OWNER_REQUIRED, MEMBER_ALREADY_EXISTS, '
  'MEMBER_LIMIT_REACHED, PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED, QUOTA_EXCEEDED, VALIDATION_ERROR.';

-- Internal functions with other parameters than before; what calls them is replaced below.
drop function filestore.created_branch(filestore.branches);
drop function filestore.latest_writes(uuid, integer);
drop function filestore.invite(uuid, uuid, text, text);

create function filestore.person(p_account_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_email constant text := filestore.address_of(p_account_id);
begin
  return case when v_email is not null then jsonb_build_object('id', p_account_id, 'email', v_email) end;
end
$$;
comment on function filestore.person is
  'An account as the API names it to people in the project; null where it is gone, or has no address.';
revoke all on function filestore.person from public, anon, authenticated, service_role;
grant execute on function filestore.person to filestore_account, filestore_engine;

create function filestore.sees_people(p_session filestore.session) returns boolean
language plpgsql immutable set search_path = ''
as $$ begin return p_session.key_id is null and p_session.person_id is not null; end $$;
comment on function filestore.sees_people is 'Whether answers may name people: in the console, never for keys or apps.';
revoke all on function filestore.sees_people from public, anon, authenticated, service_role;
grant execute on function filestore.sees_people to filestore_engine;

create or replace function filestore.accounts_of(p_session filestore.session, p_positions bigint[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if not filestore.sees_people(p_session) then return null; end if;
  return (
    select jsonb_object_agg(a.id, ',"account":' || json_build_object('id', a.id, 'email', a.email))
    from (
      select d.id, filestore.address_of(d.id) as email
      from (
        select distinct v.account_id as id from filestore.file_versions v
        where v.project_id = p_session.project_id and v.position = any (p_positions) and v.account_id is not null
      ) d
    ) a where a.email is not null);
end
$$;
comment on function filestore.accounts_of is
  'For people in the console, never for keys: the accounts that added the versions at these positions, each as a part '
  'of the entry of a version.';

create function filestore.with_people(p_session filestore.session, p_runs jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if not filestore.sees_people(p_session) then return p_runs; end if;
  return (
    select coalesce(jsonb_agg(r.run || jsonb_build_object('accounts', (
        select coalesce(jsonb_agg(p.person order by p.person ->> 'email'), '[]')
        from (
          select distinct v.account_id
          from unnest(filestore.run_keys(p_session.project_id, r.run ->> 'runId')) k (id)
          cross join lateral (
            select l.account_id from filestore.file_versions l
            where l.project_id = p_session.project_id and l.run_id = r.run ->> 'runId' and l.key_id = k.id
            order by l.key_id, l.file_id, l.version
            limit (filestore.limits()).run_versions_named_max
          ) v
        ) d
        cross join lateral (select filestore.person(d.account_id)) p (person)
        where p.person is not null)) order by r.place), '[]')
    from jsonb_array_elements(p_runs) with ordinality r (run, place));
end
$$;
comment on function filestore.with_people is
  'Adds to runs, as the API returns them, the people who wrote in them: for people in the console, never for keys.';
revoke all on function filestore.with_people from public, anon, authenticated, service_role;
grant execute on function filestore.with_people to filestore_engine;
alter function filestore.with_people set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set enable_sort = off set jit = off;

create or replace function public.filestore_runs(p_key_hash text, p_request_id uuid, p_limit integer, p_after text)
returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- A page examines at most this many runs, and stops once it has counted this many versions.
  c_examined_max constant integer := 1000;
  c_counted_max constant integer := 50000;
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_before bigint;
  v_run record;
  v_summary record;
  v_runs jsonb := '[]';
  v_examined integer := 0;
  v_counted bigint := 0;
  v_has_more boolean := false;
  v_cursor_key bytea;
  v_hides_files boolean;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_hides_files := filestore.hides_files(v_session);
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_project_id;
  v_before := filestore.position_of(v_cursor_key, p_after);
  if p_after is not null and v_before is null then
    return v_session.envelope || filestore.refused_field('after', 'must be a cursor of this project');
  end if;
  for v_run in
    select r.run_id, r.first_position from filestore.runs r
    where r.project_id = v_project_id and r.first_position < coalesce(v_before, 9223372036854775807)
    order by r.project_id desc, r.first_position desc limit c_examined_max + 1
  loop
    -- A page ends early where counting has become too much work.
    v_has_more := jsonb_array_length(v_runs) >= p_limit or v_examined >= c_examined_max
      or v_counted >= c_counted_max;
    exit when v_has_more;
    v_summary := filestore.summarize_run(v_project_id, v_run.run_id, v_hides_files);
    v_examined := v_examined + 1;
    v_counted := v_counted + v_summary.counted;
    v_before := v_run.first_position;
    if v_summary.summary is not null then v_runs := v_runs || v_summary.summary; end if;
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'runs', filestore.with_people(v_session, v_runs), 'hasMore', v_has_more,
    'cursor', filestore.cursor_at(v_cursor_key, coalesce(v_before, 0))));
end
$$;
comment on function public.filestore_runs is
  'One page of the runs of which the key sees a part, newest first. Where runs have many versions, or the '
  'key sees none of many runs, a page has fewer runs than requested although more follow. Refusals: '
  'VALIDATION_ERROR.';

create or replace function public.filestore_run(
  p_key_hash text, p_request_id uuid, p_run_id text, p_limit integer, p_after uuid
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_summary jsonb;
  v_run record;
  v_files jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_summary := (filestore.summarize_run(v_project_id, p_run_id, filestore.hides_files(v_session))).summary;
  if v_summary is null then return v_session.envelope || filestore.refusal('RUN_NOT_FOUND'); end if;
  v_run := filestore.run_files(
    v_project_id, p_run_id, filestore.run_keys(v_project_id, p_run_id), null, p_after, p_limit + 1);
  v_files := (
    select coalesce(jsonb_agg(jsonb_build_object(
      'path', f.path, 'fileId', f.file_id, 'firstVersion', f.first_version, 'lastVersion', f.last_version,
      'operation', v.operation) || filestore.whose(v_session, f.key_ids) order by f.file_id), '[]')
    from unnest(v_run.files) f
    -- fence: versions are looked up one by one.
    cross join lateral (
      select v.operation from filestore.file_versions v
      where v.project_id = v_project_id and v.file_id = f.file_id and v.version = f.last_version offset 0
    ) v);
  v_summary := filestore.with_people(v_session, jsonb_build_array(v_summary)) -> 0;
  return v_session.envelope || jsonb_build_object('value', v_summary || jsonb_build_object(
    'files', v_files - p_limit, 'hasMore', jsonb_array_length(v_files) > p_limit));
end
$$;
comment on function public.filestore_run is
  'A run, and some of its files in the order of their ids. Refusals: RUN_NOT_FOUND, also where the key sees '
  'none of it.';

create or replace function filestore.branch_record(p_branch filestore.branches, p_cursor_key bytea) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jsonb_build_object(
    'name', (p_branch).name, 'path', '.branches/' || (p_branch).name, 'directory', (p_branch).directory,
    'title', (p_branch).title, 'note', (p_branch).note, 'state', filestore.branch_state(p_branch),
    'fileCount', (p_branch).file_count, 'base', filestore.cursor_at(p_cursor_key, (p_branch).base_position),
    'createdBy', jsonb_strip_nulls(jsonb_build_object(
      'keyName', (p_branch).key_name, 'account', (p_branch).account_id)),
    'createdAt', filestore.iso((p_branch).created_at), 'updatedAt', filestore.iso((p_branch).updated_at),
    'expiresAt', filestore.iso((p_branch).expires_at))
    || case when (p_branch).state = 'merged' then jsonb_build_object('mergedBy', jsonb_strip_nulls(jsonb_build_object(
      'keyName', (p_branch).merged_key_name, 'account', (p_branch).merged_account_id))) else '{}' end;
end
$$;
comment on function filestore.branch_record is 'A branch as the API returns it.';

create or replace function filestore.end_merge(
  p_session filestore.session, p_kind text, p_commit jsonb, p_value jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_is_merge constant boolean := p_kind = 'merge_branch';
  v_is_whole constant boolean := p_value -> 'left' = '0' and (v_is_merge or not p_commit ? 'paths');
  v_now constant timestamptz := clock_timestamp();
  v_branch filestore.branches;
  v_above text;
  v_inside text;
begin
  update filestore.branches b
  set updated_at = v_now, state = case when v_is_whole and v_is_merge then 'merged' else b.state end,
      due_at = case when not v_is_whole or not v_is_merge then b.due_at
        when not (p_commit ->> 'keep')::boolean then v_now end,
      base_time = case when v_is_merge or not v_is_whole then b.base_time end,
      base_position = case when v_is_merge or not v_is_whole then b.base_position
        else (p_value ->> 'position')::bigint end,
      merged_account_id = case when v_is_whole and v_is_merge and p_session.key_id is null then p_session.person_id end,
      merged_key_name = (
        select k.name from filestore.api_keys k
        where v_is_whole and v_is_merge and k.project_id = v_project_id and k.id = p_session.key_id)
  where b.project_id = v_project_id and b.name = p_commit ->> 'branch' returning * into v_branch;
  if v_branch.state = 'merged' then perform filestore.note_branch_event(v_branch, 'branch.merged'); end if;
  v_above := coalesce(nullif(v_branch.directory, '') || '/', '');
  v_inside := '.branches/' || v_branch.name || '/';
  insert into filestore.branch_files as b (
    project_id, file_id, branch, base_file_id, base_version, merged_version, base_is_merged)
  select v_project_id, o.id, v_branch.name, t.id, coalesce(t.version, 0),
         case when (d.value ->> 'isMerged')::boolean then o.version end, (d.value ->> 'isOther')::boolean
  from jsonb_array_elements(p_value -> 'done') d
  -- fence, here and below: files are looked up one by one.
  cross join lateral (
    select f.id, f.version from filestore.files f
    where f.project_id = v_project_id and f.path = v_inside || (d.value ->> 'path') offset 0
  ) o
  left join lateral (
    select f.id, f.version from filestore.files f
    where f.project_id = v_project_id and f.path = v_above || (d.value ->> 'path') offset 0
  ) t on true
  on conflict (project_id, file_id) do update
    set base_file_id = excluded.base_file_id, base_version = excluded.base_version,
        merged_version = excluded.merged_version, base_is_merged = excluded.base_is_merged;
  return jsonb_build_object(
    'runId', p_commit #> '{provenance,runId}', 'conflicts', '[]'::jsonb, 'isEnded', v_branch.state = 'merged',
    'actions', (
      select coalesce(jsonb_agg(a.value || jsonb_build_object('version', f.version) order by a.place), '[]')
      from jsonb_array_elements(p_value -> 'actions') with ordinality a (value, place)
      cross join lateral (
        select o.version from filestore.files o
        where o.project_id = v_project_id
          and o.path = case when v_is_merge then v_above else v_inside end || (a.value ->> 'path') offset 0
      ) f));
end
$$;
comment on function filestore.end_merge is
  'Moves the bases of the files that a merge or an update has concerned, ends the branch once nothing is '
  'left to merge, and returns the answer.';
alter function filestore.end_merge set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set enable_sort = off set jit = off;

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
revoke all on function filestore.with_people_of_branch from public, anon, authenticated, service_role;
grant execute on function filestore.with_people_of_branch to filestore_engine;

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
revoke all on function filestore.created_branch from public, anon, authenticated, service_role;
grant execute on function filestore.created_branch to filestore_engine;

create or replace function filestore.copy_to_branch(p_session filestore.session, p_branch jsonb) returns jsonb
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

create or replace function public.filestore_branches(
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

create or replace function public.filestore_branch(
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

create or replace function public.filestore_change_branch(
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

create function filestore.latest_writes(p_project_id uuid, p_limit integer, p_with_people boolean) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'fileId', v.file_id, 'path', v.path, 'version', v.version, 'operation', v.operation, 'size', v.size,
    'mimeType', v.mime_type, 'deleted', nullif(v.is_deleted, false), 'runId', v.run_id, 'actor', v.actor,
    'note', v.note, 'from', case when s.id is not null
      then jsonb_build_object('path', s.path, 'version', v.source_version) end,
    'account', case when p_with_people then filestore.person(v.account_id) end,
    'createdAt', filestore.iso(v.created_at)))
    || jsonb_build_object('keyId', nullif(v.key_id, '00000000-0000-0000-0000-000000000000'))
    order by v.position desc), '[]')
  from (
    select l.*, o.path from filestore.file_versions l
    -- fence: files are looked up one by one, only as many as are shown or lie in branches.
    cross join lateral (
      select f.path from filestore.files f where f.project_id = p_project_id and f.id = l.file_id offset 0
    ) o
    where l.project_id = p_project_id and not starts_with(o.path, '.branches/')
    order by l.position desc limit least(greatest(p_limit, 1), (filestore.limits()).page_limit_max)
  ) v
  left join filestore.files s on s.project_id = p_project_id and s.id = v.source_file_id
$$;
comment on function filestore.latest_writes is
  'The latest versions of a project''s files, newest first, with the people who wrote them: for signed-in people, not '
  'for keys and the operator.';
revoke all on function filestore.latest_writes from public, anon, authenticated, service_role;
grant execute on function filestore.latest_writes to filestore_account;

create or replace function filestore.administer(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key_id uuid;
  v_repeated jsonb;
begin
  if p_project_id is distinct from nullif(current_setting('filestore.project_id', true), '')::uuid then
    raise exception 'the project was not opened';
  end if;
  if p_parameters ? 'keyHash' then
    v_repeated := filestore.repeated_key(p_project_id, p_parameters);
    if v_repeated is not null then return v_repeated; end if;
  end if;
  case p_action
    when 'project' then
      return jsonb_build_object('value', filestore.account_project(p_project_id));
    when 'rename' then
      if p_parameters ? 'name' and filestore.validate_name(p_parameters ->> 'name', 1) is not null then
        return filestore.validate_name(p_parameters ->> 'name', 1);
      end if;
      if p_parameters -> 'dryRun' = 'true' then
        return jsonb_build_object('value', filestore.account_project(p_project_id) || jsonb_build_object(
          'wouldRemove', filestore.preview_retention(p_project_id, case when p_parameters ? 'retention'
            then nullif(p_parameters -> 'retention', 'null')
            else (select p.retention from filestore.projects p where p.id = p_project_id) end)));
      end if;
      begin
        update filestore.projects p
        set name = coalesce(p_parameters ->> 'name', p.name),
            retention = case when p_parameters ? 'retention' then nullif(p_parameters -> 'retention', 'null')
              else p.retention end,
            retention_set_at = case when p_parameters ? 'retention' then clock_timestamp() else p.retention_set_at end
        where p.id = p_project_id;
      exception when unique_violation then
        return filestore.refusal('PROJECT_NAME_TAKEN');
      end;
      return jsonb_build_object('value', filestore.account_project(p_project_id));
    when 'delete' then
      return filestore.end_project(
        p_project_id, p_parameters ->> 'confirm', (p_parameters ->> 'deletionId')::uuid);
    when 'keys' then
      return jsonb_build_object('value', (
        select coalesce(jsonb_agg(filestore.account_key(k) order by k.created_at desc, k.id), '[]')
        from filestore.api_keys k where k.project_id = p_project_id));
    when 'create_key' then return filestore.create_key(p_project_id, p_parameters);
    when 'rotate_key' then
      return filestore.rotate_key(p_project_id, p_parameters);
    when 'regenerate_key' then
      select k.id into v_key_id from filestore.api_keys k
      where k.project_id = p_project_id and k.kind = 'key' and filestore.is_active(k)
      order by k.created_at desc, k.id limit 1;
      if found then
        return filestore.rotate_key(p_project_id, p_parameters || jsonb_build_object('id', v_key_id));
      end if;
      return filestore.create_key(
        p_project_id, p_parameters || '{"environment": "development", "scopes": ["read", "write"]}');
    when 'change_key' then
      return filestore.change_key(p_project_id, (p_parameters ->> 'id')::uuid, p_parameters);
    when 'revoke_key' then
      return filestore.revoke_key(p_project_id, (p_parameters ->> 'id')::uuid);
    when 'usage' then
      perform filestore.fold_usage(p_project_id, 10000);
      return filestore.usage_by_day(p_project_id, p_parameters);
    when 'activity' then
      return jsonb_build_object('value', filestore.latest_writes(
        p_project_id, (p_parameters ->> 'limit')::integer, filestore.current_account_id() is not null));
    else return filestore.administer_webhook(p_project_id, p_action, p_parameters);
  end case;
end
$$;
comment on function filestore.administer is
  'The actions on an opened project by the people in it, by keys with the scope admin and by the operator: project, '
  'rename, delete, keys, create_key, rotate_key, regenerate_key, change_key, revoke_key, activity, usage, and '
  'those of administer_webhook.';

create function filestore.disabled_mail(p_hook filestore.webhooks) returns json
language plpgsql stable set search_path = '' as $$
begin
  return (
    select json_build_object('disabled', json_build_object(
      'to', array(
        select a.address from (
          select p.owner_id union
          select m.account_id from filestore.members m where m.project_id = p.id and m.role = 'admin'
        ) c (account_id)
        cross join lateral (select filestore.address_of(c.account_id, true)) a (address)
        where a.address is not null and filestore.is_account_active(c.account_id) order by a.address),
      'projectName', p.name, 'url', p_hook.url, 'failures', p_hook.failures))
    from filestore.projects p where p.id = p_hook.project_id);
end
$$;
comment on function filestore.disabled_mail is
  'What is mailed when a webhook has been disabled, and to whom: the owner and the admins of the project, at their '
  'confirmed addresses.';
revoke all on function filestore.disabled_mail from public, anon, authenticated, service_role;
grant execute on function filestore.disabled_mail to filestore_engine;

create or replace function public.filestore_webhook_step(p_project_id uuid, p_id uuid, p_try jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_found filestore.webhooks;
  v_hook filestore.webhooks;
  v_batch record;
  v_is_due boolean;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true),
    -- A step that a crash of the database takes back is done again.
    set_config('synchronous_commit', 'off', true), set_config('filestore.project_id', p_project_id::text, true);
  select * into v_found from filestore.webhooks w where w.project_id = p_project_id and w.id = p_id for update;
  if not found then return null; end if;
  perform filestore.open_paths(null, v_found.directory || '/');
  v_hook := case when p_try is null then v_found else filestore.note_webhook_try(v_found, p_try) end;
  v_is_due := v_hook.state = 'active' and v_hook.database_id = filestore.database_id()
    and (v_hook.leased_until > clock_timestamp()) is not true and (v_hook.next_at > filestore.sweep_clock()) is not true
    and exists (
      select from filestore.projects p
      where p.id = p_project_id and p.suspended_at is null and p.deleted_at is null
        and filestore.is_account_active(p.owner_id));
  if v_is_due then
    v_batch := filestore.webhook_batch(v_hook);
    if v_batch.type is null then
      v_is_due := v_batch.end_position > v_hook.position;
      v_hook.position := v_batch.end_position;
      v_hook.pending_id := null;
      v_hook.pending_end := null;
      v_hook.failures := 0;
    else
      v_hook.pending_id := coalesce(v_hook.pending_id, gen_random_uuid());
      v_hook.pending_end := v_batch.end_position;
      v_hook.lease_id := gen_random_uuid();
      v_hook.leased_until := clock_timestamp() + make_interval(secs => (filestore.limits()).webhook_lease_seconds);
    end if;
  end if;
  if v_hook is not distinct from v_found then return null; end if;
  update filestore.webhooks w
  set (position, pending_id, pending_end, failures, next_at, state, reason, lease_id, leased_until, deliveries) = (
    v_hook.position, v_hook.pending_id, v_hook.pending_end, v_hook.failures, v_hook.next_at, v_hook.state,
    v_hook.reason, v_hook.lease_id, v_hook.leased_until, v_hook.deliveries)
  where w.project_id = p_project_id and w.id = p_id;
  -- Only the try that disables the webhook is answered so, whichever process reports it.
  if v_hook.state = 'disabled' and v_found.state <> 'disabled' and p_try -> 'mails' = 'true' then
    perform set_config('synchronous_commit', 'on', true);
    return filestore.disabled_mail(v_hook);
  end if;
  if not v_is_due then return null; end if;
  return json_build_object(
    'leaseId', v_hook.lease_id, 'id', coalesce(v_hook.pending_id, v_hook.id), 'attempt', v_hook.failures + 1,
    'url', v_hook.url, 'webhookId', v_hook.id, 'secret', v_hook.secret,
    'previousSecret', case when v_hook.previous_until > clock_timestamp() then v_hook.previous_secret end,
    'type', v_batch.type, 'timestamp', v_batch.happened_at, 'cursor', v_batch.cursor,
    'changes', coalesce(v_batch.changes, '[]'), 'branch', v_batch.branch);
end
$$;
comment on function public.filestore_webhook_step is
  'Records the result of a try, if p_try is not null, and leases the webhook''s next delivery; null where '
  'none is due. With type null there was nothing for the webhook up to a position, and the next call goes on. '
  'If the try disables the webhook, it returns the mail that the caller is to send, with p_try.mails: whether it does.';

create function filestore.invitation_mail(p_project_id uuid) returns jsonb
language sql volatile set search_path = '' as $$
  update filestore.account_windows w
  set invitations_mailed_at = array(
    select m.at from unnest(w.invitations_mailed_at) m (at) where m.at > clock_timestamp() - interval '24 hours')
    || clock_timestamp()
  where w.account_id = filestore.current_account_id() and (
    select count(*) from unnest(w.invitations_mailed_at) m (at) where m.at > clock_timestamp() - interval '24 hours')
    < (filestore.limits()).invitation_mails_per_day_max
  returning jsonb_build_object(
    'projectName', (select p.name from filestore.projects p where p.id = p_project_id),
    'invitedBy', filestore.address_of(w.account_id))
$$;
comment on function filestore.invitation_mail is
  'Counts an invitation to the opened project that is mailed, and returns what its mail says; null where the account '
  'has had all of its mails for 24 hours.';
revoke all on function filestore.invitation_mail from public, anon, authenticated, service_role;
grant execute on function filestore.invitation_mail to filestore_account;

create function filestore.invite(p_project_id uuid, p_id uuid, p_email text, p_role text, p_mails boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_id constant uuid := filestore.own_id(p_project_id, p_id);
  v_member filestore.members;
begin
  select * into v_member from filestore.team(p_project_id) t where t.id = v_id;
  if found then
    -- An earlier attempt, whose answer was lost: so was the mail.
    null;
  elsif (p_email ~ '^[!-?A-~]+@[!-?A-~]+$' and octet_length(p_email) <= 254) is not true then
    return filestore.refused_field('email', 'must be an e-mail address');
  elsif exists (select from filestore.team(p_project_id) t where t.email = lower(p_email)) then
    return filestore.refusal('MEMBER_ALREADY_EXISTS');
  elsif (select count(*) from filestore.team(p_project_id)) >= v_limits.project_members_max then
    return filestore.refusal('MEMBER_LIMIT_REACHED', jsonb_build_object('limit', v_limits.project_members_max));
  else
    delete from filestore.members m where m.project_id = p_project_id and m.expires_at <= clock_timestamp();
    insert into filestore.members (project_id, id, email, role, invited_by, expires_at)
    values (
      p_project_id, v_id, lower(p_email), p_role, filestore.current_account_id(),
      clock_timestamp() + make_interval(days => v_limits.invitation_days))
    returning * into v_member;
  end if;
  return jsonb_build_object('value', filestore.member_record(v_member) || jsonb_strip_nulls(jsonb_build_object(
    'mail', case when p_mails then filestore.invitation_mail(p_project_id) end)));
end
$$;
comment on function filestore.invite is
  'Invites an address to an opened project, or returns the invitation that was made with this id. With p_mails it '
  'counts and returns the mail that the caller is to send, if one may be sent. Refusals: MEMBER_ALREADY_EXISTS, '
  'MEMBER_LIMIT_REACHED, VALIDATION_ERROR.';
revoke all on function filestore.invite from public, anon, authenticated, service_role;
grant execute on function filestore.invite to filestore_account;

create or replace function filestore.manage_members(p_project_id uuid, p_role text, p_action text, p_parameters jsonb)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_is_admin constant boolean := p_role in ('admin', 'owner');
  v_role constant text := p_parameters ->> 'role';
  v_member filestore.members;
begin
  if p_action = 'members' then
    return jsonb_build_object('value', (
      select coalesce(jsonb_agg(filestore.member_record(t) order by t.role = 'owner' desc, t.created_at, t.id), '[]')
      from filestore.team(p_project_id) t));
  end if;
  select * into v_member from filestore.team(p_project_id) t where t.id = filestore.to_uuid(p_parameters ->> 'id');
  if (v_is_admin or p_action = 'remove_member' and v_member.account_id = filestore.current_account_id())
    is not true then
    return filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "admin"}');
  elsif p_action = 'transfer' and p_role <> 'owner' then
    return filestore.refusal('FORBIDDEN_SCOPE', '{"role": "owner"}');
  elsif p_action = 'transfer' and v_member.role = 'owner' then
    return jsonb_build_object('value', filestore.account_project(p_project_id) || jsonb_build_object('role', p_role));
  elsif p_action in ('invite', 'change_member') and v_role not in ('viewer', 'editor', 'admin') is not false then
    return filestore.refused_field('role', 'must be viewer, editor or admin');
  elsif p_action = 'invite' then
    return filestore.invite(
      p_project_id, filestore.to_uuid(p_parameters ->> 'id'), p_parameters ->> 'email', v_role,
      p_mails => p_parameters -> 'mails' = 'true');
  elsif v_member.id is null or p_action = 'transfer'
    and (v_member.account_id is null or not filestore.is_account_active(v_member.account_id)) then
    return filestore.refusal('MEMBER_NOT_FOUND');
  elsif v_member.role = 'owner' then
    return case p_role when 'owner' then filestore.refusal('OWNER_REQUIRED')
      else filestore.refusal('FORBIDDEN_SCOPE', '{"role": "owner"}') end;
  end if;
  case p_action
    when 'change_member' then
      update filestore.members m set role = v_role where m.project_id = p_project_id and m.id = v_member.id;
      v_member.role := v_role;
      return jsonb_build_object('value', filestore.member_record(v_member));
    when 'remove_member' then return filestore.remove_member(v_member);
    when 'transfer' then return filestore.transfer(p_project_id, v_member);
  end case;
end
$$;
comment on function filestore.manage_members is
  'The actions of a person with this role on the members of an opened project; see filestore_account_members.';

alter table filestore.projects validate constraint projects_retention_check;

create or replace function public.filestore_sweep_erasures(p_kind text, p_begun timestamptz default null) returns boolean
language plpgsql volatile security definer
-- By index, whatever the statistics are: recently removed entries precede the rows that are searched for.
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  -- A client's clock may drop fractions of a millisecond.
  v_begun constant timestamptz := p_begun + interval '1 millisecond';
  v_project_id uuid;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  if p_kind = 'usage' then return filestore.sweep_usage(v_begun); end if;
  -- The project that has waited longest, since its last step or since its work is due. So a new project comes
  -- after those whose last step was before that.
  select w.project_id into v_project_id
  from filestore.projects_to_sweep(p_kind, v_begun) w
  join filestore.projects p on p.id = w.project_id and p.deleted_at is null
  left join filestore.sweeps s on s.project_id = w.project_id
  where (p_kind = 'retention' or (w.due_since <= v_begun) is not false)
    and ((s.turns ->> (p_kind || 'Failed'))::timestamptz < v_begun) is not false
  order by greatest(w.due_since, (s.turns ->> p_kind)::timestamptz), w.project_id limit 1;
  if v_project_id is null then return false; end if;
  begin
    case p_kind
      when 'versions' then perform filestore.sweep_purged_versions(v_project_id);
      when 'marks' then perform filestore.sweep_marks(v_project_id);
      when 'answers' then perform filestore.sweep_answers(v_project_id);
      when 'retention' then perform filestore.sweep_retention(v_project_id);
      when 'branches' then perform filestore.sweep_branches(v_project_id);
    end case;
  exception
    -- The slice counts as a step all the same, or no other project would be served.
    when lock_not_available then null;
    when others then
      raise warning 'sweep of % in project %: % (%)', p_kind, v_project_id, sqlerrm, sqlstate;
      perform filestore.note_slice(v_project_id, p_kind || 'Failed');
  end;
  perform filestore.note_slice(v_project_id, p_kind);
  return true;
end
$$;
comment on function public.filestore_sweep_erasures is
  'One step of one kind, for the project that has waited longest: versions, marks and answers of what was '
  'erased, retention, ended branches, or usage, which is counted for several projects. False where no work is due; '
  'with p_begun, no work that was due by then, so that a sweep ends even while other work arrives. A step that fails '
  'is a warning in the log of the database, and keeps no other project waiting.';

create or replace function filestore.retention_cut(p_file filestore.files, p_rule jsonb) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_days constant integer := p_rule ->> 'keepDays';
  v_cut integer := (p_file).version - 1;
  v_moment filestore.moment;
begin
  if (p_file).path is null or (p_file).version = 0 then return 0; end if;
  -- The versions that an open branch is based on are kept, and those of its own files that it has merged. A deletion
  -- there is a change that is not merged yet, or a base: its file is not purged.
  select least(v_cut, min(b.version) - 1) into v_cut
  from (
    select o.branch, o.base_version - (p_file).is_deleted::integer from filestore.branch_files o
    where o.project_id = (p_file).project_id and o.base_file_id = (p_file).id
    union all
    select o.branch, case when (p_file).is_deleted then (p_file).version - 1 else o.merged_version end
    from filestore.branch_files o
    where o.project_id = (p_file).project_id and o.file_id = (p_file).id and (o.base_is_merged or (p_file).is_deleted)
  ) b (branch, version)
  join filestore.branches r on r.project_id = (p_file).project_id and r.name = b.branch
  where r.state in ('new', 'open', 'ready');
  if (p_file).is_deleted then
    return case when (p_file).updated_at
      < filestore.sweep_clock() - make_interval(days => (p_rule ->> 'deletedDays')::integer)
      and v_cut = (p_file).version - 1 then (p_file).version else 0 end;
  end if;
  if not p_rule ?| '{keepVersions,keepDays}' then return 0; end if;
  if p_rule ? 'keepVersions' then
    v_cut := least(v_cut, (p_file).version - (p_rule ->> 'keepVersions')::integer);
  end if;
  if v_days is not null and v_cut > 0 then
    -- The version of that moment was not yet superseded; the versions before it were.
    v_moment.at := filestore.sweep_clock() - make_interval(days => v_days);
    v_cut := least(v_cut, coalesce(((filestore.file_at(p_file, v_moment)).file).version, 0) - 1);
  end if;
  return v_cut;
end
$$;

create or replace function public.filestore_redact(
  p_key_hash text, p_request_id uuid, p_path text, p_versions integer[], p_note text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'admin', p_place => p_path);
  v_file filestore.files;
  v_version filestore.file_versions;
  v_number integer;
  v_segment_ids uuid[];
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  -- Links before the file, the order in which a read through a link locks them.
  perform from filestore.links l
  where l.project_id = v_session.project_id and l.path = p_path and l.version = any (p_versions)
  order by l.id for update;
  v_file := filestore.lock_to_erase(v_session.project_id, p_path);
  if coalesce(v_file.version, 0) = 0 then return v_session.envelope || filestore.refusal('FILE_NOT_FOUND'); end if;
  foreach v_number in array p_versions loop
    select * into v_version from filestore.file_versions v
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = v_number;
    if v_version.version is null then
      return v_session.envelope || filestore.unreadable_version(v_file, v_number, v_version);
    elsif v_number = v_file.version and filestore.is_live(v_file) then
      return v_session.envelope || filestore.refusal('VERSION_CURRENT', jsonb_build_object('version', v_number));
    end if;
  end loop;
  v_segment_ids := array(
    select distinct s.id from filestore.file_versions v
    cross join unnest(coalesce(v.redacted_segment_ids, v.segment_ids)) s (id)
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = any (p_versions));
  delete from filestore.links l
  where l.project_id = v_session.project_id and l.path = p_path and l.version = any (p_versions);
  perform filestore.redact_versions(v_file, p_versions, p_note);
  -- Branches have copies, too.
  perform set_config('filestore.branches', 'on', true);
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'versions', (select jsonb_agg(n order by n) from (select distinct unnest(p_versions) as n) d),
    'remaining', filestore.sharing_versions(v_session, v_file, v_segment_ids)));
end
$$;

create or replace function filestore.branch_moment(p_branch filestore.branches) returns filestore.moment
language plpgsql volatile set search_path = '' as $$
declare
  v_moment filestore.moment;
begin
  v_moment.at := p_branch.base_time;
  v_moment.unchanged_before := p_branch.base_time;
  if p_branch.base_time is null then
    v_moment.position := p_branch.base_position;
    -- The version at that position may have been erased.
    select v.created_at - interval '1 minute' into v_moment.unchanged_before from filestore.file_versions v
    where v.project_id = p_branch.project_id and v.position <= p_branch.base_position order by v.position desc limit 1;
  end if;
  return v_moment;
end
$$;

create or replace function public.filestore_create_branch(p_key_hash text, p_request_id uuid, p_branch jsonb) returns jsonb
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

create or replace function filestore.merge_step(
  p_session filestore.session, p_change filestore.branch_change, p_place text, p_is_update boolean, p_side text,
  p_chosen jsonb, out step filestore.step, out action jsonb, out refusal jsonb, out is_same boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  -- The file that is written, and the one whose content it may get.
  v_to filestore.files := p_change.theirs;
  v_from filestore.files := p_change.ours;
  v_next filestore.next_version;
begin
  if p_is_update then
    v_to := p_change.ours;
    v_from := p_change.theirs;
  end if;
  is_same := filestore.is_unchanged(v_to, v_from);
  if p_side = 'content' then
    select coalesce(array_agg((s.value ->> 'id')::uuid order by s.place), '{}'),
           coalesce(sum((s.value ->> 'size')::bigint), 0), coalesce(bool_and((s.value ->> 'isText')::boolean), true)
    into v_next.segment_ids, v_next.size, v_next.is_text
    from jsonb_array_elements(p_chosen -> 'segments') with ordinality s (value, place);
    v_next.mime_type := coalesce(p_chosen ->> 'mimeType', nullif(v_to.mime_type, ''), v_from.mime_type);
    v_next.is_deleted := false;
    v_next.source_file_id := v_from.id;
    v_next.source_version := v_from.version;
  elsif is_same or p_side = (case when p_is_update then 'branch' else 'current' end) then
    return;
  else
    v_next := case when filestore.is_live(v_from)
      then filestore.content_of(v_from) else filestore.tombstone_of(v_to) end;
  end if;
  step := row (v_to.id, p_place || p_change.path, v_next);
  action := jsonb_build_object(
    'path', p_change.path,
    'action', case when v_next.is_deleted then 'delete' when p_side = 'content' then 'merge' else 'write' end,
    'from', filestore.live_version(v_to), 'to', filestore.live_version(v_from));
  refusal := filestore.too_large(p_session, v_next.size, jsonb_build_object('path', p_change.path));
end
$$;

create or replace function filestore.create_webhook(p_project_id uuid, p_hook jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_limit constant integer := (filestore.limits()).project_webhooks_max;
  v_end constant bigint := filestore.feed_end(p_project_id);
  v_hook filestore.webhooks;
begin
  -- Serialized, so that the number is exact and an earlier attempt has ended.
  perform pg_advisory_xact_lock(hashtextextended('webhooks/' || p_project_id, 0));
  select * into v_hook from filestore.webhooks w
  where w.project_id = p_project_id and w.id = (p_hook ->> 'id')::uuid;
  if found then return jsonb_build_object('value', filestore.webhook_record(v_hook)); end if;
  if (select count(*) from filestore.webhooks w where w.project_id = p_project_id) >= c_limit then
    return filestore.refusal('WEBHOOK_LIMIT_REACHED', jsonb_build_object('limit', c_limit));
  end if;
  insert into filestore.webhooks (
    project_id, id, url, directory, operations, events, description, secret, database_id, position, created_at)
  values (
    p_project_id, (p_hook ->> 'id')::uuid, p_hook ->> 'url', coalesce(p_hook ->> 'directory', ''),
    filestore.texts_of(p_hook -> 'operations'),
    coalesce(filestore.texts_of(p_hook -> 'events'), '{change}'), p_hook ->> 'description', p_hook ->> 'secret',
    filestore.database_id(),
    greatest(filestore.last_position(p_project_id, 0, v_end), (
      select max(e.position) from filestore.webhook_events e
      where e.project_id = p_project_id and e.position <= v_end)), clock_timestamp())
  returning * into v_hook;
  update filestore.projects p set has_webhooks = true where p.id = p_project_id and not p.has_webhooks;
  return jsonb_build_object('value', filestore.webhook_record(v_hook));
exception when unique_violation then
  return filestore.refused_field('id', 'must be one that no webhook has');
end
$$;

create or replace function filestore.change_webhook(p_hook filestore.webhooks, p_change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- For this long, deliveries are signed with the secret before the last rotation, too.
  c_both constant interval := make_interval(hours => (filestore.limits()).webhook_secrets_hours);
  v_is_filtered constant boolean := p_change ?| '{directory,operations,events}';
  v_is_on constant boolean := coalesce(p_change ->> 'state' = 'active', false);
  -- Not where the change is repeated, since its answer was lost.
  v_is_new constant boolean := coalesce(p_change ->> 'secret' <> p_hook.secret, false);
  v_hook filestore.webhooks;
begin
  update filestore.webhooks w
  set url = coalesce(p_change ->> 'url', w.url),
      directory = case when p_change ? 'directory' then coalesce(p_change ->> 'directory', '') else w.directory end,
      operations = case when p_change ? 'operations' then filestore.texts_of(p_change -> 'operations')
        else w.operations end,
      events = coalesce(filestore.texts_of(p_change -> 'events'), w.events),
      description = case when p_change ? 'description' then p_change ->> 'description' else w.description end,
      secret = coalesce(p_change ->> 'secret', w.secret),
      previous_secret = case when v_is_new then w.secret else w.previous_secret end,
      previous_until = case when v_is_new then clock_timestamp() + c_both else w.previous_until end,
      state = coalesce(p_change ->> 'state', w.state),
      reason = case when p_change ? 'state' then null else w.reason end,
      database_id = case when v_is_on then filestore.database_id() else w.database_id end,
      failures = case when v_is_on then 0 else w.failures end,
      next_at = case when not v_is_on then w.next_at end,
      -- What is delivered next has changed.
      pending_id = case when not v_is_filtered then w.pending_id end,
      pending_end = case when not v_is_filtered then w.pending_end end
  where w.project_id = p_hook.project_id and w.id = p_hook.id
  returning * into v_hook;
  return jsonb_build_object('value', filestore.webhook_record(v_hook) || jsonb_build_object(
    'projectId', v_hook.project_id, 'sealed', v_hook.secret));
end
$$;

create or replace function filestore.administer_webhook(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_hook filestore.webhooks;
  v_position bigint;
begin
  if p_action = 'create_webhook' then return filestore.create_webhook(p_project_id, p_parameters); end if;
  if p_action = 'webhooks' then
    return jsonb_build_object('value', (
      select coalesce(jsonb_agg(filestore.webhook_record(w) order by w.created_at desc, w.id), '[]')
      from filestore.webhooks w where w.project_id = p_project_id));
  end if;
  select * into v_hook from filestore.webhooks w
  where w.project_id = p_project_id and w.id = (p_parameters ->> 'id')::uuid for no key update;
  if not found and p_action like '%webhook%' then return filestore.refusal('WEBHOOK_NOT_FOUND'); end if;
  case p_action
    when 'change_webhook' then
      return filestore.change_webhook(v_hook, p_parameters);
    when 'delete_webhook' then
      -- As in create_webhook, so that has_webhooks is right.
      perform pg_advisory_xact_lock(hashtextextended('webhooks/' || p_project_id, 0));
      delete from filestore.webhook_deliveries d where d.project_id = p_project_id and d.webhook_id = v_hook.id;
      delete from filestore.webhooks w where w.project_id = p_project_id and w.id = v_hook.id;
      update filestore.projects p set has_webhooks = false
      where p.id = p_project_id
        and not exists (select from filestore.webhooks w where w.project_id = p_project_id);
    when 'replay_webhook' then
      v_position := (
        select case when p_parameters ->> 'after' is null then 0
          else filestore.position_of(p.cursor_key, p_parameters ->> 'after') end from filestore.projects p
        where p.id = p_project_id);
      if v_position is null then return filestore.refused_field('after', 'must be a cursor of this project'); end if;
      update filestore.webhooks w
      set position = v_position, pending_id = null, pending_end = null, failures = 0, next_at = null
      where w.project_id = p_project_id and w.id = v_hook.id returning * into v_hook;
    when 'test_webhook' then
      return jsonb_build_object('value', filestore.webhook_record(v_hook) || jsonb_build_object(
        'projectId', p_project_id, 'sealed', v_hook.secret,
        'sealedBefore', case when v_hook.previous_until > clock_timestamp() then v_hook.previous_secret end));
    when 'webhook_deliveries' then
      return jsonb_build_object('value', (
        select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'id', d.id, 'at', filestore.iso(d.at), 'type', d.type, 'attempt', d.attempt, 'error', d.error))
          || jsonb_build_object('status', d.status) order by d.number desc), '[]')
        from filestore.webhook_deliveries d where d.project_id = p_project_id and d.webhook_id = v_hook.id));
  end case;
  return jsonb_build_object('value', filestore.webhook_record(v_hook) || jsonb_build_object(
    'projectId', p_project_id));
end
$$;

create or replace function filestore.transfer(p_project_id uuid, p_member filestore.members) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner_id constant uuid := filestore.current_account_id();
  v_limit constant integer := (filestore.limits()).account_projects_max;
  v_bytes_max constant bigint := filestore.account_settings(p_member.account_id) ->> 'sharedBytes';
  v_shared_before bigint;
  v_projects integer;
begin
  -- In one order, so that two transfers do not wait for each other. As in lock_account.
  perform pg_advisory_xact_lock(hashtextextended('account/' || least(v_owner_id, p_member.account_id), 0));
  perform pg_advisory_xact_lock(hashtextextended('account/' || greatest(v_owner_id, p_member.account_id), 0));
  -- The member may have left, or deleted the account, before the locks.
  if not exists (
    select from filestore.members m
    where m.project_id = p_project_id and m.id = p_member.id and m.account_id = p_member.account_id) then
    return filestore.refusal('MEMBER_NOT_FOUND');
  end if;
  v_shared_before := filestore.shared_bytes(p_member.account_id);
  perform set_config('filestore.account_id', p_member.account_id::text, true);
  v_projects := (select count(*) from filestore.projects p where p.owner_id = p_member.account_id);
  perform set_config('filestore.account_id', '', true);
  if v_projects >= v_limit then
    return filestore.refusal('PROJECT_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  begin
    update filestore.projects p set (owner_id) = row (p_member.account_id)
    where p.id = p_project_id and p.owner_id = v_owner_id and p.deleted_at is null;
    if not found then return filestore.refusal('PROJECT_NOT_FOUND'); end if;
  exception when unique_violation then
    return filestore.refusal('PROJECT_NAME_TAKEN');
  end;
  -- The usage moves with the project. It must not take the room of the projects that the new owner has already.
  if v_bytes_max is not null
    and filestore.shared_bytes(p_member.account_id) > greatest(v_bytes_max, v_shared_before) then
    update filestore.projects p set (owner_id) = row (v_owner_id) where p.id = p_project_id;
    return filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', v_bytes_max, 'account', true));
  end if;
  insert into filestore.members as m (project_id, id, account_id, email, role)
  values (p_project_id, v_owner_id, v_owner_id, filestore.address_of(v_owner_id), 'admin')
  on conflict (project_id, account_id) do update set role = 'admin';
  return jsonb_build_object('value', filestore.account_project(p_project_id) || '{"role": "admin"}');
end
$$;

comment on function filestore.create_webhook is
  'Adds a webhook that begins at the end of the feed. A repeated id returns the first one. Refusals: '
  'WEBHOOK_LIMIT_REACHED, VALIDATION_ERROR.';
comment on function filestore.transfer is
  'Makes a member the owner of an opened project; the owner becomes an admin. Refusals: MEMBER_NOT_FOUND, '
  'PROJECT_NOT_FOUND, and PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED and QUOTA_EXCEEDED of the new owner.';
