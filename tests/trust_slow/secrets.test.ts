/**
 * No key, hash, secret key or content appears in any log line, header, error or gateway output. The test runs every
 * operation, refusal and fault, and searches everything that is printed or sent.
 */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { eventually } from "../support/eventually.ts";
import { RecordingProxy } from "../support/stack/proxy.ts";
import { test } from "../support/stack/suite.ts";
import { type Fault, FAULTS, type Watch, watched } from "../support/faults/faults.ts";
import { inParallel } from "../support/in_parallel.ts";
import {
  Laboratory,
  type Outcome,
  send,
  type Sending,
  type Tenant,
  text,
} from "../support/faults/laboratory.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { OPERATIONS, prepareFor } from "../support/faults/operations.ts";

const progress: string[] = [];
const opened = Promise.withResolvers<RecordingProxy>();
const lab = await Laboratory.start({
  onProgress: (line) => progress.push(line),
  functionSupabaseUrl: async (backendUrl) => {
    opened.resolve(RecordingProxy.open(backendUrl));
    return (await opened.promise).url;
  },
});
const proxy = await opened.promise;
Deno.test.afterAll(async () => {
  await lab.stop();
  await proxy.close();
});

/** Part of every content that clients send; anywhere else it is a leak. */
const MARK = `content-marker-${crypto.randomUUID()}`;
/** Part of queries, paths and headers; it is not content, but must not be logged either. */
const ASIDE = `aside-marker-${crypto.randomUUID()}`;

/** Everything that was printed or sent, with its source. */
const out: { readonly where: string; readonly what: string }[] = [];
const answered = new Map<string, Outcome>();
const secrets = new Map<string, string>();

function addTenant(tenant: Tenant): void {
  secrets.set(`a key ${tenant.id}`, tenant.key);
  secrets.set(`the rest of a key ${tenant.id}`, tenant.key.slice(10));
  secrets.set(`a key's hash ${tenant.id}`, tenant.keyHash);
  const bytes = Uint8Array.fromHex(tenant.keyHash);
  secrets.set(`a key's hash in base64 ${tenant.id}`, bytes.toBase64({ omitPadding: true }));
}

async function record(tenant: Tenant | null, sending: Sending, mayShowContent = false): Promise<Outcome> {
  const outcome = await send(lab.stack.baseUrl, tenant?.key ?? null, sending).catch(() => null);
  if (!outcome) throw new Error(`${sending.method} ${sending.path} was not answered`);
  for (const [name, value] of outcome.headers) out.push({ where: `header ${name}`, what: value });
  if (outcome.status >= 400 && !mayShowContent) {
    out.push({ where: `error ${outcome.status}`, what: text(outcome) });
  }
  const id = outcome.headers.get("x-request-id");
  if (id === null) throw new Error(`no id: ${outcome.status} ${text(outcome)}`);
  assert(!answered.has(id), "an id is one request's");
  answered.set(id, outcome);
  return outcome;
}

