/** Acknowledged writes survive a kill of any part at any time. */
import { startPostgres } from "../support/postgres/postgres.ts";
import { CrashLab } from "../support/faults/crash_lab.ts";
import type { Victim } from "../support/faults/killable_stack.ts";
import { IS_BRIEF, report, rounds } from "../support/runner/long.ts";
import { randomFrom, SEED } from "../support/random.ts";

/** The exact time of a kill depends on the machine, not on the seed. CRASH_ROUNDS sets the number of rounds. */
function roundsOf(short: number, long: number): number {
  return Number(Deno.env.get("CRASH_ROUNDS") ?? rounds(short, long));
}

async function crash(title: string, lab: CrashLab, victims: readonly Victim[], count: number): Promise<void> {
  try {
    const kills: Record<string, number> = {};
    for (let round = 0; round < count; round++) {
      const victim = victims[round % victims.length] ?? "stack";
      try {
        await lab.round(victim);
      } catch (error) {
        throw new Error(`round ${round + 1}, ${victim} killed, TEST_SEED=${SEED}`, { cause: error });
      }
      kills[victim] = (kills[victim] ?? 0) + 1;
    }
    const segments = await lab.verifyAll();
    report(title, { seed: SEED, kills, ...lab.totals, segments });
  } finally {
    await lab.close();
  }
}

Deno.test({
  name: "acknowledged versions survive kill -9 of function, gateway and database under mixed load",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const server = await startPostgres({ durable: true });
    try {
      const victims = ["function", "database", "stack", "all functions", "stack and database"] as const;
      await crash(
        "crashes on Postgres",
        await CrashLab.open(server, randomFrom(SEED)),
        victims,
        roundsOf(IS_BRIEF ? 2 : 3, 100),
      );
    } finally {
      await server.stop();
    }
  },
});

Deno.test({
  name: "acknowledged versions survive kill -9 of the whole stack on PGlite under mixed load",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const lab = await CrashLab.open(undefined, randomFrom(SEED));
    await crash("crashes on PGlite", lab, ["stack"], roundsOf(1, 50));
  },
});
