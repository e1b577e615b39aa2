/**
 * Faults between the function and Supabase. Every call of every operation fails in every way, once and permanently:
 * with broken connections, with recorded answers of real servers, gateways and the platform, and with no answer. The
 * client always gets a success or a clean refusal in time, and the project is in its state before or after.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import {
  BACKEND_BACKOFF_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_DEADLINE_MILLISECONDS,
  BACKEND_TRIES_MAX,
  TRANSFER_MILLISECONDS_PER_MIB,
} from "../../supabase/functions/api/limits.ts";
import { test } from "../support/stack/suite.ts";
import { type Fault, FAULTS, type Watch } from "../support/faults/faults.ts";
import { inParallel } from "../support/in_parallel.ts";
import { Isolates } from "../support/faults/isolates.ts";
import { codeOf, type Sending, type Tenant, text } from "../support/faults/laboratory.ts";
import { figures, IS_BRIEF, IS_LONG, rounds } from "../support/runner/long.ts";
import {
  COMMITS,
  isCommit,
  LARGE,
  type Operation,
  OPERATIONS,
  prepareFor,
  TOOL_CALLS,
} from "../support/faults/operations.ts";
import { recordedAnswer, recordedFor } from "../support/faults/recorded_answers.ts";
import { randomFrom } from "../support/random.ts";
import {
  assertBounded,
  assertClean,
  assertWhole,
  type Case,
  FaultCases,
  interesting,
  type Ran,
  shown,
  spread,
} from "./fault_cases.ts";

const lab = await Isolates.start();
Deno.test.afterAll(() => lab.stop());
const faults = new FaultCases(lab);

const AT_ONCE = 4;
const KINDS = Object.keys(FAULTS) as Fault[];
/** Faults that end without a timeout. */
const QUICK = KINDS.filter((fault) => !fault.startsWith("hang"));
const MEBIBYTE = 1024 * 1024;

const RANDOM_BATCHES = IS_BRIEF ? 2 : rounds(3, 300);

/** Breaks the first `count` commits. It finds them by name, since their call numbers depend on what is cached. */
function breakCommits(fault: Fault, count: number): Watch["decide"] {
  let broken = 0;
  return (_, name) => isCommit(name) && broken++ < count ? fault : null;
}

/** Returns the entries of a list one by one, starting again at its end, for each list separately. */
function inTurn<T>(): (list: readonly T[], key: string) => T[] {
  const turns = new Map<string, number>();
  return (list, key) => {
    if (IS_LONG) return [...list];
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    return list.slice(turn % list.length).slice(0, 1);
  };
}

/**
 * In the long form each call gets every kind of fault. In the short form every other call gets one, once, and the calls
 * between them get one that lasts: half of them a broken or silent connection, half a recorded answer.
 */
async function casesOf(lasts: boolean, operations: readonly Operation[] = OPERATIONS): Promise<Case[]> {
  const cases: Case[] = [];
  const next = inTurn<Fault>();
  let count = 0;
  for (const operation of operations) {
    const { calls } = await faults.expectedOf(operation);
    for (const n of interesting(calls)) {
      const isChosen = count++ % 2 === (lasts ? 1 : 0);
      if (!IS_LONG && !isChosen) continue;
      const call = calls[n - 1] ?? "";
      const target = call.startsWith("filestore_") ? "database" : "storage";
      const recorded = recordedFor(call).filter((name) => !lasts || !recordedAnswer(name).isDefinite);
      const isRecorded = count % 4 < 2;
      const met = IS_LONG
        ? [...KINDS, ...recorded]
        : isRecorded
        ? next(recorded, target)
        : next(KINDS, "connection");
      cases.push(...met.map((fault) => ({ operation, n, fault, lasts })));
    }
  }
  return IS_BRIEF ? cases.filter((_, index) => index % 8 === 0) : cases;
}

/** The longest that the request may have waited. A transfer that had begun has moved some bytes, which allow more time. */
function mostMilliseconds({ outcome }: Ran, { name }: Operation): number {
  // The archive's writer buffers up to this.
  const held = name.startsWith("export") ? MEBIBYTE : 0;
  const moved = outcome.broken ? (outcome.bytes.length + held) / MEBIBYTE * TRANSFER_MILLISECONDS_PER_MIB : 0;
  // The clock advances in whole milliseconds.
  return Math.ceil(BACKEND_DEADLINE_MILLISECONDS + moved);
}

