/**
 * When an isolate indexes. A commit queues its file in the database; a run claims files from that queue, in the
 * background after the answer. What a run leaves behind, or drops when its isolate ends, the next run takes.
 */
import {
  SEARCH_CLAIMS_PER_RUN,
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_INDEX_LIGHT_PAUSE_MILLISECONDS,
  SEARCH_INDEX_PAUSE_FACTOR,
  SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
  SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
} from "../limits.ts";
import { sleep } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { TakenFiles } from "./taken_files.ts";

/**
 * One per isolate and kind of work, with at most one run at a time: it continues while there is work, and sleeps while
 * some will be due. Commits have priority: while many keep coming, indexing is limited to a fixed share of the time,
 * however much is queued. In the pauses that large texts make necessary, small ones are indexed all the same, within a
 * share of their own: nobody's note waits for somebody's large files.
 */
export class IndexScheduler {
  private isRunning = false;
  private isRequestedAgain = false;
  /** Since the last claim ended. */
  private commits = 0;
  /** Since the last claim ended that was not light. */
  private commitsSinceFull = 0;
  /** Until then only light claims. */
  private restUntil = 0;
  private wake: (() => void) | null = null;

  constructor(
    /** Claims some files, and indexes them; the light ones alone, or all. */
    private readonly claim: (isLight: boolean) => Promise<TakenFiles>,
    private readonly background: (work: Promise<unknown>) => void,
    private readonly log: Log,
  ) {}

  /** To be called after a commit: its file is queued, and more commits may follow. */
  committed(): void {
    this.commits++;
    this.commitsSinceFull++;
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
      this.commitsSinceFull = 0;
      for (let claims = 1;; claims++) {
        if (this.isRequestedAgain) claims = 1;
        this.isRequestedAgain = false;
        const started = performance.now();
        const isLight = started < this.restUntil;
        const { files, nextDueMilliseconds } = await this.claim(isLight);
        const pause = this.pauseAfter(performance.now() - started, isLight, files > 0);
        if (isLight && files === 0) {
          // Large texts may be left: it goes on.
        } else if (files === 0 && nextDueMilliseconds !== null && !this.isRequestedAgain) {
          await this.sleepUntilDue(nextDueMilliseconds);
        } else if (!this.isRequestedAgain && (files === 0 || claims >= SEARCH_CLAIMS_PER_RUN)) {
          break;
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
   * when there are none and the queue has more. A longer pause after a claim of any size is for large texts only.
   */
  private pauseAfter(tookMilliseconds: number, isLight: boolean, isMoreLikely: boolean): number {
    const commits = isLight ? this.commits : this.commitsSinceFull;
    this.commits = 0;
    if (!isLight) this.commitsSinceFull = 0;
    if (commits === 0 && isMoreLikely) return 0;
    const pause = Math.min(
      commits * SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
      tookMilliseconds * SEARCH_INDEX_PAUSE_FACTOR,
      SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
    );
    if (!isLight) this.restUntil = performance.now() + pause;
    const rest = isLight && !isMoreLikely ? this.restUntil - performance.now() : pause;
    return Math.max(Math.min(rest, SEARCH_INDEX_LIGHT_PAUSE_MILLISECONDS), SEARCH_INDEX_DELAY_MILLISECONDS);
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
