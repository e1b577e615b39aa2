/** A match as the response shows it: line, column, and the lines around it. */
import type { Match } from "../contract/search.ts";
import { SEARCH_CONTEXT_LINES, SEARCH_MATCH_TEXT_LENGTH_MAX, SEARCH_SNIPPET_LENGTH_MAX } from "../limits.ts";
import { isSecondHalf } from "../runtime/surrogates.ts";
import { endOfLine, type MatchingLine } from "./matching_lines.ts";

/** Stands for NUL in the index, since Postgres cannot store NUL. No query can contain it. */
export const NUL_STAND_IN = "\uFFFE";

export function describeMatch(text: string, { line, from, to, at }: MatchingLine): Match {
  const snippet = excerpt(text.slice(from, to), at - from);
  const before = linesBefore(text, from);
  const after = linesAfter(text, to);
  const around = [...before, text.slice(from, to), ...after].join("\n");
  const isShort = around.length <= SEARCH_MATCH_TEXT_LENGTH_MAX;
  return {
    line,
    column: at - from + 1,
    snippet,
    before: before.map((one) => excerpt(one, 0)),
    after: after.map((one) => excerpt(one, 0)),
    lines: isShort ? `${line - before.length}-${line + after.length}` : `${line}-${line}`,
    text: isShort ? around.replaceAll(NUL_STAND_IN, "\0") : snippet,
  };
}

function linesBefore(text: string, from: number): string[] {
  const lines: string[] = [];
  for (let end = from - 1; end >= 0 && lines.length < SEARCH_CONTEXT_LINES;) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    lines.unshift(text.slice(start, end));
    end = start - 1;
  }
  return lines;
}

function linesAfter(text: string, to: number): string[] {
  const lines: string[] = [];
  for (let start = to + 1; start < text.length && lines.length < SEARCH_CONTEXT_LINES;) {
    const end = endOfLine(text, start);
    lines.push(text.slice(start, end));
    start = end + 1;
  }
  return lines;
}

/** The line, cut to SEARCH_SNIPPET_LENGTH_MAX around `place`, never within a surrogate pair. */
function excerpt(text: string, place: number): string {
  const lead = Math.floor(SEARCH_SNIPPET_LENGTH_MAX / 4);
  let from = Math.max(0, Math.min(place - lead, text.length - SEARCH_SNIPPET_LENGTH_MAX));
  let to = from + SEARCH_SNIPPET_LENGTH_MAX;
  if (isSecondHalf(text, from)) from++;
  if (isSecondHalf(text, to)) to--;
  return text.slice(from, to).replaceAll(NUL_STAND_IN, "\0");
}
