/**
 * Nonsense and malice, by the function's own port and by the gateway: an envelope where HTTP allows an answer, never a
 * 500, no connection without an end, and the process as it was before.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { join } from "node:path";
import {
  BODY_BUDGET_WAIT_MILLISECONDS,
  BODY_IDLE_MILLISECONDS,
} from "../../supabase/functions/api/limits.ts";
import { functionCommand } from "../../supabase/local/stack/function_command.ts";
import { FunctionProcess } from "../../supabase/local/stack/function_process.ts";
import { FUNCTION_ENTRY } from "../../supabase/local/repository.ts";
import { test } from "../support/suite.ts";
import { inParallel, Laboratory, present } from "../support/laboratory.ts";
import { figures, IS_LONG } from "../support/long.ts";
import {
  exchange,
  latin1,
  type RawAnswer,
  type RawOutcome,
  type RawRequest,
} from "../support/raw_connection.ts";

const lab = await Laboratory.start({ withFaultProxy: false });
const tenant = await lab.tenant();
const KEY = `x-api-key: ${tenant.key}\r\n`;

/** How long a test waits for an answer or an end: longer than a request may wait for its share of memory. */
const ANSWER_MILLISECONDS = BODY_BUDGET_WAIT_MILLISECONDS + 5_000;
/** What the process may keep after all this: parts of its caches that were empty before. */
const KEPT_MEGABYTES_MAX = 20;

/** A process of the function whose garbage a signal collects. */
const bareLog: string[] = [];
const bare = await (async () => {
  const command = await functionCommand({
    entry: FUNCTION_ENTRY,
    secrets: lab.secrets,
    supabaseUrl: lab.stack.backendUrl,
    databaseUrl: undefined,
    denoVersion: undefined,
    memoryLimitMegabytes: undefined,
  });
  const collector = join(lab.dataDir, "collector.ts");
  await Deno.writeTextFile(
    collector,
    `Deno.addSignalListener("SIGUSR2", () => Reflect.get(globalThis, "gc")({ type: "major", flavor: "last-resort" }));\n`,
  );
  const [run = "run", ...args] = command.args;
  const withCollector = {
    ...command,
    args: [run, "--v8-flags=--expose-gc", "--preload", collector, ...args],
  };
  const process = new FunctionProcess({
    command: withCollector,
    onLog: (line) => bareLog.push(line),
    onChange: () => {},
  });
  await process.start();
  return process;
})();
Deno.test.afterAll(async () => {
  await bare.stop();
  await lab.stop();
});

interface Front {
  readonly name: string;
  readonly origin: string;
  /** What the function's paths begin with there. */
  readonly prefix: string;
}

const FRONTS: readonly Front[] = [
  { name: "the function", origin: `http://127.0.0.1:${bare.upstream?.port}`, prefix: "/api" },
  { name: "the gateway", origin: lab.stack.supabaseUrl, prefix: "/functions/v1/api" },
];
const pids = [bare.pid, ...lab.stack.functionPids];

/** An answer of the service is in the envelope; one of the HTTP server in front of it may be bare. */
function assertAnswer({ status, headers, text }: RawAnswer, method: string): void {
  assert(status >= 200 && status < 600 && status !== 500, `${status} ${text.slice(0, 300)}`);
  if (!headers.has("x-request-id")) {
    // Malformed beyond what reaches the service.
    assert(status >= 400 && status < 600, `${status} without an id`);
    return;
  }
  if (method === "HEAD" || status === 204 || status === 304) return;
  if (headers.get("content-type")?.startsWith("application/json")) {
    const body = JSON.parse(text);
    if (status >= 400 && body.status === undefined) {
      assertEquals([body.success, typeof body.error.code, typeof body.error.message], [
        false,
        "string",
        "string",
      ]);
    }
  }
  if (status >= 400) {
    assert(headers.get("content-type")?.startsWith("application/json"), "an error outside the envelope");
  }
}

