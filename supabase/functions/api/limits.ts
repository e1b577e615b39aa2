/**
 * Every bound of the service, with its unit in its name; those that a client can run into are in `contract/limits.ts`. The
 * documents, the OpenAPI description and the tests read this file instead of repeating its numbers. Limits that depend on
 * a tier live in the table `filestore.tiers`.
 *
 * "In SQL" marks those that the database has, too, in `supabase/schemas/01_limits.sql` or written out in a table;
 * `tests/database/limits.test.ts` compares the two. A number that SQL alone needs is not here.
 */

import { SEARCH_LIVE_BYTES_MAX } from "./contract/limits.ts";

export * from "./contract/limits.ts";

/** Costly requests of one account, or of a project without one, that an isolate serves at the same time … */
export const COSTLY_REQUESTS_AT_ONCE = 2;
/** … and how long the next one waits for its turn before it gets a 429 … */
export const COSTLY_WAIT_MILLISECONDS = 3_000;
/** … as it does at once where this many of them wait already. */
export const COSTLY_WAITING_MAX = 100;
/** A costly request counts as one request for each WORK_UNITS_PER_REQUEST and the like that it begins, and at most as this many. */
export const REQUESTS_COUNTED_MAX = 10;

/**
 * The body of a request that was refused unread is still drained, for no longer than this: a client whose connection is
 * closed while it sends may miss the response.
 */
export const DRAIN_MILLISECONDS = 1_000;
/** Requests with larger bodies are authorized by the database before the body is read. */
export const UNAUTHORIZED_BODY_BYTES_MAX = 64 * 1024;
/** Strings of a JSON body that are longer than this, in bytes, are parsed one by one, so that others are served between. */
export const JSON_LONG_STRING_BYTES = 16 * 1024;
/** Items of a list in a JSON body that are looked at for unknown fields: as many as the longest list may have. */
export const UNKNOWN_NAMES_ITEMS_MAX = 1_000;
/** Unknown fields or query parameters that a refusal names … */
export const UNKNOWN_NAMES_REPORTED_MAX = 10;
/** … and how much of each, in UTF-16 code units. */
export const UNKNOWN_NAME_LENGTH_SHOWN = 100;
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
/** Of EDIT_UNITS_MAX, finding or replacing one occurrence takes this many besides its bytes. */
export const EDIT_MATCH_UNITS = 8;

/** Rewritten content that several edits of one request keep in memory, in bytes; the excess is stored early. */
export const EDIT_MEMORY_BYTES = 8 * 1024 * 1024;
/** Unchanged lines shown before and after a change. */
export const DIFF_CONTEXT_LINES = 3;
/** The shortest diff is searched for among those of up to this many lines that both sides have but elsewhere … */
export const DIFF_EDITS_MAX = 2_000;
/** … and with so much work, in units; then a longer one is returned. */
export const DIFF_SEARCH_UNITS_MAX = 40_000_000;
/** Operations of one batch. */
export const BATCH_OPERATIONS_MAX = 100;
/** The body of a batch, in bytes: its content together is bounded by CONTENT_LENGTH_MAX. */
export const BATCH_BYTES_MAX = 36 * 1024 * 1024;
/** Operations of a batch whose content is stored at a time. */
export const BATCH_UPLOADS_AT_ONCE = 8;
/** Memory reserved for a raw upload, in bytes: the segments being uploaded. */
export const RAW_UPLOAD_BYTES = 8 * 1024 * 1024;

/** Body of a call of `/mcp`, in bytes. */
export const MCP_BODY_BYTES_MAX = 4 * 1024 * 1024;
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

