-- Purpose: no commit waits while texts are indexed. A store took the queue's row of each file as it went, so that a commit
-- of the first file waited for the texts of all the others, up to a second or two; and the first indexing of a file kept the
-- file's own row from being locked, through the foreign key of its text.
-- Needs: 20261121000900_search_parts.sql.

create function filestore.search_put_text(p_text jsonb, p_model text) returns boolean
language plpgsql volatile set search_path = ''
as $$
declare
  -- Postgres finds a character by counting from the first one: chunks are cut out of parts of a text, in characters.
  c_part constant integer := 20000;
  v_project_id constant uuid := p_text ->> 'projectId';
  v_file_id constant uuid := p_text ->> 'fileId';
  v_version constant integer := p_text ->> 'version';
  v_content constant text := coalesce(p_text ->> 'content', p_text ->> 'path');
begin
  if (p_text ->> 'isDeleted')::boolean then
    delete from filestore.search_texts t where t.project_id = v_project_id and t.file_id = v_file_id and t.version < v_version;
    return true;
  end if;
  insert into filestore.search_texts as t (project_id, file_id, version, path, mime_type, skipped, content, bytes, words, indexed_at)
  values (v_project_id, v_file_id, v_version, p_text ->> 'path', p_text ->> 'mimeType', p_text ->> 'skipped', v_content,
    octet_length(v_content), filestore.search_words(p_text ->> 'path', coalesce(p_text ->> 'content', '')), clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped, content = excluded.content,
        bytes = excluded.bytes, words = excluded.words, indexed_at = excluded.indexed_at, model = null
    where t.version < excluded.version;
  with chunks as materialized (
    select (c.value ->> 0)::integer as first_line, (c.value ->> 1)::integer as start, (c.value ->> 2)::integer as length
    from jsonb_array_elements(p_text -> 'chunks') c
  ), parts as materialized (
    select n.number, substr(v_content, n.number * c_part + 1, c_part + m.longest) as content
    from (select max(c.start) as last_start, max(c.length) as longest from chunks c) m
    cross join lateral generate_series(0, m.last_start / c_part) as n (number)
  )
  insert into filestore.search_chunks as k (project_id, file_id, hash, version, first_line, start, length)
  -- What occurs twice in a text is embedded once.
  select distinct on (h.hash) v_project_id, v_file_id, h.hash, v_version, h.first_line, h.start, h.length
  from (
    select c.first_line, c.start, c.length, md5(substr(p.content, c.start % c_part + 1, c.length))::uuid as hash
    from chunks c join parts p on p.number = c.start / c_part
  ) h
  order by h.hash, h.start
  on conflict (project_id, file_id, hash) do update
    set version = excluded.version, first_line = excluded.first_line, start = excluded.start, length = excluded.length
    where k.version < excluded.version;
  delete from filestore.search_chunks k
  where k.project_id = v_project_id and k.file_id = v_file_id and k.version < v_version;
  if p_model is null then
    return true;
  end if;
  if exists (
    select from filestore.search_chunks k
    where k.project_id = v_project_id and k.file_id = v_file_id and k.model is distinct from p_model
  ) then
    return false;
  end if;
  update filestore.search_texts t set model = p_model
  where t.project_id = v_project_id and t.file_id = v_file_id and t.version = v_version;
  return true;
end
$$;
comment on function filestore.search_put_text(jsonb, text) is 'Stores the text and chunks of one file in the place of what an older version had. False where p_model has not seen some of the chunks.';

create or replace function public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text default null) returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_text jsonb;
  v_project_id uuid;
  v_file_id uuid;
  v_version integer;
  v_done jsonb := '[]';
begin
  perform set_config('lock_timeout', '2s', true);
  for v_text in select t.value from jsonb_array_elements(p_texts) t order by t.value ->> 'fileId' loop
    v_project_id := v_text ->> 'projectId';
    v_file_id := v_text ->> 'fileId';
    v_version := v_text ->> 'version';
    -- A claim that ran out, or a newer version: the work is somebody else's by now.
    continue when not exists (
      select from filestore.search_queue q
      where q.project_id = v_project_id and q.file_id = v_file_id and q.version = v_version and q.claim_id = p_claim_id);
    v_done := v_done || jsonb_build_object(
      'project_id', v_project_id, 'file_id', v_file_id, 'version', v_version,
      'is_embedded', filestore.search_put_text(v_text, p_model));
  end loop;
  -- The queue's rows come last and all at once, so that no commit waits for the texts. None is waited for either: whoever
  -- holds one is giving it a newer version, which takes the claim away.
  with held as (
    select q.project_id, q.file_id, d.is_embedded
    from jsonb_to_recordset(v_done) d (project_id uuid, file_id uuid, version integer, is_embedded boolean)
    join filestore.search_queue q on q.project_id = d.project_id and q.file_id = d.file_id and q.version = d.version
    where q.claim_id = p_claim_id
    for update of q skip locked
  ), finished as (
    delete from filestore.search_queue q using held h
    where h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id
  )
  update filestore.search_queue q set stage = 2, due_at = clock_timestamp(), attempts = 0, claim_id = null
  from held h
  where not h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id;
  return jsonb_array_length(v_done);
end
$$;

-- What is locked of a file is the right to give it a version, not its identity, which never changes. `for update` would wait
-- for whoever refers to the row, and they for it: the first indexing of a text does.
create or replace function filestore.lock_file(p_project_id uuid, p_path text) returns filestore.files
language plpgsql volatile set search_path = ''
as $$
declare
  v_file filestore.files;
begin
  select * into v_file from filestore.files f where f.project_id = p_project_id and f.path = p_path for no key update;
  return v_file;
end
$$;

create or replace function public.filestore_merge(p_key_hash text, p_request_id uuid, p_path text, p_run uuid[], p_merged jsonb) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'write');
  v_file filestore.files;
  v_from integer;
  v_bytes bigint;
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope;
  end if;
  perform filestore.quota_left(v_session);
  select * into v_file from filestore.files f
  where f.project_id = v_session.project_id and f.path = p_path and not f.is_deleted for no key update;
  v_from := array_position(v_file.segment_ids, p_run[1]);
  if v_from is null or v_file.segment_ids[v_from : v_from + cardinality(p_run) - 1] <> p_run then
    -- The first try of this very merge may have done it.
    return v_session.envelope || jsonb_build_object(
      'value', coalesce((p_merged -> 0 ->> 'id')::uuid = any (v_file.segment_ids), false));
  end if;
  select sum((s.value ->> 'size')::bigint) into v_bytes from jsonb_array_elements(p_merged) s;
  if v_bytes is distinct from (
    select sum(s.size) from unnest(p_run) r (id)
    cross join lateral (
      select * from filestore.segments s where s.id = r.id and s.project_id = v_session.project_id offset 0
    ) s
  ) then
    raise exception 'merged segments differ in size from the run they replace';
  end if;
  perform filestore.add_segments(v_session.project_id, p_merged);
  update filestore.files f
  set segment_ids = v_file.segment_ids[: v_from - 1]
    || (select array_agg((s.value ->> 'id')::uuid order by s.position)
        from jsonb_array_elements(p_merged) with ordinality as s (value, position))
    || v_file.segment_ids[v_from + cardinality(p_run) :]
  where f.project_id = v_session.project_id and f.id = v_file.id;
  perform filestore.count_usage(v_session, v_file.id, v_bytes, 0);
  return v_session.envelope || jsonb_build_object('value', true);
end
$$;

revoke all on function filestore.search_put_text(jsonb, text) from public;
grant execute on function filestore.search_put_text(jsonb, text) to filestore_search;
