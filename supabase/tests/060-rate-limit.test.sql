-- The rate limit is exact and counts each request once for its project; its window is the clock minute.
begin;
select plan(37);

insert into filestore.projects (id, name, tier) values
  ('a0000000-0000-4000-8000-000000000000', 'pgtap a', 'enterprise'),
  ('b0000000-0000-4000-8000-000000000000', 'pgtap b', 'enterprise');
insert into filestore.api_keys (project_id, key_hash, prefix)
select p.id, sha256(p.name::bytea), 'oa_test' from filestore.projects p where p.name like 'pgtap _';

create function pg_temp.key(p_project text) returns text
language sql as $$ select encode(sha256(('pgtap ' || p_project)::bytea), 'hex') $$;
create function pg_temp.segment(p_number integer, p_size integer) returns jsonb
language sql as $$
  select jsonb_build_object(
    'id', id, 'name', 'p/' || to_char(clock_timestamp() at time zone 'UTC', 'YYYYMMDD') || '/' || id, 'size', p_size, 'sha256', repeat('00', 32), 'newlines', 0, 'endsWithNewline', false, 'isText', true)
  from (select md5(p_number::text)::uuid as id)
$$;
create function pg_temp.commit(p_project text, p_kind text, p_commit jsonb) returns jsonb
language sql as $$
  select public.filestore_commit(pg_temp.key(p_project), null, p_kind,
    jsonb_build_object('commitId', gen_random_uuid(), 'segments', '[]'::jsonb)
    || case p_kind when 'write' then '{"mimeType": "text/plain"}'::jsonb else '{}'::jsonb end || p_commit)
$$;
create function pg_temp.code(p_answer jsonb) returns text
language sql as $$ select p_answer #>> '{refusal,code}' $$;

update filestore.projects set tier = 'free', requests_per_minute = 3 where name = 'pgtap a';
insert into filestore.api_keys (project_id, key_hash, prefix)
values ('a0000000-0000-4000-8000-000000000000', sha256('pgtap second'), 'oa_test');
-- Sets a window that lasts longer than the test, even near the end of a minute.
create function pg_temp.set_window(p_start timestamptz, p_count integer) returns void
language sql as $$
  delete from filestore.rate_windows;
  insert into filestore.rate_windows (project_id, shard, window_start, request_count)
  select 'a0000000-0000-4000-8000-000000000000', n, p_start, (p_count + 64 - n) / 64 from generate_series(1, 64) n
$$;
select pg_temp.set_window(date_trunc('minute', now()) + interval '1 hour', 0);

