/** Checks the headers of a request's body, and reads the body in chunks. */
import { type ErrorCode, fail } from "../errors.ts";
import {
  BODY_BUDGET_WAIT_MILLISECONDS,
  BODY_BYTES_MAX,
  BODY_IDLE_MILLISECONDS,
  BODY_MILLISECONDS_PER_MIB,
  DRAIN_MILLISECONDS,
  UNAUTHORIZED_BODY_BYTES_MAX,
} from "../limits.ts";
import type { Body, BodyBudget } from "../runtime/body_budget.ts";
import { Deadline, LATE } from "../runtime/deadline.ts";
import { isSet, type Query } from "./query.ts";

export interface BodySource {
  readonly request: Request;
  /** The budget of all large bodies of the isolate. */
  readonly bodyBudget: BodyBudget;
  /** The project of the request, once it is known: requests with large bodies are authorized first. */
  readonly gate: { readonly grant: { readonly projectId: string } | undefined };
  readonly deadline: Deadline;
  /** Runs `release` when the request's handler has ended. */
  readonly onEnd: (release: () => void) => void;
}

/** Types read as JSON: `curl -d` and `fetch` send the last two for any text. */
const JSON_TYPES = ["", "application/json", "text/plain", "application/x-www-form-urlencoded"];

/** The media type of the body in lower case, without parameters; "" where none is given. */
export function mediaTypeOf(headers: Headers): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** The other way to send content, for messages about a body that is no JSON, or too long for it. */
export const RAW_BODY_HINT = "To store a file as it is, send its bytes as the body of `POST /files?path=…`.";

function isJsonType(headers: Headers): boolean {
  const type = mediaTypeOf(headers);
  return JSON_TYPES.includes(type) || /^application\/[^/]+\+json$/.test(type);
}

/** Whether the body of a PUT is the bytes themselves: `?raw`, or a media type that is neither JSON nor a form. Throws VALIDATION_ERROR. */
export function isRawPut(query: Query, headers: Headers): boolean {
  return isSet(query, "raw") || !(isJsonType(headers) || mediaTypeOf(headers) === "multipart/form-data");
}

/** Throws UNSUPPORTED_MEDIA_TYPE for a compressed body. */
export function ensureUnencoded(headers: Headers): void {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() === "identity") return;
  fail("UNSUPPORTED_MEDIA_TYPE", "Compressed request bodies are not supported.");
}

/** Throws UNSUPPORTED_MEDIA_TYPE for a body that is compressed or not JSON in UTF-8. */
export function ensureJson(headers: Headers): void {
  ensureUnencoded(headers);
  const charset = /;\s*charset="?([^";]*)/i.exec(headers.get("content-type") ?? "")?.[1]?.trim()
    .toLowerCase();
  if (!isJsonType(headers) || (charset !== undefined && charset !== "utf-8" && charset !== "utf8")) {
    fail(
      "UNSUPPORTED_MEDIA_TYPE",
      `The body must be JSON in UTF-8, with Content-Type application/json. ${RAW_BODY_HINT}`,
    );
  }
}

/** The Content-Length in bytes; null where the body is sent in chunks. */
export function declaredBytes(headers: Headers): number | null {
  const declared = headers.get("content-length");
  return declared === null ? null : Number(declared);
}

/** Whether the request has no body. */
export function isBodyAbsent(headers: Headers): boolean {
  return !headers.has("content-type") && Number(headers.get("content-length") ?? 0) === 0;
}

/** Discards the body of a request that was answered without reading it. */
export async function drainBody(request: Request): Promise<void> {
  if (request.body !== null && !request.bodyUsed) await drain(request.body.getReader());
}

/**
 * Reads and discards the rest of a body, up to BODY_BYTES_MAX and for DRAIN_MILLISECONDS. If the server closed the
 * connection while the client still sends, the client might see a broken connection instead of the response.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => reader.cancel().catch(() => {}), DRAIN_MILLISECONDS);
  try {
    for (let bytes = 0; bytes < BODY_BYTES_MAX;) {
      const { value, done } = await reader.read();
      if (done) return;
      bytes += value.length;
    }
  } catch {
    // The client has disconnected.
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
}

/**
 * Yields the body in chunks. Throws `code` if the body ends early, which usually means that the client has
 * disconnected; if no chunk arrives within BODY_IDLE_MILLISECONDS; and if the body is slower than
 * BODY_MILLISECONDS_PER_MIB for that long. The time in which the function does not read does not count.
 */
export async function* requestChunks(
  { request, deadline: { clock } }: Pick<BodySource, "request" | "deadline">,
  code: ErrorCode,
): AsyncGenerator<Uint8Array, void, void> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  const deadline = new Deadline(BODY_IDLE_MILLISECONDS, clock);
  try {
    for (;;) {
      const next = await deadline.count(() => deadline.within(Infinity, reader.read())).catch(() =>
        fail(code, "The request body ended early.")
      );
      if (next === LATE) fail(code, "The request body arrived too slowly.");
      if (next.done) return;
      const { length } = next.value;
      deadline.regain(length / (1024 * 1024) * BODY_MILLISECONDS_PER_MIB, BODY_IDLE_MILLISECONDS);
      yield next.value;
    }
  } finally {
    await drain(reader);
  }
}

/**
 * Reserves memory for a body of up to `mostBytes` (null: not known). Waits while other bodies of the project use all
 * that the project may have. Throws 503 `SERVICE_UNAVAILABLE`.
 */
export async function openBody(
  { request, bodyBudget, gate, onEnd }: BodySource,
  mostBytes: number | null,
): Promise<Body> {
  const projectId = gate.grant?.projectId ?? "";
  const body = await bodyBudget.open(projectId, mostBytes, BODY_BUDGET_WAIT_MILLISECONDS, request.signal);
  onEnd(() => body.release());
  return body;
}

/** Whether the request must be authorized by the database before its body is read. */
export function isLargeBody(headers: Headers): boolean {
  const declared = declaredBytes(headers);
  return declared === null || declared > UNAUTHORIZED_BODY_BYTES_MAX;
}
