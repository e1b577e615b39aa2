-- The tables of the search index: a queue of files to index, their current text, and its chunks.

create table filestore.search_queue (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  bytes bigint not null,
  stage smallint not null default 1 check (stage in (1, 2)),
  due_at timestamptz not null,
  attempts integer not null default 0,
  claim_id uuid,
  claimed_at timestamptz,
  primary key (project_id, file_id)
) with (fillfactor = 70);
comment on table filestore.search_queue is
  'Files whose current version is not indexed yet. One row per file, however many versions it has had meanwhile.';
comment on column filestore.search_queue.stage is
  '1: the text is to be stored. 2: the text is stored, and chunks are to be embedded.';
comment on column filestore.search_queue.due_at is
  'When it may be claimed: immediately, or once the claim that holds it has expired.';
comment on column filestore.search_queue.attempts is
  'Claims of this version that were not finished. After the first one it is claimed by itself.';
comment on column filestore.search_queue.claimed_at is
  'When its text was last claimed; a newer version may have taken that claim away since.';

create index search_queue_due on filestore.search_queue (stage, due_at);
create index search_queue_turn on filestore.search_queue (stage, project_id, due_at);

create table filestore.search_texts (
  project_id uuid not null,
  file_id uuid not null,
  version integer not null,
  path text collate "C" not null,
  mime_type text not null,
  skipped text check (skipped in ('too_large', 'not_text', 'not_indexable')),
  content text not null,
  bytes integer not null,
  json_bytes integer not null,
  words tsvector not null,
  model text,
  indexed_at timestamptz not null default '-infinity',
  primary key (project_id, file_id),
  unique (project_id, path),
  foreign key (project_id, file_id) references filestore.files (project_id, id)
);
comment on table filestore.search_texts is
  'The text of a file at one version, at most 1 MB. U+FFFE stands for NUL, which the type text cannot hold.';
comment on column filestore.search_texts.skipped is
  'Why the content is not indexed; then the content is the path, so that the file is found by its name.';
comment on column filestore.search_texts.json_bytes is
  'Bytes of the content as a JSON string, in which a control character takes six: what a page is counted in.';
comment on column filestore.search_texts.model is 'The embedding model that has processed all of its chunks.';

create index search_texts_by_model on filestore.search_texts (model) where skipped is null;
create index search_texts_given_up on filestore.search_texts (indexed_at) where skipped = 'not_indexable';

create table filestore.search_chunks (
  project_id uuid not null,
  file_id uuid not null,
  hash uuid not null,
  version integer not null,
  first_line integer not null check (first_line > 0),
  start integer not null check (start >= 0),
  length integer not null check (length > 0),
  model text,
  embedding real[] check (cardinality(embedding) = 384),
  primary key (project_id, file_id, hash),
  foreign key (project_id, file_id) references filestore.search_texts (project_id, file_id) on delete cascade
) with (fillfactor = 85);
comment on table filestore.search_chunks is
  'Parts of a text that are embedded one by one. The text itself is stored in search_texts.';
comment on column filestore.search_chunks.hash is
  'MD5 of the text: a chunk that is the same from version to version keeps its embedding.';
comment on column filestore.search_chunks.start is 'In characters of the content, from 0.';
alter table filestore.search_chunks alter column embedding set storage external;

-- An index, or a column of one, whose extension is missing is left out.
do $$
declare
  v_schemas constant jsonb := (
    select coalesce(jsonb_object_agg(e.extname, quote_ident(n.nspname)), '{}')
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace);
  v_trgm constant text := v_schemas ->> 'pg_trgm';
  v_vector constant text := v_schemas ->> 'vector';
  v_project constant text := case when v_schemas ? 'btree_gin' then 'project_id, ' else '' end;
begin
  if v_trgm is not null then
    execute format(
      'create index search_texts_by_trigram on filestore.search_texts using gin (%s content %s.gin_trgm_ops)',
      v_project, v_trgm);
  end if;
  execute format('create index search_texts_by_word on filestore.search_texts using gin (%s words)', v_project);
  if v_vector is not null then
    execute format(
      'create index search_chunks_by_meaning on filestore.search_chunks '
      'using hnsw ((embedding::%1$s.vector(384)) %1$s.vector_cosine_ops) where embedding is not null', v_vector);
  end if;
end
$$;
