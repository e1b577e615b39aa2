-- The tables of projects, members, keys, console sessions, links and windows, each with its policies and grants.

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
create policy "A key reads the tiers" on filestore.tiers to filestore_engine using (true);
grant select on filestore.tiers to filestore_engine;
create policy "The operator reads the tiers" on filestore.tiers to filestore_admin using (true);
grant select on filestore.tiers to filestore_admin;
create policy "An account reads the tiers" on filestore.tiers to filestore_account using (true);
grant select on filestore.tiers to filestore_account;

create table filestore.settings (
  is_the_row boolean primary key default true check (is_the_row),
  project_makers text[],
  account_bytes bigint default 5368709120 check (account_bytes > 0)
);
comment on table filestore.settings is 'The operator''s settings for the whole installation: one row.';
comment on column filestore.settings.project_makers is
  'Which accounts may create projects: {anyone}, or addresses and domains (@example.com). Empty: only the '
  'operator creates projects; null: not decided yet, which has the same effect.';
comment on column filestore.settings.account_bytes is
  'The largest usage in bytes of all projects of an account together, without projects that have a quota of '
  'their own. Null: only the quota of each project applies.';
insert into filestore.settings default values;
create policy "A key reads the settings" on filestore.settings to filestore_engine using (true);
grant select on filestore.settings to filestore_engine;
create policy "The operator reads and changes the settings"
  on filestore.settings to filestore_admin using (true);
grant select, update on filestore.settings to filestore_admin;

create function filestore.is_retention(p_rule jsonb) returns boolean
language sql immutable strict set search_path = '' as $$
  select case when jsonb_typeof(p_rule) = 'object' then not exists (
    select from jsonb_each(p_rule) f (name, value)
    where (jsonb_typeof(f.value) = 'number' and f.value::text ~ '^[1-9][0-9]{0,4}$' and case f.name
      when 'keepVersions' then f.value::text::integer <= (filestore.limits()).keep_versions_max
      when 'keepDays' then f.value::text::integer <= (filestore.limits()).keep_days_max
      when 'deletedDays' then f.value::text::integer <= (filestore.limits()).keep_days_max
    end) is not true)
  else false end
$$;
comment on function filestore.is_retention is
  'Whether the sweep can apply a retention rule, and the API can show it. Accounts may call the function that sets it '
  'directly.';
call filestore.grant_execute('filestore.is_retention', 'filestore_account', 'filestore_admin', 'filestore_engine');

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
  has_webhooks boolean not null default false,
  cursor_key bytea not null default uuid_send(gen_random_uuid()),
  retention jsonb check (filestore.is_retention(retention)),
  retention_set_at timestamptz,
  answers_blank_through timestamptz,
  answers_blank_since timestamptz,
  unique nulls not distinct (owner_id, name)
);
comment on table filestore.projects is 'A tenant. Files, keys and limits belong to exactly one project.';
comment on column filestore.projects.owner_id is
  'The account (auth.users.id) that owns it; null for a project created on the command line. While that '
  'account is banned or deleted, the project counts as suspended; the operator can give it to another '
  'account.';
comment on column filestore.projects.suspended_at is
  'Since when requests for its files and keys are refused; null: they are not refused.';
comment on column filestore.projects.deleted_at is
  'When its deletion began: it has no owner and no name, its keys are refused, and the sweep removes it.';
comment on column filestore.projects.has_webhooks is
  'Whether commits are to be delivered. Here, since each request reads this row anyway.';
comment on column filestore.projects.retention is
  'The retention rule, with any of keepVersions, keepDays and deletedDays; null: no versions are erased '
  'automatically.';
comment on column filestore.projects.answers_blank_through is
  'Answers stored up to this time no longer contain names or quotes, because content was erased. Null once '
  'the sweep has removed these from the rows, work that has been due since answers_blank_since.';
comment on column filestore.projects.cursor_key is
  'The secret from which the cursors of its change feed are computed.';
