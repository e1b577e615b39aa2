/** The one table of error codes; the port's refusals, the OpenAPI description, the documents and the tests read it. */

interface ErrorEntry {
  /** Of the HTTP response. */
  readonly status: number;
  /** For the documents and the OpenAPI description. */
  readonly meaning: string;
  /** What the client reads where the database decides this: then it is one of the codes that a `Refusal` may have. */
  readonly message?: string;
}

/** Code → HTTP status, meaning, message of a refusal. */
export const ERRORS = {
  INVALID_JSON: {
    status: 400,
    meaning: "The body is not JSON, or not UTF-8.",
  },
  INVALID_PATH: {
    status: 400,
    meaning: "The path breaks the rule named in `details.rule`.",
    message: "A path would break the rule named in the details.",
  },
  VALIDATION_ERROR: {
    status: 400,
    meaning: "A field or parameter is missing, not known to the route, of the wrong type or out of range.",
    message: "The request is not valid.",
  },
  INVALID_API_KEY: {
    status: 401,
    meaning: "The API key is missing, malformed, unknown, revoked or expired.",
    message: "The API key is missing or not valid.",
  },
  INVALID_SESSION: {
    status: 401,
    meaning:
      "The access token is missing, malformed or expired, its session has ended or lacks the account's second factor, it was issued to a third-party app, or its account owns nothing: deleted, banned or anonymous.",
    message: "The access token is missing or not valid. Sign in again.",
  },
  FORBIDDEN_SCOPE: {
    status: 403,
    meaning:
      "The key lacks `details.scope`, may not write outside `details.pathPrefix`, or its project is suspended " +
      "(`details.suspended`).",
    message: "The API key does not permit this.",
  },
  FORBIDDEN_ORIGIN: {
    status: 403,
    meaning: "A browser sent this to `/mcp` from a page that may not: see `MCP_ALLOWED_ORIGINS`.",
  },
  FILE_NOT_FOUND: {
    status: 404,
    meaning: "The project has no such file.",
    message: "There is no file at this path.",
  },
  VERSION_NOT_FOUND: {
    status: 404,
    meaning: "The file has no such version; see `details.latestVersion`.",
    message: "The file has no such version.",
  },
  RUN_NOT_FOUND: {
    status: 404,
    meaning: "The project has no such run, or the key sees none of its files.",
    message: "There is no such run.",
  },
  PROJECT_NOT_FOUND: {
    status: 404,
    meaning: "The account has no such project.",
    message: "There is no such project in this account.",
  },
  KEY_NOT_FOUND: {
    status: 404,
    meaning: "The project has no such key.",
    message: "There is no such key in this project.",
  },
  LINK_NOT_FOUND: {
    status: 404,
    meaning: "There is no such link, or it ended long ago.",
    message: "There is no such link.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    meaning: "There is no such route.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The route, or the link, does not take this method; see the `Allow` header.",
    message: "The link does not take this method.",
  },
  FILE_ALREADY_EXISTS: {
    status: 409,
    meaning: "There is a file at the path. 412 where `If-None-Match: *` was the condition.",
    message: "A file already exists at this path.",
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    meaning: "A request with this Idempotency-Key is still running; try again.",
    message: "A request with this Idempotency-Key is still running. Try again shortly.",
  },
  PROJECT_NAME_TAKEN: {
    status: 409,
    meaning: "The account has a project of this name.",
    message: "A project with this name already exists.",
  },
  KEY_REVOKED: {
    status: 409,
    meaning: "The key is revoked or expired, so it can be neither rotated nor changed.",
    message: "The key is revoked or expired. Create a new one.",
  },
  VERSION_CONFLICT: {
    status: 409,
    meaning: "The file, or the folder, kept changing meanwhile; nothing was written.",
    message: "It kept changing while it was edited. Nothing was written; read it again.",
  },
  RUN_CONFLICT: {
    status: 409,
    meaning: "Others have changed files of the run since: see `details.conflicts`; nothing was done.",
    message: "Others have changed files of the run since. Nothing was done; see the conflicts.",
  },
  LINK_EXPIRED: {
    status: 410,
    meaning: "The link expired or was revoked, or the key that made it is not valid any more.",
    message: "The link has expired. Ask for a new one.",
  },
  LINK_USED: {
    status: 410,
    meaning: "The link has written the one version that it was for.",
    message: "The link has been used: it wrote its one version. Ask for a new one.",
  },
  VERSION_REDACTED: {
    status: 410,
    meaning: "The content of the version was erased for good.",
    message: "The content of this version was erased for good.",
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: "The file is not at the version that the request requires; see `details.version`.",
    message: "The file is not at the version that the precondition names. Nothing was done.",
  },
  CONTENT_TOO_LARGE: {
    status: 413,
    meaning: "The content, the body or the resulting file is over its limit.",
    message: "The file would be larger than the project's tier allows.",
  },
  QUOTA_EXCEEDED: {
    status: 413,
    meaning: "The project's storage quota does not leave room for this.",
    message: "The project's storage quota does not leave room for this.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: "The body's media type or encoding is not one the route reads.",
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    meaning: "The range or the lines begin beyond the end.",
  },
  DIFF_TOO_LARGE: {
    status: 422,
    meaning: "One of the versions is too large to be compared.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: "The Idempotency-Key was used for another request.",
    message: "This Idempotency-Key was used for another request.",
  },
  KEY_LIMIT_REACHED: {
    status: 422,
    meaning: "The project has as many working keys as it may have.",
    message: "The project has as many working keys as it may have. Revoke some.",
  },
  LINK_LIMIT_REACHED: {
    status: 422,
    meaning: "The project has as many links as it may have.",
    message: "The project has as many links as it may have. Revoke some, or wait until some expire.",
  },
  NOT_TEXT: {
    status: 422,
    meaning: "The file is not text, so it cannot be edited or read as text.",
  },
  PROJECT_LIMIT_REACHED: {
    status: 422,
    meaning: "The account has as many projects as it may have.",
    message: "The account has as many projects as it may have.",
  },
  SEARCH_TOO_BROAD: {
    status: 422,
    meaning:
      "The pattern would have to be tried on too much text: name a literal, a directory or a glob. Or the edits would " +
      "search and rewrite too much (`details.rule` is `edit_units`): send fewer at once.",
  },
  EXPORT_TOO_LARGE: {
    status: 422,
    meaning: "More than one export may hold; see `details`.",
    message: "This is more than one export may hold. Export smaller folders, or use the command line.",
  },
  STRING_NOT_FOUND: {
    status: 422,
    meaning: "`oldString` does not occur in the file; see `details.nearest`.",
  },
  STRING_NOT_UNIQUE: {
    status: 422,
    meaning: "`oldString` occurs more than once; see `details.lines`.",
  },
  TOO_MANY_FILES: {
    status: 422,
    meaning: "More files than one commit may change; see `details.files`.",
    message: "This concerns more files than one commit may change. Nothing was done.",
  },
  VERSION_CURRENT: {
    status: 422,
    meaning: "The version is the current one, so its content cannot be erased.",
    message: "This is the current version. Write another one first, or purge the file.",
  },
  VERSION_DELETED: {
    status: 422,
    meaning: "The version is a tombstone; there is nothing to restore.",
    message: "This version is a tombstone; there is nothing to restore.",
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning:
      "Too many requests in this minute, or too many costly ones of the account at the same time; nothing was done.",
    message: "Too many requests in this minute. Nothing was done; try again when the window resets.",
  },
  CONTENT_CORRUPT: {
    status: 500,
    meaning: "Stored bytes fail their checksum; wrong content is never returned.",
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: "A defect; the request id finds it in the logs.",
  },
  SEMANTIC_SEARCH_UNAVAILABLE: {
    status: 501,
    meaning: "No embedding model is set up here; the other modes work.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: "Database or storage did not answer; try again later.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The codes with which the database refuses. */
export type RefusalCode = {
  [Code in ErrorCode]: (typeof ERRORS)[Code] extends { readonly message: string } ? Code : never;
}[ErrorCode];

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}

function isRefusalCode(code: ErrorCode): code is RefusalCode {
  return "message" in ERRORS[code];
}

export const REFUSAL_CODES: readonly RefusalCode[] = Object.keys(ERRORS).filter(isErrorCode).filter(
  isRefusalCode,
);
