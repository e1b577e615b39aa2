/**
 * One port for everything, like the gateway of Supabase: REST, Auth and Storage are proxied to the back end,
 * `/functions/v1/api` to a function process.
 */
import { Agent, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConsoleServer, respondStarting } from "../console/console_server.ts";
import type { FunctionPool } from "./function_pool.ts";
import {
  GATEWAY_KEEP_ALIVE_MILLISECONDS,
  GATEWAY_RETRY_AFTER_SECONDS,
  GATEWAY_STOP_TIMEOUT_MILLISECONDS,
  GATEWAY_WAIT_MILLISECONDS,
} from "../limits.ts";
import { proxy } from "./proxy.ts";
import { codeOf, messageOf, StartupError } from "../startup_error.ts";

/** The targets of the gateway; each is null until it has started. */
export interface Routes {
  backendUrl: string | null;
  functions: FunctionPool | null;
  console: ConsoleServer | null;
}

export interface Gateway {
  /** Address without trailing slash. */
  readonly url: string;
  readonly routes: Routes;
  close(): Promise<void>;
}

const BACKEND_PREFIXES = ["/rest/v1/", "/auth/v1/", "/storage/v1/"];
const FUNCTIONS_PREFIX = "/functions/v1/";
/** The functions of this repository; any other name is an unknown route. */
const FUNCTION_NAMES = ["api"];

/** Opens the port (0: any free port) before other parts start, so that a port in use is reported first. Throws `StartupError`. */
export async function openGateway(port: number): Promise<Gateway> {
  const routes: Routes = { backendUrl: null, functions: null, console: null };
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    route(incoming, outgoing, routes, agent).catch(() => outgoing.destroy());
  });
  // The proxy ends idle requests; a large body may exceed Node's default time for a whole request.
  server.requestTimeout = 0;
  server.keepAliveTimeout = GATEWAY_KEEP_ALIVE_MILLISECONDS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(portError(error, port)));
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    routes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), GATEWAY_STOP_TIMEOUT_MILLISECONDS);
        agent.destroy();
      }),
  };
}

function portError(error: Error, port: number): StartupError {
  if (codeOf(error) === "EADDRINUSE") {
    return new StartupError(`Port ${port} is in use; choose another with --port.`);
  }
  return new StartupError(`Port ${port} cannot be opened (${messageOf(error)}).`);
}

async function route(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  routes: Routes,
  agent: Agent,
): Promise<void> {
  const url = incoming.url ?? "/";
  const onFailure = (kind: "unreachable" | "timeout") => {
    if (kind === "timeout") return respondError(outgoing, 504, "The service did not respond in time.");
    respondError(outgoing, 503, "The connection to the service was lost; try again later.");
  };
  if (BACKEND_PREFIXES.some((prefix) => url.startsWith(prefix))) {
    if (routes.backendUrl === null) {
      return respondError(outgoing, 503, "The database is starting; try again later.");
    }
    return proxy(
      incoming,
      outgoing,
      { port: Number(new URL(routes.backendUrl).port), agent, path: url },
      onFailure,
    );
  }
  const path = functionPath(url);
  if (path !== null) {
    const upstream = await routes.functions?.next(GATEWAY_WAIT_MILLISECONDS);
    if (!upstream) return respondError(outgoing, 503, "The function is starting; try again later.");
    return proxy(incoming, outgoing, { ...upstream, path }, onFailure);
  }
  if (ConsoleServer.owns(url)) {
    if (routes.console === null) return respondStarting(incoming, outgoing);
    return await routes.console.serve(incoming, outgoing);
  }
  if (/^\/(?:\?|$)/.test(url) && (incoming.method === "GET" || incoming.method === "HEAD")) {
    outgoing.writeHead(302, { location: "/console/", "content-length": 0, "cache-control": "no-store" });
    return void outgoing.end();
  }
  respondError(
    outgoing,
    404,
    "The route does not exist. The service is below /functions/v1/api, the console at /console/.",
  );
}

/** Returns the path as the edge runtime passes it (`/functions/v1/api/x` → `/api/x`), or null for any other route. */
function functionPath(url: string): string | null {
  if (!url.startsWith(FUNCTIONS_PREFIX)) return null;
  const path = url.slice(FUNCTIONS_PREFIX.length - 1);
  const [, name = ""] = /^\/([^/?]*)/.exec(path) ?? [];
  return FUNCTION_NAMES.includes(name) ? path : null;
}

/** Responds with an error in the service's envelope. */
function respondError(outgoing: ServerResponse, status: 404 | 503 | 504, message: string): void {
  const code = status === 404 ? "ROUTE_NOT_FOUND" : "SERVICE_UNAVAILABLE";
  const body = JSON.stringify({ success: false, error: { code, message } });
  outgoing.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": new TextEncoder().encode(body).byteLength,
    "cache-control": "no-store",
    "access-control-allow-origin": "*",
    ...(status === 503 ? { "retry-after": String(GATEWAY_RETRY_AFTER_SECONDS) } : {}),
  });
  outgoing.end(body);
}
