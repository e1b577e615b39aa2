/** Parses long JSON strings (RFC 8259 section 7) while they arrive. */
import { fail } from "../errors.ts";
import { concatenate } from "../runtime/bytes.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Bytes of the longest escape, `\uXXXX`. */
const ESCAPE_BYTES_MAX = 6;
/** Parsed text is encoded in pieces of about this many UTF-16 code units. */
const PIECE_LENGTH = 65_536;

/** Parses a JSON string that arrives in chunks cut anywhere, as `JSON.parse` would. */
export class JsonStringParser {
  /** The text so far; a consumer may take the beginning of it. */
  text = "";
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The beginning of an escape that the chunk before ended with. */
  #escape = new Uint8Array(0);

  /**
   * Parses the bytes from `from`, which follow the opening quote. Returns the index after the closing quote, or -1 if
   * that has not arrived. Throws 400 `INVALID_JSON`.
   */
  push(bytes: Uint8Array, from: number): number {
    const held = this.#escape.length;
    const given = held === 0 ? bytes.subarray(from) : concatenate([this.#escape, bytes.subarray(from)]);
    const { end, escapeAt } = endOfString(given);
    const isEnd = end < given.length;
    const to = !isEnd && end - escapeAt < ESCAPE_BYTES_MAX ? escapeAt : end;
    this.#escape = given.slice(to, end);
    try {
      const json = this.#decoder.decode(given.subarray(0, to), { stream: !isEnd });
      this.text += String(JSON.parse(`"${json}"`));
    } catch {
      fail(
        "INVALID_JSON",
        "The body is not JSON: a string contains a control character or a bad escape, or is not UTF-8.",
      );
    }
    return isEnd ? from + end - held + 1 : -1;
  }
}

/** Where the string's closing quote is, or its bytes end; and where its latest escape begins. */
function endOfString(bytes: Uint8Array): { readonly end: number; readonly escapeAt: number } {
  let escapeAt = -ESCAPE_BYTES_MAX;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return { end: at, escapeAt };
    if (byte === BACKSLASH) escapeAt = at++;
  }
  return { end: bytes.length, escapeAt };
}

/** A JSON string, such as the `content` of a body, in UTF-8: it is never held as one JavaScript string. */
export class ContentText {
  /** Complete once `push` has found the string's end. Empty if it is longer than `maxLength`. */
  chunks: Uint8Array[] = [];
  /** The string's length in UTF-16 code units; known once `push` has found its end. */
  length = 0;
  /** False once an escape was a lone surrogate, which UTF-8 cannot represent and U+FFFD replaces. */
  isWellFormed = true;
  readonly #parser = new JsonStringParser();
  #storedBytes = 0;

  /** A string of more than `maxLength` UTF-16 code units is validated and measured, but not stored. */
  constructor(private readonly maxLength: number) {}

  get heldBytes(): number {
    return this.#storedBytes + this.#parser.text.length;
  }

  /** Like `JsonStringParser.push`. */
  push(bytes: Uint8Array, from: number): number {
    const end = this.#parser.push(bytes, from);
    if (end >= 0 || this.#parser.text.length >= PIECE_LENGTH) this.#store(end >= 0);
    return end;
  }

  #store(isEnd: boolean): void {
    const { text } = this.#parser;
    // A pair of surrogates may be cut between its halves.
    const isCut = !isEnd && (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;
    const piece = isCut ? text.slice(0, -1) : text;
    this.#parser.text = text.slice(piece.length);
    this.length += piece.length;
    this.isWellFormed &&= piece.isWellFormed();
    if (this.length > this.maxLength) {
      this.chunks = [];
      this.#storedBytes = 0;
      return;
    }
    const chunk = new TextEncoder().encode(piece);
    if (chunk.length > 0) this.chunks.push(chunk);
    this.#storedBytes += chunk.length;
  }
}
