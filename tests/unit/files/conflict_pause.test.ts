import { assert, assertEquals } from "@std/assert";
import { mayTryAgainAfterPause } from "../../../supabase/functions/api/files/conflict_pause.ts";
import { EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX } from "../../../supabase/functions/api/limits.ts";
import { systemClock } from "../../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { withFakeClock } from "../../support/fake_clock.ts";

Deno.test("mayTryAgainAfterPause: pauses grow up to their bound, count towards the deadline, and end before it", () =>
  withFakeClock(async () => {
    const deadline = new Deadline(20_000, systemClock);
    const start = Date.now();
    let tries = 0;
    let before = start;
    while (await mayTryAgainAfterPause(deadline, ++tries)) {
      assert(Date.now() - before <= EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX + 1);
      before = Date.now();
    }
    assert(Date.now() - start <= 20_000);
    assert(deadline.remainingMilliseconds < EDIT_CONFLICT_PAUSE_MILLISECONDS_MAX);
    assert(tries > 20, `${tries} tries`);
    assertEquals(await mayTryAgainAfterPause(new Deadline(0, systemClock), 1), false);
  }));
