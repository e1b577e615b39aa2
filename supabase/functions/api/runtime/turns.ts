/** Turns at what many requests want at the same time, such as one file: a few at a time, first come, first served. */
import { type ApiError, unavailable } from "../errors.ts";
import type { Deadline } from "./deadline.ts";

/** Ends a turn. Calling it again has no effect. */
export type EndTurn = () => void;

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

/** For each key at most so many turns at a time. Keys that nobody uses take no memory. */
export class Turns {
  readonly #atOnce: number;
  readonly #lines = new Map<string, Line>();

  /** `late` makes the error of a turn that did not come in time, or for which `waitingMax` wait already. */
  constructor(
    atOnce: number,
    private readonly late: () => ApiError = busyFile,
    private readonly waitingMax = Infinity,
  ) {
    this.#atOnce = atOnce;
  }

  /** Whether anybody has or awaits a turn. */
  isBusy(key: string): boolean {
    return this.#lines.has(key);
  }

  /**
   * Takes a turn once everyone who came earlier has had theirs or given up. Throws the error of `late`, by default 503
   * `SERVICE_UNAVAILABLE`, when the deadline is over first, at once where too many wait, and the signal's reason when it aborts.
   */
  take(key: string, deadline: Deadline, signal?: AbortSignal): Promise<EndTurn> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const line = this.#lines.get(key) ?? { running: 0, waiting: [] };
    this.#lines.set(key, line);
    if (line.running < this.#atOnce) return Promise.resolve(this.#begin(key, line));
    if (line.waiting.length >= this.waitingMax) return Promise.reject(this.late());
    return deadline.count(() => this.#wait(key, line, deadline, signal));
  }

  #wait(key: string, line: Line, deadline: Deadline, signal: AbortSignal | undefined): Promise<EndTurn> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        cancel();
        signal?.removeEventListener("abort", abort);
        line.waiting.splice(line.waiting.indexOf(admit), 1);
      };
      const admit = () => {
        leave();
        resolve(this.#begin(key, line));
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const cancel = deadline.clock.after(deadline.remainingMilliseconds, () => {
        leave();
        reject(this.late());
      });
      signal?.addEventListener("abort", abort);
      line.waiting.push(admit);
    });
  }

  #begin(key: string, line: Line): EndTurn {
    line.running++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      line.running--;
      line.waiting[0]?.();
      if (line.running === 0) this.#lines.delete(key);
    };
  }
}

function busyFile(): ApiError {
  return unavailable("Too many requests want to change this file at the same time. Try again.");
}
