-- Bounds that several functions use, or that the database and the edge function both use. A number that only one
-- function uses is a constant of that function.

create view filestore.limits as select
  1024 as path_bytes_max,
  32 as path_segments_max,
  -- A file has at most this many segments, plus the next number for each MiB begun.
  128 as segment_list_max_base,
  2 as segment_list_max_per_mib,
  -- A commit returns the segment list for compaction whenever its length passes a multiple of this.
  8 as compaction_check_every_segments,
  20 as account_projects_max,
  -- Members of a project, with its owner and open invitations, and how long an invitation is open.
  50 as project_members_max,
  14 as invitation_days,
  -- Invitations of a project that are mailed within 24 hours.
  50 as invitation_mails_per_day_max,
  -- Calls per minute of an account's own functions, for all of its projects together.
  120 as account_requests_per_minute,
  -- Keys that are neither revoked nor expired.
  100 as project_keys_max,
  604800 as key_grace_period_seconds_max,
  -- The sweep removes a key this long after it was revoked or has expired.
  90 as ended_keys_kept_days,
  100 as name_length_max,
  -- Apps: how long a code and an access token are valid, how long a used refresh token may be used again, …
  60 as app_code_seconds,
  3600 as app_access_seconds,
  30 as app_refresh_grace_seconds,
  -- … after how long without use an app is disconnected, …
  90 as app_unused_days,
  -- … and how many tokens of an app are kept, the newest.
  100 as app_tokens_max,
  -- Usable links of a project.
  1000 as project_links_max,
  60 as link_seconds_min,
  604800 as link_seconds_max,
  3600 as write_link_seconds_max,
  60 as link_requests_per_minute,
  -- For this long, the answer to an ended link states that it ended; then the sweep removes the link.
  7 as ended_links_kept_days,
  10 as project_webhooks_max,
  -- Changes in one delivery, tries that are kept of a webhook, …
  100 as webhook_changes_max,
  100 as webhook_deliveries_kept,
  -- … and how long an isolate has for a try and its report, before another one may deliver.
  30 as webhook_lease_seconds,
  24 as webhook_secrets_hours,
  86400 as idempotency_key_seconds,
  10 as operations_per_request,
  -- How long an operation waits for a lock that another transaction holds.
  2000 as lock_timeout_milliseconds,
  -- The number of commits of one project that can add to its usage at the same time without waiting.
  64 as usage_shards,
  -- The tariff of a version, deletions included, …
  512 as tariff_version_bytes,
  -- … of each byte of its run id, actor and note, which an index has, too, …
  2 as tariff_provenance_factor,
  -- … of each segment in its list, …
  16 as tariff_listed_segment_bytes,
  -- … of each stored segment, and of each in the list of a version with the content of another file, …
  256 as tariff_segment_bytes,
  -- … and of each byte of text in the search index. `filestore.file_cost` has that of a file.
  6 as tariff_indexed_factor,
  -- A file with a longer text is found by its path alone.
  1048576 as search_text_bytes_max,
  -- A longer text is stored once for all files of a project that contain it.
  512 as search_shared_bytes_min,
  1000 as list_directories_max,
  -- The largest number of files that a list counts; beyond it, a list shows only that there are more.
  10000 as list_total_max,
  100 as page_limit_max,
  -- Files that a page of a list with `at=` examines, and again that number for the names of sub-folders.
  2000 as list_at_examined_max,
  -- Files in one commit of a folder operation, an undo or a restore.
  1000 as commit_files_max,
  -- Paths that a refused copy or move of a folder names.
  20 as conflicting_paths_shown_max,
  -- Files that a branch is made of, in slices of commit_files_max, and the tariff of a branch.
  10000 as branch_files_max,
  2048 as tariff_branch_bytes,
  -- Texts whose lines one merge may merge, and their bytes, all three sides together.
  200 as merge_texts_max,
  16777216 as merge_texts_bytes_max,
  -- Files that restoring a folder examines to find those that changed.
  10000 as restore_examined_max,
  -- An archive contains at most this many files, bytes and segments. Each segment costs a download.
  500 as export_files_max,
  52428800 as export_bytes_max,
  1000 as export_segments_max,
  -- The plan of an undo or a restore counts as at most this many requests.
  10 as plan_requests_max,
  1000 as changes_limit_max,
  -- Versions that a page of the change feed with filters, or for a key with a path prefix, examines.
  10000 as changes_examined_max,
  20 as run_actors_max,
  -- Versions that are counted of one run; the counts of a larger run are lower bounds.
  10000 as run_versions_counted_max,
  -- Versions by each key, and without a key, that are read of one run to name the people who wrote in it.
  100 as run_versions_named_max,
  -- Versions that the plan of an undo examines, to find versions of other authors.
  20000 as undo_versions_examined_max,
  -- Versions that a purge removes in its own commit. The sweep removes the others in slices.
  10000 as erased_versions_max,
  -- Largest numbers in a retention rule: of versions, and of days.
  10000 as keep_versions_max,
  3650 as keep_days_max,
  -- For a preview of a retention rule: files that it examines, versions that it counts, files that it names.
  2000 as retention_preview_files,
  100000 as retention_preview_versions,
  20 as retention_preview_shown,
  -- Days in one request for usage, days for which usage is kept, and keys that an answer names.
  366 as usage_days_max,
  400 as usage_kept_days,
  100 as usage_keys_shown_max,
  20 as redact_remaining_max,
  -- Files without indexed text that a search examines, and how many of their paths the answer names.
  2000 as search_unsearched_max,
  20 as search_unsearched_paths_max,
  -- In a project with up to this many chunks a search compares each embedding; in a larger one it uses the
  -- index.
  10000 as search_exact_chunks_max,
  -- Embeddings with these numbers of dimensions have an index; others are compared one by one.
  '{384, 512, 768, 1024, 1536}'::integer[] as vector_sizes;
comment on view filestore.limits is 'The bounds that several functions, or the database and the edge function, share.';
grant select on filestore.limits
  to filestore_account, filestore_admin, filestore_engine, filestore_search;

-- Immutable: the planner replaces `(filestore.limits()).x` by a constant, so reading a limit costs nothing.
create function filestore.limits() returns filestore.limits
language plpgsql immutable set search_path = ''
as $$ begin return (select l from filestore.limits l); end $$;
comment on function filestore.limits is
  'The limits. A test compares them with `limits.ts`, and fails for a limit that no function reads.';
call filestore.grant_execute(
  'filestore.limits', 'filestore_account', 'filestore_admin', 'filestore_engine', 'filestore_search');
