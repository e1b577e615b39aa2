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
  // It takes a key, or an access token with x-project-id.
  key: [...OF_KEY, ...OF_OWNER],
  account: OF_OWNER,
  "account or key": [...OF_KEY, ...OF_OWNER],
  "secret key": ["INVALID_API_KEY"],
  link: ["VALIDATION_ERROR", "LINK_NOT_FOUND", "LINK_EXPIRED", "METHOD_NOT_ALLOWED", "FORBIDDEN_SCOPE"],
};

/** Errors that follow from what the route takes. */
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
  scope: { enum: ["read", "write", "admin"], description: "FORBIDDEN_SCOPE: what the key lacks." },
  suspended: { const: true, description: "FORBIDDEN_SCOPE: the operator suspended the project." },
  pathPrefix: { ...text, description: "FORBIDDEN_SCOPE: the directory that the key is confined to." },
  limit: { ...number, description: "The limit that is reached or exceeded." },
  running: {
    ...number,
    description:
      "RATE_LIMIT_EXCEEDED: how many costly requests of the account are running, which is the most there may be.",
  },
  length: { ...number, description: "CONTENT_TOO_LARGE: the length of what was sent, in UTF-16 code units." },
  account: {
    type: "boolean",
    description: "QUOTA_EXCEEDED: the limit is the account's, for all of its projects.",
  },
  limitBytes: {
    ...number,
    description: "CONTENT_TOO_LARGE, QUOTA_EXCEEDED, DIFF_TOO_LARGE, EXPORT_TOO_LARGE: the limit.",
  },
  sizeBytes: {
    ...number,
    description: "The size that is too large, or of the file that the range is beyond.",
  },
  tier: { ...text, description: "CONTENT_TOO_LARGE: the project's tier, where the limit is its." },
  nearest: {
    ...listOf(recordOf({ line: { type: "integer", minimum: 1 }, text })),
    description: "STRING_NOT_FOUND: the lines that are most alike, at most 3.",
  },
  path: { ...text, description: "Of several files: the one that the error is about." },
  paths: { ...listOf(text), description: "FILE_ALREADY_EXISTS: what exists at the destination, at most 20." },
  files: { ...number, description: "TOO_MANY_FILES, EXPORT_TOO_LARGE: how many they are, at least." },
  limitFiles: { ...number, description: "EXPORT_TOO_LARGE: how many files one export may hold." },
  segments: { ...number, description: "EXPORT_TOO_LARGE: how many stored pieces the files consist of." },
  limitSegments: { ...number, description: "EXPORT_TOO_LARGE: of how many pieces those of one export may." },
  trimmed: {
    type: ["boolean", "array"],
    items: text,
    description: "FILE_NOT_FOUND: what the file was then is gone; of a folder the paths of such files.",
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
    description: "RUN_CONFLICT: files that others have changed since, or whose content is gone.",
  },
  differsOnlyBy: {
    enum: ["whitespace", "lineEndings", "case", "escaping", null],
    description: "STRING_NOT_FOUND: the one thing in which the nearest place differs.",
  },
  occurrences: { ...number, description: "STRING_NOT_UNIQUE: how often the string occurs." },
  expectedOccurrences: { ...number, description: "STRING_NOT_UNIQUE: how often the request says it does." },
  lines: {
    ...listOf({ type: "integer", minimum: 1 }),
    description: "STRING_NOT_UNIQUE: where, at most 100.",
  },
  index: { ...number, description: "Of a batch: the operation that failed, from 0." },
  edit: { ...number, description: "Of several edits the one that failed, from 0." },
  requestId: { ...text, format: "uuid", description: "INTERNAL_ERROR: as in X-Request-Id." },
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
      operation: { type: "string", description: "Of the request, where its route has one." },
      details: { $ref: "#/components/schemas/FailureDetails" },
    },
  },
  FailureDetails: { type: "object", properties: DETAILS },
};