/** Runs a table of cases, checks the invariants of each, and reports the cases that failed. */
async function runTable(
  cases: readonly Case[],
  check: (ran: Ran, one: Case) => Promise<void> | void = () => {},
): Promise<void> {
  const counts = new Map<string, number>();
  const failures: string[] = [];
  await inParallel(spread(cases), AT_ONCE, async (one) => {
    try {
      const whole = await faults.expectedOf(one.operation);
      const ran = await faults.run(one);
      const result = ran.outcome.broken ? "broken off" : String(ran.outcome.status);
      counts.set(result, (counts.get(result) ?? 0) + 1);
      assertClean(ran, one.operation);
      assertWhole(ran, one, whole);
      assertBounded(ran, whole);
      const most = mostMilliseconds(ran, one.operation);
      assert(ran.milliseconds <= most, `the request waited ${ran.milliseconds} ms of ${most}`);
      if (!one.lasts) {
        assertEquals(ran.outcome.status < 300, true, text(ran.outcome).slice(0, 300));
        assertEquals(shown(ran.outcome), whole.answer);
      }
      await check(ran, one);
    } catch (error) {
      failures.push(`${one.operation.name}, call ${one.n}, ${one.fault}: ${error}`.slice(0, 500));
    }
  });
  const outcomes = [...counts].map(([result, count]) => `${count} × ${result}`).join(", ");
  const operations = new Set(cases.map(({ operation }) => operation)).size;
  figures(`${operations} operations, ${cases.length} faults: ${outcomes}`);
  assert(failures.length === 0, `\n${failures.length} failed:\n${failures.join("\n")}`);
}

test("every operation asks the back end, so that every fault below meets one", async () => {
  for (const operation of OPERATIONS) {
    const { calls, before, after } = await faults.expectedOf(operation);
    assert(calls.length > 0, operation.name);
    if (operation.writes) assertNotEquals(before, after, operation.name);
    else assertEquals(before, after, operation.name);
  }
  const compacting = OPERATIONS.find(({ name }) => name === "append and compact")!;
  const { calls: compacted } = await faults.expectedOf(compacting);
  assert(compacted.includes("filestore_compact"), `no compaction among ${compacted}`);
});

test("one fault, wherever and of whatever kind, is made good by a retry: success, once, and the state after", async () => {
  let longest = 0;
  await runTable(await casesOf(false), ({ outcome, milliseconds }) => {
    if (!outcome.broken) longest = Math.max(longest, milliseconds);
  });
  assert(IS_BRIEF || longest >= BACKEND_CALL_TIMEOUT_MILLISECONDS, "a call is given up after its own time");
});

test("a fault that lasts ends in success or 503 with Retry-After, and the state before or after, never between", async () => {
  let longest = 0;
  await runTable(await casesOf(true), ({ outcome, milliseconds }) => {
    if (!outcome.broken) longest = Math.max(longest, milliseconds);
  });
  if (!IS_BRIEF) assertEquals(longest, BACKEND_DEADLINE_MILLISECONDS, "the whole deadline is used");
});

/** A batch of random operations, each of which is valid after the ones before it. */
function randomBatch(seed: number): Operation {
  const random = randomFrom(seed);
  const contents = ["one\n", "two\n", LARGE];
  const operations = Array.from({ length: 2 + random.below(3) }, (_, n) => {
    const [path, destination] = [`dir/${n}.txt`, random.pick(["dir/old.txt", "dir/0.txt", `moved/${n}.txt`])];
    const content = random.pick(contents);
    const then = random.pick([
      { op: "append", path, content },
      { op: "overwrite", path, content },
      { op: "edit", path, oldString: "first", newString: "second" },
      { op: "delete", path },
      ...destination === path ? [] : [
        { op: "copy", path, destination, overwrite: true },
        { op: "move", path, destination, overwrite: true },
      ],
    ]);
    return [{ op: "write", path, content: `first ${n}\n` }, then];
  }).flat();
  const name = `batch of seed ${seed}`;
  return { name, method: "POST", path: "/batch", body: { operations }, writes: true };
}

test("random batches: whatever call fails, however and for how long, the state is the one before or after", async () => {
  const batches = Array.from({ length: RANDOM_BATCHES }, (_, index) => randomBatch(index + 1));
  let turn = 0;
  for (const lasts of [false, true]) {
    const cases: Case[] = [];
    for (const operation of batches) {
      const { calls } = await faults.expectedOf(operation);
      cases.push(...calls.map((_, index) => {
        const fault = QUICK[turn++ % QUICK.length] ?? "resetBefore";
        return { operation, n: index + 1, fault, lasts };
      }));
    }
    await runTable(cases);
  }
});

