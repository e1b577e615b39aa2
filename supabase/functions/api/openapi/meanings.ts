/** What each error code means, for the documents and the OpenAPI description. */
import type { ErrorCode } from "../contract/errors.ts";

export const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  INVALID_JSON: "The body is not JSON, or not UTF-8.",
  INVALID_PATH: "The path breaks the rule named in `details.rule`.",
  VALIDATION_ERROR:
    "A field or parameter is missing, not known to the route, of the wrong type or out of range.",
  INVALID_API_KEY: "The API key is missing, malformed, unknown, revoked or expired.",
  INVALID_SESSION:
    "The access token is missing, malformed or expired, its session has ended or lacks the account's second factor, it was issued to a third-party app, or its account owns nothing: deleted, banned or anonymous.",
  FORBIDDEN_SCOPE:
    "The key lacks `details.scope`, may not write outside `details.pathPrefix`, or its project is suspended " +
    "(`details.suspended`).",
  FORBIDDEN_ORIGIN: "A browser sent this to `/mcp` from a page that may not: see `MCP_ALLOWED_ORIGINS`.",
  FILE_NOT_FOUND: "The project has no such file.",
  VERSION_NOT_FOUND: "The file has no such version; see `details.latestVersion`.",
  RUN_NOT_FOUND: "The project has no such run, or the key sees none of its files.",
  PROJECT_NOT_FOUND: "The account has no such project.",
  KEY_NOT_FOUND: "The project has no such key.",
  LINK_NOT_FOUND: "There is no such link, or it ended long ago.",
  ROUTE_NOT_FOUND: "There is no such route.",
  METHOD_NOT_ALLOWED: "The route, or the link, does not take this method; see the `Allow` header.",
  FILE_ALREADY_EXISTS: "There is a file at the path. 412 where `If-None-Match: *` was the condition.",
  IDEMPOTENCY_KEY_IN_USE: "A request with this Idempotency-Key is still running; try again.",
  PROJECT_NAME_TAKEN: "The account has a project of this name.",
  KEY_REVOKED: "The key is revoked or expired, so it can be neither rotated nor changed.",
  VERSION_CONFLICT: "The file, or the folder, kept changing meanwhile; nothing was written.",
  RUN_CONFLICT: "Others have changed files of the run since: see `details.conflicts`; nothing was done.",
  LINK_EXPIRED: "The link expired or was revoked, or the key that made it is not valid any more.",
  LINK_USED: "The link has written the one version that it was for.",
  VERSION_REDACTED: "The content of the version was erased for good.",
  PRECONDITION_FAILED: "The file is not at the version that the request requires; see `details.version`.",
  CONTENT_TOO_LARGE: "The content, the body or the resulting file is over its limit.",
  QUOTA_EXCEEDED: "The project's storage quota does not leave room for this.",
  UNSUPPORTED_MEDIA_TYPE: "The body's media type or encoding is not one the route reads.",
  RANGE_NOT_SATISFIABLE: "The range or the lines begin beyond the end.",
  DIFF_TOO_LARGE: "One of the versions is too large to be compared.",
  IDEMPOTENCY_KEY_REUSED: "The Idempotency-Key was used for another request.",
  KEY_LIMIT_REACHED: "The project has as many working keys as it may have.",
  LINK_LIMIT_REACHED: "The project has as many links as it may have.",
  NOT_TEXT: "The file is not text, so it cannot be edited or read as text.",
  PROJECT_LIMIT_REACHED: "The account has as many projects as it may have.",
  SEARCH_TOO_BROAD:
    "The pattern would have to be tried on too much text: name a literal, a directory or a glob. Or the edits would " +
    "search and rewrite too much (`details.rule` is `edit_units`): send fewer at once.",
  EXPORT_TOO_LARGE: "More than one export may hold; see `details`.",
  STRING_NOT_FOUND: "`oldString` does not occur in the file; see `details.nearest`.",
  STRING_NOT_UNIQUE: "`oldString` occurs more than once; see `details.lines`.",
  TOO_MANY_FILES: "More files than one commit may change; see `details.files`.",
  VERSION_CURRENT: "The version is the current one, so its content cannot be erased.",
  VERSION_DELETED: "The version is a tombstone; there is nothing to restore.",
  RATE_LIMIT_EXCEEDED:
    "Too many requests in this minute, or too many costly ones of the account at the same time; nothing was done.",
  CONTENT_CORRUPT: "Stored bytes fail their checksum; wrong content is never returned.",
  INTERNAL_ERROR: "A defect; the request id finds it in the logs.",
  SEMANTIC_SEARCH_UNAVAILABLE: "No embedding model is set up here; the other modes work.",
  SERVICE_UNAVAILABLE: "Database or storage did not answer; try again later.",
};
