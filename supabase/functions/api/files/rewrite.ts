/**
 * Search and replace in a list of pieces, byte by byte (in UTF-8 a character never begins within another, so bytes are
 * enough). Pieces are processed in order, a match may span any number of them, and pieces without a match are kept.
 * The result is such a list again, so edits can follow one another.
 */
import { EDIT_LINES_REPORTED_MAX, EDIT_MATCH_UNITS, READ_AHEAD_SEGMENTS } from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import { Work } from "../runtime/work.ts";
import { ByteSearch } from "./byte_search.ts";
import { countNewlines, SegmentCutter } from "./segment.ts";

/** A part of a text: a stored segment, or up to SEGMENT_BYTES_MAX bytes that are not stored yet. */
export type Piece =
  | { readonly kind: "stored"; readonly segment: Segment }
  | { readonly kind: "new"; readonly bytes: Uint8Array };

export type LoadPiece = (piece: Piece) => Promise<Uint8Array>;

/**
 * Finds a well-formed, non-empty string. Holds a few pieces at a time; linear in the size of the text. `linesMax` is
 * the number of lines to report, for which line feeds must be counted.
 */
export async function countOccurrences(
  pieces: readonly Piece[],
  load: LoadPiece,
  oldString: string,
  work: Work = new Work(),
  linesMax: number = EDIT_LINES_REPORTED_MAX,
): Promise<Pick<Counter, "count" | "lines" | "touched">> {
  const counter = new Counter(pieces, oldString, linesMax);
  for await (const bytes of loadInOrder(pieces, load)) {
    for (let at = counter.advance(bytes, 0, work); at >= 0; at = counter.advance(bytes, at, work)) {
      await work.pause();
    }
    if (work.add(counter.endPiece(bytes))) await work.pause();
  }
  return counter;
}

/** Matches after which the work is counted. */
const MATCHES_COUNTED = 256;
/** Bytes that are copied in the time of one unit of work. */
const WRITTEN_BYTES_PER_UNIT = 2;

/** Counts occurrences piece by piece. */
class Counter {
  /** The number of occurrences, without overlaps, counted from the left. */
  count = 0;
  /** The lines in which the first occurrences begin, from 1, ascending. */
  readonly lines: number[] = [];
  /** For each piece, whether it contains an occurrence or a part of one. */
  readonly touched: boolean[];
  readonly #search: ByteSearch;
  readonly #newlinesOfMatch: number;
  /** The index of the current piece. */
  #index = 0;
  #newlinesBefore = 0;
  /** The offset in the current piece up to which line feeds are counted, and their number. */
  #countedTo = 0;
  #newlines = 0;

  constructor(
    private readonly pieces: readonly Piece[],
    oldString: string,
    private readonly linesMax: number,
  ) {
    this.#search = new ByteSearch(new TextEncoder().encode(oldString));
    this.#newlinesOfMatch = countNewlines(this.#search.pattern);
    this.touched = pieces.map(() => false);
  }

