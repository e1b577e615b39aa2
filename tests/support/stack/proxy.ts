/**
 * Stands between the function and Supabase: records every call, and lets a test put a fault in its way. What a test
 * asserts here is traffic that really happened.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { concatenate } from "../../../supabase/functions/api/runtime/bytes.ts";

/** One call of the function to Supabase, as it went over the wire. */
export interface BackendCall {
  readonly method: string;
  /** Path and query, such as `/rest/v1/rpc/filestore_list`. */
  readonly path: string;
  readonly target: "database" | "storage";
  /** Bytes of the bodies, uncompressed. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly status: number;
}

/** A call that is about to be made. */
export interface PendingCall {
  readonly method: string;
  readonly path: string;
  readonly target: BackendCall["target"];
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Answers a call: by `forward()`, which asks Supabase, or by a fault in its place, before it or after it. If it throws, the
 * connection is reset; if the body of its answer fails, the connection breaks off there.
 */
export type Hook = (call: PendingCall, forward: () => Promise<Response>) => Response | Promise<Response>;

/** Meant for one connection, or changed by passing a body on uncompressed. */
const NOT_FORWARDED = [
  ...["host", "connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length"],
  ...["accept-encoding", "expect"],
];

/** What the function says of itself in calls after an answer. */
export const INDEX_CLIENT = "filestore-index";

export class RecordingProxy {
  /** Calls since the last `reset`, in the order in which they were answered. */
  calls: BackendCall[] = [];
  /** Asked for every call while it is set. */
  hook: Hook | null = null;
  /** The same for calls that keep the search index; those are not recorded. */
  indexHook: Hook | null = null;

  readonly #server = createServer((incoming, outgoing) => {
    this.#pass(incoming, outgoing).catch(() => incoming.socket.resetAndDestroy());
  });
  readonly #sockets = new Set<Socket>();
  #port = 0;

  private constructor(private readonly backendUrl: string) {}

  static async open(backendUrl: string): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(backendUrl);
    proxy.#server.requestTimeout = 0;
    proxy.#server.on("connection", (socket: Socket) => {
      proxy.#sockets.add(socket);
      socket.on("close", () => proxy.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    proxy.#port = (proxy.#server.address() as AddressInfo).port;
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Forgets what was recorded. */
  reset(): void {
    this.calls = [];
  }

  /** The calls that `work` made. */
  async during(work: () => Promise<unknown>): Promise<readonly BackendCall[]> {
    this.reset();
    await work();
    return this.calls;
  }

  /** Runs `work` and loses the first answer to a call whose path has `part`. Throws unless it was asked for twice. */
  async losing<T>(part: string, work: () => Promise<T>): Promise<T> {
    let asked = 0;
    this.hook = async ({ path }, forward) => {
      const answer = await forward();
      if (!path.includes(part) || ++asked > 1) return answer;
      await answer.body?.cancel();
      return new Response("lost", { status: 502 });
    };
    const result = await work().finally(() => this.hook = null);
    if (asked !== 2) throw new Error(`${part} was called ${asked} times`);
    return result;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const path = incoming.url ?? "/";
    const pending: PendingCall = {
      method: incoming.method ?? "GET",
      path,
      target: path.startsWith("/storage/") ? "storage" : "database",
      body: concatenate(chunks),
    };
    const forward = () => this.#ask(pending, incoming);
    // What the function does after an answer is no part of what a request costs.
    const isIndexing = incoming.headers["x-client-info"] === INDEX_CLIENT;
    const hook = isIndexing ? this.indexHook : this.hook;
    const answer = hook ? await hook(pending, forward) : await forward();
    const { bytes, isBroken } = await bytesOf(answer);
    const { body, ...call } = pending;
    const { status } = answer;
    if (!isIndexing) {
      this.calls.push({ ...call, requestBytes: body.length, responseBytes: bytes.length, status });
    }
    const hasBody = ![101, 204, 205, 304].includes(status);
    const length = String(bytes.length + (isBroken ? 1 : 0));
    outgoing.writeHead(status, [
      ...[...answer.headers].filter(([name]) => !NOT_FORWARDED.includes(name)).flat(),
      ...hasBody ? ["content-length", length] : [],
    ]);
    if (isBroken) outgoing.write(bytes, () => incoming.socket.destroy());
    else outgoing.end(hasBody ? bytes : undefined);
  }

  #ask({ method, path, body }: PendingCall, { rawHeaders }: IncomingMessage): Promise<Response> {
    const headers = new Headers();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const [name = "", value = ""] = [rawHeaders[i]?.toLowerCase(), rawHeaders[i + 1]];
      if (!NOT_FORWARDED.includes(name)) headers.append(name, value);
    }
    headers.set("accept-encoding", "identity");
    const init = { method, headers, body: body.length > 0 ? body : null, redirect: "manual" } as const;
    return fetch(this.backendUrl + path, init);
  }
}

async function bytesOf({ body }: Response): Promise<{ bytes: Uint8Array; isBroken: boolean }> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
    return { bytes: concatenate(chunks), isBroken: false };
  } catch {
    return { bytes: concatenate(chunks), isBroken: true };
  }
}
