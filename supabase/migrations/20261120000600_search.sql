-- Purpose: search over the current text of every file, by substring, pattern, words and meaning.
--
-- A trigger puts each new version into a queue, in the transaction of its commit. Whoever runs the service takes from the
-- queue (claim), reads the bytes, and stores text and chunks (store), later the chunks' embeddings (store_embeddings).
-- What is stored is text of one version; a search shows it only while that version is the file's current one.
--
-- Isolation. LIKE, @@ and <=> are not leakproof: under a row-level policy Postgres would read the whole table before them
-- and use no index. So candidates are found by a role that sees every project's rows of the search tables,
-- filestore_search, in functions that take a project id and answer ids. The operation then reads those ids again as
-- filestore_engine, under the policies of its project: what is not the project's own does not come back.

do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'filestore_search') then
    create role filestore_search nologin noinherit;
  end if;
  execute format('grant filestore_search to %I', current_user);
end
$$;
comment on role filestore_search is 'Keeps the search index and finds candidates in it, of every project: subject to row-level security, owner of no table.';
grant usage on schema filestore to filestore_search;

-- ---------------------------------------------------------------------------------------------------------------
-- Extensions: each where the server has it. Without pg_trgm or btree_gin a search reads more; without vector there is no
-- search by meaning.

create schema if not exists extensions;
do $$
declare
  v_name text;
begin
  foreach v_name in array array['pg_trgm', 'btree_gin', 'vector'] loop
    if exists (select from pg_catalog.pg_available_extensions a where a.name = v_name and a.installed_version is null) then
      begin
        execute format('create extension %I with schema extensions', v_name);
      exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
        raise notice 'search goes without the extension %', v_name;
      end;
    end if;
  end loop;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------
-- Tables

create table filestore.search_queue (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  bytes bigint not null,
  -- 1: its text is to be stored. 2: that is done, and chunks are to be embedded.
  stage smallint not null default 1 check (stage in (1, 2)),
  -- When it may be taken: at once, and after a claim when the claim has run out.
  due_at timestamptz not null,
  attempts integer not null default 0,
  claim_id uuid,
  primary key (project_id, file_id)
) with (fillfactor = 70);
comment on table filestore.search_queue is 'Files whose current version is not in the search index yet. One row a file, whatever number of versions it had meanwhile.';
create index search_queue_due on filestore.search_queue (stage, due_at);

create table filestore.search_texts (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  mime_type text not null,
  -- Why the content is not here; then the path stands for it, so that the file is found by its name.
  skipped text check (skipped in ('too_large', 'not_text')),
  content text not null,
  bytes integer not null,
  words tsvector not null,
  -- The embedding model that has seen all of its chunks.
  model text,
  primary key (project_id, file_id),
  unique (project_id, path),
  foreign key (project_id, file_id) references filestore.files (project_id, id)
);
comment on table filestore.search_texts is 'The text of a file at one version, at most 1 MB. U+FFFE stands for NUL, which text cannot hold.';
create index search_texts_by_model on filestore.search_texts (model) where skipped is null;

create table filestore.search_chunks (
  project_id uuid not null,
  file_id uuid not null,
  -- MD5 of the text: a chunk that stays the same from version to version keeps its embedding.
  hash uuid not null,
  version integer not null,
  first_line integer not null check (first_line > 0),
  -- In characters of the content, from 0.
  start integer not null check (start >= 0),
  length integer not null check (length > 0),
  model text,
  embedding real[] check (cardinality(embedding) = 384),
  primary key (project_id, file_id, hash),
  foreign key (project_id, file_id) references filestore.search_texts (project_id, file_id) on delete cascade
) with (fillfactor = 85);
comment on table filestore.search_chunks is 'Pieces of a text that are embedded one by one. The text itself stays in search_texts.';
alter table filestore.search_chunks alter column embedding set storage external;

