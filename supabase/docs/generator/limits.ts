/** The limits of the contract, each with a row in one of two tables. */
import * as limits from "../../functions/api/contract/limits.ts";
import { code, table } from "./markdown.ts";

type Name = keyof typeof limits;

/** In the order of the table. */
const SHOWN: readonly (readonly [Name, string])[] = [
  ["CONTENT_LENGTH_MAX", "`content` of a JSON request; for base64 the encoded text counts"],
  ["BODY_BYTES_MAX", "body of a JSON request"],
  ["JSON_FIELDS_BYTES_MAX", "fields of a JSON body other than `content`"],
  ["JSON_VALUES_MAX", "names and values in a JSON body"],
  ["JSON_DEPTH_MAX", "nesting of arrays and objects in a JSON body"],
  ["ADMINISTRATION_BYTES_MAX", "body of a request about projects and keys"],
  ["PATH_BYTES_MAX", "path, in UTF-8"],
  ["PATH_SEGMENTS_MAX", "names in a path, folders and file together"],
  ["INTEGER_MAX", "versions and offsets"],
  ["PAGE_LIMIT_MAX", "`limit` of a page"],
  ["PAGE_LIMIT_DEFAULT", "`limit` of a page, by default"],
  ["LIST_DIRECTORIES_MAX", "`directories` in a list"],
  ["LIST_TOTAL_MAX", "files that a list counts for its `total`, and a project for `usage.files`"],
  ["LIST_AT_EXAMINED_MAX", "files that a page of a list with `at` examines, and again for `directories`"],
  ["COMMIT_FILES_MAX", "files of one copy, move or deletion of a folder, one undo or one restore"],
  ["CONFLICTING_PATHS_SHOWN_MAX", "`details.paths` of a refused copy or move of a folder"],
  ["RESTORE_EXAMINED_MAX", "files that a restore of a folder, or its copy with `at`, examines"],
  ["BRANCH_FILES_MAX", "files of a branch when it is created"],
  ["BRANCH_NAME_LENGTH_MAX", "name of a branch, in characters"],
  ["BRANCH_TITLE_LENGTH_MAX", "its title, in characters"],
  ["BRANCH_SECONDS_MIN", "`expiresIn` of a branch, in seconds, at least"],
  ["BRANCH_SECONDS_MAX", "`expiresIn` of a branch, in seconds, at most"],
  ["BRANCH_SECONDS_DEFAULT", "`expiresIn` of a branch, in seconds, by default"],
  ["BRANCH_CHANGES_MAX", "changes in one response about a branch"],
  ["MERGE_TEXTS_MAX", "texts whose lines one merge merges"],
  ["MERGE_TEXTS_BYTES_MAX", "their bytes, all three sides together"],
  ["EXPORT_FILES_MAX", "files of one export"],
  ["EXPORT_BYTES_MAX", "bytes of one export"],
  ["EXPORT_SEGMENTS_MAX", "segments of one export"],
  ["ACTIVITY_DEFAULT", "`limit` of the project's activity, by default"],
  ["CHANGES_LIMIT_MAX", "`limit` of a page of the change feed"],
  ["CHANGES_LIMIT_DEFAULT", "`limit` of a page of the change feed, by default"],
  ["CHANGES_EXAMINED_MAX", "versions that such a page with filters, or for a key with a prefix, examines"],
  ["CHANGES_WAIT_SECONDS_MAX", "`wait` for a change, in seconds"],
  ["CHANGES_WAITERS_MAX", "requests of a project that wait for a change in one isolate"],
  ["RUN_ID_LENGTH_MAX", "`X-Run-Id`, in characters"],
  ["ACTOR_LENGTH_MAX", "`X-Actor`, in characters"],
  ["CHANGE_NOTE_LENGTH_MAX", "`X-Change-Note`, decoded, in characters"],
  ["RUN_ACTORS_MAX", "actors listed for a run"],
  ["RUN_FILES_MAX", "files in one response about a run"],
  ["RUN_VERSIONS_COUNTED_MAX", "versions that the service counts for one run"],
  ["RUN_VERSIONS_NAMED_MAX", "versions by each key, and without one, that name the people of a run"],
  ["UNDO_VERSIONS_EXAMINED_MAX", "versions that the plan of an undo examines for changes by others"],
  ["PLAN_REQUESTS_MAX", "requests that a plan counts as"],
  ["EDIT_STRING_LENGTH_MAX", "`oldString` and `newString`"],
  ["EDITS_MAX", "edits in one request"],
  ["EDITS_BYTES_MAX", "all edits of one request, as JSON"],
  ["EDIT_UNITS_MAX", "work of all edits of one request, in the units of `SEARCH_UNITS_MAX`"],
  ["EDIT_NEAREST_MAX", "near misses reported for an edit"],
  ["EDIT_LINES_REPORTED_MAX", "line numbers reported for an ambiguous edit"],
  ["DIFF_BYTES_MAX", "each side of a diff"],
  ["IDEMPOTENCY_KEY_LENGTH_MAX", "`Idempotency-Key`, in printable ASCII characters"],
  ["OAUTH_REGISTRATIONS_PER_HOUR", "registrations of apps, for each client address and hour"],
  ["OAUTH_AUTHORIZATIONS_PER_MINUTE", "requests of apps for consent, for each client address and minute"],
  ["OAUTH_TOKENS_PER_MINUTE", "requests of apps for tokens, for each client address and minute"],
  ["OAUTH_REQUEST_SECONDS", "time to answer the request of an app, in seconds"],
  ["OAUTH_STATE_LENGTH_MAX", "`state` of such a request, in characters"],
  ["APP_CODE_SECONDS", "validity of an app's code, in seconds"],
  ["APP_ACCESS_SECONDS", "validity of an app's access token, in seconds"],
  ["APP_REFRESH_GRACE_SECONDS", "validity of a refresh token after its first use, in seconds"],
  ["APP_UNUSED_DAYS", "days without use after which an app is disconnected"],
  ["APP_TOKENS_MAX", "tokens that are kept of one app, the newest"],
  ["SEARCH_QUERY_LENGTH_MAX", "`q` of a search"],
  ["SEARCH_GLOB_LENGTH_MAX", "`glob` of a search"],
  ["SEARCH_OFFSET_MAX", "`offset` of a search"],
  ["SEARCH_TEXT_BYTES_MAX", "text that is indexed; larger files are found only by name"],
  [
    "SEARCH_LIVE_FILE_BYTES_MAX",
    "size of an unindexed text that a search by substring or pattern reads",
  ],
  ["SEARCH_LIVE_BYTES_MAX", "bytes of unindexed texts that one search reads, the smallest files first"],
  ["SEARCH_LIVE_READS_MAX", "segments of unindexed texts that one search reads, at least one for each file"],
  ["SEARCH_UNSEARCHED_MAX", "files without indexed text that a search examines"],
  ["SEARCH_UNSEARCHED_PATHS_MAX", "paths named in `notSearched`"],
  ["SEARCH_WAIT_SECONDS_MAX", "`wait` of a search, in seconds"],
  ["SEARCH_WAITERS_MAX", "searches of a project that wait in one isolate"],
  ["SEARCH_MATCHES_PER_FILE_MAX", "matching lines shown of one file"],
  ["SEARCH_READ_BYTES_MAX", "indexed text read by one search by substring or pattern"],
  [
    "SEARCH_UNITS_MAX",
    "work of matching in one search, in units: a character that is read, or what takes as long",
  ],
  ["SEARCH_CALLS_MAX", "calls of the database for text by one search"],
  ["SEARCH_WALKS_MAX", "calls that read texts one by one, for a pattern that is too short for the index"],
  ["SEARCH_REGEX_REPEAT_MAX", "numbers in `{m,n}` of a pattern"],
  ["SEARCH_REGEX_DEPTH_MAX", "nesting of groups in a pattern"],
  ["EMBEDDING_DIMENSIONS_MAX", "dimensions of an embedding"],
  ["PROJECT_LINKS_MAX", "links of a project that can be used"],
  ["LINK_SECONDS_MAX", "validity of a link for reading, in seconds"],
  ["WRITE_LINK_SECONDS_MAX", "validity of a link for writing, in seconds"],
  ["LINK_SECONDS_MIN", "shortest validity of a link, in seconds"],
  ["LINK_SECONDS_DEFAULT", "validity of a link, in seconds, by default"],
  ["LINK_REQUESTS_PER_MINUTE", "reads of a link, and refused writes, per minute"],
  ["ENDED_LINKS_KEPT_DAYS", "days for which an ended link answers 410"],
  ["PROJECT_WEBHOOKS_MAX", "webhooks of a project"],
  ["WEBHOOK_CHANGES_MAX", "changes in one delivery to a webhook"],
  ["WEBHOOK_DELIVERIES_KEPT", "tries of a webhook that are kept"],
  ["WEBHOOK_SECRETS_HOURS", "hours for which both secrets sign after a rotation"],
  ["WEBHOOK_MILLISECONDS", "time in which a receiver must answer"],
  ["WEBHOOK_URL_LENGTH_MAX", "characters of a webhook's address"],
  ["WEBHOOK_DESCRIPTION_LENGTH_MAX", "characters of a webhook's description"],
  ["MEMORY_TEXT_BYTES_MAX", "text that a command of the memory tool reads or writes"],
  ["MEMORY_VIEW_ITEMS_MAX", "files and folders in a folder that the memory tool shows"],
  ["MCP_UNKNOWN_ARGUMENTS_MAX", "unknown arguments of an MCP call"],
  ["ACCOUNT_PROJECTS_MAX", "projects of an account"],
  ["PROJECT_KEYS_MAX", "active keys of a project"],
  ["PROJECT_MEMBERS_MAX", "people in a project, with its owner and open invitations"],
  ["ADDRESS_LENGTH_MAX", "an e-mail address that is invited, in characters"],
  ["INVITATION_DAYS", "days for which an invitation is open"],
  ["INVITATION_MAILS_PER_DAY_MAX", "invitations by an account that are mailed within 24 hours"],
  ["ACCOUNT_REQUESTS_PER_MINUTE", "requests about projects and keys under an account's token, per minute"],
  ["USAGE_DAYS_MAX", "days in one request for usage"],
  ["USAGE_KEPT_DAYS", "days that usage is kept"],
  ["USAGE_KEYS_SHOWN_MAX", "keys listed in an answer about usage"],
  ["RETENTION_PREVIEW_FILES", "files that a preview of a retention rule examines"],
  ["RETENTION_PREVIEW_VERSIONS", "versions that such a preview counts"],
  ["RETENTION_PREVIEW_SHOWN", "files that such a preview names"],
  ["KEEP_VERSIONS_MAX", "versions that a retention rule keeps"],
  ["KEEP_DAYS_MAX", "days for which a retention rule keeps versions or deleted files"],
  ["REDACT_VERSIONS_MAX", "versions of one redaction"],
  ["REDACT_REMAINING_MAX", "versions that the answer to a redaction names in `remaining`"],
  ["ENDED_KEYS_KEPT_DAYS", "days that a revoked or expired key is shown"],
  ["NAME_LENGTH_MAX", "name of a project or key, in characters"],
  ["KEY_GRACE_PERIOD_SECONDS_MAX", "grace period of a rotated key"],
  ["ADDRESS_REQUESTS_PER_MINUTE", "failed authentications per client address and minute"],
  ["ACCESS_TOKEN_LENGTH_MAX", "access token, in characters"],
  ["BODY_IDLE_MILLISECONDS", "pause in an upload before the service gives it up"],
  ["BODY_MILLISECONDS_PER_MIB", "time that an upload may take for each MiB, after that pause"],
];

