/** Measures how long another client waits while the service does something. */

/** The service's health route, and the process that answers it. */
export interface Watched {
  readonly url: string;
  readonly pid: number;
}

/** The time until one answer came, and the processor time that the process's first thread used in it. */
export interface Wait {
  readonly milliseconds: number;
  readonly cpuSeconds: number;
}

/** A client that requests the health record every 20 ms. */
export class HealthWatch {
  readonly #worker = new Worker(import.meta.resolve("./health_watch_worker.ts"), { type: "module" });

  constructor(private readonly watched: Watched) {}

  /** Returns the longest wait while `work` ran, by each measure, and the result of `work`. */
  async during<T>(work: () => Promise<T>): Promise<{ longest: Wait; result: T }> {
    this.#worker.postMessage(this.watched);
    let result: T;
    try {
      result = await work();
    } finally {
      this.#worker.postMessage(this.watched);
    }
    const waits = await new Promise<readonly Wait[]>((resolve, reject) => {
      this.#worker.onmessage = ({ data }) => resolve(data);
      this.#worker.onerror = ({ message }) => reject(new Error(message));
    });
    const most = (part: keyof Wait) => Math.max(0, ...waits.map((wait) => wait[part]));
    return { longest: { milliseconds: most("milliseconds"), cpuSeconds: most("cpuSeconds") }, result };
  }

  stop(): void {
    this.#worker.terminate();
  }
}
