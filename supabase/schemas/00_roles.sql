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
