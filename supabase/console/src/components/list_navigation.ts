/** Arrow keys in a list move the focus from link to link; Enter opens the link as usual. */
import { isPressed } from "./shortcut_table.ts";

const ROW_LINK = "a.row-link";

export function moveInList(event: KeyboardEvent): void {
  move(event, (index, count) => {
    if (isPressed(event, "next")) return Math.min(index + 1, count - 1);
    if (isPressed(event, "previous")) return Math.max(index - 1, 0);
    if (isPressed(event, "first")) return 0;
    return isPressed(event, "last") ? count - 1 : null;
  });
}

/** Moves the focus by so many rows. */
export function moveBy(event: KeyboardEvent, step: number): void {
  move(event, (index, count) => Math.max(0, Math.min(index + step, count - 1)));
}

/** Handles keys of a filter field above a list: arrow down focuses the first entry, Enter opens it. */
export function enterList(event: KeyboardEvent, list: HTMLElement | null): void {
  const first = list?.querySelector<HTMLElement>(ROW_LINK);
  if (!first || (!isPressed(event, "next") && !isPressed(event, "open"))) return;
  event.preventDefault();
  if (isPressed(event, "open")) first.click();
  else first.focus();
}

function move(event: KeyboardEvent, nextIndex: (index: number, count: number) => number | null): void {
  const { currentTarget, target } = event;
  if (!(currentTarget instanceof HTMLElement) || !(target instanceof HTMLElement)) return;
  const links = [...currentTarget.querySelectorAll<HTMLElement>(ROW_LINK)];
  const row = target.closest("tr, li");
  const index = links.findIndex((link) => link === target || row?.contains(link));
  const next = nextIndex(index, links.length);
  if (next === null) return;
  event.preventDefault();
  links[next]?.focus();
}
