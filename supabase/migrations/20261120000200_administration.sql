-- Purpose: projects and keys, for the command line. Only the secret key may call these. Answers are jsonb: a
-- record, or {"error": code, "message": text}.

create function filestore.project_record(p_project filestore.projects) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'id', (p_project).id, 'name', (p_project).name, 'tier', (p_project).tier,
    'requestsPerMinute', coalesce((p_project).requests_per_minute, t.requests_per_minute),
    'maxFileBytes', coalesce((p_project).max_file_bytes, t.max_file_bytes),
    'maxProjectBytes', coalesce((p_project).max_project_bytes, t.max_project_bytes),
    'createdAt', filestore.iso((p_project).created_at))
  from filestore.tiers t where t.name = (p_project).tier
$$;
comment on function filestore.project_record(filestore.projects) is 'A project with the limits in force.';

create function filestore.key_record(p_key filestore.api_keys) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
    'id', (p_key).id, 'prefix', (p_key).prefix, 'name', (p_key).name,
    'project', jsonb_build_object('id', p.id, 'name', p.name),
    'createdAt', filestore.iso((p_key).created_at), 'expiresAt', filestore.iso((p_key).expires_at),
    'revokedAt', filestore.iso((p_key).revoked_at), 'lastUsedAt', filestore.iso((p_key).last_used_at))
  from filestore.projects p where p.id = (p_key).project_id
$$;
comment on function filestore.key_record(filestore.api_keys) is 'A key without anything that opens the project.';

create function filestore.problem(p_code text, p_message text) returns jsonb
language sql immutable
as $$ select jsonb_build_object('error', p_code, 'message', p_message) $$;
comment on function filestore.problem(text, text) is 'A no of the administration.';

create function filestore.resolve_project(p_project text, out project_id uuid, out problem jsonb)
language plpgsql stable set search_path = ''
as $$
declare
  v_matches integer;
begin
  select count(*) into v_matches from filestore.projects p where p.id::text = lower(p_project) or p.name = p_project;
  if v_matches = 0 then
    problem := filestore.problem('PROJECT_NOT_FOUND', format('There is no project %s.', quote_literal(p_project)));
  elsif v_matches > 1 then
    problem := filestore.problem('PROJECT_AMBIGUOUS', format('Several projects are named %s; give its id.', quote_literal(p_project)));
  else
    select p.id into project_id from filestore.projects p where p.id::text = lower(p_project) or p.name = p_project;
  end if;
end
$$;
comment on function filestore.resolve_project(text) is 'The one project with this id or name.';

