/** A memory budget for large buffers, so that many large requests do not exhaust an isolate. */
import { unavailable } from "../errors.ts";

/** Returns a share to the budget. Calling it again has no effect. */
export type Release = () => void;

interface Waiter {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Bytes shared by all requests of an isolate, first come, first served: smaller requests do not overtake. */
export class ByteBudget {
  readonly #totalBytes: number;
  #takenBytes = 0;
  readonly #waiters: Waiter[] = [];

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes;
  }

  /**
   * Takes a share as soon as there is room and every earlier request has its own. More than the total counts as the
   * total. Throws 503 `SERVICE_UNAVAILABLE` after `waitMilliseconds`, and the signal's reason when it aborts.
   */
  acquire(bytes: number, waitMilliseconds: number, signal?: AbortSignal): Promise<Release> {
    const share = Math.min(Math.max(bytes, 0), this.#totalBytes);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#waiters.length === 0 && this.#hasRoom(share)) return Promise.resolve(this.#take(share));
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      };
      const giveUp = (reason: unknown) => {
        leave();
        reject(reason);
        // The next one may be small enough for the room there is.
        this.#admitWaiters();
      };
      const abort = () => giveUp(signal?.reason);
      const timer = setTimeout(
        () => giveUp(unavailable("The service is busy with other large requests.")),
        waitMilliseconds,
      );
      const waiter: Waiter = {
        bytes: share,
        admit: () => {
          leave();
          resolve(this.#take(share));
        },
      };
      signal?.addEventListener("abort", abort);
      this.#waiters.push(waiter);
    });
  }

  /** Takes a share if there is room for it now and no request is waiting; otherwise returns null. */
  tryAcquire(bytes: number): Release | null {
    return this.#waiters.length === 0 && this.#hasRoom(bytes) ? this.#take(bytes) : null;
  }

  #hasRoom(bytes: number): boolean {
    return this.#takenBytes + bytes <= this.#totalBytes;
  }

  #take(bytes: number): Release {
    this.#takenBytes += bytes;
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
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