function assertBounded(outcome: RawOutcome, request: RawRequest): void {
  assert(
    outcome.isEnded || outcome.answers.length > 0,
    `neither answer nor end within ${request.timeoutMilliseconds} ms`,
  );
}

const body = (content: string) => JSON.stringify({ path: "raw.txt", content });
const small = body("x");
const get = (prefix: string, path: string, headers = "", version = "1.1") =>
  `GET ${prefix}${path} HTTP/${version}\r\nhost: x\r\n${KEY}${headers}\r\n`;
const post = (prefix: string, headers: string, payload: string) =>
  `POST ${prefix}/files HTTP/1.1\r\nhost: x\r\n${KEY}content-type: application/json\r\n${headers}\r\n${payload}`;
const length = (payload: string) => `content-length: ${payload.length}\r\n`;

interface RawCase extends Omit<RawRequest, "timeoutMilliseconds" | "parts"> {
  readonly parts: (prefix: string) => RawRequest["parts"];
  /** Statuses that may be answered; an end without answer is allowed where `mayEnd`. */
  readonly statuses: readonly number[];
  readonly mayEnd?: boolean;
}

const REFUSED = [400, 408, 411, 413, 414, 417, 431, 501, 503, 505];

const RAW_CASES: Readonly<Record<string, RawCase>> = {
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
    ) => [post(p, "transfer-encoding: chunked\r\n", `${small.length.toString(16)}\r\n${small}\r\n0\r\n\r\n`)],
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
    parts: (p) => [post(p, "transfer-encoding: chunked\r\n", `${small.length.toString(16)}\r\n${small}\r\n`)],
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

// Connections that go silent: all at once and before all else, since what ends them is time. They hold memory until
// then, so they have a process of their own.
const SILENT: Readonly<Record<string, (prefix: string) => RawRequest["parts"]>> = {
  "after half a body": (p) => [post(p, "content-length: 500\r\n", small)],
  "after half a large body": (
    p,
  ) => [post(p, "content-length: 5000000\r\n", `{"path":"raw.txt","content":"xxxx`)],
  "within a chunk": (p) => [post(p, "transfer-encoding: chunked\r\n", `ffff\r\n{"path"`)],
  "within a raw body": (p) => [
    `POST ${p}/files?path=raw.bin HTTP/1.1\r\nhost: x\r\n${KEY}content-type: application/pdf\r\ncontent-length: 9000000\r\n\r\nxxx`,
  ],
};
const SILENCE_MILLISECONDS = BODY_IDLE_MILLISECONDS + ANSWER_MILLISECONDS;
const SILENT_FRONTS: readonly Front[] = [
  { name: "the function", origin: new URL(lab.soundUrl).origin, prefix: "/api" },
  ...FRONTS.slice(1),
];
const silences = SILENT_FRONTS.flatMap((front) =>
  Object.entries(SILENT).map(([name, parts]) => ({
    name: `${front.name}, ${name}`,
    outcome: exchange(front.origin, {
      parts: parts(front.prefix),
      answers: 1,
      timeoutMilliseconds: SILENCE_MILLISECONDS,
    }),
  }))
);

for (const front of FRONTS) {
  test(`raw bytes to ${front.name} are answered properly or the connection ends, whatever they are`, async () => {
    const failures: string[] = [];
    const counts = new Map<string, number>();
    await inParallel(Object.entries(RAW_CASES), 6, async ([name, { parts, statuses, mayEnd, ...rest }]) => {
      const request = { ...rest, parts: parts(front.prefix), timeoutMilliseconds: ANSWER_MILLISECONDS };
      try {
        const outcome = await exchange(front.origin, request);
        assertBounded(outcome, request);
        for (const answer of outcome.answers) {
          assertAnswer(answer, "GET");
          assert(statuses.includes(answer.status), `answered ${answer.status} ${answer.text.slice(0, 200)}`);
        }
        if (outcome.answers.length === 0) assert(mayEnd, "ended without an answer");
        if (rest.answers !== undefined && !mayEnd) assertEquals(outcome.answers.length, rest.answers);
        const result = String(outcome.answers[0]?.status ?? "ended");
        counts.set(result, (counts.get(result) ?? 0) + 1);
      } catch (error) {
        failures.push(`${name}: ${error}`);
      }
    });
    const counted = [...counts].sort().map(([result, count]) => `${count} × ${result}`).join(", ");
    figures(`${Object.keys(RAW_CASES).length} raw cases: ${counted}`);
    assert(failures.length === 0, `\n${failures.join("\n")}`);
  });
}

