/**
 * Small requests compared with two bare functions: one that sends as many calls, each of which touches one row, and one
 * that sends exactly the same calls, which is the floor for savings in the function itself.
 */
import type { Bench } from "./bench.ts";
import type { Measured } from "./bench_stack.ts";
import { Bare, BareInFunction } from "./baselines.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lines } from "./contents.ts";
import { interleave, type Times } from "./measure.ts";
import { atMost } from "./report.ts";
import { ServiceCalls } from "./service_calls.ts";

const PAGE = 100;
const CONTENT = lines(KILOBYTE);
/** Largest allowed ratio of a request's time to that of the same calls, sent from a function that does nothing else. */
const FLOOR_MAX = 1.15;
/**
 * Largest allowed ratio of a request's time to that of as many calls that touch one row, for requests whose floor is
 * within reach. Not for writes and pages, since their SQL takes more than these bars allow.
 */
const READ_MAX = 1.2;
/** Largest allowed ratio of a request's time to that of such calls, sent directly by the client. */
const WRITE_DIRECT_MAX = 1.25;
const READ_DIRECT_MAX = 1.25;
const ANSWER_DIRECT_MAX = 1.4;
const UPLOAD_AND_CALL = "one upload of 1 KB, one RPC that touches one row";
const CALL_AND_DOWNLOAD = "one RPC that finds the object, one download of 1 KB";
const CALL = "one RPC that answers the same bytes";

export async function smallOperations(
  { stack, rounds, report }: Omit<Bench, "stack"> & { readonly stack: Measured },
): Promise<void> {
  const project = await stack.project();
  const client = new Client(stack.baseUrl, project.key);
  const bare = new Bare(stack.supabase);
  const inFunction = new BareInFunction(stack);
  const content = bytesOf(CONTENT);
  const calls = await ServiceCalls.of(project);
  const commit = (kind: string, path: string) =>
    calls.commit(kind, path, CONTENT).then((sent) => inFunction.commit(sent));

  report.group("Small operations, through the gateway");
  await client.write("overwritten.txt", CONTENT);
  await client.write("appended.txt", CONTENT);
  await client.write("appended too.txt", CONTENT);
  const written = await interleave({
    bare: () => bare.write(0, content),
    inFunction: () => inFunction.write(1, content),
    write: (round) => client.write(`written/${round}.txt`, CONTENT),
    overwrite: () => client.overwrite("overwritten.txt", CONTENT),
    append: () => client.append("appended.txt", CONTENT),
    writeFloor: (round) => commit("write", `floor/${round}.txt`),
    overwriteFloor: () => commit("overwrite", "overwritten.txt"),
    appendFloor: () => commit("append", "appended too.txt"),
  }, rounds);
  const write = (what: string, request: Times, floor: Times) => {
    const simple = { request, ...written };
    compare(report, what, { request, floor }, UPLOAD_AND_CALL, simple, null, WRITE_DIRECT_MAX);
  };
  write("write of 1 KB, a new file", written.write, written.writeFloor);
  write("overwrite of 1 KB", written.overwrite, written.overwriteFloor);
  write("append of 1 KB", written.append, written.appendFloor);

  await bare.write(2, content);
  const cached = await prepareCached(client, rounds);
  if (stack.restartFunction !== null) {
    await stack.restartFunction();
    const read = await interleave({
      bare: () => bare.read(2),
      inFunction: () => inFunction.read(2),
      request: (round) => client.read(`uncached/${round}.txt`),
      floor: (round) => inFunction.content(calls.of({ p_path: `uncached/${round}.txt` })),
    }, rounds);
    const what = "read of 1 KB, not cached";
    compare(report, what, read, CALL_AND_DOWNLOAD, read, READ_MAX, READ_DIRECT_MAX);
  }

  const versions = { p_path: "versions.txt" };
  const page = { recursive: false, limit: PAGE, offset: 0, sortBy: "path", sortOrder: "asc" };
  await answers(stack, report, rounds, {
    "read of 1 KB, cached": {
      request: () => client.read(cached),
      floor: () => inFunction.call("filestore_content", calls.of({ p_path: cached })),
      most: READ_MAX,
    },
    "metadata": {
      request: () => client.send("GET", "/files/versions.txt?metadata"),
      floor: () => inFunction.call("filestore_content", calls.of({ ...versions, p_with_segments: false })),
      most: READ_MAX,
    },
    "versions, 100": {
      request: () => client.send("GET", `/files/versions.txt?versions&limit=${PAGE}`),
      floor: () =>
        inFunction.call("filestore_versions", calls.of({ ...versions, p_limit: PAGE, p_offset: 0 })),
      most: null,
    },
    "list, 100": {
      request: () => client.send("GET", `/files?directory=uncached&limit=${PAGE}`),
      floor: () =>
        inFunction.call("filestore_list", calls.of({ p_query: { ...page, directory: "uncached" } })),
      most: null,
    },
  });
}

/** Writes a file for each round, one that is read repeatedly, and one with a page of versions. */
async function prepareCached(client: Client, rounds: number): Promise<string> {
  const enough = Math.max(2 * rounds, PAGE + 1);
  for (let index = 0; index < enough; index++) await client.write(`uncached/${index}.txt`, CONTENT);
  for (let index = 0; index < PAGE; index++) await client.write("versions.txt", "version");
  await client.write("cached.txt", CONTENT);
  return "cached.txt";
}

/** Compares each request with one call that returns exactly the same bytes. */
async function answers(
  stack: Measured,
  report: Bench["report"],
  rounds: number,
  requests: Readonly<
    Record<string, { request: () => Promise<string>; floor: () => Promise<string>; most: number | null }>
  >,
): Promise<void> {
  const bare = new Bare(stack.supabase);
  const inFunction = new BareInFunction(stack);
  for (const [name, { request, floor, most }] of Object.entries(requests)) {
    const payload = await request();
    await stack.supabase.from("bench_payloads").upsert({ name: "same", payload: JSON.parse(payload) });
    // By itself, so that both functions run equally often: one that runs more often is faster.
    const same = await interleave({ request, floor }, rounds);
    const simple = await interleave({
      request,
      bare: () => bare.payload("same"),
      inFunction: () => inFunction.payload("same"),
    }, rounds);
    compare(report, name, same, CALL, simple, most, ANSWER_DIRECT_MAX);
  }
}

/**
 * Compares with a bare function that sends exactly the same calls, with one that sends as many simple calls, as one
 * would write instead, and with those calls alone.
 */
function compare(
  report: Bench["report"],
  what: string,
  same: { readonly request: Times; readonly floor: Times },
  calls: string,
  simple: { readonly request: Times; readonly inFunction: Times; readonly bare: Times },
  most: number | null,
  mostDirect: number,
): void {
  report.times(
    what,
    same.request,
    "the floor: a bare function that makes the very same calls",
    same.floor,
    atMost(FLOOR_MAX),
  );
  report.times(
    `  ${what}, simple calls`,
    simple.request,
    `a bare function that makes ${calls}`,
    simple.inFunction,
    most === null ? null : atMost(most),
  );
  report.times(
    `  ${what}, without a function`,
    simple.request,
    `the same calls without a function: ${calls}`,
    simple.bare,
    atMost(mostDirect),
  );
}
