/** When an isolate asks for what is to be indexed. */
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { ByteBudget } from "../../../supabase/functions/api/runtime/byte_budget.ts";
import type { ClaimedFile } from "../../../supabase/functions/api/ports/search_index.ts";
import { IndexScheduler } from "../../../supabase/functions/api/search/index_scheduler.ts";
import type { SearchParts } from "../../../supabase/functions/api/search/indexer.ts";
import {
  SEARCH_CLAIMS_PER_RUN,
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_INDEX_PAUSE_FACTOR,
  SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
} from "../../../supabase/functions/api/limits.ts";
import { consoleLog } from "../../../supabase/functions/api/runtime/log.ts";
import { withFakeClock } from "../../support/fake_clock.ts";

interface Waiting {
  /** Files that wait; a claim takes one. */
  readonly files?: number;
  /** What a claim costs. */
  readonly milliseconds?: number;
  /** What the claims that find nothing are told of when something will be due; the last ones that nothing will be. */
  readonly nextDue?: readonly number[];
}

/** Nothing of it is left, so that there is no text to be read. */
const DELETED_FILE: ClaimedFile = {
  projectId: "",
  fileId: "",
  version: 1,
  path: "gone.txt",
  mimeType: "text/plain",
  size: 0,
  isDeleted: true,
  segments: [],
  chunks: [],
};

function indexing({ files = 0, milliseconds = 0, nextDue = [] }: Waiting = {}) {
  const unused = () => Promise.reject(new Error("nothing was claimed"));
  let claims = 0;
  let left = files;
  let told = 0;
  const asked: (() => void)[] = [];
  const parts: SearchParts = {
    index: {
      async claimTexts() {
        claims++;
        asked.shift()?.();
        const isTaken = left > 0;
        if (isTaken) left--;
        const nextDueMilliseconds = isTaken ? null : nextDue[told++] ?? null;
        if (milliseconds > 0) await sleep(milliseconds);
        return { claimId: "", files: isTaken ? [DELETED_FILE] : [], nextDueMilliseconds };
      },
      claimChunks: unused,
      storeTexts: () => Promise.resolve(),
      storeEmbeddings: unused,
      requeue: unused,
    },
    segments: { get: unused, put: unused, remove: unused, days: unused, list: unused, ping: unused },
    readAhead: new ByteBudget(0),
    embedder: null,
  };
  const runs: Promise<unknown>[] = [];
  return {
    indexing: new IndexScheduler(parts, (run) => runs.push(run), consoleLog),
    runs,
    claims: () => claims,
    /** The next claim. */
    asked: () => new Promise<void>((resolve) => asked.push(resolve)),
  };
}

Deno.test(
  "IndexScheduler claims a moment after it is asked, so that a text is found soon",
  underFakeClock(async () => {
    const { indexing: it, runs, asked } = indexing({ files: 1 });
    const first = asked();
    const started = performance.now();
    it.committed();
    await first;
    assertEquals(performance.now() - started, SEARCH_INDEX_DELAY_MILLISECONDS);
    await Promise.all(runs);
  }),
);

Deno.test(
  "IndexScheduler ends when nothing waits",
  underFakeClock(async () => {
    const { indexing: it, runs, claims } = indexing();
    it.start();
    await Promise.all(runs);
    assertEquals([runs.length, claims()], [1, 1]);
  }),
);

Deno.test(
  "IndexScheduler goes on by itself when a text that rests is due",
  underFakeClock(async () => {
    const { indexing: it, runs, claims } = indexing({ nextDue: [1, 1] });
    it.start();
    await Promise.all(runs);
    assertEquals([runs.length, claims()], [1, 3]);
  }),
);

Deno.test(
  "IndexScheduler is not kept by a text that rests from what comes meanwhile",
  underFakeClock(async () => {
    const { indexing: it, runs, claims, asked } = indexing({ nextDue: [3_600_000] });
    const first = asked();
    it.start();
    await first;
    // The rest begins once the claim's answer has been read.
    await new Promise((resolve) => setTimeout(resolve, 0));
    it.start();
    await Promise.all(runs);
    assertEquals([runs.length, claims()], [1, 2]);
  }),
);

