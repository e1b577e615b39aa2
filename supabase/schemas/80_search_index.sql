-- The search index: text of one version of each file. A search shows it only while that version is the current one.
--
-- A trigger queues each new version, in the transaction of its commit. The edge function claims files from the queue,
-- reads their bytes, and stores text and chunks, later the chunks' embeddings.

create function filestore.search_words(p_path text, p_content text) returns tsvector
language plpgsql stable set search_path = '' as $$
declare
  v_length integer := length(p_content);
  -- `src/rateLimit.ts` is found by rate, limit, src and ts.
  v_path constant text := regexp_replace(
    regexp_replace(p_path, '([a-z0-9])([A-Z])', '\1 \2', 'g'), '[^[:alnum:]]+', ' ', 'g');
begin
  loop
    begin
      return setweight(to_tsvector('pg_catalog.english', v_path), 'A')
        || setweight(to_tsvector('pg_catalog.english', left(p_content, v_length)), 'D');
    exception when program_limit_exceeded then
      -- A tsvector holds 1 MB of distinct words; of a text with more of them only the beginning is indexed.
      v_length := v_length / 2;
    end;
  end loop;
end
$$;
comment on function filestore.search_words is
  'The words of a file for full-text search: those of its path, which weigh most, and those of its text.';
call filestore.grant_execute('filestore.search_words', 'filestore_search');

