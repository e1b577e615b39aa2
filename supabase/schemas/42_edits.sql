-- Edits: a segment list that replaces the one of the version that was read.

create function filestore.edited_segments(p_file filestore.files, p_commit jsonb) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  v_edited constant uuid[] := array(
    select r.value::uuid from jsonb_array_elements_text(p_commit -> 'segmentIds') with ordinality r (value, position)
    order by r.position);
begin
  -- An operation of a batch edits what the operations before it made, so it names the list instead of the version.
  if p_commit ? 'baseSegmentIds' then
    return case when to_jsonb((p_file).segment_ids) = p_commit -> 'baseSegmentIds' then v_edited end;
  end if;
  -- A path that was purged since may have another file, with versions of the same numbers.
  if (p_file).id <> (p_commit ->> 'baseFileId')::uuid
    or (p_file).version <> (p_commit ->> 'baseVersion')::integer then
    return null;
  end if;
  -- Segments that one compaction made, and another one replaced since the file was read, may be gone.
  return case when not exists (
    select e.id from unnest(v_edited) e (id)
    except select (s.value ->> 'id')::uuid from jsonb_array_elements(p_commit -> 'segments') s
    except select s.id from unnest((p_file).segment_ids) s (id)
    except select s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
      where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = (p_file).version
  ) then v_edited end;
end
$$;
comment on function filestore.edited_segments is
  'The segment list that an edit makes of the locked file; null where the version that was read is not the latest, or '
  'its segments were compacted since.';
call filestore.grant_execute('filestore.edited_segments', 'filestore_engine');
