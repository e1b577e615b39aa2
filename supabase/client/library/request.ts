/** One request: what a call and its connection send. */
import { checkPath } from "../../functions/api/http/path.ts";
import { FilestoreError, messageOf } from "./errors.ts";

export interface Connection {
  /** The base address, such as `https://REF.supabase.co/functions/v1/api`. */
  readonly url: string;
  readonly key: string;
  /** `X-Run-Id` of all writes. */
  readonly run?: string | undefined;
  /** `X-Actor` of all writes. */
  readonly actor?: string | undefined;
  /** Ends all requests. */
  readonly signal?: AbortSignal | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Call {
  readonly method?: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** The bytes of the body, or what opens them for each try. */
  readonly body?: Uint8Array | Blob | (() => Promise<ReadableStream<Uint8Array>>) | undefined;
  /** A refusal after which the same request may succeed. */
  readonly repeatsAfter?: string;
}

/** What each try of a call sends. */
export interface Request {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly text: string | undefined;
  readonly body: Call["body"];
}

/** Throws for values that no request can carry. */
export function requestOf(base: string, connection: Connection, path: string, call: Call): Request {
  const { key, run, actor } = connection;
  const { method = "GET", query = {}, headers: own = {}, json, body } = call;
  const url = new URL(base + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const provenance = method === "GET" ? {} : { "x-run-id": run, "x-actor": actor };
  const type = json === undefined ? undefined : "application/json";
  const headers = new Headers();
  for (
    const [name, value] of Object.entries({ "x-api-key": key, "content-type": type, ...provenance, ...own })
  ) {
    if (value !== undefined) setHeader(headers, name, value);
  }
  return { url, method, headers, text: json === undefined ? undefined : textOf(json), body };
}

/** Sends a request once. `moved` is called whenever bytes have moved. */
export async function fetchOnce(request: Request, signal: AbortSignal, moved: () => void): Promise<Response> {
  const { url, method, headers, text, body } = request;
  const content = typeof body === "function"
    ? (await opened(body)).pipeThrough(watch(moved))
    : body instanceof Uint8Array
    ? new Blob([new Uint8Array(body)])
    : body;
  const sent = text ?? content;
  // A redirect could lead the key to another host, and Node requires `duplex` for a stream.
  const options: RequestInit = { method, headers, signal, redirect: "manual" };
  const response = await fetch(
    url,
    sent === undefined ? options : { ...options, body: sent, ...{ duplex: "half" } },
  );
  moved();
  if (response.body === null) return response;
  return new Response(response.body.pipeThrough(watch(moved)), response);
}

function textOf(json: unknown): string {
  try {
    return JSON.stringify(json);
  } catch (error) {
    throw new FilestoreError(
      "VALIDATION_ERROR",
      `The request cannot be written as JSON (${messageOf(error)}).`,
    );
  }
}

/** What cannot be opened is no lost answer: another try would fail, too. */
async function opened(body: () => Promise<ReadableStream<Uint8Array>>): Promise<ReadableStream<Uint8Array>> {
  try {
    return await body();
  } catch (error) {
    throw new FilestoreError("VALIDATION_ERROR", `The content cannot be read (${messageOf(error)}).`);
  }
}

/** The address of a file below a route. Throws INVALID_PATH: `..` in an address would name another route. */
export function fileAddress(path: string, route = "/files"): string {
  try {
    checkPath(path);
  } catch (error) {
    throw new FilestoreError("INVALID_PATH", messageOf(error));
  }
  return `${route}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** The address of what has a name, such as a run. A name of dots alone would change the address. */
export function namedAddress(route: string, name: string): string {
  return `${route}/${
    /^\.+$/.test(name) ? name.replaceAll(".", "%252E") : encodeURIComponent(name.toWellFormed())
  }`;
}

/** The value may be a key, so the message does not repeat it. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new FilestoreError("VALIDATION_ERROR", `${name}: has characters that a header cannot carry.`);
  }
}

function watch(moved: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      moved();
      controller.enqueue(chunk);
    },
  });
}