create function public.filestore_search_claim(
  p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer, p_model text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_claim_id constant uuid := gen_random_uuid();
  v_project_ids uuid[];
  v_file_ids uuid[];
  v_claimed jsonb;
  v_next_due bigint;
  v_debounce constant interval := (filestore.limits()).reindex_debounce_milliseconds * interval '1 millisecond';
  v_debounce_per_byte constant interval :=
    (filestore.limits()).reindex_debounce_microseconds_per_byte * interval '1 microsecond';
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  with due as (
    select q.project_id, q.file_id, q.bytes, q.due_at,
           case when p_stage = 1 and q.bytes <= p_bytes
             then greatest(t.indexed_at, q.claimed_at) + v_debounce + q.bytes * v_debounce_per_byte end as eligible_at
    from filestore.search_queue q
    left join filestore.search_texts t on t.project_id = q.project_id and t.file_id = q.file_id
    where q.stage = p_stage and q.due_at <= clock_timestamp()
    order by q.due_at limit p_files for update of q skip locked
  ), deferred as (
    update filestore.search_queue q set due_at = d.eligible_at, claim_id = null
    from due d
    where q.project_id = d.project_id and q.file_id = d.file_id and d.eligible_at > clock_timestamp()
  ), taken as (
    -- The first one always, and others while they fit. Files that are too large to be indexed count as 0 bytes.
    select d.project_id, d.file_id,
           sum(case when d.bytes > p_bytes then 0 else d.bytes end) over in_order <= p_bytes as fits,
           row_number() over in_order = 1 as is_first
    from due d
    where d.eligible_at is null or d.eligible_at <= clock_timestamp()
    window in_order as (order by d.due_at, d.file_id)
  ), claimed as (
    update filestore.search_queue q
    -- Each attempt that is not finished doubles the wait for the next one.
    set claim_id = v_claim_id, claimed_at = clock_timestamp(), attempts = q.attempts + 1,
        due_at = clock_timestamp() + p_lease_seconds * power(2, least(q.attempts, 10)) * interval '1 second'
    from taken t
    where q.project_id = t.project_id and q.file_id = t.file_id and (t.fits or t.is_first)
    returning q.project_id, q.file_id
  )
  select array_agg(c.project_id), array_agg(c.file_id) into v_project_ids, v_file_ids from claimed c;
  -- A separate statement, for a new snapshot: the rows locked above may be newer than the snapshot of their statement,
  -- and files read in it would be older. No commit can come in between: it would wait for the queue's row.
  select jsonb_agg(jsonb_build_object(
    'projectId', c.project_id, 'fileId', c.file_id, 'version', c.version, 'path', f.path, 'mimeType', f.mime_type,
    'size', f.size, 'isDeleted', f.is_deleted,
    'segments', case when p_stage = 1 and not f.is_deleted and f.size <= p_bytes
      then filestore.segment_list(c.project_id, f.segment_ids) else '[]'::jsonb end,
    'chunks', case when p_stage = 2 then (
      select coalesce(jsonb_agg(
        jsonb_build_object('hash', k.hash, 'text', substr(t.content, k.start + 1, k.length))), '[]')
      from (
        select k.hash, k.start, k.length from filestore.search_chunks k
        where k.project_id = c.project_id and k.file_id = c.file_id and k.version = c.version
          and k.model is distinct from p_model
        order by k.start limit p_chunks
      ) k join filestore.search_texts t on t.project_id = c.project_id and t.file_id = c.file_id
    ) else '[]'::jsonb end))
  into v_claimed
  from unnest(v_project_ids, v_file_ids) i (project_id, file_id)
  join filestore.search_queue c on c.project_id = i.project_id and c.file_id = i.file_id
  join filestore.files f on f.project_id = c.project_id and f.id = c.file_id;
  select greatest(extract(epoch from q.due_at - clock_timestamp()) * 1000, 0)::bigint into v_next_due
  from filestore.search_queue q where q.stage = p_stage and q.claim_id is null order by q.due_at limit 1;
  return jsonb_build_object(
    'claimId', v_claim_id, 'files', coalesce(v_claimed, '[]'), 'nextDueMilliseconds', v_next_due);
end
$$;
comment on function public.filestore_search_claim is
  'Claims files from the queue for a while, at most so many files and so many bytes of text: stage 1 with the '
  'segments of their text, stage 2 with chunks that p_model has not embedded. A file that is not finished by then is '
  'claimed again. A file is indexed again at the earliest 1 second and 8 microseconds per byte (9.4 s for 1 MiB) '
  'after the last time. Also returns when the next file is due.';
call filestore.publish('public.filestore_search_claim', 'filestore_search', 'service_role');

create function filestore.search_store_text(p_text jsonb, p_model text) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  -- In characters. Postgres finds a character by counting from the first one, so chunks are cut out of parts of the
  -- text; cut out of the whole text, the chunks of 1 MB took 3 s.
  c_part constant integer := 20000;
  v_project_id constant uuid := p_text ->> 'projectId';
  v_file_id constant uuid := p_text ->> 'fileId';
  v_version constant integer := p_text ->> 'version';
  v_content constant text := coalesce(p_text ->> 'content', p_text ->> 'path');
begin
  if (p_text ->> 'isDeleted')::boolean then
    delete from filestore.search_texts t
    where t.project_id = v_project_id and t.file_id = v_file_id and t.version < v_version;
    return true;
  end if;
  insert into filestore.search_texts as t (
    project_id, file_id, version, path, mime_type, skipped, content, bytes, words, indexed_at)
  values (
    v_project_id, v_file_id, v_version, p_text ->> 'path', p_text ->> 'mimeType', p_text ->> 'skipped', v_content,
    octet_length(v_content), filestore.search_words(p_text ->> 'path', coalesce(p_text ->> 'content', '')),
    clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped,
        content = excluded.content, bytes = excluded.bytes, words = excluded.words,
        indexed_at = excluded.indexed_at, model = null
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
  -- A chunk that occurs twice in a text is embedded once.
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
  if p_model is null then return true; end if;
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
comment on function filestore.search_store_text is
  'Stores the text and chunks of one file in place of those of an older version. False where p_model has not embedded '
  'some of the chunks.';
call filestore.grant_execute('filestore.search_store_text', 'filestore_search');

create function public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text default null) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_text jsonb;
  v_project_id uuid;
  v_file_id uuid;
  v_version integer;
  v_done jsonb := '[]';
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  for v_text in select t.value from jsonb_array_elements(p_texts) t order by t.value ->> 'fileId' loop
    v_project_id := v_text ->> 'projectId';
    v_file_id := v_text ->> 'fileId';
    v_version := v_text ->> 'version';
    -- The claim has expired or there is a newer version: another claim has the work now.
    continue when not exists (
      select from filestore.search_queue q
      where q.project_id = v_project_id and q.file_id = v_file_id and q.version = v_version
        and q.claim_id = p_claim_id);
    v_done := v_done || jsonb_build_object(
      'project_id', v_project_id, 'file_id', v_file_id, 'version', v_version,
      'is_embedded', filestore.search_store_text(v_text, p_model));
  end loop;
  -- The queue's rows come last and together, so that no commit waits for the texts. A locked row is skipped: the commit
  -- that holds it is adding a newer version, which ends the claim.
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
comment on function public.filestore_search_store is
  'Stores the text and chunks of claimed files in place of those of an older version; with p_model, files with chunks '
  'that it has not embedded go on to stage 2. Returns how many claims were still valid.';
call filestore.publish('public.filestore_search_store', 'filestore_search', 'service_role');

create function public.filestore_search_store_embeddings(
  p_claim_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb
) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_left integer;
  v_version integer;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  select q.version into v_version from filestore.search_queue q
  where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  if not found then return null; end if;
  -- An embedding belongs to a text and not to a version, so one that comes late is still right.
  update filestore.search_chunks k
  set model = p_model, embedding = array(
    select v.value::real from jsonb_array_elements_text(e.value -> 'embedding') with ordinality v order by v.ordinality)
  from jsonb_array_elements(p_embeddings) e
  where k.project_id = p_project_id and k.file_id = p_file_id and k.hash = (e.value ->> 'hash')::uuid;
  select count(*) into v_left from filestore.search_chunks k
  where k.project_id = p_project_id and k.file_id = p_file_id and k.model is distinct from p_model;
  if v_left = 0 then
    update filestore.search_texts t set model = p_model
    where t.project_id = p_project_id and t.file_id = p_file_id and t.version = v_version;
    delete from filestore.search_queue q
    where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  else
    update filestore.search_queue q set due_at = clock_timestamp(), claim_id = null, attempts = 0
    where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  end if;
  return v_left;
end
$$;
comment on function public.filestore_search_store_embeddings is
  'Stores embeddings of a claimed file''s chunks and releases the claim. Returns how many chunks are left, null where '
  'the claim was not valid.';
call filestore.publish('public.filestore_search_store_embeddings', 'filestore_search', 'service_role');

create function public.filestore_search_requeue(p_model text, p_files integer) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_count integer;
begin
  insert into filestore.search_queue (project_id, file_id, version, path, bytes, stage, due_at)
  select t.project_id, t.file_id, t.version, t.path, t.bytes, 2, clock_timestamp()
  from filestore.search_texts t
  where t.skipped is null and (t.model is null or t.model < p_model or t.model > p_model)
    and exists (select from filestore.search_chunks k where k.project_id = t.project_id and k.file_id = t.file_id)
    and not exists (select from filestore.search_queue q where q.project_id = t.project_id and q.file_id = t.file_id)
  limit p_files
  on conflict do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function public.filestore_search_requeue is
  'Queues files whose chunks another embedding model has processed, or none: after embeddings were configured or '
  'changed.';
call filestore.publish('public.filestore_search_requeue', 'filestore_search', 'service_role');
