/** The service as one `fetch`: middleware order, routes, one error renderer. */
import { type Context as HonoContext, Hono } from "hono";
import type { Context } from "./context.ts";
import { AddressWindows, clientAddress } from "./auth/failed_auth_limiter.ts";
import { ByteBudget } from "./runtime/byte_budget.ts";
import { ConsoleSessions } from "./auth/console_sessions.ts";
import { KeyMemory } from "./auth/key_cache.ts";
import { parseQuery } from "./http/query.ts";
import { ApiError, unavailable } from "./errors.ts";
import { Gate } from "./auth/gate.ts";
import { BODY_BUDGET_BYTES, READ_AHEAD_BUDGET_BYTES, SWEEP_EVERY_COMMITS } from "./limits.ts";
import type { Log } from "./runtime/log.ts";
import { IndexScheduler } from "./search/index_scheduler.ts";
import { indexBacklog, type SearchParts } from "./search/indexer.ts";
import { DueMerges } from "./files/pending_compactions.ts";
import { MergesUnderWay } from "./files/in_flight_compactions.ts";
import { sweepSlice } from "./files/sweep.ts";
import type { Accounts } from "./ports/accounts.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Segments } from "./ports/segments.ts";
import { drainBody } from "./http/body.ts";
import { failure, type Operation, preflight, setCommonHeaders } from "./http/respond.ts";
import { allowedMethods, matches, ROUTES, scopesOf } from "./routes/mod.ts";
import { readOperation } from "./routes/read.ts";
import type { Route } from "./routes/route.ts";
import { Stopwatch } from "./runtime/stopwatch.ts";

