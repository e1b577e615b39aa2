/** The time that one request, or one piece of background work, may wait for the back end, over all its calls and tries. */
import { TRANSFER_MILLISECONDS_PER_MIB } from "../limits.ts";
import type { Clock } from "./clock.ts";

/** What `within` resolves to when the time runs out first. */
export const LATE = Symbol("late");

/**
 * A budget of waiting. Time counts while at least one wait is open, and only once for concurrent waits. The time in
 * which a request computes, or waits for its client, does not count.
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

  /** A deadline for calls that may use up at most `milliseconds` of this one. */
  part(milliseconds: number): Deadline {
    return new Deadline(milliseconds, this.clock, this);
  }

  /**
   * Adds TRANSFER_MILLISECONDS_PER_MIB for content that was moved from or to the client. Without it no large file could
   * be sent. A back end that stays silent moves nothing, so the request still gives up early.
   */
  extend(bytes: number): void {
    this.#leftMilliseconds += bytes / (1024 * 1024) * TRANSFER_MILLISECONDS_PER_MIB;
  }

  /** Adds time that was used, up to `most` milliseconds remaining. */
  regain(milliseconds: number, most: number): void {
    this.#leftMilliseconds = Math.min(most, this.#leftMilliseconds + milliseconds);
  }

  /** Runs `work`, and counts the time that it takes. */
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

  /** The value of `promise`, or LATE once `milliseconds` have passed or no time remains: then its result is ignored. */
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
}
