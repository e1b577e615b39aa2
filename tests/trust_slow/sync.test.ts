/**
 * Sync never loses: two folders, a writer over the API, runs that are ended at any moment or only fetch, and files that a
 * link hides for a while. Afterwards both folders and the service are equal, every content that a whole pass has seen is in
 * a version (of a text that is merged, every line), no version repeats the one before, and a further pass does nothing.
 * TEST_SEED repeats a sequence that a failure names; SYNC_RUNS sets their number.
 */
import { assert, assertEquals } from "@std/assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import { Filestore, FilestoreError } from "../../supabase/client/mod.ts";
import { digestOf } from "../../supabase/client/sync/local_folder.ts";
import type { Mode } from "../../supabase/client/sync/plan.ts";
import { Sync } from "../../supabase/client/sync/sync.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { inParallel } from "../support/in_parallel.ts";
import { rounds } from "../support/runner/long.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite } from "../support/stack/suite.ts";

const SEQUENCES = Number(Deno.env.get("SYNC_RUNS") ?? rounds(300, 3000));
/** Sequences that run at the same time; most of their time is spent waiting for the service. */
const AT_ONCE = 6;
/** Sequences of one test. */
const GROUP = 50;
const STEPS = 10;
/** A text of many lines, of which a change replaces one; the other files are replaced whole. */
const TEXT = "d/lines.txt";
const LINES = Array.from({ length: 30 }, (_, line) => `line ${line}`);
const PATHS = ["a.md", "d/b", "d/e/c.txt", ".env", TEXT];

const { service, files, test } = await suite();

/** Thrown in the middle of a pass, in place of the end of the process. */
class Killed extends Error {}

/** What is called when an answer arrives, in the passes that may be killed then. */
const onAnswer = new AsyncLocalStorage<() => void>();
const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const answer = await fetch(...request);
  onAnswer.getStore()?.();
  return answer;
};

/** The next content of a file: `before` with one line replaced, or the new line alone. */
function changed(path: string, before: string | null, line: string, random: Random): string {
  if (path !== TEXT) return line;
  const lines = before === null ? [...LINES] : before.split("\n").slice(0, -1);
  lines[random.below(lines.length)] = line;
  return `${lines.join("\n")}\n`;
}

class Machine {
  /** Digests, and lines of texts, of what was in the folder when a pass began that was whole. */
  readonly seen = new Set<string>();
  merges = 0;
  #written = 0;
  readonly #linked = new Map<string, Uint8Array>();

  constructor(readonly root: string, private readonly key: string, private readonly random: Random) {}

  async edit(name: string): Promise<void> {
    const path = join(this.root, name);
    if (this.#linked.has(name)) return;
    const isDeletion = this.random.below(name === TEXT ? 16 : 4) === 0;
    // The paths of the two folders do not clash, so that a refusal is a fault.
    if (isDeletion) return await Deno.remove(path).catch(() => {});
    await Deno.mkdir(join(path, ".."), { recursive: true });
    const before = await Deno.readTextFile(path).catch(() => null);
    const line = `${this.root.at(-1)}${this.#written++}`;
    await Deno.writeTextFile(path, changed(name, before, line, this.random));
  }

  /** Puts a link in the place of a file, which a sync leaves out; or the file back, as it was. */
  async link(name: string): Promise<void> {
    const path = join(this.root, name);
    const kept = this.#linked.get(name);
    if (kept === undefined) {
      const content = await Deno.readFile(path).catch(() => null);
      if (content === null) return;
      this.#linked.set(name, content);
      await Deno.remove(path);
      await Deno.symlink("/dev/null", path);
    } else {
      this.#linked.delete(name);
      await Deno.remove(path).catch(() => {});
      await Deno.mkdir(join(path, ".."), { recursive: true });
      await Deno.writeFile(path, kept);
    }
  }

  async unlink(): Promise<void> {
    for (const name of [...this.#linked.keys()]) await this.link(name);
  }

  /** Returns what the pass did. A run that is killed loses what it had not written to the disk. */
  async sync(killedAfter = Infinity, mode: Mode = "both"): Promise<string[]> {
    const before = await contentsOf(this.root);
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
      mode,
      force: true,
      dryRun: false,
      report: ({ action, path }) => {
        step();
        done.push(`${action} ${path}`);
        if (action === "merge") this.merges++;
        return Promise.resolve();
      },
    });
    try {
      await onAnswer.run(step, () => sync.once());
      if (mode === "both") { for (const content of before) this.seen.add(content); }
    } catch (error) {
      if (!(error instanceof Killed) && !(error instanceof FilestoreError && error.code === "ABORTED")) {
        throw error;
      }
    } finally {
      sync.end();
    }
    return done;
  }
}

/** The digests of the files of a folder by path. */
async function filesOf(root: string, folder = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(join(root, folder))) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (path === ".filestore" || isSymlink) continue;
    if (isDirectory) Object.assign(found, await filesOf(root, path));
    else found[path] = await digestOf(join(root, path));
  }
  return found;
}

