-- Verification: which segments the versions of a project need, page by page, so that the command line can look for each
-- in Storage. After a restore of one of the two, it is what tells whether they belong together.

create function public.filestore_verify_versions(
  p_project_id uuid, p_after_path text default null, p_after_version integer default 0
) returns jsonb
language plpgsql volatile security definer
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_limits constant filestore.limits := filestore.limits();
  -- After a file's last version.
  c_version_max constant integer := 2147483647;
  v_file record;
  v_version record;
  v_versions jsonb[] := '{}';
  v_ids uuid[] := '{}';
  v_next jsonb;
begin
  <<files>>
  for v_file in
    select f.id, f.path from filestore.files f
    where f.project_id = p_project_id and f.path >= coalesce(p_after_path, '')
      and (f.path <> p_after_path or p_after_version < c_version_max) is not false
    order by f.path limit c_limits.verify_versions_max
  loop
    for v_version in
      select v.version, v.segment_ids from filestore.file_versions v
      where v.file_id = v_file.id and v.version > case when v_file.path = p_after_path then p_after_version else 0 end
      order by v.version limit c_limits.verify_versions_max
    loop
      v_versions := v_versions || jsonb_build_object(
        'path', v_file.path, 'version', v_version.version, 'segments', to_jsonb(v_version.segment_ids));
      v_ids := v_ids || v_version.segment_ids;
      v_next := jsonb_build_object('path', v_file.path, 'version', v_version.version);
      exit files when cardinality(v_versions) >= c_limits.verify_versions_max
        or cardinality(v_ids) >= c_limits.verify_segments_max;
    end loop;
    -- Past the whole of this file, also where it has no version.
    v_next := jsonb_build_object('path', v_file.path, 'version', c_version_max);
  end loop;
  return jsonb_build_object(
    'versions', to_jsonb(v_versions),
    'segments', filestore.segment_list(p_project_id, array(select distinct i.id from unnest(v_ids) i (id))),
    'next', v_next);
end
$$;
comment on function public.filestore_verify_versions is
  'The versions of a project after one of them, by path and number, with the segments that they need, each once; '
  '`next` is null at the end. A segment that has no row is missing among them.';
call filestore.publish('public.filestore_verify_versions', 'filestore_admin', 'service_role');

create function public.filestore_verify_swept(p_project_id uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  select to_jsonb(s.swept_through) from filestore.sweeps s where s.project_id = p_project_id
$$;
comment on function public.filestore_verify_swept is
  'The last day of a project that the sweep has done, and does not visit again; null: none yet.';
call filestore.publish('public.filestore_verify_swept', 'filestore_admin', 'service_role');
