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
  deleted_at timestamptz(3),
  cursor_key bytea not null default uuid_send(gen_random_uuid()),
  retention jsonb check (jsonb_typeof(retention) = 'object'),
  retention_set_at timestamptz,
  answers_blank_through timestamptz,
  answers_blank_since timestamptz,
  unique nulls not distinct (owner_id, name)
);
comment on table filestore.projects is 'A tenant. Files, keys and limits belong to exactly one project.';
comment on column filestore.projects.owner_id is
  'The account (auth.users.id) that owns it; null for a project created on the command line. While that account is '
  'banned or gone, the project is as suspended; the operator can give it to another one.';
comment on column filestore.projects.suspended_at is 'Since when its files and keys are refused; null: they are not.';
comment on column filestore.projects.deleted_at is
  'Since when it is being deleted: it has no owner and no name, its keys are refused, and the sweep removes it.';
comment on column filestore.projects.retention is
  'Which versions go by themselves: keepVersions, keepDays and deletedDays, each if it is there; null: none.';
comment on column filestore.projects.answers_blank_through is
  'Something was erased, so stored answers of then and earlier name nothing any more. Null once the sweep has '
  'removed what they named, which it has had to do since answers_blank_since.';
comment on column filestore.projects.cursor_key is 'A secret: what the cursors of its change feed are made with.';

create index projects_by_owner on filestore.projects (owner_id, created_at);
create index projects_with_blank_answers on filestore.projects (id) where answers_blank_through is not null;

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
  has_written boolean not null default false,
  unique (project_id, id),
  constraint api_keys_admin_is_whole check (path_prefix is null or not 'admin' = any (scopes))
);
comment on table filestore.api_keys is
  'API keys: only the SHA-256 and the first characters. The key itself is shown once and stored nowhere.';
comment on column filestore.api_keys.key_hash is
  'Null: the key ended long ago; its id and name stay for the versions that it wrote.';
comment on column filestore.api_keys.has_written is
  'Whether versions may name it. Set by its first request to write, before that locks a file.';
comment on column filestore.api_keys.scopes is
  'read: content, lists, history. write: every change of files. admin: the project''s name and keys.';
comment on column filestore.api_keys.path_prefix is
  'A directory: the key reads and writes only what lies below it. Null: everything.';

create index api_keys_by_project on filestore.api_keys (project_id, created_at);
create index api_keys_by_end on filestore.api_keys (least(revoked_at, expires_at)) where key_hash is not null;

create table filestore.console_sessions (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  project_id uuid not null references filestore.projects (id),
  account_id uuid not null,
  session_id uuid,
  aal text,
  expires_at timestamptz(3) not null
);
comment on table filestore.console_sessions is
  'Stands in for a key while the owner of a project works in the console: the edge function derives a token from its '
  'own secret and the owner''s access token, and the account opens the session under that. It ends with the session of '
  'Auth, and when the project gets another owner.';
comment on column filestore.console_sessions.session_id is
  'The session of Auth (auth.sessions.id) that the access token is of; null where Auth keeps none.';
comment on column filestore.console_sessions.aal is
  'The assurance level that the access token states: aal2 with a second factor.';

create index console_sessions_by_project on filestore.console_sessions (project_id);

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
  shard integer not null,
  window_start timestamptz not null default '-infinity',
  request_count integer not null default 0,
  request_id uuid,
  primary key (project_id, shard)
) with (fillfactor = 10);
comment on table filestore.rate_windows is
  'Requests of the current clock minute, spread over 64 shards, so that a locked row delays nobody. Shard s takes its '
  'n-th request if (n - 1) * 64 + s is within the limit: the caps of all shards add up to the limit. Not logged: after '
  'a crash the counts of that minute are gone.';
comment on column filestore.rate_windows.request_id is
  'The last request counted here, so that a call repeated because its response was lost is not counted twice.';

-- A domain, since a commit that leaves the path as it is would check a constraint of the table again.
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
  'Null: purged. The row stays for its receipt, and for versions that are still to be removed; the engine does not see '
  'it.';
comment on column filestore.files.version is
  'With the size, as in the row of that version, which checks them. 0: a path that a commit of several files has '
  'taken, before it gives it content. Never seen by another transaction.';
