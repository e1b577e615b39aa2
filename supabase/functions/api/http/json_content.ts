/**
 * The answer to a read as JSON text, made around the segments as they come: the whole content is never in memory.
 * Equal to `JSON.stringify` of the whole answer.
 */
import { Base64Stream } from "./base64.ts";

export interface ReadAnswer {
  /** The record's fields, in order; `content` follows them. */
  readonly record: Readonly<Record<string, unknown>>;
  /** The content in order. Each piece is UTF-8 by itself, unless `isBase64`. */
  readonly segments: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Send the content as base64 and say so with `isBase64: true`. */
  readonly isBase64: boolean;
  readonly operation: string;
  readonly message: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX_DIGITS = new TextEncoder().encode("0123456789abcdef");
/** The letter after the backslash, where JSON has a short escape. */
const SHORT_ESCAPES = new Uint8Array(256);
for (
  const [byte, letter] of [[8, "b"], [9, "t"], [10, "n"], [12, "f"], [13, "r"], [34, '"'], [
    92,
    "\\",
  ]] as const
) {
  SHORT_ESCAPES[byte] = letter.charCodeAt(0);
}
/** Bytes that each byte takes in a JSON string. */
const ESCAPED_LENGTHS = Uint8Array.from(
  { length: 256 },
  (_, byte) => (SHORT_ESCAPES[byte] ?? 0) > 0 ? 2 : byte < 0x20 ? 6 : 1,
);

/** The envelope of a read, in UTF-8, a piece for every segment. Fails where `segments` fails. */
export async function* jsonContent(answer: ReadAnswer): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const fields = JSON.stringify(answer.record).slice(1, -1);
  yield encoder.encode(`{"success":true,"data":{${fields}${fields === "" ? "" : ","}"content":"`);
  if (answer.isBase64) {
    const base64 = new Base64Stream();
    for await (const segment of answer.segments) yield base64.push(segment);
    yield base64.finish();
  } else {
    for await (const segment of answer.segments) yield escapeJson(segment);
  }
  const { operation, message } = answer;
  const end = JSON.stringify({ operation, message }).slice(1);
  yield encoder.encode(`"${answer.isBase64 ? ',"isBase64":true' : ""}},${end}`);
}

/** UTF-8 text as it stands within a JSON string, escaped as `JSON.stringify` does. The same bytes where none needs it. */
export function escapeJson(text: Uint8Array): Uint8Array {
  let length = 0;
  for (let index = 0; index < text.length; index++) length += ESCAPED_LENGTHS[text[index] ?? 0] ?? 1;
  if (length === text.length) return text;
  const escaped = new Uint8Array(length);
  let into = 0;
  for (let index = 0; index < text.length; index++) {
    const byte = text[index] ?? 0;
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) {
      escaped[into++] = byte;
    } else {
      into = writeEscape(escaped, into, byte);
    }
  }
  return escaped;
}

/** Writes the escape of an ASCII byte; answers the place after it. */
function writeEscape(escaped: Uint8Array, at: number, byte: number): number {
  const letter = SHORT_ESCAPES[byte] ?? 0;
  escaped[at] = BACKSLASH;
  if (letter > 0) {
    escaped[at + 1] = letter;
    return at + 2;
  }
  escaped[at + 1] = 0x75;
  escaped[at + 2] = 0x30;
  escaped[at + 3] = 0x30;
  escaped[at + 4] = 0x30 + (byte >> 4);
  escaped[at + 5] = HEX_DIGITS[byte & 15] ?? 0;
  return at + 6;
}
