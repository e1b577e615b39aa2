/// <reference lib="dom" />
/** Arrow keys in a list move the focus from link to link; Enter opens the link as usual. */
const ROW_LINK = "a.row-link";

export function moveInList(event: KeyboardEvent): void {
  const { currentTarget, target } = event;
  if (!(currentTarget instanceof HTMLElement) || !(target instanceof HTMLElement)) return;
  const links = [...currentTarget.querySelectorAll<HTMLElement>(ROW_LINK)];
  const row = target.closest("tr, li");
  const index = links.findIndex((link) => link === target || row?.contains(link));
  const next = nextIndex(event.key, index, links.length);
  if (next === null) return;
  event.preventDefault();
  links[next]?.focus();
}

/** Handles keys of a filter field above a list: arrow down focuses the first entry, Enter opens it. */
export function enterList(event: KeyboardEvent, list: HTMLElement | null): void {
  const first = list?.querySelector<HTMLElement>(ROW_LINK);
  if (!first || (event.key !== "ArrowDown" && event.key !== "Enter")) return;
  event.preventDefault();
  if (event.key === "Enter") first.click();
  else first.focus();
}

function nextIndex(key: string, index: number, count: number): number | null {
  if (key === "ArrowDown") return Math.min(index + 1, count - 1);
  if (key === "ArrowUp") return Math.max(index - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}
