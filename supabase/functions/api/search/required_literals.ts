/** Literals that each matching line must contain, by which the index narrows down the files. */
import { SEARCH_LITERALS_MAX } from "../limits.ts";
import type { CharacterSet } from "./character_set.ts";
import type { Pattern } from "./posix_ere.ts";

/** A matching line contains at least one literal of each clause. */
export type Clauses = readonly (readonly string[])[];

/** The shortest useful literal: shorter ones occur in nearly every text. */
const SHORTEST = 2;

/** The most selective clauses of a pattern, at most SEARCH_LITERALS_MAX; empty where it requires no literal. */
export function requiredLiterals(pattern: Pattern): Clauses {
  const found = extractClauses(pattern).filter((clause) =>
    clause.every((text) => [...text].length >= SHORTEST)
  );
  const shortest = (clause: readonly string[]) => Math.min(...clause.map((text) => text.length));
  return found.sort((a, b) => shortest(b) - shortest(a)).slice(0, SEARCH_LITERALS_MAX);
}

function extractClauses(pattern: Pattern): (readonly string[])[] {
  switch (pattern.kind) {
    case "sequence":
      return sequenceClauses(pattern.parts);
    case "alternatives": {
      // One clause of each alternative, merged into one: the alternative that matches contributes a literal.
      const each = pattern.parts.map((part) => requiredLiterals(part)[0]);
      const all = each.flatMap((clause) => clause ?? []);
      return each.some((clause) => clause === undefined) || all.length > 2 * SEARCH_LITERALS_MAX ? [] : [all];
    }
    case "repeat":
      return pattern.least === 0 ? [] : extractClauses(pattern.part);
    case "set": {
      const character = singleLiteral(pattern.set);
      return character === undefined ? [] : [[character]];
    }
    default:
      return [];
  }
}

/** Adjacent single characters form one literal. */
function sequenceClauses(parts: readonly Pattern[]): (readonly string[])[] {
  const clauses: (readonly string[])[] = [];
  let run = "";
  for (const part of parts) {
    const literal = part.kind === "set" ? singleLiteral(part.set) : undefined;
    if (literal !== undefined) {
      run += literal;
      continue;
    }
    clauses.push([run], ...extractClauses(part));
    run = "";
  }
  return [...clauses, [run]].filter(([text]) => text !== "");
}

function singleLiteral({ isNegated, ranges, classes }: CharacterSet): string | undefined {
  const [range, ...others] = ranges;
  if (isNegated || classes.length > 0 || others.length > 0 || !range || range[0] !== range[1]) {
    return undefined;
  }
  return String.fromCodePoint(range[0]);
}

/** The clauses where case is ignored: runs of ASCII, since the database folds other letters by its locale. */
export function withoutCase(clauses: Clauses): Clauses {
  return clauses.flatMap((clause) => {
    const runs = clause.map((text) =>
      (text.match(/[ -~]+/g) ?? []).reduce((a, b) => b.length > a.length ? b : a, "")
    );
    return runs.some((run) => run.length < SHORTEST) ? [] : [runs];
  });
}
