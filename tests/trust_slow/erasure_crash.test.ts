/** What was erased is gone for good, and nothing else is, whatever is killed in the middle of whatever. */
import { startPostgres } from "../support/postgres/postgres.ts";
import { ErasureLab, ERASURES, VICTIMS } from "../support/faults/erasure_lab.ts";
import { report, rounds } from "../support/runner/long.ts";
import { randomFrom, SEED } from "../support/random.ts";

/** When exactly each of them hits is up to the machine, whatever the seed. */
const KILLS = Number(Deno.env.get("ERASURE_KILLS") ?? rounds(20, 100));
/** The oldest major version that is supported: every `pg_dump` that is still maintained reads it. */
const VERSION = 15;

Deno.test({
  name:
    "after kill -9 of function, database and stack in the middle of erasures and sweeps, one complete sweep leaves no canary and all else",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const server = await startPostgres({ durable: true, version: VERSION });
    try {
      const lab = await ErasureLab.open(server, randomFrom(SEED));
      try {
        const started = performance.now();
        for (let round = 0; round < KILLS; round++) {
          const erasure = ERASURES[round % ERASURES.length] ?? "purge";
          // Each erasure meets each victim.
          const victim = VICTIMS[(round + Math.floor(round / ERASURES.length)) % VICTIMS.length] ??
            "function";
          try {
            await lab.round(erasure, victim);
          } catch (error) {
            throw new Error(`round ${round + 1}, ${erasure}, ${victim} killed, TEST_SEED=${SEED}`, {
              cause: error,
            });
          }
        }
        await lab.sweep();
        await lab.verify();
        const seconds = ((performance.now() - started) / 1000).toFixed(1);
        report("erasures cut off", {
          seed: SEED,
          kills: KILLS,
          canaries: lab.canaries.length,
          found: 0,
          seconds,
        });
      } finally {
        await lab.close();
      }
    } finally {
      await server.stop();
    }
  },
});
