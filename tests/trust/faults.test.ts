/**
 * Faults between the function and Supabase: every call of every operation fails in every way, once and for good.
 * Whatever happens, the client gets a success or a clean refusal, and the project is as before or as after.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { hashLinkToken } from "../../supabase/functions/api/auth/link_token.ts";
import {
  BACKEND_BACKOFF_MILLISECONDS,
  BACKEND_TRIES_MAX,
  COMPACTION_CHECK_EVERY_SEGMENTS,
  UPLOADS_AT_ONCE,
} from "../../supabase/functions/api/limits.ts";
import { test } from "../support/stack/suite.ts";
import {
  assertBounded,
  assertClean,
  assertWhole,
  type Case,
  FaultCases,
  interesting,
  type Ran,
  shown,
} from "../support/faults/fault_cases.ts";
import { type Fault, FAULTS, type Watch } from "../support/faults/fault_proxy.ts";
import { eventually } from "../support/eventually.ts";
import { inParallel } from "../support/in_parallel.ts";
import { codeOf, Laboratory, type Sending, type Tenant, text } from "../support/faults/laboratory.ts";
import { figures, IS_BRIEF, IS_LONG, rounds } from "../support/runner/long.ts";
import {
  COMMITS,
  isCommit,
  type Operation,
  OPERATIONS,
  prepareFor,
  TOOL_CALLS,
} from "../support/faults/operations.ts";
import { randomBatch } from "../support/faults/random_batches.ts";

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());
const faults = new FaultCases(lab);

/** Cases at the same time: they wait for the function's pauses more than they compute. */
const AT_ONCE = 6;
/** Those that end by themselves; stalls.test.ts has those that end by time. */
const QUICK = (Object.keys(FAULTS) as Fault[]).filter((fault) => !fault.startsWith("hang"));
/** In the short form each call meets one kind of fault, in turn; in the long form all. */
const KINDS_A_CALL = IS_LONG ? QUICK.length : 1;

const RANDOM_BATCHES = IS_BRIEF ? 2 : rounds(6, 300);

/** Loses so many answers of the commit. By its name: what is in memory decides which call it is. */
function lostCommits(count: number): Watch["decide"] {
  let lost = 0;
  return (_, name) => isCommit(name) && lost++ < count ? "resetAfter" : null;
}

async function casesOf(lasts: boolean, operations: readonly Operation[] = OPERATIONS): Promise<Case[]> {
  const cases: Case[] = [];
  let turn = 0;
  for (const operation of operations) {
    const { calls } = await faults.expectedOf(operation);
    for (const n of interesting(calls)) {
      for (let kind = 0; kind < KINDS_A_CALL; kind++) {
        const fault = QUICK[turn++ % QUICK.length] ?? "refused";
        cases.push({ operation, n, fault, lasts });
      }
    }
  }
  return IS_BRIEF ? cases.filter((_, index) => index % 16 === 0) : cases;
}