comment on column filestore.files.is_text is 'Whether each segment is text, so that the content can be indexed.';
comment on column filestore.files.segment_ids is
  'The segment list of the latest version. Compaction may replace a run of it by segments with the same bytes.';
alter table filestore.files alter column segment_ids set storage external;

create index files_by_directory on filestore.files (project_id, directory, path) where not is_deleted;
create index files_deleted on filestore.files (project_id, path) where is_deleted;
-- A directory as it was.
create index files_deleted_by_directory on filestore.files (project_id, directory, path) where is_deleted;
-- One for each order of a list, so that only the rows of the page are read. Writes pay for it: a commit changes
-- `updated_at`, so it can never be a heap-only update and adds an entry to every index of its row.
create index files_by_size on filestore.files (project_id, size, path) where not is_deleted;
create index files_by_updated_at on filestore.files (project_id, updated_at, path) where not is_deleted;
create index files_by_created_at on filestore.files (project_id, created_at, path) where not is_deleted;
-- With files_by_updated_at: what was written last, deletions included.
create index files_deleted_by_updated_at on filestore.files (project_id, updated_at, path) where is_deleted;

create type filestore.operation as enum (
  'write', 'append', 'overwrite', 'edit', 'delete', 'restore', 'copy', 'move', 'undo', 'purge');
comment on type filestore.operation is 'What made a version.';

create sequence filestore.positions;
comment on sequence filestore.positions is 'Of versions in the change feed of their project. See `next_position`.';

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
  key_id uuid,
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
  -- One constraint, since each costs a statement 3 microseconds, whatever it checks.
  check (version > 0 and size >= 0)
);
comment on table filestore.file_versions is
  'Every version of every file. Rows never change, until their content is erased or they go; the engine may only '
  'insert and select.';
comment on column filestore.file_versions.commit_id is
  'Chosen by the caller, so that a repeated commit finds its first result. The versions of one transaction share it.';
comment on column filestore.file_versions.position is
  'Its place in the change feed: ascending with the versions of a file, and never below one that a reader of the feed '
  'has passed.';
comment on column filestore.file_versions.run_id is
  'With actor and note: what the client said of the change. Claims; key_id is what was authenticated.';
comment on column filestore.file_versions.source_file_id is
  'With source_version: where the content of a copy, move, restore or undo is from.';
comment on column filestore.file_versions.redacted_at is
  'Since when the content is gone for good: the list of segments is empty, whatever the size says.';
comment on column filestore.file_versions.redacted_segment_ids is
  'What the list was. Ids alone: they tell which other versions still have a piece of it, and keep nothing.';
comment on column filestore.file_versions.undone_run_id is 'Of an undo: the run whose changes it takes back.';
alter table filestore.file_versions alter column segment_ids set storage external;
create index file_versions_by_commit on filestore.file_versions (commit_id, project_id);
-- The change feed.
create index file_versions_by_position on filestore.file_versions (project_id, position);
-- What a run did, by the key that did it, so that what one key did is found among what others claim to have done in the
-- same run. The columns at the end save a list of runs from reading the versions.
create index file_versions_by_run on filestore.file_versions (project_id, run_id, key_id, file_id, version)
  include (position, created_at, actor) where run_id is not null;
-- What a run moved: an undo asks whether both halves go back.
create index file_versions_moves_by_run on filestore.file_versions (project_id, run_id, file_id, version)
  where run_id is not null and operation = 'move';

create table filestore.runs (
  project_id uuid not null,
  run_id text collate "C" not null check (octet_length(run_id) between 1 and 128),
  first_position bigint not null,
  primary key (project_id, run_id)
);
comment on table filestore.runs is
  'Each run that has a version, once. Made by its first commit; nothing that a later one would have to lock.';

create index runs_by_age on filestore.runs (project_id, first_position);

create table filestore.run_undos (
  project_id uuid not null,
  undone_run_id text collate "C" not null,
  run_id text collate "C" not null,
  primary key (project_id, undone_run_id, run_id)
);
comment on table filestore.run_undos is 'Which runs have undone which.';

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

create table filestore.shared_segments (
  project_id uuid not null,
  segment_id uuid not null,
  file_id uuid not null,
  primary key (project_id, segment_id, file_id)
);
comment on table filestore.shared_segments is
  'Which files have versions with a segment that more than one file has had. A row for each of them, made when content '
  'of one file becomes a version of another; of all other segments one file alone has versions.';

