/**
 * The one table of error codes; the port's refusals, the OpenAPI description, the documents and the tests read it.
 * `openapi/meanings.ts` explains the meaning of each code.
 */

/** Each with the status of the response, and a message where the database decides this by a `Refusal`. */
export const ERRORS = {
  INVALID_JSON: { status: 400 },
  INVALID_PATH: { status: 400, message: "A path is not valid: see `details.rule`." },
  VALIDATION_ERROR: { status: 400, message: "The request is not valid." },
  INVALID_API_KEY: {
    status: 401,
    message: "The API key is not valid: it is malformed, unknown, revoked or expired.",
  },
  INVALID_SESSION: { status: 401, message: "The access token is missing or not valid. Sign in again." },
  FORBIDDEN_SCOPE: { status: 403, message: "The API key does not permit this: see `details`." },
  FORBIDDEN_ORIGIN: { status: 403 },
  FILE_NOT_FOUND: { status: 404, message: "There is no file at this path." },
  VERSION_NOT_FOUND: { status: 404, message: "The file has no such version." },
  BRANCH_NOT_FOUND: { status: 404, message: "There is no such branch." },
  RUN_NOT_FOUND: { status: 404, message: "There is no such run." },
  PROJECT_NOT_FOUND: { status: 404, message: "There is no such project in this account." },
  KEY_NOT_FOUND: { status: 404, message: "There is no such key in this project." },
  LINK_NOT_FOUND: { status: 404, message: "There is no such link." },
  WEBHOOK_NOT_FOUND: { status: 404, message: "There is no such webhook in this project." },
  MEMBER_NOT_FOUND: { status: 404, message: "There is no such member in this project." },
  INVITATION_NOT_FOUND: {
    status: 404,
    message: "There is no such invitation for this account, or it has expired or was answered.",
  },
  REQUEST_NOT_FOUND: {
    status: 404,
    message: "There is no such request of an app, or it has expired or was answered. Connect the app again.",
  },
  ROUTE_NOT_FOUND: { status: 404 },
  METHOD_NOT_ALLOWED: { status: 405, message: "The link does not accept this method." },
  FILE_ALREADY_EXISTS: { status: 409, message: "A file already exists at this path." },
  BRANCH_ALREADY_EXISTS: {
    status: 409,
    message: "A branch of this name exists or existed. Choose another name: none is used twice.",
  },
  BRANCH_CLOSED: { status: 409, message: "The branch is merged or closed, and takes no more changes." },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    message: "A request with this Idempotency-Key is still running. Try again shortly.",
  },
  PROJECT_NAME_TAKEN: {
    status: 409,
    message: "A project with this name already exists. Choose another name.",
  },
  MEMBER_ALREADY_EXISTS: { status: 409, message: "This person is a member or invited already." },
  OWNER_REQUIRED: {
    status: 409,
    message: "A project keeps its owner. Transfer it to a member first.",
  },
  KEY_REVOKED: { status: 409, message: "The key is revoked or expired. Create a new one." },
  VERSION_CONFLICT: {
    status: 409,
    message: "Other requests kept changing the file during this request. Nothing was written; read it again.",
  },
  RUN_CONFLICT: {
    status: 409,
    message: "Others have changed the run's files since. Nothing was done; see `details.conflicts`.",
  },
  MERGE_CONFLICT: {
    status: 409,
    message: "Both sides have changed the same files. Nothing was done; see `details.conflicts`.",
  },
  LINK_EXPIRED: { status: 410, message: "The link has expired. Ask for a new one." },
  LINK_USED: { status: 410, message: "The link has already written its one version. Ask for a new link." },
  VERSION_REDACTED: { status: 410, message: "The content of this version was erased for good." },
  PRECONDITION_FAILED: {
    status: 412,
    message: "The file is not at the version that the precondition names. Nothing was done.",
  },
  CONTENT_TOO_LARGE: { status: 413, message: "The file would be larger than the project's tier allows." },
  QUOTA_EXCEEDED: { status: 413, message: "The project's storage quota does not leave room for this." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  RANGE_NOT_SATISFIABLE: { status: 416 },
  DIFF_TOO_LARGE: { status: 422 },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key was used for another request. Use a new key for each request.",
  },
  KEY_LIMIT_REACHED: {
    status: 422,
    message: "The project has reached its maximum number of active keys. Revoke one first.",
  },
  LINK_LIMIT_REACHED: {
    status: 422,
    message:
      "The project has reached its maximum number of links. Revoke one first, or wait until one expires.",
  },
  WEBHOOK_LIMIT_REACHED: {
    status: 422,
    message: "The project has reached its maximum number of webhooks. Delete one first.",
  },
  MEMBER_LIMIT_REACHED: {
    status: 422,
    message: "The project has reached its maximum number of members and invitations. Remove one first.",
  },
  NOT_TEXT: { status: 422 },
  PATH_TOO_LONG: {
    status: 422,
    message: "Paths would be too long or too deep in the branch: see `details.paths`. Nothing was done.",
  },
  PROJECT_LIMIT_REACHED: {
    status: 422,
    message:
      "The account has reached its maximum number of projects. Delete one, or ask the operator for more.",
  },
  SEARCH_TOO_BROAD: { status: 422 },
  EXPORT_TOO_LARGE: {
    status: 422,
    message:
      "The export would have too many files, segments or bytes. Export smaller folders, or use the command line.",
  },
  STRING_NOT_FOUND: { status: 422 },
  STRING_NOT_UNIQUE: { status: 422 },
  TOO_MANY_FILES: {
    status: 422,
    message: "The request concerns more files than one commit can change. Nothing was done.",
  },
  VERSION_CURRENT: {
    status: 422,
    message:
      "The content of the latest version cannot be erased. Write a new version first, or purge the file.",
  },
  VERSION_DELETED: { status: 422, message: "This version is a tombstone; there is nothing to restore." },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: "Too many requests in this minute. Nothing was done; try again when the window resets.",
  },
  CONTENT_CORRUPT: { status: 500 },
  INTERNAL_ERROR: { status: 500 },
  OAUTH_UNAVAILABLE: { status: 501 },
  SEMANTIC_SEARCH_UNAVAILABLE: { status: 501 },
  SERVICE_UNAVAILABLE: { status: 503 },
} as const satisfies Record<string, { readonly status: number; readonly message?: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** The codes that refusals of the database can have. */
export type RefusalCode = {
  [Code in ErrorCode]: (typeof ERRORS)[Code] extends { readonly message: string } ? Code : never;
}[ErrorCode];

export const ERROR_CODES = Object.keys(ERRORS).filter((name): name is ErrorCode =>
  Object.hasOwn(ERRORS, name)
);

export const REFUSAL_CODES = ERROR_CODES.filter((code): code is RefusalCode => "message" in ERRORS[code]);
