/** Keeps a folder and a folder of the service equal: once, or as both change. */
import { mkdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Failure } from "../failure.ts";
import { Filestore } from "../library/filestore.ts";
import { FOLLOW_WAIT_SECONDS, SYNC_PAUSE_MILLISECONDS, SYNC_ROUNDS_MAX } from "../limits.ts";
import { LocalFolder } from "./local_folder.ts";
import { type Outcome, Pass, type PassOptions } from "./pass.ts";
import { RemoteFolder } from "./remote.ts";
import { INSIDE } from "./rules.ts";
import { State } from "./state.ts";

export class Sync {
  readonly #folder: LocalFolder;
  readonly #remote: RemoteFolder;
  readonly #state: State;
  readonly #inside: string;

  /** Throws `Failure` if another run has the folder, or the folder belongs to another one of the service. */
  constructor(store: Filestore, root: string, directory: string, private readonly options: PassOptions) {
    this.#inside = join(root, INSIDE);
    mkdirSync(this.#inside, { recursive: true });
    lock(join(this.#inside, "lock"));
    try {
      this.#state = new State(this.#inside, store.api.baseUrl, directory);
      this.#folder = new LocalFolder(root);
    } catch (error) {
      this.end();
      throw error;
    }
    // All writes of a run of this program can be undone together.
    const run = store.api.connection.run ?? `sync-${crypto.randomUUID().slice(0, 8)}`;
    this.#remote = new RemoteFolder(new Filestore({ ...store.api.connection, run }), directory);
  }

  /** One pass, and further ones while others change the same files. Returns how many conflicts are left. */
  async once(): Promise<number> {
    return (await this.#whole()).left;
  }

  /** Passes until the signal. `onReady` is called when the first one is whole. */
  async follow(signal: AbortSignal, onReady: () => Promise<void>): Promise<void> {
    const changes = new LocalChanges(this.#folder.root);
    try {
      for (let isFirst = true; !signal.aborted; isFirst = false) {
        changes.clear();
        const { cursor } = await this.#whole();
        if (isFirst) await onReady();
        const end = new AbortController();
        signal.addEventListener("abort", () => end.abort(), { once: true });
        const feed = this.#remote.wait(cursor, FOLLOW_WAIT_SECONDS, end.signal).catch((error) => {
          if (!end.signal.aborted) throw error;
        });
        await Promise.race([feed, changes.next(end.signal)]);
        end.abort();
        await feed;
      }
    } finally {
      changes.close();
    }
  }

  end(): void {
    rmSync(join(this.#inside, "lock"), { force: true });
  }

  async #whole(): Promise<Outcome> {
    let left = 0;
    for (let round = 1;; round++) {
      const outcome = await new Pass(this.#folder, this.#remote, this.#state, this.options).run();
      left += outcome.left;
      if (outcome.again.length === 0 || this.options.dryRun) return { ...outcome, left };
      if (round === SYNC_ROUNDS_MAX) this.#giveUp(outcome.again);
    }
  }

  #giveUp(paths: readonly string[]): never {
    // The next run compares with the whole list, not with what the feed has brought.
    this.#state.finish(null, this.#state.rules);
    const more = paths.length > SHOWN_MAX ? ` and ${paths.length - SHOWN_MAX} more` : "";
    const named = `${paths.slice(0, SHOWN_MAX).join(", ")}${more}`;
    throw new Failure(`Others keep changing the same files (${named}); run it again.`);
  }
}

/** Paths that a message names. */
const SHOWN_MAX = 3;

/** Tells when something in the folder has changed. */
class LocalChanges {
  readonly #watcher;
  #isChanged = false;
  #wake = () => {};

  constructor(root: string) {
    this.#watcher = watch(root, { recursive: true }, (_, name) => {
      if (name === null || name === INSIDE || /^\.filestore[/\\]/.test(name)) return;
      this.#isChanged = true;
      this.#wake();
    });
  }

  clear(): void {
    this.#isChanged = false;
  }

  /** Resolves a moment after a change. */
  async next(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (this.#isChanged) resolve();
    });
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, SYNC_PAUSE_MILLISECONDS));
  }

  close(): void {
    this.#watcher.close();
  }
}

/** Tells the locks of this process from those of an earlier one that had the same id, as in a container. */
const OWN = `${process.pid} ${crypto.randomUUID()}`;

/** Throws `Failure` if a process that is running has the lock. */
function lock(file: string): void {
  for (;;) {
    try {
      writeFileSync(file, OWN, { flag: "wx" });
      return;
    } catch (error) {
      if (Reflect.get(Object(error), "code") !== "EEXIST") throw error;
    }
    const owner = ownerOf(file);
    if (owner !== null) throw new Failure(`Another sync of this folder is running (${owner}).`);
    rmSync(file, { force: true });
  }
}

/** The process that has the lock; null if it has ended. */
function ownerOf(file: string): string | null {
  try {
    const text = readFileSync(file, "utf8");
    if (text === "") return Date.now() - statSync(file).mtimeMs < 1000 ? "it has just been started" : null;
    const id = parseInt(text);
    const isOwner = id === process.pid ? text === OWN : id > 0 && isRunning(id);
    return isOwner ? `process ${id}` : null;
  } catch {
    return null;
  }
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return Reflect.get(Object(error), "code") === "EPERM";
  }
}