create function filestore.due_since() returns timestamptz
language plpgsql volatile set search_path = '' as $$
begin
  return coalesce(nullif(current_setting('filestore.due_since', true), '')::timestamptz, clock_timestamp());
end
$$;
comment on function filestore.due_since is
  'Since when the sweep has to do what this transaction leaves to it: now, or as long as what it follows from, which a '
  'step of the sweep has set. A sweep ends where nothing is left that was due when it began.';
call filestore.grant_execute('filestore.due_since', 'filestore_admin');

create table filestore.purged_files (
  project_id uuid not null,
  file_id uuid not null,
  path_hash bytea not null,
  place_hashes bytea[] not null,
  versions bigint not null,
  bytes bigint not null,
  pending_versions bigint not null,
  first_pending_versions bigint not null,
  purged_at timestamptz not null,
  due_since timestamptz not null default filestore.due_since(),
  primary key (project_id, file_id)
);
comment on table filestore.purged_files is
  'Files of which nothing is left but the receipt in the change feed, the last version of their row.';
comment on column filestore.purged_files.path_hash is
  'Of the path that it had, and place_hashes of the directories above: `place_hash`. By them followers of a path, and '
  'keys with a prefix, see the receipt of what they saw.';
comment on column filestore.purged_files.versions is
  'With bytes and first_pending_versions, the answer to the purge. pending_versions: how many are still to be removed.';
comment on column filestore.purged_files.due_since is 'Since when the sweep has the rest to do.';

create index purged_files_pending on filestore.purged_files (project_id, due_since) where pending_versions > 0;

create table filestore.possibly_unreferenced_segments (
  project_id uuid not null,
  file_id uuid not null,
  segment_id uuid not null,
  due_since timestamptz,
  is_examined boolean not null default false,
  is_referenced boolean not null default false,
  primary key (project_id, file_id, segment_id)
);
comment on table filestore.possibly_unreferenced_segments is
  'Segments that may be in no version: what compactions put into the list of a file, and what a file has lost by an '
  'erasure that could not tell whether anything else has it. A pass over the versions of the project finds out. '
  'Whatever is in the list of a file, and in no version of that file, has a row with it.';
comment on column filestore.possibly_unreferenced_segments.due_since is
  'Since when a pass is to find out; null: no pass is made for it, but one that is made settles it, too.';
comment on column filestore.possibly_unreferenced_segments.is_examined is
  'Whether the pass under way is about it. Set before that looks at the first version.';
comment on column filestore.possibly_unreferenced_segments.is_referenced is
  'Whether the pass has found a version with it.';

create index possibly_unreferenced_by_segment on filestore.possibly_unreferenced_segments (project_id, segment_id);
create index possibly_unreferenced_due on filestore.possibly_unreferenced_segments (project_id, due_since)
  where due_since is not null;

create table filestore.retention_passes (
  project_id uuid primary key,
  after_file uuid,
  position bigint not null,
  started_at timestamptz not null,
  applied_at timestamptz not null default '-infinity'
);
comment on table filestore.retention_passes is
  'How far the sweep has come in applying the rule of a project, file by file in the order of their ids.';
comment on column filestore.retention_passes.after_file is 'The last file that was looked at; null: the pass is over.';
comment on column filestore.retention_passes.position is
  'Of the last version when the pass began: while there is none after it, nothing but time can make another one due.';
comment on column filestore.retention_passes.applied_at is 'When the last pass that has ended began.';

create table filestore.dead_segments (
  segment_id uuid primary key,
  project_id uuid not null,
  stored_on date not null,
  removed_at timestamptz,
  due_since timestamptz not null default filestore.due_since()
);
comment on table filestore.dead_segments is
  'Segments that nothing readable needs, nor ever will: the sweep removes their objects, then the rows of both tables. '
  'Inserted by the transaction that makes the last version with them unreadable; it has taken their bytes from the '
  'usage.';
comment on column filestore.dead_segments.removed_at is
  'When the object was removed. The row of the segment stays as long as segments of its day may be committed: an '
  'attempt at the commit that brought it, repeated so late, finds the id taken.';

create index dead_segments_to_remove on filestore.dead_segments (project_id, due_since) where removed_at is null;
create index dead_segments_removed on filestore.dead_segments (stored_on) where removed_at is not null;

