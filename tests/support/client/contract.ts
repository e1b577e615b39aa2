/** What the wire contract promises of every response, written down apart from the code that has to keep it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { z } from "zod";

/** Error code → HTTP status. */
export const STATUS_OF = {
  INVALID_JSON: 400,
  INVALID_PATH: 400,
  VALIDATION_ERROR: 400,
  INVALID_API_KEY: 401,
  INVALID_SESSION: 401,
  FORBIDDEN_SCOPE: 403,
  FORBIDDEN_ORIGIN: 403,
  FILE_NOT_FOUND: 404,
  VERSION_NOT_FOUND: 404,
  PROJECT_NOT_FOUND: 404,
  KEY_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  LINK_NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  VERSION_CONFLICT: 409,
  RUN_CONFLICT: 409,
  /** 412 where the client made the absence of the file a condition. */
  FILE_ALREADY_EXISTS: 409,
  IDEMPOTENCY_KEY_IN_USE: 409,
  PROJECT_NAME_TAKEN: 409,
  KEY_REVOKED: 409,
  LINK_EXPIRED: 410,
  LINK_USED: 410,
  PRECONDITION_FAILED: 412,
  CONTENT_TOO_LARGE: 413,
  QUOTA_EXCEEDED: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  DIFF_TOO_LARGE: 422,
  EXPORT_TOO_LARGE: 422,
  IDEMPOTENCY_KEY_REUSED: 422,
  KEY_LIMIT_REACHED: 422,
  LINK_LIMIT_REACHED: 422,
  PROJECT_LIMIT_REACHED: 422,
  NOT_TEXT: 422,
  SEARCH_TOO_BROAD: 422,
  STRING_NOT_FOUND: 422,
  STRING_NOT_UNIQUE: 422,
  TOO_MANY_FILES: 422,
  VERSION_CURRENT: 422,
  VERSION_REDACTED: 410,
  VERSION_DELETED: 422,
  RATE_LIMIT_EXCEEDED: 429,
  CONTENT_CORRUPT: 500,
  INTERNAL_ERROR: 500,
  SEMANTIC_SEARCH_UNAVAILABLE: 501,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type Code = keyof typeof STATUS_OF;

export const OPERATIONS = [
  "read_file",
  "get_file_metadata",
  "get_file_versions",
  "list_files",
  "write_file",
  "delete_file",
  "purge_file",
  "redact_versions",
  "restore_file",
  "copy_file",
  "batch",
  "move_file",
  "diff_file",
  "list_changes",
  "export_files",
  "list_runs",
  "get_run",
  "create_link",
  "list_links",
  "revoke_link",
  "read_link",
  "write_link",
  "memory",
  "copy_folder",
  "move_folder",
  "delete_folder",
  "undo_run",
  "restore_folder",
  "list_projects",
  "create_project",
  "get_project",
  "update_project",
  "delete_project",
  "get_account",
  "delete_account",
  "list_activity",
  "get_usage",
  "list_api_keys",
  "create_api_key",
  "rotate_api_key",
  "regenerate_api_key",
  "update_api_key",
  "revoke_api_key",
  "search_files",
  "mcp",
  "sweep",
] as const;

export type OperationName = (typeof OPERATIONS)[number];

/** Shown as limit and remaining where there is no limit. */
export const NO_LIMIT = 2_147_483_647;

/** ISO 8601, UTC, milliseconds, Z. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const timestamp = z.string().regex(TIMESTAMP);
const size = z.int().min(0);

export const fileRecord = z.strictObject({
  id: z.uuid(),
  path: z.string(),
  version: z.int().min(1),
  mimeType: z.string(),
  size,
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type FileRecord = z.infer<typeof fileRecord>;

export const readRecord = fileRecord.extend({ content: z.string(), isBase64: z.literal(true).optional() });
/** Of a batch: what each operation made. */
export const batchResults = z.strictObject({
  results: z.array(fileRecord.extend({
    deleted: z.literal(true).optional(),
    replacements: z.int().min(1).optional(),
  })),
});

export const editRecord = fileRecord.extend({ replacements: z.int().min(1) });

/** What made a version, and what was said of it. */
const origin = {
  operation: z.enum([
    "write",
    "append",
    "overwrite",
    "edit",
    "delete",
    "restore",
    "copy",
    "move",
    "undo",
    "purge",
  ]),
  runId: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/).optional(),
  actor: z.string().regex(/^[ -~]{1,128}$/).optional(),
  note: z.string().optional(),
  from: z.strictObject({ path: z.string(), version: z.int().min(1) }).optional(),
};