/** Characters that mean something to somebody on the way. */
const odd = fc.constantFrom(
  ...[
    "/",
    "//",
    "%2F",
    "%2f",
    "..",
    "%2e%2e",
    ".",
    "%00",
    "%",
    "%zz",
    "%c3%28",
    "%ff",
    "%ed%a0%80",
    "\\",
    "%5c",
  ],
  ...[
    "?",
    "&",
    "=",
    "#",
    "+",
    "%20",
    ";",
    ":",
    "@",
    "*",
    "'",
    '"',
    "%22",
    "<",
    "|",
    "{",
    "a",
    "files",
    "append",
    "é",
    "\xff",
  ],
);
const oddTarget = fc.tuple(
  fc.constantFrom(
    ...[
      "/files",
      "/files/",
      "/files/append/",
      "/files/overwrite/",
      "/files/edit/",
      "/files/restore/",
      "/files/copy/",
    ],
    ...[
      "/files/move/",
      "/diff/",
      "/health",
      "/openapi.json",
      "/sweep",
      "/search",
      "/",
      "",
      "/../",
      "/files/../health",
    ],
  ),
  fc.array(fc.oneof(odd, fc.string({ maxLength: 6 })), { maxLength: 8 }),
  fc.array(
    fc.tuple(
      fc.constantFrom(
        ...[
          "version",
          "metadata",
          "versions",
          "limit",
          "offset",
          "encoding",
          "lines",
          "directory",
          "recursive",
          "sortBy",
        ],
        ...[
          "sortOrder",
          "after",
          "deleted",
          "minSize",
          "createdAfter",
          "contentType",
          "path",
          "raw",
          "from",
          "to",
          "deep",
          "",
        ],
      ),
      fc.oneof(
        odd,
        fc.constantFrom(
          "0",
          "-1",
          "1",
          "1e9",
          "2147483648",
          "NaN",
          "true",
          "null",
          "[]",
          "2026-02-30",
          "1-",
          "-5",
          "9".repeat(30),
        ),
        fc.string({ maxLength: 10 }),
      ),
    ),
    { maxLength: 4 },
  ),
).map(([route, pieces, query]) => {
  const parameters = query.map(([name, value]) => `${name}=${value}`).join("&");
  return route + pieces.join("") + (parameters === "" ? "" : `?${parameters}`);
});

/** Among them such as are answered, so that the odd headers and bodies get further, too. */
const target = fc.oneof(
  { arbitrary: oddTarget, weight: 4 },
  {
    arbitrary: fc.constantFrom(
      "/health",
      "/files",
      "/files?recursive=true",
      "/files/raw.txt",
      "/files/raw.txt?versions",
    ),
    weight: 1,
  },
);

