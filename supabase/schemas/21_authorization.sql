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

