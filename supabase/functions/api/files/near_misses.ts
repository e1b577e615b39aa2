/**
 * Help for a client whose `oldString` does not occur: the most similar lines, and the kind of difference that alone
 * keeps it from matching. Each check is a single pass over bytes, so hostile text costs no more than other text.
 */
import {
  EDIT_NEAREST_COMPARED_BYTES,
  EDIT_NEAREST_MAX,
  EDIT_NEAREST_SCAN_BYTES_MAX,
  EDIT_NEAREST_SIMILARITY_MIN,
  EDIT_NEAREST_TEXT_LENGTH_MAX,
} from "../limits.ts";
import { ByteSearch } from "./byte_search.ts";
import type { LoadPiece, Piece } from "./rewrite.ts";
import { cutAtCharacter } from "./segment.ts";
import { Work } from "../runtime/work.ts";

/** The values of `details.differsOnlyBy`. */
type Difference = "lineEndings" | "whitespace" | "case" | "escaping";

/**
 * Differences that keep a copied string from matching its original, the narrowest first, each with a function whose
 * results are equal for two texts that have only this difference.
 */
const DIFFERENCES: readonly (readonly [Difference, (text: string) => string])[] = [
  ["lineEndings", (text) => text.replaceAll(/\r\n?/g, "\n")],
  ["whitespace", (text) => text.replaceAll(/[\t-\r \u00a0]+/g, "")],
  ["case", (text) => text.toLowerCase()],
  ["escaping", unescape],
];

