/** The objects that the migrations must create; `catalog.test.ts` compares the catalog with this list. */

export interface Definer {
  readonly owner: string;
  /** The roles that may call it, besides its owner. */
  readonly callers: readonly string[];
}

export interface IntendedTable {
  readonly owner: string;
  readonly rowSecurity: boolean;
  readonly commented: boolean;
  /** `role privilege, privilege(column)`, without those of its owner. */
  readonly privileges: string[];
}

/** The role that applies migrations; on a hosted project it is not a superuser. */
export const MIGRATING_ROLE = "postgres";

function table(...privileges: string[]): IntendedTable {
  return { owner: MIGRATING_ROLE, rowSecurity: true, commented: true, privileges };
}

/** Functions that run as their owner. All others run as their caller. */
export const DEFINERS: ReadonlyMap<string, Definer> = new Map([
  // The operations of a key, which only the edge function calls, with the secret key.
  ...definers(
    "filestore_engine",
    ["service_role"],
    `
    public.filestore_administer public.filestore_app_exchange public.filestore_app_refresh
    public.filestore_app_revoke public.filestore_authorize public.filestore_branch
    public.filestore_branches public.filestore_change_branch public.filestore_changes
    public.filestore_commit public.filestore_commit_many public.filestore_compact
    public.filestore_content public.filestore_create_branch public.filestore_create_link
    public.filestore_diff
    public.filestore_export
    public.filestore_link public.filestore_link_commit
    public.filestore_list public.filestore_list_links public.filestore_plan
    public.filestore_redact public.filestore_remove_branch_files public.filestore_revoke_link
    public.filestore_run
    public.filestore_runs public.filestore_search public.filestore_versions
    public.filestore_webhook_step`,
  ),
  // Projects and keys of the operator, the sweep and verification: only with the secret key.
  ...definers(
    "filestore_admin",
    ["service_role"],
    `
    public.filestore_admin_administer public.filestore_admin_create_project
    public.filestore_admin_find_project public.filestore_admin_list_keys
    public.filestore_admin_list_projects public.filestore_admin_settings
    public.filestore_admin_update_project public.filestore_count_usage
    public.filestore_newest_change public.filestore_sweep_dead public.filestore_sweep_deleted_account
    public.filestore_sweep_deleted_project public.filestore_sweep_erasures
    public.filestore_sweep_forget_account
    public.filestore_sweep_next public.filestore_sweep_objects public.filestore_sweep_progress
    public.filestore_sweep_remove_rows public.filestore_sweep_removed public.filestore_sweep_unreferenced
    public.filestore_sweep_webhooks
    public.filestore_verify_progress public.filestore_verify_segments
    public.filestore_verify_unknown public.filestore_verify_unneeded public.filestore_verify_versions`,
  ),
  // The search index: only with the secret key.
  ...definers(
    "filestore_search",
    ["service_role"],
    `
    public.filestore_search_lease public.filestore_search_fail public.filestore_search_requeue
    public.filestore_search_indexed public.filestore_search_store
    public.filestore_search_store_embeddings`,
  ),
  // Operations of an account on its projects: with the person's access token.
  ...definers(
    "filestore_account",
    ["authenticated"],
    `
    public.filestore_account_administer public.filestore_account_answer_invitation
    public.filestore_account_consent public.filestore_account_create_project
    public.filestore_account_delete public.filestore_account_describe
    public.filestore_account_members public.filestore_account_projects
    public.filestore_account_request`,
  ),
  // Steps that only their owner may perform, callable by roles that may not.
  ...definers(
    "filestore_account",
    ["filestore_engine"],
    `
    filestore.shared_bytes`,
  ),
  ...definers(
    "filestore_account",
    ["filestore_admin", "filestore_engine"],
    `
    filestore.administer`,
  ),
  ...definers(
    "filestore_admin",
    ["filestore_account"],
    `
    filestore.consent_answered filestore.end_account filestore.fold_usage
    filestore.invited_to filestore.preview_retention`,
  ),
  ...definers(
    "filestore_admin",
    ["filestore_account", "filestore_engine"],
    `
    filestore.repeated_deletion`,
  ),
  // The engine has no right to erase; it calls these functions, which have it.
  ...definers(
    "filestore_admin",
    ["filestore_engine"],
    `
    filestore.purge_file filestore.redact_versions`,
  ),
  // The sweep deletes the files of branches that have ended, by commits like those of a key.
  ...definers(
    "filestore_engine",
    ["filestore_admin"],
    `
    filestore.remove_branch_files`,
  ),
  // They read the text of every project, and return ids to the engine.
  ...definers(
    "filestore_search",
    ["filestore_engine"],
    `
    filestore.search_pattern_candidates filestore.search_rank_candidates`,
  ),
  // A trigger: it deletes a content when its last file is removed, by any role.
  ...definers(
    "filestore_search",
    [],
    `
    filestore.search_release_content`,
  ),
  // They read the schema auth, which the role that applies migrations may read.
  ...definers(
    MIGRATING_ROLE,
    ["filestore_account"],
    `
    filestore.account_settings filestore.current_account_id`,
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
    ["filestore_account", "filestore_engine"],
    `
    filestore.address_of filestore.is_account_active`,
  ),
  ...definers(
    MIGRATING_ROLE,
    ["filestore_engine"],
    `
    filestore.is_session_active`,
  ),
]);

