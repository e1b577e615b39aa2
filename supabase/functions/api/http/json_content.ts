/**
 * The response to a read as JSON text, produced while the segments are read, so that the whole content is never in
 * memory. It equals `JSON.stringify` of the whole response.
 */
import { Buffer } from "node:buffer";
import { concatenate } from "../runtime/bytes.ts";
import { ENCODED_AT_ONCE_BYTES } from "../limits.ts";

export interface ReadAnswer {
  /** The record's fields, in order; `content` follows them. */
  readonly record: Readonly<Record<string, unknown>>;
  /** The content in order. Each piece is UTF-8 by itself, unless `isBase64`. */
  readonly segments: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Send the content as base64, with `isBase64: true`. */
  readonly isBase64: boolean;
  /** Called with each segment once it is encoded, unless a yielded piece is a view of it. */
  readonly free?: (segment: Uint8Array) => void;
  readonly operation: string;
  readonly message: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX_DIGITS = new TextEncoder().encode("0123456789abcdef");
/** By byte: the letter after the backslash, where JSON has a short escape. */
const SHORT_ESCAPES = new Uint8Array(256);
for (const [index, character] of [...'\b\t\n\f\r"\\'].entries()) {
  SHORT_ESCAPES[character.charCodeAt(0)] = 'btnfr"\\'.charCodeAt(index);
}
/** By byte: its length in a JSON string. */
const ESCAPED_LENGTHS = Uint8Array.from(
  { length: 256 },
  (_, byte) => (SHORT_ESCAPES[byte] ?? 0) > 0 ? 2 : byte < 0x20 ? 6 : 1,
);

/**
 * The envelope of a read, in UTF-8, in pieces with at most ENCODED_AT_ONCE_BYTES of content. The opening is part of the
 * first piece, so the consumer of that piece knows that the content can be read. Throws what `segments` throws.
 */
export async function* jsonContent(answer: ReadAnswer): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  const fields = JSON.stringify(answer.record).slice(1, -1);
  let opening: Uint8Array | null = encoder.encode(
    `{"success":true,"data":{${fields}${fields === "" ? "" : ","}"content":"`,
  );
  for await (const piece of encodeContent(answer)) {
    yield opening ? concatenate([opening, piece]) : piece;
    opening = null;
  }
  const { operation, message } = answer;
  const end = JSON.stringify({ operation, message }).slice(1);
  const closing = encoder.encode(`"${answer.isBase64 ? ',"isBase64":true' : ""}},${end}`);
  yield opening ? concatenate([opening, closing]) : closing;
}

async function* encodeContent(
  { segments, isBase64, free }: ReadAnswer,
): AsyncGenerator<Uint8Array, void, void> {
  const base64 = isBase64 ? new Base64Stream() : null;
  for await (const segment of segments) {
    let isSeen = false;
    for (let from = 0; from < segment.length; from += ENCODED_AT_ONCE_BYTES) {
      const part = segment.subarray(from, from + ENCODED_AT_ONCE_BYTES);
      const encoded = base64 ? base64.push(part) : escapeJson(part);
      isSeen ||= encoded === part;
      yield encoded;
    }
    if (!isSeen) free?.(segment);
  }
  if (base64) yield base64.finish();
}

/** UTF-8 text escaped for a JSON string as `JSON.stringify` does. Returns the same array if nothing needs escaping. */
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

/** Writes the escape of an ASCII byte; returns the index after it. */
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

/** Base64 (RFC 4648 section 4) of the bytes, padded, as ASCII. `btoa` took 15 times as long. */
export function encodeBase64(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = bytes;
  return new TextEncoder().encode(Buffer.from(buffer, byteOffset, length).toString("base64"));
}

/** Encodes bytes that arrive in chunks; the results joined are the base64 of the chunks joined. */
export class Base64Stream {
  #carried = new Uint8Array(0);

  push(bytes: Uint8Array): Uint8Array {
    const all = this.#carried.length === 0 ? bytes : concatenate([this.#carried, bytes]);
    const whole = all.length - all.length % 3;
    this.#carried = all.slice(whole);
    return encodeBase64(all.subarray(0, whole));
  }

  /** The remaining bytes, with padding. */
  finish(): Uint8Array {
    return encodeBase64(this.#carried);
  }
}
