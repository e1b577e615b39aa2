-- The tables of files, versions, segments, runs, stored answers and usage, each with its policies and grants.

-- A domain, since a constraint of the table would be checked again by a commit that does not change the path.
create domain filestore.file_path as text collate "C"
  check (octet_length(value) between 1 and 1024 and cardinality(string_to_array(value, '/')) <= 32
    -- No character that changes the direction of text.
    and value !~ '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]');
comment on domain filestore.file_path is 'The path of a file. Paths compare byte for byte.';

create table filestore.files (
  id uuid not null default gen_random_uuid(),
  project_id uuid not null,
  path filestore.file_path,
  directory text collate "C" not null generated always as (coalesce(substring(path from '^(.*)/'), '')) stored,
  version integer not null,
  mime_type text not null,
  size bigint not null,
  is_deleted boolean not null default false,
  is_text boolean not null default true,
  segment_ids uuid[] not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (project_id, id),
  unique (project_id, path)
) with (fillfactor = 85);
comment on table filestore.files is 'A path of a project with its latest version. Paths compare byte for byte.';
comment on column filestore.files.path is
  'Null: purged. The row remains for its receipt and for the versions that are not removed yet; the engine '
  'does not see the row.';
comment on column filestore.files.version is
  'Version and size are copies from the row of that version, which checks them. 0: a commit of several files '
  'has reserved the path and not added its version yet; no other transaction sees this.';
comment on column filestore.files.is_text is 'Whether each segment is text, so that the content can be indexed.';
comment on column filestore.files.segment_ids is
  'The segment list of the latest version. Compaction may replace adjacent segments with others with the same '
  'bytes.';
alter table filestore.files alter column segment_ids set storage external;
create index files_by_directory on filestore.files (project_id, directory, path) where not is_deleted;
create index files_deleted on filestore.files (project_id, path) where is_deleted;
-- For lists of a directory at an earlier moment.
create index files_deleted_by_directory on filestore.files (project_id, directory, path) where is_deleted;
-- One index for each sort order of a list, so that a list reads only the rows of its page. The cost is in
-- writes: a commit changes `updated_at`, so it can never be a heap-only update and adds an entry to every index
-- of its row.
create index files_by_size on filestore.files (project_id, size, path) where not is_deleted;
create index files_by_updated_at on filestore.files (project_id, updated_at, path) where not is_deleted;
create index files_by_created_at on filestore.files (project_id, created_at, path) where not is_deleted;
-- Together with files_by_updated_at: the files written last, deleted ones included.
create index files_deleted_by_updated_at on filestore.files (project_id, updated_at, path) where is_deleted;
-- A key with a path prefix sees only files below it, and no key sees the row of a purged file. A transaction
-- sees the files of branches only if it has named a place in one, so no reader of anything above has to leave them out.
create policy "A key sees and changes files of its project below its prefix"
  on filestore.files to filestore_engine
  using (project_id = filestore.current_project_id() and starts_with(path, filestore.current_path_prefix())
    and path is not null and (not starts_with(path, '.branches/') or filestore.sees_branches()));
grant select, insert, update on filestore.files to filestore_engine;
create policy "The sweep sees and changes files of every project" on filestore.files to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
create policy "A deletion removes only the files of its project"
  on filestore.files as restrictive for delete to filestore_admin
  using (project_id = filestore.current_project_id());
grant select, update, delete on filestore.files to filestore_admin;
create policy "An account sees the files of the project that it opened"
  on filestore.files to filestore_account
  using (project_id = filestore.current_project_id() and path is not null);
grant select on filestore.files to filestore_account;
create policy "The search index sees every file" on filestore.files to filestore_search using (true);
grant select on filestore.files to filestore_search;

create type filestore.operation as enum (
  'write', 'append', 'overwrite', 'edit', 'delete', 'restore', 'copy', 'move', 'undo', 'purge', 'merge');
comment on type filestore.operation is 'The operation that added a version.';

