-- The function behind GET /health?deep: it fails if a commit fails, and leaves no rows.
begin;
select plan(6);

create function pg_temp.rows() returns bigint language sql as $$
  select sum((xpath('/row/n/text()', query_to_xml(
    format('select count(*) as n from filestore.%I', c.relname), false, false, '')))[1]::text::bigint)
  from pg_class c where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
$$;
create temp table before as select pg_temp.rows() as rows;

set local role service_role;
select is(public.filestore_health_probe(), true, 'a commit works');
select is(public.filestore_health_probe(), true, 'again');
reset role;
select is(pg_temp.rows(), rows, 'no table has more rows') from before;
set local role anon;
select throws_ok('select public.filestore_health_probe()', '42501', null, 'only the service may call it');
reset role;
alter function public.filestore_commit rename to filestore_commit_of_another_release;
select throws_ok('select public.filestore_health_probe()', '42883', null, 'a missing filestore_commit is noticed');
set local transaction_read_only = on;
select throws_ok('select public.filestore_health_probe()', '25006', null, 'a read-only database is noticed');

select * from finish();
rollback;
