/**
 * Faults between the function and Supabase: every call of every operation fails in every way, once and for good.
 * Whatever happens, the client gets a success or a clean refusal, and the project is as before or as after.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import {
  BACKEND_BACKOFF_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_DEADLINE_MILLISECONDS,
  BACKEND_TRIES_MAX,
  UPLOADS_AT_ONCE,
} from "../../supabase/functions/api/limits.ts";
import { test } from "../support/suite.ts";
import { type Fault, FAULTS, type Watch } from "./fault_proxy.ts";
import {
  codeOf,
  figures,
  inParallel,
  IS_LONG,
  Laboratory,
  type Outcome,
  type ProjectState,
  type Tenant,
  text,
} from "./laboratory.ts";
import { type Operation, OPERATIONS, prepareFor } from "./operations.ts";

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());

/** Cases at the same time: they wait for the function's pauses more than they compute. */
const AT_ONCE = 6;
/** They wait at the same time, but large bodies among them must not wait for each other's share of memory as well. */
const SILENCES_AT_ONCE = 60;
/** Those that end by themselves; silence has a test of its own, since it takes the function's patience. */
const QUICK = (Object.keys(FAULTS) as Fault[]).filter((fault) => !fault.startsWith("silent"));
/** In the short form each call meets one kind of fault, in turn; in the long form all. */
const KINDS_A_CALL = IS_LONG ? QUICK.length : 1;

/** What an operation does when nothing fails. */
interface Expected {
  readonly calls: readonly string[];
  readonly before: ProjectState;
  readonly after: ProjectState;
  readonly answer: string;
}

const expected = new Map<string, Expected>();

/** An answer without what differs from one run to the next. */
function shown(outcome: Outcome): string {
  return text(outcome)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
}

async function expectedOf(operation: Operation): Promise<Expected> {
  const known = expected.get(operation.name);
  if (known) return known;
  const tenant = await lab.tenant();
  await prepareFor(lab, tenant, operation);
  const before = await lab.state(tenant);
  const watch = lab.watch(tenant, () => null);
  const outcome = await lab.send(tenant, operation);
  lab.unwatch(watch);
  assert(outcome.status < 300, `${operation.name}: ${text(outcome)}`);
  const after = await lab.state(tenant);
  const found = { calls: watch.calls.map(({ name }) => name), before, after, answer: shown(outcome) };
  expected.set(operation.name, found);
  return found;
}

interface Case {
  readonly operation: Operation;
  readonly n: number;
  readonly fault: Fault;
  /** Whether all later calls fail as well. */
  readonly lasts: boolean;
}

interface Ran {
  readonly tenant: Tenant;
  readonly outcome: Outcome;
  readonly watch: Watch;
  readonly milliseconds: number;
  readonly state: ProjectState;
}

async function run({ operation, n, fault, lasts }: Case): Promise<Ran> {
  return await runWith(operation, (number) => (lasts ? number >= n : number === n) ? fault : null);
}

/** Loses so many answers of the commit. By its name: what is in memory decides which call it is. */
function lostCommits(count: number): Watch["decide"] {
  let lost = 0;
  return (_, name) => name === "filestore_commit" && lost++ < count ? "resetAfter" : null;
}

async function runWith(
  operation: Operation,
  decide: Watch["decide"],
  headers: Record<string, string> = {},
): Promise<Ran> {
  const tenant = await lab.tenant();
  await prepareFor(lab, tenant, operation);
  const watch = lab.watch(tenant, decide);
  const started = performance.now();
  const outcome = await lab.send(tenant, { ...operation, headers: { ...operation.headers, ...headers } });
  const milliseconds = performance.now() - started;
  lab.unwatch(watch);
  return { tenant, outcome, watch, milliseconds, state: await lab.state(tenant) };
}

/** A read that had begun to answer can only break off. */
function isBrokenRead({ outcome }: Ran, operation: Operation): boolean {
  return outcome.broken && !operation.writes;
}

function assertClean(ran: Ran, operation: Operation): void {
  if (isBrokenRead(ran, operation)) return;
  const { outcome } = ran;
  assert(!outcome.broken, "the answer broke off");
  assert(outcome.headers.has("x-request-id"));
  if (outcome.status < 300) return;
  assertEquals([outcome.status, codeOf(outcome)], [503, "SERVICE_UNAVAILABLE"], text(outcome));
  assert(Number(outcome.headers.get("retry-after")) >= 1, "a 503 says when to come back");
  assertEquals(outcome.headers.get("cache-control"), "no-store");
  for (const internal of ["an internal matter", "Gateway", "filestore_", "127.0.0.1"]) {
    assert(!text(outcome).includes(internal), `the answer tells of internals: ${internal}`);
  }
}

