/** Middleware for every request: creates its state, sets the headers of its response, writes its line in the log. */
import type { MiddlewareHandler } from "hono";
import { NO_LIMIT_SHOWN, PREFLIGHT_MAX_AGE_SECONDS } from "./limits.ts";
import type { RateView } from "./ports/answer.ts";
import { createRequestState, type RequestState } from "./request_state.ts";
import type { Parts, Services } from "./services.ts";

export type Environment = { Variables: { state: RequestState } };

export function observeRequests(parts: Parts, services: Services): MiddlewareHandler<Environment> {
  return async (c, next) => {
    const started = performance.now();
    const state = createRequestState(parts, services, c.req.raw.headers);
    c.set("state", state);
    if (c.req.method === "OPTIONS") c.res = preflight();
    else await next();
    const { id, gate, operation, code, backendTime } = state;
    if (gate.admitted) services.requestCounts.count(gate.admitted.projectId, gate.admitted.keyId);
    setCommonHeaders(c.res.headers, id, gate.rate, parts.now());
    parts.log.request({
      id,
      method: c.req.method,
      route: operation ?? "none",
      status: c.res.status,
      code,
      durationMilliseconds: Math.round((performance.now() - started) * 10) / 10,
      backendMilliseconds: Math.round(backendTime.milliseconds * 10) / 10,
      projectId: gate.grant?.projectId,
      keyId: gate.grant?.keyId ?? undefined,
    });
  };
}

function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers":
        "content-type, authorization, x-api-key, x-project-id, accept, if-match, if-none-match, idempotency-key, x-run-id, x-actor, x-change-note, range, if-range, mcp-protocol-version, mcp-method, mcp-name",
      "Access-Control-Max-Age": String(PREFLIGHT_MAX_AGE_SECONDS),
    },
  });
}

/** `now` in milliseconds. The draft: https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ */
function setCommonHeaders(headers: Headers, requestId: string, rate: RateView, now: number): void {
  const limit = rate.limit ?? NO_LIMIT_SHOWN;
  const remaining = rate.remaining ?? NO_LIMIT_SHOWN;
  const seconds = Math.max(0, Math.ceil(rate.reset - now / 1000));
  headers.set("X-Request-Id", requestId);
  headers.set("X-RateLimit-Limit", String(limit));
  headers.set("X-RateLimit-Remaining", String(remaining));
  headers.set("X-RateLimit-Reset", String(rate.reset));
  headers.set("RateLimit-Policy", `"default";q=${limit};w=60`);
  headers.set("RateLimit", `"default";r=${remaining};t=${seconds}`);
  headers.set("Access-Control-Allow-Origin", "*");
  headers.set(
    "Access-Control-Expose-Headers",
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, Retry-After, ETag, X-Request-Id, Idempotency-Replayed, Content-Range, Accept-Ranges, Content-Disposition, WWW-Authenticate",
  );
}
