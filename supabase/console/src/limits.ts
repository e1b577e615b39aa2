/** Every bound of the console, with its unit in its name. */

/** Files on a page of a list; the API gives no more at a time. */
export const FILES_PER_PAGE = 100;
/** Versions on a page of a file's history. */
export const VERSIONS_PER_PAGE = 50;
/** Entries of the activity list; the API gives no more. */
export const ACTIVITY_ENTRIES = 50;
/** Results on a page of a search. */
export const SEARCH_RESULTS_PER_PAGE = 20;

/** A text up to this size is shown and edited as a whole. */
export const TEXT_PREVIEW_BYTES_MAX = 1_000_000;
/** What is shown of a larger text. */
export const TEXT_PART_BYTES = 64 * 1024;
/** A picture up to this size is shown. */
export const IMAGE_PREVIEW_BYTES_MAX = 10 * 1024 * 1024;
/** A PDF up to this size is shown. */
export const PDF_PREVIEW_BYTES_MAX = 20 * 1024 * 1024;
/** Pages of a PDF drawn at a time. */
export const PDF_PAGES_PER_STEP = 5;
/** Width that a page of a PDF is drawn at. */
export const PDF_PAGE_WIDTH_PIXELS = 900;
/** Unchanged lines around a change in a side-by-side comparison. */
export const DIFF_CONTEXT_LINES = 3;
/** Fewer unchanged lines than this are not folded. */
export const DIFF_FOLD_LINES_MIN = 6;

/** Uploads and downloads that run at the same time; each costs a request. */
export const TRANSFERS_AT_ONCE = 2;
/** Files taken in one drop: a free project has 100 requests a minute. */
export const UPLOAD_FILES_MAX = 200;

/** How often the activity is asked for while it is looked at. */
export const ACTIVITY_POLL_MILLISECONDS = 30_000;
/** How often a lost connection is tried again. */
export const RECONNECT_MILLISECONDS = 2_000;
/** Pause after the last key before a filter asks the server. */
export const FILTER_PAUSE_MILLISECONDS = 300;
/** How long the transfers stay in view once all have arrived. */
export const TRANSFERS_SHOWN_MILLISECONDS = 5_000;
/** How long a notice stays; one with a button stays longer. */
export const NOTICE_MILLISECONDS = 6_000;
export const UNDO_MILLISECONDS = 20_000;

/** How often a request that was refused for its rate is sent again after the wait. */
export const RATE_RETRIES_MAX = 3;
/** Wait where an answer asks for one without saying how long. */
export const RETRY_AFTER_SECONDS_DEFAULT = 5;
/** How often a read is sent again when the service is not available. */
export const UNAVAILABLE_RETRIES_MAX = 2;
/** Lines of a unified diff that are drawn. */
export const DIFF_LINES_MAX = 5_000;
