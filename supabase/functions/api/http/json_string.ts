/** Decodes one long JSON string (RFC 8259 section 7) into UTF-8 while it arrives. */
import { fail } from "../errors.ts";

/** Decoded bytes are stored in chunks: a small one first, since most strings are short, then larger ones up to this size. */
const CHUNK_BYTES = 1024 * 1024;
const FIRST_CHUNK_BYTES = 16 * 1024;
/** Most bytes of a character in UTF-8. */
const CHARACTER_BYTES_MAX = 4;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const REPLACEMENT = 0xfffd;

/** 1 for the bytes that a JSON string contains unescaped: all but controls, quote and backslash. */
const PLAIN = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
/** The character that a letter after a backslash denotes; 0 if none. */
const ESCAPES = new Uint8Array(256);
for (const [index, letter] of [...'bfnrt"\\/'].entries()) {
  ESCAPES[letter.charCodeAt(0)] = '\b\f\n\r\t"\\/'.charCodeAt(index);
}
/** The value of a hexadecimal digit; -1 for other bytes. */
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => {
  const value = parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? -1 : value;
});

/** Decodes a JSON string that arrives in chunks cut anywhere, as `JSON.parse` would. */
export class JsonStringDecoder {
  /** The string in UTF-8, complete once `push` has found its end. Empty if it is longer than `maxLength`. */
  chunks: Uint8Array[] = [];
  /** UTF-16 code units up to the latest full chunk, or the end. */
  length = 0;
  /** False once an escape was a lone surrogate, which UTF-8 cannot represent and U+FFFD replaces. */
  wellFormed = true;

  readonly #maxLength: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #chunk = new Uint8Array(FIRST_CHUNK_BYTES);
  #used = 0;
  #storedBytes = 0;
  #isEscape = false;
  /** Digits of `\uXXXX` still missing, and the value of those read so far. */
  #digitsLeft = 0;
  #digits = 0;
  /** A high surrogate whose low surrogate has not been read yet; 0: none. */
  #high = 0;

  /** A string of more than `maxLength` UTF-16 code units is validated and measured, but not stored. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Bytes stored so far. */
  get heldBytes(): number {
    return this.#storedBytes + this.#used;
  }

