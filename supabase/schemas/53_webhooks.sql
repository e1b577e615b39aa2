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

create function filestore.disabled_mail(p_hook filestore.webhooks) returns json
language plpgsql stable set search_path = '' as $$
begin
  return (
    select json_build_object('disabled', json_build_object(
      'to', array(
        select a.address from (
          select p.owner_id union
          select m.account_id from filestore.members m where m.project_id = p.id and m.role = 'admin'
        ) c (account_id)
        cross join lateral (select filestore.address_of(c.account_id, true)) a (address)
        where a.address is not null and filestore.is_account_active(c.account_id) order by a.address),
      'projectName', p.name, 'url', p_hook.url, 'failures', p_hook.failures))
    from filestore.projects p where p.id = p_hook.project_id);
end
$$;
comment on function filestore.disabled_mail is
  'What is mailed when a webhook has been disabled, and to whom: the owner and the admins of the project, at their '
  'confirmed addresses.';
call filestore.grant_execute('filestore.disabled_mail', 'filestore_engine');

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
  -- Only the try that disables the webhook is answered so, whichever process reports it.
  if v_hook.state = 'disabled' and v_found.state <> 'disabled' and p_try -> 'mails' = 'true' then
    perform set_config('synchronous_commit', 'on', true);
    return filestore.disabled_mail(v_hook);
  end if;
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
  'none is due. With type null there was nothing for the webhook up to a position, and the next call goes on. '
  'If the try disables the webhook, it returns the mail that the caller is to send, with p_try.mails: whether it does.';
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
exception when unique_violation then
  return filestore.refused_field('id', 'must be one that no webhook has');
end
$$;
comment on function filestore.create_webhook is
  'Adds a webhook that begins at the end of the feed. A repeated id returns the first one. Refusals: '
  'WEBHOOK_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.create_webhook', 'filestore_account');

create function filestore.change_webhook(p_hook filestore.webhooks, p_change jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  -- For this long, deliveries are signed with the secret before the last rotation, too.
  c_both constant interval := make_interval(hours => (filestore.limits()).webhook_secrets_hours);
  v_is_filtered constant boolean := p_change ?| '{directory,operations,events}';
  v_is_on constant boolean := coalesce(p_change ->> 'state' = 'active', false);
  -- Not where the change is repeated, since its answer was lost.
  v_is_new constant boolean := coalesce(p_change ->> 'secret' <> p_hook.secret, false);
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
      -- As in create_webhook, so that has_webhooks is right.
      perform pg_advisory_xact_lock(hashtextextended('webhooks/' || p_project_id, 0));
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
