-- Members: the people in a project besides its owner, and the invitations. Nothing here looks an account up by its
-- address: whether an address has an account changes no answer, and no work.

create function filestore.team(p_project_id uuid) returns setof filestore.members
language sql stable set search_path = '' as $$
  select p.id, coalesce(m.id, p.owner_id), p.owner_id, coalesce(filestore.address_of(p.owner_id), m.email), 'owner',
         null::uuid, null::timestamptz, null::timestamptz
  from filestore.projects p
  left join filestore.members m on m.project_id = p.id and m.account_id = p.owner_id
  where p.id = p_project_id and p.owner_id is not null
  union all
  select m.project_id, m.id, m.account_id, coalesce(filestore.address_of(m.account_id), m.email), m.role, m.invited_by,
         m.created_at, m.expires_at
  from filestore.projects p join filestore.members m on m.project_id = p.id
  where p.id = p_project_id and (m.account_id is null or m.account_id is distinct from p.owner_id)
    and (m.expires_at > clock_timestamp()) is not false
$$;
comment on function filestore.team is
  'The people in an opened project: its owner, its members, with their present addresses, and the open invitations.';
call filestore.grant_execute('filestore.team', 'filestore_account');

create function filestore.member_record(p_member filestore.members) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', (p_member).id, 'email', coalesce((p_member).email, ''), 'role', (p_member).role,
    'state', case when (p_member).account_id is null then 'invited' else 'active' end,
    'expiresAt', filestore.iso((p_member).expires_at)));
end
$$;
comment on function filestore.member_record is 'A member, the owner or an invitation, as all of them see it.';
call filestore.grant_execute('filestore.member_record', 'filestore_account');

create function filestore.invitation_mail(p_project_id uuid) returns jsonb
language sql volatile set search_path = '' as $$
  update filestore.account_windows w
  set invitations_mailed_at = array(
    select m.at from unnest(w.invitations_mailed_at) m (at) where m.at > clock_timestamp() - interval '24 hours')
    || clock_timestamp()
  where w.account_id = filestore.current_account_id() and (
    select count(*) from unnest(w.invitations_mailed_at) m (at) where m.at > clock_timestamp() - interval '24 hours')
    < (filestore.limits()).invitation_mails_per_day_max
  returning jsonb_build_object(
    'projectName', (select p.name from filestore.projects p where p.id = p_project_id),
    'invitedBy', filestore.address_of(w.account_id))
$$;
comment on function filestore.invitation_mail is
  'Counts an invitation to the opened project that is mailed, and returns what its mail says; null where the account '
  'has had all of its mails for 24 hours.';
call filestore.grant_execute('filestore.invitation_mail', 'filestore_account');

create function filestore.invite(p_project_id uuid, p_id uuid, p_email text, p_role text, p_mails boolean) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  v_id constant uuid := filestore.own_id(p_project_id, p_id);
  v_member filestore.members;
begin
  select * into v_member from filestore.team(p_project_id) t where t.id = v_id;
  if found then
    -- An earlier attempt, whose answer was lost: so was the mail.
    null;
  elsif (p_email ~ '^[!-?A-~]+@[!-?A-~]+$' and octet_length(p_email) <= 254) is not true then
    return filestore.refused_field('email', 'must be an e-mail address');
  elsif exists (select from filestore.team(p_project_id) t where t.email = lower(p_email)) then
    return filestore.refusal('MEMBER_ALREADY_EXISTS');
  elsif (select count(*) from filestore.team(p_project_id)) >= v_limits.project_members_max then
    return filestore.refusal('MEMBER_LIMIT_REACHED', jsonb_build_object('limit', v_limits.project_members_max));
  else
    delete from filestore.members m where m.project_id = p_project_id and m.expires_at <= clock_timestamp();
    insert into filestore.members (project_id, id, email, role, invited_by, expires_at)
    values (
      p_project_id, v_id, lower(p_email), p_role, filestore.current_account_id(),
      clock_timestamp() + make_interval(days => v_limits.invitation_days))
    returning * into v_member;
  end if;
  return jsonb_build_object('value', filestore.member_record(v_member) || jsonb_strip_nulls(jsonb_build_object(
    'mail', case when p_mails then filestore.invitation_mail(p_project_id) end)));
end
$$;
comment on function filestore.invite is
  'Invites an address to an opened project, or returns the invitation that was made with this id. With p_mails it '
  'counts and returns the mail that the caller is to send, if one may be sent. Refusals: MEMBER_ALREADY_EXISTS, '
  'MEMBER_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.grant_execute('filestore.invite', 'filestore_account');

