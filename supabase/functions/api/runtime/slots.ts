/** Slots for a resource that many requests need, such as one file: a few at a time, first come, first served. */
import { type ApiError, unavailable } from "../errors.ts";
import { ByteBudget, type Release } from "./byte_budget.ts";
import type { Deadline } from "./deadline.ts";

/** Frees a slot. Calling it again has no effect. */
export type ReleaseSlot = Release;

/** For each key at most `atOnce` slots are taken at a time. Keys without slots or waiting requests take no memory. */
export class Slots {
  /** The slots of a key, counted as a budget. */
  readonly #budgets = new Map<string, ByteBudget>();

  /** `late` returns the error for a request that waited too long, or that found `waitingMax` others waiting. */
  constructor(
    private readonly atOnce: number,
    private readonly late: () => ApiError = busyFile,
    private readonly waitingMax = Infinity,
  ) {}

  /** Whether a slot of the key is taken. */
  isBusy(key: string): boolean {
    return this.#budgets.has(key);
  }

  /**
   * Takes a slot once all earlier requests have had one or given up. Throws the error of `late` (by default 503
   * `SERVICE_UNAVAILABLE`) when the deadline passes, or at once when the queue is full. Throws the signal's reason
   * when it aborts.
   */
  async acquire(key: string, deadline: Deadline, signal?: AbortSignal): Promise<ReleaseSlot> {
    signal?.throwIfAborted();
    const budget = this.#budgets.get(key) ?? new ByteBudget(this.atOnce);
    this.#budgets.set(key, budget);
    const free = budget.tryAcquire(1);
    if (!free && budget.waiting >= this.waitingMax) throw this.late();
    const { clock, remainingMilliseconds } = deadline;
    const release = free ??
      await deadline.count(() => budget.acquire(1, remainingMilliseconds, signal, clock, this.late));
    return () => {
      release();
      if (budget.takenBytes === 0 && this.#budgets.get(key) === budget) this.#budgets.delete(key);
    };
  }
}

function busyFile(): ApiError {
  return unavailable("Too many requests want to change this file at the same time. Try again.");
}
