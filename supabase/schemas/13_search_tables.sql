-- The tables of the search index: a queue of files to index, their current text, texts that several files
-- use, and chunks. Each with its policies and grants. filestore_search is the exception among the roles: it
-- sees the texts of every project. No session has this role; only functions of the search run as it.

create table filestore.search_queue (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  bytes bigint not null,
  stage smallint not null default 1 check (stage in (1, 2)),
  due_at timestamptz not null,
  attempts integer not null default 0,
  lease_id uuid,
  primary key (project_id, file_id)
) with (fillfactor = 70);
comment on table filestore.search_queue is
  'Files whose current version is not indexed yet. One row per file, whatever the number of versions added '
  'since.';
comment on column filestore.search_queue.stage is
  '1: the text is to be stored. 2: the text is stored, and chunks are to be embedded.';
comment on column filestore.search_queue.due_at is
  'When it may be leased: immediately, or, once it is leased, after the lease.';
comment on column filestore.search_queue.attempts is
  'Leases of this version that ended without a result. After the first one, the file is leased alone.';
create index search_queue_due on filestore.search_queue (stage, due_at);
create index search_queue_turn on filestore.search_queue (stage, project_id, due_at);
create policy "A key queues the files that it writes" on filestore.search_queue to filestore_engine
  using (project_id = filestore.current_project_id());
grant select, insert, update on filestore.search_queue to filestore_engine;
create policy "The sweep sees and removes all queued files" on filestore.search_queue to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.search_queue to filestore_admin;
create policy "The search index maintains its queue" on filestore.search_queue to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_queue to filestore_search;

create table filestore.search_contents (
  project_id uuid not null,
  hash bytea not null,
  content text not null,
  words tsvector not null,
  is_cut boolean not null default false,
  primary key (project_id, hash)
);
comment on table filestore.search_contents is
  'Texts of more than search_shared_bytes_min bytes: one row for all files of the project that contain it. '
  'It is deleted with the last of them.';
comment on column filestore.search_contents.hash is 'SHA-256 of the content.';
comment on column filestore.search_contents.words is 'The words of the content, without those of a path.';
comment on column filestore.search_contents.is_cut is
  'Whether the content contains more distinct words than are indexed; then `words` contains only those of '
  'its beginning.';
create policy "A key sees the contents of its project" on filestore.search_contents to filestore_engine
  using (project_id = filestore.current_project_id());
grant select on filestore.search_contents to filestore_engine;
create policy "A deletion removes the contents of its project" on filestore.search_contents to filestore_admin
  using (project_id = filestore.current_project_id());
grant select (project_id, hash), delete on filestore.search_contents to filestore_admin;
create policy "The search index maintains all contents" on filestore.search_contents to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_contents to filestore_search;

create table filestore.search_texts (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  mime_type text not null,
  skipped text check (skipped in ('too_large', 'not_text', 'not_indexable')),
  content text,
  content_hash bytea,
  bytes integer not null,
  json_bytes integer not null,
  words tsvector not null,
  is_cut boolean not null default false,
  model text,
  indexed_at timestamptz not null default '-infinity',
  primary key (project_id, file_id),
  unique (project_id, path),
  check ((content is null) = (content_hash is not null)),
  foreign key (project_id, file_id) references filestore.files (project_id, id),
  foreign key (project_id, content_hash) references filestore.search_contents (project_id, hash)
);
comment on table filestore.search_texts is
  'The text of a file at one version, at most 1 MB. U+FFFE stands for NUL, which the type text cannot hold.';
comment on column filestore.search_texts.skipped is
  'Why the content is not indexed; then the content is the path, so that the file is found by its name.';
comment on column filestore.search_texts.content_hash is 'Set where the content is in search_contents.';
comment on column filestore.search_texts.words is
  'The words of the path, and of the content where it is in this row.';
comment on column filestore.search_texts.is_cut is 'As in search_contents.';
comment on column filestore.search_texts.json_bytes is
  'Bytes of the content as a JSON string, in which a control character takes six; pages are limited by this '
  'size.';
comment on column filestore.search_texts.model is 'The embedding model that has processed all of its chunks.';
create index search_texts_by_model on filestore.search_texts (model) where skipped is null;
create index search_texts_by_project_model on filestore.search_texts (project_id, model) where skipped is null;
create index search_texts_by_content on filestore.search_texts (project_id, content_hash)
  where content_hash is not null;
-- For `search_unsearched`: texts that a search did not read.
create index search_texts_unsearched on filestore.search_texts (project_id, path)
  where skipped in ('too_large', 'not_indexable') or is_cut;
create index search_texts_given_up on filestore.search_texts (indexed_at) where skipped = 'not_indexable';
create policy "A key sees the texts of its project" on filestore.search_texts to filestore_engine
  using (project_id = filestore.current_project_id());
grant select on filestore.search_texts to filestore_engine;
create policy "The sweep sees and removes all texts" on filestore.search_texts to filestore_admin
  using (filestore.current_project_id() is null or project_id = filestore.current_project_id());
grant select, delete on filestore.search_texts to filestore_admin;
create policy "The search index maintains all texts" on filestore.search_texts to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_texts to filestore_search;

