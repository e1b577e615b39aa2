/** How long one request, or one piece of background work, may wait for the back end: all its calls and tries together. */
import { TRANSFER_MILLISECONDS_PER_MIB } from "../limits.ts";
import { type Clock, sleep } from "./clock.ts";

/** What `within` resolves to when the time is over first. */
export const LATE = Symbol("late");

/**
 * A budget of waiting. Time counts while at least one wait is open, however many are; what a request computes, and the
 * time it waits for its client, does not count.
 */
export class Deadline {
  #leftMilliseconds: number;
  #openWaits = 0;
  #openSince = 0;

  /** `whole`: the deadline that this one is a part of. */
  constructor(milliseconds: number, readonly clock: Clock, private readonly whole?: Deadline) {
    this.#leftMilliseconds = milliseconds;
  }

  get remainingMilliseconds(): number {
    const waited = this.#openWaits > 0 ? this.clock.now() - this.#openSince : 0;
    const own = Math.max(0, this.#leftMilliseconds - waited);
    return this.whole ? Math.min(own, this.whole.remainingMilliseconds) : own;
  }

  /** For calls that may use up so much of this deadline, and no more. */
  part(milliseconds: number): Deadline {
    return new Deadline(milliseconds, this.clock, this);
  }

  /**
   * For content on its way from or to the client: that many bytes were moved, so the rest may take
   * TRANSFER_MILLISECONDS_PER_MIB longer. Without it no large file could be sent; and a back end that stays silent moves
   * nothing, so it is given up as early as ever.
   */
  extend(bytes: number): void {
    this.#leftMilliseconds += bytes / (1024 * 1024) * TRANSFER_MILLISECONDS_PER_MIB;
  }

  /** Gives back so much of the time that was used, up to `most` in all. */
  regain(milliseconds: number, most: number): void {
    this.#leftMilliseconds = Math.min(most, this.#leftMilliseconds + milliseconds);
  }

  /** Counts the time that `work` takes. */
  count<T>(work: () => Promise<T>): Promise<T> {
    const counted = () => this.#count(work);
    return this.whole ? this.whole.count(counted) : counted();
  }

  async #count<T>(work: () => Promise<T>): Promise<T> {
    if (this.#openWaits++ === 0) this.#openSince = this.clock.now();
    try {
      return await work();
    } finally {
      if (--this.#openWaits === 0) this.#leftMilliseconds -= this.clock.now() - this.#openSince;
    }
  }

  /**
   * The value of `promise`, or LATE once `milliseconds` have passed or nothing remains. Whatever the promise does later
   * is ignored.
   */
  async within<T>(milliseconds: number, promise: Promise<T>): Promise<T | typeof LATE> {
    // Avoids an unhandled rejection after the time is over.
    promise.catch(() => {});
    let cancel = () => {};
    const late = new Promise<typeof LATE>((resolve) => {
      cancel = this.clock.after(Math.min(milliseconds, this.remainingMilliseconds), () => resolve(LATE));
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      cancel();
    }
  }

  /** Sleeps. */
  async pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, this.clock);
  }
}
