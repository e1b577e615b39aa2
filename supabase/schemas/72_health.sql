-- Health: whether the database takes a write and a read.
create table filestore.health (
  is_only boolean primary key default true check (is_only),
  probed_at timestamptz not null
);
comment on table filestore.health is 'One row, updated in place: what GET /health?deep writes.';
alter table filestore.health enable row level security;
grant select, insert, update on filestore.health to filestore_admin;
create policy admin_all on filestore.health to filestore_admin using (true) with check (true);
create function public.filestore_health_probe() returns boolean
language sql volatile security definer set search_path = '' as $$
  insert into filestore.health (probed_at) values (clock_timestamp())
  on conflict (is_only) do update set probed_at = excluded.probed_at returning true
$$;
comment on function public.filestore_health_probe is
  'Writes and reads one row; fails where the database does not take it.';
call filestore.publish('public.filestore_health_probe', 'filestore_admin', 'service_role');
