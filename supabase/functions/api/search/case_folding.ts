/**
 * Letter case for search, which maps one character to one: a letter without a single counterpart ("ß", "İ") matches
 * only itself. ASCII letters correspond to ASCII letters only, so that an index of ASCII text finds every match.
 */

/** The lower-case counterpart of a code point, or itself. */
export function lowerOf(code: number): number {
  if (code < 128) return code >= 65 && code <= 90 ? code + 32 : code;
  return single(String.fromCodePoint(code).toLowerCase(), code);
}

/** The upper-case counterpart of a code point, or itself. */
export function upperOf(code: number): number {
  if (code < 128) return code >= 97 && code <= 122 ? code - 32 : code;
  return single(String.fromCodePoint(code).toUpperCase(), code);
}

function single(text: string, otherwise: number): number {
  const code = text.codePointAt(0) ?? otherwise;
  const isOne = String.fromCodePoint(code).length === text.length;
  return isOne && code >= 128 && code > 0xffff === otherwise > 0xffff ? code : otherwise;
}

/** A cache by code unit outside of ASCII: its lower-case counterpart plus 1; 0: not computed yet. */
const folded = new Uint32Array(0x10000);

/** The text in lower case; each character stays at its offset. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+|[^\0-\x7f]/gu, (found) => {
    const code = found.codePointAt(0) ?? 0;
    if (code < 128) return found.toLowerCase();
    if (code > 0xffff) return String.fromCodePoint(lowerOf(code));
    const lower = folded[code] || (folded[code] = lowerOf(code) + 1);
    return lower === code + 1 ? found : String.fromCharCode(lower - 1);
  });
}
