/** Compares the service with the model of the contract, sequence by sequence of random operations. */
import fc from "fast-check";
import { administrator, sweepAll } from "../client/erasure.ts";
import { inParallel } from "../in_parallel.ts";
import { assertConsistent } from "../postgres/consistency.ts";
import { SEED } from "../random.ts";
import { report } from "../runner/long.ts";
import type { Service } from "../stack/service.ts";
import { type Operation, sequence } from "./model_operations.ts";
import { ModelRun } from "./model_run.ts";

const PATH = Deno.env.get("MODEL_PATH");
/** Sequences that run at the same time, each in its own project. */
const LANES = PATH === undefined ? 3 : 1;

/** The number of sequences: MODEL_RUNS, or else `otherwise`. */
export function modelRuns(otherwise: number): number {
  return Number(Deno.env.get("MODEL_RUNS") ?? otherwise);
}

/** Returns what runs a sequence in a project of its own. Throws if an answer is not the model's. */
export function sequencesOn(service: Service) {
  // Sweeps run one after another, since a sweep reports that it is done while another one does the rest of the work.
  let sweeping = Promise.resolve();
  const sweep = () => sweeping = sweeping.then(() => sweepAll(service));
  return async (operations: readonly Operation[]) => {
    const { id, key } = await service.project("enterprise");
    const { key: adminKey } = await administrator(service, id);
    const run = new ModelRun(service, key, adminKey, sweep);
    await run.run(operations);
    return { projectId: id, key, counts: run.counts };
  };
}

/**
 * Runs `runs` sequences. Throws if an answer is not the model's, or if the rows contradict each other afterwards. TEST_SEED and
 * MODEL_PATH, as the error says them, repeat one sequence and shorten it.
 */
export async function assertAgrees(title: string, service: Service, runs: number): Promise<void> {
  const counts = new Map<string, number>();
  let sequences = 0;
  const started = performance.now();
  const runSequence = sequencesOn(service);
  const property = fc.asyncProperty(sequence, async (operations: Operation[]) => {
    sequences++;
    const run = await runSequence(operations);
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
  const entries = [...counts];
  const sum = (of: typeof entries) => of.reduce((total, [, count]) => total + count, 0);
  report(title, {
    seeds,
    sequences,
    operations: sum(entries),
    refusals: sum(entries.filter(([kind]) => kind.includes(" "))),
    kinds: Object.fromEntries(entries.sort()),
    seconds: ((performance.now() - started) / 1000).toFixed(1),
  });
}
