-- What functions return: records, refusals, envelopes.
--
-- A function that the edge function calls for a request returns jsonb, or json for a page, which is faster:
-- {"grant": {...}, "rate": {...}, "value": ...} or, instead of the value, {"refusal": {"code": ..., "details": {...}}}.
-- Refusals are results and not exceptions, so that a refused request still counts. It changes nothing else.
--
-- Functions in `public` and those in plpgsql pin an empty search_path. The short ones in SQL do not: a function with a
-- setting of its own cannot be inlined into the query that calls it. They qualify every name and run under the empty
-- path of their callers; no other role may execute them. They are `stable` where what they call is (to_char and
-- jsonb_build_object are), or they would not be inlined either. Whatever reads or writes a table is in plpgsql, which
-- keeps its plans for the session; a function in SQL is planned at every call.

create function filestore.iso(p_time timestamptz) returns text
language sql stable
as $$ select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
comment on function filestore.iso is 'ISO 8601, UTC, milliseconds, Z.';
call filestore.grant_execute('filestore.iso', 'filestore_account', 'filestore_admin', 'filestore_engine');

-- The character after `/` is `0`, so that the paths below a directory are a range, which an index can serve.
create function filestore.is_below(p_path text, p_directory text) returns boolean
language sql immutable
as $$ select p_path >= p_directory || '/' and p_path < p_directory || '0' $$;
comment on function filestore.is_below is 'Whether a path lies below a directory. Inlined.';
call filestore.grant_execute('filestore.is_below', 'filestore_engine', 'filestore_search');

create function filestore.refusal(p_code text, p_details jsonb default '{}'::jsonb) returns jsonb
language sql stable
as $$ select jsonb_build_object('refusal', jsonb_build_object('code', p_code, 'details', p_details)) $$;
comment on function filestore.refusal is 'A refusal, with its code of the wire contract.';
call filestore.grant_execute('filestore.refusal', 'filestore_account', 'filestore_engine');

create function filestore.file_record(
  p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint,
  p_created_at timestamptz, p_updated_at timestamptz
) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_id, 'path', p_path, 'version', p_version, 'mimeType', p_mime_type, 'size', p_size,
    'createdAt', filestore.iso(p_created_at), 'updatedAt', filestore.iso(p_updated_at))
$$;
comment on function filestore.file_record is 'A file at one version, as the wire shows it.';
call filestore.grant_execute('filestore.file_record', 'filestore_engine');

create function filestore.record_text(
  p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at text, p_updated_at text
) returns text
language sql stable as $$
  select '{"id":"' || p_id || '","path":' || to_json(p_path) || ',"version":' || p_version || ',"mimeType":'
    || to_json(p_mime_type) || ',"size":' || p_size || ',"createdAt":"' || p_created_at
    || '","updatedAt":"' || p_updated_at || '"}'
$$;
comment on function filestore.record_text is
  'A file record as JSON text, with times formatted by filestore.iso. Costs half as much as json_build_object, which '
  'matters for a page of records.';
call filestore.grant_execute('filestore.record_text', 'filestore_engine');

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
    -- By subscript, since the estimated length of an unnested array would make each custom plan look cheaper than the
    -- generic one, and the statement be planned at every call.
    from generate_subscripts(p_segment_ids, 1) as i (position)
    -- fence: the planner must not flatten this. Segments are fetched one by one by primary key; a plan that is kept
    -- must not scan the table, which may have been small when the plan was made.
    cross join lateral (
      select * from filestore.segments s where s.id = p_segment_ids[i.position] and s.project_id = p_project_id offset 0
    ) s);
end
$$;
comment on function filestore.segment_list is 'The segments with these ids, in order.';
call filestore.grant_execute('filestore.segment_list', 'filestore_engine', 'filestore_search');

create type filestore.session as (
  project_id uuid,
  key_id uuid,
  tier text,
  max_file_bytes bigint,
  max_project_bytes bigint,
  envelope jsonb,
  scopes text[],
  path_prefix text
);
comment on type filestore.session is 'An authorized (or refused) key, for the rest of the transaction.';
comment on column filestore.session.envelope is
  'What every result contains: {"grant", "rate"}, and {"refusal"} where the request is refused.';

create function filestore.page_response(p_session filestore.session, p_page json) returns json
language sql stable as $$
  select json_build_object(
    'grant', (p_session).envelope -> 'grant', 'rate', (p_session).envelope -> 'rate', 'value', p_page)
$$;
comment on function filestore.page_response is
  'The envelope of a page, as json: its records are text that is joined. As jsonb they would be parsed and sorted '
  'again at every level.';
call filestore.grant_execute('filestore.page_response', 'filestore_engine');

create function filestore.is_live(p_file filestore.files) returns boolean
language sql immutable
as $$ select (p_file).id is not null and not (p_file).is_deleted $$;
comment on function filestore.is_live is 'Whether the file exists and its latest version is not a tombstone.';
call filestore.grant_execute('filestore.is_live', 'filestore_engine');

create function filestore.not_found(p_file filestore.files) returns jsonb
language sql stable as $$
  select filestore.refusal('FILE_NOT_FOUND', case when (p_file).is_deleted
    then jsonb_build_object('deletedVersion', (p_file).version) else '{}'::jsonb end)
$$;
comment on function filestore.not_found is 'The refusal where a file does not exist, or no longer exists.';
call filestore.grant_execute('filestore.not_found', 'filestore_engine');

create function public.filestore_ping() returns boolean
language sql volatile security definer set search_path = ''
as $$ select true $$;
comment on function public.filestore_ping is 'Whether the database responds; for GET /health?deep.';
call filestore.publish('public.filestore_ping', 'filestore_engine', 'service_role');
