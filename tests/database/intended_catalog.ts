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

/** A short one in SQL: with a search_path of its own it could not be inlined; it runs under its caller's, pinned, one. */
function inlinable(...execute: string[]): IntendedFunction {
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
/** Its statements are planned once for a session, by index whatever the statistics say. */
const plannedOnce: IntendedFunction = {
  ...engine,
  settings:
    'search_path="", plan_cache_mode=force_generic_plan, enable_seqscan=off, enable_bitmapscan=off, enable_sort=off, jit=off',
};
const engineInlinable = inlinable("filestore_engine");
const admin = internal("filestore_admin");
const adminInlinable = inlinable("filestore_admin");
const fileOperation = operation("filestore_engine");
const administration = operation("filestore_admin");
const account = internal("filestore_account");
const accountInlinable = inlinable("filestore_account");
const accountOperation = operation("filestore_account", "authenticated");

export const FUNCTIONS: Record<string, IntendedFunction> = {
  "filestore.account_key(p_key filestore.api_keys)": accountInlinable,
  "filestore.account_project(p_project_id uuid)": account,
  "filestore.find_account_id(p_account text)": { ...internal("filestore_admin"), definer: true },
  "filestore.add_segments(p_project_id uuid, p_segments jsonb)": engine,
  // What an opened project is administered with: for its owner, and from the engine for a key with the scope admin.
  "filestore.administer(p_project_id uuid, p_action text, p_parameters jsonb)": operation(
    "filestore_account",
    "filestore_engine",
  ),
  "filestore.authorize(p_key_hash text, p_request_id uuid, p_scope text)": engine,
  "filestore.failed_precondition(p_file filestore.files, p_commit jsonb)": engine,
  "filestore.commit_idempotent(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.commit_version(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.commit_result(p_file filestore.files, p_extra jsonb, p_segments jsonb)": engineInlinable,
  "filestore.copy_file(p_session filestore.session, p_is_move boolean, p_commit jsonb)": engine,
  "filestore.adjust_directory_counts(p_project_id uuid, p_directory text, p_change integer)": engine,
  "filestore.count_request(p_project_id uuid, p_limit integer, p_request_id uuid)": engine,
  "filestore.add_usage(p_session filestore.session, p_file_id uuid, p_bytes bigint, p_versions bigint)":
    engine,
  "filestore.create_key(p_project_id uuid, p_key jsonb, p_replaced_id uuid)": account,
  "filestore.create_project(p_name text, p_id uuid)": account,
  "filestore.current_account_id()": accountInlinable,
  "filestore.current_key_hash()": engineInlinable,
  "filestore.current_path_prefix()": engineInlinable,
  "filestore.current_project_id()": inlinable("filestore_account", "filestore_engine"),
  "filestore.file_record(p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at timestamp with time zone, p_updated_at timestamp with time zone)":
    engineInlinable,
  "filestore.find_version(p_session filestore.session, p_path text, p_version integer, p_with_segments boolean)":
    engine,
  "filestore.stored_response(p_session filestore.session, p_idempotency jsonb)": engine,
  "filestore.is_below(p_path text, p_directory text)": inlinable("filestore_engine", "filestore_search"),
  "filestore.is_live(p_file filestore.files)": engineInlinable,
  "filestore.iso(p_time timestamp with time zone)": inlinable(
    "filestore_account",
    "filestore_admin",
    "filestore_engine",
  ),
  "filestore.key_record(p_key filestore.api_keys)": adminInlinable,
  "filestore.latest_writes(p_project_id uuid, p_limit integer)": account,
  // Not inlined but evaluated by the planner.
  "filestore.limits()": internal(
    "filestore_account",
    "filestore_admin",
    "filestore_engine",
    "filestore_search",
  ),
  "filestore.list_page(p_session filestore.session, p_query jsonb)": engine,
  "filestore.lock_file(p_project_id uuid, p_path text)": engine,
  "filestore.lock_account()": account,
  "filestore.max_segments(p_size bigint)": engineInlinable,
  "filestore.may_write(p_session filestore.session, p_path text)": engineInlinable,
  "filestore.validate_name(p_name text, p_minimum integer)": accountInlinable,
  "filestore.not_found(p_file filestore.files)": engineInlinable,
  "filestore.sweep_clock()": inlinable("filestore_admin", "filestore_engine"),
  "filestore.oldest_committable_day()": inlinable("filestore_admin", "filestore_engine"),
  "filestore.open_own_project(p_project_id uuid)": account,
  "filestore.outside_prefix(p_session filestore.session)": engineInlinable,
  "filestore.page_response(p_session filestore.session, p_page json)": engineInlinable,
  "filestore.plain_page(p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer, OUT files json, OUT has_more boolean)":
    plannedOnce,
  "filestore.record_text(p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at text, p_updated_at text)":
    engineInlinable,
  "filestore.sorted_page(p_project_id uuid, p_query jsonb, OUT files json, OUT has_more boolean, OUT total bigint)":
    engine,
  "filestore.plan_version(p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb, OUT planned filestore.next_version, OUT refusal jsonb)":
    engine,
  "filestore.error(p_code text, p_message text)": adminInlinable,
  "filestore.project_record(p_project filestore.projects)": adminInlinable,
  "filestore.put_version(p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version, p_commit_id uuid)":
    engine,
  "filestore.quota_left(p_session filestore.session)": engine,
  "filestore.refusal(p_code text, p_details jsonb)": inlinable("filestore_account", "filestore_engine"),
  "filestore.repeated_commit(p_file filestore.files, p_commit jsonb)": engine,
  "filestore.repeated_key(p_project_id uuid, p_key jsonb)": account,
  "filestore.resolve_project(p_project text, OUT project_id uuid, OUT error jsonb)": admin,
  "filestore.revoke_key(p_project_id uuid, p_id uuid)": account,
  "filestore.rotate_key(p_project_id uuid, p_key jsonb)": account,
  "filestore.is_active(p_key filestore.api_keys)": accountInlinable,
  "public.filestore_account_administer(p_project_id uuid, p_action text, p_parameters jsonb)":
    accountOperation,
  "public.filestore_account_create_project(p_name text, p_id uuid)": accountOperation,
  "public.filestore_account_projects()": accountOperation,
  "public.filestore_account_session(p_project_id uuid, p_token_hash text)": accountOperation,
  "filestore.queue_for_search()": engine,
  "filestore.search_filter(p_query jsonb)": inlinable("filestore_search"),
  "filestore.search_by_rank(p_session filestore.session, p_scope text, p_query jsonb)": engine,
  "filestore.search_has_vectors()": inlinable("filestore_engine", "filestore_search"),
  "filestore.search_nearest(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text)":
    inlinable("filestore_search"),
  "filestore.search_nearest_exact(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text)":
    inlinable("filestore_search"),
  "filestore.search_pending(p_session filestore.session, p_scope text, p_stage integer)": engine,
  "filestore.search_store_text(p_text jsonb, p_model text)": search,
  "filestore.search_rank_candidates(p_project_id uuid, p_query jsonb)": searchCandidates,
  "filestore.search_pattern_candidates(p_project_id uuid, p_query jsonb)": searchCandidates,
  "filestore.search_by_pattern(p_session filestore.session, p_scope text, p_query jsonb)": engine,
  "filestore.search_scope(p_prefix text, p_directory text)": engineInlinable,
  "filestore.search_tsquery(p_words text)": inlinable("filestore_search"),
  "filestore.search_words(p_path text, p_content text)": search,
  "filestore.segment_list(p_project_id uuid, p_segment_ids uuid[])": internal(
    "filestore_engine",
    "filestore_search",
  ),
  "public.filestore_admin_create_key(p_project text, p_name text, p_key_hash text, p_prefix text, p_expires_at timestamp with time zone)":
    administration,
  "public.filestore_admin_create_project(p_name text, p_tier text)": administration,
  "public.filestore_admin_list_keys(p_project text)": administration,
  "public.filestore_admin_list_projects()": administration,
  "public.filestore_admin_revoke_key(p_id uuid)": administration,
  "public.filestore_admin_rotate_key(p_id uuid, p_key_hash text, p_prefix text)": administration,
  "public.filestore_admin_set_owner(p_project text, p_account text)": administration,
  "public.filestore_admin_set_tier(p_project text, p_tier text, p_requests_per_minute integer, p_max_file_bytes bigint, p_max_project_bytes bigint)":
    administration,
  "public.filestore_administer(p_key_hash text, p_request_id uuid, p_action text, p_parameters jsonb)":
    fileOperation,
  "public.filestore_authorize(p_key_hash text, p_request_id uuid, p_path text)": fileOperation,
  "public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb)": fileOperation,
  "public.filestore_content(p_key_hash text, p_request_id uuid, p_path text, p_version integer, p_idempotency jsonb)":
    fileOperation,
  "public.filestore_diff(p_key_hash text, p_request_id uuid, p_path text, p_from integer, p_to integer)":
    fileOperation,
  "public.filestore_list(p_key_hash text, p_request_id uuid, p_query jsonb)": fileOperation,
  "public.filestore_compact(p_key_hash text, p_request_id uuid, p_path text, p_run uuid[], p_compacted jsonb)":
    fileOperation,
  "public.filestore_ping()": fileOperation,
  "public.filestore_search(p_key_hash text, p_request_id uuid, p_query jsonb)": fileOperation,
  "public.filestore_search_claim(p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer, p_model text)":
    searchIndexing,
  "public.filestore_search_requeue(p_model text, p_files integer)": searchIndexing,
  "public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text)": searchIndexing,
  "public.filestore_search_store_embeddings(p_claim_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb)":
    searchIndexing,
  "public.filestore_sweep_next()": administration,
  "public.filestore_sweep_progress(p_project_id uuid, p_swept_through date, p_day date, p_kept integer)":
    administration,
  "public.filestore_sweep_unreferenced(p_project_id uuid, p_ids uuid[])": administration,
  "public.filestore_record(p_key_hash text, p_request_id uuid, p_path text, p_version integer)":
    fileOperation,
  "public.filestore_versions(p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer)":
    fileOperation,
};

/** Nothing is ever deleted but idempotency keys and the search index, and versions and segments are never updated. */
export const TABLES: Record<string, IntendedTable> = {
  api_keys: table(
    "filestore_account insert, select, update(expires_at), update(revoked_at)",
    "filestore_admin insert, select, update",
    "filestore_engine select, update(last_used_at)",
  ),
  console_sessions: table(
    "filestore_account insert, select, update(expires_at), update(token_hash)",
    "filestore_engine select",
  ),
  directories: table("filestore_account select", "filestore_engine insert, select, update"),
  file_versions: table("filestore_account select", "filestore_engine insert, select"),
  files: table(
    "filestore_account select",
    "filestore_engine insert, select, update",
    "filestore_search select",
  ),
  idempotency_keys: table("filestore_engine delete, insert, select, update"),
  project_usage: table("filestore_account select", "filestore_engine insert, select, update"),
  projects: table(
    "filestore_account insert, select, update(name)",
    "filestore_admin insert, select, update",
    "filestore_engine select",
  ),
  rate_windows: table("filestore_account select", "filestore_engine insert, select, update"),
  search_chunks: table("filestore_engine select", "filestore_search delete, insert, select, update"),
  search_queue: table(
    "filestore_engine insert, select, update",
    "filestore_search delete, insert, select, update",
  ),
  search_texts: table("filestore_engine select", "filestore_search delete, insert, select, update"),
  segments: table("filestore_admin select", "filestore_engine insert, select", "filestore_search select"),
  sweeps: table("filestore_admin insert, select, update"),
  tiers: table("filestore_account select", "filestore_admin select", "filestore_engine select"),
};

const OWN_ROWS = "(project_id = filestore.current_project_id())";
const OWN_KEY = "(key_hash = filestore.current_key_hash())";
/** What a key with a prefix sees and makes of the project's files. */
const BELOW_PREFIX = `(${OWN_ROWS} AND ((filestore.current_path_prefix() IS NULL) OR ` +
  "((path >= (filestore.current_path_prefix() || '/'::text)) AND " +
  "(path < (filestore.current_path_prefix() || '0'::text)))))";
const OWNED = "(owner_id = filestore.current_account_id())";
const OPENED = "(id = filestore.current_project_id())";

const changingTables = ["directories", "idempotency_keys", "project_usage", "rate_windows"];
const tenantTables = [...changingTables, "file_versions", "segments"];
/** What an account changes of its project, and what it only reads. */
const accountTables = ["api_keys", "console_sessions"];
const readTables = ["files", "file_versions", "directories", "project_usage", "rate_windows"];

export const POLICIES: string[] = [
  ...tenantTables.flatMap((name) => [
    `${name}: filestore_engine select using ${OWN_ROWS}`,
    `${name}: filestore_engine insert check ${OWN_ROWS}`,
  ]),
  ...changingTables.map((name) => `${name}: filestore_engine update using ${OWN_ROWS} check ${OWN_ROWS}`),
  `files: filestore_engine select using ${BELOW_PREFIX}`,
  `files: filestore_engine insert check ${BELOW_PREFIX}`,
  `files: filestore_engine update using ${BELOW_PREFIX} check ${OWN_ROWS}`,
  `idempotency_keys: filestore_engine delete using ${OWN_ROWS}`,
  `projects: filestore_engine select using ${OPENED}`,
  ...["search_queue", "search_texts", "search_chunks"].map((name) =>
    `${name}: filestore_engine select using ${OWN_ROWS}`
  ),
  `search_queue: filestore_engine insert check ${OWN_ROWS}`,
  `search_queue: filestore_engine update using ${OWN_ROWS} check ${OWN_ROWS}`,
  // The exception of search: candidates are found in the rows of all projects, since no index answers under a policy.
  ...["search_queue", "search_texts", "search_chunks"].flatMap((name) => [
    `${name}: filestore_search select using true`,
    `${name}: filestore_search insert check true`,
    `${name}: filestore_search update using true check true`,
    `${name}: filestore_search delete using true`,
  ]),
  "files: filestore_search select using true",
  "segments: filestore_search select using true",
  `api_keys: filestore_engine select using ${OWN_KEY}`,
  `api_keys: filestore_engine update using ${OWN_KEY}`,
  "console_sessions: filestore_engine select using (token_hash = filestore.current_key_hash())",
  "tiers: filestore_engine select using true",
  "tiers: filestore_admin select using true",
  "tiers: filestore_account select using true",
  "segments: filestore_admin select using true",
  ...["projects", "api_keys", "sweeps"].flatMap((name) => [
    `${name}: filestore_admin select using true`,
    `${name}: filestore_admin insert check true`,
    `${name}: filestore_admin update using true check true`,
  ]),
  `projects: filestore_account select using (${OWNED} OR ${OPENED})`,
  `projects: filestore_account insert check ${OWNED}`,
  `projects: filestore_account update using ${OPENED} check ${OPENED}`,
  ...[...accountTables, ...readTables].map((name) => `${name}: filestore_account select using ${OWN_ROWS}`),
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