/** Runs a table of cases and says which of them failed. */
async function runTable(cases: readonly Case[], check: (ran: Ran, one: Case) => Promise<void> | void) {
  const counts = new Map<string, number>();
  const failures: string[] = [];
  const started = performance.now();
  await inParallel(cases, AT_ONCE, async (one) => {
    try {
      const ran = await faults.run(one);
      const result = ran.outcome.broken ? "broken off" : String(ran.outcome.status);
      counts.set(result, (counts.get(result) ?? 0) + 1);
      await check(ran, one);
    } catch (error) {
      failures.push(`${one.operation.name}, call ${one.n}, ${one.fault}: ${error}`.slice(0, 500));
    }
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const outcomes = [...counts].map(([result, count]) => `${count} × ${result}`).join(", ");
  const operations = new Set(cases.map(({ operation }) => operation)).size;
  figures(`${operations} operations, ${cases.length} faults: ${outcomes}; ${seconds} s`);
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
  await runTable(await casesOf(false), async (ran, one) => {
    const whole = await faults.expectedOf(one.operation);
    assertClean(ran, one.operation);
    assertEquals(ran.outcome.status < 300, true, text(ran.outcome).slice(0, 300));
    assertEquals(shown(ran.outcome), whole.answer);
    assertWhole(ran, one, whole);
    assertBounded(ran, whole);
  });
});

test("a fault that lasts ends in success or 503 with Retry-After, and the state before or after, never between", async () => {
  await runTable(await casesOf(true), async (ran, one) => {
    const whole = await faults.expectedOf(one.operation);
    assertClean(ran, one.operation);
    assertWhole(ran, one, whole);
    assertBounded(ran, whole);
  });
});

test("random batches: whatever call fails, however and for how long, the state is the one before or after", async () => {
  const batches = Array.from({ length: RANDOM_BATCHES }, (_, index) => randomBatch(index + 1));
  let turn = 0;
  for (const lasts of [false, true]) {
    const cases: Case[] = [];
    for (const operation of batches) {
      const { calls } = await faults.expectedOf(operation);
      const kinds = calls.map((_, index) => ({
        n: index + 1,
        fault: QUICK[turn++ % QUICK.length] ?? "refused",
      }));
      cases.push(...kinds.map((kind) => ({ operation, ...kind, lasts })));
    }
    await runTable(cases, async (ran, one) => {
      const whole = await faults.expectedOf(one.operation);
      assertClean(ran, one.operation);
      if (!lasts) assertEquals(shown(ran.outcome), whole.answer);
      assertWhole(ran, one, whole);
    });
  }
});

test("tools of /mcp: one fault is made good; one that lasts is a text with SERVICE_UNAVAILABLE, and nothing in between", async () => {
  for (const lasts of [false, true]) {
    await runTable(await casesOf(lasts, TOOL_CALLS), async (ran, one) => {
      const whole = await faults.expectedOf(one.operation);
      assertClean(ran, one.operation);
      // How far the index has come is not the fault's doing.
      const [answer, expected] = [shown(ran.outcome), whole.answer].map((one) =>
        one.replace(/\\nNOT SEARCHED: [^"]*/, "")
      );
      if (!lasts) assertEquals(answer, expected);
      assertWhole(ran, one, whole);
      assertBounded(ran, whole);
    });
  }
});

test("a commit whose answers are all lost is one version, and the same request with its key is told which", async () => {
  let replayed = 0;
  await inParallel(COMMITS, AT_ONCE, async (operation) => {
    const whole = await faults.expectedOf(operation);
    const key = { "idempotency-key": crypto.randomUUID() };
    const ran = await faults.runWith(operation, lostCommits(Infinity), key);
    assertEquals(ran.outcome.status, 503, operation.name);
    const again = await lab.send(ran.tenant, { ...operation, headers: { ...operation.headers, ...key } });
    assertEquals(again.status, 200, `${operation.name}: ${text(again)}`);
    assertEquals(again.headers.get("idempotency-replayed"), "true", operation.name);
    const { files } = await lab.state(ran.tenant);
    assertEquals(files, whole.after.files, operation.name);
    replayed++;
  });
  figures(`${replayed} commits of unknown outcome, each exactly one version`);
});

test("a commit with a key whose answer is lost once is one version with all its bytes", async () => {
  // `fetch` would send such a request again by itself: the second one finds the key taken.
  await inParallel(COMMITS, AT_ONCE, async (operation) => {
    const whole = await faults.expectedOf(operation);
    const key = { "idempotency-key": crypto.randomUUID() };
    const ran = await faults.runWith(operation, lostCommits(1), key);
    assertEquals(ran.outcome.status, 200, `${operation.name}: ${text(ran.outcome)}`);
    const { files } = await lab.state(ran.tenant);
    assertEquals(files, whole.after.files, operation.name);
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
  // An edit away of everything, a restore and an empty write leave no bytes to be told by. The memory tool tells no
  // version, and a batch several.
  await inParallel(
    COMMITS.filter(({ name }) => !/move|copy|new|write several|write raw|memory|batch/.test(name)),
    AT_ONCE,
    async (operation) => {
      const tenant = await lab.tenant();
      await prepareFor(lab, tenant, operation);
      const path = operation.name.includes("large") ? "large.txt" : "dir/old.txt";
      const watch = lab.watch(tenant, lostCommits(1), async () => {
        await lab.prepare(tenant, { method: "POST", path: "/files", body: { path, content: "others" } });
      });
      const outcome = await lab.send(tenant, operation);
      lab.unwatch(watch);
      assertEquals(outcome.status, 200, `${operation.name}: ${text(outcome)}`);
      // A repeated edit or restore says what it made, at the time it made it.
      const { data } = JSON.parse(text(outcome));
      const list = await lab.prepare(tenant, { method: "GET", path: `/files/${path}?versions` });
      // Of several files this one's is among others.
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
  const spread = (pauses: number[]) => Math.max(...pauses) - Math.min(...pauses);
  const shortest = BACKEND_BACKOFF_MILLISECONDS / 2;
  assert(Math.min(...first) >= shortest - 5, `a first pause of ${Math.min(...first)} ms`);
  assert(Math.min(...second) >= 2 * shortest - 5, `a second pause of ${Math.min(...second)} ms`);
  assert(spread(first) > shortest / 2 && spread(second) > shortest, "the pauses are all alike");
  figures(
    `pauses of ${Math.min(...first).toFixed(0)}–${Math.max(...first).toFixed(0)} ms, then ` +
      `${Math.min(...second).toFixed(0)}–${Math.max(...second).toFixed(0)} ms`,
  );
});

test("with nothing listening where Supabase was, every operation answers 503 at once, and works when it is back", async () => {
  const tenant = await lab.tenant();
  await prepareFor(lab, tenant, OPERATIONS[0]!);
  const before = await lab.state(tenant);
  await lab.proxy?.close();
  try {
    await inParallel(OPERATIONS, UPLOADS_AT_ONCE, async (operation) => {
      const outcome = await lab.send(tenant, operation);
      assertEquals([outcome.status, codeOf(outcome)], [503, "SERVICE_UNAVAILABLE"], operation.name);
    });
    const health = await lab.send(tenant, { method: "GET", path: "/health" });
    assertEquals(health.status, 200, "the function itself runs");
    assertEquals((await lab.send(tenant, { method: "GET", path: "/health?deep" })).status, 503);
  } finally {
    await lab.proxy?.open();
  }
  assertEquals(await lab.state(tenant), before);
  assertEquals((await lab.send(tenant, { method: "GET", path: "/files/dir/old.txt" })).status, 200);
  // Its answer is up to HEALTH_PROBE_INTERVAL_MILLISECONDS old.
  await eventually("/health?deep is 200 again", async () => {
    return (await lab.send(tenant, { method: "GET", path: "/health?deep" })).status === 200;
  });
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
    const watched = { ...tenant, keyHash: await hashLinkToken(path.slice("/l/".length)) };
    const watch = lab.watch(watched, (number) => (lasts ? number >= n : number === n) ? fault : null);
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