-- Whatever part of an index its extension is missing for is left out of it.
do $$
declare
  v_trgm text := (select quote_ident(n.nspname) from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm');
  v_vector text := (select quote_ident(n.nspname) from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector');
  v_project text := (select 'project_id, ' from pg_catalog.pg_extension e where e.extname = 'btree_gin');
begin
  if v_trgm is not null then
    execute format('create index search_texts_by_trigram on filestore.search_texts using gin (%s content %s.gin_trgm_ops)', v_project, v_trgm);
  end if;
  execute format('create index search_texts_by_word on filestore.search_texts using gin (%s words)', v_project);
  if v_vector is not null then
    execute format('create index search_chunks_by_meaning on filestore.search_chunks '
      'using hnsw ((embedding::%1$s.vector(384)) %1$s.vector_cosine_ops) where embedding is not null', v_vector);
  end if;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------
-- Who sees which row

alter table filestore.search_queue enable row level security;
alter table filestore.search_texts enable row level security;
alter table filestore.search_chunks enable row level security;

create policy engine_select on filestore.search_queue for select to filestore_engine
  using (project_id = (select filestore.current_project_id()));
create policy engine_insert on filestore.search_queue for insert to filestore_engine
  with check (project_id = (select filestore.current_project_id()));
create policy engine_update on filestore.search_queue for update to filestore_engine
  using (project_id = (select filestore.current_project_id())) with check (project_id = (select filestore.current_project_id()));
create policy engine_select on filestore.search_texts for select to filestore_engine
  using (project_id = (select filestore.current_project_id()));
create policy engine_select on filestore.search_chunks for select to filestore_engine
  using (project_id = (select filestore.current_project_id()));
grant select, insert, update on filestore.search_queue to filestore_engine;
grant select on filestore.search_texts, filestore.search_chunks to filestore_engine;

-- The exception: this role is shown every project's rows. It belongs to nobody's session; only its functions below run as it.
do $$
declare
  v_table text;
begin
  foreach v_table in array array['search_queue', 'search_texts', 'search_chunks'] loop
    execute format('create policy search_select on filestore.%I for select to filestore_search using (true)', v_table);
    execute format('create policy search_insert on filestore.%I for insert to filestore_search with check (true)', v_table);
    execute format('create policy search_update on filestore.%I for update to filestore_search using (true) with check (true)', v_table);
    execute format('create policy search_delete on filestore.%I for delete to filestore_search using (true)', v_table);
    execute format('grant select, insert, update, delete on filestore.%I to filestore_search', v_table);
    execute format('revoke all on filestore.%I from public', v_table);
  end loop;
end
$$;
create policy search_select on filestore.files for select to filestore_search using (true);
create policy search_select on filestore.segments for select to filestore_search using (true);
grant select on filestore.files, filestore.segments to filestore_search;

-- ---------------------------------------------------------------------------------------------------------------
-- The queue follows every commit

create function filestore.queue_for_search() returns trigger
language plpgsql volatile set search_path = ''
as $$
begin
  insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at)
  values (new.project_id, new.id, new.version, new.path, new.size, clock_timestamp())
  on conflict (project_id, file_id) do update
    set version = excluded.version, bytes = excluded.bytes, stage = 1, due_at = excluded.due_at, attempts = 0, claim_id = null;
  return null;
end
$$;
comment on function filestore.queue_for_search() is 'Marks a file as not indexed at its new version. Whoever indexes an older one meanwhile has lost its claim.';

create trigger queue_for_search_on_insert after insert on filestore.files
  for each row execute function filestore.queue_for_search();
create trigger queue_for_search_on_update after update of version on filestore.files
  for each row when (old.version is distinct from new.version) execute function filestore.queue_for_search();

insert into filestore.search_queue (project_id, file_id, version, path, bytes, due_at)
select f.project_id, f.id, f.version, f.path, f.size, clock_timestamp() from filestore.files f where not f.is_deleted;

-- ---------------------------------------------------------------------------------------------------------------
-- Keeping the index

create function filestore.search_words(p_path text, p_content text) returns tsvector
language plpgsql stable set search_path = ''
as $$
declare
  v_length integer := length(p_content);
  -- `src/rateLimit.ts` is found by rate, limit, src and ts.
  v_path constant text := regexp_replace(regexp_replace(p_path, '([a-z0-9])([A-Z])', '\1 \2', 'g'), '[^[:alnum:]]+', ' ', 'g');
begin
  loop
    begin
      return setweight(to_tsvector('pg_catalog.english', v_path), 'A')
        || setweight(to_tsvector('pg_catalog.english', left(p_content, v_length)), 'D');
    exception when program_limit_exceeded then
      -- A tsvector holds 1 MB of different words: of a text with more of them the beginning is taken.
      v_length := v_length / 2;
    end;
  end loop;
end
$$;
comment on function filestore.search_words(text, text) is 'The words of a file for full-text search: of its path, which weigh most, and of its text.';

create function public.filestore_search_claim(
  p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer, p_model text default null
) returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_claim_id constant uuid := gen_random_uuid();
  v_claimed jsonb;
begin
  perform set_config('lock_timeout', '2s', true);
  with due as (
    select q.project_id, q.file_id, q.bytes, q.due_at from filestore.search_queue q
    where q.stage = p_stage and q.due_at <= clock_timestamp()
    order by q.due_at limit p_files for update skip locked
  ), taken as (
    -- The first one in any case, and others while they fit. What is not indexed weighs nothing.
    select d.project_id, d.file_id, sum(case when d.bytes > p_bytes then 0 else d.bytes end)
      over (order by d.due_at, d.file_id) <= p_bytes as fits, row_number() over (order by d.due_at, d.file_id) = 1 as is_first
    from due d
  ), claimed as (
    update filestore.search_queue q
    -- Each attempt that nobody finishes doubles the wait for the next one.
    set claim_id = v_claim_id, attempts = q.attempts + 1,
        due_at = clock_timestamp() + p_lease_seconds * power(2, least(q.attempts, 10)) * interval '1 second'
    from taken t
    where q.project_id = t.project_id and q.file_id = t.file_id and (t.fits or t.is_first)
    returning q.project_id, q.file_id, q.version, q.stage
  )
  select jsonb_agg(jsonb_build_object(
    'projectId', c.project_id, 'fileId', c.file_id, 'version', c.version, 'path', f.path, 'mimeType', f.mime_type, 'size', f.size,
    'isDeleted', f.is_deleted,
    'segments', case when c.stage = 1 and not f.is_deleted and f.size <= p_bytes
      then filestore.segment_list(c.project_id, f.segment_ids) else '[]'::jsonb end,
    'chunks', case when c.stage = 2 then (
      select coalesce(jsonb_agg(jsonb_build_object('hash', k.hash, 'text', substr(t.content, k.start + 1, k.length))), '[]')
      from (
        select k.hash, k.start, k.length from filestore.search_chunks k
        where k.project_id = c.project_id and k.file_id = c.file_id and k.version = c.version and k.model is distinct from p_model
        order by k.start limit p_chunks
      ) k join filestore.search_texts t on t.project_id = c.project_id and t.file_id = c.file_id
    ) else '[]'::jsonb end))
  into v_claimed
  from claimed c join filestore.files f on f.project_id = c.project_id and f.id = c.file_id;
  return jsonb_build_object('claimId', v_claim_id, 'files', coalesce(v_claimed, '[]'));
end
$$;
comment on function public.filestore_search_claim(integer, integer, bigint, integer, integer, text) is 'Takes files from the queue for a while, at most so many and, of text, so many bytes: stage 1 with the segments of their text, stage 2 with chunks that p_model has not seen. What is not finished by then is taken again.';

create function public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text default null) returns integer
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
      insert into filestore.search_texts as t (project_id, file_id, version, path, mime_type, skipped, content, bytes, words)
      values (v_project_id, v_file_id, v_version, v_text ->> 'path', v_text ->> 'mimeType', v_text ->> 'skipped', v_content,
        octet_length(v_content), filestore.search_words(v_text ->> 'path', coalesce(v_text ->> 'content', '')))
      on conflict (project_id, file_id) do update
        set version = excluded.version, mime_type = excluded.mime_type, skipped = excluded.skipped, content = excluded.content,
            bytes = excluded.bytes, words = excluded.words, model = null
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
comment on function public.filestore_search_store(uuid, jsonb, text) is 'Stores the text and chunks of claimed files in the place of what an older version had; with p_model, what that has not seen yet goes on to stage 2. Answers how many claims still held.';

