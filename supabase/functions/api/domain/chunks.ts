/** Cutting a text into pieces to be embedded: whole lines where that goes, else parts of a long line that overlap. */
import { SEARCH_CHUNK_LENGTH, SEARCH_CHUNK_OVERLAP } from "../limits.ts";

export interface Chunk {
  /** From 1. */
  readonly firstLine: number;
  /** In characters (code points) of the text, as the database counts. */
  readonly start: number;
  readonly length: number;
}

/** The chunks of a text, in order. Together they hold all of it but blank chunks. */
export function chunksOf(text: string): Chunk[] {
  const chunks: Chunk[] = [];
  let characters = 0;
  let counted = 0;
  const charactersTo = (place: number) => {
    characters += countCharacters(text, counted, place);
    counted = place;
    return characters;
  };
  let line = 1;
  for (let from = 0; from < text.length;) {
    const to = endOfChunk(text, from);
    const start = charactersTo(from);
    const length = countCharacters(text, from, to);
    if (text.slice(from, to).trim() !== "") chunks.push({ firstLine: line, start, length });
    const isCutLine = to < text.length && text[to - 1] !== "\n";
    const next = isCutLine ? atCharacter(text, to - SEARCH_CHUNK_OVERLAP) : to;
    line += newlines(text, from, next);
    from = next;
  }
  return chunks;
}

/** The last line end that is not too far; in a line that is too long itself, as far as a chunk goes. */
function endOfChunk(text: string, from: number): number {
  const most = from + SEARCH_CHUNK_LENGTH;
  if (most >= text.length) return text.length;
  const feed = text.lastIndexOf("\n", most - 1);
  return feed >= from ? feed + 1 : atCharacter(text, most);
}

/** Not between the halves of a character. */
function atCharacter(text: string, place: number): number {
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff ? place - 1 : place;
}

function countCharacters(text: string, from: number, to: number): number {
  let count = to - from;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0xdc00 && code <= 0xdfff) count--;
  }
  return count;
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
