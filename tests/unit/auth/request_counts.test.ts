import { assertEquals } from "@std/assert";
import { RequestCounts } from "../../../supabase/functions/api/auth/request_counts.ts";
import { USAGE_COUNTS_MAX, USAGE_FLUSH_MILLISECONDS } from "../../../supabase/functions/api/limits.ts";
import type { RequestCount } from "../../../supabase/functions/api/ports/metadata.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function isolate() {
  const clock = new ManualClock();
  const handedIn: (readonly RequestCount[])[] = [];
  const faults: string[] = [];
  const state = {
    isDown: false,
    time: Date.parse("2026-01-01T23:59:59Z"),
    work: Promise.resolve<unknown>(0),
  };
  const counts = new RequestCounts({
    clock,
    connect: () => ({
      countRequests: (counts) => {
        if (state.isDown) return Promise.reject(new Error("out of reach"));
        handedIn.push(counts);
        return Promise.resolve();
      },
    }),
    background: (work) => state.work = work,
    now: () => state.time,
    log: { backgroundFault: (work) => faults.push(work) },
  });
  /** Lets the time pass after which counts are sent to the database. */
  const pass = async () => {
    clock.advance(USAGE_FLUSH_MILLISECONDS);
    await state.work;
  };
  return { counts, handedIn, faults, state, pass };
}

Deno.test("many requests are handed in together, by project, key and day", async () => {
  const { counts, handedIn, state, pass } = isolate();
  for (let n = 0; n < 1000; n++) counts.count("a", "k");
  counts.count("a", null);
  counts.count("b", "k");
  state.time += 1000;
  counts.count("a", "k");
  assertEquals(handedIn, []);
  await pass();
  assertEquals(handedIn, [[
    { projectId: "a", keyId: "k", day: "2026-01-01", requests: 1000 },
    { projectId: "a", keyId: null, day: "2026-01-01", requests: 1 },
    { projectId: "b", keyId: "k", day: "2026-01-01", requests: 1 },
    { projectId: "a", keyId: "k", day: "2026-01-02", requests: 1 },
  ]]);
  await counts.flush();
  assertEquals(handedIn.length, 1, "nothing is handed in twice");
});

Deno.test("counts are kept while the back end is out of reach, and go with the next ones", async () => {
  const { counts, handedIn, faults, state, pass } = isolate();
  state.isDown = true;
  counts.count("a", "k");
  await pass();
  assertEquals(faults, ["usage"]);
  state.isDown = false;
  counts.count("a", "k");
  await pass();
  assertEquals(handedIn.flat().map(({ requests }) => requests), [2]);
});

Deno.test("what an isolate remembers is bounded", async () => {
  const { counts, handedIn, pass } = isolate();
  for (let n = 0; n < USAGE_COUNTS_MAX + 10; n++) counts.count("a", `${n}`);
  counts.count("a", "0");
  await pass();
  assertEquals(handedIn[0]?.length, USAGE_COUNTS_MAX);
  assertEquals(handedIn[0]?.[0]?.requests, 2);
});
