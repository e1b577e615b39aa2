/**
 * Malformed, stalled and aborted requests, to the function's own port and through the gateway: an envelope if HTTP
 * allows an answer, never a 500, no connection that stays open, and an unharmed process.
 */
import { assert, assertEquals } from "@std/assert";
import { BODY_IDLE_MILLISECONDS } from "../../supabase/functions/api/limits.ts";
import {
  ANSWER_MILLISECONDS,
  assertAnswer,
  assertBounded,
  type Front,
  HostileLab,
} from "../support/faults/hostile_lab.ts";
import { inParallel } from "../support/in_parallel.ts";
import { figures } from "../support/runner/long.ts";
import { exchange, type RawRequest } from "../support/client/raw_connection.ts";
import { body, length, postOf, rawCasesOf, small } from "../support/client/raw_requests.ts";
import { test } from "../support/stack/suite.ts";

const hostile = await HostileLab.start();
Deno.test.afterAll(() => hostile.stop());
const { lab, tenant: { key } } = hostile;
const post = postOf(key);
const CASES = rawCasesOf(key);

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
const STALL_FRONTS: readonly Front[] = [
  { name: "the function", origin: new URL(lab.soundUrl).origin, prefix: "/api" },
  hostile.gatewayFront,
];
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

for (const front of hostile.fronts) {
  test(`raw bytes to ${front.name} are answered properly or the connection ends, whatever they are`, async () => {
    const failures: string[] = [];
    const counts = new Map<string, number>();
    await inParallel(Object.entries(CASES), 6, async ([name, { parts, statuses, mayEnd, ...rest }]) => {
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
    figures(`${Object.keys(CASES).length} raw cases: ${counted}`);
    assert(failures.length === 0, `\n${failures.join("\n")}`);
  });
}

test("a client that is cut off while it waits for memory is no defect, and takes nothing from the others", async () => {
  const { origin, prefix } = hostile.functionFront;
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

test("after all that the processes are the same, nothing was a defect, and they serve", () =>
  hostile.assertUnharmed());
