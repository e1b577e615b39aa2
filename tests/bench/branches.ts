/** Branches: what one of many files costs, and that a project with branches is as fast outside of them as one without. */
import { type Bench, fewer, sized } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { whenIndexed } from "./indexed.ts";
import { interleave, median, quantile, timed, type Times } from "./measure.ts";
import { atMost, type Bar } from "./report.ts";

const FILES = 1000;
/** Operations of one batch. */
const BATCH = 100;
/** Branches of the project that is compared with one that has none. */
const BRANCHES = 10;
/** Files of a branch that is made in slices. */
const FILES_MANY = 10_000;
/** Most milliseconds that a write may be delayed by the creation of a branch of FILES_MANY files. */
const DELAY_MAX = 50;
/** Most milliseconds that the creation of a branch of FILES files may take. */
const CREATION_MAX = 1500;
/** Largest allowed ratio of a request in a project with branches to the same in one without. */
const BESIDE_MAX = 1.1;
const CONTENT = lines(4 * KILOBYTE);

/** Writes files of 4 KB under a folder, each with its own content. */
async function fill(client: Client, folder: string, count: number, mark: string): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const operations = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => ({
      op: "write",
      path: `${folder}/${String(from + index).padStart(5, "0")}.txt`,
      content: `${CONTENT}${mark}${from + index}\n`,
    }));
    await client.send("POST", "/batch", { operations });
  }
}

/** A project with the files, and their client. */
async function filled({ stack }: Bench, count: number): Promise<Client> {
  const client = new Client(stack.baseUrl, (await stack.project()).key);
  await fill(client, "big", count, "first");
  return client;
}

/** Milliseconds of writes to another folder that follow each other until the work has ended. */
async function writesDuring(client: Client, work: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let isDone = false;
  const ended = work.finally(() => isDone = true);
  while (!isDone) times.push(await timed(() => client.overwrite("beside.txt", CONTENT)));
  await ended;
  return times;
}

/** How much slower writes are while a branch of many files is made in slices. */
async function delays(bench: Bench): Promise<void> {
  const { stack, rounds, report } = bench;
  const count = sized(FILES_MANY);
  const client = await filled(bench, count);
  await client.write("beside.txt", CONTENT);
  await whenIndexed(stack);
  report.group(`Writes beside the creation of a branch of ${count} files, each alone and beside it`);
  const quiet: number[] = [];
  for (let round = 0; round < rounds; round++) {
    quiet.push(await timed(() => client.overwrite("beside.txt", CONTENT)));
  }
  const created = client.send("POST", "/branches", { name: "many", directory: "big" });
  const beside = await writesDuring(client, created);
  for (const [what, share] of [["median", 0.5], ["slowest", 1]] as const) {
    const delay = quantile(beside, share) - quantile(quiet, share);
    report.value(`delay of the ${what}`, delay, "ms", atMost(DELAY_MAX, "value"));
  }
  report.spread(beside);
}

/** Creation and merge of a branch of many files; leaves a number of open branches. */
async function lives(bench: Bench, client: Client): Promise<void> {
  const { stack, rounds, report } = bench;
  const count = sized(FILES);
  report.group(`Branches of ${count} files of 4 KB`);
  const created: number[] = [];
  const merged: number[] = [];
  for (let round = 0; round < fewer(rounds, 20); round++) {
    const name = `round-${round}`;
    await whenIndexed(stack);
    created.push(await timed(() => client.send("POST", "/branches", { name, directory: "big" })));
    await fill(client, `.branches/${name}`, count, name);
    await whenIndexed(stack);
    merged.push(
      await timed(() => client.send("POST", `/branches/${name}/merge`, { dryRun: false, keep: true })),
    );
  }
  report.value("creation", median(created), "ms", atMost(CREATION_MAX, "value"));
  report.spread(created);
  report.value("merge of all files", median(merged), "ms", null);
  report.spread(merged);
  for (let number = 0; number < BRANCHES; number++) {
    await client.send("POST", "/branches", { name: `beside-${number}`, directory: "big" });
  }
}

const newestChanges = (client: Client) => client.send("GET", "/changes?before=now&limit=100");

const REQUESTS: Readonly<Record<string, (client: Client, round: number) => Promise<unknown>>> = {
  "read of 4 KB": (client) => client.read("read.txt"),
  "write of 4 KB, a new file": (client, round) => client.write(`written/${round}.txt`, CONTENT),
  "list of the root": (client) => client.send("GET", "/files?limit=100"),
  "list of all files": (client) => client.send("GET", "/files?recursive=true&limit=100"),
  "text that one file contains": (client) => client.send("GET", "/search?mode=text&q=later7&limit=10"),
  "text that all files contain": (client) => client.send("GET", "/search?mode=text&q=lazy&limit=10"),
  "words that one file contains": (client) => client.send("GET", "/search?mode=hybrid&q=later7&limit=10"),
  "words that all files contain": (client) => client.send("GET", "/search?mode=hybrid&q=lazy&limit=10"),
  "the newest changes": newestChanges,
};

export async function branches(bench: Bench): Promise<void> {
  const { stack, rounds, report } = bench;
  const [plain, beside] = [await filled(bench, sized(FILES)), await filled(bench, sized(FILES))];
  await lives(bench, beside);
  report.group(`Outside of branches, with ${BRANCHES} of them, against a project without`);
  const compare = async (what: string, send: (typeof REQUESTS)[string], bar: Bar | null) => {
    const times: Record<"one" | "other", Times> = await interleave({
      one: (round) => send(beside, round),
      other: (round) => send(plain, round),
    }, rounds);
    report.times(what, times.one, "without branches", times.other, bar);
  };
  for (const client of [plain, beside]) await client.write("read.txt", CONTENT);
  await whenIndexed(stack);
  await compare("the newest changes, right after the files were copied", newestChanges, null);
  // More than a page of changes: the copies are behind it.
  for (const client of [plain, beside]) await fill(client, "later", 2 * BATCH, "later");
  await whenIndexed(stack);
  for (const [what, send] of Object.entries(REQUESTS)) await compare(what, send, atMost(BESIDE_MAX));
  await delays(bench);
}
