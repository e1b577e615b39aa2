/**
 * Regular expression matching in time linear in the text, for any pattern: a Thompson NFA, whose DFA states are built
 * when they are first reached. It reads each line backwards and matches the reversed pattern, so that a single pass
 * yields whether a line matches and where its first match begins. Source: https://swtch.com/~rsc/regexp/regexp1.html
 */
import {
  SEARCH_REGEX_DFA_STATES_MAX,
  SEARCH_REGEX_NFA_STATE_UNITS,
  SEARCH_REGEX_NFA_STATES_MAX,
} from "../limits.ts";
import type { Work } from "../runtime/work.ts";
import { type CharacterSet, hasCharacter } from "./character_set.ts";
import { type Pattern, PatternError } from "./posix_ere.ts";

type NfaState =
  | { readonly kind: "set"; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: "split"; readonly next: readonly number[] }
  | { readonly kind: "start" | "end"; readonly next: number }
  | { readonly kind: "match" };

/** A set of NFA states between two characters, and the transitions that have been built. */
export interface DfaState {
  /** The NFA states that consume a character. */
  readonly consuming: readonly number[];
  readonly isMatch: boolean;
  /** Whether it is a match if the line begins here. */
  readonly isMatchAtStart: boolean;
  readonly next: Map<number, DfaState>;
}

/** Where matching stopped within a line because the slice was over. */
export interface Paused {
  readonly at: number;
  readonly state: DfaState;
  readonly found: number;
}

const MATCH = 0;

export class LazyDfa {
  private readonly states: NfaState[] = [{ kind: "match" }];
  private readonly entry: number;
  private cache = new Map<string, DfaState>();
  private atLineEnd: DfaState;
  /** For each NFA state, the number of the last closure that reached it. */
  private readonly marks = new Float64Array(SEARCH_REGEX_NFA_STATES_MAX);
  private marked = 0;
  /** NFA states examined since they were last counted as work. */
  private visited = 0;

  /** Throws PatternError where the pattern is too large. */
  constructor(pattern: Pattern, private readonly ignoreCase: boolean) {
    this.entry = this.add(pattern, MATCH);
    this.atLineEnd = this.dfaState([this.entry], true);
  }

  /**
   * Returns the offset at which the first match in the line from `from` to `to` begins; -1 if there is none. Counts the
   * states that it builds as work. Where the slice is over, it returns where it stopped; pass that as `paused` to
   * continue.
   */
  find(text: string, from: number, to: number, work: Work, paused?: Paused): number | Paused {
    let state = paused?.state ?? this.atLineEnd;
    let found = paused?.found ?? (state.isMatch ? to : -1);
    for (let at = paused?.at ?? to; at > from;) {
      let code = text.charCodeAt(--at);
      if (code >= 0xdc00 && code <= 0xdfff && at > from) code = text.codePointAt(--at) ?? code;
      const known = state.next.get(code);
      state = known ?? this.step(state, code);
      if (state.isMatch) found = at;
      if (known === undefined && work.add(this.takeUnits())) return { at, state, found };
    }
    return state.isMatchAtStart ? from : found;
  }

  private takeUnits(): number {
    const units = this.visited * SEARCH_REGEX_NFA_STATE_UNITS;
    this.visited = 0;
    return units;
  }

  private step(state: DfaState, code: number): DfaState {
    this.visited += state.consuming.length;
    const entered = [this.entry];
    for (const index of state.consuming) {
      const nfaState = this.states[index];
      if (nfaState?.kind === "set" && hasCharacter(nfaState.set, code, this.ignoreCase)) {
        entered.push(nfaState.next);
      }
    }
    const next = this.dfaState(entered, false);
    state.next.set(code, next);
    return next;
  }

  private dfaState(entered: readonly number[], isLineEnd: boolean): DfaState {
    const reached = this.epsilonClosure(entered, isLineEnd, false);
    // The numbers of NFA states are below 65,536.
    const key = (isLineEnd ? "^" : "-") + String.fromCharCode(...Uint16Array.from(reached).sort());
    const cached = this.cache.get(key);
    if (cached) return cached;
    const isMatch = reached.includes(MATCH);
    const hasStart = reached.some((index) => this.states[index]?.kind === "start");
    const state: DfaState = {
      consuming: reached.filter((index) => this.states[index]?.kind === "set"),
      isMatch,
      isMatchAtStart: hasStart ? this.epsilonClosure(entered, isLineEnd, true).includes(MATCH) : isMatch,
      next: new Map(),
    };
    if (this.cache.size >= SEARCH_REGEX_DFA_STATES_MAX) this.evict();
    this.cache.set(key, state);
    return state;
  }

  /** Drops all cached states and their transitions; the caller's current state stays valid. */
  private evict(): void {
    for (const state of this.cache.values()) state.next.clear();
    this.cache = new Map();
    this.atLineEnd.next.clear();
  }

  /** All NFA states reached without consuming a character, at the line's end or start or within the line. */
  private epsilonClosure(entered: readonly number[], isEnd: boolean, isStart: boolean): number[] {
    const reached: number[] = [];
    const open = [...entered];
    const mark = ++this.marked;
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const state = this.states[index];
      if (!state || this.marks[index] === mark) continue;
      this.marks[index] = mark;
      this.visited++;
      // An assertion that may hold at the line's start is kept, to tell apart DFA states that differ only in it.
      reached.push(index);
      if (state.kind === "split") open.push(...state.next);
      if (state.kind === "end" && isEnd || state.kind === "start" && isStart) open.push(state.next);
    }
    return reached;
  }

  /** Adds the states of a pattern in front of `next`, last part first, since lines are read backwards. Returns its entry. */
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

  private push(state: NfaState): number {
    if (this.states.length >= SEARCH_REGEX_NFA_STATES_MAX) throw new PatternError("is too large");
    return this.states.push(state) - 1;
  }
}
