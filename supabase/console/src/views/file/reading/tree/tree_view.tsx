/** JSON as a tree that folds: only the rows in view are drawn, and only unfolded parts are looked into. */
import { visible } from "../../../../format.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Loading } from "../../../../components/states.tsx";
import type { FormProperties } from "../form_properties.ts";
import { useVirtualRows } from "../virtual_rows.ts";
import { nextRow } from "./tree_keys.ts";
import { pathOf, Tree } from "./tree.ts";
import { TreeRowView } from "./tree_row.tsx";
import { ValueDialog } from "./value_dialog.tsx";

/** As in the style sheet. */
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
