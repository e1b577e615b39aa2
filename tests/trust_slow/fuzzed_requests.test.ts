/**
 * Requests made up by chance, by the function's own port and by the gateway: an envelope where HTTP allows an answer, never
 * a 500, no connection without an end, and the process as it was before.
 */
import { assert } from "@std/assert";
import fc from "fast-check";
import { fuzzedOf } from "../support/client/fuzzed_requests.ts";
import {
  ANSWER_MILLISECONDS,
  assertAnswer,
  assertBounded,
  type Front,
  HostileLab,
} from "../support/faults/hostile_lab.ts";
import { inParallel } from "../support/in_parallel.ts";
import { SEED } from "../support/random.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { exchange } from "../support/client/raw_connection.ts";
import { rawCasesOf } from "../support/client/raw_requests.ts";
import { test } from "../support/stack/suite.ts";

const hostile = await HostileLab.start();
Deno.test.afterAll(() => hostile.stop());
const { tenant: { key } } = hostile;

/** What the process may keep after as much again: parts of its caches that were empty before. */
const KEPT_MEGABYTES_MAX = 20;

const RUNS = IS_LONG ? 20_000 : 600;
let runs = 0;

async function fuzz(front: Front, numRuns: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const property = fc.asyncProperty(fuzzedOf(key), async ({ method, head, chunk }) => {
    runs++;
    const request = {
      // A compressed answer is none that the raw client can read; `compression` asks for these.
      parts: [
        head.replace("{prefix}", front.prefix).replace(/^(accept-encoding: ).*?(?=\r?$)/gim, "$1identity"),
        ...chunk,
      ],
      answers: 1,
      isHead: method === "HEAD",
      timeoutMilliseconds: ANSWER_MILLISECONDS,
    };
    const outcome = await exchange(front.origin, request);
    assertBounded(outcome, request);
    const [answer] = outcome.answers;
    if (!answer) return;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    assertAnswer(answer, method);
  });
  await fc.assert(property, { numRuns, seed: SEED });
  return statuses;
}

for (const front of hostile.fronts) {
  test(`fuzzed methods, paths, queries, headers and bodies to ${front.name} never meet a 500, and never stall`, async () => {
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

test("after all that the processes are the same, nothing was a defect, and memory is where it was", async () => {
  await hostile.assertUnharmed();
  const front = hostile.functionFront;
  const before = await hostile.residentAfterCollection();
  await fuzz(front, RUNS);
  await inParallel(Object.values(rawCasesOf(key)), 6, async ({ parts, statuses: _, ...rest }) => {
    await exchange(front.origin, {
      ...rest,
      parts: parts(front.prefix),
      timeoutMilliseconds: 1000,
    });
  });
  const after = await hostile.residentAfterCollection();
  figures(
    `${runs} fuzzed requests in all; resident ${before.toFixed(0)} MB, ${
      after.toFixed(0)
    } MB after as much again`,
  );
  assert(after - before < KEPT_MEGABYTES_MAX, `${(after - before).toFixed(1)} MB more`);
  await hostile.assertUnharmed();
});
