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

create function filestore.appended_since(p_file filestore.files, p_version integer) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  v_size bigint := (
    select v.size from filestore.file_versions v
    where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = p_version
      and v.redacted_at is null);
  v_most constant integer := filestore.max_segments((p_file).size);
  v_version filestore.file_versions;
  v_missing bigint;
  v_added uuid[];
  v_appended uuid[] := '{}';
begin
  if v_size is null or (p_file).version - p_version > v_most then return null; end if;
  for v_version in
    select * from filestore.file_versions v
    where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version > p_version
    order by v.version
  loop
    if v_version.operation <> 'append' or v_version.redacted_at is not null then return null; end if;
    v_missing := v_version.size - v_size;
    v_size := v_version.size;
    v_added := '{}';
    while v_missing > 0 loop
      v_added := v_version.segment_ids[cardinality(v_version.segment_ids) - cardinality(v_added)] || v_added;
      v_missing := v_missing - (
        select s.size from filestore.segments s where s.project_id = (p_file).project_id and s.id = v_added[1]);
    end loop;
    -- The end of the file was stored again, along with what was appended.
    if v_missing < 0 then return null; end if;
    v_appended := v_appended || v_added;
  end loop;
  return v_appended;
end
$$;
comment on function filestore.appended_since is
  'The segments that were appended to a file after one of its versions, as they were before any compaction. Null where '
  'the file was changed otherwise since, or too often.';
call filestore.grant_execute('filestore.appended_since', 'filestore_engine');

create function filestore.compacted_again(p_file filestore.files, p_read uuid[], p_edited uuid[]) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  c_read constant integer := cardinality(p_read);
  c_edited constant integer := cardinality(p_edited);
  v_before integer := 0;
  v_after integer := 0;
  v_result uuid[];
begin
  -- How many segments the edit left alone, from the start and from the end.
  while v_before < least(c_read, c_edited) and p_read[v_before + 1] = p_edited[v_before + 1] loop
    v_before := v_before + 1;
  end loop;
  while v_after < least(c_read, c_edited) - v_before and p_read[c_read - v_after] = p_edited[c_edited - v_after] loop
    v_after := v_after + 1;
  end loop;
  -- As far as the present list begins, and ends, at the same bytes as these, it is used.
  with read as (
    select n, s.size, sum(s.size) over (order by n) as stop from generate_subscripts(p_read, 1) n
    -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
    cross join lateral (
      select g.size from filestore.segments g where g.project_id = (p_file).project_id and g.id = p_read[n] offset 0) s
  ), present as (
    select n, s.size, sum(s.size) over (order by n) as stop from generate_subscripts((p_file).segment_ids, 1) n
    cross join lateral (
      select g.size from filestore.segments g
      where g.project_id = (p_file).project_id and g.id = (p_file).segment_ids[n] offset 0) s
  )
  select (p_file).segment_ids[: coalesce(head.present, 0)]
    || p_edited[coalesce(head.read, 0) + 1 : c_edited - (c_read + 1 - coalesce(tail.read, c_read + 1))]
    || (p_file).segment_ids[coalesce(tail.present, cardinality((p_file).segment_ids) + 1) :]
  into v_result
  from (select max(p.n) as present, max(r.n) as read
        from present p join read r on r.stop = p.stop and r.n <= v_before) head,
       (select min(p.n) as present, min(r.n) as read
        from present p join read r on r.stop - r.size = p.stop - p.size and r.n > c_read - v_after) tail;
  return case when cardinality(v_result) <= filestore.max_segments((p_file).size) then v_result end;
end
$$;
comment on function filestore.compacted_again is
  'What an edit made of a list that was compacted meanwhile, with the compacted segments wherever it replaced none of '
  'them. Null where that is more segments than a file may have.';
call filestore.grant_execute('filestore.compacted_again', 'filestore_engine');

create function filestore.is_still_there(p_file filestore.files, p_version integer, p_segment_ids uuid[])
returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return p_segment_ids = (p_file).segment_ids or not exists (
    select s.id from unnest(p_segment_ids) s (id)
    except select s.id from unnest((p_file).segment_ids) s (id)
    except select s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
      where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = p_version);
end
$$;
comment on function filestore.is_still_there is
  'Whether the segments that an edit was made of are those of the file, or of the version that was read: what one '
  'compaction has made, and the next one replaced, may be gone.';
call filestore.grant_execute('filestore.is_still_there', 'filestore_engine');

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
  -- Those that are not its own.
  v_kept constant uuid[] := array(
    select e.id from unnest(v_edited) e (id)
    where e.id not in (select (s.value ->> 'id')::uuid from jsonb_array_elements(p_commit -> 'segments') s));
  v_appended uuid[];
begin
  -- A path that was purged since may have another file, with versions of the same numbers.
  if (p_file).id <> (p_commit ->> 'baseFileId')::uuid then return null; end if;
  if (p_file).version = (p_commit ->> 'baseVersion')::integer then
    if p_commit ? 'baseSegmentIds' then
      return case when filestore.is_still_there(p_file, (p_file).version, v_base) then v_edited end;
    end if;
    -- Without the base it is an append that also compacts, in one segment with what edits may replace.
    return case
      when filestore.is_still_there(p_file, (p_file).version, v_kept)
        and not filestore.is_edited_in_turns((p_file).project_id, (p_file).path)
      then v_edited end;
  elsif p_commit ? 'baseSegmentIds' and (p_file).segment_ids[: cardinality(v_base)] = v_base
    -- Whatever the file has now begins like one without content.
    and (v_base <> '{}' or (p_file).segment_ids = '{}') then
    return v_edited || (p_file).segment_ids[cardinality(v_base) + 1 :];
  elsif p_commit ? 'baseSegmentIds'
    and filestore.is_still_there(p_file, (p_commit ->> 'baseVersion')::integer, v_base) then
    -- Compacted meanwhile. What was read and what was appended since are still there as they were.
    v_appended := filestore.appended_since(p_file, (p_commit ->> 'baseVersion')::integer);
    return case when v_appended is not null
      then filestore.compacted_again(p_file, v_base || v_appended, v_edited || v_appended) end;
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
