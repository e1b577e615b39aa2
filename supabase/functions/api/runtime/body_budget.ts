/** Memory budget for request bodies: a body is charged only for bytes received. */
import { unavailable } from "../errors.ts";
import { ByteBudget, type Release } from "./byte_budget.ts";

interface Project {
  /** The largest sizes that the project's open bodies may reach, added up. */
  readonly reservations: ByteBudget;
  bodies: number;
  /** Whether a body of unknown length waits to reserve more. */
  isWidening: boolean;
}

/**
 * `totalBytes` of memory for all bodies of an isolate. A project reserves up to `projectBytes` of them, by the largest
 * size of each body; a further body waits. While all bodies together hold at most `projectBytes`, each is charged for
 * what has arrived. Beyond that a body must get all the bytes that it still lacks, first come, first served: otherwise
 * two bodies, each half received, could wait for each other forever.
 */
export class BodyBudget {
  readonly #projects = new Map<string, Project>();
  readonly #total: ByteBudget;

  constructor(totalBytes: number, private readonly projectBytes: number) {
    this.#total = new ByteBudget(totalBytes);
  }

  /** Bytes that all bodies hold. */
  get heldBytes(): number {
    return this.#total.takenBytes;
  }

  /**
   * Resolves when the project has room for a body of up to `declaredBytes`, but reserves at most `projectBytes`. A body
   * of unknown length (null) first reserves a third of `projectBytes`; if it turns out longer, it is read further when
   * all of `projectBytes` is reserved. Throws 503 `SERVICE_UNAVAILABLE` after `waitMilliseconds`, or the signal's
   * reason if the signal aborts.
   */
  async open(
    projectId: string,
    declaredBytes: number | null,
    waitMilliseconds: number,
    signal: AbortSignal,
  ): Promise<Body> {
    const project = this.#projects.get(projectId) ??
      { reservations: new ByteBudget(this.projectBytes), bodies: 0, isWidening: false };
    this.#projects.set(projectId, project);
    project.bodies++;
    const leave = () => {
      if (--project.bodies === 0) this.#projects.delete(projectId);
    };
    try {
      const reserved = Math.min(declaredBytes ?? Math.floor(this.projectBytes / 3), this.projectBytes);
      const releases = [await project.reservations.acquire(reserved, waitMilliseconds, signal), leave];
      const widen = async () => {
        // Two bodies that widen could wait for each other.
        if (project.isWidening) throw unavailable("The project is sending other large bodies. Try again.");
        project.isWidening = true;
        try {
          const more = this.projectBytes - reserved;
          releases.push(await project.reservations.acquire(more, waitMilliseconds, signal));
        } finally {
          project.isWidening = false;
        }
        return this.projectBytes;
      };
      return new Body(this, reserved, waitMilliseconds, signal, {
        widen: declaredBytes === null ? widen : null,
        leave: () => {
          for (const release of releases.splice(0)) release();
        },
      });
    } catch (error) {
      leave();
      throw error;
    }
  }

  /**
   * Called by `Body`. Takes `bytes`, or where memory is scarce `lackingBytes`, which is all that the body still lacks.
   * Returns what was taken, or a promise of it where there is no room yet.
   */
  grow(
    bytes: number,
    lackingBytes: number,
    waitMilliseconds: number,
    signal: AbortSignal,
  ): Taken | Promise<Taken> {
    const some = this.#total.tryTakeWithin(bytes, this.projectBytes);
    if (some) return { bytes, release: some };
    const all = this.#total.tryAcquire(lackingBytes);
    if (all) return { bytes: lackingBytes, release: all };
    return this.#total.acquire(lackingBytes, waitMilliseconds, signal)
      .then((release) => ({ bytes: lackingBytes, release }));
  }
}

interface Taken {
  readonly bytes: number;
  readonly release: Release;
}

export class Body {
  #heldBytes = 0;
  readonly #releases: Release[] = [];

  constructor(
    private readonly budget: BodyBudget,
    private mostBytes: number,
    private waitMilliseconds: number,
    private readonly signal: AbortSignal,
    private readonly reservation: { widen: (() => Promise<number>) | null; readonly leave: Release },
  ) {}

  /**
   * Raises the memory that the body holds to `bytes`. Returns undefined where there is room, otherwise a promise to
   * wait for. The promise rejects with 503 `SERVICE_UNAVAILABLE` when that takes too long, and with the signal's
   * reason.
   */
  hold(bytes: number): Promise<void> | undefined {
    if (bytes > this.mostBytes && this.reservation.widen) return this.#widen(this.reservation.widen, bytes);
    const more = Math.min(bytes, this.mostBytes) - this.#heldBytes;
    if (more <= 0) return undefined;
    const lacking = this.mostBytes - this.#heldBytes;
    const taken = this.budget.grow(more, lacking, this.waitMilliseconds, this.signal);
    if (taken instanceof Promise) return taken.then((later) => this.#add(later));
    this.#add(taken);
    return undefined;
  }

  #add({ bytes, release }: Taken): void {
    this.#heldBytes += bytes;
    this.#releases.push(release);
  }

  async #widen(widen: () => Promise<number>, bytes: number): Promise<void> {
    this.mostBytes = await widen();
    this.reservation.widen = null;
    // The body now holds the project's whole reservation. Waiting for more memory with it could end in a deadlock.
    this.waitMilliseconds = 0;
    await this.hold(bytes);
  }

  /** Releases the memory. Calling it again has no effect. */
  release(): void {
    for (const release of this.#releases.splice(0)) release();
    this.reservation.leave();
  }
}
