-- Invitations that an account has mailed. Adding the column rewrites nothing.
--
-- A migration of its own, so that it never holds one lock while it waits for another that a request has. Where a long
-- transaction uses the table, it gives up, so that requests do not wait behind it for longer: push again.
set local lock_timeout = '5s';

alter table filestore.account_windows add column invitations_mailed_at timestamptz[] not null default '{}';
comment on column filestore.account_windows.invitations_mailed_at is
  'When its invitations were mailed, in the 24 hours before the last of them. One that is withdrawn counts, too.';
