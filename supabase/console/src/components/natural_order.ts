import type { SortOrder } from "../api/files.ts";

const collator = new Intl.Collator("en", { numeric: true });

/**
 * Sorts by name with numbers as numbers, `item-2` before `item-10`. Names that the collator considers equal keep their
 * order.
 */
export function inNaturalOrder<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  order: SortOrder,
): readonly T[] {
  const sign = order === "asc" ? 1 : -1;
  return items.toSorted((a, b) => sign * collator.compare(nameOf(a), nameOf(b)));
}