const ENTITIES = { lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", amp: "&" };

/** The characters for HTML entities and backslash escapes, repeated ones included; linear in any text. */
function unescape(text: string): string {
  const plain = text.replaceAll(/\\+/g, "\\").replaceAll("\\n", "\n").replaceAll("\\r", "\r")
    .replaceAll("\\t", "\t").replaceAll("\\", "");
  return Object.entries(ENTITIES).reduce(
    (rest, [name, character]) => rest.replaceAll(`&${name};`, character),
    plain,
  );
}

interface Candidate {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  readonly similarity: number;
  /** Difference to the wanted length, in bytes. */
  readonly lengthDifference: number;
  /** The offset at which the similar part ends. */
  readonly similarEnd: number;
}

const LINE_FEED = 0x0a;
/** The longest character, in bytes of UTF-8. */
const CHARACTER_BYTES_MAX = 4;
/** Units of work for each byte that is compared by trigrams, and for each that is normalized and searched. */
const NEAREST_UNITS_PER_BYTE = 3;
const NORMALIZED_UNITS_PER_BYTE = 2;
/** Trigrams are hashed to 16 bits. */
const HASHES = 65536;

/**
 * Scans the first EDIT_NEAREST_SCAN_BYTES_MAX bytes of a text in which the string does not occur. `nearest`: the lines
 * most similar to the string's first line that is not blank, the best first; excerpts of long lines. `differsOnlyBy`:
 * the first kind of difference that alone keeps the string from matching; null: none.
 */
export async function nearMisses(pieces: readonly Piece[], load: LoadPiece, oldString: string) {
  const text = await readBeginning(pieces, load);
  // The scan is bounded already, so the work only counts slices.
  const work = new Work();
  if (work.add(NEAREST_UNITS_PER_BYTE * text.length)) await work.pause();
  const line = oldString.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  const nearest = nearestLines(text, new TextEncoder().encode(line.trim())).map((candidate) => ({
    line: candidate.line,
    text: excerpt(text, candidate),
  }));
  return { nearest, differsOnlyBy: await findDifference(text, oldString, work) };
}

async function readBeginning(pieces: readonly Piece[], load: LoadPiece): Promise<Uint8Array> {
  const text = new Uint8Array(EDIT_NEAREST_SCAN_BYTES_MAX);
  let length = 0;
  for (const piece of pieces) {
    const bytes = await load(piece);
    const end = cutAtCharacter(bytes, text.length - length);
    text.set(bytes.subarray(0, end), length);
    length += end;
    if (end < bytes.length || text.length - length < CHARACTER_BYTES_MAX) break;
  }
  return text.subarray(0, length);
}

async function findDifference(text: Uint8Array, old: string, work: Work): Promise<Difference | null> {
  const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(text);
  for (const [name, normalize] of DIFFERENCES) {
    if (work.add(NORMALIZED_UNITS_PER_BYTE * text.length)) await work.pause();
    const [pattern, searched] = [old, whole].map((one) => new TextEncoder().encode(normalize(one)));
    if (pattern && searched && pattern.length > 0 && new ByteSearch(pattern).next(searched, 0) >= 0) {
      return name;
    }
  }
  return null;
}

/**
 * Similarity is Dice's coefficient of byte trigrams, ignoring white space and ASCII case. In a long line, only its best
 * part of the wanted line's length counts.
 */
function nearestLines(text: Uint8Array, wanted: Uint8Array): Candidate[] {
  const isWanted = new Uint8Array(HASHES);
  let wantedLength = 0;
  for (let at = 0, gram = 0; at < wanted.length && wantedLength < EDIT_NEAREST_COMPARED_BYTES; at++) {
    const byte = significant(wanted[at] ?? 0);
    if (byte === 0) continue;
    gram = (gram << 8 | byte) & 0xffffff;
    isWanted[hash(gram)] = 1;
    wantedLength++;
  }
  if (wantedLength === 0) return [];

  const best: Candidate[] = [];
  /** For the latest `wantedLength` trigrams of the line, whether each is wanted. */
  const recent = new Uint8Array(wantedLength);
  let line = 1;
  for (let from = 0; from < text.length; line++) {
    let at = from, gram = 0, length = 0, slot = 0, hits = 0, mostHits = 0, similarEnd = from;
    for (; at < text.length && text[at] !== LINE_FEED; at++) {
      const byte = significant(text[at] ?? 0);
      if (byte === 0) continue;
      gram = (gram << 8 | byte) & 0xffffff;
      const hit = isWanted[hash(gram)] ?? 0;
      hits += hit - (length < wantedLength ? 0 : recent[slot] ?? 0);
      recent[slot] = hit;
      if (++slot === wantedLength) slot = 0;
      length++;
      if (hits > mostHits) {
        mostHits = hits;
        similarEnd = at + 1;
      }
    }
    const similarity = 2 * mostHits / (wantedLength + Math.min(length, wantedLength));
    if (similarity >= EDIT_NEAREST_SIMILARITY_MIN) {
      const lengthDifference = Math.abs(length - wantedLength);
      best.push({ line, from, to: at, similarity, lengthDifference, similarEnd });
      // A stable sort: among equal candidates the earlier line comes first.
      best.sort((a, b) => b.similarity - a.similarity || a.lengthDifference - b.lengthDifference);
      best.splice(EDIT_NEAREST_MAX);
    }
    from = at + 1;
  }
  return best;
}

/** The byte in lower case, or 0 for a byte that is ignored. */
function significant(byte: number): number {
  if (byte <= 0x20) return 0;
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

function hash(gram: number): number {
  return Math.imul(gram, 0x9e3779b1) >>> 16;
}

/** The line, or the part of it around the similar bytes. */
function excerpt(text: Uint8Array, { from, to, similarEnd }: Candidate): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const length = EDIT_NEAREST_TEXT_LENGTH_MAX;
  let start = to - from <= length ? from : Math.max(from, Math.min(similarEnd - (length >> 1), to - length));
  // The excerpt must not begin in the middle of a character.
  while (start > from && start < to && ((text[start] ?? 0) & 0xc0) === 0x80) start--;
  const line = text.subarray(start, to);
  // A UTF-16 code unit takes at most three bytes of UTF-8.
  const shown = decoder.decode(line.subarray(0, cutAtCharacter(line, 3 * length))).slice(0, length);
  return shown.isWellFormed() ? shown : shown.slice(0, -1);
}
