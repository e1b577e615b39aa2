-- Authorization: from the hash of a key (or of a console session's token) to its project, its limits and its scopes.

create type filestore.request_count as (is_allowed boolean, remaining integer, resets_at timestamptz);
comment on type filestore.request_count is 'What became of a request, and of the window in which it is counted.';

create function filestore.claim_rate_counter(p_project_id uuid, p_limit integer, p_window timestamptz) returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_new filestore.rate_counters;
begin
  v_new.counter := uuid_hash(p_project_id) & ((filestore.limits()).rate_counters - 1);
  -- Nobody waits for a claim that is being committed.
  if not pg_try_advisory_xact_lock(hashtextextended('counter/' || v_new.counter, 0)) then return; end if;
  v_new.project_id := p_project_id;
  v_new.window_start := p_window;
  v_new.base := coalesce(pg_sequence_last_value(('filestore.rate_counter_' || v_new.counter)::regclass), 0);
  v_new.numbers := p_limit - (filestore.limits()).rate_laned_numbers;
  update filestore.rate_counters c
  set (project_id, window_start, base, numbers) = row(v_new.project_id, p_window, v_new.base, v_new.numbers)
  where c.counter = v_new.counter and c.window_start < date_trunc('minute', clock_timestamp());
  if not found then
    insert into filestore.rate_counters values (v_new.*) on conflict do nothing;
  end if;
end
$$;
comment on function filestore.claim_rate_counter is
  'Gives a project its counter for a window, unless it has it already or another project has.';
call filestore.grant_execute('filestore.claim_rate_counter', 'filestore_engine');

create function filestore.given_by_counter(p_counter integer, p_base bigint, p_numbers integer) returns integer
language plpgsql stable set search_path = '' as $$
begin
  return least(
    coalesce(pg_sequence_last_value(('filestore.rate_counter_' || p_counter)::regclass), 0) - p_base, p_numbers);
end
$$;
comment on function filestore.given_by_counter is 'How many requests were admitted without a lane.';
call filestore.grant_execute('filestore.given_by_counter', 'filestore_account', 'filestore_engine');

create function filestore.count_in_lanes(p_project_id uuid, p_limit integer, p_request_id uuid)
returns filestore.request_count
language plpgsql volatile set search_path = '' as $$
declare
  c_lanes constant integer := (filestore.limits()).rate_lanes;
  -- Whoever uses a lane has its advisory lock, which is tried for without a statement.
  c_locks constant integer := uuid_hash(p_project_id);
  v_minute constant timestamptz := date_trunc('minute', clock_timestamp());
  v_window timestamptz;
  v_lanes integer;
  -- The lowest number that has not been given, and how many were, as far as other transactions have ended.
  v_next integer;
  v_used integer;
  v_number integer;
  v_is_known boolean;
  v_lane integer;
  v_is_allowed boolean := false;
begin
  -- Far from the limit: the lane whose turn it is or, where that is in use, one of those used the longest time ago.
  if p_request_id is not null and p_limit > 2 * c_lanes then
    select sum(case when l.window_start < v_minute then 0 else l.request_count end),
           bool_or(l.request_id = p_request_id)
    into v_used, v_is_known from filestore.rate_windows l where l.project_id = p_project_id;
    if v_is_known is not true and v_used + 2 * c_lanes < p_limit then
      for i in 0 .. c_lanes - 1 loop
        v_lane := (v_used + case when i > 0 then c_lanes / 2 + i - 1 else 0 end) % c_lanes + 1;
        exit when pg_try_advisory_xact_lock(c_locks, v_lane);
        v_lane := null;
      end loop;
      update filestore.rate_windows w
      set window_start = greatest(w.window_start, v_minute), request_id = p_request_id,
          request_count = case when w.window_start < v_minute then 0 else w.request_count end + 1
      where w.project_id = p_project_id and w.lane = v_lane
        and case when w.window_start < v_minute then 0 else w.request_count end * c_lanes + w.lane <= p_limit
      returning w.window_start into v_window;
      -- If not, the lane has no number left, and nobody waits for it.
      v_is_allowed := found;
      v_used := v_used + 1;
      -- Few have been counted, and those who count here before they see the counter are fewer than it leaves to lanes.
      if v_is_allowed and v_used <= 2 * c_lanes and p_limit > 2 * (filestore.limits()).rate_laned_numbers then
        perform filestore.claim_rate_counter(p_project_id, p_limit, v_window);
      end if;
    end if;
  end if;
  while not v_is_allowed loop
    select max(w.window_start), count(*), min(w.used * c_lanes + w.lane), sum(w.used),
           p_request_id is null or coalesce(bool_or(w.request_id = p_request_id), false)
    into v_window, v_lanes, v_next, v_used, v_is_allowed
    from (
      select l.lane, l.window_start, l.request_id,
             case when l.window_start < v_minute then 0 else l.request_count end as used
      from filestore.rate_windows l where l.project_id = p_project_id
    ) w;
    exit when v_is_allowed or v_lanes > 0 and (v_next > p_limit or v_used >= p_limit);
    -- The lowest number of a lane that nobody is using. The row is read again once it is locked.
    begin
      update filestore.rate_windows w
      set window_start = greatest(w.window_start, v_minute), request_id = p_request_id,
          request_count = case when w.window_start < v_minute then 0 else w.request_count end + 1
      where w.project_id = p_project_id
        and case when w.window_start < v_minute then 0 else w.request_count end * c_lanes + w.lane <= p_limit
        and w.lane = (
          select l.lane from filestore.rate_windows l
          where l.project_id = p_project_id
            and case when l.window_start < v_minute then 0 else l.request_count end * c_lanes + l.lane <= p_limit
          order by case when l.window_start < v_minute then 0 else l.request_count end, l.lane
          limit 1 for update skip locked)
      returning (w.request_count - 1) * c_lanes + w.lane into v_number;
      -- Beside those who are far from the limit, which a small one has none of.
      v_is_allowed := found
        and (p_limit <= 2 * c_lanes or pg_try_advisory_xact_lock(c_locks, (v_number - 1) % c_lanes + 1));
      if not v_is_allowed then raise sqlstate 'FS001'; end if;
    exception when sqlstate 'FS001' then
      null;
    end;
    if v_is_allowed then
      -- What is left follows from the number, which nobody else has, unless this lane was far behind. Whoever sees that
      -- none is left asks no more in this window: so not while a lane has another number.
      v_used := least(
        greatest(v_number, v_used + 1 - c_lanes), p_limit - (v_next + c_lanes <= p_limit)::integer);
    elsif v_lanes < c_lanes then
      insert into filestore.rate_windows (project_id, lane)
      select p_project_id, n from generate_series(1, c_lanes) n on conflict do nothing;
    elsif v_next + c_lanes > p_limit then
      -- Each lane in use had one number left and is giving it away now: the window is full.
      v_used := p_limit;
      exit;
    else
      -- A lane that is far behind the others is waited for, with none held, and then released.
      begin
        perform from filestore.rate_windows l
        where l.project_id = p_project_id and l.lane = (v_next - 1) % c_lanes + 1 for update;
        raise sqlstate 'FS001';
      exception when sqlstate 'FS001' then
        null;
      end;
    end if;
  end loop;
  return row(
    v_is_allowed, greatest(p_limit - coalesce(v_used, 0), 0), greatest(v_window, v_minute) + interval '1 minute');
end
$$;
comment on function filestore.count_in_lanes is
  'Counts one request as count_request does, in the lanes of the project''s window, which have p_limit numbers.';
call filestore.grant_execute('filestore.count_in_lanes', 'filestore_engine');

create function filestore.count_request(p_project_id uuid, p_limit integer, p_request_id uuid)
returns filestore.request_count
language plpgsql volatile set search_path = '' as $$
declare
  v_counter integer;
  v_window timestamptz;
  v_base bigint;
  v_numbers integer;
  v_number bigint;
begin
  -- The first numbers of a large limit are given by a sequence, without a row that is changed.
  select c.counter, c.window_start, c.base, c.numbers,
         case when p_request_id is not null and c.numbers <= p_limit - (filestore.limits()).rate_laned_numbers
           then nextval(('filestore.rate_counter_' || c.counter)::regclass) - c.base end
  into v_counter, v_window, v_base, v_numbers, v_number from filestore.rate_counters c
  where c.counter = uuid_hash(p_project_id) & ((filestore.limits()).rate_counters - 1)
    and c.project_id = p_project_id and c.window_start >= date_trunc('minute', clock_timestamp());
  if v_number <= v_numbers then
    return row(true, (p_limit - v_number)::integer, v_window + interval '1 minute');
  end if;
  if v_counter is not null then
    -- The limit was lowered: the counter gives no more in this window.
    if v_numbers > p_limit - (filestore.limits()).rate_laned_numbers
      and v_numbers > filestore.given_by_counter(v_counter, v_base, v_numbers) then
      update filestore.rate_counters c
      set numbers = least(c.numbers, filestore.given_by_counter(c.counter, c.base, c.numbers))
      where c.counter = v_counter and c.project_id = p_project_id;
    end if;
    p_limit := p_limit - filestore.given_by_counter(v_counter, v_base, v_numbers);
  end if;
  return filestore.count_in_lanes(p_project_id, p_limit, p_request_id);
end
$$;
comment on function filestore.count_request is
  'Counts one request in the project''s window, unless it was counted already (then its id is known, or null). A full '
  'window accepts nothing new and counts nothing. Waits for no other transaction to end.';
call filestore.grant_execute('filestore.count_request', 'filestore_engine');

create function filestore.count_requests(
  p_project_id uuid, p_limit integer, p_request_id uuid, p_requests integer
) returns filestore.request_count
language plpgsql volatile set search_path = '' as $$
declare
  v_count filestore.request_count;
  v_left integer := 0;
begin
  if p_requests = 1 or p_request_id is null or exists (
    select from filestore.rate_windows w where w.project_id = p_project_id and w.request_id = p_request_id
  ) then
    return filestore.count_request(p_project_id, p_limit, p_request_id);
  end if;
  begin
    for i in 1 .. p_requests loop
      -- Its id last: then all of them are counted.
      v_count := filestore.count_request(
        p_project_id, p_limit, case when i = p_requests then p_request_id else gen_random_uuid() end);
      if not v_count.is_allowed then raise sqlstate 'FS001'; end if;
      if i = 1 then v_left := v_count.remaining + 1; end if;
    end loop;
  exception when sqlstate 'FS001' then
    v_count.remaining := v_left;
  end;
  return v_count;
end
$$;
comment on function filestore.count_requests is
  'Counts one request as several, unless it was counted already. Where so many are not left it counts nothing.';
call filestore.grant_execute('filestore.count_requests', 'filestore_engine');

create function filestore.authorize(
  p_key_hash text, p_request_id uuid, p_scope text, p_requests integer default 1
) returns filestore.session
language plpgsql volatile set search_path = '' as $$
declare
  v_session filestore.session;
  v_setting text;
  v_limit integer;
  v_last_used_at timestamptz;
  v_has_written boolean;
  v_opener_id uuid;
  v_is_session_active boolean;
  v_suspended_at timestamptz;
  v_deleted_at timestamptz;
  v_count filestore.request_count;
begin
  -- Assigned rather than performed: a simple expression is evaluated directly, a statement goes through the executor.
  v_setting := set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  v_setting := set_config('filestore.key_hash', p_key_hash, true);
  -- Nothing that a reader writes (the count, when the key was last used) is worth waiting for the disk.
  if p_scope is null or p_scope = 'read' then
    v_setting := set_config('synchronous_commit', 'off', true);
  end if;
  select k.id, k.project_id, k.last_used_at, k.has_written, k.scopes, k.path_prefix
  into v_session.key_id, v_session.project_id, v_last_used_at, v_has_written, v_session.scopes, v_session.path_prefix
  from filestore.api_keys k
  where k.key_hash = decode(p_key_hash, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp());
  if not found then
    select s.project_id, s.account_id, '{read,write,admin}',
           filestore.is_session_active(s.account_id, s.session_id, s.aal)
    into v_session.project_id, v_opener_id, v_session.scopes, v_is_session_active
    from filestore.console_sessions s
    where s.token_hash = decode(p_key_hash, 'hex') and s.expires_at > clock_timestamp();
  end if;
  if not found then
    select l.project_id, l.account_id, array[l.scope]
    into v_session.project_id, v_opener_id, v_session.scopes
    from filestore.links l where l.token_hash = decode(p_key_hash, 'hex') and l.account_id is not null;
  end if;
  if not found then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;
  v_setting := set_config('filestore.project_id', v_session.project_id::text, true);
  v_setting := set_config('filestore.path_prefix', coalesce(v_session.path_prefix || '/', ''), true);

  select p.tier, coalesce(p.requests_per_minute, t.requests_per_minute), coalesce(p.max_file_bytes, t.max_file_bytes),
         coalesce(p.max_project_bytes, t.max_project_bytes), p.suspended_at, p.deleted_at, p.owner_id,
         -- A project with a quota of its own, or with none, takes nothing from its account's.
         case when p.max_project_bytes is null and t.max_project_bytes is not null and p.owner_id is not null
           then s.account_bytes end
  into strict v_session.tier, v_limit, v_session.max_file_bytes, v_session.max_project_bytes, v_suspended_at,
    v_deleted_at, v_session.account_id, v_session.account_bytes
  from filestore.projects p join filestore.tiers t on t.name = p.tier cross join filestore.settings s
  where p.id = v_session.project_id;
  -- A key ends with its project; a console session, and a link made in one, with the ownership of whoever opened it.
  if v_deleted_at is not null
    or v_session.key_id is null and v_opener_id is distinct from v_session.account_id then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;
  -- With a deleted account its sessions have ended, too: then the project is as suspended, as it is for its keys.
  if not v_is_session_active and filestore.is_account_active(v_opener_id) then
    v_session.envelope := filestore.refusal('INVALID_SESSION');
    return v_session;
  end if;

  if v_limit is null then
    v_count.is_allowed := true;
    v_count.resets_at := date_trunc('minute', clock_timestamp()) + interval '1 minute';
  else
    v_count := case when p_requests = 1
      then filestore.count_request(v_session.project_id, v_limit, p_request_id)
      else filestore.count_requests(v_session.project_id, v_limit, p_request_id, p_requests) end;
  end if;
  v_session.envelope := jsonb_build_object(
    'rate', jsonb_build_object(
      'limit', v_limit, 'remaining', v_count.remaining, 'reset', extract(epoch from v_count.resets_at)::bigint),
    'grant', jsonb_build_object(
      'projectId', v_session.project_id, 'accountId', v_session.account_id, 'keyId', v_session.key_id,
      'tier', v_session.tier,
      'maxFileBytes', v_session.max_file_bytes, 'scopes', v_session.scopes, 'pathPrefix', v_session.path_prefix));
  if not v_count.is_allowed then
    v_session.envelope := v_session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
    return v_session;
  end if;

  if v_session.key_id is not null
    and (v_last_used_at is null or v_last_used_at < clock_timestamp() - interval '1 minute') then
    -- Whoever finds the row locked leaves it to the other one.
    update filestore.api_keys k set last_used_at = clock_timestamp()
    where k.id = (select u.id from filestore.api_keys u where u.id = v_session.key_id for no key update skip locked);
  end if;
  if v_suspended_at is not null or v_is_session_active is false
    or not filestore.is_account_active(v_session.account_id) then
    v_session.envelope := v_session.envelope || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  elsif p_scope is not null and p_scope <> all (v_session.scopes) then
    v_session.envelope := v_session.envelope
      || filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', p_scope));
  elsif p_scope = 'write' and not v_has_written then
    -- No commit is waited for: whoever finds the row locked leaves it to the other one, or to the key's next request.
    update filestore.api_keys k set has_written = true
    where k.id = (select u.id from filestore.api_keys u where u.id = v_session.key_id for no key update skip locked);
  end if;
  return v_session;
end
$$;
comment on function filestore.authorize is
  'Resolves a key to its project, opens that project''s rows for this transaction (below the key''s prefix), counts '
  'the request, and requires a scope. A project is suspended by the operator, and while its owner is banned or gone. '
  'INVALID_SESSION where a console session''s access token is of a session that has ended.';
call filestore.grant_execute('filestore.authorize', 'filestore_engine');

create function filestore.may_write(p_session filestore.session, p_path text) returns boolean
language plpgsql immutable set search_path = ''
as $$ begin return (p_session).path_prefix is null or starts_with(p_path, (p_session).path_prefix || '/'); end $$;
comment on function filestore.may_write is 'Whether a path lies where the key may write.';
call filestore.grant_execute('filestore.may_write', 'filestore_engine');

create function filestore.outside_prefix(p_session filestore.session) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', (p_session).path_prefix));
end
$$;
comment on function filestore.outside_prefix is
  'The refusal of a write outside the key''s prefix, whatever is there.';
call filestore.grant_execute('filestore.outside_prefix', 'filestore_engine');

create function public.filestore_authorize(
  p_key_hash text, p_request_id uuid, p_path text default null, p_requests integer default 1
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, null, p_requests);
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
  'Authorizes a key and counts the request, as p_requests of them (p_request_id null: not at all); returns what is at '
  'the path that is to be written. Refusals: INVALID_API_KEY, RATE_LIMIT_EXCEEDED, FORBIDDEN_SCOPE, as in all '
  'functions that take a key.';
call filestore.publish('public.filestore_authorize', 'filestore_engine', 'service_role');