create index projects_by_owner on filestore.projects (owner_id, created_at);
create index projects_with_blank_answers on filestore.projects (id) where answers_blank_through is not null;
create policy "A key sees its project" on filestore.projects to filestore_engine
  using (id = filestore.current_project_id());
grant select on filestore.projects to filestore_engine;
create policy "The operator sees and changes every project" on filestore.projects to filestore_admin using (true);
create policy "A deletion removes only the project that it opened"
  on filestore.projects as restrictive for delete to filestore_admin using (id = filestore.current_project_id());
grant select, insert, update, delete on filestore.projects to filestore_admin;
create policy "An account creates projects of its own" on filestore.projects for insert to filestore_account
  with check (owner_id = (select filestore.current_account_id()));
create policy "An account changes the project that it opened"
  on filestore.projects for update to filestore_account using (id = filestore.current_project_id());
grant select, insert,
  update (name, retention, retention_set_at, owner_id, deleted_at, has_webhooks)
  on filestore.projects to filestore_account;

create table filestore.members (
  project_id uuid not null references filestore.projects (id),
  id uuid not null default gen_random_uuid(),
  account_id uuid,
  email text check (email ~ '^[!-?A-~]+@[!-?A-~]+$' and octet_length(email) <= 254 and email = lower(email)),
  role text not null check (role in ('viewer', 'editor', 'admin')),
  invited_by uuid,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  primary key (project_id, id),
  unique (project_id, account_id),
  constraint members_are_invited_or_active
    check ((account_id is null) = (expires_at is not null) and (account_id is not null or email is not null))
);
comment on table filestore.members is
  'The people in a project besides its owner, and the invitations that wait for somebody.';
comment on column filestore.members.account_id is
  'Null: an invitation, for the account with this confirmed address. The owner''s own row has no effect until '
  'somebody else owns the project.';
comment on column filestore.members.email is
  'In lower case. Of a member: the address at the time of the acceptance, shown where the account has none.';
comment on column filestore.members.invited_by is 'The account of the member who invited this one.';
create unique index members_invited on filestore.members (email, project_id) where account_id is null;
create index members_by_account on filestore.members (account_id);
create index members_by_end on filestore.members (expires_at) where account_id is null;
create policy "A key sees the members of its project" on filestore.members for select to filestore_engine
  using (project_id = filestore.current_project_id());
grant select (project_id, account_id, role) on filestore.members to filestore_engine;
create policy "The operator and the sweep remove members" on filestore.members to filestore_admin using (true);
grant select (project_id, id, account_id, expires_at), delete on filestore.members to filestore_admin;
create policy "An account sees its rows, and those of the project it opened"
  on filestore.members for select to filestore_account
  using (account_id = (select filestore.current_account_id()) or project_id = filestore.current_project_id()
    or account_id is null and email = (select filestore.address_of(filestore.current_account_id(), true)));
create policy "An account invites to the project that it opened" on filestore.members for insert to filestore_account
  with check (project_id = filestore.current_project_id());
create policy "An account changes the members of the project that it opened"
  on filestore.members for update to filestore_account using (project_id = filestore.current_project_id());
create policy "An account removes itself, and others where it opened"
  on filestore.members for delete to filestore_account
  using (account_id = (select filestore.current_account_id()) or project_id = filestore.current_project_id());
grant select, insert, update (account_id, role, expires_at), delete on filestore.members to filestore_account;

create policy "An account sees its projects and those that it is a member of"
  on filestore.projects for select to filestore_account
  using (owner_id = (select filestore.current_account_id()) or owner_id = filestore.current_owner_id()
    or id = filestore.current_project_id()
    or id in (
      select m.project_id from filestore.members m where m.account_id = (select filestore.current_account_id())));

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
  kind text not null default 'key' check (kind in ('key', 'app')),
  account_id uuid,
  client_hash bytea check (octet_length(client_hash) = 32),
  client_name text check (char_length(client_name) <= 100),
  client_host text check (octet_length(client_host) <= 600),
  unique (project_id, id),
  constraint api_keys_admin_is_whole check (path_prefix is null or not 'admin' = any (scopes)),
  constraint api_keys_apps check (
    num_nonnulls(account_id, client_hash, client_name, client_host) = case kind when 'app' then 4 else 0 end
    and not (kind = 'app' and 'admin' = any (scopes)))
);
comment on table filestore.api_keys is
  'API keys: only the SHA-256 and the first characters. The key itself is shown once and stored nowhere. And '
  'apps, which act as keys without a secret: with the tokens of `app_tokens`.';
