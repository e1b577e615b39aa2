/**
 * Differences that keep a copied string from matching its original. For each there is a function that makes two texts
 * equal that have only this difference. It works on UTF-8 bytes, in one pass, and never lengthens the text.
 */

/** The values of `details.differsOnlyBy`. */
export type Difference = "lineEndings" | "whitespace" | "case" | "escaping";

/** The differences in the order in which they are tried, the narrowest first. */
export const DIFFERENCES: readonly (readonly [Difference, (text: Uint8Array) => Uint8Array])[] = [
  ["lineEndings", normalizeLineEndings],
  ["whitespace", dropWhitespace],
  ["case", lowerCase],
  ["escaping", unescape],
];

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;

/** By the character after `\`: the character that the escape stands for. A backslash before other characters is dropped. */
const BACKSLASH_ESCAPES: ReadonlyMap<number, number> = new Map([[0x6e, LINE_FEED], [0x72, CARRIAGE_RETURN], [
  0x74,
  TAB,
]]);
const ENTITIES = [["lt;", "<"], ["gt;", ">"], ["amp;", "&"], ["quot;", '"'], ["apos;", "'"], ["#39;", "'"]]
  .map(
    ([rest = "", character = ""]) => ({
      rest: new TextEncoder().encode(rest),
      byte: character.charCodeAt(0),
    }),
  );

/** CR LF and CR alone become LF. */
function normalizeLineEndings(text: Uint8Array): Uint8Array {
  const normalized = new Uint8Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (byte === CARRIAGE_RETURN && text[at + 1] === LINE_FEED) continue;
    normalized[length++] = byte === CARRIAGE_RETURN ? LINE_FEED : byte;
  }
  return normalized.subarray(0, length);
}

/** The text without ASCII white space and no-break spaces (U+00A0). */
function dropWhitespace(text: Uint8Array): Uint8Array {
  const normalized = new Uint8Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (byte === SPACE || (byte >= TAB && byte <= CARRIAGE_RETURN)) continue;
    if (byte === 0xc2 && text[at + 1] === 0xa0) at++;
    else normalized[length++] = byte;
  }
  return normalized.subarray(0, length);
}

function lowerCase(text: Uint8Array): Uint8Array {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return new TextEncoder().encode(decoder.decode(text).toLowerCase());
}

/** Replaces HTML entities and backslash escapes, even repeated ones, by the characters that they stand for. */
function unescape(text: Uint8Array): Uint8Array {
  const normalized = new Uint8Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    let byte = text[at] ?? 0;
    if (byte === BACKSLASH) {
      while (text[at] === BACKSLASH) at++;
      if (at === text.length) break;
      byte = text[at] ?? 0;
      byte = BACKSLASH_ESCAPES.get(byte) ?? byte;
    } else if (byte === AMPERSAND) {
      const entity = entityAt(text, at + 1);
      if (entity) {
        byte = entity.byte;
        at += entity.rest.length;
      }
    }
    normalized[length++] = byte;
  }
  return normalized.subarray(0, length);
}

/** The entity whose part after the ampersand is at `from`. */
function entityAt(text: Uint8Array, from: number): (typeof ENTITIES)[number] | null {
  for (const entity of ENTITIES) {
    const { rest } = entity;
    let same = 0;
    while (same < rest.length && text[from + same] === rest[same]) same++;
    if (same === rest.length) return entity;
  }
  return null;
}
