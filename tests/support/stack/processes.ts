/**
 * Kills a process, and reads its processor time and memory as the operating system reports them (Linux). Tests that compare speeds use
 * processor time, because other load on the machine does not add to it, as it does to elapsed time.
 */

import { assertLess } from "@std/assert";

/** CPU seconds used by a process's first thread, which runs JavaScript: without compilation and garbage collection. */
export function threadCpuSeconds(pid: number): number {
  const [user = NaN, system = NaN] = ticksOf(`/proc/${pid}/task/${pid}/stat`);
  return (user + system) / TICKS_PER_SECOND;
}

/** Clock ticks a second in /proc; the same on every platform of Deno. */
const TICKS_PER_SECOND = 100;
const HANG_SECONDS = 10;

function ticksOf(file: string): number[] {
  const stat = Deno.readTextFileSync(file);
  // The second field is the program's name in brackets, which may contain anything.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13).map(Number);
}

/**
 * Fails if `work` keeps the processor busy for longer than only an algorithm of a worse complexity does. Its input must
 * be so large that the right algorithm takes a hundredth of that. Other test files, which run in other threads of the
 * process, do not count.
 */
export async function assertNoHang(work: () => unknown, message: string): Promise<void> {
  const before = ownTicks();
  await work();
  assertLess((ownTicks() - before) / TICKS_PER_SECOND, HANG_SECONDS, message);
}

function ownTicks(): number {
  const [user = NaN, system = NaN] = ticksOf("/proc/thread-self/stat");
  return user + system;
}

/** The largest number of bytes by which a process's memory grows while `work` runs. */
export async function memoryGrowthDuring(pid: number, work: () => Promise<unknown>): Promise<number> {
  // Resets the peak to the current value.
  Deno.writeTextFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = memory(pid, "VmRSS");
  await work();
  return memory(pid, "VmHWM") - before;
}

function memory(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}

/** Kills the process as the operating system does. Returns false if it has already ended. */
export function kill(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGKILL");
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
