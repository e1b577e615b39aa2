/**
 * API keys: `oa_`, 28 random characters, 6 characters of checksum. The checksum lets the function reject a mistyped or
 * invented key without a database call, and lets secret scanners recognize keys without false positives.
 */
import { sha256Hex } from "../runtime/bytes.ts";

const API_KEY_MARK = "oa_";
/** Random characters of a key: 28 · log2(62) = 166.7 bits. */
const RANDOM_LENGTH = 28;
/** A CRC-32 in base 62: 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
/** Characters of a key that may be shown later to tell keys apart; 7 of them random, too few to help a guesser. */
const PREFIX_LENGTH = 10;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The largest multiple of 62 that a byte can hold: bytes from here up are discarded, so that all characters are equally likely. */
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

/** Whether the text has the form of a key and its checksum is correct. The key may still be unknown or revoked. */
export function isWellFormedApiKey(text: string): boolean {
  if (!KEY_SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksum(body);
}

/** SHA-256 of the key, 64 lower-case hexadecimal digits, by which the database stores and finds keys (`KeyHash`). */
export function hashApiKey(key: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(key));
}

/** The first 10 characters of a key, to recognize it in lists. */
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
