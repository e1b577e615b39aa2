/** Many small files by one batch, against as many requests in a row. */
import { BATCH_OPERATIONS_MAX } from "../../supabase/functions/api/limits.ts";
import type { Bench } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { interleave } from "./measure.ts";
import { atMost } from "./report.ts";

const CONTENT = lines(KILOBYTE);
const ROUNDS_MAX = 12;

export async function batches({ stack, rounds, report }: Bench): Promise<void> {
  const project = await stack.project();
  const client = new Client(stack.baseUrl, project.key);
  report.group(`${BATCH_OPERATIONS_MAX} small files`);
  const paths = (folder: string) =>
    Array.from({ length: BATCH_OPERATIONS_MAX }, (_, index) => `${folder}/${index}.txt`);
  const times = await interleave({
    requests: async (round) => {
      for (const path of paths(`requests/${round}`)) await client.write(path, CONTENT);
    },
    batch: (round) => {
      const operations = paths(`batch/${round}`).map((path) => ({ op: "write", path, content: CONTENT }));
      return client.send("POST", "/batch", { operations });
    },
  }, Math.min(rounds, ROUNDS_MAX));
  report.times("one batch", times.batch, "requests in a row", times.requests, atMost(0.5));
}