/** What the state must be, by what the client was told and what the broken call had done. */
function assertWhole({ outcome, state }: Ran, { operation, fault, lasts }: Case, whole: Expected): void {
  if (outcome.status < 300) return assertState(state, whole.after, "after");
  const isAfter = JSON.stringify(state.files) === JSON.stringify(whole.after.files);
  // The back end acted and could not say so: the whole of it, or nothing.
  if (lasts && FAULTS[fault].acts && operation.writes && isAfter) {
    return assertState(state, whole.after, "after");
  }
  assertState(state, whole.before, "before");
}

/** Says which parts differ: a whole state is too long to be read. */
function assertState(state: ProjectState, wanted: ProjectState, name: string): void {
  const parts = ["files", "directories", "versions", "idempotencyKeys"] as const;
  const other = parts.filter((part) => JSON.stringify(state[part]) !== JSON.stringify(wanted[part]));
  const shown = other.map((part) =>
    `${part} ${JSON.stringify(state[part])} not ${JSON.stringify(wanted[part])}`
  );
  assert(other.length === 0, `the state is not as ${name}: ${shown.join(" ").slice(-300)}`);
}

/**
 * No call was tried more often than BACKEND_TRIES_MAX. Those to Storage, which may be repeated at will, the
 * platform's `fetch` sends once more by itself when a kept connection breaks.
 */
function assertBounded({ watch }: Ran, whole: Expected): void {
  for (const { name, url } of watch.calls) {
    const tries = watch.calls.filter((call) => call.name === name && call.url === url).length;
    const isStorage = !name.startsWith("filestore_");
    // An object of storage may be asked for that the function still had in memory when nothing was broken.
    const calls = isStorage ? 1 : Math.max(1, whole.calls.filter((call) => call === name).length);
    assert(tries <= calls * BACKEND_TRIES_MAX * (isStorage ? 2 : 1), `${name} was tried ${tries} times`);
  }
}

/** The calls that a fault meets: all of them; in the short form the first and the last of each kind. */
function interesting(calls: readonly string[]): number[] {
  return calls.flatMap((name, index) =>
    IS_LONG || calls.indexOf(name) === index || calls.lastIndexOf(name) === index ? [index + 1] : []
  );
}

async function casesOf(lasts: boolean): Promise<Case[]> {
  const cases: Case[] = [];
  let turn = 0;
  for (const operation of OPERATIONS) {
    const { calls } = await expectedOf(operation);
    for (const n of interesting(calls)) {
      for (let kind = 0; kind < KINDS_A_CALL; kind++) {
        const fault = QUICK[turn++ % QUICK.length] ?? "refused";
        cases.push({ operation, n, fault, lasts });
      }
    }
  }
  return cases;
}

/** The same cases, those of one operation far from each other. */
function spread(cases: readonly Case[]): Case[] {
  const stride = 13;
  return Array.from({ length: stride }).flatMap((_, offset) =>
    cases.filter((_, index) => index % stride === offset)
  );
}

/** Runs a table of cases and says which of them failed. */
async function runTable(cases: readonly Case[], check: (ran: Ran, one: Case) => Promise<void> | void) {
  const counts = new Map<string, number>();
  const failures: string[] = [];
  const started = performance.now();
  await inParallel(cases, AT_ONCE, async (one) => {
    try {
      const ran = await run(one);
      const result = ran.outcome.broken ? "broken off" : String(ran.outcome.status);
      counts.set(result, (counts.get(result) ?? 0) + 1);
      await check(ran, one);
    } catch (error) {
      failures.push(`${one.operation.name}, call ${one.n}, ${one.fault}: ${error}`.slice(0, 500));
    }
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const outcomes = [...counts].map(([result, count]) => `${count} × ${result}`).join(", ");
  figures(`${OPERATIONS.length} operations, ${cases.length} faults: ${outcomes}; ${seconds} s`);
  assert(failures.length === 0, `\n${failures.length} failed:\n${failures.join("\n")}`);
}

test("every operation asks the back end, so that every fault below meets one", async () => {
  for (const operation of OPERATIONS) {
    const { calls, before, after } = await expectedOf(operation);
    assert(calls.length > 0, operation.name);
    if (operation.writes) assertNotEquals(before, after, operation.name);
    else assertEquals(before, after, operation.name);
  }
  const callsOf = async (wanted: string) =>
    (await expectedOf(OPERATIONS.find(({ name }) => name === wanted)!)).calls;
  const merged = await callsOf("append raw and merge");
  assert(merged.includes("filestore_compact"), `no merge among ${merged}`);
  const takenAlong = await callsOf("append and take a merge along");
  assert(takenAlong.length > (await callsOf("append")).length, `no segment of the run among ${takenAlong}`);
});

test("one fault, wherever and of whatever kind, is made good by a retry: success, once, and the state after", async () => {
  await runTable(await casesOf(false), async (ran, one) => {
    const whole = await expectedOf(one.operation);
    assertClean(ran, one.operation);
    assertEquals(ran.outcome.status < 300, true, text(ran.outcome).slice(0, 300));
    assertEquals(shown(ran.outcome), whole.answer);
    assertWhole(ran, one, whole);
    assertBounded(ran, whole);
  });
});

test("a fault that lasts ends in success or 503 with Retry-After, and the state before or after, never between", async () => {
  await runTable(await casesOf(true), async (ran, one) => {
    const whole = await expectedOf(one.operation);
    assertClean(ran, one.operation);
    assertWhole(ran, one, whole);
    assertBounded(ran, whole);
  });
});

/** Commits of all kinds, those without new bytes among them. */
const COMMITS = OPERATIONS.filter(({ writes }) => writes);

test("a commit whose answers are all lost is one version, and the same request with its key is told which", async () => {
  let replayed = 0;
  await inParallel(COMMITS, AT_ONCE, async (operation) => {
    const whole = await expectedOf(operation);
    const key = { "idempotency-key": crypto.randomUUID() };
    const ran = await runWith(operation, lostCommits(Infinity), key);
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
    const whole = await expectedOf(operation);
    const key = { "idempotency-key": crypto.randomUUID() };
    const ran = await runWith(operation, lostCommits(1), key);
    assertEquals(ran.outcome.status, 200, `${operation.name}: ${text(ran.outcome)}`);
    const { files } = await lab.state(ran.tenant);
    assertEquals(files, whole.after.files, operation.name);
  });
});

test("a request whose answers are lost counts once in its project's window", async () => {
  const operation = OPERATIONS.find(({ name }) => name === "write several segments")!;
  const whole = await expectedOf(operation);
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
      "select request_count from filestore.rate_windows where project_id = $1",
      [tenant.id],
    );
    assertEquals(row?.request_count, 1, `${name}, call ${index + 1}`);
  }
});

