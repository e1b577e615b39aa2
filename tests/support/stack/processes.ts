/**
 * What the operating system says of a process (Linux). Processor time is what bounds on speed compare: unlike elapsed
 * time, other load on the machine adds nothing to it.
 */
import process from "node:process";

/** CPU seconds so far of a process's first thread, on which JavaScript runs: without compilation and garbage collection. */
export function threadCpuSeconds(pid: number): number {
  const [user = NaN, system = NaN] = ticksOf(`/proc/${pid}/task/${pid}/stat`);
  return (user + system) / TICKS_PER_SECOND;
}

/** Clock ticks a second in /proc, on every platform that Deno runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds of a process so far, of user and system. */
export function cpuSeconds(pid: number): number {
  const [user = NaN, system = NaN] = cpuTicks(pid);
  return (user + system) / TICKS_PER_SECOND;
}

/** Of user and system. */
function cpuTicks(pid: number): number[] {
  return ticksOf(`/proc/${pid}/stat`);
}

function ticksOf(file: string): number[] {
  const stat = Deno.readTextFileSync(file);
  // The second field is the program's name in brackets and may hold anything.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).map(Number);
}

/** Milliseconds of processor time that this process spends while `work` runs. */
export async function ownCpuMilliseconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** By how many bytes a process grows at most beyond what it has now, while `work` runs. */
export async function memoryGrowthDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  // Sets the peak back to the present.
  Deno.writeTextFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = memory(pid, "VmRSS");
  await work();
  return memory(pid, "VmHWM") - before;
}

function memory(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}
