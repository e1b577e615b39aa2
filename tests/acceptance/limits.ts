/** Bounds of the contract, written down apart from the code that has to keep them. */

/** In UTF-8. */
export const PATH_BYTES_MAX = 1024;
/** Of an old or a new string, in UTF-16 code units. */
export const EDIT_STRING_LENGTH_MAX = 100_000;
/** Lines that a refused edit shows as near misses. */
export const EDIT_NEAREST_MAX = 3;
/** Lines that are named where an old string occurs more than once. */
export const EDIT_LINES_REPORTED_MAX = 100;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;
export const SEARCH_QUERY_LENGTH_MAX = 1000;
/** Failed authentications of a client address a minute. */
export const ADDRESS_REQUESTS_PER_MINUTE = 100;
