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
const admin = internal("filestore_admin");
const fileOperation = operation("filestore_engine");
const administration = operation("filestore_admin");
const account = internal("filestore_account");
const accountOperation = operation("filestore_account", "authenticated");

export const FUNCTIONS: Record<string, IntendedFunction> = {
  "filestore.account_key(p_key filestore.api_keys)": account,
  "filestore.account_project(p_project_id uuid)": account,
  "filestore.find_account(p_account text, OUT id uuid, OUT email text)": {
    ...admin,
    definer: true,
  },
  "filestore.find_owner(p_account text, OUT id uuid, OUT problem text)": { ...admin, definer: true },
  // These two read the schema auth.
  "filestore.is_account_active(p_account_id uuid)": { ...engine, definer: true },
  "filestore.may_own(p_account_id uuid, p_claims jsonb)": { ...account, definer: true },
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
  "filestore.commit_result(p_file filestore.files, p_extra jsonb, p_segments jsonb)": engine,
  "filestore.copy_file(p_session filestore.session, p_is_move boolean, p_commit jsonb)": engine,
  "filestore.adjust_directory_counts(p_project_id uuid, p_directory text, p_change integer)": {
    ...engine,
    settings: 'search_path="", enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off',
  },
  "filestore.count_request(p_project_id uuid, p_limit integer, p_request_id uuid)": engine,
  "filestore.charge_usage(p_session filestore.session, p_bytes bigint, p_database_bytes bigint, p_versions integer, p_may_exceed boolean)":
    engine,
  "filestore.commit_within_quota(p_session filestore.session, p_kind text, p_commit jsonb)": engine,
  "filestore.database_cost(p_before filestore.files, p_path text, p_next filestore.next_version, p_new_segments integer)":
    engine,
  "filestore.file_cost(p_path text)": engine,
  "filestore.account_grants_of_others(p_session filestore.session)": engine,
  "filestore.is_project_maker(p_account_id uuid)": { ...account, definer: true },
  "filestore.has_room(p_session filestore.session, p_cost bigint)": engine,
  "filestore.indexed_bytes(p_size bigint, p_mime_type text, p_is_text boolean)": engine,
  "filestore.quota_exceeded(p_session filestore.session)": engine,
  "filestore.directory_counts(p_project_id uuid, p_path text, OUT file_count bigint, OUT subtree_file_count bigint)":
    internal("filestore_account", "filestore_engine"),
  "filestore.create_key(p_project_id uuid, p_key jsonb, p_replaced_id uuid)": account,
  "filestore.create_project(p_name text, p_id uuid)": account,
  "filestore.current_account_id()": account,
  "filestore.file_record(p_id uuid, p_path text, p_version integer, p_mime_type text, p_size bigint, p_created_at timestamp with time zone, p_updated_at timestamp with time zone)":
    engine,
  "filestore.find_version(p_session filestore.session, p_path text, p_version integer, p_with_segments boolean)":
    engine,
  "filestore.caller_id(p_session filestore.session)": engine,
  "filestore.stored_response(p_session filestore.session, p_idempotency jsonb)": engine,
  "filestore.edited_segments(p_file filestore.files, p_commit jsonb)": engine,
  "filestore.is_edited_in_turns(p_project_id uuid, p_path text)": engine,
  "filestore.is_kept_for_edits(p_file filestore.files)": engine,
  "filestore.is_live(p_file filestore.files)": engine,
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
  "filestore.validation_refusal(p_issues jsonb)": account,
  "filestore.validate_key(p_key jsonb)": account,
  "filestore.validate_name(p_name text, p_minimum integer)": account,
  "filestore.not_found(p_file filestore.files)": engine,
  "filestore.nothing_at(p_session filestore.session, p_path text, p_file filestore.files)": engine,
  "filestore.sweep_clock()": internal("filestore_admin", "filestore_engine"),
  "filestore.oldest_committable_day()": internal("filestore_admin", "filestore_engine"),
  "filestore.open_own_project(p_project_id uuid)": account,
  "filestore.outside_prefix(p_session filestore.session)": engine,
  "filestore.page_response(p_session filestore.session, p_page json)": engine,
  "filestore.plain_page(p_project_id uuid, p_directory text, p_recursive boolean, p_after text, p_limit integer, p_offset integer, OUT files json, OUT has_more boolean)":
    plannedOnce,
  "filestore.sorted_page(p_project_id uuid, p_query jsonb, OUT files json, OUT has_more boolean, OUT total bigint)":
    engine,
  "filestore.plan_version(p_session filestore.session, p_file filestore.files, p_kind text, p_commit jsonb, OUT planned filestore.next_version, OUT refusal jsonb)":
    engine,
  "filestore.error(p_code text, p_message text)": admin,
  "filestore.project_record(p_project filestore.projects)": admin,
  "filestore.put_version(p_session filestore.session, p_file filestore.files, p_path text, p_next filestore.next_version, p_commit_id uuid)":
    engine,
  "filestore.refusal(p_code text, p_details jsonb)": internal("filestore_account", "filestore_engine"),
  "filestore.repeated_commit(p_file filestore.files, p_commit jsonb)": engine,
  "filestore.repeated_key(p_project_id uuid, p_key jsonb)": account,
  "filestore.invalid_name(p_name text)": admin,
  "filestore.revoke_key(p_project_id uuid, p_id uuid)": account,
  "filestore.rotate_key(p_project_id uuid, p_key jsonb)": account,
  "filestore.is_active(p_key filestore.api_keys)": account,
  "public.filestore_account_administer(p_project_id uuid, p_action text, p_parameters jsonb)":
    accountOperation,
  "public.filestore_account_create_project(p_name text, p_id uuid)": accountOperation,
  "public.filestore_account_projects()": accountOperation,
  "public.filestore_account_session(p_project_id uuid, p_token_hash text)": accountOperation,
  "filestore.queue_for_search()": engine,
  "filestore.refuse_to_orphan()": admin,
  "filestore.search_filter(p_query jsonb)": internal("filestore_search"),
  "filestore.search_by_rank(p_session filestore.session, p_scope text, p_query jsonb)": engine,
  "filestore.search_has_vectors()": internal("filestore_engine", "filestore_search"),
  "filestore.search_nearest(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text)":
    internal("filestore_search"),
  "filestore.search_nearest_exact(p_project_id uuid, p_model text, p_vector real[], p_from text, p_to text, p_glob text, p_content_type text)":
    internal("filestore_search"),
  "filestore.search_pending(p_session filestore.session, p_scope text, p_stage integer)": engine,
  "filestore.search_split(p_text text)": internal("filestore_engine", "filestore_search"),
  "filestore.search_store_text(p_text jsonb, p_model text)": search,
  "filestore.search_turn(p_stage integer, p_after uuid, p_projects integer, p_now timestamp with time zone, OUT projects uuid[], OUT last uuid)":
    search,
  "filestore.search_rank_candidates(p_project_id uuid, p_query jsonb)": searchCandidates,
  "filestore.search_pattern_candidates(p_project_id uuid, p_query jsonb)": searchCandidates,
  "filestore.search_by_pattern(p_session filestore.session, p_scope text, p_query jsonb)": engine,
  "filestore.search_scope(p_prefix text, p_directory text)": engine,
  "filestore.search_tsquery(p_words text)": internal("filestore_search"),
  "filestore.search_words(p_path text, p_content text)": search,
  "filestore.segment_list(p_project_id uuid, p_segment_ids uuid[])": internal(
    "filestore_engine",
    "filestore_search",
  ),
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
  "public.filestore_authorize(p_key_hash text, p_request_id uuid, p_path text)": fileOperation,
  "public.filestore_commit(p_key_hash text, p_request_id uuid, p_kind text, p_commit jsonb)": fileOperation,
  "public.filestore_edit_turn(p_key_hash text, p_request_id uuid, p_path text, p_holder uuid, p_seconds integer, p_idempotency jsonb)":
    fileOperation,
  "public.filestore_content(p_key_hash text, p_request_id uuid, p_path text, p_version integer, p_idempotency jsonb)":
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
  "public.filestore_search_claim(p_stage integer, p_files integer, p_bytes bigint, p_chunks integer, p_lease_seconds integer, p_model text, p_after uuid, p_claim_bytes bigint, p_is_light boolean)":
    {
      ...searchIndexing,
      settings: 'search_path="", enable_seqscan=off, enable_hashjoin=off, enable_mergejoin=off',
    },
  "public.filestore_search_fail(p_claim_id uuid, p_files jsonb)": searchIndexing,
  "public.filestore_search_requeue(p_model text, p_files integer, p_given_up_seconds integer)":
    searchIndexing,
  "public.filestore_search_store(p_claim_id uuid, p_texts jsonb, p_model text)": searchIndexing,
  "public.filestore_search_store_embeddings(p_claim_id uuid, p_project_id uuid, p_file_id uuid, p_model text, p_embeddings jsonb)":
    searchIndexing,
  "public.filestore_health_probe()": administration,
  "public.filestore_sweep_next()": administration,
  "public.filestore_sweep_progress(p_project_id uuid, p_swept_through date, p_day date, p_kept integer)":
    administration,
  "public.filestore_sweep_unreferenced(p_project_id uuid, p_ids uuid[])": administration,
  "public.filestore_record(p_key_hash text, p_request_id uuid, p_path text, p_version integer)":
    fileOperation,
  "public.filestore_versions(p_key_hash text, p_request_id uuid, p_path text, p_limit integer, p_offset integer)":
    fileOperation,
};

