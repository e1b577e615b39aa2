/** The limits of the client, with their units in their names. The service's own are in `functions/api/limits.ts`. */

/** Tries of a request that fails for a transient reason; the pause doubles up to the longest. */
export const TRIES_MAX = 8;
export const PAUSE_FIRST_MILLISECONDS = 250;
export const PAUSE_MAX_MILLISECONDS = 15_000;
/** Tries of a client that never reached the address, which is probably wrong, and the pause between them. */
export const TRIES_UNREACHED_MAX = 3;
export const PAUSE_UNREACHED_MILLISECONDS = 500;
/** Longest `Retry-After` that is respected; the usual one is that of a rate window, a minute. */
export const RETRY_AFTER_SECONDS_MAX = 120;
/** A request is aborted and tried again after this long without traffic. */
export const IDLE_TIMEOUT_MILLISECONDS = 60_000;
/** Entries of one page of a list. */
export const PAGE = 100;
/** Longest wait of one request that follows the change feed; the service allows no longer one. */
export const FOLLOW_WAIT_SECONDS = 25;

/** Files and versions that an export fetches, or an import sends, at the same time. */
export const TRANSFERS_AT_ONCE = 4;
/** A version of at most this many bytes is held in memory on its way into a git repository. */
export const GIT_MEMORY_BYTES = 1024 * 1024;
/** Operations of one batch; the service allows no more. */
export const BATCH_OPERATIONS_MAX = 100;
/** A sync sends files of at most this size in batches, and a batch once it has so many bytes. */
export const SYNC_SMALL_BYTES = 1024 * 1024;
export const SYNC_BATCH_BYTES = 4 * 1024 * 1024;
/** A sync merges texts of at most this size by lines. */
export const SYNC_MERGE_BYTES = 1024 * 1024;
/** How often a sync tries again because others have changed the same files. */
export const SYNC_ROUNDS_MAX = 10;
/** A file that was changed so shortly before it was examined can change again without a new time. */
export const RACY_MILLISECONDS = 100;
/** How long a sync waits for further changes on the disk before it begins. */
export const SYNC_PAUSE_MILLISECONDS = 100;
/** How often progress is shown on a terminal. */
export const TRANSFER_PROGRESS_MILLISECONDS = 250;
/** Name of one file on disk, in bytes of UTF-8: most file systems hold 255, and a suffix must have room. */
export const DISK_NAME_BYTES_MAX = 200;
/** Whole name below an export's folder, in bytes: common systems allow at least 1,024, the folder included. */
export const DISK_PATH_BYTES_MAX = 700;
/** Problems of an import, and existing files, that a message names. */
export const TRANSFER_PROBLEMS_SHOWN_MAX = 20;
/** Longest line of a manifest, in bytes. */
export const MANIFEST_LINE_BYTES_MAX = 64 * 1024;
