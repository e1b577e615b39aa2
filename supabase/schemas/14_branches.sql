-- The tables of branches, with their policies and grants. A branch is a folder below `.branches/`; its files
-- are files like all others.

create table filestore.branches (
  project_id uuid not null references filestore.projects (id),
  name text collate "C" not null check (name ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$'),
  directory text collate "C" not null,
  state text not null default 'new' check (state in ('new', 'open', 'ready', 'merged', 'closed')),
  title text,
  note text,
  key_name text,
  account_id uuid,
  number bigint not null default nextval('filestore.positions'),
  base_position bigint not null,
  base_time timestamptz,
  file_count integer not null default 0,
  copied_to text collate "C" not null default '',
  commit_id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  due_at timestamptz(3),
  merged_key_name text,
  merged_account_id uuid,
  primary key (project_id, name)
);
comment on table filestore.branches is
  'Branches. A row remains when its branch has ended, since no name is used twice: an old key that is '
  'confined to a branch must not reach another one.';
comment on column filestore.branches.state is
  'new: not all files are copied yet, so nobody sees the branch. merged and closed: it has ended.';
comment on column filestore.branches.number is 'Its place in lists.';
comment on column filestore.branches.base_position is
  'The moment at which its folder was copied, and later that of the last update: this position, or '
  'base_time if the client named a time.';
comment on column filestore.branches.copied_to is 'While it is new: the last path that was copied.';
comment on column filestore.branches.commit_id is
  'Chosen by the caller of the last change of this row, so that a repeated call has no effect.';
comment on column filestore.branches.merged_key_name is
  'The name of the key that merged it, as key_name is that of the key that created it. merged_account_id: the person '
  'who did so without a key.';
comment on column filestore.branches.due_at is
  'When the sweep deletes its files: when it expires, or at once if it has ended. Null: no file is to be '
  'deleted.';
create index branches_by_number on filestore.branches (project_id, number);
create index branches_due on filestore.branches (due_at) where due_at is not null;
create policy "A key sees and changes branches of its project" on filestore.branches to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.branches to filestore_engine;
create policy "The sweep sees all branches" on filestore.branches to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.branches to filestore_admin;

create table filestore.branch_files (
  project_id uuid not null,
  file_id uuid not null,
  branch text collate "C" not null,
  base_file_id uuid,
  base_version integer not null,
  merged_version integer,
  base_is_merged boolean not null default false,
  primary key (project_id, file_id)
);
comment on table filestore.branch_files is
  'The base of a file in a branch: the version of the file above it that it was copied from, or last merged '
  'with. A file that was created in the branch has no row.';
comment on column filestore.branch_files.base_file_id is
  'With the version, since a file that is created at the path of a purged one begins at version 1, too.';
comment on column filestore.branch_files.merged_version is
  'The version of the file in the branch that has nothing to merge.';
comment on column filestore.branch_files.base_is_merged is
  'A merge has written something else than the branch contained: both sides come from merged_version then, as '
  'in git, and not from the version that the merge wrote.';
create index branch_files_by_base on filestore.branch_files (project_id, base_file_id);
create policy "A key sees and adds bases of its project" on filestore.branch_files to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.branch_files to filestore_engine;
create policy "The sweep sees and removes all bases" on filestore.branch_files to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.branch_files to filestore_admin;
alter table filestore.branches enable row level security;
alter table filestore.branch_files enable row level security;