test("tools of /mcp: one fault is made good; one that lasts is a text with SERVICE_UNAVAILABLE, and nothing in between", async () => {
  for (const lasts of [false, true]) await runTable(await casesOf(lasts, TOOL_CALLS));
});

const ACTING = recordedFor("filestore_commit").filter((name) => recordedAnswer(name).acts);

/** Each commit with one of the recorded ways to lose its answer; in the long form with all of them. */
function lostAnswers(): { operation: Operation; fault: Fault }[] {
  const next = inTurn<Fault>();
  return COMMITS.flatMap((operation) =>
    next(["resetAfter", ...ACTING], "").map((fault) => ({ operation, fault }))
  );
}

test("a commit whose answer is lost once is one version, acknowledged once, with and without an idempotency key", async () => {
  const cases = [
    ...lostAnswers(),
    ...COMMITS.map((operation) => ({ operation, fault: "connectionDiedAtCommit" as const })),
  ];
  await inParallel(cases, AT_ONCE, async ({ operation, fault }, index) => {
    const name = `${operation.name}, ${fault}`;
    const whole = await faults.expectedOf(operation);
    const headers: Record<string, string> = index % 2 === 0 ? {} : { "idempotency-key": crypto.randomUUID() };
    const ran = await faults.runWith(operation, breakCommits(fault, 1), headers);
    assertEquals(ran.outcome.status, 200, `${name}: ${text(ran.outcome)}`);
    assertEquals(ran.state.files, whole.after.files, name);
  });
});

test("a commit whose answers are all lost is 503 and one version, and the same request with its key gets that version", async () => {
  await inParallel(lostAnswers(), AT_ONCE, async ({ operation, fault }) => {
    const name = `${operation.name}, ${fault}`;
    const whole = await faults.expectedOf(operation);
    // Where the function merges lines, the first call commits nothing: it names the texts.
    if (whole.calls.filter(isCommit).length > 1) return;
    const key = { "idempotency-key": crypto.randomUUID() };
    const ran = await faults.runWith(operation, breakCommits(fault, Infinity), key);
    assertEquals(ran.outcome.status, 503, name);
    const again = await lab.send(ran.tenant, { ...operation, headers: { ...operation.headers, ...key } });
    assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, "true"], name);
    assertEquals((await lab.state(ran.tenant)).files, whole.after.files, name);
  });
});

test("a request whose answers are lost counts once in its project's window", async () => {
  const operation = OPERATIONS.find(({ name }) => name === "write several segments")!;
  const whole = await faults.expectedOf(operation);
  for (const [index, name] of whole.calls.entries()) {
    if (name === "upload") continue;
    const tenant = await lab.tenant("pro");
    await prepareFor(lab, tenant, operation);
    await lab.stack.exec("delete from filestore.rate_windows where project_id = $1", [tenant.id]);
    const watch = lab.watch(tenant, (n) => n === index + 1 ? "resetAfter" : null);
    const outcome = await lab.send(tenant, operation);
    lab.unwatch(watch);
    assertEquals(outcome.status, 200);
    const [row] = await lab.stack.exec<{ request_count: number }>(
      "select sum(request_count)::integer as request_count from filestore.rate_windows where project_id = $1",
      [tenant.id],
    );
    assertEquals(row?.request_count, 1, `${name}, call ${index + 1}`);
  }
});

test("the retry of a commit whose answer was lost answers its own version, whatever was written since", async () => {
  // Excluded: an edit that deletes everything, a restore and an empty write, whose versions have no bytes to compare;
  // the memory tool, which names no version; a batch, which names several; and branches, whose paths are relative.
  await inParallel(
    COMMITS.filter(({ name }) => !/move|copy|new|write several|write raw|memory|batch|branch/.test(name)),
    AT_ONCE,
    async (operation) => {
      const tenant = await lab.tenant();
      await prepareFor(lab, tenant, operation);
      const path = operation.name.includes("large") ? "large.txt" : "dir/old.txt";
      const watch = lab.watch(tenant, breakCommits("resetAfter", 1), async () => {
        await lab.prepare(tenant, { method: "POST", path: "/files", body: { path, content: "others" } });
      });
      const outcome = await lab.send(tenant, operation);
      lab.unwatch(watch);
      assertEquals(outcome.status, 200, `${operation.name}: ${text(outcome)}`);
      // A repeated edit or restore returns the record of the first one.
      const { data } = JSON.parse(text(outcome));
      const list = await lab.prepare(tenant, { method: "GET", path: `/files/${path}?versions` });
      // An operation on several files lists this file among others.
      const several: { path: string; version: number }[] = data.files ?? data.actions ?? [data];
      const version = several.find((one) => one.path === path)?.version ?? 0;
      assertEquals(JSON.parse(text(list)).data.versions[0].version, version + 1, operation.name);
    },
  );
});

