/**
 * Passes one HTTP request on, byte for byte: the path as it came (`..`, `\` and `%2F` included, which `fetch` would
 * fold), the body as it comes, the response likewise. Whatever breaks on one side breaks on the other: a response
 * that ends early is never made to look complete.
 */
import { type Agent, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GATEWAY_IDLE_TIMEOUT_MILLISECONDS } from "../limits.ts";

export interface Target {
  readonly port: number;
  readonly agent: Agent;
  /** Path and query to ask for, exactly as they go on the wire. */
  readonly path: string;
}

/** Called when nothing was answered yet and nothing will be. */
export type OnFailure = (kind: "unreachable" | "timeout") => void;

/** Meant for one connection (RFC 9110, section 7.6.1); `transfer-encoding` is decided for each side apart. */
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
/**
 * Not passed on: the runtime of the function (Deno 2.1.4) would compress its answers by itself, which costs the isolate
 * time, hides their length and weakens their entity tags. What is before the gateway may compress.
 */
const NOT_PASSED_ON = new Set(["accept-encoding"]);
/** Only a real platform may vouch for an address. */
const VOUCHED = new Set(["cf-connecting-ip", "true-client-ip", "x-real-ip"]);
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
  let answered = false;
  const fail: OnFailure = (kind) => {
    clock.stop();
    upstream.destroy();
    if (outgoing.destroyed) return;
    if (answered || outgoing.headersSent) outgoing.destroy();
    else onFailure(kind);
  };
  const clock = idleClock(() => fail("timeout"));

  incoming.on("data", clock.touch);
  upstream.on("error", () => {
    // A response may come before the whole request was read; the rest of the request is then nobody's.
    if (!answered) fail("unreachable");
  });
  upstream.on("response", (response: IncomingMessage) => {
    answered = true;
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
    // Also where the answer came before the request was read to its end: that connection is of no more use, and the
    // client, who still sends, is heard out.
    upstream.destroy();
    incoming.unpipe(upstream);
    incoming.resume();
  });
  // A request that breaks off must not arrive as a complete, shorter one.
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
  const kept = endToEnd(incoming.rawHeaders, new Set([...NOT_PASSED_ON, ...VOUCHED, ...REWRITTEN]));
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

/** Names and values in turn, without those meant for one connection and those in `without`. */
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

/** Calls `onIdle` once when `touch` was not called for the idle time. */
function idleClock(onIdle: () => void) {
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
