/** What the migrations are meant to make; `catalog.test.ts` compares the catalog with it. */

export interface IntendedFunction {
  readonly owner: string;
  readonly definer: boolean;
  readonly settings: string;
  /** Who may call it besides its owner. */
  readonly execute: string[];
  readonly commented: boolean;
}

export interface IntendedTable {
  readonly owner: string;
  readonly rowSecurity: boolean;
  readonly commented: boolean;
  /** `role privilege, privilege(column)`, besides its owner's. */
  readonly privileges: string[];
}

/** The role that applies migrations; on a hosted project it is no superuser. */
const MIGRATING_ROLE = "postgres";

/** An interface function: runs as `owner`, callable by one API role; by default with the secret key alone. */
function operation(owner: string, caller = "service_role"): IntendedFunction {
  return {
    owner,
    definer: true,
    settings: 'search_path=""',
    execute: [caller],
    commented: true,
  };
}

/** A function behind them: runs as its caller, callable by the roles of the operations alone. */
function internal(...execute: string[]): IntendedFunction {
  return { owner: MIGRATING_ROLE, definer: false, settings: 'search_path=""', execute, commented: true };
}

/** Of policies: without a search_path the planner puts the body into the condition. */
function inlined(...execute: string[]): IntendedFunction {
  return { ...internal(...execute), settings: "" };
}

function table(...privileges: string[]): IntendedTable {
  return { owner: MIGRATING_ROLE, rowSecurity: true, commented: true, privileges };
}

const engine = internal("filestore_engine");
const search = internal("filestore_search");
/** Runs as filestore_search, which sees every project's text, and returns ids to the engine. */
const searchCandidates: IntendedFunction = {
  ...operation("filestore_search"),
  execute: ["filestore_engine"],
};
const searchIndexing = operation("filestore_search");
/** Whoever deletes a text, its content is looked after by who sees all texts. */
const searchTrigger: IntendedFunction = { ...operation("filestore_search"), execute: [] };
/** Its statements are planned once for a session, by index whatever the statistics say. */
const plannedOnce: IntendedFunction = {
  ...engine,
  settings:
    'search_path="", plan_cache_mode=force_generic_plan, enable_seqscan=off, enable_bitmapscan=off, enable_sort=off, jit=off',
};
const admin = internal("filestore_admin");
const fileOperation = operation("filestore_engine");
const administration = operation("filestore_admin");
const account = internal("filestore_account");
const cursors = internal("filestore_account", "filestore_engine");
const accountOperation = operation("filestore_account", "authenticated");

