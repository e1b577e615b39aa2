/** Keys of a tree, as the ARIA Authoring Practices have them. */
import { SHORTCUTS } from "../../../../components/shortcut_table.ts";
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
    case SHORTCUTS.next.keys[0]:
      return Math.min(active + 1, last);
    case SHORTCUTS.previous.keys[0]:
      return Math.max(active - 1, 0);
    case SHORTCUTS.pageDown.keys[0]:
      return Math.min(active + page, last);
    case SHORTCUTS.pageUp.keys[0]:
      return Math.max(active - page, 0);
    case SHORTCUTS.first.keys[0]:
      return 0;
    case SHORTCUTS.last.keys[0]:
      return last;
    case SHORTCUTS.open.keys[0]:
    case " ":
      return "choose";
    case SHORTCUTS.unfold.keys[0]:
      if (!row?.hasParts) return active;
      return row.isOpen ? Math.min(active + 1, last) : "choose";
    case SHORTCUTS.fold.keys[0]:
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
