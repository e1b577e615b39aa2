/** Cutting a text into pieces to be embedded: whole lines where that goes, else parts of a long line that overlap. */
import { SEARCH_CHUNK_LENGTH, SEARCH_CHUNK_OVERLAP } from "../limits.ts";

export interface Chunk {
  /** From 1. */
  readonly firstLine: number;
  /** In characters (code points) of the text, as the database counts. */
  readonly start: number;
  readonly length: number;
}

/** The chunks of a text, in order. Together they hold all of it but blank chunks. Linear, however long its lines are. */
export function chunksOf(text: string): Chunk[] {
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
    if (!isCutLine) line += countNewlines(chunk);
    from = next;
  }
  return chunks;
}

/** To the last line end that is not too far; in a line that is too long itself, as far as a chunk goes. */
function chunkAt(text: string, from: number): string {
  const to = atCharacter(text, from + SEARCH_CHUNK_LENGTH);
  // Looked for in this part alone: in the whole text it would be looked for in all of a long line, for each chunk of it.
  const longest = text.slice(from, to);
  const feed = to < text.length ? longest.lastIndexOf("\n") : -1;
  return feed < 0 ? longest : longest.slice(0, feed + 1);
}

/** Not between the halves of a character. */
function atCharacter(text: string, place: number): number {
  return isSecondHalf(text.charCodeAt(place)) ? place - 1 : place;
}

function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

function countCharacters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) {
    if (isSecondHalf(text.charCodeAt(at))) count--;
  }
  return count;
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
