/** Requests as bytes, most of them malformed, and the answers that are allowed. */
import type { RawRequest } from "../support/client/raw_connection.ts";

export const body = (content: string) => JSON.stringify({ path: "raw.txt", content });
export const small = body("x");
const getOf = (key: string) => (prefix: string, path: string, headers = "", version = "1.1") =>
  `GET ${prefix}${path} HTTP/${version}\r\nhost: x\r\nx-api-key: ${key}\r\n${headers}\r\n`;
export const postOf = (key: string) => (prefix: string, headers: string, payload: string) =>
  `POST ${prefix}/files HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${headers}\r\n${payload}`;
export const length = (payload: string) => `content-length: ${payload.length}\r\n`;

const CHUNKED = "transfer-encoding: chunked\r\n";
/** The small body as one chunk, without the last chunk. */
const chunk = `${small.length.toString(16)}\r\n${small}\r\n`;

export interface RawCase extends Omit<RawRequest, "timeoutMilliseconds" | "parts"> {
  readonly parts: (prefix: string) => RawRequest["parts"];
  /** Allowed statuses. With `mayEnd`, the connection may also end without an answer. */
  readonly statuses: readonly number[];
  readonly mayEnd?: boolean;
}

const REFUSED = [400, 408, 411, 413, 414, 417, 431, 501, 503, 505];

type Parts = RawCase["parts"];

/** Must be refused, or the connection ends. */
const ends = (parts: Parts): RawCase => ({ parts, statuses: REFUSED, mayEnd: true });
/** The same, with the client closing its side. */
const cut = (parts: Parts, others: readonly number[] = []): RawCase => ({
  ...ends(parts),
  finish: true,
  statuses: [...others, ...REFUSED],
});
/** Must be refused or answered with one of these statuses, or the connection ends. */
const either = (parts: Parts, others: readonly number[] = []): RawCase => ({
  ...ends(parts),
  answers: 1,
  statuses: [...others, ...REFUSED],
});
const answered = (parts: Parts, statuses: readonly number[], answers = 1): RawCase => ({
  parts,
  statuses,
  answers,
});

