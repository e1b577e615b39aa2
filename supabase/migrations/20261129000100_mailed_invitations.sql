-- Invitations that were mailed. Adding the column rewrites nothing.
--
-- A migration of its own, so that it never holds one lock while it waits for another that a request has. Where a long
-- transaction uses the table, it gives up, so that requests do not wait behind it for longer: push again.
set local lock_timeout = '5s';

alter table filestore.projects add column invitations_mailed_at timestamptz[] not null default '{}';
comment on column filestore.projects.invitations_mailed_at is
  'When invitations were mailed, in the 24 hours before the last of them. One that is withdrawn counts, too.';
grant update (invitations_mailed_at) on filestore.projects to filestore_account;
