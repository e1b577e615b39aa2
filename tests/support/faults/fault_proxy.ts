/**
 * Stands between the function and Supabase and breaks calls on purpose, as networks, gateways and crashes do: on the
 * level of connections, where `fetch` has no say.
 */
import { concatenate } from "../../../supabase/functions/api/runtime/concatenate.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isRecorded, recordedAnswer, type RecordedName } from "./recorded_answers.ts";
import { INDEX_CLIENT } from "../stack/proxy.ts";
import type { AddressInfo, Socket } from "node:net";

/** What can go wrong with a call. `acts`: the back end has done what was asked. */
export const FAULTS = {
  /** Closed as soon as the call comes: what a refused connection is to the caller. */
  refused: { acts: false },
  /** Reset once the whole call was sent, before the back end saw it. */
  resetBefore: { acts: false },
  error500: { acts: false },
  error503: { acts: false },
  /** A gateway's own page: no JSON. */
  page502: { acts: false },
  /** Reset after the back end acted: its answer is lost. */
  resetAfter: { acts: true },
  error500After: { acts: true },
  /** The answer breaks off half way. */
  truncated: { acts: true },
  /** No answer at all, before or after the back end acted: for an isolate whose clock is moved. */
  hang: { acts: false },
  hangAfter: { acts: true },
} as const satisfies Record<string, { readonly acts: boolean }>;

export type Fault = keyof typeof FAULTS | RecordedName;

/** Whether the back end has done what was asked where its answer is broken like this. */
export function actsBefore(fault: Fault): boolean {
  return isRecorded(fault) ? recordedAnswer(fault).acts : FAULTS[fault].acts;
}

/** One call that reached the proxy. */
export interface SeenCall {
  readonly name: string;
  /** Path and query: tells the objects of storage apart. */
  readonly url: string;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  readonly fault: Fault | null;
}

/** The calls of one project, told by its id or key hash in the call. */
export interface Watch {
  readonly marks: readonly string[];
  /** What happens to the n-th call, from 1. */
  readonly decide: (n: number, name: string) => Fault | null;
  /** Runs after the back end acted on a call that is then broken. */
  readonly afterActing?: (() => Promise<void>) | undefined;
  readonly calls: SeenCall[];
}

interface Forwarded {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: Uint8Array;
}

const NOT_FORWARDED = new Set([
  ...["host", "connection", "keep-alive", "transfer-encoding", "content-length"],
  ...["content-encoding", "accept-encoding", "expect"],
]);

export class FaultProxy {
  readonly watches = new Set<Watch>();
  readonly #server = createServer((incoming, outgoing) => {
    this.#pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  readonly #sockets = new Set<Socket>();
  #port = 0;

  constructor(private readonly backendUrl: string) {}

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<this> {
    this.#server.requestTimeout = 0;
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** Closes the port with everything on it: from now on connections are refused. `open` undoes it. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = concatenate(chunks);
    const url = incoming.url ?? "/";
    const text = url + new TextDecoder().decode(body.subarray(0, 200_000));
    // What the function does after an answer is no part of a request, and has tests of its own.
    const isIndexing = incoming.headers["x-client-info"] === INDEX_CLIENT;
    const watch = isIndexing
      ? undefined
      : [...this.watches].find(({ marks }) => marks.some((mark) => text.includes(mark)));
    const name = callName(incoming.method ?? "", url);
    const fault = watch?.decide(watch.calls.length + 1, name) ?? null;
    const seen: SeenCall = { name, url, at: performance.now(), fault };
    watch?.calls.push(seen);
    if (fault === null) return answer(outgoing, await this.#forward(incoming, body));
    if (actsBefore(fault)) {
      const forwarded = await this.#forward(incoming, body);
      await watch?.afterActing?.();
      return breakOff(fault, incoming.socket, outgoing, forwarded);
    }
    breakOff(fault, incoming.socket, outgoing, null);
  }

  async #forward(
    { method, url, rawHeaders }: IncomingMessage,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<Forwarded> {
    const headers = new Headers();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const [name = "", value = ""] = [rawHeaders[i]?.toLowerCase(), rawHeaders[i + 1]];
      if (!NOT_FORWARDED.has(name)) headers.append(name, value);
    }
    headers.set("accept-encoding", "identity");
    const init = { method: method ?? "GET", headers, redirect: "manual" as const };
    const response = await fetch(this.backendUrl + url, body.length > 0 ? { ...init, body } : init);
    return {
      status: response.status,
      headers: [...response.headers].filter(([name]) => !NOT_FORWARDED.has(name)),
      body: new Uint8Array(await response.arrayBuffer()),
    };
  }
}

/** `filestore_commit`, `upload`, `download`, `remove`. */
export function callName(method: string, url: string): string {
  const [, rpc] = /\/rpc\/([a-z_]+)/.exec(url) ?? [];
  if (rpc !== undefined) return rpc;
  if (url.includes("/object/list/")) return "list";
  return { GET: "download", DELETE: "remove" }[method] ?? "upload";
}

function answer(outgoing: ServerResponse, { status, headers, body }: Forwarded): void {
  const hasBody = ![204, 205, 304].includes(status);
  outgoing.writeHead(status, [
    ...headers.flat(),
    ...(hasBody ? ["content-length", String(body.length)] : []),
  ]);
  outgoing.end(hasBody ? body : undefined);
}

function breakOff(
  fault: Fault,
  socket: Socket,
  outgoing: ServerResponse,
  forwarded: Forwarded | null,
): void {
  const say = (status: number, type: string, text: string) => {
    outgoing.writeHead(status, { "content-type": type });
    outgoing.end(text);
  };
  switch (fault) {
    case "refused":
      socket.destroy();
      return;
    case "resetBefore":
    case "resetAfter":
      socket.resetAndDestroy();
      return;
    case "error500":
    case "error500After":
      return say(500, "application/json", '{"message":"an internal matter","statusCode":"500"}');
    case "error503":
      return say(503, "application/json", '{"message":"overloaded","statusCode":"503"}');
    case "page502":
      return say(502, "text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>");
    case "truncated": {
      const { status, headers, body } = forwarded ?? { status: 200, headers: [], body: new Uint8Array(0) };
      outgoing.writeHead(status, [...headers.flat(), "content-length", String(Math.max(body.length, 2))]);
      outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => socket.destroy());
      return;
    }
    case "hang":
    case "hangAfter":
      // The caller hangs up when it has waited long enough.
      return;
    default: {
      const { status, type, body } = recordedAnswer(fault);
      return say(status, type, body);
    }
  }
}