create table filestore.search_chunks (
  project_id uuid not null,
  file_id uuid not null,
  hash uuid not null,
  version integer not null,
  first_line integer not null check (first_line > 0),
  start integer not null check (start >= 0),
  length integer not null check (length > 0),
  model text,
  embedding real[] check (cardinality(embedding) between 1 and 2000),
  primary key (project_id, file_id, hash),
  foreign key (project_id, file_id) references filestore.search_texts (project_id, file_id) on delete cascade
) with (fillfactor = 85);
comment on table filestore.search_chunks is
  'Parts of a text that are embedded one by one. The text itself is in search_texts or search_contents.';
comment on column filestore.search_chunks.hash is
  'MD5 of the text: a chunk that does not change between versions keeps its embedding.';
comment on column filestore.search_chunks.start is 'In characters of the content, from 0.';
alter table filestore.search_chunks alter column embedding set storage external;
create policy "A key sees the chunks of its project" on filestore.search_chunks to filestore_engine
  using (project_id = filestore.current_project_id());
grant select on filestore.search_chunks to filestore_engine;
create policy "A deletion removes the chunks of its project" on filestore.search_chunks to filestore_admin
  using (project_id = filestore.current_project_id());
grant select (project_id, file_id, hash), delete on filestore.search_chunks to filestore_admin;
create policy "The search index maintains all chunks" on filestore.search_chunks to filestore_search
  using (true);
grant select, insert, update, delete on filestore.search_chunks to filestore_search;

-- Every table has row-level security: a role without a policy sees no row.
do $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid from pg_catalog.pg_class c where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'
  loop
    execute format('alter table %s enable row level security', v_table);
  end loop;
end
$$;

-- Trigrams are those of pg_trgm, reduced to a bounded number of numbers: where the database knows the letters
-- of all scripts there are 16 million trigrams, and each one that is new to an index takes some 50 bytes
-- there. Where two trigrams have the same number, a candidate may not match. The bodies are parsed here and
-- not when they run, so callers need no access to the schema of the extension.
do $$
declare
  v_show_trgm constant text := (
    select format('%I.show_trgm', n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_trgm');
  -- The high cost makes the planner use the index rather than compute the trigrams of each row.
  v_create constant text :=
    'create function filestore.%1$s returns integer[] language sql immutable cost 10000 set search_path = '''' '
    'begin atomic select array(';
  -- Must be a power of two.
  c_numbers constant integer := 65536;
  v_number constant text := format('hashtext(t.trigram) & %s', c_numbers - 1);
begin
  execute format(
    v_create || 'select %2$s from unnest(%3$s(p_text)) t (trigram)); end', 'search_trigrams(p_text text)', v_number,
    v_show_trgm);
  execute format(
    v_create || 'select distinct %2$s from (select unnest(%3$s(p_literal)) '
      'except select unnest(%3$s(left(p_literal, 2))) except select unnest(%3$s(right(p_literal, 2)))) '
      't (trigram)); end', 'search_trigrams_within(p_literal text)', v_number, v_show_trgm);
end
$$;
comment on function filestore.search_trigrams is
  'The numbers of a text''s trigrams, in any order, some of them more than once.';
comment on function filestore.search_trigrams_within is
  'The numbers of the trigrams of every text that contains the literal: without those at the beginning or '
  'end of a word where the literal also begins or ends, since in the text the word may be longer.';
call filestore.grant_execute('filestore.search_trigrams', 'filestore_search');
call filestore.grant_execute('filestore.search_trigrams_within', 'filestore_search');

-- A large text has more entries than the pending list of an index can hold, so entries of shared contents are
-- inserted directly.
create index search_texts_by_trigram on filestore.search_texts
  using gin (project_id, filestore.search_trigrams(content)) where content_hash is null;
create index search_contents_by_trigram on filestore.search_contents
  using gin (project_id, filestore.search_trigrams(content)) with (fastupdate = off);
-- Statistics of the expression would need the trigrams of thousands of texts, and affect no plan.
alter index filestore.search_texts_by_trigram alter column 2 set statistics 0;
alter index filestore.search_contents_by_trigram alter column 2 set statistics 0;
create index search_texts_by_word on filestore.search_texts using gin (project_id, words) where content_hash is null;
create index search_texts_by_path_word on filestore.search_texts using gin (project_id, words)
  where content_hash is not null;
create index search_contents_by_word on filestore.search_contents using gin (project_id, words)
  with (fastupdate = off);

do $$
declare
  v_schema constant text := (
    select quote_ident(n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector');
  v_dimensions integer;
begin
  if v_schema is null then return; end if;
  -- A chunk is in the index of its vector's size.
  foreach v_dimensions in array (filestore.limits()).vector_sizes loop
    execute format(
      'create index search_chunks_by_meaning_%2$s on filestore.search_chunks '
      'using hnsw ((embedding::%1$s.vector(%2$s)) %1$s.vector_cosine_ops) where cardinality(embedding) = %2$s',
      v_schema, v_dimensions);
  end loop;
end
$$;