create function public.filestore_search_store_embeddings(
  p_claim_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb
) returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_left integer;
  v_version integer;
begin
  perform set_config('lock_timeout', '2s', true);
  select q.version into v_version from filestore.search_queue q
  where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  if not found then
    return null;
  end if;
  -- An embedding belongs to a text, whatever version has it: one that came too late is right all the same.
  update filestore.search_chunks k
  set model = p_model, embedding = array(select v.value::real from jsonb_array_elements_text(e.value -> 'embedding') with ordinality v order by v.ordinality)
  from jsonb_array_elements(p_embeddings) e
  where k.project_id = p_project_id and k.file_id = p_file_id and k.hash = (e.value ->> 'hash')::uuid;
  select count(*) into v_left from filestore.search_chunks k
  where k.project_id = p_project_id and k.file_id = p_file_id and k.model is distinct from p_model;
  if v_left = 0 then
    update filestore.search_texts t set model = p_model
    where t.project_id = p_project_id and t.file_id = p_file_id and t.version = v_version;
    delete from filestore.search_queue q where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  else
    update filestore.search_queue q set due_at = clock_timestamp(), claim_id = null, attempts = 0
    where q.project_id = p_project_id and q.file_id = p_file_id and q.claim_id = p_claim_id;
  end if;
  return v_left;
