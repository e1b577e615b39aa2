/**
 * Every bound of the service, with its unit in its name. The documents, the OpenAPI description and the tests
 * read this file instead of repeating its numbers. Limits that depend on a tier live in the table `filestore.tiers`.
 *
 * "In SQL" marks those that the database enforces: they are also in `supabase/schemas/01_limits.sql`, or written out in a
 * table, and `tests/database/limits.test.ts` compares the two.
 */

/** Costly requests of one account, or of a project without one, that an isolate serves at the same time … */
export const COSTLY_REQUESTS_AT_ONCE = 2;
/** … and how long the next one waits for its turn before it gets a 429 … */
export const COSTLY_WAIT_MILLISECONDS = 3_000;
/** … as it does at once where this many of them wait already. */
export const COSTLY_WAITING_MAX = 100;
/** A costly request counts as one request for each of these amounts of work that it begins, and at most as this many: */
export const REQUESTS_COUNTED_MAX = 10;
/** work of a search, a diff, or a batch's edits, in units; */
export const WORK_UNITS_PER_REQUEST = 5_000_000;
/** calls of a search that walk through texts without the index; */
export const SEARCH_WALKS_PER_REQUEST = 2;
/** bytes and files of an export; */
export const EXPORT_BYTES_PER_REQUEST = 5 * 1024 * 1024;
export const EXPORT_FILES_PER_REQUEST = 50;
/** files that a list with `at=`, or a retention's dry run, looks at; */
export const EXAMINED_FILES_PER_REQUEST = 50;
/** files of a run. Plans of an undo or a restore count as such commits do: see PLAN_REQUESTS_MAX. */
export const RUN_FILES_PER_REQUEST = 100;

/** Longest `content` of one JSON request, in UTF-16 code units (what JSON clients count). */
export const CONTENT_LENGTH_MAX = 10_485_760;
/** Longest request body in bytes: 10,485,760 characters, each written as `\uXXXX`, and room for the rest. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The body of a request that was refused unread is still drained, for no longer than this: a client whose connection is
 * closed while it sends may miss the response.
 */
export const DRAIN_MILLISECONDS = 1_000;
/** A client that sends none of its body for this long counts as gone, and the memory held for it is released … */
export const BODY_IDLE_MILLISECONDS = 20_000;
/** … and so does one whose body comes more slowly than this for so long: it has that time, and this more for each MiB. */
export const BODY_MILLISECONDS_PER_MIB = 16_000;
/** Requests with larger bodies are authorized by the database before the body is read. */
export const UNAUTHORIZED_BODY_BYTES_MAX = 64 * 1024;
/** The fields of a JSON body other than `content`, in bytes: two fully escaped edit strings, and as much again. */
export const JSON_FIELDS_BYTES_MAX = 4 * 1024 * 1024;
/** Strings of a JSON body that are longer than this, in bytes, are parsed one by one, so that others are served between. */
export const JSON_LONG_STRING_BYTES = 16 * 1024;
/** Names and values in a JSON body, about: they are parsed in one go, which no request may hold up others with. */
export const JSON_VALUES_MAX = 100_000;
/** Nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH_MAX = 256;
/** Items of a list in a JSON body that are looked at for unknown fields: as many as the longest list may have. */
export const UNKNOWN_NAMES_ITEMS_MAX = 1_000;
/** Unknown fields or query parameters that a refusal names … */
export const UNKNOWN_NAMES_REPORTED_MAX = 10;
/** … and how much of each, in UTF-16 code units. */
export const UNKNOWN_NAME_LENGTH_SHOWN = 100;
/** A path in bytes of UTF-8. In SQL. */
export const PATH_BYTES_MAX = 1024;
/** Names in a path, folders and file together: each folder has a row of its own. In SQL. */
export const PATH_SEGMENTS_MAX = 32;
/** `oldString` and `newString` of an edit, in UTF-16 code units. */
export const EDIT_STRING_LENGTH_MAX = 100_000;
/** Line numbers reported for an edit whose old string is not unique. */
export const EDIT_LINES_REPORTED_MAX = 100;
/** Near misses reported for an edit whose old string is absent. */
export const EDIT_NEAREST_MAX = 3;
/** How much of a file is searched for near misses, in bytes. */
export const EDIT_NEAREST_SCAN_BYTES_MAX = 2 * 1024 * 1024;
/** How much of `oldString`'s first line is compared with each line, in bytes without white space. */
export const EDIT_NEAREST_COMPARED_BYTES = 256;
/** A line is a near miss when it is at least this similar to that line; 1: equal except for case and white space. */
export const EDIT_NEAREST_SIMILARITY_MIN = 0.25;
/** Longest text of one near miss, in UTF-16 code units. */
export const EDIT_NEAREST_TEXT_LENGTH_MAX = 500;

