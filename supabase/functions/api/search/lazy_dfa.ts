/**
 * Matching in time that grows with the text alone, whatever the pattern: a Thompson automaton, its sets of states
 * remembered as they come up. It reads each line backwards and looks for the pattern backwards, so that one pass tells
 * whether a line matches and where its first match begins.
 * Source of the idea: https://swtch.com/~rsc/regexp/regexp1.html
 */
import {
  SEARCH_REGEX_REMEMBERED_MAX,
  SEARCH_REGEX_STATES_MAX,
  SEARCH_REGEX_STEPS_PER_LOOK,
} from "../limits.ts";
import { type CharacterSet, hasCharacter } from "./character_set.ts";
import { type Pattern, PatternError } from "./posix_ere.ts";

type State =
  | { readonly kind: "set"; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: "split"; readonly next: readonly number[] }
  | { readonly kind: "start" | "end"; readonly next: number }
  | { readonly kind: "match" };

/** States between two characters, and what follows from them. */
interface Moment {
  /** Those that wait for a character. */
  readonly waiting: readonly number[];
  readonly isMatch: boolean;
  /** Whether it is a match at the beginning of a line. */
  readonly isMatchAtStart: boolean;
  readonly next: Map<number, Moment>;
}

/** Matching took longer than it may. */
export class TooLong extends Error {
  override readonly name = "TooLong";
}

const MATCH = 0;

export class Automaton {
  private readonly states: State[] = [{ kind: "match" }];
  private readonly entry: number;
  private moments = new Map<string, Moment>();
  private atLineEnd: Moment;
  private steps = 0;

  /** `isOver` tells when time is up. Throws PatternError where the pattern is too large. */
  constructor(pattern: Pattern, private readonly folds: boolean, private readonly isOver: () => boolean) {
    this.entry = this.add(pattern, MATCH);
    this.atLineEnd = this.momentOf([this.entry], true);
  }

  /** Where the first match in the line from `from` to `to` begins; -1 where there is none. Throws TooLong. */
  find(text: string, from: number, to: number): number {
    let moment = this.atLineEnd;
    let found = moment.isMatch ? to : -1;
    for (let at = to; at > from;) {
      let code = text.charCodeAt(--at);
      if (code >= 0xdc00 && code <= 0xdfff && at > from) code = text.codePointAt(--at) ?? code;
      moment = moment.next.get(code) ?? this.step(moment, code);
      if (moment.isMatch) found = at;
    }
    return moment.isMatchAtStart ? from : found;
  }

  private step(moment: Moment, code: number): Moment {
    if (++this.steps % SEARCH_REGEX_STEPS_PER_LOOK === 0 && this.isOver()) throw new TooLong();
    const after = [this.entry];
    for (const index of moment.waiting) {
      const state = this.states[index];
      if (state?.kind === "set" && hasCharacter(state.set, code, this.folds)) after.push(state.next);
    }
    const next = this.momentOf(after, false);
    moment.next.set(code, next);
    return next;
  }

  private momentOf(entered: readonly number[], isLineEnd: boolean): Moment {
    const reached = this.reach(entered, isLineEnd, false);
    const key = `${isLineEnd}${[...reached].sort((a, b) => a - b).join()}`;
    const known = this.moments.get(key);
    if (known) return known;
    const moment: Moment = {
      waiting: [...reached].filter((index) => this.states[index]?.kind === "set"),
      isMatch: reached.has(MATCH),
      isMatchAtStart: this.reach(entered, isLineEnd, true).has(MATCH),
      next: new Map(),
    };
    if (this.moments.size >= SEARCH_REGEX_REMEMBERED_MAX) this.forget();
    this.moments.set(key, moment);
    return moment;
  }

  /** What nobody holds any more goes; the moment under way stays alive by itself. */
  private forget(): void {
    for (const moment of this.moments.values()) moment.next.clear();
    this.moments = new Map();
    this.atLineEnd.next.clear();
  }

  /** All states that are reached without a character, where the line's end or start is just here. */
  private reach(entered: readonly number[], isEnd: boolean, isStart: boolean): Set<number> {
    const reached = new Set<number>();
    const open = [...entered];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const state = this.states[index];
      if (!state || reached.has(index)) continue;
      // An assertion that may hold at the line's start is kept, so that moments which differ in it are not one.
      reached.add(index);
      if (state.kind === "split") open.push(...state.next);
      if (state.kind === "end" && isEnd || state.kind === "start" && isStart) open.push(state.next);
    }
    return reached;
  }

  /** Adds the states of a pattern in front of `next`, last part first: it is read backwards. Answers its entry. */
  private add(pattern: Pattern, next: number): number {
    switch (pattern.kind) {
      case "set":
        return this.push({ kind: "set", set: pattern.set, next });
      case "start":
      case "end":
        return this.push({ kind: pattern.kind, next });
      case "sequence":
        return pattern.parts.reduce((following, part) => this.add(part, following), next);
      case "alternatives":
        return this.push({ kind: "split", next: pattern.parts.map((part) => this.add(part, next)) });
      case "repeat":
        return this.addRepeat(pattern.part, pattern.least, pattern.most, next);
    }
  }

  private addRepeat(part: Pattern, least: number, most: number | null, next: number): number {
    let entry = next;
    if (most === null) {
      const loop = this.push({ kind: "split", next: [] });
      this.states[loop] = { kind: "split", next: [this.add(part, loop), next] };
      entry = loop;
    } else {
      for (let count = least; count < most; count++) {
        entry = this.push({ kind: "split", next: [this.add(part, entry), next] });
      }
    }
    for (let count = 0; count < least; count++) entry = this.add(part, entry);
    return entry;
  }

  private push(state: State): number {
    if (this.states.length >= SEARCH_REGEX_STATES_MAX) throw new PatternError("is too large");
    return this.states.push(state) - 1;
  }
}
