-- Generated from supabase/schemas by supabase/local/database/generate_migration.ts: read and edit the files there.
-- 00_roles.sql =======================================================================================================
-- The schema, its roles, the extensions that search uses, and helpers that set privileges.
--
-- Everything lives in the schema `filestore`, which the REST API does not expose. The edge function `api`
-- calls the functions in `public`, which run as one of four roles. None of them owns a table or bypasses a
-- policy. Databases get `supabase/migrations`; README.md in this folder describes how migrations and schemas
-- stay equal.
--
-- SQLSTATEs of ours. Each rolls a block back and is caught in the same call, so no client sees one:
-- FS001: a request cannot be counted without waiting for others (count_requests).
-- FS002: others have added files to a plan, which has to be locked again (locked_plan).
-- FS003: a commit was refused after it had changed something (commit_or_refuse).
-- FS004: the window has too few requests left for the files of a commit (count_files).
-- FS005: a health probe has committed (filestore_health_probe).
-- An exception without a code of ours means that a caller broke the contract: it is answered as a fault of the service.

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
comment on role filestore_engine is 'Runs the file operations: subject to row-level security; owns no table.';
comment on role filestore_admin is
  'Runs project and key administration: subject to row-level security; owns no table.';
comment on role filestore_account is
  'Runs the actions of account holders on their projects and keys: subject to row-level security; owns no '
  'table.';
comment on role filestore_search is
  'Maintains the search index and finds candidates in it, for every project: subject to row-level security; '
  'owns no table.';

grant usage on schema filestore to filestore_engine, filestore_admin, filestore_account, filestore_search;

-- Search needs pg_trgm and btree_gin, which every Postgres of Supabase has. Without vector there is no semantic search.
create schema if not exists extensions;
create extension if not exists pg_trgm with schema extensions;
create extension if not exists btree_gin with schema extensions;
do $$
begin
  if exists (
    select from pg_catalog.pg_available_extensions a where a.name = 'vector' and a.installed_version is null
  ) then
    create extension vector with schema extensions;
  end if;
exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
  raise notice 'search is set up without the extension vector';
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Helpers, dropped by the last file. Each call stands directly below the function that it concerns.

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
  -- A new owner needs CREATE on the schema while the owner changes.
  execute format('grant create on schema %s to %I', v_schema, p_owner);
  execute format('alter function %s owner to %I', p_function::regprocedure, p_owner);
  execute format('revoke create on schema %s from %I', v_schema, p_owner);
end
$$;
comment on procedure filestore.publish(regproc, text, text[]) is
  'Makes a function run as p_owner (it is `security definer`) and callable by these roles alone.';

create procedure filestore.pin_plan(p_function regproc)
language plpgsql as $$
begin
  execute format(
    'alter function %s set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off '
    'set enable_sort = off set jit = off', p_function::regprocedure);
end
$$;
comment on procedure filestore.pin_plan(regproc) is
  'Keeps the plans of a function''s statements from changing: each statement is planned once per session and '
  'uses an index, whatever the statistics are.';
-- 01_limits.sql ======================================================================================================
-- Bounds that several functions use, or that the database and the edge function both use. A number that only one
-- function uses is a constant of that function.

create view filestore.limits as select
  1024 as path_bytes_max,
  32 as path_segments_max,
  -- A file has at most this many segments, plus the next number for each MiB begun.
  128 as segment_list_max_base,
  2 as segment_list_max_per_mib,
  -- A commit returns the segment list for compaction whenever its length passes a multiple of this.
  8 as compaction_check_every_segments,
  20 as account_projects_max,
  -- Members of a project, with its owner and open invitations, and how long an invitation is open.
  50 as project_members_max,
  14 as invitation_days,
  -- Calls per minute of an account's own functions, for all of its projects together.
  120 as account_requests_per_minute,
  -- Keys that are neither revoked nor expired.
  100 as project_keys_max,
  604800 as key_grace_period_seconds_max,
  -- The sweep removes a key this long after it was revoked or has expired.
  90 as ended_keys_kept_days,
  100 as name_length_max,
  -- Apps: how long a code and an access token are valid, how long a used refresh token may be used again, …
  60 as app_code_seconds,
  3600 as app_access_seconds,
  30 as app_refresh_grace_seconds,
  -- … after how long without use an app is disconnected, …
  90 as app_unused_days,
  -- … and how many tokens of an app are kept, the newest.
  100 as app_tokens_max,
  -- Usable links of a project.
  1000 as project_links_max,
  60 as link_seconds_min,
  604800 as link_seconds_max,
  3600 as write_link_seconds_max,
  60 as link_requests_per_minute,
  -- For this long, the answer to an ended link states that it ended; then the sweep removes the link.
  7 as ended_links_kept_days,
  10 as project_webhooks_max,
  -- Changes in one delivery, tries that are kept of a webhook, …
  100 as webhook_changes_max,
  100 as webhook_deliveries_kept,
  -- … and how long an isolate has for a try and its report, before another one may deliver.
  30 as webhook_lease_seconds,
  24 as webhook_secrets_hours,
  86400 as idempotency_key_seconds,
  10 as operations_per_request,
  -- How long an operation waits for a lock that another transaction holds.
  2000 as lock_timeout_milliseconds,
  -- The number of commits of one project that can add to its usage at the same time without waiting.
  64 as usage_shards,
  -- The tariff of a version, deletions included, …
  512 as tariff_version_bytes,
  -- … of each byte of its run id, actor and note, which an index has, too, …
  2 as tariff_provenance_factor,
  -- … of each segment in its list, …
  16 as tariff_listed_segment_bytes,
  -- … of each stored segment, and of each in the list of a version with the content of another file, …
  256 as tariff_segment_bytes,
  -- … and of each byte of text in the search index. `filestore.file_cost` has that of a file.
  6 as tariff_indexed_factor,
  -- A file with a longer text is found by its path alone.
  1048576 as search_text_bytes_max,
  -- A longer text is stored once for all files of a project that contain it.
  512 as search_shared_bytes_min,
  1000 as list_directories_max,
  -- The largest number of files that a list counts; beyond it, a list shows only that there are more.
  10000 as list_total_max,
  100 as page_limit_max,
  -- Files that a page of a list with `at=` examines, and again that number for the names of sub-folders.
  2000 as list_at_examined_max,
  -- Files in one commit of a folder operation, an undo or a restore.
  1000 as commit_files_max,
  -- Paths that a refused copy or move of a folder names.
  20 as conflicting_paths_shown_max,
  -- Files that a branch is made of, in slices of commit_files_max, and the tariff of a branch.
  10000 as branch_files_max,
  2048 as tariff_branch_bytes,
  -- Texts whose lines one merge may merge, and their bytes, all three sides together.
  200 as merge_texts_max,
  16777216 as merge_texts_bytes_max,
  -- Files that restoring a folder examines to find those that changed.
  10000 as restore_examined_max,
  -- An archive contains at most this many files, bytes and segments. Each segment costs a download.
  500 as export_files_max,
  52428800 as export_bytes_max,
  1000 as export_segments_max,
  -- The plan of an undo or a restore counts as at most this many requests.
  10 as plan_requests_max,
  1000 as changes_limit_max,
  -- Versions that a page of the change feed with filters, or for a key with a path prefix, examines.
  10000 as changes_examined_max,
  20 as run_actors_max,
  -- Versions that are counted of one run; the counts of a larger run are lower bounds.
  10000 as run_versions_counted_max,
  -- Versions that the plan of an undo examines, to find versions of other authors.
  20000 as undo_versions_examined_max,
  -- Versions that a purge removes in its own commit. The sweep removes the others in slices.
  10000 as erased_versions_max,
  -- For a preview of a retention rule: files that it examines, versions that it counts, files that it names.
  2000 as retention_preview_files,
  100000 as retention_preview_versions,
  20 as retention_preview_shown,
  -- Days in one request for usage, days for which usage is kept, and keys that an answer names.
  366 as usage_days_max,
  400 as usage_kept_days,
  100 as usage_keys_shown_max,
  20 as redact_remaining_max,
  -- Files without indexed text that a search examines, and how many of their paths the answer names.
  2000 as search_unsearched_max,
  20 as search_unsearched_paths_max,
  -- In a project with up to this many chunks a search compares each embedding; in a larger one it uses the
  -- index.
  10000 as search_exact_chunks_max,
  -- Embeddings with these numbers of dimensions have an index; others are compared one by one.
  '{384, 512, 768, 1024, 1536}'::integer[] as vector_sizes;
comment on view filestore.limits is 'The bounds that several functions, or the database and the edge function, share.';
grant select on filestore.limits
  to filestore_account, filestore_admin, filestore_engine, filestore_search;

-- Immutable: the planner replaces `(filestore.limits()).x` by a constant, so reading a limit costs nothing.
create function filestore.limits() returns filestore.limits
language plpgsql immutable set search_path = ''
as $$ begin return (select l from filestore.limits l); end $$;
comment on function filestore.limits is
  'The limits. A test compares them with `limits.ts`, and fails for a limit that no function reads.';
call filestore.grant_execute(
  'filestore.limits', 'filestore_account', 'filestore_admin', 'filestore_engine', 'filestore_search');
-- 02_access.sql ======================================================================================================
-- The caller: the account of an access token, and the settings that each operation sets for its own
-- transaction. Policies read these settings to decide which rows are visible. (After the transaction a
-- setting is empty, not null.)

create function filestore.to_uuid(p_text text) returns uuid
language plpgsql immutable set search_path = '' as $$
begin
  return (regexp_match(p_text, '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))[1]::uuid;
end
$$;
comment on function filestore.to_uuid is 'The text as a UUID, or null if it is not one.';
call filestore.grant_execute('filestore.to_uuid', 'filestore_account', 'filestore_admin');

create function filestore.is_account_active(p_account_id uuid) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Null owner: the operator's own project. Without Supabase Auth there is no account to check.
  if p_account_id is null or to_regclass('auth.users') is null then return true; end if;
  return exists (
    select from auth.users u
    where u.id = p_account_id and u.deleted_at is null
      and (u.banned_until is null or u.banned_until < clock_timestamp()));
end
$$;
comment on function filestore.is_account_active is
  'Whether an account exists and is not banned. Like the next functions, it runs as the role that applies '
  'migrations, which may read the schema auth.';
call filestore.grant_execute('filestore.is_account_active', 'filestore_account', 'filestore_engine');

create function filestore.is_session_active(p_account_id uuid, p_session_id uuid, p_aal text) returns boolean
language plpgsql stable security definer set search_path = '' as $$
begin
  -- Auth removes a session's row when the person signs out. The column not_after is newer than the table.
  if to_regclass('auth.sessions') is not null then
    if not exists (
      select from auth.sessions s
      where s.id = p_session_id and s.user_id = p_account_id
        and coalesce((to_jsonb(s) ->> 'not_after')::timestamptz > clock_timestamp(), true)) then
      return false;
    end if;
  end if;
  if p_aal is distinct from 'aal2' and to_regclass('auth.mfa_factors') is not null then
    return not exists (
      select from auth.mfa_factors f where f.user_id = p_account_id and f.status::text = 'verified');
  end if;
  return true;
end
$$;
comment on function filestore.is_session_active is
  'Whether the account''s session has not ended, and was begun with a second factor if the account has one '
  'now. Where Auth stores sessions, a token that names no session has none.';
call filestore.grant_execute('filestore.is_session_active', 'filestore_engine');

create function filestore.address_of(p_account_id uuid, p_must_be_confirmed boolean default false) returns text
language plpgsql stable security definer set search_path = '' as $$
declare
  v_address text;
begin
  if to_regclass('auth.users') is not null then
    execute 'select lower(nullif(u.email, '''')) from auth.users u
      where u.id = $1 and (not $2 or u.email_confirmed_at is not null)'
    into v_address using p_account_id, p_must_be_confirmed;
  end if;
  return v_address;
end
$$;
comment on function filestore.address_of is
  'The e-mail address of an account, in lower case; null where it has none or, if it must be, none that is confirmed.';
call filestore.grant_execute('filestore.address_of', 'filestore_account', 'filestore_engine');

create function filestore.current_claims() returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return nullif(current_setting('request.jwt.claims', true), '')::jsonb; end $$;
comment on function filestore.current_claims is
  'The claims of the access token, which PostgREST has verified; or null.';
call filestore.grant_execute('filestore.current_claims', 'filestore_account', 'filestore_admin');

create function filestore.claimed_account_id() returns uuid
language plpgsql stable set search_path = '' as $$
declare
  v_claims constant jsonb := filestore.current_claims();
begin
  -- Auth's own OAuth server names the app that it issued a token to. A token without an audience is for every
  -- service (RFC 7519, section 4.1.3).
  return case when v_claims ->> 'role' is not distinct from 'authenticated' and not v_claims ? 'client_id'
    and (coalesce(v_claims -> 'aud', 'null') in ('null', '[]') or v_claims -> 'aud' @> '"authenticated"')
    then filestore.to_uuid(v_claims ->> 'sub') end;
end
$$;
comment on function filestore.claimed_account_id is
  'The account (auth.users.id) of the access token, whether or not the account may act. Null where Auth '
  'issued the token to a third-party app, for another role or for another service, rather than to a person '
  'who signed in here.';
call filestore.grant_execute('filestore.claimed_account_id', 'filestore_admin');

create function filestore.current_account_id() returns uuid
language plpgsql stable security definer set search_path = '' as $$
declare
  v_claims constant jsonb := filestore.current_claims();
  v_id constant uuid := filestore.claimed_account_id();
begin
  return case when v_id is not null and v_claims ->> 'is_anonymous' is distinct from 'true'
    and filestore.is_account_active(v_id)
    and not exists (select from filestore.account_deletions d where d.account_id = v_id)
    and filestore.is_session_active(v_id, filestore.to_uuid(v_claims ->> 'session_id'), v_claims ->> 'aal')
    then v_id end;
end
$$;
comment on function filestore.current_account_id is
  'The signed-in account (auth.users.id), or null; also null where the account may not act as an owner: it '
  'was deleted or banned, it is anonymous, or the session of the token has ended or lacks the account''s '
  'second factor.';
call filestore.grant_execute('filestore.current_account_id', 'filestore_account');

-- What the transaction acts for. These functions pin no search_path: their bodies are parsed when the
-- functions are created, so they do not need one. The planner can then inline the bodies into each policy's
-- condition; otherwise each condition of each statement would cost a call, or a query around the setting.
create function filestore.current_project_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('filestore.project_id', true), '')::uuid;
comment on function filestore.current_project_id is
  'The project of the key, or the project that was opened, or null.';
call filestore.grant_execute(
  'filestore.current_project_id', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.current_owner_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('filestore.account_id', true), '')::uuid;
comment on function filestore.current_owner_id is
  'The account whose usage `shared_bytes` is adding up; otherwise null.';
call filestore.grant_execute('filestore.current_owner_id', 'filestore_account');

create function filestore.current_key_hash() returns bytea
language sql stable parallel safe
return decode(nullif(current_setting('filestore.key_hash', true), ''), 'hex');
comment on function filestore.current_key_hash is
  'The hash of the key, or of the token of a console session or link; or null.';
call filestore.grant_execute('filestore.current_key_hash', 'filestore_engine');

create function filestore.current_path_prefix() returns text
language sql stable parallel safe
return current_setting('filestore.path_prefix', true);
comment on function filestore.current_path_prefix is
  'The prefix of all paths that the key may see, ending with a slash; empty: the key sees every path.';
call filestore.grant_execute('filestore.current_path_prefix', 'filestore_engine');

create function filestore.sees_branches() returns boolean
language sql stable parallel safe
return current_setting('filestore.branches', true) = 'on';
comment on function filestore.sees_branches is
  'Whether the transaction has named a place in a branch: a path or a directory below `.branches/`. Otherwise it '
  'sees no file there.';
call filestore.grant_execute('filestore.sees_branches', 'filestore_engine');

create function filestore.branch_place(p_commit jsonb) returns text
language plpgsql immutable set search_path = '' as $$
begin
  -- Most commits name one path.
  if not p_commit ?| '{destination,directory,operations,paths}' then
    return case when starts_with(p_commit ->> 'path' || '/', '.branches/') then p_commit ->> 'path' || '/' end;
  end if;
  return (
    select min(p.path || '/') from (
      values (p_commit ->> 'path'), (p_commit ->> 'destination'), (p_commit ->> 'directory')
      union all
      select n.path from jsonb_array_elements(p_commit -> 'operations') o
      cross join lateral (values (o.value ->> 'path'), (o.value ->> 'destination')) n (path)
      union all
      select jsonb_array_elements_text(p_commit -> 'paths')
    ) p (path)
    where starts_with(p.path || '/', '.branches/'));
end
$$;
comment on function filestore.branch_place is
  'A place in a branch that a commit names, with a slash at its end; null if it names none.';
call filestore.grant_execute('filestore.branch_place', 'filestore_engine');

create function filestore.place_hash(p_cursor_key bytea, p_file_id uuid, p_place text) returns bytea
language plpgsql stable set search_path = '' as $$
begin
  return substr(sha256(p_cursor_key || uuid_send(p_file_id) || convert_to(p_place, 'UTF8')), 1, 16);
end
$$;
comment on function filestore.place_hash is
  'The hash stored for the path of a purged file, or for a directory above it, so that a client that names '
  'the path learns of the purge.';
call filestore.grant_execute('filestore.place_hash', 'filestore_admin', 'filestore_engine');
-- 10_projects.sql ====================================================================================================
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
  retention jsonb check (jsonb_typeof(retention) = 'object'),
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
grant select, insert, update (name, retention, retention_set_at, owner_id, deleted_at, has_webhooks)
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
  request_count integer not null
) with (fillfactor = 50);
comment on table filestore.account_windows is
  'Calls of an account''s own functions in the current clock minute. An unlogged table: after a crash the '
  'counts are lost.';
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
-- 11_files.sql =======================================================================================================
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
-- 12_upkeep.sql ======================================================================================================
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
-- 13_search_tables.sql ===============================================================================================
-- The tables of the search index: a queue of files to index, their current text, texts that several files
-- use, and chunks. Each with its policies and grants. filestore_search is the exception among the roles: it
-- sees the texts of every project. No session has this role; only functions of the search run as it.

create table filestore.search_queue (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  bytes bigint not null,
  stage smallint not null default 1 check (stage in (1, 2)),
  due_at timestamptz not null,
  attempts integer not null default 0,
  lease_id uuid,
  primary key (project_id, file_id)
) with (fillfactor = 70);
comment on table filestore.search_queue is
  'Files whose current version is not indexed yet. One row per file, whatever the number of versions added '
  'since.';
comment on column filestore.search_queue.stage is
  '1: the text is to be stored. 2: the text is stored, and chunks are to be embedded.';
comment on column filestore.search_queue.due_at is
  'When it may be leased: immediately, or, once it is leased, after the lease.';
comment on column filestore.search_queue.attempts is
  'Leases of this version that ended without a result. After the first one, the file is leased alone.';
create index search_queue_due on filestore.search_queue (stage, due_at);
create index search_queue_turn on filestore.search_queue (stage, project_id, due_at);
create policy "A key queues the files that it writes" on filestore.search_queue to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.search_queue to filestore_engine;
create policy "The sweep sees and removes all queued files" on filestore.search_queue to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.search_queue to filestore_admin;
create policy "The search index maintains its queue" on filestore.search_queue to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_queue to filestore_search;

create table filestore.search_contents (
  project_id uuid not null,
  hash bytea not null,
  content text not null,
  words tsvector not null,
  is_cut boolean not null default false,
  primary key (project_id, hash)
);
comment on table filestore.search_contents is
  'Texts of more than search_shared_bytes_min bytes: one row for all files of the project that contain it. '
  'It is deleted with the last of them.';
comment on column filestore.search_contents.hash is 'SHA-256 of the content.';
comment on column filestore.search_contents.words is 'The words of the content, without those of a path.';
comment on column filestore.search_contents.is_cut is
  'Whether the content contains more distinct words than are indexed; then `words` contains only those of '
  'its beginning.';
create policy "A key sees the contents of its project" on filestore.search_contents to filestore_engine
  using (project_id = filestore.current_project_id());
grant select on filestore.search_contents to filestore_engine;
create policy "A deletion removes the contents of its project" on filestore.search_contents to filestore_admin
  using (project_id = filestore.current_project_id());
grant select (project_id, hash), delete on filestore.search_contents to filestore_admin;
create policy "The search index maintains all contents" on filestore.search_contents to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_contents to filestore_search;

create table filestore.search_texts (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  mime_type text not null,
  skipped text check (skipped in ('too_large', 'not_text', 'not_indexable')),
  content text,
  content_hash bytea,
  bytes integer not null,
  json_bytes integer not null,
  words tsvector not null,
  is_cut boolean not null default false,
  model text,
  indexed_at timestamptz not null default '-infinity',
  primary key (project_id, file_id),
  unique (project_id, path),
  check ((content is null) = (content_hash is not null)),
  foreign key (project_id, file_id) references filestore.files (project_id, id),
  foreign key (project_id, content_hash) references filestore.search_contents (project_id, hash)
);
comment on table filestore.search_texts is
  'The text of a file at one version, at most 1 MB. U+FFFE stands for NUL, which the type text cannot hold.';
comment on column filestore.search_texts.skipped is
  'Why the content is not indexed; then the content is the path, so that the file is found by its name.';
comment on column filestore.search_texts.content_hash is 'Set where the content is in search_contents.';
comment on column filestore.search_texts.words is
  'The words of the path, and of the content where it is in this row.';
comment on column filestore.search_texts.is_cut is 'As in search_contents.';
comment on column filestore.search_texts.json_bytes is
  'Bytes of the content as a JSON string, in which a control character takes six; pages are limited by this '
  'size.';
comment on column filestore.search_texts.model is 'The embedding model that has processed all of its chunks.';
create index search_texts_by_model on filestore.search_texts (model) where skipped is null;
create index search_texts_by_project_model on filestore.search_texts (project_id, model) where skipped is null;
create index search_texts_by_content on filestore.search_texts (project_id, content_hash)
  where content_hash is not null;
-- For `search_unsearched`: texts that a search did not read.
create index search_texts_unsearched on filestore.search_texts (project_id, path)
  where skipped in ('too_large', 'not_indexable') or is_cut;
create index search_texts_given_up on filestore.search_texts (indexed_at) where skipped = 'not_indexable';
create policy "A key sees the texts of its project" on filestore.search_texts to filestore_engine
  using (project_id = filestore.current_project_id());
grant select on filestore.search_texts to filestore_engine;
create policy "The sweep sees and removes all texts" on filestore.search_texts to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.search_texts to filestore_admin;
create policy "The search index maintains all texts" on filestore.search_texts to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_texts to filestore_search;

create table filestore.search_chunks (
  project_id uuid not null,
  file_id uuid not null,
  hash uuid not null,
  version integer not null,
  first_line integer not null check (first_line > 0),
  start integer not null check (start >= 0),
  length integer not null check (length > 0),
  model text,
  embedding real[] check (cardinality(embedding) between 1 and 2000),
  primary key (project_id, file_id, hash),
  foreign key (project_id, file_id) references filestore.search_texts (project_id, file_id) on delete cascade
) with (fillfactor = 85);
comment on table filestore.search_chunks is
  'Parts of a text that are embedded one by one. The text itself is in search_texts or search_contents.';
comment on column filestore.search_chunks.hash is
  'MD5 of the text: a chunk that does not change between versions keeps its embedding.';
comment on column filestore.search_chunks.start is 'In characters of the content, from 0.';
alter table filestore.search_chunks alter column embedding set storage external;
create policy "A key sees the chunks of its project" on filestore.search_chunks to filestore_engine
  using (project_id = filestore.current_project_id());
grant select on filestore.search_chunks to filestore_engine;
create policy "A deletion removes the chunks of its project" on filestore.search_chunks to filestore_admin
  using (project_id = filestore.current_project_id());
grant select (project_id, file_id, hash), delete on filestore.search_chunks to filestore_admin;
create policy "The search index maintains all chunks" on filestore.search_chunks to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_chunks to filestore_search;

-- Every table has row-level security: a role without a policy sees no row.
do $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid from pg_catalog.pg_class c where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
  loop
    execute format('alter table %s enable row level security', v_table);
  end loop;
end
$$;

-- Trigrams are those of pg_trgm, reduced to a bounded number of numbers: where the database knows the letters
-- of all scripts there are 16 million trigrams, and each one that is new to an index takes some 50 bytes
-- there. Where two trigrams have the same number, a candidate may not match. The bodies are parsed here and
-- not when they run, so callers need no access to the schema of the extension.
do $$
declare
  v_show_trgm constant text := (
    select format('%I.show_trgm', n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm');
  -- The high cost makes the planner use the index rather than compute the trigrams of each row.
  v_create constant text :=
    'create function filestore.%1$s returns integer[] language sql immutable cost 10000 set search_path = '''' '
    'begin atomic select array(';
  -- Must be a power of two.
  c_numbers constant integer := 65536;
  v_number constant text := format('hashtext(t.trigram) & %s', c_numbers - 1);
begin
  execute format(
    v_create || 'select %2$s from unnest(%3$s(p_text)) t (trigram)); end', 'search_trigrams(p_text text)', v_number,
    v_show_trgm);
  execute format(
    v_create || 'select distinct %2$s from (select unnest(%3$s(p_literal)) '
      'except select unnest(%3$s(left(p_literal, 2))) except select unnest(%3$s(right(p_literal, 2)))) '
      't (trigram)); end', 'search_trigrams_within(p_literal text)', v_number, v_show_trgm);
end
$$;
comment on function filestore.search_trigrams is
  'The numbers of a text''s trigrams, in any order, some of them more than once.';
comment on function filestore.search_trigrams_within is
  'The numbers of the trigrams of every text that contains the literal: without those at the beginning or '
  'end of a word where the literal also begins or ends, since in the text the word may be longer.';
call filestore.grant_execute('filestore.search_trigrams', 'filestore_search');
call filestore.grant_execute('filestore.search_trigrams_within', 'filestore_search');

-- A large text has more entries than the pending list of an index can hold, so entries of shared contents are
-- inserted directly.
create index search_texts_by_trigram on filestore.search_texts
  using gin (project_id, filestore.search_trigrams(content)) where content_hash is null;
create index search_contents_by_trigram on filestore.search_contents
  using gin (project_id, filestore.search_trigrams(content)) with (fastupdate = off);
-- Statistics of the expression would need the trigrams of thousands of texts, and affect no plan.
alter index filestore.search_texts_by_trigram alter column 2 set statistics 0;
alter index filestore.search_contents_by_trigram alter column 2 set statistics 0;
create index search_texts_by_word on filestore.search_texts using gin (project_id, words) where content_hash is null;
create index search_texts_by_path_word on filestore.search_texts using gin (project_id, words)
  where content_hash is not null;
create index search_contents_by_word on filestore.search_contents using gin (project_id, words)
  with (fastupdate = off);

do $$
declare
  v_schema constant text := (
    select quote_ident(n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector');
  v_dimensions integer;
begin
  if v_schema is null then return; end if;
  -- A chunk is in the index of its vector's size.
  foreach v_dimensions in array (filestore.limits()).vector_sizes loop
    execute format(
      'create index search_chunks_by_meaning_%2$s on filestore.search_chunks '
      'using hnsw ((embedding::%1$s.vector(%2$s)) %1$s.vector_cosine_ops) where cardinality(embedding) = %2$s',
      v_schema, v_dimensions);
  end loop;
end
$$;
-- 14_branches.sql ====================================================================================================
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
-- 15_webhooks.sql ====================================================================================================
-- The tables of webhooks, with their policies and grants. 53_webhooks.sql delivers.

create table filestore.webhooks (
  project_id uuid not null references filestore.projects (id),
  id uuid not null,
  url text not null check (octet_length(url) <= 2000 and url ~ '^https?://[^\s/]+\S*$'),
  directory text collate "C" not null check (octet_length(directory) <= 1024),
  operations text[],
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
-- 20_records.sql =====================================================================================================
-- The results of functions: records, refusals, envelopes.
--
-- A function that the edge function calls for a request returns jsonb, or json for a page, which is faster:
-- {"grant": {...}, "rate": {...}, "value": ...} or, instead of the value, {"refusal": {"code": ...,
-- "details": {...}}}. Refusals are results and not exceptions, so that a refused request still counts. A
-- refused request changes nothing else.
--
-- Every function pins an empty search_path, so Postgres inlines none into a query, except those of policies,
-- which pin none; a call costs 3 microseconds, and 8 where expressions have to be prepared for it. Most are
-- in plpgsql, which keeps its plans for the session: a function in SQL that is not inlined is planned at
-- every call. The functions in SQL are those that policies inline, those whose bodies must be parsed when
-- they are created, and those that are rarely called. Expressions that a page needs for each of its rows, or
-- an index for its condition, are written out in the query instead: a time as ISO 8601, and "below a
-- directory", which is `path >= directory || '/' and path < directory || '0'`: the character after `/` is
-- `0`, so that it is a range.

create function filestore.iso(p_time timestamptz) returns text
language plpgsql stable set search_path = ''
as $$ begin return to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'); end $$;
comment on function filestore.iso is 'The time in ISO 8601, in UTC with milliseconds and Z.';
call filestore.grant_execute('filestore.iso', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.refusal(p_code text, p_details jsonb default '{}'::jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return jsonb_build_object('refusal', jsonb_build_object('code', p_code, 'details', p_details)); end $$;
comment on function filestore.refusal is 'A refusal with a code of the wire contract.';
call filestore.grant_execute('filestore.refusal', 'filestore_account', 'filestore_admin', 'filestore_engine');

create type filestore.listed_file as (
  id uuid, path text, version integer, mime_type text, size bigint, created_at timestamptz, updated_at timestamptz,
  is_deleted boolean
);
comment on type filestore.listed_file is 'The fields of a file at one version that the API returns.';

-- As in policies: without a search_path, which the body does not need, the planner can inline the columns
-- into the query.
create function filestore.listed(p_file filestore.files) returns filestore.listed_file
language sql immutable parallel safe
return row((p_file).id, (p_file).path, (p_file).version, (p_file).mime_type, (p_file).size, (p_file).created_at,
  (p_file).updated_at, (p_file).is_deleted)::filestore.listed_file;
comment on function filestore.listed is 'The fields of a row of `files` that the API returns.';
call filestore.grant_execute('filestore.listed', 'filestore_engine');

create function filestore.file_records(p_files filestore.listed_file[]) returns text
language plpgsql stable set search_path = '' as $$
declare
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  -- Joining text costs half as much as json_build_object.
  return (
    select coalesce(string_agg('{"id":"' || f.id || '","path":' || to_json(f.path) || ',"version":' || f.version
      || ',"mimeType":' || to_json(f.mime_type) || ',"size":' || f.size || ',"createdAt":"' || t.created
      || '","updatedAt":"' || case when f.updated_at = f.created_at then t.created
        else to_char(f.updated_at at time zone 'UTC', c_iso) end
      || case when f.is_deleted then '","deleted":true}' else '"}' end, ',' order by f.position), '')
    from unnest(p_files) with ordinality
      f (id, path, version, mime_type, size, created_at, updated_at, is_deleted, position)
    -- fence: the planner must not flatten `offset 0`, or the time would be formatted twice.
    cross join lateral (select to_char(f.created_at at time zone 'UTC', c_iso) as created offset 0) t);
end
$$;
comment on function filestore.file_records is
  'Files as the API returns them: JSON objects, joined by commas.';
call filestore.grant_execute('filestore.file_records', 'filestore_engine');

create function filestore.file_record(p_file filestore.files) returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return filestore.file_records(array[filestore.listed(p_file)]); end $$;
comment on function filestore.file_record is 'A file at one version, as the API returns it.';
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
    -- By subscript: the estimated length of an unnested array would make each custom plan look cheaper than
    -- the generic one, and the statement would be planned at every call.
    from generate_subscripts(p_segment_ids, 1) as i (position)
    -- fence: the planner must not flatten this. Segments are fetched one by one by primary key; a cached plan
    -- must not scan the table, which may have been small when it was planned.
    cross join lateral (
      select * from filestore.segments s where s.id = p_segment_ids[i.position] and s.project_id = p_project_id offset 0
    ) s);
end
$$;
comment on function filestore.segment_list is 'The segments with these ids, in order.';
call filestore.grant_execute('filestore.segment_list', 'filestore_admin', 'filestore_engine', 'filestore_search');

create type filestore.session as (
  project_id uuid, key_id uuid, tier text, max_file_bytes bigint, max_project_bytes bigint, account_id uuid,
  account_bytes bigint, envelope jsonb, scopes text[], path_prefix text, caller_id uuid, person_id uuid,
  has_webhooks boolean
);
comment on type filestore.session is
  'An authorized (or refused) key, for the rest of the transaction.';
comment on column filestore.session.caller_id is
  'The caller whose idempotency keys these requests use: the link that acts as the key, the key, or, all '
  'zeros, the console.';
comment on column filestore.session.account_id is 'The owner of the project.';
comment on column filestore.session.person_id is
  'The account that acts, in the console, by its link or by an app that it let in; null for keys.';
comment on column filestore.session.envelope is
  'The part that every result contains: {"grant", "rate"}, and {"refusal"} where the request is refused.';

create function filestore.page_response(p_session filestore.session, p_page json) returns json
language plpgsql stable set search_path = '' as $$
begin
  return json_build_object(
    'grant', (p_session).envelope -> 'grant', 'rate', (p_session).envelope -> 'rate', 'value', p_page);
end
$$;
comment on function filestore.page_response is
  'The envelope of a page, as json: its records are joined as text. As jsonb they would be parsed and sorted '
  'again at every level.';
call filestore.grant_execute('filestore.page_response', 'filestore_engine');

create function filestore.is_live(p_file filestore.files) returns boolean
language plpgsql immutable set search_path = ''
as $$ begin return (p_file).id is not null and not (p_file).is_deleted; end $$;
comment on function filestore.is_live is 'Whether the file exists and its latest version is not a tombstone.';
call filestore.grant_execute('filestore.is_live', 'filestore_admin', 'filestore_engine');

create function filestore.at_version(
  p_file filestore.files, p_version filestore.file_versions
) returns filestore.files
language plpgsql immutable set search_path = '' as $$
declare
  v_file filestore.files := p_file;
begin
  v_file.version := p_version.version;
  v_file.mime_type := p_version.mime_type;
  v_file.size := p_version.size;
  v_file.is_deleted := p_version.is_deleted;
  v_file.is_text := p_version.is_text;
  v_file.segment_ids := p_version.segment_ids;
  v_file.updated_at := p_version.created_at;
  return v_file;
end
$$;
comment on function filestore.at_version is 'A file in its state at one of its versions.';
call filestore.grant_execute('filestore.at_version', 'filestore_admin', 'filestore_engine');

create function filestore.too_large(p_session filestore.session, p_size bigint, p_details jsonb default '{}')
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- Without a limit the comparison is null.
  return case when p_size > p_session.max_file_bytes
    then filestore.refusal('CONTENT_TOO_LARGE', p_details || jsonb_build_object(
      'limitBytes', p_session.max_file_bytes, 'sizeBytes', p_size, 'tier', p_session.tier)) end;
end
$$;
comment on function filestore.too_large is
  'The refusal of a version that is larger than the tier allows; otherwise null.';
call filestore.grant_execute('filestore.too_large', 'filestore_engine');

create function filestore.not_found(p_file filestore.files) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('FILE_NOT_FOUND', case when (p_file).is_deleted and (p_file).version > 0
    then jsonb_build_object('deletedVersion', (p_file).version) else '{}'::jsonb end);
end
$$;
comment on function filestore.not_found is 'The refusal where a file does not exist, or no longer exists.';
call filestore.grant_execute('filestore.not_found', 'filestore_engine');

create function filestore.refused_field(p_field text, p_reason text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('VALIDATION_ERROR', jsonb_build_object(
    'issues', jsonb_build_array(jsonb_build_object('path', p_field, 'reason', p_reason))));
end
$$;
comment on function filestore.refused_field is
  'The refusal of a field whose error only the database can detect.';
call filestore.grant_execute('filestore.refused_field', 'filestore_account', 'filestore_admin', 'filestore_engine');

create type filestore.next_version as (
  segment_ids uuid[], size bigint, mime_type text, is_deleted boolean, is_text boolean, source_file_id uuid,
  source_version integer
);
comment on type filestore.next_version is 'The content of a version to be added.';

create function filestore.unreadable_version(
  p_file filestore.files, p_number integer, p_version filestore.file_versions
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when (p_version).redacted_at is not null
      then filestore.refusal('VERSION_REDACTED', jsonb_build_object('version', p_number))
    when (p_version).version is null
      then filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', (p_file).version)
        || case when p_number < (p_file).version then '{"trimmed": true}'::jsonb else '{}'::jsonb end) end;
end
$$;
comment on function filestore.unreadable_version is
  'The refusal of a version that cannot be read: it does not exist, no longer exists, or its content was '
  'erased.';
call filestore.grant_execute('filestore.unreadable_version', 'filestore_engine');

-- 21_authorization.sql ===============================================================================================
-- Authorization: from the hash of a key (or of a console session's token) to its project, its limits and its scopes.

create type filestore.request_count as (is_allowed boolean, remaining integer, resets_at timestamptz);
comment on type filestore.request_count is
  'Whether a request is allowed, and the state of the window that counts it.';

create function filestore.count_requests(
  p_project_id uuid, p_limit integer, p_request_id uuid, p_requests integer, p_may_wait boolean default true
) returns filestore.request_count
language plpgsql volatile set search_path = '' as $$
declare
  -- How many requests of one project are counted at the same time without a wait.
  c_shards constant integer := 64;
  v_window timestamptz := date_trunc('minute', clock_timestamp());
  v_latest timestamptz;
  v_shards integer;
  v_used integer;
  v_is_counted boolean;
  v_from integer;
  v_taken integer;
  v_held integer;
begin
  if p_limit is null then return row(true, null::integer, v_window + interval '1 minute'); end if;
  loop
    select max(w.window_start), count(*),
           coalesce(sum(w.request_count) filter (where w.window_start >= v_window), 0),
           p_request_id is null or coalesce(bool_or(w.request_id = p_request_id), false)
    into v_latest, v_shards, v_used, v_is_counted
    from filestore.rate_windows w where w.project_id = p_project_id;
    -- Another request has begun the next window. Counts of two windows must not be added up.
    if v_latest > v_window then
      v_window := v_latest;
      continue;
    end if;
    -- The sum lacks requests in flight: it neither refuses early nor shows 0 while a shard has room.
    if v_is_counted or v_used + p_requests > p_limit then
      return row(v_is_counted, greatest(p_limit - v_used, 0), v_window + interval '1 minute');
    end if;
    if v_shards < c_shards then
      insert into filestore.rate_windows (project_id, shard)
      select p_project_id, n from generate_series(1, c_shards) n on conflict do nothing;
    end if;
    v_taken := 0;
    -- Shards are used in rotation, so that a shard keeps the id of its last request for as long as possible.
    v_from := coalesce(v_held, v_used % c_shards + 1);
    begin
      -- No other shard is locked here, so no two requests can wait for each other.
      if v_held is not null then
        perform from filestore.rate_windows w where w.project_id = p_project_id and w.shard = v_held for update;
      end if;
      while v_taken < p_requests loop
        update filestore.rate_windows w
        set window_start = greatest(w.window_start, v_window), request_id = p_request_id,
            request_count = case when w.window_start < v_window then 0 else w.request_count end + 1
        where w.project_id = p_project_id and w.shard = (
          select s.shard from filestore.rate_windows s
          where s.project_id = p_project_id and s.shard >= v_from
            and case when s.window_start < v_window then 0 else s.request_count end * c_shards + s.shard <= p_limit
          order by s.shard limit 1 for update skip locked);
        exit when not found and v_from = 1;
        if found then v_taken := v_taken + 1; else v_from := 1; end if;
      end loop;
      if v_taken = p_requests then
        return row(true, p_limit - v_used - p_requests, v_window + interval '1 minute');
      end if;
      -- Others lock every shard with room. Before it waits for them, this request releases its own shards.
      select min(s.shard) into v_held from filestore.rate_windows s
      where s.project_id = p_project_id
        and case when s.window_start < v_window then 0 else s.request_count end * c_shards + s.shard <= p_limit;
      raise sqlstate 'FS001';
    exception when sqlstate 'FS001' then
      if not p_may_wait then return row(false, p_limit - v_used, v_window + interval '1 minute'); end if;
    end;
  end loop;
end
$$;
comment on function filestore.count_requests is
  'Counts a request as p_requests in the project''s window, unless its id is null, it was counted already, '
  'or the project has no limit (null). Counts nothing where fewer requests are left. Waits only while other '
  'transactions lock every shard with room; with p_may_wait false, for a transaction that has locked a shard '
  'already, it refuses instead.';
call filestore.grant_execute('filestore.count_requests', 'filestore_engine');

create function filestore.caller_of(
  p_token_hash text, out project_id uuid, out key_id uuid, out scopes text[], out path_prefix text,
  out account_id uuid, out is_session_active boolean, out is_use_due boolean, out has_written boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  v_app_hash text;
begin
  select k.project_id, k.id, k.scopes, k.path_prefix, k.account_id,
         k.last_used_at is null or k.last_used_at < clock_timestamp() - interval '1 minute', k.has_written
  into project_id, key_id, scopes, path_prefix, account_id, is_use_due, has_written from filestore.api_keys k
  where k.key_hash = decode(p_token_hash, 'hex') and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp());
  if found then return; end if;
  select s.project_id, '{read,write,admin}', s.account_id,
         filestore.is_session_active(s.account_id, s.session_id, s.aal)
  into project_id, scopes, account_id, is_session_active from filestore.console_sessions s
  where s.token_hash = decode(p_token_hash, 'hex') and s.expires_at > clock_timestamp();
  if found then return; end if;
  select l.project_id, array[l.scope], l.account_id into project_id, scopes, account_id
  from filestore.links l where l.token_hash = decode(p_token_hash, 'hex') and l.account_id is not null;
  if found then return; end if;
  -- Last, so that no other caller pays for it.
  select encode(t.key_hash, 'hex') into v_app_hash from filestore.app_tokens t
  where t.token_hash = decode(p_token_hash, 'hex') and t.kind = 'access' and t.expires_at > clock_timestamp();
  if not found then return; end if;
  perform set_config('filestore.key_hash', v_app_hash, true);
  select c.* into project_id, key_id, scopes, path_prefix, account_id, is_session_active, is_use_due, has_written
  from filestore.caller_of(v_app_hash) c;
end
$$;
comment on function filestore.caller_of is
  'The project and rights for which a key, a console session, a link or an app''s access token with this hash '
  'stands; nulls if it does not exist. From an access token on, the transaction acts as the app. account_id: '
  'of the person who let the app in, of the console session, or of the one in which the link was created; '
  'null for keys. is_session_active: null for keys, apps and links. is_use_due: whether the use of the key was '
  'last noted over a minute ago.';
call filestore.grant_execute('filestore.caller_of', 'filestore_engine');

create function filestore.note_use(p_key_id uuid, p_is_use_due boolean, p_writes boolean) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- No request waits for the row: if another transaction holds it, the key's next request records the use.
  update filestore.api_keys k
  set last_used_at = case when p_is_use_due then clock_timestamp() else k.last_used_at end,
      has_written = k.has_written or p_writes
  where k.id = (select u.id from filestore.api_keys u where u.id = p_key_id for no key update skip locked);
end
$$;
comment on function filestore.note_use is
  'Records when a key was last used, to the minute, and that it has written.';
call filestore.grant_execute('filestore.note_use', 'filestore_engine');

create function filestore.open_paths(p_path_prefix text, p_place text) returns text
language plpgsql volatile set search_path = '' as $$
declare
  v_setting constant text := set_config('filestore.path_prefix', coalesce(p_path_prefix || '/', ''), true);
begin
  return set_config('filestore.branches', case
    when starts_with(coalesce(p_path_prefix || '/', p_place, ''), '.branches/') then 'on' else '' end, true);
end
$$;
comment on function filestore.open_paths is
  'Opens the paths below a prefix, null for all, for this transaction: those in branches only if the prefix, or a '
  'place that the request names, is in a branch.';
call filestore.grant_execute('filestore.open_paths', 'filestore_engine');

create function filestore.role_of(p_project_id uuid, p_owner_id uuid, p_account_id uuid) returns text
language plpgsql stable set search_path = '' as $$
begin
  if p_account_id = p_owner_id then return 'owner'; end if;
  return (
    select m.role from filestore.members m
    where m.project_id = p_project_id and m.account_id = p_account_id and filestore.is_account_active(p_account_id));
end
$$;
comment on function filestore.role_of is
  'The role of an account in the opened project: owner, admin, editor or viewer; null: none. That of a member who is '
  'banned or deleted is none; the owner''s project counts as suspended then.';
call filestore.grant_execute('filestore.role_of', 'filestore_engine');

create function filestore.scopes_within(p_role text, p_scopes text[] default '{read,write,admin}') returns text[]
language plpgsql immutable set search_path = '' as $$
begin
  return array(
    select s.scope from unnest(p_scopes) with ordinality s (scope, place)
    where p_role in ('owner', 'admin') or s.scope = 'read' and p_role is not null
      or s.scope = 'write' and p_role = 'editor'
    order by s.place);
end
$$;
comment on function filestore.scopes_within is 'Those of the scopes that a person with this role has.';
call filestore.grant_execute('filestore.scopes_within', 'filestore_account', 'filestore_engine');

create function filestore.refused_caller(p_account_id uuid, p_is_session_active boolean, p_has_ended boolean)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    -- The sessions of a deleted account have ended, too: its projects are suspended for sessions as for keys.
    when not p_is_session_active and filestore.is_account_active(p_account_id)
      then filestore.refusal('INVALID_SESSION')
    when p_has_ended
      then filestore.refusal(case when p_is_session_active is null then 'INVALID_API_KEY' else 'PROJECT_NOT_FOUND' end)
    end;
end
$$;
comment on function filestore.refused_caller is
  'The refusal of a caller that has ended: a key does with its project; a console session, a link made in one and an '
  'app do, too, when their person is not in the project. is_session_active: null but for sessions.';
call filestore.grant_execute('filestore.refused_caller', 'filestore_engine');

create function filestore.authorize(
  p_key_hash text, p_request_id uuid, p_scope text, p_requests integer default 1, p_place text default null
) returns filestore.session
language plpgsql volatile set search_path = '' as $$
declare
  v_session filestore.session;
  v_caller record;
  v_setting text;
  v_limit integer;
  v_is_suspended boolean;
  v_is_deleted boolean;
  v_writes boolean;
  v_role text;
  v_count filestore.request_count;
  v_refusal jsonb;
begin
  -- An assignment, which is evaluated directly; `perform` would go through the executor.
  v_setting := set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  v_setting := set_config('filestore.key_hash', p_key_hash, true);
  -- A reader writes only the count and the time of the key's last use: neither is worth waiting for the disk.
  if p_scope is null or p_scope = 'read' then v_setting := set_config('synchronous_commit', 'off', true); end if;
  v_caller := filestore.caller_of(p_key_hash);
  v_session.project_id := v_caller.project_id;
  v_session.key_id := v_caller.key_id;
  v_session.caller_id := coalesce(v_caller.key_id, '00000000-0000-0000-0000-000000000000');
  v_session.scopes := v_caller.scopes;
  v_session.path_prefix := v_caller.path_prefix;
  v_setting := set_config('filestore.project_id', v_caller.project_id::text, true);
  v_setting := filestore.open_paths(v_caller.path_prefix, p_place);
  select p.tier, coalesce(p.requests_per_minute, t.requests_per_minute),
         coalesce(p.max_file_bytes, t.max_file_bytes), coalesce(p.max_project_bytes, t.max_project_bytes),
         p.suspended_at is not null, p.deleted_at is not null, p.owner_id, p.has_webhooks,
         -- A project with a quota of its own, or with none, uses nothing of its account's quota.
         case when p.max_project_bytes is null and t.max_project_bytes is not null and p.owner_id is not null
           then s.account_bytes end
  into v_session.tier, v_limit, v_session.max_file_bytes, v_session.max_project_bytes, v_is_suspended,
    v_is_deleted, v_session.account_id, v_session.has_webhooks, v_session.account_bytes
  from filestore.projects p join filestore.tiers t on t.name = p.tier cross join filestore.settings s
  where p.id = v_caller.project_id;
  if v_caller.account_id is not null then
    v_session.person_id := v_caller.account_id;
    v_role := filestore.role_of(v_session.project_id, v_session.account_id, v_session.person_id);
    v_session.scopes := filestore.scopes_within(v_role, v_session.scopes);
  end if;
  v_session.envelope := filestore.refused_caller(v_caller.account_id, v_caller.is_session_active,
    v_is_deleted is not false or v_session.person_id is not null and v_role is null);
  if v_session.envelope is not null then return v_session; end if;
  v_count := filestore.count_requests(v_session.project_id, v_limit, p_request_id, p_requests);
  if not v_count.is_allowed then
    v_refusal := filestore.refusal('RATE_LIMIT_EXCEEDED');
  elsif v_is_suspended or v_caller.is_session_active is false
    or not filestore.is_account_active(v_session.account_id) then
    v_refusal := filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  elsif p_scope <> all (v_session.scopes) then
    v_refusal := filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', p_scope));
  end if;
  v_writes := p_scope is not distinct from 'write' and v_refusal is null;
  if v_count.is_allowed and (v_caller.is_use_due or v_writes and not v_caller.has_written) then
    perform filestore.note_use(v_caller.key_id, v_caller.is_use_due, v_writes);
  end if;
  v_session.envelope := jsonb_build_object(
    'rate', jsonb_build_object(
      'limit', v_limit, 'remaining', v_count.remaining, 'reset', extract(epoch from v_count.resets_at)::bigint),
    'grant', jsonb_build_object(
      'projectId', v_session.project_id, 'accountId', v_session.account_id, 'keyId', v_session.key_id,
      'tier', v_session.tier, 'maxFileBytes', v_session.max_file_bytes, 'scopes', v_session.scopes,
      'pathPrefix', v_session.path_prefix, 'hasWebhooks', v_session.has_webhooks)) || coalesce(v_refusal, '{}');
  return v_session;
end
$$;
comment on function filestore.authorize is
  'Resolves a key to its project, opens that project''s rows for this transaction (below the key''s prefix), '
  'counts the request, and requires a scope. Files in branches are visible only if p_place, or the key''s prefix, is '
  'below `.branches/`. What acts for a person has no scope that the person''s role lacks. A project is suspended by '
  'the operator, or while its owner is banned or deleted. INVALID_SESSION where the access token of a console session '
  'belongs to a session of Auth that has ended, PROJECT_NOT_FOUND where its person is not in the project.';
call filestore.grant_execute('filestore.authorize', 'filestore_engine');

create function filestore.outside_prefix(p_session filestore.session, p_path text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case when not starts_with(p_path, p_session.path_prefix || '/')
    then filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', p_session.path_prefix)) end;
end
$$;
comment on function filestore.outside_prefix is
  'The refusal of a path outside the key''s prefix, otherwise null. The path of a directory ends with a '
  'slash.';
call filestore.grant_execute('filestore.outside_prefix', 'filestore_engine');

create function public.filestore_authorize(
  p_key_hash text, p_request_id uuid, p_path text default null, p_requests integer default 1
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, null, p_requests, p_path);
  v_file filestore.files;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  return v_session.envelope || coalesce(filestore.outside_prefix(v_session, p_path), jsonb_build_object(
    'value', jsonb_build_object(
      'file', case when filestore.is_live(v_file)
        then jsonb_build_object('version', v_file.version, 'size', v_file.size) end,
      'deletedVersion', case when v_file.is_deleted then v_file.version end)));
end
$$;
comment on function public.filestore_authorize is
  'Authorizes a key and counts the request as p_requests requests (p_request_id null: does not count it); '
  'returns the file at the path that is to be written. Refusals: INVALID_API_KEY, RATE_LIMIT_EXCEEDED, '
  'FORBIDDEN_SCOPE, as in all functions that take a key.';
call filestore.publish('public.filestore_authorize', 'filestore_engine', 'service_role');

-- 22_cursors.sql =====================================================================================================
-- Positions of the change feed, and the cursors that clients get for them.

create function filestore.next_position(p_project_id uuid) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_setting text;
begin
  -- The number that is locked is lower than the position that is returned.
  v_setting := pg_advisory_xact_lock(
    hashtext(p_project_id::text), (nextval('filestore.positions') & 4294967295)::bit(32)::integer);
  return nextval('filestore.positions');
end
$$;
comment on function filestore.next_position is
  'The position of a new version, taken once its file is locked. Until the transaction ends an advisory lock tells '
  'readers of the feed that it may commit versions above that number.';
call filestore.grant_execute('filestore.next_position', 'filestore_admin', 'filestore_engine');

create function filestore.cursor_at(p_cursor_key bytea, p_position bigint) returns text
language plpgsql immutable set search_path = '' as $$
declare
  v_tag constant bytea := substr(sha256(p_cursor_key || int8send(p_position)), 1, 8);
begin
  return encode(v_tag || int8send(p_position # filestore.cursor_mask(p_cursor_key, v_tag)), 'hex');
end
$$;
comment on function filestore.cursor_at is
  'The cursor of a position, 32 hexadecimal digits. Positions are numbered over all projects, which a cursor '
  'does not reveal; each project has its own key, so that a project rejects the cursors of other projects.';
call filestore.grant_execute('filestore.cursor_at', 'filestore_account', 'filestore_engine');

create function filestore.cursor_mask(p_cursor_key bytea, p_tag bytea) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return ('x' || encode(substr(sha256(p_cursor_key || p_tag || '\x01'), 1, 8), 'hex'))::bit(64)::bigint;
end
$$;
comment on function filestore.cursor_mask is 'The mask with which the position in a cursor is combined.';
call filestore.grant_execute('filestore.cursor_mask', 'filestore_account', 'filestore_engine');

create function filestore.position_of(p_cursor_key bytea, p_cursor text) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  v_position bigint;
begin
  if p_cursor !~ '^[0-9a-f]{32}$' then return null; end if;
  v_position := ('x' || substr(p_cursor, 17))::bit(64)::bigint
    # filestore.cursor_mask(p_cursor_key, decode(left(p_cursor, 16), 'hex'));
  return case when filestore.cursor_at(p_cursor_key, v_position) = p_cursor then v_position end;
end
$$;
comment on function filestore.position_of is
  'The position that a cursor stands for; null if it is not a cursor of this project.';
call filestore.grant_execute('filestore.position_of', 'filestore_account', 'filestore_engine');
-- 23_moments.sql =====================================================================================================
-- The project at a moment: finds the version of a file at that moment, including changes at exactly that
-- time.

create type filestore.moment as (at timestamptz, position bigint, unchanged_before timestamptz, refusal jsonb);
comment on type filestore.moment is
  'The moment that `at=` names: a time, or a position of the change feed; neither if there is a refusal.';
comment on column filestore.moment.unchanged_before is
  'A file last updated at or before this time is unchanged since the moment. A commit takes its time before '
  'its positions, so for a cursor this is a minute earlier than the time of the commit.';

create function filestore.moment_of(p_session filestore.session, p_at text) returns filestore.moment
language plpgsql volatile set search_path = '' as $$
declare
  v_moment filestore.moment;
  v_cursor_key bytea;
begin
  if p_at ~ '^[0-9a-f]{32}$' then
    select p.cursor_key into v_cursor_key from filestore.projects p where p.id = p_session.project_id;
    v_moment.position := filestore.position_of(v_cursor_key, p_at);
    if v_moment.position is null then
      v_moment.refusal := filestore.refused_field('at', 'must be a cursor of this project');
    end if;
    -- A position within a transaction stands for the end of the transaction.
    select coalesce(max(o.position), v_moment.position), min(v.created_at) - interval '1 minute'
    into v_moment.position, v_moment.unchanged_before
    from filestore.file_versions v
    join filestore.file_versions o on o.project_id = v.project_id and o.commit_id = v.commit_id
    where v.project_id = p_session.project_id and v.position = v_moment.position;
  else
    v_moment.at := p_at::timestamptz;
    v_moment.unchanged_before := v_moment.at;
    if v_moment.at > clock_timestamp() then
      v_moment.refusal := filestore.refused_field('at', 'must not be in the future');
    end if;
  end if;
  return v_moment;
end
$$;
comment on function filestore.moment_of is
  'The moment of an ISO 8601 time or a cursor. Refused: a time in the future, and a cursor of another project.';
call filestore.grant_execute('filestore.moment_of', 'filestore_engine');

create function filestore.file_at(
  p_file filestore.files, p_moment filestore.moment,
  out file filestore.files, out is_trimmed boolean, out is_redacted boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  -- v_then is the highest version known to be at or before the moment, v_high the lowest number known to be
  -- later. No version exists between v_then's number and v_searched.
  v_then filestore.file_versions;
  v_found filestore.file_versions;
  v_high integer := (p_file).version + 1;
  v_searched integer := 0;
  v_middle integer := (p_file).version;
begin
  is_trimmed := false;
  is_redacted := false;
  if (p_file).updated_at <= p_moment.unchanged_before then
    file := p_file;
    return;
  end if;
  if p_moment.at is not null and (p_file).created_at > p_moment.at then return; end if;
  -- Times and positions ascend with the numbers. The file's row shows whether the latest version is later;
  -- for a cursor, only the version has the position that decides. The second latest version is next: if the
  -- latest is later, few others are.
  if (p_file).updated_at > p_moment.at then
    v_high := (p_file).version;
    v_middle := v_high - 1;
  end if;
  while v_searched < v_high - 1 loop
    select * into v_found from filestore.file_versions v
    where v.project_id = (p_file).project_id and v.file_id = (p_file).id
      and v.version > v_searched and v.version <= v_middle
    order by v.version desc limit 1;
    if not found then
      v_searched := v_middle;
    elsif coalesce(v_found.created_at > p_moment.at, v_found.position > p_moment.position) then
      v_high := v_found.version;
    else
      v_then := v_found;
      v_searched := v_middle;
    end if;
    v_middle := (v_searched + v_high) / 2;
  end loop;
  is_trimmed := v_high > coalesce(v_then.version, 0) + 1;
  if v_then.version is null then return; end if;
  file := p_file;
  if v_then.version = (p_file).version then return; end if;
  file := filestore.at_version(p_file, v_then);
  is_redacted := v_then.redacted_at is not null;
end
$$;
comment on function filestore.file_at is
  'The file at that moment: null where it did not exist yet. Reads one version for each binary digit of the '
  'number of versions. is_trimmed: the state at that moment is unknown, since the versions around it were '
  'trimmed. is_redacted: its content was erased.';
call filestore.grant_execute('filestore.file_at', 'filestore_admin', 'filestore_engine');
-- 24_stored_answers.sql ==============================================================================================
-- The stored answers of requests with an Idempotency-Key. A commit takes the key and stores the answer in its own
-- transaction.

create function filestore.stored_response(p_session filestore.session, p_idempotency jsonb, p_path text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row filestore.idempotency_keys;
  v_is_blank boolean;
begin
  select * into v_row from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and i.caller_id = p_session.caller_id
    and i.key = p_idempotency ->> 'key'
    and i.created_at > clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  if not found then return null; end if;
  if v_row.fingerprint <> decode(p_idempotency ->> 'fingerprint', 'hex') then
    return filestore.refusal('IDEMPOTENCY_KEY_REUSED');
  end if;
  -- A key whose path prefix was changed since then does not see names outside the new prefix.
  v_is_blank := v_row.names ->> 'prefix' is distinct from (p_session).path_prefix or exists (
    select from filestore.projects p
    where p.id = p_session.project_id and p.answers_blank_through >= v_row.created_at);
  return jsonb_build_object('value', jsonb_build_object(
    'file', v_row.response
      || case when v_row.response ? 'id' then jsonb_build_object('path', p_path) else '{}' end
      || case when v_is_blank then '{}' else coalesce(v_row.names - 'prefix', '{}') end,
    'segments', null, 'isReplayed', not p_idempotency ? 'isOwn'));
end
$$;
comment on function filestore.stored_response is
  'The response to the first request with this key, about p_path if it is about one file, or the refusal of '
  'a different request with it; null where the key is new. After an erasure the response contains no names '
  'of files.';
call filestore.grant_execute('filestore.stored_response', 'filestore_engine');
-- 25_reads.sql =======================================================================================================
-- Reading one file: its record, its content, two of its versions, its history.

create function filestore.seen_directory(p_session filestore.session, p_directory text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  v_prefix constant text := p_session.path_prefix;
begin
  return case
    when v_prefix is null or p_directory = v_prefix or starts_with(p_directory, v_prefix || '/') then p_directory
    when p_directory = '' or starts_with(v_prefix, p_directory || '/') then v_prefix end;
end
$$;
comment on function filestore.seen_directory is
  'The part of a directory that the key sees: all of it, or, above the key''s prefix, the part below the '
  'prefix. Null: the key sees none of it.';
call filestore.grant_execute('filestore.seen_directory', 'filestore_engine');

-- fence: as `plain_page`. The index contains only live files, so deleted ones cost nothing.
create function filestore.count_live_files(
  p_project_id uuid, p_directory text, p_recursive boolean,
  p_most integer default (filestore.limits()).list_total_max + 1
) returns integer
language plpgsql stable set search_path = '' as $$
declare
  v_from constant text := coalesce(nullif(p_directory, '') || '/', '');
  -- A path has at most 1024 bytes, so none sorts after this text.
  v_to constant text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  v_rest integer;
  v_count integer;
begin
  select count(*) into v_count from (
    select from filestore.files f
    where f.project_id = p_project_id and not f.is_deleted
      and f.directory >= p_directory and f.directory <= p_directory
    order by f.directory, f.path limit p_most
  ) f;
  if not p_recursive or v_count = p_most then return v_count; end if;
  v_rest := p_most - v_count;
  -- Branches are no part of the root: their files lie between these two ranges.
  return v_count + least(v_rest, (
    select count(*) from (
      (select from filestore.files f
       where f.project_id = p_project_id and not f.is_deleted and f.directory > v_from
         and f.directory < case when p_directory = '' then '.branches/' else v_to end
       order by f.directory, f.path limit v_rest)
      union all
      (select from filestore.files f
       where f.project_id = p_project_id and not f.is_deleted and p_directory = ''
         and f.directory >= '.branches0' and f.directory < v_to
       order by f.directory, f.path limit v_rest)
    ) f));
end
$$;
comment on function filestore.count_live_files is
  'How many live files a directory has, directly or in its whole subtree, up to p_most.';
call filestore.grant_execute('filestore.count_live_files', 'filestore_account', 'filestore_engine');
call filestore.pin_plan('filestore.count_live_files');

create function filestore.nothing_at(p_session filestore.session, p_path text, p_file filestore.files) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- Above a key's prefix only the directories that lead to it are visible.
  v_seen constant text := filestore.seen_directory(p_session, p_path);
begin
  return case when v_seen is not null and filestore.count_live_files(p_session.project_id, v_seen, true, 1) > 0
    then jsonb_set(filestore.not_found(p_file), '{refusal,details,directory}', 'true')
    else filestore.not_found(p_file) end;
end
$$;
comment on function filestore.nothing_at is
  'The refusal for reading a path without a live file; it mentions a directory that the key sees there.';
call filestore.grant_execute('filestore.nothing_at', 'filestore_engine');

create function filestore.find_file(
  p_session filestore.session, p_path text, p_at text,
  out file filestore.files, out is_redacted boolean, out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
declare
  v_moment filestore.moment;
  v_then record;
begin
  select * into file from filestore.files f where f.project_id = p_session.project_id and f.path = p_path;
  if p_at is null then
    if not found then refusal := filestore.nothing_at(p_session, p_path, file); end if;
    return;
  end if;
  v_moment := filestore.moment_of(p_session, p_at);
  v_then := filestore.file_at(file, v_moment);
  file := v_then.file;
  is_redacted := v_then.is_redacted;
  refusal := case
    when v_moment.refusal is not null then v_moment.refusal
    when v_then.is_trimmed then filestore.refusal('FILE_NOT_FOUND', '{"trimmed": true}')
    when file.id is null then filestore.refusal('FILE_NOT_FOUND') end;
end
$$;
comment on function filestore.find_file is
  'The file at a path, now or at a moment, perhaps a tombstone. Refused: an invalid moment, and a path where '
  'there is, or was, no file.';
call filestore.grant_execute('filestore.find_file', 'filestore_engine');

create function filestore.find_version(
  p_session filestore.session, p_path text, p_version integer, p_at text, p_with_segments boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found constant record := filestore.find_file(p_session, p_path, p_at);
  v_file filestore.files := v_found.file;
  v_version filestore.file_versions;
  v_refusal jsonb := v_found.refusal;
begin
  if p_at is null and p_version <> v_file.version then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_session.project_id and v.file_id = v_file.id and v.version = p_version;
    v_refusal := filestore.unreadable_version(v_file, p_version, v_version);
    v_file := filestore.at_version(v_file, v_version);
  end if;
  v_refusal := case
    when v_refusal is not null then v_refusal
    when v_file.is_deleted and p_at is null then filestore.nothing_at(p_session, p_path, v_file)
    when v_file.is_deleted then filestore.not_found(v_file)
    when v_found.is_redacted
      then filestore.refusal('VERSION_REDACTED', jsonb_build_object('version', v_file.version)) end;
  if v_refusal is not null then return v_refusal; end if;
  if not p_with_segments then return jsonb_build_object('value', filestore.file_record(v_file)); end if;
  return jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record(v_file),
    'segments', filestore.segment_list(p_session.project_id, v_file.segment_ids)));
end
$$;
comment on function filestore.find_version is
  'A file''s record at one version, or at a moment, with its segments on request.';
call filestore.grant_execute('filestore.find_version', 'filestore_engine');

create function public.filestore_content(
  p_key_hash text, p_request_id uuid, p_path text, p_version integer default null, p_idempotency jsonb default null,
  p_at text default null, p_with_segments boolean default true
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_path);
  v_stored jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if p_idempotency is not null then
    v_stored := coalesce(
      filestore.outside_prefix(v_session, p_path),
      case when p_idempotency ? 'key' then filestore.stored_response(v_session, p_idempotency, p_path) end);
  end if;
  return v_session.envelope || case
    when v_stored ? 'refusal' then v_stored
    when v_stored is not null
      then jsonb_build_object('value', jsonb_build_object('storedResponse', v_stored -> 'value' -> 'file'))
    else filestore.find_version(v_session, p_path, p_version, p_at, p_with_segments) end;
end
$$;
comment on function public.filestore_content is
  'The file record of the latest version, of a given version, or at a moment, with the segments of its '
  'content. p_idempotency is for a write that reads first (an empty object if it has no key); then also the '
  'stored response to the first request with that key, if there was one. Refusals: FILE_NOT_FOUND, '
  'VERSION_NOT_FOUND, VERSION_REDACTED, VALIDATION_ERROR, IDEMPOTENCY_KEY_REUSED.';
call filestore.publish('public.filestore_content', 'filestore_engine', 'service_role');

create function public.filestore_diff(
  p_key_hash text, p_request_id uuid, p_path text, p_from integer default null, p_to integer default null,
  p_to_path text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read',
    p_place => case when starts_with(p_to_path, '.branches/') then p_to_path else p_path end);
  v_file filestore.files;
  v_to integer;
  v_from integer;
  v_sides jsonb := '{}';
  v_number integer;
  v_version filestore.file_versions;
  v_refusal jsonb;
  v_before jsonb;
  v_after jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if p_to_path is not null then
    v_before := filestore.find_version(v_session, p_path, p_from, null, true);
    v_after := filestore.find_version(v_session, p_to_path, p_to, null, true);
    return v_session.envelope || case
      when v_before ? 'refusal' then v_before when v_after ? 'refusal' then v_after
      else jsonb_build_object('value', jsonb_build_object(
        'path', p_path, 'from', v_before #> '{value,file,version}', 'to', v_after #> '{value,file,version}',
        'before', v_before #> '{value,file}' || jsonb_build_object('segments', v_before #> '{value,segments}'),
        'after', v_after #> '{value,file}' || jsonb_build_object('segments', v_after #> '{value,segments}'))) end;
  end if;
  select * into v_file from filestore.files f where f.project_id = v_session.project_id and f.path = p_path;
  if not found then return v_session.envelope || filestore.nothing_at(v_session, p_path, v_file); end if;
  v_to := coalesce(p_to, v_file.version);
  v_from := coalesce(p_from, v_to - 1);
  foreach v_number in array array[v_from, v_to] loop
    continue when v_number = 0;
    select * into v_version from filestore.file_versions v
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = v_number;
    v_refusal := filestore.unreadable_version(v_file, v_number, v_version);
    if v_refusal is not null then return v_session.envelope || v_refusal; end if;
    v_sides := v_sides || jsonb_build_object(v_number, jsonb_build_object(
      'size', v_version.size, 'mimeType', v_version.mime_type,
      'segments', filestore.segment_list(v_session.project_id, v_version.segment_ids)));
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'path', v_file.path, 'from', v_from, 'to', v_to,
    'before', v_sides -> v_from::text, 'after', v_sides -> v_to::text));
end
$$;
comment on function public.filestore_diff is
  'Two versions of a file, by default the last two; version 0 is empty. With p_to_path: a version of one '
  'file and one of another, by default the latest of each. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, '
  'VERSION_REDACTED.';
call filestore.publish('public.filestore_diff', 'filestore_engine', 'service_role');

create function filestore.accounts_of(p_session filestore.session, p_positions bigint[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  if p_session.key_id is not null or p_session.person_id is null then return null; end if;
  return (
    select jsonb_object_agg(a.id, ',"account":' || json_build_object('id', a.id, 'email', a.email))
    from (
      select d.id, filestore.address_of(d.id) as email
      from (
        select distinct v.account_id as id from filestore.file_versions v
        where v.project_id = p_session.project_id and v.position = any (p_positions) and v.account_id is not null
      ) d
    ) a where a.email is not null);
end
$$;
comment on function filestore.accounts_of is
  'For people in the console, never for keys: the accounts that added the versions at these positions, each as a part '
  'of the entry of a version.';
call filestore.grant_execute('filestore.accounts_of', 'filestore_engine');

create function public.filestore_versions(
  p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer, p_at text default null
) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_path);
  -- The owner, who has no key, has this scope, too.
  v_shows_keys constant boolean := 'admin' = any (v_session.scopes);
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  c_console constant uuid := '00000000-0000-0000-0000-000000000000';
  v_cursor_key bytea;
  v_found record;
  v_file filestore.files;
  v_accounts jsonb;
  v_page json;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_session.project_id;
  v_found := filestore.find_file(v_session, p_path, p_at);
  if v_found.refusal is not null then return (v_session.envelope || v_found.refusal)::json; end if;
  v_file := v_found.file;
  -- Where a merge added a version, its source is in a branch.
  perform set_config('filestore.branches', 'on', true);
  -- Version numbers have no gaps after the first one that remains, so a page is a range of numbers.
  if v_session.person_id is not null then
    v_accounts := filestore.accounts_of(v_session, array(
      select v.position from filestore.file_versions v
      where v.file_id = v_file.id and v.account_id is not null
        and v.version <= v_file.version - p_offset and v.version > v_file.version::bigint - p_offset - p_limit));
  end if;
  select ('[' || coalesce(string_agg('{"version":' || v.version || ',"size":' || v.size
      || ',"createdAt":"' || t.iso || '","updatedAt":"' || t.iso || '"'
      || case when v.is_deleted then ',"deleted":true' else '' end
      || coalesce(',"redactedAt":"' || to_char(v.redacted_at at time zone 'UTC', c_iso) || '"', '')
      || ',"operation":"' || v.operation || '","cursor":"' || filestore.cursor_at(v_cursor_key, v.position) || '"'
      || coalesce(',"runId":' || to_json(v.run_id), '') || coalesce(',"actor":' || to_json(v.actor), '')
      || coalesce(',"note":' || to_json(v.note), '')
      || case when s.path is null then ''
        else ',"from":{"path":' || to_json(s.path) || ',"version":' || v.source_version || '}' end
      || case when v_shows_keys and v.key_id <> c_console then ',"keyId":"' || v.key_id || '"' else '' end
      || coalesce(v_accounts ->> v.account_id::text, '') || '}',
    ',' order by v.version desc), '') || ']')::json
  into v_page
  from filestore.file_versions v
  -- The key does not see files outside its prefix.
  left join filestore.files s on s.project_id = v.project_id and s.id = v.source_file_id
  -- fence: the planner must not flatten this, or the time would be formatted twice.
  cross join lateral (
    select to_char(v.created_at at time zone 'UTC', c_iso) as iso offset 0
  ) t
  where v.project_id = v_session.project_id and v.file_id = v_file.id
    and v.version <= v_file.version - p_offset and v.version > v_file.version::bigint - p_offset - p_limit;
  return filestore.page_response(v_session, json_build_object(
    'file', json_build_object('path', v_file.path, 'mimeType', v_file.mime_type),
    'versions', v_page, 'limit', p_limit, 'offset', p_offset, 'total', v_file.version + 1 - (
      select v.version from filestore.file_versions v
      where v.project_id = v_session.project_id and v.file_id = v_file.id order by v.version limit 1)));
end
$$;
comment on function public.filestore_versions is
  'One page of a file''s versions, up to a moment, newest first; with the key of each where the caller is '
  'the owner or a key with the scope admin. Refusals: FILE_NOT_FOUND, VALIDATION_ERROR.';
call filestore.publish('public.filestore_versions', 'filestore_engine', 'service_role');
-- 26_lists.sql =======================================================================================================
-- Lists of a directory's files.

-- Most lists use this function, so it is planned once per session: planning costs more than reading a page.
-- The plan is kept while the table grows, so it must not depend on the size of the table at that time. With
-- sorting and every scan but index scans disabled, each statement has one index that provides its order. (A
-- union of all three was slower.) Such a plan does not know the limit, so its estimated cost is high and must
-- not start the JIT compiler.
create function filestore.plain_page(
  p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer,
  out files text, out has_more boolean
)
language plpgsql stable set search_path = '' as $$
declare
  v_files filestore.listed_file[];
begin
  if not p_recursive then
    -- fence: a range of one directory, not an equality, keeps the directory in the order of the index.
    v_files := array(
      select filestore.listed(f) from filestore.files f
      where f.project_id = p_project_id and not f.is_deleted
        and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
      order by f.directory, f.path limit p_limit + 1 offset p_offset);
  elsif p_directory = '' then
    -- Branches are no part of the root: their files lie between these two ranges.
    v_files := array(
      select filestore.listed(u.file) from (
        (select f as file, f.path from filestore.files f
         where f.project_id = p_project_id and not f.is_deleted and f.path > p_after and f.path < '.branches/'
         order by f.path limit p_limit + 1 + p_offset)
        union all
        (select f as file, f.path from filestore.files f
         where f.project_id = p_project_id and not f.is_deleted and f.path > p_after and f.path >= '.branches0'
         order by f.path limit p_limit + 1 + p_offset)
      ) u
      order by u.path limit p_limit + 1 offset p_offset);
  else
    -- Below the directory, after the cursor: one range.
    v_files := array(
      select filestore.listed(f) from filestore.files f
      where f.project_id = p_project_id and not f.is_deleted
        and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
      order by f.path limit p_limit + 1 offset p_offset);
  end if;
  files := filestore.file_records(v_files[:p_limit]);
  has_more := cardinality(v_files) > p_limit;
end
$$;
comment on function filestore.plain_page is
  'Live files by path, without filters: one page, and whether there is more.';
call filestore.grant_execute('filestore.plain_page', 'filestore_engine');
call filestore.pin_plan('filestore.plain_page');

create function filestore.sorted_page(
  p_project_id uuid, p_query jsonb, out files text, out has_more boolean, out total integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_directory constant text := p_query ->> 'directory';
  v_limit constant integer := (p_query ->> 'limit')::integer;
  v_is_descending constant boolean := p_query ->> 'sortOrder' = 'desc';
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  -- The filters, as conditions in SQL; $3 is the query.
  v_filters constant text := (
    select coalesce(string_agg(' and ' || c.condition, ''), '')
    from (values
      ('contentType', $sql$f.mime_type = $3 ->> 'contentType'$sql$),
      ('minSize', $sql$f.size >= ($3 ->> 'minSize')::bigint$sql$),
      ('maxSize', $sql$f.size <= ($3 ->> 'maxSize')::bigint$sql$),
      ('createdAfter', $sql$f.created_at > ($3 ->> 'createdAfter')::timestamptz$sql$),
      ('createdBefore', $sql$f.created_at < ($3 ->> 'createdBefore')::timestamptz$sql$),
      ('updatedAfter', $sql$f.updated_at > ($3 ->> 'updatedAfter')::timestamptz$sql$),
      ('updatedBefore', $sql$f.updated_at < ($3 ->> 'updatedBefore')::timestamptz$sql$)
    ) c (name, condition)
    where p_query ->> c.name is not null);
  v_scope text := 'f.project_id = $1 and ' || case when v_deleted then 'f.is_deleted' else 'not f.is_deleted' end;
  v_cursor text := '';
  v_order text;
  v_setting text;
  v_files filestore.listed_file[];
begin
  if not (p_query ->> 'recursive')::boolean then
    v_scope := v_scope || ' and f.directory = $2';
  elsif v_directory <> '' then
    v_scope := v_scope || $sql$ and f.path >= $2 || '/' and f.path < $2 || '0'$sql$;
  end if;

  -- Columns and directions are literals of this statement, never text of the request.
  v_order := case p_query ->> 'sortBy'
    when 'created_at' then 'f.created_at' when 'updated_at' then 'f.updated_at' when 'size' then 'f.size'
    else 'f.path' end
    || case when v_is_descending then ' desc' else '' end
    || case when p_query ->> 'sortBy' <> 'path' then ', f.path' else '' end;

  if p_query ->> 'after' is not null then
    v_cursor := format($sql$ and f.path %s $3 ->> 'after'$sql$, case when v_is_descending then '<' else '>' end);
  elsif v_filters <> '' or v_deleted then
    execute format('select count(*) from (select from filestore.files f where %s%s limit %s) f',
      v_scope, v_filters, (filestore.limits()).list_total_max + 1)
    into total using p_project_id, v_directory, p_query;
  end if;
  -- fence: the policy repeats the condition of the project, so the planner underestimates the number of its
  -- files and would sort all of them instead of reading the page in the order of an index. By path, each list
  -- has such an index.
  if p_query ->> 'sortBy' = 'path' or v_directory = '' and (p_query ->> 'recursive')::boolean then
    v_setting := set_config('enable_sort', 'off', true);
  end if;
  -- One record more than the page holds shows whether there are more.
  execute format(
    $sql$
      select array(
        select filestore.listed(f) from filestore.files f where %s%s%s order by %s limit %s offset %s)
    $sql$, v_scope, v_filters, v_cursor, v_order, v_limit + 1,
    (p_query ->> 'offset')::integer)
  into v_files using p_project_id, v_directory, p_query;
  if v_setting is not null then v_setting := set_config('enable_sort', 'on', true); end if;
  files := filestore.file_records(v_files[:v_limit]);
  has_more := cardinality(v_files) > v_limit;
end
$$;
comment on function filestore.sorted_page is
  'Files in any order, filtered or deleted ones: one page, whether there are more, and, for filtered or '
  'deleted files, their number, counted up to one more than `list_total_max`.';
call filestore.grant_execute('filestore.sorted_page', 'filestore_engine');

-- fence: as `plain_page`. Skips from one folder to the next, past its contents, so files cost nothing, live
-- or deleted.
create function filestore.folder_names(
  p_project_id uuid, p_directory text, p_deleted boolean, out names text[], out has_more boolean
)
language plpgsql stable set search_path = '' as $$
declare
  c_names_max constant integer := (filestore.limits()).list_directories_max;
  v_start constant text := case when p_directory = '' then '' else p_directory || '/' end;
  v_end constant text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  -- Compares lower than any character of a path.
  v_from text := v_start || chr(1);
  -- Branches are no part of the root, and are skipped.
  v_until text := case when p_directory = '' then '.branches/' else v_end end;
  v_found text;
  v_name text;
begin
  names := '{}';
  has_more := true;
  -- A folder occurs twice where it contains files both directly and deeper: `a-b` may come between `a` and
  -- `a/b`.
  for v_step in 1 .. 2 * c_names_max loop
    if p_deleted then
      select f.directory into v_found from filestore.files f
      where f.project_id = p_project_id and f.is_deleted and f.directory >= v_from and f.directory < v_until
      order by f.directory, f.path limit 1;
    else
      select f.directory into v_found from filestore.files f
      where f.project_id = p_project_id and not f.is_deleted and f.directory >= v_from and f.directory < v_until
      order by f.directory, f.path limit 1;
    end if;
    if not found and v_until < v_end then
      v_from := '.branches0';
      v_until := v_end;
      continue;
    elsif not found then
      has_more := false;
      exit;
    end if;
    v_name := split_part(substr(v_found, length(v_start) + 1), '/', 1);
    names := names || v_name;
    v_from := v_start || v_name || case when v_found = v_start || v_name then chr(1) else '0' end;
  end loop;
  names := array(select distinct n.name collate "C" from unnest(names) n (name) order by 1);
  has_more := has_more or cardinality(names) > c_names_max;
  names := names[:c_names_max];
end
$$;
comment on function filestore.folder_names is
  'Names of the folders in a directory that contain live files, or deleted ones: the first ones by name, and '
  'whether there may be more.';
call filestore.grant_execute('filestore.folder_names', 'filestore_engine');
call filestore.pin_plan('filestore.folder_names');

create function filestore.list_value(p_files text, p_rest jsonb) returns json
language plpgsql immutable set search_path = ''
as $$ begin return ('{"files":[' || p_files || '],' || substr(p_rest::text, 2))::json; end $$;
comment on function filestore.list_value is
  'The value of a list: its records, which remain text, and its other fields.';
call filestore.grant_execute('filestore.list_value', 'filestore_engine');

create function filestore.list_page(p_session filestore.session, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
declare
  c_total_max constant integer := (filestore.limits()).list_total_max;
  v_project_id constant uuid := p_session.project_id;
  v_directory constant text := p_query ->> 'directory';
  v_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_deleted constant boolean := coalesce((p_query ->> 'deleted')::boolean, false);
  v_page record;
  v_total integer;
begin
  if v_deleted or p_query ->> 'sortBy' <> 'path' or p_query ->> 'sortOrder' <> 'asc'
    or p_query ?| '{contentType,minSize,maxSize,createdAfter,createdBefore,updatedAfter,updatedBefore}' then
    v_page := filestore.sorted_page(v_project_id, p_query);
    v_total := v_page.total;
  else
    v_page := filestore.plain_page(
      v_project_id, v_directory, v_recursive, coalesce(p_query ->> 'after', ''), (p_query ->> 'limit')::integer,
      (p_query ->> 'offset')::integer);
  end if;
  if v_total is null and p_query ->> 'after' is null then
    v_total := filestore.count_live_files(v_project_id, v_directory, v_recursive);
  end if;
  return filestore.list_value(v_page.files,
    jsonb_build_object(
      -- `least` would return the bound where the total is null.
      'total', case when v_total > c_total_max then c_total_max else v_total end, 'limit', p_query -> 'limit',
      'offset', p_query -> 'offset', 'hasMore', v_page.has_more)
    || case when v_total > c_total_max then '{"totalIsExact": false}' else '{}' end::jsonb
    || case when v_recursive then '{}' else jsonb_build_object(
      'directories', (filestore.folder_names(v_project_id, v_directory, v_deleted)).names) end);
end
$$;
comment on function filestore.list_page is
  'One page of a directory. Without filters it reads no row beyond the page, except to count the total up to '
  '`list_total_max`, and one or two rows of each folder.';
call filestore.grant_execute('filestore.list_page', 'filestore_engine');

create function filestore.list_above_prefix(p_session filestore.session, p_query jsonb, p_is_there boolean)
returns json
language plpgsql stable set search_path = '' as $$
begin
  return filestore.list_value('',
    jsonb_build_object('limit', p_query -> 'limit', 'offset', p_query -> 'offset', 'hasMore', false)
    || case when p_query ? 'at' then '{}'
      else jsonb_build_object('total', case when p_query ->> 'after' is null then 0 end) end
    || case
      when (p_query ->> 'recursive')::boolean then '{}'
      when p_is_there then jsonb_build_object('directories', jsonb_build_array(split_part(
        substr(p_session.path_prefix, coalesce(nullif(length(p_query ->> 'directory'), 0) + 2, 1)), '/', 1)))
      else '{"directories": []}' end);
end
$$;
comment on function filestore.list_above_prefix is
  'A list above the key''s prefix: it contains no file, and only the folder that leads to the prefix, if '
  'that contains files.';
call filestore.grant_execute('filestore.list_above_prefix', 'filestore_engine');
-- 27_lists_at.sql ====================================================================================================
-- Lists of a directory at a moment, and the entry point of all lists.

create function filestore.was_directory(
  p_session filestore.session, p_path text, p_moment filestore.moment, p_budget integer,
  out is_found boolean, out examined integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files;
  v_then record;
begin
  is_found := false;
  examined := 0;
  for v_file in
    select f.* from filestore.files f
    where f.project_id = p_session.project_id and f.path > p_path || '/' and f.path < p_path || '0'
    order by f.path limit p_budget
  loop
    examined := examined + 1;
    v_then := filestore.file_at(v_file, p_moment);
    is_found := filestore.is_live(v_then.file);
    exit when is_found;
  end loop;
end
$$;
comment on function filestore.was_directory is
  'Whether a directory contained a file at that moment, and how many files were examined to find out: '
  'p_budget at most; beyond that it is unknown.';
call filestore.grant_execute('filestore.was_directory', 'filestore_engine');
call filestore.pin_plan('filestore.was_directory');

create function filestore.directories_at(
  p_session filestore.session, p_directory text, p_moment filestore.moment,
  out names text[], out has_more boolean, out examined integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_start constant text := case when p_directory = '' then '' else p_directory || '/' end;
  v_budget integer := (filestore.limits()).list_at_examined_max;
  -- Candidates: directories that contain files now, and those that contain deleted ones.
  v_live constant record := filestore.folder_names(p_session.project_id, p_directory, false);
  v_deleted constant record := filestore.folder_names(p_session.project_id, p_directory, true);
  v_name text;
  v_was record;
  v_is_decided boolean;
begin
  names := '{}';
  has_more := v_live.has_more or v_deleted.has_more;
  -- In most directories the first file is unchanged since then.
  for v_name, v_is_decided in
    select n.name, (
      select f.updated_at <= p_moment.unchanged_before from filestore.files f
      where f.project_id = p_session.project_id and not f.is_deleted
        and f.path > v_start || n.name || '/' and f.path < v_start || n.name || '0'
      order by f.path limit 1)
    from (select distinct u.name collate "C" as name from unnest(v_live.names || v_deleted.names) u (name)) n
    order by n.name
  loop
    if v_budget <= 0 or cardinality(names) = (filestore.limits()).list_directories_max then
      has_more := true;
      exit;
    end if;
    if v_is_decided then
      v_budget := v_budget - 1;
      names := names || v_name;
      continue;
    end if;
    v_was := filestore.was_directory(p_session, v_start || v_name, p_moment, v_budget);
    v_budget := v_budget - v_was.examined;
    if v_was.is_found then names := names || v_name; end if;
  end loop;
  examined := (filestore.limits()).list_at_examined_max - v_budget;
end
$$;
comment on function filestore.directories_at is
  'Names of the sub-folders of a directory at that moment, and how many files were examined to find them; '
  'has_more where the bounds ended the search.';
call filestore.grant_execute('filestore.directories_at', 'filestore_engine');
call filestore.pin_plan('filestore.directories_at');

-- fence: as `plain_page`, each statement has one index that provides its order.
create function filestore.page_at(
  p_session filestore.session, p_directory text, p_recursive boolean, p_after text, p_limit integer,
  p_moment filestore.moment, out files text, out trimmed text[], out next text, out examined integer
)
language plpgsql volatile set search_path = '' as $$
declare
  c_examined_max constant integer := (filestore.limits()).list_at_examined_max;
  v_rows refcursor;
  v_file filestore.files;
  v_then record;
  v_listed filestore.listed_file[] := '{}';
  v_last text;
begin
  trimmed := '{}';
  examined := 0;
  -- One row beyond those to be examined shows whether there are more.
  if not p_recursive then
    open v_rows for select u.* from (
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and not f.is_deleted
           and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
         order by f.directory, f.path limit c_examined_max + 1)
        union all
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and f.is_deleted
           and f.directory >= p_directory and f.directory <= p_directory and f.path > p_after
         order by f.directory, f.path limit c_examined_max + 1)
      ) u
      order by u.directory, u.path limit c_examined_max + 1;
  elsif p_directory = '' then
    -- Branches are no part of the root: their files lie between these two ranges.
    open v_rows for select u.* from (
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and f.path > p_after and f.path < '.branches/'
         order by f.path limit c_examined_max + 1)
        union all
        (select f.* from filestore.files f
         where f.project_id = p_session.project_id and f.path > p_after and f.path >= '.branches0'
         order by f.path limit c_examined_max + 1)
      ) u
      order by u.path limit c_examined_max + 1;
  else
    open v_rows for select f.* from filestore.files f
      where f.project_id = p_session.project_id
        and f.path > greatest(p_after collate "C", p_directory || '/') and f.path < p_directory || '0'
      order by f.path limit c_examined_max + 1;
  end if;
  for v_examined in 1 .. c_examined_max + 1 loop
    fetch v_rows into v_file;
    exit when not found;
    next := case when cardinality(v_listed) = p_limit or v_examined > c_examined_max then v_last end;
    exit when next is not null;
    v_last := v_file.path;
    if (v_file.updated_at <= p_moment.unchanged_before) is not true then
      examined := examined + 1;
      v_then := filestore.file_at(v_file, p_moment);
      if v_then.is_trimmed then
        trimmed := trimmed || v_file.path;
        continue;
      end if;
      v_file := v_then.file;
    elsif v_file.is_deleted then examined := examined + 1;
    end if;
    continue when v_file.id is null or v_file.is_deleted;
    v_listed := v_listed || filestore.listed(v_file);
  end loop;
  close v_rows;
  files := filestore.file_records(v_listed);
end
$$;
comment on function filestore.page_at is
  'The files of a directory at that moment, by path. Where there are more, `next` is the last path that was '
  'examined: the number of examined files is bounded, so a page may have fewer records than its limit, or '
  'none. Live files that are unchanged since then do not count as examined.';
call filestore.grant_execute('filestore.page_at', 'filestore_engine');
call filestore.pin_plan('filestore.page_at');

create function filestore.list_at(
  p_session filestore.session, p_directory text, p_query jsonb, p_moment filestore.moment
) returns json
language plpgsql volatile set search_path = '' as $$
declare
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_page record;
  v_directories record;
  v_rest jsonb;
begin
  v_page := filestore.page_at(
    p_session, p_directory, v_is_recursive, coalesce(p_query ->> 'after', ''), (p_query ->> 'limit')::integer,
    p_moment);
  v_rest := jsonb_build_object(
    'limit', p_query -> 'limit', 'offset', 0, 'hasMore', v_page.next is not null, 'next', v_page.next,
    'examined', v_page.examined, 'trimmed', to_jsonb(nullif(v_page.trimmed, '{}')));
  if not v_is_recursive then
    v_directories := filestore.directories_at(p_session, p_directory, p_moment);
    v_rest := v_rest || jsonb_build_object(
      'directories', v_directories.names, 'hasMoreDirectories', nullif(v_directories.has_more, false),
      'examined', v_page.examined + v_directories.examined);
  end if;
  return filestore.list_value(v_page.files, jsonb_strip_nulls(v_rest));
end
$$;
comment on function filestore.list_at is
  'One page of a directory, which the key sees, at a moment. Without a total, which is not known for an '
  'earlier moment.';
call filestore.grant_execute('filestore.list_at', 'filestore_engine');

create function public.filestore_list(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_query ->> 'directory');
  v_directory constant text := p_query ->> 'directory';
  v_is_recursive constant boolean := (p_query ->> 'recursive')::boolean;
  v_seen constant text := filestore.seen_directory(v_session, v_directory);
  v_is_seen constant boolean := v_seen = v_directory or v_is_recursive and v_seen is not null;
  v_moment filestore.moment;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  if p_query ? 'at' then
    v_moment := filestore.moment_of(v_session, p_query ->> 'at');
    if v_moment.refusal is not null then return (v_session.envelope || v_moment.refusal)::json; end if;
  end if;
  return filestore.page_response(v_session, case
    when p_query ? 'at' and v_is_seen then filestore.list_at(v_session, v_seen, p_query, v_moment)
    when v_is_seen or not p_query ? 'at' and (p_query ->> 'deleted')::boolean
      then filestore.list_page(v_session, p_query || jsonb_build_object(
        'directory', case when v_is_recursive then coalesce(v_seen, v_directory) else v_directory end))
    else filestore.list_above_prefix(v_session, p_query, v_seen is not null and case
      when p_query ? 'at' then (filestore.was_directory(
        v_session, v_seen, v_moment, (filestore.limits()).list_at_examined_max)).is_found
      else filestore.count_live_files(v_session.project_id, v_seen, true, 1) > 0 end) end);
end
$$;
comment on function public.filestore_list is
  'One page of a directory''s files, of those that the key may see. p_query: directory, recursive, limit, '
  'offset, sortBy, sortOrder, the filters, and at (a moment). Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_list', 'filestore_engine', 'service_role');
-- 28_exports.sql =====================================================================================================
-- Exports: the files of a directory with the segments of each, for one archive.

-- fence: each statement has one index that provides its order, as in `plain_page`.
create function filestore.files_below(
  p_session filestore.session, p_directory text, p_moment filestore.moment, p_files_max integer,
  p_after text default '',
  out files filestore.files[], out trimmed text[], out is_more boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  c_examined_max constant integer := (filestore.limits()).restore_examined_max;
  -- A path has at most 1024 bytes, so none sorts after this text.
  v_from constant text := coalesce(nullif(p_directory, '') || '/', '');
  v_to constant text := coalesce(nullif(p_directory, '') || '0', repeat(chr(1114111), 257));
  -- Branches are no part of the root: their files lie between two ranges. Elsewhere the second one is empty.
  v_low_to constant text := case when p_directory = '' then '.branches/' else v_to end;
  v_high_from constant text := case when p_directory = '' then '.branches0' else v_to end;
  v_file filestore.files;
  v_then record;
  v_examined integer := 0;
begin
  files := '{}';
  trimmed := '{}';
  is_more := false;
  if p_moment is null then
    files := array(
      select u.file from (
        (select f as file, f.path from filestore.files f
         where f.project_id = p_session.project_id and not f.is_deleted and f.path > v_from and f.path < v_low_to
         order by f.path limit p_files_max + 1)
        union all
        (select f as file, f.path from filestore.files f
         where f.project_id = p_session.project_id and not f.is_deleted and f.path >= v_high_from and f.path < v_to
         order by f.path limit p_files_max + 1)
      ) u
      order by u.path limit p_files_max + 1);
    is_more := cardinality(files) > p_files_max;
    return;
  end if;
  for v_file in
    select u.* from (
      (select f.* from filestore.files f
       where f.project_id = p_session.project_id and f.version > 0 and f.path > greatest(v_from, p_after collate "C")
         and f.path < v_low_to
       order by f.path limit c_examined_max + 1)
      union all
      (select f.* from filestore.files f
       where f.project_id = p_session.project_id and f.version > 0 and f.path > p_after
         and f.path >= v_high_from and f.path < v_to
       order by f.path limit c_examined_max + 1)
    ) u
    order by u.path limit c_examined_max + 1
  loop
    v_examined := v_examined + 1;
    v_then := filestore.file_at(v_file, p_moment);
    if v_then.is_trimmed or v_then.is_redacted and filestore.is_live(v_then.file) then
      trimmed := trimmed || v_file.path;
    elsif filestore.is_live(v_then.file) then
      files := files || v_then.file;
    end if;
    is_more := v_examined > c_examined_max or cardinality(files) > p_files_max;
    exit when is_more;
  end loop;
end
$$;
comment on function filestore.files_below is
  'The live files below a directory or the root, now or at a moment, by path: up to p_files_max, and whether '
  'there may be more; at a moment, those after the path p_after. Also the files whose content at that moment is no '
  'longer complete.';
call filestore.grant_execute('filestore.files_below', 'filestore_engine');
call filestore.pin_plan('filestore.files_below');

create function public.filestore_export(
  p_key_hash text, p_request_id uuid, p_directory text, p_at text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_limits constant filestore.limits := filestore.limits();
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_directory);
  v_directory constant text := filestore.seen_directory(v_session, p_directory);
  v_moment filestore.moment;
  v_found record;
  v_files bigint;
  v_bytes bigint;
  v_segments bigint;
  v_passed jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  if p_at is not null then
    v_moment := filestore.moment_of(v_session, p_at);
    if v_moment.refusal is not null then return v_session.envelope || v_moment.refusal; end if;
  end if;
  -- The key sees no file outside its prefix.
  if v_directory is null then return v_session.envelope || filestore.refusal('FILE_NOT_FOUND'); end if;
  v_found := filestore.files_below(v_session, v_directory, v_moment, c_limits.export_files_max);
  v_files := cardinality(v_found.files);
  if v_found.is_more then
    v_files := greatest(c_limits.export_files_max + 1, case when p_at is null
      then filestore.count_live_files(v_session.project_id, v_directory, true) end);
  end if;
  select sum(f.size), sum(cardinality(f.segment_ids)) into v_bytes, v_segments from unnest(v_found.files) f;
  v_passed := case
    when v_found.is_more then jsonb_build_object('limitFiles', c_limits.export_files_max)
    when v_bytes > c_limits.export_bytes_max
      then jsonb_build_object('sizeBytes', v_bytes, 'limitBytes', c_limits.export_bytes_max)
    when v_segments > c_limits.export_segments_max
      then jsonb_build_object('segments', v_segments, 'limitSegments', c_limits.export_segments_max) end;
  return v_session.envelope || case
    when v_passed is not null
      then filestore.refusal('EXPORT_TOO_LARGE', jsonb_build_object('files', v_files) || v_passed)
    when v_found.trimmed <> '{}' or v_found.files = '{}'
      then filestore.refusal('FILE_NOT_FOUND', jsonb_strip_nulls(jsonb_build_object(
        'trimmed', nullif(v_found.trimmed[:c_limits.conflicting_paths_shown_max], '{}'))))
    else jsonb_build_object('value', (
      select jsonb_agg(jsonb_build_object(
        'file', filestore.file_record(f),
        'segments', filestore.segment_list(v_session.project_id, f.segment_ids)) order by f.path)
      from unnest(v_found.files) f)) end;
end
$$;
comment on function public.filestore_export is
  'The files below a directory, now or at a moment, with the segments of each, in the order of their paths. '
  'Refusals: FILE_NOT_FOUND, EXPORT_TOO_LARGE, VALIDATION_ERROR.';
call filestore.publish('public.filestore_export', 'filestore_engine', 'service_role');
-- 30_changes.sql =====================================================================================================
-- The change feed: the versions of a project in the order of their positions.

create function filestore.feed_end(p_project_id uuid) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_last bigint;
  v_lowest bigint;
begin
  -- One statement after the other. A commit that takes its lock after the second one gets a position above
  -- the number that the first one saw; one that has released its lock by then is visible to every later
  -- statement.
  select p.last_value into v_last from filestore.positions p;
  select min(v_last - ((v_last - l.objid::bigint) & 4294967295)) into v_lowest
  from pg_catalog.pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 2
    and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = current_database())
    and l.classid::bigint = (hashtext(p_project_id::text)::bigint & 4294967295);
  return least(v_last, v_lowest);
end
$$;
comment on function filestore.feed_end is
  'The position up to which no further version can be committed; every later statement sees all versions up '
  'to it. Numbers above the last version are not durable, so a cursor always names the position of a '
  'version.';
call filestore.grant_execute('filestore.feed_end', 'filestore_account', 'filestore_admin', 'filestore_engine');

-- Planned once per session, by index whatever the statistics are: see 26_lists.sql. Positions are picked
-- first, so records are built only for the versions of the page.
create function filestore.last_position(p_project_id uuid, p_after bigint, p_end bigint) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return coalesce((
    select v.position from filestore.file_versions v
    where v.project_id = p_project_id and v.position > p_after and v.position <= p_end
    order by v.position desc limit 1), p_after);
end
$$;
comment on function filestore.last_position is
  'The position of the last version after one position, up to another; the first position if there is none.';
call filestore.grant_execute(
  'filestore.last_position', 'filestore_account', 'filestore_admin', 'filestore_engine');
call filestore.pin_plan('filestore.last_position');

create function filestore.last_position_by(p_project_id uuid, p_end bigint, p_time timestamptz) returns bigint
language plpgsql stable set search_path = '' as $$
declare
  -- All versions of that time are at v_low or below, or still to be read below v_high.
  v_low bigint := 0;
  v_high bigint := p_end + 1;
  v_middle bigint;
  v_position bigint;
  v_created_at timestamptz;
begin
  while v_low < v_high - 1 loop
    v_middle := v_low + (v_high - v_low) / 2;
    select v.position, v.created_at into v_position, v_created_at from filestore.file_versions v
    where v.project_id = p_project_id and v.position > v_low and v.position <= v_middle
    order by v.position desc limit 1;
    if found and v_created_at > p_time then
      v_high := v_position;
    else
      v_low := v_middle;
    end if;
  end loop;
  return v_low;
end
$$;
comment on function filestore.last_position_by is
  'A position up to the given one, after which no version is older than the time by more than a commit '
  'takes: a commit takes its time before its positions. Reads one version for each binary digit of the '
  'positions.';
call filestore.grant_execute('filestore.last_position_by', 'filestore_engine');
call filestore.pin_plan('filestore.last_position_by');

create function filestore.pick_changes(
  p_project_id uuid, p_query jsonb, p_by_path boolean, p_after bigint, p_end bigint, p_examined_max integer,
  p_picked_max integer, out positions bigint[], out examined_to bigint, out is_end boolean
)
language plpgsql stable set search_path = '' as $$
declare
  v_run constant text := p_query ->> 'run';
  v_actor constant text := p_query ->> 'actor';
  v_key_id constant uuid := p_query ->> 'keyId';
  v_operation constant filestore.operation := p_query ->> 'operation';
  v_operations constant jsonb := p_query -> 'operations';
  v_path constant text := p_query ->> 'path';
  v_place constant text := p_query ->> 'place';
  v_below constant text := nullif(p_query ->> 'directory', '') || '/';
  v_beyond constant text := nullif(p_query ->> 'directory', '') || '0';
  v_until constant timestamptz := p_query ->> 'until';
  v_newest_first constant boolean := coalesce((p_query ->> 'newestFirst')::boolean, false);
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = p_project_id);
  v_examined bigint[];
begin
  if v_newest_first then
    v_examined := array(
      select v.position from filestore.file_versions v
      where v.project_id = p_project_id and v.position > p_after and v.position <= p_end
      order by v.position desc limit p_examined_max);
  else
    v_examined := array(
      select v.position from filestore.file_versions v
      where v.project_id = p_project_id and v.position > p_after and v.position <= p_end
      order by v.position limit p_examined_max);
  end if;
  is_end := cardinality(v_examined) < p_examined_max;
  positions := array(
    select e.position from unnest(v_examined) with ordinality e (position, number)
    -- fence: rows are looked up one by one, and only those that are picked.
    cross join lateral (
      select * from filestore.file_versions v where v.project_id = p_project_id and v.position = e.position offset 0
    ) v
    -- A file is looked up only where its path matters, or where row-level security hides some files.
    cross join lateral (
      select true where not p_by_path
      union all
      select true from filestore.files f
      where p_by_path and f.project_id = p_project_id and f.id = v.file_id and (v_path is null or f.path = v_path)
        and (v_below is null or f.path >= v_below and f.path < v_beyond)
        and (v_place is null or f.path = v_place or f.path >= v_place || '/' and f.path < v_place || '0')
      union all
      select true from filestore.purged_files g
      cross join lateral (
        select filestore.place_hash(v_cursor_key, g.file_id, v_path) as path,
               filestore.place_hash(v_cursor_key, g.file_id, nullif(p_query ->> 'directory', '')) as directory,
               filestore.place_hash(v_cursor_key, g.file_id, v_place) as place
      ) h
      where p_by_path and v.operation = 'purge' and g.project_id = p_project_id and g.file_id = v.file_id
        and (h.path is null or h.path = g.path_hash) and (h.directory is null or h.directory = any (g.place_hashes))
        and (h.place is null or h.place = g.path_hash or h.place = any (g.place_hashes))
    ) f
    where (v_run is null or v.run_id = v_run) and (v_actor is null or v.actor = v_actor)
      and (v_key_id is null or v.key_id = v_key_id) and (v_operation is null or v.operation = v_operation)
      and (v_until is null or v.created_at < v_until) and (v_operations is null or v_operations ? v.operation::text)
    order by e.number limit p_picked_max);
  if cardinality(positions) = p_picked_max then return; end if;
  if not v_newest_first then
    examined_to := v_examined[cardinality(v_examined)];
  elsif p_query ? 'before' then
    examined_to := v_examined[p_examined_max];
  end if;
end
$$;
comment on function filestore.pick_changes is
  'The positions of the first (newestFirst: the last) p_picked_max versions after p_after and up to p_end that pass '
  'the filters, among the first (last) p_examined_max there. examined_to: the position of the last version examined, '
  'where fewer than p_picked_max pass; with newestFirst only for a page before a cursor, and only if more may follow. '
  'is_end: there are no versions beyond those examined.';
call filestore.grant_execute('filestore.pick_changes', 'filestore_engine');
call filestore.pin_plan('filestore.pick_changes');

create function filestore.change_records(
  p_project_id uuid, p_positions bigint[], p_cursor_key bytea, p_shows_keys boolean, p_accounts jsonb default null
) returns json
language plpgsql volatile set search_path = '' as $$
declare
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  -- The positions are those of visible files. Where a merge added a version, its source is in a branch.
  perform set_config('filestore.branches', 'on', true);
  return (
    select ('[' || coalesce(string_agg('{"cursor":"' || filestore.cursor_at(p_cursor_key, v.position)
        || '",' || coalesce('"path":' || to_json(f.path) || ',', '') || '"fileId":"' || v.file_id
        || '","version":' || v.version
        || ',"operation":"' || v.operation || '","size":' || v.size || ',"mimeType":' || to_json(v.mime_type)
        || case when v.is_deleted then ',"deleted":true' else '' end || ',"commitId":"' || v.commit_id || '"'
        || coalesce(',"runId":' || to_json(v.run_id), '') || coalesce(',"actor":' || to_json(v.actor), '')
        || coalesce(',"note":' || to_json(v.note), '')
        || case when p_shows_keys and v.key_id <> '00000000-0000-0000-0000-000000000000'
          then ',"keyId":"' || v.key_id || '"' else '' end
        || coalesce(p_accounts ->> v.account_id::text, '')
        || case when s.path is null then ''
          else ',"from":{"path":' || to_json(s.path) || ',"version":' || v.source_version || '}' end
        || ',"createdAt":"' || to_char(v.created_at at time zone 'UTC', c_iso) || '"'
        || coalesce(',"fileCreatedAt":"' || to_char(f.created_at at time zone 'UTC', c_iso) || '"', '') || '}',
      ',' order by i.number), '') || ']')::json
    from generate_subscripts(p_positions, 1) i (number)
    -- fence, all three: rows are looked up one by one.
    cross join lateral (
      select * from filestore.file_versions v
      where v.project_id = p_project_id and v.position = p_positions[i.number] and v.redacted_at is null offset 0
    ) v
    -- Of a purged file only the receipt, for keys that could see the file.
    cross join lateral (
      select f.path, f.created_at from filestore.files f where f.project_id = p_project_id and f.id = v.file_id
      union all
      select null, null from filestore.purged_files g
      where v.operation = 'purge' and g.project_id = p_project_id and g.file_id = v.file_id
      offset 0
    ) f
    left join lateral (
      select s.path from filestore.files s where s.project_id = p_project_id and s.id = v.source_file_id offset 0
    ) s on true);
end
$$;
comment on function filestore.change_records is
  'The entries of the feed at these positions, for files that the key sees; with p_accounts of `accounts_of`.';
call filestore.grant_execute('filestore.change_records', 'filestore_engine');
call filestore.pin_plan('filestore.change_records');

create function filestore.hides_files(p_session filestore.session) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return p_session.path_prefix is not null or exists (
    select from filestore.branches b where b.project_id = p_session.project_id);
end
$$;
comment on function filestore.hides_files is
  'Whether row-level security may hide files of the project: those beyond the key''s prefix, or in branches.';
call filestore.grant_execute('filestore.hides_files', 'filestore_engine');

create function public.filestore_changes(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read',
    p_place => coalesce(p_query ->> 'path', p_query ->> 'place', p_query ->> 'directory'));
  v_project_id constant uuid := v_session.project_id;
  v_limit constant integer := least((p_query ->> 'limit')::integer, (filestore.limits()).changes_limit_max);
  v_before constant text := p_query ->> 'before';
  -- A commit takes less than a minute from its time to its positions.
  v_until constant timestamptz := case when v_before <> 'now' and v_before !~ '^[0-9a-f]{32}$' then v_before end;
  v_shows_keys constant boolean := 'admin' = any (v_session.scopes);
  v_is_filtered constant boolean := v_session.path_prefix is not null or p_query ?| '{path,directory,place}';
  v_by_path constant boolean := v_is_filtered or filestore.hides_files(v_session);
  v_examined_max integer := case
    when v_is_filtered or v_until is not null or p_query ?| '{run,actor,keyId,operation}'
    then (filestore.limits()).changes_examined_max
    -- Where versions in branches are left out, a page is mostly found among twice as many.
    else (1 + v_by_path::integer) * (v_limit + 1) end;
  v_after bigint;
  v_last bigint;
  v_refusal jsonb;
  v_picked record;
  v_positions bigint[] := '{}';
  v_has_more boolean := false;
  v_cursor_key bytea;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_project_id;
  v_after := case when p_query ->> 'after' <> 'now'
    then filestore.position_of(v_cursor_key, p_query ->> 'after') else 0 end;
  v_refusal := case
    when p_query ? 'keyId' and not v_shows_keys then filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "admin"}')
    when v_after is null then filestore.refused_field('after', 'must be a cursor of this project, or now')
    when v_before ~ '^[0-9a-f]{32}$' and filestore.position_of(v_cursor_key, v_before) is null
      then filestore.refused_field('before', 'must be a cursor of this project') end;
  if v_refusal is not null then return (v_session.envelope || v_refusal)::json; end if;
  -- All versions up to the end are visible to the following statements.
  v_last := filestore.feed_end(v_project_id);
  if v_before ~ '^[0-9a-f]{32}$' then
    v_last := least(v_last, filestore.position_of(v_cursor_key, v_before) - 1);
  elsif v_until is not null then
    v_last := filestore.last_position_by(v_project_id, v_last, v_until + interval '1 minute');
  end if;
  v_last := filestore.last_position(v_project_id, v_after, v_last);
  if p_query ->> 'after' is distinct from 'now' then
    loop
      v_picked := filestore.pick_changes(
        v_project_id, p_query || jsonb_build_object('until', v_until), v_by_path, v_after, v_last, v_examined_max,
        v_limit + 1);
      exit when cardinality(v_picked.positions) > v_limit or not v_by_path or v_picked.is_end
        or v_examined_max >= (filestore.limits()).changes_examined_max;
      v_examined_max := least(8 * v_examined_max, (filestore.limits()).changes_examined_max);
    end loop;
    v_has_more := cardinality(v_picked.positions) > v_limit or coalesce(v_picked.examined_to < v_last, false);
    v_positions := v_picked.positions[1:v_limit];
    if v_before is not null then
      v_last := coalesce(v_picked.examined_to, v_positions[cardinality(v_positions)], 0);
    elsif (p_query ->> 'newestFirst')::boolean then
      v_positions := array(select p from unnest(v_positions) p order by p);
    elsif v_has_more then
      v_last := coalesce(v_picked.examined_to, v_positions[v_limit]);
    end if;
  end if;
  return filestore.page_response(v_session, json_build_object(
    'changes', filestore.change_records(
      v_project_id, v_positions, v_cursor_key, v_shows_keys, filestore.accounts_of(v_session, v_positions)),
    'cursor', filestore.cursor_at(v_cursor_key, v_last), 'hasMore', v_has_more, 'position', v_last));
end
$$;
comment on function public.filestore_changes is
  'One page of the change feed, of changes that the key may see. p_query: after (a cursor, or now for a '
  'cursor alone), limit, run, actor, keyId, path, directory, place (a path or a directory), operation; '
  'newestFirst: the last changes instead of the first; together with before (a cursor, now or a time): the '
  'changes before it, newest first, and the cursor of the next older page. "position" is the position of the '
  'cursor, for `filestore_newest_change`. Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_changes', 'filestore_engine', 'service_role');

create function public.filestore_newest_change(p_project_id uuid, p_known bigint) returns bigint
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_end bigint;
begin
  if filestore.last_position(p_project_id, p_known, 9223372036854775807) = p_known then return p_known; end if;
  v_end := filestore.feed_end(p_project_id);
  return filestore.last_position(p_project_id, p_known, v_end);
end
$$;
comment on function public.filestore_newest_change is
  'The position of the last version that followers can read; p_known where no version is after it, which '
  'takes one index entry to find out.';
call filestore.publish('public.filestore_newest_change', 'filestore_admin', 'service_role');
-- 31_runs.sql ========================================================================================================
-- Runs: the versions that agents wrote with one run id.

create type filestore.run_file as (
  file_id uuid, path text, first_version integer, last_version integer, first_at timestamptz, last_at timestamptz,
  key_ids uuid[]
);
comment on type filestore.run_file is
  'The changes of a run to one file, and the keys that made them; all zeros stand for the console.';

create function filestore.run_keys(p_project_id uuid, p_run_id text) returns uuid[]
language plpgsql stable set search_path = '' as $$
begin
  return array(
    with recursive keys (key_id) as (
      (select v.key_id from filestore.file_versions v
       where v.project_id = p_project_id and v.run_id = p_run_id order by v.key_id limit 1)
      union all
      select n.key_id from keys k
      cross join lateral (
        select v.key_id from filestore.file_versions v
        where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id > k.key_id
        order by v.key_id limit 1
      ) n
    )
    select k.key_id from keys k);
end
$$;
comment on function filestore.run_keys is
  'The keys with which versions of a run were written, all zeros for the console. Reads one index entry for '
  'each key.';
call filestore.grant_execute('filestore.run_keys', 'filestore_engine');
call filestore.pin_plan('filestore.run_keys');

create function filestore.run_files(
  p_project_id uuid, p_run_id text, p_key_ids uuid[], p_file_ids uuid[], p_after uuid,
  p_limit integer, out files filestore.run_file[], out is_complete boolean
)
language plpgsql stable set search_path = '' as $$
declare
  -- For each key that wrote in the run:
  c_examined_max constant integer := 10000;
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
  v_found filestore.run_file[] := '{}';
  v_key_id uuid;
  -- The last file that was examined, and the next one to examine.
  v_after uuid;
  v_from uuid;
  v_place integer;
  v_examined integer;
  v_seen integer;
  v_first record;
  v_last record;
  v_path text;
begin
  is_complete := true;
  foreach v_key_id in array p_key_ids loop
    v_after := coalesce(p_after, c_none);
    v_from := c_none;
    v_place := 1;
    v_examined := 0;
    v_seen := 0;
    while v_seen < p_limit loop
      if p_file_ids is not null then
        while p_file_ids[v_place] <= v_after loop v_place := v_place + 1; end loop;
        v_from := p_file_ids[v_place];
      end if;
      exit when v_from is null;
      select v.file_id, v.version, v.created_at into v_first from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id = v_key_id
        and v.file_id > v_after and v.file_id >= v_from
      order by v.key_id, v.file_id, v.version limit 1;
      exit when not found;
      v_examined := v_examined + 1;
      if v_examined > c_examined_max then
        is_complete := false;
        exit;
      end if;
      v_after := v_first.file_id;
      if p_file_ids is not null then
        while p_file_ids[v_place] < v_after loop v_place := v_place + 1; end loop;
        continue when p_file_ids[v_place] is distinct from v_after;
      end if;
      select f.path into v_path from filestore.files f where f.project_id = p_project_id and f.id = v_after;
      continue when not found;
      v_seen := v_seen + 1;
      select v.version, v.created_at into v_last from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id and v.key_id = v_key_id and v.file_id = v_after
      order by v.key_id desc, v.file_id desc, v.version desc limit 1;
      v_found := v_found || row (
        v_after, v_path, v_first.version, v_last.version, v_first.created_at, v_last.created_at,
        array[v_key_id])::filestore.run_file;
    end loop;
  end loop;
  files := array(
    select row (f.file_id, min(f.path), min(f.first_version), max(f.last_version), min(f.first_at), max(f.last_at),
      array_agg(f.key_ids[1] order by f.key_ids[1]))::filestore.run_file
    from unnest(v_found) f group by f.file_id order by f.file_id limit p_limit);
end
$$;
comment on function filestore.run_files is
  'Files with versions that a run wrote with these keys, in the order of their ids: those that the key sees, '
  'up to p_limit after p_after. With p_file_ids, in ascending order, only these. For each file and key, it '
  'reads the first and the last version. Incomplete where the key sees few of the files that may be '
  'examined.';
call filestore.grant_execute('filestore.run_files', 'filestore_engine');
call filestore.pin_plan('filestore.run_files');

create function filestore.whose(p_session filestore.session, p_key_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  return jsonb_build_object('own', p_key_ids = array[coalesce(p_session.key_id, c_none)])
    || case when 'admin' = any (p_session.scopes)
      then jsonb_build_object('keyIds', array_remove(p_key_ids, c_none)) else '{}' end;
end
$$;
comment on function filestore.whose is
  'The keys that wrote a version, as the API returns them: their ids only to the owner, and to keys with the '
  'scope admin.';
call filestore.grant_execute('filestore.whose', 'filestore_engine');

create function filestore.run_undos(p_project_id uuid, p_run_id text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  -- Versions of an undo that are examined to find one of a file that the key sees; and undos that are named.
  c_examined_max constant integer := 100;
  c_named_max constant integer := 20;
  v_undone_run_id text;
  v_undone_by text[];
begin
  select l.undone_run_id into v_undone_run_id from (
    select v.file_id, v.undone_run_id from filestore.file_versions v
    where v.project_id = p_project_id and v.run_id = p_run_id
    order by v.key_id, v.file_id, v.version limit c_examined_max
  ) l
  join filestore.files f on f.project_id = p_project_id and f.id = l.file_id limit 1;
  v_undone_by := array(
    with recursive undos (run_id) as (
      (select v.run_id from filestore.file_versions v
       where v.project_id = p_project_id and v.undone_run_id = p_run_id
       order by v.undone_run_id, v.run_id limit 1)
      union all
      select n.run_id from undos u
      cross join lateral (
        select v.run_id from filestore.file_versions v
        where v.project_id = p_project_id and v.undone_run_id = p_run_id and v.run_id > u.run_id
        order by v.undone_run_id, v.run_id limit 1
      ) n
    )
    select u.run_id from (select r.run_id from undos r limit c_named_max) u
    where not exists (
        select from filestore.file_versions v
        where v.project_id = p_project_id and v.undone_run_id = u.run_id)
      and exists (
        select from (
          select v.file_id from filestore.file_versions v
          where v.project_id = p_project_id and v.undone_run_id = p_run_id and v.run_id = u.run_id
          limit c_examined_max
        ) l
        join filestore.files f on f.project_id = p_project_id and f.id = l.file_id));
  return jsonb_strip_nulls(jsonb_build_object(
    'undoneRunId', v_undone_run_id, 'undoneBy', nullif(v_undone_by, '{}')));
end
$$;
comment on function filestore.run_undos is
  'The run that a run undoes, and the undos of it that have not been undone themselves, as the API returns '
  'them: those that changed files which the key sees.';
call filestore.grant_execute('filestore.run_undos', 'filestore_engine');
call filestore.pin_plan('filestore.run_undos');

create function filestore.summarize_run(
  p_project_id uuid, p_run_id text, p_is_confined boolean, out summary jsonb, out counted bigint
)
language plpgsql stable set search_path = '' as $$
declare
  c_counted_max constant integer := (filestore.limits()).run_versions_counted_max;
  v_files bigint;
  v_versions bigint;
  v_first_at timestamptz;
  v_last_at timestamptz;
  v_actors text[];
begin
  -- The index of runs contains all columns that are read.
  with changed as materialized (
    select l.file_id, count(*) as versions, min(l.created_at) as first_at, max(l.created_at) as last_at,
           array_agg(distinct l.actor) filter (where l.actor is not null) as actors
    from (
      select v.file_id, v.created_at, v.actor from filestore.file_versions v
      where v.project_id = p_project_id and v.run_id = p_run_id
      order by v.key_id, v.file_id, v.version limit c_counted_max + 1
    ) l
    group by l.file_id
  ), seen as materialized (
    select g.* from changed g cross join lateral (
      select where not p_is_confined
      union all
      select from filestore.files f where p_is_confined and f.project_id = p_project_id and f.id = g.file_id
    ) f
  )
  select count(*), coalesce(sum(s.versions), 0), min(s.first_at), max(s.last_at),
         (select coalesce(sum(g.versions), 0) from changed g),
         array(select distinct a.actor from seen s cross join unnest(s.actors) a (actor)
           order by a.actor limit (filestore.limits()).run_actors_max)
  into v_files, v_versions, v_first_at, v_last_at, counted, v_actors from seen s;
  if counted > c_counted_max then
    select greatest(v_files, count(*)), greatest(least(v_versions, c_counted_max), count(*)),
           least(v_first_at, min(f.first_at)), greatest(v_last_at, max(f.last_at))
    into v_files, v_versions, v_first_at, v_last_at
    from unnest((filestore.run_files(
      p_project_id, p_run_id, filestore.run_keys(p_project_id, p_run_id), null, null,
      (filestore.limits()).commit_files_max)).files) f;
  end if;
  if v_versions = 0 then return; end if;
  summary := jsonb_build_object(
    'runId', p_run_id, 'fileCount', v_files, 'versionCount', v_versions, 'firstAt', filestore.iso(v_first_at),
    'lastAt', filestore.iso(v_last_at), 'actors', v_actors)
    || filestore.run_undos(p_project_id, p_run_id)
    || case when counted > c_counted_max then '{"countsAreExact": false}'::jsonb else '{}'::jsonb end;
end
$$;
comment on function filestore.summarize_run is
  'The part of a run that the key sees, as the API returns it, and the number of versions counted for it, '
  'from the index alone. Where the run has more versions than are counted, the counts are lower bounds, and '
  'times and actors are those of the versions that were read. Null where the key sees none of the run.';
call filestore.grant_execute('filestore.summarize_run', 'filestore_engine');
call filestore.pin_plan('filestore.summarize_run');

create function public.filestore_runs(p_key_hash text, p_request_id uuid, p_limit integer, p_after text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- A page examines at most this many runs, and stops once it has counted this many versions.
  c_examined_max constant integer := 1000;
  c_counted_max constant integer := 50000;
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_before bigint;
  v_run record;
  v_summary record;
  v_runs jsonb := '[]';
  v_examined integer := 0;
  v_counted bigint := 0;
  v_has_more boolean := false;
  v_cursor_key bytea;
  v_hides_files boolean;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_hides_files := filestore.hides_files(v_session);
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_project_id;
  v_before := filestore.position_of(v_cursor_key, p_after);
  if p_after is not null and v_before is null then
    return v_session.envelope || filestore.refused_field('after', 'must be a cursor of this project');
  end if;
  for v_run in
    select r.run_id, r.first_position from filestore.runs r
    where r.project_id = v_project_id and r.first_position < coalesce(v_before, 9223372036854775807)
    order by r.project_id desc, r.first_position desc limit c_examined_max + 1
  loop
    -- A page ends early where counting has become too much work.
    v_has_more := jsonb_array_length(v_runs) >= p_limit or v_examined >= c_examined_max
      or v_counted >= c_counted_max;
    exit when v_has_more;
    v_summary := filestore.summarize_run(v_project_id, v_run.run_id, v_hides_files);
    v_examined := v_examined + 1;
    v_counted := v_counted + v_summary.counted;
    v_before := v_run.first_position;
    if v_summary.summary is not null then v_runs := v_runs || v_summary.summary; end if;
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'runs', v_runs, 'hasMore', v_has_more,
    'cursor', filestore.cursor_at(v_cursor_key, coalesce(v_before, 0))));
end
$$;
comment on function public.filestore_runs is
  'One page of the runs of which the key sees a part, newest first. Where runs have many versions, or the '
  'key sees none of many runs, a page has fewer runs than requested although more follow. Refusals: '
  'VALIDATION_ERROR.';
call filestore.publish('public.filestore_runs', 'filestore_engine', 'service_role');

create function public.filestore_run(
  p_key_hash text, p_request_id uuid, p_run_id text, p_limit integer, p_after uuid
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_project_id constant uuid := v_session.project_id;
  v_summary jsonb;
  v_run record;
  v_files jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_summary := (filestore.summarize_run(v_project_id, p_run_id, filestore.hides_files(v_session))).summary;
  if v_summary is null then return v_session.envelope || filestore.refusal('RUN_NOT_FOUND'); end if;
  v_run := filestore.run_files(
    v_project_id, p_run_id, filestore.run_keys(v_project_id, p_run_id), null, p_after, p_limit + 1);
  v_files := (
    select coalesce(jsonb_agg(jsonb_build_object(
      'path', f.path, 'fileId', f.file_id, 'firstVersion', f.first_version, 'lastVersion', f.last_version,
      'operation', v.operation) || filestore.whose(v_session, f.key_ids) order by f.file_id), '[]')
    from unnest(v_run.files) f
    -- fence: versions are looked up one by one.
    cross join lateral (
      select v.operation from filestore.file_versions v
      where v.project_id = v_project_id and v.file_id = f.file_id and v.version = f.last_version offset 0
    ) v);
  return v_session.envelope || jsonb_build_object('value', v_summary || jsonb_build_object(
    'files', v_files - p_limit, 'hasMore', jsonb_array_length(v_files) > p_limit));
end
$$;
comment on function public.filestore_run is
  'A run, and some of its files in the order of their ids. Refusals: RUN_NOT_FOUND, also where the key sees '
  'none of it.';
call filestore.publish('public.filestore_run', 'filestore_engine', 'service_role');
-- 40_usage.sql =======================================================================================================
-- Usage: the cost of a commit, and the check of the quota.

create function filestore.add_usage(
  p_project_id uuid, p_bytes bigint, p_database_bytes bigint, p_versions bigint
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_shards constant integer := (filestore.limits()).usage_shards;
begin
  update filestore.project_usage u
  set bytes = u.bytes + p_bytes, database_bytes = u.database_bytes + p_database_bytes,
      versions = u.versions + p_versions
  where u.project_id = p_project_id and u.shard = (
    select f.shard from filestore.project_usage f
    where f.project_id = p_project_id order by f.shard limit 1 for update skip locked);
  if found then return; end if;
  -- Creates a row that no other transaction is creating, or waits for a row where other transactions hold all
  -- of them.
  insert into filestore.project_usage as u (project_id, shard, bytes, database_bytes, versions)
  values (p_project_id, coalesce((
    select n.shard from (
      select g.shard from generate_series(0, c_shards - 1) g (shard)
      where not exists (
        select from filestore.project_usage o where o.project_id = p_project_id and o.shard = g.shard)
      offset 0
    ) n
    where pg_try_advisory_xact_lock(hashtextextended('usage/' || p_project_id || '/' || n.shard, 0)) limit 1
  ), floor(random() * c_shards)::integer), p_bytes, p_database_bytes, p_versions)
  on conflict (project_id, shard) do update
    set bytes = u.bytes + excluded.bytes, database_bytes = u.database_bytes + excluded.database_bytes,
        versions = u.versions + excluded.versions;
end
$$;
comment on function filestore.add_usage is
  'Adds to the usage of a project, in a row that no other transaction holds. The last step of a commit or an '
  'erasure: a transaction that holds a row waits for nothing but other rows of the usage, in order.';
call filestore.grant_execute('filestore.add_usage', 'filestore_admin', 'filestore_engine');

create function filestore.shared_bytes(p_account_id uuid) returns bigint
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant text := coalesce(current_setting('filestore.project_id', true), '');
  v_project_id uuid;
  v_bytes bigint := 0;
begin
  perform set_config('filestore.account_id', p_account_id::text, true);
  for v_project_id in
    select p.id from filestore.projects p join filestore.tiers t on t.name = p.tier
    where p.owner_id = p_account_id and p.max_project_bytes is null and t.max_project_bytes is not null
  loop
    perform set_config('filestore.project_id', v_project_id::text, true);
    v_bytes := v_bytes + (
      select coalesce(sum(u.bytes + u.database_bytes), 0)
      from filestore.project_usage u where u.project_id = v_project_id);
  end loop;
  perform set_config('filestore.project_id', v_opened, true), set_config('filestore.account_id', '', true);
  return v_bytes;
end
$$;
comment on function filestore.shared_bytes is
  'The usage, content and rows, of all projects of an account that have no quota of their own. Opens them '
  'one after the other, and then the caller''s project again.';
call filestore.publish('filestore.shared_bytes', 'filestore_account', 'filestore_engine');

create function filestore.end_commit(
  p_session filestore.session, p_commit jsonb, p_bytes bigint, p_database_bytes bigint, p_versions integer,
  p_may_exceed boolean
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_run_id constant text := p_commit #>> '{provenance,runId}';
  -- Commits up to this cost may exceed the quota together: each holds one row, so there are at most as many as rows.
  c_unlocked_bytes constant bigint := 1048576;
  v_has_quota constant boolean := p_session.max_project_bytes is not null and not p_may_exceed;
  v_used bigint;
begin
  if c_run_id is not null and p_versions > 0 and not exists (
    select from filestore.runs r where r.project_id = p_session.project_id and r.run_id = c_run_id) then
    insert into filestore.runs (project_id, run_id, first_position)
    select p_session.project_id, c_run_id, min(v.position) from filestore.file_versions v
    where v.project_id = p_session.project_id and v.commit_id = (p_commit ->> 'commitId')::uuid
    on conflict do nothing;
  end if;
  if v_has_quota and p_bytes + p_database_bytes > c_unlocked_bytes then
    if p_session.account_bytes is not null then
      perform pg_advisory_xact_lock(hashtextextended('quota/' || p_session.account_id, 0));
    end if;
    insert into filestore.project_usage (project_id, shard)
    select p_session.project_id, n from generate_series(0, (filestore.limits()).usage_shards - 1) n
    on conflict do nothing;
    perform from filestore.project_usage u where u.project_id = p_session.project_id order by u.shard for update;
  end if;
  perform filestore.add_usage(p_session.project_id, p_bytes, p_database_bytes, p_versions);
  if not v_has_quota then return null; end if;
  select sum(u.bytes + u.database_bytes) into v_used
  from filestore.project_usage u where u.project_id = p_session.project_id;
  return case
    when v_used > p_session.max_project_bytes
      then filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.max_project_bytes))
    when p_session.account_bytes is not null
      and filestore.shared_bytes(p_session.account_id) > p_session.account_bytes
      then filestore.refusal(
        'QUOTA_EXCEEDED', jsonb_build_object('limitBytes', p_session.account_bytes, 'account', true)) end;
end
$$;
comment on function filestore.end_commit is
  'The last step of a commit, once its versions are added: inserts the row of its run, if it is the first of '
  'one, and adds to the usage of the project. Returns the refusal of a commit that a quota has no room for: '
  'the caller rolls it back. A commit that costs over 1 MiB locks all rows of the usage, so its check is '
  'exact; a smaller one does not see concurrent commits. With p_may_exceed nothing is checked.';
call filestore.grant_execute('filestore.end_commit', 'filestore_engine');

create function filestore.has_text(p_mime_type text, p_is_text boolean) returns boolean
language plpgsql immutable set search_path = '' as $$
begin
  return p_is_text and p_mime_type !~ '^(image/(?!svg\+xml$)|audio/|video/|application/(pdf|zip)$)';
end
$$;
comment on function filestore.has_text is
  'Whether the bytes of a file are text, and its media type is a type of text. The types are those of '
  '`isBinaryMediaType`.';
call filestore.grant_execute('filestore.has_text', 'filestore_admin', 'filestore_engine');

create function filestore.file_cost(p_file filestore.files) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  -- The tariff for each file, deleted or not, for each byte of its path, and for each directory above it.
  c_file_bytes constant integer := 512;
  c_path_factor constant integer := 14;
  c_directory_bytes constant integer := 256;
  c_path_bytes constant integer := octet_length((p_file).path);
  c_directories constant integer := array_length(string_to_array((p_file).path, '/'), 1) - 1;
begin
  if coalesce((p_file).version, 0) = 0 then return 0; end if;
  return c_file_bytes
    + coalesce(c_path_factor * c_path_bytes + c_directories * (c_directory_bytes + c_path_bytes), 0)
    + case
      when not (p_file).is_deleted and (p_file).size <= (filestore.limits()).search_text_bytes_max
        and filestore.has_text((p_file).mime_type, (p_file).is_text)
      then (filestore.limits()).tariff_indexed_factor * (p_file).size else 0 end;
end
$$;
comment on function filestore.file_cost is
  'The bytes that a file counts as towards the quota, without its versions: its row, its path, as if no '
  'other file were in its directories, and its text in the search index, whether or not it is indexed yet. A '
  'purged file has no path, so only its row counts; a path that is only reserved counts nothing.';
call filestore.grant_execute('filestore.file_cost', 'filestore_admin', 'filestore_engine');

create function filestore.version_cost(p_version filestore.file_versions) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  c_listed constant integer := cardinality((p_version).segment_ids);
begin
  return (filestore.limits()).tariff_version_bytes + (filestore.limits()).tariff_listed_segment_bytes * c_listed
    + (filestore.limits()).tariff_provenance_factor * octet_length(concat(
      (p_version).run_id, (p_version).actor, (p_version).note))
    + case when (p_version).source_file_id <> (p_version).file_id
      then (filestore.limits()).tariff_segment_bytes * c_listed else 0 end;
end
$$;
comment on function filestore.version_cost is
  'The bytes that the row of a version counts as towards the quota.';
call filestore.grant_execute('filestore.version_cost', 'filestore_admin', 'filestore_engine');
-- 41_versions.sql ====================================================================================================
-- Commits: every change of a file adds one version to it.
--
-- Lock order, everywhere: a shard of the rate window, an idempotency key, links, file rows in the order of
-- their paths, possibly unreferenced segments, the project's row where an erasure blanks stored answers, the
-- row of a run that begins, a row of the usage. A commit does not wait for a shard or a row of the usage that
-- another commit holds, but uses another one. Near the limit it waits for a shard, and in a project with a
-- quota a commit that costs over 1 MiB locks all rows of the usage, in order.

create function filestore.sweep_clock() returns timestamptz
language plpgsql volatile set search_path = ''
as $$ begin return clock_timestamp(); end $$;
comment on function filestore.sweep_clock is 'The current time for the sweep; tests replace it.';
call filestore.grant_execute('filestore.sweep_clock', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.add_segments(
  p_project_id uuid, p_segments jsonb, out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  -- The sweep removes segments that were uploaded earlier and not committed.
  c_oldest constant date := (filestore.sweep_clock() at time zone 'UTC')::date - 1;
  v_added bigint;
begin
  bytes := 0;
  database_bytes := 0;
  if coalesce(p_segments, '[]') = '[]' then return; end if;
  with added as (
    insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
    select s.id, p_project_id, d.stored_on, s.size, decode(s.sha256, 'hex'), s.newlines, s."endsWithNewline",
           s."isText"
    from jsonb_to_recordset(p_segments) s (
      id uuid, name text, size integer, sha256 text, newlines integer, "endsWithNewline" boolean, "isText" boolean)
    cross join lateral (select to_date(split_part(s.name, '/', 2), 'YYYYMMDD')) d (stored_on)
    where d.stored_on >= c_oldest
    returning size
  )
  select count(*), sum(a.size) into v_added, bytes from added a;
  if v_added < jsonb_array_length(p_segments) then
    raise exception 'a segment was uploaded too long ago to be committed';
  end if;
  database_bytes := (filestore.limits()).tariff_segment_bytes * v_added;
end
$$;
comment on function filestore.add_segments is
  'Adds rows for uploaded segments, so that files may reference them, and returns the bytes that they count '
  'as towards the quota. Raises for an upload so old that the sweep may have removed it.';
call filestore.grant_execute('filestore.add_segments', 'filestore_engine');

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
  'The file at a path, locked until the transaction ends; null if there is no file. The lock protects the '
  'addition of versions, not the identity of the file, which never changes: `for update` would also conflict '
  'with the foreign key checks of the first indexing of a file.';
call filestore.grant_execute('filestore.lock_file', 'filestore_engine');

create function filestore.lock_paths(
  p_project_id uuid, p_paths text[], p_new_paths text[], out missing text[], out committed_at timestamptz
)
language plpgsql volatile set search_path = '' as $$
declare
  v_path text;
  v_file filestore.files;
  v_now constant timestamptz := clock_timestamp();
begin
  missing := '{}';
  for v_path in select distinct p.path collate "C" from unnest(p_paths) p (path) order by 1 loop
    v_file := filestore.lock_file(p_project_id, v_path);
    if v_file.id is null and v_path = any (p_new_paths) then
      -- Waits for a commit that is creating the file.
      insert into filestore.files (
        project_id, path, version, mime_type, size, is_deleted, segment_ids, created_at, updated_at)
      values (p_project_id, v_path, 0, '', 0, true, '{}', v_now, v_now)
      on conflict (project_id, path) do nothing;
      continue when found;
      v_file := filestore.lock_file(p_project_id, v_path);
    end if;
    if v_file.id is null then missing := missing || v_path; end if;
    committed_at := greatest(committed_at, v_file.updated_at);
  end loop;
  committed_at := greatest(committed_at, date_trunc('milliseconds', clock_timestamp()));
end
$$;
comment on function filestore.lock_paths is
  'Locks the files at these paths, in the order of the paths, so that commits of several files cannot wait '
  'for each other. Each path of p_new_paths that has no file gets a row with version 0; the transaction then '
  'adds a version to it, or rolls back. Returns the other paths that have no file, and a time for the commit '
  'that is not before the last change of any of these files.';
call filestore.grant_execute('filestore.lock_paths', 'filestore_engine');

create function filestore.failed_precondition(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_is_live constant boolean := filestore.is_live(p_file);
  v_tag constant text := (p_file).id || '.' || (p_file).version;
  v_if_version constant integer := p_commit ->> 'ifVersion';
  v_code text;
begin
  -- "ifVersion" is the number that the file must be at, 0 for no file. "ifMatch" and "ifNoneMatch" are lists of
  -- "{fileId}.{version}", or ["*"]: any file at all.
  v_code := case
    when v_is_live and v_if_version = 0 then 'FILE_ALREADY_EXISTS'
    when v_if_version > 0 and not (v_is_live and v_if_version = (p_file).version) then 'PRECONDITION_FAILED'
    when p_commit ? 'ifMatch' and not (v_is_live and p_commit -> 'ifMatch' ?| array['*', v_tag])
      then 'PRECONDITION_FAILED'
    when v_is_live and p_commit -> 'ifNoneMatch' ? '*' then 'FILE_ALREADY_EXISTS'
    when v_is_live and p_commit -> 'ifNoneMatch' ? v_tag then 'PRECONDITION_FAILED' end;
  return case when v_code is not null
    then filestore.refusal(v_code, jsonb_build_object('version', nullif((p_file).version, 0))) end;
end
$$;
comment on function filestore.failed_precondition is
  'The refusal of a commit whose preconditions do not hold for the locked file; null where they hold.';
call filestore.grant_execute('filestore.failed_precondition', 'filestore_engine');

create function filestore.content_of(p_file filestore.files) returns filestore.next_version
language plpgsql immutable set search_path = '' as $$
begin
  return row (
    (p_file).segment_ids, (p_file).size, (p_file).mime_type, false, (p_file).is_text, (p_file).id, (p_file).version);
end
$$;
comment on function filestore.content_of is
  'A version with the content of the given file, which may be another file.';
call filestore.grant_execute('filestore.content_of', 'filestore_engine');

create function filestore.tombstone_of(p_file filestore.files) returns filestore.next_version
language plpgsql immutable set search_path = ''
as $$ begin return row ('{}', 0, (p_file).mime_type, true, true, null, null)::filestore.next_version; end $$;
comment on function filestore.tombstone_of is 'The version that marks a file as deleted.';
call filestore.grant_execute('filestore.tombstone_of', 'filestore_engine');

create function filestore.content_of_edit(
  p_file filestore.files, p_commit jsonb, out segment_ids uuid[], out size bigint, out is_text boolean,
  out refusal jsonb
)
language plpgsql stable set search_path = '' as $$
declare
  c_edited constant uuid[] := array(
    select r.value::uuid from jsonb_array_elements_text(p_commit -> 'segmentIds') with ordinality r (value, position)
    order by r.position);
  v_unknown bigint;
begin
  -- An operation of a batch edits the result of the operations before it, so it names the segment list
  -- instead of the version.
  if not coalesce(to_jsonb((p_file).segment_ids) = p_commit -> 'baseSegmentIds', (
    -- If the path was purged since then, it may have another file, with versions of the same numbers.
    (p_file).id = (p_commit ->> 'baseFileId')::uuid and (p_file).version = (p_commit ->> 'baseVersion')::integer
    -- If another compaction has replaced segments of a compaction since the file was read, they may be
    -- erased.
    and not exists (
      select e.id from unnest(c_edited) e (id)
      except select (s.value ->> 'id')::uuid from jsonb_array_elements(p_commit -> 'segments') s
      except select s.id from unnest((p_file).segment_ids) s (id)
      except select s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
        where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = (p_file).version))) then
    refusal := filestore.refusal('VERSION_CONFLICT', jsonb_build_object('version', (p_file).version));
    return;
  end if;
  select coalesce(array_agg(r.id order by r.position), '{}'),
         coalesce(sum(coalesce(kept.size, (added.value ->> 'size')::integer)), 0),
         coalesce(bool_and(coalesce(kept.is_text, (added.value ->> 'isText')::boolean)), true),
         count(*) filter (where kept.id is null and added.value is null)
  into segment_ids, size, is_text, v_unknown
  from unnest(c_edited) with ordinality as r (id, position)
  -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
  left join lateral (
    select s.id, s.size, s.is_text from filestore.segments s
    where s.id = r.id and s.project_id = (p_file).project_id offset 0
  ) kept on true
  left join jsonb_array_elements(p_commit -> 'segments') added on (added.value ->> 'id')::uuid = r.id;
  if v_unknown > 0 then raise exception 'the edit references segments that do not exist'; end if;
end
$$;
comment on function filestore.content_of_edit is
  'The content of the locked file after an edit. VERSION_CONFLICT where the version that was read is not the latest, '
  'or its segments were compacted since. Raises for a segment that is neither stored nor part of the commit.';
call filestore.grant_execute('filestore.content_of_edit', 'filestore_engine');

create type filestore.applied as (refusal jsonb, file filestore.files, cost bigint, versions integer);
comment on type filestore.applied is
  'The result of one operation: the refusal, or the file at its new version (null where another transaction '
  'has just created the file: lock that file and try again), the bytes that its rows count as towards the '
  'quota, and the number of added versions.';

create function filestore.put_version(
  p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version,
  p_operation text, p_commit jsonb
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files := p_file;
  v_version filestore.file_versions;
  v_provenance constant jsonb := p_commit -> 'provenance';
  v_position constant bigint := filestore.next_position(p_session.project_id);
  v_now constant timestamptz := coalesce(
    (p_commit ->> 'committedAt')::timestamptz,
    greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at));
begin
  if v_file.id is not null then
    update filestore.files f
    set version = f.version + 1, mime_type = p_next.mime_type, size = p_next.size, is_deleted = p_next.is_deleted,
        is_text = p_next.is_text, segment_ids = p_next.segment_ids, updated_at = v_now,
        created_at = case when f.version = 0 then v_now else f.created_at end
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
    project_id, file_id, version, mime_type, size, is_deleted, is_text, segment_ids, commit_id, position, operation,
    key_id, account_id, run_id, actor, note, source_file_id, source_version, undone_run_id, created_at)
  values (
    p_session.project_id, v_file.id, v_file.version, v_file.mime_type, v_file.size, v_file.is_deleted,
    v_file.is_text, v_file.segment_ids, (p_commit ->> 'commitId')::uuid, v_position,
    p_operation::filestore.operation, coalesce(p_session.key_id, '00000000-0000-0000-0000-000000000000'),
    p_session.person_id, v_provenance ->> 'runId', v_provenance ->> 'actor', v_provenance ->> 'note',
    p_next.source_file_id, p_next.source_version,
    case when p_operation = 'undo' then p_commit ->> 'run' end, v_now)
  returning * into v_version;
  if p_next.source_file_id <> v_file.id then
    insert into filestore.shared_segments (project_id, segment_id, file_id)
    select p_session.project_id, s.id, f.id
    from unnest(p_next.segment_ids) s (id) cross join (values (p_next.source_file_id), (v_file.id)) f (id)
    on conflict do nothing;
  end if;
  return row (
    null, v_file,
    filestore.version_cost(v_version) + filestore.file_cost(v_file) - filestore.file_cost(p_file),
    1)::filestore.applied;
end
$$;
comment on function filestore.put_version is
  'Adds a version to a locked file, or creates the file. Null where another transaction has just created it. '
  'p_commit: commitId and provenance; run, for an undo; committedAt, for a commit of several files, not '
  'before the last change of any of them; by default it is now, or when the file was last changed. The cost '
  'is negative where less text is indexed than before.';
call filestore.grant_execute('filestore.put_version', 'filestore_engine');

create function filestore.queue_for_search() returns trigger
language plpgsql volatile set search_path = '' as $$
declare
  -- The shortest interval between two indexings of a file, so that a growing file is not indexed without
  -- pause: 9.4 s for the largest text that is indexed.
  c_rest constant interval := interval '1 second'
    + least(new.size, (filestore.limits()).search_text_bytes_max) * interval '8 microseconds';
begin
  -- A path that is only reserved, or a file that is purged. (As conditions of the triggers these would be
  -- parsed anew by each statement.)
  if new.version = 0 or new.path is null then return null; end if;
  insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at)
  values (new.project_id, new.id, new.version, new.path, new.size, greatest(clock_timestamp(), (
    select t.indexed_at + c_rest from filestore.search_texts t
    where t.project_id = new.project_id and t.file_id = new.id)))
  on conflict (project_id, file_id) do update
    set version = excluded.version, bytes = excluded.bytes, stage = 1, attempts = 0, lease_id = null,
        due_at = case when q.lease_id is null then least(q.due_at, excluded.due_at)
          else greatest(excluded.due_at, clock_timestamp() + c_rest) end;
  return null;
end
$$;
comment on function filestore.queue_for_search is
  'Marks a file as not indexed at its new version. A lease on an older version becomes invalid.';
call filestore.grant_execute('filestore.queue_for_search', 'filestore_engine');
create trigger queue_for_search after insert or update of version on filestore.files
  for each row execute function filestore.queue_for_search();

create function filestore.repeated_commit(p_file filestore.files, p_commit jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_commit_id constant uuid := p_commit ->> 'commitId';
  v_added filestore.file_versions;
begin
  if (p_file).id is null then return null; end if;
  select v.* into v_added
  from (
    -- fence: the planner must not flatten this; by the index of the file it would read all versions of the
    -- file. An ordered range instead of an equality, since without statistics the planner estimates the same
    -- cost for all versions of the project as for those of one commit.
    select * from filestore.file_versions c where c.commit_id >= v_commit_id and c.commit_id <= v_commit_id
    order by c.commit_id offset 0
  ) v where v.project_id = (p_file).project_id and v.file_id = (p_file).id;
  return case when found then jsonb_build_object('value', jsonb_build_object('file',
    filestore.file_record(filestore.at_version(p_file, v_added)) || coalesce(p_commit -> 'extra', '{}'))) end;
end
$$;
comment on function filestore.repeated_commit is
  'The result of an earlier attempt at this commit, or null. Called once the file is locked: that attempt '
  'has then ended.';
call filestore.grant_execute('filestore.repeated_commit', 'filestore_engine');

create function filestore.apply_to_file(
  p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_segments constant jsonb := p_commit -> 'segments';
  v_number constant integer := p_commit ->> 'version';
  v_applied filestore.applied;
  v_next filestore.next_version;
  v_source filestore.file_versions;
  v_edited record;
begin
  v_applied.refusal := case
    when p_kind = 'write' or filestore.is_live(p_file) or p_kind = 'restore' and (p_file).version > 0
    then filestore.failed_precondition(p_file, p_commit) else filestore.not_found(p_file) end;
  if v_applied.refusal is not null then return v_applied; end if;
  if jsonb_array_length(v_segments) = 1 then
    -- The case of most commits, without a query, which costs more than these expressions.
    v_next.segment_ids := array[(v_segments -> 0 ->> 'id')::uuid];
    v_next.size := (v_segments -> 0 ->> 'size')::bigint;
    v_next.is_text := (v_segments -> 0 ->> 'isText')::boolean;
  else
    select coalesce(array_agg((s.value ->> 'id')::uuid order by s.position), '{}'),
           coalesce(sum((s.value ->> 'size')::bigint), 0), coalesce(bool_and((s.value ->> 'isText')::boolean), true)
    into v_next.segment_ids, v_next.size, v_next.is_text
    from jsonb_array_elements(v_segments) with ordinality as s (value, position);
  end if;
  v_next.is_deleted := p_kind = 'delete';
  v_next.mime_type := coalesce(p_commit ->> 'mimeType', (p_file).mime_type);
  if p_kind = 'append' then
    v_next.segment_ids := (p_file).segment_ids || v_next.segment_ids;
    v_next.size := (p_file).size + v_next.size;
    v_next.is_text := v_next.is_text and (p_file).is_text;
    if cardinality(v_next.segment_ids) > (filestore.limits()).segment_list_max_base
      + (filestore.limits()).segment_list_max_per_mib * ((v_next.size + 1048575) / 1048576) then
      v_applied.refusal := filestore.refusal('SEGMENT_LIST_FULL') || jsonb_build_object(
        'segments', filestore.segment_list((p_file).project_id, (p_file).segment_ids));
    end if;
  elsif p_kind = 'edit' then
    v_edited := filestore.content_of_edit(p_file, p_commit);
    v_applied.refusal := v_edited.refusal;
    v_next.segment_ids := v_edited.segment_ids;
    v_next.size := v_edited.size;
    v_next.is_text := v_edited.is_text;
  elsif p_kind = 'restore' then
    select * into v_source from filestore.file_versions v
    where v.project_id = (p_file).project_id and v.file_id = (p_file).id and v.version = v_number;
    v_applied.refusal := coalesce(
      filestore.unreadable_version(p_file, v_number, v_source), case when v_source.is_deleted
        then filestore.refusal('VERSION_DELETED', jsonb_build_object('version', v_number)) end);
    v_next := filestore.content_of(filestore.at_version(p_file, v_source));
  end if;
  v_applied.refusal := coalesce(v_applied.refusal, filestore.too_large(p_session, v_next.size));
  if v_applied.refusal is not null then return v_applied; end if;
  return filestore.put_version(p_session, p_file, p_commit ->> 'path', v_next, p_kind, p_commit);
end
$$;
comment on function filestore.apply_to_file is
  'Adds one version to a locked file, or creates it: write, overwrite, append, edit, delete or restore.';
call filestore.grant_execute('filestore.apply_to_file', 'filestore_engine');

create function filestore.apply_to_two(
  p_session filestore.session, p_source filestore.files, p_target filestore.files, p_kind text, p_commit jsonb
) returns filestore.applied
language plpgsql volatile set search_path = '' as $$
declare
  v_left filestore.applied;
  v_applied filestore.applied;
begin
  if not filestore.is_live(p_source) then
    v_applied.refusal := filestore.not_found(p_source);
    return v_applied;
  end if;
  v_applied.refusal := filestore.failed_precondition(p_source, p_commit);
  if v_applied.refusal is not null then return v_applied; end if;
  if filestore.is_live(p_target) and not coalesce((p_commit ->> 'overwrite')::boolean, false) then
    v_applied.refusal := filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('version', p_target.version));
    return v_applied;
  end if;
  v_applied.refusal := filestore.too_large(p_session, p_source.size);
  if v_applied.refusal is not null then return v_applied; end if;
  if p_kind = 'move' then
    v_left := filestore.put_version(
      p_session, p_source, p_source.path, filestore.tombstone_of(p_source), p_kind, p_commit);
  end if;
  v_applied := filestore.put_version(
    p_session, p_target, p_commit ->> 'destination', filestore.content_of(p_source), p_kind, p_commit);
  v_applied.cost := v_applied.cost + coalesce(v_left.cost, 0);
  v_applied.versions := v_applied.versions + coalesce(v_left.versions, 0);
  return v_applied;
end
$$;
comment on function filestore.apply_to_two is
  'The current content of one locked file becomes the next version of another; a move also adds a tombstone, '
  'before that version. No bytes are copied.';
call filestore.grant_execute('filestore.apply_to_two', 'filestore_engine');

create function filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_check_every constant integer := (filestore.limits()).compaction_check_every_segments;
  v_file filestore.files;
  v_applied filestore.applied;
  v_added record;
  v_result jsonb;
begin
  loop
    v_file := filestore.lock_file(p_session.project_id, p_commit ->> 'path');
    v_result := filestore.repeated_commit(v_file, p_commit);
    if v_result is not null then return v_result; end if;
    v_applied := filestore.apply_to_file(p_session, v_file, p_kind, p_commit);
    if v_applied.refusal is not null then return v_applied.refusal; end if;
    exit when (v_applied.file).id is not null;
  end loop;
  v_added := filestore.add_segments(p_session.project_id, p_commit -> 'segments');
  v_result := filestore.end_commit(
    p_session, p_commit, v_added.bytes, v_applied.cost + v_added.database_bytes, 1, p_kind = 'delete');
  if v_result is not null then return v_result; end if;
  return jsonb_build_object('value', jsonb_build_object(
    'file', filestore.file_record(v_applied.file) || coalesce(p_commit -> 'extra', '{}'),
    'segments', case
      when p_kind in ('append', 'edit') and cardinality((v_applied.file).segment_ids) / v_check_every
        > coalesce(cardinality(v_file.segment_ids), 0) / v_check_every
      then filestore.segment_list(p_session.project_id, (v_applied.file).segment_ids) end));
end
$$;
comment on function filestore.commit_version is
  'Adds one version to one file: write, overwrite, append, edit, delete or restore. Returns the new record and, when '
  'the file may be worth compacting, its segment list.';
call filestore.grant_execute('filestore.commit_version', 'filestore_engine');
-- 42_compaction.sql ==================================================================================================
-- Compaction: a run of small segments is replaced by fewer, larger ones with the same bytes.

create function public.filestore_compact(
  p_key_hash text, p_request_id uuid, p_path text, p_run uuid[], p_compacted jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'write', p_place => p_path);
  v_file filestore.files;
  v_from integer;
  v_added record;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_file from filestore.files f
  where f.project_id = v_session.project_id and f.path = p_path and not f.is_deleted for no key update;
  v_from := array_position(v_file.segment_ids, p_run[1]);
  if v_from is null
    or v_file.segment_ids[v_from : v_from + cardinality(p_run) - 1] <> p_run then
    -- An earlier attempt at the same compaction may have succeeded.
    return v_session.envelope || jsonb_build_object(
      'value', coalesce((p_compacted -> 0 ->> 'id')::uuid = any (v_file.segment_ids), false));
  end if;
  v_added := filestore.add_segments(v_session.project_id, p_compacted);
  if v_added.bytes is distinct from (
    select sum(s.size) from unnest(p_run) r (id)
    -- fence: the planner must not flatten this; segments are fetched one by one by primary key.
    cross join lateral (
      select * from filestore.segments s where s.id = r.id and s.project_id = v_session.project_id offset 0
    ) s
  ) then
    raise exception 'the segments differ in size from the run they replace';
  end if;
  update filestore.files f
  set segment_ids = v_file.segment_ids[: v_from - 1]
    || (select array_agg((s.value ->> 'id')::uuid order by s.position)
        from jsonb_array_elements(p_compacted) with ordinality as s (value, position))
    || v_file.segment_ids[v_from + cardinality(p_run) :]
  where f.project_id = v_session.project_id and f.id = v_file.id;
  -- The new segments are in no version until the file gets a version with this list. For segments of earlier
  -- compactions, the last version shows whether they are in a version.
  delete from filestore.possibly_unreferenced_segments d
  where d.project_id = v_session.project_id and d.file_id = v_file.id and d.segment_id = any ((
    select v.segment_ids from filestore.file_versions v
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = v_file.version)::uuid[]);
  insert into filestore.possibly_unreferenced_segments (project_id, file_id, segment_id)
  select v_session.project_id, v_file.id, (s.value ->> 'id')::uuid from jsonb_array_elements(p_compacted) s;
  perform filestore.add_usage(v_session.project_id, v_added.bytes, v_added.database_bytes, 0);
  return v_session.envelope || jsonb_build_object('value', true);
end
$$;
comment on function public.filestore_compact is
  'Replaces a run of adjacent segments in a file''s current segment list by segments with the same bytes. '
  'Adds no version. False where the list contains neither the run nor its replacement.';
call filestore.publish('public.filestore_compact', 'filestore_engine', 'service_role');
-- 43_batches.sql =====================================================================================================
-- Commits of several files: all of their versions, or none.

create function filestore.commit_batch(p_session filestore.session, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_operations constant jsonb := p_commit -> 'operations';
  v_paths constant text[] := array(
    select distinct p.path collate "C" from jsonb_array_elements(v_operations) o
    cross join lateral (values (o.value ->> 'path'), (o.value ->> 'destination')) p (path)
    where p.path is not null order by 1);
  v_segments constant jsonb := (
    select coalesce(jsonb_agg(s.value), '[]') from jsonb_array_elements(v_operations) o
    cross join lateral jsonb_array_elements(o.value -> 'segments') s);
  v_applied filestore.applied;
  v_source filestore.files;
  v_locked record;
  v_added record;
  v_operation jsonb;
  v_kind text;
  v_results jsonb := '[]';
  v_repeated jsonb;
  v_cost bigint := 0;
  v_versions integer := 0;
  v_may_exceed boolean := true;
begin
  -- The key does not see a path outside its prefix, so such a path gets no row.
  v_locked := filestore.lock_paths(
    v_project_id, v_paths,
    array(select p.path from unnest(v_paths) p (path) where filestore.outside_prefix(p_session, p.path) is null));
  -- A copy or move by itself has the destination on the commit, too; what it added before is returned again.
  v_repeated := filestore.repeated_commit(
    filestore.lock_file(v_project_id, p_commit ->> 'destination'), p_commit);
  if v_repeated is not null then return v_repeated; end if;
  v_added := filestore.add_segments(v_project_id, v_segments);
  for v_operation in select o.value from jsonb_array_elements(v_operations) with ordinality o order by o.ordinality loop
    v_kind := v_operation ->> 'kind';
    v_source := filestore.lock_file(v_project_id, v_operation ->> 'path');
    v_operation := v_operation || jsonb_build_object(
      'commitId', p_commit -> 'commitId', 'provenance', p_commit -> 'provenance',
      'committedAt', v_locked.committed_at);
    if v_kind in ('copy', 'move') then
      v_applied := filestore.apply_to_two(
        p_session, v_source, filestore.lock_file(v_project_id, v_operation ->> 'destination'), v_kind, v_operation);
    else
      v_applied := filestore.apply_to_file(p_session, v_source, v_kind, v_operation);
    end if;
    if v_applied.refusal is null and v_operation ? 'failure' then
      v_applied.refusal := jsonb_build_object('refusal', v_operation -> 'failure');
    end if;
    if v_applied.refusal is not null then
      return jsonb_set(v_applied.refusal, '{refusal,details,index}', to_jsonb(jsonb_array_length(v_results)));
    end if;
    v_results := v_results || (filestore.file_record(v_applied.file) || coalesce(v_operation -> 'extra', '{}'));
    v_cost := v_cost + v_applied.cost;
    v_versions := v_versions + v_applied.versions;
    v_may_exceed := v_may_exceed and v_kind = 'delete';
  end loop;
  v_applied.refusal := filestore.end_commit(
    p_session, p_commit, v_added.bytes, v_cost + v_added.database_bytes, v_versions, v_may_exceed);
  if v_applied.refusal is not null then return v_applied.refusal; end if;
  return jsonb_build_object('value', jsonb_build_object('file', jsonb_build_object('results', v_results)));
end
$$;
comment on function filestore.commit_batch is
  'Applies operations in order, each on the result of the earlier ones. An operation that carries a failure '
  'is refused with that failure, once its other checks pass. A refusal has details.index; it may leave '
  'versions, which the caller rolls back.';
call filestore.grant_execute('filestore.commit_batch', 'filestore_engine');

create function filestore.count_files(p_session filestore.session, p_files integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_limit constant integer := p_session.envelope #>> '{rate,limit}';
  v_more constant integer := (p_files - 1) / (filestore.limits()).operations_per_request;
  v_count filestore.request_count;
begin
  if v_limit is null or v_more <= 0 then return p_session.envelope #>> '{rate,remaining}'; end if;
  -- Two commits that waited for each other's shard would be a deadlock.
  v_count := filestore.count_requests(p_session.project_id, v_limit, gen_random_uuid(), v_more, p_may_wait => false);
  if not v_count.is_allowed then raise sqlstate 'FS004'; end if;
  return v_count.remaining;
end
$$;
comment on function filestore.count_files is
  'Counts a request, already counted as one, as one request for each ten files begun, and returns how many '
  'requests are left; raises FS004 where too few are left. Called before any file is locked.';
call filestore.grant_execute('filestore.count_files', 'filestore_engine');

-- 44_folders.sql =====================================================================================================
-- Many files as one: a plan of versions for many files, and folders.
--
-- Computing a plan only reads. To apply it, the commit locks the files that it names, in the order of their
-- paths, and computes it again: if it names the same files, none of its inputs can change any more.

create type filestore.step as (file_id uuid, path text, next filestore.next_version);
comment on type filestore.step is 'One version of a plan. The id is null for a file that does not exist yet.';

create type filestore.plan as (
  refusal jsonb, paths text[], new_paths text[], steps filestore.step[], value jsonb, remaining integer,
  committed_at timestamptz
);
comment on type filestore.plan is
  'The planned changes of many files: all files that the plan depends on, the paths that it may create, and '
  'the versions to add.';

create function filestore.too_many_files(p_files bigint) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('TOO_MANY_FILES', jsonb_build_object(
    'files', p_files, 'limit', (filestore.limits()).commit_files_max));
end
$$;
comment on function filestore.too_many_files is
  'The refusal of a request that concerns more files than one commit may change.';
call filestore.grant_execute('filestore.too_many_files', 'filestore_engine');

create function filestore.taken_paths(p_project_id uuid, p_paths text[], p_except text[]) returns text[]
language sql stable set search_path = '' as $$
  select array(
    select t.path from unnest(p_paths) t (path)
    -- fence: files are looked up one by one.
    cross join lateral (
      select f.id from filestore.files f
      where f.project_id = p_project_id and f.path = t.path and not f.is_deleted offset 0
    ) f
    where t.path not in (select unnest(p_except))
    order by t.path collate "C" limit (filestore.limits()).conflicting_paths_shown_max)
$$;
comment on function filestore.taken_paths is
  'The first of these paths that have live files, except those in p_except.';
call filestore.grant_execute('filestore.taken_paths', 'filestore_engine');

create function filestore.plan_folder(p_session filestore.session, p_kind text, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).commit_files_max;
  v_directory constant text := p_commit ->> 'path';
  v_destination constant text := p_commit ->> 'destination';
  v_is_copy constant boolean := p_kind = 'copy_folder';
  v_is_deletion constant boolean := p_kind = 'delete_folder';
  v_plan filestore.plan;
  v_moment filestore.moment;
  v_found record;
  v_file filestore.files;
  v_path text;
  v_rule text;
  v_sources text[] := '{}';
  v_targets text[] := '{}';
  v_left filestore.step[] := '{}';
  v_added filestore.step[] := '{}';
  v_taken text[];
begin
  v_moment := case when p_commit ? 'at' then filestore.moment_of(p_session, p_commit ->> 'at') end;
  v_plan.refusal := coalesce(
    case when not v_is_copy then filestore.outside_prefix(p_session, v_directory || '/') end,
    case when not v_is_deletion then filestore.outside_prefix(p_session, v_destination || '/') end,
    v_moment.refusal);
  if v_plan.refusal is not null then return v_plan; end if;
  v_found := filestore.files_below(p_session, v_directory, v_moment, c_files_max);
  v_plan.value := jsonb_strip_nulls(jsonb_build_object('trimmed', nullif(v_found.trimmed, '{}')));
  v_plan.refusal := case
    when v_found.is_more then filestore.too_many_files(greatest(c_files_max + 1, case when not p_commit ? 'at' then
      filestore.count_live_files(p_session.project_id, filestore.seen_directory(p_session, v_directory), true) end))
    when cardinality(v_found.files) = 0 then filestore.refusal('FILE_NOT_FOUND', v_plan.value) end;
  if v_plan.refusal is not null then return v_plan; end if;
  foreach v_file in array v_found.files loop
    v_sources := v_sources || v_file.path::text;
    if not v_is_copy then
      v_left := v_left || row (v_file.id, v_file.path, filestore.tombstone_of(v_file))::filestore.step;
    end if;
    continue when v_is_deletion;
    v_path := v_destination || substr(v_file.path, length(v_directory) + 1);
    -- A path composed of two valid ones can break no other rule.
    v_rule := case
      when octet_length(v_path) > (filestore.limits()).path_bytes_max then 'too_long'
      when cardinality(string_to_array(v_path, '/')) > (filestore.limits()).path_segments_max
        then 'too_many_segments' end;
    v_plan.refusal := case when v_rule is null
      then filestore.too_large(p_session, v_file.size, jsonb_build_object('path', v_file.path))
      else filestore.refusal('INVALID_PATH', jsonb_build_object('rule', v_rule, 'path', v_file.path)) end;
    if v_plan.refusal is not null then return v_plan; end if;
    v_targets := v_targets || v_path;
    v_added := v_added || row (null, v_path, filestore.content_of(v_file))::filestore.step;
  end loop;
  if not coalesce((p_commit ->> 'overwrite')::boolean, false) then
    -- A move removes its own sources from their paths.
    v_taken := filestore.taken_paths(p_session.project_id, v_targets, case when v_is_copy then '{}' else v_sources end);
    if cardinality(v_taken) > 0 then
      v_plan.refusal := filestore.refusal('FILE_ALREADY_EXISTS', jsonb_build_object('paths', v_taken));
      return v_plan;
    end if;
  end if;
  -- If a file is moved away while another one moves to its path, that path gets one version, with the other
  -- file's content.
  v_plan.steps := array(
    select l from unnest(v_left) l where l.path not in (select unnest(v_targets))) || v_added;
  -- Includes the files that the answer names as left out: while they are locked, none of them can be purged.
  v_plan.paths := v_sources || v_targets || v_found.trimmed;
  v_plan.new_paths := v_targets;
  return v_plan;
end
$$;
comment on function filestore.plan_folder is
  'The plan of copying, moving or deleting a folder. No bytes are copied. Refusals: FORBIDDEN_SCOPE, VALIDATION_ERROR, '
  'FILE_NOT_FOUND, TOO_MANY_FILES, INVALID_PATH, FILE_ALREADY_EXISTS, CONTENT_TOO_LARGE.';
call filestore.grant_execute('filestore.plan_folder', 'filestore_engine');

-- 45_undo.sql ========================================================================================================
-- Undoing a run, and restoring a folder to its state at a moment.

create function filestore.is_unchanged(p_file filestore.files, p_then filestore.files) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  c_ids constant uuid[] := (p_file).segment_ids;
  c_then_ids constant uuid[] := (p_then).segment_ids;
begin
  if not filestore.is_live(p_file) or not filestore.is_live(p_then) then
    return filestore.is_live(p_file) = filestore.is_live(p_then);
  elsif (p_file).version = (p_then).version and (p_file).id = (p_then).id then
    return true;
  elsif (p_file).mime_type <> (p_then).mime_type or (p_file).size <> (p_then).size
    or cardinality(c_ids) <> cardinality(c_then_ids) then
    return false;
  end if;
  return c_ids = c_then_ids or not exists (
    select from generate_subscripts(c_ids, 1) i (number)
    -- fence, both: segments are looked up one by one.
    cross join lateral (
      select s.size, s.sha256 from filestore.segments s
      where s.project_id = (p_file).project_id and s.id = c_ids[i.number] offset 0
    ) s
    cross join lateral (
      select o.size, o.sha256 from filestore.segments o
      where o.project_id = (p_file).project_id and o.id = c_then_ids[i.number] offset 0
    ) o
    where c_ids[i.number] <> c_then_ids[i.number] and (s.size <> o.size or s.sha256 <> o.sha256));
end
$$;
comment on function filestore.is_unchanged is
  'Whether a file equals an earlier state of it, or another file, in existence, type and content. Contents are '
  'compared by the sizes and checksums of their segments, so the same bytes with other segment boundaries count as '
  'different. Null: no file.';
call filestore.grant_execute('filestore.is_unchanged', 'filestore_engine');

create function filestore.revert_step(
  p_session filestore.session, p_file filestore.files, p_then filestore.files,
  out step filestore.step, out action jsonb, out refusal jsonb
)
language plpgsql stable set search_path = '' as $$
declare
  c_is_live constant boolean := filestore.is_live(p_then);
begin
  step := row ((p_file).id, (p_file).path, case when c_is_live
    then filestore.content_of(p_then) else filestore.tombstone_of(p_file) end);
  action := jsonb_build_object(
    'path', (p_file).path, 'action', case when c_is_live then 'restore' else 'delete' end,
    'from', (p_file).version, 'to', case when c_is_live then (p_then).version end);
  if c_is_live then
    refusal := filestore.too_large(p_session, (p_then).size, jsonb_build_object('path', (p_file).path));
  end if;
end
$$;
comment on function filestore.revert_step is
  'The version that restores an earlier state of a file, the same step as a plan shows it, and a refusal '
  'where the content is too large for the present limit.';
call filestore.grant_execute('filestore.revert_step', 'filestore_engine');

create function filestore.undo_files(
  p_session filestore.session, p_commit jsonb,
  out key_ids uuid[], out own_runs text[], out files filestore.run_file[], out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).commit_files_max;
  c_none constant uuid := '00000000-0000-0000-0000-000000000000';
  v_run_id constant text := p_commit ->> 'run';
  v_place integer := 0;
  v_undoing text collate "C";
  v_ids uuid[];
  v_run record;
begin
  key_ids := case jsonb_typeof(p_commit -> 'keys')
    when 'string' then array[coalesce(p_session.key_id, c_none)]
    -- All zeros stand for the console and are the id of no key.
    when 'array' then array_remove(array(
      select distinct k::uuid from jsonb_array_elements_text(p_commit -> 'keys') k), c_none)
    else filestore.run_keys(p_session.project_id, v_run_id) end;
  own_runs := array[v_run_id];
  while v_place < cardinality(own_runs) loop
    v_place := v_place + 1;
    v_undoing := '';
    -- The query jumps in the index from one undo to the next, since an undo has a version for each of its files.
    loop
      select v.run_id into v_undoing from filestore.file_versions v
      where v.project_id = p_session.project_id and v.undone_run_id = own_runs[v_place] and v.run_id > v_undoing
      order by v.undone_run_id, v.run_id limit 1;
      exit when not found;
      if v_undoing <> all (own_runs) then own_runs := own_runs || v_undoing; end if;
    end loop;
  end loop;
  v_ids := case when jsonb_typeof(p_commit -> 'paths') = 'array' then array(
    select f.id from jsonb_array_elements_text(p_commit -> 'paths') p (path)
    -- fence: files are looked up one by one.
    cross join lateral (
      select f.id from filestore.files f where f.project_id = p_session.project_id and f.path = p.path offset 0
    ) f
    order by f.id) end;
  v_run := filestore.run_files(p_session.project_id, v_run_id, key_ids, v_ids, null, c_files_max + 1);
  files := array(select f from unnest(v_run.files) f order by f.path collate "C");
  if cardinality(files) = 0 and (v_ids is null or cardinality((filestore.run_files(
    p_session.project_id, v_run_id, key_ids, null, null, 1)).files) = 0) then
    refusal := filestore.refusal('RUN_NOT_FOUND');
  elsif cardinality(files) > c_files_max or not v_run.is_complete then
    refusal := filestore.too_many_files(c_files_max + 1);
  end if;
end
$$;
comment on function filestore.undo_files is
  'The keys whose versions of a run an undo reverts (the caller''s own, those that the request names, or '
  'all); the run, the runs that have undone it, the runs that have undone those, and so on; and the files '
  'that the run has changed with these keys, by path. Refused: a run of which the key sees no file, and a '
  'run of too many files.';
call filestore.grant_execute('filestore.undo_files', 'filestore_engine');
call filestore.pin_plan('filestore.undo_files');

create function filestore.split_moves(
  p_session filestore.session, p_run_id text, p_key_ids uuid[], p_ids uuid[]
) returns uuid[]
language sql stable set search_path = '' as $$
  select case when count(*) > (filestore.limits()).undo_versions_examined_max then p_ids
    else array_agg(distinct case when m.is_target then m.file_id else m.source_file_id end)
      filter (where m.source_file_id is not null and m.is_target <> m.is_source) end
  from (
    select l.file_id, l.source_file_id, l.file_id in (select unnest(p_ids)) as is_target,
           l.source_file_id in (select unnest(p_ids)) as is_source
    from (
      select v.file_id, v.source_file_id from filestore.file_versions v
      where v.project_id = (p_session).project_id and v.run_id = p_run_id and v.operation = 'move'
        and v.key_id = any (p_key_ids)
      order by v.file_id, v.version limit (filestore.limits()).undo_versions_examined_max + 1
    ) l
  ) m
$$;
comment on function filestore.split_moves is
  'The given files that the run moved, with these keys, from or to a file that is not among them; all given '
  'files where there are too many moves to examine.';
call filestore.grant_execute('filestore.split_moves', 'filestore_engine');
call filestore.pin_plan('filestore.split_moves');

create function filestore.conflict_of(
  p_session filestore.session, p_file filestore.files, p_of_run filestore.run_file, p_run_id text, p_key_ids uuid[],
  p_own_runs text[], p_is_split boolean, p_is_erased boolean, p_examinable integer,
  out conflict jsonb, out examined integer
)
language plpgsql volatile set search_path = '' as $$
declare
  c_console constant uuid := '00000000-0000-0000-0000-000000000000';
  c_first constant integer := (p_of_run).first_version;
  v_version filestore.file_versions;
  v_reason text;
begin
  examined := 0;
  if p_is_erased then
    v_version.version := c_first - 1;
    v_reason := 'gone';
  else
    select l.* into v_version from (
      select v.* from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = (p_file).id
        and v.version > c_first and v.version <= (p_file).version
      order by v.version desc limit p_examinable
    ) l
    where not (l.run_id is not distinct from p_run_id and l.key_id = any (p_key_ids))
      and (l.undone_run_id is null or l.undone_run_id <> all (p_own_runs))
    order by l.version desc limit 1;
    examined := case when found then (p_file).version - v_version.version + 1
      else least((p_file).version - c_first, p_examinable) end;
    if not found and (p_file).version - c_first > p_examinable then
      v_reason := 'unexamined';
      select * into v_version from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = (p_file).id
        and v.version = (p_file).version - p_examinable;
    elsif not found and p_is_split then
      v_reason := 'moved';
      select * into v_version from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = (p_file).id and v.version >= c_first
        and v.run_id = p_run_id and v.operation = 'move' and v.key_id = any (p_key_ids)
      order by v.version limit 1;
    end if;
  end if;
  if v_version.version is null then return; end if;
  conflict := jsonb_build_object(
    'path', (p_file).path, 'version', v_version.version, 'actor', v_version.actor, 'runId', v_version.run_id)
    || jsonb_strip_nulls(jsonb_build_object(
      'own', v_version.key_id = coalesce(p_session.key_id, c_console), 'reason', v_reason,
      'keyId', case when v_version.key_id <> c_console and 'admin' = any (p_session.scopes) then v_version.key_id end));
end
$$;
comment on function filestore.conflict_of is
  'The version that keeps a file from being restored to its state before the run, as a plan shows it, or '
  'null: the last version since the run''s first one that was added neither by these keys in the run, nor by '
  'an undo of it, nor by an undo of that; otherwise the newest version beyond the p_examinable '
  'latest ones, or the half of a move whose other half stays; where the version before the run was erased, that '
  'version. examined: the number of versions read.';
call filestore.grant_execute('filestore.conflict_of', 'filestore_engine');

create function filestore.plan_undo(p_session filestore.session, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  v_run_id constant text := p_commit ->> 'run';
  v_on_conflict constant text := p_commit ->> 'onConflict';
  v_run constant record := filestore.undo_files(p_session, p_commit);
  v_split uuid[];
  v_plan filestore.plan;
  v_of_run filestore.run_file;
  v_file filestore.files;
  v_base filestore.file_versions;
  v_then filestore.files;
  v_found record;
  v_reverted record;
  v_is_erased boolean;
  -- The number of versions that may still be read.
  v_left integer := (filestore.limits()).undo_versions_examined_max;
  -- A variable, since it is appended to in place; a field of the plan would be copied each time.
  v_steps filestore.step[] := '{}';
  v_actions jsonb[] := '{}';
  v_unchanged text[] := '{}';
  v_conflicts jsonb[] := '{}';
begin
  v_plan.refusal := v_run.refusal;
  v_plan.paths := array(select f.path from unnest(v_run.files) f);
  if v_plan.refusal is not null then return v_plan; end if;
  v_split := filestore.split_moves(
    p_session, v_run_id, v_run.key_ids, array(select f.file_id from unnest(v_run.files) f));
  foreach v_of_run in array v_run.files loop
    select * into v_file from filestore.files f
    where f.project_id = p_session.project_id and f.id = v_of_run.file_id;
    -- The state before the run: no file, where the run added its first version.
    select * into v_base from filestore.file_versions v
    where v.project_id = p_session.project_id and v.file_id = v_file.id and v.version < v_of_run.first_version
    order by v.version desc limit 1;
    v_then := case when v_base.version is not null then filestore.at_version(v_file, v_base) end;
    v_is_erased := coalesce(v_base.version, 0) < v_of_run.first_version - 1
      or v_base.redacted_at is not null and not v_base.is_deleted;
    if not v_is_erased and filestore.is_unchanged(v_file, v_then) then
      v_unchanged := v_unchanged || v_file.path::text;
      continue;
    end if;
    v_found := filestore.conflict_of(
      p_session, v_file, v_of_run, v_run_id, v_run.key_ids, v_run.own_runs, v_file.id = any (v_split),
      v_is_erased, v_left);
    v_left := v_left - v_found.examined;
    if v_found.conflict is not null then
      v_conflicts := v_conflicts || v_found.conflict;
      continue when v_on_conflict <> 'overwrite' or v_is_erased;
    end if;
    v_reverted := filestore.revert_step(p_session, v_file, v_then);
    v_plan.refusal := coalesce(v_plan.refusal, v_reverted.refusal);
    v_steps := v_steps || v_reverted.step;
    v_actions := v_actions || (v_reverted.action || filestore.whose(p_session, v_of_run.key_ids));
  end loop;
  v_plan.new_paths := '{}';
  v_plan.steps := v_steps;
  if v_on_conflict = 'refuse' and cardinality(v_conflicts) > 0 and not (p_commit ->> 'dryRun')::boolean then
    v_plan.refusal := filestore.refusal('RUN_CONFLICT', jsonb_build_object('conflicts', to_jsonb(v_conflicts)));
  end if;
  v_plan.value := jsonb_build_object(
    'undoneRunId', v_run_id, 'actions', to_jsonb(v_actions), 'unchanged', to_jsonb(v_unchanged),
    'conflicts', to_jsonb(v_conflicts));
  return v_plan;
end
$$;
comment on function filestore.plan_undo is
  'The plan that undoes a run, or the versions of these keys in it: each of its files returns to its state '
  'before the first of these versions. A later version that these keys did not add in the run, nor an undo '
  'of the run, nor an undo of that, is a conflict; so is a file with more later versions than may be '
  'examined. Refusals: RUN_NOT_FOUND, TOO_MANY_FILES, RUN_CONFLICT, CONTENT_TOO_LARGE.';
call filestore.grant_execute('filestore.plan_undo', 'filestore_engine');

create function filestore.changed_since(
  p_session filestore.session, p_directory text, p_since timestamptz,
  out ids uuid[], out is_complete boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  c_examined_max constant integer := (filestore.limits()).restore_examined_max;
  v_start constant text := case when p_directory = '' then '' else p_directory || '/' end;
  v_end constant text := nullif(p_directory, '') || '0';
  v_examined integer;
begin
  -- Reads the files of the directory, unless it is large; then the files of the whole project that were
  -- changed last.
  select count(*), array_agg(f.id order by f.path) filter (where f.updated_at > p_since) into v_examined, ids
  from (
    (select o.id, o.path, o.updated_at from filestore.files o
     where o.project_id = p_session.project_id and o.version > 0
       and o.path > v_start and o.path < coalesce(v_end, '.branches/')
     order by o.path limit c_examined_max + 1)
    union all
    -- Branches are no part of the root.
    (select o.id, o.path, o.updated_at from filestore.files o
     where o.project_id = p_session.project_id and o.version > 0 and v_end is null and o.path >= '.branches0'
     order by o.path limit c_examined_max + 1)
  ) f;
  if v_examined > c_examined_max then
    select count(*),
           array_agg(f.id order by f.path) filter (
             where f.path > v_start and f.path < coalesce(v_end, '.branches/')
               or v_end is null and f.path >= '.branches0')
    into v_examined, ids
    from (
      (select o.id, o.path from filestore.files o
       where o.project_id = p_session.project_id and not o.is_deleted and o.updated_at > p_since
       order by o.updated_at limit c_examined_max + 1)
      union all
      (select o.id, o.path from filestore.files o
       where o.project_id = p_session.project_id and o.is_deleted and o.updated_at > p_since and o.version > 0
       order by o.updated_at limit c_examined_max + 1)
    ) f;
  end if;
  is_complete := v_examined <= c_examined_max;
  ids := coalesce(ids, '{}');
end
$$;
comment on function filestore.changed_since is
  'Files below a directory that were changed since a time, by path; incomplete where both ways to find them '
  'would examine too many files.';
call filestore.grant_execute('filestore.changed_since', 'filestore_engine');
call filestore.pin_plan('filestore.changed_since');

create function filestore.plan_restore(p_session filestore.session, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  v_directory constant text := p_commit ->> 'directory';
  v_moment constant filestore.moment := filestore.moment_of(p_session, p_commit ->> 'at');
  v_since timestamptz := v_moment.at;
  v_changed record;
  v_plan filestore.plan;
  v_id uuid;
  v_file filestore.files;
  v_then record;
  v_reverted record;
  -- A variable, since it is appended to in place; a field of the plan would be copied each time.
  v_paths text[] := '{}';
  v_steps filestore.step[] := '{}';
  v_actions jsonb[] := '{}';
  v_unchanged text[] := '{}';
  v_trimmed text[] := '{}';
begin
  v_plan.refusal := coalesce(filestore.outside_prefix(p_session, v_directory || '/'), v_moment.refusal);
  if v_plan.refusal is not null then return v_plan; end if;
  if v_moment.position is not null then
    -- A commit takes its time before its positions, so a later position may have a slightly earlier time.
    select v.created_at - interval '1 minute' into v_since from filestore.file_versions v
    where v.project_id = p_session.project_id and v.position <= v_moment.position
    order by v.position desc limit 1;
    v_since := coalesce(v_since, '-infinity');
  end if;
  v_changed := filestore.changed_since(p_session, v_directory, v_since);
  if not v_changed.is_complete then
    v_plan.refusal := filestore.too_many_files((filestore.limits()).restore_examined_max + 1);
    return v_plan;
  end if;
  foreach v_id in array v_changed.ids loop
    select * into v_file from filestore.files f where f.project_id = p_session.project_id and f.id = v_id;
    v_then := filestore.file_at(v_file, v_moment);
    continue when v_file.id is null or v_file.version = (v_then.file).version;
    v_paths := v_paths || v_file.path::text;
    if v_then.is_trimmed or v_then.is_redacted and filestore.is_live(v_then.file) then
      v_trimmed := v_trimmed || v_file.path;
      continue;
    end if;
    if filestore.is_unchanged(v_file, v_then.file) then
      v_unchanged := v_unchanged || v_file.path;
    else
      v_reverted := filestore.revert_step(p_session, v_file, v_then.file);
      v_plan.refusal := coalesce(v_plan.refusal, v_reverted.refusal);
      v_steps := v_steps || v_reverted.step;
      v_actions := v_actions || v_reverted.action;
      if cardinality(v_actions) > (filestore.limits()).commit_files_max then
        v_plan.refusal := filestore.too_many_files(cardinality(v_actions));
        exit;
      end if;
    end if;
  end loop;
  v_plan.paths := v_paths;
  v_plan.new_paths := '{}';
  v_plan.steps := v_steps;
  v_plan.value := jsonb_build_object(
    'undoneRunId', null, 'actions', to_jsonb(v_actions), 'unchanged', to_jsonb(v_unchanged), 'conflicts', '[]'::jsonb)
    || case when cardinality(v_trimmed) > 0 then jsonb_build_object('trimmed', v_trimmed) else '{}'::jsonb end;
  return v_plan;
end
$$;
comment on function filestore.plan_restore is
  'The plan that restores a folder to its state at a moment: a version for each file that was changed since '
  'then and now differs. Refusals: FORBIDDEN_SCOPE, VALIDATION_ERROR, TOO_MANY_FILES, CONTENT_TOO_LARGE.';
call filestore.grant_execute('filestore.plan_restore', 'filestore_engine');
-- 46_branches.sql ====================================================================================================
-- Branches: who may use one, what has changed in it, and the plans of merges and updates.
--
-- A merge compares three states of each file: in the branch (ours), in the folder above it (theirs), and the
-- base. An update is the same the other way round. The lock of the branch's row comes before the locks of
-- files: a write in a branch shares it, so no file of a branch changes while it is merged.

create function filestore.branch_state(p_branch filestore.branches) returns text
language plpgsql volatile set search_path = '' as $$
begin
  return case when (p_branch).state in ('open', 'ready') and (p_branch).expires_at <= filestore.sweep_clock()
    then 'closed' else (p_branch).state end;
end
$$;
comment on function filestore.branch_state is
  'The state of a branch: closed from the moment at which it expires, although the sweep ends it later.';
call filestore.grant_execute('filestore.branch_state', 'filestore_engine');

create function filestore.branch_record(p_branch filestore.branches, p_cursor_key bytea) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jsonb_build_object(
    'name', (p_branch).name, 'path', '.branches/' || (p_branch).name, 'directory', (p_branch).directory,
    'title', (p_branch).title, 'note', (p_branch).note, 'state', filestore.branch_state(p_branch),
    'fileCount', (p_branch).file_count, 'base', filestore.cursor_at(p_cursor_key, (p_branch).base_position),
    'createdBy', jsonb_strip_nulls(jsonb_build_object(
      'keyName', (p_branch).key_name, 'account', (p_branch).account_id)),
    'createdAt', filestore.iso((p_branch).created_at), 'updatedAt', filestore.iso((p_branch).updated_at),
    'expiresAt', filestore.iso((p_branch).expires_at));
end
$$;
comment on function filestore.branch_record is 'A branch as the API returns it.';
call filestore.grant_execute('filestore.branch_record', 'filestore_engine');

create function filestore.find_branch(
  p_session filestore.session, p_name text, p_locks boolean,
  out branch filestore.branches, out is_inside boolean, out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
begin
  is_inside := coalesce(p_session.path_prefix = '.branches/' || p_name, false);
  if p_locks then
    select * into branch from filestore.branches b
    where b.project_id = p_session.project_id and b.name = p_name for update;
  else
    select * into branch from filestore.branches b where b.project_id = p_session.project_id and b.name = p_name;
  end if;
  if not found or branch.state = 'new'
    or not is_inside and filestore.outside_prefix(p_session, branch.directory || '/') is not null then
    refusal := filestore.refusal('BRANCH_NOT_FOUND');
    return;
  end if;
  perform set_config('filestore.path_prefix', '', true), set_config('filestore.branches', 'on', true);
end
$$;
comment on function filestore.find_branch is
  'A branch for a key that is confined to it (is_inside) or may see its folder, locked for a change of the '
  'branch on request. From then on the transaction sees both sides, whatever the prefix of the key.';
call filestore.grant_execute('filestore.find_branch', 'filestore_engine');

create function filestore.note_branch_event(p_branch filestore.branches, p_type text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  insert into filestore.webhook_events (project_id, position, type, branch, directory, created_at)
  select p.id, filestore.next_position(p.id), p_type, p_branch.name, p_branch.directory, clock_timestamp()
  from filestore.projects p where p.id = p_branch.project_id and p.has_webhooks;
end
$$;
comment on function filestore.note_branch_event is
  'Gives what happens to a branch its place in the change feed, where the project has webhooks.';
call filestore.grant_execute('filestore.note_branch_event', 'filestore_engine');

create function filestore.enter_branches(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_is_many constant boolean := p_kind ~ '_folder$|^undo$';
  v_places text[];
  v_place text;
  v_branch filestore.branches;
begin
  if p_kind = 'purge' then return null; end if;
  select array_agg(p.path order by p.path) into v_places from (
    select p_commit ->> 'path' where p_kind <> 'copy'
    union select p_commit ->> 'destination' union select p_commit ->> 'directory'
    union select jsonb_array_elements_text(p_commit -> 'paths')
    union select p_session.path_prefix || '/' where p_kind = 'undo'
    union select o.value ->> 'path' from jsonb_array_elements(p_commit -> 'operations') o
      where o.value ->> 'kind' <> 'copy'
    union select o.value ->> 'destination' from jsonb_array_elements(p_commit -> 'operations') o
  ) p (path) where p.path is not null;
  if c_is_many and (
    select count(distinct case when starts_with(p.path, '.branches/') then split_part(p.path, '/', 2) else '' end)
    from unnest(v_places) p (path)
  ) > 1 then
    return filestore.refused_field(case when p_kind = 'undo' then 'paths' else 'destination' end,
      'must be in one branch, or outside of branches, like the rest');
  end if;
  -- One place of each branch, in the order of their names, in which all lock them.
  foreach v_place in array array(
    select min(p.path) from unnest(v_places) p (path)
    where starts_with(p.path || '/', '.branches/') group by split_part(p.path, '/', 2) order by 1) loop
    select * into v_branch from filestore.branches b
    where b.project_id = p_session.project_id and b.name = split_part(v_place, '/', 2) for share;
    if not found or v_branch.state = 'new' or not c_is_many and v_place !~ '^\.branches/[^/]+/' then
      return filestore.refusal('BRANCH_NOT_FOUND');
    elsif filestore.branch_state(v_branch) in ('merged', 'closed') and not exists (
      -- A commit that is repeated after the end of the branch returns what it returned before.
      select from filestore.file_versions v
      where v.project_id = p_session.project_id and v.commit_id = (p_commit ->> 'commitId')::uuid) then
      return filestore.refusal('BRANCH_CLOSED', jsonb_build_object('state', filestore.branch_state(v_branch)));
    end if;
  end loop;
  return null;
end
$$;
comment on function filestore.enter_branches is
  'Locks the branches in which a commit writes, so that each ends before or after it. Refusals: '
  'BRANCH_NOT_FOUND, BRANCH_CLOSED; VALIDATION_ERROR for a change of many files that concerns a branch and '
  'anything else.';
call filestore.grant_execute('filestore.enter_branches', 'filestore_engine');

create type filestore.branch_change as (
  path text, ours filestore.files, theirs filestore.files, base filestore.files, base_version integer,
  is_ours_changed boolean, is_theirs_changed boolean, conflict text
);
comment on type filestore.branch_change is
  'A file of a branch, the file above it, and what both come from; a path is relative to the branch. '
  'base_version: the version above that the branch is based on; null where there was none. conflict: why the '
  'two sides cannot both be had; text where the lines may show that they can. Null: one side is unchanged, or '
  'both are equal.';

create function filestore.compare_branch_file(p_branch filestore.branches, p_path text) returns filestore.branch_change
language plpgsql volatile set search_path = '' as $$
declare
  c_text_max constant bigint := (filestore.limits()).search_text_bytes_max;
  v_change filestore.branch_change;
  v_base filestore.branch_files;
  v_version filestore.file_versions;
  v_ours filestore.files;
  v_theirs filestore.files;
  v_then filestore.files;
  v_is_gone boolean := false;
  v_base_version integer;
begin
  select * into v_ours from filestore.files f
  where f.project_id = p_branch.project_id and f.path = '.branches/' || p_branch.name || '/' || p_path;
  select * into v_theirs from filestore.files f
  where f.project_id = p_branch.project_id and f.path = coalesce(nullif(p_branch.directory, '') || '/', '') || p_path;
  select * into v_base from filestore.branch_files b
  where b.project_id = p_branch.project_id and b.file_id = v_ours.id;
  if v_base.base_file_id = v_theirs.id and v_base.base_version = v_theirs.version then
    v_then := v_theirs;
  elsif v_base.base_file_id is not null then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_branch.project_id and v.file_id = v_theirs.id and v_theirs.id = v_base.base_file_id
      and v.version = v_base.base_version;
    v_is_gone := not found or v_version.redacted_at is not null;
    if not v_is_gone then v_then := filestore.at_version(v_theirs, v_version); end if;
  end if;
  v_base_version := filestore.live_version(v_then);
  -- The merge wrote what neither side contained, or kept the other side: both come from the branch as it was.
  if v_base.base_is_merged and v_base.merged_version = v_ours.version then
    v_then := v_ours;
  elsif v_base.base_is_merged then
    select * into v_version from filestore.file_versions v
    where v.project_id = p_branch.project_id and v.file_id = v_ours.id and v.version = v_base.merged_version;
    v_is_gone := v_is_gone or not found or v_version.redacted_at is not null;
    v_then := case when not v_is_gone then filestore.at_version(v_ours, v_version) end;
  end if;
  v_change := row (
    p_path, v_ours, v_theirs, v_then, v_base_version,
    v_ours.version is distinct from v_base.merged_version
      and (v_is_gone or not filestore.is_unchanged(v_ours, v_then)),
    v_is_gone or not filestore.is_unchanged(v_theirs, v_then), null);
  if v_change.is_ours_changed and v_change.is_theirs_changed
    and not filestore.is_unchanged(v_ours, v_theirs) then
    v_change.conflict := case
      when v_is_gone then 'baseGone'
      when not filestore.is_live(v_ours) then 'deletedInBranch'
      when not filestore.is_live(v_theirs) then 'deletedInTarget'
      when not filestore.has_text(v_ours.mime_type, v_ours.is_text)
        or not filestore.has_text(v_theirs.mime_type, v_theirs.is_text)
        or filestore.is_live(v_then) and not filestore.has_text(v_then.mime_type, v_then.is_text) then 'binary'
      when greatest(v_ours.size, v_theirs.size, v_then.size) > c_text_max then 'content'
      else 'text' end;
  end if;
  return v_change;
end
$$;
comment on function filestore.compare_branch_file is
  'Compares the two sides of a path with what both come from. A base that was purged, redacted or trimmed '
  'counts as changed on both sides.';
call filestore.grant_execute('filestore.compare_branch_file', 'filestore_engine');

create function filestore.live_version(p_file filestore.files) returns integer
language plpgsql immutable set search_path = ''
as $$ begin return case when filestore.is_live(p_file) then (p_file).version end; end $$;
comment on function filestore.live_version is
  'The version of a file; null where there is no file, or a tombstone.';
call filestore.grant_execute('filestore.live_version', 'filestore_engine');

create function filestore.branch_moment(p_branch filestore.branches) returns filestore.moment
language plpgsql volatile set search_path = '' as $$
declare
  v_moment filestore.moment;
begin
  v_moment.at := p_branch.base_time;
  v_moment.unchanged_before := p_branch.base_time;
  if p_branch.base_time is null then
    v_moment.position := p_branch.base_position;
    select min(v.created_at) - interval '1 minute' into v_moment.unchanged_before from filestore.file_versions v
    where v.project_id = p_branch.project_id and v.position = p_branch.base_position;
  end if;
  return v_moment;
end
$$;
comment on function filestore.branch_moment is
  'The moment of a branch''s base. Its position is the end of the feed at that time, and so the end of a '
  'commit.';
call filestore.grant_execute('filestore.branch_moment', 'filestore_engine');

create function filestore.touched_paths(
  p_session filestore.session, p_branch filestore.branches, p_is_update boolean,
  out paths text[], out is_complete boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  v_place constant text := '.branches/' || p_branch.name;
  v_changed record;
begin
  is_complete := true;
  if not p_is_update then
    paths := array(
      select substr(f.path, length(v_place) + 2) from filestore.files f
      -- fence: bases are looked up one by one.
      left join lateral (
        select b.merged_version from filestore.branch_files b
        where b.project_id = p_session.project_id and b.file_id = f.id offset 0
      ) b on true
      where f.project_id = p_session.project_id and f.path > v_place || '/' and f.path < v_place || '0'
        and f.version > 0 and f.version is distinct from b.merged_version
      order by f.path);
    return;
  end if;
  v_changed := filestore.changed_since(p_session, p_branch.directory, coalesce(
    (filestore.branch_moment(p_branch)).unchanged_before, '-infinity'));
  is_complete := v_changed.is_complete;
  paths := array(
    select substr(f.path, coalesce(nullif(length(p_branch.directory), 0) + 2, 1))
    from unnest(v_changed.ids) with ordinality i (id, place)
    cross join lateral (
      select o.path from filestore.files o where o.project_id = p_session.project_id and o.id = i.id offset 0
    ) f
    order by i.place);
end
$$;
comment on function filestore.touched_paths is
  'Paths that may have changed in a branch since their bases; for an update, in its folder since the last '
  'one. Incomplete where too many files of the folder would have to be examined.';
call filestore.grant_execute('filestore.touched_paths', 'filestore_engine');
call filestore.pin_plan('filestore.touched_paths');

create function filestore.text_tag(p_change filestore.branch_change) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return concat_ws('.', (p_change.ours).id, (p_change.ours).version, (p_change.theirs).id, (p_change.theirs).version,
    (p_change.base).version);
end
$$;
comment on function filestore.text_tag is 'Names the three versions that a merge of lines has read.';
call filestore.grant_execute('filestore.text_tag', 'filestore_engine');

create function filestore.text_to_merge(p_session filestore.session, p_change filestore.branch_change) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jsonb_build_object(
    'path', p_change.path, 'tag', filestore.text_tag(p_change),
    'mimeType', case when (p_change.ours).mime_type = (p_change.base).mime_type
      then (p_change.theirs).mime_type else (p_change.ours).mime_type end,
    'base', filestore.segment_list(p_session.project_id, case when filestore.is_live(p_change.base)
      then (p_change.base).segment_ids else '{}' end),
    'branch', filestore.segment_list(p_session.project_id, (p_change.ours).segment_ids),
    'current', filestore.segment_list(p_session.project_id, (p_change.theirs).segment_ids));
end
$$;
comment on function filestore.text_to_merge is 'The three texts whose lines are to be merged, and their tag.';
call filestore.grant_execute('filestore.text_to_merge', 'filestore_engine');

create function filestore.choose_side(
  p_session filestore.session, p_change filestore.branch_change, p_is_update boolean, p_commit jsonb, p_texts integer,
  p_text_bytes bigint, out side text, out chosen jsonb, out text_bytes bigint, out conflict jsonb, out texts jsonb[]
)
language plpgsql volatile set search_path = '' as $$
declare
  v_text constant jsonb := p_commit -> 'texts' -> p_change.path;
  v_kind text := p_change.conflict;
begin
  texts := '{}';
  chosen := p_commit -> 'resolutions' -> p_change.path;
  if chosen is not null then
    side := coalesce(chosen ->> 'take', 'content');
  elsif v_kind is null then
    side := case when p_is_update then 'current' else 'branch' end;
  elsif v_kind = 'text' then
    text_bytes := (p_change.ours).size + (p_change.theirs).size + coalesce((p_change.base).size, 0);
    if p_texts >= (filestore.limits()).merge_texts_max
      or p_text_bytes + text_bytes > (filestore.limits()).merge_texts_bytes_max then
      text_bytes := null;
    elsif v_text ->> 'tag' is distinct from filestore.text_tag(p_change) then
      texts := array[filestore.text_to_merge(p_session, p_change)];
      return;
    elsif not v_text ? 'isConflict' then
      side := 'content';
      chosen := v_text;
    end if;
    v_kind := 'content';
  end if;
  side := coalesce(side, nullif(p_commit ->> 'onConflict', 'refuse'));
  if side is null then
    conflict := jsonb_build_object(
      'path', p_change.path, 'kind', v_kind, 'base', p_change.base_version,
      'branch', filestore.live_version(p_change.ours), 'current', filestore.live_version(p_change.theirs));
  end if;
end
$$;
comment on function filestore.choose_side is
  'The side that a merge takes for a file: branch, current, or content (chosen: its segments); otherwise '
  'the conflict, or the texts whose lines have to be merged first. text_bytes: what that merge reads, '
  'within the bounds of a request.';
call filestore.grant_execute('filestore.choose_side', 'filestore_engine');

create function filestore.merge_step(
  p_session filestore.session, p_change filestore.branch_change, p_place text, p_is_update boolean, p_side text,
  p_chosen jsonb, out step filestore.step, out action jsonb, out refusal jsonb, out is_same boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  -- The file that is written, and the one whose content it may get.
  v_to filestore.files := p_change.theirs;
  v_from filestore.files := p_change.ours;
  v_next filestore.next_version;
begin
  if p_is_update then
    v_to := p_change.ours;
    v_from := p_change.theirs;
  end if;
  is_same := filestore.is_unchanged(v_to, v_from);
  if p_side = 'content' then
    select coalesce(array_agg((s.value ->> 'id')::uuid order by s.place), '{}'),
           coalesce(sum((s.value ->> 'size')::bigint), 0), coalesce(bool_and((s.value ->> 'isText')::boolean), true)
    into v_next.segment_ids, v_next.size, v_next.is_text
    from jsonb_array_elements(p_chosen -> 'segments') with ordinality s (value, place);
    v_next.mime_type := coalesce(p_chosen ->> 'mimeType', v_to.mime_type, v_from.mime_type);
    v_next.is_deleted := false;
    v_next.source_file_id := v_from.id;
    v_next.source_version := v_from.version;
  elsif is_same or p_side = (case when p_is_update then 'branch' else 'current' end) then
    return;
  else
    v_next := case when filestore.is_live(v_from)
      then filestore.content_of(v_from) else filestore.tombstone_of(v_to) end;
  end if;
  step := row (v_to.id, p_place || p_change.path, v_next);
  action := jsonb_build_object(
    'path', p_change.path,
    'action', case when v_next.is_deleted then 'delete' when p_side = 'content' then 'merge' else 'write' end,
    'from', filestore.live_version(v_to), 'to', filestore.live_version(v_from));
  refusal := filestore.too_large(p_session, v_next.size, jsonb_build_object('path', p_change.path));
end
$$;
comment on function filestore.merge_step is
  'The version that a merge or an update adds for a file, and the same step as a plan shows it; nulls where '
  'the file that would be written stays as it is. is_same: both sides are equal.';
call filestore.grant_execute('filestore.merge_step', 'filestore_engine');

create function filestore.refused_expectation(
  p_session filestore.session, p_directory text, p_expected text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = p_session.project_id);
  v_position constant bigint := filestore.position_of(v_cursor_key, p_expected);
  v_changed record;
begin
  if p_expected is null then return null; end if;
  if v_position is null then return filestore.refused_field('expected', 'must be a cursor of this project'); end if;
  v_changed := filestore.changed_since(p_session, p_directory, coalesce((
    select v.created_at - interval '1 minute' from filestore.file_versions v
    where v.project_id = p_session.project_id and v.position <= v_position order by v.position desc limit 1),
    '-infinity'));
  if not v_changed.is_complete then
    return filestore.too_many_files((filestore.limits()).restore_examined_max + 1);
  end if;
  return (
    select filestore.refusal('PRECONDITION_FAILED', '{"expected": true}')
    from unnest(v_changed.ids) i (id)
    -- fence: rows are looked up one by one.
    cross join lateral (
      select f.version from filestore.files f where f.project_id = p_session.project_id and f.id = i.id offset 0) f
    cross join lateral (
      select v.position from filestore.file_versions v
      where v.project_id = p_session.project_id and v.file_id = i.id and v.version = f.version offset 0) v
    where v.position > v_position limit 1);
end
$$;
comment on function filestore.refused_expectation is
  'The refusal of a merge into a folder that was changed since the cursor that the client expects; '
  'otherwise null.';
call filestore.grant_execute('filestore.refused_expectation', 'filestore_engine');

create function filestore.refused_merge(p_commit jsonb, p_value jsonb, p_texts jsonb[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when cardinality(p_texts) > 0
      then filestore.refusal('TEXTS_TO_MERGE', jsonb_build_object('texts', to_jsonb(p_texts)))
    when jsonb_array_length(p_value -> 'conflicts') > 0 and not (p_commit ->> 'dryRun')::boolean
      then filestore.refusal('MERGE_CONFLICT', jsonb_build_object('conflicts', p_value -> 'conflicts'))
    when jsonb_array_length(p_value -> 'actions') > (filestore.limits()).commit_files_max
      then filestore.too_many_files(jsonb_array_length(p_value -> 'actions')) end;
end
$$;
comment on function filestore.refused_merge is
  'The refusal of a merge by its plan. TEXTS_TO_MERGE never reaches a client: the edge function merges the '
  'texts, and commits again.';
call filestore.grant_execute('filestore.refused_merge', 'filestore_engine');

create function filestore.plan_merge(p_session filestore.session, p_kind text, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  v_is_update constant boolean := p_kind = 'update_branch';
  v_found constant record := filestore.find_branch(p_session, p_commit ->> 'branch', false);
  v_branch constant filestore.branches := v_found.branch;
  v_above constant text := coalesce(nullif(v_branch.directory, '') || '/', '');
  v_inside constant text := '.branches/' || v_branch.name || '/';
  v_only constant text[] := case when p_commit ? 'paths'
    then array(select jsonb_array_elements_text(p_commit -> 'paths')) end;
  v_position constant bigint := filestore.last_position(
    p_session.project_id, 0, filestore.feed_end(p_session.project_id));
  v_touched constant record := filestore.touched_paths(p_session, v_branch, v_is_update);
  v_plan filestore.plan;
  v_path text;
  v_change filestore.branch_change;
  v_choice record;
  v_added record;
  -- Variables, since they are appended to in place; fields of the plan would be copied each time.
  v_paths text[] := '{}';
  v_steps filestore.step[] := '{}';
  v_actions jsonb[] := '{}';
  v_conflicts jsonb[] := '{}';
  v_texts jsonb[] := '{}';
  v_done jsonb[] := '{}';
  v_segments jsonb := '[]';
  v_left integer := 0;
  v_text_count integer := 0;
  v_text_bytes bigint := 0;
begin
  v_plan.refusal := coalesce(
    filestore.refused_expectation(
      p_session, case when v_is_update then rtrim(v_inside, '/') else v_branch.directory end, p_commit ->> 'expected'),
    case when not v_touched.is_complete
      then filestore.too_many_files((filestore.limits()).restore_examined_max + 1) end);
  foreach v_path in array case when v_plan.refusal is null then v_touched.paths else '{}' end loop
    v_change := filestore.compare_branch_file(v_branch, v_path);
    continue when not case when v_is_update then v_change.is_theirs_changed else v_change.is_ours_changed end;
    v_left := v_left + coalesce(v_path <> all (v_only), false)::integer;
    continue when v_path <> all (v_only);
    v_paths := v_paths || array[v_inside || v_path, v_above || v_path];
    v_choice := filestore.choose_side(p_session, v_change, v_is_update, p_commit, v_text_count, v_text_bytes);
    v_text_count := v_text_count + (v_choice.text_bytes is not null)::integer;
    v_text_bytes := v_text_bytes + coalesce(v_choice.text_bytes, 0);
    v_texts := v_texts || v_choice.texts;
    if v_choice.conflict is not null then v_conflicts := v_conflicts || v_choice.conflict; end if;
    continue when v_choice.side is null;
    v_added := filestore.merge_step(
      p_session, v_change, case when v_is_update then v_inside else v_above end, v_is_update, v_choice.side,
      v_choice.chosen);
    v_plan.refusal := coalesce(v_plan.refusal, v_added.refusal);
    v_done := v_done || jsonb_build_object(
      'path', v_path, 'isMerged', not v_is_update or v_choice.side = 'current' or v_added.is_same,
      'isOther', not v_is_update and v_choice.side <> 'branch' and not v_added.is_same);
    continue when v_added.action is null;
    v_steps := v_steps || v_added.step;
    v_actions := v_actions || v_added.action;
    if v_choice.side = 'content' then v_segments := v_segments || (v_choice.chosen -> 'segments'); end if;
  end loop;
  v_plan.paths := v_paths;
  v_plan.steps := v_steps;
  v_plan.new_paths := array(select t.path from unnest(v_steps) t);
  v_plan.value := jsonb_build_object(
    'actions', v_actions, 'conflicts', v_conflicts, 'done', v_done, 'segments', v_segments, 'left', v_left,
    'position', v_position);
  v_plan.refusal := coalesce(v_plan.refusal, filestore.refused_merge(p_commit, v_plan.value, v_texts));
  return v_plan;
end
$$;
comment on function filestore.plan_merge is
  'The plan of merging a branch into its folder, or of updating it from there: a version for each file that '
  'changed on the side that is taken. Refusals: TEXTS_TO_MERGE, MERGE_CONFLICT, TOO_MANY_FILES, '
  'PRECONDITION_FAILED, CONTENT_TOO_LARGE, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.plan_merge', 'filestore_engine');

create function filestore.enter_merge(p_session filestore.session, p_commit jsonb, p_locks boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found constant record := filestore.find_branch(p_session, p_commit ->> 'branch', p_locks);
  v_state constant text := filestore.branch_state(v_found.branch);
begin
  return case
    when v_found.refusal is not null then v_found.refusal
    when v_found.is_inside
      then filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', p_session.path_prefix))
    when v_state in ('merged', 'closed')
      then filestore.refusal('BRANCH_CLOSED', jsonb_build_object('state', v_state)) end;
end
$$;
comment on function filestore.enter_merge is
  'Opens a branch for a merge or an update, and locks it so that no file in it changes. Refusals: '
  'BRANCH_NOT_FOUND, BRANCH_CLOSED, FORBIDDEN_SCOPE for a key that is confined to it.';
call filestore.grant_execute('filestore.enter_merge', 'filestore_engine');

create function filestore.end_merge(
  p_session filestore.session, p_kind text, p_commit jsonb, p_value jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_is_merge constant boolean := p_kind = 'merge_branch';
  v_is_whole constant boolean := p_value -> 'left' = '0' and (v_is_merge or not p_commit ? 'paths');
  v_now constant timestamptz := clock_timestamp();
  v_branch filestore.branches;
  v_above text;
  v_inside text;
begin
  update filestore.branches b
  set updated_at = v_now, state = case when v_is_whole and v_is_merge then 'merged' else b.state end,
      due_at = case when not v_is_whole or not v_is_merge then b.due_at
        when not (p_commit ->> 'keep')::boolean then v_now end,
      base_time = case when v_is_merge or not v_is_whole then b.base_time end,
      base_position = case when v_is_merge or not v_is_whole then b.base_position
        else (p_value ->> 'position')::bigint end
  where b.project_id = v_project_id and b.name = p_commit ->> 'branch' returning * into v_branch;
  if v_branch.state = 'merged' then perform filestore.note_branch_event(v_branch, 'branch.merged'); end if;
  v_above := coalesce(nullif(v_branch.directory, '') || '/', '');
  v_inside := '.branches/' || v_branch.name || '/';
  insert into filestore.branch_files as b (
    project_id, file_id, branch, base_file_id, base_version, merged_version, base_is_merged)
  select v_project_id, o.id, v_branch.name, t.id, coalesce(t.version, 0),
         case when (d.value ->> 'isMerged')::boolean then o.version end, (d.value ->> 'isOther')::boolean
  from jsonb_array_elements(p_value -> 'done') d
  -- fence, here and below: files are looked up one by one.
  cross join lateral (
    select f.id, f.version from filestore.files f
    where f.project_id = v_project_id and f.path = v_inside || (d.value ->> 'path') offset 0
  ) o
  left join lateral (
    select f.id, f.version from filestore.files f
    where f.project_id = v_project_id and f.path = v_above || (d.value ->> 'path') offset 0
  ) t on true
  on conflict (project_id, file_id) do update
    set base_file_id = excluded.base_file_id, base_version = excluded.base_version,
        merged_version = excluded.merged_version, base_is_merged = excluded.base_is_merged;
  return jsonb_build_object(
    'runId', p_commit #> '{provenance,runId}', 'conflicts', '[]'::jsonb, 'isEnded', v_branch.state = 'merged',
    'actions', (
      select coalesce(jsonb_agg(a.value || jsonb_build_object('version', f.version) order by a.place), '[]')
      from jsonb_array_elements(p_value -> 'actions') with ordinality a (value, place)
      cross join lateral (
        select o.version from filestore.files o
        where o.project_id = v_project_id
          and o.path = case when v_is_merge then v_above else v_inside end || (a.value ->> 'path') offset 0
      ) f));
end
$$;
comment on function filestore.end_merge is
  'Moves the bases of the files that a merge or an update has concerned, ends the branch once nothing is '
  'left to merge, and returns the answer.';
call filestore.grant_execute('filestore.end_merge', 'filestore_engine');
call filestore.pin_plan('filestore.end_merge');
-- 47_plans.sql =======================================================================================================
-- Plans of all kinds: computed for a dry run, or computed again under locks and applied.

create function filestore.plan_of(p_session filestore.session, p_kind text, p_commit jsonb) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
begin
  return case
    when p_kind = 'undo' then filestore.plan_undo(p_session, p_commit)
    when p_kind = 'restore_folder' then filestore.plan_restore(p_session, p_commit)
    when p_kind in ('merge_branch', 'update_branch') then filestore.plan_merge(p_session, p_kind, p_commit)
    else filestore.plan_folder(p_session, p_kind, p_commit) end;
end
$$;
comment on function filestore.plan_of is
  'The plan of a commit of several files for the present state of the project.';
call filestore.grant_execute('filestore.plan_of', 'filestore_engine');

create function filestore.locked_plan(
  p_session filestore.session, p_kind text, p_commit jsonb
) returns filestore.plan
language plpgsql volatile set search_path = '' as $$
declare
  -- An answer is stored for 24 hours, so its length counts, too. A write of one file stores up to the same
  -- length.
  c_answer_bytes_per_file constant integer := 1600;
  c_tries constant integer := 5;
  v_plan filestore.plan;
  v_again filestore.plan;
  v_remaining integer;
  v_locked record;
begin
  for v_try in 1 .. c_tries loop
    v_plan := filestore.plan_of(p_session, p_kind, p_commit);
    if v_plan.refusal is not null then return v_plan; end if;
    if v_try = 1 then
      -- A moved file counts as one file, although it has two steps.
      v_remaining := filestore.count_files(p_session, greatest(
        coalesce(nullif(cardinality(v_plan.new_paths), 0), cardinality(v_plan.steps), 0),
        octet_length(v_plan.value::text) / c_answer_bytes_per_file));
    end if;
    begin
      v_locked := filestore.lock_paths(p_session.project_id, v_plan.paths, v_plan.new_paths);
      v_again := filestore.plan_of(p_session, p_kind, p_commit);
      v_again.remaining := v_remaining;
      v_again.committed_at := v_locked.committed_at;
      if v_again.refusal is not null or v_again.paths = v_plan.paths
        or not exists (select unnest(v_again.paths) except select unnest(v_plan.paths)) then
        return v_again;
      end if;
      -- Other commits have added files in the meantime. These could only be locked out of order.
      raise sqlstate 'FS002';
    exception when sqlstate 'FS002' then
      null;
    end;
  end loop;
  v_plan.refusal := filestore.refusal('VERSION_CONFLICT');
  return v_plan;
end
$$;
comment on function filestore.locked_plan is
  'The plan with the files that it depends on locked, so that it holds until the transaction ends. Counts '
  'the request by its files, or by the length of its answer. A refusal may leave paths reserved: the caller '
  'rolls it back.';
call filestore.grant_execute('filestore.locked_plan', 'filestore_engine');

create function filestore.commit_planned(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_is_merge constant boolean := p_kind in ('merge_branch', 'update_branch');
  v_operation constant text := case when v_is_merge then 'merge' else replace(p_kind, '_folder', '') end;
  v_commit jsonb;
  v_plan filestore.plan;
  v_step filestore.step;
  v_file filestore.files;
  v_applied filestore.applied;
  v_added record;
  v_cost bigint := 0;
  v_is_deletion boolean := true;
  v_answer jsonb;
begin
  v_plan := filestore.locked_plan(p_session, p_kind, p_commit);
  if v_plan.refusal is not null then return v_plan.refusal; end if;
  v_commit := p_commit || jsonb_build_object('committedAt', v_plan.committed_at);
  v_added := filestore.add_segments(p_session.project_id, v_plan.value -> 'segments');
  foreach v_step in array v_plan.steps loop
    select * into v_file from filestore.files f
    where f.project_id = p_session.project_id and f.path = v_step.path;
    v_applied := filestore.put_version(p_session, v_file, v_step.path, v_step.next, v_operation, v_commit);
    v_cost := v_cost + v_applied.cost;
    v_is_deletion := v_is_deletion and (v_step.next).is_deleted;
  end loop;
  if cardinality(v_plan.steps) > 0 then
    v_plan.refusal := filestore.end_commit(
      p_session, p_commit, v_added.bytes, v_cost + v_added.database_bytes, cardinality(v_plan.steps), v_is_deletion);
    if v_plan.refusal is not null then return v_plan.refusal; end if;
  end if;
  if v_is_merge then
    v_answer := filestore.end_merge(p_session, p_kind, p_commit, v_plan.value);
  elsif p_kind in ('undo', 'restore_folder') then
    -- The new version of each file has the number after the current one.
    v_answer := v_plan.value || jsonb_build_object('runId', p_commit #> '{provenance,runId}', 'actions', (
      select coalesce(jsonb_agg(a.value || jsonb_build_object('version', (a.value ->> 'from')::integer + 1)
        order by a.position), '[]')
      from jsonb_array_elements(v_plan.value -> 'actions') with ordinality a (value, position)));
  else
    -- Without the tombstones of a move; the same for each repetition of the request.
    select jsonb_build_object('count', count(*), 'files', coalesce(
      jsonb_agg(jsonb_build_object('path', f.path, 'version', v.version) order by f.path), '[]'))
      || coalesce(v_plan.value, '{}')
    into v_answer
    from filestore.file_versions v
    join filestore.files f on f.project_id = v.project_id and f.id = v.file_id
    where v.project_id = p_session.project_id and v.commit_id = (p_commit ->> 'commitId')::uuid
      and v.is_deleted = (p_kind = 'delete_folder');
  end if;
  return jsonb_build_object('value', jsonb_build_object('remaining', v_plan.remaining, 'file', v_answer));
end
$$;
comment on function filestore.commit_planned is
  'Commits several files by a plan, under locks; p_kind: copy_folder, move_folder, delete_folder, undo, '
  'restore_folder, merge_branch, update_branch. A refusal may leave versions: the caller rolls them back.';
call filestore.grant_execute('filestore.commit_planned', 'filestore_engine');

create function public.filestore_plan(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'write', p_place => filestore.branch_place(p_commit));
  v_plan filestore.plan;
  v_remaining integer;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_plan.refusal := case
    when p_kind in ('merge_branch', 'update_branch') then filestore.enter_merge(v_session, p_commit, false)
    when filestore.sees_branches() then filestore.enter_branches(v_session, p_kind, p_commit) end;
  if v_plan.refusal is null then v_plan := filestore.plan_of(v_session, p_kind, p_commit); end if;
  begin
    -- A merge depends on two files at each path.
    v_remaining := filestore.count_files(v_session, least(
      coalesce(cardinality(v_plan.paths) / (1 + (p_kind ~ '_branch$')::integer), 1),
      (filestore.limits()).plan_requests_max * (filestore.limits()).operations_per_request));
    v_session.envelope := jsonb_set(
      v_session.envelope, '{rate,remaining}', coalesce(to_jsonb(v_remaining), 'null'));
  exception when sqlstate 'FS004' then
    v_plan.refusal := filestore.refusal('RATE_LIMIT_EXCEEDED');
  end;
  -- It changes nothing, so it does not wait for the disk.
  perform set_config('synchronous_commit', 'off', true);
  return v_session.envelope || coalesce(
    v_plan.refusal, jsonb_build_object(
      'value', v_plan.value - '{done,segments,left,position}'::text[] || '{"runId": null}'));
end
$$;
comment on function public.filestore_plan is
  'The plan of an undo, a restore, a merge or an update; locks no file. p_kind: undo, restore_folder, merge_branch, '
  'update_branch. Counts as one request for '
  'each ten files that it returns, or examined before it was refused, up to plan_requests_max; as one, with '
  'RATE_LIMIT_EXCEEDED, where fewer are left. Refusals: those of `plan_undo`, `plan_restore` and '
  '`plan_merge`.';
call filestore.publish('public.filestore_plan', 'filestore_engine', 'service_role');
-- 48_erasure.sql =====================================================================================================
-- Erasure: makes versions unreadable for good, and finds the segments that no readable version needs any more.
--
-- The segments of a version are from its own commit, from earlier versions of its file or, by a copy or move,
-- from another file. The last case is recorded in `shared_segments` under the locks of both files. So under a
-- file's lock, its own versions and that table are enough to find most dead segments; a pass over all
-- versions of the project finds the others. No dead segment is used again: a commit takes segments from its
-- own upload, or from a version or a list that is readable under the same locks. The engine may read the
-- rows; functions that run as `filestore_admin` erase them. See decision 0009.

create function filestore.mark_segments_dead(
  p_project_id uuid, p_segment_ids uuid[], out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
begin
  with dead as (
    insert into filestore.dead_segments (segment_id, project_id, stored_on)
    select s.id, s.project_id, s.stored_on from unnest(p_segment_ids) i (id)
    -- fence, here and below: rows are looked up one by one.
    cross join lateral (
      select * from filestore.segments o where o.id = i.id and o.project_id = p_project_id offset 0) s
    on conflict do nothing
    returning segment_id
  )
  select coalesce(sum(s.size), 0), count(*) * (filestore.limits()).tariff_segment_bytes into bytes, database_bytes
  from dead d cross join lateral (select * from filestore.segments o where o.id = d.segment_id offset 0) s;
  delete from filestore.shared_segments h where h.project_id = p_project_id and h.segment_id = any (p_segment_ids);
  delete from filestore.possibly_unreferenced_segments c
  where c.project_id = p_project_id and c.segment_id = any (p_segment_ids);
end
$$;
comment on function filestore.mark_segments_dead is
  'Marks segments that no readable version or list contains as dead; the sweep removes their objects. '
  'Returns their bytes.';
call filestore.grant_execute('filestore.mark_segments_dead', 'filestore_admin');

create function filestore.examine_segments(p_project_id uuid, p_file_id uuid, p_segment_ids uuid[]) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- The current pass may have read the version before it was erased, so the next pass examines these
  -- segments. They are due since now, since until now a version contained them. In order of ids, so that a
  -- pass and an erasure do not wait for each other.
  insert into filestore.possibly_unreferenced_segments (project_id, file_id, segment_id, due_since)
  select p_project_id, p_file_id, s.id, filestore.due_since() from unnest(p_segment_ids) s (id) order by s.id
  on conflict (project_id, file_id, segment_id) do update
    set is_examined = false, is_referenced = false, due_since = excluded.due_since;
end
$$;
comment on function filestore.examine_segments is
  'Has the sweep find out whether any version or list contains these distinct segments, which an erasure '
  'took from a file.';
call filestore.grant_execute('filestore.examine_segments', 'filestore_admin');

create function filestore.release_segments(
  p_project_id uuid, p_file_id uuid, p_segment_ids uuid[], out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  v_shared uuid[];
begin
  delete from filestore.shared_segments h
  where h.project_id = p_project_id and h.segment_id = any (p_segment_ids) and h.file_id = p_file_id;
  -- If two files lose a segment at the same time, each erasure still sees the segment in the other file.
  v_shared := array(
    select i.id from unnest(p_segment_ids) i (id)
    where exists (
      select from filestore.shared_segments h where h.project_id = p_project_id and h.segment_id = i.id));
  perform filestore.examine_segments(p_project_id, p_file_id, v_shared);
  select m.* into bytes, database_bytes from filestore.mark_segments_dead(p_project_id, array(
    select i.id from unnest(p_segment_ids) i (id) except select h.id from unnest(v_shared) h (id))) m;
end
$$;
comment on function filestore.release_segments is
  'Takes distinct segments that are no longer in a readable version of a file, nor in its current list. '
  'Those that no other file has used are dead. Returns their bytes.';
call filestore.grant_execute('filestore.release_segments', 'filestore_admin');

create function filestore.take_compacted(p_file filestore.files, p_limit integer) returns uuid[]
language sql volatile set search_path = '' as $$
  with taken as (
    delete from filestore.possibly_unreferenced_segments c
    -- An array, since otherwise each segment may be compared with every other one.
    where c.project_id = (p_file).project_id and c.file_id = (p_file).id and c.segment_id = any (array(
      select o.segment_id from filestore.possibly_unreferenced_segments o
      where o.project_id = (p_file).project_id and o.file_id = (p_file).id
        and o.segment_id <> all ((p_file).segment_ids)
      order by o.segment_id limit p_limit))
    returning c.segment_id
  )
  select coalesce(array_agg(t.segment_id), '{}') from taken t
$$;
comment on function filestore.take_compacted is
  'Removes from the possibly unreferenced segments those that were in the list of a locked file and no '
  'longer are, up to p_limit, and returns them.';
call filestore.grant_execute('filestore.take_compacted', 'filestore_admin');

create function filestore.remove_versions(
  p_project_id uuid, p_file_id uuid, p_last integer, p_versions_max integer,
  out versions bigint, out database_bytes bigint, out segment_ids uuid[]
)
language plpgsql volatile set search_path = '' as $$
declare
  -- The number of segments in the lists of the versions that are removed together.
  c_listed_max constant integer := 1500000;
  v_through integer;
begin
  -- At least one version, whatever the length of its list.
  select coalesce(max(l.version) filter (where l.listed <= c_listed_max),
    min(l.version))
  into v_through
  from (
    select v.version, sum(cardinality(v.segment_ids)) over (order by v.version) as listed
    from (
      select o.* from filestore.file_versions o
      where o.project_id = p_project_id and o.file_id = p_file_id and o.version <= p_last
        and o.operation <> 'purge'
      order by o.version limit p_versions_max
    ) v
  ) l;
  with removed as materialized (
    delete from filestore.file_versions v
    where v.project_id = p_project_id and v.file_id = p_file_id and v.version <= v_through and v.operation <> 'purge'
    returning v as version_row
  )
  select count(*), coalesce(sum(filestore.version_cost(r.version_row)), 0),
         array(select distinct s.id from removed o cross join unnest((o.version_row).segment_ids) s (id))
  into versions, database_bytes, segment_ids from removed r;
end
$$;
comment on function filestore.remove_versions is
  'Removes the first versions of a file, up to a given version and up to p_versions_max of them. Returns the '
  'bytes that their rows count as, and their segments.';
call filestore.grant_execute('filestore.remove_versions', 'filestore_admin');

create function filestore.blank_answers(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  -- The commit of an answer locked the files that it names, so each answer that names the erased content is
  -- visible here.
  update filestore.projects p
  set answers_blank_through = greatest(p.answers_blank_through, i.created_at),
      answers_blank_since = coalesce(p.answers_blank_since, filestore.due_since())
  from (
    select o.created_at from filestore.idempotency_keys o
    where o.project_id = p_project_id and o.names is not null order by o.created_at desc limit 1
  ) i
  where p.id = p_project_id;
end
$$;
comment on function filestore.blank_answers is
  'Blanks the answers that a project has stored for repeated requests: from now on they are returned without '
  'names and quotes, which the sweep removes from the rows.';
call filestore.grant_execute('filestore.blank_answers', 'filestore_admin');

create function filestore.purge_file(
  p_file filestore.files, p_commit_id uuid, p_key_id uuid default null, p_account_id uuid default null,
  p_actor text default null
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id constant uuid := (p_file).project_id;
  v_file_id constant uuid := (p_file).id;
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = v_project_id);
  v_now constant timestamptz := greatest(date_trunc('milliseconds', clock_timestamp()), (p_file).updated_at);
  v_names constant text[] := string_to_array((p_file).path, '/');
  v_removed record;
  v_segment_ids uuid[];
  v_released record;
  v_purged filestore.files;
  v_receipt filestore.file_versions;
  v_versions bigint;
  v_pending bigint;
begin
  v_versions := (p_file).version + 1 - (
    select min(v.version) from filestore.file_versions v where v.project_id = v_project_id and v.file_id = v_file_id);
  v_removed := filestore.remove_versions(
    v_project_id, v_file_id, (p_file).version, (filestore.limits()).erased_versions_max);
  v_segment_ids := array(
    select unnest(v_removed.segment_ids) union select unnest((p_file).segment_ids)
    union select unnest(filestore.take_compacted(p_file, (filestore.limits()).erased_versions_max)));
  v_released := filestore.release_segments(v_project_id, v_file_id, v_segment_ids);
  -- One of the versions that were too many is enough for a pass to become due.
  update filestore.possibly_unreferenced_segments c set due_since = coalesce(c.due_since, filestore.due_since())
  where c.project_id = v_project_id and c.file_id = v_file_id and c.segment_id = (
    select o.segment_id from filestore.possibly_unreferenced_segments o
    where o.project_id = v_project_id and o.file_id = v_file_id order by o.segment_id limit 1);
  v_pending := v_versions - v_removed.versions;
  -- From here on the file has no path: readers do not see it, and a file created at its former path is a new
  -- one.
  update filestore.files f
  set path = null, version = f.version + 1, mime_type = 'application/octet-stream', size = 0, is_deleted = true,
      is_text = true, segment_ids = '{}', created_at = v_now, updated_at = v_now
  where f.project_id = v_project_id and f.id = v_file_id returning * into v_purged;
  insert into filestore.file_versions (
    project_id, file_id, version, mime_type, size, is_deleted, segment_ids, commit_id, position, operation, key_id,
    account_id, actor, created_at)
  values (
    v_project_id, v_file_id, (p_file).version + 1, 'application/octet-stream', 0, true, '{}', p_commit_id,
    filestore.next_position(v_project_id), 'purge',
    coalesce(p_key_id, '00000000-0000-0000-0000-000000000000'), p_account_id, p_actor, v_now)
  returning * into v_receipt;
  insert into filestore.purged_files (
    project_id, file_id, path_hash, place_hashes, versions, bytes, pending_versions, first_pending_versions,
    is_in_branch, purged_at)
  values (
    v_project_id, v_file_id, filestore.place_hash(v_cursor_key, v_file_id, (p_file).path),
    array(
      select filestore.place_hash(v_cursor_key, v_file_id, array_to_string(v_names[1:n], '/'))
      from generate_series(1, cardinality(v_names) - 1) n),
    v_versions, v_released.bytes, v_pending, v_pending, starts_with((p_file).path, '.branches/'), v_now);
  delete from filestore.branch_files b where b.project_id = v_project_id and b.file_id = v_file_id;
  -- After the path: an isolate that was storing the text has finished, or will find no path.
  delete from filestore.search_queue q where q.project_id = v_project_id and q.file_id = v_file_id;
  delete from filestore.search_texts t where t.project_id = v_project_id and t.file_id = v_file_id;
  perform filestore.blank_answers(v_project_id);
  -- The row of the file and the receipt remain.
  perform filestore.add_usage(
    v_project_id, -v_released.bytes,
    filestore.file_cost(v_purged) - filestore.file_cost(p_file) + filestore.version_cost(v_receipt)
      - v_removed.database_bytes - v_released.database_bytes,
    1 - v_removed.versions);
end
$$;
comment on function filestore.purge_file is
  'Erases a locked file: every version becomes unreadable. The first versions and their segments are removed '
  'at once, the others in slices. One receipt takes their place in the change feed.';
call filestore.publish('filestore.purge_file', 'filestore_admin', 'filestore_engine');

create function filestore.lock_to_erase(p_project_id uuid, p_path text) returns filestore.files
language plpgsql volatile set search_path = '' as $$
declare
  v_file filestore.files;
begin
  select * into v_file from filestore.files f where f.project_id = p_project_id and f.path = p_path for update;
  return v_file;
end
$$;
comment on function filestore.lock_to_erase is
  'As lock_file, and waits for the slice that copies the file to a branch, which locks its sources `for key share` so '
  'that it delays no writer.';
call filestore.grant_execute('filestore.lock_to_erase', 'filestore_engine');

create function filestore.commit_purge(p_session filestore.session, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_commit_id constant uuid := p_commit ->> 'commitId';
  v_path constant text := p_commit ->> 'path';
  v_file filestore.files;
  v_refusal jsonb;
  v_setting text;
begin
  -- Links before the file, the order in which a write through a link locks them.
  delete from filestore.links l where l.project_id = p_session.project_id and l.path = v_path;
  v_file := filestore.lock_to_erase(p_session.project_id, v_path);
  if not exists (
    select from filestore.file_versions v
    where v.project_id = p_session.project_id and v.commit_id = v_commit_id and v.operation = 'purge') then
    v_refusal := case when coalesce(v_file.version, 0) = 0 then filestore.refusal('FILE_NOT_FOUND')
      else filestore.failed_precondition(v_file, p_commit) end;
    if v_refusal is not null then return v_refusal; end if;
    perform filestore.purge_file(
      v_file, v_commit_id, p_session.key_id, p_session.person_id, p_commit #>> '{provenance,actor}');
  end if;
  v_setting := set_config('filestore.branches', 'on', true);
  return (
    select jsonb_build_object('value', jsonb_build_object('file', jsonb_build_object(
      'versions', g.versions, 'bytes', g.bytes, 'pendingVersions', g.first_pending_versions)
      || (
        select case when count(*) > 0 then jsonb_build_object('copies', jsonb_agg(c.path order by c.path)) else '{}' end
        from (
          select f.path from filestore.branch_files b
          join filestore.files f on f.project_id = b.project_id and f.id = b.file_id
          where b.project_id = g.project_id and b.base_file_id = g.file_id
          order by f.path limit (filestore.limits()).conflicting_paths_shown_max
        ) c)))
    from filestore.file_versions v
    join filestore.purged_files g on g.project_id = v.project_id and g.file_id = v.file_id
    where v.project_id = p_session.project_id and v.commit_id = v_commit_id and v.operation = 'purge');
end
$$;
comment on function filestore.commit_purge is
  'Purges the file at a path, deleted or not; its answer, stored or repeated, does not contain the path, but names '
  'files of branches that were copied from it.';
call filestore.grant_execute('filestore.commit_purge', 'filestore_engine');

create function filestore.mark_unneeded_segments(
  p_file filestore.files, p_segment_ids uuid[], p_versions_max integer,
  out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := (p_file).project_id;
  v_file_id constant uuid := (p_file).id;
  v_segment_ids uuid[];
begin
  bytes := 0;
  database_bytes := 0;
  if (
    select count(*) from (
      select from filestore.file_versions v
      where v.project_id = v_project_id and v.file_id = v_file_id limit p_versions_max + 1
    ) v
  ) > p_versions_max then
    perform filestore.examine_segments(v_project_id, v_file_id, p_segment_ids);
    return;
  end if;
  v_segment_ids := array(
    (select unnest(p_segment_ids) union select unnest(filestore.take_compacted(p_file, p_versions_max)))
    except select unnest((p_file).segment_ids)
    except select s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
      where v.project_id = v_project_id and v.file_id = v_file_id);
  select r.* into bytes, database_bytes from filestore.release_segments(v_project_id, v_file_id, v_segment_ids) r;
end
$$;
comment on function filestore.mark_unneeded_segments is
  'Finds the dead segments of erased versions of a locked file: those that neither its other versions nor '
  'its list contain. Where it has more versions than may be examined, the sweep finds out.';
call filestore.grant_execute('filestore.mark_unneeded_segments', 'filestore_admin');

create function filestore.redact_versions(p_file filestore.files, p_versions integer[], p_note text) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id constant uuid := (p_file).project_id;
  v_file_id constant uuid := (p_file).id;
  v_segment_ids uuid[];
  v_change bigint;
  v_marked record;
begin
  with redacted as (
    update filestore.file_versions v
    set segment_ids = '{}', note = p_note, redacted_at = clock_timestamp(), redacted_segment_ids = v.segment_ids
    from filestore.file_versions o
    where v.project_id = v_project_id and v.file_id = v_file_id and v.version = any (p_versions)
      and v.redacted_at is null and o.project_id = v_project_id and o.file_id = v_file_id
      and o.version = any (p_versions) and o.version = v.version
    returning v as new_row, o as old_row
  )
  select sum(filestore.version_cost(r.new_row) - filestore.version_cost(r.old_row)),
         array(select distinct s.id from redacted d cross join unnest((d.old_row).segment_ids) s (id))
  into v_change, v_segment_ids from redacted r;
  delete from filestore.search_texts t
  where t.project_id = v_project_id and t.file_id = v_file_id and t.version = any (p_versions);
  v_marked := filestore.mark_unneeded_segments(p_file, v_segment_ids, (filestore.limits()).erased_versions_max);
  perform filestore.blank_answers(v_project_id);
  perform filestore.add_usage(
    v_project_id, -v_marked.bytes, coalesce(v_change, 0) - v_marked.database_bytes, 0);
end
$$;
comment on function filestore.redact_versions is
  'Erases the content of versions of a locked file, none of them the current one, and replaces their notes.';
call filestore.publish('filestore.redact_versions', 'filestore_admin', 'filestore_engine');

create function filestore.sharing_versions(p_session filestore.session, p_file filestore.files, p_segment_ids uuid[])
returns jsonb
language sql volatile set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('path', r.path, 'version', r.version)), '[]')
  from (
    select f.path, v.version
    from (
      select (p_file).id as file_id
      union all
      select o.file_id from (
        select distinct h.file_id from unnest(p_segment_ids) s (id)
        -- fence, here and below: rows are looked up one by one.
        cross join lateral (
          select * from filestore.shared_segments g
          where g.project_id = p_session.project_id and g.segment_id = s.id and g.file_id <> (p_file).id offset 0) h
        limit (filestore.limits()).redact_remaining_max
      ) o
    ) i
    -- Files that the key does not see are not named.
    cross join lateral (
      select o.path from filestore.files o where o.project_id = p_session.project_id and o.id = i.file_id offset 0
    ) f
    -- Of each file, the latest 2,000 versions are examined.
    cross join lateral (
      select n.version from (
        select o.version, o.segment_ids from filestore.file_versions o
        where o.project_id = p_session.project_id and o.file_id = i.file_id
        order by o.version desc limit 2000
      ) n
      where exists (
        select from unnest(n.segment_ids) s (id) where s.id in (select p.id from unnest(p_segment_ids) p (id)))
      order by n.version desc limit (filestore.limits()).redact_remaining_max
    ) v
    limit (filestore.limits()).redact_remaining_max
  ) r
$$;
comment on function filestore.sharing_versions is
  'Some versions that contain one of these segments: of this file and of other files that the key sees, '
  'among the latest versions of each.';
call filestore.grant_execute('filestore.sharing_versions', 'filestore_engine');
call filestore.pin_plan('filestore.sharing_versions');

create function public.filestore_redact(
  p_key_hash text, p_request_id uuid, p_path text, p_versions integer[], p_note text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'admin', p_place => p_path);
  v_file filestore.files;
  v_version filestore.file_versions;
  v_number integer;
  v_segment_ids uuid[];
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  -- Links before the file, the order in which a read through a link locks them.
  perform from filestore.links l
  where l.project_id = v_session.project_id and l.path = p_path and l.version = any (p_versions)
  order by l.id for update;
  v_file := filestore.lock_to_erase(v_session.project_id, p_path);
  if coalesce(v_file.version, 0) = 0 then return v_session.envelope || filestore.refusal('FILE_NOT_FOUND'); end if;
  foreach v_number in array p_versions loop
    select * into v_version from filestore.file_versions v
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = v_number;
    if v_version.version is null then
      return v_session.envelope || filestore.unreadable_version(v_file, v_number, v_version);
    elsif v_number = v_file.version and filestore.is_live(v_file) then
      return v_session.envelope || filestore.refusal('VERSION_CURRENT', jsonb_build_object('version', v_number));
    end if;
  end loop;
  v_segment_ids := array(
    select distinct s.id from filestore.file_versions v
    cross join unnest(coalesce(v.redacted_segment_ids, v.segment_ids)) s (id)
    where v.project_id = v_session.project_id and v.file_id = v_file.id and v.version = any (p_versions));
  delete from filestore.links l
  where l.project_id = v_session.project_id and l.path = p_path and l.version = any (p_versions);
  perform filestore.redact_versions(v_file, p_versions, p_note);
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'versions', (select jsonb_agg(n order by n) from (select distinct unnest(p_versions) as n) d),
    'remaining', filestore.sharing_versions(v_session, v_file, v_segment_ids)));
end
$$;
comment on function public.filestore_redact is
  'Erases the content of versions, except the current one of a file that is not deleted, for a key with the '
  'scope admin, or the owner. A repeated request has the same result, but for the list of versions that '
  'still contain a part of the content. Refusals: FILE_NOT_FOUND, VERSION_NOT_FOUND, VERSION_CURRENT.';
call filestore.publish('public.filestore_redact', 'filestore_engine', 'service_role');

create function filestore.sweep_purged_versions(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_slice_versions constant integer := 2000;
  v_purged filestore.purged_files;
  v_removed record;
  v_released record;
begin
  select * into v_purged from filestore.purged_files g
  where g.project_id = p_project_id and g.pending_versions > 0
  order by g.due_since limit 1 for update skip locked;
  if not found then return; end if;
  perform set_config('filestore.due_since', v_purged.due_since::text, true);
  v_removed := filestore.remove_versions(
    v_purged.project_id, v_purged.file_id, 2147483647, c_slice_versions);
  v_released := filestore.release_segments(v_purged.project_id, v_purged.file_id, v_removed.segment_ids);
  update filestore.purged_files g
  set pending_versions = case when v_removed.versions = 0 then 0 else g.pending_versions - v_removed.versions end
  where g.project_id = v_purged.project_id and g.file_id = v_purged.file_id;
  perform filestore.add_usage(
    v_purged.project_id, -v_released.bytes, -v_removed.database_bytes - v_released.database_bytes,
    -v_removed.versions);
end
$$;
comment on function filestore.sweep_purged_versions is
  'Removes versions of a project''s purged file that were too many for the commit of the purge.';
call filestore.grant_execute('filestore.sweep_purged_versions', 'filestore_admin');

create function filestore.sweep_answers(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_most constant integer := 5000;
  v_through timestamptz;
begin
  select p.answers_blank_through into v_through from filestore.projects p
  where p.id = p_project_id for no key update skip locked;
  if v_through is null then return; end if;
  update filestore.idempotency_keys i set names = null
  where i.project_id = p_project_id and (i.caller_id, i.key) in (
    select o.caller_id, o.key from filestore.idempotency_keys o
    where o.project_id = p_project_id and o.names is not null and o.created_at <= v_through
    order by o.created_at limit c_most for update skip locked);
  -- Rows that a request has locked are left for the next slice.
  if not exists (
    select from filestore.idempotency_keys o
    where o.project_id = p_project_id and o.names is not null and o.created_at <= v_through
  ) then
    update filestore.projects p set (answers_blank_through, answers_blank_since) = (null, null)
    where p.id = p_project_id;
  end if;
end
$$;
comment on function filestore.sweep_answers is
  'Removes the names and quotes from the blanked answers of a project.';
call filestore.grant_execute('filestore.sweep_answers', 'filestore_admin');

create function filestore.mark_examined_segments(p_project_id uuid, p_position bigint) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_most constant integer := 5000;
  v_dead uuid[];
  v_due_since timestamptz;
  v_released record;
begin
  -- One statement: a segment that one version takes over from another is in at least one of them at any
  -- moment.
  with newer as materialized (
    select distinct s.id from filestore.file_versions v cross join unnest(v.segment_ids) s (id)
    where v.project_id = p_project_id and v.position > p_position
  ), examined as materialized (
    select c.file_id, c.segment_id, c.due_since,
           c.is_referenced or c.segment_id in (select n.id from newer n) as is_referenced,
           exists (
             select from filestore.files f
             where f.project_id = p_project_id and f.id = c.file_id and c.segment_id = any (f.segment_ids)) as is_listed
    from filestore.possibly_unreferenced_segments c
    where c.project_id = p_project_id and c.is_examined order by c.segment_id limit c_most
  ), kept as (
    -- Segments that an erasure has recorded again in the meantime are skipped, here and below; the next pass
    -- examines them.
    update filestore.possibly_unreferenced_segments c
    set is_examined = false, is_referenced = false, due_since = null
    from examined e
    where c.project_id = p_project_id and c.file_id = e.file_id and c.segment_id = e.segment_id and c.is_examined
      and e.is_listed
  ), removed as (
    delete from filestore.possibly_unreferenced_segments c using examined e
    where c.project_id = p_project_id and c.file_id = e.file_id and c.segment_id = e.segment_id and c.is_examined
      and not e.is_listed
  )
  select array_agg(distinct e.segment_id), min(e.due_since) into v_dead, v_due_since from examined e
  where not e.is_referenced and not exists (
    select from filestore.possibly_unreferenced_segments o
    join filestore.files f on f.project_id = o.project_id and f.id = o.file_id
    where o.project_id = p_project_id and o.segment_id = e.segment_id and o.segment_id = any (f.segment_ids));
  if v_dead is null then return; end if;
  perform set_config('filestore.due_since', v_due_since::text, true);
  v_released := filestore.mark_segments_dead(p_project_id, v_dead);
  perform filestore.add_usage(p_project_id, -v_released.bytes, -v_released.database_bytes, 0);
end
$$;
comment on function filestore.mark_examined_segments is
  'Processes some of the segments of a pass, once it has read all versions up to a position: those in no '
  'version and in no list are dead, and those in a list wait for another pass.';
call filestore.grant_execute('filestore.mark_examined_segments', 'filestore_admin');

create function filestore.sweep_marks(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_noted constant integer := 10000;
  c_versions constant integer := 2000;
  v_through bigint;
  v_end bigint;
  v_count integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('marks/' || p_project_id, 0)) then return; end if;
  v_through := (select s.marked_through from filestore.sweeps s where s.project_id = p_project_id);
  if v_through is null then
    -- A pass begins once all segments that it examines are marked.
    update filestore.possibly_unreferenced_segments c
    set is_examined = true, is_referenced = false, due_since = coalesce(c.due_since, (
      select d.due_since from filestore.possibly_unreferenced_segments d
      where d.project_id = p_project_id and d.due_since is not null order by d.due_since limit 1))
    from (
      select o.file_id, o.segment_id from filestore.possibly_unreferenced_segments o
      where o.project_id = p_project_id and not o.is_examined order by o.segment_id limit c_noted
    ) n
    where c.project_id = p_project_id and c.file_id = n.file_id and c.segment_id = n.segment_id;
    get diagnostics v_count = row_count;
    if v_count = c_noted then return; end if;
    v_through := 0;
  end if;
  v_end := filestore.feed_end(p_project_id);
  with looked_at as materialized (
    select v.position, v.segment_ids from filestore.file_versions v
    where v.project_id = p_project_id and v.position > v_through and v.position <= v_end
    order by v.position limit c_versions
  ), referenced as (
    update filestore.possibly_unreferenced_segments c set is_referenced = true
    where c.project_id = p_project_id and c.is_examined and not c.is_referenced and c.segment_id = any (array(
      select distinct s.id from looked_at l cross join unnest(l.segment_ids) s (id)))
  )
  select count(*), coalesce(max(l.position), v_through) into v_count, v_through from looked_at l;
  if v_count < c_versions then
    perform filestore.mark_examined_segments(p_project_id, v_through);
    if not exists (
      select from filestore.possibly_unreferenced_segments c where c.project_id = p_project_id and c.is_examined
    ) then
      v_through := null;
    end if;
  end if;
  insert into filestore.sweeps as s (project_id, marked_through) values (p_project_id, v_through)
  on conflict (project_id) do update set marked_through = excluded.marked_through;
end
$$;
comment on function filestore.sweep_marks is
  'One slice of a pass over all versions of a project, in the order of their positions, for segments that may be '
  'unreferenced.';
call filestore.grant_execute('filestore.sweep_marks', 'filestore_admin');
-- 49_commit.sql ======================================================================================================
-- The entry of every commit: repeated requests, the kind of the commit, and refusals that change nothing.

create function filestore.commit_or_refuse(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_result jsonb;
begin
  v_result := case
    when p_kind in ('merge_branch', 'update_branch') then filestore.enter_merge(p_session, p_commit, true)
    when filestore.sees_branches() then filestore.enter_branches(p_session, p_kind, p_commit) end;
  if v_result is not null then return v_result; end if;
  if p_session.max_project_bytes is null and p_kind in (
    'write', 'overwrite', 'append', 'edit', 'delete', 'restore') then
    return filestore.commit_version(p_session, p_kind, p_commit);
  end if;
  -- The cost of a commit is known once its versions are added, so if the quota has no room, they are rolled
  -- back to here.
  begin
    case p_kind
      when 'copy', 'move' then
        v_result := filestore.commit_batch(p_session, p_commit || jsonb_build_object(
          'operations', jsonb_build_array(p_commit || jsonb_build_object('kind', p_kind))));
        v_result := case when v_result ? 'refusal' then v_result #- '{refusal,details,index}'
          else jsonb_set(v_result, '{value,file}', coalesce(
            v_result #> '{value,file,results,0}', v_result #> '{value,file}')) end;
      when 'batch' then v_result := filestore.commit_batch(p_session, p_commit);
      when 'copy_folder', 'move_folder', 'delete_folder', 'undo', 'restore_folder', 'merge_branch', 'update_branch' then
        v_result := filestore.commit_planned(p_session, p_kind, p_commit);
      when 'purge' then v_result := filestore.commit_purge(p_session, p_commit);
      else v_result := filestore.commit_version(p_session, p_kind, p_commit);
    end case;
    if v_result ? 'refusal' then raise sqlstate 'FS003'; end if;
  exception when sqlstate 'FS003' then
    null;
  end;
  return v_result;
end
$$;
comment on function filestore.commit_or_refuse is
  'Commits or refuses. A refusal, for instance since the quota has no room, changes nothing.';
call filestore.grant_execute('filestore.commit_or_refuse', 'filestore_engine');

create function filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_idempotency constant jsonb := p_commit -> 'idempotency';
  v_expired timestamptz;
  v_result jsonb;
begin
  if v_idempotency is null then return filestore.commit_or_refuse(p_session, p_kind, p_commit); end if;
  v_expired := clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  -- Expired keys of the project are removed a few at a time, by the requests that use keys.
  delete from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and (i.caller_id, i.key) in (
    select o.caller_id, o.key from filestore.idempotency_keys o
    where o.project_id = p_session.project_id and o.created_at < v_expired
    order by o.created_at limit 10 for update skip locked);
  begin
    -- Waits for a running request with the same key; its response is stored when the wait ends.
    insert into filestore.idempotency_keys as i (project_id, caller_id, key, fingerprint, created_at)
    values (
      p_session.project_id, p_session.caller_id, v_idempotency ->> 'key',
      decode(v_idempotency ->> 'fingerprint', 'hex'), clock_timestamp())
    on conflict (project_id, caller_id, key) do update
      set fingerprint = excluded.fingerprint, response = null, names = null, created_at = excluded.created_at
      where i.created_at < v_expired;
    if not found then
      -- Null where the key has expired in the meantime.
      return coalesce(
        filestore.stored_response(
          p_session, v_idempotency, coalesce(p_commit ->> 'destination', p_commit ->> 'path')),
        filestore.refusal('IDEMPOTENCY_KEY_IN_USE'));
    end if;
  exception when lock_not_available then
    if v_idempotency ? 'isOwn' then raise; end if;
    return filestore.refusal('IDEMPOTENCY_KEY_IN_USE');
  end;

  v_result := filestore.commit_or_refuse(p_session, p_kind, p_commit);

  if v_result ? 'refusal' then
    delete from filestore.idempotency_keys i
    where i.project_id = p_session.project_id and i.caller_id = p_session.caller_id and i.key = v_idempotency ->> 'key';
  else
    -- Paths and quoted content are stored apart, so that an erasure can remove them. The path of a single
    -- file is not stored, since a repeated request contains it.
    update filestore.idempotency_keys i
    set (response, names) = (
      select jsonb_object_agg(e.key, case
               when jsonb_typeof(e.value) = 'array' then '[]' when e.key = 'said' then 'null' else e.value end)
               filter (where e.key <> 'path'),
             jsonb_object_agg(e.key, e.value) filter (where jsonb_typeof(e.value) = 'array' or e.key = 'said')
               || jsonb_build_object('prefix', (p_session).path_prefix)
      from jsonb_each(v_result -> 'value' -> 'file') e)
    where i.project_id = p_session.project_id and i.caller_id = p_session.caller_id and i.key = v_idempotency ->> 'key';
  end if;
  return v_result;
end
$$;
comment on function filestore.commit_idempotent is
  'Commits, or returns what the same request returned before: `file` is the answer, even for a commit of '
  'several files. Refusals are not stored.';
call filestore.grant_execute('filestore.commit_idempotent', 'filestore_engine');

create function public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, case p_kind when 'purge' then 'admin' else 'write' end,
    p_place => filestore.branch_place(p_commit));
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_result := coalesce(
    filestore.outside_prefix(v_session, coalesce(p_commit ->> 'destination', p_commit ->> 'path')),
    case when p_kind <> 'copy' then filestore.outside_prefix(v_session, p_commit ->> 'path') end,
    filestore.commit_idempotent(v_session, p_kind, p_commit));
  -- A refusal changed nothing, so it does not wait for the disk.
  if v_result ? 'refusal' then perform set_config('synchronous_commit', 'off', true); end if;
  return v_session.envelope || v_result;
end
$$;
comment on function public.filestore_commit is
  'Adds a version, or erases a file with all of its versions. p_kind: write (creates the file where there is none), '
  'overwrite, append, edit, delete, restore, copy, move; purge, with the scope admin. Refusals: FILE_NOT_FOUND, '
  'VERSION_NOT_FOUND, VERSION_DELETED, VERSION_CONFLICT, PRECONDITION_FAILED, FILE_ALREADY_EXISTS, '
  'IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_KEY_IN_USE, CONTENT_TOO_LARGE, QUOTA_EXCEEDED, SEGMENT_LIST_FULL, '
  'VERSION_REDACTED.';
call filestore.publish('public.filestore_commit', 'filestore_engine', 'service_role');

create function public.filestore_commit_many(
  p_key_hash text, p_request_id uuid, p_requests integer, p_kind text, p_commit jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session filestore.session;
  v_result jsonb;
begin
  -- Where too few requests are left nothing is counted: everything is rolled back to here.
  begin
    v_session := filestore.authorize(
      p_key_hash, p_request_id, 'write', p_requests, filestore.branch_place(p_commit));
    if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
    select filestore.outside_prefix(v_session, p.path) into v_result
    from jsonb_array_elements(p_commit -> 'operations') o
    cross join lateral (
      values (o.value ->> 'destination'), (case when o.value ->> 'kind' <> 'copy' then o.value ->> 'path' end)
    ) p (path)
    where v_session.path_prefix is not null and filestore.outside_prefix(v_session, p.path) is not null limit 1;
    if found then return v_session.envelope || v_result; end if;
    -- Without an idempotency key of the client, the commit's own id is the key, so that a call whose answer
    -- was lost can be repeated and returns the stored answer. No client's key has this character.
    v_result := filestore.commit_idempotent(v_session, p_kind, jsonb_build_object('idempotency', jsonb_build_object(
      'key', E'\u0001' || (p_commit ->> 'commitId'), 'fingerprint', repeat('00', 32), 'isOwn', true)) || p_commit);
    if v_result #> '{value,remaining}' is not null then
      v_session.envelope := jsonb_set(v_session.envelope, '{rate,remaining}', v_result #> '{value,remaining}');
    end if;
  exception when sqlstate 'FS004' then
    return jsonb_set(
      v_session.envelope, '{rate,remaining}', to_jsonb((v_session.envelope #>> '{rate,remaining}')::integer + 1))
      || filestore.refusal('RATE_LIMIT_EXCEEDED');
  end;
  -- A refusal changed nothing, so it does not wait for the disk.
  if v_result ? 'refusal' then perform set_config('synchronous_commit', 'off', true); end if;
  return v_session.envelope || case when v_result ? 'refusal' then v_result else jsonb_build_object('value',
    (v_result -> 'value' -> 'file')
    || jsonb_build_object('isReplayed', coalesce(v_result -> 'value' -> 'isReplayed', 'false'))) end;
end
$$;
comment on function public.filestore_commit_many is
  'Commits several files, all or none. p_kind: batch, copy_folder, move_folder, delete_folder, undo, '
  'restore_folder, merge_branch, update_branch. Counts as p_requests requests, and except for a batch as one for '
  'each ten files begun; as none where fewer are left. Refusals: those of filestore_commit, for a batch with '
  'details.index; for the other kinds, those of their plans.';
call filestore.publish('public.filestore_commit_many', 'filestore_engine', 'service_role');

-- 50_links.sql =======================================================================================================
-- Links: an address that reads one file, or writes it once, without a key. Its user acts as the key that created it.

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
comment on function filestore.link_record is 'A link as lists show it: without its address.';
call filestore.grant_execute('filestore.link_record', 'filestore_engine');

create function filestore.has_ended(p_link filestore.links) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  return p_link.revoked_at is not null or p_link.used_at is not null or p_link.expires_at <= clock_timestamp();
end
$$;
comment on function filestore.has_ended is 'Whether a link has ended, regardless of its key.';
call filestore.grant_execute('filestore.has_ended', 'filestore_engine');

create function public.filestore_create_link(p_key_hash text, p_request_id uuid, p_link jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  -- The largest number of stored links of a project; ended ones are removed first.
  c_kept_max constant integer := 2000;
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'write', p_place => p_link ->> 'path');
  v_scope constant text := p_link ->> 'for';
  v_path constant text := p_link ->> 'path';
  v_seconds constant integer := p_link ->> 'expiresIn';
  v_found jsonb;
  v_link filestore.links;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := coalesce(filestore.outside_prefix(v_session, v_path), case when v_scope <> all (v_session.scopes)
    then filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', v_scope)) end);
  if v_found is not null then return v_session.envelope || v_found; end if;
  if v_seconds not between v_limits.link_seconds_min
    and (case v_scope when 'read' then v_limits.link_seconds_max else v_limits.write_link_seconds_max end) then
    raise exception 'a link cannot be valid for % seconds', v_seconds;
  end if;
  if v_scope = 'read' then
    v_found := filestore.find_version(v_session, v_path, (p_link ->> 'version')::integer, null, false);
    if v_found ? 'refusal' then return v_session.envelope || v_found; end if;
  end if;
  -- Serialized, so that the number is exact and an earlier attempt has ended.
  perform pg_advisory_xact_lock(hashtextextended('links/' || v_session.project_id, 0));
  select * into v_link from filestore.links l
  where l.project_id = v_session.project_id and l.id = (p_link ->> 'id')::uuid;
  if found then return v_session.envelope || jsonb_build_object('value', filestore.link_record(v_link)); end if;
  -- Counts all links of the project, not only those below the key's prefix.
  perform set_config('filestore.path_prefix', '', true);
  if v_limits.project_links_max <= (
    select count(*) from filestore.links l
    where l.project_id = v_session.project_id and not filestore.has_ended(l)) then
    return v_session.envelope
      || filestore.refusal('LINK_LIMIT_REACHED', jsonb_build_object('limit', v_limits.project_links_max));
  end if;
  delete from filestore.links l where l.project_id = v_session.project_id and l.id in (
    select o.id from filestore.links o where o.project_id = v_session.project_id
    order by filestore.has_ended(o), o.created_at desc, o.id offset c_kept_max - 1);
  insert into filestore.links (
    id, project_id, token_hash, scope, path, version, mime_type, max_bytes, if_version, key_id, key_hash, account_id,
    created_at, expires_at)
  values (
    (p_link ->> 'id')::uuid, v_session.project_id, decode(p_link ->> 'tokenHash', 'hex'), v_scope, v_path,
    (p_link ->> 'version')::integer, p_link ->> 'contentType', (p_link ->> 'maxBytes')::bigint,
    (p_link ->> 'ifVersion')::integer, v_session.key_id,
    case when v_session.key_id is not null then filestore.current_key_hash() end,
    case when v_session.key_id is null then v_session.person_id end,
    clock_timestamp(), clock_timestamp() + make_interval(secs => v_seconds))
  returning * into v_link;
  return v_session.envelope || jsonb_build_object('value', filestore.link_record(v_link));
end
$$;
comment on function public.filestore_create_link is
  'Creates a link: id and tokenHash chosen by the caller, for (read or write), path, expiresIn in seconds, '
  'and version, or contentType, maxBytes and ifVersion. A repeated id returns the link that was created '
  'first. Refusals: FORBIDDEN_SCOPE, FILE_NOT_FOUND, VERSION_NOT_FOUND, LINK_LIMIT_REACHED.';
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
  'The usable links below the key''s prefix, newest first; keyId only for keys with the scope admin.';
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

-- Using a link.
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
  'Adds to the uses of a link, or of all links of a project (all zeros), in this minute; with p_added 0 it '
  'only reads the count.';
call filestore.grant_execute('filestore.count_link_use', 'filestore_engine');

create function filestore.open_link(
  p_token_hash text, p_scope text, p_is_counted boolean, out session filestore.session, out link filestore.links
)
language plpgsql volatile set search_path = '' as $$
declare
  c_all constant uuid := '00000000-0000-0000-0000-000000000000';
  v_limit integer;
  v_count jsonb;
begin
  perform set_config('filestore.key_hash', p_token_hash, true);
  select * into link from filestore.links l where l.token_hash = decode(p_token_hash, 'hex');
  session.envelope := case
    when not found then filestore.refusal('LINK_NOT_FOUND')
    when link.scope <> p_scope then filestore.refusal('METHOD_NOT_ALLOWED', jsonb_build_object('for', link.scope))
    when link.revoked_at is not null or link.expires_at <= clock_timestamp() then filestore.refusal('LINK_EXPIRED')
  end;
  if session.envelope is not null then return; end if;
  -- Null, since the project's own window counts no request of a link.
  session := filestore.authorize(
    encode(coalesce(link.key_hash, link.token_hash), 'hex'), null, p_scope, p_place => link.path);
  session.caller_id := link.id;
  if session.envelope #>> '{refusal,code}' = 'INVALID_API_KEY' then
    session.envelope := filestore.refusal('LINK_EXPIRED');
  elsif not session.envelope ? 'refusal' then
    session.envelope := session.envelope || coalesce(filestore.outside_prefix(session, link.path), '{}');
  end if;
  if session.envelope ? 'refusal' then return; end if;

  session.max_file_bytes := least(session.max_file_bytes, link.max_bytes);
  session.envelope :=
    jsonb_set(session.envelope, '{grant,maxFileBytes}', coalesce(to_jsonb(session.max_file_bytes), 'null'));
  v_limit := session.envelope #>> '{rate,limit}';
  -- Reads are counted before they are answered. Of writes, only refused ones are counted, after they were
  -- refused, so here the count is only read.
  v_count := filestore.count_link_use(
    session.project_id, link.id, (filestore.limits()).link_requests_per_minute, p_is_counted::integer);
  session.envelope := session.envelope || jsonb_build_object('rate', v_count -> 'rate');
  if (v_count ->> 'isAllowed')::boolean and v_limit is not null then
    v_count := filestore.count_link_use(session.project_id, c_all, v_limit, p_is_counted::integer);
    if not (v_count ->> 'isAllowed')::boolean then
      session.envelope := session.envelope || jsonb_build_object('rate', v_count -> 'rate');
    end if;
  end if;
  if not (v_count ->> 'isAllowed')::boolean then
    session.envelope := session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
  end if;
end
$$;
comment on function filestore.open_link is
  'Finds a link and opens its project as the key that created it, in a session of that key. Refusals: LINK_NOT_FOUND, '
  'METHOD_NOT_ALLOWED, LINK_EXPIRED (also where its key is no longer valid), FORBIDDEN_SCOPE, '
  'RATE_LIMIT_EXCEEDED.';
call filestore.grant_execute('filestore.open_link', 'filestore_engine');

create function public.filestore_link(p_key_hash text, p_request_id uuid, p_for text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant record := filestore.open_link(p_key_hash, p_for, p_for = 'read' and p_request_id is not null);
  v_found jsonb;
begin
  -- None of these rows is worth waiting for the disk.
  perform set_config('synchronous_commit', 'off', true);
  if (v_opened.session).envelope ? 'refusal' then return (v_opened.session).envelope; end if;
  if p_for = 'write' then
    return (v_opened.session).envelope || jsonb_build_object('value', jsonb_build_object(
      'path', (v_opened.link).path, 'contentType', (v_opened.link).mime_type,
      'ifVersion', (v_opened.link).if_version, 'isUsed', (v_opened.link).used_at is not null));
  end if;
  v_found := filestore.find_version(v_opened.session, (v_opened.link).path, (v_opened.link).version, null, true);
  -- A link reveals nothing else at or below the path.
  return (v_opened.session).envelope || case when v_found ? 'refusal'
    then jsonb_set(v_found, '{refusal,details}', '{}') else v_found end;
end
$$;
comment on function public.filestore_link is
  'For a link that reads: the record and the segments of its file or version. For a link that writes: what it '
  'allows, before anything is stored. p_key_hash is the SHA-256 of its token; with p_request_id null the '
  'request was counted already. Refusals: those of filestore.open_link, FILE_NOT_FOUND, VERSION_NOT_FOUND.';
call filestore.publish('public.filestore_link', 'filestore_engine', 'service_role');

create function public.filestore_link_commit(p_key_hash text, p_request_id uuid, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant record := filestore.open_link(p_key_hash, 'write', false);
  v_session constant filestore.session := v_opened.session;
  v_link filestore.links;
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_link from filestore.links l
  where l.project_id = v_session.project_id and l.id = v_session.caller_id for update;
  if v_link.used_at is not null and v_link.commit_id is distinct from (p_commit ->> 'commitId')::uuid then
    v_result := coalesce(
      case when p_commit ? 'idempotency'
        then filestore.stored_response(v_session, p_commit -> 'idempotency', v_link.path) end,
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
  -- Content written in one piece needs no compaction.
  return v_session.envelope || case when v_result ? 'value'
    then jsonb_set(v_result, '{value,segments}', 'null') else v_result end;
end
$$;
comment on function public.filestore_link_commit is
  'Writes the one version that a link allows. A refused write does not use up the link. Refusals: LINK_USED, '
  'those of filestore.open_link and of a write.';
call filestore.publish('public.filestore_link_commit', 'filestore_engine', 'service_role');
-- 51_branches.sql ====================================================================================================
-- Branches: creating one in slices, reading and changing them, and deleting the files of those that have
-- ended.

create function filestore.begin_branch(
  p_session filestore.session, p_branch jsonb, out branch filestore.branches, out refusal jsonb
)
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_session.project_id;
  v_directory constant text := p_branch ->> 'directory';
  v_moment filestore.moment;
  v_now constant timestamptz := clock_timestamp();
  v_end constant bigint := filestore.feed_end(v_project_id);
begin
  v_moment.position := filestore.last_position(v_project_id, 0, v_end);
  if p_branch ? 'at' then v_moment := filestore.moment_of(p_session, p_branch ->> 'at'); end if;
  refusal := coalesce(filestore.outside_prefix(p_session, v_directory || '/'), v_moment.refusal);
  if refusal is not null then return; end if;
  insert into filestore.branches (
    project_id, name, directory, title, key_name, account_id, base_position, base_time, commit_id, created_at,
    updated_at, expires_at, due_at)
  select v_project_id, p_branch ->> 'name', v_directory, p_branch ->> 'title', (
      select k.name from filestore.api_keys k where k.project_id = v_project_id and k.id = p_session.key_id),
    case when p_session.key_id is null then p_session.person_id end,
    coalesce(v_moment.position, filestore.last_position_by(v_project_id, v_end, v_moment.at)), v_moment.at,
    (p_branch ->> 'commitId')::uuid, v_now, v_now, e.at, e.at
  from (values (v_now + make_interval(secs => (p_branch ->> 'expiresIn')::integer))) e (at)
  on conflict (project_id, name) do nothing;
  -- Waits for another request that copies the files of the same branch.
  select * into branch from filestore.branches b
  where b.project_id = v_project_id and b.name = p_branch ->> 'name' for update;
  if branch.directory <> v_directory
    or branch.state <> 'new' and branch.commit_id <> (p_branch ->> 'commitId')::uuid then
    refusal := filestore.refusal('BRANCH_ALREADY_EXISTS');
  end if;
end
$$;
comment on function filestore.begin_branch is
  'The row of a branch that is created, locked: a new one, or one whose creation was cut off. Its base is a '
  'position, or the time that the client named. Refusals: BRANCH_ALREADY_EXISTS, FORBIDDEN_SCOPE, '
  'VALIDATION_ERROR.';
call filestore.grant_execute('filestore.begin_branch', 'filestore_engine');

create function filestore.unfit_for_branch(
  p_session filestore.session, p_branch filestore.branches, p_moment filestore.moment
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).branch_files_max;
  v_found constant record := filestore.files_below(p_session, p_branch.directory, p_moment, c_files_max);
  v_added constant text := '.branches/' || p_branch.name || '/';
  v_paths text[];
begin
  if v_found.is_more then
    return filestore.refusal('TOO_MANY_FILES', jsonb_build_object(
      'files', greatest(c_files_max + 1, filestore.count_live_files(p_session.project_id, p_branch.directory, true)),
      'limit', c_files_max));
  end if;
  v_paths := array(
    select f.path from unnest(v_found.files) f
    cross join lateral (
      select v_added || substr(f.path, coalesce(nullif(length(p_branch.directory), 0) + 2, 1)) as path) t
    where octet_length(t.path) > (filestore.limits()).path_bytes_max
      or cardinality(string_to_array(t.path, '/')) > (filestore.limits()).path_segments_max
    order by f.path limit (filestore.limits()).conflicting_paths_shown_max);
  return case when v_paths <> '{}' then filestore.refusal('PATH_TOO_LONG', jsonb_build_object('paths', v_paths)) end;
end
$$;
comment on function filestore.unfit_for_branch is
  'The refusal of a branch of a folder with too many files, or with paths that would be too long or too '
  'deep in it.';
call filestore.grant_execute('filestore.unfit_for_branch', 'filestore_engine');

create function filestore.created_branch(p_branch filestore.branches) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  return jsonb_build_object('value', jsonb_build_object('branch', (
    select filestore.branch_record(p_branch, p.cursor_key) from filestore.projects p
    where p.id = (p_branch).project_id and (p_branch).state <> 'new')));
end
$$;
comment on function filestore.created_branch is
  'The answer to a slice of the creation of a branch: null until it is whole.';
call filestore.grant_execute('filestore.created_branch', 'filestore_engine');

create function filestore.copy_to_branch(p_session filestore.session, p_branch jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_slice constant integer := (filestore.limits()).commit_files_max;
  v_begun constant record := filestore.begin_branch(p_session, p_branch);
  v_branch filestore.branches := v_begun.branch;
  v_commit jsonb;
  v_moment filestore.moment;
  v_found record;
  v_locked uuid[];
  v_file filestore.files;
  v_applied filestore.applied;
  v_cost bigint := 0;
  v_ids uuid[] := '{}';
  v_bases filestore.files[] := '{}';
  v_refusal jsonb := v_begun.refusal;
begin
  if v_refusal is not null or v_branch.state <> 'new' then
    return coalesce(v_refusal, filestore.created_branch(v_branch));
  end if;
  perform set_config('filestore.path_prefix', '', true), set_config('filestore.branches', 'on', true);
  v_moment := filestore.branch_moment(v_branch);
  if v_branch.copied_to = '' then
    v_refusal := filestore.unfit_for_branch(p_session, v_branch, v_moment);
    if v_refusal is not null then return v_refusal; end if;
    v_cost := (filestore.limits()).tariff_branch_bytes;
  end if;
  v_found := filestore.files_below(p_session, v_branch.directory, v_moment, c_slice, v_branch.copied_to);
  -- This lock keeps the sources from being erased, and delays no writer.
  v_locked := array(
    select f.id from filestore.files f
    where f.project_id = p_session.project_id and f.id in (select o.id from unnest(v_found.files) o)
    order by f.path for key share);
  v_commit := p_branch || jsonb_build_object(
    'commitId', gen_random_uuid(), 'committedAt', date_trunc('milliseconds', clock_timestamp()));
  foreach v_file in array (filestore.files_below(
    p_session, v_branch.directory, v_moment, c_slice, v_branch.copied_to)).files[:c_slice] loop
    continue when v_file.id <> all (v_locked);
    v_applied := filestore.put_version(
      p_session, null, '.branches/' || v_branch.name || '/'
        || substr(v_file.path, coalesce(nullif(length(v_branch.directory), 0) + 2, 1)),
      filestore.content_of(v_file), 'copy', v_commit);
    v_cost := v_cost + v_applied.cost;
    v_ids := v_ids || (v_applied.file).id;
    v_bases := v_bases || v_file;
  end loop;
  insert into filestore.branch_files (project_id, file_id, branch, base_file_id, base_version, merged_version)
  select p_session.project_id, c.id, v_branch.name, b.id, b.version, 1
  from unnest(v_ids) with ordinality c (id, place)
  join (select o.id, o.version, o.place from unnest(v_bases) with ordinality o (
    id, project_id, path, directory, version, mime_type, size, is_deleted, is_text, segment_ids, created_at, updated_at,
    place)) b on b.place = c.place;
  update filestore.branches b
  set file_count = b.file_count + cardinality(v_ids), commit_id = (p_branch ->> 'commitId')::uuid,
      state = case when v_found.is_more then 'new' else 'open' end,
      copied_to = case when v_found.is_more then (v_found.files[c_slice]).path else '' end
  where b.project_id = p_session.project_id and b.name = v_branch.name returning * into v_branch;
  v_refusal := filestore.end_commit(p_session, v_commit, 0, v_cost, cardinality(v_ids), false);
  return coalesce(v_refusal, filestore.created_branch(v_branch));
end
$$;
comment on function filestore.copy_to_branch is
  'Begins a branch, or goes on with one, and copies the next slice of its files, all as they were at one '
  'moment. A refusal may leave versions: the caller rolls them back.';
call filestore.grant_execute('filestore.copy_to_branch', 'filestore_engine');

create function public.filestore_create_branch(p_key_hash text, p_request_id uuid, p_branch jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  begin
    v_result := filestore.copy_to_branch(v_session, p_branch);
    if v_result ? 'refusal' then raise sqlstate 'FS003'; end if;
  exception when sqlstate 'FS003' then
    perform set_config('synchronous_commit', 'off', true);
  end;
  return v_session.envelope || v_result;
end
$$;
comment on function public.filestore_create_branch is
  'Copies up to commit_files_max files of a folder to a branch; branch is null until these were the last. '
  'p_branch: name, directory, title, at, expiresIn in seconds, provenance, and commitId, chosen by the '
  'caller, the same in all calls for one request. Refusals: BRANCH_ALREADY_EXISTS, TOO_MANY_FILES, '
  'PATH_TOO_LONG, QUOTA_EXCEEDED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_create_branch', 'filestore_engine', 'service_role');

create function public.filestore_branches(
  p_key_hash text, p_request_id uuid, p_state text, p_limit integer, p_after text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- Branches that one page examines.
  c_examined_max constant integer := 1000;
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_cursor_key bytea;
  v_before bigint;
  v_branch filestore.branches;
  v_examined integer := 0;
  v_branches jsonb[] := '{}';
  v_has_more boolean := false;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select p.cursor_key into v_cursor_key from filestore.projects p where p.id = v_session.project_id;
  v_before := filestore.position_of(v_cursor_key, p_after);
  if p_after is not null and v_before is null then
    return v_session.envelope || filestore.refused_field('after', 'must be a cursor of this list');
  end if;
  for v_branch in
    select * from filestore.branches b
    where b.project_id = v_session.project_id and b.number < coalesce(v_before, 9223372036854775807)
    order by b.number desc limit c_examined_max + 1
  loop
    v_has_more := cardinality(v_branches) >= p_limit or v_examined >= c_examined_max;
    exit when v_has_more;
    v_examined := v_examined + 1;
    v_before := v_branch.number;
    continue when (filestore.find_branch(v_session, v_branch.name, false)).refusal is not null
      or filestore.branch_state(v_branch) <> p_state;
    v_branches := v_branches || filestore.branch_record(v_branch, v_cursor_key);
  end loop;
  return v_session.envelope || jsonb_build_object('value', jsonb_build_object(
    'branches', v_branches, 'hasMore', v_has_more,
    'cursor', filestore.cursor_at(v_cursor_key, coalesce(v_before, 0))));
end
$$;
comment on function public.filestore_branches is
  'One page of the branches that the key may see, newest first, in any state or in one. Where many are in '
  'other states, a page has fewer than requested although more follow. Refusals: VALIDATION_ERROR.';
call filestore.publish('public.filestore_branches', 'filestore_engine', 'service_role');

create function public.filestore_branch(
  p_key_hash text, p_request_id uuid, p_name text, p_limit integer, p_after text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
  v_found record;
  v_path text;
  v_change filestore.branch_change;
  v_choice record;
  v_kind text;
  v_counts jsonb := '{"added": 0, "modified": 0, "deleted": 0, "conflicts": 0}';
  v_changes jsonb[] := '{}';
  v_texts jsonb[] := '{}';
  v_text_bytes bigint := 0;
  v_seen integer := 0;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := filestore.find_branch(v_session, p_name, false);
  if v_found.refusal is not null then return v_session.envelope || v_found.refusal; end if;
  foreach v_path in array case when filestore.branch_state(v_found.branch) in ('merged', 'closed') then '{}'
    else (filestore.touched_paths(v_session, v_found.branch, false)).paths end loop
    v_change := filestore.compare_branch_file(v_found.branch, v_path);
    continue when not v_change.is_ours_changed;
    v_kind := case when not filestore.is_live(v_change.ours) then 'deleted'
      when filestore.is_live(v_change.base) or v_change.conflict = 'baseGone' then 'modified' else 'added' end;
    v_choice := filestore.choose_side(v_session, v_change, false, '{}', cardinality(v_texts), v_text_bytes);
    v_text_bytes := v_text_bytes + coalesce(v_choice.text_bytes, 0);
    v_texts := v_texts || v_choice.texts;
    v_counts := v_counts || jsonb_build_object(
      v_kind, (v_counts ->> v_kind)::integer + 1,
      'conflicts', (v_counts ->> 'conflicts')::integer + (v_choice.conflict is not null)::integer);
    continue when v_path collate "C" <= p_after;
    v_seen := v_seen + 1;
    continue when v_seen > p_limit;
    v_changes := v_changes || jsonb_build_object(
      'path', v_path, 'change', v_kind, 'base', v_change.base_version,
      'branch', filestore.live_version(v_change.ours),
      'current', case when not v_found.is_inside then filestore.live_version(v_change.theirs) end,
      'conflict', v_choice.conflict is not null);
  end loop;
  return v_session.envelope || jsonb_build_object('value', filestore.created_branch(v_found.branch) #> '{value,branch}'
    || jsonb_build_object(
      'changes', v_changes, 'hasMore', v_seen > p_limit, 'counts', v_counts, 'isInside', v_found.is_inside,
      'texts', case when v_found.is_inside then '{}' else v_texts end));
end
$$;
comment on function public.filestore_branch is
  'A branch with a page of its changes, those after the path p_after, the counts of all of them, and the '
  'texts whose lines show whether they are conflicts. A key that is confined to the branch (isInside) sees '
  'only its own side. Refusals: BRANCH_NOT_FOUND.';
call filestore.publish('public.filestore_branch', 'filestore_engine', 'service_role');

create function public.filestore_change_branch(
  p_key_hash text, p_request_id uuid, p_name text, p_change jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_now constant timestamptz := clock_timestamp();
  v_expires_at constant timestamptz := v_now + make_interval(secs => (p_change ->> 'expiresIn')::integer);
  v_found record;
  v_branch filestore.branches;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := filestore.find_branch(v_session, p_name, true);
  v_branch := v_found.branch;
  if v_found.refusal is not null then return v_session.envelope || v_found.refusal; end if;
  if v_branch.commit_id <> (p_change ->> 'commitId')::uuid then
    if filestore.branch_state(v_branch) in ('merged', 'closed') then
      return v_session.envelope || filestore.refusal(
        'BRANCH_CLOSED', jsonb_build_object('state', filestore.branch_state(v_branch)));
    end if;
    update filestore.branches b
    set title = case when p_change ? 'title' then p_change ->> 'title' else b.title end,
        note = case when p_change ? 'note' then p_change ->> 'note' else b.note end,
        state = coalesce(p_change ->> 'state', b.state), expires_at = coalesce(v_expires_at, b.expires_at),
        due_at = case when p_change ->> 'state' = 'closed' then v_now else coalesce(v_expires_at, b.due_at) end,
        updated_at = v_now, commit_id = (p_change ->> 'commitId')::uuid
    where b.project_id = v_session.project_id and b.name = p_name returning * into v_branch;
    if p_change ->> 'state' = 'ready' and (v_found.branch).state <> 'ready' then
      perform filestore.note_branch_event(v_branch, 'branch.ready');
    end if;
  end if;
  return v_session.envelope || jsonb_build_object(
    'value', filestore.created_branch(v_branch) #> '{value,branch}');
end
$$;
comment on function public.filestore_change_branch is
  'Changes the given fields of a branch: title, note, state (open, ready or closed), expiresIn in seconds '
  'from now; commitId is chosen by the caller. Refusals: BRANCH_NOT_FOUND, BRANCH_CLOSED.';
call filestore.publish('public.filestore_change_branch', 'filestore_engine', 'service_role');

create function filestore.remove_branch_files(p_session filestore.session, p_name text) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_slice constant integer := (filestore.limits()).commit_files_max;
  v_place constant text := '.branches/' || p_name;
  v_commit jsonb;
  v_branch filestore.branches;
  v_paths text[];
  v_path text;
  v_file filestore.files;
  v_applied filestore.applied;
  v_cost bigint := 0;
  v_versions integer := 0;
begin
  perform set_config('filestore.path_prefix', '', true), set_config('filestore.branches', 'on', true);
  -- The branch before its files: a write there has ended, or finds that the branch has.
  select * into v_branch from filestore.branches b
  where b.project_id = p_session.project_id and b.name = p_name for update;
  if v_branch.due_at is null
    or v_branch.state not in ('merged', 'closed') and v_branch.expires_at > filestore.sweep_clock() then
    return false;
  end if;
  v_paths := array(
    select f.path from filestore.files f
    where f.project_id = p_session.project_id and not f.is_deleted
      and f.path > v_place || '/' and f.path < v_place || '0'
    order by f.path limit c_slice + 1);
  -- All versions of a commit have one time, which is not before the last change of any of its files.
  v_commit := jsonb_build_object('commitId', gen_random_uuid(), 'committedAt', (
    select greatest(max(f.updated_at), date_trunc('milliseconds', clock_timestamp())) from filestore.files f
    where f.project_id = p_session.project_id and f.path = any (v_paths)));
  foreach v_path in array v_paths[:c_slice] loop
    v_file := filestore.lock_file(p_session.project_id, v_path);
    continue when not filestore.is_live(v_file);
    v_applied := filestore.put_version(p_session, v_file, v_path, filestore.tombstone_of(v_file), 'delete', v_commit);
    v_cost := v_cost + v_applied.cost;
    v_versions := v_versions + 1;
  end loop;
  update filestore.branches b
  set state = case when b.state = 'merged' then 'merged' else 'closed' end,
      due_at = case when cardinality(v_paths) > c_slice then b.due_at end
  where b.project_id = p_session.project_id and b.name = p_name;
  perform filestore.end_commit(p_session, v_commit, 0, v_cost, v_versions, true);
  return cardinality(v_paths) > c_slice;
end
$$;
comment on function filestore.remove_branch_files is
  'Deletes a slice of the files of a branch that has ended or expired, and returns whether more may be '
  'left.';
call filestore.publish('filestore.remove_branch_files', 'filestore_engine', 'filestore_admin');

create function public.filestore_remove_branch_files(p_key_hash text, p_request_id uuid, p_name text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_found record;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := filestore.find_branch(v_session, p_name, false);
  return v_session.envelope || coalesce(v_found.refusal, jsonb_build_object(
    'value', filestore.remove_branch_files(v_session, p_name)));
end
$$;
comment on function public.filestore_remove_branch_files is
  'Deletes a slice of the files of a branch that has ended, and returns whether more may be left. Refusals: '
  'BRANCH_NOT_FOUND.';
call filestore.publish('public.filestore_remove_branch_files', 'filestore_engine', 'service_role');

create function filestore.sweep_branches(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_session filestore.session;
  v_name text;
begin
  select b.name into v_name from filestore.branches b
  where b.project_id = p_project_id and b.due_at <= filestore.sweep_clock() order by b.due_at limit 1;
  if not found then return; end if;
  v_session.project_id := p_project_id;
  perform set_config('filestore.project_id', p_project_id::text, true);
  perform filestore.remove_branch_files(v_session, v_name);
  perform set_config('filestore.project_id', '', true);
end
$$;
comment on function filestore.sweep_branches is
  'Deletes a slice of the files of the branch of a project that has been due longest.';
call filestore.grant_execute('filestore.sweep_branches', 'filestore_admin');
-- 52_apps.sql ========================================================================================================
-- Apps: the programs of others that a person let into a project by signing in. The app exchanges the code of a
-- consent for tokens, and refreshes these. `caller_of` recognizes its access tokens; 73_consent.sql has the consent.

create function filestore.open_app(p_project_id uuid, p_key_hash bytea, p_client_hash text) returns filestore.api_keys
language plpgsql volatile set search_path = '' as $$
declare
  v_app filestore.api_keys;
  v_role text;
begin
  perform set_config('filestore.key_hash', encode(p_key_hash, 'hex'), true);
  perform set_config('filestore.project_id', p_project_id::text, true);
  -- Locked: one request of an app after the other learns what was used already.
  select k.* into v_app from filestore.api_keys k
  where k.key_hash = p_key_hash and k.client_hash = decode(p_client_hash, 'hex') and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp())
  for no key update;
  select filestore.role_of(p.id, p.owner_id, v_app.account_id) into v_role from filestore.projects p
  where p.id = p_project_id and p.deleted_at is null;
  if v_role is null then return null; end if;
  v_app.scopes := filestore.scopes_within(v_role, v_app.scopes);
  return v_app;
end
$$;
comment on function filestore.open_app is
  'The app of this client, for the rest of the transaction, with the scopes that its person''s role allows; null '
  'where it has ended: it was revoked, it has expired, or the person is no longer in the project.';
call filestore.grant_execute('filestore.open_app', 'filestore_engine');

create function filestore.add_tokens(p_app filestore.api_keys, p_access_hash text, p_refresh_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_now constant timestamptz := clock_timestamp();
  v_ends_at constant timestamptz := least(
    v_now + make_interval(secs => v_limits.app_access_seconds), p_app.expires_at);
begin
  insert into filestore.app_tokens (token_hash, project_id, key_hash, kind, created_at, expires_at)
  values
    (decode(p_access_hash, 'hex'), p_app.project_id, p_app.key_hash, 'access', v_now, v_ends_at),
    (decode(p_refresh_hash, 'hex'), p_app.project_id, p_app.key_hash, 'refresh', v_now, least(
      v_now + make_interval(days => v_limits.app_unused_days), p_app.expires_at))
  on conflict do nothing;
  -- The oldest go, whatever their end: an app whose end is near goes on as long as any other.
  delete from filestore.app_tokens t where t.token_hash in (
    select o.token_hash from filestore.app_tokens o where o.key_hash = p_app.key_hash
    order by o.created_at desc, o.token_hash offset v_limits.app_tokens_max);
  perform filestore.note_use(p_app.id, true, false);
  return jsonb_build_object(
    'scopes', p_app.scopes, 'expiresIn', ceil(extract(epoch from v_ends_at - v_now))::integer);
end
$$;
comment on function filestore.add_tokens is
  'Adds an access token and a refresh token to an app, and drops its oldest ones; returns its scopes, and the '
  'seconds for which the access token is valid.';
call filestore.grant_execute('filestore.add_tokens', 'filestore_engine');

create function filestore.refuse_replay(p_app filestore.api_keys, p_access_hash text) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- The same request again, whose answer was lost between database and edge function: it has these tokens.
  if exists (
    select from filestore.app_tokens t
    where t.token_hash = decode(p_access_hash, 'hex') and t.key_hash = p_app.key_hash) then return null; end if;
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id = p_app.id;
  return '{"error": "invalid_grant"}';
end
$$;
comment on function filestore.refuse_replay is
  'Ends an app whose code or refresh token was used by two, one of whom stole it; null where both are one '
  'request.';
call filestore.grant_execute('filestore.refuse_replay', 'filestore_engine');

create function public.filestore_app_exchange(
  p_code_hash text, p_client_hash text, p_redirect_uri text, p_challenge text, p_access_hash text, p_refresh_hash text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_refused constant jsonb := '{"error": "invalid_grant"}';
  v_consent filestore.app_consents;
  v_app filestore.api_keys;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  perform set_config('filestore.key_hash', p_code_hash, true);
  select c.* into v_consent from filestore.app_consents c
  where c.code_hash = decode(p_code_hash, 'hex') and c.redirect_uri = p_redirect_uri and c.challenge = p_challenge;
  if not found then return c_refused; end if;
  v_app := filestore.open_app(v_consent.project_id, v_consent.key_hash, p_client_hash);
  if v_app.id is null then return c_refused; end if;
  select c.* into v_consent from filestore.app_consents c where c.code_hash = decode(p_code_hash, 'hex');
  if v_consent.used_at is not null then
    return coalesce(filestore.refuse_replay(v_app, p_access_hash),
      filestore.add_tokens(v_app, p_access_hash, p_refresh_hash));
  elsif v_consent.expires_at <= clock_timestamp() then
    return c_refused;
  end if;
  update filestore.app_consents c set used_at = clock_timestamp() where c.code_hash = decode(p_code_hash, 'hex');
  return filestore.add_tokens(v_app, p_access_hash, p_refresh_hash);
end
$$;
comment on function public.filestore_app_exchange is
  'Exchanges the code of a consent for an access token and a refresh token: {"scopes", "expiresIn"}, or '
  '{"error"}. Only for the client, the redirect URI and the code challenge of the consent, and once: a second '
  'exchange ends the app.';
call filestore.publish('public.filestore_app_exchange', 'filestore_engine', 'service_role');

create function public.filestore_app_refresh(
  p_token_hash text, p_client_hash text, p_scopes text[], p_access_hash text, p_refresh_hash text
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_refused constant jsonb := '{"error": "invalid_grant"}';
  v_grace constant interval := make_interval(secs => (filestore.limits()).app_refresh_grace_seconds);
  v_token filestore.app_tokens;
  v_app filestore.api_keys;
  v_refused jsonb;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  perform set_config('filestore.key_hash', p_token_hash, true);
  select t.* into v_token from filestore.app_tokens t
  where t.token_hash = decode(p_token_hash, 'hex') and t.kind = 'refresh' and t.expires_at > clock_timestamp();
  if not found then return c_refused; end if;
  v_app := filestore.open_app(v_token.project_id, v_token.key_hash, p_client_hash);
  if v_app.id is null then return c_refused; end if;
  if not p_scopes <@ v_app.scopes then return '{"error": "invalid_scope"}'; end if;
  select t.* into v_token from filestore.app_tokens t where t.token_hash = decode(p_token_hash, 'hex');
  if v_token.used_at < clock_timestamp() - v_grace then
    v_refused := filestore.refuse_replay(v_app, p_access_hash);
  elsif v_token.used_at is null then
    update filestore.app_tokens t set used_at = clock_timestamp() where t.token_hash = decode(p_token_hash, 'hex');
  end if;
  return coalesce(v_refused, filestore.add_tokens(v_app, p_access_hash, p_refresh_hash));
end
$$;
comment on function public.filestore_app_refresh is
  'Exchanges a refresh token for new tokens, as filestore_app_exchange does. Its use some time after the first '
  'one ends the app. invalid_scope where the app lacks one of p_scopes, which may be null.';
call filestore.publish('public.filestore_app_refresh', 'filestore_engine', 'service_role');

create function public.filestore_app_revoke(p_token_hash text, p_client_hash text) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_token filestore.app_tokens;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  perform set_config('filestore.key_hash', p_token_hash, true);
  select t.* into v_token from filestore.app_tokens t where t.token_hash = decode(p_token_hash, 'hex');
  perform set_config('filestore.key_hash', encode(v_token.key_hash, 'hex'), true);
  update filestore.api_keys k set revoked_at = clock_timestamp()
  where k.key_hash = v_token.key_hash and k.client_hash = decode(p_client_hash, 'hex') and k.revoked_at is null;
end
$$;
comment on function public.filestore_app_revoke is
  'Ends the app with this access or refresh token, if it is this client''s.';
call filestore.publish('public.filestore_app_revoke', 'filestore_engine', 'service_role');

create function filestore.sweep_apps(p_limit integer) returns void
language sql volatile set search_path = '' as $$
  delete from filestore.app_tokens t where t.token_hash in (
    select o.token_hash from filestore.app_tokens o where o.expires_at < filestore.sweep_clock()
    order by o.expires_at limit p_limit for update skip locked);
  -- A day later: until then a code that comes twice still ends its app.
  delete from filestore.app_consents c where c.request_id in (
    select o.request_id from filestore.app_consents o where o.expires_at < filestore.sweep_clock() - interval '1 day'
    order by o.expires_at limit p_limit for update skip locked);
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id in (
    select u.id from filestore.api_keys u
    where u.kind = 'app' and u.revoked_at is null and coalesce(u.last_used_at, u.created_at)
      < filestore.sweep_clock() - make_interval(days => (filestore.limits()).app_unused_days)
    order by u.created_at limit p_limit for update skip locked);
$$;
comment on function filestore.sweep_apps is
  'Removes tokens and consents that have ended, and revokes apps that were not used for long: up to p_limit of '
  'each.';
call filestore.grant_execute('filestore.sweep_apps', 'filestore_admin');
-- 53_webhooks.sql ====================================================================================================
-- Webhooks: which deliveries are due, one after the other for each webhook, and the administration of webhooks.
--
-- A delivery consists of the changes that follow the webhook's position in the feed. An isolate leases the webhook,
-- sends the delivery, and reports the result with its next call. No commit waits for any of this.

create function filestore.database_id() returns text
language sql stable set search_path = '' as $$
  select concat_ws('/', c.system_identifier, d.oid, 'filestore.webhooks'::regclass::oid)
  from pg_catalog.pg_control_system() c, pg_catalog.pg_database d where d.datname = current_database()
$$;
comment on function filestore.database_id is
  'Names this database: another one has another name, even where it was restored from a dump of this one.';
call filestore.grant_execute(
  'filestore.database_id', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function public.filestore_sweep_webhooks(p_project_id uuid, p_limit integer) returns jsonb
language sql volatile security definer
-- One look into the feed for each webhook, by index.
set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  with waiting as materialized (
    select w.project_id, w.id, greatest(
      w.next_at - filestore.sweep_clock(), w.leased_until - clock_timestamp(), interval '0') as rest
    from filestore.webhooks w join filestore.projects p on p.id = w.project_id
    where (p_project_id is null or w.project_id = p_project_id) and p.deleted_at is null and p.suspended_at is null
      and w.state = 'active' and w.database_id = (select filestore.database_id())
      and (w.pending_id is not null
        or 'change' = any (w.events)
          and filestore.last_position(w.project_id, w.position, 9223372036854775807) > w.position
        or exists (
          select from filestore.webhook_events e where e.project_id = w.project_id and e.position > w.position))
  ), due as (
    select * from waiting w where w.rest = interval '0' order by random() limit p_limit
  )
  select jsonb_build_object(
    'due', (select coalesce(jsonb_agg(jsonb_build_object('projectId', d.project_id, 'id', d.id)), '[]') from due d),
    'nextDueMilliseconds', (
      select ceil(1000 * extract(epoch from min(w.rest)))::bigint from waiting w where w.rest > interval '0'))
$$;
comment on function public.filestore_sweep_webhooks is
  'Some webhooks of a project, or of all projects (null), with something to deliver now, and in how many '
  'milliseconds the next one is due.';
call filestore.publish('public.filestore_sweep_webhooks', 'filestore_admin', 'service_role');

create function filestore.webhook_batch(
  p_hook filestore.webhooks, out end_position bigint, out type text, out happened_at text, out changes json,
  out branch jsonb, out cursor text
)
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_hook.project_id;
  c_entries_max constant integer := (filestore.limits()).webhook_changes_max;
  v_below constant text := nullif(p_hook.directory, '') || '/';
  -- A delivery that is tried again has the same end, and so the same changes.
  v_end bigint := coalesce(p_hook.pending_end, filestore.feed_end(v_project_id));
  v_cursor_key constant bytea := (select p.cursor_key from filestore.projects p where p.id = v_project_id);
  v_event filestore.webhook_events;
  v_picked record;
begin
  select * into v_event from filestore.webhook_events e
  where e.project_id = v_project_id and e.position > p_hook.position and e.position <= v_end
    and e.type = any (p_hook.events) and starts_with(e.directory || '/', coalesce(v_below, ''))
  order by e.position limit 1;
  end_position := coalesce(v_event.position - 1, v_end);
  end_position := greatest(
    filestore.last_position(v_project_id, p_hook.position, end_position), (
      select max(e.position) from filestore.webhook_events e
      where e.project_id = v_project_id and e.position > p_hook.position and e.position <= end_position));
  if 'change' = any (p_hook.events) and end_position > p_hook.position then
    v_picked := filestore.pick_changes(
      v_project_id, jsonb_strip_nulls(jsonb_build_object(
        'directory', nullif(p_hook.directory, ''), 'operations', p_hook.operations)),
      v_below is not null or exists (select from filestore.branches b where b.project_id = v_project_id),
      p_hook.position, end_position, (filestore.limits()).changes_examined_max, c_entries_max);
    v_end := end_position;
    end_position := coalesce(
      v_picked.positions[c_entries_max], case when not v_picked.is_end then v_picked.examined_to end, v_end);
    changes := filestore.change_records(v_project_id, v_picked.positions, v_cursor_key, true);
    if json_array_length(changes) > 0 then
      type := 'change';
      happened_at := changes -> -1 ->> 'createdAt';
    end if;
    cursor := filestore.cursor_at(v_cursor_key, end_position);
    if type is not null or end_position < v_end then return; end if;
  end if;
  if v_event.position is not null then
    end_position := v_event.position;
    type := v_event.type;
    happened_at := filestore.iso(v_event.created_at);
    cursor := filestore.cursor_at(v_cursor_key, end_position);
    select filestore.branch_record(b, v_cursor_key) into branch from filestore.branches b
    where b.project_id = v_project_id and b.name = v_event.branch;
  end if;
end
$$;
comment on function filestore.webhook_batch is
  'What follows a webhook''s position in the feed, up to end_position: changes, or one event of a branch. '
  'Null type: nothing there is for the webhook.';
call filestore.grant_execute('filestore.webhook_batch', 'filestore_engine');

create function filestore.note_webhook_try(p_hook filestore.webhooks, p_try jsonb) returns filestore.webhooks
language plpgsql volatile set search_path = '' as $$
declare
  -- The pauses after failed tries. After the last one, the webhook is disabled.
  c_pauses constant interval[] := '{5 s,5 min,30 min,2 h,5 h,10 h,14 h,20 h,24 h}';
  v_hook filestore.webhooks := p_hook;
  v_is_accepted constant boolean := coalesce((p_try ->> 'status')::integer between 200 and 299, false);
begin
  insert into filestore.webhook_deliveries as d (
    project_id, webhook_id, slot, number, id, at, type, attempt, status, error)
  values (
    v_hook.project_id, v_hook.id, v_hook.deliveries % (filestore.limits()).webhook_deliveries_kept, v_hook.deliveries,
    (p_try ->> 'id')::uuid, clock_timestamp(), p_try ->> 'type', (p_try ->> 'attempt')::integer,
    (p_try ->> 'status')::integer, p_try ->> 'error')
  on conflict (project_id, webhook_id, slot) do update
    set number = excluded.number, id = excluded.id, at = excluded.at, type = excluded.type,
        attempt = excluded.attempt, status = excluded.status, error = excluded.error;
  v_hook.deliveries := v_hook.deliveries + 1;
  -- The result of a test, or of a lease that has expired, moves nothing.
  if (v_hook.lease_id = (p_try ->> 'leaseId')::uuid) is not true then return v_hook; end if;
  v_hook.lease_id := null;
  v_hook.leased_until := null;
  -- Somebody has moved the webhook meanwhile.
  if (v_hook.pending_id = (p_try ->> 'id')::uuid) is not true then return v_hook; end if;
  if v_is_accepted then
    v_hook.position := v_hook.pending_end;
    v_hook.pending_id := null;
    v_hook.pending_end := null;
    v_hook.failures := 0;
  elsif p_try ? 'reason' then
    v_hook.state := 'paused';
    v_hook.reason := p_try ->> 'reason';
  else
    v_hook.failures := v_hook.failures + 1;
    v_hook.next_at := filestore.sweep_clock() + c_pauses[v_hook.failures];
    if v_hook.next_at is null then
      v_hook.state := 'disabled';
      v_hook.reason := 'deliveries_failed';
    end if;
  end if;
  if v_is_accepted then v_hook.next_at := null; end if;
  return v_hook;
end
$$;
comment on function filestore.note_webhook_try is
  'Records a try, and moves the webhook on, or sets the time of its next try.';
call filestore.grant_execute('filestore.note_webhook_try', 'filestore_engine');

create function public.filestore_webhook_step(p_project_id uuid, p_id uuid, p_try jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_found filestore.webhooks;
  v_hook filestore.webhooks;
  v_batch record;
  v_is_due boolean;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true),
    -- A step that a crash of the database takes back is done again.
    set_config('synchronous_commit', 'off', true), set_config('filestore.project_id', p_project_id::text, true);
  select * into v_found from filestore.webhooks w where w.project_id = p_project_id and w.id = p_id for update;
  if not found then return null; end if;
  perform filestore.open_paths(null, v_found.directory || '/');
  v_hook := case when p_try is null then v_found else filestore.note_webhook_try(v_found, p_try) end;
  v_is_due := v_hook.state = 'active' and v_hook.database_id = filestore.database_id()
    and (v_hook.leased_until > clock_timestamp()) is not true and (v_hook.next_at > filestore.sweep_clock()) is not true
    and exists (
      select from filestore.projects p
      where p.id = p_project_id and p.suspended_at is null and p.deleted_at is null
        and filestore.is_account_active(p.owner_id));
  if v_is_due then
    v_batch := filestore.webhook_batch(v_hook);
    if v_batch.type is null then
      v_is_due := v_batch.end_position > v_hook.position;
      v_hook.position := v_batch.end_position;
      v_hook.pending_id := null;
      v_hook.pending_end := null;
      v_hook.failures := 0;
    else
      v_hook.pending_id := coalesce(v_hook.pending_id, gen_random_uuid());
      v_hook.pending_end := v_batch.end_position;
      v_hook.lease_id := gen_random_uuid();
      v_hook.leased_until := clock_timestamp() + make_interval(secs => (filestore.limits()).webhook_lease_seconds);
    end if;
  end if;
  if v_hook is not distinct from v_found then return null; end if;
  update filestore.webhooks w
  set (position, pending_id, pending_end, failures, next_at, state, reason, lease_id, leased_until, deliveries) = (
    v_hook.position, v_hook.pending_id, v_hook.pending_end, v_hook.failures, v_hook.next_at, v_hook.state,
    v_hook.reason, v_hook.lease_id, v_hook.leased_until, v_hook.deliveries)
  where w.project_id = p_project_id and w.id = p_id;
  if not v_is_due then return null; end if;
  return json_build_object(
    'leaseId', v_hook.lease_id, 'id', coalesce(v_hook.pending_id, v_hook.id), 'attempt', v_hook.failures + 1,
    'url', v_hook.url, 'webhookId', v_hook.id, 'secret', v_hook.secret,
    'previousSecret', case when v_hook.previous_until > clock_timestamp() then v_hook.previous_secret end,
    'type', v_batch.type, 'timestamp', v_batch.happened_at, 'cursor', v_batch.cursor,
    'changes', coalesce(v_batch.changes, '[]'), 'branch', v_batch.branch);
end
$$;
comment on function public.filestore_webhook_step is
  'Records the result of a try, if p_try is not null, and leases the webhook''s next delivery; null where '
  'none is due. With type null there was nothing for the webhook up to a position, and the next call goes on.';
call filestore.publish('public.filestore_webhook_step', 'filestore_engine', 'service_role');

-- ---------------------------------------------------------------------------------------------------------------------
-- Administration.

create function filestore.webhook_record(p_hook filestore.webhooks) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_is_elsewhere constant boolean := p_hook.database_id <> filestore.database_id();
begin
  return (
    select jsonb_build_object(
      'id', p_hook.id, 'url', p_hook.url, 'directory', nullif(p_hook.directory, ''), 'operations', p_hook.operations,
      'events', p_hook.events, 'description', p_hook.description,
      'state', case when v_is_elsewhere and p_hook.state = 'active' then 'paused' else p_hook.state end,
      'reason', case when v_is_elsewhere and p_hook.state = 'active' then 'other_database' else p_hook.reason end,
      'cursor', filestore.cursor_at(p.cursor_key, p_hook.position), 'failures', p_hook.failures,
      'nextTryAt', filestore.iso(p_hook.next_at), 'createdAt', filestore.iso(p_hook.created_at))
    from filestore.projects p where p.id = p_hook.project_id);
end
$$;
comment on function filestore.webhook_record is 'A webhook as the API returns it: without its secret.';
call filestore.grant_execute('filestore.webhook_record', 'filestore_account');

create function filestore.texts_of(p_list jsonb) returns text[]
language sql immutable set search_path = '' as $$
  select array_agg(distinct t.value) from jsonb_array_elements_text(nullif(p_list, 'null')) t
$$;
comment on function filestore.texts_of is 'The texts of a list; null for none.';
call filestore.grant_execute('filestore.texts_of', 'filestore_account');

create function filestore.create_webhook(p_project_id uuid, p_hook jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_limit constant integer := (filestore.limits()).project_webhooks_max;
  v_end constant bigint := filestore.feed_end(p_project_id);
  v_hook filestore.webhooks;
begin
  -- Serialized, so that the number is exact and an earlier attempt has ended.
  perform pg_advisory_xact_lock(hashtextextended('webhooks/' || p_project_id, 0));
  select * into v_hook from filestore.webhooks w
  where w.project_id = p_project_id and w.id = (p_hook ->> 'id')::uuid;
  if found then return jsonb_build_object('value', filestore.webhook_record(v_hook)); end if;
  if (select count(*) from filestore.webhooks w where w.project_id = p_project_id) >= c_limit then
    return filestore.refusal('WEBHOOK_LIMIT_REACHED', jsonb_build_object('limit', c_limit));
  end if;
  insert into filestore.webhooks (
    project_id, id, url, directory, operations, events, description, secret, database_id, position, created_at)
  values (
    p_project_id, (p_hook ->> 'id')::uuid, p_hook ->> 'url', coalesce(p_hook ->> 'directory', ''),
    filestore.texts_of(p_hook -> 'operations'),
    coalesce(filestore.texts_of(p_hook -> 'events'), '{change}'), p_hook ->> 'description', p_hook ->> 'secret',
    filestore.database_id(),
    greatest(filestore.last_position(p_project_id, 0, v_end), (
      select max(e.position) from filestore.webhook_events e
      where e.project_id = p_project_id and e.position <= v_end)), clock_timestamp())
  returning * into v_hook;
  update filestore.projects p set has_webhooks = true where p.id = p_project_id and not p.has_webhooks;
  return jsonb_build_object('value', filestore.webhook_record(v_hook));
end
$$;
comment on function filestore.create_webhook is
  'Adds a webhook that begins at the end of the feed. A repeated id returns the first one. Refusals: '
  'WEBHOOK_LIMIT_REACHED.';
call filestore.grant_execute('filestore.create_webhook', 'filestore_account');

create function filestore.change_webhook(p_hook filestore.webhooks, p_change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- For this long, deliveries are signed with the secret before the last rotation, too.
  c_both constant interval := make_interval(hours => (filestore.limits()).webhook_secrets_hours);
  v_is_filtered constant boolean := p_change ?| '{directory,operations,events}';
  v_is_on constant boolean := coalesce(p_change ->> 'state' = 'active', false);
  v_is_new constant boolean := p_change ? 'secret';
  v_hook filestore.webhooks;
begin
  update filestore.webhooks w
  set url = coalesce(p_change ->> 'url', w.url),
      directory = case when p_change ? 'directory' then coalesce(p_change ->> 'directory', '') else w.directory end,
      operations = case when p_change ? 'operations' then filestore.texts_of(p_change -> 'operations')
        else w.operations end,
      events = coalesce(filestore.texts_of(p_change -> 'events'), w.events),
      description = case when p_change ? 'description' then p_change ->> 'description' else w.description end,
      secret = coalesce(p_change ->> 'secret', w.secret),
      previous_secret = case when v_is_new then w.secret else w.previous_secret end,
      previous_until = case when v_is_new then clock_timestamp() + c_both else w.previous_until end,
      state = coalesce(p_change ->> 'state', w.state),
      reason = case when p_change ? 'state' then null else w.reason end,
      database_id = case when v_is_on then filestore.database_id() else w.database_id end,
      failures = case when v_is_on then 0 else w.failures end,
      next_at = case when not v_is_on then w.next_at end,
      -- What is delivered next has changed.
      pending_id = case when not v_is_filtered then w.pending_id end,
      pending_end = case when not v_is_filtered then w.pending_end end
  where w.project_id = p_hook.project_id and w.id = p_hook.id
  returning * into v_hook;
  return jsonb_build_object('value', filestore.webhook_record(v_hook) || jsonb_build_object(
    'projectId', v_hook.project_id, 'sealed', v_hook.secret));
end
$$;
comment on function filestore.change_webhook is
  'Changes the given fields of a webhook; state active tries at once. Besides the webhook it returns the '
  'encrypted secret, for the edge function to find out whether it can read it.';
call filestore.grant_execute('filestore.change_webhook', 'filestore_account');

create function filestore.administer_webhook(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_hook filestore.webhooks;
  v_position bigint;
begin
  if p_action = 'create_webhook' then return filestore.create_webhook(p_project_id, p_parameters); end if;
  if p_action = 'webhooks' then
    return jsonb_build_object('value', (
      select coalesce(jsonb_agg(filestore.webhook_record(w) order by w.created_at desc, w.id), '[]')
      from filestore.webhooks w where w.project_id = p_project_id));
  end if;
  select * into v_hook from filestore.webhooks w
  where w.project_id = p_project_id and w.id = (p_parameters ->> 'id')::uuid for no key update;
  if not found and p_action like '%webhook%' then return filestore.refusal('WEBHOOK_NOT_FOUND'); end if;
  case p_action
    when 'change_webhook' then
      return filestore.change_webhook(v_hook, p_parameters);
    when 'delete_webhook' then
      delete from filestore.webhook_deliveries d where d.project_id = p_project_id and d.webhook_id = v_hook.id;
      delete from filestore.webhooks w where w.project_id = p_project_id and w.id = v_hook.id;
      update filestore.projects p set has_webhooks = false
      where p.id = p_project_id
        and not exists (select from filestore.webhooks w where w.project_id = p_project_id);
    when 'replay_webhook' then
      v_position := (
        select case when p_parameters ->> 'after' is null then 0
          else filestore.position_of(p.cursor_key, p_parameters ->> 'after') end from filestore.projects p
        where p.id = p_project_id);
      if v_position is null then return filestore.refused_field('after', 'must be a cursor of this project'); end if;
      update filestore.webhooks w
      set position = v_position, pending_id = null, pending_end = null, failures = 0, next_at = null
      where w.project_id = p_project_id and w.id = v_hook.id returning * into v_hook;
    when 'test_webhook' then
      return jsonb_build_object('value', filestore.webhook_record(v_hook) || jsonb_build_object(
        'projectId', p_project_id, 'sealed', v_hook.secret,
        'sealedBefore', case when v_hook.previous_until > clock_timestamp() then v_hook.previous_secret end));
    when 'webhook_deliveries' then
      return jsonb_build_object('value', (
        select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'id', d.id, 'at', filestore.iso(d.at), 'type', d.type, 'attempt', d.attempt, 'error', d.error))
          || jsonb_build_object('status', d.status) order by d.number desc), '[]')
        from filestore.webhook_deliveries d where d.project_id = p_project_id and d.webhook_id = v_hook.id));
  end case;
  return jsonb_build_object('value', filestore.webhook_record(v_hook) || jsonb_build_object(
    'projectId', p_project_id));
end
$$;
comment on function filestore.administer_webhook is
  'The actions on the webhooks of an opened project: webhooks, create_webhook, change_webhook, delete_webhook, '
  'test_webhook (returns what a test needs), replay_webhook, webhook_deliveries. Refusals: WEBHOOK_NOT_FOUND, '
  'WEBHOOK_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.administer_webhook', 'filestore_account');
-- 60_retention.sql ===================================================================================================
-- Retention: the sweep erases the versions that a project's rule does not keep, the oldest first, in slices.

create function filestore.retention_cut(p_file filestore.files, p_rule jsonb) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_days constant integer := p_rule ->> 'keepDays';
  v_cut integer := (p_file).version - 1;
  v_moment filestore.moment;
begin
  if (p_file).path is null or (p_file).version = 0 then return 0; end if;
  -- The versions that an open branch is based on are kept, and those of its own files that it has merged.
  select least(v_cut, min(b.version) - 1) into v_cut
  from (
    select o.branch, o.base_version from filestore.branch_files o
    where o.project_id = (p_file).project_id and o.base_file_id = (p_file).id
    union all
    select o.branch, o.merged_version from filestore.branch_files o
    where o.project_id = (p_file).project_id and o.file_id = (p_file).id and o.base_is_merged
  ) b (branch, version)
  join filestore.branches r on r.project_id = (p_file).project_id and r.name = b.branch
  where r.state in ('open', 'ready');
  if (p_file).is_deleted then
    return case when (p_file).updated_at
      < filestore.sweep_clock() - make_interval(days => (p_rule ->> 'deletedDays')::integer)
      and v_cut = (p_file).version - 1 then (p_file).version else 0 end;
  end if;
  if not p_rule ?| '{keepVersions,keepDays}' then return 0; end if;
  if p_rule ? 'keepVersions' then
    v_cut := least(v_cut, (p_file).version - (p_rule ->> 'keepVersions')::integer);
  end if;
  if v_days is not null and v_cut > 0 then
    -- The version of that moment was not yet superseded; the versions before it were.
    v_moment.at := filestore.sweep_clock() - make_interval(days => v_days);
    v_cut := least(v_cut, coalesce(((filestore.file_at(p_file, v_moment)).file).version, 0) - 1);
  end if;
  return v_cut;
end
$$;
comment on function filestore.retention_cut is
  'The last version of a file that a rule does not keep: below 1 where the rule keeps all versions; the '
  'latest version where the file is deleted and due to be purged.';
call filestore.grant_execute('filestore.retention_cut', 'filestore_admin');

create function filestore.preview_retention(p_project_id uuid, p_rule jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).retention_preview_files;
  c_versions_max constant integer := (filestore.limits()).retention_preview_versions;
  v_file filestore.files;
  v_cut integer;
  v_count integer;
  v_examined integer := 0;
  v_versions integer := 0;
  v_files integer := 0;
  v_is_complete boolean := true;
  v_shown jsonb := '[]';
begin
  if p_rule is not null then
    for v_file in
      select * from filestore.files f where f.project_id = p_project_id order by f.id limit c_files_max + 1
    loop
      v_is_complete := v_examined < c_files_max and v_versions < c_versions_max;
      exit when not v_is_complete;
      v_examined := v_examined + 1;
      v_cut := filestore.retention_cut(v_file, p_rule);
      continue when v_cut < 1;
      select count(*) into v_count from (
        select from filestore.file_versions v
        where v.file_id = v_file.id and v.version <= v_cut
        limit c_versions_max - v_versions) c;
      continue when v_count = 0;
      v_versions := v_versions + v_count;
      v_files := v_files + v_file.is_deleted::integer;
      if jsonb_array_length(v_shown) < (filestore.limits()).retention_preview_shown then
        v_shown := v_shown || jsonb_build_object(
          'path', v_file.path, 'versions', v_count, 'whole', v_file.is_deleted);
      end if;
    end loop;
  end if;
  return jsonb_build_object(
    'versions', v_versions, 'files', v_files, 'lookedAt', v_examined, 'isComplete', v_is_complete,
    'examples', (
      select coalesce(jsonb_agg(e.value order by e.value -> 'versions' desc, (e.value ->> 'path') collate "C"), '[]')
      from jsonb_array_elements(v_shown) e));
end
$$;
comment on function filestore.preview_retention is
  'The effect of a rule if it were applied to an opened project now: the number of versions to erase and of '
  'deleted files to purge, and some of the files concerned. Incomplete where there are more files or '
  'versions than it examines.';
call filestore.publish('filestore.preview_retention', 'filestore_admin', 'filestore_account');
call filestore.pin_plan('filestore.preview_retention');

create function filestore.apply_rule(
  p_seen filestore.files, p_rule jsonb, p_waits boolean, p_versions_max integer,
  out outcome text, out versions bigint, out bytes bigint, out database_bytes bigint
)
language plpgsql volatile set search_path = '' as $$
declare
  v_cut integer := filestore.retention_cut(p_seen, p_rule);
  -- The number of versions that are examined, with the file locked, for segments that they still need.
  c_examined_max constant integer := 500;
  v_file filestore.files;
  v_removed record;
  v_marked record;
begin
  versions := 0;
  bytes := 0;
  database_bytes := 0;
  if not exists (
    select from filestore.file_versions v
    where v.project_id = (p_seen).project_id and v.file_id = (p_seen).id and v.version <= v_cut) then
    return;
  end if;
  -- Waits for a writer on the first file only. Once a file is locked, other locked files are skipped: waiting
  -- would invert the order of locks.
  begin
    if p_waits then
      select * into v_file from filestore.files f
      where f.project_id = (p_seen).project_id and f.id = (p_seen).id and f.path is not null for update;
    else
      select * into v_file from filestore.files f
      where f.project_id = (p_seen).project_id and f.id = (p_seen).id and f.path is not null
      for update skip locked;
    end if;
  exception when lock_not_available then
    null;
  end;
  if v_file.id is null then
    outcome := 'locked';
    return;
  end if;
  v_cut := filestore.retention_cut(v_file, p_rule);
  outcome := case when v_cut < 1 then 'kept' when v_file.is_deleted then 'purged' else 'trimmed' end;
  if outcome = 'purged' then
    delete from filestore.links l where l.project_id = v_file.project_id and l.path = v_file.path;
    perform filestore.purge_file(v_file, gen_random_uuid());
  elsif outcome = 'trimmed' then
    v_removed := filestore.remove_versions(v_file.project_id, v_file.id, v_cut, p_versions_max);
    delete from filestore.links l
    where l.project_id = v_file.project_id and l.path = v_file.path and l.version <= v_cut;
    delete from filestore.search_texts t
    where t.project_id = v_file.project_id and t.file_id = v_file.id and t.version <= v_cut;
    v_marked := filestore.mark_unneeded_segments(v_file, v_removed.segment_ids, c_examined_max);
    versions := v_removed.versions;
    bytes := v_marked.bytes;
    database_bytes := v_removed.database_bytes + v_marked.database_bytes;
  end if;
end
$$;
comment on function filestore.apply_rule is
  'Applies a project''s rule to a file, up to p_versions_max versions of it. outcome: purged, trimmed, kept, locked '
  '(by another transaction), or null where the file has nothing to remove.';
call filestore.grant_execute('filestore.apply_rule', 'filestore_admin');

create function filestore.sweep_retention(p_project_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := 500;
  c_versions_max constant integer := 500;
  v_project filestore.projects;
  v_pass filestore.retention_passes;
  v_seen filestore.files;
  v_step record;
  v_files integer := 0;
  v_locked integer := 0;
  v_versions bigint := 0;
  v_bytes bigint := 0;
  v_database_bytes bigint := 0;
  v_after uuid;
  v_is_full boolean := false;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('retention/' || p_project_id, 0)) then return; end if;
  select * into v_project from filestore.projects p where p.id = p_project_id and p.retention is not null;
  if not found then return; end if;
  insert into filestore.retention_passes as r (project_id, position, started_at)
  values (p_project_id, filestore.last_position(p_project_id, 0, 9223372036854775807), filestore.sweep_clock())
  on conflict (project_id) do update set position = excluded.position, started_at = excluded.started_at
    where r.after_file is null;
  select * into v_pass from filestore.retention_passes r where r.project_id = p_project_id;
  perform set_config('filestore.due_since', least(v_pass.started_at, v_project.retention_set_at)::text, true);
  v_after := v_pass.after_file;
  for v_seen in
    select * from filestore.files f
    where f.project_id = p_project_id
      and f.id > coalesce(v_pass.after_file, '00000000-0000-0000-0000-000000000000')
    order by f.id limit c_files_max
  loop
    v_files := v_files + 1;
    v_step := filestore.apply_rule(v_seen, v_project.retention, v_locked = 0, c_versions_max - v_versions::integer);
    v_is_full := v_step.outcome = 'locked' and v_locked > 0;
    exit when v_is_full;
    v_locked := v_locked + (v_step.outcome is not null)::integer;
    v_versions := v_versions + v_step.versions;
    v_bytes := v_bytes + v_step.bytes;
    v_database_bytes := v_database_bytes + v_step.database_bytes;
    v_is_full := v_versions >= c_versions_max;
    -- This file may have more versions to remove.
    exit when v_is_full;
    v_after := v_seen.id;
    v_is_full := v_step.outcome is not distinct from 'purged';
    exit when v_is_full;
  end loop;
  if v_versions > 0 then
    perform filestore.add_usage(p_project_id, -v_bytes, -v_database_bytes, -v_versions);
  end if;
  v_after := case when v_is_full then coalesce(v_after, '00000000-0000-0000-0000-000000000000')
    when v_files = c_files_max then v_after end;
  update filestore.retention_passes r
  set after_file = v_after, applied_at = case when v_after is null then r.started_at else r.applied_at end
  where r.project_id = p_project_id;
end
$$;
comment on function filestore.sweep_retention is
  'One slice of applying a project''s rule: examines a bounded number of files in the order of their ids, '
  'and ends early once it has removed a bounded number of versions or purged one deleted file.';
call filestore.grant_execute('filestore.sweep_retention', 'filestore_admin');
-- 61_usage_by_day.sql ================================================================================================
-- Usage by day: requests, versions and bytes, in rows of days. No request waits for these counts.
--
-- Each isolate of the edge function adds up its requests and sends the sums from time to time. The sweep and
-- requests for usage count versions from their own rows, in the order of the change feed.

create function public.filestore_count_usage(p_counts jsonb) returns void
language sql volatile security definer set search_path = '' as $$
  select set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true),
    set_config('synchronous_commit', 'off', true);
  -- In one order, so that isolates that wait for each other cannot deadlock.
  insert into filestore.usage_days as d (project_id, day, key_id, requests)
  select p.id, c.day, coalesce(c.key_id, '00000000-0000-0000-0000-000000000000'), sum(c.requests)
  from (
    select (e.value ->> 'projectId')::uuid as project_id, (e.value ->> 'keyId')::uuid as key_id,
           (e.value ->> 'day')::date as day, (e.value ->> 'requests')::bigint as requests
    from jsonb_array_elements(p_counts) e
  ) c
  join filestore.projects p on p.id = c.project_id and p.deleted_at is null
  -- An isolate may have slept past midnight.
  where abs(c.day - (select filestore.sweep_clock() at time zone 'UTC')::date) <= 1
  group by 1, 2, 3 order by 1, 2, 3
  on conflict (project_id, day, key_id) do update set requests = d.requests + excluded.requests
$$;
comment on function public.filestore_count_usage is
  'Adds requests that an isolate has counted, [{"projectId", "keyId", "day", "requests"}], to the days of '
  'their projects; keyId null stands for the console.';
call filestore.publish('public.filestore_count_usage', 'filestore_admin', 'service_role');

create function filestore.fold_usage(p_project_id uuid, p_versions_max integer) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_today constant date := (filestore.sweep_clock() at time zone 'UTC')::date;
  v_oldest constant date := v_today - (filestore.limits()).usage_kept_days;
  v_end bigint;
  v_position bigint;
  v_last bigint;
  v_versions integer;
begin
  -- One transaction counts at a time. Meanwhile, a request for usage reads the earlier counts.
  if not pg_try_advisory_xact_lock(hashtextextended('usage/' || p_project_id, 0)) then return 0; end if;
  v_end := filestore.feed_end(p_project_id);
  v_position := coalesce((select f.position from filestore.usage_folds f where f.project_id = p_project_id), 0);
  with slice as materialized (
    select v.file_id, v.version, v.position, v.operation, v.size, v.created_at, v.key_id
    from filestore.file_versions v
    where v.project_id = p_project_id and v.position > v_position and v.position <= v_end
    order by v.position limit p_versions_max
  ), counted as (
    insert into filestore.usage_days as d (project_id, day, key_id, versions, bytes_written)
    select p_project_id, (s.created_at at time zone 'UTC')::date, s.key_id, count(*),
           sum(case when s.operation in ('write', 'overwrite', 'edit') then s.size
             when s.operation = 'append' then greatest(s.size - coalesce((
               select b.size from filestore.file_versions b
               where b.project_id = p_project_id and b.file_id = s.file_id and b.version = s.version - 1), s.size), 0)
             else 0 end)
    from slice s
    -- The receipt of a purge is not a version that a client wrote.
    where s.operation <> 'purge' and (s.created_at at time zone 'UTC')::date > v_oldest
    group by 2, 3 order by 2, 3
    on conflict (project_id, day, key_id) do update
      set versions = d.versions + excluded.versions, bytes_written = d.bytes_written + excluded.bytes_written
  )
  select count(*), max(s.position) into v_versions, v_last from slice s;
  insert into filestore.usage_folds as f (project_id, position, folded_at)
  values (
    p_project_id, coalesce(v_last, v_position),
    -- If versions are left, the project is due again at once, like the other projects that are due.
    filestore.sweep_clock() - case when v_versions < p_versions_max then interval '0' else interval '1 hour' end)
  on conflict (project_id) do update set position = excluded.position, folded_at = excluded.folded_at;
  -- The present size of the project is the level of the day, where it changed.
  insert into filestore.usage_levels as l (project_id, day, bytes, database_bytes)
  select p_project_id, v_today, n.bytes, n.database_bytes
  from (
    select coalesce(sum(u.bytes), 0) as bytes, coalesce(sum(u.database_bytes), 0) as database_bytes
    from filestore.project_usage u where u.project_id = p_project_id
  ) n
  where not exists (
    select from (
      select * from filestore.usage_levels o
      where o.project_id = p_project_id and o.day <= v_today order by o.day desc limit 1
    ) o where o.bytes = n.bytes and o.database_bytes = n.database_bytes)
  on conflict (project_id, day) do update set bytes = excluded.bytes, database_bytes = excluded.database_bytes;
  return v_versions;
end
$$;
comment on function filestore.fold_usage is
  'Counts versions of a project that are not counted yet, up to p_versions_max, in its days, and stores its '
  'present size; returns the number of versions counted.';
call filestore.publish('filestore.fold_usage', 'filestore_admin', 'filestore_account');
call filestore.pin_plan('filestore.fold_usage');

create function filestore.sweep_usage(p_begun timestamptz) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_oldest constant date := (filestore.sweep_clock() at time zone 'UTC')::date - (filestore.limits()).usage_kept_days;
  c_projects constant integer := 100;
  v_left integer := 10000;
  v_project_id uuid;
  v_is_any boolean := false;
begin
  for v_project_id in
    -- In the order in which isolates add their requests, which may concern the same rows.
    select due.id from (
      select p.id from filestore.projects p left join filestore.usage_folds f on f.project_id = p.id
      where p.deleted_at is null and (p.created_at <= p_begun) is not false and (f.project_id is null
        or f.folded_at < filestore.sweep_clock() - interval '1 hour')
      order by coalesce(f.folded_at, p.created_at), p.id limit c_projects
    ) due order by due.id
  loop
    v_is_any := true;
    v_left := v_left - filestore.fold_usage(v_project_id, v_left);
    delete from filestore.usage_days d where d.project_id = v_project_id and d.day <= v_oldest;
    -- The newest of them is still needed for the days after it.
    delete from filestore.usage_levels l
    where l.project_id = v_project_id and l.day < (
      select max(o.day) from filestore.usage_levels o where o.project_id = v_project_id and o.day <= v_oldest);
    exit when v_left <= 0;
  end loop;
  return v_is_any;
end
$$;
comment on function filestore.sweep_usage is
  'One slice of counting usage: counts projects whose versions were not counted recently, and removes days '
  'that are no longer kept. False if no work was left that existed before p_begun.';
call filestore.grant_execute('filestore.sweep_usage', 'filestore_admin');

create function filestore.usage_by_day(p_project_id uuid, p_query jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_console constant uuid := '00000000-0000-0000-0000-000000000000';
  v_today constant date := (filestore.sweep_clock() at time zone 'UTC')::date;
  v_only_key_id constant uuid := case when p_query ? 'onlyKeyId'
    then coalesce((p_query ->> 'onlyKeyId')::uuid, c_console) end;
  v_key_id uuid;
  v_from date;
  v_to date;
begin
  begin
    v_to := coalesce((p_query ->> 'to')::date, v_today);
    v_from := coalesce((p_query ->> 'from')::date, v_to - 29);
    v_key_id := case when p_query ->> 'keyId' = 'console' then c_console else (p_query ->> 'keyId')::uuid end;
  exception when data_exception then
    return filestore.refused_field('from', 'and to must be days, and keyId the id of a key or console');
  end;
  if v_to not between v_from and v_from + (filestore.limits()).usage_days_max - 1 then
    return filestore.refused_field(
      'to', format('must be from and at most %s days later', (filestore.limits()).usage_days_max - 1));
  end if;
  return jsonb_build_object('value', jsonb_build_object(
    'from', v_from, 'to', v_to,
    'days', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'day', g.day::date, 'requests', coalesce(u.requests, 0), 'versions', coalesce(u.versions, 0),
        'bytesWritten', coalesce(u.bytes_written, 0), 'bytes', l.bytes, 'databaseBytes', l.database_bytes)
        order by g.day), '[]')
      from generate_series(v_from::timestamp, least(v_to, v_today)::timestamp, interval '1 day') g (day)
      left join (
        select d.day, sum(d.requests) as requests, sum(d.versions) as versions, sum(d.bytes_written) as bytes_written
        from filestore.usage_days d
        where d.project_id = p_project_id and d.day between v_from and v_to
          and (v_key_id is null or d.key_id = v_key_id and d.key_id = coalesce(v_only_key_id, d.key_id))
        group by d.day
      ) u on u.day = g.day::date
      left join lateral (
        select s.bytes, s.database_bytes from filestore.usage_levels s
        where s.project_id = p_project_id and s.day <= g.day::date order by s.day desc limit 1
      ) l on true))
    || (
      select jsonb_build_object(
        'keyCount', count(*),
        'keys', coalesce(jsonb_agg(jsonb_build_object(
          'keyId', nullif(s.key_id, c_console), 'name', k.name, 'prefix', nullif(k.prefix, ''),
          'requests', s.requests, 'versions', s.versions, 'bytesWritten', s.bytes_written) order by s.place)
          filter (where s.place <= (filestore.limits()).usage_keys_shown_max), '[]'))
      from (
        select d.key_id, sum(d.requests) as requests, sum(d.versions) as versions,
               sum(d.bytes_written) as bytes_written,
               row_number() over (order by sum(d.requests) desc, sum(d.versions) desc, d.key_id) as place
        from filestore.usage_days d
        where d.project_id = p_project_id and d.day between v_from and v_to
          and d.key_id = coalesce(v_only_key_id, d.key_id)
        group by d.key_id
      ) s
      left join filestore.api_keys k on k.project_id = p_project_id and k.id = s.key_id));
end
$$;
comment on function filestore.usage_by_day is
  'Usage of an opened project: {"from", "to"} are days, by default the last 30; {"keyId"} limits the days to '
  'one key, by id, or to console; {"onlyKeyId"} is the only key whose usage the caller may see. Refusals: '
  'VALIDATION_ERROR.';
call filestore.grant_execute('filestore.usage_by_day', 'filestore_account');
-- 62_sweep.sql =======================================================================================================
-- The sweep: the work that is due, and the order in which it serves projects.

create function filestore.projects_to_sweep(
  p_kind text, p_begun timestamptz, out project_id uuid, out due_since timestamptz
) returns setof record
language plpgsql volatile set search_path = '' as $$
begin
  case p_kind
    when 'versions' then
      return query select g.project_id, min(g.due_since) from filestore.purged_files g
      where g.pending_versions > 0 group by g.project_id;
    when 'marks' then
      -- One probe of the index for each project, whatever the number of its segments.
      return query with recursive projects as (
        (select c.project_id, c.due_since from filestore.possibly_unreferenced_segments c
         where c.due_since is not null order by c.project_id, c.due_since limit 1)
        union all
        select n.project_id, n.due_since from projects p cross join lateral (
          select c.project_id, c.due_since from filestore.possibly_unreferenced_segments c
          where c.due_since is not null and c.project_id > p.project_id
          order by c.project_id, c.due_since limit 1) n
      ) select p.project_id, p.due_since from projects p;
    when 'answers' then
      return query select p.id, p.answers_blank_since from filestore.projects p
      where p.answers_blank_through is not null;
    when 'branches' then
      return query select b.project_id, min(b.due_at) from filestore.branches b
      where b.due_at <= filestore.sweep_clock() group by b.project_id;
    when 'retention' then
      -- A project is due if a pass is under way, or if, since the last pass began, something was written, the
      -- rule changed or enough time passed. With p_begun: only a pass that was under way then, or the first
      -- one that begins later; not a second one, nor one for a rule that was set later. Null: without this
      -- limit.
      return query select p.id, coalesce(p.retention_set_at, p.created_at)
      from filestore.projects p left join filestore.retention_passes r on r.project_id = p.id
      where p.retention is not null and (
        r.after_file is not null and (r.started_at <= p_begun) is not false
        or (p.retention_set_at <= p_begun) is not false and (r.applied_at < p_begun) is not false and (
          r.project_id is null or r.after_file is not null or r.started_at < p.retention_set_at
          or r.started_at < filestore.sweep_clock() - interval '1 hour'
          or filestore.last_position(p.id, r.position, 9223372036854775807) > r.position));
  end case;
end
$$;
comment on function filestore.projects_to_sweep is
  'The projects with work of a kind, and since when it is due. Reads a row for each unfinished purge, each '
  'project with a pass due, and each rule of retention.';
call filestore.grant_execute('filestore.projects_to_sweep', 'filestore_admin');

create function filestore.note_slice(p_project_id uuid, p_kind text) returns void
language sql volatile set search_path = '' as $$
  insert into filestore.sweeps as s (project_id, turns)
  select p.id, jsonb_build_object(p_kind, clock_timestamp()) from filestore.projects p where p.id = p_project_id
  on conflict (project_id) do update set turns = s.turns || excluded.turns
$$;
comment on function filestore.note_slice is
  'Records a step of a kind for a project, so that all other waiting projects come before it.';
call filestore.grant_execute('filestore.note_slice', 'filestore_admin');

create function public.filestore_sweep_erasures(p_kind text, p_begun timestamptz default null) returns boolean
language plpgsql volatile security definer
-- By index, whatever the statistics are: recently removed entries precede the rows that are searched for.
set search_path = '' set plan_cache_mode = 'force_generic_plan'
set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  -- A client's clock may drop fractions of a millisecond.
  v_begun constant timestamptz := p_begun + interval '1 millisecond';
  v_project_id uuid;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  if p_kind = 'usage' then return filestore.sweep_usage(v_begun); end if;
  -- The project that has waited longest, since its last step or since its work is due. So a new project comes
  -- after those whose last step was before that.
  select w.project_id into v_project_id
  from filestore.projects_to_sweep(p_kind, v_begun) w
  join filestore.projects p on p.id = w.project_id and p.deleted_at is null
  left join filestore.sweeps s on s.project_id = w.project_id
  where p_kind = 'retention' or (w.due_since <= v_begun) is not false
  order by greatest(w.due_since, (s.turns ->> p_kind)::timestamptz), w.project_id limit 1;
  if v_project_id is null then return false; end if;
  begin
    case p_kind
      when 'versions' then perform filestore.sweep_purged_versions(v_project_id);
      when 'marks' then perform filestore.sweep_marks(v_project_id);
      when 'answers' then perform filestore.sweep_answers(v_project_id);
      when 'retention' then perform filestore.sweep_retention(v_project_id);
      when 'branches' then perform filestore.sweep_branches(v_project_id);
    end case;
  exception when lock_not_available then
    -- The slice counts as a step all the same, or no other project would be served.
    null;
  end;
  perform filestore.note_slice(v_project_id, p_kind);
  return true;
end
$$;
comment on function public.filestore_sweep_erasures is
  'One step of one kind, for the project that has waited longest: versions, marks and answers of what was '
  'erased, retention, ended branches, or usage, which is counted for several projects. False where no work is due; '
  'with p_begun, no work that was due by then, so that a sweep ends even while other work arrives.';
call filestore.publish('public.filestore_sweep_erasures', 'filestore_admin', 'service_role');

create function filestore.sweepable_through() returns date
language plpgsql volatile set search_path = ''
as $$ begin return ((filestore.sweep_clock() - interval '1 hour') at time zone 'UTC')::date - 2; end $$;
comment on function filestore.sweepable_through is
  'The last day whose segments can no longer be committed. It counts from an hour after commits begin to '
  'refuse them, when every commit that was accepted earlier has ended.';
call filestore.grant_execute('filestore.sweepable_through', 'filestore_admin');

create function public.filestore_sweep_dead(p_limit integer, p_begun timestamptz default null) returns jsonb
language sql volatile security definer
-- By index, whatever the statistics are, as in 48_erasure.sql.
set search_path = '' set enable_seqscan = off set enable_bitmapscan = off
as $$
  with forgotten as materialized (
    select d.segment_id from filestore.dead_segments d
    where d.removed_at is not null and d.stored_on <= filestore.sweepable_through()
    order by d.stored_on limit p_limit for update skip locked
  ), unlisted as (
    delete from filestore.dead_segments d using forgotten f where d.segment_id = f.segment_id
  )
  delete from filestore.segments s using forgotten f where s.id = f.segment_id;
  with recursive projects as (
    -- One probe of the index for each project, whatever the number of its segments.
    (select d.project_id, d.due_since from filestore.dead_segments d
     where d.removed_at is null order by d.project_id, d.due_since limit 1)
    union all
    select n.project_id, n.due_since from projects p cross join lateral (
      select d.project_id, d.due_since from filestore.dead_segments d
      where d.removed_at is null and d.project_id > p.project_id order by d.project_id, d.due_since limit 1) n
  ), waiting as materialized (
    select * from projects p where (p.due_since <= p_begun + interval '1 millisecond') is not false
    order by p.due_since, p.project_id limit p_limit
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', d.segment_id,
    'name', d.project_id || '/' || to_char(d.stored_on, 'YYYYMMDD') || '/' || d.segment_id)), '[]')
  from waiting w cross join lateral (
    select * from filestore.dead_segments d
    where d.project_id = w.project_id and d.removed_at is null
      and (d.due_since <= p_begun + interval '1 millisecond') is not false
    order by d.due_since limit p_limit / (select count(*) from waiting)
  ) d
$$;
comment on function public.filestore_sweep_dead is
  'Segments whose objects are to be removed, up to p_limit, equal numbers for each project that has any; '
  'with p_begun, only those that were dead by then or follow from work that was due by then. Also removes up '
  'to the same number of rows whose objects were removed and whose day''s segments can no longer be '
  'committed.';
call filestore.publish('public.filestore_sweep_dead', 'filestore_admin', 'service_role');

create function public.filestore_sweep_removed(p_ids uuid[]) returns void
language sql volatile security definer set search_path = '' as $$
  -- A checksum reveals a content that can be guessed.
  update filestore.segments s set sha256 = decode(repeat('00', 32), 'hex'), newlines = 0, ends_with_newline = false
  where s.id in (select d.segment_id from filestore.dead_segments d where d.segment_id = any (p_ids));
  -- Where objects of the day being swept were removed, the places of the kept ones in its list have changed.
  update filestore.sweeps w set kept = 0
  where (w.project_id, w.day) in (
    select d.project_id, d.stored_on from filestore.dead_segments d where d.segment_id = any (p_ids));
  update filestore.dead_segments d set removed_at = filestore.sweep_clock()
  where d.segment_id = any (p_ids) and d.removed_at is null;
$$;
comment on function public.filestore_sweep_removed is
  'Records that the objects of these dead segments were removed.';
call filestore.publish('public.filestore_sweep_removed', 'filestore_admin', 'service_role');

create function public.filestore_sweep_next(p_begun timestamptz default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- The number of keys and links that are removed in one step because they ended long ago.
  c_keys constant integer := 100;
  c_links constant integer := 1000;
  v_through constant date := filestore.sweepable_through();
  v_next jsonb;
begin
  -- If versions may name the key, its id and name remain.
  with ended as materialized (
    select k.id from filestore.api_keys k
    where k.key_hash is not null and least(k.revoked_at, k.expires_at)
      < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_keys_kept_days)
    order by least(k.revoked_at, k.expires_at) limit c_keys for update skip locked
  ), removed as (
    delete from filestore.api_keys k using ended e where k.id = e.id and not k.has_written returning k.id
  )
  update filestore.api_keys k set key_hash = null, prefix = ''
  from ended e where k.id = e.id and k.id not in (select r.id from removed r);
  delete from filestore.links l where l.id in (
    select o.id from filestore.links o
    where o.expires_at < filestore.sweep_clock() - make_interval(days => (filestore.limits()).ended_links_kept_days)
    order by o.expires_at limit c_links for update skip locked);
  perform filestore.sweep_apps(c_links);
  delete from filestore.webhook_events e where (e.project_id, e.position) in (
    select o.project_id, o.position from filestore.webhook_events o
    where o.created_at < filestore.sweep_clock() - interval '30 days' and not exists (
      select from filestore.webhooks w where w.project_id = o.project_id and w.position < o.position)
    order by o.created_at limit c_links);
  delete from filestore.members m where (m.project_id, m.id) in (
    select o.project_id, o.id from filestore.members o
    where o.account_id is null and o.expires_at < filestore.sweep_clock()
    order by o.expires_at limit c_links);
  -- Windows of links that were removed, too; a link that is used again gets a new one.
  delete from filestore.link_windows w
  where w.window_start < clock_timestamp() - interval '1 hour' and (w.project_id, w.link_id) in (
    select o.project_id, o.link_id from filestore.link_windows o
    where o.window_start < clock_timestamp() - interval '1 hour' limit c_links);
  select jsonb_build_object(
    'projectId', p.id, 'through', v_through, 'sweptThrough', s.swept_through, 'day', s.day, 'kept', coalesce(s.kept, 0))
  into v_next
  from filestore.projects p left join filestore.sweeps s on s.project_id = p.id
  where p.deleted_at is null and (s.swept_through is null or s.swept_through < v_through)
    and (p.created_at <= p_begun + interval '1 millisecond') is not false
  -- The project that has waited longest, as in filestore_sweep_erasures.
  order by greatest(p.created_at, (s.turns ->> 'uploads')::timestamptz), p.id
  limit 1;
  perform filestore.note_slice((v_next ->> 'projectId')::uuid, 'uploads');
  return v_next;
end
$$;
comment on function public.filestore_sweep_next is
  'The project whose uploads are to be examined and that has waited longest, and how far its sweep has '
  'progressed; null if there is no such project, with p_begun none that existed by then. Also removes some '
  'keys, tokens, links and windows of links that ended long ago, and invitations that nobody accepted in time.';
call filestore.publish('public.filestore_sweep_next', 'filestore_admin', 'service_role');

create function public.filestore_sweep_unreferenced(p_project_id uuid, p_ids uuid[]) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select coalesce(jsonb_agg(i.id), '[]') from unnest(p_ids) i (id)
  where not exists (select from filestore.segments s where s.id = i.id and s.project_id = p_project_id)
$$;
comment on function public.filestore_sweep_unreferenced is
  'Returns the given segment ids that have no row. Only called for days whose segments commits refuse.';
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
comment on function public.filestore_sweep_progress is
  'Records how far the sweep of a project has progressed.';
call filestore.publish('public.filestore_sweep_progress', 'filestore_admin', 'service_role');
-- 63_verify.sql ======================================================================================================
-- Verification: the segments that the versions of a project need, page by page, so that the command line can
-- request each from Storage. After a restore of Postgres or Storage, it shows whether the two match.

create function public.filestore_verify_versions(
  p_project_id uuid, p_after_path text default null, p_after_version integer default 0
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- A page ends with the version that reaches one of these.
  c_page_versions constant integer := 500;
  c_page_segments constant integer := 2000;
  -- Comes after the last version of any file.
  c_version_max constant integer := 2147483647;
  v_file record;
  v_version record;
  v_listed uuid[];
  v_versions jsonb[] := '{}';
  v_ids uuid[] := '{}';
  v_next jsonb;
begin
  <<files>>
  for v_file in
    select f.id, f.path, f.version, f.segment_ids from filestore.files f
    where f.project_id = p_project_id and f.path >= coalesce(p_after_path, '')
      and (f.path <> p_after_path or p_after_version < c_version_max) is not false
    order by f.path limit c_page_versions
  loop
    for v_version in
      select v.version, v.segment_ids from filestore.file_versions v
      where v.file_id = v_file.id and v.version > case when v_file.path = p_after_path then p_after_version else 0 end
      order by v.version limit c_page_versions
    loop
      v_listed := v_version.segment_ids;
      -- The latest version is read by the file's own list, which a compaction may have changed.
      if v_version.version = v_file.version and v_file.segment_ids <> v_listed then
        v_listed := v_listed || array(select unnest(v_file.segment_ids) except select unnest(v_listed));
      end if;
      v_versions := v_versions || jsonb_build_object(
        'path', v_file.path, 'version', v_version.version, 'segments', to_jsonb(v_listed));
      v_ids := v_ids || v_listed;
      v_next := jsonb_build_object('path', v_file.path, 'version', v_version.version);
      exit files when cardinality(v_versions) >= c_page_versions
        or cardinality(v_ids) >= c_page_segments;
    end loop;
    -- Past all of this file, even if it has no version.
    v_next := jsonb_build_object('path', v_file.path, 'version', c_version_max);
  end loop;
  return jsonb_build_object(
    'versions', to_jsonb(v_versions),
    'segments', filestore.segment_list(p_project_id, array(select distinct i.id from unnest(v_ids) i (id))),
    'next', v_next);
end
$$;
comment on function public.filestore_verify_versions is
  'The versions of a project after a given one, by path and number, with the segments that they need, each '
  'once; `next` is null at the end. Segments without a row are left out.';
call filestore.publish('public.filestore_verify_versions', 'filestore_admin', 'service_role');
call filestore.pin_plan('public.filestore_verify_versions');

--
-- A segment has no row that leads to its versions. So the command line takes some segments and reads all
-- versions of their projects. A segment in none of these versions, nor in one added in the meantime, is not
-- needed and never will be: a new version takes its segments from its own upload, or from readable versions.
create function public.filestore_verify_segments(p_after uuid default null, p_project_id uuid default null)
returns jsonb
language sql volatile security definer set search_path = '' set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
  with page as materialized (
    select s.id, s.project_id, s.stored_on from filestore.segments s
    where s.id > coalesce(p_after, '00000000-0000-0000-0000-000000000000') order by s.id limit 10000
  ), found as (
    select p.project_id, jsonb_agg(p.id) as ids from page p
    -- Newer segments may be in the middle of an upload or a commit.
    where p.stored_on <= (select filestore.sweepable_through())
      and (p_project_id is null or p.project_id = p_project_id)
      and not exists (select from filestore.dead_segments d where d.segment_id = p.id)
      and not exists (select from filestore.projects o where o.id = p.project_id and o.deleted_at is not null)
    group by p.project_id
  )
  select jsonb_build_object(
    'projects', (select coalesce(jsonb_object_agg(f.project_id, f.ids), '{}') from found f),
    'next', (select p.id from page p order by p.id desc limit 1))
$$;
comment on function public.filestore_verify_segments is
  'A page of segments by project, after an id, of one project or of all: only those of days whose segments '
  'can no longer be committed, without those that the sweep removes anyway. `next` is null at the end.';
call filestore.publish('public.filestore_verify_segments', 'filestore_admin', 'service_role');

create function public.filestore_verify_progress(p_project_id uuid) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object('position', filestore.feed_end(p_project_id), 'sweptThrough', (
    select s.swept_through from filestore.sweeps s where s.project_id = p_project_id))
$$;
comment on function public.filestore_verify_progress is
  'A position up to which all versions that will ever exist are visible from now on; and the last day of the '
  'project that the sweep has finished and does not visit again, or null.';
call filestore.publish('public.filestore_verify_progress', 'filestore_admin', 'service_role');

create function public.filestore_verify_unneeded(
  p_project_id uuid, p_ids uuid[], p_position bigint, p_repairs boolean
) returns jsonb
language plpgsql volatile security definer set search_path = '' set enable_seqscan = off as $$
declare
  v_unneeded uuid[];
  v_removed bigint := 0;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  -- Segments that the sweep has yet to remove for purged files cannot be told from unneeded ones.
  if exists (select from filestore.purged_files g where g.project_id = p_project_id and g.pending_versions > 0) then
    return jsonb_build_object('unneeded', 0, 'removed', 0);
  end if;
  -- One statement: a segment that one version takes over from another is in at least one of them at any
  -- moment.
  v_unneeded := array(
    select s.id from filestore.segments s
    where s.id = any (p_ids) and s.project_id = p_project_id and s.stored_on <= filestore.sweepable_through()
      and not exists (select from filestore.dead_segments d where d.segment_id = s.id)
    except
    select n.id from filestore.file_versions v cross join unnest(v.segment_ids) n (id)
    where v.project_id = p_project_id and v.position > p_position
    except
    -- The sweep finds out whether they are needed.
    select c.segment_id from filestore.possibly_unreferenced_segments c
    where c.project_id = p_project_id and c.due_since is not null
    order by 1);
  if p_repairs then
    v_removed := cardinality(v_unneeded);
    if exists (select from filestore.projects p where p.id = p_project_id) then
      -- The sweep reads the project once more. Since no file contains them, the id of the project takes the
      -- place of the file's.
      perform filestore.examine_segments(p_project_id, p_project_id, v_unneeded);
    else
      perform filestore.mark_segments_dead(p_project_id, v_unneeded);
    end if;
  end if;
  return jsonb_build_object('unneeded', cardinality(v_unneeded), 'removed', v_removed);
end
$$;
comment on function public.filestore_verify_unneeded is
  'The number of these segments that are not needed. The caller has read all versions up to p_position and '
  'all lists of files since `filestore_verify_progress` returned that position, and found the segments in '
  'none. With p_repairs they are marked for the sweep, which removes their objects and then their rows.';
call filestore.publish('public.filestore_verify_unneeded', 'filestore_admin', 'service_role');

create function public.filestore_verify_unknown(p_ids uuid[]) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object(
    'ids', array(
      select i.id from unnest(p_ids) i (id)
      where not exists (select from filestore.projects p where p.id = i.id) order by i.id),
    'through', filestore.sweepable_through())
$$;
comment on function public.filestore_verify_unknown is
  'The given ids that belong to no project (a deleted project counts until the sweep has removed it); and '
  'the last day for which uploads have ended.';
call filestore.publish('public.filestore_verify_unknown', 'filestore_admin', 'service_role');
-- 64_deletion.sql ====================================================================================================
-- Deleting a project, and an account, for good.
--
-- The commit that ends a project changes its row and adds one here, whatever the project contains: from then
-- on its keys, links and console sessions are refused. The sweep removes everything else in slices: the
-- objects, then the rows. Requests that were under way when it ended may still store content, so a project is
-- swept again after an hour, and a last time once no upload of its last day can still be under way. Only then
-- its own row is removed.

create function filestore.end_project(p_project_id uuid, p_confirm text, p_deletion_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz(3) := clock_timestamp();
  v_name text;
begin
  perform set_config('filestore.project_id', p_project_id::text, true);
  select p.name into v_name from filestore.projects p
  where p.id = p_project_id and p.deleted_at is null for no key update;
  if not found then return filestore.refusal('PROJECT_NOT_FOUND'); end if;
  if v_name is distinct from p_confirm then
    return filestore.refused_field('confirm', 'must be the name of the project');
  end if;
  -- Another project may use the name immediately.
  update filestore.projects p set (deleted_at, owner_id, name) = (v_now, null, p.id::text) where p.id = p_project_id;
  insert into filestore.project_deletions (project_id, id, deleted_at, due_at, visited_at)
  values (p_project_id, coalesce(p_deletion_id, gen_random_uuid()), v_now, v_now, v_now);
  return jsonb_build_object('value', jsonb_build_object('id', p_project_id, 'deletedAt', filestore.iso(v_now)));
end
$$;
comment on function filestore.end_project is
  'Ends a project whose name is given, in a commit of bounded cost: it can no longer be used or seen, and '
  'the sweep removes its contents. Refusals: VALIDATION_ERROR, PROJECT_NOT_FOUND.';
call filestore.grant_execute('filestore.end_project', 'filestore_account');

create function filestore.repeated_deletion(p_deletion_id uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object('value', jsonb_build_object('id', d.of_id, 'deletedAt', filestore.iso(d.deleted_at)))
  from (
    select p.id, p.project_id as of_id, p.deleted_at from filestore.project_deletions p
    union all
    select a.id, a.account_id, a.deleted_at from filestore.account_deletions a
    where a.account_id = filestore.claimed_account_id()
  ) d
  where d.id = p_deletion_id
$$;
comment on function filestore.repeated_deletion is
  'The answer of an earlier attempt at this deletion of a project, or of the signed-in account; otherwise '
  'null. The id of the deletion is a secret of the client that requested it, whose key is already refused.';
call filestore.publish(
  'filestore.repeated_deletion', 'filestore_admin', 'filestore_account', 'filestore_engine');

create function filestore.end_account(p_account_id uuid, p_deletion_id uuid) returns jsonb
language sql volatile security definer set search_path = '' as $$
  insert into filestore.account_deletions (account_id, id, deleted_at, due_at)
  values (
    p_account_id, coalesce(p_deletion_id, gen_random_uuid()), clock_timestamp(),
    clock_timestamp() + interval '1 minute')
  returning jsonb_build_object('id', account_id, 'deletedAt', filestore.iso(deleted_at))
$$;
comment on function filestore.end_account is
  'Ends an account: all of its requests are refused from now on. The sweep has Auth remove it, unless the '
  'caller does so within a minute.';
call filestore.publish('filestore.end_account', 'filestore_admin', 'filestore_account');

create function public.filestore_sweep_forget_account(p_account_id uuid) returns void
language sql volatile security definer set search_path = ''
as $$ delete from filestore.account_deletions d where d.account_id = p_account_id $$;
comment on function public.filestore_sweep_forget_account is 'Records that Auth no longer has the account.';
call filestore.publish('public.filestore_sweep_forget_account', 'filestore_admin', 'service_role');

create function public.filestore_sweep_deleted_account(p_begun timestamptz default null) returns uuid
language sql volatile security definer set search_path = '' as $$
  -- If Auth fails to remove an account, it is tried again later, and the rest of the sweep continues.
  update filestore.account_deletions d set due_at = filestore.sweep_clock() + interval '10 minutes'
  where d.account_id = (
    select o.account_id from filestore.account_deletions o
    where o.due_at <= filestore.sweep_clock()
      and (o.deleted_at <= p_begun + interval '1 millisecond') is not false
    order by o.due_at limit 1 for update skip locked)
  returning d.account_id
$$;
comment on function public.filestore_sweep_deleted_account is
  'The next account for Auth to remove; null if there is none, with p_begun none that was deleted by then.';
call filestore.publish('public.filestore_sweep_deleted_account', 'filestore_admin', 'service_role');

create function public.filestore_sweep_deleted_project(p_begun timestamptz default null) returns jsonb
language sql volatile security definer set search_path = '' as $$
  update filestore.project_deletions d set visited_at = clock_timestamp()
  where d.id = (
    select o.id from filestore.project_deletions o
    where o.due_at <= filestore.sweep_clock() and (o.deleted_at <= p_begun + interval '1 millisecond') is not false
    order by o.visited_at limit 1 for update skip locked)
  returning jsonb_build_object(
    'projectId', d.project_id, 'objects', to_jsonb(d.objects), 'isEmptied', d.is_emptied)
$$;
comment on function public.filestore_sweep_deleted_project is
  'The deleted project that has waited longest for its next step; null if there is none, with p_begun none '
  'that was deleted by then.';
call filestore.publish('public.filestore_sweep_deleted_project', 'filestore_admin', 'service_role');

create function public.filestore_sweep_objects(p_project_id uuid, p_objects text[], p_are_removed boolean) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform filestore.open_deletion(p_project_id);
  if not p_are_removed then
    update filestore.project_deletions d
    set objects = array(select unnest(d.objects) union select unnest(p_objects)) where d.project_id = p_project_id;
    return;
  end if;
  delete from filestore.segments s
  where s.project_id = p_project_id and s.id = any (array(
    select m.id[1]::uuid
    from unnest(p_objects) o (name), regexp_match(o.name, '/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$') m (id)
    where m.id is not null));
  update filestore.project_deletions d
  set objects = array(select unnest(d.objects) except select unnest(p_objects)) where d.project_id = p_project_id;
end
$$;
comment on function public.filestore_sweep_objects is
  'Records objects of a deleted project that are about to be removed, or removes the segments of objects that '
  'were removed. Several slices may do so at the same time.';
call filestore.publish('public.filestore_sweep_objects', 'filestore_admin', 'service_role');

create function filestore.open_deletion(p_project_id uuid) returns void
language sql volatile set search_path = '' as $$
  select set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true),
    set_config('filestore.project_id', (
      select d.project_id::text from filestore.project_deletions d where d.project_id = p_project_id), true)
$$;
comment on function filestore.open_deletion is
  'Opens the rows of a project for the rest of the transaction, if it was deleted.';
call filestore.grant_execute('filestore.open_deletion', 'filestore_admin');

create function public.filestore_sweep_remove_rows(p_project_id uuid) returns integer
language plpgsql volatile security definer
-- The rows of a slice are found by index, whatever the statistics of the table are.
set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  c_rows constant integer := 5000;
  -- The tables with rows of projects, each before the tables that its rows refer to. Segments are left out: they
  -- are removed with their objects.
  c_tables constant text[] := '{webhook_deliveries, webhook_events, webhooks, search_queue, search_chunks,
    search_texts, search_contents, shared_segments, possibly_unreferenced_segments, dead_segments, retention_passes,
    purged_files, branch_files, branches, file_versions, files, runs, idempotency_keys, link_windows, links,
    console_sessions, app_consents, app_tokens, members, api_keys, rate_windows, project_usage, sweeps,
    usage_days, usage_levels, usage_folds}';
  v_table text;
  v_key text;
  v_removed integer := 0;
  v_count integer;
  v_deletion filestore.project_deletions;
  v_last timestamptz;
begin
  perform filestore.open_deletion(p_project_id);
  update filestore.project_deletions d set is_emptied = true where d.project_id = p_project_id;
  foreach v_table in array c_tables loop
    select string_agg(quote_ident(a.attname), ', ') into v_key
    from pg_catalog.pg_index i join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = format('filestore.%I', v_table)::regclass and i.indisprimary;
    execute format(
      'delete from filestore.%1$I where (%2$s) in ('
      'select %2$s from filestore.%1$I t where t.project_id = $1 limit $2)', v_table, v_key)
    using p_project_id, c_rows - v_removed;
    get diagnostics v_count = row_count;
    v_removed := v_removed + v_count;
    exit when v_removed >= c_rows;
  end loop;
  if v_removed > 0 then return v_removed; end if;
  select * into v_deletion from filestore.project_deletions d where d.project_id = p_project_id for update;
  -- As in filestore_sweep_next: no upload of the last day can still be under way.
  v_last := ((v_deletion.deleted_at at time zone 'UTC')::date + 2)::timestamp at time zone 'UTC' + interval '1 hour';
  if v_deletion.due_at >= v_last then
    delete from filestore.project_deletions d where d.project_id = p_project_id;
    delete from filestore.projects p where p.id = p_project_id;
  else
    update filestore.project_deletions d
    set is_emptied = false, due_at = case when filestore.sweep_clock() < d.deleted_at + interval '1 hour'
      then d.deleted_at + interval '1 hour' else v_last end
    where d.project_id = p_project_id;
  end if;
  return 0;
exception when foreign_key_violation then
  -- A request that was under way has just stored rows that refer to this one: those are removed first.
  update filestore.project_deletions d set due_at = filestore.sweep_clock() + interval '1 minute'
  where d.project_id = p_project_id;
  return 0;
end
$$;
comment on function public.filestore_sweep_remove_rows is
  'Removes up to 5,000 rows of a deleted project that has no objects, and returns their number. Once no rows '
  'are left, the project is swept again later, or its own row is removed.';
call filestore.publish('public.filestore_sweep_remove_rows', 'filestore_admin', 'service_role');

-- 70_accounts.sql ====================================================================================================
-- Projects and keys, for the people in a project and for keys with the scope admin.
--
-- Signed-in users call the functions `filestore_account_*` under their own JWT. These run as
-- `filestore_account`, whose policies show the projects that the account owns or is a member of. Once a project is
-- found under those policies, the transaction is set to act for it, as far as the account's role allows.

create function filestore.account_key(p_key filestore.api_keys) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name, 'environment', (p_key).environment,
    'scopes', (p_key).scopes, 'pathPrefix', (p_key).path_prefix,
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at),
    'kind', (p_key).kind)
    || case (p_key).kind when 'app' then jsonb_build_object('client', jsonb_build_object(
      'name', (p_key).client_name, 'host', (p_key).client_host)) else '{}' end;
end
$$;
comment on function filestore.account_key is 'A key, or an app, as the project''s owner and admins see it.';
call filestore.grant_execute('filestore.account_key', 'filestore_account', 'filestore_admin');

create function filestore.is_active(p_key filestore.api_keys) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return (p_key).revoked_at is null and ((p_key).expires_at is null or (p_key).expires_at > clock_timestamp());
end
$$;
comment on function filestore.is_active is 'Whether a key is neither revoked nor expired.';
call filestore.grant_execute('filestore.is_active', 'filestore_account', 'filestore_admin');

create function filestore.account_project(p_project_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_files_max constant integer := (filestore.limits()).list_total_max;
  v_files integer;
begin
  perform set_config('filestore.project_id', p_project_id::text, true);
  v_files := filestore.count_live_files(p_project_id, '', true);
  return (
    select jsonb_build_object(
      'id', p.id, 'name', p.name, 'tier', p.tier, 'createdAt', filestore.iso(p.created_at),
      'retention', p.retention,
      'limits', jsonb_build_object(
        'requestsPerMinute', coalesce(p.requests_per_minute, t.requests_per_minute),
        'maxFileBytes', coalesce(p.max_file_bytes, t.max_file_bytes),
        'maxProjectBytes', coalesce(p.max_project_bytes, t.max_project_bytes)),
      'usage', jsonb_build_object(
        'files', least(v_files, c_files_max),
        'bytes', coalesce(u.bytes, 0), 'databaseBytes', coalesce(u.database_bytes, 0),
        'versions', coalesce(u.versions, 0),
        'requestsThisMinute', coalesce((
          select sum(w.request_count) from filestore.rate_windows w
          where w.project_id = p.id and w.window_start >= date_trunc('minute', clock_timestamp())), 0))
        || case when v_files > c_files_max then '{"filesIsExact": false}' else '{}' end::jsonb,
      'keyPrefix', (
        select k.prefix from filestore.api_keys k
        where k.project_id = p.id and k.kind = 'key' and filestore.is_active(k)
        order by k.created_at desc, k.id limit 1))
    from filestore.projects p join filestore.tiers t on t.name = p.tier
    cross join lateral (
      select sum(o.bytes) as bytes, sum(o.database_bytes) as database_bytes, sum(o.versions) as versions
      from filestore.project_usage o where o.project_id = p.id
    ) u
    where p.id = p_project_id);
end
$$;
comment on function filestore.account_project is
  'A project with its effective limits and its usage. Opens its rows for the rest of the transaction.';
call filestore.grant_execute('filestore.account_project', 'filestore_account');

create function filestore.validate_name(p_name text, p_minimum integer) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  c_maximum constant integer := (filestore.limits()).name_length_max;
  -- The characters that JavaScript trims as white space.
  c_space constant text := '[\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]';
begin
  return case when (
    char_length(p_name) between p_minimum and c_maximum
    -- Control characters, and those that change the direction of text.
    and p_name !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'
    and p_name !~ ('^' || c_space || '|' || c_space || '$')) is not true
    then filestore.refused_field('name', format(
      'must have %s to %s characters, no control characters and no space at either end', p_minimum, c_maximum)) end;
end
$$;
comment on function filestore.validate_name is 'The refusal of an invalid name of a project or key, or null.';
call filestore.grant_execute('filestore.validate_name', 'filestore_account', 'filestore_admin');

create function filestore.validate_key(p_key jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_time constant text := '^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$';
  v_scopes constant jsonb := case jsonb_typeof(p_key -> 'scopes') when 'array' then p_key -> 'scopes' else '[]' end;
  v_prefix constant text := p_key ->> 'pathPrefix';
  v_expires_at constant text := p_key ->> 'expiresAt';
begin
  return coalesce(filestore.validate_name(coalesce(p_key ->> 'name', ''), 0), (
    select filestore.refusal('VALIDATION_ERROR', jsonb_build_object(
      'issues', jsonb_agg(jsonb_build_object('path', c.path, 'reason', c.reason))))
    from (values
      ('keyHash', 'must be a SHA-256 in hexadecimal', p_key ->> 'keyHash' ~ '^[0-9a-f]{64}$'),
      ('prefix', 'must be the first characters of a key', p_key ->> 'prefix' ~ '^oa_[0-9A-Za-z]{7}$'),
      ('environment', 'must be development or production', p_key ->> 'environment' in ('development', 'production')),
      ('scopes', 'must be one or more of read, write and admin',
        v_scopes <> '[]' and v_scopes <@ '["read", "write", "admin"]'),
      ('pathPrefix', 'must be a directory', v_prefix is null
        or octet_length(v_prefix) between 1 and (filestore.limits()).path_bytes_max
        and cardinality(string_to_array(v_prefix, '/')) <= (filestore.limits()).path_segments_max
        and v_prefix !~ ('^/|/$|//|\\|(^|/)\.{1,2}(/|$)'
          -- Control characters, and those that change the direction of text.
          || '|[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]')),
      ('pathPrefix', 'must name a branch', v_prefix is distinct from '.branches'),
      ('pathPrefix', 'must not be combined with the scope admin', v_prefix is null or not v_scopes ? 'admin'),
      ('expiresAt', 'must lie in the future', v_expires_at is null
        or case when v_expires_at ~ c_time then v_expires_at::timestamptz > clock_timestamp() end)
    ) c (path, reason, holds)
    where c.holds is not true having count(*) > 0));
end
$$;
comment on function filestore.validate_key is
  'The refusal of an invalid key, or null: {"name", "environment", "scopes", "pathPrefix", "expiresAt", '
  '"keyHash", "prefix"}. The rules are those of the API, since each signed-in person may call the functions '
  'below directly.';
call filestore.grant_execute('filestore.validate_key', 'filestore_account', 'filestore_admin');

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
  'The first step of every call of an account: identifies the account, and counts one request in the '
  'account''s minute. Returns {"rate"}, and a refusal if there is one: INVALID_SESSION, RATE_LIMIT_EXCEEDED.';
call filestore.grant_execute('filestore.enter_account', 'filestore_account');

create function filestore.account_settings(p_account_id uuid) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  v_settings constant filestore.settings := (select s from filestore.settings s);
  v_makers constant text := case
    when 'anyone' = any (v_settings.project_makers) then 'anyone'
    when coalesce(cardinality(v_settings.project_makers), 0) = 0 then 'nobody'
    else 'listed' end;
  v_email constant text := case when v_makers = 'listed' then filestore.address_of(p_account_id) end;
begin
  return jsonb_build_object(
    'projectMakers', v_makers, 'sharedBytes', v_settings.account_bytes,
    'reason', case
      when v_makers = 'anyone' then null
      when v_makers = 'nobody' then 'operator_only'
      -- An unconfirmed address may belong to someone else: its account may not create projects, and learns
      -- nothing about the list.
      when v_email is not null and filestore.address_of(p_account_id, true) is null then 'address_unconfirmed'
      when v_email = any (v_settings.project_makers) or '@' || split_part(v_email, '@', 2) = any (
        v_settings.project_makers) then null
      else 'not_listed' end);
end
$$;
comment on function filestore.account_settings is
  'The operator''s settings that concern this account: {"projectMakers": "anyone", "listed" or "nobody", '
  '"reason", "sharedBytes"}. The reason explains why the account may not create projects, or is null; the '
  'list itself is never shown. Runs as the role that applies migrations, which may read auth.users.';
call filestore.grant_execute('filestore.account_settings', 'filestore_account');

create function filestore.own_id(p_owner_id uuid, p_chosen uuid) returns uuid
language plpgsql immutable set search_path = '' as $$
begin
  return overlay(overlay(md5(p_owner_id || '/' || p_chosen) placing '4' from 13) placing '8' from 17)::uuid;
end
$$;
comment on function filestore.own_id is
  'A version 4 UUID (RFC 9562) of an owner, such as an account, and an id that the caller chose: that id reveals '
  'nothing about the rows of other owners, and meets none of them.';
call filestore.grant_execute('filestore.own_id', 'filestore_account');

create function filestore.lock_account() returns void
language sql volatile set search_path = '' as $$
  select pg_advisory_xact_lock(hashtextextended('account/' || filestore.current_account_id(), 0));
$$;
comment on function filestore.lock_account is 'Serializes the changes of the signed-in account''s projects.';
call filestore.grant_execute('filestore.lock_account', 'filestore_account');

create function filestore.own_projects() returns table (project filestore.projects, role text)
language sql stable set search_path = '' as $$
  select p, 'owner' from filestore.projects p where p.owner_id = (select filestore.current_account_id())
  union all
  select p, m.role from filestore.members m join filestore.projects p on p.id = m.project_id
  where m.account_id = (select filestore.current_account_id()) and p.deleted_at is null
    and p.owner_id is distinct from m.account_id
$$;
comment on function filestore.own_projects is 'The projects of the signed-in account, with its role in each.';
call filestore.grant_execute('filestore.own_projects', 'filestore_account');

create function filestore.open_own_project(
  p_project_id uuid, out project_id uuid, out suspended_at timestamptz, out role text
)
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('filestore.project_id', '', true);
  select (o.project).id, (o.project).suspended_at, o.role into project_id, suspended_at, role
  from filestore.own_projects() o where p_project_id is null or (o.project).id = p_project_id
  order by o.role <> 'owner', (o.project).created_at, (o.project).id limit 1;
  perform set_config('filestore.project_id', project_id::text, true);
end
$$;
comment on function filestore.open_own_project is
  'Opens a project of the signed-in account: by default the oldest one that it owns, else that it is a member of. '
  'Nulls if there is none.';
call filestore.grant_execute('filestore.open_own_project', 'filestore_account');

create function filestore.invited_to(p_id uuid) returns text
language sql stable security definer set search_path = ''
as $$ select p.name from filestore.projects p where p.id = p_id and p.deleted_at is null $$;
comment on function filestore.invited_to is
  'The name of the project that an invitation is for, which the invited account does not see yet; null: it was '
  'deleted.';
call filestore.publish('filestore.invited_to', 'filestore_admin', 'filestore_account');

create function filestore.own_invitations() returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', m.id, 'projectName', filestore.invited_to(m.project_id), 'role', m.role,
    'invitedBy', filestore.address_of(m.invited_by), 'expiresAt', filestore.iso(m.expires_at))
    order by m.created_at, m.id), '[]')
  from filestore.members m
  where m.account_id is null and m.email = (select filestore.address_of(filestore.current_account_id(), true))
    and m.expires_at > clock_timestamp() and filestore.invited_to(m.project_id) is not null
$$;
comment on function filestore.own_invitations is
  'The open invitations to the confirmed address of the signed-in account.';
call filestore.grant_execute('filestore.own_invitations', 'filestore_account');

create function public.filestore_account_projects() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_invitations jsonb;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  -- First: account_project opens a project, whose invitations would be visible, too.
  v_invitations := filestore.own_invitations();
  return v_entry || jsonb_build_object('value', jsonb_build_object('invitations', v_invitations, 'projects', (
    select coalesce(jsonb_agg(
      filestore.account_project((o.project).id) || jsonb_build_object('role', o.role)
      order by (o.project).created_at, (o.project).id), '[]')
    from filestore.own_projects() o)));
end
$$;
comment on function public.filestore_account_projects is
  'The account''s projects, oldest first, with its role in each, and the invitations that it has not answered.';
call filestore.publish('public.filestore_account_projects', 'filestore_account', 'authenticated');

create function public.filestore_account_create_project(p_name text, p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry jsonb := filestore.enter_account();
  v_account_id uuid;
  v_id uuid;
  v_limit integer;
begin
  v_entry := v_entry || coalesce(filestore.validate_name(p_name, 1), '{}');
  if v_entry ? 'refusal' then return v_entry; end if;
  perform filestore.lock_account();
  -- Null where the account was deleted while this call waited for the lock.
  v_account_id := filestore.current_account_id();
  if v_account_id is null then return v_entry || filestore.refusal('INVALID_SESSION'); end if;
  v_id := filestore.own_id(v_account_id, p_id);
  if not exists (select from filestore.projects p where p.owner_id = v_account_id and p.id = v_id) then
    v_limit := case when filestore.account_settings(v_account_id) ->> 'reason' is not null then 0
      else (filestore.limits()).account_projects_max end;
    if (select count(*) from filestore.projects p where p.owner_id = v_account_id) >= v_limit then
      return v_entry || filestore.refusal('PROJECT_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
    end if;
    insert into filestore.projects (id, owner_id, name, tier) values (v_id, v_account_id, p_name, 'free')
    on conflict (owner_id, name) do nothing;
    if not found then return v_entry || filestore.refusal('PROJECT_NAME_TAKEN'); end if;
  end if;
  return v_entry || jsonb_build_object('value', filestore.account_project(v_id) || '{"role": "owner"}');
end
$$;
comment on function public.filestore_account_create_project is
  'Creates a free project of the account, or returns the one that was created with this id, which is not the '
  'id of the project. Refusals: PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_account_create_project', 'filestore_account', 'authenticated');

create function public.filestore_account_describe() returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_account_id constant uuid := filestore.current_account_id();
  c_most constant integer := (filestore.limits()).account_projects_max;
  v_settings jsonb;
  v_projects bigint;
  v_reason text;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  v_settings := filestore.account_settings(v_account_id);
  v_projects := (select count(*) from filestore.projects p where p.owner_id = v_account_id);
  v_reason := coalesce(v_settings ->> 'reason', case when v_projects >= c_most then 'project_limit' end);
  return v_entry || jsonb_build_object('value', jsonb_build_object(
    'id', v_account_id,
    'email', (select nullif(a.email, '') from filestore.find_account(v_account_id::text) a),
    'projectMakers', v_settings -> 'projectMakers', 'mayCreateProjects', v_reason is null, 'reason', v_reason,
    'limits', jsonb_build_object(
      'requestsPerMinute', v_entry #> '{rate,limit}', 'maxProjects', c_most,
      'maxSharedBytes', v_settings -> 'sharedBytes'),
    'usage', jsonb_build_object(
      'requestsThisMinute', (v_entry #>> '{rate,limit}')::integer - (v_entry #>> '{rate,remaining}')::integer,
      'projects', v_projects, 'sharedBytes', filestore.shared_bytes(v_account_id))));
end
$$;
comment on function public.filestore_account_describe is
  'The account: whether it may create projects, and if not, why; its limits and its usage.';
call filestore.publish('public.filestore_account_describe', 'filestore_account', 'authenticated');

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
    where k.project_id = p_project_id and k.kind = 'key' and filestore.is_active(k)
      and k.id is distinct from p_replaced_id
  ) >= v_limit then
    return filestore.refusal('KEY_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  insert into filestore.api_keys (project_id, name, environment, scopes, path_prefix, expires_at, key_hash, prefix)
  values (
    p_project_id, coalesce(p_key ->> 'name', ''), p_key ->> 'environment',
    array(select distinct jsonb_array_elements_text(p_key -> 'scopes') order by 1), p_key ->> 'pathPrefix',
    (p_key ->> 'expiresAt')::timestamptz, decode(p_key ->> 'keyHash', 'hex'), p_key ->> 'prefix')
  returning * into v_key;
  update filestore.api_keys k
  set expires_at = least(k.expires_at, clock_timestamp() + make_interval(
    secs => (p_key ->> 'namesakesExpireInSeconds')::integer))
  where p_key ? 'namesakesExpireInSeconds' and k.project_id = p_project_id and k.kind = 'key'
    and k.name = v_key.name and k.id <> v_key.id and k.revoked_at is null;
  return jsonb_build_object('value', filestore.account_key(v_key));
end
$$;
comment on function filestore.create_key is
  'Stores the hash of a new key. A key that it replaces immediately does not count towards the limit. With '
  'namesakesExpireInSeconds, the project''s other keys with the same name expire after that time. Refusals: '
  'KEY_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.create_key', 'filestore_account');

create function filestore.repeated_key(p_project_id uuid, p_key jsonb) returns jsonb
language sql volatile set search_path = '' as $$
  -- Serialized, so that limits are exact and an earlier attempt has ended.
  select pg_advisory_xact_lock(hashtextextended('keys/' || p_project_id, 0));
  select jsonb_build_object('value', filestore.account_key(k) || jsonb_build_object('replaced', (
    select filestore.account_key(o) from filestore.api_keys o
    where o.project_id = p_project_id and o.id = (p_key ->> 'id')::uuid)))
  from filestore.api_keys k
  where k.project_id = p_project_id and k.key_hash = decode(p_key ->> 'keyHash', 'hex')
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
    return filestore.refused_field('gracePeriodSeconds', 'must be at most a week');
  end if;
  select * into v_old from filestore.api_keys k
  where k.project_id = p_project_id and k.id = (p_key ->> 'id')::uuid for update;
  if not found then
    return filestore.refusal('KEY_NOT_FOUND');
  elsif not filestore.is_active(v_old) then
    return filestore.refusal('KEY_REVOKED');
  elsif v_old.kind = 'app' then
    return filestore.refused_field('id', 'is of an app, which has no key to rotate: revoke it');
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
  'Creates a new key in place of an active one, which is revoked immediately or expires after the grace '
  'period. The links of the old key act as the new one. Refusals: KEY_NOT_FOUND, KEY_REVOKED, '
  'KEY_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.rotate_key', 'filestore_account');

create function filestore.change_key(p_project_id uuid, p_id uuid, p_changes jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_old filestore.api_keys;
  v_new jsonb;
  v_refusal jsonb;
begin
  select * into v_old from filestore.api_keys k where k.project_id = p_project_id and k.id = p_id for no key update;
  if not found then
    return filestore.refusal('KEY_NOT_FOUND');
  elsif not filestore.is_active(v_old) then
    -- An isolate may remember the key as refused, and would refuse it for a while.
    return filestore.refusal('KEY_REVOKED');
  end if;
  v_new := filestore.account_key(v_old) || jsonb_build_object('keyHash', encode(v_old.key_hash, 'hex'))
    || jsonb_strip_nulls(jsonb_build_object(
      'name', p_changes -> 'name', 'expiresAt', p_changes -> 'expiresAt', 'scopes', p_changes -> 'scopes',
      'pathPrefix', p_changes -> 'pathPrefix'));
  v_refusal := coalesce(filestore.validate_key(
    v_new || case v_old.kind when 'app' then '{"prefix": "oa_0000000"}' else '{}' end::jsonb), (
    select filestore.refusal('VALIDATION_ERROR', jsonb_build_object(
      'issues', jsonb_agg(jsonb_build_object('path', c.path, 'reason', c.reason))))
    from (values
      ('scopes', 'must be among those that the key has', v_new -> 'scopes' <@ to_jsonb(v_old.scopes)),
      ('scopes', 'of an app cannot be changed: revoke it, and connect it anew', v_old.kind = 'key'
        or v_new -> 'scopes' @> to_jsonb(v_old.scopes)),
      ('pathPrefix', 'of an app cannot be changed: revoke it, and connect it anew', v_old.kind = 'key'
        or v_new ->> 'pathPrefix' is not distinct from v_old.path_prefix),
      ('pathPrefix', 'must be the key''s own or lie below it', v_old.path_prefix is null
        or starts_with((v_new ->> 'pathPrefix') || '/', v_old.path_prefix || '/'))
    ) c (path, reason, holds)
    where c.holds is not true having count(*) > 0));
  if v_refusal is not null then return v_refusal; end if;
  update filestore.api_keys k
  set name = v_new ->> 'name', expires_at = (v_new ->> 'expiresAt')::timestamptz,
      path_prefix = v_new ->> 'pathPrefix',
      scopes = array(select distinct jsonb_array_elements_text(v_new -> 'scopes') order by 1)
  where k.project_id = p_project_id and k.id = v_old.id returning * into v_old;
  return jsonb_build_object('value', filestore.account_key(v_old));
end
$$;
comment on function filestore.change_key is
  'Changes the given fields of an active key: name; expiresAt; scopes, which can only be reduced; pathPrefix, '
  'which can only be narrowed; of an app, only name and expiresAt. Refusals: KEY_NOT_FOUND, KEY_REVOKED, '
  'VALIDATION_ERROR.';
call filestore.grant_execute('filestore.change_key', 'filestore_account');

create function filestore.revoke_key(p_project_id uuid, p_id uuid) returns jsonb
language sql volatile set search_path = '' as $$
  with revoked as (
    update filestore.api_keys k set revoked_at = coalesce(k.revoked_at, clock_timestamp())
    where k.project_id = p_project_id and k.id = p_id returning k as key
  )
  select coalesce(
    (select jsonb_build_object('value', filestore.account_key(r.key)) from revoked r),
    filestore.refusal('KEY_NOT_FOUND'))
$$;
comment on function filestore.revoke_key is 'Revokes a key immediately. Refusals: KEY_NOT_FOUND.';
call filestore.grant_execute('filestore.revoke_key', 'filestore_account');

create function filestore.latest_writes(p_project_id uuid, p_limit integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'fileId', v.file_id, 'path', v.path, 'version', v.version, 'operation', v.operation, 'size', v.size,
    'mimeType', v.mime_type, 'deleted', nullif(v.is_deleted, false), 'runId', v.run_id, 'actor', v.actor,
    'note', v.note, 'from', case when s.id is not null
      then jsonb_build_object('path', s.path, 'version', v.source_version) end,
    'createdAt', filestore.iso(v.created_at)))
    || jsonb_build_object('keyId', nullif(v.key_id, '00000000-0000-0000-0000-000000000000'))
    order by v.position desc), '[]')
  from (
    select l.*, o.path from filestore.file_versions l
    -- fence: files are looked up one by one, only as many as are shown or lie in branches.
    cross join lateral (
      select f.path from filestore.files f where f.project_id = p_project_id and f.id = l.file_id offset 0
    ) o
    where l.project_id = p_project_id and not starts_with(o.path, '.branches/')
    order by l.position desc limit p_limit
  ) v
  left join filestore.files s on s.project_id = p_project_id and s.id = v.source_file_id
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
      if p_parameters ? 'name' and filestore.validate_name(p_parameters ->> 'name', 1) is not null then
        return filestore.validate_name(p_parameters ->> 'name', 1);
      end if;
      if p_parameters -> 'dryRun' = 'true' then
        return jsonb_build_object('value', filestore.account_project(p_project_id) || jsonb_build_object(
          'wouldRemove', filestore.preview_retention(p_project_id, case when p_parameters ? 'retention'
            then nullif(p_parameters -> 'retention', 'null')
            else (select p.retention from filestore.projects p where p.id = p_project_id) end)));
      end if;
      begin
        update filestore.projects p
        set name = coalesce(p_parameters ->> 'name', p.name),
            retention = case when p_parameters ? 'retention' then nullif(p_parameters -> 'retention', 'null')
              else p.retention end,
            retention_set_at = case when p_parameters ? 'retention' then clock_timestamp() else p.retention_set_at end
        where p.id = p_project_id;
      exception when unique_violation then
        return filestore.refusal('PROJECT_NAME_TAKEN');
      end;
      return jsonb_build_object('value', filestore.account_project(p_project_id));
    when 'delete' then
      return filestore.end_project(
        p_project_id, p_parameters ->> 'confirm', (p_parameters ->> 'deletionId')::uuid);
    when 'keys' then
      return jsonb_build_object('value', (
        select coalesce(jsonb_agg(filestore.account_key(k) order by k.created_at desc, k.id), '[]')
        from filestore.api_keys k where k.project_id = p_project_id));
    when 'create_key' then return filestore.create_key(p_project_id, p_parameters);
    when 'rotate_key' then
      return filestore.rotate_key(p_project_id, p_parameters);
    when 'regenerate_key' then
      select k.id into v_key_id from filestore.api_keys k
      where k.project_id = p_project_id and k.kind = 'key' and filestore.is_active(k)
      order by k.created_at desc, k.id limit 1;
      if found then
        return filestore.rotate_key(p_project_id, p_parameters || jsonb_build_object('id', v_key_id));
      end if;
      return filestore.create_key(
        p_project_id, p_parameters || '{"environment": "development", "scopes": ["read", "write"]}');
    when 'change_key' then
      return filestore.change_key(p_project_id, (p_parameters ->> 'id')::uuid, p_parameters);
    when 'revoke_key' then
      return filestore.revoke_key(p_project_id, (p_parameters ->> 'id')::uuid);
    when 'usage' then
      perform filestore.fold_usage(p_project_id, 10000);
      return filestore.usage_by_day(p_project_id, p_parameters);
    when 'activity' then
      return jsonb_build_object('value', filestore.latest_writes(
        p_project_id, least(greatest((p_parameters ->> 'limit')::integer, 1), (filestore.limits()).page_limit_max)));
    else return filestore.administer_webhook(p_project_id, p_action, p_parameters);
  end case;
end
$$;
comment on function filestore.administer is
  'The actions on an opened project by the people in it, by keys with the scope admin and by the operator: project, '
  'rename, delete, keys, create_key, rotate_key, regenerate_key, change_key, revoke_key, activity, usage, and '
  'those of administer_webhook.';
call filestore.publish('filestore.administer', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.scope_of(p_action text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return case when p_action in ('project', 'usage') then null when p_action = 'activity' then 'read' else 'admin' end;
end
$$;
comment on function filestore.scope_of is
  'The scope that an action on a project needs; null: none.';
call filestore.grant_execute('filestore.scope_of', 'filestore_account', 'filestore_engine');

create function public.filestore_administer(
  p_key_hash text, p_request_id uuid, p_action text, p_parameters jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, filestore.scope_of(p_action));
begin
  if v_session.envelope ? 'refusal' then
    return coalesce(
      case when p_action = 'delete' then filestore.repeated_deletion((p_parameters ->> 'deletionId')::uuid) end,
      v_session.envelope);
  end if;
  -- The whole project also counts as a directory, which is outside of every prefix.
  return v_session.envelope || coalesce(filestore.outside_prefix(v_session, ''), filestore.administer(
    v_session.project_id, p_action,
    case when p_action = 'usage' and 'admin' <> all (v_session.scopes)
      then p_parameters || jsonb_build_object('onlyKeyId', v_session.key_id) else p_parameters end));
end
$$;
comment on function public.filestore_administer is
  'filestore.administer for a key: project and usage without a scope, activity with the scope read, '
  'everything else with the scope admin; without it, usage hides the activity of other keys. Refused for a '
  'key with a path prefix, which does not see the whole project.';
call filestore.publish('public.filestore_administer', 'filestore_engine', 'service_role');

create function public.filestore_account_administer(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_claims constant jsonb := filestore.current_claims();
  v_own record;
  v_scope constant text := filestore.scope_of(p_action);
  v_repeated jsonb;
  v_answer jsonb;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  if p_action = 'delete' then
    v_repeated := filestore.repeated_deletion((p_parameters ->> 'deletionId')::uuid);
    if v_repeated is not null then return v_entry || v_repeated; end if;
  end if;
  v_own := filestore.open_own_project(p_project_id);
  if v_own.project_id is null then return v_entry || filestore.refusal('PROJECT_NOT_FOUND'); end if;
  if p_action = 'session' then
    delete from filestore.console_sessions s where s.token_hash in (
      select o.token_hash from filestore.console_sessions o
      where o.project_id = v_own.project_id and o.expires_at < clock_timestamp() for update skip locked);
    insert into filestore.console_sessions as s (token_hash, project_id, account_id, session_id, aal, expires_at)
    values (
      decode(p_parameters ->> 'tokenHash', 'hex'), v_own.project_id, filestore.current_account_id(),
      filestore.to_uuid(v_claims ->> 'session_id'), v_claims ->> 'aal',
      clock_timestamp() + interval '10 minutes')
    on conflict (token_hash) do update
      set account_id = excluded.account_id, session_id = excluded.session_id, aal = excluded.aal,
          expires_at = excluded.expires_at;
    return v_entry || jsonb_build_object('value', v_own.project_id);
  end if;
  if p_action not in ('project', 'usage', 'keys', 'revoke_key') and v_own.suspended_at is not null then
    return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  elsif v_scope <> all (filestore.scopes_within(v_own.role)) then
    return v_entry || filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', v_scope));
  elsif p_action = 'delete' and v_own.role <> 'owner' then
    return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"role": "owner"}');
  end if;
  -- The usage of keys is for those who see the keys; the others see that of the console.
  v_answer := filestore.administer(v_own.project_id, p_action, p_parameters || case
    when p_action = 'usage' and 'admin' <> all (filestore.scopes_within(v_own.role)) then '{"onlyKeyId": null}'
    else '{}' end::jsonb);
  return v_entry || case when p_action in ('project', 'rename') and v_answer ? 'value'
    then jsonb_set(v_answer, '{value,role}', to_jsonb(v_own.role)) else v_answer end;
end
$$;
comment on function public.filestore_account_administer is
  'filestore.administer for a person in the project, by default in the account''s oldest one, as far as the role '
  'allows; only the owner may delete it. In a suspended project people see its limits, usage and keys, and may revoke '
  'keys. The action session lets the console''s token stand in for a key of the project, for a limited time and no '
  'longer than the session of Auth to which the access token belongs. Refusals: PROJECT_NOT_FOUND, '
  'FORBIDDEN_SCOPE, and those of the action.';
call filestore.publish('public.filestore_account_administer', 'filestore_account', 'authenticated');

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
call filestore.grant_execute('filestore.find_account', 'filestore_account', 'filestore_admin');

create function public.filestore_account_delete(p_confirm text, p_deletion_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_repeated constant jsonb := filestore.repeated_deletion(p_deletion_id);
  v_account_id constant uuid := filestore.current_account_id();
  v_entry jsonb;
  v_email text;
  v_project filestore.projects;
begin
  if v_repeated is not null then return v_repeated; end if;
  v_entry := filestore.enter_account();
  if v_entry ? 'refusal' then return v_entry; end if;
  -- A person without an address confirms with the id of the account.
  v_email := (
    select coalesce(nullif(a.email, ''), v_account_id::text) from filestore.find_account(v_account_id::text) a);
  if lower(p_confirm) is distinct from lower(v_email) then
    return v_entry || filestore.refused_field('confirm', 'must be the e-mail address of the account');
  end if;
  perform filestore.lock_account();
  -- The operator has suspended a project for a reason, so the owner may not remove it.
  if exists (select from filestore.projects p where p.owner_id = v_account_id and p.suspended_at is not null) then
    return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  end if;
  for v_project in select * from filestore.projects p where p.owner_id = v_account_id order by p.id loop
    perform filestore.end_project(v_project.id, v_project.name, null);
  end loop;
  delete from filestore.members m where m.account_id = v_account_id;
  return v_entry || jsonb_build_object('value', filestore.end_account(v_account_id, p_deletion_id));
end
$$;
comment on function public.filestore_account_delete is
  'Deletes the signed-in account, confirmed by its address, with its memberships and all of its projects. '
  'Afterwards the caller has Auth remove the account. Refusals: VALIDATION_ERROR, FORBIDDEN_SCOPE where the '
  'operator has suspended one of the projects.';
call filestore.publish('public.filestore_account_delete', 'filestore_account', 'authenticated');
-- 71_operator.sql ====================================================================================================
-- Projects and keys, for the operator's command line. Only the secret key may call these functions. They
-- return a record, or a refusal, whose details may contain a message.

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
  'The account with this id or confirmed e-mail address, or the reason why no account found may own a '
  'project.';
call filestore.grant_execute('filestore.find_owner', 'filestore_admin');

create function filestore.project_record(p_project filestore.projects) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', (p_project).id, 'name', (p_project).name, 'tier', (p_project).tier,
    'requestsPerMinute', coalesce((p_project).requests_per_minute, t.requests_per_minute),
    'maxFileBytes', coalesce((p_project).max_file_bytes, t.max_file_bytes),
    'maxProjectBytes', coalesce((p_project).max_project_bytes, t.max_project_bytes),
    'ownerId', (p_project).owner_id,
    'owner', (select a.email from filestore.find_account((p_project).owner_id::text) a),
    'createdAt', filestore.iso((p_project).created_at), 'suspendedAt', filestore.iso((p_project).suspended_at))
  from filestore.tiers t where t.name = (p_project).tier
$$;
comment on function filestore.project_record is
  'A project with its effective limits and its owner''s e-mail address.';
call filestore.grant_execute('filestore.project_record', 'filestore_admin');

create function public.filestore_admin_find_project(p_project text, p_owner text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_owner_id uuid;
  v_problem text;
  v_project filestore.projects;
  v_others text;
begin
  select * into v_project from filestore.projects p where p.id::text = lower(p_project) and p.deleted_at is null;
  if found then return filestore.project_record(v_project); end if;
  if p_owner is not null then
    select o.id, o.problem into v_owner_id, v_problem from filestore.find_owner(p_owner) o;
  end if;
  if v_problem is not null then
    return filestore.refusal('ACCOUNT_REFUSED', jsonb_build_object('message', v_problem));
  end if;
  select * into v_project from filestore.projects p
  where p.name = p_project and p.owner_id is not distinct from v_owner_id and p.deleted_at is null;
  if found then return filestore.project_record(v_project); end if;
  select string_agg(format('%s (%s)', o.id, coalesce(a.email, o.owner_id::text, 'no owner')), ', ') into v_others
  from (select * from filestore.projects p
    where p.name = p_project and p.deleted_at is null order by p.created_at, p.id limit 10) o
  left join lateral filestore.find_account(o.owner_id::text) a on true;
  return case when v_others is null
    then filestore.refusal('PROJECT_NOT_FOUND', jsonb_build_object(
      'message', format('There is no project %s.', quote_literal(p_project))))
    else filestore.refusal('PROJECT_AMBIGUOUS', jsonb_build_object('message', format(
      'Others have a project %s; give its id, or its owner with --owner: %s.', quote_literal(p_project), v_others)))
    end;
end
$$;
comment on function public.filestore_admin_find_project is
  'The project with this id; otherwise the project with this name that the account p_owner owns, or, without '
  'p_owner, that no account owns. Refusals: ACCOUNT_REFUSED, PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS.';
call filestore.publish('public.filestore_admin_find_project', 'filestore_admin', 'service_role');

create function public.filestore_admin_create_project(p_name text, p_tier text, p_id uuid default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_id constant uuid := coalesce(p_id, gen_random_uuid());
  v_project filestore.projects;
  v_refusal constant jsonb := filestore.validate_name(p_name, 1);
begin
  if v_refusal is not null then return v_refusal; end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.refusal('UNKNOWN_TIER');
  end if;
  insert into filestore.projects (id, name, tier) values (v_id, p_name, p_tier) on conflict do nothing;
  select * into v_project from filestore.projects p where p.id = v_id;
  if not found then
    return filestore.refusal('PROJECT_NAME_TAKEN');
  elsif v_project.deleted_at is not null then
    return filestore.refusal('PROJECT_DELETED');
  end if;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_create_project is
  'Creates a project, or returns the existing project with this id. Refusals: VALIDATION_ERROR, '
  'UNKNOWN_TIER, PROJECT_NAME_TAKEN, PROJECT_DELETED.';
call filestore.publish('public.filestore_admin_create_project', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_projects() returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object(
    'projects', coalesce(jsonb_agg(filestore.project_record(p) order by p.created_at, p.id), '[]'))
  from filestore.projects p where p.deleted_at is null
$$;
comment on function public.filestore_admin_list_projects is 'All projects, oldest first.';
call filestore.publish('public.filestore_admin_list_projects', 'filestore_admin', 'service_role');

create function filestore.disconnect_apps(p_project_id uuid, p_but_of uuid default null) returns jsonb
language sql volatile set search_path = '' as $$
  with revoked as (
    update filestore.api_keys k set revoked_at = clock_timestamp()
    where k.project_id = p_project_id and k.kind = 'app' and k.revoked_at is null
      and k.account_id is distinct from p_but_of
    returning k as key
  )
  select jsonb_build_object('apps', coalesce(jsonb_agg(
    filestore.account_key(r.key) order by (r.key).created_at, (r.key).id), '[]')) from revoked r
$$;
comment on function filestore.disconnect_apps is
  'Revokes all apps of a project, but those that this account let in, and returns them.';
call filestore.grant_execute('filestore.disconnect_apps', 'filestore_admin');

create function public.filestore_admin_update_project(p_id uuid, p_changes jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project filestore.projects;
  v_account_id uuid;
  v_former_id uuid;
  v_problem text;
  v_refusal constant jsonb := case when p_changes ? 'name' then filestore.validate_name(p_changes ->> 'name', 1) end;
begin
  if v_refusal is not null then return v_refusal; end if;
  if p_changes ? 'owner' then
    select o.id, o.problem into v_account_id, v_problem from filestore.find_owner(p_changes ->> 'owner') o;
  end if;
  if v_problem is not null then
    return filestore.refusal('ACCOUNT_REFUSED', jsonb_build_object('message', v_problem));
  elsif p_changes ? 'tier' and not exists (select from filestore.tiers t where t.name = p_changes ->> 'tier') then
    return filestore.refusal('UNKNOWN_TIER');
  end if;
  select p.owner_id into v_former_id from filestore.projects p where p.id = p_id for no key update;
  update filestore.projects p
  set name = coalesce(p_changes ->> 'name', p.name), owner_id = coalesce(v_account_id, p.owner_id),
      suspended_at = case p_changes ->> 'isSuspended'
        when 'true' then coalesce(p.suspended_at, clock_timestamp()) when 'false' then null else p.suspended_at end
  where p.id = p_id and p.deleted_at is null returning * into v_project;
  if not found then return filestore.refusal('PROJECT_NOT_FOUND'); end if;
  if v_account_id is not null then
    -- Apps act for the person who let them in. They do not return with that person, either.
    perform filestore.disconnect_apps(p_id, v_account_id);
    delete from filestore.members m where m.project_id = p_id and m.account_id = v_former_id;
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
  when check_violation then return filestore.refusal('INVALID_LIMIT');
  when unique_violation then return filestore.refusal('PROJECT_NAME_TAKEN');
end
$$;
comment on function public.filestore_admin_update_project is
  'Changes the given fields of a project: name; owner (id or e-mail address); isSuspended; tier, with the '
  'project''s own limits requestsPerMinute, maxFileBytes, maxProjectBytes (absent: those of the tier). '
  'Refusals: PROJECT_NOT_FOUND, VALIDATION_ERROR, ACCOUNT_REFUSED, UNKNOWN_TIER, INVALID_LIMIT, '
  'PROJECT_NAME_TAKEN.';
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
    return filestore.refusal('INVALID_MAKER', jsonb_build_object('message', format(
      '%s is neither "anyone" nor an e-mail address or a domain like @example.com.', quote_literal(v_refused))));
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
  when check_violation then return filestore.refusal('INVALID_LIMIT');
end
$$;
comment on function public.filestore_admin_settings is
  'Changes the given settings of the installation, and returns all settings: projectMakers (["anyone"], '
  'addresses and domains, [] for none, null for undecided), accountBytes (null: no quota). Refusals: '
  'INVALID_MAKER, INVALID_LIMIT.';
call filestore.publish('public.filestore_admin_settings', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_keys(p_project_id uuid default null) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object('keys', coalesce(jsonb_agg(
    filestore.account_key(k) || jsonb_build_object('project', jsonb_build_object('id', p.id, 'name', p.name))
    order by k.created_at, k.id), '[]'))
  from filestore.api_keys k join filestore.projects p on p.id = k.project_id and p.deleted_at is null
  where p_project_id is null or k.project_id = p_project_id
$$;
comment on function public.filestore_admin_list_keys is 'All keys, of one project if given, oldest first.';
call filestore.publish('public.filestore_admin_list_keys', 'filestore_admin', 'service_role');

create function public.filestore_admin_administer(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project filestore.projects;
  v_result jsonb;
begin
  select * into v_project from filestore.projects p
  where p.deleted_at is null and p.id = coalesce(
    p_project_id, (select k.project_id from filestore.api_keys k where k.id = (p_parameters ->> 'id')::uuid));
  if not found then
    return filestore.refusal(case when p_project_id is null then 'KEY_NOT_FOUND' else 'PROJECT_NOT_FOUND' end);
  end if;
  perform set_config('filestore.project_id', v_project.id::text, true);
  v_result := case p_action
    when 'disconnect' then jsonb_build_object('value', filestore.disconnect_apps(v_project.id))
    else filestore.administer(v_project.id, p_action, p_parameters) end;
  return case when v_result ? 'value' then v_result -> 'value'
    || jsonb_build_object('project', jsonb_build_object('id', v_project.id, 'name', v_project.name)) else v_result end;
end
$$;
comment on function public.filestore_admin_administer is
  'filestore.administer for the operator, a suspended project included: for this project, or for the project '
  'of the key with this `id`. And disconnect, which revokes the apps of the project. Refusals: '
  'PROJECT_NOT_FOUND, KEY_NOT_FOUND, and those of the action.';
call filestore.publish('public.filestore_admin_administer', 'filestore_admin', 'service_role');
-- 72_health.sql ======================================================================================================
-- The commit that GET /health?deep runs, which is rolled back.

create function public.filestore_health_probe() returns boolean
language plpgsql volatile set search_path = '' set lock_timeout = '1s' as $$
declare
  v_project_id constant uuid := gen_random_uuid();
  -- Probes at the same time must not wait for each other's key.
  v_key_hash constant text := encode(sha256(v_project_id::text::bytea), 'hex');
  v_segment constant jsonb := jsonb_build_object(
    'id', v_project_id,
    'name', v_project_id || to_char(clock_timestamp() at time zone 'UTC', '/YYYYMMDD/') || v_project_id,
    'size', 1, 'sha256', v_key_hash, 'newlines', 0, 'endsWithNewline', false, 'isText', true);
  v_committed jsonb;
begin
  begin
    perform public.filestore_admin_create_project('health probe', 'free', v_project_id);
    perform public.filestore_admin_administer(v_project_id, 'create_key', jsonb_build_object(
      'keyHash', v_key_hash, 'prefix', 'oa_healthy', 'environment', 'development',
      'scopes', '["write"]'::jsonb));
    v_committed := public.filestore_commit(v_key_hash, gen_random_uuid(), 'write', jsonb_build_object(
      'path', 'probe.txt', 'commitId', v_project_id, 'mimeType', 'text/plain',
      'segments', jsonb_build_array(v_segment)));
    raise sqlstate 'FS005';
  exception when sqlstate 'FS005' then
    null;
  end;
  return v_committed ? 'value';
end
$$;
comment on function public.filestore_health_probe is
  'Commits a file to a project of its own and rolls everything back. Fails wherever a commit would: in a '
  'read-only database, without `filestore_commit`, and where a table stays locked for a second.';
call filestore.grant_execute('public.filestore_health_probe', 'service_role');
-- 73_consent.sql =====================================================================================================
-- Consent: a person lets an app into a project, or refuses. The app's request is a record that the edge function has
-- signed and that nothing stores; its id is stored once it is answered.

create function filestore.consent_answered(p_request_id uuid) returns bytea
language sql stable security definer set search_path = ''
as $$ select c.code_hash from filestore.app_consents c where c.request_id = p_request_id $$;
comment on function filestore.consent_answered is
  'The hash of the code with which a request was answered, by whichever account; null: it was not answered.';
call filestore.publish('filestore.consent_answered', 'filestore_admin', 'filestore_account');

create function public.filestore_account_request(p_request_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  return v_entry || case when filestore.consent_answered(p_request_id) is null
    then '{"value": true}' else filestore.refusal('REQUEST_NOT_FOUND') end;
end
$$;
comment on function public.filestore_account_request is
  'Whether a person may still answer the request of an app. Refusals: REQUEST_NOT_FOUND.';
call filestore.publish('public.filestore_account_request', 'filestore_account', 'authenticated');

create function filestore.add_app(p_project_id uuid, p_app jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_limit constant integer := (filestore.limits()).project_keys_max;
  -- An app has no secret: nothing has this hash.
  v_key_hash constant bytea := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
  v_refusal constant jsonb := filestore.validate_key(p_app || jsonb_build_object(
    'keyHash', encode(v_key_hash, 'hex'), 'prefix', 'oa_0000000', 'environment', 'production'));
begin
  if v_refusal is not null then return v_refusal; end if;
  if p_app -> 'scopes' ? 'admin' then return filestore.refused_field('scopes', 'must be read or write'); end if;
  perform pg_advisory_xact_lock(hashtextextended('keys/' || p_project_id, 0));
  if (
    select count(*) from filestore.api_keys k
    where k.project_id = p_project_id and k.kind = 'app' and filestore.is_active(k)
  ) >= v_limit then
    return filestore.refusal('KEY_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  insert into filestore.api_keys (
    project_id, kind, name, environment, scopes, path_prefix, expires_at, key_hash, prefix, account_id, client_hash,
    client_name, client_host)
  values (
    p_project_id, 'app', coalesce(p_app ->> 'name', ''), 'production',
    array(select distinct jsonb_array_elements_text(p_app -> 'scopes') order by 1), p_app ->> 'pathPrefix',
    (p_app ->> 'expiresAt')::timestamptz, v_key_hash, '', filestore.current_account_id(),
    decode(p_app ->> 'clientHash', 'hex'), p_app ->> 'clientName', p_app ->> 'clientHost');
  return jsonb_build_object('value', encode(v_key_hash, 'hex'));
end
$$;
comment on function filestore.add_app is
  'Adds an app to a project, with rights as a key has them, and returns its hash. Refusals: KEY_LIMIT_REACHED, '
  'VALIDATION_ERROR.';
call filestore.grant_execute('filestore.add_app', 'filestore_account');

create function public.filestore_account_consent(
  p_request_id uuid, p_code_hash text, p_project_id uuid, p_app jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_is_consent constant boolean := p_app is not null;
  v_answered bytea;
  v_own record;
  v_project_id uuid;
  v_added jsonb := '{}';
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  -- One answer after the other: the second one finds the first.
  perform pg_advisory_xact_lock(hashtextextended('consent/' || p_request_id, 0));
  v_answered := filestore.consent_answered(p_request_id);
  if v_answered is not null then
    -- The same answer again, because that to it was lost between database and edge function.
    return v_entry || case when v_answered = decode(p_code_hash, 'hex')
      then '{"value": true}' else filestore.refusal('REQUEST_NOT_FOUND') end;
  end if;
  if v_is_consent then
    v_own := filestore.open_own_project(coalesce(p_project_id, '00000000-0000-0000-0000-000000000000'));
    if v_own.project_id is null then return v_entry || filestore.refusal('PROJECT_NOT_FOUND'); end if;
    if v_own.suspended_at is not null then
      return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
    elsif p_app -> 'scopes' ? 'write' and 'write' <> all (filestore.scopes_within(v_own.role)) then
      return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "write"}');
    end if;
    v_project_id := v_own.project_id;
    v_added := filestore.add_app(v_project_id, p_app);
    if v_added ? 'refusal' then return v_entry || v_added; end if;
  end if;
  insert into filestore.app_consents (
    request_id, code_hash, project_id, key_hash, redirect_uri, challenge, expires_at)
  values (
    p_request_id, decode(p_code_hash, 'hex'), v_project_id, decode(v_added ->> 'value', 'hex'),
    p_app ->> 'redirectUri', p_app ->> 'challenge',
    clock_timestamp() + make_interval(secs => (filestore.limits()).app_code_seconds));
  return v_entry || '{"value": true}';
end
$$;
comment on function public.filestore_account_consent is
  'The answer of the signed-in person to the request of an app: p_app (null: refused) has the rights of a key, '
  'clientHash, clientName, clientHost, redirectUri and challenge. The app gets the code whose hash is given. '
  'Refusals: REQUEST_NOT_FOUND, PROJECT_NOT_FOUND, FORBIDDEN_SCOPE, KEY_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_account_consent', 'filestore_account', 'authenticated');
-- 74_members.sql =====================================================================================================
-- Members: the people in a project besides its owner, and the invitations. Nothing here looks an account up by its
-- address: whether an address has an account changes no answer, and no work.

create function filestore.team(p_project_id uuid) returns setof filestore.members
language sql stable set search_path = '' as $$
  select p.id, coalesce(m.id, p.owner_id), p.owner_id, coalesce(filestore.address_of(p.owner_id), m.email), 'owner',
         null::uuid, null::timestamptz, null::timestamptz
  from filestore.projects p
  left join filestore.members m on m.project_id = p.id and m.account_id = p.owner_id
  where p.id = p_project_id and p.owner_id is not null
  union all
  select m.project_id, m.id, m.account_id, coalesce(filestore.address_of(m.account_id), m.email), m.role, m.invited_by,
         m.created_at, m.expires_at
  from filestore.projects p join filestore.members m on m.project_id = p.id
  where p.id = p_project_id and (m.account_id is null or m.account_id is distinct from p.owner_id)
    and (m.expires_at > clock_timestamp()) is not false
$$;
comment on function filestore.team is
  'The people in an opened project: its owner, its members, with their present addresses, and the open invitations.';
call filestore.grant_execute('filestore.team', 'filestore_account');

create function filestore.member_record(p_member filestore.members) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', (p_member).id, 'email', coalesce((p_member).email, ''), 'role', (p_member).role,
    'state', case when (p_member).account_id is null then 'invited' else 'active' end,
    'expiresAt', filestore.iso((p_member).expires_at)));
end
$$;
comment on function filestore.member_record is 'A member, the owner or an invitation, as all of them see it.';
call filestore.grant_execute('filestore.member_record', 'filestore_account');

create function filestore.invite(p_project_id uuid, p_id uuid, p_email text, p_role text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_id constant uuid := filestore.own_id(p_project_id, p_id);
  v_member filestore.members;
begin
  select * into v_member from filestore.team(p_project_id) t where t.id = v_id;
  if found then return jsonb_build_object('value', filestore.member_record(v_member)); end if;
  if (p_email ~ '^[!-?A-~]+@[!-?A-~]+$' and octet_length(p_email) <= 254) is not true then
    return filestore.refused_field('email', 'must be an e-mail address');
  elsif exists (select from filestore.team(p_project_id) t where t.email = lower(p_email)) then
    return filestore.refusal('MEMBER_ALREADY_EXISTS');
  elsif (select count(*) from filestore.team(p_project_id)) >= v_limits.project_members_max then
    return filestore.refusal('MEMBER_LIMIT_REACHED', jsonb_build_object('limit', v_limits.project_members_max));
  end if;
  delete from filestore.members m where m.project_id = p_project_id and m.expires_at <= clock_timestamp();
  insert into filestore.members (project_id, id, email, role, invited_by, expires_at)
  values (
    p_project_id, v_id, lower(p_email), p_role, filestore.current_account_id(),
    clock_timestamp() + make_interval(days => v_limits.invitation_days))
  returning * into v_member;
  return jsonb_build_object('value', filestore.member_record(v_member));
end
$$;
comment on function filestore.invite is
  'Invites an address to an opened project, or returns the invitation that was made with this id. Refusals: '
  'MEMBER_ALREADY_EXISTS, MEMBER_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.invite', 'filestore_account');

create function filestore.remove_member(p_member filestore.members) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  delete from filestore.members m where m.project_id = p_member.project_id and m.id = p_member.id;
  -- Without a role nothing that acts for the person has a right. These do not return with that person, either.
  update filestore.links l set revoked_at = clock_timestamp()
  where l.project_id = p_member.project_id and l.account_id = p_member.account_id and l.revoked_at is null;
  update filestore.api_keys k set revoked_at = clock_timestamp()
  where k.project_id = p_member.project_id and k.account_id = p_member.account_id and k.revoked_at is null;
  return jsonb_build_object('value', jsonb_build_object('id', p_member.id));
end
$$;
comment on function filestore.remove_member is
  'Removes a member of an opened project, or an invitation. The member''s links and apps end; keys stay.';
call filestore.grant_execute('filestore.remove_member', 'filestore_account');

create function filestore.transfer(p_project_id uuid, p_member filestore.members) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner_id constant uuid := filestore.current_account_id();
  v_limit constant integer := (filestore.limits()).account_projects_max;
  v_bytes_max constant bigint := filestore.account_settings(p_member.account_id) ->> 'sharedBytes';
  v_shared_before bigint;
  v_projects integer;
begin
  -- In one order, so that two transfers do not wait for each other. As in lock_account.
  perform pg_advisory_xact_lock(hashtextextended('account/' || least(v_owner_id, p_member.account_id), 0));
  perform pg_advisory_xact_lock(hashtextextended('account/' || greatest(v_owner_id, p_member.account_id), 0));
  v_shared_before := filestore.shared_bytes(p_member.account_id);
  perform set_config('filestore.account_id', p_member.account_id::text, true);
  v_projects := (select count(*) from filestore.projects p where p.owner_id = p_member.account_id);
  perform set_config('filestore.account_id', '', true);
  if v_projects >= v_limit then
    return filestore.refusal('PROJECT_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  begin
    update filestore.projects p set (owner_id) = row (p_member.account_id) where p.id = p_project_id;
  exception when unique_violation then
    return filestore.refusal('PROJECT_NAME_TAKEN');
  end;
  -- The usage moves with the project. It must not take the room of the projects that the new owner has already.
  if v_bytes_max is not null
    and filestore.shared_bytes(p_member.account_id) > greatest(v_bytes_max, v_shared_before) then
    update filestore.projects p set (owner_id) = row (v_owner_id) where p.id = p_project_id;
    return filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', v_bytes_max, 'account', true));
  end if;
  insert into filestore.members as m (project_id, id, account_id, email, role)
  values (p_project_id, v_owner_id, v_owner_id, filestore.address_of(v_owner_id), 'admin')
  on conflict (project_id, account_id) do update set role = 'admin';
  return jsonb_build_object('value', filestore.account_project(p_project_id) || '{"role": "admin"}');
end
$$;
comment on function filestore.transfer is
  'Makes a member the owner of an opened project; the owner becomes an admin. Refusals: PROJECT_NAME_TAKEN, '
  'PROJECT_LIMIT_REACHED and QUOTA_EXCEEDED, of the new owner.';
call filestore.grant_execute('filestore.transfer', 'filestore_account');

create function filestore.manage_members(p_project_id uuid, p_role text, p_action text, p_parameters jsonb)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_is_admin constant boolean := p_role in ('admin', 'owner');
  v_role constant text := p_parameters ->> 'role';
  v_member filestore.members;
begin
  if p_action = 'members' then
    return jsonb_build_object('value', (
      select coalesce(jsonb_agg(filestore.member_record(t) order by t.role = 'owner' desc, t.created_at, t.id), '[]')
      from filestore.team(p_project_id) t));
  end if;
  select * into v_member from filestore.team(p_project_id) t where t.id = filestore.to_uuid(p_parameters ->> 'id');
  if (v_is_admin or p_action = 'remove_member' and v_member.account_id = filestore.current_account_id())
    is not true then
    return filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "admin"}');
  -- An earlier attempt, whose answer was lost, has made that member the owner.
  elsif p_action = 'transfer' and v_member.role = 'owner' then
    return jsonb_build_object('value', filestore.account_project(p_project_id) || jsonb_build_object('role', p_role));
  elsif p_action = 'transfer' and p_role <> 'owner' then
    return filestore.refusal('FORBIDDEN_SCOPE', '{"role": "owner"}');
  elsif p_action in ('invite', 'change_member') and v_role not in ('viewer', 'editor', 'admin') is not false then
    return filestore.refused_field('role', 'must be viewer, editor or admin');
  elsif p_action = 'invite' then
    return filestore.invite(p_project_id, filestore.to_uuid(p_parameters ->> 'id'), p_parameters ->> 'email', v_role);
  elsif v_member.id is null or p_action = 'transfer'
    and (v_member.account_id is null or not filestore.is_account_active(v_member.account_id)) then
    return filestore.refusal('MEMBER_NOT_FOUND');
  elsif v_member.role = 'owner' then
    return case p_role when 'owner' then filestore.refusal('OWNER_REQUIRED')
      else filestore.refusal('FORBIDDEN_SCOPE', '{"role": "owner"}') end;
  end if;
  case p_action
    when 'change_member' then
      update filestore.members m set role = v_role where m.project_id = p_project_id and m.id = v_member.id;
      v_member.role := v_role;
      return jsonb_build_object('value', filestore.member_record(v_member));
    when 'remove_member' then return filestore.remove_member(v_member);
    when 'transfer' then return filestore.transfer(p_project_id, v_member);
  end case;
end
$$;
comment on function filestore.manage_members is
  'The actions of a person with this role on the members of an opened project; see filestore_account_members.';
call filestore.grant_execute('filestore.manage_members', 'filestore_account');

create function public.filestore_account_members(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_own record;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  v_own := filestore.open_own_project(p_project_id);
  if v_own.project_id is not null and p_action <> 'members' then
    perform pg_advisory_xact_lock(hashtextextended('members/' || v_own.project_id, 0));
    -- Again: a change that this one waited for may have changed the role.
    v_own := filestore.open_own_project(v_own.project_id);
  end if;
  if v_own.project_id is null then return v_entry || filestore.refusal('PROJECT_NOT_FOUND'); end if;
  if v_own.suspended_at is not null and p_action not in ('members', 'remove_member') then
    return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  end if;
  return v_entry || filestore.manage_members(v_own.project_id, v_own.role, p_action, p_parameters);
end
$$;
comment on function public.filestore_account_members is
  'The members of a project, by default of the account''s oldest one. Everybody in it may list them (members) and '
  'leave (remove_member: id); the owner and admins invite (id, chosen by the caller, email and role), change_member '
  '(id, role) and remove_member (id); the owner may transfer the project (id). Refusals: PROJECT_NOT_FOUND, '
  'FORBIDDEN_SCOPE, MEMBER_NOT_FOUND, OWNER_REQUIRED, MEMBER_ALREADY_EXISTS, MEMBER_LIMIT_REACHED, '
  'PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED, QUOTA_EXCEEDED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_account_members', 'filestore_account', 'authenticated');

create function public.filestore_account_answer_invitation(p_id uuid, p_accepts boolean) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_account_id constant uuid := filestore.current_account_id();
  v_email constant text := filestore.address_of(v_account_id, true);
  v_member filestore.members;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  perform set_config('filestore.project_id', '', true);
  select * into v_member from filestore.members m
  -- Accepted by this account already: the same request again, whose answer was lost.
  where m.id = p_id and (m.account_id is null or m.account_id = v_account_id and p_accepts);
  perform pg_advisory_xact_lock(hashtextextended('members/' || v_member.project_id, 0));
  select * into v_member from filestore.members m
  where m.id = v_member.id and m.project_id = v_member.project_id and filestore.invited_to(m.project_id) is not null
    and (m.account_id = v_account_id and p_accepts
      or m.account_id is null and m.email = v_email and m.expires_at > clock_timestamp());
  if not found then return v_entry || filestore.refusal('INVITATION_NOT_FOUND'); end if;
  perform set_config('filestore.project_id', v_member.project_id::text, true);
  if not p_accepts then return v_entry || filestore.remove_member(v_member); end if;
  if v_member.account_id is null then
    if exists (select from filestore.team(v_member.project_id) t where t.account_id = v_account_id) then
      return v_entry || filestore.refusal('MEMBER_ALREADY_EXISTS');
    end if;
    update filestore.members m set account_id = v_account_id, expires_at = null
    where m.project_id = v_member.project_id and m.id = v_member.id;
  end if;
  return v_entry || jsonb_build_object('value', filestore.account_project(v_member.project_id) || jsonb_build_object(
    'role', (select o.role from filestore.own_projects() o where (o.project).id = v_member.project_id)));
end
$$;
comment on function public.filestore_account_answer_invitation is
  'Accepts an invitation to the confirmed address of the signed-in account, which then is a member and gets the '
  'project, or declines it. Refusals: INVITATION_NOT_FOUND, MEMBER_ALREADY_EXISTS.';
call filestore.publish('public.filestore_account_answer_invitation', 'filestore_account', 'authenticated');
-- 80_search_index.sql ================================================================================================
-- The search index: text of one version of each file. A search shows it only while that version is the current one.
--
-- A trigger queues each new version, in the transaction of its commit. The edge function leases files from
-- the queue, reads their bytes, and stores text and chunks, and later the embeddings of the chunks.

create function filestore.search_split(p_text text) returns text
language plpgsql immutable set search_path = ''
as $$ begin return translate(p_text, '<&~/.@_+-ȺȾ', ',,,,,,,,,ⱥⱦ'); end $$;
comment on function filestore.search_split is
  'The text with a comma for each character at which Postgres''s parser of text search looks ahead: for '
  'hosts, addresses, paths, numbers, hyphens and tags. From each of them it may read to the end of the text, '
  'which takes quadratic time. Texts and queries are split alike. The two letters whose lower case is longer '
  'in UTF-8 are converted to lower case here: Postgres measures a word before the conversion, stores it '
  'after, and crashes where the word then has more than 2,047 bytes.';
call filestore.grant_execute('filestore.search_split', 'filestore_engine', 'filestore_search');

create function filestore.search_camel_split(p_text text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return regexp_replace(
    regexp_replace(p_text, '([a-z0-9])([A-Z])', '\1,\2', 'g'), '([A-Z])([A-Z][a-z])', '\1,\2', 'g');
end
$$;
comment on function filestore.search_camel_split is
  'The text with a comma between the parts of words such as rateLimit and HTTPServer.';
call filestore.grant_execute('filestore.search_camel_split', 'filestore_engine', 'filestore_search');

create function filestore.search_path_words(p_path text) returns tsvector
language plpgsql stable set search_path = '' as $$
declare
  -- Only the last words of a longer path are indexed.
  c_words_max constant integer := 48;
  -- `src/rateLimit.ts` is found by rate, limit, rateLimit, src and ts, and by consecutive parts.
  v_split constant text := filestore.search_camel_split(p_path);
  v_lists text[] := array[v_split];
  v_list text;
  v_words text[];
  v_found tsvector := '';
begin
  if v_split <> p_path then v_lists := v_lists || p_path; end if;
  foreach v_list in array v_lists loop
    v_words := regexp_split_to_array(v_list, '[^[:alnum:]]+');
    v_words := v_words[greatest(cardinality(v_words) - c_words_max + 1, 1) :];
    v_found := v_found || to_tsvector('pg_catalog.english', array_to_string(v_words, ' '));
  end loop;
  return setweight(
    v_found || coalesce(to_tsvector('pg_catalog.simple', (
      select string_agg(w.word, ' ') from unnest(v_words) w (word)
      where to_tsvector('pg_catalog.english', w.word) = '')), ''), 'A');
end
$$;
comment on function filestore.search_path_words is
  'The words of a path for full-text search, with the highest weight, unstemmed: including stop words and '
  'the parts of words in camel case.';
call filestore.grant_execute('filestore.search_path_words', 'filestore_search');

create function filestore.search_content_words(p_content text, out words tsvector, out is_cut boolean)
language plpgsql stable set search_path = '' as $$
declare
  v_content constant text := filestore.search_split(p_content);
  -- Prose and code have fewer distinct words.
  c_words_max constant integer := 600 + octet_length(p_content) / 32;
  v_length integer := length(v_content);
begin
  is_cut := false;
  loop
    begin
      words := setweight(to_tsvector('pg_catalog.english', left(v_content, v_length)), 'D');
      exit when length(words) <= c_words_max;
      is_cut := true;
      v_length := least(v_length::bigint * c_words_max / length(words), v_length * 3 / 4);
    exception when program_limit_exceeded then
      -- A tsvector holds 1 MB of distinct words.
      is_cut := true;
      v_length := v_length / 2;
    end;
  end loop;
end
$$;
comment on function filestore.search_content_words is
  'The words of a text for full-text search. A word that is new to the index takes some 80 bytes, so only '
  'the beginning is indexed of a text with more distinct words than prose or code has; then `is_cut` is '
  'true.';
call filestore.grant_execute('filestore.search_content_words', 'filestore_search');

create function filestore.search_content_hash(p_content text) returns bytea
language plpgsql immutable set search_path = '' as $$
begin
  return case when octet_length(p_content) > (filestore.limits()).search_shared_bytes_min
    then sha256(convert_to(p_content, 'UTF8')) end;
end
$$;
comment on function filestore.search_content_hash is
  'The hash by which files share a content; null where it is so short that each file''s row contains it.';
call filestore.grant_execute('filestore.search_content_hash', 'filestore_search');

create function filestore.search_lock_content(p_project_id uuid, p_hash bytea) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('content/' || p_project_id || '/' || encode(p_hash, 'hex'), 0));
end
$$;
comment on function filestore.search_lock_content is
  'Takes the lock for assigning a content to a file, or for removing it from one. Several locks are taken in '
  'the order of project and hash.';
call filestore.grant_execute('filestore.search_lock_content', 'filestore_search');

create function filestore.search_release_content() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  -- The next statement sees files to which other transactions have assigned the content.
  perform filestore.search_lock_content(old.project_id, old.content_hash);
  delete from filestore.search_contents c
  where c.project_id = old.project_id and c.hash = old.content_hash
    and not exists (
      select from filestore.search_texts t
      where t.project_id = old.project_id and t.content_hash = old.content_hash);
  return null;
end
$$;
comment on function filestore.search_release_content is 'Deletes a content that no file uses any more.';
call filestore.publish('filestore.search_release_content', 'filestore_search', 'filestore_search');
create trigger release_content_on_delete after delete on filestore.search_texts
  for each row when (old.content_hash is not null) execute function filestore.search_release_content();
create trigger release_content_on_update after update of content_hash on filestore.search_texts
  for each row when (old.content_hash is not null and old.content_hash is distinct from new.content_hash)
  execute function filestore.search_release_content();

create function filestore.search_take(
  p_lease_id uuid, p_stage integer, p_files integer, p_bytes bigint, p_lease_seconds integer, p_due timestamptz
) returns table (project_id uuid, file_id uuid)
language plpgsql volatile set search_path = '' as $$
declare
  c_files_of_one_project constant integer := 25;
  -- The number of projects that are examined from each of two starting places.
  c_looks constant integer := 200;
begin
  return query
  with recursive looks as (
    -- One probe of the index for each project, whatever the number of its waiting files: projects from a
    -- random place on, so that none waits for long, and from the first one.
    select n.* from (values (gen_random_uuid()), ('00000000-0000-0000-0000-000000000000')) s (start)
    cross join lateral (
      select q.project_id, q.due_at, 1 as number from filestore.search_queue q
      where q.stage = p_stage and q.project_id > s.start order by q.project_id, q.due_at limit 1) n
    union all
    select n.* from looks l cross join lateral (
      select q.project_id, q.due_at, l.number + 1 from filestore.search_queue q
      where q.stage = p_stage and q.project_id > l.project_id order by q.project_id, q.due_at limit 1) n
    where l.number < c_looks
  ), due as materialized (
    select q.*, p.place
    from (
      select w.project_id as id, row_number() over () as place, count(*) over () as projects
      from (
        select l.project_id from looks l where l.due_at <= p_due group by l.project_id
        order by random() limit p_files
      ) w
    ) p
    cross join lateral (
      -- A text that is too large to be indexed is not read, so it counts no bytes.
      select q.project_id, q.file_id, q.due_at, q.attempts,
             case when q.bytes <= (filestore.limits()).search_text_bytes_max then q.bytes else 0 end as bytes
      from filestore.search_queue q
      where q.stage = p_stage and q.project_id = p.id and q.due_at <= p_due
      order by q.due_at limit least(c_files_of_one_project, p_files / p.projects)
      for update of q skip locked
    ) q
  ), ordered as (
    select d.*, row_number() over w = 1 as is_first, first_value(d.attempts) over w > 0 as is_retry,
           sum(d.bytes) over (order by d.bytes, d.place, d.due_at, d.file_id) as bytes_so_far
    from due d window w as (order by d.place, d.due_at, d.file_id)
  )
  update filestore.search_queue q
  set lease_id = p_lease_id, attempts = q.attempts + 1,
      due_at = clock_timestamp() + p_lease_seconds * power(2, least(q.attempts, 10)) * interval '1 second'
  from ordered o
  where q.project_id = o.project_id and q.file_id = o.file_id
    and (o.is_first or not o.is_retry and o.attempts = 0 and o.bytes_so_far <= p_bytes)
  returning q.project_id, q.file_id;
end
$$;
comment on function filestore.search_take is
  'Leases files that are due: equal numbers for each project, at most 25 for one. The first file may have '
  'any size; others are taken while all together have at most p_bytes, small files first. A file that was '
  'tried before is taken alone, since it may end the isolate. After the lease a file is due again; each '
  'lease is twice as long as the one before.';
call filestore.grant_execute('filestore.search_take', 'filestore_search');

create function public.filestore_search_lease(
  p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer,
  p_model text default null, p_begun timestamptz default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
-- fence: the queue is usually empty, and a plan from such a time would read all of it when it is long.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_lease_id constant uuid := gen_random_uuid();
  v_project_ids uuid[];
  v_file_ids uuid[];
  v_files jsonb;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  select array_agg(t.project_id), array_agg(t.file_id) into v_project_ids, v_file_ids
  from filestore.search_take(
    v_lease_id, p_stage, p_files, p_bytes, p_lease_seconds,
    -- A client's clock may drop fractions of a millisecond.
    least(clock_timestamp(), p_begun + interval '1 millisecond')) t;
  -- A separate statement, for a new snapshot: the rows locked above may be newer than the snapshot of their
  -- statement, and files read in it would be older. No commit can intervene: it would wait for the row of the
  -- queue.
  select jsonb_agg(jsonb_build_object(
    'projectId', q.project_id, 'fileId', q.file_id, 'version', q.version, 'path', f.path, 'mimeType', f.mime_type,
    'size', f.size, 'isDeleted', f.is_deleted, 'tries', q.attempts,
    'segments', case when p_stage = 1 and not f.is_deleted and f.size <= (filestore.limits()).search_text_bytes_max
      then filestore.segment_list(q.project_id, f.segment_ids) else '[]'::jsonb end,
    'chunks', (
      -- The first chunks that p_model has not embedded.
      select coalesce(jsonb_agg(jsonb_build_object(
        'hash', k.hash, 'text', substr(coalesce(t.content, c.content), k.start + 1, k.length))), '[]')
      from (
        select k.hash, k.start, k.length from filestore.search_chunks k
        where p_stage = 2 and k.project_id = q.project_id and k.file_id = q.file_id and k.version = q.version
          and k.model is distinct from p_model
        order by k.start limit greatest(p_chunks / cardinality(v_file_ids), 1)
      ) k
      join filestore.search_texts t on t.project_id = q.project_id and t.file_id = q.file_id
      left join filestore.search_contents c on c.project_id = q.project_id and c.hash = t.content_hash)))
  into v_files
  from unnest(v_project_ids, v_file_ids) i (project_id, file_id)
  join filestore.search_queue q on q.project_id = i.project_id and q.file_id = i.file_id
  join filestore.files f on f.project_id = q.project_id and f.id = q.file_id;
  return jsonb_build_object(
    'leaseId', v_lease_id, 'files', coalesce(v_files, '[]'), 'nextDueMilliseconds', (
      select greatest(extract(epoch from q.due_at - clock_timestamp()) * 1000, 0)::bigint
      from filestore.search_queue q where q.stage = p_stage order by q.due_at limit 1));
end
$$;
comment on function public.filestore_search_lease is
  'Leases files that are due: stage 1 with the segments of their text, stage 2 with p_chunks chunks that '
  'p_model has not embedded. With p_begun, only files that were due by then, so that a sweep ends even while '
  'clients write. Also returns when the next file is due.';
call filestore.publish('public.filestore_search_lease', 'filestore_search', 'service_role');

create function public.filestore_search_fail(p_lease_id uuid, p_files jsonb) returns integer
language sql volatile security definer set search_path = '' as $$
  select set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  with failed as (
    update filestore.search_queue q
    set lease_id = case when f.is_fault then null else q.lease_id end,
        attempts = q.attempts - case when f.is_fault then 0 else 1 end,
        due_at = case when f.is_fault
          then clock_timestamp() + 2 * power(2, q.attempts - 1) * interval '1 second' else q.due_at end
    from jsonb_to_recordset(p_files) f (project_id uuid, file_id uuid, is_fault boolean)
    where q.project_id = f.project_id and q.file_id = f.file_id and q.lease_id = p_lease_id
    returning 1
  )
  select count(*)::integer from failed
$$;
comment on function public.filestore_search_fail is
  'Records which leased files could not be indexed. If the file is at fault, it is due again soon, later '
  'after each failure. If a service was out of reach, the attempt does not count, and the file is due again '
  'after its lease. Returns how many leases were still valid.';
call filestore.publish('public.filestore_search_fail', 'filestore_search', 'service_role');

create function filestore.search_store_chunks(
  p_project_id uuid, p_file_id uuid, p_version integer, p_content text, p_chunks jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- In characters. Postgres finds a character by counting from the first one, so chunks are cut out of parts of the
  -- text; cut out of the whole text, the chunks of 1 MB took 3 s.
  c_part constant integer := 20000;
begin
  with chunks as materialized (
    select (c.value ->> 0)::integer as first_line, (c.value ->> 1)::integer as start, (c.value ->> 2)::integer as length
    from jsonb_array_elements(p_chunks) c
  ), parts as materialized (
    select n.number, substr(p_content, n.number * c_part + 1, c_part + m.longest) as content
    from (select max(c.start) as last_start, max(c.length) as longest from chunks c) m
    cross join lateral generate_series(0, m.last_start / c_part) as n (number)
  )
  insert into filestore.search_chunks as k (project_id, file_id, hash, version, first_line, start, length)
  -- A chunk that occurs twice in a text is embedded once.
  select distinct on (h.hash) p_project_id, p_file_id, h.hash, p_version, h.first_line, h.start, h.length
  from (
    select c.first_line, c.start, c.length, md5(substr(p.content, c.start % c_part + 1, c.length))::uuid as hash
    from chunks c join parts p on p.number = c.start / c_part
  ) h
  order by h.hash, h.start
  on conflict (project_id, file_id, hash) do update
    set version = excluded.version, first_line = excluded.first_line, start = excluded.start, length = excluded.length
    where k.version < excluded.version;
  delete from filestore.search_chunks k
  where k.project_id = p_project_id and k.file_id = p_file_id and k.version < p_version;
end
$$;
comment on function filestore.search_store_chunks is
  'Stores the chunks of a text, [first line, start, length] each, replacing those of an older version.';
call filestore.grant_execute('filestore.search_store_chunks', 'filestore_search');

create function filestore.search_store_text(p_text jsonb, p_model text) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_text ->> 'projectId';
  v_file_id constant uuid := p_text ->> 'fileId';
  v_version constant integer := p_text ->> 'version';
  v_content constant text := coalesce(p_text ->> 'content', p_text ->> 'path');
  v_hash constant bytea := filestore.search_content_hash(v_content);
  v_words tsvector := filestore.search_path_words(p_text ->> 'path');
  v_found record;
begin
  if (p_text ->> 'isDeleted')::boolean then
    delete from filestore.search_texts t
    where t.project_id = v_project_id and t.file_id = v_file_id and t.version < v_version;
    return true;
  end if;
  if v_hash is null then
    v_found := filestore.search_content_words(coalesce(p_text ->> 'content', ''));
    v_words := v_words || v_found.words;
  else
    select c.is_cut into v_found from filestore.search_contents c
    where c.project_id = v_project_id and c.hash = v_hash;
    if not found then
      v_found := filestore.search_content_words(v_content);
      insert into filestore.search_contents (project_id, hash, content, words, is_cut)
      values (v_project_id, v_hash, v_content, v_found.words, v_found.is_cut);
    end if;
  end if;
  insert into filestore.search_texts as t (
    project_id, file_id, version, path, mime_type, skipped, content, content_hash, bytes, json_bytes, words,
    is_cut, indexed_at)
  values (
    v_project_id, v_file_id, v_version, p_text ->> 'path', p_text ->> 'mimeType', p_text ->> 'skipped',
    case when v_hash is null then v_content end, v_hash, octet_length(v_content),
    octet_length(to_json(v_content)::text), v_words, v_found.is_cut, clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped,
        content = excluded.content, content_hash = excluded.content_hash, bytes = excluded.bytes,
        json_bytes = excluded.json_bytes, words = excluded.words, is_cut = excluded.is_cut,
        indexed_at = excluded.indexed_at, model = null
    where t.version < excluded.version or t.version = excluded.version and t.skipped = 'not_indexable';
  perform filestore.search_store_chunks(v_project_id, v_file_id, v_version, v_content, p_text -> 'chunks');
  if p_model is null then return true; end if;
  if exists (
    select from filestore.search_chunks k
    where k.project_id = v_project_id and k.file_id = v_file_id and k.model is distinct from p_model) then
    return false;
  end if;
  update filestore.search_texts t set model = p_model
  where t.project_id = v_project_id and t.file_id = v_file_id and t.version = v_version;
  return true;
end
$$;
comment on function filestore.search_store_text is
  'Stores the text and chunks of one file replacing those of an older version, with its contents locked. '
  'False where p_model has not embedded some of the chunks.';
call filestore.grant_execute('filestore.search_store_text', 'filestore_search');

create function public.filestore_search_store(p_lease_id uuid, p_texts jsonb, p_model text default null) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_text jsonb;
  v_project_id uuid;
  v_done jsonb := '[]';
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  -- Locks the contents that files gain or lose, in order, so that two transactions never wait for each other.
  perform filestore.search_lock_content(h.project_id, h.hash)
  from (
    select n.project_id, n.hash from (
      select (t.value ->> 'projectId')::uuid as project_id,
             filestore.search_content_hash(t.value ->> 'content') as hash
      from jsonb_array_elements(p_texts) t
    ) n where n.hash is not null
    union
    select t.project_id, t.content_hash
    from (
      select (e.value ->> 'projectId')::uuid as project_id, (e.value ->> 'fileId')::uuid as file_id
      from jsonb_array_elements(p_texts) e
    ) n
    -- fence: texts are looked up one by one by primary key.
    cross join lateral (
      select * from filestore.search_texts o
      where o.project_id = n.project_id and o.file_id = n.file_id and o.content_hash is not null offset 0
    ) t
    order by project_id, hash
  ) h;
  for v_text in select t.value from jsonb_array_elements(p_texts) t order by t.value ->> 'fileId' loop
    v_project_id := v_text ->> 'projectId';
    -- The lease has expired or there is a newer version: another lease covers the work now.
    continue when not exists (
      select from filestore.search_queue q
      where q.project_id = v_project_id and q.file_id = (v_text ->> 'fileId')::uuid
        and q.version = (v_text ->> 'version')::integer and q.lease_id = p_lease_id);
    v_done := v_done || jsonb_build_object(
      'project_id', v_text -> 'projectId', 'file_id', v_text -> 'fileId', 'version', v_text -> 'version',
      'is_embedded', filestore.search_store_text(v_text, p_model));
  end loop;
  -- A purge that is not visible here waits for these texts, and removes them itself.
  delete from filestore.search_texts t using jsonb_to_recordset(v_done) d (project_id uuid, file_id uuid)
  where t.project_id = d.project_id and t.file_id = d.file_id and exists (
    select from filestore.files f where f.project_id = d.project_id and f.id = d.file_id and f.path is null);
  -- The queue's rows are locked last, in one statement, so that no commit waits while texts are stored. A
  -- locked row is skipped: the commit that holds it is adding a newer version, which ends the lease.
  with held as (
    select q.project_id, q.file_id, d.is_embedded
    from jsonb_to_recordset(v_done) d (project_id uuid, file_id uuid, version integer, is_embedded boolean)
    join filestore.search_queue q on q.project_id = d.project_id and q.file_id = d.file_id and q.version = d.version
    where q.lease_id = p_lease_id
    for update of q skip locked
  ), finished as (
    delete from filestore.search_queue q using held h
    where h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id
  )
  -- Due since the file was written, so that a sweep that stored its text continues with its chunks.
  update filestore.search_queue q
  set stage = 2, due_at = least(f.updated_at, clock_timestamp()), attempts = 0, lease_id = null
  from held h join filestore.files f on f.project_id = h.project_id and f.id = h.file_id
  where not h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id;
  return jsonb_array_length(v_done);
end
$$;
comment on function public.filestore_search_store is
  'Stores the text and chunks of leased files, replacing those of an older version; with p_model, files with '
  'chunks that this model has not embedded enter stage 2. Returns how many leases were still valid.';
call filestore.publish('public.filestore_search_store', 'filestore_search', 'service_role');

create function public.filestore_search_store_embeddings(
  p_lease_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb
) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_left integer;
  v_version integer;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  select q.version into v_version from filestore.search_queue q
  where q.project_id = p_project_id and q.file_id = p_file_id and q.lease_id = p_lease_id;
  if not found then return null; end if;
  -- An embedding belongs to a text and not to a version, so a late one is still right.
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
    where q.project_id = p_project_id and q.file_id = p_file_id and q.lease_id = p_lease_id;
  else
    update filestore.search_queue q
    set due_at = least(f.updated_at, clock_timestamp()), lease_id = null, attempts = 0
    from filestore.files f
    where q.project_id = p_project_id and q.file_id = p_file_id and q.lease_id = p_lease_id
      and f.project_id = q.project_id and f.id = q.file_id;
  end if;
  return v_left;
end
$$;
comment on function public.filestore_search_store_embeddings is
  'Stores embeddings of a leased file''s chunks, empty ones for chunks that the model refuses, and ends the '
  'lease. Returns how many chunks are left; null if the lease was not valid.';
call filestore.publish('public.filestore_search_store_embeddings', 'filestore_search', 'service_role');

create function public.filestore_search_requeue(p_model text, p_files integer, p_given_up_seconds integer)
returns integer
language sql volatile security definer set search_path = '' as $$
  with queued as (
    insert into filestore.search_queue (project_id, file_id, version, path, bytes, stage, due_at)
    (select t.project_id, t.file_id, t.version, t.path, t.bytes,
            -- A text that was stored while no model was configured has no chunks yet.
            case when exists (
              select from filestore.search_chunks k where k.project_id = t.project_id and k.file_id = t.file_id
            ) then 2 else 1 end,
            t.indexed_at
     from filestore.search_texts t
     where p_model is not null and t.skipped is null and (t.model is null or t.model < p_model or t.model > p_model)
       and not exists (
         select from filestore.search_queue q where q.project_id = t.project_id and q.file_id = t.file_id)
     limit p_files)
    union all
    (select f.project_id, f.id, f.version, f.path, f.size, 1, t.indexed_at
     from filestore.search_texts t
     join filestore.files f on f.project_id = t.project_id and f.id = t.file_id and f.version = t.version
     where t.skipped = 'not_indexable' and t.indexed_at < clock_timestamp() - p_given_up_seconds * interval '1 second'
     limit p_files)
    on conflict do nothing returning 1
  )
  select count(*)::integer from queued
$$;
comment on function public.filestore_search_requeue is
  'Queues files whose chunks were embedded by another model or by none (after embeddings were configured or '
  'changed), and files whose indexing failed longer ago than the given time. Without a model, only the '
  'latter. Returns how many.';
call filestore.publish('public.filestore_search_requeue', 'filestore_search', 'service_role');
-- 81_search.sql ======================================================================================================
-- Search by pattern, by words and by meaning.
--
-- Isolation. LIKE, @@ and <=> are not leakproof: under a row-level policy Postgres would check the policy for every row
-- first and use no index. So candidates are found by a role that sees every project's rows of the search tables,
-- filestore_search, in functions that take a project id and return ids. The operation then reads those ids again as
-- filestore_engine, under the policies of its project: rows of another project are not returned.

create function filestore.search_filter(p_query jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case when coalesce(p_query ->> 'directory', '') = ''
      -- Branches are no part of the root.
      then ' and (t.path < ''.branches/'' or t.path >= ''.branches0'')'
      else format(
        ' and t.path >= %L and t.path < %L', (p_query ->> 'directory') || '/', (p_query ->> 'directory') || '0') end
    || coalesce(' and t.path > ' || quote_literal(p_query ->> 'after'), '')
    || coalesce(' and t.path ~ ' || quote_literal(p_query ->> 'glob'), '')
    || coalesce(' and t.mime_type = ' || quote_literal(p_query ->> 'contentType'), '');
end
$$;
comment on function filestore.search_filter is
  'Conditions on search_texts t, with every value quoted. The glob is given as a regular expression that '
  'consists only of [^/]*, [^/], .* and literals.';
call filestore.grant_execute('filestore.search_filter', 'filestore_search');

create function filestore.search_conditions(
  p_query jsonb, out likes text[], out trigrams text[], out others text, out other_trigrams integer[]
)
language plpgsql stable set search_path = '' as $$
declare
  c_like constant text := case when (p_query ->> 'caseSensitive')::boolean then 'like' else 'ilike' end;
  v_clause jsonb;
  v_likes text[];
  v_trigrams text[];
begin
  others := '';
  other_trigrams := '{}';
  for v_clause in
    select c.value from jsonb_array_elements(p_query -> 'clauses') with ordinality c
    cross join lateral (
      select bool_and(filestore.search_trigrams_within(l.literal) <> '{}') as is_indexed
      from jsonb_array_elements_text(c.value) l (literal)
    ) i
    order by i.is_indexed desc, c.ordinality
  loop
    select array_agg(format('x.content %s %L', c_like, '%' || replace(replace(replace(
             l.literal, '\', '\\'), '%', '\%'), '_', '\_') || '%') order by l.ordinality),
           array_agg(filestore.search_trigrams_within(l.literal)::text order by l.ordinality)
    into v_likes, v_trigrams
    from jsonb_array_elements_text(v_clause) with ordinality l (literal);
    if likes is null then
      likes := v_likes;
      trigrams := v_trigrams;
    else
      others := others || ' and (' || array_to_string(v_likes, ' or ') || ')';
      if cardinality(v_trigrams) = 1 then other_trigrams := other_trigrams || v_trigrams[1]::integer[]; end if;
    end if;
  end loop;
end
$$;
comment on function filestore.search_conditions is
  'The conditions of a query by pattern on a text, x.content. A matching text contains one literal of each '
  'clause; the client sends the most selective clause first. `likes` and `trigrams`, one per literal, belong '
  'to the first clause for which the index has trigrams, otherwise to the first clause; `others` to the '
  'other clauses, and `other_trigrams` to those other clauses that are a single literal.';
call filestore.grant_execute('filestore.search_conditions', 'filestore_search');

create function filestore.search_walk(p_project_id uuid, p_query jsonb, p_statement text)
returns table (file_id uuid, walked_to text)
language plpgsql stable set search_path = '' as $$
declare
  -- The number of texts, and of their bytes, that one call reads.
  c_walk_files constant integer := 2000;
  c_walk_bytes constant integer := 4194304;
  c_skip constant integer := p_query ->> 'skip';
  v_texts refcursor;
  v_path text;
  v_bytes integer;
  v_is_found boolean;
  v_read bigint := 0;
  v_found integer := 0;
begin
  open v_texts for execute p_statement || ' order by t.path limit $2' using p_project_id, c_walk_files;
  for v_walked in 1 .. c_walk_files loop
    fetch v_texts into file_id, v_path, v_bytes, v_is_found;
    exit when not found;
    v_read := v_read + v_bytes;
    if v_is_found then
      v_found := v_found + 1;
      if v_found > c_skip then return next; end if;
      exit when v_found = c_skip + (p_query ->> 'files')::integer;
    end if;
    if v_walked = c_walk_files or v_read >= c_walk_bytes then
      return query select null::uuid, v_path;
      exit;
    end if;
  end loop;
  close v_texts;
end
$$;
comment on function filestore.search_walk is
  'Reads texts one by one along the paths, for literals without index entries, up to a number of texts and '
  'of bytes. The statement selects the id, path and size of a file, and whether its text matches.';
call filestore.grant_execute('filestore.search_walk', 'filestore_search');

create function filestore.search_pattern_candidates(p_project_id uuid, p_query jsonb)
returns table (file_id uuid, walked_to text)
language plpgsql stable security definer set search_path = '' as $$
declare
  -- A pattern that occurs in up to this many files is looked up in the index and sorted.
  c_found_max constant integer := 1000;
  c_filter constant text := ' where t.project_id = $1' || filestore.search_filter(p_query);
  -- A text is in the file's row, or is used by several files; those are looked up separately, or in the order
  -- of paths. fence: trigrams come from the index, since to compute them takes long, and the text is read
  -- last.
  c_own constant text := ' from (select t.* from filestore.search_texts t where t.project_id = $1'
    ' and t.content_hash is null and filestore.search_trigrams(t.content) @> %1$L::integer[] offset 0) t'
    ' cross join lateral (select t.content) x' || replace(c_filter, '%', '%%');
  c_shared constant text := ' from (select t.file_id, t.path, c.content from ('
    ' select c.hash, c.content from filestore.search_contents c where c.project_id = $1'
    ' and filestore.search_trigrams(c.content) @> %1$L::integer[] offset 0) c'
    ' join filestore.search_texts t on t.content_hash = c.hash' || replace(c_filter, '%', '%%') || ' offset 0'
    ') t cross join lateral (select t.content) x where true';
  c_along constant text := ' from filestore.search_texts t cross join lateral (select coalesce(t.content, ('
    ' select c.content from filestore.search_contents c where c.project_id = $1 and c.hash = t.content_hash'
    ')) as content offset 0) x' || c_filter;
  c_conditions constant record := filestore.search_conditions(p_query);
  c_any constant text := '(' || array_to_string(c_conditions.likes, ' or ') || ')' || c_conditions.others;
  c_files constant integer := p_query ->> 'files';
  c_skip constant integer := p_query ->> 'skip';
  v_few uuid[];
  v_count bigint;
begin
  -- The index has no entries for literals without trigrams.
  if '{}' = any (c_conditions.trigrams) then
    return query select w.file_id, w.walked_to
      from filestore.search_walk(p_project_id, p_query, 'select t.file_id, t.path, t.bytes, ' || c_any || c_along) w;
    return;
  -- fence: usually few files match; then they are looked up in the trigram index and sorted. The planner, which takes
  -- rare texts for common ones, would walk along the paths until enough have matched, so it is left no other plan.
  elsif c_conditions.likes is not null then
    perform set_config('enable_indexscan', 'off', true), set_config('enable_seqscan', 'off', true);
    execute 'select array_agg(c.file_id order by c.path), count(*) from (' || (
      select string_agg(
        '(select t.file_id, t.path' || format(s.source, l.trigrams::integer[] || c_conditions.other_trigrams)
        || ' and ' || l.condition || c_conditions.others || ' limit $2)', ' union ')
      from unnest(c_conditions.likes, c_conditions.trigrams) l (condition, trigrams)
      cross join unnest(array[c_own, c_shared]) s (source)) || ') c'
    into v_few, v_count using p_project_id, c_found_max + 1;
    perform set_config('enable_indexscan', 'on', true), set_config('enable_seqscan', 'on', true);
    if v_count <= c_found_max then
      return query select f.id, null from unnest(v_few) with ordinality f (id, place)
        where f.place > c_skip and f.place <= c_skip + c_files order by f.place;
      return;
    end if;
  end if;
  -- Many files match, so reading in the order of paths soon finds a page of them.
  return query execute 'select t.file_id, null::text'
    || coalesce(c_along || ' and ' || c_any, ' from filestore.search_texts t' || c_filter)
    || ' order by t.path limit $2 offset $3'
  using p_project_id, c_files, c_skip;
end
$$;
comment on function filestore.search_pattern_candidates is
  'Files of a project whose text may match, by path. Where only a part of the texts was read, a last row '
  'shows how far. Runs as filestore_search: callers read the ids again under their own policies.';
call filestore.publish('filestore.search_pattern_candidates', 'filestore_search', 'filestore_engine');

-- By meaning: approximately with the index of the vector's size, or exactly by comparing chunks one by one.
-- Without the extension vector these functions return nothing. Their bodies are parsed here and not when they
-- run, so callers need no access to the schema of the extension.
do $$
declare
  v_schema constant text := (
    select quote_ident(n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector');
  v_signature constant text :=
    '(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text) '
    'returns table (file_id uuid, hash uuid, distance double precision) '
    'language sql stable set search_path = '''' ';
  c_nearest constant integer := 200;
  v_chunks_max constant integer := (filestore.limits()).search_exact_chunks_max;
  v_dimensions integer;
  v_none constant text := 'as $f$ select null::uuid, null::uuid, null::double precision where false $f$';
  v_chunks constant text := $f$
    filestore.search_chunks c
    join filestore.search_texts t
      on t.project_id = c.project_id and t.file_id = c.file_id and t.version = c.version
    where c.project_id = p_project_id and t.project_id = p_project_id
      and c.model = p_model and (
        p_from is null and (t.path < '.branches/' or t.path >= '.branches0') or t.path >= p_from and t.path < p_to)
      and (p_glob is null or t.path ~ p_glob) and (p_content_type is null or t.mime_type = p_content_type)
  $f$;
begin
  execute format(
    'create function filestore.search_has_vectors() returns boolean language sql immutable set search_path = '''' '
    'as %L', case when v_schema is null then 'select false' else 'select true' end);
  foreach v_dimensions in array (filestore.limits()).vector_sizes loop
    -- fence: the planner does not know how many rows a project has, so a scan of the index is the only plan
    -- left to it.
    execute format('create function filestore.search_nearest_%s', v_dimensions) || v_signature
      || case when v_schema is null then v_none else
        'set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off begin atomic '
        || format(
          'select c.file_id, c.hash, %1$s as distance from %2$s and cardinality(c.embedding) = %3$s '
          'order by %1$s limit %4$s; end',
          format(
            '(c.embedding::%1$s.vector(%2$s)) operator(%1$s.<=>) (p_vector::%1$s.vector(%2$s))', v_schema,
            v_dimensions),
          v_chunks, v_dimensions, c_nearest) end;
    execute format(
      'comment on function filestore.search_nearest_%s is %L', v_dimensions,
      'The chunks nearest to a vector of this size, found along the index, which is approximate.');
    call filestore.grant_execute(format('filestore.search_nearest_%s', v_dimensions)::regproc, 'filestore_search');
  end loop;
  execute 'create function filestore.search_nearest_exact' || v_signature
    || case when v_schema is null then v_none else 'begin atomic ' || format(
      'select c.file_id, c.hash, (c.embedding::%1$s.vector) operator(%1$s.<=>) (p_vector::%1$s.vector) as distance '
      'from (select c.file_id, c.hash, c.embedding from %2$s and cardinality(c.embedding) = cardinality(p_vector) '
      'order by c.file_id, c.hash limit %3$s) c order by distance limit %4$s; end',
      v_schema, v_chunks, v_chunks_max, c_nearest) end;
end
$$;
comment on function filestore.search_has_vectors is
  'Whether the extension vector was available when search was set up.';
comment on function filestore.search_nearest_exact is
  'The chunks nearest to a vector, compared one by one: the first search_exact_chunks_max chunks with '
  'vectors of the same size.';
call filestore.grant_execute('filestore.search_has_vectors', 'filestore_engine', 'filestore_search');
call filestore.grant_execute('filestore.search_nearest_exact', 'filestore_search');

create function filestore.search_tsquery(p_words text) returns tsquery
language plpgsql stable set search_path = '' as $$
declare
  -- As filestore.search_split, except that a hyphen which begins a word means not. A word that is split
  -- remains a unit: its parts become a phrase.
  v_words constant text := translate(regexp_replace(p_words, '[<&~/.@_+]|(?<=\S)-', ',', 'g'), 'ȺȾ', 'ⱥⱦ');
  v_split constant text := filestore.search_camel_split(v_words);
  v_query tsquery := websearch_to_tsquery('pg_catalog.english', v_words);
begin
  if numnode(v_query) = 0 then return websearch_to_tsquery('pg_catalog.simple', v_words); end if;
  -- A word in camel case is looked up as it is, and as a phrase of its parts, which the index of paths also
  -- contains.
  return case when v_split = v_words then v_query
    else v_query || websearch_to_tsquery('pg_catalog.english', v_split) end;
end
$$;
comment on function filestore.search_tsquery is
  'The query of a search by words: words, "phrases", the operator or, and -word, which excludes a word. A word in '
  'camel case also matches its parts. Stop words count only in a query without other words.';
call filestore.grant_execute('filestore.search_tsquery', 'filestore_search');

create function filestore.search_query_lexemes(p_words text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  v_words constant text := filestore.search_split(p_words || ' ' || filestore.search_camel_split(p_words));
  v_stems constant tsvector := to_tsvector('pg_catalog.english', v_words);
begin
  -- A name such as about.md or now.txt is also searched for by its words.
  return tsvector_to_array(
    case when length(v_stems) > 0 then v_stems else to_tsvector('pg_catalog.simple', v_words) end);
end
$$;
comment on function filestore.search_query_lexemes is
  'The stems of all words of a query, without its operators; for a query of stop words only, the words as '
  'they are.';
call filestore.grant_execute('filestore.search_query_lexemes', 'filestore_engine', 'filestore_search');

create function filestore.search_rest(p_query tsquery, p_known text[]) returns tsquery
language plpgsql immutable set search_path = '' as $$
declare
  v_rest tsquery := p_query;
  v_lexeme text;
begin
  foreach v_lexeme in array p_known loop
    v_rest := ts_rewrite(
      v_rest, ('''' || replace(replace(v_lexeme, '\', '\\'), '''', '''''') || '''')::tsquery, ''::tsquery);
  end loop;
  return v_rest;
end
$$;
comment on function filestore.search_rest is
  'The rest of a query without alternatives, once some of its words are known to occur.';
call filestore.grant_execute('filestore.search_rest', 'filestore_search');

-- fence, in the next two functions: words are looked up in their indexes. The planner underestimates the cost
-- of reading a text's words, and would read those of all texts of a project that it considers small.
create function filestore.search_by_names(p_project_id uuid, p_query jsonb, p_limit integer)
returns table (file_id uuid, score double precision)
language plpgsql stable set search_path = '' set enable_indexscan = off set enable_seqscan = off as $$
declare
  c_matches_max constant integer := 10000;
  -- Only words of the path have the weight A.
  c_words constant tsquery := regexp_replace(
    filestore.search_tsquery(p_query ->> 'names')::text, '''(?:[^'']|'''')+''', '\&:A', 'g')::tsquery;
begin
  -- A file may be relevant although its name lacks a word.
  if c_words::text ~ '!' then return; end if;
  return query execute format(
    $q$
      with found as (
        (select t.file_id, t.path, t.words from filestore.search_texts t
         where t.project_id = $1 and t.content_hash is null and t.words @@ $2 %1$s limit $3)
        union all
        (select t.file_id, t.path, t.words from filestore.search_texts t
         where t.project_id = $1 and t.content_hash is not null and t.words @@ $2 %1$s limit $3)
      )
      select f.file_id, ts_rank(f.words, $2, 1)::double precision as score from found f
      order by score desc, f.path limit $4
    $q$, filestore.search_filter(p_query))
  using p_project_id, c_words, c_matches_max, p_limit;
end
$$;
comment on function filestore.search_by_names is 'The best files of a project by the words of their paths.';
call filestore.grant_execute('filestore.search_by_names', 'filestore_search');

create function filestore.search_by_words(p_project_id uuid, p_query jsonb, p_limit integer)
returns table (file_id uuid, score double precision)
language plpgsql stable set search_path = '' set enable_indexscan = off set enable_seqscan = off as $$
declare
  -- The number of files containing the words that are ranked; others are not, since reading their words takes
  -- time.
  c_matches_max constant integer := 10000;
  -- The number of ways to divide the words between paths and shared contents that are tried, the most
  -- frequent ones.
  c_splits constant integer := 32;
  c_words constant tsquery := filestore.search_tsquery(p_query ->> 'words');
  c_lexemes constant text[] := filestore.search_query_lexemes(p_query ->> 'words');
  c_any constant tsquery := (
    select string_agg('''' || replace(replace(l.word, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
    from unnest(c_lexemes) l (word));
  -- First, files whose row contains the text: its words and those of the path. Then contents used by several
  -- files. Last, files whose path contains some of the words, and whose shared content contains the others.
  c_statement constant text := format($q$
      with named as materialized (
        select t.file_id, t.path, t.content_hash, t.words,
               array(select l.word from unnest($4) l (word) where l.word = any (tsvector_to_array(t.words))) as known
        from filestore.search_texts t
        where t.project_id = $1 and t.content_hash is not null and t.words @@ $5 %1$s limit $3
      ), splits as materialized (
        select k.known, filestore.search_rest(a.query::tsquery, k.known) as rest
        from (select n.known from named n group by n.known order by count(*) desc limit $6) k
        cross join string_to_table($2::text, ' | ') a (query)
      ), completed as materialized (
        select n.* from splits s join named n on n.known = s.known where numnode(s.rest) = 0
        union
        select n.* from splits s
        cross join lateral (
          select c.hash from filestore.search_contents c
          where c.project_id = $1 and c.words @@ s.rest and numnode(s.rest) > 0 limit $3
        ) c join named n on n.known = s.known and n.content_hash = c.hash
      ), found (file_id, path, words) as (
        (select t.file_id, t.path, t.words from filestore.search_texts t
         where t.project_id = $1 and t.content_hash is null and t.words @@ $2 %1$s limit $3)
        union all
        (select t.file_id, t.path, t.words || c.words
         from filestore.search_contents c
         join filestore.search_texts t on t.project_id = c.project_id and t.content_hash = c.hash
         where c.project_id = $1 and c.words @@ $2 and (not $7 or t.words || c.words @@ $2) and t.project_id = $1 %1$s
         limit $3)
        union all
        (select n.file_id, n.path, n.words || c.words
         from completed n
         cross join lateral (
           select * from filestore.search_contents o where o.project_id = $1 and o.hash = n.content_hash offset 0
         ) c
         where not c.words @@ $2 and n.words || c.words @@ $2)
      )
      select f.file_id, ts_rank(f.words, $2, 1)::double precision as score from found f
      order by score desc, f.path limit $8
    $q$, filestore.search_filter(p_query));
  c_has_not constant boolean := c_words::text ~ '!';
begin
  return query execute c_statement
    using p_project_id, c_words, c_matches_max, c_lexemes, c_any, c_splits, c_has_not, p_limit;
  -- No file contains all of the plain words, so now any of them matches.
  if not found and c_words::text ~ ' & ' and not c_has_not and p_query ->> 'words' !~* '"|\mor\M' then
    return query execute c_statement
      using p_project_id, c_any, c_matches_max, c_lexemes, c_any, c_splits, false, p_limit;
  end if;
end
$$;
comment on function filestore.search_by_words is
  'The best files of a project by the words of their paths and texts.';
call filestore.grant_execute('filestore.search_by_words', 'filestore_search');

create function filestore.search_rank_candidates(p_project_id uuid, p_query jsonb)
returns table (list text, file_id uuid, hash uuid, score double precision)
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- The functions of search by meaning find the same number.
  c_ranked constant integer := 200;
  c_chunks_max constant integer := (filestore.limits()).search_exact_chunks_max;
  c_directory constant text := nullif(p_query ->> 'directory', '');
  v_is_small boolean;
  v_vector real[];
  v_meaning record;
begin
  if p_query ->> 'names' is not null then
    return query select 'words', f.file_id, null::uuid, f.score
      from filestore.search_by_names(p_project_id, p_query, c_ranked) f;
  elsif p_query ->> 'words' is not null then
    return query select 'words', f.file_id, null::uuid, f.score
      from filestore.search_by_words(p_project_id, p_query, c_ranked) f;
  end if;
  if (p_query -> 'vector' <> 'null' and filestore.search_has_vectors()) is not true then return; end if;
  v_is_small := (select count(*) <= c_chunks_max from (
    select from filestore.search_chunks c where c.project_id = p_project_id limit c_chunks_max + 1) c);
  -- Continues in the index until enough rows satisfy the conditions.
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  perform set_config('hnsw.ef_search', c_ranked::text, true);
  -- Vectors of the present model and, while texts are embedded again, of the former one; each is compared
  -- with its own vector of the query.
  for v_meaning in
    select m.list, m.value ->> 'model' as model, m.value -> 'vector' as vector
    from (values ('meaning', p_query), ('former meaning', p_query -> 'former')) m (list, value)
    where jsonb_typeof(m.value -> 'vector') = 'array'
  loop
    v_vector := array(
      select v.value::real from jsonb_array_elements_text(v_meaning.vector) with ordinality v order by v.ordinality);
    return query execute format(
      'select $8, n.file_id, n.hash, 1 - n.distance from filestore.search_nearest_%s($1, $2, $3, $4, $5, $6, $7) n',
      case when v_is_small or cardinality(v_vector) <> all ((filestore.limits()).vector_sizes) then 'exact'
        else cardinality(v_vector)::text end)
    using p_project_id, v_meaning.model, v_vector, c_directory || '/', c_directory || '0',
      p_query ->> 'glob', p_query ->> 'contentType', v_meaning.list;
  end loop;
end
$$;
comment on function filestore.search_rank_candidates is
  'The best files of a project by words, and its nearest chunks by meaning: by vectors of the present model, '
  'and of the former one if the query has a vector of that model. Runs as filestore_search: callers read the '
  'ids again under their own policies.';
call filestore.publish('filestore.search_rank_candidates', 'filestore_search', 'filestore_engine');

create function filestore.search_unembedded(p_project_id uuid, p_query jsonb, p_files integer)
returns table (file_id uuid)
language sql stable set search_path = '' as $$
  -- Three ranges of search_texts_by_project_model.
  select t.file_id from filestore.search_texts t
  where t.project_id = p_project_id and t.skipped is null and t.model is null
  union all
  select t.file_id from filestore.search_texts t
  where t.project_id = p_project_id and t.skipped is null and t.model < p_query ->> 'model'
    and t.model is distinct from p_query -> 'former' ->> 'model'
  union all
  select t.file_id from filestore.search_texts t
  where t.project_id = p_project_id and t.skipped is null and t.model > p_query ->> 'model'
    and t.model is distinct from p_query -> 'former' ->> 'model'
  limit p_files
$$;
comment on function filestore.search_unembedded is
  'Texts, up to p_files, that have vectors neither of the model that embedded the query, nor of the former '
  'one if that embedded the query, too.';
call filestore.grant_execute('filestore.search_unembedded', 'filestore_engine');

create function filestore.search_unsearched(
  p_session filestore.session, p_scope text, p_query jsonb, p_stage integer
) returns json
language plpgsql stable set search_path = '' as $$
declare
  v_max constant integer := (filestore.limits()).search_unsearched_max;
  v_is_scan constant boolean := p_query ->> 'kind' = 'scan';
  v_live constant jsonb := p_query -> 'live';
  v_known constant uuid[] := array(select k.id::uuid from jsonb_array_elements_text(p_query -> 'known') k (id));
begin
  return (
    with waiting as materialized (
      (select q.file_id from filestore.search_queue q
       where q.project_id = p_session.project_id and q.stage <= p_stage
         and (p_scope = '' and (q.path < '.branches/' or q.path >= '.branches0')
           or q.path >= p_scope || '/' and q.path < p_scope || '0')
       limit v_max)
      union
      (select t.file_id from filestore.search_texts t
       where t.project_id = p_session.project_id and (t.skipped in ('too_large', 'not_indexable') or t.is_cut)
         and (t.skipped is not null or not v_is_scan)
         and (p_scope = '' and (t.path < '.branches/' or t.path >= '.branches0')
           or t.path >= p_scope || '/' and t.path < p_scope || '0')
       order by t.path limit v_max)
      union
      (select e.file_id from filestore.search_unembedded(p_session.project_id, p_query, v_max) e where p_stage = 2)
    ), unsearched as (
      select f::filestore.files as file, f.path, f.size, f.segment_ids, t.reason,
             greatest(cardinality(f.segment_ids), 1) as reads,
             v_live is not null and f.size <= (v_live ->> 'fileBytes')::bigint as may_be_read
      from waiting w
      -- fence: as in search_by_pattern.
      cross join lateral (
        select * from filestore.files o
        where o.project_id = p_session.project_id and o.id = w.file_id and not o.is_deleted
          and (p_scope = '' or (o.path >= p_scope || '/' and o.path < p_scope || '0')) offset 0
      ) f
      cross join lateral (
        select coalesce(min(coalesce(o.skipped, case when o.is_cut then 'too_many_words' end)), 'pending') as reason
        from filestore.search_texts o
        where o.project_id = p_session.project_id and o.file_id = w.file_id and o.version = f.version
      ) t
      where filestore.has_text(f.mime_type, f.is_text) and (f.path ~ (p_query ->> 'glob')) is not false
        and (f.mime_type = p_query ->> 'contentType') is not false and (f.path > p_query ->> 'after') is not false
        and f.id <> all (v_known)
    ), sized as (
      -- Small ones first, so that a large file does not exclude others.
      select u.*, u.may_be_read and sum(u.size) over s <= (v_live ->> 'bytes')::bigint
        and sum(u.reads) over s <= (v_live ->> 'reads')::bigint as is_read
      from unsearched u
      window s as (partition by u.may_be_read order by u.size, u.path)
    )
    select json_build_object(
      'live', coalesce(json_agg(json_build_object(
        'file', filestore.file_record(z.file), 'segments', filestore.segment_list(p_session.project_id, z.segment_ids))
        order by z.path) filter (where z.is_read), '[]'),
      'files', count(*) filter (where not z.is_read),
      'bytes', coalesce(sum(z.size) filter (where not z.is_read), 0),
      'paths', coalesce(to_json((array_agg(z.path order by z.path) filter (where not z.is_read))[
        1 : (filestore.limits()).search_unsearched_paths_max]), '[]'),
      'reasons', coalesce(to_json(array_agg(distinct
        case when not v_is_scan then z.reason when z.may_be_read then 'bounds' when v_live is null then 'pending'
          else 'too_large' end)
        filter (where not z.is_read)), '[]'),
      'isComplete', (select count(*) from waiting) < v_max)
    from sized z);
end
$$;
comment on function filestore.search_unsearched is
  'Text in the scope that the index does not contain: of new versions, of large files and of files that '
  'could not be indexed; in a search by words, of files with more words than are indexed; in a search by '
  'meaning, of files that none of the models asked has embedded. p_query.live: files of up to fileBytes are '
  'returned with their segments for a live read, the smallest first, up to a number of bytes and segments '
  '(reads). The others are counted, and some are named with the reason. isComplete: false where more files '
  'are not indexed than may be examined.';
call filestore.grant_execute('filestore.search_unsearched', 'filestore_engine');

create function filestore.search_by_pattern(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql stable set search_path = '' as $$
begin
  return (
    with walked as materialized (
      select s.file_id, s.walked_to, s.place
      from filestore.search_pattern_candidates(p_session.project_id, p_query)
        with ordinality s (file_id, walked_to, place)
    ), found as (
      select w.file_id, w.place from walked w where w.file_id is not null
    ), visible as (
      select f::filestore.files as file, f.path, t.skipped, coalesce(t.content, c.content) as content, n.place,
             n.place = min(n.place) over ()
               or sum(t.json_bytes) over (order by n.place) <= (p_query ->> 'bytes')::bigint as fits
      from found n
      -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a cached plan
      -- must not scan a table.
      cross join lateral (
        select * from filestore.files f
        where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
          and (p_scope = '' or (f.path >= p_scope || '/' and f.path < p_scope || '0')) offset 0
      ) f
      cross join lateral (
        select * from filestore.search_texts t
        where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
      ) t
      left join lateral (
        select * from filestore.search_contents c
        where c.project_id = p_session.project_id and c.hash = t.content_hash offset 0
      ) c on true
    )
    select json_build_object(
      'files', coalesce(json_agg(json_build_object(
        'file', filestore.file_record(v.file), 'skipped', v.skipped, 'content', v.content, 'score', 0)
        order by v.place) filter (where v.fits), '[]'),
      -- Where the next page starts: after the last returned file, or, if all candidates were returned, after
      -- the last candidate, or where reading the texts stopped.
      'next', case
        when not coalesce(bool_and(v.fits), true) then max(v.path) filter (where v.fits)
        when (select count(*) from found) >= (p_query ->> 'files')::integer then (
          select t.path from filestore.search_texts t
          where t.project_id = p_session.project_id
            and t.file_id = (select n.file_id from found n order by n.place desc limit 1))
        else (select w.walked_to from walked w where w.file_id is null)
      end,
      'walked', exists (select 1 from walked w where w.file_id is null))
    from visible v);
end
$$;
comment on function filestore.search_by_pattern is
  'Candidates with their text, in order of path, up to a number of bytes of JSON, but at least one file.';
call filestore.grant_execute('filestore.search_by_pattern', 'filestore_engine');

create function filestore.search_ranked(p_session filestore.session, p_scope text, p_query jsonb)
returns table (file_id uuid, hash uuid, score double precision, place bigint, fits boolean)
language plpgsql volatile set search_path = '' as $$
declare
  -- Names and meaning: reciprocal rank fusion (Cormack, Clarke, Büttcher 2009) and its constant.
  c_fusion constant double precision := 60;
  -- Words and meaning: the weighted mean of their scores, each scaled to 0 to 1 (Bruch, Gai, Ingber 2023).
  c_weight_of_words constant double precision := 0.7;
  v_is_fused constant boolean := p_query ->> 'words' is not null and p_query -> 'vector' <> 'null'::jsonb;
begin
  return query with found as materialized (
    select r.list, r.file_id, r.hash, r.score from filestore.search_rank_candidates(p_session.project_id, p_query) r
  ), visible as (
    select n.list, n.file_id, n.hash, n.score, f.path, t.json_bytes,
           row_number() over (partition by n.list, n.file_id order by n.score desc, n.hash) as nth
    from found n
    -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a cached plan
    -- must not scan a table.
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
    select v.*, row_number() over (partition by v.list order by v.score desc, v.path) as place,
           -- By words, no match is worth 0 (a query that only excludes words has no other score). By meaning,
           -- the farthest chunk found is worth 0, since what is far depends on the model.
           case when v.list = 'words' then coalesce(v.score / nullif(max(v.score) over l, 0), 1)
             when max(v.score) over l = min(v.score) over l then 1
             else (v.score - min(v.score) over l) / (max(v.score) over l - min(v.score) over l) end as share
    from visible v where v.nth = 1
    window l as (partition by v.list)
  ), fused as (
    select p.file_id, p.path, p.json_bytes,
           (array_agg(p.hash order by p.place) filter (where p.list <> 'words'))[1] as hash,
           -- A file that is being embedded again is in both lists of meaning, and counts once.
           case when v_is_fused
             then c_weight_of_words * coalesce(max(p.share) filter (where p.list = 'words'), 0)
               + (1 - c_weight_of_words) * coalesce(max(p.share) filter (where p.list <> 'words'), 0)
             when (select count(distinct r.list) from found r) > 1
             then coalesce(max(1 / (c_fusion + p.place)) filter (where p.list = 'words'), 0)
               + coalesce(max(1 / (c_fusion + p.place)) filter (where p.list <> 'words'), 0)
             else max(p.score) end as score
    from placed p group by p.file_id, p.path, p.json_bytes
  ), page as (
    select u.*, row_number() over (order by u.score desc, u.path) as place from fused u
    -- Neither a word nor, compared with the others that were found, the meaning: not a result.
    where u.score > 0 or not v_is_fused
    order by u.score desc, u.path limit (p_query ->> 'files')::integer + 1 offset (p_query ->> 'skip')::integer
  )
  select p.file_id, p.hash, p.score, p.place, row_number() over (order by p.place) <= (p_query ->> 'files')::integer
    and (p.place = min(p.place) over () or sum(p.json_bytes) over (order by p.place) <= (p_query ->> 'bytes')::bigint)
  from page p;
end
$$;
comment on function filestore.search_ranked is
  'A page of the best files, and one more, by words, by meaning or by both: then the scores of words and '
  'meaning are fused, or the ranks of names and meaning. Scores and ranks are computed over the files that '
  'the key may see. `fits`: whether a file is on the page, which has at least one file.';
call filestore.grant_execute('filestore.search_ranked', 'filestore_engine');

create function filestore.search_by_rank(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
begin
  return (
    select json_build_object(
      'files', coalesce(json_agg(json_build_object(
        'file', filestore.file_record(f::filestore.files), 'skipped', t.skipped, 'content', x.content, 'score', z.score,
        'chunk', case when k.hash is not null then json_build_object(
          'firstLine', k.first_line, 'text', substr(x.content, k.start + 1, k.length)) end
      ) order by z.place) filter (where z.fits), '[]'),
      'hasMore', not coalesce(bool_and(z.fits), true))
    from filestore.search_ranked(p_session, p_scope, p_query) z
    -- fence: as in search_ranked.
    cross join lateral (
      select * from filestore.files f where f.project_id = p_session.project_id and f.id = z.file_id offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = z.file_id offset 0
    ) t
    left join lateral (
      select * from filestore.search_contents c
      where c.project_id = p_session.project_id and c.hash = t.content_hash offset 0
    ) c on true
    cross join lateral (select coalesce(t.content, c.content) as content) x
    left join lateral (
      select * from filestore.search_chunks k
      where k.project_id = p_session.project_id and k.file_id = z.file_id and k.hash = z.hash offset 0
    ) k on true);
end
$$;
comment on function filestore.search_by_rank is 'A page of the best files, with their text and their nearest chunk.';
call filestore.grant_execute('filestore.search_by_rank', 'filestore_engine');

create function public.filestore_search(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- Files that are not indexed yet are counted up to this number, which also stands for all larger ones.
  c_pending_max constant integer := 10000;
  c_chunks_max constant integer := (filestore.limits()).search_exact_chunks_max;
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_query ->> 'directory');
  -- The part of the requested directory that the key may see.
  v_scope constant text := filestore.seen_directory(v_session, p_query ->> 'directory');
  v_stage constant integer := case when p_query -> 'vector' <> 'null'::jsonb then 2 else 1 end;
  v_query jsonb;
  v_page json := '{"files": []}';
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  -- Rows of functions are overestimated: where Postgres compiles plans, it would spend most of a second on
  -- compiling these.
  perform set_config('jit', 'off', true);
  if v_scope is not null then
    v_query := p_query || jsonb_build_object('directory', v_scope);
    v_page := case when p_query ->> 'kind' = 'scan' then filestore.search_by_pattern(v_session, v_scope, v_query)
      else filestore.search_by_rank(v_session, v_scope, v_query) end;
  end if;
  return filestore.page_response(v_session, json_build_object(
    'files', v_page -> 'files', 'next', v_page -> 'next', 'walked', v_page -> 'walked', 'hasMore', v_page -> 'hasMore',
    'hasVectors', filestore.search_has_vectors(),
    'lexemes', to_json(filestore.search_query_lexemes(coalesce(p_query ->> 'words', ''))),
    'scope', v_scope, 'stage', v_stage,
    -- No index contains vectors of this size, and the project has too many chunks to compare them one by one.
    'isVectorCut', v_scope is not null and exists (
      select from (values (p_query -> 'vector'), (p_query -> 'former' -> 'vector')) v (vector)
      where jsonb_typeof(v.vector) = 'array' and jsonb_array_length(v.vector) <> all ((filestore.limits()).vector_sizes)
    ) and (select count(*) > c_chunks_max from (
      select from filestore.search_chunks c where c.project_id = v_session.project_id limit c_chunks_max + 1) c),
    'pending', (select count(*) from (
      select from filestore.search_queue q
      where q.project_id = v_session.project_id and q.stage <= v_stage
        and (v_scope = '' and (q.path < '.branches/' or q.path >= '.branches0')
          or q.path >= v_scope || '/' and q.path < v_scope || '0')
      limit c_pending_max) q),
    'unsearched', case when v_scope is not null
      then filestore.search_unsearched(v_session, v_scope, p_query, v_stage) end));
end
$$;
comment on function public.filestore_search is
  'Files that may match (kind scan: clauses, caseSensitive, after) or the best ones (kind rank: words or '
  'names, vector and model, former: the same for the former model), with their text. Both: directory, glob, '
  'contentType, files, skip, bytes.';
call filestore.publish('public.filestore_search', 'filestore_engine', 'service_role');

create function public.filestore_search_indexed(p_project_id uuid, p_scopes text[], p_stages integer[])
returns boolean[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return array(
    select not exists (
      select from filestore.search_queue q
      where q.project_id = p_project_id and q.stage <= s.stage
        and (s.scope = '' and (q.path < '.branches/' or q.path >= '.branches0')
          or q.path >= s.scope || '/' and q.path < s.scope || '0'))
    from unnest(p_scopes, p_stages) with ordinality s (scope, stage, place) order by s.place);
end
$$;
comment on function public.filestore_search_indexed is
  'Whether everything in each of these directories of a project is indexed, up to its stage.';
call filestore.publish('public.filestore_search_indexed', 'filestore_search', 'service_role');
-- 90_bucket.sql ======================================================================================================
-- The private bucket that holds the segments. It has no policies: only the secret key opens an object, and only the
-- edge function holds the secret key.

insert into storage.buckets (id, name, public, file_size_limit)
values ('filestore-segments', 'filestore-segments', false, 1048576)
on conflict (id) do update set public = false, file_size_limit = excluded.file_size_limit;
-- 99_end.sql =========================================================================================================
-- The end: drops the helpers of 00_roles.sql.

drop procedure filestore.pin_plan(regproc);
drop procedure filestore.publish(regproc, text, text[]);
drop procedure filestore.grant_execute(regproc, text[]);
