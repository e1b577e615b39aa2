/** Reads of 100 MB: the answer begins with the first segments, and memory stays small. */
import { RecordingProxy } from "../support/stack/proxy.ts";
import type { Bench } from "./bench.ts";
import { SERVICE_FUNCTION } from "./bench_stack.ts";
import { Client } from "./client.ts";
import { lines, MEGABYTE, noise } from "./contents.ts";
import { memoryGrowthDuring } from "../support/stack/processes.ts";
import { atMost } from "./report.ts";

const FILES = [["text", "100mb.txt"], ["binary, as base64", "100mb.bin"]] as const;
/** How long downloads are held back at most; without an answer by then, one more is let through. */
const HELD_MILLISECONDS = 2000;

export async function streaming({ stack, report }: Bench): Promise<void> {
  const project = await stack.project();
  const proxy = await RecordingProxy.open(stack.backendUrl);
  const writer = new Client(stack.baseUrl, project.key);
  report.group("Read of 100 MB");
  await writer.writeRaw("100mb.txt", new TextEncoder().encode(lines(100 * MEGABYTE)));
  await writer.writeRaw("100mb.bin", noise(100 * MEGABYTE));
  // One that remembers no segment: it did not write them.
  const service = await stack.ownFunction(SERVICE_FUNCTION, proxy.url);
  try {
    const client = new Client(service.url, project.key);
    for (const [name, file] of FILES) {
      const needed = await segmentsBeforeFirstByte(client, proxy, file);
      report.value(`${name}: segments before the first byte`, needed, "segments", atMost(2, "value"));
    }
  } finally {
    await service.stop();
    await proxy.close();
  }
  for (const [name, file] of FILES) await memoryGrowth({ stack, report }, project.key, name, file);
}

/** In a process of its own for each file: one that has read another has grown already. */
async function memoryGrowth(
  { stack, report }: Pick<Bench, "stack" | "report">,
  key: string,
  name: string,
  file: string,
): Promise<void> {
  const own = await stack.ownFunction(SERVICE_FUNCTION);
  try {
    const client = new Client(own.url, key);
    await client.send("GET", "/files");
    const grown = async () => (await memoryGrowthDuring(own.pid, () => client.drain(file))) / MEGABYTE;
    report.value(`${name}: peak memory growth of a fresh process`, await grown(), "MB", atMost(64, "value"));
    report.value("  the same read once more", await grown(), "MB", null);
  } finally {
    await own.stop();
  }
}

/** How many downloads must have ended before the answer begins: all others are held back until it does. */
async function segmentsBeforeFirstByte(client: Client, proxy: RecordingProxy, file: string): Promise<number> {
  const waiting: (() => void)[] = [];
  let passed = 0;
  let allowed = 1;
  let hasBegun = false;
  proxy.hook = async (call, forward) => {
    if (call.target === "storage" && !hasBegun) {
      if (passed < allowed) passed++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    }
    return await forward();
  };
  const more = setInterval(() => {
    allowed++;
    passed++;
    waiting.shift()?.();
  }, HELD_MILLISECONDS);
  let needed = NaN;
  await client.drain(file, () => {
    hasBegun = true;
    needed = passed;
    clearInterval(more);
    for (const resume of waiting.splice(0)) resume();
  });
  proxy.hook = null;
  return needed;
}
