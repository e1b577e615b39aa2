/** Lines of a text that an address names. */

export interface Lines {
  readonly line?: number | undefined;
  /** The last of several; only with `line`, and greater. */
  readonly lastLine?: number | undefined;
}

/** `12`, or `12-20`. */
export function linesText({ line, lastLine }: Lines): string | undefined {
  if (line === undefined) return undefined;
  return lastLine === undefined ? String(line) : `${line}-${lastLine}`;
}

/** Of both ends, whatever their order. */
export function linesBetween(one: number, other = one): Lines {
  const [line, last] = [Math.min(one, other), Math.max(one, other)];
  return { line, lastLine: line === last ? undefined : last };
}
