/** Work on several things at a time. */

/** Runs `work` on each of `list`, so many at a time; the results are in the order of the list. Throws what one throws. */
export async function inParallel<In, Out>(
  list: readonly In[],
  atOnce: number,
  work: (one: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  const rest = list.entries();
  const worker = async () => {
    for (const [index, one] of rest) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, worker));
  return results;
}