export const versionList = z.strictObject({
  file: z.strictObject({ path: z.string(), mimeType: z.string() }),
  versions: z.array(
    z.strictObject({
      version: z.int().min(1),
      size,
      createdAt: timestamp,
      updatedAt: timestamp,
      deleted: z.literal(true).optional(),
      redactedAt: timestamp.optional(),
      cursor: z.string().regex(/^[0-9a-f]{32}$/),
      ...origin,
    }),
  ),
  total: z.int().min(1),
  limit: z.int().min(1),
  offset: z.int().min(0),
});

/** To the owner of a project a version list says more; without `keyId`: written in the console. */
export const ownersVersionList = versionList.extend({
  versions: z.array(versionList.shape.versions.element.extend({ keyId: z.uuid().optional() })),
});

export const redactRecord = z.strictObject({
  path: z.string(),
  versions: z.array(z.int().min(1)).min(1),
  remaining: z.array(z.strictObject({ path: z.string(), version: z.int().min(1) })).max(20),
});

export const purgeRecord = z.strictObject({
  path: z.string(),
  versions: z.int().min(1),
  bytes: size,
  pendingVersions: size,
});

const cursor = z.string().regex(/^[0-9a-f]{32}$/);

export const changePage = z.strictObject({
  changes: z.array(z.strictObject({
    cursor,
    path: z.string().optional(),
    fileId: z.uuid(),
    version: z.int().min(1),
    size,
    mimeType: z.string(),
    deleted: z.literal(true).optional(),
    commitId: z.uuid(),
    ...origin,
    createdAt: timestamp,
  })),
  cursor,
  hasMore: z.boolean(),
});
export type ChangePage = z.infer<typeof changePage>;

/** To the owner, and to keys with the scope admin, the feed says more; without `keyId`: written in the console. */
export const ownersChangePage = changePage.extend({
  changes: z.array(changePage.shape.changes.element.extend({ keyId: z.uuid().optional() })),
});

const run = z.strictObject({
  runId: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/),
  actors: z.array(z.string()).max(20),
  fileCount: z.int().min(1),
  versionCount: z.int().min(1),
  firstAt: timestamp,
  lastAt: timestamp,
  countsAreExact: z.literal(false).optional(),
});
export const runPage = z.strictObject({ runs: z.array(run), cursor, hasMore: z.boolean() });
export const runDetails = run.extend({
  files: z.array(z.strictObject({
    path: z.string(),
    fileId: z.uuid(),
    firstVersion: z.int().min(1),
    lastVersion: z.int().min(1),
    operation: origin.operation,
    own: z.boolean(),
    keyIds: z.array(z.uuid()).optional(),
  })),
  hasMore: z.boolean(),
});

/** A project or an account that was deleted. */
export const deletedRecord = z.strictObject({ id: z.uuid(), deletedAt: timestamp });

const limitOrNone = z.int().min(1).nullable();
export const projectRecord = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  tier: z.enum(["free", "pro", "enterprise"]),
  createdAt: timestamp,
  limits: z.strictObject({
    requestsPerMinute: limitOrNone,
    maxFileBytes: limitOrNone,
    maxProjectBytes: limitOrNone,
  }),
  retention: z.strictObject({
    keepVersions: z.int().optional(),
    keepDays: z.int().optional(),
    deletedDays: z.int().optional(),
  }).nullable(),
  usage: z.strictObject({
    files: size,
    bytes: size,
    databaseBytes: size,
    versions: size,
    requestsThisMinute: size,
  }),
  keyPrefix: z.string().startsWith("oa_").nullable(),
});
/** Of PATCH /project with `dryRun`. */
export const previewRecord = projectRecord.extend({
  wouldRemove: z.strictObject({
    versions: z.int().min(0),
    files: z.int().min(0),
    examples: z.array(z.strictObject({ path: z.string(), versions: z.int().min(1), whole: z.boolean() })),
    lookedAt: z.int().min(0),
    isComplete: z.boolean(),
  }),
});
export const projectList = z.strictObject({ projects: z.array(projectRecord) });

