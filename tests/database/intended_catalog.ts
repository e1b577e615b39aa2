/** What the migrations are meant to make; `catalog.test.ts` compares the catalog with it. */

export interface Definer {
  readonly owner: string;
  /** Who may call it besides its owner. */
  readonly callers: readonly string[];
}

export interface IntendedTable {
  readonly owner: string;
  readonly rowSecurity: boolean;
  readonly commented: boolean;
  /** `role privilege, privilege(column)`, besides its owner's. */
  readonly privileges: string[];
}

/** The role that applies migrations; on a hosted project it is no superuser. */
export const MIGRATING_ROLE = "postgres";

function table(...privileges: string[]): IntendedTable {
  return { owner: MIGRATING_ROLE, rowSecurity: true, commented: true, privileges };
}

/** Functions that run as their owner. All others run as their caller. */
export const DEFINERS: ReadonlyMap<string, Definer> = new Map([
  // The operations of a key: what the edge function calls, with the secret key alone.
  ...definers(
    "filestore_engine",
    ["service_role"],
    `
    public.filestore_administer public.filestore_authorize public.filestore_changes
    public.filestore_commit public.filestore_commit_many public.filestore_compact
    public.filestore_content public.filestore_create_link public.filestore_diff
    public.filestore_diff_files public.filestore_export
    public.filestore_link_authorize public.filestore_link_commit public.filestore_link_content
    public.filestore_list public.filestore_list_links public.filestore_plan public.filestore_purge
    public.filestore_record public.filestore_redact public.filestore_revoke_link public.filestore_run
    public.filestore_runs public.filestore_search public.filestore_versions`,
  ),
  // Projects and keys of the operator, the sweep and verification: with the secret key alone.
  ...definers(
    "filestore_admin",
    ["service_role"],
    `
    public.filestore_admin_change_key public.filestore_admin_create_key
    public.filestore_admin_create_project public.filestore_admin_delete_project
    public.filestore_admin_find_project public.filestore_admin_list_keys
    public.filestore_admin_list_projects public.filestore_admin_revoke_key
    public.filestore_admin_rotate_key public.filestore_admin_settings
    public.filestore_admin_update_project public.filestore_count_usage public.filestore_health_probe
    public.filestore_newest_change public.filestore_sweep_dead public.filestore_sweep_deleted_account
    public.filestore_sweep_deleted_project public.filestore_sweep_erasures
    public.filestore_sweep_forget_account public.filestore_sweep_forget_segments
    public.filestore_sweep_next public.filestore_sweep_note_objects public.filestore_sweep_progress
    public.filestore_sweep_remove_rows public.filestore_sweep_removed public.filestore_sweep_unreferenced
    public.filestore_verify_end public.filestore_verify_segments public.filestore_verify_swept
    public.filestore_verify_unknown public.filestore_verify_unneeded public.filestore_verify_versions`,
  ),
  // The search index: with the secret key alone.
  ...definers(
    "filestore_search",
    ["service_role"],
    `
    public.filestore_search_claim public.filestore_search_fail public.filestore_search_requeue
    public.filestore_search_settled public.filestore_search_store
    public.filestore_search_store_embeddings`,
  ),
  // What an account does with its projects: with the access token of the person.
  ...definers(
    "filestore_account",
    ["authenticated"],
    `
    public.filestore_account_administer public.filestore_account_create_project
    public.filestore_account_delete public.filestore_account_describe public.filestore_account_projects
    public.filestore_account_session`,
  ),
  // What only the owner of the function may do, for those who may not.
  ...definers(
    "filestore_account",
    ["filestore_engine"],
    `
    filestore.administer filestore.shared_bytes`,
  ),
  ...definers(
    "filestore_admin",
    ["filestore_account"],
    `
    filestore.end_account filestore.fold_usage filestore.preview_retention
    filestore.repeated_account_deletion`,
  ),
  ...definers(
    "filestore_admin",
    ["filestore_account", "filestore_engine"],
    `
    filestore.repeated_deletion`,
  ),
  // Erasing is no right of the engine: it calls what has it.
  ...definers(
    "filestore_admin",
    ["filestore_engine"],
    `
    filestore.purge_file filestore.redact_versions filestore.release_usage`,
  ),
  // They see the text of every project, and return ids to the engine.
  ...definers(
    "filestore_search",
    ["filestore_engine"],
    `
    filestore.search_pattern_candidates filestore.search_rank_candidates`,
  ),
  // A trigger: the content of a text goes with its last file, whoever removes that.
  ...definers(
    "filestore_search",
    [],
    `
    filestore.search_release_content`,
  ),
  // They read the schema auth, as the role that applies migrations may.
  ...definers(
    MIGRATING_ROLE,
    ["filestore_account"],
    `
    filestore.account_settings filestore.may_own`,
  ),
  ...definers(
    MIGRATING_ROLE,
    ["filestore_account", "filestore_admin"],
    `
    filestore.find_account`,
  ),
  ...definers(
    MIGRATING_ROLE,
    ["filestore_admin"],
    `
    filestore.find_owner`,
  ),
  ...definers(
    MIGRATING_ROLE,
    ["filestore_engine"],
    `
    filestore.is_account_active filestore.is_session_active`,
  ),
]);

