-- Many files as one: a plan of versions for many files, and folders.
--
-- Computing a plan only reads. To apply it, the commit locks the files that it names, in the order of their
-- paths, and computes it again: if it names the same files, none of its inputs can change any more.

create type filestore.step as (file_id uuid, path text, next filestore.next_version);
comment on type filestore.step is 'One version of a plan. The id is null for a file that does not exist yet.';

create type filestore.plan as (
  refusal jsonb, paths text[], new_paths text[], steps filestore.step[], value jsonb, remaining integer,
  committed_at timestamptz
);
comment on type filestore.plan is
  'The planned changes of many files: all files that the plan depends on, the paths that it may create, and '
  'the versions to add.';

create function filestore.too_many_files(p_files bigint) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('TOO_MANY_FILES', jsonb_build_object(
    'files', p_files, 'limit', (filestore.limits()).commit_files_max));
end
$$;
comment on function filestore.too_many_files is
  'The refusal of a request that concerns more files than one commit may change.';
call filestore.grant_execute('filestore.too_many_files', 'filestore_engine');

create function filestore.taken_paths(p_project_id uuid, p_paths text[], p_except text[]) returns text[]
language sql stable set search_path = '' as $$
  select array(
    select t.path from unnest(p_paths) t (path)
    -- fence: files are looked up one by one.
    cross join lateral (
      select f.id from filestore.files f
      where f.project_id = p_project_id and f.path = t.path and not f.is_deleted offset 0
    ) f
    where t.path not in (select unnest(p_except))
    order by t.path collate "C" limit (filestore.limits()).conflicting_paths_shown_max)
$$;
comment on function filestore.taken_paths is
  'The first of these paths that have live files, except those in p_except.';
call filestore.grant_execute('filestore.taken_paths', 'filestore_engine');

create function filestore.plan_folder(p_session filestore.session, p_kind text, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).commit_files_max;
  v_directory constant text := p_commit ->> 'path';
  v_destination constant text := p_commit ->> 'destination';
  v_is_copy constant boolean := p_kind = 'copy_folder';
  v_is_deletion constant boolean := p_kind = 'delete_folder';
  v_plan filestore.plan;
  v_moment filestore.moment;
  v_found record;
  v_file filestore.files;
  v_path text;
  v_rule text;
  v_sources text[] := '{}';
  v_targets text[] := '{}';
  v_left filestore.step[] := '{}';
  v_added filestore.step[] := '{}';
  v_taken text[];
begin
  v_moment := case when p_commit ? 'at' then filestore.moment_of(p_session, p_commit ->> 'at') end;
  v_plan.refusal := coalesce(
    case when not v_is_copy then filestore.outside_prefix(p_session, v_directory || '/') end,
    case when not v_is_deletion then filestore.outside_prefix(p_session, v_destination || '/') end,
    v_moment.refusal);
  if v_plan.refusal is not null then return v_plan; end if;
  v_found := filestore.files_below(p_session, v_directory, v_moment, c_files_max);
  v_plan.value := jsonb_strip_nulls(jsonb_build_object('trimmed', nullif(v_found.trimmed, '{}')));
  v_plan.refusal := case
    when v_found.is_more then filestore.too_many_files(greatest(c_files_max + 1, case when not p_commit ? 'at' then
      filestore.count_live_files(p_session.project_id, filestore.seen_directory(p_session, v_directory), true) end))
    when cardinality(v_found.files) = 0 then filestore.refusal('FILE_NOT_FOUND', v_plan.value) end;
  if v_plan.refusal is not null then return v_plan; end if;
  foreach v_file in array v_found.files loop
    v_sources := v_sources || v_file.path::text;
    if not v_is_copy then
      v_left := v_left || row (v_file.id, v_file.path, filestore.tombstone_of(v_file))::filestore.step;
    end if;
    continue when v_is_deletion;
    v_path := v_destination || substr(v_file.path, length(v_directory) + 1);
    -- A path composed of two valid ones can break no other rule.
    v_rule := case
      when octet_length(v_path) > (filestore.limits()).path_bytes_max then 'too_long'
      when cardinality(string_to_array(v_path, '/')) > (filestore.limits()).path_segments_max
        then 'too_many_segments' end;
    v_plan.refusal := case when v_rule is null
      then filestore.too_large(p_session, v_file.size, jsonb_build_object('path', v_file.path))
      else filestore.refusal('INVALID_PATH', jsonb_build_object('rule', v_rule, 'path', v_file.path)) end;
    if v_plan.refusal is not null then return v_plan; end if;
    v_targets := v_targets || v_path;
    v_added := v_added || row (null, v_path, filestore.content_of(v_file))::filestore.step;
  end loop;
  if not coalesce((p_commit ->> 'overwrite')::boolean, false) then
    -- A move removes its own sources from their paths.
    v_taken := filestore.taken_paths(p_session.project_id, v_targets, case when v_is_copy then '{}' else v_sources end);
    if cardinality(v_taken) > 0 then
      v_plan.refusal := filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('paths', v_taken));
      return v_plan;
    end if;
  end if;
  -- If a file is moved away while another one moves to its path, that path gets one version, with the other
  -- file's content.
  v_plan.steps := array(
    select l from unnest(v_left) l where l.path not in (select unnest(v_targets))) || v_added;
  -- Includes the files that the answer names as left out: while they are locked, none of them can be purged.
  v_plan.paths := v_sources || v_targets || v_found.trimmed;
  v_plan.new_paths := v_targets;
  return v_plan;
end
$$;
comment on function filestore.plan_folder is
  'The plan of copying, moving or deleting a folder. No bytes are copied. Refusals: FORBIDDEN_SCOPE, VALIDATION_ERROR, '
  'FILE_NOT_FOUND, TOO_MANY_FILES, INVALID_PATH, FILE_ALREADY_EXISTS, CONTENT_TOO_LARGE.';
call filestore.grant_execute('filestore.plan_folder', 'filestore_engine');

