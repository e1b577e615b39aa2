/** The lines of a text that match, in order: of a substring, or of a pattern. A line ends with its line feed. */
import type { Automaton } from "./lazy_dfa.ts";
import { fold } from "./case_folding.ts";

/** A matching line, as places in the text. */
export interface MatchingLine {
  /** From 1. */
  readonly line: number;
  readonly from: number;
  /** Where its line feed is, or the text ends. */
  readonly to: number;
  /** Where its first match begins. */
  readonly at: number;
}

export type Finder = (text: string) => Iterable<MatchingLine>;

/** Finds a text without line feeds. */
export function substringFinder(query: string, isCaseSensitive: boolean): Finder {
  const wanted = isCaseSensitive ? query : fold(query);
  return function* (text) {
    const searched = isCaseSensitive ? text : fold(text);
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

/** Finds lines by a pattern. Throws TooLong. */
export function patternFinder(automaton: Automaton): Finder {
  return function* (text) {
    let line = 1;
    for (let from = 0; from < text.length; line++) {
      const to = endOfLine(text, from);
      const at = automaton.find(text, from, to);
      if (at >= 0) yield { line, from, to, at };
      from = to + 1;
    }
  };
}

export function endOfLine(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}
