/** Function processes in round-robin order, like isolates: no request may depend on the state of one of them. */
import type { FunctionCommand } from "./function_command.ts";
import { FunctionProcess, type FunctionProcessOptions, type Upstream } from "./function_process.ts";

export class FunctionPool {
  readonly #processes: FunctionProcess[];
  readonly #waiting = new Set<() => void>();
  #last = 0;

  constructor(
    count: number,
    command: FunctionCommand,
    onLog: (line: string) => void,
    times: Pick<FunctionProcessOptions, "stopTimeoutMilliseconds" | "restartMaxMilliseconds"> = {},
  ) {
    const onChange = () => this.#waiting.forEach((wake) => wake());
    this.#processes = Array.from(
      { length: count },
      () => new FunctionProcess({ command, onLog, onChange, ...times }),
    );
  }

  get pids(): number[] {
    return this.#processes.flatMap(({ pid }) => pid ?? []);
  }

  async start(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
  }

  /** Returns the next listening process. If no process listens, waits for one, and returns null after `waitMilliseconds`. */
  async next(waitMilliseconds: number): Promise<Upstream | null> {
    const ready = this.#nextReady();
    if (ready !== null) return ready;
    const { promise, resolve } = Promise.withResolvers<Upstream | null>();
    const timer = setTimeout(() => resolve(null), waitMilliseconds);
    const wake = () => {
      const upstream = this.#nextReady();
      if (upstream !== null) resolve(upstream);
    };
    this.#waiting.add(wake);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
    }
  }

  #nextReady(): Upstream | null {
    for (let step = 0; step < this.#processes.length; step++) {
      this.#last = (this.#last + 1) % this.#processes.length;
      const upstream = this.#processes[this.#last]?.upstream;
      if (upstream) return upstream;
    }
    return null;
  }
}
