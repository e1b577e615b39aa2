-- Generated from supabase/schemas by supabase/local/database/generate_migration.ts: read and edit the files there.
-- 00_roles.sql =======================================================================================================
-- The schema, its roles, the extensions that search uses, and helpers that set privileges and policies.
--
-- Everything lives in the schema `filestore`, which the REST API does not expose. The edge function `api` calls the
-- functions in `public`, which run as one of four roles. None of them owns a table or bypasses a policy.
-- What is applied to a database is `supabase/migrations`; README.md in this folder describes how the two stay equal.

create schema filestore;
comment on schema filestore is 'Versioned file store: tables and internals. Not exposed over REST.';
revoke all on schema filestore from public;

-- Roles are cluster-wide, so they may exist already. The migrating role joins them, because it can only hand a function
-- over to a role that it is a member of; on a hosted project it is not a superuser.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['filestore_engine', 'filestore_admin', 'filestore_account', 'filestore_search'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = v_role) then
      execute format('create role %I nologin noinherit', v_role);
    end if;
    execute format('grant %I to %I', v_role, current_user);
  end loop;
end
$$;
comment on role filestore_engine is 'Runs the file operations: subject to row-level security, owner of no table.';
comment on role filestore_admin is
  'Runs project and key administration: subject to row-level security, owner of no table.';
comment on role filestore_account is
  'Runs what account holders do with their projects and keys: subject to row-level security, owner of no table.';
comment on role filestore_search is
  'Maintains the search index and finds candidates in it, for every project: subject to row-level security, owner of '
  'no table.';

grant usage on schema filestore to filestore_engine, filestore_admin, filestore_account, filestore_search;

-- Extensions, each where the server has it. Without pg_trgm or btree_gin a search reads more rows; without vector there
-- is no semantic search.
create schema if not exists extensions;
do $$
declare
  v_name text;
begin
  foreach v_name in array array['pg_trgm', 'btree_gin', 'vector'] loop
    if exists (
      select from pg_catalog.pg_available_extensions a where a.name = v_name and a.installed_version is null
    ) then
      begin
        execute format('create extension %I with schema extensions', v_name);
      exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
        raise notice 'search is set up without the extension %', v_name;
      end;
    end if;
  end loop;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Helpers, dropped by the last file. Those for privileges are called directly below the function they are about.

create procedure filestore.grant_execute(p_function regproc, variadic p_callers text[])
language plpgsql as $$
declare
  v_function constant text := p_function::regprocedure;
  v_caller text;
begin
  -- A hosted project grants every new function in `public` to these roles.
  execute format('revoke all on function %s from public, anon, authenticated, service_role', v_function);
  foreach v_caller in array p_callers loop
    execute format('grant execute on function %s to %I', v_function, v_caller);
  end loop;
end
$$;
comment on procedure filestore.grant_execute(regproc, text[]) is
  'Makes a function callable by these roles and its owner only.';

create procedure filestore.publish(p_function regproc, p_owner text, variadic p_callers text[])
language plpgsql as $$
declare
  v_schema constant text := (select p.pronamespace::regnamespace from pg_catalog.pg_proc p where p.oid = p_function);
begin
  call filestore.grant_execute(p_function, variadic p_callers);
  -- A new owner needs CREATE on the schema at the moment of the change.
  execute format('grant create on schema %s to %I', v_schema, p_owner);
  execute format('alter function %s owner to %I', p_function::regprocedure, p_owner);
  execute format('revoke create on schema %s from %I', v_schema, p_owner);
end
$$;
comment on procedure filestore.publish(regproc, text, text[]) is
  'Makes a function run as p_owner (it is `security definer`) and callable by these roles alone.';

-- Settings are read in place, once a statement: a function would cost a call. (The inner query is how Supabase's linter
-- recognizes that; after a transaction a setting is empty, not null.)
create procedure filestore.add_policies(variadic p_statements text[])
language plpgsql as $$
declare
  v_statement text;
  v_setting constant text := '(select %s from (select current_setting(''filestore.%s'', true)) s (value))';
begin
  foreach v_statement in array p_statements loop
    v_statement := replace(v_statement, '{project}', format(v_setting, 'nullif(s.value, '''')::uuid', 'project_id'));
    v_statement := replace(v_statement, '{account}', format(v_setting, 'nullif(s.value, '''')::uuid', 'account_id'));
    v_statement :=
      replace(v_statement, '{key}', format(v_setting, 'decode(nullif(s.value, ''''), ''hex'')', 'key_hash'));
    execute replace(v_statement, '{prefix}', format(v_setting, 'nullif(s.value, '''')', 'path_prefix'));
  end loop;
end
$$;
comment on procedure filestore.add_policies(text[]) is
  'Creates policies. {project}, {account}, {key} and {prefix} are the project, its owner, the hash of the key and its '
  'path prefix that the transaction acts for, or null.';
-- 01_limits.sql ======================================================================================================
-- Bounds that the edge function depends on, too, or that are used in several places.

create type filestore.limits as (
  path_bytes_max integer,
  path_segments_max integer,
  segment_list_max_base integer,
  segment_list_max_per_mib integer,
  compaction_check_every_segments integer,
  account_projects_max integer,
  account_requests_per_minute integer,
  project_keys_max integer,
  key_grace_period_seconds_max integer,
  ended_keys_kept_days integer,
  ended_keys_pruned_at_once integer,
  name_length_max integer,
  project_links_max integer,
  project_links_kept_max integer,
  link_seconds_min integer,
  link_seconds_max integer,
  write_link_seconds_max integer,
  link_requests_per_minute integer,
  ended_links_kept_days integer,
  ended_links_pruned_at_once integer,
  console_session_seconds integer,
  idempotency_key_seconds integer,
  lock_timeout_milliseconds integer,
  rate_lanes integer,
  usage_shards integer,
  account_share_bytes integer,
  tariff_file_bytes integer,
  tariff_path_factor integer,
  tariff_directory_bytes integer,
  tariff_version_bytes integer,
  tariff_listed_segment_bytes integer,
  tariff_segment_bytes integer,
  tariff_indexed_factor integer,
  search_text_bytes_max integer,
  list_directories_max integer,
  page_limit_max integer,
  search_pending_max integer,
  search_found_at_once_max integer,
  search_walk_files_max integer,
  search_walk_bytes_max integer,
  search_word_matches_max integer,
  search_exact_chunks_max integer,
  search_ranked_max integer,
  reindex_debounce_milliseconds integer,
  reindex_debounce_microseconds_per_byte integer,
  search_turn_projects_max integer,
  search_tries_max integer,
  search_retry_seconds integer
);
comment on type filestore.limits is 'The bounds that the database and the edge function (`limits.ts`) share.';

-- In plpgsql, so that each value stands beside its name. Immutable: the planner replaces `(filestore.limits()).x` by a
-- constant, so that reading a limit costs nothing.
create function filestore.limits() returns filestore.limits
language plpgsql immutable set search_path = '' as $$
declare
  v_limits filestore.limits;
begin
  v_limits.path_bytes_max := 1024;
  v_limits.path_segments_max := 32;
  -- A file has at most this many segments, and this many more for each MiB or part of one: a read stays bounded.
  v_limits.segment_list_max_base := 128;
  v_limits.segment_list_max_per_mib := 2;
  -- A commit returns the segment list for compaction whenever its length passes a multiple of this.
  v_limits.compaction_check_every_segments := 8;
  v_limits.account_projects_max := 20;
  -- Calls of the functions for accounts, all projects of an account together.
  v_limits.account_requests_per_minute := 120;
  -- Of those that are neither revoked nor expired.
  v_limits.project_keys_max := 100;
  v_limits.key_grace_period_seconds_max := 604800;
  -- A key that was revoked or expired so long ago is forgotten, by the sweep.
  v_limits.ended_keys_kept_days := 90;
  v_limits.ended_keys_pruned_at_once := 100;
  v_limits.name_length_max := 100;
  -- Links of a project that can be used, and all that are remembered; those that ended give way.
  v_limits.project_links_max := 1000;
  v_limits.project_links_kept_max := 2000;
  v_limits.link_seconds_min := 60;
  v_limits.link_seconds_max := 604800;
  v_limits.write_link_seconds_max := 3600;
  v_limits.link_requests_per_minute := 60;
  -- Who uses a link so long after its end is told that it ended, and later that there is none; the sweep forgets it.
  v_limits.ended_links_kept_days := 7;
  v_limits.ended_links_pruned_at_once := 1000;
  v_limits.console_session_seconds := 600;
  v_limits.idempotency_key_seconds := 86400;
  -- How long an operation waits for a lock that another transaction holds.
  v_limits.lock_timeout_milliseconds := 2000;
  -- Requests of one project that are admitted at the same time without waiting for each other's transactions.
  v_limits.rate_lanes := 64;
  -- Commits of one project that add to its usage at the same time without waiting for each other.
  v_limits.usage_shards := 64;
  -- Of an account's quota, a row of a project's usage is granted this much at a time.
  v_limits.account_share_bytes := 1048576;
  -- What a project's rows in the database count towards its quota: `filestore.database_cost`.
  v_limits.tariff_file_bytes := 512;
  v_limits.tariff_path_factor := 14;
  v_limits.tariff_directory_bytes := 256;
  v_limits.tariff_version_bytes := 512;
  v_limits.tariff_listed_segment_bytes := 16;
  v_limits.tariff_segment_bytes := 256;
  v_limits.tariff_indexed_factor := 6;
  -- A longer text is found by its path alone.
  v_limits.search_text_bytes_max := 1048576;
  v_limits.list_directories_max := 1000;
  v_limits.page_limit_max := 100;
  -- Files waiting to be indexed are counted up to this number.
  v_limits.search_pending_max := 10000;
  -- A pattern that occurs in up to this many files is looked up in the index and sorted.
  v_limits.search_found_at_once_max := 1000;
  -- For a pattern too short for the index so many texts, and bytes of them, are read at once.
  v_limits.search_walk_files_max := 2000;
  v_limits.search_walk_bytes_max := 4194304;
  -- Files that contain the words beyond this many are not ranked: reading their words takes time.
  v_limits.search_word_matches_max := 10000;
  -- In a project with up to this many chunks each embedding is compared; in a larger one the index is used.
  v_limits.search_exact_chunks_max := 10000;
  -- Files ranked by words, and chunks ranked by meaning.
  v_limits.search_ranked_max := 200;
  -- The least time between two indexings of a text: this long, and longer for each byte; 9.4 s for 1 MiB.
  v_limits.reindex_debounce_milliseconds := 1000;
  v_limits.reindex_debounce_microseconds_per_byte := 8;
  -- Projects that one claim of the search index looks at, in search of those with a file due.
  v_limits.search_turn_projects_max := 200;
  -- A file that could not be indexed is tried so often, alone, after so many seconds and twice as many each time.
  v_limits.search_tries_max := 3;
  v_limits.search_retry_seconds := 2;
  return v_limits;
end
$$;
comment on function filestore.limits is 'The limits. A test compares each with its namesake in limits.ts.';
call filestore.grant_execute(
  'filestore.limits', 'filestore_account', 'filestore_admin', 'filestore_engine', 'filestore_search');
-- 10_tables.sql ======================================================================================================
-- The tables of projects, keys and files.

create table filestore.tiers (
  name text primary key,
  requests_per_minute integer check (requests_per_minute > 0),
  max_file_bytes bigint check (max_file_bytes > 0),
  max_project_bytes bigint check (max_project_bytes > 0)
);
comment on table filestore.tiers is 'Limits of a tier; null means no limit. A project''s own limits take precedence.';

insert into filestore.tiers (name, requests_per_minute, max_file_bytes, max_project_bytes) values
  ('free', 100, 10485760, 1073741824),
  ('pro', 1000, 104857600, null),
  ('enterprise', null, null, null);

create table filestore.settings (
  is_the_row boolean primary key default true check (is_the_row),
  project_makers text[],
  account_bytes bigint default 5368709120 check (account_bytes > 0)
);
comment on table filestore.settings is 'What the operator decides for the whole installation: one row.';
comment on column filestore.settings.project_makers is
  'Which accounts may make projects: {anyone}, or addresses and domains (@example.com). Empty: only the operator makes '
  'projects; null: nothing was decided yet, which is the same.';
comment on column filestore.settings.account_bytes is
  'What the projects of an account that have the quota of their tier may use together; null: no more than each.';

insert into filestore.settings default values;

create table filestore.projects (
  id uuid primary key default gen_random_uuid(),
  owner_id uuid,
  name text not null check (char_length(name) between 1 and 100),
  tier text not null references filestore.tiers (name),
  requests_per_minute integer check (requests_per_minute > 0),
  max_file_bytes bigint check (max_file_bytes > 0),
  max_project_bytes bigint check (max_project_bytes > 0),
  created_at timestamptz(3) not null default now(),
  suspended_at timestamptz(3),
  unique nulls not distinct (owner_id, name)
);
comment on table filestore.projects is 'A tenant. Files, keys and limits belong to exactly one project.';
comment on column filestore.projects.owner_id is
  'The account (auth.users.id) that owns it; null for a project created on the command line. While that account is '
  'banned or gone, the project is as suspended; the operator can give it to another one.';
comment on column filestore.projects.suspended_at is 'Since when its files and keys are refused; null: they are not.';

create index projects_by_owner on filestore.projects (owner_id, created_at);

create table filestore.api_keys (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references filestore.projects (id),
  name text not null default '' check (char_length(name) <= 100),
  key_hash bytea unique check (octet_length(key_hash) = 32),
  prefix text not null check (prefix ~ '^[0-9A-Za-z_]{0,16}$'),
  environment text not null default 'development' check (environment in ('development', 'production')),
  scopes text[] not null default '{read,write}'
    check (scopes <@ array['read', 'write', 'admin'] and cardinality(scopes) between 1 and 3),
  path_prefix text collate "C"
    check (octet_length(path_prefix) between 1 and 1024 and cardinality(string_to_array(path_prefix, '/')) <= 32
      and path_prefix !~ '^/|/$|//'),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  unique (project_id, id),
  constraint api_keys_admin_is_whole check (path_prefix is null or not 'admin' = any (scopes))
);
comment on table filestore.api_keys is
  'API keys: only the SHA-256 and the first characters. The key itself is shown once and stored nowhere.';
comment on column filestore.api_keys.key_hash is
  'Null: the key ended long ago; its id and name stay for the versions that it wrote.';
comment on column filestore.api_keys.scopes is
  'read: content, lists, history. write: every change of files. admin: the project''s name and keys.';
comment on column filestore.api_keys.path_prefix is
  'A directory: the key reads and writes only what lies below it. Null: everything.';

create index api_keys_by_project on filestore.api_keys (project_id, created_at);
create index api_keys_by_end on filestore.api_keys (least(revoked_at, expires_at)) where key_hash is not null;

create table filestore.console_sessions (
  project_id uuid primary key references filestore.projects (id),
  account_id uuid not null,
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  expires_at timestamptz(3) not null
);
comment on table filestore.console_sessions is
  'Stands in for a key while the owner of a project works in the console: the edge function derives the token from its '
  'own secret, and an account opens the session under its JWT. It ends when the project gets another owner.';

create unlogged table filestore.account_windows (
  account_id uuid primary key,
  window_start timestamptz not null,
  request_count integer not null
) with (fillfactor = 50);
comment on table filestore.account_windows is
  'Calls of an account''s own functions in the current clock minute. Not logged: after a crash the counts are gone.';

-- Many update rows of one project at the same time: with few rows on a page, each stays on its own.
create unlogged table filestore.rate_windows (
  project_id uuid not null references filestore.projects (id),
  lane integer not null,
  window_start timestamptz not null default '-infinity',
  request_count integer not null default 0,
  request_id uuid,
  primary key (project_id, lane)
) with (fillfactor = 10);
comment on table filestore.rate_windows is
  'Requests of the current clock minute. Each project with a limit has the same number of lanes; the n-th use of lane '
  'l in a window is request (n - 1) * lanes + l of it, so no number is given twice and a locked lane delays nobody. '
  'Not logged: after a crash the counts of that minute are gone.';
comment on column filestore.rate_windows.request_id is
  'The last request counted here, so that a call repeated because its response was lost is not counted twice.';

create table filestore.files (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  path text collate "C" not null
    check (octet_length(path) between 1 and 1024 and cardinality(string_to_array(path, '/')) <= 32
      -- No character that changes the direction of text.
      and path !~ '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'),
  directory text collate "C" not null generated always as (coalesce(substring(path from '^(.*)/'), '')) stored,
  version integer not null check (version > 0),
  mime_type text not null,
  size bigint not null check (size >= 0),
  is_deleted boolean not null default false,
  is_text boolean not null default true,
  segment_ids uuid[] not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, id),
  unique (project_id, path)
) with (fillfactor = 85);
comment on table filestore.files is 'A path of a project with its latest version. Paths compare byte for byte.';
comment on column filestore.files.is_text is 'Whether each segment is text, so that the content can be indexed.';
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
  is_text boolean not null default true,
  segment_ids uuid[] not null,
  commit_id uuid not null,
  key_id uuid,
  created_at timestamptz(3) not null,
  primary key (file_id, version),
  unique (project_id, commit_id),
  foreign key (project_id, file_id) references filestore.files (project_id, id)
);
comment on table filestore.file_versions is
  'Every version of every file. Rows never change; the engine may only insert and select.';
comment on column filestore.file_versions.commit_id is
  'Chosen by the caller, so that a repeated commit finds its first result.';
alter table filestore.file_versions alter column segment_ids set storage external;
-- Whether a version names a key.
create index file_versions_by_key on filestore.file_versions (key_id) where key_id is not null;

create table filestore.segments (
  id uuid primary key,
  project_id uuid not null,
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
  parent_id uuid not null generated always as (md5(coalesce(substring(path from '^(.*)/'), ''))::uuid) stored,
  name text collate "C" not null generated always as (split_part(path, '/', -1)) stored,
  file_count bigint not null default 0 check (file_count >= 0),
  subtree_file_count bigint not null default 0 check (subtree_file_count >= 0),
  -- One index finds a directory and, in order, those directly below another one; whole paths would make it large.
  primary key (project_id, parent_id, name)
) with (fillfactor = 70);
comment on table filestore.directories is
  'Number of live files directly in a directory and in its whole subtree, for the totals of lists. The root is the '
  'empty path. Every other one has a row only while it has a file.';
comment on column filestore.directories.parent_id is
  'The MD5 of the path of the directory above. The root counts as one without a name in itself.';

create table filestore.directory_changes (
  project_id uuid not null,
  path text collate "C" not null,
  id uuid not null default gen_random_uuid(),
  file_count integer not null,
  subtree_file_count integer not null,
  primary key (project_id, path, id)
);
comment on table filestore.directory_changes is
  'What is to be added to the counts of a directory, of commits that found its row locked by another one, or going. '
  'Whoever holds the row next takes them in. A count is that of the row, if there is one, and of its changes.';

create table filestore.project_usage (
  project_id uuid not null references filestore.projects (id),
  shard smallint not null,
  bytes bigint not null default 0,
  database_bytes bigint not null default 0,
  versions bigint not null default 0,
  granted_bytes bigint not null default 0,
  limit_bytes bigint,
  primary key (project_id, shard)
) with (fillfactor = 50);
comment on table filestore.project_usage is
  'Bytes of all segments of a project, what its rows in the database count, and number of its versions, spread over '
  'rows so that writers do not wait for each other.';
comment on column filestore.project_usage.database_bytes is 'By the tariff; a row may be negative, the sum is not.';
comment on column filestore.project_usage.granted_bytes is
  'Up to so many bytes of both kinds in this row a commit need not look at the others: all grants together stay within '
  'the quota.';
comment on column filestore.project_usage.limit_bytes is
  'The quota that was shared out. A commit under another one counts all rows and shares it out again.';

create table filestore.account_grants (
  project_id uuid primary key references filestore.projects (id),
  account_id uuid not null,
  granted_bytes bigint not null
);
comment on table filestore.account_grants is
  'How much of its account''s quota each project has used or was granted.';

create index account_grants_by_account on filestore.account_grants (account_id);

create table filestore.idempotency_keys (
  project_id uuid not null,
  caller_id uuid not null default '00000000-0000-0000-0000-000000000000',
  key text collate "C" not null check (octet_length(key) between 1 and 255),
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  response jsonb,
  created_at timestamptz(3) not null,
  primary key (project_id, caller_id, key)
);
comment on table filestore.idempotency_keys is
  'Responses to writes with an Idempotency-Key, kept for 24 hours. The fingerprint distinguishes a retry from another '
  'request with the same key.';

comment on column filestore.idempotency_keys.caller_id is
  'The API key or link whose request it was, so that they cannot meet each other''s; all zeros for the console.';

create index idempotency_keys_by_age on filestore.idempotency_keys (project_id, created_at);

create table filestore.links (
  id uuid primary key,
  project_id uuid not null references filestore.projects (id),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  scope text not null check (scope in ('read', 'write')),
  path text collate "C" not null
    check (octet_length(path) between 1 and 1024 and cardinality(string_to_array(path, '/')) <= 32),
  version integer check (version > 0),
  mime_type text,
  max_bytes bigint check (max_bytes > 0),
  if_version integer check (if_version >= 0),
  key_id uuid,
  key_hash bytea,
  account_id uuid,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  used_at timestamptz(3),
  commit_id uuid,
  check ((key_id is null) = (key_hash is null) and (key_id is null) <> (account_id is null))
);
comment on table filestore.links is
  'Addresses that read or write one file without a key, for a while. The token is stored nowhere, only its SHA-256.';
comment on column filestore.links.version is 'Of a link for reading: null follows the latest.';
comment on column filestore.links.if_version is 'Of a link for writing: the version it replaces, 0 for none.';
comment on column filestore.links.key_id is
  'The key that it acts as, which follows rotations; null where the project''s owner (account_id) made it.';
comment on column filestore.links.used_at is 'When its one version was written, by commit_id.';

create index links_by_project on filestore.links (project_id, created_at);
create index links_by_key on filestore.links (key_id);
create index links_by_end on filestore.links (expires_at);

create unlogged table filestore.link_windows (
  project_id uuid not null,
  link_id uuid not null,
  window_start timestamptz not null,
  request_count integer not null,
  primary key (project_id, link_id)
) with (fillfactor = 50);
comment on table filestore.link_windows is
  'Uses of a link in the current clock minute, and of all links of a project (link_id all zeros). Not logged: after a '
  'crash the counts of that minute are gone.';

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

create table filestore.edit_turns (
  project_id uuid not null references filestore.projects (id),
  path text collate "C" not null check (octet_length(path) between 1 and 1024),
  holder uuid not null,
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (project_id, path, holder)
);
comment on table filestore.edit_turns is
  'Isolates that want to edit the same file, in the order in which they asked: the first one has the turn. Saves '
  'uploads in vain; nothing depends on it. Empty where edits do not meet.';

-- A foreign key to a row that each commit of a project names would have each of them lock that row, all together. What
-- a commit names was read in its own transaction and hardly ever goes, so its removal looks for what names it instead.

create function filestore.refuse_to_orphan() returns trigger
language plpgsql volatile set search_path = '' as $$
declare
  v_is_named boolean;
begin
  if tg_table_name = 'projects' then
    v_is_named := exists (select from filestore.files f where f.project_id = old.id);
  else
    v_is_named := exists (
      select from filestore.file_versions v where v.project_id = old.project_id and v.key_id = old.id);
  end if;
  if v_is_named then
    raise foreign_key_violation using message = format('a row of %s is in use', tg_table_name);
  end if;
  return old;
end
$$;
comment on function filestore.refuse_to_orphan is 'Keeps a project that has files, and a key that a version names.';
call filestore.grant_execute('filestore.refuse_to_orphan', 'filestore_admin');

create trigger keep_projects_with_files before delete or update of id on filestore.projects
  for each row execute function filestore.refuse_to_orphan();
create trigger keep_keys_of_versions before delete or update of project_id, id on filestore.api_keys
  for each row execute function filestore.refuse_to_orphan();
-- 11_search_tables.sql ===============================================================================================
-- The tables of the search index: a queue of files to index, their current text, and its chunks.

create table filestore.search_queue (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  bytes bigint not null,
  stage smallint not null default 1 check (stage in (1, 2)),
  due_at timestamptz not null,
  attempts integer not null default 0,
  claim_id uuid,
  claimed_at timestamptz,
  primary key (project_id, file_id)
) with (fillfactor = 70);
comment on table filestore.search_queue is
  'Files whose current version is not indexed yet. One row per file, however many versions it has had meanwhile.';
comment on column filestore.search_queue.stage is
  '1: the text is to be stored. 2: the text is stored, and chunks are to be embedded.';
comment on column filestore.search_queue.due_at is
  'When it may be claimed: immediately, or once the claim that holds it has expired.';
comment on column filestore.search_queue.attempts is
  'Claims of this version that were not finished. After the first one it is claimed by itself.';
comment on column filestore.search_queue.claimed_at is
  'When its text was last claimed; a newer version may have taken that claim away since.';

create index search_queue_due on filestore.search_queue (stage, due_at);
create index search_queue_turn on filestore.search_queue (stage, project_id, due_at);

create table filestore.search_texts (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  mime_type text not null,
  skipped text check (skipped in ('too_large', 'not_text', 'not_indexable')),
  content text not null,
  bytes integer not null,
  json_bytes integer not null,
  words tsvector not null,
  model text,
  indexed_at timestamptz not null default '-infinity',
  primary key (project_id, file_id),
  unique (project_id, path),
  foreign key (project_id, file_id) references filestore.files (project_id, id)
);
comment on table filestore.search_texts is
  'The text of a file at one version, at most 1 MB. U+FFFE stands for NUL, which the type text cannot hold.';
comment on column filestore.search_texts.skipped is
  'Why the content is not indexed; then the content is the path, so that the file is found by its name.';
comment on column filestore.search_texts.json_bytes is
  'Bytes of the content as a JSON string, in which a control character takes six: what a page is counted in.';
comment on column filestore.search_texts.model is 'The embedding model that has processed all of its chunks.';

create index search_texts_by_model on filestore.search_texts (model) where skipped is null;
create index search_texts_given_up on filestore.search_texts (indexed_at) where skipped = 'not_indexable';

create table filestore.search_chunks (
  project_id uuid not null,
  file_id uuid not null,
  hash uuid not null,
  version integer not null,
  first_line integer not null check (first_line > 0),
  start integer not null check (start >= 0),
  length integer not null check (length > 0),
  model text,
  embedding real[] check (cardinality(embedding) = 384),
  primary key (project_id, file_id, hash),
  foreign key (project_id, file_id) references filestore.search_texts (project_id, file_id) on delete cascade
) with (fillfactor = 85);
comment on table filestore.search_chunks is
  'Parts of a text that are embedded one by one. The text itself is stored in search_texts.';
comment on column filestore.search_chunks.hash is
  'MD5 of the text: a chunk that is the same from version to version keeps its embedding.';
