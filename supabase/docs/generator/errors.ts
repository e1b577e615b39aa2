/** The list of error codes, from `errors.ts` and `openapi/meanings.ts`. */
import { type ErrorCode, ERRORS } from "../../functions/api/errors.ts";
import { meaningOf } from "../../functions/api/openapi/meanings.ts";
import { code, nested, wrap } from "./markdown.ts";

/** What a client can do about an error. A code without advice does not type-check. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  INVALID_JSON: "Send JSON in UTF-8.",
  INVALID_PATH: "Change the path so that it follows the rule.",
  VALIDATION_ERROR: "`details.issues` lists each field with the reason.",
  INVALID_API_KEY: "Check the key. The answer is the same in all of these cases.",
  INVALID_SESSION: "Sign in again.",
  FORBIDDEN_ORIGIN:
    "The operator can add the page's origin to `MCP_ALLOWED_ORIGINS`. Programs need no origin.",
  FORBIDDEN_SCOPE: "Use a key with that scope or prefix. Only the operator can resume a suspended project.",
  FILE_NOT_FOUND:
    "Check the path. `details.deletedVersion` means that the file was deleted, `details.directory` that it is a folder.",
  VERSION_NOT_FOUND: "Ask for a version that `?versions` lists.",
  PROJECT_NOT_FOUND: "`GET /projects` lists the projects of the account.",
  KEY_NOT_FOUND: "`GET /project/apikeys` lists the keys of the project.",
  BRANCH_NOT_FOUND: "`GET /branches` lists the branches that the key sees. Create one with `POST /branches`.",
  RUN_NOT_FOUND: "`GET /runs` lists the runs that the key sees.",
  MEMBER_NOT_FOUND: "List the members again.",
  INVITATION_NOT_FOUND: "Sign in with the invited address, or ask for a new invitation.",
  LINK_NOT_FOUND: "Check the address, or ask for a new link.",
  REQUEST_NOT_FOUND: "Connect the app again.",
  ROUTE_NOT_FOUND: "See `/openapi.json`.",
  METHOD_NOT_ALLOWED: "Use a method that `Allow` names.",
  FILE_ALREADY_EXISTS:
    "Set `overwrite` on a copy or move. For a folder `details.paths` names some of the files.",
  BRANCH_ALREADY_EXISTS: "Choose a name that was never used.",
  BRANCH_CLOSED: "Create another branch, with a name of its own.",
  IDEMPOTENCY_KEY_IN_USE: "Send the same request again shortly afterwards.",
  PROJECT_NAME_TAKEN: "Choose another name.",
  MEMBER_ALREADY_EXISTS: "Change the role of the member or invitation.",
  OWNER_REQUIRED: "Transfer the project with `POST /project/transfer`.",
  KEY_REVOKED: "Create a new key.",
  VERSION_CONFLICT: "Read the file again and retry.",
  RUN_CONFLICT:
    "Read the plan. Then send `onConflict` as `skip` or `overwrite`, or choose files with `paths`.",
  MERGE_CONFLICT:
    "Update the branch and solve them there, or choose with `onConflict`, `resolutions` or `paths`.",
  LINK_EXPIRED: "Ask the person who sent the link for a new one.",
  LINK_USED: "Check with `?versions` whether the upload was yours. Otherwise ask for a new link.",
  PRECONDITION_FAILED:
    "Read the current version, which `details.version` names, and send the change for that version.",
  CONTENT_TOO_LARGE:
    "`details` has the limit and the size. Append the content in parts, or upload it as bytes.",
  QUOTA_EXCEEDED: "Erase versions, or ask the operator for a higher quota.",
  UNSUPPORTED_MEDIA_TYPE: "Send `application/json`, uncompressed.",
  RANGE_NOT_SATISFIABLE: "Ask for a range within the file.",
  DIFF_TOO_LARGE: "Compare versions of up to 1 MiB.",
  IDEMPOTENCY_KEY_REUSED: "Use a new key for each request.",
  KEY_LIMIT_REACHED: "Revoke a key.",
  WEBHOOK_NOT_FOUND: "List webhooks with `GET /project/webhooks`.",
  WEBHOOK_LIMIT_REACHED: "Delete a webhook.",
  MEMBER_LIMIT_REACHED: "Remove a member or an invitation.",
  LINK_LIMIT_REACHED: "Revoke a link with `DELETE /links/{id}`.",
  NOT_TEXT: "Read it as base64 or as bytes; overwrite it instead of editing it.",
  PATH_TOO_LONG: "Branch a deeper folder, or rename the files.",
  PROJECT_LIMIT_REACHED:
    "`GET /account` gives the reason. Delete a project, or ask the operator to create one.",
  SEARCH_TOO_BROAD:
    "Search for a longer literal, in a directory or with a glob. Send fewer edits in one request.",
  STRING_NOT_FOUND: "`details.nearest` and `details.differsOnlyBy` show near misses.",
  STRING_NOT_UNIQUE: "Add context to `oldString`, or set `replaceAll`.",
  EXPORT_TOO_LARGE: "Export smaller folders, or export all files with `deno task files export`.",
  TOO_MANY_FILES: "Choose a smaller folder, or select files with `paths`.",
  VERSION_CURRENT: "Write a new version first, or purge the file.",
  VERSION_REDACTED:
    "Read another version. If the details have `done`, do nothing: the service executed the request the first time.",
  VERSION_DELETED: "Restore an earlier version.",
  RATE_LIMIT_EXCEEDED: "Wait `Retry-After` seconds.",
  CONTENT_CORRUPT: "Restore the object in Storage, or read another version.",
  INTERNAL_ERROR: "Report the failure with its `X-Request-Id`.",
  OAUTH_UNAVAILABLE: "Use a key at `/mcp`, or ask the operator to set `CONSOLE_URL`.",
  SEMANTIC_SEARCH_UNAVAILABLE: "Use another mode, or configure an embeddings endpoint.",
  SERVICE_UNAVAILABLE: "Retry after `Retry-After` seconds.",
};

const CODES = Object.keys(ERRORS).filter((name): name is ErrorCode => name in ERRORS)
  .sort((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1));

/** One list item per code: its status, its meaning, what to do. */
export function errorsList(): string {
  return CODES.map((name) => {
    const { status } = ERRORS[name];
    return `${wrap(`- ${code(name)} (${status}): ${meaningOf(name)}`)}\n${nested(ADVICE[name])}`;
  }).join("\n");
}
