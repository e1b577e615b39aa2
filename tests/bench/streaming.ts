/** Reads of 100 MB: the answer begins with the first segments, and memory stays small. */
import { RecordingProxy } from "../support/proxy.ts";
import type { Bench } from "./bench.ts";
import { SERVICE_FUNCTION } from "./bench_stack.ts";
import { Client } from "./client.ts";
import { lines, MEGABYTE, noise } from "./contents.ts";
import { memoryGrowthDuring } from "./processes.ts";
import { atMost } from "./report.ts";

const FILES = [["text", "100mb.txt"], ["binary, as base64", "100mb.bin"]] as const;
/** How long downloads are held back at most; without an answer by then, one more is let through. */
const HELD_MILLISECONDS = 2000;

export async function streaming({ stack, report }: Bench): Promise<void> {
  const project = await stack.project();
  const proxy = new RecordingProxy(stack.backendUrl);
  const writer = new Client(stack.baseUrl, project.key);
  report.group("Read of 100 MB");
  await writer.writeRaw("100mb.txt", new TextEncoder().encode(lines(100 * MEGABYTE)));
  await writer.writeRaw("100mb.bin", noise(100 * MEGABYTE));
  // One that remembers no segment: it did not write them.
  const service = await stack.ownFunction(SERVICE_FUNCTION, proxy.url);
  const plain = await stack.ownFunction(SERVICE_FUNCTION);
  try {
    const client = new Client(service.url, project.key);
    for (const [name, file] of FILES) {
      const needed = await segmentsBeforeFirstByte(client, proxy, file);
      report.value(`${name}: segments before the first byte`, needed, "segments", atMost(2, "value"));
    }
    const direct = new Client(plain.url, project.key);
    await direct.send("GET", "/files");
    for (const [name, file] of FILES) {
      const growth = await memoryGrowthDuring(plain.pid, () => direct.drain(file));
      report.value(`${name}: peak memory growth`, growth / MEGABYTE, "MB", atMost(64, "value"));
    }
    for (const [name, file] of FILES) {
      const growth = await memoryGrowthDuring(plain.pid, () => direct.drain(file));
      report.value(`${name}: peak memory growth, again`, growth / MEGABYTE, "MB", atMost(64, "value"));
    }
  } finally {
    await service.stop();
    await plain.stop();
    await proxy.close();
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