export const accountRecord = z.strictObject({
  id: z.uuid(),
  email: z.string().nullable(),
  projectMakers: z.enum(["anyone", "listed", "nobody"]),
  mayCreateProjects: z.boolean(),
  reason: z.enum(["operator_only", "not_listed", "address_unconfirmed", "project_limit"]).nullable(),
  limits: z.strictObject({ requestsPerMinute: size, maxProjects: size, maxSharedBytes: size.nullable() }),
  usage: z.strictObject({
    requestsThisMinute: size,
    projects: size,
    sharedBytes: size,
  }),
});

export const keyRecord = z.strictObject({
  id: z.uuid(),
  prefix: z.string().startsWith("oa_"),
  name: z.string(),
  environment: z.enum(["development", "production"]),
  scopes: z.array(z.enum(["read", "write", "admin"])).min(1),
  pathPrefix: z.string().nullable(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
});
export const keyList = z.strictObject({ keys: z.array(keyRecord) });
export const newKeyRecord = keyRecord.extend({ key: z.string().startsWith("oa_") });
export const rotatedKeyRecord = newKeyRecord.extend({ replaced: keyRecord.nullable() });

export const newLink = z.strictObject({
  id: z.uuid(),
  url: z.url(),
  method: z.enum(["GET", "PUT"]),
  path: z.string(),
  expiresAt: z.string().regex(TIMESTAMP),
  curl: z.string(),
});
export const linkRecord = z.strictObject({
  id: z.uuid(),
  for: z.enum(["read", "write"]),
  path: z.string(),
  version: z.int().optional(),
  contentType: z.string().optional(),
  maxBytes: z.int().optional(),
  ifVersion: z.int().optional(),
  keyId: z.uuid().optional(),
  createdAt: z.string().regex(TIMESTAMP),
  expiresAt: z.string().regex(TIMESTAMP),
});
export const revokedLink = z.strictObject({ id: z.uuid(), revokedAt: z.string().regex(TIMESTAMP) });
export const linkList = z.strictObject({ links: z.array(linkRecord) });

const usageDone = { requests: z.int().min(0), versions: z.int().min(0), bytesWritten: z.int().min(0) };
const day = z.string().regex(/^\d{4}-\d\d-\d\d$/);
/** Of a project, by day and by key. */
export const usageRecord = z.strictObject({
  from: day,
  to: day,
  days: z.array(z.strictObject({
    day,
    ...usageDone,
    bytes: size.nullable(),
    databaseBytes: size.nullable(),
  })),
  keys: z.array(z.strictObject({
    keyId: z.uuid().nullable(),
    name: z.string().nullable(),
    prefix: z.string().nullable(),
    ...usageDone,
  })),
  keyCount: z.int().min(0),
});

export const activityList = z.strictObject({
  activity: z.array(z.strictObject({
    fileId: z.uuid(),
    path: z.string(),
    version: z.int().min(1),
    size,
    mimeType: z.string(),
    deleted: z.literal(true).optional(),
    ...origin,
    createdAt: timestamp,
    keyId: z.uuid().nullable(),
  })),
});

export const fileList = z.strictObject({
  files: z.array(fileRecord.extend({ deleted: z.literal(true).optional() })),
  directories: z.array(z.string()).optional(),
  total: z.int().min(0).nullable(),
  totalIsExact: z.literal(false).optional(),
  limit: z.int().min(1),
  offset: z.int().min(0),
  hasMore: z.boolean(),
});

export const health = z.strictObject({
  status: z.enum(["ok", "degraded"]),
  timestamp,
  message: z.string().min(1),
  version: z.string().min(1),
});

const success = z.strictObject({
  success: z.literal(true),
  data: z.record(z.string(), z.unknown()),
  operation: z.enum(OPERATIONS),
  message: z.string().min(1),
});

const failure = z.strictObject({
  success: z.literal(false),
  error: z.strictObject({ code: z.string(), message: z.string().min(1) }),
  operation: z.enum(OPERATIONS).optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** One response, read to its end. */
export interface Answer {
  readonly method: string;
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The body parsed as JSON; undefined where there is none. */
  readonly body: unknown;
}

export interface Rate {
  readonly limit: number;
  readonly remaining: number;
  /** UTC epoch seconds. */
  readonly reset: number;
}

export interface Circumstances {
  /** When the request was sent, in milliseconds since the epoch. */
  readonly sentAt: number;
  /** Whether a test has moved the window into the future. */
  readonly isWindowFrozen: boolean;
  /** How far the service's clock is ahead of ours. Default 0. */
  readonly clockAheadMilliseconds?: number;
}

/** What holds for every response of the service, whatever was asked. */
export function assertInvariants(answer: Answer, circumstances: Circumstances): void {
  const { headers, status } = answer;
  assertRateHeaders(headers, circumstances);
  assertMatch(header(headers, "x-request-id"), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assertEquals(headers.get("access-control-allow-origin"), "*");
  const exposed = header(headers, "access-control-expose-headers").toLowerCase().split(/,\s*/);
  for (
    const name of [
      "x-ratelimit-limit",
      "x-ratelimit-remaining",
      "x-ratelimit-reset",
      "ratelimit",
      "ratelimit-policy",
      "retry-after",
      "etag",
      "x-request-id",
    ]
  ) assert(exposed.includes(name), `${name} is not exposed`);
  if (headers.has("etag")) assertTagHeaders(headers);
  if (status === 202 || status === 204 || status === 304) {
    assertEquals(answer.text, "");
    return;
  }
  // The bytes of a file, of whatever type.
  if (headers.has("accept-ranges")) return;
  // Only /llms.txt; which route may answer with text is compared with the OpenAPI document.
  if (status === 200 && headers.get("content-type") === "text/plain; charset=utf-8") return;
  assertEquals(headers.get("content-type"), "application/json; charset=utf-8");
  assertEquals(headers.has("www-authenticate"), status === 401);
  assertEquals(headers.has("allow"), status === 405);
  const isInUse = status === 409 && answer.text.includes("IDEMPOTENCY_KEY_IN_USE");
  assertEquals(headers.has("retry-after"), status === 429 || status === 503 || isInUse);
  if (headers.has("retry-after")) assertMatch(header(headers, "retry-after"), /^[1-9]\d*$/);
  if (status >= 400) assertFailureShape(answer);
}

/** Whoever may compress an answer must leave one with an entity tag as it is: the tag is that of its bytes. */
function assertTagHeaders(headers: Headers): void {
  assertMatch(header(headers, "etag"), /^"[0-9a-f-]{36}\.[1-9]\d*\.[jrm]"$/);
  assertEquals(headers.get("cache-control"), "private, no-cache, no-transform");
  assertEquals(headers.get("content-encoding"), null);
}

/** The headers that tell a client where it stands. */
export function rateOf(headers: Headers): Rate {
  return {
    limit: Number(header(headers, "x-ratelimit-limit")),
    remaining: Number(header(headers, "x-ratelimit-remaining")),
    reset: Number(header(headers, "x-ratelimit-reset")),
  };
}

function assertRateHeaders(
  headers: Headers,
  { sentAt, isWindowFrozen, clockAheadMilliseconds = 0 }: Circumstances,
): void {
  for (const name of ["limit", "remaining", "reset"]) {
    assertMatch(header(headers, `x-ratelimit-${name}`), /^(0|[1-9]\d*)$/);
  }
  const { limit, remaining, reset } = rateOf(headers);
  assert(limit >= 1 && remaining <= limit, `remaining ${remaining} of ${limit}`);
  // The end of the clock minute in which the answer was made: between sending and now, give or take a second.
  const secondsAtMost = reset - (sentAt + clockAheadMilliseconds) / 1000 + 1;
  const secondsAtLeast = reset - (Date.now() + clockAheadMilliseconds) / 1000 - 1;
  assertEquals(reset % 60, 0, "the window is the clock minute");
  assert(secondsAtMost > 0 && (isWindowFrozen || secondsAtLeast <= 60), `reset in ${secondsAtLeast} s`);
  assertEquals(headers.get("ratelimit-policy"), `"default";q=${limit};w=60`);
  const [, shown, seconds] = /^"default";r=(\d+);t=(\d+)$/.exec(header(headers, "ratelimit")) ?? [];
  assertEquals(Number(shown), remaining);
  assert(
    Number(seconds) >= Math.floor(secondsAtLeast) && Number(seconds) <= Math.ceil(secondsAtMost),
    `RateLimit says ${seconds} s`,
  );
}

function assertFailureShape({ method, status, headers, body, text }: Answer): void {
  assertEquals(headers.get("cache-control"), "no-store");
  if (method === "HEAD" || isHealth(body) || isProtocolFault(body)) return;
  const parsed = failure.parse(body);
  const [, expected] = Object.entries(STATUS_OF).find(([code]) => code === parsed.error.code) ?? [];
  const isCondition = parsed.error.code === "FILE_ALREADY_EXISTS" && status === 412;
  assertEquals(status, isCondition ? 412 : expected, `${parsed.error.code} has another status`);
  for (const internal of ["supabase", "postgres", "filestore_", "    at ", "sb_secret", "/api/domain"]) {
    assert(!text.toLowerCase().includes(internal), `the answer tells of internals: ${internal}`);
  }
}

/** A JSON-RPC error of /mcp. */
function isProtocolFault(body: unknown): boolean {
  return z.strictObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.number(), z.null()]).optional(),
    error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
  }).safeParse(body).success;
}