/**
 * Work on the isolate's one thread is counted in units: a byte or character looked at or written, or what takes as long,
 * some nanoseconds. After so many units other requests are served before it goes on.
 */
export const WORK_SLICE_UNITS = 500_000;
/** After each slice of a costly request the thread is left to others for this long. */
export const COSTLY_REST_MILLISECONDS = 25;
/** The work of all edits of one request, all tries together, in units … */
export const EDIT_UNITS_MAX = 250_000_000;
/** … of which finding or replacing one occurrence takes this many besides its bytes. */
export const EDIT_MATCH_UNITS = 8;

/** Edits of one request. */
export const EDITS_MAX = 100;
/**
 * All edits of one request together, in bytes of JSON: room for EDITS_MAX pairs of the longest plain strings. What is no
 * long string among them, and any one string, have JSON_FIELDS_BYTES_MAX.
 */
export const EDITS_BYTES_MAX = 24 * 1024 * 1024;
/** Rewritten content that several edits of one request keep in memory, in bytes; the excess is stored early. */
export const EDIT_MEMORY_BYTES = 8 * 1024 * 1024;
/** Each side of a diff, in bytes. */
export const DIFF_BYTES_MAX = 1024 * 1024;
/** Unchanged lines shown before and after a change. */
export const DIFF_CONTEXT_LINES = 3;
/** The shortest diff is searched for among those of up to this many lines that both sides have but elsewhere … */
export const DIFF_EDITS_MAX = 2_000;
/** … and with so much work, in units; then a longer one is returned. */
export const DIFF_SEARCH_UNITS_MAX = 40_000_000;
/** An Idempotency-Key, in characters. In SQL. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
/** Operations of one batch. */
export const BATCH_OPERATIONS_MAX = 100;
/** The body of a batch, in bytes: its content together is bounded by CONTENT_LENGTH_MAX. */
export const BATCH_BYTES_MAX = 36 * 1024 * 1024;
/** A commit of several files counts one request of the window for each so many of them that are begun. In SQL. */
export const OPERATIONS_PER_REQUEST = 10;
/** Operations of a batch whose content is stored at a time. */
export const BATCH_UPLOADS_AT_ONCE = 8;
/** An `X-Run-Id`, in characters. In SQL. */
export const RUN_ID_LENGTH_MAX = 128;
/** An `X-Actor`, in characters. */
export const ACTOR_LENGTH_MAX = 128;
/** An `X-Change-Note`, decoded, in characters. */
export const CHANGE_NOTE_LENGTH_MAX = 500;
/** How long the response to a write with an Idempotency-Key is stored. In SQL. */
export const IDEMPOTENCY_KEY_SECONDS = 86_400;
/** Memory reserved for a raw upload, in bytes: the segments being uploaded. */
export const RAW_UPLOAD_BYTES = 8 * 1024 * 1024;

/** Body of a call of `/mcp`, in bytes. */
export const MCP_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Arguments of a call that its tool does not have: each is compared with those that it has. */
export const MCP_UNKNOWN_ARGUMENTS_MAX = 100;
/** Text of a tool's result, in UTF-16 code units … */
export const MCP_TEXT_LENGTH_MAX = 40_000;
/** … and of one line in it; a longer one is cut. */
export const MCP_LINE_LENGTH_MAX = 2_000;
/** Lines that `read_file` returns, unless told otherwise … */
export const MCP_READ_LINES_DEFAULT = 500;
/** … and at most. */
export const MCP_READ_LINES_MAX = 2_000;
/** How far `read_file` reads, in bytes: within a file with long lines it stops there. */
export const MCP_READ_BYTES_MAX = 4 * 1024 * 1024;
/** Larger images are described, not shown, in bytes. */
export const MCP_IMAGE_BYTES_MAX = 1024 * 1024;
/** Files that `list_files` returns by default; PAGE_LIMIT_MAX at most. */
export const MCP_LIST_DEFAULT = 100;
/** Pages of PAGE_LIMIT_MAX files that one `list_files` tries on its glob. */
export const MCP_LIST_CALLS_MAX = 20;
/** Matching lines that `grep_files` returns, unless told otherwise, and at most. */
export const MCP_GREP_LINES_DEFAULT = 50;
export const MCP_GREP_LINES_MAX = 500;
/** Versions that `file_history` returns by default; PAGE_LIMIT_MAX at most. */
export const MCP_HISTORY_DEFAULT = 20;
/** Changes that `recent_changes` returns by default; PAGE_LIMIT_MAX at most. */
export const MCP_CHANGES_DEFAULT = 50;
/** Lines of the diff that a refused write shows. */
export const MCP_CONFLICT_DIFF_LINES_MAX = 50;
/** Lines around an edit that its result shows, before and after … */
export const MCP_EDIT_CONTEXT_LINES = 3;
/** … and all of them together, at most. */
export const MCP_EDIT_LINES_MAX = 40;
/** Tries of an `append_file` whose file is created and deleted meanwhile. */
export const MCP_APPEND_TRIES_MAX = 3;

