/** Requests the health record repeatedly from a thread of its own, so that work of the test cannot delay the requests. */

import type { Wait, Watched } from "./health_watch.ts";
import { threadCpuSeconds } from "../support/stack/processes.ts";

/** Pause between two requests. */
const INTERVAL_MILLISECONDS = 20;

const worker = self as unknown as {
  onmessage: (event: MessageEvent<Watched>) => void;
  postMessage: (message: unknown) => void;
};

let waits: Wait[] = [];
let isWatching = false;

async function ask({ url, pid }: Watched): Promise<void> {
  const started = performance.now();
  const before = threadCpuSeconds(pid);
  const response = await fetch(url);
  await response.body?.cancel();
  waits.push({ milliseconds: performance.now() - started, cpuSeconds: threadCpuSeconds(pid) - before });
  if (response.status !== 200) throw new Error(`health: ${response.status}`);
}

/** The first message starts a watch; the next one ends it and is answered with all waits. */
worker.onmessage = async ({ data }) => {
  if (isWatching) {
    isWatching = false;
    return;
  }
  isWatching = true;
  waits = [];
  const open: Promise<void>[] = [];
  while (isWatching) {
    open.push(ask(data));
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MILLISECONDS));
  }
  await Promise.all(open);
  worker.postMessage(waits);
};
