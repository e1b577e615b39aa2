/**
 * Memory of the function's isolate, which has 256 MB on the platform, with many large bodies at once and with one large
 * file. In bytes, as `Deno.memoryUsage()` and the operating system count them.
 */
import { assert, assertEquals } from "@std/assert";
import { CONTENT_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import { Laboratory, type Outcome, send, type Sending, text } from "../support/faults/laboratory.ts";
import { figures, rounds } from "../support/runner/long.ts";
import { memoryGrowthDuring } from "../support/stack/processes.ts";
import { test } from "../support/stack/suite.ts";
import { startGauged } from "./memory_gauge.ts";

const MEGABYTE = 1_000_000;
const CLIENTS = rounds(16, 32);
/** The peak of the heap and the memory outside it together; an isolate has 256 MB. */
const ISOLATE_BYTES_MAX = 230 * MEGABYTE;
const LARGE_BYTES = 100 * MEGABYTE;
const GROWTH_BYTES_MAX = 96 * MEGABYTE;
const FRESH_PROCESSES = 3;
const TRIES_MAX = 20;

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());

const bytes = new TextEncoder().encode("abcdefghi\n".repeat(CONTENT_LENGTH_MAX / 10));
const content = new TextDecoder().decode(bytes);
/** The largest content that fits into a request as base64. */
const base64 = bytes.subarray(0, 7_864_320).toBase64();

/** Each way to send or receive ten million bytes. */
const WRITES: Readonly<Record<string, (path: string) => Sending>> = {
  "writes as JSON": (path) => ({ method: "POST", path: "/files", body: { path, content } }),
  "raw writes": (path) => ({ method: "POST", path: `/files?path=${path}`, body: bytes }),
  "writes as base64": (path) => ({
    method: "POST",
    path: "/files",
    body: { path, content: base64, isBase64: true },
  }),
};
const READS: Readonly<Record<string, string>> = {
  "reads as JSON": "/files/raw",
  "reads as base64": "/files/raw?encoding=base64",
};

/**
 * Repeats the request as Retry-After asks. On a busy machine the last of many large bodies wait longer than one request
 * may.
 */
async function served(baseUrl: string, key: string, sending: Sending): Promise<Outcome> {
  for (let tries = 1;; tries++) {
    const outcome = await send(baseUrl, key, sending);
    if (outcome.status !== 503 || tries === TRIES_MAX) return outcome;
    await new Promise((resolve) => setTimeout(resolve, Number(outcome.headers.get("retry-after")) * 1000));
  }
}

test(`${CLIENTS} clients with 10 MB each: heap and what is outside it stay below 230 MB, and everybody is served`, async (t) => {
  const gauged = await startGauged(lab);
  const tenants = await Promise.all(Array.from({ length: CLIENTS }, () => lab.tenant()));
  try {
    const during = async (name: string, sending: Sending) => {
      await gauged.peak();
      const outcomes = await Promise.all(tenants.map(({ key }) => served(gauged.baseUrl, key, sending)));
      const { heap, external, both } = await gauged.peak();
      for (const outcome of outcomes) assertEquals(outcome.status, 200, text(outcome).slice(0, 200));
      const [sum, ...parts] = [both, heap, external].map((size) => Math.round(size / MEGABYTE));
      figures(`${name}: ${sum} MB at most; heap ${parts[0]} MB, outside it ${parts[1]} MB`);
      assert(both < ISOLATE_BYTES_MAX, `${sum} MB`);
    };
    for (const [name, write] of Object.entries(WRITES)) {
      await t.step(name, () => during(name, write(name === "raw writes" ? "raw" : "other")));
    }
    for (const [name, path] of Object.entries(READS)) {
      await t.step(name, () => during(name, { method: "GET", path }));
    }
    assertEquals(gauged.log.filter((line) => /"defect"|process ended/.test(line)), []);
  } finally {
    await gauged.stop();
  }
});

test("a file of 100 MB: to send it, as text or as base64, a fresh process grows by 96 MB at most", async () => {
  const tenant = await lab.tenant();
  const large = new Uint8Array(LARGE_BYTES).map((_, at) => at % 80 === 79 ? 0x0a : 0x61 + at % 26);
  await lab.prepare(tenant, { method: "POST", path: "/files?path=large.txt", body: large });
  for (const query of ["", "?encoding=base64"]) {
    const grown: number[] = [];
    for (let n = 0; n < FRESH_PROCESSES; n++) {
      const gauged = await startGauged(lab);
      try {
        const headers = { "x-api-key": tenant.key };
        const drain = async (path: string) => {
          const response = await fetch(`${gauged.baseUrl}${path}`, { headers });
          assertEquals(response.status, 200);
          let length = 0;
          for await (const chunk of response.body ?? []) length += chunk.length;
          return length;
        };
        // Loads the code that a first request loads.
        await drain("/project");
        let length = 0;
        grown.push(
          await memoryGrowthDuring(gauged.pid, async () => {
            length = await drain(`/files/large.txt${query}`);
          }),
        );
        assert(length > LARGE_BYTES);
      } finally {
        await gauged.stop();
      }
    }
    const [, median = Infinity] = grown.sort((a, b) => a - b);
    const shown = grown.map((size) => Math.round(size / MEGABYTE)).join(", ");
    figures(`100 MB read as JSON${query}: the process grew by ${shown} MB`);
    assert(median < GROWTH_BYTES_MAX, `${shown} MB`);
  }
});
