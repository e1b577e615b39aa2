/** Slots for what many requests want at the same time, such as one file: a few at a time, first come, first served. */
import { type ApiError, unavailable } from "../errors.ts";
import type { Deadline } from "./deadline.ts";

/** Frees a slot. Calling it again has no effect. */
export type ReleaseSlot = () => void;

interface Queue {
  running: number;
  readonly waiting: (() => void)[];
}

/** For each key at most `atOnce` slots are taken at a time. Keys without slots or waiting requests take no memory. */
export class Slots {
  readonly #atOnce: number;
  readonly #queues = new Map<string, Queue>();

  /** `late` returns the error for a request that waited too long, or that found `waitingMax` others waiting. */
  constructor(
    atOnce: number,
    private readonly late: () => ApiError = busyFile,
    private readonly waitingMax = Infinity,
  ) {
    this.#atOnce = atOnce;
  }

  /** Whether a slot of the key is taken. */
  isBusy(key: string): boolean {
    return this.#queues.has(key);
  }

  /**
   * Takes a slot once all earlier requests have had one or given up. Throws the error of `late` (by default 503
   * `SERVICE_UNAVAILABLE`) when the deadline passes, or at once when the queue is full. Throws the signal's reason
   * when it aborts.
   */
  acquire(key: string, deadline: Deadline, signal?: AbortSignal): Promise<ReleaseSlot> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const queue = this.#queues.get(key) ?? { running: 0, waiting: [] };
    this.#queues.set(key, queue);
    if (queue.running < this.#atOnce) return Promise.resolve(this.#begin(key, queue));
    if (queue.waiting.length >= this.waitingMax) return Promise.reject(this.late());
    return deadline.count(() => this.#wait(key, queue, deadline, signal));
  }

  #wait(
    key: string,
    queue: Queue,
    deadline: Deadline,
    signal: AbortSignal | undefined,
  ): Promise<ReleaseSlot> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        cancel();
        signal?.removeEventListener("abort", abort);
        queue.waiting.splice(queue.waiting.indexOf(admit), 1);
      };
      const admit = () => {
        leave();
        resolve(this.#begin(key, queue));
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
      queue.waiting.push(admit);
    });
  }

  #begin(key: string, queue: Queue): ReleaseSlot {
    queue.running++;
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      queue.running--;
      queue.waiting[0]?.();
      if (queue.running === 0) this.#queues.delete(key);
    };
  }
}

function busyFile(): ApiError {
  return unavailable("Too many requests want to change this file at the same time. Try again.");
}
