/**
 * Back-end calls that are never answered: they are given up in time, and so is the request, all its calls together. The
 * isolates' clocks are moved, so nothing waits, and what a request waited is counted exactly.
 */
import { assert, assertEquals } from "@std/assert";
import {
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_DEADLINE_MILLISECONDS,
  TRANSFER_MILLISECONDS_PER_MIB,
} from "../../supabase/functions/api/limits.ts";
import {
  assertBounded,
  assertClean,
  assertWhole,
  type Case,
  FaultCases,
  interesting,
  type Ran,
  spread,
} from "../support/faults/fault_cases.ts";
import { Isolates } from "../support/faults/isolates.ts";
import { type Operation, OPERATIONS } from "../support/faults/operations.ts";
import { inParallel } from "../support/in_parallel.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { test } from "../support/stack/suite.ts";

const lab = await Isolates.start();
Deno.test.afterAll(() => lab.stop());
const faults = new FaultCases(lab);

const AT_ONCE = 4;
const MEBIBYTE = 1024 * 1024;
const KINDS = [
  { fault: "hang", lasts: true },
  { fault: "hangAfter", lasts: false },
  { fault: "hang", lasts: false },
  { fault: "hangAfter", lasts: true },
] as const;

/** How long the request may have waited: a transfer that had begun has moved some of its bytes. */
function mostMilliseconds({ outcome }: Ran, { name }: Operation): number {
  // The writer of an archive holds a piece back.
  const held = name.startsWith("export") ? MEBIBYTE : 0;
  const moved = outcome.broken ? (outcome.bytes.length + held) / MEBIBYTE * TRANSFER_MILLISECONDS_PER_MIB : 0;
  // The clock moves by whole milliseconds.
  return Math.ceil(BACKEND_DEADLINE_MILLISECONDS + moved);
}

test("no request waits longer than its deadline for calls that are never answered, and one stall is made good", async () => {
  const cases: Case[] = [];
  for (const operation of OPERATIONS) {
    const { calls } = await faults.expectedOf(operation);
    for (const n of interesting(calls)) {
      const turn = cases.length % KINDS.length;
      for (const kind of IS_LONG ? KINDS : KINDS.slice(turn, turn + 1)) cases.push({ operation, n, ...kind });
    }
  }
  const longest = { once: 0, lasting: 0 };
  const failures: string[] = [];
  await inParallel(spread(cases), AT_ONCE, async (one) => {
    const whole = await faults.expectedOf(one.operation);
    try {
      const ran = await faults.run(one);
      assertClean(ran, one.operation);
      assertWhole(ran, one, whole);
      assertBounded(ran, whole);
      const { milliseconds } = ran;
      const most = mostMilliseconds(ran, one.operation);
      assert(milliseconds <= most, `the request waited ${milliseconds} ms of ${most}`);
      if (!one.lasts) assertEquals(ran.outcome.status < 300, true, "one stall is made good by a retry");
      const kind = one.lasts ? "lasting" : "once";
      if (!ran.outcome.broken) longest[kind] = Math.max(longest[kind], milliseconds);
    } catch (error) {
      failures.push(
        `${one.operation.name}, call ${one.n}, ${one.fault}${one.lasts ? ", lasting" : ""}: ${error}`,
      );
    }
  });
  figures(
    `${cases.length} stalls: a request waits ${longest.once / 1000} s where one call stalls, and ` +
      `${longest.lasting / 1000} s where all do`,
  );
  assert(failures.length === 0, `\n${failures.length} failed:\n${failures.join("\n")}`);
  assert(longest.once >= BACKEND_CALL_TIMEOUT_MILLISECONDS, "a call is given up after its own time");
  assertEquals(longest.lasting, BACKEND_DEADLINE_MILLISECONDS, "the whole deadline is used");
});

/** The appends that also compact: each phase could be given its own deadline by mistake. */
const COMPACTING = OPERATIONS.filter(({ name }) => name.includes("compact"));

test("one deadline covers an append and the compaction that follows it, wherever each call stalls once", async () => {
  assert(COMPACTING.length >= 2);
  await inParallel(COMPACTING, AT_ONCE, async (operation) => {
    // The first try of every call stalls, so that each phase takes as long as it can and still succeeds by itself.
    const tried = new Set<string>();
    const ran = await faults.runWith(operation, (_, name) => {
      const isFirst = !tried.has(name);
      tried.add(name);
      return isFirst ? "hang" : null;
    });
    const { milliseconds, outcome } = ran;
    assert(milliseconds <= BACKEND_DEADLINE_MILLISECONDS, `${operation.name} waited ${milliseconds} ms`);
    assert(outcome.status === 200 || outcome.status === 503, `${operation.name}: ${outcome.status}`);
  });
});
