/** Waiting for the search index, so that what is measured next does not share the machine with it. */
import { Administration } from "../../supabase/local/admin/administration.ts";
import type { BenchStack } from "./bench_stack.ts";

const INDEXED_TIMEOUT_MILLISECONDS = 300_000;

/** Returns once every text is in the index by words. Throws if that takes more than 5 minutes. */
export async function whenIndexed(stack: BenchStack): Promise<void> {
  const sweeper = new Administration(stack.supabaseUrl, stack.secretKey);
  const deadline = Date.now() + INDEXED_TIMEOUT_MILLISECONDS;
  while (Date.now() < deadline) {
    const [row] = await stack.sql<{ waiting: number }>(
      "select count(*)::integer as waiting from filestore.search_queue where stage = 1",
    );
    if (row?.waiting === 0) return;
    // Without writes only the sweep indexes, and only when a text's next indexing is due.
    await sweeper.sweep(new Date());
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("the texts were not indexed in time");
}
