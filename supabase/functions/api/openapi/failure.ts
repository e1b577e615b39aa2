/** Error responses: the envelope of a failure, what its details may hold, and which codes each status may have. */
import { type ErrorCode, ERRORS } from "../errors.ts";
import type { Credentials } from "../auth/identify.ts";
import { responseHeaders } from "./headers.ts";
import { MEANINGS } from "./meanings.ts";
import type { Json } from "./schemas.ts";
import { type DocumentedError, isStrict, type ResponseHeader, type Route } from "../route.ts";

const OF_OWNER: readonly ErrorCode[] = ["INVALID_SESSION", "PROJECT_NOT_FOUND"];
const OF_KEY: readonly ErrorCode[] = ["INVALID_API_KEY", "FORBIDDEN_SCOPE"];
const OF_CALLER: Readonly<Record<Credentials, readonly ErrorCode[]>> = {
  none: [],
  // The route accepts a key, or an access token with x-project-id.
  key: [...OF_KEY, ...OF_OWNER],
  account: OF_OWNER,
  "account or key": [...OF_KEY, ...OF_OWNER],
  "secret key": ["INVALID_API_KEY"],
  link: ["VALIDATION_ERROR", "LINK_NOT_FOUND", "LINK_EXPIRED", "METHOD_NOT_ALLOWED", "FORBIDDEN_SCOPE"],
};

/** Errors that follow from the inputs of the route. */
function ofRequest(route: Route): DocumentedError[] {
  const { pattern, openapi: { body, takesRaw, headers = [], isPlain, isProtocol } } = route;
  return [
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
  ];
}

function errorsOf(route: Route): readonly DocumentedError[] {
  const { credentials, openapi: { errors = [] } } = route;
  const ofLoad = credentials === "none" ? [] : ["RATE_LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE"] as const;
  return [
    ...new Set([
      ...ofRequest(route),
      ...OF_CALLER[credentials],
      ...ofLoad,
      ...errors,
      "INTERNAL_ERROR" as const,
    ]),
  ];
}

