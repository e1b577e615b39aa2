/** Runs `work` on each item, at most `atOnce` at a time. Returns the results in order. Throws the first error. */
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
