/** HTTP as a client sends it, and as no well-behaved client would: paths that `fetch` normalizes, and raw bytes. */
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
  return answer(method, response.status, response.headers, decompress(bytes, encoding));
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
        resolve(answer(method, response.statusCode ?? 0, received, bytes));
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

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}

function answer(method: string, status: number, headers: Headers, bytes: Uint8Array<ArrayBuffer>): Answer {
  const text = decode([bytes]);
  // The bytes of a JSON file are sent without a charset, and need not be JSON.
  const isJson = headers.get("content-type")?.startsWith("application/json;") && text !== "";
  return { method, status, headers, bytes, text, body: isJson ? JSON.parse(text) : undefined };
}

/**
 * Sends bytes to the server and reads its answer to the end of the body, even if the server has not read the whole
 * request. For requests that no library sends: a wrong Content-Length, a body that never comes.
 */
export async function sendRaw(origin: string, method: string, request: string): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  try {
    const writer = connection.writable.getWriter();
    await writer.write(new TextEncoder().encode(request));
    const received: Uint8Array[] = [];
    for await (const chunk of connection.readable) {
      received.push(chunk);
      const parsed = parseRaw(method, decode(received));
      if (parsed) return parsed;
    }
    throw new Error(`the connection ended after ${JSON.stringify(decode(received).slice(0, 200))}`);
  } finally {
    try {
      connection.close();
    } catch { /* the reader closed it */ }
  }
}

/** The answer, if it is complete; null otherwise. Understands bodies with a length and chunked bodies. */
function parseRaw(method: string, text: string): Answer | null {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }));
  const rest = text.slice(end + 4);
  const status = Number(statusLine.split(" ")[1]);
  const length = headers.get("content-length");
  if (length !== null) {
    if (new TextEncoder().encode(rest).length < Number(length)) return null;
    return answer(method, status, headers, new TextEncoder().encode(rest));
  }
  if (!rest.endsWith("0\r\n\r\n")) return null;
  const body = rest.split("\r\n").filter((_, index) => index % 2 === 1).join("\r\n").trimEnd();
  return answer(method, status, headers, new TextEncoder().encode(body));
}
