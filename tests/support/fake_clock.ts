/**
 * A clock that jumps to the next timer as soon as nothing else can run: waiting takes no real time, and is measured
 * exactly.
 */

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/**
 * Runs `work` while `setTimeout`, `clearTimeout`, `performance.now` and `Date.now` follow a clock that jumps to the
 * next timer whenever nothing else can run. Only for work that waits for nothing but timers.
 */
export async function withFakeClock(work: () => Promise<void>): Promise<void> {
  const real = { setTimeout, clearTimeout, performanceNow: performance.now, dateNow: Date.now };
  const startedAt = Date.now();
  const timers = new Map<number, Timer>();
  let now = 0;
  let last = 0;
  const nextTurn = () => new Promise<void>((resolve) => real.setTimeout(resolve, 0));
  Object.assign(globalThis, {
    setTimeout: (run: () => void, milliseconds = 0) => {
      timers.set(++last, { due: now + milliseconds, run });
      return last;
    },
    clearTimeout: (id: number | undefined) => void timers.delete(id ?? 0),
  });
  performance.now = () => now;
  Date.now = () => startedAt + now;
  try {
    let isDone = false;
    const done = work().finally(() => isDone = true);
    done.catch(() => {/* awaited below */});
    while (!isDone) {
      await nextTurn();
      const [next] = [...timers].sort(([, one], [, other]) => one.due - other.due);
      if (isDone || next === undefined) continue;
      const [id, { due, run }] = next;
      timers.delete(id);
      now = Math.max(now, due);
      run();
    }
    await done;
  } finally {
    Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
    performance.now = real.performanceNow;
    Date.now = real.dateNow;
  }
}
