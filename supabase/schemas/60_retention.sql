-- Retention: the sweep erases the versions that a project's rule does not keep, the oldest first, in slices.

create function filestore.retention_cut(p_file filestore.files, p_rule jsonb) returns integer
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
comment on function filestore.retention_cut is
  'The last version of a file that a rule does not keep: below 1 where the rule keeps all versions; the '
  'latest version where the file is deleted and due to be purged.';
call filestore.grant_execute('filestore.retention_cut', 'filestore_admin');

create function filestore.preview_retention(p_project_id uuid, p_rule jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).retention_preview_files;
  c_versions_max constant integer := (filestore.limits()).retention_preview_versions;
  v_file filestore.files;
  v_cut integer;
  v_count integer;
  v_examined integer := 0;
  v_versions integer := 0;
  v_files integer := 0;
  v_is_complete boolean := true;
  v_shown jsonb := '[]';
begin
  if p_rule is not null then
    for v_file in
      select * from filestore.files f where f.project_id = p_project_id order by f.id limit c_files_max + 1
    loop
      v_is_complete := v_examined < c_files_max and v_versions < c_versions_max;
      exit when not v_is_complete;
      v_examined := v_examined + 1;
      v_cut := filestore.retention_cut(v_file, p_rule);
      continue when v_cut < 1;
      select count(*) into v_count from (
        select from filestore.file_versions v
        where v.file_id = v_file.id and v.version <= v_cut
        limit c_versions_max - v_versions) c;
      continue when v_count = 0;
      v_versions := v_versions + v_count;
      v_files := v_files + v_file.is_deleted::integer;
      if jsonb_array_length(v_shown) < (filestore.limits()).retention_preview_shown then
        v_shown := v_shown || jsonb_build_object(
          'path', v_file.path, 'versions', v_count, 'whole', v_file.is_deleted);
      end if;
    end loop;
  end if;
  return jsonb_build_object(
    'versions', v_versions, 'files', v_files, 'lookedAt', v_examined, 'isComplete', v_is_complete,
    'examples', (
      select coalesce(jsonb_agg(e.value order by e.value -> 'versions' desc, (e.value ->> 'path') collate "C"), '[]')
      from jsonb_array_elements(v_shown) e));
end
$$;
comment on function filestore.preview_retention is
  'The effect of a rule if it were applied to an opened project now: the number of versions to erase and of '
  'deleted files to purge, and some of the files concerned. Incomplete where there are more files or '
  'versions than it examines.';
call filestore.publish('filestore.preview_retention', 'filestore_admin', 'filestore_account');
call filestore.pin_plan('filestore.preview_retention');