/** Of policies: without a search_path the planner puts the body into the condition. */
export const INLINED = [
  "current_project_id",
  "current_owner_id",
  "current_key_hash",
  "current_path_prefix",
].map((name) => `filestore.${name}`);

function definers(owner: string, callers: readonly string[], names: string): [string, Definer][] {
  return names.trim().split(/\s+/).map((name) => [name, { owner, callers }]);
}

/** Nothing is ever deleted but what a deleted project held, keys and links that ended long ago, idempotency keys and the search index, and versions and segments are never updated. */
export const TABLES: Record<string, IntendedTable> = {
  account_deletions: table("filestore_admin delete, insert, select, update"),
  project_deletions: table("filestore_account insert", "filestore_admin delete, insert, select, update"),
  account_windows: table("filestore_account insert, select, update"),
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
  possibly_unreferenced_segments: table(
    "filestore_admin delete, insert, select, update",
    "filestore_engine delete, insert, select",
  ),
  purged_files: table("filestore_admin delete, insert, select, update", "filestore_engine select"),
  retention_passes: table("filestore_admin delete, insert, select, update"),
  usage_days: table("filestore_account select", "filestore_admin delete, insert, select, update"),
  usage_levels: table("filestore_account select", "filestore_admin delete, insert, select, update"),
  usage_folds: table("filestore_admin delete, insert, select, update"),
  shared_segments: table("filestore_admin delete, select", "filestore_engine insert, select"),
  dead_segments: table("filestore_admin delete, insert, select, update"),
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
  idempotency_keys: table(
    "filestore_admin delete, select, update(names)",
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

const changingTables = ["idempotency_keys", "project_usage", "rate_windows"];
const tenantTables = [
  ...changingTables,
  "file_versions",
  "run_undos",
  "runs",
  "segments",
  "shared_segments",
  "possibly_unreferenced_segments",
];
const searchTables = ["search_queue", "search_texts", "search_contents", "search_chunks"];
/** What an account changes of its project, and what it only reads. */
const accountTables = ["api_keys", "console_sessions"];
const readTables = [
  "files",
  "file_versions",
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
  "possibly_unreferenced_segments",
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
  "search_queue",
  "search_texts",
];

function isErased(name: string): boolean {
  return erasable.includes(name) && name !== "files" && name !== "project_usage";
}

export const POLICIES: string[] = [
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
  ...["files", "idempotency_keys"].map((name) =>
    `${name}: filestore_admin update using ${REQUESTS_ROWS} check ${REQUESTS_ROWS}`
  ),
  ...["possibly_unreferenced_segments", "idempotency_keys"].map((name) =>
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
  "projects: filestore_account select using (owner_id = filestore.current_owner_id())",
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
