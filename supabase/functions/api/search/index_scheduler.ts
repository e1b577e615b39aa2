/**
 * Decides when an isolate indexes. A commit queues its file in the database. A run leases files from that queue, in the
 * background after the response. Files that it does not finish, for instance because the isolate ends, are left to a
 * later run.
 */
import type { Background } from "../runtime/background.ts";
import {
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_INDEX_PAUSE_FACTOR,
  SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
  SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
  SEARCH_LEASES_PER_RUN,
} from "../limits.ts";
import type { Lease } from "../ports/schemas.ts";
import { sleep, systemClock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";

/** The number of files that a lease took, and when the next queued file is due. */
export type LeaseResult = Pick<Lease, "nextDueMilliseconds"> & { readonly files: number };

/**
 * One per isolate and kind of work, with at most one run at a time. A run continues while files are due, and sleeps
 * while some will be due later. Commits have priority: while many arrive, the run pauses after each lease.
 */
export class IndexScheduler {
  private isRunning = false;
  private isRequestedAgain = false;
  /** Commits since the last lease ended. */
  private commits = 0;
  /** Ends the sleep until a file is due. */
  private wake: AbortController | null = null;

  constructor(
    /** Leases some files, and indexes them. */
    private readonly lease: () => Promise<LeaseResult>,
    private readonly background: Background,
    private readonly log: Log,
  ) {}

  /** The caller calls this after a commit: its file is queued, and more commits may follow. */
  committed(): void {
    this.commits++;
    this.start();
  }

  /** The caller calls this when files are queued. Returns at once; a run begins SEARCH_INDEX_DELAY_MILLISECONDS later. */
  start(): void {
    if (this.isRunning) {
      this.isRequestedAgain = true;
      this.wake?.abort();
      return;
    }
    this.isRunning = true;
    this.background(this.run(), "index");
  }

  private async run(): Promise<void> {
    try {
      await sleep(SEARCH_INDEX_DELAY_MILLISECONDS);
      // The first lease covers the commits so far; only later ones compete with this run.
      this.commits = 0;
      for (let leases = 1;; leases++) {
        if (this.isRequestedAgain) leases = 1;
        this.isRequestedAgain = false;
        const started = performance.now();
        const { files, nextDueMilliseconds } = await this.lease();
        const pause = this.pauseAfter(performance.now() - started, files > 0);
        if (!this.isRequestedAgain) {
          if (files > 0 ? leases >= SEARCH_LEASES_PER_RUN : nextDueMilliseconds === null) break;
          if (files === 0 && nextDueMilliseconds !== null) {
            this.wake = new AbortController();
            await sleep(nextDueMilliseconds, systemClock, this.wake.signal).catch(() => {});
            this.wake = null;
          }
        }
        await sleep(pause);
      }
    } catch (error) {
      this.log.backgroundFault("index", error);
    } finally {
      this.isRunning = false;
      // Files were queued during the lease that failed.
      if (this.isRequestedAgain) this.start();
    }
  }

  /**
   * How long the run pauses so that the database serves commits, in milliseconds: short for a few commits, and 0 where
   * none arrived and more files are probably due.
   */
  private pauseAfter(tookMilliseconds: number, isMoreLikely: boolean): number {
    const { commits } = this;
    this.commits = 0;
    if (commits === 0 && isMoreLikely) return 0;
    const pause = Math.min(
      commits * SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
      tookMilliseconds * SEARCH_INDEX_PAUSE_FACTOR,
      SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
    );
    return Math.max(pause, SEARCH_INDEX_DELAY_MILLISECONDS);
  }
}