const headerValue = fc.oneof(
  odd,
  fc.constantFrom(
    ...[
      "application/json",
      "application/pdf",
      "text/plain; charset=utf-16",
      "multipart/form-data",
      "*/*",
      "gzip",
      "identity",
    ],
    ...[
      "bytes=0-",
      "bytes=5-1",
      "bytes=-0",
      "bytes=0-0,1-1",
      '"x"',
      'W/"x"',
      "*",
      '"',
      "Bearer ",
      "Bearer oa_x",
      "oa_",
      "1",
    ],
    ...["application/octet-stream;q=0", "chunked", "x".repeat(3000)],
  ),
  fc.string({ maxLength: 20 }),
);
const headers = fc.array(
  fc.tuple(
    fc.constantFrom(
      ...[
        "content-type",
        "accept",
        "content-encoding",
        "range",
        "if-range",
        "if-match",
        "if-none-match",
        "idempotency-key",
      ],
      ...[
        "authorization",
        "x-forwarded-for",
        "cf-connecting-ip",
        "origin",
        "cookie",
        "x-request-id",
        "accept-encoding",
        "te",
      ],
    ),
    headerValue,
  ),
  { maxLength: 4 },
);

const fieldValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: "binary", maxLength: 50 }),
  fc.constantFrom(
    "../x",
    "a\0b",
    "x".repeat(2000),
    "\ud800",
    "a/b",
    "eA==",
    "text/plain",
    1,
    -1,
    1e400,
    true,
    null,
    [],
    {},
  ),
);
const fields = fc.dictionary(
  fc.constantFrom(
    ...[
      "path",
      "content",
      "contentType",
      "isBase64",
      "oldString",
      "newString",
      "replaceAll",
      "edits",
      "expectedOccurrences",
    ],
    ...["dryRun", "version", "destination", "overwrite", "__proto__", "constructor", ""],
  ),
  fieldValue,
  { maxKeys: 5 },
).map((value) => JSON.stringify(value));
const payload = fc.oneof(
  fields,
  fields.chain((text) => fc.nat({ max: text.length }).map((end) => text.slice(0, end))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => String.fromCharCode(...bytes)),
  fc.constantFrom(
    "",
    "null",
    "[]",
    '"x"',
    "{",
    "[".repeat(5000),
    '{"a":'.repeat(2000),
    '{"content":"\xff"}',
    "\xef\xbb\xbf{}",
    '{"content":"\\ud800"}',
  ),
);
const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");

/** Nothing that would end the head early or make two heads of one: that is what the raw cases are for. */
const onOneLine = (text: string) => text.replaceAll(/[\r\n\0 ]/g, "_");
const inHeader = (text: string) => text.replaceAll(/[\r\n\0]/g, "_");

const fuzzed = fc.record({ method, target, headers, payload, hasKey: fc.boolean(), isChunked: fc.boolean() })
  .map((one) => {
    const sent = latin1(one.payload);
    const head = [
      `${one.method} {prefix}${onOneLine(one.target)} HTTP/1.1`,
      "host: x",
      ...(one.hasKey ? [`x-api-key: ${tenant.key}`] : []),
      ...one.headers.map(([name, value]) => `${name}: ${inHeader(value)}`),
      one.isChunked ? "transfer-encoding: chunked" : `content-length: ${sent.length}`,
    ].join("\r\n");
    const chunk = one.isChunked
      ? [...(sent.length > 0 ? [`${sent.length.toString(16)}\r\n`, sent, "\r\n"] : []), "0\r\n\r\n"]
      : [sent];
    return { method: one.method, head: `${head}\r\n\r\n`, chunk };
  });

const RUNS = IS_LONG ? 20_000 : 600;
const SEED = Number(Deno.env.get("TEST_SEED") ?? Date.now() % 1_000_000);
let runs = 0;

async function fuzz(front: Front, numRuns: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const property = fc.asyncProperty(fuzzed, async ({ method, head, chunk }) => {
    runs++;
    const request = {
      parts: [head.replace("{prefix}", front.prefix), ...chunk],
      // The head of an answer to HEAD has a length and no body: it ends with the connection.
      ...(method === "HEAD" ? { finish: true } : { answers: 1 }),
      timeoutMilliseconds: method === "HEAD" ? 150 : ANSWER_MILLISECONDS,
    };
    const outcome = await exchange(front.origin, request);
    if (method !== "HEAD") assertBounded(outcome, request);
    const [answer] = outcome.answers;
    if (!answer) return;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    assertAnswer(answer, method);
  });
  await fc.assert(property, { numRuns, seed: SEED });
  return statuses;
}

