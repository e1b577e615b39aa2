/** The headers of requests and responses, each described once. */
import { ACTOR_LENGTH_MAX, IDEMPOTENCY_KEY_LENGTH_MAX, RUN_ID_LENGTH_MAX } from "../limits.ts";
import { PROTOCOL_VERSIONS } from "../mcp/protocol_versions.ts";
import type { ResponseHeader } from "../openapi_properties.ts";
import type { Json } from "./schemas.ts";

interface HeaderEntry {
  readonly description: string;
  readonly schema: Json;
}

const count = { type: "integer", minimum: 0 };
const uuid = { type: "string", format: "uuid" };

function header(description: string, schema: Json = { type: "string" }): HeaderEntry {
  return { description, schema };
}

/** Text of 1 to `maxLength` of some characters. */
function textOf(characters: string, maxLength: number): Json {
  return { type: "string", minLength: 1, maxLength, pattern: `^${characters}+$` };
}

export const REQUEST_HEADERS: Readonly<Record<string, HeaderEntry>> = {
  "If-Match": header(
    "The file's latest version must have one of these entity tags, or exist for `*`: otherwise 412.",
  ),
  "If-None-Match": header(
    "On a read: entity tags that the client has; if one is current, the answer is 304. On a write: `*`, create only.",
  ),
  "Idempotency-Key": header(
    "Makes a retry safe: a request with the same key, route and body within 24 hours only gets the first answer again.",
    textOf("[ -~]", IDEMPOTENCY_KEY_LENGTH_MAX),
  ),
  Range: header(
    "With `Accept: application/octet-stream`: one range of bytes, such as `bytes=0-1023`, answered with 206.",
  ),
  "If-Range": header(
    "The entity tag to which `Range` applies; if the file has another one, all bytes are sent.",
  ),
  "MCP-Protocol-Version": header(
    "The revision of the protocol; 2025-era clients send it after `initialize`.",
    { enum: PROTOCOL_VERSIONS },
  ),
  "Mcp-Method": header("From 2026-07-28 on: the message's `method`."),
  "Mcp-Name": header("From 2026-07-28 on: the tool's name."),
  Origin: header(
    "Sent by browsers: a loopback origin, the service's own, or one that the operator has named.",
  ),
  "X-Run-Id": header(
    "The run that the change belongs to. Clients can list and undo the changes of a run.",
    textOf("[A-Za-z0-9._:-]", RUN_ID_LENGTH_MAX),
  ),
  "X-Actor": header("Who makes the change, as chosen by the client.", textOf("[ -~]", ACTOR_LENGTH_MAX)),
  "X-Change-Note": header(
    "Why the change is made: percent-encoded UTF-8, at most 500 characters decoded, such as `first%20draft`.",
  ),
  "x-project-id": header(
    "With an account's access token: the project to use. A key belongs to one project.",
    uuid,
  ),
};

/** The headers of every response of the service. */
const COMMON: Readonly<Record<string, HeaderEntry>> = {
  "X-Request-Id": header("Identifies the request in the logs.", uuid),
  "X-RateLimit-Limit": header("Requests a minute; 2147483647 if there is no limit.", {
    ...count,
    minimum: 1,
  }),
  "X-RateLimit-Remaining": header("Requests left in this minute.", count),
  "X-RateLimit-Reset": header("When the minute ends, in seconds since 1970 (UTC).", count),
  RateLimit: header(
    'The remaining requests, and the seconds until the window ends, as in the IETF draft: `"default";r=97;t=31`.',
  ),
  "RateLimit-Policy": header('The limit as in the IETF draft: `"default";q=100;w=60`.'),
  "Cache-Control": header("How the answer may be cached."),
};

const PARTICULAR: Readonly<Record<ResponseHeader, HeaderEntry>> = {
  ETag: header("A strong entity tag: each version of a file has its own for each representation."),
  "Idempotency-Replayed": header(
    "`true`: this is the answer to an earlier request with this Idempotency-Key; the service did nothing now.",
    { const: "true" },
  ),
  Location: header("Where the browser goes."),
  "Retry-After": header("Seconds after which to try again.", { ...count, minimum: 1 }),
  Allow: header("The methods that the route accepts, such as `GET, HEAD`."),
  "Accept-Ranges": header("`bytes`: clients can request one range of the bytes; `none`: they cannot.", {
    enum: ["bytes", "none"],
  }),
  "Content-Range": header("The range that was sent and the size of the file; with 416 only the size.", {
    type: "string",
    pattern: "^bytes (\\d+-\\d+|\\*)/\\d+$",
  }),
  "X-Content-Type-Options": header("`nosniff`.", { const: "nosniff" }),
  "Content-Security-Policy": header("Stops browsers from running scripts in the file."),
  "Content-Disposition": header("Makes a browser save the file under its name."),
  "Referrer-Policy": header("A browser does not send the address to other sites.", { const: "no-referrer" }),
  "WWW-Authenticate": header("`Bearer`; at `/connect`, with where an app gets a token.", {
    type: "string",
    pattern: "^Bearer( |$)",
  }),
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
