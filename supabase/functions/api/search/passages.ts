/** The lines of a file that contain most of a query's words. */
import { SEARCH_PASSAGES_PER_FILE_MAX } from "../limits.ts";
import { endOfLine, type MatchingLine } from "./matching_lines.ts";

/** Returns the best lines, in order. `lexemes` are the stems of the query's words, as the database makes them. */
export function findPassages(text: string, lexemes: readonly string[]): MatchingLine[] {
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

/** How many of the stems a line contains, and where the first word with one begins. */
function wordsIn(line: string, lexemes: readonly string[]): { count: number; at: number } {
  let count = 0;
  let first = line.length;
  for (const lexeme of lexemes) {
    const at = findStem(line, lexeme);
    if (at < 0) continue;
    count++;
    first = Math.min(first, at);
  }
  return { count, at: first };
}

/** A stem is a prefix of its words, except that a final y became an i: `studi` of `study`. */
function findStem(line: string, lexeme: string): number {
  const place = findPrefix(line, lexeme);
  return place < 0 && lexeme.endsWith("i") ? findPrefix(line, `${lexeme.slice(0, -1)}y`) : place;
}

function findPrefix(line: string, stem: string): number {
  for (let at = line.indexOf(stem); at >= 0; at = line.indexOf(stem, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(line[at - 1] ?? "")) return at;
  }
  return -1;
}
