/** Markdown in the form that `deno fmt` produces. */

/** A table whose columns are padded to their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [first = [], ...others] = cells;
  return [line(first), line(widths.map((width) => "-".repeat(width))), ...others.map(line)].join("\n");
}

export const code = (text: string): string => `\`${text}\``;

/**
 * Wraps text to lines of at most `width` characters and indents all but the first. Breaks only at spaces outside of code.
 */
export function wrap(text: string, indent = "  ", width = 120): string {
  const lines: string[] = [];
  let line = "";
  for (const [word] of text.matchAll(/(?:`[^`]*`|[^ `])+/g)) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}

/** An item of a list within an item of a list. */
export const nested = (text: string): string => "  " + wrap(`- ${text}`, "    ", 118);