create function filestore.remove_member(p_member filestore.members) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  delete from filestore.members m where m.project_id = p_member.project_id and m.id = p_member.id;
  -- Without a role nothing that acts for the person has a right. These do not return with that person, either.
  update filestore.links l set revoked_at = clock_timestamp()
  where l.project_id = p_member.project_id and l.account_id = p_member.account_id and l.revoked_at is null;
  update filestore.api_keys k set revoked_at = clock_timestamp()
  where k.project_id = p_member.project_id and k.account_id = p_member.account_id and k.revoked_at is null;
  return jsonb_build_object('value', jsonb_build_object('id', p_member.id));
end
$$;
comment on function filestore.remove_member is
  'Removes a member of an opened project, or an invitation. The member''s links and apps end; keys stay.';
call filestore.grant_execute('filestore.remove_member', 'filestore_account');

create function filestore.transfer(p_project_id uuid, p_member filestore.members) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_owner_id constant uuid := filestore.current_account_id();
  v_limit constant integer := (filestore.limits()).account_projects_max;
  v_bytes_max constant bigint := filestore.account_settings(p_member.account_id) ->> 'sharedBytes';
  v_shared_before bigint;
  v_projects integer;
begin
  -- In one order, so that two transfers do not wait for each other. As in lock_account.
  perform pg_advisory_xact_lock(hashtextextended('account/' || least(v_owner_id, p_member.account_id), 0));
  perform pg_advisory_xact_lock(hashtextextended('account/' || greatest(v_owner_id, p_member.account_id), 0));
  -- The member may have left, or deleted the account, before the locks.
  if not exists (
    select from filestore.members m
    where m.project_id = p_project_id and m.id = p_member.id and m.account_id = p_member.account_id) then
    return filestore.refusal('MEMBER_NOT_FOUND');
  end if;
  v_shared_before := filestore.shared_bytes(p_member.account_id);
  perform set_config('filestore.account_id', p_member.account_id::text, true);
  v_projects := (select count(*) from filestore.projects p where p.owner_id = p_member.account_id);
  perform set_config('filestore.account_id', '', true);
  if v_projects >= v_limit then
    return filestore.refusal('PROJECT_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  begin
    update filestore.projects p set (owner_id) = row (p_member.account_id)
    where p.id = p_project_id and p.owner_id = v_owner_id and p.deleted_at is null;
    if not found then return filestore.refusal('PROJECT_NOT_FOUND'); end if;
  exception when unique_violation then
    return filestore.refusal('PROJECT_NAME_TAKEN');
  end;
  -- The usage moves with the project. It must not take the room of the projects that the new owner has already.
  if v_bytes_max is not null
    and filestore.shared_bytes(p_member.account_id) > greatest(v_bytes_max, v_shared_before) then
    update filestore.projects p set (owner_id) = row (v_owner_id) where p.id = p_project_id;
    return filestore.refusal('QUOTA_EXCEEDED', jsonb_build_object('limitBytes', v_bytes_max, 'account', true));
  end if;
  insert into filestore.members as m (project_id, id, account_id, email, role)
  values (p_project_id, v_owner_id, v_owner_id, filestore.address_of(v_owner_id), 'admin')
  on conflict (project_id, account_id) do update set role = 'admin';
  return jsonb_build_object('value', filestore.account_project(p_project_id) || '{"role": "admin"}');
end
$$;
comment on function filestore.transfer is
  'Makes a member the owner of an opened project; the owner becomes an admin. Refusals: MEMBER_NOT_FOUND, '
  'PROJECT_NOT_FOUND, and PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED and QUOTA_EXCEEDED of the new owner.';
call filestore.grant_execute('filestore.transfer', 'filestore_account');

create function filestore.manage_members(p_project_id uuid, p_role text, p_action text, p_parameters jsonb)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_is_admin constant boolean := p_role in ('admin', 'owner');
  v_role constant text := p_parameters ->> 'role';
  v_member filestore.members;
begin
  if p_action = 'members' then
    return jsonb_build_object('value', (
      select coalesce(jsonb_agg(filestore.member_record(t) order by t.role = 'owner' desc, t.created_at, t.id), '[]')
      from filestore.team(p_project_id) t));
  end if;
  select * into v_member from filestore.team(p_project_id) t where t.id = filestore.to_uuid(p_parameters ->> 'id');
  if (v_is_admin or p_action = 'remove_member' and v_member.account_id = filestore.current_account_id())
    is not true then
    return filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "admin"}');
  elsif p_action = 'transfer' and p_role <> 'owner' then
    return filestore.refusal('FORBIDDEN_SCOPE', '{"role": "owner"}');
  elsif p_action = 'transfer' and v_member.role = 'owner' then
    return jsonb_build_object('value', filestore.account_project(p_project_id) || jsonb_build_object('role', p_role));
  elsif p_action in ('invite', 'change_member') and v_role not in ('viewer', 'editor', 'admin') is not false then
    return filestore.refused_field('role', 'must be viewer, editor or admin');
  elsif p_action = 'invite' then
    return filestore.invite(
      p_project_id, filestore.to_uuid(p_parameters ->> 'id'), p_parameters ->> 'email', v_role,
      p_mails => p_parameters -> 'mails' = 'true');
  elsif v_member.id is null or p_action = 'transfer'
    and (v_member.account_id is null or not filestore.is_account_active(v_member.account_id)) then
    return filestore.refusal('MEMBER_NOT_FOUND');
  elsif v_member.role = 'owner' then
    return case p_role when 'owner' then filestore.refusal('OWNER_REQUIRED')
      else filestore.refusal('FORBIDDEN_SCOPE', '{"role": "owner"}') end;
  end if;
  case p_action
    when 'change_member' then
      update filestore.members m set role = v_role where m.project_id = p_project_id and m.id = v_member.id;
      v_member.role := v_role;
      return jsonb_build_object('value', filestore.member_record(v_member));
    when 'remove_member' then return filestore.remove_member(v_member);
    when 'transfer' then return filestore.transfer(p_project_id, v_member);
  end case;