const json = (
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Sending => ({
  method,
  path,
  body,
  headers,
});
const PATH = `dir/${ASIDE}.txt`;
const text200k = MARK.repeat(4000);

/** Valid and invalid requests that carry the marks in every part. */
const SENDINGS: readonly Sending[] = [
  json("POST", "/files", { path: PATH, content: `${MARK}\nold ${MARK}\n` }, { "idempotency-key": ASIDE }),
  json("POST", "/files", { path: PATH, content: `${MARK} other` }, { "idempotency-key": ASIDE }),
  json("POST", "/files", { path: PATH, content: text200k }),
  json("POST", "/files", { path: PATH, content: MARK, isBase64: true }),
  json("POST", "/files", { path: PATH, content: MARK, contentType: MARK }),
  json("POST", "/files", { path: PATH, content: [MARK] }),
  json("POST", "/files", { path: `../${MARK}`, content: MARK }),
  json("POST", "/files", { path: [MARK], content: MARK }),
  json("POST", "/files", { path: PATH, content: `\ud800${MARK}` }),
  json("POST", "/files", { path: PATH, content: MARK }, { "if-none-match": "*" }),
  json("POST", "/files", { path: PATH, content: MARK }, { "if-match": `"${ASIDE}"` }),
  json("POST", "/files", { path: PATH, content: MARK }, { "if-match": ASIDE }),
  { method: "POST", path: "/files", body: `{"content": "${MARK}` },
  { method: "POST", path: "/files", body: MARK, headers: { "content-type": "application/pdf" } },
  { method: "POST", path: "/files", body: MARK, headers: { "content-encoding": "gzip" } },
  { method: "POST", path: `/files?path=${PATH}`, body: new TextEncoder().encode(MARK) },
  json("PUT", `/files/append/${PATH}`, { content: MARK }),
  json("PUT", `/files/append/${PATH}`, { content: "" }),
  json("PUT", `/files/append/missing-${ASIDE}`, { content: MARK }),
  json("PUT", `/files/overwrite/${PATH}`, { content: `${MARK}\n${MARK}\n` }),
  json("PUT", `/files/edit/${PATH}`, { oldString: MARK, newString: `new ${MARK}` }),
  json("PUT", `/files/edit/${PATH}`, { oldString: `absent ${MARK}`, newString: MARK }),
  json("PUT", `/files/edit/${PATH}`, { oldString: MARK, newString: MARK }),
  json("PUT", `/files/edit/${PATH}`, { oldString: MARK, newString: `x${MARK}`, expectedOccurrences: 2 }),
  json("PUT", `/files/edit/${PATH}`, {
    oldString: MARK,
    newString: `y${MARK}`,
    replaceAll: true,
    dryRun: true,
  }),
  json("PUT", `/files/restore/${PATH}`, { version: 1 }),
  json("PUT", `/files/restore/${PATH}`, { version: 999 }),
  json("PUT", `/files/restore/${PATH}`, { version: MARK }),
  json("PUT", `/files/copy/${PATH}`, { destination: `copy/${ASIDE}` }),
  json("PUT", `/files/move/${PATH}`, { destination: `copy/${ASIDE}` }),
  { method: "GET", path: `/files/${PATH}` },
  { method: "GET", path: `/files/${PATH}`, headers: { accept: "application/octet-stream" } },
  { method: "GET", path: `/files/${PATH}?metadata` },
  { method: "GET", path: `/files/${PATH}?versions` },
  { method: "GET", path: `/files/${PATH}?version=${ASIDE}` },
  { method: "GET", path: `/files/${PATH}?lines=${ASIDE}` },
  { method: "GET", path: `/files/${PATH}`, headers: { "if-none-match": ASIDE } },
  { method: "GET", path: `/files?directory=${ASIDE}&sortBy=${ASIDE}` },
  { method: "GET", path: `/diff/${PATH}` },
  { method: "GET", path: `/diff/${PATH}?from=${ASIDE}` },
  { method: "GET", path: `/${ASIDE}` },
  { method: "PUT", path: `/files?${ASIDE}` },
  { method: "GET", path: "/files/%zz" },
  { method: "GET", path: "/health" },
  { method: "GET", path: "/health?deep" },
  { method: "GET", path: "/openapi.json" },
  { method: "GET", path: "/llms.txt" },
  { method: "OPTIONS", path: "/files" },
  { method: "POST", path: "/sweep" },
  { method: "POST", path: "/sweep", headers: { authorization: `Bearer ${MARK}` } },
  { method: "DELETE", path: `/files/${PATH}` },
  { method: "DELETE", path: `/files/missing-${ASIDE}` },
];

const requestLine = z.strictObject({
  time: z.iso.datetime(),
  level: z.literal("info"),
  event: z.literal("request"),
  id: z.uuid(),
  route: z.string().regex(/^[a-z_]+$/),
  method: z.string().regex(/^[A-Z]+$/),
  status: z.int(),
  code: z.string().regex(/^[A-Z_]+$/).optional(),
  durationMilliseconds: z.number().min(0),
  backendMilliseconds: z.number().min(0),
  projectId: z.uuid().optional(),
  keyId: z.uuid().optional(),
});

/** The log lines of the service. The runtime writes a line of its own about an aborted body, without secrets. */
function logLines(): ReturnType<typeof JSON.parse>[] {
  return lab.log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}

const FAULT_KINDS = (Object.keys(FAULTS) as Fault[]).filter((fault) => !fault.startsWith("hang"));

async function broadRun(): Promise<void> {
  const free = await lab.tenant("free");
  const [tenant, other] = [await lab.tenant(), await lab.tenant()];
  for (const one of [free, tenant, other]) addTenant(one);
  const strangers = ["oa_short", other.key.toLowerCase(), `${other.key}x`, other.key.slice(0, -1) + "_"];
  for (const sending of SENDINGS) {
    // The refusal of an edit shows similar lines: content, but the client's own.
    await record(tenant, sending, sending.path.startsWith("/files/edit/"));
    await record(null, sending);
    const headers = { ...sending.headers, "x-api-key": strangers[answered.size % strangers.length] ?? "" };
    await record(null, { ...sending, headers });
  }
  // A used-up window, reported first by the database and then from the cache.
  await lab.stack.exec(
    `insert into filestore.rate_windows (project_id, shard, window_start, request_count)
     select $1, n, date_trunc('minute', clock_timestamp()) + interval '5 minutes', 2 from generate_series(1, 64) n
     on conflict (project_id, shard) do update set window_start = excluded.window_start, request_count = 2`,
    [free.id],
  );
  for (let n = 0; n < 3; n++) await record(free, { method: "GET", path: `/files/${PATH}` });
  await faults();
  await corruption(tenant);
}

/** Every operation with a permanent fault at one of its first calls, in the long form at each of them. */
async function faults(): Promise<void> {
  const watches = new Map<Tenant, Watch>();
  // Breaks the calls that name a watched project or its key.
  proxy.hook = ({ method, path, body }, forward) => {
    const sent = path + new TextDecoder().decode(body.subarray(0, 200_000));
    const [, watch] = [...watches].find(([{ id, keyHash }]) => sent.includes(id) || sent.includes(keyHash)) ??
      [];
    return watch ? watched(watch, { method, url: path, at: performance.now() }, forward) : forward();
  };
  let turn = 0;
  const cases = OPERATIONS.flatMap((operation) =>
    (IS_LONG ? [1, 2, 3] : [1 + turn % 3])
      .map((n) => ({ operation, n, fault: FAULT_KINDS[turn++ % FAULT_KINDS.length] ?? "resetBefore" }))
  );
  await inParallel(cases, 6, async ({ operation, n, fault }) => {
    const tenant = await lab.tenant();
    addTenant(tenant);
    await prepareFor(lab, tenant, operation);
    watches.set(tenant, { decide: (number) => number >= n ? fault : null, calls: [] });
    await record(tenant, operation).catch((error) => {
      // The read broke off before the gateway had passed on its headers.
      if (operation.writes) throw error;
    });
    watches.delete(tenant);
  });
}

async function corruption(tenant: Tenant): Promise<void> {
  // Another process writes the content, so that it is in no cache of the one that reads it.
  const { baseUrl } = await lab.bareFunction();
  await lab.prepare(tenant, json("POST", "/files", { path: "damaged.txt", content: MARK }), baseUrl);
  for (const { name } of await lab.segments(tenant, "damaged.txt")) {
    await Deno.truncate(lab.objectFile(name), 3);
  }
  assertEquals((await record(tenant, { method: "GET", path: "/files/damaged.txt" })).status, 500);
}

await broadRun();
// The log arrives separately from the answers.
await eventually("each answer has its line in the log", () => {
  const log = lab.log.join("\n");
  return [...answered.keys()].every((id) => log.includes(id));
});

test("no key, hash, secret key or content is in any log line, header, error or progress line", () => {
  const { stack } = lab;
  for (const [name, secret] of Object.entries(lab.secrets)) {
    if (name !== "publishableKey" && name !== "anonKey") secrets.set(name, secret);
  }
  secrets.set("the secret key", stack.secretKey);
  secrets.set("content", MARK);
  for (const what of lab.log) out.push({ where: "log", what });
  for (const what of progress) out.push({ where: "progress", what });
  let places = 0;
  for (const { where, what } of out) {
    for (const [name, secret] of secrets) {
      assert(!what.includes(secret), `${name} in ${where}: ${what.slice(0, 300)}`);
      places++;
    }
    if (where === "log") assert(!what.includes(ASIDE), `a path, query or header in the log: ${what}`);
  }
  const kinds = new Set([...answered.values()].map(({ status }) => status));
  figures(
    `${answered.size} requests (statuses ${[...kinds].sort().join(", ")}), ${lab.log.length} log lines, ` +
      `${secrets.size} secrets: ${places} comparisons`,
  );
  for (const status of [200, 400, 401, 404, 405, 409, 412, 415, 422, 429, 500, 503]) {
    assert(kinds.has(status), `the run never met ${status}`);
  }
});

test("each request makes exactly one JSON log line, with its id, route, status, durations, project and key", () => {
  const rest = lab.log.filter((line) => !line.startsWith("{"));
  for (const line of rest) {
    assert(/^(Deno\.serve|ApiError: |\s|\})/.test(line), `a line of nobody's: ${line}`);
  }
  const requests = logLines().filter(({ event }) => event === "request").map((line) =>
    requestLine.parse(line)
  );
  const byId = new Map(requests.map((line) => [line.id, line]));
  assertEquals(byId.size, requests.length, "a request has two lines");
  for (const [id, outcome] of answered) {
    const line = byId.get(id);
    assert(line !== undefined, `no line for ${id}`);
    assertEquals(line?.status, outcome.status);
    if (outcome.status >= 400) assertEquals(line?.code ?? "degraded", codeIn(outcome) ?? "degraded");
    assert((line?.durationMilliseconds ?? 0) < 60_000);
  }
  const known = requests.filter(({ projectId }) => projectId !== undefined);
  assert(known.length > 50);
  for (const { projectId, keyId } of known) assert(projectId !== undefined && keyId !== undefined);
  const slow = requests.find(({ backendMilliseconds }) => backendMilliseconds > 0);
  assert(slow, "no request waited for its back end");
  // A request with an invalid key names no key.
  for (const line of requests.filter(({ status }) => status === 401)) assertEquals(line.keyId, undefined);
});

test("the other lines of the log are faults and damages, each with what it takes to find it, none a defect", () => {
  const others = logLines().filter(({ event }) => event !== "request");
  const events = new Map<string, number>();
  for (const line of others) {
    events.set(line.event, (events.get(line.event) ?? 0) + 1);
    if (line.event === "backend_fault") {
      assertEquals([typeof line.call, typeof line.try, typeof line.reason], ["string", "number", "string"]);
      assert(/^[\w.-]{0,40}$/.test(line.reason), `a reason is a code: ${line.reason}`);
    } else if (line.event === "background_fault") {
      // Files that could not be indexed while the back end was down or the content damaged.
      assert(/^(index|sweep)$/.test(line.work) && /^\w+$/.test(line.error), JSON.stringify(line));
    } else {
      assertEquals(line.event, "corrupt_segment", JSON.stringify(line));
    }
  }
  assert((events.get("backend_fault") ?? 0) > 20 && (events.get("corrupt_segment") ?? 0) > 0);
  figures([...events].map(([event, count]) => `${count} × ${event}`).join(", "));
});

function codeIn(outcome: Outcome): string | undefined {
  if (outcome.broken || outcome.bytes.length === 0) return undefined;
  return JSON.parse(text(outcome)).error?.code;
}
