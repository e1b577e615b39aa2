-- Branches: who may use one, what has changed in it, and the plans of merges and updates.
--
-- A merge compares three states of each file: in the branch (ours), in the folder above it (theirs), and the
-- base. An update is the same the other way round. The lock of the branch's row comes before the locks of
-- files: a write in a branch shares it, so no file of a branch changes while it is merged.

create function filestore.branch_state(p_branch filestore.branches) returns text
language plpgsql volatile set search_path = '' as $$
begin
  return case when (p_branch).state in ('open', 'ready') and (p_branch).expires_at <= filestore.sweep_clock()
    then 'closed' else (p_branch).state end;
end
$$;
comment on function filestore.branch_state is
  'The state of a branch: closed from the moment at which it expires, although the sweep ends it later.';
call filestore.grant_execute('filestore.branch_state', 'filestore_engine');

create function filestore.branch_record(p_branch filestore.branches, p_cursor_key bytea) returns jsonb
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
call filestore.grant_execute('filestore.branch_record', 'filestore_engine');

create function filestore.find_branch(
  p_session filestore.session, p_name text, p_locks boolean,
  out branch filestore.branches, out is_inside boolean, out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
begin
  is_inside := coalesce(p_session.path_prefix = '.branches/' || p_name, false);
  if p_locks then
    select * into branch from filestore.branches b
    where b.project_id = p_session.project_id and b.name = p_name for update;
  else
    select * into branch from filestore.branches b where b.project_id = p_session.project_id and b.name = p_name;
  end if;
  if not found or branch.state = 'new'
    or not is_inside and filestore.outside_prefix(p_session, branch.directory || '/') is not null then
    refusal := filestore.refusal('BRANCH_NOT_FOUND');
    return;
  end if;
  perform set_config('filestore.path_prefix', '', true), set_config('filestore.branches', 'on', true);
end
$$;
comment on function filestore.find_branch is
  'A branch for a key that is confined to it (is_inside) or may see its folder, locked for a change of the '
  'branch on request. From then on the transaction sees both sides, whatever the prefix of the key.';
call filestore.grant_execute('filestore.find_branch', 'filestore_engine');

create function filestore.note_branch_event(p_branch filestore.branches, p_type text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.webhook_events (project_id, position, type, branch, directory, created_at)
  select p.id, filestore.next_position(p.id), p_type, p_branch.name, p_branch.directory, clock_timestamp()
  from filestore.projects p where p.id = p_branch.project_id and p.has_webhooks;
end
$$;
comment on function filestore.note_branch_event is
  'Gives what happens to a branch its place in the change feed, where the project has webhooks.';
call filestore.grant_execute('filestore.note_branch_event', 'filestore_engine');

create function filestore.enter_branches(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_is_many constant boolean := p_kind ~ '_folder$|^undo$';
  v_places text[];
  v_place text;
  v_branch filestore.branches;
begin
  if p_kind = 'purge' then return null; end if;
  select array_agg(p.path order by p.path) into v_places from (
    select p_commit ->> 'path' where p_kind <> 'copy'
    union select p_commit ->> 'destination' union select p_commit ->> 'directory'
    union select jsonb_array_elements_text(p_commit -> 'paths')
    union select p_session.path_prefix || '/' where p_kind = 'undo'
    union select o.value ->> 'path' from jsonb_array_elements(p_commit -> 'operations') o
      where o.value ->> 'kind' <> 'copy'
    union select o.value ->> 'destination' from jsonb_array_elements(p_commit -> 'operations') o
  ) p (path) where p.path is not null;
  if c_is_many and (
    select count(distinct case when starts_with(p.path, '.branches/') then split_part(p.path, '/', 2) else '' end)
    from unnest(v_places) p (path)
  ) > 1 then
    return filestore.refused_field(case when p_kind = 'undo' then 'paths' else 'destination' end,
      'must be in one branch, or outside of branches, like the rest');
  end if;
  -- One place of each branch, in the order of their names, in which all lock them.
  foreach v_place in array array(
    select min(p.path) from unnest(v_places) p (path)
    where starts_with(p.path || '/', '.branches/') group by split_part(p.path, '/', 2) order by 1) loop
    select * into v_branch from filestore.branches b
    where b.project_id = p_session.project_id and b.name = split_part(v_place, '/', 2) for share;
    if not found or v_branch.state = 'new' or not c_is_many and v_place !~ '^\.branches/[^/]+/' then
      return filestore.refusal('BRANCH_NOT_FOUND');
    elsif filestore.branch_state(v_branch) in ('merged', 'closed') and not exists (
      -- A commit that is repeated after the end of the branch returns what it returned before.
      select from filestore.file_versions v
      where v.project_id = p_session.project_id and v.commit_id = (p_commit ->> 'commitId')::uuid) then
      return filestore.refusal('BRANCH_CLOSED', jsonb_build_object('state', filestore.branch_state(v_branch)));
    end if;
  end loop;
  return null;
end
$$;
comment on function filestore.enter_branches is
  'Locks the branches in which a commit writes, so that each ends before or after it. Refusals: '
  'BRANCH_NOT_FOUND, BRANCH_CLOSED; VALIDATION_ERROR for a change of many files that concerns a branch and '
  'anything else.';
call filestore.grant_execute('filestore.enter_branches', 'filestore_engine');

create type filestore.branch_change as (
  path text, ours filestore.files, theirs filestore.files, base filestore.files, base_version integer,
  is_ours_changed boolean, is_theirs_changed boolean, conflict text
);
comment on type filestore.branch_change is
  'A file of a branch, the file above it, and what both come from; a path is relative to the branch. '
  'base_version: the version above that the branch is based on; null where there was none. conflict: why the '
  'two sides cannot both be had; text where the lines may show that they can. Null: one side is unchanged, or '
  'both are equal.';

create function filestore.compare_branch_file(p_branch filestore.branches, p_path text) returns filestore.branch_change
language plpgsql volatile set search_path = '' as $$
declare
  c_text_max constant bigint := (filestore.limits()).search_text_bytes_max;
  v_change filestore.branch_change;
  v_base filestore.branch_files;
  v_version filestore.file_versions;
  v_ours filestore.files;
  v_theirs filestore.files;
  v_then filestore.files;
  v_is_gone boolean := false;
  v_base_version integer;
begin
  select * into v_ours from filestore.files f
  where f.project_id = p_branch.project_id and f.path = '.branches/' || p_branch.name || '/' || p_path;
  select * into v_theirs from filestore.files f
  where f.project_id = p_branch.project_id and f.path = coalesce(nullif(p_branch.directory, '') || '/', '') || p_path;
  select * into v_base from filestore.branch_files b
  where b.project_id = p_branch.project_id and b.file_id = v_ours.id;
  if v_base.base_file_id = v_theirs.id and v_base.base_version = v_theirs.version then
    v_then := v_theirs;
  elsif v_base.base_file_id is not null then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_branch.project_id and v.file_id = v_theirs.id and v_theirs.id = v_base.base_file_id
      and v.version = v_base.base_version;
    v_is_gone := not found or v_version.redacted_at is not null;
    if not v_is_gone then v_then := filestore.at_version(v_theirs, v_version); end if;
  end if;
  v_base_version := filestore.live_version(v_then);
  -- The merge wrote what neither side contained, or kept the other side: both come from the branch as it was.
  if v_base.base_is_merged and v_base.merged_version = v_ours.version then
    v_then := v_ours;
  elsif v_base.base_is_merged then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_branch.project_id and v.file_id = v_ours.id and v.version = v_base.merged_version;
    v_is_gone := v_is_gone or not found or v_version.redacted_at is not null;
    v_then := case when not v_is_gone then filestore.at_version(v_ours, v_version) end;
  end if;
  v_change := row (
    p_path, v_ours, v_theirs, v_then, v_base_version,
    v_ours.version is distinct from v_base.merged_version
      and (v_is_gone or not filestore.is_unchanged(v_ours, v_then)),
    v_is_gone or not filestore.is_unchanged(v_theirs, v_then), null);
  if v_change.is_ours_changed and v_change.is_theirs_changed
    and not filestore.is_unchanged(v_ours, v_theirs) then
    v_change.conflict := case
      when v_is_gone then 'baseGone'
      when not filestore.is_live(v_ours) then 'deletedInBranch'
      when not filestore.is_live(v_theirs) then 'deletedInTarget'
      when not filestore.has_text(v_ours.mime_type, v_ours.is_text)
        or not filestore.has_text(v_theirs.mime_type, v_theirs.is_text)
        or filestore.is_live(v_then) and not filestore.has_text(v_then.mime_type, v_then.is_text) then 'binary'
      when greatest(v_ours.size, v_theirs.size, v_then.size) > c_text_max then 'content'
      else 'text' end;
  end if;
  return v_change;
end
$$;
comment on function filestore.compare_branch_file is
  'Compares the two sides of a path with what both come from. A base that was purged, redacted or trimmed '
  'counts as changed on both sides.';
call filestore.grant_execute('filestore.compare_branch_file', 'filestore_engine');

create function filestore.live_version(p_file filestore.files) returns integer
language plpgsql immutable set search_path = ''
as $$ begin return case when filestore.is_live(p_file) then (p_file).version end; end $$;
comment on function filestore.live_version is
  'The version of a file; null where there is no file, or a tombstone.';
call filestore.grant_execute('filestore.live_version', 'filestore_engine');

create function filestore.branch_moment(p_branch filestore.branches) returns filestore.moment
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
comment on function filestore.branch_moment is
  'The moment of a branch''s base. Its position is the end of the feed at that time, and so the end of a '
  'commit.';
call filestore.grant_execute('filestore.branch_moment', 'filestore_engine');

create function filestore.touched_paths(
  p_session filestore.session, p_branch filestore.branches, p_is_update boolean,
  out paths text[], out is_complete boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  v_place constant text := '.branches/' || p_branch.name;
  v_changed record;
begin
  is_complete := true;
  if not p_is_update then
    paths := array(
      select substr(f.path, length(v_place) + 2) from filestore.files f
      -- fence: bases are looked up one by one.
      left join lateral (
        select b.merged_version from filestore.branch_files b
        where b.project_id = p_session.project_id and b.file_id = f.id offset 0
      ) b on true
      where f.project_id = p_session.project_id and f.path > v_place || '/' and f.path < v_place || '0'
        and f.version > 0 and f.version is distinct from b.merged_version
      order by f.path);
    return;
  end if;
  v_changed := filestore.changed_since(p_session, p_branch.directory, coalesce(
    (filestore.branch_moment(p_branch)).unchanged_before, '-infinity'));
  is_complete := v_changed.is_complete;
  paths := array(
    select substr(f.path, coalesce(nullif(length(p_branch.directory), 0) + 2, 1))
    from unnest(v_changed.ids) with ordinality i (id, place)
    cross join lateral (
      select o.path from filestore.files o where o.project_id = p_session.project_id and o.id = i.id offset 0
    ) f
    order by i.place);
end
$$;
comment on function filestore.touched_paths is
  'Paths that may have changed in a branch since their bases; for an update, in its folder since the last '
  'one. Incomplete where too many files of the folder would have to be examined.';
call filestore.grant_execute('filestore.touched_paths', 'filestore_engine');
call filestore.pin_plan('filestore.touched_paths');

create function filestore.text_tag(p_change filestore.branch_change) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return concat_ws('.', (p_change.ours).id, (p_change.ours).version, (p_change.theirs).id, (p_change.theirs).version,
    (p_change.base).version);
end
$$;
comment on function filestore.text_tag is 'Names the three versions that a merge of lines has read.';
call filestore.grant_execute('filestore.text_tag', 'filestore_engine');

create function filestore.text_to_merge(p_session filestore.session, p_change filestore.branch_change) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jsonb_build_object(
    'path', p_change.path, 'tag', filestore.text_tag(p_change),
    'mimeType', case when (p_change.ours).mime_type = (p_change.base).mime_type
      then (p_change.theirs).mime_type else (p_change.ours).mime_type end,
    'base', filestore.segment_list(p_session.project_id, case when filestore.is_live(p_change.base)
      then (p_change.base).segment_ids else '{}' end),
    'branch', filestore.segment_list(p_session.project_id, (p_change.ours).segment_ids),
    'current', filestore.segment_list(p_session.project_id, (p_change.theirs).segment_ids));
end
$$;
comment on function filestore.text_to_merge is 'The three texts whose lines are to be merged, and their tag.';
call filestore.grant_execute('filestore.text_to_merge', 'filestore_engine');

create function filestore.choose_side(
  p_session filestore.session, p_change filestore.branch_change, p_is_update boolean, p_commit jsonb, p_texts integer,
  p_text_bytes bigint, out side text, out chosen jsonb, out text_bytes bigint, out conflict jsonb, out texts jsonb[]
)
language plpgsql volatile set search_path = '' as $$
declare
  v_text constant jsonb := p_commit -> 'texts' -> p_change.path;
  v_kind text := p_change.conflict;
begin
  texts := '{}';
  chosen := p_commit -> 'resolutions' -> p_change.path;
  if chosen is not null then
    side := coalesce(chosen ->> 'take', 'content');
  elsif v_kind is null then
    side := case when p_is_update then 'current' else 'branch' end;
  elsif v_kind = 'text' then
    text_bytes := (p_change.ours).size + (p_change.theirs).size + coalesce((p_change.base).size, 0);
    if p_texts >= (filestore.limits()).merge_texts_max
      or p_text_bytes + text_bytes > (filestore.limits()).merge_texts_bytes_max then
      text_bytes := null;
    elsif v_text ->> 'tag' is distinct from filestore.text_tag(p_change) then
      texts := array[filestore.text_to_merge(p_session, p_change)];
      return;
    elsif not v_text ? 'isConflict' then
      side := 'content';
      chosen := v_text;
    end if;
    v_kind := 'content';
  end if;
  side := coalesce(side, nullif(p_commit ->> 'onConflict', 'refuse'));
  if side is null then
    conflict := jsonb_build_object(
      'path', p_change.path, 'kind', v_kind, 'base', p_change.base_version,
      'branch', filestore.live_version(p_change.ours), 'current', filestore.live_version(p_change.theirs));
  end if;
end
$$;
comment on function filestore.choose_side is
  'The side that a merge takes for a file: branch, current, or content (chosen: its segments); otherwise '
  'the conflict, or the texts whose lines have to be merged first. text_bytes: what that merge reads, '
  'within the bounds of a request.';
call filestore.grant_execute('filestore.choose_side', 'filestore_engine');

create function filestore.merge_step(
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
comment on function filestore.merge_step is
  'The version that a merge or an update adds for a file, and the same step as a plan shows it; nulls where '
  'the file that would be written stays as it is. is_same: both sides are equal.';
call filestore.grant_execute('filestore.merge_step', 'filestore_engine');

create function filestore.refused_expectation(
  p_session filestore.session, p_directory text, p_expected text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = p_session.project_id);
  v_position constant bigint := filestore.position_of(v_cursor_key, p_expected);
  v_changed record;
begin
  if p_expected is null then return null; end if;
  if v_position is null then return filestore.refused_field('expected', 'must be a cursor of this project'); end if;
  v_changed := filestore.changed_since(p_session, p_directory, coalesce((
    select v.created_at - interval '1 minute' from filestore.file_versions v
    where v.project_id = p_session.project_id and v.position <= v_position order by v.position desc limit 1),
    '-infinity'));
  if not v_changed.is_complete then
    return filestore.too_many_files((filestore.limits()).restore_examined_max + 1);
  end if;
  return (
    select filestore.refusal('PRECONDITION_FAILED', '{"expected": true}')
    from unnest(v_changed.ids) i (id)
    -- fence: rows are looked up one by one.
    cross join lateral (
      select f.version from filestore.files f where f.project_id = p_session.project_id and f.id = i.id offset 0) f
    cross join lateral (
      select v.position from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = i.id and v.version = f.version offset 0) v
    where v.position > v_position limit 1);
end
$$;
comment on function filestore.refused_expectation is
  'The refusal of a merge into a folder that was changed since the cursor that the client expects; '
  'otherwise null.';
call filestore.grant_execute('filestore.refused_expectation', 'filestore_engine');

create function filestore.refused_merge(p_commit jsonb, p_value jsonb, p_texts jsonb[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when cardinality(p_texts) > 0
      then filestore.refusal('TEXTS_TO_MERGE', jsonb_build_object('texts', to_jsonb(p_texts)))
    when jsonb_array_length(p_value -> 'conflicts') > 0 and not (p_commit ->> 'dryRun')::boolean
      then filestore.refusal('MERGE_CONFLICT', jsonb_build_object('conflicts', p_value -> 'conflicts'))
    when jsonb_array_length(p_value -> 'actions') > (filestore.limits()).commit_files_max
      then filestore.too_many_files(jsonb_array_length(p_value -> 'actions')) end;
end
$$;
comment on function filestore.refused_merge is
  'The refusal of a merge by its plan. TEXTS_TO_MERGE never reaches a client: the edge function merges the '
  'texts, and commits again.';
call filestore.grant_execute('filestore.refused_merge', 'filestore_engine');

create function filestore.plan_merge(p_session filestore.session, p_kind text, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  v_is_update constant boolean := p_kind = 'update_branch';
  v_found constant record := filestore.find_branch(p_session, p_commit ->> 'branch', false);
  v_branch constant filestore.branches := v_found.branch;
  v_above constant text := coalesce(nullif(v_branch.directory, '') || '/', '');
  v_inside constant text := '.branches/' || v_branch.name || '/';
  v_only constant text[] := case when p_commit ? 'paths'
    then array(select jsonb_array_elements_text(p_commit -> 'paths')) end;
  v_position constant bigint := filestore.last_position(
    p_session.project_id, 0, filestore.feed_end(p_session.project_id));
  v_touched constant record := filestore.touched_paths(p_session, v_branch, v_is_update);
  v_plan filestore.plan;
  v_path text;
  v_change filestore.branch_change;
  v_choice record;
  v_added record;
  -- Variables, since they are appended to in place; fields of the plan would be copied each time.
  v_paths text[] := '{}';
  v_steps filestore.step[] := '{}';
  v_actions jsonb[] := '{}';
  v_conflicts jsonb[] := '{}';
  v_texts jsonb[] := '{}';
  v_done jsonb[] := '{}';
  v_segments jsonb := '[]';
  v_left integer := 0;
  v_text_count integer := 0;
  v_text_bytes bigint := 0;
begin
  v_plan.refusal := coalesce(
    filestore.refused_expectation(
      p_session, case when v_is_update then rtrim(v_inside, '/') else v_branch.directory end, p_commit ->> 'expected'),
    case when not v_touched.is_complete
      then filestore.too_many_files((filestore.limits()).restore_examined_max + 1) end);
  foreach v_path in array case when v_plan.refusal is null then v_touched.paths else '{}' end loop
    v_change := filestore.compare_branch_file(v_branch, v_path);
    continue when not case when v_is_update then v_change.is_theirs_changed else v_change.is_ours_changed end;
    v_left := v_left + coalesce(v_path <> all (v_only), false)::integer;
    continue when v_path <> all (v_only);
    v_paths := v_paths || array[v_inside || v_path, v_above || v_path];
    v_choice := filestore.choose_side(p_session, v_change, v_is_update, p_commit, v_text_count, v_text_bytes);
    v_text_count := v_text_count + (v_choice.text_bytes is not null)::integer;
    v_text_bytes := v_text_bytes + coalesce(v_choice.text_bytes, 0);
    v_texts := v_texts || v_choice.texts;
    if v_choice.conflict is not null then v_conflicts := v_conflicts || v_choice.conflict; end if;
    continue when v_choice.side is null;
    v_added := filestore.merge_step(
      p_session, v_change, case when v_is_update then v_inside else v_above end, v_is_update, v_choice.side,
      v_choice.chosen);
    v_plan.refusal := coalesce(v_plan.refusal, v_added.refusal);
    v_done := v_done || jsonb_build_object(
      'path', v_path, 'isMerged', not v_is_update or v_choice.side = 'current' or v_added.is_same,
      'isOther', not v_is_update and v_choice.side <> 'branch' and not v_added.is_same);
    continue when v_added.action is null;
    v_steps := v_steps || v_added.step;
    v_actions := v_actions || v_added.action;
    if v_choice.side = 'content' then v_segments := v_segments || (v_choice.chosen -> 'segments'); end if;
  end loop;
  v_plan.paths := v_paths;
  v_plan.steps := v_steps;
  v_plan.new_paths := array(select t.path from unnest(v_steps) t);
  v_plan.value := jsonb_build_object(
    'actions', v_actions, 'conflicts', v_conflicts, 'done', v_done, 'segments', v_segments, 'left', v_left,
    'position', v_position);
  v_plan.refusal := coalesce(v_plan.refusal, filestore.refused_merge(p_commit, v_plan.value, v_texts));
  return v_plan;
end
$$;
comment on function filestore.plan_merge is
  'The plan of merging a branch into its folder, or of updating it from there: a version for each file that '
  'changed on the side that is taken. Refusals: TEXTS_TO_MERGE, MERGE_CONFLICT, TOO_MANY_FILES, '
  'PRECONDITION_FAILED, CONTENT_TOO_LARGE, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.plan_merge', 'filestore_engine');

create function filestore.enter_merge(p_session filestore.session, p_commit jsonb, p_locks boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found constant record := filestore.find_branch(p_session, p_commit ->> 'branch', p_locks);
  v_state constant text := filestore.branch_state(v_found.branch);
begin
  return case
    when v_found.refusal is not null then v_found.refusal
    when v_found.is_inside
      then filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', p_session.path_prefix))
    when v_state in ('merged', 'closed')
      then filestore.refusal('BRANCH_CLOSED', jsonb_build_object('state', v_state)) end;
end
$$;
comment on function filestore.enter_merge is
  'Opens a branch for a merge or an update, and locks it so that no file in it changes. Refusals: '
  'BRANCH_NOT_FOUND, BRANCH_CLOSED, FORBIDDEN_SCOPE for a key that is confined to it.';
call filestore.grant_execute('filestore.enter_merge', 'filestore_engine');

create function filestore.end_merge(
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
call filestore.grant_execute('filestore.end_merge', 'filestore_engine');
call filestore.pin_plan('filestore.end_merge');
