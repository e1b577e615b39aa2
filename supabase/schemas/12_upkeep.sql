-- The tables of the sweep: erasure, retention, usage by day, deletions. Each with its policies and grants.

create function filestore.due_since() returns timestamptz
language plpgsql volatile set search_path = '' as $$
begin
  return coalesce(nullif(current_setting('filestore.due_since', true), '')::timestamptz, clock_timestamp());
end
$$;
comment on function filestore.due_since is
  'The time since which the work that this transaction leaves to the sweep is due: now, or, within a step of '
  'the sweep, the due time of the work that it follows from. A sweep ends when no work remains that was due '
  'when it began.';
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
  is_in_branch boolean not null default false,
  purged_at timestamptz not null,
  due_since timestamptz not null default filestore.due_since(),
  primary key (project_id, file_id)
);
comment on table filestore.purged_files is
  'Purged files: only the receipt in the change feed remains, as the last version of their row.';
comment on column filestore.purged_files.path_hash is
  'The `place_hash` of its former path; place_hashes contains those of the directories above. They let '
  'clients that follow a path, and keys with a prefix, see the receipt of a file that they could see.';
comment on column filestore.purged_files.versions is
  'versions, bytes and first_pending_versions form the answer to the purge. pending_versions: how many '
  'versions are not removed yet.';
comment on column filestore.purged_files.due_since is 'Since when the rest is due in the sweep.';
create index purged_files_pending on filestore.purged_files (project_id, due_since) where pending_versions > 0;
create policy "A key sees the receipts of what it would have seen"
  on filestore.purged_files to filestore_engine
  using (project_id = filestore.current_project_id() and (not is_in_branch or filestore.sees_branches())
    and (filestore.current_path_prefix() = '' or filestore.place_hash(
      (select p.cursor_key from filestore.projects p where p.id = filestore.current_project_id()), file_id,
      rtrim(filestore.current_path_prefix(), '/')) = any (place_hashes)));
grant select on filestore.purged_files to filestore_engine;
create policy "The sweep sees and changes all purged files" on filestore.purged_files to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.purged_files to filestore_admin;

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
  'Segments that may be in no version: those that a compaction added to the list of a file, and those that '
  'an erasure took from a file without finding out whether other versions contain them. A pass over the '
  'versions of the project finds out. Each segment that is in the list of a file but in no version of that '
  'file has a row with the file.';
comment on column filestore.possibly_unreferenced_segments.due_since is
  'Since when a pass is due for it; null: no pass is started for it, but the next pass examines it, too.';
comment on column filestore.possibly_unreferenced_segments.is_examined is
  'Whether the current pass examines it. Set before the pass reads its first version.';
comment on column filestore.possibly_unreferenced_segments.is_referenced is
  'Whether the current pass has found a version that contains it.';
create index possibly_unreferenced_by_segment on filestore.possibly_unreferenced_segments (project_id, segment_id);
create index possibly_unreferenced_due on filestore.possibly_unreferenced_segments (project_id, due_since)
  where due_since is not null;
create policy "A key marks segments of its project as possibly unreferenced"
  on filestore.possibly_unreferenced_segments to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, delete on filestore.possibly_unreferenced_segments to filestore_engine;
create policy "The sweep administers possibly unreferenced segments"
  on filestore.possibly_unreferenced_segments to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.possibly_unreferenced_segments to filestore_admin;

create table filestore.retention_passes (
  project_id uuid primary key,
  after_file uuid,
  position bigint not null,
  started_at timestamptz not null,
  applied_at timestamptz not null default '-infinity'
);
comment on table filestore.retention_passes is
  'How far the sweep has applied the rule of a project, file by file in the order of their ids.';
comment on column filestore.retention_passes.after_file is 'The last file that was examined; null: the pass is over.';
comment on column filestore.retention_passes.position is
  'The position of the last version when the pass began. Until a later version exists, another pass can '
  'become due only as time passes.';
comment on column filestore.retention_passes.applied_at is 'When the last completed pass began.';
create policy "The sweep sees and changes all retention passes"
  on filestore.retention_passes to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.retention_passes to filestore_admin;

create table filestore.dead_segments (
  segment_id uuid primary key,
  project_id uuid not null,
  stored_on date not null,
  removed_at timestamptz,
  due_since timestamptz not null default filestore.due_since()
);
comment on table filestore.dead_segments is
  'Segments that no readable version needs or will need: the sweep removes their objects, then the rows in '
  'both tables. The transaction that makes the last version with them unreadable inserts them and subtracts '
  'their bytes from the usage.';
comment on column filestore.dead_segments.removed_at is
  'When the object was removed. The row of the segment remains as long as segments of its day may be '
  'committed, so that a late repetition of its commit finds the id in use.';
create index dead_segments_to_remove on filestore.dead_segments (project_id, due_since) where removed_at is null;
create index dead_segments_removed on filestore.dead_segments (stored_on) where removed_at is not null;
create policy "The sweep sees and changes all dead segments" on filestore.dead_segments to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.dead_segments to filestore_admin;

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
  'The requests, versions and bytes of each key on each day (UTC). No request writes here: requests are '
  'added up in the memory of the edge function, and versions are counted from their rows by `fold_usage`.';
