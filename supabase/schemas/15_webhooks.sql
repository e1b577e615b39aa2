-- The tables of webhooks, with their policies and grants. 53_webhooks.sql delivers.

create table filestore.webhooks (
  project_id uuid not null references filestore.projects (id),
  id uuid not null,
  url text not null check (octet_length(url) <= 2000 and url ~ '^https?://[^\s/]+\S*$'),
  directory text collate "C" not null check (octet_length(directory) <= 1024),
  operations text[] check (operations <@ enum_range(null::filestore.operation)::text[]),
  events text[] not null
    check (events <@ array['change', 'branch.ready', 'branch.merged'] and cardinality(events) between 1 and 3),
  description text check (char_length(description) <= 500),
  state text not null default 'active' check (state in ('active', 'paused', 'disabled')),
  reason text check (reason in ('deliveries_failed', 'secret_unreadable')),
  secret text not null check (octet_length(secret) <= 500),
  previous_secret text,
  previous_until timestamptz(3),
  database_id text not null,
  position bigint not null,
  pending_id uuid,
  pending_end bigint,
  failures integer not null default 0,
  next_at timestamptz(3),
  lease_id uuid,
  leased_until timestamptz,
  deliveries bigint not null default 0,
  created_at timestamptz(3) not null,
  primary key (project_id, id)
) with (fillfactor = 50);
comment on table filestore.webhooks is
  'Addresses that are told of a project''s changes. Each has its own place in the change feed, so that none '
  'waits for another, and none misses a change.';
-- Secrets are encrypted for the id of their webhook, so that no other project can use an encrypted one as its own.
create unique index webhooks_by_id on filestore.webhooks (id);
comment on column filestore.webhooks.directory is 'Only changes below it; empty: all, but those in branches.';
comment on column filestore.webhooks.operations is 'Only changes by these operations; null: by all.';
comment on column filestore.webhooks.secret is
  'Encrypted by the edge function with a key that it derives from its own secret key, which no table has.';
comment on column filestore.webhooks.previous_secret is
  'The one before the last rotation, encrypted: signs as well until previous_until.';
comment on column filestore.webhooks.database_id is
  'The database in which a person last turned it on. In another one, such as a restored copy, it is paused.';
comment on column filestore.webhooks.position is 'Everything up to this position of the feed was delivered.';
comment on column filestore.webhooks.pending_id is
  'The id of the delivery that ends at pending_end and was not accepted yet; all of its tries have this id.';
comment on column filestore.webhooks.failures is 'Failed tries of that delivery.';
comment on column filestore.webhooks.next_at is 'When it is tried again; null: at once.';
comment on column filestore.webhooks.leased_until is
  'Until then only the isolate with lease_id delivers, so that deliveries keep their order.';
comment on column filestore.webhooks.deliveries is 'The number of tries so far: the number of the next one.';
create policy "The service delivers for the project that it opened" on filestore.webhooks to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, update on filestore.webhooks to filestore_engine;
create policy "The sweep finds all webhooks, and a deletion removes its own"
  on filestore.webhooks to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.webhooks to filestore_admin;
create policy "An account administers webhooks of the project that it opened"
  on filestore.webhooks to filestore_account using (project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.webhooks to filestore_account;

create table filestore.webhook_deliveries (
  project_id uuid not null,
  webhook_id uuid not null,
  slot integer not null,
  number bigint not null,
  id uuid not null,
  at timestamptz(3) not null,
  type text not null,
  attempt integer not null,
  status integer,
  error text check (octet_length(error) <= 500),
  primary key (project_id, webhook_id, slot)
) with (fillfactor = 70);
comment on table filestore.webhook_deliveries is
  'The last tries of each webhook. A new one takes the row (slot) of the oldest, so their number is bounded.';
comment on column filestore.webhook_deliveries.status is 'Of the answer; null: there was none, see error.';
create policy "The service records tries for the project that it opened"
  on filestore.webhook_deliveries to filestore_engine using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.webhook_deliveries to filestore_engine;
create policy "A deletion removes the recorded tries of its project"
  on filestore.webhook_deliveries to filestore_admin using (project_id = filestore.current_project_id());
grant select (project_id, webhook_id, slot), delete on filestore.webhook_deliveries to filestore_admin;
create policy "An account sees and removes tries of the opened project"
  on filestore.webhook_deliveries to filestore_account using (project_id = filestore.current_project_id());
grant select, delete on filestore.webhook_deliveries to filestore_account;

create table filestore.webhook_events (
  project_id uuid not null,
  position bigint not null,
  type text not null check (type in ('branch.ready', 'branch.merged')),
  branch text collate "C" not null,
  directory text collate "C" not null,
  created_at timestamptz(3) not null,
  primary key (project_id, position)
);
comment on table filestore.webhook_events is
  'What happened to branches of projects with webhooks, in the order of the change feed. The sweep removes a '
  'row some time after all webhooks have passed it.';
create index webhook_events_by_age on filestore.webhook_events (created_at);
create policy "A key adds and the service reads events of the project"
  on filestore.webhook_events to filestore_engine using (project_id = filestore.current_project_id());
grant select, insert on filestore.webhook_events to filestore_engine;
create policy "The sweep sees and removes events of all projects" on filestore.webhook_events to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.webhook_events to filestore_admin;
create policy "An account sees the events of the project that it opened"
  on filestore.webhook_events to filestore_account using (project_id = filestore.current_project_id());
grant select on filestore.webhook_events to filestore_account;
alter table filestore.webhooks enable row level security;
alter table filestore.webhook_deliveries enable row level security;
alter table filestore.webhook_events enable row level security;
