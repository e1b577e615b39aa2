/**
 * Yields the result of `work` for each item, in order, with at most `width` running. Throws a failure at its item's place in
 * the order.
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, void> {
  const underWay: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const started = work(item);
      // Avoids an unhandled rejection before the result is awaited.
      started.catch(() => {});
      underWay.push(started);
      if (underWay.length < width) continue;
      const first = underWay.shift();
      if (first) yield await first;
    }
    for (let first = underWay.shift(); first; first = underWay.shift()) yield await first;
  } finally {
    // Waits for running work, so that none continues after the consumer has stopped.
    await Promise.allSettled(underWay);
  }
}
