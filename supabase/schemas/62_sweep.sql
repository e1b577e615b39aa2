-- The sweep: the work that is due, and the order in which it serves projects.

create function filestore.projects_to_sweep(
  p_kind text, p_begun timestamptz, out project_id uuid, out due_since timestamptz
) returns setof record
language plpgsql volatile set search_path = '' as $$
begin
  case p_kind
    when 'versions' then
      return query select g.project_id, min(g.due_since) from filestore.purged_files g
      where g.pending_versions > 0 group by g.project_id;
    when 'marks' then
      -- One probe of the index for each project, whatever the number of its segments.
      return query with recursive projects as (
        (select c.project_id, c.due_since from filestore.possibly_unreferenced_segments c
         where c.due_since is not null order by c.project_id, c.due_since limit 1)
        union all
        select n.project_id, n.due_since from projects p cross join lateral (
          select c.project_id, c.due_since from filestore.possibly_unreferenced_segments c
          where c.due_since is not null and c.project_id > p.project_id
          order by c.project_id, c.due_since limit 1) n
      ) select p.project_id, p.due_since from projects p;
    when 'answers' then
      return query select p.id, p.answers_blank_since from filestore.projects p
      where p.answers_blank_through is not null;
    when 'branches' then
      return query select b.project_id, min(b.due_at) from filestore.branches b
      where b.due_at <= filestore.sweep_clock() group by b.project_id;
    when 'retention' then
      -- A project is due if a pass is under way, or if, since the last pass began, something was written, the
      -- rule changed or enough time passed. With p_begun: only a pass that was under way then, or the first
      -- one that begins later; not a second one, nor one for a rule that was set later. Null: without this
      -- limit.
      return query select p.id, coalesce(p.retention_set_at, p.created_at)
      from filestore.projects p left join filestore.retention_passes r on r.project_id = p.id
      where p.retention is not null and (
        r.after_file is not null and (r.started_at <= p_begun) is not false
        or (p.retention_set_at <= p_begun) is not false and (r.applied_at < p_begun) is not false and (
          r.project_id is null or r.after_file is not null or r.started_at < p.retention_set_at
          or r.started_at < filestore.sweep_clock() - interval '1 hour'
          or filestore.last_position(p.id, r.position, 9223372036854775807) > r.position));
  end case;
end
$$;
comment on function filestore.projects_to_sweep is
  'The projects with work of a kind, and since when it is due. Reads a row for each unfinished purge, each '
  'project with a pass due, and each rule of retention.';
call filestore.grant_execute('filestore.projects_to_sweep', 'filestore_admin');

create function filestore.note_slice(p_project_id uuid, p_kind text) returns void
language sql volatile set search_path = '' as $$
  insert into filestore.sweeps as s (project_id, turns)
  select p.id, jsonb_build_object(p_kind, clock_timestamp()) from filestore.projects p where p.id = p_project_id
  on conflict (project_id) do update set turns = s.turns || excluded.turns
$$;
comment on function filestore.note_slice is
  'Records a step of a kind for a project, so that all other waiting projects come before it.';
call filestore.grant_execute('filestore.note_slice', 'filestore_admin');

create function public.filestore_sweep_erasures(p_kind text, p_begun timestamptz default null) returns boolean
language plpgsql volatile security definer
-- By index, whatever the statistics are: recently removed entries precede the rows that are searched for.
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  -- A client's clock may drop fractions of a millisecond.
  v_begun constant timestamptz := p_begun + interval '1 millisecond';
  v_project_id uuid;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  if p_kind = 'usage' then return filestore.sweep_usage(v_begun); end if;
  -- The project that has waited longest, since its last step or since its work is due. So a new project comes
  -- after those whose last step was before that.
  select w.project_id into v_project_id
  from filestore.projects_to_sweep(p_kind, v_begun) w
  join filestore.projects p on p.id = w.project_id and p.deleted_at is null
  left join filestore.sweeps s on s.project_id = w.project_id
  where (p_kind = 'retention' or (w.due_since <= v_begun) is not false)
    and ((s.turns ->> (p_kind || 'Failed'))::timestamptz < v_begun) is not false
  order by greatest(w.due_since, (s.turns ->> p_kind)::timestamptz), w.project_id limit 1;
  if v_project_id is null then return false; end if;
  begin
    case p_kind
      when 'versions' then perform filestore.sweep_purged_versions(v_project_id);
      when 'marks' then perform filestore.sweep_marks(v_project_id);
      when 'answers' then perform filestore.sweep_answers(v_project_id);
      when 'retention' then perform filestore.sweep_retention(v_project_id);
      when 'branches' then perform filestore.sweep_branches(v_project_id);
    end case;
  exception
    -- The slice counts as a step all the same, or no other project would be served.
    when lock_not_available then null;
    when others then
      raise warning 'sweep of % in project %: % (%)', p_kind, v_project_id, sqlerrm, sqlstate;
      perform filestore.note_slice(v_project_id, p_kind || 'Failed');
  end;
  perform filestore.note_slice(v_project_id, p_kind);
  return true;
