/** Branches: what one of many files costs, and that a project with branches is as fast outside of them as one without. */
import { type Bench, fewer, sized } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { interleave, median, timed, type Times } from "./measure.ts";
import { atMost } from "./report.ts";

const FILES = 1000;
/** Operations of one batch. */
const BATCH = 100;
/** Branches of the project that is compared with one that has none. */
const BRANCHES = 10;
/** Most milliseconds that the creation of a branch of FILES files may take. */
const CREATION_MAX = 1500;
/** Largest allowed ratio of a request in a project with branches to the same in one without. */
const BESIDE_MAX = 1.1;
const CONTENT = lines(4 * KILOBYTE);

async function fill(client: Client, folder: string, count: number, content: string): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const operations = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => ({
      ...{ op: "write", path: `${folder}/${String(from + index).padStart(5, "0")}.txt`, content },
    }));
    await client.send("POST", "/batch", { operations });
  }
}

/** A project with the files, and their client. */
async function filled({ stack }: Bench, count: number): Promise<Client> {
  const client = new Client(stack.baseUrl, (await stack.project()).key);
  await fill(client, "big", count, CONTENT);
  return client;
}

export async function branches(bench: Bench): Promise<void> {
  const { rounds, report } = bench;
  const count = sized(FILES);
  const [plain, beside] = [await filled(bench, count), await filled(bench, count)];
  report.group(`Branches of ${count} files of 4 KB`);
  const created: number[] = [];
  const merged: number[] = [];
  for (let round = 0; round < fewer(rounds, 20); round++) {
    const name = `round-${round}`;
    created.push(await timed(() => beside.send("POST", "/branches", { name, directory: "big" })));
    await fill(beside, `.branches/${name}`, count, `${CONTENT}${round}\n`);
    merged.push(
      await timed(() => beside.send("POST", `/branches/${name}/merge`, { dryRun: false, keep: true })),
    );
  }
  report.value("creation", median(created), "ms", atMost(CREATION_MAX, "value"));
  report.spread(created);
  report.value("merge of all files", median(merged), "ms", null);
  report.spread(merged);
  for (let number = 0; number < BRANCHES; number++) {
    await beside.send("POST", "/branches", { name: `beside-${number}`, directory: "big" });
  }
  report.group(`Outside of branches, with ${BRANCHES} of them, against a project without`);
  for (const client of [plain, beside]) await client.write("read.txt", CONTENT);
  const requests: Record<string, (client: Client, round: number) => Promise<unknown>> = {
    "read of 4 KB": (client) => client.read("read.txt"),
    "write of 4 KB, a new file": (client, round) => client.write(`written/${round}.txt`, CONTENT),
    "list of the root": (client) => client.send("GET", "/files?limit=100"),
    "list of all files": (client) => client.send("GET", "/files?recursive=true&limit=100"),
    "search by words": (client) => client.send("GET", "/search?mode=text&q=line&limit=10"),
    "the newest changes": (client) => client.send("GET", "/changes?before=now&limit=100"),
  };
  for (const [what, send] of Object.entries(requests)) {
    const times: Record<"one" | "other", Times> = await interleave({
      one: (round) => send(beside, round),
      other: (round) => send(plain, round),
    }, rounds);
    report.times(what, times.one, "without branches", times.other, atMost(BESIDE_MAX));
  }
}
