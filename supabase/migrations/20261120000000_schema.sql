-- Purpose: the tables of the file store, and who may touch which row.
--
-- Everything lives in the schema `filestore`, which the REST API does not expose. The function `api` calls the
-- operations in `public` (next migration). They run as `filestore_engine`, a role that owns no table and bypasses
-- no policy: it sees the rows of the project whose key was presented, and nothing else.

create schema filestore;
comment on schema filestore is 'Versioned file store: tables and internals. Not exposed over REST.';
revoke all on schema filestore from public;

-- Roles are cluster-wide, so they may be there already. The migrating role joins them to hand functions over to
-- them; it is not a superuser on a hosted project.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['filestore_engine', 'filestore_admin'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = v_role) then
      execute format('create role %I nologin noinherit', v_role);
    end if;
    execute format('grant %I to %I', v_role, current_user);
  end loop;
end
$$;
comment on role filestore_engine is 'Runs the file operations: subject to row-level security, owner of no table.';
comment on role filestore_admin is 'Runs project and key administration: subject to row-level security, owner of no table.';

grant usage on schema filestore to filestore_engine, filestore_admin;

-- ---------------------------------------------------------------------------------------------------------------
-- Tables

create table filestore.tiers (
  name text primary key,
  requests_per_minute integer check (requests_per_minute > 0),
  max_file_bytes bigint check (max_file_bytes > 0),
  max_project_bytes bigint check (max_project_bytes > 0)
);
comment on table filestore.tiers is 'Limits of a tier; null means no limit. A project''s own values go first.';

insert into filestore.tiers (name, requests_per_minute, max_file_bytes) values
  ('free', 100, 10485760),
  ('pro', 1000, 104857600),
  ('enterprise', null, null);

create table filestore.projects (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid,
  name text not null check (char_length(name) between 1 and 100),
  tier text not null references filestore.tiers (name),
  requests_per_minute integer check (requests_per_minute > 0),
  max_file_bytes bigint check (max_file_bytes > 0),
  max_project_bytes bigint check (max_project_bytes > 0),
  created_at timestamptz(3) not null default now(),
  unique nulls not distinct (owner_id, name)
);
comment on table filestore.projects is 'A tenant. Files, keys and limits belong to exactly one project.';
comment on column filestore.projects.owner_id is 'The account (auth.users.id) it belongs to; null: made on the command line.';

create table filestore.api_keys (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references filestore.projects (id),
  name text not null default '' check (char_length(name) <= 100),
  key_hash bytea not null unique check (octet_length(key_hash) = 32),
  prefix text not null check (char_length(prefix) <= 16),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  unique (project_id, id)
);
comment on table filestore.api_keys is 'API keys: the SHA-256 and the first characters only. The key itself is shown once and kept nowhere.';

create table filestore.rate_windows (
  project_id uuid primary key references filestore.projects (id),
  window_start timestamptz not null,
  request_count integer not null
) with (fillfactor = 50);
comment on table filestore.rate_windows is 'Requests of the current clock minute, one row a project: its lock makes the limit exact.';

create table filestore.files (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null references filestore.projects (id),
  path text collate "C" not null check (octet_length(path) between 1 and 1024),
  directory text collate "C" not null generated always as (coalesce(substring(path from '^(.*)/'), '')) stored,
  version integer not null check (version > 0),
  mime_type text not null,
  size bigint not null check (size >= 0),
  is_deleted boolean not null default false,
  segment_ids uuid[] not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, id),
  unique (project_id, path)
) with (fillfactor = 85);
comment on table filestore.files is 'A path of a project with its latest version. Paths compare byte for byte.';
comment on column filestore.files.segment_ids is 'The rope of the latest version. Merging may replace a run of it by segments with the same bytes.';
alter table filestore.files alter column segment_ids set storage external;

create index files_by_directory on filestore.files (project_id, directory, path) where not is_deleted;
create index files_deleted on filestore.files (project_id, path) where is_deleted;

-- One for each order of a list, so that a page of a large project is read and no more. The price is paid by writes: a
-- commit changes `updated_at`, so it can never be a heap-only update, and adds an entry to every index of its row.
create index files_by_size on filestore.files (project_id, size, path) where not is_deleted;
create index files_by_updated_at on filestore.files (project_id, updated_at, path) where not is_deleted;
create index files_by_created_at on filestore.files (project_id, created_at, path) where not is_deleted;

create table filestore.file_versions (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null check (version > 0),
  mime_type text not null,
  size bigint not null check (size >= 0),
  is_deleted boolean not null default false,
  segment_ids uuid[] not null,
  commit_id uuid not null,
  key_id uuid,
  created_at timestamptz(3) not null,
  primary key (file_id, version),
  unique (project_id, commit_id),
  foreign key (project_id, file_id) references filestore.files (project_id, id),
  foreign key (project_id, key_id) references filestore.api_keys (project_id, id)
);
comment on table filestore.file_versions is 'Every version of every file. Rows never change; the engine may only insert and select.';
comment on column filestore.file_versions.commit_id is 'Made by the caller: a repeated commit finds its first result.';
alter table filestore.file_versions alter column segment_ids set storage external;

create table filestore.segments (
  id uuid primary key,
  project_id uuid not null references filestore.projects (id),
  stored_on date not null,
  size integer not null check (size > 0),
  sha256 bytea not null check (octet_length(sha256) = 32),
  newlines integer not null check (newlines >= 0),
  ends_with_newline boolean not null,
  is_text boolean not null
);
comment on table filestore.segments is 'Immutable pieces of content. The bytes are the object {project_id}/{yyyymmdd of stored_on}/{id}.';

