/** Requests as bytes, most of them malformed, and how they may be answered. */
import type { RawRequest } from "./raw_connection.ts";

export const body = (content: string) => JSON.stringify({ path: "raw.txt", content });
export const small = body("x");
const getOf = (key: string) => (prefix: string, path: string, headers = "", version = "1.1") =>
  `GET ${prefix}${path} HTTP/${version}\r\nhost: x\r\nx-api-key: ${key}\r\n${headers}\r\n`;
export const postOf = (key: string) => (prefix: string, headers: string, payload: string) =>
  `POST ${prefix}/files HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${headers}\r\n${payload}`;
export const length = (payload: string) => `content-length: ${payload.length}\r\n`;

export interface RawCase extends Omit<RawRequest, "timeoutMilliseconds" | "parts"> {
  readonly parts: (prefix: string) => RawRequest["parts"];
  /** Statuses that may be answered; an end without answer is allowed where `mayEnd`. */
  readonly statuses: readonly number[];
  readonly mayEnd?: boolean;
}

const REFUSED = [400, 408, 411, 413, 414, 417, 431, 501, 503, 505];

export function rawCasesOf(key: string): Readonly<Record<string, RawCase>> {
  const get = getOf(key);
  const post = postOf(key);
  return {
    "half a request line": { parts: () => ["GET /fil"], finish: true, statuses: REFUSED, mayEnd: true },
    "half a head": {
      parts: (p) => [`GET ${p}/health HTTP/1.1\r\nhost:`],
      finish: true,
      statuses: REFUSED,
      mayEnd: true,
    },
    "half a body": {
      parts: (p) => [post(p, "content-length: 500\r\n", small)],
      finish: true,
      statuses: REFUSED,
      mayEnd: true,
    },
    "a length too long, then silence": {
      parts: (p) => [post(p, "content-length: 70000\r\n", small), 300],
      finish: true,
      statuses: REFUSED,
      mayEnd: true,
    },
    "a length too short": {
      parts: (p) => [post(p, "content-length: 5\r\n", small)],
      statuses: [400],
      answers: 1,
    },
    "a negative length": {
      parts: (p) => [post(p, "content-length: -1\r\n", small)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "a length that is no number": {
      parts: (p) => [post(p, "content-length: 1e3\r\n", small)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "a length beyond all numbers": {
      parts: (p) => [post(p, `content-length: ${"9".repeat(40)}\r\n`, small)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "a length beyond every limit": {
      parts: (p) => [post(p, "content-length: 99999999999\r\n", small)],
      statuses: [413, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "two lengths": {
      parts: (p) => [post(p, "content-length: 4\r\ncontent-length: 5\r\n", small)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "a length and chunks": {
      parts: (p) => [post(p, `${length(small)}transfer-encoding: chunked\r\n`, "0\r\n\r\n")],
      statuses: REFUSED,
      answers: 1,
      mayEnd: true,
    },
    "an unknown transfer coding": {
      parts: (p) => [post(p, "transfer-encoding: gzip\r\n", small)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "chunks": {
      parts: (
        p,
      ) => [
        post(p, "transfer-encoding: chunked\r\n", `${small.length.toString(16)}\r\n${small}\r\n0\r\n\r\n`),
      ],
      statuses: [200, 503],
      answers: 1,
    },
    "a chunk size that is none": {
      parts: (p) => [post(p, "transfer-encoding: chunked\r\n", `zz\r\n${small}\r\n0\r\n\r\n`)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "a chunk size beyond all numbers": {
      parts: (p) => [post(p, "transfer-encoding: chunked\r\n", `${"f".repeat(20)}\r\n${small}`)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "a chunk without its end": {
      parts: (p) => [post(p, "transfer-encoding: chunked\r\n", `3\r\nabcdef\r\n0\r\n\r\n`)],
      statuses: REFUSED,
      mayEnd: true,
    },
    "chunks without the last": {
      parts: (
        p,
      ) => [post(p, "transfer-encoding: chunked\r\n", `${small.length.toString(16)}\r\n${small}\r\n`)],
      finish: true,
      statuses: REFUSED,
      mayEnd: true,
    },
    "a body byte by byte": {
      parts: (p) => [post(p, length(small), ""), ...[...small].flatMap((byte) => [byte, 5])],
      statuses: [200],
      answers: 1,
    },
    "a head byte by byte": {
      parts: (p) => [...get(p, "/health")].flatMap((byte) => [byte, 2]),
      statuses: [200],
      answers: 1,
    },
    "pipelining": {
      parts: (p) => [get(p, "/health").repeat(10) + post(p, length(small), small) + get(p, "/files/raw.txt")],
      statuses: [200],
      answers: 12,
    },
    "HTTP/1.0": { parts: (p) => [get(p, "/health", "", "1.0")], statuses: [200], answers: 1 },
    "HTTP/1.0 without a host": {
      parts: (p) => [`GET ${p}/health HTTP/1.0\r\n\r\n`],
      statuses: [200, ...REFUSED],
      answers: 1,
    },
    "HTTP/1.1 without a host": {
      parts: (p) => [`GET ${p}/health HTTP/1.1\r\n\r\n`],
      statuses: [200, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "HTTP/0.9": { parts: () => ["GET /\r\n"], finish: true, statuses: REFUSED, mayEnd: true },
    "HTTP/2 by prior knowledge": {
      parts: () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Uint8Array.from([0, 0, 0, 4, 0, 0, 0, 0, 0])],
      finish: true,
      statuses: [...REFUSED, NaN],
      mayEnd: true,
    },
    "TLS": {
      parts: () => [Uint8Array.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 13, 10, 13, 10])],
      finish: true,
      statuses: REFUSED,
      mayEnd: true,
    },
    "an absolute target": {
      parts: (p) => [get(`http://x${p}`, "/health")],
      statuses: [200, 404, ...REFUSED],
      answers: 1,
    },
    "an asterisk": {
      parts: () => ["OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n"],
      statuses: [204, 404, ...REFUSED],
      answers: 1,
    },
    "CONNECT": {
      parts: () => ["CONNECT example.org:443 HTTP/1.1\r\nhost: example.org:443\r\n\r\n"],
      statuses: [404, 405, ...REFUSED],
      mayEnd: true,
      finish: true,
    },
    "an unknown method": {
      parts: (p) => [`BREW ${p}/files HTTP/1.1\r\nhost: x\r\n\r\n`],
      statuses: [405, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "TRACE": {
      parts: (p) => [`TRACE ${p}/files HTTP/1.1\r\nhost: x\r\n\r\n`],
      statuses: [405, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a method of a thousand letters": {
      parts: (p) => [`${"A".repeat(1000)} ${p}/files HTTP/1.1\r\nhost: x\r\n\r\n`],
      statuses: [405, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a header of 100 KB": {
      parts: (p) => [get(p, "/health", `x-long: ${"x".repeat(100_000)}\r\n`)],
      statuses: [200, ...REFUSED],
      mayEnd: true,
      answers: 1,
    },
    "a megabyte of headers": {
      parts: (p) => [get(p, "/health", `x-long: ${"x".repeat(1000)}\r\n`.repeat(1000))],
      statuses: REFUSED,
      answers: 1,
      mayEnd: true,
    },
    "a thousand headers": {
      parts: (p) => [get(p, "/health", Array.from({ length: 1000 }, (_, n) => `x-${n}: ${n}\r\n`).join(""))],
      statuses: [200, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a target of 100 KB": {
      parts: (p) => [get(p, `/files/${"x".repeat(100_000)}`)],
      statuses: [400, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a query of a thousand names": {
      parts: (p) => [get(p, `/files?${Array.from({ length: 1000 }, (_, n) => `a${n}=${n}`).join("&")}`)],
      statuses: [200, ...REFUSED],
      answers: 1,
    },
    "bytes in the target": {
      parts: (p) => [get(p, "/files/\xff\xfe\x80")],
      statuses: [400, 404, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a null in the target": {
      parts: (p) => [get(p, "/files/a\0b")],
      statuses: REFUSED,
      answers: 1,
      mayEnd: true,
    },
    "a null in a header": {
      parts: (p) => [get(p, "/health", "x-null: a\0b\r\n")],
      statuses: [200, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a folded header": {
      parts: (p) => [get(p, "/health", "x-fold: a\r\n b\r\n")],
      statuses: [200, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a header without a name": {
      parts: (p) => [get(p, "/health", ": x\r\n")],
      statuses: REFUSED,
      answers: 1,
      mayEnd: true,
    },
    "a header without a colon": {
      parts: (p) => [get(p, "/health", "nothing\r\n")],
      statuses: REFUSED,
      answers: 1,
      mayEnd: true,
    },
    "line feeds alone": {
      parts: (p) => [`GET ${p}/health HTTP/1.1\nhost: x\n\n`],
      statuses: [200, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a body with a GET": {
      parts: (p) => [get(p, "/health", length(small)) + small],
      statuses: [200],
      answers: 1,
    },
    "expecting 100-continue": {
      parts: (p) => [post(p, `${length(small)}expect: 100-continue\r\n`, ""), 100, small],
      statuses: [200, 417],
      answers: 1,
    },
    "expecting something else": {
      parts: (p) => [post(p, `${length(small)}expect: a miracle\r\n`, small)],
      statuses: [200, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "an upgrade": {
      parts: (
        p,
      ) => [
        get(
          p,
          "/health",
          "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==\r\n",
        ),
      ],
      statuses: [200, 426, ...REFUSED],
      answers: 1,
      mayEnd: true,
    },
    "a request smuggled in a body": {
      parts: (p) => {
        const inner = get(p, "/files/raw.txt");
        return [post(p, length(inner), inner) + get(p, "/health")];
      },
      statuses: [400, 200],
      answers: 2,
    },
    "nothing at all": { parts: () => [], finish: true, statuses: REFUSED, mayEnd: true },
  };
}
