/**
 * Every bound of the service, with its unit in its name; those that a client can reach are in `contract/limits.ts`.
 * The documents, the OpenAPI description and the tests read this file instead of repeating its numbers. Limits that
 * depend on a tier live in the table `filestore.tiers`.
 *
 * "In SQL" marks those that the database defines, too, in `supabase/schemas/01_limits.sql` or written out in a table;
 * `tests/database/limits.test.ts` compares the two. Numbers that only SQL needs are not here.
 */

import { SEARCH_LIVE_BYTES_MAX } from "./contract/limits.ts";

export * from "./contract/limits.ts";

/** Costly requests of one account, or of a project without one, that an isolate serves at the same time … */
export const COSTLY_REQUESTS_AT_ONCE = 2;
/** … and how long the next one waits for a slot before it gets a 429 … */
export const COSTLY_WAIT_MILLISECONDS = 3_000;
/** … which it gets at once if this many of them wait already. */
export const COSTLY_WAITING_MAX = 100;
/** The largest number of requests as which a costly request counts, by WORK_UNITS_PER_REQUEST or a similar amount. */
export const REQUESTS_COUNTED_MAX = 10;

/** The body of a refused request is drained for up to this time: a client that still sends may miss the response. */
export const DRAIN_MILLISECONDS = 1_000;
/** Requests with larger bodies are authorized by the database before the body is read. */
export const UNAUTHORIZED_BODY_BYTES_MAX = 64 * 1024;
/** Strings of a JSON body with more bytes than this are parsed one by one; other requests are served in between. */
export const JSON_LONG_STRING_BYTES = 16 * 1024;
/** Items of a list in a JSON body that are checked for unknown fields: the length of the longest list. */
export const UNKNOWN_NAMES_ITEMS_MAX = 1_000;
/** Unknown fields or query parameters that a refusal names … */
export const UNKNOWN_NAMES_REPORTED_MAX = 10;
/** … and the shown length of each, in UTF-16 code units. */
export const UNKNOWN_NAME_LENGTH_SHOWN = 100;
/** The part of a file that is searched for similar lines, in bytes. */
export const EDIT_NEAREST_SCAN_BYTES_MAX = 2 * 1024 * 1024;
/** The part of `oldString`'s first line that is compared with each line, in bytes without white space. */
export const EDIT_NEAREST_COMPARED_BYTES = 256;
/** A line is reported if its similarity to that line is at least this; 1: equal except for case and white space. */
export const EDIT_NEAREST_SIMILARITY_MIN = 0.25;
/** Longest text of one similar line, in UTF-16 code units. */
export const EDIT_NEAREST_TEXT_LENGTH_MAX = 500;

/** Units of work (bytes or characters examined or written) after which other requests are served first. */
export const WORK_SLICE_UNITS = 500_000;
/** After each slice of a costly request, the thread is free for other requests for this long. */
export const COSTLY_REST_MILLISECONDS = 25;
/** Units, of EDIT_UNITS_MAX, for finding or replacing one occurrence, in addition to its bytes. */
export const EDIT_MATCH_UNITS = 8;

/** Rewritten content that several edits of one request keep in memory, in bytes; the excess is stored early. */
export const EDIT_MEMORY_BYTES = 8 * 1024 * 1024;
/** Unchanged lines shown before and after a change. */
export const DIFF_CONTEXT_LINES = 3;
/** The shortest diff is searched for among those in which up to this many lines of both sides have moved … */
export const DIFF_EDITS_MAX = 2_000;
/** … and with up to this much work, in units; beyond it, a longer diff is returned. */
export const DIFF_SEARCH_UNITS_MAX = 40_000_000;
/** Changes that the tool finish_branch shows. */
export const MCP_BRANCH_CHANGES_MAX = 100;
/** The work of merging all texts of one merge, in units; texts for which none is left are conflicts. */
export const MERGE_UNITS_MAX = 250_000_000;
/** Operations of one batch. */
export const BATCH_OPERATIONS_MAX = 100;
/** The body of a batch, in bytes. All of its content together is bounded by CONTENT_LENGTH_MAX. */
export const BATCH_BYTES_MAX = 36 * 1024 * 1024;
/** Operations of a batch whose content is stored at a time. */
export const BATCH_UPLOADS_AT_ONCE = 8;
/** Memory reserved for a raw upload, in bytes: the segments being uploaded. */
export const RAW_UPLOAD_BYTES = 8 * 1024 * 1024;

