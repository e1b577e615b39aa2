-- Purpose: what the search index costs follows what changes. A text is indexed as a whole, so one that grows by steady
-- appends would be indexed over and over. It rests before it is indexed again, the longer the larger it is.
-- And a claim never gives out a version with the segments of the one before it.
-- Needs: 20261120000600_search.sql.

alter table filestore.search_texts add column indexed_at timestamptz not null default '-infinity';
alter table filestore.search_queue add column claimed_at timestamptz;
comment on column filestore.search_queue.claimed_at is 'When its text was last claimed: whoever had it may have lost it to a newer version.';

create or replace function filestore.queue_for_search() returns trigger
language plpgsql volatile set search_path = ''
as $$
begin
  insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at)
  values (new.project_id, new.id, new.version, new.path, new.size, clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, bytes = excluded.bytes, stage = 1, attempts = 0, claim_id = null,
        -- Nobody has claimed it: it is due at once, or rests.
        due_at = case when q.claim_id is null then greatest(q.due_at, excluded.due_at) else excluded.due_at end;
  return null;
end
$$;

create or replace function public.filestore_search_claim(
  p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer, p_model text default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_claim_id constant uuid := gen_random_uuid();
  v_project_ids uuid[];
  v_file_ids uuid[];
  v_claimed jsonb;
  v_next_due bigint;
begin
  perform set_config('lock_timeout', '2s', true);
  with due as (
    select q.project_id, q.file_id, q.bytes, q.due_at,
           case when p_stage = 1 and q.bytes <= p_bytes
             then greatest(t.indexed_at, q.claimed_at) + interval '1 second' + q.bytes * interval '8 microseconds' end as rests_until
    from filestore.search_queue q
    left join filestore.search_texts t on t.project_id = q.project_id and t.file_id = q.file_id
    where q.stage = p_stage and q.due_at <= clock_timestamp()
    order by q.due_at limit p_files for update of q skip locked
  ), resting as (
    update filestore.search_queue q set due_at = d.rests_until, claim_id = null
    from due d
    where q.project_id = d.project_id and q.file_id = d.file_id and d.rests_until > clock_timestamp()
  ), taken as (
    -- The first one in any case, and others while they fit. What is not indexed weighs nothing.
    select d.project_id, d.file_id, sum(case when d.bytes > p_bytes then 0 else d.bytes end)
      over (order by d.due_at, d.file_id) <= p_bytes as fits, row_number() over (order by d.due_at, d.file_id) = 1 as is_first
    from due d
    where d.rests_until is null or d.rests_until <= clock_timestamp()
  ), claimed as (
    update filestore.search_queue q
    -- Each attempt that nobody finishes doubles the wait for the next one.
    set claim_id = v_claim_id, claimed_at = clock_timestamp(), attempts = q.attempts + 1,
        due_at = clock_timestamp() + p_lease_seconds * power(2, least(q.attempts, 10)) * interval '1 second'
    from taken t
    where q.project_id = t.project_id and q.file_id = t.file_id and (t.fits or t.is_first)
    returning q.project_id, q.file_id
  )
  select array_agg(c.project_id), array_agg(c.file_id) into v_project_ids, v_file_ids from claimed c;
  -- A statement of its own, with a snapshot of its own: the rows above may be newer than the statement that locked them,
  -- and the files beside them would be older. No commit comes in between, since it would wait for the queue's row.
  select jsonb_agg(jsonb_build_object(
    'projectId', c.project_id, 'fileId', c.file_id, 'version', c.version, 'path', f.path, 'mimeType', f.mime_type, 'size', f.size,
    'isDeleted', f.is_deleted,
    'segments', case when p_stage = 1 and not f.is_deleted and f.size <= p_bytes
      then filestore.segment_list(c.project_id, f.segment_ids) else '[]'::jsonb end,
    'chunks', case when p_stage = 2 then (
      select coalesce(jsonb_agg(jsonb_build_object('hash', k.hash, 'text', substr(t.content, k.start + 1, k.length))), '[]')
      from (
        select k.hash, k.start, k.length from filestore.search_chunks k
        where k.project_id = c.project_id and k.file_id = c.file_id and k.version = c.version and k.model is distinct from p_model
        order by k.start limit p_chunks
      ) k join filestore.search_texts t on t.project_id = c.project_id and t.file_id = c.file_id
    ) else '[]'::jsonb end))
  into v_claimed
  from unnest(v_project_ids, v_file_ids) i (project_id, file_id)
  join filestore.search_queue c on c.project_id = i.project_id and c.file_id = i.file_id
  join filestore.files f on f.project_id = c.project_id and f.id = c.file_id;
  select greatest(extract(epoch from q.due_at - clock_timestamp()) * 1000, 0)::bigint into v_next_due
  from filestore.search_queue q where q.stage = p_stage and q.claim_id is null order by q.due_at limit 1;
  return jsonb_build_object('claimId', v_claim_id, 'files', coalesce(v_claimed, '[]'), 'nextDueMilliseconds', v_next_due);
end
$$;
comment on function public.filestore_search_claim(integer, integer, bigint, integer, integer, text) is 'Takes files from the queue for a while, at most so many and, of text, so many bytes: stage 1 with the segments of their text, stage 2 with chunks that p_model has not seen. What is not finished by then is taken again. A text rests 1 second and 8 microseconds a byte (9.4 s for 1 MiB) before it is claimed once more. Also answers when the next one is due.';

create or replace function public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text default null) returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
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
      insert into filestore.search_chunks as k (project_id, file_id, hash, version, first_line, start, length)
      -- What occurs twice in a text is embedded once.
      select distinct on (c.hash) v_project_id, v_file_id, c.hash, v_version, c.first_line, c.start, c.length
      from (
        select (c.value ->> 0)::integer as first_line, (c.value ->> 1)::integer as start, (c.value ->> 2)::integer as length,
               md5(substr(v_content, (c.value ->> 1)::integer + 1, (c.value ->> 2)::integer))::uuid as hash
        from jsonb_array_elements(v_text -> 'chunks') c
      ) c
      order by c.hash, c.start
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

-- A text may have been indexed so before, which its row does not show: all are taken for those of an older version, and
-- indexed once more. Embeddings are kept, by the hash of what they are of.
update filestore.search_texts set version = 0;
update filestore.search_chunks set version = 0;
insert into filestore.search_queue (project_id, file_id, version, path, bytes, due_at)
select f.project_id, f.id, f.version, f.path, f.size, clock_timestamp() from filestore.files f where not f.is_deleted
on conflict (project_id, file_id) do update set version = excluded.version, bytes = excluded.bytes, stage = 1, attempts = 0, claim_id = null, due_at = excluded.due_at;