comment on column filestore.usage_days.key_id is
  'All zeros: the console. The row remains when the row of the key is removed.';
comment on column filestore.usage_days.bytes_written is
  'The bytes of content of those versions: for an append, the appended bytes; for a copy, move, restore or '
  'undo, none.';
create policy "The sweep sees and changes all days of usage" on filestore.usage_days to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.usage_days to filestore_admin;
create policy "An account sees days of usage of the project that it opened"
  on filestore.usage_days to filestore_account using (project_id = filestore.current_project_id());
grant select on filestore.usage_days to filestore_account;

create table filestore.usage_levels (
  project_id uuid not null,
  day date not null,
  bytes bigint not null,
  database_bytes bigint not null,
  primary key (project_id, day)
) with (fillfactor = 85);
comment on table filestore.usage_levels is
  'The size of a project when its usage was last counted on a day (UTC). A day without a row has the values '
  'of the day before.';
create policy "The sweep sees and changes all usage levels" on filestore.usage_levels to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.usage_levels to filestore_admin;
create policy "An account sees usage levels of the project that it opened"
  on filestore.usage_levels to filestore_account using (project_id = filestore.current_project_id());
grant select on filestore.usage_levels to filestore_account;

create table filestore.usage_folds (
  project_id uuid primary key,
  position bigint not null,
  folded_at timestamptz not null
) with (fillfactor = 85);
comment on table filestore.usage_folds is
  'The position of the last version of a project that is counted in `usage_days`, and when it was counted.';
create policy "The sweep sees and changes all usage folds" on filestore.usage_folds to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.usage_folds to filestore_admin;

create table filestore.sweeps (
  project_id uuid primary key references filestore.projects (id),
  swept_through date,
  day date,
  kept integer not null default 0 check (kept >= 0),
  turns jsonb not null default '{}',
  marked_through bigint
);
comment on table filestore.sweeps is 'How far the garbage collection of each project has progressed.';
comment on column filestore.sweeps.swept_through is 'Every day up to this one has been swept; null: none.';
comment on column filestore.sweeps.day is 'The day being swept.';
comment on column filestore.sweeps.kept is 'How many objects of that day were examined and kept.';
comment on column filestore.sweeps.marked_through is
  'The position up to which a pass has read the versions in search of possibly unreferenced segments; null: '
  'no pass has begun.';
comment on column filestore.sweeps.turns is
  'The time of the last step of each kind of work; the sweep serves the project that has waited longest.';
create policy "The sweep sees and changes sweeps of every project" on filestore.sweeps to filestore_admin
  using (true);
create policy "A deletion removes only the sweeps of its project"
  on filestore.sweeps as restrictive for delete to filestore_admin
  using (project_id = filestore.current_project_id());
grant select, insert, update, delete on filestore.sweeps to filestore_admin;

create table filestore.project_deletions (
  project_id uuid primary key references filestore.projects (id),
  id uuid not null unique,
  deleted_at timestamptz(3) not null,
  due_at timestamptz not null,
  visited_at timestamptz not null,
  is_emptied boolean not null default false,
  objects text[] not null default '{}'
);
comment on table filestore.project_deletions is 'Deleted projects that still have rows or objects.';
comment on column filestore.project_deletions.id is
  'Chosen by the caller, so that a repeated deletion, whose answer was lost, returns the same answer.';
comment on column filestore.project_deletions.due_at is 'When its next sweep is due.';
comment on column filestore.project_deletions.visited_at is
  'The time of its last step, initially of its deletion: the project that has waited longest is next, so a '
  'new one comes after those that wait already.';
comment on column filestore.project_deletions.is_emptied is 'Whether this sweep found no object left.';
comment on column filestore.project_deletions.objects is
  'Objects that are being removed, as {yyyymmdd}/{segment_id}. Noted first, so that a slice that is cut off '
  'between the object and the row of its segment leaves no row that later slices cannot find.';
create index project_deletions_by_turn on filestore.project_deletions (visited_at, due_at);
create policy "The sweep sees and changes all project deletions"
  on filestore.project_deletions to filestore_admin using (true);
grant select, update, delete on filestore.project_deletions to filestore_admin;
create policy "An account requests the deletion of the project that it opened"
  on filestore.project_deletions for insert to filestore_account
  with check (project_id = filestore.current_project_id());
grant insert on filestore.project_deletions to filestore_account;

create table filestore.account_deletions (
  account_id uuid primary key,
  id uuid not null,
  deleted_at timestamptz(3) not null,
  due_at timestamptz not null
);
comment on table filestore.account_deletions is
  'Accounts whose projects were deleted and that Supabase Auth still has. All of their requests are refused.';
create policy "The sweep sees and changes all account deletions"
  on filestore.account_deletions to filestore_admin using (true);
grant select, insert, update, delete on filestore.account_deletions to filestore_admin;