create table filestore.file_versions (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  mime_type text not null,
  size bigint not null,
  is_deleted boolean not null default false,
  is_text boolean not null default true,
  segment_ids uuid[] not null,
  commit_id uuid not null,
  position bigint not null default nextval('filestore.positions'),
  operation filestore.operation not null default 'write',
  key_id uuid not null default '00000000-0000-0000-0000-000000000000',
  account_id uuid,
  run_id text collate "C",
  actor text collate "C",
  note text,
  source_file_id uuid,
  source_version integer,
  undone_run_id text collate "C",
  created_at timestamptz(3) not null,
  redacted_at timestamptz(3),
  redacted_segment_ids uuid[],
  primary key (file_id, version),
  foreign key (project_id, file_id) references filestore.files (project_id, id),
  -- One constraint, since each constraint costs a statement 3 microseconds, whatever it checks.
  check (version > 0 and size >= 0)
);
comment on table filestore.file_versions is
  'Every version of every file. A row does not change until its content is erased or it is removed; the '
  'engine may only insert and select.';
comment on column filestore.file_versions.commit_id is
  'Chosen by the caller, so that a repeated commit finds its first result. The versions of one transaction share it.';
comment on column filestore.file_versions.position is
  'Its place in the change feed. It ascends with the versions of a file, and is never below a position that '
  'a reader of the feed has passed.';
comment on column filestore.file_versions.run_id is
  'Run id, actor and note are the provenance that the client sent, which is not verified; key_id was '
  'authenticated.';
comment on column filestore.file_versions.source_file_id is
  'The file whose version source_version contains the content of a copy, move, restore or undo.';
comment on column filestore.file_versions.redacted_at is
  'When the content was erased. From then on the list of segments is empty; the size remains.';
comment on column filestore.file_versions.redacted_segment_ids is
  'The former list of segments. These ids only show which other versions still contain a part of the '
  'content; they keep no segment.';
comment on column filestore.file_versions.key_id is 'All zeros: the console or the sweep, which have no key.';
comment on column filestore.file_versions.account_id is
  'The person who added it: in the console, by a link or by an app. Null: a key, or the sweep.';
comment on column filestore.file_versions.undone_run_id is
  'For a version that an undo added: the run that it undoes.';
alter table filestore.file_versions alter column segment_ids set storage external;
create index file_versions_by_commit on filestore.file_versions (commit_id, project_id);
-- For the change feed.
create index file_versions_by_position on filestore.file_versions (project_id, position);
-- The versions of a run by their keys, so that the versions of one key are found among those that other keys
-- wrote under the same run id. With the last columns, a list of runs need not read the versions.
create index file_versions_by_run on filestore.file_versions (project_id, run_id, key_id, file_id, version)
  include (position, created_at, actor, undone_run_id) where run_id is not null;
-- Finds the runs that have undone a run, and their files.
create index file_versions_by_undone_run on filestore.file_versions (project_id, undone_run_id, run_id)
  include (file_id) where undone_run_id is not null;
-- The moves of a run: an undo checks that it reverts both halves of each.
create index file_versions_moves_by_run on filestore.file_versions (project_id, run_id, file_id, version)
  where run_id is not null and operation = 'move';
create policy "A key sees and adds versions of its project" on filestore.file_versions to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert on filestore.file_versions to filestore_engine;
create policy "The sweep sees and erases every version" on filestore.file_versions to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update (segment_ids, note, redacted_at, redacted_segment_ids), delete
  on filestore.file_versions to filestore_admin;
create policy "An account sees the versions of the project that it opened"
  on filestore.file_versions to filestore_account using (project_id = filestore.current_project_id());
grant select on filestore.file_versions to filestore_account;

create table filestore.runs (
  project_id uuid not null,
  run_id text collate "C" not null check (octet_length(run_id) between 1 and 128),
  first_position bigint not null,
  primary key (project_id, run_id)
);
comment on table filestore.runs is
  'One row for each run that has a version. The first commit of the run inserts it; later commits lock '
  'nothing here.';
create index runs_by_age on filestore.runs (project_id, first_position);
create policy "A key sees and adds the runs of its project" on filestore.runs to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert on filestore.runs to filestore_engine;
create policy "A deletion removes the runs of its project" on filestore.runs to filestore_admin
  using (project_id = filestore.current_project_id());
grant select (project_id, run_id), delete on filestore.runs to filestore_admin;

