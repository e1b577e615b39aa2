/** Memory for the bodies of requests: a body holds what has arrived of it, so that nobody waits for bytes that do not come. */
import { unavailable } from "../errors.ts";
import { ByteBudget, type Release } from "./byte_budget.ts";

interface Project {
  /** What the bodies of the project may become, all together. */
  readonly claims: ByteBudget;
  bodies: number;
  /** Whether a body of unknown length waits to become longer. */
  isWidening: boolean;
}

interface Waiter {
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * Bytes shared by all bodies of an isolate. A project has up to `projectBytes` of them, and its bodies wait for each other
 * as soon as they could become more. While all bodies together hold no more than `projectBytes`, each holds what has
 * arrived; beyond that a body gets all that it lacks, or waits for it, first come, first served. So no two bodies that
 * are half there wait for each other's end.
 */
export class BodyBudget {
  readonly #projects = new Map<string, Project>();
  readonly #waiters: Waiter[] = [];
  #heldBytes = 0;

  constructor(private readonly totalBytes: number, private readonly projectBytes: number) {}

  /** What all bodies hold. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Resolves when the project has room for a body of up to `declaredBytes`; more than `projectBytes` count as those. A body
   * of unknown length (null) counts as a third of them, until it is longer: then it takes the whole, once it can. Throws
   * 503 `SERVICE_UNAVAILABLE` after `waitMilliseconds`, and the signal's reason when it aborts.
   */
  async open(
    projectId: string,
    declaredBytes: number | null,
    waitMilliseconds: number,
    signal: AbortSignal,
  ): Promise<Body> {
    const project = this.#projects.get(projectId) ??
      { claims: new ByteBudget(this.projectBytes), bodies: 0, isWidening: false };
    this.#projects.set(projectId, project);
    project.bodies++;
    const leave = () => {
      if (--project.bodies === 0) this.#projects.delete(projectId);
    };
    try {
      const claimed = Math.min(declaredBytes ?? Math.floor(this.projectBytes / 3), this.projectBytes);
      const releases = [await project.claims.acquire(claimed, waitMilliseconds, signal), leave];
      const widen = async () => {
        // Two of them could wait for each other.
        if (project.isWidening) throw unavailable("The project sends other large bodies. Try again.");
        project.isWidening = true;
        try {
          const more = this.projectBytes - claimed;
          releases.push(await project.claims.acquire(more, waitMilliseconds, signal));
        } finally {
          project.isWidening = false;
        }
        return this.projectBytes;
      };
      return new Body(this, claimed, waitMilliseconds, signal, {
        widen: declaredBytes === null ? widen : null,
        leave: () => {
          for (const release of releases) release();
        },
      });
    } catch (error) {
      leave();
      throw error;
    }
  }

  /**
   * Of `Body`: takes so much more, or `lackingBytes`, all that the body lacks. Returns what it took where there is room at
   * once, else a promise of it.
   */
  grow(
    bytes: number,
    lackingBytes: number,
    waitMilliseconds: number,
    signal: AbortSignal,
  ): number | Promise<number> {
    if (this.#heldBytes + bytes <= this.projectBytes) return this.#take(bytes);
    if (this.#waiters.length === 0 && this.#hasRoom(lackingBytes)) return this.#take(lackingBytes);
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      };
      const abort = () => {
        leave();
        reject(signal.reason);
        this.#admitWaiters();
      };
      const timer = setTimeout(() => {
        leave();
        reject(unavailable("The service is busy with other large requests."));
        // The next one may need less.
        this.#admitWaiters();
      }, waitMilliseconds);
      const waiter: Waiter = {
        bytes: lackingBytes,
        admit: () => {
          leave();
          resolve(this.#take(lackingBytes));
        },
      };
      signal.addEventListener("abort", abort);
      this.#waiters.push(waiter);
    });
  }

  /** Of `Body`: gives back all that it holds. */
  shrink(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#admitWaiters();
  }

  #hasRoom(bytes: number): boolean {
    return this.#heldBytes + bytes <= this.totalBytes;
  }

  #take(bytes: number): number {
    this.#heldBytes += bytes;
    return bytes;
  }

  #admitWaiters(): void {
    for (let first = this.#waiters[0]; first && this.#hasRoom(first.bytes); first = this.#waiters[0]) {
      first.admit();
    }
  }
}

/** What one body holds. */
export class Body {
  #heldBytes = 0;
  #isReleased = false;
  #mostBytes: number;

  constructor(
    private readonly budget: BodyBudget,
    mostBytes: number,
    private waitMilliseconds: number,
    private readonly signal: AbortSignal,
    private readonly claim: { widen: (() => Promise<number>) | null; readonly leave: Release },
  ) {
    this.#mostBytes = mostBytes;
  }

  /**
   * From now on it holds so much in all; it never holds less than before. Returns undefined where there is room, else what
   * to wait for. Rejects with 503 `SERVICE_UNAVAILABLE` when that takes too long, and with the signal's reason.
   */
  hold(bytes: number): Promise<void> | undefined {
    if (bytes > this.#mostBytes && this.claim.widen) return this.#widen(this.claim.widen, bytes);
    const more = Math.min(bytes, this.#mostBytes) - this.#heldBytes;
    if (more <= 0) return undefined;
    const lacking = this.#mostBytes - this.#heldBytes;
    const taken = this.budget.grow(more, lacking, this.waitMilliseconds, this.signal);
    if (typeof taken === "number") {
      this.#heldBytes += taken;
      return undefined;
    }
    return taken.then((bytes) => {
      this.#heldBytes += bytes;
    });
  }

  async #widen(widen: () => Promise<number>, bytes: number): Promise<void> {
    this.#mostBytes = await widen();
    this.claim.widen = null;
    // It has room already: who waits for more with that could wait in a circle.
    this.waitMilliseconds = 0;
    await this.hold(bytes);
  }

  /** Gives it back. Calling it again has no effect. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.budget.shrink(this.#heldBytes);
    this.claim.leave();
  }
}
