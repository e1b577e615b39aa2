-- Consent: a person lets an app into a project, or refuses. The app's request is a record that the edge function has
-- signed and that nothing stores; its id is stored once it is answered.

create function filestore.consent_answered(p_request_id uuid) returns bytea
language sql stable security definer set search_path = ''
as $$ select c.code_hash from filestore.app_consents c where c.request_id = p_request_id $$;
comment on function filestore.consent_answered is
  'The hash of the code with which a request was answered, by whichever account; null: it was not answered.';
call filestore.publish('filestore.consent_answered', 'filestore_admin', 'filestore_account');

create function public.filestore_account_request(p_request_id uuid) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  return v_entry || case when filestore.consent_answered(p_request_id) is null
    then '{"value": true}' else filestore.refusal('REQUEST_NOT_FOUND') end;
end
$$;
comment on function public.filestore_account_request is
  'Whether a person may still answer the request of an app. Refusals: REQUEST_NOT_FOUND.';
call filestore.publish('public.filestore_account_request', 'filestore_account', 'authenticated');

create function filestore.add_app(p_project_id uuid, p_app jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_limit constant integer := (filestore.limits()).project_keys_max;
  -- An app has no secret: nothing has this hash.
  v_key_hash constant bytea := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
  v_refusal constant jsonb := filestore.validate_key(p_app || jsonb_build_object(
    'keyHash', encode(v_key_hash, 'hex'), 'prefix', 'oa_0000000', 'environment', 'production'));
begin
  if v_refusal is not null then return v_refusal; end if;
  if p_app -> 'scopes' ? 'admin' then return filestore.refused_field('scopes', 'must be read or write'); end if;
  perform pg_advisory_xact_lock(hashtextextended('keys/' || p_project_id, 0));
  if (
    select count(*) from filestore.api_keys k
    where k.project_id = p_project_id and k.kind = 'app' and filestore.is_active(k)
  ) >= v_limit then
    return filestore.refusal('KEY_LIMIT_REACHED', jsonb_build_object('limit', v_limit));
  end if;
  insert into filestore.api_keys (
    project_id, kind, name, environment, scopes, path_prefix, expires_at, key_hash, prefix, account_id, client_hash,
    client_name, client_host)
  values (
    p_project_id, 'app', coalesce(p_app ->> 'name', ''), 'production',
    array(select distinct jsonb_array_elements_text(p_app -> 'scopes') order by 1), p_app ->> 'pathPrefix',
    (p_app ->> 'expiresAt')::timestamptz, v_key_hash, '', filestore.current_account_id(),
    decode(p_app ->> 'clientHash', 'hex'), p_app ->> 'clientName', p_app ->> 'clientHost');
  return jsonb_build_object('value', encode(v_key_hash, 'hex'));
end
$$;
comment on function filestore.add_app is
  'Adds an app to a project, with rights as a key has them, and returns its hash. Refusals: KEY_LIMIT_REACHED, '
  'VALIDATION_ERROR.';
call filestore.grant_execute('filestore.add_app', 'filestore_account');

create function public.filestore_account_consent(
  p_request_id uuid, p_code_hash text, p_project_id uuid, p_app jsonb
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_entry constant jsonb := filestore.enter_account();
  v_is_consent constant boolean := p_app is not null;
  v_answered bytea;
  v_own record;
  v_project_id uuid;
  v_added jsonb := '{}';
begin
  if v_entry ? 'refusal' then return v_entry; end if;
  -- One answer after the other: the second one finds the first.
  perform pg_advisory_xact_lock(hashtextextended('consent/' || p_request_id, 0));
  v_answered := filestore.consent_answered(p_request_id);
  if v_answered is not null then
    -- The same answer again, because that to it was lost between database and edge function.
    return v_entry || case when v_answered = decode(p_code_hash, 'hex')
      then '{"value": true}' else filestore.refusal('REQUEST_NOT_FOUND') end;
  end if;
  if v_is_consent then
    v_own := filestore.open_own_project(coalesce(p_project_id, '00000000-0000-0000-0000-000000000000'));
    if v_own.project_id is null then return v_entry || filestore.refusal('PROJECT_NOT_FOUND'); end if;
    if v_own.suspended_at is not null then
      return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"suspended": true}');
    elsif p_app -> 'scopes' ? 'write' and 'write' <> all (filestore.scopes_within(v_own.role)) then
      return v_entry || filestore.refusal('FORBIDDEN_SCOPE', '{"scope": "write"}');
    end if;
    v_project_id := v_own.project_id;
    v_added := filestore.add_app(v_project_id, p_app);
    if v_added ? 'refusal' then return v_entry || v_added; end if;
  end if;
  insert into filestore.app_consents (
    request_id, code_hash, project_id, key_hash, redirect_uri, challenge, expires_at)
  values (
    p_request_id, decode(p_code_hash, 'hex'), v_project_id, decode(v_added ->> 'value', 'hex'),
    p_app ->> 'redirectUri', p_app ->> 'challenge',
    clock_timestamp() + make_interval(secs => (filestore.limits()).app_code_seconds));
  return v_entry || '{"value": true}';
end
$$;
comment on function public.filestore_account_consent is
  'The answer of the signed-in person to the request of an app: p_app (null: refused) has the rights of a key, '
  'clientHash, clientName, clientHost, redirectUri and challenge. The app gets the code whose hash is given. '
  'Refusals: REQUEST_NOT_FOUND, PROJECT_NOT_FOUND, FORBIDDEN_SCOPE, KEY_LIMIT_REACHED, VALIDATION_ERROR.';
call filestore.publish('public.filestore_account_consent', 'filestore_account', 'authenticated');
