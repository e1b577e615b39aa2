/**
 * Sync never loses: two folders, a writer over the API, and runs that are ended at any moment. Afterwards both folders and the
 * service are equal, every content that a whole pass has seen is in a version, no version repeats the one before, and a
 * further pass does nothing. TEST_SEED repeats a sequence that a failure names; SYNC_RUNS sets their number.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { Filestore, FilestoreError } from "../../supabase/client/mod.ts";
import { Sync } from "../../supabase/client/sync/sync.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { rounds } from "../support/runner/long.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite } from "../support/stack/suite.ts";

const SEQUENCES = Number(Deno.env.get("SYNC_RUNS") ?? rounds(300, 3000));
const STEPS = 12;
const PATHS = ["a.md", "d/b", "d/e/c.txt", ".env"];

const { service, files, test } = await suite();

/** Thrown in the middle of a pass, in place of the end of the process. */
class Killed extends Error {}

class Machine {
  /** Contents that were in the folder when a pass began that was whole. */
  readonly seen = new Set<string>();
  #written = 0;

  constructor(readonly root: string, private readonly key: string, private readonly random: Random) {}

  async edit(): Promise<void> {
    const path = join(this.root, this.random.pick(PATHS));
    const isDeletion = this.random.below(4) === 0;
    // The paths of the two folders do not clash, so that a refusal is a fault.
    if (isDeletion) return await Deno.remove(path).catch(() => {});
    await Deno.mkdir(join(path, ".."), { recursive: true });
    await Deno.writeTextFile(path, `${this.root.at(-1)}${this.#written++}`);
  }

  /** Returns what the pass did. A run that is killed loses what it had not written to the disk. */
  async sync(killedAfter = Infinity): Promise<string[]> {
    const before = Object.values(await filesOf(this.root));
    const done: string[] = [];
    let steps = 0;
    const end = new AbortController();
    const step = () => {
      if (++steps > killedAfter) {
        end.abort();
        throw new Killed();
      }
    };
    const connection = { url: service.baseUrl, key: this.key, signal: end.signal };
    const store = new Filestore(connection);
    const sync = new Sync(store, this.root, "", {
      mode: "both",
      force: true,
      dryRun: false,
      report({ action, path }) {
        step();
        done.push(`${action} ${path}`);
        return Promise.resolve();
      },
    });
    const real = globalThis.fetch;
    // The answer of a request may come too late.
    globalThis.fetch = async (...request) => {
      const answer = await real(...request);
      step();
      return answer;
    };
    try {
      await sync.once();
      for (const content of before) this.seen.add(content);
    } catch (error) {
      if (!(error instanceof Killed) && !(error instanceof FilestoreError && error.code === "ABORTED")) {
        throw error;
      }
    } finally {
      globalThis.fetch = real;
      sync.end();
    }
    return done;
  }
}

async function filesOf(root: string, folder = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(join(root, folder))) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (path === ".filestore") continue;
    if (isDirectory) Object.assign(found, await filesOf(root, path));
    else found[path] = await Deno.readTextFile(join(root, path));
  }
  return found;
}

async function filesOfService(store: Filestore): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { path } of store.list("", { recursive: true })) {
    found[path] = (await store.read(path)).content;
  }
  return found;
}

/** The contents of all versions. No version may have the content of the one before. */
async function versionsOf(store: Filestore): Promise<Set<string>> {
  const all = new Set<string>();
  const last = new Map<string, string | null>();
  for await (const { path = "", version, deleted } of store.changes()) {
    const content = deleted === true ? null : (await store.read(path, { version })).content;
    assert(last.get(path) !== content, `${path}: version ${version} repeats the one before`);
    last.set(path, content);
    if (content !== null) all.add(content);
  }
  return all;
}

async function sequence(own: ProjectFiles, scratch: string, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const machines = ["A", "B"].map((name) => new Machine(join(scratch, name), own.key, random));
  for (const { root } of machines) await Deno.mkdir(root);
  const store = new Filestore({ url: service.baseUrl, key: own.key });
  for (let step = 0; step < STEPS; step++) {
    const machine = random.pick(machines);
    const kind = random.below(6);
    if (kind <= 1) await machine.edit();
    else if (kind === 2) await store.write(random.pick(PATHS), `api${step}`);
    else if (kind === 3 && random.below(2) === 0) await store.delete(random.pick(PATHS)).catch(() => {});
    else if (kind === 4) await machine.sync();
    else await machine.sync(random.below(8));
  }
  for (let round = 0; round < 2; round++) for (const machine of machines) await machine.sync();
  const there = await filesOfService(store);
  for (const machine of machines) {
    assertEquals(await filesOf(machine.root), there);
    assertEquals(await machine.sync(), []);
  }
  const versions = await versionsOf(store);
  for (const { seen } of machines) {
    for (const content of seen) assert(versions.has(content), `${content} is lost`);
  }
}

for (let begin = 0; begin < SEQUENCES; begin += 10) {
  const seeds = Array.from({ length: Math.min(10, SEQUENCES - begin) }, (_, index) => SEED + begin + index);
  test(`no sequence of edits, API writes and killed runs loses anything (seeds from ${seeds[0]})`, async () => {
    for (const seed of seeds) {
      const own = await files();
      await withScratchDirectory((scratch) => sequence(own, scratch, seed)).catch((error) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
    }
  });
}
