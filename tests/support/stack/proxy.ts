/**
 * Stands between the function and Supabase: records every call, and lets a test put a fault in its way. What a test
 * asserts here is traffic that really happened.
 */

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
}

/** Answers a call: by `forward()`, which asks Supabase, or by a fault in its place, before it or after it. */
export type Hook = (call: PendingCall, forward: () => Promise<Response>) => Response | Promise<Response>;

/** Meant for one connection, or changed by passing a body on uncompressed. */
const NOT_FORWARDED = ["connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length"];

/** What the function says of itself in calls after an answer. */
export const INDEX_CLIENT = "filestore-index";

export class RecordingProxy {
  /** Calls since the last `reset`, in the order in which they were answered. */
  calls: BackendCall[] = [];
  /** Asked for every call while it is set. */
  hook: Hook | null = null;
  /** The same for calls that keep the search index; those are not recorded. */
  indexHook: Hook | null = null;

  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(backendUrl: string) {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#pass(request, backendUrl),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
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

  async close(): Promise<void> {
    await this.#server.shutdown();
  }

  async #pass(request: Request, backendUrl: string): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const pending: PendingCall = {
      method: request.method,
      path: pathname + search,
      target: pathname.startsWith("/storage/") ? "storage" : "database",
    };
    const body = new Uint8Array(await request.arrayBuffer());
    const forward = () => ask(backendUrl + pending.path, request, body);
    // What the function does after an answer is no part of what a request costs.
    if (request.headers.get("x-client-info") === INDEX_CLIENT) {
      const done = await (this.indexHook?.(pending, forward) ?? forward());
      return passedOn(done, new Uint8Array(await done.arrayBuffer()));
    }
    const answer = this.hook ? await this.hook(pending, forward) : await forward();
    const answered = new Uint8Array(await answer.arrayBuffer());
    this.calls.push({
      ...pending,
      requestBytes: body.length,
      responseBytes: answered.length,
      status: answer.status,
    });
    return passedOn(answer, answered);
  }
}

function passedOn(answer: Response, body: Uint8Array<ArrayBuffer>): Response {
  const hasBody = ![101, 204, 205, 304].includes(answer.status);
  return new Response(hasBody ? body : null, { status: answer.status, headers: forwardable(answer.headers) });
}

function ask(url: string, { method, headers }: Request, body: Uint8Array<ArrayBuffer>): Promise<Response> {
  const forwarded = forwardable(headers);
  forwarded.set("accept-encoding", "identity");
  return fetch(url, { method, headers: forwarded, body: body.length > 0 ? body : null, redirect: "manual" });
}

function forwardable(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of NOT_FORWARDED) kept.delete(name);
  return kept;
}
