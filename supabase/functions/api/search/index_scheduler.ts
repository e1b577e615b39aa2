/**
 * When an isolate indexes. A commit queues its file in the database; a run claims files from that queue, in the
 * background after the answer. What a run leaves behind, or drops when its isolate ends, the next run takes.
 */
import {
  SEARCH_CLAIMS_PER_RUN,
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_INDEX_PAUSE_FACTOR,
  SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
  SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
} from "../limits.ts";
import { sleep } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { TakenFiles } from "./taken_files.ts";

/**
 * One per isolate and kind of work, with at most one run at a time: it continues while there is work, and sleeps while
 * some will be due. Commits have priority: while many keep coming, the run pauses after each claim.
 */
export class IndexScheduler {
  private isRunning = false;
  private isRequestedAgain = false;
  /** Since the last claim ended. */
  private commits = 0;
  private wake: (() => void) | null = null;

  constructor(
    /** Claims some files, and indexes them. */
    private readonly claim: () => Promise<TakenFiles>,
    private readonly background: (work: Promise<unknown>) => void,
    private readonly log: Log,
  ) {}

  /** To be called after a commit: its file is queued, and more commits may follow. */
  committed(): void {
    this.commits++;
    this.start();
  }

  /** To be called when files are queued. Returns at once; the run begins a moment later. */
  start(): void {
    if (this.isRunning) {
      this.isRequestedAgain = true;
      this.wake?.();
      return;
    }
    this.isRunning = true;
    this.background(this.run());
  }

  private async run(): Promise<void> {
    try {
      await sleep(SEARCH_INDEX_DELAY_MILLISECONDS);
      // The first claim covers the commits so far; only those that follow compete with this run.
      this.commits = 0;
      for (let claims = 1;; claims++) {
        if (this.isRequestedAgain) claims = 1;
        this.isRequestedAgain = false;
        const started = performance.now();
        const { files, nextDueMilliseconds } = await this.claim();
        const pause = this.pauseAfter(performance.now() - started, files > 0);
        if (!this.isRequestedAgain) {
          if (files > 0 ? claims >= SEARCH_CLAIMS_PER_RUN : nextDueMilliseconds === null) break;
          if (files === 0 && nextDueMilliseconds !== null) await this.sleepUntilDue(nextDueMilliseconds);
        }
        await sleep(pause);
      }
    } catch (error) {
      this.log.backgroundFault("index", error);
    } finally {
      this.isRunning = false;
    }
  }

  /**
   * How long the database is left to commits that keep coming, in milliseconds: little for a few of them, and nothing
   * when there are none and the queue has more.
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

  /** Sleeps that long, or until `start` is called. */
  private sleepUntilDue(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.wake = null;
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.wake = end;
    });
  }
}
