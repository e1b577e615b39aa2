-- Projects and keys, for the operator's command line. Only the secret key may call these. They return a record, or
-- {"error": code, "message": text}.

create function filestore.project_record(p_project filestore.projects) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', (p_project).id, 'name', (p_project).name, 'tier', (p_project).tier,
    'requestsPerMinute', coalesce((p_project).requests_per_minute, t.requests_per_minute),
    'maxFileBytes', coalesce((p_project).max_file_bytes, t.max_file_bytes),
    'maxProjectBytes', coalesce((p_project).max_project_bytes, t.max_project_bytes),
    'createdAt', filestore.iso((p_project).created_at))
  from filestore.tiers t where t.name = (p_project).tier
$$;
comment on function filestore.project_record is 'A project with the limits in force.';
call filestore.grant_execute('filestore.project_record', 'filestore_admin');

create function filestore.key_record(p_key filestore.api_keys) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name,
    'project', jsonb_build_object('id', p.id, 'name', p.name),
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at))
  from filestore.projects p where p.id = (p_key).project_id
$$;
comment on function filestore.key_record is 'A key without its hash.';
call filestore.grant_execute('filestore.key_record', 'filestore_admin');

create function filestore.error(p_code text, p_message text) returns jsonb
language sql immutable
as $$ select jsonb_build_object('error', p_code, 'message', p_message) $$;
comment on function filestore.error is 'An error of the administration.';
call filestore.grant_execute('filestore.error', 'filestore_admin');

create function filestore.resolve_project(p_project text, out project_id uuid, out error jsonb)
language plpgsql stable set search_path = '' as $$
declare
  v_matches integer;
begin
  select count(*) into v_matches from filestore.projects p where p.id::text = lower(p_project) or p.name = p_project;
  if v_matches = 0 then
    error := filestore.error('PROJECT_NOT_FOUND', format('There is no project %s.', quote_literal(p_project)));
  elsif v_matches > 1 then
    error := filestore.error(
      'PROJECT_AMBIGUOUS', format('Several projects are named %s; give its id.', quote_literal(p_project)));
  else
    select p.id into project_id from filestore.projects p where p.id::text = lower(p_project) or p.name = p_project;
  end if;
end
$$;
comment on function filestore.resolve_project is 'The one project with this id or name.';
call filestore.grant_execute('filestore.resolve_project', 'filestore_admin');

