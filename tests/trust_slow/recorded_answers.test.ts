/**
 * Answers that real servers, gateways and the platform were seen to give when something was wrong, at every call of every
 * operation: never a 500, never a write that is acknowledged and not there, or there twice.
 */
import { assert, assertEquals } from "@std/assert";
import {
  assertBounded,
  assertClean,
  assertWhole,
  type Case,
  FaultCases,
  interesting,
  shown,
} from "../support/faults/fault_cases.ts";
import type { Fault, Watch } from "../support/faults/fault_proxy.ts";
import { Isolates } from "../support/faults/isolates.ts";
import { text } from "../support/faults/laboratory.ts";
import { COMMITS, isCommit, type Operation, OPERATIONS } from "../support/faults/operations.ts";
import { recordedAnswer, recordedFor, type RecordedName } from "../support/faults/recorded_answers.ts";
import { inParallel } from "../support/in_parallel.ts";
import { figures, IS_BRIEF, IS_LONG } from "../support/runner/long.ts";
import { test } from "../support/stack/suite.ts";

const lab = await Isolates.start();
Deno.test.afterAll(() => lab.stop());
const faults = new FaultCases(lab);

const AT_ONCE = 4;
/** In the short form each call meets one of the answers, in turn; in the long form all. */
const ANSWERS_A_CALL = IS_LONG ? Infinity : 1;

async function casesOf(lasts: boolean): Promise<Case[]> {
  const cases: Case[] = [];
  const turns = new Map<string, number>();
  for (const operation of OPERATIONS) {
    const { calls } = await faults.expectedOf(operation);
    for (const n of interesting(calls)) {
      const call = calls[n - 1] ?? "";
      const names = recordedFor(call).filter((name) => !lasts || !recordedAnswer(name).isDefinite);
      const target = call.startsWith("filestore_") ? "database" : "storage";
      for (let index = 0; index < Math.min(ANSWERS_A_CALL, names.length); index++) {
        const turn = turns.get(target) ?? 0;
        turns.set(target, turn + 1);
        const fault = names[turn % names.length];
        if (fault !== undefined) cases.push({ operation, n, fault, lasts });
      }
    }
  }
  return IS_BRIEF ? cases.filter((_, index) => index % 8 === 0) : cases;
}

/** With a fault that lasts, calls of the other target get one that fits. */
function decide({ fault, n, lasts }: Case): Watch["decide"] {
  return (number, name) => {
    if (number !== n && !(lasts && number > n)) return null;
    return recordedFor(name).some((other) => other === fault) ? fault : "gatewayPage502";
  };
}

async function runTable(
  cases: readonly Case[],
  check: (ran: Awaited<ReturnType<FaultCases["run"]>>, one: Case) => Promise<void>,
) {
  const failures: string[] = [];
  const counts = new Map<string, number>();
  await inParallel(cases, AT_ONCE, async (one) => {
    try {
      const ran = await faults.runWith(one.operation, decide(one));
      const result = ran.outcome.broken ? "broken off" : String(ran.outcome.status);
      counts.set(result, (counts.get(result) ?? 0) + 1);
      await check(ran, one);
    } catch (error) {
      failures.push(`${one.operation.name}, call ${one.n}, ${one.fault}: ${error}`.slice(0, 500));
    }
  });
  figures(
    `${cases.length} answers: ${[...counts].map(([result, count]) => `${count} × ${result}`).join(", ")}`,
  );
  assert(failures.length === 0, `\n${failures.length} failed:\n${failures.join("\n")}`);
}

test("one such answer is made good by a retry: success, once, and the state after", async () => {
  await runTable(await casesOf(false), async (ran, one) => {
    const whole = await faults.expectedOf(one.operation);
    assertClean(ran, one.operation);
    assertEquals(ran.outcome.status < 300, true, text(ran.outcome).slice(0, 300));
    assertEquals(shown(ran.outcome), whole.answer);
    assertWhole(ran, one, whole);
    assertBounded(ran, whole);
  });
});

test("such answers that last end in success or 503 with Retry-After, and the state before or after, never between", async () => {
  await runTable(await casesOf(true), async (ran, one) => {
    const whole = await faults.expectedOf(one.operation);
    assertClean(ran, one.operation);
    assertWhole(ran, one, whole);
    assertBounded(ran, whole);
  });
});

const ACTING = recordedFor("filestore_commit").filter((name) => recordedAnswer(name).acts);

function commitAnswered(fault: Fault, times: number): Watch["decide"] {
  let answered = 0;
  return (_, name) => isCommit(name) && answered++ < times ? fault : null;
}

/** Each commit meets one of the answers, in turn; in the long form all. */
function pairs(): { operation: Operation; fault: RecordedName }[] {
  return COMMITS.flatMap((operation, index) => {
    const turn = index % ACTING.length;
    return (IS_LONG ? ACTING : ACTING.slice(turn, turn + 1)).map((fault) => ({ operation, fault }));
  });
}

test("a commit whose answer is lost like this is one version, acknowledged once, without an idempotency key", async () => {
  // This one was a 500, and the client that sent again doubled its line.
  const cases = [
    ...pairs(),
    ...COMMITS.map((operation) => ({ operation, fault: "connectionDiedAtCommit" as const })),
  ];
  await inParallel(cases, AT_ONCE, async ({ operation, fault }) => {
    const whole = await faults.expectedOf(operation);
    const ran = await faults.runWith(operation, commitAnswered(fault, 1));
    assertEquals(ran.outcome.status, 200, `${operation.name}, ${fault}: ${text(ran.outcome)}`);
    assertEquals(ran.state.files, whole.after.files, `${operation.name}, ${fault}`);
  });
});

test("a commit whose answers are all lost like this is 503, and the same request with its key is told of its version", async () => {
  await inParallel(pairs(), AT_ONCE, async ({ operation, fault }) => {
    const whole = await faults.expectedOf(operation);
    const key = { "idempotency-key": crypto.randomUUID() };
    const ran = await faults.runWith(operation, commitAnswered(fault, Infinity), key);
    assertEquals(ran.outcome.status, 503, `${operation.name}, ${fault}`);
    const again = await lab.send(ran.tenant, { ...operation, headers: { ...operation.headers, ...key } });
    assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, "true"], operation.name);
    assertEquals((await lab.state(ran.tenant)).files, whole.after.files, `${operation.name}, ${fault}`);
  });
});

/** What makes a call fail for good: a defect of the database, and an object that is gone. */
const FATAL: readonly Fault[] = ["sqlDefect", "storageObjectNotFound", "unknownFunction", "hang"];

test("an append that is committed is answered 200, in whatever way the compaction after it fails", async () => {
  const operation = OPERATIONS.find(({ name }) => name === "append raw and compact");
  if (!operation) throw new Error("no append compacts");
  const whole = await faults.expectedOf(operation);
  for (const fault of FATAL) {
    let isCommitted = false;
    let failed = 0;
    const ran = await faults.runWith(operation, (_, name) => {
      const isAfter = isCommitted;
      isCommitted ||= isCommit(name);
      const fits = fault === "hang" ||
        (fault === "storageObjectNotFound" ? name === "download" : name === "filestore_compact");
      if (isAfter && fits) failed++;
      return isAfter && fits ? fault : null;
    });
    assert(failed > 0, `${fault} met no call of the compaction`);
    assertEquals(ran.outcome.status, 200, `${fault}: ${text(ran.outcome)}`);
    assertEquals(shown(ran.outcome), whole.answer, fault);
  }
});
