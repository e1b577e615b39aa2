-- Bounds that several functions use, or that the database and the edge function both use. A number that only one
-- function uses is a constant of that function.

create type filestore.limits as (
  path_bytes_max integer,
  path_segments_max integer,
  -- A file has at most this many segments, and the next number more for each MiB or part of one.
  segment_list_max_base integer,
  segment_list_max_per_mib integer,
  -- A commit returns the segment list for compaction whenever its length passes a multiple of this.
  compaction_check_every_segments integer,
  account_projects_max integer,
  -- Calls of the functions for accounts, all projects of an account together.
  account_requests_per_minute integer,
  -- Keys that are neither revoked nor expired.
  project_keys_max integer,
  key_grace_period_seconds_max integer,
  -- The sweep removes a key this long after it was revoked or has expired.
  ended_keys_kept_days integer,
  name_length_max integer,
  -- Links of a project that can be used.
  project_links_max integer,
  link_seconds_min integer,
  link_seconds_max integer,
  write_link_seconds_max integer,
  link_requests_per_minute integer,
  -- An ended link is answered as one that ended for this long; then the sweep removes it.
  ended_links_kept_days integer,
  idempotency_key_seconds integer,
  operations_per_request integer,
  -- How long an operation waits for a lock that another transaction holds.
  lock_timeout_milliseconds integer,
  -- Commits of one project that add to its usage at the same time without waiting for each other.
  usage_shards integer,
  -- The tariff of a version, deletions included, …
  tariff_version_bytes integer,
  -- … of each byte of its run id, actor and note, which an index has, too, …
  tariff_provenance_factor integer,
  -- … of each segment in its list, …
  tariff_listed_segment_bytes integer,
  -- … of each stored segment, and of each in the list of a version with the content of another file, …
  tariff_segment_bytes integer,
  -- … and of each byte of text in the search index. `filestore.file_cost` has that of a file.
  tariff_indexed_factor integer,
  -- A longer text is found by its path alone.
  search_text_bytes_max integer,
  -- A longer text is stored once for all files of a project that have it.
  search_shared_bytes_min integer,
  list_directories_max integer,
  -- Files that a list counts. Of more it tells only that there are more.
  list_total_max integer,
  page_limit_max integer,
  -- Files that a page of a list with `at=` examines, and as many for the names of sub-folders.
  list_at_examined_max integer,
  -- Files of one commit of a folder, an undo or a restore.
  commit_files_max integer,
  -- Paths that a refused copy or move of a folder names.
  conflicting_paths_shown_max integer,
  -- Files that the restoring of a folder examines, in search of those that changed.
  restore_examined_max integer,
  -- An archive holds at most this many files, bytes, and segments, each of which is a download.
  export_files_max integer,
  export_bytes_max integer,
  export_segments_max integer,
  -- As how many requests the plan of an undo or a restore counts at most.
  plan_requests_max integer,
  changes_limit_max integer,
  -- Versions that a page of the change feed with filters, or for a key with a path prefix, examines.
  changes_looked_at_max integer,
  run_actors_max integer,
  -- Versions that are counted of one run; of one that has more, counts are what it has at least.
  run_versions_counted_max integer,
  -- Versions that the plan of an undo examines, in search of those of others.
  undo_versions_examined_max integer,
  -- Versions that a purge removes with its commit. The sweep removes the others in slices.
  erased_versions_max integer,
  -- Files that a preview of a rule of retention examines, versions it counts, and files it names.
  retention_preview_files integer,
  retention_preview_versions integer,
  retention_preview_shown integer,
  -- Days of one question about usage, days that usage is kept, and keys that its answer names.
  usage_days_max integer,
  usage_kept_days integer,
  usage_keys_shown_max integer,
  redact_remaining_max integer,
  -- Files without indexed text that a search examines, and paths of them that its answer names.
  search_unsearched_max integer,
  search_unsearched_paths_max integer,
  -- In a project with up to this many chunks each embedding is compared; in a larger one the index is used.
  search_exact_chunks_max integer
);
comment on type filestore.limits is 'The bounds that several functions, or the database and the edge function, share.';

-- In plpgsql, so that each value stands beside its name. Immutable: the planner replaces `(filestore.limits()).x` by a
-- constant, so that reading a limit costs nothing.
create function filestore.limits() returns filestore.limits
language plpgsql immutable set search_path = '' as $$
declare
  v_limits filestore.limits;
begin
  v_limits.path_bytes_max := 1024;
  v_limits.path_segments_max := 32;
  v_limits.segment_list_max_base := 128;
  v_limits.segment_list_max_per_mib := 2;
  v_limits.compaction_check_every_segments := 8;
  v_limits.account_projects_max := 20;
  v_limits.account_requests_per_minute := 120;
  v_limits.project_keys_max := 100;
  v_limits.key_grace_period_seconds_max := 604800;
  v_limits.ended_keys_kept_days := 90;
  v_limits.name_length_max := 100;
  v_limits.project_links_max := 1000;
  v_limits.link_seconds_min := 60;
  v_limits.link_seconds_max := 604800;
  v_limits.write_link_seconds_max := 3600;
  v_limits.link_requests_per_minute := 60;
  v_limits.ended_links_kept_days := 7;
  v_limits.idempotency_key_seconds := 86400;
  v_limits.operations_per_request := 10;
  v_limits.lock_timeout_milliseconds := 2000;
  v_limits.usage_shards := 64;
  v_limits.tariff_version_bytes := 512;
  v_limits.tariff_provenance_factor := 2;
  v_limits.tariff_listed_segment_bytes := 16;
  v_limits.tariff_segment_bytes := 256;
  v_limits.tariff_indexed_factor := 6;
  v_limits.search_text_bytes_max := 1048576;
  v_limits.search_shared_bytes_min := 512;
  v_limits.list_directories_max := 1000;
  v_limits.list_total_max := 10000;
  v_limits.page_limit_max := 100;
  v_limits.list_at_examined_max := 2000;
  v_limits.commit_files_max := 1000;
  v_limits.conflicting_paths_shown_max := 20;
  v_limits.restore_examined_max := 10000;
  v_limits.export_files_max := 500;
  v_limits.export_bytes_max := 52428800;
  v_limits.export_segments_max := 1000;
  v_limits.plan_requests_max := 10;
  v_limits.changes_limit_max := 1000;
  v_limits.changes_looked_at_max := 10000;
  v_limits.run_actors_max := 20;
  v_limits.run_versions_counted_max := 10000;
  v_limits.undo_versions_examined_max := 20000;
  v_limits.erased_versions_max := 10000;
  v_limits.retention_preview_files := 2000;
  v_limits.retention_preview_versions := 100000;
  v_limits.retention_preview_shown := 20;
  v_limits.usage_days_max := 366;
  v_limits.usage_kept_days := 400;
  v_limits.usage_keys_shown_max := 100;
  v_limits.redact_remaining_max := 20;
  v_limits.search_unsearched_max := 2000;
  v_limits.search_unsearched_paths_max := 20;
  v_limits.search_exact_chunks_max := 10000;
  return v_limits;
end
$$;
comment on function filestore.limits is
  'The limits. A test compares those that `limits.ts` has, too, and finds each that no function reads.';
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
