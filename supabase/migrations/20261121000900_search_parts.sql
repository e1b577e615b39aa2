-- Purpose: indexing a text costs in proportion to its size. Each chunk was cut out of the whole text, which Postgres counts
-- through from its beginning every time: 3 s of the database's time for 1 MB, more than for all the rest.
-- Needs: 20261121000800_search_rest.sql.

create or replace function public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text default null) returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  -- Postgres finds a character by counting from the first one: chunks are cut out of parts of a text, in characters.
  c_part constant integer := 20000;
  v_text jsonb;
  v_project_id uuid;
  v_file_id uuid;
  v_version integer;
  v_content text;
  v_is_embedded boolean;
  v_stored integer := 0;
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
    v_is_embedded := true;
    if (v_text ->> 'isDeleted')::boolean then
      delete from filestore.search_texts t where t.project_id = v_project_id and t.file_id = v_file_id and t.version < v_version;
    else
      v_content := coalesce(v_text ->> 'content', v_text ->> 'path');
      insert into filestore.search_texts as t (project_id, file_id, version, path, mime_type, skipped, content, bytes, words, indexed_at)
      values (v_project_id, v_file_id, v_version, v_text ->> 'path', v_text ->> 'mimeType', v_text ->> 'skipped', v_content,
        octet_length(v_content), filestore.search_words(v_text ->> 'path', coalesce(v_text ->> 'content', '')), clock_timestamp())
      on conflict (project_id, file_id) do update
        set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped, content = excluded.content,
            bytes = excluded.bytes, words = excluded.words, indexed_at = excluded.indexed_at, model = null
        where t.version < excluded.version;
      with chunks as materialized (
        select (c.value ->> 0)::integer as first_line, (c.value ->> 1)::integer as start, (c.value ->> 2)::integer as length
        from jsonb_array_elements(v_text -> 'chunks') c
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
      v_is_embedded := p_model is null or not exists (
        select from filestore.search_chunks k
        where k.project_id = v_project_id and k.file_id = v_file_id and k.model is distinct from p_model);
    end if;
    -- The queue's row comes last: a commit of the same file waits for it no longer than this.
    if v_is_embedded then
      update filestore.search_texts t set model = p_model
      where t.project_id = v_project_id and t.file_id = v_file_id and t.version = v_version and p_model is not null;
      delete from filestore.search_queue q
      where q.project_id = v_project_id and q.file_id = v_file_id and q.version = v_version and q.claim_id = p_claim_id;
    else
      update filestore.search_queue q set stage = 2, due_at = clock_timestamp(), attempts = 0, claim_id = null
      where q.project_id = v_project_id and q.file_id = v_file_id and q.version = v_version and q.claim_id = p_claim_id;
    end if;
    v_stored := v_stored + 1;
  end loop;
  return v_stored;
end
$$;
