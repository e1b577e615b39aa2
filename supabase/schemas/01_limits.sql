-- Bounds that the edge function depends on, too, or that are used in several places.

create type filestore.limits as (
  path_bytes_max integer,
  path_segments_max integer,
  segment_list_max_base integer,
  segment_list_max_per_mib integer,
  compaction_check_every_segments integer,
  account_projects_max integer,
  account_requests_per_minute integer,
  project_keys_max integer,
  key_grace_period_seconds_max integer,
  ended_keys_kept_days integer,
  ended_keys_pruned_at_once integer,
  name_length_max integer,
  project_links_max integer,
  project_links_kept_max integer,
  link_seconds_min integer,
  link_seconds_max integer,
  write_link_seconds_max integer,
  link_requests_per_minute integer,
  ended_links_kept_days integer,
  ended_links_pruned_at_once integer,
  console_session_seconds integer,
  idempotency_key_seconds integer,
  lock_timeout_milliseconds integer,
  rate_lanes integer,
  usage_shards integer,
  account_share_bytes integer,
  tariff_file_bytes integer,
  tariff_path_factor integer,
  tariff_directory_bytes integer,
  tariff_version_bytes integer,
  tariff_listed_segment_bytes integer,
  tariff_segment_bytes integer,
  tariff_indexed_factor integer,
  search_text_bytes_max integer,
  list_directories_max integer,
  page_limit_max integer,
  search_pending_max integer,
  search_found_at_once_max integer,
  search_walk_files_max integer,
  search_walk_bytes_max integer,
  search_word_matches_max integer,
  search_exact_chunks_max integer,
  search_ranked_max integer,
  reindex_debounce_milliseconds integer,
  reindex_debounce_microseconds_per_byte integer,
  search_turn_projects_max integer,
  search_tries_max integer,
  search_retry_seconds integer
);
comment on type filestore.limits is 'The bounds that the database and the edge function (`limits.ts`) share.';

-- In plpgsql, so that each value stands beside its name. Immutable: the planner replaces `(filestore.limits()).x` by a
-- constant, so that reading a limit costs nothing.
create function filestore.limits() returns filestore.limits
language plpgsql immutable set search_path = '' as $$
declare
  v_limits filestore.limits;
begin
  v_limits.path_bytes_max := 1024;
  v_limits.path_segments_max := 32;
  -- A file has at most this many segments, and this many more for each MiB or part of one: a read stays bounded.
  v_limits.segment_list_max_base := 128;
  v_limits.segment_list_max_per_mib := 2;
  -- A commit returns the segment list for compaction whenever its length passes a multiple of this.
  v_limits.compaction_check_every_segments := 8;
  v_limits.account_projects_max := 20;
  -- Calls of the functions for accounts, all projects of an account together.
  v_limits.account_requests_per_minute := 120;
  -- Of those that are neither revoked nor expired.
  v_limits.project_keys_max := 100;
  v_limits.key_grace_period_seconds_max := 604800;
  -- A key that was revoked or expired so long ago is forgotten, by the sweep.
  v_limits.ended_keys_kept_days := 90;
  v_limits.ended_keys_pruned_at_once := 100;
  v_limits.name_length_max := 100;
  -- Links of a project that can be used, and all that are remembered; those that ended give way.
  v_limits.project_links_max := 1000;
  v_limits.project_links_kept_max := 2000;
  v_limits.link_seconds_min := 60;
  v_limits.link_seconds_max := 604800;
  v_limits.write_link_seconds_max := 3600;
  v_limits.link_requests_per_minute := 60;
  -- Who uses a link so long after its end is told that it ended, and later that there is none; the sweep forgets it.
  v_limits.ended_links_kept_days := 7;
  v_limits.ended_links_pruned_at_once := 1000;
  v_limits.console_session_seconds := 600;
  v_limits.idempotency_key_seconds := 86400;
  -- How long an operation waits for a lock that another transaction holds.
  v_limits.lock_timeout_milliseconds := 2000;
  -- Requests of one project that are admitted at the same time without waiting for each other's transactions.
  v_limits.rate_lanes := 64;
  -- Commits of one project that add to its usage at the same time without waiting for each other.
  v_limits.usage_shards := 64;
  -- Of an account's quota, a row of a project's usage is granted this much at a time.
  v_limits.account_share_bytes := 1048576;
  -- What a project's rows in the database count towards its quota: `filestore.database_cost`.
  v_limits.tariff_file_bytes := 512;
  v_limits.tariff_path_factor := 14;
  v_limits.tariff_directory_bytes := 256;
  v_limits.tariff_version_bytes := 512;
  v_limits.tariff_listed_segment_bytes := 16;
  v_limits.tariff_segment_bytes := 256;
  v_limits.tariff_indexed_factor := 6;
  -- A longer text is found by its path alone.
  v_limits.search_text_bytes_max := 1048576;
  v_limits.list_directories_max := 1000;
  v_limits.page_limit_max := 100;
  -- Files waiting to be indexed are counted up to this number.
  v_limits.search_pending_max := 10000;
  -- A pattern that occurs in up to this many files is looked up in the index and sorted.
  v_limits.search_found_at_once_max := 1000;
  -- For a pattern too short for the index so many texts, and bytes of them, are read at once.
  v_limits.search_walk_files_max := 2000;
  v_limits.search_walk_bytes_max := 4194304;
  -- Files that contain the words beyond this many are not ranked: reading their words takes time.
  v_limits.search_word_matches_max := 10000;
  -- In a project with up to this many chunks each embedding is compared; in a larger one the index is used.
  v_limits.search_exact_chunks_max := 10000;
  -- Files ranked by words, and chunks ranked by meaning.
  v_limits.search_ranked_max := 200;
  -- The least time between two indexings of a text: this long, and longer for each byte; 9.4 s for 1 MiB.
  v_limits.reindex_debounce_milliseconds := 1000;
  v_limits.reindex_debounce_microseconds_per_byte := 8;
  -- Projects that one claim of the search index looks at, in search of those with a file due.
  v_limits.search_turn_projects_max := 200;
  -- A file that could not be indexed is tried so often, alone, after so many seconds and twice as many each time.
  v_limits.search_tries_max := 3;
  v_limits.search_retry_seconds := 2;
  return v_limits;
end
$$;
comment on function filestore.limits is 'The limits. A test compares each with its namesake in limits.ts.';
call filestore.grant_execute(
  'filestore.limits', 'filestore_account', 'filestore_admin', 'filestore_engine', 'filestore_search');
