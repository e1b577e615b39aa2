/** Acknowledged writes survive a kill of any part at any time: of a stack under load, which starts again on its data. */
import { assertEquals } from "@std/assert";
import { perform, readHistories, type Target } from "../support/client/files_client.ts";
import { KillableStack, type Victim, wait } from "../support/faults/killable_stack.ts";
import { contradictions } from "../support/faults/ledger.ts";
import { Load } from "../support/faults/load.ts";
import { inParallel } from "../support/in_parallel.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { IS_BRIEF, report, rounds } from "../support/runner/long.ts";
import { randomFrom, SEED } from "../support/random.ts";

const CLIENTS = 8;
/** A statement that was running in the database when its request was abandoned may still finish. */
const SETTLE_MILLISECONDS = 300;

const VERSIONS_DIGEST = `
  select md5(string_agg(v::text, ',' order by v.file_id, v.version)) as digest
  from filestore.file_versions v where v.project_id = $1`;
const SEGMENTS = `
  select s.project_id || '/' || to_char(s.stored_on, 'YYYYMMDD') || '/' || s.id as name, encode(s.sha256, 'hex') as sha256
  from filestore.segments s where $1::uuid is null or s.project_id = $1::uuid`;

class CrashLab extends KillableStack {
  readonly totals = {
    made: 0,
    refused: 0,
    unknown: 0,
    resolved: 0,
    versions: 0,
    slowestResumeMilliseconds: 0,
  };
  /** Maps each project to the digest of its versions at the end of its round. */
  readonly #digests = new Map<string, string | undefined>();

  /** Runs load, kills the victim in the middle of it, runs load again, then checks everything. */
  async round(victim: Victim): Promise<void> {
    const { id, key } = await this.project();
    const target = { baseUrl: this.child.addresses.baseUrl, key };
    const load = await Load.start(target, this.random, CLIENTS);
    await load.progress(this.random.below(50));
    // So that the kill does not always come right after an answer.
    await wait(this.random.below(30));
    await this.kill(victim);
    const killed = performance.now();
    // Requests alone must bring the service back.
    await this.patiently(async () => {
      const { kind } = await perform(target, { kind: "write", path: "probe/alive.txt", text: "alive" });
      if (kind !== "made") throw new Error("the service does not resume");
    });
    const resumed = Math.round(performance.now() - killed);
    this.totals.slowestResumeMilliseconds = Math.max(this.totals.slowestResumeMilliseconds, resumed);
    await load.progress(10);
    await load.stop();
    await wait(SETTLE_MILLISECONDS);
    await this.#verify(id, target, load);
    for (const name of ["made", "refused", "unknown", "resolved"] as const) {
      this.totals[name] += load.figures[name];
    }
  }

  /** Checks the projects of all rounds once more, since a later crash must not undo earlier work. */
  async verifyAll(): Promise<number> {
    for (const [project, digest] of this.#digests) {
      assertEquals(await this.#digest(project), digest, `the versions of project ${project} have changed`);
    }
    return await this.#verifySegments(null);
  }

  async #verify(project: string, target: Target, load: Load): Promise<void> {
    await assertConsistent((statement) => this.child.sql(statement));
    const histories = await readHistories(target, (path) => path.startsWith("probe/"));
    assertEquals(contradictions(load.entries, histories), []);
    await this.#verifySegments(project);
    this.totals.versions += [...histories.values()].reduce((total, { length }) => total + length, 0);
    this.#digests.set(project, await this.#digest(project));
    assertEquals(this.defects, []);
  }

  async #digest(project: string): Promise<string | undefined> {
    const [row] = await this.child.sql<{ digest: string }>(VERSIONS_DIGEST, [project]);
    return row?.digest;
  }

  /** Asserts that every segment that a version ever named is in storage, with its original bytes. Returns their number. */
  async #verifySegments(project: string | null): Promise<number> {
    const { supabaseUrl, secretKey } = this.child.addresses;
    const headers = { apikey: secretKey, authorization: `Bearer ${secretKey}` };
    const segments = await this.child.sql<{ name: string; sha256: string }>(SEGMENTS, [project]);
    await inParallel(segments, 8, async ({ name, sha256 }) => {
      const response = await fetch(`${supabaseUrl}/storage/v1/object/filestore-segments/${name}`, {
        headers,
      });
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await response.arrayBuffer()));
      assertEquals({ status: response.status, sha256: digest.toHex() }, { status: 200, sha256 }, name);
    });
    return segments.length;
  }
}

/** The exact time of a kill depends on the machine, not on the seed. CRASH_ROUNDS sets the number of rounds. */
function roundsOf(short: number, long: number): number {
  return Number(Deno.env.get("CRASH_ROUNDS") ?? rounds(short, long));
}

async function crash(title: string, lab: CrashLab, victims: readonly Victim[], count: number): Promise<void> {
  try {
    for (let round = 0; round < count; round++) {
      const victim = victims[round % victims.length] ?? "stack";
      try {
        await lab.round(victim);
      } catch (error) {
        throw new Error(`round ${round + 1}, ${victim} killed, TEST_SEED=${SEED}`, { cause: error });
      }
    }
    const segments = await lab.verifyAll();
    report(title, { seed: SEED, victims, rounds: count, ...lab.totals, segments });
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
      const lab = await CrashLab.open(server, randomFrom(SEED));
      await crash("crashes on Postgres", lab, victims, roundsOf(IS_BRIEF ? 2 : 3, 100));
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
