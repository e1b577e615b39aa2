/**
 * The limits that a client can reach, each with its unit in its name; the documents list them in a table. "In SQL"
 * marks those that `supabase/schemas` defines, too. `limits.ts` contains the other limits.
 */

/** A costly request counts as one for each amount that it begins. For a search, a diff, or edits of a batch: units. */
export const WORK_UNITS_PER_REQUEST = 5_000_000;
/** For a search: calls that read texts without the index. */
export const SEARCH_WALKS_PER_REQUEST = 2;
/** For an export: bytes and files. */
export const EXPORT_BYTES_PER_REQUEST = 5 * 1024 * 1024;
export const EXPORT_FILES_PER_REQUEST = 50;
/** For a list with `at=`, or the dry run of a retention rule: examined files. */
export const EXAMINED_FILES_PER_REQUEST = 50;
/** For a run: files. The plan of an undo or a restore counts like its commit: see PLAN_REQUESTS_MAX. */
export const RUN_FILES_PER_REQUEST = 100;
/** For a new branch: files that are copied. Its merge counts like any commit of many files. */
export const BRANCH_FILES_PER_REQUEST = 100;

/** Longest `content` of one JSON request, in UTF-16 code units (what JSON clients count). */
export const CONTENT_LENGTH_MAX = 10_485_760;
/** Longest request body in bytes: 10,485,760 characters, each written as `\uXXXX`, and room for other fields. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** If a client sends no part of its body for this long, the service ends the request and releases its memory. */
export const BODY_IDLE_MILLISECONDS = 20_000;
/** The same applies if a body takes longer than BODY_IDLE_MILLISECONDS plus this time for each MiB. */
export const BODY_MILLISECONDS_PER_MIB = 16_000;
/** The fields of a JSON body other than `content`, in bytes: two fully escaped edit strings, and the same again. */
export const JSON_FIELDS_BYTES_MAX = 4 * 1024 * 1024;
/** Approximate number of names and values in a JSON body, which are parsed without a pause. */
export const JSON_VALUES_MAX = 100_000;
/** Nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH_MAX = 256;
/** A path in bytes of UTF-8. In SQL. */
export const PATH_BYTES_MAX = 1024;
/** Names in a path, folders and file together: each folder has a row of its own. In SQL. */
export const PATH_SEGMENTS_MAX = 32;
/** `oldString` and `newString` of an edit, in UTF-16 code units. */
export const EDIT_STRING_LENGTH_MAX = 100_000;
/** Line numbers reported for an edit whose old string is not unique. */
export const EDIT_LINES_REPORTED_MAX = 100;
/** Similar lines reported for an edit whose old string is absent. */
export const EDIT_NEAREST_MAX = 3;

/** The work of all edits of one request, in all tries together, in units. */
export const EDIT_UNITS_MAX = 250_000_000;

/** Edits of one request. */
export const EDITS_MAX = 100;
/** All edits of one request together, in bytes of JSON: room for EDITS_MAX pairs of the longest plain strings. */
export const EDITS_BYTES_MAX = 24 * 1024 * 1024;
/** Each side of a diff, in bytes. */
export const DIFF_BYTES_MAX = 1024 * 1024;
/** An Idempotency-Key, in characters. In SQL. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
/** A commit of several files counts as one request for each group of this many files that it begins. In SQL. */
export const OPERATIONS_PER_REQUEST = 10;
/** An `X-Run-Id`, in characters. In SQL. */
export const RUN_ID_LENGTH_MAX = 128;
/** An `X-Actor`, in characters. */
export const ACTOR_LENGTH_MAX = 128;
/** An `X-Change-Note`, decoded, in characters. */
export const CHANGE_NOTE_LENGTH_MAX = 500;

/** Unknown arguments of a call: each is compared with the arguments that the tool has. */
export const MCP_UNKNOWN_ARGUMENTS_MAX = 100;

/** Body of a request about projects and keys, in bytes. */
export const ADMINISTRATION_BYTES_MAX = 64 * 1024;

