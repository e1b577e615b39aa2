/** Splits a text into chunks for embedding: whole lines where possible, otherwise overlapping parts of a long line. */
import { SEARCH_CHUNK_LENGTH, SEARCH_CHUNK_OVERLAP } from "../limits.ts";
import { isSecondHalf } from "../runtime/surrogates.ts";

export interface Chunk {
  /** From 1. */
  readonly firstLine: number;
  /** In code points, as the database counts characters. */
  readonly start: number;
  readonly length: number;
}

/** The chunks of a text, in order, without blank ones. Takes time linear in the text for lines of any length. */
export function splitChunks(text: string): Chunk[] {
  const chunks: Chunk[] = [];
  let line = 1;
  let start = 0;
  for (let from = 0; from < text.length;) {
    const chunk = chunkAt(text, from);
    const length = countCharacters(chunk);
    if (chunk.trim() !== "") chunks.push({ firstLine: line, start, length });
    const to = from + chunk.length;
    const isCutLine = to < text.length && !chunk.endsWith("\n");
    const next = isCutLine ? atCharacter(text, to - SEARCH_CHUNK_OVERLAP) : to;
    start += isCutLine ? countCharacters(text.slice(from, next)) : length;
    if (!isCutLine) line += chunk.split("\n").length - 1;
    from = next;
  }
  return chunks;
}

/** The text up to the last line feed within SEARCH_CHUNK_LENGTH, or that length of a longer line. */
function chunkAt(text: string, from: number): string {
  const to = atCharacter(text, from + SEARCH_CHUNK_LENGTH);
  // Only this part is searched for a line feed. Searching the whole text would scan a long line once for each chunk.
  const longest = text.slice(from, to);
  const feed = to < text.length ? longest.lastIndexOf("\n") : -1;
  return feed < 0 ? longest : longest.slice(0, feed + 1);
}

/** The offset, or the one before it where it would split a surrogate pair. */
function atCharacter(text: string, place: number): number {
  return isSecondHalf(text, place) ? place - 1 : place;
}

function countCharacters(text: string): number {
  return text.length - (text.match(/[\udc00-\udfff]/g)?.length ?? 0);
}
