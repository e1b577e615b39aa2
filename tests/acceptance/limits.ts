/** Limits of the contract, stated separately from the code that enforces them. */

/** Bytes of UTF-8. */
export const PATH_BYTES_MAX = 1024;
/** UTF-16 code units of an old or new string. */
export const EDIT_STRING_LENGTH_MAX = 100_000;
/** Similar lines that a refused edit shows. */
export const EDIT_NEAREST_MAX = 3;
/** Lines that are listed if an old string occurs more than once. */
export const EDIT_LINES_REPORTED_MAX = 100;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
export const SEARCH_QUERY_LENGTH_MAX = 1000;
/** Failed authentications of a client address in a minute. */
export const ADDRESS_REQUESTS_PER_MINUTE = 100;
