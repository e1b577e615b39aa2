/**
 * Every bound of the service, with its unit in its name. The documents, the OpenAPI description and the tests
 * read this file; nobody repeats a number. Limits that depend on a tier live in the table `filestore.tiers`.
 */

/** Longest `content` of one JSON request, in UTF-16 code units (what JSON clients count). */
export const CONTENT_LENGTH_MAX = 10_485_760;
/** Longest request body in bytes: 10,485,760 characters, each written as `\uXXXX`, and room for the rest. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The body of a request that was refused unread is read all the same, for no longer than this: a client that is cut off
 * while it sends may miss the answer.
 */
export const DRAIN_MILLISECONDS = 1_000;
/** A client that sends nothing of its body for this long counts as gone: what is held for it is of use to others. */
export const BODY_IDLE_MILLISECONDS = 20_000;
/** Bodies over this size are authorised by the database before they are read. */
export const UNAUTHORIZED_BODY_BYTES_MAX = 64 * 1024;
/** What a JSON body may have besides `content`, in bytes: two edit strings fully escaped, and as much again. */
export const JSON_FIELDS_BYTES_MAX = 4 * 1024 * 1024;
/** Arrays and objects within each other in a JSON body. */
export const JSON_DEPTH_MAX = 256;
/** A path in bytes of UTF-8. */
export const PATH_BYTES_MAX = 1024;
/** `oldString` and `newString` of an edit, in UTF-16 code units. */
export const EDIT_STRING_LENGTH_MAX = 100_000;
/** Line numbers reported for an edit whose old string is not unique. */
export const EDIT_LINES_REPORTED_MAX = 100;
/** Near misses reported for an edit whose old string is absent. */
export const EDIT_NEAREST_MAX = 3;
/** How much of a file is searched for near misses, in bytes. */
export const EDIT_NEAREST_SCAN_BYTES_MAX = 2 * 1024 * 1024;
/** How much of `oldString`'s first line lines are compared with, in bytes without white space. */
export const EDIT_NEAREST_COMPARED_BYTES = 256;
/** A line is a near miss when it is at least this similar to that line; 1 is the same but for case and white space. */
export const EDIT_NEAREST_SIMILARITY_MIN = 0.25;
/** Longest text of one near miss, in UTF-16 code units. */
export const EDIT_NEAREST_TEXT_LENGTH_MAX = 500;

/** Edits of one request. */
export const EDITS_MAX = 100;
/** All edits of one request together, in bytes of JSON: room for EDITS_MAX pairs of the longest plain strings. */
export const EDITS_BYTES_MAX = 24 * 1024 * 1024;
/** Rewritten content that several edits of one request keep in memory, in bytes; what is over it is stored early. */
export const EDIT_MEMORY_BYTES = 8 * 1024 * 1024;
/** Each side of a diff, in bytes. */
export const DIFF_BYTES_MAX = 1024 * 1024;
/** After this a diff is no longer sought for the shortest one. */
export const DIFF_TIMEOUT_MILLISECONDS = 300;
/** An Idempotency-Key, in characters. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
/** Memory that a raw upload takes, in bytes: the pieces on their way. */
export const RAW_UPLOAD_BYTES = 8 * 1024 * 1024;

/** Body of a request about projects and keys, in bytes. */
export const ADMINISTRATION_BYTES_MAX = 64 * 1024;

/** Records of one list page. */
export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 10;
/** Sub-folder names in one list answer. */
export const LIST_DIRECTORIES_MAX = 1000;
/** Largest integer accepted for offsets and versions (a Postgres `integer`). */
export const INTEGER_MAX = 2_147_483_647;

