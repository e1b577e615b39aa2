/** A clock that tests move by hand, for code that takes its clock as a parameter. */
import type { Clock } from "../../supabase/functions/api/runtime/clock.ts";

/** Idle rounds of the event loop before time moves on, so that answers that have arrived are read first. */
const IDLE_TURNS = 10;

export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly due: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    // Whole milliseconds, so that sums of them are exact.
    const timer = { due: this.#now + Math.ceil(milliseconds), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves the clock on, and runs the timers that become due on the way. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (let next = this.#next(); next && next.due <= end; next = this.#next()) this.#run(next);
    this.#now = end;
  }

  /**
   * Until `work` has ended, jumps to the next timer if it is at most `horizon()` milliseconds away. `horizon` returns 0
   * while other work is under way.
   */
  async runUntil<T>(work: Promise<T>, horizon: () => number): Promise<T> {
    let isDone = false;
    const done = work.finally(() => isDone = true);
    done.catch(() => {/* awaited below */});
    for (let idleTurns = 0; !isDone;) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      const most = horizon();
      idleTurns = most > 0 ? idleTurns + 1 : 0;
      const next = this.#next();
      if (isDone || !next || idleTurns < IDLE_TURNS || next.due - this.#now > most) continue;
      idleTurns = 0;
      this.#run(next);
    }
    return await done;
  }

  #next() {
    return [...this.#timers].filter(({ due }) => due < Infinity).sort((one, other) => one.due - other.due)[0];
  }

  #run(timer: { readonly due: number; readonly callback: () => void }): void {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.due);
    timer.callback();
  }
}