create table filestore.project_usage (
  project_id uuid not null references filestore.projects (id),
  shard smallint not null,
  bytes bigint not null default 0,
  database_bytes bigint not null default 0,
  versions bigint not null default 0,
  primary key (project_id, shard)
) with (fillfactor = 50);
comment on table filestore.project_usage is
  'Bytes of all segments of a project, what its rows in the database count, and number of its versions, spread over '
  'rows so that writers do not wait for each other.';
comment on column filestore.project_usage.database_bytes is 'By the tariff; a row may be negative, the sum is not.';

create table filestore.usage_days (
  project_id uuid not null,
  day date not null,
  key_id uuid not null,
  requests bigint not null default 0 check (requests >= 0),
  versions bigint not null default 0 check (versions >= 0),
  bytes_written bigint not null default 0 check (bytes_written >= 0),
  primary key (project_id, day, key_id)
) with (fillfactor = 85);
comment on table filestore.usage_days is
  'What each key did on each day (UTC). No request writes here: requests are added up in the memory of the edge '
  'function, and versions are counted from their rows by `fold_usage`.';
comment on column filestore.usage_days.key_id is
  'All zeros: the console. It stays when the key is forgotten.';
comment on column filestore.usage_days.bytes_written is
  'The content of those versions: of an append what was added, of a copy, move, restore or undo nothing.';

create table filestore.usage_levels (
  project_id uuid not null,
  day date not null,
  bytes bigint not null,
  database_bytes bigint not null,
  primary key (project_id, day)
) with (fillfactor = 85);
comment on table filestore.usage_levels is
  'What a project held when it was last looked at on a day (UTC). A day without a row is like the one before.';

create table filestore.usage_folds (
  project_id uuid primary key,
  position bigint not null,
  folded_at timestamptz not null
) with (fillfactor = 85);
comment on table filestore.usage_folds is
  'Up to which version, by its position, those of a project are counted in `usage_days`, and when that was.';

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
  'The answer without what names files or quotes them; null until the commit is done.';
comment on column filestore.idempotency_keys.names is
  'The rest of the answer: its lists of files and its quotes of content, and `prefix`, the path prefix that the '
  'key had. Null: there is no rest, or it was erased.';

comment on column filestore.idempotency_keys.caller_id is
  'The API key or link whose request it was, so that they cannot meet each other''s; all zeros for the console.';

create index idempotency_keys_by_age on filestore.idempotency_keys (project_id, created_at);
create index idempotency_keys_with_names on filestore.idempotency_keys (project_id, created_at)
  where names is not null;

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
  swept_through date,
  day date,
  kept integer not null default 0 check (kept >= 0),
  turns jsonb not null default '{}',
  marked_through bigint
);
comment on table filestore.sweeps is 'How far the garbage collection of each project has come.';
comment on column filestore.sweeps.swept_through is 'Every day up to this one has been swept; null: none.';
comment on column filestore.sweeps.day is 'The day being swept.';
comment on column filestore.sweeps.kept is 'How many objects of that day were examined and kept.';
comment on column filestore.sweeps.marked_through is
  'The position up to which a pass has looked for possibly unreferenced segments; null: none has begun to look.';
comment on column filestore.sweeps.turns is 'When the last step of each kind of work was, for projects to take turns.';

-- A foreign key to a row that each commit of a project names would have each of them lock that row, all together. What
-- a commit names was read in its own transaction and hardly ever goes, so its removal looks for what names it instead.

create function filestore.refuse_to_orphan() returns trigger
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id uuid;
begin
  if tg_table_name = 'projects' then
    v_project_id := old.id;
  elsif old.has_written then
    v_project_id := old.project_id;
  end if;
  if v_project_id is not null then
    if exists (select from filestore.files f where f.project_id = v_project_id) then
      raise foreign_key_violation using message = format('a row of %s is in use', tg_table_name);
    end if;
  end if;
  return old;
end
$$;
comment on function filestore.refuse_to_orphan is
  'Keeps a project that has files, and its keys that versions may name.';
call filestore.grant_execute('filestore.refuse_to_orphan', 'filestore_admin');

create trigger keep_projects_with_files before delete or update of id on filestore.projects
  for each row execute function filestore.refuse_to_orphan();
create trigger keep_keys_of_versions before delete or update of project_id, id on filestore.api_keys
  for each row execute function filestore.refuse_to_orphan();
