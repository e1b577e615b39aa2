/**
 * GET from a host that a stranger names: only at a public address, and at the address that was checked. `fetch` and
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

/**
 * One GET by HTTP/1.1 (RFC 9112). `isTrusted`: the host may be private. Calls `onOpen` with each connection, which the
 * caller closes. Throws where there is no public host, or no complete answer within the limits.
 */
export async function publicGet(
  dialler: Dialler,
  url: URL,
  isTrusted: boolean,
  onOpen: (connection: Deno.Conn) => void,
): Promise<Response> {
  const { hostname, port, protocol, pathname, search, host } = url;
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  const isName = !isTrusted && !name.includes(":") && !/^[\d.]+$/.test(name);
  // Resolved once: what is checked here is what is connected to, whatever the next answer would be.
  const addresses = isName ? await dialler.resolve(name) : [name];
  const [address] = addresses;
  if (address === undefined || !(isTrusted || addresses.every(isPublicAddress))) {
    throw new Error("not public");
  }
  const plain = await dialler.connect(address, Number(port) || (protocol === "http:" ? 80 : 443));
  onOpen(plain);
  const connection = protocol === "http:" ? plain : await dialler.secure(plain, name);
  onOpen(connection);
  const request = Buffer.from(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nAccept: application/json\r\n` +
      "Accept-Encoding: identity\r\nUser-Agent: filestore\r\nConnection: close\r\n\r\n",
  );
  for (let at = 0; at < request.length;) at += await connection.write(request.subarray(at));
  return responseOf(await receive(connection));
}

/** All that comes until the host closes, one character for each byte. */
async function receive(connection: Deno.Conn): Promise<string> {
  const buffer = Buffer.alloc(OAUTH_DOCUMENT_HEAD_BYTES_MAX + OAUTH_DOCUMENT_BYTES_MAX);
  for (let length = 0; length < buffer.length;) {
    const count = await connection.read(buffer.subarray(length));
    if (count === null) return buffer.toString("latin1", 0, length);
    length += count;
  }
  throw new Error("too long");
}

function responseOf(received: string): Response {
  const [head = ""] = received.split("\r\n\r\n", 1);
  const [first = "", ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line): [string, string] => {
    const [, name = "", value = ""] = /^([^\s:]+):(.*)$/.exec(line) ?? [];
    return [name, value.trim()];
  }));
  const rest = received.slice(head.length + 4);
  const body = /^chunked$/i.test(headers.get("transfer-encoding") ?? "") ? unchunked(rest) : rest;
  const isComplete = body.length >= Number(headers.get("content-length") ?? 0);
  if (!isComplete || body.length > OAUTH_DOCUMENT_BYTES_MAX) throw new Error("incomplete, or too long");
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(first)?.[1]);
  return new Response(Buffer.from(body, "latin1"), { status, headers });
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