create function public.filestore_admin_create_project(p_name text, p_tier text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project filestore.projects;
begin
  if p_name is null or char_length(p_name) not between 1 and (filestore.limits()).name_length_max
    or p_name ~ '[[:cntrl:]]' or p_name <> btrim(p_name) then
    return filestore.error(
      'INVALID_NAME',
      'A project name has 1 to 100 characters, no control characters and no space at either end.');
  end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  insert into filestore.projects (name, tier) values (p_name, p_tier)
  on conflict (owner_id, name) do nothing returning * into v_project;
  if not found then
    return filestore.error('NAME_TAKEN', format('A project %s already exists.', quote_literal(p_name)));
  end if;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_create_project is
  'Creates a project. Errors: INVALID_NAME, UNKNOWN_TIER, NAME_TAKEN.';
call filestore.publish('public.filestore_admin_create_project', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_projects() returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object(
    'projects', coalesce(jsonb_agg(filestore.project_record(p) order by p.created_at, p.id), '[]'))
  from filestore.projects p
$$;
comment on function public.filestore_admin_list_projects is 'All projects, oldest first.';
call filestore.publish('public.filestore_admin_list_projects', 'filestore_admin', 'service_role');

create function public.filestore_admin_set_tier(
  p_project text, p_tier text, p_requests_per_minute integer default null, p_max_file_bytes bigint default null,
  p_max_project_bytes bigint default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_project filestore.projects;
  v_error jsonb;
begin
  select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
  if v_error is not null then return v_error; end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  if p_requests_per_minute < 1 or p_max_file_bytes < 1 or p_max_project_bytes < 1 then
    return filestore.error('INVALID_LIMIT', 'A limit is a whole number from 1.');
  end if;
  update filestore.projects p
  set tier = p_tier, requests_per_minute = p_requests_per_minute, max_file_bytes = p_max_file_bytes,
      max_project_bytes = p_max_project_bytes
  where p.id = v_project_id returning * into v_project;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_set_tier is
  'Sets a project''s tier and its own limits (null: those of the tier). Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, '
  'UNKNOWN_TIER, INVALID_LIMIT.';
call filestore.publish('public.filestore_admin_set_tier', 'filestore_admin', 'service_role');

create function filestore.find_account_id(p_account text) returns uuid
language plpgsql stable security definer set search_path = '' as $$
declare
  v_account_id uuid;
begin
  if to_regclass('auth.users') is not null then
    execute 'select u.id from auth.users u where u.id::text = lower($1) or lower(u.email) = lower($1)'
    into v_account_id using p_account;
  end if;
  return v_account_id;
end
$$;
comment on function filestore.find_account_id is
  'The account with this id or e-mail address, or null. Runs as the role that applies migrations, which may read '
  'auth.users.';
call filestore.grant_execute('filestore.find_account_id', 'filestore_admin');

create function public.filestore_admin_set_owner(p_project text, p_account text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_error jsonb;
  v_project filestore.projects;
  v_account_id constant uuid := filestore.find_account_id(p_account);
begin
  select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
  if v_error is not null then return v_error; end if;
  if v_account_id is null then
    return filestore.error(
      'ACCOUNT_NOT_FOUND',
      format('There is no account %s; accounts are created in the console.', quote_literal(p_account)));
  end if;
  update filestore.projects p set owner_id = v_account_id where p.id = v_project_id returning * into v_project;
  return filestore.project_record(v_project);
exception when unique_violation then
  return filestore.error('NAME_TAKEN', format('The account has a project %s already.', quote_literal(p_project)));
end
$$;
comment on function public.filestore_admin_set_owner is
  'Gives a project to an account, by id or e-mail address. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, '
  'ACCOUNT_NOT_FOUND, NAME_TAKEN.';
call filestore.publish('public.filestore_admin_set_owner', 'filestore_admin', 'service_role');

create function public.filestore_admin_create_key(
  p_project text, p_name text, p_key_hash text, p_prefix text, p_expires_at timestamptz default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_error jsonb;
  v_key filestore.api_keys;
begin
  select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
  if v_error is not null then return v_error; end if;
  if char_length(p_name) > (filestore.limits()).name_length_max or p_name ~ '[[:cntrl:]]' then
    return filestore.error('INVALID_NAME', 'A key''s name has at most 100 characters and no control characters.');
  end if;
  insert into filestore.api_keys (project_id, name, key_hash, prefix, expires_at)
  values (v_project_id, coalesce(p_name, ''), decode(p_key_hash, 'hex'), p_prefix, p_expires_at)
  returning * into v_key;
  return filestore.key_record(v_key);
end
$$;
comment on function public.filestore_admin_create_key is
  'Stores the hash of a new key. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, INVALID_NAME.';
call filestore.publish('public.filestore_admin_create_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_keys(p_project text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project_id uuid;
  v_error jsonb;
begin
  if p_project is not null then
    select r.project_id, r.error into v_project_id, v_error from filestore.resolve_project(p_project) r;
    if v_error is not null then return v_error; end if;
  end if;
  return jsonb_build_object('keys', coalesce((
    select jsonb_agg(filestore.key_record(k) order by k.created_at, k.id)
    from filestore.api_keys k where p_project is null or k.project_id = v_project_id), '[]'));
end
$$;
comment on function public.filestore_admin_list_keys is
  'All keys, of one project if given, oldest first. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS.';
call filestore.publish('public.filestore_admin_list_keys', 'filestore_admin', 'service_role');

create function public.filestore_admin_revoke_key(p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key filestore.api_keys;
begin
  update filestore.api_keys k set revoked_at = coalesce(k.revoked_at, clock_timestamp())
  where k.id = p_id returning * into v_key;
  if not found then return filestore.error('KEY_NOT_FOUND', 'There is no key with this id.'); end if;
  return filestore.key_record(v_key);
end
$$;
comment on function public.filestore_admin_revoke_key is 'Revokes a key immediately. Errors: KEY_NOT_FOUND.';
call filestore.publish('public.filestore_admin_revoke_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_rotate_key(p_id uuid, p_key_hash text, p_prefix text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_old filestore.api_keys;
  v_new filestore.api_keys;
begin
  select * into v_old from filestore.api_keys k where k.id = p_id for update;
  if not found then return filestore.error('KEY_NOT_FOUND', 'There is no key with this id.'); end if;
  if v_old.revoked_at is not null then
    return filestore.error('KEY_REVOKED', 'The key is revoked; create a new one.');
  end if;
  insert into filestore.api_keys (project_id, name, environment, scopes, path_prefix, key_hash, prefix, expires_at)
  values (
    v_old.project_id, v_old.name, v_old.environment, v_old.scopes, v_old.path_prefix, decode(p_key_hash, 'hex'),
    p_prefix, v_old.expires_at)
  returning * into v_new;
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id = p_id;
  return filestore.key_record(v_new);
end
$$;
comment on function public.filestore_admin_rotate_key is
  'Replaces a key by a new one with the same name, rights and expiry; the old one is revoked immediately. Errors: '
  'KEY_NOT_FOUND, KEY_REVOKED.';
call filestore.publish('public.filestore_admin_rotate_key', 'filestore_admin', 'service_role');
