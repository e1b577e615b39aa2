/** When an isolate takes files to index. */
import { assert, assertEquals, assertGreaterOrEqual, assertLessOrEqual } from "@std/assert";
import { IndexScheduler } from "../../../supabase/functions/api/search/index_scheduler.ts";
import {
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_INDEX_PAUSE_FACTOR,
  SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
  SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
  SEARCH_LEASES_PER_RUN,
} from "../../../supabase/functions/api/limits.ts";
import { consoleLog } from "../../../supabase/functions/api/runtime/log.ts";
import { withFakeClock } from "../../support/fake_clock.ts";

interface Waiting {
  /** Number of queued files; a lease takes one. */
  readonly files?: number;
  /** Duration of a lease. */
  readonly milliseconds?: number;
  /** `nextDueMilliseconds` of the empty leases, in order; later leases return null. */
  readonly nextDue?: readonly number[];
  /** The number of leases, from the first one on, that fail. */
  readonly failures?: number;
}

function indexing({ files = 0, milliseconds = 0, nextDue = [], failures = 0 }: Waiting = {}) {
  let leases = 0;
  let left = files;
  let told = 0;
  const asked: (() => void)[] = [];
  const lease = async () => {
    leases++;
    asked.shift()?.();
    if (leases <= failures) {
      await sleep(1);
      throw new Error("out of reach");
    }
    const isTaken = left > 0;
    if (isTaken) left--;
    const nextDueMilliseconds = isTaken ? null : nextDue[told++] ?? null;
    if (milliseconds > 0) await sleep(milliseconds);
    return { files: isTaken ? 1 : 0, nextDueMilliseconds };
  };
  const runs: Promise<unknown>[] = [];
  return {
    indexing: new IndexScheduler(lease, (run) => runs.push(run), { ...consoleLog, backgroundFault() {} }),
    runs,
    leases: () => leases,
    /** Resolves at the next lease. */
    asked: () => new Promise<void>((resolve) => asked.push(resolve)),
  };
}

clockTest("leases a moment after a commit, so that its text is found soon", async () => {
  const { indexing: it, runs, asked } = indexing({ files: 1 });
  const first = asked();
  const started = performance.now();
  it.committed();
  await first;
  assertEquals(performance.now() - started, SEARCH_INDEX_DELAY_MILLISECONDS);
  await Promise.all(runs);
});

for (const [nextDue, count] of [[[], 1], [[1, 1], 3]] as const) {
  const when = count === 1 ? "ends its run when nothing is queued" : "continues by itself when a file is due";
  clockTest(when, async () => {
    const { indexing: it, runs, leases } = indexing({ nextDue });
    it.start();
    await Promise.all(runs);
    assertEquals([runs.length, leases()], [1, count]);
  });
}

clockTest("sleeping until a file is due is woken by new work", async () => {
  const { indexing: it, runs, leases, asked } = indexing({ nextDue: [3_600_000] });
  const first = asked();
  it.start();
  await first;
  // The sleep begins once the lease's answer has been read.
  await new Promise((resolve) => setTimeout(resolve, 0));
  it.start();
  await Promise.all(runs);
  assertEquals([runs.length, leases()], [1, 2]);
});

clockTest("leases once more for work that arrives during a lease", async () => {
  const { indexing: it, runs, leases, asked } = indexing();
  const first = asked();
  it.start();
  await first;
  it.start();
  await Promise.all(runs);
  assertEquals([runs.length, leases()], [1, 2]);
});

clockTest("runs again for work that arrived while a lease failed, and only then", async () => {
  const { indexing: it, runs, leases, asked } = indexing({ failures: 3 });
  it.start();
  await Promise.all(runs);
  assertEquals([runs.length, leases()], [1, 1]);
  const second = asked();
  it.start();
  await second;
  it.start();
  await runs[1];
  await runs[2];
  assertEquals([runs.length, leases()], [3, 3]);
});

clockTest(
  "drains the queue without pauses while no commits come, in a bounded number of leases per run",
  async () => {
    const { indexing: it, runs, leases } = indexing({ files: SEARCH_LEASES_PER_RUN + 1 });
    const started = performance.now();
    it.start();
    await Promise.all(runs);
    const milliseconds = performance.now() - started;
    assertEquals(leases(), SEARCH_LEASES_PER_RUN);
    assert(milliseconds < SEARCH_LEASES_PER_RUN * SEARCH_INDEX_DELAY_MILLISECONDS, `${milliseconds} ms`);
  },
);

clockTest("does not pause for the commits before its first lease, which covers them", async () => {
  const { indexing: it, runs, leases } = indexing({ files: 2, milliseconds: 500 });
  const started = performance.now();
  for (let n = 0; n < 100; n++) it.committed();
  await Promise.all(runs);
  const milliseconds = performance.now() - started;
  assertEquals(leases(), 3);
  assert(milliseconds < 500 * SEARCH_INDEX_PAUSE_FACTOR, `${milliseconds} ms`);
});

/** Measures the time from the first lease to the second, with `times` calls of `what` during the first. */
async function betweenLeases(
  waiting: Required<Pick<Waiting, "files" | "milliseconds">>,
  times: number,
  what: "committed" | "start" = "committed",
): Promise<number> {
  const { indexing: it, runs, asked } = indexing(waiting);
  const first = asked();
  it.start();
  await first;
  const started = performance.now();
  for (let n = 0; n < times; n++) it[what]();
  await asked();
  const milliseconds = performance.now() - started;
  await Promise.all(runs);
  return milliseconds;
}

for (const files of [0, 1]) {
  const after = files > 0 ? "after a lease that took something" : "after an empty lease";

  clockTest(`leaves most of the time to commits that keep coming ${after}`, async () => {
    const milliseconds = 50;
    const pauseMilliseconds = milliseconds * SEARCH_INDEX_PAUSE_FACTOR;
    assert(pauseMilliseconds > SEARCH_INDEX_DELAY_MILLISECONDS, "it is that pause which is measured");
    // Timers may fire a fraction of a millisecond early.
    assertGreaterOrEqual(
      await betweenLeases({ files, milliseconds }, 100),
      milliseconds + pauseMilliseconds - 2,
    );
  });

  clockTest(`pauses less for a few commits, however long the lease took, ${after}`, async () => {
    const milliseconds = 1_000;
    const between = await betweenLeases({ files, milliseconds }, 4);
    assert(between < milliseconds * SEARCH_INDEX_PAUSE_FACTOR, `${between} ms`);
    assertGreaterOrEqual(between, milliseconds + 4 * SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT - 2);
  });
}

clockTest("does not pause for searches that request a run", async () => {
  const milliseconds = 500;
  const between = await betweenLeases({ files: 0, milliseconds }, 100, "start");
  assert(between < milliseconds * SEARCH_INDEX_PAUSE_FACTOR, `${between} ms`);
});

clockTest("leases every few seconds, however long leases take and however many commits come", async () => {
  const milliseconds = 1_000;
  const { indexing: it, runs, asked } = indexing({ files: 10, milliseconds });
  it.committed();
  await asked();
  for (let leases = 0; leases < 10; leases++) {
    const ended = performance.now() + milliseconds;
    for (let n = 0; n < 100; n++) it.committed();
    await asked();
    assertLessOrEqual(performance.now() - ended, SEARCH_INDEX_PAUSE_MILLISECONDS_MAX);
  }
  await Promise.all(runs);
});

function clockTest(name: string, work: () => Promise<void>): void {
  Deno.test(`IndexScheduler ${name}`, () => withFakeClock(work));
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
