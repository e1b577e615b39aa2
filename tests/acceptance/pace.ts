/**
 * Sends requests no faster than the project's window allows: up to the number that the last headers allow, then waits
 * for the next window.
 */
import type { Rate } from "../support/client/contract.ts";

export interface Clock {
  /** Milliseconds since the epoch, on the service's clock. */
  now(): number;
  wait(milliseconds: number): Promise<void>;
}

/** The window is a clock minute, and the clocks of the service's parts differ a little. */
const MARGIN_MILLISECONDS = 500;

export class Pace {
  readonly #clock: Clock;
  readonly #onWait: (seconds: number) => void;
  #left = Number.MAX_SAFE_INTEGER;
  #inFlight = 0;
  #limit = 1;
  /** UTC epoch seconds. */
  #reset = 0;

  constructor(clock: Clock, onWait: (seconds: number) => void = () => {}) {
    this.#clock = clock;
    this.#onWait = onWait;
  }

  /** Resolves when the next request may be sent. */
  async turn(): Promise<void> {
    while (this.#left <= 0) {
      const reset = this.#reset;
      await this.pause(reset * 1000 - this.#clock.now() + MARGIN_MILLISECONDS);
      if (this.#reset !== reset || this.#left > 0) continue;
      this.#left = this.#limit - this.#inFlight;
    }
    this.#left--;
    this.#inFlight++;
  }

  /** Records the window that an answer reports. Answers of one window may arrive in any order. */
  answered({ limit, remaining, reset }: Rate): void {
    this.#inFlight--;
    this.#limit = limit;
    if (reset > this.#reset) this.#left = remaining - this.#inFlight;
    else if (reset === this.#reset) this.#left = Math.min(this.#left, remaining);
    this.#reset = Math.max(this.#reset, reset);
  }

  /** Call this for a request without an answer. */
  failed(): void {
    this.#inFlight--;
  }

  async pause(milliseconds: number): Promise<void> {
    const whole = Math.max(MARGIN_MILLISECONDS, milliseconds);
    this.#onWait(Math.ceil(whole / 1000));
    await this.#clock.wait(whole);
  }
}
