/** How often others had their turn on this thread. */

/** Counts the turns of the event loop that come while `work` runs: none, while it holds the thread. */
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
