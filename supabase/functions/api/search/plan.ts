/** Compiles the parameters of a search into a query to the database and, for substrings and patterns, a matcher. */
import { failField } from "../errors.ts";
import { SEARCH_INDEXED_LENGTH_MIN } from "../limits.ts";
import { GlobError, globPattern } from "./glob.ts";
import { LazyDfa } from "./lazy_dfa.ts";
import { type Finder, patternFinder, substringFinder } from "./matching_lines.ts";
import { parseEre, type Pattern, PatternError } from "./posix_ere.ts";
import { type Clauses, requiredLiterals, withoutCase } from "./required_literals.ts";

export interface SearchParameters {
  readonly q: string;
  readonly mode: "text" | "regex" | "semantic" | "hybrid";
  /** Without leading or trailing slash; "" is the root. */
  readonly directory: string;
  readonly glob?: string | undefined;
  readonly contentType?: string | undefined;
  readonly caseSensitive: boolean;
  readonly limit: number;
  readonly offset: number;
}

type Page = Pick<SearchParameters, "directory" | "glob" | "contentType" | "limit" | "offset">;

/** A search by substring or pattern: the database selects files that may match; the function searches their lines. */
export interface ScanPlan extends Page {
  readonly kind: "scan";
  readonly mode: "text" | "regex";
  readonly clauses: Clauses;
  /** Whether every file that contains the literals matches. */
  readonly isExact: boolean;
  /** Whether the literals are long enough for the index. If `isExact`, too, the database can skip to the page's first file. */
  readonly isIndexed: boolean;
  readonly caseSensitive: boolean;
  readonly find: Finder;
}

/** A search by words and meaning: the database ranks files. */
export interface RankPlan extends Page {
  readonly kind: "rank";
  readonly mode: "semantic" | "hybrid";
  readonly q: string;
}

/** Compiles the glob and the pattern. Throws VALIDATION_ERROR where one of them is invalid. */
export function planSearch(parameters: SearchParameters): ScanPlan | RankPlan {
  const { q, mode, glob, directory, contentType, limit, offset } = parameters;
  const regex = glob === undefined ? undefined : compile("glob", () => globPattern(glob, directory));
  const page = { directory, glob: regex, contentType, limit, offset };
  return mode === "text" || mode === "regex"
    ? { ...page, ...planScan(mode, q, parameters.caseSensitive) }
    : { ...page, kind: "rank", mode, q };
}

function planScan(mode: "text" | "regex", q: string, caseSensitive: boolean): Omit<ScanPlan, keyof Page> {
  const pattern: Pattern | undefined = mode === "regex" ? compile("q", () => parseEre(q)) : undefined;
  const clauses = pattern ? requiredLiterals(pattern) : [[q]];
  return {
    kind: "scan",
    mode,
    clauses: caseSensitive ? clauses : withoutCase(clauses),
    isExact: !pattern && caseSensitive,
    isIndexed: clauses.every((clause) =>
      clause.every((text) => [...text].length >= SEARCH_INDEXED_LENGTH_MIN)
    ),
    caseSensitive,
    find: pattern
      ? patternFinder(compile("q", () => new LazyDfa(pattern, !caseSensitive)))
      : substringFinder(q, caseSensitive),
  };
}

/** Reports an invalid glob or pattern as an issue of its parameter. */
function compile<T>(parameter: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PatternError || error instanceof GlobError)) throw error;
    failField(parameter, error.message);
  }
}
