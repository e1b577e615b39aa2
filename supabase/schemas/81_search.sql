-- Search by pattern, by words and by meaning.
--
-- Isolation. LIKE, @@ and <=> are not leakproof: under a row-level policy Postgres would check the policy for every row
-- first and use no index. So candidates are found by a role that sees every project's rows of the search tables,
-- filestore_search, in functions that take a project id and return ids. The operation then reads those ids again as
-- filestore_engine, under the policies of its project: rows of another project are not returned.

create function filestore.search_filter(p_query jsonb) returns text
language plpgsql stable set search_path = '' as $$
begin
  return case when coalesce(p_query ->> 'directory', '') = ''
      -- Branches are no part of the root.
      then ' and (t.path < ''.branches/'' or t.path >= ''.branches0'')'
      else format(
        ' and t.path >= %L and t.path < %L', (p_query ->> 'directory') || '/', (p_query ->> 'directory') || '0') end
    || coalesce(' and t.path > ' || quote_literal(p_query ->> 'after'), '')
    || coalesce(' and t.path ~ ' || quote_literal(p_query ->> 'glob'), '')
    || coalesce(' and t.mime_type = ' || quote_literal(p_query ->> 'contentType'), '');
end
$$;
comment on function filestore.search_filter is
  'Conditions on search_texts t, with every value quoted. The glob is given as a regular expression that '
  'consists only of [^/]*, [^/], .* and literals.';
call filestore.grant_execute('filestore.search_filter', 'filestore_search');

create function filestore.search_conditions(
  p_query jsonb, out likes text[], out trigrams text[], out others text, out other_trigrams integer[]
)
language plpgsql stable set search_path = '' as $$
declare
  c_like constant text := case when (p_query ->> 'caseSensitive')::boolean then 'like' else 'ilike' end;
  v_clause jsonb;
  v_likes text[];
  v_trigrams text[];
