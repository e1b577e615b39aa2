-- What GET /health?deep writes.
begin;
select plan(5);

set local role service_role;
select is(public.filestore_health_probe(), true, 'the service writes and reads');
select is(public.filestore_health_probe(), true, 'however often');
reset role;
select is((select count(*) from filestore.health), 1::bigint, 'there is one row');
set local role anon;
select throws_ok('select public.filestore_health_probe()', '42501', null, 'nobody else may write it');
reset role;
set local transaction_read_only = on;
select throws_ok('select public.filestore_health_probe()', '25006', null, 'a read-only database is noticed');

select * from finish();
rollback;
