/**
 * The selection in a list. Each row has its key in `data-key`. Keyboard: Space selects the focused row, Shift with arrows
 * extends the selection, Ctrl-A selects all rows, and Escape none.
 */
import { useRef, useState } from "preact/hooks";
import { moveBy, moveInList } from "./list.tsx";
import { isPressed } from "./shortcut_table.ts";
import type { ComponentChildren } from "preact";
import { formatNumber, visible } from "../format.ts";
import { IconButton } from "./icon.tsx";

export interface Selection {
  /** The keys of the selected rows on screen, in their order. */
  readonly chosen: readonly string[];
  readonly total: number;
  readonly has: (key: string) => boolean;
  /** Selects or deselects a row. `isRange`: selects all rows from the previously chosen one to this. */
  readonly choose: (key: string, isRange: boolean) => void;
  readonly chooseAll: (isChosen: boolean) => void;
  readonly clear: () => void;
  /** The handler for the body of the list. It also moves the focus. */
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** The row where a range begins, and the rows that were selected apart from the range. */
interface Anchor {
  readonly key: string;
  readonly base: ReadonlySet<string>;
}

/** `keys`: the keys of all rows, in their order. A row that is removed is deselected. */
export function useSelection(keys: readonly string[]): Selection {
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<Anchor | null>(null);
  const chosen = keys.filter((key) => kept.has(key));
  const choose = (key: string, isRange: boolean) => {
    if (isRange && anchor.current !== null) return extendTo(key, anchor.current);
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    anchor.current = { key, base: next };
    setKept(next);
  };
  const extendTo = (key: string, { key: start, base }: Anchor) => {
    const [from, to] = [keys.indexOf(start), keys.indexOf(key)].sort((a, b) => a - b);
    if (from === undefined || from < 0) return setKept(new Set([...base, key]));
    setKept(new Set([...base, ...keys.slice(from, (to ?? from) + 1)]));
  };
  const chooseAll = (isChosen: boolean) => {
    anchor.current = null;
    setKept(new Set(isChosen ? keys : []));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const key = keyAt(event.target);
    if (isElsewhere(event.target)) return;
    if (isPressed(event, "chooseNone") && chosen.length > 0) {
      event.preventDefault();
      chooseAll(false);
    } else if (isPressed(event, "chooseAll")) {
      event.preventDefault();
      chooseAll(true);
    } else if (isPressed(event, "choose") && key !== undefined && isRowLink(event.target)) {
      event.preventDefault();
      choose(key, event.shiftKey);
    } else moveAlong(event, key);
  };
  const moveAlong = (event: KeyboardEvent, key: string | undefined) => {
    const step = isPressed(event, "extendDown") ? 1 : isPressed(event, "extendUp") ? -1 : 0;
    if (step === 0) return moveInList(event);
    moveBy(event, step);
    const next = keyAt(document.activeElement);
    if (key === undefined || next === undefined) return;
    const start = anchor.current !== null && chosen.length > 0
      ? anchor.current
      : { key, base: new Set(chosen) };
    anchor.current = start;
    extendTo(next, start);
  };
  return {
    chosen,
    total: keys.length,
    has: (key) => kept.has(key),
    choose,
    chooseAll,
    clear: () => chooseAll(false),
    onKeyDown,
  };
}

/** Returns the key of the row that contains the target. */
export function keyAt(target: EventTarget | null): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>("[data-key]")?.dataset["key"] : undefined;
}

/** Whether the target is in a dialog that a row has opened. */
function isElsewhere(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("dialog") !== null;
}

function isRowLink(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("a.row-link");
}

/** `what` names the rows, such as `files`. */
export function PickAll({ selection, what }: { readonly selection: Selection; readonly what: string }) {
  const { chosen, total, chooseAll } = selection;
  const isAll = chosen.length === total && total > 0;
  return (
    <th scope="col" class="pick">
      <input
        type="checkbox"
        aria-label={`Select all ${what}`}
        ref={(box) => {
          if (box !== null) box.indeterminate = chosen.length > 0 && !isAll;
        }}
        checked={isAll}
        onChange={() => chooseAll(!isAll)}
      />
    </th>
  );
}

interface PickProperties {
  readonly name: string;
  readonly isChosen: boolean;
  readonly onChoose: (isRange: boolean) => void;
}

export function Pick({ name, isChosen, onChoose }: PickProperties) {
  return (
    <td class="pick">
      <input
        type="checkbox"
        aria-label={`Select ${visible(name)}`}
        checked={isChosen}
        onClick={({ shiftKey }) => onChoose(shiftKey)}
      />
    </td>
  );
}

interface BarProperties {
  readonly selection: Selection;
  readonly children: ComponentChildren;
}

/** Stands below its list, and floats at the bottom of the window while the list continues below it. */
export function SelectionBar({ selection: { chosen, clear }, children }: BarProperties) {
  const count = chosen.length;
  return (
    <div class={count === 0 ? "visually-hidden" : "selection-bar"} role="group" aria-label="Selection">
      <p role="status">{count === 0 ? "" : `${formatNumber(count)} selected`}</p>
      {count > 0 && (
        <>
          {children}
          <IconButton icon="close" label="Clear selection" title="Esc" onClick={clear} />
        </>
      )}
    </div>
  );
}

/** Moves the focus to the next remaining row if it was in the selection bar or in a row that is removed. */
export function keepFocus(chosen: readonly string[]): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main tr[data-key]")];
  const isChosen = (row: HTMLElement) => chosen.includes(row.dataset["key"] ?? "");
  const first = rows.findIndex(isChosen);
  const next = rows.slice(Math.max(0, first)).find((row) => !isChosen(row)) ??
    rows.slice(0, Math.max(0, first)).at(-1);
  requestAnimationFrame(() => {
    const active = document.activeElement;
    const row = active?.closest<HTMLElement>("main tr[data-key]");
    const isLost = active === null || active === document.body || (row && isChosen(row));
    if (!isLost) return;
    (next?.querySelector<HTMLElement>("a.row-link") ?? document.getElementById("main"))?.focus();
  });
}