create function public.filestore_admin_create_project(p_name text, p_tier text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_project filestore.projects;
begin
  if p_name is null or char_length(p_name) not between 1 and 100 or p_name ~ '[[:cntrl:]]' or p_name <> btrim(p_name) then
    return filestore.problem('INVALID_NAME', 'A project name has 1 to 100 characters, no control characters and no space at either end.');
  end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.problem('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  insert into filestore.projects (name, tier) values (p_name, p_tier)
  on conflict (owner_id, name) do nothing returning * into v_project;
  if not found then
    return filestore.problem('NAME_TAKEN', format('There is a project %s already.', quote_literal(p_name)));
  end if;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_create_project(text, text) is 'Makes a project. Errors: INVALID_NAME, UNKNOWN_TIER, NAME_TAKEN.';

create function public.filestore_admin_list_projects() returns jsonb
language sql volatile security definer set search_path = ''
as $$
  select jsonb_build_object('projects', coalesce(jsonb_agg(filestore.project_record(p) order by p.created_at, p.id), '[]'))
  from filestore.projects p
$$;
comment on function public.filestore_admin_list_projects() is 'All projects, oldest first.';

create function public.filestore_admin_set_tier(
  p_project text, p_tier text, p_requests_per_minute integer default null, p_max_file_bytes bigint default null,
  p_max_project_bytes bigint default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_project_id uuid;
  v_project filestore.projects;
  v_problem jsonb;
begin
  select r.project_id, r.problem into v_project_id, v_problem from filestore.resolve_project(p_project) r;
  if v_problem is not null then
    return v_problem;
  end if;
  if not exists (select from filestore.tiers t where t.name = p_tier) then
    return filestore.problem('UNKNOWN_TIER', 'The tiers are free, pro and enterprise.');
  end if;
  if p_requests_per_minute < 1 or p_max_file_bytes < 1 or p_max_project_bytes < 1 then
    return filestore.problem('INVALID_LIMIT', 'A limit is a whole number from 1.');
  end if;
  update filestore.projects p
  set tier = p_tier, requests_per_minute = p_requests_per_minute, max_file_bytes = p_max_file_bytes,
      max_project_bytes = p_max_project_bytes
  where p.id = v_project_id returning * into v_project;
  return filestore.project_record(v_project);
end
$$;
comment on function public.filestore_admin_set_tier(text, text, integer, bigint, bigint) is 'Sets a project''s tier and its own limits (null: those of the tier). Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, UNKNOWN_TIER, INVALID_LIMIT.';

create function public.filestore_admin_create_key(
  p_project text, p_name text, p_key_hash text, p_prefix text, p_expires_at timestamptz default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_project_id uuid;
  v_problem jsonb;
  v_key filestore.api_keys;
begin
  select r.project_id, r.problem into v_project_id, v_problem from filestore.resolve_project(p_project) r;
  if v_problem is not null then
    return v_problem;
  end if;
  if char_length(p_name) > 100 or p_name ~ '[[:cntrl:]]' then
    return filestore.problem('INVALID_NAME', 'A key''s name has at most 100 characters and no control characters.');
  end if;
  insert into filestore.api_keys (project_id, name, key_hash, prefix, expires_at)
  values (v_project_id, coalesce(p_name, ''), decode(p_key_hash, 'hex'), p_prefix, p_expires_at)
  returning * into v_key;
  return filestore.key_record(v_key);
end
$$;
comment on function public.filestore_admin_create_key(text, text, text, text, timestamptz) is 'Stores the hash of a new key. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS, INVALID_NAME.';

create function public.filestore_admin_list_keys(p_project text default null) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_project_id uuid;
  v_problem jsonb;
begin
  if p_project is not null then
    select r.project_id, r.problem into v_project_id, v_problem from filestore.resolve_project(p_project) r;
    if v_problem is not null then
      return v_problem;
    end if;
  end if;
  return jsonb_build_object('keys', coalesce((
    select jsonb_agg(filestore.key_record(k) order by k.created_at, k.id)
    from filestore.api_keys k where p_project is null or k.project_id = v_project_id), '[]'));
end
$$;
comment on function public.filestore_admin_list_keys(text) is 'All keys, of one project if given, oldest first. Errors: PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS.';

create function public.filestore_admin_revoke_key(p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_key filestore.api_keys;
begin
  update filestore.api_keys k set revoked_at = coalesce(k.revoked_at, clock_timestamp()) where k.id = p_id returning * into v_key;
  if not found then
    return filestore.problem('KEY_NOT_FOUND', 'There is no key with this id.');
  end if;
  return filestore.key_record(v_key);
end
$$;
comment on function public.filestore_admin_revoke_key(uuid) is 'Ends a key at once. Errors: KEY_NOT_FOUND.';

create function public.filestore_admin_rotate_key(p_id uuid, p_key_hash text, p_prefix text) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_old filestore.api_keys;
  v_new filestore.api_keys;
begin
  select * into v_old from filestore.api_keys k where k.id = p_id for update;
  if not found then
    return filestore.problem('KEY_NOT_FOUND', 'There is no key with this id.');
  end if;
  if v_old.revoked_at is not null then
    return filestore.problem('KEY_REVOKED', 'The key is revoked; create a new one.');
  end if;
  insert into filestore.api_keys (project_id, name, key_hash, prefix, expires_at)
  values (v_old.project_id, v_old.name, decode(p_key_hash, 'hex'), p_prefix, v_old.expires_at)
  returning * into v_new;
  update filestore.api_keys k set revoked_at = clock_timestamp() where k.id = p_id;
  return filestore.key_record(v_new);
end
$$;
comment on function public.filestore_admin_rotate_key(uuid, text, text) is 'Replaces a key by a new one with the same name and expiry; the old one ends at once. Errors: KEY_NOT_FOUND, KEY_REVOKED.';

revoke all on all functions in schema filestore from public;
grant execute on function
  filestore.iso(timestamptz), filestore.project_record(filestore.projects), filestore.key_record(filestore.api_keys),
  filestore.problem(text, text), filestore.resolve_project(text)
to filestore_admin;

revoke all on function
  public.filestore_admin_create_project(text, text),
  public.filestore_admin_list_projects(),
  public.filestore_admin_set_tier(text, text, integer, bigint, bigint),
  public.filestore_admin_create_key(text, text, text, text, timestamptz),
  public.filestore_admin_list_keys(text),
  public.filestore_admin_revoke_key(uuid),
  public.filestore_admin_rotate_key(uuid, text, text)
from public, anon, authenticated;
grant execute on function
  public.filestore_admin_create_project(text, text),
  public.filestore_admin_list_projects(),
  public.filestore_admin_set_tier(text, text, integer, bigint, bigint),
  public.filestore_admin_create_key(text, text, text, text, timestamptz),
  public.filestore_admin_list_keys(text),
  public.filestore_admin_revoke_key(uuid),
  public.filestore_admin_rotate_key(uuid, text, text)
to service_role;

grant create on schema public to filestore_admin;
alter function public.filestore_admin_create_project(text, text) owner to filestore_admin;
alter function public.filestore_admin_list_projects() owner to filestore_admin;
alter function public.filestore_admin_set_tier(text, text, integer, bigint, bigint) owner to filestore_admin;
alter function public.filestore_admin_create_key(text, text, text, text, timestamptz) owner to filestore_admin;
alter function public.filestore_admin_list_keys(text) owner to filestore_admin;
alter function public.filestore_admin_revoke_key(uuid) owner to filestore_admin;
alter function public.filestore_admin_rotate_key(uuid, text, text) owner to filestore_admin;
revoke create on schema public from filestore_admin;
