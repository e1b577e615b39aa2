/**
 * A process of the function that reports the memory of its JavaScript: the heap, and the memory outside it, such as the
 * bytes of bodies, as `Deno.memoryUsage()` counts them. A hosted isolate is limited by this; Deno's own memory is not
 * included.
 */
import { join } from "node:path";
import type { Laboratory } from "../support/faults/laboratory.ts";

const SAMPLE_MILLISECONDS = 5;
/** The memory of an isolate. */
const V8_LIMIT = "--v8-flags=--max-old-space-size=256";

/** Runs in the function's process. It writes only when asked, so that it does not disturb the measurement. */
const GAUGE = `
const none = { heap: 0, external: 0, both: 0 };
let peak = { ...none };
// A module that is loaded first must not wait for it.
Deno.unrefTimer(setInterval(() => {
  const { heapUsed, external } = Deno.memoryUsage();
  peak = {
    heap: Math.max(peak.heap, heapUsed),
    external: Math.max(peak.external, external),
    both: Math.max(peak.both, heapUsed + external),
  };
}, ${SAMPLE_MILLISECONDS}));
Deno.addSignalListener("SIGUSR2", () => {
  console.error("gauge " + JSON.stringify(peak));
  peak = { ...none };
});
`;

/** Bytes: the peak of each, and of both together. */
interface Peak {
  readonly heap: number;
  readonly external: number;
  readonly both: number;
}

/** Returns the process, its log, and a function that returns the peak since its last call. */
export async function startGauged(lab: Laboratory) {
  const gauge = join(lab.dataDir, `gauge-${crypto.randomUUID()}.ts`);
  await Deno.writeTextFile(gauge, GAUGE);
  const log: string[] = [];
  let told = (_line: string) => {};
  const started = await lab.bareFunction({
    flags: [V8_LIMIT, "--preload", gauge],
    onLog: (line) => {
      if (line.startsWith("gauge ")) told(line.slice("gauge ".length));
      else log.push(line);
    },
  });
  const { baseUrl, pid, stop } = started;
  const peak = async (): Promise<Peak> => {
    const line = await new Promise<string>((resolve) => {
      told = resolve;
      Deno.kill(pid, "SIGUSR2");
    });
    return JSON.parse(line);
  };
  return { baseUrl, pid, log, peak, stop };
}