/** What the service is made of. */
export interface Parts {
  readonly metadata: Metadata;
  readonly segments: Segments;
  readonly accounts: Accounts;
  /** What the search index is kept with, after answers and by the sweep. */
  readonly search: Omit<SearchParts, "readAhead">;
  readonly log: Log;
  /** Secret keys of the Supabase project. */
  readonly operatorKeys: readonly [string, ...string[]];
  /** Keeps work going after the answer: EdgeRuntime.waitUntil. */
  readonly background: (work: Promise<unknown>) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The state of one request while it passes through the middleware. */
interface Passing {
  readonly id: string;
  readonly gate: Gate;
  readonly metadata: Metadata;
  readonly segments: Segments;
  code: string | undefined;
  operation: Operation | undefined;
}

type Environment = { Variables: { passing: Passing } };

/** `/functions/v1/api/files/a%2Fb?x` → path `/files/a%2Fb`, query `x`. Nothing is decoded or folded. */
export function splitUrl(url: string): { rawPath: string; rawQuery: string } {
  const [withoutFragment = ""] = url.split("#", 1);
  const start = withoutFragment.indexOf("/", withoutFragment.indexOf("://") + 3);
  const question = withoutFragment.indexOf("?");
  const end = question < 0 ? withoutFragment.length : question;
  const path = start < 0 || start > end ? "/" : withoutFragment.slice(start, end);
  const rawPath = path.replace(/^(\/functions\/v1)?\/api(?=\/|$)/, "");
  return {
    rawPath: rawPath === "" ? "/" : rawPath,
    rawQuery: question < 0 ? "" : withoutFragment.slice(question + 1),
  };
}

/** After every so many commits one slice of the sweep, in the background; its failure is logged and no more. */
function sweepNowAndThen({ metadata, segments, background, log }: Parts): () => void {
  let commits = 0;
  return () => {
    if (++commits % SWEEP_EVERY_COMMITS !== 0) return;
    background(sweepSlice(metadata, segments).catch((error) => log.backgroundFault("sweep", error)));
  };
}

/** Builds the service. What it keeps in memory saves work; nothing depends on it. */
export function buildApp(parts: Parts): (request: Request) => Promise<Response> {
  const { log, now } = parts;
  const keys = new KeyMemory();
  const addresses = new AddressWindows();
  const sessions = new ConsoleSessions(parts.operatorKeys[0]);
  const budget = new ByteBudget(BODY_BUDGET_BYTES);
  const readAhead = new ByteBudget(READ_AHEAD_BUDGET_BYTES);
  const search = { ...parts.search, readAhead };
  const merges = new MergesUnderWay();
  const dueMerges = new DueMerges();
  const sweepAfterCommit = sweepNowAndThen(parts);
  const indexing = new IndexScheduler(search, parts.background, log);
  const onCommit = () => {
    indexing.committed();
    sweepAfterCommit();
  };
  const app = new Hono<Environment>({ getPath: (request) => splitUrl(request.url).rawPath });

  app.use("*", async (c, next) => {
    const started = performance.now();
    const address = clientAddress(c.req.raw.headers);
    const backendTime = new Stopwatch();
    const metadata = backendTime.time(parts.metadata);
    const segments = backendTime.time(parts.segments);
    const accounts = backendTime.time(parts.accounts);
    const id = crypto.randomUUID();
    const passing: Passing = {
      id,
      gate: new Gate({ metadata, accounts, sessions, keys, addresses, now }, address, id),
      metadata,
      segments,
      code: undefined,
      operation: undefined,
    };
    c.set("passing", passing);
    if (c.req.method === "OPTIONS") c.res = preflight();
    else await next();
    setCommonHeaders(c.res.headers, passing.id, passing.gate.rate, now());
    log.request({
      id: passing.id,
      method: c.req.method,
      route: passing.operation ?? "none",
      status: c.res.status,
      code: passing.code,
      durationMilliseconds: Math.round((performance.now() - started) * 10) / 10,
      backendMilliseconds: Math.round(backendTime.milliseconds * 10) / 10,
      projectId: passing.gate.grant?.projectId,
      keyId: passing.gate.grant?.keyId ?? undefined,
    });
  });

  const handle = async (c: HonoContext<Environment>, route: Route): Promise<Response> => {
    const passing = c.get("passing");
    const releases: (() => void)[] = [];
    const { rawPath, rawQuery } = splitUrl(c.req.raw.url);
    const context: Context = {
      request: c.req.raw,
      rawPath,
      query: parseQuery(rawQuery),
      gate: passing.gate,
      metadata: passing.metadata,
      segments: passing.segments,
      budget,
      readAhead,
      merges,
      dueMerges,
      embedder: search.embedder,
      indexBacklog: () => indexBacklog(search, log),
      onPending: () => indexing.start(),
      log,
      operatorKeys: parts.operatorKeys,
      onCommit,
      now,
      released: (release) => releases.push(release),
    };
    passing.operation = route.operation === "read_file"
      ? readOperation(context)
      : route.operation ?? undefined;
    try {
      if (route.needsKey) await passing.gate.identify(c.req.raw.headers, scopesOf(route));
      return await route.handle(context);
    } finally {
      for (const release of releases) release();
    }
  };
  for (const route of ROUTES) {
    // The router takes `/files` for `/files/*` as well; `matches` does not.
    app.on(route.method, route.pattern, async (c, next) => {
      if (matches(route.pattern, splitUrl(c.req.raw.url).rawPath)) return await handle(c, route);
      await next();
    });
  }

  const refuse = async (c: HonoContext<Environment>, error: ApiError) => {
    await drainBody(c.req.raw);
    const passing = c.get("passing");
    passing.code = error.code;
    return failure(error, passing.operation);
  };
  app.notFound((c) => {
    const allowed = allowedMethods(splitUrl(c.req.raw.url).rawPath);
    return refuse(
      c,
      allowed.length === 0
        ? new ApiError("ROUTE_NOT_FOUND", "There is no such route. See /openapi.json.")
        : new ApiError("METHOD_NOT_ALLOWED", "The route does not take this method.", undefined, {
          Allow: allowed.join(", "),
        }),
    );
  });
  app.onError((error, c) => {
    if (error instanceof ApiError) return refuse(c, error);
    // The client went while its request waited: there is nobody to answer, and nothing is wrong.
    if (c.req.raw.signal.aborted && error === c.req.raw.signal.reason) return refuse(c, unavailable());
    const { id } = c.get("passing");
    log.defect(id, error);
    return refuse(c, new ApiError("INTERNAL_ERROR", "Something went wrong on our side.", { requestId: id }));
  });
  return async (request) => await app.fetch(request);
}
