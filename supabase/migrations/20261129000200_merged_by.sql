-- Who merged a branch. Adding the columns rewrites nothing.
--
-- A migration of its own, so that it never holds one lock while it waits for another that a request has. Where a long
-- transaction uses the table, it gives up, so that requests do not wait behind it for longer: push again.
set local lock_timeout = '5s';

alter table filestore.branches add column merged_key_name text, add column merged_account_id uuid;
comment on column filestore.branches.merged_key_name is
  'The name of the key that merged it, as key_name is that of the key that created it. merged_account_id: the person '
  'who did so without a key.';