function isHealth(body: unknown): boolean {
  return health.safeParse(body).success;
}

function header(headers: Headers, name: string): string {
  const value = headers.get(name);
  if (value === null) throw new Error(`the header ${name} is missing`);
  return value;
}

/** The operation that an answer names. */
export function operationOf(answer: Answer): unknown {
  return z.looseObject({ operation: z.unknown() }).parse(answer.body).operation;
}

/** The data of a success: status 200, the operation's name and nothing but the contract's fields. */
export function dataOf<T>(answer: Answer, operation: OperationName, schema: z.ZodType<T>): T {
  assertEquals(answer.status, 200, answer.text.slice(0, 500));
  const parsed = success.parse(answer.body);
  assertEquals(parsed.operation, operation);
  // With an entity tag it says more; see assertInvariants.
  if (!answer.headers.has("etag")) assertEquals(answer.headers.get("cache-control"), "private, no-cache");
  return schema.parse(parsed.data);
}

/** Asserts the refusal and answers its details, an empty object where it has none. */
export function assertRefused(
  answer: Answer,
  code: Code,
  operation?: OperationName | undefined,
): Record<string, unknown> {
  assertEquals(answer.status, STATUS_OF[code], answer.text.slice(0, 500));
  const parsed = failure.parse(answer.body);
  assertEquals(parsed.error.code, code);
  if (operation !== undefined) assertEquals(parsed.operation, operation);
  return parsed.details ?? {};
}

/** The paths of `details.issues`, each of which must give a reason. */
export function issuePaths(details: Record<string, unknown>): string[] {
  return issuesOf(details).map((issue) => issue.path);
}

export function issuesOf(details: Record<string, unknown>): { path: string; reason: string }[] {
  return z.looseObject({
    issues: z.array(z.strictObject({ path: z.string(), reason: z.string().min(1) })).min(1),
  }).parse(details).issues;
}
