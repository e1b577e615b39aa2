/** What every response must fulfil. Records are those of the contract, with all of their fields and no others. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { z } from "zod";
import { type ErrorCode, ERRORS } from "../../../supabase/functions/api/contract/errors.ts";
import { changedProject } from "../../../supabase/functions/api/contract/projects.ts";
import { health, type Operation, OPERATIONS } from "../../../supabase/functions/api/contract/service.ts";
import {
  changePage as ownersChangePage,
  versionList as ownersVersionList,
} from "../../../supabase/functions/api/contract/versions.ts";

export {
  batchResults,
  diffRecord,
  editPreview,
  editRecord,
  fileList,
  type FileRecord,
  fileRecord,
  purged as purgeRecord,
  readRecord,
  redacted as redactRecord,
  tombstone,
} from "../../../supabase/functions/api/contract/files.ts";
export {
  key as keyRecord,
  keyList,
  newKey as newKeyRecord,
  rotatedKey as rotatedKeyRecord,
} from "../../../supabase/functions/api/contract/keys.ts";
export {
  createdLink as newLink,
  link as linkRecord,
  linkList,
  revokedLink,
} from "../../../supabase/functions/api/contract/links.ts";
export {
  member as memberRecord,
  memberList,
  newMember as newMemberRecord,
  removedMember as removedMemberRecord,
} from "../../../supabase/functions/api/contract/members.ts";
export {
  account as accountRecord,
  deletion as deletedRecord,
  project as projectRecord,
  projectList,
  projectList as invitationList,
} from "../../../supabase/functions/api/contract/projects.ts";
export { runDetails, runPage } from "../../../supabase/functions/api/contract/runs.ts";
export { usage as usageRecord } from "../../../supabase/functions/api/contract/usage.ts";
export { activity as activityList } from "../../../supabase/functions/api/contract/versions.ts";
export { health, type Operation as OperationName, OPERATIONS, ownersChangePage, ownersVersionList };

export type Code = ErrorCode;

/** The HTTP status of an error; FILE_ALREADY_EXISTS is 412 if the client sent the file's absence as a condition. */
export function statusOf(code: Code): number {
  return ERRORS[code].status;
}

/** The limit and the remaining number shown for a project without a limit. */
export const NO_LIMIT = 2_147_483_647;

/** ISO 8601, UTC, milliseconds, Z. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Only the owner and keys with the scope admin see in a version list which key wrote a version. */
export const versionList = ownersVersionList.extend({
  versions: z.array(ownersVersionList.shape.versions.element.omit({ keyId: true })),
});

/** The same holds for the change feed. */
export const changePage = ownersChangePage.extend({
  changes: z.array(ownersChangePage.shape.changes.element.omit({ keyId: true })),
});
export type ChangePage = z.infer<typeof changePage>;

/** The answer of PATCH /project with `dryRun`. */
export const previewRecord = changedProject.required({ wouldRemove: true });

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
  /** The body parsed as JSON; undefined if it is not JSON. */
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
  /** Milliseconds by which the service's clock is ahead of ours. Default 0. */
  readonly clockAheadMilliseconds?: number;
}

/** Asserts what holds for every response of the service, to any request. */
export function assertInvariants(answer: Answer, circumstances: Circumstances): void {
  const { headers, status } = answer;
  assertRateHeaders(headers, circumstances);
  assertMatch(header(headers, "x-request-id"), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assertEquals(headers.get("access-control-allow-origin"), "*");
  const exposed = header(headers, "access-control-expose-headers").toLowerCase().split(/,\s*/);
  for (
    const name of [
      ..."x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset ratelimit ratelimit-policy".split(" "),
      ..."retry-after etag x-request-id".split(" "),
    ]
  ) assert(exposed.includes(name), `${name} is not exposed`);
  if (headers.has("etag")) assertTagHeaders(headers);
  if ([202, 204, 302, 304].includes(status)) {
    assertEquals(answer.text, "");
    return;
  }
  // A file's bytes, of any type.
  if (headers.has("accept-ranges")) return;
  // Only /llms.txt. A comparison with the OpenAPI document checks which routes may answer with text.
  if (status === 200 && headers.get("content-type") === "text/plain; charset=utf-8") return;
  assertEquals(headers.get("content-type"), "application/json; charset=utf-8");
  assertEquals(headers.has("www-authenticate"), status === 401);
  assertEquals(headers.has("allow"), status === 405);
  const isInUse = status === 409 && answer.text.includes("IDEMPOTENCY_KEY_IN_USE");
  assertEquals(headers.has("retry-after"), status === 429 || status === 503 || isInUse);
  if (headers.has("retry-after")) assertMatch(header(headers, "retry-after"), /^[1-9]\d*$/);
  if (status >= 400) assertFailureShape(answer);
}

/** An entity tag is that of the answer's bytes, so an answer that has one must not be compressed on its way. */
function assertTagHeaders(headers: Headers): void {
  assertMatch(header(headers, "etag"), /^"[0-9a-f-]{36}\.[1-9]\d*\.[jrm]"$/);
  assertEquals(headers.get("cache-control"), "private, no-cache, no-transform");
  assertEquals(headers.get("content-encoding"), null);
}

/** The headers that report the rate limit. */
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
  // The reset is the end of the clock minute of the answer, which came between sending and now; a second of tolerance.
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
  if (method === "HEAD" || isHealth(body) || isProtocolFault(body) || isOAuthFault(body)) return;
  const parsed = failure.parse(body);
  const [, expected] = Object.entries(ERRORS).find(([code]) => code === parsed.error.code) ?? [];
  const isCondition = parsed.error.code === "FILE_ALREADY_EXISTS" && status === 412;
  assertEquals(status, isCondition ? 412 : expected?.status, `${parsed.error.code} has another status`);
  for (const internal of ["supabase", "postgres", "filestore_", "    at ", "sb_secret", "/api/domain"]) {
    assert(!text.toLowerCase().includes(internal), `the answer tells of internals: ${internal}`);
  }
}

/** An error of the routes of OAuth (RFC 6749, section 5.2). */
function isOAuthFault(body: unknown): boolean {
  return z.strictObject({ error: z.string().min(1), error_description: z.string().min(1) }).safeParse(body)
    .success;
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
export function dataOf<T>(answer: Answer, operation: Operation, schema: z.ZodType<T>): T {
  assertEquals(answer.status, 200, answer.text.slice(0, 500));
  const parsed = success.parse(answer.body);
  assertEquals(parsed.operation, operation);
  // An answer with an entity tag has more directives; see assertInvariants.
  if (!answer.headers.has("etag")) assertEquals(answer.headers.get("cache-control"), "private, no-cache");
  const data = schema.parse(parsed.data);
  assertEquals<unknown>(parsed.data, data, "the answer has a field that the contract does not have");
  return data;
}

/** Asserts the refusal and returns its details, an empty object if it has none. */
export function assertRefused(
  answer: Answer,
  code: Code,
  operation?: Operation | undefined,
): Record<string, unknown> {
  assertEquals(answer.status, statusOf(code), answer.text.slice(0, 500));
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
