-- The search index: text of one version of each file. A search shows it only while that version is the current one.
--
-- A trigger queues each new version, in the transaction of its commit. The edge function leases files from
-- the queue, reads their bytes, and stores text and chunks, and later the embeddings of the chunks.

create function filestore.search_split(p_text text) returns text
language plpgsql immutable set search_path = ''
as $$ begin return translate(p_text, '<&~/.@_+-ȺȾ', ',,,,,,,,,ⱥⱦ'); end $$;
comment on function filestore.search_split is
  'The text with a comma for each character at which Postgres''s parser of text search looks ahead: for '
  'hosts, addresses, paths, numbers, hyphens and tags. From each of them it may read to the end of the text, '
  'which takes quadratic time. Texts and queries are split alike. The two letters whose lower case is longer '
  'in UTF-8 are converted to lower case here: Postgres measures a word before the conversion, stores it '
  'after, and crashes where the word then has more than 2,047 bytes.';
call filestore.grant_execute('filestore.search_split', 'filestore_engine', 'filestore_search');

create function filestore.search_camel_split(p_text text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return regexp_replace(
    regexp_replace(p_text, '([a-z0-9])([A-Z])', '\1,\2', 'g'), '([A-Z])([A-Z][a-z])', '\1,\2', 'g');
end
$$;
comment on function filestore.search_camel_split is
  'The text with a comma between the parts of words such as rateLimit and HTTPServer.';
call filestore.grant_execute('filestore.search_camel_split', 'filestore_engine', 'filestore_search');

create function filestore.search_path_words(p_path text) returns tsvector
language plpgsql stable set search_path = '' as $$
declare
  -- Only the last words of a longer path are indexed.
  c_words_max constant integer := 48;
  -- `src/rateLimit.ts` is found by rate, limit, rateLimit, src and ts, and by consecutive parts.
  v_split constant text := filestore.search_camel_split(p_path);
  v_lists text[] := array[v_split];
  v_list text;
  v_words text[];
  v_found tsvector := '';
begin
  if v_split <> p_path then v_lists := v_lists || p_path; end if;
  foreach v_list in array v_lists loop
    v_words := regexp_split_to_array(v_list, '[^[:alnum:]]+');
    v_words := v_words[greatest(cardinality(v_words) - c_words_max + 1, 1) :];
    v_found := v_found || to_tsvector('pg_catalog.english', array_to_string(v_words, ' '));
  end loop;
  return setweight(
    v_found || coalesce(to_tsvector('pg_catalog.simple', (
      select string_agg(w.word, ' ') from unnest(v_words) w (word)
      where to_tsvector('pg_catalog.english', w.word) = '')), ''), 'A');
end
$$;
comment on function filestore.search_path_words is
  'The words of a path for full-text search, with the highest weight, unstemmed: including stop words and '
  'the parts of words in camel case.';
call filestore.grant_execute('filestore.search_path_words', 'filestore_search');

create function filestore.search_content_words(p_content text, out words tsvector, out is_cut boolean)
language plpgsql stable set search_path = '' as $$
declare
  v_content constant text := filestore.search_split(p_content);
  -- Prose and code have fewer distinct words.
  c_words_max constant integer := 600 + octet_length(p_content) / 32;
  v_length integer := length(v_content);
begin
  is_cut := false;
  loop
    begin
      words := setweight(to_tsvector('pg_catalog.english', left(v_content, v_length)), 'D');
      exit when length(words) <= c_words_max;
      is_cut := true;
      v_length := least(v_length::bigint * c_words_max / length(words), v_length * 3 / 4);
    exception when program_limit_exceeded then
      -- A tsvector holds 1 MB of distinct words.
      is_cut := true;
      v_length := v_length / 2;
    end;
  end loop;
end
$$;
comment on function filestore.search_content_words is
  'The words of a text for full-text search. A word that is new to the index takes some 80 bytes, so only '
  'the beginning is indexed of a text with more distinct words than prose or code has; then `is_cut` is '
  'true.';
call filestore.grant_execute('filestore.search_content_words', 'filestore_search');

create function filestore.search_content_hash(p_content text) returns bytea
language plpgsql immutable set search_path = '' as $$
begin
  return case when octet_length(p_content) > (filestore.limits()).search_shared_bytes_min
    then sha256(convert_to(p_content, 'UTF8')) end;
end
$$;
comment on function filestore.search_content_hash is
  'The hash by which files share a content; null where it is so short that each file''s row contains it.';
call filestore.grant_execute('filestore.search_content_hash', 'filestore_search');

create function filestore.search_lock_content(p_project_id uuid, p_hash bytea) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('content/' || p_project_id || '/' || encode(p_hash, 'hex'), 0));
end
$$;
comment on function filestore.search_lock_content is
  'Takes the lock for assigning a content to a file, or for removing it from one. Several locks are taken in '
  'the order of project and hash.';
