/** The characters that one position of a pattern matches, listed or excluded; and letter case for search. */
import { lazy } from "../runtime/lazy.ts";

export interface CharacterSet {
  readonly isNegated: boolean;
  /** Code points, both ends inclusive. */
  readonly ranges: readonly (readonly [number, number])[];
  readonly classes: readonly RegExp[];
}

// Compiling these takes milliseconds, since many cover a large part of Unicode, and most isolates need none of them.
const WORD = lazy(() => /^[\p{Alphabetic}\p{Nd}_]$/u);
const SPACE = lazy(() => /^[\t\n\v\f\r \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]$/u);

/** POSIX classes over Unicode, as `grep` defines them in a UTF-8 locale. */
export const POSIX_CLASSES: ReadonlyMap<string, () => RegExp> = new Map(Object.entries({
  // The C library counts digits other than the ASCII ones as letters.
  alpha: lazy(() => /^(?![0-9])[\p{Alphabetic}\p{Nd}]$/u),
  digit: lazy(() => /^[0-9]$/),
  alnum: lazy(() => /^[\p{Alphabetic}\p{Nd}]$/u),
  upper: lazy(() => /^\p{Uppercase}$/u),
  lower: lazy(() => /^\p{Lowercase}$/u),
  space: SPACE,
  blank: lazy(() => /^[\t \u1680\u2000-\u2006\u2008-\u200a\u205f\u3000]$/u),
  // Every visible character that is neither letter nor digit; a no-break space counts as visible.
  punct: lazy(() => /^(?![\p{Alphabetic}\p{Nd}])[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\u00a0\u2007\u202f]$/u),
  xdigit: lazy(() => /^[0-9A-Fa-f]$/),
  cntrl: lazy(() => /^[\p{Cc}\u2028\u2029]$/u),
}));

export const ANY: CharacterSet = { isNegated: true, ranges: [], classes: [] };

/** The set that `\w`, `\W`, `\s` or `\S` stands for; undefined for other letters. */
export function escapedClass(letter: string): CharacterSet | undefined {
  if (!/^[ws]$/i.test(letter)) return undefined;
  const isNegated = letter === letter.toUpperCase();
  return { isNegated, ranges: [], classes: [/w/i.test(letter) ? WORD() : SPACE()] };
}

export function singleCharacter(code: number): CharacterSet {
  return { isNegated: false, ranges: [[code, code]], classes: [] };
}

/** Whether the set contains the character, or, with `ignoreCase`, its upper-case or lower-case counterpart. */
export function hasCharacter(set: CharacterSet, code: number, ignoreCase: boolean): boolean {
  const isThere = listsCharacter(set, code) ||
    ignoreCase && (listsCharacter(set, lowerOf(code)) || listsCharacter(set, upperOf(code)));
  return isThere !== set.isNegated;
}

function listsCharacter({ ranges, classes }: CharacterSet, code: number): boolean {
  if (ranges.some(([from, to]) => code >= from && code <= to)) return true;
  if (classes.length === 0) return false;
  const character = String.fromCodePoint(code);
  return classes.some((one) => one.test(character));
}

/**
 * The lower-case counterpart of a code point, or itself. Case maps one character to one: a letter without a single
 * counterpart ("ß", "İ") matches only itself. ASCII letters correspond to ASCII letters only, so that an index of ASCII
 * text finds every match.
 */
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
