/** The headers of requests and responses, each described once. */
import { ACTOR_LENGTH_MAX, IDEMPOTENCY_KEY_LENGTH_MAX, RUN_ID_LENGTH_MAX } from "../limits.ts";
import type { ResponseHeader } from "../route.ts";
import type { Json } from "./schemas.ts";

interface HeaderEntry {
  readonly description: string;
  readonly schema: Json;
  readonly example?: string | number;
}

const TAG = '"0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b.3.j"';
const text = { type: "string" };
const count = { type: "integer", minimum: 0 };

export const REQUEST_HEADERS: Readonly<Record<string, HeaderEntry>> = {
  "If-Match": {
    description:
      "The file's latest version must have one of these entity tags, or exist for `*`: otherwise 412.",
    schema: text,
    example: TAG,
  },
  "If-None-Match": {
    description:
      "On a read: entity tags that the client has; if one is current, the answer is 304. On a write: `*`, create only.",
    schema: text,
    example: TAG,
  },
  "Idempotency-Key": {
    description:
      "Makes a retry safe: a request with the same key, route and body within 24 hours only gets the first answer again.",
    schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH_MAX, pattern: "^[ -~]+$" },
    example: "5f2b6f0e-append-1",
  },
  Range: {
    description: "With `Accept: application/octet-stream`: one range of bytes, answered with 206.",
    schema: text,
    example: "bytes=0-1023",
  },
  "If-Range": {
    description: "The entity tag to which `Range` applies; if the file has another one, all bytes are sent.",
    schema: text,
    example: TAG.replace(".j", ".r"),
  },
  "MCP-Protocol-Version": {
    description: "The revision of the protocol; 2025-era clients send it after `initialize`.",
    schema: { enum: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] },
    example: "2026-07-28",
  },
  "Mcp-Method": {
    description: "From 2026-07-28 on: the message's `method`.",
    schema: text,
    example: "tools/call",
  },
  "Mcp-Name": { description: "From 2026-07-28 on: the tool's name.", schema: text, example: "read_file" },
  Origin: {
    description:
      "Sent by browsers: a loopback origin, the service's own, or one that the operator has named.",
    schema: text,
    example: "http://localhost:6274",
  },
  "X-Run-Id": {
    description: "The run that the change belongs to. Clients can list and undo the changes of a run.",
    schema: { type: "string", minLength: 1, maxLength: RUN_ID_LENGTH_MAX, pattern: "^[A-Za-z0-9._:-]+$" },
    example: "run-2026-11-20-1",
  },
  "X-Actor": {
    description: "Who makes the change, as chosen by the client.",
    schema: { type: "string", minLength: 1, maxLength: ACTOR_LENGTH_MAX, pattern: "^[ -~]+$" },
    example: "researcher",
  },
  "X-Change-Note": {
    description: "Why the change is made: percent-encoded UTF-8, at most 500 characters decoded.",
    schema: text,
    example: "first%20draft",
  },
  "x-project-id": {
    description: "With an account's access token: the project to use. A key belongs to one project.",
    schema: { type: "string", format: "uuid" },
    example: "0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b",
  },
};

/** On every response of the service. */
const COMMON: Readonly<Record<string, HeaderEntry>> = {
  "X-Request-Id": {
    description: "Identifies the request in the logs.",
    schema: { type: "string", format: "uuid" },
  },
  "X-RateLimit-Limit": {
    description: "Requests a minute; 2147483647 if there is no limit.",
    schema: { type: "integer", minimum: 1 },
    example: 100,
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in this minute.",
    schema: count,
    example: 97,
  },
  "X-RateLimit-Reset": {
    description: "When the minute ends, in seconds since 1970 (UTC).",
    schema: count,
    example: 1_763_740_800,
  },
  RateLimit: {
    description:
      "The remaining requests, and the seconds until the window ends, in the form of the IETF draft.",
    schema: text,
    example: '"default";r=97;t=31',
  },
  "RateLimit-Policy": {
    description: "The limit in the form of the IETF draft.",
    schema: text,
    example: '"default";q=100;w=60',
  },
  "Cache-Control": { description: "How the response may be cached.", schema: text },
};

/** On some responses. */
const PARTICULAR: Readonly<Record<ResponseHeader, HeaderEntry>> = {
  ETag: {
    description: "A strong entity tag: each version of a file has its own for each representation.",
    schema: text,
    example: TAG,
  },
  "Idempotency-Replayed": {
    description:
      "`true`: this is the answer to an earlier request with this Idempotency-Key; the service did nothing now.",
    schema: { const: "true" },
  },
  "Retry-After": {
    description: "Seconds after which to try again.",
    schema: { type: "integer", minimum: 1 },
    example: 31,
  },
  Allow: { description: "The methods that the route accepts.", schema: text, example: "GET, HEAD" },
  "Accept-Ranges": {
    description: "`bytes`: clients can request one range of the bytes; `none`: they cannot.",
    schema: { enum: ["bytes", "none"] },
  },
  "Content-Range": {
    description: "The range that was sent and the size of the file; with 416 only the size.",
    schema: { type: "string", pattern: "^bytes (\\d+-\\d+|\\*)/\\d+$" },
    example: "bytes 0-1023/10240",
  },
  "X-Content-Type-Options": { description: "`nosniff`.", schema: { const: "nosniff" } },
  "Content-Security-Policy": {
    description: "A browser executes nothing of the file.",
    schema: text,
  },
  "Content-Disposition": {
    description: "Makes a browser save the file under its name.",
    schema: text,
    example: 'attachment; filename="plan.md"',
  },
  "Referrer-Policy": {
    description: "A browser does not send the address to other sites.",
    schema: { const: "no-referrer" },
  },
  "WWW-Authenticate": { description: "`Bearer`.", schema: { const: "Bearer" } },
};

/** `headers` of a response: those of every one, and these. */
export function responseHeaders(particular: readonly ResponseHeader[]): Json {
  const names = [...Object.keys(COMMON), ...particular];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** `components/headers`. */
export const HEADER_COMPONENTS: Json = {
  ...Object.fromEntries(Object.entries(COMMON).map(([name, entry]) => [name, { required: true, ...entry }])),
  ...PARTICULAR,
};
