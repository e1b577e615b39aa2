/**
 * The patterns of `mode=regex`: a subset of POSIX extended regular expressions as `grep -E` reads them. The parser
 * refuses all other patterns, with a reason; it never interprets a pattern differently from grep.
 *
 * Supported: characters, `.`, `[…]` with ranges and classes, `\w \W \s \S`, `\` before punctuation, `( )`, `|`, `* +
 * ?`, `{m} {m,} {m,n} {,n}`, `^`, `$`. Not supported: back-references, `\b \< \>`, lazy and stacked repetition,
 * look-around.
 */
import { SEARCH_REGEX_DEPTH_MAX, SEARCH_REGEX_REPEAT_MAX } from "../limits.ts";
import { ANY, type CharacterSet, escapedClass, POSIX_CLASSES, singleCharacter } from "./character_set.ts";

export type Pattern =
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "start" | "end" }
  | { readonly kind: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly kind: "alternatives"; readonly parts: readonly Pattern[] }
  | { readonly kind: "repeat"; readonly part: Pattern; readonly least: number; readonly most: number | null };

/** The text is not a supported pattern; the message tells its author why. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Throws PatternError. */
export function parseEre(text: string): Pattern {
  return new Parser([...text]).whole();
}

class Parser {
  private at = 0;

  constructor(private readonly characters: readonly string[]) {}

  whole(): Pattern {
    const pattern = this.alternatives(0);
    if (this.peek() === ")") throw new PatternError("has a `)` without `(`; write `\\)` for the character");
    return pattern;
  }

  private alternatives(depth: number): Pattern {
    if (depth > SEARCH_REGEX_DEPTH_MAX) throw new PatternError("has groups nested too deeply");
    const parts = [this.sequence(depth)];
    while (this.take("|")) parts.push(this.sequence(depth));
    const [first] = parts;
    return parts.length === 1 && first ? first : { kind: "alternatives", parts };
  }

  private sequence(depth: number): Pattern {
    const parts: Pattern[] = [];
    for (let next = this.peek(); next !== undefined && next !== "|" && next !== ")"; next = this.peek()) {
      parts.push(this.withRepetition(this.single(depth)));
    }
    const [first] = parts;
    if (!first) throw new PatternError("has an empty pattern, group or alternative");
    return parts.length === 1 ? first : { kind: "sequence", parts };
  }

  private single(depth: number): Pattern {
    const character = this.next();
    switch (character) {
      case "(": {
        if (this.peek() === "?") throw new PatternError("has `(?`: there are no flags and no look-around");
        const inner = this.alternatives(depth + 1);
        if (!this.take(")")) throw new PatternError("has a `(` without `)`");
        return inner;
      }
      case "[":
        return { kind: "set", set: this.bracket() };
      case ".":
        return { kind: "set", set: ANY };
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case "\\":
        return { kind: "set", set: this.escape() };
      case "*":
      case "+":
      case "?":
      case "{":
        throw new PatternError(`has a \`${character}\` with nothing to repeat; write \`\\${character}\``);
      default:
        return { kind: "set", set: singleCharacter(codeOf(character)) };
    }
  }

  private withRepetition(part: Pattern): Pattern {
    const bounds = this.bounds();
    if (!bounds) return part;
    if (part.kind === "start" || part.kind === "end") throw new PatternError("repeats `^` or `$`");
    if (["*", "+", "?", "{"].includes(this.peek() ?? "")) {
      throw new PatternError(
        "repeats a repetition; lazy matching is not supported, and `( )` must enclose a repetition that is repeated",
      );
    }
    return { kind: "repeat", part, ...bounds };
  }

  private bounds(): { readonly least: number; readonly most: number | null } | null {
    if (this.take("*")) return { least: 0, most: null };
    if (this.take("+")) return { least: 1, most: null };
    if (this.take("?")) return { least: 0, most: 1 };
    if (!this.take("{")) return null;
    const rest = this.characters.slice(this.at, this.at + 12).join("");
    const [whole, first = "", comma, second = ""] = /^(\d*)(,?)(\d*)\}/.exec(rest) ?? [];
    if (whole === undefined || first === "" && second === "") {
      throw new PatternError(
        "has a `{` that is not part of `{m}`, `{m,}` or `{m,n}`; write `\\{` for the character",
      );
    }
    this.at += whole.length;
    const least = Number(first);
    const most = comma === "" ? least : second === "" ? null : Number(second);
    if (Math.max(least, most ?? 0) > SEARCH_REGEX_REPEAT_MAX) {
      throw new PatternError(`repeats more than ${SEARCH_REGEX_REPEAT_MAX} times`);
    }
    if (most !== null && most < least) throw new PatternError("has bounds in the wrong order");
    return { least, most };
  }

  private escape(): CharacterSet {
    const character = this.peek();
    if (character === undefined) throw new PatternError("ends with a backslash");
    this.at++;
    const set = escapedClass(character);
    if (set) return set;
    if (character === "d") throw new PatternError("has `\\d`; write `[0-9]`");
    if (/[0-9]/.test(character)) throw new PatternError("has a back-reference");
    if (/[A-Za-z<>`']/.test(character) || codeOf(character) > 126) {
      throw new PatternError(`has \`\\${character}\`, which is not supported`);
    }
    return singleCharacter(codeOf(character));
  }

  private bracket(): CharacterSet {
    const isNegated = this.take("^");
    const ranges: [number, number][] = [];
    const classes: RegExp[] = [];
    for (let isFirst = true; isFirst || this.peek() !== "]"; isFirst = false) {
      const named = this.namedClass();
      if (named) {
        classes.push(named);
        continue;
      }
      const from = this.member();
      const isRange = this.peek() === "-" && this.characters[this.at + 1] !== "]";
      if (isRange) this.at++;
      const to = isRange ? this.member() : from;
      if (to < from) throw new PatternError("has a range in the wrong order");
      ranges.push([from, to]);
    }
    this.at++;
    return { isNegated, ranges, classes };
  }

  private namedClass(): RegExp | undefined {
    if (this.peek() !== "[" || ![":", ".", "="].includes(this.characters[this.at + 1] ?? "")) {
      return undefined;
    }
    const [whole, name = ""] =
      /^\[:([a-z]+):\]/.exec(this.characters.slice(this.at, this.at + 12).join("")) ?? [];
    const found = POSIX_CLASSES.get(name)?.();
    if (!whole || !found) {
      throw new PatternError("has an unknown class; known ones are [:alpha:], [:digit:] and so on");
    }
    this.at += whole.length;
    return found;
  }

  /** grep reads a backslash here as an ordinary member, but most authors mean an escape, so only `\\` is accepted. */
  private member(): number {
    const character = this.peek();
    if (character === undefined) throw new PatternError("has a `[` without `]`");
    this.at++;
    if (character !== "\\") return codeOf(character);
    if (!this.take("\\")) {
      throw new PatternError("has a backslash within `[ ]`, where it escapes nothing; write `\\\\` for one");
    }
    return codeOf(character);
  }

  private peek(): string | undefined {
    return this.characters[this.at];
  }

  private next(): string {
    return this.characters[this.at++] ?? "";
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at++;
    return true;
  }
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
