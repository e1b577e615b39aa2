import { assertEquals, assertRejects } from "@std/assert";
import {
  CHANGES_POLL_MILLISECONDS,
  CHANGES_WAIT_SECONDS_MAX,
  CHANGES_WAITERS_MAX,
} from "../../../supabase/functions/api/limits.ts";
import { watchChanges } from "../../../supabase/functions/api/services.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const LONG = CHANGES_WAIT_SECONDS_MAX * 1000;
const { signal: never } = new AbortController();

/** A watch over projects whose newest positions the test sets. */
function watched() {
  const clock = new ManualClock();
  const newest = new Map<string, number>();
  const asked: { readonly projectId: string; readonly at: number }[] = [];
  const state = { isDown: false };
  const watch = watchChanges(() => ({
    newestChange(projectId, known) {
      asked.push({ projectId, at: clock.now() });
      if (state.isDown) return Promise.reject(new Error("down"));
      return Promise.resolve(Math.max(known, newest.get(projectId) ?? 0));
    },
  }), clock);
  /** Advances by one poll at a time, with time for the answers. */
  const polls = async (count: number) => {
    for (let poll = 0; poll < count; poll++) {
      clock.advance(CHANGES_POLL_MILLISECONDS);
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  };
  return { watch, clock, newest, asked, state, polls };
}

Deno.test("ProjectWatch: one question at a time serves all who wait for a project, no two closer than the interval", async () => {
  const { watch, newest, asked, polls } = watched();
  const waiting = Array.from({ length: CHANGES_WAITERS_MAX }, () => watch.wait("a", 7, LONG, never));
  const other = watch.wait("b", 0, LONG, never);
  await polls(3);
  const times = asked.filter(({ projectId }) => projectId === "a").map(({ at }) => at);
  assertEquals(times, [1, 2, 3].map((n) => n * CHANGES_POLL_MILLISECONDS));
  newest.set("a", 8);
  await polls(1);
  assertEquals(await Promise.all(waiting), waiting.map(() => true));
  assertEquals(watch.waiters("b"), 1);
  newest.set("b", 1);
  await polls(1);
  assertEquals(await other, true);
});

Deno.test("ProjectWatch: a request that has read that far continues to wait", async () => {
  const { watch, newest, polls } = watched();
  newest.set("a", 5);
  const [behind, ahead] = [watch.wait("a", 4, LONG, never), watch.wait("a", 5, LONG, never)];
  await polls(2);
  assertEquals([await behind, watch.waiters("a")], [true, 1]);
  newest.set("a", 6);
  await polls(1);
  assertEquals(await ahead, true);
});

Deno.test("ProjectWatch: one more than may wait is answered at once, and so is one without time", async () => {
  const { watch, polls, clock } = watched();
  const waiting = Array.from({ length: CHANGES_WAITERS_MAX }, () => watch.wait("a", 0, LONG, never));
  assertEquals(await watch.wait("a", 0, LONG, never), false);
  assertEquals(await watch.wait("b", 0, 0, never), false);
  await polls(1);
  clock.advance(LONG);
  assertEquals(await Promise.all(waiting), waiting.map(() => false));
  assertEquals(watch.waiters("a"), 0);
});

Deno.test("ProjectWatch: who goes away leaves, and nobody is asked for", async () => {
  const { watch, asked, polls } = watched();
  const gone = new AbortController();
  const waiting = watch.wait("a", 0, LONG, gone.signal);
  await polls(1);
  gone.abort(new Error("gone"));
  await assertRejects(() => waiting, Error, "gone");
  await assertRejects(() => watch.wait("a", 0, LONG, gone.signal), Error, "gone");
  assertEquals(watch.waiters("a"), 0);
  const before = asked.length;
  await polls(3);
  assertEquals(asked.length, before);
});

Deno.test("ProjectWatch: while the database is out of reach it is asked again, at the same pace", async () => {
  const { watch, newest, asked, state, polls } = watched();
  state.isDown = true;
  const waiting = watch.wait("a", 0, LONG, never);
  await polls(4);
  assertEquals(asked.length, 4);
  state.isDown = false;
  newest.set("a", 1);
  await polls(1);
  assertEquals(await waiting, true);
});
