/** Counts per clock minute or hour in the memory of one isolate, best effort: failed authentications, free requests. */
import type { RateView } from "../ports/answer.ts";

const MINUTE = 60_000;

/** A window of `limit` for each key, such as a client address or an account. */
export class MinuteCounts {
  private readonly counts = new Map<string, number>();
  private period = 0;

  constructor(
    private readonly limit: number,
    private readonly keysMax: number,
    private readonly periodMilliseconds = MINUTE,
  ) {}

  /** The window of a key, for the headers. */
  view(key: string, now: number): RateView {
    this.roll(now);
    const count = this.counts.get(this.bounded(key)) ?? 0;
    return {
      limit: this.limit,
      remaining: Math.max(0, this.limit - count),
      reset: (this.period + 1) * (this.periodMilliseconds / 1000),
    };
  }

  /** Counts one and returns true; returns false if the window is full. */
  consume(key: string, now: number): boolean {
    this.roll(now);
    const bounded = this.bounded(key);
    const count = this.counts.get(bounded) ?? 0;
    if (count >= this.limit) return false;
    this.counts.set(bounded, count + 1);
    return true;
  }

  /** Bounds the memory under a flood of keys: all keys beyond the maximum have one count together. */
  private bounded(key: string): string {
    return this.counts.has(key) || this.counts.size < this.keysMax ? key : "";
  }

  private roll(now: number): void {
    const period = Math.floor(now / this.periodMilliseconds);
    if (period === this.period) return;
    this.period = period;
    this.counts.clear();
  }
}