end
$$;
comment on function public.filestore_sweep_erasures is
  'One step of one kind, for the project that has waited longest: versions, marks and answers of what was '
  'erased, retention, ended branches, or usage, which is counted for several projects. False where no work is due; '
  'with p_begun, no work that was due by then, so that a sweep ends even while other work arrives. A step that fails '
  'is a warning in the log of the database, and keeps no other project waiting.';
call filestore.publish('public.filestore_sweep_erasures', 'filestore_admin', 'service_role');

create function filestore.sweepable_through() returns date
language plpgsql volatile set search_path = ''
as $$ begin return ((filestore.sweep_clock() - interval '1 hour') at time zone 'UTC')::date - 2; end $$;
comment on function filestore.sweepable_through is
  'The last day whose segments can no longer be committed. It counts from an hour after commits begin to '
  'refuse them, when every commit that was accepted earlier has ended.';
call filestore.grant_execute('filestore.sweepable_through', 'filestore_admin');

create function public.filestore_sweep_dead(p_limit integer, p_begun timestamptz default null) returns jsonb
language sql volatile security definer
-- By index, whatever the statistics are, as in 48_erasure.sql.
set search_path = '' set enable_seqscan = off set enable_bitmapscan = off
as $$
  with forgotten as materialized (
    select d.segment_id from filestore.dead_segments d
    where d.removed_at is not null and d.stored_on <= filestore.sweepable_through()
    order by d.stored_on limit p_limit for update skip locked
  ), unlisted as (
    delete from filestore.dead_segments d using forgotten f where d.segment_id = f.segment_id
  )
  delete from filestore.segments s using forgotten f where s.id = f.segment_id;
  with recursive projects as (
    -- One probe of the index for each project, whatever the number of its segments.
    (select d.project_id, d.due_since from filestore.dead_segments d
     where d.removed_at is null order by d.project_id, d.due_since limit 1)
    union all
    select n.project_id, n.due_since from projects p cross join lateral (
      select d.project_id, d.due_since from filestore.dead_segments d
      where d.removed_at is null and d.project_id > p.project_id order by d.project_id, d.due_since limit 1) n
  ), waiting as materialized (
    select * from projects p where (p.due_since <= p_begun + interval '1 millisecond') is not false
    order by p.due_since, p.project_id limit p_limit
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', d.segment_id,
    'name', d.project_id || '/' || to_char(d.stored_on, 'YYYYMMDD') || '/' || d.segment_id)), '[]')
  from waiting w cross join lateral (
    select * from filestore.dead_segments d
    where d.project_id = w.project_id and d.removed_at is null
      and (d.due_since <= p_begun + interval '1 millisecond') is not false
    order by d.due_since limit p_limit / (select count(*) from waiting)
  ) d
$$;
comment on function public.filestore_sweep_dead is
  'Segments whose objects are to be removed, up to p_limit, equal numbers for each project that has any; '
  'with p_begun, only those that were dead by then or follow from work that was due by then. Also removes up '
  'to the same number of rows whose objects were removed and whose day''s segments can no longer be '
  'committed.';
call filestore.publish('public.filestore_sweep_dead', 'filestore_admin', 'service_role');

create function public.filestore_sweep_removed(p_ids uuid[]) returns void
language sql volatile security definer set search_path = '' as $$
  -- A checksum reveals a content that can be guessed.
  update filestore.segments s set sha256 = decode(repeat('00', 32), 'hex'), newlines = 0, ends_with_newline = false
  where s.id in (select d.segment_id from filestore.dead_segments d where d.segment_id = any (p_ids));
  -- Where objects of the day being swept were removed, the places of the kept ones in its list have changed.
  update filestore.sweeps w set kept = 0
  where (w.project_id, w.day) in (
    select d.project_id, d.stored_on from filestore.dead_segments d where d.segment_id = any (p_ids));
  update filestore.dead_segments d set removed_at = filestore.sweep_clock()
  where d.segment_id = any (p_ids) and d.removed_at is null;
