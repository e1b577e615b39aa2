-- Links: an address that reads one file, or writes it once, without a key. Its user acts as the key that created it.

create function filestore.link_record(p_link filestore.links) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'id', p_link.id, 'for', p_link.scope, 'path', p_link.path, 'version', p_link.version,
    'contentType', p_link.mime_type, 'maxBytes', p_link.max_bytes, 'ifVersion', p_link.if_version,
    'keyId', p_link.key_id, 'createdAt', filestore.iso(p_link.created_at),
    'expiresAt', filestore.iso(p_link.expires_at)));
end
$$;
comment on function filestore.link_record is 'A link as lists show it: without its address.';
call filestore.grant_execute('filestore.link_record', 'filestore_engine');

create function filestore.has_ended(p_link filestore.links) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  return p_link.revoked_at is not null or p_link.used_at is not null or p_link.expires_at <= clock_timestamp();
end
$$;
comment on function filestore.has_ended is 'Whether a link has ended, regardless of its key.';
call filestore.grant_execute('filestore.has_ended', 'filestore_engine');

create function public.filestore_create_link(p_key_hash text, p_request_id uuid, p_link jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_limits constant filestore.limits := filestore.limits();
  -- The largest number of stored links of a project; ended ones are removed first.
  c_kept_max constant integer := 2000;
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'write', p_place => p_link ->> 'path');
  v_scope constant text := p_link ->> 'for';
  v_path constant text := p_link ->> 'path';
  v_seconds constant integer := p_link ->> 'expiresIn';
  v_found jsonb;
  v_link filestore.links;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  v_found := coalesce(filestore.outside_prefix(v_session, v_path), case when v_scope <> all (v_session.scopes)
    then filestore.refusal('FORBIDDEN_SCOPE', jsonb_build_object('scope', v_scope)) end);
  if v_found is not null then return v_session.envelope || v_found; end if;
  if v_seconds not between v_limits.link_seconds_min
    and (case v_scope when 'read' then v_limits.link_seconds_max else v_limits.write_link_seconds_max end) then
    raise exception 'a link cannot be valid for % seconds', v_seconds;
  end if;
  if v_scope = 'read' then
    v_found := filestore.find_version(v_session, v_path, (p_link ->> 'version')::integer, null, false);
    if v_found ? 'refusal' then return v_session.envelope || v_found; end if;
  end if;
  -- Serialized, so that the number is exact and an earlier attempt has ended.
  perform pg_advisory_xact_lock(hashtextextended('links/' || v_session.project_id, 0));
  select * into v_link from filestore.links l
  where l.project_id = v_session.project_id and l.id = (p_link ->> 'id')::uuid;
  if found then return v_session.envelope || jsonb_build_object('value', filestore.link_record(v_link)); end if;
  -- Counts all links of the project, not only those below the key's prefix.
  perform set_config('filestore.path_prefix', '', true);
  if v_limits.project_links_max <= (
    select count(*) from filestore.links l
    where l.project_id = v_session.project_id and not filestore.has_ended(l)) then
    return v_session.envelope
      || filestore.refusal('LINK_LIMIT_REACHED', jsonb_build_object('limit', v_limits.project_links_max));
  end if;
  delete from filestore.links l where l.project_id = v_session.project_id and l.id in (
    select o.id from filestore.links o where o.project_id = v_session.project_id
    order by filestore.has_ended(o), o.created_at desc, o.id offset c_kept_max - 1);
  insert into filestore.links (
    id, project_id, token_hash, scope, path, version, mime_type, max_bytes, if_version, key_id, key_hash, account_id,
    created_at, expires_at)
  values (
    (p_link ->> 'id')::uuid, v_session.project_id, decode(p_link ->> 'tokenHash', 'hex'), v_scope, v_path,
    (p_link ->> 'version')::integer, p_link ->> 'contentType', (p_link ->> 'maxBytes')::bigint,
    (p_link ->> 'ifVersion')::integer, v_session.key_id,
    case when v_session.key_id is not null then filestore.current_key_hash() end,
    case when v_session.key_id is null then v_session.person_id end,
    clock_timestamp(), clock_timestamp() + make_interval(secs => v_seconds))
  returning * into v_link;
  return v_session.envelope || jsonb_build_object('value', filestore.link_record(v_link));
end
$$;
comment on function public.filestore_create_link is
  'Creates a link: id and tokenHash chosen by the caller, for (read or write), path, expiresIn in seconds, '
  'and version, or contentType, maxBytes and ifVersion. A repeated id returns the link that was created '
  'first. Refusals: FORBIDDEN_SCOPE, FILE_NOT_FOUND, VERSION_NOT_FOUND, LINK_LIMIT_REACHED.';