export function rawCasesOf(key: string): Readonly<Record<string, RawCase>> {
  const get = getOf(key);
  const post = postOf(key);
  return {
    "half a request line": cut(() => ["GET /fil"]),
    "half a head": cut((p) => [`GET ${p}/health HTTP/1.1\r\nhost:`]),
    "half a body": cut((p) => [post(p, "content-length: 500\r\n", small)]),
    "a length too long, then silence": cut((p) => [post(p, "content-length: 70000\r\n", small), 300]),
    "a length too short": answered((p) => [post(p, "content-length: 5\r\n", small)], [400]),
    "a negative length": ends((p) => [post(p, "content-length: -1\r\n", small)]),
    "a length that is no number": ends((p) => [post(p, "content-length: 1e3\r\n", small)]),
    "a length beyond all numbers": ends((p) => [post(p, `content-length: ${"9".repeat(40)}\r\n`, small)]),
    "a length beyond every limit": either((p) => [post(p, "content-length: 99999999999\r\n", small)], [413]),
    "two lengths": ends((p) => [post(p, "content-length: 4\r\ncontent-length: 5\r\n", small)]),
    "a length and chunks": either((
      p,
    ) => [post(p, `${length(small)}transfer-encoding: chunked\r\n`, "0\r\n\r\n")]),
    "an unknown transfer coding": ends((p) => [post(p, "transfer-encoding: gzip\r\n", small)]),
    "chunks": answered((p) => [
      post(p, CHUNKED, `${chunk}0\r\n\r\n`),
    ], [200, 503]),
    "a chunk size that is none": ends((p) => [post(p, CHUNKED, `zz\r\n${small}\r\n0\r\n\r\n`)]),
    "a chunk size beyond all numbers": ends((p) => [post(p, CHUNKED, `${"f".repeat(20)}\r\n${small}`)]),
    "a chunk without its end": ends((p) => [post(p, CHUNKED, `3\r\nabcdef\r\n0\r\n\r\n`)]),
    "chunks without the last": cut((p) => [post(p, CHUNKED, chunk)]),
    "a body byte by byte": answered(
      (p) => [post(p, length(small), ""), ...[...small].flatMap((byte) => [byte, 5])],
      [200],
    ),
    "a head byte by byte": answered((p) => [...get(p, "/health")].flatMap((byte) => [byte, 2]), [200]),
    "pipelining": answered(
      (p) => [get(p, "/health").repeat(10) + post(p, length(small), small) + get(p, "/files/raw.txt")],
      [200],
      12,
    ),
    "HTTP/1.0": answered((p) => [get(p, "/health", "", "1.0")], [200]),
    "HTTP/1.0 without a host": answered((p) => [`GET ${p}/health HTTP/1.0\r\n\r\n`], [200, ...REFUSED]),
    "HTTP/1.1 without a host": either((p) => [`GET ${p}/health HTTP/1.1\r\n\r\n`], [200]),
    "HTTP/0.9": cut(() => ["GET /\r\n"]),
    "HTTP/2 by prior knowledge": cut(
      () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Uint8Array.from([0, 0, 0, 4, 0, 0, 0, 0, 0])],
      [NaN],
    ),
    "TLS": cut(() => [Uint8Array.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 13, 10, 13, 10])]),
    "an absolute target": answered((p) => [get(`http://x${p}`, "/health")], [200, 404, ...REFUSED]),
    "an asterisk": answered(() => ["OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n"], [204, 404, ...REFUSED]),
    "CONNECT": cut(() => ["CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n"], [404, 405]),
    "an unknown method": either((p) => [`BREW ${p}/files HTTP/1.1\r\nhost: x\r\n\r\n`], [405]),
    "TRACE": either((p) => [`TRACE ${p}/files HTTP/1.1\r\nhost: x\r\n\r\n`], [405]),
    "a method of a thousand letters": either(
      (p) => [`${"A".repeat(1000)} ${p}/files HTTP/1.1\r\nhost: x\r\n\r\n`],
      [405],
    ),
    "a header of 100 KB": either((p) => [get(p, "/health", `x-long: ${"x".repeat(100_000)}\r\n`)], [200]),
    "a megabyte of headers": either((
      p,
    ) => [get(p, "/health", `x-long: ${"x".repeat(1000)}\r\n`.repeat(1000))]),
    "a thousand headers": either(
      (p) => [get(p, "/health", Array.from({ length: 1000 }, (_, n) => `x-${n}: ${n}\r\n`).join(""))],
      [200],
    ),
    "a target of 100 KB": either((p) => [get(p, `/files/${"x".repeat(100_000)}`)], [400]),
    "a query of a thousand names": answered(
      (p) => [get(p, `/files?${Array.from({ length: 1000 }, (_, n) => `a${n}=${n}`).join("&")}`)],
      [200, ...REFUSED],
    ),
    "bytes in the target": either((p) => [get(p, "/files/\xff\xfe\x80")], [400, 404]),
    "a null in the target": either((p) => [get(p, "/files/a\0b")]),
    "a null in a header": either((p) => [get(p, "/health", "x-null: a\0b\r\n")], [200]),
    "a folded header": either((p) => [get(p, "/health", "x-fold: a\r\n b\r\n")], [200]),
    "a header without a name": either((p) => [get(p, "/health", ": x\r\n")]),
    "a header without a colon": either((p) => [get(p, "/health", "nothing\r\n")]),
    "line feeds alone": either((p) => [`GET ${p}/health HTTP/1.1\nhost: x\n\n`], [200]),
    "a body with a GET": answered((p) => [get(p, "/health", length(small)) + small], [200]),
    "expecting 100-continue": answered(
      (p) => [post(p, `${length(small)}expect: 100-continue\r\n`, ""), 100, small],
      [200, 417],
    ),
    "expecting something else": either((p) => [post(p, `${length(small)}expect: a miracle\r\n`, small)], [
      200,
    ]),
    "an upgrade": either((p) => [
      get(
        p,
        "/health",
        "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==\r\n",
      ),
    ], [200, 426]),
    "a request smuggled in a body": answered(
      (p) => {
        const inner = get(p, "/files/raw.txt");
        return [post(p, length(inner), inner) + get(p, "/health")];
      },
      [400, 200],
      2,
    ),
  };
}
