-- The results of functions: records, refusals, envelopes.
--
-- A function that the edge function calls for a request returns jsonb, or json for a page, which is faster:
-- {"grant": {...}, "rate": {...}, "value": ...} or, instead of the value, {"refusal": {"code": ...,
-- "details": {...}}}. Refusals are results and not exceptions, so that a refused request still counts. A
-- refused request changes nothing else.
--
-- Every function pins an empty search_path, so Postgres inlines none into a query, except those of policies,
-- which pin none; a call costs 3 microseconds, and 8 where expressions have to be prepared for it. Most are
-- in plpgsql, which keeps its plans for the session: a function in SQL that is not inlined is planned at
-- every call. The functions in SQL are those that policies inline, those whose bodies must be parsed when
-- they are created, and those that are rarely called. Expressions that a page needs for each of its rows, or
-- an index for its condition, are written out in the query instead: a time as ISO 8601, and "below a
-- directory", which is `path >= directory || '/' and path < directory || '0'`: the character after `/` is
-- `0`, so that it is a range.

create function filestore.iso(p_time timestamptz) returns text
language plpgsql stable set search_path = ''
as $$ begin return to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'); end $$;
comment on function filestore.iso is 'The time in ISO 8601, in UTC with milliseconds and Z.';
call filestore.grant_execute('filestore.iso', 'filestore_account', 'filestore_admin', 'filestore_engine');

create function filestore.refusal(p_code text, p_details jsonb default '{}'::jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return jsonb_build_object('refusal', jsonb_build_object('code', p_code, 'details', p_details)); end $$;
comment on function filestore.refusal is 'A refusal with a code of the wire contract.';
call filestore.grant_execute('filestore.refusal', 'filestore_account', 'filestore_admin', 'filestore_engine');

create type filestore.listed_file as (
  id uuid, path text, version integer, mime_type text, size bigint, created_at timestamptz, updated_at timestamptz,
  is_deleted boolean
);
comment on type filestore.listed_file is 'The fields of a file at one version that the API returns.';

-- As in policies: without a search_path, which the body does not need, the planner can inline the columns
-- into the query.
create function filestore.listed(p_file filestore.files) returns filestore.listed_file
language sql immutable parallel safe
return row((p_file).id, (p_file).path, (p_file).version, (p_file).mime_type, (p_file).size, (p_file).created_at,
  (p_file).updated_at, (p_file).is_deleted)::filestore.listed_file;
comment on function filestore.listed is 'The fields of a row of `files` that the API returns.';
call filestore.grant_execute('filestore.listed', 'filestore_engine');

create function filestore.file_records(p_files filestore.listed_file[]) returns text
language plpgsql stable set search_path = '' as $$
declare
  c_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  -- Joining text costs half as much as json_build_object.
  return (
    select coalesce(string_agg('{"id":"' || f.id || '","path":' || to_json(f.path) || ',"version":' || f.version
      || ',"mimeType":' || to_json(f.mime_type) || ',"size":' || f.size || ',"createdAt":"' || t.created
      || '","updatedAt":"' || case when f.updated_at = f.created_at then t.created
        else to_char(f.updated_at at time zone 'UTC', c_iso) end
      || case when f.is_deleted then '","deleted":true}' else '"}' end, ',' order by f.position), '')
    from unnest(p_files) with ordinality
      f (id, path, version, mime_type, size, created_at, updated_at, is_deleted, position)
    -- fence: the planner must not flatten `offset 0`, or the time would be formatted twice.
    cross join lateral (select to_char(f.created_at at time zone 'UTC', c_iso) as created offset 0) t);
end
$$;
comment on function filestore.file_records is
  'Files as the API returns them: JSON objects, joined by commas.';
call filestore.grant_execute('filestore.file_records', 'filestore_engine');

create function filestore.file_record(p_file filestore.files) returns jsonb
language plpgsql stable set search_path = ''
as $$ begin return filestore.file_records(array[filestore.listed(p_file)]); end $$;
comment on function filestore.file_record is 'A file at one version, as the API returns it.';
call filestore.grant_execute('filestore.file_record', 'filestore_engine');

create function filestore.segment_list(p_project_id uuid, p_segment_ids uuid[]) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', s.id,
      'name', s.project_id || '/' || to_char(s.stored_on, 'YYYYMMDD') || '/' || s.id,
      'size', s.size, 'sha256', encode(s.sha256, 'hex'), 'newlines', s.newlines,
      'endsWithNewline', s.ends_with_newline, 'isText', s.is_text
    ) order by i.position), '[]'::jsonb)
    -- By subscript: the estimated length of an unnested array would make each custom plan look cheaper than
    -- the generic one, and the statement would be planned at every call.
    from generate_subscripts(p_segment_ids, 1) as i (position)
    -- fence: the planner must not flatten this. Segments are fetched one by one by primary key; a cached plan
    -- must not scan the table, which may have been small when it was planned.
    cross join lateral (
      select * from filestore.segments s where s.id = p_segment_ids[i.position] and s.project_id = p_project_id offset 0
    ) s);
