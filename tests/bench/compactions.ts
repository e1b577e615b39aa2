/** A thousand small appends to a large file: what they store, what reading costs afterwards, how slow a compaction is. */
import { type Bench, fewer } from "./bench.ts";
import { Client } from "./client.ts";
import { lines, MEGABYTE } from "./contents.ts";
import { interleave, meanOfSlowest, median, timed } from "./measure.ts";
import { atMost } from "./report.ts";

const APPENDS = 1000;
const ADDED = "y".repeat(99) + "\n";
const LARGE = lines(10 * MEGABYTE);

export async function compactions({ stack, rounds, report }: Bench): Promise<void> {
  const project = await stack.project();
  const client = new Client(stack.baseUrl, project.key);
  report.group("1,000 appends of 100 bytes to 10 MB, compactions included");
  await client.write("log.txt", LARGE);
  const before = await storedBytes(stack, project.id);
  const times: number[] = [];
  for (let index = 0; index < APPENDS; index++) {
    times.push(await timed(() => client.append("log.txt", ADDED)));
  }
  const added = await storedBytes(stack, project.id) - before;
  report.value("bytes added to storage", added / MEGABYTE, "MB", atMost(2, "value"));
  report.times("the slowest 1 %, mean", [meanOfSlowest(times, 0.01)], "the median append", times, atMost(10));
  report.times("the slowest one", [Math.max(...times)], "the median append", times, null);

  const content = LARGE + ADDED.repeat(APPENDS);
  const cut = content.length / 2;
  // Over the longest content of one request: written in two.
  await client.writeRaw("fresh.txt", new TextEncoder().encode(content));
  // Read in turn with the two, it keeps them out of the cache.
  await client.writeRaw("other.txt", new TextEncoder().encode(content.slice(cut) + content.slice(0, cut)));
  const reads: { log: number[]; fresh: number[] } = { log: [], fresh: [] };
  for (let round = 0; round < fewer(rounds, 10); round++) {
    for (const which of ["log", "fresh"] as const) {
      await client.drain("other.txt");
      reads[which].push(await timed(() => client.drain(`${which}.txt`)));
    }
  }
  report.times(
    "read of that file, not cached",
    reads.log,
    "the same content freshly written",
    reads.fresh,
    atMost(1.5),
  );
  const warm = await interleave(
    {
      log: () => client.drain("log.txt"),
      fresh: () => client.drain("fresh.txt"),
    },
    fewer(rounds, 10),
    2,
  );
  report.times(
    "read of that file, cached",
    warm.log,
    "the same content freshly written",
    warm.fresh,
    atMost(1.5),
  );
  report.remark(`median append ${median(times).toFixed(2)} ms`);
}

async function storedBytes(stack: Bench["stack"], projectId: string): Promise<number> {
  const [row] = await stack.sql<{ bytes: string }>(
    `select sum((metadata ->> 'size')::bigint)::text as bytes from storage.objects
     where bucket_id = 'filestore-segments' and name like $1 || '/%'`,
    [projectId],
  );
  return Number(row?.bytes);
}
