-- Purpose: finding uploads that no commit ever named, so that the function can remove them.
--
-- Objects are named {project_id}/{yyyymmdd}/{segment_id}. A day is swept once it is over for a day; commits refuse
-- segments of such days, so what no row names then is never named.

create table filestore.sweeps (
  project_id uuid primary key references filestore.projects (id),
  -- Everything up to this day is swept.
  swept_through date not null,
  -- The day being swept, and how many of its objects were looked at and kept.
  day date,
  kept integer not null default 0 check (kept >= 0)
);
comment on table filestore.sweeps is 'How far the sweep of each project has come.';
alter table filestore.sweeps enable row level security;
create policy admin_select on filestore.sweeps for select to filestore_admin using (true);
create policy admin_insert on filestore.sweeps for insert to filestore_admin with check (true);
create policy admin_update on filestore.sweeps for update to filestore_admin using (true) with check (true);
grant select, insert, update on filestore.sweeps to filestore_admin;
revoke all on filestore.sweeps from public;

create policy admin_select on filestore.segments for select to filestore_admin using (true);
grant select on filestore.segments to filestore_admin;

create function public.filestore_sweep_next() returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  -- An hour later than commits begin to refuse a day: one that was let through before that has ended by now.
  v_through constant date := ((filestore.now() - interval '1 hour') at time zone 'UTC')::date - 2;
  v_next jsonb;
begin
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
comment on function public.filestore_sweep_next() is 'The project whose sweep is furthest behind, and how far it has come; null where there is nothing to do.';

create function public.filestore_sweep_unnamed(p_project_id uuid, p_ids uuid[]) returns jsonb
language sql volatile security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(i.id), '[]') from unnest(p_ids) i (id)
  where not exists (select from filestore.segments s where s.id = i.id and s.project_id = p_project_id)
$$;
comment on function public.filestore_sweep_unnamed(uuid, uuid[]) is 'Those of the segment ids that nothing names. The caller asks only about days that no commit accepts any more.';

create function public.filestore_sweep_progress(
  p_project_id uuid, p_swept_through date, p_day date default null, p_kept integer default 0
) returns void
language sql volatile security definer set search_path = ''
as $$
  insert into filestore.sweeps as s (project_id, swept_through, day, kept)
  values (p_project_id, p_swept_through, p_day, p_kept)
  on conflict (project_id) do update
    set swept_through = greatest(s.swept_through, excluded.swept_through), day = excluded.day, kept = excluded.kept
$$;
comment on function public.filestore_sweep_progress(uuid, date, date, integer) is 'Notes how far the sweep of a project has come.';

revoke all on function
  public.filestore_sweep_next(),
  public.filestore_sweep_unnamed(uuid, uuid[]),
  public.filestore_sweep_progress(uuid, date, date, integer)
from public, anon, authenticated;
grant execute on function
  public.filestore_sweep_next(),
  public.filestore_sweep_unnamed(uuid, uuid[]),
  public.filestore_sweep_progress(uuid, date, date, integer)
to service_role;
grant execute on function filestore.now(), filestore.oldest_committable_day() to filestore_admin;

grant create on schema public to filestore_admin;
alter function public.filestore_sweep_next() owner to filestore_admin;
alter function public.filestore_sweep_unnamed(uuid, uuid[]) owner to filestore_admin;
alter function public.filestore_sweep_progress(uuid, date, date, integer) owner to filestore_admin;
revoke create on schema public from filestore_admin;