/** Body of a request about projects and keys, in bytes. */
export const ADMINISTRATION_BYTES_MAX = 64 * 1024;

/** Records of one page of a list or of the activity. In SQL. */
export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 10;
/** Entries of one page of the change feed. In SQL. */
export const CHANGES_LIMIT_MAX = 1_000;
/** By default. */
export const CHANGES_LIMIT_DEFAULT = 100;
/** Versions that a page of the feed with filters, or for a key with a path prefix, looks at. In SQL. */
export const CHANGES_LOOKED_AT_MAX = 10_000;
/** How long a request may wait for a change. */
export const CHANGES_WAIT_SECONDS_MAX = 25;
/** While requests wait for changes of a project, the isolate asks the database for news of it this often. */
export const CHANGES_POLL_MILLISECONDS = 250;
/** How long it waits for the answer; then it asks again. */
export const CHANGES_POLL_DEADLINE_MILLISECONDS = 5_000;
/** Requests of one project that wait in an isolate at the same time; others are answered at once. */
export const CHANGES_WAITERS_MAX = 20;
/** Requests a minute with which an owner follows projects in the console, without spending their windows … */
export const FREE_FOLLOWS_PER_MINUTE = 120;
/** … each of which waits at least this long, also where there is something to tell at once. */
export const FREE_FOLLOW_MILLISECONDS_MIN = 1_000;
/** Actors that are named of a run. In SQL. */
export const RUN_ACTORS_MAX = 20;
/** A page of runs looks at so many, and at no further one once it has counted so many versions. In SQL. */
export const RUNS_LOOKED_AT_MAX = 1_000;
export const RUNS_COUNTED_VERSIONS = 50_000;
/** Versions that are counted of one run; of one that has more, counts are what it has at least. In SQL. */
export const RUN_VERSIONS_COUNTED_MAX = 10_000;
/** Files of a run, for each key that claimed it, that are looked at in search of those that the caller sees. In SQL. */
export const RUN_FILES_EXAMINED_MAX = 10_000;
/** Versions that the plan of an undo looks at, in search of what others have made. In SQL. */
export const UNDO_VERSIONS_EXAMINED_MAX = 20_000;
/** Files in one response about a run. */
export const RUN_FILES_MAX = 1_000;
/** Sub-folder names in one list response. In SQL. */
export const LIST_DIRECTORIES_MAX = 1000;
/** Files that a page of a list with `at=` looks at, and as many for the names of sub-folders. In SQL. */
export const LIST_AT_EXAMINED_MAX = 2000;
/** Files of one commit of a folder, an undo or a restore. In SQL. */
export const COMMIT_FILES_MAX = 1000;
/** Paths that a refused copy or move of a folder names. In SQL. */
export const CONFLICTING_PATHS_SHOWN_MAX = 20;
/** Files that the restoring of a folder looks at, in search of those that changed. In SQL. */
export const RESTORE_EXAMINED_MAX = 10_000;
/** Files of one export. In SQL. */
export const EXPORT_FILES_MAX = 500;
/** Their bytes. In SQL. */
export const EXPORT_BYTES_MAX = 50 * 1024 * 1024;
/** Segments that they consist of, each of which is a download from Storage. In SQL. */
export const EXPORT_SEGMENTS_MAX = 1_000;
/** One page of a verification ends with the version that reaches one of these: versions, and segments of them. In SQL. */
export const VERIFY_VERSIONS_MAX = 500;
export const VERIFY_SEGMENTS_MAX = 2_000;
/** Rows of segments that one page of a verification looks at. In SQL. */
export const VERIFY_ROWS_MAX = 10_000;
/** A segment of an export counts as at least so many bytes for the request's deadline: small ones take time, too. */
export const EXPORT_SEGMENT_BYTES_COUNTED_MIN = 128 * 1024;
/** How often the files of a plan are locked anew, where others add to them meanwhile. In SQL. */
export const PLAN_TRIES_MAX = 5;
/** As how many requests the plan of an undo or a restore counts at most. In SQL. */
export const PLAN_REQUESTS_MAX = 10;
/** Largest integer accepted for offsets and versions (a Postgres `integer`). */
export const INTEGER_MAX = 2_147_483_647;

