-- Many files as one: a plan of versions for many files, and folders.
--
-- A plan is made by reading. It is carried out by locking the files that it names, in the order of their paths, and
-- making it again: where it is about the same files, nothing that it depends on can change any more.

create type filestore.step as (
  file_id uuid,
  path text,
  next filestore.next_version
);
comment on type filestore.step is 'One version of a plan. Of a file that does not exist yet the id is null.';

create type filestore.plan as (
  refusal jsonb,
  paths text[],
  new_paths text[],
  steps filestore.step[],
  value jsonb,
  remaining integer
);
comment on type filestore.plan is
  'What is to become of many files: all that it depends on, those of them that it may create, and a version for some.';

create function filestore.too_many_files(p_files bigint) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('TOO_MANY_FILES', jsonb_build_object(
    'files', p_files, 'limit', (filestore.limits()).commit_files_max));
end
$$;
comment on function filestore.too_many_files is 'The refusal of what concerns more files than one commit may change.';
call filestore.grant_execute('filestore.too_many_files', 'filestore_engine');

create function filestore.folder_files(
  p_session filestore.session, p_directory text, p_moment filestore.moment,
  out files filestore.files[], out trimmed text[], out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).commit_files_max;
  c_examined_max constant integer := (filestore.limits()).restore_examined_max;
  v_file filestore.files;
  v_then record;
  v_examined integer := 0;
begin
  files := '{}';
  trimmed := '{}';
  if p_moment is null then
    files := array(
      select f from filestore.files f
      where f.project_id = p_session.project_id and not f.is_deleted
        and f.path > p_directory || '/' and f.path < p_directory || '0'
      order by f.path limit c_files_max + 1);
    if cardinality(files) > c_files_max then
      refusal := filestore.too_many_files(filestore.count_live_files(
        p_session.project_id, filestore.seen_directory(p_session, p_directory), true));
    end if;
  else
    for v_file in
      select f.* from filestore.files f
      where f.project_id = p_session.project_id and f.version > 0
        and f.path > p_directory || '/' and f.path < p_directory || '0'
      order by f.path limit c_examined_max + 1
    loop
      v_examined := v_examined + 1;
      v_then := filestore.file_at(v_file, p_moment);
      if v_then.is_trimmed or v_then.is_redacted and filestore.is_live(v_then.file) then
        trimmed := trimmed || v_file.path::text;
      elsif filestore.is_live(v_then.file) then
        files := files || v_then.file;
      end if;
      if v_examined > c_examined_max or cardinality(files) > c_files_max then
        refusal := filestore.too_many_files(greatest(cardinality(files), c_files_max + 1));
        return;
      end if;
    end loop;
  end if;
end
$$;
comment on function filestore.folder_files is
  'The live files below a directory, now or at a moment, by path. Refused where they, or those that have to be looked '
  'at, are too many.';
call filestore.grant_execute('filestore.folder_files', 'filestore_engine');
call filestore.pin_plan('filestore.folder_files');

