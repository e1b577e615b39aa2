/**
 * Work on the isolate's one thread. It is counted in units instead of being timed, so that a repeated request does the
 * same work. It is bounded, and done in slices, between which the isolate serves other requests.
 */
import { WORK_SLICE_UNITS } from "../limits.ts";
import { sleep } from "./clock.ts";

/** Resolves when the last requested slice begins. Each slice begins in an event-loop task of its own. */
let lastSlice: Promise<void> = Promise.resolve();

/** Resolves in a later task of the event loop, which no other caller of this function shares. */
export function nextSlice(): Promise<void> {
  lastSlice = lastSlice.then(() => new Promise((resolve) => setTimeout(resolve, 0)));
  return lastSlice;
}

/** The work of one request. A unit is the time to examine or write one byte or UTF-16 code unit. */
export class Work {
  #units = 0;
  #sliceBegin = 0;

  /**
   * `onExceeded` is called, and must throw, once more than `maxUnits` have been counted. `restMilliseconds` is the
   * pause after each slice: it keeps costly work from taking all of the thread.
   */
  constructor(
    private readonly maxUnits: number = Infinity,
    private readonly onExceeded: () => never = throwExceeded,
    private readonly restMilliseconds = 0,
  ) {}

  get units(): number {
    return this.#units;
  }

  /** Whether `units` more would exceed the bound. */
  exceedsWith(units: number): boolean {
    return this.#units + units > this.maxUnits;
  }

  /**
   * Counts work that was done, or that the caller does next without a pause. Returns whether the slice is over: then
   * the caller must await `pause` before it continues.
   */
  add(units: number): boolean {
    this.#units += units;
    if (this.#units > this.maxUnits) this.onExceeded();
    return this.#units - this.#sliceBegin >= WORK_SLICE_UNITS;
  }

  /** Lets other requests run, and begins the next slice. */
  async pause(): Promise<void> {
    const slices = (this.#units - this.#sliceBegin) / WORK_SLICE_UNITS;
    if (this.restMilliseconds > 0) await sleep(this.restMilliseconds * slices);
    await nextSlice();
    this.beginSlice();
  }

  beginSlice(): void {
    this.#sliceBegin = this.#units;
  }
}

function throwExceeded(): never {
  throw new RangeError("more work than allowed");
}
