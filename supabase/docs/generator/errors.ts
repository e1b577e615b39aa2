/** The table of error codes, from `errors.ts`. */
import { type ErrorCode, ERRORS } from "../../functions/api/errors.ts";
import { code, table } from "./markdown.ts";

/** What a client can do about it. A code without advice does not type-check. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  INVALID_JSON: "Send JSON in UTF-8.",
  INVALID_PATH: "See `details.rule`.",
  VALIDATION_ERROR: "`details.issues` lists field and reason.",
  INVALID_API_KEY: "Check the key. All these cases get the same response.",
  INVALID_SESSION: "Sign in again.",
  FORBIDDEN_ORIGIN: "Name the page's origin in `MCP_ALLOWED_ORIGINS`, or call from a program.",
  FORBIDDEN_SCOPE: "Use a key with that scope or prefix. Only the operator can resume a project.",
  FILE_NOT_FOUND:
    "Also another project's. `details` of a deleted file: `deletedVersion`; of a folder: `directory`.",
  VERSION_NOT_FOUND: "Ask for a version that `?versions` lists.",
  PROJECT_NOT_FOUND: "Also a project of another account.",
  KEY_NOT_FOUND: "Also a key of another project.",
  RUN_NOT_FOUND: "`GET /runs` lists them. Also a run below another prefix than the key's.",
  LINK_NOT_FOUND: "Check the address; ask for a new link.",
  ROUTE_NOT_FOUND: "See `/openapi.json`.",
  METHOD_NOT_ALLOWED: "Use a method of `Allow`.",
  FILE_ALREADY_EXISTS: "Set `overwrite` on a copy or move. Of a folder `details.paths` names some.",
  IDEMPOTENCY_KEY_IN_USE: "Retry.",
  PROJECT_NAME_TAKEN: "Choose another name.",
  KEY_REVOKED: "Create a new key.",
  VERSION_CONFLICT: "Read the file again and retry.",
  RUN_CONFLICT: "Look at the plan; `onConflict` `skip` or `overwrite`, or `paths`.",
  LINK_EXPIRED: "Ask whoever made it for a new one.",
  LINK_USED: "Ask whoever made it for a new one; `?versions` shows whether it was you.",
  PRECONDITION_FAILED: "Read `details.version`, the current one, and retry.",
  CONTENT_TOO_LARGE: "`details` has limit and size. Larger files grow by appends, or are uploaded as bytes.",
  QUOTA_EXCEEDED: "Raise the quota of the project or of its tier.",
  UNSUPPORTED_MEDIA_TYPE: "Send `application/json`, uncompressed.",
  RANGE_NOT_SATISFIABLE: "Ask for a range within the file.",
  DIFF_TOO_LARGE: "Compare versions of up to 1 MiB.",
  IDEMPOTENCY_KEY_REUSED: "Use a new key for each request.",
  KEY_LIMIT_REACHED: "Revoke some.",
  LINK_LIMIT_REACHED: "Revoke some with `DELETE /links/{id}`.",
  NOT_TEXT: "Read it as base64 or as bytes; overwrite it instead of editing it.",
  PROJECT_LIMIT_REACHED: "`GET /account` says why. Delete one, or ask the operator for one.",
  SEARCH_TOO_BROAD: "Use a longer literal, a directory or a glob; send fewer edits at once.",
  STRING_NOT_FOUND: "`details.nearest` and `details.differsOnlyBy` show near misses.",
  STRING_NOT_UNIQUE: "Add context to `oldString`, or set `replaceAll`.",
  EXPORT_TOO_LARGE: "Export smaller folders, or all of it with `deno task files export`.",
  TOO_MANY_FILES: "Take a smaller folder, or name `paths`.",
  VERSION_CURRENT: "Write another version first, or purge the file.",
  VERSION_REDACTED: "Read another version. With `details.done` nothing: the request was done the first time.",
  VERSION_DELETED: "Restore an earlier version.",
  RATE_LIMIT_EXCEEDED: "Wait `Retry-After` seconds.",
  CONTENT_CORRUPT: "Restore the object in Storage, or read another version.",
  INTERNAL_ERROR: "Report it with its `X-Request-Id`.",
  SEMANTIC_SEARCH_UNAVAILABLE: "Use another mode, or configure an embeddings endpoint.",
  SERVICE_UNAVAILABLE: "Retry after `Retry-After` seconds.",
};

const CODES = Object.keys(ERRORS).filter((name): name is ErrorCode => name in ERRORS)
  .sort((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1));

export function errorsTable(): string {
  return table(
    ["code", "status", "meaning", "what to do"],
    CODES.map((name) => [code(name), String(ERRORS[name].status), ERRORS[name].meaning, ADVICE[name]]),
  );
}
