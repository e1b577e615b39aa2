/** Slots for live reads, of texts that the search index does not contain. */
import { SEARCH_LIVE_BUDGET_BYTES, SEARCH_LIVE_WAIT_MILLISECONDS } from "../limits.ts";
import { ByteBudget, type Release } from "../runtime/byte_budget.ts";
import type { Deadline } from "../runtime/deadline.ts";
import { Slots } from "../runtime/slots.ts";

/**
 * One per isolate. In each project only one search reads at a time, so that no project keeps others out. All searches
 * together hold at most SEARCH_LIVE_BUDGET_BYTES in memory.
 */
export class LiveReadSlots {
  readonly #slots = new Slots(1);
  readonly #budget = new ByteBudget(SEARCH_LIVE_BUDGET_BYTES);

  /** Throws 503 `SERVICE_UNAVAILABLE` after SEARCH_LIVE_WAIT_MILLISECONDS, and the signal's reason when it aborts. */
  async begin(projectId: string, bytes: number, deadline: Deadline, signal: AbortSignal): Promise<Release> {
    const part = deadline.part(SEARCH_LIVE_WAIT_MILLISECONDS);
    const releaseSlot = await this.#slots.acquire(projectId, part, signal);
    try {
      const release = await this.#budget.acquire(bytes, part.remainingMilliseconds, signal);
      return () => {
        release();
        releaseSlot();
      };
    } catch (error) {
      releaseSlot();
      throw error;
    }
  }
}