comment on column filestore.search_chunks.start is 'In characters of the content, from 0.';
alter table filestore.search_chunks alter column embedding set storage external;

-- An index, or a column of one, whose extension is missing is left out.
do $$
declare
  v_schemas constant jsonb := (
    select coalesce(jsonb_object_agg(e.extname, quote_ident(n.nspname)), '{}')
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace);
  v_trgm constant text := v_schemas ->> 'pg_trgm';
  v_vector constant text := v_schemas ->> 'vector';
  v_project constant text := case when v_schemas ? 'btree_gin' then 'project_id, ' else '' end;
begin
  if v_trgm is not null then
    execute format(
      'create index search_texts_by_trigram on filestore.search_texts using gin (%s content %s.gin_trgm_ops)',
      v_project, v_trgm);
  end if;
  execute format('create index search_texts_by_word on filestore.search_texts using gin (%s words)', v_project);
  if v_vector is not null then
    execute format(
      'create index search_chunks_by_meaning on filestore.search_chunks '
      'using hnsw ((embedding::%1$s.vector(384)) %1$s.vector_cosine_ops) where embedding is not null', v_vector);
  end if;
end
$$;
-- 20_policies.sql ====================================================================================================
-- Who sees which row. Each operation sets the key's hash, then the key's project and path prefix, for its own
-- transaction only (after it a setting is empty, not null); `filestore_account` sees what the signed-in account owns.

create function filestore.is_account_active(p_account_id uuid) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Null: the operator's own. Without Supabase Auth there is nobody to ask.
  if p_account_id is null or to_regclass('auth.users') is null then return true; end if;
  return exists (
    select from auth.users u
    where u.id = p_account_id and u.deleted_at is null
      and (u.banned_until is null or u.banned_until < clock_timestamp()));
end
$$;
comment on function filestore.is_account_active is
  'Whether an account exists and is not banned. Runs, as what follows, as the role that applies migrations, which may '
  'read the schema auth.';
call filestore.grant_execute('filestore.is_account_active', 'filestore_engine');

create function filestore.may_own(p_account_id uuid, p_claims jsonb) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  if p_claims ->> 'is_anonymous' = 'true' or not filestore.is_account_active(p_account_id) then return false; end if;
  -- A session that was begun without the second factor of an account that has one.
  if p_claims ->> 'aal' is distinct from 'aal2' and to_regclass('auth.mfa_factors') is not null then
    return not exists (
      select from auth.mfa_factors f where f.user_id = p_account_id and f.status::text = 'verified');
  end if;
  return true;
end
$$;
comment on function filestore.may_own is
  'Whether the account may act as an owner in the session that these claims are of: not where it was deleted or '
  'banned, is anonymous, or has a second factor that the session lacks.';
call filestore.grant_execute('filestore.may_own', 'filestore_account');

create function filestore.current_account_id() returns uuid
language plpgsql stable set search_path = '' as $$
declare
  v_claims constant jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  v_id constant uuid := (regexp_match(
    coalesce(nullif(current_setting('request.jwt.claim.sub', true), ''), v_claims ->> 'sub'),
    '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))[1]::uuid;
begin
  return case when v_id is not null and filestore.may_own(v_id, v_claims) then v_id end;
end
$$;
comment on function filestore.current_account_id is
  'The signed-in account (auth.users.id), as auth.uid() returns it, or null; also null where it may not act as an '
  'owner, and where the subject of another issuer is no account of this project.';
call filestore.grant_execute('filestore.current_account_id', 'filestore_account');

do $$
declare
  v_table text;
begin
  for v_table in select c.relname from pg_catalog.pg_class c
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
  loop
    execute format('alter table filestore.%I enable row level security', v_table);
    execute format('revoke all on filestore.%I from public', v_table);
  end loop;
end
$$;

-- filestore_engine: the project of the key. ---------------------------------------------------------------------------

create policy engine_select on filestore.tiers for select to filestore_engine using (true);
create policy engine_select on filestore.settings for select to filestore_engine using (true);
call filestore.add_policies(
  'create policy engine_select on filestore.projects for select to filestore_engine using (id = {project})',
  'create policy engine_select on filestore.api_keys for select to filestore_engine using (key_hash = {key})',
  'create policy engine_update on filestore.api_keys for update to filestore_engine using (key_hash = {key})',
  'create policy engine_select on filestore.console_sessions for select to filestore_engine using (token_hash = {key})',
  'create policy engine_delete on filestore.idempotency_keys for delete to filestore_engine '
  'using (project_id = {project})',
  'create policy engine_delete on filestore.edit_turns for delete to filestore_engine using (project_id = {project})',
  'create policy engine_delete on filestore.directories for delete to filestore_engine using (project_id = {project})',
  'create policy engine_delete on filestore.directory_changes for delete to filestore_engine '
  'using (project_id = {project})',
  -- Of the account's other projects it learns what they were granted, and nothing else.
  'create policy engine_select on filestore.account_grants for select to filestore_engine '
  'using (project_id = {project} or account_id = {account})',
  'create policy engine_insert on filestore.account_grants for insert to filestore_engine '
  'with check (project_id = {project} and account_id = {account})',
  'create policy engine_update on filestore.account_grants for update to filestore_engine '
  'using (project_id = {project}) with check (account_id = {account})');
grant select, insert, update on filestore.account_grants to filestore_engine;
call filestore.add_policies(
  -- By its token, before anything is known; then those of the project, below the key's prefix.
  'create policy engine_select on filestore.links for select to filestore_engine using (token_hash = {key} '
  'or project_id = {project} and ({prefix} is null or (path >= {prefix} || ''/'' and path < {prefix} || ''0'')))',
  'create policy engine_insert on filestore.links for insert to filestore_engine with check (project_id = {project})',
  'create policy engine_update on filestore.links for update to filestore_engine using (project_id = {project}) '
  'with check (project_id = {project})',
  'create policy engine_delete on filestore.links for delete to filestore_engine using (project_id = {project})',
  'create policy engine_all on filestore.link_windows to filestore_engine using (project_id = {project}) '
  'with check (project_id = {project})');
grant select, insert, update (revoked_at, used_at, commit_id), delete on filestore.links to filestore_engine;
grant select, insert, update, delete on filestore.link_windows to filestore_engine;
grant select on filestore.settings, filestore.tiers, filestore.projects, filestore.api_keys,
  filestore.console_sessions to filestore_engine;
grant update (last_used_at) on filestore.api_keys to filestore_engine;

do $$
declare
  v_own_rows constant text := 'project_id = {project}';
  -- A key with a path prefix sees no other file. Directory rows up to the root are counted by every writer, so lists
  -- apply the prefix themselves.
  v_own_files constant text := v_own_rows
    || ' and ({prefix} is null or (path >= {prefix} || ''/'' and path < {prefix} || ''0''))';
  v_table text;
  v_visible text;
begin
  foreach v_table in array array[
    'files', 'rate_windows', 'file_versions', 'segments', 'directories', 'directory_changes', 'project_usage',
    'idempotency_keys', 'edit_turns', 'search_queue', 'search_texts', 'search_chunks'
  ] loop
    v_visible := case when v_table = 'files' then v_own_files else v_own_rows end;
    execute format('grant select on filestore.%I to filestore_engine', v_table);
    call filestore.add_policies(format(
      'create policy engine_select on filestore.%I for select to filestore_engine using (%s)', v_table, v_visible));
    continue when v_table in ('search_texts', 'search_chunks');
    execute format('grant insert on filestore.%I to filestore_engine', v_table);
    call filestore.add_policies(format(
      'create policy engine_insert on filestore.%I for insert to filestore_engine with check (%s)',
      v_table, v_visible));
    -- These never change.
    continue when v_table in ('file_versions', 'segments', 'directory_changes');
    execute format('grant update on filestore.%I to filestore_engine', v_table);
    call filestore.add_policies(format(
      'create policy engine_update on filestore.%I for update to filestore_engine using (%s) with check (%s)',
      v_table, v_visible, v_own_rows));
  end loop;
end
$$;
grant delete on filestore.idempotency_keys, filestore.edit_turns, filestore.directories, filestore.directory_changes
  to filestore_engine;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_admin: every project, for the command line and the sweep, which only the secret key may call.

create policy admin_select on filestore.tiers for select to filestore_admin using (true);
create policy admin_select on filestore.settings for select to filestore_admin using (true);
create policy admin_update on filestore.settings for update to filestore_admin using (true) with check (true);
create policy admin_select on filestore.account_grants for select to filestore_admin using (true);
create policy admin_delete on filestore.account_grants for delete to filestore_admin using (true);
grant select, update on filestore.settings to filestore_admin;
grant select, delete on filestore.account_grants to filestore_admin;
create policy admin_all on filestore.links to filestore_admin using (true) with check (true);
create policy admin_all on filestore.link_windows to filestore_admin using (true) with check (true);
grant select, update (key_id, key_hash), delete on filestore.links to filestore_admin;
grant select, delete on filestore.link_windows to filestore_admin;
create policy admin_select on filestore.segments for select to filestore_admin using (true);
create policy admin_select on filestore.file_versions for select to filestore_admin using (true);
create policy admin_delete on filestore.api_keys for delete to filestore_admin using (true);
grant select on filestore.tiers, filestore.segments to filestore_admin;
grant select (project_id, key_id) on filestore.file_versions to filestore_admin;
grant delete on filestore.api_keys to filestore_admin;
do $$
declare
  v_table text;
begin
  foreach v_table in array array['projects', 'api_keys', 'sweeps'] loop
    execute format('create policy admin_select on filestore.%I for select to filestore_admin using (true)', v_table);
    execute format(
      'create policy admin_insert on filestore.%I for insert to filestore_admin with check (true)', v_table);
    execute format(
      'create policy admin_update on filestore.%I for update to filestore_admin using (true) with check (true)',
      v_table);
    execute format('grant select, insert, update on filestore.%I to filestore_admin', v_table);
  end loop;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_account: the projects that the signed-in account owns, and the rows of the one that was opened.

create policy account_select on filestore.tiers for select to filestore_account using (true);
call filestore.add_policies(
  'create policy account_select on filestore.projects for select to filestore_account '
  'using (owner_id = (select filestore.current_account_id()) or id = {project})',
  'create policy account_insert on filestore.projects for insert to filestore_account '
  'with check (owner_id = (select filestore.current_account_id()))',
  'create policy account_update on filestore.projects for update to filestore_account '
  'using (id = {project}) with check (id = {project})');
create policy account_select on filestore.account_windows for select to filestore_account
  using (account_id = (select filestore.current_account_id()));
create policy account_insert on filestore.account_windows for insert to filestore_account
  with check (account_id = (select filestore.current_account_id()));
create policy account_update on filestore.account_windows for update to filestore_account
  using (account_id = (select filestore.current_account_id()));
grant select on filestore.tiers to filestore_account;
grant select, insert, update on filestore.account_windows to filestore_account;
grant select, insert, update (name) on filestore.projects to filestore_account;
do $$
declare
  v_own_rows constant text := 'project_id = {project}';
  v_table text;
begin
  foreach v_table in array array[
    'api_keys', 'console_sessions', 'files', 'file_versions', 'directories', 'directory_changes', 'project_usage',
    'rate_windows'
  ] loop
    call filestore.add_policies(format(
      'create policy account_select on filestore.%I for select to filestore_account using (%s)', v_table, v_own_rows));
    execute format('grant select on filestore.%I to filestore_account', v_table);
    continue when v_table not in ('api_keys', 'console_sessions');
    call filestore.add_policies(format(
      'create policy account_insert on filestore.%I for insert to filestore_account with check (%s)',
      v_table, v_own_rows));
    call filestore.add_policies(format(
      'create policy account_update on filestore.%I for update to filestore_account using (%s) with check (%s)',
      v_table, v_own_rows, v_own_rows));
  end loop;
end
$$;
call filestore.add_policies(
  'create policy account_select on filestore.links for select to filestore_account using (project_id = {project})',
  'create policy account_update on filestore.links for update to filestore_account using (project_id = {project}) '
  'with check (project_id = {project})');
grant select, update (key_id, key_hash) on filestore.links to filestore_account;
grant insert, update (revoked_at, expires_at) on filestore.api_keys to filestore_account;
grant insert, update (account_id, token_hash, expires_at) on filestore.console_sessions to filestore_account;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_search: the exception. It sees the search tables, files and segments of every project; see 81_search.sql.
-- No session has this role; only functions of the search run as it.

do $$
declare
  v_table text;
begin
  foreach v_table in array array['search_queue', 'search_texts', 'search_chunks'] loop
    execute format('create policy search_select on filestore.%I for select to filestore_search using (true)', v_table);
    execute format(
      'create policy search_insert on filestore.%I for insert to filestore_search with check (true)', v_table);
    execute format(
      'create policy search_update on filestore.%I for update to filestore_search using (true) with check (true)',
      v_table);
    execute format('create policy search_delete on filestore.%I for delete to filestore_search using (true)', v_table);
    execute format('grant select, insert, update, delete on filestore.%I to filestore_search', v_table);
  end loop;
end
$$;
create policy search_select on filestore.files for select to filestore_search using (true);
create policy search_select on filestore.segments for select to filestore_search using (true);
grant select on filestore.files, filestore.segments to filestore_search;
-- 30_records.sql =====================================================================================================
-- What functions return: records, refusals, envelopes.
--
-- A function that the edge function calls for a request returns jsonb, or json for a page, which is faster:
-- {"grant": {...}, "rate": {...}, "value": ...} or, instead of the value, {"refusal": {"code": ..., "details": {...}}}.
-- Refusals are results and not exceptions, so that a refused request still counts. It changes nothing else.
--
-- Every function pins an empty search_path, so none is ever inlined into a query; a call of one costs 3 microseconds.
-- They are in plpgsql, which keeps its plans for the session: a function in SQL is planned at every call. What a page
-- needs for each of its rows, or an index for its condition, is written out in the query instead: a time as ISO 8601,
-- and "below a directory", which is `path >= directory || '/' and path < directory || '0'`: the character after `/` is
-- `0`, so that it is a range.

create function filestore.iso(p_time timestamptz) returns text
language plpgsql stable set search_path = ''
as $$ begin return to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'); end $$;
comment on function filestore.iso is 'ISO 8601, UTC, milliseconds, Z.';
call filestore.grant_execute('filestore.iso', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.refusal(p_code text, p_details jsonb default '{}'::jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return jsonb_build_object('refusal', jsonb_build_object('code', p_code, 'details', p_details)); end $$;
comment on function filestore.refusal is 'A refusal, with its code of the wire contract.';
call filestore.grant_execute('filestore.refusal', 'filestore_account', 'filestore_engine');

create function filestore.is_name(p_name text, p_minimum integer) returns boolean
language plpgsql immutable set search_path = '' as $$
declare
  -- What JavaScript takes for space.
  c_space constant text := '[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]';
begin
  return coalesce(
    char_length(p_name) between p_minimum and (filestore.limits()).name_length_max
    -- Control characters, and those that change the direction of text.
    and p_name !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'
    and p_name !~ ('^' || c_space || '|' || c_space || '$'), false);
end
$$;
comment on function filestore.is_name is 'Whether a text may be the name of a project or key.';
call filestore.grant_execute('filestore.is_name', 'filestore_account', 'filestore_admin');

create function filestore.is_path(p_path text) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return octet_length(p_path) between 1 and (filestore.limits()).path_bytes_max
    and cardinality(string_to_array(p_path, '/')) <= (filestore.limits()).path_segments_max
    and p_path !~ ('^/|/$|//|\\|(^|/)\.{1,2}(/|$)'
      -- Control characters, and those that change the direction of text.
      || '|[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]');
end
$$;
comment on function filestore.is_path is 'Whether a text is a valid path, of a file or a directory.';
call filestore.grant_execute('filestore.is_path', 'filestore_account', 'filestore_admin');

create function filestore.file_record(
  p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint,
  p_created_at timestamptz, p_updated_at timestamptz
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', p_id, 'path', p_path, 'version', p_version, 'mimeType', p_mime_type, 'size', p_size,
    'createdAt', filestore.iso(p_created_at), 'updatedAt', filestore.iso(p_updated_at));
end
$$;
comment on function filestore.file_record is 'A file at one version, as the wire shows it.';
call filestore.grant_execute('filestore.file_record', 'filestore_engine');

create function filestore.segment_list(p_project_id uuid, p_segment_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', s.id,
      'name', s.project_id || '/' || to_char(s.stored_on, 'YYYYMMDD') || '/' || s.id,
      'size', s.size, 'sha256', encode(s.sha256, 'hex'), 'newlines', s.newlines,
      'endsWithNewline', s.ends_with_newline, 'isText', s.is_text
    ) order by i.position), '[]'::jsonb)
    -- By subscript, since the estimated length of an unnested array would make each custom plan look cheaper than the
    -- generic one, and the statement be planned at every call.
    from generate_subscripts(p_segment_ids, 1) as i (position)
    -- fence: the planner must not flatten this. Segments are fetched one by one by primary key; a plan that is kept
    -- must not scan the table, which may have been small when the plan was made.
    cross join lateral (
      select * from filestore.segments s where s.id = p_segment_ids[i.position] and s.project_id = p_project_id offset 0
    ) s);
end
$$;
comment on function filestore.segment_list is 'The segments with these ids, in order.';
call filestore.grant_execute('filestore.segment_list', 'filestore_engine', 'filestore_search');

create type filestore.session as (
  project_id uuid,
  key_id uuid,
  tier text,
  max_file_bytes bigint,
  max_project_bytes bigint,
  account_id uuid,
  account_bytes bigint,
  envelope jsonb,
  scopes text[],
  path_prefix text,
  link_id uuid
);
comment on type filestore.session is
  'An authorized (or refused) key, for the rest of the transaction, and the link that acts as it, if one does.';
comment on column filestore.session.envelope is
  'What every result contains: {"grant", "rate"}, and {"refusal"} where the request is refused.';

create function filestore.page_response(p_session filestore.session, p_page json) returns json
language plpgsql stable set search_path = '' as $$
begin
  return json_build_object(
    'grant', (p_session).envelope -> 'grant', 'rate', (p_session).envelope -> 'rate', 'value', p_page);
end
$$;
comment on function filestore.page_response is
  'The envelope of a page, as json: its records are text that is joined. As jsonb they would be parsed and sorted '
  'again at every level.';
call filestore.grant_execute('filestore.page_response', 'filestore_engine');

create function filestore.is_live(p_file filestore.files) returns boolean
language plpgsql immutable set search_path = ''
as $$ begin return (p_file).id is not null and not (p_file).is_deleted; end $$;
comment on function filestore.is_live is 'Whether the file exists and its latest version is not a tombstone.';
call filestore.grant_execute('filestore.is_live', 'filestore_engine');

create function filestore.not_found(p_file filestore.files) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('FILE_NOT_FOUND', case when (p_file).is_deleted
    then jsonb_build_object('deletedVersion', (p_file).version) else '{}'::jsonb end);
end
$$;
comment on function filestore.not_found is 'The refusal where a file does not exist, or no longer exists.';
call filestore.grant_execute('filestore.not_found', 'filestore_engine');
-- 31_authorization.sql ===============================================================================================
-- Authorization: from the hash of a key (or of a console session's token) to its project, its limits and its scopes.

create type filestore.request_count as (is_allowed boolean, remaining integer, resets_at timestamptz);
comment on type filestore.request_count is 'What became of a request, and of the window in which it is counted.';

create function filestore.count_request(p_project_id uuid, p_limit integer, p_request_id uuid)
returns filestore.request_count
language plpgsql volatile set search_path = '' as $$
declare
  c_lanes constant integer := (filestore.limits()).rate_lanes;
  -- Whoever uses a lane has its advisory lock, which is tried for without a statement.
  c_locks constant integer := uuid_hash(p_project_id);
  v_minute constant timestamptz := date_trunc('minute', clock_timestamp());
  v_window timestamptz;
  v_lanes integer;
  -- The lowest number that has not been given, and how many were, as far as other transactions have ended.
  v_next integer;
  v_used integer;
  v_number integer;
  v_is_known boolean;
  v_lane integer;
  v_is_allowed boolean := false;
begin
  -- Far from the limit: the lane whose turn it is or, where that is in use, one of those used the longest time ago.
  if p_request_id is not null and p_limit > 2 * c_lanes then
    select sum(case when l.window_start < v_minute then 0 else l.request_count end),
           bool_or(l.request_id = p_request_id)
    into v_used, v_is_known from filestore.rate_windows l where l.project_id = p_project_id;
    if v_is_known is not true and v_used + 2 * c_lanes < p_limit then
      for i in 0 .. c_lanes - 1 loop
        v_lane := (v_used + case when i > 0 then c_lanes / 2 + i - 1 else 0 end) % c_lanes + 1;
        exit when pg_try_advisory_xact_lock(c_locks, v_lane);
        v_lane := null;
      end loop;
      update filestore.rate_windows w
      set window_start = greatest(w.window_start, v_minute), request_id = p_request_id,
          request_count = case when w.window_start < v_minute then 0 else w.request_count end + 1
      where w.project_id = p_project_id and w.lane = v_lane
        and case when w.window_start < v_minute then 0 else w.request_count end * c_lanes + w.lane <= p_limit
      returning w.window_start into v_window;
      -- If not, the lane has no number left, and nobody waits for it.
      v_is_allowed := found;
      v_used := v_used + 1;
    end if;
  end if;
  while not v_is_allowed loop
    select max(w.window_start), count(*), min(w.used * c_lanes + w.lane), sum(w.used),
           p_request_id is null or coalesce(bool_or(w.request_id = p_request_id), false)
    into v_window, v_lanes, v_next, v_used, v_is_allowed
    from (
      select l.lane, l.window_start, l.request_id,
             case when l.window_start < v_minute then 0 else l.request_count end as used
      from filestore.rate_windows l where l.project_id = p_project_id
    ) w;
    exit when v_is_allowed or v_lanes > 0 and (v_next > p_limit or v_used >= p_limit);
    -- The lowest number of a lane that nobody is using. The row is read again once it is locked.
    begin
      update filestore.rate_windows w
      set window_start = greatest(w.window_start, v_minute), request_id = p_request_id,
          request_count = case when w.window_start < v_minute then 0 else w.request_count end + 1
      where w.project_id = p_project_id
        and case when w.window_start < v_minute then 0 else w.request_count end * c_lanes + w.lane <= p_limit
        and w.lane = (
          select l.lane from filestore.rate_windows l
          where l.project_id = p_project_id
            and case when l.window_start < v_minute then 0 else l.request_count end * c_lanes + l.lane <= p_limit
          order by case when l.window_start < v_minute then 0 else l.request_count end, l.lane
          limit 1 for update skip locked)
      returning (w.request_count - 1) * c_lanes + w.lane into v_number;
      -- Beside those who are far from the limit, which a small one has none of.
      v_is_allowed := found
        and (p_limit <= 2 * c_lanes or pg_try_advisory_xact_lock(c_locks, (v_number - 1) % c_lanes + 1));
      if not v_is_allowed then raise sqlstate 'FS001'; end if;
    exception when sqlstate 'FS001' then
      null;
    end;
    if v_is_allowed then
      -- What is left follows from the number, which nobody else has, unless this lane was far behind. Whoever sees that
      -- none is left asks no more in this window: so not while a lane has another number.
      v_used := least(
        greatest(v_number, v_used + 1 - c_lanes), p_limit - (v_next + c_lanes <= p_limit)::integer);
    elsif v_lanes < c_lanes then
      insert into filestore.rate_windows (project_id, lane)
      select p_project_id, n from generate_series(1, c_lanes) n on conflict do nothing;
    elsif v_next + c_lanes > p_limit then
      -- Each lane in use had one number left and is giving it away now: the window is full.
      v_used := p_limit;
      exit;
    else
      -- A lane that is far behind the others is waited for, with none held, and then released.
      begin
        perform from filestore.rate_windows l
        where l.project_id = p_project_id and l.lane = (v_next - 1) % c_lanes + 1 for update;
        raise sqlstate 'FS001';
      exception when sqlstate 'FS001' then
        null;
      end;
    end if;
  end loop;
  return row(
    v_is_allowed, greatest(p_limit - coalesce(v_used, 0), 0), greatest(v_window, v_minute) + interval '1 minute');
end
$$;
comment on function filestore.count_request is
  'Counts one request in the project''s window, unless it was counted already (then its id is known, or null). A full '
  'window accepts nothing new and counts nothing. Waits for no other transaction to end.';
call filestore.grant_execute('filestore.count_request', 'filestore_engine');

create function filestore.authorize(p_key_hash text, p_request_id uuid, p_scope text) returns filestore.session
language plpgsql volatile set search_path = '' as $$
declare
  v_session filestore.session;
  v_setting text;
  v_limit integer;
  v_last_used_at timestamptz;
  v_opener_id uuid;
  v_suspended_at timestamptz;
  v_count filestore.request_count;
begin
  -- Assigned rather than performed: a simple expression is evaluated directly, a statement goes through the executor.
  v_setting := set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  v_setting := set_config('filestore.key_hash', p_key_hash, true);
  -- Nothing that a reader writes (the count, when the key was last used) is worth waiting for the disk.
  if p_scope is null or p_scope = 'read' then
    v_setting := set_config('synchronous_commit', 'off', true);
  end if;
  select k.id, k.project_id, k.last_used_at, k.scopes, k.path_prefix
  into v_session.key_id, v_session.project_id, v_last_used_at, v_session.scopes, v_session.path_prefix
  from filestore.api_keys k
  where k.key_hash = decode(p_key_hash, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp());
  if not found then
    select s.project_id, s.account_id, '{read,write,admin}'
    into v_session.project_id, v_opener_id, v_session.scopes
    from filestore.console_sessions s
    where s.token_hash = decode(p_key_hash, 'hex') and s.expires_at > clock_timestamp();
  end if;
  if not found then
    select l.project_id, l.account_id, array[l.scope]
    into v_session.project_id, v_opener_id, v_session.scopes
    from filestore.links l where l.token_hash = decode(p_key_hash, 'hex') and l.account_id is not null;
  end if;
  if not found then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;
  v_setting := set_config('filestore.project_id', v_session.project_id::text, true);
  v_setting := set_config('filestore.path_prefix', coalesce(v_session.path_prefix, ''), true);

  select p.tier, coalesce(p.requests_per_minute, t.requests_per_minute), coalesce(p.max_file_bytes, t.max_file_bytes),
         coalesce(p.max_project_bytes, t.max_project_bytes), p.suspended_at, p.owner_id,
         -- A project with a quota of its own, or with none, takes nothing from its account's.
         case when p.max_project_bytes is null and t.max_project_bytes is not null and p.owner_id is not null
           then s.account_bytes end
  into strict v_session.tier, v_limit, v_session.max_file_bytes, v_session.max_project_bytes, v_suspended_at,
    v_session.account_id, v_session.account_bytes
  from filestore.projects p join filestore.tiers t on t.name = p.tier cross join filestore.settings s
  where p.id = v_session.project_id;
  -- A console session, and a link made in one, ends with the ownership of whoever opened it.
  if v_session.key_id is null and v_opener_id is distinct from v_session.account_id then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;

  if v_limit is null then
    v_count.is_allowed := true;
    v_count.resets_at := date_trunc('minute', clock_timestamp()) + interval '1 minute';
  else
    v_count := filestore.count_request(v_session.project_id, v_limit, p_request_id);
  end if;
  v_session.envelope := jsonb_build_object(
    'rate', jsonb_build_object(
      'limit', v_limit, 'remaining', v_count.remaining, 'reset', extract(epoch from v_count.resets_at)::bigint),
    'grant', jsonb_build_object(
      'projectId', v_session.project_id, 'keyId', v_session.key_id, 'tier', v_session.tier,
      'maxFileBytes', v_session.max_file_bytes, 'scopes', v_session.scopes, 'pathPrefix', v_session.path_prefix));
  if not v_count.is_allowed then
    v_session.envelope := v_session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
    return v_session;
  end if;

  if v_session.key_id is not null
    and (v_last_used_at is null or v_last_used_at < clock_timestamp() - interval '1 minute') then
    -- Whoever finds the row locked leaves it to the other one.
    update filestore.api_keys k set last_used_at = clock_timestamp()
    where k.id = (select u.id from filestore.api_keys u where u.id = v_session.key_id for no key update skip locked);
  end if;
  if v_suspended_at is not null or not filestore.is_account_active(v_session.account_id) then
    v_session.envelope := v_session.envelope || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  elsif p_scope is not null and p_scope <> all (v_session.scopes) then
    v_session.envelope := v_session.envelope
      || filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', p_scope));
  end if;
  return v_session;
end
$$;
comment on function filestore.authorize is
  'Resolves a key to its project, opens that project''s rows for this transaction (below the key''s prefix), counts '
  'the request, and requires a scope. A project is suspended by the operator, and while its owner is banned or gone.';
call filestore.grant_execute('filestore.authorize', 'filestore_engine');

create function filestore.may_write(p_session filestore.session, p_path text) returns boolean
language plpgsql immutable set search_path = ''
as $$ begin return (p_session).path_prefix is null or starts_with(p_path, (p_session).path_prefix || '/'); end $$;
comment on function filestore.may_write is 'Whether a path lies where the key may write.';
call filestore.grant_execute('filestore.may_write', 'filestore_engine');

create function filestore.outside_prefix(p_session filestore.session) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', (p_session).path_prefix));
end
$$;
comment on function filestore.outside_prefix is
  'The refusal of a write outside the key''s prefix, whatever is there.';
call filestore.grant_execute('filestore.outside_prefix', 'filestore_engine');

create function public.filestore_authorize(p_key_hash text, p_request_id uuid, p_path text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, null);
  v_file filestore.files;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, p_path) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'file', case when filestore.is_live(v_file)
      then jsonb_build_object('version', v_file.version, 'size', v_file.size) end,
    'deletedVersion', case when v_file.is_deleted then v_file.version end));
