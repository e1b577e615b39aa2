-- Authorization: from the hash of a key (or of a console session's token) to its project, its limits and its scopes.

create function filestore.count_request(p_project_id uuid, p_limit integer, p_request_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_window filestore.rate_windows;
  v_is_allowed boolean := true;
begin
  if p_limit is null then
    return jsonb_build_object('isAllowed', true, 'rate', jsonb_build_object(
      'limit', null, 'remaining', null,
      'reset', extract(epoch from date_trunc('minute', clock_timestamp()) + interval '1 minute')::bigint));
  end if;
  if p_request_id is not null then
    -- The clock is read once the row is locked, so windows only move forward.
    insert into filestore.rate_windows as w (project_id, window_start, request_count, request_ids)
    values (p_project_id, date_trunc('minute', clock_timestamp()), 1, array[p_request_id])
    on conflict (project_id) do update
      set (window_start, request_count, request_ids) = (
        select greatest(w.window_start, t.minute),
               case when w.window_start < t.minute then 1 else w.request_count + 1 end,
               (p_request_id || w.request_ids)[:32]
        from (select date_trunc('minute', clock_timestamp()) as minute) t)
      where (w.request_count < p_limit or w.window_start < date_trunc('minute', clock_timestamp()))
        and p_request_id <> all (w.request_ids)
    returning * into v_window;
    v_is_allowed := found;
  end if;
  if v_window.project_id is null then
    select * into v_window from filestore.rate_windows w where w.project_id = p_project_id;
    v_is_allowed := v_is_allowed or p_request_id = any (v_window.request_ids);
  end if;
  v_window.window_start := coalesce(v_window.window_start, date_trunc('minute', clock_timestamp()));
  return jsonb_build_object('isAllowed', v_is_allowed, 'rate', jsonb_build_object(
    'limit', p_limit,
    'remaining', greatest(p_limit - coalesce(v_window.request_count, 0), 0),
    'reset', extract(epoch from v_window.window_start + interval '1 minute')::bigint));
end
$$;
comment on function filestore.count_request is
  'Counts one request in the project''s window, unless it was counted already (then its id is known, or null). A full '
  'window accepts nothing new and counts nothing.';
call filestore.grant_execute('filestore.count_request', 'filestore_engine');

create function filestore.authorize(p_key_hash text, p_request_id uuid, p_scope text) returns filestore.session
language plpgsql volatile set search_path = '' as $$
declare
  v_session filestore.session;
  v_setting text;
  v_limit integer;
  v_last_used_at timestamptz;
  v_count jsonb;
begin
  -- Assigned rather than performed: a simple expression is evaluated directly, a statement goes through the executor.
  v_setting := set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  v_setting := set_config('filestore.key_hash', p_key_hash, true);
  select k.id, k.project_id, k.last_used_at, k.scopes, k.path_prefix
  into v_session.key_id, v_session.project_id, v_last_used_at, v_session.scopes, v_session.path_prefix
  from filestore.api_keys k
  where k.key_hash = decode(p_key_hash, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > clock_timestamp());
  if not found then
    select s.project_id, '{read,write,admin}' into v_session.project_id, v_session.scopes
    from filestore.console_sessions s
    where s.token_hash = decode(p_key_hash, 'hex') and s.expires_at > clock_timestamp();
  end if;
  if not found then
    v_session.envelope := filestore.refusal('INVALID_API_KEY');
    return v_session;
  end if;
  v_setting := set_config('filestore.project_id', v_session.project_id::text, true);
  v_setting := set_config('filestore.path_prefix', coalesce(v_session.path_prefix, ''), true);

  select p.tier, coalesce(p.requests_per_minute, t.requests_per_minute), coalesce(p.max_file_bytes, t.max_file_bytes),
         coalesce(p.max_project_bytes, t.max_project_bytes)
  into strict v_session.tier, v_limit, v_session.max_file_bytes, v_session.max_project_bytes
  from filestore.projects p join filestore.tiers t on t.name = p.tier
  where p.id = v_session.project_id;

  v_count := filestore.count_request(v_session.project_id, v_limit, p_request_id);
  v_session.envelope := jsonb_build_object(
    'rate', v_count -> 'rate',
    'grant', jsonb_build_object(
      'projectId', v_session.project_id, 'keyId', v_session.key_id, 'tier', v_session.tier,
      'maxFileBytes', v_session.max_file_bytes, 'scopes', v_session.scopes));
  if not (v_count ->> 'isAllowed')::boolean then
    v_session.envelope := v_session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
    return v_session;
  end if;

  if v_session.key_id is not null
    and (v_last_used_at is null or v_last_used_at < clock_timestamp() - interval '1 minute') then
    -- Not `for update`, which would deadlock with a version being inserted: its foreign key locks the key's row.
    update filestore.api_keys k set last_used_at = clock_timestamp()
    where k.id = (select u.id from filestore.api_keys u where u.id = v_session.key_id for no key update skip locked);
  end if;
  if p_scope is not null and p_scope <> all (v_session.scopes) then
    v_session.envelope := v_session.envelope
      || filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', p_scope));
  end if;
  return v_session;
end
$$;
comment on function filestore.authorize is
  'Resolves a key to its project, opens that project''s rows for this transaction (below the key''s prefix), counts '
  'the request, and requires a scope.';
call filestore.grant_execute('filestore.authorize', 'filestore_engine');

create function filestore.may_write(p_session filestore.session, p_path text) returns boolean
language sql immutable
as $$ select (p_session).path_prefix is null or starts_with(p_path, (p_session).path_prefix || '/') $$;
comment on function filestore.may_write is 'Whether a path lies where the key may write.';
call filestore.grant_execute('filestore.may_write', 'filestore_engine');

create function filestore.outside_prefix(p_session filestore.session) returns jsonb
language sql stable
as $$ select filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('pathPrefix', (p_session).path_prefix)) $$;
comment on function filestore.outside_prefix is
  'The refusal of a write outside the key''s prefix, whatever is there.';
call filestore.grant_execute('filestore.outside_prefix', 'filestore_engine');

create function public.filestore_authorize(p_key_hash text, p_request_id uuid, p_path text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, null);
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
  'Authorizes a key and counts the request (p_request_id null: it was counted already); returns what is at the path '
  'that is to be written. Refusals: INVALID_API_KEY, RATE_LIMIT_EXCEEDED, FORBIDDEN_SCOPE, as in all functions that '
  'take a key.';
call filestore.publish('public.filestore_authorize', 'filestore_engine', 'service_role');
