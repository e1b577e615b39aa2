/** Small requests against the back-end calls they cannot do without. */
import type { Bench } from "./bench.ts";
import { Bare, BareInFunction } from "./baselines.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lines } from "./contents.ts";
import { interleave, type Times, type Work } from "./measure.ts";
import { atMost } from "./report.ts";

const PAGE = 100;
const CONTENT = lines(KILOBYTE);
/** The most that a request may cost of the same calls made in a function with nothing around them … */
const WRITE_MAX = 1.15;
const READ_MAX = 1.2;
/** … and of the same calls made by the client itself, without a function. */
const WRITE_DIRECT_MAX = 1.25;
const READ_DIRECT_MAX = 1.25;
const ANSWER_DIRECT_MAX = 1.4;
const UPLOAD_AND_CALL = "one upload of 1 KB, one RPC that touches one row";
const CALL_AND_DOWNLOAD = "one RPC that finds the object, one download of 1 KB";
const CALL = "one RPC that answers the same bytes";

export async function smallOperations({ stack, rounds, report }: Bench): Promise<void> {
  const project = await stack.project();
  const client = new Client(stack.baseUrl, project.key);
  const bare = new Bare(stack.supabase);
  const inFunction = new BareInFunction(stack.bareFunctionUrl);
  const content = bytesOf(CONTENT);

  report.group("Small operations, through the gateway");
  await client.write("overwritten.txt", CONTENT);
  await client.write("appended.txt", CONTENT);
  const written = await interleave({
    bare: () => bare.write(0, content),
    inFunction: () => inFunction.write(1, content),
    write: (round) => client.write(`written/${round}.txt`, CONTENT),
    overwrite: () => client.overwrite("overwritten.txt", CONTENT),
    append: () => client.append("appended.txt", CONTENT),
  }, rounds);
  const write = (what: string, times: Times) =>
    compare(report, what, times, UPLOAD_AND_CALL, written, WRITE_MAX, WRITE_DIRECT_MAX);
  write("write of 1 KB, a new file", written.write);
  write("overwrite of 1 KB", written.overwrite);
  write("append of 1 KB", written.append);

  await bare.write(2, content);
  const cached = await prepareCached(client, rounds);
  await stack.restartFunction();
  const read = await interleave({
    bare: () => bare.read(2),
    inFunction: () => inFunction.read(2),
    uncached: (round) => client.read(`uncached/${round}.txt`),
  }, rounds);
  const uncached = "read of 1 KB, not cached";
  compare(report, uncached, read.uncached, CALL_AND_DOWNLOAD, read, READ_MAX, READ_DIRECT_MAX);

  await answers(stack, report, rounds, {
    "read of 1 KB, cached": () => client.read(cached),
    "metadata": () => client.send("GET", "/files/versions.txt?metadata"),
    "versions, 100": () => client.send("GET", `/files/versions.txt?versions&limit=${PAGE}`),
    "list, 100": () => client.send("GET", `/files?directory=uncached&limit=${PAGE}`),
  });
}

/** A file for each round, one that is read again and again, and one with a page of versions. */
async function prepareCached(client: Client, rounds: number): Promise<string> {
  const enough = Math.max(2 * rounds, PAGE + 1);
  for (let index = 0; index < enough; index++) await client.write(`uncached/${index}.txt`, CONTENT);
  for (let index = 0; index < PAGE; index++) await client.write("versions.txt", "version");
  await client.write("cached.txt", CONTENT);
  return "cached.txt";
}

/** Each request against one call that answers the very bytes it answers. */
async function answers(
  stack: Bench["stack"],
  report: Bench["report"],
  rounds: number,
  requests: Readonly<Record<string, () => Promise<string>>>,
): Promise<void> {
  const bare = new Bare(stack.supabase);
  const inFunction = new BareInFunction(stack.bareFunctionUrl);
  for (const [name, request] of Object.entries(requests)) {
    const payload = await request();
    await stack.supabase.from("bench_payloads").upsert({ name: "same", payload: JSON.parse(payload) });
    const works: Record<"bare" | "inFunction" | "request", Work> = {
      bare: () => bare.payload("same"),
      inFunction: () => inFunction.payload("same"),
      request,
    };
    const times = await interleave(works, rounds);
    compare(report, name, times.request, CALL, times, READ_MAX, ANSWER_DIRECT_MAX);
  }
}

/** Against a bare function that makes the same calls, which is what one would write instead; and against the calls alone. */
function compare(
  report: Bench["report"],
  what: string,
  times: Times,
  calls: string,
  { inFunction, bare }: { readonly inFunction: Times; readonly bare: Times },
  most: number,
  mostDirect: number,
): void {
  report.times(what, times, `a bare function that makes the same calls: ${calls}`, inFunction, atMost(most));
  report.times(
    `  ${what}, without a function`,
    times,
    `the same calls without a function: ${calls}`,
    bare,
    atMost(mostDirect),
  );
}
