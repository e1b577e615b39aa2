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
