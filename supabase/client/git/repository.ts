/** A repository that holds the history of a folder, what is remembered of it, and its work tree. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "../failure.ts";
import { isObject, parsed } from "../library/answer.ts";
import { Git } from "./git.ts";
import { Tree } from "./tree.ts";

/** The history as the service has it. `main` follows it once a run is complete. */
export const HISTORY = "refs/filestore/main";

/** Kept in the repository. */
interface State {
  readonly directory: string;
  /** The last commit that was written, null before the first, and its cursor. */
  readonly tip: string | null;
  readonly cursor: string | null;
  /** Files that have another name in its tree than their path. */
  readonly renamed: readonly (readonly [path: string, name: string])[];
  /** The commit that `main` was last set to. */
  readonly checkedOut: string | null;
  /** A run sets the work tree, or was ended while it did. */
  readonly isCheckingOut: boolean;
}

const STATE = "filestore.json";
/** What the names of downloads begin with. */
const DOWNLOAD = "filestore-";

export class Repository {
  private constructor(readonly git: Git, private state: State) {}

  /** Creates the repository, or opens one that an earlier run created. Throws `Failure` for any other. */
  static async open(folder: string, directory: string): Promise<Repository> {
    const git = new Git(folder);
    const found = await readdir(folder).catch(() => null);
    if (found === null || found.length === 0) return await Repository.#create(git, directory);
    const state = await readState(git);
    if (state === null) {
      throw new Failure(
        `${folder} is not empty, and no folder that filestore git created; name another one.`,
      );
    }
    if (state.directory !== directory) {
      throw new Failure(
        `${folder} has the history of ${named(state.directory)}, not of ${named(directory)}.`,
      );
    }
    const repository = new Repository(git, state);
    if (state.tip === null) await Repository.#initialize(git);
    await repository.#checkMain();
    for (const name of await readdir(git.directory)) {
      // Of a run that was killed.
      if (name.startsWith(DOWNLOAD)) await rm(join(git.directory, name), { force: true });
    }
    return repository;
  }

  /** What is remembered comes first: by it the next run knows the folder, should this one be killed. */
  static async #create(git: Git, directory: string): Promise<Repository> {
    await mkdir(git.directory, { recursive: true });
    const repository = new Repository(git, {
      directory,
      tip: null,
      cursor: null,
      renamed: [],
      checkedOut: null,
      isCheckingOut: false,
    });
    await repository.#write({});
    await Repository.#initialize(git);
    return repository;
  }

  static async #initialize(git: Git): Promise<void> {
    await git.run("init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main");
    // Contents stay as they are, and no log keeps what a purge removes.
    for (const [name, value] of [["core.autocrlf", "false"], ["core.logAllRefUpdates", "false"]] as const) {
      await git.run("config", name, value);
    }
  }

  get cursor(): string | null {
    return this.state.cursor;
  }

  get tip(): string | null {
    return this.state.tip;
  }

  /** A new path for a download. */
  download(): string {
    return join(this.git.directory, `${DOWNLOAD}${crypto.randomUUID()}`);
  }

  /** The tree of the last commit; null if what is remembered is not what the repository has. */
  async tree(): Promise<Tree | null> {
    const tree = new Tree();
    const tip = await this.#commitOf(HISTORY);
    if (tip !== this.state.tip) return null;
    if (tip === null) return tree;
    const pathOf = new Map(this.state.renamed.map(([path, name]) => [name, path]));
    for (const line of (await this.git.run("ls-tree", "-r", "-z", tip)).split("\0")) {
      const [head = "", name] = line.split("\t", 2);
      const blob = head.split(" ")[2];
      if (name !== undefined && blob !== undefined) tree.load(pathOf.get(name) ?? name, { name, blob });
    }
    return tree;
  }

  /** Forgets the history, to write it anew. */
  async clear(): Promise<void> {
    await this.git.run("update-ref", "-d", HISTORY);
    await this.#write({ tip: null, cursor: null, renamed: [] });
  }

  /** Remembers the commits that were written. */
  async written(cursor: string, tree: Tree): Promise<void> {
    await this.#write({ tip: await this.#commitOf(HISTORY), cursor, renamed: [...tree.renamed] });
  }

  /** Sets `main` and the work tree to the history. A change that was made in the work tree is not overwritten. */
  async checkOut(): Promise<void> {
    const { tip, checkedOut } = this.state;
    if (tip === null || tip === checkedOut && await this.#commitOf("refs/heads/main") === tip) return;
    const force = this.state.isCheckingOut ? ["--force"] : [];
    await this.#write({ isCheckingOut: true });
    try {
      // Without the option git would overwrite files that are ignored.
      await this.git.run("checkout", "--quiet", "--no-overwrite-ignore", ...force, "-B", "main", tip);
    } catch (error) {
      await this.#write({ isCheckingOut: false });
      throw error;
    }
    await this.#write({ checkedOut: tip, isCheckingOut: false });
  }

  /** Removes what only an earlier history had. */
  async prune(): Promise<void> {
    await this.git.run("gc", "--quiet", "--prune=now");
  }

  async #checkMain(): Promise<void> {
    const main = await this.#commitOf("refs/heads/main");
    if (this.state.isCheckingOut || main === this.state.checkedOut) return;
    throw new Failure(
      `${this.git.folder} has commits of its own on main; move them to another branch, and set main back to ` +
        `${this.state.checkedOut ?? "nothing"}.`,
    );
  }

  async #commitOf(reference: string): Promise<string | null> {
    const found = await this.git.run("for-each-ref", "--format=%(objectname)", reference);
    return found.trim() || null;
  }

  async #write(change: Partial<State>): Promise<void> {
    this.state = { ...this.state, ...change };
    const path = join(this.git.directory, STATE);
    await writeFile(`${path}.new`, `${JSON.stringify(this.state)}\n`);
    await rename(`${path}.new`, path);
  }
}

async function readState(git: Git): Promise<State | null> {
  const json = parsed(await readFile(join(git.directory, STATE), "utf8").catch(() => ""));
  if (!isObject(json) || typeof json["directory"] !== "string" || !Array.isArray(json["renamed"])) {
    return null;
  }
  const text = (name: string) => typeof json[name] === "string" ? json[name] : null;
  return {
    directory: json["directory"],
    tip: text("tip"),
    cursor: text("cursor"),
    renamed: json["renamed"].flatMap((pair: unknown) =>
      Array.isArray(pair) ? [[String(pair[0]), String(pair[1])] as const] : []
    ),
    checkedOut: text("checkedOut"),
    isCheckingOut: json["isCheckingOut"] === true,
  };
}

function named(directory: string): string {
  return directory === "" ? "the whole project" : directory;
}