$$;
comment on function public.filestore_sweep_removed is
  'Records that the objects of these dead segments were removed.';
call filestore.publish('public.filestore_sweep_removed', 'filestore_admin', 'service_role');

create function public.filestore_sweep_next(p_begun timestamptz default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- The number of keys and links that are removed in one step because they ended long ago.
  c_keys constant integer := 100;
  c_links constant integer := 1000;
  v_through constant date := filestore.sweepable_through();
  v_next jsonb;
begin
  -- If versions may name the key, its id and name remain.
  with ended as materialized (
    select k.id from filestore.api_keys k
    where k.key_hash is not null and least(k.revoked_at, k.expires_at)
      < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_keys_kept_days)
    order by least(k.revoked_at, k.expires_at) limit c_keys for update skip locked
  ), removed as (
    delete from filestore.api_keys k using ended e where k.id = e.id and not k.has_written returning k.id
  )
  update filestore.api_keys k set key_hash = null, prefix = ''
  from ended e where k.id = e.id and k.id not in (select r.id from removed r);
  delete from filestore.links l where l.id in (
    select o.id from filestore.links o
    where o.expires_at < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_links_kept_days)
    order by o.expires_at limit c_links for update skip locked);
  perform filestore.sweep_apps(c_links);
  delete from filestore.webhook_events e where (e.project_id, e.position) in (
    select o.project_id, o.position from filestore.webhook_events o
    where o.created_at < filestore.sweep_clock() - interval '30 days' and not exists (
      select from filestore.webhooks w where w.project_id = o.project_id and w.position < o.position)
    order by o.created_at limit c_links);
  delete from filestore.members m where (m.project_id, m.id) in (
    select o.project_id, o.id from filestore.members o
    where o.account_id is null and o.expires_at < filestore.sweep_clock()
    order by o.expires_at limit c_links);
  -- Windows of links that were removed, too; a link that is used again gets a new one.
  delete from filestore.link_windows w
  where w.window_start < clock_timestamp() - interval '1 hour' and (w.project_id, w.link_id) in (
    select o.project_id, o.link_id from filestore.link_windows o
    where o.window_start < clock_timestamp() - interval '1 hour' limit c_links);
  select jsonb_build_object(
    'projectId', p.id, 'through', v_through, 'sweptThrough', s.swept_through, 'day', s.day, 'kept', coalesce(s.kept, 0))
  into v_next
  from filestore.projects p left join filestore.sweeps s on s.project_id = p.id
  where p.deleted_at is null and (s.swept_through is null or s.swept_through < v_through)
    and (p.created_at <= p_begun + interval '1 millisecond') is not false
  -- The project that has waited longest, as in filestore_sweep_erasures.
  order by greatest(p.created_at, (s.turns ->> 'uploads')::timestamptz), p.id
  limit 1;
  perform filestore.note_slice((v_next ->> 'projectId')::uuid, 'uploads');
  return v_next;
end
$$;
comment on function public.filestore_sweep_next is
  'The project whose uploads are to be examined and that has waited longest, and how far its sweep has '
  'progressed; null if there is no such project, with p_begun none that existed by then. Also removes some '
  'keys, tokens, links and windows of links that ended long ago, and invitations that nobody accepted in time.';
call filestore.publish('public.filestore_sweep_next', 'filestore_admin', 'service_role');

create function public.filestore_sweep_unreferenced(p_project_id uuid, p_ids uuid[]) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select coalesce(jsonb_agg(i.id), '[]') from unnest(p_ids) i (id)
  where not exists (select from filestore.segments s where s.id = i.id and s.project_id = p_project_id)
$$;
comment on function public.filestore_sweep_unreferenced is
  'Returns the given segment ids that have no row. Only called for days whose segments commits refuse.';
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
comment on function public.filestore_sweep_progress is
  'Records how far the sweep of a project has progressed.';
call filestore.publish('public.filestore_sweep_progress', 'filestore_admin', 'service_role');