end
$$;
comment on function public.filestore_authorize is
  'Authorizes a key and counts the request (p_request_id null: it was counted already); returns what is at the path '
  'that is to be written. Refusals: INVALID_API_KEY, RATE_LIMIT_EXCEEDED, FORBIDDEN_SCOPE, as in all functions that '
  'take a key.';
call filestore.publish('public.filestore_authorize', 'filestore_engine', 'service_role');
-- 40_versions.sql ====================================================================================================
-- Commits: every change of a file adds one version to it.
--
-- Lock order, everywhere: a lane of the rate window, an idempotency key, the paths of a copy or move, file rows,
-- directory rows (the root first), a row of the usage. Of lanes, directories and usage nobody waits for one that
-- another commit holds, but takes another row or puts one beside it; near the quota it takes all rows of the usage, in
-- order.

-- Segments ------------------------------------------------------------------------------------------------------------

create function filestore.sweep_clock() returns timestamptz
language plpgsql volatile set search_path = ''
as $$ begin return clock_timestamp(); end $$;
comment on function filestore.sweep_clock is 'The current time for the sweep; tests replace it.';
call filestore.grant_execute('filestore.sweep_clock', 'filestore_admin', 'filestore_engine');

create function filestore.oldest_committable_day() returns date
language plpgsql volatile set search_path = ''
as $$ begin return (filestore.sweep_clock() at time zone 'UTC')::date - 1; end $$;
comment on function filestore.oldest_committable_day is
  'Segments uploaded on an earlier day (UTC) are refused: the sweep removes the unreferenced ones among them.';
call filestore.grant_execute('filestore.oldest_committable_day', 'filestore_admin', 'filestore_engine');

create function filestore.add_segments(p_project_id uuid, p_segments jsonb) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
  select (s.value ->> 'id')::uuid, p_project_id, to_date(split_part(s.value ->> 'name', '/', 2), 'YYYYMMDD'),
         (s.value ->> 'size')::integer, decode(s.value ->> 'sha256', 'hex'), (s.value ->> 'newlines')::integer,
         (s.value ->> 'endsWithNewline')::boolean, (s.value ->> 'isText')::boolean
  from jsonb_array_elements(p_segments) s;
  if exists (
    select from jsonb_array_elements(p_segments) s
    where to_date(split_part(s.value ->> 'name', '/', 2), 'YYYYMMDD') < filestore.oldest_committable_day()
  ) then
    raise exception 'a segment was uploaded too long ago to be committed';
  end if;
end
$$;
comment on function filestore.add_segments is
  'Adds rows for uploaded segments, so that files may reference them. Raises for an upload so old that the sweep may '
  'have removed it.';
call filestore.grant_execute('filestore.add_segments', 'filestore_engine');

create function filestore.max_segments(p_size bigint) returns integer
language plpgsql immutable set search_path = '' as $$
begin
  return (filestore.limits()).segment_list_max_base
    + (filestore.limits()).segment_list_max_per_mib * ((p_size + 1048575) / 1048576)::integer;
end
$$;
comment on function filestore.max_segments is
  'How many segments a file of so many bytes may have, so that a read takes a bounded number of objects.';
call filestore.grant_execute('filestore.max_segments', 'filestore_engine');

-- Counts --------------------------------------------------------------------------------------------------------------

-- fence: rows are looked up one by one by primary key. A plan that is kept must not read a table that may grow.
create function filestore.adjust_directory_counts(p_project_id uuid, p_directory text, p_change integer) returns void
language plpgsql volatile
set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  -- The directory and its ancestors, the root first.
  v_own constant text[] := array(
    select '' union all
    select array_to_string(parts[1:n], '/')
    from string_to_array(nullif(p_directory, ''), '/') parts, generate_series(1, cardinality(parts)) n);
  -- Whoever removes a file also takes in what others have left beside some rows: it may empty them.
  v_others constant text[] := case when p_change < 0 then array(
    select distinct c.path from filestore.directory_changes c
    where c.project_id = p_project_id and c.path <> all (v_own) limit (filestore.limits()).path_segments_max) end;
  v_paths constant text[] := v_own || v_others;
  v_parent_ids constant uuid[] := array(
    select md5(coalesce(substring(p.path from '^(.*)/'), ''))::uuid
    from unnest(v_paths) with ordinality p (path, position) order by p.position);
  v_known text[];
begin
  -- Nobody waits for a row that another commit holds: the change is put beside it. All of one statement, so that what
  -- is taken in and what is added become visible together.
  with held as materialized (
    select d.parent_id, d.name, d.path, d.file_count, d.subtree_file_count,
           p_change * (d.path = any (v_own))::integer as change
    from unnest(v_paths, v_parent_ids) p (path, parent_id)
    cross join lateral (
      select * from filestore.directories o
      where o.project_id = p_project_id and o.parent_id = p.parent_id and o.name = split_part(p.path, '/', -1) offset 0
    ) d
    for no key update of d skip locked
  ), taken_in as (
    delete from filestore.directory_changes c using held h
    where c.project_id = p_project_id and c.path = h.path returning c.path, c.file_count, c.subtree_file_count
  ), counted as materialized (
    select h.parent_id, h.name, h.path,
           h.file_count + coalesce(sum(c.file_count), 0) + h.change * (h.path = p_directory)::integer as file_count,
           h.subtree_file_count + coalesce(sum(c.subtree_file_count), 0) + h.change as subtree_file_count
    from held h left join taken_in c on c.path = h.path
    group by h.parent_id, h.name, h.path, h.file_count, h.subtree_file_count, h.change
  ), changed as (
    update filestore.directories d set file_count = t.file_count, subtree_file_count = t.subtree_file_count
    from counted t
    where d.project_id = p_project_id and d.parent_id = t.parent_id and d.name = t.name
      and (t.subtree_file_count <> 0 or t.path = '')
  ), emptied as (
    -- A row that adds nothing can go, whatever is put beside its place meanwhile.
    delete from filestore.directories d using counted t
    where d.project_id = p_project_id and d.parent_id = t.parent_id and d.name = t.name
      and t.subtree_file_count = 0 and t.path <> ''
  ), seen as materialized (
    select d.path from unnest(v_paths, v_parent_ids) p (path, parent_id)
    cross join lateral (
      select o.path from filestore.directories o
      where o.project_id = p_project_id and o.parent_id = p.parent_id and o.name = split_part(p.path, '/', -1) offset 0
    ) d
  ), noted as (
    insert into filestore.directory_changes (project_id, path, file_count, subtree_file_count)
    select p_project_id, s.path, p_change * (s.path = p_directory)::integer, p_change
    from seen s where s.path = any (v_own) and s.path not in (select h.path from held h)
  )
  select array(select s.path from seen s) into v_known;
  if cardinality(v_known) = cardinality(v_paths) then return; end if;
  -- Directories without a row. One commit at a time may make the row, or take in what is beside its place; the others
  -- put their change there.
  with missing as materialized (
    select p.path, v.change, v.change * (p.path = p_directory)::integer as file_count,
           pg_try_advisory_xact_lock(hashtextextended('directory/' || p_project_id || '/' || p.path, 0)) as is_mine
    from unnest(v_paths) p (path)
    cross join lateral (select p_change * (p.path = any (v_own))::integer) v (change)
    where p.path <> all (v_known)
  ), made as (
    insert into filestore.directories as d (project_id, path, file_count, subtree_file_count)
    select p_project_id, m.path, m.file_count, m.change from missing m where m.is_mine and m.change > 0
    on conflict (project_id, parent_id, name) do update
      set file_count = d.file_count + excluded.file_count,
          subtree_file_count = d.subtree_file_count + excluded.subtree_file_count
  ), taken_in as (
    delete from filestore.directory_changes c using missing m
    where c.project_id = p_project_id and c.path = m.path and m.is_mine and m.change <= 0
    returning c.path, c.file_count, c.subtree_file_count
  )
  insert into filestore.directory_changes (project_id, path, file_count, subtree_file_count)
  select p_project_id, n.path, sum(n.file_count), sum(n.change)
  from (
    select m.path, m.file_count, m.change from missing m where not (m.is_mine and m.change > 0)
    union all
    select t.path, t.file_count, t.subtree_file_count from taken_in t
  ) n
  group by n.path having sum(n.change) <> 0;
end
$$;
comment on function filestore.adjust_directory_counts is
  'Counts a live file that was added to (1) or removed from (-1) a directory, and in those above it. A directory that '
  'is left without a file loses its row, except the root.';
call filestore.grant_execute('filestore.adjust_directory_counts', 'filestore_engine');

create function filestore.account_grants_of_others(p_session filestore.session) returns bigint
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('filestore.account_id', p_session.account_id::text, true);
  return (
    select coalesce(sum(g.granted_bytes), 0) from filestore.account_grants g
    where g.account_id = p_session.account_id and g.project_id <> p_session.project_id);
end
$$;
comment on function filestore.account_grants_of_others is
  'What the account''s other projects have used, or were granted, of its quota. Opens these rows for the rest of the '
  'transaction.';
call filestore.grant_execute('filestore.account_grants_of_others', 'filestore_engine');

create function filestore.quota_exceeded(p_session filestore.session) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return filestore.refusal('QUOTA_EXCEEDED', case
    when p_session.account_bytes - filestore.account_grants_of_others(p_session) < p_session.max_project_bytes
    then jsonb_build_object('limitBytes', p_session.account_bytes, 'account', true)
    else jsonb_build_object('limitBytes', p_session.max_project_bytes) end);
end
$$;
comment on function filestore.quota_exceeded is 'The refusal of a commit for which the quota has no room.';
call filestore.grant_execute('filestore.quota_exceeded', 'filestore_engine');

create function filestore.has_room(p_session filestore.session, p_cost bigint) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_is_granted boolean;
  v_bytes bigint;
begin
  if p_session.max_project_bytes is null then return true; end if;
  select coalesce(max(u.granted_bytes - u.bytes - u.database_bytes) >= p_cost, false),
         coalesce(sum(u.bytes + u.database_bytes), 0) + p_cost
  into v_is_granted, v_bytes from filestore.project_usage u where u.project_id = p_session.project_id;
  return v_is_granted or v_bytes <= p_session.max_project_bytes and (
    p_session.account_bytes is null
    or v_bytes <= p_session.account_bytes - filestore.account_grants_of_others(p_session));
end
$$;
comment on function filestore.has_room is
  'Whether the quota has room for so many bytes, as far as other commits have ended: a project that has used it up '
  'is refused before anything is written. What counts is `charge_usage`.';
call filestore.grant_execute('filestore.has_room', 'filestore_engine');

create function filestore.charge_usage(
  p_session filestore.session, p_bytes bigint, p_database_bytes bigint, p_versions integer, p_may_exceed boolean
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_shards constant integer := (filestore.limits()).usage_shards;
  v_quota constant bigint := p_session.max_project_bytes;
  v_cost constant bigint := p_bytes + p_database_bytes;
  v_limit bigint := p_session.max_project_bytes;
  v_used bigint;
  v_left bigint;
  v_share bigint;
begin
  if v_quota is null then
    update filestore.project_usage u
    set bytes = u.bytes + p_bytes, database_bytes = u.database_bytes + p_database_bytes,
        versions = u.versions + p_versions
    where u.project_id = p_session.project_id and u.shard = (
      select f.shard from filestore.project_usage f
      where f.project_id = p_session.project_id order by f.shard limit 1 for update skip locked);
    if found then return; end if;
    -- A row that is missing, and that no commit under way is making: else the next one would wait for it.
    insert into filestore.project_usage as u (project_id, shard, bytes, database_bytes, versions)
    values (p_session.project_id, coalesce((
      select f.shard from (
        select n.shard from generate_series(0, c_shards - 1) n (shard)
        where not exists (
          select from filestore.project_usage o where o.project_id = p_session.project_id and o.shard = n.shard)
        offset 0
      ) f
      where pg_try_advisory_xact_lock(hashtextextended('usage/' || p_session.project_id || '/' || f.shard, 0)) limit 1
    ), floor(random() * c_shards)::integer), p_bytes, p_database_bytes, p_versions)
    on conflict (project_id, shard) do update
      set bytes = u.bytes + excluded.bytes, database_bytes = u.database_bytes + excluded.database_bytes,
          versions = u.versions + excluded.versions;
    return;
  end if;
  begin
    update filestore.project_usage u
    set bytes = u.bytes + p_bytes, database_bytes = u.database_bytes + p_database_bytes,
        versions = u.versions + p_versions
    where u.project_id = p_session.project_id and u.shard = (
      select f.shard from filestore.project_usage f
      where f.project_id = p_session.project_id and f.granted_bytes - f.bytes - f.database_bytes >= v_cost
        and not exists (
          select from filestore.project_usage o
          where o.project_id = p_session.project_id and o.limit_bytes is distinct from v_quota)
      order by f.shard limit 1 for update skip locked);
    if found then return; end if;
    -- A row that was changed while it was being locked may be locked and not returned: the block releases it.
    raise sqlstate 'FS001';
  exception when sqlstate 'FS001' then
    null;
  end;
  -- Near the quota, or after it was changed, commits take turns: with every row locked the sum is exact. The projects
  -- that share their account's quota take turns whenever one of them asks for more of it.
  if p_session.account_bytes is not null then
    perform pg_advisory_xact_lock(hashtextextended('quota/' || p_session.account_id, 0));
    v_limit := least(v_quota, p_session.account_bytes - filestore.account_grants_of_others(p_session));
  end if;
  insert into filestore.project_usage (project_id, shard)
  select p_session.project_id, n from generate_series(0, c_shards - 1) n on conflict do nothing;
  perform from filestore.project_usage u where u.project_id = p_session.project_id order by u.shard for update;
  select sum(u.bytes + u.database_bytes) into v_used
  from filestore.project_usage u where u.project_id = p_session.project_id;
  v_left := v_limit - v_cost - v_used;
  if v_left < 0 and not p_may_exceed then raise sqlstate 'FS002'; end if;
  -- What is left is shared out, unless shares would be used up at once.
  v_share := greatest(v_left, 0) / c_shards;
  v_share := case when v_share < v_cost then 0 else v_share end;
  if p_session.account_bytes is not null then
    v_share := least(v_share, (filestore.limits()).account_share_bytes);
    insert into filestore.account_grants as g (project_id, account_id, granted_bytes)
    values (p_session.project_id, p_session.account_id, v_used + v_cost + c_shards * v_share)
    on conflict (project_id) do update set account_id = excluded.account_id, granted_bytes = excluded.granted_bytes;
  end if;
  update filestore.project_usage u
  set bytes = u.bytes + case when u.shard = 0 then p_bytes else 0 end,
      database_bytes = u.database_bytes + case when u.shard = 0 then p_database_bytes else 0 end,
      versions = u.versions + case when u.shard = 0 then p_versions else 0 end,
      granted_bytes = u.bytes + u.database_bytes + v_share + case when u.shard = 0 then v_cost else 0 end,
      limit_bytes = v_quota
  where u.project_id = p_session.project_id and (
    u.shard = 0 or u.limit_bytes is distinct from v_quota
    or u.granted_bytes <> u.bytes + u.database_bytes + v_share);
end
$$;
comment on function filestore.charge_usage is
  'Adds to what the project uses, in a row that nobody holds; raises FS002 where the quota has no room for it. The '
  'last step of a commit: whoever holds a row of the usage waits for nothing but others of them, in order.';
call filestore.grant_execute('filestore.charge_usage', 'filestore_engine');

-- One version of one file ---------------------------------------------------------------------------------------------

create function filestore.lock_file(p_project_id uuid, p_path text) returns filestore.files
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files;
begin
  select * into v_file from filestore.files f where f.project_id = p_project_id and f.path = p_path for no key update;
  return v_file;
end
$$;
comment on function filestore.lock_file is
  'The file at a path, locked until the transaction ends; null where there is none. The lock is on the right to add a '
  'version, not on the identity, which never changes: `for update` would conflict with the foreign key checks of the '
  'first indexing of a file.';
call filestore.grant_execute('filestore.lock_file', 'filestore_engine');

create function filestore.failed_precondition(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_is_live constant boolean := filestore.is_live(p_file);
  v_tag constant text := (p_file).id || '.' || (p_file).version;
begin
  -- "ifVersion" is the number that the file must be at, 0 for no file.
  if v_is_live and p_commit -> 'ifVersion' = '0' then
    return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', (p_file).version));
  end if;
  if (p_commit ->> 'ifVersion')::integer > 0
    and not (v_is_live and (p_commit ->> 'ifVersion')::integer = (p_file).version) then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', (p_file).version));
  end if;
  -- "ifMatch" and "ifNoneMatch" are lists of "{fileId}.{version}", or ["*"]: any file at all.
  if p_commit ? 'ifMatch' and not (v_is_live and (p_commit -> 'ifMatch' ? '*' or p_commit -> 'ifMatch' ? v_tag)) then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', (p_file).version));
  end if;
  if v_is_live and p_commit -> 'ifNoneMatch' ? '*' then
    return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', (p_file).version));
  end if;
  if v_is_live and p_commit -> 'ifNoneMatch' ? v_tag then
    return filestore.refusal('PRECONDITION_FAILED', jsonb_build_object('version', (p_file).version));
  end if;
  return null;
end
$$;
comment on function filestore.failed_precondition is
  'The refusal of a commit whose preconditions do not hold for the locked file; null where they hold.';
call filestore.grant_execute('filestore.failed_precondition', 'filestore_engine');

create type filestore.next_version as (
  segment_ids uuid[],
  size bigint,
  mime_type text,
  is_deleted boolean,
  is_text boolean
);
comment on type filestore.next_version is 'What a new version is to contain.';

create function filestore.plan_version(
  p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb,
  out planned filestore.next_version, out refusal jsonb
)
language plpgsql stable set search_path = '' as $$
declare
  v_source filestore.file_versions;
  v_new_ids uuid[];
  v_new_bytes bigint;
  v_is_text boolean;
  v_unknown bigint;
begin
  select coalesce(array_agg((s.value ->> 'id')::uuid order by s.position), '{}'),
         coalesce(sum((s.value ->> 'size')::bigint), 0), coalesce(bool_and((s.value ->> 'isText')::boolean), true)
  into v_new_ids, v_new_bytes, v_is_text
  from jsonb_array_elements(p_commit -> 'segments') with ordinality as s (value, position);

  planned.is_deleted := p_kind = 'delete';
  planned.is_text := v_is_text;
  planned.mime_type := coalesce(p_commit ->> 'mimeType', (p_file).mime_type);
  case p_kind
    when 'write', 'overwrite', 'delete' then
      planned.segment_ids := v_new_ids;
      planned.size := v_new_bytes;
    when 'append' then
      planned.segment_ids := (p_file).segment_ids || v_new_ids;
      planned.size := (p_file).size + v_new_bytes;
      planned.is_text := v_is_text and (p_file).is_text;
      if cardinality(planned.segment_ids) > filestore.max_segments(planned.size) then
        refusal := filestore.refusal('SEGMENT_LIST_FULL') || jsonb_build_object(
          'segments', filestore.segment_list((p_file).project_id, (p_file).segment_ids));
      end if;
    when 'edit' then
      v_new_ids := filestore.edited_segments(p_file, p_commit);
      if v_new_ids is null then
        refusal := filestore.refusal('VERSION_CONFLICT', jsonb_build_object('version', (p_file).version));
      end if;
      select coalesce(array_agg(r.id order by r.position), '{}'),
             coalesce(sum(coalesce(kept.size, (added.value ->> 'size')::integer)), 0),
             coalesce(bool_and(coalesce(kept.is_text, (added.value ->> 'isText')::boolean)), true),
             count(*) filter (where kept.id is null and added.value is null)
      into planned.segment_ids, planned.size, planned.is_text, v_unknown
      from unnest(v_new_ids) with ordinality as r (id, position)
      -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
      left join lateral (
        select s.id, s.size, s.is_text from filestore.segments s
        where s.id = r.id and s.project_id = (p_file).project_id offset 0
      ) kept on true
      left join jsonb_array_elements(p_commit -> 'segments') added on (added.value ->> 'id')::uuid = r.id;
      if v_unknown > 0 then
        raise exception 'the edit references segments that do not exist';
      end if;
    when 'restore' then
      select * into v_source from filestore.file_versions v
      where v.project_id = (p_file).project_id and v.file_id = (p_file).id
        and v.version = (p_commit ->> 'version')::integer;
      if not found then
        refusal := filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', (p_file).version));
      elsif v_source.is_deleted then
        refusal := filestore.refusal('VERSION_DELETED', jsonb_build_object('version', v_source.version));
      end if;
      planned.segment_ids := v_source.segment_ids;
      planned.size := v_source.size;
      planned.mime_type := v_source.mime_type;
      planned.is_text := v_source.is_text;
  end case;
  -- Without a limit the comparison is null.
  if refusal is null and planned.size > p_session.max_file_bytes then
    refusal := filestore.refusal('CONTENT_TOO_LARGE', jsonb_build_object(
      'limitBytes', p_session.max_file_bytes, 'sizeBytes', planned.size, 'tier', p_session.tier));
  end if;
end
$$;
comment on function filestore.plan_version is 'What a commit would make of the locked file, or why it is refused.';
call filestore.grant_execute('filestore.plan_version', 'filestore_engine');

create function filestore.indexed_bytes(p_size bigint, p_mime_type text, p_is_text boolean) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return case
    when p_is_text and p_size <= (filestore.limits()).search_text_bytes_max
      and p_mime_type !~ '^(image/(?!svg\+xml$)|audio/|video/|application/(pdf|zip)$)'
    then p_size else 0 end;
end
$$;
comment on function filestore.indexed_bytes is
  'How many bytes of a live file are in the search index, once it was indexed. The types are those of '
  '`isBinaryMediaType`.';
call filestore.grant_execute('filestore.indexed_bytes', 'filestore_engine');

create function filestore.file_cost(p_path text) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  v_directories constant integer := array_length(string_to_array(p_path, '/'), 1) - 1;
begin
  return (filestore.limits()).tariff_file_bytes + (filestore.limits()).tariff_path_factor * octet_length(p_path)
    + v_directories * ((filestore.limits()).tariff_directory_bytes + octet_length(p_path));
end
$$;
comment on function filestore.file_cost is
  'What a file counts towards the quota, whatever its versions: as though it had its directories to itself.';
call filestore.grant_execute('filestore.file_cost', 'filestore_engine');

create function filestore.database_cost(
  p_before filestore.files, p_path text, p_next filestore.next_version, p_new_segments integer
) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return case when (p_before).id is null then filestore.file_cost(p_path) else 0 end
    + (filestore.limits()).tariff_version_bytes
    + (filestore.limits()).tariff_listed_segment_bytes * cardinality(p_next.segment_ids)
    + (filestore.limits()).tariff_segment_bytes * p_new_segments
    + (filestore.limits()).tariff_indexed_factor * (
      case when p_next.is_deleted then 0
        else filestore.indexed_bytes(p_next.size, p_next.mime_type, p_next.is_text) end
      - case when filestore.is_live(p_before)
        then filestore.indexed_bytes((p_before).size, (p_before).mime_type, (p_before).is_text) else 0 end);
end
$$;
comment on function filestore.database_cost is
  'What the rows of a version count towards the quota, by the tariff; less than zero where less text is indexed.';
call filestore.grant_execute('filestore.database_cost', 'filestore_engine');

create function filestore.put_version(
  p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version, p_commit_id uuid
) returns filestore.files
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files := p_file;
  v_now constant timestamptz := greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at);
  v_change constant integer := (not p_next.is_deleted)::integer - filestore.is_live(p_file)::integer;
begin
  if v_file.id is not null then
    update filestore.files f
    set version = f.version + 1, mime_type = p_next.mime_type, size = p_next.size, is_deleted = p_next.is_deleted,
        is_text = p_next.is_text, segment_ids = p_next.segment_ids, updated_at = v_now
    where f.project_id = p_session.project_id and f.id = v_file.id
    returning * into v_file;
  else
    insert into filestore.files (
      project_id, path, version, mime_type, size, is_text, segment_ids, created_at, updated_at)
    values (
      p_session.project_id, p_path, 1, p_next.mime_type, p_next.size, p_next.is_text, p_next.segment_ids, v_now, v_now)
    on conflict (project_id, path) do nothing
    returning * into v_file;
    if not found then return null; end if;
  end if;
  insert into filestore.file_versions (
    project_id, file_id, version, mime_type, size, is_deleted, is_text, segment_ids, commit_id, key_id, created_at)
  values (
    p_session.project_id, v_file.id, v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted,
    v_file.is_text, v_file.segment_ids, p_commit_id, p_session.key_id, v_now);
  if v_change <> 0 then
    perform filestore.adjust_directory_counts(p_session.project_id, v_file.directory, v_change);
  end if;
  return v_file;
end
$$;
comment on function filestore.put_version is
  'Adds a version to a locked file, or creates the file. Null where another transaction has just created it: lock '
  'that one and check again.';
call filestore.grant_execute('filestore.put_version', 'filestore_engine');

create function filestore.queue_for_search() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at)
  values (new.project_id, new.id, new.version, new.path, new.size, clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, bytes = excluded.bytes, stage = 1, attempts = 0, claim_id = null,
        -- Without a claim the file keeps its place: it is due already, or its next indexing is deferred.
        due_at = case when q.claim_id is null then greatest(q.due_at, excluded.due_at) else excluded.due_at end;
  return null;
end
$$;
comment on function filestore.queue_for_search is
  'Marks a file as not indexed at its new version. A claim on an older version is lost.';
call filestore.grant_execute('filestore.queue_for_search', 'filestore_engine');

create trigger queue_for_search_on_insert after insert on filestore.files
  for each row execute function filestore.queue_for_search();
create trigger queue_for_search_on_update after update of version on filestore.files
  for each row when (old.version is distinct from new.version) execute function filestore.queue_for_search();

create function filestore.commit_result(
  p_file filestore.files, p_extra jsonb, p_segments jsonb default null
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record((p_file).id, (p_file).path, (p_file).version, (p_file).mime_type, (p_file).size,
      (p_file).created_at, (p_file).updated_at)
      || case when (p_file).is_deleted then '{"deleted": true}'::jsonb else '{}'::jsonb end
      || coalesce(p_extra, '{}'::jsonb),
    'segments', p_segments));