  /** Continues with the piece at `from`. Returns where it stopped because the slice is over, or -1 at the piece's end. */
  advance(bytes: Uint8Array, from: number, work: Work): number {
    const search = this.#search;
    let matches = 0;
    for (let end = search.next(bytes, from); end >= 0; end = search.next(bytes, end)) {
      this.count++;
      touch(this.touched, this.pieces, this.#index, search.pattern.length - end);
      if (this.lines.length < this.linesMax) this.#addLine(bytes, end);
      if (++matches < MATCHES_COUNTED) continue;
      matches = 0;
      if (work.add(search.takeSteps() + MATCHES_COUNTED * EDIT_MATCH_UNITS)) return end;
    }
    return -1;
  }

  #addLine(bytes: Uint8Array, end: number): void {
    this.#newlines += countNewlines(bytes, this.#countedTo, end);
    this.#countedTo = end;
    // The match may begin in an earlier piece, but it contains the same number of line feeds as the string.
    this.lines.push(1 + this.#newlinesBefore + this.#newlines - this.#newlinesOfMatch);
  }

  /** Moves to the next piece. Returns the units of work that were not counted yet. */
  endPiece(bytes: Uint8Array): number {
    const piece = this.pieces[this.#index++];
    let units = this.#search.takeSteps();
    if (piece?.kind === "stored") {
      this.#newlinesBefore += piece.segment.newlines;
    } else if (this.lines.length < this.linesMax) {
      this.#newlinesBefore += countNewlines(bytes);
      units += bytes.length;
    }
    this.#countedTo = 0;
    this.#newlines = 0;
    return units;
  }
}

/**
 * Yields the text with every occurrence replaced; `newString` is literal. Yields untouched pieces without
 * loading them, and a run of touched pieces as new pieces, none empty, cut like any new content. `touched` is the
 * result of `countOccurrences` for the same pieces and string. Holds a few pieces at a time.
 */
export async function* rewrite(
  pieces: readonly Piece[],
  load: LoadPiece,
  oldString: string,
  newString: string,
  touched: readonly boolean[],
  work: Work = new Work(),
): AsyncGenerator<Piece> {
  const loaded = loadInOrder(pieces.filter((_, index) => touched[index]), load);
  let run: RunRewriter | null = null;
  for (const [index, piece] of pieces.entries()) {
    if (touched[index]) {
      run ??= new RunRewriter(oldString, newString);
      const { value } = await loaded.next();
      if (value) { for await (const bytes of run.push(value, work)) yield newPiece(bytes); }
    } else {
      if (run) yield* run.finish().map(newPiece);
      run = null;
      if (sizeOf(piece) > 0) yield piece;
    }
  }
  if (run) yield* run.finish().map(newPiece);
}

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
  readonly #cutter = new SegmentCutter();
  readonly #finished: Uint8Array[] = [];
  /** The number of bytes before the current piece that may begin a match and are not written yet. */
  #held = 0;
  /** Units of work since they were last counted: bytes written, and matches. */
  #units = 0;

  constructor(oldString: string, newString: string) {
    this.#search = new ByteSearch(new TextEncoder().encode(oldString));
    this.#newBytes = new TextEncoder().encode(newString);
  }

  /** Takes the next piece; yields the new pieces as they are finished. */
  async *push(bytes: Uint8Array, work: Work): AsyncGenerator<Uint8Array, void, void> {
    for (let at = 0; at >= 0;) {
      at = this.#replace(bytes, at);
      yield* this.#finished.splice(0);
      if (work.add(this.#takeUnits())) await work.pause();
    }
  }

  /** Continues at `from`, after a match. Returns where it stopped to have its work counted, or -1 at the piece's end. */
  #replace(bytes: Uint8Array, from: number): number {
    let written = from;
    let end = this.#search.next(bytes, from);
    for (let matches = 1; end >= 0; matches++) {
      this.#keep(bytes, written, end - this.#search.pattern.length);
      this.#write(this.#newBytes, 0, this.#newBytes.length);
      this.#held = 0;
      written = end;
      this.#units += EDIT_MATCH_UNITS;
      if (matches >= MATCHES_COUNTED || this.#finished.length > 0) return end;
      end = this.#search.next(bytes, end);
    }
    this.#keep(bytes, written, bytes.length - this.#search.matched);
    this.#held = this.#search.matched;
    return -1;
  }

  /** Returns the last new pieces. */
  finish(): Uint8Array[] {
    this.#write(this.#search.pattern, 0, this.#held);
    return [...this.#finished.splice(0), ...this.#cutter.finish()];
  }

  /** Writes old text up to `to`, an offset in `bytes`; a negative offset is among the held bytes before it. */
  #keep(bytes: Uint8Array, from: number, to: number): void {
    this.#write(this.#search.pattern, 0, this.#held + Math.min(to, 0));
    this.#write(bytes, from, to);
  }

  #write(bytes: Uint8Array, from: number, to: number): void {
    if (from >= to) return;
    this.#units += Math.floor((to - from) / WRITTEN_BYTES_PER_UNIT);
    for (const piece of this.#cutter.push(bytes, from, to)) this.#finished.push(piece);
  }

  #takeUnits(): number {
    const units = this.#search.takeSteps() + this.#units;
    this.#units = 0;
    return units;
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
      // Avoids an unhandled rejection where the consumer stops early; otherwise the error is thrown at its place.
      bytes.catch(() => {});
      ahead.push(bytes);
    }
    const bytes = await ahead.shift();
    if (bytes) yield bytes;
  }
  return undefined;
}
