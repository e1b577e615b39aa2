import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ByteBudget, type Release } from "../../../supabase/functions/api/runtime/byte_budget.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";

const WAIT = 60_000;

Deno.test("ByteBudget answers 503 with Retry-After when the wait is over, and lets the next one in", async () => {
  const budget = new ByteBudget(10);
  const release = await budget.acquire(6, WAIT);
  const late = budget.acquire(10, 5);
  const behind = budget.acquire(4, WAIT);
  const error = await assertRejects(() => late, ApiError);
  assertEquals([error.code, error.status, error.headers?.["Retry-After"]], ["SERVICE_UNAVAILABLE", 503, "2"]);
  (await behind)();
  release();
  (await budget.acquire(10, WAIT))();
});

Deno.test("ByteBudget lets go of a request that is aborted", async () => {
  const budget = new ByteBudget(10);
  const release = await budget.acquire(10, WAIT);
  const controller = new AbortController();
  const gone = budget.acquire(5, WAIT, controller.signal);
  const behind = budget.acquire(10, WAIT);
  controller.abort(new Error("gone"));
  await assertRejects(() => gone, Error, "gone");
  await assertRejects(() => budget.acquire(1, WAIT, controller.signal), Error, "gone");
  release();
  (await behind)();
});

Deno.test("ByteBudget takes a share back once, however often it is released", async () => {
  const budget = new ByteBudget(10);
  const release = await budget.acquire(5, WAIT);
  await budget.acquire(5, WAIT);
  release();
  release();
  await budget.acquire(5, WAIT);
  await assertRejects(() => budget.acquire(1, 1), ApiError);
});

Deno.test("ByteBudget forgets the time limit and the signal of a request that was served", async () => {
  const budget = new ByteBudget(10);
  const controller = new AbortController();
  const release = await budget.acquire(10, WAIT);
  const served = budget.acquire(10, 5, controller.signal);
  release();
  const last = await served;
  const next = budget.acquire(10, WAIT);
  await new Promise((resolve) => setTimeout(resolve, 10));
  controller.abort();
  last();
  (await next)();
});

Deno.test("ByteBudget never gives more than the total and serves everybody, in order", async () => {
  const requests = fc.array(fc.tuple(fc.nat({ max: 15 }), fc.nat({ max: 3 })), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(requests, async (shares) => {
      const budget = new ByteBudget(10);
      let taken = 0;
      const served: number[] = [];
      await Promise.all(shares.map(async ([bytes, turns], index) => {
        const release: Release = await budget.acquire(bytes, WAIT);
        served.push(index);
        taken += Math.min(bytes, 10);
        assertEquals(taken <= 10, true);
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        taken -= Math.min(bytes, 10);
        release();
      }));
      assertEquals(served, shares.map((_, index) => index));
    }),
  );
});

Deno.test("ByteBudget.tryAcquire() takes what is free, never what somebody waits for", async () => {
  const budget = new ByteBudget(10);
  const first = budget.tryAcquire(6);
  assertEquals(budget.tryAcquire(5), null);
  const waiting = budget.acquire(8, WAIT);
  assertEquals(budget.tryAcquire(1), null);
  first?.();
  (await waiting)();
  budget.tryAcquire(10)?.();
  assertEquals(budget.tryAcquire(11), null);
});
