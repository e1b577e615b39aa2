/**
 * The one table of error codes. Each refusal is made by `fail(code, message, details?)` and rendered in one
 * place, `respond.ts`; the OpenAPI description and the tests read the table.
 */

/** Code → HTTP status and meaning. */
export const ERRORS = {
  INVALID_JSON: { status: 400, meaning: "The body is not JSON, or not UTF-8." },
  INVALID_PATH: { status: 400, meaning: "The path breaks the rule named in `details.rule`." },
  VALIDATION_ERROR: {
    status: 400,
    meaning: "A field or parameter is missing, of the wrong type or out of range.",
  },
  INVALID_API_KEY: {
    status: 401,
    meaning: "The API key is missing, malformed, unknown, revoked or expired.",
  },
  INVALID_SESSION: { status: 401, meaning: "The access token is missing, malformed or expired." },
  FORBIDDEN_SCOPE: {
    status: 403,
    meaning: "The key lacks `details.scope`, or may not write outside `details.pathPrefix`.",
  },
  FILE_NOT_FOUND: { status: 404, meaning: "The project has no such file." },
  VERSION_NOT_FOUND: { status: 404, meaning: "The file has no such version; see `details.latestVersion`." },
  PROJECT_NOT_FOUND: { status: 404, meaning: "The account has no such project." },
  KEY_NOT_FOUND: { status: 404, meaning: "The project has no such key." },
  ROUTE_NOT_FOUND: { status: 404, meaning: "There is no such route." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The route does not take this method; see the `Allow` header.",
  },
  FILE_ALREADY_EXISTS: {
    status: 409,
    meaning: "There is a file at the path. 412 where `If-None-Match: *` was the condition.",
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    meaning: "A request with this Idempotency-Key is still running; try again.",
  },
  PROJECT_NAME_TAKEN: { status: 409, meaning: "The account has a project of this name." },
  KEY_REVOKED: { status: 409, meaning: "The key is revoked or expired, so it cannot be rotated." },
  VERSION_CONFLICT: {
    status: 409,
    meaning: "The file kept changing while it was edited; nothing was written.",
  },
  PRECONDITION_FAILED: {
    status: 412,
    meaning: "The file is not at the version of If-Match; see `details.version`.",
  },
  CONTENT_TOO_LARGE: {
    status: 413,
    meaning: "The content, the body or the resulting file is over its limit.",
  },
  QUOTA_EXCEEDED: { status: 413, meaning: "The project's storage quota does not leave room for this." },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: "The body's media type or encoding is not one the route reads.",
  },
  RANGE_NOT_SATISFIABLE: { status: 416, meaning: "The range or the lines begin beyond the end." },
  DIFF_TOO_LARGE: { status: 422, meaning: "One of the versions is too large to be compared." },
  IDEMPOTENCY_KEY_REUSED: { status: 422, meaning: "The Idempotency-Key was used for another request." },
  KEY_LIMIT_REACHED: { status: 422, meaning: "The project has as many working keys as it may have." },
  NOT_TEXT: { status: 422, meaning: "The file is not text, so it cannot be edited or read as text." },
  PROJECT_LIMIT_REACHED: { status: 422, meaning: "The account has as many projects as it may have." },
  SEARCH_TOO_BROAD: {
    status: 422,
    meaning: "The pattern would have to be tried on too much text; name a literal, a directory or a glob.",
  },
  STRING_NOT_FOUND: {
    status: 422,
    meaning: "`oldString` does not occur in the file; see `details.nearest`.",
  },
  STRING_NOT_UNIQUE: { status: 422, meaning: "`oldString` occurs more than once; see `details.lines`." },
  VERSION_DELETED: { status: 422, meaning: "The version is a tombstone; there is nothing to restore." },
  RATE_LIMIT_EXCEEDED: { status: 429, meaning: "Too many requests in this minute; nothing was done." },
  CONTENT_CORRUPT: {
    status: 500,
    meaning: "Stored bytes fail their checksum; wrong content is never returned.",
  },
  INTERNAL_ERROR: { status: 500, meaning: "A defect; the request id finds it in the logs." },
  SEMANTIC_SEARCH_UNAVAILABLE: {
    status: 501,
    meaning: "No embedding model is set up here; the other modes work.",
  },
  SERVICE_UNAVAILABLE: { status: 503, meaning: "Database or storage did not answer; try again later." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** A refusal on its way to the client. Throw it anywhere; `app.ts` renders it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
    readonly headers?: Readonly<Record<string, string>>,
    /** Another status than the table's, for the one code that has two. */
    readonly otherStatus?: number,
  ) {
    super(message);
  }

  get status(): number {
    return this.otherStatus ?? ERRORS[this.code].status;
  }
}

/** Refuses the request. The message is for the client: it never carries content, keys or internals. */
export function fail(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
): never {
  throw new ApiError(code, message, details, headers);
}
