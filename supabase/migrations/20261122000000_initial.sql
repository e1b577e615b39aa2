-- Generated from supabase/schemas by supabase/local/database/generate_migration.ts: read and edit the files there.
-- 00_roles.sql =======================================================================================================
-- The schema, its roles, the extensions that search uses, and two helpers that set the privileges of a function.
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
-- Privileges. Both helpers are called directly below the function they are about, and dropped by the last file.

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
-- 01_limits.sql ======================================================================================================
-- Bounds that the edge function depends on, too, or that are used in several places.

create type filestore.limits as (
  segment_list_max_base integer,
  segment_list_max_per_mib integer,
  compaction_check_every_segments integer,
  account_projects_max integer,
  project_keys_max integer,
  name_length_max integer,
  console_session_seconds integer,
  idempotency_key_seconds integer,
  lock_timeout_milliseconds integer,
  list_directories_max integer,
  page_limit_max integer,
  search_pending_max integer,
  search_found_at_once_max integer,
  search_word_matches_max integer,
  search_exact_chunks_max integer,
  search_ranked_max integer,
  reindex_debounce_milliseconds integer,
  reindex_debounce_microseconds_per_byte integer
);
comment on type filestore.limits is 'The bounds that the database and the edge function (`limits.ts`) share.';

-- In plpgsql, so that each value stands beside its name. Immutable: the planner replaces `(filestore.limits()).x` by a
-- constant, so that reading a limit costs nothing.
create function filestore.limits() returns filestore.limits
language plpgsql immutable set search_path = '' as $$
declare
  v_limits filestore.limits;
begin
  -- A file has at most this many segments, and this many more for each MiB or part of one: a read stays bounded.
  v_limits.segment_list_max_base := 128;
  v_limits.segment_list_max_per_mib := 2;
  -- A commit returns the segment list for compaction whenever its length passes a multiple of this.
  v_limits.compaction_check_every_segments := 8;
  v_limits.account_projects_max := 20;
  -- Of those that are neither revoked nor expired.
  v_limits.project_keys_max := 100;
  v_limits.name_length_max := 100;
  v_limits.console_session_seconds := 600;
  v_limits.idempotency_key_seconds := 86400;
  -- How long an operation waits for a lock that another transaction holds.
  v_limits.lock_timeout_milliseconds := 2000;
  v_limits.list_directories_max := 1000;
  v_limits.page_limit_max := 100;
  -- Files waiting to be indexed are counted up to this number.
  v_limits.search_pending_max := 10000;
  -- A pattern that occurs in up to this many files is looked up in the index and sorted.
  v_limits.search_found_at_once_max := 1000;
  -- Files that contain the words beyond this many are not ranked: reading their words takes time.
  v_limits.search_word_matches_max := 10000;
  -- In a project with up to this many chunks each embedding is compared; in a larger one the index is used.
  v_limits.search_exact_chunks_max := 10000;
  -- Files ranked by words, and chunks ranked by meaning.
  v_limits.search_ranked_max := 200;
  -- The least time between two indexings of a text: this long, and longer for each byte; 9.4 s for 1 MiB.
  v_limits.reindex_debounce_milliseconds := 1000;
  v_limits.reindex_debounce_microseconds_per_byte := 8;
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
comment on column filestore.search_queue.claimed_at is
  'When its text was last claimed; a newer version may have taken that claim away since.';

create index search_queue_due on filestore.search_queue (stage, due_at);

