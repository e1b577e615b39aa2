import { assert, assertEquals } from "@std/assert";
import { mayTryAgainAfterPause } from "../../../supabase/functions/api/files/conflict_pause.ts";
import {
  EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX,
  EDIT_CONFLICT_TRY_MILLISECONDS,
} from "../../../supabase/functions/api/limits.ts";
import { systemClock } from "../../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { withFakeClock } from "../../support/fake_clock.ts";

Deno.test("mayTryAgainAfterPause: pauses grow up to their bound, count towards the deadline, and leave time for a try", () =>
  withFakeClock(async () => {
    const deadline = new Deadline(20_000, systemClock);
    let tries = 0;
    let before = Date.now();
    while (await mayTryAgainAfterPause(deadline, ++tries)) {
      assert(Date.now() - before <= EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX + 1);
      before = Date.now();
    }
    assert(deadline.remainingMilliseconds >= EDIT_CONFLICT_TRY_MILLISECONDS);
    assert(
      deadline.remainingMilliseconds < EDIT_CONFLICT_TRY_MILLISECONDS + EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX,
    );
    assert(tries > 15, `${tries} tries`);
    const late = new Deadline(EDIT_CONFLICT_TRY_MILLISECONDS - 1, systemClock);
    assertEquals(await mayTryAgainAfterPause(late, 1), false);
  }));
