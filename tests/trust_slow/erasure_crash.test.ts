/**
 * Erased data stays erased, and all other data stays, whichever part is killed in the middle of erasures and sweeps.
 * Everything that is stored is searched for what was erased.
 */
import { assert, assertEquals } from "@std/assert";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { apiAt } from "../support/client/api.ts";
import { encodePath, Files } from "../support/client/files.ts";
import { KillableStack, type Victim, wait } from "../support/faults/killable_stack.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { report, rounds } from "../support/runner/long.ts";
import { randomFrom, SEED } from "../support/random.ts";

/** The number of kills. The exact time of each depends on the machine, not on the seed. */
const KILLS = Number(Deno.env.get("ERASURE_KILLS") ?? rounds(10, 100));
/** The oldest supported major version, whose dumps every maintained `pg_dump` can read. */
const VERSION = 15;
const ERASURES = ["purge", "redact", "retention", "deletedDays", "project"] as const;
const VICTIMS: readonly Victim[] = ["function", "backends", "all functions", "database", "stack"];

const SWEEPERS = 2;
/** Pause before a client repeats a request that was not answered. */
const PAUSE_MILLISECONDS = 50;
/** Consecutive answers, from any process of the function, after which the stack counts as ready. */
const READY_ANSWERS = 6;
/** Versions of a file before it is erased. */
const VERSIONS = 15;

/** Method, path and body of a request that erases, and the statuses that acknowledge it. */
type Erasing = readonly [string, string, unknown, readonly number[]];

class ErasureLab extends KillableStack {
  /** The texts to be erased, which occur in contents, paths and notes. */
  readonly canaries: string[] = [];
  /** The files of each project that must stay. */
  readonly #kept: { readonly key: string; readonly contents: ReadonlyMap<string, string> }[] = [];

