/** `filestore git`: a long history as a repository, beside nothing but the reads that it consists of. */
import { join } from "node:path";
import { writeHistory } from "../../supabase/client/git/history.ts";
import { fileAddress } from "../../supabase/client/library/api.ts";
import { TRANSFERS_AT_ONCE } from "../../supabase/client/limits.ts";
import type { Change } from "../../supabase/client/library/records.ts";
import { Filestore } from "../../supabase/client/mod.ts";
import { inOrder } from "../../supabase/client/transfer/in_order.ts";
import { inParallel } from "../support/in_parallel.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { type Bench, fewer, sized } from "./bench.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { timed } from "./measure.ts";
import { pathIn } from "./populate.ts";
import { atMost } from "./report.ts";

const COMMITS = 10_000;
const FILES = 1000;
const FILES_PER_DIRECTORY = 100;
const WRITERS = 8;
/** Most milliseconds that a history of COMMITS may take. */
const HISTORY_MAX = 20_000;

export async function git({ stack, rounds, report }: Bench): Promise<void> {
  const count = sized(COMMITS);
  report.group(`git: a history of ${count} commits of 4 KB`);
  const { key } = await stack.project();
  const store = new Filestore({ url: stack.baseUrl, key });
  const text = lines(4 * KILOBYTE - 16);
  await inParallel(Array.from({ length: count }, (_, n) => n), WRITERS, async (n) => {
    await store.write(pathIn(FILES_PER_DIRECTORY, n % FILES), `${String(n).padStart(15, "0")}\n${text}`);
  });
  const bare: number[] = [];
  const whole: number[] = [];
  await withScratchDirectory(async (scratch) => {
    for (let round = 0; round < fewer(rounds, 30); round++) {
      bare.push(await timed(() => readAll(store, stack.baseUrl, key)));
      whole.push(await timed(() => writeHistory(store, join(scratch, String(round)), "")));
    }
  });
  const what = `the reads alone, ${TRANSFERS_AT_ONCE} at once`;
  report.times("the whole history", whole, what, bare, atMost(1.5));
  report.value("… in its fastest round", Math.min(...whole), "ms", atMost(HISTORY_MAX, "value"));
}

/** Reads every version of the feed, and does nothing with it. */
async function readAll(store: Filestore, url: string, key: string): Promise<void> {
  const headers = { "x-api-key": key, accept: "application/octet-stream" };
  const read = async ({ path = "", version }: Pick<Change, "path" | "version">) => {
    await (await fetch(`${url}${fileAddress(path)}?version=${version}`, { headers })).bytes();
  };
  const all = inOrder(store.changes(), TRANSFERS_AT_ONCE, read);
  while (!(await all.next()).done);
}
