/** The one table of error codes; the port's refusals, the OpenAPI description, the documents and the tests read it. */

interface ErrorEntry {
  /** Of the HTTP response. */
  readonly status: number;
  /** For the documents and the OpenAPI description. */
  readonly meaning: string;
  /** What the client reads where nothing more specific is known. */
  readonly message?: string;
  /** Whether the database decides this: then it is one of the codes a `Refusal` may have. */
  readonly fromDatabase?: true;
}

/** Code → HTTP status, meaning, standard message. */
export const ERRORS = {
  INVALID_JSON: {
    status: 400,
    meaning: "The body is not JSON, or not UTF-8.",
  },
  INVALID_PATH: {
    status: 400,
    meaning: "The path breaks the rule that `details.rule` names.",
    message: "A path breaks the rule that the details name.",
    fromDatabase: true,
  },
  VALIDATION_ERROR: {
    status: 400,
    meaning: "A field or parameter is missing, not known to the route, of the wrong type or out of range.",
    message: "The request is not valid.",
    fromDatabase: true,
  },
  INVALID_API_KEY: {
    status: 401,
    meaning: "The API key is missing, malformed, unknown, revoked or expired.",
    message: "The API key is missing or not valid.",
    fromDatabase: true,
  },
  INVALID_SESSION: {
    status: 401,
    meaning:
      "The access token is missing, malformed or expired, its session has ended or lacks the account's second factor, it was issued to a third-party app, or its account is deleted, banned or anonymous.",
    message: "The access token is missing or not valid. Sign in again.",
    fromDatabase: true,
  },
  FORBIDDEN_SCOPE: {
    status: 403,
    meaning:
      "The key lacks `details.scope`, may not write outside `details.pathPrefix`, or its project is suspended " +
      "(`details.suspended`).",
    message: "The API key does not permit this.",
    fromDatabase: true,
  },
  FORBIDDEN_ORIGIN: {
    status: 403,
    meaning: "A web page called `/mcp`, and its origin is not allowed: see `MCP_ALLOWED_ORIGINS`.",
  },
  FILE_NOT_FOUND: {
    status: 404,
    meaning: "The project has no such file.",
    message: "There is no file at this path.",
    fromDatabase: true,
  },
  VERSION_NOT_FOUND: {
    status: 404,
    meaning: "The file has no such version; see `details.latestVersion`.",
    message: "The file has no such version.",
    fromDatabase: true,
  },
  RUN_NOT_FOUND: {
    status: 404,
    meaning: "The project has no such run, or the key sees none of its files.",
    message: "There is no such run.",
    fromDatabase: true,
  },
  PROJECT_NOT_FOUND: {
    status: 404,
    meaning: "The account has no such project.",
    message: "There is no such project in this account.",
    fromDatabase: true,
  },
  KEY_NOT_FOUND: {
    status: 404,
    meaning: "The project has no such key.",
    message: "There is no such key in this project.",
    fromDatabase: true,
  },
  LINK_NOT_FOUND: {
    status: 404,
    meaning: "There is no such link, or it ended long ago.",
    message: "There is no such link.",
    fromDatabase: true,
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    meaning: "There is no such route.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The route, or the link, does not accept this method; see the `Allow` header.",
    message: "The link does not accept this method.",
    fromDatabase: true,
  },
  FILE_ALREADY_EXISTS: {
    status: 409,
    meaning:
      "A file already exists at the path. The status is 412 if the request required that there is no file.",
    message: "A file already exists at this path.",
    fromDatabase: true,
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    meaning: "A request with this Idempotency-Key is still running; try again.",
    message: "A request with this Idempotency-Key is still running. Try again shortly.",
    fromDatabase: true,
  },
  PROJECT_NAME_TAKEN: {
    status: 409,
    meaning: "The account has a project of this name.",
    message: "A project with this name already exists.",
    fromDatabase: true,
  },
  KEY_REVOKED: {
    status: 409,
    meaning: "The key is revoked or expired, so it can be neither rotated nor changed.",
    message: "The key is revoked or expired. Create a new one.",
    fromDatabase: true,
  },
  VERSION_CONFLICT: {
    status: 409,
    meaning: "Other requests kept changing the file or folder during this request; nothing was written.",
    message: "Other requests kept changing the file during this request. Nothing was written; read it again.",
    fromDatabase: true,
  },
  RUN_CONFLICT: {
    status: 409,
    meaning: "After the run, others have changed its files; nothing was done. See `details.conflicts`.",
    message: "After the run, others have changed its files. Nothing was done; see the conflicts.",
    fromDatabase: true,
  },
  LINK_EXPIRED: {
    status: 410,
    meaning: "The link expired or was revoked, or the key that created it is no longer valid.",
    message: "The link has expired. Ask for a new one.",
    fromDatabase: true,
  },
  LINK_USED: {
    status: 410,
    meaning: "The link has already written its one version.",
    message: "The link has already written its one version. Ask for a new link.",
    fromDatabase: true,
  },
  VERSION_REDACTED: {
    status: 410,
    meaning: "The content of the version was erased for good.",
    message: "The content of this version was erased for good.",
    fromDatabase: true,
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: "The file is not at the version that the request requires; see `details.version`.",
    message: "The file is not at the version that the precondition names. Nothing was done.",
    fromDatabase: true,
  },
  CONTENT_TOO_LARGE: {
    status: 413,
    meaning: "The content, the body or the resulting file is over its limit.",
    message: "The file would be larger than the project's tier allows.",
    fromDatabase: true,
  },
  QUOTA_EXCEEDED: {
    status: 413,
    meaning: "The project's storage quota does not leave room for this.",
    message: "The project's storage quota does not leave room for this.",
    fromDatabase: true,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: "The route does not accept the media type or encoding of the body.",
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    meaning: "The requested range or lines begin beyond the end of the file.",
  },
  DIFF_TOO_LARGE: {
    status: 422,
    meaning: "One of the versions is too large to be compared.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    meaning: "The Idempotency-Key was used for another request.",
    message: "This Idempotency-Key was used for another request.",
    fromDatabase: true,
  },
  KEY_LIMIT_REACHED: {
    status: 422,
    meaning: "The project already has the largest allowed number of working keys.",
    message: "The project already has the largest allowed number of working keys. Revoke some.",
    fromDatabase: true,
  },
  LINK_LIMIT_REACHED: {
    status: 422,
    meaning: "The project already has the largest allowed number of links.",
    message:
      "The project already has the largest allowed number of links. Revoke some, or wait until some expire.",
    fromDatabase: true,
  },
  NOT_TEXT: {
    status: 422,
    meaning: "The file is not text, so it cannot be edited or read as text.",
  },
  PROJECT_LIMIT_REACHED: {
    status: 422,
    meaning: "The account already has the largest allowed number of projects.",
    message: "The account already has the largest allowed number of projects.",
    fromDatabase: true,
  },
  SEARCH_TOO_BROAD: {
    status: 422,
    meaning:
      "The search would take too much work, or the edits would search and rewrite too much text (then `details.rule` " +
      "is `edit_units`).",
  },
  EXPORT_TOO_LARGE: {
    status: 422,
    meaning: "The files are more than one export can contain; see `details`.",
    message:
      "These files are more than one export can contain. Export smaller folders, or use the command line.",
    fromDatabase: true,
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
    meaning: "The request concerns more files than one commit can change; see `details.files`.",
    message: "The request concerns more files than one commit can change. Nothing was done.",
    fromDatabase: true,
  },
  VERSION_CURRENT: {
    status: 422,
    meaning: "The version is the latest one, so its content cannot be erased.",
    message: "This is the latest version. Write another version first, or purge the file.",
    fromDatabase: true,
  },
  VERSION_DELETED: {
    status: 422,
    meaning: "The version is a tombstone; there is nothing to restore.",
    message: "This version is a tombstone; there is nothing to restore.",
    fromDatabase: true,
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    meaning:
      "The project sent too many requests in this minute, or the account too many costly ones at once; nothing was done.",
    message: "Too many requests in this minute. Nothing was done; try again when the window resets.",
    fromDatabase: true,
  },
  CONTENT_CORRUPT: {
    status: 500,
    meaning: "The stored bytes do not match their checksum, so the service does not return them.",
  },
  INTERNAL_ERROR: {
    status: 500,
    meaning: "The service has a defect; the request id identifies the failure in its logs.",
  },
  SEMANTIC_SEARCH_UNAVAILABLE: {
    status: 501,
    meaning: "The service has no embedding model; the other modes work.",
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: "The database or Storage did not answer; try again later.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** The codes with which the database refuses. */
export type RefusalCode = {
  [Code in ErrorCode]: (typeof ERRORS)[Code] extends { readonly fromDatabase: true } ? Code : never;
}[ErrorCode];

function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}

function isRefusalCode(code: ErrorCode): code is RefusalCode {
  return "fromDatabase" in ERRORS[code];
}

export const REFUSAL_CODES: readonly RefusalCode[] = Object.keys(ERRORS).filter(isErrorCode).filter(
  isRefusalCode,
);
