/** What another visitor waits while something is done. */

/** The service's health record, and the process that answers. */
export interface Watched {
  readonly url: string;
  readonly pid: number;
}

/** What passed until one answer came: time, and processor time that the process's first thread took meanwhile. */
export interface Wait {
  readonly milliseconds: number;
  readonly cpuSeconds: number;
}

/** A visitor who asks for the health record every 20 ms. */
export class HealthWatch {
  readonly #worker = new Worker(import.meta.resolve("./health_watch_worker.ts"), { type: "module" });

  constructor(private readonly watched: Watched) {}

  /** The longest wait while `work` ran, by either measure, and what `work` returned. */
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