/** What must not be lost: the digests of files, and the lines of texts, also in copies of conflicts. */
async function contentsOf(root: string): Promise<string[]> {
  const contents: string[] = [];
  for (const [path, digest] of Object.entries(await filesOf(root))) {
    if (isText(path)) contents.push(...(await Deno.readTextFile(join(root, path))).split("\n"));
    else contents.push(digest);
  }
  return contents;
}

function isText(path: string): boolean {
  return path.startsWith("d/lines");
}

/** Every version by its digest; reading each of them over the API would take most of the test's time. */
const VERSIONS = `select f.path, v.version, encode(s.sha256, 'hex') as digest
from filestore.file_versions v join filestore.files f on f.id = v.file_id
left join filestore.segments s on s.id = v.segment_ids[1]
where v.project_id = $1 order by v.position`;

interface History {
  /** The digests of all versions, and the lines of those of texts. */
  readonly all: ReadonlySet<string | null>;
  /** The latest digest of each file. */
  readonly latest: Readonly<Record<string, string>>;
}

/** No version may have the content of the one before. */
async function historyOf(own: ProjectFiles): Promise<History> {
  const all = new Set<string | null>();
  const last = new Map<string, string | null>();
  const rows = await service.sql<{ path: string; version: number; digest: string | null }>(VERSIONS, [
    own.project.id,
  ]);
  for (const { path, version, digest } of rows) {
    assert((last.get(path) ?? null) !== digest, `${path}: version ${version} repeats the one before`);
    last.set(path, digest);
    all.add(digest);
    if (digest === null || !isText(path)) continue;
    for (const line of (await own.read(path, { version })).content.split("\n")) all.add(line);
  }
  const files = [...last].flatMap(([path, digest]) => digest === null ? [] : [[path, digest]]);
  return { all, latest: Object.fromEntries(files) };
}

/** Returns how many texts were merged. */
async function sequence(own: ProjectFiles, scratch: string, seed: number): Promise<number> {
  const random = randomFrom(seed);
  const machines = ["A", "B"].map((name) => new Machine(join(scratch, name), own.key, random));
  for (const { root } of machines) await Deno.mkdir(root);
  const store = new Filestore({ url: service.baseUrl, key: own.key });
  await store.write(TEXT, changed(TEXT, null, "first", random));
  for (const machine of machines) await machine.sync();
  for (let step = 0; step < STEPS; step++) {
    const machine = random.pick(machines);
    const kind = random.pick(
      ["both", "edit", "edit", "write", "delete", "pass", "killed", "killed", "pull", "link"] as const,
    );
    const path = kind === "both" ? TEXT : random.pick(PATHS);
    if (kind === "both" || kind === "edit") await machine.edit(path);
    if (kind === "both" || kind === "write") {
      const before = await store.read(path).then(({ content }) => content, () => null);
      await store.write(path, changed(path, before, `api${step}`, random));
    }
    if (kind === "delete" && random.below(2) === 0) await store.delete(path).catch(() => {});
    if (kind === "pass") await machine.sync();
    if (kind === "killed") await machine.sync(random.below(8));
    if (kind === "pull") await machine.sync(Infinity, "pull");
    if (kind === "link") await machine.link(path);
  }
  for (const machine of machines) await machine.unlink();
  for (const machine of [...machines, ...machines.slice(0, 1)]) await machine.sync();
  for (const machine of machines) assertEquals(await machine.sync(), [], "a further pass does nothing");
  const { all, latest } = await historyOf(own);
  for (const { root, seen } of machines) {
    assertEquals(await filesOf(root), latest);
    for (const content of seen) assert(all.has(content), `${content} is lost`);
  }
  return machines.reduce((sum, { merges }) => sum + merges, 0);
}

for (let begin = 0; begin < SEQUENCES; begin += GROUP) {
  const count = Math.min(GROUP, SEQUENCES - begin);
  const seeds = Array.from({ length: count }, (_, index) => SEED + begin + index);
  test(`no sequence of edits, API writes and killed runs loses anything (${count} seeds from ${seeds[0]})`, async () => {
    let merges = 0;
    await inParallel(seeds, AT_ONCE, async (seed) => {
      const own = await files();
      try {
        await withScratchDirectory(async (scratch) => {
          merges += await sequence(own, scratch, seed);
        });
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    });
    if (count === GROUP) assert(merges > 0, "no text was merged");
  });
}