/** Content is cut into segments of at most this many bytes. */
export const SEGMENT_BYTES_MAX = 1024 * 1024;
/** A rope is looked at for merging whenever its segment count passes a multiple of this (in SQL, too). */
export const COMPACTION_CHECK_EVERY_SEGMENTS = 8;
/** A rope may have this many segments, and SEGMENT_LIST_MAX_PER_MIB more for each MiB or part of one. */
export const SEGMENT_LIST_MAX_BASE = 128;
export const SEGMENT_LIST_MAX_PER_MIB = 2;
/** One merge takes at most this many segments and bytes. */
export const COMPACTION_RUN_SEGMENTS_MAX = 64;
export const COMPACTION_RUN_BYTES_MAX = 4 * 1024 * 1024;
/** What a merge costs besides its bytes (calls, objects), in bytes. */
export const COMPACTION_FIXED_COST_BYTES = 256 * 1024;
/** Bytes a merge may write for each segment it saves, in a rope with no segments too many. */
export const COMPACTION_PRICE_BYTES = 32 * 1024;
/** That price doubles with every so many segments over SEGMENT_LIST_MAX_PER_MIB … */
export const COMPACTION_PRICE_DOUBLES_EVERY_SEGMENTS = 20;
/** … and with so many over, any price is right. */
export const COMPACTION_ANY_PRICE_EXCESS = 96;
/** An append of up to so many bytes takes along the merge of the rope's end that the one before it made due … */
export const COMPACTING_APPEND_BYTES_MAX = 64 * 1024;
/** … in ropes of up to so many segments. */
export const PENDING_COMPACTION_SEGMENTS_MAX = 64;
/** Files of which an isolate remembers a due merge. */
export const PENDING_COMPACTIONS_MAX = 256;
/** Bytes that merges write for each byte appended, at most, when an append counts as 4 KiB more than it has. */
export const COMPACTION_WRITE_AMPLIFICATION_MAX = 4;
/** Merges that one commit makes, or waits for, to get room in a full rope that others fill again. */
export const FULL_SEGMENT_LIST_COMPACTIONS_MAX = 8;
/** Commits of an isolate after which it sweeps a slice. */
export const SWEEP_EVERY_COMMITS = 500;
/** Objects that a slice of the sweep looks at, and that one call lists. */
export const SWEEP_PAGE_OBJECTS = 1000;
/** Segments fetched ahead of the one being sent … */
export const READ_AHEAD_SEGMENTS = 3;
/** … and what they may take in memory, all reads of an isolate together, in bytes. */
export const READ_AHEAD_BUDGET_BYTES = 16 * 1024 * 1024;
/** Inputs of up to so many bytes are hashed on the isolate's own thread … */
export const HASHED_AT_ONCE_BYTES_MAX = 16 * 1024;
/** … once it has hashed so many: loading what does that takes longer than a request. */
export const HASHES_BEFORE_LOADING = 16;
/** Segments of one write uploaded at the same time. */
export const UPLOADS_AT_ONCE = 4;
/** Content of up to so many bytes is read before its answer begins, which then goes out in one piece. */
export const READ_AT_ONCE_BYTES = 64 * 1024;
/** Verified segments kept per isolate, in bytes. */
export const SEGMENT_CACHE_BYTES_MAX = 24 * 1024 * 1024;
/** A read of more than this, in bytes, leaves the kept segments as they are: it would push all of them out. */
export const READ_KEPT_BYTES_MAX = SEGMENT_CACHE_BYTES_MAX / 2;
/** Memory for request bodies over UNAUTHORIZED_BODY_BYTES_MAX and for content being edited, per isolate, in bytes. */
export const BODY_BUDGET_BYTES = 96 * 1024 * 1024;
/** How long a request waits for a share of that memory before it is answered 503. */
export const BODY_BUDGET_WAIT_MILLISECONDS = 20_000;

/** How long an isolate relies on the database's answer for a key. */
export const KEY_REMEMBERED_SECONDS = 60;
/** How long what the console works with stands for a key, unless it is opened again (in SQL). */
export const CONSOLE_SESSION_SECONDS = 600;
/** How long an isolate relies on the database's answer for an access token; less than CONSOLE_SESSION_SECONDS. */
export const ACCESS_TOKEN_REMEMBERED_SECONDS = 60;
/** Longest access token, in characters. */
export const ACCESS_TOKEN_LENGTH_MAX = 8192;
/** Projects an account may have, and working keys a project (in SQL, too). */
export const ACCOUNT_PROJECTS_MAX = 20;
export const PROJECT_KEYS_MAX = 100;
/** A name of a project or key, in characters. */
export const NAME_LENGTH_MAX = 100;
/** How long a rotated key may go on working beside the new one, in seconds: a week. */
export const KEY_OVERLAP_SECONDS_MAX = 604_800;
/** Writes in one answer of the project's activity. */
export const ACTIVITY_DEFAULT = 20;
/** Keys an isolate remembers. */
export const KEYS_REMEMBERED_MAX = 10_000;
/** Failed authentications per client address and minute. */
export const ADDRESS_REQUESTS_PER_MINUTE = 100;
/** Client addresses an isolate remembers. */
export const ADDRESSES_REMEMBERED_MAX = 10_000;
/** What the rate headers show where there is no limit. */
export const NO_LIMIT_SHOWN = 2_147_483_647;