/** Records of one page of a list or of the activity. In SQL. */
export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 10;
/** Entries of one page of the change feed. In SQL. */
export const CHANGES_LIMIT_MAX = 1_000;
/** The default for CHANGES_LIMIT_MAX. */
export const CHANGES_LIMIT_DEFAULT = 100;
/** Versions that a page of the feed with filters, or for a key with a path prefix, examines. In SQL. */
export const CHANGES_EXAMINED_MAX = 10_000;
/** How long a request may wait for a change. */
export const CHANGES_WAIT_SECONDS_MAX = 25;
/** Requests of one project that wait in an isolate at the same time; others are answered at once. */
export const CHANGES_WAITERS_MAX = 20;
/** Actors that an answer names for one run. In SQL. */
export const RUN_ACTORS_MAX = 20;
/** Versions that are counted of one run; the counts of a larger run are lower bounds. In SQL. */
export const RUN_VERSIONS_COUNTED_MAX = 10_000;
/** Versions by each key, and without a key, that are read of one run to name the people who wrote in it. In SQL. */
export const RUN_VERSIONS_NAMED_MAX = 100;
/** Versions that the plan of an undo examines to find versions of other authors. In SQL. */
export const UNDO_VERSIONS_EXAMINED_MAX = 20_000;
/** Files in one response about a run. */
export const RUN_FILES_MAX = 1_000;
/** Sub-folder names in one list response. In SQL. */
export const LIST_DIRECTORIES_MAX = 1000;
/** The largest number of files that a list counts; beyond it, a list shows only that there are more. In SQL. */
export const LIST_TOTAL_MAX = 10_000;
/** Files that a page of a list with `at=` examines, and again that number for the names of sub-folders. In SQL. */
export const LIST_AT_EXAMINED_MAX = 2000;
/** Files in one commit of a folder operation, an undo or a restore. In SQL. */
export const COMMIT_FILES_MAX = 1000;
/** Paths that a refused copy or move of a folder names. In SQL. */
export const CONFLICTING_PATHS_SHOWN_MAX = 20;
/** Files that restoring a folder examines to find those that changed. In SQL. */
export const RESTORE_EXAMINED_MAX = 10_000;
/** Files of a branch when it is created. In SQL. */
export const BRANCH_FILES_MAX = 10_000;
/** A branch's name and title, in characters. */
export const BRANCH_NAME_LENGTH_MAX = 64;
export const BRANCH_TITLE_LENGTH_MAX = 200;
/** How long a branch stays open, in seconds: at least, at most, and by default. */
export const BRANCH_SECONDS_MIN = 3_600;
export const BRANCH_SECONDS_MAX = 7_776_000;
export const BRANCH_SECONDS_DEFAULT = 2_592_000;
/** Changes in one response about a branch. */
export const BRANCH_CHANGES_MAX = 1_000;
/** Texts whose lines one merge merges; each of up to DIFF_BYTES_MAX. In SQL. */
export const MERGE_TEXTS_MAX = 200;
/** Their bytes, all three sides together. In SQL. */
export const MERGE_TEXTS_BYTES_MAX = 16 * 1024 * 1024;
/** Files of one export. In SQL. */
export const EXPORT_FILES_MAX = 500;
/** Bytes of one export. In SQL. */
export const EXPORT_BYTES_MAX = 50 * 1024 * 1024;
/** Segments of one export; each costs a download from Storage. In SQL. */
export const EXPORT_SEGMENTS_MAX = 1_000;
/** The plan of an undo or a restore counts as at most this many requests. In SQL. */
export const PLAN_REQUESTS_MAX = 10;
/** Largest integer accepted for offsets and versions (a Postgres `integer`). */
export const INTEGER_MAX = 2_147_483_647;

