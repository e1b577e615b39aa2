/** The list of error codes, from `errors.ts` and `openapi/meanings.ts`. */
import { type ErrorCode, ERRORS } from "../../functions/api/errors.ts";
import { MEANINGS } from "../../functions/api/openapi/meanings.ts";
import { code, nested, wrap } from "./markdown.ts";

/** What a client can do about it. A code without advice does not type-check. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  INVALID_JSON: "Send JSON in UTF-8.",
  INVALID_PATH: "Change the path so that it keeps that rule.",
  VALIDATION_ERROR: "`details.issues` lists each field with the reason.",
  INVALID_API_KEY: "Check the key. All of these cases get the same answer.",
  INVALID_SESSION: "Sign in again.",
  FORBIDDEN_ORIGIN: "Name the page's origin in `MCP_ALLOWED_ORIGINS`, or call from a program.",
  FORBIDDEN_SCOPE: "Use a key with that scope or prefix. Only the operator can resume a suspended project.",
  FILE_NOT_FOUND:
    "Check the path. `details.deletedVersion` means that the file was deleted, `details.directory` that it is a folder.",
  VERSION_NOT_FOUND: "Ask for a version that `?versions` lists.",
  PROJECT_NOT_FOUND: "`GET /projects` lists the projects of the account.",
  KEY_NOT_FOUND: "`GET /project/apikeys` lists the keys of the project.",
  RUN_NOT_FOUND: "`GET /runs` lists the runs that the key sees.",
  LINK_NOT_FOUND: "Check the address, or ask for a new link.",
  ROUTE_NOT_FOUND: "See `/openapi.json`.",
  METHOD_NOT_ALLOWED: "Use a method that `Allow` names.",
  FILE_ALREADY_EXISTS:
    "Set `overwrite` on a copy or move. For a folder `details.paths` names some of the files.",
  IDEMPOTENCY_KEY_IN_USE: "Send the same request again a moment later.",
  PROJECT_NAME_TAKEN: "Choose another name.",
  KEY_REVOKED: "Create a new key.",
  VERSION_CONFLICT: "Read the file again and retry.",
  RUN_CONFLICT:
    "Read the plan. Then send `onConflict` as `skip` or `overwrite`, or choose files with `paths`.",
  LINK_EXPIRED: "Ask the person who sent it for a new one.",
  LINK_USED: "Ask for a new one, unless the upload was yours: `?versions` shows it.",
  PRECONDITION_FAILED: "Read `details.version`, which is the current one, and send the change for that.",
  CONTENT_TOO_LARGE:
    "`details` has the limit and the size. Append to a larger file in parts, or upload it as bytes.",
  QUOTA_EXCEEDED: "Erase versions, or ask the operator for a higher quota.",
  UNSUPPORTED_MEDIA_TYPE: "Send `application/json`, uncompressed.",
  RANGE_NOT_SATISFIABLE: "Ask for a range within the file.",
  DIFF_TOO_LARGE: "Compare versions of up to 1 MiB.",
  IDEMPOTENCY_KEY_REUSED: "Use a new key for each request.",
  KEY_LIMIT_REACHED: "Revoke some keys.",
  LINK_LIMIT_REACHED: "End some with `DELETE /links/{id}`.",
  NOT_TEXT: "Read it as base64 or as bytes; overwrite it instead of editing it.",
  PROJECT_LIMIT_REACHED: "`GET /account` says why. Delete a project, or ask the operator for one.",
  SEARCH_TOO_BROAD: "Search for a longer literal, in a directory or with a glob. Send fewer edits at once.",
  STRING_NOT_FOUND: "`details.nearest` and `details.differsOnlyBy` show near misses.",
  STRING_NOT_UNIQUE: "Add context to `oldString`, or set `replaceAll`.",
  EXPORT_TOO_LARGE: "Export smaller folders, or all of it with `deno task files export`.",
  TOO_MANY_FILES: "Choose a smaller folder, or name `paths`.",
  VERSION_CURRENT: "Write another version first, or purge the file.",
  VERSION_REDACTED:
    "Read another version. If `details.done` is there, do nothing: the request was done the first time.",
  VERSION_DELETED: "Restore an earlier version.",
  RATE_LIMIT_EXCEEDED: "Wait `Retry-After` seconds.",
  CONTENT_CORRUPT: "Restore the object in Storage, or read another version.",
  INTERNAL_ERROR: "Report it with its `X-Request-Id`.",
  SEMANTIC_SEARCH_UNAVAILABLE: "Use another mode, or configure an embeddings endpoint.",
  SERVICE_UNAVAILABLE: "Retry after `Retry-After` seconds.",
};

const CODES = Object.keys(ERRORS).filter((name): name is ErrorCode => name in ERRORS)
  .sort((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1));

/** One list item a code: its status, its meaning, what to do. */
export function errorsList(): string {
  return CODES.map((name) => {
    const { status } = ERRORS[name];
    return `${wrap(`- ${code(name)} (${status}): ${MEANINGS[name]}`)}\n${nested(ADVICE[name])}`;
  }).join("\n");
}
