/** Slow request bodies, on a clock that the test advances. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { requestChunks } from "../../../supabase/functions/api/http/body.ts";
import { BODY_IDLE_MILLISECONDS, BODY_MILLISECONDS_PER_MIB } from "../../../supabase/functions/api/limits.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const SECOND = 1000;

/**
 * Reads a body of `count` chunks, one every `milliseconds`. `pause` is the reader's time for each chunk, in milliseconds.
 */
async function read(
  count: number,
  bytes: number,
  milliseconds: number,
  pause = 0,
): Promise<{ got: number; took: number }> {
  const clock = new ManualClock();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent++ === count) return controller.close();
      await new Promise<void>((resolve) => void clock.after(milliseconds, resolve));
      controller.enqueue(new Uint8Array(bytes));
    },
  }, { highWaterMark: 0 });
  const request = new Request("http://localhost", { method: "POST", body });
  const deadline = new Deadline(1, clock);
  let got = 0;
  const reading = (async () => {
    for await (const chunk of requestChunks({ request, deadline }, "INVALID_JSON")) {
      got += chunk.length;
      if (pause > 0) await new Promise<void>((resolve) => void clock.after(pause, resolve));
    }
  })();
  try {
    await clock.runUntil(reading, () => Infinity);
  } catch (error) {
    if (error instanceof Error) error.cause = got;
    throw error;
  }
  return { got, took: clock.now() };
}

const KIB = 1024;

Deno.test("a body that comes as fast as it must is read whole, however long it takes", async () => {
  const perSecond = 1024 * KIB * SECOND / BODY_MILLISECONDS_PER_MIB;
  const { got, took } = await read(300, perSecond, SECOND);
  assertEquals(got, 300 * perSecond);
  assertEquals(took, 300 * SECOND);
});

Deno.test("a body that trickles is given up: it has BODY_IDLE_MILLISECONDS, and more only for what it brings", async () => {
  const error = await assertRejects(() => read(10_000, 1, SECOND), ApiError);
  assertEquals([error.code, error.status], ["INVALID_JSON", 400]);
  // One byte arrives per second.
  const seconds = Number(error.cause);
  assert(Math.abs(seconds - BODY_IDLE_MILLISECONDS / SECOND) <= 1, `${seconds} s`);
});

Deno.test("a body that came fast at first has saved up no time to trickle for longer", () => {
  const clock = new ManualClock();
  const deadline = new Deadline(BODY_IDLE_MILLISECONDS, clock);
  deadline.regain(1_000_000, BODY_IDLE_MILLISECONDS);
  assertEquals(deadline.remainingMilliseconds, BODY_IDLE_MILLISECONDS);
});

Deno.test("the time that a client waits for us does not count", async () => {
  const { got } = await read(30, 1, 100, BODY_IDLE_MILLISECONDS);
  assertEquals(got, 30);
});