export const FUNCTIONS: Record<string, IntendedFunction> = {
  "filestore.account_key(p_key filestore.api_keys)": internal("filestore_account", "filestore_admin"),
  "filestore.account_project(p_project_id uuid)": account,
  "filestore.find_account(p_account text, OUT id uuid, OUT email text)": {
    ...internal("filestore_account", "filestore_admin"),
    definer: true,
  },
  "filestore.find_owner(p_account text, OUT id uuid, OUT problem text)": { ...admin, definer: true },
  // These three read the schema auth.
  "filestore.is_account_active(p_account_id uuid)": { ...engine, definer: true },
  "filestore.is_session_active(p_account_id uuid, p_session_id uuid, p_aal text)": {
    ...engine,
    definer: true,
  },
  "filestore.may_own(p_account_id uuid, p_claims jsonb)": { ...account, definer: true },
  "filestore.add_segments(p_project_id uuid, p_segments jsonb)": engine,
  // What an opened project is administered with: for its owner, and from the engine for a key with the scope admin.
  "filestore.administer(p_project_id uuid, p_action text, p_parameters jsonb)": operation(
    "filestore_account",
    "filestore_engine",
  ),
  "filestore.authorize(p_key_hash text, p_request_id uuid, p_scope text, p_requests integer)": engine,
  "filestore.failed_precondition(p_file filestore.files, p_commit jsonb)": engine,
  "filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.commit_result(p_file filestore.files, p_extra jsonb, p_segments jsonb)": engine,
  "filestore.copy_file(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.adjust_directory_counts(p_project_id uuid, p_directory text, p_change integer)": {
    ...engine,
    settings: 'search_path="", enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off',
  },
  "filestore.charge_usage(p_session filestore.session, p_bytes bigint, p_database_bytes bigint, p_versions integer, p_may_exceed boolean)":
    engine,
  "filestore.commit_or_refuse(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.database_cost(p_before filestore.files, p_path text, p_next filestore.next_version, p_new_segments integer)":
    engine,
  "filestore.file_cost(p_path text)": internal(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.account_grants_of_others(p_session filestore.session)": engine,
  "filestore.account_settings(p_account_id uuid)": { ...account, definer: true },
  "filestore.shared_bytes(p_account_id uuid)": account,
  "filestore.has_room(p_session filestore.session, p_cost bigint)": engine,
  "filestore.indexed_bytes(p_size bigint, p_mime_type text, p_is_text boolean)": internal(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.quota_exceeded(p_session filestore.session)": engine,
  "filestore.directory_counts(p_project_id uuid, p_path text, OUT file_count bigint, OUT subtree_file_count bigint)":
    internal("filestore_account", "filestore_engine"),
  "filestore.create_key(p_project_id uuid, p_key jsonb, p_replaced_id uuid)": account,
  "filestore.create_project(p_name text, p_id uuid)": account,
  "filestore.current_account_id()": account,
  "filestore.current_project_id()": inlined("filestore_account", "filestore_admin", "filestore_engine"),
  "filestore.current_owner_id()": inlined("filestore_engine"),
  "filestore.current_key_hash()": inlined("filestore_engine"),
  "filestore.current_path_prefix()": inlined("filestore_engine"),
  "filestore.file_record(p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at timestamp with time zone, p_updated_at timestamp with time zone)":
    engine,
  "filestore.find_version(p_session filestore.session, p_path text, p_version integer, p_at text, p_with_segments boolean)":
    engine,
  "filestore.caller_id(p_session filestore.session)": engine,
  "filestore.stored_response(p_session filestore.session, p_idempotency jsonb)": engine,
  "filestore.apply_to_file(p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb, p_change filestore.change)":
    engine,
  "filestore.apply_to_two(p_session filestore.session, p_source filestore.files, p_target filestore.files, p_kind text, p_commit jsonb, p_change filestore.change)":
    engine,
  "filestore.erased_answer()": engine,
  "filestore.batch_results(p_session filestore.session, p_commit jsonb)": engine,
  "filestore.commit_batch(p_session filestore.session, p_commit jsonb)": engine,
  "filestore.commit_time(p_project_id uuid, p_paths text[])": engine,
  "filestore.count_files(p_session filestore.session, p_files integer)": engine,
  "filestore.count_requests(p_project_id uuid, p_limit integer, p_request_id uuid, p_requests integer, p_may_wait boolean)":
    engine,
  "filestore.is_committed(p_session filestore.session, p_commit jsonb)": engine,
  "filestore.writes_inside(p_session filestore.session, p_commit jsonb)": engine,
  "filestore.begin_run(p_project_id uuid, p_change filestore.change)": engine,
  "filestore.change_of(p_kind text, p_commit jsonb)": engine,
  "filestore.cursor_at(p_cursor_key bytea, p_position bigint)": cursors,
  "filestore.cursor_mask(p_cursor_key bytea, p_tag bytea)": cursors,
  "filestore.feed_end(p_project_id uuid)": internal("filestore_admin", "filestore_engine"),
  "filestore.feed_lock(p_project_id uuid)": internal("filestore_admin", "filestore_engine"),
  "filestore.last_position_by(p_project_id uuid, p_end bigint, p_time timestamp with time zone)": plannedOnce,
  "filestore.last_position(p_project_id uuid, p_after bigint, p_end bigint)": {
    ...plannedOnce,
    execute: ["filestore_admin", "filestore_engine"],
  },
  "filestore.pick_changes(p_project_id uuid, p_query jsonb, p_by_path boolean, p_after bigint, p_end bigint, p_looked_at_max integer, p_picked_max integer, OUT positions bigint[], OUT looked_to bigint)":
    plannedOnce,
  "filestore.change_records(p_project_id uuid, p_positions bigint[], p_cursor_key bytea, p_shows_keys boolean)":
    plannedOnce,
  "filestore.summarize_run(p_project_id uuid, p_run_id text, p_is_confined boolean)": plannedOnce,
  "filestore.run_record(p_run filestore.run_summary)": engine,
  "filestore.run_keys(p_project_id uuid, p_run_id text)": plannedOnce,
  "filestore.run_file_after(p_project_id uuid, p_run_id text, p_key_id uuid, p_after uuid, p_from uuid, OUT file_id uuid, OUT first_version integer, OUT first_position bigint, OUT first_at timestamp with time zone, OUT last_version integer, OUT last_at timestamp with time zone)":
    plannedOnce,
  "filestore.run_files(p_project_id uuid, p_run_id text, p_key_ids uuid[], p_file_ids uuid[], p_after uuid, p_before bigint, p_limit integer, OUT files filestore.run_file[], OUT is_complete boolean)":
    plannedOnce,
  "filestore.whose(p_session filestore.session, p_key_ids uuid[])": engine,
  "public.filestore_changes(p_key_hash text, p_request_id uuid, p_query jsonb)": fileOperation,
  "public.filestore_newest_change(p_project_id uuid, p_known bigint)": administration,
  "public.filestore_runs(p_key_hash text, p_request_id uuid, p_limit integer, p_after text)": fileOperation,
  "public.filestore_run(p_key_hash text, p_request_id uuid, p_run_id text, p_limit integer, p_after uuid)":
    fileOperation,
  "filestore.lock_paths(p_project_id uuid, p_paths text[], p_new_paths text[])": engine,
  "filestore.next_position(p_project_id uuid)": internal(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.position_of(p_cursor_key bytea, p_cursor text)": cursors,
  "filestore.appended_since(p_file filestore.files, p_version integer)": engine,
  "filestore.compacted_again(p_file filestore.files, p_read uuid[], p_edited uuid[])": engine,
  "filestore.edited_segments(p_file filestore.files, p_commit jsonb)": engine,
  "filestore.is_edited_in_turns(p_project_id uuid, p_path text)": engine,
  "filestore.is_live(p_file filestore.files)": engine,
  "filestore.at_version(p_file filestore.files, p_version filestore.file_versions)": internal(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.too_large(p_session filestore.session, p_size bigint, p_details jsonb)": engine,
  "filestore.content_of(p_file filestore.files)": engine,
  "filestore.tombstone_of(p_file filestore.files)": engine,
  "filestore.made_record(p_file filestore.files, p_extra jsonb)": engine,
  "filestore.iso(p_time timestamp with time zone)": internal(
    "filestore_account",
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.key_record(p_key filestore.api_keys)": admin,
  "filestore.latest_writes(p_project_id uuid, p_limit integer)": account,
  // Evaluated by the planner.
  "filestore.limits()": internal(
    "filestore_account",
    "filestore_admin",
    "filestore_engine",
    "filestore_search",
  ),
  "filestore.list_page(p_session filestore.session, p_query jsonb)": engine,
  "filestore.lock_file(p_project_id uuid, p_path text)": engine,
  "filestore.lock_account()": account,
  "filestore.max_segments(p_size bigint)": engine,
  "filestore.may_write(p_session filestore.session, p_path text)": engine,
  "filestore.is_name(p_name text, p_minimum integer)": internal("filestore_account", "filestore_admin"),
  "filestore.is_path(p_path text)": internal("filestore_account", "filestore_admin"),
  "filestore.enter_account()": account,
  "filestore.prune_keys()": admin,
  "filestore.prune_links()": admin,
  "filestore.count_link_use(p_project_id uuid, p_link_id uuid, p_limit integer, p_added integer)": engine,
  "filestore.has_ended(p_link filestore.links)": engine,
  "filestore.link_record(p_link filestore.links)": engine,
  "filestore.open_link(p_token_hash text, p_scope text, p_is_counted boolean)": engine,
  "filestore.validation_refusal(p_issues jsonb)": internal("filestore_account", "filestore_admin"),
  "filestore.validate_key(p_key jsonb)": internal("filestore_account", "filestore_admin"),
  "filestore.validate_name(p_name text, p_minimum integer)": internal("filestore_account", "filestore_admin"),
  "filestore.not_found(p_file filestore.files)": engine,
  "filestore.nothing_at(p_session filestore.session, p_path text, p_file filestore.files)": engine,
  "filestore.claimed_account_id()": internal("filestore_account", "filestore_admin"),
  "filestore.current_claims()": internal("filestore_account", "filestore_admin"),
  "filestore.is_persons_token(p_claims jsonb)": internal("filestore_account", "filestore_admin"),
  "filestore.to_uuid(p_text text)": internal("filestore_account", "filestore_admin"),
  "filestore.delete_project(p_project_id uuid, p_parameters jsonb)": account,
  "filestore.end_project(p_project_id uuid, p_deletion_id uuid)": internal(
    "filestore_account",
    "filestore_admin",
  ),
  "filestore.end_account(p_account_id uuid, p_deletion_id uuid)": operation(
    "filestore_admin",
    "filestore_account",
  ),
  "filestore.repeated_deletion(p_action text, p_parameters jsonb)": {
    ...operation("filestore_admin"),
    execute: ["filestore_account", "filestore_engine"],
  },
  "filestore.repeated_account_deletion(p_deletion_id uuid)": operation(
    "filestore_admin",
    "filestore_account",
  ),
  "filestore.tables_of_projects(OUT name text, OUT key text)": admin,
  "filestore.open_deletion(p_project_id uuid)": admin,
  "filestore.end_of_deletion(p_project_id uuid)": admin,
  "public.filestore_account_delete(p_confirm text, p_deletion_id uuid)": accountOperation,
  "public.filestore_sweep_forget_account(p_account_id uuid)": administration,
  "public.filestore_admin_delete_project(p_id uuid, p_confirm text)": administration,
  "public.filestore_sweep_note_objects(p_project_id uuid, p_objects text[])": administration,
  "public.filestore_sweep_forget_segments(p_project_id uuid, p_objects text[])": administration,
  "public.filestore_sweep_remove_rows(p_project_id uuid)": {
    ...administration,
    settings: 'search_path="", enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off',
  },
  "filestore.sweep_clock()": internal("filestore_account", "filestore_admin", "filestore_engine"),
  "filestore.oldest_committable_day()": internal("filestore_admin", "filestore_engine"),
  "filestore.open_own_project(p_project_id uuid)": account,
  "filestore.outside_prefix(p_session filestore.session)": engine,
  "filestore.page_response(p_session filestore.session, p_page json)": engine,
  "filestore.refused_field(p_field text, p_reason text)": engine,
  "filestore.moment_of(p_session filestore.session, p_at text)": engine,
  "filestore.file_at(p_file filestore.files, p_moment filestore.moment, OUT file filestore.files, OUT is_trimmed boolean, OUT is_redacted boolean)":
    internal("filestore_admin", "filestore_engine"),
  "filestore.record_at(p_session filestore.session, p_path text, p_at text, OUT file filestore.files, OUT is_redacted boolean, OUT refusal jsonb)":
    engine,
  "filestore.was_directory(p_session filestore.session, p_path text, p_moment filestore.moment, p_budget integer, OUT is_found boolean, OUT examined integer)":
    plannedOnce,
  "filestore.directories_at(p_session filestore.session, p_directory text, p_moment filestore.moment, OUT names json, OUT has_more boolean, OUT examined integer)":
    plannedOnce,
  "filestore.page_at(p_session filestore.session, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_moment filestore.moment, OUT files text, OUT trimmed text[], OUT next text, OUT examined integer)":
    plannedOnce,
  "filestore.settled_page(p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_settled_at timestamp with time zone, OUT files json, OUT next text)":
    plannedOnce,
  "filestore.list_at(p_session filestore.session, p_query jsonb)": engine,
  "filestore.may_write_below(p_session filestore.session, p_directory text)": engine,
  "filestore.too_many_files(p_files bigint)": engine,
  "filestore.folder_files(p_session filestore.session, p_directory text, p_moment filestore.moment, OUT files filestore.files[], OUT trimmed text[], OUT refusal jsonb)":
    plannedOnce,
  "filestore.export_too_large(p_files bigint, p_bytes bigint, p_segments bigint)": engine,
  "filestore.files_below(p_session filestore.session, p_directory text, p_moment filestore.moment, OUT files filestore.files[], OUT trimmed text[], OUT is_more boolean)":
    plannedOnce,
  "filestore.export_files(p_session filestore.session, p_directory text, p_at text)": engine,
  "public.filestore_export(p_key_hash text, p_request_id uuid, p_directory text, p_at text)": fileOperation,
  "filestore.broken_path_rule(p_path text)": engine,
  "filestore.plan_folder(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.plan_of(p_session filestore.session, p_kind text, p_commit jsonb, p_before bigint)": engine,
  "filestore.locked_plan(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.carry_out(p_session filestore.session, p_plan filestore.plan, p_change filestore.change)":
    engine,
  "filestore.folder_answer(p_session filestore.session, p_kind text, p_commit_id uuid)": engine,
  "filestore.is_same_content(p_project_id uuid, p_segment_ids uuid[], p_other_ids uuid[])": engine,
  "filestore.is_unchanged(p_file filestore.files, p_then filestore.files)": engine,
  "filestore.back_step(p_session filestore.session, p_file filestore.files, p_then filestore.files)": engine,
  "filestore.back_action(p_file filestore.files, p_then filestore.files)": engine,
  "filestore.back_refusal(p_session filestore.session, p_file filestore.files, p_then filestore.files)":
    engine,
  "filestore.undoing_runs(p_project_id uuid, p_run_id text)": engine,
  "filestore.undo_files(p_session filestore.session, p_run_id text, p_key_ids uuid[], p_paths text[], p_before bigint, OUT files filestore.run_file[], OUT refusal jsonb)":
    engine,
  "filestore.split_moves(p_session filestore.session, p_run_id text, p_key_ids uuid[], p_ids uuid[], p_before bigint)":
    plannedOnce,
  "filestore.conflict_of(p_session filestore.session, p_file filestore.files, p_version filestore.file_versions, p_reason text)":
    engine,
  "filestore.undone_keys(p_session filestore.session, p_commit jsonb)": engine,
  "filestore.plan_undo(p_session filestore.session, p_commit jsonb, p_before bigint)": engine,
  "filestore.changed_since(p_session filestore.session, p_directory text, p_since timestamp with time zone, OUT ids uuid[], OUT is_complete boolean)":
    plannedOnce,
  "filestore.plan_restore(p_session filestore.session, p_commit jsonb, p_before bigint)": engine,
  "filestore.back_answer(p_session filestore.session, p_plan filestore.plan, p_run_id text)": engine,
  "filestore.answer_counts(p_value jsonb)": engine,
  "filestore.planned_answer(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.commit_planned(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "public.filestore_plan(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb)": fileOperation,
  "filestore.plain_page(p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer, OUT files json, OUT has_more boolean)":
    plannedOnce,
  "filestore.sorted_page(p_project_id uuid, p_query jsonb, OUT files json, OUT has_more boolean, OUT total bigint)":
    engine,
  "filestore.plan_version(p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb, OUT planned filestore.next_version, OUT new_bytes bigint, OUT refusal jsonb)":
    engine,
  "filestore.error(p_code text, p_message text)": admin,
  "filestore.project_record(p_project filestore.projects)": admin,
  "filestore.put_version(p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version, p_change filestore.change)":
    engine,
  "filestore.refusal(p_code text, p_details jsonb)": internal(
    "filestore_account",
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.repeated_commit(p_file filestore.files, p_commit jsonb)": engine,
  "filestore.repeated_key(p_project_id uuid, p_key jsonb)": account,
  "filestore.invalid_name(p_name text)": admin,
  "filestore.revoke_key(p_project_id uuid, p_id uuid)": account,
  "filestore.change_key(p_project_id uuid, p_id uuid, p_changes jsonb)": internal(
    "filestore_account",
    "filestore_admin",
  ),
  "public.filestore_admin_change_key(p_id uuid, p_changes jsonb)": administration,
  "public.filestore_diff_files(p_key_hash text, p_request_id uuid, p_path text, p_to_path text, p_from integer, p_to integer)":
    fileOperation,
  "filestore.rotate_key(p_project_id uuid, p_key jsonb)": account,
  "filestore.is_active(p_key filestore.api_keys)": internal("filestore_account", "filestore_admin"),
  "public.filestore_account_administer(p_project_id uuid, p_action text, p_parameters jsonb)":
    accountOperation,
  "public.filestore_account_create_project(p_name text, p_id uuid)": accountOperation,
  "public.filestore_account_describe()": accountOperation,
  "public.filestore_account_projects()": accountOperation,
  "public.filestore_account_session(p_project_id uuid, p_token_hash text)": accountOperation,
  "filestore.queue_for_search()": engine,
  "filestore.refuse_to_orphan()": admin,
  "filestore.search_filter(p_query jsonb)": internal("filestore_search"),
  "filestore.search_by_rank(p_session filestore.session, p_scope text, p_query jsonb)": engine,
  "filestore.search_has_vectors()": internal("filestore_engine", "filestore_search"),
  ...Object.fromEntries([384, 512, 768, 1024, 1536].map((size) => [
    `filestore.search_nearest_${size}(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text)`,
    search,
  ])),
  "filestore.vector_sizes()": internal("filestore_engine", "filestore_search"),
  "filestore.search_unembedded(p_project_id uuid, p_query jsonb, p_files integer)": engine,
  "filestore.search_is_vector_cut(p_session filestore.session, p_vector jsonb)": engine,
  "filestore.search_nearest_exact(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text)":
    internal("filestore_search"),
  "filestore.search_pending(p_session filestore.session, p_scope text, p_stage integer)": engine,
  "filestore.search_unsearched(p_session filestore.session, p_scope text, p_query jsonb, p_stage integer)":
    engine,
  "filestore.has_text(p_mime_type text, p_is_text boolean)": internal(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.search_camel_split(p_text text)": internal("filestore_engine", "filestore_search"),
  "filestore.search_lexemes(p_words text)": internal("filestore_engine", "filestore_search"),
  "filestore.search_query_lexemes(p_words text)": internal("filestore_engine", "filestore_search"),
  "filestore.search_split(p_text text)": internal("filestore_engine", "filestore_search"),
  "filestore.search_store_text(p_text jsonb, p_model text)": search,
  "filestore.search_store_chunks(p_project_id uuid, p_file_id uuid, p_version integer, p_content text, p_chunks jsonb)":
    search,
  "filestore.search_waiting_projects(p_stage integer, p_projects integer, p_due timestamp with time zone)":
    search,
  "filestore.search_take(p_claim_id uuid, p_stage integer, p_files integer, p_bytes bigint, p_lease_seconds integer, p_due timestamp with time zone)":
    search,
  "filestore.search_chunks_to_embed(p_project_id uuid, p_file_id uuid, p_version integer, p_model text, p_chunks integer)":
    search,
  "filestore.search_rank_candidates(p_project_id uuid, p_query jsonb)": searchCandidates,
  "filestore.search_pattern_candidates(p_project_id uuid, p_query jsonb)": searchCandidates,
  "filestore.search_by_pattern(p_session filestore.session, p_scope text, p_query jsonb)": engine,
  "filestore.search_scope(p_prefix text, p_directory text)": engine,
  "filestore.search_trigrams(p_text text)": internal("filestore_search"),
  "filestore.search_trigrams_within(p_literal text)": internal("filestore_search"),
  "filestore.search_tsquery(p_words text)": internal("filestore_search"),
  "filestore.search_path_words(p_path text)": search,
  "filestore.search_content_words(p_content text, OUT words tsvector, OUT is_cut boolean)": search,
  "filestore.search_content_hash(p_content text)": search,
  "filestore.search_lock_content(p_project_id uuid, p_hash bytea)": search,
  "filestore.search_release_content()": searchTrigger,
  "filestore.search_rest(p_query tsquery, p_known text[])": search,
  "filestore.segment_list(p_project_id uuid, p_segment_ids uuid[])": internal(
    "filestore_admin",
    "filestore_engine",
    "filestore_search",
  ),
  "public.filestore_verify_versions(p_project_id uuid, p_after_path text, p_after_version integer)": {
    ...administration,
    settings: plannedOnce.settings,
  },
  "public.filestore_verify_swept(p_project_id uuid)": administration,
  "public.filestore_verify_segments(p_after uuid, p_project_id uuid)": {
    ...administration,
    settings:
      'search_path="", plan_cache_mode=force_generic_plan, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, jit=off',
  },
  "public.filestore_verify_end(p_project_id uuid)": administration,
  "public.filestore_verify_unneeded(p_project_id uuid, p_ids uuid[], p_position bigint, p_repairs boolean)": {
    ...administration,
    settings: 'search_path="", enable_seqscan=off',
  },
  "public.filestore_verify_unknown(p_ids uuid[])": administration,
  "public.filestore_admin_create_key(p_project_id uuid, p_name text, p_key_hash text, p_prefix text, p_expires_at timestamp with time zone, p_scopes text[], p_path_prefix text, p_grace_seconds integer)":
    administration,
  "public.filestore_admin_create_project(p_name text, p_tier text, p_id uuid)": administration,
  "public.filestore_admin_find_project(p_project text, p_owner text)": administration,
  "public.filestore_admin_list_keys(p_project_id uuid)": administration,
  "public.filestore_admin_list_projects()": administration,
  "public.filestore_admin_revoke_key(p_id uuid)": administration,
  "public.filestore_admin_rotate_key(p_id uuid, p_key_hash text, p_prefix text, p_grace_seconds integer)":
    administration,
  "public.filestore_admin_settings(p_changes jsonb)": administration,
  "public.filestore_admin_update_project(p_id uuid, p_changes jsonb)": administration,
  "public.filestore_administer(p_key_hash text, p_request_id uuid, p_action text, p_parameters jsonb)":
    fileOperation,
  "public.filestore_authorize(p_key_hash text, p_request_id uuid, p_path text, p_requests integer)":
    fileOperation,
  "public.filestore_commit_many(p_key_hash text, p_request_id uuid, p_requests integer, p_kind text, p_commit jsonb)":
    fileOperation,
  "public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb)": fileOperation,
  "public.filestore_edit_turn(p_key_hash text, p_request_id uuid, p_path text, p_holder uuid, p_seconds integer, p_idempotency jsonb)":
    fileOperation,
  "public.filestore_content(p_key_hash text, p_request_id uuid, p_path text, p_version integer, p_idempotency jsonb, p_at text)":
    fileOperation,
  "public.filestore_diff(p_key_hash text, p_request_id uuid, p_path text, p_from integer, p_to integer)":
    fileOperation,
  "public.filestore_create_link(p_key_hash text, p_request_id uuid, p_link jsonb)": fileOperation,
  "public.filestore_list_links(p_key_hash text, p_request_id uuid)": fileOperation,
  "public.filestore_revoke_link(p_key_hash text, p_request_id uuid, p_id uuid)": fileOperation,
  "public.filestore_link_content(p_key_hash text, p_request_id uuid)": fileOperation,
  "public.filestore_link_authorize(p_key_hash text, p_request_id uuid)": fileOperation,
  "public.filestore_link_commit(p_key_hash text, p_request_id uuid, p_commit jsonb)": fileOperation,
  "public.filestore_list(p_key_hash text, p_request_id uuid, p_query jsonb)": fileOperation,
  "public.filestore_compact(p_key_hash text, p_request_id uuid, p_path text, p_run uuid[], p_compacted jsonb)":
    fileOperation,
  "public.filestore_search(p_key_hash text, p_request_id uuid, p_query jsonb)": fileOperation,
  "public.filestore_search_claim(p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer, p_model text, p_begun timestamp with time zone)":
    {
      ...searchIndexing,
      settings: 'search_path="", enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off',
    },
  "public.filestore_search_settled(p_project_id uuid, p_scopes text[], p_stages integer[])": searchIndexing,
  "public.filestore_search_fail(p_claim_id uuid, p_files jsonb)": searchIndexing,
  "public.filestore_search_requeue(p_model text, p_files integer, p_given_up_seconds integer)":
    searchIndexing,
  "public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text)": searchIndexing,
  "public.filestore_search_store_embeddings(p_claim_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb)":
    searchIndexing,
  "public.filestore_health_probe()": administration,
  "filestore.is_still_there(p_file filestore.files, p_version integer, p_segment_ids uuid[])": engine,
  "filestore.share_segments(p_project_id uuid, p_source_id uuid, p_file_id uuid, p_segment_ids uuid[])":
    engine,
  "filestore.place_hash(p_cursor_key bytea, p_file_id uuid, p_place text)": internal(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.is_receipt_seen(p_project_id uuid, p_file_id uuid, p_query jsonb)": engine,
  // Erasing is no right of the engine: it calls upon who has it.
  "filestore.release_usage(p_project_id uuid, p_bytes bigint, p_database_bytes bigint, p_versions bigint)":
    operation("filestore_admin", "filestore_engine"),
  "filestore.purge_file(p_file filestore.files, p_commit_id uuid, p_key_id uuid, p_actor text)": operation(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.version_cost(p_version filestore.file_versions)": admin,
  "filestore.has_doubtful_segments(p_project_id uuid, p_file_id uuid)": admin,
  "filestore.bury_segments(p_project_id uuid, p_file_id uuid, p_segment_ids uuid[], OUT bytes bigint, OUT database_bytes bigint)":
    admin,
  "filestore.remove_versions(p_project_id uuid, p_file_id uuid, p_last integer, p_versions_max integer, OUT versions bigint, OUT database_bytes bigint, OUT segment_ids uuid[])":
    admin,
  "filestore.commit_purge(p_session filestore.session, p_commit jsonb)": engine,
  "filestore.sweep_purged_versions(p_project_id uuid)": admin,
  "filestore.sweep_scans(p_project_id uuid)": admin,
  "filestore.lock_to_trim(p_project_id uuid, p_file_id uuid, p_waits boolean)": admin,
  "filestore.sweep_retention(p_project_id uuid)": admin,
  "filestore.due_retention(p_begun timestamp with time zone, OUT project_id uuid, OUT due_since timestamp with time zone)":
    admin,
  "filestore.projects_to_sweep(p_kind text, p_begun timestamp with time zone, OUT project_id uuid, OUT due_since timestamp with time zone)":
    admin,
  "filestore.note_turn(p_project_id uuid, p_kind text)": admin,
  "filestore.due_since()": admin,
  "filestore.retention_cut(p_file filestore.files, p_rule jsonb)": admin,
  "filestore.trim_versions(p_file filestore.files, p_cut integer, p_versions_max integer, OUT versions bigint, OUT bytes bigint, OUT database_bytes bigint)":
    admin,
  "filestore.settle_segments(p_file filestore.files, p_segment_ids uuid[], p_versions_max integer, OUT bytes bigint, OUT database_bytes bigint)":
    admin,
  "filestore.redact_versions(p_file filestore.files, p_versions integer[], p_note text)": operation(
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.sharing_versions(p_session filestore.session, p_file filestore.files, p_segment_ids uuid[])": {
    ...engine,
    settings: 'search_path="", plan_cache_mode=force_generic_plan, enable_seqscan=off, jit=off',
  },
  "filestore.unreadable_version(p_file filestore.files, p_number integer, p_version filestore.file_versions)":
    engine,
  "public.filestore_redact(p_key_hash text, p_request_id uuid, p_path text, p_versions integer[], p_note text)":
    fileOperation,
  "filestore.sweep_answers(p_project_id uuid, p_begun timestamp with time zone)": admin,
  "public.filestore_purge(p_key_hash text, p_request_id uuid, p_commit jsonb)": fileOperation,
  "public.filestore_sweep_erasures(p_kind text, p_begun timestamp with time zone)": {
    ...administration,
    settings:
      'search_path="", plan_cache_mode=force_generic_plan, enable_seqscan=off, enable_bitmapscan=off, jit=off',
  },
  "public.filestore_count_usage(p_counts jsonb)": administration,
  "filestore.note_usage_level(p_project_id uuid, p_today date)": admin,
  "filestore.fold_usage(p_project_id uuid, p_versions_max integer)": {
    ...operation("filestore_admin", "filestore_account"),
    settings:
      'search_path="", plan_cache_mode=force_generic_plan, enable_seqscan=off, enable_bitmapscan=off, enable_hashjoin=off, enable_mergejoin=off, jit=off',
  },
  "filestore.sweep_usage(p_begun timestamp with time zone)": admin,
  "filestore.is_expired(p_file filestore.files, p_rule jsonb)": admin,
  "filestore.preview_retention(p_project_id uuid, p_rule jsonb)": {
    ...operation("filestore_admin", "filestore_account"),
    settings: plannedOnce.settings,
  },
  "filestore.usage_by_day(p_project_id uuid, p_query jsonb)": account,
  "filestore.sweepable_through()": admin,
  "public.filestore_sweep_dead(p_limit integer, p_begun timestamp with time zone)": {
    ...administration,
    settings: 'search_path="", enable_seqscan=off, enable_bitmapscan=off',
  },
  "public.filestore_sweep_removed(p_ids uuid[])": administration,
  "public.filestore_sweep_next(p_begun timestamp with time zone)": administration,
  "public.filestore_sweep_deleted_project(p_begun timestamp with time zone)": administration,
  "public.filestore_sweep_deleted_account(p_begun timestamp with time zone)": administration,
  "public.filestore_sweep_progress(p_project_id uuid, p_swept_through date, p_day date, p_kept integer)":
    administration,
  "public.filestore_sweep_unreferenced(p_project_id uuid, p_ids uuid[])": administration,
  "public.filestore_record(p_key_hash text, p_request_id uuid, p_path text, p_version integer, p_at text)":
    fileOperation,
  "public.filestore_versions(p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer, p_at text)":
    fileOperation,
};

/** Nothing is ever deleted but what a deleted project held, keys and links that ended long ago, idempotency keys, counts of empty directories, noted changes of counts and the search index, and versions and segments are never updated. */
export const TABLES: Record<string, IntendedTable> = {
  account_deletions: table("filestore_admin delete, insert, select, update"),
  project_deletions: table("filestore_account insert", "filestore_admin delete, insert, select, update"),
  account_windows: table("filestore_account insert, select, update"),
  account_grants: table(
    "filestore_account select",
    "filestore_admin delete, select, update",
    "filestore_engine insert, select, update",
  ),
  settings: table("filestore_admin select, update", "filestore_engine select"),
  api_keys: table(
    "filestore_account insert, select, update(expires_at), update(name), update(path_prefix), update(revoked_at), update(scopes)",
    "filestore_admin delete, insert, select, update",
    "filestore_engine select, update(has_written), update(last_used_at)",
  ),
  console_sessions: table(
    "filestore_account delete, insert, select, update(aal), update(account_id), update(expires_at), update(session_id)",
    "filestore_admin delete, select(project_id), select(token_hash)",
    "filestore_engine select",
  ),
  doubtful_segments: table(
    "filestore_admin delete, insert, select, update",
    "filestore_engine delete, insert, select",
  ),
  purged_files: table("filestore_admin delete, insert, select, update", "filestore_engine select"),
  retention_passes: table("filestore_admin delete, insert, select, update"),
  usage_days: table("filestore_account select", "filestore_admin delete, insert, select, update"),
  usage_levels: table("filestore_account select", "filestore_admin delete, insert, select, update"),
  usage_folds: table("filestore_admin delete, insert, select, update"),
  segment_scans: table("filestore_admin delete, insert, select, update"),
  shared_segments: table("filestore_admin delete, select", "filestore_engine insert, select"),
  dead_segments: table("filestore_admin delete, insert, select, update"),
  directories: table(
    "filestore_account select",
    "filestore_admin delete, select(name), select(parent_id), select(project_id)",
    "filestore_engine delete, insert, select, update",
  ),
  directory_changes: table(
    "filestore_account select",
    "filestore_admin delete, select(id), select(path), select(project_id)",
    "filestore_engine delete, insert, select",
  ),
  file_versions: table(
    "filestore_account select",
    "filestore_admin delete, insert, select, update(note), update(redacted_at), update(redacted_segment_ids), update(segment_ids)",
    "filestore_engine insert, select",
  ),
  files: table(
    "filestore_account select",
    "filestore_admin delete, select, update",
    "filestore_engine insert, select, update",
    "filestore_search select",
  ),
  health: table("filestore_admin insert, select, update"),
  edit_turns: table("filestore_admin delete, select", "filestore_engine delete, insert, select, update"),
  idempotency_keys: table(
    "filestore_admin delete, select",
    "filestore_engine delete, insert, select, update",
  ),
  links: table(
    "filestore_account select, update(key_hash), update(key_id)",
    "filestore_admin delete, select, update(key_hash), update(key_id)",
    "filestore_engine delete, insert, select, update(commit_id), update(revoked_at), update(used_at)",
  ),
  link_windows: table("filestore_admin delete, select", "filestore_engine delete, insert, select, update"),
  project_usage: table(
    "filestore_account select",
    "filestore_admin delete, insert, select, update",
    "filestore_engine insert, select, update",
  ),
  projects: table(
    "filestore_account insert, select, update(deleted_at), update(name), update(owner_id), update(retention), update(retention_set_at)",
    "filestore_admin delete, insert, select, update",
    "filestore_engine select",
  ),
  rate_windows: table(
    "filestore_account select",
    "filestore_admin delete, select(project_id), select(shard)",
    "filestore_engine insert, select, update",
  ),
  run_undos: table(
    "filestore_admin delete, select(project_id), select(run_id), select(undone_run_id)",
    "filestore_engine insert, select",
  ),
  runs: table(
    "filestore_admin delete, select(project_id), select(run_id)",
    "filestore_engine insert, select",
  ),
  search_chunks: table(
    "filestore_admin delete, select(file_id), select(hash), select(project_id)",
    "filestore_engine select",
    "filestore_search delete, insert, select, update",
  ),
  search_contents: table(
    "filestore_admin delete, select(hash), select(project_id)",
    "filestore_engine select",
    "filestore_search delete, insert, select, update",
  ),
  search_queue: table(
    "filestore_admin delete, select",
    "filestore_engine insert, select, update",
    "filestore_search delete, insert, select, update",
  ),
  search_texts: table(
    "filestore_admin delete, select",
    "filestore_engine select",
    "filestore_search delete, insert, select, update",
  ),
  segments: table(
    "filestore_admin delete, select, update(ends_with_newline), update(newlines), update(sha256)",
    "filestore_engine insert, select",
    "filestore_search select",
  ),
  sweeps: table("filestore_admin delete, insert, select, update"),
  tiers: table("filestore_account select", "filestore_admin select", "filestore_engine select"),
};

const OWN_ROWS = "(project_id = filestore.current_project_id())";
const OF_ACCOUNT = "(account_id = filestore.current_owner_id())";
const OWN_KEY = "(key_hash = filestore.current_key_hash())";
/** What a key with a prefix sees and makes of the project's links. */
const VISIBLE_LINK = `(${OWN_ROWS} AND starts_with(path, filestore.current_path_prefix()))`;
/** … and of its files. Of a purged file nobody sees a row, but its receipt: who saw the file. */
const VISIBLE_FILE =
  `(${OWN_ROWS} AND starts_with((path)::text, filestore.current_path_prefix()) AND (path IS NOT NULL))`;
const SEEN_RECEIPT =
  `(${OWN_ROWS} AND ((filestore.current_path_prefix() = ''::text) OR (filestore.place_hash(( SELECT p.cursor_key ` +
  "FROM filestore.projects p WHERE (p.id = filestore.current_project_id())), file_id, rtrim(filestore.current_path_prefix(), '/'::text)) = ANY (place_hashes))))";
const REQUESTS_ROWS = `((filestore.current_project_id() IS NULL) OR ${OWN_ROWS})`;
const OWNED = "(owner_id = filestore.current_account_id())";
const OWN_ACCOUNT = "(account_id = filestore.current_account_id())";
const OPENED = "(id = filestore.current_project_id())";

const changingTables = ["directories", "edit_turns", "idempotency_keys", "project_usage", "rate_windows"];
const tenantTables = [
  ...changingTables,
  "directory_changes",
  "file_versions",
  "run_undos",
  "runs",
  "segments",
  "shared_segments",
  "doubtful_segments",
];
const searchTables = ["search_queue", "search_texts", "search_contents", "search_chunks"];
/** What an account changes of its project, and what it only reads. */
const accountTables = ["api_keys", "console_sessions"];
const readTables = [
  "files",
  "file_versions",
  "directories",
  "directory_changes",
  "project_usage",
  "rate_windows",
  "usage_days",
  "usage_levels",
];

/** What erasure inserts and updates, and what it removes besides. */
const erasureTables = [
  "file_versions",
  "project_usage",
  "purged_files",
  "segment_scans",
  "doubtful_segments",
  "dead_segments",
  "retention_passes",
  "usage_days",
  "usage_levels",
  "usage_folds",
];
const erasable = [
  ...erasureTables,
  "files",
  "shared_segments",
  "idempotency_keys",
  "edit_turns",
  "search_queue",
  "search_texts",
];

function isErased(name: string): boolean {
  return erasable.includes(name) && name !== "files" && name !== "project_usage";
}

export const POLICIES: string[] = [
  `account_grants: filestore_account select using ${OWN_ACCOUNT}`,
  "account_grants: filestore_admin delete using true",
  "account_grants: filestore_admin select using true",
  `account_grants: filestore_engine insert check (${OWN_ROWS} AND ${OF_ACCOUNT})`,
  `account_grants: filestore_engine select using (${OWN_ROWS} OR ${OF_ACCOUNT})`,
  `account_grants: filestore_engine update using ${OWN_ROWS} check ${OF_ACCOUNT}`,
  "account_deletions: filestore_admin all using true check true",
  `project_deletions: filestore_account insert check ${OWN_ROWS}`,
  "project_deletions: filestore_admin all using true check true",
  // Of one project, once it was deleted.
  ...[...tenantTables, "console_sessions", "files", ...searchTables]
    .filter((name) => name !== "segments").flatMap((name) => [
      ...(erasable.includes(name) ? [] : [`${name}: filestore_admin select using ${OWN_ROWS}`]),
      ...(isErased(name) ? [] : [`${name}: filestore_admin delete using ${OWN_ROWS}`]),
    ]),
  `projects: filestore_admin delete using ${OPENED}`,
  `sweeps: filestore_admin delete using ${OWN_ROWS}`,
  "settings: filestore_admin select using true",
  "settings: filestore_admin update using true check true",
  "settings: filestore_engine select using true",
  ...tenantTables.flatMap((name) => [
    `${name}: filestore_engine select using ${OWN_ROWS}`,
    `${name}: filestore_engine insert check ${OWN_ROWS}`,
  ]),
  ...changingTables.map((name) => `${name}: filestore_engine update using ${OWN_ROWS} check ${OWN_ROWS}`),
  `files: filestore_engine select using ${VISIBLE_FILE}`,
  `files: filestore_engine insert check ${VISIBLE_FILE}`,
  `files: filestore_engine update using ${VISIBLE_FILE} check ${OWN_ROWS}`,
  `purged_files: filestore_engine select using ${SEEN_RECEIPT}`,
  // What the engine calls upon to erase: the rows of the request's project; without a request, of all.
  ...erasable.map((name) => `${name}: filestore_admin select using ${REQUESTS_ROWS}`),
  ...erasable.filter(isErased)
    .map((name) => `${name}: filestore_admin delete using ${REQUESTS_ROWS}`),
  ...erasureTables.flatMap((name) => [
    `${name}: filestore_admin insert check ${REQUESTS_ROWS}`,
    `${name}: filestore_admin update using ${REQUESTS_ROWS} check ${REQUESTS_ROWS}`,
  ]),
  ...["files", "account_grants"].map((name) =>
    `${name}: filestore_admin update using ${REQUESTS_ROWS} check ${REQUESTS_ROWS}`
  ),
  ...["directories", "directory_changes", "doubtful_segments", "edit_turns", "idempotency_keys"].map((name) =>
    `${name}: filestore_engine delete using ${OWN_ROWS}`
  ),
  `projects: filestore_engine select using ${OPENED}`,
  ...searchTables.map((name) => `${name}: filestore_engine select using ${OWN_ROWS}`),
  `search_queue: filestore_engine insert check ${OWN_ROWS}`,
  `search_queue: filestore_engine update using ${OWN_ROWS} check ${OWN_ROWS}`,
  // The exception of search: candidates are found in the rows of all projects, since no index answers under a policy.
  ...searchTables.flatMap((name) => [
    `${name}: filestore_search select using true`,
    `${name}: filestore_search insert check true`,
    `${name}: filestore_search update using true check true`,
    `${name}: filestore_search delete using true`,
  ]),
  "files: filestore_search select using true",
  "segments: filestore_search select using true",
  `api_keys: filestore_engine select using ${OWN_KEY}`,
  `api_keys: filestore_engine update using ${OWN_KEY}`,
  `console_sessions: filestore_account delete using ${OWN_ROWS}`,
  "console_sessions: filestore_engine select using (token_hash = filestore.current_key_hash())",
  "tiers: filestore_engine select using true",
  "tiers: filestore_admin select using true",
  "tiers: filestore_account select using true",
  "segments: filestore_admin delete using true",
  "segments: filestore_admin select using true",
  "segments: filestore_admin update using true check true",
  "api_keys: filestore_admin delete using true",
  `account_windows: filestore_account select using ${OWN_ACCOUNT}`,
  `account_windows: filestore_account insert check ${OWN_ACCOUNT}`,
  `account_windows: filestore_account update using ${OWN_ACCOUNT}`,
  "health: filestore_admin all using true check true",
  `links: filestore_account select using ${OWN_ROWS}`,
  `links: filestore_account update using ${OWN_ROWS} check ${OWN_ROWS}`,
  "links: filestore_admin all using true check true",
  `links: filestore_engine delete using ${OWN_ROWS}`,
  `links: filestore_engine insert check ${OWN_ROWS}`,
  `links: filestore_engine select using ((token_hash = filestore.current_key_hash()) OR ${VISIBLE_LINK})`,
  `links: filestore_engine update using ${OWN_ROWS} check ${OWN_ROWS}`,
  "link_windows: filestore_admin all using true check true",
  `link_windows: filestore_engine all using ${OWN_ROWS} check ${OWN_ROWS}`,
  ...["projects", "api_keys", "sweeps"].flatMap((name) => [
    `${name}: filestore_admin select using true`,
    `${name}: filestore_admin insert check true`,
    `${name}: filestore_admin update using true check true`,
  ]),
  `projects: filestore_account select using (${OWNED} OR ${OPENED})`,
  `projects: filestore_account insert check ${OWNED}`,
  `projects: filestore_account update using ${OPENED} check ${OPENED}`,
  ...[...accountTables, ...readTables].map((name) =>
    `${name}: filestore_account select using ${
      name === "files" ? `(${OWN_ROWS} AND (path IS NOT NULL))` : OWN_ROWS
    }`
  ),
  ...accountTables.flatMap((name) => [
    `${name}: filestore_account insert check ${OWN_ROWS}`,
    `${name}: filestore_account update using ${OWN_ROWS} check ${OWN_ROWS}`,
  ]),
].sort();

/** CREATE in public is nobody's but its owner's: the roles have it only while a migration hands functions over. */
export const SCHEMA_PRIVILEGES: string[] = [
  "filestore: filestore_account usage",
  "filestore: filestore_admin usage",
  "filestore: filestore_engine usage",
  "filestore: filestore_search usage",
  "public: PUBLIC usage",
  "public: anon usage",
  "public: authenticated usage",
  "public: postgres usage",
  "public: service_role usage",
];

const powerless = { hasAttribute: false, members: [MIGRATING_ROLE], memberOf: [], commented: true };
export const ROLES = {
  filestore_account: powerless,
  filestore_admin: powerless,
  filestore_engine: powerless,
  filestore_search: powerless,
};
