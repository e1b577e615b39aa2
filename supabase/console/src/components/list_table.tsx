/** The frame of a list: its name and the names of its columns. */
import type { ComponentChildren } from "preact";

/** Its text, and the class of its cells. Those of controls are named for screen readers alone. */
export type Column = readonly [text: string, kind?: string];

interface Properties {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly class?: string;
  /** A column before the others. */
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