/** The body of a request of an app, in bytes. */
export const OAUTH_BODY_BYTES_MAX = 16 * 1024;
/** Redirect URIs of one client … */
export const OAUTH_REDIRECT_URIS_MAX = 20;
/** … each, in characters … */
export const OAUTH_REDIRECT_URI_LENGTH_MAX = 512;
/** … and all of them together: a registered client's id contains them, and stands in addresses. */
export const OAUTH_REDIRECT_URIS_LENGTH_MAX = 1_500;
/** The name of a client, in characters; a longer one is cut. */
export const OAUTH_CLIENT_NAME_LENGTH_MAX = 100;
/** A record that the service has signed, in characters; longer texts are not looked at. */
export const OAUTH_RECORD_LENGTH_MAX = 8_192;
/** The address of a client's metadata document, in characters. */
export const OAUTH_CLIENT_URL_LENGTH_MAX = 512;
/** Such a document in bytes … */
export const OAUTH_DOCUMENT_BYTES_MAX = 64 * 1024;
/** … and what comes with it: the head of the answer, the sizes of chunks. */
export const OAUTH_DOCUMENT_HEAD_BYTES_MAX = 16 * 1024;
/** How long its fetch may take, from the name's resolution to the last byte. */
export const OAUTH_DOCUMENT_MILLISECONDS = 5_000;
/** How long a document is remembered at most, … */
export const OAUTH_DOCUMENT_SECONDS_MAX = 86_400;
/** … where its answer does not say … */
export const OAUTH_DOCUMENT_DEFAULT_SECONDS = 300;
/** … and where there is none. */
export const OAUTH_DOCUMENT_FAILED_SECONDS = 60;
/** Documents that an isolate remembers, each as its client's name and redirect URIs. */
export const OAUTH_DOCUMENTS_REMEMBERED_MAX = 1_000;

/** Body of a call of `/mcp`, in bytes. */
export const MCP_BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Text of a tool's result, in UTF-16 code units … */
export const MCP_TEXT_LENGTH_MAX = 40_000;
/** … and of one line in it; a longer one is cut. */
export const MCP_LINE_LENGTH_MAX = 2_000;
/** Lines that `read_file` returns by default … */
export const MCP_READ_LINES_DEFAULT = 500;
/** … and at most. */
export const MCP_READ_LINES_MAX = 2_000;
/** Bytes that `read_file` reads at most; it stops there in a file with long lines. */
export const MCP_READ_BYTES_MAX = 4 * 1024 * 1024;
/** Text that `read_file` returns without a limit, in UTF-16 code units. */
export const MCP_READ_LENGTH_DEFAULT = 20_000;
/** How long `search_files` waits for files that are not indexed yet. */
export const MCP_SEARCH_WAIT_SECONDS = 1;
/** Images of more bytes are described, not shown. */
export const MCP_IMAGE_BYTES_MAX = 1024 * 1024;
/** Files that `list_files` returns by default; PAGE_LIMIT_MAX at most. */
export const MCP_LIST_DEFAULT = 100;
/** Pages of PAGE_LIMIT_MAX files that one `list_files` matches with its glob. */
export const MCP_LIST_CALLS_MAX = 20;
/** Matching lines that `grep_files` returns by default, and at most. */
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
/** Tries of an `append_file` while other requests create and delete the file. */
export const MCP_APPEND_TRIES_MAX = 3;

/** While requests wait for changes of a project, or for its index, the isolate asks the database this often. */
export const CHANGES_POLL_MILLISECONDS = 250;
/** How long the isolate waits for an answer before it asks again. */
export const CHANGES_POLL_DEADLINE_MILLISECONDS = 5_000;
/** Requests a minute with which an owner may follow projects in the console without using up their windows … */
export const FREE_FOLLOWS_PER_MINUTE = 120;
/** … each of which waits at least this long, even if changes exist already. */
export const FREE_FOLLOW_MILLISECONDS_MIN = 1_000;
/** A segment of an export counts as at least this many bytes for the request's deadline. */
export const EXPORT_SEGMENT_BYTES_COUNTED_MIN = 128 * 1024;