/** Content is cut into segments of at most this many bytes. In SQL: the bucket allows no more. */
export const SEGMENT_BYTES_MAX = 1024 * 1024;
/** A commit returns the segment list for compaction whenever its length passes a multiple of this. In SQL. */
export const COMPACTION_CHECK_EVERY_SEGMENTS = 8;
/** A file has at most this many segments, and SEGMENT_LIST_MAX_PER_MIB more for each MiB or part of one. In SQL. */
export const SEGMENT_LIST_MAX_BASE = 128;
export const SEGMENT_LIST_MAX_PER_MIB = 2;
/** One compaction takes at most this many segments and bytes. */
export const COMPACTION_RUN_SEGMENTS_MAX = 64;
export const COMPACTION_RUN_BYTES_MAX = 4 * 1024 * 1024;
/** The cost of a compaction besides its bytes (calls, objects), in bytes. */
export const COMPACTION_FIXED_COST_BYTES = 256 * 1024;
/** Bytes that a compaction may write per segment it saves, in a file without excess segments. */
export const COMPACTION_PRICE_BYTES = 32 * 1024;
/** That price doubles with every this many segments over SEGMENT_LIST_MAX_PER_MIB … */
export const COMPACTION_PRICE_DOUBLES_EVERY_SEGMENTS = 20;
/** … and with this many over, any price is accepted. */
export const COMPACTION_ANY_PRICE_EXCESS = 96;
/** An append of up to this many bytes also performs the compaction of the file's end that its predecessor deferred … */
export const COMPACTING_APPEND_BYTES_MAX = 64 * 1024;
/** … in files of up to this many segments. */
export const PENDING_COMPACTION_SEGMENTS_MAX = 64;
/** Files of which an isolate remembers a pending compaction. */
export const PENDING_COMPACTIONS_MAX = 256;
/** Most bytes that compactions write per byte appended, counting 4 KiB extra for each append. */
export const COMPACTION_WRITE_AMPLIFICATION_MAX = 4;
/** Commits to one file that an isolate has in flight; the next ones wait for their turn. */
export const FILE_COMMITS_AT_ONCE = 4;
/** An isolate sweeps a slice after every this many commits. */
export const SWEEP_EVERY_COMMITS = 500;
/** Objects that one slice of the sweep examines, and that one call lists. */
export const SWEEP_PAGE_OBJECTS = 1000;
/** Steps of a slice for deleted projects, and for uploads: fewer, once they have come to a page of objects or rows. */
export const SWEEP_STEPS_MAX = 20;
/** Versions that a purge removes with its commit; the rest follows in slices. In SQL. */
export const ERASED_VERSIONS_MAX = 10_000;
/** Segments in the lists of these versions together. In SQL. */
export const ERASED_LISTED_SEGMENTS_MAX = 1_500_000;
/** Versions that one slice of the sweep removes. In SQL. */
export const ERASURE_SLICE_VERSIONS = 2_000;
/** Versions that one slice looks at, with their file locked, for segments that they still need. In SQL. */
export const ERASURE_SCAN_VERSIONS = 500;
/** Files that one slice looks at for a rule of retention. In SQL. */
export const RETENTION_SLICE_FILES = 500;
/** Versions that it removes: as long as that takes their files stay locked. In SQL. */
export const RETENTION_SLICE_VERSIONS = 500;
/** How often a project with a rule is looked through where nothing was written. In SQL. */
export const RETENTION_PASS_SECONDS = 3600;
/** Files that a preview of a rule looks at. In SQL. */
export const RETENTION_PREVIEW_FILES = 2_000;
/** Versions that it counts. In SQL. */
export const RETENTION_PREVIEW_VERSIONS = 100_000;
/** Files that it names. In SQL. */
export const RETENTION_PREVIEW_SHOWN = 20;
/** Days of one question about usage. In SQL. */
export const USAGE_DAYS_MAX = 366;
/** Days that usage is kept. In SQL. */
export const USAGE_KEPT_DAYS = 400;
/** Keys that an answer about usage names, those with most requests. In SQL. */
export const USAGE_KEYS_SHOWN_MAX = 100;
/** How often the sweep counts a project's versions into its days. In SQL. */
export const USAGE_FOLD_SECONDS = 3600;
/** Versions that one slice counts, or one question about usage. In SQL. */
export const USAGE_SLICE_VERSIONS = 10_000;
/** Projects that one slice looks at. In SQL. */
export const USAGE_SLICE_PROJECTS = 100;
/** An isolate hands in the requests that it has counted this long after the first of them … */
export const USAGE_FLUSH_MILLISECONDS = 5_000;
/** … counts so many keys and days at a time, and no others until then. */
export const USAGE_COUNTS_MAX = 1_000;
/** How long handing them in may take. */
export const USAGE_DEADLINE_MILLISECONDS = 10_000;
/** Versions that a rule may keep. */
export const KEEP_VERSIONS_MAX = 10_000;
/** Days that a rule may keep versions, or deleted files. */
export const KEEP_DAYS_MAX = 3650;
/** Versions of one redaction. In SQL. */
export const REDACT_VERSIONS_MAX = 1000;
/** Versions that its answer names because they share a piece. In SQL. */
export const REDACT_REMAINING_MAX = 20;
/** Idempotency answers that one slice looks at, for those about files that were purged. In SQL. */
export const ERASURE_SLICE_ANSWERS = 5_000;
/** Segments fetched ahead of the one being sent … */
export const READ_AHEAD_SEGMENTS = 3;
/** … and the memory they may take, all reads of an isolate together, in bytes. */
export const READ_AHEAD_BUDGET_BYTES = 16 * 1024 * 1024;
/** Inputs of up to this many bytes are hashed on the isolate's own thread … */
export const HASHED_AT_ONCE_BYTES_MAX = 16 * 1024;
/** … once it has hashed this many: loading `node:crypto` takes longer than a request. */
export const HASHES_BEFORE_LOADING = 16;
/** Segments of one write uploaded at the same time. */
export const UPLOADS_AT_ONCE = 4;
/** Of one write so many segments stay in the cache. The memory of the others is freed as soon as they are stored. */
export const UPLOADED_SEGMENTS_KEPT = 4;
/** Content of up to this many bytes is read before its response begins, which is then sent in one piece. */
export const READ_AT_ONCE_BYTES = 64 * 1024;
/** Content that is encoded as JSON at a time, while the client takes it: each answer has two of these in memory. */
export const ENCODED_AT_ONCE_BYTES = 128 * 1024;
/** Verified segments cached per isolate, in bytes. */
export const SEGMENT_CACHE_BYTES_MAX = 24 * 1024 * 1024;
/** A read of more than this, in bytes, bypasses the cache: it would evict everything else. */
export const READ_KEPT_BYTES_MAX = SEGMENT_CACHE_BYTES_MAX / 2;
/** Memory for what has arrived of request bodies over UNAUTHORIZED_BODY_BYTES_MAX, per isolate, in bytes. */
export const BODY_BUDGET_BYTES = 48 * 1024 * 1024;
/** What the bodies of one project may take of it. */
export const BODY_PROJECT_BYTES = BODY_BUDGET_BYTES / 4;
/** How long a request waits for a share of that memory before it gets a 503. */
export const BODY_BUDGET_WAIT_MILLISECONDS = 20_000;

