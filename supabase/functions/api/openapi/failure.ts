/** Error responses: the envelope of a failure, what its details may hold, and which codes each status may have. */
import { z } from "zod";
import type { Credentials } from "../auth/identify.ts";
import { branchState, mergeResult } from "../contract/branches.ts";
import { undoResult } from "../contract/runs.ts";
import { count, scope, version } from "../contract/values.ts";
import { ERROR_CODES, type ErrorCode, ERRORS } from "../errors.ts";
import { CONFLICTING_PATHS_SHOWN_MAX, EDIT_LINES_REPORTED_MAX, EDIT_NEAREST_MAX } from "../limits.ts";
import { responseHeaders } from "./headers.ts";
import { meaningOf } from "./meanings.ts";
import { type Json, schemaOf } from "./schemas.ts";
import { isStrict, type Route } from "../route.ts";
import type { DocumentedError, ResponseHeader } from "../openapi_properties.ts";

const OF_OWNER: readonly ErrorCode[] = ["INVALID_SESSION", "PROJECT_NOT_FOUND"];
const OF_KEY: readonly ErrorCode[] = ["INVALID_API_KEY", "FORBIDDEN_SCOPE"];
const OF_CALLER: Readonly<Record<Credentials, readonly ErrorCode[]>> = {
  none: [],
  // The route accepts a key, or an access token with x-project-id.
  key: [...OF_KEY, ...OF_OWNER],
  account: OF_OWNER,
  "account or key": [...OF_KEY, ...OF_OWNER],
  "secret key": ["INVALID_API_KEY"],
  app: OF_KEY,
  link: ["VALIDATION_ERROR", "LINK_NOT_FOUND", "LINK_EXPIRED", "METHOD_NOT_ALLOWED", "FORBIDDEN_SCOPE"],
};

function errorsOf(route: Route): ReadonlySet<DocumentedError> {
  const { credentials, pattern, makesVersions, openapi } = route;
  const { takesRaw, headers = [], isPlain, isProtocol, speaksOAuth, errors = [] } = openapi;
  const body = speaksOAuth ? undefined : openapi.body;
  return new Set<DocumentedError>([
    ...isStrict(route) ? ["VALIDATION_ERROR"] as const : [],
    ...pattern.endsWith("/*") ? ["INVALID_PATH"] as const : [],
    ...body && !isProtocol ? ["INVALID_JSON"] as const : [],
    ...body || takesRaw ? ["UNSUPPORTED_MEDIA_TYPE", "CONTENT_TOO_LARGE"] as const : [],
    ...headers.includes("Idempotency-Key") && !isPlain
      ? ["IDEMPOTENCY_KEY_IN_USE", "IDEMPOTENCY_KEY_REUSED"] as const
      : [],
    // `ifVersion` 0 is a condition, too.
    ...headers.includes("If-Match")
      ? ["PRECONDITION_FAILED", ["FILE_ALREADY_EXISTS", 412] as const] as const
      : [],
    // What is written may be in a branch.
    ...makesVersions ? ["BRANCH_NOT_FOUND", "BRANCH_CLOSED"] as const : [],
    ...OF_CALLER[credentials],
    ...credentials === "none" ? [] : ["RATE_LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE"] as const,
    ...errors,
    ...route.ofOAuth ? ["OAUTH_UNAVAILABLE"] as const : [],
    "INTERNAL_ERROR",
  ]);
}

