/** The interface of a connection to the service: it sends a request and returns the whole answer. */
import type { Answer } from "./contract.ts";
import { send, type Sent } from "./http.ts";

export interface RequestOptions {
  /** An object is sent as JSON with its Content-Type; a string or bytes are sent unchanged, without a Content-Type. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
}

export interface Api {
  /**
   * Sends a request below the base URL, with `path` unchanged; `key` null sends none. Checks what every answer must
   * fulfil.
   */
  request(key: string | null, method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

/** Longest wait for an answer; longer than the service's own deadline. */
const REQUEST_TIMEOUT_MILLISECONDS = 60_000;

/** A service at an address. It checks nothing, since a test may have broken or killed the service. */
export function apiAt(baseUrl: string): Api {
  return {
    request: (key, method, path, options) =>
      send({
        ...sentOf(baseUrl, key, method, path, options),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MILLISECONDS),
      }),
  };
}

/** The request as it is sent. */
export function sentOf(
  baseUrl: string,
  key: string | null,
  method: string,
  path: string,
  { body, headers = {}, query = {} }: RequestOptions = {},
): Sent {
  const sent = new Headers(headers);
  if (key !== null) sent.set("x-api-key", key);
  const isJson = body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array) &&
    !(body instanceof ReadableStream);
  if (isJson && !sent.has("content-type")) sent.set("content-type", "application/json");
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return {
    method,
    url: baseUrl + path + (parameters === "" ? "" : `?${parameters}`),
    headers: sent,
    body: bytesOf(body),
  };
}

function bytesOf(body: unknown): Sent["body"] {
  if (body === undefined || body === null) return null;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  if (body instanceof ReadableStream) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}
