/** What every line that a pattern matches must hold: so an index can look it up before the pattern is tried. */
import { SEARCH_LITERALS_MAX } from "../limits.ts";
import type { CharacterSet } from "./character_set.ts";
import type { Pattern } from "./posix_ere.ts";

/** Each clause: one of these is there. */
export type Clauses = readonly (readonly string[])[];

/** Shorter ones are in nearly every text. */
const SHORTEST = 2;

/** The most telling clauses of a pattern, at most SEARCH_LITERALS_MAX; none where it requires nothing. */
export function requiredLiterals(pattern: Pattern): Clauses {
  const found = clausesOf(pattern).filter((clause) => clause.every((text) => [...text].length >= SHORTEST));
  const shortest = (clause: readonly string[]) => Math.min(...clause.map((text) => text.length));
  return found.sort((a, b) => shortest(b) - shortest(a)).slice(0, SEARCH_LITERALS_MAX);
}

function clausesOf(pattern: Pattern): (readonly string[])[] {
  switch (pattern.kind) {
    case "sequence":
      return sequenceClauses(pattern.parts);
    case "alternatives": {
      // One clause of each alternative, all in one: whichever matches, its own literal is there.
      const each = pattern.parts.map((part) => requiredLiterals(part)[0]);
      const all = each.flatMap((clause) => clause ?? []);
      return each.some((clause) => clause === undefined) || all.length > 2 * SEARCH_LITERALS_MAX ? [] : [all];
    }
    case "repeat":
      return pattern.least === 0 ? [] : clausesOf(pattern.part);
    case "set": {
      const character = literalOf(pattern.set);
      return character === undefined ? [] : [[character]];
    }
    default:
      return [];
  }
}

/** Neighbours that stand for one character each are one literal. */
function sequenceClauses(parts: readonly Pattern[]): (readonly string[])[] {
  const clauses: (readonly string[])[] = [];
  let run = "";
  const endRun = () => {
    if (run !== "") clauses.push([run]);
    run = "";
  };
  for (const part of parts) {
    const literal = part.kind === "set" ? literalOf(part.set) : undefined;
    if (literal !== undefined) run += literal;
    else {
      endRun();
      clauses.push(...clausesOf(part));
    }
  }
  endRun();
  return clauses;
}

function literalOf({ isNegated, ranges, classes }: CharacterSet): string | undefined {
  const [range, ...others] = ranges;
  if (isNegated || classes.length > 0 || others.length > 0 || !range || range[0] !== range[1]) {
    return undefined;
  }
  return String.fromCodePoint(range[0]);
}

/**
 * The same for a search that takes no heed of case: the runs of ASCII, since what other letters become in the
 * database depends on its locale.
 */
export function withoutCase(clauses: Clauses): Clauses {
  return clauses.flatMap((clause) => {
    const runs = clause.map((text) =>
      (text.match(/[ -~]+/g) ?? []).reduce((a, b) => b.length > a.length ? b : a, "")
    );
    return runs.some((run) => run.length < SHORTEST) ? [] : [runs];
  });
}
