/** Natural order: numbers in names count as numbers, `item-2` before `item-10`, and the case of letters comes last. */
import type { SortOrder } from "../../api/files.ts";

const collator = new Intl.Collator("en", { numeric: true });

/** A total order: names that differ only in what does not count stand in the order of their code units. */
export function compareNaturally(a: string, b: string): number {
  return collator.compare(a, b) || (a === b ? 0 : a < b ? -1 : 1);
}

export function inNaturalOrder<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  order: SortOrder,
): readonly T[] {
  const sign = order === "asc" ? 1 : -1;
  return items.toSorted((a, b) => sign * compareNaturally(nameOf(a), nameOf(b)));
}