comment on column filestore.api_keys.key_hash is
  'Null: the key ended long ago; its id and name remain for the versions that it wrote. Of an app: random.';
comment on column filestore.api_keys.account_id is
  'The person who let the app in. The app has no right that this person lacks: none once the person is no longer '
  'in the project.';
comment on column filestore.api_keys.client_hash is 'The SHA-256 of the app''s client id.';
comment on column filestore.api_keys.client_host is 'Empty: an app on the person''s device.';
comment on column filestore.api_keys.has_written is
  'Whether versions may name it. Set by its first request to write, before that locks a file.';
comment on column filestore.api_keys.scopes is
  'read: content, lists, history. write: all changes of files. admin: the project''s name and keys.';
comment on column filestore.api_keys.path_prefix is
  'A directory: the key reads and writes only paths below it. Null: all paths.';
create index api_keys_by_project on filestore.api_keys (project_id, created_at);
create index api_keys_by_end on filestore.api_keys (least(revoked_at, expires_at)) where key_hash is not null;
create index api_keys_apps on filestore.api_keys (created_at) where kind = 'app' and revoked_at is null;
create policy "A key sees itself" on filestore.api_keys to filestore_engine
  using (key_hash = filestore.current_key_hash());
grant select, update (last_used_at, has_written, revoked_at) on filestore.api_keys to filestore_engine;
create policy "The operator sees every key, and the sweep removes it" on filestore.api_keys to filestore_admin
  using (true);
grant select, update (key_hash, prefix, revoked_at), delete on filestore.api_keys to filestore_admin;
create policy "An account administers the keys of the project that it opened"
  on filestore.api_keys to filestore_account using (project_id = filestore.current_project_id());
grant select, insert, update (name, scopes, path_prefix, revoked_at, expires_at)
  on filestore.api_keys to filestore_account;

create table filestore.app_consents (
  request_id uuid primary key,
  code_hash bytea not null unique check (octet_length(code_hash) = 32),
  project_id uuid references filestore.projects (id),
  key_hash bytea,
  redirect_uri text check (octet_length(redirect_uri) <= 2000),
  challenge text check (octet_length(challenge) = 43),
  expires_at timestamptz not null,
  used_at timestamptz,
  check (num_nonnulls(project_id, key_hash, redirect_uri, challenge) in (0, 4))
);
comment on table filestore.app_consents is
  'The requests of apps that a person has answered, so that each is answered once; with consent, the code '
  'that the app exchanges for its first tokens. Only the SHA-256 of the code is stored.';
comment on column filestore.app_consents.project_id is 'Null: the person refused.';
comment on column filestore.app_consents.key_hash is 'That of the app, which is a row of `api_keys`.';
create index app_consents_by_project on filestore.app_consents (project_id);
create index app_consents_by_end on filestore.app_consents (expires_at);
create policy "A code sees its consent, and an app its own" on filestore.app_consents to filestore_engine
  using (code_hash = filestore.current_key_hash() or key_hash = filestore.current_key_hash());
grant select, update (used_at) on filestore.app_consents to filestore_engine;
create policy "The sweep sees and removes all consents" on filestore.app_consents to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id()
    or project_id is null);
grant select, update (used_at), delete on filestore.app_consents to filestore_admin;
create policy "An account consents for the project that it opened, or refuses"
  on filestore.app_consents for insert to filestore_account
  with check (project_id is null or project_id = filestore.current_project_id());
grant insert on filestore.app_consents to filestore_account;

