/** Time as the function measures its waiting; tests have one of their own, so that they need not wait. */
export interface Clock {
  /** Milliseconds from an arbitrary start, never going back. */
  now(): number;
  /** Runs `callback` after so many milliseconds, unless the function it returns is called before. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
