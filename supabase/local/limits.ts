/** Every bound of the local stack, with its unit in its name. The service's own limits are in `functions/api/limits.ts`. */

/** Port of Supabase's gateway on a developer's machine. */
export const GATEWAY_PORT_DEFAULT = 54321;

/** Largest object that local Storage takes, as its configuration writes it. */
export const STORAGE_FILE_SIZE_LIMIT = "50MiB";
/** Piece of an object that is read from disk at a time. */
export const STORAGE_READ_BYTES = 64 * 1024;

/** Longest wait for a Postgres given with --db to accept a connection. */
export const DATABASE_CONNECT_TIMEOUT_SECONDS = 5;
/** Pause before a connection that was lost is tried again. */
export const DATABASE_RECONNECT_PAUSE_SECONDS = 0.25;
/** Connections to that Postgres. */
export const DATABASE_CONNECTIONS_MAX = 10;
/** How long open requests to the back end may go on after it was told to stop. */
export const BACKEND_STOP_TIMEOUT_MILLISECONDS = 2_000;

/** Longest wait for a function process to listen; a first start downloads packages. */
export const FUNCTION_START_TIMEOUT_MILLISECONDS = 120_000;
/** Pause before a function process that ended is started again: first and longest. It doubles in between. */
export const FUNCTION_RESTART_FIRST_MILLISECONDS = 100;
export const FUNCTION_RESTART_MAX_MILLISECONDS = 5_000;
/** A process that lived this long is healthy: the pause starts over. */
export const FUNCTION_HEALTHY_AFTER_MILLISECONDS = 10_000;
/** How long a function process may finish its requests when it is told to stop, before it is killed. */
export const FUNCTION_STOP_TIMEOUT_MILLISECONDS = 3_000;
/** Lines of a function process kept to explain why it did not start. */
export const FUNCTION_LAST_LINES_KEPT = 5;

/** How long a request waits for a function process to come back before it is answered 503. */
export const GATEWAY_WAIT_MILLISECONDS = 5_000;
/** `Retry-After` of the gateway's own 503, in seconds. */
export const GATEWAY_RETRY_AFTER_SECONDS = 2;
/** A request on which no byte moves for this long is ended, as on the hosted platform (150 s request idle timeout). */
export const GATEWAY_IDLE_TIMEOUT_MILLISECONDS = 150_000;
/** How long an idle connection stays open: longer than clients keep theirs, so that none is closed under a request. */
export const GATEWAY_KEEP_ALIVE_MILLISECONDS = 120_000;
/** How long open requests may go on after the gateway was told to stop. */
export const GATEWAY_STOP_TIMEOUT_MILLISECONDS = 2_000;

/** Longest wait for one call of the command line to a Supabase project. */
export const ADMINISTRATION_TIMEOUT_MILLISECONDS = 15_000;

/** How often a stack started by npx looks whether npx is still there. */
export const LAUNCHER_CHECK_MILLISECONDS = 500;
/** A signal this long after the first one asks to end at once. */
export const SECOND_SIGNAL_AFTER_MILLISECONDS = 1_000;

/** How often the page that waits for the console's build asks again. */
export const CONSOLE_BUILD_RETRY_SECONDS = 2;
/** Smaller files of the console are sent as they are. */
export const CONSOLE_COMPRESS_BYTES_MIN = 1_024;
/** How much of what a failed build said is shown. */
export const CONSOLE_PROBLEM_LENGTH_MAX = 2_000;