begin
  others := '';
  other_trigrams := '{}';
  for v_clause in
    select c.value from jsonb_array_elements(p_query -> 'clauses') with ordinality c
    cross join lateral (
      select bool_and(filestore.search_trigrams_within(l.literal) <> '{}') as is_indexed
      from jsonb_array_elements_text(c.value) l (literal)
    ) i
    order by i.is_indexed desc, c.ordinality
  loop
    select array_agg(format('x.content %s %L', c_like, '%' || replace(replace(replace(
             l.literal, '\', '\\'), '%', '\%'), '_', '\_') || '%') order by l.ordinality),
           array_agg(filestore.search_trigrams_within(l.literal)::text order by l.ordinality)
    into v_likes, v_trigrams
    from jsonb_array_elements_text(v_clause) with ordinality l (literal);
    if likes is null then
      likes := v_likes;
      trigrams := v_trigrams;
    else
      others := others || ' and (' || array_to_string(v_likes, ' or ') || ')';
      if cardinality(v_trigrams) = 1 then other_trigrams := other_trigrams || v_trigrams[1]::integer[]; end if;
    end if;
  end loop;
end
$$;
comment on function filestore.search_conditions is
  'The conditions of a query by pattern on a text, x.content. A matching text contains one literal of each '
  'clause; the client sends the most selective clause first. `likes` and `trigrams`, one per literal, belong '
  'to the first clause for which the index has trigrams, otherwise to the first clause; `others` to the '
  'other clauses, and `other_trigrams` to those other clauses that are a single literal.';
call filestore.grant_execute('filestore.search_conditions', 'filestore_search');

create function filestore.search_walk(p_project_id uuid, p_query jsonb, p_statement text)
returns table (file_id uuid, walked_to text)
language plpgsql stable set search_path = '' as $$
declare
  -- The number of texts, and of their bytes, that one call reads.
  c_walk_files constant integer := 2000;
  c_walk_bytes constant integer := 4194304;
  c_skip constant integer := p_query ->> 'skip';
  v_texts refcursor;
  v_path text;
  v_bytes integer;
  v_is_found boolean;
  v_read bigint := 0;
  v_found integer := 0;
begin
  open v_texts for execute p_statement || ' order by t.path limit $2' using p_project_id, c_walk_files;
  for v_walked in 1 .. c_walk_files loop
    fetch v_texts into file_id, v_path, v_bytes, v_is_found;
    exit when not found;
    v_read := v_read + v_bytes;
    if v_is_found then
      v_found := v_found + 1;
      if v_found > c_skip then return next; end if;
      exit when v_found = c_skip + (p_query ->> 'files')::integer;
    end if;
    if v_walked = c_walk_files or v_read >= c_walk_bytes then
      return query select null::uuid, v_path;
      exit;
    end if;
  end loop;
  close v_texts;
end
$$;
comment on function filestore.search_walk is
  'Reads texts one by one along the paths, for literals without index entries, up to a number of texts and '
  'of bytes. The statement selects the id, path and size of a file, and whether its text matches.';
call filestore.grant_execute('filestore.search_walk', 'filestore_search');

create function filestore.search_pattern_candidates(p_project_id uuid, p_query jsonb)
returns table (file_id uuid, walked_to text)
language plpgsql stable security definer set search_path = '' as $$
declare
  -- A pattern that occurs in up to this many files is looked up in the index and sorted.
  c_found_max constant integer := 1000;
  c_filter constant text := ' where t.project_id = $1' || filestore.search_filter(p_query);
  -- A text is in the file's row, or is used by several files; those are looked up separately, or in the order
  -- of paths. fence: trigrams come from the index, since to compute them takes long, and the text is read
  -- last.
  c_own constant text := ' from (select t.* from filestore.search_texts t where t.project_id = $1'
    ' and t.content_hash is null and filestore.search_trigrams(t.content) @> %1$L::integer[] offset 0) t'
    ' cross join lateral (select t.content) x' || replace(c_filter, '%', '%%');
  c_shared constant text := ' from (select t.file_id, t.path, c.content from ('
    ' select c.hash, c.content from filestore.search_contents c where c.project_id = $1'
    ' and filestore.search_trigrams(c.content) @> %1$L::integer[] offset 0) c'
    ' join filestore.search_texts t on t.content_hash = c.hash' || replace(c_filter, '%', '%%') || ' offset 0'
    ') t cross join lateral (select t.content) x where true';
  c_along constant text := ' from filestore.search_texts t cross join lateral (select coalesce(t.content, ('
    ' select c.content from filestore.search_contents c where c.project_id = $1 and c.hash = t.content_hash'
    ')) as content offset 0) x' || c_filter;
  c_conditions constant record := filestore.search_conditions(p_query);
  c_any constant text := '(' || array_to_string(c_conditions.likes, ' or ') || ')' || c_conditions.others;
  c_files constant integer := p_query ->> 'files';
  c_skip constant integer := p_query ->> 'skip';
  v_few uuid[];
  v_count bigint;
begin
  -- The index has no entries for literals without trigrams.
  if '{}' = any (c_conditions.trigrams) then
    return query select w.file_id, w.walked_to
      from filestore.search_walk(p_project_id, p_query, 'select t.file_id, t.path, t.bytes, ' || c_any || c_along) w;
    return;
  -- fence: usually few files match; then they are looked up in the trigram index and sorted. The planner, which takes
  -- rare texts for common ones, would walk along the paths until enough have matched, so it is left no other plan.
  elsif c_conditions.likes is not null then
    perform set_config('enable_indexscan', 'off', true), set_config('enable_seqscan', 'off', true);
    execute 'select array_agg(c.file_id order by c.path), count(*) from (' || (
      select string_agg(
        '(select t.file_id, t.path' || format(s.source, l.trigrams::integer[] || c_conditions.other_trigrams)
        || ' and ' || l.condition || c_conditions.others || ' limit $2)', ' union ')
      from unnest(c_conditions.likes, c_conditions.trigrams) l (condition, trigrams)
      cross join unnest(array[c_own, c_shared]) s (source)) || ') c'
    into v_few, v_count using p_project_id, c_found_max + 1;
    perform set_config('enable_indexscan', 'on', true), set_config('enable_seqscan', 'on', true);
    if v_count <= c_found_max then
      return query select f.id, null from unnest(v_few) with ordinality f (id, place)
        where f.place > c_skip and f.place <= c_skip + c_files order by f.place;
      return;
    end if;
  end if;
  -- Many files match, so reading in the order of paths soon finds a page of them.
  return query execute 'select t.file_id, null::text'
    || coalesce(c_along || ' and ' || c_any, ' from filestore.search_texts t' || c_filter)
    || ' order by t.path limit $2 offset $3'
  using p_project_id, c_files, c_skip;
end
$$;
comment on function filestore.search_pattern_candidates is
  'Files of a project whose text may match, by path. Where only a part of the texts was read, a last row '
  'shows how far. Runs as filestore_search: callers read the ids again under their own policies.';
call filestore.publish('filestore.search_pattern_candidates', 'filestore_search', 'filestore_engine');

-- By meaning: approximately with the index of the vector's size, or exactly by comparing chunks one by one.
-- Without the extension vector these functions return nothing. Their bodies are parsed here and not when they
-- run, so callers need no access to the schema of the extension.
do $$
declare
  v_schema constant text := (
    select quote_ident(n.nspname)
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector');
  v_signature constant text :=
    '(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text) '
    'returns table (file_id uuid, hash uuid, distance double precision) '
    'language sql stable set search_path = '''' ';
  c_nearest constant integer := 200;
  v_chunks_max constant integer := (filestore.limits()).search_exact_chunks_max;
  v_dimensions integer;
  v_none constant text := 'as $f$ select null::uuid, null::uuid, null::double precision where false $f$';
  v_chunks constant text := $f$
    filestore.search_chunks c
    join filestore.search_texts t
      on t.project_id = c.project_id and t.file_id = c.file_id and t.version = c.version
    where c.project_id = p_project_id and t.project_id = p_project_id
      and c.model = p_model and (
        p_from is null and (t.path < '.branches/' or t.path >= '.branches0') or t.path >= p_from and t.path < p_to)
      and (p_glob is null or t.path ~ p_glob) and (p_content_type is null or t.mime_type = p_content_type)
  $f$;
begin
  execute format(
    'create function filestore.search_has_vectors() returns boolean language sql immutable set search_path = '''' '
    'as %L', case when v_schema is null then 'select false' else 'select true' end);
  foreach v_dimensions in array (filestore.limits()).vector_sizes loop
    -- fence: the planner does not know how many rows a project has, so a scan of the index is the only plan
    -- left to it.
    execute format('create function filestore.search_nearest_%s', v_dimensions) || v_signature
      || case when v_schema is null then v_none else
        'set enable_sort = off set enable_hashjoin = off set enable_mergejoin = off begin atomic '
        || format(
          'select c.file_id, c.hash, %1$s as distance from %2$s and cardinality(c.embedding) = %3$s '
          'order by %1$s limit %4$s; end',
          format(
            '(c.embedding::%1$s.vector(%2$s)) operator(%1$s.<=>) (p_vector::%1$s.vector(%2$s))', v_schema,
            v_dimensions),
          v_chunks, v_dimensions, c_nearest) end;
    execute format(
      'comment on function filestore.search_nearest_%s is %L', v_dimensions,
      'The chunks nearest to a vector of this size, found along the index, which is approximate.');
    call filestore.grant_execute(format('filestore.search_nearest_%s', v_dimensions)::regproc, 'filestore_search');
  end loop;
  execute 'create function filestore.search_nearest_exact' || v_signature
    || case when v_schema is null then v_none else 'begin atomic ' || format(
      'select c.file_id, c.hash, (c.embedding::%1$s.vector) operator(%1$s.<=>) (p_vector::%1$s.vector) as distance '
      'from (select c.file_id, c.hash, c.embedding from %2$s and cardinality(c.embedding) = cardinality(p_vector) '
      'order by c.file_id, c.hash limit %3$s) c order by distance limit %4$s; end',
      v_schema, v_chunks, v_chunks_max, c_nearest) end;
end
$$;
comment on function filestore.search_has_vectors is
  'Whether the extension vector was available when search was set up.';
comment on function filestore.search_nearest_exact is
  'The chunks nearest to a vector, compared one by one: the first search_exact_chunks_max chunks with '
  'vectors of the same size.';
call filestore.grant_execute('filestore.search_has_vectors', 'filestore_engine', 'filestore_search');
call filestore.grant_execute('filestore.search_nearest_exact', 'filestore_search');

create function filestore.search_tsquery(p_words text) returns tsquery
language plpgsql stable set search_path = '' as $$
declare
  -- As filestore.search_split, except that a hyphen which begins a word means not. A word that is split
  -- remains a unit: its parts become a phrase.
  v_words constant text := translate(regexp_replace(p_words, '[<&~/.@_+]|(?<=\S)-', ',', 'g'), 'ȺȾ', 'ⱥⱦ');
  v_split constant text := filestore.search_camel_split(v_words);
  v_query tsquery := websearch_to_tsquery('pg_catalog.english', v_words);
begin
  if numnode(v_query) = 0 then return websearch_to_tsquery('pg_catalog.simple', v_words); end if;
  -- A word in camel case is looked up as it is, and as a phrase of its parts, which the index of paths also
  -- contains.
  return case when v_split = v_words then v_query
    else v_query || websearch_to_tsquery('pg_catalog.english', v_split) end;
end
$$;
comment on function filestore.search_tsquery is
  'The query of a search by words: words, "phrases", the operator or, and -word, which excludes a word. A word in '
  'camel case also matches its parts. Stop words count only in a query without other words.';
call filestore.grant_execute('filestore.search_tsquery', 'filestore_search');

create function filestore.search_query_lexemes(p_words text) returns text[]
language plpgsql stable set search_path = '' as $$
declare
  v_words constant text := filestore.search_split(p_words || ' ' || filestore.search_camel_split(p_words));
  v_stems constant tsvector := to_tsvector('pg_catalog.english', v_words);
begin
  -- A name such as about.md or now.txt is also searched for by its words.
  return tsvector_to_array(
    case when length(v_stems) > 0 then v_stems else to_tsvector('pg_catalog.simple', v_words) end);
end
$$;
comment on function filestore.search_query_lexemes is
  'The stems of all words of a query, without its operators; for a query of stop words only, the words as '
  'they are.';
call filestore.grant_execute('filestore.search_query_lexemes', 'filestore_engine', 'filestore_search');

create function filestore.search_rest(p_query tsquery, p_known text[]) returns tsquery
language plpgsql immutable set search_path = '' as $$
declare
  v_rest tsquery := p_query;
  v_lexeme text;
begin
  foreach v_lexeme in array p_known loop
    v_rest := ts_rewrite(
      v_rest, ('''' || replace(replace(v_lexeme, '\', '\\'), '''', '''''') || '''')::tsquery, ''::tsquery);
  end loop;
  return v_rest;
end
$$;
comment on function filestore.search_rest is
  'The rest of a query without alternatives, once some of its words are known to occur.';
call filestore.grant_execute('filestore.search_rest', 'filestore_search');

-- fence, in the next two functions: words are looked up in their indexes. The planner underestimates the cost
-- of reading a text's words, and would read those of all texts of a project that it considers small.
create function filestore.search_by_names(p_project_id uuid, p_query jsonb, p_limit integer)
returns table (file_id uuid, score double precision)
language plpgsql stable set search_path = '' set enable_indexscan = off set enable_seqscan = off as $$
declare
  c_matches_max constant integer := 10000;
  -- Only words of the path have the weight A.
  c_words constant tsquery := regexp_replace(
    filestore.search_tsquery(p_query ->> 'names')::text, '''(?:[^'']|'''')+''', '\&:A', 'g')::tsquery;
begin
  -- A file may be relevant although its name lacks a word.
  if c_words::text ~ '!' then return; end if;
  return query execute format(
    $q$
      with found as (
        (select t.file_id, t.path, t.words from filestore.search_texts t
         where t.project_id = $1 and t.content_hash is null and t.words @@ $2 %1$s limit $3)
        union all
        (select t.file_id, t.path, t.words from filestore.search_texts t
         where t.project_id = $1 and t.content_hash is not null and t.words @@ $2 %1$s limit $3)
      )
      select f.file_id, ts_rank(f.words, $2, 1)::double precision as score from found f
      order by score desc, f.path limit $4
    $q$, filestore.search_filter(p_query))
  using p_project_id, c_words, c_matches_max, p_limit;
end
$$;
comment on function filestore.search_by_names is 'The best files of a project by the words of their paths.';
call filestore.grant_execute('filestore.search_by_names', 'filestore_search');

create function filestore.search_by_words(p_project_id uuid, p_query jsonb, p_limit integer)
returns table (file_id uuid, score double precision)
language plpgsql stable set search_path = '' set enable_indexscan = off set enable_seqscan = off as $$
declare
  -- The number of files containing the words that are ranked; others are not, since reading their words takes
  -- time.
  c_matches_max constant integer := 10000;
  -- The number of ways to divide the words between paths and shared contents that are tried, the most
  -- frequent ones.
  c_splits constant integer := 32;
  c_words constant tsquery := filestore.search_tsquery(p_query ->> 'words');
  c_lexemes constant text[] := filestore.search_query_lexemes(p_query ->> 'words');
  c_any constant tsquery := (
    select string_agg('''' || replace(replace(l.word, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
    from unnest(c_lexemes) l (word));
  -- First, files whose row contains the text: its words and those of the path. Then contents used by several
  -- files. Last, files whose path contains some of the words, and whose shared content contains the others.
  c_statement constant text := format($q$
      with named as materialized (
        select t.file_id, t.path, t.content_hash, t.words,
               array(select l.word from unnest($4) l (word) where l.word = any (tsvector_to_array(t.words))) as known
        from filestore.search_texts t
        where t.project_id = $1 and t.content_hash is not null and t.words @@ $5 %1$s limit $3
      ), splits as materialized (
        select k.known, filestore.search_rest(a.query::tsquery, k.known) as rest
        from (select n.known from named n group by n.known order by count(*) desc limit $6) k
        cross join string_to_table($2::text, ' | ') a (query)
      ), completed as materialized (
        select n.* from splits s join named n on n.known = s.known where numnode(s.rest) = 0
        union
        select n.* from splits s
        cross join lateral (
          select c.hash from filestore.search_contents c
          where c.project_id = $1 and c.words @@ s.rest and numnode(s.rest) > 0 limit $3
        ) c join named n on n.known = s.known and n.content_hash = c.hash
      ), found (file_id, path, words) as (
        (select t.file_id, t.path, t.words from filestore.search_texts t
         where t.project_id = $1 and t.content_hash is null and t.words @@ $2 %1$s limit $3)
        union all
        (select t.file_id, t.path, t.words || c.words
         from filestore.search_contents c
         join filestore.search_texts t on t.project_id = c.project_id and t.content_hash = c.hash
         where c.project_id = $1 and c.words @@ $2 and (not $7 or t.words || c.words @@ $2) and t.project_id = $1 %1$s
         limit $3)
        union all
        (select n.file_id, n.path, n.words || c.words
         from completed n
         cross join lateral (
           select * from filestore.search_contents o where o.project_id = $1 and o.hash = n.content_hash offset 0
         ) c
         where not c.words @@ $2 and n.words || c.words @@ $2)
      )
      select f.file_id, ts_rank(f.words, $2, 1)::double precision as score from found f
      order by score desc, f.path limit $8
    $q$, filestore.search_filter(p_query));
  c_has_not constant boolean := c_words::text ~ '!';
begin
  return query execute c_statement
    using p_project_id, c_words, c_matches_max, c_lexemes, c_any, c_splits, c_has_not, p_limit;
  -- No file contains all of the plain words, so now any of them matches.
  if not found and c_words::text ~ ' & ' and not c_has_not and p_query ->> 'words' !~* '"|\mor\M' then
    return query execute c_statement
      using p_project_id, c_any, c_matches_max, c_lexemes, c_any, c_splits, false, p_limit;
  end if;
end
$$;
comment on function filestore.search_by_words is
  'The best files of a project by the words of their paths and texts.';
call filestore.grant_execute('filestore.search_by_words', 'filestore_search');

create function filestore.search_rank_candidates(p_project_id uuid, p_query jsonb)
returns table (list text, file_id uuid, hash uuid, score double precision)
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- The functions of search by meaning find the same number.
  c_ranked constant integer := 200;
  c_chunks_max constant integer := (filestore.limits()).search_exact_chunks_max;
  c_directory constant text := nullif(p_query ->> 'directory', '');
  v_is_small boolean;
  v_vector real[];
  v_meaning record;
begin
  if p_query ->> 'names' is not null then
    return query select 'words', f.file_id, null::uuid, f.score
      from filestore.search_by_names(p_project_id, p_query, c_ranked) f;
  elsif p_query ->> 'words' is not null then
    return query select 'words', f.file_id, null::uuid, f.score
      from filestore.search_by_words(p_project_id, p_query, c_ranked) f;
  end if;
  if (p_query -> 'vector' <> 'null' and filestore.search_has_vectors()) is not true then return; end if;
  v_is_small := (select count(*) <= c_chunks_max from (
    select from filestore.search_chunks c where c.project_id = p_project_id limit c_chunks_max + 1) c);
  -- Continues in the index until enough rows satisfy the conditions.
  perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  perform set_config('hnsw.ef_search', c_ranked::text, true);
  -- Vectors of the present model and, while texts are embedded again, of the former one; each is compared
  -- with its own vector of the query.
  for v_meaning in
    select m.list, m.value ->> 'model' as model, m.value -> 'vector' as vector
    from (values ('meaning', p_query), ('former meaning', p_query -> 'former')) m (list, value)
    where jsonb_typeof(m.value -> 'vector') = 'array'
  loop
    v_vector := array(
      select v.value::real from jsonb_array_elements_text(v_meaning.vector) with ordinality v order by v.ordinality);
    return query execute format(
      'select $8, n.file_id, n.hash, 1 - n.distance from filestore.search_nearest_%s($1, $2, $3, $4, $5, $6, $7) n',
      case when v_is_small or cardinality(v_vector) <> all ((filestore.limits()).vector_sizes) then 'exact'
        else cardinality(v_vector)::text end)
    using p_project_id, v_meaning.model, v_vector, c_directory || '/', c_directory || '0',
      p_query ->> 'glob', p_query ->> 'contentType', v_meaning.list;
  end loop;
end
$$;
comment on function filestore.search_rank_candidates is
  'The best files of a project by words, and its nearest chunks by meaning: by vectors of the present model, '
  'and of the former one if the query has a vector of that model. Runs as filestore_search: callers read the '
  'ids again under their own policies.';
call filestore.publish('filestore.search_rank_candidates', 'filestore_search', 'filestore_engine');

create function filestore.search_unembedded(p_project_id uuid, p_query jsonb, p_files integer)
returns table (file_id uuid)
language sql stable set search_path = '' as $$
  -- Three ranges of search_texts_by_project_model.
  select t.file_id from filestore.search_texts t
  where t.project_id = p_project_id and t.skipped is null and t.model is null
  union all
  select t.file_id from filestore.search_texts t
  where t.project_id = p_project_id and t.skipped is null and t.model < p_query ->> 'model'
    and t.model is distinct from p_query -> 'former' ->> 'model'
  union all
  select t.file_id from filestore.search_texts t
  where t.project_id = p_project_id and t.skipped is null and t.model > p_query ->> 'model'
    and t.model is distinct from p_query -> 'former' ->> 'model'
  limit p_files
$$;
comment on function filestore.search_unembedded is
  'Texts, up to p_files, that have vectors neither of the model that embedded the query, nor of the former '
  'one if that embedded the query, too.';
call filestore.grant_execute('filestore.search_unembedded', 'filestore_engine');

create function filestore.search_unsearched(
  p_session filestore.session, p_scope text, p_query jsonb, p_stage integer
) returns json
language plpgsql stable set search_path = '' as $$
declare
  v_max constant integer := (filestore.limits()).search_unsearched_max;
  v_is_scan constant boolean := p_query ->> 'kind' = 'scan';
  v_live constant jsonb := p_query -> 'live';
  v_known constant uuid[] := array(select k.id::uuid from jsonb_array_elements_text(p_query -> 'known') k (id));
begin
  return (
    with waiting as materialized (
      (select q.file_id from filestore.search_queue q
       where q.project_id = p_session.project_id and q.stage <= p_stage
         and (p_scope = '' and (q.path < '.branches/' or q.path >= '.branches0')
           or q.path >= p_scope || '/' and q.path < p_scope || '0')
       limit v_max)
      union
      (select t.file_id from filestore.search_texts t
       where t.project_id = p_session.project_id and (t.skipped in ('too_large', 'not_indexable') or t.is_cut)
         and (t.skipped is not null or not v_is_scan)
         and (p_scope = '' and (t.path < '.branches/' or t.path >= '.branches0')
           or t.path >= p_scope || '/' and t.path < p_scope || '0')
       order by t.path limit v_max)
      union
      (select e.file_id from filestore.search_unembedded(p_session.project_id, p_query, v_max) e where p_stage = 2)
    ), unsearched as (
      select f::filestore.files as file, f.path, f.size, f.segment_ids, t.reason,
             greatest(cardinality(f.segment_ids), 1) as reads,
             v_live is not null and f.size <= (v_live ->> 'fileBytes')::bigint as may_be_read
      from waiting w
      -- fence: as in search_by_pattern.
      cross join lateral (
        select * from filestore.files o
        where o.project_id = p_session.project_id and o.id = w.file_id and not o.is_deleted
          and (p_scope = '' or (o.path >= p_scope || '/' and o.path < p_scope || '0')) offset 0
      ) f
      cross join lateral (
        select coalesce(min(coalesce(o.skipped, case when o.is_cut then 'too_many_words' end)), 'pending') as reason
        from filestore.search_texts o
        where o.project_id = p_session.project_id and o.file_id = w.file_id and o.version = f.version
      ) t
      where filestore.has_text(f.mime_type, f.is_text) and (f.path ~ (p_query ->> 'glob')) is not false
        and (f.mime_type = p_query ->> 'contentType') is not false and (f.path > p_query ->> 'after') is not false
        and f.id <> all (v_known)
    ), sized as (
      -- Small ones first, so that a large file does not exclude others.
      select u.*, u.may_be_read and sum(u.size) over s <= (v_live ->> 'bytes')::bigint
        and sum(u.reads) over s <= (v_live ->> 'reads')::bigint as is_read
      from unsearched u
      window s as (partition by u.may_be_read order by u.size, u.path)
    )
    select json_build_object(
      'live', coalesce(json_agg(json_build_object(
        'file', filestore.file_record(z.file), 'segments', filestore.segment_list(p_session.project_id, z.segment_ids))
        order by z.path) filter (where z.is_read), '[]'),
      'files', count(*) filter (where not z.is_read),
      'bytes', coalesce(sum(z.size) filter (where not z.is_read), 0),
      'paths', coalesce(to_json((array_agg(z.path order by z.path) filter (where not z.is_read))[
        1 : (filestore.limits()).search_unsearched_paths_max]), '[]'),
      'reasons', coalesce(to_json(array_agg(distinct
        case when not v_is_scan then z.reason when z.may_be_read then 'bounds' when v_live is null then 'pending'
          else 'too_large' end)
        filter (where not z.is_read)), '[]'),
      'isComplete', (select count(*) from waiting) < v_max)
    from sized z);
end
$$;
comment on function filestore.search_unsearched is
  'Text in the scope that the index does not contain: of new versions, of large files and of files that '
  'could not be indexed; in a search by words, of files with more words than are indexed; in a search by '
  'meaning, of files that none of the models asked has embedded. p_query.live: files of up to fileBytes are '
  'returned with their segments for a live read, the smallest first, up to a number of bytes and segments '
  '(reads). The others are counted, and some are named with the reason. isComplete: false where more files '
  'are not indexed than may be examined.';
call filestore.grant_execute('filestore.search_unsearched', 'filestore_engine');

create function filestore.search_by_pattern(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql stable set search_path = '' as $$
begin
  return (
    with walked as materialized (
      select s.file_id, s.walked_to, s.place
      from filestore.search_pattern_candidates(p_session.project_id, p_query)
        with ordinality s (file_id, walked_to, place)
    ), found as (
      select w.file_id, w.place from walked w where w.file_id is not null
    ), visible as (
      select f::filestore.files as file, f.path, t.skipped, coalesce(t.content, c.content) as content, n.place,
             n.place = min(n.place) over ()
               or sum(t.json_bytes) over (order by n.place) <= (p_query ->> 'bytes')::bigint as fits
      from found n
      -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a cached plan
      -- must not scan a table.
      cross join lateral (
        select * from filestore.files f
        where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
          and (p_scope = '' or (f.path >= p_scope || '/' and f.path < p_scope || '0')) offset 0
      ) f
      cross join lateral (
        select * from filestore.search_texts t
        where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
      ) t
      left join lateral (
        select * from filestore.search_contents c
        where c.project_id = p_session.project_id and c.hash = t.content_hash offset 0
      ) c on true
    )
    select json_build_object(
      'files', coalesce(json_agg(json_build_object(
        'file', filestore.file_record(v.file), 'skipped', v.skipped, 'content', v.content, 'score', 0)
        order by v.place) filter (where v.fits), '[]'),
      -- Where the next page starts: after the last returned file, or, if all candidates were returned, after
      -- the last candidate, or where reading the texts stopped.
      'next', case
        when not coalesce(bool_and(v.fits), true) then max(v.path) filter (where v.fits)
        when (select count(*) from found) >= (p_query ->> 'files')::integer then (
          select t.path from filestore.search_texts t
          where t.project_id = p_session.project_id
            and t.file_id = (select n.file_id from found n order by n.place desc limit 1))
        else (select w.walked_to from walked w where w.file_id is null)
      end,
      'walked', exists (select 1 from walked w where w.file_id is null))
    from visible v);
end
$$;
comment on function filestore.search_by_pattern is
  'Candidates with their text, in order of path, up to a number of bytes of JSON, but at least one file.';
call filestore.grant_execute('filestore.search_by_pattern', 'filestore_engine');

create function filestore.search_ranked(p_session filestore.session, p_scope text, p_query jsonb)
returns table (file_id uuid, hash uuid, score double precision, place bigint, fits boolean)
language plpgsql volatile set search_path = '' as $$
declare
  -- Names and meaning: reciprocal rank fusion (Cormack, Clarke, Büttcher 2009) and its constant.
  c_fusion constant double precision := 60;
  -- Words and meaning: the weighted mean of their scores, each scaled to 0 to 1 (Bruch, Gai, Ingber 2023).
  c_weight_of_words constant double precision := 0.7;
  v_is_fused constant boolean := p_query ->> 'words' is not null and p_query -> 'vector' <> 'null'::jsonb;
begin
  return query with found as materialized (
    select r.list, r.file_id, r.hash, r.score from filestore.search_rank_candidates(p_session.project_id, p_query) r
  ), visible as (
    select n.list, n.file_id, n.hash, n.score, f.path, t.json_bytes,
           row_number() over (partition by n.list, n.file_id order by n.score desc, n.hash) as nth
    from found n
    -- fence: the planner must not flatten these. Rows are fetched one by one by primary key; a cached plan
    -- must not scan a table.
    cross join lateral (
      select * from filestore.files f
      where f.project_id = p_session.project_id and f.id = n.file_id and not f.is_deleted
        and (p_scope = '' or (f.path >= p_scope || '/' and f.path < p_scope || '0')) offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = n.file_id and t.version = f.version offset 0
    ) t
  ), placed as (
    select v.*, row_number() over (partition by v.list order by v.score desc, v.path) as place,
           -- By words, no match is worth 0 (a query that only excludes words has no other score). By meaning,
           -- the farthest chunk found is worth 0, since what is far depends on the model.
           case when v.list = 'words' then coalesce(v.score / nullif(max(v.score) over l, 0), 1)
             when max(v.score) over l = min(v.score) over l then 1
             else (v.score - min(v.score) over l) / (max(v.score) over l - min(v.score) over l) end as share
    from visible v where v.nth = 1
    window l as (partition by v.list)
  ), fused as (
    select p.file_id, p.path, p.json_bytes,
           (array_agg(p.hash order by p.place) filter (where p.list <> 'words'))[1] as hash,
           -- A file that is being embedded again is in both lists of meaning, and counts once.
           case when v_is_fused
             then c_weight_of_words * coalesce(max(p.share) filter (where p.list = 'words'), 0)
               + (1 - c_weight_of_words) * coalesce(max(p.share) filter (where p.list <> 'words'), 0)
             when (select count(distinct r.list) from found r) > 1
             then coalesce(max(1 / (c_fusion + p.place)) filter (where p.list = 'words'), 0)
               + coalesce(max(1 / (c_fusion + p.place)) filter (where p.list <> 'words'), 0)
             else max(p.score) end as score
    from placed p group by p.file_id, p.path, p.json_bytes
  ), page as (
    select u.*, row_number() over (order by u.score desc, u.path) as place from fused u
    -- Neither a word nor, compared with the others that were found, the meaning: not a result.
    where u.score > 0 or not v_is_fused
    order by u.score desc, u.path limit (p_query ->> 'files')::integer + 1 offset (p_query ->> 'skip')::integer
  )
  select p.file_id, p.hash, p.score, p.place, row_number() over (order by p.place) <= (p_query ->> 'files')::integer
    and (p.place = min(p.place) over () or sum(p.json_bytes) over (order by p.place) <= (p_query ->> 'bytes')::bigint)
  from page p;
end
$$;
comment on function filestore.search_ranked is
  'A page of the best files, and one more, by words, by meaning or by both: then the scores of words and '
  'meaning are fused, or the ranks of names and meaning. Scores and ranks are computed over the files that '
  'the key may see. `fits`: whether a file is on the page, which has at least one file.';
call filestore.grant_execute('filestore.search_ranked', 'filestore_engine');

create function filestore.search_by_rank(p_session filestore.session, p_scope text, p_query jsonb) returns json
language plpgsql volatile set search_path = '' as $$
begin
  return (
    select json_build_object(
      'files', coalesce(json_agg(json_build_object(
        'file', filestore.file_record(f::filestore.files), 'skipped', t.skipped, 'content', x.content, 'score', z.score,
        'chunk', case when k.hash is not null then json_build_object(
          'firstLine', k.first_line, 'text', substr(x.content, k.start + 1, k.length)) end
      ) order by z.place) filter (where z.fits), '[]'),
      'hasMore', not coalesce(bool_and(z.fits), true))
    from filestore.search_ranked(p_session, p_scope, p_query) z
    -- fence: as in search_ranked.
    cross join lateral (
      select * from filestore.files f where f.project_id = p_session.project_id and f.id = z.file_id offset 0
    ) f
    cross join lateral (
      select * from filestore.search_texts t
      where t.project_id = p_session.project_id and t.file_id = z.file_id offset 0
    ) t
    left join lateral (
      select * from filestore.search_contents c
      where c.project_id = p_session.project_id and c.hash = t.content_hash offset 0
    ) c on true
    cross join lateral (select coalesce(t.content, c.content) as content) x
    left join lateral (
      select * from filestore.search_chunks k
      where k.project_id = p_session.project_id and k.file_id = z.file_id and k.hash = z.hash offset 0
    ) k on true);
end
$$;
comment on function filestore.search_by_rank is 'A page of the best files, with their text and their nearest chunk.';
call filestore.grant_execute('filestore.search_by_rank', 'filestore_engine');

create function public.filestore_search(p_key_hash text, p_request_id uuid, p_query jsonb) returns json
language plpgsql volatile security definer set search_path = '' as $$
declare
  -- Files that are not indexed yet are counted up to this number, which also stands for all larger ones.
  c_pending_max constant integer := 10000;
  c_chunks_max constant integer := (filestore.limits()).search_exact_chunks_max;
  v_session constant filestore.session := filestore.authorize(
    p_key_hash, p_request_id, 'read', p_place => p_query ->> 'directory');
  -- The part of the requested directory that the key may see.
  v_scope constant text := filestore.seen_directory(v_session, p_query ->> 'directory');
  v_stage constant integer := case when p_query -> 'vector' <> 'null'::jsonb then 2 else 1 end;
  v_query jsonb;
  v_page json := '{"files": []}';
begin
  if v_session.envelope ? 'refusal' then return v_session.envelope::json; end if;
  -- Rows of functions are overestimated: where Postgres compiles plans, it would spend most of a second on
  -- compiling these.
  perform set_config('jit', 'off', true);
  if v_scope is not null then
    v_query := p_query || jsonb_build_object('directory', v_scope);
    v_page := case when p_query ->> 'kind' = 'scan' then filestore.search_by_pattern(v_session, v_scope, v_query)
      else filestore.search_by_rank(v_session, v_scope, v_query) end;
  end if;
  return filestore.page_response(v_session, json_build_object(
    'files', v_page -> 'files', 'next', v_page -> 'next', 'walked', v_page -> 'walked', 'hasMore', v_page -> 'hasMore',
    'hasVectors', filestore.search_has_vectors(),
    'lexemes', to_json(filestore.search_query_lexemes(coalesce(p_query ->> 'words', ''))),
    'scope', v_scope, 'stage', v_stage,
    -- No index contains vectors of this size, and the project has too many chunks to compare them one by one.
    'isVectorCut', v_scope is not null and exists (
      select from (values (p_query -> 'vector'), (p_query -> 'former' -> 'vector')) v (vector)
      where jsonb_typeof(v.vector) = 'array' and jsonb_array_length(v.vector) <> all ((filestore.limits()).vector_sizes)
    ) and (select count(*) > c_chunks_max from (
      select from filestore.search_chunks c where c.project_id = v_session.project_id limit c_chunks_max + 1) c),
    'pending', (select count(*) from (
      select from filestore.search_queue q
      where q.project_id = v_session.project_id and q.stage <= v_stage
        and (v_scope = '' and (q.path < '.branches/' or q.path >= '.branches0')
          or q.path >= v_scope || '/' and q.path < v_scope || '0')
      limit c_pending_max) q),
    'unsearched', case when v_scope is not null
      then filestore.search_unsearched(v_session, v_scope, p_query, v_stage) end));
end
$$;
comment on function public.filestore_search is
  'Files that may match (kind scan: clauses, caseSensitive, after) or the best ones (kind rank: words or '
  'names, vector and model, former: the same for the former model), with their text. Both: directory, glob, '
  'contentType, files, skip, bytes.';
call filestore.publish('public.filestore_search', 'filestore_engine', 'service_role');

create function public.filestore_search_indexed(p_project_id uuid, p_scopes text[], p_stages integer[])
returns boolean[]
language plpgsql stable security definer set search_path = '' as $$
begin
  return array(
    select not exists (
      select from filestore.search_queue q
      where q.project_id = p_project_id and q.stage <= s.stage
        and (s.scope = '' and (q.path < '.branches/' or q.path >= '.branches0')
          or q.path >= s.scope || '/' and q.path < s.scope || '0'))
    from unnest(p_scopes, p_stages) with ordinality s (scope, stage, place) order by s.place);
end
$$;
comment on function public.filestore_search_indexed is
  'Whether everything in each of these directories of a project is indexed, up to its stage.';
call filestore.publish('public.filestore_search_indexed', 'filestore_search', 'service_role');