/** How long an isolate relies on what the database returned for a key. */
export const KEY_REMEMBERED_SECONDS = 60;
/** How long a console session is valid as a key, unless it is opened again. In SQL. */
export const CONSOLE_SESSION_SECONDS = 600;
/** How long an isolate relies on a verified access token; less than CONSOLE_SESSION_SECONDS. */
export const ACCESS_TOKEN_REMEMBERED_SECONDS = 60;
/** Longest access token, in characters. */
export const ACCESS_TOKEN_LENGTH_MAX = 8192;
/** Projects an account may have, and active keys a project may have. In SQL. */
export const ACCOUNT_PROJECTS_MAX = 20;
export const PROJECT_KEYS_MAX = 100;
/** Calls about projects and keys under an account's token, and console sessions that it opens. In SQL. */
export const ACCOUNT_REQUESTS_PER_MINUTE = 120;
/** A key that was revoked or expired so long ago is forgotten by the sweep, so many of them at a time. In SQL. */
export const ENDED_KEYS_KEPT_DAYS = 90;
export const ENDED_KEYS_PRUNED_AT_ONCE = 100;
/** Links of a project that can be used; and all that are remembered, where those that ended give way. In SQL. */
export const PROJECT_LINKS_MAX = 1_000;
export const PROJECT_LINKS_KEPT_MAX = 2_000;
/** How long a link may be valid, in seconds; one for writing for less. In SQL. */
export const LINK_SECONDS_MIN = 60;
export const LINK_SECONDS_MAX = 604_800;
export const WRITE_LINK_SECONDS_MAX = 3_600;
/** By default. */
export const LINK_SECONDS_DEFAULT = 3_600;
/** Reads of a link, and refused writes. All links of a project together have the project's own limit. In SQL. */
export const LINK_REQUESTS_PER_MINUTE = 60;
/** A link that ended so long ago is forgotten by the sweep, so many of them at a time. In SQL. */
export const ENDED_LINKS_KEPT_DAYS = 7;
export const ENDED_LINKS_PRUNED_AT_ONCE = 1_000;
/** Rows of a deleted project that a slice of the sweep removes. In SQL. */
export const DELETED_ROWS_AT_ONCE = 5_000;
/** Text that a command of the memory tool reads or writes, in bytes. */
export const MEMORY_TEXT_BYTES_MAX = 1024 * 1024;
/** Files and folders that it shows of a folder, and folders of them that it opens. */
export const MEMORY_VIEW_ITEMS_MAX = 1_000;
export const MEMORY_VIEW_FOLDERS_MAX = 100;
/** Lines of a file that it shows. */
export const MEMORY_LINES_MAX = 999_999;

