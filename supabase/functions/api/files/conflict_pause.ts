/** The pause before a change is tried again after a conflict. */
import {
  EDIT_CONFLICT_PAUSE_MILLISECONDS,
  EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX,
  EDIT_CONFLICT_TRY_MILLISECONDS,
} from "../limits.ts";
import { sleep } from "../runtime/clock.ts";
import type { Deadline } from "../runtime/deadline.ts";

/**
 * Waits before the next try. The pause grows with the number of tries, and is random, since other changes may be tried
 * again at the same time. Returns false without waiting if the deadline might come before the end of another try.
 */
export async function mayTryAgainAfterPause(deadline: Deadline, tries: number): Promise<boolean> {
  const longest = Math.min(
    EDIT_CONFLICT_PAUSE_MILLISECONDS * 2 ** (tries - 1),
    EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX,
  );
  const pause = Math.random() * longest;
  if (pause + EDIT_CONFLICT_TRY_MILLISECONDS > deadline.remainingMilliseconds) return false;
  await deadline.count(() => sleep(pause, deadline.clock));
  return true;
}
