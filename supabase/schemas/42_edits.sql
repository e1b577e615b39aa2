-- Edits that meet others: what is appended meanwhile is kept, and edits of several isolates take turns.

create function filestore.is_edited_in_turns(p_project_id uuid, p_path text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from filestore.edit_turns t
    where t.project_id = p_project_id and t.path = p_path and t.expires_at > clock_timestamp());
end
$$;
comment on function filestore.is_edited_in_turns is 'Whether an isolate has or awaits the turn to edit a file.';
call filestore.grant_execute('filestore.is_edited_in_turns', 'filestore_engine');

create function filestore.is_kept_for_edits(p_file filestore.files) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return cardinality((p_file).segment_ids) < filestore.max_segments((p_file).size) / 2
    and filestore.is_edited_in_turns((p_file).project_id, (p_file).path);
end
$$;
comment on function filestore.is_kept_for_edits is
  'Whether compaction leaves the file alone: edits take turns at it, which would be in vain if the segments that they '
  'replace were gone. Not once half of the segments are used that a file may have.';
call filestore.grant_execute('filestore.is_kept_for_edits', 'filestore_engine');

create function filestore.edited_segments(p_file filestore.files, p_commit jsonb) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  v_edited constant uuid[] := array(
    select r.value::uuid from jsonb_array_elements_text(p_commit -> 'segmentIds') with ordinality r (value, position)
    order by r.position);
  v_base constant uuid[] := array(
    select r.value::uuid
    from jsonb_array_elements_text(p_commit -> 'baseSegmentIds') with ordinality r (value, position)
    order by r.position);
begin
  if (p_file).version = (p_commit ->> 'baseVersion')::integer then
    -- Without the base it is an append that also compacts.
    return case when p_commit ? 'baseSegmentIds' or not filestore.is_kept_for_edits(p_file) then v_edited end;
  elsif p_commit ? 'baseSegmentIds' and (p_file).segment_ids[: cardinality(v_base)] = v_base then
    return v_edited || (p_file).segment_ids[cardinality(v_base) + 1 :];
  end if;
  return null;
end
$$;
comment on function filestore.edited_segments is
  'The segment list that an edit makes of the locked file: the edited one, and what was appended since the version '
  'that was edited. Null where that one was changed otherwise.';
call filestore.grant_execute('filestore.edited_segments', 'filestore_engine');

create function public.filestore_edit_turn(
  p_key_hash text, p_request_id uuid, p_path text, p_holder uuid, p_seconds integer, p_idempotency jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_now timestamptz;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, p_path) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  perform pg_advisory_xact_lock(hashtextextended(v_session.project_id || '/edits/' || p_path, 0));
  v_now := clock_timestamp();
  delete from filestore.edit_turns t where (t.project_id, t.path, t.holder) in (
    select e.project_id, e.path, e.holder from filestore.edit_turns e
    where e.project_id = v_session.project_id
      and (e.expires_at <= v_now or (p_seconds = 0 and e.path = p_path and e.holder = p_holder))
    for update skip locked);
  if p_seconds = 0 then return v_session.envelope || '{"value": {"isTaken": false}}'::jsonb; end if;
  insert into filestore.edit_turns as t (project_id, path, holder, asked_at, expires_at)
  values (v_session.project_id, p_path, p_holder, v_now, v_now + make_interval(secs => p_seconds))
  on conflict (project_id, path, holder) do update set expires_at = excluded.expires_at;
  if p_holder <> (
    select t.holder from filestore.edit_turns t
    where t.project_id = v_session.project_id and t.path = p_path and t.expires_at > v_now
    order by t.asked_at, t.holder limit 1
  ) then
    return v_session.envelope || '{"value": {"isTaken": true}}'::jsonb;
  end if;
  return public.filestore_content(p_key_hash, null, p_path, p_idempotency => p_idempotency);
end
$$;
comment on function public.filestore_edit_turn is
  'Asks for the turn to edit a file, or asks again, or extends it: valid for p_seconds, and over with 0. Returns what '
  'filestore_content returns, once everyone who asked earlier has had their turn or has let it expire.';
call filestore.publish('public.filestore_edit_turn', 'filestore_engine', 'service_role');
