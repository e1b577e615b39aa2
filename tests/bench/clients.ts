/**
 * Many clients at once, on a real Postgres: requests a second, compared with as many clients that send the bare calls,
 * and with a bare function that sends exactly the same calls with the same SQL, which is the floor of a write.
 */
import { Bare, BareInFunction } from "./baselines.ts";
import type { Bench } from "./bench.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lines } from "./contents.ts";
import { median } from "./measure.ts";
import { type ClientWork, ratesOf } from "./rates.ts";
import { atLeast, type Bar } from "./report.ts";
import { ServiceCalls } from "./service_calls.ts";

const CLIENTS = 64;
const CONTENT = lines(KILOBYTE);
/** Smallest ratio to the floor; for reads, to the bare calls, since the SQL of a write does more than touch a row. */
const FLOOR_RATE_MIN = 0.9;
const READ_RATE_MIN = 0.8;
/** Smallest rate of appends, their compactions included, as a ratio to the rate of overwrites. */
const COMPACTION_RATE_MIN = 0.9;

export async function clients({ stack, report }: Bench): Promise<void> {
  report.group("64 clients on 64 files of an enterprise project, on a real Postgres");
  const project = await stack.project(false);
  const client = new Client(stack.baseUrl, project.key);
  const calls = await ServiceCalls.of(project);
  const bare = new Bare(stack.supabase);
  const inFunction = new BareInFunction(stack);
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
  // No floor, since appends cause compactions, which the bare function lacks.
  await compare(report, "append of 1 KB", uploadAndCall, null, write("append"));
  await compareCompaction(report, write("append").own, write("overwrite").own);
  await compare(report, "read of 1 KB, cached", "each an RPC and a download", atLeast(READ_RATE_MIN), {
    bare: (index) => bare.read(index),
    inFunction: (index) => inFunction.read(index),
    own: (index) => client.read(path(index)),
  });
}

/** Overwrites upload and commit as appends do, but never cause a compaction. */
async function compareCompaction(report: Bench["report"], append: ClientWork, overwrite: ClientWork) {
  const { append: appends, overwrite: overwrites } = await ratesOf({ append, overwrite }, CLIENTS);
  const bar = atLeast(COMPACTION_RATE_MIN);
  report.against("  with its compactions", median(appends), "/s", "overwrites", median(overwrites), bar);
}

type Works = Readonly<Record<"bare" | "inFunction" | "own", ClientWork>> & { readonly floor?: ClientWork };

/** Compares the rates of all works with that of the bare calls. */
async function compare(
  report: Bench["report"],
  what: string,
  baseline: string,
  bar: Bar | null,
  { floor, ...works }: Works,
): Promise<void> {
  const rates = await ratesOf<string>({ ...works, ...floor && { floor } }, CLIENTS);
  const against = (what: string, name: string, baselineWhat: string, other: string, bar: Bar | null) => {
    const [own, base] = [rates[name] ?? [], rates[other] ?? []];
    report.against(what, median(own), "/s", `${CLIENTS} clients, ${baselineWhat}`, median(base), bar);
  };
  against(what, "own", baseline, "bare", bar);
  if (floor) against(what, "own", "the very same calls in a bare function", "floor", atLeast(FLOOR_RATE_MIN));
  against("  the bare calls made inside a function", "inFunction", baseline, "bare", null);
}
