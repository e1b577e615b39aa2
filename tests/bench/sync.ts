/** `filestore sync`: all files at once in either direction, a pass that finds nothing to do, one change, and memory. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Filestore } from "../../supabase/client/mod.ts";
import type { Action } from "../../supabase/client/sync/pass.ts";
import { State } from "../../supabase/client/sync/state.ts";
import { Sync } from "../../supabase/client/sync/sync.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { type Bench, fewer, sized } from "./bench.ts";
import { type CopyServer, serveCopies } from "./copies.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { median, timed } from "./measure.ts";
import { pathIn, populate } from "./populate.ts";
import { atMost } from "./report.ts";

const FILES = 10_000;
const FILES_PER_DIRECTORY = 100;
const MANY_FILES = 100_000;
/** Most milliseconds that a pass over FILES files that have not changed, or one change until it is seen, may take. */
const UNCHANGED_MAX = 1000;
const SEEN_MAX = 1000;
const COMMAND = fileURLToPath(new URL("../../supabase/client/main.ts", import.meta.url));

export async function sync(bench: Bench): Promise<void> {
  await withScratchDirectory(async (scratch) => {
    const server = await serveCopies(join(scratch, "served"));
    try {
      await allFiles(bench, scratch, server);
    } finally {
      await server.stop();
    }
    await manyFiles(bench, join(scratch, "many"));
  });
}

/** A folder with `count` files of 4 KB. */
async function fill(root: string, count: number): Promise<void> {
  const rest = lines(4 * KILOBYTE - 16);
  for (let n = 0; n < count; n++) {
    const file = join(root, pathIn(FILES_PER_DIRECTORY, n));
    if (n % FILES_PER_DIRECTORY === 0) await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, `${String(n).padStart(15, "0")}\n${rest}`);
  }
}

function syncOf(store: Filestore, root: string, report: (action: Action) => void = () => {}): Sync {
  const options = { mode: "both" as const, force: false, dryRun: false };
  return new Sync(store, root, "", { ...options, report: (action) => Promise.resolve(report(action)) });
}

async function once(store: Filestore, root: string): Promise<void> {
  const one = syncOf(store, root);
  try {
    await one.once();
  } finally {
    one.end();
  }
}

async function allFiles(
  { stack, rounds, report }: Bench,
  scratch: string,
  server: CopyServer,
): Promise<void> {
  const count = sized(FILES);
  report.group(`sync of ${count} files of 4 KB`);
  const store = new Filestore({ url: stack.baseUrl, key: (await stack.project()).key });
  const [here, there, copy] = ["here", "there", "copy"].map((name) => join(scratch, name));
  if (here === undefined || there === undefined || copy === undefined) return;
  await fill(here, count);
  await mkdir(there);
  const sent = await timed(() => server.send(here));
  report.against("first push", await timed(() => once(store, here)), "ms", server.what, sent, null);
  const fetched = await timed(() => server.fetch(copy));
  report.against("first pull", await timed(() => once(store, there)), "ms", server.what, fetched, null);
  const passes: number[] = [];
  // The first two passes still read what their own work has changed.
  for (let round = -2; round < fewer(rounds, 10); round++) {
    const time = await timed(() => once(store, there));
    if (round >= 0) passes.push(time);
  }
  report.value("a pass that finds nothing to do", median(passes), "ms", atMost(UNCHANGED_MAX, "value"));
  report.spread(passes);
  await changes(store, there, fewer(rounds, 10), report);
}

/** How long a change of one side takes until the other side has it. */
async function changes(
  store: Filestore,
  root: string,
  rounds: number,
  report: Bench["report"],
): Promise<void> {
  let wake = () => {};
  const watched = syncOf(store, root, () => wake());
  const end = new AbortController();
  const ready = Promise.withResolvers<void>();
  const followed = watched.follow(end.signal, () => Promise.resolve(ready.resolve()));
  await ready.promise;
  const seen = async (change: () => Promise<unknown>) => {
    const isDone = new Promise<void>((resolve) => wake = resolve);
    await change();
    return await timed(() => isDone);
  };
  const down: number[] = [];
  const up: number[] = [];
  for (let round = 0; round < rounds; round++) {
    down.push(await seen(() => store.write("one", `theirs ${round}`)));
    up.push(await seen(() => writeFile(join(root, "one"), `mine ${round}`)));
  }
  end.abort();
  await followed;
  watched.end();
  for (
    const [what, times] of Object.entries({ "until the disk has it": down, "until the service has it": up })
  ) {
    report.value(`--watch: one change, ${what}`, median(times), "ms", atMost(SEEN_MAX, "value"));
    report.spread(times);
  }
}

/** Most memory of a process that lists many files, and of one that finds them unchanged. */
async function manyFiles({ stack, report }: Bench, root: string): Promise<void> {
  const count = sized(MANY_FILES);
  report.group(`sync of ${count} files`);
  const project = await stack.project();
  await populate(stack, [project], { files: count, filesPerDirectory: FILES_PER_DIRECTORY });
  const env = { FILESTORE_URL: stack.baseUrl, FILESTORE_KEY: project.key };
  await mkdir(root);
  const peak = async (what: string, folder: string, ...args: string[]) => {
    let megabytes = 0;
    const time = await timed(async () => megabytes = await peakMegabytes(["sync", folder, ...args], env));
    report.value(what, megabytes, "MB", null);
    report.remark(`  in ${(time / 1000).toFixed(1)} s`);
  };
  await peak("peak memory of the command, with no files", `${root}-none`, "--directory", "none");
  await peak("… that lists them", root, "--pull", "--dry-run");
  await remember(new Filestore({ url: stack.baseUrl, key: project.key }), root);
  await peak("… that finds them unchanged", root);
}

/** Leaves the folder as a pass would that has fetched all files, whose bytes the populated project has not. */
async function remember(store: Filestore, root: string): Promise<void> {
  const state = new State(join(root, ".filestore"), store.api.baseUrl, "");
  const { cursor } = await store.api.data<{ cursor: string }>("/changes", { query: { after: "now" } });
  for await (const { path, id, version } of store.list("", { recursive: true })) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), "");
    state.set(path, { id, version, sha256: EMPTY, size: 0, mtime: 0 });
  }
  state.finish(cursor, EMPTY);
}

/** The digest of nothing: of an empty file, and of no rules. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Runs the command, and returns the most memory that its process had. */
async function peakMegabytes(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", COMMAND, ...args],
    env,
    ...{ stdin: "null", stdout: "null", stderr: "inherit" },
  }).spawn();
  let peak = 0;
  const watch = setInterval(() => {
    try {
      const status = Deno.readTextFileSync(`/proc/${child.pid}/status`);
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended.
    }
  }, 20);
  const { success } = await child.status;
  clearInterval(watch);
  if (!success) throw new Error(`sync ${args.join(" ")} failed`);
  return peak;
}
