/**
 * Letter case for search, one character to one: a letter without a single counterpart ("ß", "İ") matches only itself,
 * and ASCII letters correspond to ASCII letters only, so that an index of ASCII text finds every match.
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

/** The text in lower case; every character keeps its offset. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+|\P{ASCII}/gu, (found) => {
    const code = found.codePointAt(0) ?? 0;
    return code < 128 ? found.toLowerCase() : String.fromCodePoint(lowerOf(code));
  });
}
