/**
 * A proxy between the function and Supabase: it records every call, and tests can inject faults. Tests that use it make
 * assertions about real traffic.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { concatenate } from "../../../supabase/functions/api/runtime/bytes.ts";

/** One call of the function to Supabase, as sent over the wire. */
export interface BackendCall {
  readonly method: string;
  /** Path and query, such as `/rest/v1/rpc/filestore_list`. */
  readonly path: string;
  readonly target: "database" | "storage";
  /** Bytes of the bodies, without compression. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly status: number;
}

/** A call that has not been forwarded yet. */
export interface PendingCall {
  readonly method: string;
  readonly path: string;
  readonly target: BackendCall["target"];
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Answers a call: with `forward()`, which calls Supabase, or with a fault before it, after it or instead of it. If the
 * hook throws, the connection is reset; if the body of its answer fails, the connection breaks off there.
 */
export type Hook = (call: PendingCall, forward: () => Promise<Response>) => Response | Promise<Response>;

/** Headers for one connection only, or invalid after the proxy has decompressed the body. */
const NOT_FORWARDED = [
  ...["host", "connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length"],
  ...["accept-encoding", "expect"],
];

/** The client name that the function sends in calls after an answer: indexing, counting usage, the sweep. */
export const BACKGROUND_CLIENT = "filestore-background";

export class RecordingProxy {
  /** Calls since the last `reset`, in the order of their answers. */
  calls: BackendCall[] = [];
  /** Answers every call of a request, if set. */
  hook: Hook | null = null;
  /** Answers every call that the function makes after an answer, if set. These calls are not recorded. */
  backgroundHook: Hook | null = null;

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

  reset(): void {
    this.calls = [];
  }

  /** The calls that `work` causes. */
  async during(work: () => Promise<unknown>): Promise<readonly BackendCall[]> {
    this.reset();
    await work();
    return this.calls;
  }

  /** Runs `work` and drops the first answer to a call whose path contains `part`. Throws unless that call is repeated. */
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
    // The function's work after an answer is not part of a request's cost.
    const isBackground = incoming.headers["x-client-info"] === BACKGROUND_CLIENT;
    const hook = isBackground ? this.backgroundHook : this.hook;
    const answer = hook ? await hook(pending, forward) : await forward();
    const { bytes, isBroken } = await bytesOf(answer);
    const { body, ...call } = pending;
    const { status } = answer;
    if (!isBackground) {
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
