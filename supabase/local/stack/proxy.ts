/**
 * Forwards one HTTP request byte for byte: the path unchanged (`fetch` would normalise `..`, `\` and `%2F`), the body
 * and the response as streams. A failure on one side is passed to the other, so that a response that ends early never
 * looks complete.
 */
import { type Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GATEWAY_IDLE_TIMEOUT_MILLISECONDS } from "../limits.ts";

export interface Target {
  readonly port: number;
  readonly agent: Agent;
  /** Path and query, exactly as they are sent. */
  readonly path: string;
}

/** Called if the request failed before a response was sent. */
export type OnFailure = (kind: "unreachable" | "timeout") => void;

/** Headers of one connection (RFC 9110, section 7.6.1); `transfer-encoding` is set separately for each side. */
const HOP_BY_HOP = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** Client addresses that only the hosted platform may set. */
const PLATFORM_ADDRESSES = new Set(["cf-connecting-ip", "true-client-ip", "x-real-ip"]);
/** Written by this proxy. */
const REWRITTEN = new Set([
  "host",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
]);

export function proxy(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: Target,
  onFailure: OnFailure,
): void {
  const upstream = httpRequest({
    host: "127.0.0.1",
    port: target.port,
    agent: target.agent,
    method: incoming.method ?? "GET",
    path: target.path,
    headers: requestHeaders(incoming, target.port),
  });
  let hasResponded = false;
  const fail: OnFailure = (kind) => {
    clock.stop();
    upstream.destroy();
    if (outgoing.destroyed) return;
    if (hasResponded || outgoing.headersSent) outgoing.destroy();
    else onFailure(kind);
  };
  const clock = idleTimer(() => fail("timeout"));

  incoming.on("data", clock.touch);
  upstream.on("error", () => {
    // A response may arrive before the whole request was read; then the rest of the request is discarded.
    if (!hasResponded) fail("unreachable");
  });
  upstream.on("response", (response: IncomingMessage) => {
    hasResponded = true;
    const broken = () => {
      if (!response.complete) fail("unreachable");
    };
    response.on("data", clock.touch);
    response.on("aborted", broken);
    response.on("error", broken);
    response.on("close", broken);
    outgoing.sendDate = response.headers["date"] === undefined;
    outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.rawHeaders));
    response.pipe(outgoing);
  });
  outgoing.on("close", () => {
    clock.stop();
    if (outgoing.writableFinished && upstream.writableFinished) return;
    // Also if the response ended before the request was fully read: the upstream connection cannot be reused, and the
    // rest of the request is read and discarded.
    upstream.destroy();
    incoming.unpipe(upstream);
    incoming.resume();
  });
  // A request that is aborted must not arrive as a complete, shorter one.
  incoming.on("close", () => {
    if (!incoming.complete) upstream.destroy();
  });
  if (hasBody(incoming)) incoming.pipe(upstream);
  else upstream.end();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function requestHeaders(incoming: IncomingMessage, port: number): string[] {
  const { headers, socket } = incoming;
  const kept = endToEnd(incoming.rawHeaders, new Set([...PLATFORM_ADDRESSES, ...REWRITTEN]));
  if (headers["transfer-encoding"] !== undefined) kept.push("transfer-encoding", "chunked");
  const { remoteAddress = "", localPort = 0 }: Partial<Socket> = socket;
  const hops = [headers["x-forwarded-for"], remoteAddress].flat().filter((hop) =>
    hop !== undefined && hop !== ""
  );
  kept.push(
    ...["host", `127.0.0.1:${port}`],
    ...["x-forwarded-for", hops.join(", ")],
    ...["x-forwarded-host", headers.host ?? ""],
    ...["x-forwarded-port", String(localPort)],
    ...["x-forwarded-proto", "http"],
  );
  return kept;
}

/** Returns alternating names and values, without hop-by-hop headers and those in `without`. */
function endToEnd(rawHeaders: readonly string[], without: ReadonlySet<string> = new Set()): string[] {
  const kept: string[] = [];
  const named = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== "connection") continue;
    for (const name of rawHeaders[i + 1]?.split(",") ?? []) named.add(name.trim().toLowerCase());
  }
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = [rawHeaders[i], rawHeaders[i + 1]];
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || without.has(lower) || named.has(lower)) continue;
    kept.push(name, value);
  }
  return kept;
}

/** Calls `onIdle` once after `GATEWAY_IDLE_TIMEOUT_MILLISECONDS` without a call of `touch`. */
function idleTimer(onIdle: () => void) {
  let touched = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - touched < GATEWAY_IDLE_TIMEOUT_MILLISECONDS) return;
    clearInterval(timer);
    onIdle();
  }, GATEWAY_IDLE_TIMEOUT_MILLISECONDS / 10);
  return {
    touch: () => {
      touched = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}
