/** The service as one `fetch`: routes, the order of checks, one error renderer. */
import { type Context as HonoContext, Hono } from "hono";
import type { Gate } from "./auth/gate.ts";
import { ApiError, fail, unavailable } from "./errors.ts";
import { drainBody } from "./http/body.ts";
import { parseProvenance } from "./http/provenance.ts";
import { parseQuery } from "./http/query.ts";
import { pathParameters, splitUrl } from "./http/request_data.ts";
import { JSON_TYPE, success } from "./http/respond.ts";
import { type Environment, observeRequests } from "./middleware.ts";
import { contextOf } from "./request_state.ts";
import { allowedMethods, entryOf } from "./routes/mod.ts";
import { isStrict, type Route, scopesOf } from "./route.ts";
import { lazy } from "./runtime/lazy.ts";
import { createServices, type Parts, type Services } from "./services.ts";

export type { Parts } from "./services.ts";

/** Loaded when a route needs it, with zod. */
const loadValidation = lazy(() => import("./http/validate.ts"));

type Exchange = HonoContext<Environment>;

export function buildApp(parts: Parts): (request: Request) => Promise<Response> {
  const services = createServices(parts);
  const app = new Hono<Environment>({ getPath: (request) => splitUrl(request.url).rawPath });
  app.use("*", observeRequests(parts, services));
  app.all("*", async (c) => {
    const { rawPath } = splitUrl(c.req.raw.url);
    const { method } = c.req;
    const entry = entryOf(method === "HEAD" ? "GET" : method, rawPath);
    return entry === undefined
      ? await respondWithError(c, unmatched(method, rawPath))
      : await runRoute(await entry.load(), c, parts, services);
  });
  app.onError((error, c) => respondWithError(c, toApiError(error, c, parts)));
  return async (request) => await app.fetch(request);
}

/**
 * The order of checks, for every route. The router has checked path and method (404, 405). Then:
 * 1. `enter`: the address's limit, the credentials, the project's limit, as far as known without the database.
 * 2. `prepare`: path, query and headers.
 * 3. The handler: media type, JSON, fields, content size, whether the file exists, the tier's limit for a file.
 * The database checks credentials and limits in its first answer. If a later check fails before that,
 * `authorizeBeforeReporting` makes the database authorize and count the request, so that errors keep this order.
 */
async function runRoute(route: Route, c: Exchange, parts: Parts, services: Services): Promise<Response> {
  const { raw: request } = c.req;
  const state = c.get("state");
  const { rawPath, rawQuery } = splitUrl(request.url);
  const query = parseQuery(rawQuery);
  const { headers } = request;
  state.operation = route.operationOf?.(query) ?? route.operation ?? undefined;
  if (route.ofOAuth) {
    if (parts.oauth === null) {
      fail("OAUTH_UNAVAILABLE", "Apps cannot sign in here: the operator has not set CONSOLE_URL.");
    }
    state.challenge = route.ofOAuth.challenge?.(request) ?? state.challenge;
  }
  const releases: (() => void)[] = [];
  const context = contextOf(state, services, parts, request, (release) => releases.push(release));
  await state.gate.enter(headers, route.credentials, scopesOf(route, query), route.isFreeForOwner?.(query));
  try {
    const params = pathParameters(route.pattern, rawPath);
    if (query.size > 0 && isStrict(route)) {
      const { refuseUnknownParameters } = await loadValidation();
      refuseUnknownParameters(query, route.openapi.query, route.openapi.body);
    }
    const handle = route.prepare({ params, query, headers });
    if (route.makesVersions) state.gate.provenance = parseProvenance(headers);
    const outcome = await handle(context);
    if (outcome instanceof Response) return outcome;
    if (!state.operation) throw new Error("a route without an operation has no envelope");
    return success(state.operation, outcome);
  } catch (error) {
    await state.gate.authorizeBeforeReporting(error);
    throw error;
  } finally {
    for (const release of releases) release();
    await countWork(state.gate);
  }
}

/** Counts the work of a request, even of a failed one. If counting fails, the request does not. */
async function countWork(gate: Gate): Promise<void> {
  try {
    await gate.countWork();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

async function respondWithError(c: Exchange, error: ApiError): Promise<Response> {
  await drainBody(c.req.raw);
  const state = c.get("state");
  state.code = error.code;
  const { operation } = state;
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
      ...(error.status === 401 && { "WWW-Authenticate": state.challenge }),
      ...error.headers,
    },
  });
}

function unmatched(method: string, rawPath: string): ApiError {
  const allowed = allowedMethods(rawPath);
  if (allowed.length === 0) {
    return new ApiError("ROUTE_NOT_FOUND", "There is no such route. See /openapi.json.");
  }
  const Allow = allowed.join(", ");
  const hint = method === "PUT" && rawPath.startsWith("/files/")
    ? " To change a file, PUT to /files/append/…, /files/overwrite/… or /files/edit/…; POST /files creates one."
    : "";
  return new ApiError("METHOD_NOT_ALLOWED", `The methods of this path are ${Allow}.${hint}`, undefined, {
    Allow,
  });
}

function toApiError(error: Error, c: Exchange, { log }: Parts): ApiError {
  if (error instanceof ApiError) return error;
  const { signal } = c.req.raw;
  // The client disconnected while its request waited: this is not a fault, and nobody reads the response.
  if (signal.aborted && error === signal.reason) return unavailable();
  const { id } = c.get("state");
  log.defect(id, error);
  const message =
    "Something went wrong on our side. Try again; if it fails again, give the operator of the service " +
    "the request id (`details.requestId`).";
  return new ApiError("INTERNAL_ERROR", message, { requestId: id });
}
