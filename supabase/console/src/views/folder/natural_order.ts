/** Natural order: numbers in names count as numbers (`item-2` before `item-10`), and the case of letters comes last. */
import type { SortOrder } from "../../api/files.ts";

const collator = new Intl.Collator("en", { numeric: true });

/** Names that the collator takes as equal stay in the order in which they came. */
export function inNaturalOrder<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  order: SortOrder,
): readonly T[] {
  const sign = order === "asc" ? 1 : -1;
  return items.toSorted((a, b) => sign * collator.compare(nameOf(a), nameOf(b)));
}
