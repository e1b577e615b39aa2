/**
 * For any sequence of operations, the service answers like a simple model of the contract. TEST_SEED and MODEL_PATH, as
 * printed by a failure, repeat that one sequence and shorten it; MODEL_RUNS sets the number of sequences.
 */
import { assertAgrees, modelRuns } from "../support/model/agreement.ts";
import { rounds } from "../support/runner/long.ts";
import { onPostgres } from "../support/stack/on_postgres.ts";
import { startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";

/** Fewer, since PGlite runs the same SQL on one connection, and a few sequences show whether it answers alike. */
const RUNS_ON_PGLITE = modelRuns(rounds(9, 2500));
const RUNS_ON_POSTGRES = modelRuns(rounds(60, 2500));

test("random sequences of all operations answer what the model of the contract answers, on PGlite", async () => {
  const service = await startService({ databaseUrl: undefined });
  try {
    await assertAgrees("model on PGlite", service, RUNS_ON_PGLITE);
  } finally {
    await service.stop();
  }
});

test("random sequences of all operations answer what the model of the contract answers, on Postgres", async () => {
  await onPostgres(3, (service) => assertAgrees("model on Postgres", service, RUNS_ON_POSTGRES));
});
