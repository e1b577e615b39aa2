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
  deleted_rows_at_once integer,
  console_session_seconds integer,
  idempotency_key_seconds integer,
  operations_per_request integer,
  lock_timeout_milliseconds integer,
  rate_shards integer,
  usage_shards integer,
  tariff_file_bytes integer,
  tariff_path_factor integer,
  tariff_directory_bytes integer,
  tariff_version_bytes integer,
  tariff_said_factor integer,
  tariff_listed_segment_bytes integer,
  tariff_segment_bytes integer,
  tariff_shared_segment_bytes integer,
  tariff_indexed_factor integer,
  search_text_bytes_max integer,
  list_directories_max integer,
  list_total_max integer,
  page_limit_max integer,
  list_at_examined_max integer,
  commit_files_max integer,
  conflicting_paths_shown_max integer,
  restore_examined_max integer,
  export_files_max integer,
  export_bytes_max integer,
  export_segments_max integer,
  verify_versions_max integer,
  verify_segments_max integer,
  verify_rows_max integer,
  plan_tries_max integer,
  plan_requests_max integer,
  changes_limit_max integer,
  changes_looked_at_max integer,
  run_actors_max integer,
  runs_looked_at_max integer,
  runs_counted_versions integer,
  run_versions_counted_max integer,
  run_files_examined_max integer,
  undo_versions_examined_max integer,
  erased_versions_max integer,
  erased_listed_segments_max integer,
  erasure_slice_versions integer,
  erasure_scan_versions integer,
  retention_slice_files integer,
  retention_slice_versions integer,
  retention_pass_seconds integer,
  retention_preview_files integer,
  retention_preview_versions integer,
  retention_preview_shown integer,
  usage_days_max integer,
  usage_kept_days integer,
  usage_keys_shown_max integer,
  usage_fold_seconds integer,
  usage_slice_versions integer,
  usage_slice_projects integer,
  redact_versions_max integer,
  redact_remaining_max integer,
  search_shared_bytes_min integer,
  search_path_words_max integer,
  search_trigrams_max integer,
  search_words_max_base integer,
  search_bytes_per_word_min integer,
  search_pending_max integer,
  search_unsearched_max integer,
  search_unsearched_paths_max integer,
  search_found_at_once_max integer,
  search_walk_files_max integer,
  search_walk_bytes_max integer,
  search_word_matches_max integer,
  search_exact_chunks_max integer,
  search_path_splits_max integer,
  search_ranked_max integer
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
  -- Rows of a deleted project that a slice of the sweep removes.
  v_limits.deleted_rows_at_once := 5000;
  v_limits.console_session_seconds := 600;
  v_limits.idempotency_key_seconds := 86400;
  v_limits.operations_per_request := 10;
  -- How long an operation waits for a lock that another transaction holds.
  v_limits.lock_timeout_milliseconds := 2000;
  -- Requests of one project that are counted at the same time without waiting for each other's transactions.
  v_limits.rate_shards := 64;
  -- Commits of one project that add to its usage at the same time without waiting for each other.
  v_limits.usage_shards := 64;
  -- What a project's rows in the database count towards its quota: `filestore.database_cost`.
  v_limits.tariff_file_bytes := 512;
  v_limits.tariff_path_factor := 14;
  v_limits.tariff_directory_bytes := 256;
  v_limits.tariff_version_bytes := 512;
  v_limits.tariff_said_factor := 2;
  v_limits.tariff_listed_segment_bytes := 16;
  v_limits.tariff_segment_bytes := 256;
  v_limits.tariff_shared_segment_bytes := 256;
  v_limits.tariff_indexed_factor := 6;
  -- A longer text is found by its path alone.
  v_limits.search_text_bytes_max := 1048576;
  -- A longer one is stored once for all files of a project that have it.
  v_limits.search_shared_bytes_min := 512;
  -- A path is found by so many of its words, the last ones.
  v_limits.search_path_words_max := 48;
  -- Numbers that stand for trigrams in their index, for all texts together: a power of two.
  v_limits.search_trigrams_max := 65536;
  -- Different words of a text that are indexed: this many, and one more for each so many bytes.
  v_limits.search_words_max_base := 600;
  v_limits.search_bytes_per_word_min := 32;
  v_limits.list_directories_max := 1000;
  -- Files that a list counts. Of more it says only that there are more.
  v_limits.list_total_max := 10000;
  v_limits.page_limit_max := 100;
  -- Files that a page of a list with `at=` looks at, and as many for the names of sub-folders.
  v_limits.list_at_examined_max := 2000;
  -- Files of one commit of a folder, an undo or a restore.
  v_limits.commit_files_max := 1000;
  -- Paths that a refused copy or move of a folder names.
  v_limits.conflicting_paths_shown_max := 20;
  -- Files that the restoring of a folder looks at, in search of those that changed.
  v_limits.restore_examined_max := 10000;
  -- What one archive may hold, and of how many segments: each is a download of the function.
  v_limits.export_files_max := 500;
  v_limits.export_bytes_max := 52428800;
  v_limits.export_segments_max := 1000;
  -- One page of a verification ends with the version that reaches one of these.
  v_limits.verify_versions_max := 500;
  v_limits.verify_segments_max := 2000;
  -- Rows of segments that one page looks at.
  v_limits.verify_rows_max := 10000;
  -- How often the files of a plan are locked anew, where others add to them meanwhile.
  v_limits.plan_tries_max := 5;
  -- As how many requests the plan of an undo or a restore counts at most.
  v_limits.plan_requests_max := 10;
  v_limits.changes_limit_max := 1000;
  -- Versions that a page of the change feed with filters, or for a key with a path prefix, looks at.
  v_limits.changes_looked_at_max := 10000;
  v_limits.run_actors_max := 20;
  -- A page of runs looks at so many, and at no further one once it has counted so many versions.
  v_limits.runs_looked_at_max := 1000;
  v_limits.runs_counted_versions := 50000;
  -- Versions that are counted of one run; of one that has more, counts are what it has at least.
  v_limits.run_versions_counted_max := 10000;
  -- Files of a run, for each key that claimed it, that are looked at in search of those that the caller sees.
  v_limits.run_files_examined_max := 10000;
  -- Versions that the plan of an undo looks at, in search of what others have made.
  v_limits.undo_versions_examined_max := 20000;
  -- A purge removes at most so many versions with its commit, with so many segments in their lists; the sweep the rest,
  -- in slices. After an erasure as many versions of the file are looked at, for segments that they still need.
  v_limits.erased_versions_max := 10000;
  v_limits.erased_listed_segments_max := 1500000;
  v_limits.erasure_slice_versions := 2000;
  v_limits.erasure_scan_versions := 500;
  -- Files that one slice looks at for a rule of retention, versions it removes, and how often time alone makes a pass
  -- due.
  v_limits.retention_slice_files := 500;
  v_limits.retention_slice_versions := 500;
  v_limits.retention_pass_seconds := 3600;
  -- Files that a preview of a rule looks at, versions it counts, and files it names.
  v_limits.retention_preview_files := 2000;
  v_limits.retention_preview_versions := 100000;
  v_limits.retention_preview_shown := 20;
  -- Days that one question about usage is about, how long they are kept, and keys that its answer names.
  v_limits.usage_days_max := 366;
  v_limits.usage_kept_days := 400;
  v_limits.usage_keys_shown_max := 100;
  -- How often the sweep adds a project's versions to its days, and versions and projects that one slice looks at.
  v_limits.usage_fold_seconds := 3600;
  v_limits.usage_slice_versions := 10000;
  v_limits.usage_slice_projects := 100;
  v_limits.redact_versions_max := 1000;
  v_limits.redact_remaining_max := 20;
  -- Files waiting to be indexed are counted up to this number.
  v_limits.search_pending_max := 10000;
  -- Files without indexed text that a search looks at, and paths of those not searched that its answer names.
  v_limits.search_unsearched_max := 2000;
  v_limits.search_unsearched_paths_max := 20;
  -- A pattern that occurs in up to this many files is looked up in the index and sorted.
  v_limits.search_found_at_once_max := 1000;
  -- For a pattern too short for the index so many texts, and bytes of them, are read at once.
  v_limits.search_walk_files_max := 2000;
  v_limits.search_walk_bytes_max := 4194304;
  -- Files that contain the words beyond this many are not ranked: reading their words takes time.
  v_limits.search_word_matches_max := 10000;
  -- Ways to divide a query's words between paths and shared contents, the most frequent ones.
  v_limits.search_path_splits_max := 32;
  -- In a project with up to this many chunks each embedding is compared; in a larger one the index is used.
  v_limits.search_exact_chunks_max := 10000;
  -- Files ranked by words, and chunks ranked by meaning.
  v_limits.search_ranked_max := 200;
  return v_limits;
end
$$;
comment on function filestore.limits is 'The limits. A test compares each with its namesake in limits.ts.';
call filestore.grant_execute(
  'filestore.limits', 'filestore_account', 'filestore_admin', 'filestore_engine', 'filestore_search');

create function filestore.vector_sizes() returns integer[]
language plpgsql immutable set search_path = '' as $$
begin
  return '{384, 512, 768, 1024, 1536}';
end
$$;
comment on function filestore.vector_sizes is
  'Dimensions of embeddings that have an index; others are compared one by one.';
call filestore.grant_execute('filestore.vector_sizes', 'filestore_engine', 'filestore_search');