  /** Erases a project's canary while sweeps run and the victim is killed. Returns once the erasure is acknowledged. */
  async round(erasure: (typeof ERASURES)[number], victim: Victim): Promise<void> {
    const canary = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const project = await this.project();
    await this.#ready(project.key);
    const [method, path, body, done] = await this.#write(project, canary, erasure);
    this.canaries.push(canary);
    const stop = new AbortController();
    const sweepers = Array.from({ length: SWEEPERS }, () => this.#sweepUntil(stop.signal));
    // The request is repeated until it is answered.
    const erased = this.patiently(async () => {
      const { status, text } = await this.#files(project.key).request(method, path, { body });
      if (!done.includes(status)) throw new Error(`${method} ${path.slice(0, 40)}: ${status} ${text}`);
    });
    await wait(this.random.below(60));
    await this.kill(victim);
    await erased;
    stop.abort();
    await Promise.all(sweepers);
  }

  /** Runs one complete sweep, once the part killed last runs again. */
  async sweep(): Promise<void> {
    const [kept] = this.#kept;
    if (kept === undefined) throw new Error("Nothing is kept: there was no round.");
    await this.#ready(kept.key);
    const begun = new Date();
    while (!(await this.administration.sweep(begun)).isDone);
  }

  /** Throws if something erased is still stored, or if something else is missing. */
  async verify(): Promise<void> {
    assertEquals(this.defects, []);
    await assertConsistent((statement) => this.child.sql(statement));
    for (const { key, contents } of this.#kept) {
      for (const [path, content] of contents) {
        assertEquals((await this.#files(key).read(path)).content, content, path);
      }
    }
    const { code, stdout, stderr } = await new Deno.Command("pg_dump", { args: [this.server?.url ?? ""] })
      .output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const dump = new TextDecoder().decode(stdout);
    assert(dump.includes("COPY filestore.file_versions"), "the dump has rows");
    this.#assertNone(dump, "pg_dump");
    let objects = 0;
    for (const entry of await readdir(this.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      this.#assertNone(path, path);
      this.#assertNone(new TextDecoder("latin1").decode(await Deno.readFile(path)), path);
      objects++;
    }
    assert(objects >= this.#kept.length, "there are objects");
  }

  #assertNone(text: string, where: string): void {
    for (const [round, canary] of this.canaries.entries()) {
      // Bytes are hexadecimal in a dump.
      const hex = new TextEncoder().encode(canary).toHex();
      for (const form of [canary, hex]) {
        const at = text.indexOf(form);
        assert(at < 0, `round ${round + 1}: ${where} has ${text.slice(Math.max(0, at - 200), at + 50)}`);
      }
    }
  }

  #files(key: string): Files {
    return new Files(apiAt(this.child.addresses.baseUrl), key);
  }

  async #ready(key: string): Promise<void> {
    for (let answers = 0; answers < READY_ANSWERS;) {
      const { status } = await this.patiently(() => this.#files(key).request("GET", "/files"));
      answers = status === 200 ? answers + 1 : 0;
    }
  }

  /** Writes files to be erased, and files that stay but use the same segments. Returns the request that erases. */
  async #write(
    { id, name, key }: { id: string; name: string; key: string },
    canary: string,
    erasure: (typeof ERASURES)[number],
  ): Promise<Erasing> {
    const files = this.#files(key);
    // A redacted or trimmed file keeps its path.
    const keepsPath = erasure === "redact" || erasure === "retention";
    const path = keepsPath ? "dir/f.md" : `dir-${canary}/f-${canary}.md`;
    const common = `stays of ${id}\n`;
    await files.write(path, common);
    await files.copy(path, "kept.md");
    const said = { "x-change-note": `because ${canary}`, "idempotency-key": `once ${canary.slice(0, 8)}` };
    const { status, text } = await files.put("append", path, { content: `secret ${canary}\n` }, said);
    assertEquals(status, 200, text);
    for (let count = 0; count < VERSIONS - 3; count++) await files.append(path, `${count} of ${canary}\n`);
    await files.edit(path, "secret", "known");
    const kept = new Map([["kept.md", common]]);
    if (erasure !== "project") this.#kept.push({ key, contents: kept });
    if (keepsPath) {
      await files.overwrite(path, "clean\n");
      kept.set(path, "clean\n");
    }
    const rule = (retention: object): Erasing => ["PATCH", "/project", { retention }, [200]];
    switch (erasure) {
      case "purge":
        return ["DELETE", `/files/${encodePath(path)}?purge`, undefined, [200, 404]];
      case "project":
        return ["DELETE", `/project?confirm=${encodeURIComponent(name)}`, undefined, [200, 401]];
      case "redact": {
        const versions = Array.from({ length: VERSIONS }, (_, index) => index + 1);
        return ["POST", `/files/redact/${encodePath(path)}`, { versions }, [200]];
      }
      case "retention":
        return rule({ keepVersions: 1 });
      case "deletedDays":
        await files.remove(path);
        await this.child.sql(
          `with older as (
             update filestore.file_versions v set created_at = v.created_at - interval '5 days'
             from filestore.files f where f.id = v.file_id and f.project_id = $1 and f.is_deleted)
           update filestore.files set created_at = created_at - interval '5 days',
             updated_at = updated_at - interval '5 days' where project_id = $1 and is_deleted`,
          [id],
        );
        return rule({ deletedDays: 1 });
    }
  }

  async #sweepUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { baseUrl, secretKey } = this.child.addresses;
      const headers = { authorization: `Bearer ${secretKey}` };
      await apiAt(baseUrl).request(null, "POST", "/sweep", { headers }).catch(() => wait(PAUSE_MILLISECONDS));
    }
  }
}

Deno.test({
  name:
    "after kill -9 of function, database and stack in the middle of erasures and sweeps, one complete sweep leaves no canary and all else",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const server = await startPostgres({ durable: true, version: VERSION });
    const lab = await ErasureLab.open(server, randomFrom(SEED));
    try {
      for (let round = 0; round < KILLS; round++) {
        const erasure = ERASURES[round % ERASURES.length] ?? "purge";
        // Combines each erasure with each victim.
        const victim = VICTIMS[(round + Math.floor(round / ERASURES.length)) % VICTIMS.length] ?? "function";
        try {
          await lab.round(erasure, victim);
        } catch (error) {
          const message = `round ${round + 1}, ${erasure}, ${victim} killed, TEST_SEED=${SEED}`;
          throw new Error(message, { cause: error });
        }
      }
      await lab.sweep();
      await lab.verify();
      report("erasures cut off", { seed: SEED, kills: KILLS, canaries: lab.canaries.length, found: 0 });
    } finally {
      await lab.close();
      await server.stop();
    }
  },
});
