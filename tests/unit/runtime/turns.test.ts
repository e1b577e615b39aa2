/** Turns at one file: in order, bounded in number and in time. */
import { assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { systemClock } from "../../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { Turns } from "../../../supabase/functions/api/runtime/turns.ts";
import { withFakeClock } from "../../support/fake_clock.ts";

const WAIT = 20_000;

const deadline = () => new Deadline(WAIT, systemClock);

/** What has happened once every promise that can settle has settled. */
const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

Deno.test("Turns: so many at a time for each key, first come, first served", async () => {
  const turns = new Turns(2);
  const order: number[] = [];
  const ends = await Promise.all([turns.take("a", deadline()), turns.take("a", deadline())]);
  const later = [1, 2, 3].map((number) =>
    turns.take("a", deadline()).then((end) => (order.push(number), end))
  );
  (await turns.take("b", deadline()))();
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

Deno.test("Turns: once as many wait as may, the next one is refused at once; those that wait, and other keys, are not", async () => {
  const turns = new Turns(1, () => new ApiError("RATE_LIMIT_EXCEEDED", "too many"), 2);
  const end = await turns.take("a", deadline());
  const waiting = [turns.take("a", deadline()), turns.take("a", deadline())];
  await assertRejects(() => turns.take("a", deadline()), ApiError, "too many");
  (await turns.take("b", deadline()))();
  end();
  for (const turn of waiting) (await turn)();
  (await turns.take("a", deadline()))();
  assertEquals(turns.isBusy("a"), false);
});

Deno.test("Turns: a key is busy while anybody has or awaits a turn, and forgotten afterwards", async () => {
  const turns = new Turns(1);
  assertEquals(turns.isBusy("a"), false);
  const end = await turns.take("a", deadline());
  const next = turns.take("a", deadline());
  assertEquals([turns.isBusy("a"), turns.isBusy("b")], [true, false]);
  end();
  assertEquals(turns.isBusy("a"), true);
  (await next)();
  assertEquals(turns.isBusy("a"), false);
});

Deno.test("Turns: who has waited too long gets 503 with Retry-After, and the next one is not held up", () =>
  withFakeClock(async () => {
    const turns = new Turns(1);
    const end = await turns.take("a", deadline());
    const startedAt = Date.now();
    const error = await assertRejects(() => turns.take("a", deadline()), ApiError);
    assertEquals([error.status, error.headers?.["Retry-After"]], [503, "2"]);
    assertEquals(Date.now() - startedAt, WAIT);
    const next = turns.take("a", deadline());
    end();
    (await next)();
  }));

Deno.test("Turns: who has gone leaves the line", async () => {
  const turns = new Turns(1);
  const end = await turns.take("a", deadline());
  const controller = new AbortController();
  const gone = turns.take("a", deadline(), controller.signal);
  const next = turns.take("a", deadline());
  controller.abort(new Error("gone"));
  await assertRejects(() => gone, Error, "gone");
  await assertRejects(() => turns.take("b", deadline(), controller.signal), Error, "gone");
  assertEquals(turns.isBusy("b"), false);
  end();
  (await next)();
});
