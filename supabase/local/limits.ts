/** The limits of the local stack, with their units in their names. The service's own are in `functions/api/limits.ts`. */

/** Port of Supabase's gateway on a developer's machine. */
export const GATEWAY_PORT_DEFAULT = 54321;

/** Size at which the function's log is renamed to `requests.log.1`; both files together take at most twice this. */
export const REQUEST_LOG_BYTES_MAX = 10 * 1024 * 1024;
/** Latest mails of the local Auth that are kept for the console. */
export const LOCAL_MAILS_KEPT = 20;

/** Largest object that local Storage accepts, in the notation of its configuration. */
export const STORAGE_FILE_SIZE_LIMIT = "50MiB";
/** Size of one read from disk. */
export const STORAGE_READ_BYTES = 64 * 1024;

/** Longest wait for a Postgres given with --db to accept a connection. */
export const DATABASE_CONNECT_TIMEOUT_SECONDS = 5;
/** Pause before the client of a lost connection reconnects. */
export const DATABASE_RECONNECT_PAUSE_SECONDS = 0.25;
/** Connections to that Postgres at the same time. */
export const DATABASE_CONNECTIONS_MAX = 10;
/** Time that open requests to the back end have to finish when it stops. */
export const BACKEND_STOP_TIMEOUT_MILLISECONDS = 2_000;

/** Longest wait for a function process to listen; the first start downloads packages. */
export const FUNCTION_START_TIMEOUT_MILLISECONDS = 120_000;
/** Pause before a function process that exited is restarted: the first and the longest. It doubles in between. */
export const FUNCTION_RESTART_FIRST_MILLISECONDS = 100;
export const FUNCTION_RESTART_MAX_MILLISECONDS = 5_000;
/** After this uptime a process counts as healthy, and the pause is reset. */
export const FUNCTION_HEALTHY_AFTER_MILLISECONDS = 10_000;
/** Time that a function process has to finish its requests when it stops, before it is killed. */
export const FUNCTION_STOP_TIMEOUT_MILLISECONDS = 3_000;
/** Last output lines of a function process that are kept to explain a failed start. */
export const FUNCTION_LAST_LINES_KEPT = 5;

/** Requests for embeddings that the local model serves at a time; others get 429. */
export const EMBEDDINGS_REQUESTS_MAX = 32;
/** Largest body of such a request in bytes, and its most texts. */
export const EMBEDDINGS_BODY_BYTES_MAX = 1024 * 1024;
export const EMBEDDINGS_INPUTS_MAX = 64;
/** How long such a request waits for the model to listen. Before its first start the model is downloaded. */
export const EMBEDDINGS_WAIT_MILLISECONDS = 4_000;
/** Pause before the model is started again after it failed, such as without a network before its first download. */
export const EMBEDDINGS_RETRY_MILLISECONDS = 30_000;

/** Time that a request waits for a function process to listen before the gateway responds 503. */
export const GATEWAY_WAIT_MILLISECONDS = 5_000;
/** `Retry-After` of the gateway's own 503, in seconds. */
export const GATEWAY_RETRY_AFTER_SECONDS = 2;
/** A request without traffic for this long is ended, as on the hosted platform (150 s request idle timeout). */
export const GATEWAY_IDLE_TIMEOUT_MILLISECONDS = 150_000;
/** How long an idle connection stays open: longer than clients reuse one, so that none is closed during a request. */
export const GATEWAY_KEEP_ALIVE_MILLISECONDS = 120_000;
/** Time that open requests have to finish when the gateway stops. */
export const GATEWAY_STOP_TIMEOUT_MILLISECONDS = 2_000;

/** Timeout of one call of the command line to a Supabase project. */
export const ADMINISTRATION_TIMEOUT_MILLISECONDS = 15_000;

/** How often a stack started by npx checks that npx still runs. */
export const LAUNCHER_CHECK_MILLISECONDS = 500;
/** A signal this long after the first one exits immediately. */
export const SECOND_SIGNAL_AFTER_MILLISECONDS = 1_000;

/** How often the page that waits for the console's build reloads. */
export const CONSOLE_BUILD_RETRY_SECONDS = 2;
/** Smaller files of the console are not compressed. */
export const CONSOLE_COMPRESS_BYTES_MIN = 1_024;
/** Characters of a failed build's output that are shown. */
export const CONSOLE_PROBLEM_LENGTH_MAX = 2_000;

/** Objects that a verification requests from Storage at the same time. */
export const VERIFY_OBJECTS_AT_ONCE = 8;
/** Segments that a verification remembers as sound, since several versions may list them. */
export const VERIFY_SEGMENTS_REMEMBERED_MAX = 200_000;
/** Tries of a request to Storage that fails for a transient reason. */
export const VERIFY_TRIES_MAX = 8;
/** Objects in one page of a list of Storage. */
export const VERIFY_LIST_OBJECTS = 1_000;
/** Segments that a verification searches for in versions at the same time, and segments in one call to the database. */
export const VERIFY_ROWS_AT_ONCE = 500_000;
export const VERIFY_UNNEEDED_ROWS_AT_ONCE = 1_000;
/** Versions without bytes that a verification names; it counts all of them. */
export const VERIFY_VERSIONS_SHOWN_MAX = 1_000;