create function filestore.broken_path_rule(p_path text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return case
    when octet_length(p_path) > (filestore.limits()).path_bytes_max then 'too_long'
    when cardinality(string_to_array(p_path, '/')) > (filestore.limits()).path_segments_max
      then 'too_many_segments' end;
end
$$;
comment on function filestore.broken_path_rule is
  'The rule that a path made of two valid ones breaks, as `details.rule` names it; null: none.';
call filestore.grant_execute('filestore.broken_path_rule', 'filestore_engine');

create function filestore.taken_paths(p_project_id uuid, p_paths text[], p_except text[]) returns text[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    select t.path from unnest(p_paths) t (path)
    -- fence: files are looked up one by one.
    cross join lateral (
      select f.id from filestore.files f
      where f.project_id = p_project_id and f.path = t.path and not f.is_deleted offset 0
    ) f
    where t.path not in (select unnest(p_except))
    order by t.path collate "C" limit (filestore.limits()).conflicting_paths_shown_max);
end
$$;
comment on function filestore.taken_paths is
  'The first of these paths that have live files, without those of p_except.';
call filestore.grant_execute('filestore.taken_paths', 'filestore_engine');

create function filestore.plan_folder(p_session filestore.session, p_kind text, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
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
  v_made filestore.step[] := '{}';
  v_taken text[];
begin
  if not (v_is_copy or filestore.may_write_below(p_session, v_directory))
    or not (v_is_deletion or filestore.may_write_below(p_session, v_destination)) then
    v_plan.refusal := filestore.outside_prefix(p_session);
    return v_plan;
  end if;
  if p_commit ? 'at' then
    v_moment := filestore.moment_of(p_session, p_commit ->> 'at');
    v_plan.refusal := v_moment.refusal;
    if v_plan.refusal is not null then return v_plan; end if;
  end if;
  v_found := filestore.folder_files(p_session, v_directory, v_moment);
  v_plan.refusal := v_found.refusal;
  if v_plan.refusal is null and cardinality(v_found.files) = 0 then
    v_plan.refusal := filestore.refusal('FILE_NOT_FOUND', case when cardinality(v_found.trimmed) > 0
      then jsonb_build_object('trimmed', v_found.trimmed) else '{}'::jsonb end);
  end if;
  if v_plan.refusal is not null then return v_plan; end if;
  foreach v_file in array v_found.files loop
    v_sources := v_sources || v_file.path::text;
    if not v_is_copy then
      v_left := v_left || row (v_file.id, v_file.path, filestore.tombstone_of(v_file))::filestore.step;
    end if;
    continue when v_is_deletion;
    v_path := v_destination || substr(v_file.path, length(v_directory) + 1);
    v_rule := filestore.broken_path_rule(v_path);
    v_plan.refusal := case when v_rule is null
      then filestore.too_large(p_session, v_file.size, jsonb_build_object('path', v_file.path))
      else filestore.refusal('INVALID_PATH', jsonb_build_object('rule', v_rule, 'path', v_file.path)) end;
    if v_plan.refusal is not null then return v_plan; end if;
    v_targets := v_targets || v_path;
    v_made := v_made || row (null, v_path, filestore.content_of(v_file))::filestore.step;
  end loop;
  if not coalesce((p_commit ->> 'overwrite')::boolean, false) then
    -- A move takes its own sources away.
    v_taken := filestore.taken_paths(p_session.project_id, v_targets, case when v_is_copy then '{}' else v_sources end);
    if cardinality(v_taken) > 0 then
      v_plan.refusal := filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('paths', v_taken));
      return v_plan;
    end if;
  end if;
  -- A file that is moved away while another one takes its place gets one version, with that one's content.
  v_plan.steps := array(
    select l from unnest(v_left) l where l.path not in (select unnest(v_targets))) || v_made;
  -- With those that the answer names as left out: while it is locked none of them is purged.
  v_plan.paths := v_sources || v_targets || v_found.trimmed;
  v_plan.new_paths := v_targets;
  v_plan.value := case when cardinality(v_found.trimmed) > 0
    then jsonb_build_object('trimmed', v_found.trimmed) end;
  return v_plan;
end
$$;
comment on function filestore.plan_folder is
  'What copying, moving or deleting a folder makes. No bytes are copied. Refusals: FORBIDDEN_SCOPE, VALIDATION_ERROR, '
  'FILE_NOT_FOUND, TOO_MANY_FILES, INVALID_PATH, FILE_ALREADY_EXISTS, CONTENT_TOO_LARGE.';
call filestore.grant_execute('filestore.plan_folder', 'filestore_engine');

create function filestore.carry_out(
  p_session filestore.session, p_plan filestore.plan, p_change filestore.change
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_change filestore.change := p_change;
  v_step filestore.step;
  v_files filestore.files[] := '{}';
  v_file filestore.files;
  v_cost bigint := 0;
  v_number integer := 0;
  v_is_deletion boolean := true;
begin
  v_change.committed_at := filestore.commit_time(p_session.project_id, p_plan.paths);
  foreach v_step in array p_plan.steps loop
    select * into v_file from filestore.files f
    where f.project_id = p_session.project_id and f.path = v_step.path;
    v_files := v_files || v_file;
    v_cost := v_cost + filestore.database_cost(v_file, v_step.path, v_step.next, 0) + v_change.said_cost;
    v_is_deletion := v_is_deletion and (v_step.next).is_deleted;
  end loop;
  foreach v_step in array p_plan.steps loop
    v_number := v_number + 1;
    perform filestore.put_version(p_session, v_files[v_number], v_step.path, v_step.next, v_change);
  end loop;
  if v_number > 0 then
    if v_change.run_id is not null then perform filestore.begin_run(p_session.project_id, v_change); end if;
    return filestore.charge_usage(p_session, 0, v_cost, v_number, v_is_deletion);
  end if;
  return null;
end
$$;
comment on function filestore.carry_out is
  'Makes the versions of a plan whose files are locked; returns a refusal or null.';
call filestore.grant_execute('filestore.carry_out', 'filestore_engine');

create function filestore.folder_answer(p_session filestore.session, p_kind text, p_commit_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return (
    select jsonb_build_object('count', count(*), 'files', coalesce(
      jsonb_agg(jsonb_build_object('path', f.path, 'version', v.version) order by f.path), '[]'))
    from filestore.file_versions v
    join filestore.files f on f.project_id = v.project_id and f.id = v.file_id
    where v.project_id = p_session.project_id and v.commit_id = p_commit_id
      and v.is_deleted = (p_kind = 'delete_folder'));
end
$$;
comment on function filestore.folder_answer is
  'What a commit of a folder has made, without the tombstones of a move; the same whenever it is asked for.';
call filestore.grant_execute('filestore.folder_answer', 'filestore_engine');
