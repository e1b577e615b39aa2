/**
 * For any sequence of operations, the service answers like a simple model of the contract. TEST_SEED and MODEL_PATH, as
 * printed by a failure, repeat that one sequence and shorten it; MODEL_RUNS sets the number of sequences.
 */
import fc from "fast-check";
import { inParallel } from "../support/in_parallel.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { administrator, sweepAll } from "../support/client/erasure.ts";
import { onPostgres } from "../support/stack/on_postgres.ts";
import { type Service, startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";
import { report, rounds } from "../support/runner/long.ts";
import { type Operation, sequence } from "../support/model/model_operations.ts";
import { ModelRun } from "../support/model/model_run.ts";
import { SEED } from "../support/random.ts";

const PATH = Deno.env.get("MODEL_PATH");
/** Fewer, since PGlite runs the same SQL on one connection, and a few sequences show whether it answers alike. */
const RUNS_ON_PGLITE = Number(Deno.env.get("MODEL_RUNS") ?? rounds(9, 2500));
const RUNS_ON_POSTGRES = Number(Deno.env.get("MODEL_RUNS") ?? rounds(60, 2500));
/** Sequences that run at the same time, each in its own project. */
const LANES = PATH === undefined ? 3 : 1;

async function agree(title: string, service: Service, runs: number): Promise<void> {
  const counts = new Map<string, number>();
  let sequences = 0;
  const started = performance.now();
  // Sweeps run one after another, since a sweep reports that it is done while another one does the rest of the work.
  let sweeping = Promise.resolve();
  const sweep = () => sweeping = sweeping.then(() => sweepAll(service));
  const property = fc.asyncProperty(sequence, async (operations: Operation[]) => {
    sequences++;
    const { id, key } = await service.project("enterprise");
    const { key: adminKey } = await administrator(service, id);
    const run = new ModelRun(service, key, adminKey, sweep);
    await run.run(operations);
    for (const [kind, count] of run.counts) counts.set(kind, (counts.get(kind) ?? 0) + count);
  });
  const seeds = Array.from({ length: LANES }, (_, lane) => SEED + lane);
  await inParallel(seeds, LANES, async (seed) => {
    const numRuns = Math.ceil(runs / LANES);
    try {
      await fc.assert(property, {
        seed,
        numRuns,
        ...(PATH === undefined ? { endOnFailure: true } : { path: PATH }),
      });
    } catch (error) {
      throw new Error(`again with TEST_SEED=${seed} and MODEL_PATH as below`, { cause: error });
    }
  });
  await assertConsistent((statement) => service.sql(statement));
  const operations = [...counts.values()].reduce((total, count) => total + count, 0);
  const refusals = [...counts].filter(([kind]) => kind.includes(" ")).reduce(
    (total, [, count]) => total + count,
    0,
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  report(title, {
    seeds,
    sequences,
    operations,
    refusals,
    kinds: Object.fromEntries([...counts].sort()),
    seconds,
  });
}

test("random sequences of all operations answer what the model of the contract answers, on PGlite", async () => {
  const service = await startService({ databaseUrl: undefined });
  try {
    await agree("model on PGlite", service, RUNS_ON_PGLITE);
  } finally {
    await service.stop();
  }
});

test("random sequences of all operations answer what the model of the contract answers, on Postgres", async () => {
  await onPostgres(3, (service) => agree("model on Postgres", service, RUNS_ON_POSTGRES));
});
