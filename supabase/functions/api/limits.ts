/**
 * Every bound of the service, with its unit in its name. The documents, the OpenAPI description and the tests
 * read this file instead of repeating its numbers. Limits that depend on a tier live in the table `filestore.tiers`.
 *
 * "In SQL" marks those that the database enforces: they are also in `supabase/schemas/01_limits.sql`, or written out in a
 * table, and `tests/database/limits.test.ts` compares the two.
 */

/** Longest `content` of one JSON request, in UTF-16 code units (what JSON clients count). */
export const CONTENT_LENGTH_MAX = 10_485_760;
/** Longest request body in bytes: 10,485,760 characters, each written as `\uXXXX`, and room for the rest. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The body of a request that was refused unread is still drained, for no longer than this: a client whose connection is
 * closed while it sends may miss the response.
 */
export const DRAIN_MILLISECONDS = 1_000;
/** A client that sends none of its body for this long counts as gone, and the memory held for it is released. */
export const BODY_IDLE_MILLISECONDS = 20_000;
/** Requests with larger bodies are authorized by the database before the body is read. */
export const UNAUTHORIZED_BODY_BYTES_MAX = 64 * 1024;
/** The fields of a JSON body other than `content`, in bytes: two fully escaped edit strings, and as much again. */
export const JSON_FIELDS_BYTES_MAX = 4 * 1024 * 1024;
/** Nesting of arrays and objects in a JSON body. */
export const JSON_DEPTH_MAX = 256;
/** A path in bytes of UTF-8. In SQL. */
export const PATH_BYTES_MAX = 1024;
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

/** Edits of one request. */
export const EDITS_MAX = 100;
/** All edits of one request together, in bytes of JSON: room for EDITS_MAX pairs of the longest plain strings. */
export const EDITS_BYTES_MAX = 24 * 1024 * 1024;
/** Rewritten content that several edits of one request keep in memory, in bytes; the excess is stored early. */
export const EDIT_MEMORY_BYTES = 8 * 1024 * 1024;
/** Each side of a diff, in bytes. */
export const DIFF_BYTES_MAX = 1024 * 1024;
/** After this time the search for a shortest diff ends, and a longer one is returned. */
export const DIFF_TIMEOUT_MILLISECONDS = 300;
/** An Idempotency-Key, in characters. In SQL. */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
/** How long the response to a write with an Idempotency-Key is stored. In SQL. */
export const IDEMPOTENCY_KEY_SECONDS = 86_400;
/** Memory reserved for a raw upload, in bytes: the segments being uploaded. */
export const RAW_UPLOAD_BYTES = 8 * 1024 * 1024;

/** Body of a request about projects and keys, in bytes. */
export const ADMINISTRATION_BYTES_MAX = 64 * 1024;

