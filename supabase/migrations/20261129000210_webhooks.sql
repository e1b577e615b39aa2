-- The operations of a webhook are those that there are, and its id is its own in all projects.
--
-- A migration of its own, so that it never holds one lock while it waits for another that a request has. It reads the table,
-- which has at most ten rows for a project. Where a long transaction uses the table, it gives up, so that requests do not
-- wait behind it for longer: push again.
set local lock_timeout = '5s';

-- The API refuses such operations, so nobody has asked for these webhooks.
update filestore.webhooks w set operations = null, state = 'paused'
where not (w.operations <@ enum_range(null::filestore.operation)::text[]);
alter table filestore.webhooks add constraint webhooks_operations_check
  check (operations <@ enum_range(null::filestore.operation)::text[]);
create unique index webhooks_by_id on filestore.webhooks (id);
