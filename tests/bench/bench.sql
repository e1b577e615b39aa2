-- Purpose: what the benchmarks compare with. Never part of a deployment.

insert into storage.buckets (id, name, public) values ('bench', 'bench', false) on conflict do nothing;

create table public.bench_rows (
  id integer primary key,
  object_name text,
  touched bigint not null default 0
) with (fillfactor = 50);
comment on table public.bench_rows is 'One row a writer, for calls that touch one row and do nothing else.';
insert into public.bench_rows (id) select generate_series(0, 63);

create function public.bench_touch(p_id integer, p_object_name text) returns bigint
language sql volatile
as $$ update public.bench_rows set object_name = p_object_name, touched = touched + 1 where id = p_id returning touched $$;

create function public.bench_find(p_id integer) returns text
language sql volatile
as $$ select object_name from public.bench_rows where id = p_id $$;

create table public.bench_payloads (
  name text primary key,
  payload jsonb not null
);
comment on table public.bench_payloads is 'Answers to be given again, byte for byte.';

create function public.bench_payload(p_name text) returns jsonb
language sql volatile
as $$ select payload from public.bench_payloads where name = p_name $$;

create table public.bench_files (
  path text not null,
  version integer not null,
  object_name text not null,
  size bigint not null,
  created_at timestamptz not null default now(),
  primary key (path, version)
);
comment on table public.bench_files is 'Versions as one would keep them by hand: an object and a row each.';

grant all on public.bench_rows, public.bench_payloads, public.bench_files to service_role;

create function public.bench_search(p_key_hash text, p_query jsonb) returns double precision
language plpgsql volatile
as $$
declare
  v_started constant timestamptz := clock_timestamp();
begin
  perform public.filestore_search(p_key_hash, null, p_query);
  return extract(epoch from clock_timestamp() - v_started) * 1000;
end
$$;
comment on function public.bench_search is 'Milliseconds of a search in the database alone.';
