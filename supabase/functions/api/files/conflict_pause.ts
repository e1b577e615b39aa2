/** The pause before a change that was overtaken by another one is tried again. */
import { EDIT_CONFLICT_PAUSE_MILLISECONDS, EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX } from "../limits.ts";
import type { Deadline } from "../runtime/deadline.ts";

/**
 * Waits before the next try, the longer the more tries there were, and at random, since others may try again at the same
 * time. Returns false, without waiting, where the deadline comes first.
 */
export async function mayTryAgainAfterPause(deadline: Deadline, tries: number): Promise<boolean> {
  const longest = Math.min(
    EDIT_CONFLICT_PAUSE_MILLISECONDS * 2 ** (tries - 1),
    EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX,
  );
  const pause = Math.random() * longest;
  if (pause >= deadline.remainingMilliseconds) return false;
  await deadline.count(() => deadline.pause(pause));
  return true;
}
