-- Verification: the segments that the versions of a project need, page by page, so that the command line can
-- request each from Storage. After a restore of Postgres or Storage, it shows whether the two match.

create function public.filestore_verify_versions(
  p_project_id uuid, p_after_path text default null, p_after_version integer default 0
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- A page ends with the version that reaches one of these.
  c_page_versions constant integer := 500;
  c_page_segments constant integer := 2000;
  -- Comes after the last version of any file.
  c_version_max constant integer := 2147483647;
  v_file record;
  v_version record;
  v_listed uuid[];
  v_versions jsonb[] := '{}';
  v_ids uuid[] := '{}';
  v_next jsonb;
begin
  <<files>>
  for v_file in
    select f.id, f.path, f.version, f.segment_ids from filestore.files f
    where f.project_id = p_project_id and f.path >= coalesce(p_after_path, '')
      and (f.path <> p_after_path or p_after_version < c_version_max) is not false
    order by f.path limit c_page_versions
  loop
    for v_version in
      select v.version, v.segment_ids from filestore.file_versions v
      where v.file_id = v_file.id and v.version > case when v_file.path = p_after_path then p_after_version else 0 end
      order by v.version limit c_page_versions
    loop
      v_listed := v_version.segment_ids;
      -- The latest version is read by the file's own list, which a compaction may have changed.
      if v_version.version = v_file.version and v_file.segment_ids <> v_listed then
        v_listed := v_listed || array(select unnest(v_file.segment_ids) except select unnest(v_listed));
      end if;
      v_versions := v_versions || jsonb_build_object(
        'path', v_file.path, 'version', v_version.version, 'segments', to_jsonb(v_listed));
      v_ids := v_ids || v_listed;
      v_next := jsonb_build_object('path', v_file.path, 'version', v_version.version);
      exit files when cardinality(v_versions) >= c_page_versions
        or cardinality(v_ids) >= c_page_segments;
    end loop;
    -- Past all of this file, even if it has no version.
    v_next := jsonb_build_object('path', v_file.path, 'version', c_version_max);
  end loop;
  return jsonb_build_object(
    'versions', to_jsonb(v_versions),
    'segments', filestore.segment_list(p_project_id, array(select distinct i.id from unnest(v_ids) i (id))),
    'next', v_next);
end
$$;
comment on function public.filestore_verify_versions is
  'The versions of a project after a given one, by path and number, with the segments that they need, each '
  'once; `next` is null at the end. Segments without a row are left out.';
call filestore.publish('public.filestore_verify_versions', 'filestore_admin', 'service_role');
call filestore.pin_plan('public.filestore_verify_versions');

--
-- A segment has no row that leads to its versions. So the command line takes some segments and reads all
-- versions of their projects. A segment in none of these versions, nor in one added in the meantime, is not
-- needed and never will be: a new version takes its segments from its own upload, or from readable versions.
create function public.filestore_verify_segments(p_after uuid default null, p_project_id uuid default null)
returns jsonb
language sql volatile security definer set search_path = '' set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
  with page as materialized (
    select s.id, s.project_id, s.stored_on from filestore.segments s
    where s.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000') order by s.id limit 10000
  ), found as (
    select p.project_id, jsonb_agg(p.id) as ids from page p
    -- Newer segments may be in the middle of an upload or a commit.
    where p.stored_on <= (select filestore.sweepable_through())
      and (p_project_id is null or p.project_id = p_project_id)
      and not exists (select from filestore.dead_segments d where d.segment_id = p.id)
      and not exists (select from filestore.projects o where o.id = p.project_id and o.deleted_at is not null)
    group by p.project_id
  )
  select jsonb_build_object(
    'projects', (select coalesce(jsonb_object_agg(f.project_id, f.ids), '{}') from found f),
    'next', (select p.id from page p order by p.id desc limit 1))
$$;
comment on function public.filestore_verify_segments is
  'A page of segments by project, after an id, of one project or of all: only those of days whose segments '
  'can no longer be committed, without those that the sweep removes anyway. `next` is null at the end.';
call filestore.publish('public.filestore_verify_segments', 'filestore_admin', 'service_role');

create function public.filestore_verify_progress(p_project_id uuid) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object('position', filestore.feed_end(p_project_id), 'sweptThrough', (
    select s.swept_through from filestore.sweeps s where s.project_id = p_project_id))
$$;
comment on function public.filestore_verify_progress is
  'A position up to which all versions that will ever exist are visible from now on; and the last day of the '
  'project that the sweep has finished and does not visit again, or null.';
call filestore.publish('public.filestore_verify_progress', 'filestore_admin', 'service_role');

create function public.filestore_verify_unneeded(
  p_project_id uuid, p_ids uuid[], p_position bigint, p_repairs boolean
) returns jsonb
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off as $$
declare
  v_unneeded uuid[];
  v_removed bigint := 0;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  -- Segments that the sweep has yet to remove for purged files cannot be told from unneeded ones.
  if exists (select from filestore.purged_files g where g.project_id = p_project_id and g.pending_versions > 0) then
    return jsonb_build_object('unneeded', 0, 'removed', 0);
  end if;
  -- One statement: a segment that one version takes over from another is in at least one of them at any
  -- moment.
  v_unneeded := array(
    select s.id from filestore.segments s
    where s.id = any (p_ids) and s.project_id = p_project_id and s.stored_on <= filestore.sweepable_through()
      and not exists (select from filestore.dead_segments d where d.segment_id = s.id)
    except
    select n.id from filestore.file_versions v cross join unnest(v.segment_ids) n (id)
    where v.project_id = p_project_id and v.position > p_position
    except
    -- The sweep finds out whether they are needed.
    select c.segment_id from filestore.possibly_unreferenced_segments c
    where c.project_id = p_project_id and c.due_since is not null
    order by 1);
  if p_repairs then
    v_removed := cardinality(v_unneeded);
    if exists (select from filestore.projects p where p.id = p_project_id) then
      -- The sweep reads the project once more. Since no file contains them, the id of the project takes the
      -- place of the file's.
      perform filestore.examine_segments(p_project_id, p_project_id, v_unneeded);
    else
      perform filestore.mark_segments_dead(p_project_id, v_unneeded);
    end if;
  end if;
  return jsonb_build_object('unneeded', cardinality(v_unneeded), 'removed', v_removed);
end
$$;
comment on function public.filestore_verify_unneeded is
  'The number of these segments that are not needed. The caller has read all versions up to p_position and '
  'all lists of files since `filestore_verify_progress` returned that position, and found the segments in '
  'none. With p_repairs they are marked for the sweep, which removes their objects and then their rows.';
call filestore.publish('public.filestore_verify_unneeded', 'filestore_admin', 'service_role');

create function public.filestore_verify_unknown(p_ids uuid[]) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object(
    'ids', array(
      select i.id from unnest(p_ids) i (id)
      where not exists (select from filestore.projects p where p.id = i.id) order by i.id),
    'through', filestore.sweepable_through())
$$;
comment on function public.filestore_verify_unknown is
  'The given ids that belong to no project (a deleted project counts until the sweep has removed it); and '
  'the last day for which uploads have ended.';
call filestore.publish('public.filestore_verify_unknown', 'filestore_admin', 'service_role');
