/** Keys of a tree, as the ARIA Authoring Practices have them. */
import type { TreeRow } from "./tree.ts";

/** The row to go to, `choose` to fold, unfold or show the active one, or null: the key is none of a tree. */
export function nextRow(
  key: string,
  rows: readonly TreeRow[],
  active: number,
  page: number,
): number | "choose" | null {
  const row = rows[active];
  const last = rows.length - 1;
  switch (key) {
    case "ArrowDown":
      return Math.min(active + 1, last);
    case "ArrowUp":
      return Math.max(active - 1, 0);
    case "PageDown":
      return Math.min(active + page, last);
    case "PageUp":
      return Math.max(active - page, 0);
    case "Home":
      return 0;
    case "End":
      return last;
    case "Enter":
    case " ":
      return "choose";
    case "ArrowRight":
      if (!row?.hasParts) return active;
      return row.isOpen ? Math.min(active + 1, last) : "choose";
    case "ArrowLeft":
      return row?.isOpen ? "choose" : parentOf(rows, active);
    default:
      return null;
  }
}

function parentOf(rows: readonly TreeRow[], active: number): number {
  const depth = rows[active]?.depth ?? 0;
  for (let index = active - 1; index >= 0; index--) {
    if ((rows[index]?.depth ?? 0) < depth) return index;
  }
  return active;
}
