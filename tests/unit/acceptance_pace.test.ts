import { assertEquals } from "@std/assert";
import { Pace } from "../acceptance/pace.ts";

/** A service that counts requests by clock minute, and a clock that both use; waiting advances it. */
function counted(limit: number) {
  let now = 1_000 * 60_000 + 10_000;
  const used = new Map<number, number>();
  const waits: number[] = [];
  const clock = {
    now: () => now,
    wait: (milliseconds: number) => {
      waits.push(milliseconds);
      now += milliseconds;
      return Promise.resolve();
    },
  };
  /** Returns the values of the rate headers. A negative `remaining` means that the request is refused. */
  const request = () => {
    const window = Math.floor(now / 60_000);
    const count = (used.get(window) ?? 0) + 1;
    used.set(window, count);
    return { limit, remaining: limit - count, reset: (window + 1) * 60 };
  };
  return { clock, request, waits, used };
}

Deno.test("Pace: a window is used to its end, then the next one is waited for; none is overrun", async () => {
  const { clock, request, waits, used } = counted(10);
  const told: number[] = [];
  const pace = new Pace(clock, (seconds) => told.push(seconds));
  for (let count = 0; count < 25; count++) {
    await pace.turn();
    pace.answered(request());
  }
  assertEquals([...used.values()], [10, 10, 5]);
  assertEquals(waits, [50_500, 60_000]);
  assertEquals(told, [51, 60]);
});

Deno.test("Pace: requests at the same time, answered in any order, do not overrun a window either", async () => {
  const { clock, request, used } = counted(10);
  const pace = new Pace(clock);
  for (let round = 0; round < 6; round++) {
    const answers = [];
    for (let count = 0; count < 4; count++) {
      await pace.turn();
      answers.push(request());
    }
    for (const answer of answers.reverse()) pace.answered(answer);
  }
  assertEquals([...used.values()].every((count) => count <= 10), true, [...used.values()].join());
  assertEquals([...used.values()].reduce((sum, count) => sum + count), 24);
});

Deno.test("Pace: what others use of the window is seen, and a request without an answer is not waited for", async () => {
  const { clock, request, waits } = counted(10);
  const pace = new Pace(clock);
  for (let others = 0; others < 9; others++) request();
  await pace.turn();
  pace.answered(request());
  await pace.turn();
  assertEquals(waits.length, 1);
  pace.failed();
  await pace.turn();
  assertEquals(waits.length, 1);
});

Deno.test("Pace: without a limit nothing is waited for", async () => {
  const { clock, request, waits } = counted(2_147_483_647);
  const pace = new Pace(clock);
  for (let count = 0; count < 1_000; count++) {
    await pace.turn();
    pace.answered(request());
  }
  assertEquals(waits, []);
});
