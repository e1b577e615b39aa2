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

function header(schema: Json, description: string, example?: string | number): HeaderEntry {
  return { description, schema, ...(example !== undefined && { example }) };
}

export const REQUEST_HEADERS: Readonly<Record<string, HeaderEntry>> = {
  "If-Match": header(
    text,
    "The file's latest version must have one of these entity tags, or exist for `*`: otherwise 412.",
    TAG,
  ),
  "If-None-Match": header(
    text,
    "On a read: entity tags that the client has; if one is current, the answer is 304. On a write: `*`, create only.",
    TAG,
  ),
  "Idempotency-Key": header(
    { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH_MAX, pattern: "^[ -~]+$" },
    "Makes a retry safe: a request with the same key, route and body within 24 hours only gets the first answer again.",
    "5f2b6f0e-append-1",
  ),
  Range: header(
    text,
    "With `Accept: application/octet-stream`: one range of bytes, answered with 206.",
    "bytes=0-1023",
  ),
  "If-Range": header(
    text,
    "The entity tag to which `Range` applies; if the file has another one, all bytes are sent.",
    TAG.replace(".j", ".r"),
  ),
  "MCP-Protocol-Version": header(
    { enum: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] },
    "The revision of the protocol; 2025-era clients send it after `initialize`.",
    "2026-07-28",
  ),
  "Mcp-Method": header(text, "From 2026-07-28 on: the message's `method`.", "tools/call"),
  "Mcp-Name": header(text, "From 2026-07-28 on: the tool's name.", "read_file"),
  Origin: header(
    text,
    "Sent by browsers: a loopback origin, the service's own, or one that the operator has named.",
    "http://localhost:6274",
  ),
  "X-Run-Id": header(
    { type: "string", minLength: 1, maxLength: RUN_ID_LENGTH_MAX, pattern: "^[A-Za-z0-9._:-]+$" },
    "The run that the change belongs to. Clients can list and undo the changes of a run.",
    "run-2026-11-20-1",
  ),
  "X-Actor": header(
    { type: "string", minLength: 1, maxLength: ACTOR_LENGTH_MAX, pattern: "^[ -~]+$" },
    "Who makes the change, as chosen by the client.",
    "researcher",
  ),
  "X-Change-Note": header(
    text,
    "Why the change is made: percent-encoded UTF-8, at most 500 characters decoded.",
    "first%20draft",
  ),
  "x-project-id": header(
    { type: "string", format: "uuid" },
    "With an account's access token: the project to use. A key belongs to one project.",
    "0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b",
  ),
};

/** The headers of every response of the service. */
const COMMON: Readonly<Record<string, HeaderEntry>> = {
  "X-Request-Id": header({ type: "string", format: "uuid" }, "Identifies the request in the logs."),
  "X-RateLimit-Limit": header(
    { type: "integer", minimum: 1 },
    "Requests a minute; 2147483647 if there is no limit.",
    100,
  ),
  "X-RateLimit-Remaining": header(count, "Requests left in this minute.", 97),
  "X-RateLimit-Reset": header(count, "When the minute ends, in seconds since 1970 (UTC).", 1_763_740_800),
  RateLimit: header(
    text,
    "The remaining requests, and the seconds until the window ends, in the form of the IETF draft.",
    '"default";r=97;t=31',
  ),
  "RateLimit-Policy": header(text, "The limit in the form of the IETF draft.", '"default";q=100;w=60'),
  "Cache-Control": header(text, "How the answer may be cached."),
};

const PARTICULAR: Readonly<Record<ResponseHeader, HeaderEntry>> = {
  ETag: header(text, "A strong entity tag: each version of a file has its own for each representation.", TAG),
  "Idempotency-Replayed": header(
    { const: "true" },
    "`true`: this is the answer to an earlier request with this Idempotency-Key; the service did nothing now.",
  ),
  "Retry-After": header({ type: "integer", minimum: 1 }, "Seconds after which to try again.", 31),
  Allow: header(text, "The methods that the route accepts.", "GET, HEAD"),
  "Accept-Ranges": header(
    { enum: ["bytes", "none"] },
    "`bytes`: clients can request one range of the bytes; `none`: they cannot.",
  ),
  "Content-Range": header(
    { type: "string", pattern: "^bytes (\\d+-\\d+|\\*)/\\d+$" },
    "The range that was sent and the size of the file; with 416 only the size.",
    "bytes 0-1023/10240",
  ),
  "X-Content-Type-Options": header({ const: "nosniff" }, "`nosniff`."),
  "Content-Security-Policy": header(text, "Stops browsers from running scripts in the file."),
  "Content-Disposition": header(
    text,
    "Makes a browser save the file under its name.",
    'attachment; filename="plan.md"',
  ),
  "Referrer-Policy": header({ const: "no-referrer" }, "A browser does not send the address to other sites."),
  "WWW-Authenticate": header({ const: "Bearer" }, "`Bearer`."),
};

/** The `headers` of a response: those of every response, and the given ones. */
export function responseHeaders(particular: readonly ResponseHeader[]): Json {
  const names = [...Object.keys(COMMON), ...particular];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** `components/headers`. */
export const HEADER_COMPONENTS: Json = {
  ...Object.fromEntries(Object.entries(COMMON).map(([name, entry]) => [name, { required: true, ...entry }])),
  ...PARTICULAR,
};
