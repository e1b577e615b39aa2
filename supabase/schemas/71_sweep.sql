-- Garbage collection: finding uploads that no commit ever referenced, so that the edge function can remove them.
--
-- Objects are named {project_id}/{yyyymmdd}/{segment_id}. A day is swept once it has been over for a day. Commits
-- refuse segments of such days, so an object without a row never gets one.

create function filestore.prune_keys() returns void
language sql volatile set search_path = '' as $$
  with ended as materialized (
    select k.id from filestore.api_keys k
    where k.key_hash is not null and least(k.revoked_at, k.expires_at)
      < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_keys_kept_days)
    order by least(k.revoked_at, k.expires_at) limit (filestore.limits()).ended_keys_pruned_at_once
    for update skip locked
  ), removed as (
    delete from filestore.api_keys k using ended e
    where k.id = e.id and not exists (select from filestore.file_versions v where v.key_id = k.id)
    returning k.id
  )
  update filestore.api_keys k set key_hash = null, prefix = ''
  from ended e where k.id = e.id and k.id not in (select r.id from removed r)
$$;
comment on function filestore.prune_keys is
  'Removes keys that ended long ago, some at a time. Of one that versions name, id and name stay.';
call filestore.grant_execute('filestore.prune_keys', 'filestore_admin');

create function filestore.prune_links() returns void
language sql volatile set search_path = '' as $$
  with ended as materialized (
    select l.id from filestore.links l
    where l.expires_at < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_links_kept_days)
    order by l.expires_at limit (filestore.limits()).ended_links_pruned_at_once for update skip locked
  ), removed as (
    delete from filestore.links l using ended e where l.id = e.id returning l.project_id, l.id
  )
  delete from filestore.link_windows w using removed r where w.project_id = r.project_id and w.link_id = r.id
$$;
comment on function filestore.prune_links is 'Removes links that expired long ago, some at a time.';
call filestore.grant_execute('filestore.prune_links', 'filestore_admin');

create function public.filestore_sweep_next() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- An hour after commits begin to refuse a day: a commit that was accepted before that has ended by now.
  v_through constant date := ((filestore.sweep_clock() - interval '1 hour') at time zone 'UTC')::date - 2;
  v_next jsonb;
begin
  perform filestore.prune_keys(), filestore.prune_links();
  select jsonb_build_object(
    'projectId', p.id, 'through', v_through, 'sweptThrough', s.swept_through, 'day', s.day, 'kept', coalesce(s.kept, 0))
  into v_next
  from filestore.projects p left join filestore.sweeps s on s.project_id = p.id
  where s.swept_through is null or s.swept_through < v_through
  order by s.swept_through nulls first, p.id
  limit 1;
  return v_next;
end
$$;
comment on function public.filestore_sweep_next is
  'The project whose sweep is furthest behind, and how far it has come; null where there is nothing to do. Removes '
  'some keys and links that ended long ago on the way.';
call filestore.publish('public.filestore_sweep_next', 'filestore_admin', 'service_role');

create function public.filestore_sweep_unreferenced(p_project_id uuid, p_ids uuid[]) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select coalesce(jsonb_agg(i.id), '[]') from unnest(p_ids) i (id)
  where not exists (select from filestore.segments s where s.id = i.id and s.project_id = p_project_id)
$$;
comment on function public.filestore_sweep_unreferenced is
  'Those of the segment ids that have no row. Only called for days whose segments commits refuse.';
call filestore.publish('public.filestore_sweep_unreferenced', 'filestore_admin', 'service_role');

create function public.filestore_sweep_progress(
  p_project_id uuid, p_swept_through date, p_day date default null, p_kept integer default 0
) returns void
language sql volatile security definer set search_path = '' as $$
  insert into filestore.sweeps as s (project_id, swept_through, day, kept)
  values (p_project_id, p_swept_through, p_day, p_kept)
  on conflict (project_id) do update
    set swept_through = greatest(s.swept_through, excluded.swept_through), day = excluded.day, kept = excluded.kept
$$;
comment on function public.filestore_sweep_progress is 'Records how far the sweep of a project has come.';
call filestore.publish('public.filestore_sweep_progress', 'filestore_admin', 'service_role');
