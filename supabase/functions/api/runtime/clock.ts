/** The clock by which the function waits; tests replace it, so that they need not wait. */
export interface Clock {
  /** Milliseconds from an arbitrary start; the value never decreases. */
  now(): number;
  /** Runs `callback` after this many milliseconds, at once if less than 0, unless the returned function is called before. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** Resolves after this many milliseconds, in a later task of the event loop. Rejects with the signal's reason when it aborts. */
export function sleep(milliseconds: number, clock: Clock = systemClock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(milliseconds, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort);
  });
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    // The runtime warns of negative times.
    const timer = setTimeout(callback, Math.max(0, milliseconds));
    return () => clearTimeout(timer);
  },
};
