/**
 * Malformed, stalled and aborted requests, to the function's own port and through the gateway: an envelope if HTTP
 * allows an answer, never a 500, no connection that stays open, and an unharmed process.
 */
import { assert, assertEquals } from "@std/assert";
import {
  BODY_BUDGET_WAIT_MILLISECONDS,
  BODY_IDLE_MILLISECONDS,
} from "../../supabase/functions/api/limits.ts";
import { exchange, type RawAnswer, type RawRequest } from "../support/client/raw_connection.ts";
import { Laboratory } from "../support/faults/laboratory.ts";
import { inParallel } from "../support/in_parallel.ts";
import { figures } from "../support/runner/long.ts";
import { test } from "../support/stack/suite.ts";
import { body, length, postOf, rawCasesOf, small } from "./raw_cases.ts";

/**
 * Longest wait for an answer or the end of a connection: the longest that a request waits for memory, plus a minute for
 * a busy machine.
 */
const ANSWER_MILLISECONDS = BODY_BUDGET_WAIT_MILLISECONDS + 60_000;

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());
const { key } = await lab.tenant();
const post = postOf(key);
const CASES = rawCasesOf(key);

const bareLog: string[] = [];
const bare = await lab.bareFunction({ onLog: (line) => bareLog.push(line) });
const pids = [bare.pid, ...lab.stack.functionPids];

/** Where a client reaches the function, and the prefix of its paths there. */
interface Front {
  readonly name: string;
  readonly origin: string;
  readonly prefix: string;
}
const FUNCTION: Front = { name: "the function", origin: bare.origin, prefix: "/api" };
const GATEWAY: Front = {
  name: "the gateway",
  origin: lab.stack.supabaseUrl,
  prefix: "/functions/v1/api",
};

/** An answer of the service has the envelope; one of the HTTP server in front of it may lack it. */
function assertAnswer({ status, headers, text }: RawAnswer): void {
  assert(status >= 200 && status < 600 && status !== 500, `${status} ${text.slice(0, 300)}`);
  if (!headers.has("x-request-id")) {
    // The request was too malformed to reach the service.
    assert(status >= 400, `${status} without an id`);
    return;
  }
  if (status < 400) return;
  assert(headers.get("content-type")?.startsWith("application/json"), "an error outside the envelope");
  const { success, error, status: health } = JSON.parse(text);
  if (health !== undefined) return;
  assertEquals([success, typeof error.code, typeof error.message], [false, "string", "string"]);
}

// Connections that stall, all at once and first of all, since only time ends them. They hold memory until then, so they
// have a process of their own; together they fit into their project's part of it.
const STALLS: Readonly<Record<string, (prefix: string) => RawRequest["parts"]>> = {
  "after half a body": (p) => [post(p, "content-length: 500\r\n", small)],
  "after half a large body": (
    p,
  ) => [post(p, "content-length: 1000000\r\n", `{"path":"raw.txt","content":"xxxx`)],
  "within a chunk": (p) => [post(p, "transfer-encoding: chunked\r\n", `ffff\r\n{"path"`)],
  "within a raw body": (p) => [
    `POST ${p}/files?path=raw.bin HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/pdf\r\ncontent-length: 900000\r\n\r\nxxx`,
  ],
};
const STALL_MILLISECONDS = BODY_IDLE_MILLISECONDS + ANSWER_MILLISECONDS;
const stalled = await lab.bareFunction();
const STALL_FRONTS: readonly Front[] = [{ ...FUNCTION, origin: stalled.origin }, GATEWAY];
const stalls = STALL_FRONTS.flatMap((front) =>
  Object.entries(STALLS).map(([name, parts]) => ({
    name: `${front.name}, ${name}`,
    outcome: exchange(front.origin, {
      parts: parts(front.prefix),
      answers: 1,
      timeoutMilliseconds: STALL_MILLISECONDS,
    }),
  }))
);

for (const front of [FUNCTION, GATEWAY]) {
  test(`raw bytes to ${front.name} are answered properly or the connection ends, whatever they are`, async () => {
    const failures: string[] = [];
    const counts = new Map<string, number>();
    await inParallel(Object.entries(CASES), 6, async ([name, { parts, statuses, mayEnd, ...rest }]) => {
      const request = { ...rest, parts: parts(front.prefix), timeoutMilliseconds: ANSWER_MILLISECONDS };
      try {
        const outcome = await exchange(front.origin, request);
        const isOver = outcome.isEnded || outcome.answers.length > 0;
        assert(isOver, `neither answer nor end within ${ANSWER_MILLISECONDS} ms`);
        for (const answer of outcome.answers) {
          assertAnswer(answer);
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
    figures(`${Object.keys(CASES).length} raw cases: ${counted}`);
    assert(failures.length === 0, `\n${failures.join("\n")}`);
  });
}

test("a client that is cut off while it waits for memory is no defect, and takes nothing from the others", async () => {
  const { origin, prefix } = FUNCTION;
  const huge = `transfer-encoding: chunked\r\n`;
  // A body of unknown length reserves the maximum, so the second of these waits, and so do all after it.
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
  for (const { name, outcome } of stalls) {
    const { answers, isEnded, milliseconds } = await outcome;
    if (!isEnded && answers.length === 0) {
      failures.push(`${name}: nothing within ${milliseconds.toFixed(0)} ms`);
    }
    for (const answer of answers) {
      if (answer.status !== 400) failures.push(`${name}: ${answer.status} ${answer.text}`);
    }
  }
  const longest = Math.max(
    ...(await Promise.all(stalls.map(({ outcome }) => outcome))).map((one) => one.milliseconds),
  );
  figures(`${stalls.length} stalled connections, the last ended after ${(longest / 1000).toFixed(1)} s`);
  assert(failures.length === 0, `\n${failures.join("\n")}`);
});

test("after all that the processes are the same, nothing was a defect, and they serve", async () => {
  assertEquals([bare.pid, ...lab.stack.functionPids], pids);
  const defects = [...bareLog, ...lab.log].filter((line) =>
    /"defect"|panicked|Uncaught|process ended/.test(line)
  );
  assertEquals(defects, []);
  const health = await fetch(`${lab.stack.baseUrl}/health`);
  assertEquals((await health.json()).status, "ok");
});
