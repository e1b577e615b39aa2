/**
 * Search and replace in a list of pieces, byte by byte (in UTF-8 a character never begins within another, so bytes are
 * enough). Pieces are processed in order, a match may span any number of them, and pieces without a match are kept.
 * The result is such a list again, so edits can follow one another.
 */
import { EDIT_LINES_REPORTED_MAX, READ_AHEAD_SEGMENTS } from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import { ByteSearch } from "./byte_search.ts";
import { SegmentCutter } from "./segment.ts";
import { countNewlines } from "../runtime/utf8.ts";

/** A part of a text: a stored segment, or up to SEGMENT_BYTES_MAX bytes that are not stored yet. */
export type Piece =
  | { readonly kind: "stored"; readonly segment: Segment }
  | { readonly kind: "new"; readonly bytes: Uint8Array };

/** Returns the bytes of a piece. */
export type LoadPiece = (piece: Piece) => Promise<Uint8Array>;

export interface Occurrences {
  /** How often the string occurs, without overlaps, from the left. */
  readonly count: number;
  /** The lines in which the first EDIT_LINES_REPORTED_MAX of them begin, from 1, ascending. */
  readonly lines: readonly number[];
  /** For each piece, whether it contains an occurrence or a part of one. */
  readonly touched: readonly boolean[];
}

/** Which occurrences are replaced. */
export type Which = "first" | "all";

/** Finds a well-formed, non-empty string. Holds a few pieces at a time; linear in the size of the text. */
export async function countOccurrences(
  pieces: readonly Piece[],
  load: LoadPiece,
  oldString: string,
): Promise<Occurrences> {
  const search = new ByteSearch(new TextEncoder().encode(oldString));
  const newlinesOfMatch = countNewlines(search.pattern);
  const touched = pieces.map(() => false);
  const lines: number[] = [];
  let count = 0;
  let newlinesBefore = 0;
  let index = 0;
  for await (const bytes of loadInOrder(pieces, load)) {
    let line = 1 + newlinesBefore;
    let counted = 0;
    for (let end = search.next(bytes, 0); end >= 0; end = search.next(bytes, end)) {
      count++;
      touch(touched, pieces, index, search.pattern.length - end);
      if (lines.length === EDIT_LINES_REPORTED_MAX) continue;
      line += countNewlines(bytes, counted, end);
      counted = end;
      // The match may begin in an earlier piece, but it has as many line feeds as the string.
      lines.push(line - newlinesOfMatch);
    }
    const piece = pieces[index++];
    newlinesBefore += piece?.kind === "stored" ? piece.segment.newlines : countNewlines(bytes);
  }
  return { count, lines, touched };
}

/**
 * Yields the text with the first or every occurrence replaced; `newString` is literal. Untouched pieces are yielded
 * unchanged and never loaded; a run of touched ones is yielded as new pieces, none empty, cut like any new content.
 * `touched` is what `countOccurrences` returned for the same pieces and string. Streams: holds a few pieces at a time.
 */
export async function* rewrite(
  pieces: readonly Piece[],
  load: LoadPiece,
  oldString: string,
  newString: string,
  which: Which,
  touched?: readonly boolean[],
): AsyncGenerator<Piece> {
  const isTouched = touched ?? (await countOccurrences(pieces, load, oldString)).touched;
  const loaded = loadInOrder(pieces.filter((_, index) => isTouched[index]), load);
  let run: RunRewriter | null = null;
  let isDone = false;
  for (const [index, piece] of pieces.entries()) {
    if (isTouched[index] && !isDone) {
      run ??= new RunRewriter(oldString, newString, which);
      const { value } = await loaded.next();
      if (value) yield* run.push(value).map(newPiece);
      isDone = run.isDone;
    } else {
      if (run) yield* run.finish().map(newPiece);
      run = null;
      if (sizeOf(piece) > 0) yield piece;
    }
  }
  if (run) yield* run.finish().map(newPiece);
}

/** Bytes of a piece. */
export function sizeOf(piece: Piece): number {
  return piece.kind === "stored" ? piece.segment.size : piece.bytes.length;
}

function newPiece(bytes: Uint8Array): Piece {
  return { kind: "new", bytes };
}

/** Marks the piece at `index`, and those before it that contain the `bytesBefore` bytes preceding it. */
function touch(touched: boolean[], pieces: readonly Piece[], index: number, bytesBefore: number): void {
  touched[index] = true;
  let rest = bytesBefore;
  for (let before = index - 1; rest > 0 && before >= 0; before--) {
    const piece = pieces[before];
    touched[before] = true;
    rest -= piece ? sizeOf(piece) : 0;
  }
}

/** Replaces within a run of adjacent touched pieces. */
class RunRewriter {
  readonly #search: ByteSearch;
  readonly #newBytes: Uint8Array;
  readonly #isFirstOnly: boolean;
  readonly #cutter = new SegmentCutter();
  readonly #finished: Uint8Array[] = [];
  /** Bytes before the current piece that may begin a match: not written yet, equal to a prefix of the pattern. */
  #held = 0;
  /** Whether all requested occurrences are replaced. */
  isDone = false;

  constructor(oldString: string, newString: string, which: Which) {
    this.#search = new ByteSearch(new TextEncoder().encode(oldString));
    this.#newBytes = new TextEncoder().encode(newString);
    this.#isFirstOnly = which === "first";
  }

  /** Takes the next piece; returns the new pieces that are finished. */
  push(bytes: Uint8Array): Uint8Array[] {
    let written = 0;
    let end = this.isDone ? -1 : this.#search.next(bytes, 0);
    while (end >= 0) {
      this.#keep(bytes, written, end - this.#search.pattern.length);
      this.#write(this.#newBytes, 0, this.#newBytes.length);
      this.#held = 0;
      written = end;
      this.isDone = this.#isFirstOnly;
      end = this.isDone ? -1 : this.#search.next(bytes, end);
    }
    this.#keep(bytes, written, bytes.length - this.#search.matched);
    this.#held = this.#search.matched;
    return this.#finished.splice(0);
  }

  /** Returns the last new pieces. */
  finish(): Uint8Array[] {
    this.#write(this.#search.pattern, 0, this.#held);
    return [...this.#finished.splice(0), ...this.#cutter.finish()];
  }

  /** Writes old text up to `to`, an offset in `bytes`; negative: that far before it, among the held bytes. */
  #keep(bytes: Uint8Array, from: number, to: number): void {
    this.#write(this.#search.pattern, 0, this.#held + Math.min(to, 0));
    this.#write(bytes, from, to);
  }

  #write(bytes: Uint8Array, from: number, to: number): void {
    if (from < to) this.#finished.push(...this.#cutter.push(bytes, from, to));
  }
}

/** Yields the bytes of each piece, with a few loaded ahead. */
async function* loadInOrder(
  pieces: readonly Piece[],
  load: LoadPiece,
): AsyncGenerator<Uint8Array, undefined> {
  const ahead: Promise<Uint8Array>[] = [];
  for (let next = 0; next < pieces.length || ahead.length > 0;) {
    for (; ahead.length <= READ_AHEAD_SEGMENTS; next++) {
      const piece = pieces[next];
      if (!piece) break;
      const bytes = load(piece);
      // Avoids an unhandled rejection where the consumer stops early; otherwise it is rethrown in its turn.
      bytes.catch(() => {});
      ahead.push(bytes);
    }
    const bytes = await ahead.shift();
    if (bytes) yield bytes;
  }
  return undefined;
}