  /**
   * Decodes the bytes from `from`, which follow the opening quote. Returns the index after the closing quote, or -1 if
   * that has not arrived. Throws 400 `INVALID_JSON`.
   */
  push(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length) {
      if (this.#digitsLeft > 0) {
        this.#digit(bytes[at++] ?? 0);
      } else if (this.#isEscape) {
        at = this.#escape(bytes, at);
      } else {
        at = this.#plain(bytes, at);
        if (at === bytes.length) break;
        const byte = bytes[at++];
        if (byte === BACKSLASH) this.#isEscape = true;
        else if (byte === QUOTE) return this.#end(at);
        else if (PLAIN[byte ?? 0] === 0) throwMalformed("a control character in a string");
        else at--; // The chunk was full; the byte goes into the next one.
      }
    }
    return -1;
  }

  /** Copies unescaped bytes while there is room. Returns the index of the first other byte. */
  #plain(bytes: Uint8Array, from: number): number {
    if (PLAIN[bytes[from] ?? 0] === 0) return from;
    if (this.#high !== 0) this.#lone();
    this.#reserve();
    const chunk = this.#chunk;
    const shift = this.#used - from;
    const end = Math.min(bytes.length, chunk.length - shift);
    let at = from;
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (PLAIN[byte] === 0) break;
      chunk[at + shift] = byte;
    }
    this.#used = at + shift;
    return at;
  }

  /** Decodes what follows a backslash. */
  #escape(bytes: Uint8Array, at: number): number {
    this.#isEscape = false;
    const letter = bytes[at] ?? 0;
    if (letter !== LETTER_U) {
      const character = ESCAPES[letter] ?? 0;
      if (character === 0) throwMalformed("an unknown escape in a string");
      this.#unit(character);
      return at + 1;
    }
    if (at + 5 > bytes.length) {
      this.#digitsLeft = 4;
      this.#digits = 0;
      return at + 1;
    }
    const unit = (HEX_VALUES[bytes[at + 1] ?? 0] ?? -1) << 12 | (HEX_VALUES[bytes[at + 2] ?? 0] ?? -1) << 8 |
      (HEX_VALUES[bytes[at + 3] ?? 0] ?? -1) << 4 | (HEX_VALUES[bytes[at + 4] ?? 0] ?? -1);
    if (unit < 0) throwMalformed("a broken \\u escape in a string");
    this.#unit(unit);
    return at + 5;
  }

  #digit(byte: number): void {
    const value = HEX_VALUES[byte] ?? -1;
    if (value < 0) throwMalformed("a broken \\u escape in a string");
    this.#digits = this.#digits << 4 | value;
    if (--this.#digitsLeft === 0) this.#unit(this.#digits);
  }

  /** One escaped UTF-16 code unit. */
  #unit(unit: number): void {
    if (this.#high !== 0) {
      if (unit >= 0xdc00 && unit <= 0xdfff) {
        const character = 0x10000 + ((this.#high - 0xd800) << 10) + (unit - 0xdc00);
        this.#high = 0;
        this.#write(character);
        return;
      }
      this.#lone();
    }
    if (unit < 0xd800 || unit > 0xdfff) this.#write(unit);
    else if (unit < 0xdc00) this.#high = unit;
    else this.#lone();
  }

  #lone(): void {
    this.#high = 0;
    this.wellFormed = false;
    this.#write(REPLACEMENT);
  }

  #write(character: number): void {
    this.#reserve();
    const chunk = this.#chunk;
    let used = this.#used;
    if (character < 0x80) {
      chunk[used++] = character;
    } else if (character < 0x800) {
      chunk[used++] = 0xc0 | character >> 6;
      chunk[used++] = 0x80 | character & 0x3f;
    } else if (character < 0x10000) {
      chunk[used++] = 0xe0 | character >> 12;
      chunk[used++] = 0x80 | character >> 6 & 0x3f;
      chunk[used++] = 0x80 | character & 0x3f;
    } else {
      chunk[used++] = 0xf0 | character >> 18;
      chunk[used++] = 0x80 | character >> 12 & 0x3f;
      chunk[used++] = 0x80 | character >> 6 & 0x3f;
      chunk[used++] = 0x80 | character & 0x3f;
    }
    this.#used = used;
  }

  /** Makes room for one character. */
  #reserve(): void {
    if (this.#used + CHARACTER_BYTES_MAX <= this.#chunk.length) return;
    this.#check(true);
    if (this.length > this.#maxLength) {
      this.chunks = [];
    } else {
      this.chunks.push(this.#chunk.subarray(0, this.#used));
      this.#storedBytes += this.#used;
      this.#chunk = new Uint8Array(Math.min(CHUNK_BYTES, 4 * this.#chunk.length));
    }
    this.#used = 0;
  }

  #end(at: number): number {
    if (this.#high !== 0) this.#lone();
    this.#check(false);
    if (this.length > this.#maxLength) this.chunks = [];
    else if (this.#used > 0) this.chunks.push(this.#chunk.slice(0, this.#used));
    this.#chunk = new Uint8Array(0);
    return at;
  }

  /**
   * Measures the chunk and checks that it is UTF-8. Escapes are written as whole characters, so the chunk is UTF-8
   * exactly if the unescaped parts of the source are.
   */
  #check(stream: boolean): void {
    try {
      this.length += this.#decoder.decode(this.#chunk.subarray(0, this.#used), { stream }).length;
    } catch {
      throwMalformed("a string that is not UTF-8");
    }
  }
}

function throwMalformed(found: string): never {
  fail("INVALID_JSON", `The body is not JSON: ${found}.`);
}