/** Files that a preview of a retention rule examines. In SQL. */
export const RETENTION_PREVIEW_FILES = 2_000;
/** Versions that the preview counts. In SQL. */
export const RETENTION_PREVIEW_VERSIONS = 100_000;
/** Files that the preview names. In SQL. */
export const RETENTION_PREVIEW_SHOWN = 20;
/** Days in one request for usage. In SQL. */
export const USAGE_DAYS_MAX = 366;
/** Days for which usage is kept. In SQL. */
export const USAGE_KEPT_DAYS = 400;
/** Keys that an answer about usage names: those with most requests. In SQL. */
export const USAGE_KEYS_SHOWN_MAX = 100;
/** Largest number of versions that a retention rule may keep. In SQL. */
export const KEEP_VERSIONS_MAX = 10_000;
/** Largest number of days for which a retention rule may keep versions or deleted files. In SQL. */
export const KEEP_DAYS_MAX = 3650;
/** Versions of one redaction. */
export const REDACT_VERSIONS_MAX = 1000;
/** Versions that the answer to a redaction names because they contain a part of the erased content. In SQL. */
export const REDACT_REMAINING_MAX = 20;

/** Longest access token, in characters. */
export const ACCESS_TOKEN_LENGTH_MAX = 8192;
/** Projects an account may have, and active keys a project may have. In SQL. */
export const ACCOUNT_PROJECTS_MAX = 20;
export const PROJECT_KEYS_MAX = 100;
/** An e-mail address that is invited, in characters. In SQL. */
export const ADDRESS_LENGTH_MAX = 254;
/** Members of a project, with its owner and open invitations, and days for which an invitation is open. In SQL. */
export const PROJECT_MEMBERS_MAX = 50;
export const INVITATION_DAYS = 14;
/** Invitations of a project that are mailed within 24 hours; further ones are made without a mail. In SQL. */
export const INVITATION_MAILS_PER_DAY_MAX = 50;
/** Calls about projects and keys under an account's token, and console sessions that it opens. In SQL. */
export const ACCOUNT_REQUESTS_PER_MINUTE = 120;
/** The sweep removes a key this long after it was revoked or has expired. In SQL. */
export const ENDED_KEYS_KEPT_DAYS = 90;
/** Usable links of a project. In SQL. */
export const PROJECT_LINKS_MAX = 1_000;
/** How long a link may be valid, in seconds; a link for writing, for a shorter time. In SQL. */
export const LINK_SECONDS_MIN = 60;
export const LINK_SECONDS_MAX = 604_800;
export const WRITE_LINK_SECONDS_MAX = 3_600;
/** How long a link is valid by default. */
export const LINK_SECONDS_DEFAULT = 3_600;
/** Reads of a link, and refused writes. All links of a project together have the project's own limit. In SQL. */
export const LINK_REQUESTS_PER_MINUTE = 60;
/** The sweep removes a link this long after it ended. In SQL. */
export const ENDED_LINKS_KEPT_DAYS = 7;
/** Webhooks of a project. In SQL. */
export const PROJECT_WEBHOOKS_MAX = 10;
/** Changes in one delivery. In SQL. */
export const WEBHOOK_CHANGES_MAX = 100;
/** Tries of a webhook that its list shows. In SQL. */
export const WEBHOOK_DELIVERIES_KEPT = 100;
/** After a rotation, deliveries are signed with both secrets for this long. In SQL. */
export const WEBHOOK_SECRETS_HOURS = 24;
/** How long a receiver has to answer. */
export const WEBHOOK_MILLISECONDS = 10_000;
/** The address of a webhook, in UTF-16 code units, and its description. In SQL. */
export const WEBHOOK_URL_LENGTH_MAX = 2_000;
export const WEBHOOK_DESCRIPTION_LENGTH_MAX = 500;
/** Text that a command of the memory tool reads or writes, in bytes. */
export const MEMORY_TEXT_BYTES_MAX = 1024 * 1024;
/** Files and folders that the memory tool shows for one folder. */
export const MEMORY_VIEW_ITEMS_MAX = 1_000;

/** A name of a project or key, in characters. In SQL. */
export const NAME_LENGTH_MAX = 100;
/** Longest time for which a rotated key stays valid beside the new one, in seconds: a week. In SQL. */
export const KEY_GRACE_PERIOD_SECONDS_MAX = 604_800;
/** Writes in one response about the project's activity, by default. */
export const ACTIVITY_DEFAULT = 20;
/** Failed authentications per client address and minute. */
export const ADDRESS_REQUESTS_PER_MINUTE = 100;

