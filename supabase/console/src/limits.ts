/** All bounds of the console, with their units in their names. The service has limits of its own. */
export {
  BATCH_OPERATIONS_MAX,
  CHANGES_EXAMINED_MAX as ACTIVITY_EXAMINED,
  CHANGES_LIMIT_MAX as CHANGES_PER_ANSWER,
  CHANGES_WAIT_SECONDS_MAX as FOLLOW_WAIT_SECONDS,
  LINK_SECONDS_DEFAULT,
  LINK_SECONDS_MAX,
  LIST_DIRECTORIES_MAX as FOLDERS_LISTED_MAX,
  PAGE_LIMIT_MAX as FILES_PER_PAGE,
} from "../../functions/api/limits.ts";

/** Files of a folder that are shown at a time; they are loaded page by page on scrolling. */
export const FOLDER_FILES_SHOWN_MAX = 2_000;
/** Distance from the window at which content begins to load; a folder's next page takes longer and begins earlier. */
export const NEAR_PIXELS = 400;
export const NEXT_PAGE_PIXELS = 1_000;
/** Pause after the last scrolling before the address stores the page in view. */
export const SCROLL_SETTLED_MILLISECONDS = 150;
/** Versions on a page of a file's history. */
export const VERSIONS_PER_PAGE = 50;
/** Folders that are listed to find the links of a document that lead nowhere. */
export const LINKED_FOLDERS_MAX = 3;
/** Writes on a page of the activity. */
export const ACTIVITY_ENTRIES = 50;
/** Writes that stay on the first page of the activity while new ones arrive. */
export const ACTIVITY_ENTRIES_MAX = 200;
/** Requests after which the activity pauses if few writes match; each examines at most ACTIVITY_EXAMINED writes. */
export const ACTIVITY_REQUESTS_MAX = 5;
/** Writes of one key without a run are shown as one group if they are of the same window of the clock. */
export const ACTIVITY_GROUP_MILLISECONDS = 600_000;
/** Runs on a page. */
export const RUNS_PER_PAGE = 50;
/** Files of a run whose changes are loaded with its page; one costly request each. */
export const RUN_DIFFS_OPEN = 3;
/** Newest versions of a run that are read for their notes, and the notes that are shown. */
export const RUN_NOTED_VERSIONS = 100;
export const RUN_NOTES_SHOWN = 3;
/** Branches on a page, and changes on the page of a branch. */
export const BRANCHES_PER_PAGE = 50;
export const BRANCH_CHANGES_PER_PAGE = 200;
/** Branches whose changes a page counts unasked; one request each. */
export const BRANCHES_COUNTED_MAX = 20;
/** Files of each kind that the undo dialog names. */
export const UNDO_FILES_SHOWN_MAX = 20;
/** Results on a page of a search. */
export const SEARCH_RESULTS_PER_PAGE = 20;

/** Largest text that is shown and edited as a whole, so that every line a search finds can be shown. */
export const TEXT_PREVIEW_BYTES_MAX = 1024 * 1024;
/** Lines of a larger text that one request reads. The view starts with the last lines. */
export const LINES_PER_STEP = 500;
/** Length at which a line of a larger text is cut. */
export const LINE_CHARACTERS_MAX = 10_000;
/** Largest CSV, JSONL or JSON that is loaded as a whole, for a table or a tree. */
export const DATA_PREVIEW_BYTES_MAX = 20 * 1024 * 1024;
/** Rows of a table or a tree. More would exceed the height that every browser supports. */
export const DATA_ROWS_MAX = 500_000;
/** Rows in one message from the worker. */
export const TABLE_ROWS_PER_BATCH = 5_000;
/** Columns of a table. */
export const TABLE_COLUMNS_MAX = 100;
/** Rows from which the widths of the columns are computed, and the bounds of the widths in characters. */
export const TABLE_ROWS_MEASURED = 200;
export const TABLE_COLUMN_CHARACTERS_MIN = 6;
export const TABLE_COLUMN_CHARACTERS_MAX = 40;
/** Characters of a value that its row shows. */
export const VALUE_CHARACTERS_SHOWN = 300;
/** Rows of a tree that are unfolded when it opens. */
export const TREE_ROWS_UNFOLDED = 200;
/** Levels of a tree that are unfolded at once. Each level scans all content below it. */
export const TREE_LEVELS_UNFOLDED = 100;
/** Blocks of a document, such as paragraphs and lists, that are drawn at a time. */
export const DOCUMENT_BLOCKS_PER_STEP = 200;
/** Lines that are marked if an address names a range. */
export const MARKED_LINES_MAX = 10_000;
/** Longest code block in a document that is highlighted, in characters; a longer one is shown plain. */
export const CODE_HIGHLIGHT_CHARACTERS_MAX = 50_000;
/** Rows that are drawn above and below those in view. */
export const ROWS_OVERSCANNED = 12;
/** Largest image that is shown. */
export const IMAGE_PREVIEW_BYTES_MAX = 10 * 1024 * 1024;
/** Largest audio or video that is loaded automatically. */
export const MEDIA_UNASKED_BYTES_MAX = 10 * 1024 * 1024;
/** Largest audio or video that is played. It is held in memory; the bound is the file size of the tier pro. */
export const MEDIA_BYTES_MAX = 100 * 1024 * 1024;
/** Largest PDF that is shown. */
export const PDF_PREVIEW_BYTES_MAX = 20 * 1024 * 1024;
/** Pages of a PDF drawn at a time. */
export const PDF_PAGES_PER_STEP = 5;
/** Width at which a page of a PDF is drawn. */
export const PDF_PAGE_WIDTH_PIXELS = 900;
/** Unchanged lines around a change in a side-by-side comparison. */
export const DIFF_CONTEXT_LINES = 3;
/** Shorter runs of unchanged lines are not folded. */
export const DIFF_FOLD_LINES_MIN = 6;