end
$$;
comment on function filestore.manage_members is
  'The actions of a person with this role on the members of an opened project; see filestore_account_members.';
call filestore.grant_execute('filestore.manage_members', 'filestore_account');

create function public.filestore_account_members(p_project_id uuid, p_action text, p_parameters jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_own record;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  v_own := filestore.open_own_project(p_project_id);
  if v_own.project_id is not null and p_action <> 'members' then
    perform pg_advisory_xact_lock(hashtextextended('members/' || v_own.project_id, 0));
    -- Again: a change that this one waited for may have changed the role.
    v_own := filestore.open_own_project(v_own.project_id);
  end if;
  if v_own.project_id is null then return v_entry || filestore.refusal('PROJECT_NOT_FOUND'); end if;
  if v_own.suspended_at is not null and p_action not in ('members', 'remove_member') then
    return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
  end if;
  return v_entry || filestore.manage_members(v_own.project_id, v_own.role, p_action, p_parameters);
end
$$;
comment on function public.filestore_account_members is
  'The members of a project, by default of the account''s oldest one. Everybody in it may list them (members) and '
  'leave (remove_member: id); the owner and admins invite (id, chosen by the caller, email, role, and mails: whether '
  'the caller sends mails), change_member (id, role) and remove_member (id); the owner may transfer the project (id). '
  'Refusals: PROJECT_NOT_FOUND, FORBIDDEN_SCOPE, MEMBER_NOT_FOUND, OWNER_REQUIRED, MEMBER_ALREADY_EXISTS, '
  'MEMBER_LIMIT_REACHED, PROJECT_NAME_TAKEN, PROJECT_LIMIT_REACHED, QUOTA_EXCEEDED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_account_members', 'filestore_account', 'authenticated');

create function public.filestore_account_answer_invitation(p_id uuid, p_accepts boolean) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_account_id constant uuid := filestore.current_account_id();
  v_email constant text := filestore.address_of(v_account_id, true);
  v_member filestore.members;
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  perform set_config('filestore.project_id', '', true);
  select * into v_member from filestore.members m
  -- Accepted by this account already: the same request again, whose answer was lost.
  where m.id = p_id and (m.account_id is null or m.account_id = v_account_id and p_accepts);
  perform pg_advisory_xact_lock(hashtextextended('members/' || v_member.project_id, 0));
  select * into v_member from filestore.members m
  where m.id = v_member.id and m.project_id = v_member.project_id and filestore.invited_to(m.project_id) is not null
    and (m.account_id = v_account_id and p_accepts
      or m.account_id is null and m.email = v_email and m.expires_at > clock_timestamp());
  if not found then return v_entry || filestore.refusal('INVITATION_NOT_FOUND'); end if;
  perform set_config('filestore.project_id', v_member.project_id::text, true);
  if not p_accepts then return v_entry || filestore.remove_member(v_member); end if;
  if v_member.account_id is null then
    if exists (select from filestore.team(v_member.project_id) t where t.account_id = v_account_id) then
      return v_entry || filestore.refusal('MEMBER_ALREADY_EXISTS');
    end if;
    update filestore.members m set account_id = v_account_id, expires_at = null
    where m.project_id = v_member.project_id and m.id = v_member.id;
  end if;
  return v_entry || jsonb_build_object('value', filestore.account_project(v_member.project_id) || jsonb_build_object(
    'role', (select o.role from filestore.own_projects() o where (o.project).id = v_member.project_id)));
end
$$;
comment on function public.filestore_account_answer_invitation is
  'Accepts an invitation to the confirmed address of the signed-in account, which then is a member and gets the '
  'project, or declines it. Refusals: INVITATION_NOT_FOUND, MEMBER_ALREADY_EXISTS.';
call filestore.publish('public.filestore_account_answer_invitation', 'filestore_account', 'authenticated');
