/** The envelope and the headers of every response. */
import { entityTag } from "./entity_tag.ts";
import type { ApiError } from "../errors.ts";
import { NO_LIMIT_SHOWN, PREFLIGHT_MAX_AGE_SECONDS } from "../limits.ts";
import type { RateView } from "../ports/answer.ts";
import type { Committed } from "../ports/commit.ts";

export type Operation =
  | "read_file"
  | "get_file_metadata"
  | "get_file_versions"
  | "list_files"
  | "write_file"
  | "delete_file"
  | "restore_file"
  | "copy_file"
  | "move_file"
  | "diff_file"
  | "search_files"
  | "sweep"
  | "list_projects"
  | "create_project"
  | "get_project"
  | "update_project"
  | "list_api_keys"
  | "create_api_key"
  | "rotate_api_key"
  | "revoke_api_key"
  | "regenerate_api_key"
  | "list_activity";

const JSON_TYPE = "application/json; charset=utf-8";
/** Headers of a success. */
export const JSON_HEADERS = { "Content-Type": JSON_TYPE, "Cache-Control": "private, no-cache" } as const;

/** A success in the envelope. */
export function success(operation: Operation, data: unknown, message: string): Response {
  return new Response(JSON.stringify({ success: true, data, operation, message }), {
    headers: JSON_HEADERS,
  });
}

/** 304: the client already has this representation. */
export function notModified(tag: string): Response {
  return new Response(null, {
    status: 304,
    headers: { ETag: tag, Vary: "Accept", "Cache-Control": "private, no-cache" },
  });
}

/** The response to a write: the record, its tag for the next precondition, and whether the answer is a replay. */
export function writeResponse(
  operation: Operation,
  { file, isReplayed }: Committed,
  message: string,
): Response {
  const response = success(operation, file, message);
  response.headers.set("ETag", entityTag(file, "j"));
  if (isReplayed) response.headers.set("Idempotency-Replayed", "true");
  return response;
}

/** JSON outside the envelope: health and documents. */
export function json(data: unknown, status = 200): Response {
  return new Response(JSON.stringify(data), {
    status,
    headers: { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" },
  });
}

/** A failure in the envelope. */
export function failure(error: ApiError, operation: Operation | undefined): Response {
  const body = {
    success: false,
    error: { code: error.code, message: error.message },
    ...(operation && { operation }),
    ...(error.details && { details: error.details }),
  };
  return new Response(JSON.stringify(body), {
    status: error.status,
    headers: {
      "Content-Type": JSON_TYPE,
      "Cache-Control": "no-store",
      ...(error.status === 401 && { "WWW-Authenticate": "Bearer" }),
      ...error.headers,
    },
  });
}

/** The response to a CORS preflight of any route. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers":
        "content-type, authorization, x-api-key, x-project-id, accept, if-match, if-none-match, idempotency-key, range, if-range",
      "Access-Control-Max-Age": String(PREFLIGHT_MAX_AGE_SECONDS),
    },
  });
}

/** Headers of every response. The draft: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ */
export function setCommonHeaders(headers: Headers, requestId: string, rate: RateView, now: number): void {
  const limit = rate.limit ?? NO_LIMIT_SHOWN;
  const remaining = rate.remaining ?? NO_LIMIT_SHOWN;
  headers.set("X-Request-Id", requestId);
  headers.set("X-RateLimit-Limit", String(limit));
  headers.set("X-RateLimit-Remaining", String(remaining));
  headers.set("X-RateLimit-Reset", String(rate.reset));
  headers.set("RateLimit-Policy", `"default";q=${limit};w=60`);
  headers.set("RateLimit", `"default";r=${remaining};t=${secondsUntil(rate.reset, now)}`);
  headers.set("Access-Control-Allow-Origin", "*");
  headers.set(
    "Access-Control-Expose-Headers",
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, ETag, X-Request-Id, Idempotency-Replayed, Content-Range, Accept-Ranges",
  );
}

/** Whole seconds from `now` (milliseconds) to `epochSeconds`, at least 0. */
export function secondsUntil(epochSeconds: number, now: number): number {
  return Math.max(0, Math.ceil(epochSeconds - now / 1000));
}
