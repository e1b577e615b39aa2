/**
 * Work on the isolate's one thread. It is counted in units instead of being timed, so that the same request always does
 * the same; it is bounded, and done in slices, between which other requests are served.
 */
import { WORK_SLICE_UNITS } from "../limits.ts";
import { sleep } from "./clock.ts";

/** Requests whose next slice has not begun. They begin one after the other, each in a turn of the event loop of its own. */
let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a later turn of the event loop, and in a turn of its own, however many wait for one. */
export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setTimeout(resolve, 0)));
  return lastTurn;
}

/** The work of one request. A unit is one byte or UTF-16 code unit looked at or written, or what takes as long. */
export class Work {
  #units = 0;
  #sliceBegin = 0;

  /**
   * `onExceeded` is called, and must throw, once more than `maxUnits` have been counted. `restMilliseconds` is how long the
   * thread is left to others after each slice: costly work has it, so that it never takes all of the thread.
   */
  constructor(
    private readonly maxUnits: number = Infinity,
    private readonly onExceeded: () => never = throwExceeded,
    private readonly restMilliseconds = 0,
  ) {}

  /** What has been counted so far. */
  get units(): number {
    return this.#units;
  }

  /** Whether so much more would exceed the bound. */
  exceedsWith(units: number): boolean {
    return this.#units + units > this.maxUnits;
  }

  /**
   * Counts work that has been done, or is done next in one go. Returns whether the slice is over: then the caller awaits
   * `pause` before it goes on.
   */
  add(units: number): boolean {
    this.#units += units;
    if (this.#units > this.maxUnits) this.onExceeded();
    return this.#units - this.#sliceBegin >= WORK_SLICE_UNITS;
  }

  /** Lets others have their turn, and begins the next slice. */
  async pause(): Promise<void> {
    const slices = (this.#units - this.#sliceBegin) / WORK_SLICE_UNITS;
    if (this.restMilliseconds > 0) await sleep(this.restMilliseconds * slices);
    await nextTurn();
    this.beginSlice();
  }

  beginSlice(): void {
    this.#sliceBegin = this.#units;
  }
}

function throwExceeded(): never {
  throw new RangeError("more work than allowed");
}
