/** Work is counted, bounded and divided into slices. */
import { assertEquals, assertThrows } from "@std/assert";
import { WORK_SLICE_UNITS } from "../../../supabase/functions/api/limits.ts";
import { nextSlice, Work } from "../../../supabase/functions/api/runtime/work.ts";

Deno.test("Work tells when its slice is over, and again only after a pause and another slice", async () => {
  const work = new Work();
  assertEquals(work.add(WORK_SLICE_UNITS - 1), false);
  assertEquals(work.add(1), true);
  assertEquals(work.add(0), true, "until it has paused");
  await work.pause();
  assertEquals(work.add(WORK_SLICE_UNITS - 1), false);
  assertEquals(work.add(1), true);
  assertEquals(work.units, 2 * WORK_SLICE_UNITS);
});

Deno.test("Work throws what it was given once it is more than allowed, and not before", () => {
  const work = new Work(10, () => {
    throw new Error("enough");
  });
  work.add(10);
  assertEquals([work.exceedsWith(0), work.exceedsWith(1)], [false, true]);
  assertThrows(() => work.add(1), Error, "enough");
});

Deno.test("nextSlice gives each of its callers a task of the event loop of its own, and lets others run between them", async () => {
  const order: string[] = [];
  const waiting = ["a", "b", "c"].map((name) => nextSlice().then(() => void order.push(name)));
  let runs = 0;
  const timer = setInterval(() => {
    runs++;
    order.push("other");
  }, 0);
  await Promise.all(waiting);
  clearInterval(timer);
  assertEquals(order.filter((name) => name !== "other"), ["a", "b", "c"]);
  // The interval started when the first of them was already waiting.
  assertEquals(runs >= 2, true, order.join());
});
