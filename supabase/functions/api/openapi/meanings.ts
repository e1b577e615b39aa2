/** What each error code means, for the documents and the OpenAPI description: its message, or a text of its own. */
import { type ErrorCode, ERRORS, type RefusalCode } from "../contract/errors.ts";

type Meanings = Record<Exclude<ErrorCode, RefusalCode>, string> & Partial<Record<RefusalCode, string>>;

const OTHER_MEANINGS: Readonly<Meanings> = {
  INVALID_JSON: "The body is not JSON, or not UTF-8.",
  VALIDATION_ERROR:
    "A field or parameter is missing, not known to the route, of the wrong type or out of range.",
  INVALID_API_KEY: "The API key is missing, malformed, unknown, revoked or expired.",
  INVALID_SESSION:
    "The access token is missing, malformed or expired, its session has ended or lacks the account's second factor, it was issued to a third-party app, or its account is deleted, banned or anonymous.",
  FORBIDDEN_SCOPE:
    "The key or the person's role lacks `details.scope`, the key may not write outside `details.pathPrefix`, only the " +
    "owner may do this (`details.role`), or the project is suspended (`details.suspended`).",
  FORBIDDEN_ORIGIN: "A web page called `/mcp`, and its origin is not allowed: see `MCP_ALLOWED_ORIGINS`.",
  VERSION_NOT_FOUND: "The file has no such version; see `details.latestVersion`.",
  BRANCH_NOT_FOUND:
    "There is no such branch, or the key may not see it; a path below `.branches/` is in none.",
  RUN_NOT_FOUND: "The project has no such run, or the key sees none of its files.",
  WEBHOOK_NOT_FOUND: "The project has no such webhook.",
  MEMBER_NOT_FOUND: "The project has no such member or open invitation.",
  INVITATION_NOT_FOUND:
    "There is no open invitation with this id to the account's confirmed address; it may have expired.",
  MEMBER_ALREADY_EXISTS: "A member, the owner or an open invitation has this address.",
  OWNER_REQUIRED: "The owner can neither leave nor get another role before a transfer.",
  MEMBER_LIMIT_REACHED:
    "The project has reached its maximum number of members, its owner and invitations included.",
  LINK_NOT_FOUND: "There is no such link, or it ended long ago.",
  ROUTE_NOT_FOUND: "There is no such route.",
  METHOD_NOT_ALLOWED: "The route, or the link, does not accept this method; see the `Allow` header.",
  FILE_ALREADY_EXISTS:
    "A file already exists at the path. The status is 412 if the request required that there is no file.",
  IDEMPOTENCY_KEY_IN_USE: "A request with this Idempotency-Key is still running; try again.",
  PROJECT_NAME_TAKEN: "The account has a project of this name.",
  KEY_REVOKED: "The key is revoked or expired, so it can be neither rotated nor changed.",
  VERSION_CONFLICT:
    "Other requests kept changing the file or folder during this request; nothing was written.",
  RUN_CONFLICT: "Others have changed the run's files since; nothing was done. See `details.conflicts`.",
  BRANCH_ALREADY_EXISTS: "A branch of this name exists or existed; no name is used twice.",
  BRANCH_CLOSED: "The branch is merged or closed; see `details.state`.",
  MERGE_CONFLICT: "Both sides have changed the same files; nothing was done. See `details.conflicts`.",
  LINK_EXPIRED: "The link expired or was revoked, or the key that created it is no longer valid.",
  LINK_USED: "The link has already written its one version.",
  PRECONDITION_FAILED: "The file is not at the version that the request requires; see `details.version`.",
  CONTENT_TOO_LARGE: "The content, the body or the resulting file is over its limit.",
  UNSUPPORTED_MEDIA_TYPE: "The route does not accept the media type or encoding of the body.",
  RANGE_NOT_SATISFIABLE: "The requested range or lines begin beyond the end of the file.",
  DIFF_TOO_LARGE: "One of the versions is too large to be compared.",
  IDEMPOTENCY_KEY_REUSED: "The Idempotency-Key was used for another request.",
  KEY_LIMIT_REACHED: "The project has reached its maximum number of active keys.",
  WEBHOOK_LIMIT_REACHED: "The project has reached its maximum number of webhooks.",
  LINK_LIMIT_REACHED: "The project has reached its maximum number of links.",
  PATH_TOO_LONG: "Paths would be too long or too deep in the branch; see `details.paths`.",
  PROJECT_LIMIT_REACHED: "The account has reached its maximum number of projects.",
  NOT_TEXT: "The file is not text, so it cannot be edited or read as text.",
  SEARCH_TOO_BROAD:
    "The search would take too much work, or the edits would search and rewrite too much text (then `details.rule` is `edit_units`).",
  EXPORT_TOO_LARGE: "The export would have too many files, segments or bytes; see `details`.",
  STRING_NOT_FOUND: "`oldString` does not occur in the file; see `details.nearest`.",
  STRING_NOT_UNIQUE: "`oldString` occurs more than once; see `details.lines`.",
  TOO_MANY_FILES: "The request concerns more files than one commit can change; see `details.files`.",
  VERSION_CURRENT: "The version is the latest one, so its content cannot be erased.",
  RATE_LIMIT_EXCEEDED:
    "The project sent too many requests in this minute, or the account too many costly ones at once; nothing was done.",
  CONTENT_CORRUPT: "The stored bytes do not match their checksum, so the service does not return them.",
  INTERNAL_ERROR: "The service has a defect; the request id identifies the failure in its logs.",
  OAUTH_UNAVAILABLE:
    "Apps cannot sign in: the operator has not set `CONSOLE_URL`, the address of the console.",
  SEMANTIC_SEARCH_UNAVAILABLE: "The service has no embedding model; the other modes work.",
  SERVICE_UNAVAILABLE: "The database or Storage did not answer; try again later.",
};

export function meaningOf(code: ErrorCode): string {
  const { message = "" }: { readonly status: number; readonly message?: string } = ERRORS[code];
  return OTHER_MEANINGS[code] ?? message;
}
