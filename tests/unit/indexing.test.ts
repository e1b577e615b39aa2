/** When an isolate asks for what is to be indexed. */
import { assert, assertEquals, assertGreaterOrEqual } from "@std/assert";
import { ByteBudget } from "../../supabase/functions/api/domain/budget.ts";
import { Indexing, type SearchParts } from "../../supabase/functions/api/operations/search_index.ts";
import {
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_INDEX_PAUSE_FACTOR,
  SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
} from "../../supabase/functions/api/limits.ts";
import { consoleLog } from "../../supabase/functions/api/log.ts";

/** An index in which nothing is to be done now; each claim is told when something will be, the last one that nothing is. */
function indexing(...nextDue: number[]) {
  return indexingThatTakes(0, ...nextDue);
}

function indexingThatTakes(milliseconds: number, ...nextDue: number[]) {
  const unused = () => Promise.reject(new Error("nothing was claimed"));
  let claims = 0;
  const asked: (() => void)[] = [];
  const parts: SearchParts = {
    index: {
      async claimTexts() {
        asked.shift()?.();
        const nextDueMilliseconds = nextDue[claims++] ?? null;
        if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
        return { claimId: "", files: [], nextDueMilliseconds };
      },
      claimChunks: unused,
      storeTexts: unused,
      storeEmbeddings: unused,
      requeue: unused,
    },
    segments: { get: unused, put: unused, remove: unused, days: unused, list: unused, ping: unused },
    readAhead: new ByteBudget(0),
    embedder: null,
  };
  const runs: Promise<unknown>[] = [];
  return {
    indexing: new Indexing(parts, (run) => runs.push(run), consoleLog),
    runs,
    claims: () => claims,
    /** The next claim. */
    asked: () => new Promise<void>((resolve) => asked.push(resolve)),
  };
}

Deno.test("Indexing ends when nothing waits", async () => {
  const { indexing: it, runs, claims } = indexing();
  it.start();
  await Promise.all(runs);
  assertEquals([runs.length, claims()], [1, 1]);
});

Deno.test("Indexing goes on by itself when a text that rests is due", async () => {
  const { indexing: it, runs, claims } = indexing(1, 1);
  it.start();
  await Promise.all(runs);
  assertEquals([runs.length, claims()], [1, 3]);
});

Deno.test("Indexing is not kept by a text that rests from what comes meanwhile", async () => {
  const { indexing: it, runs, claims, asked } = indexing(3_600_000);
  const first = asked();
  it.start();
  await first;
  // The rest begins once the claim's answer has been read.
  await new Promise((resolve) => setTimeout(resolve, 0));
  it.start();
  await Promise.all(runs);
  assertEquals([runs.length, claims()], [1, 2]);
});

Deno.test("Indexing asks once more for what came while it was asking", async () => {
  const { indexing: it, runs, claims, asked } = indexing();
  const first = asked();
  it.start();
  await first;
  it.start();
  await Promise.all(runs);
  assertEquals([runs.length, claims()], [1, 2]);
});

/** How long it is from one claim to the next, when so much comes while the first takes so long. */
async function betweenClaims(
  tookMilliseconds: number,
  times: number,
  what: "committed" | "start" = "committed",
): Promise<number> {
  const { indexing: it, runs, claims, asked } = indexingThatTakes(tookMilliseconds);
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

Deno.test("Indexing leaves many commits that keep coming the greater part of the time", async () => {
  const tookMilliseconds = 50;
  const pauseMilliseconds = tookMilliseconds * SEARCH_INDEX_PAUSE_FACTOR;
  assert(pauseMilliseconds > SEARCH_INDEX_DELAY_MILLISECONDS, "it is that pause which is looked at");
  // Timers may be early by parts of a millisecond.
  assertGreaterOrEqual(await betweenClaims(tookMilliseconds, 100), tookMilliseconds + pauseMilliseconds - 2);
});

Deno.test("Indexing lets a few commits wait for less than that, however long it took", async () => {
  const tookMilliseconds = 1_000;
  const milliseconds = await betweenClaims(tookMilliseconds, 4);
  assert(milliseconds < tookMilliseconds * SEARCH_INDEX_PAUSE_FACTOR, `${milliseconds} ms`);
  assertGreaterOrEqual(milliseconds, tookMilliseconds + 4 * SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT - 2);
});

Deno.test("Indexing is not put off by searches that ask for it", async () => {
  const tookMilliseconds = 500;
  const milliseconds = await betweenClaims(tookMilliseconds, 100, "start");
  assert(milliseconds < tookMilliseconds * SEARCH_INDEX_PAUSE_FACTOR, `${milliseconds} ms`);
});