test("the retry of a commit whose answer was lost answers its own version, whatever was written since", async () => {
  // An edit away of everything, a restore and an empty write leave no bytes to be told by.
  await inParallel(
    COMMITS.filter(({ name }) => !/move|copy|new|write several|write raw/.test(name)),
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
      assertEquals(JSON.parse(text(list)).data.versions[0].version, data.version + 1, operation.name);
    },
  );
});

test("retries pause longer each time, and by chance: no two functions come back in step", async () => {
  const first: number[] = [];
  const second: number[] = [];
  const operation = OPERATIONS.find(({ name }) => name === "read the record")!;
  await inParallel(Array.from({ length: IS_LONG ? 200 : 24 }, (_, index) => index), AT_ONCE, async () => {
    const { watch } = await run({ operation, n: 1, fault: "error503", lasts: true });
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

/** What may come on top: pauses, and machines that are busy; less than one more wait. */
const GRACE_MILLISECONDS = BACKEND_CALL_TIMEOUT_MILLISECONDS - 1;

test("a call that is never answered is given up in time, and so is the request", async () => {
  const cases: Case[] = [];
  const kinds = [
    { fault: "silent", lasts: true },
    { fault: "silentAfter", lasts: false },
    { fault: "silent", lasts: false },
    { fault: "silentAfter", lasts: true },
  ] as const;
  for (const operation of OPERATIONS) {
    const { calls } = await expectedOf(operation);
    for (const n of interesting(calls)) {
      const turn = cases.length % kinds.length;
      const chosen = IS_LONG ? kinds : kinds.slice(turn, turn + 1);
      for (const kind of chosen) cases.push({ operation, n, ...kind });
    }
  }
  const started = performance.now();
  const longest = { once: 0, lasting: 0 };
  const failures: string[] = [];
  await inParallel(spread(cases), SILENCES_AT_ONCE, async (one) => {
    const whole = await expectedOf(one.operation);
    try {
      const ran = await run(one);
      assertClean(ran, one.operation);
      assertWhole(ran, one, whole);
      assertBounded(ran, whole);
      if (!one.lasts) assertEquals(ran.outcome.status < 300, true, "one silence is made good by a retry");
      const kind = one.lasts ? "lasting" : "once";
      longest[kind] = Math.max(longest[kind], ran.milliseconds);
      const most = one.lasts
        ? BACKEND_DEADLINE_MILLISECONDS + BACKEND_CALL_TIMEOUT_MILLISECONDS
        : BACKEND_CALL_TIMEOUT_MILLISECONDS;
      assert(ran.milliseconds < most + GRACE_MILLISECONDS, `took ${ran.milliseconds} ms`);
      assert(ran.milliseconds > BACKEND_CALL_TIMEOUT_MILLISECONDS / 2 || ran.watch.calls.length < one.n);
    } catch (error) {
      failures.push(
        `${one.operation.name}, call ${one.n}, ${one.fault}${one.lasts ? ", lasting" : ""}: ${error}`,
      );
    }
  });
  figures(
    `${cases.length} silences: once answered within ${(longest.once / 1000).toFixed(1)} s, lasting within ` +
      `${(longest.lasting / 1000).toFixed(1)} s; ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
  assert(failures.length === 0, `\n${failures.length} failed:\n${failures.join("\n")}`);
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
  assertEquals((await lab.send(tenant, { method: "GET", path: "/health?deep" })).status, 200);
});