/** Registrations of apps per client address and hour: an app that many people use has one address for all of them. */
export const OAUTH_REGISTRATIONS_PER_HOUR = 600;
/** Requests of apps for a person's consent, per client address and minute. */
export const OAUTH_AUTHORIZATIONS_PER_MINUTE = 120;
/** Requests of apps for tokens, or to end them, per client address and minute. */
export const OAUTH_TOKENS_PER_MINUTE = 600;
/** How long a person may answer the request of an app. */
export const OAUTH_REQUEST_SECONDS = 600;
/** The `state` of such a request, in characters. */
export const OAUTH_STATE_LENGTH_MAX = 1_024;
/** How long a code, an access token, and a refresh token after its first use are valid. In SQL. */
export const APP_CODE_SECONDS = 60;
export const APP_ACCESS_SECONDS = 3_600;
export const APP_REFRESH_GRACE_SECONDS = 30;
/** After this long without use, an app is disconnected. In SQL. */
export const APP_UNUSED_DAYS = 90;
/** Tokens that are kept of one app, the newest. In SQL. */
export const APP_TOKENS_MAX = 100;

/** A search query, in UTF-16 code units. */
export const SEARCH_QUERY_LENGTH_MAX = 1000;
export const SEARCH_GLOB_LENGTH_MAX = 256;
/** Largest `offset` of a search. To see more, a client narrows the directory. */
export const SEARCH_OFFSET_MAX = 10_000;
/** The text of larger files is not indexed, in bytes: they are found by name. Also the text of one lease. In SQL. */
export const SEARCH_TEXT_BYTES_MAX = 1024 * 1024;
/** Matching lines shown of one file, in `text` and `regex`; the score counts all of them. */
export const SEARCH_MATCHES_PER_FILE_MAX = 20;
/** Text that one search reads, in bytes, before it returns the results so far or SEARCH_TOO_BROAD. */
export const SEARCH_READ_BYTES_MAX = 24 * 1024 * 1024;
/** The work of matching in one search, in units, before the search ends in the same way. */
export const SEARCH_UNITS_MAX = 200_000_000;
/** The number of calls in which one search requests files from the database, before it ends in the same way. */
export const SEARCH_CALLS_MAX = 160;
/** How many of these calls may read the most texts that a call may read, where a pattern is too short for the index. */
export const SEARCH_WALKS_MAX = 20;
/** Largest number in `{m,n}`. */
export const SEARCH_REGEX_REPEAT_MAX = 255;
/** Nesting of groups. */
export const SEARCH_REGEX_DEPTH_MAX = 50;
/** Files without indexed text that a search examines. In SQL. */
export const SEARCH_UNSEARCHED_MAX = 2_000;
/** Paths that an answer names among the files that were not searched. In SQL. */
export const SEARCH_UNSEARCHED_PATHS_MAX = 20;
/** Searches by substring or pattern read files that are not in the index, up to this size in bytes … */
export const SEARCH_LIVE_FILE_BYTES_MAX = 10 * 1024 * 1024;
/** … up to this size in all, the smallest files first … */
export const SEARCH_LIVE_BYTES_MAX = 16 * 1024 * 1024;
/** … and up to this number of segments, each of which costs a call of Storage. */
export const SEARCH_LIVE_READS_MAX = 200;
/** How long a search may wait until its directory is indexed. */
export const SEARCH_WAIT_SECONDS_MAX = 10;
/** Searches of one project that wait in an isolate at the same time; others are answered at once. */
export const SEARCH_WAITERS_MAX = CHANGES_WAITERS_MAX;

/** Dimensions of an embedding. For sizes without an index, SEARCH_EXACT_CHUNKS_MAX chunks are compared. In SQL. */
export const EMBEDDING_DIMENSIONS_MAX = 2_000;