Deno.test(
  "IndexScheduler asks once more for what came while it was asking",
  underFakeClock(async () => {
    const { indexing: it, runs, claims, asked } = indexing();
    const first = asked();
    it.start();
    await first;
    it.start();
    await Promise.all(runs);
    assertEquals([runs.length, claims()], [1, 2]);
  }),
);

Deno.test(
  "IndexScheduler takes what is left without a pause while no commits come, a bounded number of claims a run",
  underFakeClock(async () => {
    const { indexing: it, runs, claims } = indexing({ files: SEARCH_CLAIMS_PER_RUN + 1 });
    const started = performance.now();
    it.start();
    await Promise.all(runs);
    const milliseconds = performance.now() - started;
    assertEquals(claims(), SEARCH_CLAIMS_PER_RUN);
    assert(milliseconds < SEARCH_CLAIMS_PER_RUN * SEARCH_INDEX_DELAY_MILLISECONDS, `${milliseconds} ms`);
  }),
);

Deno.test(
  "IndexScheduler takes no notice of the commits before it, which are what it takes",
  underFakeClock(async () => {
    const { indexing: it, runs, claims } = indexing({ files: 2, milliseconds: 500 });
    const started = performance.now();
    for (let n = 0; n < 100; n++) it.committed();
    await Promise.all(runs);
    const milliseconds = performance.now() - started;
    assertEquals(claims(), 3);
    assert(milliseconds < 500 * SEARCH_INDEX_PAUSE_FACTOR, `${milliseconds} ms`);
  }),
);

/** How long it is from one claim to the next, when so much comes while the first takes so long. */
async function betweenClaims(
  waiting: Required<Pick<Waiting, "files" | "milliseconds">>,
  times: number,
  what: "committed" | "start" = "committed",
): Promise<number> {
  const { indexing: it, runs, claims, asked } = indexing(waiting);
  const first = asked();
  it.start();
  await first;
  const started = performance.now();
  for (let n = 0; n < times; n++) it[what]();
  await asked();
  const milliseconds = performance.now() - started;
  await Promise.all(runs);
  assertEquals(claims(), 2);
  return milliseconds;
}

for (const files of [0, 1]) {
  const after = files > 0 ? "after a claim that took something" : "after a claim in vain";

  Deno.test(
    `IndexScheduler leaves many commits that keep coming the greater part of the time ${after}`,
    underFakeClock(async () => {
      const milliseconds = 50;
      const pauseMilliseconds = milliseconds * SEARCH_INDEX_PAUSE_FACTOR;
      assert(pauseMilliseconds > SEARCH_INDEX_DELAY_MILLISECONDS, "it is that pause which is looked at");
      // Timers may be early by parts of a millisecond.
      assertGreaterOrEqual(
        await betweenClaims({ files, milliseconds }, 100),
        milliseconds + pauseMilliseconds - 2,
      );
    }),
  );

  Deno.test(
    `IndexScheduler lets a few commits wait for less than that, however long it took, ${after}`,
    underFakeClock(async () => {
      const milliseconds = 1_000;
      const between = await betweenClaims({ files, milliseconds }, 4);
      assert(between < milliseconds * SEARCH_INDEX_PAUSE_FACTOR, `${between} ms`);
      assertGreaterOrEqual(between, milliseconds + 4 * SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT - 2);
    }),
  );
}

Deno.test(
  "IndexScheduler is not put off by searches that ask for it",
  underFakeClock(async () => {
    const milliseconds = 500;
    const between = await betweenClaims({ files: 0, milliseconds }, 100, "start");
    assert(between < milliseconds * SEARCH_INDEX_PAUSE_FACTOR, `${between} ms`);
  }),
);

function underFakeClock(work: () => Promise<void>): () => Promise<void> {
  return () => withFakeClock(work);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
