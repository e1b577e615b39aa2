/** HTTP as a client sends it, with paths that `fetch` would normalize. */
import { Buffer } from "node:buffer";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Answer } from "./contract.ts";

/** The value that browsers and most clients send. A test about compression sends its own `Accept-Encoding`. */
const ACCEPTS_COMPRESSED = "gzip, br";

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

/** Sends with `fetch`, or with `node:http` if `fetch` would change the path. */
export function send(sent: Sent): Promise<Answer> {
  const { origin } = new URL(sent.url);
  const isKept = origin + sent.url.slice(origin.length) === new URL(sent.url).href;
  if (!sent.headers.has("accept-encoding")) sent.headers.set("accept-encoding", ACCEPTS_COMPRESSED);
  return isKept ? sendByFetch(sent) : sendAsIs(sent);
}

async function sendByFetch({ method, url, headers, body, signal }: Sent): Promise<Answer> {
  const response = await fetch(url, { method, headers, body, signal: signal ?? null, redirect: "manual" });
  const bytes = new Uint8Array(await response.arrayBuffer());
  // `fetch` decompresses the body, unless the request had a Range.
  const encoding = headers.has("range") ? response.headers.get("content-encoding") : null;
  return answerOf(method, response.status, response.headers, decompress(bytes, encoding));
}

function sendAsIs({ method, url, headers, body, signal }: Sent): Promise<Answer> {
  const { protocol, hostname, port, origin } = new URL(url);
  const path = url.slice(origin.length);
  const requestOf = protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = { hostname, port, path, method, headers: Object.fromEntries(headers) };
    const request = requestOf({ ...options, ...signal && { signal } });
    request.on("error", reject);
    request.on("response", (response) => {
      const chunks: Uint8Array[] = [];
      response.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const received = new Headers();
        for (const [name, value] of Object.entries(response.headers)) {
          if (value !== undefined) received.set(name, String(value));
        }
        const bytes = decompress(new Uint8Array(Buffer.concat(chunks)), received.get("content-encoding"));
        resolve(answerOf(method, response.statusCode ?? 0, received, bytes));
      });
    });
    if (body instanceof Uint8Array) request.end(body);
    else request.end();
  });
}

/** The body decompressed; `encoding` is its Content-Encoding, null if it has none. */
export function decompress(bytes: Uint8Array<ArrayBuffer>, encoding: string | null): Uint8Array<ArrayBuffer> {
  if (encoding === null || bytes.length === 0) return bytes;
  return new Uint8Array(encoding === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes));
}

/** The answer as tests see it. */
export function answerOf(
  method: string,
  status: number,
  headers: Headers,
  bytes: Uint8Array<ArrayBuffer>,
): Answer {
  const text = new TextDecoder().decode(bytes);
  // The bytes of a JSON file are sent without a charset, and need not be JSON.
  const isJson = headers.get("content-type")?.startsWith("application/json;") && text !== "";
  return { method, status, headers, bytes, text, body: isJson ? JSON.parse(text) : undefined };
}
