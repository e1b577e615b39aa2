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