const HEADERS_OF_STATUS: Readonly<Record<number, readonly ResponseHeader[]>> = {
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
      description: codes.map((code) => `\`${code}\`: ${MEANINGS[code]}`).join(" "),
      headers: responseHeaders(HEADERS_OF_STATUS[status] ?? []),
      content: {
        "application/json": {
          schema: {
            allOf: [
              { $ref: "#/components/schemas/Failure" },
              { properties: { error: { properties: { code: { enum: codes } } } } },
            ],
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

const text = { type: "string" };
const number = { type: "integer", minimum: 0 };
function listOf(items: Json): Json {
  return { type: "array", items };
}
function recordOf(properties: Json): Json {
  return { type: "object", required: Object.keys(properties), properties };
}

/** Every field that `details` may have. */
const DETAILS: Json = {
  issues: {
    ...listOf(recordOf({ path: text, reason: text })),
    description: "VALIDATION_ERROR: what is wrong, by parameter, header or dotted field.",
  },
  rule: { ...text, description: "INVALID_PATH: the rule that the path breaks." },
  directory: { const: true, description: "FILE_NOT_FOUND: the path is a directory, which can be listed." },
  deletedVersion: { ...number, description: "FILE_NOT_FOUND: the file was deleted; this is its tombstone." },
  latestVersion: { ...number, description: "VERSION_NOT_FOUND: the file's latest version." },
  version: {
    type: ["integer", "null"],
    description: "The version that the answer is about, usually the current one; null: there is no file.",
  },
  scope: { enum: ["read", "write", "admin"], description: "FORBIDDEN_SCOPE: the scope that the key lacks." },
  suspended: { const: true, description: "FORBIDDEN_SCOPE: the operator suspended the project." },
  pathPrefix: { ...text, description: "FORBIDDEN_SCOPE: the directory that the key is confined to." },
  limit: { ...number, description: "The limit that is reached or exceeded." },
  running: {
    ...number,
    description:
      "RATE_LIMIT_EXCEEDED: the number of costly requests of the account that are running, which is the maximum.",
  },
  length: { ...number, description: "CONTENT_TOO_LARGE: the length of what was sent, in UTF-16 code units." },
  account: {
    type: "boolean",
    description: "QUOTA_EXCEEDED: the limit is the common quota of the account's projects.",
  },
  limitBytes: {
    ...number,
    description: "CONTENT_TOO_LARGE, QUOTA_EXCEEDED, DIFF_TOO_LARGE, EXPORT_TOO_LARGE: the limit.",
  },
  sizeBytes: {
    ...number,
    description: "The size that is too large, or the size of the file that ends before the range.",
  },
  tier: { ...text, description: "CONTENT_TOO_LARGE: the project's tier, if the limit is that of the tier." },
  nearest: {
    ...listOf(recordOf({ line: { type: "integer", minimum: 1 }, text })),
    description: "STRING_NOT_FOUND: the most similar lines, at most 3.",
  },
  path: { ...text, description: "The file that the error is about, if the request concerns several." },
  paths: {
    ...listOf(text),
    description: "FILE_ALREADY_EXISTS: files that exist at the destination, at most 20.",
  },
  files: {
    ...number,
    description: "TOO_MANY_FILES, EXPORT_TOO_LARGE: the number of files, or a minimum of it.",
  },
  limitFiles: { ...number, description: "EXPORT_TOO_LARGE: the largest number of files in one export." },
  segments: { ...number, description: "EXPORT_TOO_LARGE: the number of segments of the files." },
  limitSegments: {
    ...number,
    description: "EXPORT_TOO_LARGE: the largest number of segments in one export.",
  },
  trimmed: {
    type: ["boolean", "array"],
    items: text,
    description:
      "FILE_NOT_FOUND: the version at that moment was erased; for a folder, the paths of such files.",
  },
  conflicts: {
    ...listOf({
      type: "object",
      required: ["path", "version", "actor", "runId"],
      properties: {
        path: text,
        version: number,
        actor: { type: ["string", "null"] },
        runId: { type: ["string", "null"] },
        own: { type: "boolean" },
        keyId: { type: "string", format: "uuid" },
        reason: { enum: ["gone", "moved", "unexamined"] },
      },
    }),
    description: "RUN_CONFLICT: files that others have changed since, or whose content was erased.",
  },
  differsOnlyBy: {
    enum: ["whitespace", "lineEndings", "case", "escaping", null],
    description: "STRING_NOT_FOUND: the only difference between the string and the nearest place.",
  },
  occurrences: { ...number, description: "STRING_NOT_UNIQUE: the number of occurrences of the string." },
  expectedOccurrences: {
    ...number,
    description: "STRING_NOT_UNIQUE: the number of occurrences that the request expects.",
  },
  lines: {
    ...listOf({ type: "integer", minimum: 1 }),
    description: "STRING_NOT_UNIQUE: the lines of the occurrences, at most 100.",
  },
  index: { ...number, description: "In a batch: the index of the operation that failed, from 0." },
  edit: { ...number, description: "With several edits: the index of the edit that failed, from 0." },
  requestId: {
    ...text,
    format: "uuid",
    description: "INTERNAL_ERROR: the id of the request, as in X-Request-Id.",
  },
};

/** `components/schemas` of failures. */
export const FAILURE_SCHEMAS: Json = {
  Failure: {
    type: "object",
    required: ["success", "error"],
    properties: {
      success: { const: false },
      error: {
        type: "object",
        required: ["code", "message"],
        properties: { code: { enum: Object.keys(ERRORS) }, message: { type: "string" } },
      },
      operation: { type: "string", description: "The operation of the route, if it has one." },
      details: { $ref: "#/components/schemas/FailureDetails" },
    },
  },
  FailureDetails: { type: "object", properties: DETAILS },
};
