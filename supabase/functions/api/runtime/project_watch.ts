/** Requests that wait for an event in their project: one call to the back end at a time serves all of them. */
import { CHANGES_POLL_MILLISECONDS, CHANGES_WAITERS_MAX } from "../limits.ts";
import type { Clock } from "./clock.ts";

interface Waiter<Question> {
  readonly question: Question;
  readonly resolve: (holds: boolean) => void;
}

interface Watch<Question> {
  readonly waiters: Set<Waiter<Question>>;
  /** When the back end was last asked. */
  askedAt: number;
}

/** One per isolate and kind of event. A project without waiting requests takes no memory and causes no calls. */
export class ProjectWatch<Question> {
  readonly #watches = new Map<string, Watch<Question>>();

  /** `ask` returns for each question of a project whether its condition holds. A call that fails is repeated. */
  constructor(
    private readonly ask: (projectId: string, questions: readonly Question[]) => Promise<readonly boolean[]>,
    private readonly clock: Clock,
  ) {}

  /** The number of requests that wait for the project. */
  waiters(projectId: string): number {
    return this.#watches.get(projectId)?.waiters.size ?? 0;
  }

  /**
   * Waits until the condition holds, and returns true. Returns false once the time is over, or at once where
   * CHANGES_WAITERS_MAX requests wait already. Rejects with the signal's reason when it aborts.
   */
  async wait(
    projectId: string,
    question: Question,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    signal.throwIfAborted();
    if (milliseconds <= 0 || this.waiters(projectId) >= CHANGES_WAITERS_MAX) return false;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waiter = { question, resolve };
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    const cancel = this.clock.after(milliseconds, () => resolve(false));
    const known = this.#watches.get(projectId);
    const watch = known ?? { waiters: new Set<Waiter<Question>>(), askedAt: this.clock.now() };
    watch.waiters.add(waiter);
    if (!known) {
      this.#watches.set(projectId, watch);
      this.#askLater(projectId, watch);
    }
    try {
      return await promise;
    } finally {
      cancel();
      signal.removeEventListener("abort", abort);
      this.#watches.get(projectId)?.waiters.delete(waiter);
    }
  }

  /** Calls the back end once CHANGES_POLL_MILLISECONDS have passed since its last call. */
  #askLater(projectId: string, watch: Watch<Question>): void {
    const wait = Math.max(0, watch.askedAt + CHANGES_POLL_MILLISECONDS - this.clock.now());
    this.clock.after(wait, () => void this.#ask(projectId, watch));
  }

  async #ask(projectId: string, watch: Watch<Question>): Promise<void> {
    if (watch.waiters.size === 0) return void this.#watches.delete(projectId);
    watch.askedAt = this.clock.now();
    const asking = [...watch.waiters];
    try {
      const answers = await this.ask(projectId, asking.map(({ question }) => question));
      for (const [index, { resolve }] of asking.entries()) if (answers[index]) resolve(true);
    } catch {
      // The back end is out of reach, which its call has logged. The next poll asks again while requests wait.
    }
    this.#askLater(projectId, watch);
  }
}