create table filestore.search_texts (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  mime_type text not null,
  skipped text check (skipped in ('too_large', 'not_text')),
  content text not null,
  bytes integer not null,
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
comment on column filestore.search_texts.model is 'The embedding model that has processed all of its chunks.';

create index search_texts_by_model on filestore.search_texts (model) where skipped is null;

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
-- transaction only; `filestore_account` sees what the signed-in account owns.

create function filestore.current_key_hash() returns bytea
language sql stable
as $$ select decode(nullif(current_setting('filestore.key_hash', true), ''), 'hex') $$;
comment on function filestore.current_key_hash is 'SHA-256 of the key this transaction acts for, or null.';
call filestore.grant_execute('filestore.current_key_hash', 'filestore_engine');

create function filestore.current_project_id() returns uuid
language sql stable
as $$ select nullif(current_setting('filestore.project_id', true), '')::uuid $$;
comment on function filestore.current_project_id is
  'The project this transaction acts for, or null. After a transaction the setting is empty, not null.';
call filestore.grant_execute('filestore.current_project_id', 'filestore_account', 'filestore_engine');

create function filestore.current_path_prefix() returns text
language sql stable
as $$ select nullif(current_setting('filestore.path_prefix', true), '') $$;
comment on function filestore.current_path_prefix is
  'The directory that the key of this transaction is confined to, or null.';
call filestore.grant_execute('filestore.current_path_prefix', 'filestore_engine');

create function filestore.current_account_id() returns uuid
language sql stable as $$
  select (regexp_match(coalesce(
    nullif(current_setting('request.jwt.claim.sub', true), ''),
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'),
    '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))[1]::uuid
$$;
comment on function filestore.current_account_id is
  'The signed-in account (auth.users.id), as auth.uid() returns it, or null; also null where the subject of another '
  'issuer is no account of this project. A hosted project does not open the schema auth to other roles.';
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
create policy engine_select on filestore.projects for select to filestore_engine
  using (id = (select filestore.current_project_id()));
create policy engine_select on filestore.api_keys for select to filestore_engine
  using (key_hash = (select filestore.current_key_hash()));
create policy engine_update on filestore.api_keys for update to filestore_engine
  using (key_hash = (select filestore.current_key_hash()));
create policy engine_select on filestore.console_sessions for select to filestore_engine
  using (token_hash = (select filestore.current_key_hash()));
grant select on filestore.tiers, filestore.projects, filestore.api_keys, filestore.console_sessions to filestore_engine;
grant update (last_used_at) on filestore.api_keys to filestore_engine;

do $$
declare
  v_own_rows constant text := 'project_id = (select filestore.current_project_id())';
  -- A key with a path prefix sees no other file. Directory rows up to the root are counted by every writer, so lists
  -- apply the prefix themselves. This is filestore.is_below written out: a function given a subquery is not inlined.
  v_own_files constant text := v_own_rows || ' and ((select filestore.current_path_prefix()) is null '
    'or (path >= (select filestore.current_path_prefix()) || ''/'' '
    'and path < (select filestore.current_path_prefix()) || ''0''))';
  v_table text;
  v_visible text;
begin
  foreach v_table in array array[
    'files', 'rate_windows', 'file_versions', 'segments', 'directories', 'project_usage', 'idempotency_keys',
    'search_queue', 'search_texts', 'search_chunks'
  ] loop
    v_visible := case when v_table = 'files' then v_own_files else v_own_rows end;
    execute format('grant select on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_select on filestore.%I for select to filestore_engine using (%s)', v_table, v_visible);
    continue when v_table in ('search_texts', 'search_chunks');
    execute format('grant insert on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_insert on filestore.%I for insert to filestore_engine with check (%s)', v_table, v_visible);
    -- Versions and segments never change.
    continue when v_table in ('file_versions', 'segments');
    execute format('grant update on filestore.%I to filestore_engine', v_table);
    execute format(
      'create policy engine_update on filestore.%I for update to filestore_engine using (%s) with check (%s)',
      v_table, v_visible, v_own_rows);
  end loop;
end
$$;
create policy engine_delete on filestore.idempotency_keys for delete to filestore_engine
  using (project_id = (select filestore.current_project_id()));
grant delete on filestore.idempotency_keys to filestore_engine;

-- ---------------------------------------------------------------------------------------------------------------------
-- filestore_admin: every project, for the command line and the sweep, which only the secret key may call.

create policy admin_select on filestore.tiers for select to filestore_admin using (true);
create policy admin_select on filestore.segments for select to filestore_admin using (true);
grant select on filestore.tiers, filestore.segments to filestore_admin;
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
create policy account_select on filestore.projects for select to filestore_account
  using (owner_id = (select filestore.current_account_id()) or id = (select filestore.current_project_id()));
create policy account_insert on filestore.projects for insert to filestore_account
  with check (owner_id = (select filestore.current_account_id()));
create policy account_update on filestore.projects for update to filestore_account
  using (id = (select filestore.current_project_id())) with check (id = (select filestore.current_project_id()));
grant select on filestore.tiers to filestore_account;
grant select, insert, update (name) on filestore.projects to filestore_account;
do $$
declare
  v_own_rows constant text := 'project_id = (select filestore.current_project_id())';
  v_table text;
begin
  foreach v_table in array array[
    'api_keys', 'console_sessions', 'files', 'file_versions', 'directories', 'project_usage', 'rate_windows'
  ] loop
    execute format(
      'create policy account_select on filestore.%I for select to filestore_account using (%s)', v_table, v_own_rows);
    execute format('grant select on filestore.%I to filestore_account', v_table);
    continue when v_table not in ('api_keys', 'console_sessions');
    execute format(
      'create policy account_insert on filestore.%I for insert to filestore_account with check (%s)',
      v_table, v_own_rows);
    execute format(
      'create policy account_update on filestore.%I for update to filestore_account using (%s) with check (%s)',
      v_table, v_own_rows, v_own_rows);
  end loop;
end
$$;
grant insert, update (revoked_at, expires_at) on filestore.api_keys to filestore_account;
grant insert, update (token_hash, expires_at) on filestore.console_sessions to filestore_account;

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
-- Functions in `public` and those in plpgsql pin an empty search_path. The short ones in SQL do not: a function with a
-- setting of its own cannot be inlined into the query that calls it. They qualify every name and run under the empty
-- path of their callers; no other role may execute them. They are `stable` where what they call is (to_char and
-- jsonb_build_object are), or they would not be inlined either. Whatever reads or writes a table is in plpgsql, which
-- keeps its plans for the session; a function in SQL is planned at every call.

create function filestore.iso(p_time timestamptz) returns text
language sql stable
as $$ select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
comment on function filestore.iso is 'ISO 8601, UTC, milliseconds, Z.';
call filestore.grant_execute('filestore.iso', 'filestore_account', 'filestore_admin', 'filestore_engine');

-- The character after `/` is `0`, so that the paths below a directory are a range, which an index can serve.
create function filestore.is_below(p_path text, p_directory text) returns boolean
language sql immutable
as $$ select p_path >= p_directory || '/' and p_path < p_directory || '0' $$;
comment on function filestore.is_below is 'Whether a path lies below a directory. Inlined.';
call filestore.grant_execute('filestore.is_below', 'filestore_engine', 'filestore_search');

create function filestore.refusal(p_code text, p_details jsonb default '{}'::jsonb) returns jsonb
language sql stable
as $$ select jsonb_build_object('refusal', jsonb_build_object('code', p_code, 'details', p_details)) $$;
comment on function filestore.refusal is 'A refusal, with its code of the wire contract.';
call filestore.grant_execute('filestore.refusal', 'filestore_account', 'filestore_engine');

create function filestore.file_record(
  p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint,
  p_created_at timestamptz, p_updated_at timestamptz
) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_id, 'path', p_path, 'version', p_version, 'mimeType', p_mime_type, 'size', p_size,
    'createdAt', filestore.iso(p_created_at), 'updatedAt', filestore.iso(p_updated_at))
$$;
comment on function filestore.file_record is 'A file at one version, as the wire shows it.';
call filestore.grant_execute('filestore.file_record', 'filestore_engine');

create function filestore.record_text(
  p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at text, p_updated_at text
) returns text
language sql stable as $$
  select '{"id":"' || p_id || '","path":' || to_json(p_path) || ',"version":' || p_version || ',"mimeType":'
    || to_json(p_mime_type) || ',"size":' || p_size || ',"createdAt":"' || p_created_at
    || '","updatedAt":"' || p_updated_at || '"}'
$$;
comment on function filestore.record_text is
  'A file record as JSON text, with times formatted by filestore.iso. Costs half as much as json_build_object, which '
  'matters for a page of records.';
call filestore.grant_execute('filestore.record_text', 'filestore_engine');

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
  envelope jsonb,
  scopes text[],
  path_prefix text
);
comment on type filestore.session is 'An authorized (or refused) key, for the rest of the transaction.';
comment on column filestore.session.envelope is
  'What every result contains: {"grant", "rate"}, and {"refusal"} where the request is refused.';

create function filestore.page_response(p_session filestore.session, p_page json) returns json
language sql stable as $$
  select json_build_object(
    'grant', (p_session).envelope -> 'grant', 'rate', (p_session).envelope -> 'rate', 'value', p_page)
$$;
comment on function filestore.page_response is
  'The envelope of a page, as json: its records are text that is joined. As jsonb they would be parsed and sorted '
  'again at every level.';
call filestore.grant_execute('filestore.page_response', 'filestore_engine');

create function filestore.is_live(p_file filestore.files) returns boolean
language sql immutable
as $$ select (p_file).id is not null and not (p_file).is_deleted $$;
comment on function filestore.is_live is 'Whether the file exists and its latest version is not a tombstone.';
call filestore.grant_execute('filestore.is_live', 'filestore_engine');

create function filestore.not_found(p_file filestore.files) returns jsonb
language sql stable as $$
  select filestore.refusal('FILE_NOT_FOUND', case when (p_file).is_deleted
    then jsonb_build_object('deletedVersion', (p_file).version) else '{}'::jsonb end)
$$;
comment on function filestore.not_found is 'The refusal where a file does not exist, or no longer exists.';
call filestore.grant_execute('filestore.not_found', 'filestore_engine');

create function public.filestore_ping() returns boolean
language sql volatile security definer set search_path = ''
as $$ select true $$;
comment on function public.filestore_ping is 'Whether the database responds; for GET /health?deep.';
call filestore.publish('public.filestore_ping', 'filestore_engine', 'service_role');
-- 31_authorization.sql ===============================================================================================
-- Authorization: from the hash of a key (or of a console session's token) to its project, its limits and its scopes.

create function filestore.count_request(p_project_id uuid, p_limit integer, p_request_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_window filestore.rate_windows;
  v_is_allowed boolean := true;
begin
  if p_limit is null then
    return jsonb_build_object('isAllowed', true, 'rate', jsonb_build_object(
      'limit', null, 'remaining', null,
      'reset', extract(epoch from date_trunc('minute', clock_timestamp()) + interval '1 minute')::bigint));
  end if;
  if p_request_id is not null then
    -- The clock is read once the row is locked, so windows only move forward.
    insert into filestore.rate_windows as w (project_id, window_start, request_count, request_ids)
    values (p_project_id, date_trunc('minute', clock_timestamp()), 1, array[p_request_id])
    on conflict (project_id) do update
      set (window_start, request_count, request_ids) = (
        select greatest(w.window_start, t.minute),
               case when w.window_start < t.minute then 1 else w.request_count + 1 end,
               (p_request_id || w.request_ids)[:32]
        from (select date_trunc('minute', clock_timestamp()) as minute) t)
      where (w.request_count < p_limit or w.window_start < date_trunc('minute', clock_timestamp()))
        and p_request_id <> all (w.request_ids)
    returning * into v_window;
    v_is_allowed := found;
  end if;
  if v_window.project_id is null then
    select * into v_window from filestore.rate_windows w where w.project_id = p_project_id;
    v_is_allowed := v_is_allowed or p_request_id = any (v_window.request_ids);
  end if;
  v_window.window_start := coalesce(v_window.window_start, date_trunc('minute', clock_timestamp()));
  return jsonb_build_object('isAllowed', v_is_allowed, 'rate', jsonb_build_object(
    'limit', p_limit,
    'remaining', greatest(p_limit - coalesce(v_window.request_count, 0), 0),
    'reset', extract(epoch from v_window.window_start + interval '1 minute')::bigint));
end
$$;
comment on function filestore.count_request is
  'Counts one request in the project''s window, unless it was counted already (then its id is known, or null). A full '
  'window accepts nothing new and counts nothing.';
call filestore.grant_execute('filestore.count_request', 'filestore_engine');

create function filestore.authorize(p_key_hash text, p_request_id uuid, p_scope text) returns filestore.session
language plpgsql volatile set search_path = '' as $$
declare
  v_session filestore.session;
  v_setting text;
  v_limit integer;
  v_last_used_at timestamptz;
  v_count jsonb;
begin
  -- Assigned rather than performed: a simple expression is evaluated directly, a statement goes through the executor.
  v_setting := set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  v_setting := set_config('filestore.key_hash', p_key_hash, true);
  select k.id, k.project_id, k.last_used_at, k.scopes, k.path_prefix
  into v_session.key_id, v_session.project_id, v_last_used_at, v_session.scopes, v_session.path_prefix
  from filestore.api_keys k
  where k.key_hash = decode(p_key_hash, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp());
  if not found then
    select s.project_id, '{read,write,admin}' into v_session.project_id, v_session.scopes
    from filestore.console_sessions s
    where s.token_hash = decode(p_key_hash, 'hex') and s.expires_at > clock_timestamp();
  end if;
  if not found then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;
  v_setting := set_config('filestore.project_id', v_session.project_id::text, true);
  v_setting := set_config('filestore.path_prefix', coalesce(v_session.path_prefix, ''), true);

  select p.tier, coalesce(p.requests_per_minute, t.requests_per_minute), coalesce(p.max_file_bytes, t.max_file_bytes),
         coalesce(p.max_project_bytes, t.max_project_bytes)
  into strict v_session.tier, v_limit, v_session.max_file_bytes, v_session.max_project_bytes
  from filestore.projects p join filestore.tiers t on t.name = p.tier
  where p.id = v_session.project_id;

  v_count := filestore.count_request(v_session.project_id, v_limit, p_request_id);
  v_session.envelope := jsonb_build_object(
    'rate', v_count -> 'rate',
    'grant', jsonb_build_object(
      'projectId', v_session.project_id, 'keyId', v_session.key_id, 'tier', v_session.tier,
      'maxFileBytes', v_session.max_file_bytes, 'scopes', v_session.scopes));
  if not (v_count ->> 'isAllowed')::boolean then
    v_session.envelope := v_session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
    return v_session;
  end if;

  if v_session.key_id is not null
    and (v_last_used_at is null or v_last_used_at < clock_timestamp() - interval '1 minute') then
    -- Not `for update`, which would deadlock with a version being inserted: its foreign key locks the key's row.
    update filestore.api_keys k set last_used_at = clock_timestamp()
    where k.id = (select u.id from filestore.api_keys u where u.id = v_session.key_id for no key update skip locked);
  end if;
  if p_scope is not null and p_scope <> all (v_session.scopes) then
    v_session.envelope := v_session.envelope
      || filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', p_scope));
  end if;
  return v_session;
end
$$;
comment on function filestore.authorize is
  'Resolves a key to its project, opens that project''s rows for this transaction (below the key''s prefix), counts '
  'the request, and requires a scope.';
call filestore.grant_execute('filestore.authorize', 'filestore_engine');

create function filestore.may_write(p_session filestore.session, p_path text) returns boolean
language sql immutable
as $$ select (p_session).path_prefix is null or starts_with(p_path, (p_session).path_prefix || '/') $$;
comment on function filestore.may_write is 'Whether a path lies where the key may write.';
call filestore.grant_execute('filestore.may_write', 'filestore_engine');

create function filestore.outside_prefix(p_session filestore.session) returns jsonb
language sql stable
as $$ select filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', (p_session).path_prefix)) $$;
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
-- Lock order, everywhere: the rate row, an idempotency key, the paths of a copy or move, file rows, directory rows (the
-- root first), usage rows. The rows that many writers share come last, so that they are held for the shortest time.
-- (Where a project has a quota, whatever adds to its usage locks its usage row before the paths.)

-- Segments ------------------------------------------------------------------------------------------------------------

create function filestore.sweep_clock() returns timestamptz
language sql volatile
as $$ select clock_timestamp() $$;
comment on function filestore.sweep_clock is 'The current time for the sweep; tests replace it.';
call filestore.grant_execute('filestore.sweep_clock', 'filestore_admin', 'filestore_engine');

create function filestore.oldest_committable_day() returns date
language sql volatile
as $$ select (filestore.sweep_clock() at time zone 'UTC')::date - 1 $$;
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
language sql immutable as $$
  select (filestore.limits()).segment_list_max_base
    + (filestore.limits()).segment_list_max_per_mib * ((p_size + 1048575) / 1048576)::integer
$$;
comment on function filestore.max_segments is
  'How many segments a file of so many bytes may have, so that a read takes a bounded number of objects.';
call filestore.grant_execute('filestore.max_segments', 'filestore_engine');

-- Counts --------------------------------------------------------------------------------------------------------------

create function filestore.adjust_directory_counts(p_project_id uuid, p_directory text, p_change integer) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- The directory and its ancestors. Every transaction locks them in the same order, the root first.
  insert into filestore.directories as d (project_id, path, file_count, subtree_file_count)
  select p_project_id, a.path, greatest(p_change, 0) * (a.path = p_directory)::integer, greatest(p_change, 0)
  from (
    select '' collate "C" as path
    union all
    select array_to_string(parts[1:n], '/') collate "C"
    from string_to_array(nullif(p_directory, ''), '/') parts, generate_series(1, cardinality(parts)) n
    order by path
  ) a
  on conflict (project_id, path) do update
    set file_count = d.file_count + p_change * (d.path = p_directory)::integer,
        subtree_file_count = d.subtree_file_count + p_change;
end
$$;
comment on function filestore.adjust_directory_counts is
  'Counts a live file that was added to (1) or removed from (-1) a directory.';
call filestore.grant_execute('filestore.adjust_directory_counts', 'filestore_engine');

create function filestore.add_usage(
  p_session filestore.session, p_file_id uuid, p_bytes bigint, p_versions bigint
) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.project_usage as u (project_id, shard, bytes, versions)
  values (
    p_session.project_id,
    case when p_session.max_project_bytes is null then hashtext(p_file_id::text) & 15 else 0 end,
    p_bytes, p_versions)
  on conflict (project_id, shard) do update
    set bytes = u.bytes + excluded.bytes, versions = u.versions + excluded.versions;
end
$$;
comment on function filestore.add_usage is
  'Adds to what the project uses. Without a quota the file decides which row, so that writers of other files do not '
  'wait.';
call filestore.grant_execute('filestore.add_usage', 'filestore_engine');

create function filestore.quota_left(p_session filestore.session) returns bigint
language plpgsql volatile set search_path = '' as $$
begin
  if p_session.max_project_bytes is null then return null; end if;
  -- Commits of a project with a quota take turns, so that the sum below is exact.
  insert into filestore.project_usage (project_id, shard) values (p_session.project_id, 0) on conflict do nothing;
  perform from filestore.project_usage u where u.project_id = p_session.project_id and u.shard = 0 for update;
  return p_session.max_project_bytes
    - (select sum(u.bytes) from filestore.project_usage u where u.project_id = p_session.project_id);
end
$$;
comment on function filestore.quota_left is 'Bytes the project may still store; null where it has no quota.';
call filestore.grant_execute('filestore.quota_left', 'filestore_engine');

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
  'The refusal of a commit whose If-Match or If-None-Match does not hold for the locked file; null where they hold.';
call filestore.grant_execute('filestore.failed_precondition', 'filestore_engine');

create type filestore.next_version as (
  segment_ids uuid[],
  size bigint,
  mime_type text,
  is_deleted boolean
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
  v_unknown bigint;
begin
  select coalesce(array_agg((s.value ->> 'id')::uuid order by s.position), '{}'),
         coalesce(sum((s.value ->> 'size')::bigint), 0)
  into v_new_ids, v_new_bytes
  from jsonb_array_elements(p_commit -> 'segments') with ordinality as s (value, position);

  planned.is_deleted := p_kind = 'delete';
  planned.mime_type := coalesce(p_commit ->> 'mimeType', (p_file).mime_type);
  case p_kind
    when 'write', 'overwrite', 'delete' then
      planned.segment_ids := v_new_ids;
      planned.size := v_new_bytes;
    when 'append' then
      planned.segment_ids := (p_file).segment_ids || v_new_ids;
      planned.size := (p_file).size + v_new_bytes;
      if cardinality(planned.segment_ids) > filestore.max_segments(planned.size) then
        refusal := filestore.refusal('SEGMENT_LIST_FULL') || jsonb_build_object(
          'segments', filestore.segment_list((p_file).project_id, (p_file).segment_ids));
      end if;
    when 'edit' then
      if (p_file).version <> (p_commit ->> 'baseVersion')::integer then
        refusal := filestore.refusal('VERSION_CONFLICT', jsonb_build_object('version', (p_file).version));
      end if;
      -- Segments of the base version and new ones, in the order of the edited file.
      select coalesce(array_agg(r.value::uuid order by r.position), '{}'),
             coalesce(sum(coalesce(kept.size, (added.value ->> 'size')::integer)), 0),
             count(*) filter (where kept.id is null and added.value is null)
      into planned.segment_ids, planned.size, v_unknown
      from jsonb_array_elements_text(p_commit -> 'segmentIds') with ordinality as r (value, position)
      -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
      left join lateral (
        select s.id, s.size from filestore.segments s
        where s.id = r.value::uuid and s.project_id = (p_file).project_id offset 0
      ) kept on true
      left join jsonb_array_elements(p_commit -> 'segments') added on added.value ->> 'id' = r.value;
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
        segment_ids = p_next.segment_ids, updated_at = v_now
    where f.project_id = p_session.project_id and f.id = v_file.id
    returning * into v_file;
  else
    insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
    values (p_session.project_id, p_path, 1, p_next.mime_type, p_next.size, p_next.segment_ids, v_now, v_now)
    on conflict (project_id, path) do nothing
    returning * into v_file;
    if not found then return null; end if;
  end if;
  insert into filestore.file_versions (
    project_id, file_id, version, mime_type, size, is_deleted, segment_ids, commit_id, key_id, created_at)
  values (
    p_session.project_id, v_file.id, v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted,
    v_file.segment_ids, p_commit_id, p_session.key_id, v_now);
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
language sql stable as $$
  select jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record((p_file).id, (p_file).path, (p_file).version, (p_file).mime_type, (p_file).size,
      (p_file).created_at, (p_file).updated_at)
      || case when (p_file).is_deleted then '{"deleted": true}'::jsonb else '{}'::jsonb end
      || coalesce(p_extra, '{}'::jsonb),
    'segments', p_segments))
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
  v_quota_left constant bigint := filestore.quota_left(p_session);
  v_file filestore.files;
  v_refusal jsonb;
  v_next filestore.next_version;
  v_check_every constant integer := (filestore.limits()).compaction_check_every_segments;
  v_segments_before integer;
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
    select (p.planned).segment_ids, (p.planned).size, (p.planned).mime_type, (p.planned).is_deleted, p.refusal
    into v_next.segment_ids, v_next.size, v_next.mime_type, v_next.is_deleted, v_refusal
    from filestore.plan_version(p_session, v_file, p_kind, v_commit) p;
    if v_refusal is not null then return v_refusal; end if;
    -- A commit that stores nothing is accepted even where the quota is exhausted.
    if v_new_bytes > 0 and v_new_bytes > v_quota_left then
      return filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.max_project_bytes));
    end if;
    v_segments_before := coalesce(cardinality(v_file.segment_ids), 0);
    v_file := filestore.put_version(p_session, v_file, v_path, v_next, (p_commit ->> 'commitId')::uuid);
    exit when v_file.id is not null;
  end loop;
  perform filestore.add_segments(p_session.project_id, v_segments);
  perform filestore.add_usage(p_session, v_file.id, v_new_bytes, 1);
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
begin
  perform filestore.quota_left(p_session);
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
    v_target := filestore.put_version(
      p_session, v_target, v_destination,
      row (v_source.segment_ids, v_source.size, v_source.mime_type, false)::filestore.next_version,
      (p_commit ->> 'commitId')::uuid);
    exit when v_target.id is not null;
  end loop;
  if p_is_move then
    v_source := filestore.put_version(
      p_session, v_source, v_path, row ('{}', 0, v_source.mime_type, true)::filestore.next_version,
      (p_commit ->> 'sourceCommitId')::uuid);
    perform filestore.add_usage(p_session, v_source.id, 0, 1);
  end if;
  perform filestore.add_usage(p_session, v_target.id, 0, 1);
  return filestore.commit_result(v_target, p_commit -> 'extra');
end
$$;
comment on function filestore.copy_file is
  'The current content of one path becomes the next version of another; a move leaves a tombstone. No bytes are '
  'copied.';
call filestore.grant_execute('filestore.copy_file', 'filestore_engine');

-- ---------------------------------------------------------------------------------------------------------------------
-- Safe retries. The key is taken and the response stored in the transaction of the commit.

create function filestore.stored_response(p_session filestore.session, p_idempotency jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row filestore.idempotency_keys;
begin
  select * into v_row from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and i.key = p_idempotency ->> 'key'
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

create function filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_idempotency constant jsonb := p_commit -> 'idempotency';
  v_expired constant timestamptz :=
    clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  v_result jsonb;
begin
  if v_idempotency is not null then
    -- Expired keys of the project are removed a few at a time, by the requests that use keys.
    delete from filestore.idempotency_keys i
    where i.project_id = p_session.project_id and i.key in (
      select o.key from filestore.idempotency_keys o
      where o.project_id = p_session.project_id and o.created_at < v_expired
      order by o.created_at limit 10 for update skip locked);
    begin
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key'
        and i.created_at < v_expired;
      -- Waits for a running request with the same key, whose response is stored by then.
      insert into filestore.idempotency_keys (project_id, key, fingerprint, created_at)
      values (
        p_session.project_id, v_idempotency ->> 'key', decode(v_idempotency ->> 'fingerprint', 'hex'),
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

  v_result := case
    when p_kind in ('copy', 'move') then filestore.copy_file(p_session, p_kind = 'move', p_commit)
    else filestore.commit_version(p_session, p_kind, p_commit) end;

  if v_idempotency is not null then
    if v_result ? 'refusal' then
      delete from filestore.idempotency_keys i
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key';
    else
      update filestore.idempotency_keys i set response = v_result -> 'value' -> 'file'
      where i.project_id = p_session.project_id and i.key = v_idempotency ->> 'key';
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
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if not filestore.may_write(v_session, coalesce(p_commit ->> 'destination', p_commit ->> 'path'))
    or not (p_kind = 'copy' or filestore.may_write(v_session, p_commit ->> 'path')) then
    return v_session.envelope || filestore.outside_prefix(v_session);
  end if;
  return v_session.envelope || filestore.commit_idempotent(v_session, p_kind, p_commit);
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
  v_bytes bigint;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  perform filestore.quota_left(v_session);
  select * into v_file from filestore.files f
  where f.project_id = v_session.project_id and f.path = p_path and not f.is_deleted for no key update;
  v_from := array_position(v_file.segment_ids, p_run[1]);
  if v_from is null or v_file.segment_ids[v_from : v_from + cardinality(p_run) - 1] <> p_run then
    -- An earlier attempt at this very compaction may have done it.
    return v_session.envelope || jsonb_build_object(
      'value', coalesce((p_compacted -> 0 ->> 'id')::uuid = any (v_file.segment_ids), false));
  end if;
  select sum((s.value ->> 'size')::bigint) into v_bytes from jsonb_array_elements(p_compacted) s;
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
  perform filestore.add_usage(v_session, v_file.id, v_bytes, 0);
  return v_session.envelope || jsonb_build_object('value', true);
end
$$;
comment on function public.filestore_compact is
  'Replaces a run of adjacent segments in a file''s current segment list by segments with the same bytes. Makes no '
  'version. False where the list holds neither the run nor its replacement.';
call filestore.publish('public.filestore_compact', 'filestore_engine', 'service_role');
-- 50_reads.sql =======================================================================================================
-- Reading one file: its record, its content, two of its versions, its history.

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
  if not found then return filestore.not_found(v_file); end if;
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
  if v_file.is_deleted then return filestore.not_found(v_file); end if;
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
  return v_session.envelope || filestore.find_version(v_session, p_path, p_version, true);
end
$$;
comment on function public.filestore_content is
  'The file record and the segments of its content. With p_idempotency, for a write that reads first (an empty object '
  'if it has no key): the stored response to its first request, if there was one. Refusals: FILE_NOT_FOUND, '
  'VERSION_NOT_FOUND, IDEMPOTENCY_KEY_REUSED.';
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
  if not found then return v_session.envelope || filestore.not_found(v_file); end if;
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
  if not found then return (v_session.envelope || filestore.refusal('FILE_NOT_FOUND'))::json; end if;
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
  cross join lateral (select filestore.iso(v.created_at) as iso offset 0) t
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
  v_records text;
begin
  -- fence, in all three: the planner must not flatten `offset 0`, or the time would be formatted twice.
  if not p_recursive then
    -- fence: a range of one directory, not an equality, keeps the directory in the order of the index.
    select string_agg(filestore.record_text(p.id, p.path, p.version, p.mime_type, p.size, t.created,
             case when p.updated_at = p.created_at then t.created else filestore.iso(p.updated_at) end),
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
    cross join lateral (select filestore.iso(p.created_at) as created offset 0) t;
  elsif p_directory = '' then
    select string_agg(filestore.record_text(p.id, p.path, p.version, p.mime_type, p.size, t.created,
             case when p.updated_at = p.created_at then t.created else filestore.iso(p.updated_at) end),
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
    cross join lateral (select filestore.iso(p.created_at) as created offset 0) t;
  else
    -- Below the directory, after the cursor: one range.
    select string_agg(filestore.record_text(p.id, p.path, p.version, p.mime_type, p.size, t.created,
             case when p.updated_at = p.created_at then t.created else filestore.iso(p.updated_at) end),
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
    cross join lateral (select filestore.iso(p.created_at) as created offset 0) t;
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
    v_scope := v_scope || ' and filestore.is_below(f.path, $2)';
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
        'createdAt', filestore.iso(p.created_at), 'updatedAt', filestore.iso(p.updated_at)%7$s)
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
    select case when v_recursive then d.subtree_file_count else d.file_count end into v_total
    from filestore.directories d where d.project_id = v_project_id and d.path = v_directory;
    v_total := coalesce(v_total, 0);
  end if;

  if not v_recursive and v_deleted then
    select coalesce(json_agg(c.name order by c.name), '[]') into v_directories
    from (
      select distinct
        split_part(substr(f.path, length(v_directory) + case when v_directory = '' then 1 else 2 end), '/', 1)
          collate "C" as name
      from filestore.files f
      where f.project_id = v_project_id and f.is_deleted and f.directory <> v_directory
        and (v_directory = '' or filestore.is_below(f.path, v_directory))
      order by name limit (filestore.limits()).list_directories_max
    ) c;
  elsif not v_recursive then
    select coalesce(json_agg(c.name order by c.path), '[]') into v_directories
    from (
      select d.path, substring(d.path from '[^/]*$') as name
      from filestore.directories d
      where d.project_id = v_project_id and d.parent = v_directory and d.subtree_file_count > 0
      order by d.path limit (filestore.limits()).list_directories_max
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
        from filestore.directories d
        where d.project_id = v_session.project_id and d.path = v_prefix and d.subtree_file_count > 0
          and v_is_above), '[]') end,
      'total', 0, 'limit', p_query -> 'limit', 'offset', p_query -> 'offset', 'hasMore', false));
  end if;
  return filestore.page_response(v_session, v_page);
end
$$;
comment on function public.filestore_list is
  'One page of a directory''s files, of those that the key may see. p_query: directory, recursive, limit, offset, '
  'sortBy, sortOrder and the filters.';
call filestore.publish('public.filestore_list', 'filestore_engine', 'service_role');
-- 60_accounts.sql ====================================================================================================
-- Projects and keys, for the accounts that own them and for keys with the scope admin.
--
-- Signed-in users call the functions `filestore_account_*` under their own JWT. These run as `filestore_account`, whose
-- policies show the projects that the account owns. The project concerned is set for the transaction once it was found
-- under those policies.

create function filestore.account_key(p_key filestore.api_keys) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name, 'environment', (p_key).environment,
    'scopes', (p_key).scopes, 'pathPrefix', (p_key).path_prefix,
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at))
$$;
comment on function filestore.account_key is 'A key as its project''s owner sees it.';
call filestore.grant_execute('filestore.account_key', 'filestore_account');

