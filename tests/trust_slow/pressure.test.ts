/**
 * A process of the function with the memory of an isolate serves 32 clients with the largest possible bodies. Every
 * request ends in success or in 503 with Retry-After, and the process survives.
 */
import { assert, assertEquals } from "@std/assert";
import { CONTENT_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import { test } from "../support/stack/suite.ts";
import {
  codeOf,
  Laboratory,
  type Outcome,
  present,
  type Sending,
  type Tenant,
  text,
} from "../support/faults/laboratory.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";

const MEMORY_MEGABYTES = 256;
/**
 * The largest allowed resident memory. To V8's limit it adds Deno itself (about 90 MB), bytes in transit, and memory
 * that the C library has freed but not returned; the total levels off after some rounds.
 */
const RESIDENT_MEGABYTES_MAX = 640;
const CLIENTS = 32;
const ROUNDS = IS_LONG ? 10 : 1;

const lab = await Laboratory.start({ memoryLimitMegabytes: MEMORY_MEGABYTES });
Deno.test.afterAll(() => lab.stop());

/** From /proc, in megabytes: the process's peak and current memory. */
function memoryOf(pid: number): { peak: number; now: number } {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const megabytes = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? NaN) / 1024;
  return { peak: megabytes("VmHWM"), now: megabytes("VmRSS") };
}

/** Ten million characters that differ from those of every other client. */
function content(client: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(CONTENT_LENGTH_MAX);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = at % 80 === 79 ? 0x0a : 0x61 + (at * 7 + client * 13) % 26;
  }
  return bytes;
}

const encode = (text: string) => new TextEncoder().encode(text);

/** The body with every character of the content written as `\u0061`: over 60 MB, generated while it is sent. */
function escapedBody(path: string, bytes: Uint8Array): ReadableStream<Uint8Array> {
  const escapes = Array.from(
    { length: 128 },
    (_, code) => encode(`\\u${code.toString(16).padStart(4, "0")}`),
  );
  const piece = 64 * 1024;
  let at = -1;
  return new ReadableStream({
    pull(controller) {
      if (at < 0) {
        at = 0;
        return controller.enqueue(encode(`{"path":"${path}","content":"`));
      }
      if (at >= bytes.length) {
        controller.enqueue(encode('"}'));
        return controller.close();
      }
      const end = Math.min(at + piece, bytes.length);
      const escaped = new Uint8Array((end - at) * 6);
      for (let into = 0; at < end; at++, into += 6) escaped.set(escapes[bytes[at] ?? 0] ?? [], into);
      controller.enqueue(escaped);
    },
  });
}

/** The ways in which clients write ten million characters. */
const WRITES: readonly ((path: string, bytes: Uint8Array<ArrayBuffer>) => Sending)[] = [
  (path, bytes) => ({
    method: "POST",
    path: "/files",
    body: { path, content: new TextDecoder().decode(bytes) },
  }),
  (path, bytes) => ({
    method: "POST",
    path: "/files",
    headers: { "content-type": "application/json" },
    body: escapedBody(path, bytes),
  }),
  (path, bytes) => ({ method: "POST", path: `/files?path=${path}`, body: bytes }),
  (path, bytes) => ({
    method: "POST",
    path: "/files",
    // The largest content that fits into a request as base64, 7.5 MB.
    body: { path, content: bytes.subarray(0, 7_864_320).toBase64(), isBase64: true },
  }),
];

const READS: readonly ((path: string) => Sending)[] = [
  (path) => ({ method: "GET", path: `/files/${path}` }),
  (path) => ({ method: "GET", path: `/files/${path}`, headers: { accept: "application/octet-stream" } }),
  (path) => ({ method: "GET", path: `/files/${path}?encoding=base64` }),
];

interface Client {
  readonly index: number;
  readonly tenant: Tenant;
  readonly path: string;
}

const counts = new Map<string, number>();
const times: number[] = [];

/** Sends the request, counts its result, and returns the outcome if it is a success; null otherwise. */
async function attempt(client: Client, kind: string, sending: Sending): Promise<Outcome | null> {
  const started = performance.now();
  const outcome = await lab.send(client.tenant, sending);
  times.push(performance.now() - started);
  const result = `${kind} ${outcome.status}`;
  counts.set(result, (counts.get(result) ?? 0) + 1);
  assertEquals(outcome.broken, false, `${result}: the answer broke off`);
  if (outcome.status === 200) return outcome;
  assertEquals([outcome.status, codeOf(outcome)], [503, "SERVICE_UNAVAILABLE"], text(outcome).slice(0, 300));
  assert(Number(outcome.headers.get("retry-after")) >= 1);
  return null;
}

async function work(client: Client): Promise<void> {
  const bytes = content(client.index);
  const sized = client.index % WRITES.length === 3 ? bytes.subarray(0, 7_864_320) : bytes;
  const write = present(WRITES[client.index % WRITES.length]);
  let written = await attempt(client, "write", write(client.path, bytes));
  // Waits as Retry-After asks, and gives up after five refusals.
  for (let tries = 0; written === null && tries < 5; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    written = await attempt(client, "write", write(client.path, bytes));
  }
  if (written === null) return;
  assertEquals(JSON.parse(text(written)).data.size, sized.length);
  for (const [way, read] of READS.entries()) {
    const outcome = await attempt(client, "read", read(client.path));
    if (outcome === null) continue;
    const got = way === 1 ? outcome.bytes : contentOf(outcome);
    // Not assertEquals, whose message would list ten million differences.
    assert(
      got.length === sized.length && got.every((byte, at) => byte === sized[at]),
      `client ${client.index} read another content`,
    );
  }
}

function contentOf(outcome: Outcome): Uint8Array {
  const { data } = JSON.parse(text(outcome));
  return data.isBase64 ? Uint8Array.fromBase64(data.content) : encode(data.content);
}

test("32 clients writing and reading 10 MB at once end in success or 503 with Retry-After, in 256 MB, and the process lives", async () => {
  const [pid = 0] = lab.stack.functionPids;
  const before = memoryOf(pid);
  const samples: number[] = [];
  const sampler = setInterval(() => samples.push(memoryOf(pid).now), 50);
  const started = performance.now();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(Array.from({ length: CLIENTS }, async (_, index) => {
        await work({ index, tenant: await lab.tenant(), path: `client-${index}.txt` });
      }));
    }
  } finally {
    clearInterval(sampler);
  }
  const { peak, now } = memoryOf(pid);
  const outcomes = [...counts].sort().map(([result, count]) => `${count} × ${result}`).join(", ");
  const longest = (Math.max(...times) / 1000).toFixed(1);
  figures(`${CLIENTS} clients, ${ROUNDS} rounds: ${outcomes}; longest ${longest} s`);
  figures(
    `resident: ${before.now.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most, ${
      now.toFixed(0)
    } MB after; ` +
      `${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  assertEquals(lab.stack.functionPids, [pid], "the process was started anew");
  assertEquals(lab.log.filter((line) => line.includes("process ended") || line.includes('"defect"')), []);
  assert((counts.get("write 200") ?? 0) >= CLIENTS / 2, "hardly anyone was served");
  assert(peak < RESIDENT_MEGABYTES_MAX, `${peak.toFixed(0)} MB`);
});