/** Records of one page of a list or of the activity. In SQL. */
export const PAGE_LIMIT_MAX = 100;
export const PAGE_LIMIT_DEFAULT = 10;
/** Sub-folder names in one list response. In SQL. */
export const LIST_DIRECTORIES_MAX = 1000;
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
/** Compactions that one commit performs, or waits for, to make room in a full segment list that others fill again. */
export const FULL_SEGMENT_LIST_COMPACTIONS_MAX = 8;
/** An isolate sweeps a slice after every this many commits. */
export const SWEEP_EVERY_COMMITS = 500;
/** Objects that one slice of the sweep examines, and that one call lists. */
export const SWEEP_PAGE_OBJECTS = 1000;
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
/** Content of up to this many bytes is read before its response begins, which is then sent in one piece. */
export const READ_AT_ONCE_BYTES = 64 * 1024;
/** Verified segments cached per isolate, in bytes. */
export const SEGMENT_CACHE_BYTES_MAX = 24 * 1024 * 1024;
/** A read of more than this, in bytes, bypasses the cache: it would evict everything else. */
export const READ_KEPT_BYTES_MAX = SEGMENT_CACHE_BYTES_MAX / 2;
/** Memory for request bodies over UNAUTHORIZED_BODY_BYTES_MAX and for content being edited, per isolate, in bytes. */
export const BODY_BUDGET_BYTES = 96 * 1024 * 1024;
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
/** A name of a project or key, in characters. In SQL. */
export const NAME_LENGTH_MAX = 100;
/** Longest grace period of a rotated key beside the new one, in seconds: a week. */
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
/** Longest wait for one call to Postgres or Storage. */
export const BACKEND_CALL_TIMEOUT_MILLISECONDS = 10_000;
/** Calls that begin within this time share one time-out, so that the last of them has up to this much less. */
export const BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS = 250;
/** No further try of a back-end call begins after this time. */
export const BACKEND_DEADLINE_MILLISECONDS = 20_000;
/** Tries of a back-end call that may be repeated. */
export const BACKEND_TRIES_MAX = 3;
/** First pause between tries; it doubles, with jitter. */
export const BACKEND_BACKOFF_MILLISECONDS = 100;
/** Tries of an edit whose file keeps changing. */
export const EDIT_CONFLICT_TRIES_MAX = 5;
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
/** The text of larger files is not indexed, in bytes: they are found by name. Also the text of one claim. */
export const SEARCH_TEXT_BYTES_MAX = 1024 * 1024;
/** Matching lines shown of one file, in `text` and `regex`; the score counts all of them. */
export const SEARCH_MATCHES_PER_FILE_MAX = 20;
/** Passages shown of one file in the other modes. */
export const SEARCH_PASSAGES_PER_FILE_MAX = 3;
/** Lines shown before and after a match. */
export const SEARCH_CONTEXT_LINES = 2;
/** Longest line shown, in UTF-16 code units; of a longer one the part around the match. */
export const SEARCH_SNIPPET_LENGTH_MAX = 300;
/** Files that one call to the database returns where not all of them need match. */
export const SEARCH_BATCH_FILES = 200;
/** Text that one call fetches, in bytes, plus at most one file. */
export const SEARCH_BATCH_BYTES = 4 * 1024 * 1024;
/** Text that one search reads, in bytes, before it returns what it has or SEARCH_TOO_BROAD. */
export const SEARCH_READ_BYTES_MAX = 24 * 1024 * 1024;
/** How long one search looks for matches before it does the same. */
export const SEARCH_MILLISECONDS_MAX = 3_000;
/** States of a pattern's NFA, with its repetitions expanded. */
export const SEARCH_REGEX_NFA_STATES_MAX = 2_000;
/** Largest number in `{m,n}`. */
export const SEARCH_REGEX_REPEAT_MAX = 255;
/** Nesting of groups. */
export const SEARCH_REGEX_DEPTH_MAX = 50;
/** DFA states cached while matching; then the cache is emptied. */
export const SEARCH_REGEX_DFA_STATES_MAX = 1_000;
/** DFA states built between two checks of the clock. */
export const SEARCH_REGEX_STEPS_PER_CLOCK_CHECK = 256;
/** Clauses of literals that the database looks up for a pattern. */
export const SEARCH_LITERALS_MAX = 4;
/** A pattern that occurs in up to this many files is looked up in the index and sorted. In SQL. */
export const SEARCH_FOUND_AT_ONCE_MAX = 1_000;
/** Of the files that contain the words, this many are ranked. In SQL. */
export const SEARCH_WORD_MATCHES_MAX = 10_000;
/** In a project with up to this many chunks all of them are compared with the query, exactly. In SQL. */
export const SEARCH_EXACT_CHUNKS_MAX = 10_000;
/** Files in the ranking by words, and chunks in the one by meaning. In SQL. */
export const SEARCH_RANKED_MAX = 200;
/** Files waiting to be indexed are counted up to this number. In SQL. */
export const SEARCH_PENDING_MAX = 10_000;

/** Dimensions of an embedding. In SQL. */
export const EMBEDDING_DIMENSIONS = 384;
/** Length of an embedded chunk, in UTF-16 code units: gte-small reads 512 tokens. */
export const SEARCH_CHUNK_LENGTH = 1_200;
/** A longer line is cut into chunks that overlap by this much. */
export const SEARCH_CHUNK_OVERLAP = 200;
/** Files that one claim takes. */
export const SEARCH_CLAIM_FILES = 50;
/** Chunks of one file that one claim takes for embedding. */
export const SEARCH_CLAIM_CHUNKS = 16;
/** Files that one claim takes for embedding. */
export const SEARCH_CLAIM_EMBEDDED_FILES = 4;
/** How long a claim is valid; a file whose indexing was interrupted is claimed again after that. */
export const SEARCH_LEASE_SECONDS = 30;
/** A file is re-indexed at most once in this time, plus a time per byte: every 9.4 s at 1 MiB. In SQL. */
export const REINDEX_DEBOUNCE_MILLISECONDS = 1_000;
export const REINDEX_DEBOUNCE_MICROSECONDS_PER_BYTE = 8;
/** Delay from a commit to its indexing: consecutive commits are indexed together, and responses have priority. */
export const SEARCH_INDEX_DELAY_MILLISECONDS = 300;
/**
 * While commits keep coming, an isolate pauses after each claim: this long per commit since the previous claim, but at
 * most this many times the duration of the claim …
 */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT = 100;
export const SEARCH_INDEX_PAUSE_FACTOR = 9;
/** … and no longer than this. */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_MAX = 10_000;
/** Claims of one background run, unless commits arrive meanwhile; the rest is left to the next run and the sweep. */
export const SEARCH_CLAIMS_PER_RUN = 16;
/** Files that one slice of the sweep queues for a new embedding model. */
export const SEARCH_REQUEUED_FILES = 1_000;
/** Longest wait for an embeddings endpoint. */
export const EMBEDDINGS_TIMEOUT_MILLISECONDS = 8_000;