call filestore.publish('public.filestore_create_link', 'filestore_engine', 'service_role');

create function public.filestore_list_links(p_key_hash text, p_request_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'read');
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  return v_session.envelope || jsonb_build_object('value', (
    select coalesce(jsonb_agg(
      filestore.link_record(l) - case when 'admin' = any (v_session.scopes) then '' else 'keyId' end
      order by l.created_at desc, l.id), '[]')
    from filestore.links l
    where l.project_id = v_session.project_id and not filestore.has_ended(l)));
end
$$;
comment on function public.filestore_list_links is
  'The usable links below the key''s prefix, newest first; keyId only for keys with the scope admin.';
call filestore.publish('public.filestore_list_links', 'filestore_engine', 'service_role');

create function public.filestore_revoke_link(p_key_hash text, p_request_id uuid, p_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_session constant filestore.session := filestore.authorize(p_key_hash, p_request_id, 'write');
  v_revoked_at timestamptz;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  update filestore.links l set revoked_at = coalesce(l.revoked_at, clock_timestamp())
  where l.project_id = v_session.project_id and l.id = p_id returning l.revoked_at into v_revoked_at;
  return v_session.envelope || case when found
    then jsonb_build_object('value', jsonb_build_object('id', p_id, 'revokedAt', filestore.iso(v_revoked_at)))
    else filestore.refusal('LINK_NOT_FOUND') end;
end
$$;
comment on function public.filestore_revoke_link is 'Ends a link immediately. Refusals: LINK_NOT_FOUND.';
call filestore.publish('public.filestore_revoke_link', 'filestore_engine', 'service_role');

-- Using a link.
create function filestore.count_link_use(p_project_id uuid, p_link_id uuid, p_limit integer, p_added integer)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_minute constant timestamptz := date_trunc('minute', clock_timestamp());
  v_count integer;
begin
  insert into filestore.link_windows as w (project_id, link_id, window_start, request_count)
  values (p_project_id, p_link_id, v_minute, p_added)
  on conflict (project_id, link_id) do update
    set window_start = greatest(w.window_start, v_minute),
        request_count = least(
          case when w.window_start < v_minute then 0 else w.request_count end + p_added, p_limit + 1)
  returning w.request_count into v_count;
  return jsonb_build_object('isAllowed', v_count <= p_limit - (p_added = 0)::integer, 'rate', jsonb_build_object(
    'limit', p_limit, 'remaining', greatest(p_limit - v_count, 0),
    'reset', extract(epoch from v_minute + interval '1 minute')::bigint));
end
$$;
comment on function filestore.count_link_use is
  'Adds to the uses of a link, or of all links of a project (all zeros), in this minute; with p_added 0 it '
  'only reads the count.';
call filestore.grant_execute('filestore.count_link_use', 'filestore_engine');

create function filestore.open_link(
  p_token_hash text, p_scope text, p_is_counted boolean, out session filestore.session, out link filestore.links
)
language plpgsql volatile set search_path = '' as $$
declare
  c_all constant uuid := '00000000-0000-0000-0000-000000000000';
  v_limit integer;
  v_count jsonb;
begin
  perform set_config('filestore.key_hash', p_token_hash, true);
  select * into link from filestore.links l where l.token_hash = decode(p_token_hash, 'hex');
  session.envelope := case
    when not found then filestore.refusal('LINK_NOT_FOUND')
    when link.scope <> p_scope then filestore.refusal('METHOD_NOT_ALLOWED', jsonb_build_object('for', link.scope))
    when link.revoked_at is not null or link.expires_at <= clock_timestamp() then filestore.refusal('LINK_EXPIRED')
  end;
  if session.envelope is not null then return; end if;
  -- Null, since the project's own window counts no request of a link.
  session := filestore.authorize(
    encode(coalesce(link.key_hash, link.token_hash), 'hex'), null, p_scope, p_place => link.path);
  session.caller_id := link.id;
  if session.envelope #>> '{refusal,code}' = 'INVALID_API_KEY' then
    session.envelope := filestore.refusal('LINK_EXPIRED');
  elsif not session.envelope ? 'refusal' then
    session.envelope := session.envelope || coalesce(filestore.outside_prefix(session, link.path), '{}');
  end if;
  if session.envelope ? 'refusal' then return; end if;

  session.max_file_bytes := least(session.max_file_bytes, link.max_bytes);
  session.envelope :=
    jsonb_set(session.envelope, '{grant,maxFileBytes}', coalesce(to_jsonb(session.max_file_bytes), 'null'));
  v_limit := session.envelope #>> '{rate,limit}';
  -- Reads are counted before they are answered. Of writes, only refused ones are counted, after they were
  -- refused, so here the count is only read.
  v_count := filestore.count_link_use(
    session.project_id, link.id, (filestore.limits()).link_requests_per_minute, p_is_counted::integer);
  session.envelope := session.envelope || jsonb_build_object('rate', v_count -> 'rate');
  if (v_count ->> 'isAllowed')::boolean and v_limit is not null then
    v_count := filestore.count_link_use(session.project_id, c_all, v_limit, p_is_counted::integer);
    if not (v_count ->> 'isAllowed')::boolean then
      session.envelope := session.envelope || jsonb_build_object('rate', v_count -> 'rate');
    end if;
  end if;
  if not (v_count ->> 'isAllowed')::boolean then
    session.envelope := session.envelope || filestore.refusal('RATE_LIMIT_EXCEEDED');
  end if;
end
$$;
comment on function filestore.open_link is
  'Finds a link and opens its project as the key that created it, in a session of that key. Refusals: LINK_NOT_FOUND, '
  'METHOD_NOT_ALLOWED, LINK_EXPIRED (also where its key is no longer valid), FORBIDDEN_SCOPE, '
  'RATE_LIMIT_EXCEEDED.';
call filestore.grant_execute('filestore.open_link', 'filestore_engine');

create function public.filestore_link(p_key_hash text, p_request_id uuid, p_for text) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant record := filestore.open_link(p_key_hash, p_for, p_for = 'read' and p_request_id is not null);
  v_found jsonb;
begin
  -- None of these rows is worth waiting for the disk.
  perform set_config('synchronous_commit', 'off', true);
  if (v_opened.session).envelope ? 'refusal' then return (v_opened.session).envelope; end if;
  if p_for = 'write' then
    return (v_opened.session).envelope || jsonb_build_object('value', jsonb_build_object(
      'path', (v_opened.link).path, 'contentType', (v_opened.link).mime_type,
      'ifVersion', (v_opened.link).if_version, 'isUsed', (v_opened.link).used_at is not null));
  end if;
  v_found := filestore.find_version(v_opened.session, (v_opened.link).path, (v_opened.link).version, null, true);
  -- A link reveals nothing else at or below the path.
  return (v_opened.session).envelope || case when v_found ? 'refusal'
    then jsonb_set(v_found, '{refusal,details}', '{}') else v_found end;
end
$$;
comment on function public.filestore_link is
  'For a link that reads: the record and the segments of its file or version. For a link that writes: what it '
  'allows, before anything is stored. p_key_hash is the SHA-256 of its token; with p_request_id null the '
  'request was counted already. Refusals: those of filestore.open_link, FILE_NOT_FOUND, VERSION_NOT_FOUND.';
call filestore.publish('public.filestore_link', 'filestore_engine', 'service_role');

create function public.filestore_link_commit(p_key_hash text, p_request_id uuid, p_commit jsonb) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_opened constant record := filestore.open_link(p_key_hash, 'write', false);
  v_session constant filestore.session := v_opened.session;
  v_link filestore.links;
  v_result jsonb;
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope; end if;
  select * into v_link from filestore.links l
  where l.project_id = v_session.project_id and l.id = v_session.caller_id for update;
  if v_link.used_at is not null and v_link.commit_id is distinct from (p_commit ->> 'commitId')::uuid then
    v_result := coalesce(
      case when p_commit ? 'idempotency'
        then filestore.stored_response(v_session, p_commit -> 'idempotency', v_link.path) end,
      filestore.refusal('LINK_USED'));
    return v_session.envelope || v_result;
  end if;
  v_result := filestore.commit_idempotent(v_session, 'write', p_commit || jsonb_build_object('path', v_link.path)
    || case when v_link.if_version is null then '{}' else jsonb_build_object('ifVersion', v_link.if_version) end);
  if v_result ? 'refusal' then
    perform filestore.count_link_use(
      v_session.project_id, v_link.id, (filestore.limits()).link_requests_per_minute, 1);
    perform set_config('synchronous_commit', 'off', true);
  else
    update filestore.links l set used_at = clock_timestamp(), commit_id = (p_commit ->> 'commitId')::uuid
    where l.project_id = v_session.project_id and l.id = v_link.id;
  end if;
  -- Content written in one piece needs no compaction.
  return v_session.envelope || case when v_result ? 'value'
    then jsonb_set(v_result, '{value,segments}', 'null') else v_result end;
end
$$;
comment on function public.filestore_link_commit is
  'Writes the one version that a link allows. A refused write does not use up the link. Refusals: LINK_USED, '
  'those of filestore.open_link and of a write.';
call filestore.publish('public.filestore_link_commit', 'filestore_engine', 'service_role');
