-- The stored answers of requests with an Idempotency-Key. A commit takes the key and stores the answer in its own
-- transaction.

create function filestore.stored_response(p_session filestore.session, p_idempotency jsonb, p_path text)
returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row filestore.idempotency_keys;
  v_is_blank boolean;
begin
  select * into v_row from filestore.idempotency_keys i
  where i.project_id = p_session.project_id and i.caller_id = p_session.caller_id
    and i.key = p_idempotency ->> 'key'
    and i.created_at > clock_timestamp() - make_interval(secs => (filestore.limits()).idempotency_key_seconds);
  if not found then return null; end if;
  if v_row.fingerprint <> decode(p_idempotency ->> 'fingerprint', 'hex') then
    return filestore.refusal('IDEMPOTENCY_KEY_REUSED');
  end if;
  -- A key whose path prefix was changed since then does not see names outside the new prefix.
  v_is_blank := v_row.names ->> 'prefix' is distinct from (p_session).path_prefix or exists (
    select from filestore.projects p
    where p.id = p_session.project_id and p.answers_blank_through >= v_row.created_at);
  return jsonb_build_object('value', jsonb_build_object(
    'file', v_row.response
      || case when v_row.response ? 'id' then jsonb_build_object('path', p_path) else '{}' end
      || case when v_is_blank then '{}' else coalesce(v_row.names - 'prefix', '{}') end,
    'segments', null, 'isReplayed', not p_idempotency ? 'isOwn'));
end
$$;
comment on function filestore.stored_response is
  'The response to the first request with this key, about p_path if it is about one file, or the refusal of '
  'a different request with it; null where the key is new. After an erasure the response contains no names '
  'of files.';
call filestore.grant_execute('filestore.stored_response', 'filestore_engine');