/** Content is cut into segments of at most this many bytes. In SQL: the bucket allows no more. */
export const SEGMENT_BYTES_MAX = 1024 * 1024;
/** A commit returns the segment list for compaction whenever its length passes a multiple of this. In SQL. */
export const COMPACTION_CHECK_EVERY_SEGMENTS = 8;
/** A file has at most this many segments, plus SEGMENT_LIST_MAX_PER_MIB for each MiB begun. In SQL. */
export const SEGMENT_LIST_MAX_BASE = 128;
export const SEGMENT_LIST_MAX_PER_MIB = 2;
/** One compaction takes at most this many segments and bytes. */
export const COMPACTION_RUN_SEGMENTS_MAX = 64;
export const COMPACTION_RUN_BYTES_MAX = 4 * 1024 * 1024;
/** The fixed cost of a compaction (calls, objects), expressed in bytes. */
export const COMPACTION_FIXED_COST_BYTES = 256 * 1024;
/** Bytes that a compaction may write per segment it saves, in a file without excess segments. */
export const COMPACTION_PRICE_BYTES = 32 * 1024;
/** The number of segments over SEGMENT_LIST_MAX_PER_MIB with which that price doubles each time … */
export const COMPACTION_PRICE_DOUBLES_EVERY_SEGMENTS = 20;
/** … and the number of excess segments at which any price is accepted. */
export const COMPACTION_ANY_PRICE_EXCESS = 96;
/** Compactions after responses that an isolate runs at the same time. Each holds a few segments in memory. */
export const COMPACTIONS_AT_ONCE = 8;
/** Commits to one file that an isolate has in flight; further ones wait for a slot. */
export const FILE_COMMITS_AT_ONCE = 4;
/** An isolate sweeps a slice after every this many commits. */
export const SWEEP_EVERY_COMMITS = 500;
/** Objects that one slice of the sweep examines, and that one call lists. */
export const SWEEP_PAGE_OBJECTS = 1000;
/** Steps of a slice for deleted projects, and for uploads; fewer once they have processed a page of objects or rows. */
export const SWEEP_STEPS_MAX = 20;
/** Versions that a purge removes with its commit; the rest follows in slices. In SQL. */
export const ERASED_VERSIONS_MAX = 10_000;
/** An isolate sends the requests that it has counted to the database this long after the first of them … */
export const USAGE_FLUSH_MILLISECONDS = 5_000;
/** … and until then counts at most this many combinations of key and day, and no others. */
export const USAGE_COUNTS_MAX = 1_000;
/** How long sending them may take. */
export const USAGE_DEADLINE_MILLISECONDS = 10_000;
/** Segments fetched ahead of the one being sent … */
export const READ_AHEAD_SEGMENTS = 3;
/** … and the bytes of memory that such segments may use in all reads of an isolate together. */
export const READ_AHEAD_BUDGET_BYTES = 16 * 1024 * 1024;
/** Inputs of up to this many bytes are hashed on the isolate's own thread, … */
export const HASHED_AT_ONCE_BYTES_MAX = 16 * 1024;
/** … once it has hashed this many: loading `node:crypto` takes longer than a request. */
export const HASHES_BEFORE_LOADING = 16;
/** Segments of one write uploaded at the same time. */
export const UPLOADS_AT_ONCE = 4;
/** Segments of one write that stay in the cache. The memory of the others is freed as soon as they are stored. */
export const UPLOADED_SEGMENTS_KEPT = 4;
/** Content of up to this many bytes is read before its response begins, which is then sent in one piece. */
export const READ_AT_ONCE_BYTES = 64 * 1024;
/** Content, in bytes, that is encoded as JSON at a time: each answer holds two such parts. */
export const ENCODED_AT_ONCE_BYTES = 128 * 1024;
/** Verified segments cached per isolate, in bytes. */
export const SEGMENT_CACHE_BYTES_MAX = 24 * 1024 * 1024;
/** A read of more than this, in bytes, bypasses the cache: it would evict everything else. */
export const READ_KEPT_BYTES_MAX = SEGMENT_CACHE_BYTES_MAX / 2;
/** Memory for the received parts of request bodies over UNAUTHORIZED_BODY_BYTES_MAX, per isolate, in bytes. */
export const BODY_BUDGET_BYTES = 48 * 1024 * 1024;
/** The part of it that the bodies of one project may use. */
export const BODY_PROJECT_BYTES = BODY_BUDGET_BYTES / 4;
/** How long a request waits for a part of that memory before it gets a 503. */
export const BODY_BUDGET_WAIT_MILLISECONDS = 20_000;