/** While requests wait for changes of a project, or for its index, the isolate asks the database this often. */
export const CHANGES_POLL_MILLISECONDS = 250;
/** How long it waits for the answer; then it asks again. */
export const CHANGES_POLL_DEADLINE_MILLISECONDS = 5_000;
/** Requests a minute with which an owner follows projects in the console, without spending their windows … */
export const FREE_FOLLOWS_PER_MINUTE = 120;
/** … each of which waits at least this long, also where there is something to tell at once. */
export const FREE_FOLLOW_MILLISECONDS_MIN = 1_000;
/** A segment of an export counts as at least so many bytes for the request's deadline: small ones take time, too. */
export const EXPORT_SEGMENT_BYTES_COUNTED_MIN = 128 * 1024;

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
/** Compactions after responses that an isolate runs at the same time. Each holds a few segments in memory. */
export const COMPACTIONS_AT_ONCE = 8;
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
/** An isolate hands in the requests that it has counted this long after the first of them … */
export const USAGE_FLUSH_MILLISECONDS = 5_000;
/** … counts so many keys and days at a time, and no others until then. */
export const USAGE_COUNTS_MAX = 1_000;
/** How long handing them in may take. */
export const USAGE_DEADLINE_MILLISECONDS = 10_000;
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
/** How long an isolate relies on a verified access token; less than the ten minutes of a console session. */
export const ACCESS_TOKEN_REMEMBERED_SECONDS = 60;
/** Folders that the memory tool opens to show one. */
export const MEMORY_VIEW_FOLDERS_MAX = 100;
/** Lines of a file that the memory tool shows. */
export const MEMORY_LINES_MAX = 999_999;

/** Keys an isolate caches. */
export const KEYS_REMEMBERED_MAX = 10_000;
/** Client addresses that an isolate counts separately. */
export const ADDRESSES_REMEMBERED_MAX = 10_000;

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
/** An isolate probes the database and Storage for /health?deep at most once in this time … */
export const HEALTH_PROBE_INTERVAL_MILLISECONDS = 2_000;
/** … and waits for them no longer than this. */
export const HEALTH_PROBE_DEADLINE_MILLISECONDS = 2_000;
/** What the operator must do is logged once in this time, by each isolate and for each fault. */
export const NOTICE_INTERVAL_SECONDS = 60;
/** Tries of a back-end call that may be repeated. */
export const BACKEND_TRIES_MAX = 3;
/** First pause between tries; it doubles, with jitter. */
export const BACKEND_BACKOFF_MILLISECONDS = 100;
/** An edit that was overtaken is tried again after a random time of up to this, and of up to twice as much each time … */
export const EDIT_CONFLICT_PAUSE_MILLISECONDS = 25;
/** … but no more than this, until the request's deadline. */
export const EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX = 1_000;
/** `Retry-After` of a 503, in seconds. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 2;
/** The value of the rate headers where there is no limit. */
export const NO_LIMIT_SHOWN = 2_147_483_647;
/** How long a browser may cache a preflight response. */
export const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** Patterns that a glob's braces may expand to. */
export const SEARCH_GLOB_PATTERNS_MAX = 64;
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
/** States of a pattern's NFA, with its repetitions expanded. */
export const SEARCH_REGEX_NFA_STATES_MAX = 2_000;
/** DFA states cached while matching; then the cache is emptied. */
export const SEARCH_REGEX_DFA_STATES_MAX = 1_000;
/** Units of work for each NFA state that is looked at while a DFA state is built. */
export const SEARCH_REGEX_NFA_STATE_UNITS = 16;
/** Clauses of literals that the database looks up for a pattern. */
export const SEARCH_LITERALS_MAX = 4;
/** Shorter literals, in characters, are not in the index. */
export const SEARCH_INDEXED_LENGTH_MIN = 3;
/** In a project with up to this many chunks all of them are compared with the query, exactly. In SQL. */
export const SEARCH_EXACT_CHUNKS_MAX = 10_000;
/** Work of reading files that are not in the index, in units: a part of SEARCH_UNITS_MAX. */
export const SEARCH_LIVE_UNITS_MAX = 100_000_000;
/** What all searches of an isolate may be reading at the same time, in bytes; of each project one search. */
export const SEARCH_LIVE_BUDGET_BYTES = 2 * SEARCH_LIVE_BYTES_MAX;
/** How long a search waits for its turn at that; then it does without, and says so. */
export const SEARCH_LIVE_WAIT_MILLISECONDS = 3_000;

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
