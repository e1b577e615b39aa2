-- A rule of retention is one that the sweep can apply.
--
-- A migration of its own, so that it never holds one lock while it waits for another that a request has. Where a long
-- transaction uses the table, it gives up, so that requests do not wait behind it for longer: push again.
set local lock_timeout = '5s';

alter table filestore.projects
  drop constraint projects_retention_check,
  add constraint projects_retention_check check (filestore.is_retention(retention)) not valid;
