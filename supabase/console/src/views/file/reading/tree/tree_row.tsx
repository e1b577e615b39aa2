import { formatCount } from "../../../../format.ts";
import { VALUE_CHARACTERS_SHOWN } from "../../../../limits.ts";
import { Icon } from "../../../../components/icon.tsx";
import { kindAt } from "../json_spans.ts";
import type { Tree, TreeRow } from "./tree.ts";

/** Deeper rows are no further in. */
const DEPTH_SHOWN_MAX = 40;

interface Properties {
  readonly id: string;
  readonly tree: Tree;
  readonly row: TreeRow;
  readonly isActive: boolean;
  readonly onChoose: () => void;
}

export function TreeRowView({ id, tree, row, isActive, onChoose }: Properties) {
  const { text } = tree;
  const { depth, index, siblings, hasParts, isOpen, keyStart, keyEnd, start } = row;
  const kind = kindAt(text, start);
  return (
    <div
      id={id}
      role="treeitem"
      class={isActive ? "json-row active" : "json-row"}
      style={{ paddingLeft: `${Math.min(depth, DEPTH_SHOWN_MAX) * 18 + 8}px` }}
      aria-level={depth + 1}
      aria-posinset={index + 1}
      aria-setsize={siblings}
      aria-expanded={hasParts ? isOpen : undefined}
      aria-selected={isActive}
      onClick={onChoose}
    >
      <span class="json-fold">{hasParts && <Icon name="chevron" />}</span>
      {depth > 0 && (
        <span class="json-key">
          {keyStart < 0 ? index : shortened(text.slice(keyStart + 1, keyEnd - 1))}:
        </span>
      )}
      <span class={`json-${kind}`}>{summaryOf(tree, row, kind)}</span>
    </div>
  );
}

function summaryOf(tree: Tree, { start, end, hasParts }: TreeRow, kind: string): string {
  const { text } = tree;
  if (!hasParts) return shortened(text.slice(start, Math.min(end, start + VALUE_CHARACTERS_SHOWN + 1)));
  const count = formatCount(tree.partsOf(start).length, kind === "object" ? "key" : "item");
  return kind === "object" ? `{ ${count} }` : `[ ${count} ]`;
}

function shortened(text: string): string {
  return text.length > VALUE_CHARACTERS_SHOWN ? `${text.slice(0, VALUE_CHARACTERS_SHOWN)} …` : text;
}