create table filestore.directories (
  project_id uuid not null references filestore.projects (id),
  path text collate "C" not null,
  parent text collate "C" generated always as (
    case when path = '' then null else coalesce(substring(path from '^(.*)/'), '') end
  ) stored,
  file_count bigint not null default 0 check (file_count >= 0),
  subtree_file_count bigint not null default 0 check (subtree_file_count >= 0),
  primary key (project_id, path)
) with (fillfactor = 70);
comment on table filestore.directories is 'Live files directly in a directory and in its whole subtree, so that lists know their total. The root is the empty path.';

create index directories_by_parent on filestore.directories (project_id, parent, path) where subtree_file_count > 0;

create table filestore.project_usage (
  project_id uuid not null references filestore.projects (id),
  shard smallint not null,
  bytes bigint not null default 0,
  versions bigint not null default 0,
  primary key (project_id, shard)
) with (fillfactor = 50);
comment on table filestore.project_usage is 'Bytes of all named segments and number of versions of a project, spread over rows so that writers rarely wait for each other.';

create table filestore.idempotency_keys (
  project_id uuid not null references filestore.projects (id),
  key text collate "C" not null check (octet_length(key) between 1 and 255),
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  answer jsonb,
  created_at timestamptz(3) not null,
  primary key (project_id, key)
);
comment on table filestore.idempotency_keys is 'Answers of writes that came with an Idempotency-Key, for 24 hours. The fingerprint tells a retry from another request with the same key.';

create index idempotency_keys_by_age on filestore.idempotency_keys (project_id, created_at);

-- ---------------------------------------------------------------------------------------------------------------
-- Who sees which row. Each operation sets the key's hash, then the key's project, for its own transaction only.

create function filestore.current_key_hash() returns bytea
language sql stable
as $$ select decode(nullif(current_setting('filestore.key_hash', true), ''), 'hex') $$;
comment on function filestore.current_key_hash() is 'SHA-256 of the key this transaction acts for, or null.';

create function filestore.current_project_id() returns uuid
language sql stable
as $$ select nullif(current_setting('filestore.project_id', true), '')::uuid $$;
comment on function filestore.current_project_id() is 'The project this transaction acts for, or null. After a transaction the setting is empty, not null.';

alter table filestore.tiers enable row level security;
alter table filestore.projects enable row level security;
alter table filestore.api_keys enable row level security;
alter table filestore.rate_windows enable row level security;
alter table filestore.files enable row level security;
alter table filestore.file_versions enable row level security;
alter table filestore.segments enable row level security;
alter table filestore.directories enable row level security;
alter table filestore.project_usage enable row level security;
alter table filestore.idempotency_keys enable row level security;

create policy engine_select on filestore.tiers for select to filestore_engine using (true);
create policy engine_select on filestore.projects for select to filestore_engine
  using (id = (select filestore.current_project_id()));
create policy engine_select on filestore.api_keys for select to filestore_engine
  using (key_hash = (select filestore.current_key_hash()));
create policy engine_update on filestore.api_keys for update to filestore_engine
  using (key_hash = (select filestore.current_key_hash()));

do $$
declare
  v_table text;
begin
  foreach v_table in array array[
    'rate_windows', 'files', 'file_versions', 'segments', 'directories', 'project_usage', 'idempotency_keys'
  ] loop
    execute format(
      'create policy engine_select on filestore.%I for select to filestore_engine '
      'using (project_id = (select filestore.current_project_id()))', v_table);
    execute format(
      'create policy engine_insert on filestore.%I for insert to filestore_engine '
      'with check (project_id = (select filestore.current_project_id()))', v_table);
    execute format('grant select, insert on filestore.%I to filestore_engine', v_table);
  end loop;
  foreach v_table in array array['rate_windows', 'files', 'directories', 'project_usage', 'idempotency_keys'] loop
    execute format(
      'create policy engine_update on filestore.%I for update to filestore_engine '
      'using (project_id = (select filestore.current_project_id())) '
      'with check (project_id = (select filestore.current_project_id()))', v_table);
    execute format('grant update on filestore.%I to filestore_engine', v_table);
  end loop;
end
$$;
create policy engine_delete on filestore.idempotency_keys for delete to filestore_engine
  using (project_id = (select filestore.current_project_id()));
grant delete on filestore.idempotency_keys to filestore_engine;

grant select on filestore.tiers, filestore.projects, filestore.api_keys to filestore_engine;
grant update (last_used_at) on filestore.api_keys to filestore_engine;

create policy admin_select on filestore.tiers for select to filestore_admin using (true);
create policy admin_select on filestore.projects for select to filestore_admin using (true);
create policy admin_insert on filestore.projects for insert to filestore_admin with check (true);
create policy admin_update on filestore.projects for update to filestore_admin using (true) with check (true);
create policy admin_select on filestore.api_keys for select to filestore_admin using (true);
create policy admin_insert on filestore.api_keys for insert to filestore_admin with check (true);
create policy admin_update on filestore.api_keys for update to filestore_admin using (true) with check (true);
grant select on filestore.tiers to filestore_admin;
grant select, insert, update on filestore.projects, filestore.api_keys to filestore_admin;

revoke all on all tables in schema filestore from public;
revoke all on all functions in schema filestore from public;
grant execute on all functions in schema filestore to filestore_engine;
