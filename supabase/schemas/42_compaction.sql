-- Compaction: a run of small segments is replaced by fewer, larger ones with the same bytes.

create function public.filestore_compact(
  p_key_hash text, p_request_id uuid, p_path text, p_run uuid[], p_compacted jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'write', p_place => p_path);
  v_file filestore.files;
  v_from integer;
  v_added record;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_file from filestore.files f
  where f.project_id = v_session.project_id and f.path = p_path and not f.is_deleted for no key update;
  v_from := array_position(v_file.segment_ids, p_run[1]);
  if v_from is null
    or v_file.segment_ids[v_from : v_from + cardinality(p_run) - 1] <> p_run then
    -- An earlier attempt at the same compaction may have succeeded.
    return v_session.envelope || jsonb_build_object(
      'value', coalesce((p_compacted -> 0 ->> 'id')::uuid = any (v_file.segment_ids), false));
  end if;
  v_added := filestore.add_segments(v_session.project_id, p_compacted);
  if v_added.bytes is distinct from (
    select sum(s.size) from unnest(p_run) r (id)
    -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
    cross join lateral (
      select * from filestore.segments s where s.id = r.id and s.project_id = v_session.project_id offset 0
    ) s
  ) then
    raise exception 'the segments differ in size from the run they replace';
  end if;
  update filestore.files f
  set segment_ids = v_file.segment_ids[: v_from - 1]
    || (select array_agg((s.value ->> 'id')::uuid order by s.position)
        from jsonb_array_elements(p_compacted) with ordinality as s (value, position))
    || v_file.segment_ids[v_from + cardinality(p_run) :]
  where f.project_id = v_session.project_id and f.id = v_file.id;
  -- The new segments are in no version until the file gets a version with this list. For segments of earlier
  -- compactions, the last version shows whether they are in a version.
  delete from filestore.possibly_unreferenced_segments d
  where d.project_id = v_session.project_id and d.file_id = v_file.id and d.segment_id = any ((
    select v.segment_ids from filestore.file_versions v
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = v_file.version)::uuid[]);
  insert into filestore.possibly_unreferenced_segments (project_id, file_id, segment_id)
  select v_session.project_id, v_file.id, (s.value ->> 'id')::uuid from jsonb_array_elements(p_compacted) s;
  perform filestore.add_usage(v_session.project_id, v_added.bytes, v_added.database_bytes, 0);
  return v_session.envelope || jsonb_build_object('value', true);
end
$$;
comment on function public.filestore_compact is
  'Replaces a run of adjacent segments in a file''s current segment list by segments with the same bytes. '
  'Adds no version. False where the list contains neither the run nor its replacement.';
call filestore.publish('public.filestore_compact', 'filestore_engine', 'service_role');
