/** Lists: their frame, the times and marks in their rows, and arrow-key navigation. */
import type { ComponentChildren } from "preact";
import { formatAge, formatExactTime } from "../format.ts";
import { hrefOf, type Place } from "../state/router.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Name } from "./name.tsx";
import { isPressed } from "./shortcut_table.ts";

/** The heading of a column, and the class of its cells. A screen reader alone reads the heading of a column of controls. */
export type Column = readonly [text: string, kind?: string];

interface Properties {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly class?: string;
  readonly before?: ComponentChildren;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

export function ListTable(
  { caption, columns, class: kind = "list", before, onKeyDown, children }: Properties,
) {
  return (
    <table class={kind}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {before}
          {columns.map(([text, kind]) => (
            <th key={text} scope="col" class={kind}>
              {kind === "actions" || kind === "pick" ? <span class="visually-hidden">{text}</span> : text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody onKeyDown={onKeyDown}>{children}</tbody>
    </table>
  );
}

interface RowLinkProperties {
  readonly to: Place;
  readonly icon: IconName;
  readonly text: string;
  /** Additional text for a screen reader. */
  readonly more?: string;
  readonly title?: string;
}

/** The link of a row; arrow keys move the focus to it. */
export function RowLink({ to, icon, text, more, title }: RowLinkProperties) {
  return (
    <a class="row-link" href={hrefOf(to)} title={title}>
      <Icon name={icon} />
      <span>
        <Name text={text} />
      </span>
      {more && <span class="visually-hidden">{more}</span>}
    </a>
  );
}

/** The cells of a folder in a list of files, up to the version. */
export function FolderCells({ to, name }: { readonly to: Place; readonly name: string }) {
  return (
    <>
      <td class="name">
        <RowLink to={to} icon="folder" text={name} more=", folder" />
      </td>
      <td class="number" />
      <td class="when" />
      <td class="number version" />
    </>
  );
}

/** A relative time; the exact time is shown on hover. */
export function Age({ iso }: { readonly iso: string }) {
  return <time dateTime={iso} title={formatExactTime(iso)}>{formatAge(iso)}</time>;
}

export function changedClass(isChanged: boolean): string | undefined {
  return isChanged ? "changed" : undefined;
}

export function ChangedMark({ isChanged }: { readonly isChanged: boolean }) {
  return isChanged ? <span class="visually-hidden">, has just changed</span> : null;
}

const ROW_LINK = ".row-link";

export function moveInList(event: KeyboardEvent): void {
  move(event, (index, count) => {
    if (isPressed(event, "next")) return Math.min(index + 1, count - 1);
    if (isPressed(event, "previous")) return Math.max(index - 1, 0);
    if (isPressed(event, "first")) return 0;
    return isPressed(event, "last") ? count - 1 : null;
  });
}

/** Moves the focus by `step` rows. */
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