/** Calls operations as the service does, so it runs with its caller's rights. */
export const PROBE = "public.filestore_health_probe";

/** A search_path would keep the planner from inlining these into a policy's condition or a query. */
export const INLINED = [
  "current_project_id",
  "current_owner_id",
  "current_key_hash",
  "current_path_prefix",
  "sees_branches",
  "listed",
].map((name) => `filestore.${name}`);

function definers(owner: string, callers: readonly string[], names: string): [string, Definer][] {
  return names.trim().split(/\s+/).map((name) => [name, { owner, callers }]);
}

/**
 * Versions and segments are never updated. Only these rows are ever deleted: those of a deleted project, keys and links
 * that ended long ago, idempotency keys, and the search index.
 */
export const TABLES: Record<string, IntendedTable> = {
  account_deletions: table("filestore_admin delete, insert, select, update"),
  project_deletions: table("filestore_account insert", "filestore_admin delete, select, update"),
  account_windows: table("filestore_account insert, select, update"),
  settings: table("filestore_admin select, update", "filestore_engine select"),
  api_keys: table(
    "filestore_account insert, select, update(expires_at), update(name), update(path_prefix), update(revoked_at), update(scopes)",
    "filestore_admin delete, select, update(key_hash), update(prefix), update(revoked_at)",
    "filestore_engine select, update(has_written), update(last_used_at), update(revoked_at)",
  ),
  app_consents: table(
    "filestore_account insert",
    "filestore_admin delete, select, update(used_at)",
    "filestore_engine select, update(used_at)",
  ),
  app_tokens: table(
    "filestore_admin delete, select, update(used_at)",
    "filestore_engine delete, insert, select, update(used_at)",
  ),
  console_sessions: table(
    "filestore_account delete, insert, select, update(aal), update(account_id), update(expires_at), update(session_id)",
    "filestore_admin delete, select(project_id), select(token_hash)",
    "filestore_engine select",
  ),
  branch_files: table("filestore_admin delete, select", "filestore_engine insert, select, update"),
  branches: table("filestore_admin delete, select", "filestore_engine insert, select, update"),
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
  idempotency_keys: table(
    "filestore_admin delete, select, update(names)",
    "filestore_engine delete, insert, select, update",
  ),
  links: table(
    "filestore_account select, update(key_hash), update(key_id), update(revoked_at)",
    "filestore_admin delete, select, update(key_hash), update(key_id)",
    "filestore_engine delete, insert, select, update(commit_id), update(revoked_at), update(used_at)",
  ),
  link_windows: table("filestore_admin delete, select", "filestore_engine insert, select, update"),
  members: table(
    "filestore_account delete, insert, select, update(account_id), update(expires_at), update(role)",
    "filestore_admin delete, select(account_id), select(expires_at), select(id), select(project_id)",
    "filestore_engine select(account_id), select(project_id), select(role)",
  ),
  project_usage: table(
    "filestore_account select",
    "filestore_admin delete, insert, select, update",
    "filestore_engine insert, select, update",
  ),
  projects: table(
    "filestore_account insert, select, update(deleted_at), update(has_webhooks), update(name), update(owner_id), update(retention), update(retention_set_at)",
    "filestore_admin delete, insert, select, update",
    "filestore_engine select",
  ),
  rate_windows: table(
    "filestore_account select",
    "filestore_admin delete, select(project_id), select(shard)",
    "filestore_engine insert, select, update",
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
  webhook_deliveries: table(
    "filestore_account delete, select",
    "filestore_admin delete, select(project_id), select(slot), select(webhook_id)",
    "filestore_engine insert, select, update",
  ),
  webhook_events: table(
    "filestore_account select",
    "filestore_admin delete, select",
    "filestore_engine insert, select",
  ),
  webhooks: table(
    "filestore_account delete, insert, select, update",
    "filestore_admin delete, select",
    "filestore_engine select, update",
  ),
};

const OWN_ROWS = "(project_id = filestore.current_project_id())";
/** The rows of the opened project; all rows if none is open, as in the sweep. */
const OPENED_OR_ALL = `((filestore.current_project_id() IS NULL) OR ${OWN_ROWS})`;
const OWN_PROJECT = "(id = filestore.current_project_id())";
const OWN_ACCOUNT = "(account_id = filestore.current_account_id())";
const OWNED = "(owner_id = filestore.current_account_id())";
const OWN_INVITATION =
  "((account_id IS NULL) AND (email = ( SELECT filestore.address_of(filestore.current_account_id(), true) AS address_of)))";
const OWN_MEMBERSHIP =
  `(id IN ( SELECT m.project_id FROM filestore.members m WHERE (m.account_id = filestore.current_account_id())))`;
const OWN_KEY = "(key_hash = filestore.current_key_hash())";
const OWN_CODE = "(code_hash = filestore.current_key_hash())";
const OWN_TOKEN = "(token_hash = filestore.current_key_hash())";
/** The links of the project that a key with a prefix can see. */
const VISIBLE_LINK = `(${OWN_ROWS} AND starts_with(path, filestore.current_path_prefix()))`;
/** The files that it can see. A purged file has no visible row, only its receipt, which records who could see the file. */
const VISIBLE_FILE =
  `(${OWN_ROWS} AND starts_with((path)::text, filestore.current_path_prefix()) AND (path IS NOT NULL) AND ` +
  "((NOT starts_with((path)::text, '.branches/'::text)) OR filestore.sees_branches()))";
const SEEN_RECEIPT =
  `(${OWN_ROWS} AND ((NOT is_in_branch) OR filestore.sees_branches()) AND ((filestore.current_path_prefix() = ''::text) OR (filestore.place_hash(( SELECT p.cursor_key ` +
  "FROM filestore.projects p WHERE (p.id = filestore.current_project_id())), file_id, rtrim(filestore.current_path_prefix(), '/'::text)) = ANY (place_hashes))))";

/** One policy for all commands; grants decide which of them the role may use. */
function all(role: string, condition: string, tables: string): string[] {
  return tables.trim().split(/\s+/).map((name) => `${name}: filestore_${role} all using ${condition}`);
}

export const POLICIES: string[] = [
  ...all("engine", "true", "settings tiers"),
  ...all("engine", OWN_PROJECT, "projects"),
  ...all("engine", OWN_KEY, "api_keys"),
  ...all("engine", OWN_TOKEN, "console_sessions"),
  ...all("engine", `(${OWN_CODE} OR ${OWN_KEY})`, "app_consents"),
  ...all("engine", `(${OWN_TOKEN} OR ${OWN_KEY})`, "app_tokens"),
  ...all("engine", SEEN_RECEIPT, "purged_files"),
  ...all(
    "engine",
    OWN_ROWS,
    `branch_files branches file_versions idempotency_keys link_windows possibly_unreferenced_segments project_usage rate_windows runs
    search_chunks search_contents search_queue search_texts segments shared_segments webhook_deliveries webhook_events webhooks`,
  ),
  ...all("engine", VISIBLE_FILE, "files"),
  `links: filestore_engine select using (${OWN_TOKEN} OR ${VISIBLE_LINK})`,
  `links: filestore_engine insert check ${OWN_ROWS}`,
  `links: filestore_engine update using ${OWN_ROWS}`,
  `links: filestore_engine delete using ${OWN_ROWS}`,
  ...all(
    "admin",
    "true",
    `account_deletions api_keys link_windows links members project_deletions projects segments settings sweeps tiers`,
  ),
  ...all(
    "admin",
    OPENED_OR_ALL,
    `app_tokens branch_files branches dead_segments file_versions files idempotency_keys possibly_unreferenced_segments project_usage purged_files
    retention_passes search_queue search_texts shared_segments usage_days usage_folds usage_levels webhook_events webhooks`,
  ),
  // A deletion removes rows of the project that it has opened, and no rows if it has opened none.
  ...["files", "project_usage", "sweeps"].map((name) =>
    `${name}: filestore_admin delete using ${OWN_ROWS} restrictive`
  ),
  `projects: filestore_admin delete using ${OWN_PROJECT} restrictive`,
  // Rows of one project, after its deletion.
  ...all(
    "admin",
    OWN_ROWS,
    "console_sessions rate_windows runs search_chunks search_contents webhook_deliveries",
  ),
  `app_consents: filestore_admin all using ((filestore.current_project_id() IS NULL) OR ${OWN_ROWS} OR (project_id IS NULL))`,
  `app_consents: filestore_account insert check ((project_id IS NULL) OR ${OWN_ROWS})`,
  ...all("account", "true", "tiers"),
  ...all("account", OWN_ACCOUNT, "account_windows"),
  ...all(
    "account",
    OWN_ROWS,
    "api_keys console_sessions file_versions links project_usage rate_windows usage_days usage_levels webhook_deliveries webhook_events webhooks",
  ),
  ...all("account", `(${OWN_ROWS} AND (path IS NOT NULL))`, "files"),
  `project_deletions: filestore_account insert check ${OWN_ROWS}`,
  `members: filestore_engine select using ${OWN_ROWS}`,
  `members: filestore_account select using (${OWN_ACCOUNT} OR ${OWN_ROWS} OR ${OWN_INVITATION})`,
  `members: filestore_account insert check ${OWN_ROWS}`,
  `members: filestore_account update using ${OWN_ROWS}`,
  `members: filestore_account delete using (${OWN_ACCOUNT} OR ${OWN_ROWS})`,
  `projects: filestore_account select using (${OWNED} OR (owner_id = filestore.current_owner_id()) OR ${OWN_PROJECT} OR ${OWN_MEMBERSHIP})`,
  `projects: filestore_account insert check ${OWNED}`,
  `projects: filestore_account update using ${OWN_PROJECT}`,
  // The exception for search: candidates are found in the rows of all projects, since a policy would prevent the use of
  // an index.
  ...all("search", "true", "files search_chunks search_contents search_queue search_texts segments"),
].sort();

/** Only the owner of public has CREATE in it; the roles have it only while a migration transfers functions to them. */
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
