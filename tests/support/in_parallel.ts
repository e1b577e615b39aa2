/** Runs `work` on each item of the list, at most `atOnce` at a time. Returns the results in the order of the list. */
export async function inParallel<In, Out>(
  list: readonly In[],
  atOnce: number,
  work: (one: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < list.length; index = next++) {
      const one = list[index];
      if (one !== undefined) results[index] = await work(one, index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Runs `work` for `count` clients at the same time. */
export function byClients<Out>(count: number, work: (client: number) => Promise<Out>): Promise<Out[]> {
  return Promise.all(Array.from({ length: count }, (_, client) => work(client)));
}
