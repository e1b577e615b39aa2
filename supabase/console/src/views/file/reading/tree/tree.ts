/** The rows of a JSON text with some parts unfolded. */
import { DATA_ROWS_MAX, TREE_LEVELS_UNFOLDED, TREE_ROWS_UNFOLDED } from "../../../../limits.ts";
import { kindAt, rootSpan, type Span, spansIn } from "../json_spans.ts";
import { SHORTCUTS } from "../../../../components/shortcut_table.ts";

export interface TreeRow extends Span {
  /** From 0. */
  readonly depth: number;
  /** Position of the part in its object or array, from 0, and the number of parts. */
  readonly index: number;
  readonly siblings: number;
  readonly hasParts: boolean;
  readonly isOpen: boolean;
}

export class Tree {
  /** Start positions of the unfolded objects and arrays. */
  readonly #open = new Set<number>();
  readonly #parts = new Map<number, readonly Span[]>();

  /** The text must be valid JSON. */
  constructor(readonly text: string) {
    this.#unfoldFirst();
  }

  /** Returns the rows of all unfolded parts, at most `DATA_ROWS_MAX`. */
  rows(): readonly TreeRow[] {
    const rows: TreeRow[] = [];
    const rest = [{ span: rootSpan(this.text), depth: 0, index: 0, siblings: 1 }];
    for (let next = rest.pop(); next !== undefined && rows.length < DATA_ROWS_MAX; next = rest.pop()) {
      const { span, depth, index, siblings } = next;
      const isOpen = this.#open.has(span.start);
      rows.push({ ...span, depth, index, siblings, hasParts: this.hasParts(span.start), isOpen });
      if (!isOpen) continue;
      const parts = this.partsOf(span.start);
      for (let part = parts.length - 1; part >= 0; part--) {
        const found = parts[part];
        if (found !== undefined) {
          rest.push({ span: found, depth: depth + 1, index: part, siblings: parts.length });
        }
      }
    }
    return rows;
  }

  partsOf(start: number): readonly Span[] {
    const known = this.#parts.get(start);
    if (known !== undefined) return known;
    const parts = spansIn(this.text, start, DATA_ROWS_MAX);
    this.#parts.set(start, parts);
    return parts;
  }

  hasParts(start: number): boolean {
    const kind = kindAt(this.text, start);
    return (kind === "object" || kind === "array") && !/^.\s*[\]}]/.test(this.text.slice(start, start + 100));
  }

  toggle(start: number): void {
    if (!this.#open.delete(start)) this.#open.add(start);
  }

  foldAll(): void {
    this.#open.clear();
  }

  /** Unfolds whole levels from the top, as long as the rows stay within DATA_ROWS_MAX. */
  unfoldAll(): void {
    this.#unfold(DATA_ROWS_MAX);
  }

  /** Unfolds the root, and then whole levels while the rows are few. */
  #unfoldFirst(): void {
    const { start } = rootSpan(this.text);
    if (this.hasParts(start)) this.#open.add(start);
    this.#unfold(TREE_ROWS_UNFOLDED);
  }

  #unfold(rowsMax: number): void {
    let level: readonly Span[] = [rootSpan(this.text)];
    let count = 1;
    for (let depth = 0; depth < TREE_LEVELS_UNFOLDED && level.length > 0; depth++) {
      const parents = level.filter(({ start }) => this.hasParts(start));
      const below: Span[] = [];
      for (const { start } of parents) {
        for (const part of this.partsOf(start)) below.push(part);
        if (count + below.length > rowsMax) return;
      }
      for (const { start } of parents) this.#open.add(start);
      count += below.length;
      level = below;
    }
  }
}

/** Returns the path of a row in JSONPath's notation: `$.runs[3].name`. */
export function pathOf(text: string, rows: readonly TreeRow[], at: number): string {
  const parts: string[] = [];
  let depth = Infinity;
  for (let row = at; row >= 0; row--) {
    const found = rows[row];
    if (found === undefined || found.depth >= depth) continue;
    depth = found.depth;
    if (depth > 0) parts.unshift(stepOf(text, found));
  }
  return `$${parts.join("")}`;
}

function stepOf(text: string, { keyStart, keyEnd, index }: TreeRow): string {
  if (keyStart < 0) return `[${index}]`;
  const written = text.slice(keyStart, keyEnd);
  return /^"[A-Za-z_$][\w$]*"$/.test(written) ? `.${written.slice(1, -1)}` : `[${written}]`;
}

/**
 * Handles keys as the ARIA Authoring Practices define them for a tree. Returns the next row, `choose` to fold, unfold or
 * show the active row, or null for other keys.
 */
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
