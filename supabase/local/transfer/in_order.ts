/** Work on a stream, several items at a time, whose results come in the order of the items. */

/** Yields `work` of each item in order, with `width` of them under way at most. A failure comes in its item's place. */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, void> {
  const underWay: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const started = work(item);
      // Avoids an unhandled rejection before its turn.
      started.catch(() => {});
      underWay.push(started);
      if (underWay.length < width) continue;
      const first = underWay.shift();
      if (first) yield await first;
    }
    for (let first = underWay.shift(); first; first = underWay.shift()) yield await first;
  } finally {
    // Nothing of it goes on behind the back of whoever stopped.
    await Promise.allSettled(underWay);
  }
}
