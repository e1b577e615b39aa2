-- The commit that GET /health?deep runs, which is rolled back.

create function public.filestore_health_probe() returns boolean
language plpgsql volatile set search_path = '' set lock_timeout = '1s' as $$
declare
  v_project_id constant uuid := gen_random_uuid();
  -- Probes at the same time must not wait for each other's key.
  v_key_hash constant text := encode(sha256(v_project_id::text::bytea), 'hex');
  v_segment constant jsonb := jsonb_build_object(
    'id', v_project_id,
    'name', v_project_id || to_char(clock_timestamp() at time zone 'UTC', '/YYYYMMDD/') || v_project_id,
    'size', 1, 'sha256', v_key_hash, 'newlines', 0, 'endsWithNewline', false, 'isText', true);
  v_committed jsonb;
begin
  begin
    perform public.filestore_admin_create_project('health probe', 'free', v_project_id);
    perform public.filestore_admin_administer(v_project_id, 'create_key', jsonb_build_object(
      'keyHash', v_key_hash, 'prefix', 'oa_healthy', 'environment', 'development',
      'scopes', '["write"]'::jsonb));
    v_committed := public.filestore_commit(v_key_hash, gen_random_uuid(), 'write', jsonb_build_object(
      'path', 'probe.txt', 'commitId', v_project_id, 'mimeType', 'text/plain',
      'segments', jsonb_build_array(v_segment)));
    raise sqlstate 'FS005';
  exception when sqlstate 'FS005' then
    null;
  end;
  return v_committed ? 'value';
end
$$;
comment on function public.filestore_health_probe is
  'Commits a file to a project of its own and rolls everything back. Fails wherever a commit would: in a '
  'read-only database, without `filestore_commit`, and where a table stays locked for a second.';
call filestore.grant_execute('public.filestore_health_probe', 'service_role');
