/** The boxes of a list in which rows are chosen, and the bar with what can be done with them. */
import type { ComponentChildren } from "preact";
import { formatCount, visible } from "../format.ts";
import { Icon } from "./icon.tsx";
import type { Selection } from "./selection.ts";

/** `what` names the rows: `files`. */
export function PickAll({ selection, what }: { readonly selection: Selection; readonly what: string }) {
  const { chosen, total, chooseAll } = selection;
  const isAll = chosen.length === total && total > 0;
  return (
    <th scope="col" class="pick">
      <input
        type="checkbox"
        aria-label={`Choose all ${what}`}
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
        aria-label={`Choose ${visible(name)}`}
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

/** Stands below its list, and floats there while the list goes on below the window. */
export function SelectionBar({ selection: { chosen, clear }, children }: BarProperties) {
  const count = chosen.length;
  return (
    <div class={count === 0 ? "visually-hidden" : "selection-bar"} role="group" aria-label="Selection">
      <p role="status">{count === 0 ? "" : `${formatCount(count, "item")} chosen`}</p>
      {count > 0 && (
        <>
          {children}
          <button type="button" class="icon-button" aria-label="Choose nothing" title="Esc" onClick={clear}>
            <Icon name="close" />
          </button>
        </>
      )}
    </div>
  );
}

/** Where the focus goes that was in the bar, or in a row that goes: to the next row that stays. */
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
