-- Exports: the files of a directory with the segments of each, for one archive.

-- fence: each statement has one index that provides its order, as in `plain_page`.
create function filestore.files_below(
  p_session filestore.session, p_directory text, p_moment filestore.moment, p_files_max integer,
  p_after text default '',
  out files filestore.files[], out trimmed text[], out is_more boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  c_examined_max constant integer := (filestore.limits()).restore_examined_max;
  -- A path has at most 1024 bytes, so none sorts after this text.
  v_from constant text := coalesce(nullif(p_directory, '') || '/', '');
  v_to constant text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  -- Branches are no part of the root: their files lie between two ranges. Elsewhere the second one is empty.
  v_low_to constant text := case when p_directory = '' then '.branches/' else v_to end;
  v_high_from constant text := case when p_directory = '' then '.branches0' else v_to end;
  v_file filestore.files;
  v_then record;
  v_examined integer := 0;
begin
  files := '{}';
  trimmed := '{}';
  is_more := false;
  if p_moment is null then
    files := array(
      select u.file from (
        (select f as file, f.path from filestore.files f
         where f.project_id = p_session.project_id and not f.is_deleted and f.path > v_from and f.path < v_low_to
         order by f.path limit p_files_max + 1)
        union all
        (select f as file, f.path from filestore.files f
         where f.project_id = p_session.project_id and not f.is_deleted and f.path >= v_high_from and f.path < v_to
         order by f.path limit p_files_max + 1)
      ) u
      order by u.path limit p_files_max + 1);
    is_more := cardinality(files) > p_files_max;
    return;
  end if;
  for v_file in
    select u.* from (
      (select f.* from filestore.files f
       where f.project_id = p_session.project_id and f.version > 0 and f.path > greatest(v_from, p_after collate "C")
         and f.path < v_low_to
       order by f.path limit c_examined_max + 1)
      union all
      (select f.* from filestore.files f
       where f.project_id = p_session.project_id and f.version > 0 and f.path > p_after
         and f.path >= v_high_from and f.path < v_to
       order by f.path limit c_examined_max + 1)
    ) u
    order by u.path limit c_examined_max + 1
  loop
    v_examined := v_examined + 1;
    v_then := filestore.file_at(v_file, p_moment);
    if v_then.is_trimmed or v_then.is_redacted and filestore.is_live(v_then.file) then
      trimmed := trimmed || v_file.path;
    elsif filestore.is_live(v_then.file) then
      files := files || v_then.file;
    end if;
    is_more := v_examined > c_examined_max or cardinality(files) > p_files_max;
    exit when is_more;
  end loop;
end
$$;
comment on function filestore.files_below is
  'The live files below a directory or the root, now or at a moment, by path: up to p_files_max, and whether '
  'there may be more; at a moment, those after the path p_after. Also the files whose content at that moment is no '
  'longer complete.';
call filestore.grant_execute('filestore.files_below', 'filestore_engine');
call filestore.pin_plan('filestore.files_below');

create function public.filestore_export(
  p_key_hash text, p_request_id uuid, p_directory text, p_at text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_limits constant filestore.limits := filestore.limits();
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_directory);
  v_directory constant text := filestore.seen_directory(v_session, p_directory);
  v_moment filestore.moment;
  v_found record;
  v_files bigint;
  v_bytes bigint;
  v_segments bigint;
  v_passed jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if p_at is not null then
    v_moment := filestore.moment_of(v_session, p_at);
    if v_moment.refusal is not null then return v_session.envelope || v_moment.refusal; end if;
  end if;
  -- The key sees no file outside its prefix.
  if v_directory is null then return v_session.envelope || filestore.refusal('FILE_NOT_FOUND'); end if;
  v_found := filestore.files_below(v_session, v_directory, v_moment, c_limits.export_files_max);
  v_files := cardinality(v_found.files);
  if v_found.is_more then
    v_files := greatest(c_limits.export_files_max + 1, case when p_at is null
      then filestore.count_live_files(v_session.project_id, v_directory, true) end);
  end if;
  select sum(f.size), sum(cardinality(f.segment_ids)) into v_bytes, v_segments from unnest(v_found.files) f;
  v_passed := case
    when v_found.is_more then jsonb_build_object('limitFiles', c_limits.export_files_max)
    when v_bytes > c_limits.export_bytes_max
      then jsonb_build_object('sizeBytes', v_bytes, 'limitBytes', c_limits.export_bytes_max)
    when v_segments > c_limits.export_segments_max
      then jsonb_build_object('segments', v_segments, 'limitSegments', c_limits.export_segments_max) end;
  return v_session.envelope || case
    when v_passed is not null
      then filestore.refusal('EXPORT_TOO_LARGE', jsonb_build_object('files', v_files) || v_passed)
    when v_found.trimmed <> '{}' or v_found.files = '{}'
      then filestore.refusal('FILE_NOT_FOUND', jsonb_strip_nulls(jsonb_build_object(
        'trimmed', nullif(v_found.trimmed[:c_limits.conflicting_paths_shown_max], '{}'))))
    else jsonb_build_object('value', (
      select jsonb_agg(jsonb_build_object(
        'file', filestore.file_record(f),
        'segments', filestore.segment_list(v_session.project_id, f.segment_ids)) order by f.path)
      from unnest(v_found.files) f)) end;
end
$$;
comment on function public.filestore_export is
  'The files below a directory, now or at a moment, with the segments of each, in the order of their paths. '
  'Refusals: FILE_NOT_FOUND, EXPORT_TOO_LARGE, VALIDATION_ERROR.';
call filestore.publish('public.filestore_export', 'filestore_engine', 'service_role');
