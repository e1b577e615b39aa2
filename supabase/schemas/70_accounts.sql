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

create function filestore.latest_writes(p_project_id uuid, p_limit integer, p_with_people boolean) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
    'fileId', v.file_id, 'path', v.path, 'version', v.version, 'operation', v.operation, 'size', v.size,
    'mimeType', v.mime_type, 'deleted', nullif(v.is_deleted, false), 'runId', v.run_id, 'actor', v.actor,
    'note', v.note, 'from', case when s.id is not null
      then jsonb_build_object('path', s.path, 'version', v.source_version) end,
    'account', case when p_with_people then filestore.person(v.account_id) end,
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
    order by l.position desc limit least(greatest(p_limit, 1), (filestore.limits()).page_limit_max)
  ) v
  left join filestore.files s on s.project_id = p_project_id and s.id = v.source_file_id
$$;
comment on function filestore.latest_writes is
  'The latest versions of a project''s files, newest first, with the people who wrote them: for signed-in people, not '
  'for keys and the operator.';
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
        p_project_id, (p_parameters ->> 'limit')::integer, filestore.current_account_id() is not null));
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
