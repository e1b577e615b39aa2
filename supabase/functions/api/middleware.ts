/** Middleware for every request: creates its state, sets the headers of its response, writes its line in the log. */
import type { MiddlewareHandler } from "hono";
import { preflight, setCommonHeaders } from "./http/respond.ts";
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
