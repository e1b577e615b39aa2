/**
 * Many clients at once, on a real Postgres: requests a second, compared with as many clients that send the bare calls,
 * and with a bare function that sends exactly the same calls with the same SQL, which is the floor of a write.
 */
import { Bare, BareInFunction } from "./baselines.ts";
import type { Bench } from "./bench.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lines } from "./contents.ts";
import { median } from "./measure.ts";
import { atLeast, type Bar } from "./report.ts";
import { ServiceCalls } from "./service_calls.ts";

const CLIENTS = 64;
const SLICES = 11;
const SLICE_MILLISECONDS = 2500;
const CONTENT = lines(KILOBYTE);
/** Smallest ratio to the floor; for reads, to the bare calls, since the SQL of a write does more than touch a row. */
const FLOOR_RATE_MIN = 0.9;
const READ_RATE_MIN = 0.8;

export async function clients({ stack, report }: Bench): Promise<void> {
  report.group("64 clients on 64 files of an enterprise project, on a real Postgres");
  const project = await stack.project(false);
  const client = new Client(stack.baseUrl, project.key);
  const calls = await ServiceCalls.of(project);
  const bare = new Bare(stack.supabase);
  const inFunction = new BareInFunction(stack.bareFunctionUrl);
  const content = bytesOf(CONTENT);
  const path = (index: number) => `clients/${index}.txt`;
  for (let index = 0; index < CLIENTS; index++) {
    await client.write(path(index), CONTENT);
    await bare.write(index, content);
  }
  const write = (kind: "append" | "overwrite") => ({
    bare: (index: number) => bare.write(index, content),
    inFunction: (index: number) => inFunction.write(index, content),
    own: (index: number) => client[kind](path(index), CONTENT),
  });
  const uploadAndCall = "each an upload and an RPC that touches a row of its own";
  await compare(report, "overwrite of 1 KB", uploadAndCall, null, {
    ...write("overwrite"),
    floor: async (index) => inFunction.commit(await calls.commit("overwrite", path(index), CONTENT)),
  });
  // No floor, since so many appends cause compactions, which the bare function lacks.
  await compare(report, "append of 1 KB", uploadAndCall, null, write("append"));
  await compare(report, "read of 1 KB, cached", "each an RPC and a download", atLeast(READ_RATE_MIN), {
    bare: (index) => bare.read(index),
    inFunction: (index) => inFunction.read(index),
    own: (index) => client.read(path(index)),
  });
}

type Name = "bare" | "inFunction" | "own" | "floor";
type Works = Readonly<Record<Exclude<Name, "floor">, (index: number) => Promise<unknown>>> & {
  readonly floor?: (index: number) => Promise<unknown>;
};

/** Runs slices of all works alternately, forwards and backwards, and compares their medians. */
async function compare(
  report: Bench["report"],
  what: string,
  baseline: string,
  bar: Bar | null,
  works: Works,
): Promise<void> {
  const rates: Record<Name, number[]> = { bare: [], inFunction: [], own: [], floor: [] };
  const all = Object.entries(works) as [Name, (index: number) => Promise<unknown>][];
  for (let slice = 0; slice < SLICES; slice++) {
    for (const [name, work] of slice % 2 === 0 ? all : all.toReversed()) {
      const rate = await requestsPerSecond(work);
      // The first slice of each warms up.
      if (slice > 0) rates[name].push(rate);
    }
  }
  const against = (what: string, name: Name, baselineWhat: string, baseline: Name, bar: Bar | null) =>
    report.against(
      what,
      median(rates[name]),
      "/s",
      `${CLIENTS} clients, ${baselineWhat}`,
      median(rates[baseline]),
      bar,
    );
  against(what, "own", baseline, "bare", bar);
  if (works.floor) {
    against(what, "own", "the very same calls in a bare function", "floor", atLeast(FLOOR_RATE_MIN));
  }
  against("  the bare calls made inside a function", "inFunction", baseline, "bare", null);
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