create table filestore.app_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  project_id uuid not null references filestore.projects (id),
  key_hash bytea not null,
  kind text not null check (kind in ('access', 'refresh')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
comment on table filestore.app_tokens is
  'The tokens of apps: only their hashes, which are computed in another way than those of keys, so that no '
  'token is a key.';
comment on column filestore.app_tokens.key_hash is 'That of the app, which is a row of `api_keys`.';
comment on column filestore.app_tokens.used_at is
  'When a refresh token was first used. A later use, but for a short time, means that somebody else has it.';
create index app_tokens_by_project on filestore.app_tokens (project_id);
create index app_tokens_by_app on filestore.app_tokens (key_hash, created_at);
create index app_tokens_by_end on filestore.app_tokens (expires_at);
create policy "A token sees itself, and an app its tokens" on filestore.app_tokens to filestore_engine
  using (token_hash = filestore.current_key_hash() or key_hash = filestore.current_key_hash());
grant select, insert, update (used_at), delete on filestore.app_tokens to filestore_engine;
create policy "The sweep sees and removes all tokens" on filestore.app_tokens to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, update (used_at), delete on filestore.app_tokens to filestore_admin;

create table filestore.console_sessions (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  project_id uuid not null references filestore.projects (id),
  account_id uuid not null,
  session_id uuid,
  aal text,
  expires_at timestamptz(3) not null
);
comment on table filestore.console_sessions is
  'Stands in for a key while a person works in the console: the edge function derives a token from its own '
  'secret and the access token, and the account opens the session with that token. Its rights are always those '
  'of the person''s role. The session ends with the session of Auth.';
comment on column filestore.console_sessions.session_id is
  'The session of Auth (auth.sessions.id) to which the access token belongs; null where Auth stores no '
  'sessions.';
comment on column filestore.console_sessions.aal is
  'The assurance level that the access token states: aal2 with a second factor.';
create index console_sessions_by_project on filestore.console_sessions (project_id);
create policy "A console session sees itself" on filestore.console_sessions to filestore_engine
  using (token_hash = filestore.current_key_hash());
grant select on filestore.console_sessions to filestore_engine;
create policy "A deletion removes the console sessions of its project"
  on filestore.console_sessions to filestore_admin using (project_id = filestore.current_project_id());
grant select (project_id, token_hash), delete on filestore.console_sessions to filestore_admin;
create policy "An account opens sessions of the project that it opened"
  on filestore.console_sessions to filestore_account using (project_id = filestore.current_project_id());
grant select, insert, update (account_id, session_id, aal, expires_at), delete
  on filestore.console_sessions to filestore_account;

create unlogged table filestore.account_windows (
  account_id uuid primary key,
  window_start timestamptz not null,
  request_count integer not null,
  invitations_mailed_at timestamptz[] not null default '{}'
) with (fillfactor = 50);
comment on table filestore.account_windows is
  'Calls of an account''s own functions in the current clock minute. An unlogged table: after a crash the '
  'counts are lost.';
comment on column filestore.account_windows.invitations_mailed_at is
  'When its invitations were mailed, in the 24 hours before the last of them. One that is withdrawn counts, too.';
create policy "An account counts its own calls" on filestore.account_windows to filestore_account
  using (account_id = (select filestore.current_account_id()));
grant select, insert, update on filestore.account_windows to filestore_account;

-- Several requests of one project update these rows at the same time. With few rows on a page, an updated row
-- stays on its page.
create unlogged table filestore.rate_windows (
  project_id uuid not null references filestore.projects (id),
  shard integer not null,
  window_start timestamptz not null default '-infinity',
  request_count integer not null default 0,
  request_id uuid,
  primary key (project_id, shard)
) with (fillfactor = 10);
comment on table filestore.rate_windows is
  'Requests of the current clock minute, spread over 64 shards, so that a locked row delays no request. '
  'Shard s takes its n-th request if (n - 1) * 64 + s is within the limit: the caps of all shards add up to '
  'the limit. An unlogged table: after a crash the counts of that minute are lost.';
comment on column filestore.rate_windows.request_id is
  'The last request counted here, so that a call repeated because its response was lost is not counted twice.';
create policy "A key counts the requests of its project" on filestore.rate_windows to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.rate_windows to filestore_engine;
create policy "A deletion removes the rate windows of its project"
  on filestore.rate_windows to filestore_admin using (project_id = filestore.current_project_id());
grant select (project_id, shard), delete on filestore.rate_windows to filestore_admin;
create policy "An account sees the rate windows of the project that it opened"
  on filestore.rate_windows to filestore_account using (project_id = filestore.current_project_id());
grant select on filestore.rate_windows to filestore_account;

create sequence filestore.positions;
comment on sequence filestore.positions is
  'Positions of versions in the change feed of their project. See `next_position`.';
grant select, usage on sequence filestore.positions to filestore_admin, filestore_engine;
grant select on sequence filestore.positions to filestore_account;

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
  'Addresses that read or write one file without a key, for a limited time. The token is stored nowhere, '
  'only its SHA-256.';
comment on column filestore.links.version is
  'For a link that reads: the version; null: always the latest one.';
comment on column filestore.links.if_version is
  'For a link that writes: the version that it replaces; 0: the file must not exist.';
comment on column filestore.links.key_id is
  'The key that it acts as, which follows rotations; null where a person (account_id) created it.';
comment on column filestore.links.used_at is 'When its one version was written, by commit_id.';
create index links_by_project on filestore.links (project_id, created_at);
create index links_by_key on filestore.links (key_id);
create index links_by_end on filestore.links (expires_at);
create policy "A link sees itself, and a key the links below its prefix"
  on filestore.links for select to filestore_engine
  using (token_hash = filestore.current_key_hash()
    or project_id = filestore.current_project_id() and starts_with(path, filestore.current_path_prefix()));
create policy "A key creates links of its project" on filestore.links for insert to filestore_engine
  with check (project_id = filestore.current_project_id());
create policy "A key changes links of its project" on filestore.links for update to filestore_engine
  using (project_id = filestore.current_project_id());
create policy "A key removes links of its project" on filestore.links for delete to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update (revoked_at, used_at, commit_id), delete on filestore.links to filestore_engine;
create policy "The operator and the sweep change and remove every link" on filestore.links to filestore_admin
  using (true);
grant select, update (key_id, key_hash), delete on filestore.links to filestore_admin;
create policy "An account changes the links of the project that it opened"
  on filestore.links to filestore_account using (project_id = filestore.current_project_id());
grant select, update (key_id, key_hash, revoked_at) on filestore.links to filestore_account;

create unlogged table filestore.link_windows (
  project_id uuid not null,
  link_id uuid not null,
  window_start timestamptz not null,
  request_count integer not null,
  primary key (project_id, link_id)
) with (fillfactor = 50);
comment on table filestore.link_windows is
  'Uses of a link in the current clock minute, and of all links of a project (link_id all zeros). An '
  'unlogged table: after a crash the counts of that minute are lost.';
create policy "A link counts its uses" on filestore.link_windows to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.link_windows to filestore_engine;
create policy "The sweep removes all link windows" on filestore.link_windows to filestore_admin using (true);
grant select, delete on filestore.link_windows to filestore_admin;

-- With a foreign key, every commit would lock the row that it refers to, such as its project's, and all
-- commits share that row. A commit has read the row in its own transaction, and such rows are rarely removed,
-- so instead the removal of a row checks for rows that refer to it.
create function filestore.refuse_to_orphan() returns trigger
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := coalesce(to_jsonb(old) ->> 'project_id', old.id::text);
begin
  if exists (select from filestore.files f where f.project_id = v_project_id) then
    raise foreign_key_violation using message = format('a row of %s is in use', tg_table_name);
  end if;
  return old;
end
$$;
comment on function filestore.refuse_to_orphan is
  'Refuses to remove a project that has files, or a key that versions may name.';
call filestore.grant_execute('filestore.refuse_to_orphan', 'filestore_admin');
create trigger keep_projects_with_files before delete or update of id on filestore.projects
  for each row execute function filestore.refuse_to_orphan();
create trigger keep_keys_of_versions before delete or update of project_id, id on filestore.api_keys
  for each row when (old.has_written) execute function filestore.refuse_to_orphan();
