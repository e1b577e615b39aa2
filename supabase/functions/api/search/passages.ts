/** The lines of a file that contain most of a query's words. */
import { SEARCH_PASSAGES_PER_FILE_MAX } from "../limits.ts";
import type { Work } from "../runtime/work.ts";
import { endOfLine, type MatchingLine } from "./matching_lines.ts";

/** Units of work for each line, for each stem searched in it, and for each occurrence of a stem within a word. */
const LINE_UNITS = 64;
const STEM_UNITS = 16;
const PLACE_UNITS = 16;
/** Code units that the engine searches for a stem in the time of one unit of work. */
const NATIVE_LENGTH_PER_UNIT = 4;
/** After this many occurrences of a stem within words, the rest of the line is not searched for it. */
const PLACES_MAX = 1_000;

/**
 * Returns the best lines, in order of line. `lexemes` are the stems of the query's words, as the database derives them.
 * Where `work` is used up before the end of the text, it returns the best lines so far.
 */
export async function findPassages(
  text: string,
  lexemes: readonly string[],
  work: Work,
): Promise<MatchingLine[]> {
  /** With the number of stems that each contains. */
  let best: { place: MatchingLine; words: number }[] = [];
  let line = 1;
  for (let from = 0; from < text.length; line++) {
    const to = endOfLine(text, from);
    if (work.exceedsWith(LINE_UNITS + to - from + lexemes.length * (STEM_UNITS + to - from))) break;
    if (work.add(LINE_UNITS + to - from)) await work.pause();
    const words = await wordsIn(text.slice(from, to).toLowerCase(), lexemes, work);
    if (words.count > 0) {
      best.push({ place: { line, from, to, at: from + words.at }, words: words.count });
      best = best.sort((a, b) => b.words - a.words).slice(0, SEARCH_PASSAGES_PER_FILE_MAX);
    }
    from = to + 1;
  }
  return best.map(({ place }) => place).sort((a, b) => a.line - b.line);
}

/** How many of the stems a line contains, and where the first word with such a stem begins. */
async function wordsIn(
  line: string,
  lexemes: readonly string[],
  work: Work,
): Promise<{ count: number; at: number }> {
  let count = 0;
  let first = line.length;
  for (const lexeme of lexemes) {
    const { at, places } = findStem(line, lexeme);
    const units = STEM_UNITS + line.length / NATIVE_LENGTH_PER_UNIT + places * PLACE_UNITS;
    if (!work.exceedsWith(units) && work.add(units)) await work.pause();
    if (at < 0) continue;
    count++;
    first = Math.min(first, at);
  }
  return { count, at: first };
}

/**
 * Where the first word with a stem begins, or -1, and at how many places the stem was found within words. A stem is a
 * prefix of its words, except that a final y became an i: `studi` of `study`.
 */
function findStem(line: string, lexeme: string) {
  const found = findPrefix(line, lexeme);
  if (found.at >= 0 || !lexeme.endsWith("i")) return found;
  const other = findPrefix(line, `${lexeme.slice(0, -1)}y`);
  return { at: other.at, places: found.places + other.places };
}

function findPrefix(line: string, stem: string) {
  let places = 0;
  for (let at = line.indexOf(stem); at >= 0 && places < PLACES_MAX; at = line.indexOf(stem, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(line[at - 1] ?? "")) return { at, places };
    places++;
  }
  return { at: -1, places };
}
