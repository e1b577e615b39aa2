/** The lines of a file that speak of a query's words: those with most of them. */
import { SEARCH_PASSAGES_PER_FILE_MAX } from "../limits.ts";
import { endOfLine, type MatchingLine } from "./matching_lines.ts";

/** `lexemes` are the stems of the query's words, as the database makes them. Best lines, in order. */
export function passagesOf(text: string, lexemes: readonly string[]): MatchingLine[] {
  const found: { readonly place: MatchingLine; readonly words: number }[] = [];
  let line = 1;
  for (let from = 0; from < text.length; line++) {
    const to = endOfLine(text, from);
    const words = wordsIn(text.slice(from, to).toLowerCase(), lexemes);
    if (words.count > 0) found.push({ place: { line, from, to, at: from + words.at }, words: words.count });
    from = to + 1;
  }
  return found.sort((a, b) => b.words - a.words || a.place.line - b.place.line)
    .slice(0, SEARCH_PASSAGES_PER_FILE_MAX).map(({ place }) => place).sort((a, b) => a.line - b.line);
}

/** How many of the stems a line has, and where the first word with one begins. */
function wordsIn(line: string, lexemes: readonly string[]): { count: number; at: number } {
  let count = 0;
  let first = line.length;
  for (const lexeme of lexemes) {
    const at = placeOf(line, lexeme);
    if (at < 0) continue;
    count++;
    first = Math.min(first, at);
  }
  return { count, at: first };
}

/** A stem is the beginning of its words, but for the y that it has as an i: `studi` of `study`. */
function placeOf(line: string, lexeme: string): number {
  const place = beginning(line, lexeme);
  return place < 0 && lexeme.endsWith("i") ? beginning(line, `${lexeme.slice(0, -1)}y`) : place;
}

function beginning(line: string, stem: string): number {
  for (let at = line.indexOf(stem); at >= 0; at = line.indexOf(stem, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(line[at - 1] ?? "")) return at;
  }
  return -1;
}
