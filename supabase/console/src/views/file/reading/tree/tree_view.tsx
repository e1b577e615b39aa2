/** JSON as a foldable tree: only the rows in view are drawn, and only unfolded parts are parsed. */
import { formatCount, visible } from "../../../../format.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Loading } from "../../../../components/states.tsx";
import type { FormProperties } from "../form.ts";
import { useVirtualRows } from "../virtual_rows.ts";
import { nextRow, pathOf, Tree, type TreeRow } from "./tree.ts";
import { VALUE_CHARACTERS_SHOWN } from "../../../../limits.ts";
import { Icon } from "../../../../components/icon.tsx";
import { kindAt, textOf } from "../json_spans.ts";
import { CopyButton } from "../../../../components/copy.tsx";
import { Dialog } from "../../../../components/dialog.tsx";

/** Must equal the height in the style sheet. */
const ROW_PIXELS = 24;

export function TreeView({ place, text, onProblem }: FormProperties) {
  const whole = useMemo(() => text.replace(/^\uFEFF/, ""), [text]);
  const problem = useMemo(() => problemOf(whole), [whole]);
  useEffect(() => {
    if (problem !== null) onProblem(`This is not valid JSON: ${problem}`);
  }, [problem]);
  return problem === null ? <Rows path={place.path} text={whole} /> : <Loading what="the source" />;
}

function problemOf(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function Rows({ path, text }: { readonly path: string; readonly text: string }) {
  const tree = useMemo(() => new Tree(text), [text]);
  const [changes, setChanges] = useState(0);
  const [active, setActive] = useState(0);
  const [opened, setOpened] = useState<number | null>(null);
  const rows = useMemo(() => tree.rows(), [tree, changes]);
  const scroller = useRef<HTMLDivElement>(null);
  const { first, end, above, below, onScroll, reveal } = useVirtualRows(scroller, rows.length, ROW_PIXELS);
  const change = (work: () => void) => {
    work();
    setChanges(changes + 1);
  };
  const choose = (index: number) => {
    const row = rows[index];
    if (row === undefined) return;
    setActive(index);
    if (row.hasParts) change(() => tree.toggle(row.start));
    else setOpened(index);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PIXELS) - 1);
    const next = nextRow(event.key, rows, active, page);
    if (next === null) return;
    event.preventDefault();
    if (next === "choose") return choose(active);
    setActive(next);
    reveal(next, "nearest");
  };
  const shown = opened === null ? undefined : rows[opened];
  return (
    <>
      <div
        class="json-tree"
        ref={scroller}
        role="tree"
        aria-label={`Content of ${visible(path)}`}
        aria-activedescendant={active >= first && active < end ? `json-row-${active}` : undefined}
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div role="none" style={{ height: `${above}px` }} />
        {rows.slice(first, end).map((row, index) => (
          <TreeRowView
            key={row.start}
            id={`json-row-${first + index}`}
            {...{ tree, row }}
            isActive={first + index === active}
            onChoose={() => choose(first + index)}
          />
        ))}
        <div role="none" style={{ height: `${below}px` }} />
      </div>
      <div class="tools">
        <button type="button" onClick={() => change(() => tree.unfoldAll())}>Unfold all</button>
        <button
          type="button"
          onClick={() => {
            setActive(0);
            change(() => tree.foldAll());
          }}
        >
          Fold all
        </button>
      </div>
      {shown !== undefined && opened !== null && (
        <ValueDialog
          path={pathOf(text, rows, opened)}
          written={text.slice(shown.start, shown.end)}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}

/** Deeper rows are not indented further. */
const DEPTH_SHOWN_MAX = 40;

interface TreeRowViewProperties {
  readonly id: string;
  readonly tree: Tree;
  readonly row: TreeRow;
  readonly isActive: boolean;
  readonly onChoose: () => void;
}

function TreeRowView({ id, tree, row, isActive, onChoose }: TreeRowViewProperties) {
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

interface ValueDialogProperties {
  readonly path: string;
  /** The value as the file contains it. */
  readonly written: string;
  readonly onClose: () => void;
}

/** Shows a value in full; a string is decoded, with its line breaks. */
function ValueDialog({ path, written, onClose }: ValueDialogProperties) {
  const text = textOf(written, 0, written.length);
  return (
    <Dialog title={path} onClose={onClose} isWide>
      <pre class="json-text" tabIndex={0}>{text}</pre>
      <footer class="dialog-foot">
        <CopyButton text={text} what="value" label="Copy value" />
        <CopyButton text={path} what={path} label="Copy path" />
      </footer>
    </Dialog>
  );
}
