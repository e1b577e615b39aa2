/** CPU time of the function's own process: what the platform bills and limits. */
import { type Bench, fewer } from "./bench.ts";
import { BARE_FUNCTION, EMPTY_FUNCTION, type OwnFunction, SERVICE_FUNCTION } from "./bench_stack.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lines, MEGABYTE, noise } from "./contents.ts";
import { median } from "./measure.ts";
import { cpuDuring } from "../support/stack/processes.ts";
import { atMost } from "./report.ts";

const REQUESTS = 1000;
/** Sent in turn to both functions, so that neither has the better half of the time. */
const BATCH = 100;
/** Until the compiler has settled. */
const WARM_UP_REQUESTS = 1500;
const CONTENT = lines(KILOBYTE);

type Request = (client: Client, index: number) => Promise<unknown>;

const SMALL: Readonly<Record<string, Request>> = {
  "read of 1 KB": (client) => client.read("small.txt"),
  "metadata": (client) => client.send("GET", "/files/small.txt?metadata"),
  "list of 10": (client) => client.send("GET", "/files"),
  "overwrite of 1 KB": (client) => client.overwrite("small.txt", CONTENT),
  "append of 1 KB": (client) => client.append("appended.txt", CONTENT),
};

export async function processorTime({ stack, rounds, report }: Bench): Promise<void> {
  const project = await stack.project();
  const service = await stack.ownFunction(SERVICE_FUNCTION);
  const empty = await stack.ownFunction(EMPTY_FUNCTION);
  const bare = await stack.ownFunction(BARE_FUNCTION);
  try {
    const client = new Client(service.url, project.key);
    await client.write("small.txt", CONTENT);
    await client.write("appended.txt", CONTENT);
    for (let index = 0; index < 10; index++) await client.write(`listed-${index}.txt`, "x");
    report.group("CPU of the function's process, without the gateway");
    await smallRequests(service, empty, project.key, report);
    await bareCalls(bare, report);
    await largeContents(client, service, fewer(rounds, 20), report);
  } finally {
    await service.stop();
    await empty.stop();
    await bare.stop();
  }
}

async function smallRequests(
  service: OwnFunction,
  empty: OwnFunction,
  key: string,
  report: Bench["report"],
): Promise<void> {
  const [ours, theirs] = [new Client(service.url, key), new Client(empty.url, key)];
  const over: number[] = [];
  for (const [name, request] of Object.entries(SMALL)) {
    for (let index = 0; index < WARM_UP_REQUESTS / 5; index++) {
      await request(ours, index);
      await request(theirs, index);
    }
    let [spent, spentByEmpty] = [0, 0];
    const batch = async (client: Client) => {
      for (let index = 0; index < BATCH; index++) await request(client, index);
    };
    for (let done = 0; done < REQUESTS; done += BATCH) {
      spent += await cpuDuring(service.pid, () => batch(ours));
      spentByEmpty += await cpuDuring(empty.pid, () => batch(theirs));
    }
    const [mean, meanOfEmpty] = [spent / REQUESTS * 1000, spentByEmpty / REQUESTS * 1000];
    over.push(mean - meanOfEmpty);
    report.against(`${name}, mean of 1,000`, mean, "ms", "the empty function", meanOfEmpty, null);
    report.value(`${name}, over the empty function`, mean - meanOfEmpty, "ms", atMost(1, "value"));
  }
}

/** What of a write is the two calls that no function can do without. */
async function bareCalls(bare: OwnFunction, report: Bench["report"]): Promise<void> {
  const write = async () => {
    await (await fetch(`${bare.url}/write/3`, { method: "POST", body: bytesOf(CONTENT) })).text();
  };
  for (let index = 0; index < WARM_UP_REQUESTS / 5; index++) await write();
  const spent = await cpuDuring(bare.pid, async () => {
    for (let index = 0; index < REQUESTS; index++) await write();
  });
  report.value("  an upload and an RPC alone, through supabase-js", spent / REQUESTS * 1000, "ms", null);
}

async function largeContents(
  client: Client,
  service: OwnFunction,
  rounds: number,
  report: Bench["report"],
): Promise<void> {
  const text = lines(10 * MEGABYTE);
  const seconds = async (work: (round: number) => Promise<unknown>) => {
    const spent: number[] = [];
    for (let round = 0; round <= rounds; round++) spent.push(await cpuDuring(service.pid, () => work(round)));
    return median(spent.slice(1));
  };
  report.value(
    "write of 10 MB as JSON",
    await seconds(() => client.write("large.txt", text)),
    "s",
    atMost(0.15, "value"),
  );
  report.value(
    "read of 10 MB as JSON",
    await seconds(() => client.drain("large.txt")),
    "s",
    atMost(0.15, "value"),
  );
  await client.writeRaw("100mb.txt", new TextEncoder().encode(lines(100 * MEGABYTE)));
  await client.writeRaw("100mb.bin", noise(100 * MEGABYTE));
  for (const [name, file] of [["text", "100mb.txt"], ["binary, as base64", "100mb.bin"]] as const) {
    const spent = await seconds(() => client.drain(file));
    report.value(`read of 100 MB as JSON, ${name}`, spent, "s", atMost(1, "value"));
  }
}