create function filestore.apply_rule(
  p_seen filestore.files, p_rule jsonb, p_waits boolean, p_versions_max integer,
  out outcome text, out versions bigint, out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  v_cut integer := filestore.retention_cut(p_seen, p_rule);
  -- The number of versions that are examined, with the file locked, for segments that they still need.
  c_examined_max constant integer := 500;
  v_file filestore.files;
  v_removed record;
  v_marked record;
begin
  versions := 0;
  bytes := 0;
  database_bytes := 0;
  if not exists (
    select from filestore.file_versions v
    where v.project_id = (p_seen).project_id and v.file_id = (p_seen).id and v.version <= v_cut) then
    return;
  end if;
  -- Waits for a writer on the first file only. Once a file is locked, other locked files are skipped: waiting
  -- would invert the order of locks.
  begin
    if p_waits then
      select * into v_file from filestore.files f
      where f.project_id = (p_seen).project_id and f.id = (p_seen).id and f.path is not null for update;
    else
      select * into v_file from filestore.files f
      where f.project_id = (p_seen).project_id and f.id = (p_seen).id and f.path is not null
      for update skip locked;
    end if;
  exception when lock_not_available then
    null;
  end;
  if v_file.id is null then
    outcome := 'locked';
    return;
  end if;
  v_cut := filestore.retention_cut(v_file, p_rule);
  outcome := case when v_cut < 1 then 'kept' when v_file.is_deleted then 'purged' else 'trimmed' end;
  if outcome = 'purged' then
    delete from filestore.links l where l.project_id = v_file.project_id and l.path = v_file.path;
    perform filestore.purge_file(v_file, gen_random_uuid());
  elsif outcome = 'trimmed' then
    v_removed := filestore.remove_versions(v_file.project_id, v_file.id, v_cut, p_versions_max);
    delete from filestore.links l
    where l.project_id = v_file.project_id and l.path = v_file.path and l.version <= v_cut;
    delete from filestore.search_texts t
    where t.project_id = v_file.project_id and t.file_id = v_file.id and t.version <= v_cut;
    v_marked := filestore.mark_unneeded_segments(v_file, v_removed.segment_ids, c_examined_max);
    versions := v_removed.versions;
    bytes := v_marked.bytes;
    database_bytes := v_removed.database_bytes + v_marked.database_bytes;
  end if;
end
$$;
comment on function filestore.apply_rule is
  'Applies a project''s rule to a file, up to p_versions_max versions of it. outcome: purged, trimmed, kept, locked '
  '(by another transaction), or null where the file has nothing to remove.';
call filestore.grant_execute('filestore.apply_rule', 'filestore_admin');

create function filestore.sweep_retention(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := 500;
  c_versions_max constant integer := 500;
  v_project filestore.projects;
  v_pass filestore.retention_passes;
  v_seen filestore.files;
  v_step record;
  v_files integer := 0;
  v_locked integer := 0;
  v_versions bigint := 0;
  v_bytes bigint := 0;
  v_database_bytes bigint := 0;
  v_after uuid;
  v_is_full boolean := false;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('retention/' || p_project_id, 0)) then return; end if;
  select * into v_project from filestore.projects p where p.id = p_project_id and p.retention is not null;
  if not found then return; end if;
  insert into filestore.retention_passes as r (project_id, position, started_at)
  values (p_project_id, filestore.last_position(p_project_id, 0, 9223372036854775807), filestore.sweep_clock())
  on conflict (project_id) do update set position = excluded.position, started_at = excluded.started_at
    where r.after_file is null;
  select * into v_pass from filestore.retention_passes r where r.project_id = p_project_id;
  perform set_config('filestore.due_since', least(v_pass.started_at, v_project.retention_set_at)::text, true);
  v_after := v_pass.after_file;
  for v_seen in
    select * from filestore.files f
    where f.project_id = p_project_id
      and f.id > coalesce(v_pass.after_file, '00000000-0000-0000-0000-000000000000')
    order by f.id limit c_files_max
  loop
    v_files := v_files + 1;
    v_step := filestore.apply_rule(v_seen, v_project.retention, v_locked = 0, c_versions_max - v_versions::integer);
    v_is_full := v_step.outcome = 'locked' and v_locked > 0;
    exit when v_is_full;
    v_locked := v_locked + (v_step.outcome is not null)::integer;
    v_versions := v_versions + v_step.versions;
    v_bytes := v_bytes + v_step.bytes;
    v_database_bytes := v_database_bytes + v_step.database_bytes;
    v_is_full := v_versions >= c_versions_max;
    -- This file may have more versions to remove.
    exit when v_is_full;
    v_after := v_seen.id;
    v_is_full := v_step.outcome is not distinct from 'purged';
    exit when v_is_full;
  end loop;
  if v_versions > 0 then
    perform filestore.add_usage(p_project_id, -v_bytes, -v_database_bytes, -v_versions);
  end if;
  v_after := case when v_is_full then coalesce(v_after, '00000000-0000-0000-0000-000000000000')
    when v_files = c_files_max then v_after end;
  update filestore.retention_passes r
  set after_file = v_after, applied_at = case when v_after is null then r.started_at else r.applied_at end
  where r.project_id = p_project_id;
end
$$;
comment on function filestore.sweep_retention is
  'One slice of applying a project''s rule: examines a bounded number of files in the order of their ids, '
  'and ends early once it has removed a bounded number of versions or purged one deleted file.';
call filestore.grant_execute('filestore.sweep_retention', 'filestore_admin');