create table filestore.segments (
  id uuid primary key,
  project_id uuid not null,
  stored_on date not null,
  size integer not null,
  sha256 bytea not null,
  newlines integer not null,
  ends_with_newline boolean not null,
  is_text boolean not null,
  check (size > 0 and octet_length(sha256) = 32 and newlines >= 0)
);
comment on table filestore.segments is
  'Immutable pieces of content. The bytes are the object {project_id}/{yyyymmdd of stored_on}/{id}.';
create policy "A key sees and adds segments of its project" on filestore.segments to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert on filestore.segments to filestore_engine;
create policy "The sweep sees and removes every segment" on filestore.segments to filestore_admin
  using (true);
grant select, update (sha256, newlines, ends_with_newline), delete on filestore.segments to filestore_admin;
create policy "The search index sees every segment" on filestore.segments to filestore_search using (true);
grant select on filestore.segments to filestore_search;

create table filestore.shared_segments (
  project_id uuid not null,
  segment_id uuid not null,
  file_id uuid not null,
  primary key (project_id, segment_id, file_id)
);
comment on table filestore.shared_segments is
  'The files whose versions contain a segment that several files have used: one row for each file, inserted '
  'when content of one file becomes a version of another. A segment without a row is used by one file alone.';
create policy "A key sees and adds the shared segments of its project"
  on filestore.shared_segments to filestore_engine using (project_id = filestore.current_project_id());
grant select, insert on filestore.shared_segments to filestore_engine;
create policy "The sweep sees and removes all shared segments" on filestore.shared_segments to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.shared_segments to filestore_admin;

create table filestore.project_usage (
  project_id uuid not null references filestore.projects (id),
  shard smallint not null,
  bytes bigint not null default 0,
  database_bytes bigint not null default 0,
  versions bigint not null default 0,
  primary key (project_id, shard)
) with (fillfactor = 50);
comment on table filestore.project_usage is
  'The bytes of all segments of a project, the bytes that its database rows count as, and the number of its '
  'versions, spread over rows so that writers do not wait for each other.';
comment on column filestore.project_usage.database_bytes is
  'The bytes that the project''s rows count as by the tariff. A row here may be negative; the sum is not.';
create policy "A key counts the usage of its project" on filestore.project_usage to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.project_usage to filestore_engine;
create policy "The sweep sees and changes usage of every project" on filestore.project_usage to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
create policy "A deletion removes only the usage of its project"
  on filestore.project_usage as restrictive for delete to filestore_admin
  using (project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.project_usage to filestore_admin;
create policy "An account sees the usage of the project that it opened"
  on filestore.project_usage to filestore_account using (project_id = filestore.current_project_id());
grant select on filestore.project_usage to filestore_account;

create table filestore.idempotency_keys (
  project_id uuid not null,
  caller_id uuid not null default '00000000-0000-0000-0000-000000000000',
  key text collate "C" not null check (octet_length(key) between 1 and 255),
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  response jsonb,
  names jsonb,
  created_at timestamptz(3) not null,
  primary key (project_id, caller_id, key)
);
comment on table filestore.idempotency_keys is
  'Responses to writes with an Idempotency-Key, kept for 24 hours. The fingerprint distinguishes a retry from another '
  'request with the same key.';
comment on column filestore.idempotency_keys.response is
  'The answer without the parts that name or quote files; null until the commit is done.';
comment on column filestore.idempotency_keys.names is
  'The rest of the answer: its lists of files and its quotes of content, and `prefix`, the path prefix that '
  'the key had. Null: no such parts, or they were erased.';
comment on column filestore.idempotency_keys.caller_id is
  'The API key or link that sent the request, so that two callers can use the same idempotency key; all '
  'zeros for the console.';
create index idempotency_keys_by_age on filestore.idempotency_keys (project_id, created_at);
create index idempotency_keys_with_names on filestore.idempotency_keys (project_id, created_at)
  where names is not null;
create policy "A key uses the idempotency keys of its project"
  on filestore.idempotency_keys to filestore_engine using (project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.idempotency_keys to filestore_engine;
create policy "The sweep sees, blanks and removes all idempotency keys"
  on filestore.idempotency_keys to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, update (names), delete on filestore.idempotency_keys to filestore_admin;