/** Nothing is ever deleted but keys and links that ended long ago, idempotency keys, counts of empty directories, noted changes of counts and the search index, and versions and segments are never updated. */
export const TABLES: Record<string, IntendedTable> = {
  account_windows: table("filestore_account insert, select, update"),
  account_grants: table("filestore_admin delete, select", "filestore_engine insert, select, update"),
  settings: table("filestore_admin select, update", "filestore_engine select"),
  api_keys: table(
    "filestore_account insert, select, update(expires_at), update(revoked_at)",
    "filestore_admin delete, insert, select, update",
    "filestore_engine select, update(last_used_at)",
  ),
  console_sessions: table(
    "filestore_account insert, select, update(account_id), update(expires_at), update(token_hash)",
    "filestore_engine select",
  ),
  directories: table("filestore_account select", "filestore_engine delete, insert, select, update"),
  directory_changes: table("filestore_account select", "filestore_engine delete, insert, select"),
  file_versions: table(
    "filestore_account select",
    "filestore_admin select(key_id), select(project_id)",
    "filestore_engine insert, select",
  ),
  files: table(
    "filestore_account select",
    "filestore_engine insert, select, update",
    "filestore_search select",
  ),
  health: table("filestore_admin insert, select, update"),
  edit_turns: table("filestore_engine delete, insert, select, update"),
  idempotency_keys: table("filestore_engine delete, insert, select, update"),
  links: table(
    "filestore_account select, update(key_hash), update(key_id)",
    "filestore_admin delete, select, update(key_hash), update(key_id)",
    "filestore_engine delete, insert, select, update(commit_id), update(revoked_at), update(used_at)",
  ),
  link_windows: table("filestore_admin delete, select", "filestore_engine delete, insert, select, update"),
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

const OWN_ROWS = "(project_id = {project})";
const OF_ACCOUNT = "(account_id = {account})";
const OWN_KEY = "(key_hash = {key})";
/** What a key with a prefix sees and makes of the project's files. */
const BELOW_PREFIX = `(${OWN_ROWS} AND (({prefix} IS NULL) OR ` +
  "((path >= ({prefix} || '/'::text)) AND " +
  "(path < ({prefix} || '0'::text)))))";
const OWNED = "(owner_id = filestore.current_account_id())";
const OWN_WINDOW = "(account_id = filestore.current_account_id())";
const OPENED = "(id = {project})";

const changingTables = ["directories", "edit_turns", "idempotency_keys", "project_usage", "rate_windows"];
const tenantTables = [...changingTables, "directory_changes", "file_versions", "segments"];
/** What an account changes of its project, and what it only reads. */
const accountTables = ["api_keys", "console_sessions"];
const readTables = [
  "files",
  "file_versions",
  "directories",
  "directory_changes",
  "project_usage",
  "rate_windows",
];

export const POLICIES: string[] = [
  "account_grants: filestore_admin delete using true",
  "account_grants: filestore_admin select using true",
  `account_grants: filestore_engine insert check (${OWN_ROWS} AND ${OF_ACCOUNT})`,
  `account_grants: filestore_engine select using (${OWN_ROWS} OR ${OF_ACCOUNT})`,
  `account_grants: filestore_engine update using ${OWN_ROWS} check ${OF_ACCOUNT}`,
  "settings: filestore_admin select using true",
  "settings: filestore_admin update using true check true",
  "settings: filestore_engine select using true",
  ...tenantTables.flatMap((name) => [
    `${name}: filestore_engine select using ${OWN_ROWS}`,
    `${name}: filestore_engine insert check ${OWN_ROWS}`,
  ]),
  ...changingTables.map((name) => `${name}: filestore_engine update using ${OWN_ROWS} check ${OWN_ROWS}`),
  `files: filestore_engine select using ${BELOW_PREFIX}`,
  `files: filestore_engine insert check ${BELOW_PREFIX}`,
  `files: filestore_engine update using ${BELOW_PREFIX} check ${OWN_ROWS}`,
  ...["directories", "directory_changes", "edit_turns", "idempotency_keys"].map((name) =>
    `${name}: filestore_engine delete using ${OWN_ROWS}`
  ),
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
  "console_sessions: filestore_engine select using (token_hash = {key})",
  "tiers: filestore_engine select using true",
  "tiers: filestore_admin select using true",
  "tiers: filestore_account select using true",
  "segments: filestore_admin select using true",
  "file_versions: filestore_admin select using true",
  "api_keys: filestore_admin delete using true",
  `account_windows: filestore_account select using ${OWN_WINDOW}`,
  `account_windows: filestore_account insert check ${OWN_WINDOW}`,
  `account_windows: filestore_account update using ${OWN_WINDOW}`,
  "health: filestore_admin all using true check true",
  `links: filestore_account select using ${OWN_ROWS}`,
  `links: filestore_account update using ${OWN_ROWS} check ${OWN_ROWS}`,
  "links: filestore_admin all using true check true",
  `links: filestore_engine delete using ${OWN_ROWS}`,
  `links: filestore_engine insert check ${OWN_ROWS}`,
  `links: filestore_engine select using ((token_hash = {key}) OR ${BELOW_PREFIX})`,
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
