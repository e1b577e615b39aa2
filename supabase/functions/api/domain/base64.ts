/**
 * Base64 (RFC 4648 section 4, the standard alphabet with padding) of content. Decoding is strict but for two
 * things that common encoders make and common decoders take: line breaks and spaces anywhere (`base64 FILE` wraps),
 * and set bits after the last byte (`QQ==` and `QR==` are both "A", as for `atob`, Node and Python).
 */
import { Buffer } from "node:buffer";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SKIPPED = " \t\r\n";
const PADDING = 0x3d;
/** Sextet of each byte; SKIP for white space, BAD for all else. Both are negative, so one test finds them. */
const SEXTETS = new Int8Array(256).fill(-1);
const SKIP = -2;
for (let index = 0; index < 64; index++) SEXTETS[ALPHABET.charCodeAt(index)] = index;
for (let index = 0; index < SKIPPED.length; index++) SEXTETS[SKIPPED.charCodeAt(index)] = SKIP;

/** The bytes that the text stands for, or null where it is not base64. */
export function decodeBase64(text: Uint8Array | string): Uint8Array | null {
  const decoder = new Base64Decoder();
  const bytes = decoder.push(typeof text === "string" ? new TextEncoder().encode(text) : text);
  return bytes !== null && decoder.finish() ? bytes : null;
}

/** Base64 of the bytes, padded, without line breaks. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/** Decodes base64 that comes in pieces of any length, cut anywhere. Holds at most three characters. */
export class Base64Decoder {
  /** Sextets not yet made into bytes, the latest lowest, and how many they are: 0 to 3. */
  #bits = 0;
  #sextets = 0;
  #padding = 0;

  /** The bytes that are complete now, or null where the text is not base64; nothing may follow a null. */
  push(text: Uint8Array): Uint8Array | null {
    const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3 + 3);
    let length = 0;
    let bits = this.#bits;
    let sextets = this.#sextets;
    let index = 0;
    while (index < text.length) {
      if (sextets === 0 && this.#padding === 0) {
        // Four at a time while nothing but the alphabet comes; a byte that is not makes the sum negative.
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

  /** Whether the text ended where base64 may end. */
  finish(): boolean {
    return this.#sextets === 0;
  }
}

/** Encodes bytes that come in pieces: the texts joined are the base64 of the bytes joined. Carries up to two bytes. */
export class Base64Stream {
  #carry = new Uint8Array(0);

  push(bytes: Uint8Array): string {
    const joined = this.#carry.length === 0 ? bytes : concatenate(this.#carry, bytes);
    const whole = joined.length - joined.length % 3;
    this.#carry = joined.slice(whole);
    return encodeBase64(joined.subarray(0, whole));
  }

  /** The rest, with its padding. */
  finish(): string {
    const rest = encodeBase64(this.#carry);
    this.#carry = new Uint8Array(0);
    return rest;
  }
}

function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
