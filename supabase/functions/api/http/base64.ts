/**
 * Base64 (RFC 4648 section 4, the standard alphabet with padding) of content. Decoding is strict except for what common
 * encoders emit and common decoders accept: whitespace anywhere (`base64 FILE` wraps lines), and nonzero bits after the
 * last byte (`QQ==` and `QR==` are both "A", as for `atob`, Node and Python).
 * To be deleted when the edge runtime has `Uint8Array.fromBase64` and `setFromBase64`.
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SKIPPED = " \t\r\n";
const PADDING = 0x3d;
/** The sextet of each byte; SKIP for whitespace, -1 for all others. Both are negative, so one comparison finds them. */
const SEXTETS = new Int8Array(256).fill(-1);
const SKIP = -2;
for (let index = 0; index < 64; index++) SEXTETS[ALPHABET.charCodeAt(index)] = index;
for (let index = 0; index < SKIPPED.length; index++) SEXTETS[SKIPPED.charCodeAt(index)] = SKIP;

/** The decoded bytes; null if the text is not base64. */
export function decodeBase64(text: Uint8Array | string): Uint8Array | null {
  const decoder = new Base64Decoder();
  const bytes = decoder.push(typeof text === "string" ? new TextEncoder().encode(text) : text);
  return bytes !== null && decoder.finish() ? bytes : null;
}

/** By twelve bits: the two characters that encode them. */
const FIRST_CHARACTERS = Uint8Array.from({ length: 4096 }, (_, bits) => ALPHABET.charCodeAt(bits >> 6));
const SECOND_CHARACTERS = Uint8Array.from({ length: 4096 }, (_, bits) => ALPHABET.charCodeAt(bits & 63));

/** Base64 of the bytes, padded, without line breaks; as ASCII bytes, since a string would have to be encoded again. */
export function encodeBase64(bytes: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(encodedLength(bytes.length));
  const whole = bytes.length - bytes.length % 3;
  let into = writeThrees(encoded, 0, bytes.subarray(0, whole));
  if (whole === bytes.length) return encoded;
  const [first = 0, second = 0] = bytes.subarray(whole);
  into = writeTwelveBits(encoded, into, first << 4 | second >> 4);
  writeTwelveBits(encoded, into, (second & 15) << 8);
  encoded.fill(PADDING, encoded.length - 3 + (bytes.length - whole));
  return encoded;
}

function encodedLength(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Writes the base64 of bytes whose number is a multiple of three. Returns the index after it. */
function writeThrees(encoded: Uint8Array, at: number, bytes: Uint8Array): number {
  let into = at;
  for (let index = 0; index < bytes.length; index += 3) {
    const [first, second, third] = [bytes[index] ?? 0, bytes[index + 1] ?? 0, bytes[index + 2] ?? 0];
    into = writeTwelveBits(encoded, into, first << 4 | second >> 4);
    into = writeTwelveBits(encoded, into, (second & 15) << 8 | third);
  }
  return into;
}

function writeTwelveBits(encoded: Uint8Array, at: number, bits: number): number {
  encoded[at] = FIRST_CHARACTERS[bits] ?? 0;
  encoded[at + 1] = SECOND_CHARACTERS[bits] ?? 0;
  return at + 2;
}

/** Decodes base64 that arrives in chunks cut anywhere. Holds at most three characters. */
export class Base64Decoder {
  /** Sextets that do not form bytes yet, the latest in the lowest bits, and their number: 0 to 3. */
  #bits = 0;
  #sextets = 0;
  #padding = 0;

  /** The bytes that are complete now; null if the text is not base64, after which nothing may be pushed. */
  push(text: Uint8Array): Uint8Array | null {
    const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3 + 3);
    let length = 0;
    let bits = this.#bits;
    let sextets = this.#sextets;
    let index = 0;
    while (index < text.length) {
      if (sextets === 0 && this.#padding === 0) {
        // Four characters at a time, while all are in the alphabet: any other byte makes the result negative.
        for (; index + 4 <= text.length; index += 4) {
          const four = (SEXTETS[text[index] ?? 0] ?? -1) << 18 | (SEXTETS[text[index + 1] ?? 0] ?? -1) << 12 |
            (SEXTETS[text[index + 2] ?? 0] ?? -1) << 6 | (SEXTETS[text[index + 3] ?? 0] ?? -1);
          if (four < 0) break;
          bytes[length++] = four >> 16;
          bytes[length++] = four >> 8;
          bytes[length++] = four;
        }
        if (index === text.length) break;
      }
      const byte = text[index++] ?? 0;
      const sextet = SEXTETS[byte] ?? -1;
      if (sextet === SKIP) continue;
      if (byte === PADDING && sextets + this.#padding >= 2 && sextets + this.#padding < 4) {
        this.#padding++;
        continue;
      }
      if (sextet < 0 || this.#padding > 0) return null;
      bits = bits << 6 | sextet;
      if (++sextets < 4) continue;
      bytes[length++] = bits >> 16;
      bytes[length++] = bits >> 8;
      bytes[length++] = bits;
      bits = 0;
      sextets = 0;
    }
    if (sextets > 0 && sextets + this.#padding === 4) {
      bytes[length++] = sextets === 3 ? bits >> 10 : bits >> 4;
      if (sextets === 3) bytes[length++] = bits >> 2;
      bits = 0;
      sextets = 0;
      this.#padding = 4;
    }
    this.#bits = bits;
    this.#sextets = sextets;
    return bytes.subarray(0, length);
  }

  /** Whether base64 may end here. */
  finish(): boolean {
    return this.#sextets === 0;
  }
}

/** Encodes bytes that arrive in chunks; the results joined are the base64 of the chunks joined. Carries up to two bytes. */
export class Base64Stream {
  readonly #carry = new Uint8Array(3);
  #carried = 0;

  push(bytes: Uint8Array): Uint8Array {
    // Encodes the carried bytes, filled up to three, by themselves: joining them with the other bytes would copy all of them.
    const filling = this.#carried === 0 ? 0 : Math.min(3 - this.#carried, bytes.length);
    this.#carry.set(bytes.subarray(0, filling), this.#carried);
    this.#carried += filling;
    const isFull = this.#carried === 3;
    const whole = bytes.length - (bytes.length - filling) % 3;
    const encoded = new Uint8Array((isFull ? 4 : 0) + encodedLength(whole - filling));
    writeThrees(encoded, isFull ? writeThrees(encoded, 0, this.#carry) : 0, bytes.subarray(filling, whole));
    if (isFull) this.#carried = 0;
    this.#carry.set(bytes.subarray(whole), this.#carried);
    this.#carried += bytes.length - whole;
    return encoded;
  }

  /** The remaining bytes, with padding. */
  finish(): Uint8Array {
    const rest = encodeBase64(this.#carry.subarray(0, this.#carried));
    this.#carried = 0;
    return rest;
  }
}