create function pg_temp.rate(p_key text default 'a', p_request_id uuid default gen_random_uuid()) returns text
language sql as $$
  select coalesce(pg_temp.code(a), 'authorized') || ' ' || coalesce(a #>> '{rate,remaining}', 'null') || ' of ' || coalesce(a #>> '{rate,limit}', 'null')
  from public.filestore_authorize(pg_temp.key(p_key), p_request_id) a
$$;
create function pg_temp.counted() returns integer
language sql as $$
  select sum(w.request_count)::integer from filestore.rate_windows w
  where w.project_id = 'a0000000-0000-4000-8000-000000000000' and w.window_start = (select max(m.window_start) from filestore.rate_windows m)
$$;

select is(pg_temp.rate('a', null), 'authorized 3 of 3', 'a request that was counted already is not counted again');
select is(pg_temp.rate(), 'authorized 2 of 3', 'one');
select is(pg_temp.rate('second'), 'authorized 1 of 3', 'another key of the project spends the same limit');
select is(pg_temp.rate(), 'authorized 0 of 3', 'the limit itself is authorized');
select is(pg_temp.rate(), 'RATE_LIMIT_EXCEEDED 0 of 3', 'one more is not');
select is(pg_temp.rate('second'), 'RATE_LIMIT_EXCEEDED 0 of 3', 'with no key');
select is(pg_temp.counted(), 3, 'what was refused is not counted');
select is(pg_temp.rate('a', null), 'authorized 0 of 3', 'further calls of an authorized request go on');
select is(
  pg_temp.code(public.filestore_commit(pg_temp.key('a'), gen_random_uuid(), 'write', '{"path": "x", "mimeType": "text/plain", "commitId": "c0000000-0000-4000-8000-000000000000"}')),
  'RATE_LIMIT_EXCEEDED', 'an operation over the limit is refused');
select is((select count(*) from filestore.files), 0::bigint, 'and does nothing');
select is(pg_temp.rate('b'), 'authorized null of null', 'another project has its own limit, or none');
select is((select count(*) from filestore.rate_windows where project_id = 'b0000000-0000-4000-8000-000000000000'), 0::bigint, 'without a limit nothing is counted');
select is(
  (public.filestore_authorize(pg_temp.key('a'), gen_random_uuid()) #>> '{rate,reset}')::bigint,
  extract(epoch from date_trunc('minute', now()) + interval '61 minutes')::bigint, 'the reset is the end of the window');

-- The next minute begins a new window.
update filestore.rate_windows set window_start = date_trunc('minute', clock_timestamp()) - interval '1 minute';
select is(pg_temp.rate(), 'authorized 2 of 3', 'in the next minute the limit is whole again');
select is(pg_temp.counted(), 1, 'counted from one');
select is(
  (select max(w.window_start) > clock_timestamp() - interval '61 seconds' from filestore.rate_windows w), true, 'the window is the present minute');
select pg_temp.set_window(date_trunc('minute', clock_timestamp()) + interval '1 hour', 1);
select is(pg_temp.rate(), 'authorized 1 of 3', 'a clock that steps back');
select is(
  (select min(w.window_start) > clock_timestamp() from filestore.rate_windows w), true, 'never takes a window back');
select pg_temp.set_window(date_trunc('minute', now()) + interval '1 hour', 3);
update filestore.rate_windows set window_start = window_start + interval '1 minute' where shard = 2;
select is(pg_temp.rate(), 'authorized 1 of 3', 'once another request has begun the next window, the counts of the last one are forgotten');

-- A repeated call for a request that got no answer is recognized by the request's id.
update filestore.projects set requests_per_minute = 3 where name = 'pgtap a';
select pg_temp.set_window(date_trunc('minute', now()) + interval '1 hour', 0);
create function pg_temp.id(p_number integer) returns uuid language sql as $$ select md5('request ' || p_number)::uuid $$;
select is(pg_temp.rate('a', pg_temp.id(1)), 'authorized 2 of 3', 'a request');
select is(pg_temp.rate('a', pg_temp.id(1)), 'authorized 2 of 3', 'asked again it counts once');
select is(pg_temp.rate('second', pg_temp.id(1)), 'authorized 2 of 3', 'whatever it asks with');
select pg_temp.rate('a', pg_temp.id(2)), pg_temp.rate('a', pg_temp.id(3));
select is(pg_temp.rate('a', pg_temp.id(4)), 'RATE_LIMIT_EXCEEDED 0 of 3', 'the window is full');
select is(pg_temp.rate('a', pg_temp.id(4)), 'RATE_LIMIT_EXCEEDED 0 of 3', 'what was refused is not known: asked again it is refused again');
select is(pg_temp.rate('a', pg_temp.id(1)), 'authorized 0 of 3', 'in a full window the first of those that were counted is authorized');
select is(pg_temp.rate('a', pg_temp.id(3)), 'authorized 0 of 3', 'and the last');
select is(pg_temp.counted(), 3, 'which counts nothing');
update filestore.rate_windows set window_start = date_trunc('minute', clock_timestamp()) - interval '1 minute';
select is(split_part(pg_temp.rate('a', pg_temp.id(3)), ' ', 1), 'authorized', 'across the end of the window it is authorized');
select is(pg_temp.counted(), 3, 'and not counted in the next one either');
select is(pg_temp.rate('a', pg_temp.id(5)), 'authorized 2 of 3', 'another one begins the next window');
select is(pg_temp.rate('a', pg_temp.id(3)), 'authorized 2 of 3', 'in which it is still known');
update filestore.projects set requests_per_minute = 100 where name = 'pgtap a';
select count(pg_temp.rate('a', pg_temp.id(n))) from generate_series(6, 60) n;
select is(
  (select count(*) from generate_series(29, 60) n where split_part(pg_temp.rate('a', pg_temp.id(n)), ' ', 1) = 'authorized'), 32::bigint,
  'the last 32 requests are known');
select is(pg_temp.counted(), 56, 'and not counted again');
select pg_temp.set_window(date_trunc('minute', clock_timestamp()) + interval '1 hour', 2);

-- The limit is the project's own, or its tier's if it has none; a refused key counts nothing.
update filestore.projects set requests_per_minute = null where name = 'pgtap a';
select is(pg_temp.rate(), 'authorized 97 of 100', 'free');
update filestore.projects set tier = 'pro' where name = 'pgtap a';
select is(pg_temp.rate(), 'authorized 996 of 1000', 'pro');
select public.filestore_authorize(pg_temp.key('unknown'), gen_random_uuid());
select is(pg_temp.counted(), 4, 'a refused key spends nothing');
update filestore.projects set requests_per_minute = 2 where name = 'pgtap a';
select is(pg_temp.rate(), 'RATE_LIMIT_EXCEEDED 0 of 2', 'a lower limit holds at once');

select * from finish();
rollback;
