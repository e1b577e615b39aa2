/** Erased data stays erased, and all other data stays, whichever part is killed at any time. */
import { startPostgres } from "../support/postgres/postgres.ts";
import { ErasureLab, ERASURES, VICTIMS } from "../support/faults/erasure_lab.ts";
import { report, rounds } from "../support/runner/long.ts";
import { randomFrom, SEED } from "../support/random.ts";

/** The number of kills. The exact time of each depends on the machine, not on the seed. */
const KILLS = Number(Deno.env.get("ERASURE_KILLS") ?? rounds(10, 100));
/** The oldest supported major version, whose dumps every maintained `pg_dump` can read. */
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
          // Combines each erasure with each victim.
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