const COUNTED_AS_CHARACTERS: readonly Name[] = [
  "IDEMPOTENCY_KEY_LENGTH_MAX",
  "NAME_LENGTH_MAX",
  "ACCESS_TOKEN_LENGTH_MAX",
];

function value(name: Name): string {
  const bound = limits[name];
  if (/_BYTES(_|$)/.test(name)) {
    const unit = [[1024 ** 2, "MiB"], [1024, "KiB"]] as const;
    const [size, suffix] = unit.find(([size]) => bound >= size && bound % size === 0) ?? [1, "bytes"];
    return size === 1 ? `${bound} bytes` : `${bound / size} ${suffix} (${bound} bytes)`;
  }
  if (/_MILLISECONDS(_|$)/.test(name)) return `${bound / 1000} s`;
  if (/_SECONDS(_|$)/.test(name)) return `${bound} s`;
  if (/_LENGTH(_|$)/.test(name) && !COUNTED_AS_CHARACTERS.includes(name)) return `${bound} UTF-16 code units`;
  return String(bound);
}

/** Work that counts as one request for each such amount; an incomplete amount counts in full. */
const COUNTED: readonly (readonly [Name, string])[] = [
  [
    "OPERATIONS_PER_REQUEST",
    "operations of a batch; files of an undo, a merge, and of a folder that is copied, moved, deleted or restored; files of a plan",
  ],
  [
    "WORK_UNITS_PER_REQUEST",
    "work of a search, a diff, or a batch's edits, in units: a byte that is read or written, or what takes as long",
  ],
  ["SEARCH_WALKS_PER_REQUEST", "calls of a search that read texts one by one"],
  ["EXPORT_BYTES_PER_REQUEST", "bytes of an export"],
  ["EXPORT_FILES_PER_REQUEST", "files of an export"],
  [
    "EXAMINED_FILES_PER_REQUEST",
    "files that a list with `at`, or the preview of a retention rule, examines",
  ],
  ["RUN_FILES_PER_REQUEST", "files in an answer about a run"],
  ["BRANCH_FILES_PER_REQUEST", "files that are copied to a new branch"],
];

const rows = new Set([...SHOWN, ...COUNTED].map(([name]): string => name));
const unnamed = Object.keys(limits).filter((name) => !rows.has(name));
if (unnamed.length > 0) throw new Error(`No table has these limits of the contract: ${unnamed}`);

export function countedTable(): string {
  return table(
    ["work", "one request for each", "name"],
    COUNTED.map(([name, what]) => [what, value(name), code(name)]),
  );
}

export function limitsTable(): string {
  return table(
    ["what", "at most", "name"],
    SHOWN.map(([name, what]) => [what, value(name), code(name)]),
  );
}
