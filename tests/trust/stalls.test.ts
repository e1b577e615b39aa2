/** Back-end calls that hang: they are given up in time, and so is the request. */
import { assert, assertEquals } from "@std/assert";
import {
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_DEADLINE_MILLISECONDS,
} from "../../supabase/functions/api/limits.ts";
import {
  assertBounded,
  assertClean,
  assertWhole,
  type Case,
  FaultCases,
  interesting,
  spread,
} from "../support/faults/fault_cases.ts";
import type { SeenCall } from "../support/faults/fault_proxy.ts";
import { inParallel } from "../support/in_parallel.ts";
import { Laboratory } from "../support/faults/laboratory.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { OPERATIONS } from "../support/faults/operations.ts";
import { test } from "../support/stack/suite.ts";

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());
const faults = new FaultCases(lab);

/** They wait at the same time, but large bodies among them must not wait for each other's share of memory as well. */
const STALLS_AT_ONCE = 60;
/** How long a request may wait for calls that are never answered: where one stalls, and where all do. */
const MOST = {
  once: BACKEND_CALL_TIMEOUT_MILLISECONDS,
  lasting: BACKEND_DEADLINE_MILLISECONDS + BACKEND_CALL_TIMEOUT_MILLISECONDS,
} as const;
/** What may come on top for the quickest request of all, by pauses: less than one more wait. */
const GRACE_MILLISECONDS = BACKEND_CALL_TIMEOUT_MILLISECONDS - 1;

/**
 * How many unanswered calls the request waited for one after another. Counted by which began after which had been given
 * up, since how long each took depends on what else the machine does.
 */
function stallsInTurn(calls: readonly SeenCall[]): number {
  const stalled = calls.filter(({ fault }) => fault !== null);
  const depths = new Map<SeenCall, number>();
  for (const call of stalled) {
    const earlier = stalled.filter(({ hungUpAt = Infinity }) => hungUpAt < call.at);
    depths.set(call, 1 + Math.max(0, ...earlier.map((one) => depths.get(one) ?? 0)));
  }
  return Math.max(0, ...depths.values());
}

test("a call that is never answered is given up in time, and so is the request", async () => {
  const cases: Case[] = [];
  const kinds = [
    { fault: "hang", lasts: true },
    { fault: "hangAfter", lasts: false },
    { fault: "hang", lasts: false },
    { fault: "hangAfter", lasts: true },
  ] as const;
  for (const operation of OPERATIONS) {
    const { calls } = await faults.expectedOf(operation);
    for (const n of interesting(calls)) {
      const turn = cases.length % kinds.length;
      const chosen = IS_LONG ? kinds : kinds.slice(turn, turn + 1);
      for (const kind of chosen) cases.push({ operation, n, ...kind });
    }
  }
  const deepest = { once: 0, lasting: 0 };
  const quickest = { once: Infinity, lasting: Infinity };
  const failures: string[] = [];
  await inParallel(spread(cases), STALLS_AT_ONCE, async (one) => {
    const whole = await faults.expectedOf(one.operation);
    try {
      const ran = await faults.run(one);
      assertClean(ran, one.operation);
      assertWhole(ran, one, whole);
      assertBounded(ran, whole);
      if (!one.lasts) assertEquals(ran.outcome.status < 300, true, "one stall is made good by a retry");
      const kind = one.lasts ? "lasting" : "once";
      const depth = stallsInTurn(ran.watch.calls);
      deepest[kind] = Math.max(deepest[kind], depth);
      assert(depth * BACKEND_CALL_TIMEOUT_MILLISECONDS <= MOST[kind], `${depth} stalls in turn`);
      if (depth > 0) quickest[kind] = Math.min(quickest[kind], ran.milliseconds);
      assert(ran.milliseconds > BACKEND_CALL_TIMEOUT_MILLISECONDS / 2 || ran.watch.calls.length < one.n);
    } catch (error) {
      failures.push(
        `${one.operation.name}, call ${one.n}, ${one.fault}${one.lasts ? ", lasting" : ""}: ${error}`,
      );
    }
  });
  figures(
    `${cases.length} stalls: at most ${deepest.once} in turn where one call stalls, ${deepest.lasting} where all do; ` +
      `the quickest answers after ${(quickest.once / 1000).toFixed(1)} s and ${
        (quickest.lasting / 1000).toFixed(1)
      } s`,
  );
  assert(failures.length === 0, `\n${failures.length} failed:\n${failures.join("\n")}`);
  for (const kind of ["once", "lasting"] as const) assert(quickest[kind] < MOST[kind] + GRACE_MILLISECONDS);
});
