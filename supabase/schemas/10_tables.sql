-- The tables of projects, keys and files.

create table filestore.tiers (
  name text primary key,
  requests_per_minute integer check (requests_per_minute > 0),
  max_file_bytes bigint check (max_file_bytes > 0),
  max_project_bytes bigint check (max_project_bytes > 0)
);
comment on table filestore.tiers is 'Limits of a tier; null means no limit. A project''s own limits take precedence.';

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
comment on column filestore.projects.owner_id is
  'The account (auth.users.id) that owns it; null for a project created on the command line.';

create index projects_by_owner on filestore.projects (owner_id, created_at);

create table filestore.api_keys (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references filestore.projects (id),
  name text not null default '' check (char_length(name) <= 100),
  key_hash bytea not null unique check (octet_length(key_hash) = 32),
  prefix text not null check (char_length(prefix) <= 16),
  environment text not null default 'development' check (environment in ('development', 'production')),
  scopes text[] not null default '{read,write}'
    check (scopes <@ array['read', 'write', 'admin'] and cardinality(scopes) between 1 and 3),
  path_prefix text collate "C"
    check (octet_length(path_prefix) between 1 and 1024 and path_prefix !~ '^/|/$|//'),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  unique (project_id, id),
  constraint api_keys_admin_is_whole check (path_prefix is null or not 'admin' = any (scopes))
);
comment on table filestore.api_keys is
  'API keys: only the SHA-256 and the first characters. The key itself is shown once and stored nowhere.';
comment on column filestore.api_keys.scopes is
  'read: content, lists, history. write: every change of files. admin: the project''s name and keys.';
comment on column filestore.api_keys.path_prefix is
  'A directory: the key reads and writes only what lies below it. Null: everything.';

create index api_keys_by_project on filestore.api_keys (project_id, created_at);

create table filestore.console_sessions (
  project_id uuid primary key references filestore.projects (id),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  expires_at timestamptz(3) not null
);
comment on table filestore.console_sessions is
  'Stands in for a key while the owner of a project works in the console: the edge function derives the token from its '
  'own secret, and an account opens the session under its JWT.';

create table filestore.rate_windows (
  project_id uuid primary key references filestore.projects (id),
  window_start timestamptz not null,
  request_count integer not null,
  request_ids uuid[] not null default '{}'
) with (fillfactor = 50);
comment on table filestore.rate_windows is
  'Requests of the current clock minute, one row per project: its row lock makes the limit exact.';
comment on column filestore.rate_windows.request_ids is
  'The last 32 requests counted, so that a call repeated because its response was lost is not counted twice.';

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
comment on column filestore.files.segment_ids is
  'The segment list of the latest version. Compaction may replace a run of it by segments with the same bytes.';
alter table filestore.files alter column segment_ids set storage external;

create index files_by_directory on filestore.files (project_id, directory, path) where not is_deleted;
create index files_deleted on filestore.files (project_id, path) where is_deleted;
-- One for each order of a list, so that only the rows of the page are read. Writes pay for it: a commit changes
-- `updated_at`, so it can never be a heap-only update and adds an entry to every index of its row.
create index files_by_size on filestore.files (project_id, size, path) where not is_deleted;
create index files_by_updated_at on filestore.files (project_id, updated_at, path) where not is_deleted;
create index files_by_created_at on filestore.files (project_id, created_at, path) where not is_deleted;
-- With files_by_updated_at: what was written last, deletions included.
create index files_deleted_by_updated_at on filestore.files (project_id, updated_at, path) where is_deleted;

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
comment on table filestore.file_versions is
  'Every version of every file. Rows never change; the engine may only insert and select.';
comment on column filestore.file_versions.commit_id is
  'Chosen by the caller, so that a repeated commit finds its first result.';
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
comment on table filestore.segments is
  'Immutable pieces of content. The bytes are the object {project_id}/{yyyymmdd of stored_on}/{id}.';

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
comment on table filestore.directories is
  'Number of live files directly in a directory and in its whole subtree, for the totals of lists. The root is the '
  'empty path.';

create index directories_by_parent on filestore.directories (project_id, parent, path) where subtree_file_count > 0;

create table filestore.project_usage (
  project_id uuid not null references filestore.projects (id),
  shard smallint not null,
  bytes bigint not null default 0,
  versions bigint not null default 0,
  primary key (project_id, shard)
) with (fillfactor = 50);
comment on table filestore.project_usage is
  'Bytes of all referenced segments and number of versions of a project, spread over rows so that writers rarely wait '
  'for each other.';

create table filestore.idempotency_keys (
  project_id uuid not null references filestore.projects (id),
  key text collate "C" not null check (octet_length(key) between 1 and 255),
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  response jsonb,
  created_at timestamptz(3) not null,
  primary key (project_id, key)
);
comment on table filestore.idempotency_keys is
  'Responses to writes with an Idempotency-Key, kept for 24 hours. The fingerprint distinguishes a retry from another '
  'request with the same key.';

create index idempotency_keys_by_age on filestore.idempotency_keys (project_id, created_at);

create table filestore.sweeps (
  project_id uuid primary key references filestore.projects (id),
  swept_through date not null,
  day date,
  kept integer not null default 0 check (kept >= 0)
);
comment on table filestore.sweeps is 'How far the garbage collection of each project has come.';
comment on column filestore.sweeps.swept_through is 'Every day up to this one has been swept.';
comment on column filestore.sweeps.day is 'The day being swept.';
comment on column filestore.sweeps.kept is 'How many objects of that day were examined and kept.';