test("retries pause longer each time, and by chance: no two functions come back in step", async () => {
  const first: number[] = [];
  const second: number[] = [];
  const operation = OPERATIONS.find(({ name }) => name === "read the record")!;
  await inParallel(Array.from({ length: IS_LONG ? 200 : 24 }, (_, index) => index), AT_ONCE, async () => {
    const { watch } = await faults.run({ operation, n: 1, fault: "error503", lasts: true });
    const [one = NaN, two = NaN, three = NaN, ...more] = watch.calls.map(({ at }) => at);
    assertEquals(more, [], `more than ${BACKEND_TRIES_MAX} tries`);
    first.push(two - one);
    second.push(three - two);
  });
  const range = (pauses: number[]) => Math.max(...pauses) - Math.min(...pauses);
  const shortest = BACKEND_BACKOFF_MILLISECONDS / 2;
  assert(Math.min(...first) >= shortest, `a first pause of ${Math.min(...first)} ms`);
  assert(Math.min(...second) >= 2 * shortest, `a second pause of ${Math.min(...second)} ms`);
  assert(range(first) > shortest / 2 && range(second) > shortest, "the pauses are all alike");
  figures(
    `pauses of ${Math.min(...first).toFixed(0)}–${Math.max(...first).toFixed(0)} ms, then ` +
      `${Math.min(...second).toFixed(0)}–${Math.max(...second).toFixed(0)} ms`,
  );
});

test("with nothing listening where Supabase was, every operation answers 503 and changes nothing, and works when it is back", async () => {
  const tenant = await lab.tenant();
  await prepareFor(lab, tenant, OPERATIONS[0]!);
  const before = await lab.state(tenant);
  let isDown = true;
  const watch = lab.watch(tenant, () => isDown ? "resetBefore" : null);
  for (const operation of OPERATIONS) {
    const outcome = await lab.send(tenant, operation);
    assertEquals([outcome.status, codeOf(outcome)], [503, "SERVICE_UNAVAILABLE"], operation.name);
  }
  assertEquals((await lab.send(tenant, { method: "GET", path: "/health" })).status, 200);
  isDown = false;
  assertEquals(await lab.state(tenant), before);
  assertEquals((await lab.send(tenant, { method: "GET", path: "/files/dir/old.txt" })).status, 200);
  lab.unwatch(watch);
});

test("a link for writing makes one version, whichever of its calls fails and however often", async () => {
  const target = async (tenant: Tenant) => {
    const body = { path: "f.txt", for: "write" };
    const made = text(await lab.prepare(tenant, { method: "POST", path: "/links", body }));
    return /\/l\/[\w-]+/.exec(made)?.[0] ?? "";
  };
  const cases = [1, 2, 3].flatMap((n) =>
    QUICK.flatMap((fault) => [true, false].map((lasts) => ({ n, fault, lasts })))
  );
  await inParallel(cases, AT_ONCE, async ({ n, fault, lasts }) => {
    const name = `call ${n}, ${fault}, ${lasts ? "for good" : "once"}`;
    const tenant = await lab.tenant();
    const path = await target(tenant);
    const put: Sending = { method: "PUT", path, body: "written" };
    const watch = lab.watch(tenant, (number) => (lasts ? number >= n : number === n) ? fault : null);
    const outcome = await lab.send(tenant, put);
    lab.unwatch(watch);
    assert(watch.calls.length >= n, `${name}: only ${watch.calls.length} calls`);
    assert(outcome.status === 200 || lasts && outcome.status === 503, `${name}: ${text(outcome)}`);
    const again = await lab.send(tenant, put);
    assert(again.status === 410 || outcome.status === 503 && again.status === 200, `${name}: ${text(again)}`);
    const versions = text(await lab.prepare(tenant, { method: "GET", path: "/files/f.txt?versions" }));
    assertEquals(JSON.parse(versions).data.total, 1, name);
  });
  figures(`${cases.length} faults, each time one version`);
});

/** Faults that make a call fail permanently: a defect of the database, a missing object. */
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

/** Appends that also compact. Each phase could be given a deadline of its own by mistake. */
const COMPACTING = OPERATIONS.filter(({ name }) => name.includes("compact"));

test("one deadline covers an append and the compaction that follows it, wherever each call stalls once", async () => {
  assert(COMPACTING.length >= 2);
  await inParallel(COMPACTING, AT_ONCE, async (operation) => {
    // The first try of every call stalls, so each phase takes as long as possible and still succeeds by itself.
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