/** Uploads and downloads that run at the same time; each is one request. */
export const TRANSFERS_AT_ONCE = 2;
/** Files that one upload accepts. A free project, with 100 requests per minute, takes ten minutes for them. */
export const UPLOAD_FILES_MAX = 1_000;
/** Uploads after which the list is reloaded while others still run. */
export const UPLOADS_PER_RELOAD = 16;

/** Lifetime of a link in an e-mail, by Supabase Auth's default. After it, the console expects no link. */
export const AUTH_REQUEST_MILLISECONDS = 3_600_000;

/** Pause before the follower's next request: one answer then contains all changes of that time. */
export const FOLLOW_PAUSE_MILLISECONDS = 200;
/** How long the first view of a project waits until the follower is ready. */
export const FOLLOW_READY_MILLISECONDS = 1_000;
/** Pause of the follower after the first failure; each further failure doubles it. */
export const FOLLOW_FAILURES_PAUSE_MILLISECONDS = 1_000;
export const FOLLOW_FAILURES_PAUSE_MILLISECONDS_MAX = 60_000;
/** Changes that are kept for lists that are loading, and to tell who wrote a version. */
export const LIVE_CHANGES_KEPT = 2_000;
/** For this long after a page was reloaded, a change in the feed causes the total of a longer list to be read again. */
export const TOTAL_IN_DOUBT_MILLISECONDS = 5_000;
/** How long a changed row stays marked. */
export const MARK_MILLISECONDS = 5_000;
/** Rows that are marked at a time. */
export const MARKS_MAX = 500;
/** Pause between loads that changes cause; the second applies once the share below is used up. */
export const PACED_MILLISECONDS = 1_000;
export const PACED_SCARCE_MILLISECONDS = 15_000;
/** Share of the project's requests per minute that the console may use without user action. Agents keep the rest. */
export const UNASKED_REQUESTS_SHARE_MAX = 0.5;
/** How much of a file's end is read when following begins. */
export const TAIL_BYTES = 64 * 1024;
/** Characters of a followed file that stay in view. */
export const TAIL_CHARACTERS_MAX = 1024 * 1024;
/** Pause between checks for a key's first call, and the number of checks: ten minutes together. */
export const FIRST_CALL_PAUSE_MILLISECONDS = 3_000;
export const FIRST_CALL_LOOKS_MAX = 200;
/** How long the consent page must have been in front before it takes a yes. */
export const CONSENT_ARMED_MILLISECONDS = 1_000;
/** Pause between attempts to reconnect. */
export const RECONNECT_MILLISECONDS = 2_000;
/** Pages of names that a filter reads at a time in a large folder; one request each. */
export const FILTER_PAGES_MAX = 100;
/** The filter reads this many pages even if agents have used half of the minute's requests. */
export const FILTER_PAGES_MIN = 10;
/** Files that a filter shows. */
export const FILTER_FILES_MAX = 200;
/** Pause after the last keystroke before a filter sends a request and is stored in the address. */
export const FILTER_PAUSE_MILLISECONDS = 300;
/** How long finished transfers stay visible. */
export const TRANSFERS_SHOWN_MILLISECONDS = 5_000;
/** How long a notice stays; one with a button stays longer. */
export const NOTICE_MILLISECONDS = 6_000;
export const UNDO_MILLISECONDS = 20_000;

/** Number of retries of a request after a 429. */
export const RATE_RETRIES_MAX = 3;
/** Wait after a response without a valid `Retry-After`. */
export const RETRY_AFTER_SECONDS_DEFAULT = 5;
/** Number of retries of a read after a 503. */
export const UNAVAILABLE_RETRIES_MAX = 2;
/** Lines of a unified diff that are drawn. */
export const DIFF_LINES_MAX = 5_000;
/** Branches of the folder tree that are reloaded after a change of many files; one request each. */
export const FOLDERS_REFRESHED_MAX = 10;
/** Files in an archive that the browser creates; one request each. */
export const ARCHIVE_FILES_MAX = 500;
/** Bytes in an archive that the browser creates; they are held in memory until it is saved. */
export const ARCHIVE_BYTES_MAX = 500 * 1024 * 1024;
/** Moves of a file that its history follows into the past. */
export const RENAMES_FOLLOWED_MAX = 20;
/** Paths that a field suggests. */
export const SUGGESTIONS_MAX = 20;
/** Pages of a project's names that the command palette reads; one request each. */
export const PALETTE_NAME_PAGES_MAX = 10;
/** Number of letters from which the palette asks the service for unknown names. */
export const PALETTE_QUERY_LENGTH_MIN = 2;
/** Entries of one kind that the palette shows. */
export const PALETTE_SHOWN_MAX = 10;
