/** Kills a stack under load, starts it again on the same data, and checks what must still hold. */
import { assertEquals } from "@std/assert";
import { assertConsistent } from "../postgres/consistency.ts";
import { inParallel } from "../in_parallel.ts";
import { listPaths, perform, readHistory, type Target } from "../client/files_client.ts";
import { contradictions } from "./ledger.ts";
import { Load } from "./load.ts";
import { KillableStack, type Victim, wait } from "./killable_stack.ts";

const CLIENTS = 8;
/** A statement that was running in the database when its request was abandoned may still finish. */
const SETTLE_MILLISECONDS = 300;

const VERSIONS_DIGEST = `
  select md5(string_agg(v::text, ',' order by v.file_id, v.version)) as digest
  from filestore.file_versions v where v.project_id = $1`;
const SEGMENTS = `
  select s.project_id || '/' || to_char(s.stored_on, 'YYYYMMDD') || '/' || s.id as name, encode(s.sha256, 'hex') as sha256
  from filestore.segments s where $1::uuid is null or s.project_id = $1::uuid`;

export interface Totals {
  rounds: number;
  made: number;
  refused: number;
  unknown: number;
  resolved: number;
  versions: number;
  slowestResumeMilliseconds: number;
}

export class CrashLab extends KillableStack {
  readonly totals: Totals = {
    rounds: 0,
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
    const { ready: { baseUrl } } = this.child;
    const { id, key } = await this.project();
    const target = { baseUrl, key };
    const load = await Load.start(target, this.random, CLIENTS);
    await load.progress(this.random.below(50));
    // So that the kill does not always come right after an answer.
    await wait(this.random.below(30));
    await this.kill(victim);
    const killed = performance.now();
    await this.#resumed(target);
    this.totals.slowestResumeMilliseconds = Math.max(
      this.totals.slowestResumeMilliseconds,
      Math.round(performance.now() - killed),
    );
    await load.progress(10);
    await load.stop();
    await wait(SETTLE_MILLISECONDS);
    await this.#verify(id, target, load);
    this.totals.rounds++;
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

  /** Waits until a write succeeds. Requests alone must bring the service back. */
  async #resumed(target: Target): Promise<void> {
    const probe = { kind: "write", path: "probe/alive.txt", text: "alive" } as const;
    await this.patiently(async () => {
      const { kind } = await perform(target, probe);
      if (kind !== "made") throw new Error("the service does not resume");
    });
  }

  async #verify(project: string, target: Target, load: Load): Promise<void> {
    await assertConsistent((statement) => this.child.sql(statement));
    const paths = (await listPaths(target)).filter((path) => !path.startsWith("probe/"));
    const histories = new Map<string, (string | null)[]>();
    for (const path of paths) histories.set(path, await readHistory(target, path));
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
    const { supabaseUrl, secretKey } = this.child.ready;
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
