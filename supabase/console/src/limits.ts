/** Every bound of the console, with its unit in its name. Those of the service are its own. */
export {
  BATCH_OPERATIONS_MAX,
  CHANGES_LIMIT_MAX as CHANGES_PER_ANSWER,
  CHANGES_LOOKED_AT_MAX as ACTIVITY_EXAMINED,
  CHANGES_WAIT_SECONDS_MAX as FOLLOW_WAIT_SECONDS,
  LINK_SECONDS_DEFAULT,
  LINK_SECONDS_MAX,
  LIST_DIRECTORIES_MAX as FOLDERS_LISTED_MAX,
  PAGE_LIMIT_MAX as FILES_PER_PAGE,
} from "../../functions/api/limits.ts";

/** Files of a folder that are shown at a time, loaded page by page as one scrolls. */
export const FOLDER_FILES_SHOWN_MAX = 2_000;
/** How far outside of the window something begins to be loaded, and the next page of a folder, which takes longer. */
export const NEAR_PIXELS = 400;
export const NEXT_PAGE_PIXELS = 1_000;
/** Pause after the last scrolling before the page in view is noted in the address. */
export const SCROLL_SETTLED_MILLISECONDS = 150;
/** Versions on a page of a file's history. */
export const VERSIONS_PER_PAGE = 50;
/** Writes on a page of the activity. */
export const ACTIVITY_ENTRIES = 50;
/** Writes that stay on the first page of the activity while new ones come. */
export const ACTIVITY_ENTRIES_MAX = 200;
/** Requests until the activity pauses where few writes match; each examines ACTIVITY_EXAMINED at most. */
export const ACTIVITY_REQUESTS_MAX = 5;
/** Runs on a page of them. */
export const RUNS_PER_PAGE = 50;
/** Files of each kind that the dialog of an undo names. */
export const UNDO_FILES_SHOWN_MAX = 20;
/** Results on a page of a search. */
export const SEARCH_RESULTS_PER_PAGE = 20;

/** Largest text that is shown and edited as a whole: every line that a search finds can be shown. */
export const TEXT_PREVIEW_BYTES_MAX = 1024 * 1024;
/** Lines of a larger text that are read at a time; it opens with its last ones. */
export const LINES_PER_STEP = 500;
/** Where a line of a larger text is cut. */
export const LINE_CHARACTERS_MAX = 10_000;
/** Largest CSV, JSONL or JSON that is loaded as a whole, for a table or a tree. */
export const DATA_PREVIEW_BYTES_MAX = 20 * 1024 * 1024;
/** Rows of a table or a tree: as high as a page can be in every browser. */
export const DATA_ROWS_MAX = 500_000;
/** Rows that come from the worker at a time. */
export const TABLE_ROWS_PER_BATCH = 5_000;
/** Columns of a table. */
export const TABLE_COLUMNS_MAX = 100;
/** Rows by which the widths of the columns are chosen, and the widths in characters. */
export const TABLE_ROWS_MEASURED = 200;
export const TABLE_COLUMN_CHARACTERS_MIN = 6;
export const TABLE_COLUMN_CHARACTERS_MAX = 40;
/** Characters of a value that a row shows. */
export const VALUE_CHARACTERS_SHOWN = 300;
/** Rows of a tree that are unfolded when it opens. */
export const TREE_ROWS_UNFOLDED = 200;
/** Levels of a tree that are unfolded at once: each looks through all that is below it. */
export const TREE_LEVELS_UNFOLDED = 100;
/** Paragraphs, lists and the like of a document that are drawn at a time. */
export const DOCUMENT_BLOCKS_PER_STEP = 200;
/** Lines that are marked where an address names several. */
export const MARKED_LINES_MAX = 10_000;
/** Longest code in a document that is highlighted, in characters; what is longer is plain. */
export const CODE_HIGHLIGHT_CHARACTERS_MAX = 50_000;
/** Rows that are drawn above and below those in view. */
export const ROWS_OVERSCANNED = 12;
/** Largest image that is shown. */
export const IMAGE_PREVIEW_BYTES_MAX = 10 * 1024 * 1024;
/** Largest sound or film that is loaded without being asked for. */
export const MEDIA_UNASKED_BYTES_MAX = 10 * 1024 * 1024;
/** Largest sound or film that is played: the file size of the tier pro. It is held in memory. */
export const MEDIA_BYTES_MAX = 100 * 1024 * 1024;
/** Largest PDF that is shown. */
export const PDF_PREVIEW_BYTES_MAX = 20 * 1024 * 1024;
/** Pages of a PDF drawn at a time. */
export const PDF_PAGES_PER_STEP = 5;
/** Width at which a page of a PDF is drawn. */
export const PDF_PAGE_WIDTH_PIXELS = 900;
/** Unchanged lines around a change in a side-by-side comparison. */
export const DIFF_CONTEXT_LINES = 3;
/** Fewer unchanged lines than this are not folded. */
export const DIFF_FOLD_LINES_MIN = 6;

