/** A memory budget for large buffers, so that many large requests do not exhaust an isolate. */
import { type ApiError, unavailable } from "../errors.ts";
import { type Clock, systemClock } from "./clock.ts";

/** Returns bytes to the budget. Calling it again has no effect. */
export type Release = () => void;

/** Bytes for all requests of an isolate, first come, first served: smaller requests do not overtake larger ones. */
export class ByteBudget {
  #takenBytes = 0;
  readonly #waiters: { readonly bytes: number; readonly admit: () => void }[] = [];

  constructor(private readonly totalBytes: number) {}

  /**
   * Takes `bytes`, at most the total, as soon as there is room and every earlier request has been served. Throws the
   * error of `late` after `waitMilliseconds`, by default 503 `SERVICE_UNAVAILABLE`, and the signal's reason when it aborts.
   */
  acquire(
    bytes: number,
    waitMilliseconds: number,
    signal?: AbortSignal,
    clock: Clock = systemClock,
    late: () => ApiError = busy,
  ): Promise<Release> {
    const taken = Math.min(Math.max(bytes, 0), this.totalBytes);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#waiters.length === 0 && this.#hasRoom(taken)) return Promise.resolve(this.#take(taken));
    return new Promise((resolve, reject) => {
      const leave = () => {
        cancel();
        signal?.removeEventListener("abort", abort);
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      };
      const giveUp = (reason: unknown) => {
        leave();
        reject(reason);
        // The next waiter may be small enough for the room that is left.
        this.#admitWaiters();
      };
      const abort = () => giveUp(signal?.reason);
      const cancel = clock.after(waitMilliseconds, () => giveUp(late()));
      const waiter = {
        bytes: taken,
        admit: () => {
          leave();
          resolve(this.#take(taken));
        },
      };
      signal?.addEventListener("abort", abort);
      this.#waiters.push(waiter);
    });
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  get waiting(): number {
    return this.#waiters.length;
  }

  /** Takes the bytes, even while requests wait, if at most `mostBytes` are taken then; otherwise returns null. */
  tryTakeWithin(bytes: number, mostBytes: number): Release | null {
    return this.#takenBytes + bytes <= mostBytes ? this.#take(bytes) : null;
  }

  /** Takes the bytes if there is room now and no request is waiting; otherwise returns null. */
  tryAcquire(bytes: number): Release | null {
    return this.#waiters.length === 0 && this.#hasRoom(bytes) ? this.#take(bytes) : null;
  }

  #hasRoom(bytes: number): boolean {
    return this.#takenBytes + bytes <= this.totalBytes;
  }

  #take(bytes: number): Release {
    this.#takenBytes += bytes;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#takenBytes -= bytes;
      this.#admitWaiters();
    };
  }

  #admitWaiters(): void {
    for (let first = this.#waiters[0]; first && this.#hasRoom(first.bytes); first = this.#waiters[0]) {
      first.admit();
    }
  }
}

function busy(): ApiError {
  return unavailable("The service is busy with other large requests. Try again.");
}
