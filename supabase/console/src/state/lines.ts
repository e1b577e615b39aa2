/** Lines of a text that an address can name. */

export interface Lines {
  readonly line?: number | undefined;
  /** The last line of a range. Only given with `line`, and greater than it. */
  readonly lastLine?: number | undefined;
}

/** Formats lines as `12` or `12-20`. */
export function linesText({ line, lastLine }: Lines): string | undefined {
  if (line === undefined) return undefined;
  return lastLine === undefined ? String(line) : `${line}-${lastLine}`;
}

/** Returns the lines between both ends, given in any order. */
export function linesBetween(one: number, other = one): Lines {
  const [line, last] = [Math.min(one, other), Math.max(one, other)];
  return { line, lastLine: line === last ? undefined : last };
}
