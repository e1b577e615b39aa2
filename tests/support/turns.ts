/** Counts how often other work can run on this thread. */

/** Counts the iterations of the event loop while `work` runs: none, if `work` blocks the thread. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return turns;
}