end
$$;
comment on function public.filestore_search_store_embeddings(uuid, uuid, uuid, text, jsonb) is 'Stores embeddings of a claimed file''s chunks and hands the claim back. Answers how many chunks are left, null where the claim did not hold.';

create function public.filestore_search_requeue(p_model text, p_files integer) returns integer
language plpgsql volatile security definer set search_path = ''
as $$
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
comment on function public.filestore_search_requeue(text, integer) is 'Queues files that another embedding model has seen, or none: after embeddings were configured, or changed.';

-- ---------------------------------------------------------------------------------------------------------------
-- Candidates, found as filestore_search: ids and nothing that could be read.

create function filestore.search_filter(p_query jsonb) returns text
language sql stable
as $$
  select case when coalesce(p_query ->> 'directory', '') = '' then ''
      -- Everything below `directory/`: `0` is the character after `/`.
      else format(' and t.path >= %L and t.path < %L', (p_query ->> 'directory') || '/', (p_query ->> 'directory') || '0') end
    || coalesce(' and t.path > ' || quote_literal(p_query ->> 'after'), '')
    || coalesce(' and t.path ~ ' || quote_literal(p_query ->> 'glob'), '')
    || coalesce(' and t.mime_type = ' || quote_literal(p_query ->> 'contentType'), '')
$$;
comment on function filestore.search_filter(jsonb) is 'Conditions on search_texts t, with every value quoted. The glob comes as a regular expression made of nothing but [^/]*, [^/], .* and literals.';

create function filestore.search_scan(p_project_id uuid, p_query jsonb) returns setof uuid
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_clause jsonb;
  v_from constant text := ' from filestore.search_texts t where t.project_id = $1' || filestore.search_filter(p_query);
  v_likes text[];
  v_first text[];
  v_is_indexed boolean := false;
  v_others text := '';
  c_few_max constant integer := 1000;
  v_files constant integer := p_query ->> 'files';
  v_skip constant integer := p_query ->> 'skip';
  v_few uuid[];
  v_count bigint;
  v_like constant text := case when (p_query ->> 'caseSensitive')::boolean then 'like' else 'ilike' end;