end
$$;
comment on function filestore.commit_result is 'The result of a commit: the record with the caller''s extra fields.';
call filestore.grant_execute('filestore.commit_result', 'filestore_engine');

create function filestore.repeated_commit(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_file filestore.files := p_file;
begin
  select v.version, v.mime_type, v.size, v.is_deleted, v.created_at
  into v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted, v_file.updated_at
  from filestore.file_versions v
  where v.project_id = v_file.project_id and v.file_id = v_file.id and v.commit_id = (p_commit ->> 'commitId')::uuid;
  return case when found then filestore.commit_result(v_file, p_commit -> 'extra') end;
end
$$;
comment on function filestore.repeated_commit is
  'What an earlier attempt at this commit made, or null. Called once the file is locked, when that attempt has ended.';
call filestore.grant_execute('filestore.repeated_commit', 'filestore_engine');

create function filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_segments constant jsonb := coalesce(p_commit -> 'segments', '[]');
  v_commit constant jsonb := p_commit || jsonb_build_object('segments', v_segments);
  v_new_bytes constant bigint := (
    select coalesce(sum((s.value ->> 'size')::bigint), 0) from jsonb_array_elements(v_segments) s);
  v_file filestore.files;
  v_before filestore.files;
  v_refusal jsonb;
  v_plan record;
  v_next filestore.next_version;
  v_check_every constant integer := (filestore.limits()).compaction_check_every_segments;
  v_segments_before integer;
  v_cost bigint;
begin
  loop
    v_file := filestore.lock_file(p_session.project_id, v_path);
    v_refusal := filestore.repeated_commit(v_file, v_commit);
    if v_refusal is not null then return v_refusal; end if;
    if p_kind <> 'write' and not filestore.is_live(v_file) and not (p_kind = 'restore' and v_file.id is not null) then
      return filestore.not_found(v_file);
    end if;
    v_refusal := filestore.failed_precondition(v_file, v_commit);
    if v_refusal is not null then return v_refusal; end if;
    v_plan := filestore.plan_version(p_session, v_file, p_kind, v_commit);
    if v_plan.refusal is not null then return v_plan.refusal; end if;
    v_next := v_plan.planned;
    v_before := v_file;
    v_cost := filestore.database_cost(v_before, v_path, v_next, jsonb_array_length(v_segments));
    if p_kind <> 'delete' and not filestore.has_room(p_session, v_new_bytes + v_cost) then
      return filestore.quota_exceeded(p_session);
    end if;
    v_file := filestore.put_version(p_session, v_file, v_path, v_next, (p_commit ->> 'commitId')::uuid);
    exit when v_file.id is not null;
  end loop;
  perform filestore.add_segments(p_session.project_id, v_segments);
  perform filestore.charge_usage(p_session, v_new_bytes, v_cost, 1, p_kind = 'delete');
  v_segments_before := coalesce(cardinality(v_before.segment_ids), 0);
  return filestore.commit_result(v_file, p_commit -> 'extra', case
    when p_kind in ('append', 'edit')
      and cardinality(v_file.segment_ids) / v_check_every > v_segments_before / v_check_every
    then filestore.segment_list(p_session.project_id, v_file.segment_ids) end);
end
$$;
comment on function filestore.commit_version is
  'Adds one version to one file: write, overwrite, append, edit, delete or restore. Returns the new record and, when '
  'the file may be worth compacting, its segment list.';
call filestore.grant_execute('filestore.commit_version', 'filestore_engine');

create function filestore.copy_file(p_session filestore.session, p_is_move boolean, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_path constant text := p_commit ->> 'path';
  v_destination constant text := p_commit ->> 'destination';
  v_source filestore.files;
  v_target filestore.files;
  v_refusal jsonb;
  v_lock bigint;
  v_before filestore.files;
  v_next filestore.next_version;
  v_left filestore.next_version;
  v_cost bigint;
begin
  -- Operations on two files that share a path run one after the other. Row locks cannot be taken in a fixed order while
  -- one of the paths is only being created.
  for v_lock in
    select distinct hashtextextended(p_session.project_id || '/' || l.path, 0)
    from unnest(array[v_path, v_destination]) l (path) order by 1
  loop
    perform pg_advisory_xact_lock(v_lock);
  end loop;
  loop
    v_source := filestore.lock_file(p_session.project_id, v_path);
    v_target := filestore.lock_file(p_session.project_id, v_destination);
    v_refusal := filestore.repeated_commit(v_target, p_commit);
    if v_refusal is not null then return v_refusal; end if;
    if not filestore.is_live(v_source) then return filestore.not_found(v_source); end if;
    v_refusal := filestore.failed_precondition(v_source, p_commit);
    if v_refusal is not null then return v_refusal; end if;
    if filestore.is_live(v_target) and not coalesce((p_commit ->> 'overwrite')::boolean, false) then
      return filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', v_target.version));
    end if;
    if v_source.size > p_session.max_file_bytes then
      return filestore.refusal('CONTENT_TOO_LARGE', jsonb_build_object(
        'limitBytes', p_session.max_file_bytes, 'sizeBytes', v_source.size, 'tier', p_session.tier));
    end if;
    v_before := v_target;
    v_next := row (v_source.segment_ids, v_source.size, v_source.mime_type, false, v_source.is_text);
    v_cost := filestore.database_cost(v_before, v_destination, v_next, 0);
    if p_is_move then
      v_left := row ('{}', 0, v_source.mime_type, true, true);
      v_cost := v_cost + filestore.database_cost(v_source, v_path, v_left, 0);
    end if;
    if not filestore.has_room(p_session, v_cost) then return filestore.quota_exceeded(p_session); end if;
    v_target := filestore.put_version(p_session, v_target, v_destination, v_next, (p_commit ->> 'commitId')::uuid);
    exit when v_target.id is not null;
  end loop;
  if p_is_move then
    v_source := filestore.put_version(p_session, v_source, v_path, v_left, (p_commit ->> 'sourceCommitId')::uuid);
  end if;
  perform filestore.charge_usage(p_session, 0, v_cost, 1 + p_is_move::integer, false);
  return filestore.commit_result(v_target, p_commit -> 'extra');
end
$$;
comment on function filestore.copy_file is
  'The current content of one path becomes the next version of another; a move leaves a tombstone. No bytes are '
  'copied.';
call filestore.grant_execute('filestore.copy_file', 'filestore_engine');

-- ---------------------------------------------------------------------------------------------------------------------
-- Safe retries. The key is taken and the response stored in the transaction of the commit.

create function filestore.caller_id(p_session filestore.session) returns uuid
language plpgsql immutable set search_path = ''
as $$
begin
  return coalesce((p_session).link_id, (p_session).key_id, '00000000-0000-0000-0000-000000000000');
end
$$;
comment on function filestore.caller_id is
  'Whose idempotency keys these are: of the link, the API key, or the console.';
call filestore.grant_execute('filestore.caller_id', 'filestore_engine');

create function filestore.stored_response(p_session filestore.session, p_idempotency jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row filestore.idempotency_keys;
begin
  select * into v_row from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and i.caller_id = filestore.caller_id(p_session)
    and i.key = p_idempotency ->> 'key'
    and i.created_at > clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  if not found then return null; end if;
  if v_row.fingerprint <> decode(p_idempotency ->> 'fingerprint', 'hex') then
    return filestore.refusal('IDEMPOTENCY_KEY_REUSED');
  end if;
  return jsonb_build_object('value', jsonb_build_object('file', v_row.response, 'segments', null, 'isReplayed', true));
end
$$;
comment on function filestore.stored_response is
  'The response to the first request with this key, or the refusal of a different request with it; null where the key '
  'is new.';
call filestore.grant_execute('filestore.stored_response', 'filestore_engine');

create function filestore.commit_within_quota(
  p_session filestore.session, p_kind text, p_commit jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- What a commit costs is known once it is made, so without room it is undone: to here.
  if p_session.max_project_bytes is not null then
    begin
      return case
        when p_kind in ('copy', 'move') then filestore.copy_file(p_session, p_kind = 'move', p_commit)
        else filestore.commit_version(p_session, p_kind, p_commit) end;
    exception when sqlstate 'FS002' then
      return filestore.quota_exceeded(p_session);
    end;
  end if;
  return case
    when p_kind in ('copy', 'move') then filestore.copy_file(p_session, p_kind = 'move', p_commit)
    else filestore.commit_version(p_session, p_kind, p_commit) end;
end
$$;
comment on function filestore.commit_within_quota is 'Commits, or refuses where the quota has no room for it.';
call filestore.grant_execute('filestore.commit_within_quota', 'filestore_engine');

create function filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_idempotency constant jsonb := p_commit -> 'idempotency';
  v_caller_id constant uuid := filestore.caller_id(p_session);
  v_expired constant timestamptz :=
    clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  v_result jsonb;
begin
  if v_idempotency is not null then
    -- Expired keys of the project are removed a few at a time, by the requests that use keys.
    delete from filestore.idempotency_keys i
    where i.project_id = p_session.project_id and (i.caller_id, i.key) in (
      select o.caller_id, o.key from filestore.idempotency_keys o
      where o.project_id = p_session.project_id and o.created_at < v_expired
      order by o.created_at limit 10 for update skip locked);
    begin
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.caller_id = v_caller_id and i.key = v_idempotency ->> 'key'
        and i.created_at < v_expired;
      -- Waits for a running request with the same key, whose response is stored by then.
      insert into filestore.idempotency_keys (project_id, caller_id, key, fingerprint, created_at)
      values (
        p_session.project_id, v_caller_id, v_idempotency ->> 'key', decode(v_idempotency ->> 'fingerprint', 'hex'),
        clock_timestamp())
      on conflict do nothing;
      if not found then
        -- Null where the key has expired since.
        return coalesce(
          filestore.stored_response(p_session, v_idempotency), filestore.refusal('IDEMPOTENCY_KEY_IN_USE'));
      end if;
    exception when lock_not_available then
      return filestore.refusal('IDEMPOTENCY_KEY_IN_USE');
    end;
  end if;

  v_result := filestore.commit_within_quota(p_session, p_kind, p_commit);

  if v_idempotency is not null then
    if v_result ? 'refusal' then
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.caller_id = v_caller_id and i.key = v_idempotency ->> 'key';
    else
      update filestore.idempotency_keys i set response = v_result -> 'value' -> 'file'
      where i.project_id = p_session.project_id and i.caller_id = v_caller_id and i.key = v_idempotency ->> 'key';
    end if;
  end if;
  return v_result;
end
$$;
comment on function filestore.commit_idempotent is
  'Commits, or returns what the same request returned before. Refusals are not stored.';
call filestore.grant_execute('filestore.commit_idempotent', 'filestore_engine');

create function public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, coalesce(p_commit ->> 'destination', p_commit ->> 'path'))
    or not (p_kind = 'copy' or filestore.may_write(v_session, p_commit ->> 'path')) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  v_result := filestore.commit_idempotent(v_session, p_kind, p_commit);
  -- A refusal changed nothing, so it does not wait for the disk.
  if v_result ? 'refusal' then perform set_config('synchronous_commit', 'off', true); end if;
  return v_session.envelope || v_result;
end
$$;
comment on function public.filestore_commit is
  'Adds a version. p_kind: write (creates the file where there is none), overwrite, append, edit, delete, restore, '
  'copy, move. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, VERSION_DELETED, VERSION_CONFLICT, PRECONDITION_FAILED, '
  'FILE_ALREADY_EXISTS, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, CONTENT_TOO_LARGE, QUOTA_EXCEEDED, '
  'SEGMENT_LIST_FULL.';
call filestore.publish('public.filestore_commit', 'filestore_engine', 'service_role');
-- 41_compaction.sql ==================================================================================================
-- Compaction: a run of small segments is replaced by fewer, larger ones with the same bytes.

create function public.filestore_compact(
  p_key_hash text, p_request_id uuid, p_path text, p_run uuid[], p_compacted jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_file filestore.files;
  v_from integer;
  v_bytes constant bigint := (
    select sum((s.value ->> 'size')::bigint) from jsonb_array_elements(p_compacted) s);
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_file from filestore.files f
  where f.project_id = v_session.project_id and f.path = p_path and not f.is_deleted for no key update;
  v_from := array_position(v_file.segment_ids, p_run[1]);
  if v_from is null or filestore.is_kept_for_edits(v_file)
    or v_file.segment_ids[v_from : v_from + cardinality(p_run) - 1] <> p_run then
    -- An earlier attempt at this very compaction may have done it.
    return v_session.envelope || jsonb_build_object(
      'value', coalesce((p_compacted -> 0 ->> 'id')::uuid = any (v_file.segment_ids), false));
  end if;
  if v_bytes is distinct from (
    select sum(s.size) from unnest(p_run) r (id)
    -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
    cross join lateral (
      select * from filestore.segments s where s.id = r.id and s.project_id = v_session.project_id offset 0
    ) s
  ) then
    raise exception 'the segments differ in size from the run they replace';
  end if;
  perform filestore.add_segments(v_session.project_id, p_compacted);
  update filestore.files f
  set segment_ids = v_file.segment_ids[: v_from - 1]
    || (select array_agg((s.value ->> 'id')::uuid order by s.position)
        from jsonb_array_elements(p_compacted) with ordinality as s (value, position))
    || v_file.segment_ids[v_from + cardinality(p_run) :]
  where f.project_id = v_session.project_id and f.id = v_file.id;
  perform filestore.charge_usage(
    v_session, v_bytes, (filestore.limits()).tariff_segment_bytes * jsonb_array_length(p_compacted), 0, true);
  return v_session.envelope || jsonb_build_object('value', true);
end
$$;
comment on function public.filestore_compact is
  'Replaces a run of adjacent segments in a file''s current segment list by segments with the same bytes. Makes no '
  'version. False where the list holds neither the run nor its replacement.';
call filestore.publish('public.filestore_compact', 'filestore_engine', 'service_role');
-- 42_edits.sql =======================================================================================================
-- Edits that meet others: what is appended meanwhile is kept, and edits of several isolates take turns.

create function filestore.is_edited_in_turns(p_project_id uuid, p_path text) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from filestore.edit_turns t
    where t.project_id = p_project_id and t.path = p_path and t.expires_at > clock_timestamp());
end
$$;
comment on function filestore.is_edited_in_turns is 'Whether an isolate has or awaits the turn to edit a file.';
call filestore.grant_execute('filestore.is_edited_in_turns', 'filestore_engine');

create function filestore.is_kept_for_edits(p_file filestore.files) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return cardinality((p_file).segment_ids) < filestore.max_segments((p_file).size) / 2
    and filestore.is_edited_in_turns((p_file).project_id, (p_file).path);
end
$$;
comment on function filestore.is_kept_for_edits is
  'Whether compaction leaves the file alone: edits take turns at it, which would be in vain if the segments that they '
  'replace were gone. Not once half of the segments are used that a file may have.';
call filestore.grant_execute('filestore.is_kept_for_edits', 'filestore_engine');

create function filestore.edited_segments(p_file filestore.files, p_commit jsonb) returns uuid[]
language plpgsql stable set search_path = '' as $$
declare
  v_edited constant uuid[] := array(
    select r.value::uuid from jsonb_array_elements_text(p_commit -> 'segmentIds') with ordinality r (value, position)
    order by r.position);
  v_base constant uuid[] := array(
    select r.value::uuid
    from jsonb_array_elements_text(p_commit -> 'baseSegmentIds') with ordinality r (value, position)
    order by r.position);
begin
  if (p_file).version = (p_commit ->> 'baseVersion')::integer then
    -- Without the base it is an append that also compacts.
    return case when p_commit ? 'baseSegmentIds' or not filestore.is_kept_for_edits(p_file) then v_edited end;
  elsif p_commit ? 'baseSegmentIds' and (p_file).segment_ids[: cardinality(v_base)] = v_base then
    return v_edited || (p_file).segment_ids[cardinality(v_base) + 1 :];
  end if;
  return null;
end
$$;
comment on function filestore.edited_segments is
  'The segment list that an edit makes of the locked file: the edited one, and what was appended since the version '
  'that was edited. Null where that one was changed otherwise.';
call filestore.grant_execute('filestore.edited_segments', 'filestore_engine');

create function public.filestore_edit_turn(
  p_key_hash text, p_request_id uuid, p_path text, p_holder uuid, p_seconds integer, p_idempotency jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_now timestamptz;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, p_path) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  perform pg_advisory_xact_lock(hashtextextended(v_session.project_id || '/edits/' || p_path, 0));
  v_now := clock_timestamp();
  delete from filestore.edit_turns t where (t.project_id, t.path, t.holder) in (
    select e.project_id, e.path, e.holder from filestore.edit_turns e
    where e.project_id = v_session.project_id
      and (e.expires_at <= v_now or (p_seconds = 0 and e.path = p_path and e.holder = p_holder))
    for update skip locked);
  if p_seconds = 0 then return v_session.envelope || '{"value": {"isTaken": false}}'::jsonb; end if;
  insert into filestore.edit_turns as t (project_id, path, holder, asked_at, expires_at)
  values (v_session.project_id, p_path, p_holder, v_now, v_now + make_interval(secs => p_seconds))
  on conflict (project_id, path, holder) do update set expires_at = excluded.expires_at;
  if p_holder <> (
    select t.holder from filestore.edit_turns t
    where t.project_id = v_session.project_id and t.path = p_path and t.expires_at > v_now
    order by t.asked_at, t.holder limit 1
  ) then
    return v_session.envelope || '{"value": {"isTaken": true}}'::jsonb;
  end if;
  return public.filestore_content(p_key_hash, null, p_path, p_idempotency => p_idempotency);
end
$$;
comment on function public.filestore_edit_turn is
  'Asks for the turn to edit a file, or asks again, or extends it: valid for p_seconds, and over with 0. Returns what '
  'filestore_content returns, once everyone who asked earlier has had their turn or has let it expire.';
call filestore.publish('public.filestore_edit_turn', 'filestore_engine', 'service_role');
-- 50_reads.sql =======================================================================================================
-- Reading one file: its record, its content, two of its versions, its history.

create function filestore.nothing_at(p_session filestore.session, p_path text, p_file filestore.files) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_prefix constant text := p_session.path_prefix;
  -- Above a key's prefix only the directories that lead to it are visible.
  v_seen constant text := case when starts_with(v_prefix, p_path || '/') then v_prefix else p_path end;
begin
  perform from filestore.directory_counts(p_session.project_id, v_seen) c
  where c.subtree_file_count > 0 and (v_seen = v_prefix or filestore.may_write(p_session, v_seen));
  return case when found then jsonb_set(filestore.not_found(p_file), '{refusal,details,directory}', 'true')
    else filestore.not_found(p_file) end;
end
$$;
comment on function filestore.nothing_at is
  'The refusal where a path that is read is no live file; it tells of a directory that the key sees there.';
call filestore.grant_execute('filestore.nothing_at', 'filestore_engine');

create function filestore.find_version(
  p_session filestore.session, p_path text, p_version integer, p_with_segments boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files;
  v_version filestore.file_versions;
  v_record jsonb;
begin
  select * into v_file from filestore.files f where f.project_id = p_session.project_id and f.path = p_path;
  if not found then return filestore.nothing_at(p_session, p_path, v_file); end if;
  if p_version <> v_file.version then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_session.project_id and v.file_id = v_file.id and v.version = p_version;
    if not found then
      return filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', v_file.version));
    end if;
    v_file.version := v_version.version;
    v_file.mime_type := v_version.mime_type;
    v_file.size := v_version.size;
    v_file.is_deleted := v_version.is_deleted;
    v_file.updated_at := v_version.created_at;
    v_file.segment_ids := v_version.segment_ids;
  end if;
  if v_file.is_deleted then return filestore.nothing_at(p_session, p_path, v_file); end if;
  v_record := filestore.file_record(
    v_file.id, v_file.path, v_file.version, v_file.mime_type, v_file.size, v_file.created_at, v_file.updated_at);
  if not p_with_segments then return jsonb_build_object('value', v_record); end if;
  return jsonb_build_object('value', jsonb_build_object(
    'file', v_record, 'segments', filestore.segment_list(p_session.project_id, v_file.segment_ids)));
end
$$;
comment on function filestore.find_version is 'A file''s record at one version, with its segments on request.';
call filestore.grant_execute('filestore.find_version', 'filestore_engine');

create function public.filestore_record(
  p_key_hash text, p_request_id uuid, p_path text, p_version integer default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  return v_session.envelope || filestore.find_version(v_session, p_path, p_version, false);
end
$$;
comment on function public.filestore_record is
  'The file record, of the latest or a given version. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND.';
call filestore.publish('public.filestore_record', 'filestore_engine', 'service_role');

create function public.filestore_content(
  p_key_hash text, p_request_id uuid, p_path text, p_version integer default null, p_idempotency jsonb default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_stored jsonb;
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if p_idempotency is not null then
    if not filestore.may_write(v_session, p_path) then
      return v_session.envelope || filestore.outside_prefix(v_session);
    end if;
    v_stored := case when p_idempotency ? 'key' then filestore.stored_response(v_session, p_idempotency) end;
    if v_stored ? 'refusal' then
      return v_session.envelope || v_stored;
    elsif v_stored is not null then
      return v_session.envelope
        || jsonb_build_object('value', jsonb_build_object('storedResponse', v_stored -> 'value' -> 'file'));
    end if;
  end if;
  v_result := v_session.envelope || filestore.find_version(v_session, p_path, p_version, true);
  if p_idempotency is not null and v_result ? 'value'
    and filestore.is_edited_in_turns(v_session.project_id, p_path) then
    v_result := jsonb_set(v_result, '{value,takesTurns}', 'true');
  end if;
  return v_result;
end
$$;
comment on function public.filestore_content is
  'The file record and the segments of its content. With p_idempotency, for a write that reads first (an empty object '
  'if it has no key): the stored response to its first request, if there was one, and whether edits take turns. '
  'Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, IDEMPOTENCY_KEY_REUSED.';
call filestore.publish('public.filestore_content', 'filestore_engine', 'service_role');

create function public.filestore_diff(
  p_key_hash text, p_request_id uuid, p_path text, p_from integer default null, p_to integer default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_file filestore.files;
  v_to integer;
  v_from integer;
  v_sides jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then return v_session.envelope || filestore.nothing_at(v_session, p_path, v_file); end if;
  v_to := coalesce(p_to, v_file.version);
  v_from := coalesce(p_from, v_to - 1);
  if v_to > v_file.version or v_from > v_file.version then
    return v_session.envelope
      || filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', v_file.version));
  end if;
  select jsonb_object_agg(v.version, jsonb_build_object(
    'size', v.size, 'mimeType', v.mime_type, 'segments', filestore.segment_list(v.project_id, v.segment_ids)))
  into v_sides
  from filestore.file_versions v
  where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version in (v_from, v_to);
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'path', v_file.path, 'from', v_from, 'to', v_to,
    'before', v_sides -> v_from::text, 'after', v_sides -> v_to::text));
end
$$;
comment on function public.filestore_diff is
  'Two versions of a file, by default the last two; version 0 is empty. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND.';
call filestore.publish('public.filestore_diff', 'filestore_engine', 'service_role');

create function public.filestore_versions(
  p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer
) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_file filestore.files;
  v_page json;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then return (v_session.envelope || filestore.nothing_at(v_session, p_path, v_file))::json; end if;
  -- Numbers are dense from 1, so the latest number is the total and a page is a range of numbers. Only the owner, who
  -- has no key, is told which key wrote a version.
  select ('[' || coalesce(string_agg('{"version":' || v.version || ',"size":' || v.size
      || ',"createdAt":"' || t.iso || '","updatedAt":"' || t.iso || '"'
      || case when v.is_deleted then ',"deleted":true' else '' end
      || case when v_session.key_id is null then coalesce(',"keyId":"' || v.key_id || '"', '') else '' end || '}',
    ',' order by v.version desc), '') || ']')::json
  into v_page
  from filestore.file_versions v
  -- fence: the planner must not flatten this, or the time would be formatted twice.
  cross join lateral (
    select to_char(v.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as iso offset 0
  ) t
  where v.project_id = v_session.project_id and v.file_id = v_file.id
    and v.version <= v_file.version - p_offset and v.version > v_file.version::bigint - p_offset - p_limit;
  return filestore.page_response(v_session, json_build_object(
    'file', json_build_object('path', v_file.path, 'mimeType', v_file.mime_type),
    'versions', v_page, 'total', v_file.version, 'limit', p_limit, 'offset', p_offset));
end
$$;
comment on function public.filestore_versions is
  'One page of a file''s versions, newest first; for the owner with the key of each. Refusals: FILE_NOT_FOUND.';
call filestore.publish('public.filestore_versions', 'filestore_engine', 'service_role');
-- 51_lists.sql =======================================================================================================
-- Lists of a directory's files.

-- Most lists are this one, so it is planned once per session: planning costs more than reading a page. The plan is kept
-- while the table grows, so it must not depend on the size the table had. With sorting and every scan but index scans
-- disabled, each statement has one index that provides its order. (One statement for all three, a union, was slower.)
-- The limit is unknown to such a plan, and its estimated cost must not start the JIT compiler.
create function filestore.plain_page(
  p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer,
  out files json, out has_more boolean
)
language plpgsql stable
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off
as $$
declare
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  v_records text;
begin
  -- Text that is joined costs half as much as json_build_object. fence, in all three: the planner must not flatten
  -- `offset 0`, or the time would be formatted twice.
  if not p_recursive then
    -- fence: a range of one directory, not an equality, keeps the directory in the order of the index.
    select string_agg('{"id":"' || p.id || '","path":' || to_json(p.path) || ',"version":' || p.version
             || ',"mimeType":' || to_json(p.mime_type) || ',"size":' || p.size || ',"createdAt":"' || t.created
             || '","updatedAt":"' || case when p.updated_at = p.created_at then t.created
               else to_char(p.updated_at at time zone 'UTC', c_iso) end || '"}',
             ',' order by p.position) filter (where p.position <= p_limit), count(*) > p_limit
    into v_records, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted
          and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
        order by f.directory, f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select to_char(p.created_at at time zone 'UTC', c_iso) as created offset 0) t;
  elsif p_directory = '' then
    select string_agg('{"id":"' || p.id || '","path":' || to_json(p.path) || ',"version":' || p.version
             || ',"mimeType":' || to_json(p.mime_type) || ',"size":' || p.size || ',"createdAt":"' || t.created
             || '","updatedAt":"' || case when p.updated_at = p.created_at then t.created
               else to_char(p.updated_at at time zone 'UTC', c_iso) end || '"}',
             ',' order by p.position) filter (where p.position <= p_limit), count(*) > p_limit
    into v_records, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted and f.path > p_after
        order by f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select to_char(p.created_at at time zone 'UTC', c_iso) as created offset 0) t;
  else
    -- Below the directory, after the cursor: one range.
    select string_agg('{"id":"' || p.id || '","path":' || to_json(p.path) || ',"version":' || p.version
             || ',"mimeType":' || to_json(p.mime_type) || ',"size":' || p.size || ',"createdAt":"' || t.created
             || '","updatedAt":"' || case when p.updated_at = p.created_at then t.created
               else to_char(p.updated_at at time zone 'UTC', c_iso) end || '"}',
             ',' order by p.position) filter (where p.position <= p_limit), count(*) > p_limit
    into v_records, has_more
    from (
      select f.*, row_number() over () as position
      from (
        select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at from filestore.files f
        where f.project_id = p_project_id and not f.is_deleted
          and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
        order by f.path limit p_limit + 1 offset p_offset
      ) f
    ) p
    cross join lateral (select to_char(p.created_at at time zone 'UTC', c_iso) as created offset 0) t;
  end if;
  files := '[' || coalesce(v_records, '') || ']';
end
$$;
comment on function filestore.plain_page is
  'Live files by path, without filters: one page, and whether there is more.';
call filestore.grant_execute('filestore.plain_page', 'filestore_engine');

create function filestore.sorted_page(
  p_project_id uuid, p_query jsonb, out files json, out has_more boolean, out total bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  v_directory constant text := p_query ->> 'directory';
  v_limit constant integer := (p_query ->> 'limit')::integer;
  v_offset constant integer := (p_query ->> 'offset')::integer;
  v_is_descending constant boolean := p_query ->> 'sortOrder' = 'desc';
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  v_scope text := 'f.project_id = $1 and ' || case when v_deleted then 'f.is_deleted' else 'not f.is_deleted' end;
  v_filters text;
  v_cursor text := '';
  v_order text;
begin
  if not (p_query ->> 'recursive')::boolean then
    v_scope := v_scope || ' and f.directory = $2';
  elsif v_directory <> '' then
    v_scope := v_scope || $sql$ and f.path >= $2 || '/' and f.path < $2 || '0'$sql$;
  end if;

  select coalesce(string_agg(' and ' || c.condition, ''), '') into v_filters
  from (values
    ('contentType', $sql$f.mime_type = $3 ->> 'contentType'$sql$),
    ('minSize', $sql$f.size >= ($3 ->> 'minSize')::bigint$sql$),
    ('maxSize', $sql$f.size <= ($3 ->> 'maxSize')::bigint$sql$),
    ('createdAfter', $sql$f.created_at > ($3 ->> 'createdAfter')::timestamptz$sql$),
    ('createdBefore', $sql$f.created_at < ($3 ->> 'createdBefore')::timestamptz$sql$),
    ('updatedAfter', $sql$f.updated_at > ($3 ->> 'updatedAfter')::timestamptz$sql$),
    ('updatedBefore', $sql$f.updated_at < ($3 ->> 'updatedBefore')::timestamptz$sql$)
  ) c (name, condition)
  where p_query ->> c.name is not null;

  -- Columns and directions are literals of this statement, never text of the request.
  v_order := case p_query ->> 'sortBy'
    when 'created_at' then 'f.created_at' when 'updated_at' then 'f.updated_at' when 'size' then 'f.size'
    else 'f.path' end
    || case when v_is_descending then ' desc' else '' end
    || case when p_query ->> 'sortBy' <> 'path' then ', f.path' else '' end;

  if v_filters <> '' or v_deleted then
    execute format('select count(*) from filestore.files f where %s%s', v_scope, v_filters)
    into total using p_project_id, v_directory, p_query;
  end if;

  if p_query ->> 'after' is not null then
    v_cursor := format($sql$ and f.path %s $3 ->> 'after'$sql$, case when v_is_descending then '<' else '>' end);
  end if;
  -- One record more than the page shows whether there is more.
  execute format(
    $sql$
      select coalesce(json_agg(json_build_object(
        'id', p.id, 'path', p.path, 'version', p.version, 'mimeType', p.mime_type, 'size', p.size,
        'createdAt', to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'updatedAt', to_char(p.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')%7$s)
        order by p.position) filter (where p.position <= %5$s), '[]'), count(*) > %5$s
      from (
        select f.*, row_number() over () as position
        from (
          select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at
          from filestore.files f where %1$s%2$s%3$s order by %4$s limit %5$s + 1 offset %6$s
        ) f
      ) p
    $sql$, v_scope, v_filters, v_cursor, v_order, v_limit, v_offset,
    case when v_deleted then $sql$, 'deleted', true$sql$ else '' end)
  into files, has_more using p_project_id, v_directory, p_query;
end
$$;
comment on function filestore.sorted_page is
  'Files in any order, filtered, or deleted ones: one page, whether there is more, and, where no directory count '
  'gives it, the total.';
call filestore.grant_execute('filestore.sorted_page', 'filestore_engine');

create function filestore.directory_counts(
  p_project_id uuid, p_path text, out file_count bigint, out subtree_file_count bigint
)
language plpgsql stable set search_path = '' as $$
begin
  select coalesce(sum(c.file_count), 0), coalesce(sum(c.subtree_file_count), 0) into file_count, subtree_file_count
  from (
    select d.file_count, d.subtree_file_count from filestore.directories d
    where d.project_id = p_project_id and d.parent_id = md5(coalesce(substring(p_path from '^(.*)/'), ''))::uuid
      and d.name = split_part(p_path, '/', -1) and d.path = p_path
    union all
    select d.file_count, d.subtree_file_count from filestore.directory_changes d
    where d.project_id = p_project_id and d.path = p_path
  ) c;
end
$$;
comment on function filestore.directory_counts is
  'How many live files a directory has, directly and in its whole subtree.';
call filestore.grant_execute('filestore.directory_counts', 'filestore_account', 'filestore_engine');

create function filestore.list_page(p_session filestore.session, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_directory constant text := p_query ->> 'directory';
  v_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_limit constant integer := (p_query ->> 'limit')::integer;
  v_offset constant integer := (p_query ->> 'offset')::integer;
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  v_has_more boolean;
  v_total bigint;
  v_files json;
  v_directories json;
begin
  if v_deleted or p_query ->> 'sortBy' <> 'path' or p_query ->> 'sortOrder' <> 'asc'
    or p_query ?| '{contentType,minSize,maxSize,createdAfter,createdBefore,updatedAfter,updatedBefore}' then
    select p.files, p.has_more, p.total into v_files, v_has_more, v_total
    from filestore.sorted_page(v_project_id, p_query) p;
  else
    select p.files, p.has_more into v_files, v_has_more
    from filestore.plain_page(
      v_project_id, v_directory, v_recursive, coalesce(p_query ->> 'after', ''), v_limit, v_offset) p;
  end if;

  if v_total is null then
    select case when v_recursive then c.subtree_file_count else c.file_count end into v_total
    from filestore.directory_counts(v_project_id, v_directory) c;
  end if;

  if not v_recursive and v_deleted then
    select coalesce(json_agg(c.name order by c.name), '[]') into v_directories
    from (
      select distinct
        split_part(substr(f.path, length(v_directory) + case when v_directory = '' then 1 else 2 end), '/', 1)
          collate "C" as name
      from filestore.files f
      where f.project_id = v_project_id and f.is_deleted and f.directory <> v_directory
        and (v_directory = ''
          or f.path >= v_directory || '/' and f.path < v_directory || '0')
      order by name limit (filestore.limits()).list_directories_max
    ) c;
  elsif not v_recursive then
    -- Changes may empty a directory or fill an empty one, so as many more are looked at.
    select coalesce(json_agg(split_part(c.path, '/', -1) order by c.path), '[]') into v_directories
    from (
      select n.path from (
        (select d.path, d.subtree_file_count from filestore.directories d
         where d.project_id = v_project_id and d.parent_id = md5(v_directory)::uuid and d.name > ''
         order by d.name limit (filestore.limits()).list_directories_max
           + (select count(*) from filestore.directory_changes c where c.project_id = v_project_id))
        union all
        select c.path, c.subtree_file_count from filestore.directory_changes c
        where c.project_id = v_project_id and c.path <> ''
          and coalesce(substring(c.path from '^(.*)/'), '') = v_directory
      ) n
      group by n.path having sum(n.subtree_file_count) > 0
      order by n.path limit (filestore.limits()).list_directories_max
    ) c;
  end if;

  return case
    when v_recursive then json_build_object(
      'files', v_files, 'total', v_total, 'limit', v_limit, 'offset', v_offset, 'hasMore', v_has_more)
    else json_build_object(
      'files', v_files, 'directories', v_directories, 'total', v_total, 'limit', v_limit, 'offset', v_offset,
      'hasMore', v_has_more) end;
end
$$;
comment on function filestore.list_page is
  'One page of a directory. Without filters the total comes from the directory''s counts and no file row beyond the '
  'page is read.';
call filestore.grant_execute('filestore.list_page', 'filestore_engine');

create function public.filestore_list(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_directory constant text := p_query ->> 'directory';
  v_prefix constant text := v_session.path_prefix;
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_is_above constant boolean := v_directory = '' or starts_with(v_prefix, v_directory || '/');
  v_page json;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  if v_prefix is null or v_directory = v_prefix or starts_with(v_directory, v_prefix || '/')
    or coalesce((p_query ->> 'deleted')::boolean, false) then
    v_page := filestore.list_page(v_session, p_query);
  elsif v_is_above and v_is_recursive then
    v_page := filestore.list_page(v_session, p_query || jsonb_build_object('directory', v_prefix));
  else
    -- Outside the prefix the key sees nothing, and above it only the directory that leads there.
    v_page := json_strip_nulls(json_build_object(
      'files', '[]'::json,
      'directories', case when not v_is_recursive then coalesce((
        select json_build_array(split_part(substr(v_prefix, coalesce(nullif(length(v_directory), 0) + 2, 1)), '/', 1))
        from filestore.directory_counts(v_session.project_id, v_prefix) c
        where c.subtree_file_count > 0 and v_is_above), '[]') end,
      'total', 0, 'limit', p_query -> 'limit', 'offset', p_query -> 'offset', 'hasMore', false));
  end if;
  return filestore.page_response(v_session, v_page);
end
$$;
comment on function public.filestore_list is
  'One page of a directory''s files, of those that the key may see. p_query: directory, recursive, limit, offset, '
  'sortBy, sortOrder and the filters.';
call filestore.publish('public.filestore_list', 'filestore_engine', 'service_role');
-- 52_links.sql =======================================================================================================
-- Links: an address that reads one file, or writes it once, without a key. Its user acts as the key that made it.

create function filestore.link_record(p_link filestore.links) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', p_link.id, 'for', p_link.scope, 'path', p_link.path, 'version', p_link.version,
    'contentType', p_link.mime_type, 'maxBytes', p_link.max_bytes, 'ifVersion', p_link.if_version,
    'keyId', p_link.key_id, 'createdAt', filestore.iso(p_link.created_at),
    'expiresAt', filestore.iso(p_link.expires_at)));
end
$$;
comment on function filestore.link_record is 'A link as those who may list it see it: without its address.';
call filestore.grant_execute('filestore.link_record', 'filestore_engine');

create function filestore.has_ended(p_link filestore.links) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  return p_link.revoked_at is not null or p_link.used_at is not null or p_link.expires_at <= clock_timestamp();
end
$$;
comment on function filestore.has_ended is
  'Whether a link cannot be used any more, as far as that does not depend on its key.';
call filestore.grant_execute('filestore.has_ended', 'filestore_engine');

create function public.filestore_create_link(p_key_hash text, p_request_id uuid, p_link jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_scope constant text := p_link ->> 'for';
  v_path constant text := p_link ->> 'path';
  v_seconds constant integer := p_link ->> 'expiresIn';
  v_count bigint;
  v_found jsonb;
  v_link filestore.links;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, v_path) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  if v_scope <> all (v_session.scopes) then
    return v_session.envelope || filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', v_scope));
  end if;
  if v_seconds not between v_limits.link_seconds_min
    and (case v_scope when 'read' then v_limits.link_seconds_max else v_limits.write_link_seconds_max end) then
    raise exception 'a link cannot be valid for % seconds', v_seconds;
  end if;
  if v_scope = 'read' then
    v_found := filestore.find_version(v_session, v_path, (p_link ->> 'version')::integer, false);
    if v_found ? 'refusal' then return v_session.envelope || v_found; end if;
  end if;
  -- Serialized, so that the number is exact and an earlier attempt has ended.
  perform pg_advisory_xact_lock(hashtextextended('links/' || v_session.project_id, 0));
  select * into v_link from filestore.links l
  where l.project_id = v_session.project_id and l.id = (p_link ->> 'id')::uuid;
  if found then return v_session.envelope || jsonb_build_object('value', filestore.link_record(v_link)); end if;
  -- The count is of all, so not under the key's prefix.
  perform set_config('filestore.path_prefix', '', true);
  select count(*) into v_count from filestore.links l
  where l.project_id = v_session.project_id and not filestore.has_ended(l);
  if v_count >= v_limits.project_links_max then
    return v_session.envelope
      || filestore.refusal('LINK_LIMIT_REACHED', jsonb_build_object('limit', v_limits.project_links_max));
  end if;
  with removed as (
    delete from filestore.links l where l.project_id = v_session.project_id and l.id in (
      select o.id from filestore.links o where o.project_id = v_session.project_id
      order by filestore.has_ended(o), o.created_at desc, o.id offset v_limits.project_links_kept_max - 1)
    returning l.id
  )
  delete from filestore.link_windows w using removed r where w.project_id = v_session.project_id and w.link_id = r.id;
  insert into filestore.links (
    id, project_id, token_hash, scope, path, version, mime_type, max_bytes, if_version, key_id, key_hash, account_id,
    created_at, expires_at)
  values (
    (p_link ->> 'id')::uuid, v_session.project_id, decode(p_link ->> 'tokenHash', 'hex'), v_scope, v_path,
    (p_link ->> 'version')::integer, p_link ->> 'contentType', (p_link ->> 'maxBytes')::bigint,
    (p_link ->> 'ifVersion')::integer, v_session.key_id,
    case when v_session.key_id is not null then decode(p_key_hash, 'hex') end,
    case when v_session.key_id is null then v_session.account_id end,
    clock_timestamp(), clock_timestamp() + make_interval(secs => v_seconds))
  returning * into v_link;
  return v_session.envelope || jsonb_build_object('value', filestore.link_record(v_link));
end
$$;
comment on function public.filestore_create_link is
  'Makes a link: id and tokenHash chosen by the caller, for (read or write), path, expiresIn in seconds, and version, '
  'or contentType, maxBytes and ifVersion. The same id again returns the first one. Refusals: FORBIDDEN_SCOPE, '
  'FILE_NOT_FOUND, VERSION_NOT_FOUND, LINK_LIMIT_REACHED.';
call filestore.publish('public.filestore_create_link', 'filestore_engine', 'service_role');

create function public.filestore_list_links(p_key_hash text, p_request_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  return v_session.envelope || jsonb_build_object('value', (
    select coalesce(jsonb_agg(
      filestore.link_record(l) - case when 'admin' = any (v_session.scopes) then '' else 'keyId' end
      order by l.created_at desc, l.id), '[]')
    from filestore.links l
    where l.project_id = v_session.project_id and not filestore.has_ended(l)));
end
$$;
comment on function public.filestore_list_links is
  'The links that can be used, newest first, below the key''s prefix; keyId for keys with the scope admin alone.';
call filestore.publish('public.filestore_list_links', 'filestore_engine', 'service_role');

create function public.filestore_revoke_link(p_key_hash text, p_request_id uuid, p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_revoked_at timestamptz;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  update filestore.links l set revoked_at = coalesce(l.revoked_at, clock_timestamp())
  where l.project_id = v_session.project_id and l.id = p_id returning l.revoked_at into v_revoked_at;
  return v_session.envelope || case when found
    then jsonb_build_object('value', jsonb_build_object('id', p_id, 'revokedAt', filestore.iso(v_revoked_at)))
    else filestore.refusal('LINK_NOT_FOUND') end;
end
$$;
comment on function public.filestore_revoke_link is 'Ends a link immediately. Refusals: LINK_NOT_FOUND.';
call filestore.publish('public.filestore_revoke_link', 'filestore_engine', 'service_role');

-- ---------------------------------------------------------------------------------------------------------------------
-- Using one.

create function filestore.count_link_use(p_project_id uuid, p_link_id uuid, p_limit integer, p_added integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_minute constant timestamptz := date_trunc('minute', clock_timestamp());
  v_count integer;
begin
  insert into filestore.link_windows as w (project_id, link_id, window_start, request_count)
  values (p_project_id, p_link_id, v_minute, p_added)
  on conflict (project_id, link_id) do update
    set window_start = greatest(w.window_start, v_minute),
        request_count = least(
          case when w.window_start < v_minute then 0 else w.request_count end + p_added, p_limit + 1)
  returning w.request_count into v_count;
  return jsonb_build_object('isAllowed', v_count <= p_limit - (p_added = 0)::integer, 'rate', jsonb_build_object(
    'limit', p_limit, 'remaining', greatest(p_limit - v_count, 0),
    'reset', extract(epoch from v_minute + interval '1 minute')::bigint));
end
$$;
comment on function filestore.count_link_use is
  'Adds to the uses of a link, or of all links of a project (all zeros), in this minute; with p_added 0 it only looks.';
call filestore.grant_execute('filestore.count_link_use', 'filestore_engine');

create type filestore.opened_link as (session filestore.session, link filestore.links);
comment on type filestore.opened_link is 'A link, and the session of the key that it acts as.';

create function filestore.open_link(p_token_hash text, p_scope text, p_is_counted boolean)
returns filestore.opened_link
language plpgsql volatile set search_path = '' as $$
declare
  c_all constant uuid := '00000000-0000-0000-0000-000000000000';
  v_link filestore.links;
  v_session filestore.session;
  v_limit integer;
  v_count jsonb;
  v_refusal jsonb;
begin
  perform set_config('filestore.key_hash', p_token_hash, true);
  select * into v_link from filestore.links l where l.token_hash = decode(p_token_hash, 'hex');
  v_refusal := case
    when not found then filestore.refusal('LINK_NOT_FOUND')
    when v_link.scope <> p_scope
      then filestore.refusal('METHOD_NOT_ALLOWED', jsonb_build_object('for', v_link.scope))
    when v_link.revoked_at is not null or v_link.expires_at <= clock_timestamp()
      then filestore.refusal('LINK_EXPIRED')
  end;
  if v_refusal is not null then
    v_session.envelope := v_refusal;
    return (v_session, v_link)::filestore.opened_link;
  end if;
  -- Null: the project's own window counts no request of a link.
  v_session := filestore.authorize(encode(coalesce(v_link.key_hash, v_link.token_hash), 'hex'), null, p_scope);
  v_session.link_id := v_link.id;
  if v_session.envelope #>> '{refusal,code}' = 'INVALID_API_KEY' then
    v_session.envelope := filestore.refusal('LINK_EXPIRED');
  elsif not v_session.envelope ? 'refusal' and not filestore.may_write(v_session, v_link.path) then
    v_session.envelope := v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  if v_session.envelope ? 'refusal' then return (v_session, v_link)::filestore.opened_link; end if;

  v_session.max_file_bytes := least(v_session.max_file_bytes, v_link.max_bytes);
  v_session.envelope :=
    jsonb_set(v_session.envelope, '{grant,maxFileBytes}', coalesce(to_jsonb(v_session.max_file_bytes), 'null'));
  v_limit := v_session.envelope #>> '{rate,limit}';
  -- Reads are counted before they are answered. Of writes those that were refused count, so here one only looks.
  v_count := filestore.count_link_use(
    v_session.project_id, v_link.id, (filestore.limits()).link_requests_per_minute, p_is_counted::integer);
  v_session.envelope := v_session.envelope || jsonb_build_object('rate', v_count -> 'rate');
  if (v_count ->> 'isAllowed')::boolean and v_limit is not null then
    v_count := filestore.count_link_use(v_session.project_id, c_all, v_limit, p_is_counted::integer);
    if not (v_count ->> 'isAllowed')::boolean then
      v_session.envelope := v_session.envelope || jsonb_build_object('rate', v_count -> 'rate');
    end if;
  end if;
  if not (v_count ->> 'isAllowed')::boolean then
    v_session.envelope := v_session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
  end if;
  return (v_session, v_link)::filestore.opened_link;
end
$$;
comment on function filestore.open_link is
  'Finds a link and opens its project as the key that made it. Refusals: LINK_NOT_FOUND, METHOD_NOT_ALLOWED, '
  'LINK_EXPIRED (also where its key is not valid any more), FORBIDDEN_SCOPE, RATE_LIMIT_EXCEEDED.';
call filestore.grant_execute('filestore.open_link', 'filestore_engine');

create function public.filestore_link_content(p_key_hash text, p_request_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant filestore.opened_link := filestore.open_link(p_key_hash, 'read', p_request_id is not null);
  v_found jsonb;
begin
  if (v_opened.session).envelope ? 'refusal' then return (v_opened.session).envelope; end if;
  v_found := filestore.find_version(v_opened.session, (v_opened.link).path, (v_opened.link).version, true);
  -- Of what else there is at or below the path, a link tells nothing.
  if v_found ? 'refusal' then v_found := jsonb_set(v_found, '{refusal,details}', '{}'); end if;
  return (v_opened.session).envelope || v_found;
end
$$;
comment on function public.filestore_link_content is
  'The file record and the segments of what a link is for. p_key_hash is the SHA-256 of its token; with p_request_id '
  'null the request was counted already. Refusals: those of filestore.open_link, FILE_NOT_FOUND, VERSION_NOT_FOUND.';
call filestore.publish('public.filestore_link_content', 'filestore_engine', 'service_role');

create function public.filestore_link_authorize(p_key_hash text, p_request_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant filestore.opened_link := filestore.open_link(p_key_hash, 'write', false);
begin
  -- Nothing that is written here is worth waiting for the disk.
  perform set_config('synchronous_commit', 'off', true);
  if (v_opened.session).envelope ? 'refusal' then return (v_opened.session).envelope; end if;
  return (v_opened.session).envelope || jsonb_build_object('value', jsonb_build_object(
    'path', (v_opened.link).path, 'contentType', (v_opened.link).mime_type, 'ifVersion', (v_opened.link).if_version,
    'isUsed', (v_opened.link).used_at is not null));
end
$$;
comment on function public.filestore_link_authorize is
  'What a link for writing allows, before anything is stored. Refusals: those of filestore.open_link.';
call filestore.publish('public.filestore_link_authorize', 'filestore_engine', 'service_role');

create function public.filestore_link_commit(p_key_hash text, p_request_id uuid, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant filestore.opened_link := filestore.open_link(p_key_hash, 'write', false);
  v_session constant filestore.session := v_opened.session;
  v_link filestore.links;
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_link from filestore.links l
  where l.project_id = v_session.project_id and l.id = v_session.link_id for update;
  if v_link.used_at is not null and v_link.commit_id is distinct from (p_commit ->> 'commitId')::uuid then
    v_result := coalesce(
      case when p_commit ? 'idempotency' then filestore.stored_response(v_session, p_commit -> 'idempotency') end,
      filestore.refusal('LINK_USED'));
    return v_session.envelope || v_result;
  end if;
  v_result := filestore.commit_idempotent(v_session, 'write', p_commit || jsonb_build_object('path', v_link.path)
    || case when v_link.if_version is null then '{}' else jsonb_build_object('ifVersion', v_link.if_version) end);
  if v_result ? 'refusal' then
    perform filestore.count_link_use(
      v_session.project_id, v_link.id, (filestore.limits()).link_requests_per_minute, 1);
    perform set_config('synchronous_commit', 'off', true);
  else
    update filestore.links l set used_at = clock_timestamp(), commit_id = (p_commit ->> 'commitId')::uuid
    where l.project_id = v_session.project_id and l.id = v_link.id;
  end if;
  -- What was written in one piece needs no compaction.
  return v_session.envelope || case when v_result ? 'value'
    then jsonb_set(v_result, '{value,segments}', 'null') else v_result end;
end
$$;
comment on function public.filestore_link_commit is
  'Writes the one version that a link is for. A refused write does not use it up. Refusals: LINK_USED, those of '
  'filestore.open_link and of a write.';
call filestore.publish('public.filestore_link_commit', 'filestore_engine', 'service_role');
-- 60_accounts.sql ====================================================================================================
-- Projects and keys, for the accounts that own them and for keys with the scope admin.
--
-- Signed-in users call the functions `filestore_account_*` under their own JWT. These run as `filestore_account`, whose
-- policies show the projects that the account owns. The project concerned is set for the transaction once it was found
-- under those policies.

create function filestore.account_key(p_key filestore.api_keys) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name, 'environment', (p_key).environment,
    'scopes', (p_key).scopes, 'pathPrefix', (p_key).path_prefix,
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at));
end
$$;
comment on function filestore.account_key is 'A key as its project''s owner sees it.';
call filestore.grant_execute('filestore.account_key', 'filestore_account');

create function filestore.is_active(p_key filestore.api_keys) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return (p_key).revoked_at is null and ((p_key).expires_at is null or (p_key).expires_at > clock_timestamp());
end
$$;
comment on function filestore.is_active is 'Whether a key is neither revoked nor expired.';
call filestore.grant_execute('filestore.is_active', 'filestore_account');

create function filestore.account_project(p_project_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('filestore.project_id', p_project_id::text, true);
  return (
    select jsonb_build_object(
      'id', p.id, 'name', p.name, 'tier', p.tier, 'createdAt', filestore.iso(p.created_at),
      'limits', jsonb_build_object(
        'requestsPerMinute', coalesce(p.requests_per_minute, t.requests_per_minute),
        'maxFileBytes', coalesce(p.max_file_bytes, t.max_file_bytes),
        'maxProjectBytes', coalesce(p.max_project_bytes, t.max_project_bytes)),
      'usage', jsonb_build_object(
        'files', (filestore.directory_counts(p.id, '')).subtree_file_count,
        'bytes', coalesce((select sum(u.bytes) from filestore.project_usage u where u.project_id = p.id), 0),
        'databaseBytes', coalesce((
          select sum(u.database_bytes) from filestore.project_usage u where u.project_id = p.id), 0),
        'versions', coalesce((select sum(u.versions) from filestore.project_usage u where u.project_id = p.id), 0),
        'requestsThisMinute', coalesce((
          select sum(w.request_count) from filestore.rate_windows w
          where w.project_id = p.id and w.window_start >= date_trunc('minute', clock_timestamp())), 0)),
      'keyPrefix', (
        select k.prefix from filestore.api_keys k where k.project_id = p.id and filestore.is_active(k)
        order by k.created_at desc, k.id limit 1))
    from filestore.projects p join filestore.tiers t on t.name = p.tier
    where p.id = p_project_id);
end
$$;
comment on function filestore.account_project is
  'A project with its limits in force and its usage. Opens its rows for the rest of the transaction.';
call filestore.grant_execute('filestore.account_project', 'filestore_account');

create function filestore.validation_refusal(p_issues jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return filestore.refusal('VALIDATION_ERROR', jsonb_build_object('issues', p_issues)); end $$;
comment on function filestore.validation_refusal is 'The refusal of parameters, [{"path", "reason"}].';
call filestore.grant_execute('filestore.validation_refusal', 'filestore_account');

create function filestore.validate_name(p_name text, p_minimum integer) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when not filestore.is_name(p_name, p_minimum) then filestore.validation_refusal(jsonb_build_array(
    jsonb_build_object('path', 'name', 'reason', format(
      'must have %s to %s characters, no control characters and no space at either end',
      p_minimum, (filestore.limits()).name_length_max)))) end;
end
$$;
comment on function filestore.validate_name is 'The refusal of an invalid name of a project or key, or null.';
call filestore.grant_execute('filestore.validate_name', 'filestore_account');

create function filestore.validate_key(p_key jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_time constant text := '^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$';
  v_scopes constant jsonb := case jsonb_typeof(p_key -> 'scopes') when 'array' then p_key -> 'scopes' else '[]' end;
  v_prefix constant text := p_key ->> 'pathPrefix';
  v_expires_at constant text := p_key ->> 'expiresAt';
  v_issues jsonb;
begin
  select jsonb_agg(jsonb_build_object('path', c.path, 'reason', c.reason)) into v_issues
  from (values
    ('keyHash', 'must be a SHA-256 in hexadecimal', p_key ->> 'keyHash' ~ '^[0-9a-f]{64}$'),
    ('prefix', 'must be the first characters of a key', p_key ->> 'prefix' ~ '^oa_[0-9A-Za-z]{7}$'),
    ('environment', 'must be development or production', p_key ->> 'environment' in ('development', 'production')),
    ('scopes', 'must be one or more of read, write and admin',
      v_scopes <> '[]' and v_scopes <@ '["read", "write", "admin"]'),
    ('pathPrefix', 'must be a directory', v_prefix is null or filestore.is_path(v_prefix)),
    ('pathPrefix', 'must not be combined with the scope admin', v_prefix is null or not v_scopes ? 'admin'),
    ('expiresAt', 'must lie in the future', v_expires_at is null
      or case when v_expires_at ~ c_time then v_expires_at::timestamptz > clock_timestamp() end)
  ) c (path, reason, holds)
  where c.holds is not true;
  return coalesce(filestore.validate_name(coalesce(p_key ->> 'name', ''), 0),
    case when v_issues is not null then filestore.validation_refusal(v_issues) end);
end
$$;
comment on function filestore.validate_key is
  'The refusal of an invalid key, or null: {"name", "environment", "scopes", "pathPrefix", "expiresAt", "keyHash", '
  '"prefix"}. The rules are those of the API, since whoever is signed in may call the functions below directly.';
call filestore.grant_execute('filestore.validate_key', 'filestore_account');

create function filestore.enter_account() returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_limit constant integer := (filestore.limits()).account_requests_per_minute;
  v_account_id constant uuid := filestore.current_account_id();
  v_minute constant timestamptz := date_trunc('minute', clock_timestamp());
  v_window timestamptz;
  v_count integer;
  v_rate jsonb;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  if v_account_id is null then return filestore.refusal('INVALID_SESSION'); end if;
  insert into filestore.account_windows as w (account_id, window_start, request_count)
  values (v_account_id, v_minute, 1)
  on conflict (account_id) do update
    set window_start = greatest(w.window_start, v_minute),
        request_count = case when w.window_start < v_minute then 1 else w.request_count + 1 end
    where w.window_start < v_minute or w.request_count < c_limit
  returning w.window_start, w.request_count into v_window, v_count;
  v_rate := jsonb_build_object('rate', jsonb_build_object(
    'limit', c_limit, 'remaining', c_limit - coalesce(v_count, c_limit),
    'reset', extract(epoch from coalesce(v_window, v_minute) + interval '1 minute')::bigint));
  return case when v_count is null then v_rate || filestore.refusal('RATE_LIMIT_EXCEEDED') else v_rate end;
end
$$;
comment on function filestore.enter_account is
  'What every call of an account begins with: whose it is, and one request more in the account''s minute. Returns '
  '{"rate"}, and a refusal: INVALID_SESSION, RATE_LIMIT_EXCEEDED.';
call filestore.grant_execute('filestore.enter_account', 'filestore_account');

-- Projects of an account ----------------------------------------------------------------------------------------------

create function filestore.is_project_maker(p_account_id uuid) returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  v_makers constant text[] := (select s.project_makers from filestore.settings s);
  v_email text;
begin
  if 'anyone' = any (v_makers) then return true; end if;
  if coalesce(cardinality(v_makers), 0) = 0 or to_regclass('auth.users') is null then return false; end if;
  -- An address that nobody has confirmed is anybody's.
  execute 'select lower(u.email) from auth.users u where u.id = $1 and u.email_confirmed_at is not null'
  into v_email using p_account_id;
  return coalesce(v_email = any (v_makers) or '@' || split_part(v_email, '@', 2) = any (v_makers), false);
end
$$;
comment on function filestore.is_project_maker is
  'Whether the operator lets this account make projects. Runs as the role that applies migrations, which may read '
  'auth.users.';
call filestore.grant_execute('filestore.is_project_maker', 'filestore_account');

create function filestore.create_project(p_name text, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_account_id constant uuid := filestore.current_account_id();
  v_limit constant integer := (filestore.limits()).account_projects_max;
  -- A version 4 UUID (RFC 9562) of account and id: an id that the caller chose tells nothing of others' projects.
  v_id constant uuid := overlay(
    overlay(md5(v_account_id || '/' || p_id) placing '4' from 13) placing '8' from 17)::uuid;
begin
  if exists (select from filestore.projects p where p.owner_id = v_account_id and p.id = v_id) then
    return jsonb_build_object('value', filestore.account_project(v_id));
  end if;
  if not filestore.is_project_maker(v_account_id) then
    return filestore.refusal('PROJECT_LIMIT_REACHED', '{"limit": 0}');
  end if;
  if (select count(*) from filestore.projects p where p.owner_id = v_account_id) >= v_limit then
    return filestore.refusal('PROJECT_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  insert into filestore.projects (id, owner_id, name, tier) values (v_id, v_account_id, p_name, 'free')
  on conflict (owner_id, name) do nothing;
  if not found then return filestore.refusal('PROJECT_NAME_TAKEN'); end if;
  return jsonb_build_object('value', filestore.account_project(v_id));
end
$$;
comment on function filestore.create_project is
  'A free project of the signed-in account; the one that an earlier attempt with this id created, if there is one. '
  'Callers hold the account''s lock, so that the limit is exact.';
call filestore.grant_execute('filestore.create_project', 'filestore_account');

create function filestore.lock_account() returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  perform pg_advisory_xact_lock(hashtextextended('account/' || filestore.current_account_id(), 0));
end
$$;
comment on function filestore.lock_account is 'Serializes the changes of an account''s projects.';
call filestore.grant_execute('filestore.lock_account', 'filestore_account');

create function public.filestore_account_projects() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  if not exists (select from filestore.projects p where p.owner_id = filestore.current_account_id()) then
    perform filestore.lock_account();
    perform filestore.create_project('My project', gen_random_uuid())
    where not exists (select from filestore.projects p where p.owner_id = filestore.current_account_id());
  end if;
  return v_entry || jsonb_build_object('value', (
    select coalesce(jsonb_agg(filestore.account_project(p.id) order by p.created_at, p.id), '[]')
    from filestore.projects p where p.owner_id = (select filestore.current_account_id())));
end
$$;
comment on function public.filestore_account_projects is
  'The account''s projects, oldest first. Creates the first one.';
call filestore.publish('public.filestore_account_projects', 'filestore_account', 'authenticated');

create function public.filestore_account_create_project(p_name text, p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  if not filestore.is_name(p_name, 1) then return v_entry || filestore.validate_name(p_name, 1); end if;
  perform filestore.lock_account();
  return v_entry || filestore.create_project(p_name, p_id);
end
$$;
comment on function public.filestore_account_create_project is
  'Creates a free project of the account, or returns the one that was created with this id, which is not the '
  'project''s. Refusals: PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_account_create_project', 'filestore_account', 'authenticated');

-- Keys of a project ---------------------------------------------------------------------------------------------------

create function filestore.create_key(p_project_id uuid, p_key jsonb, p_replaced_id uuid default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_key filestore.api_keys;
  v_limit constant integer := (filestore.limits()).project_keys_max;
  v_refusal constant jsonb := filestore.validate_key(p_key);
begin
  if v_refusal is not null then return v_refusal; end if;
  if (
    select count(*) from filestore.api_keys k
    where k.project_id = p_project_id and filestore.is_active(k) and k.id is distinct from p_replaced_id
  ) >= v_limit then
    return filestore.refusal('KEY_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  insert into filestore.api_keys (project_id, name, environment, scopes, path_prefix, expires_at, key_hash, prefix)
  values (
    p_project_id, coalesce(p_key ->> 'name', ''), p_key ->> 'environment',
    array(select distinct jsonb_array_elements_text(p_key -> 'scopes') order by 1), p_key ->> 'pathPrefix',
    (p_key ->> 'expiresAt')::timestamptz, decode(p_key ->> 'keyHash', 'hex'), p_key ->> 'prefix')
  returning * into v_key;
  return jsonb_build_object('value', filestore.account_key(v_key));
end
$$;
comment on function filestore.create_key is
  'Stores the hash of a new key. A key that it replaces immediately does not count towards the limit. Refusals: '
  'KEY_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.create_key', 'filestore_account');

create function filestore.repeated_key(p_project_id uuid, p_key jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_key filestore.api_keys;
begin
  -- Serialized, so that limits are exact and an earlier attempt has ended.
  perform pg_advisory_xact_lock(hashtextextended('keys/' || p_project_id, 0));
  select * into v_key from filestore.api_keys k
  where k.project_id = p_project_id and k.key_hash = decode(p_key ->> 'keyHash', 'hex');
  return case when found then jsonb_build_object('value', filestore.account_key(v_key) || jsonb_build_object(
    'replaced', (
      select filestore.account_key(k) from filestore.api_keys k
      where k.project_id = p_project_id and k.id = (p_key ->> 'id')::uuid))) end;
end
$$;
comment on function filestore.repeated_key is 'The key that an earlier attempt at this request created, or null.';
call filestore.grant_execute('filestore.repeated_key', 'filestore_account');

create function filestore.rotate_key(p_project_id uuid, p_key jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_old filestore.api_keys;
  v_new jsonb;
  v_grace_seconds constant integer := coalesce((p_key ->> 'gracePeriodSeconds')::integer, 0);
  v_is_immediate constant boolean := v_grace_seconds = 0;
begin
  if v_grace_seconds not between 0 and (filestore.limits()).key_grace_period_seconds_max then
    return filestore.validation_refusal('[{"path": "gracePeriodSeconds", "reason": "must be at most a week"}]');
  end if;
  select * into v_old from filestore.api_keys k
  where k.project_id = p_project_id and k.id = (p_key ->> 'id')::uuid for update;
  if not found then
    return filestore.refusal('KEY_NOT_FOUND');
  elsif not filestore.is_active(v_old) then
    return filestore.refusal('KEY_REVOKED');
  end if;
  v_new := filestore.create_key(p_project_id, filestore.account_key(v_old)
    || jsonb_build_object('keyHash', p_key -> 'keyHash', 'prefix', p_key -> 'prefix'),
    case when v_is_immediate then v_old.id end);
  if v_new ? 'refusal' then return v_new; end if;
  update filestore.api_keys k
  set revoked_at = case when v_is_immediate then clock_timestamp() end,
      expires_at = case when v_is_immediate then k.expires_at
        else least(k.expires_at, clock_timestamp() + make_interval(secs => v_grace_seconds)) end
  where k.project_id = p_project_id and k.id = v_old.id returning * into v_old;
  update filestore.links l
  set key_id = (v_new #>> '{value,id}')::uuid, key_hash = decode(p_key ->> 'keyHash', 'hex')
  where l.project_id = p_project_id and l.key_id = v_old.id;
  return jsonb_build_object('value', v_new -> 'value' || jsonb_build_object('replaced', filestore.account_key(v_old)));
end
$$;
comment on function filestore.rotate_key is
  'A new key in place of an active one, which is revoked immediately or expires after the grace period. Its links act '
  'as the new one. Refusals: '
  'KEY_NOT_FOUND, KEY_REVOKED, KEY_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.rotate_key', 'filestore_account');

create function filestore.revoke_key(p_project_id uuid, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_key filestore.api_keys;
begin
  update filestore.api_keys k set revoked_at = coalesce(k.revoked_at, clock_timestamp())
  where k.project_id = p_project_id and k.id = p_id returning * into v_key;
  return case when found then jsonb_build_object('value', filestore.account_key(v_key))
    else filestore.refusal('KEY_NOT_FOUND') end;
end
$$;
comment on function filestore.revoke_key is 'Revokes a key immediately. Refusals: KEY_NOT_FOUND.';
call filestore.grant_execute('filestore.revoke_key', 'filestore_account');

-- One project ---------------------------------------------------------------------------------------------------------

create function filestore.latest_writes(p_project_id uuid, p_limit integer) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- The latest n versions belong to the n files that changed last, so no order over all versions is needed.
  return (
    select coalesce(jsonb_agg(w.write order by w.created_at desc, w.path desc, w.version desc), '[]')
    from (
      select v.created_at, f.path, v.version, jsonb_strip_nulls(jsonb_build_object(
        'fileId', f.id, 'path', f.path, 'version', v.version, 'size', v.size, 'mimeType', v.mime_type,
        'deleted', nullif(v.is_deleted, false), 'createdAt', filestore.iso(v.created_at)))
        || jsonb_build_object('keyId', v.key_id) as write
      from (
        select c.* from (
          (select l.id, l.path, l.updated_at from filestore.files l
           where l.project_id = p_project_id and not l.is_deleted order by l.updated_at desc, l.path desc limit p_limit)
          union all
          (select d.id, d.path, d.updated_at from filestore.files d
           where d.project_id = p_project_id and d.is_deleted order by d.updated_at desc, d.path desc limit p_limit)
        ) c
        order by c.updated_at desc, c.path desc limit p_limit
      ) f
      cross join lateral (
        select v.* from filestore.file_versions v
        where v.project_id = p_project_id and v.file_id = f.id order by v.version desc limit p_limit
      ) v
      order by v.created_at desc, f.path desc, v.version desc limit p_limit
    ) w);
end
$$;
comment on function filestore.latest_writes is 'The latest versions of a project''s files, newest first.';
call filestore.grant_execute('filestore.latest_writes', 'filestore_account');

create function filestore.administer(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key_id uuid;
  v_repeated jsonb;
begin
  if p_project_id is distinct from nullif(current_setting('filestore.project_id', true), '')::uuid then
    raise exception 'the project was not opened';
  end if;
  if p_parameters ? 'keyHash' then
    v_repeated := filestore.repeated_key(p_project_id, p_parameters);
    if v_repeated is not null then return v_repeated; end if;
  end if;
  case p_action
    when 'project' then
      return jsonb_build_object('value', filestore.account_project(p_project_id));
    when 'rename' then
      if filestore.validate_name(p_parameters ->> 'name', 1) is not null then
        return filestore.validate_name(p_parameters ->> 'name', 1);
      end if;
      begin
        update filestore.projects p set name = p_parameters ->> 'name' where p.id = p_project_id;
      exception when unique_violation then
        return filestore.refusal('PROJECT_NAME_TAKEN');
      end;
      return jsonb_build_object('value', filestore.account_project(p_project_id));
    when 'keys' then
      return jsonb_build_object('value', (
        select coalesce(jsonb_agg(filestore.account_key(k) order by k.created_at desc, k.id), '[]')
        from filestore.api_keys k where k.project_id = p_project_id));
    when 'create_key' then
      return filestore.create_key(p_project_id, p_parameters);
    when 'rotate_key' then
      return filestore.rotate_key(p_project_id, p_parameters);
    when 'regenerate_key' then
      select k.id into v_key_id from filestore.api_keys k
      where k.project_id = p_project_id and filestore.is_active(k) order by k.created_at desc, k.id limit 1;
      if found then
        return filestore.rotate_key(p_project_id, p_parameters || jsonb_build_object('id', v_key_id));
      end if;
      return filestore.create_key(
        p_project_id, p_parameters || '{"environment": "development", "scopes": ["read", "write"]}');
    when 'revoke_key' then
      return filestore.revoke_key(p_project_id, (p_parameters ->> 'id')::uuid);
    when 'activity' then
      return jsonb_build_object('value', filestore.latest_writes(
        p_project_id, least(greatest((p_parameters ->> 'limit')::integer, 1), (filestore.limits()).page_limit_max)));
  end case;
end
$$;
comment on function filestore.administer is
  'What can be done with an opened project, by its owner and by keys with the scope admin: project, rename, keys, '
  'create_key, rotate_key, regenerate_key, revoke_key, activity.';
call filestore.publish('filestore.administer', 'filestore_account', 'filestore_engine');

create function public.filestore_administer(
  p_key_hash text, p_request_id uuid, p_action text, p_parameters jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, case p_action when 'project' then null when 'activity' then 'read' else 'admin' end);
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if v_session.path_prefix is not null then return v_session.envelope || filestore.outside_prefix(v_session); end if;
  return v_session.envelope || filestore.administer(v_session.project_id, p_action, p_parameters);
end
$$;
comment on function public.filestore_administer is
  'filestore.administer for a key: project without a scope, activity with the scope read, everything else with the '
  'scope admin. Nothing for a key with a path prefix, which does not see the whole project.';
call filestore.publish('public.filestore_administer', 'filestore_engine', 'service_role');

create function filestore.open_own_project(p_project_id uuid) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id uuid;
begin
  perform set_config('filestore.project_id', '', true);
  select p.id into v_project_id from filestore.projects p
  where p.owner_id = (select filestore.current_account_id()) and (p_project_id is null or p.id = p_project_id)
  order by p.created_at, p.id limit 1;
  perform set_config('filestore.project_id', coalesce(v_project_id::text, ''), true);
  return v_project_id;
end
$$;
comment on function filestore.open_own_project is
  'Opens a project of the signed-in account for the rest of the transaction, by default its oldest; null where it has '
  'no such project.';
call filestore.grant_execute('filestore.open_own_project', 'filestore_account');

create function public.filestore_account_administer(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_project_id uuid;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  v_project_id := filestore.open_own_project(p_project_id);
  if v_project_id is null then return v_entry || filestore.refusal('PROJECT_NOT_FOUND'); end if;
  if p_action not in ('project', 'keys', 'revoke_key')
    and exists (select from filestore.projects p where p.id = v_project_id and p.suspended_at is not null) then
    return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  end if;
  return v_entry || filestore.administer(v_project_id, p_action, p_parameters);
end
$$;
comment on function public.filestore_account_administer is
  'filestore.administer for the owner of the project. Of a suspended project the owner sees limits, usage and keys, '
  'and may revoke keys. Refusals: PROJECT_NOT_FOUND, FORBIDDEN_SCOPE, and those of the action.';
call filestore.publish('public.filestore_account_administer', 'filestore_account', 'authenticated');

create function public.filestore_account_session(p_project_id uuid, p_token_hash text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_project_id uuid;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  v_project_id := filestore.open_own_project(p_project_id);
  if v_project_id is null then return v_entry || filestore.refusal('PROJECT_NOT_FOUND'); end if;
  insert into filestore.console_sessions as s (project_id, account_id, token_hash, expires_at)
  values (
    v_project_id, filestore.current_account_id(), decode(p_token_hash, 'hex'),
    clock_timestamp() + make_interval(secs => (filestore.limits()).console_session_seconds))
  on conflict (project_id) do update
    set account_id = excluded.account_id, token_hash = excluded.token_hash, expires_at = excluded.expires_at;
  return v_entry || jsonb_build_object('value', v_project_id);
end
$$;
comment on function public.filestore_account_session is
  'Lets the console''s token stand in for a key of the project, for a limited time. Refusals: PROJECT_NOT_FOUND.';
call filestore.publish('public.filestore_account_session', 'filestore_account', 'authenticated');
-- 70_operator.sql ====================================================================================================
-- Projects and keys, for the operator's command line. Only the secret key may call these. They return a record, or
-- {"error": code, "message": text}.

create function filestore.find_account(p_account text, out id uuid, out email text)
language plpgsql stable security definer set search_path = '' as $$
begin
  if to_regclass('auth.users') is not null then
    execute 'select u.id, u.email from auth.users u where u.id::text = lower($1) or lower(u.email) = lower($1)'
    into id, email using p_account;
  end if;
end
$$;
comment on function filestore.find_account is
  'The account with this id or e-mail address, or nulls. Runs as the role that applies migrations, which may read '
  'auth.users.';
call filestore.grant_execute('filestore.find_account', 'filestore_admin');

create function filestore.find_owner(p_account text, out id uuid, out problem text)
language plpgsql stable security definer set search_path = '' as $$
declare
  v_is_id constant boolean := p_account ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
  v_ids uuid[];
begin
  if to_regclass('auth.users') is not null then
    v_ids := array(
      select u.id from auth.users u
      where u.deleted_at is null and case when v_is_id then u.id::text = lower(p_account)
        else lower(u.email) = lower(p_account) end
      order by u.created_at, u.id);
  end if;
  problem := case
    when coalesce(cardinality(v_ids), 0) = 0 then 'There is no account %s; accounts are created in the console.'
    when cardinality(v_ids) > 1 then format(
      'Several accounts have the address %%s; give the id of one: %s.', array_to_string(v_ids, ', '))
    else (
      select case
        when u.is_anonymous then 'The account %s is anonymous.'
        when u.banned_until > clock_timestamp() then 'The account %s is banned.'
        when u.email_confirmed_at is null and not v_is_id then
          'The account %s has not confirmed its address, so it may be anybody''s.' end
      from auth.users u where u.id = v_ids[1]) end;
  problem := format(problem, quote_literal(p_account));
  if problem is null then id := v_ids[1]; end if;
end
$$;
comment on function filestore.find_owner is
  'The account with this id or confirmed e-mail address, or why there is none that may own a project.';
call filestore.grant_execute('filestore.find_owner', 'filestore_admin');

create function filestore.project_record(p_project filestore.projects) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', (p_project).id, 'name', (p_project).name, 'tier', (p_project).tier,
    'requestsPerMinute', coalesce((p_project).requests_per_minute, t.requests_per_minute),
    'maxFileBytes', coalesce((p_project).max_file_bytes, t.max_file_bytes),
    'maxProjectBytes', coalesce((p_project).max_project_bytes, t.max_project_bytes),
    'ownerId', (p_project).owner_id,
    'owner', (select a.email from filestore.find_account((p_project).owner_id::text) a),
    'createdAt', filestore.iso((p_project).created_at), 'suspendedAt', filestore.iso((p_project).suspended_at))
  from filestore.tiers t where t.name = (p_project).tier;
end
$$;
comment on function filestore.project_record is 'A project with the limits in force and its owner''s e-mail address.';
call filestore.grant_execute('filestore.project_record', 'filestore_admin');

create function filestore.key_record(p_key filestore.api_keys) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name, 'scopes', (p_key).scopes,
    'pathPrefix', (p_key).path_prefix, 'project', jsonb_build_object('id', p.id, 'name', p.name),
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at))
  from filestore.projects p where p.id = (p_key).project_id;
end
$$;
comment on function filestore.key_record is 'A key without its hash.';
call filestore.grant_execute('filestore.key_record', 'filestore_admin');

create function filestore.error(p_code text, p_message text) returns jsonb
language plpgsql immutable set search_path = ''
as $$ begin return jsonb_build_object('error', p_code, 'message', p_message); end $$;
comment on function filestore.error is 'An error of the administration.';
call filestore.grant_execute('filestore.error', 'filestore_admin');

create function public.filestore_admin_find_project(p_project text, p_owner text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_owner_id uuid;
  v_problem text;
  v_project filestore.projects;
  v_others text;
begin
  select * into v_project from filestore.projects p where p.id::text = lower(p_project);
  if p_owner is not null then
    select o.id, o.problem into v_owner_id, v_problem from filestore.find_owner(p_owner) o;
  end if;
  if v_project.id is null and v_problem is not null then
    return filestore.error('ACCOUNT_REFUSED', v_problem);
  elsif v_project.id is null then
    select * into v_project from filestore.projects p
    where p.name = p_project and p.owner_id is not distinct from v_owner_id;
  end if;
  if v_project.id is not null then return filestore.project_record(v_project); end if;
  select string_agg(format('%s (%s)', o.id, coalesce(a.email, o.owner_id::text, 'no owner')), ', ') into v_others
  from (select * from filestore.projects p where p.name = p_project order by p.created_at, p.id limit 10) o
  left join lateral filestore.find_account(o.owner_id::text) a on true;
  return case when v_others is null
    then filestore.error('PROJECT_NOT_FOUND', format('There is no project %s.', quote_literal(p_project)))
    else filestore.error('PROJECT_AMBIGUOUS', format(
      'Others have a project %s; give its id, or its owner with --owner: %s.', quote_literal(p_project), v_others)) end;
end
$$;
comment on function public.filestore_admin_find_project is
  'The project with this id; else the one with this name of the account p_owner, or without it of the operator, which '
  'is a project that no account owns. Errors: ACCOUNT_REFUSED, PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS.';
call filestore.publish('public.filestore_admin_find_project', 'filestore_admin', 'service_role');

create function filestore.invalid_name(p_name text) returns jsonb
language sql stable set search_path = '' as $$
  select filestore.error(
    'INVALID_NAME', 'A project name has 1 to 100 characters, no control characters and no space at either end.')
  where not filestore.is_name(p_name, 1)
$$;
comment on function filestore.invalid_name is 'The error of an invalid name of a project, or null.';
call filestore.grant_execute('filestore.invalid_name', 'filestore_admin');

create function public.filestore_admin_create_project(p_name text, p_tier text, p_id uuid default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_id constant uuid := coalesce(p_id, gen_random_uuid());
  v_project filestore.projects;
begin
  if filestore.invalid_name(p_name) is not null then return filestore.invalid_name(p_name); end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  insert into filestore.projects (id, name, tier) values (v_id, p_name, p_tier) on conflict do nothing;
  select * into v_project from filestore.projects p where p.id = v_id;
  if not found then
    return filestore.error('NAME_TAKEN', format('A project %s already exists.', quote_literal(p_name)));
  end if;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_create_project is
  'Creates a project, or returns the one that has this id. Errors: INVALID_NAME, UNKNOWN_TIER, NAME_TAKEN.';
call filestore.publish('public.filestore_admin_create_project', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_projects() returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object(
    'projects', coalesce(jsonb_agg(filestore.project_record(p) order by p.created_at, p.id), '[]'))
  from filestore.projects p
$$;
comment on function public.filestore_admin_list_projects is 'All projects, oldest first.';
call filestore.publish('public.filestore_admin_list_projects', 'filestore_admin', 'service_role');

create function public.filestore_admin_update_project(p_id uuid, p_changes jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project filestore.projects;
  v_account_id uuid;
  v_problem text;
begin
  if p_changes ? 'owner' then
    select o.id, o.problem into v_account_id, v_problem from filestore.find_owner(p_changes ->> 'owner') o;
  end if;
  if p_changes ? 'name' and filestore.invalid_name(p_changes ->> 'name') is not null then
    return filestore.invalid_name(p_changes ->> 'name');
  elsif v_problem is not null then
    return filestore.error('ACCOUNT_REFUSED', v_problem);
  elsif p_changes ? 'tier' and not exists (select from filestore.tiers t where t.name = p_changes ->> 'tier') then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  update filestore.projects p
  set name = coalesce(p_changes ->> 'name', p.name), owner_id = coalesce(v_account_id, p.owner_id),
      suspended_at = case p_changes ->> 'isSuspended'
        when 'true' then coalesce(p.suspended_at, clock_timestamp()) when 'false' then null else p.suspended_at end
  where p.id = p_id returning * into v_project;
  if not found then return filestore.error('PROJECT_NOT_FOUND', 'There is no project with this id.'); end if;
  if p_changes ? 'owner' or p_changes ? 'tier' then
    -- Its next commit without room is granted a share anew, of the quota that it has by then.
    delete from filestore.account_grants g where g.project_id = p_id;
  end if;
  if p_changes ? 'tier' then
    update filestore.projects p
    set tier = p_changes ->> 'tier', requests_per_minute = (p_changes ->> 'requestsPerMinute')::integer,
        max_file_bytes = (p_changes ->> 'maxFileBytes')::bigint,
        max_project_bytes = (p_changes ->> 'maxProjectBytes')::bigint
    where p.id = p_id returning * into v_project;
  end if;
  return filestore.project_record(v_project);
exception
  when check_violation then return filestore.error('INVALID_LIMIT', 'A limit is a whole number from 1.');
  when unique_violation then
    return filestore.error('NAME_TAKEN', 'The owner has another project with this name; rename one of them.');
end
$$;
comment on function public.filestore_admin_update_project is
  'Changes of a project what is given: name; owner (id or e-mail address); isSuspended; tier, with limits of its own '
  'requestsPerMinute, maxFileBytes, maxProjectBytes (absent: those of the tier). Errors: PROJECT_NOT_FOUND, '
  'INVALID_NAME, ACCOUNT_REFUSED, UNKNOWN_TIER, INVALID_LIMIT, NAME_TAKEN.';
call filestore.publish('public.filestore_admin_update_project', 'filestore_admin', 'service_role');

create function public.filestore_admin_settings(p_changes jsonb default '{}') returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_makers constant text[] := case when jsonb_typeof(p_changes -> 'projectMakers') = 'array' then array(
    select distinct lower(m.value) from jsonb_array_elements_text(p_changes -> 'projectMakers') m order by 1) end;
  v_refused text;
begin
  select m.maker into v_refused from unnest(v_makers) m (maker)
  where m.maker <> 'anyone' and m.maker !~ '^[^@[:space:][:cntrl:]]*@[^@[:space:][:cntrl:]]+$' limit 1;
  if v_refused is not null then
    return filestore.error('INVALID_MAKER', format(
      '%s is neither "anyone" nor an e-mail address or a domain like @example.com.', quote_literal(v_refused)));
  end if;
  update filestore.settings s
  set project_makers = case when p_changes ? 'projectMakers' then v_makers else s.project_makers end,
      account_bytes = case when p_changes ? 'accountBytes' then (p_changes ->> 'accountBytes')::bigint
        else s.account_bytes end
  where p_changes ?| array['projectMakers', 'accountBytes'];
  return (
    select jsonb_build_object('projectMakers', s.project_makers, 'accountBytes', s.account_bytes)
    from filestore.settings s);
exception
  when check_violation then return filestore.error('INVALID_LIMIT', 'A limit is a whole number from 1.');
end
$$;
comment on function public.filestore_admin_settings is
  'Changes of the installation''s settings what is given, and returns them: projectMakers (["anyone"], addresses and '
  'domains, [] for none, null for undecided), accountBytes (null: no quota). Errors: INVALID_MAKER, INVALID_LIMIT.';
call filestore.publish('public.filestore_admin_settings', 'filestore_admin', 'service_role');

create function public.filestore_admin_create_key(
  p_project_id uuid, p_name text, p_key_hash text, p_prefix text, p_expires_at timestamptz default null,
  p_scopes text[] default '{read,write}', p_path_prefix text default null, p_grace_seconds integer default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key filestore.api_keys;
begin
  if not filestore.is_name(coalesce(p_name, ''), 0) then
    return filestore.error(
      'INVALID_NAME', 'A key''s name has at most 100 characters, no control characters and no space at either end.');
  end if;
  insert into filestore.api_keys (project_id, name, key_hash, prefix, expires_at, scopes, path_prefix)
  values (
    p_project_id, coalesce(p_name, ''), decode(p_key_hash, 'hex'), p_prefix, p_expires_at, p_scopes, p_path_prefix)
  returning * into v_key;
  update filestore.api_keys k
  set expires_at = least(k.expires_at, clock_timestamp() + make_interval(secs => p_grace_seconds))
  where p_grace_seconds is not null and k.project_id = p_project_id and k.name = v_key.name and k.id <> v_key.id
    and k.revoked_at is null;
  return filestore.key_record(v_key);
exception
  when foreign_key_violation then
    return filestore.error('PROJECT_NOT_FOUND', 'There is no project with this id.');
  when check_violation then
    return filestore.error('INVALID_KEY', 'Scopes are read, write, admin; a key with a path prefix cannot have admin.');
end
$$;
comment on function public.filestore_admin_create_key is
  'Stores the hash of a new key. With a grace period, the other keys of its name expire when it ends. Errors: '
  'PROJECT_NOT_FOUND, INVALID_NAME, INVALID_KEY.';
call filestore.publish('public.filestore_admin_create_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_keys(p_project_id uuid default null) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object('keys', coalesce(jsonb_agg(filestore.key_record(k) order by k.created_at, k.id), '[]'))
  from filestore.api_keys k where p_project_id is null or k.project_id = p_project_id
$$;
comment on function public.filestore_admin_list_keys is 'All keys, of one project if given, oldest first.';
call filestore.publish('public.filestore_admin_list_keys', 'filestore_admin', 'service_role');

create function public.filestore_admin_revoke_key(p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key filestore.api_keys;
begin
  update filestore.api_keys k set revoked_at = coalesce(k.revoked_at, clock_timestamp())
  where k.id = p_id returning * into v_key;
  if not found then return filestore.error('KEY_NOT_FOUND', 'There is no key with this id.'); end if;
  return filestore.key_record(v_key);
end
$$;
comment on function public.filestore_admin_revoke_key is 'Revokes a key immediately. Errors: KEY_NOT_FOUND.';
call filestore.publish('public.filestore_admin_revoke_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_rotate_key(
  p_id uuid, p_key_hash text, p_prefix text, p_grace_seconds integer default 0
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_old filestore.api_keys;
  v_new filestore.api_keys;
begin
  select * into v_old from filestore.api_keys k where k.id = p_id for update;
  if not found then return filestore.error('KEY_NOT_FOUND', 'There is no key with this id.'); end if;
  if v_old.revoked_at is not null then
    return filestore.error('KEY_REVOKED', 'The key is revoked; create a new one.');
  end if;
  insert into filestore.api_keys (project_id, name, environment, scopes, path_prefix, key_hash, prefix, expires_at)
  values (
    v_old.project_id, v_old.name, v_old.environment, v_old.scopes, v_old.path_prefix, decode(p_key_hash, 'hex'),
    p_prefix, v_old.expires_at)
  returning * into v_new;
  update filestore.api_keys k
  set revoked_at = case when p_grace_seconds = 0 then clock_timestamp() end,
      expires_at = least(k.expires_at, clock_timestamp() + make_interval(secs => nullif(p_grace_seconds, 0)))
  where k.id = p_id;
  update filestore.links l set key_id = v_new.id, key_hash = v_new.key_hash where l.key_id = p_id;
  return filestore.key_record(v_new);
end
$$;
comment on function public.filestore_admin_rotate_key is
  'Replaces a key by a new one with the same name, rights and expiry; the old one is revoked immediately, or expires '
  'after the grace period. Errors: KEY_NOT_FOUND, KEY_REVOKED.';
call filestore.publish('public.filestore_admin_rotate_key', 'filestore_admin', 'service_role');
-- 71_sweep.sql =======================================================================================================
-- Garbage collection: finding uploads that no commit ever referenced, so that the edge function can remove them.
--
-- Objects are named {project_id}/{yyyymmdd}/{segment_id}. A day is swept once it has been over for a day. Commits
-- refuse segments of such days, so an object without a row never gets one.

create function filestore.prune_keys() returns void
language sql volatile set search_path = '' as $$
  with ended as materialized (
    select k.id from filestore.api_keys k
    where k.key_hash is not null and least(k.revoked_at, k.expires_at)
      < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_keys_kept_days)
    order by least(k.revoked_at, k.expires_at) limit (filestore.limits()).ended_keys_pruned_at_once
    for update skip locked
  ), removed as (
    delete from filestore.api_keys k using ended e
    where k.id = e.id and not exists (select from filestore.file_versions v where v.key_id = k.id)
    returning k.id
  )
  update filestore.api_keys k set key_hash = null, prefix = ''
  from ended e where k.id = e.id and k.id not in (select r.id from removed r)
$$;
comment on function filestore.prune_keys is
  'Removes keys that ended long ago, some at a time. Of one that versions name, id and name stay.';
call filestore.grant_execute('filestore.prune_keys', 'filestore_admin');

create function filestore.prune_links() returns void
language sql volatile set search_path = '' as $$
  with ended as materialized (
    select l.id from filestore.links l
    where l.expires_at < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_links_kept_days)
    order by l.expires_at limit (filestore.limits()).ended_links_pruned_at_once for update skip locked
  ), removed as (
    delete from filestore.links l using ended e where l.id = e.id returning l.project_id, l.id
  )
  delete from filestore.link_windows w using removed r where w.project_id = r.project_id and w.link_id = r.id
$$;
comment on function filestore.prune_links is 'Removes links that expired long ago, some at a time.';
call filestore.grant_execute('filestore.prune_links', 'filestore_admin');

create function public.filestore_sweep_next() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- An hour after commits begin to refuse a day: a commit that was accepted before that has ended by now.
  v_through constant date := ((filestore.sweep_clock() - interval '1 hour') at time zone 'UTC')::date - 2;
  v_next jsonb;
begin
  perform filestore.prune_keys(), filestore.prune_links();
  select jsonb_build_object(
    'projectId', p.id, 'through', v_through, 'sweptThrough', s.swept_through, 'day', s.day, 'kept', coalesce(s.kept, 0))
  into v_next
  from filestore.projects p left join filestore.sweeps s on s.project_id = p.id
  where s.swept_through is null or s.swept_through < v_through
  order by s.swept_through nulls first, p.id
  limit 1;
  return v_next;
end
$$;
comment on function public.filestore_sweep_next is
  'The project whose sweep is furthest behind, and how far it has come; null where there is nothing to do. Removes '
  'some keys and links that ended long ago on the way.';
call filestore.publish('public.filestore_sweep_next', 'filestore_admin', 'service_role');

create function public.filestore_sweep_unreferenced(p_project_id uuid, p_ids uuid[]) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select coalesce(jsonb_agg(i.id), '[]') from unnest(p_ids) i (id)
  where not exists (select from filestore.segments s where s.id = i.id and s.project_id = p_project_id)
$$;
comment on function public.filestore_sweep_unreferenced is
  'Those of the segment ids that have no row. Only called for days whose segments commits refuse.';
call filestore.publish('public.filestore_sweep_unreferenced', 'filestore_admin', 'service_role');

create function public.filestore_sweep_progress(
  p_project_id uuid, p_swept_through date, p_day date default null, p_kept integer default 0
) returns void
language sql volatile security definer set search_path = '' as $$
  insert into filestore.sweeps as s (project_id, swept_through, day, kept)
  values (p_project_id, p_swept_through, p_day, p_kept)
  on conflict (project_id) do update
    set swept_through = greatest(s.swept_through, excluded.swept_through), day = excluded.day, kept = excluded.kept
$$;
comment on function public.filestore_sweep_progress is 'Records how far the sweep of a project has come.';
call filestore.publish('public.filestore_sweep_progress', 'filestore_admin', 'service_role');
-- 72_health.sql ======================================================================================================
-- Health: whether the database takes a write and a read.
create table filestore.health (
  is_only boolean primary key default true check (is_only),
  probed_at timestamptz not null
);
comment on table filestore.health is 'One row, updated in place: what GET /health?deep writes.';
alter table filestore.health enable row level security;
grant select, insert, update on filestore.health to filestore_admin;
create policy admin_all on filestore.health to filestore_admin using (true) with check (true);
create function public.filestore_health_probe() returns boolean
language sql volatile security definer set search_path = '' as $$
  insert into filestore.health (probed_at) values (clock_timestamp())
  on conflict (is_only) do update set probed_at = excluded.probed_at returning true
$$;
comment on function public.filestore_health_probe is
  'Writes and reads one row; fails where the database does not take it.';
call filestore.publish('public.filestore_health_probe', 'filestore_admin', 'service_role');
-- 80_search_index.sql ================================================================================================
-- The search index: text of one version of each file. A search shows it only while that version is the current one.
--
-- A trigger queues each new version, in the transaction of its commit. The edge function claims files from the queue,
-- reads their bytes, and stores text and chunks, later the chunks' embeddings.

create function filestore.search_split(p_text text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return translate(p_text, '<&~/.@_+-', ',,,,,,,,,');
end
$$;
comment on function filestore.search_split is
  'The text with a comma for each character at which Postgres''s parser of text search looks ahead: for hosts, '
  'addresses, paths, numbers, hyphens and tags. It may look to the end of the text from each of them, which takes '
  'quadratic time. Texts and queries are split alike.';
call filestore.grant_execute('filestore.search_split', 'filestore_engine', 'filestore_search');

create function filestore.search_words(p_path text, p_content text) returns tsvector
language plpgsql stable set search_path = '' as $$
declare
  v_content constant text := filestore.search_split(p_content);
  v_length integer := length(v_content);
  -- `src/rateLimit.ts` is found by rate, limit, src and ts.
  v_path constant text := regexp_replace(
    regexp_replace(p_path, '([a-z0-9])([A-Z])', '\1 \2', 'g'), '[^[:alnum:]]+', ' ', 'g');
begin
  loop
    begin
      return setweight(to_tsvector('pg_catalog.english', v_path), 'A')
        || setweight(to_tsvector('pg_catalog.english', left(v_content, v_length)), 'D');
    exception when program_limit_exceeded then
      -- A tsvector holds 1 MB of distinct words; of a text with more of them only the beginning is indexed.
      v_length := v_length / 2;
    end;
  end loop;
end
$$;
comment on function filestore.search_words is
  'The words of a file for full-text search: those of its path, which weigh most, and those of its text.';
call filestore.grant_execute('filestore.search_words', 'filestore_search');

create function filestore.search_turn(
  p_stage integer, p_after uuid, p_projects integer, p_now timestamptz, out projects uuid[], out last uuid
)
language plpgsql stable set search_path = '' as $$
declare
  v_start constant uuid := coalesce(p_after, gen_random_uuid());
  v_project_id uuid := v_start;
  v_due_at timestamptz;
  v_is_wrapped boolean := false;
begin
  projects := '{}';
  -- One probe of the index for each project, however many files it has waiting.
  for v_probe in 1 .. (filestore.limits()).search_turn_projects_max loop
    select q.project_id, q.due_at into v_project_id, v_due_at from filestore.search_queue q
    where q.stage = p_stage and q.project_id > v_project_id order by q.project_id, q.due_at limit 1;
    if not found and not v_is_wrapped then
      v_is_wrapped := true;
      select q.project_id, q.due_at into v_project_id, v_due_at from filestore.search_queue q
      where q.stage = p_stage order by q.project_id, q.due_at limit 1;
    end if;
    if v_project_id is null or v_is_wrapped and v_project_id > v_start then return; end if;
    if v_due_at <= p_now then projects := projects || v_project_id; end if;
    exit when cardinality(projects) = p_projects;
  end loop;
  last := v_project_id;
end
$$;
comment on function filestore.search_turn is
  'The projects whose turn it is: those with a file due, at most so many, in the order of their ids from the one after '
  'p_after, round and round. Where there may be more, also the last one that was looked at.';
call filestore.grant_execute('filestore.search_turn', 'filestore_search');

create function public.filestore_search_claim(
  p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer,
  p_model text default null, p_after uuid default null, p_claim_bytes bigint default null,
  p_is_light boolean default false
) returns jsonb
language plpgsql volatile security definer set search_path = ''
-- fence: the queue is mostly empty, so a plan that was made then would read all of it when it is long.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_claim_id constant uuid := gen_random_uuid();
  v_projects uuid[];
  v_after uuid;
  v_claim_bytes constant bigint := coalesce(p_claim_bytes, p_bytes);
  v_project_ids uuid[];
  v_file_ids uuid[];
  v_claimed jsonb;
  v_next_due bigint;
  v_debounce constant interval := (filestore.limits()).reindex_debounce_milliseconds * interval '1 millisecond';
  v_debounce_per_byte constant interval :=
    (filestore.limits()).reindex_debounce_microseconds_per_byte * interval '1 microsecond';
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  select t.projects, t.last into v_projects, v_after from filestore.search_turn(p_stage, p_after, p_files, v_now) t;
  with due as materialized (
    select w.place, q.*
    from unnest(v_projects) with ordinality w (id, place)
    cross join lateral (
      select q.project_id, q.file_id, q.bytes, q.due_at, q.attempts, q.claimed_at
      from filestore.search_queue q
      where q.stage = p_stage and q.project_id = w.id and q.due_at <= v_now
      order by q.due_at limit p_files / greatest(cardinality(v_projects), 1) for update of q skip locked
    ) q
  ), eligible as (
    select d.*, case when p_stage = 1 and d.bytes <= p_bytes
             then greatest(t.indexed_at, d.claimed_at) + v_debounce + d.bytes * v_debounce_per_byte end as eligible_at
    from due d left join filestore.search_texts t on t.project_id = d.project_id and t.file_id = d.file_id
  ), deferred as (
    update filestore.search_queue q set due_at = e.eligible_at, claim_id = null
    from eligible e
    where q.project_id = e.project_id and q.file_id = e.file_id and e.eligible_at > v_now
  ), dealt as (
    -- Files that are too large to be indexed count as 0 bytes.
    select e.project_id, e.file_id, e.place, e.attempts, case when e.bytes > p_bytes then 0 else e.bytes end as bytes,
           row_number() over (partition by e.place order by e.due_at, e.file_id) as round
    from eligible e
    where (e.eligible_at is null or e.eligible_at <= v_now)
      and not (p_is_light and e.bytes between v_claim_bytes + 1 and p_bytes)
  ), ranked as (
    select d.*, row_number() over (order by d.round, d.place) = 1 as is_first,
           first_value(d.attempts) over (order by d.round, d.place) > 0 as is_retry
    from dealt d
  ), taken as (
    -- The first one always. One that was tried before is taken alone, since it may fail again; otherwise others come
    -- along while they fit, small ones first.
    select r.project_id, r.file_id, r.place, r.is_first or not r.is_retry and r.attempts = 0 and
             sum(r.bytes) filter (where r.attempts = 0 and not r.is_first)
               over (order by r.round, r.bytes, r.place rows unbounded preceding) <= v_claim_bytes as is_taken
    from ranked r
  ), claimed as (
    update filestore.search_queue q
    -- Each attempt that is not finished doubles the wait for the next one.
    set claim_id = v_claim_id, claimed_at = v_now, attempts = q.attempts + 1,
        due_at = v_now + p_lease_seconds * power(2, least(q.attempts, 10)) * interval '1 second'
    from taken t
    where q.project_id = t.project_id and q.file_id = t.file_id and t.is_taken
    returning q.project_id, q.file_id
  )
  select array_agg(c.project_id), array_agg(c.file_id),
    -- The next claim begins with the first project that got nothing now, else with the next one.
    coalesce(
      (select v_projects[min(u.place) - 1] from (
        select t.place from taken t group by t.place having not bool_or(t.is_taken)) u),
      v_after, v_projects[1])
  into v_project_ids, v_file_ids, v_after from claimed c;
  -- A separate statement, for a new snapshot: the rows locked above may be newer than the snapshot of their statement,
  -- and files read in it would be older. No commit can come in between: it would wait for the queue's row.
  select jsonb_agg(jsonb_build_object(
    'projectId', c.project_id, 'fileId', c.file_id, 'version', c.version, 'path', f.path, 'mimeType', f.mime_type,
    'size', f.size, 'isDeleted', f.is_deleted, 'tries', c.attempts,
    'segments', case when p_stage = 1 and not f.is_deleted and f.size <= p_bytes
      then filestore.segment_list(c.project_id, f.segment_ids) else '[]'::jsonb end,
    'chunks', case when p_stage = 2 then (
      select coalesce(jsonb_agg(
        jsonb_build_object('hash', k.hash, 'text', substr(t.content, k.start + 1, k.length))), '[]')
      from (
        select k.hash, k.start, k.length from filestore.search_chunks k
        where k.project_id = c.project_id and k.file_id = c.file_id and k.version = c.version
          and k.model is distinct from p_model
        order by k.start limit greatest(p_chunks / cardinality(v_file_ids), 1)
      ) k join filestore.search_texts t on t.project_id = c.project_id and t.file_id = c.file_id
    ) else '[]'::jsonb end))
  into v_claimed
  from unnest(v_project_ids, v_file_ids) i (project_id, file_id)
  join filestore.search_queue c on c.project_id = i.project_id and c.file_id = i.file_id
  join filestore.files f on f.project_id = c.project_id and f.id = c.file_id;
  select greatest(extract(epoch from q.due_at - clock_timestamp()) * 1000, 0)::bigint into v_next_due
  from filestore.search_queue q where q.stage = p_stage and q.claim_id is null order by q.due_at limit 1;
  return jsonb_build_object(
    'claimId', v_claim_id, 'files', coalesce(v_claimed, '[]'), 'after', v_after,
    'nextDueMilliseconds', v_next_due);
end
$$;
comment on function public.filestore_search_claim is
  'Claims files from the queue for a while, at most so many files and p_claim_bytes of text, besides one file of any '
  'size (p_is_light: none over p_claim_bytes): stage 1 with the segments of their text, stage 2 with p_chunks chunks '
  'that p_model has not embedded. Projects take turns, from the one after p_after; the next claim is to begin after '
  'the project that is returned. A file that is not finished in time is claimed again, alone. A file is indexed again '
  'at the earliest 1 second and 8 microseconds per byte (9.4 s for 1 MiB) after the last time. Also returns when the '
  'next file is due.';
call filestore.publish('public.filestore_search_claim', 'filestore_search', 'service_role');

create function public.filestore_search_fail(p_claim_id uuid, p_files jsonb) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_count integer;
begin
  perform set_config('lock_timeout', v_limits.lock_timeout_milliseconds::text, true);
  update filestore.search_queue q
  set claim_id = case when f.is_fault then null else q.claim_id end,
      attempts = case when f.is_fault then q.attempts else least(q.attempts, v_limits.search_tries_max - 1) end,
      due_at = case when f.is_fault
        then clock_timestamp() + v_limits.search_retry_seconds * power(2, q.attempts - 1) * interval '1 second'
        else q.due_at end
  from jsonb_to_recordset(p_files) f (project_id uuid, file_id uuid, is_fault boolean)
  where q.project_id = f.project_id and q.file_id = f.file_id and q.claim_id = p_claim_id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.filestore_search_fail is
  'Notes which files of a claim could not be indexed. Where it is the fault of the file, it is tried again soon, by '
  'itself. Where something was out of reach, it is claimed again after the claim has expired, and is not given up for '
  'that. Returns how many claims were still valid.';
call filestore.publish('public.filestore_search_fail', 'filestore_search', 'service_role');

create function filestore.search_store_text(p_text jsonb, p_model text) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  -- In characters. Postgres finds a character by counting from the first one, so chunks are cut out of parts of the
  -- text; cut out of the whole text, the chunks of 1 MB took 3 s.
  c_part constant integer := 20000;
  v_project_id constant uuid := p_text ->> 'projectId';
  v_file_id constant uuid := p_text ->> 'fileId';
  v_version constant integer := p_text ->> 'version';
  v_content constant text := coalesce(p_text ->> 'content', p_text ->> 'path');
begin
  if (p_text ->> 'isDeleted')::boolean then
    delete from filestore.search_texts t
    where t.project_id = v_project_id and t.file_id = v_file_id and t.version < v_version;
    return true;
  end if;
  insert into filestore.search_texts as t (
    project_id, file_id, version, path, mime_type, skipped, content, bytes, json_bytes, words,
    indexed_at)
  values (
    v_project_id, v_file_id, v_version, p_text ->> 'path', p_text ->> 'mimeType', p_text ->> 'skipped', v_content,
    octet_length(v_content), octet_length(to_json(v_content)::text),
    filestore.search_words(p_text ->> 'path', coalesce(p_text ->> 'content', '')),
    clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped,
        content = excluded.content, bytes = excluded.bytes, json_bytes = excluded.json_bytes, words = excluded.words,
        indexed_at = excluded.indexed_at, model = null
    where t.version < excluded.version or t.version = excluded.version and t.skipped = 'not_indexable';
  with chunks as materialized (
    select (c.value ->> 0)::integer as first_line, (c.value ->> 1)::integer as start, (c.value ->> 2)::integer as length
    from jsonb_array_elements(p_text -> 'chunks') c
  ), parts as materialized (
    select n.number, substr(v_content, n.number * c_part + 1, c_part + m.longest) as content
    from (select max(c.start) as last_start, max(c.length) as longest from chunks c) m
    cross join lateral generate_series(0, m.last_start / c_part) as n (number)
  )
  insert into filestore.search_chunks as k (project_id, file_id, hash, version, first_line, start, length)
  -- A chunk that occurs twice in a text is embedded once.
  select distinct on (h.hash) v_project_id, v_file_id, h.hash, v_version, h.first_line, h.start, h.length
  from (
    select c.first_line, c.start, c.length, md5(substr(p.content, c.start % c_part + 1, c.length))::uuid as hash
    from chunks c join parts p on p.number = c.start / c_part
  ) h
  order by h.hash, h.start
  on conflict (project_id, file_id, hash) do update
    set version = excluded.version, first_line = excluded.first_line, start = excluded.start, length = excluded.length
    where k.version < excluded.version;
  delete from filestore.search_chunks k
  where k.project_id = v_project_id and k.file_id = v_file_id and k.version < v_version;
  if p_model is null then return true; end if;
  if exists (
    select from filestore.search_chunks k
    where k.project_id = v_project_id and k.file_id = v_file_id and k.model is distinct from p_model
  ) then
    return false;
  end if;
  update filestore.search_texts t set model = p_model
  where t.project_id = v_project_id and t.file_id = v_file_id and t.version = v_version;
  return true;
end
$$;
comment on function filestore.search_store_text is
  'Stores the text and chunks of one file in place of those of an older version. False where p_model has not embedded '
  'some of the chunks.';
call filestore.grant_execute('filestore.search_store_text', 'filestore_search');

create function public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text default null) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_text jsonb;
  v_project_id uuid;
  v_file_id uuid;
  v_version integer;
  v_done jsonb := '[]';
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  for v_text in select t.value from jsonb_array_elements(p_texts) t order by t.value ->> 'fileId' loop
    v_project_id := v_text ->> 'projectId';
    v_file_id := v_text ->> 'fileId';
    v_version := v_text ->> 'version';
    -- The claim has expired or there is a newer version: another claim has the work now.
    continue when not exists (
      select from filestore.search_queue q
      where q.project_id = v_project_id and q.file_id = v_file_id and q.version = v_version
        and q.claim_id = p_claim_id);
    v_done := v_done || jsonb_build_object(
      'project_id', v_project_id, 'file_id', v_file_id, 'version', v_version,
      'is_embedded', filestore.search_store_text(v_text, p_model));
  end loop;
  -- The queue's rows come last and together, so that no commit waits for the texts. A locked row is skipped: the commit
  -- that holds it is adding a newer version, which ends the claim.
  with held as (
    select q.project_id, q.file_id, d.is_embedded
    from jsonb_to_recordset(v_done) d (project_id uuid, file_id uuid, version integer, is_embedded boolean)
    join filestore.search_queue q on q.project_id = d.project_id and q.file_id = d.file_id and q.version = d.version
    where q.claim_id = p_claim_id
    for update of q skip locked
  ), finished as (
    delete from filestore.search_queue q using held h
    where h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id
  )
  update filestore.search_queue q set stage = 2, due_at = clock_timestamp(), attempts = 0, claim_id = null
  from held h
  where not h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id;
  return jsonb_array_length(v_done);
end
$$;
comment on function public.filestore_search_store is
  'Stores the text and chunks of claimed files in place of those of an older version; with p_model, files with chunks '
  'that it has not embedded go on to stage 2. Returns how many claims were still valid.';
call filestore.publish('public.filestore_search_store', 'filestore_search', 'service_role');

create function public.filestore_search_store_embeddings(
  p_claim_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb
) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_left integer;
  v_version integer;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  select q.version into v_version from filestore.search_queue q
  where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  if not found then return null; end if;
  -- An embedding belongs to a text and not to a version, so one that comes late is still right.
  update filestore.search_chunks k
  set model = p_model, embedding = nullif(array(
    select v.value::real
    from jsonb_array_elements_text(nullif(e.value -> 'embedding', 'null')) with ordinality v
    order by v.ordinality), '{}')
  from jsonb_array_elements(p_embeddings) e
  where k.project_id = p_project_id and k.file_id = p_file_id and k.hash = (e.value ->> 'hash')::uuid;
  select count(*) into v_left from filestore.search_chunks k
  where k.project_id = p_project_id and k.file_id = p_file_id and k.model is distinct from p_model;
  if v_left = 0 then
    update filestore.search_texts t set model = p_model
    where t.project_id = p_project_id and t.file_id = p_file_id and t.version = v_version;
    delete from filestore.search_queue q
    where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  else
    update filestore.search_queue q set due_at = clock_timestamp(), claim_id = null, attempts = 0
    where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  end if;
  return v_left;
end
$$;
comment on function public.filestore_search_store_embeddings is
  'Stores embeddings of a claimed file''s chunks, empty ones for those that the model refuses, and releases the claim. '
  'Returns how many chunks are left, null where the claim was not valid.';
call filestore.publish('public.filestore_search_store_embeddings', 'filestore_search', 'service_role');

create function public.filestore_search_requeue(p_model text, p_files integer, p_given_up_seconds integer)
returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer;
  v_given_up integer;
begin
  insert into filestore.search_queue (project_id, file_id, version, path, bytes, stage, due_at)
  select t.project_id, t.file_id, t.version, t.path, t.bytes, 2, clock_timestamp()
  from filestore.search_texts t
  where p_model is not null and t.skipped is null and (t.model is null or t.model < p_model or t.model > p_model)
    and exists (select from filestore.search_chunks k where k.project_id = t.project_id and k.file_id = t.file_id)
    and not exists (select from filestore.search_queue q where q.project_id = t.project_id and q.file_id = t.file_id)
  limit p_files
  on conflict do nothing;
  get diagnostics v_count = row_count;
  insert into filestore.search_queue (project_id, file_id, version, path, bytes, due_at)
  select f.project_id, f.id, f.version, f.path, f.size, clock_timestamp()
  from filestore.search_texts t
  join filestore.files f on f.project_id = t.project_id and f.id = t.file_id and f.version = t.version
  where t.skipped = 'not_indexable' and t.indexed_at < clock_timestamp() - p_given_up_seconds * interval '1 second'
  limit p_files
  on conflict do nothing;
  get diagnostics v_given_up = row_count;
  return v_count + v_given_up;
end
$$;
comment on function public.filestore_search_requeue is
  'Queues files whose chunks another embedding model has processed, or none (after embeddings were configured or '
  'changed), and files that could not be indexed so long ago. Without a model the latter only. Returns how many.';
call filestore.publish('public.filestore_search_requeue', 'filestore_search', 'service_role');
-- 81_search.sql ======================================================================================================
-- Search by pattern, by words and by meaning.
--
-- Isolation. LIKE, @@ and <=> are not leakproof: under a row-level policy Postgres would check the policy for every row
-- first and use no index. So candidates are found by a role that sees every project's rows of the search tables,
-- filestore_search, in functions that take a project id and return ids. The operation then reads those ids again as
-- filestore_engine, under the policies of its project: rows of another project are not returned.

-- Candidates, found as filestore_search: ids and no content. ----------------------------------------------------------

create function filestore.search_filter(p_query jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case when coalesce(p_query ->> 'directory', '') = '' then ''
      else format(
        ' and t.path >= %L and t.path < %L', (p_query ->> 'directory') || '/', (p_query ->> 'directory') || '0') end
    || coalesce(' and t.path > ' || quote_literal(p_query ->> 'after'), '')
    || coalesce(' and t.path ~ ' || quote_literal(p_query ->> 'glob'), '')
    || coalesce(' and t.mime_type = ' || quote_literal(p_query ->> 'contentType'), '');
end
$$;
comment on function filestore.search_filter is
  'Conditions on search_texts t, with every value quoted. The glob is given as a regular expression made only of '
  '[^/]*, [^/], .* and literals.';
call filestore.grant_execute('filestore.search_filter', 'filestore_search');

create function filestore.search_pattern_candidates(p_project_id uuid, p_query jsonb)
returns table (file_id uuid, walked_to text)
language plpgsql stable security definer set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_clause jsonb;
  v_from constant text := ' from filestore.search_texts t where t.project_id = $1' || filestore.search_filter(p_query);
  v_likes text[];
  v_first text[];
  v_is_indexed boolean := false;
  v_others text := '';
  v_files constant integer := p_query ->> 'files';
  v_skip constant integer := p_query ->> 'skip';
  v_few uuid[];
  v_count bigint;
  v_texts refcursor;
  v_path text;
  v_bytes integer;
  v_read bigint := 0;
  v_is_found boolean;
  v_like constant text := case when (p_query ->> 'caseSensitive')::boolean then 'like' else 'ilike' end;
begin
  -- Each clause is a list of literals, one of which a matching text contains. The first clause is the most selective;
  -- `v_first` has a condition for each of its literals.
  for v_clause in select c.value from jsonb_array_elements(p_query -> 'clauses') c loop
    v_likes := array(
      select format(
        't.content %s %L', v_like,
        '%' || replace(replace(replace(l.literal, '\', '\\'), '%', '\%'), '_', '\_') || '%')
      from jsonb_array_elements_text(v_clause) l (literal));
    if v_first is null then
      v_first := v_likes;
      v_is_indexed := (select min(length(l.literal)) >= 3 from jsonb_array_elements_text(v_clause) l (literal));
    else
      v_others := v_others || ' and (' || array_to_string(v_likes, ' or ') || ')';
    end if;
  end loop;

  -- fence: usually few files match; then they are looked up in the trigram index and sorted. The planner, which takes
  -- rare texts for common ones, would walk along the paths until enough have matched, so it is left no other plan.
  if v_is_indexed then
    perform set_config('enable_indexscan', 'off', true), set_config('enable_seqscan', 'off', true);
    execute 'select array_agg(c.file_id order by c.path), count(*) from (' || (
      select string_agg(
        '(select t.file_id, t.path' || v_from || ' and ' || l.condition || v_others || ' limit $2)', ' union ')
      from unnest(v_first) l (condition)) || ') c'
    into v_few, v_count using p_project_id, v_limits.search_found_at_once_max + 1;
    perform set_config('enable_indexscan', 'on', true), set_config('enable_seqscan', 'on', true);
    if v_count <= v_limits.search_found_at_once_max then
      return query select f.id, null from unnest(v_few) with ordinality f (id, place)
        where f.place > v_skip and f.place <= v_skip + v_files order by f.place;
      return;
    end if;
  elsif v_first is not null then
    -- No index has shorter literals: texts are read one by one along the paths, and not more than so many bytes.
    open v_texts for execute
      'select t.file_id, t.path, t.bytes, (' || array_to_string(v_first, ' or ') || ')' || v_others || v_from
      || ' order by t.path limit $2' using p_project_id, v_limits.search_walk_files_max;
    v_count := 0;
    for v_walked in 1 .. v_limits.search_walk_files_max loop
      fetch v_texts into file_id, v_path, v_bytes, v_is_found;
      exit when not found;
      v_read := v_read + v_bytes;
      if v_is_found then
        v_count := v_count + 1;
        if v_count > v_skip then return next; end if;
        exit when v_count = v_skip + v_files;
      end if;
      if v_walked = v_limits.search_walk_files_max or v_read >= v_limits.search_walk_bytes_max then
        return query select null::uuid, v_path;
        exit;
      end if;
    end loop;
    close v_texts;
    return;
  end if;
  -- Many match, so a walk along the paths soon finds a page of them.
  return query execute 'select t.file_id, null::text' || v_from
    || coalesce(' and (' || array_to_string(v_first, ' or ') || ')', '') || v_others
    || ' order by t.path limit $2 offset $3'
  using p_project_id, v_files, v_skip;
end
$$;
comment on function filestore.search_pattern_candidates is
  'Files of a project whose text may match, by path. Where only a part of the texts was read, a last row says how far. '
  'Runs as filestore_search: callers read the ids again under their own policies.';
call filestore.publish('filestore.search_pattern_candidates', 'filestore_search', 'filestore_engine');

-- By meaning: approximately along the index, or exactly by comparing every chunk. Without the extension vector both
-- return nothing. Their bodies are parsed here and not when they run, so that their callers need no access to the
-- schema of the extension.
do $$
declare
  v_schema constant text := (
    select quote_ident(n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector');
  v_distance constant text := format(
    '(c.embedding::%1$s.vector(384)) operator(%1$s.<=>) (p_vector::%1$s.vector(384))', v_schema);
  v_signature constant text :=
    '(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text) '
    'returns table (file_id uuid, hash uuid, distance double precision) '
    'language sql stable set search_path = '''' ';
  v_limit constant integer := (filestore.limits()).search_ranked_max;
  v_body constant text := case
    when v_schema is null then 'as $f$ select null::uuid, null::uuid, null::double precision where false $f$'
    else $f$
      begin atomic
        select c.file_id, c.hash, %1$s as distance
        from filestore.search_chunks c
        join filestore.search_texts t
          on t.project_id = c.project_id and t.file_id = c.file_id and t.version = c.version
        where c.project_id = p_project_id and t.project_id = p_project_id and c.embedding is not null
          and c.model = p_model and (p_from is null or t.path >= p_from and t.path < p_to)
          and (p_glob is null or t.path ~ p_glob) and (p_content_type is null or t.mime_type = p_content_type)
        order by %2$s limit %3$s;
      end
    $f$ end;
begin
  execute format(
    'create function filestore.search_has_vectors() returns boolean language sql immutable set search_path = '''' '
    'as %L', case when v_schema is null then 'select false' else 'select true' end);
  -- fence: the planner does not know how many rows a project has, so it is left no plan but a scan of the index.
  execute 'create function filestore.search_nearest' || v_signature
    || case when v_schema is null then ''
      else 'set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off ' end
    || format(v_body, v_distance, v_distance, v_limit);
  -- fence: adding zero keeps the planner from using the index, whose result is an approximation.
  execute 'create function filestore.search_nearest_exact' || v_signature
    || format(v_body, v_distance, '(' || v_distance || ') + 0.0::double precision', v_limit);
end
$$;
comment on function filestore.search_has_vectors is
  'Whether the extension vector was available when search was set up.';
comment on function filestore.search_nearest is
  'The chunks nearest to a vector, found along the index, which is approximate.';
comment on function filestore.search_nearest_exact is 'The chunks nearest to a vector, compared one by one.';
call filestore.grant_execute('filestore.search_has_vectors', 'filestore_engine', 'filestore_search');
call filestore.grant_execute('filestore.search_nearest', 'filestore_search');
call filestore.grant_execute('filestore.search_nearest_exact', 'filestore_search');

create function filestore.search_tsquery(p_words text) returns tsquery
language plpgsql stable set search_path = ''
as $$
begin
  -- As filestore.search_split, except that a hyphen which begins a word means not. What was one word stays one: its
  -- parts become a phrase.
  return websearch_to_tsquery('pg_catalog.english', regexp_replace(p_words, '[<&~/.@_+]|(?<=\S)-', ',', 'g'));
end
$$;
comment on function filestore.search_tsquery is 'Words, "phrases", or, -not.';
call filestore.grant_execute('filestore.search_tsquery', 'filestore_search');

create function filestore.search_rank_candidates(p_project_id uuid, p_query jsonb)
returns table (list text, file_id uuid, hash uuid, score double precision)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_words tsquery;
  v_directory constant text := nullif(p_query ->> 'directory', '');
  v_vector real[];
  v_chunks bigint;
  v_statement constant text :=
    'select ''words'', w.file_id, null::uuid, w.score from ('
    '  select t.file_id, t.path, ts_rank(t.words, $2, 1)::double precision as score from ('
    '    select t.file_id, t.path, t.words from filestore.search_texts t where t.project_id = $1 and t.words @@ $2'
    || filestore.search_filter(p_query) || ' limit $3'
    '  ) t'
    ') w order by w.score desc, w.path limit ' || v_limits.search_ranked_max;
begin
  if p_query ->> 'words' is not null then
    v_words := filestore.search_tsquery(p_query ->> 'words');
    return query execute v_statement using p_project_id, v_words, v_limits.search_word_matches_max;
    -- No file has all of the plain words: then any of them matches.
    if not found and v_words::text ~ ' & ' and v_words::text !~ '!|\|' and p_query ->> 'words' !~ '"' then
      return query execute v_statement
      using p_project_id, replace(v_words::text, ' & ', ' | ')::tsquery, v_limits.search_word_matches_max;
    end if;
  end if;
  if p_query -> 'vector' <> 'null'::jsonb and filestore.search_has_vectors() then
    v_vector := array(
      select v.value::real from jsonb_array_elements_text(p_query -> 'vector') with ordinality v order by v.ordinality);
    select count(*) into v_chunks from (
      select from filestore.search_chunks c where c.project_id = p_project_id
      limit v_limits.search_exact_chunks_max + 1) c;
    if v_chunks <= v_limits.search_exact_chunks_max then
      return query select 'meaning', n.file_id, n.hash, 1 - n.distance from filestore.search_nearest_exact(
        p_project_id, p_query ->> 'model', v_vector, v_directory || '/', v_directory || '0',
        p_query ->> 'glob', p_query ->> 'contentType') n;
    else
      -- Continues in the index until enough rows satisfy the conditions.
      perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
      perform set_config('hnsw.ef_search', v_limits.search_ranked_max::text, true);
      return query select 'meaning', n.file_id, n.hash, 1 - n.distance from filestore.search_nearest(
        p_project_id, p_query ->> 'model', v_vector, v_directory || '/', v_directory || '0',
        p_query ->> 'glob', p_query ->> 'contentType') n;
    end if;
  end if;
end
$$;
comment on function filestore.search_rank_candidates is
  'The best files of a project by words, and its nearest chunks by meaning. Runs as filestore_search: callers read '
  'the ids again under their own policies.';
call filestore.publish('filestore.search_rank_candidates', 'filestore_search', 'filestore_engine');

-- The operation -------------------------------------------------------------------------------------------------------

create function filestore.search_scope(p_prefix text, p_directory text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return case
    when p_prefix is null or p_directory = p_prefix or starts_with(p_directory, p_prefix || '/') then p_directory
    when p_directory = '' or starts_with(p_prefix, p_directory || '/') then p_prefix
  end;
end
$$;
comment on function filestore.search_scope is
  'The directory that a search is confined to: the requested one, within the key''s prefix. Null where they are '
  'disjoint.';
call filestore.grant_execute('filestore.search_scope', 'filestore_engine');

create function filestore.search_pending(p_session filestore.session, p_scope text, p_stage integer) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (select count(*) from (
    select from filestore.search_queue q
    where q.project_id = p_session.project_id and q.stage <= p_stage
      and (p_scope = '' or (q.path >= p_scope || '/' and q.path < p_scope || '0'))
    limit (filestore.limits()).search_pending_max) q);
end
$$;
comment on function filestore.search_pending is
  'Files in the scope that are not indexed yet, up to the stage. Counted up to a limit, which also stands for any '
  'larger number.';
call filestore.grant_execute('filestore.search_pending', 'filestore_engine');

create function filestore.search_by_pattern(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql stable set search_path = '' as $$
declare
  v_page json;
begin
  with walked as materialized (
    select s.file_id, s.walked_to, s.place
    from filestore.search_pattern_candidates(p_session.project_id, p_query)
      with ordinality s (file_id, walked_to, place)
  ), found as (
    select w.file_id, w.place from walked w where w.file_id is not null
  ), visible as (
    select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at, t.skipped, t.content, n.place,
           n.place = min(n.place) over () or sum(t.json_bytes) over (order by n.place) <= (p_query ->> 'bytes')::bigint
             as fits
    from found n
    -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a plan that is kept must
    -- not scan a table.
    cross join lateral (
      select * from filestore.files f
      where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
        and (p_scope = '' or (f.path >= p_scope || '/' and f.path < p_scope || '0')) offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
    ) t
  )
  select json_build_object(
    'files', coalesce(json_agg(json_build_object(
      'file', filestore.file_record(v.id, v.path, v.version, v.mime_type, v.size, v.created_at, v.updated_at),
      'skipped', v.skipped, 'content', v.content, 'score', 0) order by v.place) filter (where v.fits), '[]'),
    -- Where the next page starts: after the last file returned, or, where all were, after the last candidate, or
    -- where the texts were read to.
    'next', case
      when not coalesce(bool_and(v.fits), true) then max(v.path) filter (where v.fits)
      when (select count(*) from found) >= (p_query ->> 'files')::integer then (
        select t.path from filestore.search_texts t
        where t.project_id = p_session.project_id
          and t.file_id = (select n.file_id from found n order by n.place desc limit 1))
      else (select w.walked_to from walked w where w.file_id is null)
    end,
    'walked', exists (select 1 from walked w where w.file_id is null))
  into v_page
  from visible v;
  return v_page;
end
$$;
comment on function filestore.search_by_pattern is
  'Candidates with their text, in order of path, up to a number of bytes of JSON, but at least one file.';
call filestore.grant_execute('filestore.search_by_pattern', 'filestore_engine');

create function filestore.search_by_rank(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
declare
  -- Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009) and its constant.
  c_fusion constant double precision := 60;
  v_is_fused constant boolean := p_query ->> 'words' is not null and p_query -> 'vector' <> 'null'::jsonb;
  v_page json;
begin
  with found as materialized (
    select r.list, r.file_id, r.hash, r.score from filestore.search_rank_candidates(p_session.project_id, p_query) r
  ), visible as (
    select n.list, n.file_id, n.hash, n.score, f.path, t.json_bytes,
           row_number() over (partition by n.list, n.file_id order by n.score desc, n.hash) as nth
    from found n
    -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a plan that is kept must
    -- not scan a table.
    cross join lateral (
      select * from filestore.files f
      where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
        and (p_scope = '' or (f.path >= p_scope || '/' and f.path < p_scope || '0')) offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
    ) t
  ), placed as (
    select v.*, row_number() over (partition by v.list order by v.score desc, v.path) as place
    from visible v where v.nth = 1
  ), fused as (
    select p.file_id, p.path, p.json_bytes, (array_agg(p.hash) filter (where p.list = 'meaning'))[1] as hash,
           case when v_is_fused then sum(1 / (c_fusion + p.place)) else max(p.score) end as score
    from placed p group by p.file_id, p.path, p.json_bytes
  ), page as (
    select u.*, row_number() over (order by u.score desc, u.path) as place from fused u
    order by u.score desc, u.path limit (p_query ->> 'files')::integer + 1 offset (p_query ->> 'skip')::integer
  ), sized as (
    select p.*, row_number() over (order by p.place) <= (p_query ->> 'files')::integer
      and (p.place = min(p.place) over () or sum(p.json_bytes) over (order by p.place) <= (p_query ->> 'bytes')::bigint)
      as fits
    from page p
  )
  select json_build_object(
    'files', coalesce(json_agg(json_build_object(
      'file', filestore.file_record(f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at),
      'skipped', t.skipped, 'content', t.content, 'score', z.score,
      'chunk', case when k.hash is not null then json_build_object(
        'firstLine', k.first_line, 'text', substr(t.content, k.start + 1, k.length)) end
    ) order by z.place) filter (where z.fits), '[]'),
    'hasMore', not coalesce(bool_and(z.fits), true))
  into v_page
  from sized z
  -- fence: as above.
  cross join lateral (
    select * from filestore.files f where f.project_id = p_session.project_id and f.id = z.file_id offset 0
  ) f
  cross join lateral (
    select * from filestore.search_texts t where t.project_id = p_session.project_id and t.file_id = z.file_id offset 0
  ) t
  left join lateral (
    select * from filestore.search_chunks k
    where k.project_id = p_session.project_id and k.file_id = z.file_id and k.hash = z.hash offset 0
  ) k on true;
  return v_page;
end
$$;
comment on function filestore.search_by_rank is
  'The best files by words, by meaning, or by both: then the ranks in the two lists are fused. Scores and ranks are '
  'computed over what the key may see.';
call filestore.grant_execute('filestore.search_by_rank', 'filestore_engine');

create function public.filestore_search(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  -- The part of the requested directory that the key may see.
  v_scope constant text := filestore.search_scope(v_session.path_prefix, p_query ->> 'directory');
  v_query jsonb;
  v_page json := '{"files": []}';
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  if v_scope is not null then
    v_query := p_query || jsonb_build_object('directory', v_scope);
    v_page := case when p_query ->> 'kind' = 'scan' then filestore.search_by_pattern(v_session, v_scope, v_query)
      else filestore.search_by_rank(v_session, v_scope, v_query) end;
  end if;
  return filestore.page_response(v_session, json_build_object(
    'files', v_page -> 'files', 'next', v_page -> 'next', 'walked', v_page -> 'walked', 'hasMore', v_page -> 'hasMore',
    'hasVectors', filestore.search_has_vectors(),
    'lexemes', to_json(tsvector_to_array(
      to_tsvector('pg_catalog.english', filestore.search_split(coalesce(p_query ->> 'words', ''))))),
    'pending', case when v_scope is null then 0
      else filestore.search_pending(
        v_session, v_scope, case when p_query -> 'vector' <> 'null'::jsonb then 2 else 1 end) end));
end
$$;
comment on function public.filestore_search is
  'Files that may match (kind scan: clauses, caseSensitive, after) or the best ones (kind rank: words, vector, '
  'model), with their text. Both: directory, glob, contentType, files, skip, bytes.';
call filestore.publish('public.filestore_search', 'filestore_engine', 'service_role');
-- 90_bucket.sql ======================================================================================================
-- The private bucket that holds the segments. It has no policies: only the secret key opens an object, and only the
-- edge function holds the secret key.

insert into storage.buckets (id, name, public, file_size_limit)
values ('filestore-segments', 'filestore-segments', false, 1048576)
on conflict (id) do update set public = false, file_size_limit = excluded.file_size_limit;
-- 99_end.sql =========================================================================================================
-- The helpers of 00_roles.sql.

drop procedure filestore.add_policies(text[]);
drop procedure filestore.publish(regproc, text, text[]);
drop procedure filestore.grant_execute(regproc, text[]);
