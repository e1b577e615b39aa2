/** The lines of a text that match a substring or a pattern, in order. A line ends with its line feed. */
import { endOfPart } from "../http/respond.ts";
import { foldCase } from "./character_set.ts";
import { substringSearch } from "./substring_search.ts";
import type { LazyDfa } from "./lazy_dfa.ts";
import type { Work } from "../runtime/work.ts";

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

/** Yields null where a slice of the work is over: then the consumer must await `work.pause()` before it continues. */
export type Finder = (text: string, work: Work) => Iterable<MatchingLine | null>;

/** Units of work for each line, in addition to its length. */
const LINE_UNITS = 16;
/** Units of work for each code unit that a pattern is matched against. */
const PATTERN_UNITS = 2;
/** Text is folded in parts of this length. */
const FOLDED_LENGTH = 65_536;
/** Units of work for each code unit that is folded. */
const FOLD_UNITS = 8;

/** Finds a substring without line feeds. */
export function substringFinder(query: string, isCaseSensitive: boolean): Finder {
  const wanted = isCaseSensitive ? query : foldCase(query);
  const indexOf = substringSearch(wanted);
  return function* (text, work) {
    const searched = isCaseSensitive ? text : yield* foldInParts(text, work);
    if (work.add(text.length)) yield null;
    let line = 1;
    let counted = 0;
    for (let at = indexOf(searched, 0); at >= 0;) {
      for (
        let feed = text.indexOf("\n", counted);
        feed >= 0 && feed < at;
        feed = text.indexOf("\n", counted)
      ) {
        line++;
        counted = feed + 1;
        if (work.add(LINE_UNITS)) yield null;
      }
      if (work.add(LINE_UNITS)) yield null;
      const to = endOfLine(text, at);
      yield { line, from: counted, to, at };
      at = indexOf(searched, to + 1);
      if (to >= text.length) return;
    }
  };
}

export function patternFinder(dfa: LazyDfa): Finder {
  return function* (text, work) {
    let line = 1;
    for (let from = 0; from < text.length; line++) {
      const to = endOfLine(text, from);
      let at = dfa.find(text, from, to, work);
      while (typeof at !== "number") {
        yield null;
        at = dfa.find(text, from, to, work, at);
      }
      if (work.add(LINE_UNITS + PATTERN_UNITS * (to - from))) yield null;
      if (at >= 0) yield { line, from, to, at };
      from = to + 1;
    }
  };
}

/** The text in lower case, folded in parts that do not split a character. */
function* foldInParts(text: string, work: Work): Generator<null, string, void> {
  let folded = "";
  for (let from = 0; from < text.length;) {
    const to = endOfPart(text, from, FOLDED_LENGTH);
    folded += foldCase(text.slice(from, to));
    if (work.add(FOLD_UNITS * (to - from))) yield null;
    from = to;
  }
  return folded;
}

/** The offset of the line feed that ends the line at `from`, or the end of the text. */
export function endOfLine(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}