/** Uploads and downloads at the same time; each is one request. */
export const TRANSFERS_AT_ONCE = 2;
/** Files that are accepted at once: a free project, of 100 requests per minute, takes ten minutes for them. */
export const UPLOAD_FILES_MAX = 1_000;
/** Uploads after which the list is reloaded while others still run. */
export const UPLOADS_PER_RELOAD = 16;

/** How long the link of a mail works, by default of Supabase Auth; after that none is expected any more. */
export const AUTH_REQUEST_MILLISECONDS = 3_600_000;

/** Pause before the follower asks again: what is written meanwhile comes in one answer. */
export const FOLLOW_PAUSE_MILLISECONDS = 200;
/** How long the first view of a project waits for the follower to begin. */
export const FOLLOW_READY_MILLISECONDS = 1_000;
/** Pause of the follower after the first failure; it doubles with each that follows. */
export const FOLLOW_FAILURES_PAUSE_MILLISECONDS = 1_000;
export const FOLLOW_FAILURES_PAUSE_MILLISECONDS_MAX = 60_000;
/** Changes that are remembered, for lists that were under way and for who wrote a version. */
export const LIVE_CHANGES_KEPT = 2_000;
/** For how long after a page was read anew a change that the feed tells has the total of a longer list read again. */
export const TOTAL_IN_DOUBT_MILLISECONDS = 5_000;
/** How long a row that has changed is marked. */
export const MARK_MILLISECONDS = 5_000;
/** Rows that are marked at a time. */
export const MARKS_MAX = 500;
/** Pause between loads that a change causes, and where the share below is used up. */
export const PACED_MILLISECONDS = 1_000;
export const PACED_SCARCE_MILLISECONDS = 15_000;
/** Share of the project's requests per minute up to which the console asks unasked; the rest is left to agents. */
export const UNASKED_REQUESTS_SHARE_MAX = 0.5;
/** How much of the end of a file is read when one begins to follow it. */
export const TAIL_BYTES = 64 * 1024;
/** Characters of a followed file that stay in view. */
export const TAIL_CHARACTERS_MAX = 1024 * 1024;
/** Pause between looks for the first call of a key, and how many there are: ten minutes. */
export const FIRST_CALL_PAUSE_MILLISECONDS = 3_000;
export const FIRST_CALL_LOOKS_MAX = 200;
/** How often a reconnection is attempted. */
export const RECONNECT_MILLISECONDS = 2_000;
/** Pages of names that a filter looks through at a time in a large folder; one request each. */
export const FILTER_PAGES_MAX = 100;
/** As many pages even where agents have used half of the project's requests of the minute. */
export const FILTER_PAGES_MIN = 10;
/** Files that a filter shows. */
export const FILTER_FILES_MAX = 200;
/** Pause after the last keystroke before a filter sends a request, and is kept in the address. */
export const FILTER_PAUSE_MILLISECONDS = 300;
/** How long the transfers stay visible after all have finished. */
export const TRANSFERS_SHOWN_MILLISECONDS = 5_000;
/** How long a notice stays; one with a button stays longer. */
export const NOTICE_MILLISECONDS = 6_000;
export const UNDO_MILLISECONDS = 20_000;

/** How often a request is retried after a 429. */
export const RATE_RETRIES_MAX = 3;
/** Wait after a response without a valid `Retry-After`. */
export const RETRY_AFTER_SECONDS_DEFAULT = 5;
/** How often a read is retried after a 503. */
export const UNAVAILABLE_RETRIES_MAX = 2;
/** Lines of a unified diff that are drawn. */
export const DIFF_LINES_MAX = 5_000;
/** Branches of the folder tree that are loaded again after a change of many files; one request each. */
export const FOLDERS_REFRESHED_MAX = 10;
/** Files of an archive that the browser makes; one request each. */
export const ARCHIVE_FILES_MAX = 500;
/** Content of an archive that the browser makes; it is held until it is saved. */
export const ARCHIVE_BYTES_MAX = 500 * 1024 * 1024;
/** Moves of a file that its history follows back. */
export const RENAMES_FOLLOWED_MAX = 20;
/** Paths that a field suggests. */
export const SUGGESTIONS_MAX = 20;
/** Pages of names that the command palette reads of a project; one request each. */
export const PALETTE_NAME_PAGES_MAX = 10;
/** Letters from which on the palette asks the service for what it does not know. */
export const PALETTE_QUERY_LENGTH_MIN = 2;
/** Entries of one kind that the palette shows. */
export const PALETTE_SHOWN_MAX = 10;