for (const front of FRONTS) {
  test(`fuzzed methods, paths, queries, headers and bodies to ${front.name} never meet a 500 or silence`, async () => {
    const statuses = await fuzz(front, RUNS);
    const counted = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`)
      .join(", ");
    figures(`${RUNS} requests, seed ${SEED}: ${counted}`);
    assert(
      [200, 400, 401, 404, 405].every((status) => statuses.has(status)),
      "the fuzzing reaches the service",
    );
  });
}

test("a client that is cut off while it waits for memory is no defect, and takes nothing from the others", async () => {
  const [front] = FRONTS;
  const { origin, prefix } = present(front);
  const huge = `transfer-encoding: chunked\r\n`;
  // Bodies of unknown length count as the longest: the second of these waits, and so do all after it.
  await Promise.all(
    Array.from({ length: 6 }, () =>
      exchange(origin, {
        parts: [post(prefix, huge, `10\r\n{"path":"raw.txt`)],
        answers: 1,
        timeoutMilliseconds: 500,
      })),
  );
  const content = "x".repeat(200_000);
  const outcome = await exchange(origin, {
    parts: [post(prefix, length(body(content)), body(content))],
    answers: 1,
    timeoutMilliseconds: ANSWER_MILLISECONDS,
  });
  assertEquals(outcome.answers[0]?.status, 200, "the others are served at once");
});

test(`a body of which nothing comes for ${BODY_IDLE_MILLISECONDS / 1000} s is refused, by the function and by the gateway`, async () => {
  const failures: string[] = [];
  for (const { name, outcome } of silences) {
    const { answers, isEnded, milliseconds } = await outcome;
    if (!isEnded && answers.length === 0) {
      failures.push(`${name}: nothing within ${milliseconds.toFixed(0)} ms`);
    }
    for (const answer of answers) {
      if (answer.status !== 400) failures.push(`${name}: ${answer.status} ${answer.text}`);
    }
  }
  const longest = Math.max(
    ...(await Promise.all(silences.map(({ outcome }) => outcome))).map((one) => one.milliseconds),
  );
  figures(`${silences.length} silent connections, the last ended after ${(longest / 1000).toFixed(1)} s`);
  assert(failures.length === 0, `\n${failures.join("\n")}`);
});

/** Megabytes that stay after everything that can be collected is. */
async function residentAfterCollection(): Promise<number> {
  const pid = bare.pid ?? 0;
  for (let round = 0; round < 3; round++) {
    Deno.kill(pid, "SIGUSR2");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const [, kilobytes = NaN] = /VmRSS:\s+(\d+) kB/.exec(await Deno.readTextFile(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) / 1024;
}

test("after all that the processes are the same, nothing was a defect, and memory is where it was", async () => {
  assertEquals([bare.pid, ...lab.stack.functionPids], pids);
  const defects = [...bareLog, ...lab.log].filter((line) =>
    /"defect"|panicked|Uncaught|process ended/.test(line)
  );
  assertEquals(defects, []);
  const [front] = FRONTS;
  const before = await residentAfterCollection();
  await fuzz(present(front), RUNS);
  await inParallel(Object.values(RAW_CASES), 6, async ({ parts, statuses: _, ...rest }) => {
    await exchange(present(front).origin, {
      ...rest,
      parts: parts(present(front).prefix),
      timeoutMilliseconds: 1000,
    });
  });
  const after = await residentAfterCollection();
  figures(
    `${runs} fuzzed requests in all; resident ${before.toFixed(0)} MB, ${
      after.toFixed(0)
    } MB after as much again`,
  );
  assert(after - before < KEPT_MEGABYTES_MAX, `${(after - before).toFixed(1)} MB more`);
  const health = await fetch(`${lab.stack.baseUrl}/health`);
  assertEquals((await health.json()).status, "ok");
});
