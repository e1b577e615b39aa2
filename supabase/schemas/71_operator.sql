-- Projects and keys, for the operator's command line. Only the secret key may call these. They return a record, or
-- {"error": code, "message": text}.

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
  'The account with this id or confirmed e-mail address, or why there is none that may own a project.';
call filestore.grant_execute('filestore.find_owner', 'filestore_admin');

create function filestore.project_record(p_project filestore.projects) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', (p_project).id, 'name', (p_project).name, 'tier', (p_project).tier,
    'requestsPerMinute', coalesce((p_project).requests_per_minute, t.requests_per_minute),
    'maxFileBytes', coalesce((p_project).max_file_bytes, t.max_file_bytes),
    'maxProjectBytes', coalesce((p_project).max_project_bytes, t.max_project_bytes),
    'ownerId', (p_project).owner_id,
    'owner', (select a.email from filestore.find_account((p_project).owner_id::text) a),
    'createdAt', filestore.iso((p_project).created_at), 'suspendedAt', filestore.iso((p_project).suspended_at))
  from filestore.tiers t where t.name = (p_project).tier;
end
$$;
comment on function filestore.project_record is 'A project with the limits in force and its owner''s e-mail address.';
call filestore.grant_execute('filestore.project_record', 'filestore_admin');

create function filestore.key_record(p_key filestore.api_keys) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name, 'scopes', (p_key).scopes,
    'pathPrefix', (p_key).path_prefix, 'project', jsonb_build_object('id', p.id, 'name', p.name),
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at))
  from filestore.projects p where p.id = (p_key).project_id;
end
$$;
comment on function filestore.key_record is 'A key without its hash.';
call filestore.grant_execute('filestore.key_record', 'filestore_admin');

create function filestore.error(p_code text, p_message text) returns jsonb
language plpgsql immutable set search_path = ''
as $$ begin return jsonb_build_object('error', p_code, 'message', p_message); end $$;
comment on function filestore.error is 'An error of the administration.';
call filestore.grant_execute('filestore.error', 'filestore_admin');