/** Longest wait for one call to Postgres or Storage. */
export const BACKEND_CALL_TIMEOUT_MILLISECONDS = 10_000;
/** Calls that begin within this time share one time-out, so that the last of them has this much less. */
export const BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS = 250;
/** No further try of a back-end call begins after this time. */
export const BACKEND_DEADLINE_MILLISECONDS = 20_000;
/** Tries of a back-end call that may be repeated. */
export const BACKEND_TRIES_MAX = 3;
/** First pause between tries; doubles, with jitter. */
export const BACKEND_BACKOFF_MILLISECONDS = 100;
/** An edit that keeps meeting newer versions is tried again this often. */
export const EDIT_CONFLICT_TRIES_MAX = 5;
/** `Retry-After` of a 503, in seconds. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 2;
/** How long a browser may remember a preflight answer. */
export const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** A search query, in UTF-16 code units. */
export const SEARCH_QUERY_LENGTH_MAX = 1000;
export const SEARCH_GLOB_LENGTH_MAX = 256;
/** What a glob's braces may spell out to, in patterns. */
export const SEARCH_GLOB_PATTERNS_MAX = 64;
/** Results that a page of a search may come after. Whoever needs more names a directory. */
export const SEARCH_OFFSET_MAX = 10_000;
/** Text of larger files is not indexed, in bytes: they are found by name. Also the text that one claim takes. */
export const SEARCH_TEXT_BYTES_MAX = 1024 * 1024;
/** Matching lines shown of one file, in `text` and `regex`; the score counts all of them. */
export const SEARCH_MATCHES_PER_FILE_MAX = 20;
/** Passages shown of one file in the other modes. */
export const SEARCH_PASSAGES_PER_FILE_MAX = 3;
/** Lines shown before and after a match. */
export const SEARCH_CONTEXT_LINES = 2;
/** Longest line shown, in UTF-16 code units; of a longer one the part around the match. */
export const SEARCH_SNIPPET_LENGTH_MAX = 300;
/** Files that one call asks the database for, where not every one of them need match. */
export const SEARCH_BATCH_FILES = 200;
/** Text that one call fetches, in bytes, and one file more. */
export const SEARCH_BATCH_BYTES = 4 * 1024 * 1024;
/** Text that one search reads, in bytes, before it answers what it has or SEARCH_TOO_BROAD. */
export const SEARCH_READ_BYTES_MAX = 24 * 1024 * 1024;
/** How long one search looks for matches, before the same. */
export const SEARCH_MILLISECONDS_MAX = 3_000;
/** States of a pattern's automaton: what its repetitions spell out to. */
export const SEARCH_REGEX_NFA_STATES_MAX = 2_000;
/** Largest number in `{m,n}`. */
export const SEARCH_REGEX_REPEAT_MAX = 255;
/** Groups within each other. */
export const SEARCH_REGEX_DEPTH_MAX = 50;
/** Sets of states remembered while matching; then it begins anew. */
export const SEARCH_REGEX_DFA_STATES_MAX = 1_000;
/** Steps without a remembered answer between two looks at the clock. */
export const SEARCH_REGEX_STEPS_PER_CLOCK_CHECK = 256;
/** Literals that the database looks up for a pattern. */
export const SEARCH_LITERALS_MAX = 4;

/** Dimensions of an embedding (in SQL, too). */
export const EMBEDDING_DIMENSIONS = 384;
/** Chunks that are embedded, in UTF-16 code units: gte-small reads 512 tokens. */
export const SEARCH_CHUNK_LENGTH = 1_200;
/** A line that is longer is cut into chunks that share this much. */
export const SEARCH_CHUNK_OVERLAP = 200;
/** Files that one claim takes. */
export const SEARCH_CLAIM_FILES = 50;
/** Chunks of one file that one claim takes for embedding. */
export const SEARCH_CLAIM_CHUNKS = 16;
/** Files that one claim takes for embedding. */
export const SEARCH_CLAIM_EMBEDDED_FILES = 4;
/** How long a claim holds; a file whose indexing broke off is taken again after that. */
export const SEARCH_LEASE_SECONDS = 30;
/** How long a text rests before it is indexed again: so long, and longer for each byte; 9.4 s for 1 MiB (in SQL). */
export const REINDEX_DEBOUNCE_MILLISECONDS = 1_000;
export const REINDEX_DEBOUNCE_MICROSECONDS_PER_BYTE = 8;
/** How long after a commit its text is indexed: commits in a row are indexed together, and answers go first. */
export const SEARCH_INDEX_DELAY_MILLISECONDS = 300;
/**
 * While commits keep coming, an isolate pauses after each claim: for each commit since the claim before so long, but no
 * more than so many times as long as the claim took …
 */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT = 100;
export const SEARCH_INDEX_PAUSE_FACTOR = 9;
/** … and no longer than this. */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_MAX = 10_000;
/** Claims of one run in the background, unless something comes meanwhile; the rest is left to the next run and to the sweep. */
export const SEARCH_CLAIMS_PER_RUN = 16;
/** Files that one slice of the sweep queues for another embedding model. */
export const SEARCH_REQUEUED_FILES = 1_000;
/** Longest wait for an embeddings endpoint. */
export const EMBEDDINGS_TIMEOUT_MILLISECONDS = 8_000;
