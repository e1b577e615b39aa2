/** Many clients at once, on a real Postgres: requests a second against the bare calls from as many clients. */
import { Bare, BareInFunction } from "./baselines.ts";
import type { Bench } from "./bench.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lines } from "./contents.ts";
import { median } from "./measure.ts";
import { atLeast } from "./report.ts";

const CLIENTS = 64;
const SLICES = 11;
const SLICE_MILLISECONDS = 2500;
const CONTENT = lines(KILOBYTE);

export async function clients({ stack, report }: Bench): Promise<void> {
  report.group("64 clients on 64 files of an enterprise project, on a real Postgres");
  const client = new Client(stack.baseUrl, (await stack.project(false)).key);
  const bare = new Bare(stack.supabase);
  const inFunction = new BareInFunction(stack.bareFunctionUrl);
  const content = bytesOf(CONTENT);
  for (let index = 0; index < CLIENTS; index++) {
    await client.write(`clients/${index}.txt`, CONTENT);
    await bare.write(index, content);
  }
  const write = {
    bare: (index: number) => bare.write(index, content),
    inFunction: (index: number) => inFunction.write(index, content),
  };
  await compare("overwrite of 1 KB", "64 clients, each an upload and an RPC that touches a row of its own", {
    ...write,
    own: (index) => client.overwrite(`clients/${index}.txt`, CONTENT),
  }, report);
  await compare("append of 1 KB", "64 clients, each an upload and an RPC that touches a row of its own", {
    ...write,
    own: (index) => client.append(`clients/${index}.txt`, CONTENT),
  }, report);
  await compare("read of 1 KB, cached", "64 clients, each an RPC and a download", {
    bare: (index) => bare.read(index),
    inFunction: (index) => inFunction.read(index),
    own: (index) => client.read(`clients/${index}.txt`),
  }, report);
}

type Name = "bare" | "inFunction" | "own";

/** Slices of all in turn, forwards and backwards, and the median of each. */
async function compare(
  what: string,
  baseline: string,
  works: Readonly<Record<Name, (index: number) => Promise<unknown>>>,
  report: Bench["report"],
): Promise<void> {
  const names: readonly Name[] = ["bare", "inFunction", "own"];
  const rates: Record<Name, number[]> = { bare: [], inFunction: [], own: [] };
  for (let slice = 0; slice < SLICES; slice++) {
    for (const name of slice % 2 === 0 ? names : names.toReversed()) {
      const rate = await requestsPerSecond(works[name]);
      // The first of each warms up.
      if (slice > 0) rates[name].push(rate);
    }
  }
  const [own, inFunction, bare] = [median(rates.own), median(rates.inFunction), median(rates.bare)];
  report.against(what, own, "/s", baseline, bare, atLeast(0.8));
  report.against("  the bare calls made inside a function", inFunction, "/s", baseline, bare, null);
}

async function requestsPerSecond(work: (index: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let done = 0;
  await Promise.all(Array.from({ length: CLIENTS }, async (_, index) => {
    while (performance.now() - started < SLICE_MILLISECONDS) {
      await work(index);
      done++;
    }
  }));
  return done / (performance.now() - started) * 1000;
}