/** A name of a project or key, in characters. In SQL. */
export const NAME_LENGTH_MAX = 100;
/** Longest grace period of a rotated key beside the new one, in seconds: a week. In SQL. */
export const KEY_GRACE_PERIOD_SECONDS_MAX = 604_800;
/** Writes in one response about the project's activity, by default. */
export const ACTIVITY_DEFAULT = 20;
/** Keys an isolate caches. */
export const KEYS_REMEMBERED_MAX = 10_000;
/** Failed authentications per client address and minute. */
export const ADDRESS_REQUESTS_PER_MINUTE = 100;
/** Client addresses that an isolate counts separately. */
export const ADDRESSES_REMEMBERED_MAX = 10_000;
/** The value of the rate headers where there is no limit. */
export const NO_LIMIT_SHOWN = 2_147_483_647;

/** How long a call to Postgres waits for a lock that another one holds. In SQL. */
export const LOCK_TIMEOUT_MILLISECONDS = 2_000;
/** Requests of one project that are counted at the same time without waiting for each other's transactions. In SQL. */
export const RATE_SHARDS = 64;
/** Commits of one project that add to its usage at the same time without waiting for each other. In SQL. */
export const USAGE_SHARDS = 64;
/**
 * Of an account's quota, a row of a project's usage is granted at most this much at a time: up to 64 times as much of it
 * may be out of use in each of its projects. In SQL.
 */
export const ACCOUNT_SHARE_BYTES = 1024 * 1024;
/**
 * The tariff: what a project's rows in the database count towards its quota, beside its stored bytes. This much for each
 * file, deleted or not. In SQL.
 */
export const TARIFF_FILE_BYTES = 512;
/** So many times the bytes of its path, for each file. In SQL. */
export const TARIFF_PATH_FACTOR = 14;
/** Each directory above a file, which counts the bytes of the file's path as well. In SQL. */
export const TARIFF_DIRECTORY_BYTES = 256;
/** Each version, a deletion included. In SQL. */
export const TARIFF_VERSION_BYTES = 512;
/** So many times the bytes of a version's run id, actor and note, which are in an index, too. In SQL. */
export const TARIFF_SAID_FACTOR = 2;
/** Each segment in a version's list. In SQL. */
export const TARIFF_LISTED_SEGMENT_BYTES = 16;
/** Each segment that is stored. In SQL. */
export const TARIFF_SEGMENT_BYTES = 256;
/** Each segment in the list of a version whose content is from another file, which is noted for both. In SQL. */
export const TARIFF_SHARED_SEGMENT_BYTES = 256;
/** Each byte of text in the search index, which holds the latest version of a file that is not deleted. In SQL. */
export const TARIFF_INDEXED_FACTOR = 6;
/** Longest wait for one call to Postgres or Storage. */
export const BACKEND_CALL_TIMEOUT_MILLISECONDS = 10_000;
/** Calls that begin within this time share one time-out, so that the last of them ends up to this much earlier. */
export const BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS = 250;
/** How long a request waits for the back end, all its calls and tries together. */
export const BACKEND_DEADLINE_MILLISECONDS = 20_000;
/** A file on its way from or to a client may wait this much longer for each MiB that was moved. */
export const TRANSFER_MILLISECONDS_PER_MIB = 1_000;
/** How long background work waits for the back end: one slice of the sweep, and one claim of files to be indexed. */
export const SWEEP_DEADLINE_MILLISECONDS = 60_000;
export const INDEX_DEADLINE_MILLISECONDS = 30_000;
/** A request for the sweep claims no further files to be indexed when less than this is left of its time. */
export const SWEEP_RESERVED_MILLISECONDS = 10_000;
/** An isolate tries out database and storage for /health?deep at most once in this time, whoever asks … */
export const HEALTH_PROBE_INTERVAL_MILLISECONDS = 2_000;
/** … and waits for them no longer than this. */
export const HEALTH_PROBE_DEADLINE_MILLISECONDS = 5_000;
/** What the operator must do is logged once in this time, by each isolate and for each fault. */
export const NOTICE_INTERVAL_SECONDS = 60;
/** Tries of a back-end call that may be repeated. */
export const BACKEND_TRIES_MAX = 3;
/** First pause between tries; it doubles, with jitter. */
export const BACKEND_BACKOFF_MILLISECONDS = 100;
/** Tries of an edit whose file keeps changing. */
export const EDIT_CONFLICT_TRIES_MAX = 5;
/** After an edit met those of another isolate, the file's edits take turns with it for this long … */
export const SHARED_EDIT_TURN_MILLISECONDS = 10_000;
/** … and so many of them before they hand the turn on. */
export const EDIT_TURN_EDITS_MAX = 8;
/** How long an isolate has the turn, or its place, unless it asks again: it may have ended. */
export const EDIT_TURN_SECONDS = 5;
/** How often an isolate asks whether it has the turn. */
export const EDIT_TURN_POLL_MILLISECONDS = 50;
/** Files of which an isolate remembers that others edit them. */
export const SHARED_EDIT_TURNS_MAX = 256;
/** `Retry-After` of a 503, in seconds. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 2;
/** How long a browser may cache a preflight response. */
export const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** A search query, in UTF-16 code units. */
export const SEARCH_QUERY_LENGTH_MAX = 1000;
export const SEARCH_GLOB_LENGTH_MAX = 256;
/** Patterns that a glob's braces may expand to. */
export const SEARCH_GLOB_PATTERNS_MAX = 64;
/** Largest `offset` of a search. To see more, a client narrows the directory. */
export const SEARCH_OFFSET_MAX = 10_000;
/** The text of larger files is not indexed, in bytes: they are found by name. Also the text of one claim. In SQL. */
export const SEARCH_TEXT_BYTES_MAX = 1024 * 1024;
/** A longer text is stored once for all files of a project that have it. In SQL. */
export const SEARCH_SHARED_BYTES_MIN = 512;
/** A path is found by so many of its words, the last ones. In SQL. */
export const SEARCH_PATH_WORDS_MAX = 48;
/** Numbers that stand for trigrams in their index, for all texts together: a power of two. In SQL. */
export const SEARCH_TRIGRAMS_MAX = 65_536;
/**
 * Different words of a text that are indexed: this many, and one more for each SEARCH_BYTES_PER_WORD_MIN bytes. Prose
 * and code have fewer; of texts of random words only the beginning is found by its words. In SQL.
 */
