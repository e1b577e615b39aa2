import { assertEquals, assertRejects } from "@std/assert";
import { withRetries } from "../../../supabase/functions/api/adapters/backend.ts";
import { Notices } from "../../../supabase/functions/api/adapters/notices.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { InFlightCompactions } from "../../../supabase/functions/api/files/in_flight_compactions.ts";
import {
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_DEADLINE_MILLISECONDS,
  BACKEND_TRIES_MAX,
  TRANSFER_MILLISECONDS_PER_MIB,
} from "../../../supabase/functions/api/limits.ts";
import { ByteBudget } from "../../../supabase/functions/api/runtime/byte_budget.ts";
import { Deadline, LATE } from "../../../supabase/functions/api/runtime/deadline.ts";
import { silent } from "../../support/stack/supabase_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { segmentOf } from "../segment_of.ts";

function request(milliseconds = BACKEND_DEADLINE_MILLISECONDS) {
  const clock = new ManualClock();
  const deadline = new Deadline(milliseconds, clock);
  const parts = { log: silent, notices: new Notices(silent, clock), deadline };
  /** Runs the work and advances the clock through its waits. */
  const run = <T>(work: Promise<T>) => clock.runUntil(work, () => Infinity);
  return { clock, deadline, parts, run };
}

const never = () => new Promise<never>(() => {});

Deno.test("Deadline counts waits that overlap once, and nothing between them", async () => {
  const { clock, deadline } = request(100);
  let endFirst = () => {};
  let endSecond = () => {};
  const first = deadline.count(() => new Promise<void>((resolve) => endFirst = resolve));
  clock.advance(10);
  const second = deadline.count(() => new Promise<void>((resolve) => endSecond = resolve));
  clock.advance(20);
  endFirst();
  await first;
  assertEquals(deadline.remainingMilliseconds, 70);
  clock.advance(5);
  endSecond();
  await second;
  clock.advance(1000);
  assertEquals(deadline.remainingMilliseconds, 65);
});

Deno.test("Deadline.within is LATE when the time of the call, or of the request, is over", async () => {
  const { clock, deadline, run } = request(100);
  assertEquals(await run(deadline.count(() => deadline.within(60, never()))), LATE);
  assertEquals(await run(deadline.count(() => deadline.within(60, never()))), LATE);
  assertEquals([clock.now(), deadline.remainingMilliseconds], [100, 0]);
  assertEquals(await deadline.within(1, Promise.resolve("in time")), "in time");
});

Deno.test("Deadline.part ends with the whole, and uses it up", async () => {
  const { deadline, run } = request(100);
  const part = deadline.part(60);
  assertEquals(await run(part.count(() => part.within(1000, never()))), LATE);
  assertEquals([part.remainingMilliseconds, deadline.remainingMilliseconds], [0, 40]);
  assertEquals(deadline.part(60).remainingMilliseconds, 40);
});

Deno.test("Deadline.extend gives a transfer more time for each MiB that it has moved", () => {
  const { deadline } = request(100);
  deadline.extend(3 * 1024 * 1024);
  assertEquals(deadline.remainingMilliseconds, 100 + 3 * TRANSFER_MILLISECONDS_PER_MIB);
});

Deno.test("calls that are never answered: all of them and their tries together wait BACKEND_DEADLINE_MILLISECONDS", async () => {
  const { clock, parts, run } = request();
  let tries = 0;
  const call = () => run(withRetries(parts, "call", () => (tries++, never())));
  const error = await assertRejects(call, ApiError);
  assertEquals([error.code, clock.now(), tries], ["SERVICE_UNAVAILABLE", BACKEND_DEADLINE_MILLISECONDS, 2]);
  // A further call of the same request does not start.
  await assertRejects(call, ApiError);
  assertEquals([clock.now(), tries], [BACKEND_DEADLINE_MILLISECONDS, 2]);
});

Deno.test("a call that stalls is lost after its own time, and each further try may be lost as well", async () => {
  const { clock, parts, run } = request();
  let lost = 0;
  const value = await run(
    withRetries(parts, "call", (n) => n === 1 ? never() : Promise.resolve({ value: n }), () => lost++),
  );
  assertEquals([value, lost], [2, 1]);
  assertEquals(clock.now() < BACKEND_CALL_TIMEOUT_MILLISECONDS + 200, true);
});

Deno.test("what is known not to have happened is not lost, however often it is tried", async () => {
  const { parts, run } = request();
  let lost = 0;
  let tries = 0;
  const refused = { transient: "401", isUndone: true, notice: "secret_key_refused" } as const;
  await assertRejects(
    () => run(withRetries(parts, "call", () => (tries++, Promise.resolve(refused)), () => lost++)),
    ApiError,
  );
  assertEquals([tries, lost], [BACKEND_TRIES_MAX, 0]);
});

Deno.test("waiting for another request's compaction is part of the deadline", async () => {
  const { clock, deadline, run } = request();
  const compactions = new InFlightCompactions();
  const segment = segmentOf("", 1);
  const compactor = {
    gate: { projectId: "", caller: { keyHash: "", requestId: null } },
    segments: { get: never, put: never, free: never, remove: never, days: never, list: never, probe: never },
    readAhead: new ByteBudget(0),
    metadata: { compact: never },
    now: Date.now,
  };
  const compact = (deadline: Deadline) =>
    compactions.makeRoom({ ...compactor, deadline }, "file", [segment, segment]);
  compact(new Deadline(Infinity, clock)).catch(() => {});
  await assertRejects(() => run(compact(deadline)), ApiError);
  assertEquals(clock.now(), BACKEND_DEADLINE_MILLISECONDS);
});
