/** A line on a terminal with the progress of a long command, and an estimate of the remaining time. */
import { stderr } from "node:process";
import { TRANSFER_PROGRESS_MILLISECONDS } from "../limits.ts";

export class Progress {
  readonly #start = Date.now();
  readonly #isShown = stderr.isTTY === true;
  #shownAt = 0;
  #done = 0;
  #before = 0;
  #bytes = 0;

  /** `total` is the estimated number of items; `already` is how many of them an earlier run has finished. */
  constructor(private readonly what: string, private readonly total: number, already = 0) {
    this.#done = this.#before = already;
  }

  add(count: number, bytes: number): void {
    this.#done += count;
    this.#bytes += bytes;
    if (!this.#isShown || Date.now() - this.#shownAt < TRANSFER_PROGRESS_MILLISECONDS) return;
    this.#shownAt = Date.now();
    write(`\r${this.text()}\x1b[K`);
  }

  text(now = Date.now()): string {
    const total = Math.max(this.total, this.#done);
    const fresh = this.#done - this.#before;
    const left = fresh === 0 ? NaN : (now - this.#start) / fresh * (total - this.#done);
    const estimate = Number.isFinite(left) && left > 0 ? `, ${duration(left)} left` : "";
    return `${this.#done} of ${total} ${this.what}, ${(this.#bytes / 1e6).toFixed(1)} MB${estimate}`;
  }

  end(): void {
    if (this.#isShown) write("\r\x1b[K");
  }
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 90) return `about ${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `about ${minutes} min` : `about ${Math.ceil(minutes / 60)} h`;
}

function write(text: string): void {
  stderr.write(text);
}