export const SEARCH_WORDS_MAX_BASE = 600;
/** In SQL. */
export const SEARCH_BYTES_PER_WORD_MIN = 32;
/** Matching lines shown of one file, in `text` and `regex`; the score counts all of them. */
export const SEARCH_MATCHES_PER_FILE_MAX = 20;
/** Passages shown of one file in the other modes. */
export const SEARCH_PASSAGES_PER_FILE_MAX = 3;
/** Lines shown before and after a match. */
export const SEARCH_CONTEXT_LINES = 2;
/** Longest `text` of a match, in UTF-16 code units; where the lines around are longer it is the snippet. */
export const SEARCH_MATCH_TEXT_LENGTH_MAX = 1_000;
/** Longest line shown, in UTF-16 code units; of a longer one the part around the match. */
export const SEARCH_SNIPPET_LENGTH_MAX = 300;
/** Files that one call to the database returns where not all of them need match. */
export const SEARCH_BATCH_FILES = 200;
/** Text that one call fetches, in bytes of JSON; or one file, which may take more. */
export const SEARCH_BATCH_BYTES = 1024 * 1024;
/** The same of a search by words or meaning, which has one call. */
export const SEARCH_RANKED_BYTES = 4 * 1024 * 1024;
/** Text that one search reads, in bytes, before it returns what it has or SEARCH_TOO_BROAD. */
export const SEARCH_READ_BYTES_MAX = 24 * 1024 * 1024;
/** The work of looking for matches in one search, in units, before it does the same. */
export const SEARCH_UNITS_MAX = 200_000_000;
/** How often one search asks the database for more files before it does the same. */
export const SEARCH_CALLS_MAX = 160;
/** How many of these calls may read as many texts as one may, for a pattern too short for the index. */
export const SEARCH_WALKS_MAX = 20;
/** States of a pattern's NFA, with its repetitions expanded. */
export const SEARCH_REGEX_NFA_STATES_MAX = 2_000;
/** Largest number in `{m,n}`. */
export const SEARCH_REGEX_REPEAT_MAX = 255;
/** Nesting of groups. */
export const SEARCH_REGEX_DEPTH_MAX = 50;
/** DFA states cached while matching; then the cache is emptied. */
export const SEARCH_REGEX_DFA_STATES_MAX = 1_000;
/** Units of work for each NFA state that is looked at while a DFA state is built. */
export const SEARCH_REGEX_NFA_STATE_UNITS = 16;
/** Clauses of literals that the database looks up for a pattern. */
export const SEARCH_LITERALS_MAX = 4;
/** A pattern that occurs in up to this many files is looked up in the index and sorted. In SQL. */
export const SEARCH_FOUND_AT_ONCE_MAX = 1_000;
/** Texts, and bytes of them, that one call to the database reads for a pattern too short for the index. In SQL. */
export const SEARCH_WALK_FILES_MAX = 2_000;
export const SEARCH_WALK_BYTES_MAX = 4 * 1024 * 1024;
/** Shorter literals, in characters, are not in the index. */
export const SEARCH_INDEXED_LENGTH_MIN = 3;
/** Of the files that contain the words, this many are ranked. In SQL. */
export const SEARCH_WORD_MATCHES_MAX = 10_000;
/** Ways to divide a query's words between paths and the contents that files share, the most frequent ones. In SQL. */
export const SEARCH_PATH_SPLITS_MAX = 32;
/** In a project with up to this many chunks all of them are compared with the query, exactly. In SQL. */
export const SEARCH_EXACT_CHUNKS_MAX = 10_000;
/** Files in the ranking by words, and chunks in the one by meaning. In SQL. */
export const SEARCH_RANKED_MAX = 200;
/** Files waiting to be indexed are counted up to this number. In SQL. */
export const SEARCH_PENDING_MAX = 10_000;
/** Files whose text is not in the index, that a search looks at. In SQL. */
export const SEARCH_UNSEARCHED_MAX = 2_000;
/** Paths that an answer names of the files that were not searched. In SQL. */
export const SEARCH_UNSEARCHED_PATHS_MAX = 20;
/** Searches by substring or pattern read files that are not in the index, up to this size in bytes … */
export const SEARCH_LIVE_FILE_BYTES_MAX = 10 * 1024 * 1024;
/** … and so much in all, the smallest files first … */
export const SEARCH_LIVE_BYTES_MAX = 16 * 1024 * 1024;
/** … in so many segments, each of which is a call of Storage … */
export const SEARCH_LIVE_READS_MAX = 200;
/** … with so much work, in units: a part of SEARCH_UNITS_MAX. */
export const SEARCH_LIVE_UNITS_MAX = 100_000_000;
/** What all searches of an isolate may be reading at the same time, in bytes; of each project one search. */
export const SEARCH_LIVE_BUDGET_BYTES = 2 * SEARCH_LIVE_BYTES_MAX;
/** How long a search waits for its turn at that; then it does without, and says so. */
export const SEARCH_LIVE_WAIT_MILLISECONDS = 3_000;
/** How long a search may wait until its directory is indexed. */
export const SEARCH_WAIT_SECONDS_MAX = 10;
/** While searches of a project wait, the isolate asks the database this often. */
export const SEARCH_WAIT_POLL_MILLISECONDS = 250;
/** Searches of one project that wait in an isolate at the same time; others are answered at once. */
export const SEARCH_WAITERS_MAX = CHANGES_WAITERS_MAX;

