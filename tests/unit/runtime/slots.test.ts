/** Slots for one file: granted in order, a bounded number at a time, with a bounded wait. */
import { assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { systemClock } from "../../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { Slots } from "../../../supabase/functions/api/runtime/slots.ts";
import { withFakeClock } from "../../support/fake_clock.ts";

const WAIT = 20_000;

const deadline = () => new Deadline(WAIT, systemClock);

/** Resolves once every promise that can settle has settled. */
const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

Deno.test("Slots: a bounded number at a time for each key, first come, first served", async () => {
  const slots = new Slots(2);
  const order: number[] = [];
  const ends = await Promise.all([slots.acquire("a", deadline()), slots.acquire("a", deadline())]);
  const later = [1, 2, 3].map((number) =>
    slots.acquire("a", deadline()).then((end) => (order.push(number), end))
  );
  (await slots.acquire("b", deadline()))();
  await settled();
  assertEquals(order, []);
  ends[0]?.();
  ends[0]?.();
  await settled();
  assertEquals(order, [1]);
  (await later[0])?.();
  ends[1]?.();
  await settled();
  assertEquals(order, [1, 2, 3]);
  for (const end of later) (await end)();
});

Deno.test("Slots: with a full queue the next request is refused at once, while those that wait and other keys are not", async () => {
  const slots = new Slots(1, () => new ApiError("RATE_LIMIT_EXCEEDED", "too many"), 2);
  const end = await slots.acquire("a", deadline());
  const waiting = [slots.acquire("a", deadline()), slots.acquire("a", deadline())];
  await assertRejects(() => slots.acquire("a", deadline()), ApiError, "too many");
  (await slots.acquire("b", deadline()))();
  end();
  for (const slot of waiting) (await slot)();
  (await slots.acquire("a", deadline()))();
  assertEquals(slots.isBusy("a"), false);
});

Deno.test("Slots: a key is busy while anybody has or waits for a slot, and forgotten afterwards", async () => {
  const slots = new Slots(1);
  assertEquals(slots.isBusy("a"), false);
  const end = await slots.acquire("a", deadline());
  const next = slots.acquire("a", deadline());
  assertEquals([slots.isBusy("a"), slots.isBusy("b")], [true, false]);
  end();
  assertEquals(slots.isBusy("a"), true);
  (await next)();
  assertEquals(slots.isBusy("a"), false);
});

Deno.test("Slots: a request that has waited too long gets 503 with Retry-After, and the next one is not held up", () =>
  withFakeClock(async () => {
    const slots = new Slots(1);
    const end = await slots.acquire("a", deadline());
    const startedAt = Date.now();
    const error = await assertRejects(() => slots.acquire("a", deadline()), ApiError);
    assertEquals([error.status, error.headers?.["Retry-After"]], [503, "2"]);
    assertEquals(Date.now() - startedAt, WAIT);
    const next = slots.acquire("a", deadline());
    end();
    (await next)();
  }));

Deno.test("Slots: a request whose client has disconnected leaves the queue", async () => {
  const slots = new Slots(1);
  const end = await slots.acquire("a", deadline());
  const controller = new AbortController();
  const gone = slots.acquire("a", deadline(), controller.signal);
  const next = slots.acquire("a", deadline());
  controller.abort(new Error("gone"));
  await assertRejects(() => gone, Error, "gone");
  await assertRejects(() => slots.acquire("b", deadline(), controller.signal), Error, "gone");
  assertEquals(slots.isBusy("b"), false);
  end();
  (await next)();
});
