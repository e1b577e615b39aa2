/** Checks and cuts UTF-8 bytes (RFC 3629) without copying them. */

const LINE_FEED = 0x0a;

/** Whether the bytes are well-formed UTF-8 by themselves. A byte order mark is a character like any other. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The number of line feeds among the bytes from `from` to `to` (exclusive). */
export function countNewlines(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let count = 0;
  for (let index = from; index < to; index++) if (bytes[index] === LINE_FEED) count++;
  return count;
}

/**
 * Where to cut so that the first part has at most `max` bytes and no character of UTF-8 text is split: at `max`, or
 * up to 3 bytes before it; at the end if there are no more than `max` bytes. Bytes that are not text are cut at `max`.
 */
export function cutAtCharacter(bytes: Uint8Array, max: number): number {
  if (bytes.length <= max) return bytes.length;
  for (let cut = max; cut > 0 && cut > max - 4; cut--) {
    if (!isContinuation(bytes[cut])) return cut;
  }
  return max;
}

/** Whether the byte can only be the second or a later byte of a character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
