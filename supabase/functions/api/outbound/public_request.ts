/**
 * Requests to a host that a stranger names: only at a public address, and at the address that was checked. `fetch` and
 * `node:http` resolve names by themselves, so they could connect to another one.
 */
import { Buffer } from "node:buffer";
import { OAUTH_DOCUMENT_BYTES_MAX, OAUTH_DOCUMENT_HEAD_BYTES_MAX } from "../limits.ts";
import { isPublicAddress } from "./public_address.ts";

/** What the runtime does; tests replace it. */
export interface Dialler {
  /** All addresses of a name. */
  resolve(name: string): Promise<string[]>;
  connect(address: string, port: number): Promise<Deno.TcpConn>;
  /** Verifies the certificate for the name. */
  secure(connection: Deno.TcpConn, name: string): Promise<Deno.Conn>;
}

export const runtimeDialler: Dialler = {
  async resolve(name) {
    const answers = await Promise.allSettled([Deno.resolveDns(name, "A"), Deno.resolveDns(name, "AAAA")]);
    return answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : []);
  },
  connect: (hostname, port) => Deno.connect({ hostname, port }),
  secure: (connection, hostname) => Deno.startTls(connection, { hostname }),
};

export interface OutboundRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The host is, or has, an address that is not public. */
export class NotPublicError extends Error {
  override readonly name = "NotPublicError";
}

/** The addresses of a URL's host: the one that it names, or those that its name has. */
export async function addressesOf(dialler: Dialler, { hostname }: URL): Promise<string[]> {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  return name.includes(":") || /^[\d.]+$/.test(name) ? [name] : await dialler.resolve(name);
}

/**
 * Sends one request by HTTP/1.1 (RFC 9112), and returns the connection to read the answer from. `isTrusted`: the host may
 * be private. Calls `onOpen` with each connection, which the caller closes. Throws where there is no public host.
 */
export async function sendPublic(
  dialler: Dialler,
  url: URL,
  isTrusted: boolean,
  request: OutboundRequest,
  onOpen: (connection: Deno.Conn) => void,
): Promise<Deno.Conn> {
  const { hostname, port, protocol, pathname, search, host } = url;
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  // Resolved once: what is checked here is what is connected to, whatever the next answer would be.
  const addresses = isTrusted ? [name] : await addressesOf(dialler, url);
  const [address] = addresses;
  if (address === undefined) throw new Error("no address");
  if (!(isTrusted || addresses.every(isPublicAddress))) throw new NotPublicError("not public");
  const plain = await dialler.connect(address, Number(port) || (protocol === "http:" ? 80 : 443));
  onOpen(plain);
  const connection = protocol === "http:" ? plain : await dialler.secure(plain, name);
  onOpen(connection);
  const headers = { Host: host, ...request.headers, "User-Agent": "filestore", Connection: "close" };
  const lines = Object.entries(headers).map(([field, value]) => `${field}: ${value}\r\n`);
  const bytes = Buffer.from(
    `${request.method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n${request.body ?? ""}`,
  );
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  return connection;
}

/** The whole answer. Throws where it is not complete within the limits. */
export async function readResponse(connection: Deno.Conn): Promise<Response> {
  return responseOf(await receive(connection, () => false));
}

/** The status of the answer, as soon as its head is there: nobody waits for the rest. */
export async function readStatus(connection: Deno.Conn): Promise<number> {
  const status = statusOf(await receive(connection, (received) => received.includes("\r\n\r\n")));
  if (!(status >= 200)) throw new Error("no status");
  return status;
}

/** What comes until the host closes, or until it is enough, one character for each byte. */
async function receive(
  connection: Deno.Conn,
  isEnough: (received: Buffer) => boolean,
): Promise<string> {
  const buffer = Buffer.alloc(OAUTH_DOCUMENT_HEAD_BYTES_MAX + OAUTH_DOCUMENT_BYTES_MAX);
  for (let length = 0; length < buffer.length;) {
    const count = await connection.read(buffer.subarray(length));
    length += count ?? 0;
    if (count === null || isEnough(buffer.subarray(0, length))) return buffer.toString("latin1", 0, length);
  }
  throw new Error("too long");
}

function statusOf(received: string): number {
  return Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(received)?.[1]);
}

function responseOf(received: string): Response {
  const [head = ""] = received.split("\r\n\r\n", 1);
  const [, ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line): [string, string] => {
    const [, name = "", value = ""] = /^([^\s:]+):(.*)$/.exec(line) ?? [];
    return [name, value.trim()];
  }));
  const rest = received.slice(head.length + 4);
  const body = /^chunked$/i.test(headers.get("transfer-encoding") ?? "") ? unchunked(rest) : rest;
  const isComplete = body.length >= Number(headers.get("content-length") ?? 0);
  if (!isComplete || body.length > OAUTH_DOCUMENT_BYTES_MAX) throw new Error("incomplete, or too long");
  return new Response(Buffer.from(body, "latin1"), { status: statusOf(received), headers });
}

/** The content of chunks (RFC 9112 section 7.1). Throws where the last one is missing. */
function unchunked(text: string): string {
  let content = "";
  for (let at = 0;;) {
    const [line = "", digits = ""] = /^([\da-f]{1,6})(?:[ ;][^\r\n]*)?\r\n/i.exec(text.slice(at, at + 200)) ??
      [];
    const size = parseInt(digits, 16);
    if (size === 0) return content;
    at += line.length;
    content += text.slice(at, at += size);
    if (text.slice(at, at += 2) !== "\r\n") throw new Error("no chunk");
  }
}