/** Dimensions of an embedding; of sizes without an index, SEARCH_EXACT_CHUNKS_MAX chunks are compared. In SQL. */
export const EMBEDDING_DIMENSIONS_MAX = 2_000;
/** Length of an embedded chunk, in UTF-16 code units: gte-small reads 512 tokens. */
export const SEARCH_CHUNK_LENGTH = 1_200;
/** A longer line is cut into chunks that overlap by this much. */
export const SEARCH_CHUNK_OVERLAP = 200;
/** Files that one claim takes, of as many projects as there are. */
export const SEARCH_CLAIM_FILES = 50;
/** Their text, in bytes; and one file more, whatever its size. */
export const SEARCH_CLAIM_BYTES = 128 * 1024;
/** Files of a claim that are read at the same time … */
export const SEARCH_READS_AT_ONCE = 4;
/** … and how long that may take, so that there is time left to store what was read. */
export const SEARCH_READ_DEADLINE_MILLISECONDS = 12_000;
/** Chunks that one claim takes for embedding. */
export const SEARCH_CLAIM_CHUNKS = 16;
/** Files that one claim takes for embedding. */
export const SEARCH_CLAIM_EMBEDDED_FILES = 4;
/** How long a claim is valid; a file whose indexing was interrupted is claimed again after that. */
export const SEARCH_LEASE_SECONDS = 30;
/** A file that could not be indexed is tried this often: after the first time alone. */
export const SEARCH_TRIES_MAX = 3;
/** Then it is found by its name, and the sweep has it tried again after this long. */
export const SEARCH_GIVEN_UP_SECONDS = 3_600;
/** Delay from a commit to its indexing: consecutive commits are indexed together, and responses have priority. */
export const SEARCH_INDEX_DELAY_MILLISECONDS = 300;
/**
 * While commits keep coming, an isolate pauses after each claim: this long per commit since the previous claim, but at
 * most this many times the duration of the claim …
 */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT = 100;
export const SEARCH_INDEX_PAUSE_FACTOR = 9;
/** … and no longer than this. */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_MAX = 2_000;
/** Claims of one background run, unless commits arrive meanwhile; the rest is left to the next run and the sweep. */
export const SEARCH_CLAIMS_PER_RUN = 128;
/** Files that one slice of the sweep queues for a new embedding model. */
export const SEARCH_REQUEUED_FILES = 1_000;
/** Longest wait for an embeddings endpoint: for one call, and for all tries, after which a search does without. */
export const EMBEDDINGS_TIMEOUT_MILLISECONDS = 8_000;
export const EMBEDDINGS_DEADLINE_MILLISECONDS = 10_000;