call filestore.grant_execute('filestore.search_lock_content', 'filestore_search');

create function filestore.search_release_content() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  -- The next statement sees files to which other transactions have assigned the content.
  perform filestore.search_lock_content(old.project_id, old.content_hash);
  delete from filestore.search_contents c
  where c.project_id = old.project_id and c.hash = old.content_hash
    and not exists (
      select from filestore.search_texts t
      where t.project_id = old.project_id and t.content_hash = old.content_hash);
  return null;
end
$$;
comment on function filestore.search_release_content is 'Deletes a content that no file uses any more.';
call filestore.publish('filestore.search_release_content', 'filestore_search', 'filestore_search');
create trigger release_content_on_delete after delete on filestore.search_texts
  for each row when (old.content_hash is not null) execute function filestore.search_release_content();
create trigger release_content_on_update after update of content_hash on filestore.search_texts
  for each row when (old.content_hash is not null and old.content_hash is distinct from new.content_hash)
  execute function filestore.search_release_content();

create function filestore.search_take(
  p_lease_id uuid, p_stage integer, p_files integer, p_bytes bigint, p_lease_seconds integer, p_due timestamptz
) returns table (project_id uuid, file_id uuid)
language plpgsql volatile set search_path = '' as $$
declare
  c_files_of_one_project constant integer := 25;
  -- The number of projects that are examined from each of two starting places.
  c_looks constant integer := 200;
begin
  return query
  with recursive looks as (
    -- One probe of the index for each project, whatever the number of its waiting files: projects from a
    -- random place on, so that none waits for long, and from the first one.
    select n.* from (values (gen_random_uuid()), ('00000000-0000-0000-0000-000000000000')) s (start)
    cross join lateral (
      select q.project_id, q.due_at, 1 as number from filestore.search_queue q
      where q.stage = p_stage and q.project_id > s.start order by q.project_id, q.due_at limit 1) n
    union all
    select n.* from looks l cross join lateral (
      select q.project_id, q.due_at, l.number + 1 from filestore.search_queue q
      where q.stage = p_stage and q.project_id > l.project_id order by q.project_id, q.due_at limit 1) n
    where l.number < c_looks
  ), due as materialized (
    select q.*, p.place
    from (
      select w.project_id as id, row_number() over () as place, count(*) over () as projects
      from (
        select l.project_id from looks l where l.due_at <= p_due group by l.project_id
        order by random() limit p_files
      ) w
    ) p
    cross join lateral (
      -- A text that is too large to be indexed is not read, so it counts no bytes.
      select q.project_id, q.file_id, q.due_at, q.attempts,
             case when q.bytes <= (filestore.limits()).search_text_bytes_max then q.bytes else 0 end as bytes
      from filestore.search_queue q
      where q.stage = p_stage and q.project_id = p.id and q.due_at <= p_due
      order by q.due_at limit least(c_files_of_one_project, p_files / p.projects)
      for update of q skip locked
    ) q
  ), ordered as (
    select d.*, row_number() over w = 1 as is_first, first_value(d.attempts) over w > 0 as is_retry,
           sum(d.bytes) over (order by d.bytes, d.place, d.due_at, d.file_id) as bytes_so_far
    from due d window w as (order by d.place, d.due_at, d.file_id)
  )
  update filestore.search_queue q
  set lease_id = p_lease_id, attempts = q.attempts + 1,
      due_at = clock_timestamp() + p_lease_seconds * power(2, least(q.attempts, 10)) * interval '1 second'
  from ordered o
  where q.project_id = o.project_id and q.file_id = o.file_id
    and (o.is_first or not o.is_retry and o.attempts = 0 and o.bytes_so_far <= p_bytes)
  returning q.project_id, q.file_id;
