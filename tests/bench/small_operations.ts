/** Small requests against the back-end calls they cannot do without. */
import type { Bench } from "./bench.ts";
import { Bare, BareInFunction } from "./baselines.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lines } from "./contents.ts";
import { interleave, type Work } from "./measure.ts";
import { atMost } from "./report.ts";

const PAGE = 100;
const CONTENT = lines(KILOBYTE);
const UPLOAD_AND_CALL = "bare: one upload of 1 KB, one RPC that touches one row";
const CALL_AND_DOWNLOAD = "bare: one RPC that finds the object, one download of 1 KB";
const CALL = "bare: one RPC that answers the same bytes";

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
  report.times("write of 1 KB, a new file", written.write, UPLOAD_AND_CALL, written.bare, atMost(1.25));
  report.times("overwrite of 1 KB", written.overwrite, UPLOAD_AND_CALL, written.bare, atMost(1.25));
  report.times("append of 1 KB", written.append, UPLOAD_AND_CALL, written.bare, atMost(1.25));
  report.times(
    "  the bare calls made inside a function",
    written.inFunction,
    UPLOAD_AND_CALL,
    written.bare,
    null,
  );

  await bare.write(2, content);
  const cached = await prepareCached(client, rounds);
  await stack.restartFunction();
  const read = await interleave({
    bare: () => bare.read(2),
    inFunction: () => inFunction.read(2),
    uncached: (round) => client.read(`uncached/${round}.txt`),
  }, rounds);
  report.times("read of 1 KB, not cached", read.uncached, CALL_AND_DOWNLOAD, read.bare, atMost(1.25));
  report.times(
    "  the bare calls made inside a function",
    read.inFunction,
    CALL_AND_DOWNLOAD,
    read.bare,
    null,
  );

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
    report.times(name, times.request, CALL, times.bare, atMost(1.4));
    report.times("  the bare call made inside a function", times.inFunction, CALL, times.bare, null);
  }
}
