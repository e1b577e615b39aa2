-- Bounds that the edge function depends on, too, or that are used in several places.

create type filestore.limits as (
  segment_list_max_base integer,
  segment_list_max_per_mib integer,
  compaction_check_every_segments integer,
  account_projects_max integer,
  project_keys_max integer,
  name_length_max integer,
  console_session_seconds integer,
  idempotency_key_seconds integer,
  lock_timeout_milliseconds integer,
  list_directories_max integer,
  page_limit_max integer,
  search_pending_max integer,
  search_found_at_once_max integer,
  search_word_matches_max integer,
  search_exact_chunks_max integer,
  search_ranked_max integer,
  reindex_debounce_milliseconds integer,
  reindex_debounce_microseconds_per_byte integer
);
comment on type filestore.limits is 'The bounds that the database and the edge function (`limits.ts`) share.';

-- In plpgsql, so that each value stands beside its name. Immutable: the planner replaces `(filestore.limits()).x` by a
-- constant, so that reading a limit costs nothing.
create function filestore.limits() returns filestore.limits
language plpgsql immutable set search_path = '' as $$
declare
  v_limits filestore.limits;
begin
  -- A file has at most this many segments, and this many more for each MiB or part of one: a read stays bounded.
  v_limits.segment_list_max_base := 128;
  v_limits.segment_list_max_per_mib := 2;
  -- A commit returns the segment list for compaction whenever its length passes a multiple of this.
  v_limits.compaction_check_every_segments := 8;
  v_limits.account_projects_max := 20;
  -- Of those that are neither revoked nor expired.
  v_limits.project_keys_max := 100;
  v_limits.name_length_max := 100;
  v_limits.console_session_seconds := 600;
  v_limits.idempotency_key_seconds := 86400;
  -- How long an operation waits for a lock that another transaction holds.
  v_limits.lock_timeout_milliseconds := 2000;
  v_limits.list_directories_max := 1000;
  v_limits.page_limit_max := 100;
  -- Files waiting to be indexed are counted up to this number.
  v_limits.search_pending_max := 10000;
  -- A pattern that occurs in up to this many files is looked up in the index and sorted.
  v_limits.search_found_at_once_max := 1000;
  -- Files that contain the words beyond this many are not ranked: reading their words takes time.
  v_limits.search_word_matches_max := 10000;
  -- In a project with up to this many chunks each embedding is compared; in a larger one the index is used.
  v_limits.search_exact_chunks_max := 10000;
  -- Files ranked by words, and chunks ranked by meaning.
  v_limits.search_ranked_max := 200;
  -- The least time between two indexings of a text: this long, and longer for each byte; 9.4 s for 1 MiB.
  v_limits.reindex_debounce_milliseconds := 1000;
  v_limits.reindex_debounce_microseconds_per_byte := 8;
  return v_limits;
end
$$;
comment on function filestore.limits is 'The limits. A test compares each with its namesake in limits.ts.';
call filestore.grant_execute(
  'filestore.limits', 'filestore_account', 'filestore_admin', 'filestore_engine', 'filestore_search');
