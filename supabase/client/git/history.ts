/** The history of a folder as commits of git: one for each commit of the service, in the order of the change feed. */
import { rm } from "node:fs/promises";
import { fileAddress } from "../library/api.ts";
import { FilestoreError } from "../library/errors.ts";
import type { Filestore } from "../library/filestore.ts";
import type { Change } from "../library/records.ts";
import { GIT_MEMORY_BYTES, TRANSFERS_AT_ONCE } from "../limits.ts";
import { inOrder } from "../transfer/in_order.ts";
import { Progress } from "../transfer/progress.ts";
import { save, whole } from "../transfer/saved_answer.ts";
import { authors, messageOf } from "./commit_text.ts";
import { type Bytes, FastImport } from "./fast_import.ts";
import { Repository } from "./repository.ts";
import { isRefused, Tree } from "./tree.ts";

export interface Written {
  readonly commits: number;
  /** Paths that no work tree of git can have. */
  readonly leftOut: readonly string[];
  /** The last commit; null: the folder has no history. */
  readonly tip: string | null;
}

/** Refusals of a version that was erased after it had been listed. */
const GONE = ["FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_REDACTED"];

interface Fetched {
  readonly change: Change;
  /** Null: the file does not exist after the change. */
  readonly bytes: Bytes | null;
}

/** Writes the history into a folder, or goes on where an earlier run has ended. Throws `Failure`. */
export async function writeHistory(store: Filestore, folder: string, directory: string): Promise<Written> {
  const repository = await Repository.open(folder, directory);
  const tree = await repository.tree();
  const before = repository.tip;
  if (tree === null) await repository.clear();
  let added = await write(store, repository, tree ?? new Tree(), directory);
  if (added === null) {
    // A purge has changed what was written before.
    await repository.clear();
    added = await write(store, repository, new Tree(), directory);
  }
  await repository.checkOut();
  if (added?.isAnew === true && before !== null) await repository.prune();
  return { commits: added?.commits ?? 0, leftOut: added?.leftOut ?? [], tip: repository.tip };
}

type Added = Omit<Written, "tip"> & { readonly isAnew: boolean };

/** Null: a file was purged, and an earlier commit may have it. */
async function write(
  store: Filestore,
  repository: Repository,
  tree: Tree,
  directory: string,
): Promise<Added | null> {
  const { cursor, tip } = repository;
  const after = cursor ?? undefined;
  const changes = store.changes({ after, directory: directory === "" ? undefined : directory });
  const output = new FastImport(repository.git, tip);
  const writer = new CommitWriter(output, tree, directory, await authors(store));
  const progress = new Progress("versions", 0);
  const fetch = (change: Change) => fetchVersion(store, change, () => repository.download());
  try {
    for await (const fetched of inOrder(changes, TRANSFERS_AT_ONCE, fetch)) {
      if (tip !== null && fetched.change.operation === "purge") return null;
      await writer.add(fetched);
      progress.add(1, fetched.change.size);
    }
    await writer.flush();
    await output.end();
  } finally {
    await output.cancel();
    progress.end();
  }
  if (writer.cursor !== null) await repository.written(writer.cursor, tree);
  return { commits: writer.commits, leftOut: [...writer.leftOut].sort(), isAnew: tip === null };
}

/** Collects the versions of a commit, and writes it when another one begins. */
class CommitWriter {
  readonly leftOut = new Set<string>();
  commits = 0;
  cursor: string | null = null;
  #versions: Change[] = [];
  readonly #changed = new Map<string, string | null>();

  constructor(
    private readonly output: FastImport,
    private readonly tree: Tree,
    private readonly directory: string,
    private readonly authorOf: (change: Change) => string,
  ) {}

  async add({ change, bytes }: Fetched): Promise<void> {
    if (this.#versions.at(-1)?.commitId !== change.commitId) await this.flush();
    this.#versions.push(change);
    if (change.path === undefined) return;
    const path = this.directory === "" ? change.path : change.path.slice(this.directory.length + 1);
    const blob = bytes === null ? null : await this.output.blob(bytes);
    if (bytes !== null && "file" in bytes) await rm(bytes.file);
    if (isRefused(path)) this.leftOut.add(change.path);
    else this.#changed.set(path, blob);
  }

  async flush(): Promise<void> {
    const last = this.#versions.at(-1);
    if (last === undefined) return;
    await this.output.commit({
      author: this.authorOf(last),
      time: Math.floor(Date.parse(last.createdAt) / 1000),
      message: messageOf(this.#versions),
      steps: this.tree.apply(this.#changed),
    });
    this.cursor = last.cursor;
    this.commits++;
    this.#versions = [];
    this.#changed.clear();
  }
}

async function fetchVersion(store: Filestore, change: Change, download: () => string): Promise<Fetched> {
  const { path, version, size } = change;
  if (path === undefined || change.deleted === true) return { change, bytes: null };
  if (size === 0) return { change, bytes: new Uint8Array(0) };
  const call = { query: { version }, headers: { accept: "application/octet-stream" } };
  try {
    return {
      change,
      bytes: await store.api.send(fileAddress(path), call, (answer) => taken(answer, size, download)),
    };
  } catch (error) {
    if (error instanceof FilestoreError && GONE.includes(error.code)) return { change, bytes: null };
    throw error;
  }
}

/** Takes the bytes of an answer. Throws if their number is not the version's size. */
async function taken(answer: Response, size: number, download: () => string): Promise<Bytes> {
  if (size <= GIT_MEMORY_BYTES) return whole(new Uint8Array(await answer.arrayBuffer()), size);
  const file = download();
  await save(answer, file, size, 0o600);
  return { file, size };
}
