/** The lines of a text that match a substring or a pattern, in order. A line ends with its line feed. */
import { foldCase } from "./case_folding.ts";
import type { LazyDfa } from "./lazy_dfa.ts";

/** A matching line, as offsets in the text. */
export interface MatchingLine {
  /** From 1. */
  readonly line: number;
  readonly from: number;
  /** Where its line feed is, or the text ends. */
  readonly to: number;
  /** Where its first match begins. */
  readonly at: number;
}

/** Iterating throws MatchTimeout when `isExpired` returns true, which only patterns check. */
export type Finder = (text: string, isExpired: () => boolean) => Iterable<MatchingLine>;

/** Finds a substring without line feeds. */
export function substringFinder(query: string, isCaseSensitive: boolean): Finder {
  const wanted = isCaseSensitive ? query : foldCase(query);
  return function* (text) {
    const searched = isCaseSensitive ? text : foldCase(text);
    let line = 1;
    let counted = 0;
    for (let at = searched.indexOf(wanted); at >= 0;) {
      for (
        let feed = text.indexOf("\n", counted);
        feed >= 0 && feed < at;
        feed = text.indexOf("\n", counted)
      ) {
        line++;
        counted = feed + 1;
      }
      const to = endOfLine(text, at);
      yield { line, from: counted, to, at };
      at = searched.indexOf(wanted, to + 1);
      if (to >= text.length) return;
    }
  };
}

/** Finds lines by a pattern. */
export function patternFinder(dfa: LazyDfa): Finder {
  return function* (text, isExpired) {
    let line = 1;
    for (let from = 0; from < text.length; line++) {
      const to = endOfLine(text, from);
      const at = dfa.find(text, from, to, isExpired);
      if (at >= 0) yield { line, from, to, at };
      from = to + 1;
    }
  };
}

/** The offset of the line feed that ends the line at `from`, or the end of the text. */
export function endOfLine(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}