end
$$;
comment on function filestore.search_take is
  'Leases files that are due: equal numbers for each project, at most 25 for one. The first file may have '
  'any size; others are taken while all together have at most p_bytes, small files first. A file that was '
  'tried before is taken alone, since it may end the isolate. After the lease a file is due again; each '
  'lease is twice as long as the one before.';
call filestore.grant_execute('filestore.search_take', 'filestore_search');

create function public.filestore_search_lease(
  p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer,
  p_model text default null, p_begun timestamptz default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
-- fence: the queue is usually empty, and a plan from such a time would read all of it when it is long.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  v_lease_id constant uuid := gen_random_uuid();
  v_project_ids uuid[];
  v_file_ids uuid[];
  v_files jsonb;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  select array_agg(t.project_id), array_agg(t.file_id) into v_project_ids, v_file_ids
  from filestore.search_take(
    v_lease_id, p_stage, p_files, p_bytes, p_lease_seconds,
    -- A client's clock may drop fractions of a millisecond.
    least(clock_timestamp(), p_begun + interval '1 millisecond')) t;
  -- A separate statement, for a new snapshot: the rows locked above may be newer than the snapshot of their
  -- statement, and files read in it would be older. No commit can intervene: it would wait for the row of the
  -- queue.
  select jsonb_agg(jsonb_build_object(
    'projectId', q.project_id, 'fileId', q.file_id, 'version', q.version, 'path', f.path, 'mimeType', f.mime_type,
    'size', f.size, 'isDeleted', f.is_deleted, 'tries', q.attempts,
    'segments', case when p_stage = 1 and not f.is_deleted and f.size <= (filestore.limits()).search_text_bytes_max
      then filestore.segment_list(q.project_id, f.segment_ids) else '[]'::jsonb end,
    'chunks', (
      -- The first chunks that p_model has not embedded.
      select coalesce(jsonb_agg(jsonb_build_object(
        'hash', k.hash, 'text', substr(coalesce(t.content, c.content), k.start + 1, k.length))), '[]')
      from (
        select k.hash, k.start, k.length from filestore.search_chunks k
        where p_stage = 2 and k.project_id = q.project_id and k.file_id = q.file_id and k.version = q.version
          and k.model is distinct from p_model
        order by k.start limit greatest(p_chunks / cardinality(v_file_ids), 1)
      ) k
      join filestore.search_texts t on t.project_id = q.project_id and t.file_id = q.file_id
      left join filestore.search_contents c on c.project_id = q.project_id and c.hash = t.content_hash)))
  into v_files
  from unnest(v_project_ids, v_file_ids) i (project_id, file_id)
  join filestore.search_queue q on q.project_id = i.project_id and q.file_id = i.file_id
  join filestore.files f on f.project_id = q.project_id and f.id = q.file_id;
  return jsonb_build_object(
    'leaseId', v_lease_id, 'files', coalesce(v_files, '[]'), 'nextDueMilliseconds', (
      select greatest(extract(epoch from q.due_at - clock_timestamp()) * 1000, 0)::bigint
      from filestore.search_queue q where q.stage = p_stage order by q.due_at limit 1));
end
$$;
comment on function public.filestore_search_lease is
  'Leases files that are due: stage 1 with the segments of their text, stage 2 with p_chunks chunks that '
  'p_model has not embedded. With p_begun, only files that were due by then, so that a sweep ends even while '
  'clients write. Also returns when the next file is due.';
call filestore.publish('public.filestore_search_lease', 'filestore_search', 'service_role');

create function public.filestore_search_fail(p_lease_id uuid, p_files jsonb) returns integer
language sql volatile security definer set search_path = '' as $$
  select set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  with failed as (
    update filestore.search_queue q
    set lease_id = case when f.is_fault then null else q.lease_id end,
        attempts = q.attempts - case when f.is_fault then 0 else 1 end,
        due_at = case when f.is_fault
          then clock_timestamp() + 2 * power(2, q.attempts - 1) * interval '1 second' else q.due_at end
    from jsonb_to_recordset(p_files) f (project_id uuid, file_id uuid, is_fault boolean)
    where q.project_id = f.project_id and q.file_id = f.file_id and q.lease_id = p_lease_id
    returning 1
  )
  select count(*)::integer from failed
$$;
comment on function public.filestore_search_fail is
  'Records which leased files could not be indexed. If the file is at fault, it is due again soon, later '
  'after each failure. If a service was out of reach, the attempt does not count, and the file is due again '
  'after its lease. Returns how many leases were still valid.';
call filestore.publish('public.filestore_search_fail', 'filestore_search', 'service_role');

create function filestore.search_store_chunks(
  p_project_id uuid, p_file_id uuid, p_version integer, p_content text, p_chunks jsonb
) returns void
language plpgsql volatile set search_path = '' as $$
declare
  -- In characters. Postgres finds a character by counting from the first one, so chunks are cut out of parts of the
  -- text; cut out of the whole text, the chunks of 1 MB took 3 s.
  c_part constant integer := 20000;
begin
  with chunks as materialized (
    select (c.value ->> 0)::integer as first_line, (c.value ->> 1)::integer as start, (c.value ->> 2)::integer as length
    from jsonb_array_elements(p_chunks) c
  ), parts as materialized (
    select n.number, substr(p_content, n.number * c_part + 1, c_part + m.longest) as content
    from (select max(c.start) as last_start, max(c.length) as longest from chunks c) m
    cross join lateral generate_series(0, m.last_start / c_part) as n (number)
  )
  insert into filestore.search_chunks as k (project_id, file_id, hash, version, first_line, start, length)
  -- A chunk that occurs twice in a text is embedded once.
  select distinct on (h.hash) p_project_id, p_file_id, h.hash, p_version, h.first_line, h.start, h.length
  from (
    select c.first_line, c.start, c.length, md5(substr(p.content, c.start % c_part + 1, c.length))::uuid as hash
    from chunks c join parts p on p.number = c.start / c_part
  ) h
  order by h.hash, h.start
  on conflict (project_id, file_id, hash) do update
    set version = excluded.version, first_line = excluded.first_line, start = excluded.start, length = excluded.length
    where k.version < excluded.version;
  delete from filestore.search_chunks k
  where k.project_id = p_project_id and k.file_id = p_file_id and k.version < p_version;
end
$$;
comment on function filestore.search_store_chunks is
  'Stores the chunks of a text, [first line, start, length] each, replacing those of an older version.';
call filestore.grant_execute('filestore.search_store_chunks', 'filestore_search');

create function filestore.search_store_text(p_text jsonb, p_model text) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_project_id constant uuid := p_text ->> 'projectId';
  v_file_id constant uuid := p_text ->> 'fileId';
  v_version constant integer := p_text ->> 'version';
  v_content constant text := coalesce(p_text ->> 'content', p_text ->> 'path');
  v_hash constant bytea := filestore.search_content_hash(v_content);
  v_words tsvector := filestore.search_path_words(p_text ->> 'path');
  v_found record;
begin
  if (p_text ->> 'isDeleted')::boolean then
    delete from filestore.search_texts t
    where t.project_id = v_project_id and t.file_id = v_file_id and t.version < v_version;
    return true;
  end if;
  if v_hash is null then
    v_found := filestore.search_content_words(coalesce(p_text ->> 'content', ''));
    v_words := v_words || v_found.words;
  else
    select c.is_cut into v_found from filestore.search_contents c
    where c.project_id = v_project_id and c.hash = v_hash;
    if not found then
      v_found := filestore.search_content_words(v_content);
      insert into filestore.search_contents (project_id, hash, content, words, is_cut)
      values (v_project_id, v_hash, v_content, v_found.words, v_found.is_cut);
    end if;
  end if;
  insert into filestore.search_texts as t (
    project_id, file_id, version, path, mime_type, skipped, content, content_hash, bytes, json_bytes, words,
    is_cut, indexed_at)
  values (
    v_project_id, v_file_id, v_version, p_text ->> 'path', p_text ->> 'mimeType', p_text ->> 'skipped',
    case when v_hash is null then v_content end, v_hash, octet_length(v_content),
    octet_length(to_json(v_content)::text), v_words, v_found.is_cut, clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped,
        content = excluded.content, content_hash = excluded.content_hash, bytes = excluded.bytes,
        json_bytes = excluded.json_bytes, words = excluded.words, is_cut = excluded.is_cut,
        indexed_at = excluded.indexed_at, model = null
    where t.version < excluded.version or t.version = excluded.version and t.skipped = 'not_indexable';
  perform filestore.search_store_chunks(v_project_id, v_file_id, v_version, v_content, p_text -> 'chunks');
  if p_model is null then return true; end if;
  if exists (
    select from filestore.search_chunks k
    where k.project_id = v_project_id and k.file_id = v_file_id and k.model is distinct from p_model) then
    return false;
  end if;
  update filestore.search_texts t set model = p_model
  where t.project_id = v_project_id and t.file_id = v_file_id and t.version = v_version;
  return true;
end
$$;
comment on function filestore.search_store_text is
  'Stores the text and chunks of one file replacing those of an older version, with its contents locked. '
  'False where p_model has not embedded some of the chunks.';
call filestore.grant_execute('filestore.search_store_text', 'filestore_search');

create function public.filestore_search_store(p_lease_id uuid, p_texts jsonb, p_model text default null) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_text jsonb;
  v_project_id uuid;
  v_done jsonb := '[]';
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  -- Locks the contents that files gain or lose, in order, so that two transactions never wait for each other.
  perform filestore.search_lock_content(h.project_id, h.hash)
  from (
    select n.project_id, n.hash from (
      select (t.value ->> 'projectId')::uuid as project_id,
             filestore.search_content_hash(t.value ->> 'content') as hash
      from jsonb_array_elements(p_texts) t
    ) n where n.hash is not null
    union
    select t.project_id, t.content_hash
    from (
      select (e.value ->> 'projectId')::uuid as project_id, (e.value ->> 'fileId')::uuid as file_id
      from jsonb_array_elements(p_texts) e
    ) n
    -- fence: texts are looked up one by one by primary key.
    cross join lateral (
      select * from filestore.search_texts o
      where o.project_id = n.project_id and o.file_id = n.file_id and o.content_hash is not null offset 0
    ) t
    order by project_id, hash
  ) h;
  for v_text in select t.value from jsonb_array_elements(p_texts) t order by t.value ->> 'fileId' loop
    v_project_id := v_text ->> 'projectId';
    -- The lease has expired or there is a newer version: another lease covers the work now.
    continue when not exists (
      select from filestore.search_queue q
      where q.project_id = v_project_id and q.file_id = (v_text ->> 'fileId')::uuid
        and q.version = (v_text ->> 'version')::integer and q.lease_id = p_lease_id);
    v_done := v_done || jsonb_build_object(
      'project_id', v_text -> 'projectId', 'file_id', v_text -> 'fileId', 'version', v_text -> 'version',
      'is_embedded', filestore.search_store_text(v_text, p_model));
  end loop;
  -- A purge that is not visible here waits for these texts, and removes them itself.
  delete from filestore.search_texts t using jsonb_to_recordset(v_done) d (project_id uuid, file_id uuid)
  where t.project_id = d.project_id and t.file_id = d.file_id and exists (
    select from filestore.files f where f.project_id = d.project_id and f.id = d.file_id and f.path is null);
  -- The queue's rows are locked last, in one statement, so that no commit waits while texts are stored. A
  -- locked row is skipped: the commit that holds it is adding a newer version, which ends the lease.
  with held as (
    select q.project_id, q.file_id, d.is_embedded
    from jsonb_to_recordset(v_done) d (project_id uuid, file_id uuid, version integer, is_embedded boolean)
    join filestore.search_queue q on q.project_id = d.project_id and q.file_id = d.file_id and q.version = d.version
    where q.lease_id = p_lease_id
    for update of q skip locked
  ), finished as (
    delete from filestore.search_queue q using held h
    where h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id
  )
  -- Due since the file was written, so that a sweep that stored its text continues with its chunks.
  update filestore.search_queue q
  set stage = 2, due_at = least(f.updated_at, clock_timestamp()), attempts = 0, lease_id = null
  from held h join filestore.files f on f.project_id = h.project_id and f.id = h.file_id
  where not h.is_embedded and q.project_id = h.project_id and q.file_id = h.file_id;
  return jsonb_array_length(v_done);
end
$$;
comment on function public.filestore_search_store is
  'Stores the text and chunks of leased files, replacing those of an older version; with p_model, files with '
  'chunks that this model has not embedded enter stage 2. Returns how many leases were still valid.';
call filestore.publish('public.filestore_search_store', 'filestore_search', 'service_role');

create function public.filestore_search_store_embeddings(
  p_lease_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb
) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_left integer;
  v_version integer;
begin
  perform set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true);
  select q.version into v_version from filestore.search_queue q
  where q.project_id = p_project_id and q.file_id = p_file_id and q.lease_id = p_lease_id;
  if not found then return null; end if;
  -- An embedding belongs to a text and not to a version, so a late one is still right.
  update filestore.search_chunks k
  set model = p_model, embedding = nullif(array(
    select v.value::real
    from jsonb_array_elements_text(nullif(e.value -> 'embedding', 'null')) with ordinality v
    order by v.ordinality), '{}')
  from jsonb_array_elements(p_embeddings) e
  where k.project_id = p_project_id and k.file_id = p_file_id and k.hash = (e.value ->> 'hash')::uuid;
  select count(*) into v_left from filestore.search_chunks k
  where k.project_id = p_project_id and k.file_id = p_file_id and k.model is distinct from p_model;
  if v_left = 0 then
    update filestore.search_texts t set model = p_model
    where t.project_id = p_project_id and t.file_id = p_file_id and t.version = v_version;
    delete from filestore.search_queue q
    where q.project_id = p_project_id and q.file_id = p_file_id and q.lease_id = p_lease_id;
  else
    update filestore.search_queue q
    set due_at = least(f.updated_at, clock_timestamp()), lease_id = null, attempts = 0
    from filestore.files f
    where q.project_id = p_project_id and q.file_id = p_file_id and q.lease_id = p_lease_id
      and f.project_id = q.project_id and f.id = q.file_id;
  end if;
  return v_left;
end
$$;
comment on function public.filestore_search_store_embeddings is
  'Stores embeddings of a leased file''s chunks, empty ones for chunks that the model refuses, and ends the '
  'lease. Returns how many chunks are left; null if the lease was not valid.';
call filestore.publish('public.filestore_search_store_embeddings', 'filestore_search', 'service_role');

create function public.filestore_search_requeue(p_model text, p_files integer, p_given_up_seconds integer)
returns integer
language sql volatile security definer set search_path = '' as $$
  with queued as (
    insert into filestore.search_queue (project_id, file_id, version, path, bytes, stage, due_at)
    (select t.project_id, t.file_id, t.version, t.path, t.bytes,
            -- A text that was stored while no model was configured has no chunks yet.
            case when exists (
              select from filestore.search_chunks k where k.project_id = t.project_id and k.file_id = t.file_id
            ) then 2 else 1 end,
            t.indexed_at
     from filestore.search_texts t
     where p_model is not null and t.skipped is null and (t.model is null or t.model < p_model or t.model > p_model)
       and not exists (
         select from filestore.search_queue q where q.project_id = t.project_id and q.file_id = t.file_id)
     limit p_files)
    union all
    (select f.project_id, f.id, f.version, f.path, f.size, 1, t.indexed_at
     from filestore.search_texts t
     join filestore.files f on f.project_id = t.project_id and f.id = t.file_id and f.version = t.version
     where t.skipped = 'not_indexable' and t.indexed_at < clock_timestamp() - p_given_up_seconds * interval '1 second'
     limit p_files)
    on conflict do nothing returning 1
  )
  select count(*)::integer from queued
$$;
comment on function public.filestore_search_requeue is
  'Queues files whose chunks were embedded by another model or by none (after embeddings were configured or '
  'changed), and files whose indexing failed longer ago than the given time. Without a model, only the '
  'latter. Returns how many.';
call filestore.publish('public.filestore_search_requeue', 'filestore_search', 'service_role');