export const HEADERS_OF_STATUS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ["WWW-Authenticate"],
  405: ["Allow"],
  409: ["Retry-After"],
  416: ["Content-Range"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** Collects the responses that routes have in common, for `components/responses`. */
export class FailureResponses {
  readonly components: Json = {};

  /** Status → reference, for each error of the route. */
  of(route: Route): Json {
    const codes = new Map<number, ErrorCode[]>();
    for (const error of errorsOf(route)) {
      const [code, status] = typeof error === "string" ? [error, ERRORS[error].status] : error;
      codes.set(status, [...codes.get(status) ?? [], code]);
    }
    return Object.fromEntries(
      [...codes].map(([status, named]) => [status, this.refer(status, named.toSorted())]),
    );
  }

  private refer(status: number, codes: readonly ErrorCode[]): Json {
    const name = `${status}-${codes.map(pascalCase).join("-")}`;
    this.components[name] ??= {
      description: codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join(" "),
      headers: responseHeaders(HEADERS_OF_STATUS[status] ?? []),
      content: {
        "application/json": {
          schema: {
            allOf: [FAILURE, { properties: { error: { properties: { code: { enum: codes } } } } }],
          },
        },
      },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

/** `FILE_NOT_FOUND` → `FileNotFound`. */
function pascalCase(code: string): string {
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Every field that `details` may have. */
const details = z.object({
  issues: z.array(z.object({ path: z.string(), reason: z.string() }))
    .describe("VALIDATION_ERROR: what is wrong, by parameter, header or dotted field."),
  rule: z.string().describe("INVALID_PATH: the rule that the path breaks."),
  directory: z.literal(true).describe("FILE_NOT_FOUND: the path is a directory, which can be listed."),
  deletedVersion: count.describe("FILE_NOT_FOUND: the file was deleted; this is its tombstone."),
  latestVersion: count.describe("VERSION_NOT_FOUND: the file's latest version."),
  version: z.int().nullable()
    .describe("The version that the answer is about, usually the current one; null: there is no file."),
  scope: scope.describe("FORBIDDEN_SCOPE: the scope that the key, or the person's role, lacks."),
  role: z.literal("owner").describe("FORBIDDEN_SCOPE: the role that is needed."),
  suspended: z.literal(true).describe("FORBIDDEN_SCOPE: the operator suspended the project."),
  pathPrefix: z.string().describe("FORBIDDEN_SCOPE: the directory that the key is confined to."),
  limit: count.describe("The limit that is reached or exceeded."),
  running: count.describe(
    "RATE_LIMIT_EXCEEDED: the number of costly requests that the account is running, which is its maximum.",
  ),
  length: count.describe("CONTENT_TOO_LARGE: the length of what was sent, in UTF-16 code units."),
  account: z.boolean().describe("QUOTA_EXCEEDED: the limit is the shared quota of the account's projects."),
  limitBytes: count.describe(
    "CONTENT_TOO_LARGE, QUOTA_EXCEEDED, DIFF_TOO_LARGE, EXPORT_TOO_LARGE: the limit.",
  ),
  sizeBytes: count.describe("The size that is too large, or of the file that ends before the range."),
  tier: z.string().describe("CONTENT_TOO_LARGE: the project's tier, if the limit is that of the tier."),
  nearest: z.array(z.object({ line: version, text: z.string() }))
    .describe(`STRING_NOT_FOUND: the most similar lines, at most ${EDIT_NEAREST_MAX}.`),
  path: z.string().describe("The file that the error is about, if the request concerns several."),
  paths: z.array(z.string()).describe(
    `FILE_ALREADY_EXISTS: files that exist at the destination. PATH_TOO_LONG: files whose paths would be too long. At ` +
      `most ${CONFLICTING_PATHS_SHOWN_MAX}.`,
  ),
  files: count.describe("TOO_MANY_FILES, EXPORT_TOO_LARGE: the number of files, or a minimum of it."),
  limitFiles: count.describe("EXPORT_TOO_LARGE: the largest number of files in one export."),
  segments: count.describe("EXPORT_TOO_LARGE: the number of segments of the files."),
  limitSegments: count.describe("EXPORT_TOO_LARGE: the largest number of segments in one export."),
  trimmed: z.union([z.boolean(), z.array(z.string())]).describe(
    "FILE_NOT_FOUND: the version at that moment was erased; for a folder, the paths of such files.",
  ),
  conflicts: z.union([undoResult.shape.conflicts, mergeResult.shape.conflicts]).describe(
    "RUN_CONFLICT: files that others have changed since, or whose content was erased. MERGE_CONFLICT: files that both " +
      "sides have changed.",
  ),
  state: branchState.describe("BRANCH_CLOSED: the state of the branch."),
  expected: z.literal(true).describe(
    "PRECONDITION_FAILED: the folder was changed since the cursor `expected`.",
  ),
  differsOnlyBy: z.enum(["whitespace", "lineEndings", "case", "escaping"]).nullable()
    .describe("STRING_NOT_FOUND: the only difference between the string and the nearest place."),
  occurrences: count.describe("STRING_NOT_UNIQUE: the number of occurrences of the string."),
  expectedOccurrences: count
    .describe("STRING_NOT_UNIQUE: the number of occurrences that the request expects."),
  lines: z.array(version)
    .describe(`STRING_NOT_UNIQUE: the lines of the occurrences, at most ${EDIT_LINES_REPORTED_MAX}.`),
  index: count.describe("In a batch: the index of the operation that failed, from 0."),
  edit: count.describe("With several edits: the index of the edit that failed, from 0."),
  requestId: z.uuid().describe("INTERNAL_ERROR: the id of the request, as in X-Request-Id."),
}).partial().meta({ id: "FailureDetails" });

const failure = z.object({
  success: z.literal(false),
  error: z.object({ code: z.enum(ERROR_CODES), message: z.string() }),
  operation: z.string().optional().describe("The operation of the route, if it has one."),
  details: details.optional(),
}).meta({ id: "Failure" });

const FAILURE = schemaOf(failure, "output");
