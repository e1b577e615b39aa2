/** Contents of files. */

export const KILOBYTE = 1024;
export const MEGABYTE = 1024 * 1024;

const encoder = new TextEncoder();

/** Numbered lines of 64 bytes, cut to `bytes` bytes; no line repeats. */
export function lines(bytes: number): string {
  const all: string[] = [];
  for (let number = 0; number * 64 < bytes; number++) all.push(lineOf(number));
  return all.join("").slice(0, bytes);
}

/** The line with this number, with its line feed. */
export function lineOf(number: number): string {
  return `${String(number).padStart(9, "0")} ${
    "the quick brown fox jumps over the lazy dog".padEnd(53, ".")
  }\n`;
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Bytes that are not text. */
export function noise(bytes: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536));
  return all;
}
