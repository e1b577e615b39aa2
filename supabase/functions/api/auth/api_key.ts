/**
 * API keys: `oa_`, 28 random characters, 6 characters of checksum. The checksum lets the function refuse a
 * mistyped or made-up key without asking the database, and lets secret scanners tell keys from chance.
 */
import { sha256Hex } from "../runtime/sha256.ts";

/** What every key begins with. */
export const API_KEY_MARK = "oa_";
/** Random characters of a key: 28 · log2(62) = 166.7 bits. */
const RANDOM_LENGTH = 28;
/** A CRC-32 in base 62: 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
/** How much of a key may be shown again to tell keys apart; 7 random characters, no use to a guesser. */
const PREFIX_LENGTH = 10;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The largest multiple of 62 that a byte can hold: bytes from here up are drawn again, so no character is likelier. */
const UNBIASED_BYTES = 248;
const KEY_SHAPE = /^oa_[0-9A-Za-z]{34}$/;

/** A new key, 37 ASCII characters, from the platform's cryptographic generator. */
export function generateApiKey(): string {
  let random = "";
  while (random.length < RANDOM_LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH))) {
      if (byte < UNBIASED_BYTES && random.length < RANDOM_LENGTH) random += ALPHABET.charAt(byte % 62);
    }
  }
  const body = API_KEY_MARK + random;
  return body + checksum(body);
}

/** Whether the text has the shape of a key and its checksum is right. Says nothing about its being valid. */
export function isWellFormedApiKey(text: string): boolean {
  if (!KEY_SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksum(body);
}

/** SHA-256 of the key, 64 lower-case hexadecimal digits: what is stored and asked for (`KeyHash` in ports.ts). */
export function hashApiKey(key: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(key));
}

/** The first 10 characters of a key, to recognise it by in lists. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

/** CRC-32 of ASCII text in base 62, zero-padded to 6 characters. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** CRC-32 as in zlib and PNG (reflected polynomial 0xEDB88320) of ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