create function filestore.is_active(p_key filestore.api_keys) returns boolean
language sql stable
as $$ select (p_key).revoked_at is null and ((p_key).expires_at is null or (p_key).expires_at > clock_timestamp()) $$;
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
        'files', coalesce((
          select d.subtree_file_count from filestore.directories d where d.project_id = p.id and d.path = ''), 0),
        'bytes', coalesce((select sum(u.bytes) from filestore.project_usage u where u.project_id = p.id), 0),
        'versions', coalesce((select sum(u.versions) from filestore.project_usage u where u.project_id = p.id), 0),
        'requestsThisMinute', coalesce((
          select w.request_count from filestore.rate_windows w
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

create function filestore.validate_name(p_name text, p_minimum integer) returns jsonb
language sql immutable as $$
  select case
    when p_name is null or char_length(p_name) not between p_minimum and (filestore.limits()).name_length_max
      or p_name ~ '[[:cntrl:]]' or p_name <> btrim(p_name)
    then jsonb_build_object('refusal', jsonb_build_object('code', 'VALIDATION_ERROR', 'details', jsonb_build_object(
      'issues', jsonb_build_array(jsonb_build_object('path', 'name', 'reason', format(
        'must have %s to %s characters, no control characters and no space at either end',
        p_minimum, (filestore.limits()).name_length_max))))))
  end
$$;
comment on function filestore.validate_name is 'The refusal of an invalid name of a project or key, or null.';
call filestore.grant_execute('filestore.validate_name', 'filestore_account');

-- Projects of an account ----------------------------------------------------------------------------------------------

create function filestore.create_project(p_name text, p_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_account_id constant uuid := filestore.current_account_id();
  v_limit constant integer := (filestore.limits()).account_projects_max;
begin
  if exists (select from filestore.projects p where p.owner_id = v_account_id and p.id = p_id) then
    return jsonb_build_object('value', filestore.account_project(p_id));
  end if;
  if (select count(*) from filestore.projects p where p.owner_id = v_account_id) >= v_limit then
    return filestore.refusal('PROJECT_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  insert into filestore.projects (id, owner_id, name, tier) values (p_id, v_account_id, p_name, 'free')
  on conflict (owner_id, name) do nothing;
  if not found then return filestore.refusal('PROJECT_NAME_TAKEN'); end if;
  return jsonb_build_object('value', filestore.account_project(p_id));
end
$$;
comment on function filestore.create_project is
  'A free project of the signed-in account; the one with this id, if an earlier attempt created it. Callers hold the '
  'account''s lock, so that the limit is exact.';
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
begin
  if filestore.current_account_id() is null then return filestore.refusal('INVALID_SESSION'); end if;
  if not exists (select from filestore.projects p where p.owner_id = filestore.current_account_id()) then
    perform filestore.lock_account();
    perform filestore.create_project('My project', gen_random_uuid())
    where not exists (select from filestore.projects p where p.owner_id = filestore.current_account_id());
  end if;
  return jsonb_build_object('value', (
    select coalesce(jsonb_agg(filestore.account_project(p.id) order by p.created_at, p.id), '[]')
    from filestore.projects p where p.owner_id = (select filestore.current_account_id())));
end
$$;
comment on function public.filestore_account_projects is
  'The account''s projects, oldest first. Creates the first one.';
call filestore.publish('public.filestore_account_projects', 'filestore_account', 'authenticated');

create function public.filestore_account_create_project(p_name text, p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
begin
  if filestore.validate_name(p_name, 1) is not null then return filestore.validate_name(p_name, 1); end if;
  if filestore.current_account_id() is null then return filestore.refusal('INVALID_SESSION'); end if;
  perform filestore.lock_account();
  return filestore.create_project(p_name, p_id);
end
$$;
comment on function public.filestore_account_create_project is
  'Creates a free project of the account with this id, or returns it if it exists. Refusals: PROJECT_NAME_TAKEN, '
  'PROJECT_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_account_create_project', 'filestore_account', 'authenticated');

-- Keys of a project ---------------------------------------------------------------------------------------------------

create function filestore.create_key(p_project_id uuid, p_key jsonb, p_replaced_id uuid default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_key filestore.api_keys;
  v_name constant text := coalesce(p_key ->> 'name', '');
  v_limit constant integer := (filestore.limits()).project_keys_max;
begin
  if (
    select count(*) from filestore.api_keys k
    where k.project_id = p_project_id and filestore.is_active(k) and k.id is distinct from p_replaced_id
  ) >= v_limit then
    return filestore.refusal('KEY_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  if filestore.validate_name(v_name, 0) is not null then return filestore.validate_name(v_name, 0); end if;
  insert into filestore.api_keys (project_id, name, environment, scopes, path_prefix, expires_at, key_hash, prefix)
  values (
    p_project_id, v_name, p_key ->> 'environment',
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
  v_grace_period constant interval :=
    make_interval(secs => greatest(coalesce((p_key ->> 'gracePeriodSeconds')::integer, 0), 0));
  v_is_immediate constant boolean := v_grace_period = interval '0';
begin
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
        else least(k.expires_at, clock_timestamp() + v_grace_period) end
  where k.project_id = p_project_id and k.id = v_old.id returning * into v_old;
  return jsonb_build_object('value', v_new -> 'value' || jsonb_build_object('replaced', filestore.account_key(v_old)));
end
$$;
comment on function filestore.rotate_key is
  'A new key in place of an active one, which is revoked immediately or expires after the grace period. Refusals: '
  'KEY_NOT_FOUND, KEY_REVOKED, KEY_LIMIT_REACHED.';
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
  if p_project_id is distinct from filestore.current_project_id() then
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
        p_project_id, least((p_parameters ->> 'limit')::integer, (filestore.limits()).page_limit_max)));
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
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
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
  v_project_id constant uuid := filestore.open_own_project(p_project_id);
begin
  if v_project_id is null then
    return filestore.refusal(
      case when filestore.current_account_id() is null then 'INVALID_SESSION' else 'PROJECT_NOT_FOUND' end);
  end if;
  return filestore.administer(v_project_id, p_action, p_parameters);
end
$$;
comment on function public.filestore_account_administer is
  'filestore.administer for the owner of the project. Refusals: PROJECT_NOT_FOUND, and those of the action.';
call filestore.publish('public.filestore_account_administer', 'filestore_account', 'authenticated');

create function public.filestore_account_session(p_project_id uuid, p_token_hash text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id constant uuid := filestore.open_own_project(p_project_id);
begin
  if v_project_id is null then
    return filestore.refusal(
      case when filestore.current_account_id() is null then 'INVALID_SESSION' else 'PROJECT_NOT_FOUND' end);
  end if;
  insert into filestore.console_sessions as s (project_id, token_hash, expires_at)
  values (
    v_project_id, decode(p_token_hash, 'hex'),
    clock_timestamp() + make_interval(secs => (filestore.limits()).console_session_seconds))
  on conflict (project_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at;
  return jsonb_build_object('value', v_project_id);
end
$$;
comment on function public.filestore_account_session is
  'Lets the console''s token stand in for a key of the project, for a limited time. Refusals: PROJECT_NOT_FOUND.';
call filestore.publish('public.filestore_account_session', 'filestore_account', 'authenticated');
-- 70_operator.sql ====================================================================================================
-- Projects and keys, for the operator's command line. Only the secret key may call these. They return a record, or
-- {"error": code, "message": text}.

create function filestore.project_record(p_project filestore.projects) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', (p_project).id, 'name', (p_project).name, 'tier', (p_project).tier,
    'requestsPerMinute', coalesce((p_project).requests_per_minute, t.requests_per_minute),
    'maxFileBytes', coalesce((p_project).max_file_bytes, t.max_file_bytes),
    'maxProjectBytes', coalesce((p_project).max_project_bytes, t.max_project_bytes),
    'createdAt', filestore.iso((p_project).created_at))
  from filestore.tiers t where t.name = (p_project).tier
$$;
comment on function filestore.project_record is 'A project with the limits in force.';
call filestore.grant_execute('filestore.project_record', 'filestore_admin');

create function filestore.key_record(p_key filestore.api_keys) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name,
    'project', jsonb_build_object('id', p.id, 'name', p.name),
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at))
  from filestore.projects p where p.id = (p_key).project_id
$$;
comment on function filestore.key_record is 'A key without its hash.';
call filestore.grant_execute('filestore.key_record', 'filestore_admin');

create function filestore.error(p_code text, p_message text) returns jsonb
language sql immutable
as $$ select jsonb_build_object('error', p_code, 'message', p_message) $$;
comment on function filestore.error is 'An error of the administration.';
call filestore.grant_execute('filestore.error', 'filestore_admin');

create function filestore.resolve_project(p_project text, out project_id uuid, out error jsonb)
language plpgsql stable set search_path = '' as $$
declare
  v_matches integer;
begin
  select count(*) into v_matches from filestore.projects p where p.id::text = lower(p_project) or p.name = p_project;
  if v_matches = 0 then
    error := filestore.error('PROJECT_NOT_FOUND', format('There is no project %s.', quote_literal(p_project)));
  elsif v_matches > 1 then
    error := filestore.error(
      'PROJECT_AMBIGUOUS', format('Several projects are named %s; give its id.', quote_literal(p_project)));
  else
    select p.id into project_id from filestore.projects p where p.id::text = lower(p_project) or p.name = p_project;
  end if;
end
$$;
comment on function filestore.resolve_project is 'The one project with this id or name.';
call filestore.grant_execute('filestore.resolve_project', 'filestore_admin');

create function public.filestore_admin_create_project(p_name text, p_tier text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project filestore.projects;
begin
  if p_name is null or char_length(p_name) not between 1 and (filestore.limits()).name_length_max
    or p_name ~ '[[:cntrl:]]' or p_name <> btrim(p_name) then
    return filestore.error(
      'INVALID_NAME',
      'A project name has 1 to 100 characters, no control characters and no space at either end.');
  end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  insert into filestore.projects (name, tier) values (p_name, p_tier)
  on conflict (owner_id, name) do nothing returning * into v_project;
  if not found then
    return filestore.error('NAME_TAKEN', format('A project %s already exists.', quote_literal(p_name)));
  end if;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_create_project is
  'Creates a project. Errors: INVALID_NAME, UNKNOWN_TIER, NAME_TAKEN.';
call filestore.publish('public.filestore_admin_create_project', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_projects() returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object(
    'projects', coalesce(jsonb_agg(filestore.project_record(p) order by p.created_at, p.id), '[]'))
  from filestore.projects p
$$;
comment on function public.filestore_admin_list_projects is 'All projects, oldest first.';
call filestore.publish('public.filestore_admin_list_projects', 'filestore_admin', 'service_role');

create function public.filestore_admin_set_tier(
  p_project text, p_tier text, p_requests_per_minute integer default null, p_max_file_bytes bigint default null,
  p_max_project_bytes bigint default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_project filestore.projects;
  v_error jsonb;
begin
  select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
  if v_error is not null then return v_error; end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  if p_requests_per_minute < 1 or p_max_file_bytes < 1 or p_max_project_bytes < 1 then
    return filestore.error('INVALID_LIMIT', 'A limit is a whole number from 1.');
  end if;
  update filestore.projects p
  set tier = p_tier, requests_per_minute = p_requests_per_minute, max_file_bytes = p_max_file_bytes,
      max_project_bytes = p_max_project_bytes
  where p.id = v_project_id returning * into v_project;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_set_tier is
  'Sets a project''s tier and its own limits (null: those of the tier). Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, '
  'UNKNOWN_TIER, INVALID_LIMIT.';
call filestore.publish('public.filestore_admin_set_tier', 'filestore_admin', 'service_role');

create function filestore.find_account_id(p_account text) returns uuid
language plpgsql stable security definer set search_path = '' as $$
declare
  v_account_id uuid;
begin
  if to_regclass('auth.users') is not null then
    execute 'select u.id from auth.users u where u.id::text = lower($1) or lower(u.email) = lower($1)'
    into v_account_id using p_account;
  end if;
  return v_account_id;
end
$$;
comment on function filestore.find_account_id is
  'The account with this id or e-mail address, or null. Runs as the role that applies migrations, which may read '
  'auth.users.';
call filestore.grant_execute('filestore.find_account_id', 'filestore_admin');

create function public.filestore_admin_set_owner(p_project text, p_account text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_error jsonb;
  v_project filestore.projects;
  v_account_id constant uuid := filestore.find_account_id(p_account);
begin
  select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
  if v_error is not null then return v_error; end if;
  if v_account_id is null then
    return filestore.error(
      'ACCOUNT_NOT_FOUND',
      format('There is no account %s; accounts are created in the console.', quote_literal(p_account)));
  end if;
  update filestore.projects p set owner_id = v_account_id where p.id = v_project_id returning * into v_project;
  return filestore.project_record(v_project);
exception when unique_violation then
  return filestore.error('NAME_TAKEN', format('The account has a project %s already.', quote_literal(p_project)));
end
$$;
comment on function public.filestore_admin_set_owner is
  'Gives a project to an account, by id or e-mail address. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, '
  'ACCOUNT_NOT_FOUND, NAME_TAKEN.';
call filestore.publish('public.filestore_admin_set_owner', 'filestore_admin', 'service_role');

create function public.filestore_admin_create_key(
  p_project text, p_name text, p_key_hash text, p_prefix text, p_expires_at timestamptz default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_error jsonb;
  v_key filestore.api_keys;
begin
  select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
  if v_error is not null then return v_error; end if;
  if char_length(p_name) > (filestore.limits()).name_length_max or p_name ~ '[[:cntrl:]]' then
    return filestore.error('INVALID_NAME', 'A key''s name has at most 100 characters and no control characters.');
  end if;
  insert into filestore.api_keys (project_id, name, key_hash, prefix, expires_at)
  values (v_project_id, coalesce(p_name, ''), decode(p_key_hash, 'hex'), p_prefix, p_expires_at)
  returning * into v_key;
  return filestore.key_record(v_key);
end
$$;
comment on function public.filestore_admin_create_key is
  'Stores the hash of a new key. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, INVALID_NAME.';
call filestore.publish('public.filestore_admin_create_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_keys(p_project text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_error jsonb;
begin
  if p_project is not null then
    select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
    if v_error is not null then return v_error; end if;
  end if;
  return jsonb_build_object('keys', coalesce((
    select jsonb_agg(filestore.key_record(k) order by k.created_at, k.id)
    from filestore.api_keys k where p_project is null or k.project_id = v_project_id), '[]'));
end
$$;
comment on function public.filestore_admin_list_keys is
  'All keys, of one project if given, oldest first. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS.';
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

create function public.filestore_admin_rotate_key(p_id uuid, p_key_hash text, p_prefix text) returns jsonb
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
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id = p_id;
  return filestore.key_record(v_new);
end
$$;
comment on function public.filestore_admin_rotate_key is
  'Replaces a key by a new one with the same name, rights and expiry; the old one is revoked immediately. Errors: '
  'KEY_NOT_FOUND, KEY_REVOKED.';
call filestore.publish('public.filestore_admin_rotate_key', 'filestore_admin', 'service_role');
-- 71_sweep.sql =======================================================================================================
-- Garbage collection: finding uploads that no commit ever referenced, so that the edge function can remove them.
--
-- Objects are named {project_id}/{yyyymmdd}/{segment_id}. A day is swept once it has been over for a day. Commits
-- refuse segments of such days, so an object without a row never gets one.

create function public.filestore_sweep_next() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- An hour after commits begin to refuse a day: a commit that was accepted before that has ended by now.
  v_through constant date := ((filestore.sweep_clock() - interval '1 hour') at time zone 'UTC')::date - 2;
  v_next jsonb;
begin
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
  'The project whose sweep is furthest behind, and how far it has come; null where there is nothing to do.';
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
-- 80_search_index.sql ================================================================================================
-- The search index: text of one version of each file. A search shows it only while that version is the current one.
--
-- A trigger queues each new version, in the transaction of its commit. The edge function claims files from the queue,
-- reads their bytes, and stores text and chunks, later the chunks' embeddings.

create function filestore.search_words(p_path text, p_content text) returns tsvector
language plpgsql stable set search_path = '' as $$
declare
  v_length integer := length(p_content);
  -- `src/rateLimit.ts` is found by rate, limit, src and ts.
  v_path constant text := regexp_replace(
    regexp_replace(p_path, '([a-z0-9])([A-Z])', '\1 \2', 'g'), '[^[:alnum:]]+', ' ', 'g');
begin
  loop
    begin
      return setweight(to_tsvector('pg_catalog.english', v_path), 'A')
        || setweight(to_tsvector('pg_catalog.english', left(p_content, v_length)), 'D');
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

create function public.filestore_search_claim(
  p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer, p_model text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_claim_id constant uuid := gen_random_uuid();
  v_project_ids uuid[];
  v_file_ids uuid[];
  v_claimed jsonb;
  v_next_due bigint;
  v_debounce constant interval := (filestore.limits()).reindex_debounce_milliseconds * interval '1 millisecond';
  v_debounce_per_byte constant interval :=
    (filestore.limits()).reindex_debounce_microseconds_per_byte * interval '1 microsecond';
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  with due as (
    select q.project_id, q.file_id, q.bytes, q.due_at,
           case when p_stage = 1 and q.bytes <= p_bytes
             then greatest(t.indexed_at, q.claimed_at) + v_debounce + q.bytes * v_debounce_per_byte end as eligible_at
    from filestore.search_queue q
    left join filestore.search_texts t on t.project_id = q.project_id and t.file_id = q.file_id
    where q.stage = p_stage and q.due_at <= clock_timestamp()
    order by q.due_at limit p_files for update of q skip locked
  ), deferred as (
    update filestore.search_queue q set due_at = d.eligible_at, claim_id = null
    from due d
    where q.project_id = d.project_id and q.file_id = d.file_id and d.eligible_at > clock_timestamp()
  ), taken as (
    -- The first one always, and others while they fit. Files that are too large to be indexed count as 0 bytes.
    select d.project_id, d.file_id,
           sum(case when d.bytes > p_bytes then 0 else d.bytes end) over in_order <= p_bytes as fits,
           row_number() over in_order = 1 as is_first
    from due d
    where d.eligible_at is null or d.eligible_at <= clock_timestamp()
    window in_order as (order by d.due_at, d.file_id)
  ), claimed as (
    update filestore.search_queue q
    -- Each attempt that is not finished doubles the wait for the next one.
    set claim_id = v_claim_id, claimed_at = clock_timestamp(), attempts = q.attempts + 1,
        due_at = clock_timestamp() + p_lease_seconds * power(2, least(q.attempts, 10)) * interval '1 second'
    from taken t
    where q.project_id = t.project_id and q.file_id = t.file_id and (t.fits or t.is_first)
    returning q.project_id, q.file_id
  )
  select array_agg(c.project_id), array_agg(c.file_id) into v_project_ids, v_file_ids from claimed c;
  -- A separate statement, for a new snapshot: the rows locked above may be newer than the snapshot of their statement,
  -- and files read in it would be older. No commit can come in between: it would wait for the queue's row.
  select jsonb_agg(jsonb_build_object(
    'projectId', c.project_id, 'fileId', c.file_id, 'version', c.version, 'path', f.path, 'mimeType', f.mime_type,
    'size', f.size, 'isDeleted', f.is_deleted,
    'segments', case when p_stage = 1 and not f.is_deleted and f.size <= p_bytes
      then filestore.segment_list(c.project_id, f.segment_ids) else '[]'::jsonb end,
    'chunks', case when p_stage = 2 then (
      select coalesce(jsonb_agg(
        jsonb_build_object('hash', k.hash, 'text', substr(t.content, k.start + 1, k.length))), '[]')
      from (
        select k.hash, k.start, k.length from filestore.search_chunks k
        where k.project_id = c.project_id and k.file_id = c.file_id and k.version = c.version
          and k.model is distinct from p_model
        order by k.start limit p_chunks
      ) k join filestore.search_texts t on t.project_id = c.project_id and t.file_id = c.file_id
    ) else '[]'::jsonb end))
  into v_claimed
  from unnest(v_project_ids, v_file_ids) i (project_id, file_id)
  join filestore.search_queue c on c.project_id = i.project_id and c.file_id = i.file_id
  join filestore.files f on f.project_id = c.project_id and f.id = c.file_id;
  select greatest(extract(epoch from q.due_at - clock_timestamp()) * 1000, 0)::bigint into v_next_due
  from filestore.search_queue q where q.stage = p_stage and q.claim_id is null order by q.due_at limit 1;
  return jsonb_build_object(
    'claimId', v_claim_id, 'files', coalesce(v_claimed, '[]'), 'nextDueMilliseconds', v_next_due);
end
$$;
comment on function public.filestore_search_claim is
  'Claims files from the queue for a while, at most so many files and so many bytes of text: stage 1 with the '
  'segments of their text, stage 2 with chunks that p_model has not embedded. A file that is not finished by then is '
  'claimed again. A file is indexed again at the earliest 1 second and 8 microseconds per byte (9.4 s for 1 MiB) '
  'after the last time. Also returns when the next file is due.';
call filestore.publish('public.filestore_search_claim', 'filestore_search', 'service_role');

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
    project_id, file_id, version, path, mime_type, skipped, content, bytes, words, indexed_at)
  values (
    v_project_id, v_file_id, v_version, p_text ->> 'path', p_text ->> 'mimeType', p_text ->> 'skipped', v_content,
    octet_length(v_content), filestore.search_words(p_text ->> 'path', coalesce(p_text ->> 'content', '')),
    clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped,
        content = excluded.content, bytes = excluded.bytes, words = excluded.words,
        indexed_at = excluded.indexed_at, model = null
    where t.version < excluded.version;
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
  set model = p_model, embedding = array(
    select v.value::real from jsonb_array_elements_text(e.value -> 'embedding') with ordinality v order by v.ordinality)
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
  'Stores embeddings of a claimed file''s chunks and releases the claim. Returns how many chunks are left, null where '
  'the claim was not valid.';
call filestore.publish('public.filestore_search_store_embeddings', 'filestore_search', 'service_role');

create function public.filestore_search_requeue(p_model text, p_files integer) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer;
begin
  insert into filestore.search_queue (project_id, file_id, version, path, bytes, stage, due_at)
  select t.project_id, t.file_id, t.version, t.path, t.bytes, 2, clock_timestamp()
  from filestore.search_texts t
  where t.skipped is null and (t.model is null or t.model < p_model or t.model > p_model)
    and exists (select from filestore.search_chunks k where k.project_id = t.project_id and k.file_id = t.file_id)
    and not exists (select from filestore.search_queue q where q.project_id = t.project_id and q.file_id = t.file_id)
  limit p_files
  on conflict do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.filestore_search_requeue is
  'Queues files whose chunks another embedding model has processed, or none: after embeddings were configured or '
  'changed.';
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
language sql stable as $$
  select case when coalesce(p_query ->> 'directory', '') = '' then ''
      else format(' and filestore.is_below(t.path, %L)', p_query ->> 'directory') end
    || coalesce(' and t.path > ' || quote_literal(p_query ->> 'after'), '')
    || coalesce(' and t.path ~ ' || quote_literal(p_query ->> 'glob'), '')
    || coalesce(' and t.mime_type = ' || quote_literal(p_query ->> 'contentType'), '')
$$;
comment on function filestore.search_filter is
  'Conditions on search_texts t, with every value quoted. The glob is given as a regular expression made only of '
  '[^/]*, [^/], .* and literals.';
call filestore.grant_execute('filestore.search_filter', 'filestore_search');

create function filestore.search_pattern_candidates(p_project_id uuid, p_query jsonb) returns setof uuid
language plpgsql stable security definer set search_path = '' as $$
declare
  v_clause jsonb;
  v_from constant text := ' from filestore.search_texts t where t.project_id = $1' || filestore.search_filter(p_query);
  v_likes text[];
  v_first text[];
  v_is_indexed boolean := false;
  v_others text := '';
  v_few_max constant integer := (filestore.limits()).search_found_at_once_max;
  v_files constant integer := p_query ->> 'files';
  v_skip constant integer := p_query ->> 'skip';
  v_few uuid[];
  v_count bigint;
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
    into v_few, v_count using p_project_id, v_few_max + 1;
    perform set_config('enable_indexscan', 'on', true), set_config('enable_seqscan', 'on', true);
    if v_count <= v_few_max then
      return query select f.id from unnest(v_few) with ordinality f (id, place)
        where f.place > v_skip and f.place <= v_skip + v_files order by f.place;
      return;
    end if;
  end if;
  -- Many match, so a walk along the paths soon finds a page of them.
  return query execute 'select t.file_id' || v_from
    || coalesce(' and (' || array_to_string(v_first, ' or ') || ')', '') || v_others
    || ' order by t.path limit $2 offset $3'
  using p_project_id, v_files, v_skip;
end
$$;
comment on function filestore.search_pattern_candidates is
  'Files of a project whose text may match, by path. Runs as filestore_search: callers read the ids again under their '
  'own policies.';
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
    'returns table (file_id uuid, hash uuid, distance double precision) language sql stable ';
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
    'create function filestore.search_has_vectors() returns boolean language sql immutable as %L',
    case when v_schema is null then 'select false' else 'select true' end);
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
language sql stable
as $$ select websearch_to_tsquery('pg_catalog.english', p_words) $$;
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
    if not found and v_words::text ~ ' & ' and v_words::text !~ '!|<|\|' then
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
language sql immutable as $$
  select case
    when p_prefix is null or p_directory = p_prefix or starts_with(p_directory, p_prefix || '/') then p_directory
    when p_directory = '' or starts_with(p_prefix, p_directory || '/') then p_prefix
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
      and (p_scope = '' or filestore.is_below(q.path, p_scope))
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
  with found as materialized (
    select s.file_id, s.place
    from filestore.search_pattern_candidates(p_session.project_id, p_query) with ordinality s (file_id, place)
  ), visible as (
    select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at, t.skipped, t.content, n.place,
           sum(t.bytes) over (order by n.place) - t.bytes < (p_query ->> 'bytes')::bigint as fits
    from found n
    -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a plan that is kept must
    -- not scan a table.
    cross join lateral (
      select * from filestore.files f
      where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
        and (p_scope = '' or filestore.is_below(f.path, p_scope)) offset 0
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
    -- Where the next page starts: after the last file returned, or, where all were, after the last candidate.
    'next', case
      when not coalesce(bool_and(v.fits), true) then max(v.path) filter (where v.fits)
      when (select count(*) from found) >= (p_query ->> 'files')::integer then (
        select t.path from filestore.search_texts t
        where t.project_id = p_session.project_id
          and t.file_id = (select n.file_id from found n order by n.place desc limit 1))
    end)
  into v_page
  from visible v;
  return v_page;
end
$$;
comment on function filestore.search_by_pattern is
  'Candidates with their text, in order of path, up to a number of bytes, but at least one file.';
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
    select n.list, n.file_id, n.hash, n.score, f.path, t.bytes,
           row_number() over (partition by n.list, n.file_id order by n.score desc, n.hash) as nth
    from found n
    -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a plan that is kept must
    -- not scan a table.
    cross join lateral (
      select * from filestore.files f
      where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
        and (p_scope = '' or filestore.is_below(f.path, p_scope)) offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
    ) t
  ), placed as (
    select v.*, row_number() over (partition by v.list order by v.score desc, v.path) as place
    from visible v where v.nth = 1
  ), fused as (
    select p.file_id, p.path, p.bytes, (array_agg(p.hash) filter (where p.list = 'meaning'))[1] as hash,
           case when v_is_fused then sum(1 / (c_fusion + p.place)) else max(p.score) end as score
    from placed p group by p.file_id, p.path, p.bytes
  ), page as (
    select u.*, row_number() over (order by u.score desc, u.path) as place from fused u
    order by u.score desc, u.path limit (p_query ->> 'files')::integer + 1 offset (p_query ->> 'skip')::integer
  ), sized as (
    select p.*, row_number() over (order by p.place) <= (p_query ->> 'files')::integer
      and sum(p.bytes) over (order by p.place) - p.bytes < (p_query ->> 'bytes')::bigint as fits
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
    'files', v_page -> 'files', 'next', v_page -> 'next', 'hasMore', v_page -> 'hasMore',
    'hasVectors', filestore.search_has_vectors(),
    'lexemes', to_json(tsvector_to_array(to_tsvector('pg_catalog.english', coalesce(p_query ->> 'words', '')))),
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

drop procedure filestore.publish(regproc, text, text[]);
drop procedure filestore.grant_execute(regproc, text[]);