/** How long an isolate relies on the database's answer about a key. */
export const KEY_REMEMBERED_SECONDS = 60;
/** How long an isolate relies on a verified access token; less than the ten minutes of a console session. */
export const ACCESS_TOKEN_REMEMBERED_SECONDS = 60;
/** Folders that the memory tool lists to show one folder. */
export const MEMORY_VIEW_FOLDERS_MAX = 100;
/** Lines that the memory tool shows of one file. */
export const MEMORY_LINES_MAX = 999_999;

/** Keys an isolate caches. */
export const KEYS_REMEMBERED_MAX = 10_000;
/** Client addresses that an isolate counts separately. */
export const ADDRESSES_REMEMBERED_MAX = 10_000;

/** Longest wait for one call to Postgres or Storage. */
export const BACKEND_CALL_TIMEOUT_MILLISECONDS = 10_000;
/** Calls that begin within this time share one time-out, so the time-out of the last one is up to this much shorter. */
export const BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS = 250;
/** How long a request waits for the back end, in all of its calls and tries together. */
export const BACKEND_DEADLINE_MILLISECONDS = 20_000;
/** A file on its way from or to a client may wait this much longer for each MiB that was moved. */
export const TRANSFER_MILLISECONDS_PER_MIB = 1_000;
/** How long background work waits for the back end: one slice of the sweep, or one lease of files to be indexed. */
export const SWEEP_DEADLINE_MILLISECONDS = 60_000;
export const INDEX_DEADLINE_MILLISECONDS = 30_000;
/** A request for the sweep leases no further files to be indexed when less than this is left of its time. */
export const SWEEP_RESERVED_MILLISECONDS = 10_000;
/** An isolate probes the database and Storage for /health?deep at most once in this interval … */
export const HEALTH_PROBE_INTERVAL_MILLISECONDS = 2_000;
/** … and waits up to this long for them. */
export const HEALTH_PROBE_DEADLINE_MILLISECONDS = 2_000;
/** For each fault, an isolate logs what the operator must do at most once in this interval. */
export const NOTICE_INTERVAL_SECONDS = 60;
/** Tries of a repeatable back-end call. */
export const BACKEND_TRIES_MAX = 3;
/** First pause between tries; it doubles, with jitter. */
export const BACKEND_BACKOFF_MILLISECONDS = 100;
/** After a conflict, an edit is tried again after a random pause of up to this, which doubles with each try … */
export const EDIT_CONFLICT_PAUSE_MILLISECONDS = 25;
/** … up to this maximum … */
export const EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX = 1_000;
/** … unless less than this would be left of the request's deadline: the deadline must not end in the middle of a try. */
export const EDIT_CONFLICT_TRY_MILLISECONDS = 5_000;
/** `Retry-After` of a 503, in seconds. */
export const UNAVAILABLE_RETRY_AFTER_SECONDS = 2;
/** The value of the rate headers where there is no limit. */
export const NO_LIMIT_SHOWN = 2_147_483_647;
/** How long a browser may cache a preflight response. */
export const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** How long a request waits for the addresses of a host that it names. */
export const OUTBOUND_RESOLVE_MILLISECONDS = 5_000;
/** How long the operator's mail service may take for one mail. */
export const MAIL_MILLISECONDS = 10_000;
/** Deliveries of webhooks that an isolate has under way; a project has at most PROJECT_WEBHOOKS_MAX of them. */
export const WEBHOOKS_AT_ONCE = 100;
/** Delay from a commit to its delivery: commits that follow each other are delivered together. */
export const WEBHOOK_DELAY_MILLISECONDS = 300;
/** An isolate waits for the next try if it is due within this time; later ones are left to the sweep. */
export const WEBHOOK_WAIT_MILLISECONDS_MAX = 60_000;
/** How long a request for the sweep waits for deliveries, which then go on by themselves. */
export const WEBHOOK_SWEEP_MILLISECONDS = 15_000;
/** How long one step of a delivery may wait for the database; together with the try it is shorter than a lease. */
export const WEBHOOK_STEP_DEADLINE_MILLISECONDS = 15_000;

