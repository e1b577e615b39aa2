-- Exports: the files of a directory with the segments of each, for one archive.

create function filestore.export_too_large(p_files bigint, p_bytes bigint, p_segments bigint) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  c_limits constant filestore.limits := filestore.limits();
begin
  return filestore.refusal('EXPORT_TOO_LARGE', json_strip_nulls(case
    when p_files > c_limits.export_files_max
      then json_build_object('files', p_files, 'limitFiles', c_limits.export_files_max)
    when p_bytes > c_limits.export_bytes_max
      then json_build_object('files', p_files, 'sizeBytes', p_bytes, 'limitBytes', c_limits.export_bytes_max)
    when p_segments > c_limits.export_segments_max
      then json_build_object('files', p_files, 'segments', p_segments, 'limitSegments', c_limits.export_segments_max)
    end)::jsonb);
end
$$;
comment on function filestore.export_too_large is
  'The refusal that names the bound of one archive that is passed: files, bytes, or the pieces that they consist of.';
call filestore.grant_execute('filestore.export_too_large', 'filestore_engine');

-- fence: each statement has one index that provides its order, as in `plain_page`.
create function filestore.files_below(
  p_session filestore.session, p_directory text, p_moment filestore.moment,
  out files filestore.files[], out trimmed text[], out is_more boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).export_files_max;
  c_examined_max constant integer := (filestore.limits()).restore_examined_max;
  -- No path has more than 1024 bytes, so none comes after this.
  v_from constant text := coalesce(nullif(p_directory, '') || '/', '');
  v_to constant text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  v_file filestore.files;
  v_then record;
  v_examined integer := 0;
begin
  files := '{}';
  trimmed := '{}';
  is_more := false;
  if p_moment is null then
    files := array(
      select f from filestore.files f
      where f.project_id = p_session.project_id and not f.is_deleted and f.path > v_from and f.path < v_to
      order by f.path limit c_files_max + 1);
    is_more := cardinality(files) > c_files_max;
    return;
  end if;
  for v_file in
    select f.* from filestore.files f
    where f.project_id = p_session.project_id and f.path > v_from and f.path < v_to
    order by f.path limit c_examined_max + 1
  loop
    v_examined := v_examined + 1;
    v_then := filestore.file_at(v_file, p_moment);
    if v_then.is_trimmed or v_then.is_redacted and filestore.is_live(v_then.file) then
      trimmed := trimmed || v_file.path;
    elsif filestore.is_live(v_then.file) then
      files := files || v_then.file;
    end if;
    is_more := v_examined > c_examined_max or cardinality(files) > c_files_max;
    exit when is_more;
  end loop;
end
$$;
comment on function filestore.files_below is
  'The live files below a directory or the root, now or at a moment, by path: as many as one archive may have, and '
  'whether there may be more.';
call filestore.grant_execute('filestore.files_below', 'filestore_engine');
call filestore.pin_plan('filestore.files_below');

create function filestore.export_files(p_session filestore.session, p_directory text, p_at text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_limits constant filestore.limits := filestore.limits();
  v_directory constant text := filestore.seen_directory(p_session, p_directory);
  v_moment filestore.moment;
  v_found record;
  v_bytes bigint;
  v_segments bigint;
begin
  if p_at is not null then
    v_moment := filestore.moment_of(p_session, p_at);
    if v_moment.refusal is not null then return v_moment.refusal; end if;
  end if;
  -- Outside the prefix the key sees nothing.
  if v_directory is null then return filestore.refusal('FILE_NOT_FOUND'); end if;
  v_found := filestore.files_below(p_session, v_directory, v_moment);
  if v_found.is_more then
    return filestore.export_too_large(greatest(c_limits.export_files_max + 1, case when p_at is null then
      filestore.count_live_files(p_session.project_id, v_directory, true) end), null, null);
  end if;
  select sum(f.size), sum(cardinality(f.segment_ids)) into v_bytes, v_segments from unnest(v_found.files) f;
  if v_bytes > c_limits.export_bytes_max or v_segments > c_limits.export_segments_max then
    return filestore.export_too_large(cardinality(v_found.files), v_bytes, v_segments);
  elsif v_found.trimmed <> '{}' then
    return filestore.refusal('FILE_NOT_FOUND', jsonb_build_object(
      'trimmed', v_found.trimmed[:c_limits.conflicting_paths_shown_max]));
  elsif v_found.files = '{}' then
    return filestore.refusal('FILE_NOT_FOUND');
  end if;
  return jsonb_build_object('value', (
    select jsonb_agg(jsonb_build_object(
      'file', filestore.file_record(f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at),
      'segments', filestore.segment_list(p_session.project_id, f.segment_ids)) order by f.path)
    from unnest(v_found.files) f));
end
$$;
comment on function filestore.export_files is
  'What one archive of a directory holds, of what the key may see. Refused: nothing there, too much, and what is not '
  'whole any more.';
call filestore.grant_execute('filestore.export_files', 'filestore_engine');

create function public.filestore_export(
  p_key_hash text, p_request_id uuid, p_directory text, p_at text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  return v_session.envelope || filestore.export_files(v_session, p_directory, p_at);
end
$$;
comment on function public.filestore_export is
  'The files below a directory, now or as they were, with the segments of each, in the order of their paths. '
  'Refusals: FILE_NOT_FOUND, EXPORT_TOO_LARGE, VALIDATION_ERROR.';
call filestore.publish('public.filestore_export', 'filestore_engine', 'service_role');
