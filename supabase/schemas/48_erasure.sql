-- Erasure: makes versions unreadable for good, and finds the segments that no readable version needs any more.
--
-- The segments of a version are from its own commit, from earlier versions of its file or, by a copy or move,
-- from another file. The last case is recorded in `shared_segments` under the locks of both files. So under a
-- file's lock, its own versions and that table are enough to find most dead segments; a pass over all
-- versions of the project finds the others. No dead segment is used again: a commit takes segments from its
-- own upload, or from a version or a list that is readable under the same locks. The engine may read the
-- rows; functions that run as `filestore_admin` erase them. See decision 0009.

create function filestore.mark_segments_dead(
  p_project_id uuid, p_segment_ids uuid[], out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
begin
  with dead as (
    insert into filestore.dead_segments (segment_id, project_id, stored_on)
    select s.id, s.project_id, s.stored_on from unnest(p_segment_ids) i (id)
    -- fence, here and below: rows are looked up one by one.
    cross join lateral (
      select * from filestore.segments o where o.id = i.id and o.project_id = p_project_id offset 0) s
    on conflict do nothing
    returning segment_id
  )
  select coalesce(sum(s.size), 0), count(*) * (filestore.limits()).tariff_segment_bytes into bytes, database_bytes
  from dead d cross join lateral (select * from filestore.segments o where o.id = d.segment_id offset 0) s;
  delete from filestore.shared_segments h where h.project_id = p_project_id and h.segment_id = any (p_segment_ids);
  delete from filestore.possibly_unreferenced_segments c
  where c.project_id = p_project_id and c.segment_id = any (p_segment_ids);
end
$$;
comment on function filestore.mark_segments_dead is
  'Marks segments that no readable version or list contains as dead; the sweep removes their objects. '
  'Returns their bytes.';
call filestore.grant_execute('filestore.mark_segments_dead', 'filestore_admin');

create function filestore.examine_segments(p_project_id uuid, p_file_id uuid, p_segment_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- The current pass may have read the version before it was erased, so the next pass examines these
  -- segments. They are due since now, since until now a version contained them. In order of ids, so that a
  -- pass and an erasure do not wait for each other.
  insert into filestore.possibly_unreferenced_segments (project_id, file_id, segment_id, due_since)
  select p_project_id, p_file_id, s.id, filestore.due_since() from unnest(p_segment_ids) s (id) order by s.id
  on conflict (project_id, file_id, segment_id) do update
    set is_examined = false, is_referenced = false, due_since = excluded.due_since;
end
$$;
comment on function filestore.examine_segments is
  'Has the sweep find out whether any version or list contains these distinct segments, which an erasure '
  'took from a file.';
call filestore.grant_execute('filestore.examine_segments', 'filestore_admin');

create function filestore.release_segments(
  p_project_id uuid, p_file_id uuid, p_segment_ids uuid[], out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  v_shared uuid[];
begin
  delete from filestore.shared_segments h
  where h.project_id = p_project_id and h.segment_id = any (p_segment_ids) and h.file_id = p_file_id;
  -- If two files lose a segment at the same time, each erasure still sees the segment in the other file.
  v_shared := array(
    select i.id from unnest(p_segment_ids) i (id)
    where exists (
      select from filestore.shared_segments h where h.project_id = p_project_id and h.segment_id = i.id));
  perform filestore.examine_segments(p_project_id, p_file_id, v_shared);
  select m.* into bytes, database_bytes from filestore.mark_segments_dead(p_project_id, array(
    select i.id from unnest(p_segment_ids) i (id) except select h.id from unnest(v_shared) h (id))) m;
end
$$;
comment on function filestore.release_segments is
  'Takes distinct segments that are no longer in a readable version of a file, nor in its current list. '
  'Those that no other file has used are dead. Returns their bytes.';
call filestore.grant_execute('filestore.release_segments', 'filestore_admin');

create function filestore.take_compacted(p_file filestore.files, p_limit integer) returns uuid[]
language sql volatile set search_path = '' as $$
  with taken as (
    delete from filestore.possibly_unreferenced_segments c
    -- An array, since otherwise each segment may be compared with every other one.
    where c.project_id = (p_file).project_id and c.file_id = (p_file).id and c.segment_id = any (array(
      select o.segment_id from filestore.possibly_unreferenced_segments o
      where o.project_id = (p_file).project_id and o.file_id = (p_file).id
        and o.segment_id <> all ((p_file).segment_ids)
      order by o.segment_id limit p_limit))
    returning c.segment_id
  )
  select coalesce(array_agg(t.segment_id), '{}') from taken t
$$;
comment on function filestore.take_compacted is
  'Removes from the possibly unreferenced segments those that were in the list of a locked file and no '
  'longer are, up to p_limit, and returns them.';
call filestore.grant_execute('filestore.take_compacted', 'filestore_admin');

create function filestore.remove_versions(
  p_project_id uuid, p_file_id uuid, p_last integer, p_versions_max integer,
  out versions bigint, out database_bytes bigint, out segment_ids uuid[]
)
language plpgsql volatile set search_path = '' as $$
declare
  -- The number of segments in the lists of the versions that are removed together.
  c_listed_max constant integer := 1500000;
  v_through integer;
begin
  -- At least one version, whatever the length of its list.
  select coalesce(max(l.version) filter (where l.listed <= c_listed_max),
    min(l.version))
  into v_through
  from (
    select v.version, sum(cardinality(v.segment_ids)) over (order by v.version) as listed
    from (
      select o.* from filestore.file_versions o
      where o.project_id = p_project_id and o.file_id = p_file_id and o.version <= p_last
        and o.operation <> 'purge'
      order by o.version limit p_versions_max
    ) v
  ) l;
  with removed as materialized (
    delete from filestore.file_versions v
    where v.project_id = p_project_id and v.file_id = p_file_id and v.version <= v_through and v.operation <> 'purge'
    returning v as version_row
  )
  select count(*), coalesce(sum(filestore.version_cost(r.version_row)), 0),
         array(select distinct s.id from removed o cross join unnest((o.version_row).segment_ids) s (id))
  into versions, database_bytes, segment_ids from removed r;
end
$$;
comment on function filestore.remove_versions is
  'Removes the first versions of a file, up to a given version and up to p_versions_max of them. Returns the '
  'bytes that their rows count as, and their segments.';
call filestore.grant_execute('filestore.remove_versions', 'filestore_admin');

create function filestore.blank_answers(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- The commit of an answer locked the files that it names, so each answer that names the erased content is
  -- visible here.
  update filestore.projects p
  set answers_blank_through = greatest(p.answers_blank_through, i.created_at),
      answers_blank_since = coalesce(p.answers_blank_since, filestore.due_since())
  from (
    select o.created_at from filestore.idempotency_keys o
    where o.project_id = p_project_id and o.names is not null order by o.created_at desc limit 1
  ) i
  where p.id = p_project_id;
end
$$;
comment on function filestore.blank_answers is
  'Blanks the answers that a project has stored for repeated requests: from now on they are returned without '
  'names and quotes, which the sweep removes from the rows.';
call filestore.grant_execute('filestore.blank_answers', 'filestore_admin');

create function filestore.purge_file(
  p_file filestore.files, p_commit_id uuid, p_key_id uuid default null, p_account_id uuid default null,
  p_actor text default null
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id constant uuid := (p_file).project_id;
  v_file_id constant uuid := (p_file).id;
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = v_project_id);
  v_now constant timestamptz := greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at);
  v_names constant text[] := string_to_array((p_file).path, '/');
  v_removed record;
  v_segment_ids uuid[];
  v_released record;
  v_purged filestore.files;
  v_receipt filestore.file_versions;
  v_versions bigint;
  v_pending bigint;
begin
  v_versions := (p_file).version + 1 - (
    select min(v.version) from filestore.file_versions v where v.project_id = v_project_id and v.file_id = v_file_id);
  v_removed := filestore.remove_versions(
    v_project_id, v_file_id, (p_file).version, (filestore.limits()).erased_versions_max);
  v_segment_ids := array(
    select unnest(v_removed.segment_ids) union select unnest((p_file).segment_ids)
    union select unnest(filestore.take_compacted(p_file, (filestore.limits()).erased_versions_max)));
  v_released := filestore.release_segments(v_project_id, v_file_id, v_segment_ids);
  -- One of the versions that were too many is enough for a pass to become due.
  update filestore.possibly_unreferenced_segments c set due_since = coalesce(c.due_since, filestore.due_since())
  where c.project_id = v_project_id and c.file_id = v_file_id and c.segment_id = (
    select o.segment_id from filestore.possibly_unreferenced_segments o
    where o.project_id = v_project_id and o.file_id = v_file_id order by o.segment_id limit 1);
  v_pending := v_versions - v_removed.versions;
  -- From here on the file has no path: readers do not see it, and a file created at its former path is a new
  -- one.
  update filestore.files f
  set path = null, version = f.version + 1, mime_type = 'application/octet-stream', size = 0, is_deleted = true,
      is_text = true, segment_ids = '{}', created_at = v_now, updated_at = v_now
  where f.project_id = v_project_id and f.id = v_file_id returning * into v_purged;
  insert into filestore.file_versions (
    project_id, file_id, version, mime_type, size, is_deleted, segment_ids, commit_id, position, operation, key_id,
    account_id, actor, created_at)
  values (
    v_project_id, v_file_id, (p_file).version + 1, 'application/octet-stream', 0, true, '{}', p_commit_id,
    filestore.next_position(v_project_id), 'purge',
    coalesce(p_key_id, '00000000-0000-0000-0000-000000000000'), p_account_id, p_actor, v_now)
  returning * into v_receipt;
  insert into filestore.purged_files (
    project_id, file_id, path_hash, place_hashes, versions, bytes, pending_versions, first_pending_versions,
    is_in_branch, purged_at)
  values (
    v_project_id, v_file_id, filestore.place_hash(v_cursor_key, v_file_id, (p_file).path),
    array(
      select filestore.place_hash(v_cursor_key, v_file_id, array_to_string(v_names[1:n], '/'))
      from generate_series(1, cardinality(v_names) - 1) n),
    v_versions, v_released.bytes, v_pending, v_pending, starts_with((p_file).path, '.branches/'), v_now);
  delete from filestore.branch_files b where b.project_id = v_project_id and b.file_id = v_file_id;
  -- After the path: an isolate that was storing the text has finished, or will find no path.
  delete from filestore.search_queue q where q.project_id = v_project_id and q.file_id = v_file_id;
  delete from filestore.search_texts t where t.project_id = v_project_id and t.file_id = v_file_id;
  perform filestore.blank_answers(v_project_id);
  -- The row of the file and the receipt remain.
  perform filestore.add_usage(
    v_project_id, -v_released.bytes,
    filestore.file_cost(v_purged) - filestore.file_cost(p_file) + filestore.version_cost(v_receipt)
      - v_removed.database_bytes - v_released.database_bytes,
    1 - v_removed.versions);
end
$$;
comment on function filestore.purge_file is
  'Erases a locked file: every version becomes unreadable. The first versions and their segments are removed '
  'at once, the others in slices. One receipt takes their place in the change feed.';
call filestore.publish('filestore.purge_file', 'filestore_admin', 'filestore_engine');

create function filestore.lock_to_erase(p_project_id uuid, p_path text) returns filestore.files
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files;
begin
  select * into v_file from filestore.files f where f.project_id = p_project_id and f.path = p_path for update;
  return v_file;
end
$$;
comment on function filestore.lock_to_erase is
  'As lock_file, and waits for the slice that copies the file to a branch, which locks its sources `for key share` so '
  'that it delays no writer.';
call filestore.grant_execute('filestore.lock_to_erase', 'filestore_engine');

create function filestore.commit_purge(p_session filestore.session, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_commit_id constant uuid := p_commit ->> 'commitId';
  v_path constant text := p_commit ->> 'path';
  v_file filestore.files;
  v_refusal jsonb;
  v_setting text;
begin
  -- Links before the file, the order in which a write through a link locks them.
  delete from filestore.links l where l.project_id = p_session.project_id and l.path = v_path;
  v_file := filestore.lock_to_erase(p_session.project_id, v_path);
  if not exists (
    select from filestore.file_versions v
    where v.project_id = p_session.project_id and v.commit_id = v_commit_id and v.operation = 'purge') then
    v_refusal := case when coalesce(v_file.version, 0) = 0 then filestore.refusal('FILE_NOT_FOUND')
      else filestore.failed_precondition(v_file, p_commit) end;
    if v_refusal is not null then return v_refusal; end if;
    perform filestore.purge_file(
      v_file, v_commit_id, p_session.key_id, p_session.person_id, p_commit #>> '{provenance,actor}');
  end if;
  v_setting := set_config('filestore.branches', 'on', true);
  return (
    select jsonb_build_object('value', jsonb_build_object('file', jsonb_build_object(
      'versions', g.versions, 'bytes', g.bytes, 'pendingVersions', g.first_pending_versions)
      || (
        select case when count(*) > 0 then jsonb_build_object('copies', jsonb_agg(c.path order by c.path)) else '{}' end
        from (
          select f.path from filestore.branch_files b
          join filestore.files f on f.project_id = b.project_id and f.id = b.file_id
          where b.project_id = g.project_id and b.base_file_id = g.file_id
          order by f.path limit (filestore.limits()).conflicting_paths_shown_max
        ) c)))
    from filestore.file_versions v
    join filestore.purged_files g on g.project_id = v.project_id and g.file_id = v.file_id
    where v.project_id = p_session.project_id and v.commit_id = v_commit_id and v.operation = 'purge');
end
$$;
comment on function filestore.commit_purge is
  'Purges the file at a path, deleted or not; its answer, stored or repeated, does not contain the path, but names '
  'files of branches that were copied from it.';
call filestore.grant_execute('filestore.commit_purge', 'filestore_engine');

create function filestore.mark_unneeded_segments(
  p_file filestore.files, p_segment_ids uuid[], p_versions_max integer,
  out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := (p_file).project_id;
  v_file_id constant uuid := (p_file).id;
  v_segment_ids uuid[];
begin
  bytes := 0;
  database_bytes := 0;
  if (
    select count(*) from (
      select from filestore.file_versions v
      where v.project_id = v_project_id and v.file_id = v_file_id limit p_versions_max + 1
    ) v
  ) > p_versions_max then
    perform filestore.examine_segments(v_project_id, v_file_id, p_segment_ids);
    return;
  end if;
  v_segment_ids := array(
    (select unnest(p_segment_ids) union select unnest(filestore.take_compacted(p_file, p_versions_max)))
    except select unnest((p_file).segment_ids)
    except select s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
      where v.project_id = v_project_id and v.file_id = v_file_id);
  select r.* into bytes, database_bytes from filestore.release_segments(v_project_id, v_file_id, v_segment_ids) r;
end
$$;
comment on function filestore.mark_unneeded_segments is
  'Finds the dead segments of erased versions of a locked file: those that neither its other versions nor '
  'its list contain. Where it has more versions than may be examined, the sweep finds out.';
call filestore.grant_execute('filestore.mark_unneeded_segments', 'filestore_admin');

create function filestore.redact_versions(p_file filestore.files, p_versions integer[], p_note text) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id constant uuid := (p_file).project_id;
  v_file_id constant uuid := (p_file).id;
  v_segment_ids uuid[];
  v_change bigint;
  v_marked record;
begin
  with redacted as (
    update filestore.file_versions v
    set segment_ids = '{}', note = p_note, redacted_at = clock_timestamp(), redacted_segment_ids = v.segment_ids
    from filestore.file_versions o
    where v.project_id = v_project_id and v.file_id = v_file_id and v.version = any (p_versions)
      and v.redacted_at is null and o.project_id = v_project_id and o.file_id = v_file_id
      and o.version = any (p_versions) and o.version = v.version
    returning v as new_row, o as old_row
  )
  select sum(filestore.version_cost(r.new_row) - filestore.version_cost(r.old_row)),
         array(select distinct s.id from redacted d cross join unnest((d.old_row).segment_ids) s (id))
  into v_change, v_segment_ids from redacted r;
  delete from filestore.search_texts t
  where t.project_id = v_project_id and t.file_id = v_file_id and t.version = any (p_versions);
  v_marked := filestore.mark_unneeded_segments(p_file, v_segment_ids, (filestore.limits()).erased_versions_max);
  perform filestore.blank_answers(v_project_id);
  perform filestore.add_usage(
    v_project_id, -v_marked.bytes, coalesce(v_change, 0) - v_marked.database_bytes, 0);
end
$$;
comment on function filestore.redact_versions is
  'Erases the content of versions of a locked file, none of them the current one, and replaces their notes.';
call filestore.publish('filestore.redact_versions', 'filestore_admin', 'filestore_engine');

create function filestore.sharing_versions(p_session filestore.session, p_file filestore.files, p_segment_ids uuid[])
returns jsonb
language sql volatile set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('path', r.path, 'version', r.version)), '[]')
  from (
    select f.path, v.version
    from (
      select (p_file).id as file_id
      union all
      select o.file_id from (
        select distinct h.file_id from unnest(p_segment_ids) s (id)
        -- fence, here and below: rows are looked up one by one.
        cross join lateral (
          select * from filestore.shared_segments g
          where g.project_id = p_session.project_id and g.segment_id = s.id and g.file_id <> (p_file).id offset 0) h
        limit (filestore.limits()).redact_remaining_max
      ) o
    ) i
    -- Files that the key does not see are not named.
    cross join lateral (
      select o.path from filestore.files o where o.project_id = p_session.project_id and o.id = i.file_id offset 0
    ) f
    -- Of each file, the latest 2,000 versions are examined.
    cross join lateral (
      select n.version from (
        select o.version, o.segment_ids from filestore.file_versions o
        where o.project_id = p_session.project_id and o.file_id = i.file_id
        order by o.version desc limit 2000
      ) n
      where exists (
        select from unnest(n.segment_ids) s (id) where s.id in (select p.id from unnest(p_segment_ids) p (id)))
      order by n.version desc limit (filestore.limits()).redact_remaining_max
    ) v
    limit (filestore.limits()).redact_remaining_max
  ) r
$$;
comment on function filestore.sharing_versions is
  'Some versions that contain one of these segments: of this file and of other files that the key sees, '
  'among the latest versions of each.';
call filestore.grant_execute('filestore.sharing_versions', 'filestore_engine');
call filestore.pin_plan('filestore.sharing_versions');

create function public.filestore_redact(
  p_key_hash text, p_request_id uuid, p_path text, p_versions integer[], p_note text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'admin', p_place => p_path);
  v_file filestore.files;
  v_version filestore.file_versions;
  v_number integer;
  v_segment_ids uuid[];
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  -- Links before the file, the order in which a read through a link locks them.
  perform from filestore.links l
  where l.project_id = v_session.project_id and l.path = p_path and l.version = any (p_versions)
  order by l.id for update;
  v_file := filestore.lock_to_erase(v_session.project_id, p_path);
  if coalesce(v_file.version, 0) = 0 then return v_session.envelope || filestore.refusal('FILE_NOT_FOUND'); end if;
  foreach v_number in array p_versions loop
    select * into v_version from filestore.file_versions v
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = v_number;
    if v_version.version is null then
      return v_session.envelope || filestore.unreadable_version(v_file, v_number, v_version);
    elsif v_number = v_file.version and filestore.is_live(v_file) then
      return v_session.envelope || filestore.refusal('VERSION_CURRENT', jsonb_build_object('version', v_number));
    end if;
  end loop;
  v_segment_ids := array(
    select distinct s.id from filestore.file_versions v
    cross join unnest(coalesce(v.redacted_segment_ids, v.segment_ids)) s (id)
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = any (p_versions));
  delete from filestore.links l
  where l.project_id = v_session.project_id and l.path = p_path and l.version = any (p_versions);
  perform filestore.redact_versions(v_file, p_versions, p_note);
  -- Branches have copies, too.
  perform set_config('filestore.branches', 'on', true);
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'versions', (select jsonb_agg(n order by n) from (select distinct unnest(p_versions) as n) d),
    'remaining', filestore.sharing_versions(v_session, v_file, v_segment_ids)));
end
$$;
comment on function public.filestore_redact is
  'Erases the content of versions, except the current one of a file that is not deleted, for a key with the '
  'scope admin, or the owner. A repeated request has the same result, but for the list of versions that '
  'still contain a part of the content. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, VERSION_CURRENT.';
call filestore.publish('public.filestore_redact', 'filestore_engine', 'service_role');

create function filestore.sweep_purged_versions(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_slice_versions constant integer := 2000;
  v_purged filestore.purged_files;
  v_removed record;
  v_released record;
begin
  select * into v_purged from filestore.purged_files g
  where g.project_id = p_project_id and g.pending_versions > 0
  order by g.due_since limit 1 for update skip locked;
  if not found then return; end if;
  perform set_config('filestore.due_since', v_purged.due_since::text, true);
  v_removed := filestore.remove_versions(
    v_purged.project_id, v_purged.file_id, 2147483647, c_slice_versions);
  v_released := filestore.release_segments(v_purged.project_id, v_purged.file_id, v_removed.segment_ids);
  update filestore.purged_files g
  set pending_versions = case when v_removed.versions = 0 then 0 else g.pending_versions - v_removed.versions end
  where g.project_id = v_purged.project_id and g.file_id = v_purged.file_id;
  perform filestore.add_usage(
    v_purged.project_id, -v_released.bytes, -v_removed.database_bytes - v_released.database_bytes,
    -v_removed.versions);
end
$$;
comment on function filestore.sweep_purged_versions is
  'Removes versions of a project''s purged file that were too many for the commit of the purge.';
call filestore.grant_execute('filestore.sweep_purged_versions', 'filestore_admin');

create function filestore.sweep_answers(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_most constant integer := 5000;
  v_through timestamptz;
begin
  select p.answers_blank_through into v_through from filestore.projects p
  where p.id = p_project_id for no key update skip locked;
  if v_through is null then return; end if;
  update filestore.idempotency_keys i set names = null
  where i.project_id = p_project_id and (i.caller_id, i.key) in (
    select o.caller_id, o.key from filestore.idempotency_keys o
    where o.project_id = p_project_id and o.names is not null and o.created_at <= v_through
    order by o.created_at limit c_most for update skip locked);
  -- Rows that a request has locked are left for the next slice.
  if not exists (
    select from filestore.idempotency_keys o
    where o.project_id = p_project_id and o.names is not null and o.created_at <= v_through
  ) then
    update filestore.projects p set (answers_blank_through, answers_blank_since) = (null, null)
    where p.id = p_project_id;
  end if;
end
$$;
comment on function filestore.sweep_answers is
  'Removes the names and quotes from the blanked answers of a project.';
call filestore.grant_execute('filestore.sweep_answers', 'filestore_admin');

create function filestore.mark_examined_segments(p_project_id uuid, p_position bigint) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_most constant integer := 5000;
  v_dead uuid[];
  v_due_since timestamptz;
  v_released record;
begin
  -- One statement: a segment that one version takes over from another is in at least one of them at any
  -- moment.
  with newer as materialized (
    select distinct s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
    where v.project_id = p_project_id and v.position > p_position
  ), examined as materialized (
    select c.file_id, c.segment_id, c.due_since,
           c.is_referenced or c.segment_id in (select n.id from newer n) as is_referenced,
           exists (
             select from filestore.files f
             where f.project_id = p_project_id and f.id = c.file_id and c.segment_id = any (f.segment_ids)) as is_listed
    from filestore.possibly_unreferenced_segments c
    where c.project_id = p_project_id and c.is_examined order by c.segment_id limit c_most
  ), kept as (
    -- Segments that an erasure has recorded again in the meantime are skipped, here and below; the next pass
    -- examines them.
    update filestore.possibly_unreferenced_segments c
    set is_examined = false, is_referenced = false, due_since = null
    from examined e
    where c.project_id = p_project_id and c.file_id = e.file_id and c.segment_id = e.segment_id and c.is_examined
      and e.is_listed
  ), removed as (
    delete from filestore.possibly_unreferenced_segments c using examined e
    where c.project_id = p_project_id and c.file_id = e.file_id and c.segment_id = e.segment_id and c.is_examined
      and not e.is_listed
  )
  select array_agg(distinct e.segment_id), min(e.due_since) into v_dead, v_due_since from examined e
  where not e.is_referenced and not exists (
    select from filestore.possibly_unreferenced_segments o
    join filestore.files f on f.project_id = o.project_id and f.id = o.file_id
    where o.project_id = p_project_id and o.segment_id = e.segment_id and o.segment_id = any (f.segment_ids));
  if v_dead is null then return; end if;
  perform set_config('filestore.due_since', v_due_since::text, true);
  v_released := filestore.mark_segments_dead(p_project_id, v_dead);
  perform filestore.add_usage(p_project_id, -v_released.bytes, -v_released.database_bytes, 0);
end
$$;
comment on function filestore.mark_examined_segments is
  'Processes some of the segments of a pass, once it has read all versions up to a position: those in no '
  'version and in no list are dead, and those in a list wait for another pass.';
call filestore.grant_execute('filestore.mark_examined_segments', 'filestore_admin');

create function filestore.sweep_marks(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_noted constant integer := 10000;
  c_versions constant integer := 2000;
  v_through bigint;
  v_end bigint;
  v_count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('marks/' || p_project_id, 0)) then return; end if;
  v_through := (select s.marked_through from filestore.sweeps s where s.project_id = p_project_id);
  if v_through is null then
    -- A pass begins once all segments that it examines are marked.
    update filestore.possibly_unreferenced_segments c
    set is_examined = true, is_referenced = false, due_since = coalesce(c.due_since, (
      select d.due_since from filestore.possibly_unreferenced_segments d
      where d.project_id = p_project_id and d.due_since is not null order by d.due_since limit 1))
    from (
      select o.file_id, o.segment_id from filestore.possibly_unreferenced_segments o
      where o.project_id = p_project_id and not o.is_examined order by o.segment_id limit c_noted
    ) n
    where c.project_id = p_project_id and c.file_id = n.file_id and c.segment_id = n.segment_id;
    get diagnostics v_count = row_count;
    if v_count = c_noted then return; end if;
    v_through := 0;
  end if;
  v_end := filestore.feed_end(p_project_id);
  with looked_at as materialized (
    select v.position, v.segment_ids from filestore.file_versions v
    where v.project_id = p_project_id and v.position > v_through and v.position <= v_end
    order by v.position limit c_versions
  ), referenced as (
    update filestore.possibly_unreferenced_segments c set is_referenced = true
    where c.project_id = p_project_id and c.is_examined and not c.is_referenced and c.segment_id = any (array(
      select distinct s.id from looked_at l cross join unnest(l.segment_ids) s (id)))
  )
  select count(*), coalesce(max(l.position), v_through) into v_count, v_through from looked_at l;
  if v_count < c_versions then
    perform filestore.mark_examined_segments(p_project_id, v_through);
    if not exists (
      select from filestore.possibly_unreferenced_segments c where c.project_id = p_project_id and c.is_examined
    ) then
      v_through := null;
    end if;
  end if;
  insert into filestore.sweeps as s (project_id, marked_through) values (p_project_id, v_through)
  on conflict (project_id) do update set marked_through = excluded.marked_through;
end
$$;
comment on function filestore.sweep_marks is
  'One slice of a pass over all versions of a project, in the order of their positions, for segments that may be '
  'unreferenced.';
call filestore.grant_execute('filestore.sweep_marks', 'filestore_admin');