/** The number of patterns to which a glob's braces may expand. */
export const SEARCH_GLOB_PATTERNS_MAX = 64;
/** Passages shown of one file in the modes by words and meaning. */
export const SEARCH_PASSAGES_PER_FILE_MAX = 3;
/** Lines shown before and after a match. */
export const SEARCH_CONTEXT_LINES = 2;
/** Longest `text` of a match, in UTF-16 code units; if the lines around it are longer, it is also the snippet. */
export const SEARCH_MATCH_TEXT_LENGTH_MAX = 1_000;
/** Longest line shown, in UTF-16 code units; of a longer line, the part around the match is shown. */
export const SEARCH_SNIPPET_LENGTH_MAX = 300;
/** Files that one call to the database returns where some of them may not match. */
export const SEARCH_BATCH_FILES = 200;
/** Text that one call fetches, in bytes of JSON; or one file, which may be larger. */
export const SEARCH_BATCH_BYTES = 1024 * 1024;
/** The same for a search by words or meaning, which makes one call. */
export const SEARCH_RANKED_BYTES = 4 * 1024 * 1024;
/** States of a pattern's NFA, with its repetitions expanded. */
export const SEARCH_REGEX_NFA_STATES_MAX = 2_000;
/** DFA states cached while matching; then the cache is emptied. */
export const SEARCH_REGEX_DFA_STATES_MAX = 1_000;
/** Units of work for each NFA state that is examined while a DFA state is built. */
export const SEARCH_REGEX_NFA_STATE_UNITS = 16;
/** Clauses of literals that the database looks up for a pattern. */
export const SEARCH_LITERALS_MAX = 4;
/** Shorter literals, in characters, are not in the index. */
export const SEARCH_INDEXED_LENGTH_MIN = 3;
/** In a project with up to this many chunks, each of them is compared with the query. In SQL. */
export const SEARCH_EXACT_CHUNKS_MAX = 10_000;
/** Work of reading files that are not in the index, in units: a part of SEARCH_UNITS_MAX. */
export const SEARCH_LIVE_UNITS_MAX = 100_000_000;
/** Bytes that all searches of an isolate may read live at the same time, one search of each project at a time. */
export const SEARCH_LIVE_BUDGET_BYTES = 2 * SEARCH_LIVE_BYTES_MAX;
/** How long a search waits for a slot for live reads; then it reports the files as not searched. */
export const SEARCH_LIVE_WAIT_MILLISECONDS = 3_000;

/** Length of an embedded chunk, in UTF-16 code units: gte-small reads 512 tokens. */
export const SEARCH_CHUNK_LENGTH = 1_200;
/** A longer line is cut into chunks that overlap by this much. */
export const SEARCH_CHUNK_OVERLAP = 200;
/** Files in one lease, from any number of projects. */
export const SEARCH_LEASE_FILES = 50;
/** The text of these files, in bytes; one further file may have any size. */
export const SEARCH_LEASE_BYTES = 128 * 1024;
/** Files of a lease that are read at the same time … */
export const SEARCH_READS_AT_ONCE = 4;
/** … and how long reading may take, so that time is left to store the texts. */
export const SEARCH_READ_DEADLINE_MILLISECONDS = 12_000;
/** Chunks in one lease for embedding. */
export const SEARCH_LEASE_CHUNKS = 16;
/** Files in one lease for embedding. */
export const SEARCH_LEASE_EMBEDDED_FILES = 4;
/** How long a lease is valid; after it, a file whose indexing was interrupted is leased again. */
export const SEARCH_LEASE_SECONDS = 30;
/** The number of tries to index a file; after the first one, it is leased alone. */
export const SEARCH_TRIES_MAX = 3;
/** After the last try, the file is found by its name only, until the sweep queues it again after this time. */
export const SEARCH_GIVEN_UP_SECONDS = 3_600;
/** Delay from a commit to its indexing: consecutive commits are indexed together, and responses have priority. */
export const SEARCH_INDEX_DELAY_MILLISECONDS = 300;
/** While commits keep coming, an isolate pauses after each lease: this long per commit since the previous lease, … */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT = 100;
/** … but at most this many times the duration of the lease … */
export const SEARCH_INDEX_PAUSE_FACTOR = 9;
/** … and at most this long. */
export const SEARCH_INDEX_PAUSE_MILLISECONDS_MAX = 2_000;
/** Leases of one background run, unless commits arrive meanwhile; other files are left to the next run or sweep. */
export const SEARCH_LEASES_PER_RUN = 128;
/** Files that one slice of the sweep queues for a new embedding model. */
export const SEARCH_REQUEUED_FILES = 1_000;
/** Longest wait for an embeddings endpoint: for one call, and for all tries; then a search continues without. */
export const EMBEDDINGS_TIMEOUT_MILLISECONDS = 8_000;
export const EMBEDDINGS_DEADLINE_MILLISECONDS = 10_000;