end
$$;
comment on function filestore.segment_list is 'The segments with these ids, in order.';
call filestore.grant_execute('filestore.segment_list', 'filestore_admin', 'filestore_engine', 'filestore_search');

create type filestore.session as (
  project_id uuid, key_id uuid, tier text, max_file_bytes bigint, max_project_bytes bigint, account_id uuid,
  account_bytes bigint, envelope jsonb, scopes text[], path_prefix text, caller_id uuid, person_id uuid,
  has_webhooks boolean
);
comment on type filestore.session is
  'An authorized (or refused) key, for the rest of the transaction.';
comment on column filestore.session.caller_id is
  'The caller whose idempotency keys these requests use: the link that acts as the key, the key, or, all '
  'zeros, the console.';
comment on column filestore.session.account_id is 'The owner of the project.';
comment on column filestore.session.person_id is
  'The account that acts, in the console, by its link or by an app that it let in; null for keys.';
comment on column filestore.session.envelope is
  'The part that every result contains: {"grant", "rate"}, and {"refusal"} where the request is refused.';

create function filestore.page_response(p_session filestore.session, p_page json) returns json
language plpgsql stable set search_path = '' as $$
begin
  return json_build_object(
    'grant', (p_session).envelope -> 'grant', 'rate', (p_session).envelope -> 'rate', 'value', p_page);
end
$$;
comment on function filestore.page_response is
  'The envelope of a page, as json: its records are joined as text. As jsonb they would be parsed and sorted '
  'again at every level.';
call filestore.grant_execute('filestore.page_response', 'filestore_engine');

create function filestore.is_live(p_file filestore.files) returns boolean
language plpgsql immutable set search_path = ''
as $$ begin return (p_file).id is not null and not (p_file).is_deleted; end $$;
comment on function filestore.is_live is 'Whether the file exists and its latest version is not a tombstone.';
call filestore.grant_execute('filestore.is_live', 'filestore_admin', 'filestore_engine');

create function filestore.at_version(
  p_file filestore.files, p_version filestore.file_versions
) returns filestore.files
language plpgsql immutable set search_path = '' as $$
declare
  v_file filestore.files := p_file;
begin
  v_file.version := p_version.version;
  v_file.mime_type := p_version.mime_type;
  v_file.size := p_version.size;
  v_file.is_deleted := p_version.is_deleted;
  v_file.is_text := p_version.is_text;
  v_file.segment_ids := p_version.segment_ids;
  v_file.updated_at := p_version.created_at;
  return v_file;
end
$$;
comment on function filestore.at_version is 'A file in its state at one of its versions.';
call filestore.grant_execute('filestore.at_version', 'filestore_admin', 'filestore_engine');

create function filestore.too_large(p_session filestore.session, p_size bigint, p_details jsonb default '{}')
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- Without a limit the comparison is null.
  return case when p_size > p_session.max_file_bytes
    then filestore.refusal('CONTENT_TOO_LARGE', p_details || jsonb_build_object(
      'limitBytes', p_session.max_file_bytes, 'sizeBytes', p_size, 'tier', p_session.tier)) end;
end
$$;
comment on function filestore.too_large is
  'The refusal of a version that is larger than the tier allows; otherwise null.';
call filestore.grant_execute('filestore.too_large', 'filestore_engine');

create function filestore.not_found(p_file filestore.files) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('FILE_NOT_FOUND', case when (p_file).is_deleted and (p_file).version > 0
    then jsonb_build_object('deletedVersion', (p_file).version) else '{}'::jsonb end);
end
$$;
comment on function filestore.not_found is 'The refusal where a file does not exist, or no longer exists.';
call filestore.grant_execute('filestore.not_found', 'filestore_engine');

create function filestore.refused_field(p_field text, p_reason text) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return filestore.refusal('VALIDATION_ERROR', jsonb_build_object(
    'issues', jsonb_build_array(jsonb_build_object('path', p_field, 'reason', p_reason))));
end
$$;
comment on function filestore.refused_field is
  'The refusal of a field whose error only the database can detect.';
call filestore.grant_execute('filestore.refused_field', 'filestore_account', 'filestore_admin', 'filestore_engine');

create type filestore.next_version as (
  segment_ids uuid[], size bigint, mime_type text, is_deleted boolean, is_text boolean, source_file_id uuid,
  source_version integer
);
comment on type filestore.next_version is 'The content of a version to be added.';

create function filestore.unreadable_version(
  p_file filestore.files, p_number integer, p_version filestore.file_versions
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when (p_version).redacted_at is not null
      then filestore.refusal('VERSION_REDACTED', jsonb_build_object('version', p_number))
    when (p_version).version is null
      then filestore.refusal('VERSION_NOT_FOUND', jsonb_build_object('latestVersion', (p_file).version)
        || case when p_number < (p_file).version then '{"trimmed": true}'::jsonb else '{}'::jsonb end) end;
end
$$;
comment on function filestore.unreadable_version is
  'The refusal of a version that cannot be read: it does not exist, no longer exists, or its content was '
  'erased.';
call filestore.grant_execute('filestore.unreadable_version', 'filestore_engine');