begin
  -- Each clause is a list of literals, one of which a matching text holds. The first is the most telling one: `first` has a
  -- condition for each of its literals.
  for v_clause in select c.value from jsonb_array_elements(p_query -> 'clauses') c loop
    v_likes := array(
      select format('t.content %s %L', v_like, '%' || replace(replace(replace(l.literal, '\', '\\'), '%', '\%'), '_', '\_') || '%')
      from jsonb_array_elements_text(v_clause) l (literal));
    if v_first is null then
      v_first := v_likes;
      v_is_indexed := (select min(length(l.literal)) >= 3 from jsonb_array_elements_text(v_clause) l (literal));
    else
      v_others := v_others || ' and (' || array_to_string(v_likes, ' or ') || ')';
    end if;
  end loop;

  -- Few files match, as a rule: then they are found by the trigram index and sorted. The planner, who would rather walk along
  -- the paths until enough have matched, takes rare texts for common ones.
  if v_is_indexed then
    perform set_config('enable_indexscan', 'off', true), set_config('enable_seqscan', 'off', true);
    execute 'select array_agg(c.file_id order by c.path), count(*) from (' || (
      select string_agg('(select t.file_id, t.path' || v_from || ' and ' || l.condition || v_others || ' limit $2)', ' union ')
      from unnest(v_first) l (condition)) || ') c'
    into v_few, v_count using p_project_id, c_few_max + 1;
    perform set_config('enable_indexscan', 'on', true), set_config('enable_seqscan', 'on', true);
    if v_count <= c_few_max then
      return query select f.id from unnest(v_few) with ordinality f (id, place)
        where f.place > v_skip and f.place <= v_skip + v_files order by f.place;
      return;
    end if;
  end if;
  -- Many match, so a page of them is found soon.
  return query execute 'select t.file_id' || v_from || coalesce(' and (' || array_to_string(v_first, ' or ') || ')', '') || v_others
    || ' order by t.path limit $2 offset $3'
  using p_project_id, v_files, v_skip;
end
$$;
comment on function filestore.search_scan(uuid, jsonb) is 'Files of a project whose text may match, by path. Runs as filestore_search: whoever calls it reads the ids again under its own policies.';

-- By meaning: two ways to the same answer, both planned once, with names resolved here: whoever runs them need not be
-- able to enter the schema of the extension.
do $$
declare
  v_schema text := (select quote_ident(n.nspname) from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector');
  v_signature constant text := '(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text) '
    'returns table (file_id uuid, hash uuid, distance double precision) language sql stable ';
  v_query constant text := 'select c.file_id, c.hash, %1$s as distance '
    'from filestore.search_chunks c join filestore.search_texts t on t.project_id = c.project_id and t.file_id = c.file_id and t.version = c.version '
    'where c.project_id = p_project_id and t.project_id = p_project_id and c.embedding is not null and c.model = p_model '
    'and (p_from is null or t.path >= p_from and t.path < p_to) and (p_glob is null or t.path ~ p_glob) '
    'and (p_content_type is null or t.mime_type = p_content_type) '
    'order by %2$s limit 200';
  v_distance text;
begin
  execute format('create function filestore.search_has_vectors() returns boolean language sql immutable as %L',
    case when v_schema is null then 'select false' else 'select true' end);
  if v_schema is null then
    execute 'create function filestore.search_nearest' || v_signature || 'as $f$ select null::uuid, null::uuid, null::double precision where false $f$';
    execute 'create function filestore.search_nearest_exact' || v_signature || 'as $f$ select null::uuid, null::uuid, null::double precision where false $f$';
  else
    v_distance := format('(c.embedding::%1$s.vector(384)) operator(%1$s.<=>) (p_vector::%1$s.vector(384))', v_schema);
    -- The planner does not know how many rows a project has: it is told to walk the index.
    execute 'create function filestore.search_nearest' || v_signature
      || 'set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off '
      || 'begin atomic ' || format(v_query, v_distance, v_distance) || '; end';
    execute 'create function filestore.search_nearest_exact' || v_signature
      || 'begin atomic ' || format(v_query, v_distance, '(' || v_distance || ') + 0.0::double precision') || '; end';
  end if;
end
$$;
comment on function filestore.search_has_vectors() is 'Whether the extension vector was there when search was set up.';
comment on function filestore.search_nearest(uuid, text, real[], text, text, text, text) is 'The chunks nearest to a vector, found by the index, which is approximate.';
comment on function filestore.search_nearest_exact(uuid, text, real[], text, text, text, text) is 'The chunks nearest to a vector, compared one by one.';

create function filestore.search_tsquery(p_words text) returns tsquery
language sql stable
as $$ select websearch_to_tsquery('pg_catalog.english', p_words) $$;
comment on function filestore.search_tsquery(text) is 'Words, "phrases", or, -not.';

create function filestore.search_ranked(p_project_id uuid, p_query jsonb)
returns table (list text, file_id uuid, hash uuid, score double precision)
language plpgsql volatile security definer set search_path = ''
as $$
declare
  -- Files that share the words beyond this many are not ranked: reading their words takes time.
  c_ranked_max constant integer := 10000;
  c_exact_chunks_max constant integer := 10000;
  v_words tsquery;
  v_directory constant text := nullif(p_query ->> 'directory', '');
  v_vector real[];
  v_chunks bigint;
  v_statement constant text :=
    'select ''words'', w.file_id, null::uuid, w.score from ('
    '  select t.file_id, t.path, ts_rank(t.words, $2, 1)::double precision as score from ('
    '    select t.file_id, t.path, t.words from filestore.search_texts t where t.project_id = $1 and t.words @@ $2'
    || filestore.search_filter(p_query) || ' limit $3'
    '  ) t'
    ') w order by w.score desc, w.path limit 200';
begin
  if p_query ->> 'words' is not null then
    v_words := filestore.search_tsquery(p_query ->> 'words');
    return query execute v_statement using p_project_id, v_words, c_ranked_max;
    -- Plain words that no file has all of: any of them will do.
    if not found and v_words::text ~ ' & ' and v_words::text !~ '!|<|\|' then
      return query execute v_statement using p_project_id, replace(v_words::text, ' & ', ' | ')::tsquery, c_ranked_max;
    end if;
  end if;
  if p_query -> 'vector' <> 'null'::jsonb and filestore.search_has_vectors() then
    v_vector := array(select v.value::real from jsonb_array_elements_text(p_query -> 'vector') with ordinality v order by v.ordinality);
    select count(*) into v_chunks from (
      select from filestore.search_chunks c where c.project_id = p_project_id limit c_exact_chunks_max + 1) c;
    if v_chunks <= c_exact_chunks_max then
      return query select 'meaning', n.file_id, n.hash, 1 - n.distance from filestore.search_nearest_exact(
        p_project_id, p_query ->> 'model', v_vector, v_directory || '/', v_directory || '0', p_query ->> 'glob', p_query ->> 'contentType') n;
    else
      -- Goes on in the index until enough rows pass the conditions.
      perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
      perform set_config('hnsw.ef_search', '200', true);
      return query select 'meaning', n.file_id, n.hash, 1 - n.distance from filestore.search_nearest(
        p_project_id, p_query ->> 'model', v_vector, v_directory || '/', v_directory || '0', p_query ->> 'glob', p_query ->> 'contentType') n;
    end if;
  end if;
end
$$;
comment on function filestore.search_ranked(uuid, jsonb) is 'The best files of a project by words, and its nearest chunks by meaning. Runs as filestore_search: whoever calls it reads the ids again under its own policies.';

-- ---------------------------------------------------------------------------------------------------------------
-- The operation

create function filestore.search_scope(p_prefix text, p_directory text) returns text
language sql immutable
as $$
  select case
    when p_prefix is null or p_directory = p_prefix or starts_with(p_directory, p_prefix || '/') then p_directory
    when p_directory = '' or starts_with(p_prefix, p_directory || '/') then p_prefix
  end
$$;
comment on function filestore.search_scope(text, text) is 'The directory that a search is confined to: the one asked for, within the prefix that the key may see. Null where they have nothing in common.';

create function filestore.search_pending(p_session filestore.session, p_scope text, p_stage integer) returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  return (select count(*) from (
    select from filestore.search_queue q
    where q.project_id = p_session.project_id and q.stage <= p_stage
      and (p_scope = '' or q.path >= p_scope || '/' and q.path < p_scope || '0')
    limit 10000) q);
end
$$;
comment on function filestore.search_pending(filestore.session, text, integer) is 'Files in the scope that are not in the index yet, up to the stage; 10,000 stands for any more.';

create function filestore.search_scanned(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql stable set search_path = ''
as $$
declare
  v_page json;
begin
  with found as materialized (
    select s.file_id, s.place from filestore.search_scan(p_session.project_id, p_query) with ordinality s (file_id, place)
  ), visible as (
    select f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at, t.skipped, t.content, n.place,
           sum(t.bytes) over (order by n.place) - t.bytes < (p_query ->> 'bytes')::bigint as fits
    from found n
    -- One by one, by the primary key: a plan that is kept must not read a table from end to end.
    cross join lateral (
      select * from filestore.files f
      where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
        and (p_scope = '' or f.path >= p_scope || '/' and f.path < p_scope || '0') offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
    ) t
  )
  select json_build_object(
    'files', coalesce(json_agg(json_build_object(
      'file', filestore.file_record(v.id, v.path, v.version, v.mime_type, v.size, v.created_at, v.updated_at),
      'skipped', v.skipped, 'content', v.content, 'score', 0) order by v.place) filter (where v.fits), '[]'),
    -- Where to go on: after the last file that was answered, or, where all were, after the last candidate.
    'next', case
      when not coalesce(bool_and(v.fits), true) then max(v.path) filter (where v.fits)
      when (select count(*) from found) >= (p_query ->> 'files')::integer then (
        select t.path from filestore.search_texts t
        where t.project_id = p_session.project_id and t.file_id = (select n.file_id from found n order by n.place desc limit 1))
    end)
  into v_page
  from visible v;
  return v_page;
end
$$;
comment on function filestore.search_scanned(filestore.session, text, jsonb) is 'Candidates with their text, in order of path, up to a number of bytes and one file in any case.';

create function filestore.search_fused(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql volatile set search_path = ''
as $$
declare
  -- Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009) and its constant.
  c_fusion constant double precision := 60;
  v_is_fused constant boolean := p_query ->> 'words' is not null and p_query -> 'vector' <> 'null'::jsonb;
  v_page json;
begin
  with found as materialized (
    select r.list, r.file_id, r.hash, r.score from filestore.search_ranked(p_session.project_id, p_query) r
  ), visible as (
    select n.list, n.file_id, n.hash, n.score, f.path, t.bytes,
           row_number() over (partition by n.list, n.file_id order by n.score desc, n.hash) as nth
    from found n
    -- One by one, by the primary key: a plan that is kept must not read a table from end to end.
    cross join lateral (
      select * from filestore.files f
      where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
        and (p_scope = '' or f.path >= p_scope || '/' and f.path < p_scope || '0') offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
    ) t
  ), placed as (
    select v.*, row_number() over (partition by v.list order by v.score desc, v.path) as place from visible v where v.nth = 1
  ), fused as (
    select p.file_id, p.path, p.bytes, (array_agg(p.hash) filter (where p.list = 'meaning'))[1] as hash,
           case when v_is_fused then sum(1 / (c_fusion + p.place)) else max(p.score) end as score
    from placed p group by p.file_id, p.path, p.bytes
  ), page as (
    select u.*, row_number() over (order by u.score desc, u.path) as place from fused u
    order by u.score desc, u.path limit (p_query ->> 'files')::integer + 1 offset (p_query ->> 'skip')::integer
  ), sized as (
    select p.*, row_number() over (order by p.place) <= (p_query ->> 'files')::integer
      and sum(p.bytes) over (order by p.place) - p.bytes < (p_query ->> 'bytes')::bigint as fits
    from page p
  )
  select json_build_object(
    'files', coalesce(json_agg(json_build_object(
      'file', filestore.file_record(f.id, f.path, f.version, f.mime_type, f.size, f.created_at, f.updated_at),
      'skipped', t.skipped, 'content', t.content, 'score', z.score,
      'chunk', case when k.hash is not null then json_build_object('firstLine', k.first_line, 'text', substr(t.content, k.start + 1, k.length)) end
    ) order by z.place) filter (where z.fits), '[]'),
    'hasMore', not coalesce(bool_and(z.fits), true))
  into v_page
  from sized z
  cross join lateral (select * from filestore.files f where f.project_id = p_session.project_id and f.id = z.file_id offset 0) f
  cross join lateral (
    select * from filestore.search_texts t where t.project_id = p_session.project_id and t.file_id = z.file_id offset 0
  ) t
  left join lateral (
    select * from filestore.search_chunks k
    where k.project_id = p_session.project_id and k.file_id = z.file_id and k.hash = z.hash offset 0
  ) k on true;
  return v_page;
end
$$;
comment on function filestore.search_fused(filestore.session, text, jsonb) is 'The best files by words, by meaning, or by both: places in the two lists are fused. Scores and places are of what the project sees.';

create function public.filestore_search(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = ''
as $$
declare
  v_session constant filestore.session := filestore.admit(p_key_hash, p_request_id, 'read');
  -- What the key may see of what was asked for.
  v_scope constant text := filestore.search_scope(v_session.path_prefix, p_query ->> 'directory');
  v_query jsonb;
  v_page json := '{"files": []}';
begin
  if v_session.envelope ? 'refusal' then
    return v_session.envelope::json;
  end if;
  if v_scope is not null then
    v_query := p_query || jsonb_build_object('directory', v_scope);
    v_page := case when p_query ->> 'kind' = 'scan' then filestore.search_scanned(v_session, v_scope, v_query)
      else filestore.search_fused(v_session, v_scope, v_query) end;
  end if;
  return filestore.page_answer(v_session, json_build_object(
    'files', v_page -> 'files', 'next', v_page -> 'next', 'hasMore', v_page -> 'hasMore',
    'hasVectors', filestore.search_has_vectors(),
    'lexemes', to_json(tsvector_to_array(to_tsvector('pg_catalog.english', coalesce(p_query ->> 'words', '')))),
    'pending', case when v_scope is null then 0
      else filestore.search_pending(v_session, v_scope, case when p_query -> 'vector' <> 'null'::jsonb then 2 else 1 end) end));
end
$$;
comment on function public.filestore_search(text, uuid, jsonb) is 'Files that may match (kind scan: clauses, caseSensitive, after) or the best ones (kind rank: words, vector, model), with their text. Both: directory, glob, contentType, files, skip, bytes.';

-- ---------------------------------------------------------------------------------------------------------------
-- Ownership and privileges

revoke all on all functions in schema filestore from public;
grant execute on function
  filestore.queue_for_search(), filestore.search_scope(text, text), filestore.search_has_vectors(),
  filestore.search_scan(uuid, jsonb), filestore.search_ranked(uuid, jsonb),
  filestore.search_pending(filestore.session, text, integer),
  filestore.search_scanned(filestore.session, text, jsonb), filestore.search_fused(filestore.session, text, jsonb)
to filestore_engine;
grant execute on function
  filestore.segment_list(uuid, uuid[]), filestore.search_words(text, text), filestore.search_filter(jsonb),
  filestore.search_tsquery(text), filestore.search_has_vectors(),
  filestore.search_nearest(uuid, text, real[], text, text, text, text),
  filestore.search_nearest_exact(uuid, text, real[], text, text, text, text)
to filestore_search;

revoke all on function
  public.filestore_search(text, uuid, jsonb),
  public.filestore_search_claim(integer, integer, bigint, integer, integer, text),
  public.filestore_search_store(uuid, jsonb, text),
  public.filestore_search_store_embeddings(uuid, uuid, uuid, text, jsonb),
  public.filestore_search_requeue(text, integer)
from public, anon, authenticated;
grant execute on function
  public.filestore_search(text, uuid, jsonb),
  public.filestore_search_claim(integer, integer, bigint, integer, integer, text),
  public.filestore_search_store(uuid, jsonb, text),
  public.filestore_search_store_embeddings(uuid, uuid, uuid, text, jsonb),
  public.filestore_search_requeue(text, integer)
to service_role;

grant create on schema public to filestore_engine, filestore_search;
grant create on schema filestore to filestore_search;
alter function public.filestore_search(text, uuid, jsonb) owner to filestore_engine;
alter function public.filestore_search_claim(integer, integer, bigint, integer, integer, text) owner to filestore_search;
alter function public.filestore_search_store(uuid, jsonb, text) owner to filestore_search;
alter function public.filestore_search_store_embeddings(uuid, uuid, uuid, text, jsonb) owner to filestore_search;
alter function public.filestore_search_requeue(text, integer) owner to filestore_search;
alter function filestore.search_scan(uuid, jsonb) owner to filestore_search;
alter function filestore.search_ranked(uuid, jsonb) owner to filestore_search;
revoke create on schema public from filestore_engine, filestore_search;
revoke create on schema filestore from filestore_search;
