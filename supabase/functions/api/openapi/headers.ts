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
    description: "Entity tags of which the file's current version must have one, or `*`: otherwise 412.",
    schema: text,
    example: TAG,
  },
  "If-None-Match": {
    description:
      "On a read: entity tags of what the client has, answered with 304. On a write: `*`, create only.",
    schema: text,
    example: TAG,
  },
  "Idempotency-Key": {
    description:
      "Makes a retry safe: the same key, route and body within 24 hours gives the first answer again and does nothing.",
    schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH_MAX, pattern: "^[ -~]+$" },
    example: "5f2b6f0e-append-1",
  },
  Range: {
    description: "With `Accept: application/octet-stream`: one range of bytes, answered with 206.",
    schema: text,
    example: "bytes=0-1023",
  },
  "If-Range": {
    description: "The entity tag for which `Range` holds; with another one all bytes are sent.",
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
    description: "Sent by browsers: loopback, the service's own, or one that the operator has named.",
    schema: text,
    example: "http://localhost:6274",
  },
  "X-Run-Id": {
    description: "The run that the change belongs to: what it changed can be listed, and undone.",
    schema: { type: "string", minLength: 1, maxLength: RUN_ID_LENGTH_MAX, pattern: "^[A-Za-z0-9._:-]+$" },
    example: "run-2026-11-20-1",
  },
  "X-Actor": {
    description: "Who makes the change, as the client says.",
    schema: { type: "string", minLength: 1, maxLength: ACTOR_LENGTH_MAX, pattern: "^[ -~]+$" },
    example: "researcher",
  },
  "X-Change-Note": {
    description: "Why: percent-encoded UTF-8, decoded at most 500 characters.",
    schema: text,
    example: "first%20draft",
  },
  "x-project-id": {
    description: "With an account's access token: which of its projects. A key has its own.",
    schema: { type: "string", format: "uuid" },
    example: "0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b",
  },
};

/** On every response of the service. */
const COMMON: Readonly<Record<string, HeaderEntry>> = {
  "X-Request-Id": {
    description: "Finds the request in the logs.",
    schema: { type: "string", format: "uuid" },
  },
  "X-RateLimit-Limit": {
    description: "Requests a minute; 2147483647 where there is no limit.",
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
    description: "The same in the form of the IETF draft: what is left, and for how many seconds.",
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
    description: "Strong; one for each version of a file and each representation of it.",
    schema: text,
    example: TAG,
  },
  "Idempotency-Replayed": {
    description: "`true`: the answer to an earlier request with this Idempotency-Key; nothing was done now.",
    schema: { const: "true" },
  },
  "Retry-After": {
    description: "Seconds after which to try again.",
    schema: { type: "integer", minimum: 1 },
    example: 31,
  },
  Allow: { description: "The methods that it takes.", schema: text, example: "GET, HEAD" },
  "Accept-Ranges": {
    description: "`bytes`: one range of the bytes can be asked for; `none`: it is all or nothing.",
    schema: { enum: ["bytes", "none"] },
  },
  "Content-Range": {
    description: "Which bytes were sent, and how many there are; with 416 how many there are.",
    schema: { type: "string", pattern: "^bytes (\\d+-\\d+|\\*)/\\d+$" },
    example: "bytes 0-1023/10240",
  },
  "X-Content-Type-Options": { description: "`nosniff`.", schema: { const: "nosniff" } },
  "Content-Security-Policy": {
    description: "Whatever the bytes are, a browser executes nothing.",
    schema: text,
  },
  "Content-Disposition": {
    description: "A browser saves the file under its name.",
    schema: text,
    example: 'attachment; filename="plan.md"',
  },
  "Referrer-Policy": { description: "The address is not passed on.", schema: { const: "no-referrer" } },
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