create function public.filestore_admin_find_project(p_project text, p_owner text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_owner_id uuid;
  v_problem text;
  v_project filestore.projects;
  v_others text;
begin
  select * into v_project from filestore.projects p where p.id::text = lower(p_project) and p.deleted_at is null;
  if p_owner is not null then
    select o.id, o.problem into v_owner_id, v_problem from filestore.find_owner(p_owner) o;
  end if;
  if v_project.id is null and v_problem is not null then
    return filestore.error('ACCOUNT_REFUSED', v_problem);
  elsif v_project.id is null then
    select * into v_project from filestore.projects p
    where p.name = p_project and p.owner_id is not distinct from v_owner_id and p.deleted_at is null;
  end if;
  if v_project.id is not null then return filestore.project_record(v_project); end if;
  select string_agg(format('%s (%s)', o.id, coalesce(a.email, o.owner_id::text, 'no owner')), ', ') into v_others
  from (select * from filestore.projects p
    where p.name = p_project and p.deleted_at is null order by p.created_at, p.id limit 10) o
  left join lateral filestore.find_account(o.owner_id::text) a on true;
  return case when v_others is null
    then filestore.error('PROJECT_NOT_FOUND', format('There is no project %s.', quote_literal(p_project)))
    else filestore.error('PROJECT_AMBIGUOUS', format(
      'Others have a project %s; give its id, or its owner with --owner: %s.', quote_literal(p_project), v_others)) end;
end
$$;
comment on function public.filestore_admin_find_project is
  'The project with this id; else the one with this name of the account p_owner, or without it of the operator, which '
  'is a project that no account owns. Errors: ACCOUNT_REFUSED, PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS.';
call filestore.publish('public.filestore_admin_find_project', 'filestore_admin', 'service_role');

create function filestore.invalid_name(p_name text) returns jsonb
language sql stable set search_path = '' as $$
  select filestore.error(
    'INVALID_NAME', 'A project name has 1 to 100 characters, no control characters and no space at either end.')
  where not filestore.is_name(p_name, 1)
$$;
comment on function filestore.invalid_name is 'The error of an invalid name of a project, or null.';
call filestore.grant_execute('filestore.invalid_name', 'filestore_admin');

create function public.filestore_admin_create_project(p_name text, p_tier text, p_id uuid default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_id constant uuid := coalesce(p_id, gen_random_uuid());
  v_project filestore.projects;
begin
  if filestore.invalid_name(p_name) is not null then return filestore.invalid_name(p_name); end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  insert into filestore.projects (id, name, tier) values (v_id, p_name, p_tier) on conflict do nothing;
  select * into v_project from filestore.projects p where p.id = v_id;
  if not found then
    return filestore.error('NAME_TAKEN', format('A project %s already exists.', quote_literal(p_name)));
  elsif v_project.deleted_at is not null then
    return filestore.error('PROJECT_DELETED', 'The project with this id was deleted.');
  end if;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_create_project is
  'Creates a project, or returns the one that has this id. Errors: INVALID_NAME, UNKNOWN_TIER, NAME_TAKEN, '
  'PROJECT_DELETED.';
call filestore.publish('public.filestore_admin_create_project', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_projects() returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object(
    'projects', coalesce(jsonb_agg(filestore.project_record(p) order by p.created_at, p.id), '[]'))
  from filestore.projects p where p.deleted_at is null
$$;
comment on function public.filestore_admin_list_projects is 'All projects, oldest first.';
call filestore.publish('public.filestore_admin_list_projects', 'filestore_admin', 'service_role');

create function public.filestore_admin_update_project(p_id uuid, p_changes jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project filestore.projects;
  v_account_id uuid;
  v_problem text;
begin
  if p_changes ? 'owner' then
    select o.id, o.problem into v_account_id, v_problem from filestore.find_owner(p_changes ->> 'owner') o;
  end if;
  if p_changes ? 'name' and filestore.invalid_name(p_changes ->> 'name') is not null then
    return filestore.invalid_name(p_changes ->> 'name');
  elsif v_problem is not null then
    return filestore.error('ACCOUNT_REFUSED', v_problem);
  elsif p_changes ? 'tier' and not exists (select from filestore.tiers t where t.name = p_changes ->> 'tier') then
    return filestore.error('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  update filestore.projects p
  set name = coalesce(p_changes ->> 'name', p.name), owner_id = coalesce(v_account_id, p.owner_id),
      suspended_at = case p_changes ->> 'isSuspended'
        when 'true' then coalesce(p.suspended_at, clock_timestamp()) when 'false' then null else p.suspended_at end
  where p.id = p_id and p.deleted_at is null returning * into v_project;
  if not found then return filestore.error('PROJECT_NOT_FOUND', 'There is no project with this id.'); end if;
  if p_changes ? 'tier' then
    update filestore.projects p
    set tier = p_changes ->> 'tier', requests_per_minute = (p_changes ->> 'requestsPerMinute')::integer,
        max_file_bytes = (p_changes ->> 'maxFileBytes')::bigint,
        max_project_bytes = (p_changes ->> 'maxProjectBytes')::bigint
    where p.id = p_id returning * into v_project;
  end if;
  return filestore.project_record(v_project);
exception
  when check_violation then return filestore.error('INVALID_LIMIT', 'A limit is a whole number from 1.');
  when unique_violation then
    return filestore.error('NAME_TAKEN', 'The owner has another project with this name; rename one of them.');
end
$$;
comment on function public.filestore_admin_update_project is
  'Changes of a project what is given: name; owner (id or e-mail address); isSuspended; tier, with limits of its own '
  'requestsPerMinute, maxFileBytes, maxProjectBytes (absent: those of the tier). Errors: PROJECT_NOT_FOUND, '
  'INVALID_NAME, ACCOUNT_REFUSED, UNKNOWN_TIER, INVALID_LIMIT, NAME_TAKEN.';
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
    return filestore.error('INVALID_MAKER', format(
      '%s is neither "anyone" nor an e-mail address or a domain like @example.com.', quote_literal(v_refused)));
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
  when check_violation then return filestore.error('INVALID_LIMIT', 'A limit is a whole number from 1.');
end
$$;
comment on function public.filestore_admin_settings is
  'Changes of the installation''s settings what is given, and returns them: projectMakers (["anyone"], addresses and '
  'domains, [] for none, null for undecided), accountBytes (null: no quota). Errors: INVALID_MAKER, INVALID_LIMIT.';
call filestore.publish('public.filestore_admin_settings', 'filestore_admin', 'service_role');

create function public.filestore_admin_create_key(
  p_project_id uuid, p_name text, p_key_hash text, p_prefix text, p_expires_at timestamptz default null,
  p_scopes text[] default '{read,write}', p_path_prefix text default null, p_grace_seconds integer default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key filestore.api_keys;
begin
  if not filestore.is_name(coalesce(p_name, ''), 0) then
    return filestore.error(
      'INVALID_NAME', 'A key''s name has at most 100 characters, no control characters and no space at either end.');
  end if;
  if exists (select from filestore.projects p where p.id = p_project_id and p.deleted_at is not null) then
    return filestore.error('PROJECT_NOT_FOUND', 'There is no project with this id.');
  end if;
  insert into filestore.api_keys (project_id, name, key_hash, prefix, expires_at, scopes, path_prefix)
  values (
    p_project_id, coalesce(p_name, ''), decode(p_key_hash, 'hex'), p_prefix, p_expires_at, p_scopes, p_path_prefix)
  returning * into v_key;
  update filestore.api_keys k
  set expires_at = least(k.expires_at, clock_timestamp() + make_interval(secs => p_grace_seconds))
  where p_grace_seconds is not null and k.project_id = p_project_id and k.name = v_key.name and k.id <> v_key.id
    and k.revoked_at is null;
  return filestore.key_record(v_key);
exception
  when foreign_key_violation then
    return filestore.error('PROJECT_NOT_FOUND', 'There is no project with this id.');
  when check_violation then
    return filestore.error('INVALID_KEY', 'Scopes are read, write, admin; a key with a path prefix cannot have admin.');
end
$$;
comment on function public.filestore_admin_create_key is
  'Stores the hash of a new key. With a grace period, the other keys of its name expire when it ends. Errors: '
  'PROJECT_NOT_FOUND, INVALID_NAME, INVALID_KEY.';
call filestore.publish('public.filestore_admin_create_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_list_keys(p_project_id uuid default null) returns jsonb
language sql volatile security definer set search_path = '' as $$
  select jsonb_build_object('keys', coalesce(jsonb_agg(filestore.key_record(k) order by k.created_at, k.id), '[]'))
  from filestore.api_keys k join filestore.projects p on p.id = k.project_id and p.deleted_at is null
  where p_project_id is null or k.project_id = p_project_id
$$;
comment on function public.filestore_admin_list_keys is 'All keys, of one project if given, oldest first.';
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

create function public.filestore_admin_change_key(p_id uuid, p_changes jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_key filestore.api_keys;
  v_changed jsonb;
begin
  select * into v_key from filestore.api_keys k where k.id = p_id;
  v_changed := filestore.change_key(v_key.project_id, p_id, p_changes);
  case v_changed #>> '{refusal,code}'
    when 'KEY_NOT_FOUND' then return filestore.error('KEY_NOT_FOUND', 'There is no key with this id.');
    when 'KEY_REVOKED' then return filestore.error('KEY_REVOKED', 'The key is revoked or has expired.');
    when 'VALIDATION_ERROR' then
      return filestore.error('INVALID_KEY', format('%s %s.',
        v_changed #>> '{refusal,details,issues,0,path}', v_changed #>> '{refusal,details,issues,0,reason}'));
    else
      select * into v_key from filestore.api_keys k where k.id = p_id;
      return filestore.key_record(v_key);
  end case;
end
$$;
comment on function public.filestore_admin_change_key is
  'filestore.change_key of any project. Errors: KEY_NOT_FOUND, KEY_REVOKED, INVALID_KEY.';
call filestore.publish('public.filestore_admin_change_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_rotate_key(
  p_id uuid, p_key_hash text, p_prefix text, p_grace_seconds integer default 0
) returns jsonb
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
  update filestore.api_keys k
  set revoked_at = case when p_grace_seconds = 0 then clock_timestamp() end,
      expires_at = least(k.expires_at, clock_timestamp() + make_interval(secs => nullif(p_grace_seconds, 0)))
  where k.id = p_id;
  update filestore.links l set key_id = v_new.id, key_hash = v_new.key_hash where l.key_id = p_id;
  return filestore.key_record(v_new);
end
$$;
comment on function public.filestore_admin_rotate_key is
  'Replaces a key by a new one with the same name, rights and expiry; the old one is revoked immediately, or expires '
  'after the grace period. Errors: KEY_NOT_FOUND, KEY_REVOKED.';
call filestore.publish('public.filestore_admin_rotate_key', 'filestore_admin', 'service_role');

create function public.filestore_admin_delete_project(p_id uuid, p_confirm text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_project filestore.projects;
begin
  select * into v_project from filestore.projects p where p.id = p_id and p.deleted_at is null for no key update;
  if not found then return filestore.error('PROJECT_NOT_FOUND', 'There is no project with this id.'); end if;
  if v_project.name is distinct from p_confirm then
    return filestore.error('NOT_CONFIRMED', format(
      'Nothing was deleted: the name of the project is %s.', quote_literal(v_project.name)));
  end if;
  return filestore.end_project(p_id, null);
end
$$;
comment on function public.filestore_admin_delete_project is
  'Deletes a project whose name is given, a suspended one, too. Errors: PROJECT_NOT_FOUND, NOT_CONFIRMED.';
call filestore.publish('public.filestore_admin_delete_project', 'filestore_admin', 'service_role');
